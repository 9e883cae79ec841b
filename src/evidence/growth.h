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

/// Pokes both in turns: `growth` is the cost of a step of the second over that of the first, with `finest` and `larger` nodes.
void pli_growth_report(PliBench *b, PliGrowthPoke p[2], PliIndex finest, PliIndex larger);
/// Pokes again and again: `percent` of the step that adapting takes.
void pli_growth_report_overhead(PliBench *b, PliGrowthPoke *p);

#endif
