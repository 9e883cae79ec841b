/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/stock/polar.h"
#include "host/stock/stock.h"

#include <string.h>

// TetrahedronFEMForceField: linear tetrahedra. "small" is plain linear elasticity; "large", "polar" and "svd" turn the element
// into a frame of its own (QR of two edges, or the polar rotation of three), take linear strain there and turn the force back.
// The tangent leaves out the change of the rotation, as SOFA's does.

typedef enum Method { SMALL, LARGE, POLAR, SVD } Method;

typedef struct Element {
    double rest[4][3]; ///< corners in the element's own frame
    double grad[4][3]; ///< gradients of the shape functions there, 1/m
    double lambda, mu; ///< Pa x m3: Lame constants times the volume
    double volume;     ///< m3
    double turn[9];    ///< rest frame from world, for svd: rows
    double inverse[9]; ///< svd: inverse of the rest edges
} Element;

typedef struct TetraFem {
    PliMech *state;
    const PliIndex *tets;
    size_t count;
    Element *element;
    double *frame;   ///< element frame from world at the last force, 9 each
    double *scratch; ///< one number a point
    Method method;
    double rayleigh;
} TetraFem;

// ---- one element -----------------------------------------------------------------------------------------------------------------

// Rows: along the first edge, in the plane of the first two, across it.
static void edge_frame(const double *a, const double *b, const double *c, double r[9])
{
    double ab[3], ac[3];
    v3_sub(ab, b, a);
    v3_sub(ac, c, a);
    v3_copy(r, ab);
    v3_scale(r, 1.0 / v3_norm(ab));
    v3_cross(r + 6, r, ac);
    v3_scale(r + 6, 1.0 / v3_norm(r + 6));
    v3_cross(r + 3, r + 6, r);
}

static void edges(const double *x, const PliIndex t[4], double a[9])
{
    for (int k = 0; k < 3; ++k) v3_sub(a + 3 * k, x + 3 * (size_t)t[k + 1], x + 3 * (size_t)t[0]);
}

static void element_frame(const TetraFem *fem, const Element *e, const PliIndex t[4], const double *x, double r[9])
{
    if (fem->method == SMALL) {
        memset(r, 0, 9 * sizeof *r);
        r[0] = r[4] = r[8] = 1.0;
        return;
    }
    if (fem->method == LARGE) {
        edge_frame(x + 3 * (size_t)t[0], x + 3 * (size_t)t[1], x + 3 * (size_t)t[2], r);
        return;
    }
    double a[9];
    edges(x, t, a);
    if (fem->method == SVD) {
        double f[9];
        m3_mul(f, a, e->inverse);
        if (m3_det(f) < 1e-6) { // flat or inverted
            double q[9];
            pli_polar_stable(f, q);
            m3_mul(r, q, e->turn); // SOFA: Q times the transpose of the stored initial rotation, which is `turn`
            return;
        }
    }
    pli_polar(a, r);
}

// Six strains (engineering shear) and stresses times volume from displacements u in the element frame.
static void element_stress(const Element *e, const double u[4][3], double s[6])
{
    double g[9] = { 0 }; // du_i/dx_j
    for (int a = 0; a < 4; ++a)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) g[3 * i + j] += u[a][i] * e->grad[a][j];
    double trace = g[0] + g[4] + g[8];
    for (int i = 0; i < 3; ++i) s[i] = e->lambda * trace + 2.0 * e->mu * g[4 * i];
    s[3] = e->mu * (g[1] + g[3]);
    s[4] = e->mu * (g[5] + g[7]);
    s[5] = e->mu * (g[2] + g[6]);
}

// f_a -= R^T (B_a^T s), R rows = element frame.
static void element_scatter(const Element *e, const double s[6], const double r[9], const PliIndex t[4], double factor,
                            double *f)
{
    for (int a = 0; a < 4; ++a) {
        const double *g = e->grad[a];
        const double local[3] = { s[0] * g[0] + s[3] * g[1] + s[5] * g[2], s[3] * g[0] + s[1] * g[1] + s[4] * g[2],
                                  s[5] * g[0] + s[4] * g[1] + s[2] * g[2] };
        double *out = f + 3 * (size_t)t[a];
        for (int i = 0; i < 3; ++i) out[i] += factor * (r[i] * local[0] + r[3 + i] * local[1] + r[6 + i] * local[2]);
    }
}

// Frame at x and displacements from rest in it. large and small measure from the first corner, which keeps digits far from the
// origin; polar and svd take positions as they are, as SOFA does.
static void element_displacements(const TetraFem *fem, size_t n, const double *x, double r[9], double u[4][3])
{
    const PliIndex *t = fem->tets + 4 * n;
    const Element *e = &fem->element[n];
    bool relative = fem->method == LARGE || fem->method == SMALL;
    element_frame(fem, e, t, x, r);
    for (int a = 0; a < 4; ++a) {
        double p[3];
        v3_copy(p, x + 3 * (size_t)t[a]);
        if (relative) v3_sub(p, p, x + 3 * (size_t)t[0]);
        m3_apply(u[a], r, p);
        v3_sub(u[a], u[a], e->rest[a]);
    }
}

// ---- the force field -------------------------------------------------------------------------------------------------------------

static void fem_add_force(PliObject *o, const double *x, const double *v, double *f)
{
    (void)v;
    TetraFem *fem = o->self;
    for (size_t n = 0; n < fem->count; ++n) {
        const PliIndex *t = fem->tets + 4 * n;
        const Element *e = &fem->element[n];
        double *r = fem->frame + 9 * n, u[4][3], s[6];
        element_displacements(fem, n, x, r, u);
        element_stress(e, (const double(*)[3])u, s);
        element_scatter(e, s, r, t, -1.0, f);
    }
}

static double fem_factor(const TetraFem *fem, PliFactors factors) { return factors.k + factors.b * fem->rayleigh; }

static void fem_add_mbk(PliObject *o, const double *dx, PliFactors factors, double *df)
{
    const TetraFem *fem = o->self;
    double k = fem_factor(fem, factors);
    if (k == 0.0) return;
    for (size_t n = 0; n < fem->count; ++n) {
        const PliIndex *t = fem->tets + 4 * n;
        const double *r = fem->frame + 9 * n;
        double u[4][3], s[6];
        for (int a = 0; a < 4; ++a) m3_apply(u[a], r, dx + 3 * (size_t)t[a]);
        element_stress(&fem->element[n], (const double(*)[3])u, s);
        element_scatter(&fem->element[n], s, r, t, -k, df);
    }
}

static void fem_pattern(PliObject *o, PliMechanics *m, PliMech *state)
{
    const TetraFem *fem = o->self;
    for (size_t n = 0; n < fem->count; ++n)
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b) pli_mechanics_push(m, state, fem->tets[4 * n + a], fem->tets[4 * n + b]);
}

static void fem_add_matrix(PliObject *o, PliMechanics *m, PliMech *state, PliFactors factors)
{
    const TetraFem *fem = o->self;
    double k = fem_factor(fem, factors);
    for (size_t n = 0; n < fem->count; ++n) {
        const PliIndex *t = fem->tets + 4 * n;
        const Element *e = &fem->element[n];
        const double *r = fem->frame + 9 * n;
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b) {
                // K_ab = -(lambda g_a g_b^T + mu g_b g_a^T + mu (g_a . g_b) I), turned to the world
                const double *ga = e->grad[a], *gb = e->grad[b];
                double local[9], half[9], block[9], dot = v3_dot(ga, gb), rt[9];
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) {
                        local[3 * i + j] =
                            -k * (e->lambda * ga[i] * gb[j] + e->mu * gb[i] * ga[j] + (i == j ? e->mu * dot : 0.0));
                        rt[3 * i + j] = r[3 * j + i];
                    }
                m3_mul(half, local, r);
                m3_mul(block, rt, half);
                pli_mechanics_add(m, state, t[a], t[b], block);
            }
    }
}

// Energy of the linear element in its frame: exact for small, what SOFA would call it for the others.
static double fem_potential(PliObject *o, const double *x)
{
    const TetraFem *fem = o->self;
    double energy = 0.0;
    for (size_t n = 0; n < fem->count; ++n) {
        const Element *e = &fem->element[n];
        double r[9], u[4][3], g[9] = { 0 };
        element_displacements(fem, n, x, r, u);
        for (int a = 0; a < 4; ++a)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) g[3 * i + j] += u[a][i] * e->grad[a][j];
        double trace = g[0] + g[4] + g[8], square = 0.0;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) square += 0.25 * (g[3 * i + j] + g[3 * j + i]) * (g[3 * i + j] + g[3 * j + i]);
        energy += 0.5 * e->lambda * trace * trace + e->mu * square;
    }
    return energy;
}

// ---- init ------------------------------------------------------------------------------------------------------------------------

static double of_element(const double *list, size_t n, size_t i) { return n > i ? list[i] : list[0]; }

static PliStatus element_init(TetraFem *fem, size_t n, const double *x0, double young, double poisson, PliError *err)
{
    Element *e = &fem->element[n];
    const PliIndex *t = fem->tets + 4 * n;
    double a[9], r[9], inverse[9], det;
    edges(x0, t, a);
    det = m3_inverse(inverse, a); // a has edges as rows, so its inverse has them as columns
    if (!(fabs(det) > 0.0)) return pli_refuse(err, PLI_BAD_MESH, "tetrahedron %zu is flat", n);
    memcpy(e->inverse, inverse, sizeof inverse);
    if (fem->method == POLAR || fem->method == SVD)
        pli_polar(a, r);
    else
        element_frame(fem, e, t, x0, r);
    memcpy(e->turn, r, sizeof r);
    for (int k = 0; k < 4; ++k) {
        double p[3];
        v3_copy(p, x0 + 3 * (size_t)t[k]);
        if (fem->method == LARGE || fem->method == SMALL) v3_sub(p, p, x0 + 3 * (size_t)t[0]);
        m3_apply(e->rest[k], r, p);
    }
    // gradients in the frame: world gradients are the columns of `inverse`
    for (int k = 0; k < 3; ++k) {
        const double world[3] = { inverse[k], inverse[3 + k], inverse[6 + k] };
        m3_apply(e->grad[k + 1], r, world);
    }
    for (int i = 0; i < 3; ++i) e->grad[0][i] = -(e->grad[1][i] + e->grad[2][i] + e->grad[3][i]);
    double volume = fabs(det) / 6.0;
    e->volume = volume;
    if (!(poisson > -1.0 && poisson < 0.5))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "poissonRatio=%g must be below 0.5", poisson);
    e->lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)) * volume;
    e->mu = young / (2.0 * (1.0 + poisson)) * volume;
    memcpy(fem->frame + 9 * n, r, sizeof r);
    return PLI_OK;
}

static PliStatus fem_init(PliObject *o, PliError *err)
{
    TetraFem *fem = o->self;
    PliScene *scene = o->node->scene;
    fem->state = pli_state_counted(o, err);
    if (!fem->state) return PLI_BAD_ARGUMENT;
    // hexahedra alone are split, but only where there are no tetrahedra
    PliObject *topology = pli_topology_of(o, PLI_NEEDS_TETS);
    size_t tets = 0;
    if (topology) pli_topology_cells(topology, PLI_TET, &tets);
    if (tets == 0 && o->cls->ops == &pli_tetra_fem_ops) topology = pli_topology_of(o, PLI_NEEDS_HEXES);
    if (!topology) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs a topology");
    PliStatus status = PLI_OK;
    if (o->cls->ops == &pli_tetra_fem_ops)
        status = pli_topology_tets(topology, &fem->tets, &fem->count, err);
    else
        fem->tets = pli_topology_cells(topology, PLI_TET, &fem->count);
    if (status) return status;
    if (fem->count == 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "its topology %s has no tetrahedra", topology->name);
    for (size_t i = 0; i < 4 * fem->count; ++i)
        if (fem->tets[i] >= fem->state->count)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "tetrahedron %zu has corner %u, but the state has %u points",
                              i / 4, fem->tets[i], fem->state->count);
    fem->method = (Method)pli_int(o, "method");
    fem->rayleigh = pli_real(o, "rayleighStiffness");
    fem->element = PLI_SCENE_NEW(scene, fem->count, Element);
    fem->frame = PLI_SCENE_NEW(scene, 9 * fem->count, double);
    fem->scratch = PLI_SCENE_NEW(scene, fem->state->count, double);
    if (!fem->element || !fem->frame || !fem->scratch)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu tetrahedra", fem->count);
    size_t ny, np, nf;
    const double *young = pli_reals(o, "youngModulus", &ny), *poisson = pli_reals(o, "poissonRatio", &np),
                 *factor = pli_reals(o, "localStiffnessFactor", &nf);
    if (ny == 0 || np == 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "youngModulus and poissonRatio need a value");
    for (size_t i = 0; i < fem->count && !status; ++i) {
        double e = of_element(young, ny, i) * (nf ? factor[i * nf / fem->count] : 1.0);
        status = element_init(fem, i, fem->state->x0, e, of_element(poisson, np, i), err);
    }
    return status;
}

// Von Mises stress of the linear stress in the element frame, shared equally by the elements of a point.
static void fem_von_mises(PliObject *o, const double *x, double *per_point)
{
    const TetraFem *fem = o->self;
    double *number = fem->scratch;
    memset(per_point, 0, fem->state->count * sizeof *per_point);
    memset(number, 0, fem->state->count * sizeof *number);
    for (size_t n = 0; n < fem->count; ++n) {
        const PliIndex *t = fem->tets + 4 * n;
        const Element *e = &fem->element[n];
        double r[9], u[4][3], s[6];
        element_displacements(fem, n, x, r, u);
        element_stress(e, (const double(*)[3])u, s);
        for (int k = 0; k < 6; ++k) s[k] /= e->volume;
        double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
        double stress = sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
        for (int k = 0; k < 4; ++k) {
            per_point[t[k]] += stress;
            number[t[k]] += 1.0;
        }
    }
    for (PliIndex i = 0; i < fem->state->count; ++i)
        if (number[i] > 0.0) per_point[i] /= number[i];
}

#define FEM_OPS                                                                                                        \
    .size = sizeof(TetraFem), .init = fem_init, .add_force = fem_add_force, .add_mbk = fem_add_mbk,                    \
    .pattern = fem_pattern, .add_matrix = fem_add_matrix, .potential = fem_potential, .von_mises = fem_von_mises

const PliOps pli_tetra_fem_ops = { FEM_OPS };
const PliOps pli_tetra_corotational_ops = { FEM_OPS };
