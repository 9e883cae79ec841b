/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_LINEAR_H
#define PLI_LINEAR_H

// Linear solvers. None allocates while solving; sums are taken in fixed blocks so that results do not depend on workers.

#include <pliant/base.h>

/// y = A x, matrix-free. `count` scalar unknowns.
typedef struct PliLinearOp {
    void (*apply)(void *self, const double *x, double *y);
    void (*precondition)(void *self, const double *r, double *z); ///< NULL: none
    void *self;
    PliIndex count;
} PliLinearOp;

typedef struct PliIterative {
    int max_iterations;
    double tolerance; ///< relative to |b|
} PliIterative;
typedef struct PliSolveResult {
    int iterations;
    double residual; ///< relative
    bool converged;
    bool indefinite; ///< CG met a direction of no or negative curvature, and stopped there
} PliSolveResult;
size_t pli_cg_workspace(PliIndex count);     ///< doubles to lend
size_t pli_minres_workspace(PliIndex count); ///< doubles to lend
/// x is the first guess on entry.
PliSolveResult pli_cg_solve(const PliIterative *def, const PliLinearOp *a, const double *b, double *x,
                            double *workspace);
/// The same from that multiple of `guess` which is nearest to the solution in the norm of A, so never farther than 0; NULL: from 0.
PliSolveResult pli_cg_solve_near(const PliIterative *def, const PliLinearOp *a, const double *b, const double *guess,
                                 double *x, double *workspace);
PliSolveResult pli_minres_solve(const PliIterative *def, const PliLinearOp *a, const double *b, double *x,
                                double *workspace);

double pli_dot(PliIndex count, const double *a, const double *b); ///< blocked, fixed order

/// Sparse symmetric matrix of 3x3 blocks with a fixed pattern, and its LDL^T factor (AMD order).
/// The pattern is set when the active set changes; values and factor are refilled in a step without allocation.
/// Both (row, col) and (col, row) must be added, as a loop over element matrices does; sealing completes the pattern with
/// missing mirrors and diagonals. The factor reads one triangle.
typedef struct PliBlockMatrix PliBlockMatrix;
PliBlockMatrix *pli_block_matrix_create(const PliHost *host);
void pli_block_matrix_destroy(PliBlockMatrix *m);
/// Starts a pattern of n block rows; then push every (row, col) pair once or more, then seal. May allocate.
PliStatus pli_block_matrix_begin(PliBlockMatrix *m, PliIndex n);
PliStatus pli_block_matrix_push(PliBlockMatrix *m, PliIndex row, PliIndex col);
PliStatus pli_block_matrix_seal(PliBlockMatrix *m, PliError *err); ///< symbolic analysis included
void pli_block_matrix_zero(PliBlockMatrix *m);
void pli_block_matrix_add(PliBlockMatrix *m, PliIndex row, PliIndex col,
                          const double k9[9]);                                  ///< the pattern must have it
bool pli_block_matrix_has(const PliBlockMatrix *m, PliIndex row, PliIndex col); ///< the pattern
void pli_block_matrix_add_diagonal(PliBlockMatrix *m, PliIndex row, double value);
void pli_block_matrix_fix(PliBlockMatrix *m, PliIndex row); ///< row and column to identity
void pli_block_matrix_apply(const PliBlockMatrix *m, const double *x, double *y);
/// Numeric factorisation. PLI_DIVERGED when a pivot is zero or not finite.
PliStatus pli_block_matrix_factor(PliBlockMatrix *m, PliError *err);
void pli_block_matrix_solve(const PliBlockMatrix *m, const double *b, double *x);
/// Eight right-hand sides at once: b, x and work have shape [rows, 8]; b and x may be the same.
void pli_block_matrix_solve_eight(const PliBlockMatrix *m, const double *b, double *x, double *work);
PliIndex pli_block_matrix_negative_pivots(const PliBlockMatrix *m);

#endif
