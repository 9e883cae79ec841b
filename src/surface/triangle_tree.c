/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "surface/triangle_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

enum { LEAF = 4, MAX_STACK = 96 }; // halving 2^32 triangles is 32 deep

/// Children of node n are n + 1 and `right`; a leaf has right = 0 and owns order[first .. first + count).
typedef struct Box {
    double min[3], max[3];
    PliIndex right, first, count;
} Box;

struct PliTriangleTree {
    PliHost host;
    PliIndex count, tri_count, box_count;
    uint8_t *used; ///< points that triangles have
    PliIndex *tris, *order;
    Box *box;
    const double *x;
};

typedef struct Keyed {
    double key;
    PliIndex tri;
} Keyed;

double pli_closest_on_triangle(const double p[3], const double *a, const double *b, const double *c, double w[3])
{
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    v3_sub(ab, b, a), v3_sub(ac, c, a), v3_sub(ap, p, a), v3_sub(bp, p, b), v3_sub(cp, p, c);
    const double d1 = v3_dot(ab, ap), d2 = v3_dot(ac, ap), d3 = v3_dot(ab, bp), d4 = v3_dot(ac, bp),
                 d5 = v3_dot(ab, cp), d6 = v3_dot(ac, cp);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    double s = 0.0, t = 0.0; // weights of b and c
    if (d1 <= 0.0 && d2 <= 0.0) {
        // corner a
    } else if (d3 >= 0.0 && d4 <= d3) {
        s = 1.0;
    } else if (d6 >= 0.0 && d5 <= d6) {
        t = 1.0;
    } else if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        s = d1 / (d1 - d3);
    } else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        t = d2 / (d2 - d6);
    } else if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        s = 1.0 - t;
    } else {
        const double sum = va + vb + vc;
        s = vb / sum, t = vc / sum;
    }
    w[0] = 1.0 - s - t, w[1] = s, w[2] = t;
    v3_madd(ap, -s, ab);
    v3_madd(ap, -t, ac);
    return v3_dot(ap, ap);
}

double pli_distance_to_triangle(const double p[3], const double a[3], const double b[3], const double c[3])
{
    double w[3];
    return sqrt(pli_closest_on_triangle(p, a, b, c, w));
}

static int by_key(const void *left, const void *right)
{
    const Keyed *a = left, *b = right;
    return a->key != b->key ? (a->key < b->key ? -1 : 1) : (a->tri < b->tri ? -1 : a->tri > b->tri);
}

/// Splits order[first .. first + count) in two equal halves along the longest side of their centres.
static PliIndex build(PliTriangleTree *tree, const double *centre, Keyed *scratch, PliIndex first, PliIndex count)
{
    const PliIndex at = tree->box_count++;
    tree->box[at] = (Box){ .first = first, .count = count };
    if (count <= LEAF) return at;
    double min[3] = { INFINITY, INFINITY, INFINITY }, max[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (PliIndex i = first; i < first + count; ++i)
        for (int k = 0; k < 3; ++k) {
            min[k] = fmin(min[k], centre[3 * (size_t)tree->order[i] + (size_t)k]);
            max[k] = fmax(max[k], centre[3 * (size_t)tree->order[i] + (size_t)k]);
        }
    size_t axis = 0;
    for (size_t k = 1; k < 3; ++k)
        if (max[k] - min[k] > max[axis] - min[axis]) axis = k;
    for (PliIndex i = 0; i < count; ++i) {
        const PliIndex tri = tree->order[first + i];
        scratch[i] = (Keyed){ centre[3 * (size_t)tri + axis], tri };
    }
    qsort(scratch, count, sizeof *scratch, by_key);
    for (PliIndex i = 0; i < count; ++i) tree->order[first + i] = scratch[i].tri;
    build(tree, centre, scratch, first, count / 2);
    tree->box[at].right = build(tree, centre, scratch, first + count / 2, count - count / 2);
    return at;
}

PliTriangleTree *pli_triangle_tree_create(const PliHost *host, const double *rest, PliIndex count, const PliIndex *tris,
                                          PliIndex tri_count)
{
    PliTriangleTree *tree = PLI_NEW(host, 1, PliTriangleTree);
    const size_t n = tri_count;
    if (!tree) return NULL;
    *tree = (PliTriangleTree){ .host = *host, .count = count, .tri_count = tri_count };
    tree->used = PLI_NEW(host, (size_t)count + 1, uint8_t);
    tree->tris = PLI_NEW(host, 3 * n + 1, PliIndex);
    tree->order = PLI_NEW(host, n + 1, PliIndex);
    tree->box = PLI_NEW(host, 2 * n + 1, Box);
    double *centre = PLI_NEW(host, 3 * n + 1, double);
    Keyed *scratch = PLI_NEW(host, n + 1, Keyed);
    const bool good = tree->used && tree->tris && tree->order && tree->box && centre && scratch;
    if (good) {
        for (size_t t = 0; t < n; ++t) {
            tree->order[t] = (PliIndex)t;
            for (size_t k = 0; k < 3; ++k) tree->tris[3 * t + k] = tris[3 * t + k], tree->used[tris[3 * t + k]] = 1;
            for (size_t k = 0; k < 3; ++k)
                centre[3 * t + k] = rest[3 * (size_t)tris[3 * t] + k] + rest[3 * (size_t)tris[3 * t + 1] + k] +
                                    rest[3 * (size_t)tris[3 * t + 2] + k];
        }
        if (n > 0) build(tree, centre, scratch, 0, tri_count);
        pli_triangle_tree_refit(tree, rest);
    }
    PLI_FREE(host, centre, 3 * n + 1);
    PLI_FREE(host, scratch, n + 1);
    if (good) return tree;
    pli_triangle_tree_destroy(tree);
    return NULL;
}

void pli_triangle_tree_destroy(PliTriangleTree *tree)
{
    if (!tree) return;
    const PliHost host = tree->host;
    const size_t n = tree->tri_count;
    PLI_FREE(&host, tree->used, (size_t)tree->count + 1);
    PLI_FREE(&host, tree->tris, 3 * n + 1);
    PLI_FREE(&host, tree->order, n + 1);
    PLI_FREE(&host, tree->box, 2 * n + 1);
    PLI_FREE(&host, tree, 1);
}

static void include(Box *box, const double *min, const double *max)
{
    for (int k = 0; k < 3; ++k) {
        if (min[k] < box->min[k]) box->min[k] = min[k];
        if (max[k] > box->max[k]) box->max[k] = max[k];
    }
}

void pli_triangle_tree_refit(PliTriangleTree *tree, const double *x)
{
    tree->x = x;
    for (PliIndex n = tree->box_count; n-- > 0;) { // children come after their parent
        Box *box = &tree->box[n];
        for (int k = 0; k < 3; ++k) box->min[k] = INFINITY, box->max[k] = -INFINITY;
        if (box->right) {
            include(box, tree->box[n + 1].min, tree->box[n + 1].max);
            include(box, tree->box[box->right].min, tree->box[box->right].max);
            continue;
        }
        for (PliIndex i = box->first; i < box->first + box->count; ++i)
            for (size_t c = 0; c < 3; ++c) {
                const double *p = x + 3 * (size_t)tree->tris[3 * (size_t)tree->order[i] + c];
                include(box, p, p);
            }
    }
}

static double square_to_box(const double p[3], const Box *box)
{
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        const double under = box->min[k] - p[k], over = p[k] - box->max[k], d = under > over ? under : over;
        if (d > 0.0) sum += d * d;
    }
    return sum;
}

static double square_to(const PliTriangleTree *tree, const double p[3], PliIndex t, double w[3])
{
    const PliIndex *c = tree->tris + 3 * (size_t)t;
    return pli_closest_on_triangle(p, tree->x + 3 * (size_t)c[0], tree->x + 3 * (size_t)c[1],
                                   tree->x + 3 * (size_t)c[2], w);
}

PliIndex pli_triangle_tree_nearest(const PliTriangleTree *tree, const double p[3], double *square, double w[3])
{
    PliIndex best = PLI_NONE, stack[MAX_STACK];
    double near_to[MAX_STACK], least = *square;
    int top = 0;
    if (tree->box_count > 0) near_to[0] = square_to_box(p, &tree->box[0]), stack[top++] = 0;
    while (top > 0) {
        const PliIndex n = stack[--top];
        const Box *box = &tree->box[n];
        if (near_to[top] > least) continue;
        if (box->right) {
            const double left = square_to_box(p, &tree->box[n + 1]), right = square_to_box(p, &tree->box[box->right]);
            const bool left_first = left <= right;
            near_to[top] = left_first ? right : left, stack[top++] = left_first ? box->right : n + 1;
            near_to[top] = left_first ? left : right, stack[top++] = left_first ? n + 1 : box->right;
            continue;
        }
        for (PliIndex i = box->first; i < box->first + box->count; ++i) {
            double u[3];
            const double far = square_to(tree, p, tree->order[i], u);
            if (far > least || (far == least && (best == PLI_NONE || tree->order[i] > best))) continue;
            least = far, best = tree->order[i];
            v3_copy(w, u);
        }
    }
    *square = least;
    return best;
}

double pli_triangle_tree_distance(const PliTriangleTree *tree, const double p[3], double bound)
{
    double square = bound * bound, w[3];
    return pli_triangle_tree_nearest(tree, p, &square, w) == PLI_NONE
               ? bound
               : sqrt(square); // the root of a square is not always the number
}

PliIndex pli_triangle_tree_within(const PliTriangleTree *tree, const double p[3], double radius, PliIndex *out,
                                  PliIndex capacity)
{
    PliIndex stack[MAX_STACK], count = 0;
    const double square = radius * radius;
    int top = 0;
    if (tree->box_count > 0) stack[top++] = 0;
    while (top > 0) {
        const PliIndex n = stack[--top];
        const Box *box = &tree->box[n];
        if (square_to_box(p, box) > square) continue;
        if (box->right) {
            stack[top++] = box->right;
            stack[top++] = n + 1;
            continue;
        }
        for (PliIndex i = box->first; i < box->first + box->count; ++i) {
            double w[3];
            if (square_to(tree, p, tree->order[i], w) > square) continue;
            if (count < capacity) out[count] = tree->order[i];
            count++;
        }
    }
    return count;
}

double pli_hausdorff(PliTriangleTree *tree, const double *a, const double *b)
{
    double largest = 0.0;
    for (int side = 0; side < 2; ++side) {
        const double *from = side ? b : a, *to = side ? a : b;
        pli_triangle_tree_refit(tree, to);
        for (size_t i = 0; i < tree->count; ++i) {
            if (!tree->used[i]) continue; // its own point is no part of the surface: no bound, and no meaning
            const double bound = v3_distance(from + 3 * i, to + 3 * i);
            if (bound > largest) largest = fmax(largest, pli_triangle_tree_distance(tree, from + 3 * i, bound));
            if (isnan(bound)) largest = NAN;
        }
    }
    return largest;
}
