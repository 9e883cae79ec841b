/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static double square_to_segment(const double p[3], const double a[3], const double b[3])
{
    double ab[3], ap[3];
    v3_sub(ab, b, a);
    v3_sub(ap, p, a);
    const double length = v3_dot(ab, ab);
    const double t = length > 0.0 ? fmin(1.0, fmax(0.0, v3_dot(ap, ab) / length)) : 0.0;
    v3_madd(ap, -t, ab);
    return v3_dot(ap, ap);
}

static double square_to_triangle(const double p[3], const double a[3], const double b[3], const double c[3])
{
    double ab[3], ac[3], ap[3], n[3], across[3];
    v3_sub(ab, b, a);
    v3_sub(ac, c, a);
    v3_sub(ap, p, a);
    v3_cross(n, ab, ac);
    const double area = v3_dot(n, n);
    if (area > 0.0) { // weights of b and c of the foot point in the plane
        v3_cross(across, ap, ac);
        const double wb = v3_dot(across, n) / area;
        v3_cross(across, ab, ap);
        const double wc = v3_dot(across, n) / area;
        if (wb >= 0.0 && wc >= 0.0 && wb + wc <= 1.0) {
            const double height = v3_dot(ap, n);
            return height * height / area;
        }
    }
    return fmin(square_to_segment(p, a, b), fmin(square_to_segment(p, b, c), square_to_segment(p, c, a)));
}

double pli_distance_to_triangle(const double p[3], const double a[3], const double b[3], const double c[3])
{
    return sqrt(square_to_triangle(p, a, b, c));
}

// ---- tree of boxes ------------------------------------------------------------------------------------------------------

enum { LEAF = 4, MAX_STACK = 96 };

/// Children of node n are n + 1 and `right`; a leaf has right = 0 and owns order[first .. first + count).
typedef struct Box {
    double min[3], max[3];
    PliIndex right, first, count;
} Box;

struct PliTriangleTree {
    PliIndex count, tri_count, box_count;
    PliIndex *tris, *order;
    Box *box;
    const double *x;
};

typedef struct Keyed {
    double key;
    PliIndex tri;
} Keyed;

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

PliTriangleTree *pli_triangle_tree_create(const double *rest, PliIndex count, const PliIndex *tris, PliIndex tri_count)
{
    PliTriangleTree *tree = calloc(1, sizeof *tree);
    const size_t n = tri_count;
    if (!tree) return NULL;
    *tree = (PliTriangleTree){ .count = count, .tri_count = tri_count };
    tree->tris = malloc((3 * n + 1) * sizeof *tree->tris);
    tree->order = malloc((n + 1) * sizeof *tree->order);
    tree->box = malloc((2 * n + 1) * sizeof *tree->box);
    double *centre = malloc((3 * n + 1) * sizeof *centre);
    Keyed *scratch = malloc((n + 1) * sizeof *scratch);
    const bool good = tree->tris && tree->order && tree->box && centre && scratch;
    if (good) {
        for (size_t t = 0; t < n; ++t) {
            tree->order[t] = (PliIndex)t;
            for (size_t k = 0; k < 3; ++k) tree->tris[3 * t + k] = tris[3 * t + k];
            for (size_t k = 0; k < 3; ++k)
                centre[3 * t + k] = rest[3 * (size_t)tris[3 * t] + k] + rest[3 * (size_t)tris[3 * t + 1] + k] + rest[3 * (size_t)tris[3 * t + 2] + k];
        }
        if (n > 0) build(tree, centre, scratch, 0, tri_count);
        pli_triangle_tree_refit(tree, rest);
    }
    free(centre);
    free(scratch);
    if (good) return tree;
    pli_triangle_tree_destroy(tree);
    return NULL;
}

void pli_triangle_tree_destroy(PliTriangleTree *tree)
{
    if (!tree) return;
    free(tree->tris);
    free(tree->order);
    free(tree->box);
    free(tree);
}

void pli_triangle_tree_refit(PliTriangleTree *tree, const double *x)
{
    tree->x = x;
    for (PliIndex n = tree->box_count; n-- > 0;) { // children come after their parent
        Box *box = &tree->box[n];
        for (int k = 0; k < 3; ++k) box->min[k] = INFINITY, box->max[k] = -INFINITY;
        if (box->right) {
            const Box *side[2] = { &tree->box[n + 1], &tree->box[box->right] };
            for (int s = 0; s < 2; ++s)
                for (int k = 0; k < 3; ++k) box->min[k] = fmin(box->min[k], side[s]->min[k]), box->max[k] = fmax(box->max[k], side[s]->max[k]);
            continue;
        }
        for (PliIndex i = box->first; i < box->first + box->count; ++i)
            for (size_t c = 0; c < 3; ++c) {
                const double *p = x + 3 * (size_t)tree->tris[3 * (size_t)tree->order[i] + c];
                for (int k = 0; k < 3; ++k) box->min[k] = fmin(box->min[k], p[k]), box->max[k] = fmax(box->max[k], p[k]);
            }
    }
}

static double square_to_box(const double p[3], const Box *box)
{
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        const double d = fmax(0.0, fmax(box->min[k] - p[k], p[k] - box->max[k]));
        sum += d * d;
    }
    return sum;
}

double pli_triangle_tree_distance(const PliTriangleTree *tree, const double p[3], double bound)
{
    double best = bound * bound;
    PliIndex stack[MAX_STACK]; // halving 2^32 triangles is 32 deep
    int top = 0;
    if (tree->box_count > 0) stack[top++] = 0;
    while (top > 0) {
        const PliIndex n = stack[--top];
        const Box *box = &tree->box[n];
        if (square_to_box(p, box) >= best) continue;
        if (box->right) {
            const bool left_first = square_to_box(p, &tree->box[n + 1]) <= square_to_box(p, &tree->box[box->right]);
            stack[top++] = left_first ? box->right : n + 1;
            stack[top++] = left_first ? n + 1 : box->right;
            continue;
        }
        for (PliIndex i = box->first; i < box->first + box->count; ++i) {
            const PliIndex *tri = tree->tris + 3 * (size_t)tree->order[i];
            best = fmin(best, square_to_triangle(p, tree->x + 3 * (size_t)tri[0], tree->x + 3 * (size_t)tri[1], tree->x + 3 * (size_t)tri[2]));
        }
    }
    return best < bound * bound ? sqrt(best) : bound; // the root of a square is not always the number
}

double pli_hausdorff(PliTriangleTree *tree, const double *a, const double *b)
{
    double largest = 0.0;
    unsigned char *used = calloc((size_t)tree->count + 1, 1);
    if (!used) return NAN;
    for (size_t k = 0; k < 3 * (size_t)tree->tri_count; ++k) used[tree->tris[k]] = 1;
    for (int side = 0; side < 2; ++side) {
        const double *from = side ? b : a, *to = side ? a : b;
        pli_triangle_tree_refit(tree, to);
        for (size_t i = 0; i < tree->count; ++i) {
            if (!used[i]) continue; // its own point is no part of the surface: no bound, and no meaning
            const double bound = v3_distance(from + 3 * i, to + 3 * i);
            if (bound > largest) largest = fmax(largest, pli_triangle_tree_distance(tree, from + 3 * i, bound));
            if (isnan(bound)) largest = NAN;
        }
    }
    free(used);
    return largest;
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
