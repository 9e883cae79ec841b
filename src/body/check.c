/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What is refused, and in which words: definitions, before any work, and steps, after it.
#include <math.h>
#include <stdio.h>

#include <pliant/scheme.h>

#include "base/vec.h"

static PliStatus check_regions(const char *kind, const double *regions, PliIndex count, bool poisson, PliError *err)
{
    for (PliIndex i = 0; i < count; ++i) {
        const double *r = regions + 5 * (size_t)i;
        for (int k = 0; k < 5; ++k)
            if (!isfinite(r[k])) return pli_refuse(err, PLI_BAD_ARGUMENT, "%s region %u is not a number", kind, i);
        if (!(r[3] > 0.0))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s region %u has a radius of %g m; it must be more than 0", kind,
                              i, r[3]);
        if (!poisson && !(r[4] > 0.0))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s region %u has a factor of %g; it must be more than 0", kind, i,
                              r[4]);
        if (poisson && !(r[4] >= 0.0 && r[4] < 0.5))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s region %u has a ratio of %g; it must be in [0, 0.5)", kind, i,
                              r[4]);
    }
    return PLI_OK;
}

PliStatus pli_body_def_check(const PliBodyDef *d, PliError *err)
{
    if (d->cookie != PLI_DEF_COOKIE)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "the definition was not made by a pli_*_default function");
    PliStatus status = pli_material_check(&d->material, err);
    if (status != PLI_OK) return status;
    const PliCriterionDef *c = &d->criterion;
    if (!(c->threshold > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "criterion: threshold must be > 0, not %g", c->threshold);
    if (!(c->coarsen > 0.0 && c->coarsen < 1.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "criterion: coarsen must be in (0, 1), not %g", c->coarsen);
    if (c->hold < 0)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "criterion: hold must be >= 0 decisions, not %d", c->hold);
    if (!(c->interval >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "criterion: interval must be >= 0 s, not %g", c->interval);
    if (!(c->smallest_size >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "criterion: smallest_size must be >= 0 m, not %g", c->smallest_size);
    if (!(c->budget_ms >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "criterion: budget must be >= 0 ms, not %g", c->budget_ms);
    if (!(c->accuracy >= 0.0 && c->accuracy <= 100.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "criterion: accuracy must be 0 .. 100 %%, not %g", c->accuracy);
    if (c->accuracy > 0.0 && c->budget_ms > 0.0)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "criterion: an accuracy (%g %%) and a budget (%g ms) contradict each other: give one of them",
                          c->accuracy, c->budget_ms);
    if (d->fallback_law < 0 || d->fallback_law > PLI_LAW_COUNT)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "there is no law number %d to fall back on", d->fallback_law);
    if (!(d->courant > 0.0 && d->courant <= 1.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "courant must be in (0, 1], not %g", d->courant);
    if (!(d->mass_damping >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "mass damping must be >= 0 1/s, not %g", d->mass_damping);
    if (!(d->rayleigh_stiffness >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "Rayleigh stiffness must be >= 0 s, not %g", d->rayleigh_stiffness);
    if (d->integrator == PLI_INTEGRATE_AUTO && d->rayleigh_stiffness > 0.0)
        return pli_refuse(
            err, PLI_BAD_ARGUMENT,
            "Rayleigh stiffness belongs to implicit steps, and integrator=\"auto\" may take explicit ones: "
            "use damping, or integrator=\"implicit\"");
    if (d->order < 1 || d->order > 2)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "order of implicit steps must be 1 or 2, not %d", d->order);
    if (d->newton < 1)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "newton is %d; an implicit step has at least 1 linearisation",
                          d->newton);
    if (d->cg_iterations < 1)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "cg iterations must be >= 1, not %d", d->cg_iterations);
    if (!(d->cg_tolerance > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "cg tolerance must be > 0, not %g", d->cg_tolerance);
    if (check_regions("stiff", d->stiff_regions, d->stiff_region_count, false, err) != PLI_OK ||
        check_regions("dense", d->dense_regions, d->dense_region_count, false, err) != PLI_OK ||
        check_regions("poisson", d->poisson_regions, d->poisson_region_count, true, err) != PLI_OK)
        return PLI_BAD_ARGUMENT;
    for (int i = 0; i < 3; ++i)
        if (!isfinite(d->gravity[i])) return pli_refuse(err, PLI_BAD_ARGUMENT, "gravity is not finite");
    return PLI_OK;
}

PliStatus pli_step_check(const PliStepInfo *info, PliError *err)
{
    char element[64] = "", dof[64] = "";
    if (info->bad_element != PLI_NONE) snprintf(element, sizeof element, ", element %u first", info->bad_element);
    if (info->bad_dof != PLI_NONE) snprintf(dof, sizeof dof, " at coefficient %u", info->bad_dof);
    switch (info->cause) {
    case PLI_STEP_DONE: break;
    case PLI_STEP_NOT_FINITE:
        return pli_refuse(err, info->status, "a value%s is no longer finite (%u elements inverted%s)", dof,
                          info->inverted, element);
    case PLI_STEP_RUNAWAY:
        return pli_refuse(err, info->status,
                          "the body ran away%s, further than a million times its size (%u elements inverted%s)", dof,
                          info->inverted, element);
    case PLI_STEP_TOO_MANY_SUBSTEPS:
        return pli_refuse(err, info->status,
                          "dt needs %g explicit substeps, at most 2^24 are made: reduce dt, or take the "
                          "implicit integrator",
                          info->needed_substeps);
    case PLI_STEP_NO_ROOM:
        return pli_refuse(err, info->status,
                          info->status == PLI_OUT_OF_MEMORY ? "no memory for the matrix of the step"
                                                            : "the active set exceeds what was reserved");
    case PLI_STEP_SOLVER_FAILED:
        return pli_refuse(err, info->status, "the linear solver found no solution (%u elements inverted%s)",
                          info->inverted, element);
    }
    return info->status;
}

static double value_at(const double *regions, PliIndex count, const double p[3], double elsewhere)
{
    for (PliIndex i = count; i-- > 0;) {
        const double *r = regions + 5 * (size_t)i;
        if (v3_distance(r, p) <= r[3]) return r[4];
    }
    return elsewhere;
}

double pli_body_def_stiffness(const PliBodyDef *d, const double p[3])
{
    return value_at(d->stiff_regions, d->stiff_region_count, p, 1.0);
}

double pli_body_def_density(const PliBodyDef *d, const double p[3])
{
    return value_at(d->dense_regions, d->dense_region_count, p, 1.0);
}

double pli_body_def_poisson(const PliBodyDef *d, const double p[3])
{
    return value_at(d->poisson_regions, d->poisson_region_count, p, d->material.poisson);
}

void pli_body_def_forget_regions(PliBodyDef *d)
{
    d->stiff_regions = d->dense_regions = d->poisson_regions = NULL;
    d->stiff_region_count = d->dense_region_count = d->poisson_region_count = 0;
}

double pli_body_def_tet_mean(const PliBodyDef *d, PliMaterialFn *value, const double *rest, const PliIndex tet[4])
{
    enum { SIDE = 5 };
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; i + j < SIDE; ++j)
            for (int k = 0; i + j + k < SIDE; ++k, ++count) {
                const double w[4] = { i + 0.25, j + 0.25, k + 0.25, SIDE - 1 - i - j - k + 0.25 };
                double p[3] = { 0.0, 0.0, 0.0 };
                for (int c = 0; c < 4; ++c) v3_madd(p, w[c] / SIDE, rest + 3 * (size_t)tet[c]);
                sum += value(d, p);
            }
    return sum / count;
}
