/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_GOVERNOR_H
#define PLI_GOVERNOR_H

// Keeps the CPU time of a step below a budget, on any scheme. It learns what one unit of work costs (an element evaluated in
// one substep, say), what a decision costs and what a step costs besides, and says how much work a step may hold. The scheme asks
// before it adds work, and takes away the least needed regions when there is too much. Times are CPU times of the stepping thread.
//
// What is learnt are high quantiles, not means: a budget is broken by the slow steps. A machine that gets slower (another program on
// the same caches) raises them within a few steps, and they sink slowly.

#include <pliant/base.h>

typedef struct PliGovernor {
    double unit_ms;     ///< ms per unit of work, of a slow step
    double other_ms;    ///< ms per step that no change of resolution saves
    double decision_ms; ///< ms per decision
    double event_ms;    ///< ms per event that is carried out
    int samples, decisions, events;
} PliGovernor;

void pli_governor_reset(PliGovernor *g);
enum { PLI_GOVERNOR_FIRST = 4 }; ///< steps after which it knows something: the first have cold caches
/// What the last step took: `work` units in `work_ms`, and `other_ms` besides (decisions not included).
void pli_governor_learn(PliGovernor *g, double work, double work_ms, double other_ms);
void pli_governor_learn_decision(PliGovernor *g, double ms);
/// The same of a step that carried out so many events, which took `adapt_ms` of it; what it took besides more than others did is theirs, too.
void pli_governor_learn_events(PliGovernor *g, double work, double work_ms, double other_ms, PliIndex events,
                               double adapt_ms);
/// ms that a step with so much work leaves for something else, 0 or more; INFINITY without a budget.
double pli_governor_left(const PliGovernor *g, double budget_ms, double work);
/// Whether so many events fit into so many ms, as far as is known, with a quarter to spare.
bool pli_governor_is_room(const PliGovernor *g, double ms, PliIndex events);
/// Events that fit beside a decision and a step with so much work, `most` at most.
PliIndex pli_governor_events(const PliGovernor *g, double budget_ms, double work, PliIndex most);
/// Most units of work a step may hold. INFINITY without a budget; 0 before anything was learnt.
double pli_governor_limit(const PliGovernor *g, double budget_ms);
/// ms a decision may spend on events; INFINITY without a budget.
double pli_governor_time(const PliGovernor *g, double budget_ms);

#endif
