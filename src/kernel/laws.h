/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_LAWS_H
#define PLI_LAWS_H

// Material laws over lanes: part of the algorithm text, included once per vector width (see lanes.h).
// Matrices are row-major W[9]; symmetric ones W[6] = xx yy zz yz xz xy.

#include "kernel/lanes.h"

/// Right Cauchy-Green tensor F^T F.
W_INLINE void cauchy_green(const W F[9], W C[6])
{
    C[0] = F[0] * F[0] + F[3] * F[3] + F[6] * F[6];
    C[1] = F[1] * F[1] + F[4] * F[4] + F[7] * F[7];
    C[2] = F[2] * F[2] + F[5] * F[5] + F[8] * F[8];
    C[3] = F[1] * F[2] + F[4] * F[5] + F[7] * F[8];
    C[4] = F[0] * F[2] + F[3] * F[5] + F[6] * F[8];
    C[5] = F[0] * F[1] + F[3] * F[4] + F[6] * F[7];
}

W_INLINE void cofactor(const W F[9], W K[9])
{
    K[0] = F[4] * F[8] - F[5] * F[7], K[1] = F[5] * F[6] - F[3] * F[8], K[2] = F[3] * F[7] - F[4] * F[6];
    K[3] = F[2] * F[7] - F[1] * F[8], K[4] = F[0] * F[8] - F[2] * F[6], K[5] = F[1] * F[6] - F[0] * F[7];
    K[6] = F[1] * F[5] - F[2] * F[4], K[7] = F[2] * F[3] - F[0] * F[5], K[8] = F[0] * F[4] - F[1] * F[3];
}

W_INLINE W determinant(const W F[9])
{
    return F[0] * (F[4] * F[8] - F[5] * F[7]) + F[1] * (F[5] * F[6] - F[3] * F[8]) + F[2] * (F[3] * F[7] - F[4] * F[6]);
}

/// P = F S (add: P += F S).
W_INLINE void times_symmetric(const W F[9], const W S[6], W P[9])
{
    for (int i = 0; i < 3; ++i) {
        P[3 * i] = F[3 * i] * S[0] + F[3 * i + 1] * S[5] + F[3 * i + 2] * S[4];
        P[3 * i + 1] = F[3 * i] * S[5] + F[3 * i + 1] * S[1] + F[3 * i + 2] * S[3];
        P[3 * i + 2] = F[3 * i] * S[4] + F[3 * i + 1] * S[3] + F[3 * i + 2] * S[2];
    }
}

/// One Laguerre step towards the largest root of p(x) = (x^2 - i1)^2 - 8 j x - 4 i2, from above.
W_INLINE W laguerre_step(W x, W i1, W i2, W j)
{
    W q = x * x - i1;
    W p = q * q - 8.0 * (j * x) - 4.0 * i2;
    W p1 = 4.0 * (x * q) - 8.0 * j;
    W p2 = 12.0 * (x * x) - 4.0 * i1;
    W root = w_sqrt(w_max(9.0 * (p1 * p1) - 12.0 * (p * p2), w_set(0.0)));
    return 4.0 * p / (p1 + root);
}

// Rotation of the polar decomposition F = R S, det R = +1, in three stages.
//
// x = tr S = s1 + s2 + s3 is the largest root of the quartic of laguerre_step with i1 = |F|^2, i2 = |cof F|^2, j = det F
// (the others are s1 - s2 - s3 and so on, all real), and R = dx/dF follows from it by the implicit function theorem:
//   R = ((x^2 - i1) F + 2 (i1 F - F F^T F) + 2 x cof F) / (x (x^2 - i1) - 2 j).
// Laguerre's method is exact when three roots coincide, as they do at rest: two steps from sqrt(3 i1) reach the last bit
// for principal stretches in 0.7 .. 1.4; three more are made only when a lane asks for them. The denominator is
// 2 (s1+s2)(s2+s3)(s3+s1): where it is small R is ill-defined, and those lanes go through the robust routine.
// Rejected: Higham's iteration (wrong for inverted elements), warm-started quaternions (results depend on history).
typedef struct Polar {
    W K[9];             ///< cof F
    W i1, i2, j;        ///< invariants
    W trace, last_step; ///< root, and the last correction of it
} Polar;

W_INLINE void polar_invariants(const W F[9], Polar *p)
{
    cofactor(F, p->K);
    const W *K = p->K;
    p->i1 = (F[0] * F[0] + F[1] * F[1] + F[2] * F[2]) + (F[3] * F[3] + F[4] * F[4] + F[5] * F[5]) +
            (F[6] * F[6] + F[7] * F[7] + F[8] * F[8]);
    p->i2 = (K[0] * K[0] + K[1] * K[1] + K[2] * K[2]) + (K[3] * K[3] + K[4] * K[4] + K[5] * K[5]) +
            (K[6] * K[6] + K[7] * K[7] + K[8] * K[8]);
    p->j = F[0] * K[0] + F[1] * K[1] + F[2] * K[2];
}

/// The root, for several groups of lanes side by side: square roots and divisions of one group hide those of the others.
W_INLINE void polar_trace(Polar *p, int groups)
{
    for (int g = 0; g < groups; ++g) p[g].trace = w_sqrt(3.0 * p[g].i1);
    for (int n = 0; n < 2; ++n)
        for (int g = 0; g < groups; ++g) {
            p[g].last_step = laguerre_step(p[g].trace, p[g].i1, p[g].i2, p[g].j);
            p[g].trace = p[g].trace - p[g].last_step;
        }
    for (int g = 0; g < groups; ++g) {
        if (w_greater(1e-5 * p[g].trace, w_abs(p[g].last_step)) == W_ALL) continue;
        for (int n = 0; n < 3; ++n) {
            // lanes that have arrived keep their value, so that no lane depends on its neighbours
            W x = p[g].trace, next = laguerre_step(x, p[g].i1, p[g].i2, p[g].j);
            W moving = w_abs(p[g].last_step), small = 1e-5 * x;
            p[g].trace = w_pick_greater(small, moving, x, x - next);
            p[g].last_step = w_pick_greater(small, moving, p[g].last_step, next);
        }
    }
}

/// Lanes outside `fine` through the slow routine. Not inlined: rare, and compiled once.
static __attribute__((noinline)) void polar_rescue(const W F[9], unsigned fine, W R[9], W *trace)
{
    _Alignas(64) double f[9][PLI_LANES], r[9][PLI_LANES], t[PLI_LANES];
    for (int k = 0; k < 9; ++k) w_store(f[k], F[k]), w_store(r[k], R[k]);
    w_store(t, *trace);
    for (int lane = 0; lane < PLI_LANES; ++lane) {
        if (fine >> lane & 1u) continue;
        double one[9], rotation[9], sum = 0.0;
        for (int k = 0; k < 9; ++k) one[k] = f[k][lane];
        pli_polar_robust(one, rotation);
        for (int k = 0; k < 9; ++k) r[k][lane] = rotation[k], sum += rotation[k] * one[k];
        t[lane] = sum;
    }
    for (int k = 0; k < 9; ++k) R[k] = w_load(r[k]);
    *trace = w_load(t);
}

W_INLINE void polar_rotation(const W F[9], const Polar *p, W R[9], W *trace)
{
    const W x = p->trace, *K = p->K;
    W gap = x * x - p->i1;
    W den = x * gap - 2.0 * p->j;
    W scale = 1.0 / den;
    W a = gap * scale, b = 2.0 * scale, c = b * x;
    for (int i = 0; i < 3; ++i) {
        // row i of i1 F - F F^T F, from the rows of F and cof F: f_m x k_n - f_n x k_m
        const int m = 3 * ((i + 1) % 3), n = 3 * ((i + 2) % 3);
        for (int q = 0; q < 3; ++q) {
            const int u = (q + 1) % 3, v = (q + 2) % 3;
            W mixed = (F[m + u] * K[n + v] - F[m + v] * K[n + u]) - (F[n + u] * K[m + v] - F[n + v] * K[m + u]);
            R[3 * i + q] = (a * F[3 * i + q] + c * K[3 * i + q]) + b * mixed;
        }
    }
    *trace = x;
    unsigned fine = w_greater(1e-5 * x, w_abs(p->last_step)) & w_greater(den, 0.01 * (x * x * x));
    if (fine != W_ALL) polar_rescue(F, fine, R, trace);
}

W_INLINE void polar(const W F[9], W R[9], W *trace)
{
    Polar p;
    polar_invariants(F, &p);
    polar_trace(&p, 1);
    polar_rotation(F, &p, R, trace);
}

/// PliLame, one for each lane.
typedef struct Lame {
    W mu, lambda, alpha, rest_energy, viscous_mu, viscous_lambda;
} Lame;

W_INLINE Lame lame_of(const PliLame *m)
{
    return (Lame){ w_set(m->mu),          w_set(m->lambda),     w_set(m->alpha),
                   w_set(m->rest_energy), w_set(m->viscous_mu), w_set(m->viscous_lambda) };
}

// How much stiffer than at rest the material is at F, at most: a bound of dF : dP/dF : dF over its largest value at rest.

/// Largest absolute row sum of a symmetric matrix: no eigenvalue lies above it.
W_INLINE W row_sum(const W a[6])
{
    const W yz = w_abs(a[3]), xz = w_abs(a[4]), xy = w_abs(a[5]);
    return w_max(w_max(w_abs(a[0]) + xy + xz, w_abs(a[1]) + xy + yz), w_abs(a[2]) + xz + yz);
}

/// mu and lambda are the true ones.
W_INLINE W law_stiffening(PliLaw law, double mu, double lambda, const W F[9])
{
    W C[6];
    cauchy_green(F, C);
    const W one = w_set(1.0), stretch2 = row_sum(C), trace = C[0] + C[1] + C[2];
    const double wave = lambda + 2.0 * mu;
    if (law == PLI_STVK) {
        // |F^T dF| grows with the stretch, and tension adds to it
        const W stress = 0.5 * lambda * (trace - 3.0) + mu * (stretch2 - 1.0);
        return w_max(stretch2 + w_max(stress, w_set(0.0)) / wave, one);
    }
    if (law == PLI_COROT) {
        // only a larger volume resists turning more than at rest
        const W wider = w_max(w_sqrt(3.0 * trace) - 3.0, w_set(0.0));
        return 1.0 + lambda * wider / wave;
    }
    // stable neo-Hookean: shear keeps its stiffness, volume changes with the area of the faces
    const double bulk = lambda + 5.0 / 6.0 * mu;
    const W square = C[0] * C[0] + C[1] * C[1] + C[2] * C[2] + 2.0 * (C[3] * C[3] + C[4] * C[4] + C[5] * C[5]);
    const W area2 = 0.5 * (trace * trace - square);
    const W volume = w_max(area2 / 3.0, one) + w_abs(determinant(F) - 1.0) * w_sqrt(stretch2);
    return (2.0 * mu + bulk * volume) / (2.0 * mu + bulk);
}

/// First Piola-Kirchhoff stress times k. `extra` (NULL: none) is a second Piola-Kirchhoff stress, already times k.
/// `turn`: of corotational elements, with the trace known; not looked at by other laws.
W_INLINE void law_stress(PliLaw law, const Lame *m, const W F[9], const Polar *turn, W k, const W extra[6], W P[9])
{
    if (law == PLI_STVK) {
        // S = lambda/2 tr(C - I) I + mu (C - I)
        W C[6], mu = m->mu * k;
        cauchy_green(F, C);
        W press = (0.5 * m->lambda) * k * ((C[0] - 1.0) + (C[1] - 1.0) + (C[2] - 1.0));
        for (int i = 0; i < 3; ++i) C[i] = mu * (C[i] - 1.0) + press;
        for (int i = 3; i < 6; ++i) C[i] = mu * C[i];
        if (extra)
            for (int i = 0; i < 6; ++i) C[i] = C[i] + extra[i];
        times_symmetric(F, C, P);
        return;
    }
    if (law == PLI_COROT) {
        // P = 2 mu (F - R) + lambda tr(S - I) R; terms in dR vanish because R maximises tr(R^T F)
        W R[9], trace, mu2 = (2.0 * m->mu) * k;
        polar_rotation(F, turn, R, &trace);
        W press = m->lambda * k * (trace - 3.0);
        for (int i = 0; i < 9; ++i) P[i] = mu2 * (F[i] - R[i]) + press * R[i];
    } else {
        // P = mu (1 - 1/(I_C + 1)) F + lambda (J - alpha) cof F
        W K[9];
        cofactor(F, K);
        W j = F[0] * K[0] + F[1] * K[1] + F[2] * K[2];
        W ic = (F[0] * F[0] + F[1] * F[1] + F[2] * F[2]) + (F[3] * F[3] + F[4] * F[4] + F[5] * F[5]) +
               (F[6] * F[6] + F[7] * F[7] + F[8] * F[8]);
        W a = m->mu * k * (1.0 - 1.0 / (ic + 1.0)), b = m->lambda * k * (j - m->alpha);
        for (int i = 0; i < 9; ++i) P[i] = a * F[i] + b * K[i];
    }
    if (extra) {
        W more[9];
        times_symmetric(F, extra, more);
        for (int i = 0; i < 9; ++i) P[i] = P[i] + more[i];
    }
}

/// Viscous second Piola-Kirchhoff stress times k: lambda_v tr(E') I + 2 mu_v E', E' = sym(F'^T F). Zero for rigid motion.
W_INLINE void viscous_stress(const Lame *m, const W F[9], const W Fd[9], W k, W S[6])
{
    W mu = m->viscous_mu * k;
    for (int i = 0; i < 3; ++i) S[i] = Fd[i] * F[i] + Fd[3 + i] * F[3 + i] + Fd[6 + i] * F[6 + i];
    W press = m->viscous_lambda * k * (S[0] + S[1] + S[2]);
    for (int i = 0; i < 3; ++i) S[i] = 2.0 * mu * S[i] + press;
    const int p[3] = { 1, 0, 0 }, q[3] = { 2, 2, 1 };
    for (int n = 0; n < 3; ++n) {
        int i = p[n], j = q[n];
        S[3 + n] = mu * ((Fd[i] * F[j] + Fd[3 + i] * F[3 + j] + Fd[6 + i] * F[6 + j]) +
                         (Fd[j] * F[i] + Fd[3 + j] * F[3 + i] + Fd[6 + j] * F[6 + i]));
    }
}

/// Energy density, J/m3; zero at rest.
W_INLINE W law_energy(PliLaw law, const Lame *m, const W F[9])
{
    if (law == PLI_STVK) {
        W C[6];
        cauchy_green(F, C);
        for (int i = 0; i < 3; ++i) C[i] = 0.5 * (C[i] - 1.0);
        W trace = C[0] + C[1] + C[2];
        W square = (C[0] * C[0] + C[1] * C[1] + C[2] * C[2]) + 0.5 * (C[3] * C[3] + C[4] * C[4] + C[5] * C[5]);
        return (0.5 * m->lambda) * (trace * trace) + m->mu * square;
    }
    if (law == PLI_COROT) {
        W R[9], trace, square = w_set(0.0);
        polar(F, R, &trace);
        for (int i = 0; i < 9; ++i) square = square + (F[i] - R[i]) * (F[i] - R[i]);
        trace = trace - 3.0;
        return m->mu * square + (0.5 * m->lambda) * (trace * trace);
    }
    W j = determinant(F) - m->alpha;
    W ic = (F[0] * F[0] + F[1] * F[1] + F[2] * F[2]) + (F[3] * F[3] + F[4] * F[4] + F[5] * F[5]) +
           (F[6] * F[6] + F[7] * F[7] + F[8] * F[8]);
    // the logarithm is the C library's, lane by lane: the same bits at every width
    _Alignas(64) double lane[PLI_LANES];
    w_store(lane, ic);
    for (int i = 0; i < PLI_LANES; ++i) lane[i] = log(lane[i] + 1.0);
    return (0.5 * m->mu) * (ic - 3.0 - w_load(lane)) + (0.5 * m->lambda) * (j * j) - m->rest_energy;
}

/// S : E, the energy of a constant second Piola-Kirchhoff stress.
W_INLINE W prestress_energy(const W F[9], const W S[6])
{
    W C[6];
    cauchy_green(F, C);
    return 0.5 * (S[0] * (C[0] - 1.0) + S[1] * (C[1] - 1.0) + S[2] * (C[2] - 1.0)) +
           (S[3] * C[3] + S[4] * C[4] + S[5] * C[5]);
}

/// Eigenvalues (the diagonal of d) and eigenvectors (columns of V) of a symmetric matrix by cyclic Jacobi sweeps.
typedef struct Eigen {
    W d[3], o[3]; ///< o[n] is the entry of the pair without n
    W V[9];
    double small; ///< of its diagonal, entries that are left alone
} Eigen;

W_INLINE void eigen_begin(const W A[6], double small, Eigen *e)
{
    e->small = small;
    for (int i = 0; i < 3; ++i) e->d[i] = A[i], e->o[i] = A[3 + i];
    for (int i = 0; i < 9; ++i) e->V[i] = w_set(i % 4 == 0 ? 1.0 : 0.0);
}

W_INLINE bool eigen_done(const Eigen *e)
{
    const W *o = e->o, a0 = w_abs(e->d[0]), a1 = w_abs(e->d[1]), a2 = w_abs(e->d[2]);
    return !(w_greater(w_abs(o[0]), e->small * (a1 + a2)) | w_greater(w_abs(o[1]), e->small * (a0 + a2)) |
             w_greater(w_abs(o[2]), e->small * (a0 + a1)));
}

/// One rotation, of the pair without n.
W_INLINE void eigen_rotate(Eigen *e, int n)
{
    const int p = n == 0 ? 1 : 0, q = n == 2 ? 1 : 2;
    W *d = e->d, *o = e->o, *V = e->V;
    W gap = d[q] - d[p], twice = 2.0 * o[n], small = e->small * (w_abs(d[p]) + w_abs(d[q]));
    W hyp = w_sqrt(gap * gap + twice * twice);
    W t = w_sign_of(w_set(1.0), gap) * twice / (w_abs(gap) + hyp);
    t = w_pick_greater(w_abs(o[n]), small, t, w_set(0.0));
    W c = 1.0 / w_sqrt(t * t + 1.0), s = t * c;
    W shift = t * o[n];
    d[p] = d[p] - shift;
    d[q] = d[q] + shift;
    o[n] = w_pick_greater(w_abs(o[n]), small, w_set(0.0), o[n]);
    W a = o[q], b = o[p]; // entries (n, p) and (n, q)
    o[q] = c * a - s * b;
    o[p] = s * a + c * b;
    for (int i = 0; i < 3; ++i) {
        W x = V[3 * i + p], y = V[3 * i + q];
        V[3 * i + p] = c * x - s * y;
        V[3 * i + q] = s * x + c * y;
    }
}

/// Several groups of lanes side by side: the long chain of square roots and divisions of one hides those of the others. Small entries
/// are left alone, lane by lane, so that stopping when every lane is done changes no lane.
W_INLINE void eigen_symmetric(Eigen *e, int groups)
{
    for (int sweep = 0; sweep < 8; ++sweep) {
        bool done = true;
        for (int g = 0; g < groups; ++g) done &= eigen_done(&e[g]);
        if (done) break;
        for (int n = 2; n >= 0; --n)
            for (int g = 0; g < groups; ++g) eigen_rotate(&e[g], n);
    }
}

/// Eigenvalues of A below zero become zero. Lanes that have none keep A as it is, so that no lane depends on its neighbours; mostly all do.
W_INLINE void project_definite(W A[6])
{
    const W minor = A[0] * A[1] - A[5] * A[5];
    const W det = A[2] * minor + A[3] * (A[4] * A[5] - A[0] * A[3]) + A[4] * (A[5] * A[3] - A[1] * A[4]);
    const W zero = w_set(0.0);
    const unsigned definite = w_greater(A[0], zero) & w_greater(minor, zero) & w_greater(det, zero);
    if (definite == W_ALL) return;
    Eigen e;
    eigen_begin(A, 4e-16, &e);
    eigen_symmetric(&e, 1);
    W value[3];
    const W *axis = e.V;
    for (int i = 0; i < 3; ++i) value[i] = w_max(e.d[i], zero);
    const int p[6] = { 0, 1, 2, 1, 0, 0 }, q[6] = { 0, 1, 2, 2, 2, 1 };
    W good = w_pick_greater(A[0], zero, w_set(1.0), zero);
    good = w_pick_greater(minor, zero, good, zero);
    good = w_pick_greater(det, zero, good, zero);
    for (int i = 0; i < 6; ++i) {
        const W made = axis[3 * p[i]] * value[0] * axis[3 * q[i]] + axis[3 * p[i] + 1] * value[1] * axis[3 * q[i] + 1] +
                       axis[3 * p[i] + 2] * value[2] * axis[3 * q[i] + 2];
        A[i] = w_pick_greater(good, zero, A[i], made);
    }
}

/// dP/dF in the principal frame, times k (see PliTangentPack). Project: eigenvalues of dP/dF below zero become zero, so
/// that -K is positive semi-definite (k <= 0 assumed when projecting).
typedef struct Tangent {
    W u[9], v[9], diagonal[6], same[3], swap[3];
} Tangent;

enum {
    TANGENTS = PLI_LANES == 4 ? 2 : 1
}; ///< groups of lanes that are made side by side: two of eight lanes were a sixth slower than one

/// Principal directions of F = R S, S = V diag(s) V^T, U = R V: no division, so flat elements are no special case.
W_INLINE void tangent_directions(const W (*F)[9], int groups, double small, W (*s)[3], W *trace, Tangent *out)
{
    const int pair[3][2] = { { 1, 2 }, { 0, 2 }, { 0, 1 } };
    Polar turn[TANGENTS];
    Eigen e[TANGENTS];
    W R[TANGENTS][9];
    for (int g = 0; g < groups; ++g) polar_invariants(F[g], &turn[g]);
    polar_trace(turn, groups);
    for (int g = 0; g < groups; ++g) {
        const W *f = F[g], *r = R[g];
        W S[6];
        polar_rotation(f, &turn[g], R[g], &trace[g]);
        for (int i = 0; i < 3; ++i) S[i] = r[i] * f[i] + r[3 + i] * f[3 + i] + r[6 + i] * f[6 + i];
        for (int n = 0; n < 3; ++n) {
            int i = pair[n][0], j = pair[n][1];
            S[3 + n] = 0.5 * ((r[i] * f[j] + r[3 + i] * f[3 + j] + r[6 + i] * f[6 + j]) +
                              (r[j] * f[i] + r[3 + j] * f[3 + i] + r[6 + j] * f[6 + i]));
        }
        eigen_begin(S, small, &e[g]);
    }
    eigen_symmetric(e, groups);
    for (int g = 0; g < groups; ++g) {
        const W *r = R[g], *V = e[g].V;
        for (int i = 0; i < 9; ++i) out[g].v[i] = V[i];
        for (int i = 0; i < 3; ++i) s[g][i] = e[g].d[i];
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                out[g].u[3 * i + j] = r[3 * i] * V[j] + r[3 * i + 1] * V[3 + j] + r[3 * i + 2] * V[6 + j];
    }
}

/// What is between the directions, from signed singular values.
W_INLINE void tangent_values(PliLaw law, const Lame *m, const W s[3], W trace, W k, bool project, Tangent *out)
{
    const int pair[3][2] = { { 1, 2 }, { 0, 2 }, { 0, 1 } };
    const W zero = w_set(0.0);
    // second derivatives of the energy in s (A), and the eigenvalues of the symmetric (flip) and skew (twist) pairs:
    // (w_i - w_j)/(s_i - s_j) and (w_i + w_j)/(s_i + s_j), written without the division where the law allows it
    W A[6], flip[3], twist[3];
    const W mu = m->mu, lambda = m->lambda;
    if (law == PLI_STVK) {
        W e = 0.5 * ((s[0] * s[0] - 1.0) + (s[1] * s[1] - 1.0) + (s[2] * s[2] - 1.0));
        for (int i = 0; i < 3; ++i) A[i] = lambda * e + mu * (s[i] * s[i] - 1.0) + (lambda + 2.0 * mu) * (s[i] * s[i]);
        for (int n = 0; n < 3; ++n) {
            W a = s[pair[n][0]], b = s[pair[n][1]];
            A[3 + n] = lambda * (a * b);
            flip[n] = lambda * e + mu * (a * a + a * b + b * b - 1.0);
            twist[n] = lambda * e + mu * (a * a - a * b + b * b - 1.0);
        }
    } else if (law == PLI_COROT) {
        for (int i = 0; i < 3; ++i) A[i] = 2.0 * mu + lambda;
        for (int n = 0; n < 3; ++n) {
            A[3 + n] = lambda;
            flip[n] = 2.0 * mu;
            // infinitely stiff where the rotation is undefined: bounded there
            W sum = w_max(s[pair[n][0]] + s[pair[n][1]], w_set(1e-3));
            twist[n] = 2.0 * mu + (2.0 * lambda * (trace - 3.0) - 4.0 * mu) / sum;
        }
    } else {
        W ic = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], j = s[0] * s[1] * s[2];
        W r = 1.0 / (ic + 1.0), a = mu * (1.0 - r), b = 2.0 * mu * (r * r), c = lambda * (j - m->alpha);
        W cof[3] = { s[1] * s[2], s[0] * s[2], s[0] * s[1] };
        for (int i = 0; i < 3; ++i) A[i] = a + b * (s[i] * s[i]) + lambda * (cof[i] * cof[i]);
        for (int n = 0; n < 3; ++n) {
            int p = pair[n][0], q = pair[n][1];
            A[3 + n] = b * (s[p] * s[q]) + lambda * (cof[p] * cof[q]) + c * s[n];
            flip[n] = a - c * s[n];
            twist[n] = a + c * s[n];
        }
    }
    if (project) {
        if (law != PLI_COROT) project_definite(A); // 2 mu + lambda 1 1^T is positive definite for every material
        for (int n = 0; n < 3; ++n) flip[n] = w_max(flip[n], zero), twist[n] = w_max(twist[n], zero);
    }
    for (int i = 0; i < 6; ++i) out->diagonal[i] = k * A[i];
    for (int n = 0; n < 3; ++n) {
        out->same[n] = 0.5 * k * (flip[n] + twist[n]);
        out->swap[n] = 0.5 * k * (flip[n] - twist[n]);
    }
}

W_INLINE void law_tangents(PliLaw law, const Lame *m, const W (*F)[9], const W *k, bool project, Tangent *out,
                           int groups)
{
    // without negative eigenvalues they are not the derivatives to the last digit anyway; corotational ones are, for the blocks that are
    // made without directions
    static const double rough = 1e-4;
    W s[TANGENTS][3], trace[TANGENTS];
    tangent_directions(F, groups, project && law != PLI_COROT ? rough : 4e-16, s, trace, out);
    for (int g = 0; g < groups; ++g) tangent_values(law, m, s[g], trace[g], k[g], project, &out[g]);
}

/// f(S) of a symmetric S with trace `trace`, where f(s) = c / (trace - s), but at most `most`. By eigenvalues alone: f(S) is the square
/// polynomial through them. Of the cubic of the deviator the root that is farther out is found first, never a double one.
W_INLINE void corot_twist(const W S[6], W trace, W c, W most, W T[6])
{
    const W third = trace * (1.0 / 3.0), zero = w_set(0.0), one = w_set(1.0), tiny = w_set(1e-30);
    const W d0 = S[0] - third, d1 = S[1] - third, d2 = S[2] - third;
    const W square = S[3] * S[3] + S[4] * S[4] + S[5] * S[5];
    const W j2 = 0.5 * (d0 * d0 + d1 * d1 + d2 * d2) + square;
    const W j3 = d0 * (d1 * d2 - S[3] * S[3]) + S[5] * (S[4] * S[3] - S[5] * d2) + S[4] * (S[5] * S[3] - d1 * S[4]);
    const W m = w_sqrt(w_max(j2 * (1.0 / 3.0), tiny));
    W r = w_abs(j3) / (2.0 * (m * m * m));
    r = w_pick_greater(r, one, one, r);
    W y = 0.8660254 + r * (1.0 / 6.0) - 0.0326921 * (r * r); // cos(acos(r) / 3), solves 4 y^3 - 3 y = r
    for (int n = 0; n < 2; ++n) {
        const W y2 = y * y;
        y = y - (y * (4.0 * y2 - 3.0) - r) / (12.0 * y2 - 3.0);
    }
    const W far = w_sign_of(2.0 * (m * y), j3), half = 0.5 * w_sqrt(w_max(4.0 * j2 - 3.0 * (far * far), zero));
    const W s[3] = { far, 0.0 - 0.5 * far - half, half - 0.5 * far }; // of the deviator
    W f[3];
    for (int i = 0; i < 3; ++i) {
        const W sum = w_max(trace - third - s[i], w_set(1e-3)), own = c / sum;
        f[i] = w_pick_greater(own, most, most, own);
    }
    // divided differences; f has a bounded slope, so that where two are as good as one any slope does
    static const double apart = 1e-7;
    const W gap = s[2] - s[1], reach = s[0] - s[1], rest = s[0] - s[2], least = w_set(apart);
    const W near12 = (f[2] - f[1]) / w_max(gap, least);
    const W far12 = (f[0] - f[1]) / w_sign_of(w_max(w_abs(reach), least), reach);
    const W curve = (far12 - near12) / w_sign_of(w_max(w_abs(rest), least), rest);
    // f1 + near12 (D - s1) + curve (D - s1)(D - s2)
    const W linear = near12 - curve * (s[1] + s[2]), constant = f[1] - near12 * s[1] + curve * (s[1] * s[2]);
    T[0] = constant + linear * d0 + curve * (d0 * d0 + S[5] * S[5] + S[4] * S[4]);
    T[1] = constant + linear * d1 + curve * (S[5] * S[5] + d1 * d1 + S[3] * S[3]);
    T[2] = constant + linear * d2 + curve * (S[4] * S[4] + S[3] * S[3] + d2 * d2);
    T[3] = linear * S[3] + curve * (S[5] * S[4] + S[3] * (d1 + d2));
    T[4] = linear * S[4] + curve * (S[5] * S[3] + S[4] * (d0 + d2));
    T[5] = linear * S[5] + curve * (S[4] * S[3] + S[5] * (d0 + d1));
}

/// M' of PliTangentPack from M, in place.
W_INLINE void tangent_middle(const W diagonal[6], const W same[3], const W swap[3], W M[9])
{
    W a = M[0], b = M[4], c = M[8];
    M[0] = diagonal[0] * a + diagonal[5] * b + diagonal[4] * c;
    M[4] = diagonal[5] * a + diagonal[1] * b + diagonal[3] * c;
    M[8] = diagonal[4] * a + diagonal[3] * b + diagonal[2] * c;
    const int up[3] = { 5, 2, 1 }, down[3] = { 7, 6, 3 };
    for (int n = 0; n < 3; ++n) {
        W p = M[up[n]], q = M[down[n]];
        M[up[n]] = same[n] * p + swap[n] * q;
        M[down[n]] = same[n] * q + swap[n] * p;
    }
}

#endif
