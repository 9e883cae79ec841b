/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/vec.h"
#include "host/components/components.h"

// Meshes of the core from what loaders and topologies of a scene publish.

static PliStatus copy_cells(PliMesh *mesh, PliCellKind kind, size_t corners, PliObject *source, const char *name,
                            PliError *err)
{
    PliData *d = pli_data(source, name);
    size_t n = 0;
    const PliIndex *cell = d ? pli_data_indices(d, &n) : NULL;
    if (n == 0) return PLI_OK;
    if (pli_mesh_resize_cells(mesh, kind, (PliIndex)(n / corners)))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu %s", n / corners, name);
    PliIndex *to = kind == PLI_TET    ? mesh->tets
                   : kind == PLI_HEX  ? mesh->hexes
                   : kind == PLI_QUAD ? mesh->quads
                                      : mesh->tris;
    for (size_t i = 0; i < n / corners * corners; ++i) {
        if (cell[i] >= mesh->point_count)
            return pli_refuse(err, PLI_BAD_MESH, "cell %zu of the %s of %s has corner %u, but there are %u points",
                              i / corners, name, source->name, cell[i], mesh->point_count);
        to[i] = cell[i];
    }
    return PLI_OK;
}

static void turn_inside_out(PliMesh *mesh)
{
    for (PliIndex t = 0; t < mesh->tet_count; ++t) {
        PliIndex *c = mesh->tets + 4 * (size_t)t;
        double e[9];
        for (int k = 0; k < 3; ++k) v3_sub(e + 3 * k, mesh->x + 3 * (size_t)c[k + 1], mesh->x + 3 * (size_t)c[0]);
        if (m3_det(e) >= 0.0) continue;
        PliIndex keep = c[2];
        c[2] = c[3];
        c[3] = keep;
        mesh->flipped++;
    }
}

PliMesh *pli_mesh_from_object(const PliHost *host, PliObject *source, PliMeshNeed need, PliError *err)
{
    static const char *const lacking[] = { [PLI_NEED_TETS] = "no tetrahedra",
                                           [PLI_NEED_SOLID_OR_SURFACE] =
                                               "neither tetrahedra nor a surface of triangles or quads",
                                           [PLI_NEED_LATTICE] = "neither hexahedra nor tetrahedra" };
    PliData *points = pli_data(source, "position");
    size_t n = 0;
    const double *x = points ? pli_data_reals(points, &n) : NULL;
    PliMesh *mesh = pli_mesh_create(host);
    PliStatus status = mesh && !pli_mesh_resize_points(mesh, (PliIndex)(n / 3))
                           ? PLI_OK
                           : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a mesh of %zu points", n / 3);
    if (!status && n) memcpy(mesh->x, x, n / 3 * 3 * sizeof *x);
    if (!status && need == PLI_NEED_LATTICE) status = copy_cells(mesh, PLI_HEX, 8, source, "hexahedra", err);
    if (!status) status = copy_cells(mesh, PLI_TET, 4, source, "tetrahedra", err);
    if (!status && need == PLI_NEED_SOLID_OR_SURFACE && mesh->tet_count == 0) {
        status = copy_cells(mesh, PLI_TRI, 3, source, "triangles", err);
        if (!status) status = copy_cells(mesh, PLI_QUAD, 4, source, "quads", err);
    }
    if (!status && mesh->hex_count + mesh->tet_count + mesh->tri_count + mesh->quad_count == 0)
        status = pli_refuse(err, PLI_BAD_MESH, "%s (%s) has %s", source->name, source->cls->name, lacking[need]);
    if (status) {
        pli_mesh_destroy(mesh);
        return NULL;
    }
    if (need != PLI_NEED_LATTICE) turn_inside_out(mesh); // a lattice is not turned, but refused
    return mesh;
}
