/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_OCTREE_H
#define PLI_OCTREE_H

// The scheme: a tree, an active set, the forces between active particles, and how particles are handed over.
//
// Coefficients: cells, walls, and three *axes*: directions that turn with the body and say where what lies beside a row of particles is. They are driven, weigh nothing, and no force acts on them.

#include <pliant/octree.h>
#include "adapt/criterion.h"
#include "adapt/governor.h"
#include <pliant/scheme.h>
#include "scheme/octree/operator.h"

enum { PLI_OCTREE_FRAME = 24 }; ///< most neighbours a frame is made of

/// Local coordinates of an active cell from its active neighbours: F = sum (x_j - x_cell) g_j^T + axes normal^T.
typedef struct PliOctreeFrame {
    PliIndex cell, count;
    PliIndex neighbour[PLI_OCTREE_FRAME];
    double grad[3 * PLI_OCTREE_FRAME];
    double missing[9]; ///< projector on the directions that the neighbours do not span
    bool is_thin;
} PliOctreeFrame;

/// How far the particles around a cell, on its level, are from a linear field: scale |sum weight (x - x_cell)|.
typedef struct PliOctreeBent {
    PliIndex count, near[26];
    double weight[26], scale; ///< scale 0: not looked at yet
} PliOctreeBent;

typedef struct PliOctree {
    PliHost host;
    PliOctreeDef def;
    PliOctreeTree *tree;
    PliOctreeActive active;
    PliOctreeOperator op;
    // What is decided is carried out when its operator is made, some steps later. In between `active` and `op` are those of the body.
    PliOctreeActive next_active; ///< as decided; the same as `active` when nothing is planned
    PliOctreeOperator next;
    PliIndex *planned,
        planned_count; ///< events that lead there, in order: a cell that splits, a mother whose daughters merge
    bool next_ready, carrying_out; ///< its operator is made; the cut that is asked for is that of the plan
    bool op_is_made;               ///< `op` is that of `active`: a cut that others ask for lets the plan be
    PliIndex dof_count, wall_first, axis_first, axis_count;
    double *rest;            ///< dof_count Vec3
    uint8_t *level;          ///< per dof
    uint8_t *is_held;        ///< per wall
    const uint8_t *fixed;    ///< per dof, the host's; NULL: none
    uint8_t *stays_split;    ///< per cell: something below it is fixed and it is not
    double *place;           ///< per cell: Vec3 from its mother, in the frame of its nearest active ancestor
    double *seat;            ///< the same in the turned frame of its mother: where a split puts it
    PliOctreeFrame *frame;   ///< per cell, of the active ones
    uint8_t *frame_is_stale; ///< per cell
    double rotation[9];      ///< of the body, for the axes
    uint64_t revision;       ///< grows with the active set and with places

    // W
    double *sum; ///< per dof, 0 between calls
    PliIndex *touched, touched_count;
    PliIndex *row_first, *row_column;
    double *row_weight;
    size_t row_capacity;
    uint64_t rows_revision; ///< what all rows stand for; 0: nothing

    // cut
    PliIndex *cut_active, *cut_slave, *cut_first;
    double *cut_mass;
    uint8_t *cut_driven;

    // adaptivity
    PliCriterion criterion;
    PliGovernor governor;
    bool decided;
    PliIndex carried_out; ///< events in the last step
    double prepared_ms;   ///< CPU time that its step took for the operator to come
    double since_look;    ///< s, since what is planned was decided
    double lag;           ///< s, that it took the last time
    PliIndex *patch;      ///< cells whose motion pays for an event
    double *patch_mass;
    uint8_t *in_patch;
    PliIndex patch_count;
    PliIndex *fresh, fresh_count; ///< cells that were split in this decision
    uint8_t *mark;                ///< per point of an operator: comes or goes
    double *drift;                ///< Vec3 per cell: what the last move of relaxing was
    double turn[9];               ///< at the last linearize
    double *scratch;
    const double *force; ///< internal ones, while judging
    double *uneven;      ///< per cell, while judging; < 0: not known
    PliOctreeBent *bent; ///< per cell that has daughters

    double *surface_points;
    PliIndex *surface_tris, surface_point_count, surface_tri_count;
} PliOctree;

// octree.c
PliStatus pli_octree_limit_speed(PliBody *body, const PliOctreeDef *def); ///< by `speed_change` and the material

// frame.c
const PliOctreeFrame *pli_octree_frame(const PliOctree *s,
                                       PliIndex cell); ///< of an active cell, until its neighbours change
/// With the walls that hold the cell, too: daughters are put by it.
PliOctreeFrame pli_octree_event_frame(const PliOctree *s, PliIndex cell);
void pli_octree_frame_gradient(const PliOctree *s, const PliOctreeFrame *f, const double *x, double F[9]);
/// The same, with the directions that neighbours do not span turned along with those that they do, so that daughters stand square to a bent row.
void pli_octree_frame_turned(const PliOctree *s, const PliOctreeFrame *f, const double *x, double F[9]);
/// How fast that changes.
void pli_octree_frame_rate(const PliOctree *s, const PliOctreeFrame *f, const double *x, const double *v, double F[9]);
void pli_octree_spread(void *self, double *x);
void pli_octree_spread_judged(const PliOctree *s,
                              double *x); ///< cells that have daughters alone: those that are judged
void pli_octree_follow(void *self, const PliIndex *dof, PliIndex count, double *x);
PliRows pli_octree_rows(void *self);
PliRows pli_octree_rows_of(void *self, const PliIndex *dof, PliIndex count);
PliIndex pli_octree_locate(void *self, const double point[3], PliIndex *column, double *weight, PliIndex capacity);

// event.c
void pli_octree_split_cell(PliOctree *s, PliIndex cell, double *x, double *v);
void pli_octree_merge_cell(PliOctree *s, PliIndex mother, double *x, double *v);
void pli_octree_turn_axes(PliOctree *s, double *x, double *v, double dt);

// forces.c
extern const PliForceOps pli_octree_force_ops;

// adapt.c
bool pli_octree_adapt(void *self, PliBody *body, double *x, double *v, double dt);
void pli_octree_forget_plan(PliOctree *s); ///< what was decided and is not carried out yet

// settle.c
/// Carries out what is planned: state, sets and operator; with the energy that this takes or gives.
void pli_octree_carry_out(PliOctree *s, PliBody *body, double *x, double *v);

#endif
