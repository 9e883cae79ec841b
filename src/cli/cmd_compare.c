/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/scene_options.h"
#include "output/interrupt.h"
#include "output/progress.h"
#include "output/machine.h"
#include "output/table.h"
#include "host/compare/family.h"
#include "host/compare/figures.h"
#include "host/compare/scene.h"
#include "host/compare/trial.h"
#include "host/report/report.h"

enum { MAX_SWEEPS = 64, MAX_SCENES = 32, REPEATS = 100 };

typedef struct Options {
    const char *scene[MAX_SCENES], *sweep[MAX_SWEEPS], *schemes, *out, *json;
    PliWords scenes, sweeps;
    int repeat, steps, threads, seed;
    bool quiet, no_cache;
    PliSceneOptions scene_options;
} Options;

/// One scene and what came of it.
typedef struct Result {
    PliContest *contest;
    PliComparison *comparison;
    PliVaried load; ///< what the contest was loaded with
} Result;

/// The command as it can be pasted into a shell.
static void quote_command(PliText *t, int argc, char **argv)
{
    pli_text_put(t, "pliant");
    for (int i = 0; i < argc; ++i) {
        pli_text_put(t, " ");
        if (argv[i][0] &&
            !argv[i][strspn(argv[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=@,:+")]) {
            pli_text_put(t, argv[i]);
            continue;
        }
        pli_text_put(t, "'");
        for (const char *p = argv[i]; *p; ++p) {
            const char one[2] = { *p, '\0' };
            pli_text_put(t, *p == '\'' ? "'\\''" : one);
        }
        pli_text_put(t, "'");
    }
}

// ---- what is printed and written ---------------------------------------------------------------------------------------------

/// Marked where it is more than `most`.
static void cell_percent(PliTable *t, double value, double most)
{
    if (isfinite(value))
        pli_table_cell(t, "%s%.3g %%", value > most ? "! " : "", 100.0 * value);
    else
        pli_table_cell(t, "-");
}

static void cell_number(PliTable *t, double value, const char *format)
{
    char text[32];
    snprintf(text, sizeof text, isfinite(value) ? format : "-", value);
    pli_table_cell(t, "%s", text);
}

/// "2.3x", or ">2.3x" where that is a bound.
static void cell_gain(PliTable *t, const PliRival *r)
{
    static const char *const sign[] = { "", ">", "<" };
    if (isfinite(r->gain))
        pli_table_cell(t, "%s%.3gx", sign[r->cost_bound], r->gain);
    else
        pli_table_cell(t, "-");
}

static void add_row(PliTable *t, const PliOutcome *o)
{
    const bool ran = o->verdict == PLI_FINISHED;
    pli_table_cell(t, "%s", o->name);
    pli_table_cell(t, "%s", o->is_reference ? "reference" : o->scheme);
    const double error[] = { o->error_rms, o->error_max, o->error_near_tool, o->force_error };
    const double most[] = { pli_doubtful_error, INFINITY, INFINITY, pli_doubtful_force };
    for (int k = 0; k < 4; ++k) {
        if (o->is_reference)
            pli_table_cell(t, "-");
        else
            cell_percent(t, error[k], most[k]);
    }
    if (!ran) {
        pli_table_cell(t, "%s", pli_verdict_name(o->verdict));
        for (int k = 0; k < 9; ++k) pli_table_cell(t, "-");
        return;
    }
    pli_table_cell(t, "%.0f", o->dofs_mean);
    pli_table_cell(t, "%u", o->dofs_total);
    cell_number(t, o->step_ms.median, "%.3g");
    cell_number(t, o->step_ms.p99, "%.3g");
    pli_table_cell(t, "%.*fx%s",
                   o->speedup < 10.0    ? 2
                   : o->speedup < 100.0 ? 1
                                        : 0,
                   o->speedup, o->on_front && !o->is_reference ? " *" : "");
    cell_gain(t, &o->rival);
    cell_gain(t, &o->force_rival);
    cell_percent(t, o->pop_max, INFINITY);
    cell_number(t, o->energy_drift, "%.2g");
    cell_number(t, o->momentum_drift, "%.2g");
}

/// Schemes that are too far off to be believed, in words. @return whether any figure of the table has a mark
static bool warn_of_errors(const PliComparison *c)
{
    bool marked = false;
    if (pli_comparison_is_idle(c))
        puts("warning: nothing moves the reference under this load, so that errors mean nothing");
    for (int k = 0; k < c->count; ++k) {
        const PliOutcome *o = &c->outcome[k];
        char text[300];
        pli_doubt_sentence(c, o, text, sizeof text);
        if (text[0]) printf("warning: %s\n", text);
        marked = marked || o->error_rms > pli_doubtful_error || o->force_error > pli_doubtful_force;
    }
    return marked;
}

/// An adaptive body that was of one level most of the time says so: its figures are those of a uniform one.
static void say_one_level(const PliComparison *c, const PliOutcome *o)
{
    if (o->form[0]) printf("%s, at the end, %s\n", o->name, o->form);
    if (pli_family_twin(c, o)) return; // it has been said
    if (o->steps_text[0]) printf("%s %s\n", o->name, o->steps_text);
    PliIndex of_level[8] = { 0 }, alone = 0;
    for (PliIndex step = 0; step < o->steps; ++step) {
        const double *count = o->per_level + 8 * (size_t)step;
        int levels = 0, last = 0;
        for (int k = 0; k < 8; ++k)
            if (count[k] > 0.0) ++levels, last = k;
        if (levels == 1) ++of_level[last], ++alone;
    }
    int most = 0;
    for (int k = 1; k < 8; ++k)
        if (of_level[k] > of_level[most]) most = k;
    if (o->level_count > 1 && !o->uniform && !o->is_reference && 2 * alone > o->steps)
        printf("%s was of one level in %u of %u steps, mostly level %d\n", o->name, alone, o->steps, most);
}

static bool print_result(const Result *r)
{
    const PliComparison *c = r->comparison;
    const char *const heading[] = { "body",       "scheme", "error",   "max",     "near tool", "tool force",
                                    "DOFs",       "of",     "ms/step", "p99",     "speed-up",  "gain",
                                    "force gain", "pop",    "energy",  "momentum" };
    PliTable t;
    pli_table_begin(&t, "llrrrrrrrrrrrrrr", heading);
    for (int k = 0; k < c->count; ++k) add_row(&t, &c->outcome[k]);
    printf("%s: %u steps of %g s, %u surface points, largest displacement %.4g mm\n\n", r->contest->title, c->steps,
           c->dt, c->point_count, 1e3 * c->largest_displacement);
    const bool good = pli_table_print(&t, stdout);
    pli_table_end(&t);
    puts("");
    double low = 1.0, high = 1.0, busy = 0.0;
    for (int k = 0; k < c->count; ++k) {
        const PliOutcome *o = &c->outcome[k];
        if (o->verdict == PLI_WENT_AWAY) printf("%s diverged at t = %g s: %s\n", o->name, o->stopped_at, o->reason);
        if (o->verdict == PLI_UNABLE) printf("%s cannot do this scene: %s\n", o->name, o->reason);
        if (o->verdict != PLI_FINISHED) continue;
        say_one_level(c, o);
        if (!o->repeatable) printf("%s ended with another state when it ran again\n", o->name);
        low = fmin(low, o->run_low), high = fmax(high, o->run_high), busy = fmax(busy, o->busy);
    }
    const bool marked = warn_of_errors(c);
    char text[600];
    bool ranked = false;
    for (int k = 0; k < c->count; ++k) {
        pli_family_sentence(c, &c->outcome[k], text, sizeof text);
        if (text[0]) puts(text);
        ranked = ranked || text[0];
    }
    pli_family_summary(c, text, sizeof text);
    if (text[0]) puts(text);
    printf("%s%sErrors are relative to the reference's largest displacement; * nobody is both cheaper and closer.\n"
           "ms: %s; whole runs took %.2f to %.2f of their median%s.\n",
           ranked ? "\ngain: cost of a uniform body of equal error over the body's own cost.\n" : "",
           marked ? "!: too far off to be believed; pliant tune looks for parameters that are not.\n" : "",
           c->wall_clock ? "wall time" : "CPU time of one thread", low, high,
           busy > 1.25 ? "; other work was running on this machine" : "");
    if (c->outcome[c->reference].recorded[0])
        printf("The reference was recorded on %s, its times too; --no-cache runs it again.\n",
               c->outcome[c->reference].recorded);
    return good;
}

static void json_rival(PliJson *j, const char *name, const PliRival *r)
{
    pli_json_begin_object(j, name);
    pli_json_number(j, "gain", r->gain);
    pli_json_number(j, "cost_at_equal_error", r->cost);
    pli_json_string(j, "cost_bound", pli_bound_name(r->cost_bound));
    pli_json_number(j, "error_at_equal_cost", r->error);
    pli_json_string(j, "error_bound", pli_bound_name(r->error_bound));
    pli_json_string(j, "verdict", isfinite(r->gain) ? pli_rival_verdict(r) : NULL);
    pli_json_end(j);
}

/// NaN becomes null: a figure that has no meaning here, or a body that did not finish.
static void json_body(PliJson *j, const Result *r, const PliOutcome *o)
{
    const bool ran = o->verdict == PLI_FINISHED;
    const double none = NAN;
    pli_json_begin_object(j, NULL);
    pli_json_string(j, "scheme", o->scheme);
    pli_json_string(j, "status", pli_verdict_name(o->verdict));
    pli_json_number(j, "error_rms", ran ? o->error_rms : none);
    pli_json_number(j, "error_max", ran ? o->error_max : none);
    pli_json_number(j, "dofs_mean", ran ? o->dofs_mean : none);
    pli_json_number(j, "dofs_max", ran ? o->dofs_max : none);
    pli_json_number(j, "dofs_total", o->verdict == PLI_UNABLE ? none : o->dofs_total);
    pli_json_number(j, "ms_median", ran ? o->step_ms.median : none);
    pli_json_number(j, "ms_p99", ran ? o->step_ms.p99 : none);
    pli_json_number(j, "ms_max", ran ? o->step_ms.max : none);
    pli_json_number(j, "speedup", ran ? o->speedup : none);
    pli_json_number(j, "pop_max", ran ? o->pop_max : none);
    pli_json_number(j, "hidden_max", ran ? o->hidden_max : none);
    pli_json_number(j, "energy_drift", o->energy_drift);
    pli_json_number(j, "momentum_drift", o->momentum_drift);
    pli_json_integer(j, "refined", (int64_t)o->refined);
    pli_json_integer(j, "coarsened", (int64_t)o->coarsened);
    if (ran)
        pli_json_hash(j, "hash", o->hash);
    else
        pli_json_string(j, "hash", NULL);
    pli_json_string(j, "name", o->name);
    pli_json_string(j, "scene", r->contest->path);
    pli_json_bool(j, "reference", o->is_reference);
    pli_json_string(j, "parameters", o->parameters[0] ? o->parameters : NULL);
    pli_json_string(j, "reason", o->reason[0] ? o->reason : NULL);
    pli_json_string(j, "form", o->form[0] ? o->form : NULL);
    pli_json_string(j, "steps_taken", o->steps_text[0] ? o->steps_text : NULL);
    char doubt[300];
    pli_doubt_sentence(r->comparison, o, doubt, sizeof doubt);
    pli_json_string(j, "warning", doubt[0] ? doubt : NULL);
    pli_json_number(j, "diverged_at", o->verdict == PLI_WENT_AWAY ? o->stopped_at : none);
    pli_json_number(j, "error_hausdorff", ran ? o->error_hausdorff : none);
    pli_json_number(j, "error_near_tool", ran ? o->error_near_tool : none);
    pli_json_number(j, "force_error", ran ? o->force_error : none);
    pli_json_number(j, "ms_total", ran ? o->total_ms : none);
    pli_json_integer(j, "timed_runs", ran ? o->timed_runs : 0);
    pli_json_bool(j, "timed_while_measuring", o->timed_with_evidence);
    pli_json_string(j, "recorded", o->recorded[0] ? o->recorded : NULL);
    pli_json_number(j, "run_low", ran ? o->run_low : none);
    pli_json_number(j, "run_high", ran ? o->run_high : none);
    pli_json_number(j, "wall_over_cpu", ran ? o->busy : none);
    pli_json_number(j, "energy_loss", o->energy_loss);
    pli_json_number(j, "energy_added", o->energy_added);
    pli_json_number(j, "energy_removed", o->energy_removed);
    pli_json_integer(j, "bytes", (int64_t)o->bytes);
    pli_json_bool(j, "repeatable", o->repeatable);
    pli_json_bool(j, "on_front", o->on_front);
    pli_json_bool(j, "uniform", o->uniform);
    json_rival(j, "rival", &o->rival);
    json_rival(j, "force_rival", &o->force_rival);
    pli_json_end(j);
}

static PliStatus write_json(const char *path, const Result *result, int count, const char *command, PliError *err)
{
    PliJson j;
    const PliStatus status = pli_json_open(&j, path, err);
    if (status != PLI_OK) return status;
    pli_json_begin_object(&j, NULL);
    pli_json_integer(&j, "schema", 1);
    pli_json_string(&j, "command", command);
    pli_machine_json(&j);
    pli_json_begin_array(&j, "scenes");
    for (int k = 0; k < count; ++k) {
        const PliComparison *c = result[k].comparison;
        pli_json_begin_object(&j, NULL);
        pli_json_string(&j, "scene", result[k].contest->path);
        pli_json_string(&j, "title", result[k].contest->title);
        pli_json_integer(&j, "steps", c->steps);
        pli_json_number(&j, "dt", c->dt);
        pli_json_string(&j, "clock", c->wall_clock ? "wall" : "cpu");
        pli_json_number(&j, "largest_displacement", c->largest_displacement);
        pli_json_number(&j, "energy_scale", c->energy_scale);
        pli_json_number(&j, "force_scale", c->force_scale);
        pli_json_integer(&j, "surface_points", c->point_count);
        char verdict[600];
        pli_family_summary(c, verdict, sizeof verdict);
        pli_json_string(&j, "verdict", verdict[0] ? verdict : NULL);
        pli_json_end(&j);
    }
    pli_json_end(&j);
    pli_json_begin_array(&j, "bodies");
    for (int k = 0; k < count; ++k)
        for (int b = 0; b < result[k].comparison->count; ++b)
            json_body(&j, &result[k], &result[k].comparison->outcome[b]);
    return pli_json_close(&j, err);
}

static const char *in_folder(char *path, size_t size, const char *folder, const char *name)
{
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/// Tried before hours are spent: a file can be written there.
static PliStatus probe_folder(const char *folder, PliError *err)
{
    char path[1100];
    PliStatus status = pli_folder_make(folder, err);
    if (status != PLI_OK) return status;
    status = pli_file_replace(in_folder(path, sizeof path, folder, ".probe"), "", 0, err);
    if (status == PLI_OK) remove(path);
    if (status == PLI_OK) return status;
    const PliError cause = *err; // a text cannot be formatted into itself
    const char *why = strrchr(cause.text, ':');
    return pli_refuse(err, status, "%s: nothing can be written into this folder: %s", folder, why ? why + 2 : "");
}

static PliStatus write_picture(const PliChapter *chapter, const char *path, PliError *err)
{
    // the instant at which the reference is bent most
    const PliComparison *c = chapter->comparison;
    const PliOutcome *o = &c->outcome[c->reference];
    int best = 0;
    double most = -1.0;
    for (int k = 0; k < o->shot_count; ++k) {
        const double far = o->shot[k].points ? pli_gap(o->shot[k].points, c->rest, NULL, c->point_count).max : -1.0;
        if (far > most) most = far, best = k;
    }
    PliPicture *p = pli_report_panorama(chapter, best, 1200, 560);
    if (!p) return PLI_OK; // nothing to show
    const PliStatus status = pli_picture_write(p, path, err);
    pli_picture_destroy(p);
    return status;
}

/// Every file is tried, so that one that fails does not take the others with it. @return the first failure
static PliStatus write_files(const Options *o, const Result *result, int count, const char *command, PliError *err)
{
    PliChapter *chapter = calloc((size_t)count, sizeof *chapter);
    if (!chapter) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the report");
    for (int k = 0; k < count; ++k) {
        chapter[k] = (PliChapter){ .comparison = result[k].comparison,
                                   .title = result[k].contest->title,
                                   .scene = result[k].contest->path,
                                   .note = result[k].contest->note };
        memcpy(chapter[k].view, result[k].contest->view, sizeof chapter[k].view);
        memcpy(chapter[k].up, result[k].contest->up, sizeof chapter[k].up);
    }
    const PliMachine m = pli_machine();
    char cores[32], date[64];
    const time_t now = time(NULL);
    struct tm local;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M %Z", localtime_r(&now, &local));
    snprintf(cores, sizeof cores, "%ld", m.cores);
    char threads[16];
    snprintf(threads, sizeof threads, "%d", o->threads);
    const PliFact fact[] = { { "pliant", m.version },     { "processor", m.cpu },    { "cores", cores },
                             { "threads used", threads }, { "vector unit", m.simd }, { "compiler", m.compiler },
                             { "flags", m.flags },        { "date", date } };
    const PliReportDef def = {
        .chapter = chapter, .count = count, .command = command, .facts = fact, .fact_count = sizeof fact / sizeof *fact
    };
    PliText html = { 0 }, bodies = { 0 }, series = { 0 };
    PliStatus status[5];
    PliError each[5] = { { PLI_OK, "" } };
    char path[1100];
    status[0] = write_json(in_folder(path, sizeof path, o->out, "compare.json"), result, count, command, &each[0]);
    pli_report_bodies_csv(&def, &bodies);
    status[1] = pli_text_write(&bodies, in_folder(path, sizeof path, o->out, "bodies.csv"), &each[1]);
    pli_report_series_csv(&def, &series);
    status[2] = pli_text_write(&series, in_folder(path, sizeof path, o->out, "series.csv"), &each[2]);
    status[3] = pli_report_html(&def, &html);
    if (status[3] != PLI_OK)
        pli_refuse(&each[3], status[3], "no memory for the report");
    else
        status[3] = pli_text_write(&html, in_folder(path, sizeof path, o->out, "report.html"), &each[3]);
    status[4] = write_picture(&chapter[0], in_folder(path, sizeof path, o->out, "picture.png"), &each[4]);
    pli_text_free(&html);
    pli_text_free(&bodies);
    pli_text_free(&series);
    free(chapter);
    for (int k = 0; k < 5; ++k)
        if (status[k] != PLI_OK) {
            *err = each[k];
            return status[k];
        }
    return PLI_OK;
}

// ---- everything ---------------------------------------------------------------------------------------------------------------

static void show_progress(double part, const char *text, void *user)
{
    (void)user;
    pli_progress((int)(1000.0 * part), 1000, text);
}

static void free_result(Result *r)
{
    pli_comparison_destroy(r->comparison);
    pli_contest_destroy(r->contest);
    pli_varied_end(&r->load);
}

static PliStatus run_scene(const Options *o, const PliHost *host, const char *path, Result *r, PliError *err)
{
    PliStatus status = pli_varied_begin(&r->load, host, path, &o->scene_options.def, NULL, 0, (uint64_t)o->seed, err);
    if (status != PLI_OK) return status;
    r->contest = pli_contest_load(host, path, &r->load.def, err);
    if (!r->contest) return err->status;
    status = o->schemes ? pli_contest_choose(r->contest, o->schemes, err) : PLI_OK;
    for (int k = 0; k < o->sweeps.count && status == PLI_OK; ++k)
        status = pli_contest_sweep(r->contest, o->sweep[k], err);
    if (status != PLI_OK) return status;
    PliCompareDef def = pli_compare_default();
    def.steps = (PliIndex)o->steps;
    def.repeat = o->repeat;
    def.wall_clock = o->threads > 1;
    char cache[1024];
    if (!o->no_cache && pli_cache_folder(cache, sizeof cache)) def.cache = cache;
    if (!o->quiet) def.progress = show_progress;
    def.stopped = pli_interrupted;
    r->comparison = pli_contest_compare(r->contest, &def, err);
    if (!o->quiet) pli_progress(0, 0, NULL);
    return r->comparison ? PLI_OK : err->status;
}

static int verdict_of(const Result *result, int count)
{
    int code = PLI_EXIT_OK;
    for (int k = 0; k < count; ++k)
        for (int b = 0; b < result[k].comparison->count; ++b) {
            const PliOutcome *o = &result[k].comparison->outcome[b];
            if (o->verdict == PLI_WENT_AWAY) code = PLI_EXIT_DIVERGED;
            if (o->verdict == PLI_FINISHED && !o->repeatable && code == PLI_EXIT_OK) code = PLI_EXIT_FAILED;
        }
    return code;
}

/// Scenes that were finished before are written.
static int report_interrupt(const Options *o, int done)
{
    if (done > 0)
        pli_cli_refuse("compare", "ended by a signal; %d of %d scenes are written to %s", done, o->scenes.count,
                       o->out);
    else
        pli_cli_refuse("compare", "ended by a signal before the first scene was compared; nothing was written to %s",
                       o->out);
    return PLI_EXIT_INTERRUPTED;
}

static int compare_all(const Options *o, const PliHost *host, const char *command)
{
    Result result[MAX_SCENES] = { { 0 } };
    PliError err = { PLI_OK, "" };
    const bool only_json = o->json && strcmp(o->json, "-") == 0;
    int done = 0, code = PLI_EXIT_OK;
    for (int k = 0; k < o->scenes.count && code == PLI_EXIT_OK; ++k) code = pli_cli_find_scene("compare", o->scene[k]);
    if (code != PLI_EXIT_OK) return code;
    const bool fresh = access(o->out, F_OK) != 0;
    if (probe_folder(o->out, &err) != PLI_OK) return pli_cli_report("compare", &err);
    pli_interrupt_listen();
    for (int k = 0; k < o->scenes.count && code == PLI_EXIT_OK; ++k) {
        if (run_scene(o, host, o->scene[k], &result[k], &err) != PLI_OK) {
            if (pli_interrupted())
                code = report_interrupt(o, done);
            else
                code = pli_cli_report("compare", &err);
            free_result(&result[k]);
            break;
        }
        ++done;
        if (o->quiet || only_json) continue;
        if (k > 0) puts("");
        if (!print_result(&result[k])) code = PLI_EXIT_MEMORY;
        fflush(stdout);
    }
    if (done == 0 && fresh) rmdir(o->out); // it was made to see whether it can be
    // what was measured before something went wrong is still written
    if (done > 0 && write_files(o, result, done, command, &err) != PLI_OK)
        code = pli_cli_report("compare", &err);
    else if (done > 0 && !o->quiet)
        fprintf(only_json ? stderr : stdout, "\nReport: %s/report.html\n", o->out);
    if (done > 0 && o->json && write_json(o->json, result, done, command, &err) != PLI_OK)
        code = pli_cli_report("compare", &err);
    if (code == PLI_EXIT_OK) code = verdict_of(result, done);
    for (int k = 0; k < done; ++k) free_result(&result[k]);
    return code;
}

int pli_cmd_compare(int argc, char **argv)
{
    Options o = { .out = "pliant-compare", .threads = 1 };
    PliSceneOptions *const so = &o.scene_options;
    pli_scene_options_begin(so);
    o.scenes = (PliWords){ o.scene, 0, MAX_SCENES };
    o.sweeps = (PliWords){ o.sweep, 0, MAX_SWEEPS };
    const PliOption options[] = {
        { "schemes", 0, "A,B", "only bodies of these schemes or names, and the reference", PLI_OPTION_TEXT, &o.schemes,
          .needs = "names, separated by commas" },
        PLI_OPTION_SET(*so),
        { "sweep", 0, "@BODY/COMPONENT.ATTR=V1,V2,...",
          "one more body for each value: an error-cost curve; may be repeated", PLI_OPTION_LIST, .value = &o.sweeps,
          .needs = "@Body/component.attribute=value,value,..." },
        { "repeat", 0, "N", "timed runs of every body (3, or fewer for bodies that take longer than 10 s in all)",
          PLI_OPTION_INTEGER, &o.repeat, .least = 1, .most = REPEATS },
        { "steps", 'n', "N", "steps instead of the scene's", PLI_OPTION_INTEGER, &o.steps, .least = 1, .most = 1e8 },
        { "seed", 0, "S", "vary the load: tools moved sideways and further or less far; 0: as the scene says (0)",
          PLI_OPTION_INTEGER, &o.seed, .most = 2e9 },
        PLI_OPTION_THREADS(o.threads, "errors, DOFs and hashes do not depend on it"),
        { "out", 'o', "DIR", "where the files go (pliant-compare)", PLI_OPTION_TEXT, &o.out, .needs = "a directory" },
        { "json", 0, "FILE", "JSON there too; - writes only JSON, to standard output", PLI_OPTION_TEXT, &o.json,
          .needs = "a file, or - for standard output" },
        PLI_OPTION_DATA_PATH(*so),
        { "no-cache", 0, NULL, "run the reference again, and keep no recording of it", PLI_OPTION_FLAG,
          .value = &o.no_cache },
        { "quiet", 'q', NULL, "no progress, no table", PLI_OPTION_FLAG, .value = &o.quiet },
    };
    const PliCommandLine line = {
        .program = "pliant compare",
        .synopsis = "SCENE... [OPTIONS]",
        .about = "Runs every body of a comparison scene alone, measures each against the scene's reference on their "
                 "common surface,\nand times it. Prints a table; writes report.html (opens without a network), "
                 "compare.json, bodies.csv, series.csv\nand picture.png.",
        .ending = "Exit codes: 0 compared (a body that cannot do a scene says why), 1 a body gave another result when "
                  "it ran again,\n2 bad command line, malformed scene or no reference, 3 outside the profile, 4 a file "
                  "is missing or cannot be\nwritten, 5 a body diverged (the others are compared), 6 no memory, 130 "
                  "ended by\nCtrl-C.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
        .words = &o.scenes,
        .least_words = 1,
        .word_name = "scene",
    };
    int code;
    if (!pli_options_read(&line, argc, argv, &code)) return code;
    PliText command = { 0 };
    quote_command(&command, argc, argv);
    code = pli_scene_options_apply(so, &line);
    PliHost host = pli_cli_terse_host();
    PliPool *pool = code == PLI_EXIT_OK && o.threads > 1 ? pli_pool_create(o.threads) : NULL;
    if (pool) pli_pool_lend(pool, &host);
    if (code == PLI_EXIT_OK && o.threads > 1 && !pool)
        code = pli_cli_refuse("compare", "%d threads cannot be started", o.threads);
    else if (code == PLI_EXIT_OK)
        code = compare_all(&o, &host, command.failed || !command.data ? "pliant compare" : command.data);
    pli_pool_destroy(pool);
    pli_scene_options_end(so);
    pli_text_free(&command);
    return code;
}
