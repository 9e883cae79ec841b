/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Timings of wavelets: a grab with few functions against the same with all, steps of a base lattice, set-up.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "base/fold.h"
#include "base/vec.h"
#include "evidence/bench.h"
#include "evidence/bench_scene.h"
#include "scheme/wavelet/evidence/rig.h"

enum { STEPS = 200, DRAG = 100, PROBES = 9 * 9 * 3 };
static const double STEP = 0.005; // s

typedef struct Grab {
    double ms, hold_ms, adapt_ms;        ///< in all, after the drag, deciding
    double active, iterations;           ///< mean
    double probe[STEPS / 10][PROBES][3]; ///< every ten steps
    PliWaveletInfo info;
} Grab;

static void probe_place(int i, double p[3])
{
    p[0] = 5.0 * (i % 9) / 8.0, p[1] = 5.0 * (i / 9 % 9) / 8.0, p[2] = i / 81;
}

/// Nine points of the top of a block of 5 x 5 x 2 are drawn up softly in 0.5 s and held.
static bool run_grab(PliBench *b, PliWaveletLaw law, bool adaptive, PliLinearSolver solver, int steps, Grab *out)
{
    PliWaveletDef d = wavelet_box_def(5, 5, 2, 1.0);
    WaveletRig g;
    PliError err = { 0 };
    d.levels = 2, d.law = law, d.base.adapt = adaptive, d.base.linear_solver = solver, d.base.cg_iterations = 400;
    d.base.rayleigh_stiffness = 0.05, d.base.criterion.threshold = 0.02;
    memset(out, 0, sizeof *out);
    if (!wavelet_rig_open(&g, &d, 2, &err)) {
        pli_bench_broken(b, "%s", err.text);
        return false;
    }
    for (int i = 0; i < 9; ++i) {
        const double p[3] = { 2.3 + 0.2 * (i % 3), 2.3 + 0.2 * (i / 3), 2.0 };
        (void)wavelet_rig_hold(&g, p, 2e4);
    }
    bool good = true;
    for (int k = 0; k < steps && good; ++k) {
        const double t = pli_min(1.0, (k + 1.0) / DRAG), s = t * t * (3.0 - 2.0 * t),
                     shift[3] = { 0.1 * s, 0.0, 0.335 * s };
        wavelet_rig_move(&g, shift);
        const double start = pli_cpu_ms();
        const PliStepInfo info = pli_body_step(g.body, &g.state, STEP);
        const double took = pli_cpu_ms() - start;
        good = info.finite;
        if (k > 0 || adaptive) out->ms += took; // the full model factors once, in its first step: set-up
        if (k >= DRAG) out->hold_ms += took;
        out->adapt_ms += pli_body_stats(g.body).adapt_ms;
        out->active += pli_body_stats(g.body).active;
        out->iterations += info.cg_iterations;
        for (int i = 0; i < PROBES && k % 10 == 9; ++i) {
            double p[3];
            probe_place(i, p);
            wavelet_rig_place(&g, p, out->probe[k / 10][i]);
        }
    }
    out->active /= steps, out->iterations /= steps;
    out->info = pli_wavelet_info(g.body);
    wavelet_rig_close(&g);
    if (!good) pli_bench_broken(b, "a step was not finite");
    return good;
}

/// Largest difference of any probe at any look, and at the last, over the largest displacement.
static void find_errors(const Grab *full, const Grab *few, int steps, double *worst, double *end)
{
    double size = 0.0;
    *worst = *end = 0.0;
    for (int k = 0; k < steps / 10; ++k)
        for (int i = 0; i < PROBES; ++i) {
            const double off = v3_distance(full->probe[k][i], few->probe[k][i]);
            double p[3];
            probe_place(i, p);
            size = pli_max(size, v3_distance(p, full->probe[k][i]));
            *worst = pli_max(*worst, off);
            if (k == steps / 10 - 1) *end = pli_max(*end, off);
        }
    *worst /= size, *end /= size;
}

static void grab(PliBench *b, PliWaveletLaw law, int steps)
{
    static Grab full, few, rival;
    const bool linear = law != PLI_WAVELET_NONLINEAR;
    if (!run_grab(b, law, false, PLI_SOLVE_AUTO, steps, &full) || !run_grab(b, law, true, PLI_SOLVE_AUTO, steps, &few))
        return;
    const int look = linear ? 4 : 2; // without the factor: only to know that it is slower
    if (!run_grab(b, law, false, PLI_SOLVE_CG, look, &rival)) return;
    double worst, end;
    find_errors(&full, &few, steps, &worst, &end);
    const double ms = full.ms / (steps - 1), other = rival.ms / (look - 1);
    pli_bench_report(b, "speedup", pli_min(ms, other) / (few.ms / steps), "");
    if (steps > DRAG) pli_bench_report(b, "speedup_held", full.hold_ms / few.hold_ms, "");
    pli_bench_report(b, "error_end", 100.0 * end, "% of the largest displacement");
    pli_bench_report(b, "error_worst", 100.0 * worst, "% of the largest displacement");
    pli_bench_report(b, "full", ms, "ms/step, factor at rest");
    pli_bench_report(b, "full_cg", other, "ms/step, conjugate gradients");
    pli_bench_report(b, "adaptive", few.ms / steps, "ms/step");
    pli_bench_report(b, "adaptivity", 100.0 * few.adapt_ms / few.ms, "% of its step");
    pli_bench_report(b, "active_mean", few.active, "functions");
    pli_bench_report(b, "functions", few.info.functions, "");
    pli_bench_report(b, "entries", (double)few.info.full_entries / (double)few.info.matrix_entries,
                     "times fewer at the end");
    pli_bench_report(b, "iterations", few.iterations, "");
}

static void run_grab_quasi(PliBench *b) { grab(b, PLI_WAVELET_QUASI_LINEAR, STEPS); }
static void run_grab_nonlinear(PliBench *b) { grab(b, PLI_WAVELET_NONLINEAR, 40); }

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct BaseStep {
    double median, p99, iterations;
    PliIndex functions;
} BaseStep;

/// A block of 5 x 5 x 4 cells, clamped below, swinging under its own weight.
static bool run_base(PliBench *b, PliWaveletBasis basis, PliWaveletLaw law, PliWaveletTangent tangent, BaseStep *out)
{
    PliWaveletDef d = wavelet_box_def(5, 5, 4, 0.1);
    WaveletRig g;
    PliError err = { 0 };
    d.levels = 0, d.basis = basis, d.law = law, d.base.gravity[0] = 5.0, d.base.gravity[2] = -9.81,
    d.base.cg_tolerance = 1e-4, d.tangent = tangent;
    d.base.material.young = 2e4;
    if (!wavelet_rig_open(&g, &d, 2, &err)) {
        pli_bench_broken(b, "%s", err.text);
        return false;
    }
    double ms[100], iterations = 0.0;
    for (int k = 0; k < 120; ++k) {
        const double start = pli_cpu_ms();
        const PliStepInfo info = pli_body_step(g.body, &g.state, STEP);
        if (k >= 20) ms[k - 20] = pli_cpu_ms() - start, iterations += info.cg_iterations / 100.0;
        if (!info.finite) pli_bench_broken(b, "step %d was not finite", k);
    }
    qsort(ms, 100, sizeof *ms, by_size);
    *out = (BaseStep){ ms[50], ms[98], iterations, pli_wavelet_info(g.body).functions };
    wavelet_rig_close(&g);
    return true;
}

static void base_step(PliBench *b, PliWaveletBasis basis, PliWaveletLaw law, PliWaveletTangent tangent)
{
    BaseStep step;
    if (!run_base(b, basis, law, tangent, &step)) return;
    pli_bench_report(b, "median", step.median, "ms/step");
    pli_bench_report(b, "p99", step.p99, "ms/step");
    pli_bench_report(b, "iterations", step.iterations, "");
    pli_bench_report(b, "functions", step.functions, "");
}

static void run_base_quasi(PliBench *b) { base_step(b, PLI_WAVELET_CC, PLI_WAVELET_QUASI_LINEAR, PLI_WAVELET_TRUE); }
static void run_base_nonlinear(PliBench *b) { base_step(b, PLI_WAVELET_CC, PLI_WAVELET_NONLINEAR, PLI_WAVELET_TRUE); }
static void run_base_rest(PliBench *b) { base_step(b, PLI_WAVELET_CC, PLI_WAVELET_NONLINEAR, PLI_WAVELET_REST); }
static void run_base_trilinear(PliBench *b)
{
    base_step(b, PLI_WAVELET_TRILINEAR, PLI_WAVELET_NONLINEAR, PLI_WAVELET_TRUE);
}

/// Decisions that change nothing: what one pays for being able to.
static void run_overhead(PliBench *b)
{
    PliWaveletDef d = wavelet_box_def(5, 5, 4, 0.1);
    WaveletRig g;
    PliError err = { 0 };
    d.levels = 2, d.base.gravity[0] = 5.0, d.base.material.young = 2e4, d.base.criterion.threshold = 1e3;
    if (!wavelet_rig_open(&g, &d, 2, &err)) {
        pli_bench_broken(b, "%s", err.text);
        return;
    }
    double own = 0.0, total = 0.0;
    for (int k = 0; k < 120; ++k) {
        const double start = pli_cpu_ms();
        (void)pli_body_step(g.body, &g.state, STEP);
        if (k < 20) continue;
        total += pli_cpu_ms() - start, own += pli_body_stats(g.body).adapt_ms;
    }
    pli_bench_report(b, "percent", 100.0 * own / total, "% of the step");
    pli_bench_report(b, "step", total / 100.0, "ms");
    pli_bench_report(b, "candidates", pli_wavelet_info(g.body).candidates, "functions");
    wavelet_rig_close(&g);
}

/// @return s, of 100 cells with two levels of detail; NaN: it could not be done
static double set_up(PliBench *b, double angle, PliWaveletInfo *info)
{
    PliWaveletDef d = wavelet_box_def(5, 5, 4, 0.1);
    const PliHost host = pli_host_default();
    PliError err = { 0 };
    d.levels = 2, d.sharp_angle = angle;
    const double start = pli_cpu_ms();
    PliBody *body = pli_wavelet_create(&host, &d, &err);
    const double end = pli_cpu_ms();
    if (body)
        *info = pli_wavelet_info(body);
    else
        pli_bench_broken(b, "%s", err.text);
    pli_body_destroy(body);
    return body ? 1e-3 * (end - start) : NAN;
}

static void setup(PliBench *b, double angle)
{
    PliWaveletInfo info;
    const double seconds = set_up(b, angle, &info);
    if (isnan(seconds)) return;
    pli_bench_report(b, "seconds", seconds, "s");
    pli_bench_report(b, "functions", info.functions, "");
    pli_bench_report(b, "irregular", info.irregular, "cells");
}

static void run_setup(PliBench *b) { setup(b, 40.0); }
static void run_setup_smooth(PliBench *b) { setup(b, 180.0); }

/// What is asked of a drag, in one place: the grab with few functions against all of them, steps of 100 cells, and their set-up.
static void run_drag(PliBench *b)
{
    static Grab full, few;
    BaseStep quasi, nonlinear, rest;
    PliWaveletInfo info;
    double worst, end;
    if (!run_grab(b, PLI_WAVELET_QUASI_LINEAR, false, PLI_SOLVE_AUTO, STEPS, &full) ||
        !run_grab(b, PLI_WAVELET_QUASI_LINEAR, true, PLI_SOLVE_AUTO, STEPS, &few))
        return;
    find_errors(&full, &few, STEPS, &worst, &end);
    if (!run_base(b, PLI_WAVELET_CC, PLI_WAVELET_QUASI_LINEAR, PLI_WAVELET_TRUE, &quasi) ||
        !run_base(b, PLI_WAVELET_CC, PLI_WAVELET_NONLINEAR, PLI_WAVELET_TRUE, &nonlinear) ||
        !run_base(b, PLI_WAVELET_CC, PLI_WAVELET_NONLINEAR, PLI_WAVELET_REST, &rest))
        return;
    const double seconds = set_up(b, 40.0, &info), smooth = set_up(b, 180.0, &info);
    pli_bench_report(b, "speedup", full.ms / (STEPS - 1) / (few.ms / STEPS), "");
    pli_bench_report(b, "error", 100.0 * worst, "% of the largest displacement, worst point and moment");
    pli_bench_report(b, "base_ms", quasi.median, "ms/step, quasi-linear");
    pli_bench_report(b, "base_nonlinear_ms", nonlinear.median, "ms/step, StVK, true tangent");
    pli_bench_report(b, "base_rest_ms", rest.median, "ms/step, StVK, tangent at rest");
    pli_bench_report(b, "precompute_s", seconds, "s, two levels of detail");
    pli_bench_report(b, "precompute_smooth_s", smooth, "s, the same without sharp edges");
}

/// Wavelets themselves, without the tetrahedra a comparison may fall back to, with the law of the reference.
static void run_on_liver(PliBench *b, const char *scene)
{
    static const PliOverride set[] = {
        { "@Wavelet/model.accuracy", "0" },       { "@Wavelet/model.fallbackFilenames", "" },
        { "@Wavelet/model.fallbackLaw", "same" }, { "@Wavelet/model.elasticity", "nonlinear" },
        { "@Wavelet/model.law", "neohookean" },   { "@Wavelet/model.tangent", "rest" },
        { "@Wavelet/model.threshold", "0.04" },   { "@Wavelet/model.spread", "0" },
    };
    pli_bench_scene(b, scene, "Wavelet", set, (int)(sizeof set / sizeof *set));
}

static void run_liver(PliBench *b) { run_on_liver(b, "poked_liver"); }
static void run_liver_dragged(PliBench *b) { run_on_liver(b, "dragged_liver"); }

/// A host that counts what bodies hold.
typedef struct Counter {
    size_t now, most;
} Counter;

static void *count_alloc(size_t bytes, size_t align, void *user)
{
    const PliHost plain = pli_host_default();
    Counter *c = user;
    c->now += bytes;
    if (c->now > c->most) c->most = c->now;
    return plain.alloc(bytes, align, plain.user);
}

static void count_release(void *block, size_t bytes, void *user)
{
    const PliHost plain = pli_host_default();
    if (block) ((Counter *)user)->now -= bytes;
    plain.release(block, bytes, plain.user);
}

/// What 100 cells with two levels of detail hold, before the first step, and the most while they are set up.
static void run_memory(PliBench *b)
{
    PliWaveletDef d = wavelet_box_def(5, 5, 4, 0.1);
    Counter counter = { 0 };
    PliHost host = pli_host_default();
    PliError err = { 0 };
    host.alloc = count_alloc, host.release = count_release, host.user = &counter;
    d.levels = 2;
    PliBody *body = pli_wavelet_create(&host, &d, &err);
    if (!body) {
        pli_bench_broken(b, "%s", err.text);
        return;
    }
    const double functions = pli_wavelet_info(body).functions;
    pli_bench_report(b, "bytes_per_function", (double)counter.now / functions, "bytes");
    pli_bench_report(b, "setup_bytes_per_function", (double)counter.most / functions,
                     "bytes, at most while setting up");
    pli_bench_report(b, "functions", functions, "");
    // a step makes the factor of what is active; its arrays are the bench's own
    const size_t length = 3 * (size_t)pli_body_dof_count(body);
    double *x = calloc(2 * length, sizeof *x);
    if (x) {
        memcpy(x, pli_body_rest(body), length * sizeof *x);
        (void)pli_body_step(body, &(PliState){ .x = x, .v = x + length }, 0.01);
        pli_bench_report(b, "stepping_bytes_per_function", (double)counter.now / functions,
                         "bytes, after a step of level 0");
    }
    free(x);
    pli_body_destroy(body);
}

const PliBenchCase pli_bench_wavelet_cases[] = {
    { "wavelet.grab", "block of 5 x 5 x 2 cells, two levels, grabbed and held; quasi-linear", run_grab_quasi },
    { "wavelet.grab_nonlinear", "the same, StVK, first 0.2 s", run_grab_nonlinear },
    { "wavelet.drag", "what is asked of a drag: the grab, steps of 5 x 5 x 4 cells, and their set-up", run_drag },
    { "wavelet.liver", "the poked liver of scenes/compare against its reference of 13,086 nodes", run_liver },
    { "wavelet.liver_dragged", "the dragged liver of scenes/compare against its reference", run_liver_dragged },
    { "wavelet.base", "step of 5 x 5 x 4 cells, Catmull-Clark, quasi-linear", run_base_quasi },
    { "wavelet.base_nonlinear", "step of 5 x 5 x 4 cells, Catmull-Clark, StVK", run_base_nonlinear },
    { "wavelet.base_rest", "the same, linearised at rest", run_base_rest },
    { "wavelet.base_trilinear", "step of 5 x 5 x 4 cells, trilinear, StVK", run_base_trilinear },
    { "wavelet.overhead", "adaptivity's share of a step of 5 x 5 x 4 cells when nothing switches, two levels of detail",
      run_overhead },
    { "wavelet.memory", "what 100 cells with two levels of detail hold", run_memory },
    { "wavelet.setup", "100 cells with two levels of detail, sharp box", run_setup },
    { "wavelet.setup_smooth", "the same, smooth", run_setup_smooth },
    { 0 },
};
