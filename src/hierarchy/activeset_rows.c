/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Rows of W. A passive node is a weighted sum of four nodes one level up or down, which may be passive themselves, and small
// cycles are common because the meshes are not nested (two to five nodes in most active sets). Strongly connected components
// come out of Tarjan's algorithm in the order in which rows can be computed; a component of several nodes is solved by a dense
// inverse. Sweeping over stale values instead, as the paper does, leaves an error that depends on the storage order.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "hierarchy/activeset.h"

enum { MAX_COMPONENT = 256 };

/// The four nodes a passive node follows.
static const PliIndex *sources(const PliActiveSet *s, PliIndex node, const double **weight)
{
    const PliLevels *h = s->h;
    const bool below = s->state[node] == PLI_BELOW;
    *weight = (below ? h->up_weight : h->down_weight) + 4 * (size_t)node;
    return h->tets + 4 * (size_t)(below ? h->up[node] : h->down[node]);
}

// ---- one row -------------------------------------------------------------------------------------------------------------

static PliIndex sum_begin(PliActiveSet *s)
{
    if (++s->stamp == 0) { // wrapped: old stamps could look current
        memset(s->sum_stamp, 0, s->h->point_count * sizeof *s->sum_stamp);
        s->stamp = 1;
    }
    return 0;
}

static PliIndex sum_add(PliActiveSet *s, PliIndex count, double factor, PliIndex node)
{
    const PliIndex first = s->row_first[node], last = first + s->row_count[node];
    for (PliIndex k = first; k < last; ++k) {
        const PliIndex c = s->column[k];
        if (s->sum_stamp[c] != s->stamp) {
            s->sum_stamp[c] = s->stamp;
            s->sum[c] = 0.0;
            s->sum_column[count++] = c;
        }
        s->sum[c] += factor * s->weight[k];
    }
    return count;
}

/// Widens slots so that `node` can hold `count` entries, and those that are nearly full with it: what grows once grows again,
/// and moving all rows is not a thing to do at every event.
static PliStatus repack(PliActiveSet *s, PliIndex node, PliIndex count)
{
    const PliIndex n = s->h->point_count;
    size_t grown = 0;
    for (PliIndex i = 0; i < n; ++i) s->slot[i] = s->row_first[i + 1] - s->row_first[i];
    for (PliIndex i = 0; i < n; ++i) {
        const PliIndex wanted = i == node ? 2 * count : s->slot[i] < s->row_count[i] + s->row_count[i] / 4 ? 2 * s->row_count[i] : 0;
        const PliIndex slot = (wanted + 3) / 4 * 4;
        if (slot <= s->slot[i]) continue;
        // near the end of the memory only the row that must grow does
        if (s->row_first[n] + grown + (slot - s->slot[i]) > s->entry_capacity - (i < node ? 2 * (size_t)count : 0)) {
            if (i != node) continue;
            if (s->row_first[n] + grown + (count - s->slot[i]) > s->entry_capacity) return PLI_OVER_CAPACITY;
            grown += count - s->slot[i];
            s->slot[i] = count;
            continue;
        }
        grown += slot - s->slot[i];
        s->slot[i] = slot;
    }
    // slots only grow, so moving from the last to the first never overwrites what is still to move
    PliIndex end = (PliIndex)(s->row_first[n] + grown);
    for (PliIndex i = n; i-- > 0;) {
        const PliIndex from = s->row_first[i], to = end - s->slot[i], used = s->row_count[i];
        memmove(s->column + to, s->column + from, used * sizeof *s->column);
        memmove(s->weight + to, s->weight + from, used * sizeof *s->weight);
        for (PliIndex k = to + used; k < end; ++k) s->column[k] = used ? s->column[to] : 0, s->weight[k] = 0.0;
        s->row_first[i + 1] = end;
        end = to;
    }
    s->repacks++;
    return PLI_OK;
}

static PliStatus sum_store(PliActiveSet *s, PliIndex count, PliIndex node)
{
    // ascending columns and no zeros: one row has one form, whatever way it was computed
    PliIndex used = 0;
    for (PliIndex k = 0; k < count; ++k) {
        const PliIndex c = s->sum_column[k];
        if (fabs(s->sum[c]) < 1e-16) continue;
        PliIndex j = used++;
        for (; j > 0 && s->sum_column[j - 1] > c; --j) s->sum_column[j] = s->sum_column[j - 1];
        s->sum_column[j] = c;
    }
    if (used > s->row_first[node + 1] - s->row_first[node]) {
        const PliStatus status = repack(s, node, used);
        if (status != PLI_OK) return status;
    }
    const PliIndex first = s->row_first[node];
    for (PliIndex k = 0; k < used; ++k) {
        s->column[first + k] = s->sum_column[k];
        s->weight[first + k] = s->sum[s->sum_column[k]];
    }
    for (PliIndex k = first + used; k < s->row_first[node + 1]; ++k) s->column[k] = s->sum_column[0], s->weight[k] = 0.0;
    s->row_count[node] = used;
    return PLI_OK;
}

static PliStatus store_identity(PliActiveSet *s, PliIndex node)
{
    sum_begin(s);
    s->sum[node] = 1.0;
    s->sum_column[0] = node;
    return sum_store(s, 1, node);
}

static PliStatus solve_single(PliActiveSet *s, PliIndex node)
{
    const double *w;
    const PliIndex *from = sources(s, node, &w);
    PliIndex count = sum_begin(s);
    for (int c = 0; c < 4; ++c)
        if (w[c] != 0.0) count = sum_add(s, count, w[c], from[c]);
    return sum_store(s, count, node);
}

// ---- a component of several nodes ------------------------------------------------------------------------------------------

static PliIndex find_in(const PliIndex *list, PliIndex n, PliIndex node)
{
    for (PliIndex i = 0; i < n; ++i)
        if (list[i] == node) return i;
    return PLI_NONE;
}

/// Gauss-Jordan with partial pivoting: inverse of the left half of a [n, 2n] matrix into the right half.
static bool invert(double *a, PliIndex n)
{
    const size_t width = 2 * (size_t)n;
    for (PliIndex c = 0; c < n; ++c) {
        PliIndex pivot = c;
        for (PliIndex r = c + 1; r < n; ++r)
            if (fabs(a[r * width + c]) > fabs(a[pivot * width + c])) pivot = r;
        if (fabs(a[pivot * width + c]) < 1e-6) return false; // the spectral radius of real sets is below 0.4
        for (size_t k = 0; pivot != c && k < width; ++k) {
            const double t = a[c * width + k];
            a[c * width + k] = a[pivot * width + k], a[pivot * width + k] = t;
        }
        const double scale = 1.0 / a[c * width + c];
        for (size_t k = 0; k < width; ++k) a[c * width + k] *= scale;
        for (PliIndex r = 0; r < n; ++r) {
            const double f = a[r * width + c];
            if (r == c || f == 0.0) continue;
            for (size_t k = 0; k < width; ++k) a[r * width + k] -= f * a[c * width + k];
        }
    }
    return true;
}

static PliStatus solve_component(PliActiveSet *s, PliIndex *node, PliIndex n)
{
    if (n > s->largest_component) s->largest_component = n;
    if (n > MAX_COMPONENT) return PLI_OVER_CAPACITY;
    for (PliIndex i = 1; i < n; ++i) { // one order, whichever node was found first
        const PliIndex key = node[i];
        PliIndex j = i;
        for (; j > 0 && node[j - 1] > key; --j) node[j] = node[j - 1];
        node[j] = key;
    }
    const size_t width = 2 * (size_t)n;
    memset(s->dense, 0, n * width * sizeof *s->dense);
    for (PliIndex i = 0; i < n; ++i) {
        const double *w;
        const PliIndex *from = sources(s, node[i], &w);
        s->dense[i * width + i] += 1.0;
        s->dense[i * width + n + i] = 1.0;
        for (int c = 0; c < 4; ++c) {
            const PliIndex j = w[c] != 0.0 ? find_in(node, n, from[c]) : PLI_NONE;
            if (j != PLI_NONE) s->dense[i * width + j] -= w[c];
        }
    }
    if (!invert(s->dense, n)) return PLI_OVER_CAPACITY;
    // rows only read nodes outside the component, so they may be stored one after another
    for (PliIndex i = 0; i < n; ++i) {
        PliIndex count = sum_begin(s);
        for (PliIndex j = 0; j < n; ++j) {
            const double *w;
            const PliIndex *from = sources(s, node[j], &w);
            for (int c = 0; c < 4; ++c)
                if (w[c] != 0.0 && find_in(node, n, from[c]) == PLI_NONE) count = sum_add(s, count, s->dense[i * width + n + j] * w[c], from[c]);
        }
        const PliStatus status = sum_store(s, count, node[i]);
        if (status != PLI_OK) return status;
    }
    return PLI_OK;
}

// ---- all affected rows -----------------------------------------------------------------------------------------------------

/// Tarjan's strongly connected components without recursion, over affected passive nodes. order 0: not visited yet.
static PliStatus visit(PliActiveSet *s, PliIndex root, PliIndex *next)
{
    PliIndex depth = 0, stacked = 0;
    s->frame_node[0] = root, s->frame_corner[0] = 0;
    s->order[root] = s->low[root] = ++*next;
    s->stack[stacked++] = root, s->on_stack[root] = 1;
    for (;;) {
        const PliIndex node = s->frame_node[depth];
        if (s->frame_corner[depth] < 4) {
            const double *w;
            const PliIndex *from = sources(s, node, &w);
            const int c = s->frame_corner[depth]++;
            const PliIndex to = from[c];
            if (w[c] == 0.0 || !s->node_mark[to] || s->state[to] == PLI_ACTIVE) continue;
            if (s->order[to] == 0) {
                ++depth;
                s->frame_node[depth] = to, s->frame_corner[depth] = 0;
                s->order[to] = s->low[to] = ++*next;
                s->stack[stacked++] = to, s->on_stack[to] = 1;
            } else if (s->on_stack[to] && s->order[to] < s->low[node]) {
                s->low[node] = s->order[to];
            }
            continue;
        }
        if (s->low[node] == s->order[node]) {
            PliIndex n = 0, member;
            do {
                member = s->stack[--stacked];
                s->on_stack[member] = 0;
                s->component[n++] = member;
            } while (member != node);
            const PliStatus status = n == 1 ? solve_single(s, node) : solve_component(s, s->component, n);
            if (status != PLI_OK) {
                while (stacked > 0) s->on_stack[s->stack[--stacked]] = 0;
                return status;
            }
        }
        if (depth == 0) return PLI_OK;
        const PliIndex caller = s->frame_node[--depth];
        if (s->low[node] < s->low[caller]) s->low[caller] = s->low[node];
    }
}

PliStatus pli_activeset_solve_rows(PliActiveSet *s)
{
    for (PliIndex i = 0; i < s->affected_count; ++i) {
        const PliIndex node = s->affected[i];
        s->order[node] = 0;
        if (s->state[node] != PLI_ACTIVE) continue;
        const PliStatus status = store_identity(s, node);
        if (status != PLI_OK) return status;
    }
    PliIndex next = 0;
    for (PliIndex i = 0; i < s->affected_count; ++i) {
        const PliIndex node = s->affected[i];
        if (s->state[node] == PLI_ACTIVE || s->order[node] != 0) continue;
        const PliStatus status = visit(s, node, &next);
        if (status != PLI_OK) return status;
    }
    return PLI_OK;
}

/// Adds (or takes back) what a finest node gives to the active nodes of its row: whole units that sum to its share.
void pli_activeset_add_mass(PliActiveSet *s, PliIndex node, int sign)
{
    const int64_t share = s->h->point_share[node];
    const PliIndex first = s->row_first[node], last = first + s->row_count[node];
    if (share == 0 || first == last) return;
    int64_t left = share;
    PliIndex largest = first;
    for (PliIndex k = first; k < last; ++k) {
        const int64_t part = llrint((double)share * s->weight[k]);
        s->mass[s->column[k]] += sign * part;
        left -= part;
        if (s->weight[k] > s->weight[largest]) largest = k;
    }
    s->mass[s->column[largest]] += sign * left;
}
