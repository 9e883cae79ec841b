/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which of the proposals are carried out: first what the budget forces, then what volunteers, then what asks for more.
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "base/vec.h"
#include "scheme/springs/springs.h"

/// Events of one decision take as many passes over all springs as this part of the substeps of a step, or one event: the others
/// wait for the next step. An implicit step counts as so many substeps.
static const double EVENT_SHARE = 0.5, IMPLICIT_SUBSTEPS = 30.0;

typedef struct Decision {
    PliSprings *s;
    PliBody *body;
    double *x, *v, dt;
    double most_work;
    double begin, left;    ///< ms, CPU clock; and what the step leaves of its budget
    double stop_at;        ///< ms, CPU clock: no event that makes room begins later
    double most_passes;    ///< and none but the first that would take more passes over all springs
    PliIndex next_coarsen; ///< first proposal to coarsen that was not tried yet
    bool changed;
} Decision;

/// Springs evaluated in a step that a star adds at least, as far as one can say without trying it.
static double least_growth(const Decision *d)
{
    enum { STAR_SPRINGS = 9 }; // three cut triangles: what is left of a star whose neighbours are in
    return STAR_SPRINGS * pli_springs_substeps(d->s, pli_body_def(d->body), d->dt);
}

/// An event that is refused costs as much as one that is not: the star waits, longer each time.
static void defer(PliSprings *s, PliIndex star)
{
    s->retry[star] = s->criterion.decision + (1u << s->refusals[star]);
    s->refusals[star] += s->refusals[star] < 6;
}

static PliSpringsEvent apply(Decision *d, PliIndex star, bool in, bool forced)
{
    PliSprings *s = d->s;
    PliStats *stats = pli_body_stats_mutable(d->body);
    if (s->cut->star[star] == in) return PLI_SPRINGS_NOTHING;
    if (!forced && s->criterion.decision < s->retry[star]) return PLI_SPRINGS_ADDS_ENERGY;
    if (in && d->most_work - pli_springs_work(s, pli_body_def(d->body), d->dt) < least_growth(d))
        return PLI_SPRINGS_TOO_COSTLY;
    const PliSpringsEvent r = pli_springs_event(s, d->body, d->x, d->v, star, in, forced, d->most_work, d->dt);
    if (r == PLI_SPRINGS_DONE) {
        d->changed = true;
        *(in ? &stats->refined : &stats->coarsened) += 1;
    }
    if (r == PLI_SPRINGS_TOO_COSTLY) return r; // and was soon over
    s->tried++;
    if (r == PLI_SPRINGS_ADDS_ENERGY) {
        defer(s, star);
        return r;
    }
    s->refusals[star] = 0;
    if (in)
        pli_criterion_note_refined(&s->criterion, star);
    else
        pli_criterion_note_coarsened(&s->criterion, star);
    if (in) s->started[s->started_count++] = star;
    return r;
}

static bool has_passes(const Decision *d)
{
    return d->s->passes == 0.0 || d->s->passes + PLI_SPRINGS_EVENT_PASSES <= d->most_passes;
}

/// Beside a step that has a budget an event begins when it fits.
static bool may_continue(const Decision *d)
{
    return has_passes(d) &&
           (isinf(d->left) || pli_governor_is_room(&d->s->governor, d->left - (pli_cpu_ms() - d->begin), 1));
}

/// What makes room does not wait for it.
static bool may_make_room(const Decision *d)
{
    return has_passes(d) && (isinf(d->stop_at) || pli_cpu_ms() < d->stop_at);
}

static bool fits(const Decision *d, double share)
{
    const PliBodyDef *def = pli_body_def(d->body);
    if (d->s->cut->active_count > def->criterion.max_active) return false;
    return isinf(d->most_work) || pli_springs_work(d->s, def, d->dt) <= share * d->most_work;
}

/// Takes out the least needed stars until the step fits, whatever they ask for.
static void force_coarsening(Decision *d, double share, double below_score)
{
    PliCriterion *c = &d->s->criterion;
    while (may_make_room(d) && !fits(d, share) && d->next_coarsen < c->coarsen_count) {
        const PliProposal *p = &c->coarsen[d->next_coarsen];
        if (p->score >= below_score) return;
        d->next_coarsen++;
        const bool willing = pli_criterion_volunteers(c, p);
        if (apply(d, p->region, false, true) == PLI_SPRINGS_DONE && !willing) pli_body_stats_mutable(d->body)->forced++;
    }
}

static void volunteer_coarsening(Decision *d)
{
    PliCriterion *c = &d->s->criterion;
    while (may_continue(d) && d->next_coarsen < c->coarsen_count &&
           c->coarsen[d->next_coarsen].score < c->def.coarsen) {
        const PliProposal *p = &c->coarsen[d->next_coarsen++];
        if (pli_criterion_volunteers(c, p)) (void)apply(d, p->region, false, false);
    }
}

static void refine(Decision *d)
{
    PliCriterion *c = &d->s->criterion;
    PliIndex i = 0;
    for (; i < c->refine_count && may_continue(d); ++i) {
        const PliProposal *p = &c->refine[i];
        if (apply(d, p->region, true, false) != PLI_SPRINGS_TOO_COSTLY) continue;
        // make room by joining regions that need it much less, then try once more
        const PliIndex before = d->next_coarsen;
        force_coarsening(d, 0.97, 0.5 * p->score);
        if (d->next_coarsen != before && may_continue(d) && apply(d, p->region, true, false) != PLI_SPRINGS_TOO_COSTLY)
            continue;
        defer(d->s, p->region);
        break;
    }
    pli_body_stats_mutable(d->body)->refused += c->refine_count - i;
}

bool pli_springs_adapt(void *self, PliBody *body, double *x, double *v, double dt)
{
    PliSprings *s = self;
    const PliBodyDef *def = pli_body_def(body);
    const PliCriterionDef *c = &def->criterion;
    const PliStats *stats = pli_body_stats_mutable(body);
    const bool due = pli_criterion_due(&s->criterion, c, dt);
    if (c->budget_ms > 0.0 && stats->steps > 0) {
        pli_governor_learn_events(&s->governor, pli_springs_work(s, def, dt), stats->solve_ms,
                                  fmax(0.0, stats->step_ms - stats->solve_ms - stats->adapt_ms), s->tried,
                                  fmax(0.0, stats->adapt_ms - s->governor.decision_ms));
        if (s->decided && !s->tried) pli_governor_learn_decision(&s->governor, stats->adapt_ms);
        s->decided = false;
        s->tried = 0;
    }
    if (!due || s->pyramid->level_count == 1) return false;
    if (c->budget_ms > 0.0 && s->governor.samples < PLI_GOVERNOR_FIRST)
        return false; // nobody knows yet what anything costs
    s->decided = true;

    Decision d = { .s = s, .body = body, .x = x, .v = v, .dt = dt, .begin = pli_cpu_ms() };
    d.left = pli_governor_left(&s->governor, c->budget_ms, pli_springs_work(s, def, dt));
    d.most_work = pli_governor_limit(&s->governor, c->budget_ms);
    s->started_count = 0;
    s->passes = 0.0;
    d.most_passes =
        EVENT_SHARE * (def->integrator == PLI_IMPLICIT ? IMPLICIT_SUBSTEPS : pli_springs_substeps(s, def, dt));
    pli_criterion_begin(&s->criterion, c);
    pli_springs_judge(s, body, x, v, dt);
    d.stop_at = c->budget_ms > 0.0 ? pli_cpu_ms() + pli_governor_time(&s->governor, c->budget_ms) : INFINITY;
    if (!fits(&d, 1.0)) force_coarsening(&d, 0.95, INFINITY);
    // where a step holds few events, those that refine and those that coarsen take turns at being first
    const bool coarsens_first = s->criterion.decision % 2 == 0;
    if (coarsens_first) volunteer_coarsening(&d);
    refine(&d);
    // what is touched may need all levels at once
    for (int round = 1; round + 1 < s->pyramid->level_count && s->started_count > 0 && may_continue(&d); ++round) {
        pli_springs_judge_new(s, body, x);
        refine(&d);
    }
    if (!coarsens_first) volunteer_coarsening(&d);
    if (!has_passes(&d)) pli_criterion_hurry(&s->criterion);
    if (d.changed) pli_springs_note_rows(s, pli_body_revision(body) + 1);
    return d.changed;
}

void pli_springs_adapt_reset(PliSprings *s)
{
    pli_criterion_reset(&s->criterion);
    pli_governor_reset(&s->governor);
    s->decided = s->pushed = false;
    s->tried = 0;
    s->bank = 0.0;
    memset(s->retry, 0, s->cut->star_count * sizeof *s->retry);
    memset(s->refusals, 0, s->cut->star_count);
    s->started_count = 0;
    for (PliIndex k = 0; k < s->cut->star_count; ++k)
        if (s->pinned[k]) pli_springs_cut_choose(s->cut, k, true);
}

/// A fixed vertex between vertices that are free must be there, or nothing is held.
static bool needs_itself(const PliPyramid *p, const uint8_t *fixed, PliIndex v)
{
    if (p->level[v] == 0) return false;
    const PliWing *w = &p->mesh[p->level[v] - 1]->edge[pli_pyramid_edge(p, v)];
    return !fixed[w->start] && !fixed[w->end];
}

void pli_springs_pin(void *self, const uint8_t *fixed)
{
    PliSprings *s = self;
    const PliPyramid *p = s->pyramid;
    memset(s->pinned, 0, s->cut->star_count);
    for (PliIndex v = p->mesh[0]->vertex_count; v < p->vertex_count; ++v) {
        if (!fixed[v] || !needs_itself(p, fixed, v)) continue;
        const int l = p->level[v] - 1;
        const PliIndex star = s->cut->star_first[l] + p->mesh[l]->edge[pli_pyramid_edge(p, v)].start;
        s->pinned[star] = 1;
        pli_springs_cut_choose(s->cut, star, true);
    }
    pli_springs_cut_refresh(s->cut);
    pli_springs_live_refresh(s);
    pli_springs_note_rows(s, 0); // the body has its skin composed anew
}
