/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TETLOD_H
#define PLI_TETLOD_H

// Debunne 2001: tetrahedral levels of detail. tetlod.c creates and answers the body, tetlod_judge.c scores regions,
// tetlod_event.c makes one split or merge with its handover, tetlod_decide.c chooses which.

#include "scheme/tetlod/activeset.h"
#include "adapt/criterion.h"
#include "adapt/governor.h"
#include "adapt/handover.h"
#include "adapt/plan.h"
#include "scheme/tetlod/weightfit.h"
#include "kernel/elastic.h"

enum { PLI_TETLOD_BUCKETS = 2048 };
/// What steps of a uniform level take over what elements alone do, before it was counted: 1.3 to 3.5 on bars, pads and livers.
#define PLI_TETLOD_TROUBLE 2.0

typedef struct PliTetLod {
    PliHost host;
    PliCoupling coupling;
    int start_level, free_level; ///< to begin with, and where nothing holds the body
    PliLevels *h;
    PliActiveSet *set;
    PliCriterion criterion;
    PliGovernor governor;
    PliWeightFit *fit;                         ///< NULL: not asked for
    PliLocator *locator;                       ///< of the finest level, local numbers
    PliLocator *level_locator[PLI_MAX_LEVELS]; ///< of the others; NULL: it is never of one level
    PliTetRest *rest;
    double *part_size; ///< m, mean size of the children of each node

    // ---- what a cut hands to the body
    double density;
    double *mass, *volume; ///< per active node, per live element
    PliIndex *slave_first, *slave_column;
    double *slave_weight;
    PliIndex *surface_tris, surface_tri_count, surface_point_count;
    double *surface_points;

    // ---- altitudes of live tetrahedra, counted in buckets of 1 %: the substeps a set will need, before it is cut
    uint16_t *bucket;
    PliIndex bucket_count[PLI_TETLOD_BUCKETS];
    double least_altitude; ///< m, lower end of bucket 0

    // ---- accuracy: what the error asks for
    PliPlan plan;
    double *strain_sum;  ///< [node, 8] of live nodes: volume, six strains and their energy, times volume
    double *node_error;  ///< J, per active node, error energy at the last look
    double *node_volume; ///< m3, per active node, what the live elements give it
    PliPlanRegion *region;
    PliIndex *number;                   ///< per active node: its region
    PliIndex *holds;                    ///< per node that is not held: one below it that is, or PLI_NONE
    double error_energy, strain_energy; ///< J, of the last look
    double error;                       ///< of the last look, estimated, over the largest displacement
    double largest_displacement;        ///< m, so far, slowly forgotten; ...
    double largest_energy;              ///< J, ... and the strain energy
    double next_look, look_gap;         ///< s
    double swing, strain;               ///< J s, kinetic and strain energy of the last seconds
    bool swings;                        ///< much of it is kinetic
    double made, made_time;             ///< m2 s, s: error so far, squared
    double bias;                        ///< factor on what strains say
    double bound; ///< 0 .. 1: how much of the last steps had to be explicit, because implicit ones would not follow
    double trouble,
        uniform_trouble; ///< of the plan: what steps of a mixture take over what was counted, beyond what those of a level do
    double last_look, last_change; ///< s, when it looked, when the plan became another
    PliIndex level_first_bucket[PLI_MAX_LEVELS];
    double level_density[PLI_MAX_LEVELS]
                        [2]; ///< 1/m3, evaluated in each substep: all at one rate, at rates of their own

    // ---- shadows: uniform bodies of coarser levels that run along (shadow.c)
    bool has_shadows;
    bool shadow_lost;                       ///< something acts that does not reach them: no use until a reset
    bool use_shadows;                       ///< it is of a kind that they are asked for
    double shadow_begin;                    ///< s, when they last began
    double strain_error, strain_error_seen; ///< m, what strains say, and the most of it that shadows were asked about
    int shadow[2];                          ///< levels that run, finer first; -1: none
    int shadow_plan;                        ///< plan.level they were chosen for
    PliShadowGaps gaps;                     ///< times s, over the last moments ...
    double gaps_begin;                      ///< s, ... since these two shadows run
    double doubt;                           ///< share of an error that extrapolating leaves; 1: it is not done
    double order;                           ///< p: errors go like size^p
    int present;                            ///< the level it is
    double recent,
        whole; ///< error over square of size, 1/m, squared, times time; over the last moments, and over the whole run ...
    double recent_time, whole_time; ///< s, ... and the times

    // ---- a uniform set has the masses of its own mesh
    double *own_volume; ///< m3, per node of every level: lumped, total and centre those of the body; 0: cannot be had
    bool likes_uniform; ///< it was made to be one level, or to have an accuracy
    int uniform_level;  ///< the set is this level and has its masses; -1: W gives the masses

    // ---- scratch of decisions and events
    double *old_x, *old_v; ///< per node, values before the event where rows change
    double *new_x;         ///< per node, memo of the present positions
    uint32_t *position_stamp, *gradient_stamp, *seen_stamp, stamp, judgement, seen;
    float *last_score;    ///< strain jump or recovered gradient against its threshold, when it was last worked out ...
    uint32_t *placed;     ///< decision in which a fixed node became live
    uint32_t *look_again; ///< ... and the decision at which it is next
    double *gradient;     ///< [tet_count, 9], memo of deformation gradients
    PliIndex *carrier;
    double *carrier_mass, *carrier_old, *dof_mass, *change;
    double *patch_mass, *saved_v;
    PliIndex *element;                ///< tetrahedra whose energy an event changes
    double *element_volume;           ///< what they weighed before
    PliIndex *started, started_count; ///< nodes that became active in this decision
    double bank;                      ///< J, energy events have removed and not given back; negative: on credit
    double booked;                    ///< J, elastic energy events have added in this decision
    double turnover;                  ///< J, energy that went through the body, as far as anybody asked ...
    double energy_low;                ///< ... and the least since it last rose
    bool energy_wanted;               ///< somebody asked
    double time;                      ///< s since reset
    double step_length;               ///< s, of the last step
    bool decided;                     ///< the last step began with a decision
} PliTetLod;

// tetlod_judge.c
/// Fills the criterion's proposals. Writes the positions of passive nodes it looks at.
void pli_tetlod_judge(PliTetLod *t, PliBody *body, double *x);
/// Proposals to refine further, of nodes that started in this decision only.
void pli_tetlod_judge_new(PliTetLod *t, PliBody *body, double *x);

// tetlod_event.c
typedef enum PliEventResult {
    PLI_EVENT_DONE,
    PLI_EVENT_IMPOSSIBLE,
    PLI_EVENT_TOO_COSTLY,
    PLI_EVENT_ADDS_ENERGY
} PliEventResult;
/// Splits (or merges into) `node` with its handover. `most_work` (INFINITY: no limit) undoes a split that would exceed it;
/// `forced` lets a merge add energy, which is counted.
PliEventResult pli_tetlod_event(PliTetLod *t, PliBody *body, double *x, double *v, PliIndex node, bool split,
                                bool forced, double most_work, double dt);
void pli_tetlod_count_energy(PliTetLod *t, PliBody *body, const double *x, const double *v); ///< when a decision begins
void pli_tetlod_settle_fit(PliTetLod *t, PliBody *body, const double *x, double *v, double before); ///< when it ends
/// Element evaluations a step of dt will need with the present set.
double pli_tetlod_work(const PliTetLod *t, const PliBodyDef *def, double dt);
void pli_tetlod_count_buckets(PliTetLod *t); ///< from the set as it is

/// Of a uniform level: tetrahedra per m3 that one substep evaluates, and substeps per s.
void pli_tetlod_level_work(const PliTetLod *t, const PliBodyDef *def, int level, double *density, double *rate);

// uniform.c
void pli_tetlod_own_volumes(PliTetLod *t); ///< at creation
/// All nodes of one level active, with the masses of its own mesh; the motion is handed over. @return false: nothing changed
bool pli_tetlod_go_uniform(PliTetLod *t, PliBody *body, double *x, double *v, int level);
/// The masses of W instead, before the set becomes a mixed one.
void pli_tetlod_leave_uniform(PliTetLod *t, PliBody *body, double *x, double *v);

// shadow.c
PliStatus pli_tetlod_add_shadows(PliTetLod *t, PliBody *body, const PliHost *host, const PliBodyDef *def,
                                 PliError *err); ///< at creation
void pli_tetlod_shadows_reset(PliTetLod *t);
/// Nodes of a level go to where a body of that level would be: between the body and its shadow, or a little beyond.
void pli_tetlod_expect(PliTetLod *t, PliBody *body, double *x, double *v, int level);
/// The shadows of the present plan make the coming step.
void pli_tetlod_step_shadows(PliTetLod *t, PliBody *body, double *x, double *v, double dt);
/// Takes in how far they are apart, `gap` seconds after the last time. @return false: there are none
bool pli_tetlod_compare_shadows(PliTetLod *t, PliBody *body, const double *x, double gap);
/// m, error of a uniform body of that level beyond that of `finest`, as compared so far; as it is shown, where it has two shadows.
double pli_tetlod_error_of(const PliTetLod *t, int level, int finest, bool whole);
double pli_tetlod_plain_error_of(const PliTetLod *t, int level, int finest,
                                 bool whole);     ///< as it is, whatever is shown
bool pli_tetlod_extrapolates(const PliTetLod *t); ///< shadows have to run on

// accuracy.c
double pli_tetlod_level_size(const PliLevels *h, int l); ///< m
/// Looks at the error when it is time to, and plans. @return true: it looked
bool pli_tetlod_look(PliTetLod *t, PliBody *body, const double *x, const double *v, double dt);
bool pli_tetlod_at_rest(const PliTetLod *t, const PliBodyDef *def); ///< at the last look: any level has its shape
/// Proposals that follow from the plan and the last look.
void pli_tetlod_judge_plan(PliTetLod *t, const PliBody *body, const double *x);
void pli_tetlod_find_holds(void *self, const uint8_t *fixed);

// tetlod_decide.c
bool pli_tetlod_adapt(void *self, PliBody *body, double *x, double *v, double dt);

#endif
