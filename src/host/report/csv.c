/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>

#include "host/compare/family.h"
#include "host/report/report.h"

/// A number that reads back, or nothing.
static void put_number(PliText *t, double value)
{
    if (isfinite(value))
        pli_text_print(t, ",%.10g", value);
    else
        pli_text_put(t, ",");
}

static void put_names(PliText *t, const PliChapter *chapter, const PliOutcome *o)
{
    pli_text_csv(t, chapter->title);
    pli_text_put(t, ",");
    pli_text_csv(t, o->name);
}

static void put_rival(PliText *t, const PliRival *r)
{
    const char *cost = pli_bound_name(r->cost_bound), *error = pli_bound_name(r->error_bound);
    put_number(t, r->gain);
    pli_text_print(t, ",%s", cost ? cost : "");
    put_number(t, r->error);
    pli_text_print(t, ",%s", error ? error : "");
}

void pli_report_bodies_csv(const PliReportDef *def, PliText *t)
{
    pli_text_put(
        t,
        "scene,body,scheme,parameters,status,reason,error_rms,error_max,error_hausdorff,error_near_tool,"
        "force_error,dofs_mean,dofs_max,dofs_total,"
        "ms_median,ms_p99,ms_max,ms_total,speedup,timed_runs,run_low,run_high,pop_max,hidden_max,energy_drift,energy_"
        "loss,momentum_drift,refined,coarsened,"
        "bytes,hash,uniform,gain,gain_bound,error_at_equal_cost,error_bound,force_gain,force_gain_bound,force_error_at_"
        "equal_cost,force_error_bound\n");
    for (int k = 0; k < def->count; ++k)
        for (int b = 0; b < def->chapter[k].comparison->count; ++b) {
            const PliOutcome *o = &def->chapter[k].comparison->outcome[b];
            const bool ran = o->verdict == PLI_FINISHED;
            put_names(t, &def->chapter[k], o);
            pli_text_print(t, ",%s,", o->scheme);
            pli_text_csv(t, o->parameters);
            pli_text_print(t, ",%s,", pli_verdict_name(o->verdict));
            pli_text_csv(t, o->reason);
            const double figure[] = { o->error_rms,   o->error_max, o->error_hausdorff, o->error_near_tool,
                                      o->force_error, o->dofs_mean, o->dofs_max,        o->dofs_total };
            for (size_t i = 0; i < sizeof figure / sizeof *figure; ++i) put_number(t, figure[i]);
            const double times[] = { o->step_ms.median, o->step_ms.p99, o->step_ms.max, o->total_ms,
                                     o->speedup,        o->timed_runs,  o->run_low,     o->run_high };
            for (size_t i = 0; i < sizeof times / sizeof *times; ++i) put_number(t, ran ? times[i] : NAN);
            const double drift[] = { o->pop_max, o->hidden_max, o->energy_drift, o->energy_loss, o->momentum_drift };
            for (size_t i = 0; i < sizeof drift / sizeof *drift; ++i) put_number(t, drift[i]);
            pli_text_print(t, ",%" PRIu64 ",%" PRIu64 ",%zu,%016" PRIx64 ",%d", o->refined, o->coarsened, o->bytes,
                           o->hash, o->uniform);
            put_rival(t, &o->rival);
            put_rival(t, &o->force_rival);
            pli_text_put(t, "\n");
        }
}

void pli_report_series_csv(const PliReportDef *def, PliText *t)
{
    pli_text_put(t, "scene,body,time_s,error_rms,error_max,error_hausdorff,error_near_tool,dofs,step_ms,elastic_J,"
                    "kinetic_J,balance_J,tool_force_N\n");
    for (int k = 0; k < def->count; ++k) {
        const PliComparison *c = def->chapter[k].comparison;
        for (int b = 0; b < c->count; ++b) {
            const PliOutcome *o = &c->outcome[b];
            for (PliIndex s = 0; s < o->samples; ++s) {
                const PliIndex step = s * c->every;
                const bool moved = s > 0 && step <= o->steps;
                double force = NAN;
                if (moved && o->tool_count > 0) {
                    double sum = 0.0;
                    for (int i = 0; i < 3 * o->tool_count; ++i) {
                        const double f = o->force[(size_t)(step - 1) * 3 * (size_t)o->tool_count + (size_t)i];
                        sum += f * f;
                    }
                    force = sqrt(sum);
                }
                put_names(t, &def->chapter[k], o);
                const double value[] = { o->time[s],
                                         o->rms[s],
                                         o->max[s],
                                         o->hausdorff[s],
                                         o->near_tool[s],
                                         moved ? o->active[step - 1] : NAN,
                                         moved && o->verdict == PLI_FINISHED ? o->ms[step - 1] : NAN,
                                         o->elastic[s],
                                         o->kinetic[s],
                                         o->balance[s],
                                         force };
                for (size_t i = 0; i < sizeof value / sizeof *value; ++i) put_number(t, value[i]);
                pli_text_put(t, "\n");
            }
        }
    }
}
