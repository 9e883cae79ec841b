/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/compare/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fold.h"
#include "base/timer.h"
#include "host/compare/figures.h"
#include "host/graph/component.h"

enum { REMEMBERED = 256, MOST_IDLE = 12, MOST_FAILED = 3 };
static const double first_step = 4.0, last_step = 1.3; // factors of a knob
static const double near_enough = 1.35;                // between a value that is fine enough and one that is not

PliTuneDef pli_tune_default(void)
{
    return (PliTuneDef){ .margin = 0.6, .guard_margin = 0.8, .loads = 2, .guards = 4, .unseen_seed = 99, .most = 24 };
}

/// A choice of parameters, and what came of it on the loads it was tried on.
typedef struct Choice {
    double value[PLI_KNOBS];
    PliScore on[PLI_TUNE_LOADS];
    bool has[PLI_TUNE_LOADS];
} Choice;

typedef struct Search {
    const PliHost *host;
    const PliSceneDef *def;
    const PliTuneDef *tune;
    PliTuned *out;
    Choice seen[REMEMBERED];   ///< what was tried
    int order[PLI_TUNE_LOADS]; ///< the loads that choices are judged by, those that joined last first: they tell most
    int active;                ///< how many of them
    double begun;              ///< ms, wall time
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

static void add_load(PliScore *score, const PliScore *load)
{
    if (!load->ran) {
        score->ran = false;
        memcpy(score->reason, load->reason, sizeof score->reason);
        return;
    }
    score->error = fmax(score->error, load->error);
    score->force = fmax(score->force, load->force); // a NaN gives way to a number
    score->ms += load->ms;
    score->fell_back = score->fell_back && load->fell_back;
}

/// Where 1 is what is aimed at: of the error, or of the tools' forces, which are not to be doubtful.
static double badness(const PliTuneDef *t, const PliScore *s, double margin)
{
    const double force = isfinite(s->force) ? s->force / (margin * pli_doubtful_force) : 0.0;
    return t->error > 0.0 ? fmax(s->error / (margin * t->error), force) : s->error;
}

static bool within(const PliTuneDef *t, const PliScore *a, double margin)
{
    return a->ran && !a->part && (t->error > 0.0 ? badness(t, a, margin) <= 1.0 : a->ms <= t->budget);
}

/// What was asked for, whatever the forces are.
static bool keeps(const PliTuneDef *t, const PliScore *a)
{
    return a->ran && !a->part && (t->error > 0.0 ? a->error <= t->error : a->ms <= t->budget);
}

/// Another load in place of one that does nothing: tools that are displaced and go less far may miss a thin body.
static void next_seed(const Search *s, uint64_t *seed)
{
    const PliTuned *o = s->out;
    uint64_t largest = *seed;
    for (int k = 0; k < o->load_count && seed != &o->unseen_seed; ++k)
        largest = o->seed[k] > largest ? o->seed[k] : largest;
    *seed = largest + 1;
    if (seed != &o->unseen_seed && *seed == o->unseen_seed) ++*seed;
}

/// One choice on the load of a seed, or of the next one that moves the body. @return false: there is none, or it failed
static bool run_load(Search *s, const char *scene, const double *value, uint64_t *seed, PliScore *score)
{
    char text[PLI_KNOBS][32];
    PliOverride set[PLI_KNOBS];
    for (int k = 0; k < s->out->knob_count; ++k) {
        snprintf(text[k], sizeof text[k], s->out->knob[k].whole ? "%.0f" : "%.6g", value[k]);
        set[k] = (PliOverride){ s->out->knob[k].path, text[k] };
    }
    for (int idle = 0; idle <= MOST_IDLE; ++idle) {
        const PliTrial trial = { .scene = scene,
                                 .body = s->tune->body,
                                 .set = set,
                                 .set_count = s->out->knob_count,
                                 .seed = *seed,
                                 .steps = s->tune->steps,
                                 .brief = true,
                                 .cache = s->tune->cache,
                                 .stopped = s->tune->stopped };
        int which;
        PliComparison *c = pli_trial_run(s->host, s->def, &trial, &which, s->err);
        if (!c) s->status = s->err->status;
        if (!c) return false;
        const bool nothing = pli_comparison_is_idle(c);
        const PliOutcome *o = &c->outcome[which];
        *score = (PliScore){ .ran = o->verdict == PLI_FINISHED, .force = NAN };
        snprintf(score->reason, sizeof score->reason, "%.199s", o->reason);
        if (score->ran) {
            score->error = o->error_rms, score->ms = o->step_ms.median, score->fell_back = o->fell_back;
            if (isfinite(o->force_error)) score->force = o->force_error;
        }
        pli_comparison_destroy(c);
        if (!nothing) return true;
        if (idle < MOST_IDLE) next_seed(s, seed);
    }
    return false;
}

static void refuse_idle(Search *s, const char *scene, uint64_t seed)
{
    if (s->status == PLI_OK)
        s->status =
            pli_refuse(s->err, PLI_BAD_ARGUMENT, "%s: nothing moves the reference, as it is or varied up to seed %llu",
                       scene, (unsigned long long)seed);
}

/// One of the loads, run once for a choice. Guards that hardly any load can be found for are left out.
static bool has_load(Search *s, Choice *c, int l)
{
    PliTuned *o = s->out;
    if (!c->has[l]) c->has[l] = run_load(s, s->tune->scene, c->value, &o->seed[l], &c->on[l]);
    if (!c->has[l] && l < s->tune->loads)
        refuse_idle(s, s->tune->scene, o->seed[l]);
    else if (!c->has[l] && s->status == PLI_OK)
        o->load_count = l;
    return c->has[l];
}

/// The worst over the loads of `order`, each run once; what diverges on one need not run on the others, and what is worse than `enough`
/// only where that is all that is to be known.
static PliScore judge(Search *s, Choice *c, const int *order, int loads, double enough)
{
    PliScore worst = { .ran = true, .force = NAN, .fell_back = true };
    int done = 0;
    for (int i = 0; i < loads && worst.ran && !worst.part && s->status == PLI_OK; ++i) {
        if (!has_load(s, c, order[i])) break;
        add_load(&worst, &c->on[order[i]]), ++done;
        worst.part = i + 1 < loads && worst.ran && badness(s->tune, &worst, 1.0) > enough;
    }
    if (worst.ran && done > 0) worst.ms /= done;
    return worst;
}

/// What was tried is remembered: a choice is found again by its values. @return NULL: it is new
static Choice *find_choice(Search *s, const double *value)
{
    for (int i = 0; i < s->out->tried; ++i) {
        bool same = true;
        for (int k = 0; k < s->out->knob_count; ++k) same = same && s->seen[i].value[k] == value[k];
        if (same) return &s->seen[i];
    }
    return NULL;
}

/// `best`: what it is to be better than; NULL: all is to be known.
static PliScore try_it(Search *s, const double *value, const PliScore *best)
{
    Choice *c = find_choice(s, value);
    if (!c) {
        if (s->tune->progress) s->tune->progress(s->out->tried, s->tune->most, s->tune->body);
        c = &s->seen[s->out->tried++];
        memcpy(c->value, value, sizeof c->value);
    }
    // with one that is good enough, all that counts of another one outside is that it is
    const double enough = best && s->tune->error > 0.0 && within(s->tune, best, s->tune->margin) ? 1.0 : INFINITY;
    return judge(s, c, s->order, s->active, enough);
}

/// Within what is wanted, the cheaper or the closer one; outside it, the one that is nearer to it.
static bool is_better(const PliTuneDef *t, const PliScore *a, const PliScore *b)
{
    if (a->ran != b->ran) return a->ran;
    if (a->part != b->part) return b->part;
    const bool a_in = within(t, a, t->margin), b_in = within(t, b, t->margin);
    if (a_in != b_in) return a_in;
    const bool by_error = (t->error > 0.0) != a_in; // times vary by some per cent from run to run
    return by_error ? badness(t, a, 1.0) < badness(t, b, 1.0) * 0.999 : a->ms < b->ms * 0.97;
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
        const PliScore tried = try_it(s, value, score);
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
            const PliScore tried = try_it(s, value, score);
            if (s->status != PLI_OK) return;
            if (!is_better(s->tune, &tried, score)) continue;
            *score = tried;
            memcpy(best, value, sizeof value);
        }
}

/// One knob alone: the largest value that is fine enough, or the smallest that is cheap enough, by halving the ratio between one that is
/// and one that is not. Every value is larger and cheaper or smaller and closer, as far as the steps of a body allow.
static void bracket(Search *s, int k, double best[PLI_KNOBS], PliScore *score)
{
    const PliKnob *knob = &s->out->knob[k];
    const bool larger = s->tune->error > 0.0; // is what is looked for among those that are good
    double good = within(s->tune, score, s->tune->margin) ? best[k] : NAN, bad = isnan(good) ? best[k] : NAN;
    double at = best[k], off = larger ? badness(s->tune, score, s->tune->margin) : score->ms / s->tune->budget;
    while (may_try(s)) {
        double next;
        if (isfinite(good) && isfinite(bad)) {
            if (fmax(good, bad) < near_enough * fmin(good, bad)) return;
            next = sqrt(good * bad);
        } else {
            const double far = fmin(fmax(off > 1.0 ? off : 1.0 / off, 1.5), first_step);
            next = at * ((isfinite(good) == larger) ? far : 1.0 / far);
        }
        next = fmin(fmax(next, knob->low), knob->high);
        if (next == at) return;
        double value[PLI_KNOBS];
        memcpy(value, best, sizeof value);
        value[k] = at = next;
        const PliScore tried = try_it(s, value, score);
        if (s->status != PLI_OK) return;
        off =
            !tried.ran ? first_step : (larger ? badness(s->tune, &tried, s->tune->margin) : tried.ms / s->tune->budget);
        *(within(s->tune, &tried, s->tune->margin) ? &good : &bad) = next;
        if (!is_better(s->tune, &tried, score)) continue;
        *score = tried;
        memcpy(best, value, sizeof value);
    }
}

/// Numbers of a scheme that runs on something else change nothing, and one knob is searched faster than several.
/// @return true: what is wanted was found
static bool search_alone(Search *s, double best[PLI_KNOBS], PliScore *score)
{
    int only = -1, others = 0;
    for (int k = 0; k < s->out->knob_count; ++k) {
        if (s->out->knob[k].whole)
            ++others;
        else
            only = k;
    }
    if (only < 0 || !(best[only] > 0.0) || (others > 0 && !score->fell_back)) return false;
    bracket(s, only, best, score);
    return within(s->tune, score, s->tune->margin) && (others == 0 || score->fell_back);
}

/// On guards, too, where it is what was asked for on the training loads.
static PliScore try_on_all(Search *s, const double *value)
{
    int all[PLI_TUNE_LOADS];
    for (int l = 0; l < s->out->load_count; ++l) all[l] = l;
    const PliScore training = try_it(s, value, NULL);
    return keeps(s->tune, &training) ? judge(s, find_choice(s, value), all, s->out->load_count, INFINITY) : training;
}

/// Whether a choice did to the bit what another body's did on the training loads; then what that one did on the other loads is what this one
/// does. Times are its own, of the loads it ran on.
static bool is_like(Search *s, Choice *c, const PliScore *training, const PliTuned *u)
{
    const PliTuned *o = s->out;
    for (int i = 0; i < s->active; ++i) {
        const int l = s->order[i];
        if (u->seed[l] != o->seed[l] || !c->has[l] || c->on[l].error != u->load[l].error ||
            !pli_same(c->on[l].force, u->load[l].force))
            return false;
    }
    for (int l = 0; l < o->load_count && l < u->load_count; ++l) {
        if (c->has[l] || u->seed[l] != o->seed[l] || !u->load[l].ran) continue;
        c->on[l] = u->load[l], c->on[l].ms = training->ms, c->has[l] = true;
    }
    return true;
}

/// A body that did the same before: what it found is tried, and taken when it does the same again.
static bool ask_others(Search *s, double best[PLI_KNOBS], PliScore *score)
{
    if (s->active != s->tune->loads) return false; // it was asked before
    for (int i = 0; i < s->tune->other_count; ++i) {
        const PliTuned *u = &s->tune->others[i];
        if (!u->ready || !u->after.ran || !score->ran || u->before.error != score->error ||
            u->before.force != score->force)
            continue;
        double value[PLI_KNOBS];
        memcpy(value, best, sizeof value);
        for (int k = 0; k < s->out->knob_count; ++k)
            for (int j = 0; j < u->knob_count; ++j)
                if (!s->out->knob[k].whole && strcmp(s->out->knob[k].name, u->knob[j].name) == 0 &&
                    s->out->knob[k].start == u->knob[j].start)
                    value[k] = u->knob[j].value;
        if (!may_try(s)) return false;
        const PliScore training = try_it(s, value, NULL);
        if (s->status != PLI_OK || !training.ran || !is_like(s, find_choice(s, value), &training, u)) return false;
        const PliScore tried = try_on_all(s, value);
        if (s->status != PLI_OK || !tried.ran) return false;
        *score = tried;
        memcpy(best, value, sizeof value);
        snprintf(s->out->like, sizeof s->out->like, "%s", u->name);
        return true;
    }
    return false;
}

static void search(Search *s, double best[PLI_KNOBS], PliScore *score)
{
    const PliTuned *o = s->out;
    double step = first_step;
    if (ask_others(s, best, score) || search_alone(s, best, score)) return;
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
                const PliScore tried = try_it(s, value, score);
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

/// From now on choices are judged by this load, too, and first.
static void train_on(Search *s, int l)
{
    memmove(s->order + 1, s->order, (size_t)s->active++ * sizeof *s->order);
    s->order[0] = l, s->out->trained[l] = true;
}

/// A choice that is good on the training loads, on the guards. The first one it is not good on joins the training loads.
static bool is_guarded(Search *s, const double *best, PliScore *score)
{
    PliTuned *o = s->out;
    Choice *c = find_choice(s, best);
    for (int l = s->tune->loads; l < o->load_count && s->status == PLI_OK; ++l) {
        if (o->trained[l] || !has_load(s, c, l) || within(s->tune, &c->on[l], s->tune->guard_margin)) continue;
        train_on(s, l);
        *score = try_it(s, best, NULL);
        return false;
    }
    return true;
}

/// Training loads are the scene's own and varied ones, and so are guards; those that were found for another body are those of this one.
static void choose_loads(Search *s)
{
    PliTuned *o = s->out;
    o->unseen_seed = s->tune->unseen_scene ? 0 : s->tune->unseen_seed;
    o->load_count = s->tune->loads + (s->tune->error > 0.0 ? s->tune->guards : 0);
    uint64_t seed = 0;
    for (int l = 0; l < o->load_count; ++l) {
        o->seed[l] = seed++;
        if (seed == o->unseen_seed && !s->tune->unseen_scene) ++seed;
    }
    for (int i = 0; i < s->tune->other_count; ++i)
        if (s->tune->others[i].ready) {
            memcpy(o->seed, s->tune->others[i].seed, sizeof o->seed);
            o->load_count = s->tune->others[i].load_count;
            o->unseen_seed = s->tune->others[i].unseen_seed;
        }
    s->active = s->tune->loads;
    for (int l = 0; l < s->active; ++l) s->order[l] = l, o->trained[l] = true;
}

/// What was found, on all loads and on the unseen one. Where it fails there, that load is trained on, and another one is unseen.
/// @return true: the search is to go on
static bool is_examined(Search *s, const double *best)
{
    PliTuned *o = s->out;
    const char *scene = s->tune->unseen_scene ? s->tune->unseen_scene : s->tune->scene;
    if (s->status == PLI_OK) o->after = try_on_all(s, best);
    o->reached = keeps(s->tune, &o->after);
    if (s->status != PLI_OK || !o->after.ran) return false;
    if (!run_load(s, scene, best, &o->unseen_seed, &o->unseen)) refuse_idle(s, scene, o->unseen_seed);
    o->holds = s->status == PLI_OK && keeps(s->tune, &o->unseen);
    if (o->holds || !o->reached || s->tune->unseen_scene || !(s->tune->error > 0.0) || s->tune->guards == 0 ||
        o->load_count == PLI_TUNE_LOADS || o->failed == MOST_FAILED || !may_try(s))
        return false;
    const int l = o->load_count++;
    Choice *c = find_choice(s, best);
    o->seed[l] = o->unseen_seed++;
    c->on[l] = o->unseen, c->has[l] = true;
    train_on(s, l);
    o->failed++, o->like[0] = '\0';
    o->after = try_it(s, best, NULL);
    return s->status == PLI_OK;
}

PliStatus pli_tune(const PliHost *host, const PliSceneDef *def, const PliTuneDef *tune, PliTuned *out, PliError *err)
{
    static Search s; // what is remembered is large
    memset(&s, 0, sizeof s);
    *out = (PliTuned){ 0 };
    s.host = host, s.def = def, s.tune = tune, s.out = out, s.err = err, s.begun = pli_wall_ms();
    if (tune->most > REMEMBERED || tune->loads + tune->guards > PLI_TUNE_LOADS ||
        (tune->error > 0.0) == (tune->budget > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "an error or a budget is needed, one of them, with at most %d tries and %d loads", REMEMBERED,
                          PLI_TUNE_LOADS);
    PliStatus status = find_knobs(&s);
    if (status != PLI_OK) return status;
    double best[PLI_KNOBS] = { 0 };
    for (int k = 0; k < out->knob_count; ++k) best[k] = out->knob[k].start;
    snprintf(out->name, sizeof out->name, "%s", tune->body);
    choose_loads(&s);
    out->before = out->after = try_it(&s, best, NULL);
    do // every round but the last has one more training load than the one before
        do
            if (s.status == PLI_OK && out->knob_count > 0) search(&s, best, &out->after);
        while (s.status == PLI_OK && !out->like[0] && within(tune, &out->after, tune->margin) &&
               !is_guarded(&s, best, &out->after));
    while (is_examined(&s, best));
    for (int k = 0; k < out->knob_count; ++k) out->knob[k].value = best[k];
    if (s.status == PLI_OK) memcpy(out->load, find_choice(&s, best)->on, sizeof out->load);
    out->ready = s.status == PLI_OK;
    return s.status;
}
