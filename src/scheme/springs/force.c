/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/springs/force.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

PliStatus pli_springs_force_init(PliSpringForce *s, const PliHost *host, PliIndex points, PliIndex springs,
                                 PliIndex tris)
{
    *s = (PliSpringForce){ .host = *host, .point_capacity = points, .spring_capacity = springs, .tri_capacity = tris };
    s->normal = PLI_NEW(host, 3 * (size_t)tris, double);
    s->along = PLI_NEW(host, springs, double);
    s->across = PLI_NEW(host, springs, double);
    s->axis = PLI_NEW(host, 3 * (size_t)springs, double);
    s->gradient = PLI_NEW(host, 3 * (size_t)points, double);
    s->x = PLI_NEW(host, 3 * (size_t)points, double);
    return s->normal && s->along && s->across && s->axis && s->gradient && s->x ? PLI_OK : PLI_OUT_OF_MEMORY;
}

void pli_springs_force_free(PliSpringForce *s)
{
    PLI_FREE(&s->host, s->normal, 3 * (size_t)s->tri_capacity);
    PLI_FREE(&s->host, s->along, s->spring_capacity);
    PLI_FREE(&s->host, s->across, s->spring_capacity);
    PLI_FREE(&s->host, s->axis, 3 * (size_t)s->spring_capacity);
    PLI_FREE(&s->host, s->gradient, 3 * (size_t)s->point_capacity);
    PLI_FREE(&s->host, s->x, 3 * (size_t)s->point_capacity);
}

// ---- volume ------------------------------------------------------------------------------------------------------------------

/// Normals of the triangles as long as twice their area, unless `normal` is NULL. @return the volume, measured from somewhere near:
/// far from there the terms would cancel.
static double measure(const PliSpringForce *s, const double *x, double *normal)
{
    const double *o = s->about ? s->about : x + 3 * (size_t)s->tri[0];
    double sum = 0.0;
    for (PliIndex t = 0; t < s->tri_count; ++t) {
        const PliIndex *c = s->tri + 3 * (size_t)t;
        const double *a = x + 3 * (size_t)c[0];
        double b[3], d[3], n[3], r[3];
        v3_sub(b, x + 3 * (size_t)c[1], a);
        v3_sub(d, x + 3 * (size_t)c[2], a);
        v3_sub(r, a, o);
        v3_cross(n, b, d);
        sum += v3_dot(r, n);
        if (normal) v3_copy(normal + 3 * (size_t)t, n);
    }
    return sum / 6.0 + s->beyond;
}

double pli_springs_volume(const PliSpringForce *s, const double *x) { return measure(s, x, NULL); }

/// f += scale dV/dx: on a closed surface each corner has a sixth of the normals around it.
static void add_gradient(const PliSpringForce *s, const double *normal, double scale, double *f)
{
    for (PliIndex t = 0; t < s->tri_count; ++t)
        for (int k = 0; k < 3; ++k)
            v3_madd(f + 3 * (size_t)s->tri[3 * (size_t)t + (size_t)k], scale / 6.0, normal + 3 * (size_t)t);
}

// ---- forces ------------------------------------------------------------------------------------------------------------------

double pli_springs_energy(const PliSpringForce *s, const double *x)
{
    double energy = 0.0;
    for (PliIndex i = 0; i < s->spring_count; ++i) {
        const PliIndex *e = s->spring + 2 * (size_t)i;
        const double stretch = v3_distance(x + 3 * (size_t)e[0], x + 3 * (size_t)e[1]) - s->length[i];
        energy += 0.5 * s->stiffness[i] * stretch * stretch;
    }
    if (s->bulk > 0.0) {
        const double change = measure(s, x, NULL) / s->volume - 1.0;
        energy += 0.5 * s->bulk * s->volume * change * change;
    }
    return energy;
}

void pli_springs_add_force(PliSpringForce *s, const double *x, const double *v, double *f)
{
    const bool viscous = v && s->damping > 0.0;
    for (PliIndex i = 0; i < s->spring_count; ++i) {
        const size_t a = 3 * (size_t)s->spring[2 * (size_t)i], b = 3 * (size_t)s->spring[2 * (size_t)i + 1];
        double d[3];
        v3_sub(d, x + b, x + a);
        const double l = v3_norm(d);
        if (!(l > 0.0)) continue; // both ends in one place: it has no direction
        double pull = s->stiffness[i] * (l - s->length[i]);
        if (viscous) {
            double rate[3];
            v3_sub(rate, v + b, v + a);
            pull += s->damping * s->stiffness[i] * v3_dot(rate, d) / l;
        }
        v3_madd(f + a, pull / l, d);
        v3_madd(f + b, -pull / l, d);
    }
    if (s->bulk > 0.0) {
        const double volume = measure(s, x, s->normal);
        add_gradient(s, s->normal, s->bulk * (1.0 - volume / s->volume), f);
    }
}

void pli_springs_linearize(PliSpringForce *s, const double *x, bool definite)
{
    memcpy(s->x, x, 3 * (size_t)s->point_count * sizeof *x);
    for (PliIndex i = 0; i < s->spring_count; ++i) {
        const PliIndex *e = s->spring + 2 * (size_t)i;
        double *n = s->axis + 3 * (size_t)i;
        v3_sub(n, x + 3 * (size_t)e[1], x + 3 * (size_t)e[0]);
        const double l = v3_norm(n);
        if (l > 0.0) v3_scale(n, 1.0 / l);
        s->along[i] = l > 0.0 ? s->stiffness[i] : 0.0;
        s->across[i] = l > 0.0 ? s->stiffness[i] * (1.0 - s->length[i] / l) : 0.0;
        if (definite) s->across[i] = fmax(s->across[i], 0.0);
    }
    if (!(s->bulk > 0.0)) return;
    const double volume = measure(s, x, s->normal);
    memset(s->gradient, 0, 3 * (size_t)s->point_count * sizeof *s->gradient);
    add_gradient(s, s->normal, 1.0, s->gradient);
    s->pressure = definite ? 0.0 : s->bulk * (1.0 - volume / s->volume);
}

/// df += scale d(dV/dx): how the normals turn.
static void add_curvature(const PliSpringForce *s, const double *dx, double scale, double *df)
{
    for (PliIndex t = 0; t < s->tri_count; ++t) {
        const PliIndex *c = s->tri + 3 * (size_t)t;
        double b[3], d[3], db[3], dd[3], n[3], m[3];
        v3_sub(b, s->x + 3 * (size_t)c[1], s->x + 3 * (size_t)c[0]);
        v3_sub(d, s->x + 3 * (size_t)c[2], s->x + 3 * (size_t)c[0]);
        v3_sub(db, dx + 3 * (size_t)c[1], dx + 3 * (size_t)c[0]);
        v3_sub(dd, dx + 3 * (size_t)c[2], dx + 3 * (size_t)c[0]);
        v3_cross(n, db, d);
        v3_cross(m, b, dd);
        v3_add(n, n, m);
        for (int k = 0; k < 3; ++k) v3_madd(df + 3 * (size_t)c[k], scale / 6.0, n);
    }
}

void pli_springs_add_dforce(const PliSpringForce *s, const double *dx, double k, double *df)
{
    for (PliIndex i = 0; i < s->spring_count; ++i) {
        const size_t a = 3 * (size_t)s->spring[2 * (size_t)i], b = 3 * (size_t)s->spring[2 * (size_t)i + 1];
        const double *n = s->axis + 3 * (size_t)i;
        double d[3];
        v3_sub(d, dx + b, dx + a);
        const double stretch = (s->along[i] - s->across[i]) * v3_dot(n, d);
        for (size_t c = 0; c < 3; ++c) {
            const double g = k * (stretch * n[c] + s->across[i] * d[c]);
            df[a + c] += g, df[b + c] -= g;
        }
    }
    if (!(s->bulk > 0.0)) return;
    double change = 0.0;
    for (size_t i = 0; i < 3 * (size_t)s->point_count; ++i) change += s->gradient[i] * dx[i];
    change *= -k * s->bulk / s->volume;
    for (size_t i = 0; i < 3 * (size_t)s->point_count; ++i) df[i] += change * s->gradient[i];
    if (s->pressure != 0.0) add_curvature(s, dx, k * s->pressure, df);
}

static void spring_block(const PliSpringForce *s, PliIndex i, double k, double block[9])
{
    const double *n = s->axis + 3 * (size_t)i;
    for (int e = 0; e < 9; ++e)
        block[e] = k * ((s->along[i] - s->across[i]) * n[e / 3] * n[e % 3] + (e % 4 == 0 ? s->across[i] : 0.0));
}

/// How a corner that moves turns the normal of its triangle: by the side it is not on, [side] x. All three corners feel a sixth of
/// the normal.
static void curvature_block(const PliSpringForce *s, const PliIndex *c, int a, double block[9])
{
    double side[3];
    v3_sub(side, s->x + 3 * (size_t)c[(a + 2) % 3], s->x + 3 * (size_t)c[(a + 1) % 3]);
    const double m[9] = { 0.0, -side[2], side[1], side[2], 0.0, -side[0], -side[1], side[0], 0.0 };
    for (int e = 0; e < 9; ++e) block[e] = s->pressure / 6.0 * m[e];
}

void pli_springs_blocks(const PliSpringForce *s, PliBlockFn *fn, void *user)
{
    double block[9];
    for (PliIndex i = 0; i < s->spring_count; ++i) {
        const PliIndex *e = s->spring + 2 * (size_t)i;
        for (int k = 0; k < 4; ++k) {
            spring_block(s, i, k / 2 == k % 2 ? -1.0 : 1.0, block);
            fn(e[k / 2], e[k % 2], block, user);
        }
    }
    if (!(s->bulk > 0.0)) return;
    // every point resists every other
    for (PliIndex i = 0; i < s->point_count; ++i)
        for (PliIndex j = 0; j < s->point_count; ++j) {
            const double *g = s->gradient + 3 * (size_t)i, *h = s->gradient + 3 * (size_t)j;
            for (int e = 0; e < 9; ++e) block[e] = -s->bulk / s->volume * g[e / 3] * h[e % 3];
            fn(i, j, block, user);
        }
    if (s->pressure == 0.0) return;
    for (PliIndex t = 0; t < s->tri_count; ++t) // moving a corner turns the normal, which all three feel
        for (int moved = 0; moved < 3; ++moved) {
            curvature_block(s, s->tri + 3 * (size_t)t, moved, block);
            for (int k = 0; k < 3; ++k)
                fn(s->tri[3 * (size_t)t + (size_t)k], s->tri[3 * (size_t)t + (size_t)moved], block, user);
        }
}

void pli_springs_add_diagonal(const PliSpringForce *s, double k, double *diagonal)
{
    double block[9];
    for (PliIndex i = 0; i < s->spring_count; ++i) {
        spring_block(s, i, -k, block);
        for (int end = 0; end < 2; ++end)
            for (int e = 0; e < 9; ++e)
                diagonal[9 * (size_t)s->spring[2 * (size_t)i + (size_t)end] + (size_t)e] += block[e];
    }
    if (!(s->bulk > 0.0)) return;
    for (PliIndex i = 0; i < s->point_count; ++i) {
        const double *g = s->gradient + 3 * (size_t)i;
        for (int e = 0; e < 9; ++e)
            diagonal[9 * (size_t)i + (size_t)e] -= k * s->bulk / s->volume * g[e / 3] * g[e % 3];
    }
    for (PliIndex t = 0; t < s->tri_count && s->pressure != 0.0; ++t)
        for (int a = 0; a < 3; ++a) {
            curvature_block(s, s->tri + 3 * (size_t)t, a, block);
            for (int e = 0; e < 9; ++e)
                diagonal[9 * (size_t)s->tri[3 * (size_t)t + (size_t)a] + (size_t)e] += k * block[e];
        }
}

/// Largest eigenvalue of a positive symmetric 3x3 matrix, from above and at most 5 % too high: the eighth root of |A^8|.
static double largest_eigenvalue(const double a[9])
{
    double scale = 0.0, p[9], q[9];
    for (int k = 0; k < 9; ++k) scale = fmax(scale, fabs(a[k]));
    if (!(scale > 0.0)) return 0.0;
    for (int k = 0; k < 9; ++k) p[k] = a[k] / scale;
    for (int squares = 0; squares < 3; ++squares) {
        m3_mul(q, p, p);
        memcpy(p, q, sizeof q);
    }
    double sum = 0.0;
    for (int k = 0; k < 9; ++k) sum += p[k] * p[k];
    return scale * pow(sum, 1.0 / 16.0);
}

double pli_springs_critical_step(PliSpringForce *s, const double *x, const double *mass, double *work)
{
    // k (n . (a - b))^2 <= 2 k (n . a)^2 + 2 k (n . b)^2, so twice what holds each point alone bounds all; the volume term adds
    // one frequency
    double fastest = 0.0, sum = 0.0;
    memset(work, 0, 9 * (size_t)s->point_count * sizeof *work);
    for (PliIndex i = 0; i < s->spring_count; ++i) {
        const PliIndex *e = s->spring + 2 * (size_t)i;
        double n[3];
        v3_sub(n, x + 3 * (size_t)e[1], x + 3 * (size_t)e[0]);
        const double scale = s->stiffness[i] / v3_dot(n, n);
        for (int k = 0; k < 9; ++k) {
            const double part = scale * n[k / 3] * n[k % 3];
            work[9 * (size_t)e[0] + (size_t)k] += part, work[9 * (size_t)e[1] + (size_t)k] += part;
        }
    }
    for (PliIndex i = 0; i < s->point_count; ++i)
        fastest = fmax(fastest, 2.0 * largest_eigenvalue(work + 9 * (size_t)i) / mass[i]);
    if (s->bulk > 0.0) {
        memset(work, 0, 3 * (size_t)s->point_count * sizeof *work);
        (void)measure(s, x, s->normal);
        add_gradient(s, s->normal, 1.0, work);
        for (PliIndex i = 0; i < s->point_count; ++i)
            sum += v3_dot(work + 3 * (size_t)i, work + 3 * (size_t)i) / mass[i];
        sum *= s->bulk / s->volume;
    }
    return fastest + sum > 0.0 ? 2.0 / sqrt(fastest + sum) : INFINITY;
}
