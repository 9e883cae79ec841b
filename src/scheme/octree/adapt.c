/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which particles split and merge. A particle is judged by how far the particles around it, on its own level, are from where its linear
// frame puts them; a mother by the same, as if she were active.
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "base/vec.h"
#include "contact/contact.h"
#include "scheme/octree/fit.h"
#include "scheme/octree/octree.h"

// ---- judgement -------------------------------------------------------------------------------------------------------------

/// Weights that give h^2 |Lap d| of the paper's (10), m, of the displacement less its linear part: a rotation is no reason to split. All of
/// it is linear in positions, and known before anything moves.
static void find_bent(const PliOctree *s, PliIndex cell, PliOctreeBent *b)
{
    const PliOctreeTree *t = s->tree;
    double points[3 * 26], g[3 * 26], sum[3] = { 0, 0, 0 }, total = 0.0, least = INFINITY;
    const double *rest = t->rest + 3 * (size_t)cell;
    b->count = 0;
    for (PliIndex e = t->first[cell]; e < t->first[cell + 1]; ++e) {
        const PliIndex n = t->potential[e];
        if (t->cell[n].level != t->cell[cell].level) continue;
        v3_copy(points + 3 * (size_t)b->count, t->rest + 3 * (size_t)n);
        b->near[b->count++] = n;
    }
    const int rank = b->count ? pli_octree_fit_frame(rest, points, b->count, g) : 0;
    // sum of (d - F r) / |r| with F = sum of d g^T: each d counts 1 / |r| - g . (sum of r / |r|)
    for (PliIndex i = 0; i < b->count; ++i) {
        double r[3];
        v3_sub(r, points + 3 * (size_t)i, rest);
        const double length = v3_norm(r);
        v3_madd(sum, 1.0 / length, r);
        b->weight[i] = 1.0 / length;
        total += length;
        least = length < least ? length : least;
    }
    for (PliIndex i = 0; i < b->count; ++i) b->weight[i] -= v3_dot(g + 3 * (size_t)i, sum);
    // (6) is a third of the Laplacian for neighbours all around; in a row it is all of it
    b->scale = b->count ? least * least * 2.0 / total * (rank > 0 ? rank : 1) : 1.0;
}

/// x is complete where cells have daughters.
static double unevenness(const PliOctree *s, PliIndex cell, const double *x)
{
    PliOctreeBent *b = &s->bent[cell];
    double lap[3] = { 0, 0, 0 };
    if (b->scale == 0.0) find_bent(s, cell, b);
    for (PliIndex i = 0; i < b->count; ++i) {
        double d[3];
        v3_sub(d, x + 3 * (size_t)b->near[i], x + 3 * (size_t)cell);
        v3_madd(lap, b->weight[i], d);
    }
    return b->scale * v3_norm(lap);
}

/// Each cell once in a decision.
static double known_unevenness(PliOctree *s, PliIndex cell, const double *x)
{
    if (s->uneven[cell] < 0.0) s->uneven[cell] = unevenness(s, cell, x);
    return s->uneven[cell];
}

/// At the end of a line of cells a curve looks straight: such a cell takes the word of the one before it.
static double unevenness_around(PliOctree *s, PliIndex cell, const double *x)
{
    double most = known_unevenness(s, cell, x);
    for (int side = 0; side < 6; ++side) {
        const PliIndex n = s->tree->cell[cell].neighbour[side];
        if (n == PLI_NONE || s->tree->cell[cell].neighbour[side ^ 1] != PLI_NONE) continue;
        const double beside = known_unevenness(s, n, x);
        if (!(beside <= most)) most = beside;
    }
    return most;
}

/// |f| of an active cell, or of the active ones below it together.
static double force_on(const PliOctree *s, PliIndex cell)
{
    double sum[3] = { 0, 0, 0 };
    if (s->active.is_active[cell]) v3_copy(sum, s->force + 3 * (size_t)s->op.position[cell]);
    for (int k = 0; k < 8; ++k) {
        const PliIndex c = s->tree->cell[cell].child[k];
        if (c != PLI_NONE && s->active.is_active[c]) v3_add(sum, sum, s->force + 3 * (size_t)s->op.position[c]);
    }
    return v3_norm(sum);
}

/// Where a tool will be when what is decided now is carried out counts as well.
static double tool_score(const PliOctree *s, const PliBody *body, const double p[3], double size)
{
    const double until = s->lag + pli_body_def(body)->criterion.interval;
    int count;
    const PliTool *tools = pli_body_tools(body, &count);
    double best = 0.0;
    for (int i = 0; i < count; ++i) {
        double normal[3];
        const double ahead = until * v3_norm(tools[i].velocity);
        const double score = pli_score_contact(pli_tool_distance(&tools[i], 0.0, p, normal) - ahead, size);
        if (!(score <= best)) best = score;
    }
    return best;
}

static double score_of(PliOctree *s, const PliBody *body, PliIndex cell, const double *x, const double *v)
{
    const PliCriterionDef *c = &pli_body_def(body)->criterion;
    const double size = s->tree->size[s->tree->cell[cell].level], *p = x + 3 * (size_t)cell;
    double score = 0.0;
    switch (c->kind) {
    case PLI_BY_STRAIN_JUMP:
        score = unevenness_around(s, cell, x) / (c->threshold * s->tree->size[s->tree->level_count - 1]);
        break;
    case PLI_BY_VELOCITY: score = unevenness_around(s, cell, v) / c->threshold; break;
    case PLI_BY_CAMERA: score = pli_score_camera(c, p, size); break;
    case PLI_BY_REGION: score = pli_score_region(c, p); break;
    case PLI_BY_CONTACT:
    case PLI_BY_DISPLACEMENT:
    case PLI_BY_RECOVERED: break; // tools are looked at below; these two are refused at creation
    case PLI_BY_FORCE: score = force_on(s, cell) / (s->op.lame.mu * size * size * c->threshold); break;
    }
    if (c->kind == PLI_BY_CAMERA || c->kind == PLI_BY_REGION) return score;
    const double near = tool_score(s, body, p, size);
    return near > score ? near : score;
}

static void judge(PliOctree *s, PliBody *body, const double *x, const double *v)
{
    const PliOctreeTree *t = s->tree;
    for (PliIndex c = 0; c < t->cell_count; ++c) s->uneven[c] = -1.0;
    if (pli_body_def(body)->criterion.kind == PLI_BY_FORCE) s->force = pli_body_evaluate(body, x, v);
    for (PliIndex c = 0; c < t->level_first[t->level_count - 1]; ++c) {
        if (s->active.is_active[c])
            pli_criterion_offer_refine(&s->criterion, c, score_of(s, body, c, x, v), t->size[t->cell[c].level + 1]);
        else if (!s->stays_split[c] && pli_octree_may_merge(&s->active, c))
            pli_criterion_offer_coarsen(&s->criterion, c, score_of(s, body, c, x, v));
    }
    pli_criterion_rank(&s->criterion);
}

// ---- decision --------------------------------------------------------------------------------------------------------------

/// Particles times the substeps their level needs in a step, up to a factor.
static double work_of(const PliOctree *s, PliIndex cell) { return ldexp(1.0, s->tree->cell[cell].level); }

static double work_in(const PliOctree *s, const PliOctreeOperator *o)
{
    double sum = 0.0;
    for (PliIndex i = 0; i < o->count; ++i) sum += work_of(s, o->cell[i]);
    return sum;
}

static double work_now(const PliOctree *s) { return work_in(s, &s->op); }

typedef struct Decision {
    PliOctree *s;
    PliBody *body;
    double work, most_work;
    PliIndex most_events;
    PliIndex next_merge;
} Decision;

static bool may_continue(const Decision *d) { return d->s->planned_count < d->most_events; }

static double daughters_work(const PliOctree *s, PliIndex cell)
{
    double sum = 0.0;
    for (int k = 0; k < 8; ++k)
        if (s->tree->cell[cell].child[k] != PLI_NONE) sum += work_of(s, s->tree->cell[cell].child[k]);
    return sum - work_of(s, cell);
}

static bool plan_merge(Decision *d, PliIndex mother)
{
    PliOctree *s = d->s;
    if (!pli_octree_may_merge(&s->next_active, mother) || s->stays_split[mother]) return false;
    pli_octree_merge(&s->next_active, mother);
    s->planned[s->planned_count++] = mother;
    pli_criterion_note_coarsened(&s->criterion, mother);
    d->work -= daughters_work(s, mother);
    return true;
}

/// With everything that balance asks for first, or not at all.
static bool plan_split(Decision *d, PliIndex cell)
{
    PliOctree *s = d->s;
    const PliIndex *order, most = pli_body_def(d->body)->criterion.max_active;
    const PliIndex count = pli_octree_plan_split(&s->next_active, cell, &order);
    double more = 0.0;
    for (PliIndex i = 0; i < count; ++i) more += daughters_work(s, order[i]);
    if (most != PLI_NONE && s->next_active.count + pli_octree_plan_growth(s->tree, order, count) > most) return false;
    if (d->work + more > d->most_work || (s->planned_count && s->planned_count + count > d->most_events)) return false;
    for (PliIndex i = 0; i < count; ++i) {
        const PliIndex c = order[i]; // the list stays: splits do not plan
        pli_octree_split(&s->next_active, c);
        s->planned[s->planned_count++] = c;
        pli_criterion_note_refined(&s->criterion, c);
    }
    d->work += more;
    return true;
}

static void force_merges(Decision *d, double limit, double below)
{
    const PliCriterion *c = &d->s->criterion;
    while (may_continue(d) && d->work > limit && d->next_merge < c->coarsen_count &&
           c->coarsen[d->next_merge].score < below) {
        const PliProposal *p = &c->coarsen[d->next_merge++];
        if (plan_merge(d, p->region) && !pli_criterion_volunteers(c, p)) pli_body_stats_mutable(d->body)->forced++;
    }
}

static void decide(Decision *d)
{
    const PliCriterion *c = &d->s->criterion;
    PliStats *stats = pli_body_stats_mutable(d->body);
    if (d->work > d->most_work) force_merges(d, 0.95 * d->most_work, INFINITY);
    // splits win over merges
    PliIndex i = 0;
    for (; i < c->refine_count && may_continue(d); ++i) {
        const PliProposal *p = &c->refine[i];
        if (!d->s->next_active.is_active[p->region] || plan_split(d, p->region)) continue;
        const PliIndex before = d->next_merge;
        if (isfinite(d->most_work)) force_merges(d, 0.97 * d->most_work, 0.5 * p->score);
        if (d->next_merge == before || !plan_split(d, p->region)) stats->refused++;
    }
    for (PliIndex k = d->next_merge; k < c->coarsen_count && may_continue(d); ++k)
        if (pli_criterion_volunteers(c, &c->coarsen[k])) (void)plan_merge(d, c->coarsen[k].region);
}

void pli_octree_forget_plan(PliOctree *s)
{
    while (s->planned_count) {
        const PliIndex cell = s->planned[--s->planned_count];
        if (s->next_active.is_active[cell])
            pli_octree_split(&s->next_active, cell);
        else
            pli_octree_merge(&s->next_active, cell);
    }
    s->next_ready = false;
}

// ---- what is planned -------------------------------------------------------------------------------------------------------

/// Work on the operator to come that a step takes besides its own, as a part of that; what a particle takes in a substep in units of it
/// (octants); and what carrying out takes of it. Counted in instructions.
static const double PREPARE_SHARE = 0.75, PARTICLE_UNITS = 4.0, CARRY_OUT_SHARE = 0.5;
/// Particles for each event of a plan, and events that any plan may have: what it takes to carry out grows with them.
enum { PARTICLES_PER_EVENT = 32, FEW_EVENTS = 4 };
/// A plan is ready after so many steps or little more, however little a step takes; and what an operator takes for each particle, and
/// each that splits.
static const double MOST_STEPS = 8.0, MAKE_UNITS = 12.0, SPLIT_UNITS = 1500.0;

static double substeps(const PliOctree *s, const PliBodyDef *def, double dt)
{
    const double step = def->courant * pli_octree_critical_step(&s->op, false);
    return isfinite(step) && step > 0.0 ? fmax(1.0, ceil(dt / step)) : 1.0;
}

/// Goes on with the operator of the next set. @return whether it is there and the step has room to carry out the plan
static bool prepare(PliOctree *s, const PliBodyDef *def, double dt)
{
    const double budget = def->criterion.budget_ms;
    if (!(budget > 0.0)) {
        const double step = PREPARE_SHARE * PARTICLE_UNITS * s->op.count * substeps(s, def, dt),
                     all = MAKE_UNITS * s->next.count + SPLIT_UNITS * s->planned_count;
        const double most = fmax(step, all / MOST_STEPS);
        double work = most;
        if (!s->next_ready) s->next_ready = pli_octree_operator_continue(&s->next, &work);
        return s->next_ready && work >= CARRY_OUT_SHARE * most;
    }
    // what the step leaves of the budget; a piece at least, or it would never be done
    enum { PIECE = 64, MOST_WAIT = 20 };
    static const double MARGIN = 0.5; // the last piece is a large one
    const double left = pli_governor_left(&s->governor, budget, work_now(s)), begin = pli_cpu_ms();
    do {
        double work = PIECE;
        if (!s->next_ready) s->next_ready = pli_octree_operator_continue(&s->next, &work);
        s->prepared_ms = pli_cpu_ms() - begin;
    } while (!s->next_ready && s->prepared_ms < MARGIN * left);
    if (!s->next_ready) return false;
    // what makes room needs none
    if (work_in(s, &s->next) < work_now(s)) return true;
    if (pli_governor_is_room(&s->governor, left - s->prepared_ms, s->planned_count)) return true;
    if (s->since_look > MOST_WAIT * dt) pli_octree_forget_plan(s); // another one may fit, or less is needed
    return false;
}

static void learn(PliOctree *s, const PliStats *stats)
{
    const double ms = stats->adapt_ms - s->prepared_ms; // that is what the step left
    pli_governor_learn_events(&s->governor, work_now(s), stats->solve_ms,
                              fmax(0.0, stats->step_ms - stats->solve_ms - stats->adapt_ms), s->carried_out, ms);
    if (s->decided && !s->carried_out) pli_governor_learn_decision(&s->governor, ms);
    s->decided = false;
    s->carried_out = 0;
    s->prepared_ms = 0.0;
}

/// Looks where the set should change, and plans that.
static void look(PliOctree *s, PliBody *body, double *x, double *v)
{
    const PliCriterionDef *c = &pli_body_def(body)->criterion;
    s->decided = true;
    pli_octree_spread_judged(s, x);
    if (c->kind == PLI_BY_VELOCITY) pli_octree_spread_judged(s, v);
    pli_criterion_begin(&s->criterion, c);
    judge(s, body, x, v);
    Decision d = { .s = s, .body = body, .work = work_now(s) };
    d.most_work = pli_governor_limit(&s->governor, c->budget_ms);
    const PliIndex most = s->op.count / PARTICLES_PER_EVENT;
    d.most_events =
        pli_governor_events(&s->governor, c->budget_ms, d.work, most > FEW_EVENTS ? most : (PliIndex)FEW_EVENTS);
    if (d.most_events == 0) d.most_events = 1; // waits until there is room
    decide(&d);
    if (s->planned_count) pli_octree_operator_begin(&s->next, s->is_held, &s->op);
}

bool pli_octree_adapt(void *self, PliBody *body, double *x, double *v, double dt)
{
    PliOctree *s = self;
    const PliBodyDef *def = pli_body_def(body);
    const PliCriterionDef *c = &def->criterion;
    pli_octree_turn_axes(s, x, v, dt);
    const bool due = pli_criterion_due(&s->criterion, c, dt);
    if (c->budget_ms > 0.0 && pli_body_stats_mutable(body)->steps > 0) learn(s, pli_body_stats_mutable(body));
    if (s->tree->level_count == 1) return false;
    s->since_look += dt;
    if (!s->planned_count) {
        if (!due) return false;
        if (c->budget_ms > 0.0 && s->governor.samples < PLI_GOVERNOR_FIRST)
            return false; // nobody knows yet what anything costs
        look(s, body, x, v);
        s->since_look = 0.0;
        if (!s->planned_count) return false;
    }
    if (!prepare(s, def, dt)) return false;
    s->lag = s->since_look;
    s->carried_out = s->planned_count;
    pli_octree_carry_out(s, body, x, v);
    return true;
}
