/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which of the proposals are carried out: first what the budget forces, then what volunteers, then what asks for more.
#include <math.h>

#include "base/timer.h"
#include "scheme/tetlod/tetlod.h"

typedef struct Decision {
    PliTetLod *t;
    PliBody *body;
    double *x, *v, dt;
    double most_work;
    double stop_at;        ///< ms, CPU clock: no event begins later
    PliIndex next_coarsen; ///< first proposal to coarsen that was not tried yet
    bool changed;
    bool left; ///< the masses of a uniform level, and cut for it: another cut has to follow
} Decision;

static PliEventResult apply(Decision *d, PliIndex node, bool split, bool forced)
{
    if (d->t->uniform_level >= 0) pli_tetlod_leave_uniform(d->t, d->body, d->x, d->v), d->left = true;
    // what follows the node, directly or through others, lies within a few of its own sizes
    pli_body_before_event(d->body, d->x, d->t->h->x + 3 * (size_t)node, 2.0 * d->t->h->size[node]);
    const PliEventResult r = pli_tetlod_event(d->t, d->body, d->x, d->v, node, split, forced, d->most_work, d->dt);
    d->changed |= r == PLI_EVENT_DONE;
    PliTetLod *t = d->t;
    if (r == PLI_EVENT_DONE && split)
        for (PliIndex c = t->h->child_first[node]; c < t->h->child_first[node + 1]; ++c)
            if (t->started_count < t->h->point_count) t->started[t->started_count++] = t->h->child[c];
    // what was refused for its energy is not tried again at once
    if (r == PLI_EVENT_ADDS_ENERGY && !split) pli_criterion_note_refined(&t->criterion, node);
    if (r == PLI_EVENT_ADDS_ENERGY && split) pli_criterion_note_coarsened(&t->criterion, node);
    return r;
}

/// A split, and before it those that balance asks for.
static PliEventResult split(Decision *d, PliIndex node)
{
    for (PliIndex blocker; (blocker = pli_activeset_blocker(d->t->set, node)) != PLI_NONE;) {
        const PliEventResult r = split(d, blocker);
        if (r != PLI_EVENT_DONE) return r;
    }
    return apply(d, node, true, false);
}

static bool may_continue(const Decision *d) { return isinf(d->stop_at) || pli_cpu_ms() < d->stop_at; }

static double work(const Decision *d) { return pli_tetlod_work(d->t, pli_body_def(d->body), d->dt); }

/// Merges the least needed regions until the step fits, whatever they ask for.
static void force_merges(Decision *d, double limit, double below_score)
{
    PliCriterion *c = &d->t->criterion;
    while (may_continue(d) && work(d) > limit && d->next_coarsen < c->coarsen_count) {
        const PliProposal *p = &c->coarsen[d->next_coarsen];
        if (p->score >= below_score) return;
        d->next_coarsen++;
        const bool willing = pli_criterion_volunteers(c, p);
        if (apply(d, p->region, false, true) == PLI_EVENT_DONE && !willing) pli_body_stats_mutable(d->body)->forced++;
    }
}

static void volunteer_merges(Decision *d)
{
    PliCriterion *c = &d->t->criterion;
    while (may_continue(d) && d->next_coarsen < c->coarsen_count &&
           c->coarsen[d->next_coarsen].score < c->def.coarsen) {
        const PliProposal *p = &c->coarsen[d->next_coarsen++];
        if (pli_criterion_volunteers(c, p)) (void)apply(d, p->region, false, false);
    }
}

static void splits(Decision *d)
{
    PliCriterion *c = &d->t->criterion;
    PliStats *stats = pli_body_stats_mutable(d->body);
    PliIndex i = 0;
    for (; i < c->refine_count && may_continue(d); ++i) {
        const PliProposal *p = &c->refine[i];
        pli_activeset_list(d->t->set);
        if (c->def.max_active != PLI_NONE && d->t->set->active_count >= c->def.max_active) break;
        PliEventResult r = split(d, p->region);
        if (r != PLI_EVENT_TOO_COSTLY) continue;
        // make room by joining regions that need it much less, then try once more
        const PliIndex before = d->next_coarsen;
        force_merges(d, 0.97 * d->most_work, 0.5 * p->score);
        if (d->next_coarsen != before && may_continue(d)) r = split(d, p->region);
        if (r == PLI_EVENT_TOO_COSTLY) break;
    }
    stats->refused += c->refine_count - i;
}

/// What the last step took teaches the governor; what a decision takes is known when the step after it begins.
static void learn(PliTetLod *t, const PliBodyDef *def, const PliStats *stats, double dt)
{
    pli_governor_learn(&t->governor, pli_tetlod_work(t, def, dt), stats->solve_ms,
                       fmax(0.0, stats->step_ms - stats->solve_ms - stats->adapt_ms));
    if (t->decided) pli_governor_learn_decision(&t->governor, stats->adapt_ms);
    t->decided = false;
}

/// The only level in use, or -1.
static int only_level(const PliTetLod *t)
{
    const PliActiveSet *s = t->set;
    const int first = t->h->level[s->active[0]], last = t->h->level[s->active[s->active_count - 1]];
    return first == last ? first : -1;
}

static bool follow_mixture(PliTetLod *t, PliBody *body, double *x, double *v, double dt)
{
    Decision d = { .t = t, .body = body, .x = x, .v = v, .dt = dt, .most_work = INFINITY, .stop_at = INFINITY };
    const PliCriterionDef *c = &pli_body_def(body)->criterion;
    t->started_count = 0;
    pli_tetlod_count_energy(t, body, x, v);
    pli_criterion_begin(&t->criterion, c);
    pli_tetlod_judge_plan(t, body, x);
    volunteer_merges(&d);
    splits(&d);
    if (d.left && d.changed) pli_body_recut(body);
    return d.changed;
}

/// Times the work of a uniform level that a mixture may take before it is left for that, whatever shape goes.
static const double DEAR = 2.0;

/// A uniform plan is followed at once where it is finer than what there is. Going coarser would throw away shape: where no shadow knows a
/// better one, it waits for rest.
static bool follow_uniform(PliTetLod *t, PliBody *body, double *x, double *v, double dt, const PliPlan *before)
{
    const PliActiveSet *s = t->set;
    const int finest = t->h->level[s->active[s->active_count - 1]];
    const bool at_rest = pli_tetlod_at_rest(t, pli_body_def(body));
    const bool known = t->use_shadows && t->shadow[0] >= 0 && before->uniform;
    const bool dear = !before->uniform && t->plan.mixed_work > DEAR * t->plan.work;
    if (finest > t->plan.level && !at_rest && !known && !dear) {
        if (before->uniform) {
            t->plan.level = finest;
        } else {
            t->plan = *before;
            return follow_mixture(t, body, x, v, dt);
        }
    }
    return only_level(t) != t->plan.level && pli_tetlod_go_uniform(t, body, x, v, t->plan.level);
}

static bool adapt_to_accuracy(PliTetLod *t, PliBody *body, double *x, double *v, double dt)
{
    const PliPlan before = t->plan;
    if (t->h->level_count == 1) return false;
    if (!pli_tetlod_look(t, body, x, v, dt)) {
        pli_tetlod_step_shadows(t, body, x, v, dt);
        return false;
    }
    t->set->revision = pli_body_revision(body) + 1;
    const bool changed =
        t->plan.uniform ? follow_uniform(t, body, x, v, dt, &before) : follow_mixture(t, body, x, v, dt);
    pli_tetlod_step_shadows(t, body, x, v, dt);
    PliStats *stats = pli_body_stats_mutable(body);
    stats->error_estimate = t->error;
    stats->uniform_level = only_level(t) + 1;
    stats->mixed_work = t->plan.uniform_work > 0.0 ? t->plan.mixed_work / t->plan.uniform_work : 0.0;
    return changed;
}

bool pli_tetlod_adapt(void *self, PliBody *body, double *x, double *v, double dt)
{
    PliTetLod *t = self;
    const PliBodyDef *def = pli_body_def(body);
    const PliCriterionDef *c = &def->criterion;
    const PliStats *stats = pli_body_stats_mutable(body);
    t->time += dt;
    t->step_length = dt;
    t->density = def->material.density;
    if (c->accuracy > 0.0) return adapt_to_accuracy(t, body, x, v, dt);
    const bool due = pli_criterion_due(&t->criterion, c, dt);
    if (c->budget_ms > 0.0 && stats->steps > 0) learn(t, def, stats, dt);
    if (!due || t->h->level_count == 1) return false;
    if (c->budget_ms > 0.0 && t->governor.samples == 0) return false; // nobody knows yet what anything costs
    t->decided = true;

    Decision d = { .t = t, .body = body, .x = x, .v = v, .dt = dt };
    d.most_work = pli_governor_limit(&t->governor, c->budget_ms);
    t->set->revision = pli_body_revision(body) + 1; // the cut that will show what changes now
    t->started_count = 0;
    pli_tetlod_count_energy(t, body, x, v);
    const double elastic = t->fit ? pli_body_energy(body, x, NULL).elastic : 0.0;
    t->booked = 0.0;
    pli_activeset_list(t->set);
    pli_criterion_begin(&t->criterion, c);
    pli_tetlod_judge(t, body, x);

    d.stop_at = c->budget_ms > 0.0 ? pli_cpu_ms() + pli_governor_time(&t->governor, c->budget_ms) : INFINITY;
    if (isfinite(d.most_work) && work(&d) > d.most_work) force_merges(&d, 0.95 * d.most_work, INFINITY);
    volunteer_merges(&d);
    splits(&d);
    // a tool that arrives may need all levels at once
    for (int round = 1; round + 1 < t->h->level_count && t->started_count > 0 && may_continue(&d); ++round) {
        pli_tetlod_judge_new(t, body, x);
        splits(&d);
    }
    if (t->fit && d.changed) pli_tetlod_settle_fit(t, body, x, v, elastic);
    if (d.left && d.changed && !t->fit) pli_body_recut(body);
    return d.changed;
}
