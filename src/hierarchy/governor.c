/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hierarchy/governor.h"

#include <math.h>

// Fraction of the budget that is planned for. The rest is for what cannot be planned: caches, the machine's own noise.
static const double planned = 0.82, for_events = 0.12;

void pli_governor_reset(PliGovernor *g) { *g = (PliGovernor){ 0 }; }

static void learn(double *mean, double *spread, double value, int samples)
{
    if (samples == 0) {
        *mean = value;
        *spread = 0.1 * value;
        return;
    }
    const double rate = samples < 10 ? 1.0 / (samples + 1) : 0.1;
    const double error = value - *mean;
    // one preempted or cold step must not teach much, a lasting change must
    const double bounded = fmin(error, 4.0 * *spread + 0.05 * *mean);
    *mean += rate * bounded;
    *spread += rate * (fmin(fabs(error), 4.0 * *spread + 0.05 * *mean) - *spread);
}

void pli_governor_learn(PliGovernor *g, double work, double work_ms, double other_ms)
{
    if (!(work > 0.0) || !(work_ms >= 0.0) || !(other_ms >= 0.0)) return;
    learn(&g->unit_ms, &g->unit_spread, work_ms / work, g->samples);
    learn(&g->other_ms, &g->other_spread, other_ms, g->samples);
    g->samples++;
}

void pli_governor_learn_events(PliGovernor *g, int events, double ms)
{
    if (events <= 0) return;
    const double each = ms / events;
    g->event_ms = g->event_ms == 0.0 ? each : g->event_ms + 0.2 * (each - g->event_ms);
}

double pli_governor_limit(const PliGovernor *g, double budget_ms)
{
    if (!(budget_ms > 0.0) || g->samples == 0) return INFINITY;
    const double unit = g->unit_ms + g->unit_spread, other = g->other_ms + g->other_spread;
    const double left = planned * budget_ms - other - for_events * budget_ms * 0.5;
    return left > 0.0 && unit > 0.0 ? left / unit : 0.0;
}

int pli_governor_events(const PliGovernor *g, double budget_ms)
{
    if (!(budget_ms > 0.0) || g->event_ms == 0.0) return 1 << 20;
    const double n = for_events * budget_ms / g->event_ms;
    return n < 1.0 ? 1 : n > 1e6 ? 1 << 20 : (int)n;
}
