/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SHAPES_H
#define PLI_SHAPES_H

// Closed surfaces by formula, for cases about meshes of any body.

#include <pliant/mesh.h>

typedef enum PliShape {
    PLI_SHAPE_PLATE,    ///< bent, a twentieth as thick as wide
    PLI_SHAPE_HANDLE,   ///< a torus whose tube varies
    PLI_SHAPE_BRANCHED, ///< six arms of one middle
    PLI_SHAPE_BUMPY     ///< a ball with bumps
} PliShape;

const char *pli_shape_name(PliShape shape);
/// About `triangles` of them, outward, about 1 m wide. NULL when there is no memory.
PliMesh *pli_shape_make(const PliHost *host, PliShape shape, PliIndex triangles);

#endif
