/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/growth.h"

#include <math.h>

#include "base/timer.h"

static const double DT = 0.01;

/// Of the depth: the tool comes, presses, holds, leaves, and begins again every 1.5 s.
static double way(double time)
{
    static const double key[] = { 0.0, 0.5, 0.9, 1.1, 1.5 }, at[] = { 0.0, 1.0, 1.0, 0.0, 0.0 };
    const double phase = fmod(time, 1.5);
    int k = 0;
    while (k < 3 && phase > key[k + 1]) ++k;
    return at[k] + (at[k + 1] - at[k]) * (phase - key[k]) / (key[k + 1] - key[k]);
}

static bool step(PliGrowthPoke *p, int k, double *ms, PliError *err)
{
    p->rig.tool.velocity[1] = -p->depth * (way((k + 1) * DT) - way(k * DT)) / DT;
    const double start = pli_cpu_ms();
    const bool good = pli_toolrig_step(&p->rig, DT, err);
    *ms = pli_cpu_ms() - start;
    return good;
}

static void report(PliBench *b, PliGrowthPoke p[2], PliGrowthFinest *finest)
{
    enum { STEPS = 150 };
    PliError err = { PLI_OK, "" };
    double sum[2] = { 0.0, 0.0 }, active[2] = { 0.0, 0.0 }, ms;
    // in turns, so that a busy machine slows both alike
    for (int k = 0; k < STEPS; ++k)
        for (int m = 0; m < 2; ++m) {
            if (!step(&p[m], k, &ms, &err)) {
                pli_bench_broken(b, "%s", err.text);
                return;
            }
            sum[m] += ms, active[m] += pli_body_stats(p[m].rig.body).active;
        }
    pli_bench_report(b, "growth", sum[1] / sum[0], "");
    pli_bench_report(b, "step", sum[0] / STEPS, "ms");
    pli_bench_report(b, "step_larger", sum[1] / STEPS, "ms");
    pli_bench_report(b, "finest", finest(&p[0]), "nodes");
    pli_bench_report(b, "finest_larger", finest(&p[1]), "nodes");
    pli_bench_report(b, "active_mean", active[0] / STEPS, "");
    pli_bench_report(b, "active_mean_larger", active[1] / STEPS, "");
    pli_bench_report(b, "skin", pli_body_skin_count(p[0].rig.body), "points");
    pli_bench_report(b, "skin_larger", pli_body_skin_count(p[1].rig.body), "points");
}

void pli_growth_scaling(PliBench *b, PliGrowthOpen *open, PliGrowthFinest *finest)
{
    PliGrowthPoke p[2] = { 0 };
    PliError err = { PLI_OK, "" };
    if (open(&p[0], false, &err) && open(&p[1], true, &err))
        report(b, p, finest);
    else
        pli_bench_broken(b, "%s", err.text);
    for (int k = 0; k < 2; ++k) pli_toolrig_close(&p[k].rig);
}

static void report_overhead(PliBench *b, PliGrowthPoke *p)
{
    enum { STEPS = 300 };
    PliError err = { PLI_OK, "" };
    double own = 0.0, total = 0.0, ms;
    for (int k = 0; k < STEPS; ++k) {
        if (!step(p, k, &ms, &err)) {
            pli_bench_broken(b, "%s", err.text);
            return;
        }
        own += pli_body_stats(p->rig.body).adapt_ms, total += ms;
    }
    const PliStats s = pli_body_stats(p->rig.body);
    pli_bench_report(b, "percent", 100.0 * own / total, "% of the step");
    pli_bench_report(b, "events", (double)(s.refined + s.coarsened) / STEPS, "per step");
    pli_bench_report(b, "step", total / STEPS, "ms");
}

void pli_growth_overhead(PliBench *b, PliGrowthOpen *open)
{
    PliGrowthPoke p = { 0 };
    PliError err = { PLI_OK, "" };
    if (open(&p, false, &err))
        report_overhead(b, &p);
    else
        pli_bench_broken(b, "%s", err.text);
    pli_toolrig_close(&p.rig);
}
