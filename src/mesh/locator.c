/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/mesh.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "mesh/tet.h"

enum { LEAF = 8, MAX_DEPTH = 64 };

/// Weights down to this count as inside, so that a point on a shared face, edge or node is inside every tet it touches
/// whatever the rounding, and the lowest index wins.
static const double inside_slack = 1e-12;

/// Either two children (second at `right`, first right behind the node) or `count` tets from order[first].
typedef struct Box {
    double min[3], max[3];
    PliIndex right, first, count;
} Box;

struct PliLocator {
    PliHost host;
    double *x;
    PliIndex *tets, *order;
    Box *box;
    PliIndex point_count, tet_count, used_count, box_count, box_capacity;
};

typedef struct Sort {
    double *centre; ///< shape [tet_count, 3]
    PliIndex *order;
} Sort;

static bool before(const Sort *s, int axis, PliIndex a, PliIndex b)
{
    const double ca = s->centre[3 * (size_t)a + axis], cb = s->centre[3 * (size_t)b + axis];
    return ca < cb || (ca == cb && a < b);
}

static void swap(PliIndex *a, PliIndex *b)
{
    const PliIndex t = *a;
    *a = *b, *b = t;
}

/// Puts the tet of rank `nth` of order[first .. last) in its place, smaller ones before it. Ranks are total, so the
/// halves are the same sets on every machine.
static void select_nth(const Sort *s, int axis, PliIndex first, PliIndex last, PliIndex nth)
{
    PliIndex *o = s->order;
    while (last - first > 1) {
        // median of three to the end as pivot
        PliIndex *a = o + first, *b = o + first + (last - first) / 2, *c = o + last - 1;
        if (before(s, axis, *b, *a)) swap(a, b);
        if (before(s, axis, *c, *b)) swap(b, c);
        if (before(s, axis, *b, *a)) swap(a, b);
        swap(b, c);
        PliIndex cut = first;
        for (PliIndex i = first; i < last - 1; ++i)
            if (before(s, axis, o[i], *c)) swap(&o[i], &o[cut++]);
        swap(&o[cut], c);
        if (cut == nth) return;
        if (nth < cut)
            last = cut;
        else
            first = cut + 1;
    }
}

static void bound(const PliLocator *l, Box *b, PliIndex first, PliIndex last)
{
    for (int a = 0; a < 3; ++a) b->min[a] = INFINITY, b->max[a] = -INFINITY;
    for (PliIndex i = first; i < last; ++i)
        for (int k = 0; k < 4; ++k) {
            const double *p = l->x + 3 * (size_t)l->tets[4 * (size_t)l->order[i] + k];
            for (int a = 0; a < 3; ++a) {
                b->min[a] = p[a] < b->min[a] ? p[a] : b->min[a];
                b->max[a] = p[a] > b->max[a] ? p[a] : b->max[a];
            }
        }
    // wider by the slack, or a tet that counts a point as inside could sit in a box that does not
    for (int a = 0; a < 3; ++a) {
        const double pad = 4.0 * inside_slack * (b->max[a] - b->min[a]);
        b->min[a] -= pad, b->max[a] += pad;
    }
}

static PliIndex build(PliLocator *l, const Sort *s, PliIndex first, PliIndex last)
{
    const PliIndex id = l->box_count++;
    Box *b = &l->box[id];
    bound(l, b, first, last);
    if (last - first <= LEAF) {
        b->first = first, b->count = last - first;
        return id;
    }
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (PliIndex i = first; i < last; ++i)
        for (int a = 0; a < 3; ++a) {
            const double c = s->centre[3 * (size_t)l->order[i] + a];
            lo[a] = c < lo[a] ? c : lo[a], hi[a] = c > hi[a] ? c : hi[a];
        }
    int axis = 0;
    for (int a = 1; a < 3; ++a)
        if (hi[a] - lo[a] > hi[axis] - lo[axis]) axis = a;
    const PliIndex mid = first + (last - first) / 2;
    select_nth(s, axis, first, last, mid);
    build(l, s, first, mid);
    l->box[id].right = build(l, s, mid, last);
    return id;
}

static void give_back_boxes(PliLocator *l)
{
    Box *box = PLI_NEW(&l->host, l->box_count, Box);
    if (!box) return; // it stays as large as it was
    if (l->box_count) memcpy(box, l->box, l->box_count * sizeof *box);
    PLI_FREE(&l->host, l->box, l->box_capacity);
    l->box = box, l->box_capacity = l->box_count;
}

static bool valid(const double *x, PliIndex point_count, const PliIndex *tets, PliIndex tet_count)
{
    for (size_t i = 0; i < 3 * (size_t)point_count; ++i)
        if (!isfinite(x[i])) return false;
    for (size_t i = 0; i < 4 * (size_t)tet_count; ++i)
        if (tets[i] >= point_count) return false;
    return true;
}

PliLocator *pli_locator_create(const PliHost *host, const double *x, PliIndex point_count, const PliIndex *tets,
                               PliIndex tet_count)
{
    if (!valid(x, point_count, tets, tet_count)) return NULL;
    PliLocator *l = PLI_NEW(host, 1, PliLocator);
    if (!l) return NULL;
    l->host = *host;
    l->point_count = point_count, l->tet_count = tet_count;
    l->box_capacity = tet_count + 1;
    l->x = PLI_NEW(host, 3 * (size_t)point_count, double);
    l->tets = PLI_NEW(host, 4 * (size_t)tet_count, PliIndex);
    l->order = PLI_NEW(host, tet_count, PliIndex);
    l->box = PLI_NEW(host, l->box_capacity, Box);
    double *centre = PLI_NEW(host, 3 * (size_t)tet_count, double);
    const bool done = l->x && l->tets && l->order && l->box && centre;
    if (done) {
        if (point_count) memcpy(l->x, x, 3 * (size_t)point_count * sizeof *x);
        if (tet_count) memcpy(l->tets, tets, 4 * (size_t)tet_count * sizeof *tets);
        for (PliIndex t = 0; t < tet_count; ++t) {
            const PliIndex *tet = tets + 4 * (size_t)t;
            // a flat tet has no weights: it is never an answer
            if (pli_tet_volume6(x, tet) == 0.0) continue;
            l->order[l->used_count++] = t;
            for (int k = 0; k < 4; ++k) v3_madd(centre + 3 * (size_t)t, 0.25, x + 3 * (size_t)tet[k]);
        }
        const Sort sort = { centre, l->order };
        if (l->used_count) build(l, &sort, 0, l->used_count);
        give_back_boxes(l);
    }
    PLI_FREE(host, centre, 3 * (size_t)tet_count);
    if (done) return l;
    pli_locator_destroy(l);
    return NULL;
}

void pli_locator_destroy(PliLocator *l)
{
    if (!l) return;
    PliHost host = l->host;
    PLI_FREE(&host, l->x, 3 * (size_t)l->point_count);
    PLI_FREE(&host, l->tets, 4 * (size_t)l->tet_count);
    PLI_FREE(&host, l->order, l->tet_count);
    PLI_FREE(&host, l->box, l->box_capacity);
    PLI_FREE(&host, l, 1);
}

static double box_distance2(const Box *b, const double p[3])
{
    double sum = 0.0;
    for (int a = 0; a < 3; ++a) {
        const double below = b->min[a] - p[a], above = p[a] - b->max[a];
        const double d = below > 0.0 ? below : above > 0.0 ? above : 0.0;
        sum += d * d;
    }
    return sum;
}

static bool find_weights(const PliLocator *l, const PliIndex tet[4], const double p[3], double w[4])
{
    const double *o = l->x + 3 * (size_t)tet[0];
    double column[9], inverse[9], d[3];
    for (int k = 0; k < 3; ++k) {
        const double *q = l->x + 3 * (size_t)tet[k + 1];
        for (int a = 0; a < 3; ++a) column[3 * a + k] = q[a] - o[a];
    }
    if (m3_inverse(inverse, column) == 0.0) return false;
    v3_sub(d, p, o);
    m3_apply(w + 1, inverse, d);
    w[0] = 1.0 - w[1] - w[2] - w[3];
    return isfinite(w[0]) && isfinite(w[1]) && isfinite(w[2]) && isfinite(w[3]);
}

static double segment_distance2(const double p[3], const double a[3], const double b[3])
{
    double ab[3], ap[3];
    v3_sub(ab, b, a);
    v3_sub(ap, p, a);
    const double length2 = v3_dot(ab, ab);
    const double t = length2 > 0.0 ? fmin(fmax(v3_dot(ap, ab) / length2, 0.0), 1.0) : 0.0;
    v3_madd(ap, -t, ab);
    return v3_dot(ap, ap);
}

/// Squared distance to the inside of triangle abc, or infinity when the foot of the perpendicular falls beside it.
static double plane_distance2(const double p[3], const double a[3], const double b[3], const double c[3])
{
    double ab[3], ac[3], ap[3], n[3], side[3];
    v3_sub(ab, b, a);
    v3_sub(ac, c, a);
    v3_sub(ap, p, a);
    v3_cross(n, ab, ac);
    const double n2 = v3_dot(n, n);
    v3_cross(side, ab, ap);
    const double wc = v3_dot(side, n);
    v3_cross(side, ap, ac);
    const double wb = v3_dot(side, n);
    if (!(n2 > 0.0) || wb < 0.0 || wc < 0.0 || wb + wc > n2) return INFINITY;
    const double h = v3_dot(ap, n);
    return h * h / n2;
}

/// For a point outside. Edges are walked from the lower to the higher node, so that tets around the same edge get the
/// same bits and tie.
static double tet_distance2(const PliLocator *l, const PliIndex tet[4], const double p[3])
{
    const double *c[4];
    for (int k = 0; k < 4; ++k) c[k] = l->x + 3 * (size_t)tet[k];
    double best = INFINITY;
    for (int e = 0; e < 6; ++e) {
        const int i = pli_tet_edge[e][0], j = pli_tet_edge[e][1];
        const bool up = tet[i] < tet[j];
        best = fmin(best, segment_distance2(p, c[up ? i : j], c[up ? j : i]));
    }
    for (int f = 0; f < 4; ++f) {
        const unsigned char *v = pli_tet_face[f];
        best = fmin(best, plane_distance2(p, c[v[0]], c[v[1]], c[v[2]]));
    }
    return best;
}

/// The nearest tet, or of several the one of lowest index. Unless `far` only those around the point are looked at: most points are inside
/// one, and distances to tets are what takes time. @return squared distance
static double find(const PliLocator *l, const double p[3], bool far, PliIndex *tet, double weights[4])
{
    double best = far ? INFINITY : 0.0;
    PliIndex stack[MAX_DEPTH];
    double reach[MAX_DEPTH]; ///< squared distance to the box on the stack
    int top = 0;
    stack[top] = 0, reach[top++] = box_distance2(&l->box[0], p);
    while (top > 0) {
        const PliIndex id = stack[--top];
        if (reach[top] > best) continue;
        const Box *b = &l->box[id];
        if (b->count == 0) {
            const PliIndex left = id + 1, right = b->right;
            const double dl = box_distance2(&l->box[left], p), dr = box_distance2(&l->box[right], p);
            const bool left_first = dl <= dr;
            stack[top] = left_first ? right : left, reach[top++] = left_first ? dr : dl;
            stack[top] = left_first ? left : right, reach[top++] = left_first ? dl : dr;
            continue;
        }
        for (PliIndex i = b->first; i < b->first + b->count; ++i) {
            const PliIndex t = l->order[i];
            const PliIndex *corner = l->tets + 4 * (size_t)t;
            double w[4];
            if (!find_weights(l, corner, p, w)) continue;
            const bool inside =
                w[0] >= -inside_slack && w[1] >= -inside_slack && w[2] >= -inside_slack && w[3] >= -inside_slack;
            if (!inside && best == 0.0) continue;
            const double d = inside ? 0.0 : tet_distance2(l, corner, p);
            if (d < best || (d == best && t < *tet)) {
                best = d, *tet = t;
                memcpy(weights, w, sizeof w);
            }
        }
    }
    return best;
}

double pli_locator_find(const PliLocator *l, const double p[3], PliIndex *tet, double weights[4])
{
    *tet = PLI_NONE;
    memset(weights, 0, 4 * sizeof *weights);
    if (l->used_count == 0 || !isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) return INFINITY;
    const double inside = find(l, p, false, tet, weights);
    return *tet == PLI_NONE ? sqrt(find(l, p, true, tet, weights)) : inside;
}
