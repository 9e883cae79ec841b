/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Each body runs once to be looked at (evidence) and some more times to be timed with nothing but a clock around its step; where a brief
// answer is asked for, only once.
#include "host/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/timer.h"
#include "base/vec.h"
#include "host/compare/figures.h"
#include "surface/triangle_tree.h"

enum { SAMPLES_MAX = 240, DEFAULT_REPEAT = 3, DEFAULT_INSTANTS = 4, REPEAT_MAX = 100 };
#define SURFACE_BYTES_MAX (256.0 * 1024 * 1024)

PliCompareDef pli_compare_default(void)
{
    return (
        PliCompareDef){ .patience = 10.0, .reference_key = { .unknown = true }, .cache_bytes = 512ull * 1024 * 1024 };
}

const char *pli_verdict_name(PliVerdict verdict)
{
    static const char *const name[] = { "ok", "diverged", "unable" };
    return name[verdict];
}

/// Wall and CPU time of a run so far, ms.
typedef struct Clock {
    double wall, cpu;
} Clock;

/// What the runs of one comparison share.
typedef struct Field {
    const PliCompareDef *def;
    PliComparison *c;
    double *surface; ///< the reference at every sample, shape [samples, point_count, 3]
    double *tool_at; ///< the reference's tools at every sample, shape [samples, 8, 4]: centre and radius
    int tool_count;
    PliIndex samples; ///< of the reference
    double *area, *weight, *points;
    PliTriangleTree *tree;
    PliIndex *shot_step;
    int shot_count;
    int runs_done;
} Field;

/// Timed runs of each body, if there is patience for them.
static int wanted_clocks(const PliCompareDef *def)
{
    if (def->brief) return 0;
    return def->repeat ? def->repeat : DEFAULT_REPEAT;
}

static void report_progress(const Field *f, const PliEntrant *e, PliIndex step, const char *what)
{
    if (!f->def->progress) return;
    char text[160];
    snprintf(text, sizeof text, "%s, %s", e->name, what);
    // runs that are skipped for lack of patience make the bar jump, which is better than one that crawls
    const double runs = (double)f->def->count * (1 + wanted_clocks(f->def));
    f->def->progress((f->runs_done + (double)step / f->def->steps) / runs, text, f->def->progress_user);
}

static bool is_stopped(const Field *f) { return f->def->stopped && f->def->stopped(); }

// ---- room ------------------------------------------------------------------------------------------------------------------

static bool make_series(PliOutcome *o, PliIndex steps, PliIndex samples, int tools)
{
    double **const per_step[] = { &o->ms, &o->active, &o->event };
    double **const per_sample[] = { &o->time,      &o->rms,     &o->max,     &o->hausdorff,
                                    &o->near_tool, &o->elastic, &o->kinetic, &o->balance };
    bool good = true;
    for (size_t k = 0; k < sizeof per_step / sizeof *per_step; ++k)
        good = (*per_step[k] = calloc(steps, sizeof(double))) && good;
    for (size_t k = 0; k < sizeof per_sample / sizeof *per_sample; ++k)
        good = (*per_sample[k] = calloc(samples, sizeof(double))) && good;
    o->tool_count = tools;
    o->force = calloc((size_t)steps * (size_t)tools * 3 + 1, sizeof(double));
    o->per_level = calloc((size_t)steps * 8, sizeof(double));
    return good && o->force && o->per_level;
}

static void free_outcome(PliOutcome *o)
{
    double *const series[] = { o->ms,  o->active,    o->event,     o->force,   o->per_level, o->time,   o->rms,
                               o->max, o->hausdorff, o->near_tool, o->elastic, o->kinetic,   o->balance };
    for (size_t k = 0; k < sizeof series / sizeof *series; ++k) free(series[k]);
    for (int k = 0; k < o->shot_count; ++k) {
        free(o->shot[k].points);
        free(o->shot[k].level);
    }
    free(o->shot);
}

void pli_comparison_destroy(PliComparison *c)
{
    if (!c) return;
    for (int k = 0; k < c->count; ++k) free_outcome(&c->outcome[k]);
    free(c->outcome);
    free(c->rest);
    free(c->tris);
    free(c);
}

static void free_field(Field *f)
{
    free(f->surface);
    free(f->tool_at);
    free(f->area);
    free(f->weight);
    free(f->points);
    free(f->shot_step);
    pli_triangle_tree_destroy(f->tree);
}

/// What is needed to measure on the common surface.
static bool measure_surface(Field *f)
{
    const PliComparison *c = f->c;
    const size_t n = c->point_count;
    f->area = malloc((n + 1) * sizeof *f->area);
    f->weight = malloc((n + 1) * sizeof *f->weight);
    f->points = malloc((3 * n + 1) * sizeof *f->points);
    if (!f->area || !f->weight || !f->points) return false;
    pli_point_areas(c->rest, c->point_count, c->tris, c->tri_count, f->area);
    const PliHost host = pli_host_default();
    f->tree = pli_triangle_tree_create(&host, c->rest, c->point_count, c->tris, c->tri_count);
    return f->tree != NULL;
}

/// The reference has been opened: its surface is everybody's.
static bool take_surface(Field *f, const PliRun *run)
{
    PliComparison *c = f->c;
    const PliIndex steps = f->def->steps;
    c->dt = run->dt;
    c->point_count = pli_body_skin_count(run->body);
    const PliIndex *tris = pli_body_skin_tris(run->body, &c->tri_count);
    const size_t n = c->point_count;
    double every = fmax(1.0, ceil((double)steps / SAMPLES_MAX));
    every = fmax(every, ceil((double)steps * (double)n * 24.0 / SURFACE_BYTES_MAX));
    c->every = (PliIndex)every;
    f->samples = steps / c->every + 1;
    c->rest = malloc((3 * n + 1) * sizeof *c->rest);
    c->tris = malloc((3 * (size_t)c->tri_count + 1) * sizeof *c->tris);
    f->surface = malloc((f->samples * 3 * n + 1) * sizeof *f->surface);
    f->tool_at = calloc((size_t)f->samples * 32, sizeof *f->tool_at);
    if (!c->rest || !c->tris || !f->surface || !f->tool_at) return false;
    memcpy(c->tris, tris, 3 * (size_t)c->tri_count * sizeof *tris);
    pli_body_skin_positions(run->body, run->x, c->rest);
    return measure_surface(f);
}

static bool choose_instants(Field *f, double dt)
{
    const PliCompareDef *d = f->def;
    f->shot_count = d->brief ? 0 : d->instants ? d->instant_count : DEFAULT_INSTANTS;
    f->shot_step = calloc((size_t)f->shot_count + 1, sizeof *f->shot_step);
    if (!f->shot_step) return false;
    for (int k = 0; k < f->shot_count; ++k) {
        const double step =
            d->instants ? round(d->instants[k] / dt) : floor((double)d->steps * (k + 1) / f->shot_count);
        f->shot_step[k] = (PliIndex)fmin((double)d->steps, fmax(0.0, step));
    }
    return true;
}

// ---- evidence ----------------------------------------------------------------------------------------------------------------

/// The surfaces must be the same ones, or no distance between them means anything.
static bool same_surface(const Field *f, const PliRun *run, char *reason, size_t size)
{
    const PliComparison *c = f->c;
    PliIndex tri_count;
    const PliIndex count = pli_body_skin_count(run->body), *tris = pli_body_skin_tris(run->body, &tri_count);
    if (count != c->point_count || tri_count != c->tri_count) {
        snprintf(reason, size, "its surface has %u points and %u triangles, the reference's %u and %u", count,
                 tri_count, c->point_count, c->tri_count);
        return false;
    }
    if (memcmp(tris, c->tris, 3 * (size_t)tri_count * sizeof *tris) != 0) {
        snprintf(reason, size, "its surface has other triangles than the reference's");
        return false;
    }
    double size_of = 0.0;
    for (size_t k = 0; k < 3 * (size_t)count; ++k) size_of = fmax(size_of, fabs(c->rest[k] - c->rest[k % 3]));
    pli_body_skin_positions(run->body, run->x, f->points);
    const PliGap gap = pli_gap(f->points, c->rest, NULL, count);
    if (!(gap.max <= 1e-6 * size_of)) {
        snprintf(reason, size, "its surface is not where the reference's is: up to %.3g m apart at rest", gap.max);
        return false;
    }
    if (run->tool_count != f->tool_count) {
        snprintf(reason, size, "it meets %d tools, the reference %d", run->tool_count, f->tool_count);
        return false;
    }
    return true;
}

/// A tool as it is after the step; before the first one it has not moved.
static PliTool tool_after(const PliRun *run, int t, bool stepped)
{
    PliTool tool = run->tools[t];
    if (stepped) v3_madd(tool.position, run->dt, tool.velocity);
    if (stepped && tool.shape == PLI_TOOL_CAPSULE) v3_madd(tool.other, run->dt, tool.velocity);
    return tool;
}

static bool take_shot(const Field *f, PliOutcome *o, const PliRun *run, int k, double time)
{
    const PliIndex n = f->c->point_count;
    PliShot *s = &o->shot[k];
    s->time = time;
    s->points = malloc((3 * (size_t)n + 1) * sizeof *s->points);
    s->level = calloc((size_t)n + 1, 1);
    if (!s->points || !s->level) return false;
    pli_body_skin_positions(run->body, run->x, s->points);
    const uint8_t *level = pli_body_skin_level(run->body);
    if (level) memcpy(s->level, level, n);
    s->tool_count = run->tool_count < 8 ? run->tool_count : 8;
    for (int t = 0; t < s->tool_count; ++t) s->tools[t] = tool_after(run, t, time > 0.0);
    return true;
}

/// What the tools have done to the body so far.
typedef struct Given {
    double work, impulse[3];
} Given;

/// @return false when its tools are not where the reference's were
static bool take_sample(Field *f, PliOutcome *o, const PliRun *run, PliBalance *balance, const Given *given,
                        PliIndex step)
{
    const PliComparison *c = f->c;
    const PliIndex s = step / c->every;
    double *reference = f->surface + 3 * (size_t)s * c->point_count;
    const PliEnergy energy = pli_body_energy(run->body, run->x, run->v);
    o->time[s] = step * c->dt;
    o->elastic[s] = energy.elastic;
    o->kinetic[s] = energy.kinetic;
    o->balance[s] = pli_balance_energy(balance, &energy, given->work);
    pli_balance_momentum(balance, &energy, given->impulse, o->time[s]);
    pli_body_skin_positions(run->body, run->x, f->points);
    o->samples = s + 1;
    if (o->is_reference) {
        memcpy(reference, f->points, 3 * (size_t)c->point_count * sizeof *reference);
        for (int t = 0; t < run->tool_count && t < 8; ++t) {
            double *at = f->tool_at + 32 * (size_t)s + 4 * t;
            const PliTool tool = tool_after(run, t, step > 0);
            v3_copy(at, tool.position);
            at[3] = tool.shape == PLI_TOOL_SPHERE ? tool.radius : 0.0; // "near" means nothing for a floor
        }
        return true;
    }
    for (int t = 0; t < run->tool_count && t < 8; ++t) {
        const PliTool tool = tool_after(run, t, step > 0);
        if (v3_distance(tool.position, f->tool_at + 32 * (size_t)s + 4 * t) > 1e-9 * (1.0 + v3_norm(tool.position)))
            return false;
    }
    const PliGap gap = pli_gap(f->points, reference, f->area, c->point_count);
    o->rms[s] = gap.rms;
    o->max[s] = gap.max;
    if (!f->def->brief) o->hausdorff[s] = pli_hausdorff(f->tree, f->points, reference);
    for (PliIndex i = 0; i < c->point_count; ++i) {
        f->weight[i] = 0.0;
        for (int t = 0; t < f->tool_count && t < 8; ++t) {
            const double *at = f->tool_at + 32 * (size_t)s + 4 * t;
            if (v3_distance(reference + 3 * (size_t)i, at) < 2.0 * at[3]) f->weight[i] = f->area[i];
        }
    }
    o->near_tool[s] = pli_gap(f->points, reference, f->weight, c->point_count).rms;
    return true;
}

static void take_step(PliOutcome *o, const PliRun *run, PliIndex step, const PliStats *before, Given *given)
{
    const PliStats now = pli_body_stats(run->body);
    o->active[step] = now.active;
    o->event[step] = (double)(now.refined - before->refined + now.coarsened - before->coarsened);
    for (int k = 0; k < 8; ++k) o->per_level[8 * (size_t)step + (size_t)k] = now.per_level[k];
    for (int t = 0; t < run->tool_count; ++t) {
        const PliTool *tool = &run->tools[t];
        v3_copy(o->force + 3 * ((size_t)step * (size_t)run->tool_count + (size_t)t), tool->force);
        given->work -= v3_dot(tool->force, tool->velocity) * run->dt;
        v3_madd(given->impulse, -run->dt, tool->force);
    }
}

static uint64_t hash_of(const PliRun *run)
{
    const PliState s = { .x = run->x, .v = run->v };
    return pli_body_hash(run->body, &s);
}

/// One step between two looks at the clocks.
static PliStatus timed_step(const Field *f, const PliEntrant *e, PliRun *run, double *ms, Clock *clock, PliError *err)
{
    const double cpu_begin = pli_cpu_ms(), begin = pli_wall_ms();
    const PliStatus status = e->step(run, err);
    const double wall = pli_wall_ms() - begin, cpu = pli_cpu_ms() - cpu_begin;
    *ms = f->def->wall_clock ? wall : cpu;
    clock->wall += wall;
    clock->cpu += cpu;
    return status;
}

/// The run that is looked at. Step times land in `ms`. false: no memory.
static bool run_evidence(Field *f, const PliEntrant *e, PliOutcome *o, PliRun *run, double *ms, Clock *clock)
{
    PliBalance balance = pli_balance_begin(run);
    Given given = { 0 };
    PliError err = { PLI_OK, "" };
    const double reference_size = v3_norm((double[3]){ f->c->rest[0], f->c->rest[1], f->c->rest[2] });
    bool together = take_sample(f, o, run, &balance, &given, 0);
    for (int k = 0; k < f->shot_count; ++k)
        if (f->shot_step[k] == 0 && !take_shot(f, o, run, k, 0.0)) return false;
    for (PliIndex step = 0; step < f->def->steps; ++step) {
        const PliStats before = pli_body_stats(run->body);
        if (is_stopped(f)) return true;
        if (step % 16 == 0) report_progress(f, e, step, "measuring");
        const PliStatus status = timed_step(f, e, run, &ms[step], clock, &err);
        const double time = (step + 1) * run->dt;
        bool lost = false;
        if (status == PLI_OK && (step + 1) % f->c->every == 0) {
            take_step(o, run, step, &before, &given);
            together = take_sample(f, o, run, &balance, &given, step + 1) && together;
            for (size_t k = 0; k < 3 * (size_t)f->c->point_count; ++k)
                lost = lost || !(fabs(f->points[k]) < 1e6 * (1.0 + reference_size));
        } else if (status == PLI_OK) {
            take_step(o, run, step, &before, &given);
        }
        if (!together) {
            o->verdict = PLI_UNABLE;
            snprintf(o->reason, sizeof o->reason, "its tools are not where the reference's are at t = %.6g s", time);
            return true;
        }
        if (status != PLI_OK || lost) {
            o->verdict = PLI_WENT_AWAY;
            o->stopped_at = time;
            snprintf(o->reason, sizeof o->reason, "%s", status != PLI_OK ? err.text : "the surface left the scene");
            return true;
        }
        o->steps = step + 1;
        for (int k = 0; k < f->shot_count; ++k)
            if (f->shot_step[k] == step + 1 && !take_shot(f, o, run, k, time)) return false;
    }
    pli_balance_end(&balance, o);
    o->hash = hash_of(run);
    return true;
}

// ---- timing -------------------------------------------------------------------------------------------------------------------

/// One run with nothing but a clock around each step. @return false when it did not do what the evidence run did.
static bool run_clock(Field *f, const PliEntrant *e, PliOutcome *o, double *ms, Clock *clock)
{
    PliRun run = { 0 };
    PliError err = { PLI_OK, "" };
    const bool opened = e->open(e->user, &run, &err) == PLI_OK;
    bool same = opened;
    if (opened) pli_body_skin_positions(run.body, run.x, f->points); // as the evidence run did
    for (PliIndex step = 0; same && step < f->def->steps && !is_stopped(f); ++step) {
        same = timed_step(f, e, &run, &ms[step], clock, &err) == PLI_OK;
        if (step % 64 == 0) report_progress(f, e, step, "timing");
    }
    if (!opened) return false;
    same = same && hash_of(&run) == o->hash;
    e->close(&run);
    return same;
}

/// `first` are the step times of the evidence run.
static bool run_clocks(Field *f, const PliEntrant *e, PliOutcome *o, const double *first, Clock first_clock)
{
    const size_t steps = f->def->steps;
    const bool free_choice = f->def->repeat == 0;
    const int wanted = wanted_clocks(f->def);
    double *all = malloc(((size_t)(wanted + 1) * steps + 1) * sizeof *all);
    if (!all) return false;
    Clock clock = { 0 };
    int done = 0;
    o->repeatable = true;
    while (done < wanted && !is_stopped(f)) {
        if (free_choice && (done + 1) * first_clock.wall > 1e3 * f->def->patience) break;
        o->repeatable = run_clock(f, e, o, all + (size_t)done * steps, &clock) && o->repeatable;
        ++done;
        ++f->runs_done;
    }
    o->timed_with_evidence = done == 0;
    o->timed_runs = done > 0 ? done : 1;
    if (done == 0) {
        memcpy(all, first, steps * sizeof *all);
        clock = first_clock;
    }
    o->busy = clock.cpu > 0.0 ? clock.wall / clock.cpu : 1.0;
    const bool good = pli_figure_times(o, all, o->timed_runs, steps);
    free(all);
    f->runs_done += wanted - done;
    return good;
}

// ---- the recorded reference --------------------------------------------------------------------------------------------------

/// What the reference leaves behind for the others, into an archive or out of it. Structs go as they are: the program is part of
/// the key, so whoever reads them has the same.
static void archive_reference(Field *f, PliArchive *a)
{
    PliComparison *c = f->c;
    PliOutcome *o = &c->outcome[f->def->reference];
    pli_archive_raw(a, o, sizeof *o); // pointers in it are replaced below
    if (a->reading) {                 // on failure only what was read is freed
        o->ms = o->active = o->event = o->force = o->per_level = o->time = NULL;
        o->rms = o->max = o->hausdorff = o->near_tool = o->elastic = o->kinetic = o->balance = NULL;
        o->shot = NULL;
    }
    pli_archive_raw(a, &c->dt, sizeof c->dt);
    pli_archive_raw(a, &c->every, sizeof c->every);
    pli_archive_raw(a, &c->point_count, sizeof c->point_count);
    pli_archive_raw(a, &c->tri_count, sizeof c->tri_count);
    pli_archive_raw(a, &f->samples, sizeof f->samples);
    pli_archive_raw(a, &f->tool_count, sizeof f->tool_count);
    const size_t n = c->point_count, steps = f->def->steps, samples = f->samples;
    c->rest = pli_archive_array(a, c->rest, 3 * n, sizeof *c->rest);
    c->tris = pli_archive_array(a, c->tris, 3 * (size_t)c->tri_count, sizeof *c->tris);
    f->surface = pli_archive_array(a, f->surface, samples * 3 * n, sizeof *f->surface);
    f->tool_at = pli_archive_array(a, f->tool_at, samples * 32, sizeof *f->tool_at);
    double **const per_step[] = { &o->ms, &o->active, &o->event };
    double **const per_sample[] = { &o->time,      &o->rms,     &o->max,     &o->hausdorff,
                                    &o->near_tool, &o->elastic, &o->kinetic, &o->balance };
    for (size_t k = 0; k < sizeof per_step / sizeof *per_step; ++k)
        *per_step[k] = pli_archive_array(a, *per_step[k], steps, sizeof(double));
    for (size_t k = 0; k < sizeof per_sample / sizeof *per_sample; ++k)
        *per_sample[k] = pli_archive_array(a, *per_sample[k], samples, sizeof(double));
    o->force = pli_archive_array(a, o->force, steps * (size_t)o->tool_count * 3, sizeof(double));
    o->per_level = pli_archive_array(a, o->per_level, steps * 8, sizeof(double));
    o->shot = pli_archive_array(a, o->shot, (size_t)o->shot_count, sizeof *o->shot);
    if (!o->shot) o->shot_count = 0;
    for (int k = 0; k < o->shot_count && a->reading; ++k) o->shot[k].points = NULL, o->shot[k].level = NULL;
    for (int k = 0; k < o->shot_count; ++k) {
        o->shot[k].points = pli_archive_array(a, o->shot[k].points, 3 * n, sizeof(double));
        o->shot[k].level = pli_archive_array(a, o->shot[k].level, n, 1);
    }
}

static PliKey reference_key(const Field *f)
{
    const PliCompareDef *d = f->def;
    PliKey key = d->reference_key;
    const double number[] = { d->steps, d->repeat, d->patience, d->wall_clock, d->brief };
    pli_key_add(&key, number, sizeof number);
    pli_key_add(&key, d->instants, d->instants ? (size_t)d->instant_count * sizeof *d->instants : 0);
    pli_key_text(&key, d->entrants[d->reference].name);
    return key;
}

/// @return false: there is no recording, and nothing has happened
static bool recall_reference(Field *f)
{
    PliComparison *c = f->c;
    PliOutcome *o = &c->outcome[f->def->reference];
    PliArchive a = { 0 };
    int64_t when = 0;
    const PliKey key = reference_key(f);
    if (!f->def->cache || key.unknown || !pli_cache_load(f->def->cache, &key, &a, &when)) return false;
    archive_reference(f, &a);
    bool good = !a.failed && a.at == a.bytes && choose_instants(f, c->dt) && f->shot_count == o->shot_count;
    pli_archive_free(&a);
    good = good && measure_surface(f);
    if (!good) { // as if it had not been there
        pli_cache_drop(f->def->cache, &key);
        free_outcome(o);
        *o = (PliOutcome){ 0 };
        free(c->rest);
        free(c->tris);
        c->rest = NULL, c->tris = NULL;
        const Field fresh = { .def = f->def, .c = c };
        free_field(f);
        *f = fresh;
        return false;
    }
    const time_t then = (time_t)when;
    struct tm local;
    strftime(o->recorded, sizeof o->recorded, "%Y-%m-%d %H:%M", localtime_r(&then, &local));
    f->runs_done += 1 + wanted_clocks(f->def);
    report_progress(f, &f->def->entrants[f->def->reference], 0, "recorded before");
    return true;
}

static void record_reference(Field *f)
{
    const PliOutcome *o = &f->c->outcome[f->def->reference];
    const PliKey key = reference_key(f);
    if (!f->def->cache || key.unknown || !o->repeatable || o->verdict != PLI_FINISHED || f->c->point_count == 0) return;
    PliArchive a = { 0 };
    archive_reference(f, &a);
    pli_cache_store(f->def->cache, &key, &a, f->def->cache_bytes);
    pli_archive_free(&a);
}

// ---- everything -----------------------------------------------------------------------------------------------------------------

static void keep_text(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from ? from : ""); }

/// PLI_OK also when the body diverged or was unable; else no memory.
static PliStatus run_entrant(Field *f, int index)
{
    const PliEntrant *e = &f->def->entrants[index];
    PliOutcome *o = &f->c->outcome[index];
    PliRun run = { 0 };
    PliError err = { PLI_OK, "" };
    keep_text(o->name, sizeof o->name, e->name);
    keep_text(o->scheme, sizeof o->scheme, e->scheme);
    keep_text(o->curve, sizeof o->curve, e->curve);
    keep_text(o->parameters, sizeof o->parameters, e->parameters);
    o->is_reference = index == f->def->reference;
    o->error_rms = o->error_max = o->error_hausdorff = o->error_near_tool = o->force_error = NAN;
    o->pop_max = o->hidden_max = o->energy_drift = o->energy_loss = o->momentum_drift = NAN;
    report_progress(f, e, 0, "preparing");
    const PliStatus status = e->open(e->user, &run, &err);
    if (status == PLI_OUT_OF_MEMORY) return status;
    if (status != PLI_OK) {
        o->verdict = PLI_UNABLE;
        keep_text(o->reason, sizeof o->reason, err.text);
        return PLI_OK;
    }
    PliStatus result = PLI_OUT_OF_MEMORY;
    double *ms = calloc(f->def->steps, sizeof *ms);
    Clock clock = { 0 };
    keep_text(o->scheme, sizeof o->scheme, pli_body_scheme(run.body));
    o->level_count = pli_body_level_count(run.body);
    o->dofs_total = pli_body_dof_count(run.body);
    if (!ms) goto done;
    if (o->is_reference) {
        f->tool_count = run.tool_count;
        if (!take_surface(f, &run) || !choose_instants(f, run.dt)) goto done;
    } else if (!same_surface(f, &run, o->reason, sizeof o->reason)) {
        o->verdict = PLI_UNABLE;
        result = PLI_OK;
        goto done;
    }
    if (!make_series(o, f->def->steps, f->samples, run.tool_count)) goto done;
    o->shot = calloc((size_t)f->shot_count + 1, sizeof *o->shot);
    if (!o->shot) goto done;
    o->shot_count = f->shot_count;
    if (!run_evidence(f, e, o, &run, ms, &clock)) goto done;
    const PliStats stats = pli_body_stats(run.body);
    o->refined = stats.refined, o->coarsened = stats.coarsened, o->refused = stats.refused, o->forced = stats.forced;
    o->bytes = stats.bytes;
    pli_body_form_text(run.body, o->form, sizeof o->form);
    pli_body_choice_text(run.body, o->steps_text, sizeof o->steps_text);
    o->fell_back = pli_body_stats(run.body).form == 1;
    o->pop_max = stats.largest_jump;
    o->hidden_max = stats.largest_hidden;
    o->energy_added = stats.energy_added, o->energy_removed = stats.energy_removed,
    o->energy_forced = stats.energy_forced;
    result = PLI_OK;
done:
    e->close(&run);
    f->runs_done++;
    if (result == PLI_OK && o->verdict == PLI_FINISHED && !is_stopped(f) && !run_clocks(f, e, o, ms, clock))
        result = PLI_OUT_OF_MEMORY;
    free(ms);
    return result;
}

PliComparison *pli_compare(const PliCompareDef *def, PliError *err)
{
    if (def->count < 1 || def->reference < 0 || def->reference >= def->count) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "a comparison needs a reference body");
        return NULL;
    }
    if (def->steps < 1 || def->repeat < 0 || def->repeat > REPEAT_MAX) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "a comparison needs at least 1 step and 0 to %d repeats, not %u and %d",
                   REPEAT_MAX, def->steps, def->repeat);
        return NULL;
    }
    PliStatus status = PLI_OUT_OF_MEMORY;
    Field f = { .def = def };
    f.c = calloc(1, sizeof *f.c);
    if (f.c) f.c->outcome = calloc((size_t)def->count, sizeof *f.c->outcome);
    if (!f.c || !f.c->outcome) goto done;
    f.c->count = def->count;
    f.c->reference = def->reference;
    f.c->steps = def->steps;
    f.c->wall_clock = def->wall_clock;
    status = PLI_OK;
    if (!recall_reference(&f)) {
        status = run_entrant(&f, def->reference); // the others are measured against it as they run
        if (status == PLI_OK) record_reference(&f);
    }
    const PliOutcome *reference = &f.c->outcome[def->reference];
    if (status == PLI_OK && reference->verdict != PLI_FINISHED) {
        status = pli_refuse(err, reference->verdict == PLI_UNABLE ? PLI_BAD_ARGUMENT : PLI_DIVERGED,
                            "the reference %s %s%s", reference->name,
                            reference->verdict == PLI_UNABLE ? "cannot run: " : "diverged: ", reference->reason);
        goto done;
    }
    if (status == PLI_OK && f.c->point_count == 0) {
        status = pli_refuse(err, PLI_BAD_ARGUMENT, "the reference %s has no surface to compare on", reference->name);
        goto done;
    }
    for (int k = 0; k < def->count && status == PLI_OK && !is_stopped(&f); ++k)
        if (k != def->reference) status = run_entrant(&f, k);
    if (status == PLI_OK && is_stopped(&f)) {
        status = pli_refuse(err, PLI_BAD_FILE, "stopped before all bodies were compared");
        goto done;
    }
    if (status == PLI_OK) {
        const double largest = pli_figure_displacement(f.surface, f.samples, f.c->rest, f.c->point_count);
        status = pli_figures(f.c, largest);
    }
done:
    free_field(&f);
    if (status == PLI_OK) return f.c;
    if (status == PLI_OUT_OF_MEMORY)
        pli_refuse(err, status, "no memory for a comparison of %d bodies over %u steps", def->count, def->steps);
    pli_comparison_destroy(f.c);
    return NULL;
}
