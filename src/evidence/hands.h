/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_HANDS_H
#define PLI_HANDS_H

// Random violent hands on the first body of a scene, the same ones for the same number of pulls.

#include "evidence/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliHandsTally {
    int pulls, survived;
    long steps;
    uint64_t retries;    ///< of steps
    uint64_t first_seed; ///< of the first round that failed, 0: none did ...
    PliError first;      ///< ... and why
} PliHandsTally;
/// False: the scene cannot be played at all.
bool pli_hands_play(const char *scene, int pulls, PliHandsTally *tally, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
