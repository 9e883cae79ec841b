/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_ASSETS_H
#define PLI_ASSETS_H

// Where the shipped scenes and meshes are, for cases that need them.

#include <pliant/mesh.h>

/// Folder of the running program, without a slash at its end; "" when the system does not say.
void pli_program_folder(char *folder, size_t size);
/// "meshes/box_0.msh" -> absolute path of the file: in $PLIANT_SCENES, beside the program (the build tree, an installation), or in ./scenes.
PliStatus pli_asset_path(const char *name, char *path, size_t size, PliError *err);
PliMesh *pli_asset_mesh(const PliHost *host, const char *name, PliError *err);

#endif
