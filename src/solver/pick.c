/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/pick.h"

static const double CYCLE =
    1.3; ///< iterations with a factor that one with a cycle takes as long as: livers, one level and mixed
static const double EXPECTED = 12.0; ///< iterations with cycles, before there were any
static const double CLEARLY = 1.25;  ///< worth a change, which makes patterns anew
static const double NEW = 0.2;       ///< weight of the last step

void pli_pick_note(PliPick *p, PliIndex count, int iterations)
{
    if (count > 2 * p->count || 2 * count < p->count) *p = (PliPick){ .cycles = p->cycles, .count = count };
    double *spent = &p->spent[p->cycles];
    *spent = *spent > 0.0 ? *spent + NEW * (iterations - *spent) : iterations;
}

bool pli_pick_cycles(const PliPick *p)
{
    const double factor = p->spent[0], cycles = CYCLE * (p->spent[1] > 0.0 ? p->spent[1] : EXPECTED);
    if (p->cycles) return !(factor > 0.0 && cycles > CLEARLY * factor);
    return factor > CLEARLY * cycles;
}
