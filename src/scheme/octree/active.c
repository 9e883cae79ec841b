/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/octree/active.h"

#include <string.h>

#include "base/memory.h"

PliStatus pli_octree_active_init(PliOctreeActive *a, const PliOctreeTree *tree)
{
    const PliHost *host = &tree->host;
    const PliIndex n = tree->cell_count, entries = tree->first[n];
    *a = (PliOctreeActive){ .tree = tree };
    a->is_active = PLI_NEW(host, n, uint8_t);
    a->length = PLI_NEW(host, n, PliIndex);
    a->list = PLI_NEW(host, entries, PliIndex);
    a->place = PLI_NEW(host, entries, PliIndex);
    a->stack = PLI_NEW(host, n, PliIndex);
    return a->is_active && a->length && a->list && a->place && a->stack ? PLI_OK : PLI_OUT_OF_MEMORY;
}

void pli_octree_active_free(PliOctreeActive *a)
{
    if (!a->tree) return;
    const PliHost *host = &a->tree->host;
    const PliIndex n = a->tree->cell_count, entries = a->tree->first[n];
    PLI_FREE(host, a->is_active, n);
    PLI_FREE(host, a->length, n);
    PLI_FREE(host, a->list, entries);
    PLI_FREE(host, a->place, entries);
    PLI_FREE(host, a->stack, n);
}

// ---- lists -----------------------------------------------------------------------------------------------------------------

static void list_add(PliOctreeActive *a, PliIndex cell, PliIndex entry)
{
    const PliIndex at = a->tree->first[cell] + a->length[cell]++;
    a->list[at] = entry;
    a->place[entry] = at;
}

static void list_remove(PliOctreeActive *a, PliIndex cell, PliIndex entry)
{
    const PliIndex at = a->place[entry], last = a->tree->first[cell] + --a->length[cell];
    a->list[at] = a->list[last];
    a->place[a->list[at]] = at;
    a->place[entry] = PLI_NONE;
}

static void switch_on(PliOctreeActive *a, PliIndex cell)
{
    const PliOctreeTree *t = a->tree;
    a->is_active[cell] = 1;
    a->count++;
    for (PliIndex e = t->first[cell]; e < t->first[cell + 1]; ++e) {
        const PliIndex other = t->potential[e];
        if (!a->is_active[other]) continue;
        list_add(a, cell, e);
        list_add(a, other, t->mirror[e]);
    }
}

static void switch_off(PliOctreeActive *a, PliIndex cell)
{
    const PliOctreeTree *t = a->tree;
    while (a->length[cell]) {
        const PliIndex e = a->list[t->first[cell] + a->length[cell] - 1];
        list_remove(a, t->potential[e], t->mirror[e]);
        list_remove(a, cell, e);
    }
    a->is_active[cell] = 0;
    a->count--;
}

void pli_octree_active_start(PliOctreeActive *a, int level)
{
    const PliOctreeTree *t = a->tree;
    memset(a->is_active, 0, t->cell_count);
    memset(a->length, 0, t->cell_count * sizeof *a->length);
    memset(a->place, 0xff, t->first[t->cell_count] * sizeof *a->place);
    a->count = 0;
    for (PliIndex c = t->level_first[level]; c < t->level_first[level + 1]; ++c) switch_on(a, c);
}

// ---- events ----------------------------------------------------------------------------------------------------------------

bool pli_octree_has_children(const PliOctreeTree *t, PliIndex cell) { return t->cell[cell].level + 1 < t->level_count; }

bool pli_octree_may_split(const PliOctreeActive *a, PliIndex cell)
{
    const PliOctreeTree *t = a->tree;
    if (!a->is_active[cell] || !pli_octree_has_children(t, cell)) return false;
    for (PliIndex i = 0; i < a->length[cell]; ++i)
        if (t->cell[pli_octree_neighbour(a, cell, i)].level < t->cell[cell].level) return false;
    return true;
}

bool pli_octree_may_merge(const PliOctreeActive *a, PliIndex mother)
{
    const PliOctreeTree *t = a->tree;
    if (!pli_octree_has_children(t, mother)) return false;
    for (int k = 0; k < 8; ++k) {
        const PliIndex c = t->cell[mother].child[k];
        if (c == PLI_NONE) continue;
        if (!a->is_active[c]) return false;
        for (PliIndex i = 0; i < a->length[c]; ++i)
            if (t->cell[pli_octree_neighbour(a, c, i)].level > t->cell[c].level) return false;
    }
    return true;
}

void pli_octree_split(PliOctreeActive *a, PliIndex cell)
{
    switch_off(a, cell);
    for (int k = 0; k < 8; ++k)
        if (a->tree->cell[cell].child[k] != PLI_NONE) switch_on(a, a->tree->cell[cell].child[k]);
}

void pli_octree_merge(PliOctreeActive *a, PliIndex mother)
{
    for (int k = 0; k < 8; ++k)
        if (a->tree->cell[mother].child[k] != PLI_NONE) switch_off(a, a->tree->cell[mother].child[k]);
    switch_on(a, mother);
}

PliIndex pli_octree_plan_split(PliOctreeActive *a, PliIndex cell, const PliIndex **order)
{
    // breadth first: what blocks is one level coarser than what it blocks, so read backwards the coarsest come first
    const PliOctreeTree *t = a->tree;
    PliIndex count = 0;
    a->stack[count++] = cell;
    for (PliIndex next = 0; next < count; ++next) {
        const PliIndex c = a->stack[next];
        for (PliIndex i = 0; i < a->length[c]; ++i) {
            const PliIndex n = pli_octree_neighbour(a, c, i);
            if (t->cell[n].level >= t->cell[c].level) continue;
            bool known = false;
            for (PliIndex k = 0; k < count && !known; ++k) known = a->stack[k] == n;
            if (!known) a->stack[count++] = n;
        }
    }
    for (PliIndex i = 0; i < count / 2; ++i) {
        const PliIndex swap = a->stack[i];
        a->stack[i] = a->stack[count - 1 - i], a->stack[count - 1 - i] = swap;
    }
    *order = a->stack;
    return count;
}

PliIndex pli_octree_plan_growth(const PliOctreeTree *t, const PliIndex *order, PliIndex count)
{
    PliIndex more = 0;
    for (PliIndex i = 0; i < count; ++i) {
        for (int k = 0; k < 8; ++k) more += t->cell[order[i]].child[k] != PLI_NONE;
        more--;
    }
    return more;
}

PliIndex pli_octree_cover(const PliOctreeActive *a, PliIndex cell)
{
    for (PliIndex c = cell; c != PLI_NONE; c = a->tree->cell[c].parent)
        if (a->is_active[c]) return c;
    return PLI_NONE;
}

// ---- check -----------------------------------------------------------------------------------------------------------------

static bool boxes_touch(const PliOctreeTree *t, PliIndex a, PliIndex b)
{
    const PliOctreeCell *p = &t->cell[a], *q = &t->cell[b];
    const int sp = t->level_count - 1 - p->level, sq = t->level_count - 1 - q->level;
    for (int k = 0; k < 3; ++k) {
        const int64_t pl = (int64_t)p->at[k] << sp, ph = ((int64_t)p->at[k] + 1) << sp;
        const int64_t ql = (int64_t)q->at[k] << sq, qh = ((int64_t)q->at[k] + 1) << sq;
        if (ph < ql || qh < pl) return false;
    }
    return true;
}

bool pli_octree_active_is_valid(const PliOctreeActive *a, PliError *err)
{
    const PliOctreeTree *t = a->tree;
    const PliIndex n = t->cell_count;
    PliIndex active = 0;
    for (PliIndex c = t->level_first[t->level_count - 1]; c < n; ++c) {
        int covers = 0;
        for (PliIndex up = c; up != PLI_NONE; up = t->cell[up].parent) covers += a->is_active[up];
        if (covers != 1)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "finest cell %u has %d active ancestors", c, covers), false;
    }
    for (PliIndex c = 0; c < n; ++c) {
        if (!a->is_active[c]) {
            if (a->length[c])
                return pli_refuse(err, PLI_BAD_ARGUMENT, "cell %u is not active and has neighbours", c), false;
            continue;
        }
        PliIndex found = 0;
        active++;
        for (PliIndex d = 0; d < n; ++d) {
            if (d == c || !a->is_active[d] || !boxes_touch(t, c, d)) continue;
            const int gap = (int)t->cell[c].level - (int)t->cell[d].level;
            if (gap > 1 || gap < -1)
                return pli_refuse(err, PLI_BAD_ARGUMENT, "cells %u and %u touch and are %d levels apart", c, d, gap),
                       false;
            bool listed = false;
            for (PliIndex i = 0; i < a->length[c]; ++i) listed = listed || pli_octree_neighbour(a, c, i) == d;
            if (!listed)
                return pli_refuse(err, PLI_BAD_ARGUMENT, "cell %u does not list its neighbour %u", c, d), false;
            found++;
        }
        if (found != a->length[c])
            return pli_refuse(err, PLI_BAD_ARGUMENT, "cell %u lists %u neighbours and has %u", c, a->length[c], found),
                   false;
    }
    if (active != a->count)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%u cells are active, %u are counted", active, a->count), false;
    return true;
}
