/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_OCTREE_OPERATOR_H
#define PLI_OCTREE_OPERATOR_H

// Internal forces between the particles of an active set. Points are compact: active cells in ascending order, then (after `extra` points
// of the body) the wall points that hold them.
//
// `consistent`: the matter of an octant of a cell is strained by the differences to the three particles it looks at. Where all three
// are of the same level that is a tetrahedron; where one side is free the stress across it is zero, which leaves a membrane; where two
// are, a bar. All of these come from an energy, so their tangent is symmetric and momentum and angular momentum hold to rounding;
// inside the body their sum is the compact second-order stencil, exact on quadratic fields. Faces near a change of level cannot be both
// exact and symmetric: octants there strain by the particles of the other level, which is symmetric, and a *correction* makes up for what that
// is wrong by on quadratic fields, where a cell and all around it are inside the body. What one cell gets by a correction its neighbour loses,
// and the torque that corrections leave is taken out of the whole as a rigid rotation. doc/schemes/octree.md.
//
// `paper`: the printed operators (6) and (9) on displacements, all active neighbours, with their shortcomings.

#include <pliant/body.h>
#include "kernel/elastic_state.h"
#include "scheme/octree/active.h"

/// Across a change of level, next to the surface, a coarse cell and the finer ones that touch one side of it look at each other through the
/// place where those balance: a point that is no coefficient. Points of elements that have PLI_OCTREE_JOINT set are such joints.
enum { PLI_OCTREE_JOINT = 1 << 30 };
typedef struct PliOctreeJoint {
    PliIndex coarse; ///< compact
    int side;        ///< of the coarse cell
    PliIndex count, point[4];
    double weight[4];
} PliOctreeJoint;

typedef struct PliOctreeSample { ///< F = f0 + sum x g^T over at most six points, and an energy of its volume
    PliIndex point[6], count;
    double grad[18], f0[9];
    double volume, damping; ///< m3; s, on top of the material's
} PliOctreeSample;

typedef struct PliOctreeMembrane { ///< strained by x[to] - x[from], twice
    PliIndex from[2], to[2];
    double grad[4];  ///< of the two differences in the plane
    double plane[6]; ///< two unit vectors at rest
    double volume, damping;
} PliOctreeMembrane;

/// What a face next to a change of level lacks to be exact on quadratic fields: f[plus] += R sum B (R^T x - X), f[minus] -= the same,
/// with R the rotation of the fitted gradient.
typedef struct PliOctreeCorrection {
    PliIndex plus, minus, first, count;
    int side;          ///< of plus, where minus is
    double at_rest[3]; ///< sum B X
} PliOctreeCorrection;

enum { PLI_OCTREE_GRAD = 4, PLI_OCTREE_BLOCK = 12 }; ///< numbers of an entry, for sums of four

typedef struct PliOctreeBar {
    PliIndex point[2];
    double length, volume;
} PliOctreeBar;

/// Bending along the surface: energy k |sum c x - o|^2 / 2.
typedef struct PliOctreeBend {
    PliIndex point[24], count, split; ///< split: points on one side, first
    double c[24], o[3], k;
} PliOctreeBend;

/// Where a row one cell wide meets finer cells: the end of those stays square to the row. Energy k (a . b - rest)^2 / 2 with a from a joint to its
/// coarse cell and b across the finer ones, both divided by what they are long at rest.
typedef struct PliOctreeHinge {
    PliIndex joint;
    double along;     ///< 1 / |a|
    double across[4]; ///< b = sum across x over the points of the joint
    double rest, k;
} PliOctreeHinge;

/// Elements by number, a list for each kind.
typedef struct PliOctreeNear {
    PliIndex *tet, *sample, *membrane, *bar, *bend, *hinge, *correction;
    PliIndex tets, samples, membranes, bars, bends, hinges, corrections;
} PliOctreeNear;

typedef struct PliOctreeOperator {
    PliHost host;
    const PliOctreeTree *tree;
    const PliOctreeActive *active;
    bool is_paper;
    PliMaterial material;
    PliLame lame;
    double correction_damping; ///< of octants next to another level, in units of cell size over wave speed

    PliIndex count, wall_count, capacity, wall_capacity; ///< points: active, walls
    PliIndex extra;                                      ///< points between the two that no force acts on
    PliIndex *cell;                                      ///< active point -> cell
    PliIndex *wall;                                      ///< wall point - count - extra -> wall
    PliIndex *position;                                  ///< cell -> point, PLI_NONE
    PliIndex *wall_position;                             ///< wall -> point, PLI_NONE
    double *rest;                                        ///< [count + wall_count, 3]
    double *mass;                                        ///< kg, per active point
    double *step;                                        ///< s, critical step per active point
    uint8_t *skewed;                                     ///< per cell: octants next to a change of level
    uint8_t *is_interior;                                ///< per cell: it and all around it on its level are full
    double *factor;                                      ///< per cell: of Young's modulus, mean by volume; NULL: 1

    PliElastic *elastic; ///< the tetrahedra
    PliIndex tet_count, tet_capacity;
    PliIndex *corner, *which;
    PliTetRest *tet_rest;
    double *tet_volume;
    uint8_t *tet_level;      ///< PLI_OCTREE_MAX_LEVELS: joins two
    int finest;              ///< active level
    int group_count;         ///< levels from the finest active one to the coarsest
    PliIndex group_first[9]; ///< tetrahedra by tick group, finest first
    // the other elements by level, coarsest first; behind those, what is next to another level
    PliIndex sample_level[PLI_OCTREE_MAX_LEVELS + 1], membrane_level[PLI_OCTREE_MAX_LEVELS + 1],
        bar_level[PLI_OCTREE_MAX_LEVELS + 1], bend_level[PLI_OCTREE_MAX_LEVELS + 1];

    PliOctreeJoint *joint;
    PliIndex joint_count, joint_capacity;
    PliIndex *joint_first;                            ///< [count + 1], by coarse point
    double *joint_rest, *joint_x, *joint_v, *joint_f; ///< [joint_count, 3]; the last three while forces are evaluated

    PliOctreeSample *sample;
    PliOctreeMembrane *membrane;
    PliOctreeBar *bar;
    PliOctreeBend *bend;
    PliOctreeHinge *hinge;
    PliOctreeCorrection *correction;
    PliIndex sample_count, membrane_count, bar_count, bend_count, hinge_count, correction_count, entry_count;
    PliIndex correction_capacity, entry_capacity;
    PliIndex *entry_point;
    double *entry_grad;      ///< [.., PLI_OCTREE_GRAD], three and a zero
    double *entry_block;     ///< [.., PLI_OCTREE_BLOCK], three columns of a matrix, each with a zero behind it
    uint32_t *looks;         ///< per cell, of the active ones: what stands at each side
    PliIndex *correction_at; ///< [cells, 6]: correction of plus, by side, or PLI_NONE
    bool is_stale;           ///< made for another material
    PliIndex kept_count;     ///< corrections that were taken over

    // while it is made
    const struct PliOctreeOperator *old; ///< that corrections are taken over from; NULL: none
    int stage;
    PliIndex next; ///< point, or joint, that comes next in this stage

    PliOctreeNear near;   ///< of the last pli_octree_find_near
    PliIndex uncorrected; ///< faces that should have a correction and have none: no room, or too few neighbours
    double *diagonal;     ///< [count, 9] df/dx of a point by itself, scratch of the build
    double *viscosity;    ///< [count] N s/m of the same, of what is next to another level

    // paper
    PliIndex *row_first; ///< into entry_point, entry_grad (unit vector), entry_length
    double *entry_length, *row_scale;
} PliOctreeOperator;

static inline double pli_octree_factor(const PliOctreeOperator *o, PliIndex cell)
{
    return o->factor ? o->factor[cell] : 1.0;
}

/// Of matter that is free across a plane: stress = 2 mu strain + plane tr(strain) I.
static inline double pli_octree_plane_lambda(const PliLame *m)
{
    return 2.0 * m->lambda * m->mu / (m->lambda + 2.0 * m->mu);
}

PliStatus pli_octree_operator_init(PliOctreeOperator *o, const PliOctreeActive *active, const PliMaterial *material,
                                   bool is_paper, PliError *err);
/// Stiffness by place, once after init; without regions nothing happens.
PliStatus pli_octree_operator_set_regions(PliOctreeOperator *o, const PliBodyDef *def, PliError *err);
void pli_octree_operator_free(PliOctreeOperator *o);
void pli_octree_operator_set_material(PliOctreeOperator *o, const PliMaterial *material);
/// Begins to make it for the present active set; walls where `is_held` (per wall, NULL: none) hold their cells. Corrections whose surroundings
/// are the same in `old` (NULL: none) are taken over; both sets and `old` stay as they are until it is made. Never allocates.
void pli_octree_operator_begin(PliOctreeOperator *o, const uint8_t *is_held, const PliOctreeOperator *old);
/// Goes on with about so much work, an octant being 1, and takes it from that. @return whether it is made
bool pli_octree_operator_continue(PliOctreeOperator *o, double *work);
void pli_octree_operator_build(PliOctreeOperator *o, const uint8_t *is_held); ///< all at once
/// The two change places, their active sets do not.
void pli_octree_operator_swap(PliOctreeOperator *a, PliOctreeOperator *b);
/// s, the smallest, undamped; multirate: with elements that tick by groups.
double pli_octree_critical_step(const PliOctreeOperator *o, bool multirate);
void pli_octree_paper_rows(PliOctreeOperator *o); ///< part of the build

// Arrays over points: active ones, then walls.
void pli_octree_add_force(PliOctreeOperator *o, const double *x, const double *v,
                          double *f); ///< v NULL: nothing viscous
/// Of the elements that tick in one group: 0 is the finest active level and all that joins two levels, 1 the next coarser.
void pli_octree_add_force_group(PliOctreeOperator *o, int group, const double *x, const double *v, double *f);
/// df += k K dx with K = df/dx at rest, turned by the rotation R (NULL: not).
void pli_octree_add_linear(const PliOctreeOperator *o, const double *turn, const double *dx, double k, double *df);
double pli_octree_energy(const PliOctreeOperator *o, const double *x);

/// Elements that touch one of the active points marked here: what an event makes or takes away, and what pulls at new particles.
void pli_octree_find_near(PliOctreeOperator *o, const uint8_t *mark);
double pli_octree_near_energy(const PliOctreeOperator *o, const double *x); ///< of those alone
/// Of those alone, nothing viscous; the torque of corrections stays.
void pli_octree_add_near_force(const PliOctreeOperator *o, const double *x, double *f);

#endif
