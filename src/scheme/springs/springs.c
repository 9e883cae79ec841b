/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Creation of a surface of springs, and what a scheme answers.
#include "scheme/springs/springs.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "surface/triangle_tree.h"

PliSpringsDef pli_springs_default(void)
{
    PliSpringsDef d = { .base = pli_body_default(), .levels = 2, .volume = true };
    d.base.material.poisson = 0.4;
    d.base.criterion.kind = PLI_BY_DISPLACEMENT;
    d.base.criterion.threshold = 0.05;
    d.base.courant = 0.6; // stretched springs are stiffer across than at rest
    return d;
}

// ---- what a scheme answers -----------------------------------------------------------------------------------------------------

static void destroy(void *self, const PliHost *host)
{
    PliSprings *s = self;
    if (!s) return;
    if (s->cut) {
        pli_springs_live_destroy(s);
        pli_springs_event_destroy(s);
        pli_springs_judge_destroy(s);
    }
    pli_springs_cut_destroy(s->cut);
    pli_pyramid_destroy(s->pyramid);
    pli_triangle_tree_destroy(s->tree);
    PLI_FREE(host, s, 1);
}

static void reset(void *self)
{
    PliSprings *s = self;
    pli_springs_cut_clear(s->cut);
    pli_springs_adapt_reset(s);
    pli_springs_cut_refresh(s->cut);
    pli_springs_live_refresh(s);
    pli_springs_note_rows(s, 0); // skins begin anew, too
}

static void cut(void *self, PliCut *out)
{
    const PliSprings *s = self;
    out->active = s->cut->active;
    out->active_count = s->cut->active_count;
    out->mass = s->mass;
}

static void spread(void *self, double *x) { pli_springs_follow(((PliSprings *)self)->cut, x); }
static PliRows transfer(void *self) { return pli_springs_rows(self); }
static void follow(void *self, const PliIndex *dof, PliIndex count, double *x)
{
    pli_springs_follow_some(self, dof, count, x);
}

static bool changes_rows(void *self, const PliIndex *dof, PliIndex count)
{
    return pli_springs_changes_rows(self, dof, count);
}

static PliRows rows_of(void *self, const PliIndex *dof, PliIndex count)
{
    return pli_springs_rows_of(self, dof, count);
}

static PliIndex locate(void *self, const double point[3], PliIndex *column, double *weight, PliIndex capacity)
{
    const PliSprings *s = self;
    double square = INFINITY, foot[3];
    const PliIndex face = pli_triangle_tree_nearest(s->tree, point, &square, foot);
    return face == PLI_NONE ? 0 : pli_pyramid_attach(s->pyramid, point, face, foot, column, weight, capacity);
}

static bool is_valid(const void *self, PliError *err)
{
    const PliSprings *s = self;
    for (PliIndex i = 0; i < s->cut->active_count; ++i)
        if (s->mass[i] != s->cut->mass[s->cut->active[i]])
            return pli_refuse(err, PLI_BAD_ARGUMENT, "vertex %u weighs %g kg, not %g kg", s->cut->active[i], s->mass[i],
                              s->cut->mass[s->cut->active[i]]),
                   false;
    return pli_springs_cut_is_valid(s->cut, err);
}

// ---- forces ------------------------------------------------------------------------------------------------------------------------

static PliStatus recut(void *self, const PliCut *cut_now, const PliLiveView *live)
{
    (void)self, (void)cut_now, (void)live; // the cut made its springs when it changed
    return PLI_OK;
}

static void retune(void *self, const PliBodyDef *def)
{
    PliSprings *s = self;
    const PliMaterial *m = &def->material;
    const double change = m->young / s->young;
    s->young = m->young;
    s->stiffness *= change;
    for (size_t k = 0; k < 3 * (size_t)s->pyramid->mesh[0]->face_count && change != 1.0; ++k)
        s->cut->base_stiffness[k] *= change;
    s->force.damping = m->damping;
    s->force.bulk = s->def.open || !s->def.volume ? 0.0 : m->young / (3.0 * (1.0 - 2.0 * m->poisson));
    pli_springs_cut_refresh(s->cut);
    pli_springs_live_refresh(s);
}

static void add_force(void *self, const double *x, const double *v, double *f)
{
    pli_springs_add_force(&((PliSprings *)self)->force, x, v, f);
}
static void linearize(void *self, const double *x, bool definite)
{
    pli_springs_linearize(&((PliSprings *)self)->force, x, definite);
}
static void add_dforce(void *self, const double *dx, double k, double *df)
{
    pli_springs_add_dforce(&((PliSprings *)self)->force, dx, k, df);
}
static void blocks(void *self, PliBlockFn *fn, void *user)
{
    pli_springs_blocks(&((PliSprings *)self)->force, fn, user);
}
static bool add_diagonal_blocks(void *self, PliIndex n, double k, double *out)
{
    return n == 1 && (pli_springs_add_diagonal(&((PliSprings *)self)->force, k, out), true);
}
static double energy(void *self, const double *x) { return pli_springs_energy(&((PliSprings *)self)->force, x); }
static double critical_step(void *self) { return pli_springs_step(self); }
static PliIndex element_count(void *self) { return ((PliSprings *)self)->force.spring_count; }

static const PliForceOps force_ops = {
    .recut = recut,
    .retune = retune,
    .add_force = add_force,
    .linearize = linearize,
    .add_dforce = add_dforce,
    .blocks = blocks,
    .energy = energy,
    .critical_step = critical_step,
    .element_count = element_count,
    .add_diagonal_blocks = add_diagonal_blocks,
};

static const PliSchemeOps springs_ops = {
    .name = "springs",
    .destroy = destroy,
    .reset = reset,
    .cut = cut,
    .adapt = pli_springs_adapt,
    .criteria = 1u << PLI_BY_DISPLACEMENT | 1u << PLI_BY_STRAIN_JUMP | 1u << PLI_BY_FORCE | 1u << PLI_BY_CONTACT |
                1u << PLI_BY_CAMERA | 1u << PLI_BY_REGION,
    .spread = spread,
    .transfer = transfer,
    .follow = follow,
    .changes_rows = changes_rows,
    .transfer_rows = rows_of,
    .announces = true,
    .keeps_fixed = true,
    .locate = locate,
    .pin = pli_springs_pin,
    .judges_forces = true,
    .is_valid = is_valid,
};

// ---- creation --------------------------------------------------------------------------------------------------------------------

/// Iterations that know masses alone leave light vertices between stiff springs with what is stiff in them, and it grows from step to step:
/// at 0.003 a poked liver and a cloth move as with a small tolerance, at 0.01 they gain up to a hundred times their energy.
static const double MOST_TOLERANCE = 0.003;

static PliStatus check_tolerance(const PliBodyDef *d, PliError *err)
{
    const bool plain = d->linear_solver == PLI_SOLVE_CG || d->linear_solver == PLI_SOLVE_MINRES;
    if (d->integrator == PLI_SYMPLECTIC || !plain || d->cg_tolerance <= MOST_TOLERANCE) return PLI_OK;
    return pli_refuse(
        err, PLI_UNSUPPORTED,
        "springs: with a tolerance of %g cg and minres would gain energy without end; take %g or less, or "
        "linearSolver auto",
        d->cg_tolerance, MOST_TOLERANCE);
}

static PliStatus check(const PliSpringsDef *d, PliError *err)
{
    if (d->base.cookie != PLI_DEF_COOKIE)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "springs: the definition was not made by pli_springs_default");
    if (check_tolerance(&d->base, err) != PLI_OK) return PLI_UNSUPPORTED;
    if (d->base.multirate == PLI_RATES_OWN)
        return pli_refuse(err, PLI_UNSUPPORTED, "springs: multirate is not available, all springs tick together");
    if (pli_body_check_criterion(&springs_ops, &d->base.criterion, err) != PLI_OK) return PLI_BAD_ARGUMENT;
    if (d->levels < 0 || d->levels >= PLI_PYRAMID_LEVELS)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "springs: levels is %d; it must be between 0 and %d", d->levels,
                          PLI_PYRAMID_LEVELS - 1);
    if (!(d->thickness >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "springs: thickness is %g m; it must not be negative", d->thickness);
    if (d->base_points > 0 && d->base_points < 4)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "springs: a closed surface has at least 4 points, basePoints is %u",
                          d->base_points);
    if (d->open && d->base_points > 0)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "springs: basePoints needs a closed surface; an open one is its own base");
    if (d->open && !(d->thickness > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "springs: an open surface needs a thickness");
    if (d->base.material.law != PLI_STVK)
        return pli_refuse(err, PLI_UNSUPPORTED, "springs: there is no material law to choose, springs are linear");
    if (!d->mesh || (d->mesh->tri_count == 0 && d->mesh->quad_count == 0 && d->mesh->tet_count == 0))
        return pli_refuse(err, PLI_BAD_MESH, "springs: the mesh has no triangles");
    return pli_material_check(&d->base.material, err);
}

PliBody *pli_springs_create(const PliHost *host, const PliSpringsDef *def, PliError *err)
{
    if (check(def, err) != PLI_OK) return NULL;
    PliSprings *s = PLI_NEW(host, 1, PliSprings);
    if (!s) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a body of springs");
        return NULL;
    }
    s->host = *host;
    s->def = *def;
    s->def.mesh = NULL;
    PliStatus status = pli_springs_build(s, def->mesh, err);
    if (status == PLI_OK && (pli_springs_live_create(s) != PLI_OK || pli_springs_event_create(s) != PLI_OK ||
                             pli_springs_judge_create(s) != PLI_OK))
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u vertices", s->pyramid->vertex_count);
    if (status != PLI_OK) {
        destroy(s, host);
        return NULL;
    }
    const PliWinged *fine = s->pyramid->mesh[s->pyramid->level_count - 1];
    s->young = def->base.material.young;
    const PliSchemeStatic statics = {
        .dof_count = s->pyramid->vertex_count,
        .rest = s->pyramid->rest,
        .dof_level = s->pyramid->level,
        .level_count = s->pyramid->level_count,
        .row_revision = s->row_revision,
        .level_spacing = s->spacing,
        .point_entries = 16,
        .active_capacity = s->pyramid->vertex_count,
        .force = &force_ops,
        .force_self = s,
        .surface_points = s->pyramid->rest,
        .surface_point_count = s->pyramid->vertex_count,
        .surface_tris = fine->corner,
        .surface_tri_count = fine->face_count,
    };
    return pli_body_create(host, &def->base, &springs_ops, s, &statics, err);
}

// ---- for studies -----------------------------------------------------------------------------------------------------------------

PliSpringsInfo pli_springs_info(const PliBody *body)
{
    return pli_body_uses(body, &springs_ops) ? ((const PliSprings *)pli_body_self((PliBody *)body))->info
                                             : (PliSpringsInfo){ 0 };
}

const PliIndex *pli_springs_triangles(const PliBody *body, PliIndex *count)
{
    *count = 0;
    if (!pli_body_uses(body, &springs_ops)) return NULL;
    const PliSprings *s = pli_body_self((PliBody *)body);
    *count = s->cut->tri_count;
    return s->cut->tri;
}

PliStatus pli_springs_refine(PliBody *body, const PliState *state, const PliIndex *vertices, PliIndex count, int level,
                             PliError *err)
{
    if (!pli_body_uses(body, &springs_ops)) return pli_refuse(err, PLI_BAD_ARGUMENT, "the body is not one of springs");
    PliSprings *s = pli_body_self(body);
    if (level < 0 || level + 1 >= s->pyramid->level_count)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "level %d cannot be refined, the last that can is %d", level,
                          s->pyramid->level_count - 2);
    for (PliIndex k = 0; k < count; ++k)
        if (vertices[k] >= s->pyramid->mesh[level]->vertex_count)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "vertex %u is not one of the %u of level %d", vertices[k],
                              s->pyramid->mesh[level]->vertex_count, level);
    pli_body_spread(body, state->x); // where everything begins that is not simulated yet
    pli_body_spread_velocity(body, state->v);
    pli_springs_cut_clear(s->cut);
    for (PliIndex k = 0; k < s->cut->star_count; ++k)
        if (s->pinned[k]) pli_springs_cut_choose(s->cut, k, true);
    for (PliIndex k = 0; k < count; ++k) pli_springs_cut_choose(s->cut, s->cut->star_first[level] + vertices[k], true);
    pli_springs_cut_refresh(s->cut);
    pli_springs_live_refresh(s);
    pli_springs_note_rows(s, pli_body_revision(body) + 1);
    pli_body_recut(body);
    return PLI_OK;
}
