/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_READ_H
#define PLI_READ_H

#include "mesh/builder.h"
#include "mesh/source.h"

/// Readers, one per format: fill the builder from the source, or refuse through it.
bool pli_read_msh(PliSource *s, PliBuilder *b);
bool pli_read_vtk(PliSource *s, PliBuilder *b);
bool pli_read_vtu(PliSource *s, PliBuilder *b); ///< also .vtp
bool pli_read_obj(PliSource *s, PliBuilder *b);
bool pli_read_stl(PliSource *s, PliBuilder *b);
bool pli_read_ply(PliSource *s, PliBuilder *b);
bool pli_read_medit(PliSource *s, PliBuilder *b);

/// pli_mesh_read over bytes in memory; `name` gives the extension and stands in messages. For tests and fuzzing.
PliMesh *pli_mesh_parse(const PliHost *host, const char *name, const void *bytes, size_t size, PliError *err);

/// One cell by its VTK number, corners in VTK order; vertices are passed over. Shared by vtk, vtu and vtp.
bool pli_read_vtk_cell(PliSource *s, PliBuilder *b, int64_t type, const int64_t *corner, size_t count);

#endif
