/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Levels without the points that no tetrahedron has.
#include <stdio.h>

#include "mesh/loose.h"
#include "scheme/tetlod/levels.h"

PliStatus pli_levels_tighten(const PliHost *host, const PliMesh *const *meshes, int count, PliTightLevels *out,
                             PliError *err)
{
    *out = (PliTightLevels){ 0 };
    PliStatus status = PLI_OK;
    for (int l = 0; l < count && l < PLI_MAX_LEVELS && status == PLI_OK; ++l) {
        char what[32];
        snprintf(what, sizeof what, "tetlod: level %d", l);
        if (meshes[l]) status = pli_mesh_leave_loose(host, meshes[l], what, &out->made[l], err);
        out->mesh[l] = out->made[l] ? out->made[l] : meshes[l];
    }
    return status;
}

void pli_levels_tight_free(PliTightLevels *t)
{
    for (int l = 0; l < PLI_MAX_LEVELS; ++l) pli_mesh_destroy(t->made[l]);
}
