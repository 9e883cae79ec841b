/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_GMSH_H
#define PLI_GMSH_H

// Gmsh as an external program: a script goes into a folder, a mesh comes out.

#include <pliant/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/// gmsh is on the PATH, or one sentence says that it is not.
PliStatus pli_gmsh_find(PliError *err);
/// The same, and it fills a tetrahedron: what fails afterwards is the surface.
PliStatus pli_gmsh_probe(const PliHost *host, const char *folder, PliError *err);
/// Removes FOLDER/NAME.stl, .geo, .msh and .log.
void pli_gmsh_remove_scratch(const char *folder, const char *name);
/// Runs `gmsh -3` on FOLDER/NAME.geo, with what it says in FOLDER/NAME.log. NULL: its own error, in one sentence.
PliMesh *pli_gmsh_run(const PliHost *host, const char *folder, const char *name, const char *script, PliError *err);
/// Runs gmsh on a script that saves what it makes itself; some of it may be missing.
PliStatus pli_gmsh_batch(const char *folder, const char *name, const char *script, PliError *err);
/// Writes FOLDER/NAME.stl with all digits, for a script to merge.
PliStatus pli_gmsh_write_stl(const PliMesh *surface, const char *folder, const char *name, PliError *err);
/// Tetrahedra inside a closed surface whose triangles stay as they are, sizes grown from them. `algorithm` is gmsh's number: 1 for
/// Delaunay, 10 for HXT. `folder` holds the scratch files.
PliMesh *pli_gmsh_fill(const PliHost *host, const PliMesh *surface, int algorithm, const char *folder, const char *name,
                       PliError *err);

#ifdef __cplusplus
}
#endif
#endif
