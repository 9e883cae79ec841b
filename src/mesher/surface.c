/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesher/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesh/nearest.h"
#include "surface/triangle_tree.h"

static const double *corner(const PliMesh *m, PliIndex t, int k)
{
    return m->x + 3 * (size_t)m->tris[3 * (size_t)t + (size_t)k];
}

static void area_vector(const PliMesh *m, PliIndex t, double out[3])
{
    double u[3], v[3];
    v3_sub(u, corner(m, t, 1), corner(m, t, 0));
    v3_sub(v, corner(m, t, 2), corner(m, t, 0));
    v3_cross(out, u, v);
    v3_scale(out, 0.5);
}

double pli_surface_volume(const PliMesh *m)
{
    double volume = 0.0, a[3], r[3];
    for (PliIndex t = 0; t < m->tri_count; ++t) { // from a corner of the body, for digits
        area_vector(m, t, a);
        v3_sub(r, corner(m, t, 0), m->x);
        volume += v3_dot(a, r) / 3.0;
    }
    return volume;
}

double pli_surface_area(const PliMesh *m)
{
    double area = 0.0, a[3];
    for (PliIndex t = 0; t < m->tri_count; ++t) {
        area_vector(m, t, a);
        area += v3_norm(a);
    }
    return area;
}

void pli_surface_normals(const PliMesh *m, double *normal)
{
    memset(normal, 0, 3 * sizeof *normal * m->point_count);
    for (PliIndex t = 0; t < m->tri_count; ++t) {
        double a[3];
        area_vector(m, t, a);
        for (int k = 0; k < 3; ++k) v3_madd(normal + 3 * (size_t)m->tris[3 * (size_t)t + (size_t)k], 1.0, a);
    }
    for (PliIndex p = 0; p < m->point_count; ++p) {
        const double length = v3_norm(normal + 3 * (size_t)p);
        if (length > 0.0) v3_scale(normal + 3 * (size_t)p, 1.0 / length);
    }
}

// ---- sides -----------------------------------------------------------------------------------------------------------------

typedef struct Side {
    PliIndex low, high, at; ///< at = 3 triangle + side
} Side;

static int compare_sides(const void *a, const void *b)
{
    const Side *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return p->at < q->at ? -1 : 1;
}

static Side *sorted_sides(const PliHost *host, const PliIndex *tris, PliIndex count)
{
    Side *side = PLI_NEW(host, 3 * (size_t)count, Side);
    if (!side) return NULL;
    for (PliIndex i = 0; i < 3 * count; ++i) {
        const PliIndex a = tris[i], b = tris[i % 3 == 2 ? i - 2 : i + 1];
        side[i] = (Side){ a < b ? a : b, a < b ? b : a, i };
    }
    qsort(side, 3 * (size_t)count, sizeof *side, compare_sides);
    return side;
}

static PliIndex run_of(const Side *side, PliIndex i, PliIndex count)
{
    PliIndex n = 1;
    while (i + n < count && side[i + n].low == side[i].low && side[i + n].high == side[i].high) ++n;
    return n;
}

bool pli_surface_opposites(const PliHost *host, const PliIndex *tris, PliIndex count, PliIndex *opposite)
{
    Side *side = sorted_sides(host, tris, count);
    if (!side) return false;
    for (PliIndex i = 0, n; i < 3 * count; i += n) {
        n = run_of(side, i, 3 * count);
        for (PliIndex k = 0; k < n; ++k) opposite[side[i + k].at] = n == 2 ? side[i + 1 - k].at : PLI_NONE;
    }
    PLI_FREE(host, side, 3 * (size_t)count);
    return true;
}

/// Every side belongs to two triangles, or: how many do not, and where the first one is.
static PliStatus check_closed(const PliMesh *m, PliError *err)
{
    Side *side = sorted_sides(&m->host, m->tris, m->tri_count);
    if (!side) return PLI_OUT_OF_MEMORY;
    const PliIndex count = 3 * m->tri_count;
    PliIndex open = 0, crowded = 0, first = PLI_NONE, first_run = 0;
    for (PliIndex i = 0, n; i < count; i += n) {
        n = run_of(side, i, count);
        open += n == 1, crowded += n > 2;
        if (n != 2 && first == PLI_NONE) first = i, first_run = n;
    }
    PliStatus status = PLI_OK;
    if (first != PLI_NONE) {
        const double *p = m->x + 3 * (size_t)side[first].low;
        if (first_run == 1)
            status = pli_refuse(err, PLI_BAD_MESH,
                                "the surface is not closed: %u edges belong to one triangle only, the first at (%.5g "
                                "%.5g %.5g); close its "
                                "holes",
                                open, p[0], p[1], p[2]);
        else
            status = pli_refuse(
                err, PLI_BAD_MESH,
                "%u edges of the surface belong to more than two triangles, the first at (%.5g %.5g %.5g): sheets that "
                "meet there must be apart",
                crowded, p[0], p[1], p[2]);
    }
    PLI_FREE(&m->host, side, count);
    return status;
}

// ---- cleaning ----------------------------------------------------------------------------------------------------------------

typedef struct Lowest {
    PliIndex index;
} Lowest;

static void take_lowest(PliIndex i, void *user)
{
    Lowest *l = user;
    if (i < l->index) l->index = i;
}

/// Points within a billionth of the body's width are one.
static PliStatus weld(PliMesh *m, double width, PliSurfaceFacts *facts)
{
    PliNearest near;
    const PliIndex before = m->point_count;
    PliStatus status = pli_nearest_init(&near, &m->host, m->x, m->point_count);
    if (status != PLI_OK) return status;
    PliIndex *number = PLI_NEW(&m->host, before, PliIndex);
    uint8_t *used = PLI_NEW(&m->host, before, uint8_t);
    if (!number || !used) status = PLI_OUT_OF_MEMORY;
    for (PliIndex p = 0; status == PLI_OK && p < before; ++p) {
        Lowest lowest = { p };
        pli_nearest_within(&near, m->x + 3 * (size_t)p, 1e-9 * width, take_lowest, &lowest);
        number[p] = lowest.index == p ? p : number[lowest.index];
        facts->welded += number[p] != p;
    }
    pli_nearest_free(&near);
    if (status == PLI_OK) {
        PliIndex kept = 0, points = 0;
        for (PliIndex t = 0; t < m->tri_count; ++t) {
            PliIndex c[3];
            for (size_t k = 0; k < 3; ++k) c[k] = number[m->tris[3 * (size_t)t + k]];
            if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) {
                facts->flat++;
                continue;
            }
            memcpy(m->tris + 3 * (size_t)kept++, c, sizeof c);
            for (int k = 0; k < 3; ++k) used[c[k]] = 1;
        }
        for (PliIndex p = 0; p < before; ++p) {
            number[p] = points;
            if (!used[p]) continue;
            memmove(m->x + 3 * (size_t)points++, m->x + 3 * (size_t)p, 3 * sizeof *m->x);
        }
        for (size_t i = 0; i < 3 * (size_t)kept; ++i) m->tris[i] = number[m->tris[i]];
        status = pli_mesh_resize_cells(m, PLI_TRI, kept);
        if (status == PLI_OK) status = pli_mesh_resize_points(m, points);
    }
    PLI_FREE(&m->host, number, before);
    PLI_FREE(&m->host, used, before);
    return status;
}

/// Turns triangles alike, outward; counts pieces.
static PliStatus orient(PliMesh *m, PliSurfaceFacts *facts, PliIndex *pieces)
{
    const size_t sides = 3 * (size_t)m->tri_count;
    PliIndex *opposite = PLI_NEW(&m->host, sides, PliIndex), *queue = PLI_NEW(&m->host, m->tri_count, PliIndex);
    uint8_t *seen = PLI_NEW(&m->host, m->tri_count, uint8_t); // 1: as it is, 2: turned
    bool ok = opposite && queue && seen && pli_surface_opposites(&m->host, m->tris, m->tri_count, opposite);
    *pieces = 0;
    for (PliIndex root = 0; ok && root < m->tri_count; ++root) {
        if (seen[root]) continue;
        PliIndex count = 0;
        ++*pieces;
        seen[root] = 1, queue[count++] = root;
        for (PliIndex q = 0; q < count; ++q)
            for (PliIndex k = 0; k < 3; ++k) {
                const PliIndex side = 3 * queue[q] + k, other = opposite[side], t = other / 3;
                if (seen[t]) continue;
                const bool alike =
                    m->tris[side] != m->tris[other]; // neighbours run along their side in opposite directions
                seen[t] = alike ? seen[queue[q]] : (uint8_t)(3 - seen[queue[q]]);
                queue[count++] = t;
            }
    }
    for (PliIndex t = 0; ok && t < m->tri_count; ++t)
        if (seen[t] == 2) {
            PliIndex *c = m->tris + 3 * (size_t)t, swap = c[1];
            c[1] = c[2], c[2] = swap;
            facts->turned++;
        }
    if (ok && pli_surface_volume(m) < 0.0) {
        for (PliIndex t = 0; t < m->tri_count; ++t) {
            PliIndex *c = m->tris + 3 * (size_t)t, swap = c[1];
            c[1] = c[2], c[2] = swap;
        }
        facts->turned = m->tri_count - facts->turned;
    }
    PLI_FREE(&m->host, opposite, sides);
    PLI_FREE(&m->host, queue, m->tri_count);
    PLI_FREE(&m->host, seen, m->tri_count);
    return ok ? PLI_OK : PLI_OUT_OF_MEMORY;
}

/// A point where two fans of triangles touch becomes two points.
static PliStatus unpinch(PliMesh *m, PliSurfaceFacts *facts)
{
    const PliIndex sides = 3 * m->tri_count;
    PliIndex *opposite = PLI_NEW(&m->host, sides, PliIndex);
    uint8_t *taken = PLI_NEW(&m->host, m->point_count, uint8_t), *done = PLI_NEW(&m->host, sides, uint8_t);
    PliStatus status = opposite && taken && done && pli_surface_opposites(&m->host, m->tris, m->tri_count, opposite)
                           ? PLI_OK
                           : PLI_OUT_OF_MEMORY;
    const PliIndex before = m->point_count;
    for (PliIndex i = 0; status == PLI_OK && i < sides; ++i) {
        if (done[i]) continue;
        const PliIndex p = m->tris[i];
        PliIndex as = p;
        if (p < before && taken[p]) {
            as = m->point_count;
            status = pli_mesh_resize_points(m, as + 1);
            if (status != PLI_OK) break;
            v3_copy(m->x + 3 * (size_t)as, m->x + 3 * (size_t)p);
            facts->pinched++;
        }
        if (p < before) taken[p] = 1;
        // round the fan: from a side that leaves the point to the next one
        for (PliIndex s = i; !done[s];) {
            done[s] = 1;
            m->tris[s] = as;
            const PliIndex into = s % 3 == 0 ? s + 2 : s - 1; // the side that arrives at the point
            s = opposite[into];
        }
    }
    PLI_FREE(&m->host, opposite, sides);
    PLI_FREE(&m->host, taken, before);
    PLI_FREE(&m->host, done, sides);
    return status;
}

/// Triangles that face against at least two larger neighbours get a mark on their corners. @return how many there are
static PliIndex mark_folds(const PliMesh *m, const PliIndex *opposite, uint8_t *mark)
{
    PliIndex found = 0;
    for (PliIndex t = 0; t < m->tri_count; ++t) {
        double a[3], b[3];
        int against = 0;
        area_vector(m, t, a);
        for (PliIndex k = 0; k < 3; ++k) {
            area_vector(m, opposite[3 * t + k] / 3, b);
            against += v3_dot(a, b) < -0.7 * v3_norm(a) * v3_norm(b) && v3_norm(a) < 0.5 * v3_norm(b);
        }
        if (against < 2) continue;
        ++found;
        for (size_t k = 0; k < 3; ++k) mark[m->tris[3 * (size_t)t + k]] = 1;
    }
    return found;
}

/// Crumples, which scans and marching methods leave behind, are drawn smooth; the edge of a blade has triangles
/// against one neighbour only, or as large as they are.
static PliStatus unfold(PliMesh *m, PliSurfaceFacts *facts)
{
    enum { ROUNDS = 20 };
    const PliIndex sides = 3 * m->tri_count;
    PliIndex *opposite = PLI_NEW(&m->host, sides, PliIndex);
    uint8_t *mark = PLI_NEW(&m->host, m->point_count, uint8_t);
    double *sum = PLI_NEW(&m->host, 4 * (size_t)m->point_count, double);
    const bool ok = opposite && mark && sum && pli_surface_opposites(&m->host, m->tris, m->tri_count, opposite);
    for (int round = 0; ok && round < ROUNDS; ++round) {
        memset(mark, 0, m->point_count);
        const PliIndex found = mark_folds(m, opposite, mark);
        if (round == 0) facts->folded = found;
        if (!found) break;
        memset(sum, 0, 4 * sizeof *sum * m->point_count);
        for (PliIndex i = 0; i < sides; ++i) { // each neighbour once: sides run both ways
            double *at = sum + 4 * (size_t)m->tris[i];
            v3_madd(at, 1.0, m->x + 3 * (size_t)m->tris[i % 3 == 2 ? i - 2 : i + 1]);
            at[3] += 1.0;
        }
        for (PliIndex p = 0; p < m->point_count; ++p)
            for (size_t k = 0; mark[p] && k < 3; ++k)
                m->x[3 * (size_t)p + k] =
                    0.5 * (m->x[3 * (size_t)p + k] + sum[4 * (size_t)p + k] / sum[4 * (size_t)p + 3]);
    }
    PLI_FREE(&m->host, opposite, sides);
    PLI_FREE(&m->host, mark, m->point_count);
    PLI_FREE(&m->host, sum, 4 * (size_t)m->point_count);
    return ok ? PLI_OK : PLI_OUT_OF_MEMORY;
}

static PliMesh *copy_triangles(const PliHost *host, const PliMesh *in)
{
    PliMesh *m = pli_mesh_create(host);
    if (!m || pli_mesh_resize_points(m, in->point_count) != PLI_OK ||
        pli_mesh_resize_cells(m, PLI_TRI, in->tri_count + 2 * in->quad_count) != PLI_OK) {
        pli_mesh_destroy(m);
        return NULL;
    }
    memcpy(m->x, in->x, 3 * sizeof *m->x * in->point_count);
    if (in->tri_count) memcpy(m->tris, in->tris, 3 * sizeof *m->tris * in->tri_count);
    for (PliIndex q = 0; q < in->quad_count; ++q) {
        const PliIndex *c = in->quads + 4 * (size_t)q;
        const PliIndex two[6] = { c[0], c[1], c[2], c[0], c[2], c[3] };
        memcpy(m->tris + 3 * ((size_t)in->tri_count + 2 * (size_t)q), two, sizeof two);
    }
    return m;
}

PliMesh *pli_surface_clean(const PliHost *host, const PliMesh *in, PliSurfaceFacts *facts, PliError *err)
{
    *facts = (PliSurfaceFacts){ 0 };
    if (in->tri_count + in->quad_count < 4) {
        pli_refuse(err, PLI_BAD_MESH, "the surface has %u triangles; a closed one has at least 4",
                   in->tri_count + 2 * in->quad_count);
        return NULL;
    }
    PliMesh *m = copy_triangles(host, in);
    PliStatus status = m ? PLI_OK : PLI_OUT_OF_MEMORY;
    PliIndex pieces = 0;
    if (status == PLI_OK) {
        for (int a = 0; a < 3; ++a) facts->min[a] = INFINITY, facts->max[a] = -INFINITY;
        for (PliIndex p = 0; p < m->point_count; ++p)
            for (int a = 0; a < 3; ++a) {
                facts->min[a] = fmin(facts->min[a], m->x[3 * (size_t)p + (size_t)a]);
                facts->max[a] = fmax(facts->max[a], m->x[3 * (size_t)p + (size_t)a]);
            }
        status = weld(m, v3_distance(facts->min, facts->max), facts);
    }
    if (status == PLI_OK && m->tri_count < 4)
        status = pli_refuse(err, PLI_BAD_MESH, "only %u triangles of the surface have an area", m->tri_count);
    if (status == PLI_OK) status = check_closed(m, err);
    if (status == PLI_OK) status = orient(m, facts, &pieces);
    if (status == PLI_OK && pieces > 1)
        status = pli_refuse(err, PLI_BAD_MESH, "the surface has %u separate pieces: give one body at a time", pieces);
    if (status == PLI_OK) status = unpinch(m, facts);
    if (status == PLI_OK) status = unfold(m, facts);
    if (status == PLI_OK) {
        facts->points = m->point_count, facts->triangles = m->tri_count;
        facts->volume = pli_surface_volume(m), facts->area = pli_surface_area(m);
        facts->handles = (2 + m->tri_count / 2 - m->point_count) / 2; // Euler, with 3/2 as many edges as triangles
        facts->crossings = pli_surface_crossings(host, m, facts->crossing_at);
        if (facts->crossings == PLI_NONE) status = PLI_OUT_OF_MEMORY;
    }
    if (status == PLI_OK && !(facts->volume > 1e-6 * pow(facts->area, 1.5) / 100.0))
        status = pli_refuse(err, PLI_BAD_MESH, "the surface encloses no volume (%g, with an area of %g)", facts->volume,
                            facts->area);
    if (status == PLI_OK) return m;
    if (status == PLI_OUT_OF_MEMORY) pli_refuse(err, status, "no memory for a surface of %u triangles", in->tri_count);
    pli_mesh_destroy(m);
    return NULL;
}

// ---- crossings ---------------------------------------------------------------------------------------------------------------

/// The segment p q passes through the inside of the triangle.
static bool pierces(const double *p, const double *q, const double *a, const double *b, const double *c)
{
    double d[3], e1[3], e2[3], h[3], s[3], r[3];
    v3_sub(d, q, p), v3_sub(e1, b, a), v3_sub(e2, c, a);
    v3_cross(h, d, e2);
    const double det = v3_dot(e1, h), tiny = 1e-9;
    // along the plane: the other triangle's sides tell
    if (fabs(det) <= 1e-6 * v3_norm(d) * v3_norm(e1) * v3_norm(e2)) return false;
    v3_sub(s, p, a);
    const double u = v3_dot(s, h) / det;
    if (!(u > tiny && u < 1.0 - tiny)) return false;
    v3_cross(r, s, e1);
    const double v = v3_dot(d, r) / det, t = v3_dot(e2, r) / det;
    return v > tiny && u + v < 1.0 - tiny && t > tiny && t < 1.0 - tiny;
}

static bool triangles_cross(const PliMesh *m, PliIndex t, PliIndex u)
{
    const PliIndex *a = m->tris + 3 * (size_t)t, *b = m->tris + 3 * (size_t)u;
    int shared = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) shared += a[i] == b[j];
    if (shared >= 2) return false;
    for (int k = 0; k < 3; ++k)
        if (pierces(corner(m, t, k), corner(m, t, (k + 1) % 3), corner(m, u, 0), corner(m, u, 1), corner(m, u, 2)) ||
            pierces(corner(m, u, k), corner(m, u, (k + 1) % 3), corner(m, t, 0), corner(m, t, 1), corner(m, t, 2)))
            return true;
    return false;
}

PliIndex pli_surface_crossings(const PliHost *host, const PliMesh *m, double at[3])
{
    enum { NEAR = 512 };
    PliTriangleTree *tree = pli_triangle_tree_create(host, m->x, m->point_count, m->tris, m->tri_count);
    if (!tree) return PLI_NONE;
    pli_triangle_tree_refit(tree, m->x);
    PliIndex found = 0, near[NEAR];
    for (PliIndex t = 0; t < m->tri_count; ++t) {
        double c[3], radius = 0.0;
        for (int a = 0; a < 3; ++a) c[a] = (corner(m, t, 0)[a] + corner(m, t, 1)[a] + corner(m, t, 2)[a]) / 3.0;
        for (int k = 0; k < 3; ++k) radius = fmax(radius, v3_distance(c, corner(m, t, k)));
        PliIndex count = pli_triangle_tree_within(tree, c, radius, near, NEAR);
        if (count > NEAR) count = NEAR;
        for (PliIndex k = 0; k < count; ++k)
            if (near[k] != t && triangles_cross(m, t, near[k])) {
                if (found++ == 0) v3_copy(at, c);
                break;
            }
    }
    pli_triangle_tree_destroy(tree);
    return found;
}

// ---- thickness ---------------------------------------------------------------------------------------------------------------

/// The largest (or smallest) of a value among neighbours.
static void spread_extreme(const PliMesh *m, double *value, double *room, bool largest)
{
    memcpy(room, value, m->point_count * sizeof *value);
    for (PliIndex i = 0; i < 3 * m->tri_count; ++i) {
        const double other = room[m->tris[i % 3 == 2 ? i - 2 : i + 1]];
        double *mine = &value[m->tris[i]];
        *mine = largest ? fmax(*mine, other) : fmin(*mine, other);
    }
}

/// A crease of a few points is no thin part: it takes the value around it.
static void close_gaps(const PliMesh *m, double *thickness, double *room)
{
    enum { RINGS = 2 };
    for (int k = 0; k < 2 * RINGS; ++k) spread_extreme(m, thickness, room, k < RINGS);
}

bool pli_surface_thickness(const PliHost *host, const PliMesh *m, double *thickness)
{
    PliTriangleTree *tree = pli_triangle_tree_create(host, m->x, m->point_count, m->tris, m->tri_count);
    double *normal = PLI_NEW(host, 3 * (size_t)m->point_count, double);
    double low[3], high[3];
    v3_copy(low, m->x), v3_copy(high, m->x);
    for (size_t i = 0; i < 3 * (size_t)m->point_count; ++i)
        low[i % 3] = fmin(low[i % 3], m->x[i]), high[i % 3] = fmax(high[i % 3], m->x[i]);
    if (tree && normal) {
        pli_triangle_tree_refit(tree, m->x);
        pli_surface_normals(m, normal);
    }
    for (PliIndex p = 0; tree && normal && p < m->point_count; ++p) {
        const double *x = m->x + 3 * (size_t)p, *n = normal + 3 * (size_t)p;
        double radius = 0.5 * v3_distance(low, high);
        thickness[p] = INFINITY;
        for (int round = 0; round < 20; ++round) { // a ball that shrinks until nothing is inside it
            double centre[3], w[3], q[3] = { 0.0, 0.0, 0.0 }, d[3], a[3];
            double square = radius * radius * (1.0 - 1e-6); // what is outside the ball need not be looked at
            v3_copy(centre, x);
            v3_madd(centre, -radius, n);
            const PliIndex t = pli_triangle_tree_nearest(tree, centre, &square, w);
            if (t == PLI_NONE) break;
            for (int k = 0; k < 3; ++k) v3_madd(q, w[k], corner(m, t, k));
            v3_sub(d, x, q);
            const double along = v3_dot(d, n);
            if (!(along > 1e-12 * radius)) break;
            radius = v3_dot(d, d) / (2.0 * along);
            area_vector(m, t, a);
            if (v3_dot(a, n) < -0.3 * v3_norm(a)) thickness[p] = 2.0 * radius;
        }
    }
    const bool ok = tree && normal;
    if (ok) close_gaps(m, thickness, normal);
    pli_triangle_tree_destroy(tree);
    PLI_FREE(host, normal, 3 * (size_t)m->point_count);
    return ok;
}
