/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_REMESH_H
#define PLI_REMESH_H

// Multiresolution analysis of a closed surface of any connectivity: a base mesh of few, well shaped triangles is made from it by
// collapsing edges; its subdivisions are laid onto the surface, and what they differ from midpoints by are the details.

#include "scheme/springs/pyramid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliSurface {
    const double *x;
    const PliIndex *tris;
    PliIndex point_count, tri_count;
} PliSurface;

/// A base of `target` vertices (or as few as the surface allows) in memory of its own: x has 3 doubles a vertex, both are freed
/// with pli_surface_free. `surface` is closed and manifold.
PliStatus pli_remesh_base(const PliHost *host, const PliSurface *surface, PliIndex target, PliSurface *base,
                          PliError *err);
void pli_surface_free(const PliHost *host, PliSurface *surface);
/// Lays all levels of the pyramid onto the surface and takes that as its rest shape.
PliStatus pli_remesh_fit(PliPyramid *p, const PliSurface *surface, PliError *err);
/// Largest distance, m, of points of either surface from the other: vertices and middles of triangles are looked at. Negative:
/// no memory.
double pli_surface_distance(const PliHost *host, const PliSurface *a, const PliSurface *b);

#ifdef __cplusplus
}
#endif
#endif
