/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A piece is ordered by distance from one of its ends. Between the distances that leave at least a quarter on either side, the smallest set
// that parts both sides is found as the largest number of paths that share no point (Menger): each path is found by breadth first search
// over points entered and left, with earlier paths as flow that may be taken back.
#include "solver/dissect.h"

#include <math.h>
#include <string.h>

enum { SOURCE = 0xfffffffd, SINK = 0xfffffffc }; ///< ends of paths, besides PLI_NONE: no path
enum { FIRST_SIDE, SECOND_SIDE, BETWEEN };

typedef struct Dissection {
    const PliIndex *first, *near;
    PliIndex *part;           ///< per point: piece it belongs to; separators have none
    PliIndex *level;          ///< distance from the end
    PliIndex *before, *after; ///< points of the path through each point
    PliIndex *parent;         ///< [2 n]: of the search, PLI_NONE: not reached
    PliIndex *queue;          ///< [2 n]
    PliIndex *best;           ///< points in the order of the best cut
    PliIndex low, high;       ///< levels between which the piece is cut
    PliIndex own;             ///< number of the piece
} Dissection;

/// Points of the piece reached from `start` go to queue by distance. @return how many
static PliIndex spread(Dissection *d, PliIndex start)
{
    PliIndex end = 0;
    d->queue[end++] = start, d->level[start] = 0;
    for (PliIndex k = 0; k < end; ++k) {
        const PliIndex i = d->queue[k];
        for (PliIndex e = d->first[i]; e < d->first[i + 1]; ++e) {
            const PliIndex j = d->near[e];
            if (d->part[j] != d->own || d->level[j] != PLI_NONE) continue;
            d->level[j] = d->level[i] + 1;
            d->queue[end++] = j;
        }
    }
    return end;
}

// ---- paths that share no point -----------------------------------------------------------------------------------------------------

static bool is_inner(const Dissection *d, PliIndex i)
{
    return d->part[i] == d->own && d->level[i] >= d->low && d->level[i] <= d->high;
}

static bool meets_sink(const Dissection *d, PliIndex i)
{
    if (d->level[i] != d->high) return false;
    for (PliIndex e = d->first[i]; e < d->first[i + 1]; ++e)
        if (d->part[d->near[e]] == d->own && d->level[d->near[e]] == d->high + 1) return true;
    return false;
}

typedef struct Search {
    PliIndex count; ///< states in the queue: 2 i: point i is entered, 2 i + 1: left
} Search;

static void reach(Dissection *d, Search *s, PliIndex state, PliIndex from)
{
    if (d->parent[state] != PLI_NONE) return;
    d->parent[state] = from;
    d->queue[s->count++] = state;
}

/// One more path, or what can be reached without one. @return the point it ends at, or PLI_NONE
static PliIndex find_path(Dissection *d, const PliIndex *inner, PliIndex count)
{
    Search s = { 0 };
    for (PliIndex k = 0; k < count; ++k) d->parent[2 * inner[k]] = d->parent[2 * inner[k] + 1] = PLI_NONE;
    for (PliIndex k = 0; k < count && d->level[inner[k]] == d->low; ++k) reach(d, &s, 2 * inner[k], SOURCE);
    for (PliIndex k = 0; k < s.count; ++k) {
        const PliIndex state = d->queue[k], i = state / 2;
        if (state % 2 == 0) { // entered: through it, or back where its path came from
            if (d->before[i] == PLI_NONE)
                reach(d, &s, state + 1, state);
            else if (d->before[i] != SOURCE)
                reach(d, &s, 2 * d->before[i] + 1, state);
            continue;
        }
        if (meets_sink(d, i)) return i;
        if (d->before[i] != PLI_NONE) reach(d, &s, state - 1, state); // its path may take another way
        for (PliIndex e = d->first[i]; e < d->first[i + 1]; ++e)
            if (is_inner(d, d->near[e])) reach(d, &s, 2 * d->near[e], state);
    }
    return PLI_NONE;
}

/// Adds the path that ends at `last`. A point entered, found to be on a path and left backwards keeps its way on; one left backwards and
/// entered from its other end is on no path any more.
static void take_path(Dissection *d, PliIndex last)
{
    d->after[last] = SINK;
    for (PliIndex state = 2 * last + 1, from; state != SOURCE; state = from) {
        from = d->parent[state];
        const PliIndex i = state / 2, j = from / 2;
        if (from == SOURCE)
            d->before[i] = SOURCE;
        else if (state % 2 == 0 && i == j)
            d->before[i] = d->after[i] = PLI_NONE;
        else if (state % 2 == 0)
            d->after[j] = i, d->before[i] = j;
    }
}

// ---- pieces ------------------------------------------------------------------------------------------------------------------------

/// Levels that leave a quarter on either side; there may be none. A third costs a
/// tenth more arithmetic in factors of the liver.
static bool choose_levels(Dissection *d, const PliIndex *point, PliIndex count)
{
    const PliIndex last = d->level[point[count - 1]], quarter = count / 4;
    if (last < 2) return false;
    d->low = d->level[point[quarter]] + 1, d->high = d->level[point[count - 1 - quarter]];
    if (d->high > d->low) d->high--; // its own points go with the others
    if (d->low > d->high) d->low = d->high = d->level[point[count / 2]];
    if (d->low == 0) d->low = 1;
    if (d->low >= last) d->low = last - 1;
    if (d->high >= last) d->high = last - 1;
    if (d->high < d->low) d->high = d->low;
    return true;
}

/// Points of a piece into first side, second side and what is between; `side` has a number for each of them. The order stays.
static void part_by_side(PliIndex *point, PliIndex count, const PliIndex *side, PliIndex *spare, PliIndex size[3])
{
    PliIndex at = 0;
    for (PliIndex s = FIRST_SIDE; s <= BETWEEN; ++s) {
        const PliIndex start = at;
        for (PliIndex k = 0; k < count; ++k)
            if (side[k] == s) spare[at++] = point[k];
        size[s] = at - start;
    }
    memcpy(point, spare, count * sizeof *point);
}

/// Levels from `start`; points go to `queue` in their order. @return how many were reached
static PliIndex level_from(Dissection *d, const PliIndex *point, PliIndex count, PliIndex start)
{
    for (PliIndex k = 0; k < count; ++k) d->level[point[k]] = PLI_NONE;
    return spread(d, start);
}

/// Cuts a connected piece across the levels there are, and parts its points. @return what the cut costs, INFINITY: there is none
static double cut_levels(Dissection *d, PliIndex *point, PliIndex count, PliIndex size[3])
{
    PliIndex *side = d->parent, from = 0, to; // sides are known when the search is over
    memcpy(point, d->queue, count * sizeof *point);
    if (!choose_levels(d, point, count)) return INFINITY;
    while (d->level[point[from]] < d->low) ++from;
    for (to = from; to < count && d->level[point[to]] <= d->high; ++to)
        d->before[point[to]] = d->after[point[to]] = PLI_NONE;
    for (PliIndex last; (last = find_path(d, point + from, to - from)) != PLI_NONE;) take_path(d, last);
    for (PliIndex k = from; k < to; ++k) { // into `after`: `side` shares its memory with what is read here
        const bool entered = d->parent[2 * point[k]] != PLI_NONE, left = d->parent[2 * point[k] + 1] != PLI_NONE;
        d->after[point[k]] = left ? FIRST_SIDE : entered ? BETWEEN : SECOND_SIDE;
    }
    for (PliIndex k = 0; k < count; ++k) side[k] = k < from ? FIRST_SIDE : k >= to ? SECOND_SIDE : d->after[point[k]];
    part_by_side(point, count, side, d->queue, size);
    const PliIndex less = size[0] < size[1] ? size[0] : size[1], more = size[0] < size[1] ? size[1] : size[0];
    return less ? size[BETWEEN] * (1.0 + 0.5 * (more - less) / count) : INFINITY;
}

/// Cuts a piece, seen from both of its ends. @return false: it has to stay whole
static bool cut(Dissection *d, PliIndex *point, PliIndex count, PliIndex size[3])
{
    const PliIndex end = d->queue[level_from(d, point, count, point[0]) - 1],
                   reached = level_from(d, point, count, end);
    if (reached < count) { // it is in pieces already
        for (PliIndex k = 0; k < count; ++k) d->parent[k] = d->level[point[k]] == PLI_NONE ? SECOND_SIDE : FIRST_SIDE;
        part_by_side(point, count, d->parent, d->queue, size);
        return true;
    }
    const PliIndex start[2] = { end, d->queue[count - 1] };
    double best = INFINITY;
    for (int k = 0; k < 2; ++k) {
        PliIndex now[3];
        level_from(d, point, count, start[k]);
        const double cost = cut_levels(d, point, count, now);
        if (cost >= best) continue;
        best = cost;
        memcpy(size, now, sizeof now);
        memcpy(d->best, point, count * sizeof *point);
    }
    if (best < INFINITY) memcpy(point, d->best, count * sizeof *point);
    return best < INFINITY;
}

PliIndex pli_dissect(PliIndex n, const PliIndex *first, const PliIndex *near, PliIndex leaf, PliIndex *order,
                     PliIndex *leaf_begin, PliIndex *leaf_end, PliIndex *work)
{
    Dissection d = { .first = first, .near = near };
    d.part = work, d.level = d.part + n, d.before = d.level + n, d.after = d.before + n;
    d.parent = d.after + n, d.queue = d.parent + 2 * (size_t)n;
    d.best = d.queue + 2 * (size_t)n;
    PliIndex *stack = d.best + n, depth = 0, leaves = 0,
             pieces = 1;            // beginnings; ends are where pieces change
    PliIndex alone = 0, joined = n; // points without neighbours come first, and are no piece
    for (PliIndex i = n; i-- > 0;)
        if (first[i] < first[i + 1]) order[--joined] = i, d.part[i] = 0;
    for (PliIndex i = 0; i < n; ++i)
        if (first[i] == first[i + 1]) order[alone++] = i, d.part[i] = PLI_NONE;
    if (alone < n) stack[depth++] = alone;
    while (depth) {
        const PliIndex from = stack[--depth];
        PliIndex to = from, size[3];
        d.own = d.part[order[from]];
        while (to < n && d.part[order[to]] == d.own) ++to;
        if (to - from <= leaf || !cut(&d, order + from, to - from, size)) {
            leaf_begin[leaves] = from, leaf_end[leaves++] = to;
            continue;
        }
        const PliIndex middle = from + size[FIRST_SIDE], end = middle + size[SECOND_SIDE];
        for (PliIndex k = middle; k < end; ++k) d.part[order[k]] = pieces;
        for (PliIndex k = end; k < to; ++k) d.part[order[k]] = PLI_NONE;
        ++pieces;
        stack[depth++] = middle, stack[depth++] = from;
    }
    return leaves;
}
