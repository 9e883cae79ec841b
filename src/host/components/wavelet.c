/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/vec.h"
#include "host/components/components.h"

// WaveletModel: a body of subdivision wavelets from a lattice, from cubes around a mesh, or from a box.

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
    if (pli_model_fill(o, &pli_body_attributes, &def, err) || pli_model_fill(o, &pli_wavelet_attributes, &def, err) ||
        read_cells(o, &def, err))
        return NULL;
    v3_copy(def.base.gravity, o->node->scene->gravity);
    const char *path = pli_text(o, "filename");
    PliObject *linked = pli_link(o, "mesh");
    PliMesh *mesh = NULL;
    if (*path && linked) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "both filename and mesh are given: choose one");
        return NULL;
    }
    if (*path)
        mesh = pli_mesh_read(host, path, err);
    else if (linked)
        mesh =
            pli_mesh_from_object(host, linked, def.resolution > 0 ? PLI_NEED_SOLID_OR_SURFACE : PLI_NEED_LATTICE, err);
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
