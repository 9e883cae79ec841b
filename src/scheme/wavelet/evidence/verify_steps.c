/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What an implicit step must reach: the equation of motion itself when it may linearise more than once, and the planes around a body.
#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "base/memory.h"
#include "base/vec.h"
#include "evidence/verify.h"
#include "scheme/wavelet/evidence/rig.h"

/// A clamped beam of 4 x 1 x 1 m, its end drawn down with `load` N in one step of dt.
typedef struct Bend {
    double dt, load;
    PliWaveletBasis basis;
    PliLaw law;
} Bend;

typedef struct Bent {
    double tip[3], residual, energy; ///< energy: elastic and kinetic, less what the load did
    int linearizations;
    bool finite;
} Bent;

static Bent bend_once(const Bend *b, int newton, PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(4, 2, 2, 1.0);
    PliError err = { 0 };
    WaveletRig g;
    Bent out = { .residual = NAN };
    d.box_max[1] = d.box_max[2] = 1.0;
    d.levels = 0, d.base.adapt = false, d.law = PLI_WAVELET_NONLINEAR, d.basis = b->basis, d.base.material.law = b->law;
    d.base.newton = newton, d.base.cg_tolerance = 1e-12, d.base.cg_iterations = 2000;
    if (!wavelet_rig_open(&g, &d, 0, &err)) {
        pli_verify_broken(r, "%s", err.text);
        return out;
    }
    const double size[3] = { 4, 1, 1 }, load[3] = { 0, -b->load, 0 }, p[3] = { 4, 0.5, 0.5 };
    wavelet_rig_load_face(&g, 4.0, size, load);
    const PliStepInfo info = pli_body_step(g.body, &g.state, b->dt);
    const PliEnergy e = pli_body_energy(g.body, g.x, g.v);
    wavelet_rig_place(&g, p, out.tip);
    out.residual = info.residual, out.linearizations = info.linearizations;
    out.finite = info.finite && info.retries == 0;
    out.energy = e.elastic + e.kinetic;
    for (size_t i = 0; i < 3 * g.count; ++i) out.energy -= g.f[i] * (g.x[i] - pli_body_rest(g.body)[i]);
    wavelet_rig_close(&g);
    return out;
}

enum { PULLED_STEPS = 12, PULLED_POINTS = 27 };

/// Places of points of a block in its first steps after one point was drawn up at once.
static bool pull_at_once(bool all, double place[PULLED_STEPS][PULLED_POINTS][3], PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(4, 4, 2, 0.1);
    PliError err = { 0 };
    WaveletRig g;
    d.base.material.young = 2e4, d.base.material.density = 1000.0;
    d.base.adapt = !all;
    if (all) d.refine = 1, d.levels = 0;
    const double p[3] = { 0.2, 0.2, 0.2 }, up[3] = { 0.0, 0.0, 0.05 };
    if (!wavelet_rig_open(&g, &d, 2, &err) || !wavelet_rig_hold(&g, p, 500.0)) {
        pli_verify_broken(r, "%s", err.text);
        return false;
    }
    bool good = true;
    for (int k = 0; k < 4 + PULLED_STEPS; ++k) {
        if (k == 4) wavelet_rig_move(&g, up);
        good = pli_body_step(g.body, &g.state, 0.005).finite && good;
        for (int i = 0; i < PULLED_POINTS && k >= 4; ++i) {
            const double at[3] = { 0.15 + 0.05 * (i % 3), 0.15 + 0.05 * (i / 3 % 3), 0.2 - 0.05 * (i / 9) };
            wavelet_rig_place(&g, at, place[k - 4][i]);
        }
    }
    wavelet_rig_close(&g);
    return good;
}

/// A load in one step: details that it moves are there in that step.
static void wake(PliVerifyResult *r)
{
    static double few[PULLED_STEPS][PULLED_POINTS][3], all[PULLED_STEPS][PULLED_POINTS][3];
    if (!pull_at_once(false, few, r) || !pull_at_once(true, all, r)) return;
    double worst = 0.0;
    for (int k = 0; k < PULLED_STEPS; ++k) {
        double off = 0.0, most = 0.0;
        for (int i = 0; i < PULLED_POINTS; ++i) {
            const double rest[3] = { 0.15 + 0.05 * (i % 3), 0.15 + 0.05 * (i / 3 % 3), 0.2 - 0.05 * (i / 9) };
            off = pli_max(off, v3_distance(few[k][i], all[k][i]));
            most = pli_max(most, v3_distance(all[k][i], rest));
        }
        worst = pli_max(worst, 100.0 * off / most);
    }
    pli_verify_at_most(r, 15.0, worst);
    pli_verify_note(
        r, "%% of the largest displacement of the moment, worst of %d points around a point drawn up in one step",
        PULLED_POINTS);
}

/// How far the tip is from where it ends, iteration by iteration: the order is that of the last three above rounding.
static void newton_order(PliVerifyResult *r)
{
    enum { MOST = 14 };
    static const double ROUNDING = 1e-13; // m
    double least = INFINITY, last = 0.0;
    for (int k = 0; k < 4; ++k) {
        const Bend b = { 2.0, 900.0, k % 2 ? PLI_WAVELET_TRILINEAR : PLI_WAVELET_CC,
                         k / 2 ? PLI_NEOHOOKEAN : PLI_STVK };
        const Bent end = bend_once(&b, 2 * MOST, r);
        double off[MOST];
        int n = 0;
        while (n < MOST && (n == 0 || off[n - 1] > ROUNDING)) {
            off[n] = v3_distance(bend_once(&b, n + 1, r).tip, end.tip);
            n++;
        }
        n -= off[n - 1] <= ROUNDING;
        if (n >= 3) least = pli_min(least, log(off[n - 1] / off[n - 2]) / log(off[n - 2] / off[n - 3]));
        last = pli_max(last, n >= 3 && end.finite ? end.residual : NAN);
    }
    pli_verify_at_least(r, 1.8, last < 1e-10 ? least : NAN);
    pli_verify_note(r, "order in which Newton's error falls, two laws and two bases, a beam of 4 m bent by 1 m in one "
                       "step of 2 s");
}

/// One linearisation stretches the beam without bounds; more of them bring it to rest.
static void newton_long_step(PliVerifyResult *r)
{
    double worst = 0.0, once = INFINITY;
    int most = 0;
    for (double load = 1000.0; load < 2e4; load *= 2.0) {
        const Bend b = { 10.0, load, PLI_WAVELET_CC, PLI_STVK };
        const Bent one = bend_once(&b, 1, r), full = bend_once(&b, 30, r);
        // the beam at rest had no energy: one linearisation gains some, the line search never lets it
        double before = 0.0;
        bool falls = true;
        for (int k = 2; k <= 16; k += 2) {
            const Bent now = bend_once(&b, k, r);
            falls = falls && now.finite && now.energy <= before + 1e-9 * fabs(before);
            before = now.energy;
        }
        worst = pli_max(worst, full.finite && falls && full.energy < 0.0 ? full.residual : NAN);
        once = pli_min(once, one.energy / fabs(full.energy));
        most = full.linearizations > most ? full.linearizations : most;
    }
    pli_verify_at_most(r, 1e-9, once > 10.0 ? worst : NAN);
    pli_verify_note(r,
                    "residual of one step of 10 s under five loads, at most %d linearisations, energy falls with each; "
                    "one alone raises it by %.0f times what the load does, at least",
                    most, once);
}

/// A block of 1 m thrown into a corner of floor and two walls.
typedef struct Throw {
    PliWaveletLaw law;
    PliWaveletBasis basis;
    int newton, steps;
    double x, z, spin; ///< m/s along x and against z, and 1/s about z
} Throw;

/// @return m, how far a point of the skin went through a plane, at most; *weight: N on the floor in the last 50 steps
static double throw_block(const Throw *w, double *weight, PliVerifyResult *r)
{
    enum { PLANES = 3 };
    PliWaveletDef d = wavelet_box_def(2, 2, 2, 0.5);
    PliError err = { 0 };
    WaveletRig g;
    d.levels = 1, d.law = w->law, d.basis = w->basis;
    d.base.rayleigh_stiffness = 0.02, d.base.gravity[1] = -9.81, d.base.newton = w->newton;
    if (!wavelet_rig_open(&g, &d, -1, &err)) {
        pli_verify_broken(r, "%s", err.text);
        return NAN;
    }
    PliTool plane[PLANES] = { { .shape = PLI_TOOL_PLANE, .other = { 0, 1, 0 }, .position = { 0, -0.2, 0 } },
                              { .shape = PLI_TOOL_PLANE, .other = { -1, 0, 0 }, .position = { 1.3, 0, 0 } },
                              { .shape = PLI_TOOL_PLANE, .other = { 0, 0, 1 }, .position = { 0, 0, -0.2 } } };
    for (int t = 0; t < PLANES; ++t) plane[t].friction = 0.3;
    for (PliIndex i = 0; i < pli_body_active(g.body).count; ++i) {
        g.v[3 * i] = w->x + w->spin * g.x[3 * i + 1], g.v[3 * i + 1] = -w->spin * g.x[3 * i];
        g.v[3 * i + 2] = -w->z;
    }
    const PliIndex points = pli_body_skin_count(g.body);
    double *skin = PLI_NEW(&g.host, 3 * (size_t)points, double), force = 0.0, deepest = 0.0;
    bool finite = skin && pli_body_set_tools(g.body, plane, PLANES, &err) == PLI_OK;
    for (int step = 0; step < w->steps && finite; ++step) {
        finite = pli_body_step(g.body, &g.state, 0.01).finite;
        pli_body_skin_positions(g.body, g.x, skin);
        for (PliIndex i = 0; i < points; ++i)
            for (int t = 0; t < PLANES; ++t) {
                double to[3];
                v3_sub(to, skin + 3 * (size_t)i, plane[t].position);
                deepest = pli_max(deepest, -v3_dot(to, plane[t].other));
            }
        if (step >= w->steps - 50) force -= plane[0].force[1] / 50.0;
    }
    PLI_FREE(&g.host, skin, 3 * (size_t)points);
    wavelet_rig_close(&g);
    *weight = force;
    return finite ? deepest : NAN;
}

/// Nothing of its surface goes through, and it comes to rest with its weight.
static void walls(PliVerifyResult *r)
{
    double deepest = 0.0, off = 0.0;
    for (int k = 0; k < 4; ++k) {
        const Throw w = { k % 2 ? PLI_WAVELET_NONLINEAR : PLI_WAVELET_QUASI_LINEAR,
                          k / 2 ? PLI_WAVELET_TRILINEAR : PLI_WAVELET_CC,
                          1,
                          500,
                          2.0,
                          1.5,
                          1.0 };
        double weight = NAN;
        deepest = pli_max(deepest, throw_block(&w, &weight, r));
        off = pli_max(off, fabs(weight / (9.81 * 1000.0) - 1.0));
    }
    pli_verify_at_most(r, 1e-4, off <= 0.01 ? deepest : NAN);
    pli_verify_note(r,
                    "m that a block of 1 m, thrown into a corner of three planes, goes through them; two laws and two "
                    "bases; then the floor feels its weight to %.2f %%",
                    100.0 * off);
}

/// Harder throws, and steps that linearise four times: corners are pressed between planes by what others do, faster than anything was.
static void hard_throws(PliVerifyResult *r)
{
    static const double throws[3][3] = { { 2.0, 1.5, 1.0 }, { 2.5, 0.5, 3.0 }, { 1.0, 2.5, 4.0 } };
    double deepest = 0.0;
    int count = 0;
    for (int k = 0; k < 12; ++k, ++count) {
        const double *v = throws[k % 3];
        const Throw w = { PLI_WAVELET_NONLINEAR,
                          k / 3 % 2 ? PLI_WAVELET_TRILINEAR : PLI_WAVELET_CC,
                          k / 6 ? 4 : 1,
                          80,
                          v[0],
                          v[1],
                          v[2] };
        double weight;
        deepest = pli_max(deepest, throw_block(&w, &weight, r));
    }
    pli_verify_at_most(r, 1e-4, deepest);
    pli_verify_note(
        r,
        "m that a block of 1 m goes through three planes: %d throws, two bases, one and four linearisations "
        "of a step",
        count);
}

const PliVerifyCase pli_verify_wavelet_step_cases[] = {
    { "wavelet", "newton_order", newton_order },
    { "wavelet", "newton_long_step", newton_long_step },
    { "wavelet", "walls", walls },
    { "wavelet", "hard_throws", hard_throws },
    { "wavelet", "wake", wake },
    { 0 },
};
