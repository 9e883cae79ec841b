/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hierarchy/weightfit.h"

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
enum { BLOCKS = 13 };

static void blocks_of(PliWeightFit *f, Block out[BLOCKS])
{
    const size_t n = f->h->point_count, t = f->h->tet_count, rows = 3 * n + 1;
#define LIST(field, length) { (void **)&f->field, (length), sizeof *f->field }
    const Block all[BLOCKS] = { LIST(row_of, n),   LIST(zone, t),     LIST(first, t + 1), LIST(column, f->entry_capacity), LIST(entry, 3 * f->entry_capacity),
                                LIST(scale, t),    LIST(change, t),   LIST(bound, t),     LIST(lambda, rows),              LIST(r, rows),
                                LIST(p, rows),     LIST(q, rows),     LIST(diagonal, rows) };
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
        for (PliIndex k = s->row_first[node]; k < s->row_first[node] + s->row_count[node]; ++k) f->row_of[s->column[k]] = PLI_NONE;
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
static PliIndex element_entries(const PliWeightFit *f, const PliActiveSet *s, PliIndex tet, PliIndex *column, double *entry, PliIndex capacity)
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

static bool touches_slave(const PliActiveSet *s, PliIndex tet)
{
    for (int c = 0; c < 4; ++c)
        if (s->state[s->h->tets[4 * (size_t)tet + c]] != PLI_ACTIVE) return true;
    return false;
}

/// y = A y' for the free zone elements: rows gather scale * change * entry.
static void gather(const PliWeightFit *f, const double *unknown, double *rows)
{
    memset(rows, 0, (3 * (size_t)f->row_count + 1) * sizeof *rows);
    for (PliIndex z = 0; z < f->zone_count; ++z) {
        if (f->bound[z]) continue;
        const double y = f->scale[z] * unknown[z];
        for (PliIndex k = f->first[z]; k < f->first[z + 1]; ++k) v3_madd(rows + 3 * (size_t)f->column[k], y, f->entry + 3 * (size_t)k);
        rows[3 * (size_t)f->row_count] += y;
    }
}

static void scatter(const PliWeightFit *f, const double *rows, double *unknown)
{
    for (PliIndex z = 0; z < f->zone_count; ++z) {
        double sum = rows[3 * (size_t)f->row_count];
        for (PliIndex k = f->first[z]; k < f->first[z + 1]; ++k) sum += v3_dot(rows + 3 * (size_t)f->column[k], f->entry + 3 * (size_t)k);
        unknown[z] = f->bound[z] ? 0.0 : f->scale[z] * sum;
    }
}

/// Least-norm solution of A y = -r by conjugate gradients on A A^T with its diagonal; r is what is left, and lambda is used up.
static void solve(PliWeightFit *f, double size)
{
    const size_t n = 3 * (size_t)f->row_count + 1;
    double *residual = f->r, *p = f->p, *q = f->q, *d = f->diagonal, largest = 0.0;
    memset(d, 0, n * sizeof *d);
    for (PliIndex z = 0; z < f->zone_count; ++z) {
        if (f->bound[z]) continue;
        const double w = f->scale[z] * f->scale[z];
        for (PliIndex k = f->first[z]; k < f->first[z + 1]; ++k)
            for (int i = 0; i < 3; ++i) d[3 * (size_t)f->column[k] + i] += w * f->entry[3 * (size_t)k + i] * f->entry[3 * (size_t)k + i];
        d[n - 1] += w;
    }
    // rows no free element can change (their integral is right, or cannot be helped) stay out
    for (size_t i = 0; i < n; ++i) largest = fmax(largest, d[i] * (i + 1 == n ? 1.0 / (size * size) : 1.0));
    for (size_t i = 0; i < n; ++i) d[i] = d[i] > 1e-12 * largest ? 1.0 / d[i] : 0.0;
    memset(f->lambda, 0, n * sizeof *f->lambda);
    for (size_t i = 0; i < n; ++i) residual[i] = d[i] == 0.0 ? 0.0 : -residual[i];
    double rz = 0.0, start;
    for (size_t i = 0; i < n; ++i) p[i] = d[i] * residual[i], rz += p[i] * residual[i];
    start = rz;
    for (int iteration = 0; iteration < ITERATIONS && rz > 1e-26 * start && rz > 0.0; ++iteration) {
        scatter(f, p, f->change);
        gather(f, f->change, q);
        double pq = 0.0;
        for (size_t i = 0; i < n; ++i) pq += p[i] * q[i];
        if (!(pq > 0.0)) break;
        const double alpha = rz / pq;
        double next = 0.0;
        for (size_t i = 0; i < n; ++i) {
            f->lambda[i] += alpha * p[i];
            residual[i] -= alpha * (d[i] == 0.0 ? 0.0 : q[i]);
            next += d[i] * residual[i] * residual[i];
        }
        const double beta = next / rz;
        rz = next;
        for (size_t i = 0; i < n; ++i) p[i] = d[i] * residual[i] + beta * p[i];
    }
    scatter(f, f->lambda, f->change);
}

void pli_weightfit_apply(PliWeightFit *f, const PliActiveSet *s, double *volume)
{
    const PliLevels *h = f->h;
    choose_rows(f, s);
    f->residual = 0.0;
    if (f->row_count == 0 || s->slave_count == 0) return;
    f->zone_count = 0;
    f->first[0] = 0;
    for (PliIndex i = 0; i < s->element_count; ++i) {
        if (!touches_slave(s, s->element[i])) continue;
        const PliIndex at = f->first[f->zone_count];
        const PliIndex n = element_entries(f, s, s->element[i], f->column + at, f->entry + 3 * (size_t)at, (PliIndex)(f->entry_capacity - at));
        if (n == PLI_NONE) {
            f->skipped++;
            return;
        }
        f->scale[f->zone_count] = sqrt(volume[i]);
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
        for (size_t i = 0; i < 3 * (size_t)f->row_count; ++i) f->residual = fmax(f->residual, fabs(f->r[i]) / (size * size));
        if (f->residual < 1e-13) return;
        solve(f, size);
        // the free ones that would fall below their bound stay there from now on
        for (PliIndex z = 0; z < f->zone_count; ++z) {
            const double whole = f->scale[z] * f->scale[z];
            double next = volume[f->zone[z]] + f->scale[z] * f->change[z];
            if (!f->bound[z] && next < (1.0 + lowest) * whole) next = (1.0 + lowest) * whole, f->bound[z] = 1;
            volume[f->zone[z]] = next;
        }
    }
}
