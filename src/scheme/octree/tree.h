/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_OCTREE_TREE_H
#define PLI_OCTREE_TREE_H

// The topological octree: cubic cells inside a body, grouped by eight from the finest level up, one particle each. It never changes.
// Cells are numbered by level, coarsest first, and by lattice place within a level. Octants and children have the same numbers:
// bit 0 is the upper half in x, bit 1 in y, bit 2 in z. Directions: 2 axis, + 1 towards larger coordinates.

#include "mesh/voxel.h"

enum { PLI_OCTREE_MAX_LEVELS = 8, PLI_OCTREE_MAX_NEIGHBOURS = 89, PLI_OCTREE_AXES = 3 };

typedef struct PliOctreeCell {
    PliIndex parent;       ///< PLI_NONE on level 0
    PliIndex child[8];     ///< PLI_NONE where the body is not, all of them on the finest level
    PliIndex neighbour[6]; ///< of the same level, by direction, where the two touch; PLI_NONE otherwise
    PliIndex wall[6];      ///< number of the wall point of its faces that look outside, PLI_NONE: none does
    int32_t at[3];         ///< lattice place on its level
    uint32_t link;         ///< bit 3 octant + axis: matter goes on across this quarter of a face
    uint8_t level;
} PliOctreeCell;

typedef struct PliOctreeTree {
    PliHost host;
    int level_count;
    PliIndex cell_count, wall_count;
    PliIndex level_first[PLI_OCTREE_MAX_LEVELS + 1];
    double size[PLI_OCTREE_MAX_LEVELS]; ///< m, edge of a cell, per level
    double origin[3];                   ///< m, corner of lattice place 0
    PliIndex lattice[3];                ///< places on the finest level
    double fill;                        ///< volume of the body over volume of its cells
    PliOctreeCell *cell;
    double *rest;      ///< m, centre of mass of each cell
    double *volume;    ///< m3, of the matter in each cell
    double *wall_rest; ///< m, centre of the faces of a cell that look into one direction
    double *wall_area; ///< m2
    PliIndex *wall_cell;
    uint8_t *wall_side; ///< direction
    // Potential neighbours by face, edge or vertex: same level (26), coarser (7) and finer (56), as entries [first[c], first[c + 1])
    PliIndex *first;
    PliIndex *potential; ///< cell
    PliIndex *mirror;    ///< entry that says the same the other way round
} PliOctreeTree;

/// Groups the solid cells of `voxels` level by level. PLI_BAD_ARGUMENT when a level would be a single cell of no use, or too many.
PliOctreeTree *pli_octree_tree_create(const PliHost *host, const PliVoxels *voxels, int level_count, PliError *err);
void pli_octree_tree_destroy(PliOctreeTree *t);
/// Cell of a level that holds a lattice place of that level, or PLI_NONE.
PliIndex pli_octree_tree_at(const PliOctreeTree *t, int level, const int32_t at[3]);
/// Finest cell that contains p, or a nearest one.
PliIndex pli_octree_tree_find(const PliOctreeTree *t, const double p[3]);
void pli_octree_cell_centre(const PliOctreeTree *t, PliIndex cell, double p[3]); ///< of the cube, not of the mass
/// The matter of an octant, m3.
double pli_octree_octant_volume(const PliOctreeTree *t, PliIndex cell, int octant);
static inline int pli_octree_side(int octant, int axis)
{
    return 2 * axis + (octant >> axis & 1);
} ///< direction an octant looks into

#endif
