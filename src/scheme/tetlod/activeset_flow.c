/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which nodes follow which, without cycles, and the masses that flow along.
#include <math.h>
#include <string.h>

#include "scheme/tetlod/activeset.h"

// ---- flow ------------------------------------------------------------------------------------------------------------------

static void send(PliActiveSet *s, PliIndex node, int64_t amount)
{
    if (amount == 0) return;
    if (s->pending[node] == 0) {
        // a ring: no node is in it twice, so it cannot overflow
        s->queue[(s->queue_first + s->queue_count++) % s->h->point_count] = node;
        s->pending[node] = amount;
        return;
    }
    if (s->pending[node] == INT64_MIN) s->pending[node] = 0;
    s->pending[node] += amount;
    // cancelled on its way: the entry stays queued and finds nothing to do, but must not be queued again
    if (s->pending[node] == 0) s->pending[node] = INT64_MIN;
}

/// What a passive node passes on, with the given sign: whole units that sum to what has reached it.
static void pass(PliActiveSet *s, PliIndex node, int sign)
{
    if (s->state[node] == PLI_ACTIVE) return;
    const PliIndex *to;
    const double *w;
    const PliIndex n = pli_activeset_sources(s, node, &to, &w);
    const int64_t whole = s->mass[node];
    int64_t left = whole;
    PliIndex largest = 0;
    for (PliIndex k = 0; k < n; ++k) {
        if (w[k] > w[largest]) largest = k;
        if (w[k] != 0.0) left -= llrint((double)whole * w[k]);
    }
    for (PliIndex k = 0; k < n; ++k) {
        const int64_t part = w[k] == 0.0 ? 0 : llrint((double)whole * w[k]);
        send(s, to[k], sign * (k == largest ? part + left : part));
    }
}

void pli_activeset_add_patch(PliActiveSet *s, PliIndex node, bool was_active)
{
    if (s->patch_mark[node]) return;
    s->patch_mark[node] = 1;
    s->patch_mass[s->patch_count] = was_active ? s->mass[node] : 0;
    s->patch[s->patch_count++] = node;
}

/// Lets everything that was sent arrive. The graph has no cycles, unless one could not be tied: then the event will be refused, and
/// it only matters that this ends.
static void settle(PliActiveSet *s)
{
    for (uint64_t hops = 0; s->queue_count > 0; ++hops) {
        const PliIndex node = s->queue[s->queue_first];
        s->queue_first = (s->queue_first + 1) % s->h->point_count;
        s->queue_count--;
        const int64_t amount = s->pending[node];
        s->pending[node] = 0;
        if (amount == INT64_MIN || (s->is_damaged && hops > 16ull * s->h->point_count)) continue;
        if (s->state[node] == PLI_ACTIVE) {
            pli_activeset_add_patch(s, node, true);
            s->mass[node] += amount;
            continue;
        }
        pass(s, node, -1);
        s->mass[node] += amount;
        pass(s, node, 1);
    }
}

// ---- cycles -----------------------------------------------------------------------------------------------------------------

static void suspect(PliActiveSet *s, PliIndex node) { s->suspect[s->suspect_count++] = node; }

/// Members of a cycle follow their own nodes again; they are looked at once more at the end of the stage.
static void untie(PliActiveSet *s, PliIndex node)
{
    PliIndex k = s->cycle[node];
    const PliIndex first = k;
    do {
        const PliIndex member = s->cycle_node[k], next = s->cycle_next[k];
        pass(s, member, -1);
        s->cycle[member] = PLI_NONE;
        pass(s, member, 1);
        s->free_cycle[s->free_cycles++] = k;
        suspect(s, member);
        k = next;
    } while (k != first);
}

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
        if (fabs(a[pivot * width + c]) < 1e-6) return false;
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

/// Solves x_s = W_ss x_s + W_so x_o for the members of one cycle: each then follows nodes outside it only.
static bool tie(PliActiveSet *s, PliIndex *node, PliIndex n)
{
    if (n > s->largest_component) s->largest_component = n;
    if (n > PLI_CYCLE_MAX || n > s->free_cycles) return false;
    for (PliIndex i = 1; i < n; ++i) { // one order, whichever node was found first
        const PliIndex key = node[i];
        PliIndex j = i;
        for (; j > 0 && node[j - 1] > key; --j) node[j] = node[j - 1];
        node[j] = key;
    }
    const size_t width = 2 * (size_t)n;
    const PliIndex *from;
    const double *w;
    memset(s->dense, 0, n * width * sizeof *s->dense);
    PliIndex outside[PLI_CYCLE_ROW], outsiders = 0;
    for (PliIndex i = 0; i < n; ++i) {
        const PliIndex follows = pli_activeset_sources(s, node[i], &from, &w);
        s->dense[i * width + i] += 1.0;
        s->dense[i * width + n + i] = 1.0;
        for (PliIndex c = 0; c < follows; ++c) {
            if (w[c] == 0.0) continue;
            const PliIndex j = find_in(node, n, from[c]);
            if (j != PLI_NONE) {
                s->dense[i * width + j] -= w[c];
            } else if (find_in(outside, outsiders, from[c]) == PLI_NONE) {
                if (outsiders == PLI_CYCLE_ROW) return false;
                outside[outsiders++] = from[c];
            }
        }
    }
    if (!invert(s->dense, n)) return false;
    for (PliIndex i = 0; i < n; ++i) pass(s, node[i], -1);
    PliIndex taken[PLI_CYCLE_MAX];
    for (PliIndex i = 0; i < n; ++i) {
        const PliIndex k = taken[i] = s->free_cycle[--s->free_cycles];
        double *row = s->cycle_weight + (size_t)PLI_CYCLE_ROW * k, sum = 0.0;
        memset(row, 0, outsiders * sizeof *row);
        memcpy(s->cycle_source + (size_t)PLI_CYCLE_ROW * k, outside, outsiders * sizeof *outside);
        for (PliIndex j = 0; j < n; ++j) {
            // still its own: no member is tied yet
            const PliIndex follows = pli_activeset_sources(s, node[j], &from, &w);
            for (PliIndex c = 0; c < follows; ++c) {
                const PliIndex at = w[c] == 0.0 ? PLI_NONE : find_in(outside, outsiders, from[c]);
                if (at != PLI_NONE) row[at] += s->dense[i * width + n + j] * w[c];
            }
        }
        // weights sum to one up to rounding; the last bits go to the largest
        PliIndex largest = 0;
        for (PliIndex o = 0; o < outsiders; ++o) {
            if (row[o] > row[largest]) largest = o;
            sum += row[o];
        }
        row[largest] += 1.0 - sum;
        s->cycle_size[k] = outsiders;
        s->cycle_node[k] = node[i];
    }
    for (PliIndex i = 0; i < n; ++i) {
        s->cycle[node[i]] = taken[i];
        s->cycle_next[taken[i]] = taken[(i + 1) % n];
    }
    for (PliIndex i = 0; i < n; ++i) pass(s, node[i], 1);
    return true;
}

static void component_found(PliActiveSet *s, PliIndex n)
{
    if (n == 1) return;
    bool is_new = false;
    for (PliIndex i = 0; i < n; ++i) is_new = is_new || s->cycle[s->component[i]] == PLI_NONE;
    if (!is_new) return;
    // an older, smaller cycle may be part of it
    for (PliIndex i = 0; i < n; ++i)
        if (s->cycle[s->component[i]] != PLI_NONE) untie(s, s->component[i]);
    if (!tie(s, s->component, n)) s->is_damaged = true;
}

/// The nodes a node follows by itself, tied or not.
static PliIndex own_sources(const PliActiveSet *s, PliIndex node, const PliIndex **from, const double **w)
{
    return pli_levels_sources(s->h, node, s->state[node] == PLI_BELOW, from, w);
}

/// Tarjan's strongly connected components without recursion. A node was visited in this round when its order is above `before`.
static void search_cycles(PliActiveSet *s, PliIndex root, uint32_t before)
{
    if (s->state[root] == PLI_ACTIVE || s->order[root] > before) return;
    PliIndex depth = 0, stacked = 0;
    s->frame_node[0] = root, s->frame_corner[0] = 0;
    s->order[root] = s->low[root] = ++s->visits;
    s->stack[stacked++] = root, s->on_stack[root] = 1;
    for (;;) {
        const PliIndex node = s->frame_node[depth];
        const double *w;
        const PliIndex *from;
        if (s->frame_corner[depth] < own_sources(s, node, &from, &w)) {
            const int c = s->frame_corner[depth]++;
            const PliIndex to = from[c];
            if (w[c] == 0.0 || s->state[to] == PLI_ACTIVE) continue;
            if (s->order[to] <= before) {
                ++depth;
                s->frame_node[depth] = to, s->frame_corner[depth] = 0;
                s->order[to] = s->low[to] = ++s->visits;
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
            component_found(s, n);
        }
        if (depth == 0) return;
        const PliIndex caller = s->frame_node[--depth];
        if (s->low[node] < s->low[caller]) s->low[caller] = s->low[node];
    }
}

static uint32_t search_begin(PliActiveSet *s)
{
    if (s->visits > UINT32_MAX - 2 * s->h->point_count) { // about to wrap: forget all rounds
        memset(s->order, 0, s->h->point_count * sizeof *s->order);
        s->visits = 0;
    }
    return s->visits;
}

// ---- stages ----------------------------------------------------------------------------------------------------------------

void pli_activeset_stage_begin(PliActiveSet *s) { s->suspect_count = 0; }

void pli_activeset_stage_leave(PliActiveSet *s, PliIndex node)
{
    if (s->cycle[node] != PLI_NONE) untie(s, node);
    pass(s, node, -1);
}

void pli_activeset_stage_enter(PliActiveSet *s, PliIndex node)
{
    pass(s, node, 1);
    suspect(s, node);
}

void pli_activeset_stage_end(PliActiveSet *s)
{
    // a new cycle goes through a node that changed or that was tied before
    const uint32_t before = search_begin(s);
    for (PliIndex i = 0; i < s->suspect_count; ++i) search_cycles(s, s->suspect[i], before);
    settle(s);
}

void pli_activeset_rebuild_flow(PliActiveSet *s)
{
    const PliLevels *h = s->h;
    memset(s->mass, 0, h->point_count * sizeof *s->mass);
    memset(s->pending, 0, h->point_count * sizeof *s->pending);
    memset(s->cycle, 0xff, h->point_count * sizeof *s->cycle);
    s->queue_count = s->queue_first = s->suspect_count = 0;
    s->is_damaged = false;
    s->free_cycles = s->cycle_capacity;
    for (PliIndex k = 0; k < s->cycle_capacity; ++k) s->free_cycle[k] = s->cycle_capacity - 1 - k;
    const uint32_t before = search_begin(s);
    for (PliIndex p = 0; p < h->point_count; ++p) search_cycles(s, p, before);
    // finest nodes first, so that most of what a coarser node gets is there when its turn comes
    for (PliIndex p = h->finest_first; p < h->point_count; ++p) send(s, p, h->point_share[p]);
    settle(s);
}
