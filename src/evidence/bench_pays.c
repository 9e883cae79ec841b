/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Does adaptivity pay? The comparison scenes as they are shipped, each body against the best uniform bodies of its scene.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/assets.h"
#include "evidence/bench.h"
#include "host/compare/family.h"
#include "host/compare/scene.h"
#include "output/progress.h"

static void show_progress(double part, const char *text, void *user)
{
    (void)user;
    pli_progress((int)(1000.0 * part), 1000, text);
}

/// A bound is told in the unit: "x, at most".
static void report_gain(PliBench *b, const char *scheme, const char *what, const PliRival *r)
{
    char metric[64], unit[32];
    const char *bound = pli_bound_name(r->cost_bound);
    if (!isfinite(r->gain)) return;
    snprintf(metric, sizeof metric, "%s_%s", scheme, what);
    snprintf(unit, sizeof unit, "x%s%s", bound ? ", " : "", bound ? bound : "");
    pli_bench_report(b, metric, r->gain, unit);
}

static void report_body(PliBench *b, const PliComparison *c, const PliOutcome *o)
{
    char metric[64];
    if (o->is_reference || o->uniform) return;
    if (o->verdict != PLI_FINISHED) {
        pli_bench_broken(b, "%s %s: %s", o->name, o->verdict == PLI_UNABLE ? "cannot do this scene" : "diverged",
                         o->reason);
        return;
    }
    report_gain(b, o->scheme, "gain", &o->rival);
    report_gain(b, o->scheme, "force_gain", &o->force_rival);
    const struct {
        const char *what, *unit;
        double value;
    } row[] = { { "error", "%", 100.0 * o->error_rms },
                { "force_error", "%", 100.0 * o->force_error },
                { "cost", "ms/step", o->total_ms / c->steps },
                { "worst_step", "x of the median",
                  o->step_ms.median > 0.0 ? o->step_ms.max / o->step_ms.median : NAN } };
    for (size_t k = 0; k < sizeof row / sizeof *row; ++k) {
        if (!isfinite(row[k].value)) continue;
        snprintf(metric, sizeof metric, "%s_%s", o->scheme, row[k].what);
        pli_bench_report(b, metric, row[k].value, row[k].unit);
    }
}

/// The largest gain that is more than a bound from above; `force`: at equal tool force.
static void report_best(PliBench *b, const PliComparison *c, bool force)
{
    double best = NAN;
    for (int k = 0; k < c->count; ++k) {
        const PliRival *r = force ? &c->outcome[k].force_rival : &c->outcome[k].rival;
        if (isfinite(r->gain) && r->cost_bound != PLI_AT_MOST && !(r->gain <= best)) best = r->gain;
    }
    if (isfinite(best)) pli_bench_report(b, force ? "best_force_gain" : "best_gain", best, "x");
}

static void run_pays(PliBench *b)
{
    PliError err = { PLI_OK, "" };
    const PliHost host = pli_host_default();
    const PliSceneDef scene = pli_scene_default();
    PliCompareDef def = pli_compare_default();
    char name[128], path[2048], cache[1024];
    PliContest *contest = NULL;
    PliComparison *c = NULL;
    snprintf(name, sizeof name, "compare/%s.scn", b->running + strlen("pays."));
    def.patience = 2.0;
    def.progress = show_progress;
    if (pli_cache_folder(cache, sizeof cache)) def.cache = cache; // gains do not depend on the reference's times
    if (pli_asset_path(name, path, sizeof path, &err) == PLI_OK) contest = pli_contest_load(&host, path, &scene, &err);
    if (contest) c = pli_contest_compare(contest, &def, &err);
    if (!c) pli_bench_broken(b, "%s", err.text);
    for (int k = 0; c && k < c->count; ++k) report_body(b, c, &c->outcome[k]);
    if (c) {
        report_best(b, c, false);
        report_best(b, c, true);
    }
    pli_comparison_destroy(c);
    pli_contest_destroy(contest);
}

#define CASE(scene)                                                                                                    \
    {                                                                                                                  \
        "pays." scene, "gain of every scheme over the uniform bodies of scenes/compare/" scene ".scn", run_pays        \
    }
const PliBenchCase pli_bench_pays_cases[] = {
    CASE("poked_liver"),    CASE("dragged_liver"),  CASE("twisting_bar"), CASE("squeezed_box"), CASE("cantilever"),
    CASE("free_vibration"), CASE("dropped_sphere"), CASE("released_box"), CASE("dented_pad"),   CASE("loaded_bridge"),
    CASE("struck_liver"),   CASE("pinched_bar"),    CASE("tumbling_box"), CASE("pressed_ball"), { 0 },
};
