/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_SCHEME_H
#define PLIANT_SCHEME_H

// For whoever writes a scheme, in this tree or outside it; hosts do not need it.
//
// A scheme is a fixed set of coefficients, and at every moment a *cut* that says which of them are active, which follow them,
// and which elements are live with which weight. The body compacts a cut: active coefficients become points 0 .. active_count,
// passive ones that elements touch (slaves) the points behind them. Forces, solvers and integrators see these compact points
// only, so that nothing in a substep is longer than what is live.
//
// A scheme fills three things and calls pli_body_create: PliSchemeStatic (what never changes), PliSchemeOps (what it answers),
// and, at each recut, a PliCut. Internal forces come from the tetrahedra and samples of the cut by the laws of PliMaterial,
// unless the scheme has force operators of its own (PliForceOps). The same holds for linear solvers (PliLinearOps).
//
// Rules: nothing called in a step allocates, unless its comment says that it may; sums have one order for any worker count.

#include <pliant/stages.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- the cut -------------------------------------------------------------------------------------------------------------

/// Filled by a scheme when its active set changes; arrays stay the scheme's and are read at once.
typedef struct PliCut {
    const PliIndex *active; ///< ascending
    PliIndex active_count;
    const double *mass; ///< lumped, kg, per active coefficient (explicit steps, and implicit ones without a matrix)
    /// Integral of density x basis function, kg, per active coefficient: gravity; NULL: the same as mass.
    const double *load;
    /// Consistent mass as a symmetric matrix of scalars over active *positions* (0 .. active_count), or NULL: lumped.
    const PliIndex *mass_first, *mass_column;
    const double *mass_value;

    const PliIndex *slave; ///< passive coefficients that live elements touch, any order
    PliIndex slave_count;
    const PliIndex *slave_first;  ///< slave_count + 1
    const PliIndex *slave_column; ///< active dof numbers
    const double *slave_weight;
    /// Slaves are carried, and what pulls at them is lost instead of pulling at what carries them. No energy stands behind such
    /// forces; it is for schemes that must do as their source does.
    bool one_way;
    const uint8_t
        *driven; ///< per active coefficient: the scheme moves it by the velocity it writes in adapt; NULL: none
    /// N s, active_count Vec3: implicit steps write here what kept the driven ones on their way. NULL: not wanted.
    double *driven_impulse;

    // Elements of the default forces; a scheme with its own leaves them out.
    const PliIndex *element; ///< live tetrahedra, ascending, into PliSchemeStatic.tets
    const double *volume;    ///< m3, weight of each live element
    PliIndex element_count;
    /// Samples: points of integration with any number of basis functions. Sample s owns entries sample_first[s] ..
    /// sample_first[s + 1] of sample_dof (dof numbers, active or slave) and sample_grad (Vec3 each, 1/m, of the basis functions).
    PliIndex sample_count;
    const PliIndex *sample_first, *sample_dof;
    const double *sample_grad;
    const double *sample_volume;    ///< m3
    const double *sample_stiffness; ///< factor of Young's modulus; NULL: 1
    const double *sample_f0;        ///< [count, 9], added to F: what passive coefficients contribute; NULL: nothing
    const double
        *sample_s0; ///< Pa, [count, 6] xx yy zz yz xz xy, added to the second Piola-Kirchhoff stress; NULL: none
    const double *
        sample_poisson; ///< Poisson's ratio, in place of the material's; NULL: that. Needs PliSchemeStatic.sample_poisson
    const double *sample_bulk; ///< adds the energy bulk lambda V tr(E)^2 / 2, any sign; NULL: none
} PliCut;

/// The compact points of the present cut. A view: valid until the next recut, x, v and f until anything else moves.
typedef struct PliLiveView {
    PliIndex active_count, slave_count;
    const PliIndex *dof;      ///< compact -> dof, active ones first
    const PliIndex *position; ///< dof -> compact, PLI_NONE when not live
    PliRows slaves;           ///< slave_count rows over active positions; an empty row is a point that the host holds
    const double *mass;       ///< kg, lumped, per active point
    const double *load;       ///< kg, per active point: gravity acts on it
    const uint8_t *fixed;     ///< per active point: it does not accelerate
    const double *x, *v, *f;  ///< Vec3 of all points; f: of the last evaluation, gravity and f_ext not included
} PliLiveView;

// ---- forces ----------------------------------------------------------------------------------------------------------------

/// The matrix of one element over n points, row-major, 3n x 3n.
typedef void PliElementFn(const PliIndex *point, PliIndex n, const double *k, void *user);
/// Up to `count` numbers of blocks that couple with each other.
typedef void PliBlocksFn(const PliIndex *block, PliIndex count, void *user);
/// Where the block (row, column) of a matrix is kept; NULL: this one is not wanted.
typedef double *PliBlockPlaceFn(PliIndex row, PliIndex column, void *user);

/// Internal forces on compact points: f has a Vec3 for every active point and slave, W is the body's business. K is df/dx.
typedef struct PliForceOps {
    /// The cut is another one; anything but PLI_OK stops the body until the next. Never allocates.
    PliStatus (*recut)(void *self, const PliCut *cut, const PliLiveView *live);
    /// The definition is another one (material, multirate); a recut follows. Called at creation, too. NULL: it does not matter.
    void (*retune)(void *self, const PliBodyDef *def);
    /// f += forces; with v (may be NULL) also viscous ones, material.damping K v for small strains.
    void (*add_force)(void *self, const double *x, const double *v, double *f);
    /// Makes K at x, for the three functions below. definite: without negative eigenvalues, so that -K is positive semi-definite.
    void (*linearize)(void *self, const double *x, bool definite);
    void (*add_dforce)(void *self, const double *dx, double k, double *df); ///< df += k K dx
    void (*blocks)(void *self, PliBlockFn *fn,
                   void *user);                    ///< 3x3 blocks of K in compact numbers; those of one pair add up
    double (*energy)(void *self, const double *x); ///< J

    // ---- explicit steps; NULL where a scheme has none --------------------------------------------------------------------
    double (*critical_step)(void *self); ///< s, largest stable step of the present cut, undamped
    /// s, longest substep at x (compact points; NULL: at rest), with the material's damping and the rates of the elements, when each is taken at
    /// `share` of its undamped limit. Asked once per step. NULL: critical_step holds at any x.
    double (*longest_substep)(void *self, const double *x, double share);
    /// Elements may tick at their own rate: those of rate g are evaluated every 2^g substeps. NULL: all at rate 0.
    int (*rate_count)(void *self);
    void (*add_force_at_rate)(void *self, int rate, const double *x, const double *v, double *f);

    /// Of PliSchemeStatic.tangent: it describes well enough how forces change, and the coming step is linearised with it.
    bool (*stands_in)(void *self);

    // ---- what hosts look at; NULL: nothing to tell ---------------------------------------------------------------------------
    PliIndex (*element_count)(void *self);
    /// Elements that are inside out or not a number, and the first of them.
    PliIndex (*inverted)(void *self, const double *x, PliIndex *first);
    /// The same where forces were last added, if that told on the way; false: it did not. NULL: it never does.
    bool (*noted_inverted)(void *self, PliIndex *count, PliIndex *first);
    /// sum[0], sum[1] of each point (3 doubles each) += von Mises stress x weight, Pa, and weight.
    void (*add_von_mises)(void *self, const double *x, double *sum);

    // ---- points in blocks (PliSchemeStatic.block); NULL or false: solvers take it from `blocks` ------------------------------
    // Unknown c n + p of a block of n points is component c of its point p.
    bool (*couplings)(void *self, PliIndex n, PliBlocksFn *fn, void *user); ///< which blocks of n points couple
    /// K times k straight into the blocks `place` gives room for, `stride` doubles per row.
    bool (*add_blocks)(void *self, PliIndex n, double k, PliBlockPlaceFn *place, void *user, size_t stride);
    /// The diagonal blocks only: [points / n, 3 n, 3 n] += k K.
    bool (*add_diagonal_blocks)(void *self, PliIndex n, double k, double *blocks);

    // ---- elements with four corners; NULL or false: there are others, and solvers take them from `blocks` --------------------
    bool (*corners)(void *self, const PliIndex **corner,
                    PliIndex *count); ///< [count, 4], compact numbers, until the next cut
    /// Blocks of k K straight to value + 9 place, six places per element: pairs of corners 10 20 30 21 31 32, with the highest bit for
    /// the transposed block. Blocks of a corner with itself are left to the caller: rows sum to zero.
    void (*add_corner_blocks)(void *self, double k, const PliIndex *place, double *value);
} PliForceOps;

// ---- linear solvers ----------------------------------------------------------------------------------------------------------

/// The matrix of an implicit step over active points, A = mass_factor M + stiffness_factor W^T K W + tethers, and the identity
/// where a point is fixed. It is never assembled unless a solver does so. A view, valid during the call.
typedef struct PliStepMatrix {
    PliIndex count;                       ///< active points, three unknowns each
    double mass_factor, stiffness_factor; ///< 0 while a pattern is made
    const double *x;                      ///< compact points where K was made
    const double *mass;                   ///< kg, lumped, per point
    const PliIndex *mass_first;           ///< consistent mass by rows, or NULL: lumped
    const PliIndex *mass_column;
    const double *mass_value;
    const uint8_t *fixed;
    /// Tethers: points of the body that contact or a host hold, each a row over active points and a symmetric matrix
    /// (xx yy zz yz xz xy, N s2/m: h2 stiffness + h damping). Rows list whole blocks where points come in blocks.
    PliIndex tether_count;
    const PliIndex *tether_first, *tether_column;
    const double *tether_weight, *tether_matrix;
    PliIndex block; ///< see PliSchemeStatic
    bool dense;     ///< see PliSchemeStatic
    bool again;     ///< all but the tethers is as it was when this was last prepared
    struct PliSystem *system;
} PliStepMatrix;
PLI_API void pli_step_matrix_apply(const PliStepMatrix *a, const double *p, double *y); ///< y = A p; p and y differ
/// Blocks of W^T K W over active points; those of one pair add up.
PLI_API void pli_step_matrix_stiffness(const PliStepMatrix *a, PliBlockFn *fn, void *user);
/// The same for the pattern: every pair that may couple by stiffness, values are of no use.
PLI_API void pli_step_matrix_pattern(const PliStepMatrix *a, PliBlockFn *fn, void *user);

typedef enum PliPrepared {
    PLI_PREPARED_FAILED,     ///< no step is possible
    PLI_PREPARED_EXACT,      ///< solve is the answer
    PLI_PREPARED_NEAR,       ///< solve preconditions an iteration
    PLI_PREPARED_INDEFINITE, ///< exact, but A has negative eigenvalues: the body asks again with a definite K
} PliPrepared;

/// Coefficients that forces act on and whose motion is asked for, through the rows of W that they are.
typedef struct PliTouched {
    PliIndex count;
    const PliIndex *dof;
    PliRows rows;             ///< W: dofs from active dofs
    const PliIndex *position; ///< active dof -> active point
    const uint8_t *is_fixed;  ///< per dof
} PliTouched;

/// A linear solver or preconditioner. Those of the scheme are asked first, then the library's own; the first that takes a cut
/// solves it until the cut changes.
typedef struct PliLinearOps {
    const char *name;
    bool (*takes)(void *self, const PliStepMatrix *a, PliLinearSolver wish);
    /// Once, before the first step: up to `capacity` points can be active, `limit` of them by the user's wish (0: no limit).
    /// NULL: nothing to reserve.
    PliStatus (*reserve)(void *self, PliIndex capacity, PliIndex limit);
    /// The cut, or what tethers join, is another one. May allocate. NULL: nothing to do.
    PliStatus (*pattern)(void *self, const PliStepMatrix *a);
    bool (*outgrown)(void *self, const PliStepMatrix *a); ///< tethers need another pattern; NULL: never
    PliPrepared (*prepare)(void *self, const PliStepMatrix *a);
    /// x = A^-1 b, or nearly; b and x differ. NULL: iterations go without.
    void (*solve)(void *self, const PliStepMatrix *a, const double *b, double *x);
    /// y = A p without tethers, as prepare assembled it. NULL: by the forces, element by element.
    void (*apply)(void *self, const PliStepMatrix *a, const double *p, double *y);
    /// Eight at once, in place: x and work have shape [3 count, 8]. NULL: one after the other.
    void (*solve_eight)(void *self, const PliStepMatrix *a, double *x, double *work);
    /// c [3 count, 3 count] = factor B^T A^-1 B with the touched coefficients as columns of B. May allocate, when more is touched than
    /// before. False: no memory. NULL: by eight solves at once.
    bool (*condense)(void *self, const PliStepMatrix *a, const PliTouched *b, double factor, double *c);
    /// Internal forces f on active points at a->x, when a step begins: a method whose stiffness stands in for the true one judges itself
    /// by how they changed. NULL: it does not.
    void (*watch)(void *self, const PliStepMatrix *a, const double *f);
    void (*spent)(void *self, int iterations); ///< what the last solve took with it as preconditioner; may be NULL
    bool
        notices; ///< an indefinite A is noticed (also by CG): the exact K, which follows the motion better, is tried first
    bool tethered; ///< prepare takes tethers exactly, and costs little where nothing but them has changed
    bool responds; ///< solve is exact and may be used between steps: pli_body_response, pli_body_compliance
    /// What iterations with it as preconditioner may leave of the right-hand side, where that is more than the tolerance: 0, or NULL:
    /// never. For methods that stand in for the true stiffness in most steps, and so leave more than that there.
    double (*enough)(void *self);
    /// x = A^-1 (b + T^T force) with the rows T of the tethers and a Vec3 for each of them: rounds of contact, which push nowhere else.
    /// is_new: b is another one than in the call before. False: nothing was done, and `solve` has to. NULL: it always has.
    bool (*solve_pressed)(void *self, const PliStepMatrix *a, const double *b, bool is_new, const double *force,
                          double *x);
    /// How tethered points answer without their tethers: *free to b, a Vec3 each, *answer to forces on any of them, [3 count, 3 count],
    /// until the next call of anything; then prepare has to come. False: it does not know. NULL: it never does.
    bool (*answers)(void *self, const PliStepMatrix *a, const double *b, bool is_new, const double **answer,
                    double **free);
} PliLinearOps;

typedef struct PliLinearMethod {
    const PliLinearOps *ops;
    void *self;
} PliLinearMethod;

// ---- the scheme --------------------------------------------------------------------------------------------------------------

typedef struct PliTetRest PliTetRest;
enum { PLI_BLOCK_MAX = 8 }; ///< points in a block

/// What never changes after creation. Arrays stay the scheme's, for the body's life.
typedef struct PliSchemeStatic {
    PliIndex dof_count;
    const double *rest; ///< dof_count Vec3
    const uint8_t *dof_level;
    int level_count;
    /// Consecutive coefficients that come and go together, all of them in a cut or none: solvers and tethers take them as one. 0 or
    /// 1: none, up to PLI_BLOCK_MAX.
    PliIndex block;
    bool
        dense; ///< a coefficient couples with dozens of others: beyond some thousands a factor costs more than iterations
    PliIndex point_entries;       ///< active coefficients a point hangs on, on average; 0: as tetrahedra have them
    double mass;                  ///< kg, when it is not the sum of the loads (bases that do not sum to one); 0: it is
    const uint64_t *row_revision; ///< per dof: cut revision at which its row of W last changed; NULL: unknown
    // capacities of whatever a cut may hold
    PliIndex active_capacity, slave_capacity;
    bool active_grows; ///< room for active coefficients is taken as cuts need it, not for all of them at creation
    size_t slave_entry_capacity;
    size_t
        mass_entry_capacity; ///< 0: the mass of a cut, if it has one, stays where it is until the next, and is not copied

    // default forces
    const PliIndex *tets;       ///< of all levels, in dof numbers
    const PliTetRest *tet_rest; ///< NULL: made from `rest`
    PliIndex tet_count;
    PliIndex element_capacity, sample_capacity;
    size_t sample_entry_capacity;
    bool sample_cells;   ///< samples mostly come eight by eight with the same points
    bool sample_poisson; ///< cuts may have it
    // or the scheme's own, of which `force_self` stays the scheme's
    const PliForceOps *force;
    void *force_self;
    /// Or default forces, with a stiffness of the scheme's own in implicit steps (its linearize, add_dforce and blocks, on active
    /// points): one that is known beforehand and factored once, taken while its `stands_in` says so. NULL: the true one.
    const PliForceOps *tangent;
    void *tangent_self;
    const PliLinearMethod *methods; ///< solvers of the scheme's own, best first
    int method_count;

    // the body's own finest surface, used as skin until another is attached (may be NULL)
    const double *surface_points;
    PliIndex surface_point_count;
    const PliIndex *surface_tris;
    PliIndex surface_tri_count;
    bool sparse_contact; ///< of a scheme of one level: see PliFemDef
    /// m, per level: how far apart coefficients at the surface are where it is the finest that is live. Tools then touch points of a skin
    /// about as far apart. NULL: they touch all, but for sparse_contact and what follows an accuracy.
    const double *level_spacing;
} PliSchemeStatic;

typedef struct PliSchemeOps {
    const char *name; ///< as in scenes
    void (*destroy)(void *self, const PliHost *host);
    /// First cut, and the one a reset returns to.
    void (*reset)(void *self);
    void (*cut)(void *self, PliCut *cut); ///< fills a zeroed one
    /// Decides and applies splits and merges; x and v (full length) are handed over for every coefficient that becomes
    /// active, with mass, momentum and energy rules of doc/schemes. Returns true when the cut changed. NULL: not adaptive.
    bool (*adapt)(void *self, PliBody *body, double *x, double *v, double dt);
    /// W for all passive coefficients (full length), for hosts that look at them. NULL: there are none.
    void (*spread)(void *self, double *x);
    /// Rows of W (all dofs from active ones). Valid until the cut changes. All are empty when there is no memory for them.
    PliRows (*transfer)(void *self);
    // Optional, for schemes with many more coefficients than are live at a time: the skin then costs no more than its own points.
    /// Writes the values of the listed passive dofs (and of whatever they follow) from the active ones in x.
    void (*follow)(void *self, const PliIndex *dof, PliIndex count, double *x);
    /// Inside pli_body_before_event: whether the event makes another row of W for one of these dofs. NULL: it may for any.
    bool (*changes_rows)(void *self, const PliIndex *dof, PliIndex count);
    /// Rows of which only the listed ones have to be right.
    PliRows (*transfer_rows)(void *self, const PliIndex *dof, PliIndex count);
    /// f += forces of the scheme's own on active coefficients (by active position), held during the coming step. May be NULL.
    void (*add_force)(void *self, double *f);
    PliIndex (*place)(const void *self, PliIndex dof); ///< see pli_body_dof_place; NULL: every coefficient is a place
    unsigned criteria;                       ///< kinds it can judge by, bits 1 << PLI_BY_...; 0: it is not adaptive
    bool accurate;                           ///< it takes criterion.accuracy
    bool density_by_place, poisson_by_place; ///< it takes dense_regions, poisson_regions
    bool judges_forces;                      ///< see pli_body_judges_forces
    bool
        announces; ///< adapt calls pli_body_before_event before each; otherwise the body expects a change everywhere each time
    bool
        keeps_fixed; ///< what announces also calls pli_body_keep_fixed before it writes passive entries of x or v elsewhere
    /// Point -> coefficients at the finest level: fills up to `capacity` columns, returns how many. Used to attach skins.
    PliIndex (*locate)(void *self, const double point[3], PliIndex *column, double *weight, PliIndex capacity);
    /// The same from the coefficients of one level, up to four of them (0: never alone), and the level that is all the cut is (-1: there is none):
    /// then skins hang on it directly. Both or neither. NULL: they always hang on the finest level, and what that follows.
    PliIndex (*locate_at)(void *self, int level, const double point[3], PliIndex column[4], double weight[4]);
    int (*only_level)(const void *self);
    /// Told when the host chooses the coefficients it moves itself (dof_count flags); a scheme keeps them active, or knows where they are. May be NULL.
    void (*pin)(void *self, const uint8_t *fixed);
    /// The definition is about to change while the body runs: the scheme brings what it has made of it up to date, or refuses with a
    /// sentence and changes nothing. The density never changes. A recut follows. NULL: nothing was made of it.
    PliStatus (*retune)(void *self, const PliBodyDef *def, PliError *err);
    bool (*is_valid)(const void *self, PliError *err); ///< whole-structure check, for tests; may be NULL
} PliSchemeOps;

typedef double PliMaterialFn(const PliBodyDef *def, const double p[3]); ///< as pli_body_def_density
/// Mean over points spread evenly in a tetrahedron at rest.
PLI_API double pli_body_def_tet_mean(const PliBodyDef *def, PliMaterialFn *value, const double *rest,
                                     const PliIndex tet[4]);
PLI_API void pli_body_def_forget_regions(PliBodyDef *def); ///< they are the caller's

/// Makes a body around a scheme object; takes ownership of `self` (also on failure).
PLI_API PliBody *pli_body_create(const PliHost *host, const PliBodyDef *def, const PliSchemeOps *ops, void *self,
                                 const PliSchemeStatic *statics, PliError *err);
/// A body in two forms: `own` acts where it has kept the accuracy (percent of the largest displacement) beside `fallback`, and costs less.
/// Takes ownership of both (also on failure). Coefficients of the fallback come first.
PLI_API PliBody *pli_body_of_forms(const PliHost *host, PliBody *fallback, PliBody *own, double accuracy,
                                   PliError *err);
/// The body of the scheme itself: `body`, or the own form of one that has two. Its coefficients begin at `shift`; `acts`: it is not
/// asleep. Both may be NULL.
PLI_API const PliBody *pli_body_own_form(const PliBody *body, PliIndex *shift, bool *acts);
/// A criterion the scheme can judge by; pli_body_create asks the same, this is for refusing before work starts.
PLI_API PliStatus pli_body_check_criterion(const PliSchemeOps *ops, const PliCriterionDef *c, PliError *err);
/// The integrator of a definition: what PLI_INTEGRATE_USUAL stands for with this scheme.
PLI_API PliIntegrator pli_body_def_integrator(const PliBodyDef *def, const PliSchemeOps *ops);
/// Its rates: PLI_RATES_AUTO are elements' own with an accuracy, where sets are chosen for what they cost so.
PLI_API PliRates pli_body_def_rates(const PliBodyDef *def);
PLI_API void *pli_body_self(PliBody *body);                               ///< the `self` it was made with
PLI_API bool pli_body_uses(const PliBody *body, const PliSchemeOps *ops); ///< the body is one of this scheme
/// Compacts the scheme's present cut again (after it changed inside adapt). Never allocates, but for the pattern of a solver.
PLI_API void pli_body_recut(PliBody *body);
PLI_API uint64_t pli_body_revision(const PliBody *body); ///< grows with every recut
PLI_API PliLiveView pli_body_live(const PliBody *body);  ///< of the present cut (of the form that acts, in its numbers)
/// Evaluations of every element that a step of dt costs as much as, where one substep may take so long: by substeps, by an
/// implicit solve, or by what the definition leaves to us. Counts, not times.
PLI_API double pli_body_step_evaluations(const PliBodyDef *def, double dt, double substep);
PLI_API bool pli_body_is_live(const PliBody *body, PliIndex dof); ///< active or slave in the present cut
/// Options of explicit steps: the semi-implicit filter in increment form, and the change of speed that halves substeps (0: off).
/// Once, right after creation: allocates.
PLI_API PliStatus pli_body_set_explicit(PliBody *body, bool filter, double speed_change);
PLI_API PliStats *pli_body_stats_mutable(PliBody *body); ///< schemes count events, energies, refusals here

// ---- inside adapt -------------------------------------------------------------------------------------------------------------

/// Remembers what the skin shows within `radius` of `centre` (at rest), so that an event there does not move it. x as given to
/// adapt; passive entries are written.
PLI_API void pli_body_before_event(PliBody *body, double *x, const double centre[3], double radius);
PLI_API const PliState *pli_body_state(const PliBody *body);            ///< the host's
PLI_API const PliTool *pli_body_tools(const PliBody *body, int *count); ///< as the host placed them
PLI_API bool pli_body_is_tethered(const PliBody *body);     ///< contact or the host held points in the last step
PLI_API bool pli_body_is_constrained(const PliBody *body);  ///< pli_body_constrain holds points of it
PLI_API const uint8_t *pli_body_fixed(const PliBody *body); ///< per dof: 1 where it does not accelerate
/// The host's values of fixed coefficients are set aside until `adapt` returns, if they are not yet.
PLI_API void pli_body_keep_fixed(PliBody *body);
/// Where the host has the fixed ones (dof_count Vec3).
PLI_API void pli_body_fixed_values(const PliBody *body, const double **x, const double **v);
/// A fixed coefficient becomes live at p, where what it followed carried it. It goes from there back to its place, in some
/// tenths of a second: put there at once it would kick its neighbours, or the event would be refused for its energy.
PLI_API void pli_body_lead_astray(PliBody *body, PliIndex dof, const double p[3]);
/// Internal forces at (x, v), on the points of pli_body_live. An implicit step that follows takes them over.
PLI_API const double *pli_body_evaluate(PliBody *body, const double *x, const double *v);
/// f += forces of the host (f_ext, external) and of the tools, on all coefficients of the finest level, not reduced.
PLI_API void pli_body_add_external_forces(PliBody *body, const double *x, const double *v, double dt, double *f);

// ---- shadows ------------------------------------------------------------------------------------------------------------------
// A shadow is a coarser body that lives through the same as another: tools, gravity, fixed coefficients, skin. What the two differ by
// is measured on the skin, whatever the error comes from: elements that are too stiff, a contact, a phase.

/// Coefficient i of the shadow is first + i of the body; points of its skin are `spacing` (m) apart, or all of the body's (0): what tools
/// touch is most of the cost of a small body. Takes ownership, also on failure. Right after creation: allocates.
PLI_API PliStatus pli_body_add_shadow(PliBody *body, PliBody *shadow, PliIndex first, double spacing, PliError *err);
PLI_API void pli_body_shadow_state(PliBody *body, int k, double **x, double **v); ///< of shadow k, to look at or to set
/// Inside adapt: shadow k makes the coming step. @return false: forces or constraints of the host act, or it failed; it is of no use
PLI_API bool pli_body_step_shadow(PliBody *body, int k, double dt);
/// m, RMS over the area of the skin.
PLI_API double pli_body_shadow_distance(PliBody *body, int k, const double *x);
/// m2, means over the area of the skin: squares of the way from shadow k to the body and of that from shadow `coarser` to k, and their
/// product. Where errors are a field that shrinks with the size the two ways are parallel. m2/s2 and m2/s: of the speeds of shadow k and of
/// the mean of both, and their products with the ways; where the error is a phase that lags a way is a time times a velocity.
typedef struct PliShadowGaps {
    double fine, coarse, product;
    double speed, lag, coarse_speed, coarse_lag;
} PliShadowGaps;
/// Between the body at x, shadow k and shadow `coarser`.
PLI_API PliShadowGaps pli_body_shadow_gaps(PliBody *body, int k, int coarser, const double *x);
/// From the coming step on the skin that is shown (pli_body_skin_positions) goes on beyond the body by `weight` times the way from shadow k,
/// which has to make every step (Richardson's extrapolation); contact and coefficients know nothing of it. k < 0: no more of it.
/// The weight is approached within a tenth of a second; with another shadow or level what would jump fades.
PLI_API void pli_body_extrapolate(PliBody *body, int k, double weight);

// of the default forces; of a scheme with its own: NaN, NULL, nothing
PLI_API double pli_body_energy_density(const PliBody *body, const double F[9]); ///< J/m3 of the material at F
/// -V P of every sample at the last evaluation ([sample_count, 9], row-major), until the next.
PLI_API const double *pli_body_sample_stress(const PliBody *body);
PLI_API void pli_body_set_sample_s0(PliBody *body,
                                    const double *s0); ///< see PliCut.sample_s0; the rest of the cut stays

#ifdef __cplusplus
}
#endif
#endif
