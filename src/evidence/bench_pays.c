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

typedef struct Match {
    PliContest *contest;
    PliComparison *comparison; ///< NULL: it is broken, and was reported
} Match;

/// The scene that a case is named after, behind `prefix`; only the bodies `names`, and one more for each value of `sweep` (NULL: all, none).
static Match play(PliBench *b, const char *prefix, const char *names, const char *sweep)
{
    PliError err = { PLI_OK, "" };
    const PliHost host = pli_host_default();
    const PliSceneDef scene = pli_scene_default();
    PliCompareDef def = pli_compare_default();
    char name[128], path[2048], cache[1024];
    Match m = { NULL, NULL };
    snprintf(name, sizeof name, "compare/%s.scn", b->running + strlen(prefix));
    def.patience = 2.0;
    def.progress = show_progress;
    if (pli_cache_folder(cache, sizeof cache)) def.cache = cache; // gains do not depend on the reference's times
    if (pli_asset_path(name, path, sizeof path, &err) == PLI_OK)
        m.contest = pli_contest_load(&host, path, &scene, &err);
    bool ok = m.contest && (!names || pli_contest_choose(m.contest, names, &err) == PLI_OK);
    ok = ok && (!sweep || pli_contest_sweep(m.contest, sweep, &err) == PLI_OK);
    if (ok) m.comparison = pli_contest_compare(m.contest, &def, &err);
    if (!m.comparison) pli_bench_broken(b, "%s", err.text);
    return m;
}

static void end_match(Match *m)
{
    pli_comparison_destroy(m->comparison);
    pli_contest_destroy(m->contest);
}

static void run_pays(PliBench *b)
{
    Match m = play(b, "pays.", NULL, NULL);
    const PliComparison *c = m.comparison;
    for (int k = 0; c && k < c->count; ++k) report_body(b, c, &c->outcome[k]);
    if (c) {
        report_best(b, c, false);
        report_best(b, c, true);
    }
    end_match(&m);
}

/// Measured error over what was asked for, and cost; within a factor 2 both ways is wanted.
static void run_accuracy(PliBench *b)
{
    static const char *const SWEEP = "@TetLod/model.accuracy=1,5,10";
    Match m = play(b, "pays.accuracy.", "TetLod", SWEEP);
    const PliComparison *c = m.comparison;
    for (int k = 0; c && k < c->count; ++k) {
        const PliOutcome *o = &c->outcome[k];
        const char *value = strrchr(o->name, '=');
        char metric[64];
        double asked = 2.0; // as in the scene
        if (o->is_reference) continue;
        if (value) (void)sscanf(value + 1, "%lf", &asked);
        if (o->verdict != PLI_FINISHED) pli_bench_broken(b, "%s: %s", o->name, o->reason);
        snprintf(metric, sizeof metric, "error_at_%g", asked);
        pli_bench_report(b, metric, 100.0 * o->error_rms / asked, "x of what was asked for");
        snprintf(metric, sizeof metric, "cost_at_%g", asked);
        pli_bench_report(b, metric, o->total_ms / c->steps, "ms/step");
    }
    end_match(&m);
}

/// A body with an accuracy against the plain uniform body of the level that it stays at: what looking at the error costs.
static void run_overhead(PliBench *b)
{
    static const char *const SWEEP = "@TetLod/model.maxActive=512"; // the nodes of Uniform4: it starts there, and stays
    Match m = play(b, "pays.overhead.", "TetLod,Uniform4", SWEEP);
    const PliComparison *c = m.comparison;
    const PliOutcome *adaptive = NULL, *plain = NULL;
    for (int k = 0; c && k < c->count; ++k) {
        if (strchr(c->outcome[k].name, '=')) adaptive = &c->outcome[k];
        if (strcmp(c->outcome[k].name, "Uniform4") == 0) plain = &c->outcome[k];
    }
    if (c && (!adaptive || !plain || adaptive->dofs_min != plain->dofs_mean || adaptive->dofs_max != plain->dofs_mean))
        pli_bench_broken(b, "the body is not of the level of Uniform4 all the time");
    else if (c)
        pli_bench_report(b, "overhead", adaptive->total_ms / plain->total_ms, "x of the uniform body");
    end_match(&m);
}

#define CASE(scene)                                                                                                    \
    {                                                                                                                  \
        "pays." scene, "gain of every scheme over the uniform bodies of scenes/compare/" scene ".scn", run_pays        \
    }
#define ACCURACY(scene)                                                                                                \
    {                                                                                                                  \
        "pays.accuracy." scene, "error over accuracy of tetlod, asked for 1, 2, 5 and 10 %, in " scene ".scn",         \
            run_accuracy                                                                                               \
    }
#define OVERHEAD(scene)                                                                                                \
    {                                                                                                                  \
        "pays.overhead." scene, "tetlod with an accuracy against fem of the level it stays at, in " scene ".scn",      \
            run_overhead                                                                                               \
    }
const PliBenchCase pli_bench_pays_cases[] = {
    CASE("poked_liver"),        CASE("dragged_liver"),    CASE("twisting_bar"),     CASE("squeezed_box"),
    CASE("cantilever"),         CASE("free_vibration"),   CASE("dropped_sphere"),   CASE("released_box"),
    CASE("dented_pad"),         CASE("loaded_bridge"),    CASE("struck_liver"),     CASE("pinched_bar"),
    CASE("tumbling_box"),       CASE("pressed_ball"),     ACCURACY("poked_liver"),  ACCURACY("dragged_liver"),
    ACCURACY("twisting_bar"),   ACCURACY("squeezed_box"), ACCURACY("cantilever"),   ACCURACY("free_vibration"),
    ACCURACY("dropped_sphere"), ACCURACY("released_box"), ACCURACY("dented_pad"),   ACCURACY("loaded_bridge"),
    ACCURACY("struck_liver"),   OVERHEAD("squeezed_box"), OVERHEAD("released_box"), { 0 },
};
