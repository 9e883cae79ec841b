/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <pliant/mesh.h>

#include "base/vec.h"

// Meshes from the arrays of a host's loaders and topologies.

static PliStatus copy_cells(PliMesh *mesh, PliCellKind kind, size_t corners, const PliMeshArrays *a, const char *name,
                            const PliIndex *cell, size_t count, PliError *err)
{
    if (count == 0) return PLI_OK;
    if (pli_mesh_resize_cells(mesh, kind, (PliIndex)count))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu %s", count, name);
    PliIndex *to = kind == PLI_TET    ? mesh->tets
                   : kind == PLI_HEX  ? mesh->hexes
                   : kind == PLI_QUAD ? mesh->quads
                                      : mesh->tris;
    for (size_t i = 0; i < count * corners; ++i) {
        if (cell[i] >= mesh->point_count)
            return pli_refuse(err, PLI_BAD_MESH, "cell %zu of the %s of %s has corner %u, but there are %u points",
                              i / corners, name, a->name, cell[i], mesh->point_count);
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

PliMesh *pli_mesh_from_arrays(const PliHost *host, const PliMeshArrays *a, PliMeshKind kind, PliError *err)
{
    static const char *const lacking[] = { [PLI_MESH_TETS] = "neither tetrahedra nor hexahedra",
                                           [PLI_MESH_SOLID_OR_SURFACE] =
                                               "neither tetrahedra nor a surface of triangles or quads",
                                           [PLI_MESH_LATTICE] = "neither hexahedra nor tetrahedra" };
    PliMesh *mesh = pli_mesh_create(host);
    PliStatus status = mesh && !pli_mesh_resize_points(mesh, (PliIndex)a->point_count)
                           ? PLI_OK
                           : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a mesh of %zu points", a->point_count);
    if (!status && a->point_count) memcpy(mesh->x, a->position, 3 * a->point_count * sizeof *a->position);
    const bool split = kind == PLI_MESH_TETS && a->tetrahedron_count == 0;
    if (!status && (kind == PLI_MESH_LATTICE || split))
        status = copy_cells(mesh, PLI_HEX, 8, a, "hexahedra", a->hexahedra, a->hexahedron_count, err);
    if (!status) status = copy_cells(mesh, PLI_TET, 4, a, "tetrahedra", a->tetrahedra, a->tetrahedron_count, err);
    if (!status && kind == PLI_MESH_SOLID_OR_SURFACE && mesh->tet_count == 0) {
        status = copy_cells(mesh, PLI_TRI, 3, a, "triangles", a->triangles, a->triangle_count, err);
        if (!status) status = copy_cells(mesh, PLI_QUAD, 4, a, "quads", a->quads, a->quad_count, err);
    }
    if (!status && mesh->hex_count + mesh->tet_count + mesh->tri_count + mesh->quad_count == 0)
        status = pli_refuse(err, PLI_BAD_MESH, "%s (%s) has %s", a->name, a->type, lacking[kind]);
    if (!status && split) status = pli_mesh_split_hexes(mesh, err);
    if (status) {
        pli_mesh_destroy(mesh);
        return NULL;
    }
    if (kind != PLI_MESH_LATTICE) turn_inside_out(mesh); // a lattice is not turned, but refused
    return mesh;
}
