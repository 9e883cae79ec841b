/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_COUPLINGS_H
#define PLI_COUPLINGS_H

// Which active points couple, while the pattern of a matrix is made. Of few points as rows of bits: slaves join whole rows of them, and a
// pair that many elements have costs nothing. Of many points as a list of pairs, whose memory goes when the pattern is there.

#include "solver/slave_rows.h"

typedef struct PliPair {
    PliIndex row, column;
} PliPair;

typedef struct PliCouplings {
    PliHost host;
    PliIndex n;
    bool failed;    ///< no memory for some pair
    size_t words;   ///< of 64 bits in a row; 0: there are pairs instead
    uint64_t *bits; ///< [n, words], then one row of scratch and one of what is fixed
    /// [n, words], after pli_couplings_rank: set bits before each word of the row
    PliIndex *before;
    PliPair *pair;
    size_t pair_count;
    PliIndex *near_first, *near, *seen;
    size_t bits_capacity, before_capacity, pair_capacity, near_first_capacity, near_capacity, seen_capacity;
} PliCouplings;

void pli_couplings_release(PliCouplings *c);
void pli_couplings_begin(PliCouplings *c, PliIndex n); ///< c->host is set; `failed` says whether there was memory
void pli_couplings_join(PliCouplings *c, PliIndex i, PliIndex j);
void pli_couplings_join_slaves(PliCouplings *c, const PliSlaveRows *r); ///< what slaves couple
/// near[near_first[i] ...]: neighbours of each point, each once: pairs of free points, or only those with a fixed one.
bool pli_couplings_list(PliCouplings *c, const uint8_t *fixed, bool edges);
void pli_couplings_end(PliCouplings *c); ///< gives back what is not worth keeping

/// Rows of ascending columns as bits, so that a place in them is found by counting. @return false: there are too many, or no memory
bool pli_couplings_rank(PliCouplings *c, const PliIndex *first, const PliIndex *column);
/// Place of `column`, which the row has, from the row's first on.
static inline PliIndex pli_couplings_place(const PliCouplings *c, PliIndex row, PliIndex column)
{
    const size_t at = c->words * row + column / 64;
    return c->before[at] + (PliIndex)__builtin_popcountll(c->bits[at] & (((uint64_t)1 << column % 64) - 1));
}

#endif
