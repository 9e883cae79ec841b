/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Even triangles on a given closed surface, after M. Botsch and L. Kobbelt, A remeshing approach to multiresolution modeling, 2004:
// long sides are split, short ones collapsed, sides turned towards six neighbours a point, points moved along the surface.
// Side 3 t + k runs from corner k of triangle t to the next corner; dead triangles have corners PLI_NONE.
#include "mesher/remesh.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesher/surface.h"
#include "surface/triangle_tree.h"

enum { ROUNDS = 8, FAN = 64 };

typedef struct Remesh {
    PliHost host;
    const PliMesh *in;
    PliTriangleTree *tree;
    double size;
    const double *limit;
    double *x, *length; ///< of points; length: wanted of the sides around it
    PliIndex *side_of;  ///< a side that leaves the point, or PLI_NONE when it is gone
    PliIndex *tris, *opposite;
    size_t points, point_capacity, tri_count, tri_capacity;
} Remesh;

static PliIndex next(PliIndex side) { return side % 3 == 2 ? side - 2 : side + 1; }
static PliIndex previous(PliIndex side) { return side % 3 == 0 ? side + 2 : side - 1; }
static double *point(const Remesh *r, PliIndex p) { return r->x + 3 * (size_t)p; }

static void join(Remesh *r, PliIndex a, PliIndex b) { r->opposite[a] = b, r->opposite[b] = a; }

/// Puts a point on the surface it came from, and asks how long its sides should be.
static void place(Remesh *r, PliIndex p)
{
    double w[3], q[3] = { 0.0, 0.0, 0.0 }, square = INFINITY, limit = 0.0;
    const PliIndex t = pli_triangle_tree_nearest(r->tree, point(r, p), &square, w);
    if (t == PLI_NONE) return;
    for (int k = 0; k < 3; ++k) {
        const PliIndex c = r->in->tris[3 * (size_t)t + (size_t)k];
        v3_madd(q, w[k], r->in->x + 3 * (size_t)c);
        if (r->limit) limit += w[k] * fmin(r->limit[c], r->size);
    }
    v3_copy(point(r, p), q);
    r->length[p] = r->limit ? limit : r->size;
}

/// Sides that leave a point, in order. @return how many; more than FAN are not listed
static PliIndex fan_of(const Remesh *r, PliIndex p, PliIndex out[FAN])
{
    PliIndex n = 0, side = r->side_of[p];
    do {
        if (n < FAN) out[n] = side;
        ++n;
        side = r->opposite[previous(side)];
    } while (side != r->side_of[p] && n <= FAN);
    return n;
}

static double side_length(const Remesh *r, PliIndex side)
{
    return v3_distance(point(r, r->tris[side]), point(r, r->tris[next(side)]));
}

static double wanted(const Remesh *r, PliIndex side)
{
    return 0.5 * (r->length[r->tris[side]] + r->length[r->tris[next(side)]]);
}

static void normal_of(const double *a, const double *b, const double *c, double out[3])
{
    double u[3], v[3];
    v3_sub(u, b, a), v3_sub(v, c, a);
    v3_cross(out, u, v);
}

// ---- split, collapse, turn ---------------------------------------------------------------------------------------------------

static bool split(Remesh *r, PliIndex side)
{
    const PliIndex other = r->opposite[side];
    size_t capacity = r->point_capacity;
    if (r->points == capacity) {
        size_t c1 = capacity, c2 = capacity;
        void *x = r->x, *length = r->length, *first = r->side_of;
        if (!pli_grow(&r->host, &x, &c1, 3 * sizeof(double))) return false;
        r->x = x;
        if (!pli_grow(&r->host, &length, &c2, sizeof(double))) return false;
        r->length = length;
        if (!pli_grow(&r->host, &first, &capacity, sizeof(PliIndex))) return false;
        r->side_of = first;
        r->point_capacity = capacity;
    }
    if (r->tri_count + 2 > r->tri_capacity) {
        size_t c1 = r->tri_capacity, c2 = r->tri_capacity;
        void *tris = r->tris, *opposite = r->opposite;
        if (!pli_grow(&r->host, &tris, &c1, 3 * sizeof(PliIndex))) return false;
        r->tris = tris;
        if (!pli_grow(&r->host, &opposite, &c2, 3 * sizeof(PliIndex))) return false;
        r->opposite = opposite;
        r->tri_capacity = c1;
    }
    const PliIndex a = r->tris[side], b = r->tris[other], c = r->tris[previous(side)], d = r->tris[previous(other)];
    const PliIndex m = (PliIndex)r->points++, s = 3 * (PliIndex)r->tri_count, o = s + 3;
    r->tri_count += 2;
    for (int k = 0; k < 3; ++k) point(r, m)[k] = 0.5 * (point(r, a)[k] + point(r, b)[k]);
    r->length[m] = 0.5 * (r->length[a] + r->length[b]);
    // a b c becomes a m c and m b c, b a d becomes b m d and m a d
    const PliIndex bc = r->opposite[next(side)], ad = r->opposite[next(other)];
    r->tris[next(side)] = m;
    r->tris[s] = m, r->tris[s + 1] = b, r->tris[s + 2] = c;
    r->tris[next(other)] = m;
    r->tris[o] = m, r->tris[o + 1] = a, r->tris[o + 2] = d;
    join(r, s + 1, bc), join(r, o + 1, ad);
    join(r, s + 2, next(side)), join(r, o + 2, next(other));
    join(r, side, o), join(r, other, s);
    r->side_of[m] = s, r->side_of[b] = other, r->side_of[a] = side;
    // a chord through the body may be far from it: no new side may be longer than those there were, or this would not end
    double middle[3];
    v3_copy(middle, point(r, m));
    place(r, m);
    const double whole = v3_distance(point(r, a), point(r, b));
    const double to_c = fmax(v3_distance(point(r, a), point(r, c)), v3_distance(point(r, b), point(r, c)));
    const double to_d = fmax(v3_distance(point(r, a), point(r, d)), v3_distance(point(r, b), point(r, d)));
    if (v3_distance(middle, point(r, m)) > 0.4 * whole || v3_distance(point(r, m), point(r, c)) > to_c ||
        v3_distance(point(r, m), point(r, d)) > to_d)
        v3_copy(point(r, m), middle);
    return true;
}

/// Moving point p of a fan to `to` leaves every triangle around it (but those at `gone`) facing the way it did.
static bool keeps_facing(const Remesh *r, PliIndex p, PliIndex gone, const double to[3], double longest)
{
    PliIndex fan[FAN];
    const PliIndex n = fan_of(r, p, fan);
    for (PliIndex i = 0; i < n; ++i) {
        const PliIndex a = r->tris[next(fan[i])], b = r->tris[previous(fan[i])];
        if (v3_distance(point(r, a), to) > longest && a != gone) return false;
        if (a == gone || b == gone) continue;
        double before[3], after[3];
        normal_of(point(r, p), point(r, a), point(r, b), before);
        normal_of(to, point(r, a), point(r, b), after);
        const double cosine = v3_dot(before, after) / (v3_norm(before) * v3_norm(after) + 1e-300);
        if (!(cosine > 0.5)) return false;
    }
    return true;
}

/// Points joined to both ends of a side are exactly the two across it; otherwise sheets would stick together.
static bool link_is_simple(const Remesh *r, PliIndex a, PliIndex b, PliIndex n_a, PliIndex n_b, const PliIndex *fan_a,
                           const PliIndex *fan_b)
{
    int common = 0;
    (void)a, (void)b;
    for (PliIndex i = 0; i < n_a; ++i)
        for (PliIndex j = 0; j < n_b; ++j) common += r->tris[next(fan_a[i])] == r->tris[next(fan_b[j])];
    return common == 2;
}

static bool collapse(Remesh *r, PliIndex side)
{
    const PliIndex other = r->opposite[side], a = r->tris[side], b = r->tris[other];
    PliIndex fan_a[FAN], fan_b[FAN];
    const PliIndex n_a = fan_of(r, a, fan_a), n_b = fan_of(r, b, fan_b);
    if (n_a + n_b > 14 || n_a < 4 || n_b < 4 || !link_is_simple(r, a, b, n_a, n_b, fan_a, fan_b)) return false;
    const PliIndex c = r->tris[previous(side)], d = r->tris[previous(other)];
    PliIndex scratch[FAN];
    if (fan_of(r, c, scratch) <= 3 || fan_of(r, d, scratch) <= 3) return false;
    double to[3];
    for (int k = 0; k < 3; ++k) to[k] = 0.5 * (point(r, a)[k] + point(r, b)[k]);
    const double longest = 4.0 / 3.0 * wanted(r, side);
    if (!keeps_facing(r, a, b, to, longest) || !keeps_facing(r, b, a, to, longest)) return false;
    for (PliIndex i = 0; i < n_a; ++i) r->tris[fan_a[i]] = b;
    const PliIndex ca = r->opposite[previous(side)], bc = r->opposite[next(side)];
    const PliIndex db = r->opposite[previous(other)], ad = r->opposite[next(other)];
    join(r, ca, bc), join(r, db, ad);
    for (int k = 0; k < 3; ++k) r->tris[side / 3 * 3 + (PliIndex)k] = r->tris[other / 3 * 3 + (PliIndex)k] = PLI_NONE;
    r->side_of[a] = PLI_NONE;
    // ca runs from a (now b) to c, or the other way about: take the ends from what is left
    const PliIndex left[4] = { ca, bc, db, ad };
    for (int k = 0; k < 4; ++k) {
        r->side_of[r->tris[left[k]]] = left[k];
        r->side_of[r->tris[next(left[k])]] = next(left[k]);
    }
    v3_copy(point(r, b), to);
    place(r, b);
    return true;
}

static bool is_joined(const Remesh *r, PliIndex a, PliIndex b)
{
    PliIndex fan[FAN];
    const PliIndex n = fan_of(r, a, fan);
    for (PliIndex i = 0; i < n && i < FAN; ++i)
        if (r->tris[next(fan[i])] == b) return true;
    return n > FAN;
}

/// Turns the side between a and b to run between c and d when that brings the four points nearer to six neighbours.
static void turn(Remesh *r, PliIndex side)
{
    const PliIndex other = r->opposite[side], a = r->tris[side], b = r->tris[other];
    const PliIndex c = r->tris[previous(side)], d = r->tris[previous(other)];
    PliIndex fan[FAN];
    const int n[4] = { (int)fan_of(r, a, fan), (int)fan_of(r, b, fan), (int)fan_of(r, c, fan), (int)fan_of(r, d, fan) };
    int gain = 0;
    for (int k = 0; k < 4; ++k) {
        const int after = n[k] + (k < 2 ? -1 : 1);
        gain += (n[k] - 6) * (n[k] - 6) - (after - 6) * (after - 6);
    }
    if (gain <= 0 || n[0] <= 3 || n[1] <= 3 || is_joined(r, c, d)) return;
    double one[3], two[3], new_one[3], new_two[3];
    normal_of(point(r, a), point(r, b), point(r, c), one), normal_of(point(r, b), point(r, a), point(r, d), two);
    normal_of(point(r, a), point(r, d), point(r, c), new_one),
        normal_of(point(r, b), point(r, c), point(r, d), new_two);
    const double *old[2] = { one, two }, *made[2] = { new_one, new_two };
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            if (!(v3_dot(old[i], made[j]) > 0.7 * v3_norm(old[i]) * v3_norm(made[j]))) return;
    // a b c and b a d become c a d (sides c a, a d, d c) and d b c (sides d b, b c, c d)
    const PliIndex s = side / 3 * 3, o = other / 3 * 3;
    const PliIndex ca = r->opposite[previous(side)], bc = r->opposite[next(side)];
    const PliIndex db = r->opposite[previous(other)], ad = r->opposite[next(other)];
    r->tris[s] = c, r->tris[s + 1] = a, r->tris[s + 2] = d;
    r->tris[o] = d, r->tris[o + 1] = b, r->tris[o + 2] = c;
    join(r, s, ca), join(r, s + 1, ad), join(r, o, db), join(r, o + 1, bc), join(r, s + 2, o + 2);
    r->side_of[a] = s + 1, r->side_of[d] = s + 2, r->side_of[c] = s, r->side_of[b] = o + 1;
}

/// Towards the middle of its neighbours, along the surface, then back onto it.
static void relax(Remesh *r, PliIndex p)
{
    PliIndex fan[FAN];
    const PliIndex n = fan_of(r, p, fan);
    if (n > FAN) return;
    double middle[3] = { 0.0, 0.0, 0.0 }, normal[3] = { 0.0, 0.0, 0.0 }, one[3], move[3], weight = 0.0;
    for (PliIndex i = 0; i < n; ++i) {
        const PliIndex a = r->tris[next(fan[i])], b = r->tris[previous(fan[i])];
        normal_of(point(r, p), point(r, a), point(r, b), one);
        v3_madd(normal, 1.0, one);
        v3_madd(middle, 1.0, point(r, a));
        weight += 1.0;
    }
    const double length = v3_norm(normal);
    if (!(length > 0.0)) return;
    v3_scale(middle, 1.0 / weight), v3_scale(normal, 1.0 / length);
    v3_sub(move, middle, point(r, p));
    v3_madd(move, -v3_dot(move, normal), normal);
    double to[3];
    v3_copy(to, point(r, p));
    v3_madd(to, 0.7, move);
    if (!keeps_facing(r, p, PLI_NONE, to, INFINITY)) return;
    v3_copy(point(r, p), to);
    place(r, p);
}

// ---- the whole ---------------------------------------------------------------------------------------------------------------

static bool start(Remesh *r)
{
    const PliMesh *in = r->in;
    r->points = r->point_capacity = in->point_count;
    r->tri_count = r->tri_capacity = in->tri_count;
    r->x = PLI_NEW(&r->host, 3 * r->points, double);
    r->length = PLI_NEW(&r->host, r->points, double);
    r->side_of = PLI_NEW(&r->host, r->points, PliIndex);
    r->tris = PLI_NEW(&r->host, 3 * r->tri_count, PliIndex);
    r->opposite = PLI_NEW(&r->host, 3 * r->tri_count, PliIndex);
    r->tree = pli_triangle_tree_create(&r->host, in->x, in->point_count, in->tris, in->tri_count);
    if (!r->x || !r->length || !r->side_of || !r->tris || !r->opposite || !r->tree) return false;
    pli_triangle_tree_refit(r->tree, in->x);
    memcpy(r->x, in->x, 3 * sizeof(double) * r->points);
    memcpy(r->tris, in->tris, 3 * sizeof(PliIndex) * r->tri_count);
    for (size_t p = 0; p < r->points; ++p) r->length[p] = r->limit ? fmin(r->size, r->limit[p]) : r->size;
    for (size_t s = 0; s < 3 * r->tri_count; ++s) r->side_of[r->tris[s]] = (PliIndex)s;
    return pli_surface_opposites(&r->host, r->tris, in->tri_count, r->opposite);
}

static bool is_alive(const Remesh *r, size_t side) { return r->tris[side] != PLI_NONE; }

static bool one_round(Remesh *r, bool may_split)
{
    const size_t sides = 3 * r->tri_count; // what a split makes is looked at in the next round
    for (size_t s = 0; may_split && s < sides; ++s)
        if (is_alive(r, s) && side_length(r, (PliIndex)s) > 4.0 / 3.0 * wanted(r, (PliIndex)s) &&
            !split(r, (PliIndex)s))
            return false;
    for (int again = 0; again < 3; ++again)
        for (size_t s = 0; s < 3 * r->tri_count; ++s)
            if (is_alive(r, s) && side_length(r, (PliIndex)s) < 0.8 * wanted(r, (PliIndex)s))
                (void)collapse(r, (PliIndex)s);
    for (size_t s = 0; s < 3 * r->tri_count; ++s)
        if (is_alive(r, s) && r->opposite[s] > s) turn(r, (PliIndex)s);
    for (size_t p = 0; p < r->points; ++p)
        if (r->side_of[p] != PLI_NONE) relax(r, (PliIndex)p);
    return true;
}

static PliMesh *finish(const Remesh *r)
{
    PliMesh *m = pli_mesh_create(&r->host);
    PliIndex *number = PLI_NEW(&r->host, r->points, PliIndex), points = 0, tris = 0;
    for (size_t t = 0; t < r->tri_count; ++t) tris += is_alive(r, 3 * t);
    for (size_t p = 0; number && p < r->points; ++p)
        if (r->side_of[p] != PLI_NONE) number[p] = points++;
    const bool ok =
        m && number && pli_mesh_resize_points(m, points) == PLI_OK && pli_mesh_resize_cells(m, PLI_TRI, tris) == PLI_OK;
    if (ok) {
        for (size_t p = 0; p < r->points; ++p)
            if (r->side_of[p] != PLI_NONE) v3_copy(m->x + 3 * (size_t)number[p], r->x + 3 * p);
        PliIndex *out = m->tris;
        for (size_t t = 0; t < r->tri_count; ++t)
            for (size_t k = 0; is_alive(r, 3 * t) && k < 3; ++k) *out++ = number[r->tris[3 * t + k]];
    }
    PLI_FREE(&r->host, number, r->points);
    if (ok) return m;
    pli_mesh_destroy(m);
    return NULL;
}

/// Chords of a rounded body cut volume off: every point goes out along its normal by what is missing over the area.
static bool restore_volume(PliMesh *m, double volume)
{
    double *normal = PLI_NEW(&m->host, 3 * (size_t)m->point_count, double);
    if (!normal) return false;
    for (int round = 0; round < 3; ++round) {
        const double out = (volume - pli_surface_volume(m)) / pli_surface_area(m);
        pli_surface_normals(m, normal);
        for (PliIndex p = 0; p < m->point_count; ++p) v3_madd(m->x + 3 * (size_t)p, out, normal + 3 * (size_t)p);
    }
    PLI_FREE(&m->host, normal, 3 * (size_t)m->point_count);
    return true;
}

PliMesh *pli_surface_remesh(const PliHost *host, const PliMesh *in, double size, const double *limit)
{
    Remesh r = { .host = *host, .in = in, .size = size, .limit = limit };
    bool ok = start(&r);
    for (int round = 0; ok && round < ROUNDS; ++round) ok = one_round(&r, round > 0);
    PliMesh *m = ok ? finish(&r) : NULL;
    if (m && !restore_volume(m, pli_surface_volume(in))) {
        pli_mesh_destroy(m);
        m = NULL;
    }
    pli_triangle_tree_destroy(r.tree);
    PLI_FREE(host, r.x, 3 * r.point_capacity);
    PLI_FREE(host, r.length, r.point_capacity);
    PLI_FREE(host, r.side_of, r.point_capacity);
    PLI_FREE(host, r.tris, 3 * r.tri_capacity);
    PLI_FREE(host, r.opposite, 3 * r.tri_capacity);
    return m;
}
