/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SYSTEM_H
#define PLI_SYSTEM_H

// What an integrator steps: the live part of a body in compact numbers, active points first, then slaves.
// Integrators know neither hierarchy nor scheme; forces are operators, hooks bring in the world around the body.

#include <pliant/scheme.h>

#include "solver/constraints.h"
#include "solver/linear.h"
#include "solver/pick.h"

/// What the last implicit step left and took.
typedef struct PliSolveCost {
    double residual; ///< relative to the right-hand side; 0 after a direct solve
    double linearize_ms, prepare_ms, iterate_ms;
    int linearizations;
} PliSolveCost;

typedef struct PliSystem {
    PliHost host;
    PliIndex active_count, slave_count;
    PliRows slaves; ///< slave_count rows over active positions
    /// Slaves the host moves itself (numbers among the slaves, with empty rows): spreading x and v gives them these values, and
    /// any other field 0.
    const PliIndex *held;
    PliIndex held_count;
    const double *held_x, *held_v; ///< held_count Vec3
    bool one_way;                  ///< see PliCut
    const PliForceOps *force;
    void *force_self;
    const double *mass;     ///< kg, lumped
    const double *inv_mass; ///< 1/kg, 0 where fixed
    const uint8_t *fixed;
    const double *load;                       ///< kg, gravity acts on it
    const PliIndex *mass_first, *mass_column; ///< consistent mass over active positions, or NULL
    const double *mass_value;
    double gravity[3];
    double mass_damping;       ///< 1/s
    double rayleigh_stiffness; ///< s, implicit only
    double material_damping;   ///< s, strain-rate damping inside the forces
    double *x, *v, *f;         ///< active_count + slave_count Vec3
    PliIndex block;            ///< consecutive points that belong together, see PliSchemeStatic
    bool dense;                ///< see PliSchemeStatic
    /// f holds the internal forces at x and v already, and slaves follow; the next implicit step takes them and clears this.
    bool force_ready;
    const double *f_ext; ///< active_count Vec3, held during the step, or NULL
    double *impulse; ///< N s, active_count Vec3: what held the fixed ones in the last implicit step; NULL: not wanted
    double *work;    ///< lent scratch, pli_implicit_workspace doubles
    double *newton;  ///< lent scratch, pli_newton_workspace doubles; NULL: one linearisation a stage
    const double *tangent; ///< points where K was last made, inside a step; NULL: x
    // explicit only
    int rate_count; ///< of PliForceOps, for the present cut
    int tick;       ///< substep of the present round of all rates
    /// Semi-implicit filter in increment form: 9 doubles per active point, dv = filter f h/m; NULL: off.
    const double *filter;
    double speed_change; ///< m/s a point may change its speed by in one substep before substeps are halved; 0: off
    int halvings;        ///< of the substep, at the moment
    double last_drift;   ///< s, length of the last substep; 0: there was none

    // ---- hooks, NULL when there is nothing to do -------------------------------------------------------------------
    /// f += forces that depend on the state, on active and slave points; `t` is the time since the start of the step.
    void (*add_force)(void *self, double t, double h, const double *x, const double *v, double *f);
    /// Corrects x and v of active points in place after a drift (contact as a constraint).
    void (*correct)(void *self, double t, double h, double *x, double *v);
    /// Implicit: f += forces of the tools at the end of the step with the velocities of its start; active points.
    void (*press)(void *self, double *f);
    /// Implicit: the same times `length`, N s, a Vec3 for each tether; others than tethered points are not pressed.
    const double *(*press_tethers)(void *self, double length);
    /// Implicit: what presses is found from how tethered points move freely, a Vec3 each, and how they answer to each other,
    /// [3 count, 3 count]: tethers are others then, and so is `free`. @return false: nothing was done
    bool (*foresee)(void *self, const double *answer, double *free);
    /// Implicit: whether dv agrees with the tools, `solved` to the tolerance. If not, what `press` adds is another force now, and where it sets `matrix`
    /// tethers are others, too.
    bool (*settle)(void *self, const double *dv, bool solved, bool *matrix);
    void (*unsettle)(void *self); ///< Implicit: the body is linearised elsewhere, and tools have to agree with it again
    void *self;

    double mass_factor, stiffness_factor; ///< of the matrix of the last implicit step
    PliPrepared prepared;                 ///< what was made of it ...
    bool prepared_tethers;                ///< ... with tethers
    bool kept;                            ///< its K is that of an earlier step
    PliSolveCost solve;

    // ---- implicit only: points of the body that contact or the host hold, see PliStepMatrix ----------------------------------
    PliIndex tether_count;
    const PliIndex *tether_first, *tether_column;
    const double *tether_weight, *tether_matrix;
    PliConstraints *constraints; ///< met at the end of the step; NULL: none
} PliSystem;

void pli_system_spread(const PliSystem *s, double *a);                 ///< slaves of one field from its active part
void pli_system_gather(const PliSystem *s, double *f);                 ///< active += W^T slaves
void pli_system_mass(const PliSystem *s, const double *p, double *y);  ///< y = M p on active points
void pli_system_add_tethers(PliSystem *s, const double *p, double *y); ///< y += what tethers take of p, active points
/// What a point hangs on: itself when it is active, else its row of W. `point` must outlive it.
typedef struct PliSupport {
    const PliIndex *column;
    const double *weight;
    PliIndex count;
} PliSupport;
PliSupport pli_system_support(const PliSystem *s, const PliIndex *point);
/// Calls fn with every block of W^T K W over active positions at the last linearize; blocks of one pair add up.
void pli_system_stiffness_blocks(const PliSystem *s, PliBlockFn *fn, void *user);

// ---- explicit ----------------------------------------------------------------------------------------------------------

/// Symplectic Euler with `substeps` equal drifts (a multiple of 2^(rate_count - 1)). Every position drifts in every substep; an
/// element kicks its corners with its own power-of-two impulse, which keeps momentum (asynchronous variational integrator).
/// @return substeps made, more than asked for where speed_change halved them.
int pli_explicit_step(PliSystem *s, double dt, int substeps);
/// The largest stable step of an oscillator whose undamped limit is h, with stiffness-proportional damping beta.
double pli_damped_step(double h, double beta);

// ---- implicit ----------------------------------------------------------------------------------------------------------

size_t pli_implicit_workspace(PliIndex point_capacity); ///< doubles
/// Where the assembled K was made, on active points. It serves until it no longer foretells the forces; a new pattern forgets it.
typedef struct PliTangent {
    double *x, *v, *f; ///< one piece of memory; f: N, internal forces there
    bool is_known;
} PliTangent;
typedef struct PliImplicit {
    PliLinearSolver wish; ///< the user's
    PliIterative iterative;
    int newton; ///< most linearisations of a stage
    PliHost host;
    PliLinearMethod *method; ///< the scheme's, then the library's
    int method_count, own_count;
    const PliLinearMethod *chosen; ///< for the present pattern; NULL: there is none yet
    const PliLinearMethod *direct; ///< what answers between steps where `chosen` does not; NULL: nobody asked yet
    bool direct_ready;             ///< it has the matrix of the last step
    int asked; ///< steps for which contacts still count as asking for responses: a factor is then what PLI_SOLVE_AUTO stands for
    PliLinearSolver made_for; ///< what the wish stood for when the pattern was made
    PliPick pick;             ///< of the wish PLI_SOLVE_AUTO; all 0 for a body that starts
    // dv of the last step and of the one before, where iterations begin; a new pattern forgets them
    double *last, *older;
    size_t last_capacity;
    bool has_last, has_older;
    PliTangent tangent;
    uint64_t made; ///< tangents, all in all
    double lately; ///< N s, right-hand side of the last steps, falling: the tolerance is relative to it
} PliImplicit;
/// Takes the scheme's methods and makes the library's, with room for what the scheme can have.
PliStatus pli_implicit_create(PliImplicit *im, const PliHost *host, const PliSchemeStatic *statics, PliIndex limit);
void pli_implicit_destroy(PliImplicit *im);
/// Chooses a method and (re)builds its pattern after the cut changed. May allocate: called at events, not in steps of a fixed cut.
PliStatus pli_implicit_pattern(PliSystem *s, PliImplicit *im);
/// Tethers join points that the pattern keeps apart: pieces of a body that begin to touch; or another method would be cheaper by now.
bool pli_implicit_outgrown(PliSystem *s, PliImplicit *im);
/// A linearised implicit step of `length`, or a part of one: dv and x follow from the forces at length v + reach dv.
/// With reach = length that is implicit Euler.
typedef struct PliStage {
    double start;  ///< s, since the step began
    double length; ///< s
    double reach;  ///< s
    bool again;    ///< with the matrix of the stage before, which had the same reach
} PliStage;
enum { PLI_STAGES = 2 };
/// The stages of a step of first or second order. Second: implicit Euler over the first part g of the step, then a stage of the same
/// reach over the rest, g = 1 - 1/sqrt(2). For linear forces that is the L-stable SDIRK method of two stages (Alexander 1977), whose
/// damping of slow motion falls with the fourth power of the step; both have one matrix. @return how many
int pli_implicit_stages(int order, double dt, PliStage stage[PLI_STAGES]);
/// One stage, solved as often as tools need. @return iterations (1 for each direct solve), or -1 when it failed.
int pli_implicit_step(PliSystem *s, PliImplicit *im, const PliStage *stage);
/// Solves with the matrix of the last step; 3 doubles per active point. b and x must differ. Where that step only iterated, the first
/// call after a pattern may allocate, and the first after a step factors.
PliStatus pli_implicit_solve(PliSystem *s, PliImplicit *im, const double *b, double *x);
/// c [3 count, 3 count] = factor B^T A^-1 B, the touched coefficients being the columns of B. PLI_UNSUPPORTED: eight solves at once do.
PliStatus pli_implicit_condense(PliSystem *s, PliImplicit *im, const PliTouched *b, double factor, double *c);
/// Eight at once, in place: x and work have shape [3 active_count, 8].
PliStatus pli_implicit_solve_eight(PliSystem *s, PliImplicit *im, double *x, double *work);

#endif
