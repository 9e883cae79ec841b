/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SYSTEM_H
#define PLI_SYSTEM_H

// What an integrator steps: the live part of a body in compact numbers, active points first, then slaves.
// Integrators know neither hierarchy nor scheme; hooks bring in the world around the body.

#include <pliant/transfer.h>
#include "kernel/elastic.h"
#include "solver/linear.h"
#include "solver/tiles.h"

/// Stiffness about the rest shape, for schemes that know it beforehand: the whole law of a linear body, or what preconditions
/// another one. Blocks stay the scheme's; rows are those of the lower triangle over active positions.
typedef struct PliConstant {
    const PliIndex *first, *column,
        *entry;            ///< row i owns first[i] .. first[i+1]: its columns (<= i) and the numbers of their blocks
    const double *block;   ///< N/m, 9 each, row-major: -df_i/dx_j at rest
    const double *rest;    ///< m, active Vec3
    const double *mean;    ///< 1/m, active Vec3: mean F = sum x mean^T
    const PliIndex *order; ///< active positions, those that couple near each other
    double *work;          ///< lent scratch, 6 doubles per active point
    uint64_t revision;     ///< grows with every change of the above
    bool linear;           ///< forces are -R K R^T (x - R rest); there are no elements
    bool rotates;          ///< R is the rotation of the mean F; otherwise the identity
} PliConstant;

typedef struct PliSystem {
    PliHost host;
    PliIndex active_count, slave_count;
    PliRows slaves; ///< slave_count rows over active positions
    /// Slaves the host moves itself (numbers among the slaves, with empty rows): spreading x and v gives them these values, and
    /// any other field 0.
    const PliIndex *held;
    PliIndex held_count;
    const double *held_x, *held_v; ///< held_count Vec3
    bool drop_slave_forces;        ///< the paper's coupling: reactions on slaves are lost (doc/schemes/tetlod.md)
    PliElastic *elastic;
    const PliConstant *constant; ///< or NULL
    double rotation[9];          ///< R at the last linearize
    PliIndex tet_count;          ///< tetrahedra in `elastic`, ordered by tick group
    const double *mass;          ///< kg, lumped
    const double *inv_mass;      ///< 1/kg, 0 where fixed
    const uint8_t *fixed;
    const double *load;                       ///< kg, gravity acts on it
    const PliIndex *mass_first, *mass_column; ///< consistent mass over active positions, or NULL
    const double *mass_value;
    double gravity[3];
    double mass_damping;       ///< 1/s
    double rayleigh_stiffness; ///< s, implicit only
    double material_damping;   ///< s, strain-rate damping inside `elastic`
    double *x, *v, *f;         ///< active_count + slave_count Vec3
    PliIndex
        group; ///< consecutive points that belong together (4: an affine frame): blocks of the preconditioner; 0 or 1: none
    bool
        force_ready; ///< f holds the elastic forces at x and v already; the next implicit step takes them and clears this
    const double *f_ext; ///< active_count Vec3, held during the step, or NULL
    double *work;        ///< lent scratch, pli_implicit_workspace doubles
    // explicit only
    const double
        *filter; ///< semi-implicit filter in increment form: 9 doubles per active point, dv = filter f h/m; NULL: off
    double speed_change; ///< m/s a point may change its speed by in one substep before substeps are halved; 0: off
    int halvings;        ///< of the substep, at the moment

    // ---- hooks, NULL when there is nothing to do -------------------------------------------------------------------
    /// f += forces that depend on the state, on active and slave points; `t` is the time since the start of the step.
    void (*add_force)(void *self, double t, double h, const double *x, const double *v, double *f);
    /// Corrects x and v of active points in place after a drift (contact as a constraint).
    void (*correct)(void *self, double t, double h, double *x, double *v);
    void *self;

    // ---- implicit only: points held by springs and dampers, as rows over active positions ------------------------------------
    PliIndex spring_count;
    const PliIndex *spring_first, *spring_column;
    const double *spring_weight;
    const double *spring_matrix; ///< [count, 6] xx yy zz yz xz xy: h^2 stiffness + h damping of the point, N s^2/m
} PliSystem;

void pli_system_spread(const PliSystem *s, double *a);                ///< slaves of one field from its active part
void pli_system_gather(const PliSystem *s, double *f);                ///< active += W^T slaves
void pli_system_mass(const PliSystem *s, const double *p, double *y); ///< y = M p on active points
// Elastic forces whatever their origin, on active points and slaves; see elastic.h.
void pli_system_add_elastic(PliSystem *s, const double *x, const double *v, double *f);
void pli_system_linearize(PliSystem *s, const double *x, bool project);
void pli_system_add_dforce(const PliSystem *s, const double *dx, double k, double *df);
double pli_system_elastic_energy(const PliSystem *s, const double *x);

// ---- explicit ----------------------------------------------------------------------------------------------------------

/// Groups of tetrahedra that tick together: group g holds tets [first[g], first[g+1]) and is evaluated every 2^g substeps.
typedef struct PliTicks {
    int group_count; ///< 1: single rate
    PliIndex first[9];
} PliTicks;
/// Symplectic Euler with `substeps` equal drifts (a multiple of 2^(groups-1)). Every position drifts in every substep; an
/// element kicks its corners with its own power-of-two impulse, which keeps momentum (asynchronous variational integrator).
/// @return substeps made, more than asked for where speed_change halved them.
int pli_explicit_step(PliSystem *s, const PliTicks *ticks, double dt, int substeps);
/// The largest stable step of an oscillator whose undamped limit is h, with stiffness-proportional damping beta.
double pli_damped_step(double h, double beta);

// ---- implicit ----------------------------------------------------------------------------------------------------------

size_t pli_implicit_workspace(PliIndex point_capacity, PliIndex group); ///< doubles
typedef struct PliImplicit {
    PliLinearSolver solver;
    PliIterative iterative;
    PliLinearSolver chosen; ///< for the present pattern: solver, or what AUTO came to
    PliBlockMatrix *matrix; ///< pattern sealed by pli_implicit_pattern when solver is PLI_SOLVE_LDL
    PliTiles *tiles;        ///< or this one, for groups of four points; NULL: never
    bool is_tiled;          ///< which of the two holds the present pattern
    bool is_rotated;        ///< the tiles hold the factor at rest of PliSystem.constant, turned with the body
    uint64_t rotated_key, rotated_springs; ///< of what that factor was made with: all but springs, and springs
    bool rotated_stale;                    ///< other springs act now: the factor only preconditions
    double rotated_spent;                  ///< iterations with a stale factor so far
    PliIndex *place;                       ///< per active point: four times its group in the tiles + its place there
    size_t place_capacity;
} PliImplicit;
// constant.c: the factor at rest. It is kept while set, step, springs and what is fixed stay the same.
PliStatus pli_rotated_pattern(const PliSystem *s, PliImplicit *implicit);
PliStatus pli_rotated_reserve(const PliHost *host, PliImplicit *implicit,
                              PliIndex points); ///< patterns of up to so many points allocate nothing
/// Factors are those of M and of K = df/dx. A factor with other springs preconditions CG
/// until that has cost as much as a new one.
bool pli_rotated_factor(const PliSystem *s, PliImplicit *implicit, double mass_factor, double stiffness_factor);
void pli_rotated_solve(const PliSystem *s, const PliImplicit *implicit, const double *b,
                       double *x); ///< may be the same
void pli_rotated_free(const PliHost *host, PliImplicit *implicit);
/// Solves with the factor of the last step; 3 doubles per active point. b and x must differ.
void pli_implicit_solve(const PliSystem *s, const PliImplicit *implicit, const double *b, double *x);
/// Eight at once, in place: x and work have shape [3 active_count, 8].
void pli_implicit_solve_eight(const PliSystem *s, const PliImplicit *implicit, double *x, double *work);
/// (Re)builds the pattern of W^T K W + M after the cut changed. May allocate: called at events, not in steps of a fixed cut.
/// Springs of the moment are part of a tiled pattern.
PliStatus pli_implicit_pattern(const PliSystem *s, PliImplicit *implicit, PliError *err);
/// Springs join groups that the tiled pattern keeps apart: pieces of a body that begin to touch.
bool pli_implicit_outgrown(const PliSystem *s, const PliImplicit *implicit);
/// One linearised implicit Euler step. @return iterations (1 for a direct solve), or -1 when the solve failed.
int pli_implicit_step(PliSystem *s, PliImplicit *implicit, double dt);
/// Calls fn with every block of W^T K W over active positions at the last linearize; blocks of one pair add up.
typedef void PliReducedFn(PliIndex row, PliIndex column, const double k9[9], void *user);
void pli_system_stiffness_blocks(const PliSystem *s, PliReducedFn *fn, void *user);

#endif
