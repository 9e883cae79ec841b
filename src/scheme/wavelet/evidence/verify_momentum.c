/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What switching details may not do to the motion of a body: momentum, linear and angular, and bodies that fly past.
#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "base/memory.h"
#include "base/vec.h"
#include "evidence/verify.h"
#include "scheme/wavelet/evidence/rig.h"

enum { MOTION_STEPS = 400 };
static const double STEP = 0.005; // s

/// A free block that spins, and is pulled apart at two corners for 0.15 s of every half second.
static bool open_motion(WaveletRig *g, PliWaveletLaw law, PliWaveletTransition transition, double boost,
                        PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(3, 2, 2, 1.0);
    PliError err = { 0 };
    d.levels = 1, d.law = law, d.transition = transition;
    d.base.criterion.threshold = 0.02, d.base.criterion.coarsen = 0.5, d.base.rayleigh_stiffness = 0.02,
    d.base.cg_tolerance = 1e-13, d.base.cg_iterations = 500;
    d.memory = 10.0;
    if (!wavelet_rig_open(g, &d, -1, &err)) {
        pli_verify_broken(r, "%s", err.text);
        return false;
    }
    const double spin[3] = { 0.1, 0.2, law == PLI_WAVELET_LINEAR ? 0.0 : 0.5 };
    for (PliIndex i = 0; i < pli_body_active(g->body).count; ++i) {
        double *v = g->v + 3 * (size_t)i;
        v3_cross(v, spin, g->x + 3 * (size_t)i);
        v[0] += boost, v[1] += 0.3;
    }
    return true;
}

static void pull(WaveletRig *g, int step)
{
    const PliIndex far = pli_body_active(g->body).dof[4 * 3 * 3 - 1];
    memset(g->f, 0, 3 * g->count * sizeof *g->f);
    for (size_t d = 0; d < 3 && step % 100 < 30; ++d)
        g->f[d] = d == 1 ? -9e3 : -4e3, g->f[3 * (size_t)far + d] = -g->f[d];
    g->state.f_ext = g->f;
}

/// What the elastic forces of the step that led to v1 did to angular momentum, and the pull: h sum x0 x (f + (h + b) K v1).
static void add_torque(WaveletRig *g, const double *x0, const double *f, double damping, double out[3], double *work)
{
    memcpy(work, f, 3 * g->count * sizeof *work);
    pli_body_add_dforce(g->body, g->v, STEP + damping, work);
    const PliActive on = pli_body_active(g->body);
    for (PliIndex i = 0; i < on.count; ++i) {
        double t[3];
        v3_cross(t, x0 + 3 * (size_t)on.dof[i], work + 3 * (size_t)on.dof[i]);
        v3_madd(out, STEP, t);
    }
}

/// Largest change, over what there is, that is not of the elastic forces and the pull.
static void hold_momentum(PliVerifyResult *r, PliWaveletLaw law, PliWaveletTransition transition)
{
    WaveletRig g;
    if (!open_motion(&g, law, transition, 0.0, r)) return;
    double *x0 = PLI_NEW(&g.host, 9 * g.count, double), *force = x0 + 3 * g.count, *work = force + 3 * g.count;
    const PliEnergy first = pli_body_energy(g.body, g.x, g.v);
    double torque[3] = { 0.0 }, size = v3_norm(first.angular), linear = 0.0, angular = 0.0;
    PliWaveletInfo w = { 0 };
    int quiet = 0, looked = 0;
    bool finite = x0 != NULL;
    for (int k = 0; k < MOTION_STEPS && finite; ++k) {
        pull(&g, k);
        (void)pli_body_adapt(g.body, &g.state, STEP);
        memcpy(x0, g.x, 3 * g.count * sizeof *x0);
        finite = pli_body_advance(g.body, &g.state, STEP).finite;
        memcpy(force, g.f, 3 * g.count * sizeof *force);
        pli_body_add_force(g.body, x0, NULL, force);
        add_torque(&g, x0, force, 0.02, torque, work);
        const PliWaveletInfo then = w;
        w = pli_wavelet_info(g.body);
        quiet = w.activated + w.deactivated == then.activated + then.deactivated ? quiet + 1 : 0;
        const PliEnergy now = pli_body_energy(g.body, g.x, g.v);
        linear = pli_max(linear, v3_distance(now.momentum, first.momentum) / v3_norm(first.momentum));
        if (quiet < 12) continue; // what leads details to zero is taken back one step later; a fade lasts ten
        double off[3];
        looked = w.deactivated >= 50 ? looked + 1 : 0;
        v3_sub(off, now.angular, first.angular);
        v3_sub(off, off, torque);
        size = pli_max(size, v3_norm(now.angular));
        angular = pli_max(angular, v3_norm(off) / size);
    }
    const bool enough = w.activated >= 50 && w.deactivated >= 50 && looked > 0;
    pli_verify_at_most(r, 1e-8, !finite || !enough ? NAN : pli_max(linear, angular));
    pli_verify_note(r,
                    "free block, spun and pulled, %llu details on, %llu off; linear %.1e, angular %.1e, looked at %d "
                    "times when fades had ended",
                    (unsigned long long)w.activated, (unsigned long long)w.deactivated, linear, angular, looked);
    PLI_FREE(&g.host, x0, 9 * g.count);
    wavelet_rig_close(&g);
}

static void momentum_quasi_linear(PliVerifyResult *r)
{
    hold_momentum(r, PLI_WAVELET_QUASI_LINEAR, PLI_WAVELET_OFFSET);
}
static void momentum_linear(PliVerifyResult *r) { hold_momentum(r, PLI_WAVELET_LINEAR, PLI_WAVELET_OFFSET); }
static void momentum_nonlinear(PliVerifyResult *r) { hold_momentum(r, PLI_WAVELET_NONLINEAR, PLI_WAVELET_OFFSET); }
static void momentum_plain(PliVerifyResult *r) { hold_momentum(r, PLI_WAVELET_NONLINEAR, PLI_WAVELET_PLAIN); }

/// The same body standing and flying past at 10 m/s.
static void boost(PliVerifyResult *r)
{
    double worst = 0.0;
    uint64_t on = 0, off = 0;
    for (int law = 0; law < 3; ++law) {
        WaveletRig g[2];
        if (!open_motion(&g[0], (PliWaveletLaw)law, PLI_WAVELET_OFFSET, 0.0, r)) return;
        if (!open_motion(&g[1], (PliWaveletLaw)law, PLI_WAVELET_OFFSET, 10.0, r)) return;
        bool good = true;
        for (int k = 0; k < MOTION_STEPS; ++k) {
            for (int side = 0; side < 2; ++side) {
                pull(&g[side], k);
                good = good && pli_body_step(g[side].body, &g[side].state, STEP).finite;
            }
            const PliIndex n = pli_wavelet_vertex_count(g[0].body);
            for (size_t i = n; i < g[0].count; ++i) {
                double p[3];
                v3_copy(p, g[1].x + 3 * i);
                p[0] -= 10.0 * STEP * (k + 1);
                worst = pli_max(worst, v3_distance(p, g[0].x + 3 * i));
            }
        }
        const PliWaveletInfo a = pli_wavelet_info(g[0].body), b = pli_wavelet_info(g[1].body);
        good = good && a.activated == b.activated && a.deactivated == b.deactivated && a.activated && a.deactivated;
        if (!good) worst = NAN;
        on += a.activated, off += a.deactivated;
        for (int side = 0; side < 2; ++side) wavelet_rig_close(&g[side]);
    }
    pli_verify_at_most(r, 1e-7, worst);
    pli_verify_note(
        r,
        "m between a block of 3 m standing and the same flying at 10 m/s, three laws, 2 s, %llu details on, "
        "%llu off",
        (unsigned long long)on, (unsigned long long)off);
}

const PliVerifyCase pli_verify_wavelet_momentum_cases[] = {
    { "wavelet", "momentum_quasi_linear", momentum_quasi_linear },
    { "wavelet", "momentum_linear", momentum_linear },
    { "wavelet", "momentum_nonlinear", momentum_nonlinear },
    { "wavelet", "momentum_plain", momentum_plain },
    { "wavelet", "boost", boost },
    { 0 },
};
