/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "adapt/governor.h"

#include <math.h>

// Fraction of the budget that is planned for, with slow steps in mind; and the part of it that goes to events.
static const double planned = 1.0, for_events = 0.10;

void pli_governor_reset(PliGovernor *g) { *g = (PliGovernor){ 0 }; }

/// Follows a value that slow samples exceed: up by 8 % when one is far above (by 14 % or more), by 1 % and half the difference when it
/// is closer, else down by 0.16 %. In balance 1 of 50 samples is far above; where times scatter little, 1 of 7 is just above.
static void learn(double *slow, double value, int samples)
{
    if (samples == 0)
        *slow = 1.2 * value;
    else if (value > *slow)
        *slow = fmin(1.08 * *slow, 0.5 * (*slow + value) + 0.01 * *slow);
    else
        *slow *= 1.0 - 0.0016;
}

void pli_governor_learn(PliGovernor *g, double work, double work_ms, double other_ms)
{
    if (!(work > 0.0) || !(work_ms >= 0.0) || !(other_ms >= 0.0)) return;
    learn(&g->unit_ms, work_ms / work, g->samples);
    learn(&g->other_ms, other_ms, g->samples);
    g->samples++;
}

void pli_governor_learn_decision(PliGovernor *g, double ms)
{
    if (!(ms > 0.0)) return;
    learn(&g->decision_ms, ms, g->decisions++);
}

void pli_governor_learn_event(PliGovernor *g, double ms)
{
    if (!(ms > 0.0)) return;
    learn(&g->event_ms, ms, g->events++);
}

double pli_governor_left(const PliGovernor *g, double budget_ms, double work)
{
    if (!(budget_ms > 0.0)) return INFINITY;
    return g->samples ? fmax(0.0, planned * budget_ms - g->other_ms - work * g->unit_ms) : 0.0;
}

bool pli_governor_is_room(const PliGovernor *g, double ms, PliIndex events)
{
    return g->events == 0 || ms >= events * g->event_ms;
}

PliIndex pli_governor_events(const PliGovernor *g, double budget_ms, double work, PliIndex most)
{
    if (!(budget_ms > 0.0)) return most;
    if (g->events == 0) return 1; // shows what one costs
    const double fit = floor(pli_governor_left(g, budget_ms, work) / g->event_ms);
    return fit < 1.0 ? 1 : fit < most ? (PliIndex)fit : most;
}

double pli_governor_limit(const PliGovernor *g, double budget_ms)
{
    if (!(budget_ms > 0.0)) return INFINITY;
    if (g->samples == 0) return 0.0;
    const double left = planned * budget_ms - g->other_ms - fmax(fmax(g->decision_ms, g->event_ms), for_events * budget_ms);
    return left > 0.0 && g->unit_ms > 0.0 ? left / g->unit_ms : 0.0;
}

double pli_governor_time(const PliGovernor *g, double budget_ms)
{
    (void)g;
    return budget_ms > 0.0 ? for_events * budget_ms : INFINITY;
}
