/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesh/loose.h"
#include "mesh/tet.h"
#include "mesher/make.h"

enum { ROUNDS = 12, TRIALS = 14 };
static const double good_enough = 0.45, sliver = 0.25;

static double quality_of(const double *x, const PliIndex *c)
{
    double sum = 0.0;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j) {
            double d[3];
            v3_sub(d, x + 3 * (size_t)c[i], x + 3 * (size_t)c[j]);
            sum += v3_dot(d, d) / 6.0;
        }
    return sqrt(2.0) * pli_tet_volume6(x, c) / (sum * sqrt(sum));
}

static bool drop_unused(PliMesh *m)
{
    const PliIndex before = m->point_count;
    PliIndex *number = PLI_NEW(&m->host, before, PliIndex);
    if (!number) return false;
    const PliIndex points = pli_mesh_number_used(m, number);
    for (PliIndex p = 0; p < before; ++p)
        if (number[p] != PLI_NONE) memmove(m->x + 3 * (size_t)number[p], m->x + 3 * (size_t)p, 3 * sizeof *m->x);
    for (size_t i = 0; i < 4 * (size_t)m->tet_count; ++i) m->tets[i] = number[m->tets[i]];
    PLI_FREE(&m->host, number, before);
    return pli_mesh_resize_cells(m, PLI_EDGE, 0) == PLI_OK && pli_mesh_resize_cells(m, PLI_QUAD, 0) == PLI_OK &&
           pli_mesh_resize_points(m, points) == PLI_OK && pli_mesh_find_surface(m) == PLI_OK;
}

static double worst_around(const PliMesh *m, const PliIndex *star, PliIndex first, PliIndex last)
{
    double worst = INFINITY;
    for (PliIndex s = first; s < last; ++s) worst = fmin(worst, quality_of(m->x, m->tets + 4 * (size_t)star[s]));
    return worst;
}

/// Where a node may be tried: inner ones along the axes, outer ones within the surface.
static void directions(const double *normal, double out[6][3])
{
    double axis[3][3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    if (normal) {
        const int least = fabs(normal[0]) < fabs(normal[1]) ? (fabs(normal[0]) < fabs(normal[2]) ? 0 : 2)
                                                            : (fabs(normal[1]) < fabs(normal[2]) ? 1 : 2);
        double one[3], two[3];
        v3_cross(one, normal, axis[least]);
        v3_scale(one, 1.0 / v3_norm(one));
        v3_cross(two, normal, one);
        for (int d = 0; d < 3; ++d) axis[0][d] = one[d], axis[1][d] = two[d], axis[2][d] = 0.7 * (one[d] + two[d]);
    }
    for (int k = 0; k < 6; ++k)
        for (int d = 0; d < 3; ++d) out[k][d] = k % 2 ? axis[k / 2][d] : -axis[k / 2][d];
}

/// One node, by trial steps that shrink; `normal` (NULL: an inner one) is that of the surface, which only slivers move along.
static void move_node(PliMesh *m, PliIndex p, const double *normal, const PliIndex *star, PliIndex first, PliIndex last)
{
    double *x = m->x + 3 * (size_t)p, count = 0.0, reach = 0.0, way[6][3];
    double best = worst_around(m, star, first, last);
    if (best >= (normal ? sliver : good_enough)) return;
    directions(normal, way);
    for (PliIndex s = first; s < last; ++s)
        for (size_t c = 0; c < 4; ++c) {
            reach += v3_distance(m->x + 3 * (size_t)m->tets[4 * (size_t)star[s] + c], x);
            count += 1.0;
        }
    double step = (normal ? 0.1 : 0.3) * reach / count;
    for (int trial = 0; trial < TRIALS; ++trial) {
        double old[3];
        bool better = false;
        v3_copy(old, x);
        for (int k = 0; k < 6 && !better; ++k) {
            v3_copy(x, old);
            v3_madd(x, step, way[k]);
            const double now = worst_around(m, star, first, last);
            if (now > best) best = now, better = true;
        }
        if (better && !normal) continue;
        if (!better) v3_copy(x, old);
        step *= 0.5;
    }
}

bool pli_mesher_improve(PliMesh *m)
{
    if (!drop_unused(m)) return false;
    const size_t n = m->point_count, corners = 4 * (size_t)m->tet_count;
    PliIndex *first = PLI_NEW(&m->host, n + 2, PliIndex), *star = PLI_NEW(&m->host, corners, PliIndex);
    uint8_t *outer = PLI_NEW(&m->host, n, uint8_t);
    double *normal = PLI_NEW(&m->host, 3 * n, double);
    const bool ok = first && star && outer && normal;
    if (ok) {
        for (size_t i = 0; i < 3 * (size_t)m->tri_count; ++i) outer[m->tris[i]] = 1;
        for (size_t i = 0; i < corners; ++i) first[m->tets[i] + 2]++;
        for (size_t p = 0; p < n; ++p) first[p + 2] += first[p + 1];
        for (size_t i = 0; i < corners; ++i) star[first[m->tets[i] + 1]++] = (PliIndex)(i / 4);
        pli_surface_normals(m, normal);
        for (int round = 0; round < ROUNDS; ++round)
            for (PliIndex p = 0; p < n; ++p)
                move_node(m, p, outer[p] ? normal + 3 * (size_t)p : NULL, star, first[p], first[p + 1]);
    }
    PLI_FREE(&m->host, first, n + 2);
    PLI_FREE(&m->host, star, corners);
    PLI_FREE(&m->host, outer, n);
    PLI_FREE(&m->host, normal, 3 * n);
    return ok;
}
