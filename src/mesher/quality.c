/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesher/quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesh/tet.h"

static int compare(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return p < q ? -1 : p > q;
}

/// Smallest of the four heights: three times the volume over the largest face.
static double altitude(const double *x, const PliIndex *c, double volume)
{
    double largest = 0.0;
    for (int f = 0; f < 4; ++f) {
        double u[3], v[3], n[3];
        const double *p = x + 3 * (size_t)c[pli_tet_face[f][0]];
        v3_sub(u, x + 3 * (size_t)c[pli_tet_face[f][1]], p);
        v3_sub(v, x + 3 * (size_t)c[pli_tet_face[f][2]], p);
        v3_cross(n, u, v);
        largest = fmax(largest, 0.5 * v3_norm(n));
    }
    return largest > 0.0 ? 3.0 * volume / largest : 0.0;
}

static double quality(const double *x, const PliIndex *c, double volume)
{
    double sum = 0.0;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j) {
            const double d = v3_distance(x + 3 * (size_t)c[i], x + 3 * (size_t)c[j]);
            sum += d * d / 6.0;
        }
    return sum > 0.0 ? 6.0 * sqrt(2.0) * volume / (sum * sqrt(sum)) : 0.0;
}

static void note_worst(PliQuality *q, PliIndex t, double h, const double *x, const PliIndex *c)
{
    int k = PLI_WORST_TETS;
    while (k > 0 && (q->worst[k - 1] == PLI_NONE || h < q->worst_altitude[k - 1])) --k;
    if (k == PLI_WORST_TETS) return;
    for (int j = PLI_WORST_TETS - 1; j > k; --j) {
        q->worst[j] = q->worst[j - 1], q->worst_altitude[j] = q->worst_altitude[j - 1];
        v3_copy(q->worst_at[j], q->worst_at[j - 1]);
    }
    q->worst[k] = t, q->worst_altitude[k] = h;
    for (int d = 0; d < 3; ++d) {
        q->worst_at[k][d] = 0.0;
        for (int i = 0; i < 4; ++i) q->worst_at[k][d] += 0.25 * x[3 * (size_t)c[i] + (size_t)d];
    }
}

bool pli_quality_find(const PliHost *host, const PliMesh *m, PliQuality *q)
{
    *q = (PliQuality){ .points = m->point_count, .tets = m->tet_count, .least_quality = INFINITY };
    for (int k = 0; k < PLI_WORST_TETS; ++k) q->worst[k] = PLI_NONE;
    double *h = m->tet_count ? PLI_NEW(host, m->tet_count, double) : NULL;
    if (!h) return false;
    for (PliIndex t = 0; t < m->tet_count; ++t) {
        const PliIndex *c = m->tets + 4 * (size_t)t;
        const double volume = pli_tet_volume6(m->x, c) / 6.0, one = quality(m->x, c, volume);
        h[t] = altitude(m->x, c, volume);
        q->volume += volume;
        q->mean_quality += one / m->tet_count;
        q->least_quality = fmin(q->least_quality, one);
        const int bin = one > 0.0 ? (int)(one * PLI_QUALITY_BINS) : 0;
        q->bins[bin < PLI_QUALITY_BINS ? bin : PLI_QUALITY_BINS - 1]++;
        note_worst(q, t, h[t], m->x, c);
    }
    qsort(h, m->tet_count, sizeof *h, compare);
    q->least_altitude = h[0], q->median_altitude = h[m->tet_count / 2];
    while (q->slivers < m->tet_count && h[q->slivers] < 0.25 * q->median_altitude) q->slivers++;
    PLI_FREE(host, h, m->tet_count);
    return true;
}

double pli_quality_cost(const PliQuality *q) { return fmax(1.0, 0.25 * q->median_altitude / q->least_altitude); }
