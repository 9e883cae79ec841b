/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_BODY_H
#define PLIANT_BODY_H

// The everyday header: define a body, create it, step it, look at it. Hosts that own the solver also include <pliant/stages.h>.
//
// A body is Vec3 coefficients times scalar basis functions. Only some coefficients are active; passive ones follow through
// one sparse linear map W. Everything after construction is common to all schemes.

#include <pliant/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- definitions -----------------------------------------------------------------------------------------------------

typedef enum PliLaw { PLI_STVK, PLI_COROT, PLI_NEOHOOKEAN, PLI_LAW_COUNT } PliLaw;

typedef struct PliMaterial {
    PliLaw law;
    double young;   ///< Pa, > 0
    double poisson; ///< [0, 0.5)
    double density; ///< kg/m3, > 0
    double damping; ///< s, stiffness-proportional strain-rate damping: viscous Lame constants = damping x elastic ones
} PliMaterial;
PLI_API PliMaterial pli_material_default(void); ///< StVK, 1e4 Pa, 0.3, 1000 kg/m3, undamped
/// One sentence when a value is out of range.
PLI_API PliStatus pli_material_check(const PliMaterial *m, PliError *err);

/// PLI_INTEGRATE_AUTO: explicit or implicit (of second order) steps, whichever takes less work for the present active set, material and
/// step. Counts of elements, substeps and iterations decide, no clock: the same bits every time.
/// PLI_INTEGRATE_USUAL: auto for a body that follows an accuracy by itself, explicit for others. The definition of a body that was made says
/// which one it was.
typedef enum PliIntegrator { PLI_SYMPLECTIC, PLI_IMPLICIT, PLI_INTEGRATE_AUTO, PLI_INTEGRATE_USUAL } PliIntegrator;
typedef enum PliLinearSolver {
    PLI_SOLVE_CG,
    PLI_SOLVE_LDL,
    PLI_SOLVE_MINRES,
    /// The scheme's own solver if it has one; of points in space a factor for a few, an incomplete factor for more, with coarse grids where
    /// the iterations of the last steps say that this is cheaper; else a factor, or CG where coefficients couple with dozens of others and many are active. PliStats.linear_solver says which.
    PLI_SOLVE_AUTO,
    PLI_SOLVE_INCOMPLETE, ///< CG on the assembled matrix, with an incomplete factor
    PLI_SOLVE_MULTIGRID   ///< the same with a multigrid cycle; an incomplete factor where coefficients are no places
} PliLinearSolver;

/// What makes a region refine, on any scheme. Scores are relative: above 1 asks for more, below `coarsen` allows less.
typedef enum PliCriterionKind {
    PLI_BY_STRAIN_JUMP,  ///< dimensionless, default
    PLI_BY_FORCE,        ///< the paper's gamma = |f| h^2 / (mu V)
    PLI_BY_CONTACT,      ///< distance to the nearest tool only
    PLI_BY_CAMERA,       ///< distance to `point`
    PLI_BY_REGION,       ///< inside the sphere `point`, `radius`
    PLI_BY_VELOCITY,     ///< frames: kinetic energy of the difference
    PLI_BY_DISPLACEMENT, ///< springs: distance from where a rigid body would be, over the size of the body
    /// tetlod: deformation gradients around a node against the one recovered there, RMS over the volume of the whole body; dimensionless
    PLI_BY_RECOVERED
} PliCriterionKind;

typedef struct PliCriterionDef {
    PliCriterionKind kind;
    double threshold;     ///< value at which a region refines (strain jump 0.1)
    double coarsen;       ///< fraction of the threshold below which it coarsens, (0, 1), default 0.4
    int hold;             ///< decisions a region keeps its level after a change, default 3
    double interval;      ///< s between decisions, default 0.01; 0: every step
    double smallest_size; ///< m, no region refines below this size; 0: no limit
    double point[3];      ///< m, camera or region centre
    double radius;        ///< m
    PliIndex max_active;  ///< most active coefficients, PLI_NONE: no limit
    double budget_ms;     ///< CPU time a step may take; 0: no governor
    /// Percent of the largest displacement that the shape may be off, RMS; thresholds follow from it, and `kind` and `threshold` do not
    /// count. 0: off
    double accuracy;
} PliCriterionDef;
PLI_API PliCriterionDef pli_criterion_default(void); ///< strain jump 0.1, with the defaults named above

/// Explicit steps: elements that tick at their own power-of-two rate.
typedef enum PliRates {
    PLI_RATES_ONE, ///< all tick together
    PLI_RATES_OWN, ///< each as seldom as it may
    PLI_RATES_AUTO, ///< their own with an accuracy, and where that at least halves what a substep costs: slivers, steep grading
} PliRates;

/// Common part of every definition. Always start from pli_*_default(), which fills `cookie`.
typedef struct PliBodyDef {
    PliMaterial material;
    PliCriterionDef criterion;
    PliIntegrator integrator;      ///< default PLI_SYMPLECTIC
    PliLinearSolver linear_solver; ///< implicit only, default PLI_SOLVE_AUTO
    int newton;                    ///< implicit: linearisations of a step, at most; default 1
    int order;                     ///< implicit: 1 (default) implicit Euler, or 2: slow motion keeps its energy
    int cg_iterations;             ///< implicit with CG or MINRES, default 100
    double cg_tolerance;           ///< relative residual, default 1e-8; with an accuracy at least 1e-5 for 2 %
    double gravity[3];             ///< m/s2, default 0 -9.81 0
    double mass_damping;           ///< 1/s, absolute drag, default 0
    double rayleigh_stiffness;     ///< s, implicit only
    double courant;                ///< explicit substep as a fraction of the critical one, default 0.8
    int fallback_law;              ///< with an accuracy, law + 1 of the form to fall back on; 0: that of the material
    bool adapt;                    ///< false freezes the resolution (reference runs)
    PliRates multirate;            ///< explicit, default PLI_RATES_AUTO
    bool spread;                   ///< write passive coefficients after every step, default true
    /// Spheres at rest in which the material is another: x y z, radius, factor of Young's modulus, five numbers each; of those that overlap
    /// the last counts. Read at creation.
    const double *stiff_regions;
    PliIndex stiff_region_count;
    /// The same with a factor of the density, and with Poisson's ratio as it is there; schemes that have one of it refuse.
    const double *dense_regions, *poisson_regions;
    PliIndex dense_region_count, poisson_region_count;
    int cookie;
} PliBodyDef;
#define PLI_DEF_COOKIE 0x504c4931
/// The defaults named above: explicit, adaptive, under gravity.
PLI_API PliBodyDef pli_body_default(void);
/// What every create function and pli_body_retune check before any work: the cookie, then every value. One sentence when one is wrong.
PLI_API PliStatus pli_body_def_check(const PliBodyDef *def, PliError *err);

/// Factor of Young's modulus at a point of the rest shape.
PLI_API double pli_body_def_stiffness(const PliBodyDef *def, const double p[3]);
PLI_API double pli_body_def_density(const PliBodyDef *def, const double p[3]); ///< factor of the density there
PLI_API double pli_body_def_poisson(const PliBodyDef *def, const double p[3]); ///< Poisson's ratio there

/// Uniform finite elements on one mesh: the reference every scheme is compared with.
typedef struct PliFemDef {
    PliBodyDef base;
    const PliMesh *mesh; ///< copied; points no tetrahedron has are left out
    bool
        sparse_contact; ///< tools touch about as many points of a skin as coefficients carry it, default false: every point
} PliFemDef;
PLI_API PliFemDef pli_fem_default(void); ///< pli_body_default, and no mesh yet

typedef enum PliCoupling { PLI_VARIATIONAL, PLI_PAPER } PliCoupling;

/// Debunne 2001: tetrahedral levels of detail.
typedef struct PliTetLodDef {
    PliBodyDef base;
    const PliMesh *const *levels; ///< coarse to fine, copied; points no tetrahedron has are left out
    int level_count;              ///< 1 .. 8
    PliCoupling coupling;
    int ramp;            ///< rings over which element weights fade at a level switch, default 0
    bool fit_weights;    ///< remove ghost forces at interior nodes by a least-squares fit, default false
    bool filter;         ///< semi-implicit filter in increment form, default false
    double speed_change; ///< m/s a node may change its speed in one substep before the step shortens; 0: off
    int start_level;     ///< uniform level to start at, default 0
    const char *cache;   ///< file for the hierarchy, or NULL
} PliTetLodDef;
PLI_API PliTetLodDef pli_tetlod_default(void); ///< pli_body_default, variational coupling, and no levels yet

typedef struct PliBody PliBody;
/// NULL and one sentence in `err` when it cannot be made.
PLI_API PliBody *pli_fem_create(const PliHost *host, const PliFemDef *def, PliError *err);
/// The same for levels of detail.
PLI_API PliBody *pli_tetlod_create(const PliHost *host, const PliTetLodDef *def, PliError *err);
PLI_API void pli_body_destroy(PliBody *body); ///< NULL is fine

// ---- coefficients ----------------------------------------------------------------------------------------------------
// The array length is fixed at creation (all levels), so a host allocates once; only the active set changes.

PLI_API const char *pli_body_scheme(const PliBody *body);       ///< "fem", "tetlod", ..., see pliant/registry.h
PLI_API const PliBodyDef *pli_body_def(const PliBody *body);    ///< as it is now; valid for the body's life
PLI_API PliIndex pli_body_dof_count(const PliBody *body);       ///< length of x and v, in Vec3
PLI_API const double *pli_body_rest(const PliBody *body);       ///< dof_count Vec3, valid for the body's life
PLI_API int pli_body_level_count(const PliBody *body);          ///< 1 where nothing adapts
PLI_API const uint8_t *pli_body_dof_level(const PliBody *body); ///< level of each coefficient, 0 = coarsest

/// The coefficients that move by themselves.
typedef struct PliActive {
    const PliIndex *dof; ///< ascending, so loops and sums have one order
    PliIndex count;
    uint64_t revision; ///< grows whenever the set changes; hosts cache against it
} PliActive;
PLI_API PliActive pli_body_active(const PliBody *body); ///< valid until the next adapt or step

/// Coefficients that do not accelerate. Their velocity stays what the host writes (0, or a prescribed motion).
PLI_API PliStatus pli_body_set_fixed(PliBody *body, const PliIndex *dofs, PliIndex count, PliError *err);
PLI_API void pli_body_set_gravity(PliBody *body, const double g[3]); ///< m/s2, from the next step on
/// Changes the parts of the definition that may change while running: criterion, damping, courant, adapt, stiffness.
PLI_API PliStatus pli_body_retune(PliBody *body, const PliBodyDef *def, PliError *err);

// ---- the world around it ---------------------------------------------------------------------------------------------

typedef enum PliToolShape { PLI_TOOL_SPHERE, PLI_TOOL_PLANE, PLI_TOOL_CAPSULE } PliToolShape;
/// A rigid obstacle the skin must stay out of. It is at `position` when a step begins and moves with `velocity` during it.
typedef struct PliTool {
    PliToolShape shape;
    double position[3]; ///< m; plane: a point on it; capsule: first end
    double other[3];    ///< plane: outward unit normal; capsule: second end
    double velocity[3]; ///< m/s during the step
    double radius;      ///< m, sphere and capsule
    /// N/m3, pressure per penetration depth; 0: a constraint, no skin point is inside when a step ends
    double stiffness;
    double friction;  ///< Coulomb coefficient
    double force[3];  ///< N, out: reaction on the tool, mean over the last step
    double torque[3]; ///< N m, out: of that reaction, about `position` as it moves
} PliTool;
/// Tools stay the host's; they are read at each step and their force is written. NULL, 0 removes them.
PLI_API PliStatus pli_body_set_tools(PliBody *body, PliTool *tools, int count, PliError *err);

/// A point of the body that is held: by Lagrange multipliers, with as much force as it takes. Implicit steps only.
typedef struct PliConstraint {
    double point[3];     ///< m, at rest
    double direction[3]; ///< only this direction is held, across it the point slides; 0 0 0: all
} PliConstraint;
/// Points are held where they are at rest, until they are moved; count 0 lets go. Constraints that follow from others are found, and
/// are met with them.
PLI_API PliStatus pli_body_constrain(PliBody *body, const PliConstraint *constraints, PliIndex count, PliError *err);
/// Where the points are at the end of the coming steps, Vec3 each. Targets that contradict each other are refused by name, and the old
/// ones stay.
PLI_API PliStatus pli_body_move_constraints(PliBody *body, const double *target, PliError *err);
/// The same, led there from where they are in so many seconds, starting and stopping softly; a reset starts again.
PLI_API PliStatus pli_body_lead_constraints(PliBody *body, const double *target, double seconds, PliError *err);
/// How many of the rows (three a point, one with a direction) are independent.
PLI_API PliIndex pli_body_constraint_rank(const PliBody *body, PliIndex *rows);
/// Forces of the last step on the held points, N, Vec3 each (NULL: not wanted). @return the most, m, that a point is off, because too few
/// coefficients are active around it, and (`worst`, may be NULL) which.
PLI_API double pli_body_constraint_forces(const PliBody *body, double *force, PliIndex *worst);

/// Called in every substep (explicit) or once (implicit) to add forces that depend on the state: contact of the host, springs.
/// x and v are complete where `needed` dofs are concerned; f has dof_count Vec3, zeroed, and is pulled through W afterwards.
typedef void PliExternalFn(const double *x, const double *v, double time_in_step, double *f, void *user);

typedef struct PliPointForces PliPointForces; ///< forces with their derivatives, for experts: <pliant/stages.h>
/// Fills `out`, which is zeroed, for complete x and v.
typedef void PliPointForcesFn(const double *x, const double *v, PliPointForces *out, void *user);

/// Borrowed state. The host keeps the arrays; the body reads and writes them in place, and forgets them on return.
typedef struct PliState {
    double *x;               ///< positions, dof_count Vec3
    double *v;               ///< velocities
    const double *f_ext;     ///< forces on any dof, held during the step, or NULL
    PliExternalFn *external; ///< or NULL
    void *external_user;
    PliPointForcesFn *points; ///< or NULL; reserve room with pli_body_reserve_points
    void *points_user;
} PliState;

// ---- stepping ------------------------------------------------------------------------------------------------------

PLI_API void pli_body_reset(PliBody *body, const PliState *s); ///< rest state, first active set, zero statistics

/// Why a step was not done.
typedef enum PliStepCause {
    PLI_STEP_DONE,
    PLI_STEP_NOT_FINITE,        ///< a position, velocity or force became a NaN or infinite
    PLI_STEP_RUNAWAY,           ///< a coefficient went further away than a million times the size of the body
    PLI_STEP_TOO_MANY_SUBSTEPS, ///< dt needs over 2^24 explicit substeps
    PLI_STEP_NO_ROOM,      ///< the active set exceeds what was reserved, or no memory for the pattern of the matrix
    PLI_STEP_SOLVER_FAILED ///< the linear system of an implicit step has no usable solution
} PliStepCause;

/// What a step did. When it was not done x and v are what they were before it (levels may have changed), and the body can be stepped
/// again, for example with a smaller dt.
typedef struct PliStepInfo {
    PliStatus
        status; ///< PLI_OK; PLI_DIVERGED, PLI_BAD_ARGUMENT (dt), PLI_OVER_CAPACITY, PLI_OUT_OF_MEMORY: undone, see `cause`
    PliStepCause cause; ///< pli_step_check puts it into a sentence
    bool finite;        ///< status is PLI_OK
    int substeps;       ///< explicit: how many were made; implicit: 1, or the pieces of a step that failed as one
    int cg_iterations;  ///< implicit
    int linearizations; ///< implicit: of the last stage, with `newton` in the definition
    double
        residual; ///< implicit: what iterations left of the right-hand side; 0 after a direct solve; newton: of the equation of motion
    PliIndex refined, coarsened; ///< regions
    PliIndex inverted;           ///< elements
    PliIndex bad_element;        ///< first inverted or non-finite element, or PLI_NONE
    PliIndex bad_dof;            ///< first coefficient that is not finite or ran away, or PLI_NONE
    double needed_substeps;      ///< explicit: how many dt asks for
    int retries;                 ///< times the step was taken back and made again, in shorter substeps or pieces
} PliStepInfo;
/// adapt -> (force, integrate)* -> spread. Never allocates.
PLI_API PliStepInfo pli_body_step(PliBody *body, const PliState *s, double dt);
/// Returns info->status and, when the step was not done, fills `err` with one sentence: why, and where.
PLI_API PliStatus pli_step_check(const PliStepInfo *info, PliError *err);

// ---- looking at it ---------------------------------------------------------------------------------------------------

/// Energies and momenta of the active coefficients.
typedef struct PliEnergy {
    double elastic, kinetic, gravity; ///< J
    double momentum[3], angular[3];   ///< kg m/s, kg m2/s about the origin
    double mass, centre[3];
} PliEnergy;
/// `v` may be NULL: at rest.
PLI_API PliEnergy pli_body_energy(const PliBody *body, const double *x, const double *v);

// ---- surface ----------------------------------------------------------------------------------------------------------

/// Attaches a surface of any resolution (points and triangles copied). Without a call the body's finest own surface is used.
PLI_API PliStatus pli_body_attach_skin(PliBody *body, const double *points, PliIndex point_count, const PliIndex *tris,
                                       PliIndex tri_count, PliError *err);
PLI_API PliIndex pli_body_skin_count(const PliBody *body); ///< points
/// Corners of its triangles, three each; valid until another skin is attached.
PLI_API const PliIndex *pli_body_skin_tris(const PliBody *body, PliIndex *tri_count);
/// Where its points are; includes what is still fading, so that nothing pops.
PLI_API void pli_body_skin_positions(const PliBody *body, const double *x, double *points);
PLI_API const uint8_t *pli_body_skin_level(const PliBody *body); ///< one byte per skin point, for colouring

// ---- evidence ----------------------------------------------------------------------------------------------------------

/// Why a body with two forms (its scheme's own, and tetrahedra to fall back on) is in the one it is in.
typedef enum PliFormReason {
    PLI_FORM_WAITS,  ///< nothing has been tried yet
    PLI_FORM_OWN,    ///< the own form kept the accuracy when it was tried, and costs less
    PLI_FORM_DEAR,   ///< it would not cost clearly less
    PLI_FORM_WRONG,  ///< it was too far off when it was tried
    PLI_FORM_FREE,   ///< nothing holds the body, or it has no skin to compare
    PLI_FORM_HOLLOW, ///< the own form has no inside
    PLI_FORM_HOST,   ///< the host's forces act on coefficients
    PLI_FORM_LEFT,   ///< what happens is not what was tried any more
    PLI_FORM_BROKE   ///< the own form failed when it was tried
} PliFormReason;

/// Costs and events.
/// Why steps of integrator="auto" are explicit or implicit.
typedef enum PliChoiceReason {
    PLI_CHOICE_WORK,   ///< less work
    PLI_CHOICE_MOTION, ///< explicit, because implicit steps of this length would not follow the motion
    PLI_CHOICE_HOST,   ///< the host's forces need substeps, or its corrections one implicit step
    PLI_CHOICE_BUDGET, ///< explicit, because the governor knows what substeps cost
} PliChoiceReason;

typedef struct PliStats {
    double adapt_ms, force_ms, solve_ms, surface_ms, step_ms; ///< last step
    PliIndex active, elements, slaves, per_level[8];          ///< now
    uint64_t steps, refined, coarsened, refused, forced;      ///< since reset; refused/forced: by the governor
    double energy_added, energy_removed;                      ///< J, by events since reset
    double energy_forced;                                     ///< J, added by merges the governor forced
    double largest_jump;                                      ///< m, shown skin at any event since reset, as measured
    double largest_hidden;                                    ///< m, by which an event would have moved it: this fades
    double substep;                                           ///< s, last
    // of a body with criterion.accuracy, else 0:
    double error_estimate; ///< over the largest displacement so far, beyond the error of the finest level
    int uniform_level;     ///< level + 1 where it runs as one level throughout; 0: mixed
    double mixed_work;     ///< what a mixture as good would cost, over what that level does
    // of a body that can fall back on tetrahedra, else 0:
    int form; ///< 1: they act; 2: the scheme's own form does
    PliFormReason form_reason;
    double own_error; ///< of the own form against the fallback when it was tried, over the largest displacement
    double own_work;  ///< of the own form over that of the fallback, as counted before the trial
    uint64_t retries; ///< of steps, since reset, see PliStepInfo
    int rates;        ///< explicit: at how many the elements tick, now
    PliIndex eased;   ///< explicit: slivers with less than all damping, now
    /// implicit, of solve_ms: the tangent, the matrix with what is made of it, iterations or substitutions; last step
    double linearize_ms, prepare_ms, iterate_ms;
    // with integrator="auto":
    bool implicit;                       ///< the last step was
    PliChoiceReason choice;              ///< why
    uint64_t implicit_steps, changes;    ///< since reset: those that were, and times that it changed
    double explicit_work, implicit_work; ///< of a step either way, in evaluations of one tetrahedron
    double lag;                ///< what implicit steps would be off by in time lately, over the largest displacement
    const char *linear_solver; ///< implicit: which one solves the present active set; NULL: none yet
    size_t bytes;              ///< allocated
} PliStats;
PLI_API PliStats pli_body_stats(const PliBody *body);                   ///< a copy
PLI_API uint64_t pli_body_hash(const PliBody *body, const PliState *s); ///< same for any worker count and vector unit
/// One sentence about the form a body is in, without a full stop; empty where it has only one.
PLI_API void pli_body_form_text(const PliBody *body, char *text, size_t size);
/// How steps of integrator="auto" were taken, and why, without a full stop; empty with another one.
PLI_API void pli_body_choice_text(const PliBody *body, char *text, size_t size);
/// Stress in Pa, averaged to dofs of the active level.
PLI_API void pli_body_von_mises(const PliBody *body, const double *x, double *per_dof);

#ifdef __cplusplus
}
#endif
#endif
