/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SORTED_H
#define PLI_SORTED_H

// Ascending lists of numbers: rows of sparse matrices, active coefficients.

#include <pliant/base.h>

/// The first place between low and high (excluded) whose number is not less than `wanted`; high: there is none.
static inline PliIndex pli_sorted_place(const PliIndex *list, PliIndex low, PliIndex high, PliIndex wanted)
{
    while (low < high) {
        const PliIndex middle = low + (high - low) / 2;
        if (list[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Where `wanted` is between low and high (excluded), or PLI_NONE.
static inline PliIndex pli_sorted_find(const PliIndex *list, PliIndex low, PliIndex high, PliIndex wanted)
{
    const PliIndex place = pli_sorted_place(list, low, high, wanted);
    return place < high && list[place] == wanted ? place : PLI_NONE;
}

/// Ascending; by insertion, for lists that are short or nearly sorted.
static inline void pli_sort_short(PliIndex *list, PliIndex count)
{
    for (PliIndex i = 1; i < count; ++i) {
        const PliIndex key = list[i];
        PliIndex j = i;
        for (; j > 0 && list[j - 1] > key; --j) list[j] = list[j - 1];
        list[j] = key;
    }
}

/// The least number of a list in any order that is not less than `from`, or PLI_NONE: goes through a short list by size, each number once,
/// where it may not be sorted.
static inline PliIndex pli_least_from(const PliIndex *list, PliIndex count, PliIndex from)
{
    PliIndex least = PLI_NONE;
    for (PliIndex i = 0; i < count; ++i)
        if (list[i] >= from && list[i] < least) least = list[i];
    return least;
}

#endif
