/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_HANDS_H
#define PLI_HANDS_H

// Random violent hands on a body of every scheme, the same ones for the same seed.

#include "evidence/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliHandsTally {
    int pulls, survived;
    long steps;
    uint64_t retries;    ///< of steps
    uint64_t limited;    ///< steps in which the hand was slower than asked for
    uint64_t events;     ///< of the active set
    uint64_t first_seed; ///< of the first round that failed, 0: none did ...
    int first_pull;      ///< ... at this one of it ...
    PliError first;      ///< ... and why
} PliHandsTally;
/// Rounds of 50 pulls, each with a fresh body, from `seed` on. False: there is no such body ("fem", "fem_implicit", ...).
bool pli_hands_play(const char *body, uint64_t seed, int pulls, PliHandsTally *tally, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
