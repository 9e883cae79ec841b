/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_MECHANICS_H
#define PLI_MECHANICS_H

// What one ODE solver integrates: the states of its subtree, the mapped states under them, and everything that acts on them.
// The mechanical operations SOFA's visitors do, over flat lists gathered once.

#include "host/graph/scene.h"
#include "solver/linear.h"
#include <pliant/transfer.h>

/// Weights of mass, damping and stiffness in a combined matrix, as SOFA's MatricesFactors. K is df/dx, so implicit Euler has k < 0.
typedef struct PliFactors {
    double m, b, k;
} PliFactors;

/// A mechanical state: Vec3 positions and velocities. The arrays live as long as the scene.
typedef struct PliMech {
    PliObject *object;
    PliIndex count;
    double *x, *v, *f, *x0; ///< count Vec3 each
    double *x_reset, *v_reset;
    bool counted;                 ///< somebody has made arrays of `count`
    bool is_finite;               ///< its solver has looked in this step: nobody else need
    PliData *position, *velocity; ///< whose version grows when x and v change
    // filled by the system it belongs to
    PliObject *mapping;     ///< NULL: independent
    struct PliMech *parent; ///< of a mapped state
    PliIndex offset;        ///< independent: first point in the solver's vectors
    double *dx, *df;        ///< mapped: scratch of the matrix product
} PliMech;

/// A component and the state it acts on.
typedef struct PliActor {
    PliObject *object;
    PliMech *state;
} PliActor;

typedef struct PliMechanics {
    PliScene *scene;
    PliNode *node;
    PliMech **state;                     ///< independent ones
    PliMech **mapped;                    ///< parents before children
    PliActor *force, *mass, *constraint; ///< mass: those with a mass matrix
    size_t state_count, mapped_count, force_count, mass_count, constraint_count;
    PliIndex count; ///< points of all independent states
    PliObject *linear;
    // assembled solvers
    PliBlockMatrix *matrix;
    unsigned char *fixed; ///< 3 count scalars that constraints fix
    PliStatus failed;     ///< while the pattern is made
    uint64_t revision;    ///< sum over what acts when the pattern was made
} PliMechanics;

/// Gathers the subtree of the solver's node. A solver further down never runs, as in SOFA.
PliStatus pli_mechanics_gather(PliMechanics *m, PliObject *solver, PliError *err);

// vectors have 3 * m->count numbers
void pli_mechanics_force(PliMechanics *m, double *f); ///< all forces at the states' x and v, mapped ones pulled back
void pli_mechanics_add_mbk(PliMechanics *m, const double *dx, PliFactors factors, double *df);
void pli_mechanics_project(PliMechanics *m, double *d);        ///< projectResponse
void pli_mechanics_velocity(const PliMechanics *m, double *v); ///< gathers the states' velocities
/// x += h v after v += dv, on every state.
void pli_mechanics_integrate(PliMechanics *m, const double *dv, double v_scale, double h);
void pli_mechanics_end(PliMechanics *m, double time); ///< projectPosition, projectVelocity, then mappings

void pli_mechanics_map(PliMechanics *m); ///< mapped states follow their parents

// assembled matrix
void pli_mechanics_mask(PliMechanics *m);                        ///< fills m->fixed
PliStatus pli_mechanics_pattern(PliMechanics *m, PliError *err); ///< makes m->matrix from what acts
void pli_mechanics_push(PliMechanics *m, const PliMech *state, PliIndex row, PliIndex col);
void pli_mechanics_add(PliMechanics *m, const PliMech *state, PliIndex row, PliIndex col, const double k9[9]);
void pli_mechanics_add_scalar(PliMechanics *m, const PliMech *state, PliIndex row, PliIndex col, double value);
PliStatus
pli_mechanics_refresh(PliMechanics *m,
                      PliError *err); ///< makes the pattern again when something that acts has changed its own
void pli_mechanics_assemble(PliMechanics *m,
                            PliFactors factors); ///< values, with fixed rows and columns set to identity

#endif
