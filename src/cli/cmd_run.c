/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/timer.h"
#include "cli/cli.h"
#include "output/json.h"
#include "output/progress.h"
#include "output/machine.h"
#include "cli/scene_report.h"
#include "host/compare/record.h"
#include "host/graph/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SETS = 64 };

typedef struct Options {
    const char *scene, *out, *json;
    int steps, threads, every;
    bool quiet, hash;
    PliSceneDef def;
    PliOverride set[MAX_SETS];
    char *copy[MAX_SETS]; ///< what set points into
} Options;

static void print_help(void)
{
    puts("Usage: pliant run SCENE [OPTIONS]\n\n"
         "Runs a SOFA scene (.scn) in the embedded host. `pliant list` prints the components it knows; anything else "
         "in the scene\n"
         "is refused with file, line, component and reason.\n\n"
         "  -n, --steps N         steps to run (100)\n"
         "      --dt S            time step instead of the scene's, s\n"
         "      --threads N       worker threads, 1 .. 64 (1); results do not depend on it\n"
         "  -o, --out DIR         write the VTU series, their PVD and stats.csv there\n"
         "      --export-every K  steps between exported states (10); 0: only stats.csv\n"
         "      --set @PATH.ATTR=VALUE  replace an attribute of a component or node; may be repeated\n"
         "      --json FILE       write a summary of the run; - is standard output\n"
         "      --hash            print the hash of the final state\n"
         "      --data-path DIRS  more directories for files, separated by ':' (also SOFA_DATA_PATH)\n"
         "      --root DIR        refuse files outside DIR, for scenes that are not trusted\n"
         "      --allow-unsupported  skip what is outside the profile; every output is marked degraded\n"
         "  -q, --quiet           errors only\n\n"
         "Exit codes: 0 done, 2 malformed scene or option, 3 outside the profile, 4 a file is missing or cannot be "
         "written,\n"
         "5 the simulation diverged, 6 no memory.");
}

static int read_int(const char *text, int least, int most, int *value)
{
    char *end;
    long number = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || number < least || number > most) return 1;
    *value = (int)number;
    return 0;
}

static int read_set(Options *o, const char *text)
{
    const char *equal = text ? strchr(text, '=') : NULL;
    if (!equal || o->def.override_count >= MAX_SETS) return 1;
    char *copy = malloc(strlen(text) + 1);
    if (!copy) return 1;
    strcpy(copy, text);
    copy[equal - text] = '\0';
    o->copy[o->def.override_count] = copy;
    o->set[o->def.override_count++] = (PliOverride){ copy, copy + (equal - text) + 1 };
    return 0;
}

static int read_options(int argc, char **argv, Options *o)
{
    for (int i = 1; i < argc; ++i) {
        const char *value = NULL;
        if (pli_cli_value(argc, argv, &i, "-n", &value) || pli_cli_value(argc, argv, &i, "--steps", &value)) {
            if (read_int(value, 0, 2000000000, &o->steps)) return pli_cli_refuse("run", "-n needs a number of steps");
        } else if (pli_cli_value(argc, argv, &i, "--dt", &value)) {
            char *end;
            o->def.dt = value ? strtod(value, &end) : 0.0;
            if (!value || *end || !(o->def.dt > 0.0) || !isfinite(o->def.dt))
                return pli_cli_refuse("run", "--dt needs a time step > 0, in s");
        } else if (pli_cli_value(argc, argv, &i, "--threads", &value)) {
            if (read_int(value, 1, 64, &o->threads))
                return pli_cli_refuse("run", "--threads needs a number from 1 to 64");
        } else if (pli_cli_value(argc, argv, &i, "--export-every", &value)) {
            if (read_int(value, 0, 2000000000, &o->every))
                return pli_cli_refuse("run", "--export-every needs a number of steps");
        } else if (pli_cli_value(argc, argv, &i, "-o", &o->out) || pli_cli_value(argc, argv, &i, "--out", &o->out)) {
            if (!o->out || !*o->out) return pli_cli_refuse("run", "--out needs a directory");
        } else if (pli_cli_value(argc, argv, &i, "--json", &o->json)) {
            if (!o->json || !*o->json) return pli_cli_refuse("run", "--json needs a file, or - for standard output");
        } else if (pli_cli_value(argc, argv, &i, "--data-path", &o->def.data_path)) {
            if (!o->def.data_path) return pli_cli_refuse("run", "--data-path needs directories");
        } else if (pli_cli_value(argc, argv, &i, "--root", &o->def.root)) {
            if (!o->def.root) return pli_cli_refuse("run", "--root needs a directory");
        } else if (pli_cli_value(argc, argv, &i, "--set", &value)) {
            if (read_set(o, value)) return pli_cli_refuse("run", "--set needs @path.attribute=value");
        } else if (pli_cli_flag(argv, i, "--allow-unsupported")) {
            o->def.allow_unsupported = true;
        } else if (pli_cli_flag(argv, i, "--hash")) {
            o->hash = true;
        } else if (pli_cli_flag(argv, i, "-q") || pli_cli_flag(argv, i, "--quiet")) {
            o->quiet = true;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            return pli_cli_refuse("run", "there is no option %s; see pliant run --help", argv[i]);
        } else if (o->scene) {
            return pli_cli_refuse("run", "one scene at a time: %s or %s", o->scene, argv[i]);
        } else {
            o->scene = argv[i];
        }
    }
    if (!o->scene) return pli_cli_refuse("run", "needs a scene; see pliant run --help");
    return PLI_EXIT_OK;
}

static PliStatus run_steps(PliScene *scene, const Options *o, PliRecord *record, PliError *err)
{
    PliStatus status = pli_scene_start(scene, err);
    if (!status) status = pli_record_state(record, 0.0, err);
    double shown = pli_wall_ms();
    for (int i = 0; i < o->steps && !status; ++i) {
        double before = pli_wall_ms();
        status = pli_scene_step(scene, err);
        double after = pli_wall_ms();
        if (status) break;
        status = pli_record_state(record, after - before, err);
        if (!o->quiet && after - shown > 100.0) {
            char text[48];
            snprintf(text, sizeof text, "t = %.4g s", scene->time);
            pli_progress(i + 1, o->steps, text);
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
    pli_json_string(&j, "result", status ? "failed" : "done");
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

static int run_scene(PliScene *scene, const Options *o)
{
    PliError err = { 0 };
    PliRecordDef def = { .directory = o->out, .every = o->every };
    PliRecord *record = pli_record_create(scene, &def, &err);
    if (!record) return pli_cli_report("run", &err);
    PliStatus status = run_steps(scene, o, record, &err);
    int code = status ? pli_cli_report("run", &err) : PLI_EXIT_OK;
    if (!o->quiet && !status) print_summary(scene, o, record);
    if (o->hash && !status) printf("%016llx\n", (unsigned long long)pli_scene_hash(scene));
    PliError late = { 0 };
    if (o->json && write_summary(scene, o, record, status, &err, &late) && code == PLI_EXIT_OK)
        code = pli_cli_report("run", &late);
    if (pli_record_close(record, &late) && code == PLI_EXIT_OK) code = pli_cli_report("run", &late);
    return code;
}

static int run_all(const Options *o)
{
    PliHost host = pli_host_default();
    PliPool *pool = o->threads > 1 ? pli_pool_create(o->threads) : NULL;
    if (o->threads > 1 && !pool) return pli_cli_refuse("run", "%d threads cannot be started", o->threads);
    if (pool) pli_pool_lend(pool, &host);
    PliStatus status;
    PliScene *scene = pli_scene_load(&host, o->scene, &o->def, &status);
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
    for (int i = 1; i < argc; ++i)
        if (pli_cli_flag(argv, i, "--help") || pli_cli_flag(argv, i, "-h")) {
            print_help();
            return PLI_EXIT_OK;
        }
    Options o = { .steps = 100, .threads = 1, .every = 10, .def = pli_scene_default() };
    o.def.data_path = getenv("SOFA_DATA_PATH");
    int code = read_options(argc, argv, &o);
    o.def.overrides = o.set;
    o.def.output = o.out;
    if (code == PLI_EXIT_OK) code = run_all(&o);
    for (int i = 0; i < o.def.override_count; ++i) free(o.copy[i]);
    return code;
}
