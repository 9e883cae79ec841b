/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_SPRINGS_H
#define PLIANT_SPRINGS_H

// Choi et al.: a triangle surface of masses and springs that is refined locally, by surface wavelets.

#include <pliant/body.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliSpringsDef {
    /// material: springs are as stiff as a membrane of young x thickness; poisson gives the bulk modulus of what a closed surface
    /// holds. criterion.threshold: displacement as a fraction of the size of the body (by displacement).
    PliBodyDef base;
    const PliMesh *mesh; ///< copied; its triangles, or the boundary of its tetrahedra
    PliIndex
        base_points; ///< 0: the mesh is the base; otherwise a base of so many points is made from it and its details are kept
    int levels;  ///< subdivisions of the base, 0 .. 7
    bool open;   ///< accepts a surface with a border: cloth
    bool volume; ///< a closed surface resists changes of its volume; without it stays dented or turns inside out
    double
        thickness; ///< m, of the membrane; 0: volume over area. An open surface needs one, and weighs density x thickness x area
} PliSpringsDef;
PLI_API PliSpringsDef pli_springs_default(void); ///< two levels, volume kept, refined by displacement
/// NULL with a sentence in `err` when the surface or the definition does not do.
PLI_API PliBody *pli_springs_create(const PliHost *host, const PliSpringsDef *def, PliError *err);

typedef struct PliSpringsInfo {
    PliIndex base_points, fine_points;    ///< vertices of the base and of the finest level
    PliIndex springs, triangles, refined; ///< now; refined: vertices whose surroundings are
    double area, volume;                  ///< m2, m3, of the finest level at rest
    double thickness;                     ///< m
    double distance; ///< m, of the finest level from the surface that was given; 0 without base_points
    double mass;     ///< kg
} PliSpringsInfo;
PLI_API PliSpringsInfo pli_springs_info(const PliBody *body); ///< zeros when the body is of another scheme
/// Refines around vertices of a level (0 <= level < levels) and nowhere else, until the next decision; for tests and studies.
PLI_API PliStatus pli_springs_refine(PliBody *body, const PliState *s, const PliIndex *vertices, PliIndex count,
                                     int level, PliError *err);
/// Triangles of the present cut, in dof numbers: for drawing. Valid until the next adapt or step.
PLI_API const PliIndex *pli_springs_triangles(const PliBody *body, PliIndex *count);

#ifdef __cplusplus
}
#endif
#endif
