/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_WAVELET_H
#define PLI_WAVELET_H

// What the files of the wavelet scheme share.

#include <pliant/wavelet.h>

#include "adapt/criterion.h"
#include "adapt/governor.h"
#include "scheme/wavelet/lattice_shape.h"
#include "scheme/wavelet/rest_stiffness.h"
#include "kernel/elastic_state.h"

enum { PLI_WAVELET_LEVELS = 5 };

/// A level: its lattice, and how it comes from the coarser one.
typedef struct PliWaveletLevel {
    PliLattice *lattice;
    PliTransfer *rows; ///< vertices from those of the level before; NULL at level 0
    PliShapes *shapes;
    PliBlockMatrix
        *even; ///< of the normal equations of the even part, for analysis; NULL at level 0, and until somebody asks
    PliIndex dof_first;                ///< coefficient of control vertex 0
    PliIndex *child_first;             ///< per cell + 1: its cells in the next level
    PliIndex *support_first, *support; ///< per vertex: cells of this level its function lives in
    double singular;
    double *stiff;  ///< per cell: mean factor of Young's modulus; NULL: 1 everywhere
    double *moduli; ///< [cells, 2]: mean of both of Lame's, over Young's modulus; NULL: the same everywhere
    // finest level; NULL: the same everywhere
    double *dense; ///< per cell: mean factor of density
    // of bodies inside a surface; NULL otherwise
    uint8_t *share; ///< per cell: PLI_CELL_...
    double *octant; ///< [cells, 8, 4], octants by bits x, y, z: m3 inside, and their middle in the cell
    uint64_t *mask; ///< per irregular cell: pieces that count
} PliWaveletLevel;

enum { PLI_CELL_EMPTY, PLI_CELL_CUT, PLI_CELL_FULL };

/// A point of integration inside a cell.
typedef struct PliWaveletPoint {
    double u[3], weight; ///< of the cell, or of its piece `part`
    PliIndex part;
} PliWaveletPoint;
enum { PLI_WAVELET_POINTS = 1024 }; ///< most of one cell

struct PliTriangleTree;

/// Two functions that meet, in the row of the later one; pairs that are alike have one block, see blocks.c for its code.
typedef struct PliPair {
    PliIndex column, code;
} PliPair;

/// Candidates, and those of them whose residual is wanted.
enum { PLI_LISTED = 1, PLI_ASKED };

typedef struct PliWavelet {
    PliHost host;
    PliWaveletDef def; ///< borrowed pointers inside are not used after creation
    PliLame lame;
    int level_count; ///< 1 + levels of detail
    PliWaveletLevel level[PLI_WAVELET_LEVELS];
    PliIndex count; ///< functions: vertices of the finest level
    PliIndex dof_count;
    double *rest, *place;
    uint8_t *dof_level;
    double volume, total_mass, size;
    PliIndex *tris;  ///< of the finest surface ...
    double *surface; ///< ... and its points
    PliIndex surface_count, tri_count;
    PliShapes
        *smooth; ///< of the finest level, where the body is seen as the smooth limit of its vertices; NULL: it is not
    PliLocator *locator;    ///< over tetrahedra in the pieces of finest cells, as they are seen
    PliIndex *locator_cell; ///< per six tetrahedra: finest cell and piece
    PliIndex piece_count;
    // bodies inside a surface: embed.c
    PliInside *inside;            ///< NULL: the body fills its lattice
    struct PliTriangleTree *tree; ///< of the surface
    PliWaveletPoint *points;      ///< scratch
    uint8_t *dropped;             ///< per function: hardly reaches into the body; NULL: none
    PliTransfer *merge;           ///< vertices of level 0 from those that are not dropped; NULL: all are there
    PliIndex base_count;          ///< functions of level 0 that are always on

    // every pair of functions that meet, lower triangle by rows: see pli_wavelet_pairs_of
    PliIndex *pair_first;          ///< per function: bytes of its row
    uint8_t *pair_byte;            ///< columns
    PliIndex *pair_run;            ///< per row and level: where its blocks are ...
    PliIndex *run_code;            ///< ... in here: rows that are alike by translation share them
    PliPair *pair_row;             ///< one row, as it was last read
    PliIndex pair_width;           ///< of the longest
    size_t pair_count, base_pairs; ///< all, and those of level 0
    PliIndex most_codes;           ///< that there are different ones of
    double *block_stiffness;       ///< N/m, [blocks, 9]
    double *block_mass;            ///< kg
    PliIndex block_count;
    double *load;       ///< kg, int rho N
    double *mean;       ///< 1/m, int grad N / V
    PliIndex *own_code; ///< per function: of it with itself; PLI_NONE: it is dropped
    size_t byte_capacity, run_capacity, block_capacity;
    // control vertices from functions
    PliIndex *row_first, *row_run; ///< per coefficient from `count` on: its bytes, and where its weights are ...
    uint8_t *row_byte;             ///< columns
    double *run_weight;            ///< ... in here: rows with the same ones share them
    PliIndex *row_column;          ///< one row, as it was last read
    PliIndex row_width;            ///< of the longest
    size_t row_bytes, weight_count;
    PliIndex *order; ///< functions, near ones together

    // the cut
    uint8_t *state;                            ///< per function, see below
    PliIndex *active, active_count, *position; ///< position: per function, PLI_NONE when passive
    PliIndex active_room; ///< what follows, and `impulse`, is as long as the active set, one block of each type
    double *cut_mass, *cut_load, *cut_rest, *cut_mean, *work;
    PliIndex *mass_first, *mass_column;
    double *mass_value;
    PliIndex *entry_first, *entry_column, *entry, *cut_order;
    double *own_stiffness, *own_mass; ///< of the paper's transitions, by entry: what is left of its block; NULL: all
    // blocks of the cut, which entries have the numbers of: see blocks.c
    PliIndex *slot, *cut_code, code_count; ///< by hash: PLI_NONE, or a number; its code
    size_t slot_count;                     ///< a power of two; half as many codes fit
    double *cut_stiffness, *cut_block_mass;
    uint8_t *driven;
    PliRestStiffness stiffness;
    PliLinearMethod method;
    PliIndex *slave, slave_count, *slave_first, *slave_column;
    double *slave_weight;
    uint8_t *touched;                   ///< per coefficient: a live sample needs it
    uint8_t *split[PLI_WAVELET_LEVELS]; ///< per cell: finer ones stand for it
    PliIndex *sample_first, *sample_dof;
    double *sample_grad, *sample_volume, *sample_stiffness, *sample_poisson;
    PliIndex sample_count, sample_capacity, slave_capacity;
    size_t sample_entry_capacity, slave_entry_capacity, row_entries, entry_capacity;
    uint64_t revision, base_revision; ///< the second of what functions of level 0 are to each other
    // W of everything, made when somebody asks
    PliIndex *w_first, *w_column;
    size_t w_capacity;
    double *w_weight;
    uint64_t w_revision;

    // adaptation
    uint8_t *fixed;           ///< per coefficient: the host moves it
    uint8_t *candidate;       ///< per function: PLI_LISTED or PLI_ASKED; 0: it is none
    uint8_t *parent;          ///< per function: a finer detail that is on hangs on it
    PliIndex *listed;         ///< candidates, ascending; info.candidates of them
    uint64_t listed_revision; ///< of the cut they are of; 0: of none
    double *outside;          ///< N, [count, 3]: of the host at the last step
    uint64_t fixed_key;       ///< of `fixed`
    double *residual;         ///< N, per coefficient: forces on control vertices, then on functions
    double *motion, *q;       ///< [count, 3]: scratch
    double *
        start; ///< per function: N of the force that fades, or m of the detail that does, in the frame of the rest shape
    double *push;                 ///< N s, [count, 3]: of the coming step, what makes up for velocities that were set
    double *impulse;              ///< N s, by active position: what led details to zero in the last step
    double twist[3];              ///< N m s, of what transitions push by: taken back
    bool pushes, held;            ///< there is a push; the host holds something of level 0
    double *clock;                ///< s since the transition of each function began
    double *v_before;             ///< m/s, [count, 3]: at the beginning of the last step
    double v_dt;                  ///< s, its length; 0: unknown
    double rotation[9], shift[3]; ///< of the body, now
    uint64_t held_key;            ///< of the constraints, and for how many steps they have not changed
    PliIndex quiet;
    PliIndex skip;            ///< decisions that need not be taken: nothing was near the threshold, or few wait
    PliIndex stood;           ///< decisions that were not taken since the last
    uint64_t judged_revision; ///< of the cut at the last decision
    double room;              ///< how far from where it was seen nothing can have changed, m
    PliIndex kept;            ///< decisions since the last that looked at everything
    float *seen;              ///< [count, 3]: at the last decision, turned back; NaN: it was not on
    // of nonlinear laws, otherwise NULL: see still.c
    float *way;    ///< m, per candidate: how far it would have moved when it was last looked at ...
    float *drift;  ///< ... and the body around it has moved since, at most; infinite: there was no look
    uint8_t *wait; ///< decisions it may wait if that is little
    float *swing[PLI_WAVELET_LEVELS]; ///< m, per cell: scratch
    PliIndex fading, faded;           ///< functions in transition, and those of them that wait to be dropped
    double since_change;              ///< s since the cut changed
    PliCriterion criterion;
    PliGovernor governor;
    bool decided;
    double displacement; ///< m
    double *judge_grad;  ///< scratch of one cell
    PliIndex judge_width;
    PliWaveletInfo info;
} PliWavelet;

enum {
    PLI_PASSIVE,
    PLI_ACTIVE,
    PLI_FADING_IN,
    PLI_FADING_OUT,
    // of the paper's transitions: oscillators by themselves, on their way to be one or none, and between that and active
    PLI_SIMPLE,
    PLI_COMING,
    PLI_LEAVING,
    PLI_RISING,
    PLI_SINKING
};

/// What is left of the pairs of a function: of those with others, and of stiffness and mass of its own.
typedef struct PliPaperWeights {
    double others, stiffness, mass;
} PliPaperWeights;

extern const PliSchemeOps pli_wavelet_ops; // wavelet.c
// wavelet_basis.c
PliStatus pli_wavelet_build(PliWavelet *s, const PliWaveletDef *def, PliError *err);
void pli_wavelet_free_basis(PliWavelet *s);
PliIndex pli_wavelet_locate(void *self, const double point[3], PliIndex *column, double *weight, PliIndex capacity);
/// Values (may be NULL) and gradients with respect to the rest place of the cell's vertices. @return the volume element; 0 or less: inside out
double pli_wavelet_rest_point(const PliWaveletLevel *l, PliIndex cell, PliIndex part, const double u[3], double *value,
                              double *grad);
/// Factor of Young's modulus and Poisson's ratio of a cell.
void pli_wavelet_material_of(const PliWavelet *s, int level, PliIndex cell, double *stiffness, double *poisson);
/// Gauss points of a cell for forces: gradients [samples, width, 3] and volumes of the cell's vertices. @return samples, 0: inside out
PliIndex pli_wavelet_samples(const PliWavelet *s, int level, PliIndex cell, double *grad, double *volume);
enum { PLI_WAVELET_SAMPLES = 8 };
void pli_wavelet_place_of(const PliWavelet *s, PliIndex cell, PliIndex part, const double u[3], double p[3],
                          double J[9]); ///< in a finest cell; J may be NULL
// embed.c
/// Points of a finest cell that are inside the surface; *axis: they are on lines along it, which are on rows along the next axis, and the
/// cell is a box; -1: anywhere. @return how many, 0: it is empty, PLI_NONE: it is full
PliIndex pli_wavelet_cell_points(const PliWavelet *s, PliIndex cell, PliWaveletPoint out[PLI_WAVELET_POINTS],
                                 int *axis);
PliStatus pli_wavelet_find_shares(PliWavelet *s, PliError *err);
/// Weak functions are dropped or follow others; level 1 comes from those that are left. Needs loads of functions.
PliStatus pli_wavelet_merge(PliWavelet *s, PliError *err);
void pli_wavelet_follow_merged(const PliWavelet *s, double *x); ///< dropped vertices of level 0
void pli_wavelet_reduce_merged(const PliWavelet *s, double *f); ///< forces on them go to those they follow
void pli_wavelet_free_embedding(PliWavelet *s);
// rows.c
bool pli_wavelet_make_rows(PliWavelet *s); ///< and the order; false: no memory
void pli_wavelet_free_rows(PliWavelet *s);
/// Functions (s->row_column, valid until the next call) and weights of coefficient `count` + row. @return how many
PliIndex pli_wavelet_row_of(const PliWavelet *s, PliIndex row, const double **weight);
// wavelet_pairs.c
PliStatus pli_wavelet_make_pairs(PliWavelet *s, PliError *err);
void pli_wavelet_free_pairs(PliWavelet *s);
/// Pairs of function `a` with those before it and itself, of levels up to `level`, finer levels first. Valid until the next call. @return
/// how many
PliIndex pli_wavelet_pairs_of(const PliWavelet *s, PliIndex a, int level, PliPair **pairs);
// blocks.c
/// Doubles of so many blocks of a cut: their rows are read four numbers at a time.
static inline size_t pli_wavelet_block_room(size_t blocks) { return 9 * blocks + 1; }
double pli_wavelet_block(const PliWavelet *s, PliIndex code, double out[9]); ///< N/m. @return mass, kg
// r -= K q, and with the transpose of K. @return mass, kg
double pli_wavelet_subtract_block(const PliWavelet *s, PliIndex code, const double q[3], double r[3]);
double pli_wavelet_pair_mass(const PliWavelet *s, PliIndex code); ///< kg
double pli_wavelet_subtract_across(const PliWavelet *s, PliIndex code, const double q[3], double r[3]);
/// Blocks that are alike by more than translation, up to the grid of stiffness and mass, become one; code: what becomes of each. @return
/// false: no memory, and all is as it was
bool pli_wavelet_fold_blocks(PliWavelet *s, const double grid[2], PliIndex *code);
bool pli_wavelet_grow_codes(
    PliWavelet *s); ///< twice the room, those there are stay. @return false: no memory, and all is as it was
void pli_wavelet_forget_codes(PliWavelet *s);
PliIndex pli_wavelet_code_number(PliWavelet *s,
                                 PliIndex code); ///< in the cut; PLI_NONE: it is new, and there is no memory
void pli_wavelet_turn_blocks(PliWavelet *s);     ///< fills the blocks of the cut
void pli_wavelet_free_codes(PliWavelet *s);
/// u = K_aa^-1 f: how far a force would move a function by itself, in the frame of the rest shape. 0 for those that are dropped.
void pli_wavelet_yield(const PliWavelet *s, PliIndex a, const double f[3], double u[3]);
// wavelet_cut.c
PliStatus pli_wavelet_cut_create(PliWavelet *s);
void pli_wavelet_cut_destroy(PliWavelet *s);
bool pli_wavelet_limited(
    const PliWavelet *s); ///< the user has said how many functions there may be: all room is taken at creation
void pli_wavelet_refresh_cut(PliWavelet *s); ///< from `state`
void pli_wavelet_only_base(PliWavelet *s);   ///< `state` as a body begins: level 0
void pli_wavelet_cut(void *self, PliCut *cut);
PliRows pli_wavelet_levels(void *self);
PliRows pli_wavelet_rows_of(void *self, const PliIndex *dof, PliIndex count);        ///< of which only those are right
void pli_wavelet_follow(void *self, const PliIndex *dof, PliIndex count, double *x); ///< only what those hang on
void pli_wavelet_spread(void *self, double *x);
/// Finds `split` for functions whose state is not PLI_PASSIVE, and one level more around them when asked.
void pli_wavelet_split(PliWavelet *s, bool finer);
// wavelet_adapt.c
PliStatus pli_wavelet_adapt_create(PliWavelet *s);
void pli_wavelet_adapt_destroy(PliWavelet *s);
void pli_wavelet_adapt_reset(PliWavelet *s);
bool pli_wavelet_adapt(void *self, PliBody *body, double *x, double *v, double dt);
void pli_wavelet_pin(void *self, const uint8_t *fixed);
/// m, what a detail must be worth to be switched on; x and v are complete afterwards.
double pli_wavelet_find_threshold(PliWavelet *s, const PliBody *body, double *x, double *v);
// paper.c
PliPaperWeights pli_wavelet_paper_weights(const PliWavelet *s, PliIndex a);
/// Transitions of the paper go on, and others begin where a decision is due. @return whether the cut is another one
bool pli_wavelet_follow_paper(PliWavelet *s, PliBody *body, double *x, double *v, double dt, bool due);
// fade.c
/// Before anything switches: what led details to zero in the last step is remembered, to be taken back.
void pli_wavelet_begin_fades(PliWavelet *s, const double *impulse, const double *x, const double *v);
/// Clocks go on; details that fade out get the velocity that takes them there.
void pli_wavelet_advance_fades(PliWavelet *s, double *x, double *v, double dt);
void pli_wavelet_drop_faded(PliWavelet *s);
void pli_wavelet_switch_on(PliWavelet *s, PliIndex a, double *x, double *v);
void pli_wavelet_switch_off(PliWavelet *s, PliIndex a, double *x, double *v);
// wavelet_judge.c
/// What would push each function if it were active: all forces, less what accelerates the body. N, by function; x is complete.
// What need not be looked at again, see still.c.
PliStatus pli_wavelet_still_create(PliWavelet *s);
void pli_wavelet_still_destroy(PliWavelet *s);
void pli_wavelet_still_reset(PliWavelet *s);
void pli_wavelet_forget_ways(PliWavelet *s); ///< the candidates are others
bool pli_wavelet_is_still(const PliWavelet *s, const double *x);
void pli_wavelet_ask(PliWavelet *s, const double *x, double theta, bool all); ///< marks the candidates to look at
PliIndex pli_wavelet_waits(double score);
double pli_wavelet_way(PliWavelet *s, PliIndex a,
                       double theta); ///< m, of a candidate, by its residual or by its last one
double pli_wavelet_room(const PliWavelet *s, PliIndex a, double way, double theta); ///< m, until it is looked at again
/// Of candidates that are asked for.
void pli_wavelet_find_residual(PliWavelet *s, PliBody *body, const double *x, const double *v, double dt);
/// Forces of the host that came at once: s->residual becomes how far, m, they alone would move each function. @return the largest such
/// way; 0: nothing came at once
double pli_wavelet_find_jump(PliWavelet *s, PliBody *body, const double *x, const double *v, double dt);
void pli_wavelet_find_rotation(PliWavelet *s, const double *x);
void pli_wavelet_add_offsets(void *self, double *f);
/// The same set and transitions, for twins of one definition; then transitions go on by dt, and nothing is decided.
void pli_wavelet_mirror(PliBody *to, const PliBody *from, double *x, double *v, double dt);

#endif
