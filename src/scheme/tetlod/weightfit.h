/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_WEIGHTFIT_H
#define PLI_WEIGHTFIT_H

// Where two levels meet, a homogeneous stress leaves small "ghost" forces: the integral of the gradient of a basis function over
// the pieces it is made of does not vanish. Changing the weights of the tetrahedra around the switch by the least amount (relative
// change, least squares, weights stay positive) makes it vanish at interior nodes. It stays one energy, so momentum is untouched.
// Costs a conjugate gradient solve per changed cut: meant for accuracy, not for a haptic budget.

#include "scheme/tetlod/activeset.h"

typedef struct PliWeightFit {
    PliHost host;
    const PliLevels *h;
    const double *grad; ///< borrowed, gradients of corners 1, 2, 3, [tet_count, stride]
    size_t stride;
    PliIndex *row_of; ///< per node: constraint number, or PLI_NONE
    uint8_t *near;    ///< per node: touched by a tetrahedron where levels meet
    PliIndex *zone;   ///< positions in the element list whose weight may change
    PliIndex zone_count, row_count;
    PliIndex *first, *column; ///< per zone element: constraints ...
    double *entry;            ///< ... and the integral of the gradient per weight, [.., 3]
    size_t entry_capacity;
    double *scale, *change; ///< per zone element: sqrt of the weight; unknown
    uint8_t *bound;         ///< per zone element: held at the lower bound
    double *descent, *direction;
    double *r, *q, *diagonal; ///< 3 per row, and one for the volume
    double residual;          ///< largest ghost integral left, relative to size^2
    uint64_t skipped;         ///< cuts that did not fit the scratch
} PliWeightFit;

/// `grad` with `stride` doubles from one tetrahedron to the next.
PliWeightFit *pli_weightfit_create(const PliHost *host, const PliLevels *levels, const double *grad, size_t stride);
void pli_weightfit_destroy(PliWeightFit *fit);
/// Corrects volume[i] of the set's listed elements in place.
void pli_weightfit_apply(PliWeightFit *fit, const PliActiveSet *set, double *volume);

#endif
