/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Conjugate gradients on the assembled matrix, in the order of its rows: vectors have four numbers a row, the last one 0, and are put in
// that order once for a solve instead of four times for each iteration.
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "solver/assembled.h"

typedef double V4 __attribute__((vector_size(32)));

// ---- sums, in a fixed order --------------------------------------------------------------------------------------------------

static inline double add_four(V4 s) { return (s[0] + s[1]) + (s[2] + s[3]); }

PLI_WIDE static double dot(PliIndex n, const V4 *a, const V4 *b)
{
    V4 s[4] = { { 0.0 } };
    PliIndex i = 0;
    for (; i + 4 <= n; i += 4)
        for (PliIndex k = 0; k < 4; ++k) s[k] += a[i + k] * b[i + k];
    for (; i < n; ++i) s[0] += a[i] * b[i];
    return add_four((s[0] + s[1]) + (s[2] + s[3]));
}

PLI_WIDE static double dot_single(PliIndex n, const V4 *a, const PliF4 *b)
{
    V4 s[4] = { { 0.0 } };
    PliIndex i = 0;
    for (; i + 4 <= n; i += 4)
        for (PliIndex k = 0; k < 4; ++k) s[k] += a[i + k] * __builtin_convertvector(b[i + k], V4);
    for (; i < n; ++i) s[0] += a[i] * __builtin_convertvector(b[i], V4);
    return add_four((s[0] + s[1]) + (s[2] + s[3]));
}

/// p = z + beta p
PLI_WIDE static void go_along(PliIndex n, const PliF4 *z, double beta, V4 *p)
{
    for (PliIndex i = 0; i < n; ++i) p[i] = __builtin_convertvector(z[i], V4) + beta * p[i];
}

/// x += step p, r -= step ap. @return r r, and r in single precision
PLI_WIDE static double advance(PliIndex n, double step, const V4 *p, const V4 *ap, V4 *x, V4 *r, PliF4 *single)
{
    V4 s[2] = { { 0.0 } };
    for (PliIndex i = 0; i < n; ++i) {
        const V4 now = r[i] - step * ap[i];
        x[i] += step * p[i];
        r[i] = now;
        s[i % 2] += now * now;
        single[i] = __builtin_convertvector(now, PliF4);
    }
    return add_four(s[0] + s[1]);
}

PLI_WIDE static void to_single(PliIndex n, const V4 *r, PliF4 *single)
{
    for (PliIndex i = 0; i < n; ++i) single[i] = __builtin_convertvector(r[i], PliF4);
}

// ---- rows and points ---------------------------------------------------------------------------------------------------------

static void take_in(const PliAssembled *m, const double *points, V4 *rows)
{
    for (PliIndex r = 0; r < m->n; ++r) {
        const double *p = points + 3 * (size_t)m->order[r];
        rows[r] = (V4){ p[0], p[1], p[2], 0.0 };
    }
}

static void give_back(const PliAssembled *m, const V4 *rows, double *points)
{
    for (PliIndex r = 0; r < m->n; ++r) memcpy(points + 3 * (size_t)m->order[r], rows + r, 3 * sizeof *points);
}

/// y += what tethers take of p on free points; fixed ones do not move.
static void add_tethers(const PliAssembled *m, const PliStepMatrix *a, const V4 *p, V4 *y)
{
    for (PliIndex j = 0; j < a->tether_count; ++j) {
        const double *q = a->tether_matrix + 6 * (size_t)j;
        const PliIndex from = a->tether_first[j], to = a->tether_first[j + 1];
        V4 u = { 0.0 };
        for (PliIndex k = from; k < to; ++k) {
            const PliIndex r = m->place[a->tether_column[k]];
            if (!m->fixed[r]) u += a->tether_weight[k] * p[r];
        }
        const V4 f = { q[0] * u[0] + q[5] * u[1] + q[4] * u[2], q[5] * u[0] + q[1] * u[1] + q[3] * u[2],
                       q[4] * u[0] + q[3] * u[1] + q[2] * u[2], 0.0 };
        for (PliIndex k = from; k < to; ++k) {
            const PliIndex r = m->place[a->tether_column[k]];
            if (!m->fixed[r]) y[r] += a->tether_weight[k] * f;
        }
    }
}

static void apply(const PliAssembled *m, const PliStepMatrix *a, const V4 *p, V4 *y)
{
    pli_assembled_multiply(m, (const double *)p, (double *)y);
    add_tethers(m, a, p, y);
}

// ---- iterations --------------------------------------------------------------------------------------------------------------

/// x = sum of share_k guess_k, r -= A x. Both guesses and their products are lost.
PLI_WIDE static void start_at(PliIndex n, const double share[2], const V4 *g1, const V4 *ag0, const V4 *ag1, V4 *x,
                              V4 *r)
{
    for (PliIndex i = 0; i < n; ++i) {
        x[i] = share[0] * x[i] + share[1] * g1[i];
        r[i] -= share[0] * ag0[i] + share[1] * ag1[i];
    }
}

/// The sum of both guesses, x and g1, that is nearest to the solution in the norm of A, so never farther than 0; r holds b.
static void begin_near(const PliAssembled *m, const PliStepMatrix *a, V4 *x, V4 *g1, V4 *r, V4 *ag0, V4 *ag1)
{
    const PliIndex n = m->n;
    double share[2] = { 0.0, 0.0 };
    apply(m, a, x, ag0);
    apply(m, a, g1, ag1);
    const double a00 = dot(n, x, ag0), a01 = dot(n, g1, ag0), a11 = dot(n, g1, ag1), b0 = dot(n, x, r),
                 b1 = dot(n, g1, r), det = a00 * a11 - a01 * a01;
    if (det > 1e-8 * a00 * a11) {
        share[0] = (b0 * a11 - b1 * a01) / det;
        share[1] = (b1 * a00 - b0 * a01) / det;
    } else if (a00 > 0.0) {
        share[0] = b0 / a00;
    }
    if (!isfinite(share[0]) || !isfinite(share[1])) share[0] = share[1] = 0.0;
    start_at(n, share, g1, ag0, ag1, x, r);
}

size_t pli_assembled_cg_workspace(PliIndex n) { return 5 * 4 * (size_t)n + 4; }

PliSolveResult pli_assembled_cg(const PliAssembled *m, const PliStepMatrix *a, const PliIterative *def,
                                const PliSweep *sweep, const double *b, const double *const guess[2], double *x,
                                double *workspace)
{
    const PliIndex n = m->n;
    V4 *x4 = (V4 *)(((uintptr_t)workspace + 31) & ~(uintptr_t)31), *r = x4 + n, *p = r + n, *ap = p + n,
       *spare = ap + n;
    take_in(m, b, r);
    const double size = sqrt(dot(n, r, r));
    PliSolveResult result = { 0, 0.0, true, false };
    if (size == 0.0) {
        memset(x, 0, 3 * (size_t)n * sizeof *x);
        return result;
    }
    memset(x4, 0, n * sizeof *x4);
    memset(p, 0, n * sizeof *p);
    if (guess[0]) take_in(m, guess[0], x4);
    if (guess[1]) take_in(m, guess[1], p);
    if (guess[0] && guess[0] == x) { // goes on
        static const double whole[2] = { 1.0, 0.0 };
        apply(m, a, x4, ap);
        start_at(n, whole, x4, ap, ap, x4, r);
    } else if (guess[0]) {
        begin_near(m, a, x4, p, r, ap, spare);
    }
    memset(p, 0, n * sizeof *p);
    to_single(n, r, sweep->r);
    result.residual = sqrt(dot(n, r, r)) / size;
    double rz = 0.0;
    for (;;) {
        result.converged = result.residual <= def->tolerance;
        if (result.converged || !isfinite(result.residual) || result.iterations >= def->max_iterations) break;
        sweep->solve(sweep->self);
        const double next = dot_single(n, r, sweep->z), beta = result.iterations ? next / rz : 0.0;
        rz = next;
        go_along(n, sweep->z, beta, p);
        apply(m, a, p, ap);
        const double curvature = dot(n, p, ap);
        result.indefinite = !(curvature > 0.0); // see pli_cg_solve
        if (result.indefinite) break;
        result.residual = sqrt(advance(n, rz / curvature, p, ap, x4, r, sweep->r)) / size;
        result.iterations++;
    }
    give_back(m, x4, x);
    return result;
}
