/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_BODY_H
#define PLIANT_BODY_H

// A body is Vec3 coefficients times scalar basis functions. Only some coefficients are active; passive ones follow through
// one sparse linear map W. Everything after construction is common to all schemes and lives here.

#include <pliant/mesh.h>
#include <pliant/transfer.h>

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
PLI_API PliStatus pli_material_check(const PliMaterial *m, PliError *err);

typedef enum PliIntegrator { PLI_SYMPLECTIC, PLI_IMPLICIT } PliIntegrator;
typedef enum PliLinearSolver {
    PLI_SOLVE_CG,
    PLI_SOLVE_LDL,
    PLI_SOLVE_MINRES,
    PLI_SOLVE_AUTO ///< the scheme's own solver if it has one, else LDL; CG where coefficients couple with dozens of others and many are active
} PliLinearSolver;

/// What makes a region refine, on any scheme. Scores are relative: above 1 asks for more, below `coarsen` allows less.
typedef enum PliCriterionKind {
    PLI_BY_STRAIN_JUMP, ///< dimensionless, default
    PLI_BY_FORCE,       ///< the paper's gamma = |f| h^2 / (mu V)
    PLI_BY_CONTACT,     ///< distance to the nearest tool only
    PLI_BY_CAMERA,      ///< distance to `point`
    PLI_BY_REGION,      ///< inside the sphere `point`, `radius`
    PLI_BY_VELOCITY     ///< frames: kinetic energy of the difference
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
} PliCriterionDef;
PLI_API PliCriterionDef pli_criterion_default(void);

/// Common part of every definition. Always start from pli_*_default(), which fills `cookie`.
typedef struct PliBodyDef {
    PliMaterial material;
    PliCriterionDef criterion;
    PliIntegrator integrator;
    PliLinearSolver linear_solver; ///< implicit only
    int cg_iterations;             ///< implicit with CG or MINRES, default 100
    double cg_tolerance;           ///< relative residual, default 1e-8
    double gravity[3];             ///< m/s2, default 0 -9.81 0
    double mass_damping;           ///< 1/s, absolute drag, default 0
    double rayleigh_stiffness;     ///< s, implicit only
    double courant;                ///< explicit substep as a fraction of the critical one, default 0.8
    bool adapt;                    ///< false freezes the resolution (reference runs)
    bool multirate;                ///< explicit: elements tick at their own power-of-two rate
    bool spread;                   ///< write passive coefficients after every step, default true
    int cookie;
} PliBodyDef;
#define PLI_DEF_COOKIE 0x504c4931
PLI_API PliBodyDef pli_body_default(void);

/// Uniform finite elements on one mesh: the reference every scheme is compared with.
typedef struct PliFemDef {
    PliBodyDef base;
    const PliMesh *mesh; ///< copied
} PliFemDef;
PLI_API PliFemDef pli_fem_default(void);

typedef enum PliCoupling { PLI_VARIATIONAL, PLI_PAPER } PliCoupling;

/// Debunne 2001: tetrahedral levels of detail.
typedef struct PliTetLodDef {
    PliBodyDef base;
    const PliMesh *const *levels; ///< coarse to fine, copied
    int level_count;              ///< 1 .. 8
    PliCoupling coupling;
    int ramp;            ///< rings over which element weights fade at a level switch, default 0
    bool fit_weights;    ///< remove ghost forces at interior nodes by a least-squares fit, default false
    bool filter;         ///< semi-implicit filter in increment form, default false
    double speed_change; ///< m/s a node may change its speed in one substep before the step shortens; 0: off
    int start_level;     ///< uniform level to start at, default 0
    const char *cache;   ///< file for the hierarchy, or NULL
} PliTetLodDef;
PLI_API PliTetLodDef pli_tetlod_default(void);

typedef struct PliBody PliBody;
PLI_API PliBody *pli_fem_create(const PliHost *host, const PliFemDef *def, PliError *err);
PLI_API PliBody *pli_tetlod_create(const PliHost *host, const PliTetLodDef *def, PliError *err);
PLI_API void pli_body_destroy(PliBody *body); ///< NULL is fine

// ---- coefficients ----------------------------------------------------------------------------------------------------
// The array length is fixed at creation (all levels), so a host allocates once; only the active set changes.

PLI_API const char *pli_body_scheme(const PliBody *body); ///< "fem", "tetlod", ..., see pliant/registry.h
PLI_API const PliBodyDef *pli_body_def(const PliBody *body);
PLI_API PliIndex pli_body_dof_count(const PliBody *body);
PLI_API const double *pli_body_rest(const PliBody *body); ///< dof_count Vec3, valid for the body's life
PLI_API int pli_body_level_count(const PliBody *body);
PLI_API const uint8_t *pli_body_dof_level(const PliBody *body); ///< level of each coefficient, 0 = coarsest

/// The coefficient that says where `dof` is in space: often itself, for a wavelet's detail its control vertex. PLI_NONE: none does (the columns
/// of a frame; its origin does).
PLI_API PliIndex pli_body_dof_place(const PliBody *body, PliIndex dof);
/// Adaptation judges passive coefficients by the forces on them: hosts should then give forces on coefficients of the finest level.
PLI_API bool pli_body_judges_forces(const PliBody *body);

typedef struct PliActive {
    const PliIndex *dof; ///< ascending, so loops and sums have one order
    PliIndex count;
    uint64_t revision; ///< grows whenever the set changes; hosts cache against it
} PliActive;
PLI_API PliActive pli_body_active(const PliBody *body); ///< valid until the next adapt or step

/// Coefficients that do not accelerate. Their velocity stays what the host writes (0, or a prescribed motion).
PLI_API PliStatus pli_body_set_fixed(PliBody *body, const PliIndex *dofs, PliIndex count, PliError *err);
PLI_API void pli_body_set_gravity(PliBody *body, const double g[3]);
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
    double
        stiffness; ///< N/m3, pressure per penetration depth; 0: a constraint (explicit) or chosen from the material (implicit)
    double friction; ///< Coulomb coefficient
    double force[3]; ///< N, out: reaction on the tool, mean over the last step
} PliTool;
/// Tools stay the host's; they are read at each step and their force is written. NULL, 0 removes them.
PLI_API PliStatus pli_body_set_tools(PliBody *body, PliTool *tools, int count, PliError *err);

/// Called in every substep (explicit) or once (implicit) to add forces that depend on the state: contact of the host, springs.
/// x and v are complete where `needed` dofs are concerned; f has dof_count Vec3, zeroed, and is pulled through W afterwards.
typedef void PliExternalFn(const double *x, const double *v, double time_in_step, double *f, void *user);

/// Forces on single points, with their derivatives: contact, springs to targets. Implicit steps take them implicitly, so that
/// they may be as stiff as they like; explicit ones in every substep. Arrays are the host's, read at once.
typedef struct PliPointForces {
    PliIndex count;
    const PliIndex *first; ///< count + 1: point j is the sum of weight x over entries first[j] .. first[j + 1] ...
    const PliIndex *dof;   ///< ... of dofs of the finest level, as pli_body_locate gives them
    const double *weight;
    const double *force;               ///< N, Vec3 each
    const double *stiffness;           ///< N/m, -df/dp as xx yy zz yz xz xy each, positive semi-definite; NULL: none
    const double *damping;             ///< N s/m, -df/dv the same way; NULL: none
    const struct PliPointForces *next; ///< more of them, or NULL
} PliPointForces;
/// Fills `out`, which is zeroed, for complete x and v.
typedef void PliPointForcesFn(const double *x, const double *v, PliPointForces *out, void *user);

/// Room for the derivatives of up to `count` point forces; those beyond are taken explicitly. Allocates, once, before stepping.
PLI_API PliStatus pli_body_reserve_points(PliBody *body, PliIndex count, PliError *err);

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

// ---- whole step ------------------------------------------------------------------------------------------------------

typedef struct PliStepInfo {
    int substeps, cg_iterations;
    PliIndex refined, coarsened, inverted;
    bool
        finite; ///< false: a NaN or runaway appeared, or dt needs over 2^24 substeps; x and v were restored to their input
    PliIndex bad_element; ///< first inverted or non-finite element, or PLI_NONE
} PliStepInfo;
/// adapt -> (force, integrate)* -> spread. Never allocates.
PLI_API PliStepInfo pli_body_step(PliBody *body, const PliState *s, double dt);
/// The same without adapting, for hosts that must change levels earlier in their own step: step = adapt, then advance.
PLI_API PliStepInfo pli_body_advance(PliBody *body, const PliState *s, double dt);
/// Change of the velocities at the end of the last step (of length dt) had forces f acted during it: dv = dt A^-1 f with the
/// matrix of the implicit step, dt M^-1 f for the explicit one; 0 where fixed or passive. PLI_UNSUPPORTED: implicit without LDL.
PLI_API PliStatus pli_body_response(const PliBody *body, const double *f, double dt, double *dv);

/// The same for unit forces on some coefficients, seen at those: c has shape [3 count, 3 count] and is symmetric. `work` is lent scratch
/// of pli_body_compliance_work(body) doubles.
PLI_API size_t pli_body_compliance_work(const PliBody *body);
PLI_API PliStatus pli_body_compliance(const PliBody *body, const PliIndex *dofs, PliIndex count, double dt, double *c,
                                      double *work);

/// Contacts a host found itself, as rows over active coefficients. Row 0 of a contact is its normal: the gap
/// offset + sum value . x must not be negative at the end of the step. With friction two rows follow, its tangents; their
/// offset is how far the other side moves back along them during the step.
typedef struct PliContactRows {
    PliIndex contact_count;
    int rows_per_contact;  ///< 1, or 3 with friction
    const PliIndex *first; ///< row r owns entries first[r] .. first[r+1]
    const PliIndex *dof;
    const double *value;  ///< Vec3 per entry
    const double *offset; ///< m, per row
    double friction;      ///< Coulomb coefficient
    int sweeps;           ///< Gauss-Seidel sweeps in each substep
    double *work;         ///< lent scratch, 3 doubles per row
    double force;         ///< N, out: sum of the normal forces, mean over the step
} PliContactRows;
/// Takes the last explicit step again from the state before it, with the rows kept in every substep. What lies too deep when the
/// step begins is brought out evenly over it. Counts as the same step.
PLI_API PliStepInfo pli_body_advance_under(PliBody *body, const PliState *s, double dt, PliContactRows *rows);

// ---- stages, for hosts that own the solver ----------------------------------------------------------------------------
// All act on full-length arrays; forces and matrices come out reduced to the active coefficients (W^T f(Wx), W^T K W).

PLI_API void pli_body_reset(PliBody *body, const PliState *s); ///< rest state, first active set, zero statistics
/// Chooses levels and hands the state over. @return true when the active set changed.
PLI_API bool pli_body_adapt(PliBody *body, const PliState *s, double dt);
PLI_API void pli_body_add_force(PliBody *body, const double *x, const double *v,
                                double *f); ///< f += reduced internal forces; caches the tangent
/// Tangents of the stages: true leaves out negative eigenvalues of elements, as implicit steps of the body do, so that -K is positive
/// semi-definite; contact solved on its inverse needs that under compression. false (default): the exact derivative of the force.
PLI_API void pli_body_set_definite(PliBody *body, bool definite);
PLI_API void pli_body_add_dforce(const PliBody *body, const double *dx, double k,
                                 double *df); ///< df += k K dx, K = df/dx
PLI_API void pli_body_add_mass(const PliBody *body, const double *dx, double m, double *df); ///< df += m M dx
PLI_API void pli_body_add_gravity(const PliBody *body, double *f);
PLI_API void pli_body_acceleration(const PliBody *body, const double *f,
                                   double *a); ///< a = M^-1 f on active dofs, 0 elsewhere
PLI_API void pli_body_spread(const PliBody *body,
                             double *x); ///< passive = W active (+ offset); positions; fixed dofs stay
PLI_API void pli_body_spread_velocity(const PliBody *body, double *v);
PLI_API void pli_body_reduce(const PliBody *body, double *f);  ///< active += W^T passive, passive = 0
PLI_API void pli_body_project(const PliBody *body, double *d); ///< passive and fixed = 0
PLI_API PliRows pli_body_transfer(const PliBody *body); ///< W: all dofs from active ones (columns are dof numbers)
PLI_API const PliIndex *pli_body_slaves(const PliBody *body,
                                        PliIndex *count); ///< passive dofs live elements touch; as PliActive
enum { PLI_LOCATE_MAX = 256 };                            ///< most coefficients a point hangs on, on any scheme
/// Rest point -> dofs of the finest level and their weights, up to `capacity` (PLI_LOCATE_MAX is enough). @return how many; columns are not reduced
/// to active dofs: compose with pli_body_transfer.
PLI_API PliIndex pli_body_locate(const PliBody *body, const double point[3], PliIndex *column, double *weight,
                                 PliIndex capacity);
/// Calls fn with 3x3 blocks of W^T K W at the state of the last add_force; k9 is row-major; blocks of the same pair add up.
typedef void PliBlockFn(PliIndex row_dof, PliIndex col_dof, const double k9[9], void *user);
PLI_API void pli_body_stiffness_blocks(const PliBody *body, PliBlockFn *fn, void *user);
typedef void PliScalarFn(PliIndex row_dof, PliIndex col_dof, double value, void *user);
PLI_API void pli_body_mass_entries(const PliBody *body, PliScalarFn *fn, void *user); ///< W^T M W, active dofs

typedef struct PliEnergy {
    double elastic, kinetic, gravity; ///< J
    double momentum[3], angular[3];   ///< kg m/s, kg m2/s about the origin
    double mass, centre[3];
} PliEnergy;
PLI_API PliEnergy pli_body_energy(const PliBody *body, const double *x, const double *v);

// ---- surface ----------------------------------------------------------------------------------------------------------

/// Attaches a surface of any resolution (points and triangles copied). Without a call the body's finest own surface is used.
PLI_API PliStatus pli_body_attach_skin(PliBody *body, const double *points, PliIndex point_count, const PliIndex *tris,
                                       PliIndex tri_count, PliError *err);
PLI_API PliIndex pli_body_skin_count(const PliBody *body);
PLI_API const PliIndex *pli_body_skin_tris(const PliBody *body, PliIndex *tri_count);
PLI_API PliRows pli_body_skin_rows(
    const PliBody *body); ///< skin points from active dofs; columns are dof numbers; changes with the revision
PLI_API void pli_body_skin_positions(const PliBody *body, const double *x,
                                     double *points); ///< includes what is still fading, so that nothing pops
PLI_API const uint8_t *pli_body_skin_level(const PliBody *body); ///< one byte per skin point, for colouring

// ---- evidence ----------------------------------------------------------------------------------------------------------

typedef struct PliStats {
    double adapt_ms, force_ms, solve_ms, surface_ms, step_ms; ///< last step
    PliIndex active, elements, slaves, per_level[8];          ///< now
    uint64_t steps, refined, coarsened, refused, forced;      ///< since reset; refused/forced: by the governor
    double energy_added, energy_removed;                      ///< J, by events since reset
    double energy_forced;                                     ///< J, added by merges the governor forced
    double largest_jump;                                      ///< m, skin at any event since reset
    double substep;                                           ///< s, last
    size_t bytes;                                             ///< allocated
} PliStats;
PLI_API PliStats pli_body_stats(const PliBody *body);
PLI_API uint64_t pli_body_hash(const PliBody *body, const PliState *s); ///< same for any worker count and vector unit
PLI_API void pli_body_von_mises(const PliBody *body, const double *x,
                                double *per_dof); ///< Pa, averaged to dofs of the active level

#ifdef __cplusplus
}
#endif
#endif
