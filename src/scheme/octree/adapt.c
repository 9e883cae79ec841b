/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which particles split and merge. A particle is judged by how far the particles around it, on its own level, are from where its linear
// frame puts them; a mother by the same, as if she were active.
#include <math.h>
#include <string.h>

#include "adapt/handover.h"
#include "base/timer.h"
#include "base/vec.h"
#include "contact/contact.h"
#include "scheme/octree/fit.h"
#include "scheme/octree/octree.h"

// ---- judgement -------------------------------------------------------------------------------------------------------------

/// h^2 |Lap d| of the paper's (10), m, of the displacement less its linear part: a rotation is no reason to split. x is complete.
static double unevenness(const PliOctree *s, PliIndex cell, const double *x)
{
    const PliOctreeTree *t = s->tree;
    PliIndex near[26], count = 0;
    double points[3 * 26], g[3 * 26], F[9] = { 0 }, lap[3] = { 0, 0, 0 }, total = 0.0, least = INFINITY;
    for (PliIndex e = t->first[cell]; e < t->first[cell + 1]; ++e) {
        const PliIndex n = t->potential[e];
        if (t->cell[n].level != t->cell[cell].level) continue;
        near[count] = n;
        v3_copy(points + 3 * (size_t)count++, t->rest + 3 * (size_t)n);
    }
    if (!count) return 0.0;
    const double *x0 = x + 3 * (size_t)cell, *rest = t->rest + 3 * (size_t)cell;
    const int rank = pli_octree_fit_frame(rest, points, count, g);
    for (PliIndex i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                F[3 * a + b] += (x[3 * (size_t)near[i] + (size_t)a] - x0[a]) * g[3 * i + (PliIndex)b];
    for (PliIndex i = 0; i < count; ++i) {
        double d[3], rest_d[3], linear[3];
        v3_sub(d, x + 3 * (size_t)near[i], x0);
        v3_sub(rest_d, points + 3 * (size_t)i, rest);
        m3_apply(linear, F, rest_d);
        const double length = v3_norm(rest_d);
        for (int k = 0; k < 3; ++k) lap[k] += (d[k] - linear[k]) / length;
        total += length;
        least = length < least ? length : least;
    }
    // (6) is a third of the Laplacian for neighbours all around; in a row it is all of it
    return least * least * 2.0 / total * v3_norm(lap) * (rank > 0 ? rank : 1);
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

static double tool_score(const PliBody *body, const double p[3], double size)
{
    int count;
    const PliTool *tools = pli_body_tools(body, &count);
    double best = 0.0;
    for (int i = 0; i < count; ++i) {
        double normal[3];
        const double score = pli_score_contact(pli_tool_distance(&tools[i], 0.0, p, normal), size);
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
    const double near = tool_score(body, p, size);
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

static double work_now(const PliOctree *s)
{
    double sum = 0.0;
    for (PliIndex c = 0; c < s->tree->cell_count; ++c)
        if (s->active.is_active[c]) sum += work_of(s, c);
    return sum;
}

typedef struct Decision {
    PliOctree *s;
    PliBody *body;
    double *x, *v;
    double work, most_work, stop_at;
    PliIndex next_merge;
    bool changed;
} Decision;

static bool may_continue(const Decision *d) { return isinf(d->stop_at) || pli_cpu_ms() < d->stop_at; }

static double daughters_work(const PliOctree *s, PliIndex cell)
{
    double sum = 0.0;
    for (int k = 0; k < 8; ++k)
        if (s->tree->cell[cell].child[k] != PLI_NONE) sum += work_of(s, s->tree->cell[cell].child[k]);
    return sum - work_of(s, cell);
}

static bool merge(Decision *d, PliIndex mother)
{
    PliOctree *s = d->s;
    if (!pli_octree_may_merge(&s->active, mother) || s->stays_split[mother]) return false;
    pli_body_before_event(d->body, d->x, s->tree->rest + 3 * (size_t)mother,
                          3.0 * s->tree->size[s->tree->cell[mother].level]);
    pli_octree_merge_cell(s, mother, d->x, d->v);
    pli_criterion_note_coarsened(&s->criterion, mother);
    pli_body_stats_mutable(d->body)->coarsened++;
    d->work -= daughters_work(s, mother);
    return d->changed = true;
}

/// With everything that balance asks for first, or not at all.
static bool split(Decision *d, PliIndex cell)
{
    PliOctree *s = d->s;
    const PliIndex *order, most = pli_body_def(d->body)->criterion.max_active;
    const PliIndex count = pli_octree_plan_split(&s->active, cell, &order);
    double more = 0.0;
    for (PliIndex i = 0; i < count; ++i) more += daughters_work(s, order[i]);
    if (most != PLI_NONE && s->active.count + pli_octree_plan_growth(s->tree, order, count) > most) return false;
    if (d->work + more > d->most_work) return false;
    for (PliIndex i = 0; i < count; ++i) {
        const PliIndex c = order[i]; // the list stays: splits do not plan
        pli_body_before_event(d->body, d->x, s->tree->rest + 3 * (size_t)c,
                              3.0 * s->tree->size[s->tree->cell[c].level]);
        pli_octree_split_cell(s, c, d->x, d->v);
        s->fresh[s->fresh_count++] = c;
        pli_criterion_note_refined(&s->criterion, c);
        pli_body_stats_mutable(d->body)->refined++;
    }
    d->work += more;
    return d->changed = true;
}

static void force_merges(Decision *d, double limit, double below)
{
    const PliCriterion *c = &d->s->criterion;
    while (may_continue(d) && d->work > limit && d->next_merge < c->coarsen_count &&
           c->coarsen[d->next_merge].score < below) {
        const PliProposal *p = &c->coarsen[d->next_merge++];
        if (merge(d, p->region) && !pli_criterion_volunteers(c, p)) pli_body_stats_mutable(d->body)->forced++;
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
        if (!d->s->active.is_active[p->region] || split(d, p->region)) continue;
        const PliIndex before = d->next_merge;
        if (isfinite(d->most_work)) force_merges(d, 0.97 * d->most_work, 0.5 * p->score);
        if (d->next_merge == before || !split(d, p->region)) stats->refused++;
    }
    for (PliIndex k = d->next_merge; k < c->coarsen_count && may_continue(d); ++k)
        if (pli_criterion_volunteers(c, &c->coarsen[k])) (void)merge(d, c->coarsen[k].region);
}

// ---- energy ----------------------------------------------------------------------------------------------------------------

/// Internal forces on the points of the operator, nothing viscous.
static const double *forces_at(PliOctree *s, const double *x)
{
    PliOctreeOperator *o = &s->op;
    const PliIndex n = o->count + o->extra + o->wall_count;
    double *at = s->scratch, *f = s->scratch + 3 * (size_t)n;
    for (PliIndex i = 0; i < o->count; ++i) v3_copy(at + 3 * (size_t)i, x + 3 * (size_t)o->cell[i]);
    for (PliIndex i = 0; i < o->extra; ++i)
        v3_copy(at + 3 * (size_t)(o->count + i), x + 3 * (size_t)(s->axis_first + i));
    for (PliIndex i = 0; i < o->wall_count; ++i)
        v3_copy(at + 3 * (size_t)(o->count + o->extra + i), x + 3 * (size_t)(s->wall_first + o->wall[i]));
    memset(f, 0, 3 * (size_t)n * sizeof *f);
    pli_octree_add_force(o, at, NULL, f);
    return f;
}

/// Daughters of one mother go where internal forces push them, about their common centre.
static void relax_group(PliOctree *s, PliIndex mother, const double *f, double *x, const double *v, double spin[3])
{
    const PliOctreeOperator *o = &s->op;
    double mean[3] = { 0, 0, 0 }, mass = 0.0, step = INFINITY;
    for (int pass = 0; pass < 2; ++pass) {
        if (pass && !isfinite(step)) return; // cells that touch nothing by a face: no force moves them
        for (int k = 0; k < 8; ++k) {
            const PliIndex c = s->tree->cell[mother].child[k];
            if (c == PLI_NONE || !s->active.is_active[c] || (s->fixed && s->fixed[c])) continue;
            const PliIndex i = o->position[c];
            if (pass == 0) {
                step = o->step[i] < step ? o->step[i] : step;
                mass += o->mass[i];
                v3_add(mean, mean, f + 3 * (size_t)i);
                continue;
            }
            double *move = s->drift + 3 * (size_t)c, l[3];
            for (int a = 0; a < 3; ++a)
                move[a] =
                    0.85 * move[a] + 0.2 * step * step * (f[3 * (size_t)i + (size_t)a] / o->mass[i] - mean[a] / mass);
            v3_add(x + 3 * (size_t)c, x + 3 * (size_t)c, move);
            v3_cross(l, move, v + 3 * (size_t)c);
            v3_madd(spin, -o->mass[i], l);
        }
    }
}

/// All particles, when daughters alone cannot give enough back: the centre of mass of what is free stays.
static void relax_all(PliOctree *s, const double *f, double *x, const double *v, double spin[3])
{
    const PliOctreeOperator *o = &s->op;
    double step = INFINITY;
    for (PliIndex i = 0; i < o->count; ++i) step = o->step[i] < step ? o->step[i] : step;
    if (!isfinite(step)) return;
    for (PliIndex i = 0; i < o->count; ++i) {
        const size_t c = o->cell[i];
        double *move = s->drift + 3 * c, l[3];
        if (s->fixed && s->fixed[c]) continue;
        for (size_t a = 0; a < 3; ++a) move[a] = 0.85 * move[a] + 0.2 * step * step * f[3 * (size_t)i + a] / o->mass[i];
        v3_add(x + 3 * c, x + 3 * c, move);
        v3_cross(l, move, v + 3 * c);
        v3_madd(spin, -o->mass[i], l);
    }
}

static void forget_drift(PliOctree *s)
{
    for (PliIndex i = 0; i < s->op.count; ++i) memset(s->drift + 3 * (size_t)s->op.cell[i], 0, 3 * sizeof *s->drift);
}

/// J, with that of the weight.
static double energy_of(PliBody *body, const double *x, const double *v)
{
    const PliEnergy e = pli_body_energy(body, x, v);
    return e.elastic + e.kinetic - e.mass * v3_dot(pli_body_def(body)->gravity, e.centre);
}

/// What a split put too far from where forces want it goes there, as long as the body is richer than before. @return what it is richer by, J.
static double relax(PliOctree *s, PliBody *body, double before, double *x, double *v)
{
    enum { ROUNDS = 8, IN_A_ROUND = 4 };
    double energy = energy_of(body, x, v), spin[3] = { 0, 0, 0 };
    int tools;
    (void)pli_body_tools(body, &tools);
    // what a tool presses would spring into it; and it makes splits all the time
    for (int all = 0; all < (tools ? 1 : 2); ++all) {
        forget_drift(s);
        for (int round = 0; round < (tools ? 1 : ROUNDS) && (all || s->fresh_count) && energy > before; ++round) {
            for (int k = 0; k < IN_A_ROUND; ++k) {
                const double *f = forces_at(s, x);
                for (PliIndex i = 0; i < s->fresh_count && !all; ++i) relax_group(s, s->fresh[i], f, x, v, spin);
                if (all) relax_all(s, f, x, v, spin);
            }
            energy = energy_of(body, x, v);
        }
    }
    if (v3_norm(spin) > 0.0) {
        const PliEventPatch patch = { s->patch, s->patch_mass, s->op.count };
        (void)pli_handover_spin(&patch, spin, x, v);
        energy = energy_of(body, x, v);
    }
    return energy - before;
}

/// An event that made the body richer pays with motion that is not rigid.
static void settle_energy(PliOctree *s, PliBody *body, double before, double *x, double *v)
{
    pli_body_recut(body);
    PliStats *stats = pli_body_stats_mutable(body);
    for (PliIndex i = 0; i < s->op.count; ++i) {
        s->patch[i] = s->op.cell[i];
        s->patch_mass[i] = s->fixed && s->fixed[s->op.cell[i]] ? 0.0 : s->op.mass[i];
    }
    const double gained = relax(s, body, before, x, v);
    if (gained > 0.0) {
        const PliEventPatch patch = { s->patch, s->patch_mass, s->op.count };
        stats->energy_added += pli_handover_cap(&patch, gained, x, v);
    } else {
        stats->energy_removed -= gained;
    }
}

static void learn(PliOctree *s, const PliStats *stats)
{
    pli_governor_learn(&s->governor, work_now(s), stats->solve_ms,
                       fmax(0.0, stats->step_ms - stats->solve_ms - stats->adapt_ms));
    if (s->decided) pli_governor_learn_decision(&s->governor, stats->adapt_ms);
    s->decided = false;
}

bool pli_octree_adapt(void *self, PliBody *body, double *x, double *v, double dt)
{
    PliOctree *s = self;
    const PliCriterionDef *c = &pli_body_def(body)->criterion;
    pli_octree_turn_axes(s, x, v, dt);
    const bool due = pli_criterion_due(&s->criterion, c, dt);
    if (c->budget_ms > 0.0 && pli_body_stats_mutable(body)->steps > 0) learn(s, pli_body_stats_mutable(body));
    if (!due || s->tree->level_count == 1) return false;
    if (c->budget_ms > 0.0 && s->governor.samples == 0) return false; // nobody knows yet what anything costs
    s->decided = true;
    s->fresh_count = 0;
    pli_octree_spread(s, x);
    pli_octree_spread(s, v);
    pli_criterion_begin(&s->criterion, c);
    judge(s, body, x, v);
    if (!s->criterion.refine_count && (!s->criterion.coarsen_count || s->criterion.coarsen[0].score >= c->coarsen) &&
        !(c->budget_ms > 0.0))
        return false;
    const double before = energy_of(body, x, v);
    Decision d = { .s = s, .body = body, .x = x, .v = v, .work = work_now(s) };
    d.most_work = pli_governor_limit(&s->governor, c->budget_ms);
    d.stop_at = c->budget_ms > 0.0 ? pli_cpu_ms() + pli_governor_time(&s->governor, c->budget_ms) : INFINITY;
    decide(&d);
    if (d.changed) settle_energy(s, body, before, x, v);
    return d.changed;
}
