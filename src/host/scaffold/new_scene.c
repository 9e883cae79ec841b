/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/scaffold/new_scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesher/surface.h"

enum { ANCHORS = 8, NEAR_ANCHORS = 4, STEPS = 150 };

const PliWish pli_new_scene_wish[PLI_NEW_SCENE_WISHES] = {
    { " law=\"neohookean\"", NULL },
    { " accuracy=\"3\"", " fallbackLaw=\"neohookean\" fallbackFilenames" },
};

const char *pli_load_name(PliLoad load)
{
    static const char *const names[PLI_LOADS] = { "poke", "drag", "squeeze" };
    return names[load];
}

static void bounds(const PliMesh *m, double min[3], double max[3])
{
    for (int a = 0; a < 3; ++a) min[a] = INFINITY, max[a] = -INFINITY;
    for (size_t i = 0; i < 3 * (size_t)m->point_count; ++i)
        min[i % 3] = fmin(min[i % 3], m->x[i]), max[i % 3] = fmax(max[i % 3], m->x[i]);
}

static double width_of(const PliMesh *m)
{
    double min[3], max[3], width = 0.0;
    bounds(m, min, max);
    for (int a = 0; a < 3; ++a) width = fmax(width, max[a] - min[a]);
    return width;
}

double pli_usual_young(const PliMesh *surface)
{
    const double size = width_of(surface) / 0.2, young = 4000.0 * fmax(1.0, size * size),
                 digits = pow(10.0, floor(log10(young)) - 1.0);
    return digits * round(young / digits);
}

// ---- where the tool is -----------------------------------------------------------------------------------------------------

typedef struct Spot {
    double at[3], out[3]; ///< a point of the surface, and the way out of the body there
    double thick;         ///< m, of the body under it
} Spot;

/// The point of a region nearest to its middle. A side is touched against its axis, other regions against their normal.
static PliStatus find_spot(const PliHost *host, const PliNewScene *s, const PliRegion *where, Spot *spot, PliError *err)
{
    const PliMesh *surface = s->surface;
    const PliIndex n = surface->point_count;
    double *normal = PLI_NEW(host, 3 * (size_t)n, double);
    double middle[3] = { 0.0, 0.0, 0.0 }, min[3], max[3], count = 0.0, least = INFINITY;
    PliIndex best = PLI_NONE;
    PliStatus status = PLI_OK;
    if (!normal)
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a surface of %u points", n);
    else
        pli_surface_normals(surface, normal);
    for (int pass = 0; pass < 2 && status == PLI_OK; ++pass) {
        for (PliIndex p = 0; p < n; ++p) {
            const double *x = surface->x + 3 * (size_t)p;
            if (!pli_region_has(where, x)) continue;
            if (where->axis >= 0 && normal[3 * (size_t)p + (size_t)where->axis] * where->sign < 0.5) continue;
            if (pass == 0) {
                v3_madd(middle, 1.0, x);
                count += 1.0;
            } else if (v3_distance(x, middle) < least) {
                least = v3_distance(x, middle), best = p;
            }
        }
        if (count == 0.0)
            status =
                pli_refuse(err, PLI_BAD_ARGUMENT, "no point of the region faces out of the body: choose a larger one");
        else if (pass == 0)
            v3_scale(middle, 1.0 / count);
    }
    if (status == PLI_OK) {
        bounds(surface, min, max);
        double across = INFINITY;
        for (int a = 0; a < 3; ++a) across = fmin(across, max[a] - min[a]);
        v3_copy(spot->at, surface->x + 3 * (size_t)best);
        v3_copy(spot->out, normal + 3 * (size_t)best);
        if (where->axis >= 0)
            for (int a = 0; a < 3; ++a) spot->out[a] = a == where->axis ? where->sign : 0.0;
        spot->thick = fmin(s->made->thickness[best], across);
    }
    PLI_FREE(host, normal, 3 * (size_t)n);
    return status;
}

// ---- tools -----------------------------------------------------------------------------------------------------------------

static void write_vector(PliText *t, const char *before, const double direction[3], double length)
{
    pli_text_put(t, before);
    for (int a = 0; a < 3; ++a) {
        const double x = direction[a] * length;
        pli_text_print(t, "%s%.6g", a ? " " : "", x == 0.0 ? 0.0 : x); // not -0
    }
}

/// A way along the surface: the axis of the body that is longest across `out`.
static void way_across(const PliMesh *surface, const double out[3], double way[3])
{
    double min[3], max[3], longest = -1.0;
    bounds(surface, min, max);
    for (int a = 0; a < 3; ++a) {
        const double here = (1.0 - fabs(out[a])) * (max[a] - min[a]);
        if (here <= longest) continue;
        longest = here;
        for (int b = 0; b < 3; ++b) way[b] = a == b ? 1.0 : 0.0;
    }
    v3_madd(way, -v3_dot(way, out), out);
    v3_scale(way, 1.0 / v3_norm(way));
}

static void write_ball(PliText *t, const PliNewScene *s, const Spot *spot, bool drag, PliText *said)
{
    const double finest = s->made->size[s->made->levels - 1];
    const double radius = fmax((drag ? 0.3 : 0.2) * spot->thick, 1.2 * finest), gap = 0.3 * radius;
    const double press = 0.15 * spot->thick;
    double start[3], way[3] = { 0.0, 0.0, 0.0 };
    v3_copy(start, spot->at);
    v3_madd(start, radius + gap, spot->out);
    if (drag) way_across(s->surface, spot->out, way);
    pli_text_print(t, "<SphereTool name=\"ball\" radius=\"%.5g\"", radius);
    write_vector(t, " position=\"", start, 1.0);
    // without friction a ball on the crest of a slender body slips off to whichever side a detail of the mesh says
    pli_text_put(t, "\" friction=\"0.4\"\n                    keyTimes=");
    pli_text_put(t, drag ? "\"0 0.1 0.4 1.2 1.4\" movements=\"0 0 0" : "\"0 0.1 0.5 0.9 1.1 1.3\" movements=\"0 0 0");
    const double depth[5] = { gap, gap + press, gap + press, drag ? -radius : -gap, -2.0 * radius };
    for (int k = 0; k < (drag ? 4 : 5); ++k) {
        double move[3];
        for (int a = 0; a < 3; ++a) move[a] = -depth[k] * spot->out[a] + (k > 1 ? 1.5 * radius * way[a] : 0.0);
        write_vector(t, "  ", move, 1.0);
    }
    pli_text_put(t, "\"/>");
    pli_text_print(said, "a ball of %.3g m presses the body by %.3g m at (%.4g %.4g %.4g)%s", radius, press,
                   spot->at[0] + 0.0, spot->at[1] + 0.0, spot->at[2] + 0.0,
                   drag ? " and drags it along" : ", holds, and leaves");
}

static void write_planes(PliText *t, const PliNewScene *s, const Spot *spot, PliText *said)
{
    double low = INFINITY, high = -INFINITY, at[3], back[3];
    for (PliIndex p = 0; p < s->surface->point_count; ++p) {
        const double h = v3_dot(s->surface->x + 3 * (size_t)p, spot->out);
        low = fmin(low, h), high = fmax(high, h);
    }
    const double gap = 0.02 * (high - low), press = 0.15 * (high - low);
    for (int a = 0; a < 3; ++a) back[a] = -spot->out[a];
    v3_copy(at, spot->out);
    write_vector(t, "<PlaneTool name=\"floor\" position=\"", at, low);
    write_vector(t, "\" normal=\"", spot->out, 1.0);
    pli_text_put(t, "\" friction=\"0.5\"/>\n        ");
    write_vector(t, "<PlaneTool name=\"press\" position=\"", at, high + gap);
    write_vector(t, "\" normal=\"", back, 1.0);
    write_vector(t, "\" friction=\"0.5\"\n                   keyTimes=\"0 0.6 1 1.3\" movements=\"0 0 0  ", back,
                 gap + press);
    write_vector(t, "  ", back, gap + press);
    pli_text_put(t, "  0 0 0\"/>");
    pli_text_print(said, "two plates squeeze the body by %.3g of %.3g m", press, high - low);
}

// ---- the block all bodies share ----------------------------------------------------------------------------------------------

static PliStatus write_block(const PliHost *host, const PliNewScene *s, PliLoad load, const PliRegion *where,
                             const char *folder, double out[3], PliText *said, PliError *err)
{
    Spot spot;
    PliStatus status = find_spot(host, s, where, &spot, err);
    if (status != PLI_OK) return status;
    v3_copy(out, spot.out);
    PliText t = { 0 };
    pli_text_print(
        &t,
        "<?xml version=\"1.0\"?>\n<!-- What every body of %s.scn has besides its model: state, what is held, solver, "
        "tool. -->\n<Node name=\"Group\">\n    <MechanicalObject name=\"dofs\" position=\"@model.position\"/>\n"
        "    <%s name=\"held\" position=\"@model.position\"",
        pli_load_name(load), s->fix.sphere ? "SphereROI" : "BoxROI");
    pli_region_write(&s->fix, &t);
    pli_text_put(
        &t, "/>\n    <FixedProjectiveConstraint indices=\"@held.indices\"/>\n    <AdaptiveSolver name=\"solver\"/>\n"
            "    <Node name=\"Tools\">\n        ");
    if (load == PLI_SQUEEZE)
        write_planes(&t, s, &spot, said);
    else
        write_ball(&t, s, &spot, load == PLI_DRAG, said);
    pli_text_put(&t, "\n    </Node>\n</Node>\n");
    char path[1100];
    snprintf(path, sizeof path, "%s/%s.xml", folder, pli_load_name(load));
    status = pli_text_write(&t, path, err);
    pli_text_free(&t);
    return status;
}

// ---- the scene -------------------------------------------------------------------------------------------------------------

/// Nodes inside the held region, spread: where a scheme that chooses its own coefficients must put some.
static void write_anchors(PliText *t, const PliNewScene *s, const char *attribute)
{
    const PliMesh *m = s->made->mesh[s->made->levels - 1];
    double anchor[ANCHORS][3];
    int count = 0;
    for (; count < ANCHORS;
         ++count) { // the node farthest from those chosen, the first one farthest from the body's lowest corner
        double farthest = 0.0, min[3], max[3];
        PliIndex best = PLI_NONE;
        bounds(m, min, max);
        for (PliIndex p = 0; p < m->point_count; ++p) {
            const double *x = m->x + 3 * (size_t)p;
            if (!pli_region_has(&s->fix, x)) continue;
            double nearest = count ? INFINITY : v3_distance(x, min);
            for (int k = 0; k < count; ++k) nearest = fmin(nearest, v3_distance(x, anchor[k]));
            if (nearest > farthest) farthest = nearest, best = p;
        }
        // four hold a patch; a held part that is wider needs more, or the body lifts between them
        if (best == PLI_NONE || (count && farthest < (count < NEAR_ANCHORS ? 0.05 : 0.15) * s->files->width)) break;
        v3_copy(anchor[count], m->x + 3 * (size_t)best);
    }
    if (!count) return;
    pli_text_print(t, " %s=\"", attribute);
    for (int k = 0; k < count; ++k) write_vector(t, k ? "  " : "", anchor[k], 1.0);
    pli_text_put(t, "\"");
}

/// `level`: the finest it is made from; beyond the levels: the mesh between two. `more`: attributes of its own.
static void write_body(PliText *t, const PliNewScene *s, const char *node, const PliSchemeInfo *scheme, int level,
                       const char *more, PliLoad load)
{
    PliModelFiles files = *s->files;
    pli_text_print(t, "    <Node name=\"%s\">\n        <%s name=\"model\"", node, scheme->component);
    if (level < s->files->levels) {
        files.levels = level + 1;
        pli_model_attributes_write(t, scheme, &files);
    } else {
        pli_text_print(t, " %s=\"" PLI_BETWEEN_FILE "\" skin=\"surface.obj\"", scheme->mesh.file);
    }
    pli_text_put(t, more);
    if (scheme->anchors) write_anchors(t, s, scheme->anchors);
    for (int k = 0; k < pli_scheme_count(); ++k)
        for (int i = 0; pli_scheme_at(k) == scheme && i < PLI_NEW_SCENE_WISHES; ++i)
            if (files.takes[k] & 1u << i) pli_wish_write(t, scheme, &files, &pli_new_scene_wish[i]);
    pli_text_print(t,
                   "\n            youngModulus=\"%g\" poissonRatio=\"0.4\" density=\"%g\" damping=\"0.0002\" "
                   "massDamping=\"15\"/>\n",
                   s->young, s->density);
    const bool places = pli_scheme_attribute(scheme, "places") != NULL;
    pli_text_print(t, "        <include href=\"%s.xml\"%s/>\n    </Node>\n", pli_load_name(load),
                   places ? " held__position=\"@model.places\"" : "");
}

/// The uniform scheme on one mesh that others are measured against: the first that is not adaptive and takes tetrahedra.
static const PliSchemeInfo *reference_scheme(void)
{
    for (int k = 0; k < pli_scheme_count(); ++k) {
        const PliSchemeInfo *s = pli_scheme_at(k);
        if (!s->adaptive && s->mesh.kind == PLI_MESH_TETS && pli_model_takes_files(s)) return s;
    }
    return NULL;
}

static void write_head(PliText *t, const PliNewScene *s, PliLoad load, const double out[3])
{
    double min[3], max[3], eye[3], middle[3];
    bounds(s->surface, min, max);
    // a little from the side and above, on the tool's side of the body
    static const double aside[3] = { 0.35, 0.45, 0.9 };
    for (int a = 0; a < 3; ++a) eye[a] = aside[a] + 0.6 * out[a], middle[a] = 0.5 * (min[a] + max[a]);
    v3_scale(eye, 1.0 / v3_norm(eye));
    pli_text_put(t, "<?xml version=\"1.0\"?>\n<!-- ");
    pli_text_escape(t, s->title);
    pli_text_print(t,
                   ": the same load on every scheme. Compare with `pliant compare %s.scn`. -->\n"
                   "<Node name=\"root\" dt=\"0.01\" gravity=\"0 0 0\">\n"
                   "    <RequiredPlugin pluginName=\"Pliant\"/>\n"
                   "    <RequiredPlugin pluginName=\"Sofa.Component.AnimationLoop\"/>\n"
                   "    <RequiredPlugin pluginName=\"Sofa.Component.Constraint.Projective\"/>\n"
                   "    <RequiredPlugin pluginName=\"Sofa.Component.Engine.Select\"/>\n"
                   "    <RequiredPlugin pluginName=\"Sofa.Component.StateContainer\"/>\n"
                   "    <RequiredPlugin pluginName=\"Sofa.Component.Visual\"/>\n"
                   "    <DefaultAnimationLoop/>\n",
                   pli_load_name(load));
    double camera[3];
    for (int a = 0; a < 3; ++a) camera[a] = middle[a] + 2.2 * s->files->width * eye[a];
    write_vector(t, "    <InteractiveCamera position=\"", camera, 1.0);
    write_vector(t, "\" lookAt=\"", middle, 1.0);
    pli_text_print(t, "\"/>\n    <ComparisonMonitor name=\"monitor\" reference=\"@Reference/model\" steps=\"%d\"",
                   STEPS);
    write_vector(t, " view=\"", eye, 1.0);
    pli_text_put(t, "\" title=\"");
    pli_text_escape(t, s->title);
    pli_text_put(t, "\"/>\n");
}

PliStatus pli_new_scene_write(const PliHost *host, const PliNewScene *s, PliLoad load, const PliRegion *where,
                              const char *folder, PliText *said, PliError *err)
{
    const PliSchemeInfo *reference = reference_scheme();
    double out[3];
    if (!reference) return pli_refuse(err, PLI_UNSUPPORTED, "no scheme of this version can be the reference");
    PliStatus status = write_block(host, s, load, where, folder, out, said, err);
    if (status != PLI_OK) return status;
    PliText t = { 0 };
    const int finest = s->files->levels - 1;
    char node[64];
    write_head(&t, s, load, out);
    write_body(&t, s, "Reference", reference, finest, "", load);
    for (int l = finest - !s->between; l >= 0; --l) { // with what bodies with an accuracy have
        static const char equal[] = " integrator=\"auto\" sparseContact=\"1\"";
        snprintf(node, sizeof node, "Uniform%d", l);
        write_body(&t, s, node, reference, l < finest ? l : finest + 1, equal, load);
    }
    for (int k = 0; k < s->scheme_count; ++k) {
        const char *component = s->scheme[k]->component, *end = strstr(component, "Model");
        if (s->scheme[k] == reference) continue;
        snprintf(node, sizeof node, "%.*s", end && end > component ? (int)(end - component) : 63, component);
        write_body(&t, s, node, s->scheme[k], finest, "", load);
    }
    pli_text_put(&t, "</Node>\n");
    char path[1100];
    snprintf(path, sizeof path, "%s/%s.scn", folder, pli_load_name(load));
    status = pli_text_write(&t, path, err);
    pli_text_free(&t);
    return status;
}
