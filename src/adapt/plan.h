/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_PLAN_H
#define PLI_PLAN_H

// Which resolution an error asks for, and whether a mixed one is worth its trouble; the same for every scheme with levels.
//
// A region of size s is expected to carry even (s_l / s)^2 + local (s_l / s)^4 of error at level l: linear functions, whose lack of
// flexibility moves the whole body, and whose lack of detail stays where it is; less what the finest level would leave, which nobody can
// better. Its work there
// is its volume times what a cubic metre of that level costs in a second. For every finest level L the cheapest mixture that keeps the
// error is found (each region takes the level at which error plus price times work is least; the price is bisected), and the
// cheapest uniform level. A mixture has interfaces, halos and decisions, so its work counts `PLI_PLAN_TROUBLE` times.
//
// Nothing here depends on measured times: the same motion gives the same plan.

#include <pliant/base.h>

typedef struct PliPlanLevel {
    double size;    ///< m, of its regions
    double density; ///< evaluations of one m3, each time all are
    double rate;    ///< 1/s, times that is
    double error;   ///< of the whole body at this level, where it was measured; 0: what its regions add up to
} PliPlanLevel;

typedef struct PliPlanRegion {
    double volume;      ///< m3
    double size;        ///< m, as it is now
    double even, local; ///< its shares of the error as it is now, in any unit
} PliPlanRegion;

typedef struct PliPlan {
    bool uniform;        ///< all regions at `level`; otherwise mixed, `level` is the finest
    int level;           ///< finest in use
    double price;        ///< error per unit of work: a mixed region goes finer where that saves more than this
    double work, error;  ///< expected
    double uniform_work; ///< of the uniform level that is as good, and ...
    double mixed_work;   ///< ... of the best mixture, trouble included
} PliPlan;

/// What the parts of a mixture cost against those of a uniform body, all at the rate of the finest: elements around interfaces, W and
/// decisions cost more, elements that tick at their own rate less. So much while nobody has counted.
#define PLI_PLAN_TROUBLE 2.4
typedef struct PliPlanAsk {
    double most_error;  ///< to be kept
    double trouble;     ///< of a mixture, as far as it was counted; PLI_PLAN_TROUBLE
    bool own_rates;     ///< each level of a mixture keeps its own rate; otherwise all go by that of the finest
    bool may_mix;       ///< false asks for a uniform one
    const PliPlan *now; ///< left only for one that is clearly better; NULL: none
} PliPlanAsk;
/// Evaluations of one m3 at level l in a second, where `finest` is the finest in use.
double pli_plan_work(const PliPlanLevel *level, int l, int finest, bool own_rates);

/// The cheapest plan that keeps the error; or one of a uniform level that is a little farther off where keeping it is out of proportion.
/// From a uniform level no mixture is entered while a finer uniform one is cheaper than that: it is tried first.
PliPlan pli_plan_make(const PliPlanLevel *level, int level_count, const PliPlanRegion *region, PliIndex count,
                      const PliPlanAsk *ask);
/// Error expected of a region of that size, beyond that of the size `finest`.
double pli_plan_error(const PliPlanRegion *region, double size, double finest);

#endif
