/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/compare/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "host/graph/component.h"

enum { REMEMBERED = 256 };
static const double first_step = 4.0, last_step = 1.3; // factors of a knob

PliTuneDef pli_tune_default(void) { return (PliTuneDef){ .margin = 0.8, .loads = 2, .unseen_seed = 99, .most = 24 }; }

typedef struct Search {
    const PliHost *host;
    const PliSceneDef *def;
    const PliTuneDef *tune;
    PliTuned *out;
    double seen[REMEMBERED][PLI_KNOBS]; ///< what was tried, and what came of it
    PliScore score[REMEMBERED];
    double begun;  ///< ms, wall time
    PliHost quiet; ///< what is said while a body is made is said in the first try, not in all
    PliError *err;
    PliStatus status;
} Search;

/// Another choice may be tried.
static bool may_try(Search *s)
{
    const bool late = s->tune->seconds > 0.0 && pli_wall_ms() - s->begun > 1e3 * s->tune->seconds;
    s->out->out_of_time = s->out->out_of_time || late;
    return s->status == PLI_OK && !late && s->out->tried < s->tune->most;
}

// ---- knobs -----------------------------------------------------------------------------------------------------------------

/// Rows with a range that make a body finer or coarser: the threshold or the accuracy of what adapts, and numbers of a scheme. Where an
/// accuracy is asked for, the threshold has no effect.
static bool turns(const PliSchemeInfo *scheme, const PliAttribute *row, double accuracy)
{
    if (row->slide.high <= row->slide.low || row->role != PLI_IN) return false;
    if (accuracy > 0.0 && strcmp(row->name, "threshold") == 0) return false;
    return (row->kind == PLI_INT && !row->running) ||
           (scheme->adaptive && pli_attribute_find(&pli_criterion_attributes, row->name) == row &&
            !row->slide.absolute);
}

static PliStatus find_knobs(Search *s)
{
    PliError *err = s->err;
    PliContest *contest = pli_contest_load(s->host, s->tune->scene, s->def, err);
    if (!contest) return err->status;
    PliStatus status = pli_contest_choose(contest, s->tune->body, err);
    PliObject *model = NULL;
    for (PliNode *node = contest->graph->root->first; node && status == PLI_OK; node = node->next)
        if (strcmp(node->name, s->tune->body) == 0) model = pli_subtree_find(node, PLI_ROLE_MODEL);
    const PliSchemeInfo *scheme = model ? model->cls->scheme : NULL;
    if (status == PLI_OK && !scheme)
        status = pli_refuse(err, PLI_BAD_ARGUMENT, "%s: %s is no body of ours", s->tune->scene, s->tune->body);
    const PliAttributeGroup *group;
    for (int g = 0; status == PLI_OK && (group = pli_scheme_group(scheme, g)); ++g)
        for (int i = 0; i < group->count && s->out->knob_count < PLI_KNOBS; ++i) {
            const PliAttribute *row = &group->rows[i];
            if (!turns(scheme, row, scheme->adaptive ? pli_real(model, "accuracy") : 0.0)) continue;
            PliKnob *k = &s->out->knob[s->out->knob_count];
            char path[200];
            *k = (PliKnob){ .name = row->name, .whole = row->kind == PLI_INT };
            snprintf(k->path, sizeof k->path, "@%.180s.%.60s", pli_object_path(model, path, sizeof path), row->name);
            k->start = k->value = k->whole ? pli_int(model, row->name) : pli_real(model, row->name);
            k->low = row->slide.absolute ? row->slide.low : row->slide.low * k->start;
            k->high = row->slide.absolute ? row->slide.high : row->slide.high * k->start;
            // a number that is 0 chooses another way of doing things, and stays
            if (k->start > 0.0 || row->slide.absolute) s->out->knob_count++;
        }
    pli_contest_destroy(contest);
    return status;
}

// ---- one choice ------------------------------------------------------------------------------------------------------------

static void add_load(PliScore *score, const PliOutcome *o)
{
    if (o->verdict != PLI_FINISHED) {
        score->ran = false;
        snprintf(score->reason, sizeof score->reason, "%.199s", o->reason);
        return;
    }
    score->error = fmax(score->error, o->error_rms);
    if (isfinite(o->force_error))
        score->force = isfinite(score->force) ? fmax(score->force, o->force_error) : o->force_error;
    score->ms += o->step_ms.median;
}

/// The loads of some seeds, one after the other; what diverges on one need not run on the others.
static PliScore measure(Search *s, const char *scene, const double *value, uint64_t first, int loads)
{
    char text[PLI_KNOBS][32];
    PliOverride set[PLI_KNOBS];
    PliScore score = { .ran = true, .force = NAN };
    for (int k = 0; k < s->out->knob_count; ++k) {
        snprintf(text[k], sizeof text[k], s->out->knob[k].whole ? "%.0f" : "%.6g", value[k]);
        set[k] = (PliOverride){ s->out->knob[k].path, text[k] };
    }
    for (int l = 0; l < loads && score.ran && s->status == PLI_OK; ++l) {
        const PliTrial trial = { .scene = scene,
                                 .body = s->tune->body,
                                 .set = set,
                                 .set_count = s->out->knob_count,
                                 .seed = first + (uint64_t)l,
                                 .steps = s->tune->steps,
                                 .repeat = 1,
                                 .cache = s->tune->cache,
                                 .stopped = s->tune->stopped };
        int which;
        PliComparison *c = pli_trial_run(s->host, s->def, &trial, &which, s->err);
        if (!c)
            s->status = s->err->status;
        else
            add_load(&score, &c->outcome[which]);
        pli_comparison_destroy(c);
    }
    if (score.ran) score.ms /= loads;
    return score;
}

static PliScore try_it(Search *s, const double *value)
{
    for (int i = 0; i < s->out->tried; ++i) {
        bool same = true;
        for (int k = 0; k < s->out->knob_count; ++k) same = same && s->seen[i][k] == value[k];
        if (same) return s->score[i];
    }
    if (s->tune->progress) s->tune->progress(s->out->tried, s->tune->most, s->tune->body);
    const PliScore score = measure(s, s->tune->scene, value, 0, s->tune->loads);
    memcpy(s->seen[s->out->tried], value, sizeof s->seen[0]);
    s->score[s->out->tried++] = score;
    return score;
}

static bool within(const PliTuneDef *t, const PliScore *a, double margin)
{
    return a->ran && (t->error > 0.0 ? a->error <= margin * t->error : a->ms <= t->budget);
}

/// Within what is wanted, the cheaper or the closer one; outside it, the one that is nearer to it.
static bool is_better(const PliTuneDef *t, const PliScore *a, const PliScore *b)
{
    if (a->ran != b->ran) return a->ran;
    const bool a_in = within(t, a, t->margin), b_in = within(t, b, t->margin);
    if (a_in != b_in) return a_in;
    const bool by_error = (t->error > 0.0) != a_in; // times vary by some per cent from run to run
    return by_error ? a->error < b->error * 0.999 : a->ms < b->ms * 0.97;
}

// ---- the search ------------------------------------------------------------------------------------------------------------

/// One knob turned by a factor; false: it stays where it is.
static bool turn(const PliKnob *k, double *value, double factor)
{
    const double before = *value;
    double to = before * factor;
    if (k->whole) {
        to = round(to);
        if (to == before || before == 0.0) to = before + (factor > 1.0 ? 1.0 : -1.0);
    }
    *value = fmin(fmax(to, k->whole ? ceil(k->low) : k->low), k->whole ? floor(k->high) : k->high);
    return *value != before;
}

/// All knobs finer together, a rung at a time, while that brings the error down: what is needed may be several at once.
static void climb(Search *s, double best[PLI_KNOBS], PliScore *score)
{
    enum { RUNGS = 5 };
    const PliTuned *o = s->out;
    for (int rung = 0; rung < RUNGS && !within(s->tune, score, s->tune->margin) && may_try(s); ++rung) {
        double value[PLI_KNOBS];
        bool turned = false;
        memcpy(value, best, sizeof value);
        for (int k = 0; k < o->knob_count; ++k) turned |= turn(&o->knob[k], &value[k], o->knob[k].whole ? 1.4 : 0.4);
        if (!turned) return;
        const PliScore tried = try_it(s, value);
        if (s->status != PLI_OK || !is_better(s->tune, &tried, score)) return;
        *score = tried;
        memcpy(best, value, sizeof value);
    }
}

/// Decades first: between two thresholds at which something refines nothing changes, and a small step finds no way.
static void scan(Search *s, double best[PLI_KNOBS], PliScore *score)
{
    static const double decade[] = { 0.1, 10.0, 0.01 };
    const PliTuned *o = s->out;
    for (int k = 0; k < o->knob_count; ++k)
        for (size_t i = 0; i < sizeof decade / sizeof *decade && !o->knob[k].whole; ++i) {
            if (!may_try(s)) return;
            double value[PLI_KNOBS];
            memcpy(value, best, sizeof value);
            value[k] = fmin(fmax(decade[i] * o->knob[k].start, o->knob[k].low), o->knob[k].high);
            const PliScore tried = try_it(s, value);
            if (s->status != PLI_OK) return;
            if (!is_better(s->tune, &tried, score)) continue;
            *score = tried;
            memcpy(best, value, sizeof value);
        }
}

static void search(Search *s, double best[PLI_KNOBS], PliScore *score)
{
    const PliTuned *o = s->out;
    double step = first_step;
    if (s->tune->error > 0.0) climb(s, best, score);
    if (s->tune->budget > 0.0 || !within(s->tune, score, s->tune->margin)) scan(s, best, score);
    while (step > last_step && may_try(s)) {
        double next[PLI_KNOBS];
        PliScore next_score = *score;
        for (int k = 0; k < o->knob_count; ++k)
            for (int way = 0; way < 2 && may_try(s); ++way) {
                double value[PLI_KNOBS];
                const double factor =
                    o->knob[k].whole ? sqrt(step) : step; // a number of cells counts in three directions
                memcpy(value, best, sizeof value);
                if (!turn(&o->knob[k], &value[k], way ? 1.0 / factor : factor)) continue;
                const PliScore tried = try_it(s, value);
                if (s->status != PLI_OK || !is_better(s->tune, &tried, &next_score)) continue;
                next_score = tried;
                memcpy(next, value, sizeof next);
            }
        if (is_better(s->tune, &next_score, score)) {
            *score = next_score;
            memcpy(best, next, sizeof next);
        } else {
            step = sqrt(step);
        }
    }
}

static void be_quiet(PliLogLevel level, const char *text, void *user) { (void)level, (void)text, (void)user; }

PliStatus pli_tune(const PliHost *host, const PliSceneDef *def, const PliTuneDef *tune, PliTuned *out, PliError *err)
{
    static Search s; // what is remembered is large
    memset(&s, 0, sizeof s);
    *out = (PliTuned){ 0 };
    s.host = host, s.def = def, s.tune = tune, s.out = out, s.err = err, s.begun = pli_wall_ms();
    if (tune->most > REMEMBERED || tune->loads > PLI_TUNE_LOADS || (tune->error > 0.0) == (tune->budget > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "an error or a budget is needed, one of them, with at most %d tries",
                          REMEMBERED);
    PliStatus status = find_knobs(&s);
    if (status != PLI_OK) return status;
    double best[PLI_KNOBS] = { 0 };
    for (int k = 0; k < out->knob_count; ++k) best[k] = out->knob[k].start;
    out->before = out->after = try_it(&s, best);
    s.quiet = *host, s.quiet.log = be_quiet, s.host = &s.quiet;
    if (s.status == PLI_OK && out->knob_count > 0) search(&s, best, &out->after);
    for (int k = 0; k < out->knob_count; ++k) out->knob[k].value = best[k];
    out->reached = within(tune, &out->after, 1.0);
    if (s.status == PLI_OK && out->after.ran)
        out->unseen = measure(&s, tune->unseen_scene ? tune->unseen_scene : tune->scene, best,
                              tune->unseen_scene ? 0 : tune->unseen_seed, 1);
    out->holds = within(tune, &out->unseen, 1.0);
    return s.status;
}
