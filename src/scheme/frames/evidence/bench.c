/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Adaptive frames against the same frames all active, step by step in turns so that a busy machine slows both alike. The full
// model uses the block-sparse factor or preconditioned iterations, whichever is faster on states spread over the run. (A dense
// factor is the block-sparse one with no empty tile: it cannot be faster.)
// The same course is run up to REPEATS times (twice where that takes more than ENOUGH_MS), begun by the one and by the other model in turns; as every run does the same, the time of a
// step is the least of them, and what differs between the runs is reported as the spread.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fold.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/timer.h"
#include "evidence/assets.h"
#include "evidence/bench.h"
#include "host/components/bodies.h"
#include "host/graph/simulation.h"
#include "output/progress.h"
#include <pliant/frames.h>

enum {
    RIVAL_STEPS = 6, ///< at which the other solver is timed on the same state
    REPEATS = 5,
    STEPS_MAX = 1000
};
static const double ENOUGH_MS = 6e4;

/// Sums over the steps of a run, or over its quiet part.
typedef struct Sums {
    double full_ms, adaptive_ms, own_ms, active, samples, rms, rms_last;
    double moving_full_ms, moving_adaptive_ms; ///< while more frames are active than at rest
    double awake_full_ms;                      ///< of a full model with a sleep test
    double centre_last;                        ///< distance of the mean points
    double nudged, nudged_last;                ///< rms of the full run from the one that began a little elsewhere
    int counted, rest, compared;
    PliIndex most;
} Sums;

/// A scene and its course.
typedef struct Course {
    const char *name; ///< scenes/frames/bench_NAME.scn
    int steps;
    PliIndex least;           ///< frames that are active at rest
    bool collides;            ///< pieces meet, and a small difference grows
    int quiet_from, quiet_to; ///< steps that are reported apart; 0, 0: none
    void (*before)(PliScene *scene, const PliSceneBody *body, int k, int steps); ///< what a hand does; NULL: nothing
} Course;

/// One body in its own copy of the scene.
typedef struct Run {
    PliScene *scene;
    PliSceneBody at;
    const Course *course;
    PliIndex points; ///< of the skin
    double *skin;
    double size; ///< m, of the body at rest
    double slow; ///< s, for which it has been slow
} Run;

/// What one step of the course takes and shows.
typedef struct Step {
    double full_ms, adaptive_ms, own_ms;
    PliIndex active, samples;
    bool asleep; ///< a full model with a sleep test would not be stepped
} Step;

typedef struct Pair {
    bool done;
    Sums all, quiet;
    double least_moving, most_moving; ///< moving_speedup of single runs of the course
    Step step[STEPS_MAX];
    double rival; ///< time of iterations over that of the factor, on the same steps
    PliIndex frames, samples;
} Pair;

// ---- the courses ----------------------------------------------------------------------------------------------------------------

static void weight_goes(PliScene *scene, const PliSceneBody *body, int k, int steps)
{
    static const double none[3] = { 0.0, 0.0, 0.0 };
    (void)scene;
    if (k == steps / 2) pli_body_set_gravity(body->body, none);
}

/// The same force on every loaded point.
static void set_load(PliScene *scene, double x, double y)
{
    static const char path[] = "Body/ends/load";
    PliObject *load = NULL;
    PliNode *node = NULL;
    const double force[3] = { x, y, 0.0 };
    if (pli_scene_follow(scene->root, NULL, path, sizeof path - 1, &load, &node) && load)
        (void)pli_set_reals(load, "forces", force, 3);
}

static void weights_go(PliScene *scene, const PliSceneBody *body, int k, int steps)
{
    (void)body;
    if (k == steps / 2) set_load(scene, 0.0, 0.0);
}

static void hand_is_pulled(PliScene *scene, const PliSceneBody *body, int k, int steps)
{
    (void)body, (void)steps;
    if (k == 10) set_load(scene, 6.0, 10.0);
    if (k == 0 || k == 20) set_load(scene, 0.0, 0.0);
}

static const Course cantilever = { "cantilever", 740, 1, false, 0, 0, weight_goes };
static const Course branches = { "branches", 500, 1, false, 0, 0, weights_go };
static const Course mushrooms = { "mushrooms", 200, 13, false, 0, 0, NULL };
static const Course single = { "single", 900, 1, false, 0, 0, hand_is_pulled };
static const Course salad = { "salad", 600, 1, true, 0, 0, NULL };
static const Course stack = { "stack", 700, 1, true, 350, 550, NULL };

static void run_close(Run *run)
{
    const PliHost host = pli_host_default();
    PLI_FREE(&host, run->skin, 3 * (size_t)run->points);
    pli_scene_destroy(run->scene);
}

static bool run_open(Run *run, const Course *course, const PliOverride *set, int count, PliError *err)
{
    const PliHost host = pli_host_default();
    char name[64], path[2048];
    PliSceneDef def = pli_scene_default();
    PliStatus status = PLI_OK;
    *run = (Run){ .course = course };
    def.overrides = set, def.override_count = count;
    snprintf(name, sizeof name, "frames/bench_%s.scn", course->name);
    if (pli_asset_path(name, path, sizeof path, err) != PLI_OK) return false;
    run->scene = pli_scene_load(&host, path, &def, &status);
    if (!run->scene || status != PLI_OK || pli_scene_bodies(run->scene, &run->at, 1) != 1) {
        const PliFindings *found = run->scene ? &run->scene->report : NULL;
        pli_refuse(err, status ? status : PLI_BAD_FILE, "%s: %s", name,
                   found && found->count ? found->finding[found->count - 1].text : "it has not one body");
        run_close(run);
        return false;
    }
    run->points = pli_body_skin_count(run->at.body);
    run->skin = PLI_NEW(&host, 3 * (size_t)run->points, double);
    if (run->skin && pli_scene_start(run->scene, err) == PLI_OK) return true;
    if (!run->skin) pli_refuse(err, PLI_OUT_OF_MEMORY, "%s: no memory for its skin", name);
    run_close(run);
    return false;
}

static bool run_step(Run *run, int k)
{
    PliError err = { 0 };
    if (run->course->before) run->course->before(run->scene, &run->at, k, run->course->steps);
    return pli_scene_step(run->scene, &err) == PLI_OK;
}

// ---- measuring ------------------------------------------------------------------------------------------------------------------

// Root mean square distance between the skins of two runs; *largest grows to the largest displacement of the first, *centre is the
// distance of their mean points. `rest` is the skin of both at rest.
static double difference(const Run *a, const Run *b, const double *rest, double *largest, double *centre)
{
    double sum = 0.0, mean[3] = { 0.0, 0.0, 0.0 };
    pli_body_skin_positions(a->at.body, a->at.x, a->skin);
    pli_body_skin_positions(b->at.body, b->at.x, b->skin);
    for (size_t i = 0; i < a->points; ++i) {
        const double *p = a->skin + 3 * i, *q = b->skin + 3 * i, *r = rest + 3 * i;
        double moved = 0.0;
        for (int c = 0; c < 3; ++c)
            sum += (p[c] - q[c]) * (p[c] - q[c]), moved += (p[c] - r[c]) * (p[c] - r[c]),
                mean[c] += (p[c] - q[c]) / a->points;
        *largest = pli_max(*largest, sqrt(moved));
    }
    *centre = sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
    return sqrt(sum / a->points);
}

// The sleep test of a body as a whole, as rigid-body programs have it: slower than a thousandth of its size per second, in the mean,
// for half a second. It costs nothing here, and wakes when it should.
static bool is_asleep(Run *full)
{
    const PliEnergy e = pli_body_energy(full->at.body, full->at.x, full->at.v);
    const double limit = 1e-3 * full->size;
    full->slow = 2.0 * e.kinetic < limit * limit * e.mass ? full->slow + full->scene->dt : 0.0;
    return full->slow > 0.5;
}

static double size_of(const double *skin, PliIndex points)
{
    double square = 0.0;
    for (int c = 0; c < 3; ++c) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < points; ++i) low = pli_min(low, skin[3 * i + c]), high = pli_max(high, skin[3 * i + c]);
        square += (high - low) * (high - low);
    }
    return sqrt(square);
}

static void count_step(Sums *s, const Course *course, const Step *step)
{
    const bool rests = step->active <= course->least;
    s->full_ms += step->full_ms, s->adaptive_ms += step->adaptive_ms;
    if (!step->asleep) s->awake_full_ms += step->full_ms;
    if (!rests) s->moving_full_ms += step->full_ms, s->moving_adaptive_ms += step->adaptive_ms;
    s->own_ms += step->own_ms;
    s->active += step->active, s->samples += step->samples;
    s->most = step->active > s->most ? step->active : s->most;
    s->rest += rests;
    s->counted++;
}

// A millionth of the body's size to and fro: what becomes of it is what no model can be blamed for.
static void nudge(Run *run)
{
    uint64_t seed = 1;
    const size_t dofs = pli_body_dof_count(run->at.body);
    double low = INFINITY, high = -INFINITY, *x = run->at.x;
    for (size_t i = 0; i < dofs; i += 4) low = pli_min(low, x[3 * (i + 3)]), high = pli_max(high, x[3 * (i + 3)]);
    for (size_t i = 0; i < dofs; i += 4) // origins of the frames
        for (int c = 0; c < 3; ++c)
            x[3 * (i + 3) + (size_t)c] += 1e-6 * (high - low) * (2.0 * pli_random_unit(&seed) - 1.0);
}

// One step of `to` from where `from` is now, and its time in ms; else only what the hand does.
static double step_or_script(Run *to, const Run *from, int k, bool step)
{
    if (!step) {
        if (to->course->before) to->course->before(to->scene, &to->at, k, to->course->steps);
        return 0.0;
    }
    const size_t bytes = 3 * (size_t)pli_body_dof_count(from->at.body) * sizeof(double);
    memcpy(to->at.x, from->at.x, bytes);
    memcpy(to->at.v, from->at.v, bytes);
    to->scene->time = from->scene->time;
    const double start = pli_cpu_ms();
    (void)run_step(to, k);
    return pli_cpu_ms() - start;
}

/// One step of a run, and its time in ms.
static bool time_step(Run *run, int k, double *ms)
{
    const double start = pli_cpu_ms();
    const bool ok = run_step(run, k);
    *ms = pli_cpu_ms() - start;
    return ok;
}

/// Another run of the same course: the least times count.
static void keep_least(Step *step, Run *full, const Run *adaptive, double full_ms, double adaptive_ms, bool first)
{
    const PliFramesInfo info = pli_frames_info(adaptive->at.body);
    const double own = pli_body_stats(adaptive->at.body).adapt_ms;
    if (first) *step = (Step){ full_ms, adaptive_ms, own, info.active, info.samples, is_asleep(full) };
    step->full_ms = pli_min(step->full_ms, full_ms);
    step->adaptive_ms = pli_min(step->adaptive_ms, adaptive_ms);
    step->own_ms = pli_min(step->own_ms, own);
}

/// How far the adaptive and the nudged run are from the full one.
static void compare_runs(Pair *pair, Run run[4], const double *rest, bool quiet, bool nudged, double *largest)
{
    double centre, ignored;
    const double rms = difference(&run[0], &run[2], rest, largest, &centre),
                 away = nudged ? difference(&run[0], &run[3], rest, largest, &ignored) : 0.0;
    for (int part = 0; part < (quiet ? 2 : 1); ++part) {
        Sums *s = part ? &pair->quiet : &pair->all;
        s->rms += rms, s->rms_last = rms, s->centre_last = centre, s->compared++;
        s->nudged += away, s->nudged_last = away;
    }
}

/// What the steps of all runs came to.
static void sum_up(Pair *pair, const Course *course, double largest)
{
    for (int k = 0; k < course->steps; ++k) {
        count_step(&pair->all, course, &pair->step[k]);
        if (k >= course->quiet_from && k < course->quiet_to) count_step(&pair->quiet, course, &pair->step[k]);
    }
    for (int part = 0; part < 2; ++part) {
        Sums *s = part ? &pair->quiet : &pair->all;
        if (pair->rival < 1.0) // the faster one counts
            s->full_ms *= pair->rival, s->moving_full_ms *= pair->rival, s->awake_full_ms *= pair->rival;
        s->rms *= s->compared ? 100.0 / largest / s->compared : 0.0;
        s->nudged *= s->compared ? 100.0 / largest / s->compared : 0.0;
        s->rms_last *= 100.0 / largest, s->centre_last *= 100.0 / largest, s->nudged_last *= 100.0 / largest;
    }
}

/// The course once. The first time the other solver is timed and runs are compared as well.
static bool run_once(PliBench *b, const Course *course, Pair *pair, int repeat, double *largest)
{
    PliError err = { 0 };
    Run run[4]; // full by a factor, the same by iterations, adaptive, full and nudged
    static const PliOverride set[4][2] = {
        { { "@Body/model.adapt", "0" }, { "@Body/model.linearSolver", "ldl" } },
        { { "@Body/model.adapt", "0" }, { "@Body/model.linearSolver", "cg" } },
        { { "@Body/model.adapt", "1" }, { "@Body/model.linearSolver", "auto" } },
        { { "@Body/model.adapt", "0" }, { "@Body/model.linearSolver", "ldl" } },
    };
    const PliHost host = pli_host_default();
    const bool first = repeat == 0;
    const int runs = course->collides && first ? 4 : 3;
    int open = 0;
    while (open < runs && run_open(&run[open], course, set[open], 2, &err)) ++open;
    if (open < runs) pli_bench_broken(b, "%s", err.text);
    const size_t coordinates = open ? 3 * (size_t)run[0].points : 0;
    double *rest = PLI_NEW(&host, coordinates, double);
    if (open == runs && rest) {
        pli_body_skin_positions(run[0].at.body, pli_body_rest(run[0].at.body), rest);
        run[0].size = size_of(rest, run[0].points);
    }
    if (open == 4) nudge(&run[3]);
    double factor = 0.0, iterations = 0.0, moving[2] = { 0.0, 0.0 }, ms[2] = { 0.0, 0.0 };
    bool ok = open == runs && rest;
    for (int k = 0; k < course->steps && ok; ++k) {
        pli_progress(repeat * course->steps + k, REPEATS * course->steps, course->name);
        const bool rival = first && k % (course->steps / RIVAL_STEPS) == course->steps / RIVAL_STEPS / 8;
        const double other = step_or_script(&run[1], &run[0], k, rival);
        for (int n = 0; n < 2 && ok; ++n) { // in turns
            const int which = (n + repeat) % 2;
            ok = time_step(&run[2 * which], k, &ms[which]);
        }
        if (rival) factor += ms[0], iterations += other;
        keep_least(&pair->step[k], &run[0], &run[2], ms[0], ms[1], first);
        if (pair->step[k].active > course->least) moving[0] += ms[0], moving[1] += ms[1];
        if (runs == 4) ok = ok && run_step(&run[3], k);
        if (first && k % 5 == 4)
            compare_runs(pair, run, rest, k >= course->quiet_from && k < course->quiet_to, runs == 4, largest);
    }
    if (open == runs && !ok) pli_bench_broken(b, "a step was not finite");
    if (first) pair->rival = factor > 0.0 ? iterations / factor : INFINITY;
    if (first && ok)
        pair->frames = pli_frames_count(run[0].at.body), pair->samples = pli_frames_info(run[0].at.body).samples;
    const double speedup = moving[0] / moving[1] * pli_min(1.0, pair->rival);
    pair->least_moving = first ? speedup : pli_min(pair->least_moving, speedup);
    pair->most_moving = first ? speedup : pli_max(pair->most_moving, speedup);
    while (open > 0) run_close(&run[--open]);
    PLI_FREE(&host, rest, coordinates);
    return ok;
}

static bool run_pair(PliBench *b, const Course *course, Pair *pair)
{
    double largest = 0.0;
    const double start = pli_cpu_ms();
    for (int repeat = 0; repeat < REPEATS && (repeat < 2 || pli_cpu_ms() - start < ENOUGH_MS); ++repeat)
        if (!run_once(b, course, pair, repeat, &largest)) return false;
    sum_up(pair, course, largest);
    pair->done = true;
    return true;
}

static void pair(PliBench *b, const Course *course, bool rest_only)
{
    static Pair of_stack, own; // two cases look at the same run
    Pair *p = course == &stack ? &of_stack : &own;
    own = (Pair){ 0 };
    if (!p->done && !run_pair(b, course, p)) return;
    const Sums *s = rest_only ? &p->quiet : &p->all;
    pli_bench_report(b, "speedup", s->full_ms / s->adaptive_ms, "");
    if (s->rest < s->counted)
        pli_bench_report(b, "moving_speedup", s->moving_full_ms / s->moving_adaptive_ms, "steps not at rest");
    if (!rest_only && s->rest < s->counted) {
        pli_bench_report(b, "moving_least", p->least_moving, "the same of single runs, the lowest");
        pli_bench_report(b, "moving_most", p->most_moving, "and the highest");
    }
    pli_bench_report(b, "over_sleeping", s->awake_full_ms / s->adaptive_ms, "full model with a sleep test");
    pli_bench_report(b, "rms_mean", s->rms, "% of the largest displacement");
    pli_bench_report(b, "rms_end", s->rms_last, "% of the largest displacement");
    if (course->collides) {
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

static void run_cantilever(PliBench *b) { pair(b, &cantilever, false); }
static void run_branches(PliBench *b) { pair(b, &branches, false); }
static void run_mushrooms(PliBench *b) { pair(b, &mushrooms, false); }
static void run_salad(PliBench *b) { pair(b, &salad, false); }
static void run_single(PliBench *b) { pair(b, &single, false); }
static void run_stack(PliBench *b) { pair(b, &stack, false); }
static void run_stack_rest(PliBench *b) { pair(b, &stack, true); }

// Adaptivity's own cost where everything stays active: what one pays for nothing.
static void run_overhead(PliBench *b)
{
    enum { STEPS = 40, FIRST = 10 };
    PliError err = { 0 };
    static const PliOverride set = { "@Body/model.threshold", "1e-15" };
    static const double weight[3] = { 0.0, -9.81, 0.0 };
    Run run;
    if (!run_open(&run, &single, &set, 1, &err)) {
        pli_bench_broken(b, "%s", err.text);
        return;
    }
    pli_body_set_gravity(run.at.body, weight);
    double own = 0.0, total = 0.0;
    for (int k = 0; k < STEPS; ++k) {
        const double start = pli_cpu_ms();
        if (!run_step(&run, k)) {
            pli_bench_broken(b, "a step was not finite");
            break;
        }
        if (k < FIRST) continue; // until all are active
        own += pli_body_stats(run.at.body).adapt_ms;
        total += pli_cpu_ms() - start;
    }
    pli_bench_report(b, "percent", 100.0 * own / total, "% of the step");
    pli_bench_report(b, "active", pli_frames_info(run.at.body).active, "frames");
    pli_bench_report(b, "step", total / (STEPS - FIRST), "ms");
    run_close(&run);
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
