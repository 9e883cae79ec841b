/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_LATTICE_H
#define PLI_LATTICE_H

#include <pliant/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Tetrahedra with sides of about `size` cut out of a regular lattice at the surface: whatever the surface, they overlap nowhere.
/// Edges are rounded, and parts thinner than `size` may be lost; only the largest piece is kept. The whole has the volume of the
/// surface. `surface` comes from pli_surface_clean and may cut itself. NULL: refused.
PliMesh *pli_lattice_fill(const PliHost *host, const PliMesh *surface, double size, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
