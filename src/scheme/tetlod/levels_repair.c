/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Levels any mesher made. A node follows the four corners of the tetrahedron around it one level up, extrapolated where it lies
// outside; a coarse node then carries what the finer nodes give it, and where two meshes do not fit that may be nothing, or less
// than nothing. Here such a node gets its share: finer nodes nearby follow more than four nodes, with the weights nearest to what is
// wanted among those that still reproduce every affine field. Meshes that fit are left as they are, to the last bit.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/tetlod/levels.h"

enum { MAX_ROW = 48, MAX_NEAR = 96, MAX_ROUNDS = 400 };

/// Shares of the mass a node has as a corner of the tetrahedra around it.
static const double too_little = 1e-3, wanted_share = 0.1, enough = 0.02;

typedef struct Row {
    PliIndex count, node[MAX_ROW];
    double weight[MAX_ROW];
} Row;

typedef struct Repair {
    PliLevels *h;
    int level; ///< the coarse one
    double *mass, *share;
    PliIndex *row_of; ///< per node: its row in `row`, or PLI_NONE
    Row *row;
    size_t row_count, row_capacity;
    PliIndex *user_first,
        *user; ///< finer nodes inside a tetrahedron around a coarse node, counted from the level's first
    PliIndex *mark, stamp;
} Repair;

// ---- rows ----------------------------------------------------------------------------------------------------------------

static Row row_of(const Repair *r, PliIndex node)
{
    if (r->row_of[node] != PLI_NONE) return r->row[r->row_of[node]];
    const PliLevels *h = r->h;
    Row out = { .count = 4 };
    for (int c = 0; c < 4; ++c) {
        out.node[c] = h->tets[4 * (size_t)h->up[node] + c];
        out.weight[c] = h->up_weight[4 * (size_t)node + c];
    }
    return out;
}

static bool keep_row(Repair *r, PliIndex node, const Row *row)
{
    if (r->row_of[node] == PLI_NONE) {
        if (!PLI_GROW(&r->h->host, r->row, r->row_count, r->row_capacity)) return false;
        r->row_of[node] = (PliIndex)r->row_count++;
    }
    r->row[r->row_of[node]] = *row;
    return true;
}

/// Solves the symmetric a l = b by elimination with pivoting.
static bool solve4(double a[4][4], double b[4])
{
    for (int c = 0; c < 4; ++c) {
        int pivot = c;
        for (int i = c + 1; i < 4; ++i)
            if (fabs(a[i][c]) > fabs(a[pivot][c])) pivot = i;
        if (!(fabs(a[pivot][c]) > 1e-6)) return false;
        for (int k = 0; k < 4; ++k) {
            const double t = a[c][k];
            a[c][k] = a[pivot][k], a[pivot][k] = t;
        }
        const double t = b[c];
        b[c] = b[pivot], b[pivot] = t;
        for (int i = c + 1; i < 4; ++i) {
            const double f = a[i][c] / a[c][c];
            for (int k = c; k < 4; ++k) a[i][k] -= f * a[c][k];
            b[i] -= f * b[c];
        }
    }
    for (int c = 3; c >= 0; --c) {
        for (int k = c + 1; k < 4; ++k) b[c] -= a[c][k] * b[k];
        b[c] /= a[c][c];
    }
    return true;
}

/// The weights nearest to those given that sum to one and put the node where it is. Nodes that stand for more change more.
static bool reproduce(const Repair *r, PliIndex node, Row *row)
{
    const PliLevels *h = r->h;
    double scale = 0.0, gram[4][4] = { { 0 } }, miss[4] = { 1.0, 0.0, 0.0, 0.0 }, c[MAX_ROW][4], give[MAX_ROW];
    double total = 0.0;
    for (PliIndex i = 0; i < row->count; ++i) {
        scale = fmax(scale, v3_distance(h->x + 3 * (size_t)row->node[i], h->x + 3 * (size_t)node));
        total += r->share[row->node[i]];
    }
    if (!(scale > 0.0)) return false;
    for (PliIndex i = 0; i < row->count; ++i) {
        give[i] = 0.01 + r->share[row->node[i]] / total;
        c[i][0] = 1.0;
        for (int d = 0; d < 3; ++d)
            c[i][1 + d] = (h->x[3 * (size_t)row->node[i] + d] - h->x[3 * (size_t)node + d]) / scale;
        for (int a = 0; a < 4; ++a) {
            miss[a] -= c[i][a] * row->weight[i];
            for (int b = 0; b < 4; ++b) gram[a][b] += give[i] * c[i][a] * c[i][b];
        }
    }
    if (!solve4(gram, miss)) return false;
    PliIndex largest = 0;
    double sum = 0.0;
    for (PliIndex i = 0; i < row->count; ++i) {
        for (int a = 0; a < 4; ++a) row->weight[i] += give[i] * c[i][a] * miss[a];
        if (row->weight[i] > row->weight[largest]) largest = i;
        sum += row->weight[i];
    }
    row->weight[largest] += 1.0 - sum;
    return true;
}

static PliIndex place_in(const Row *row, PliIndex node)
{
    for (PliIndex i = 0; i < row->count; ++i)
        if (row->node[i] == node) return i;
    return PLI_NONE;
}

static PliIndex add_node(Row *row, PliIndex node)
{
    PliIndex at = place_in(row, node);
    if (at != PLI_NONE || row->count == MAX_ROW) return at;
    at = row->count++;
    row->node[at] = node;
    row->weight[at] = 0.0;
    return at;
}

static void add_ring(const PliLevels *h, Row *row, PliIndex node)
{
    for (PliIndex s = h->star_first[node]; s < h->star_first[node + 1]; ++s)
        for (int c = 0; c < 4; ++c) (void)add_node(row, h->tets[4 * (size_t)h->star[s] + c]);
}

/// The row of `finer` after it gave about `part` of itself to the coarse node `needy`, or took nothing from it any more.
/// The nodes within `rings` make up for the moved centre.
static bool shifted_row(const Repair *r, PliIndex finer, PliIndex needy, double part, int rings, Row *row)
{
    const PliLevels *h = r->h;
    *row = row_of(r, finer);
    const PliIndex at = add_node(row, needy);
    if (at == PLI_NONE) return false;
    add_ring(h, row, needy);
    for (PliIndex i = 0, ring = row->count; rings > 1 && i < ring; ++i) add_ring(h, row, row->node[i]);
    if (row->weight[at] < 0.0) row->weight[at] = 0.0;
    for (PliIndex i = 0; i < row->count; ++i) row->weight[i] *= 1.0 - part;
    row->weight[at] += part;
    if (!reproduce(r, finer, row)) return false;
    Row lean = { 0 }; // short rows are cheap: what hardly counts is left out
    for (PliIndex i = 0; i < row->count; ++i)
        if (fabs(row->weight[i]) > 0.003)
            lean.node[lean.count] = row->node[i], lean.weight[lean.count++] = row->weight[i];
    if (lean.count >= 4 && reproduce(r, finer, &lean)) *row = lean;
    return true;
}

// ---- one level -------------------------------------------------------------------------------------------------------------

static double lack(const Repair *r, PliIndex node, double mass)
{
    return fmax(0.0, wanted_share - mass / r->share[node]);
}

/// How much better a node fares when its weight in the row of `finer` changes; a price on extrapolation keeps weights mild.
static double gain_at(const Repair *r, PliIndex finer, PliIndex node, double before, double after)
{
    return lack(r, node, r->mass[node]) - lack(r, node, r->mass[node] + r->mass[finer] * (after - before)) +
           0.001 * (fabs(before) - fabs(after));
}

static double gain_of(const Repair *r, PliIndex finer, const Row *row)
{
    const Row old = row_of(r, finer);
    double gain = 0.0;
    for (PliIndex i = 0; i < row->count; ++i) {
        const PliIndex at = place_in(&old, row->node[i]);
        gain += gain_at(r, finer, row->node[i], at == PLI_NONE ? 0.0 : old.weight[at], row->weight[i]);
    }
    for (PliIndex i = 0; i < old.count; ++i)
        if (place_in(row, old.node[i]) == PLI_NONE) gain += gain_at(r, finer, old.node[i], old.weight[i], 0.0);
    return gain;
}

static void move_mass(Repair *r, PliIndex finer, const Row *row, double sign)
{
    for (PliIndex i = 0; i < row->count; ++i) r->mass[row->node[i]] += sign * r->mass[finer] * row->weight[i];
}

typedef struct Near {
    PliIndex count, node[MAX_NEAR]; ///< nearest first
    double distance[MAX_NEAR];
} Near;

static void add_near(Near *near, PliIndex finer, double d)
{
    PliIndex j = near->count < MAX_NEAR ? near->count++ : MAX_NEAR;
    if (j == MAX_NEAR && d >= near->distance[MAX_NEAR - 1]) return;
    if (j == MAX_NEAR) --j;
    for (; j > 0 && near->distance[j - 1] > d; --j)
        near->distance[j] = near->distance[j - 1], near->node[j] = near->node[j - 1];
    near->distance[j] = d, near->node[j] = finer;
}

/// Finer nodes inside tetrahedra around a coarse node or its neighbours; around theirs, too, while there are few: where the coarse
/// level is the finer one no finer node may be nearer.
static void find_near(Repair *r, PliIndex node, Near *near)
{
    enum { FEW = 8, MOST = 256, RINGS = 4 };
    const PliLevels *h = r->h;
    const PliIndex base = h->point_first[r->level];
    PliIndex list[MOST] = { node }, listed = 1, done = 0;
    near->count = 0;
    r->stamp++;
    r->mark[node] = r->stamp;
    for (int ring = 0; ring < RINGS && (ring < 1 || near->count < FEW) && done < listed; ++ring) {
        const PliIndex end = listed;
        for (; done < end; ++done) // neighbours of the ring before
            for (PliIndex s = h->star_first[list[done]]; s < h->star_first[list[done] + 1]; ++s)
                for (int c = 0; c < 4; ++c) {
                    const PliIndex next = h->tets[4 * (size_t)h->star[s] + c];
                    if (r->mark[next] == r->stamp || listed == MOST) continue;
                    r->mark[next] = r->stamp;
                    list[listed++] = next;
                }
        for (PliIndex k = ring == 0 ? 0 : end; k < listed; ++k) {
            const PliIndex around = list[k] - base;
            for (PliIndex u = r->user_first[around]; u < r->user_first[around + 1]; ++u) {
                const PliIndex finer = r->user[u];
                if (r->mark[finer] == r->stamp) continue;
                r->mark[finer] = r->stamp;
                add_near(near, finer, v3_distance(h->x + 3 * (size_t)finer, h->x + 3 * (size_t)node));
            }
        }
    }
}

/// The best row with nodes within `rings` for some finer node near a coarse one that lacks mass, PLI_NONE: none is better.
static PliIndex find_better(const Repair *r, PliIndex node, const PliIndex *near, PliIndex count, int rings, Row *best)
{
    PliIndex found = PLI_NONE;
    // small steps are worth their time only for what is needed
    double best_gain = rings == 1 ? 0.03 : r->mass[node] < enough * r->share[node] ? 1e-5 : 0.01;
    for (PliIndex k = 0; k < count; ++k) {
        if (!(r->mass[near[k]] > 0.0)) continue;
        const double needed = (wanted_share * r->share[node] - r->mass[node]) / r->mass[near[k]];
        for (int attempt = 0; attempt < 3; ++attempt) {
            const double part = attempt == 0 ? 0.0 : fmin(attempt == 1 ? 0.25 : 0.75, 1.2 * needed);
            Row row;
            if (!shifted_row(r, near[k], node, part, rings, &row)) continue;
            const double gain = gain_of(r, near[k], &row);
            if (gain > best_gain) best_gain = gain, *best = row, found = near[k];
        }
    }
    return found;
}

/// One better row; a wider one only where the narrow ones do not help. False: there is none.
static bool improve(Repair *r, PliIndex node, bool *no_memory)
{
    Near near;
    find_near(r, node, &near);
    Row best;
    PliIndex finer = find_better(r, node, near.node, near.count, 1, &best);
    if (finer == PLI_NONE) finer = find_better(r, node, near.node, near.count, 2, &best);
    if (finer == PLI_NONE) return false;
    const Row old = row_of(r, finer);
    move_mass(r, finer, &old, -1.0);
    if (!keep_row(r, finer, &best)) {
        *no_memory = true;
        return false;
    }
    move_mass(r, finer, &best, 1.0);
    return true;
}

static PliStatus list_users(Repair *r)
{
    const PliLevels *h = r->h;
    const PliIndex base = h->point_first[r->level], coarse = h->point_first[r->level + 1] - base;
    const PliIndex first = h->point_first[r->level + 1], last = h->point_first[r->level + 2];
    memset(r->user_first, 0, ((size_t)coarse + 1) * sizeof *r->user_first);
    for (int fill = 0; fill < 2; ++fill) {
        for (PliIndex p = last; p-- > first;)
            for (int c = 0; c < 4; ++c) {
                const PliIndex a = h->tets[4 * (size_t)h->up[p] + c] - base;
                if (fill)
                    r->user[--r->user_first[a + 1]] = p;
                else
                    r->user_first[a + 1]++;
            }
        if (!fill)
            for (PliIndex a = 0; a < coarse; ++a) r->user_first[a + 1] += r->user_first[a];
    }
    for (PliIndex a = 0; a < coarse; ++a) r->user_first[a] = r->user_first[a + 1];
    r->user_first[coarse] = 4 * (last - first);
    return PLI_OK;
}

/// Masses of the coarse level from those of the finer one; the node that has the least of its share.
static PliIndex weigh(Repair *r)
{
    const PliLevels *h = r->h;
    const PliIndex first = h->point_first[r->level], last = h->point_first[r->level + 1];
    for (PliIndex a = first; a < last; ++a) r->mass[a] = 0.0;
    for (PliIndex p = last; p < h->point_first[r->level + 2]; ++p) {
        const Row row = row_of(r, p);
        move_mass(r, p, &row, 1.0);
    }
    PliIndex least = first;
    for (PliIndex a = first; a < last; ++a)
        if (r->mass[a] / r->share[a] < r->mass[least] / r->share[least]) least = a;
    return least;
}

static PliStatus repair_level(Repair *r, PliIndex least, PliError *err)
{
    PliLevels *h = r->h;
    const PliIndex first = h->point_first[r->level], last = h->point_first[r->level + 1];
    const size_t rows_before = r->row_count;
    const double worst = r->mass[least] / r->share[least];
    const double *at = h->x + 3 * (size_t)least;
    PliIndex lacking = 0;
    for (PliIndex a = first; a < last; ++a) lacking += r->mass[a] < too_little * r->share[a];
    const PliIndex named = least - first;
    (void)list_users(r);
    bool moved = true, no_memory = false;
    for (int round = 0; round < MAX_ROUNDS && moved; ++round) {
        moved = false;
        for (PliIndex a = first; a < last && !no_memory; ++a)
            if (lack(r, a, r->mass[a]) > 0.0) moved = improve(r, a, &no_memory) || moved;
        if (no_memory) return PLI_OUT_OF_MEMORY;
    }
    least = weigh(r);
    const double left = r->mass[least] / r->share[least];
    if (!(left >= enough)) {
        const double *p = h->x + 3 * (size_t)least;
        return pli_refuse(
            err, PLI_BAD_MESH,
            "tetlod: level %d: node %u at (%.4g %.4g %.4g) would carry %.2g of its share of the mass, and level %d has "
            "no nodes near enough to repair that: make level %d coarser or level %d finer there, leave level %d "
            "out, or make the levels with pliant mesh",
            r->level, least - first, p[0], p[1], p[2], left, r->level + 1, r->level, r->level + 1, r->level);
    }
    h->repaired_nodes += lacking;
    char text[400];
    snprintf(text, sizeof text,
             "tetlod: level %d does not quite fit level %d: %u of its %u nodes would carry no mass (worst: %.2g of its "
             "share, node %u "
             "at %.4g %.4g %.4g); repaired, %zu finer nodes follow more than four nodes, and the least mass is %.2g of "
             "a share",
             r->level, r->level + 1, lacking, last - first, worst, named, at[0], at[1], at[2],
             r->row_count - rows_before, left);
    // with the share that was aimed at nothing is wrong any more: grids 2 : 3 apart need it, where finer nodes lie on the rim of
    // all a coarse one reaches. With less, substeps are shorter than the meshes ask for
    if (h->host.log) h->host.log(left >= wanted_share ? PLI_LOG_INFO : PLI_LOG_WARNING, text, h->host.user);
    return PLI_OK;
}

// ---- all levels ------------------------------------------------------------------------------------------------------------

/// Rows that were changed go behind the tetrahedra: up[node] = tet_count + row.
static PliStatus store_rows(Repair *r)
{
    PliLevels *h = r->h;
    size_t entries = 0;
    for (size_t k = 0; k < r->row_count; ++k) entries += r->row[k].count;
    h->wide_count = (PliIndex)r->row_count;
    h->wide_first = PLI_NEW(&h->host, r->row_count + 1, PliIndex);
    h->wide_node = PLI_NEW(&h->host, entries, PliIndex);
    h->wide_weight = PLI_NEW(&h->host, entries, double);
    if (!h->wide_first || !h->wide_node || !h->wide_weight) return PLI_OUT_OF_MEMORY;
    PliIndex at = 0;
    for (size_t k = 0; k < r->row_count; ++k) {
        for (PliIndex i = 0; i < r->row[k].count; ++i) {
            h->wide_node[at] = r->row[k].node[i];
            h->wide_weight[at++] = r->row[k].weight[i];
            h->worst_weight = fmin(h->worst_weight, r->row[k].weight[i]);
        }
        h->wide_first[k + 1] = at;
    }
    for (PliIndex p = 0; p < h->point_count; ++p)
        if (r->row_of[p] != PLI_NONE) h->up[p] = h->tet_count + r->row_of[p];
    return PLI_OK;
}

PliStatus pli_levels_repair(PliLevels *h, PliError *err)
{
    const size_t n = h->point_count;
    Repair r = { .h = h };
    r.mass = PLI_NEW(&h->host, n, double);
    r.share = PLI_NEW(&h->host, n, double);
    r.row_of = PLI_NEW(&h->host, n, PliIndex);
    r.user_first = PLI_NEW(&h->host, n + 1, PliIndex);
    r.user = PLI_NEW(&h->host, 4 * n, PliIndex);
    r.mark = PLI_NEW(&h->host, n, PliIndex);
    PliStatus status = r.mass && r.share && r.row_of && r.user_first && r.user && r.mark ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) {
        memset(r.row_of, 0xff, n * sizeof *r.row_of);
        for (PliIndex t = 0; t < h->tet_count; ++t)
            for (int c = 0; c < 4; ++c) r.share[h->tets[4 * (size_t)t + c]] += 0.25 * (double)h->tet_share[t];
        for (PliIndex p = h->finest_first; p < h->point_count; ++p) r.mass[p] = (double)h->point_share[p];
    }
    for (int l = h->level_count - 2; l >= 0 && status == PLI_OK; --l) {
        r.level = l;
        const PliIndex least = weigh(&r);
        if (!(r.mass[least] >= too_little * r.share[least])) status = repair_level(&r, least, err);
    }
    if (status == PLI_OK) status = store_rows(&r);
    PLI_FREE(&h->host, r.mass, n);
    PLI_FREE(&h->host, r.share, n);
    PLI_FREE(&h->host, r.row_of, n);
    PLI_FREE(&h->host, r.user_first, n + 1);
    PLI_FREE(&h->host, r.user, 4 * n);
    PLI_FREE(&h->host, r.mark, n);
    if (r.row) PLI_FREE(&h->host, r.row, r.row_capacity);
    return status;
}
