/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_MESHER_SURFACE_H
#define PLI_MESHER_SURFACE_H

// A surface as it came, made fit to be filled: points that coincide are one, triangles are turned alike, and what is not the
// closed surface of one body is refused with the place where it is not.

#include <pliant/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliSurfaceFacts {
    PliIndex points, triangles;
    PliIndex welded;  ///< points that were at the place of another
    PliIndex flat;    ///< triangles without area that were left out
    PliIndex turned;  ///< triangles that faced the other way
    PliIndex pinched; ///< points that two sheets shared
    PliIndex folded;  ///< triangles that lay over others, and were drawn smooth
    PliIndex handles;
    PliIndex crossings; ///< triangles that cut another, and where the first one is
    double crossing_at[3];
    double min[3], max[3], area, volume;
} PliSurfaceFacts;

/// Triangles only, outward. NULL: refused.
PliMesh *pli_surface_clean(const PliHost *host, const PliMesh *in, PliSurfaceFacts *facts, PliError *err);
/// Cuts sides longer than `longest` by halves, as long as there are no more than `most` triangles: the shape stays. The surface is closed.
PliStatus pli_surface_cut_long(PliMesh *surface, double longest, PliIndex most);
/// Triangles that cut others; `at` is the place of the first. PLI_NONE: no memory.
PliIndex pli_surface_crossings(const PliHost *host, const PliMesh *surface, double at[3]);
double pli_surface_volume(const PliMesh *surface);
double pli_surface_area(const PliMesh *surface);
/// For side k of triangle t (corner k to the next) the same side of its neighbour: opposite[3 t + k] = 3 u + m. PLI_NONE: it has
/// none, or more than one. False: no memory.
bool pli_surface_opposites(const PliHost *host, const PliIndex *tris, PliIndex count, PliIndex *opposite);
/// Largest ball inside the body that touches each point, as its diameter; infinite where the ball meets no wall that faces the point.
bool pli_surface_thickness(const PliHost *host, const PliMesh *surface, double *thickness);
/// Normals of points by the area of the triangles around them, of unit length.
void pli_surface_normals(const PliMesh *surface, double *normal);

#ifdef __cplusplus
}
#endif
#endif
