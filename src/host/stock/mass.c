/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/stock/stock.h"

#include <string.h>

// Masses that are one number for each point. UniformMass, DiagonalMass and lumped MeshMatrixMass differ only in how they
// choose the numbers.

typedef struct Mass {
    double *mass; ///< kg, one for each point of the state; 0: no mass
    PliMech *state;
    double rayleigh;
    const double *gravity; ///< the scene's
    double weight;         ///< gravity acts on weight x mass
    // MeshMatrixMass without lumping: what edges of the elements add, both ways
    PliIndex *pair;
    double *pair_mass;
    size_t pair_count;
} Mass;

static void mass_add_force(PliObject *o, const double *x, const double *v, double *f)
{
    (void)x;
    (void)v;
    const Mass *m = o->self;
    for (PliIndex i = 0; i < m->state->count; ++i) v3_madd(f + 3 * (size_t)i, m->weight * m->mass[i], m->gravity);
}

// SOFA: mFactorIncludingRayleighDamping = m - b * rayleighMass
static double mass_factor(const Mass *m, PliFactors factors) { return factors.m - factors.b * m->rayleigh; }

static void mass_add_mbk(PliObject *o, const double *dx, PliFactors factors, double *df)
{
    const Mass *m = o->self;
    double factor = mass_factor(m, factors);
    if (factor == 0.0) return;
    for (PliIndex i = 0; i < m->state->count; ++i) v3_madd(df + 3 * (size_t)i, factor * m->mass[i], dx + 3 * (size_t)i);
    for (size_t i = 0; i < m->pair_count; ++i) {
        size_t a = m->pair[2 * i], b = m->pair[2 * i + 1];
        v3_madd(df + 3 * a, factor * m->pair_mass[i], dx + 3 * b);
        v3_madd(df + 3 * b, factor * m->pair_mass[i], dx + 3 * a);
    }
}

static void mass_add_matrix(PliObject *o, PliMechanics *mechanics, PliMech *state, PliFactors factors)
{
    const Mass *m = o->self;
    double factor = mass_factor(m, factors);
    for (PliIndex i = 0; i < state->count; ++i) pli_mechanics_add_scalar(mechanics, state, i, i, factor * m->mass[i]);
    for (size_t i = 0; i < m->pair_count; ++i) {
        pli_mechanics_add_scalar(mechanics, state, m->pair[2 * i], m->pair[2 * i + 1], factor * m->pair_mass[i]);
        pli_mechanics_add_scalar(mechanics, state, m->pair[2 * i + 1], m->pair[2 * i], factor * m->pair_mass[i]);
    }
}

static void mass_pattern(PliObject *o, PliMechanics *mechanics, PliMech *state)
{
    const Mass *m = o->self;
    for (PliIndex i = 0; i < state->count; ++i) pli_mechanics_push(mechanics, state, i, i);
    for (size_t i = 0; i < m->pair_count; ++i) {
        pli_mechanics_push(mechanics, state, m->pair[2 * i], m->pair[2 * i + 1]);
        pli_mechanics_push(mechanics, state, m->pair[2 * i + 1], m->pair[2 * i]);
    }
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
    for (PliIndex i = 0; i < m->state->count; ++i)
        energy += 0.5 * m->mass[i] * v3_dot(v + 3 * (size_t)i, v + 3 * (size_t)i);
    for (size_t i = 0; i < m->pair_count; ++i)
        energy += m->pair_mass[i] * v3_dot(v + 3 * (size_t)m->pair[2 * i], v + 3 * (size_t)m->pair[2 * i + 1]);
    return energy;
}

static double mass_potential(PliObject *o, const double *x)
{
    const Mass *m = o->self;
    double energy = 0.0;
    for (PliIndex i = 0; i < m->state->count; ++i)
        energy -= m->weight * m->mass[i] * v3_dot(m->gravity, x + 3 * (size_t)i);
    return energy;
}

static PliStatus mass_begin(PliObject *o, PliError *err)
{
    Mass *m = o->self;
    PliScene *scene = o->node->scene;
    m->state = pli_state_counted(o, err);
    if (!m->state) return PLI_BAD_ARGUMENT;
    m->mass = PLI_SCENE_NEW(scene, m->state->count, double);
    if (!m->mass) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u masses", m->state->count);
    m->rayleigh = pli_real(o, "rayleighMass");
    m->gravity = scene->gravity;
    m->weight = 1.0;
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
    if (!(mass >= 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=%g must not be negative", total ? "totalMass" : "vertexMass",
                          total ? pli_real(o, "totalMass") : mass);
    for (size_t i = 0; i < count; ++i) {
        PliIndex at = n ? indices[i] : (PliIndex)i;
        if (at >= m->state->count)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "indices has %u, but there are %u points", at, m->state->count);
        m->mass[at] = mass;
    }
    return PLI_OK;
}

// ---- masses from elements --------------------------------------------------------------------------------------------------------

// How SOFA shares the measure (length, area, volume) of an element: to corners when lumped, to corners and edges otherwise.
typedef struct Share {
    PliCellKind kind;
    int corners, edge_count;
    double corner, edge; ///< consistent parts of the measure
    double lump;         ///< corner x lump x corners = 1
    unsigned char edges[12][2];
} Share;

static const Share shares[] = {
    { PLI_HEX,
      8,
      12,
      1.0 / 20.0,
      1.0 / 40.0,
      2.5,
      { { 0, 1 },
        { 1, 2 },
        { 2, 3 },
        { 3, 0 },
        { 4, 5 },
        { 5, 6 },
        { 6, 7 },
        { 7, 4 },
        { 0, 4 },
        { 1, 5 },
        { 2, 6 },
        { 3, 7 } } },
    { PLI_TET, 4, 6, 1.0 / 10.0, 1.0 / 20.0, 2.5, { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } } },
    { PLI_QUAD, 4, 4, 1.0 / 8.0, 1.0 / 16.0, 2.0, { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 } } },
    { PLI_TRI, 3, 3, 1.0 / 6.0, 1.0 / 12.0, 2.0, { { 0, 1 }, { 1, 2 }, { 2, 0 } } },
    { PLI_EDGE, 2, 0, 1.0 / 2.0, 0.0, 1.0, { { 0, 0 } } },
};

static double triangle_area(const double *a, const double *b, const double *c)
{
    double u[3], v[3], n[3];
    v3_sub(u, b, a);
    v3_sub(v, c, a);
    v3_cross(n, u, v);
    return 0.5 * v3_norm(n);
}

static double tet_volume(const double *a, const double *b, const double *c, const double *d)
{
    double e[9];
    v3_sub(e, b, a);
    v3_sub(e + 3, c, a);
    v3_sub(e + 6, d, a);
    return fabs(m3_det(e)) / 6.0;
}

static double measure(const Share *s, const double *x, const PliIndex *c)
{
    const double *p[8];
    for (int k = 0; k < s->corners; ++k) p[k] = x + 3 * (size_t)c[k];
    switch (s->kind) {
    case PLI_EDGE: return v3_distance(p[0], p[1]);
    case PLI_TRI: return triangle_area(p[0], p[1], p[2]);
    case PLI_QUAD: return triangle_area(p[0], p[1], p[2]) + triangle_area(p[0], p[2], p[3]);
    case PLI_TET: return tet_volume(p[0], p[1], p[2], p[3]);
    case PLI_HEX: // six tetrahedra, the way SOFA measures it
        return tet_volume(p[0], p[5], p[1], p[6]) + tet_volume(p[0], p[1], p[3], p[6]) +
               tet_volume(p[1], p[3], p[6], p[2]) + tet_volume(p[6], p[3], p[0], p[7]) +
               tet_volume(p[6], p[7], p[0], p[5]) + tet_volume(p[7], p[5], p[4], p[0]);
    }
    return 0.0;
}

static PliStatus element_topology(PliObject *o, PliObject **topology, const Share **share, const PliIndex **cells,
                                  size_t *count, PliError *err)
{
    *topology = pli_topology_of(o, PLI_NEEDS_CELLS);
    if (!*topology) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs a topology");
    for (size_t k = 0; k < sizeof shares / sizeof *shares; ++k) {
        *share = &shares[k];
        *cells = pli_topology_cells(*topology, shares[k].kind, count);
        if (*count > 0) return PLI_OK;
    }
    return pli_refuse(err, PLI_BAD_ARGUMENT, "its topology %s is empty", (*topology)->name);
}

// Fills corner masses (and pairs) for density 1 or the densities given, and scales them to a total mass when one is asked for.
static PliStatus element_mass(PliObject *o, bool lumped, PliError *err)
{
    Mass *m = o->self;
    PliObject *topology;
    const Share *s;
    const PliIndex *cells = NULL;
    size_t count = 0, nd;
    PliStatus status = element_topology(o, &topology, &s, &cells, &count, err);
    if (status) return status;
    PliObject *geometry = pli_link(o, "geometryState");
    const PliMech *state = geometry && (geometry->cls->roles & PLI_ROLE_STATE) ? pli_state_self(geometry) : m->state;
    const double *x = pli_bool(o, "computeMassOnRest") ? state->x0 : state->x,
                 *density = pli_reals(o, "massDensity", &nd);
    bool by_total = pli_is_set(o, "totalMass") || !pli_is_set(o, "massDensity");
    if (!lumped) {
        m->pair = PLI_SCENE_NEW(o->node->scene, 2 * count * (size_t)s->edge_count, PliIndex);
        m->pair_mass = PLI_SCENE_NEW(o->node->scene, count * (size_t)s->edge_count, double);
        if (!m->pair || !m->pair_mass) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu elements", count);
        m->weight = s->lump;
    }
    double total = 0.0;
    for (size_t i = 0; i < count; ++i) {
        const PliIndex *c = cells + (size_t)s->corners * i;
        for (int k = 0; k < s->corners; ++k)
            if (c[k] >= m->state->count || c[k] >= state->count)
                return pli_refuse(err, PLI_BAD_ARGUMENT, "element %zu has corner %u, but the state has %u points", i,
                                  c[k], m->state->count);
        double mass = measure(s, x, c) * (by_total || nd == 0 ? 1.0 : density[i < nd ? i : 0]);
        total += mass;
        for (int k = 0; k < s->corners; ++k) m->mass[c[k]] += mass * (lumped ? s->corner * s->lump : s->corner);
        for (int k = 0; k < s->edge_count && !lumped; ++k) {
            m->pair[2 * m->pair_count] = c[s->edges[k][0]];
            m->pair[2 * m->pair_count + 1] = c[s->edges[k][1]];
            m->pair_mass[m->pair_count++] = mass * s->edge;
        }
    }
    if (!by_total) return PLI_OK;
    double wanted = pli_is_set(o, "totalMass") ? pli_real(o, "totalMass") : 1.0;
    if (!(wanted > 0.0)) return pli_refuse(err, PLI_BAD_ARGUMENT, "totalMass=%g must be > 0", wanted);
    double scale = total > 2.2204460492503131e-16 ? wanted / total : 1.0;
    for (PliIndex i = 0; i < m->state->count; ++i) m->mass[i] *= scale;
    for (size_t i = 0; i < m->pair_count; ++i) m->pair_mass[i] *= scale;
    return PLI_OK;
}

static PliStatus given_mass(PliObject *o, PliError *err)
{
    Mass *m = o->self;
    size_t n;
    const double *mass = pli_reals(o, "vertexMass", &n);
    if (n == 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "vertexMass is empty");
    for (PliIndex i = 0; i < m->state->count; ++i)
        m->mass[i] = mass[i < n ? i : n - 1]; // the last one goes on, as in SOFA
    return PLI_OK;
}

static bool only_vertex_mass(PliObject *o)
{
    return pli_is_set(o, "vertexMass") && !pli_is_set(o, "totalMass") && !pli_is_set(o, "massDensity");
}

static PliStatus diagonal_init(PliObject *o, PliError *err)
{
    PliStatus status = mass_begin(o, err);
    if (status) return status;
    return only_vertex_mass(o) ? given_mass(o, err) : element_mass(o, true, err);
}

static PliStatus mesh_matrix_init(PliObject *o, PliError *err)
{
    PliStatus status = mass_begin(o, err);
    if (status) return status;
    bool lumped = pli_bool(o, "lumping");
    if (!only_vertex_mass(o)) return element_mass(o, lumped, err);
    if (!lumped) return pli_refuse(err, PLI_UNSUPPORTED, "vertexMass without lumping=\"1\" is not supported");
    Mass *m = o->self;
    PliObject *topology;
    const Share *s;
    const PliIndex *cells = NULL;
    size_t count = 0;
    status = element_topology(o, &topology, &s, &cells, &count, err);
    if (!status) status = given_mass(o, err);
    for (PliIndex i = 0; i < m->state->count && !status; ++i)
        m->mass[i] *= s->lump; // SOFA multiplies what is given, too
    return status;
}

static bool mass_coupled(PliObject *o) { return ((Mass *)o->self)->pair_count > 0; }

#define MASS_OPS                                                                                                       \
    .size = sizeof(Mass), .add_force = mass_add_force, .add_mbk = mass_add_mbk, .pattern = mass_pattern,               \
    .add_matrix = mass_add_matrix, .acceleration = mass_acceleration, .kinetic = mass_kinetic,                         \
    .potential = mass_potential, .coupled = mass_coupled

const PliOps pli_uniform_mass_ops = { MASS_OPS, .init = uniform_init };
const PliOps pli_diagonal_mass_ops = { MASS_OPS, .init = diagonal_init };
const PliOps pli_mesh_matrix_mass_ops = { MASS_OPS, .init = mesh_matrix_init };
