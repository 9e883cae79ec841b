/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/stock/stock.h"

#include <string.h>

// Force fields that act on single points: constant forces, springs to the rest shape, planes and spheres as obstacles.

// ---- ConstantForceField ------------------------------------------------------------------------------------------------------------

typedef struct Constant {
    PliMech *state;
    PliIndex *index;
    double *force;
    size_t count;
    PliData *forces; ///< may change between steps
    uint64_t seen;   ///< its version in `force`
} Constant;

/// Forces given anew between steps, one for all or one for each index; any other number is left out.
static void constant_update(Constant *c)
{
    size_t n;
    if (!c->forces || c->seen == c->forces->version) return;
    const double *given = pli_data_reals(c->forces, &n);
    c->seen = c->forces->version;
    if (n != 3 && n != 3 * c->count) return;
    for (size_t i = 0; i < c->count; ++i) v3_copy(c->force + 3 * i, n == 3 ? given : given + 3 * i);
}

static void constant_add_force(PliObject *o, const double *x, const double *v, double *f)
{
    (void)x;
    (void)v;
    Constant *c = o->self;
    constant_update(c);
    for (size_t i = 0; i < c->count; ++i)
        v3_add(f + 3 * (size_t)c->index[i], f + 3 * (size_t)c->index[i], c->force + 3 * i);
}

static double constant_potential(PliObject *o, const double *x)
{
    const Constant *c = o->self;
    double energy = 0.0;
    for (size_t i = 0; i < c->count; ++i) energy -= v3_dot(c->force + 3 * i, x + 3 * (size_t)c->index[i]);
    return energy;
}

static PliStatus constant_init(PliObject *o, PliError *err)
{
    Constant *c = o->self;
    PliScene *scene = o->node->scene;
    c->state = pli_state_counted(o, err);
    if (!c->state) return PLI_BAD_ARGUMENT;
    size_t n, nf;
    const PliIndex *indices = pli_indices(o, "indices", &n);
    c->count = n ? n : c->state->count;
    c->index = PLI_SCENE_NEW(scene, c->count, PliIndex);
    c->force = PLI_SCENE_NEW(scene, 3 * c->count, double);
    if (!c->index || !c->force) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu forces", c->count);
    bool from_end = pli_bool(o, "indexFromEnd");
    for (size_t i = 0; i < c->count; ++i) {
        PliIndex at = n ? indices[i] : (PliIndex)i;
        if (at >= c->state->count)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "indices has %u, but there are %u points", at, c->state->count);
        c->index[i] = from_end ? c->state->count - at - 1 : at;
    }
    const double *forces = pli_reals(o, "forces", &nf);
    if (pli_is_set(o, "forces")) {
        if (nf != 3 && nf != 3 * c->count)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%zu forces for %zu indices: give one, or one for each", nf / 3,
                              c->count);
        for (size_t i = 0; i < c->count; ++i) v3_copy(c->force + 3 * i, nf == 3 ? forces : forces + 3 * i);
        c->forces = pli_data(o, "forces");
        c->seen = c->forces->version;
    } else if (pli_is_set(o, "totalForce")) {
        double total[3];
        pli_vec3(o, "totalForce", total);
        for (size_t i = 0; i < c->count; ++i)
            for (int k = 0; k < 3; ++k) c->force[3 * i + (size_t)k] = total[k] / (double)c->count;
    } else {
        return pli_refuse(err, PLI_BAD_ARGUMENT, "needs forces or totalForce");
    }
    return PLI_OK;
}

const PliOps pli_constant_force_ops = {
    .size = sizeof(Constant), .init = constant_init, .add_force = constant_add_force, .potential = constant_potential
};

// ---- RestShapeSpringsForceField ----------------------------------------------------------------------------------------------------

typedef struct Springs {
    PliMech *state;
    const PliMech *rest; ///< external shape, or NULL: the rest position of the state
    PliIndex *point, *target;
    double *stiffness;
    const double *given; ///< as the scene lists it
    size_t count, given_count;
    double active[3];
    double rayleigh;
} Springs;

static const double *spring_target(const Springs *s, size_t i)
{
    return (s->rest ? s->rest->x : s->state->x0) + 3 * (size_t)s->target[i];
}

static void springs_add_force(PliObject *o, const double *x, const double *v, double *f)
{
    (void)v;
    const Springs *s = o->self;
    for (size_t i = 0; i < s->count; ++i) {
        const double *p = x + 3 * (size_t)s->point[i], *q = spring_target(s, i);
        for (int k = 0; k < 3; ++k) f[3 * (size_t)s->point[i] + k] -= s->active[k] * s->stiffness[i] * (p[k] - q[k]);
    }
}

static void springs_add_mbk(PliObject *o, const double *dx, PliFactors factors, double *df)
{
    const Springs *s = o->self;
    double kf = factors.k + factors.b * s->rayleigh;
    if (kf == 0.0) return;
    for (size_t i = 0; i < s->count; ++i)
        for (int k = 0; k < 3; ++k)
            df[3 * (size_t)s->point[i] + k] -= kf * s->active[k] * s->stiffness[i] * dx[3 * (size_t)s->point[i] + k];
}

static void springs_pattern(PliObject *o, PliMechanics *m, PliMech *state)
{
    const Springs *s = o->self;
    for (size_t i = 0; i < s->count; ++i) pli_mechanics_push(m, state, s->point[i], s->point[i]);
}

// SOFA's assembled matrix takes the stiffness by point number, not by place in the list, and all three directions. Both only
// change how fast equilibrium is reached, and both are kept, so that the motion is the same.
static void springs_add_matrix(PliObject *o, PliMechanics *m, PliMech *state, PliFactors factors)
{
    const Springs *s = o->self;
    double kf = -(factors.k + factors.b * s->rayleigh);
    for (size_t i = 0; i < s->count; ++i)
        pli_mechanics_add_scalar(m, state, s->point[i], s->point[i],
                                 kf * (s->given ? s->given[s->point[i] < s->given_count ? s->point[i] : 0] : 100.0));
}

static double springs_potential(PliObject *o, const double *x)
{
    const Springs *s = o->self;
    double energy = 0.0;
    for (size_t i = 0; i < s->count; ++i) {
        const double *p = x + 3 * (size_t)s->point[i], *q = spring_target(s, i);
        for (int k = 0; k < 3; ++k) energy += 0.5 * s->active[k] * s->stiffness[i] * (p[k] - q[k]) * (p[k] - q[k]);
    }
    return energy;
}

static PliStatus springs_init(PliObject *o, PliError *err)
{
    Springs *s = o->self;
    s->state = pli_state_counted(o, err);
    return s->state ? PLI_OK : PLI_BAD_ARGUMENT;
}

// The external shape may stand anywhere in the graph, so springs are made when everything is initialised, as SOFA's bwdInit does.
static PliStatus springs_ready(PliObject *o, PliError *err)
{
    Springs *s = o->self;
    PliScene *scene = o->node->scene;
    PliObject *external = pli_link(o, "external_rest_shape");
    if (external && !(external->cls->roles & PLI_ROLE_STATE))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "external_rest_shape must lead to a MechanicalObject");
    s->rest = external ? pli_state_self(external) : NULL;
    s->rayleigh = pli_real(o, "rayleighStiffness");
    size_t np, ne, nk, na;
    const PliIndex *points = pli_indices(o, "points", &np), *externals = pli_indices(o, "external_points", &ne);
    const double *stiffness = pli_reals(o, "stiffness", &nk), *active = pli_reals(o, "activeDirections", &na);
    for (size_t i = 0; i < 3; ++i) s->active[i] = i < na ? active[i] != 0.0 : 1.0;
    s->given = nk ? stiffness : NULL;
    s->given_count = nk;
    s->count = np ? np : s->state->count;
    size_t targets = ne ? ne : s->rest ? s->rest->count : s->count;
    if (targets != s->count)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%zu points, but %zu external points", s->count, targets);
    s->point = PLI_SCENE_NEW(scene, s->count, PliIndex);
    s->target = PLI_SCENE_NEW(scene, s->count, PliIndex);
    s->stiffness = PLI_SCENE_NEW(scene, s->count, double);
    if (!s->point || !s->target || !s->stiffness)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu springs", s->count);
    PliIndex most = s->rest ? s->rest->count : s->state->count;
    for (size_t i = 0; i < s->count; ++i) {
        s->point[i] = np ? points[i] : (PliIndex)i;
        s->target[i] = !s->rest ? s->point[i] : ne ? externals[i] : (PliIndex)i;
        s->stiffness[i] = nk == 0 ? 100.0 : stiffness[i < nk ? i : 0];
        if (s->point[i] >= s->state->count || s->target[i] >= most)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "spring %zu holds point %u at %u, which is out of range", i,
                              s->point[i], s->target[i]);
    }
    return PLI_OK;
}

const PliOps pli_rest_springs_ops = { .size = sizeof(Springs),
                                      .init = springs_init,
                                      .ready = springs_ready,
                                      .add_force = springs_add_force,
                                      .add_mbk = springs_add_mbk,
                                      .pattern = springs_pattern,
                                      .add_matrix = springs_add_matrix,
                                      .potential = springs_potential };

// ---- PlaneForceField, SphereForceField ---------------------------------------------------------------------------------------------
// Penalty obstacles. The damping is SOFA's: it grows with the depth, and is left out of the matrix.

typedef struct Obstacle {
    PliMech *state;
    double normal[3], offset; ///< plane: as given, SOFA does not normalise it
    double centre[3], radius; ///< sphere
    double stiffness, damping, limit, rayleigh;
    bool bilateral, sphere;
    PliIndex first, last;
    PliIndex *contact; ///< points touched at the last force
    double *data;      ///< sphere: normal and r / distance, 4 each
    size_t count;
} Obstacle;

static void plane_add_force(PliObject *o, const double *x, const double *v, double *f)
{
    Obstacle *c = o->self;
    c->count = 0;
    for (PliIndex i = c->first; i < c->last; ++i) {
        const double *vi = v + 3 * (size_t)i;
        double depth = v3_dot(x + 3 * (size_t)i, c->normal) - c->offset, force[3];
        if (!c->bilateral && !(depth < 0.0)) continue;
        for (int k = 0; k < 3; ++k) force[k] = c->normal[k] * (-c->stiffness * depth) - vi[k] * (-c->damping * depth);
        double square = v3_dot(force, force);
        if (c->limit > 0.0 && square > c->limit * c->limit) v3_scale(force, sqrt(c->limit * c->limit / square));
        v3_add(f + 3 * (size_t)i, f + 3 * (size_t)i, force);
        c->contact[c->count++] = i;
    }
}

static void sphere_add_force(PliObject *o, const double *x, const double *v, double *f)
{
    Obstacle *c = o->self;
    c->count = 0;
    for (PliIndex i = c->first; i < c->last; ++i) {
        const double *vi = v + 3 * (size_t)i;
        double d[3];
        v3_sub(d, x + 3 * (size_t)i, c->centre);
        double square = v3_dot(d, d);
        if (!(square < c->radius * c->radius) && !c->bilateral) continue;
        double norm = sqrt(square);
        if (norm == 0.0) continue; // no direction to push in
        double depth = norm - c->radius;
        for (int k = 0; k < 3; ++k)
            f[3 * (size_t)i + k] += d[k] * (-c->stiffness * depth / norm) - vi[k] * (-c->damping * depth);
        double *data = c->data + 4 * c->count;
        for (int k = 0; k < 3; ++k) data[k] = d[k] / norm;
        data[3] = c->radius / norm;
        c->contact[c->count++] = i;
    }
}

static void contact_block(const Obstacle *c, size_t i, double factor, double block[9])
{
    const double *n = c->sphere ? c->data + 4 * i : c->normal;
    double along = c->sphere ? n[3] : 1.0;
    for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k) block[3 * r + k] = factor * (along * n[r] * n[k] + (r == k ? 1.0 - along : 0.0));
}

static void obstacle_add_mbk(PliObject *o, const double *dx, PliFactors factors, double *df)
{
    const Obstacle *c = o->self;
    double kf = -c->stiffness * (factors.k + factors.b * c->rayleigh);
    if (kf == 0.0) return;
    for (size_t i = 0; i < c->count; ++i) {
        double block[9], d[3];
        contact_block(c, i, kf, block);
        m3_apply(d, block, dx + 3 * (size_t)c->contact[i]);
        v3_add(df + 3 * (size_t)c->contact[i], df + 3 * (size_t)c->contact[i], d);
    }
}

static void obstacle_pattern(PliObject *o, PliMechanics *m, PliMech *state)
{
    const Obstacle *c = o->self;
    for (PliIndex i = c->first; i < c->last; ++i) pli_mechanics_push(m, state, i, i);
}

static void obstacle_add_matrix(PliObject *o, PliMechanics *m, PliMech *state, PliFactors factors)
{
    const Obstacle *c = o->self;
    for (size_t i = 0; i < c->count; ++i) {
        double block[9];
        contact_block(c, i, -c->stiffness * (factors.k + factors.b * c->rayleigh), block);
        pli_mechanics_add(m, state, c->contact[i], c->contact[i], block);
    }
}

static PliStatus obstacle_init(PliObject *o, PliError *err)
{
    Obstacle *c = o->self;
    c->state = pli_state_counted(o, err);
    if (!c->state) return PLI_BAD_ARGUMENT;
    c->stiffness = pli_real(o, "stiffness");
    c->damping = pli_real(o, "damping");
    if (c->stiffness < 0.0) c->stiffness = 500.0; // as SOFA goes on
    if (c->damping < 0.0) c->damping = 5.0;
    c->bilateral = pli_bool(o, "bilateral");
    c->rayleigh = pli_real(o, "rayleighStiffness");
    c->last = c->state->count;
    size_t n;
    const double *range = pli_reals(o, "localRange", &n);
    if (n == 2 && range[0] >= 0.0) c->first = range[0] < c->last ? (PliIndex)range[0] : c->last;
    if (n == 2 && range[1] >= 0.0 && range[1] + 1.0 < c->last) c->last = (PliIndex)range[1] + 1;
    c->contact = PLI_SCENE_NEW(o->node->scene, c->state->count, PliIndex);
    c->data = PLI_SCENE_NEW(o->node->scene, 4 * (size_t)c->state->count, double);
    return c->contact && c->data ? PLI_OK
                                 : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u points", c->state->count);
}

static PliStatus plane_init(PliObject *o, PliError *err)
{
    Obstacle *c = o->self;
    pli_vec3(o, "normal", c->normal);
    c->offset = pli_real(o, "d");
    c->limit = pli_real(o, "maxForce");
    return obstacle_init(o, err);
}

static PliStatus sphere_init(PliObject *o, PliError *err)
{
    Obstacle *c = o->self;
    c->sphere = true;
    pli_vec3(o, "center", c->centre);
    c->radius = pli_real(o, "radius");
    return obstacle_init(o, err);
}

#define OBSTACLE_OPS                                                                                                   \
    .size = sizeof(Obstacle), .add_mbk = obstacle_add_mbk, .pattern = obstacle_pattern,                                \
    .add_matrix = obstacle_add_matrix
const PliOps pli_plane_force_ops = { OBSTACLE_OPS, .init = plane_init, .add_force = plane_add_force };
const PliOps pli_sphere_force_ops = { OBSTACLE_OPS, .init = sphere_init, .add_force = sphere_add_force };
