/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_LATTICE_SHAPE_H
#define PLI_LATTICE_SHAPE_H

// Basis functions of a subdivision lattice inside its cells. A regular cell is one tricubic piece: a tensor product of cubic B-splines,
// with P-1 = 2 P0 - P1 beyond the boundary. Any other cell is subdivided twice and projected to the limit, and the pieces are
// trilinear; patches with the same connectivity share one table.

#include "scheme/wavelet/lattice.h"

enum { PLI_SHAPE_WIDTH = 256 }; ///< most vertices that reach into one cell

typedef struct PliLatticePatch PliLatticePatch;
typedef struct PliShapes {
    PliHost host;
    const PliLattice *lattice;
    PliLatticeRule rule;
    PliIndex *first, *vertex; ///< per cell: vertices whose functions live in it
    size_t vertices;
    PliIndex *kind; ///< per cell: sides without a neighbour (bits), or 64 + number of its patch
    PliLatticePatch *patch;
    size_t patch_count, patch_capacity;
    PliIndex width;     ///< the most vertices of one cell
    PliIndex irregular; ///< cells
} PliShapes;

PliShapes *pli_shapes_create(const PliLattice *l, PliLatticeRule rule, PliError *err); ///< the lattice must outlive it
void pli_shapes_destroy(PliShapes *s);                                                 ///< NULL is fine
PliIndex pli_shapes_parts(const PliShapes *s, PliIndex cell); ///< pieces, each over the unit cube
static inline bool pli_shapes_regular(const PliShapes *s, PliIndex cell) { return s->kind[cell] < 64; }
/// Values and gradients (both may be NULL) at u in [0, 1]^3 of a piece, for the vertices of the cell in their order.
void pli_shapes_eval(const PliShapes *s, PliIndex cell, PliIndex part, const double u[3], double *value, double *grad);

/// Factors of the functions of a regular cell along one axis, and their slopes: those of (i, j, k) have number i + n0 (j + n1 k). @return how
/// many
int pli_shapes_along(PliIndex kind, int axis, double t, double value[4], double slope[4]);

/// Where a vertex goes to when subdivision is repeated for ever: weights over the vertices of the cells around. Hexahedra only. @return how many, 0:
/// no memory, or more than fit.
PliIndex pli_lattice_limit(const PliLattice *l, PliLatticeRule rule, PliIndex vertex, PliIndex *column, double *weight,
                           PliIndex capacity);

#endif
