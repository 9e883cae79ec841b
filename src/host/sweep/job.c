/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/sweep/plan.h"
#include "output/file.h"

const char *pli_sweep_result_path(const char *folder, const char *id, char *path, size_t size)
{
    snprintf(path, size, "%s/results/%s.csv", folder, id);
    return path;
}

/// "threshold=0.05;ramp=2" of a model as overrides, which point into `text`. @return how many
static int read_parameters(const PliSweepJob *job, PliText *text, PliOverride *set)
{
    char *copy = strdup(job->parameters);
    int count = 0;
    if (!copy) text->failed = true;
    size_t at[2 * PLI_SWEEP_ATTRIBUTES];
    char *rest = NULL;
    for (char *p = copy ? strtok_r(copy, ";", &rest) : NULL; p && count < PLI_SWEEP_ATTRIBUTES;
         p = strtok_r(NULL, ";", &rest)) {
        char *equal = strchr(p, '=');
        if (!equal) continue;
        *equal = '\0';
        at[2 * count] = text->bytes;
        pli_text_print(text, "@%s.%s\n", job->model, p);
        at[2 * count + 1] = text->bytes;
        pli_text_print(text, "%s\n", equal + 1);
        count++;
    }
    free(copy);
    for (size_t i = 0; i < text->bytes; ++i)
        if (text->data[i] == '\n') text->data[i] = '\0';
    for (int k = 0; k < count && !text->failed; ++k)
        set[k] = (PliOverride){ text->data + at[2 * k], text->data + at[2 * k + 1] };
    return count;
}

static void put_number(PliText *t, double value)
{
    if (isfinite(value))
        pli_text_print(t, ",%.10g", value);
    else
        pli_text_put(t, ",");
}

static void put_result(PliText *t, const PliSweepJob *job, const PliOutcome *o, const PliError *why)
{
    const char *slash = strrchr(job->scene, '/');
    pli_text_put(t,
                 "id,scene,body,scheme,parameters,seed,status,reason,error_rms,error_max,error_near_tool,force_error,"
                 "dofs_mean,dofs_max,pop_max,energy_drift,hash,ms_median,ms_p99,ms_max,speedup\n");
    const char *const text[] = { job->id, slash ? slash + 1 : job->scene, job->body, job->scheme, job->parameters };
    for (size_t i = 0; i < sizeof text / sizeof *text; ++i) {
        if (i) pli_text_put(t, ",");
        pli_text_csv(t, text[i]);
    }
    pli_text_print(t, ",%" PRIu64 ",%s,", job->seed, o ? pli_verdict_name(o->verdict) : "refused");
    pli_text_csv(t, o ? o->reason : why->text);
    const bool ran = o && o->verdict == PLI_FINISHED;
    const double figure[] = { ran ? o->error_rms : NAN,   ran ? o->error_max : NAN,   ran ? o->error_near_tool : NAN,
                              ran ? o->force_error : NAN, ran ? o->dofs_mean : NAN,   ran ? o->dofs_max : NAN,
                              ran ? o->pop_max : NAN,     ran ? o->energy_drift : NAN };
    for (size_t i = 0; i < sizeof figure / sizeof *figure; ++i) put_number(t, figure[i]);
    if (ran)
        pli_text_print(t, ",%016" PRIx64, o->hash);
    else
        pli_text_put(t, ",");
    const double cost[] = { ran ? o->step_ms.median : NAN, ran ? o->step_ms.p99 : NAN, ran ? o->step_ms.max : NAN,
                            ran ? o->speedup : NAN };
    for (size_t i = 0; i < sizeof cost / sizeof *cost; ++i) put_number(t, cost[i]);
    pli_text_put(t, "\n");
}

PliStatus pli_sweep_job_run(const PliHost *host, const PliSweepJob *job, const char *folder, bool (*stopped)(void),
                            PliError *err)
{
    PliSceneDef def = pli_scene_default();
    def.data_path = getenv("SOFA_DATA_PATH");
    PliText paths = { 0 };
    PliOverride set[PLI_SWEEP_ATTRIBUTES];
    char cache[1024], path[2048];
    PliTrial trial = { .scene = job->scene,
                       .body = job->body,
                       .set = set,
                       .seed = job->seed,
                       .steps = job->steps,
                       .repeat = job->repeat,
                       .stopped = stopped };
    trial.set_count = read_parameters(job, &paths, set);
    if (pli_cache_folder(cache, sizeof cache)) trial.cache = cache;
    int which = 0;
    PliError why = { PLI_OK, "" };
    PliComparison *c = paths.failed ? NULL : pli_trial_run(host, &def, &trial, &which, &why);
    PliStatus status = PLI_OK;
    PliText result = { 0 };
    if (paths.failed || (!c && why.status == PLI_OUT_OF_MEMORY))
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the job %s", job->id);
    else if (!c && stopped && stopped())
        status = pli_refuse(err, PLI_UNSUPPORTED, "ended by a signal");
    else {
        put_result(&result, job, c ? &c->outcome[which] : NULL, &why);
        status = result.failed
                     ? pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the result of %s", job->id)
                     : pli_text_write(&result, pli_sweep_result_path(folder, job->id, path, sizeof path), err);
    }
    pli_text_free(&result);
    pli_text_free(&paths);
    pli_comparison_destroy(c);
    return status;
}
