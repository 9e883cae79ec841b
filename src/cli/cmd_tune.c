/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "cli/cli.h"
#include "cli/scene_options.h"
#include "host/compare/figures.h"
#include "host/compare/tune.h"
#include "host/scaffold/rewrite.h"
#include "output/interrupt.h"
#include "output/json.h"
#include "output/progress.h"
#include "output/table.h"

enum { MOST_BODIES = 64 };

typedef struct Options {
    const char *scene[1], *schemes, *out, *error, *budget, *check, *json;
    PliWords scenes;
    int loads, guards, tries, steps, seed, minutes;
    bool quiet;
    double wanted_error, wanted_ms;
    PliSceneOptions scene_options;
} Options;

typedef struct Bodies {
    char name[MOST_BODIES][80];
    PliTuned tuned[MOST_BODIES];
    bool done[MOST_BODIES];
    char unable[MOST_BODIES][200];
    int count;
} Bodies;

// ---- what is wanted --------------------------------------------------------------------------------------------------------

/// "2%", "0.02", "5ms", "5": a number with a unit, or without.
static bool read_amount(const char *text, const char *unit, double factor, double *value)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || !isfinite(number) || number <= 0.0) return false;
    while (*end == ' ') ++end;
    const bool has_unit = strcmp(end, unit) == 0;
    *value = has_unit ? factor * number : number;
    return has_unit || !*end;
}

static bool read_goal(Options *o, const PliCommandLine *line, int *code)
{
    if (!o->error == !o->budget) {
        *code = pli_options_refuse(line, "needs --error 2%% or --budget 5ms, one of them");
        return false;
    }
    if (o->error && (!read_amount(o->error, "%", 0.01, &o->wanted_error) || o->wanted_error >= 1.0)) {
        *code = pli_options_refuse(line, "--error is a part of the largest displacement, as 2%% or 0.02, not '%s'",
                                   o->error);
        return false;
    }
    if (o->budget && !read_amount(o->budget, "ms", 1.0, &o->wanted_ms)) {
        *code = pli_options_refuse(line, "--budget is ms per step, as 5ms or 5, not '%s'", o->budget);
        return false;
    }
    return true;
}

// ---- the scene that is written ---------------------------------------------------------------------------------------------

static PliStatus read_text(const char *path, PliText *text, PliError *err)
{
    FILE *in = fopen(path, "rb");
    char block[4096];
    for (size_t n; in && (n = fread(block, 1, sizeof block, in)) > 0;) pli_text_print(text, "%.*s", (int)n, block);
    if (in) fclose(in);
    if (in && text->data && !text->failed) return PLI_OK;
    return pli_refuse(err, PLI_BAD_FILE, "%s: cannot be read", path);
}

/// What was found, in a copy of the scene beside it; what is in an included file is said instead.
static PliStatus write_scene(const Options *o, const Bodies *b, const char *path, PliError *err)
{
    const PliHost host = pli_cli_terse_host();
    PliContest *contest = pli_contest_load(&host, o->scene[0], &o->scene_options.def, err);
    PliText text = { 0 };
    if (!contest) return err->status;
    PliStatus status = read_text(o->scene[0], &text, err);
    for (int i = 0; i < b->count && status == PLI_OK; ++i)
        for (int k = 0; b->done[i] && k < b->tuned[i].knob_count; ++k) {
            const PliKnob *knob = &b->tuned[i].knob[k];
            PliObject *object = NULL;
            PliNode *node = NULL;
            char value[32];
            const char *dot = strrchr(knob->path, '.');
            if (knob->value == knob->start ||
                !pli_scene_follow(contest->graph->root, NULL, knob->path + 1, (size_t)(dot - knob->path - 1), &object,
                                  &node) ||
                !object)
                continue;
            snprintf(value, sizeof value, knob->whole ? "%.0f" : "%.6g", knob->value);
            const bool own = strcmp(object->xml->file, o->scene[0]) == 0;
            if (!own || !pli_rewrite_attribute(&text, object->xml, knob->name, value))
                printf("%s is not in this file: set %s=\"%s\" at %s:%d\n", b->name[i], knob->name, value,
                       object->xml->file, object->xml->line);
        }
    if (status == PLI_OK) status = pli_text_write(&text, path, err);
    pli_text_free(&text);
    pli_contest_destroy(contest);
    return status;
}

// ---- what is said ----------------------------------------------------------------------------------------------------------

static void put_percent(PliTable *t, const PliScore *s, double value)
{
    if (s->ran && isfinite(value))
        pli_table_cell(t, "%.3g %%", 100.0 * value);
    else
        pli_table_cell(t, "-");
}

static void put_ms(PliTable *t, const PliScore *s)
{
    if (s->ran)
        pli_table_cell(t, "%.3g", s->ms);
    else
        pli_table_cell(t, "-");
}

static bool print_table(const Bodies *b)
{
    const char *const heading[] = { "body",   "error", "ms",         "tuned", "ms",
                                    "unseen", "ms",    "tool force", "tried", "parameters" };
    PliTable t;
    pli_table_begin(&t, "lrrrrrrrrl", heading);
    for (int i = 0; i < b->count; ++i) {
        const PliTuned *u = &b->tuned[i];
        if (!b->done[i]) continue;
        pli_table_cell(&t, "%s", b->name[i]);
        put_percent(&t, &u->before, u->before.error), put_ms(&t, &u->before);
        put_percent(&t, &u->after, u->after.error), put_ms(&t, &u->after);
        put_percent(&t, &u->unseen, u->unseen.error), put_ms(&t, &u->unseen);
        put_percent(&t, &u->unseen, u->unseen.force);
        pli_table_cell(&t, "%d", u->tried);
        char text[200] = "";
        for (int k = 0; k < u->knob_count; ++k) {
            char one[80];
            snprintf(one, sizeof one, u->knob[k].whole ? "%s%s=%.0f" : "%s%s=%.3g", k ? " " : "", u->knob[k].name,
                     u->knob[k].value);
            strncat(text, one, sizeof text - strlen(text) - 1);
        }
        pli_table_cell(&t, u->like[0] ? "%s, as %s" : "%s", text, u->like);
    }
    const bool good = pli_table_print(&t, stdout);
    pli_table_end(&t);
    return good;
}

/// One sentence for a body that is not what was asked for; "": it is.
static void find_verdict(const Options *o, const Bodies *b, int i, char *text, size_t size)
{
    const PliTuned *u = &b->tuned[i];
    text[0] = '\0';
    if (!b->done[i] && b->unable[i][0])
        snprintf(text, size, "%s was not tuned: %s", b->name[i], b->unable[i]);
    else if (!b->done[i])
        return;
    else if (!u->after.ran)
        snprintf(text, size, "%s does not finish the scene with anything that was tried: %s", b->name[i],
                 u->after.reason);
    else if (!u->reached && o->wanted_error > 0.0)
        snprintf(text, size, "%s cannot reach %.3g %%: the best of %d tries is %.3g %% at %.3g ms", b->name[i],
                 100.0 * o->wanted_error, u->tried, 100.0 * u->after.error, u->after.ms);
    else if (!u->reached)
        snprintf(text, size, "%s cannot be as cheap as %.3g ms: the cheapest of %d tries takes %.3g ms, %.3g %% off",
                 b->name[i], o->wanted_ms, u->tried, u->after.ms, 100.0 * u->after.error);
    else if (!u->holds && !u->unseen.ran)
        snprintf(text, size, "%s does not finish the load it was not tuned on: %s", b->name[i], u->unseen.reason);
    else if (!u->holds)
        snprintf(text, size, "%s does not hold it on the load it was not tuned on: %.3g %% off at %.3g ms", b->name[i],
                 100.0 * u->unseen.error, u->unseen.ms);
    const size_t n = strlen(text);
    if (n && b->done[i] && !u->reached && u->out_of_time)
        snprintf(text + n, size - n, "; the time was up before all was tried (--minutes)");
}

/// @return how many bodies are not what was asked for
static int print_verdicts(const Options *o, const Bodies *b)
{
    int short_of = 0;
    puts("");
    for (int i = 0; i < b->count; ++i) {
        const PliTuned *u = &b->tuned[i];
        char text[500];
        find_verdict(o, b, i, text, sizeof text);
        if (text[0]) puts(text);
        short_of += text[0] != '\0';
        if (b->done[i] && u->unseen.ran && u->unseen.force > pli_doubtful_force)
            printf("warning: the tool force on %s is off by %.3g %%\n", b->name[i], 100.0 * u->unseen.force);
    }
    return short_of;
}

/// Where it is not the load that was asked for.
static void print_unseen(const Bodies *b, uint64_t seed)
{
    for (int i = 0; i < b->count; ++i) {
        const PliTuned *u = &b->tuned[i];
        if (!b->done[i] || u->unseen_seed == seed) continue;
        seed = u->unseen_seed;
        if (u->failed)
            printf("The unseen load of %s is that of seed %llu: it failed on %d before, which were then trained on\n",
                   b->name[i], (unsigned long long)seed, u->failed);
        else
            printf("The unseen load of %s is that of seed %llu: earlier ones do not move the body\n", b->name[i],
                   (unsigned long long)seed);
    }
}

static void json_score(PliJson *j, const char *name, const PliScore *s)
{
    pli_json_begin_object(j, name);
    pli_json_number(j, "error", s->ran ? s->error : NAN);
    pli_json_number(j, "force", s->ran ? s->force : NAN);
    pli_json_number(j, "ms", s->ran ? s->ms : NAN);
    pli_json_end(j);
}

static PliStatus write_json(const Options *o, const Bodies *b, const char *scene, PliError *err)
{
    PliJson j;
    const PliStatus status = pli_json_open(&j, o->json, err);
    if (status != PLI_OK) return status;
    pli_json_begin_object(&j, NULL);
    pli_json_integer(&j, "schema", 1);
    pli_json_string(&j, "scene", scene);
    pli_json_number(&j, "wanted_error", o->wanted_error > 0.0 ? o->wanted_error : NAN);
    pli_json_number(&j, "wanted_ms", o->wanted_ms > 0.0 ? o->wanted_ms : NAN);
    pli_json_begin_array(&j, "bodies");
    for (int i = 0; i < b->count; ++i) {
        const PliTuned *u = &b->tuned[i];
        char text[500];
        find_verdict(o, b, i, text, sizeof text);
        pli_json_begin_object(&j, NULL);
        pli_json_string(&j, "name", b->name[i]);
        json_score(&j, "before", &u->before);
        json_score(&j, "tuned", &u->after);
        json_score(&j, "unseen", &u->unseen);
        pli_json_integer(&j, "unseen_seed", (long long)u->unseen_seed);
        pli_json_integer(&j, "unseen_failed", u->failed);
        pli_json_bool(&j, "reached", b->done[i] && u->reached);
        pli_json_bool(&j, "holds", b->done[i] && u->holds);
        pli_json_string(&j, "verdict", text[0] ? text : NULL);
        pli_json_integer(&j, "tried", u->tried);
        pli_json_string(&j, "like", u->like[0] ? u->like : NULL);
        pli_json_begin_array(&j, "loads");
        for (int l = 0; b->done[i] && l < u->load_count; ++l) {
            pli_json_begin_object(&j, NULL);
            pli_json_integer(&j, "seed", (long long)u->seed[l]);
            pli_json_bool(&j, "trained", u->trained[l]);
            pli_json_number(&j, "error", u->load[l].ran ? u->load[l].error : NAN);
            pli_json_number(&j, "force", u->load[l].ran ? u->load[l].force : NAN);
            pli_json_end(&j);
        }
        pli_json_end(&j);
        pli_json_begin_object(&j, "parameters");
        for (int k = 0; k < u->knob_count; ++k) pli_json_number(&j, u->knob[k].name, u->knob[k].value);
        pli_json_end(&j);
        pli_json_end(&j);
    }
    return pli_json_close(&j, err);
}

// ---- everything ------------------------------------------------------------------------------------------------------------

static void show_progress(int done, int most, const char *body)
{
    char text[120];
    snprintf(text, sizeof text, "tries at most, %.80s",
             body); // how many it takes is not known: no time that is left is said
    pli_progress(done, most, text);
}

/// The bodies that are tuned: those asked for, or all of another scheme than the reference's.
static PliStatus find_bodies(const Options *o, const PliHost *host, Bodies *b, PliError *err)
{
    PliContest *contest = pli_contest_load(host, o->scene[0], &o->scene_options.def, err);
    if (!contest) return err->status;
    PliStatus status = o->schemes ? pli_contest_choose(contest, o->schemes, err) : PLI_OK;
    for (int k = 0; k < contest->count && status == PLI_OK; ++k) {
        const PliContender *p = &contest->part[k];
        const bool uniform = strcmp(p->scheme, contest->part[contest->reference].scheme) == 0;
        if (k == contest->reference || (uniform && !o->schemes)) continue;
        if (p->unable) snprintf(b->unable[b->count], sizeof b->unable[0], "%.199s", p->unable);
        snprintf(b->name[b->count++], sizeof b->name[0], "%s", p->name);
    }
    if (status == PLI_OK && b->count == 0)
        status = pli_refuse(err, PLI_BAD_ARGUMENT, "%s has no body to tune besides uniform ones", o->scene[0]);
    pli_contest_destroy(contest);
    return status;
}

static void default_out(const char *scene, char *path, size_t size)
{
    const size_t n = strlen(scene);
    const bool scn = n > 4 && strcmp(scene + n - 4, ".scn") == 0;
    snprintf(path, size, "%.*s_tuned.scn", (int)(scn ? n - 4 : n), scene);
}

static int tune_all(const Options *o)
{
    static Bodies b;
    char cache[1024], path[1100];
    const PliHost host = pli_cli_terse_host();
    PliError err = { PLI_OK, "" };
    PliTuneDef def = pli_tune_default();
    def.scene = o->scene[0], def.error = o->wanted_error, def.budget = o->wanted_ms, def.loads = o->loads,
    def.guards = o->guards;
    def.steps = o->steps, def.most = o->tries, def.unseen_seed = (uint64_t)o->seed, def.unseen_scene = o->check;
    def.stopped = pli_interrupted;
    def.others = b.tuned, def.other_count = 0;
    if (pli_cache_folder(cache, sizeof cache)) def.cache = cache;
    if (!o->quiet) def.progress = show_progress;
    if (find_bodies(o, &host, &b, &err) != PLI_OK) return pli_cli_report("tune", &err);
    pli_interrupt_listen();
    int done = 0;
    const double begun = pli_wall_ms();
    for (int i = 0; i < b.count && !pli_interrupted(); ++i) {
        if (b.unable[i][0]) continue;
        // what a body leaves of its share is for those behind it
        const double left = 60e3 * o->minutes - (pli_wall_ms() - begun);
        def.seconds = fmax(1e-3 * left / (b.count - i), 1e-3);
        def.body = b.name[i], def.other_count = i;
        b.done[i] = pli_tune(&host, &o->scene_options.def, &def, &b.tuned[i], &err) == PLI_OK;
        done += b.done[i];
        if (!o->quiet) pli_progress(0, 0, NULL);
        if (b.done[i] || pli_interrupted()) continue;
        if (err.status == PLI_OUT_OF_MEMORY || done == 0) return pli_cli_report("tune", &err);
        snprintf(b.unable[i], sizeof b.unable[0], "%.199s", err.text);
    }
    if (done == 0) {
        pli_cli_refuse("tune", "ended by a signal before the first body was tuned; nothing was written");
        return PLI_EXIT_INTERRUPTED;
    }
    if (!print_table(&b)) return PLI_EXIT_MEMORY;
    const int short_of = print_verdicts(o, &b);
    if (!o->check) print_unseen(&b, (uint64_t)o->seed);
    if (o->out)
        snprintf(path, sizeof path, "%s", o->out);
    else
        default_out(o->scene[0], path, sizeof path);
    if (write_scene(o, &b, path, &err) != PLI_OK) return pli_cli_report("tune", &err);
    printf("Scene: %s\n", path);
    if (o->json && write_json(o, &b, path, &err) != PLI_OK) return pli_cli_report("tune", &err);
    if (pli_interrupted()) {
        pli_cli_refuse("tune", "ended by a signal; %d of %d bodies are tuned in %s", done, b.count, path);
        return PLI_EXIT_INTERRUPTED;
    }
    return short_of ? PLI_EXIT_FAILED : PLI_EXIT_OK;
}

int pli_cmd_tune(int argc, char **argv)
{
    const PliTuneDef usual = pli_tune_default();
    Options o = {
        .loads = usual.loads, .guards = usual.guards, .tries = usual.most, .seed = (int)usual.unseen_seed, .minutes = 20
    };
    PliSceneOptions *const so = &o.scene_options;
    pli_scene_options_begin(so);
    o.scenes = (PliWords){ o.scene, 0, 1 };
    const PliOption options[] = {
        { "error", 0, "E", "wanted: at most this error, as 2% of the largest displacement, at the least cost",
          PLI_OPTION_TEXT, &o.error, .needs = "an error, as 2%" },
        { "budget", 0, "T", "wanted: at most this time a step, as 5ms, at the least error", PLI_OPTION_TEXT, &o.budget,
          .needs = "a time, as 5ms" },
        { "schemes", 0, "A,B", "only bodies of these schemes or names (all but uniform ones)", PLI_OPTION_TEXT,
          &o.schemes, .needs = "names, separated by commas" },
        { "loads", 0, "N", "training loads, 1 .. 8 (2): the scene's, and varied ones", PLI_OPTION_INTEGER, &o.loads,
          .least = 1, .most = PLI_TUNE_LOADS / 2 },
        { "guards", 0, "N", "more varied loads the choice must hold on, 0 .. 8 (4); one it fails is trained on",
          PLI_OPTION_INTEGER, &o.guards, .most = PLI_TUNE_LOADS / 2 },
        { "seed", 0, "S", "the load that has no part in the choice (99)", PLI_OPTION_INTEGER, &o.seed, .least = 1,
          .most = 2e9 },
        { "check", 0, "SCENE", "another scene with the same bodies instead: its load is not trained on",
          PLI_OPTION_TEXT, &o.check, .needs = "a scene" },
        { "tries", 0, "N", "most choices of parameters that are tried for a body, 1 .. 200 (24)", PLI_OPTION_INTEGER,
          &o.tries, .least = 1, .most = 200 },
        { "minutes", 0, "N", "wall time for all bodies, after which no new choice is tried (20)", PLI_OPTION_INTEGER,
          &o.minutes, .least = 1, .most = 1e5 },
        { "steps", 'n', "N", "steps instead of the scene's", PLI_OPTION_INTEGER, &o.steps, .least = 1, .most = 1e8 },
        { "out", 'o', "FILE", "the scene with what was found (SCENE_tuned.scn)", PLI_OPTION_TEXT, &o.out,
          .needs = "a file" },
        { "json", 0, "FILE", "what was found, as JSON", PLI_OPTION_TEXT, &o.json, .needs = "a file" },
        PLI_OPTION_SET(*so),
        PLI_OPTION_DATA_PATH(*so),
        { "quiet", 'q', NULL, "no progress", PLI_OPTION_FLAG, .value = &o.quiet },
    };
    const PliCommandLine line = {
        .program = "pliant tune",
        .synopsis = "SCENE --error 2% | --budget 5ms [OPTIONS]",
        .about =
            "Finds the parameters of each scheme of a comparison scene: the cheapest within an error, or the closest "
            "within a\ntime. They are chosen on training loads, must hold on more of them, and are then tried on a "
            "load "
            "that had no part\nin it. Writes the scene with them, and says what could not be reached.",
        .ending =
            "Exit codes: 0 every body holds it on the unseen load, 1 some do not (the scene is written), 2 bad command "
            "line or\nscene, 3 outside the profile, 4 a file is missing or cannot be written, 6 no memory, 130 ended "
            "by Ctrl-C; bodies\nthat were tuned by then are written.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
        .words = &o.scenes,
        .least_words = 1,
        .word_name = "scene",
    };
    int code;
    if (!pli_options_read(&line, argc, argv, &code)) return code;
    if (!read_goal(&o, &line, &code)) return code;
    code = pli_scene_options_apply(so, &line);
    if (code == PLI_EXIT_OK) code = pli_cli_find_scene("tune", o.scene[0]);
    if (code == PLI_EXIT_OK && o.check) code = pli_cli_find_scene("tune", o.check);
    if (code == PLI_EXIT_OK) code = tune_all(&o);
    pli_scene_options_end(so);
    return code;
}
