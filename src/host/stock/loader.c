/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/stock/stock.h"
#include "host/stock/subelements.h"
#include "host/stock/transform.h"

#include <string.h>

// Mesh loaders: one for all file types, as pli_mesh_read looks at the content. Order of SOFA: read, transform, triangulate,
// make subelements, flip.

static PliStatus publish(PliObject *o, const char *name, const PliIndex *cells, size_t count)
{
    return pli_set_indices(o, name, cells, count);
}

static PliStatus triangulate(PliMesh *mesh)
{
    PliIndex first = mesh->tri_count;
    PliStatus status = pli_mesh_resize_cells(mesh, PLI_TRI, first + 2 * mesh->quad_count);
    if (status) return status;
    for (PliIndex i = 0; i < mesh->quad_count; ++i) {
        const PliIndex *q = mesh->quads + 4 * (size_t)i;
        PliIndex *t = mesh->tris + 3 * (size_t)(first + 2 * i);
        t[0] = q[0], t[1] = q[1], t[2] = q[2];
        t[3] = q[0], t[4] = q[2], t[5] = q[3];
    }
    return pli_mesh_resize_cells(mesh, PLI_QUAD, 0);
}

static void flip(PliIndex *cells, PliIndex count, int corners)
{
    for (PliIndex i = 0; i < count; ++i)
        for (int a = 0, b = corners - 1; a < b; ++a, --b) {
            PliIndex *c = cells + (size_t)corners * i, swap = c[a];
            c[a] = c[b];
            c[b] = swap;
        }
}

static PliStatus transform(PliObject *o, PliMesh *mesh, PliError *err)
{
    size_t n;
    const double *matrix = pli_reals(o, "transformation", &n);
    if (n == 16) {
        for (PliIndex i = 0; i < mesh->point_count; ++i) {
            double *p = mesh->x + 3 * (size_t)i, q[3];
            for (int r = 0; r < 3; ++r)
                q[r] = matrix[4 * r] * p[0] + matrix[4 * r + 1] * p[1] + matrix[4 * r + 2] * p[2] + matrix[4 * r + 3];
            v3_copy(p, q);
        }
        return PLI_OK;
    }
    if (n != 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "transformation has %zu numbers, not 16", n);
    double scale[3], rotation[3], translation[3],
        factor = (double)(float)pli_real(o, "scale"); // SOFA reads it as float
    pli_vec3(o, "scale3d", scale);
    pli_vec3(o, "rotation", rotation);
    pli_vec3(o, "translation", translation);
    v3_scale(scale, factor);
    pli_transform_points(mesh->x, mesh->point_count, scale, rotation, translation);
    return PLI_OK;
}

static PliStatus finish(PliObject *o, PliMesh *mesh, PliError *err)
{
    PliStatus status = transform(o, mesh, err);
    if (!status && pli_bool(o, "triangulate")) status = triangulate(mesh);
    if (!status && pli_bool(o, "createSubelements")) status = pli_mesh_make_subelements(mesh);
    if (status) return status;
    if (pli_bool(o, "flipNormals")) {
        flip(mesh->tris, mesh->tri_count, 3);
        flip(mesh->quads, mesh->quad_count, 4);
    }
    status = pli_set_reals(o, "position", mesh->x, 3 * (size_t)mesh->point_count);
    if (!status) status = publish(o, "edges", mesh->edges, 2 * (size_t)mesh->edge_count);
    if (!status) status = publish(o, "triangles", mesh->tris, 3 * (size_t)mesh->tri_count);
    if (!status) status = publish(o, "quads", mesh->quads, 4 * (size_t)mesh->quad_count);
    if (!status) status = publish(o, "tetrahedra", mesh->tets, 4 * (size_t)mesh->tet_count);
    if (!status) status = publish(o, "hexahedra", mesh->hexes, 8 * (size_t)mesh->hex_count);
    return status;
}

static PliStatus loader_parse(PliObject *o, PliError *err)
{
    const char *path = pli_text(o, "filename");
    if (!*path) return pli_refuse(err, PLI_BAD_ARGUMENT, "needs filename");
    PliMesh *mesh = pli_mesh_read(&o->node->scene->host, path, err);
    if (!mesh) return err->status;
    if (mesh->flipped)
        pli_finding_add(o->node->scene, PLI_NOTE, o->xml, o->cls->name,
                        "%u tetrahedra had negative volume and were reversed", mesh->flipped);
    PliStatus status = finish(o, mesh, err);
    pli_mesh_destroy(mesh);
    if (status == PLI_OUT_OF_MEMORY) pli_refuse(err, status, "no memory for %s", path);
    return status;
}

const PliOps pli_loader_ops = { .parse = loader_parse };
