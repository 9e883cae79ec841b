/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/components/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fold.h"
#include "base/vec.h"

PliGap pli_gap(const double *a, const double *b, const double *weight, PliIndex count)
{
    PliGap gap = { 0.0, 0.0 };
    double sum = 0.0, weights = 0.0;
    for (PliIndex i = 0; i < count; ++i) {
        const double w = weight ? weight[i] : 1.0;
        if (!(w > 0.0)) continue;
        double d[3];
        v3_sub(d, a + 3 * (size_t)i, b + 3 * (size_t)i);
        const double square = v3_dot(d, d);
        sum += w * square;
        weights += w;
        if (square > gap.max || isnan(square)) gap.max = square; // a NaN must show, and stays
    }
    if (weights > 0.0) gap.rms = sqrt(sum / weights);
    gap.max = sqrt(gap.max);
    return gap;
}

void pli_point_areas(const double *x, PliIndex count, const PliIndex *tris, PliIndex tri_count, double *area)
{
    memset(area, 0, (size_t)count * sizeof *area);
    for (size_t t = 0; t < tri_count; ++t) {
        const PliIndex *tri = tris + 3 * t;
        double ab[3], ac[3], n[3];
        v3_sub(ab, x + 3 * (size_t)tri[1], x + 3 * (size_t)tri[0]);
        v3_sub(ac, x + 3 * (size_t)tri[2], x + 3 * (size_t)tri[0]);
        v3_cross(n, ab, ac);
        for (int k = 0; k < 3; ++k) area[tri[k]] += v3_norm(n) / 6.0;
    }
}

// ---- series -------------------------------------------------------------------------------------------------------------

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

PliSpread pli_spread(const double *value, size_t count, double *scratch)
{
    PliSpread s = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < count; ++i)
        if (isfinite(value[i])) scratch[n++] = value[i];
    if (n == 0) return s;
    qsort(scratch, n, sizeof *scratch, by_value);
    s.min = scratch[0];
    s.max = scratch[n - 1];
    s.median = n % 2 ? scratch[n / 2] : 0.5 * (scratch[n / 2 - 1] + scratch[n / 2]);
    size_t rank = (size_t)ceil(0.99 * (double)n);
    s.p99 = scratch[rank > 0 ? rank - 1 : 0];
    for (size_t i = 0; i < n; ++i) s.mean += scratch[i];
    s.mean /= (double)n;
    return s;
}

void pli_histogram(const double *value, size_t count, double low, double high, int bins, size_t *counts)
{
    memset(counts, 0, (size_t)bins * sizeof *counts);
    if (!(high > low)) return;
    for (size_t i = 0; i < count; ++i) {
        if (!(value[i] >= low && value[i] <= high)) continue;
        const int k = (int)((value[i] - low) / (high - low) * bins);
        counts[k < bins ? k : bins - 1]++;
    }
}

void pli_pareto(const double *cost, const double *error, int count, bool *best)
{
    for (int i = 0; i < count; ++i) {
        best[i] = isfinite(cost[i]) && isfinite(error[i]);
        for (int k = 0; k < count && best[i]; ++k) {
            const bool no_worse = cost[k] <= cost[i] && error[k] <= error[i];
            if (no_worse && (cost[k] < cost[i] || error[k] < error[i])) best[i] = false;
        }
    }
}
