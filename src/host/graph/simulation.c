/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/graph/simulation.h"
#include "base/hash.h"
#include "host/graph/component.h"

#include <math.h>

// Solvers act on their own subtree; a node with a solver hides those below it, as SOFA's SolveVisitor prunes.
static PliStatus solve_node(PliNode *node, double dt, PliError *err)
{
    if (!node->active) return PLI_OK;
    bool solved = false;
    for (PliObject *o = node->first_object; o; o = o->next) {
        if (!(o->cls->roles & PLI_ROLE_ODE)) continue;
        solved = true;
        PliStatus status = o->cls->ops->solve(o, dt, err);
        if (status) return status;
    }
    if (solved) return PLI_OK;
    PliStatus worst = PLI_OK;
    PliError other;
    for (PliNode *c = node->first; c; c = c->next) {
        PliStatus status = solve_node(c, dt, worst ? &other : err);
        if (status && status != PLI_DIVERGED) return status;
        if (status && !worst) worst = status; // it kept its last good state: its neighbours do their step all the same
    }
    return worst;
}

static PliStatus for_all(PliScene *scene, double dt, bool end, PliError *err)
{
    for (size_t i = 0; i < scene->object_count; ++i) {
        PliObject *o = scene->object[i];
        const PliOps *ops = o->cls->ops;
        if (!ops || !o->node->active) continue;
        PliStatus (*fn)(PliObject *, double, PliError *) = end ? ops->end : ops->begin;
        PliStatus status = fn ? fn(o, dt, err) : PLI_OK;
        if (status) return status;
    }
    return PLI_OK;
}

static PliStatus check_finite(PliScene *scene, PliError *err)
{
    for (size_t i = 0; i < scene->object_count; ++i) {
        PliObject *o = scene->object[i];
        if (!(o->cls->roles & PLI_ROLE_STATE) || !o->node->active) continue;
        PliMech *s = pli_state_self(o);
        const bool known = s->is_finite;
        s->is_finite = false;
        if (known) continue;
        // one sum catches every NaN and infinity
        double sum = 0.0;
        for (size_t k = 0; k < 3 * (size_t)s->count; ++k) sum += fabs(s->x[k]) + fabs(s->v[k]);
        if (isfinite(sum)) continue;
        for (size_t k = 0; k < 3 * (size_t)s->count; ++k)
            if (!isfinite(s->x[k]) || !isfinite(s->v[k]) || k + 1 == 3 * (size_t)s->count) {
                char path[256];
                return pli_refuse(err, PLI_DIVERGED,
                                  "%s: point %zu is no longer finite at t = %g s (step %llu); the time step or a "
                                  "stiffness is too large",
                                  pli_object_path(o, path, sizeof path), k / 3, scene->time,
                                  (unsigned long long)scene->step);
            }
    }
    return PLI_OK;
}

PliStatus pli_scene_step(PliScene *scene, PliError *err)
{
    double dt = scene->dt;
    PliStatus status = for_all(scene, dt, false, err);
    if (!status) status = solve_node(scene->root, dt, err);
    if (status && status != PLI_DIVERGED) return status;
    scene->time += dt;
    scene->step++;
    if (status) return status;
    status = check_finite(scene, err);
    if (!status) status = for_all(scene, dt, true, err);
    return status;
}

static PliStatus once(PliScene *scene, bool finish, PliError *err)
{
    PliStatus worst = PLI_OK;
    for (size_t i = 0; i < scene->object_count; ++i) {
        PliObject *o = scene->object[i];
        const PliOps *ops = o->cls->ops;
        if (!ops || !o->node->active) continue;
        PliStatus (*fn)(PliObject *, PliError *) = finish ? ops->finish : ops->start;
        PliStatus status = fn ? fn(o, err) : PLI_OK;
        if (status && !finish) return status;
        if (status) worst = status; // at the end every file gets its chance to be closed
    }
    return worst;
}

PliStatus pli_scene_start(PliScene *scene, PliError *err) { return once(scene, false, err); }

PliStatus pli_scene_finish(PliScene *scene, PliError *err) { return once(scene, true, err); }

uint64_t pli_scene_hash(const PliScene *scene)
{
    uint64_t hash = PLI_HASH_SEED;
    for (size_t i = 0; i < scene->object_count; ++i) {
        PliObject *o = scene->object[i];
        if (!(o->cls->roles & PLI_ROLE_STATE) || !o->node->active) continue;
        const PliMech *s = pli_state_self(o);
        hash = pli_hash(hash, s->x, 3 * (size_t)s->count * sizeof(double));
        hash = pli_hash(hash, s->v, 3 * (size_t)s->count * sizeof(double));
    }
    return hash;
}

void pli_scene_energy(PliScene *scene, double *kinetic, double *potential)
{
    *kinetic = *potential = 0.0;
    for (size_t i = 0; i < scene->object_count; ++i) {
        PliObject *o = scene->object[i];
        const PliOps *ops = o->cls->ops;
        if (!ops || !o->node->active || (!ops->kinetic && !ops->potential)) continue;
        const PliMech *s = pli_state_of(o);
        if (!s) continue;
        if (ops->kinetic) *kinetic += ops->kinetic(o, s->v);
        if (ops->potential) *potential += ops->potential(o, s->x);
    }
}
