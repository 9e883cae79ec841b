/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/nearest.h"

#include <math.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/vec.h"

static PliIndex cell_coordinate(const PliNearest *n, double p, int d)
{
    const double c = floor((p - n->min[d]) / n->width);
    if (!(c > 0.0)) return 0;
    return c >= (double)n->cells[d] ? n->cells[d] - 1 : (PliIndex)c;
}

static size_t cell_of(const PliNearest *n, const double p[3])
{
    const PliIndex i = cell_coordinate(n, p[0], 0), j = cell_coordinate(n, p[1], 1), k = cell_coordinate(n, p[2], 2);
    return ((size_t)k * n->cells[1] + j) * n->cells[0] + i;
}

PliStatus pli_nearest_init(PliNearest *n, const PliHost *host, const double *x, PliIndex count)
{
    PLI_ASSERT(count > 0, "nearest of no points");
    *n = (PliNearest){ .host = *host, .x = x, .count = count, .cells = { 1, 1, 1 } };
    double max[3];
    v3_copy(n->min, x), v3_copy(max, x);
    for (PliIndex i = 1; i < count; ++i)
        for (int d = 0; d < 3; ++d) {
            n->min[d] = fmin(n->min[d], x[3 * (size_t)i + d]);
            max[d] = fmax(max[d], x[3 * (size_t)i + d]);
        }
    double longest = 0.0;
    for (int d = 0; d < 3; ++d) longest = fmax(longest, max[d] - n->min[d]);
    // flat sets would give empty directions: keep every extent above a thousandth of the longest
    double box = 1.0;
    for (int d = 0; d < 3; ++d) box *= fmax(max[d] - n->min[d], 1e-3 * longest);
    n->width = cbrt(box / (double)count);
    if (!(n->width > 0.0)) n->width = 1.0;
    for (int d = 0; d < 3; ++d) {
        const double cells = floor((max[d] - n->min[d]) / n->width) + 1.0;
        n->cells[d] = cells < 512.0 ? (PliIndex)cells : 512;
    }
    // a clamped direction needs wider cells, so that cell_coordinate stays monotone and rings stay valid
    for (int d = 0; d < 3; ++d) n->width = fmax(n->width, (max[d] - n->min[d]) / (double)n->cells[d]);

    const size_t cells = (size_t)n->cells[0] * n->cells[1] * n->cells[2];
    n->cell_first = PLI_NEW(host, cells + 1, PliIndex);
    n->point = PLI_NEW(host, count, PliIndex);
    if (!n->cell_first || !n->point) {
        pli_nearest_free(n);
        return PLI_OUT_OF_MEMORY;
    }
    for (PliIndex i = 0; i < count; ++i) n->cell_first[cell_of(n, x + 3 * (size_t)i) + 1]++;
    for (size_t c = 0; c < cells; ++c) n->cell_first[c + 1] += n->cell_first[c];
    for (PliIndex i = count; i-- > 0;) n->point[--n->cell_first[cell_of(n, x + 3 * (size_t)i) + 1]] = i;
    // the loop above used entry c+1 as the end of cell c; it is now its start, so shift back by one
    for (size_t c = 0; c < cells; ++c) n->cell_first[c] = n->cell_first[c + 1];
    n->cell_first[cells] = count;
    return PLI_OK;
}

void pli_nearest_free(PliNearest *n)
{
    if (!n->x) return;
    PLI_FREE(&n->host, n->cell_first, (size_t)n->cells[0] * n->cells[1] * n->cells[2] + 1);
    PLI_FREE(&n->host, n->point, n->count);
    *n = (PliNearest){ 0 };
}

PliIndex pli_nearest_find(const PliNearest *n, const double p[3], bool (*accept)(PliIndex i, void *user), void *user)
{
    long centre[3], last = 0;
    for (int d = 0; d < 3; ++d) {
        centre[d] = (long)cell_coordinate(n, p[d], d);
        if ((long)n->cells[d] > last) last = (long)n->cells[d];
    }
    PliIndex best = PLI_NONE;
    double best_distance = INFINITY;
    for (long ring = 0; ring <= last; ++ring) {
        // cells at Chebyshev distance `ring` from the (clamped) centre are at least (ring - 1) widths away from p
        if (best != PLI_NONE && best_distance < n->width * (double)(ring - 1)) break;
        for (long k = centre[2] - ring; k <= centre[2] + ring; ++k) {
            if (k < 0 || k >= (long)n->cells[2]) continue;
            for (long j = centre[1] - ring; j <= centre[1] + ring; ++j) {
                if (j < 0 || j >= (long)n->cells[1]) continue;
                const bool shell =
                    k == centre[2] - ring || k == centre[2] + ring || j == centre[1] - ring || j == centre[1] + ring;
                const long stride = shell || ring == 0 ? 1 : 2 * ring;
                for (long i = centre[0] - ring; i <= centre[0] + ring; i += stride) {
                    if (i < 0 || i >= (long)n->cells[0]) continue;
                    const size_t c = ((size_t)k * n->cells[1] + (size_t)j) * n->cells[0] + (size_t)i;
                    for (PliIndex q = n->cell_first[c]; q < n->cell_first[c + 1]; ++q) {
                        const PliIndex candidate = n->point[q];
                        const double distance = v3_distance(p, n->x + 3 * (size_t)candidate);
                        if (distance > best_distance || (distance == best_distance && candidate > best)) continue;
                        if (accept && !accept(candidate, user)) continue;
                        best = candidate, best_distance = distance;
                    }
                }
            }
        }
    }
    return best;
}

void pli_nearest_within(const PliNearest *n, const double p[3], double radius, void (*fn)(PliIndex i, void *user),
                        void *user)
{
    PliIndex lo[3], hi[3];
    for (int d = 0; d < 3; ++d) {
        lo[d] = cell_coordinate(n, p[d] - radius, d);
        hi[d] = cell_coordinate(n, p[d] + radius, d);
    }
    for (PliIndex k = lo[2]; k <= hi[2]; ++k)
        for (PliIndex j = lo[1]; j <= hi[1]; ++j)
            for (PliIndex i = lo[0]; i <= hi[0]; ++i) {
                const size_t c = ((size_t)k * n->cells[1] + j) * n->cells[0] + i;
                for (PliIndex q = n->cell_first[c]; q < n->cell_first[c + 1]; ++q)
                    if (v3_distance(p, n->x + 3 * (size_t)n->point[q]) <= radius) fn(n->point[q], user);
            }
}
