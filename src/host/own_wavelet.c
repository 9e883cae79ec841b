/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/vec.h"
#include "host/own.h"

// WaveletModel: a body of subdivision wavelets from a lattice, from cubes around a mesh, or from a box.

static PliStatus copy_cells(PliMesh *mesh, PliCellKind kind, size_t corners, PliObject *source, const char *name, PliError *err)
{
    PliData *d = pli_data(source, name);
    size_t n = 0;
    const PliIndex *cell = d ? pli_data_indices(d, &n) : NULL;
    if (n == 0) return PLI_OK;
    if (pli_mesh_resize_cells(mesh, kind, (PliIndex)(n / corners))) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu %s", n / corners, name);
    PliIndex *to = kind == PLI_TET ? mesh->tets : mesh->hexes;
    for (size_t i = 0; i < n; ++i) {
        if (cell[i] >= mesh->point_count)
            return pli_refuse(err, PLI_BAD_MESH, "cell %zu of the %s of %s has corner %u, but there are %u points", i / corners, name, source->name, cell[i], mesh->point_count);
        to[i] = cell[i];
    }
    return PLI_OK;
}

/// Hexahedra and tetrahedra of a loader or topology.
static PliMesh *lattice_from_object(const PliHost *host, PliObject *source, PliError *err)
{
    PliData *points = pli_data(source, "position");
    size_t n = 0;
    const double *x = points ? pli_data_reals(points, &n) : NULL;
    PliMesh *mesh = pli_mesh_create(host);
    PliStatus status = mesh && !pli_mesh_resize_points(mesh, (PliIndex)(n / 3)) ? PLI_OK : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a mesh of %zu points", n / 3);
    if (!status && n) memcpy(mesh->x, x, n * sizeof *x);
    if (!status) status = copy_cells(mesh, PLI_HEX, 8, source, "hexahedra", err);
    if (!status) status = copy_cells(mesh, PLI_TET, 4, source, "tetrahedra", err);
    if (!status && mesh->hex_count + mesh->tet_count == 0) status = pli_refuse(err, PLI_BAD_MESH, "%s (%s) has neither hexahedra nor tetrahedra", source->name, source->cls->name);
    if (!status) return mesh;
    pli_mesh_destroy(mesh);
    return NULL;
}

static PliStatus read_cells(PliObject *o, PliWaveletDef *def, PliError *err)
{
    size_t n;
    const PliIndex *cells = pli_indices(o, "cells", &n);
    if (n != 3) return pli_refuse(err, PLI_BAD_ARGUMENT, "cells has %zu numbers; a box has them along x, y and z", n);
    memcpy(def->box_cells, cells, 3 * sizeof *cells);
    return PLI_OK;
}

PliBody *pli_make_wavelet(PliObject *o, const PliHost *host, PliError *err)
{
    PliWaveletDef def = pli_wavelet_default();
    if (pli_model_fill(o, &pli_body_attributes, &def, err) || pli_model_fill(o, &pli_wavelet_attributes, &def, err) || read_cells(o, &def, err)) return NULL;
    v3_copy(def.base.gravity, o->node->scene->gravity);
    const char *path = pli_text(o, "filename");
    PliObject *linked = pli_link(o, "mesh");
    PliMesh *mesh = NULL;
    if (*path && linked) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "both filename and mesh are given: choose one");
        return NULL;
    }
    if (*path) mesh = pli_mesh_read(host, path, err);
    else if (linked) mesh = def.resolution > 0 ? pli_surface_from_object(host, linked, err) : lattice_from_object(host, linked, err);
    if (!mesh && (*path || linked)) return NULL;
    def.mesh = mesh;
    PliBody *body = pli_wavelet_create(host, &def, err);
    pli_mesh_destroy(mesh);
    if (body && pli_set_reals(o, "places", pli_wavelet_places(body), 3 * (size_t)pli_body_dof_count(body))) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the places of coefficients");
        pli_body_destroy(body);
        return NULL;
    }
    return body;
}
