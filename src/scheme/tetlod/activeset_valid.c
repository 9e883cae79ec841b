/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "scheme/tetlod/activeset.h"

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            pli_refuse(err, PLI_BAD_MESH, "active set: " __VA_ARGS__);                                                 \
            return false;                                                                                              \
        }                                                                                                              \
    } while (0)

static bool partition_is_valid(const PliActiveSet *s, PliError *err)
{
    const PliLevels *h = s->h;
    for (PliIndex p = h->finest_first; p < h->point_count; ++p) {
        int active = 0;
        for (PliIndex q = p; q != PLI_NONE; q = h->parent[q]) {
            const PliNodeState expected = active ? PLI_REFINED : s->state[q] == PLI_ACTIVE ? PLI_ACTIVE : PLI_BELOW;
            CHECK(s->state[q] == expected, "node %u above finest node %u has state %d", q, p, s->state[q]);
            active += s->state[q] == PLI_ACTIVE;
        }
        CHECK(active == 1, "finest node %u has %d active ancestors", p, active);
    }
    for (PliIndex e = 0; e < h->edge_count; ++e) {
        const PliIndex a = h->edge[2 * (size_t)e], b = h->edge[2 * (size_t)e + 1];
        const int la = h->level[pli_activeset_ancestor(s, a)], lb = h->level[pli_activeset_ancestor(s, b)];
        CHECK(abs(la - lb) <= 1, "finest edge %u-%u joins levels %d and %d", a, b, la, lb);
    }
    return true;
}

static bool rows_are_valid(PliActiveSet *s, PliError *err)
{
    const PliLevels *h = s->h;
    for (PliIndex i = 0; i < s->slave_count; ++i) CHECK(s->valid[s->slave[i]], "slave %u has no row", s->slave[i]);
    (void)pli_activeset_rows(s);
    const double size = cbrt(h->volume);
    for (PliIndex p = 0; p < h->point_count; ++p) {
        const PliIndex first = s->row_first[p], used = s->row_count[p];
        CHECK(s->valid[p], "row of node %u cannot be made", p);
        CHECK(used > 0 && first + used <= s->row_first[p + 1], "row of node %u has %u entries", p, used);
        double sum = 0.0, x[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex k = first; k < s->row_first[p + 1]; ++k) {
            CHECK(s->state[s->column[k]] == PLI_ACTIVE, "row of node %u uses node %u, which is not active", p,
                  s->column[k]);
            CHECK(k < first + used || s->weight[k] == 0.0, "row of node %u has something behind its end", p);
            CHECK(k == first || k >= first + used || s->column[k] > s->column[k - 1], "row of node %u is not ascending",
                  p);
            sum += s->weight[k];
            v3_madd(x, s->weight[k], h->x + 3 * (size_t)s->column[k]);
        }
        CHECK(s->state[p] != PLI_ACTIVE || (used == 1 && s->column[first] == p && s->weight[first] == 1.0),
              "node %u is active and follows others", p);
        const double off = v3_distance(x, h->x + 3 * (size_t)p);
        CHECK(fabs(sum - 1.0) <= 1e-10 && off <= 1e-10 * size, "row of node %u sums to 1%+g and misses it by %g", p,
              sum - 1.0, off);
    }
    return true;
}

static bool masses_are_valid(const PliActiveSet *s, PliError *err)
{
    const PliLevels *h = s->h;
    int64_t expected = 0, sum = 0;
    for (PliIndex p = 0; p < h->point_count; ++p) {
        expected += h->point_share[p];
        if (s->state[p] != PLI_ACTIVE) continue;
        sum += s->mass[p];
        CHECK(s->mass[p] > 0, "active node %u has mass %lld", p, (long long)s->mass[p]);
    }
    CHECK(sum == expected, "masses sum to %.17g of the body", (double)sum / (double)expected);
    CHECK(s->queue_count == 0, "%u nodes still expect mass", s->queue_count);
    return true;
}

static bool weights_are_valid(const PliActiveSet *s, PliError *err)
{
    const PliLevels *h = s->h;
    double sum = 0.0;
    for (PliIndex t = 0; t < h->tet_count; ++t) {
        int own = 0;
        for (int c = 0; c < 4; ++c) {
            const uint8_t state = s->state[h->tets[4 * (size_t)t + c]];
            own += s->def.paper ? state == PLI_ACTIVE : state != PLI_BELOW;
        }
        CHECK(own == s->own[t], "tetrahedron %u: %d corners of its level, counted %d", t, own, s->own[t]);
        CHECK(s->volume[t] >= 0.0, "tetrahedron %u has weight %g", t, s->volume[t]);
        // what a finest node under an own corner sees must be counted somewhere: own tetrahedra of the finest level are live in full
        CHECK(s->def.paper || t < h->tet_first[h->level_count - 1] || own == 0 || s->volume[t] == h->tet_volume[t],
              "finest tetrahedron %u has weight %g", t, s->volume[t]);
        sum += s->volume[t];
    }
    CHECK(s->def.paper || fabs(sum / h->volume - 1.0) < 1e-9, "weights sum to %.12g of the volume", sum / h->volume);
    return true;
}

static bool lists_are_valid(const PliActiveSet *s, PliError *err)
{
    const PliLevels *h = s->h;
    CHECK(!s->lists_are_stale, "lists were not brought up to date");
    PliIndex active = 0, slaves = 0, elements = 0;
    for (PliIndex p = 0; p < h->point_count; ++p) {
        PliIndex touch = 0;
        for (PliIndex k = h->star_first[p]; k < h->star_first[p + 1]; ++k) touch += s->volume[h->star[k]] > 0.0;
        CHECK(touch == s->touch[p], "node %u is touched by %u live tetrahedra, counted %u", p, touch, s->touch[p]);
        if (s->state[p] == PLI_ACTIVE)
            CHECK(active < s->active_count && s->active[active++] == p, "node %u is missing from the active list", p);
        else if (touch)
            CHECK(slaves < s->slave_count && s->slave[slaves++] == p, "node %u is missing from the slaves", p);
    }
    for (PliIndex t = 0; t < h->tet_count; ++t)
        if (s->volume[t] > 0.0)
            CHECK(elements < s->element_count && s->element[elements++] == t,
                  "tetrahedron %u is missing from the live ones", t);
    CHECK(active == s->active_count && slaves == s->slave_count && elements == s->element_count, "lists are too long");
    return true;
}

bool pli_activeset_is_valid(PliActiveSet *s, PliError *err)
{
    return partition_is_valid(s, err) && rows_are_valid(s, err) && masses_are_valid(s, err) &&
           weights_are_valid(s, err) && lists_are_valid(s, err);
}
