/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which details are on. A passive one whose residual would move it further than the threshold switches on as a full unknown; what
// pushed it at that moment is taken back and fades in, so that nothing jumps. One that has become small fades to zero and is dropped.
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "scheme/wavelet/wavelet.h"
#include "contact/contact.h"

PliStatus pli_wavelet_adapt_create(PliWavelet *s)
{
    const PliHost *host = &s->host;
    const size_t n = s->count;
    PliIndex width = 0;
    for (int k = 0; k < s->level_count; ++k)
        width = s->level[k].shapes->width > width ? s->level[k].shapes->width : width;
    s->fixed = PLI_NEW(host, s->dof_count, uint8_t);
    s->candidate = PLI_NEW(host, n, uint8_t);
    s->parent = PLI_NEW(host, n, uint8_t);
    s->listed = PLI_NEW(host, n, PliIndex);
    s->outside = PLI_NEW(host, 3 * n, double);
    s->residual = PLI_NEW(host, 3 * (size_t)s->dof_count, double);
    s->motion = PLI_NEW(host, 3 * n, double);
    s->start = PLI_NEW(host, 3 * n, double);
    s->push = PLI_NEW(host, 3 * n, double);
    s->clock = PLI_NEW(host, n, double);
    s->v_before = PLI_NEW(host, 3 * n, double);
    s->judge_grad = PLI_NEW(host, 3 * (size_t)width * PLI_WAVELET_SAMPLES, double);
    s->judge_width = width;
    const bool good = s->fixed && s->candidate && s->parent && s->listed && s->outside && s->residual && s->motion &&
                      s->start && s->push && s->clock && s->v_before && s->judge_grad;
    return good && pli_wavelet_still_create(s) == PLI_OK && pli_criterion_init(&s->criterion, host, s->count) == PLI_OK
               ? PLI_OK
               : PLI_OUT_OF_MEMORY;
}

void pli_wavelet_adapt_destroy(PliWavelet *s)
{
    const PliHost *host = &s->host;
    const size_t n = s->count;
    PLI_FREE(host, s->fixed, s->dof_count);
    PLI_FREE(host, s->candidate, n);
    PLI_FREE(host, s->parent, n);
    PLI_FREE(host, s->listed, n);
    PLI_FREE(host, s->outside, 3 * n);
    PLI_FREE(host, s->residual, 3 * (size_t)s->dof_count);
    PLI_FREE(host, s->motion, 3 * n);
    PLI_FREE(host, s->start, 3 * n);
    PLI_FREE(host, s->push, 3 * n);
    PLI_FREE(host, s->clock, n);
    PLI_FREE(host, s->v_before, 3 * n);
    PLI_FREE(host, s->judge_grad, 3 * (size_t)s->judge_width * PLI_WAVELET_SAMPLES);
    pli_wavelet_still_destroy(s);
    pli_criterion_free(&s->criterion);
}

void pli_wavelet_adapt_reset(PliWavelet *s)
{
    static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    s->v_dt = 0.0;
    s->quiet = s->skip = 0;
    pli_wavelet_still_reset(s);
    s->fading = s->faded = 0;
    s->since_change = 0.0;
    s->displacement = 0.0;
    s->decided = false;
    memcpy(s->rotation, one, sizeof one);
    memset(s->shift, 0, sizeof s->shift);
    memset(s->candidate, 0, s->count);
    memset(s->outside, 0, 3 * (size_t)s->count * sizeof *s->outside);
    s->listed_revision = 0;
    pli_criterion_reset(&s->criterion);
    pli_governor_reset(&s->governor);
    s->info.activated = s->info.deactivated = 0;
    s->info.candidates = 0;
}

void pli_wavelet_pin(void *self, const uint8_t *fixed)
{
    PliWavelet *s = self;
    memcpy(s->fixed, fixed, s->dof_count);
    s->fixed_key = pli_hash(PLI_HASH_SEED, fixed, s->count);
    s->listed_revision = 0;
    s->held = memchr(fixed, 1, s->level[0].lattice->vertex_count) != NULL;
    s->quiet = 0;
}

// ---- decisions -----------------------------------------------------------------------------------------------------------------------------

/// Details of the next level that an active function reaches: those are looked at. They stay the same while the cut does.
static void find_candidates(PliWavelet *s)
{
    if (s->listed_revision == s->revision) return;
    s->listed_revision = s->revision;
    s->info.candidates = 0;
    memset(s->candidate, 0, s->count);
    for (int k = 1; k < s->level_count; ++k) {
        const PliRows r = pli_transfer_rows(s->level[k].rows);
        const PliIndex before = k > 1 ? s->level[k - 2].lattice->vertex_count : 0,
                       even = s->level[k - 1].lattice->vertex_count;
        for (PliIndex v = even; v < s->level[k].lattice->vertex_count; ++v) {
            if (s->state[v] != PLI_PASSIVE || s->fixed[v] || (s->dropped && s->dropped[v])) continue;
            for (PliIndex e = r.first[v]; e < r.first[v + 1] && !s->candidate[v]; ++e)
                s->candidate[v] = r.column[e] >= before && s->state[r.column[e]] != PLI_PASSIVE ? PLI_LISTED : 0;
            if (s->candidate[v]) s->listed[s->info.candidates++] = v;
        }
    }
    pli_wavelet_forget_ways(s);
}

static void find_parents(PliWavelet *s)
{
    uint8_t *parent = s->parent;
    memset(parent, 0, s->count);
    for (int k = 1; k < s->level_count; ++k) {
        const PliRows r = pli_transfer_rows(s->level[k].rows);
        for (PliIndex v = s->level[k - 1].lattice->vertex_count; v < s->level[k].lattice->vertex_count; ++v)
            for (PliIndex e = r.first[v]; e < r.first[v + 1] && s->state[v] != PLI_PASSIVE; ++e)
                parent[r.column[e]] = 1;
    }
}

/// Of control vertices of the finest level with something on from where a rigid body would have them. Coefficients say little: levels
/// cancel.
static void measure_displacement(PliWavelet *s, const double *x)
{
    double most = 0.0;
    const PliWaveletLevel *l = &s->level[s->dof_level[s->active[s->active_count - 1]]];
    const PliIndex first = l->dof_first;
    for (PliIndex v = 0; v < l->lattice->vertex_count; ++v) {
        const size_t a = (size_t)first + v;
        if (s->dropped && s->dropped[v]) continue;
        double u[3];
        m3_apply(u, s->rotation, s->rest + 3 * a);
        v3_add(u, u, s->shift);
        most = fmax(most, v3_distance(x + 3 * a, u));
    }
    s->displacement = fmax(most, s->displacement);
}

static double score_of(PliWavelet *s, const PliBody *body, const PliCriterionDef *c, PliIndex a, const double *x,
                       double theta)
{
    const double size = s->size * 0.5 / (1 << s->dof_level[a]);
    if (c->kind == PLI_BY_CONTACT) {
        const size_t vertex = (size_t)s->level[s->dof_level[a]].dof_first + a;
        int count;
        const PliTool *tools = pli_body_tools(body, &count);
        return pli_score_contact(pli_tools_distance(tools, count, x + 3 * vertex), size);
    }
    if (c->kind == PLI_BY_CAMERA) return pli_score_camera(c, s->place + 3 * (size_t)a, size);
    if (c->kind == PLI_BY_REGION) return pli_score_region(c, s->place + 3 * (size_t)a);
    return pli_wavelet_way(s, a, theta) / theta;
}

// A new factor of n functions takes as long as some n^2 / 4 k steps are shortened by dropping k of them. Of many, a few are dropped
// when others come, a tenth at once, and what is left after a second.
enum { WORTH = 25, WORTH_DROPPING = 10, MANY = 300, PATIENCE = 10, MOST_SKIPPED = 7, FEW_SKIPPED = 2 };
static const double DROPPING_TIME = 1.0; // s
static const double MOST_URGENT = 4.0;   // functions that lack a detail of one counts for, at most

double pli_wavelet_find_threshold(PliWavelet *s, const PliBody *body, double *x, double *v)
{
    const PliBodyDef *def = pli_body_def(body);
    if (!def->spread) { // otherwise the last step did
        pli_wavelet_spread(s, x);
        pli_wavelet_spread(s, v);
    }
    measure_displacement(s, x);
    return def->criterion.threshold * fmax(s->displacement, 1e-2 * s->size);
}

static bool decide(PliWavelet *s, PliBody *body, double *x, double *v, double dt)
{
    const PliBodyDef *def = pli_body_def(body);
    PliCriterion *c = &s->criterion;
    PliStats *stats = pli_body_stats_mutable(body);
    const double theta = pli_wavelet_find_threshold(s, body, x, v);
    if (s->listed_revision != s->revision) find_parents(s);
    find_candidates(s);
    const bool by_force = def->criterion.kind == PLI_BY_FORCE;
    pli_wavelet_ask(s, x, theta, !by_force);
    pli_wavelet_find_residual(s, body, x, v, dt);
    pli_criterion_begin(c, &def->criterion);
    double best = 0.0, room = INFINITY;
    for (PliIndex k = 0; k < s->info.candidates; ++k) {
        const PliIndex a = s->listed[k];
        const double score = score_of(s, body, &def->criterion, a, x, theta);
        best = fmax(best, score);
        if (by_force) room = fmin(room, pli_wavelet_room(s, a, score * theta, theta));
        pli_criterion_offer_refine(c, a, score, s->size / (1 << s->dof_level[a]));
    }
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const PliIndex a = s->active[i];
        if (s->dof_level[a] == 0 || s->parent[a] || s->state[a] != PLI_ACTIVE) continue;
        const double size = fmax(v3_norm(x + 3 * (size_t)a), 0.05 * v3_norm(v + 3 * (size_t)a));
        pli_criterion_offer_coarsen(c, a, by_force ? size / theta : score_of(s, body, &def->criterion, a, x, theta));
    }
    pli_criterion_rank(c);
    // work of a step: entries of the matrix, about as many per function as now
    const double limit = pli_governor_limit(&s->governor, def->criterion.budget_ms);
    const double most = fmin(def->criterion.max_active == PLI_NONE ? INFINITY : def->criterion.max_active, limit);
    PliIndex on = s->active_count, drops = s->faded, changes = on < most ? c->refine_count : 0;
    for (PliIndex k = 0; k < c->coarsen_count; ++k) drops += pli_criterion_volunteers(c, &c->coarsen[k]);
    if (changes > 0 || on < MANY || drops * WORTH_DROPPING >= on || s->since_change >= DROPPING_TIME) changes += drops;
    const bool over = on > most && s->governor.samples > 0;
    // far below the threshold, the next looks would see nothing: what comes from outside ends the wait
    s->skip = 0;
    s->room = 0.0;
    if (by_force && changes == 0 && !over) {
        s->skip = pli_wavelet_waits(best);
        s->room = room;
        s->judged_revision = s->revision;
    }
    if (!over && changes == 0) return false;
    // a few at a time are not worth a new factor: the fewer they are and the less they lack, the longer they wait
    double urgency = changes;
    for (PliIndex k = 0; k < c->refine_count; ++k) urgency += fmin(c->refine[k].score, MOST_URGENT) - 1.0;
    const double waited = fmax(1.0, s->since_change / (PATIENCE * def->criterion.interval));
    if (!over && urgency * WORTH * waited < s->active_count) {
        if (by_force) s->skip = FEW_SKIPPED;
        return false;
    }
    pli_wavelet_drop_faded(s);
    s->since_change = 0.0;
    for (PliIndex k = 0; k < c->coarsen_count; ++k) {
        const bool volunteers = pli_criterion_volunteers(c, &c->coarsen[k]),
                   forced = on > most && s->governor.samples > 0;
        if (!volunteers && !forced) continue;
        pli_wavelet_switch_off(s, c->coarsen[k].region, x, v);
        pli_criterion_note_coarsened(c, c->coarsen[k].region);
        stats->coarsened++;
        stats->forced += !volunteers;
        on--;
    }
    for (PliIndex k = 0; k < c->refine_count; ++k) {
        if (on + 1 > most) {
            stats->refused++;
            continue;
        }
        pli_wavelet_switch_on(s, c->refine[k].region, x, v);
        pli_criterion_note_refined(c, c->refine[k].region);
        stats->refined++;
        on++;
    }
    return true;
}

static bool may_wake(const PliWavelet *s, PliIndex a)
{
    return s->state[a] == PLI_PASSIVE && !s->fixed[a] && !(s->dropped && s->dropped[a]);
}

/// How far the details that the new forces act on pull those beside them: `residual` has the ways of functions that are pushed, and
/// gets those of passive ones that are not.
static void spread_jump(PliWavelet *s, double theta)
{
    const PliIndex first = s->level[0].lattice->vertex_count;
    double *way = s->residual, *pull = s->motion;
    memset(pull, 0, 3 * (size_t)s->count * sizeof *pull);
    for (PliIndex a = first; a < s->count; ++a) {
        PliPair *pair;
        const PliIndex n = pli_wavelet_pairs_of(s, a, s->dof_level[a], &pair);
        const bool far = may_wake(s, a) && v3_norm(way + 3 * (size_t)a) > theta;
        for (PliIndex k = 0; k < n; ++k) {
            const PliIndex b = pair[k].column;
            const double *wa = way + 3 * (size_t)a, *wb = way + 3 * (size_t)b;
            if (b < first || b == a) continue;
            if (far) pli_wavelet_subtract_across(s, pair[k].code, wa, pull + 3 * (size_t)b);
            if (may_wake(s, b) && v3_norm(wb) > theta)
                pli_wavelet_subtract_block(s, pair[k].code, wb, pull + 3 * (size_t)a);
        }
    }
    for (PliIndex a = first; a < s->count; ++a) {
        double u[3];
        pli_wavelet_yield(s, a, pull + 3 * (size_t)a, u);
        v3_add(way + 3 * (size_t)a, way + 3 * (size_t)a, u);
    }
}

/// What comes at once from outside is answered at once: details that it would move, and those that these move, switch on as if they had
/// always been there. Fading in, they would be missing where it acts.
static bool wake(PliWavelet *s, PliBody *body, double *x, double *v, double dt)
{
    const PliBodyDef *def = pli_body_def(body);
    const PliState *state = pli_body_state(body);
    const bool pushed = pli_body_is_constrained(body) || (state && (state->f_ext || state->external || state->points));
    if (def->criterion.kind != PLI_BY_FORCE || !pushed) return false;
    if (!def->spread) {
        pli_wavelet_spread(s, x);
        pli_wavelet_spread(s, v);
    }
    const double jump = pli_wavelet_find_jump(s, body, x, v, dt), floor = fmax(s->displacement, 1e-2 * s->size);
    if (!(jump > def->criterion.threshold * floor)) return false;
    const double theta = def->criterion.threshold * fmax(floor, jump);
    const double most = fmin(def->criterion.max_active == PLI_NONE ? INFINITY : def->criterion.max_active,
                             pli_governor_limit(&s->governor, def->criterion.budget_ms));
    PliIndex woken = 0;
    spread_jump(s, theta);
    for (PliIndex a = s->level[0].lattice->vertex_count; a < s->count && s->active_count + woken < most; ++a) {
        if (!may_wake(s, a)) continue;
        if (!(v3_norm(s->residual + 3 * (size_t)a) > theta)) continue;
        pli_wavelet_switch_on(s, a, x, v);
        if (s->state[a] == PLI_FADING_IN) s->state[a] = PLI_ACTIVE, s->fading--;
        pli_criterion_note_refined(&s->criterion, a);
        pli_body_stats_mutable(body)->refined++;
        woken++;
    }
    return woken > 0;
}

void pli_wavelet_mirror(PliBody *to, const PliBody *from, double *x, double *v, double dt)
{
    PliWavelet *s = pli_body_self(to);
    const PliWavelet *t = pli_body_self((PliBody *)from);
    const bool same = memcmp(s->state, t->state, s->count) == 0;
    memcpy(s->state, t->state, s->count);
    memcpy(s->clock, t->clock, s->count * sizeof *s->clock);
    memcpy(s->start, t->start, 3 * (size_t)s->count * sizeof *s->start);
    s->fading = t->fading;
    if (!same) {
        pli_wavelet_refresh_cut(s);
        pli_body_recut(to);
    }
    pli_wavelet_find_rotation(s, x);
    pli_wavelet_begin_fades(s, t->impulse, x, v);
    s->v_dt = dt;
    pli_wavelet_advance_fades(s, x, v, dt);
}

static uint64_t constraints_key(const PliWavelet *s, PliBody *body)
{
    int tools;
    (void)pli_body_tools(body, &tools);
    const PliState *state = pli_body_state(body);
    const PliIndex count[5] = { pli_body_is_tethered(body), (PliIndex)tools, state && state->points,
                                state && state->external, pli_body_is_constrained(body) };
    return pli_hash(s->fixed_key, count, sizeof count);
}

bool pli_wavelet_adapt(void *self, PliBody *body, double *x, double *v, double dt)
{
    PliWavelet *s = self;
    const PliBodyDef *def = pli_body_def(body);
    const PliStats *stats = pli_body_stats_mutable(body);
    if (stats->steps > 0) {
        pli_governor_learn(&s->governor, s->active_count, stats->solve_ms,
                           fmax(0.0, stats->step_ms - stats->solve_ms - stats->adapt_ms));
        if (s->decided) pli_governor_learn_decision(&s->governor, stats->adapt_ms);
    }
    s->decided = false;
    pli_wavelet_find_rotation(s, x);
    s->displacement *= exp(-dt / s->def.memory);
    s->since_change += dt;
    const uint64_t key = constraints_key(s, body);
    s->quiet = key == s->held_key ? s->quiet + 1 : 0;
    if (s->quiet == 0) s->skip = 0, pli_wavelet_still_reset(s);
    s->held_key = key;
    pli_wavelet_begin_fades(s, s->impulse, x, v);
    const bool paper = s->def.transition == PLI_WAVELET_PAPER;
    bool changed = s->level_count > 1 && !paper && wake(s, body, x, v, dt);
    // an acceleration measured across a new or lost constraint says nothing yet
    if (paper) {
        changed = pli_wavelet_follow_paper(s, body, x, v, dt, pli_criterion_due(&s->criterion, &def->criterion, dt));
    } else if (s->level_count > 1 && pli_criterion_due(&s->criterion, &def->criterion, dt) && s->v_dt > 0.0 &&
               s->quiet >= 2 && !changed) {
        s->decided = s->skip == 0 && !(s->stood < MOST_SKIPPED && pli_wavelet_is_still(s, x));
        s->stood = s->decided ? 0 : s->stood + 1;
        if (s->decided)
            changed = decide(s, body, x, v, dt);
        else if (s->skip > 0)
            s->skip--;
    }
    if (!paper) pli_wavelet_advance_fades(s, x, v, dt);
    if (changed) pli_wavelet_refresh_cut(s);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const size_t a = 3 * (size_t)s->active[i];
        v3_copy(s->v_before + a, v + a);
    }
    s->v_dt = dt;
    return changed;
}
