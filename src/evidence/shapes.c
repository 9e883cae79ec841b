/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/shapes.h"

#include <math.h>

#include "base/vec.h"

static const double two_pi = 6.283185307179586;

const char *pli_shape_name(PliShape shape)
{
    static const char *const names[] = { "plate", "handle", "branched", "bumpy" };
    return names[shape];
}

static PliMesh *allocate(const PliHost *host, PliIndex points, PliIndex triangles)
{
    PliMesh *m = pli_mesh_create(host);
    if (m && pli_mesh_resize_points(m, points) == PLI_OK && pli_mesh_resize_cells(m, PLI_TRI, triangles) == PLI_OK)
        return m;
    pli_mesh_destroy(m);
    return NULL;
}

static void add_tri(PliMesh *m, PliIndex *at, PliIndex a, PliIndex b, PliIndex c)
{
    PliIndex *t = m->tris + 3 * (size_t)(*at)++;
    t[0] = a, t[1] = b, t[2] = c;
}

// ---- maps of a ball --------------------------------------------------------------------------------------------------

static double bumps(const double p[3])
{
    return 0.5 * (1.0 + 0.06 * sin(9.0 * p[0]) * sin(8.0 * p[1] + 1.0) * sin(7.0 * p[2] + 2.0) +
                  0.02 * sin(31.0 * p[0]) * sin(29.0 * p[1]) + 0.01 * sin(60.0 * p[2]));
}

static double arms(const double p[3])
{
    static const double arm[6][4] = { { 1, 0, 0, 0.42 },  { -0.8, 0.6, 0, 0.36 },     { 0, 0.28, 0.96, 0.40 },
                                      { 0, -1, 0, 0.34 }, { 0.48, 0.6, -0.64, 0.38 }, { -0.6, -0.48, -0.64, 0.3 } };
    double r = 0.14;
    for (int k = 0; k < 6; ++k) r += arm[k][3] * exp(-14.0 * (1.0 - v3_dot(p, arm[k])));
    return r;
}

/// Points of a row of an eighth of the ball are counted by i + j <= n; poles and seams are shared, so the whole ball is numbered
/// ring by ring: ring k from the north pole has 4 min(k, 2n - k) points.
static PliIndex ring_first(PliIndex n, PliIndex k)
{
    if (k == 0) return 0;
    if (k <= n) return 1 + 2 * k * (k - 1);
    return 4 * n * n + 2 - ring_first(n, 2 * n - k + 1);
}

static PliIndex ring_point(PliIndex n, PliIndex k, PliIndex i)
{
    const PliIndex count = k == 0 || k == 2 * n ? 1 : 4 * (k < n ? k : 2 * n - k);
    return ring_first(n, k) + i % count;
}

static PliMesh *map_ball(const PliHost *host, PliIndex triangles, double (*radius)(const double p[3]))
{
    const PliIndex n = (PliIndex)lround(sqrt(triangles / 8.0));
    PliMesh *m = allocate(host, 4 * n * n + 2, 8 * n * n);
    if (!m) return NULL;
    for (PliIndex k = 0; k <= 2 * n; ++k) {
        const PliIndex along = k < n ? k : 2 * n - k;
        for (PliIndex i = 0; i < (along ? 4 * along : 1); ++i) {
            // on the octahedron |x| + |y| + |z| = 1, then out to the ball
            const double z = 1.0 - (double)k / n, side = 1.0 - fabs(z), s = along ? (double)(i % along) / along : 0.0;
            const double u = side * (1.0 - s), v = side * s;
            const double corner[4][2] = { { u, v }, { -v, u }, { -u, -v }, { v, -u } };
            const PliIndex quarter = along ? i / along : 0;
            double p[3] = { corner[quarter][0], corner[quarter][1], z };
            v3_scale(p, 1.0 / v3_norm(p));
            const double r = radius(p);
            for (int c = 0; c < 3; ++c) m->x[3 * (size_t)ring_point(n, k, i) + c] = r * p[c];
        }
    }
    PliIndex at = 0;
    for (PliIndex k = 0; k < n; ++k)
        for (PliIndex q = 0; q < 4; ++q)
            for (PliIndex i = 0; i <= k; ++i) {
                // north: ring k above ring k + 1; south: the mirror image
                const PliIndex up = q * k + i, low = q * (k + 1) + i, s = 2 * n - k;
                add_tri(m, &at, ring_point(n, k, up), ring_point(n, k + 1, low), ring_point(n, k + 1, low + 1));
                add_tri(m, &at, ring_point(n, s, up), ring_point(n, s - 1, low + 1), ring_point(n, s - 1, low));
                if (i == k) continue;
                add_tri(m, &at, ring_point(n, k, up), ring_point(n, k + 1, low + 1), ring_point(n, k, up + 1));
                add_tri(m, &at, ring_point(n, s, up), ring_point(n, s, up + 1), ring_point(n, s - 1, low + 1));
            }
    return m;
}

// ---- grids -------------------------------------------------------------------------------------------------------------

static PliMesh *make_handle(const PliHost *host, PliIndex triangles)
{
    const PliIndex a = (PliIndex)lround(sqrt(triangles / 2.0 * 3.0)), b = (a + 1) / 3;
    PliMesh *m = allocate(host, a * b, 2 * a * b);
    if (!m) return NULL;
    PliIndex at = 0;
    for (PliIndex i = 0; i < a; ++i)
        for (PliIndex j = 0; j < b; ++j) {
            const double u = two_pi * i / a, v = two_pi * j / b;
            const double tube = 0.13 + 0.03 * cos(3.0 * u), r = 0.37 + tube * cos(v);
            double *x = m->x + 3 * (size_t)(i * b + j);
            x[0] = r * cos(u), x[1] = r * sin(u), x[2] = tube * sin(v) + 0.05 * sin(2.0 * u);
            const PliIndex c[4] = { i * b + j, (i + 1) % a * b + j, (i + 1) % a * b + (j + 1) % b,
                                    i * b + (j + 1) % b };
            add_tri(m, &at, c[0], c[1], c[2]);
            add_tri(m, &at, c[0], c[2], c[3]);
        }
    return m;
}

/// Two bent sheets and a rim. Sheet s has the points s (n+1)^2 + j (n+1) + i.
static PliMesh *make_plate(const PliHost *host, PliIndex triangles)
{
    const PliIndex n = (PliIndex)lround(sqrt(triangles / 4.0)), row = n + 1, sheet = row * row;
    PliMesh *m = allocate(host, 2 * sheet, 4 * n * n + 8 * n);
    if (!m) return NULL;
    PliIndex at = 0;
    for (PliIndex s = 0; s < 2; ++s)
        for (PliIndex k = 0; k < sheet; ++k) {
            double *x = m->x + 3 * (size_t)(s * sheet + k);
            x[0] = (double)(k % row) / n - 0.5, x[1] = (double)(k / row) / n - 0.5;
            x[2] = (s ? 0.025 : -0.025) + 0.4 * x[0] * x[0] - 0.2 * x[0] * x[1];
        }
    for (PliIndex j = 0; j < n; ++j)
        for (PliIndex i = 0; i < n; ++i) {
            const PliIndex c = j * row + i, t = sheet + c;
            add_tri(m, &at, c, c + row + 1, c + 1), add_tri(m, &at, c, c + row, c + row + 1);
            add_tri(m, &at, t, t + 1, t + row + 1), add_tri(m, &at, t, t + row + 1, t + row);
        }
    for (PliIndex i = 0; i < n; ++i) {
        const PliIndex edge[4][2] = { { i, i + 1 },
                                      { i * row + n, (i + 1) * row + n },
                                      { n * row + i + 1, n * row + i },
                                      { (i + 1) * row, i * row } };
        for (int e = 0; e < 4; ++e) {
            add_tri(m, &at, edge[e][0], edge[e][1], sheet + edge[e][1]);
            add_tri(m, &at, edge[e][0], sheet + edge[e][1], sheet + edge[e][0]);
        }
    }
    return m;
}

PliMesh *pli_shape_make(const PliHost *host, PliShape shape, PliIndex triangles)
{
    switch (shape) {
    case PLI_SHAPE_PLATE: return make_plate(host, triangles);
    case PLI_SHAPE_HANDLE: return make_handle(host, triangles);
    case PLI_SHAPE_BRANCHED: return map_ball(host, triangles, arms);
    case PLI_SHAPE_BUMPY: break;
    }
    return map_ball(host, triangles, bumps);
}
