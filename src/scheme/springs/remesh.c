/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Shapes the base and lays its subdivisions onto the surface.
#include "scheme/springs/remesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/springs/remesh_base.h"
#include "surface/triangle_tree.h"

void pli_surface_free(const PliHost *host, PliSurface *s)
{
    PLI_FREE(host, (double *)s->x, 3 * (size_t)s->point_count);
    PLI_FREE(host, (PliIndex *)s->tris, 3 * (size_t)s->tri_count);
    *s = (PliSurface){ 0 };
}

static void normal_of(const double *x, const PliIndex *c, double n[3])
{
    double u[3], v[3];
    v3_sub(u, x + 3 * (size_t)c[1], x + 3 * (size_t)c[0]);
    v3_sub(v, x + 3 * (size_t)c[2], x + 3 * (size_t)c[0]);
    v3_cross(n, u, v);
}

// ---- onto the surface ----------------------------------------------------------------------------------------------------------

typedef struct Target {
    const PliSurface *surface;
    PliTriangleTree *tree;
    double size; ///< m, diagonal
    PliIndex *near, near_capacity;
} Target;

static double diagonal(const PliSurface *s)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (size_t k = 0; k < 3 * (size_t)s->point_count; ++k)
        lo[k % 3] = fmin(lo[k % 3], s->x[k]), hi[k % 3] = fmax(hi[k % 3], s->x[k]);
    return v3_distance(lo, hi);
}

static bool init_target(Target *t, const PliHost *host, const PliSurface *s)
{
    *t = (Target){ .surface = s, .size = diagonal(s), .near_capacity = s->tri_count };
    t->tree = pli_triangle_tree_create(host, s->x, s->point_count, s->tris, s->tri_count);
    t->near = PLI_NEW(host, t->near_capacity, PliIndex);
    if (!t->tree || !t->near) return false;
    pli_triangle_tree_refit(t->tree, s->x);
    return true;
}

static void free_target(Target *t, const PliHost *host)
{
    pli_triangle_tree_destroy(t->tree);
    PLI_FREE(host, t->near, t->near_capacity);
}

static void place(const PliSurface *s, PliIndex tri, const double w[3], double p[3])
{
    memset(p, 0, 3 * sizeof *p);
    for (int k = 0; k < 3; ++k) v3_madd(p, w[k], s->x + 3 * (size_t)s->tris[3 * (size_t)tri + (size_t)k]);
}

/// Moves p to the nearest point of the surface whose outside is on the side of `normal`: through a thin part the nearest would be the
/// other face of it.
static void project(const Target *t, const double normal[3], double p[3])
{
    const PliSurface *s = t->surface;
    double square = INFINITY, w[3], n[3], q[3];
    PliIndex tri = pli_triangle_tree_nearest(t->tree, p, &square, w);
    if (tri == PLI_NONE) return;
    normal_of(s->x, s->tris + 3 * (size_t)tri, n);
    place(s, tri, w, q);
    for (double radius = 2.0 * sqrt(square) + 1e-3 * t->size; v3_dot(n, normal) < 0.0 && radius < 0.2 * t->size;
         radius *= 2.0) {
        const PliIndex found = pli_triangle_tree_within(t->tree, p, radius, t->near, t->near_capacity);
        double best = INFINITY;
        for (PliIndex i = 0; i < found && i < t->near_capacity; ++i) {
            const PliIndex *c = s->tris + 3 * (size_t)t->near[i];
            double m[3];
            normal_of(s->x, c, m);
            if (v3_dot(m, normal) <= 0.0) continue;
            const double d = pli_closest_on_triangle(p, s->x + 3 * (size_t)c[0], s->x + 3 * (size_t)c[1],
                                                     s->x + 3 * (size_t)c[2], w);
            if (d < best) best = d, v3_copy(n, m), place(s, t->near[i], w, q);
        }
    }
    v3_copy(p, q);
}

// ---- shape of a mesh -----------------------------------------------------------------------------------------------------------

static void vertex_normal(const PliWinged *m, const double *x, PliIndex v, double n[3])
{
    const PliIndex begin = m->vertex_edge[v];
    PliIndex edge = begin;
    memset(n, 0, 3 * sizeof *n);
    do {
        PliIndex face;
        double one[3];
        edge = pli_winged_next(m, v, edge, &face);
        if (face == PLI_NONE) break;
        normal_of(x, m->corner + 3 * (size_t)face, one);
        v3_add(n, n, one);
    } while (edge != PLI_NONE && edge != begin);
}

/// Least cosine between the normals of the triangles around v and `n`; low when something is folded there.
static double openness(const PliWinged *m, const double *x, PliIndex v, const double n[3])
{
    const PliIndex begin = m->vertex_edge[v];
    PliIndex edge = begin;
    double least = 1.0;
    do {
        PliIndex face;
        double one[3];
        edge = pli_winged_next(m, v, edge, &face);
        if (face == PLI_NONE) break;
        normal_of(x, m->corner + 3 * (size_t)face, one);
        least = fmin(least, v3_dot(one, n) / fmax(v3_norm(one) * v3_norm(n), 1e-300));
    } while (edge != PLI_NONE && edge != begin);
    return least;
}

/// The given surface has an edge at p, of more than 60 degrees: what is there stays there.
static bool is_sharp(const Target *t, const double p[3])
{
    const PliSurface *s = t->surface;
    const PliIndex found = pli_triangle_tree_within(t->tree, p, 1e-6 * t->size, t->near, t->near_capacity);
    for (PliIndex i = 0; i < found; ++i)
        for (PliIndex j = 0; j < i; ++j) {
            double n[3], m[3];
            normal_of(s->x, s->tris + 3 * (size_t)t->near[i], n);
            normal_of(s->x, s->tris + 3 * (size_t)t->near[j], m);
            if (v3_dot(n, m) < 0.5 * v3_norm(n) * v3_norm(m)) return true;
        }
    return false;
}

/// Moves v half of the way to the centre of the triangles around it, along the surface, so that these become alike; back when that
/// folds something.
static void relax(const PliWinged *m, const Target *t, PliIndex v, double *x)
{
    const PliIndex begin = m->vertex_edge[v];
    PliIndex edge = begin;
    double move[3] = { 0.0, 0.0, 0.0 }, area = 0.0, n[3], old[3], *p = x + 3 * (size_t)v;
    if (is_sharp(t, p)) return;
    do {
        PliIndex face;
        double one[3];
        edge = pli_winged_next(m, v, edge, &face);
        if (face == PLI_NONE) return; // a border stays
        normal_of(x, m->corner + 3 * (size_t)face, one);
        const double weight = v3_norm(one);
        for (int k = 0; k < 3; ++k)
            v3_madd(move, weight / 3.0, x + 3 * (size_t)m->corner[3 * (size_t)face + (size_t)k]);
        area += weight;
    } while (edge != begin);
    vertex_normal(m, x, v, n);
    const double before = openness(m, x, v, n), nn = v3_dot(n, n);
    v3_copy(old, p);
    for (int d = 0; d < 3; ++d) move[d] = move[d] / area - old[d];
    if (nn > 0.0) v3_madd(move, -v3_dot(move, n) / nn, n);
    v3_madd(p, 0.75, move);
    project(t, n, p);
    if (openness(m, x, v, n) < fmin(before, 0.5)) v3_copy(p, old);
}

static int valence(const PliWinged *m, PliIndex v)
{
    const PliIndex begin = m->vertex_edge[v];
    PliIndex edge = begin;
    int n = 0;
    do {
        ++n;
        edge = pli_winged_next(m, v, edge, NULL);
    } while (edge != PLI_NONE && edge != begin);
    return n;
}

static bool are_joined(const PliWinged *m, PliIndex a, PliIndex b)
{
    const PliIndex begin = m->vertex_edge[a];
    PliIndex edge = begin;
    do {
        if (pli_winged_other(m, a, edge) == b) return true;
        edge = pli_winged_next(m, a, edge, NULL);
    } while (edge != PLI_NONE && edge != begin);
    return false;
}

/// Twice the area over the square of the longest side: 0.87 for a regular triangle.
static double thickness(const double *x, const PliIndex *c)
{
    double n[3], longest = 0.0;
    normal_of(x, c, n);
    for (int k = 0; k < 3; ++k)
        longest = fmax(longest, v3_distance(x + 3 * (size_t)c[k], x + 3 * (size_t)c[(k + 1) % 3]));
    return longest > 0.0 ? v3_norm(n) / (longest * longest) : 0.0;
}

/// Flips edges whose four corners come closer to six neighbours each, no two in one triangle at a time. @return flips
static PliIndex flip_edges(const PliWinged *m, const double *x, PliIndex *tris, int *degree, uint8_t *touched)
{
    PliIndex flips = 0;
    for (PliIndex v = 0; v < m->vertex_count; ++v) degree[v] = valence(m, v);
    memset(touched, 0, m->vertex_count);
    for (PliIndex e = 0; e < m->edge_count; ++e) {
        const PliWing *w = &m->edge[e];
        if (w->right == PLI_NONE) continue;
        const PliIndex a = w->start, b = w->end, c = pli_winged_opposite(m, w->left, e),
                       d = pli_winged_opposite(m, w->right, e);
        if (touched[a] || touched[b] || touched[c] || touched[d] || degree[a] <= 4 || degree[b] <= 4 ||
            are_joined(m, c, d))
            continue;
        const int now = abs(degree[a] - 6) + abs(degree[b] - 6) + abs(degree[c] - 6) + abs(degree[d] - 6);
        const int then = abs(degree[a] - 7) + abs(degree[b] - 7) + abs(degree[c] - 5) + abs(degree[d] - 5);
        if (then >= now) continue;
        const PliIndex left[3] = { a, d, c }, right[3] = { d, b, c };
        double n0[3], n1[3], m0[3], m1[3], sum[3];
        normal_of(x, m->corner + 3 * (size_t)w->left, n0);
        normal_of(x, m->corner + 3 * (size_t)w->right, n1);
        normal_of(x, left, m0);
        normal_of(x, right, m1);
        v3_add(sum, n0, n1);
        const double cosine = 0.8 * v3_norm(sum);
        if (v3_dot(n0, n1) < 0.5 * v3_norm(n0) * v3_norm(n1)) continue;
        if (thickness(x, left) < 0.3 || thickness(x, right) < 0.3) continue;
        if (v3_dot(m0, sum) < cosine * v3_norm(m0) || v3_dot(m1, sum) < cosine * v3_norm(m1)) continue;
        memcpy(tris + 3 * (size_t)w->left, left, sizeof left);
        memcpy(tris + 3 * (size_t)w->right, right, sizeof right);
        touched[a] = touched[b] = touched[c] = touched[d] = 1;
        flips++;
    }
    return flips;
}

enum { ROUNDS = 20, FLIPS = 10 };

static PliStatus improve(const PliHost *host, const Target *t, PliSurface *base, PliError *err)
{
    int *degree = PLI_NEW(host, base->point_count, int);
    uint8_t *touched = PLI_NEW(host, base->point_count, uint8_t);
    PliStatus status = degree && touched
                           ? PLI_OK
                           : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a base of %u points", base->point_count);
    for (int round = 0; round < ROUNDS && status == PLI_OK; ++round) {
        PliWinged *m = pli_winged_create(host, base->point_count, base->tris, base->tri_count, err);
        if (!m) {
            status = err ? err->status : PLI_BAD_MESH;
            break;
        }
        if (round < FLIPS && flip_edges(m, base->x, (PliIndex *)base->tris, degree, touched) > 0) {
            pli_winged_destroy(m);
            m = pli_winged_create(host, base->point_count, base->tris, base->tri_count, err);
        }
        for (PliIndex v = 0; m && v < base->point_count; ++v) relax(m, t, v, (double *)base->x);
        if (!m) status = PLI_BAD_MESH;
        pli_winged_destroy(m);
    }
    PLI_FREE(host, degree, base->point_count);
    PLI_FREE(host, touched, base->point_count);
    return status;
}

PliStatus pli_remesh_base(const PliHost *host, const PliSurface *surface, PliIndex target, PliSurface *base,
                          PliError *err)
{
    Target t;
    PliStatus status = pli_remesh_collapse(host, surface, target, base, err);
    if (status != PLI_OK) return status;
    if (!init_target(&t, host, surface))
        status =
            pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to search a surface of %u triangles", surface->tri_count);
    else
        status = improve(host, &t, base, err);
    free_target(&t, host);
    if (status != PLI_OK) pli_surface_free(host, base);
    return status;
}

PliStatus pli_remesh_fit(PliPyramid *p, const PliSurface *surface, PliError *err)
{
    Target t;
    double *x = PLI_NEW(&p->host, 3 * (size_t)p->vertex_count, double);
    PliStatus status = PLI_OUT_OF_MEMORY;
    if (!init_target(&t, &p->host, surface) || !x) {
        pli_refuse(err, status, "no memory to lay %u vertices onto a surface", p->vertex_count);
        goto done;
    }
    memcpy(x, p->rest, 3 * (size_t)p->mesh[0]->vertex_count * sizeof *x);
    for (int l = 1; l < p->level_count; ++l) {
        const PliWinged *coarse = p->mesh[l - 1], *fine = p->mesh[l];
        for (PliIndex e = 0; e < coarse->edge_count; ++e) {
            const PliWing *w = &coarse->edge[e];
            double *q = x + 3 * (size_t)(coarse->vertex_count + e), n[3], other[3];
            for (size_t d = 0; d < 3; ++d) q[d] = 0.5 * (x[3 * (size_t)w->start + d] + x[3 * (size_t)w->end + d]);
            normal_of(x, coarse->corner + 3 * (size_t)w->left, n);
            if (w->right != PLI_NONE) normal_of(x, coarse->corner + 3 * (size_t)w->right, other), v3_add(n, n, other);
            project(&t, n, q);
        }
        // vertices of the level below stay: coarse cuts must be what they were
        for (int round = 0; round < 5; ++round)
            for (PliIndex v = coarse->vertex_count; v < fine->vertex_count; ++v) relax(fine, &t, v, x);
    }
    status = pli_pyramid_set_rest(p, x, err);
done:
    PLI_FREE(&p->host, x, 3 * (size_t)p->vertex_count);
    free_target(&t, &p->host);
    return status;
}

static double one_sided(const Target *t, const PliSurface *s)
{
    double most = 0.0;
    for (PliIndex i = 0; i < s->point_count + s->tri_count; ++i) {
        double p[3] = { 0.0, 0.0, 0.0 };
        if (i < s->point_count)
            v3_copy(p, s->x + 3 * (size_t)i);
        else
            for (int k = 0; k < 3; ++k)
                v3_madd(p, 1.0 / 3.0, s->x + 3 * (size_t)s->tris[3 * (size_t)(i - s->point_count) + (size_t)k]);
        most = fmax(most, pli_triangle_tree_distance(t->tree, p, INFINITY));
    }
    return most;
}

double pli_surface_distance(const PliHost *host, const PliSurface *a, const PliSurface *b)
{
    Target ta, tb;
    const bool one = init_target(&ta, host, a), two = init_target(&tb, host, b);
    const double d = one && two ? fmax(one_sided(&ta, b), one_sided(&tb, a)) : -1.0;
    free_target(&ta, host);
    free_target(&tb, host);
    return d;
}
