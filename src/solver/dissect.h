/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_DISSECT_H
#define PLI_DISSECT_H

// Nested dissection of a graph: a small set of points whose removal leaves two halves apart comes last, and the halves are cut in the same
// way until they are small. In three dimensions a factor in this order has about half the arithmetic of one in AMD's.

#include <pliant/base.h>

enum { PLI_DISSECT_WORK = 10 }; ///< numbers of work per point

/// Neighbours of point i: near[first[i]] ... near[first[i + 1] - 1]. Fills `order` with all points, and leaf_begin and leaf_end (room for n)
/// with the places there of pieces that were not cut: they have at most `leaf` points or are too close together, and may be put into any
/// order of their own. @return how many
PliIndex pli_dissect(PliIndex n, const PliIndex *first, const PliIndex *near, PliIndex leaf, PliIndex *order,
                     PliIndex *leaf_begin, PliIndex *leaf_end, PliIndex *work);

#endif
