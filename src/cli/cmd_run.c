/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/timer.h"
#include "cli/cli.h"
#include "output/interrupt.h"
#include "output/json.h"
#include "output/progress.h"
#include "output/machine.h"
#include "cli/scene_options.h"
#include "cli/scene_report.h"
#include "host/compare/record.h"
#include "host/graph/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    const char *scene[1], *out, *json;
    PliWords scenes;
    int steps, threads, every;
    bool quiet, hash;
    PliSceneOptions scene_options;
} Options;

static PliStatus run_steps(PliScene *scene, const Options *o, PliRecord *record, PliError *err)
{
    PliStatus status = pli_scene_start(scene, err);
    if (!status) status = pli_record_state(record, 0.0, err);
    double shown = pli_wall_ms();
    for (int i = 0; i < o->steps && !status && !pli_interrupted(); ++i) {
        double before = pli_wall_ms();
        status = pli_scene_step(scene, err);
        double after = pli_wall_ms();
        if (status) break;
        status = pli_record_state(record, after - before, err);
        if (!o->quiet && after - shown > 100.0) {
            char text[48];
            snprintf(text, sizeof text, "t = %.4g s", scene->time);
            pli_progress_steps(i + 1, o->steps, text);
            shown = after;
        }
    }
    if (!o->quiet) pli_progress(0, 0, NULL);
    PliError late = { 0 };
    PliStatus end = pli_scene_finish(scene, status ? &late : err);
    return status ? status : end;
}

static PliStatus write_summary(const PliScene *scene, const Options *o, const PliRecord *record, PliStatus status,
                               const PliError *why, PliError *err)
{
    PliJson j;
    PliStatus opened = pli_json_open(&j, o->json, err);
    if (opened) return opened;
    PliRecordTimes t = pli_record_times(record);
    pli_json_begin_object(&j, NULL);
    pli_json_integer(&j, "schema", 1);
    pli_json_string(&j, "scene", scene->path);
    pli_json_string(&j, "fidelity", scene->degraded ? "degraded" : "full");
    pli_json_string(&j, "result", status ? "failed" : pli_interrupted() ? "interrupted" : "done");
    pli_json_string(&j, "error", status ? why->text : NULL);
    pli_json_integer(&j, "steps", (int64_t)scene->step);
    pli_json_number(&j, "dt", scene->dt);
    pli_json_number(&j, "time", scene->time);
    pli_json_integer(&j, "threads", o->threads);
    pli_json_hash(&j, "hash", pli_scene_hash(scene));
    pli_json_begin_object(&j, "units");
    pli_json_string(&j, "dt", "s");
    pli_json_string(&j, "time", "s");
    pli_json_string(&j, "ms_per_step", "ms, wall clock");
    pli_json_string(&j, "lengths", "as in the scene (m in SI)");
    pli_json_end(&j);
    pli_machine_json(&j);
    pli_json_begin_object(&j, "ms_per_step");
    pli_json_number(&j, "median", t.median);
    pli_json_number(&j, "p99", t.p99);
    pli_json_number(&j, "max", t.max);
    pli_json_number(&j, "total", t.total);
    pli_json_end(&j);
    pli_scene_findings_json(&j, &scene->report);
    pli_json_begin_array(&j, "files");
    for (int i = 0; i < pli_record_body_count(record); ++i) pli_json_string(&j, NULL, pli_record_body_file(record, i));
    if (*pli_record_csv(record)) pli_json_string(&j, NULL, pli_record_csv(record));
    pli_json_end(&j);
    pli_json_end(&j);
    return pli_json_close(&j, err);
}

static void print_summary(const PliScene *scene, const Options *o, const PliRecord *record)
{
    PliRecordTimes t = pli_record_times(record);
    FILE *out = o->json && strcmp(o->json, "-") == 0 ? stderr : stdout;
    fprintf(out, "%llu steps of %g s in %.3g s: median %.3g ms, p99 %.3g ms, max %.3g ms%s\n",
            (unsigned long long)t.steps, scene->dt, t.total / 1e3, t.median, t.p99, t.max,
            scene->degraded ? "; DEGRADED: parts of the scene were skipped" : "");
    if (o->out) fprintf(out, "wrote %s\n", o->out);
}

/// A file that cannot be written is the news, unless something worse was.
static bool can_fail(int code) { return code == PLI_EXIT_OK || code == PLI_EXIT_INTERRUPTED; }

static int run_scene(PliScene *scene, const Options *o)
{
    PliError err = { 0 };
    PliRecordDef def = { .directory = o->out, .every = o->every };
    PliRecord *record = pli_record_create(scene, &def, &err);
    if (!record) return pli_cli_report("run", &err);
    pli_interrupt_listen();
    PliStatus status = run_steps(scene, o, record, &err);
    int code = status ? pli_cli_report("run", &err) : PLI_EXIT_OK;
    if (pli_interrupted() && !status) {
        pli_cli_refuse("run", "ended by a signal after %llu of %d steps; what there is was written",
                       (unsigned long long)scene->step, o->steps);
        code = PLI_EXIT_INTERRUPTED;
    }
    if (!o->quiet && !status) print_summary(scene, o, record);
    if (o->hash && !status) printf("%016llx\n", (unsigned long long)pli_scene_hash(scene));
    PliError late = { 0 };
    if (o->json && write_summary(scene, o, record, status, &err, &late) && can_fail(code))
        code = pli_cli_report("run", &late);
    if (pli_record_close(record, &late) && can_fail(code)) code = pli_cli_report("run", &late);
    return code;
}

static int run_all(const Options *o)
{
    PliHost host = pli_host_default();
    PliPool *pool = o->threads > 1 ? pli_pool_create(o->threads) : NULL;
    if (o->threads > 1 && !pool) return pli_cli_refuse("run", "%d threads cannot be started", o->threads);
    if (pool) pli_pool_lend(pool, &host);
    PliStatus status;
    const int missing = pli_cli_find_scene("run", o->scene[0]);
    if (missing != PLI_EXIT_OK) {
        pli_pool_destroy(pool);
        return missing;
    }
    PliScene *scene = pli_scene_load(&host, o->scene[0], &o->scene_options.def, &status);
    int code = PLI_EXIT_MEMORY;
    if (scene) {
        pli_scene_print_findings(&scene->report, o->quiet ? PLI_UNSUPPORTED_PART : PLI_WARNING, stderr);
        code = status ? pli_scene_exit_code(&scene->report, status) : run_scene(scene, o);
    }
    pli_scene_destroy(scene);
    pli_pool_destroy(pool);
    return code;
}

int pli_cmd_run(int argc, char **argv)
{
    Options o = { .steps = 100, .threads = 1, .every = 10 };
    PliSceneOptions *const so = &o.scene_options;
    pli_scene_options_begin(so);
    o.scenes = (PliWords){ o.scene, 0, 1 };
    const PliOption options[] = {
        { "steps", 'n', "N", "steps to run (100)", PLI_OPTION_INTEGER, &o.steps, .most = 2e9 },
        { "dt", 0, "S", "time step instead of the scene's, s", PLI_OPTION_NUMBER, .value = &so->def.dt },
        PLI_OPTION_THREADS(o.threads, "results do not depend on it"),
        { "out", 'o', "DIR", "write the VTU series, their PVD and stats.csv there", PLI_OPTION_TEXT, &o.out,
          .needs = "a directory" },
        { "export-every", 0, "K", "steps between exported states (10); 0: only stats.csv", PLI_OPTION_INTEGER, &o.every,
          .most = 2e9 },
        PLI_OPTION_SET(*so),
        { "json", 0, "FILE", "write a summary of the run; - is standard output", PLI_OPTION_TEXT, &o.json,
          .needs = "a file, or - for standard output" },
        { "hash", 0, NULL, "print the hash of the final state", PLI_OPTION_FLAG, .value = &o.hash },
        PLI_OPTION_DATA_PATH(*so),
        PLI_OPTION_ROOT(*so),
        { "allow-unsupported", 0, NULL, "skip what is outside the profile; every output is marked degraded",
          PLI_OPTION_FLAG, .value = &so->def.allow_unsupported },
        { "quiet", 'q', NULL, "errors only", PLI_OPTION_FLAG, .value = &o.quiet },
    };
    const PliCommandLine line = {
        .program = "pliant run",
        .synopsis = "SCENE [OPTIONS]",
        .about =
            "Runs a SOFA scene (.scn) in the embedded host. `pliant list` prints the components it knows; anything "
            "else in the\nscene is refused with file, line, component and reason. Ctrl-C ends the run after the "
            "step, and what there is\nis written.",
        .ending = "Exit codes: 0 done, 2 malformed scene or option, 3 outside the profile, 4 a file is missing or "
                  "cannot be written,\n5 the simulation diverged, 6 no memory, 130 ended by Ctrl-C.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
        .words = &o.scenes,
        .least_words = 1,
        .word_name = "scene",
    };
    int code;
    if (!pli_options_read(&line, argc, argv, &code)) return code;
    code = pli_scene_options_apply(so, &line);
    so->def.output = o.out;
    if (code == PLI_EXIT_OK) code = run_all(&o);
    pli_scene_options_end(so);
    return code;
}
