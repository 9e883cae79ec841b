/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/slave_rows.h"

#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "base/wide.h"
#include "kernel/elastic.h"

#define RESERVE(r, name, count)                                                                                        \
    pli_reserve(&(r)->host, (void **)&(r)->name, &(r)->name##_capacity, (count), sizeof *(r)->name)

void pli_slave_rows_release(PliSlaveRows *r)
{
    const PliHost *h = &r->host;
#define RELEASE(name) PLI_FREE(h, r->name, r->name##_capacity)
    RELEASE(first), RELEASE(column), RELEASE(slot_first), RELEASE(slot), RELEASE(term_first), RELEASE(term);
    RELEASE(term_weight), RELEASE(own_first), RELEASE(own), RELEASE(own_weight), RELEASE(pair_first);
    RELEASE(pair_place), RELEASE(row), RELEASE(mark);
#undef RELEASE
}

// ---- neighbours --------------------------------------------------------------------------------------------------------------------

enum { PAIRS = 6 };
static const int pair_a[PAIRS] = { 1, 2, 3, 2, 3, 3 }, pair_b[PAIRS] = { 0, 0, 0, 1, 1, 2 };

/// Calls for each pair of corners of which one is a slave: counts them where `column` is NULL, lists them otherwise.
static void visit_pairs(PliIndex active, const PliIndex *corner, PliIndex count, PliIndex *at, PliIndex *column)
{
    for (PliIndex e = 0; e < count; ++e, corner += 4)
        for (int q = 0; q < PAIRS; ++q) {
            const PliIndex a = corner[pair_a[q]], b = corner[pair_b[q]], late = a > b ? a : b, early = a > b ? b : a;
            if (late < active) continue;
            PliIndex *next = &at[late - active];
            if (column) column[*next] = early;
            ++*next;
        }
}

/// Ascending, each once. @return how many are left
static PliIndex sort_row(PliIndex *column, PliIndex count)
{
    pli_sort_short(column, count);
    PliIndex used = 0;
    for (PliIndex k = 0; k < count; ++k)
        if (used == 0 || column[used - 1] != column[k]) column[used++] = column[k];
    return used;
}

static bool find_neighbours(PliSlaveRows *r, const PliSystem *s, const PliIndex *corner, PliIndex element_count)
{
    const PliIndex n = r->count, active = s->active_count;
    if (!RESERVE(r, first, (size_t)n + 2)) return false;
    memset(r->first, 0, ((size_t)n + 2) * sizeof *r->first);
    visit_pairs(active, corner, element_count, r->first + 2, NULL);
    for (PliIndex i = 0; i < n; ++i) r->first[i + 2] += r->first[i + 1];
    if (!RESERVE(r, column, (size_t)r->first[n + 1] + 1)) return false;
    visit_pairs(active, corner, element_count, r->first + 1, r->column);
    PliIndex used = 0;
    for (PliIndex i = 0, from = 0; i < n; ++i) {
        const PliIndex to = r->first[i + 1], count = sort_row(r->column + from, to - from);
        memmove(r->column + used, r->column + from, count * sizeof *r->column);
        r->first[i] = used, used += count, from = to;
    }
    r->first[n] = used;
    r->blocks = (size_t)n + used;
    return true;
}

// ---- through W ---------------------------------------------------------------------------------------------------------------------

static bool list_own(PliSlaveRows *r, const PliSystem *s)
{
    const PliIndex entries = r->count ? s->slaves.first[r->count] : 0;
    if (!RESERVE(r, own_first, (size_t)r->count + 1) || !RESERVE(r, own, (size_t)entries + 1) ||
        !RESERVE(r, own_weight, (size_t)entries + 1))
        return false;
    PliIndex used = 0;
    for (PliIndex i = 0; i < r->count; ++i) {
        r->own_first[i] = used;
        for (PliIndex k = s->slaves.first[i]; k < s->slaves.first[i + 1]; ++k) {
            if (s->fixed[s->slaves.column[k]] || s->slaves.weight[k] == 0.0) continue;
            r->own[used] = s->slaves.column[k], r->own_weight[used++] = s->slaves.weight[k];
        }
    }
    r->own_first[r->count] = used;
    return true;
}

typedef struct Terms {
    PliIndex slots, terms; ///< used
    PliIndex from;         ///< first slot of the row
} Terms;

static void add_term(PliSlaveRows *r, Terms *t, PliIndex point, double weight)
{
    PliIndex at = r->mark[point];
    if (at == PLI_NONE || at < t->from) at = r->mark[point] = t->slots, r->slot[t->slots++] = point;
    r->term[t->terms] = at - t->from, r->term_weight[t->terms++] = weight;
}

static size_t count_terms(const PliSlaveRows *r, PliIndex active)
{
    size_t sum = 0;
    for (PliIndex i = 0; i < r->count; ++i) {
        sum += r->own_first[i + 1] - r->own_first[i];
        for (PliIndex e = r->first[i]; e < r->first[i + 1]; ++e) {
            const PliIndex c = r->column[e];
            sum += c < active ? 1 : r->own_first[c - active + 1] - r->own_first[c - active];
        }
    }
    return sum;
}

static bool list_terms(PliSlaveRows *r, const PliSystem *s)
{
    const PliIndex n = r->count, active = s->active_count;
    const size_t most = count_terms(r, active);
    if (most >= PLI_NONE || !RESERVE(r, slot_first, (size_t)n + 1) || !RESERVE(r, slot, most + 1) ||
        !RESERVE(r, term_first, r->blocks + 1) || !RESERVE(r, term, most + 1) || !RESERVE(r, term_weight, most + 1) ||
        !RESERVE(r, mark, (size_t)active) || !RESERVE(r, pair_first, (size_t)n + 1))
        return false;
    for (PliIndex i = 0; i < active; ++i) r->mark[i] = PLI_NONE;
    Terms t = { 0, 0, 0 };
    PliIndex entry = 0, widest = 0;
    size_t pairs = 0;
    for (PliIndex i = 0; i < n; ++i) {
        r->slot_first[i] = t.from = t.slots, r->pair_first[i] = pairs;
        for (PliIndex e = r->first[i]; e <= r->first[i + 1]; ++e) {
            const PliIndex c = e < r->first[i + 1] ? r->column[e] : active + i;
            r->term_first[entry++] = t.terms;
            if (c < active && !s->fixed[c]) add_term(r, &t, c, 1.0);
            for (PliIndex k = c < active ? 0 : r->own_first[c - active];
                 c >= active && k < r->own_first[c - active + 1]; ++k)
                add_term(r, &t, r->own[k], (c == active + i ? 0.5 : 1.0) * r->own_weight[k]);
        }
        const PliIndex slots = t.slots - t.from;
        pairs += (size_t)slots * (r->own_first[i + 1] - r->own_first[i]);
        widest = slots > widest ? slots : widest;
    }
    r->slot_first[n] = t.slots, r->term_first[entry] = t.terms, r->pair_first[n] = pairs;
    return RESERVE(r, pair_place, pairs + 1) && RESERVE(r, row, 2 * 12 * (size_t)widest + 1);
}

bool pli_slave_rows_pattern(PliSlaveRows *r, const PliSystem *s, const PliIndex *corner, PliIndex element_count)
{
    r->count = s->slave_count;
    return find_neighbours(r, s, corner, element_count) && list_own(r, s) && list_terms(r, s);
}

void pli_slave_rows_place(PliSlaveRows *r, const PliIndex *(*row)(const void *user, PliIndex point), const void *user)
{
    for (PliIndex i = 0; i < r->count; ++i) {
        PliIndex *to = r->pair_place + r->pair_first[i];
        for (PliIndex k = r->own_first[i]; k < r->own_first[i + 1]; ++k) {
            const PliIndex *place = row(user, r->own[k]);
            for (PliIndex q = r->slot_first[i]; q < r->slot_first[i + 1]; ++q) *to++ = place[r->slot[q]];
        }
    }
}

PliIndex pli_slave_rows_find(const PliSlaveRows *r, PliIndex slave, PliIndex point)
{
    return r->count + pli_sorted_place(r->column, r->first[slave], r->first[slave + 1], point);
}

// ---- values ------------------------------------------------------------------------------------------------------------------------

// Blocks of nine numbers as two vectors and a third of which one counts: row-major 0..3, 4..7, 8.
typedef double V4 __attribute__((vector_size(32)));
typedef double U4 __attribute__((vector_size(32), aligned(8), may_alias));
enum { WIDE = 12 };

/// Rows sum to zero: diagonal blocks of slaves, and of the active points in their rows, take what is missing.
static void sum_up(const PliSlaveRows *r, const PliIndex *place, PliIndex active, double *blocks, double *value)
{
    const double *b = blocks + 9 * (size_t)r->count;
    for (PliIndex i = 0; i < r->count; ++i) {
        double *d = blocks + 9 * (size_t)i;
        for (PliIndex e = r->first[i]; e < r->first[i + 1]; ++e, b += 9) {
            const PliIndex c = r->column[e];
            double *other = c < active ? value + 9 * (size_t)place[c] : blocks + 9 * (size_t)(c - active);
            for (int k = 0; k < 9; ++k) d[k] -= b[k], other[k] -= b[k % 3 * 3 + k / 3];
        }
    }
}

static inline void add_times(double *to, double w, const double *b)
{
    *(U4 *)to += w * *(const U4 *)b, *(U4 *)(to + 4) += w * *(const U4 *)(b + 4), to[8] += w * b[8];
}

PLI_WIDE static void reduce(const PliSlaveRows *r, const double *blocks, double *value)
{
    const double *b = blocks + 9 * (size_t)r->count;
    const PliIndex *term = r->term_first;
    for (PliIndex i = 0; i < r->count; ++i) {
        const PliIndex slots = r->slot_first[i + 1] - r->slot_first[i];
        double *row = r->row, *mirrored = row + WIDE * (size_t)slots;
        memset(row, 0, WIDE * (size_t)slots * sizeof *row);
        for (PliIndex e = r->first[i]; e <= r->first[i + 1]; ++e, ++term) {
            const double *k = e < r->first[i + 1] ? b : blocks + 9 * (size_t)i;
            for (PliIndex t = term[0]; t < term[1]; ++t)
                add_times(row + WIDE * (size_t)r->term[t], r->term_weight[t], k);
            if (e < r->first[i + 1]) b += 9;
        }
        for (PliIndex q = 0; q < slots; ++q) {
            const double *h = row + WIDE * (size_t)q;
            for (int k = 0; k < 9; ++k) mirrored[WIDE * (size_t)q + (size_t)k] = h[k % 3 * 3 + k / 3];
        }
        const PliIndex *at = r->pair_place + r->pair_first[i];
        for (PliIndex k = r->own_first[i]; k < r->own_first[i + 1]; ++k)
            for (PliIndex q = 0; q < slots; ++q, ++at) {
                double *v = value + 9 * (size_t)(*at & ~PLI_PLACE_MIRRORED);
                const bool same = r->slot[r->slot_first[i] + q] == r->own[k];
                if (same || !(*at & PLI_PLACE_MIRRORED)) add_times(v, r->own_weight[k], row + WIDE * (size_t)q);
                if (same || (*at & PLI_PLACE_MIRRORED)) add_times(v, r->own_weight[k], mirrored + WIDE * (size_t)q);
            }
    }
}

void pli_slave_rows_reduce(const PliSlaveRows *r, const PliIndex *place, PliIndex active_count, double *blocks,
                           double *value)
{
    sum_up(r, place, active_count, blocks, value);
    reduce(r, blocks, value);
}
