/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Creation of a body of subdivision wavelets, and what a scheme answers.
#include "scheme/wavelet/wavelet.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

PliWaveletDef pli_wavelet_default(void)
{
    PliWaveletDef d = {
        .base = pli_body_default(),
        .box_max = { 1.0, 1.0, 1.0 },
        .box_cells = { 2, 2, 2 },
        .sharp_angle = 40.0,
        .levels = 1,
        .basis = PLI_WAVELET_CC,
        .law = PLI_WAVELET_QUASI_LINEAR,
        .transition = PLI_WAVELET_OFFSET,
        .fade = 0.05,
        .memory = 1.0,
    };
    d.base.integrator = PLI_IMPLICIT;
    d.base.linear_solver = PLI_SOLVE_AUTO;
    d.base.cg_tolerance = 1e-5;
    d.base.criterion.kind = PLI_BY_FORCE;
    d.base.criterion.threshold = 0.01;
    d.base.criterion.coarsen = 0.25;
    d.base.criterion.hold = 3;
    d.base.criterion.interval = 0.02;
    return d;
}

static void destroy(void *self, const PliHost *host)
{
    PliWavelet *s = self;
    if (!s) return;
    pli_rest_stiffness_free(&s->stiffness);
    pli_wavelet_adapt_destroy(s);
    pli_wavelet_cut_destroy(s);
    pli_wavelet_free_pairs(s);
    pli_wavelet_free_embedding(s);
    pli_wavelet_free_basis(s);
    PLI_FREE(host, s, 1);
}

static void reset(void *self)
{
    PliWavelet *s = self;
    pli_wavelet_only_base(s);
    pli_wavelet_adapt_reset(s);
    pli_rest_stiffness_reset(&s->stiffness);
    pli_wavelet_refresh_cut(s);
}

static bool is_valid(const void *self, PliError *err)
{
    const PliWavelet *s = self;
    // level 0 is always there, and weighs what the body does
    double mass = 0.0;
    for (PliIndex i = 0; i < s->active_count; ++i)
        if (s->dof_level[s->active[i]] == 0) mass += s->cut_load[i];
    if (!(fabs(mass - s->total_mass) <= 1e-9 * s->total_mass))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "level 0 weighs %.12g kg, the body %.12g kg", mass, s->total_mass),
               false;
    double volume = 0.0;
    for (PliIndex q = 0; q < s->sample_count; ++q) volume += s->sample_volume[q];
    if (s->sample_count && !(fabs(volume / s->volume - 1.0) < 0.02))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "live samples hold %.12g m3 of %.12g", volume, s->volume), false;
    for (PliIndex i = 0; i < s->count; ++i)
        if ((s->position[i] != PLI_NONE) != (s->state[i] != PLI_PASSIVE))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "function %u is neither on nor off", i), false;
    return true;
}

static PliIndex place(const void *self, PliIndex dof)
{
    const PliWavelet *s = self;
    return dof < s->count ? s->level[s->dof_level[dof]].dof_first + dof : dof;
}

// Stiffness at rest is linear in Young's modulus, and in nothing else that may change.
static PliStatus retune(void *self, const PliBodyDef *def, PliError *err)
{
    PliWavelet *s = self;
    const PliMaterial *was = &s->def.base.material, *now = &def->material;
    if (now->poisson != was->poisson)
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "wavelet: Poisson's ratio cannot change while running, from %g to %g: the stiffness at rest "
                          "is made with it",
                          was->poisson, now->poisson);
    if (now->law != was->law) return pli_refuse(err, PLI_UNSUPPORTED, "wavelet: the law cannot change while running");
    if (now->young != was->young) {
        const double factor = now->young / was->young;
        for (size_t k = 0; k < 9 * (size_t)s->block_count; ++k) s->block_stiffness[k] *= factor;
        pli_wavelet_turn_blocks(s);
        for (size_t k = 0; s->own_stiffness && k < 9 * (size_t)s->entry_first[s->active_count]; ++k)
            s->own_stiffness[k] *= factor;
        s->revision++, s->base_revision++; // the factor is of the old one
    }
    s->def.base = *def;
    s->lame = pli_lame(now);
    return PLI_OK;
}

const PliSchemeOps pli_wavelet_ops = {
    .retune = retune,
    .density_by_place = true,
    .poisson_by_place = true,
    .name = "wavelet",
    .destroy = destroy,
    .reset = reset,
    .cut = pli_wavelet_cut,
    .adapt = pli_wavelet_adapt,
    .spread = pli_wavelet_spread,
    .transfer = pli_wavelet_levels,
    .follow = pli_wavelet_follow,
    .transfer_rows = pli_wavelet_rows_of,
    .announces = true, // details begin at zero and end there: nothing moves at an event
    .add_force = pli_wavelet_add_offsets,
    .locate = pli_wavelet_locate,
    .pin = pli_wavelet_pin,
    .place = place,
    .criteria = 1u << PLI_BY_FORCE | 1u << PLI_BY_CONTACT | 1u << PLI_BY_CAMERA | 1u << PLI_BY_REGION,
    .judges_forces = true,
    .is_valid = is_valid,
};

static PliStatus check(const PliWaveletDef *d, PliError *err)
{
    const PliStatus status = pli_body_def_check(&d->base, err);
    if (status != PLI_OK) return status;
    if (d->base.integrator != PLI_IMPLICIT)
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "wavelet: explicit integration is not available, the mass matrix is not diagonal");
    if (pli_body_check_criterion(&pli_wavelet_ops, &d->base.criterion, err) != PLI_OK) return PLI_BAD_ARGUMENT;
    if (d->levels < 0 || d->levels >= PLI_WAVELET_LEVELS)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "wavelet: levels is %d; it must be between 0 and %d", d->levels,
                          PLI_WAVELET_LEVELS - 1);
    if (d->refine < 0 || d->refine > 4)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "wavelet: refine is %d; it must be between 0 and 4", d->refine);
    if (d->law != PLI_WAVELET_NONLINEAR && d->base.material.law != pli_body_default().material.law)
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "wavelet: a law acts with elasticity nonlinear only; the linear ones have none to choose");
    if (d->law != PLI_WAVELET_NONLINEAR && d->tangent != PLI_WAVELET_TRUE)
        return pli_refuse(
            err, PLI_UNSUPPORTED,
            "wavelet: a tangent at rest acts with elasticity nonlinear only; the linear ones have no other");
    if (d->smooth && d->basis != PLI_WAVELET_TRILINEAR)
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "wavelet: smooth acts with basis trilinear only; the others are smooth");
    if (d->smooth && (d->surface || d->resolution > 0))
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "wavelet: smooth acts in a whole lattice only; a surface inside one has its own shape");
    if (d->transition == PLI_WAVELET_PAPER && d->law == PLI_WAVELET_NONLINEAR)
        return pli_refuse(
            err, PLI_UNSUPPORTED,
            "wavelet: the transitions of the paper act with linear elasticity only; a material law has no "
            "pairs to leave out");
    if (d->transition == PLI_WAVELET_PAPER && d->base.criterion.kind != PLI_BY_FORCE)
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "wavelet: the transitions of the paper decide by the size of details, not by contact, camera "
                          "or region");
    if (d->quadrature != PLI_WAVELET_GAUSS && (d->law == PLI_WAVELET_NONLINEAR || d->surface || d->resolution > 0))
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "wavelet: the quadrature of the paper acts with linear elasticity in a whole lattice only");
    if (!(d->sharp_angle >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "wavelet: sharp_angle is %g degrees; it must not be negative",
                          d->sharp_angle);
    if (!(d->fade > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "wavelet: fade is %g s; it must be positive", d->fade);
    if (!(d->memory > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "wavelet: memory is %g s; it must be positive", d->memory);
    return PLI_OK;
}

PliBody *pli_wavelet_create(const PliHost *host, const PliWaveletDef *def, PliError *err)
{
    if (check(def, err) != PLI_OK) return NULL;
    PliWavelet *s = PLI_NEW(host, 1, PliWavelet);
    if (!s) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a body of wavelets");
        return NULL;
    }
    s->host = *host;
    s->def = *def;
    s->def.mesh = s->def.surface = NULL;
    s->lame = pli_lame(&def->base.material);
    PliStatus status = pli_wavelet_build(s, def, err);
    const bool rest = def->law == PLI_WAVELET_NONLINEAR && def->tangent == PLI_WAVELET_REST;
    if (status == PLI_OK) status = pli_wavelet_make_pairs(s, err);
    for (int k = 0; k < s->level_count && status == PLI_OK; ++k) pli_lattice_forget_joints(s->level[k].lattice);
    if (status == PLI_OK && (pli_wavelet_cut_create(s) != PLI_OK || pli_wavelet_adapt_create(s) != PLI_OK ||
                             pli_rest_stiffness_init(&s->stiffness, host, def->base.linear_solver, rest) != PLI_OK))
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u functions", s->count);
    if (status != PLI_OK) {
        destroy(s, host);
        return NULL;
    }
    pli_body_def_forget_regions(&s->def.base);
    s->stiffness.linear = def->law != PLI_WAVELET_NONLINEAR;
    s->method = (PliLinearMethod){ &pli_rest_linear_ops, &s->stiffness };
    const PliSchemeStatic fixed = {
        .dof_count = s->dof_count,
        .rest = s->rest,
        .dof_level = s->dof_level,
        .level_count = s->level_count,
        .dense = true,
        .sample_cells = true,
        .sample_poisson = def->base.poisson_region_count > 0,
        .force = def->law == PLI_WAVELET_NONLINEAR ? NULL : &pli_rest_force_ops,
        .force_self = &s->stiffness,
        .tangent = rest ? &pli_rest_force_ops : NULL,
        .tangent_self = &s->stiffness,
        .methods = &s->method,
        .method_count = 1,
        .point_entries = s->def.basis == PLI_WAVELET_TRILINEAR && !s->smooth ? 24 : 96,
        .active_capacity = s->count,
        .active_grows = !pli_wavelet_limited(s),
        .slave_capacity = s->slave_capacity,
        .slave_entry_capacity = s->slave_entry_capacity,
        .sample_capacity = s->sample_capacity,
        .sample_entry_capacity = s->sample_entry_capacity,
        .mass = s->total_mass,
        .surface_points = s->surface,
        .surface_point_count = s->surface_count,
        .surface_tris = s->tris,
        .surface_tri_count = s->tri_count,
    };
    return pli_body_create(host, &def->base, &pli_wavelet_ops, s, &fixed, err);
}

PliWaveletInfo pli_wavelet_info(const PliBody *body)
{
    PliWaveletInfo info = { 0 };
    if (!pli_body_uses(body, &pli_wavelet_ops)) return info;
    const PliWavelet *s = pli_body_self((PliBody *)body);
    info = s->info;
    info.displacement = s->displacement;
    info.fading = s->fading;
    return info;
}

const double *pli_wavelet_places(const PliBody *body)
{
    return pli_body_uses(body, &pli_wavelet_ops) ? ((const PliWavelet *)pli_body_self((PliBody *)body))->place : NULL;
}

PliStatus pli_wavelet_activate(PliBody *body, const PliIndex *dofs, PliIndex count, PliError *err)
{
    if (!pli_body_uses(body, &pli_wavelet_ops))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "the body is not one of wavelets");
    PliWavelet *s = pli_body_self(body);
    for (PliIndex k = 0; k < count && dofs; ++k)
        if (dofs[k] >= s->count)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "coefficient %u is not one of the %u functions", dofs[k],
                              s->count);
    for (PliIndex k = 0; k < (dofs ? count : s->count); ++k) {
        const PliIndex a = dofs ? dofs[k] : k;
        if (!s->fixed[a] && !(s->dropped && s->dropped[a])) s->state[a] = PLI_ACTIVE;
    }
    pli_wavelet_refresh_cut(s);
    pli_body_recut(body);
    return PLI_OK;
}
