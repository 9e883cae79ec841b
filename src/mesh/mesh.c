/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/mesh.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "mesh/cells.h"
#include "mesh/tet.h"

PliCells pli_mesh_cells(PliMesh *m, PliCellKind kind)
{
    switch (kind) {
    case PLI_EDGE: return (PliCells){ &m->edges, &m->edge_count, 2 };
    case PLI_TRI: return (PliCells){ &m->tris, &m->tri_count, 3 };
    case PLI_QUAD: return (PliCells){ &m->quads, &m->quad_count, 4 };
    case PLI_TET: return (PliCells){ &m->tets, &m->tet_count, 4 };
    case PLI_HEX: return (PliCells){ &m->hexes, &m->hex_count, 8 };
    }
    return (PliCells){ NULL, NULL, 0 };
}

PliMesh *pli_mesh_create(const PliHost *host)
{
    PliMesh *m = PLI_NEW(host, 1, PliMesh);
    if (m) m->host = *host;
    return m;
}

void pli_mesh_destroy(PliMesh *m)
{
    if (!m) return;
    PliHost host = m->host;
    PLI_FREE(&host, m->x, 3 * (size_t)m->point_count);
    for (int kind = PLI_EDGE; kind <= PLI_HEX; ++kind) {
        PliCells c = pli_mesh_cells(m, (PliCellKind)kind);
        PLI_FREE(&host, *c.index, c.width * (size_t)*c.count);
    }
    PLI_FREE(&host, m, 1);
}

/// Exact size, because the size travels with the release; an array of none is NULL.
static bool resize(const PliHost *host, void **array, size_t old, size_t count, size_t size)
{
    void *block = NULL;
    if (count) {
        block = pli_alloc(host, count, size);
        if (!block) return false;
        if (*array) memcpy(block, *array, (old < count ? old : count) * size);
    }
    pli_free(host, *array, old, size);
    *array = block;
    return true;
}

PliStatus pli_mesh_resize_points(PliMesh *m, PliIndex count)
{
    void *x = m->x;
    if (!resize(&m->host, &x, m->point_count, count, 3 * sizeof(double))) return PLI_OUT_OF_MEMORY;
    m->x = x;
    m->point_count = count;
    return PLI_OK;
}

PliStatus pli_mesh_resize_cells(PliMesh *m, PliCellKind kind, PliIndex count)
{
    PliCells c = pli_mesh_cells(m, kind);
    if (!c.index) return PLI_BAD_ARGUMENT;
    void *index = *c.index;
    if (!resize(&m->host, &index, *c.count, count, c.width * sizeof(PliIndex))) return PLI_OUT_OF_MEMORY;
    *c.index = index;
    *c.count = count;
    return PLI_OK;
}

double pli_mesh_volume(const PliMesh *m)
{
    double sum = 0.0;
    for (PliIndex t = 0; t < m->tet_count; ++t) sum += pli_tet_volume6(m->x, m->tets + 4 * (size_t)t);
    return sum / 6.0;
}

PliStatus pli_mesh_check_tets(const PliMesh *m, double min_quality, PliError *err)
{
    for (PliIndex i = 0; i < m->point_count; ++i) {
        const double *p = m->x + 3 * (size_t)i;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            return pli_refuse(err, PLI_BAD_MESH, "point %u is not finite: (%g, %g, %g)", i, p[0], p[1], p[2]);
    }
    for (PliIndex t = 0; t < m->tet_count; ++t) {
        const PliIndex *tet = m->tets + 4 * (size_t)t;
        for (int k = 0; k < 4; ++k)
            if (tet[k] >= m->point_count)
                return pli_refuse(err, PLI_BAD_MESH, "tetrahedron %u uses point %u, but there are only %u points", t,
                                  tet[k], m->point_count);
        const double q = pli_tet_quality(m->x, tet);
        if (!(pli_tet_volume6(m->x, tet) > 0.0))
            return pli_refuse(err, PLI_BAD_MESH, "tetrahedron %u (points %u %u %u %u) is flat or inverted: volume %g",
                              t, tet[0], tet[1], tet[2], tet[3], pli_tet_volume6(m->x, tet) / 6.0);
        if (!(q >= min_quality))
            return pli_refuse(err, PLI_BAD_MESH, "tetrahedron %u (points %u %u %u %u) has quality %.3g, below %.3g", t,
                              tet[0], tet[1], tet[2], tet[3], q, min_quality);
    }
    return PLI_OK;
}
