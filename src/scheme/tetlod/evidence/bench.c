/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What levels of detail buy on a poked body, and what they cost. All times are CPU times of one thread.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "base/fold.h"
#include "base/vec.h"
#include "evidence/assets.h"
#include "evidence/bench.h"
#include "evidence/bench_scene.h"
#include "scheme/tetlod/evidence/rig.h"
#include "host/compare/scene.h"

static const double dt = 0.01;

// ---- the shipped comparison ------------------------------------------------------------------------------------------------------

static void run_poke(PliBench *b) { pli_bench_scene(b, "poked_liver", "tetlod"); }

// ---- the same, both implicit -------------------------------------------------------------------------------------------------------

/// Poked liver, reference and adaptive body with the same implicit solver to 1e-4. @return false: it could not be run
static bool poke_implicitly(PliBench *b, const char *solver, const char *young, PliOutcome *adaptive,
                            PliOutcome *reference)
{
    static const char *const attribute[] = { "integrator", "linearSolver", "tolerance",
                                             "iterations", "multirate",    "youngModulus" },
                             *const body[] = { "Reference", "TetLod" };
    enum { ATTRIBUTES = sizeof attribute / sizeof *attribute, BODIES = 2, SET = BODIES * ATTRIBUTES + 1 };
    const char *const value[ATTRIBUTES] = { "implicit", solver, "1e-4", "500", "0", young };
    char name[BODIES * ATTRIBUTES][48], path[2048];
    PliOverride set[SET];
    for (int k = 0; k < BODIES * ATTRIBUTES; ++k) {
        snprintf(name[k], sizeof name[k], "@%s/model.%s", body[k / ATTRIBUTES], attribute[k % ATTRIBUTES]);
        set[k] = (PliOverride){ name[k], value[k % ATTRIBUTES] };
    }
    // the scene's 2 % keep the shape; a tool feels a body that is off by less
    set[SET - 1] = (PliOverride){ "@TetLod/model.accuracy", "1.4" };
    PliError err = { PLI_OK, "" };
    const PliHost host = pli_host_default();
    PliSceneDef scene = pli_scene_default();
    scene.overrides = set, scene.override_count = SET;
    PliCompareDef def = pli_compare_default();
    def.repeat = 1;
    PliContest *contest = NULL;
    PliComparison *c = NULL;
    if (pli_asset_path("compare/poked_liver.scn", path, sizeof path, &err) == PLI_OK)
        contest = pli_contest_load(&host, path, &scene, &err);
    if (contest && pli_contest_choose(contest, "TetLod", &err) == PLI_OK) c = pli_contest_compare(contest, &def, &err);
    bool good = false;
    for (int k = 0; c && k < c->count; ++k)
        if (k != c->reference && c->outcome[k].verdict == PLI_FINISHED)
            *adaptive = c->outcome[k], *reference = c->outcome[c->reference], good = true;
    if (!good) pli_bench_broken(b, "%s, %s Pa: %s", solver, young, err.text[0] ? err.text : "a body did not finish");
    pli_comparison_destroy(c);
    pli_contest_destroy(contest);
    return good;
}

/// Either body with the solver that is faster for it.
static void run_implicit(PliBench *b)
{
    static const char *const solver[] = { "multigrid", "incomplete" }, *const young[] = { "4000", "4e5" };
    for (int y = 0; y < 2; ++y) {
        PliOutcome best[2];
        memset(best, 0, sizeof best);
        bool good = true;
        for (int s = 0; s < 2 && good; ++s) {
            PliOutcome adaptive, reference;
            good = poke_implicitly(b, solver[s], young[y], &adaptive, &reference);
            if (!good) break;
            if (s == 0 || adaptive.step_ms.mean < best[0].step_ms.mean) best[0] = adaptive;
            if (s == 0 || reference.step_ms.mean < best[1].step_ms.mean) best[1] = reference;
        }
        if (!good) return;
        const struct {
            const char *name;
            double value;
            const char *unit;
        } row[] = { { "speedup", best[1].step_ms.mean / best[0].step_ms.mean, "" },
                    { "error", 100.0 * best[0].error_rms, "%" },
                    { "force_error", 100.0 * best[0].force_error, "%" },
                    { "active_mean", best[0].dofs_mean, "" },
                    { "adaptive", best[0].step_ms.mean, "ms/step" },
                    { "uniform", best[1].step_ms.mean, "ms/step" } };
        for (size_t k = 0; k < sizeof row / sizeof *row; ++k) {
            char metric[48];
            snprintf(metric, sizeof metric, "%s%s", row[k].name, y ? "_stiff" : "");
            pli_bench_report(b, metric, row[k].value, row[k].unit);
        }
    }
}

// ---- a poked liver, stepped here -----------------------------------------------------------------------------------------------------

typedef struct Poke {
    PliTetLodRig rig;
    PliTool tool;
    double start; ///< m, height of the tool's centre before it comes down
    double time;
} Poke;

/// The course of scenes/compare/poke_tool.xml but for its last lift, every 1.5 s: comes near, presses by 12 mm, holds, leaves, stays near.
static double height(const Poke *p, double time)
{
    static const double key[] = { 0.0, 0.1, 0.5, 0.9, 1.1, 1.3, 1.5 },
                        way[] = { 0.0, -0.004, -0.016, -0.016, 0.02, 0.02, 0.0 };
    const double phase = fmod(time, 1.5);
    int k = 0;
    while (k < 5 && phase > key[k + 1]) ++k;
    return p->start + way[k] + (way[k + 1] - way[k]) * (phase - key[k]) / (key[k + 1] - key[k]);
}

static const double depth = 0.012;

static void place_tool(Poke *p)
{
    p->tool.position[1] = height(p, p->time);
    p->tool.velocity[1] = (height(p, p->time + dt) - height(p, p->time)) / dt;
}

static bool poke_step(Poke *p, double *ms)
{
    place_tool(p);
    const double start = pli_cpu_ms();
    const bool finite = pli_body_step(p->rig.body, &p->rig.state, dt).finite;
    *ms = pli_cpu_ms() - start;
    p->time += dt;
    return finite;
}

static bool liver_levels(PliTetLodRig *rig, PliError *err)
{
    return pli_rig_add_file(rig, "meshes/liver_0.msh", err) && pli_rig_add_file(rig, "meshes/liver_1.msh", err) &&
           pli_rig_add_file(rig, "meshes/liver_2.msh", err) && pli_rig_add_file(rig, "meshes/liver_3.msh", err);
}

static PliTetLodDef soft(void)
{
    PliTetLodDef d = pli_rig_def();
    d.base.material = (PliMaterial){ PLI_NEOHOOKEAN, 4000.0, 0.4, 1050.0, 2e-4 };
    d.base.mass_damping = 15.0;
    d.base.criterion.threshold = 0.06;
    d.base.criterion.coarsen = 0.15;
    d.base.criterion.interval = 0.03;
    d.base.multirate = PLI_RATES_OWN;
    d.base.spread = false; // coefficients nobody looks at are not written: the skin is what is drawn
    return d;
}

/// The material, the place and the depth of scenes/compare/poked_liver.scn, again and again.
static bool open_liver(Poke *p, double budget_ms, PliError *err)
{
    PliTetLodDef def = soft();
    memset(p, 0, sizeof *p);
    def.base.criterion.smallest_size = 0.004;
    def.base.criterion.budget_ms = budget_ms;
    p->start = 0.068;
    p->tool = (PliTool){ .shape = PLI_TOOL_SPHERE, .radius = 0.01, .position = { -0.04, 0.0, 0.0 } };
    if (!liver_levels(&p->rig, err) || !pli_rig_open(&p->rig, def, err)) return false;
    PliMesh *skin = pli_asset_mesh(&p->rig.host, "meshes/liver_surface.obj", err);
    const bool skinned = skin && pli_body_attach_skin(p->rig.body, skin->x, skin->point_count, skin->tris,
                                                      skin->tri_count, err) == PLI_OK;
    pli_mesh_destroy(skin);
    return skinned && pli_rig_clamp(&p->rig, 1, -0.025, err) &&
           pli_body_set_tools(p->rig.body, &p->tool, 1, err) == PLI_OK;
}

static void close_poke(PliBench *b, Poke *p, const PliError *err)
{
    if (err->text[0]) pli_bench_broken(b, "%s", err->text);
    pli_rig_close(&p->rig);
}

static void run_overhead(PliBench *b)
{
    enum { STEPS = 300 };
    Poke p;
    PliError err = { PLI_OK, "" };
    double own = 0.0, total = 0.0, events = 0.0, ms;
    if (open_liver(&p, 0.0, &err)) {
        bool finite = true;
        for (int k = 0; k < STEPS && finite; ++k) {
            finite = poke_step(&p, &ms);
            own += pli_body_stats(p.rig.body).adapt_ms, total += ms;
        }
        const PliStats s = pli_body_stats(p.rig.body);
        events = (double)(s.refined + s.coarsened);
        pli_bench_report(b, "percent", finite ? 100.0 * own / total : NAN, "%");
        pli_bench_report(b, "events", events / STEPS, "per step");
        pli_bench_report(b, "step", total / STEPS, "ms");
    }
    close_poke(b, &p, &err);
}

/// The skin right before and right after every decision, offsets that fade included: what an eye would see.
static void run_pop(PliBench *b)
{
    enum { STEPS = 300 };
    Poke p;
    PliError err = { PLI_OK, "" };
    double largest = 0.0;
    int decisions = 0;
    if (open_liver(&p, 0.0, &err)) {
        const PliIndex n = pli_body_skin_count(p.rig.body);
        double *before = PLI_NEW(&p.rig.host, 3 * (size_t)n, double),
               *after = PLI_NEW(&p.rig.host, 3 * (size_t)n, double);
        bool good = before && after;
        for (int k = 0; k < STEPS && good; ++k) {
            place_tool(&p);
            pli_body_skin_positions(p.rig.body, p.rig.x, before);
            const bool changed = pli_body_adapt(p.rig.body, &p.rig.state, dt);
            if (changed) pli_body_skin_positions(p.rig.body, p.rig.x, after);
            for (PliIndex i = 0; i < n && changed; ++i)
                largest = pli_max(largest, v3_distance(before + 3 * (size_t)i, after + 3 * (size_t)i));
            decisions += changed;
            good = pli_body_advance(p.rig.body, &p.rig.state, dt).finite;
            p.time += dt;
        }
        const PliStats s = pli_body_stats(p.rig.body);
        pli_bench_report(b, "largest_jump", good ? 100.0 * largest / depth : NAN, "% of the depth");
        pli_bench_report(b, "events", (double)(s.refined + s.coarsened), "");
        pli_bench_report(b, "decisions", decisions, "");
        PLI_FREE(&p.rig.host, before, 3 * (size_t)n);
        PLI_FREE(&p.rig.host, after, 3 * (size_t)n);
    }
    close_poke(b, &p, &err);
}

// ---- the governor ---------------------------------------------------------------------------------------------------------------------

static int compare_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Poked for `steps`, ms of every step in `ms`. false: not finite.
static bool poke_many(Poke *p, int steps, double *ms)
{
    for (int k = 0; k < steps; ++k)
        if (!poke_step(p, &ms[k])) return false;
    return true;
}

static void run_governor(PliBench *b)
{
    enum { WANT = 300, STEPS = 6000 };
    static double ms[STEPS];
    PliError err = { PLI_OK, "" };
    Poke p;
    double wanted = 0.0;
    bool ok = open_liver(&p, 0.0, &err) && poke_many(&p, WANT, ms);
    for (int k = 0; k < WANT; ++k) wanted += ms[k] / WANT;
    close_poke(b, &p, &err);
    if (!ok) return;
    const double budget = 0.5 * wanted;
    ok = open_liver(&p, budget, &err);
    if (ok) {
        const bool stable = poke_many(&p, STEPS, ms);
        const PliStats s = pli_body_stats(p.rig.body);
        double mean = 0.0;
        for (int k = 0; k < STEPS; ++k) mean += ms[k] / STEPS;
        qsort(ms, STEPS, sizeof *ms, compare_double);
        pli_bench_report(b, "p99_over_budget", stable ? ms[(STEPS * 99) / 100] / budget : NAN, "");
        pli_bench_report(b, "max_over_budget", stable ? ms[STEPS - 1] / budget : NAN, "");
        pli_bench_report(b, "mean_over_budget", mean / budget, "");
        pli_bench_report(b, "budget", budget, "ms");
        pli_bench_report(b, "stable", stable ? 1.0 : 0.0, "");
        pli_bench_report(b, "refused", (double)s.refused, "splits");
        pli_bench_report(b, "forced", (double)s.forced, "merges");
        pli_bench_report(b, "active", s.active, "at the end");
    }
    close_poke(b, &p, &err);
}

// ---- scaling ----------------------------------------------------------------------------------------------------------------------------

/// A soft cube of 0.1 m, poked from above; the levels have 3^3, 6^3, 12^3, 24^3 and 48^3 nodes.
static bool open_cube(Poke *p, int levels, PliError *err)
{
    static const PliIndex cells[] = { 2, 5, 11, 23, 47 };
    PliTetLodDef def = soft();
    memset(p, 0, sizeof *p);
    def.base.criterion.smallest_size = 0.003; // nodes of the fourth level are 0.0043 m apart
    p->start = 0.119;                         // touches after 4 mm, as the other
    p->tool = (PliTool){ .shape = PLI_TOOL_SPHERE, .radius = 0.015, .position = { 0.05, 0.0, 0.05 } };
    for (int k = 0; k < levels; ++k)
        if (!pli_rig_add_box(&p->rig, cells[k], 0.1, false, err)) return false;
    return pli_rig_open(&p->rig, def, err) && pli_rig_clamp(&p->rig, 1, 1e-9, err) &&
           pli_body_set_tools(p->rig.body, &p->tool, 1, err) == PLI_OK;
}

/// The skin of one body on another: what the tool touches, and what is drawn, does not depend on the finest level.
static bool lend_skin(const Poke *from, Poke *to, PliError *err)
{
    const PliIndex n = pli_body_skin_count(from->rig.body);
    PliIndex tri_count = 0;
    const PliIndex *tris = pli_body_skin_tris(from->rig.body, &tri_count);
    double *points = PLI_NEW(&from->rig.host, 3 * (size_t)n, double);
    if (points) pli_body_skin_positions(from->rig.body, from->rig.rest, points);
    const bool good = points && pli_body_attach_skin(to->rig.body, points, n, tris, tri_count, err) == PLI_OK;
    PLI_FREE(&from->rig.host, points, 3 * (size_t)n);
    return good;
}

static void run_scaling(PliBench *b)
{
    enum { STEPS = 150 };
    Poke p[2];
    PliError err = { PLI_OK, "" };
    double sum[2] = { 0.0, 0.0 }, active[2] = { 0.0, 0.0 }, ms;
    memset(p, 0, sizeof p);
    bool ok = open_cube(&p[0], 4, &err) && open_cube(&p[1], 5, &err) && lend_skin(&p[0], &p[1], &err);
    // in turns, so that a busy machine slows both alike
    for (int k = 0; k < STEPS && ok; ++k)
        for (int m = 0; m < 2 && ok; ++m) {
            ok = poke_step(&p[m], &ms);
            sum[m] += ms, active[m] += pli_body_stats(p[m].rig.body).active;
        }
    if (ok) {
        pli_bench_report(b, "growth", sum[1] / sum[0], "");
        pli_bench_report(b, "step", sum[0] / STEPS, "ms");
        pli_bench_report(b, "step_larger", sum[1] / STEPS, "ms");
        pli_bench_report(b, "finest", p[0].rig.mesh[3]->point_count, "nodes");
        pli_bench_report(b, "finest_larger", p[1].rig.mesh[4]->point_count, "nodes");
        pli_bench_report(b, "active_mean", active[0] / STEPS, "");
        pli_bench_report(b, "active_mean_larger", active[1] / STEPS, "");
    } else if (!err.text[0]) {
        pli_bench_broken(b, "a step was not finite");
    }
    close_poke(b, &p[0], &err);
    pli_rig_close(&p[1].rig);
}

const PliBenchCase pli_bench_tetlod_cases[] = {
    { "tetlod.poke", "poked liver against the uniform finest level of 13,086 nodes, adaptation included", run_poke },
    { "implicit.tetlod", "the same with implicit steps to 1e-4, 4 and 400 kPa, each body with its faster solver",
      run_implicit },
    { "tetlod.scaling", "poked cube, finest level of 24^3 and of 48^3 nodes, same skin, tool and smallest size",
      run_scaling },
    { "tetlod.overhead", "adaptation's share of a step, poked liver", run_overhead },
    { "tetlod.pop", "largest motion of the skin at an event, poked liver", run_pop },
    { "tetlod.governor", "60 s of poking with half the CPU time the scene wants", run_governor },
    { 0 },
};
