/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_CONDENSE_H
#define PLI_CONDENSE_H

// How some points answer forces on themselves: B^T A^-1 B of a factor A = L S L^T, for a thin B. With Y = L^-1 B that is Y^T S Y: one
// half of a solve, and only in the panels between the touched points and the root of the elimination tree.

#include <pliant/scheme.h>

#include "solver/factor.h"

typedef struct PliCondense {
    PliHost host;
    PliIndex *head, *next; ///< lists of touched points by their first pivot
    PliIndex *column;      ///< touched point -> its place among the columns, which are in the order of pivots
    PliIndex *start;       ///< panel -> its rows in y, PLI_NONE: not reached
    PliIndex *at;          ///< rows of one panel in y
    PliIndex *reached;     ///< blocks of eight columns of one panel
    uint8_t *mark;         ///< [panels, blocks of columns]
    double *y;             ///< [blocks of columns, rows, 8]
    double *tile;          ///< [blocks, blocks, 8, 8], the upper ones
    size_t head_capacity, next_capacity, column_capacity, start_capacity, at_capacity, reached_capacity, mark_capacity,
        y_capacity, tile_capacity;
} PliCondense;

void pli_condense_release(PliCondense *s);
/// c [3 count, 3 count] = factor B^T A^-1 B; the factor is asked by active points (order, place). False: no memory. Allocates when
/// more is touched than before.
bool pli_condense(PliCondense *s, const PliFactor *f, const uint8_t *fixed, const PliTouched *b, double factor,
                  double *c);

#endif
