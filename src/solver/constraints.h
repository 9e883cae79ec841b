/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_CONSTRAINTS_H
#define PLI_CONSTRAINTS_H

// Points of a body that an implicit step must bring to given places: Lagrange multipliers. With any solver P of the matrix A of
// the step, exact or near, Y = P C^T and S = C Y, one solve per row, give the projector 1 - Y S^-1 C; the step is solved in what
// it leaves. C dv is what was asked for at every iterate, whatever P is. Rows that depend on others are found by pivoting.

#include <pliant/base.h>

typedef struct PliConstraints {
    PliHost host;
    PliIndex point_capacity, row_capacity;
    size_t entry_capacity, length; ///< length: of a vector over active points, at most

    // filled at the start of a step; rows of points are over active positions, without fixed ones
    PliIndex point_count, *first, *column;
    double *weight;
    PliIndex row_count, *row_point; ///< a row holds one direction of a point
    double *direction;              ///< [rows, 3]
    double *goal;                   ///< m/s: what the row of dv must be

    // of the last step
    double *multiplier; ///< N s
    double unmet;       ///< m/s, the most a row is off that depends on others ...
    PliIndex unmet_row; ///< ... and which

    // of the last prepare
    double *response; ///< Y, [rows, 3 active]
    double *factor;   ///< of S scaled to ones on its diagonal, in the order of `order`
    double *scale;
    PliIndex *order, rank;
    double *row_work;  ///< [rows]
    double *vector[3]; ///< lent to solvers, 3 active each
    double *whole;     ///< scratch of the whole system with its multipliers; NULL: never solved
    size_t whole_size;
    PliIndex reach; ///< 3 active
} PliConstraints;

PliConstraints *pli_constraints_create(const PliHost *host, PliIndex points, PliIndex rows, size_t entries,
                                       PliIndex active_capacity, bool whole);
void pli_constraints_destroy(PliConstraints *c);

/// z = P r
typedef void PliConstraintSolve(void *self, const double *r, double *z);
/// Y, S and its factor. `solve` NULL: P is the identity.
void pli_constraints_prepare(PliConstraints *c, PliIndex active, PliConstraintSolve *solve, void *self);
void pli_constraints_meet(PliConstraints *c, double *dv); ///< the nearest dv, in the norm of P^-1, that meets the goals
void pli_constraints_project(PliConstraints *c, double *dv);      ///< the same with goals of 0
void pli_constraints_project_force(PliConstraints *c, double *f); ///< without what multipliers would take
void pli_constraints_read(PliConstraints *c, const double *rest,
                          const double *dv); ///< multipliers from A dv - b, and what is unmet
void pli_constraints_apply(const PliConstraints *c, const double *dv, double *rows);        ///< C dv
void pli_constraints_add_transpose(const PliConstraints *c, const double *rows, double *f); ///< += C^T rows

/// Cholesky of a positive semi-definite matrix [n, n] with unit diagonal, in place, lower triangle, pivots of the largest first.
/// order[k]: row that is k-th. @return the rank; rows behind it depend on those before, by the coefficients in the factor.
PliIndex pli_pivoted_cholesky(double *a, PliIndex n, PliIndex *order);

#endif
