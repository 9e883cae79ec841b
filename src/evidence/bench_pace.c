/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// How even the steps of each scheme are, on a scene of its own: the largest over the median one without a governor, and p99 and largest
// over the budget with one, which is given half of the mean step, alone and while two other processes keep both cores busy.
// Times are CPU times of a whole step of the host, tools and what it draws included.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/timer.h"
#include "evidence/assets.h"
#include "evidence/bench.h"
#include "host/components/bodies.h"
#include "host/graph/simulation.h"

enum { MOST_STEPS = 300, ROUNDS = 5, BUSY = 2, OFF = 14 };

typedef struct Pace {
    const char *scene, *model; ///< path of the body's component
    const char *off[OFF];      ///< nodes of other bodies
    int steps;
} Pace;

static const Pace tetlod = { .scene = "compare/poked_liver.scn",
                             .model = "@TetLod/model",
                             .off = { "Reference", "Uniform0", "Uniform1", "Uniform2", "Uniform3", "Uniform4", "Frames",
                                      "Wavelet", "Octree", "Springs", "Implicit1", "Implicit2", "Implicit3",
                                      "Implicit4" },
                             .steps = 150 };
static const Pace frames = { .scene = "frames/bench_mushrooms.scn", .model = "@Body/model", .steps = 200 };
static const Pace wavelet = {
    .scene = "wavelet/poked_block.scn", .model = "@Adaptive/model", .off = { "Full" }, .steps = 200
};
static const Pace octree = {
    .scene = "octree/pressed_box.scn", .model = "@Adaptive/model", .off = { "Fine" }, .steps = 150
};
static const Pace springs = { .scene = "springs/poked_liver.scn", .model = "@liver/model", .steps = 140 };

/// One run of the scene from its beginning, ms of every step. budget 0: no governor.
static bool run_once(PliBench *b, const Pace *p, double budget, double *ms)
{
    PliError err = { PLI_OK, "" };
    const PliHost host = pli_host_default();
    PliSceneDef def = pli_scene_default();
    PliOverride set[OFF + 1];
    char path[2048], number[32], name[OFF + 1][80];
    int count = 0;
    for (; count < OFF && p->off[count]; ++count) {
        snprintf(name[count], sizeof name[count], "@%s.activated", p->off[count]);
        set[count] = (PliOverride){ name[count], "0" };
    }
    snprintf(number, sizeof number, "%.17g", budget);
    snprintf(name[count], sizeof name[count], "%s.budget", p->model);
    if (budget > 0.0) set[count] = (PliOverride){ name[count], number }, ++count;
    def.overrides = set, def.override_count = count;
    PliStatus status = pli_asset_path(p->scene, path, sizeof path, &err);
    PliScene *scene = status == PLI_OK ? pli_scene_load(&host, path, &def, &status) : NULL;
    if (scene && status != PLI_OK) pli_scene_refuse(scene, status, &err);
    if (status == PLI_OK) status = pli_scene_start(scene, &err);
    for (int k = 0; k < p->steps && status == PLI_OK; ++k) {
        const double start = pli_cpu_ms();
        status = pli_scene_step(scene, &err);
        ms[k] = pli_cpu_ms() - start;
    }
    pli_scene_destroy(scene);
    if (status != PLI_OK) pli_bench_broken(b, "%s: %s", p->scene, err.text);
    return status == PLI_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// ---- without a governor ------------------------------------------------------------------------------------------------------

/// The same bits in every run, so the least time of each step is what it costs, and the rest is the machine's.
static bool measure(PliBench *b, const Pace *p, double *least)
{
    static double ms[MOST_STEPS];
    for (int k = 0; k < p->steps; ++k) least[k] = INFINITY;
    for (int r = 0; r < ROUNDS; ++r) {
        if (!run_once(b, p, 0.0, ms)) return false;
        for (int k = 0; k < p->steps; ++k) least[k] = fmin(least[k], ms[k]);
    }
    return true;
}

/// A step over the median of those around it: what jumps, where the work itself grows under a tool.
static double find_spike(const double *ms, int count, int *at)
{
    enum { AROUND = 10 };
    double largest = 0.0;
    for (int k = 0; k < count; ++k) {
        double near[2 * AROUND + 1];
        int n = 0;
        for (int j = k - AROUND; j <= k + AROUND; ++j)
            if (j >= 0 && j < count) near[n++] = ms[j];
        qsort(near, (size_t)n, sizeof *near, by_value);
        if (ms[k] / near[n / 2] > largest) largest = ms[k] / near[n / 2], *at = k;
    }
    return largest;
}

static void worst(PliBench *b, const Pace *p)
{
    double least[MOST_STEPS];
    if (!measure(b, p, least)) return;
    int at = 0, spike_at = 0;
    for (int k = 0; k < p->steps; ++k)
        if (least[k] > least[at]) at = k;
    const double largest = least[at], spike = find_spike(least, p->steps, &spike_at);
    qsort(least, (size_t)p->steps, sizeof *least, by_value);
    pli_bench_report(b, "max_over_median", largest / least[p->steps / 2], "least of five runs");
    pli_bench_report(b, "p99_over_median", least[p->steps * 99 / 100] / least[p->steps / 2], "");
    pli_bench_report(b, "median", least[p->steps / 2], "ms");
    pli_bench_report(b, "worst_step", at, "its number");
    pli_bench_report(b, "spike", spike, "a step over the median of the 21 around it");
    pli_bench_report(b, "spike_step", spike_at, "its number");
}

// ---- with one ----------------------------------------------------------------------------------------------------------------

/// A process that does nothing but read and write eight megabytes, so that caches are its own, too. It ends by itself after a while.
static pid_t start_busy(void)
{
    const pid_t child = fork();
    if (child != 0) return child;
    enum { COUNT = 1 << 20 };
    double *a = calloc(COUNT, sizeof *a);
    if (!a) _exit(1);
    alarm(900);
    for (size_t k = 0;; ++k) a[k * 7 % COUNT] += 1.0;
}

static void report_held(PliBench *b, const Pace *p, double budget, const char *suffix)
{
    static double ms[ROUNDS * MOST_STEPS];
    const int count = ROUNDS * p->steps;
    double mean = 0.0;
    char metric[64];
    for (int r = 0; r < ROUNDS; ++r)
        if (!run_once(b, p, budget, ms + r * p->steps)) return;
    for (int k = 0; k < count; ++k) mean += ms[k] / count;
    qsort(ms, (size_t)count, sizeof *ms, by_value);
    snprintf(metric, sizeof metric, "p99_over_budget%s", suffix);
    pli_bench_report(b, metric, ms[count * 99 / 100] / budget, "");
    snprintf(metric, sizeof metric, "max_over_budget%s", suffix);
    pli_bench_report(b, metric, ms[count - 1] / budget, "");
    snprintf(metric, sizeof metric, "mean_over_budget%s", suffix);
    pli_bench_report(b, metric, mean / budget, "");
}

static void governor(PliBench *b, const Pace *p)
{
    static double ms[MOST_STEPS];
    double mean = 0.0, floor = 0.0;
    for (int r = 0; r < 2; ++r) {
        if (!run_once(b, p, 0.0, ms)) return;
        for (int k = 0; k < p->steps; ++k) mean += 0.5 * ms[k] / p->steps;
    }
    if (!run_once(b, p, 1e-6, ms)) return; // what is left when nothing may be refined
    for (int k = 0; k < p->steps; ++k) floor += ms[k] / p->steps;
    const double budget = fmax(0.5 * mean, 1.5 * floor);
    pli_bench_report(b, "budget", budget, "ms");
    pli_bench_report(b, "coarsest_over_budget", floor / budget, "mean step when nothing may be refined");
    pli_bench_report(b, "budget_over_mean", budget / mean, "half, or 1.5 times the coarsest");
    report_held(b, p, budget, "");
    pid_t child[BUSY];
    for (int k = 0; k < BUSY; ++k) child[k] = start_busy();
    report_held(b, p, budget, "_busy");
    for (int k = 0; k < BUSY; ++k)
        if (child[k] > 0) kill(child[k], SIGKILL), waitpid(child[k], NULL, 0);
}

static void tetlod_worst(PliBench *b) { worst(b, &tetlod); }
#define PACE(name)                                                                                                     \
    static void name##_worst(PliBench *b) { worst(b, &name); }                                                         \
    static void name##_governor(PliBench *b) { governor(b, &name); }
PACE(frames)
PACE(wavelet)
PACE(octree)
PACE(springs)

#define CASES(name, what)                                                                                              \
    { #name ".worst", what ": largest step over the median one, no governor", name##_worst },                          \
    {                                                                                                                  \
#name ".governor", what ": steps over a budget of half the mean, alone and beside two busy processes",         \
            name##_governor                                                                                            \
    }
const PliBenchCase pli_bench_pace_cases[] = {
    { "tetlod.worst", "poked liver of scenes/compare: largest step over the median one, no governor", tetlod_worst },
    CASES(frames, "mushrooms and a sphere"),
    CASES(wavelet, "poked block"),
    CASES(octree, "pressed box"),
    CASES(springs, "poked liver of scenes/springs"),
    { 0 },
};
