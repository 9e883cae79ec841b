/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_REGION_H
#define PLI_REGION_H

// Parts of a surface by name: a side of the body, a sphere, a box, or a group painted in an OBJ file.

#include <pliant/attributes.h>
#include <pliant/mesh.h>

#include "output/file.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLI_REGION_BOXES = 512 };

typedef struct PliRegion {
    bool sphere;
    double centre[3], radius;        ///< m, of a sphere
    double box[PLI_REGION_BOXES][6]; ///< m, lowest and highest corner
    int box_count;
    int axis;    ///< of a side: which axis looks out of it, else -1
    double sign; ///< of a side: the way along the axis
    double part; ///< of a side: how much of the body's height it takes
} PliRegion;

/// What names are relative to.
typedef struct PliRegionFrame {
    const PliMesh *surface; ///< m
    const char *file;       ///< that the surface came from, for groups of an OBJ
    double unit;            ///< m per unit of the file
    int up;                 ///< axis
} PliRegionFrame;

/// top, bottom, left, right, front or back (of which `top:0.2` takes a fifth of the height), sphere:X,Y,Z,R, box:X,Y,Z,X,Y,Z (m), or
/// the name of a group. Refuses what is none of these, and regions that no point of the surface is in.
PliStatus pli_region_read(const PliRegionFrame *frame, const char *text, PliRegion *region, PliError *err);
bool pli_region_has(const PliRegion *region, const double p[3]);
/// Makes a side take `part` of the body's height.
void pli_region_deepen(const PliRegionFrame *frame, PliRegion *region, double part);
/// ` box="..."` or ` centers="..." radii="..."`, for a BoxROI or a SphereROI.
void pli_region_write(const PliRegion *region, PliText *t);

#ifdef __cplusplus
}
#endif
#endif
