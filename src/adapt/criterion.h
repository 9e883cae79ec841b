/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_CRITERION_H
#define PLI_CRITERION_H

// Scores in, ranked proposals out; the same for every scheme. A score is relative: at 1 a region asks to be refined, below
// `coarsen` it may be coarsened. A coarsening is judged on the score the region *would have* afterwards: judged on its present
// parts it would be refined again at once.

#include <pliant/body.h>

typedef struct PliProposal {
    PliIndex region;
    double score;
} PliProposal;

typedef struct PliCriterion {
    PliHost host;
    PliIndex region_count;
    PliCriterionDef def;           ///< as of the last begin
    double waited;                 ///< s since the last decision
    uint32_t decision;             ///< number of decisions so far
    uint32_t *refined, *coarsened; ///< per region: decision in which it was last refined, coarsened, + 1; 0: never
    uint32_t *offered, round;      ///< per region: round in which it was last offered to refine; rounds so far
    PliProposal *refine, *coarsen; ///< most urgent first, after rank
    PliIndex refine_count, coarsen_count;
} PliCriterion;

PliStatus pli_criterion_init(PliCriterion *c, const PliHost *host, PliIndex region_count);
void pli_criterion_free(PliCriterion *c);
void pli_criterion_reset(PliCriterion *c);
/// Adds dt to the clock; true when a decision is due (the clock then starts again).
bool pli_criterion_due(PliCriterion *c, const PliCriterionDef *def, double dt);
/// The next step decides, whatever the interval: this one could not do all that was asked for.
void pli_criterion_hurry(PliCriterion *c);
void pli_criterion_begin(PliCriterion *c, const PliCriterionDef *def);
/// An active region with its score, and the size its parts would have. Kept only if it asks, may, and was not just coarsened: a hold
/// stops a region from going back, not from going further. The second offer of a region in one round is not heard.
void pli_criterion_offer_refine(PliCriterion *c, PliIndex region, double score, double part_size);
/// A refined region whose parts could be joined, with the score it would have then. All are kept: the governor may need one
/// that does not volunteer.
void pli_criterion_offer_coarsen(PliCriterion *c, PliIndex region, double would_be_score);
void pli_criterion_rank(PliCriterion *c);
/// A proposal to coarsen that the criterion makes by itself, and not only if it must.
bool pli_criterion_volunteers(const PliCriterion *c, const PliProposal *p);
void pli_criterion_note_refined(PliCriterion *c, PliIndex region);   ///< it may not be coarsened for a while
void pli_criterion_note_coarsened(PliCriterion *c, PliIndex region); ///< it may not be refined for a while
/// Forgets proposals to refine, for another round in the same decision.
void pli_criterion_next_round(PliCriterion *c);

// ---- scores that only need a place -----------------------------------------------------------------------------------------

/// Near a tool (or anything else at `distance`): 1 when the region is as large as it is far, more inside that.
double pli_score_contact(double distance, double size);
/// Size against distance to the eye: 1 at def.threshold.
double pli_score_camera(const PliCriterionDef *def, const double p[3], double size);
/// Inside the sphere: above 1; outside it falls off with the distance, so that hysteresis has something to hold on to.
double pli_score_region(const PliCriterionDef *def, const double p[3]);

#endif
