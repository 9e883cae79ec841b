/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_PYRAMID_H
#define PLI_PYRAMID_H

// A surface at all its resolutions: a base mesh, and meshes with every triangle cut in four. Vertices of a level are the
// first ones of every finer level, so one array of the finest level holds them all. Lazy wavelets: a vertex that begins on
// an edge is its midpoint plus a detail.

#include "scheme/springs/winged.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLI_PYRAMID_LEVELS = 8 };

typedef struct PliPyramid {
    PliHost host;
    int level_count;
    PliWinged *mesh[PLI_PYRAMID_LEVELS];
    PliIndex vertex_count; ///< of the finest level
    double *rest;          ///< m, shape [vertex_count, 3]
    double *detail;        ///< m, shape [vertex_count, 3]; 0 for vertices of the base
    uint8_t *level;        ///< per vertex: where it begins
    /// Followers: vertex v that is not simulated is the sum of weight x over entries first[v] .. first[v + 1], which are
    /// vertices of the level below its own. Weights sum to one and give the rest shape, so every affine motion is exact:
    /// the detail turns and stretches with its surroundings.
    PliIndex *row_first, *row_column;
    double *row_weight;
    size_t row_capacity;
    double largest_weight; ///< largest sum of |weight| of what the rows have beyond the midpoint
} PliPyramid;

/// `levels` subdivisions of a base, which is taken over (also on failure). Rest positions are those of the base and midpoints;
/// pli_pyramid_set_rest gives others.
PliPyramid *pli_pyramid_create(const PliHost *host, PliWinged *base, const double *x, int levels, PliError *err);
void pli_pyramid_destroy(PliPyramid *p); ///< NULL is fine

/// Detail of every vertex that begins on an edge, in place of its position: x -> base and details. The inverse is exact but
/// for rounding. Both arrays have the finest level's shape and may be the same.
void pli_pyramid_analyse(const PliPyramid *p, const double *x, double *coefficient);
void pli_pyramid_synthesise(const PliPyramid *p, const double *coefficient, double *x);
/// Takes the positions of all vertices of the finest level as rest shape: details and rows are made from them. Refuses edges
/// without length, and a shape that has details where the base is flat.
PliStatus pli_pyramid_set_rest(PliPyramid *p, const double *x, PliError *err);

/// Weights over vertices of the finest level that sum to one and give the point `p` near triangle `face` of that level, whose
/// corners have `foot` as weights of the point nearest to p. What lies off the surface is held by vertices around, as details
/// are; where those are in one plane, p is moved into it. @return entries, at most `capacity`
PliIndex pli_pyramid_attach(const PliPyramid *p, const double point[3], PliIndex face, const double foot[3],
                            PliIndex *column, double *weight, PliIndex capacity);
/// The edge a vertex begins on, of the level below its own.
static inline PliIndex pli_pyramid_edge(const PliPyramid *p, PliIndex v)
{
    return v - p->mesh[p->level[v] - 1]->vertex_count;
}

#ifdef __cplusplus
}
#endif
#endif
