/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/couplings.h"

#include <string.h>

#include "base/memory.h"
#include "base/wide.h"

#define RESERVE(c, name, count)                                                                                        \
    pli_reserve(&(c)->host, (void **)&(c)->name, &(c)->name##_capacity, (count), sizeof *(c)->name)

enum { FEW = 8192 }; ///< points: 8 MB of bits

void pli_couplings_release(PliCouplings *c)
{
    const PliHost *h = &c->host;
#define RELEASE(name) PLI_FREE(h, c->name, c->name##_capacity)
    RELEASE(bits), RELEASE(before), RELEASE(pair), RELEASE(near_first), RELEASE(near), RELEASE(seen);
#undef RELEASE
}

static uint64_t bit_of(PliIndex i) { return (uint64_t)1 << i % 64; }

void pli_couplings_begin(PliCouplings *c, PliIndex n)
{
    c->n = n;
    c->pair_count = 0;
    c->words = n <= FEW ? ((size_t)n + 63) / 64 : 0;
    c->failed = c->words && !RESERVE(c, bits, c->words * ((size_t)n + 2));
    if (c->words && !c->failed) memset(c->bits, 0, c->words * ((size_t)n + 2) * sizeof *c->bits);
}

void pli_couplings_join(PliCouplings *c, PliIndex i, PliIndex j)
{
    if (i == j || c->failed) return;
    if (c->words) {
        c->bits[c->words * i + j / 64] |= bit_of(j);
        c->bits[c->words * j + i / 64] |= bit_of(i);
        return;
    }
    c->failed = !PLI_GROW(&c->host, c->pair, c->pair_count, c->pair_capacity);
    if (!c->failed) c->pair[c->pair_count++] = (PliPair){ i > j ? i : j, i > j ? j : i };
}

PLI_WIDE static void add_bits(size_t words, const uint64_t *from, uint64_t *to)
{
    for (size_t w = 0; w < words; ++w) to[w] |= from[w];
}

/// Calls of each bit of a row that is in the mask, ascending. @return behind the last
static PliIndex list_bits(size_t words, const uint64_t *row, const uint64_t *mask, bool inside, PliIndex *to)
{
    PliIndex *at = to;
    for (size_t w = 0; w < words; ++w)
        for (uint64_t left = row[w] & (inside ? mask[w] : ~mask[w]); left; left &= left - 1)
            *at++ = (PliIndex)(64 * w) + (PliIndex)__builtin_ctzll(left);
    return (PliIndex)(at - to);
}

static void join_slave_bits(PliCouplings *c, const PliSlaveRows *r)
{
    const size_t words = c->words;
    uint64_t *slots = c->bits + words * c->n;
    for (PliIndex i = 0; i < r->count; ++i) {
        if (r->own_first[i] == r->own_first[i + 1]) continue;
        memset(slots, 0, words * sizeof *slots);
        for (PliIndex q = r->slot_first[i]; q < r->slot_first[i + 1]; ++q) slots[r->slot[q] / 64] |= bit_of(r->slot[q]);
        for (PliIndex k = r->own_first[i]; k < r->own_first[i + 1]; ++k)
            add_bits(words, slots, c->bits + words * r->own[k]);
    }
    for (PliIndex i = 0; i < c->n; ++i) { // the mirrors
        c->bits[words * i + i / 64] &= ~bit_of(i);
        for (size_t w = 0; w < words; ++w)
            for (uint64_t left = c->bits[words * i + w]; left; left &= left - 1)
                c->bits[words * (64 * w + (size_t)__builtin_ctzll(left)) + i / 64] |= bit_of(i);
    }
}

void pli_couplings_join_slaves(PliCouplings *c, const PliSlaveRows *r)
{
    if (c->failed) return;
    if (c->words) {
        join_slave_bits(c, r);
        return;
    }
    for (PliIndex i = 0; i < r->count; ++i)
        for (PliIndex k = r->own_first[i]; k < r->own_first[i + 1]; ++k)
            for (PliIndex q = r->slot_first[i]; q < r->slot_first[i + 1]; ++q)
                pli_couplings_join(c, r->own[k], r->slot[q]);
}

// ---- lists -----------------------------------------------------------------------------------------------------------------------

static bool list_from_bits(PliCouplings *c, const uint8_t *fixed, bool edges)
{
    const PliIndex n = c->n;
    const size_t words = c->words;
    uint64_t *mask = c->bits + words * ((size_t)n + 1);
    memset(mask, 0, words * sizeof *mask);
    for (PliIndex i = 0; i < n; ++i)
        if (fixed[i]) mask[i / 64] |= bit_of(i);
    size_t most = 0;
    for (size_t w = 0; w < words * n; ++w) most += (size_t)__builtin_popcountll(c->bits[w]);
    if (most >= PLI_NONE || !RESERVE(c, near_first, (size_t)n + 2) || !RESERVE(c, near, most + 1)) return false;
    PliIndex used = 0;
    for (PliIndex i = 0; i < n; ++i) {
        c->near_first[i] = used;
        if (!fixed[i]) used += list_bits(words, c->bits + words * i, mask, edges, c->near + used);
    }
    c->near_first[n] = used;
    return true;
}

static bool list_from_pairs(PliCouplings *c, const uint8_t *fixed, bool edges)
{
    const PliIndex n = c->n;
    if (2 * c->pair_count >= PLI_NONE || !RESERVE(c, near_first, (size_t)n + 2) ||
        !RESERVE(c, near, 2 * c->pair_count) || !RESERVE(c, seen, (size_t)n))
        return false;
    PliIndex *first = c->near_first, *seen = c->seen;
    memset(first, 0, ((size_t)n + 2) * sizeof *first);
    for (size_t k = 0; k < c->pair_count; ++k) {
        const PliPair p = c->pair[k];
        first[p.row + 2] += !fixed[p.row] && !fixed[p.column] == !edges;
        first[p.column + 2] += !fixed[p.column] && !fixed[p.row] == !edges;
    }
    for (PliIndex i = 0; i < n; ++i) first[i + 2] += first[i + 1];
    for (size_t k = 0; k < c->pair_count; ++k) {
        const PliPair p = c->pair[k];
        if (!fixed[p.row] && !fixed[p.column] == !edges) c->near[first[p.row + 1]++] = p.column;
        if (!fixed[p.column] && !fixed[p.row] == !edges) c->near[first[p.column + 1]++] = p.row;
    }
    for (PliIndex i = 0; i < n; ++i) seen[i] = PLI_NONE;
    PliIndex used = 0;
    for (PliIndex i = 0, from = 0; i < n; ++i) {
        const PliIndex to = first[i + 1];
        first[i] = used;
        for (PliIndex k = from; k < to; ++k) {
            const PliIndex j = c->near[k];
            if (seen[j] == i) continue;
            seen[j] = i;
            c->near[used++] = j;
        }
        from = to;
    }
    first[n] = used;
    return true;
}

bool pli_couplings_list(PliCouplings *c, const uint8_t *fixed, bool edges)
{
    if (c->failed) return false;
    return c->words ? list_from_bits(c, fixed, edges) : list_from_pairs(c, fixed, edges);
}

void pli_couplings_end(PliCouplings *c)
{
    PLI_FREE(&c->host, c->pair, c->pair_capacity); // each pair several times: as much memory as the blocks themselves
    c->pair = NULL, c->pair_capacity = c->pair_count = 0;
}

PLI_WIDE static void count_before(PliCouplings *c)
{
    for (PliIndex r = 0; r < c->n; ++r) {
        PliIndex sum = 0;
        for (size_t w = c->words * r; w < c->words * ((size_t)r + 1); ++w) {
            c->before[w] = sum;
            sum += (PliIndex)__builtin_popcountll(c->bits[w]);
        }
    }
}

bool pli_couplings_rank(PliCouplings *c, const PliIndex *first, const PliIndex *column)
{
    if (!c->words || !RESERVE(c, before, c->words * c->n)) return false;
    memset(c->bits, 0, c->words * c->n * sizeof *c->bits);
    for (PliIndex r = 0; r < c->n; ++r)
        for (PliIndex e = first[r]; e < first[r + 1]; ++e) c->bits[c->words * r + column[e] / 64] |= bit_of(column[e]);
    count_before(c);
    return true;
}
