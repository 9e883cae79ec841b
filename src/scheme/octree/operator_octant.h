/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_OCTREE_OPERATOR_OCTANT_H
#define PLI_OCTREE_OPERATOR_OCTANT_H

// What the files that make an operator share: octants and what they look at.

#include "scheme/octree/operator.h"

typedef enum PliOctreeSideKind { SIDE_FREE, SIDE_POINT, SIDE_WALL } PliOctreeSideKind;
typedef struct PliOctreeSide {
    PliOctreeSideKind kind;
    PliIndex point; ///< compact, unless free
    bool is_skewed; ///< of another level
} PliOctreeSide;

typedef struct PliOctreeOctant {
    PliIndex point;
    PliOctreeSide side[3];
    PliIndex from[3], to[3];        ///< the difference that strains it, per side; joints next to another level
    double across[3][3];            ///< the same at rest; the axis where a side is free
    int known[3], known_count;      ///< sides that are not free
    bool at_wall, skewed, is_quiet; ///< quiet: skewed, with no correction near it
    double volume, size, factor;    ///< volume: times the factor of stiffness, since energies go with both
    double grad[3][3];              ///< of the differences, when known_count is 3 or at_wall
} PliOctreeOctant;

static inline const double *pli_octree_rest_of(const PliOctreeOperator *o, PliIndex point)
{
    return point & PLI_OCTREE_JOINT ? o->joint_rest + 3 * (size_t)(point ^ PLI_OCTREE_JOINT)
                                    : o->rest + 3 * (size_t)point;
}

// octants whose bit says that they look into a direction
static inline uint8_t pli_octree_octants_towards(int side)
{
    static const uint8_t up[3] = { 0xaa, 0xcc, 0xf0 };
    return side & 1 ? up[side >> 1] : (uint8_t)~up[side >> 1];
}

// operator_build.c
/// False when nothing moves in it.
bool pli_octree_octant_of(const PliOctreeOperator *o, PliIndex point, int number, PliOctreeOctant *q);
PliIndex pli_octree_joint_of(const PliOctreeOperator *o, PliIndex coarse, int side); ///< PLI_NONE: there is none

// operator_correct.c
void pli_octree_begin_corrections(PliOctreeOperator *o);                    ///< before points are numbered anew
void pli_octree_find_looks(PliOctreeOperator *o);                           ///< once they are
double pli_octree_add_corrections_of(PliOctreeOperator *o, PliIndex point); ///< @return work

#endif
