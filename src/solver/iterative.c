/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Conjugate gradients and MINRES over a matrix-free operator, in lent memory.
#include "solver/linear.h"

#include <math.h>
#include <string.h>

double pli_dot(PliIndex count, const double *a, const double *b)
{
    // eight running sums per block hide the latency of an addition; blocks keep rounding errors small
    enum { BLOCK = 2048 };
    double total = 0.0;
    for (PliIndex first = 0; first < count;) {
        PliIndex last = count - first > BLOCK ? first + BLOCK : count, i = first;
        double s[8] = { 0.0 };
        for (; i + 8 <= last; i += 8)
            for (PliIndex k = 0; k < 8; ++k) s[k] += a[i + k] * b[i + k];
        for (PliIndex k = 0; i < last; ++i, ++k) s[k] += a[i] * b[i];
        total += ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
        first = last;
    }
    return total;
}

static double norm(PliIndex count, const double *a) { return sqrt(pli_dot(count, a, a)); }

/// r = b - A x
static void residual_of(const PliLinearOp *a, const double *b, const double *x, double *r)
{
    a->apply(a->self, x, r);
    for (PliIndex i = 0; i < a->count; ++i) r[i] = b[i] - r[i];
}

static PliSolveResult zero_solution(PliIndex count, double *x)
{
    memset(x, 0, count * sizeof *x);
    return (PliSolveResult){ 0, 0.0, true, false };
}

size_t pli_cg_workspace(PliIndex count) { return 4 * (size_t)count; }

/// Goes on from x; r = b - A x is the first part of the workspace.
static PliSolveResult go_on(const PliIterative *def, const PliLinearOp *a, double size, double *x, double *workspace)
{
    const PliIndex n = a->count;
    double *r = workspace, *p = r + n, *ap = p + n, *z = a->precondition ? ap + n : r;
    PliSolveResult result = { 0, norm(n, r) / size, false, false };
    double rz = 0.0;
    for (;;) {
        result.converged = result.residual <= def->tolerance;
        if (result.converged || !isfinite(result.residual) || result.iterations >= def->max_iterations) return result;
        if (a->precondition) a->precondition(a->self, r, z);
        double rz_next = pli_dot(n, r, z), beta = result.iterations ? rz_next / rz : 0.0;
        rz = rz_next;
        for (PliIndex i = 0; i < n; ++i) p[i] = z[i] + (result.iterations ? beta * p[i] : 0.0);
        a->apply(a->self, p, ap);
        double curvature = pli_dot(n, p, ap);
        // not positive along p: the matrix or the preconditioner is indefinite, and x is the best there is. The negated
        // comparison also stops on NaN
        result.indefinite = !(curvature > 0.0);
        if (result.indefinite) return result;
        double step = rz / curvature;
        for (PliIndex i = 0; i < n; ++i) {
            x[i] += step * p[i];
            r[i] -= step * ap[i];
        }
        result.iterations++;
        result.residual = norm(n, r) / size;
    }
}

PliSolveResult pli_cg_solve(const PliIterative *def, const PliLinearOp *a, const double *b, double *x,
                            double *workspace)
{
    const double size = norm(a->count, b);
    if (size == 0.0) return zero_solution(a->count, x);
    residual_of(a, b, x, workspace);
    return go_on(def, a, size, x, workspace);
}

PliSolveResult pli_cg_solve_near(const PliIterative *def, const PliLinearOp *a, const double *b, const double *guess,
                                 double *x, double *workspace)
{
    const PliIndex n = a->count;
    double *r = workspace, *ag = r + n, share = 0.0;
    const double size = norm(n, b);
    if (size == 0.0) return zero_solution(n, x);
    if (guess) {
        a->apply(a->self, guess, ag);
        const double curvature = pli_dot(n, guess, ag);
        if (curvature > 0.0) share = pli_dot(n, guess, b) / curvature;
        if (!isfinite(share)) share = 0.0;
    }
    for (PliIndex i = 0; i < n; ++i) {
        x[i] = share != 0.0 ? share * guess[i] : 0.0;
        r[i] = share != 0.0 ? b[i] - share * ag[i] : b[i];
    }
    return go_on(def, a, size, x, workspace);
}

size_t pli_minres_workspace(PliIndex count) { return 7 * (size_t)count; }

// Paige and Saunders 1975: Lanczos vectors, and a QR factor of their tridiagonal matrix by plane rotations, updated column
// by column. With a (positive definite) preconditioner the Lanczos vectors are orthogonal in its inner product.
PliSolveResult pli_minres_solve(const PliIterative *def, const PliLinearOp *a, const double *b, double *x,
                                double *workspace)
{
    const PliIndex n = a->count;
    // unscaled Lanczos vectors r_k-1, r_k, their preconditioned y, the scaled v, and three directions of descent
    double *old = workspace, *now = old + n, *y = now + n, *v = y + n, *d0 = v + n, *d1 = d0 + n, *d2 = d1 + n;
    const double size = norm(n, b);
    if (size == 0.0) return zero_solution(n, x);
    residual_of(a, b, x, now);
    PliSolveResult result = { 0, norm(n, now) / size, false, false };
    result.converged = result.residual <= def->tolerance;
    if (result.converged || !isfinite(result.residual)) return result;

    if (a->precondition)
        a->precondition(a->self, now, y);
    else
        memcpy(y, now, n * sizeof *y);
    double beta = sqrt(pli_dot(n, now, y)), beta_old = 0.0; // off-diagonal of the tridiagonal matrix
    if (!(beta > 0.0)) return result;                       // the preconditioner is not positive definite
    memset(d1, 0, n * sizeof *d1);
    memset(d2, 0, n * sizeof *d2);
    double c = -1.0, s = 0.0;                // last rotation
    double diagonal_bar = 0.0, second = 0.0; // what earlier rotations left in the next column
    double rest = beta, goal = def->tolerance * beta / result.residual;
    const double start = beta;
    while (result.iterations < def->max_iterations) {
        // next Lanczos vector
        for (PliIndex i = 0; i < n; ++i) v[i] = y[i] / beta;
        a->apply(a->self, v, y);
        if (result.iterations)
            for (PliIndex i = 0; i < n; ++i) y[i] -= beta / beta_old * old[i];
        double alpha = pli_dot(n, v, y);
        for (PliIndex i = 0; i < n; ++i) y[i] -= alpha / beta * now[i];
        double *spare = old;
        old = now, now = spare;
        memcpy(now, y, n * sizeof *y);
        if (a->precondition) a->precondition(a->self, now, y);
        beta_old = beta;
        double square = pli_dot(n, now, y);
        beta = square > 0.0 ? sqrt(square) : 0.0;

        // column (beta_old, alpha, beta) of the tridiagonal matrix through the rotations
        double third = second, first = c * diagonal_bar + s * alpha, pivot_bar = s * diagonal_bar - c * alpha;
        second = s * beta;
        diagonal_bar = -c * beta;
        double pivot = sqrt(pivot_bar * pivot_bar + beta * beta);
        if (!(pivot > 1e-300)) break; // singular and inconsistent along the last direction
        c = pivot_bar / pivot, s = beta / pivot;
        double step = c * rest;
        rest *= s;

        spare = d0;
        d0 = d1, d1 = d2, d2 = spare;
        for (PliIndex i = 0; i < n; ++i) {
            d2[i] = (v[i] - third * d0[i] - first * d1[i]) / pivot;
            x[i] += step * d2[i];
        }
        result.iterations++;
        // `rest` measures the residual in the norm of the preconditioner: when it says done, look at the true one
        bool last = result.iterations == def->max_iterations || beta <= 1e-14 * start || !isfinite(rest);
        if (rest <= goal || last) {
            residual_of(a, b, x, v);
            result.residual = norm(n, v) / size;
            result.converged = result.residual <= def->tolerance;
            if (result.converged || last) return result;
            goal = 0.5 * rest * def->tolerance / result.residual;
            if (!(rest > 1e-16 * start)) return result; // rounding: no better answer will come
        }
    }
    residual_of(a, b, x, v);
    result.residual = norm(n, v) / size;
    result.converged = result.residual <= def->tolerance;
    return result;
}
