/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What would push a passive detail: the residual of the equation of motion, tested with its function. Linear laws read it from the
// known pairs; others integrate stresses over cells one level finer than the live ones.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "base/wide.h"
#include "scheme/wavelet/wavelet.h"

/// Rotation and translation that fit the body best: polar of the mean F, and the centre of mass.
void pli_wavelet_find_rotation(PliWavelet *s, const double *x)
{
    double F[9] = { 0.0 }, now[3] = { 0.0 }, rest[3] = { 0.0 };
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const size_t a = s->active[i];
        for (size_t p = 0; p < 3; ++p)
            for (size_t q = 0; q < 3; ++q) F[3 * p + q] += x[3 * a + p] * s->mean[3 * a + q];
        v3_madd(now, s->load[a] / s->total_mass, x + 3 * a);
        v3_madd(rest, s->load[a] / s->total_mass, s->rest + 3 * a);
    }
    static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    if (s->def.law == PLI_WAVELET_LINEAR)
        memcpy(s->rotation, one, sizeof one);
    else
        pli_polar_robust(F, s->rotation);
    double turned[3];
    m3_apply(turned, s->rotation, rest);
    v3_sub(s->shift, now, turned);
}

static void turn_back(double r[3], const double R[9], const double p[3])
{
    for (int a = 0; a < 3; ++a) r[a] = R[a] * p[0] + R[3 + a] * p[1] + R[6 + a] * p[2];
}

/// From control vertices to functions, down the levels: `f` has a Vec3 per coefficient. Most of it is 0.
static void contract(PliWavelet *s, double *f)
{
    for (int k = s->level_count - 1; k > 0; --k) {
        const PliWaveletLevel *l = &s->level[k];
        const PliIndex even = s->level[k - 1].lattice->vertex_count, n = l->lattice->vertex_count;
        const PliRows r = pli_transfer_rows(l->rows);
        double *to = f + 3 * (size_t)s->level[k - 1].dof_first;
        for (PliIndex i = 0; i < n; ++i) {
            double *own = f + 3 * ((size_t)l->dof_first + i);
            if (own[0] == 0.0 && own[1] == 0.0 && own[2] == 0.0) continue;
            if (i >= even) v3_add(f + 3 * (size_t)i, f + 3 * (size_t)i, own);
            for (PliIndex e = r.first[i]; e < r.first[i + 1]; ++e)
                v3_madd(to + 3 * (size_t)r.column[e], r.weight[e], own);
            own[0] = own[1] = own[2] = 0.0;
        }
    }
    pli_wavelet_reduce_merged(s, f);
}

static bool has_outside(PliBody *body)
{
    int tools;
    (void)pli_body_tools(body, &tools);
    const PliState *state = pli_body_state(body);
    return tools > 0 || pli_body_is_constrained(body) || (state && (state->f_ext || state->external || state->points));
}

/// Of the host and of the tools, N, by function.
static void find_outside(PliWavelet *s, PliBody *body, const double *x, const double *v, double dt)
{
    memset(s->residual, 0, 3 * (size_t)s->dof_count * sizeof *s->residual);
    pli_body_add_external_forces(body, x, v, dt, s->residual);
    contract(s, s->residual);
}

static void turn_and_solve(const PliWavelet *s, PliIndex a, const double f[3], double u[3])
{
    double turned[3];
    turn_back(turned, s->rotation, f);
    pli_wavelet_yield(s, a, turned, u);
}

double pli_wavelet_find_jump(PliWavelet *s, PliBody *body, const double *x, const double *v, double dt)
{
    find_outside(s, body, x, v, dt);
    double jump = 0.0, size = 0.0;
    for (PliIndex a = 0; a < s->count; ++a) {
        double *now = s->residual + 3 * (size_t)a, *then = s->outside + 3 * (size_t)a, change[3], u[3];
        v3_sub(change, now, then);
        if (now[0] == 0.0 && now[1] == 0.0 && now[2] == 0.0 && v3_dot(then, then) == 0.0) continue;
        turn_and_solve(s, a, now, u);
        size = fmax(size, v3_norm(u));
        v3_copy(then, now);
        turn_and_solve(s, a, change, now); // the residual is what is new, and how far it would move the function
        jump = fmax(jump, v3_norm(now));
    }
    return jump > 0.2 * size ? jump : 0.0;
}

/// r_a -= sum_b over active b of block(a, b) q_b, for candidates; in the frame of the rest shape. q: NULL where only masses count. There
/// is nothing on beyond the finest level that is.
static void subtract_pairs(PliWavelet *s, const double *q, const double *mass_q, double *r)
{
    const int finest = s->dof_level[s->active[s->active_count - 1]];
    PliPair *pair;
    for (PliIndex c = 0; c < s->info.candidates; ++c) {
        const PliIndex a = s->listed[c];
        double *ra = r + 3 * (size_t)a;
        if (s->candidate[a] != PLI_ASKED) continue;
        for (PliIndex k = pli_wavelet_pairs_of(s, a, finest, &pair); k-- > 0;) {
            const PliIndex b = pair[k].column;
            if (s->position[b] == PLI_NONE) continue;
            const double mass = q ? pli_wavelet_subtract_block(s, pair[k].code, q + 3 * (size_t)b, ra)
                                  : pli_wavelet_pair_mass(s, pair[k].code);
            v3_madd(ra, -mass, mass_q + 3 * (size_t)b);
        }
    }
    for (PliIndex o = s->base_count; o < s->active_count; ++o) { // rows of level 0 have no candidates
        const PliIndex a = s->active[o];
        const double *ma = mass_q + 3 * (size_t)a;
        const PliIndex n = pli_wavelet_pairs_of(s, a, finest, &pair);
        for (PliIndex k = 0; k < n; ++k) {
            const PliIndex b = pair[k].column;
            if (s->candidate[b] != PLI_ASKED) continue;
            double *rb = r + 3 * (size_t)b;
            const double mass = q ? pli_wavelet_subtract_across(s, pair[k].code, q + 3 * (size_t)a, rb)
                                  : pli_wavelet_pair_mass(s, pair[k].code);
            v3_madd(rb, -mass, ma);
        }
    }
}

typedef double V4 __attribute__((vector_size(32), aligned(8), may_alias));

/// Slopes of x and of the rest shape at a point of a regular cell, along the axes of the cell: axis by axis. point: [vertices, 8], places and
/// those at rest, four numbers each; out: the same for each axis
PLI_WIDE static void slopes_at(const double b[3][4], const double d[3][4], const int n[3], const double *point,
                               V4 out[3][2])
{
    for (int a = 0; a < 3; ++a) out[a][0] = out[a][1] = (V4){ 0 };
    for (int k = 0; k < n[2]; ++k) {
        V4 slope[2] = { { 0 } }, across[2] = { { 0 } }, value[2] = { { 0 } };
        for (int j = 0; j < n[1]; ++j) {
            V4 along[2] = { { 0 } }, plain[2] = { { 0 } };
            for (int i = 0; i < n[0]; ++i, point += 8)
                for (int c = 0; c < 2; ++c) {
                    const V4 p = *(const V4 *)(point + 4 * c);
                    along[c] += d[0][i] * p, plain[c] += b[0][i] * p;
                }
            for (int c = 0; c < 2; ++c)
                slope[c] += b[1][j] * along[c], across[c] += d[1][j] * plain[c], value[c] += b[1][j] * plain[c];
        }
        for (int c = 0; c < 2; ++c)
            out[0][c] += b[2][k] * slope[c], out[1][c] += b[2][k] * across[c], out[2][c] += d[2][k] * value[c];
    }
}

/// force[vertex] += Q times the slopes of its function, four numbers each
PLI_WIDE static void spread_stress(const double b[3][4], const double d[3][4], const int n[3], const double Q[9],
                                   double *force)
{
    const V4 q0 = { Q[0], Q[3], Q[6] }, q1 = { Q[1], Q[4], Q[7] }, q2 = { Q[2], Q[5], Q[8] };
    for (int k = 0; k < n[2]; ++k)
        for (int j = 0; j < n[1]; ++j) {
            const V4 along = b[1][j] * b[2][k] * q0, plain = d[1][j] * b[2][k] * q1 + b[1][j] * d[2][k] * q2;
            for (int i = 0; i < n[0]; ++i, force += 4) *(V4 *)force += d[0][i] * along + b[0][i] * plain;
        }
}

/// What is strained: places, and where damping resists, those a little further on, x + viscous (v - W x), without the spin W of the whole.
typedef struct Strained {
    const double *x, *v;
    double viscous; ///< s
    double turn[9]; ///< 1 - viscous W
} Strained;

static void strained_place(const Strained *at, size_t i, double p[3])
{
    m3_apply(p, at->turn, at->x + 3 * i);
    v3_madd(p, at->viscous, at->v + 3 * i);
}

static Strained strained(const PliWavelet *s, const double *x, const double *v, double viscous)
{
    Strained at = { x, v, viscous, { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 } };
    double F[9] = { 0.0 }, rate[9] = { 0.0 }, inverse[9], L[9];
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const size_t a = 3 * (size_t)s->active[i];
        for (size_t p = 0; p < 3; ++p)
            for (size_t q = 0; q < 3; ++q)
                F[3 * p + q] += x[a + p] * s->mean[a + q], rate[3 * p + q] += v[a + p] * s->mean[a + q];
    }
    if (!(m3_inverse(inverse, F) > 0.0)) return at;
    m3_mul(L, rate, inverse);
    for (int p = 0; p < 3; ++p)
        for (int q = 0; q < 3; ++q) at.turn[3 * p + q] -= 0.5 * viscous * (L[3 * p + q] - L[3 * q + p]);
    return at;
}

/// The functions of a regular cell are products, so no gradient is made for each of them.
static void add_regular_stress(const PliWaveletLevel *l, PliIndex cell, PliLaw law, const PliLame *lame,
                               double stiffness, const Strained *at, double *f)
{
    const PliIndex *vertex = l->shapes->vertex + l->shapes->first[cell],
                   n = l->shapes->first[cell + 1] - l->shapes->first[cell];
    const bool cut = l->share && l->share[cell] == PLI_CELL_CUT;
    double point[64][8], force[64][4] = { { 0.0 } };
    if (l->share && l->share[cell] == PLI_CELL_EMPTY) return;
    for (PliIndex k = 0; k < n; ++k) {
        strained_place(at, l->dof_first + vertex[k], point[k]);
        v3_copy(point[k] + 4, l->lattice->x + 3 * (size_t)vertex[k]);
        point[k][3] = point[k][7] = 0.0;
    }
    for (int q = 0; q < 8; ++q) {
        const double *octant = cut ? l->octant + 32 * (size_t)cell + 4 * q : NULL;
        double b[3][4], d[3][4], slope[9], rest[9], inverse[9], F[9], P[9], Q[9], gauss[3];
        V4 both[3][2];
        int count[3];
        if (cut && !(octant[0] > 0.0)) continue;
        for (int a = 0; a < 3; ++a) gauss[a] = 0.5 + (q >> a & 1 ? 1.0 : -1.0) * 0.28867513459481288225;
        for (int a = 0; a < 3; ++a)
            count[a] = pli_shapes_along(l->shapes->kind[cell], a, cut ? octant[1 + a] : gauss[a], b[a], d[a]);
        slopes_at((const double(*)[4])b, (const double(*)[4])d, count, point[0], both);
        for (int a = 0; a < 9; ++a) slope[a] = both[a % 3][0][a / 3], rest[a] = both[a % 3][1][a / 3];
        const double det = m3_inverse(inverse, rest);
        if (!(det > 0.0)) return;
        m3_mul(F, slope, inverse);
        pli_law_stress(law, lame, F, P);
        const double weight = stiffness * (cut ? octant[0] : 0.125 * det);
        for (int a = 0; a < 3; ++a)
            for (int c = 0; c < 3; ++c) Q[3 * a + c] = weight * v3_dot(P + 3 * a, inverse + 3 * c);
        spread_stress((const double(*)[4])b, (const double(*)[4])d, count, Q, force[0]);
    }
    for (PliIndex k = 0; k < n; ++k) v3_sub(f + 3 * (size_t)vertex[k], f + 3 * (size_t)vertex[k], force[k]);
}

enum { SPLIT = 1, WANTED = 2, WANTED_INSIDE = 4 }; ///< bits of `split`

/// Marks the cells that candidates which are asked for live in.
static void mark_wanted(PliWavelet *s)
{
    for (PliIndex c = 0; c < s->info.candidates; ++c) {
        const PliIndex a = s->listed[c];
        const PliWaveletLevel *l = &s->level[s->dof_level[a]];
        if (s->candidate[a] != PLI_ASKED) continue;
        for (PliIndex e = l->support_first[a]; e < l->support_first[a + 1]; ++e)
            s->split[s->dof_level[a]][l->support[e]] |= WANTED;
    }
    for (int k = s->level_count - 2; k >= 0; --k)
        for (PliIndex c = 0; c < s->level[k].lattice->cell_count; ++c)
            for (PliIndex d = s->level[k].child_first[c]; d < s->level[k].child_first[c + 1]; ++d)
                if (s->split[k + 1][d] & (WANTED | WANTED_INSIDE)) s->split[k][c] |= WANTED_INSIDE;
}

/// wanted: something coarser is
static void add_stress(PliWavelet *s, int level, PliIndex cell, bool wanted, const Strained *at, double *f)
{
    const PliWaveletLevel *l = &s->level[level];
    const uint8_t is = s->split[level][cell];
    wanted = wanted || is & WANTED;
    if (!wanted && !(is & WANTED_INSIDE)) return;
    if (is & SPLIT && level + 1 < PLI_WAVELET_LEVELS) {
        for (PliIndex c = l->child_first[cell]; c < l->child_first[cell + 1]; ++c)
            add_stress(s, level + 1, c, wanted, at, f);
        return;
    }
    const PliIndex *vertex = l->shapes->vertex + l->shapes->first[cell],
                   n = l->shapes->first[cell + 1] - l->shapes->first[cell];
    double *to = f + 3 * (size_t)l->dof_first, stiffness, volume[PLI_WAVELET_SAMPLES];
    PliMaterial material = s->def.base.material;
    pli_wavelet_material_of(s, level, cell, &stiffness, &material.poisson);
    const PliLame lame = l->moduli ? pli_lame(&material) : s->lame;
    if (pli_shapes_regular(l->shapes, cell)) {
        add_regular_stress(l, cell, material.law, &lame, stiffness, at, to);
        return;
    }
    const PliIndex count = pli_wavelet_samples(s, level, cell, s->judge_grad, volume);
    for (PliIndex q = 0; q < count; ++q) {
        const double *g = s->judge_grad + 3 * (size_t)n * q;
        const double weight = volume[q] * stiffness;
        double F[9] = { 0.0 }, P[9];
        for (PliIndex k = 0; k < n; ++k) {
            double p[3];
            strained_place(at, (size_t)l->dof_first + vertex[k], p);
            for (size_t a = 0; a < 3; ++a)
                for (size_t b = 0; b < 3; ++b) F[3 * a + b] += p[a] * g[3 * (size_t)k + b];
        }
        pli_law_stress(material.law, &lame, F, P);
        for (PliIndex k = 0; k < n; ++k)
            for (size_t a = 0; a < 3; ++a)
                to[3 * (size_t)vertex[k] + a] -=
                    weight * (P[3 * a] * g[3 * (size_t)k] + P[3 * a + 1] * g[3 * (size_t)k + 1] +
                              P[3 * a + 2] * g[3 * (size_t)k + 2]);
    }
}

void pli_wavelet_find_residual(PliWavelet *s, PliBody *body, const double *x, const double *v, double dt)
{
    const PliBodyDef *def = pli_body_def(body);
    const bool linear = s->def.law != PLI_WAVELET_NONLINEAR;
    double *r = s->residual, *q = s->q, *m = s->motion;
    // stresses have the damping of the material; what steps take with their matrix is that of stiffness at rest here
    const double viscous = def->rayleigh_stiffness + (linear ? def->material.damping : 0.0);
    if (has_outside(body) || !linear) {
        memset(r, 0, 3 * (size_t)s->dof_count * sizeof *r);
        pli_body_add_external_forces(body, x, v, dt, r);
        if (!linear) {
            pli_wavelet_split(s, true);
            mark_wanted(s);
            const Strained at = strained(s, x, v, def->material.damping);
            for (PliIndex c = 0; c < s->level[0].lattice->cell_count; ++c) add_stress(s, 0, c, false, &at, r);
        }
        contract(s, r);
    } else {
        for (PliIndex c = 0; c < s->info.candidates; ++c) memset(r + 3 * (size_t)s->listed[c], 0, 3 * sizeof *r);
    }
    for (PliIndex c = 0; c < s->info.candidates; ++c) {
        double *ra = r + 3 * (size_t)s->listed[c], turned[3];
        if (s->candidate[s->listed[c]] != PLI_ASKED) continue;
        v3_madd(ra, s->load[s->listed[c]], def->gravity);
        turn_back(turned, s->rotation, ra);
        v3_copy(ra, turned);
    }
    // what the pairs take: places of linear laws and velocities for stiffness, accelerations for mass
    for (PliIndex o = 0; o < s->active_count; ++o) {
        const PliIndex a = s->active[o];
        double *qa = q + 3 * (size_t)a, *ma = m + 3 * (size_t)a, turned[3], push[3];
        for (int i = 0; i < 3; ++i) {
            const double vi = v[3 * (size_t)a + (size_t)i];
            push[i] = (s->v_dt > 0.0 ? (vi - s->v_before[3 * (size_t)a + (size_t)i]) / s->v_dt : 0.0) +
                      def->mass_damping * vi;
        }
        turn_back(ma, s->rotation, push);
        turn_back(turned, s->rotation, v + 3 * (size_t)a);
        if (linear) {
            turn_back(qa, s->rotation, x + 3 * (size_t)a);
            v3_sub(qa, qa, s->rest + 3 * (size_t)a);
            v3_madd(qa, viscous, turned);
        } else {
            for (int i = 0; i < 3; ++i) qa[i] = viscous * turned[i];
        }
    }
    subtract_pairs(s, linear || viscous > 0.0 ? q : NULL, m, r);
}
