/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Adaptive frames against the same frames all active, step by step in turns so that a busy machine slows both alike. The full
// model uses the block-sparse factor or preconditioned iterations, whichever is faster on states spread over the run. (A dense
// factor is the block-sparse one with no empty tile: it cannot be faster.)
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/fold.h"
#include "base/timer.h"
#include "evidence/bench.h"
#include "output/progress.h"
#include "scheme/frames/evidence/scenes.h"

enum { RIVAL_STEPS = 6 }; ///< at which the other solver is timed on the same state

/// Sums over the steps of a run, or over its quiet part.
typedef struct Sums {
    double full_ms, adaptive_ms, own_ms, active, samples, rms, rms_last;
    double centre_last;         ///< distance of the mean points
    double nudged, nudged_last; ///< rms of the full run from the one that began a little elsewhere
    int counted, rest, compared;
    PliIndex most;
} Sums;

typedef struct Pair {
    bool done;
    Sums all, quiet;
    double rival;  ///< time of iterations over that of the factor, on the same steps
    bool collides; ///< pieces meet, and a small difference grows
    PliIndex frames, samples;
} Pair;

static void skin_point(const PliFrameRun *run, const double *x, PliIndex i, double p[3])
{
    p[0] = p[1] = p[2] = 0.0;
    for (PliIndex k = run->row_first[i]; k < run->row_first[i + 1]; ++k)
        for (int c = 0; c < 3; ++c) p[c] += run->row_weight[k] * x[3 * (size_t)run->row_column[k] + (size_t)c];
}

// Root mean square distance between the skins of two runs; *largest grows to the largest displacement of the first, *centre is the
// distance of their mean points.
static double difference(const PliFrameRun *a, const PliFrameRun *b, double *largest, double *centre)
{
    double sum = 0.0, mean[3] = { 0.0, 0.0, 0.0 };
    const double *rest = pli_body_rest(a->body);
    for (PliIndex i = 0; i < a->points; ++i) {
        double p[3], q[3], r[3], moved = 0.0;
        skin_point(a, a->x, i, p);
        skin_point(b, b->x, i, q);
        skin_point(a, rest, i, r);
        for (int c = 0; c < 3; ++c)
            sum += (p[c] - q[c]) * (p[c] - q[c]), moved += (p[c] - r[c]) * (p[c] - r[c]),
                mean[c] += (p[c] - q[c]) / a->points;
        *largest = pli_max(*largest, sqrt(moved));
    }
    *centre = sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
    return sqrt(sum / a->points);
}

static void count_step(Sums *s, const PliFrameScene *scene, const PliFrameRun *adaptive, double full_ms,
                       double adaptive_ms)
{
    const PliFramesInfo info = pli_frames_info(adaptive->body);
    const PliIndex least = scene->clamped > 1 ? scene->clamped : 1;
    s->full_ms += full_ms, s->adaptive_ms += adaptive_ms;
    s->own_ms += pli_body_stats(adaptive->body).adapt_ms;
    s->active += info.active, s->samples += info.samples;
    s->most = info.active > s->most ? info.active : s->most;
    s->rest += info.active <= least;
    s->counted++;
}

// A millionth of the body's size to and fro: what becomes of it is what no model can be blamed for.
static void nudge(PliFrameRun *run)
{
    uint64_t seed = 1;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < run->dofs; i += 4)
        low = pli_min(low, run->x[3 * (i + 3)]), high = pli_max(high, run->x[3 * (i + 3)]);
    for (size_t i = 0; i < run->dofs; i += 4) // origins of the frames
        for (int c = 0; c < 3; ++c)
            run->x[3 * (i + 3) + (size_t)c] += 1e-6 * (high - low) * (2.0 * pli_random_unit(&seed) - 1.0);
}

static bool run_pair(PliBench *b, PliFrameScene *scene, Pair *pair)
{
    PliError err = { 0 };
    PliFrameRun run[4]; // full by a factor, the same by iterations, adaptive, full and nudged
    const PliLinearSolver solver[4] = { PLI_SOLVE_LDL, PLI_SOLVE_CG, PLI_SOLVE_AUTO, PLI_SOLVE_LDL };
    pair->collides = scene->ball_radius > 0.0;
    const int runs = pair->collides ? 4 : 3;
    int open = 0;
    while (open < runs && pli_frame_run_open(&run[open], scene, open == 2, solver[open], &err)) ++open;
    if (open < runs) pli_bench_broken(b, "%s", err.text);
    if (open == 4) nudge(&run[3]);
    double factor = 0.0, iterations = 0.0, largest = 0.0;
    bool ok = open == runs;
    for (int k = 0; k < scene->steps && ok; ++k) {
        pli_progress(k, scene->steps, scene->name);
        const bool rival = k % (scene->steps / RIVAL_STEPS) == scene->steps / RIVAL_STEPS / 8;
        double start = pli_cpu_ms();
        if (rival) {
            memcpy(run[1].x, run[0].x, 3 * run[0].dofs * sizeof(double));
            memcpy(run[1].v, run[0].v, 3 * run[0].dofs * sizeof(double));
            start = pli_cpu_ms();
            (void)pli_frame_run_step(&run[1], k);
            iterations += pli_cpu_ms() - start;
        }
        start = pli_cpu_ms();
        ok = pli_frame_run_step(&run[0], k);
        const double middle = pli_cpu_ms();
        if (rival) factor += middle - start;
        ok = ok && pli_frame_run_step(&run[2], k);
        const double end = pli_cpu_ms();
        const bool quiet = k >= scene->quiet_from && k < scene->quiet_to;
        count_step(&pair->all, scene, &run[2], middle - start, end - middle);
        if (quiet) count_step(&pair->quiet, scene, &run[2], middle - start, end - middle);
        if (runs == 4) ok = ok && pli_frame_run_step(&run[3], k);
        if (k % 5 != 4) continue;
        double centre, ignored;
        const double rms = difference(&run[0], &run[2], &largest, &centre),
                     nudged = runs == 4 ? difference(&run[0], &run[3], &largest, &ignored) : 0.0;
        for (int part = 0; part < (quiet ? 2 : 1); ++part) {
            Sums *s = part ? &pair->quiet : &pair->all;
            s->rms += rms, s->rms_last = rms, s->centre_last = centre, s->compared++;
            s->nudged += nudged, s->nudged_last = nudged;
        }
    }
    if (open == runs && !ok) pli_bench_broken(b, "a step was not finite");
    pair->rival = factor > 0.0 ? iterations / factor : INFINITY;
    for (int part = 0; part < 2 && ok; ++part) {
        Sums *s = part ? &pair->quiet : &pair->all;
        if (pair->rival < 1.0) s->full_ms *= pair->rival; // the faster one counts
        s->rms *= s->compared ? 100.0 / largest / s->compared : 0.0;
        s->nudged *= s->compared ? 100.0 / largest / s->compared : 0.0;
        s->rms_last *= 100.0 / largest, s->centre_last *= 100.0 / largest, s->nudged_last *= 100.0 / largest;
    }
    if (ok) pair->frames = pli_frames_count(run[0].body), pair->samples = pli_frames_info(run[0].body).samples;
    while (open > 0) pli_frame_run_close(&run[--open]);
    pair->done = ok;
    return ok;
}

static void pair(PliBench *b, const char *name, bool rest_only)
{
    static Pair stack; // two cases look at the same run
    Pair own = { 0 }, *p = strcmp(name, "stack") == 0 ? &stack : &own;
    if (!p->done) {
        PliError err = { 0 };
        PliFrameScene *scene = pli_frame_scene(name, &err);
        if (!scene) pli_bench_broken(b, "%s", err.text);
        const bool good = scene && run_pair(b, scene, p);
        pli_frame_scene_destroy(scene);
        if (!good) return;
    }
    const Sums *s = rest_only ? &p->quiet : &p->all;
    pli_bench_report(b, "speedup", s->full_ms / s->adaptive_ms, "");
    pli_bench_report(b, "rms_mean", s->rms, "% of the largest displacement");
    pli_bench_report(b, "rms_end", s->rms_last, "% of the largest displacement");
    if (p->collides) {
        pli_bench_report(b, "centre_end", s->centre_last, "% of it, of the mean point");
        pli_bench_report(b, "nudged_mean", s->nudged, "% of it, full model begun 1e-6 elsewhere");
        pli_bench_report(b, "nudged_end", s->nudged_last, "% of it, the same");
    }
    pli_bench_report(b, "active_mean", s->active / s->counted, "frames");
    pli_bench_report(b, "active_max", s->most, "frames");
    pli_bench_report(b, "frames", p->frames, "frames");
    pli_bench_report(b, "at_rest", 100.0 * s->rest / s->counted, "% of the steps");
    pli_bench_report(b, "full", s->full_ms / s->counted,
                     p->rival < 1.0 ? "ms/step, conjugate gradients" : "ms/step, block-sparse factor");
    pli_bench_report(b, "cg_over_factor", p->rival, "times");
    pli_bench_report(b, "adaptive", s->adaptive_ms / s->counted, "ms/step");
    pli_bench_report(b, "adaptivity", 100.0 * s->own_ms / s->adaptive_ms, "% of its step");
    pli_bench_report(b, "samples_mean", s->samples / s->counted, "");
    pli_bench_report(b, "samples_full", p->samples, "");
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
    enum { STEPS = 40, FIRST = 10 };
    PliError err = { 0 };
    PliFrameScene *scene = pli_frame_scene("single", &err);
    PliFrameRun run;
    if (scene) scene->def.base.criterion.threshold = 1e-15, scene->gravity[1] = -9.81;
    if (!scene || !pli_frame_run_open(&run, scene, true, PLI_SOLVE_AUTO, &err)) {
        pli_bench_broken(b, "%s", err.text);
        pli_frame_scene_destroy(scene);
        return;
    }
    double own = 0.0, total = 0.0;
    for (int k = 0; k < STEPS; ++k) {
        const double start = pli_cpu_ms();
        if (!pli_frame_run_step(&run, k)) break;
        if (k < FIRST) continue; // until all are active
        own += pli_body_stats(run.body).adapt_ms;
        total += pli_cpu_ms() - start;
    }
    pli_bench_report(b, "percent", 100.0 * own / total, "% of the step");
    pli_bench_report(b, "active", pli_frames_info(run.body).active, "frames");
    pli_bench_report(b, "step", total / (STEPS - FIRST), "ms");
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
    if (body)
        pli_bench_report(b, "seconds", 1e-3 * (end - start), "s");
    else
        pli_bench_broken(b, "%s", err.text);
    pli_body_destroy(body);
    pli_mesh_destroy(mesh);
}

const PliBenchCase pli_bench_frames_cases[] = {
    { "frames.cantilever", "clamped beam of 15 frames, gravity on and off", run_cantilever },
    { "frames.branches", "tree of 36 frames, weights hung on its branches and taken off", run_branches },
    { "frames.mushrooms", "13 mushrooms, 156 frames under one root, a sphere treads on some", run_mushrooms },
    { "frames.single", "one creature of 250 frames held at its hip, a hand pulled and let go", run_single },
    { "frames.salad", "18 creatures of 30 frames under one root fall into a box", run_salad },
    { "frames.stack", "eight balls, 50 frames, into a glass that is taken away", run_stack },
    { "frames.stack_rest", "the same while they lie in the glass", run_stack_rest },
    { "frames.overhead", "adaptivity's share of a step when all 250 frames stay active", run_overhead },
    { "frames.setup", "128^3 solid voxels, 250 frames, one core", run_setup },
    { 0 },
};
