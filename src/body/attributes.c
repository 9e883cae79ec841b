/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/attributes.h>
#include <pliant/body.h>

#include <pliant/contact.h>

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD PLI_FIELD

const char *pli_kind_name(PliKind kind)
{
    static const char *const name[PLI_KIND_COUNT] = { "bool",         "int",     "real", "vec3", "list of real",
                                                      "list of vec3", "indices", "text", "file", "files",
                                                      "file",         "option",  "link", "links" };
    return (unsigned)kind < PLI_KIND_COUNT ? name[kind] : "?";
}

const char *pli_support_name(PliSupport support)
{
    static const char *const name[] = { "supported", "visual-only", "approximated", "unsupported" };
    return (unsigned)support < 4 ? name[support] : "?";
}

static const PliAttribute model_rows[] = {
    { "skin", PLI_FILE, .help = "surface file attached to the body; default: the body's own finest surface" },
    { "threads", PLI_INT, PLI_VISUAL_ONLY, .value = "1",
      .help = "workers the body may use, 1 .. 64; results do not depend on it" },
    { "showLevels", PLI_BOOL, PLI_VISUAL_ONLY, .value = "1",
      .help = "draw the skin coloured by level (with showVisualModels or showBehaviorModels)" },
    { "showInterface", PLI_BOOL, PLI_VISUAL_ONLY, .value = "1",
      .help = "draw the coefficients that follow coarser ones (with showBehaviorModels)" },
    { "skinPosition", PLI_POINTS, .role = PLI_OUT, .help = "m, rest positions of the skin points" },
    { "triangles", PLI_INDICES, .role = PLI_OUT, .width = 3, .help = "skin triangles, in skin point numbers" },
};
const PliAttributeGroup pli_model_attributes = PLI_GROUP(model_rows);

static const PliAttribute body_rows[] = {
    { "law", PLI_OPTION, .running = true, .options = "stvk corotational neohookean", FIELD(PliBodyDef, material.law),
      .help = "material law" },
    { "youngModulus", PLI_REAL, .running = true, .slide = { 0.1, 10.0, false }, FIELD(PliBodyDef, material.young),
      .help = "Young's modulus, Pa, > 0" },
    { "poissonRatio", PLI_REAL, .running = true, FIELD(PliBodyDef, material.poisson),
      .help = "Poisson's ratio, in [0, 0.5)" },
    { "density", PLI_REAL, FIELD(PliBodyDef, material.density), .help = "mass density, kg/m3, > 0" },
    { "damping", PLI_REAL, .running = true, FIELD(PliBodyDef, material.damping),
      .help = "stiffness-proportional strain-rate damping, s" },
    { "integrator", PLI_OPTION, .options = "symplectic implicit auto usual", FIELD(PliBodyDef, integrator),
      .help = "time integrator of AdaptiveSolver; auto: explicit steps or implicit ones of second order, whichever "
              "takes less work and keeps the motion; usual: auto with an accuracy, symplectic without" },
    { "linearSolver", PLI_OPTION, .options = "cg ldl minres auto incomplete multigrid",
      FIELD(PliBodyDef, linear_solver), .help = "implicit: linear solver; auto: whichever takes less work" },
    { "order", PLI_INT, .running = true, FIELD(PliBodyDef, order),
      .help = "implicit: 1, implicit Euler, or 2, which hardly damps slow motion and takes a second solve (held "
              "points: 1; integrator auto: 2)" },
    { "newton", PLI_INT, FIELD(PliBodyDef, newton),
      .help = "implicit: most linearisations of a step, with a line search that keeps its energy from rising, until "
              "tolerance "
              "is reached; 1: one, without" },
    { "iterations", PLI_INT, .running = true, FIELD(PliBodyDef, cg_iterations),
      .help = "implicit: most CG or MINRES iterations" },
    { "tolerance", PLI_REAL, .running = true, FIELD(PliBodyDef, cg_tolerance),
      .help = "implicit: relative residual; with an accuracy no less than 1/2000 of it" },
    { "massDamping", PLI_REAL, .running = true, FIELD(PliBodyDef, mass_damping), .help = "absolute drag, 1/s" },
    { "rayleighStiffness", PLI_REAL, .running = true, FIELD(PliBodyDef, rayleigh_stiffness),
      .help = "implicit: Rayleigh stiffness damping, s" },
    { "courant", PLI_REAL, .running = true, FIELD(PliBodyDef, courant),
      .help = "explicit substep as a fraction of the critical one" },
    { "multirate", PLI_OPTION, .options = "0 1 auto", FIELD(PliBodyDef, multirate),
      .help =
          "explicit: elements tick at their own power-of-two rate; auto: where it halves the cost, and always with an "
          "accuracy" },
    { "spread", PLI_BOOL, .running = true, FIELD(PliBodyDef, spread),
      .help = "write passive coefficients after every step" },
    { "stiffRegions", PLI_REALS,
      .help =
          "spheres of another stiffness at rest: x y z radius factor of youngModulus, for each; the last one counts "
          "where they overlap" },
    { "denseRegions", PLI_REALS, .help = "the same with a factor of density: x y z radius factor, for each" },
    { "poissonRegions", PLI_REALS, .help = "the same with another Poisson's ratio: x y z radius ratio, for each" },
    { "held", PLI_POINTS,
      .help = "m, points of the body at rest that stay in place, by Lagrange multipliers; implicit steps only" },
    { "heldTo", PLI_POINTS, .help = "m, where the held points go instead, one for each" },
    { "heldTime", PLI_REALS, .help = "s, in which they go there, starting and stopping softly; default 1" },
};
const PliAttributeGroup pli_body_attributes = PLI_GROUP(body_rows);

static const PliAttribute criterion_rows[] = {
    { "criterion", PLI_OPTION, .running = true,
      .options = "strainJump force contact camera region velocity displacement recovered",
      FIELD(PliBodyDef, criterion.kind), .help = "what makes a region refine" },
    { "threshold", PLI_REAL, .running = true, .slide = { 0.01, 100.0, false }, FIELD(PliBodyDef, criterion.threshold),
      .help = "criterion value at which a region refines" },
    { "coarsen", PLI_REAL, .running = true, FIELD(PliBodyDef, criterion.coarsen),
      .help = "fraction of the threshold below which it coarsens, (0, 1)" },
    { "hold", PLI_INT, .running = true, FIELD(PliBodyDef, criterion.hold),
      .help = "decisions a region keeps its level after a change" },
    { "interval", PLI_REAL, .running = true, FIELD(PliBodyDef, criterion.interval),
      .help = "s between decisions; 0: every step" },
    { "smallestSize", PLI_REAL, .running = true, FIELD(PliBodyDef, criterion.smallest_size),
      .help = "m, no region refines below; 0: no limit" },
    { "point", PLI_VEC3, .running = true, FIELD(PliBodyDef, criterion.point),
      .help = "m, camera position or centre of the region" },
    { "radius", PLI_REAL, .running = true, FIELD(PliBodyDef, criterion.radius),
      .help = "m, of the region or around the point" },
    { "maxActive", PLI_INT, .running = true, FIELD(PliBodyDef, criterion.max_active),
      .help = "most active coefficients; -1: no limit" },
    { "budget", PLI_REAL, .running = true, .slide = { 0.1, 100.0, true }, FIELD(PliBodyDef, criterion.budget_ms),
      .help = "ms of CPU a step may take; 0: no governor" },
    { "accuracy", PLI_REAL, .sign = '%', .running = true, .slide = { 0.1, 10.0, false },
      FIELD(PliBodyDef, criterion.accuracy),
      .help = "percent of the largest displacement the shape may be off, RMS, instead of a threshold; 0: off" },
    { "fallbackFilenames", PLI_FILES,
      .help = "with accuracy: tetrahedral mesh files, coarse to fine, that the body is simulated on where its own form "
              "is too far off or costs more" },
    { "fallbackLevels", PLI_LINKS,
      .help = "the same from loaders or topologies; without both, the tetrahedra of the body's own mesh" },
    { "fallbackLaw", PLI_OPTION, .options = "same stvk corotational neohookean", FIELD(PliBodyDef, fallback_law),
      .help = "material law of the fallback, for schemes that have not the one that is meant" },
    { "adapt", PLI_BOOL, .running = true, FIELD(PliBodyDef, adapt), .help = "0 freezes the resolution" },
};
const PliAttributeGroup pli_criterion_attributes = PLI_GROUP(criterion_rows);

static const PliAttribute pieces_rows[] = {
    { "stiffness", PLI_REAL, FIELD(PliPiecesDef, stiffness),
      .help = "contact pressure per depth, N/m3; 0: from the material" },
    { "thickness", PLI_REAL, FIELD(PliPiecesDef, thickness),
      .help = "m, distance at which pieces begin to push each other" },
    { "friction", PLI_REAL, FIELD(PliPiecesDef, friction), .help = "Coulomb coefficient" },
};
const PliAttributeGroup pli_pieces_attributes = PLI_GROUP(pieces_rows);

static const PliAttribute target_rows[] = {
    { "stiffness", PLI_REAL, FIELD(PliTargetDef, stiffness),
      .help = "traction per distance, N/m3; 0: from the material" },
    { "match", PLI_OPTION, .options = "closest index", FIELD(PliTargetDef, match),
      .help =
          "what a skin point is drawn to: the closest point of the target's surface, or its point of the same number" },
};
const PliAttributeGroup pli_target_attributes = PLI_GROUP(target_rows);

static const PliAttribute tool_rows[] = {
    { "stiffness", PLI_REAL, FIELD(PliTool, stiffness),
      .help = "contact pressure per depth, N/m3; 0: a constraint, no skin point gets inside" },
    { "friction", PLI_REAL, FIELD(PliTool, friction), .help = "Coulomb coefficient" },
};
const PliAttributeGroup pli_tool_attributes = PLI_GROUP(tool_rows);

const PliAttribute *pli_attribute_find(const PliAttributeGroup *group, const char *name)
{
    for (int i = 0; i < group->count; ++i)
        if (strcmp(group->rows[i].name, name) == 0) return &group->rows[i];
    return NULL;
}

// ---- text <-> field --------------------------------------------------------------------------------------------------

static int option_index(const char *options, const char *word, size_t length)
{
    for (int i = 0; *options; ++i) {
        size_t n = strcspn(options, " ");
        if (n == length && strncmp(options, word, n) == 0) return i;
        options += n + (options[n] == ' ');
    }
    return -1;
}

static void option_word(const char *options, int index, char *text, size_t size)
{
    for (; index > 0 && *options; --index) {
        options += strcspn(options, " ");
        options += *options == ' ';
    }
    snprintf(text, size, "%.*s", (int)strcspn(options, " "), options);
}

bool pli_option_word(const PliAttribute *row, int k, char *text, size_t size)
{
    if (k < 0) return false;
    option_word(row->options, k, text, size);
    return *text != '\0';
}

const char *pli_parse_number(const char *text, double *value)
{
    // strtod follows LC_NUMERIC, which a GUI library may have changed: put the local point in place of the dot.
    const struct lconv *local = localeconv();
    char *end;
    if (local->decimal_point[0] == '.' && local->decimal_point[1] == '\0') {
        *value = strtod(text, &end);
    } else {
        char copy[64];
        size_t n = strspn(text, "+-0123456789.eE");
        if (n >= sizeof copy) return NULL;
        memcpy(copy, text, n);
        copy[n] = '\0';
        char *dot = strchr(copy, '.');
        if (dot) *dot = local->decimal_point[0];
        *value = strtod(copy, &end);
        end = (char *)text + (end - copy);
    }
    return end == text || !isfinite(*value) ? NULL : end;
}

static const char *skip_blanks(const char *p) { return p + strspn(p, " \t\r\n,"); }

static PliStatus parse_numbers(const PliAttribute *row, const char *text, double *value, int count, PliError *err)
{
    const char *p = text;
    for (int i = 0; i < count; ++i) {
        p = pli_parse_number(skip_blanks(p), &value[i]);
        if (!p)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=\"%.60s\" is not %s", row->name, text,
                              count == 1 ? "a number" : "three numbers");
    }
    if (row->sign && *p == row->sign) ++p;
    if (*skip_blanks(p))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=\"%.60s\" has more than %d number%s", row->name, text, count,
                          count > 1 ? "s" : "");
    return PLI_OK;
}

PliStatus pli_attribute_set(const PliAttribute *row, void *def, const char *text, PliError *err)
{
    char *field = (char *)def + row->offset;
    if (row->size == 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "%s is not a field of the definition", row->name);
    double value[3];
    switch (row->kind) {
    case PLI_OPTION: {
        const char *word = skip_blanks(text);
        int index = option_index(row->options, word, strcspn(word, " \t\r\n"));
        if (index < 0)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=\"%.40s\" must be one of: %s", row->name, text, row->options);
        memcpy(field, &(unsigned){ (unsigned)index }, sizeof(unsigned));
        return PLI_OK;
    }
    case PLI_BOOL: {
        const char *word = skip_blanks(text);
        bool yes = *word == '1' || *word == 't' || *word == 'T';
        if (!yes && *word != '0' && *word != 'f' && *word != 'F')
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=\"%.40s\" must be 0 or 1", row->name, text);
        memcpy(field, &yes, sizeof yes);
        return PLI_OK;
    }
    case PLI_INT: {
        PliStatus status = parse_numbers(row, text, value, 1, err);
        if (status) return status;
        if (value[0] != floor(value[0]) || fabs(value[0]) > 2147483647.0)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=\"%.40s\" must be a whole number", row->name, text);
        memcpy(field, &(int){ (int)value[0] }, sizeof(int)); // -1 is PLI_NONE in an unsigned field
        return PLI_OK;
    }
    case PLI_REAL:
    case PLI_VEC3: {
        int n = row->kind == PLI_VEC3 ? 3 : 1;
        PliStatus status = parse_numbers(row, text, value, n, err);
        if (status) return status;
        memcpy(field, value, (size_t)n * sizeof(double));
        return PLI_OK;
    }
    case PLI_TEXT:
    case PLI_FILE:
    case PLI_NEW_FILE: memcpy(field, &text, sizeof text); return PLI_OK;
    default: return pli_refuse(err, PLI_BAD_ARGUMENT, "%s cannot be set from text", row->name);
    }
}

void pli_attribute_text(const PliAttribute *row, const void *def, char *text, size_t size)
{
    if (size == 0) return;
    if (row->size == 0 || !def) {
        snprintf(text, size, "%s", row->value ? row->value : "");
        return;
    }
    const char *field = (const char *)def + row->offset;
    double value[3];
    int whole;
    switch (row->kind) {
    case PLI_OPTION:
        memcpy(&whole, field, sizeof whole);
        option_word(row->options, whole, text, size);
        return;
    case PLI_BOOL: snprintf(text, size, "%d", *(const bool *)field ? 1 : 0); return;
    case PLI_INT:
        memcpy(&whole, field, sizeof whole);
        snprintf(text, size, "%d", whole);
        return;
    case PLI_REAL:
        memcpy(value, field, sizeof(double));
        snprintf(text, size, "%.17g", value[0]);
        for (int digits = 1; digits < 17; ++digits) { // shortest text that reads back as the same number
            char shorter[40];
            double back;
            snprintf(shorter, sizeof shorter, "%.*g", digits, value[0]);
            if (pli_parse_number(shorter, &back) && back == value[0]) {
                snprintf(text, size, "%s", shorter);
                return;
            }
        }
        return;
    case PLI_VEC3:
        memcpy(value, field, sizeof value);
        snprintf(text, size, "%.15g %.15g %.15g", value[0], value[1], value[2]);
        return;
    case PLI_TEXT:
    case PLI_FILE:
    case PLI_NEW_FILE: {
        const char *string;
        memcpy(&string, field, sizeof string);
        snprintf(text, size, "%s", string ? string : "");
        return;
    }
    default: text[0] = '\0';
    }
}
