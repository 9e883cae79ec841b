/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/components/grab.h"
#include "host/components/components.h"

#include <string.h>

// AdaptiveSolver: the body steps itself, on its active coefficients only. Forces of other components are gathered whenever the
// body asks, in every explicit substep.

typedef struct Solver {
    PliMechanics m;
    PliModel *model;
    double *force; ///< gathered, one state
    double updates;
    double substeps;
} Solver;

static PliStatus solver_init(PliObject *o, PliError *err)
{
    Solver *s = o->self;
    s->model = pli_model_of(o, err);
    if (!s->model) return err->status;
    if (s->model->object->node != o->node)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "its model %s must be in the same node", s->model->object->name);
    return pli_model_claim(s->model, PLI_ROUTE_OWNED, err);
}

// f += what every other component says at x and v, pulled up through the mappings.
static void gather(const double *x, const double *v, double time_in_step, double *f, void *user)
{
    (void)time_in_step;
    Solver *s = user;
    PliMech *state = s->m.state[0];
    size_t n = 3 * (size_t)state->count;
    if (x != state->x)
        memcpy(state->x, x, n * sizeof *x); // the body steps these very arrays unless it works on compact ones
    if (v != state->v) memcpy(state->v, v, n * sizeof *v);
    pli_mechanics_map(&s->m);
    pli_mechanics_force(&s->m, s->force);
    for (size_t i = 0; i < n; ++i) f[i] += s->force[i];
    s->updates += 1.0;
}

// What acts on the skin, with its stiffness.
static void gather_points(const double *x, const double *v, PliPointForces *out, void *user)
{
    PliModel *m = ((const Solver *)user)->model;
    const PliPointForces **next = &out->next;
    for (int i = 0; i < m->skin_force_count; ++i) {
        PliPointForces *list = pli_skin_force_points(m->skin_force[i], x, v);
        *next = list;
        next = &list->next;
    }
    if (pli_model_grabbed(m)) *next = pli_grab_points(m, x);
}

/// A body that nothing acts on from outside is not asked in every substep.
static void choose_external(PliModel *m)
{
    const Solver *s = m->external_user;
    m->external = s->m.force_count ? gather : NULL;
    m->points = m->skin_force_count || pli_model_grabbed(m) ? gather_points : NULL;
}

static PliStatus solver_ready(PliObject *o, PliError *err)
{
    Solver *s = o->self;
    for (PliObject *other = o->node->first_object; other; other = other->next) {
        if (other != o && (other->cls->roles & PLI_ROLE_ODE))
            return pli_refuse(err, PLI_BAD_ARGUMENT,
                              "two solvers in one node: AdaptiveSolver steps the body alone, remove %s", other->name);
        if (other->cls->roles & PLI_ROLE_MASS)
            return pli_refuse(err, PLI_BAD_ARGUMENT,
                              "the body has its own mass and gravity: remove %s, or its weight counts twice",
                              other->name);
    }
    PliStatus status = pli_mechanics_gather(&s->m, o, err);
    if (status) return status;
    if (s->m.state_count != 1)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%zu states under its node: AdaptiveSolver steps one body",
                          s->m.state_count);
    s->force = PLI_SCENE_NEW(o->node->scene, 3 * (size_t)s->m.count, double);
    if (!s->force) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u coefficients", s->m.count);
    s->model->external_user = s;
    s->model->choose_external = choose_external;
    choose_external(s->model);
    if ((status = pli_model_reserve(s->model, err))) return status;
    pli_lend_reals(o, "substeps", &s->substeps, 1);
    pli_lend_reals(o, "forceUpdates", &s->updates, 1);
    pli_mechanics_end(&s->m, o->node->scene->time);
    return PLI_OK;
}

static PliStatus solver_solve(PliObject *o, double dt, PliError *err)
{
    Solver *s = o->self;
    PliModel *model = s->model;
    PliScene *scene = o->node->scene;
    PliState state = { .x = model->state->x,
                       .v = model->state->v,
                       .external = model->external,
                       .external_user = model->external_user,
                       .points = model->points,
                       .points_user = model->external_user };
    s->updates = 0.0;
    // prescribed motions: the velocity of the coming step, which the body leaves alone
    for (size_t i = 0; i < s->m.constraint_count; ++i) {
        const PliActor *a = &s->m.constraint[i];
        if (a->object->cls->ops->project_velocity)
            a->object->cls->ops->project_velocity(a->object, a->state->v, scene->time);
    }
    model->info = pli_body_advance(model->body, &state, dt);
    s->substeps = model->info.substeps;
    model->diverged = !model->info.finite;
    if (model->diverged) {
        PliError why;
        pli_step_check(&model->info, &why);
        // whatever the cause, this body stops and its neighbours go on
        return pli_refuse(err, PLI_DIVERGED, "%s: step %llu at t = %g s was undone: %s", model->object->name,
                          (unsigned long long)scene->step + 1, scene->time, why.text);
    }
    // the body looks at what is active, and what is passive follows that: a tenth of a small step where levels are many times as large
    model->state->is_finite = true;
    pli_mechanics_end(&s->m, scene->time);
    return PLI_OK;
}

static double solver_kinetic(PliObject *o, const double *v)
{
    const PliModel *m = ((Solver *)o->self)->model;
    return pli_body_energy(m->body, m->state->x, v).kinetic;
}

static double solver_potential(PliObject *o, const double *x)
{
    const PliModel *m = ((Solver *)o->self)->model;
    PliEnergy e = pli_body_energy(m->body, x, m->state->v);
    return e.elastic + e.gravity;
}

const PliOps pli_adaptive_solver_ops = { .size = sizeof(Solver),
                                         .init = solver_init,
                                         .ready = solver_ready,
                                         .solve = solver_solve,
                                         .kinetic = solver_kinetic,
                                         .potential = solver_potential };
