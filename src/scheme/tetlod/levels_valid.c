/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "base/vec.h"
#include "scheme/tetlod/levels.h"

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            pli_refuse(err, PLI_BAD_MESH, "levels: " __VA_ARGS__);                                                     \
            return false;                                                                                              \
        }                                                                                                              \
    } while (0)

static bool tree_is_valid(const PliLevels *h, PliError *err)
{
    for (PliIndex p = 0; p < h->point_count; ++p) {
        const int l = h->level[p];
        CHECK(p >= h->point_first[l] && p < h->point_first[l + 1], "node %u has level %d", p, l);
        CHECK((h->parent[p] == PLI_NONE) == (l == 0), "node %u of level %d has parent %u", p, l, h->parent[p]);
        CHECK(l == 0 || h->level[h->parent[p]] == l - 1, "node %u: its parent %u is not one level up", p, h->parent[p]);
        const PliIndex children = h->child_first[p + 1] - h->child_first[p];
        CHECK((children > 0) == (l < h->level_count - 1), "node %u of level %d has %u children", p, l, children);
        for (PliIndex c = h->child_first[p]; c < h->child_first[p + 1]; ++c)
            CHECK(h->parent[h->child[c]] == p, "node %u lists a child of %u", p, h->parent[h->child[c]]);
    }
    return true;
}

static bool weights_are_valid(const PliLevels *h, PliError *err)
{
    for (PliIndex p = 0; p < h->point_count; ++p)
        for (int side = 0; side < 2; ++side) {
            const PliIndex tet = side ? h->down[p] : h->up[p];
            const int other = h->level[p] + (side ? 1 : -1);
            CHECK((tet != PLI_NONE) == (other >= 0 && other < h->level_count), "node %u: container %u", p, tet);
            if (tet == PLI_NONE) continue;
            CHECK(tet < h->tet_count + h->wide_count, "node %u: there is no row %u", p, tet - h->tet_count);
            const PliIndex *from;
            const double *w;
            const PliIndex n = pli_levels_sources(h, p, !side, &from, &w);
            double sum = 0.0, x[3] = { 0.0, 0.0, 0.0 };
            for (PliIndex c = 0; c < n; ++c) {
                CHECK(h->level[from[c]] == other, "node %u follows node %u of another level", p, from[c]);
                sum += w[c];
                v3_madd(x, w[c], h->x + 3 * (size_t)from[c]);
            }
            const double off = v3_distance(x, h->x + 3 * (size_t)p);
            CHECK(fabs(sum - 1.0) < 1e-12 && off < 1e-9 * h->size[p], "node %u: weights sum to %g and miss it by %g", p,
                  sum, off);
        }
    return true;
}

static bool is_adjacent(const PliLevels *h, PliIndex a, PliIndex b)
{
    for (PliIndex k = h->adjacent_first[a]; k < h->adjacent_first[a + 1]; ++k)
        if (h->adjacent[k] == b) return true;
    return false;
}

static bool adjacency_is_valid(const PliLevels *h, PliError *err)
{
    for (PliIndex e = 0; e < h->edge_count; ++e) {
        PliIndex a = h->edge[2 * (size_t)e], b = h->edge[2 * (size_t)e + 1];
        for (; a != PLI_NONE && a != b; a = h->parent[a], b = h->parent[b])
            CHECK(is_adjacent(h, a, b) && is_adjacent(h, b, a),
                  "nodes %u and %u are joined by an edge below them, and not adjacent", a, b);
    }
    return true;
}

static bool shares_are_valid(const PliLevels *h, PliError *err)
{
    int64_t finest = 0;
    for (PliIndex t = h->tet_first[h->level_count - 1]; t < h->tet_count; ++t) finest += h->tet_share[t];
    CHECK(fabs((double)finest * h->unit / h->volume - 1.0) < 1e-12, "finest shares sum to %g",
          (double)finest * h->unit);
    for (int l = 0; l < h->level_count; ++l) {
        int64_t sum = 0;
        for (PliIndex t = h->tet_first[l]; t < h->tet_first[l + 1]; ++t) {
            sum += h->tet_share[t];
            CHECK(h->tet_share[t] > 0, "tetrahedron %u stands for nothing", t);
            int64_t covers = 0;
            for (PliIndex e = h->cover_first[t]; e < h->cover_first[t + 1]; ++e) {
                covers += h->cover_share[e];
                CHECK(h->cover[e] >= h->tet_first[l - 1] && h->cover[e] < h->tet_first[l], "tetrahedron %u covers %u",
                      t, h->cover[e]);
            }
            CHECK(l == 0 || covers == h->tet_share[t], "tetrahedron %u gives away another share than its own", t);
        }
        CHECK(sum == finest, "level %d stands for %g of the body", l, (double)sum / (double)finest);
    }
    int64_t points = 0;
    for (PliIndex p = 0; p < h->point_count; ++p) points += h->point_share[p];
    CHECK(points == finest, "finest nodes hold %g of the body", (double)points / (double)finest);
    return true;
}

bool pli_levels_is_valid(const PliLevels *h, PliError *err)
{
    return tree_is_valid(h, err) && weights_are_valid(h, err) && adjacency_is_valid(h, err) && shares_are_valid(h, err);
}
