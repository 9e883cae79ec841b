/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/factor.h"

#include <amd.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/wide.h"
#include "solver/dissect.h"

enum { WIDEST = 16 }; ///< block columns of a panel: wider ones are cut, which keeps the dense triangles small

#define RESERVE(name, count) pli_reserve(&f->host, (void **)&f->name, &f->name##_capacity, (count), sizeof *f->name)

void pli_factor_release(PliFactor *f)
{
#define RELEASE(name) PLI_FREE(&f->host, f->name, f->name##_capacity)
    RELEASE(order), RELEASE(place), RELEASE(panel), RELEASE(row), RELEASE(owner), RELEASE(to), RELEASE(to_stride);
    RELEASE(value), RELEASE(sign), RELEASE(product), RELEASE(y), RELEASE(local), RELEASE(head), RELEASE(next);
    RELEASE(position), RELEASE(near_first), RELEASE(near), RELEASE(parent), RELEASE(list_first), RELEASE(list);
    RELEASE(mark), RELEASE(scratch), RELEASE(entry);
#undef RELEASE
}

// ---- the order -----------------------------------------------------------------------------------------------------------------

static bool list_neighbours(PliFactor *f, const PliIndex *first, const PliIndex *column)
{
    const PliIndex n = f->n;
    size_t entries = 0;
    for (PliIndex r = 0; r < n; ++r)
        for (PliIndex e = first[r]; e < first[r + 1]; ++e) entries += column[e] < r;
    f->blocks = n + entries;
    if (2 * entries >= PLI_NONE || !RESERVE(near_first, (size_t)n + 2) || !RESERVE(near, 2 * entries)) return false;
    PliIndex *to = f->near_first;
    memset(to, 0, ((size_t)n + 2) * sizeof *to);
    for (PliIndex r = 0; r < n; ++r)
        for (PliIndex e = first[r]; e < first[r + 1]; ++e)
            if (column[e] < r) to[r + 2]++, to[column[e] + 2]++;
    for (PliIndex r = 0; r < n; ++r) to[r + 2] += to[r + 1];
    for (PliIndex r = 0; r < n; ++r)
        for (PliIndex e = first[r]; e < first[r + 1]; ++e)
            if (column[e] < r) f->near[to[r + 1]++] = column[e], f->near[to[column[e] + 1]++] = r;
    return true;
}

/// AMD with lent memory (amd_order would call malloc) on the points order[from ... to - 1] and the edges between them, which it sorts.
static void order_piece(PliFactor *f, size_t from, size_t to, PliIndex *local, int *scratch, size_t room)
{
    const size_t n = to - from;
    int *pe = scratch, *len = pe + n, *nv = len + n, *head = nv + n, *elen = head + n, *degree = elen + n,
        *w = degree + n, *last = w + n, *next = last + n, *iw = next + n, entries = 0;
    PliIndex *point = f->order + from;
    for (size_t k = 0; k < n; ++k) local[point[k]] = (PliIndex)k;
    for (size_t k = 0; k < n; ++k) {
        pe[k] = entries;
        for (PliIndex e = f->near_first[point[k]]; e < f->near_first[point[k] + 1]; ++e)
            if (local[f->near[e]] != PLI_NONE) iw[entries++] = (int)local[f->near[e]];
        len[k] = entries - pe[k];
    }
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    amd_2((int)n, pe, iw, len, (int)(room - 9 * n), entries, nv, next, last, head, elen, degree, w, control, info);
    PliIndex *sorted = f->head;
    for (size_t k = 0; k < n; ++k) sorted[k] = point[last[k]];
    for (size_t k = 0; k < n; ++k) local[point[k]] = PLI_NONE;
    memcpy(point, sorted, n * sizeof *point);
}

/// An order that keeps the factor sparse: AMD's, and for more than some hundred points nested dissection with AMD for the pieces.
static bool order_points(PliFactor *f)
{
    enum { WHOLE = 1000, PIECE = 150 };
    const size_t n = f->n, entries = f->near_first[n], room = entries + entries / 5 + 10 * n + 1,
                 need = room > PLI_DISSECT_WORK * n ? room : PLI_DISSECT_WORK * n;
    if (need > INT_MAX || !RESERVE(scratch, need)) return false;
    PliIndex *local = f->mark, *begin = f->next, *end = f->position, pieces = 1;
    if (n > WHOLE) {
        pieces = pli_dissect(f->n, f->near_first, f->near, PIECE, f->order, begin, end, (PliIndex *)f->scratch);
    } else {
        for (PliIndex k = 0; k < f->n; ++k) f->order[k] = k;
        begin[0] = 0, end[0] = f->n;
    }
    for (size_t k = 0; k < n; ++k) local[k] = PLI_NONE;
    for (PliIndex k = 0; k < pieces; ++k) order_piece(f, begin[k], end[k], local, f->scratch, room);
    return true;
}

/// Elimination tree of the present order.
static void find_parents(PliFactor *f)
{
    const PliIndex n = f->n;
    PliIndex *reach = f->mark;
    for (PliIndex k = 0; k < n; ++k) f->place[f->order[k]] = k;
    for (PliIndex k = 0; k < n; ++k) {
        f->parent[k] = reach[k] = PLI_NONE;
        for (PliIndex e = f->near_first[f->order[k]]; e < f->near_first[f->order[k] + 1]; ++e)
            for (PliIndex i = f->place[f->near[e]], up; i != PLI_NONE && i < k; i = up) {
                up = reach[i];
                reach[i] = k;
                if (up == PLI_NONE) f->parent[i] = k;
            }
    }
}

/// Children before their parents, the subtree of each without a gap.
static void order_by_tree(PliFactor *f)
{
    const PliIndex n = f->n;
    PliIndex *child = f->head, *sibling = f->next, *stack = f->position, *order = f->mark, depth = 0, at = 0;
    for (PliIndex k = 0; k < n; ++k) child[k] = PLI_NONE;
    PliIndex root = PLI_NONE;
    for (PliIndex k = n; k-- > 0;) {
        PliIndex *list = f->parent[k] == PLI_NONE ? &root : &child[f->parent[k]];
        sibling[k] = *list, *list = k;
    }
    for (PliIndex r = root; r != PLI_NONE; r = sibling[r]) {
        stack[depth++] = r;
        while (depth) {
            const PliIndex k = stack[depth - 1], c = child[k];
            if (c != PLI_NONE)
                child[k] = sibling[c], stack[depth++] = c;
            else
                order[at++] = f->order[k], --depth;
        }
    }
    memcpy(f->order, order, n * sizeof *order);
}

// ---- columns -----------------------------------------------------------------------------------------------------------------------

/// Rows below the diagonal of every column of the factor, not sorted: those of the matrix and those of its children.
static bool list_columns(PliFactor *f)
{
    const PliIndex n = f->n;
    PliIndex *child = f->head, *sibling = f->next;
    f->list_count = 0;
    for (PliIndex k = 0; k < n; ++k) child[k] = f->mark[k] = PLI_NONE;
    for (PliIndex k = 0; k < n; ++k) {
        f->list_first[k] = (PliIndex)f->list_count;
        f->mark[k] = k;
        const PliIndex i = f->order[k];
        size_t most = f->near_first[i + 1] - f->near_first[i];
        for (PliIndex c = child[k]; c != PLI_NONE; c = sibling[c]) most += f->list_first[c + 1] - f->list_first[c];
        while (f->list_count + most > f->list_capacity)
            if (!pli_grow(&f->host, (void **)&f->list, &f->list_capacity, sizeof *f->list)) return false;
        for (PliIndex e = f->near_first[i]; e < f->near_first[i + 1]; ++e) {
            const PliIndex j = f->place[f->near[e]];
            if (j > k && f->mark[j] != k) f->mark[j] = k, f->list[f->list_count++] = j;
        }
        for (PliIndex c = child[k]; c != PLI_NONE; c = sibling[c])
            for (PliIndex e = f->list_first[c]; e < f->list_first[c + 1]; ++e) {
                const PliIndex j = f->list[e];
                if (j > k && f->mark[j] != k) f->mark[j] = k, f->list[f->list_count++] = j;
            }
        if (f->list_count >= PLI_NONE) return false;
        f->list_first[k + 1] = (PliIndex)f->list_count;
        if (f->parent[k] != PLI_NONE) sibling[k] = child[f->parent[k]], child[f->parent[k]] = k;
    }
    return true;
}

// ---- panels ------------------------------------------------------------------------------------------------------------------------

/// Whether a panel may be joined to its parent, with that share of zeros: small ones cost more as they are. The bounds are those of
/// CHOLMOD's guide, in blocks.
static bool worth_joining(PliIndex width, double share)
{
    return width <= 2 || (width <= 5 && share < 0.8) || (width <= 16 && share < 0.1) || share < 0.05;
}

static double size_of(double width, double below) { return 0.5 * width * (width + 1.0) + width * below; }

/// Columns with the same rows, and neighbours with nearly the same: first column of each to f->head. @return how many
static PliIndex group_columns(PliFactor *f)
{
    const PliIndex n = f->n;
    PliIndex *start = f->head, count = 0;
    double *zeros = f->y; // of the panels on the stack so far
    for (PliIndex k = 0; k < n; ++k) {
        const PliIndex below = f->list_first[k + 1] - f->list_first[k];
        if (count && f->parent[k - 1] == k && f->list_first[k] - f->list_first[k - 1] == below + 1) continue;
        start[count] = k, zeros[count++] = 0.0;
    }
    // from the left: a panel is joined to the next where that is its parent
    PliIndex kept = 0;
    for (PliIndex s = 0; s < count; ++s) {
        const PliIndex first = start[s];
        const double own = zeros[s];
        start[kept] = first, zeros[kept++] = own;
        while (kept > 1) {
            const PliIndex a = start[kept - 2], b = start[kept - 1], end = s + 1 < count ? start[s + 1] : n,
                           last = end - 1;
            if (f->parent[b - 1] < b || f->parent[b - 1] >= end) break;
            const double below_a = f->list_first[b] - f->list_first[b - 1],
                         below_b = f->list_first[last + 1] - f->list_first[last], whole = size_of(end - a, below_b),
                         empty = zeros[kept - 2] + zeros[kept - 1] + whole - size_of(b - a, below_a) -
                                 size_of(end - b, below_b);
            if (!worth_joining(end - a, empty / whole)) break;
            --kept, zeros[kept - 1] = empty;
        }
    }
    return kept;
}

static void sort_rows(PliIndex *a, PliIndex count)
{
    for (PliIndex gap = count / 2; gap > 0; gap = gap == 2 ? 1 : (PliIndex)((double)gap / 2.2))
        for (PliIndex i = gap; i < count; ++i) {
            const PliIndex v = a[i];
            PliIndex k = i;
            for (; k >= gap && a[k - gap] > v; k -= gap) a[k] = a[k - gap];
            a[k] = v;
        }
}

static bool add_panel(PliFactor *f, PliIndex first, PliIndex end, const PliIndex *below, PliIndex count, PliIndex stop)
{
    size_t panels = f->panels;
    if (!PLI_GROW(&f->host, f->panel, panels, f->panel_capacity)) return false;
    PliPanel *p = &f->panel[f->panels];
    const PliIndex width = end - first, rows = stop - first + count;
    *p = (PliPanel){ first, width, (PliIndex)f->rows, rows, (3 * width + 3) / 4 * 4, f->numbers };
    while (f->rows + rows > f->row_capacity)
        if (!pli_grow(&f->host, (void **)&f->row, &f->row_capacity, sizeof *f->row)) return false;
    for (PliIndex k = first; k < stop; ++k) f->row[f->rows++] = k;
    if (count) memcpy(f->row + f->rows, below, count * sizeof *below);
    f->rows += count;
    for (PliIndex k = first; k < end; ++k) f->owner[k] = f->panels;
    f->numbers += 3 * (size_t)rows * p->stride;
    f->work += 4.5 * width * (double)rows * (3.0 * rows);
    f->panels++;
    return f->rows < PLI_NONE;
}

static bool build_panels(PliFactor *f)
{
    const PliIndex n = f->n, count = group_columns(f), *start = f->head;
    f->panels = 0, f->rows = 0, f->numbers = 0, f->work = 0.0;
    for (PliIndex s = 0; s < count; ++s) {
        const PliIndex first = start[s], end = s + 1 < count ? start[s + 1] : n;
        PliIndex *below = f->list + f->list_first[end - 1], rows = f->list_first[end] - f->list_first[end - 1];
        sort_rows(below, rows);
        for (PliIndex from = first; from < end; from += WIDEST) {
            const PliIndex to = end - from > WIDEST ? from + WIDEST : end;
            if (!add_panel(f, from, to, below, rows, end)) return false;
        }
    }
    return true;
}

/// Local row of block row k in a panel, by bisection.
static PliIndex local_row(const PliFactor *f, const PliPanel *p, PliIndex k)
{
    PliIndex low = 0, high = p->rows;
    while (high - low > 1) {
        const PliIndex middle = low + (high - low) / 2;
        if (f->row[p->row_first + middle] <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void place_block(PliFactor *f, size_t block, PliIndex row, PliIndex column)
{
    const PliIndex i = f->place[row], j = f->place[column], late = i > j ? i : j, early = i > j ? j : i;
    const PliPanel *p = &f->panel[f->owner[early]];
    const size_t at = p->at + 3 * (size_t)local_row(f, p, late) * p->stride + 3 * (size_t)(early - p->first);
    f->to[block] = 2 * at + (i < j);
    f->to_stride[block] = p->stride;
}

PliStatus pli_factor_pattern(PliFactor *f, PliIndex n, const PliIndex *first, const PliIndex *column)
{
    f->n = n, f->factored = false;
    f->panels = 0;
    const size_t unknowns = 3 * (size_t)n + 8;
    if (!RESERVE(order, n) || !RESERVE(place, n) || !RESERVE(parent, n) || !RESERVE(mark, n) || !RESERVE(head, n) ||
        !RESERVE(next, n) || !RESERVE(position, n) || !RESERVE(list_first, (size_t)n + 1) || !RESERVE(owner, n) ||
        !RESERVE(local, n) || !RESERVE(sign, unknowns) || !RESERVE(y, unknowns) || !list_neighbours(f, first, column))
        return PLI_OUT_OF_MEMORY;
    if (n && !order_points(f)) return PLI_OUT_OF_MEMORY;
    find_parents(f);
    order_by_tree(f);
    find_parents(f);
    if (!list_columns(f) || !build_panels(f)) return PLI_OUT_OF_MEMORY;
    PliIndex most = 0;
    for (PliIndex s = 0; s < f->panels; ++s) most = f->panel[s].rows > most ? f->panel[s].rows : most;
    const size_t square = 3 * WIDEST * 3 * WIDEST;
    if (!RESERVE(value, f->numbers + 4) || !RESERVE(product, 9 * (size_t)most * WIDEST + 2 * square) ||
        !RESERVE(to, f->blocks) || !RESERVE(to_stride, f->blocks) || !RESERVE(entry, f->blocks - n))
        return PLI_OUT_OF_MEMORY;
    size_t block = n;
    for (PliIndex r = 0; r < n; ++r) {
        place_block(f, r, r, r);
        for (PliIndex e = first[r]; e < first[r + 1]; ++e)
            if (column[e] < r) {
                f->entry[block - n] = e;
                place_block(f, block++, r, column[e]);
            }
    }
    return PLI_OK;
}
