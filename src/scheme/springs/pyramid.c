/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/springs/pyramid.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

void pli_pyramid_destroy(PliPyramid *p)
{
    if (!p) return;
    const PliHost host = p->host;
    for (int l = 0; l < PLI_PYRAMID_LEVELS; ++l) pli_winged_destroy(p->mesh[l]);
    PLI_FREE(&host, p->rest, 3 * (size_t)p->vertex_count);
    PLI_FREE(&host, p->detail, 3 * (size_t)p->vertex_count);
    PLI_FREE(&host, p->level, p->vertex_count);
    PLI_FREE(&host, p->row_first, (size_t)p->vertex_count + 1);
    PLI_FREE(&host, p->row_column, p->row_capacity);
    PLI_FREE(&host, p->row_weight, p->row_capacity);
    PLI_FREE(&host, p, 1);
}

PliPyramid *pli_pyramid_create(const PliHost *host, PliWinged *base, const double *x, int levels, PliError *err)
{
    PliPyramid *p = PLI_NEW(host, 1, PliPyramid);
    if (!p) goto no_memory;
    p->host = *host;
    p->mesh[0] = base;
    p->level_count = 1;
    for (int l = 0; l < levels; ++l) {
        // the next level has 4 faces for one and 2 edges for one plus 3 a face
        if (p->mesh[l]->face_count > PLI_NONE / 32) {
            pli_refuse(err, PLI_BAD_ARGUMENT,
                       "%d levels of %u triangles are too many: level %d would have more than %u", levels,
                       base->face_count, l + 1, PLI_NONE / 8);
            pli_pyramid_destroy(p);
            return NULL;
        }
        p->mesh[l + 1] = pli_winged_subdivide(p->mesh[l]);
        if (!p->mesh[l + 1]) goto no_memory;
        p->level_count++;
    }
    p->vertex_count = p->mesh[levels]->vertex_count;
    p->rest = PLI_NEW(host, 3 * (size_t)p->vertex_count, double);
    p->detail = PLI_NEW(host, 3 * (size_t)p->vertex_count, double);
    p->level = PLI_NEW(host, p->vertex_count, uint8_t);
    p->row_first = PLI_NEW(host, (size_t)p->vertex_count + 1, PliIndex);
    if (!p->rest || !p->detail || !p->level || !p->row_first) goto no_memory;
    for (int l = levels; l >= 0; --l) memset(p->level, l, p->mesh[l]->vertex_count);
    memcpy(p->detail, x, 3 * (size_t)base->vertex_count * sizeof *x);
    pli_pyramid_synthesise(p, p->detail, p->rest);
    if (pli_pyramid_set_rest(p, p->rest, err) == PLI_OK) return p;
    pli_pyramid_destroy(p);
    return NULL;
no_memory:
    pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %d levels of %u triangles", levels, base->face_count);
    if (p)
        pli_pyramid_destroy(p);
    else
        pli_winged_destroy(base);
    return NULL;
}

static void midpoint(const PliPyramid *p, PliIndex v, const double *x, double m[3])
{
    const PliWing *w = &p->mesh[p->level[v] - 1]->edge[pli_pyramid_edge(p, v)];
    const double *a = x + 3 * (size_t)w->start, *b = x + 3 * (size_t)w->end;
    for (int d = 0; d < 3; ++d) m[d] = 0.5 * (a[d] + b[d]);
}

void pli_pyramid_analyse(const PliPyramid *p, const double *x, double *coefficient)
{
    const PliIndex base = p->mesh[0]->vertex_count;
    // from the finest down: what a midpoint is made of has not been replaced yet
    for (PliIndex v = p->vertex_count; v-- > base;) {
        double m[3];
        midpoint(p, v, x, m);
        v3_sub(coefficient + 3 * (size_t)v, x + 3 * (size_t)v, m);
    }
    if (coefficient != x) memcpy(coefficient, x, 3 * (size_t)base * sizeof *x);
}

void pli_pyramid_synthesise(const PliPyramid *p, const double *coefficient, double *x)
{
    const PliIndex base = p->mesh[0]->vertex_count;
    if (coefficient != x) memcpy(x, coefficient, 3 * (size_t)base * sizeof *x);
    for (PliIndex v = base; v < p->vertex_count; ++v) {
        double m[3];
        midpoint(p, v, x, m);
        v3_add(x + 3 * (size_t)v, coefficient + 3 * (size_t)v, m);
    }
}

// ---- rows ------------------------------------------------------------------------------------------------------------------

enum { ROW_MOST = 64, RINGS = 4 };

/// Vertices around an edge: its ends, the corners opposite to it, and ring by ring what is next to those.
typedef struct Around {
    PliIndex vertex[ROW_MOST];
    PliIndex count;
} Around;

static void add_vertex(Around *a, PliIndex v)
{
    for (PliIndex i = 0; i < a->count; ++i)
        if (a->vertex[i] == v) return;
    if (a->count < ROW_MOST) a->vertex[a->count++] = v;
}

static void first_ring(const PliWinged *m, PliIndex edge, Around *a)
{
    const PliWing *w = &m->edge[edge];
    a->count = 0;
    add_vertex(a, w->start);
    add_vertex(a, w->end);
    const PliIndex face[2] = { w->left, w->right };
    for (int k = 0; k < 2; ++k)
        if (face[k] != PLI_NONE) add_vertex(a, pli_winged_opposite(m, face[k], edge));
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < 3 && face[k] != PLI_NONE; ++i) {
            const PliIndex side = m->side[3 * (size_t)face[k] + (size_t)i];
            const PliIndex beyond = m->edge[side].left == face[k] ? m->edge[side].right : m->edge[side].left;
            if (side != edge && beyond != PLI_NONE) add_vertex(a, pli_winged_opposite(m, beyond, side));
        }
}

static void next_ring(const PliWinged *m, Around *a)
{
    const PliIndex before = a->count;
    for (PliIndex i = 0; i < before; ++i) {
        const PliIndex v = a->vertex[i], begin = m->vertex_edge[v];
        PliIndex edge = begin;
        do {
            add_vertex(a, pli_winged_other(m, v, edge));
            const PliIndex next = pli_winged_next(m, v, edge, NULL);
            edge = next;
        } while (edge != PLI_NONE && edge != begin);
    }
}

/// Eigenvectors (rows of `axis`) of a symmetric 3x3 matrix by Jacobi rotations; the diagonal of `a` becomes the eigenvalues.
static void diagonalise(double a[9], double axis[9])
{
    static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    memcpy(axis, one, sizeof one);
    for (int sweep = 0; sweep < 16; ++sweep)
        for (int p = 0; p < 2; ++p)
            for (int q = p + 1; q < 3; ++q) {
                if (a[3 * p + q] == 0.0) continue;
                const double t0 = (a[4 * q] - a[4 * p]) / (2.0 * a[3 * p + q]);
                const double t = (t0 >= 0.0 ? 1.0 : -1.0) / (fabs(t0) + sqrt(1.0 + t0 * t0)),
                             c = 1.0 / sqrt(1.0 + t * t), s = t * c;
                for (int k = 0; k < 3; ++k) {
                    const double x = a[3 * k + p], y = a[3 * k + q];
                    a[3 * k + p] = c * x - s * y, a[3 * k + q] = s * x + c * y;
                }
                for (int k = 0; k < 3; ++k) {
                    const double x = a[3 * p + k], y = a[3 * q + k], u = axis[3 * p + k], w = axis[3 * q + k];
                    a[3 * p + k] = c * x - s * y, a[3 * q + k] = s * x + c * y;
                    axis[3 * p + k] = c * u - s * w, axis[3 * q + k] = s * u + c * w;
                }
            }
}

/// Shares that sum to zero, give the detail, and are as small as they can be. @return the sum of their sizes, INFINITY when the
/// vertices lie in a plane that the detail leaves.
static double shares_of(const Around *a, const double *x, const double detail[3], double *share)
{
    double mean[3] = { 0.0, 0.0, 0.0 }, spread[9] = { 0.0 }, axis[9], t[3] = { 0.0, 0.0, 0.0 };
    for (PliIndex i = 0; i < a->count; ++i) v3_madd(mean, 1.0 / a->count, x + 3 * (size_t)a->vertex[i]);
    for (PliIndex i = 0; i < a->count; ++i) {
        double r[3];
        v3_sub(r, x + 3 * (size_t)a->vertex[i], mean);
        for (int k = 0; k < 9; ++k) spread[k] += r[k / 3] * r[k % 3];
    }
    const double trace = spread[0] + spread[4] + spread[8];
    diagonalise(spread, axis);
    for (int k = 0; k < 3; ++k) {
        const double along = v3_dot(detail, axis + 3 * k);
        if (spread[4 * k] > 1e-12 * trace)
            v3_madd(t, along / spread[4 * k], axis + 3 * k);
        else if (fabs(along) > 1e-14 * sqrt(trace))
            return INFINITY;
    }
    double sum = 0.0;
    for (PliIndex i = 0; i < a->count; ++i) {
        double r[3];
        v3_sub(r, x + 3 * (size_t)a->vertex[i], mean);
        share[i] = v3_dot(r, t);
        sum += fabs(share[i]);
    }
    return sum;
}

/// A point on a vertex or an edge is on that alone: what it would follow besides, by rounding, costs as much as the rest.
static PliIndex drop_rounding(PliIndex *column, double *weight)
{
    static const double ROUNDING = 1e-12;
    PliIndex entries = 0, most = 0;
    double dropped = 0.0;
    for (PliIndex k = 0; k < 3; ++k) {
        if (fabs(weight[k]) < ROUNDING) {
            dropped += weight[k];
            continue;
        }
        column[entries] = column[k], weight[entries] = weight[k];
        if (weight[entries] > weight[most]) most = entries;
        entries++;
    }
    weight[most] += dropped;
    return entries;
}

PliIndex pli_pyramid_attach(const PliPyramid *p, const double point[3], PliIndex face, const double foot[3],
                            PliIndex *column, double *weight, PliIndex capacity)
{
    const PliWinged *m = p->mesh[p->level_count - 1];
    const PliIndex *c = m->corner + 3 * (size_t)face;
    double offset[3], share[ROW_MOST], best = INFINITY;
    Around around = { .count = 0 };
    PliIndex entries = 3;
    v3_copy(offset, point);
    for (PliIndex k = 0; k < 3; ++k) {
        add_vertex(&around, c[k]);
        column[k] = c[k], weight[k] = foot[k];
        v3_madd(offset, -foot[k], p->rest + 3 * (size_t)c[k]);
    }
    const double length = v3_distance(p->rest + 3 * (size_t)c[0], p->rest + 3 * (size_t)c[1]);
    for (int ring = 0; ring < RINGS && v3_norm(offset) > 1e-13 * length; ++ring) {
        next_ring(m, &around);
        if (around.count > capacity) break;
        const double sum = shares_of(&around, p->rest, offset, share);
        if (!(sum < best)) continue;
        best = sum;
        entries = around.count;
        memcpy(column, around.vertex, around.count * sizeof *column);
        for (PliIndex i = 0; i < around.count; ++i) weight[i] = share[i] + (i < 3 ? foot[i] : 0.0);
        if (best <= 1.0) break;
    }
    return entries > 3 ? entries : drop_rounding(column, weight);
}

static const double modest = 1.0; ///< a row beyond the midpoint that is not worth a wider neighbourhood

/// Row of vertex v into column, weight. @return entries, 0 when nothing around it is thick enough.
static PliIndex make_row(PliPyramid *p, PliIndex v, PliIndex *column, double *weight)
{
    const PliWinged *m = p->mesh[p->level[v] - 1];
    const PliIndex edge = pli_pyramid_edge(p, v);
    const double *detail = p->detail + 3 * (size_t)v;
    column[0] = m->edge[edge].start, column[1] = m->edge[edge].end;
    weight[0] = weight[1] = 0.5;
    const double length = v3_distance(p->rest + 3 * (size_t)column[0], p->rest + 3 * (size_t)column[1]);
    if (v3_norm(detail) <= 1e-13 * length) return 2;
    Around around;
    PliIndex entries = 0;
    double share[ROW_MOST], best = INFINITY;
    first_ring(m, edge, &around);
    for (int ring = 0; ring < RINGS; ++ring) {
        if (ring > 0) next_ring(m, &around);
        const double sum = shares_of(&around, p->rest, detail, share);
        if (sum < best) {
            best = sum;
            entries = around.count;
            memcpy(column, around.vertex, around.count * sizeof *column);
            for (PliIndex i = 0; i < around.count; ++i) weight[i] = share[i] + (i < 2 ? 0.5 : 0.0);
        }
        if (best <= modest) break;
    }
    if (entries) p->largest_weight = fmax(p->largest_weight, best);
    return entries;
}

static PliStatus make_rows(PliPyramid *p, PliError *err)
{
    PliIndex column[ROW_MOST];
    double weight[ROW_MOST];
    p->largest_weight = 0.0;
    for (int pass = 0; pass < 2; ++pass) {
        size_t entries = 0;
        for (PliIndex v = p->mesh[0]->vertex_count; v < p->vertex_count; ++v) {
            const PliIndex n = make_row(p, v, column, weight);
            if (n == 0)
                return pli_refuse(err, PLI_BAD_MESH,
                                  "vertex %u of level %d lies out of the plane that all around it is in", v,
                                  p->level[v]);
            if (pass == 1) {
                memcpy(p->row_column + entries, column, n * sizeof *column);
                memcpy(p->row_weight + entries, weight, n * sizeof *weight);
            }
            entries += n;
            p->row_first[v + 1] = (PliIndex)entries;
        }
        if (pass == 1) break;
        PLI_FREE(&p->host, p->row_column, p->row_capacity);
        PLI_FREE(&p->host, p->row_weight, p->row_capacity);
        p->row_capacity = entries;
        p->row_column = PLI_NEW(&p->host, entries, PliIndex);
        p->row_weight = PLI_NEW(&p->host, entries, double);
        if (entries && (!p->row_column || !p->row_weight))
            return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the details of %u vertices", p->vertex_count);
    }
    return PLI_OK;
}

PliStatus pli_pyramid_set_rest(PliPyramid *p, const double *x, PliError *err)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (size_t k = 0; k < 3 * (size_t)p->vertex_count; ++k) {
        if (!isfinite(x[k])) return pli_refuse(err, PLI_BAD_MESH, "point %zu is not finite", k / 3);
        lo[k % 3] = fmin(lo[k % 3], x[k]), hi[k % 3] = fmax(hi[k % 3], x[k]);
    }
    const double size = v3_distance(lo, hi);
    for (int l = 0; l < p->level_count; ++l)
        for (PliIndex e = 0; e < p->mesh[l]->edge_count; ++e) {
            const PliIndex a = p->mesh[l]->edge[e].start, b = p->mesh[l]->edge[e].end;
            const double length = v3_distance(x + 3 * (size_t)a, x + 3 * (size_t)b);
            if (!(length > 1e-10 * size))
                return pli_refuse(err, PLI_BAD_MESH,
                                  "the spring between points %u and %u has length %g: springs must have a length", a, b,
                                  length);
        }
    if (x != p->rest) memcpy(p->rest, x, 3 * (size_t)p->vertex_count * sizeof *x);
    pli_pyramid_analyse(p, p->rest, p->detail);
    memset(p->detail, 0, 3 * (size_t)p->mesh[0]->vertex_count * sizeof *p->detail);
    return make_rows(p, err);
}
