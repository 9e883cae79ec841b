/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// How much of the body each tetrahedron of a level stands for in the tetrahedra of the next coarser level.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/tetlod/levels.h"
#include "mesh/tet.h"

// ---- two tetrahedra --------------------------------------------------------------------------------------------------

typedef struct Plane {
    double normal[3], offset; ///< inside: normal . p + offset >= 0
} Plane;

static void tet_planes(const double a[12], Plane out[4])
{
    for (int f = 0; f < 4; ++f) {
        const double *p = a + 3 * pli_tet_face[f][0], *q = a + 3 * pli_tet_face[f][1], *r = a + 3 * pli_tet_face[f][2];
        double u[3], v[3];
        v3_sub(u, r, p), v3_sub(v, q, p); // inward: the faces are listed as seen from outside
        v3_cross(out[f].normal, u, v);
        const double length = v3_norm(out[f].normal);
        v3_scale(out[f].normal, 1.0 / length);
        out[f].offset = -v3_dot(out[f].normal, p);
    }
}

static double volume_of(const double t[12])
{
    static const PliIndex order[4] = { 0, 1, 2, 3 };
    return fabs(pli_tet_volume6(t, order)) / 6.0;
}

static void cross_point(double r[3], const double a[3], double da, const double b[3], double db)
{
    const double s = da / (da - db);
    for (int d = 0; d < 3; ++d) r[d] = a[d] + s * (b[d] - a[d]);
}

/// Volume of t inside the planes [from, 4). A plane cuts a tetrahedron into one tetrahedron or into wedges of three.
static double clip(const double t[12], const Plane *planes, int from)
{
    double d[4];
    for (; from < 4; ++from) {
        int inside = 0, outside = 0;
        for (int c = 0; c < 4; ++c) {
            d[c] = v3_dot(planes[from].normal, t + 3 * c) + planes[from].offset;
            inside += d[c] > 0.0, outside += d[c] < 0.0;
        }
        if (inside == 0) return 0.0;
        if (outside > 0) break;
    }
    if (from == 4) return volume_of(t);

    int in[4], out[4], n = 0, m = 0;
    for (int c = 0; c < 4; ++c)
        if (d[c] > 0.0)
            in[n++] = c;
        else
            out[m++] = c;
    double q[12], w[6][3]; // q: one tetrahedron; w: a wedge, triangle 0 1 2 joined to 3 4 5
    if (n == 1) {
        v3_copy(q, t + 3 * in[0]);
        for (int k = 0; k < 3; ++k) cross_point(q + 3 + 3 * k, t + 3 * in[0], d[in[0]], t + 3 * out[k], d[out[k]]);
        return clip(q, planes, from + 1);
    }
    if (n == 3) {
        for (int k = 0; k < 3; ++k) {
            v3_copy(w[k], t + 3 * in[k]);
            cross_point(w[3 + k], t + 3 * in[k], d[in[k]], t + 3 * out[0], d[out[0]]);
        }
    } else {
        for (int k = 0; k < 2; ++k) {
            v3_copy(w[3 * k], t + 3 * in[k]);
            for (int e = 0; e < 2; ++e)
                cross_point(w[3 * k + 1 + e], t + 3 * in[k], d[in[k]], t + 3 * out[e], d[out[e]]);
        }
    }
    static const int part[3][4] = { { 0, 1, 2, 3 }, { 1, 2, 3, 4 }, { 2, 3, 4, 5 } };
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        for (int c = 0; c < 4; ++c) v3_copy(q + 3 * c, w[part[k][c]]);
        sum += clip(q, planes, from + 1);
    }
    return sum;
}

double pli_tet_overlap(const double a[12], const double b[12])
{
    Plane planes[4];
    tet_planes(a, planes);
    return clip(b, planes, 0);
}

// ---- candidates: a grid of boxes over one level ------------------------------------------------------------------------

typedef struct Boxes {
    double min[3], width;
    long cells[3];
    PliIndex *first, *tet;
    size_t cell_count, entry_count;
} Boxes;

static void corners_of(const PliLevels *h, PliIndex tet, double out[12])
{
    for (int c = 0; c < 4; ++c) v3_copy(out + 3 * c, h->x + 3 * (size_t)h->tets[4 * (size_t)tet + c]);
}

static void reach_of(const double t[12], double min[3], double max[3])
{
    for (int d = 0; d < 3; ++d) {
        min[d] = max[d] = t[d];
        for (int c = 3 + d; c < 12; c += 3) {
            if (t[c] < min[d]) min[d] = t[c];
            if (t[c] > max[d]) max[d] = t[c];
        }
    }
}

/// Whether a plane across an axis has t on one side of it and what reaches from min to max on the other.
static bool is_beside(const double t[12], const double min[3], const double max[3])
{
    double a[3], b[3];
    reach_of(t, a, b);
    return a[0] >= max[0] || b[0] <= min[0] || a[1] >= max[1] || b[1] <= min[1] || a[2] >= max[2] || b[2] <= min[2];
}

static void cells_of(const Boxes *g, const double t[12], long lo[3], long hi[3])
{
    double a[3], b[3];
    reach_of(t, a, b);
    for (int d = 0; d < 3; ++d) {
        lo[d] = (long)floor((a[d] - g->min[d]) / g->width), hi[d] = (long)floor((b[d] - g->min[d]) / g->width);
        if (lo[d] < 0) lo[d] = 0;
        if (hi[d] >= g->cells[d]) hi[d] = g->cells[d] - 1;
    }
}

static PliStatus boxes_init(Boxes *g, const PliLevels *h, int level)
{
    *g = (Boxes){ 0 };
    const PliIndex p0 = h->point_first[level], p1 = h->point_first[level + 1], t0 = h->tet_first[level],
                   t1 = h->tet_first[level + 1];
    double max[3], mean = 0.0;
    v3_copy(g->min, h->x + 3 * (size_t)p0), v3_copy(max, g->min);
    for (PliIndex p = p0; p < p1; ++p) {
        for (int d = 0; d < 3; ++d) {
            g->min[d] = fmin(g->min[d], h->x[3 * (size_t)p + d]);
            max[d] = fmax(max[d], h->x[3 * (size_t)p + d]);
        }
        mean += h->size[p];
    }
    mean /= (double)(p1 - p0);
    g->width = mean;
    for (int d = 0; d < 3; ++d) g->width = fmax(g->width, (max[d] - g->min[d]) / 256.0);
    g->cell_count = 1;
    for (int d = 0; d < 3; ++d) {
        g->cells[d] = (long)floor((max[d] - g->min[d]) / g->width) + 1;
        g->cell_count *= (size_t)g->cells[d];
    }
    g->first = PLI_NEW(&h->host, g->cell_count + 1, PliIndex);
    if (!g->first) return PLI_OUT_OF_MEMORY;
    for (int fill = 0; fill < 2; ++fill) {
        for (PliIndex t = t1; t-- > t0;) {
            double x[12];
            long lo[3], hi[3];
            corners_of(h, t, x);
            cells_of(g, x, lo, hi);
            for (long k = lo[2]; k <= hi[2]; ++k)
                for (long j = lo[1]; j <= hi[1]; ++j)
                    for (long i = lo[0]; i <= hi[0]; ++i) {
                        const size_t c =
                            ((size_t)k * (size_t)g->cells[1] + (size_t)j) * (size_t)g->cells[0] + (size_t)i;
                        if (fill)
                            g->tet[--g->first[c + 1]] = t;
                        else
                            g->first[c + 1]++;
                    }
        }
        if (fill) break;
        for (size_t c = 0; c < g->cell_count; ++c) g->first[c + 1] += g->first[c];
        g->entry_count = g->first[g->cell_count];
        g->tet = PLI_NEW(&h->host, g->entry_count, PliIndex);
        if (!g->tet) return PLI_OUT_OF_MEMORY;
    }
    for (size_t c = 0; c < g->cell_count; ++c) g->first[c] = g->first[c + 1];
    g->first[g->cell_count] = (PliIndex)g->entry_count;
    return PLI_OK;
}

static void boxes_free(Boxes *g, const PliHost *host)
{
    PLI_FREE(host, g->first, g->cell_count + 1);
    PLI_FREE(host, g->tet, g->entry_count);
}

// ---- pairs of one fine and one coarse level --------------------------------------------------------------------------

typedef struct Pair {
    PliIndex fine, coarse;
    double volume;
} Pair;
typedef struct Pairs {
    Pair *pair;
    size_t count, capacity;
} Pairs;

static bool push_pair(const PliHost *host, Pairs *p, PliIndex fine, PliIndex coarse, double volume)
{
    if (!PLI_GROW(host, p->pair, p->count, p->capacity)) return false;
    p->pair[p->count++] = (Pair){ fine, coarse, volume };
    return true;
}

static void middle_of(const PliLevels *h, PliIndex t, double c[3])
{
    double x[12];
    corners_of(h, t, x);
    for (int d = 0; d < 3; ++d) c[d] = 0.25 * (x[d] + x[3 + d] + x[6 + d] + x[9 + d]);
}

/// The tetrahedron of a level whose middle is nearest to that of t: for what lies outside the other mesh altogether. Rare, so plain.
static PliIndex nearest_tet(const PliLevels *h, int level, PliIndex t)
{
    PliIndex best = h->tet_first[level];
    double distance = INFINITY, p[3], c[3];
    middle_of(h, t, p);
    for (PliIndex u = best; u < h->tet_first[level + 1]; ++u) {
        middle_of(h, u, c);
        const double r = v3_distance(c, p);
        if (r < distance) distance = r, best = u;
    }
    return best;
}

/// All overlaps of level `fine` with the one above it, in order of the fine tetrahedron; `common` is their sum.
static PliStatus find_pairs(PliLevels *h, int fine, Pairs *pairs, double *common)
{
    Boxes grid;
    PliIndex *mark = PLI_NEW(&h->host, h->tet_count, PliIndex);
    PliStatus status = boxes_init(&grid, h, fine - 1);
    if (!mark) status = PLI_OUT_OF_MEMORY;
    for (PliIndex t = h->tet_first[fine]; status == PLI_OK && t < h->tet_first[fine + 1]; ++t) {
        double a[12], b[12], min[3], max[3];
        Plane planes[4];
        long lo[3], hi[3];
        corners_of(h, t, a);
        reach_of(a, min, max);
        tet_planes(a, planes);
        cells_of(&grid, a, lo, hi);
        for (long k = lo[2]; k <= hi[2]; ++k)
            for (long j = lo[1]; j <= hi[1]; ++j)
                for (long i = lo[0]; i <= hi[0]; ++i) {
                    const size_t c =
                        ((size_t)k * (size_t)grid.cells[1] + (size_t)j) * (size_t)grid.cells[0] + (size_t)i;
                    for (PliIndex e = grid.first[c]; e < grid.first[c + 1]; ++e) {
                        const PliIndex u = grid.tet[e];
                        if (mark[u] == t + 1) continue;
                        mark[u] = t + 1;
                        corners_of(h, u, b);
                        if (is_beside(b, min, max)) continue;
                        const double v = clip(b, planes, 0);
                        if (v <= 1e-12 * h->tet_volume[t]) continue;
                        *common += v;
                        if (!push_pair(&h->host, pairs, t, u, v)) status = PLI_OUT_OF_MEMORY;
                    }
                }
    }
    boxes_free(&grid, &h->host);
    PLI_FREE(&h->host, mark, h->tet_count);
    return status;
}

/// Every tetrahedron must stand for something: a fine one outside the coarse mesh is given to the nearest coarse one, a coarse
/// one no fine one touches takes a tenth of the nearest fine one.
static PliStatus adopt_orphans(PliLevels *h, int fine, Pairs *pairs)
{
    double *sum = PLI_NEW(&h->host, h->tet_count, double);
    if (!sum) return PLI_OUT_OF_MEMORY;
    bool ok = true;
    for (size_t i = 0; i < pairs->count; ++i) {
        sum[pairs->pair[i].fine] += pairs->pair[i].volume;
        sum[pairs->pair[i].coarse] += pairs->pair[i].volume;
    }
    for (PliIndex t = h->tet_first[fine]; ok && t < h->tet_first[fine + 1]; ++t)
        if (sum[t] == 0.0) {
            const PliIndex u = nearest_tet(h, fine - 1, t);
            sum[t] = sum[u] = h->tet_volume[t];
            ok = push_pair(&h->host, pairs, t, u, h->tet_volume[t]);
        }
    for (PliIndex u = h->tet_first[fine - 1]; ok && u < h->tet_first[fine]; ++u)
        if (sum[u] == 0.0) {
            const PliIndex t = nearest_tet(h, fine, u);
            h->empty_tets++;
            ok = push_pair(&h->host, pairs, t, u, 0.1 * sum[t]);
        }
    PLI_FREE(&h->host, sum, h->tet_count);
    return ok ? PLI_OK : PLI_OUT_OF_MEMORY;
}

// ---- shares in units -------------------------------------------------------------------------------------------------

/// Splits `whole` units in proportion to part[0 .. n) so that the pieces sum to it exactly.
static void apportion(int64_t whole, const double *part, PliIndex n, int64_t *out)
{
    double sum = 0.0;
    for (PliIndex i = 0; i < n; ++i) sum += part[i];
    int64_t left = whole;
    PliIndex largest = 0;
    for (PliIndex i = 0; i < n; ++i) {
        out[i] = (int64_t)((double)whole * (part[i] / sum));
        left -= out[i];
        if (part[i] > part[largest]) largest = i;
    }
    out[largest] += left;
}

PliStatus pli_levels_overlap(PliLevels *h, PliError *err)
{
    h->tet_share = PLI_NEW(&h->host, h->tet_count, int64_t);
    h->point_share = PLI_NEW(&h->host, h->point_count, int64_t);
    h->cover_first = PLI_NEW(&h->host, (size_t)h->tet_count + 1, PliIndex);
    if (!h->tet_share || !h->point_share || !h->cover_first) return PLI_OUT_OF_MEMORY;

    Pairs pairs = { 0 };
    PliStatus status = PLI_OK;
    for (int l = 1; l < h->level_count && status == PLI_OK; ++l) {
        double common = 0.0;
        status = find_pairs(h, l, &pairs, &common);
        const double least = fmin(h->level_volume[l], h->level_volume[l - 1]);
        if (status == PLI_OK && common < 0.5 * least)
            status = pli_refuse(
                err, PLI_BAD_MESH,
                "tetlod: levels %d and %d have only %.3g %% of their volume in common: they must be meshes of one body",
                l - 1, l, 100.0 * common / least);
        if (status == PLI_OK && h->level_volume[l - 1] > 2.0 * h->level_volume[l])
            status =
                pli_refuse(err, PLI_BAD_MESH,
                           "tetlod: level %d has %.3g times the volume of level %d: they must be meshes of one body",
                           l - 1, h->level_volume[l - 1] / h->level_volume[l], l);
        if (status == PLI_OK) status = adopt_orphans(h, l, &pairs);
    }
    // orphans were appended at the end of their level: bring the pairs of each fine tetrahedron together
    double *volume = NULL;
    if (status == PLI_OK) {
        h->cover = PLI_NEW(&h->host, pairs.count, PliIndex);
        h->cover_share = PLI_NEW(&h->host, pairs.count, int64_t);
        volume = PLI_NEW(&h->host, pairs.count, double);
        if (!h->cover || !h->cover_share || !volume) status = PLI_OUT_OF_MEMORY;
        for (size_t i = 0; i < pairs.count; ++i) h->cover_first[pairs.pair[i].fine + 1]++;
        for (PliIndex t = 0; t < h->tet_count; ++t) h->cover_first[t + 1] += h->cover_first[t];
    }
    if (status == PLI_OK) {
        for (size_t i = pairs.count; i-- > 0;) {
            const PliIndex at = --h->cover_first[pairs.pair[i].fine + 1];
            h->cover[at] = pairs.pair[i].coarse;
            volume[at] = pairs.pair[i].volume;
        }
        for (PliIndex t = 0; t < h->tet_count; ++t) h->cover_first[t] = h->cover_first[t + 1];
        h->cover_first[h->tet_count] = (PliIndex)pairs.count;

        const int finest = h->level_count - 1;
        for (PliIndex t = h->tet_first[finest]; t < h->tet_count; ++t) {
            h->tet_share[t] = llround(h->tet_volume[t] / h->unit);
            for (int c = 0; c < 4; ++c)
                h->point_share[h->tets[4 * (size_t)t + c]] += h->tet_share[t] / 4 + (c < (int)(h->tet_share[t] % 4));
        }
        for (PliIndex t = h->tet_count; t-- > h->tet_first[1];) { // finer levels have higher numbers
            const PliIndex first = h->cover_first[t], n = h->cover_first[t + 1] - first;
            apportion(h->tet_share[t], volume + first, n, h->cover_share + first);
            for (PliIndex e = first; e < first + n; ++e) h->tet_share[h->cover[e]] += h->cover_share[e];
        }
    }
    if (volume) PLI_FREE(&h->host, volume, pairs.count);
    if (pairs.pair) PLI_FREE(&h->host, pairs.pair, pairs.capacity);
    return status;
}
