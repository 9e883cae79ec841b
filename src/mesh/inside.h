/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_INSIDE_H
#define PLI_INSIDE_H

// What lies inside a closed surface: along lines parallel to an axis, and at points.

#include <pliant/mesh.h>

// ---- triangles of a closed surface ----------------------------------------------------------------------------------------

/// Triangles (quads are cut in two) over points of which those at exactly the same place are one.
typedef struct PliShell {
    PliIndex (*corner)[3];
    PliIndex count, capacity;
    bool may_touch; ///< it is the boundary of tetrahedra: more of them may meet in an edge
} PliShell;
PliStatus pli_shell_weld(const PliHost *host, const PliMesh *mesh, PliShell *shell);
void pli_shell_free(const PliHost *host, PliShell *shell);
/// PLI_BAD_MESH when an edge over points x has one triangle, or more than two; *oriented: both directions of every edge are
/// equally frequent.
PliStatus pli_shell_check(const PliHost *host, const PliShell *shell, const double *x, bool *oriented, PliError *err);
/// Where the line along x at (y, z) meets triangle k: +1 leaving through it (its normal has positive x), -1 entering, 0 not at all. A
/// line through an edge meets exactly one of its two triangles.
int pli_shell_cross(const double *x, const PliIndex k[3], double y, double z, double *at);

// ---- a solid to ask --------------------------------------------------------------------------------------------------------

enum { PLI_INSIDE_STRETCHES = 32 }; ///< most a line is cut into
typedef struct PliInside PliInside;
/// Inside a closed surface of triangles and quads, or of tetrahedra. Copies what it needs.
PliInside *pli_inside_create(const PliHost *host, const PliMesh *mesh, PliError *err);
void pli_inside_destroy(PliInside *s); ///< NULL is fine
/// Stretches [from, to] of the line through p along an axis (0 .. 2) that are inside, ascending, as pairs. @return how many
int pli_inside_line(const PliInside *s, int axis, const double p[3], double stretch[2 * PLI_INSIDE_STRETCHES]);
bool pli_inside_point(const PliInside *s, const double p[3]);
double
pli_inside_volume(const PliInside *s); ///< m3, of the surface itself; NaN where triangles do not agree on outward
/// Its triangles, outward where they agree, and points; valid as long as s.
const double *pli_inside_points(const PliInside *s, PliIndex *count);
const PliIndex *pli_inside_triangles(const PliInside *s, PliIndex *count);

#endif
