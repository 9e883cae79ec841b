/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_GROWTH_H
#define PLI_GROWTH_H

// What a step costs when there is more that could be refined, and what deciding costs: the same poke for every scheme. Bodies touch by
// their own skin.

#include "evidence/bench.h"
#include "evidence/toolrig.h"

typedef struct PliGrowthPoke {
    PliToolRig rig; ///< with its tool where it waits
    double depth;   ///< m, that the tool goes down from there, along y
} PliGrowthPoke;

/// `larger`: with more that could be refined, none of which may be. @return false: it could not be made, and is to be closed
typedef bool PliGrowthOpen(PliGrowthPoke *p, bool larger, PliError *err);
typedef PliIndex PliGrowthFinest(const PliGrowthPoke *p); ///< nodes of its finest level

/// Pokes both in turns: `growth` is the cost of a step of the larger one over that of the other.
void pli_growth_scaling(PliBench *b, PliGrowthOpen *open, PliGrowthFinest *finest);
/// Pokes again and again: `percent` of the step that adapting takes.
void pli_growth_overhead(PliBench *b, PliGrowthOpen *open);

#endif
