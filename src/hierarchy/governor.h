/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_GOVERNOR_H
#define PLI_GOVERNOR_H

// Keeps the CPU time of a step below a budget, on any scheme. It learns what one unit of work costs (an element evaluated in
// one substep, say) and what a step costs besides, and says how much work a step may hold. The scheme asks before it adds
// work, and takes away the least needed regions when there is too much. Times are CPU times of the stepping thread, so that a
// busy machine does not change decisions.

#include <pliant/base.h>

typedef struct PliGovernor {
    double unit_ms, unit_spread;   ///< ms per unit of work: slow average, and mean deviation from it
    double other_ms, other_spread; ///< ms per step that no change of resolution saves
    double event_ms;               ///< ms per event, slow average
    int samples;
} PliGovernor;

void pli_governor_reset(PliGovernor *g);
/// What the last step took: `work` units in `work_ms`, and `other_ms` besides (events not included).
void pli_governor_learn(PliGovernor *g, double work, double work_ms, double other_ms);
void pli_governor_learn_events(PliGovernor *g, int events, double ms);
/// Most units of work a step may hold. INFINITY without a budget or before anything was learnt.
double pli_governor_limit(const PliGovernor *g, double budget_ms);
/// Most events one decision may make, so that deciding does not break the budget either; at least 1.
int pli_governor_events(const PliGovernor *g, double budget_ms);

#endif
