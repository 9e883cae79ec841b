/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/bench_scene.h"

#include <stdio.h>

#include "evidence/assets.h"
#include "host/compare/scene.h"

void pli_bench_scene(PliBench *b, const char *scene, const char *body)
{
    PliError err = { PLI_OK, "" };
    const PliHost host = pli_host_default();
    char name[128], path[2048];
    PliComparison *c = NULL;
    PliContest *contest = NULL;
    PliSceneDef how = pli_scene_default();
    PliCompareDef def = pli_compare_default();
    snprintf(name, sizeof name, "compare/%s.scn", scene);
    if (pli_asset_path(name, path, sizeof path, &err) == PLI_OK) contest = pli_contest_load(&host, path, &how, &err);
    if (contest && pli_contest_choose(contest, body, &err) == PLI_OK) c = pli_contest_compare(contest, &def, &err);
    const PliOutcome *o = NULL;
    for (int k = 0; c && k < c->count; ++k)
        if (k != c->reference && c->outcome[k].verdict == PLI_FINISHED) o = &c->outcome[k];
    if (o) {
        pli_bench_report(b, "speedup", o->speedup, "");
        pli_bench_report(b, "error", 100.0 * o->error_rms, "%");
        pli_bench_report(b, "error_near_tool", 100.0 * o->error_near_tool, "%");
        pli_bench_report(b, "force_error", 100.0 * o->force_error, "%");
        pli_bench_report(b, "active_mean", o->dofs_mean, "");
        pli_bench_report(b, "finest", c->outcome[c->reference].dofs_mean, "");
        pli_bench_report(b, "adaptive", o->step_ms.mean, "ms/step");
        pli_bench_report(b, "uniform", c->outcome[c->reference].step_ms.mean, "ms/step");
    } else {
        pli_bench_broken(b, "%s", err.text[0] ? err.text : "the adaptive body did not finish");
    }
    pli_comparison_destroy(c);
    pli_contest_destroy(contest);
}
