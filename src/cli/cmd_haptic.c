/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/scene_options.h"
#include "host/feel/feel.h"
#include "host/report/plot.h"
#include "output/interrupt.h"
#include "output/json.h"
#include "output/machine.h"
#include "output/progress.h"
#include "output/table.h"

typedef struct Options {
    const char *scene[1], *device, *body, *json, *plot, *record;
    PliWords scenes;
    int threads, tool;
    double seconds, stiffness, rate, scale;
    bool offline, list, stiffest, control, quiet;
    PliSceneOptions scene_options;
} Options;

static int print_devices(void)
{
    static const char *const heading[] = { "device", "forces", "also", "" };
    PliTable t;
    pli_table_begin(&t, "llll", heading);
    for (int i = 0; pli_device_at(i); ++i) {
        const PliDeviceInfo *d = pli_device_at(i);
        pli_table_cell(&t, "%s", d->name);
        pli_table_cell(&t, "%s", d->gives_forces ? "yes" : "no");
        pli_table_cell(&t, "%s", d->also);
        pli_table_cell(&t, "%s", d->help);
    }
    const bool good = pli_table_print(&t, stdout);
    pli_table_end(&t);
    return good ? PLI_EXIT_OK : PLI_EXIT_MEMORY;
}

static double median_ms(const PliFeel *f, double share)
{
    double sorted[4096];
    const size_t stride = f->step_count / 4096 + 1;
    int n = 0;
    for (size_t i = 0; i < f->step_count; i += stride) {
        int k = n++;
        for (; k > 0 && sorted[k - 1] > f->step[i].ms; --k) sorted[k] = sorted[k - 1];
        sorted[k] = f->step[i].ms;
    }
    return n ? sorted[(int)(share * (n - 1) + 0.5)] : NAN;
}

static void row(PliTable *t, const char *name, double value, const char *unit)
{
    pli_table_cell(t, "%s", name);
    pli_table_number(t, value);
    pli_table_cell(t, "%s", unit);
}

static void print_feel(const Options *o, const PliFeel *f, double stiffest)
{
    static const char *const heading[] = { "", "value", "unit" };
    FILE *out = o->json && strcmp(o->json, "-") == 0 ? stderr : stdout;
    PliTable t;
    fprintf(out, "%s (%s) felt by %s, %s\n", f->body, f->scheme, f->device, o->offline ? "off line" : "in real time");
    pli_table_begin(&t, "lrl", heading);
    if (!o->offline) {
        row(&t, "servo rate", f->loop.rate, "Hz");
        row(&t, "real-time priority", f->loop.priority, f->loop.priority ? "granted" : "refused: see ulimit -r");
        row(&t, "threads that tick in turn", f->loop.threads, "");
        row(&t, "ticks", (double)f->loop.ticks, "");
        row(&t, "missed deadlines", (double)f->loop.missed, "");
        row(&t, "of them after a slow tick", (double)f->loop.missed_slow, "else woken late");
        row(&t, "longest gap", 1e3 * f->loop.worst_gap, "ms");
        row(&t, "taken by the machine below", 1e3 * f->stolen, "ms");
        row(&t, "callback p99.9", 1e6 * f->loop.callback_p999, "us");
        row(&t, "longest callback", 1e6 * f->loop.worst_call, "us");
    }
    row(&t, "simulation steps", (double)f->step_count, "");
    row(&t, "step and model, median", median_ms(f, 0.5), "ms");
    row(&t, "step and model, p99", median_ms(f, 0.99), "ms");
    row(&t, "refined or coarsened", (double)f->events, "steps");
    row(&t, "largest force", f->largest_force, "N");
    row(&t, "largest excess force step", f->excess, "N/ms");
    row(&t, "the same near such events", f->event_excess, "N/ms");
    row(&t, "least energy observed", f->least_energy, "J");
    row(&t, "turns of the force", f->turns, "1/s");
    if (o->stiffest) row(&t, "largest stable coupling", stiffest, "N/m");
    pli_table_print(&t, out);
    pli_table_end(&t);
    if (f->status) fprintf(out, "the simulation ended: %s\n", f->error.text);
    if (f->device_error.status) fprintf(out, "the device reports: %s\n", f->device_error.text);
}

static PliStatus write_json(const Options *o, const PliFeel *f, double stiffest, PliError *err)
{
    PliJson j;
    PliStatus status = pli_json_open(&j, o->json, err);
    if (status) return status;
    pli_json_begin_object(&j, NULL);
    pli_json_integer(&j, "schema", 1);
    pli_json_string(&j, "scene", o->scene[0]);
    pli_json_string(&j, "body", f->body);
    pli_json_string(&j, "scheme", f->scheme);
    pli_json_string(&j, "device", f->device);
    pli_json_string(&j, "error", f->status ? f->error.text : NULL);
    pli_json_string(&j, "device_error", f->device_error.status ? f->device_error.text : NULL);
    pli_machine_json(&j);
    if (!o->offline) {
        pli_json_begin_object(&j, "servo");
        pli_json_number(&j, "rate", f->loop.rate);
        pli_json_integer(&j, "ticks", (int64_t)f->loop.ticks);
        pli_json_integer(&j, "missed", (int64_t)f->loop.missed);
        pli_json_integer(&j, "missed_slow", (int64_t)f->loop.missed_slow);
        pli_json_number(&j, "longest_gap", f->loop.worst_gap);
        pli_json_number(&j, "stolen", f->stolen);
        pli_json_number(&j, "callback_p999", f->loop.callback_p999);
        pli_json_number(&j, "longest_callback", f->loop.worst_call);
        pli_json_integer(&j, "priority", f->loop.priority);
        pli_json_integer(&j, "threads", f->loop.threads);
        pli_json_begin_array(&j, "gap_histogram"); // bins of a hundredth of the period
        for (int i = 0; i < PLI_LOOP_BINS; ++i) pli_json_integer(&j, NULL, f->loop.gap[i]);
        pli_json_end(&j);
        pli_json_end(&j);
    }
    pli_json_integer(&j, "steps", (int64_t)f->step_count);
    pli_json_number(&j, "ms_median", median_ms(f, 0.5));
    pli_json_number(&j, "ms_p99", median_ms(f, 0.99));
    pli_json_integer(&j, "events", (int64_t)f->events);
    pli_json_number(&j, "largest_force", f->largest_force);
    pli_json_number(&j, "excess_step", f->excess);
    pli_json_number(&j, "event_excess_step", f->event_excess);
    pli_json_number(&j, "least_energy", f->least_energy);
    pli_json_number(&j, "turns", f->turns);
    pli_json_number(&j, "largest_stable_stiffness", o->stiffest ? stiffest : NAN);
    pli_json_begin_array(&j,
                         "simulation"); // time, N on the tool, N/m under it, ms of step and model, refined, coarsened
    for (size_t i = 0; i < f->step_count; ++i) {
        const PliFeelStep *s = &f->step[i];
        pli_json_begin_array(&j, NULL);
        pli_json_number(&j, NULL, s->time);
        pli_json_number(&j, NULL, s->force);
        pli_json_number(&j, NULL, s->stiffness);
        pli_json_number(&j, NULL, s->ms);
        pli_json_integer(&j, NULL, s->refined);
        pli_json_integer(&j, NULL, s->coarsened);
        pli_json_end(&j);
    }
    pli_json_end(&j);
    pli_json_begin_array(&j, "trace"); // time, force on the hand, every tenth tick
    for (size_t i = 0; i < f->tick_count; i += 10) {
        const PliTick *t = &f->tick[i];
        pli_json_begin_array(&j, NULL);
        pli_json_number(&j, NULL, t->time);
        for (int c = 0; c < 3; ++c) pli_json_number(&j, NULL, (double)t->force[c]);
        pli_json_end(&j);
    }
    pli_json_end(&j);
    pli_json_end(&j);
    return pli_json_close(&j, err);
}

static void plot_forces(PliText *text, const PliFeel *f, double *x, double *y, double *z, double *w)
{
    for (size_t i = 0; i < f->tick_count; ++i) {
        const PliTick *t = &f->tick[i];
        x[i] = t->time;
        y[i] = sqrt((double)t->force[0] * t->force[0] + (double)t->force[1] * t->force[1] +
                    (double)t->force[2] * t->force[2]);
    }
    for (size_t i = 0; i < f->step_count; ++i) z[i] = f->step[i].time, w[i] = f->step[i].force;
    const PliCurve curve[] = {
        { .label = "force on the hand",
          .x = x,
          .y = y,
          .count = f->tick_count,
          .colour = { 31, 119, 180 },
          .mark = PLI_LINE },
        { .label = "force of the simulation",
          .x = z,
          .y = w,
          .count = f->step_count,
          .colour = { 214, 39, 40 },
          .mark = PLI_DASHED },
    };
    const PliPlot plot = { .title = "Force",
                           .x_label = "s",
                           .y_label = "N",
                           .from_zero = true,
                           .width = 860,
                           .height = 340,
                           .curve = curve,
                           .count = 2 };
    pli_plot_svg(text, &plot);
}

static void plot_gaps(PliText *text, const Options *o, const PliFeel *f, double *x, double *y)
{
    for (int i = 0; i < PLI_LOOP_BINS; ++i)
        x[i] = (i + 0.5) * 10.0 / o->rate, y[i] = f->loop.gap[i] ? (double)f->loop.gap[i] : NAN;
    const PliCurve curve = {
        .label = "ticks", .x = x, .y = y, .count = PLI_LOOP_BINS, .colour = { 31, 119, 180 }, .mark = PLI_LINE_AND_DOTS
    };
    const PliPlot plot = { .title = "Time between ticks",
                           .x_label = "ms",
                           .y_label = "ticks",
                           .log_y = true,
                           .width = 860,
                           .height = 300,
                           .curve = &curve,
                           .count = 1 };
    pli_plot_svg(text, &plot);
}

static PliStatus write_plot(const Options *o, const PliFeel *f, PliError *err)
{
    const size_t n = (f->tick_count > PLI_LOOP_BINS ? f->tick_count : PLI_LOOP_BINS) + 1;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *z = malloc((f->step_count + 1) * sizeof *z),
           *w = malloc((f->step_count + 1) * sizeof *w);
    PliText text = { 0 };
    PliStatus status = PLI_OK;
    if (!x || !y || !z || !w) {
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a plot of %zu ticks", n);
    } else {
        pli_text_put(&text, "<!DOCTYPE html><html><head><meta charset=\"utf-8\"/><title>Pliant: felt</title><style>");
        pli_text_put(&text, pli_plot_style);
        pli_text_put(&text, "</style></head><body>\n<h1>");
        pli_text_escape(&text, f->body);
        pli_text_put(&text, "</h1>\n");
        plot_forces(&text, f, x, y, z, w);
        if (!o->offline) plot_gaps(&text, o, f, x, y);
        pli_text_put(&text, "</body></html>\n");
        status = pli_text_write(&text, o->plot, err);
    }
    pli_text_free(&text);
    free(x), free(y), free(z), free(w);
    return status;
}

/// What `replay:FILE` reads: where the hand was, from where it began.
static PliStatus write_record(const Options *o, const PliFeel *f, PliError *err)
{
    PliText text = { 0 };
    pli_text_put(&text, "time,x,y,z,buttons\n");
    for (size_t i = 0; i < f->tick_count; ++i) {
        const PliTick *t = &f->tick[i], *home = &f->tick[0];
        pli_text_print(&text, "%.6f", t->time);
        for (int c = 0; c < 3; ++c)
            pli_text_print(&text, ",%.9g", ((double)t->hand[c] - (double)home->hand[c]) / o->scale);
        pli_text_put(&text, ",0\n");
    }
    const PliStatus status = pli_text_write(&text, o->record, err);
    pli_text_free(&text);
    return status;
}

static void show(double time, void *user)
{
    const Options *o = user;
    char text[48];
    snprintf(text, sizeof text, "t = %.3g s", time);
    pli_progress_steps((int)(1e3 * time), (int)(1e3 * o->seconds), text);
}

static PliFeelDef feel_def(const Options *o)
{
    PliFeelDef def = pli_feel_default();
    def.body = o->body;
    def.tool = o->tool;
    def.device = o->device;
    def.seconds = o->seconds;
    def.rate = o->rate;
    def.offline = o->offline;
    def.servo.stiffness = o->stiffness;
    def.servo.scale = o->scale;
    def.servo.control = o->control;
    if (!o->quiet) def.progress = show, def.progress_user = (void *)o;
    return def;
}

/// Stiffer and stiffer couplings in a passive hand, off line, until it turns too often or energy comes out. @return the last good one
static double find_stiffest(const PliHost *host, const Options *o)
{
    static const double stiffness[] = { 50.0, 100.0, 200.0, 350.0, 500.0, 700.0, 1000.0, 1400.0, 2000.0 };
    double best = 0.0;
    for (size_t i = 0; i < sizeof stiffness / sizeof *stiffness && !pli_interrupted(); ++i) {
        PliFeelDef def = feel_def(o);
        PliFeel f;
        PliError err = { PLI_OK, "" };
        def.device = "dummy:passive";
        def.offline = true;
        def.servo.stiffness = stiffness[i];
        def.progress = NULL;
        const bool good = pli_feel_run(host, o->scene[0], &o->scene_options.def, &def, &f, &err) == PLI_OK &&
                          !f.status && f.turns <= 20.0 && f.least_energy >= -1e-4;
        pli_feel_free(host, &f);
        if (!good) break;
        best = stiffness[i];
    }
    return best;
}

static int feel_scene(const Options *o)
{
    PliHost host = pli_host_default();
    PliPool *pool = o->threads > 1 ? pli_pool_create(o->threads) : NULL;
    if (pool) pli_pool_lend(pool, &host);
    PliError err = { PLI_OK, "" };
    PliFeel f = { 0 };
    const PliFeelDef def = feel_def(o);
    pli_interrupt_listen();
    int code = PLI_EXIT_OK;
    if (pli_feel_run(&host, o->scene[0], &o->scene_options.def, &def, &f, &err)) {
        pli_progress(0, 0, NULL);
        code = pli_cli_report("haptic", &err);
    } else {
        const double stiffest = o->stiffest ? find_stiffest(&host, o) : NAN;
        pli_progress(0, 0, NULL);
        print_feel(o, &f, stiffest);
        if (f.status) code = pli_exit_code(f.status);
        if (o->json && write_json(o, &f, stiffest, &err)) code = pli_cli_report("haptic", &err);
        if (o->plot && write_plot(o, &f, &err)) code = pli_cli_report("haptic", &err);
        if (o->record && write_record(o, &f, &err)) code = pli_cli_report("haptic", &err);
    }
    pli_feel_free(&host, &f);
    pli_pool_destroy(pool);
    return code == PLI_EXIT_OK && pli_interrupted() ? PLI_EXIT_INTERRUPTED : code;
}

int pli_cmd_haptic(int argc, char **argv)
{
    const PliServoDef servo = pli_servo_default();
    Options o = {
        .device = "dummy", .threads = 1, .seconds = 10.0, .stiffness = servo.stiffness, .rate = 1000.0, .scale = 1.0
    };
    PliSceneOptions *const so = &o.scene_options;
    pli_scene_options_begin(so);
    o.scenes = (PliWords){ o.scene, 0, 1 };
    const PliOption options[] = {
        { "device", 'd', "NAME", "what the hand holds (dummy); --list prints all, NAME:DETAIL says more",
          PLI_OPTION_TEXT, &o.device, .needs = "a device" },
        { "list", 0, NULL, "print the devices and end", PLI_OPTION_FLAG, .value = &o.list },
        { "seconds", 's', "S", "how long (10)", PLI_OPTION_NUMBER, &o.seconds, .most = 1e5 },
        { "body", 'b', "NAME", "the body to feel, by its node; the others are switched off (the first with a tool)",
          PLI_OPTION_TEXT, &o.body, .needs = "the name of a node" },
        { "tool", 0, "N", "the tool of that body to hold (0)", PLI_OPTION_INTEGER, &o.tool, .most = 7 },
        { "stiffness", 'k', "K", "of the coupling between hand and tool, N/m (300)", PLI_OPTION_NUMBER, &o.stiffness,
          .most = 1e5 },
        { "scale", 0, "F", "m in the scene per m of the hand (1)", PLI_OPTION_NUMBER, &o.scale, .most = 1e6 },
        { "rate", 0, "HZ", "of the servo (1000)", PLI_OPTION_NUMBER, &o.rate, .least = 9.0, .most = 20000.0 },
        { "passivity", 0, NULL, "damp the hand where more energy came out than went in", PLI_OPTION_FLAG,
          .value = &o.control },
        { "offline", 0, NULL, "tick by tick instead of in real time: the same on every machine", PLI_OPTION_FLAG,
          .value = &o.offline },
        { "stiffest", 0, NULL, "look for the largest stable coupling, too: nine runs more, off line", PLI_OPTION_FLAG,
          .value = &o.stiffest },
        { "record", 0, "FILE", "write the way of the hand, for --device replay:FILE", PLI_OPTION_TEXT, &o.record,
          .needs = "a file" },
        { "json", 0, "FILE", "write everything measured; - is standard output", PLI_OPTION_TEXT, &o.json,
          .needs = "a file, or - for standard output" },
        { "plot", 0, "FILE", "write a page with the force and the jitter as pictures", PLI_OPTION_TEXT, &o.plot,
          .needs = "a file" },
        PLI_OPTION_THREADS(o.threads, "of the simulation"),
        PLI_OPTION_SET(*so),
        PLI_OPTION_DATA_PATH(*so),
        PLI_OPTION_ROOT(*so),
        { "quiet", 'q', NULL, "no progress", PLI_OPTION_FLAG, .value = &o.quiet },
    };
    const PliCommandLine line = {
        .program = "pliant haptic",
        .synopsis = "SCENE [OPTIONS]",
        .about = "A hand feels a body of a scene through one of its tools: the servo ticks 1000 times a second, the "
                 "scene steps "
                 "at its own\nrate. A dummy hand goes the way that the scene gives the tool. Prints rate, jitter, "
                 "missed deadlines "
                 "and what the\nforce was like.",
        .ending = "Exit codes: 0 done, 2 malformed scene or option, 3 outside the profile or the device cannot be "
                  "used, 4 a file is "
                  "missing\nor cannot be written, 5 the simulation diverged, 6 no memory, 130 ended by Ctrl-C.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
        .words = &o.scenes,
        .least_words = 0,
        .word_name = "scene",
    };
    int code;
    if (!pli_options_read(&line, argc, argv, &code)) return code;
    if (o.list) return print_devices();
    if (o.scenes.count == 0) return pli_options_refuse(&line, "it needs a scene");
    code = pli_cli_find_scene("haptic", o.scene[0]);
    if (code == PLI_EXIT_OK) code = pli_scene_options_apply(so, &line);
    if (code == PLI_EXIT_OK) code = feel_scene(&o);
    pli_scene_options_end(so);
    return code;
}
