/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_LOOSE_H
#define PLI_LOOSE_H

#include <pliant/mesh.h>

/// Number of each point among those that a tetrahedron has, PLI_NONE: loose; [point_count]. @return how many are used
PliIndex pli_mesh_number_used(const PliMesh *mesh, PliIndex *number);
/// Points of a mesh that no tetrahedron has: meshers leave some behind. `made` gets the points and tetrahedra of the mesh without them, and
/// the log says how many and where, beginning with `what`; NULL where there are none, or where a corner is no point: that is for other
/// checks to refuse.
PliStatus pli_mesh_leave_loose(const PliHost *host, const PliMesh *mesh, const char *what, PliMesh **made,
                               PliError *err);

#endif
