/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/mesh.h>

#include "base/memory.h"
#include "mesh/tet.h"

// Tetrahedra from hexahedra. Corners are coloured like a chessboard; each cell gives one tetrahedron of its four dark corners and
// one at each light corner. Neighbours share colours, so their diagonals meet, and no direction is preferred.
// A mesh without handles can always be coloured: every cycle of edges is made of quadrangles.

/// Root of a point, and whether its colour differs from the root's.
static PliIndex find(PliIndex *parent, uint8_t *other, PliIndex i, uint8_t *differs)
{
    PliIndex root = i;
    uint8_t sum = 0;
    for (; parent[root] != root; root = parent[root]) sum ^= other[root];
    *differs = sum;
    while (parent[i] != root) { // shorten the way
        const PliIndex next = parent[i];
        const uint8_t step = other[i];
        parent[i] = root;
        other[i] = sum;
        sum ^= step;
        i = next;
    }
    return root;
}

static const uint8_t dark[8] = { 1, 0, 1, 0, 0, 1, 0, 1 };

/// Whether corners of a cell coincide: it is a prism, or something else that is no hexahedron.
static bool is_collapsed(const PliIndex *c)
{
    for (int k = 0; k < 8; ++k)
        for (int m = 0; m < k; ++m)
            if (c[k] == c[m]) return true;
    return false;
}

/// Colours relative to the root of each piece. @return the first cell that cannot be coloured, or PLI_NONE
static PliIndex colour(const PliMesh *m, PliIndex *parent, uint8_t *other)
{
    for (PliIndex i = 0; i < m->point_count; ++i) parent[i] = i, other[i] = 0;
    for (PliIndex h = 0; h < m->hex_count; ++h) {
        const PliIndex *c = m->hexes + 8 * (size_t)h;
        for (int k = 1; k < 8; ++k) {
            uint8_t a, b;
            const PliIndex first = find(parent, other, c[0], &a), second = find(parent, other, c[k], &b);
            const uint8_t wanted = dark[0] ^ dark[k];
            if (first == second && (a ^ b) != wanted) return h;
            if (first == second) continue;
            parent[second] = first;
            other[second] = a ^ b ^ wanted;
        }
    }
    return PLI_NONE;
}

PliStatus pli_mesh_split_hexes(PliMesh *mesh, PliError *err)
{
    // corners of the five, for a cell whose first corner is dark and for one whose first corner is light
    static const uint8_t part[2][5][4] = {
        { { 0, 2, 5, 7 }, { 1, 0, 2, 5 }, { 3, 0, 2, 7 }, { 4, 0, 5, 7 }, { 6, 2, 5, 7 } },
        { { 1, 3, 4, 6 }, { 0, 1, 3, 4 }, { 2, 1, 3, 6 }, { 5, 1, 4, 6 }, { 7, 3, 4, 6 } }
    };
    const PliHost *host = &mesh->host;
    const PliIndex before = mesh->tet_count;
    if (mesh->hex_count > (PLI_NONE - before) / 5)
        return pli_refuse(err, PLI_OVER_CAPACITY, "%u hexahedra give too many tetrahedra", mesh->hex_count);
    for (PliIndex h = 0; h < mesh->hex_count; ++h)
        if (is_collapsed(mesh->hexes + 8 * (size_t)h))
            return pli_refuse(err, PLI_UNSUPPORTED,
                              "cell %u is a prism, which is not split into tetrahedra: give tetrahedra instead", h);
    PliIndex *parent = PLI_NEW(host, mesh->point_count, PliIndex);
    uint8_t *other = PLI_NEW(host, mesh->point_count, uint8_t);
    PliStatus status =
        parent && other ? pli_mesh_resize_cells(mesh, PLI_TET, before + 5 * mesh->hex_count) : PLI_OUT_OF_MEMORY;
    const PliIndex odd = status ? PLI_NONE : colour(mesh, parent, other);
    if (status)
        pli_refuse(err, status, "no memory to split %u hexahedra", mesh->hex_count);
    else if (odd != PLI_NONE)
        status = pli_refuse(err, PLI_BAD_MESH,
                            "hexahedron %u cannot be split like its neighbours: an odd number of cells lies around a "
                            "handle; give tetrahedra instead",
                            odd);
    for (PliIndex h = 0; !status && h < mesh->hex_count; ++h) {
        const PliIndex *c = mesh->hexes + 8 * (size_t)h;
        uint8_t first;
        find(parent, other, c[0], &first);
        for (int p = 0; p < 5; ++p) {
            PliIndex *t = mesh->tets + 4 * ((size_t)before + 5 * (size_t)h + (size_t)p);
            for (int k = 0; k < 4; ++k) t[k] = c[part[first][p][k]];
            if (pli_tet_volume6(mesh->x, t) >= 0.0) continue;
            const PliIndex keep = t[2];
            t[2] = t[3];
            t[3] = keep;
        }
    }
    PLI_FREE(host, parent, mesh->point_count);
    PLI_FREE(host, other, mesh->point_count);
    if (status)
        pli_mesh_resize_cells(mesh, PLI_TET, before);
    else
        status = pli_mesh_resize_cells(mesh, PLI_HEX, 0);
    return status;
}
