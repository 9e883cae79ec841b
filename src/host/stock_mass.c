/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/stock.h"

#include <string.h>

// Masses that are one number for each point. UniformMass, DiagonalMass and lumped MeshMatrixMass differ only in how they
// choose the numbers.

typedef struct Mass {
    double *mass; ///< kg, one for each point of the state; 0: no mass
    PliMech *state;
    double rayleigh;
    const double *gravity; ///< the scene's
} Mass;

static void mass_add_force(PliObject *o, const double *x, const double *v, double *f)
{
    (void)x;
    (void)v;
    const Mass *m = o->self;
    for (PliIndex i = 0; i < m->state->count; ++i) v3_madd(f + 3 * (size_t)i, m->mass[i], m->gravity);
}

// SOFA: mFactorIncludingRayleighDamping = m - b * rayleighMass
static double mass_factor(const Mass *m, PliFactors factors)
{
    return factors.m - factors.b * m->rayleigh;
}

static void mass_add_mbk(PliObject *o, const double *dx, PliFactors factors, double *df)
{
    const Mass *m = o->self;
    double factor = mass_factor(m, factors);
    if (factor == 0.0) return;
    for (PliIndex i = 0; i < m->state->count; ++i) v3_madd(df + 3 * (size_t)i, factor * m->mass[i], dx + 3 * (size_t)i);
}

static void mass_add_matrix(PliObject *o, PliMechanics *mechanics, PliMech *state, PliFactors factors)
{
    const Mass *m = o->self;
    double factor = mass_factor(m, factors);
    for (PliIndex i = 0; i < state->count; ++i) pli_mechanics_add_scalar(mechanics, state, i, factor * m->mass[i]);
}

static void mass_pattern(PliObject *o, PliMechanics *mechanics, PliMech *state)
{
    (void)o;
    for (PliIndex i = 0; i < state->count; ++i) pli_mechanics_push(mechanics, state, i, i);
}

static void mass_acceleration(PliObject *o, const double *f, double *a)
{
    const Mass *m = o->self;
    for (PliIndex i = 0; i < m->state->count; ++i)
        for (int k = 0; k < 3; ++k)
            if (m->mass[i] > 0.0) a[3 * (size_t)i + k] = f[3 * (size_t)i + k] / m->mass[i];
}

static double mass_kinetic(PliObject *o, const double *v)
{
    const Mass *m = o->self;
    double energy = 0.0;
    for (PliIndex i = 0; i < m->state->count; ++i) energy += 0.5 * m->mass[i] * v3_dot(v + 3 * (size_t)i, v + 3 * (size_t)i);
    return energy;
}

static double mass_potential(PliObject *o, const double *x)
{
    const Mass *m = o->self;
    double energy = 0.0;
    for (PliIndex i = 0; i < m->state->count; ++i) energy -= m->mass[i] * v3_dot(m->gravity, x + 3 * (size_t)i);
    return energy;
}

static PliStatus mass_begin(PliObject *o, PliError *err)
{
    Mass *m = o->self;
    PliScene *scene = o->node->scene;
    m->state = pli_state_of(o);
    if (!m->state) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs a MechanicalObject in its node or above");
    m->mass = PLI_SCENE_NEW(scene, m->state->count, double);
    if (!m->mass) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u masses", m->state->count);
    m->rayleigh = pli_real(o, "rayleighMass");
    m->gravity = scene->gravity;
    return PLI_OK;
}

static PliStatus uniform_init(PliObject *o, PliError *err)
{
    PliStatus status = mass_begin(o, err);
    if (status) return status;
    Mass *m = o->self;
    bool total = pli_is_set(o, "totalMass"), each = pli_is_set(o, "vertexMass");
    if (!total && !each) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs totalMass or vertexMass");
    size_t n;
    const PliIndex *indices = pli_indices(o, "indices", &n);
    size_t count = n ? n : m->state->count;
    double mass = total ? pli_real(o, "totalMass") / (double)(count ? count : 1) : pli_real(o, "vertexMass");
    if (!(mass >= 0.0)) return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=%g must not be negative", total ? "totalMass" : "vertexMass", total ? pli_real(o, "totalMass") : mass);
    for (size_t i = 0; i < count; ++i) {
        PliIndex at = n ? indices[i] : (PliIndex)i;
        if (at >= m->state->count) return pli_refuse(err, PLI_BAD_ARGUMENT, "indices has %u, but there are %u points", at, m->state->count);
        m->mass[at] = mass;
    }
    return PLI_OK;
}

#define MASS_OPS                                                                                                                    \
    .size = sizeof(Mass), .add_force = mass_add_force, .add_mbk = mass_add_mbk, .pattern = mass_pattern, .add_matrix = mass_add_matrix,  \
    .acceleration = mass_acceleration, .kinetic = mass_kinetic, .potential = mass_potential

const PliOps pli_uniform_mass_ops = { MASS_OPS, .init = uniform_init };
