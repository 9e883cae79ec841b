/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Points of a mesh that no tetrahedron has: meshers leave some behind. They are left out, and said.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "scheme/tetlod/levels.h"

/// The points and tetrahedra of a mesh without what nothing uses. number: [point_count], by how much room is needed anyway.
static PliMesh *copy_used(const PliHost *host, const PliMesh *from, PliIndex used, const PliIndex *number)
{
    PliMesh *m = pli_mesh_create(host);
    if (!m || pli_mesh_resize_points(m, used) != PLI_OK ||
        pli_mesh_resize_cells(m, PLI_TET, from->tet_count) != PLI_OK) {
        pli_mesh_destroy(m);
        return NULL;
    }
    for (PliIndex p = 0; p < from->point_count; ++p)
        if (number[p] != PLI_NONE) memcpy(m->x + 3 * (size_t)number[p], from->x + 3 * (size_t)p, 3 * sizeof *m->x);
    for (size_t i = 0; i < 4 * (size_t)from->tet_count; ++i) m->tets[i] = number[from->tets[i]];
    return m;
}

static PliStatus tighten(const PliHost *host, const PliMesh *mesh, int level, PliMesh **made, PliError *err)
{
    PliIndex *number = PLI_NEW(host, mesh->point_count, PliIndex), used = 0, first = PLI_NONE;
    if (!number) return pli_refuse(err, PLI_OUT_OF_MEMORY, "tetlod: no memory for %u points", mesh->point_count);
    PliStatus status = PLI_OK;
    memset(number, 0xff, mesh->point_count * sizeof *number);
    for (size_t i = 0; i < 4 * (size_t)mesh->tet_count; ++i)
        if (mesh->tets[i] < mesh->point_count) number[mesh->tets[i]] = 0; // others are refused with all other checks
    for (PliIndex p = 0; p < mesh->point_count; ++p) {
        if (number[p] != PLI_NONE)
            number[p] = used++;
        else if (first == PLI_NONE)
            first = p;
    }
    bool sound = true;
    for (size_t i = 0; i < 4 * (size_t)mesh->tet_count && sound; ++i) sound = mesh->tets[i] < mesh->point_count;
    if (first != PLI_NONE && sound && mesh->tet_count) {
        const double *p = mesh->x + 3 * (size_t)first;
        char text[300];
        *made = copy_used(host, mesh, used, number);
        if (!*made) status = pli_refuse(err, PLI_OUT_OF_MEMORY, "tetlod: no memory for %u points", used);
        snprintf(text, sizeof text,
                 "tetlod: level %d: %u of %u points belong to no tetrahedron and are left out, the first is %u at "
                 "(%.4g %.4g %.4g)",
                 level, mesh->point_count - used, mesh->point_count, first, p[0], p[1], p[2]);
        if (*made && host->log) host->log(PLI_LOG_WARNING, text, host->user);
    }
    PLI_FREE(host, number, mesh->point_count);
    return status;
}

PliStatus pli_levels_tighten(const PliHost *host, const PliMesh *const *meshes, int count, PliTightLevels *out,
                             PliError *err)
{
    *out = (PliTightLevels){ 0 };
    PliStatus status = PLI_OK;
    for (int l = 0; l < count && l < PLI_MAX_LEVELS && status == PLI_OK; ++l) {
        if (meshes[l]) status = tighten(host, meshes[l], l, &out->made[l], err);
        out->mesh[l] = out->made[l] ? out->made[l] : meshes[l];
    }
    return status;
}

void pli_levels_tight_free(PliTightLevels *t)
{
    for (int l = 0; l < PLI_MAX_LEVELS; ++l) pli_mesh_destroy(t->made[l]);
}
