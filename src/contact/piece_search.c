/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "contact/piece_search.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "surface/triangle_tree.h"

enum { LIST = 24, NO_LIST = 255 }; ///< entries of a point; one with more looks at all triangles every time

struct PliPieceSearch {
    PliHost host;
    PliIndex points, tri_count, piece_count, tree_count;
    double reach, slack, near;
    const PliIndex *tris, *piece;
    const double *x;
    PliTriangleTree **tree;          ///< one for each piece
    PliIndex *first, *of;            ///< triangles of each piece
    bool moved, fitted, has_normals; ///< `before` holds places; trees are, and normals are those of x
    double *before;                  ///< places at the last move
    double *normal;                  ///< per point, of unit length, or zero
    double last_move;                ///< m, by how much a distance may have changed in the last move ...
    double travel;                   ///< ... and in all moves so far
    // per point
    double *wake;   ///< travel at which it may come within nothing of the others: distance is at least wake - travel
    double *listed; ///< travel at which its list was made
    PliIndex *last; ///< nearest triangle when it last looked, or PLI_NONE
    PliIndex *list; ///< [points, LIST] triangles
    uint8_t *list_count;
    uint64_t looks;
};

void pli_piece_search_destroy(PliPieceSearch *s)
{
    if (!s) return;
    const PliHost host = s->host;
    const PliHost *h = &host;
    for (PliIndex q = 0; q < s->tree_count; ++q) pli_triangle_tree_destroy(s->tree[q]);
    PLI_FREE(h, s->tree, s->piece_count);
    PLI_FREE(h, s->first, (size_t)s->piece_count + 1);
    PLI_FREE(h, s->of, s->tri_count);
    PLI_FREE(h, s->before, 3 * (size_t)s->points);
    PLI_FREE(h, s->normal, 3 * (size_t)s->points);
    PLI_FREE(h, s->wake, s->points);
    PLI_FREE(h, s->listed, s->points);
    PLI_FREE(h, s->last, s->points);
    PLI_FREE(h, s->list, (size_t)LIST * s->points);
    PLI_FREE(h, s->list_count, s->points);
    PLI_FREE(h, s, 1);
}

PliPieceSearch *pli_piece_search_create(const PliHost *host, const double *rest, PliIndex points, const PliIndex *tris,
                                        PliIndex tri_count, const PliIndex *piece, PliIndex piece_count, double reach,
                                        double slack)
{
    PliPieceSearch *s = PLI_NEW(host, 1, PliPieceSearch);
    if (!s) return NULL;
    *s = (PliPieceSearch){ .host = *host,
                           .points = points,
                           .tri_count = tri_count,
                           .piece_count = piece_count,
                           .reach = reach,
                           .slack = slack,
                           .tris = tris,
                           .piece = piece };
    s->tree = PLI_NEW(host, piece_count, PliTriangleTree *);
    s->first = PLI_NEW(host, (size_t)piece_count + 1, PliIndex);
    s->of = PLI_NEW(host, tri_count, PliIndex);
    s->before = PLI_NEW(host, 3 * (size_t)points, double);
    s->last = PLI_NEW(host, points, PliIndex);
    s->normal = PLI_NEW(host, 3 * (size_t)points, double);
    s->wake = PLI_NEW(host, points, double);
    s->listed = PLI_NEW(host, points, double);
    s->list = PLI_NEW(host, (size_t)LIST * points, PliIndex);
    s->list_count = PLI_NEW(host, points, uint8_t);
    PliIndex *corner = PLI_NEW(host, 3 * (size_t)tri_count, PliIndex);
    bool good = s->tree && s->first && s->of && s->before && s->last && s->normal && s->wake && s->listed && s->list &&
                s->list_count && corner;
    if (good) {
        PliIndex used = 0;
        for (PliIndex i = 0; i < points; ++i) s->last[i] = PLI_NONE;
        for (PliIndex t = 0; t < tri_count; ++t) s->first[piece[tris[3 * (size_t)t]] + 1]++;
        for (PliIndex q = 0; q < piece_count; ++q) s->first[q + 1] += s->first[q];
        for (PliIndex t = tri_count; t-- > 0;) s->of[--s->first[piece[tris[3 * (size_t)t]] + 1]] = t;
        // piece q now begins at first[q + 1]
        memmove(s->first, s->first + 1, piece_count * sizeof *s->first);
        s->first[piece_count] = tri_count;
        for (PliIndex k = 0; k < tri_count; ++k)
            for (int c = 0; c < 3; ++c) corner[used++] = tris[3 * (size_t)s->of[k] + (size_t)c];
    }
    for (; good && s->tree_count < piece_count; ++s->tree_count) {
        const PliIndex q = s->tree_count;
        s->tree[q] = pli_triangle_tree_create(host, rest, points, corner + 3 * (size_t)s->first[q],
                                              s->first[q + 1] - s->first[q]);
        good = s->tree[q] != NULL;
        if (!good) break;
    }
    PLI_FREE(host, corner, 3 * (size_t)tri_count);
    if (good) return s;
    pli_piece_search_destroy(s);
    return NULL;
}

static double square_to(const PliPieceSearch *s, const double p[3], PliIndex t, double w[3])
{
    const PliIndex *c = s->tris + 3 * (size_t)t;
    return pli_closest_on_triangle(p, s->x + 3 * (size_t)c[0], s->x + 3 * (size_t)c[1], s->x + 3 * (size_t)c[2], w);
}

/// Nearest within the square of a distance, from what was nearest last.
static PliIndex look(PliPieceSearch *s, PliIndex i, double *square, double w[3])
{
    const double *p = s->x + 3 * (size_t)i;
    PliIndex best = s->last[i];
    double u[3];
    if (!s->fitted)
        for (PliIndex q = 0; q < s->piece_count; ++q) pli_triangle_tree_refit(s->tree[q], s->x);
    s->fitted = true;
    s->looks++;
    if (best != PLI_NONE) {
        const double far = square_to(s, p, best, u);
        if (far <= *square)
            *square = far, v3_copy(w, u);
        else
            best = PLI_NONE;
    }
    for (PliIndex q = 0; q < s->piece_count; ++q) {
        if (q == s->piece[i]) continue;
        const PliIndex t = pli_triangle_tree_nearest(s->tree[q], p, square, u);
        if (t != PLI_NONE) best = s->of[s->first[q] + t], v3_copy(w, u);
    }
    return best;
}

// As long as no distance changes by more than the slack, the nearest triangle of a point is among those that are now at most twice
// the slack farther than the nearest.
static void make_list(PliPieceSearch *s, PliIndex i, double distance)
{
    const double radius = fmin(s->reach + s->slack, distance + 2.0 * s->slack) * (1.0 + 1e-12);
    PliIndex *list = s->list + (size_t)LIST * i, used = 0;
    s->listed[i] = s->travel;
    for (PliIndex q = 0; q < s->piece_count; ++q) {
        if (q == s->piece[i]) continue;
        const PliIndex room = LIST - used,
                       found = pli_triangle_tree_within(s->tree[q], s->x + 3 * (size_t)i, radius, list + used, room);
        if (found > room) {
            s->list_count[i] = NO_LIST;
            return;
        }
        for (PliIndex k = 0; k < found; ++k, ++used) list[used] = s->of[s->first[q] + list[used]];
    }
    s->list_count[i] = (uint8_t)used;
}

void pli_piece_search_move(PliPieceSearch *s, const double *x, double near)
{
    // what all points do together changes no distance
    double mean[3] = { 0.0, 0.0, 0.0 }, most = 0.0;
    for (size_t i = 0; i < s->points; ++i)
        for (size_t c = 0; c < 3; ++c) mean[c] += x[3 * i + c] - s->before[3 * i + c];
    v3_scale(mean, 1.0 / s->points);
    for (size_t i = 0; i < s->points; ++i) {
        double d[3];
        v3_sub(d, x + 3 * i, s->before + 3 * i);
        v3_sub(d, d, mean);
        const double far = v3_dot(d, d);
        if (!(far <= most)) most = far;
    }
    // of two points against each other; rounding of places as well
    s->last_move = s->moved ? 2.0 * sqrt(most) + 1e-12 * s->reach : INFINITY;
    s->travel += s->last_move;
    if (!(s->travel < 1e6 * s->reach)) { // the first, or somebody threw the body, or so far that digits are lost
        s->travel = 0.0;
        for (PliIndex i = 0; i < s->points; ++i) s->wake[i] = 0.0, s->list_count[i] = NO_LIST;
    }
    memcpy(s->before, x, 3 * (size_t)s->points * sizeof *x);
    s->x = x, s->near = near;
    s->moved = true, s->fitted = s->has_normals = false;
}

static void find_normals(PliPieceSearch *s)
{
    memset(s->normal, 0, 3 * (size_t)s->points * sizeof *s->normal);
    for (PliIndex t = 0; t < s->tri_count; ++t) {
        const PliIndex *c = s->tris + 3 * (size_t)t;
        double e[3], f[3], n[3];
        v3_sub(e, s->x + 3 * (size_t)c[1], s->x + 3 * (size_t)c[0]);
        v3_sub(f, s->x + 3 * (size_t)c[2], s->x + 3 * (size_t)c[0]);
        v3_cross(n, e, f);
        for (int k = 0; k < 3; ++k) v3_add(s->normal + 3 * (size_t)c[k], s->normal + 3 * (size_t)c[k], n);
    }
    for (size_t i = 0; i < s->points; ++i) {
        const double length = v3_norm(s->normal + 3 * i);
        if (length > 0.0) v3_scale(s->normal + 3 * i, 1.0 / length);
    }
    s->has_normals = true;
}

/// The nearest triangle within reach, by list or by all.
static PliIndex find(PliPieceSearch *s, PliIndex i, double w[3], double *square)
{
    if (s->list_count[i] != NO_LIST && s->travel - s->listed[i] <= s->slack) {
        const PliIndex *list = s->list + (size_t)LIST * i;
        PliIndex best = PLI_NONE;
        *square = s->reach * s->reach;
        for (PliIndex k = 0; k < s->list_count[i]; ++k) {
            double u[3];
            const double far = square_to(s, s->x + 3 * (size_t)i, list[k], u);
            if (far > *square || (far == *square && list[k] > best)) continue;
            *square = far, best = list[k];
            v3_copy(w, u);
        }
        return best;
    }
    const double far = s->reach + s->slack;
    *square = far * far;
    s->list_count[i] = NO_LIST;
    PliIndex best = s->last[i] = look(s, i, square, w);
    if (best == PLI_NONE)
        s->wake[i] = s->travel + far;
    else if (4.0 * s->last_move <= s->slack)
        make_list(s, i, sqrt(*square)); // one that would not last costs more than it saves
    return *square <= s->reach * s->reach ? best : PLI_NONE;
}

bool pli_piece_search_nearest(PliPieceSearch *s, PliIndex i, PliPieceHit *out)
{
    double square, d[3];
    if (s->wake[i] - s->travel > s->near) return false;
    out->tri = find(s, i, out->w, &square);
    if (out->tri == PLI_NONE) return false;
    if (!s->has_normals) find_normals(s);
    const PliIndex *c = s->tris + 3 * (size_t)out->tri;
    v3_copy(d, s->x + 3 * (size_t)i);
    memset(out->normal, 0, sizeof out->normal);
    for (int k = 0; k < 3; ++k) {
        v3_madd(d, -out->w[k], s->x + 3 * (size_t)c[k]);
        v3_madd(out->normal, out->w[k], s->normal + 3 * (size_t)c[k]);
    }
    out->distance = sqrt(square);
    out->side = v3_dot(d, out->normal) < 0.0 ? -1.0 : 1.0;
    s->wake[i] = out->side > 0.0 ? s->travel + out->distance : s->travel; // inside: awake
    return out->side < 0.0 || out->distance <= s->near;
}

uint64_t pli_piece_search_looks(const PliPieceSearch *s) { return s->looks; }
