/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "adapt/governor.h"

#include <math.h>

// Fraction of the budget that is planned for, with slow steps in mind; and the part of it that goes to events.
static const double planned = 1.0, for_events = 0.10;

/// Times what events are known to take that must be left for them.
static const double spare = 1.25;

void pli_governor_reset(PliGovernor *g) { *g = (PliGovernor){ 0 }; }

/// Follows a value that slow samples exceed: up by 8 % when one is far above (by 14 % or more), by 1 % and half the difference when it
/// is closer, else down by 0.16 %. In balance 1 of 50 samples is far above; where times scatter little, 1 of 7 is just above. With a `sink`
/// what the first samples say, those of cold caches, sinks faster.
static void learn(double *slow, double value, int samples, double sink)
{
    if (samples == 0)
        *slow = 1.2 * value;
    else if (value > *slow)
        *slow = fmin(1.08 * *slow, 0.5 * (*slow + value) + 0.01 * *slow);
    else
        *slow *= 1.0 - fmax(0.0016, sink / (1.0 + samples));
}

static void learn_step(PliGovernor *g, double work, double work_ms, double other_ms, double sink)
{
    if (!(work > 0.0) || !(work_ms >= 0.0) || !(other_ms >= 0.0)) return;
    learn(&g->unit_ms, work_ms / work, g->samples, sink);
    learn(&g->other_ms, other_ms, g->samples, sink);
    if (g->gates) {
        // what took too long once, of a cold cache for example, must be tried again
        g->event_ms = g->events ? 0.997 * g->event_ms : 0.5 * work_ms; // before the first a guess
        g->decision_ms *= 0.999;
    }
    g->samples++;
}

void pli_governor_learn(PliGovernor *g, double work, double work_ms, double other_ms)
{
    learn_step(g, work, work_ms, other_ms, 0.0);
}

void pli_governor_learn_decision(PliGovernor *g, double ms)
{
    // the first has cold caches, and finds what is found once
    if (!(ms > 0.0)) return;
    const int first = g->decisions++ - g->gates;
    if (first < 0) return;
    learn(&g->decision_ms, ms, first, 0.0);
}

void pli_governor_learn_events(PliGovernor *g, double work, double work_ms, double other_ms, PliIndex events,
                               double adapt_ms)
{
    if (events && adapt_ms >= 0.0 && g->samples) {
        const double ms = (adapt_ms + fmax(0.0, other_ms - g->other_ms)) / events;
        g->event_ms = g->events++ && ms < g->event_ms ? 0.9 * g->event_ms + 0.1 * ms : ms;
        other_ms = fmin(other_ms, g->other_ms);
    }
    g->gates = true;
    learn_step(g, work, work_ms, other_ms, 0.1);
}

double pli_governor_left(const PliGovernor *g, double budget_ms, double work)
{
    if (!(budget_ms > 0.0)) return INFINITY;
    return g->samples ? fmax(0.0, planned * budget_ms - g->other_ms - work * g->unit_ms) : 0.0;
}

bool pli_governor_is_room(const PliGovernor *g, double ms, PliIndex events)
{
    return ms >= spare * events * g->event_ms;
}

PliIndex pli_governor_events(const PliGovernor *g, double budget_ms, double work, PliIndex most)
{
    if (!(budget_ms > 0.0)) return most;
    const double left = pli_governor_left(g, budget_ms, work) - g->decision_ms;
    const double fit = g->event_ms > 0.0 ? floor(left / (spare * g->event_ms)) : 0.0;
    if (!(fit >= 1.0)) return 0;
    if (g->events == 0) return 1; // nobody knows what it costs
    return fit < most ? (PliIndex)fit : most;
}

double pli_governor_limit(const PliGovernor *g, double budget_ms)
{
    if (!(budget_ms > 0.0)) return INFINITY;
    if (g->samples == 0) return 0.0;
    const double left =
        planned * budget_ms - g->other_ms - fmax(fmax(g->decision_ms, g->event_ms), for_events * budget_ms);
    return left > 0.0 && g->unit_ms > 0.0 ? left / g->unit_ms : 0.0;
}

double pli_governor_time(const PliGovernor *g, double budget_ms)
{
    (void)g;
    return budget_ms > 0.0 ? for_events * budget_ms : INFINITY;
}
