/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Explicit or implicit, where that is left to us (PLI_INTEGRATE_AUTO): what a step would cost either way, in evaluations of one tetrahedron, and whether
// the implicit one would follow the motion. Counts decide, never clocks: a run has the same bits again.
#include <math.h>
#include <stdio.h>

#include "base/vec.h"
#include "body/body.h"
#include "solver/methods.h"

// Prices in evaluations of one tetrahedron by an explicit substep (20 to 23 ns on the machine they were measured on), fitted to every step of
// eleven scenes of the comparison taken either way: livers, bars, boxes, pad, bridge and ball of 111 to 3,515 nodes, and their mixtures.
static const double CANDIDATE = 10.0;              ///< a point of the skin that tools may reach, in a substep ...
static const double PRESSED = 15.0, TOUCHED = 2.0; ///< ... in a stage, and in an iteration
static const double FORCES = 4.0;                  ///< an element, of whatever an implicit step does besides solving
static const double PRODUCTS = 1.0; ///< iterations that what a step does with its matrix besides takes as long as
static const double ELEMENT = 5.0;  ///< tangent and place in the matrix, where a step makes it anew
static const double SLAVE = 110.0;  ///< a passive point whose row goes through W there
static const double PAIR = 0.185;   ///< two points that couple, in an iteration
static const double FACTOR = 35.0;  ///< a point, where a factor is made instead
static const double PAIRS = 7.5, CARRIED = 12.0; ///< of an active point, and more for a passive one
/// Iterations of a step before there was one: so many, and more where explicit substeps would be many; of a body that hardly moves
/// a share of that, as it starts at its answer.
static const double LEAST = 8.0, STIFF = 0.3, STILL = 0.1;
static const double FEW = 4.0;      ///< iterations, that a step takes in any case
static const double HELD = 2.0;     ///< times as many where tools may touch
static const double PATTERN = 12.0; ///< two points that couple, where the active set is another one
static const double STAY = 20.0;    ///< steps, over which what the first one has to make is counted
static const double FRESH = 0.3;    ///< share of steps that make a tangent, before there was one
static const double NEW = 0.2;      ///< weight of the last step
/// s of explicit steps, in which it is forgotten that iterations were more than expected; twice as long after each time that implicit steps
/// were given up within that time, and at most.
static const double FORGET = 1.0, LONGEST = 16.0;
static const double CLEARLY = 1.2; ///< worth a change
/// s, in which errors of steps are forgotten, and how much they may add up to, over the largest displacement.
static const double MEMORY = 1.0, MOST_LAG = 0.005;
static const double SHARE = 0.35; ///< of the accuracy that is asked for: what they may add up to where one is
/// Share of its size that a body is expected to move by, until so many seconds have passed.
static const double SOON = 0.05, START = 0.5;
/// Lag at which explicit steps are taken up again, over that at which implicit ones are.
static const double LEAVE = 2.0;
/// s, that steps are explicit after an implicit one has turned elements inside out. It goes by the tangent where it begins: a bar that was
/// pinched from two sides was thrown out of the scene. (Two or four implicit steps in its place turned as many.)
static const double ROUGH = 0.2;
/// Error of a step of second order: so much of step^3 times the third derivative (x''' of SDIRK, see pli_implicit_stages).
static const double THIRD = 0.04;

void pli_choice_reset(PliBody *b)
{
    PliChoice *c = &b->choice;
    double *const change = c->change;
    *c =
        (PliChoice){ .change = change, .implicit = b->def.integrator == PLI_IMPLICIT, .pace = 1.0, .patience = FORGET };
}

static double candidates(const PliBody *b) { return b->tool_count ? b->contact->count : 0.0; }

static double substeps_of(PliBody *b, double dt)
{
    return fmax(1.0, ceil(dt / (b->caution * pli_body_rest_substep(b))));
}

double pli_choice_substep_work(const PliBody *b)
{
    return PLI_POINT_WORK * (b->system.active_count + b->system.slave_count) + CANDIDATE * candidates(b);
}

static double explicit_work(PliBody *b, double dt)
{
    double work;
    (void)pli_elastic_force_rates(b->elastic, substeps_of(b, dt), pli_choice_substep_work(b), &work);
    return work;
}

static double expected_iterations(double substeps) { return LEAST + STIFF * substeps; }

/// What tools hold and levels that mix cost iterations: what one kind took says nothing of another.
static int kind_of(const PliBody *b) { return (candidates(b) > 0.0) + 2 * (b->system.slave_count > 0); }

/// As many as such a body takes that moves as this one does.
static double usual_iterations(PliBody *b, double dt)
{
    const double held = candidates(b) > 0.0 ? HELD : 1.0;
    return fmax(FEW, b->choice.pace * held * expected_iterations(substeps_of(b, dt)));
}

/// Of a step, were they implicit now.
static double iterations_of(PliBody *b, double dt)
{
    const PliChoice *c = &b->choice;
    const double effort = c->effort[kind_of(b)];
    if (c->implicit) return c->iterations;
    return (effort > 0.0 ? effort : 1.0) * usual_iterations(b, dt);
}

/// Steps that make a tangent, were they implicit now: one that rests keeps it, whatever it did before.
static double fresh_of(const PliBody *b)
{
    const PliChoice *c = &b->choice;
    return c->implicit ? c->fresh : c->pace * (c->effort[kind_of(b)] > 0.0 ? fmax(FRESH, c->fresh) : FRESH);
}

static double implicit_work(PliBody *b, double dt)
{
    const double slaves = b->system.slave_count, pairs = PAIRS * b->system.active_count + CARRIED * slaves;
    const PliChoice *c = &b->choice;
    const bool factors = b->system.active_count <= PLI_FACTOR_POINTS; // and makes a tangent for it in every step
    const double begins = c->implicit ? 0.0 : 1.0 / STAY, patterns = fmin(1.0, c->churn + begins),
                 fresh = factors ? 1.0 : fmin(1.0, fmax(fresh_of(b), c->churn) + begins);
    const double iterations = iterations_of(b, dt), touch = PLI_STAGES * PRESSED + TOUCHED * iterations;
    return (FORCES + fresh * ELEMENT) * b->stats.elements + fresh * SLAVE * slaves +
           (factors ? FACTOR * b->system.active_count : PAIR * pairs * (PRODUCTS + iterations)) +
           patterns * PATTERN * pairs + touch * candidates(b);
}

double pli_body_step_evaluations(const PliBodyDef *def, double dt, double substep)
{
    static const double pairs = 2.0; // of an element's share in a mesh
    const double n = fmax(1.0, dt / substep),
                 solved = FORCES + FRESH * ELEMENT + PAIR * pairs * (PRODUCTS + expected_iterations(n));
    if (def->integrator == PLI_IMPLICIT) return solved;
    return def->integrator == PLI_INTEGRATE_AUTO ? fmin(n, solved) : n;
}

/// While nothing has moved far yet what may still come counts.
static double lag_of(const PliBody *b)
{
    const PliChoice *c = &b->choice;
    return c->lag / fmax(c->largest, SOON * b->size * exp(-c->time / START));
}

static double most_lag(const PliBody *b) { return fmax(MOST_LAG, SHARE * 0.01 * b->def.criterion.accuracy); }

void pli_choice_make(PliBody *b, const PliState *s, double dt, bool once)
{
    PliChoice *c = &b->choice;
    if (b->def.integrator != PLI_INTEGRATE_AUTO) return;
    const bool was = c->implicit;
    c->made = b->implicit.made;
    // the first set is made with the body
    if (c->revision) c->churn += NEW * ((c->revision != b->revision) - c->churn);
    c->revision = b->revision;
    c->explicit_work = explicit_work(b, dt);
    c->implicit_work = implicit_work(b, dt);
    // what the host corrects afterwards or holds by multipliers has to be one implicit step; its own forces are asked for in substeps
    if (once || b->held_points)
        c->implicit = true, c->reason = PLI_CHOICE_HOST;
    else if (s->external || s->points || b->rows)
        c->implicit = false, c->reason = PLI_CHOICE_HOST;
    else if (b->def.criterion.budget_ms > 0.0)
        c->implicit = false, c->reason = PLI_CHOICE_BUDGET;
    else if (c->time < c->rough_until || lag_of(b) > (was ? LEAVE : 1.0) * most_lag(b))
        c->implicit = false, c->reason = PLI_CHOICE_MOTION;
    else if (b->tool_count && b->looks == 0)
        c->implicit = was, c->reason = PLI_CHOICE_WORK; // nobody knows yet how many points tools may touch
    else
        c->implicit =
            was ? c->implicit_work < CLEARLY * c->explicit_work : CLEARLY * c->implicit_work < c->explicit_work,
        c->reason = PLI_CHOICE_WORK;
    if (c->implicit == was) return;
    b->system.last_drift = 0.0, c->changes++;
    if (c->implicit) {
        c->implicit = false;
        const double iterations = iterations_of(b, dt), fresh = fresh_of(b);
        c->implicit = true, c->iterations = iterations, c->fresh = fresh;
    } else if (c->reason == PLI_CHOICE_WORK) {
        c->patience = c->time - c->since < c->patience ? fmin(LONGEST, 2.0 * c->patience) : FORGET;
    }
    c->since = c->time;
}

bool pli_choice_take_back(PliBody *b, const PliStepInfo *info)
{
    PliChoice *c = &b->choice;
    if (b->def.integrator != PLI_INTEGRATE_AUTO || !c->implicit || c->reason == PLI_CHOICE_HOST) return false;
    if (info->status == PLI_OK && info->inverted <= c->inverted) return false;
    c->implicit = false, c->reason = PLI_CHOICE_MOTION, c->since = c->time, c->changes++;
    c->rough_until = c->time + ROUGH;
    return true;
}

/// kg-weighted RMS of how the change of velocity changes from step to step: the third derivative of the motion, times step^2.
static double jerk(PliBody *b)
{
    PliChoice *c = &b->choice;
    const PliLive *l = &b->live;
    const PliIndex n = b->system.active_count;
    const bool known = c->change_revision == b->revision;
    double sum = 0.0, mass = 0.0;
    for (PliIndex i = 0; i < n; ++i) {
        double change[3], d[3];
        v3_sub(change, l->v + 3 * (size_t)i, l->v_saved + 3 * (size_t)i);
        v3_sub(d, change, c->change + 3 * (size_t)i);
        sum += l->mass[i] * v3_dot(d, d), mass += l->mass[i];
        v3_copy(c->change + 3 * (size_t)i, change);
    }
    c->change_revision = b->revision;
    return known ? sqrt(sum / mass) : 0.0;
}

static double largest_displacement(const PliBody *b)
{
    double most = 0.0;
    for (PliIndex i = 0; i < b->system.active_count; ++i) {
        double u[3];
        v3_sub(u, b->live.x + 3 * (size_t)i, b->statics.rest + 3 * (size_t)b->live.dof[i]);
        most = fmax(most, v3_dot(u, u));
    }
    return sqrt(most);
}

void pli_choice_note(PliBody *b, double dt, const PliStepInfo *info)
{
    PliChoice *c = &b->choice;
    PliStats *stats = &b->stats;
    if (b->def.integrator != PLI_INTEGRATE_AUTO || !info->finite) return;
    c->largest = fmax(c->largest, largest_displacement(b));
    const double error = THIRD * dt * jerk(b);
    c->lag *= exp(-dt / MEMORY);
    c->lag += error;
    // where errors add up to less than a body may have, it hardly moves
    const double pace = c->largest > 0.0 ? error / (MOST_LAG * c->largest * fmin(1.0, dt / MEMORY)) : 1.0;
    c->pace += NEW * (fmin(1.0, fmax(STILL, pace)) - c->pace);
    c->time += dt;
    c->inverted = info->inverted;
    stats->implicit_steps += c->implicit;
    const double forgotten = 1.0 - exp(-dt / c->patience);
    if (c->implicit &&
        c->since < c->time - 1.5 * dt) { // the first has no answer to start at: what it takes says little
        double *effort = &c->effort[kind_of(b)];
        if (!(*effort > 0.0)) *effort = 1.0;
        *effort += NEW * (info->cg_iterations / usual_iterations(b, dt) - *effort);
        c->iterations += NEW * (info->cg_iterations - c->iterations);
        c->fresh += NEW * (fmin(1.0, (double)(b->implicit.made - c->made)) - c->fresh);
    } else if (!c->implicit) {
        for (int k = 0; k < 4; ++k)
            if (c->effort[k] > 0.0) c->effort[k] += forgotten * (1.0 - c->effort[k]);
        c->fresh += forgotten * (c->pace * FRESH - c->fresh);
    }
    stats->implicit = c->implicit, stats->choice = c->reason, stats->changes = c->changes;
    stats->implicit_work = c->implicit_work, stats->explicit_work = c->explicit_work, stats->lag = lag_of(b);
}

void pli_body_choice_text(const PliBody *b, char *text, size_t size)
{
    static const char *const why[] = {
        [PLI_CHOICE_WORK] = "less work",
        [PLI_CHOICE_MOTION] = "implicit ones would not follow the motion",
        [PLI_CHOICE_HOST] = "the host's forces and constraints ask for it",
        [PLI_CHOICE_BUDGET] = "a budget is kept by substeps",
    };
    const PliStats s = pli_body_stats(b);
    text[0] = '\0';
    if (!(s.explicit_work > 0.0)) return;
    snprintf(text, size,
             "took %llu of %llu steps implicitly%s%s, at the end %s ones: %s (%.3g evaluations in substeps, %.3g "
             "implicitly)",
             (unsigned long long)s.implicit_steps, (unsigned long long)s.steps, s.linear_solver ? ", by " : "",
             s.linear_solver ? s.linear_solver : "", s.implicit ? "implicit" : "explicit", why[s.choice],
             s.explicit_work, s.implicit_work);
}
