/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_REST_TETHERS_H
#define PLI_REST_TETHERS_H

// Points that contact or a host hold, on top of a factor that was made without them (Sherman, Morrison and Woodbury): with rows T and
// matrices Q = G G^T, (A + T^T Q T)^-1 = A^-1 - Y G (1 + G^T S G)^-1 G^T Y^T, where Y = A^-1 T^T and S = T Y. In the frame of the rest
// shape A, Y and S stay the same while a factor does, so what a point needs is solved for once; set and stiffness of
// the tethers may change in every round of contact, and the answer is exact each time.

#include "solver/tiles.h"
#include <pliant/scheme.h>

enum {
    PLI_REST_TETHERS = 96, ///< most points; beyond, the factor takes them in
    PLI_REST_STIFF = 12    ///< most directions in which A is stiffer than its factor
};

typedef struct PliRestTethers {
    PliHost host;
    bool has_room;
    size_t length;                             ///< unknowns of the factor
    PliIndex slots;                            ///< points it has room for
    PliIndex count, slot_of[PLI_REST_TETHERS]; ///< tethers of the last prepare
    // what was solved for, by the hash of a row; 0: nothing
    uint64_t key[PLI_REST_TETHERS], birth[PLI_REST_TETHERS], used[PLI_REST_TETHERS];
    uint64_t births, looks;
    double *response; ///< [slots, 3, length]
    size_t response_capacity;
    double *pair; ///< S: [slots, slots, 9]
    uint64_t *pair_birth;
    double *lanes; ///< [length, 8]
    double *free;  ///< [length], behind them: A^-1 b of the step, for those who keep it here
    size_t lanes_capacity;
    // A is its factor and stiff^T stiff: [stiff_count, length] each, and what the factor answers
    PliIndex stiff_count, most_stiff;
    double *stiff, *stiff_response;
    double (*stiff_cross)[3]; ///< T of stiff_response: [slots, PLI_REST_STIFF]
    double *half;             ///< [3 slots, PLI_REST_STIFF]
    uint64_t stiff_births,
        stiff_known[PLI_REST_TETHERS]; ///< grows when the directions are others, and when each slot was asked
    // of the last prepare
    double root[PLI_REST_TETHERS][9]; ///< G, columns that count first
    int rank[PLI_REST_TETHERS];
    PliIndex rows;  ///< sum of the ranks
    double *factor; ///< Cholesky of 1 + G^T S G, [stiff_count + rows]^2
    double *small;  ///< [stiff_count + rows]
    double *push;   ///< [count, 3]
} PliRestTethers;

/// Where the unknowns of an active point are in vectors of the factor: component c at place + 4 c.
typedef size_t PliPlaceFn(const void *self, PliIndex point);

/// stiffens: A has stiff directions at times. Memory comes with the first `reserve`.
void pli_rest_tethers_init(PliRestTethers *t, const PliHost *host, bool stiffens);
void pli_rest_tethers_free(PliRestTethers *t);
PliIndex pli_rest_tethers_room(PliIndex tiles); ///< points, with a factor of so many tiles
/// Vectors of the factor have so many tiles now; may allocate. What is known is forgotten.
PliStatus pli_rest_tethers_reserve(PliRestTethers *t, PliIndex tiles);
void pli_rest_tethers_forget(PliRestTethers *t); ///< the factor is another one
/// block(self, j, out): Q of tether j in the frame of the factor. @return false: nothing can be done with them
typedef void PliTetherFn(const void *self, const PliStepMatrix *a, PliIndex j, double out[9]);
bool pli_rest_tethers_prepare(PliRestTethers *t, const PliTiles *m, const PliStepMatrix *a, PliPlaceFn *place,
                              PliTetherFn *block, const void *self);
/// x = (A + T^T Q T)^-1 (b + T^T push) from `free`, which is A^-1 b; push: a Vec3 for each tether in the frame of the factor, becomes what
/// acts at it with its own pull.
void pli_rest_tethers_answer(PliRestTethers *t, const PliStepMatrix *a, PliPlaceFn *place, const void *self,
                             const double *free, double *push, double *x);
/// x, which is A^-1 b, becomes (A + T^T Q T)^-1 b.
void pli_rest_tethers_correct(const PliRestTethers *t, const PliStepMatrix *a, PliPlaceFn *place, const void *self,
                              double *x);

/// How points answer, in the frame of the factor: u [count, 3] to what `free` is the answer to, s [3 count, 3 count] to forces. It takes the
/// memory of the small system.
void pli_rest_tethers_condense(PliRestTethers *t, const PliStepMatrix *a, PliPlaceFn *place, const void *self,
                               const double *free, double *s, double *u);

#endif
