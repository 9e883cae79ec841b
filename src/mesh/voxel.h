/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_VOXEL_H
#define PLI_VOXEL_H

// A grid of cubic cells inside a body, and geodesic distances on its corners. Lattice numbers run with x fastest; one empty
// layer of cells surrounds the body, so neighbours never need a bounds check.

#include <pliant/mesh.h>

/// Multiplies Young's modulus and the density at a rest point; both come in as 1.
typedef void PliVoxelFieldFn(const double p[3], double *stiffness, double *density, void *user);

typedef struct PliVoxelDef {
    const PliMesh *mesh;                       ///< tetrahedra, or a closed surface of triangles and quads
    PliIndex resolution;                       ///< cells along the longest side, used when size is 0
    double size;                               ///< m, edge of a cell
    const double *tet_stiffness, *tet_density; ///< factors per tetrahedron, or NULL
    PliVoxelFieldFn *field;                    ///< factors per cell centre, or NULL; multiplies the ones above
    void *field_user;
    bool plain_distance; ///< distances do not look at stiffness
} PliVoxelDef;

typedef struct PliVoxels {
    PliHost host;
    PliIndex size[3]; ///< lattice cells per axis, empty layer included
    double origin[3]; ///< m, lattice corner 0
    double h;         ///< m
    PliIndex lattice_cells, lattice_corners;
    PliIndex cell_count;
    PliIndex *cell;    ///< solid cell -> lattice cell, ascending
    PliIndex *cell_of; ///< lattice cell -> solid cell or PLI_NONE
    PliIndex corner_count;
    PliIndex *corner;           ///< used corner -> lattice corner, ascending
    PliIndex *corner_of;        ///< lattice corner -> used corner or PLI_NONE
    float *stiffness, *density; ///< factors per solid cell
    float *slowness; ///< per solid cell, compliance relative to its volume mean: the unit of material-aware distance
    uint8_t *clear;  ///< per lattice cell: cells to the nearest one that is empty or of another slowness, 0 where empty
    PliIndex *component; ///< per used corner; components are numbered by falling size
    PliIndex component_count;
    double fill;   ///< volume of the mesh over volume of the solid cells
    double extent; ///< m, longest side of the mesh's box
    bool uniform;  ///< one slowness everywhere
    bool plain_distance;
} PliVoxels;

PliVoxels *pli_voxels_create(const PliHost *host, const PliVoxelDef *def, PliError *err);
/// Cells twice as large: solid where any of the eight was.
PliVoxels *pli_voxels_coarsen(const PliVoxels *fine);
void pli_voxels_destroy(PliVoxels *v); ///< NULL is fine

void pli_voxels_corner_point(const PliVoxels *v, PliIndex corner, double p[3]);      ///< used corner
void pli_voxels_cell_centre(const PliVoxels *v, PliIndex cell, double p[3]);         ///< solid cell
void pli_voxels_cell_corners(const PliVoxels *v, PliIndex cell, PliIndex corner[8]); ///< used corners, x fastest
/// Solid cell that contains p, or the nearest one by its centre. @return distance from p to that cell, 0 inside.
double pli_voxels_find(const PliVoxels *v, const double p[3], PliIndex *cell);

// ---- distances ---------------------------------------------------------------------------------------------------------
// Straight distance wherever the segment stays inside one material (exact), and fast marching from there: plain marching is
// off by a voxel, which spoils differences of squares between nodes only 5 to 10 voxels apart.

typedef struct PliMarch PliMarch; ///< scratch for one thread
PliMarch *pli_march_create(const PliVoxels *v);
void pli_march_destroy(PliMarch *m);
/// True when the segment between two points stays in solid cells of one slowness.
bool pli_voxels_see(const PliVoxels *v, const double a[3], const double b[3]);
/// Distances from p to the listed corners (NULL: all) that paths along listed corners connect to it, up to `radius`; others
/// are infinite. The array holds corner_count doubles, stays the march's and is valid until its next call.
const double *pli_march_from(PliMarch *m, const double p[3], double radius, const PliIndex *list, PliIndex list_count);
/// Distance to any point from the source of the last pli_march_from.
double pli_march_to(const PliMarch *m, const double q[3]);
/// Nearest of `count` points for every corner (PLI_NONE where none is connected) and the distance, by fast marching.
void pli_march_voronoi(PliMarch *m, const double *points, PliIndex count, PliIndex *owner, double *distance);

#endif
