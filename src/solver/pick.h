/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_PICK_H
#define PLI_PICK_H

// What preconditions a mesh where that is left to us: an incomplete factor, whose iterations are cheap and grow with stiffness and size,
// or that with coarse grids, whose iterations hardly grow. Iterations of the last steps decide, never clocks: the same bits every time.

#include <pliant/base.h>

typedef struct PliPick {
    bool cycles;     ///< rather than the factor
    PliIndex count;  ///< points that `spent` is about
    double spent[2]; ///< iterations of a step, lately, with the factor and with cycles; 0: unknown
} PliPick;

/// A step of `count` points took so many iterations with what is picked.
void pli_pick_note(PliPick *p, PliIndex count, int iterations);
/// What `cycles` should be now.
bool pli_pick_cycles(const PliPick *p);

#endif
