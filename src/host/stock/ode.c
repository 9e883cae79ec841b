/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/stock/stock.h"

#include <math.h>
#include <string.h>

// Time integrators. They gather what they integrate when everything is initialised, and allocate nothing afterwards.

typedef struct Ode {
    PliMechanics m;
    double *f, *b, *dv, *v;
    double rayleigh_stiffness, rayleigh_mass, damping;
    bool first_order, trapezoidal, symplectic;
    bool needs_solve; ///< explicit: the mass is no diagonal
} Ode;

static PliStatus ode_gather(PliObject *o, bool needs_linear, PliError *err)
{
    Ode *s = o->self;
    PliStatus status = pli_mechanics_gather(&s->m, o, err);
    if (status) return status;
    s->m.linear = pli_link(o, "linearSolver");
    if (s->m.linear && !(s->m.linear->cls->roles & PLI_ROLE_LINEAR))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "linearSolver leads to %s, which is no linear solver",
                          s->m.linear->name);
    if (!s->m.linear) s->m.linear = pli_node_find(o->node, PLI_ROLE_LINEAR);
    if (needs_linear && !s->m.linear) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs a linear solver in its node");
    if (s->m.linear && !(s->m.linear->cls->roles & PLI_ROLE_LINEAR))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "linearSolver leads to %s, which is no linear solver",
                          s->m.linear->name);
    size_t n = 3 * (size_t)s->m.count;
    double *block = PLI_SCENE_NEW(o->node->scene, 4 * n, double);
    if (!block) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u points", s->m.count);
    s->f = block;
    s->b = block + n;
    s->dv = block + 2 * n;
    s->v = block + 3 * n;
    // SOFA projects and propagates once when the scene is initialised
    pli_mechanics_end(&s->m, o->node->scene->time);
    if (!s->m.linear || !needs_linear) return PLI_OK;
    return s->m.linear->cls->ops->linear(s->m.linear, &s->m, (PliFactors){ 1.0, 0.0, 0.0 }, NULL, NULL, err);
}

// ---- EulerImplicitSolver ---------------------------------------------------------------------------------------------------------

static PliStatus implicit_ready(PliObject *o, PliError *err)
{
    Ode *s = o->self;
    s->rayleigh_stiffness = pli_real(o, "rayleighStiffness");
    s->rayleigh_mass = pli_real(o, "rayleighMass");
    s->damping = pli_real(o, "vdamping");
    s->first_order = pli_bool(o, "firstOrder");
    s->trapezoidal = pli_bool(o, "trapezoidalScheme");
    return ode_gather(o, true, err);
}

static PliStatus implicit_solve(PliObject *o, double h, PliError *err)
{
    Ode *s = o->self;
    PliMechanics *m = &s->m;
    PliIndex n = 3 * m->count;
    double tr = s->trapezoidal ? 0.5 : 1.0;
    if (n == 0) return PLI_OK;
    pli_mechanics_force(m, s->b);
    if (!s->first_order) {
        // b = h (f + (h tr + rs) K v - rm M v)
        pli_mechanics_velocity(m, s->v);
        pli_mechanics_add_mbk(m, s->v, (PliFactors){ -s->rayleigh_mass, 0.0, h * tr + s->rayleigh_stiffness }, s->b);
        for (PliIndex i = 0; i < n; ++i) s->b[i] *= h;
    }
    pli_mechanics_project(m, s->b);
    PliFactors a = s->first_order ? (PliFactors){ 1.0, 0.0, -h * tr }
                                  : (PliFactors){ 1.0 + tr * h * s->rayleigh_mass, -tr * h,
                                                  -tr * h * (tr * h + s->rayleigh_stiffness) };
    PliStatus status = m->linear->cls->ops->linear(m->linear, m, a, s->b, s->dv, err);
    if (status) return status;
    pli_mechanics_integrate(m, s->dv, s->first_order ? 0.0 : 1.0, h);
    if (s->damping != 0.0) {
        double decay = exp(-h * s->damping);
        for (size_t i = 0; i < m->state_count; ++i)
            for (size_t k = 0; k < 3 * (size_t)m->state[i]->count; ++k) m->state[i]->v[k] *= decay;
    }
    pli_mechanics_end(m, o->node->scene->time);
    return PLI_OK;
}

const PliOps pli_euler_implicit_ops = { .size = sizeof(Ode), .ready = implicit_ready, .solve = implicit_solve };

// ---- EulerExplicitSolver -----------------------------------------------------------------------------------------------------------

static PliStatus explicit_ready(PliObject *o, PliError *err)
{
    Ode *s = o->self;
    s->symplectic = pli_bool(o, "symplectic");
    PliStatus status = ode_gather(o, false, err);
    if (status) return status;
    for (size_t i = 0; i < s->m.mass_count; ++i) {
        const PliActor *a = &s->m.mass[i];
        bool coupled = a->object->cls->ops->coupled && a->object->cls->ops->coupled(a->object);
        s->needs_solve = s->needs_solve || coupled || a->state->mapping != NULL;
    }
    if (!s->needs_solve) return PLI_OK;
    if (!s->m.linear)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a mass that is not diagonal needs a linear solver in the node");
    return s->m.linear->cls->ops->linear(s->m.linear, &s->m, (PliFactors){ 1.0, 0.0, 0.0 }, NULL, NULL, err);
}

static PliStatus explicit_solve(PliObject *o, double h, PliError *err)
{
    Ode *s = o->self;
    PliMechanics *m = &s->m;
    PliIndex n = 3 * m->count;
    if (n == 0) return PLI_OK;
    pli_mechanics_force(m, s->f);
    if (s->needs_solve) {
        pli_mechanics_project(m, s->f);
        PliStatus status = m->linear->cls->ops->linear(m->linear, m, (PliFactors){ 1.0, 0.0, 0.0 }, s->f, s->dv, err);
        if (status) return status;
    } else {
        memset(s->dv, 0, n * sizeof *s->dv);
        for (size_t i = 0; i < m->mass_count; ++i) {
            const PliActor *a = &m->mass[i];
            a->object->cls->ops->acceleration(a->object, s->f + 3 * (size_t)a->state->offset,
                                              s->dv + 3 * (size_t)a->state->offset);
        }
        pli_mechanics_project(m, s->dv);
    }
    for (size_t i = 0; i < m->state_count; ++i) {
        PliMech *state = m->state[i];
        const double *a = s->dv + 3 * (size_t)state->offset;
        for (size_t k = 0; k < 3 * (size_t)state->count; ++k) {
            double before = state->v[k];
            state->v[k] += h * a[k];
            state->x[k] += h * (s->symplectic ? state->v[k] : before);
        }
    }
    pli_mechanics_end(m, o->node->scene->time);
    return PLI_OK;
}

const PliOps pli_euler_explicit_ops = { .size = sizeof(Ode), .ready = explicit_ready, .solve = explicit_solve };
