/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_ELASTIC_LANES_H
#define PLI_ELASTIC_LANES_H

// The loops over packs: the one algorithm text behind elastic_plain.c, elastic_avx2.c and elastic_avx512.c. A file that
// includes it fills a PliElasticKernel with the static functions below.

#include "kernel/laws.h"

/// Where the force on corner a of a lane is added: its point in f, or (slotted) its target.
typedef struct Scatter {
    const PliIndex (*corner)[PACK];
    double *base[2]; ///< f, slots
    bool slotted;
} Scatter;

W_INLINE double *scatter_to(const Scatter *s, int a, int lane)
{
    const PliIndex to = s->corner[a][lane];
    return s->slotted ? s->base[to >> 31] + 3 * (size_t)(to & ~SLOT_BIT) : s->base[0] + 3 * (size_t)to;
}

#if PLI_LANES >= 4
/// Four lanes after one another: (x y) and z of each corner.
W_INLINE void scatter_four(const Scatter *s, int lane, unsigned live, const __m256d h[4][3])
{
    __m256d even[4], odd[4]; // (x y) of lanes 0 | 2 and 1 | 3
    for (int a = 0; a < 4; ++a) {
        even[a] = _mm256_unpacklo_pd(h[a][0], h[a][1]);
        odd[a] = _mm256_unpackhi_pd(h[a][0], h[a][1]);
    }
#define PLI_ADD_LANE(n, xy, half, pick)                                                                                \
    if (live >> (n)&1u)                                                                                                \
        for (int a = 0; a < 4; ++a) {                                                                                  \
            double *to = scatter_to(s, a, lane + (n));                                                                 \
            __m128d z = _mm256_extractf128_pd(h[a][2], half);                                                          \
            _mm_storeu_pd(to, _mm_add_pd(_mm_loadu_pd(to), _mm256_extractf128_pd(xy[a], half)));                       \
            _mm_store_sd(to + 2, _mm_add_sd(_mm_load_sd(to + 2), pick(z)));                                            \
        }
#define PLI_LOW(z) (z)
#define PLI_HIGH(z) _mm_unpackhi_pd(z, z)
    PLI_ADD_LANE(0, even, 0, PLI_LOW)
    PLI_ADD_LANE(1, odd, 0, PLI_HIGH)
    PLI_ADD_LANE(2, even, 1, PLI_LOW)
    PLI_ADD_LANE(3, odd, 1, PLI_HIGH)
#undef PLI_ADD_LANE
#undef PLI_LOW
#undef PLI_HIGH
}
#endif

/// Adds forces h[corner][component] of PLI_LANES consecutive tetrahedra, one after the other: the order of a sum is the
/// order of the elements. Lanes outside `live` are dropped.
W_INLINE void scatter_add(const Scatter *s, int lane, unsigned live, const W h[4][3])
{
#if PLI_LANES == 1
    (void)live;
    for (int a = 0; a < 4; ++a) {
        double *to = scatter_to(s, a, lane);
        to[0] += h[a][0], to[1] += h[a][1], to[2] += h[a][2];
    }
#elif PLI_LANES == 4
    scatter_four(s, lane, live, h);
#else
    __m256d half[4][3];
    for (int a = 0; a < 4; ++a)
        for (int c = 0; c < 3; ++c) half[a][c] = _mm512_castpd512_pd256(h[a][c]);
    scatter_four(s, lane, live, (const __m256d(*)[3])half);
    for (int a = 0; a < 4; ++a)
        for (int c = 0; c < 3; ++c) half[a][c] = _mm512_extractf64x4_pd(h[a][c], 1);
    scatter_four(s, lane + 4, live >> 4, (const __m256d(*)[3])half);
#endif
}

/// Lanes of the group that starts at element `at` and lie in [first, last).
W_INLINE unsigned live_lanes(PliIndex at, PliIndex first, PliIndex last)
{
    unsigned live = W_ALL;
    if (at < first) live &= W_ALL << (first - at);
    if (at + PLI_LANES > last) live &= W_ALL >> (at + PLI_LANES - last);
    return live;
}

/// sum over corners of x_a (x) grad_a; g has the rows of corners 1, 2, 3.
W_INLINE void lanes_gradient(const PliTetPack *p, int lane, const double *x, const W g[9], W F[9])
{
    W c[4][3];
    for (int a = 0; a < 4; ++a) w_gather(x, &p->corner[a][lane], c[a]);
    for (int a = 1; a < 4; ++a)
        for (int i = 0; i < 3; ++i) c[a][i] = c[a][i] - c[0][i];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) F[3 * i + j] = c[1][i] * g[j] + c[2][i] * g[3 + j] + c[3][i] * g[6 + j];
}

/// h_a = P grad_a, corner 0 takes what is left.
W_INLINE void lanes_corner_forces(const W P[9], const W g[9], W h[4][3])
{
    for (int i = 0; i < 3; ++i) {
        for (int a = 1; a < 4; ++a)
            h[a][i] = P[3 * i] * g[3 * a - 3] + P[3 * i + 1] * g[3 * a - 2] + P[3 * i + 2] * g[3 * a - 1];
        h[0][i] = 0.0 - (h[1][i] + h[2][i] + h[3][i]);
    }
}

W_INLINE void lanes_load_grad(const PliTetPack *p, int lane, W g[9])
{
    for (int k = 0; k < 9; ++k) g[k] = w_load(&p->grad[k][lane]);
}

/// Counts the lanes of `at` that are below `count` and not positive (a NaN counts).
W_INLINE PliIndex count_inverted(W det, PliIndex at, PliIndex count, PliIndex found, PliIndex *first)
{
    unsigned bad = W_ALL & ~w_greater(det, w_set(0.0));
    for (int lane = 0; bad && lane < PLI_LANES; ++lane)
        if ((bad >> lane & 1u) && at + (PliIndex)lane < count) {
            if (found == 0) *first = at + (PliIndex)lane;
            found++;
        }
    return found;
}

W_INLINE void force_loop(PliLaw law, bool damped, bool slotted, const PliElastic *e, PliIndex first, PliIndex last,
                         const double *x, const double *v, double *f, PliInverted *note)
{
    // corotational elements find their rotations a pack at a time
    enum { MOST = PACK / PLI_LANES };
    const int groups = law == PLI_COROT ? MOST : 1;
    const PliIndex stride = (PliIndex)groups * PLI_LANES;
    const Lame lame = lame_of(&e->lame);
    if (first >= last) return;
    for (PliIndex at = first - first % stride; at < last; at += stride) {
        const PliTetPack *p = &e->pack[at / PACK];
        const Scatter to = { slotted ? e->target[at / PACK].corner : p->corner, { f, e->slot }, slotted };
        Polar turn[MOST];
        W F_all[MOST][9];
        for (int n = 0; n < groups; ++n) {
            int lane = (int)(at % PACK) + n * PLI_LANES;
            W g[9];
            lanes_load_grad(p, lane, g);
            lanes_gradient(p, lane, x, g, F_all[n]);
            if (law == PLI_COROT) polar_invariants(F_all[n], &turn[n]);
        }
        if (law == PLI_COROT) polar_trace(turn, groups);
        for (int n = 0; n < groups; ++n) {
            const PliIndex here = at + (PliIndex)(n * PLI_LANES);
            if (here >= last || here + PLI_LANES <= first) continue;
            int lane = (int)(here % PACK);
            const W *F = F_all[n];
            W g[9], P[9], h[4][3], k = 0.0 - w_load(&p->weight[lane]);
            lanes_load_grad(p, lane, g);
            if (note)
                note->count = count_inverted(law == PLI_COROT ? turn[n].j : determinant(F), here, last, note->count,
                                             &note->first);
            if (damped) {
                W Fd[9], S[6];
                lanes_gradient(p, lane, v, g, Fd);
                viscous_stress(&lame, F, Fd, 0.0 - w_load(&p->viscous[lane]), S);
                law_stress(law, &lame, F, &turn[n], k, S, P);
            } else {
                law_stress(law, &lame, F, &turn[n], k, NULL, P);
            }
            lanes_corner_forces(P, g, h);
            scatter_add(&to, lane, live_lanes(here, first, last), h);
        }
    }
}

static void lanes_tet_force(const PliElastic *e, PliIndex first, PliIndex last, const double *x, const double *v,
                            double *f, bool slotted, PliInverted *note)
{
    // one copy of the loop per law, with or without damping and slots
    const bool damped = v && e->def.material.damping > 0.0;
#define PLI_LOOP(law)                                                                                                  \
    if (damped && slotted)                                                                                             \
        force_loop(law, true, true, e, first, last, x, v, f, note);                                                    \
    else if (damped)                                                                                                   \
        force_loop(law, true, false, e, first, last, x, v, f, note);                                                   \
    else if (slotted)                                                                                                  \
        force_loop(law, false, true, e, first, last, x, v, f, note);                                                   \
    else                                                                                                               \
        force_loop(law, false, false, e, first, last, x, v, f, note);
    if (e->def.material.law == PLI_STVK) {
        PLI_LOOP(PLI_STVK)
    } else if (e->def.material.law == PLI_COROT) {
        PLI_LOOP(PLI_COROT)
    } else {
        PLI_LOOP(PLI_NEOHOOKEAN)
    }
#undef PLI_LOOP
}

W_INLINE void dforce_loop(bool slotted, const PliElastic *e, PliIndex first, PliIndex last, const double *dx, double k,
                          double *df)
{
    if (first >= last) return;
    for (PliIndex at = first - first % PLI_LANES; at < last; at += PLI_LANES) {
        const PliTetPack *p = &e->pack[at / PACK];
        const PliTangentPack *t = &e->tangent[at / PACK];
        const Scatter to = { slotted ? e->target[at / PACK].corner : p->corner, { df, e->slot }, slotted };
        int lane = (int)(at % PACK);
        W g[9], G[9], M[9], h[4][3], u[9], diagonal[6], same[3], swap[3];
        for (int i = 0; i < 9; ++i) g[i] = w_load(&t->v[i][lane]), u[i] = w_load(&t->u[i][lane]);
        for (int i = 0; i < 6; ++i) diagonal[i] = k * w_load(&t->diagonal[i][lane]);
        for (int i = 0; i < 3; ++i) same[i] = k * w_load(&t->same[i][lane]), swap[i] = k * w_load(&t->swap[i][lane]);
        lanes_gradient(p, lane, dx, g, G); // dF V
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) M[3 * i + j] = u[i] * G[j] + u[3 + i] * G[3 + j] + u[6 + i] * G[6 + j];
        tangent_middle(diagonal, same, swap, M);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                G[3 * i + j] = u[3 * i] * M[j] + u[3 * i + 1] * M[3 + j] + u[3 * i + 2] * M[6 + j];
        lanes_corner_forces(G, g, h);
        scatter_add(&to, lane, live_lanes(at, first, last), h);
    }
}

static void lanes_tet_dforce(const PliElastic *e, PliIndex first, PliIndex last, const double *dx, double k, double *df,
                             bool slotted)
{
    if (slotted)
        dforce_loop(true, e, first, last, dx, k, df);
    else
        dforce_loop(false, e, first, last, dx, k, df);
}

W_INLINE void store_tangent(PliTangentPack *t, int lane, const Tangent *from)
{
    for (int i = 0; i < 9; ++i) w_store(&t->u[i][lane], from->u[i]), w_store(&t->v[i][lane], from->v[i]);
    for (int i = 0; i < 6; ++i) w_store(&t->diagonal[i][lane], from->diagonal[i]);
    for (int i = 0; i < 3; ++i) w_store(&t->same[i][lane], from->same[i]), w_store(&t->swap[i][lane], from->swap[i]);
}

/// To packs of which the first is that of element `at`.
W_INLINE void linearize_groups(const PliElastic *e, PliIndex at, int groups, const double *x, PliTangentPack *to)
{
    W F[TANGENTS][9], k[TANGENTS];
    Tangent t[TANGENTS];
    for (int n = 0; n < groups; ++n) {
        const PliIndex here = at + (PliIndex)n * PLI_LANES;
        const PliTetPack *p = &e->pack[here / PACK];
        const int lane = (int)(here % PACK);
        W g[9];
        lanes_load_grad(p, lane, g);
        lanes_gradient(p, lane, x, g, F[n]);
        k[n] = 0.0 - w_load(&p->weight[lane]);
    }
    const Lame lame = lame_of(&e->lame);
    law_tangents(e->def.material.law, &lame, (const W(*)[9])F, k, e->linear_project, t, groups);
    for (int n = 0; n < groups; ++n) {
        const PliIndex here = at + (PliIndex)n * PLI_LANES;
        const int lane = (int)(here % PACK);
        W g[9], gv[9];
        lanes_load_grad(&e->pack[here / PACK], lane, g);
        for (int a = 0; a < 3; ++a)
            for (int j = 0; j < 3; ++j)
                gv[3 * a + j] = g[3 * a] * t[n].v[j] + g[3 * a + 1] * t[n].v[3 + j] + g[3 * a + 2] * t[n].v[6 + j];
        for (int i = 0; i < 9; ++i) t[n].v[i] = gv[i];
        store_tangent(to + (here / PACK - at / PACK), lane, &t[n]);
    }
}

static void lanes_tet_linearize(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x)
{
    PliIndex at = first_pack * PACK;
    const PliIndex end = last_pack * PACK;
    for (; at + TANGENTS * PLI_LANES <= end; at += TANGENTS * PLI_LANES)
        linearize_groups(e, at, TANGENTS, x, &e->tangent[at / PACK]);
    for (; at < end; at += PLI_LANES) linearize_groups(e, at, 1, x, &e->tangent[at / PACK]);
}

// With g_a the gradient of corner a in the principal frame, the block (a, b) of an element is U H U^T with
//   H_pp = diagonal_pp g_a,p g_b,p + sum_{q != p} same_pq g_a,q g_b,q,   H_pr = diagonal_pr g_a,p g_b,r + swap_pr g_a,r g_b,p.
// Rows of one element sum to zero, which gives those of corner 0.
W_INLINE void pack_blocks(const PliTangentPack *t, double k, double (*out)[9][PACK])
{
    enum { PAIRS = 6 };
    static const int pair[3][3] = { { -1, 2, 1 }, { 2, -1, 0 }, { 1, 0, -1 } },
                     diag[3][3] = { { 0, 5, 4 }, { 5, 1, 3 }, { 4, 3, 2 } };
    static const int row[PAIRS] = { 0, 1, 2, 1, 2, 2 }, column[PAIRS] = { 0, 1, 2, 0, 0, 1 },
                     to[PAIRS] = { -1, -1, -1, 3, 4, 5 }; // the first three only add to those of corner 0
    for (int lane = 0; lane < PACK; lane += PLI_LANES) {
        W u[9], g[9], d[6], same[3], swap[3], K[PAIRS][9];
        for (int i = 0; i < 9; ++i) u[i] = w_load(&t->u[i][lane]), g[i] = w_load(&t->v[i][lane]);
        for (int i = 0; i < 6; ++i) d[i] = k * w_load(&t->diagonal[i][lane]);
        for (int i = 0; i < 3; ++i) same[i] = k * w_load(&t->same[i][lane]), swap[i] = k * w_load(&t->swap[i][lane]);
        for (int n = 0; n < PAIRS; ++n) {
            const W *a = g + 3 * row[n], *b = g + 3 * column[n];
            W H[9], T[9];
            for (int p = 0; p < 3; ++p) {
                const int q = (p + 1) % 3, r = (p + 2) % 3;
                H[4 * p] = d[p] * (a[p] * b[p]) + same[pair[p][q]] * (a[q] * b[q]) + same[pair[p][r]] * (a[r] * b[r]);
                H[3 * p + q] = d[diag[p][q]] * (a[p] * b[q]) + swap[pair[p][q]] * (a[q] * b[p]);
                H[3 * p + r] = d[diag[p][r]] * (a[p] * b[r]) + swap[pair[p][r]] * (a[r] * b[p]);
            }
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    T[3 * i + j] = u[3 * i] * H[j] + u[3 * i + 1] * H[3 + j] + u[3 * i + 2] * H[6 + j];
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    K[n][3 * i + j] = T[3 * i] * u[3 * j] + T[3 * i + 1] * u[3 * j + 1] + T[3 * i + 2] * u[3 * j + 2];
                    if (to[n] >= 0) w_store(&out[to[n]][3 * i + j][lane], K[n][3 * i + j]);
                }
        }
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                const int s = 3 * i + j, m = 3 * j + i; // m: of the mirrored block
                const W k1 = 0.0 - (K[0][s] + K[3][m] + K[4][m]), k2 = 0.0 - (K[3][s] + K[1][s] + K[5][m]),
                        k3 = 0.0 - (K[4][s] + K[5][s] + K[2][s]);
                w_store(&out[0][s][lane], k1);
                w_store(&out[1][s][lane], k2);
                w_store(&out[2][s][lane], k3);
            }
    }
}

static void lanes_tet_blocks(const PliElastic *e, PliIndex pack, double k, double (*out)[9][PACK])
{
    pack_blocks(&e->tangent[pack], k, out);
}

// Corotational elements need no principal directions: with G_a the turned gradients, T the clipped (tr S I - S)^-1 of the turned stretch and
// w the weight, the block (a, b) is w (2 mu G_a.G_b I + lambda G_a G_b^T - [G_a]x T [G_b]x^T / 2).
W_INLINE void corot_blocks(const PliElastic *e, PliIndex pack, int lane, double k, const double *x,
                           double (*out)[9][PACK])
{
    static const int row[PLI_CORNER_PAIRS] = { 1, 2, 3, 2, 3, 3 }, column[PLI_CORNER_PAIRS] = { 0, 0, 0, 1, 1, 2 };
    const PliTetPack *p = &e->pack[pack];
    const W weight = k * (0.0 - w_load(&p->weight[lane])), mu2 = w_set(2.0 * e->lame.mu);
    W g[9], F[9], R[9], S[6], T[6], G[4][3], Z[3][9], trace;
    lanes_load_grad(p, lane, g);
    lanes_gradient(p, lane, x, g, F);
    polar(F, R, &trace);
    const int at[6] = { 0, 1, 2, 1, 0, 0 }, to[6] = { 0, 1, 2, 2, 2, 1 };
    for (int n = 0; n < 6; ++n) {
        const W *f = F + 3 * at[n], *r = R + 3 * to[n];
        S[n] = f[0] * r[0] + f[1] * r[1] + f[2] * r[2];
    }
    corot_twist(S, trace, 2.0 * mu2 - (2.0 * e->lame.lambda) * (trace - 3.0), mu2, T);
    for (int n = 0; n < 6; ++n) T[n] = (0.5 * weight) * T[n];
    for (int i = 0; i < 3; ++i) {
        for (int a = 1; a < 4; ++a)
            G[a][i] = R[3 * i] * g[3 * a - 3] + R[3 * i + 1] * g[3 * a - 2] + R[3 * i + 2] * g[3 * a - 1];
        G[0][i] = 0.0 - (G[1][i] + G[2][i] + G[3][i]);
    }
    for (int b = 0; b < 3; ++b)
        for (int i = 0; i < 3; ++i) { // T [G_b]x
            const W t0 = T[i == 0   ? 0
                           : i == 1 ? 5
                                    : 4],
                    t1 = T[i == 0   ? 5
                           : i == 1 ? 1
                                    : 3],
                    t2 = T[i == 0   ? 4
                           : i == 1 ? 3
                                    : 2];
            Z[b][3 * i] = t1 * G[b][2] - t2 * G[b][1];
            Z[b][3 * i + 1] = t2 * G[b][0] - t0 * G[b][2];
            Z[b][3 * i + 2] = t0 * G[b][1] - t1 * G[b][0];
        }
    const W shear = weight * mu2, press = weight * e->lame.lambda;
    for (int n = 0; n < PLI_CORNER_PAIRS; ++n) {
        const W *a = G[row[n]], *b = G[column[n]], *z = Z[column[n]];
        const W same = shear * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
        for (int j = 0; j < 3; ++j) {
            const W c = press * b[j];
            W own[3] = { a[0] * c + (a[1] * z[6 + j] - a[2] * z[3 + j]), a[1] * c + (a[2] * z[j] - a[0] * z[6 + j]),
                         a[2] * c + (a[0] * z[3 + j] - a[1] * z[j]) };
            own[j] = own[j] + same;
            for (int i = 0; i < 3; ++i) w_store(&out[n][3 * i + j][lane], own[i]);
        }
    }
}

static void lanes_tet_blocks_at(const PliElastic *e, PliIndex pack, double k, const double *x, double (*out)[9][PACK])
{
    if (pli_elastic_turns(e)) {
        for (int lane = 0; lane < PACK; lane += PLI_LANES) corot_blocks(e, pack, lane, k, x, out);
        return;
    }
    _Alignas(64) PliTangentPack t;
    for (PliIndex lane = 0; lane < PACK; lane += TANGENTS * PLI_LANES)
        linearize_groups(e, pack * PACK + lane, TANGENTS, x, &t);
    pack_blocks(&t, k, out);
}

/// Sum over lanes in order.
W_INLINE double add_lanes(double sum, W value)
{
    _Alignas(64) double lane[PLI_LANES];
    w_store(lane, value);
    for (int i = 0; i < PLI_LANES; ++i) sum += lane[i];
    return sum;
}

static double lanes_tet_energy(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x)
{
    double sum = 0.0;
    const Lame lame = lame_of(&e->lame);
    for (PliIndex n = first_pack; n < last_pack; ++n)
        for (int lane = 0; lane < PACK; lane += PLI_LANES) {
            const PliTetPack *p = &e->pack[n];
            W g[9], F[9];
            lanes_load_grad(p, lane, g);
            lanes_gradient(p, lane, x, g, F);
            sum = add_lanes(sum, w_load(&p->weight[lane]) * law_energy(e->def.material.law, &lame, F));
        }
    return sum;
}

/// Squares of the gradients of all four corners.
W_INLINE void corner_squares(const W g[9], W square[4])
{
    W zero[3];
    for (int d = 0; d < 3; ++d) zero[d] = g[d] + g[3 + d] + g[6 + d];
    for (int a = 0; a < 4; ++a) {
        const W *n = a ? g + 3 * a - 3 : zero;
        square[a] = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    }
}

/// Of one law; see pli_elastic_add_lumped.
W_INLINE void lump_loop(PliLaw law, const PliElastic *e, const double *x, double *stiffness, double *viscous)
{
    const bool damped = e->def.material.damping > 0.0;
    const double wave = pli_wave_modulus(&e->def.material);
    const double mu = e->def.material.young / (2.0 * (1.0 + e->def.material.poisson)), lambda = wave - 2.0 * mu;
    for (PliIndex at = 0; at < e->tet_count; at += PLI_LANES) {
        const PliTetPack *p = &e->pack[at / PACK];
        const int lane = (int)(at % PACK);
        _Alignas(64) double whole[4][PLI_LANES], part[4][PLI_LANES];
        W g[9], square[4], k = w_set(wave);
        lanes_load_grad(p, lane, g);
        corner_squares(g, square);
        if (x) {
            W F[9];
            lanes_gradient(p, lane, x, g, F);
            const W stiffer = law_stiffening(law, mu, lambda, F);
            k = k * stiffer;
            if (!damped) k = k * stiffer; // it gains energy where substeps come near their limit
        }
        for (int a = 0; a < 4; ++a) w_store(whole[a], k * w_load(&p->weight[lane]) * square[a]);
        for (int a = 0; a < 4 && viscous; ++a) w_store(part[a], k * w_load(&p->viscous[lane]) * square[a]);
        const PliIndex left = e->tet_count - at;
        for (int n = 0; n < PLI_LANES && (PliIndex)n < left; ++n)
            for (int a = 0; a < 4; ++a) {
                stiffness[p->corner[a][lane + n]] += whole[a][n];
                if (viscous) viscous[p->corner[a][lane + n]] += part[a][n];
            }
    }
}

static void lanes_tet_lump(const PliElastic *e, const double *x, double *stiffness, double *viscous)
{
    const PliLaw law = e->def.material.law;
    if (law == PLI_STVK)
        lump_loop(PLI_STVK, e, x, stiffness, viscous);
    else if (law == PLI_COROT)
        lump_loop(PLI_COROT, e, x, stiffness, viscous);
    else
        lump_loop(PLI_NEOHOOKEAN, e, x, stiffness, viscous);
}

static void lanes_tet_rest_response(const PliElastic *e, const double *u, double *f)
{
    const double wave = pli_wave_modulus(&e->def.material);
    const double mu = e->def.material.young / (2.0 * (1.0 + e->def.material.poisson)), lambda = wave - 2.0 * mu;
    for (PliIndex at = 0; at < e->tet_count; at += PLI_LANES) {
        const PliTetPack *p = &e->pack[at / PACK];
        const Scatter to = { p->corner, { f, NULL }, false };
        const int lane = (int)(at % PACK);
        W g[9], G[9], P[9], h[4][3];
        lanes_load_grad(p, lane, g);
        lanes_gradient(p, lane, u, g, G);
        const W weight = w_load(&p->weight[lane]), trace = lambda * (G[0] + G[4] + G[8]);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) P[3 * i + j] = mu * (G[3 * i + j] + G[3 * j + i]);
            P[4 * i] = P[4 * i] + trace;
        }
        for (int k = 0; k < 9; ++k) P[k] = P[k] * weight;
        lanes_corner_forces(P, g, h);
        scatter_add(&to, lane, live_lanes(at, 0, e->tet_count), (const W(*)[3])h);
    }
}

static PliIndex lanes_tet_inverted(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x,
                                   PliIndex *first)
{
    PliIndex found = 0;
    for (PliIndex n = first_pack; n < last_pack; ++n)
        for (int lane = 0; lane < PACK; lane += PLI_LANES) {
            W g[9], F[9];
            lanes_load_grad(&e->pack[n], lane, g);
            lanes_gradient(&e->pack[n], lane, x, g, F);
            found = count_inverted(determinant(F), n * PACK + (PliIndex)lane, e->tet_count, found, first);
        }
    return found;
}

// ---- general samples --------------------------------------------------------------------------------------------------
// Sums over basis functions are made sample by sample (their number varies); the law sees lanes.

/// out[.][lane] = sum of u_a (x) grad_a over the entries of each of the pack's samples.
W_INLINE void sample_gradients(const PliElastic *e, PliIndex pack, const double *u, double out[9][PACK])
{
    if (e->sample_alike && e->sample_alike[pack]) { // the same sums, several samples at a time
        const size_t first = e->sample_first[pack * PACK], n = e->sample_first[pack * PACK + 1] - first;
        for (int lane = 0; lane < PACK; lane += PLI_LANES) {
            const double *g = e->sample_lanes + 3 * first + lane;
            W F[9];
            for (int k = 0; k < 9; ++k) F[k] = w_set(0.0);
            for (size_t a = 0; a < n; ++a, g += 3 * PACK) {
                const double *p = u + 3 * (size_t)e->sample_point[first + a];
                const W g0 = w_load(g), g1 = w_load(g + PACK), g2 = w_load(g + 2 * PACK);
                for (int i = 0; i < 3; ++i) {
                    const W x = w_set(p[i]);
                    F[3 * i] = F[3 * i] + x * g0, F[3 * i + 1] = F[3 * i + 1] + x * g1,
                          F[3 * i + 2] = F[3 * i + 2] + x * g2;
                }
            }
            for (int k = 0; k < 9; ++k) w_store(&out[k][lane], F[k]);
        }
        return;
    }
    for (PliIndex lane = 0; lane < PACK; ++lane) {
        PliIndex s = pack * PACK + lane;
        double F[9] = { 0.0 };
        if (s < e->sample_count)
            for (PliIndex n = e->sample_first[s]; n < e->sample_first[s + 1]; ++n) {
                const double *g = e->sample_grad + 3 * (size_t)n, *p = u + 3 * (size_t)e->sample_point[n];
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) F[3 * i + j] += p[i] * g[j];
            }
        for (int k = 0; k < 9; ++k) out[k][lane] = F[k];
    }
}

W_INLINE void load_sample(const PliSamplePack *p, int lane, double F_all[9][PACK], W F[9])
{
    for (int k = 0; k < 9; ++k) F[k] = w_load(&F_all[k][lane]) + w_load(&p->f0[k][lane]);
}

W_INLINE void store_stress(const PliElastic *e, PliIndex at, const W P[9])
{
    _Alignas(64) double out[9][PLI_LANES];
    for (int k = 0; k < 9; ++k) w_store(out[k], P[k]);
    for (PliIndex lane = 0; lane < PLI_LANES && at + lane < e->sample_count; ++lane)
        for (int k = 0; k < 9; ++k) e->sample_stress[9 * (size_t)(at + lane) + k] = out[k][lane];
}

/// tr E and F : G.
W_INLINE W trace_strain(const W F[9])
{
    return 0.5 *
           (((F[0] * F[0] + F[3] * F[3] + F[6] * F[6]) - 1.0) + ((F[1] * F[1] + F[4] * F[4] + F[7] * F[7]) - 1.0) +
            ((F[2] * F[2] + F[5] * F[5] + F[8] * F[8]) - 1.0));
}
W_INLINE W double_dot(const W F[9], const W G[9])
{
    return (F[0] * G[0] + F[1] * G[1] + F[2] * G[2]) + (F[3] * G[3] + F[4] * G[4] + F[5] * G[5]) +
           (F[6] * G[6] + F[7] * G[7] + F[8] * G[8]);
}

static void lanes_sample_scatter(const PliElastic *e, PliIndex pack, double *f)
{
    const size_t first = e->sample_first[pack * PACK], n = e->sample_first[pack * PACK + 1] - first;
    _Alignas(64) double P[9][PACK], out[3][PACK];
    for (size_t lane = 0; lane < PACK; ++lane)
        for (size_t k = 0; k < 9; ++k) P[k][lane] = e->sample_stress[9 * ((size_t)pack * PACK + lane) + k];
    const double *g = e->sample_lanes + 3 * first;
    for (size_t a = 0; a < n; ++a, g += 3 * PACK) {
        for (int lane = 0; lane < PACK; lane += PLI_LANES) {
            const W g0 = w_load(g + lane), g1 = w_load(g + PACK + lane), g2 = w_load(g + 2 * PACK + lane);
            for (int i = 0; i < 3; ++i)
                w_store(&out[i][lane], w_load(&P[3 * i][lane]) * g0 + w_load(&P[3 * i + 1][lane]) * g1 +
                                           w_load(&P[3 * i + 2][lane]) * g2);
        }
        double *to = f + 3 * (size_t)e->sample_point[first + a];
        for (int i = 0; i < 3; ++i) {
            double sum = to[i]; // the order in which single samples add
            for (int lane = 0; lane < PACK; ++lane) sum += out[i][lane];
            to[i] = sum;
        }
    }
}

W_INLINE Lame lame_at(const PliElastic *e, PliIndex pack, int lane)
{
    if (!e->sample_poisson) return lame_of(&e->lame);
    const PliLamePack *p = &e->sample_lame[pack];
    return (Lame){ w_load(&p->mu[lane]),          w_load(&p->lambda[lane]),     w_load(&p->alpha[lane]),
                   w_load(&p->rest_energy[lane]), w_load(&p->viscous_mu[lane]), w_load(&p->viscous_lambda[lane]) };
}

static void lanes_sample_force(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x,
                               const double *v, PliInverted *note)
{
    _Alignas(64) double all[9][PACK], rate[9][PACK];
    bool damped = v && e->def.material.damping > 0.0;
    for (PliIndex n = first_pack; n < last_pack; ++n) {
        const PliSamplePack *p = &e->sample[n];
        sample_gradients(e, n, x, all);
        if (damped) sample_gradients(e, n, v, rate);
        for (int lane = 0; lane < PACK; lane += PLI_LANES) {
            W F[9], P[9], S[6], k = 0.0 - w_load(&p->weight[lane]), volume = 0.0 - w_load(&p->volume[lane]);
            const Lame lame = lame_at(e, n, lane);
            load_sample(p, lane, all, F);
            if (note)
                note->count = count_inverted(determinant(F), n * PACK + (PliIndex)lane, e->sample_count, note->count,
                                             &note->first);
            for (int i = 0; i < 6; ++i) S[i] = volume * w_load(&p->s0[i][lane]);
            W Fd[9];
            if (damped) {
                W more[6];
                for (int i = 0; i < 9; ++i) Fd[i] = w_load(&rate[i][lane]);
                viscous_stress(&lame, F, Fd, k, more);
                for (int i = 0; i < 6; ++i) S[i] = S[i] + more[i];
            }
            if (e->sample_bulk) {
                W press = e->lame.bulk * trace_strain(F);
                if (damped) press = press + e->lame.viscous_lambda * double_dot(F, Fd);
                press = (0.0 - w_load(&p->bulk[lane])) * press;
                for (int i = 0; i < 3; ++i) S[i] = S[i] + press;
            }
            Polar turn;
            if (e->def.material.law == PLI_COROT) {
                polar_invariants(F, &turn);
                polar_trace(&turn, 1);
            }
            law_stress(e->def.material.law, &lame, F, &turn, k, S, P);
            store_stress(e, n * PACK + (PliIndex)lane, P);
        }
    }
}

static void lanes_sample_linearize(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x)
{
    _Alignas(64) double all[9][PACK];
    for (PliIndex n = first_pack; n < last_pack; ++n) {
        PliSamplePack *p = &e->sample[n];
        sample_gradients(e, n, x, all);
        for (int lane = 0; lane < PACK; lane += PLI_LANES) {
            W F[1][9], k = 0.0 - w_load(&p->weight[lane]);
            Tangent t;
            load_sample(p, lane, all, F[0]);
            for (int i = 0; i < 9 && e->sample_bulk; ++i) w_store(&p->f[i][lane], F[0][i]);
            const Lame lame = lame_at(e, n, lane);
            law_tangents(e->def.material.law, &lame, (const W(*)[9])F, &k, e->project, &t, 1);
            store_tangent(&e->sample_tangent[n], lane, &t);
        }
    }
}

static void lanes_sample_dforce(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *dx,
                                double factor)
{
    _Alignas(64) double all[9][PACK];
    for (PliIndex n = first_pack; n < last_pack; ++n) {
        const PliSamplePack *p = &e->sample[n];
        const PliTangentPack *t = &e->sample_tangent[n];
        sample_gradients(e, n, dx, all);
        for (int lane = 0; lane < PACK; lane += PLI_LANES) {
            W u[9], v[9], dF[9], G[9], M[9], P[9], S[6], diagonal[6], same[3], swap[3];
            W volume = (0.0 - factor) * w_load(&p->volume[lane]);
            for (int i = 0; i < 9; ++i)
                dF[i] = w_load(&all[i][lane]), u[i] = w_load(&t->u[i][lane]), v[i] = w_load(&t->v[i][lane]);
            for (int i = 0; i < 6; ++i) {
                diagonal[i] = factor * w_load(&t->diagonal[i][lane]);
                S[i] = volume * w_load(&p->s0[i][lane]);
            }
            for (int i = 0; i < 3; ++i)
                same[i] = factor * w_load(&t->same[i][lane]), swap[i] = factor * w_load(&t->swap[i][lane]);
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    G[3 * i + j] = dF[3 * i] * v[j] + dF[3 * i + 1] * v[3 + j] + dF[3 * i + 2] * v[6 + j];
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) M[3 * i + j] = u[i] * G[j] + u[3 + i] * G[3 + j] + u[6 + i] * G[6 + j];
            tangent_middle(diagonal, same, swap, M);
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    G[3 * i + j] = u[3 * i] * M[j] + u[3 * i + 1] * M[3 + j] + u[3 * i + 2] * M[6 + j];
            times_symmetric(dF, S, P);
            if (e->sample_bulk) {
                // d(press F) = press dF + (F : dF) F
                W at[9], bulk = ((0.0 - factor) * e->lame.bulk) * w_load(&p->bulk[lane]);
                for (int i = 0; i < 9; ++i) at[i] = w_load(&p->f[i][lane]);
                W press = bulk * trace_strain(at), stretch = bulk * double_dot(at, dF);
                for (int i = 0; i < 9; ++i) P[i] = P[i] + (press * dF[i] + stretch * at[i]);
            }
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    P[3 * i + j] = P[3 * i + j] +
                                   (G[3 * i] * v[3 * j] + G[3 * i + 1] * v[3 * j + 1] + G[3 * i + 2] * v[3 * j + 2]);
            store_stress(e, n * PACK + (PliIndex)lane, P);
        }
    }
}

static double lanes_sample_energy(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x)
{
    _Alignas(64) double all[9][PACK];
    double sum = 0.0;
    for (PliIndex n = first_pack; n < last_pack; ++n) {
        const PliSamplePack *p = &e->sample[n];
        sample_gradients(e, n, x, all);
        for (int lane = 0; lane < PACK; lane += PLI_LANES) {
            W F[9], S[6];
            load_sample(p, lane, all, F);
            for (int i = 0; i < 6; ++i) S[i] = w_load(&p->s0[i][lane]);
            const Lame lame = lame_at(e, n, lane);
            W own = w_load(&p->weight[lane]) * law_energy(e->def.material.law, &lame, F);
            if (e->sample_bulk) {
                W trace = trace_strain(F);
                own = own + (0.5 * e->lame.bulk) * w_load(&p->bulk[lane]) * (trace * trace);
            }
            sum = add_lanes(sum, own + w_load(&p->volume[lane]) * prestress_energy(F, S));
        }
    }
    return sum;
}

static PliIndex lanes_sample_inverted(const PliElastic *e, PliIndex first_pack, PliIndex last_pack, const double *x,
                                      PliIndex *first)
{
    _Alignas(64) double all[9][PACK];
    PliIndex found = 0;
    for (PliIndex n = first_pack; n < last_pack; ++n) {
        sample_gradients(e, n, x, all);
        for (int lane = 0; lane < PACK; lane += PLI_LANES) {
            W F[9];
            load_sample(&e->sample[n], lane, all, F);
            found = count_inverted(determinant(F), n * PACK + (PliIndex)lane, e->sample_count, found, first);
        }
    }
    return found;
}

typedef double PairV4 __attribute__((vector_size(32), aligned(8), may_alias));

static void lanes_sample_pairs(const double (*C)[81], const double *grad, PliIndex samples, PliIndex groups,
                               double *const *block, size_t stride)
{
    enum { MOST = 64 };
    PairV4 g[PLI_PAIR_SAMPLES][MOST][3];
    for (PliIndex s = 0; s < samples; ++s)
        for (PliIndex c = 0; c < groups; ++c)
            for (int q = 0; q < 4; ++q)
                for (int l = 0; l < 3; ++l)
                    g[s][c][l][q] = grad[12 * ((size_t)s * groups + c) + 3 * (size_t)q + (size_t)l];
    for (PliIndex r = 0; r < groups; ++r) {
        double h[PLI_PAIR_SAMPLES][12][9];
        for (PliIndex s = 0; s < samples; ++s)
            for (int i = 0; i < 3; ++i)
                for (int p = 0; p < 4; ++p) {
                    const double *gp = grad + 12 * ((size_t)s * groups + r) + 3 * (size_t)p;
                    for (int jl = 0; jl < 9; ++jl)
                        h[s][4 * i + p][jl] =
                            gp[0] * C[s][27 * i + jl] + gp[1] * C[s][27 * i + 9 + jl] + gp[2] * C[s][27 * i + 18 + jl];
                }
        for (PliIndex c = 0; c < groups; ++c) {
            double *out = block[(size_t)groups * r + c];
            if (!out) continue;
            for (int a = 0; a < 12; ++a, out += stride) {
                PairV4 sum[3] = { { 0 }, { 0 }, { 0 } };
                for (PliIndex s = 0; s < samples; ++s) {
                    const double *ha = h[s][a];
                    const PairV4 *gc = g[s][c];
                    for (int j = 0; j < 3; ++j)
                        sum[j] += ha[3 * j] * gc[0] + ha[3 * j + 1] * gc[1] + ha[3 * j + 2] * gc[2];
                }
                for (int j = 0; j < 3; ++j) *(PairV4 *)(out + 4 * j) += sum[j];
            }
        }
    }
}

// ---- a law by itself -----------------------------------------------------------------------------------------------------

W_INLINE void stress_loop(PliLaw law, const PliLame *m, const double F_all[9][PACK], double P_all[9][PACK])
{
    const Lame lame = lame_of(m);
    enum { MOST = PACK / PLI_LANES };
    Polar turn[MOST];
    for (int n = 0; n < MOST && law == PLI_COROT; ++n) {
        W F[9];
        for (int k = 0; k < 9; ++k) F[k] = w_load(&F_all[k][n * PLI_LANES]);
        polar_invariants(F, &turn[n]);
    }
    if (law == PLI_COROT) polar_trace(turn, MOST);
    for (int n = 0; n < MOST; ++n) {
        W F[9], P[9];
        for (int k = 0; k < 9; ++k) F[k] = w_load(&F_all[k][n * PLI_LANES]);
        law_stress(law, &lame, F, &turn[n], w_set(1.0), NULL, P);
        for (int k = 0; k < 9; ++k) w_store(&P_all[k][n * PLI_LANES], P[k]);
    }
}

static void lanes_law_stress(PliLaw law, const PliLame *m, const double F[9][PACK], double P[9][PACK])
{
    if (law == PLI_STVK)
        stress_loop(PLI_STVK, m, F, P);
    else if (law == PLI_COROT)
        stress_loop(PLI_COROT, m, F, P);
    else
        stress_loop(PLI_NEOHOOKEAN, m, F, P);
}

#define PLI_LANES_KERNEL                                                                                               \
    {                                                                                                                  \
        .tet_force = lanes_tet_force, .tet_dforce = lanes_tet_dforce, .tet_linearize = lanes_tet_linearize,            \
        .tet_blocks = lanes_tet_blocks, .tet_blocks_at = lanes_tet_blocks_at, .tet_energy = lanes_tet_energy,          \
        .tet_lump = lanes_tet_lump, .tet_rest_response = lanes_tet_rest_response, .tet_inverted = lanes_tet_inverted,  \
        .sample_force = lanes_sample_force, .sample_scatter = lanes_sample_scatter,                                    \
        .sample_dforce = lanes_sample_dforce, .sample_linearize = lanes_sample_linearize,                              \
        .sample_pairs = lanes_sample_pairs, .sample_energy = lanes_sample_energy,                                      \
        .sample_inverted = lanes_sample_inverted, .law_stress = lanes_law_stress                                       \
    }

#endif
