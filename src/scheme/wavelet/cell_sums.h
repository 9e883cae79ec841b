/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_SCHEME_WAVELET_CELL_SUMS_H
#define PLIANT_SCHEME_WAVELET_CELL_SUMS_H

#include "scheme/wavelet/wavelet.h"

enum { PLI_PAIR_SIZE = 10 }; ///< doubles: nine of stiffness, one of mass

/// One cell: pairs of its vertices (upper triangle of vertices, all nine of sum V g_a g_b^T, and the mass), loads and mean gradients.
typedef struct PliCellSums {
    PliIndex n, kind;
    double *x;    ///< [n, 3] relative to the first vertex: cells alike in these are not integrated again
    double *pair; ///< [n, n, PLI_PAIR_SIZE]
    double *load; ///< [n, 4]: volume, gradient
    double volume;
    bool good;
} PliCellSums;

/// Integrates over a cell at rest, up to the surface where it is cut. `good` says whether the cell is the right way round.
void pli_wavelet_integrate(const PliWavelet *s, const PliWaveletLevel *l, PliIndex cell, PliCellSums *c);

#endif
