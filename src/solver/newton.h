/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_NEWTON_H
#define PLI_NEWTON_H

// More than one linearisation of an implicit stage. Its equation, with F = internal forces + outer ones - a M v + b_r K v, is
//   M dv = (h - g) F(x, v) + g F(x + h v + g dv, v + dv)
// A stage that is solved once is the first iteration, from the dv that ends where the stage began. Others follow from where the one
// before ended. A line search along each keeps the energy of the stage from rising: inertia, elastic energy and what outer forces do.
// Where tools touch, the linearisation that found them is the last one.

#include "solver/system.h"

size_t pli_newton_workspace(PliIndex point_capacity); ///< doubles, PliSystem.newton

typedef struct PliNewton {
    PliSystem *s;
    const PliStage *stage;
    int most;      ///< linearisations, more than 1
    bool definite; ///< tangents without negative eigenvalues
    double
        tolerance; ///< of what is left of the equation, over the right-hand side of the first solve, or what tools and held points do
    double *free; ///< right-hand side of the linear system without tools: written before each solve
    double size;  ///< N s, of the right-hand side of the first solve
    double *dv;   ///< its solution, and in the end that of the stage
    /// Solves for dv from `free` and the matrix of the last linearize. @return iterations, or -1
    int (*solve)(void *self);
    void *self;
} PliNewton;

/// While the stage is set up: s->f has internal forces only ...
void pli_newton_note_internal(const PliSystem *s);
/// ... then those of hooks as well; outer ones are the difference, gravity and f_ext.
void pli_newton_note_outer(const PliSystem *s);
/// ... and, at last, `whole` is h F(x, v) + h g K v of every active point.
void pli_newton_note_start(const PliSystem *s, const PliStage *stage, const double *whole);
/// After the first solve. @return iterations of all others, or -1: no step along the first direction is any good
int pli_newton_refine(PliNewton *q);

#endif
