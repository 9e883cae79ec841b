/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/tetlod/weightfit.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

enum { ROUNDS = 12, ITERATIONS = 1500 };
static const double lowest = -0.8; // a weight keeps at least a fifth of itself

typedef struct Block {
    void **array;
    size_t count, size;
} Block;
enum { BLOCKS = 14 };

static void blocks_of(PliWeightFit *f, Block out[BLOCKS])
{
    const size_t n = f->h->point_count, t = f->h->tet_count, rows = 3 * n + 1;
#define LIST(field, length)                                                                                            \
    {                                                                                                                  \
        (void **)&f->field, (length), sizeof *f->field                                                                 \
    }
    const Block all[BLOCKS] = { LIST(row_of, n),
                                LIST(near, n),
                                LIST(zone, t),
                                LIST(first, t + 1),
                                LIST(column, f->entry_capacity),
                                LIST(entry, 3 * f->entry_capacity),
                                LIST(scale, t),
                                LIST(change, t),
                                LIST(bound, t),
                                LIST(descent, t),
                                LIST(direction, t),
                                LIST(r, rows),
                                LIST(q, rows),
                                LIST(diagonal, rows) };
#undef LIST
    memcpy(out, all, sizeof all);
}

void pli_weightfit_destroy(PliWeightFit *f)
{
    if (!f) return;
    Block block[BLOCKS];
    blocks_of(f, block);
    for (int i = 0; i < BLOCKS; ++i) pli_free(&f->host, *block[i].array, block[i].count, block[i].size);
    PliHost host = f->host;
    PLI_FREE(&host, f, 1);
}

PliWeightFit *pli_weightfit_create(const PliHost *host, const PliLevels *levels, const double *grad, size_t stride)
{
    PliWeightFit *f = PLI_NEW(host, 1, PliWeightFit);
    if (!f) return NULL;
    f->host = *host, f->h = levels, f->grad = grad, f->stride = stride;
    f->entry_capacity = 24 * (size_t)levels->tet_count;
    Block block[BLOCKS];
    blocks_of(f, block);
    for (int i = 0; i < BLOCKS; ++i) {
        *block[i].array = pli_alloc(host, block[i].count, block[i].size);
        if (!*block[i].array) {
            pli_weightfit_destroy(f);
            return NULL;
        }
    }
    return f;
}

/// Constraints: active nodes that nothing on the outer surface leans on. (On the surface the integral is not zero anyway.)
static void choose_rows(PliWeightFit *f, const PliActiveSet *s)
{
    memset(f->row_of, 0xff, f->h->point_count * sizeof *f->row_of);
    for (PliIndex i = 0; i < s->active_count; ++i)
        if (!f->h->on_surface[s->active[i]]) f->row_of[s->active[i]] = 0;
    for (PliIndex i = 0; i < s->slave_count; ++i) {
        const PliIndex node = s->slave[i];
        if (!f->h->on_surface[node]) continue;
        for (PliIndex k = s->row_first[node]; k < s->row_first[node] + s->row_count[node]; ++k)
            f->row_of[s->column[k]] = PLI_NONE;
    }
    f->row_count = 0;
    for (PliIndex i = 0; i < s->active_count; ++i)
        if (f->row_of[s->active[i]] != PLI_NONE) f->row_of[s->active[i]] = f->row_count++;
}

static void corner_gradient(const PliWeightFit *f, PliIndex tet, int corner, double g[3])
{
    const double *grad = f->grad + f->stride * tet;
    for (int d = 0; d < 3; ++d) g[d] = corner ? grad[3 * (corner - 1) + d] : -(grad[d] + grad[3 + d] + grad[6 + d]);
}

/// Calls for every (active node, gradient part) of one element; adds up where corners share a node.
static PliIndex element_entries(const PliWeightFit *f, const PliActiveSet *s, PliIndex tet, PliIndex *column,
                                double *entry, PliIndex capacity)
{
    PliIndex n = 0;
    for (int c = 0; c < 4; ++c) {
        double g[3];
        corner_gradient(f, tet, c, g);
        const PliIndex node = f->h->tets[4 * (size_t)tet + c], first = s->row_first[node];
        for (PliIndex k = first; k < first + s->row_count[node]; ++k) {
            const PliIndex row = f->row_of[s->column[k]];
            if (row == PLI_NONE) continue;
            PliIndex at = 0;
            while (at < n && column[at] != row) ++at;
            if (at == n) {
                if (n == capacity) return PLI_NONE;
                column[n] = row;
                entry[3 * n] = entry[3 * n + 1] = entry[3 * n + 2] = 0.0;
                n++;
            }
            v3_madd(entry + 3 * at, s->weight[k], g);
        }
    }
    return n;
}

/// Where levels meet: a corner follows others, or part of the tetrahedron is covered by finer ones.
static bool is_at_switch(const PliActiveSet *s, PliIndex tet, double volume)
{
    for (int c = 0; c < 4; ++c)
        if (s->state[s->h->tets[4 * (size_t)tet + c]] != PLI_ACTIVE) return true;
    return volume < (1.0 - 1e-9) * (double)s->h->tet_share[tet] * s->h->unit;
}

/// The zone: tetrahedra where levels meet, and one ring around them.
static void mark_zone(PliWeightFit *f, const PliActiveSet *s, const double *volume)
{
    memset(f->near, 0, f->h->point_count);
    for (PliIndex i = 0; i < s->element_count; ++i)
        for (int c = 0; c < 4 && is_at_switch(s, s->element[i], volume[i]); ++c)
            f->near[f->h->tets[4 * (size_t)s->element[i] + c]] = 1;
}

static bool is_in_zone(const PliWeightFit *f, PliIndex tet)
{
    const PliIndex *c = f->h->tets + 4 * (size_t)tet;
    return f->near[c[0]] || f->near[c[1]] || f->near[c[2]] || f->near[c[3]];
}

/// y = A y' for the free zone elements: rows gather scale * change * entry.
static void gather(const PliWeightFit *f, const double *unknown, double *rows)
{
    memset(rows, 0, (3 * (size_t)f->row_count + 1) * sizeof *rows);
    for (PliIndex z = 0; z < f->zone_count; ++z) {
        if (f->bound[z]) continue;
        const double y = f->scale[z] * unknown[z];
        for (PliIndex k = f->first[z]; k < f->first[z + 1]; ++k)
            v3_madd(rows + 3 * (size_t)f->column[k], y, f->entry + 3 * (size_t)k);
        rows[3 * (size_t)f->row_count] += y;
    }
}

static void scatter(const PliWeightFit *f, const double *rows, double *unknown)
{
    for (PliIndex z = 0; z < f->zone_count; ++z) {
        double sum = rows[3 * (size_t)f->row_count];
        for (PliIndex k = f->first[z]; k < f->first[z + 1]; ++k)
            sum += v3_dot(rows + 3 * (size_t)f->column[k], f->entry + 3 * (size_t)k);
        unknown[z] = f->bound[z] ? 0.0 : f->scale[z] * sum;
    }
}

/// Least-norm least-squares solution of A y = -r by conjugate gradients on the normal equations (CGLS), rows scaled to unit diagonal:
/// also right when some rows cannot be met together. y goes to `change`.
static void solve(PliWeightFit *f)
{
    const size_t n = 3 * (size_t)f->row_count + 1;
    double *residual = f->r, *q = f->q, *d = f->diagonal;
    memset(d, 0, n * sizeof *d);
    for (PliIndex z = 0; z < f->zone_count; ++z) {
        if (f->bound[z]) continue;
        const double w = f->scale[z] * f->scale[z];
        for (PliIndex k = f->first[z]; k < f->first[z + 1]; ++k)
            for (int i = 0; i < 3; ++i)
                d[3 * (size_t)f->column[k] + i] += w * f->entry[3 * (size_t)k + i] * f->entry[3 * (size_t)k + i];
        d[n - 1] += w;
    }
    // a row no free element can change stays out
    for (size_t i = 0; i < n; ++i) d[i] = d[i] > 0.0 ? 1.0 / sqrt(d[i]) : 0.0;
    for (size_t i = 0; i < n; ++i) residual[i] *= -d[i];
    double *gradient = f->descent, *direction = f->direction;
    for (size_t i = 0; i < n; ++i) q[i] = d[i] * residual[i];
    scatter(f, q, gradient);
    double gg = 0.0;
    for (PliIndex z = 0; z < f->zone_count; ++z) {
        f->change[z] = 0.0;
        direction[z] = gradient[z];
        gg += gradient[z] * gradient[z];
    }
    double start = 0.0, left = 0.0;
    for (size_t i = 0; i < n; ++i) start += residual[i] * residual[i];
    left = start;
    for (int iteration = 0; iteration < ITERATIONS && left > 1e-28 * start && gg > 1e-24 * start; ++iteration) {
        gather(f, direction, q);
        double qq = 0.0;
        for (size_t i = 0; i < n; ++i) q[i] *= d[i], qq += q[i] * q[i];
        if (!(qq > 0.0)) break;
        const double alpha = gg / qq;
        for (PliIndex z = 0; z < f->zone_count; ++z) f->change[z] += alpha * direction[z];
        left = 0.0;
        for (size_t i = 0; i < n; ++i) {
            residual[i] -= alpha * q[i];
            left += residual[i] * residual[i];
            q[i] = d[i] * residual[i];
        }
        scatter(f, q, gradient);
        double next = 0.0;
        for (PliIndex z = 0; z < f->zone_count; ++z) next += gradient[z] * gradient[z];
        const double beta = next / gg;
        gg = next;
        for (PliIndex z = 0; z < f->zone_count; ++z) direction[z] = gradient[z] + beta * direction[z];
    }
}

void pli_weightfit_apply(PliWeightFit *f, const PliActiveSet *s, double *volume)
{
    const PliLevels *h = f->h;
    choose_rows(f, s);
    f->residual = 0.0;
    if (f->row_count == 0 || s->slave_count == 0) return;
    mark_zone(f, s, volume);
    f->zone_count = 0;
    f->first[0] = 0;
    for (PliIndex i = 0; i < s->element_count; ++i) {
        if (!is_in_zone(f, s->element[i])) continue;
        const PliIndex at = f->first[f->zone_count];
        const PliIndex n = element_entries(f, s, s->element[i], f->column + at, f->entry + 3 * (size_t)at,
                                           (PliIndex)(f->entry_capacity - at));
        if (n == PLI_NONE) {
            f->skipped++;
            return;
        }
        f->scale[f->zone_count] = volume[i];
        f->bound[f->zone_count] = 0;
        f->zone[f->zone_count++] = i;
        f->first[f->zone_count] = at + n;
    }
    const double size = cbrt(h->volume / (double)s->active_count);
    for (int round = 0; round < ROUNDS; ++round) {
        // what all elements integrate to now; elements outside the zone count as well
        memset(f->r, 0, (3 * (size_t)f->row_count + 1) * sizeof *f->r);
        double total = 0.0;
        for (PliIndex i = 0; i < s->element_count; ++i) {
            total += volume[i];
            for (int c = 0; c < 4; ++c) {
                double g[3];
                corner_gradient(f, s->element[i], c, g);
                const PliIndex node = h->tets[4 * (size_t)s->element[i] + c], first = s->row_first[node];
                for (PliIndex k = first; k < first + s->row_count[node]; ++k) {
                    const PliIndex row = f->row_of[s->column[k]];
                    if (row != PLI_NONE) v3_madd(f->r + 3 * (size_t)row, volume[i] * s->weight[k], g);
                }
            }
        }
        f->r[3 * (size_t)f->row_count] = total - h->volume;
        f->residual = 0.0;
        for (size_t i = 0; i < 3 * (size_t)f->row_count; ++i)
            f->residual = fmax(f->residual, fabs(f->r[i]) / (size * size));
        if (f->residual < 1e-13) return;
        solve(f);
        // the free ones that would fall below their bound stay there from now on
        for (PliIndex z = 0; z < f->zone_count; ++z) {
            const double whole = f->scale[z];
            double next = volume[f->zone[z]] + f->scale[z] * f->change[z];
            if (!f->bound[z] && next < (1.0 + lowest) * whole) next = (1.0 + lowest) * whole, f->bound[z] = 1;
            volume[f->zone[z]] = next;
        }
    }
}
