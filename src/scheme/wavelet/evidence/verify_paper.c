/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Where the transitions of the paper fail as they are written, and that it is them: oscillators that see nothing of the others sag in free fall
// by what their own stiffness says, and where a force acts on none of them nothing ever becomes full.
#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "base/vec.h"
#include "evidence/verify.h"
#include "scheme/wavelet/evidence/rig.h"
#include "scheme/wavelet/wavelet.h"

/// m, the largest detail of a free block that falls for 0.5 s; *foretold: what the weight of one would be worth by itself.
static double fall(PliWaveletTransition transition, double *foretold, PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(2, 2, 2, 0.1);
    PliError err = { 0 };
    WaveletRig g;
    d.transition = transition, d.base.material.young = 1e8, d.base.gravity[2] = -9.81;
    if (!wavelet_rig_open(&g, &d, -1, &err)) {
        pli_verify_broken(r, "%s", err.text);
        return NAN;
    }
    bool finite = true;
    for (int k = 0; k < 50; ++k) finite = pli_body_step(g.body, &g.state, 0.01).finite && finite;
    const PliWavelet *s = pli_body_self(g.body);
    double most = 0.0;
    *foretold = 0.0;
    for (PliIndex a = s->level[0].lattice->vertex_count; a < s->count; ++a) {
        double weight[3], way[3];
        for (size_t c = 0; c < 3; ++c) weight[c] = s->load[a] * d.base.gravity[c];
        pli_wavelet_yield(s, a, weight, way);
        *foretold = pli_max(*foretold, v3_norm(way));
        most = pli_max(most, v3_norm(g.x + 3 * (size_t)a));
    }
    wavelet_rig_close(&g);
    return finite ? most : NAN;
}

static void paper_fall(PliVerifyResult *r)
{
    double foretold;
    const double ours = fall(PLI_WAVELET_OFFSET, &foretold, r), paper = fall(PLI_WAVELET_PAPER, &foretold, r);
    pli_verify_within(r, 1.0, ours < 1e-6 * foretold ? paper / foretold : NAN, 0.01);
    pli_verify_note(r,
                    "detail of a block in free fall with the paper's transitions, over weight / stiffness of it alone "
                    "(%.2g m); it should be 0, and is %.1g m with ours",
                    foretold, ours);
}

enum { PROBES = 45 };

/// Where points of a bar are that is drawn by a corner and held. @return details that were switched on
static double draw(PliWaveletTransition transition, bool all, double place[PROBES][3], PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(4, 2, 2, 0.5);
    const double corner[3] = { 2, 1, 1 };
    PliError err = { 0 };
    WaveletRig g;
    d.transition = transition;
    if (all) d.refine = 1, d.levels = 0, d.base.adapt = false;
    if (!wavelet_rig_open(&g, &d, 0, &err) || !wavelet_rig_hold(&g, corner, 1e6)) {
        pli_verify_broken(r, "%s", err.text);
        return NAN;
    }
    bool finite = true;
    for (int k = 0; k < 150; ++k) {
        const double t = pli_min(1.0, (k + 1.0) / 100.0), shift[3] = { 0, 0.4 * t * t * (3.0 - 2.0 * t), 0 };
        wavelet_rig_move(&g, shift);
        finite = pli_body_step(g.body, &g.state, 0.01).finite && finite;
    }
    for (int i = 0; i < PROBES; ++i) {
        const double p[3] = { 1.0 + 0.25 * (i % 5), 0.5 * (i / 5 % 3), 0.5 * (i / 15) };
        wavelet_rig_place(&g, p, place[i]);
    }
    const double on = pli_wavelet_info(g.body).activated;
    wavelet_rig_close(&g);
    return finite ? on : NAN;
}

static double farthest(double a[PROBES][3], double b[PROBES][3])
{
    double far = 0.0;
    for (int i = 0; i < PROBES; ++i) far = pli_max(far, v3_distance(a[i], b[i]));
    return far;
}

/// All details vanish at a sharp corner, so a force there moves no oscillator.
static void paper_corner(PliVerifyResult *r)
{
    static double full[PROBES][3], ours[PROBES][3], paper[PROBES][3];
    (void)draw(PLI_WAVELET_OFFSET, true, full, r);
    const double own = draw(PLI_WAVELET_OFFSET, false, ours, r), theirs = draw(PLI_WAVELET_PAPER, false, paper, r);
    const double ratio = farthest(full, paper) / farthest(full, ours);
    pli_verify_at_least(r, 3.0, isnan(own + theirs) ? NAN : ratio);
    pli_verify_note(r,
                    "times further off with the paper's transitions than with ours: a bar drawn by a sharp corner, "
                    "worst of %d points, %.1f and %.1f mm of 400; %.0f and %.0f details were switched on",
                    PROBES, 1e3 * farthest(full, paper), 1e3 * farthest(full, ours), theirs, own);
}

/// m, how far the smooth limit of a trilinear block is from where three of its points are led, at worst. Rows of the smooth limit are those
/// of a Catmull-Clark block on the same lattice.
static double lead(bool smooth, PliVerifyResult *r)
{
    static const PliConstraint held[3] = { { .point = { 0.14, 0.15, 0.2 } },
                                           { .point = { 0.02, 0.03, 0.11 } },
                                           { .point = { 0.29, 0.22, 0.19 } } };
    PliWaveletDef d = wavelet_box_def(3, 3, 2, 0.1);
    PliError err = { 0 };
    WaveletRig limit, g = { 0 };
    double off = 0.0;
    if (!wavelet_rig_open(&limit, &d, -1, &err)) {
        pli_verify_broken(r, "%s", err.text);
        return NAN;
    }
    d.basis = PLI_WAVELET_TRILINEAR, d.smooth = smooth;
    if (!wavelet_rig_open(&g, &d, 2, &err) || pli_body_constrain(g.body, held, 3, &err) != PLI_OK) {
        pli_verify_broken(r, "%s", err.text);
        off = NAN;
    }
    for (int k = 0; k < 60 && !isnan(off); ++k) {
        double target[9];
        for (int i = 0; i < 9; ++i)
            target[i] = held[i / 3].point[i % 3] + (i == 2 ? 0.04 * pli_min(1.0, k / 40.0) : 0.0);
        if (pli_body_move_constraints(g.body, target, &err) != PLI_OK || !pli_body_step(g.body, &g.state, 0.01).finite)
            off = NAN;
        memcpy(limit.x, g.x, 3 * g.count * sizeof *g.x);
        for (int i = 0; i < 3; ++i) {
            double p[3];
            wavelet_rig_place(&limit, held[i].point, p);
            off = pli_max(off, v3_distance(p, target + 3 * (size_t)i));
        }
    }
    wavelet_rig_close(&limit);
    wavelet_rig_close(&g);
    return off;
}

static void smooth_constraints(PliVerifyResult *r)
{
    const double plain = lead(false, r), smooth = lead(true, r);
    pli_verify_within(r, 0.0, plain > 1e-4 ? smooth : NAN, 1e-9);
    pli_verify_note(r,
                    "m, smooth limit of a trilinear block from where three points of it are led by 4 cm (5.3); %.1f mm "
                    "when the constraints are trilinear too",
                    1e3 * plain);
}

const PliVerifyCase pli_verify_wavelet_paper_cases[] = {
    { "wavelet", "smooth_constraints", smooth_constraints },
    { "wavelet", "paper_fall", paper_fall },
    { "wavelet", "paper_corner", paper_corner },
    { 0 },
};
