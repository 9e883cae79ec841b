/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/frames/dag.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

static void block_mul_add(double r[16], const double a[16], const double b[16])
{
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            r[4 * i + j] +=
                a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j] + a[4 * i + 3] * b[12 + j];
}

// ---- creation -------------------------------------------------------------------------------------------------------------

// Places for every frame's ancestors and itself: no row can be longer, whatever is active.
static PliStatus size_rows(PliDag *g, PliDagRows *rows, const size_t *first)
{
    rows->first = PLI_NEW(&g->host, (size_t)g->count + 1, size_t);
    rows->used = PLI_NEW(&g->host, g->count, PliIndex);
    rows->column = PLI_NEW(&g->host, g->entry_capacity, PliIndex);
    rows->block = PLI_NEW(&g->host, 16 * g->entry_capacity, double);
    if (!rows->first || !rows->used || !rows->column || !rows->block) return PLI_OUT_OF_MEMORY;
    memcpy(rows->first, first, ((size_t)g->count + 1) * sizeof *first);
    return PLI_OK;
}

static PliStatus count_ancestors(PliDag *g, size_t *first)
{
    const size_t words = ((size_t)g->count + 63) / 64;
    uint64_t *set = PLI_NEW(&g->host, words * g->count, uint64_t);
    if (!set) return PLI_OUT_OF_MEMORY;
    for (PliIndex i = 0; i < g->count; ++i) {
        uint64_t *own = set + words * i;
        own[i / 64] |= (uint64_t)1 << i % 64;
        for (PliIndex e = g->parent_first[i]; e < g->parent_first[i + 1]; ++e)
            for (size_t w = 0; w < words; ++w) own[w] |= set[words * g->parent[e] + w];
        size_t bits = 0;
        for (size_t w = 0; w < words; ++w)
            for (uint64_t b = own[w]; b; b &= b - 1) bits++;
        first[i + 1] = first[i] + bits;
    }
    PLI_FREE(&g->host, set, words * g->count);
    return PLI_OK;
}

static PliStatus fill(PliDag *g, const double *x, const double *scale, const PliIndex *parent_first,
                      const PliIndex *parent, const double *parent_weight)
{
    const PliHost *h = &g->host;
    const size_t n = g->count, edges = g->edge_count;
    g->x = PLI_NEW(h, 3 * n, double);
    g->scale = PLI_NEW(h, n, double);
    g->parent_first = PLI_NEW(h, n + 1, PliIndex);
    g->child_first = PLI_NEW(h, n + 2, PliIndex);
    g->parent = PLI_NEW(h, edges, PliIndex);
    g->child = PLI_NEW(h, edges, PliIndex);
    g->parent_weight = PLI_NEW(h, edges, double);
    g->offset = PLI_NEW(h, 12 * n, double);
    g->active = PLI_NEW(h, n, uint8_t);
    g->pinned = PLI_NEW(h, n, uint8_t);
    g->moved = PLI_NEW(h, n, uint8_t);
    g->was_candidate = PLI_NEW(h, n, uint8_t);
    g->active_list = PLI_NEW(h, n, PliIndex);
    g->candidate_list = PLI_NEW(h, n, PliIndex);
    g->changed = PLI_NEW(h, n, uint64_t);
    g->changed_candidate = PLI_NEW(h, n, uint64_t);
    g->slot = PLI_NEW(h, n, PliIndex);
    g->dense = PLI_NEW(h, 16 * n, double);
    if (!g->x || !g->scale || !g->parent_first || !g->child_first || !g->parent || !g->child || !g->parent_weight ||
        !g->offset || !g->active || !g->pinned || !g->moved || !g->was_candidate || !g->active_list ||
        !g->candidate_list || !g->changed || !g->changed_candidate || !g->slot || !g->dense)
        return PLI_OUT_OF_MEMORY;
    memcpy(g->x, x, 3 * n * sizeof *x);
    memcpy(g->scale, scale, n * sizeof *scale);
    memcpy(g->parent_first, parent_first, (n + 1) * sizeof *parent_first);
    memcpy(g->parent, parent, edges * sizeof *parent);
    memcpy(g->parent_weight, parent_weight, edges * sizeof *parent_weight);
    for (size_t e = 0; e < edges; ++e) g->child_first[parent[e] + 2]++;
    for (size_t i = 0; i <= n; ++i) g->child_first[i + 1] += g->child_first[i];
    for (PliIndex i = 0; i < n; ++i)
        for (PliIndex e = parent_first[i]; e < parent_first[i + 1]; ++e) g->child[g->child_first[parent[e] + 1]++] = i;
    size_t *first = PLI_NEW(h, n + 1, size_t);
    PliStatus status = first ? count_ancestors(g, first) : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) {
        g->entry_capacity = first[n];
        g->scalar_capacity = 13 * g->entry_capacity; // three columns of three, an origin of four
        status = size_rows(g, &g->over_active, first);
    }
    if (status == PLI_OK) status = size_rows(g, &g->over_candidates, first);
    PLI_FREE(h, first, n + 1);
    g->scalar_first = PLI_NEW(h, 4 * n + 1, PliIndex);
    g->scalar_column = PLI_NEW(h, g->scalar_capacity, PliIndex);
    g->scalar_weight = PLI_NEW(h, g->scalar_capacity, double);
    if (!g->scalar_first || !g->scalar_column || !g->scalar_weight) return PLI_OUT_OF_MEMORY;
    return status;
}

PliDag *pli_dag_create(const PliHost *host, PliIndex count, const double *x, const double *scale,
                       const PliIndex *parent_first, const PliIndex *parent, const double *parent_weight)
{
    PliDag *g = PLI_NEW(host, 1, PliDag);
    if (!g) return NULL;
    g->host = *host;
    g->count = count;
    g->edge_count = parent_first[count];
    if (fill(g, x, scale, parent_first, parent, parent_weight) != PLI_OK) {
        pli_dag_destroy(g);
        return NULL;
    }
    pli_dag_reset(g);
    return g;
}

static void free_rows(const PliDag *g, PliDagRows *rows)
{
    PLI_FREE(&g->host, rows->first, (size_t)g->count + 1);
    PLI_FREE(&g->host, rows->used, g->count);
    PLI_FREE(&g->host, rows->column, g->entry_capacity);
    PLI_FREE(&g->host, rows->block, 16 * g->entry_capacity);
}

void pli_dag_destroy(PliDag *g)
{
    if (!g) return;
    const PliHost h = g->host;
    const size_t n = g->count, edges = g->edge_count;
    PLI_FREE(&h, g->x, 3 * n);
    PLI_FREE(&h, g->scale, n);
    PLI_FREE(&h, g->parent_first, n + 1);
    PLI_FREE(&h, g->child_first, n + 2);
    PLI_FREE(&h, g->parent, edges);
    PLI_FREE(&h, g->child, edges);
    PLI_FREE(&h, g->parent_weight, edges);
    PLI_FREE(&h, g->offset, 12 * n);
    PLI_FREE(&h, g->active, n);
    PLI_FREE(&h, g->pinned, n);
    PLI_FREE(&h, g->moved, n);
    PLI_FREE(&h, g->was_candidate, n);
    PLI_FREE(&h, g->active_list, n);
    PLI_FREE(&h, g->candidate_list, n);
    PLI_FREE(&h, g->changed, n);
    PLI_FREE(&h, g->changed_candidate, n);
    PLI_FREE(&h, g->slot, n);
    PLI_FREE(&h, g->dense, 16 * n);
    free_rows(g, &g->over_active);
    free_rows(g, &g->over_candidates);
    PLI_FREE(&h, g->scalar_first, 4 * n + 1);
    PLI_FREE(&h, g->scalar_column, g->scalar_capacity);
    PLI_FREE(&h, g->scalar_weight, g->scalar_capacity);
    PLI_FREE(&h, g, 1);
}

void pli_dag_reset(PliDag *g)
{
    for (PliIndex i = 0; i < g->count; ++i) {
        double *d = g->offset + 12 * (size_t)i;
        memset(d, 0, 12 * sizeof *d);
        d[0] = d[4] = d[8] = 1.0;
        g->active[i] = i == 0 || g->pinned[i];
        g->moved[i] = 1;
        g->was_candidate[i] = 0;
    }
    pli_dag_refresh(g);
}

void pli_dag_pin(PliDag *g, const uint8_t *pinned)
{
    memcpy(g->pinned, pinned, g->count);
    for (PliIndex i = g->count; i-- > 0;)
        for (PliIndex e = g->parent_first[i]; g->pinned[i] && e < g->parent_first[i + 1]; ++e)
            g->pinned[g->parent[e]] = 1;
    for (PliIndex i = 0; i < g->count; ++i)
        if (g->pinned[i] && !g->active[i]) pli_dag_activate(g, i);
    pli_dag_refresh(g);
}

// ---- states --------------------------------------------------------------------------------------------------------------

bool pli_dag_may_activate(const PliDag *g, PliIndex i)
{
    if (g->active[i]) return false;
    for (PliIndex e = g->parent_first[i]; e < g->parent_first[i + 1]; ++e)
        if (!g->active[g->parent[e]]) return false;
    return true;
}

bool pli_dag_may_deactivate(const PliDag *g, PliIndex i)
{
    if (!g->active[i] || i == 0 || g->pinned[i]) return false;
    for (PliIndex e = g->child_first[i]; e < g->child_first[i + 1]; ++e)
        if (g->active[g->child[e]]) return false;
    return true;
}

void pli_dag_activate(PliDag *g, PliIndex i)
{
    g->active[i] = 1;
    g->moved[i] = 1;
}

// The blend of the parents in the coordinates of frame i: three columns (in `a`, row-major) and the origin.
static void blend(const PliDag *g, PliIndex i, const double *u, double a[9], double origin[3])
{
    memset(a, 0, 9 * sizeof *a);
    memset(origin, 0, 3 * sizeof *origin);
    for (PliIndex e = g->parent_first[i]; e < g->parent_first[i + 1]; ++e) {
        const PliIndex k = g->parent[e];
        const double w = g->parent_weight[e], ratio = w * g->scale[i] / g->scale[k];
        const double *uk = u + 12 * (size_t)k;
        v3_madd(origin, w, uk + 9);
        for (int c = 0; c < 3; ++c) {
            v3_madd(origin, w * (g->x[3 * (size_t)i + c] - g->x[3 * (size_t)k + c]) / g->scale[k], uk + 3 * c);
            for (int r = 0; r < 3; ++r) a[3 * r + c] += ratio * uk[3 * c + r];
        }
    }
}

bool pli_dag_measure_offset(PliDag *g, PliIndex i, const double *u)
{
    double a[9], inverse[9], origin[3], norm = 0.0, back = 0.0;
    blend(g, i, u, a, origin);
    const double s = g->scale[i];
    const double det = m3_inverse(inverse, a) / (s * s * s);
    if (!(det >= 0.1)) return false;
    for (int k = 0; k < 9; ++k) norm += a[k] * a[k], back += inverse[k] * inverse[k];
    if (!(sqrt(norm * back) <= 300.0)) return false; // 3 for a rotation; the condition number is at most this over 3
    double *d = g->offset + 12 * (size_t)i, away[3];
    const double *ui = u + 12 * (size_t)i;
    for (int c = 0; c < 3; ++c) {
        double column[3];
        m3_apply(column, inverse, ui + 3 * c);
        for (int r = 0; r < 3; ++r) d[3 * r + c] = column[r];
    }
    v3_sub(away, ui + 9, origin);
    m3_apply(d + 9, inverse, away);
    g->moved[i] = 1;
    return true;
}

bool pli_dag_deactivate(PliDag *g, PliIndex i, const double *u)
{
    if (!pli_dag_measure_offset(g, i, u)) return false;
    g->active[i] = 0;
    return true;
}

void pli_dag_parent_block(const PliDag *g, PliIndex i, PliIndex e, double block[16])
{
    const PliIndex k = g->parent[e];
    const double w = g->parent_weight[e], ratio = w * g->scale[i] / g->scale[k];
    const double *d = g->offset + 12 * (size_t)i;
    for (int c = 0; c < 3; ++c) {
        for (int r = 0; r < 3; ++r) block[4 * c + r] = ratio * d[3 * r + c];
        block[4 * c + 3] = 0.0;
        block[12 + c] = w * (g->x[3 * (size_t)i + c] - g->x[3 * (size_t)k + c]) / g->scale[k] + ratio * d[9 + c];
    }
    block[15] = w;
}

void pli_dag_spread(const PliDag *g, double *u)
{
    for (PliIndex i = 0; i < g->count; ++i) {
        if (g->active[i]) continue;
        double a[9], origin[3];
        const double *d = g->offset + 12 * (size_t)i;
        double *ui = u + 12 * (size_t)i;
        blend(g, i, u, a, origin);
        for (int c = 0; c < 3; ++c)
            for (int r = 0; r < 3; ++r)
                ui[3 * c + r] = a[3 * r] * d[c] + a[3 * r + 1] * d[3 + c] + a[3 * r + 2] * d[6 + c];
        for (int r = 0; r < 3; ++r)
            ui[9 + r] = origin[r] + (a[3 * r] * d[9] + a[3 * r + 1] * d[10] + a[3 * r + 2] * d[11]);
    }
}

// ---- contraction ----------------------------------------------------------------------------------------------------------

static void identity_row(PliDagRows *rows, PliIndex i)
{
    double *b = rows->block + 16 * rows->first[i];
    memset(b, 0, 16 * sizeof *b);
    b[0] = b[5] = b[10] = b[15] = 1.0;
    rows->column[rows->first[i]] = i;
    rows->used[i] = 1;
}

// T_i = sum over parents of (weights with offset) T_k, gathered in a dense row and packed by ascending column.
static void blend_row(PliDag *g, PliDagRows *rows, PliIndex i)
{
    PliIndex *column = rows->column + rows->first[i], used = 0;
    for (PliIndex e = g->parent_first[i]; e < g->parent_first[i + 1]; ++e) {
        double p[16];
        pli_dag_parent_block(g, i, e, p);
        const PliIndex k = g->parent[e];
        for (PliIndex q = 0; q < rows->used[k]; ++q) {
            const PliIndex a = rows->column[rows->first[k] + q];
            double *dense = g->dense + 16 * (size_t)a;
            if (g->slot[a] != i + 1) {
                g->slot[a] = i + 1;
                memset(dense, 0, 16 * sizeof *dense);
                PliIndex at = used++;
                for (; at > 0 && column[at - 1] > a; --at) column[at] = column[at - 1];
                column[at] = a;
            }
            block_mul_add(dense, p, rows->block + 16 * (rows->first[k] + q));
        }
    }
    for (PliIndex q = 0; q < used; ++q) {
        memcpy(rows->block + 16 * (rows->first[i] + q), g->dense + 16 * (size_t)column[q], 16 * sizeof(double));
        g->slot[column[q]] = 0;
    }
    rows->used[i] = used;
}

static void refresh_rows(PliDag *g, PliDagRows *rows, uint64_t *changed, bool candidates)
{
    for (PliIndex i = 0; i < g->count; ++i) {
        bool dirty = g->moved[i];
        const bool own = g->active[i] || (candidates && g->was_candidate[i] & 1);
        if (candidates && (g->was_candidate[i] & 1) != g->was_candidate[i] >> 1) dirty = true;
        for (PliIndex e = g->parent_first[i]; !own && e < g->parent_first[i + 1]; ++e)
            dirty |= changed[g->parent[e]] == g->revision;
        if (!dirty) continue;
        changed[i] = g->revision;
        if (own)
            identity_row(rows, i);
        else
            blend_row(g, rows, i);
    }
}

static void refresh_scalars(PliDag *g)
{
    PliIndex at = 0;
    const PliDagRows *rows = &g->over_active;
    for (PliIndex i = 0; i < g->count; ++i)
        for (PliIndex c = 0; c < 4; ++c) {
            g->scalar_first[4 * i + c] = at;
            for (PliIndex q = 0; q < rows->used[i]; ++q) {
                const double *b = rows->block + 16 * (rows->first[i] + q) + 4 * c;
                for (PliIndex d = 0; d < 4; ++d) {
                    if (b[d] == 0.0) continue;
                    g->scalar_column[at] = 4 * rows->column[rows->first[i] + q] + d;
                    g->scalar_weight[at++] = b[d];
                }
            }
        }
    g->scalar_first[4 * g->count] = at;
}

void pli_dag_refresh(PliDag *g)
{
    g->revision++;
    g->active_count = g->candidate_count = 0;
    for (PliIndex i = 0; i < g->count; ++i) {
        const bool candidate = pli_dag_may_activate(g, i);
        g->was_candidate[i] = (uint8_t)((g->was_candidate[i] & 1) << 1 | candidate);
        if (g->active[i]) g->active_list[g->active_count++] = i;
        if (candidate) g->candidate_list[g->candidate_count++] = i;
    }
    refresh_rows(g, &g->over_active, g->changed, false);
    refresh_rows(g, &g->over_candidates, g->changed_candidate, true);
    refresh_scalars(g);
    memset(g->moved, 0, g->count);
}

PliRows pli_dag_rows(const PliDag *g)
{
    return (PliRows){ g->scalar_first, g->scalar_column, g->scalar_weight, 4 * g->count, 4 * g->count };
}

bool pli_dag_is_valid(const PliDag *g, PliError *err)
{
    for (PliIndex i = 0; i < g->count; ++i) {
        double sum = 0.0;
        for (PliIndex e = g->parent_first[i]; e < g->parent_first[i + 1]; ++e) {
            sum += g->parent_weight[e];
            if (g->parent[e] >= i)
                return pli_refuse(err, PLI_BAD_ARGUMENT, "frame %u follows frame %u, which comes later", i,
                                  g->parent[e]),
                       false;
            if (g->active[i] && !g->active[g->parent[e]])
                return pli_refuse(err, PLI_BAD_ARGUMENT, "frame %u is active, its parent %u is not", i, g->parent[e]),
                       false;
        }
        if (i > 0 && !(fabs(sum - 1.0) < 1e-12))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "the weights of frame %u sum to %g", i, sum), false;
        // translations pass unchanged: every coefficient row of an origin sums to one over origins, of a column to zero
        double origin = 0.0;
        const PliDagRows *rows = &g->over_active;
        for (PliIndex q = 0; q < rows->used[i]; ++q) {
            const double *b = rows->block + 16 * (rows->first[i] + q);
            origin += b[15];
            if (b[3] != 0.0 || b[7] != 0.0 || b[11] != 0.0)
                return pli_refuse(err, PLI_BAD_ARGUMENT, "a column of frame %u follows an origin", i), false;
            if (!g->active[rows->column[rows->first[i] + q]])
                return pli_refuse(err, PLI_BAD_ARGUMENT, "frame %u follows a passive frame", i), false;
        }
        if (!(fabs(origin - 1.0) < 1e-9))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "the origin of frame %u follows %g of its parents", i, origin),
                   false;
    }
    return true;
}
