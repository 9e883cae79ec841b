/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_REMESH_H
#define PLI_REMESH_H

#include <pliant/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The same surface with even triangles: sides are split, collapsed and turned until they are about `size` long, or `limit` where
/// that is less (of each point of `in`, may be NULL), and points lie on `in` again. Closed, and with the same handles.
/// Then it is pushed out until it encloses the volume of `in`. `in` comes from pli_surface_clean. NULL: no memory.
PliMesh *pli_surface_remesh(const PliHost *host, const PliMesh *in, double size, const double *limit);

#ifdef __cplusplus
}
#endif
#endif
