/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/stock/subelements.h"
#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

// Cells that are already known, by their sorted corners.
typedef struct Seen {
    PliHost host;
    PliIndex *key; ///< corners sorted, `n` each; slot is free when its first is PLI_NONE
    PliIndex *count;
    size_t slots;
    int n;
} Seen;

static void sort(PliIndex *v, int n)
{
    for (int i = 1; i < n; ++i)
        for (int j = i; j > 0 && v[j - 1] > v[j]; --j) {
            PliIndex swap = v[j];
            v[j] = v[j - 1];
            v[j - 1] = swap;
        }
}

static bool seen_create(Seen *s, const PliHost *host, size_t most, int n)
{
    s->host = *host;
    s->n = n;
    s->slots = 16;
    while (s->slots < 2 * most) s->slots *= 2;
    s->key = PLI_NEW(host, s->slots * (size_t)n, PliIndex);
    s->count = PLI_NEW(host, s->slots, PliIndex);
    if (s->key) memset(s->key, 0xff, s->slots * (size_t)n * sizeof(PliIndex));
    return s->key && s->count;
}

static void seen_destroy(Seen *s)
{
    PLI_FREE(&s->host, s->key, s->slots * (size_t)s->n);
    PLI_FREE(&s->host, s->count, s->slots);
}

/// How often this cell was added, the present time included.
static PliIndex seen_add(Seen *s, const PliIndex *corners, bool add)
{
    PliIndex key[4];
    memcpy(key, corners, (size_t)s->n * sizeof *key);
    sort(key, s->n);
    size_t at = (size_t)pli_hash(PLI_HASH_SEED, key, (size_t)s->n * sizeof *key) & (s->slots - 1);
    for (;; at = (at + 1) & (s->slots - 1)) {
        PliIndex *slot = s->key + at * (size_t)s->n;
        if (slot[0] == PLI_NONE) {
            if (!add) return 0;
            memcpy(slot, key, (size_t)s->n * sizeof *key);
        }
        if (memcmp(slot, key, (size_t)s->n * sizeof *key) == 0) return s->count[at] += add;
    }
}

// Adds the parts of `count` cells that are new. parts has shape [part_count, n], corner numbers of the cell.
static PliStatus add_parts(PliMesh *mesh, PliCellKind kind, const PliIndex *cells, PliIndex count, int corners,
                           const unsigned char *parts, int part_count, int n)
{
    PliIndex *have_count = kind == PLI_EDGE  ? &mesh->edge_count
                           : kind == PLI_TRI ? &mesh->tri_count
                                             : &mesh->quad_count;
    PliIndex *have = kind == PLI_EDGE ? mesh->edges : kind == PLI_TRI ? mesh->tris : mesh->quads;
    if (count == 0) return PLI_OK;
    size_t most = *have_count + (size_t)count * (size_t)part_count;
    if (most > PLI_NONE / 4) return PLI_OVER_CAPACITY;
    Seen seen = { 0 };
    PliIndex *fresh = PLI_NEW(&mesh->host, (size_t)count * (size_t)part_count * (size_t)n, PliIndex);
    PliStatus status = seen_create(&seen, &mesh->host, most, n) && fresh ? PLI_OK : PLI_OUT_OF_MEMORY;
    PliIndex made = 0, old = *have_count;
    for (PliIndex i = 0; i < old && !status; ++i) seen_add(&seen, have + (size_t)n * i, true);
    for (PliIndex i = 0; i < count && !status; ++i)
        for (int p = 0; p < part_count; ++p) {
            PliIndex part[4];
            for (int k = 0; k < n; ++k) part[k] = cells[(size_t)corners * i + parts[p * n + k]];
            if (seen_add(&seen, part, true) == 1) memcpy(fresh + (size_t)n * made++, part, (size_t)n * sizeof *part);
        }
    if (!status) status = pli_mesh_resize_cells(mesh, kind, old + made);
    if (!status && made) {
        have = kind == PLI_EDGE ? mesh->edges : kind == PLI_TRI ? mesh->tris : mesh->quads;
        memcpy(have + (size_t)n * old, fresh, (size_t)n * made * sizeof *fresh);
    }
    seen_destroy(&seen);
    PLI_FREE(&mesh->host, fresh, (size_t)count * (size_t)part_count * (size_t)n);
    return status;
}

// corners of faces and edges, numbered as SOFA's MeshLoader adds them
static const unsigned char hex_quads[] = { 0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7 };
static const unsigned char tet_tris[] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
static const unsigned char quad_edges[] = { 0, 1, 1, 2, 2, 3, 3, 0 };
static const unsigned char tri_edges[] = { 0, 1, 1, 2, 2, 0 };

PliStatus pli_mesh_make_subelements(PliMesh *mesh)
{
    PliStatus status = add_parts(mesh, PLI_QUAD, mesh->hexes, mesh->hex_count, 8, hex_quads, 6, 4);
    if (!status) status = add_parts(mesh, PLI_TRI, mesh->tets, mesh->tet_count, 4, tet_tris, 4, 3);
    if (!status) status = add_parts(mesh, PLI_EDGE, mesh->quads, mesh->quad_count, 4, quad_edges, 4, 2);
    if (!status) status = add_parts(mesh, PLI_EDGE, mesh->tris, mesh->tri_count, 3, tri_edges, 3, 2);
    return status;
}

PliStatus pli_boundary_triangles(const PliHost *host, const PliIndex *tets, PliIndex count, PliIndex *out,
                                 PliIndex *found)
{
    // face i is opposite to corner i, outward for a positive tetrahedron
    static const unsigned char face[4][3] = { { 1, 2, 3 }, { 2, 0, 3 }, { 3, 0, 1 }, { 0, 2, 1 } };
    Seen seen = { 0 };
    *found = 0;
    if (!seen_create(&seen, host, 4 * (size_t)count, 3)) {
        seen_destroy(&seen);
        return PLI_OUT_OF_MEMORY;
    }
    for (int pass = 0; pass < 2; ++pass)
        for (PliIndex i = 0; i < count; ++i)
            for (int f = 0; f < 4; ++f) {
                const PliIndex *t = tets + 4 * (size_t)i;
                PliIndex tri[3] = { t[face[f][0]], t[face[f][1]], t[face[f][2]] };
                PliIndex times = seen_add(&seen, tri, pass == 0);
                if (pass == 1 && times == 1) memcpy(out + 3 * (size_t)(*found)++, tri, sizeof tri);
            }
    seen_destroy(&seen);
    return PLI_OK;
}

// corners of the edges of each kind of cell
static const unsigned char edge_of[5][12][2] = {
    { { 0, 1 } },
    { { 0, 1 }, { 1, 2 }, { 2, 0 } },
    { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 } },
    { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } },
    { { 0, 1 },
      { 1, 2 },
      { 2, 3 },
      { 3, 0 },
      { 4, 5 },
      { 5, 6 },
      { 6, 7 },
      { 7, 4 },
      { 0, 4 },
      { 1, 5 },
      { 2, 6 },
      { 3, 7 } },
};
static const int edges_of[5] = { 1, 3, 4, 6, 12 }, corners_of[5] = { 2, 3, 4, 4, 8 };

PliStatus pli_cell_edges(const PliHost *host, PliCellKind kind, const PliIndex *cells, PliIndex cell_count,
                         PliIndex **edges, PliIndex *count)
{
    size_t most = (size_t)cell_count * (size_t)edges_of[kind];
    Seen seen = { 0 };
    *count = 0;
    *edges = PLI_NEW(host, 2 * most, PliIndex);
    if (!seen_create(&seen, host, most, 2) || !*edges) {
        seen_destroy(&seen);
        pli_cell_edges_free(host, *edges, kind, cell_count);
        *edges = NULL;
        return PLI_OUT_OF_MEMORY;
    }
    for (PliIndex i = 0; i < cell_count; ++i)
        for (int e = 0; e < edges_of[kind]; ++e) {
            const PliIndex *c = cells + (size_t)corners_of[kind] * i;
            PliIndex pair[2] = { c[edge_of[kind][e][0]], c[edge_of[kind][e][1]] };
            if (seen_add(&seen, pair, true) == 1) memcpy(*edges + 2 * (size_t)(*count)++, pair, sizeof pair);
        }
    seen_destroy(&seen);
    return PLI_OK;
}

void pli_cell_edges_free(const PliHost *host, PliIndex *edges, PliCellKind kind, PliIndex cell_count)
{
    PLI_FREE(host, edges, 2 * (size_t)cell_count * (size_t)edges_of[kind]);
}
