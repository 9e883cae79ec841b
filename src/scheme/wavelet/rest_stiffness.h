/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_REST_STIFFNESS_H
#define PLI_REST_STIFFNESS_H

// Stiffness about a rest shape that turns with the body: the whole law of a linear body, or what preconditions another one. And
// the factor made of it once: R commutes with everything that has one scalar per pair of points, so A(R) = R A(1) R^T block by
// block, and one factor serves every rotation.

#include "scheme/wavelet/rest_tethers.h"
#include "solver/methods.h"
#include "solver/secants.h"
#include "solver/tiles.h"

/// Blocks and rows stay the scheme's; rows are those of the lower triangle over active positions.
typedef struct PliRestStiffness {
    PliIndex count, base; ///< active positions, and those of level 0, which come first and are always on
    const PliIndex *first, *column,
        *entry;             ///< row i owns first[i] .. first[i+1]: its columns (<= i) and the numbers of their blocks
    const double *block;    ///< N/m, 9 each, row-major, and one more number: -df_i/dx_j at rest
    const double *rest;     ///< m, active Vec3
    const double *mean;     ///< 1/m, active Vec3: mean F = sum x mean^T
    const PliIndex *order;  ///< active positions, those that couple near each other
    double *work;           ///< scratch, 8 doubles per active point
    uint64_t revision;      ///< grows with every change of the above
    uint64_t base_revision; ///< the same of blocks of level 0 with itself
    bool linear;            ///< forces are -R K R^T (x - R rest); there are no elements
    bool may_stand_in;      ///< forces are others, and steps are linearised with this stiffness all the same ...
    bool stands_in;         ///< ... while nothing swings in directions that are stiffer now
    PliSecants secants;     ///< where it is stiffer
    double *stiff;          ///< of the coming step, [secants.rank, 3 count]: w of A + w w^T
    double *stiff_response; ///< of the factor to forces of the secants, [PLI_SECANTS, unknowns of the factor]
    size_t stiff_capacity, stiff_response_capacity;
    double stiff_reach;                ///< s2: g of the matrix they are of
    uint64_t stiff_birth[PLI_SECANTS]; ///< of the force that was answered, 0: none
    bool stiff_ready;
    uint64_t watched_revision;
    bool rotates;       ///< R is the rotation of the mean F; otherwise the identity
    double damping;     ///< s
    double rotation[9]; ///< R at the last linearize

    // the factor, kept while set, step, tethers and what is fixed stay the same
    PliHost host;
    PliLinearSolver wish;
    PliTiles *tiles;
    PliIndex *place; ///< per active point: four times its group in the tiles + its place there
    size_t place_capacity;
    uint64_t key, tether_key; ///< of what it was made with: all but tethers, and tethers; 0: of nothing
    uint64_t base_key;        ///< of what functions of level 0 among themselves are factored with; 0: with tethers, too
    PliRestTethers tethers;   ///< a few are left out of the factor, and taken in by every solve
    bool apart;               ///< they are, in this step
    uint64_t free_key;        ///< of the factor that tethers.free was solved with; 0: of none
    bool stale;               ///< other tethers act now: the factor only preconditions
    double spent;             ///< iterations with a stale factor so far
    double turned[9];         ///< R of the step it is used for
} PliRestStiffness;

extern const PliForceOps pli_rest_force_ops;   ///< of a linear body
extern const PliLinearOps pli_rest_linear_ops; ///< of any

/// stands_in: forces of the body are others, and it is linearised with this stiffness all the same.
PliStatus pli_rest_stiffness_init(PliRestStiffness *k, const PliHost *host, PliLinearSolver wish, bool stands_in);
void pli_rest_stiffness_reset(PliRestStiffness *k); ///< the body begins again
void pli_rest_stiffness_free(PliRestStiffness *k);

#endif
