/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/components/components.h"

// Meshes of the core from what loaders and topologies of a scene publish.

static const PliIndex *cells(PliObject *source, const char *name, size_t corners, size_t *count)
{
    PliData *d = pli_data(source, name);
    size_t n = 0;
    const PliIndex *cell = d ? pli_data_indices(d, &n) : NULL;
    *count = n / corners;
    return cell;
}

PliMeshArrays pli_object_arrays(PliObject *source)
{
    PliMeshArrays a = { .name = source->name, .type = source->cls->name };
    PliData *points = pli_data(source, "position");
    size_t n = 0;
    a.position = points ? pli_data_reals(points, &n) : NULL;
    a.point_count = n / 3;
    a.triangles = cells(source, "triangles", 3, &a.triangle_count);
    a.quads = cells(source, "quads", 4, &a.quad_count);
    a.tetrahedra = cells(source, "tetrahedra", 4, &a.tetrahedron_count);
    a.hexahedra = cells(source, "hexahedra", 8, &a.hexahedron_count);
    return a;
}

PliMesh *pli_mesh_from_object(const PliHost *host, PliObject *source, PliMeshKind kind, PliError *err)
{
    const PliMeshArrays arrays = pli_object_arrays(source);
    return pli_mesh_from_arrays(host, &arrays, kind, err);
}
