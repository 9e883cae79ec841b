/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/loose.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static bool corners_are_points(const PliMesh *mesh)
{
    for (size_t i = 0; i < 4 * (size_t)mesh->tet_count; ++i)
        if (mesh->tets[i] >= mesh->point_count) return false;
    return true;
}

PliIndex pli_mesh_number_used(const PliMesh *mesh, PliIndex *number)
{
    PliIndex used = 0;
    memset(number, 0xff, mesh->point_count * sizeof *number);
    for (size_t i = 0; i < 4 * (size_t)mesh->tet_count; ++i) number[mesh->tets[i]] = 0;
    for (PliIndex p = 0; p < mesh->point_count; ++p)
        if (number[p] != PLI_NONE) number[p] = used++;
    return used;
}

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

static void say(const PliHost *host, const PliMesh *mesh, const char *what, PliIndex used, const PliIndex *number)
{
    char text[300];
    PliIndex first = 0;
    while (number[first] != PLI_NONE) first++;
    const double *p = mesh->x + 3 * (size_t)first;
    snprintf(text, sizeof text,
             "%s: %u of %u points belong to no tetrahedron and are left out, the first is %u at (%.4g %.4g %.4g)", what,
             mesh->point_count - used, mesh->point_count, first, p[0], p[1], p[2]);
    if (host->log) host->log(PLI_LOG_WARNING, text, host->user);
}

PliStatus pli_mesh_leave_loose(const PliHost *host, const PliMesh *mesh, const char *what, PliMesh **made,
                               PliError *err)
{
    *made = NULL;
    if (mesh->tet_count == 0 || !corners_are_points(mesh)) return PLI_OK;
    PliIndex *number = PLI_NEW(host, mesh->point_count, PliIndex);
    if (!number) return pli_refuse(err, PLI_OUT_OF_MEMORY, "%s: no memory for %u points", what, mesh->point_count);
    PliStatus status = PLI_OK;
    const PliIndex used = pli_mesh_number_used(mesh, number);
    if (used < mesh->point_count) {
        *made = copy_used(host, mesh, used, number);
        if (*made)
            say(host, mesh, what, used, number);
        else
            status = pli_refuse(err, PLI_OUT_OF_MEMORY, "%s: no memory for %u points", what, used);
    }
    PLI_FREE(host, number, mesh->point_count);
    return status;
}
