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
    /// A whole solve of iterations, see pli_assembled_cg. NULL: those of linear.h, around `solve` and `apply`.
    PliSolveResult (*iterate)(void *self, const PliStepMatrix *a, const PliIterative *def, const double *b,
                              const double *const guess[2], double *x, double *workspace);
} PliMethodKind;

extern const PliMethodKind pli_method_tiles;  ///< direct, for points in blocks
extern const PliMethodKind pli_method_sparse; ///< direct, by 3x3 blocks
extern const PliMethodKind
    pli_method_helped; ///< preconditions the assembled matrix with an incomplete factor and coarser ones
extern const PliMethodKind pli_method_multigrid;  ///< the same with coarser ones alone
extern const PliMethodKind pli_method_incomplete; ///< the same with a factor alone
extern const PliMethodKind pli_method_blocks;     ///< preconditions with blocks of points
extern const PliMethodKind pli_method_jacobi;     ///< preconditions with masses and tethers
extern const PliMethodKind pli_method_plain;      ///< none: iterations as they are

extern const PliMethodKind *const pli_method_kinds[];
extern const int pli_method_kind_count;

enum {
    PLI_FACTOR_UNKNOWNS = 24000, ///< of a dense system: above, memory speaks for iterations
    PLI_FACTOR_POINTS =
        100 ///< of a sparse one: above, a multigrid solve is cheaper than a factor, whatever the material
};

/// Points are places in space with some neighbours each, which coefficients with a mass matrix of their own are not.
static inline bool pli_is_mesh(const PliStepMatrix *a) { return a->block <= 1 && !a->dense && !a->mass_first; }

/// A factor of the whole matrix is asked for, or left to us and the cheapest. Counts decide, not clocks: the same bits every time.
static inline bool pli_wants_factor(const PliStepMatrix *a, PliLinearSolver wish)
{
    if (wish != PLI_SOLVE_AUTO) return wish == PLI_SOLVE_LDL;
    return pli_is_mesh(a) ? a->count <= PLI_FACTOR_POINTS : !a->dense || 3 * a->count <= PLI_FACTOR_UNKNOWNS;
}

#endif
