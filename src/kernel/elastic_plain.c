/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// One element at a time: the reference the wide copies are tested against, and the fallback.
#define PLI_LANES 1
#include "kernel/elastic_lanes.h"

const PliElasticKernel pli_elastic_plain = PLI_LANES_KERNEL;

void pli_law_stress(PliLaw law, const PliLame *m, const double F[9], double P[9])
{
    Polar turn;
    polar_invariants(F, &turn);
    polar_trace(&turn, 1);
    const Lame lame = lame_of(m);
    law_stress(law, &lame, F, &turn, 1.0, NULL, P);
}

double pli_elastic_density(const PliElastic *e, const double F[9])
{
    const Lame lame = lame_of(&e->lame);
    return law_energy(e->def.material.law, &lame, F);
}
