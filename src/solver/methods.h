/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_METHODS_H
#define PLI_METHODS_H

// The library's own linear solvers and preconditioners, best first. Another one is a file with a PliMethodKind, and a line in
// methods.c.

#include "solver/system.h"

typedef struct PliMethodKind {
    PliLinearOps ops;
    void *(*create)(const PliHost *host); ///< NULL: it needs no memory of its own
    void (*destroy)(void *self);
} PliMethodKind;

extern const PliMethodKind pli_method_tiles;      ///< direct, for points in blocks
extern const PliMethodKind pli_method_sparse;     ///< direct, by 3x3 blocks
extern const PliMethodKind pli_method_multigrid;  ///< preconditions the assembled matrix with coarser ones
extern const PliMethodKind pli_method_incomplete; ///< the same with an incomplete factor
extern const PliMethodKind pli_method_blocks;     ///< preconditions with blocks of points
extern const PliMethodKind pli_method_jacobi;     ///< preconditions with masses and tethers
extern const PliMethodKind pli_method_plain;      ///< none: iterations as they are

extern const PliMethodKind *const pli_method_kinds[];
extern const int pli_method_kind_count;

enum { PLI_FACTOR_UNKNOWNS = 24000 }; ///< of a dense system: above, memory speaks for iterations

/// A factor of the whole matrix is asked for, or left to us and affordable.
static inline bool pli_wants_factor(const PliStepMatrix *a, PliLinearSolver wish)
{
    return wish == PLI_SOLVE_LDL || (wish == PLI_SOLVE_AUTO && !(a->dense && 3 * a->count > PLI_FACTOR_UNKNOWNS));
}

#endif
