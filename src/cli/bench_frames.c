/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Adaptive frames against the same frames all active, step by step in turns so that a busy machine slows both alike. The full
// model uses whichever of the dense factor and preconditioned iterations is faster on its first steps.
#include <math.h>
#include <stdio.h>

#include "base/timer.h"
#include "cli/bench.h"
#include "cli/frames_scenes.h"

static double time_solver(PliFrameScene *scene, PliLinearSolver solver, int steps)
{
    PliFrameRun run;
    PliError err = { 0 };
    if (!pli_frame_run_open(&run, scene, false, solver, &err)) return INFINITY;
    double best = INFINITY;
    for (int k = 0; k < steps; ++k) {
        const double start = pli_cpu_ms();
        if (!pli_frame_run_step(&run, k)) break;
        best = fmin(best, pli_cpu_ms() - start);
    }
    pli_frame_run_close(&run);
    return best;
}

static void pair(PliBench *b, const char *name, bool rest_only)
{
    PliError err = { 0 };
    PliFrameScene *scene = pli_frame_scene(name, &err);
    if (!scene) {
        pli_bench_broken(b, "%s", err.text);
        return;
    }
    // 3 unknowns x 4 coefficients: above 4200 there is no dense factor, and a sparse one of such matrices is hopeless
    const bool small = 12 * scene->def.frame_count <= 4200;
    const double dense = small ? time_solver(scene, PLI_SOLVE_LDL, 3) : INFINITY, cg = time_solver(scene, PLI_SOLVE_CG, 3);
    const PliLinearSolver solver = dense <= cg ? PLI_SOLVE_LDL : PLI_SOLVE_CG;
    PliFrameRun full, adaptive;
    bool ok = pli_frame_run_open(&full, scene, false, solver, &err);
    if (!ok) {
        pli_bench_broken(b, "%s", err.text);
        pli_frame_scene_destroy(scene);
        return;
    }
    if (!pli_frame_run_open(&adaptive, scene, true, PLI_SOLVE_AUTO, &err)) {
        pli_bench_broken(b, "%s", err.text);
        pli_frame_run_close(&full);
        pli_frame_scene_destroy(scene);
        return;
    }
    double full_ms = 0.0, adaptive_ms = 0.0, own = 0.0, active = 0.0, samples = 0.0;
    int counted = 0, rest = 0;
    PliIndex most = 0;
    for (int k = 0; k < scene->steps && ok; ++k) {
        double start = pli_cpu_ms();
        ok = pli_frame_run_step(&full, k);
        const double middle = pli_cpu_ms();
        ok = ok && pli_frame_run_step(&adaptive, k);
        const double end = pli_cpu_ms();
        if (rest_only && (k < scene->quiet_from || k >= scene->quiet_to)) continue;
        const PliFramesInfo info = pli_frames_info(adaptive.body);
        full_ms += middle - start, adaptive_ms += end - middle;
        own += pli_body_stats(adaptive.body).adapt_ms;
        active += info.active, samples += info.samples;
        most = info.active > most ? info.active : most;
        const PliIndex least = scene->clamped > 1 ? scene->clamped : 1;
        rest += info.active <= least;
        counted++;
    }
    if (!ok) {
        pli_bench_broken(b, "a step was not finite");
    } else {
        printf("  %s: full model solved by %s\n", name, solver == PLI_SOLVE_LDL ? "a dense factor" : "conjugate gradients with blocks of frames");
        pli_bench_report(b, "speedup", full_ms / adaptive_ms, "");
        pli_bench_report(b, "full", full_ms / counted, "ms/step");
        pli_bench_report(b, "adaptive", adaptive_ms / counted, "ms/step");
        pli_bench_report(b, "adaptivity", 100.0 * own / adaptive_ms, "%");
        pli_bench_report(b, "frames", pli_frames_count(full.body), "");
        pli_bench_report(b, "active_mean", active / counted, "");
        pli_bench_report(b, "active_max", most, "");
        pli_bench_report(b, "samples_mean", samples / counted, "");
        pli_bench_report(b, "samples_full", pli_frames_info(full.body).samples, "");
        pli_bench_report(b, "at_rest", 100.0 * rest / counted, "%");
    }
    pli_frame_run_close(&full);
    pli_frame_run_close(&adaptive);
    pli_frame_scene_destroy(scene);
}

static void run_cantilever(PliBench *b) { pair(b, "cantilever", false); }
static void run_branches(PliBench *b) { pair(b, "branches", false); }
static void run_mushrooms(PliBench *b) { pair(b, "mushrooms", false); }
static void run_salad(PliBench *b) { pair(b, "salad", false); }
static void run_single(PliBench *b) { pair(b, "single", false); }
static void run_stack(PliBench *b) { pair(b, "stack", false); }
static void run_stack_rest(PliBench *b) { pair(b, "stack", true); }

// Adaptivity's own cost where everything stays active: what one pays for nothing.
static void run_overhead(PliBench *b)
{
    PliError err = { 0 };
    PliFrameScene *scene = pli_frame_scene("single", &err);
    PliFrameRun run;
    if (!scene || !pli_frame_run_open(&run, scene, true, PLI_SOLVE_AUTO, &err)) {
        pli_bench_broken(b, "%s", err.text);
        pli_frame_scene_destroy(scene);
        return;
    }
    double own = 0.0, total = 0.0;
    for (int k = 0; k < 120; ++k) {
        const double start = pli_cpu_ms();
        if (!pli_frame_run_step(&run, k)) break;
        own += pli_body_stats(run.body).adapt_ms;
        total += pli_cpu_ms() - start;
    }
    pli_bench_report(b, "percent", 100.0 * own / total, "%");
    pli_bench_report(b, "step", total / 120.0, "ms");
    pli_frame_run_close(&run);
    pli_frame_scene_destroy(scene);
}

static void run_setup(PliBench *b)
{
    const PliHost host = pli_host_default();
    const PliBoxDef box = { { 0, 0, 0 }, { 1, 1, 1 }, { 4, 4, 4 }, 0.0, 1 };
    PliMesh *mesh = pli_mesh_box(&host, &box, NULL);
    PliFramesDef def = pli_frames_default();
    PliError err = { 0 };
    def.mesh = mesh;
    def.resolution = 128;
    def.frame_count = 250;
    const double start = pli_cpu_ms();
    PliBody *body = mesh ? pli_frames_create(&host, &def, &err) : NULL;
    const double end = pli_cpu_ms();
    if (body) pli_bench_report(b, "seconds", 1e-3 * (end - start), "s");
    else pli_bench_broken(b, "%s", err.text);
    pli_body_destroy(body);
    pli_mesh_destroy(mesh);
}

const PliBenchCase pli_bench_frames_cases[] = {
    { "frames.cantilever", "clamped beam of 15 frames, gravity on and off", run_cantilever },
    { "frames.branches", "tree of 36 frames, weights hung on its branches and taken off", run_branches },
    { "frames.mushrooms", "13 mushrooms, 156 frames under one root, a sphere treads on some", run_mushrooms },
    { "frames.single", "one creature of 250 frames falls and comes to rest", run_single },
    { "frames.salad", "18 creatures of 30 frames under one root fall into a box", run_salad },
    { "frames.stack", "eight balls, 50 frames, into a glass that is taken away", run_stack },
    { "frames.stack_rest", "the same while they lie in the glass", run_stack_rest },
    { "frames.overhead", "adaptivity's share of a step, falling creature", run_overhead },
    { "frames.setup", "128^3 solid voxels, 250 frames, one core", run_setup },
    { 0 },
};
