/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Topology of control lattices: edges and faces of the cells, and who meets where.
#include "scheme/wavelet/lattice.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

const uint8_t pli_hex_edge[12][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 }, { 4, 5 }, { 5, 6 },
                                      { 6, 7 }, { 7, 4 }, { 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 } };
const uint8_t pli_hex_face[6][4] = { { 0, 3, 2, 1 }, { 4, 5, 6, 7 }, { 0, 1, 5, 4 },
                                     { 1, 2, 6, 5 }, { 2, 3, 7, 6 }, { 3, 0, 4, 7 } };
static const uint8_t prism_edge[9][2] = { { 0, 1 }, { 1, 2 }, { 2, 0 }, { 3, 4 }, { 4, 5 },
                                          { 5, 3 }, { 0, 3 }, { 1, 4 }, { 2, 5 } };
static const uint8_t prism_face[5][4] = {
    { 0, 2, 1, 9 }, { 3, 4, 5, 9 }, { 0, 1, 4, 3 }, { 1, 2, 5, 4 }, { 2, 0, 3, 5 }
};
static const uint8_t tet_edge[6][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } };
static const uint8_t tet_face[4][4] = { { 0, 2, 1, 9 }, { 0, 1, 3, 9 }, { 1, 2, 3, 9 }, { 2, 0, 3, 9 } };

const uint8_t *pli_cell_edge(int corners, int e)
{
    return corners == 8 ? pli_hex_edge[e] : corners == 6 ? prism_edge[e] : tet_edge[e];
}

const uint8_t *pli_cell_face(int corners, int f, int *count)
{
    const uint8_t *face = corners == 8 ? pli_hex_face[f] : corners == 6 ? prism_face[f] : tet_face[f];
    *count = face[3] == 9 ? 3 : 4;
    return face;
}

void pli_lattice_forget_joints(PliLattice *l)
{
    const PliHost host = l->host;
    const size_t v = l->vertex_count, c = l->cell_count, e = l->edge_capacity, f = l->face_capacity;
    PLI_FREE(&host, l->corner_tag, v);
    PLI_FREE(&host, l->cell, 8 * c);
    PLI_FREE(&host, l->cell_edge, 12 * c);
    PLI_FREE(&host, l->cell_face, 6 * c);
    PLI_FREE(&host, l->edge, 2 * e);
    PLI_FREE(&host, l->sharp, e);
    PLI_FREE(&host, l->edge_outer, e);
    PLI_FREE(&host, l->face, 4 * f);
    PLI_FREE(&host, l->face_cell, 2 * f);
    PLI_FREE(&host, l->vertex_edge_first, v + 1);
    PLI_FREE(&host, l->vertex_face_first, v + 1);
    PLI_FREE(&host, l->vertex_cell_first, v + 1);
    PLI_FREE(&host, l->edge_face_first, e + 1);
    PLI_FREE(&host, l->edge_cell_first, e + 1);
    PLI_FREE(&host, l->vertex_edge, l->vertex_edges);
    PLI_FREE(&host, l->vertex_face, l->vertex_faces);
    PLI_FREE(&host, l->vertex_cell, l->vertex_cells);
    PLI_FREE(&host, l->edge_face, l->edge_faces);
    PLI_FREE(&host, l->edge_cell, l->edge_cells);
    l->corner_tag = l->sharp = l->edge_outer = NULL;
    l->cell = l->cell_edge = l->cell_face = l->edge = l->face = l->face_cell = NULL;
    l->vertex_edge_first = l->vertex_face_first = l->vertex_cell_first = l->edge_face_first = l->edge_cell_first = NULL;
    l->vertex_edge = l->vertex_face = l->vertex_cell = l->edge_face = l->edge_cell = NULL;
}

void pli_lattice_destroy(PliLattice *l)
{
    if (!l) return;
    const PliHost host = l->host;
    pli_lattice_forget_joints(l);
    PLI_FREE(&host, l->x, 3 * (size_t)l->vertex_count);
    PLI_FREE(&host, l->vertex_outer, l->vertex_count);
    PLI_FREE(&host, l->corners, l->cell_count);
    PLI_FREE(&host, l->empty, l->cell_count);
    PLI_FREE(&host, l, 1);
}

PliIndex pli_lattice_find_edge(const PliLattice *l, PliIndex a, PliIndex b)
{
    for (PliIndex k = l->vertex_edge_first[a]; k < l->vertex_edge_first[a + 1]; ++k) {
        const PliIndex *e = l->edge + 2 * (size_t)l->vertex_edge[k];
        if (e[0] == b || e[1] == b) return l->vertex_edge[k];
    }
    return PLI_NONE;
}

// Chains of edges or faces by their lowest vertex, while they are collected.
typedef struct Chains {
    PliIndex *head, *next;
} Chains;

static PliIndex add_edge(PliLattice *l, Chains *c, PliIndex a, PliIndex b)
{
    const PliIndex low = a < b ? a : b, high = a < b ? b : a;
    for (PliIndex e = c->head[low]; e != PLI_NONE; e = c->next[e])
        if (l->edge[2 * (size_t)e + 1] == high) return e;
    const PliIndex e = l->edge_count++;
    l->edge[2 * (size_t)e] = low, l->edge[2 * (size_t)e + 1] = high;
    c->next[e] = c->head[low];
    c->head[low] = e;
    return e;
}

static bool same_face(const PliIndex *a, const PliIndex *b, int count)
{
    if ((a[3] == PLI_NONE) != (count == 3)) return false;
    for (int i = 0; i < count; ++i) {
        bool found = false;
        for (int k = 0; k < count; ++k) found |= a[k] == b[i];
        if (!found) return false;
    }
    return true;
}

static PliIndex add_face(PliLattice *l, Chains *c, PliIndex cell, const PliIndex *v, int count, PliError *err)
{
    PliIndex low = v[0];
    for (int i = 1; i < count; ++i) low = v[i] < low ? v[i] : low;
    for (PliIndex f = c->head[low]; f != PLI_NONE; f = c->next[f]) {
        if (!same_face(l->face + 4 * (size_t)f, v, count)) continue;
        PliIndex *of = l->face_cell + 2 * (size_t)f;
        if (of[1] != PLI_NONE) {
            pli_refuse(err, PLI_BAD_MESH, "lattice: cells %u, %u and %u share one face", of[0], of[1], cell);
            return PLI_NONE;
        }
        of[1] = cell;
        return f;
    }
    const PliIndex f = l->face_count++;
    for (int i = 0; i < 4; ++i) l->face[4 * (size_t)f + (size_t)i] = i < count ? v[i] : PLI_NONE;
    l->face_cell[2 * (size_t)f] = cell, l->face_cell[2 * (size_t)f + 1] = PLI_NONE;
    c->next[f] = c->head[low];
    c->head[low] = f;
    return f;
}

// ---- who meets whom ---------------------------------------------------------------------------------------------------------

typedef struct Rows {
    PliIndex *first, *item;
    size_t entries;
} Rows;

/// Rows of `count` owners from `pairs` calls of list(k, owners), which gives up to 12 owners of item k.
static bool invert(const PliHost *host, PliIndex owners, size_t capacity, PliIndex items, const PliIndex *list,
                   int width, Rows *rows)
{
    rows->first = PLI_NEW(host, capacity + 1, PliIndex);
    if (!rows->first) return false;
    for (size_t k = 0; k < (size_t)items * (size_t)width; ++k)
        if (list[k] != PLI_NONE) rows->first[list[k] + 1]++;
    for (PliIndex i = 0; i < owners; ++i) rows->first[i + 1] += rows->first[i];
    rows->entries = rows->first[owners];
    rows->item = PLI_NEW(host, rows->entries ? rows->entries : 1, PliIndex);
    PliIndex *at = PLI_NEW(host, (size_t)owners + 1, PliIndex);
    if (!rows->item || !at) {
        PLI_FREE(host, at, (size_t)owners + 1);
        return false;
    }
    memcpy(at, rows->first, ((size_t)owners + 1) * sizeof *at);
    for (PliIndex i = 0; i < items; ++i)
        for (int k = 0; k < width; ++k) {
            const PliIndex owner = list[(size_t)i * (size_t)width + (size_t)k];
            if (owner != PLI_NONE) rows->item[at[owner]++] = i;
        }
    PLI_FREE(host, at, (size_t)owners + 1);
    if (!rows->entries) rows->entries = 1;
    return true;
}

static bool find_incidence(PliLattice *l)
{
    const PliHost *host = &l->host;
    Rows r = { 0 };
    bool good = true;
    PliIndex *face_edge = PLI_NEW(host, 4 * (size_t)l->face_count, PliIndex);
    if (!face_edge) return false;
    good = good && invert(host, l->vertex_count, l->vertex_count, l->edge_count, l->edge, 2, &r);
    l->vertex_edge_first = r.first, l->vertex_edge = r.item, l->vertex_edges = r.entries, r = (Rows){ 0 };
    good = good && invert(host, l->vertex_count, l->vertex_count, l->face_count, l->face, 4, &r);
    l->vertex_face_first = r.first, l->vertex_face = r.item, l->vertex_faces = r.entries, r = (Rows){ 0 };
    good = good && invert(host, l->vertex_count, l->vertex_count, l->cell_count, l->cell, 8, &r);
    l->vertex_cell_first = r.first, l->vertex_cell = r.item, l->vertex_cells = r.entries, r = (Rows){ 0 };
    good = good && invert(host, l->edge_count, l->edge_capacity, l->cell_count, l->cell_edge, 12, &r);
    l->edge_cell_first = r.first, l->edge_cell = r.item, l->edge_cells = r.entries, r = (Rows){ 0 };
    for (PliIndex f = 0; good && f < l->face_count; ++f) {
        const PliIndex *v = l->face + 4 * (size_t)f;
        const int n = v[3] == PLI_NONE ? 3 : 4;
        for (int k = 0; k < 4; ++k)
            face_edge[4 * (size_t)f + (size_t)k] = k < n ? pli_lattice_find_edge(l, v[k], v[(k + 1) % n]) : PLI_NONE;
    }
    good = good && invert(host, l->edge_count, l->edge_capacity, l->face_count, face_edge, 4, &r);
    l->edge_face_first = r.first, l->edge_face = r.item, l->edge_faces = r.entries;
    PLI_FREE(host, face_edge, 4 * (size_t)l->face_count);
    return good;
}

static PliStatus mark_boundary(PliLattice *l, bool loose, PliError *err)
{
    for (PliIndex f = 0; f < l->face_count; ++f) {
        if (l->face_cell[2 * (size_t)f + 1] != PLI_NONE) continue;
        for (int k = 0; k < 4; ++k)
            if (l->face[4 * (size_t)f + (size_t)k] != PLI_NONE) l->vertex_outer[l->face[4 * (size_t)f + (size_t)k]] = 1;
    }
    for (PliIndex e = 0; e < l->edge_count; ++e) {
        int outer = 0;
        for (PliIndex k = l->edge_face_first[e]; k < l->edge_face_first[e + 1]; ++k)
            outer += l->face_cell[2 * (size_t)l->edge_face[k] + 1] == PLI_NONE;
        l->edge_outer[e] = outer > 0;
        if (outer != 0 && outer != 2 && !loose)
            return pli_refuse(
                err, PLI_BAD_MESH,
                "lattice: %d boundary faces meet at the edge between vertices %u and %u; there must be two", outer,
                l->edge[2 * (size_t)e], l->edge[2 * (size_t)e + 1]);
    }
    // a vertex where two parts of the boundary only touch: its boundary faces do not form one ring
    for (PliIndex v = 0; v < l->vertex_count && !loose; ++v) {
        if (!l->vertex_outer[v]) continue;
        PliIndex faces = 0, start = PLI_NONE;
        for (PliIndex k = l->vertex_face_first[v]; k < l->vertex_face_first[v + 1]; ++k)
            if (l->face_cell[2 * (size_t)l->vertex_face[k] + 1] == PLI_NONE) faces++, start = l->vertex_face[k];
        PliIndex walked = 0, face = start, from = PLI_NONE;
        do { // to the next boundary face around v, over the edge of `face` at v that we did not come by
            PliIndex over = PLI_NONE;
            for (PliIndex k = l->vertex_edge_first[v]; k < l->vertex_edge_first[v + 1] && over == PLI_NONE; ++k) {
                const PliIndex e = l->vertex_edge[k];
                if (e == from) continue;
                for (PliIndex m = l->edge_face_first[e]; m < l->edge_face_first[e + 1]; ++m)
                    if (l->edge_face[m] == face) over = e;
            }
            PliIndex next = PLI_NONE;
            for (PliIndex m = over == PLI_NONE ? 0 : l->edge_face_first[over];
                 over != PLI_NONE && m < l->edge_face_first[over + 1]; ++m)
                if (l->edge_face[m] != face && l->face_cell[2 * (size_t)l->edge_face[m] + 1] == PLI_NONE)
                    next = l->edge_face[m];
            from = over, face = next, walked++;
        } while (face != start && face != PLI_NONE && walked <= faces);
        if (walked != faces)
            return pli_refuse(err, PLI_BAD_MESH, "lattice: two parts of the boundary touch at vertex %u only", v);
    }
    return PLI_OK;
}

static PliStatus build(PliLattice *l, const PliLatticeDef *def, PliError *err)
{
    const PliHost *host = &l->host;
    const size_t v = def->vertex_count, c = def->cell_count, e = l->edge_capacity, f = l->face_capacity;
    l->x = PLI_NEW(host, 3 * v, double);
    l->corner_tag = PLI_NEW(host, v, uint8_t);
    l->vertex_outer = PLI_NEW(host, v, uint8_t);
    l->corners = PLI_NEW(host, c, uint8_t);
    l->cell = PLI_NEW(host, 8 * c, PliIndex);
    l->cell_edge = PLI_NEW(host, 12 * c, PliIndex);
    l->cell_face = PLI_NEW(host, 6 * c, PliIndex);
    l->edge = PLI_NEW(host, 2 * e, PliIndex);
    l->sharp = PLI_NEW(host, e, uint8_t);
    l->edge_outer = PLI_NEW(host, e, uint8_t);
    l->face = PLI_NEW(host, 4 * f, PliIndex);
    l->face_cell = PLI_NEW(host, 2 * f, PliIndex);
    Chains edges = { PLI_NEW(host, v, PliIndex), PLI_NEW(host, e, PliIndex) },
           faces = { PLI_NEW(host, v, PliIndex), PLI_NEW(host, f, PliIndex) };
    PliStatus status = PLI_OK;
    if (!l->x || !l->corner_tag || !l->vertex_outer || !l->corners || !l->cell || !l->cell_edge || !l->cell_face ||
        !l->edge || !l->sharp || !l->edge_outer || !l->face || !l->face_cell || !edges.head || !edges.next ||
        !faces.head || !faces.next)
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice of %u cells", def->cell_count);
    if (status == PLI_OK) {
        memcpy(l->x, def->x, 3 * v * sizeof *l->x);
        memcpy(l->corners, def->corners, c);
        memset(edges.head, 0xff, v * sizeof *edges.head);
        memset(faces.head, 0xff, v * sizeof *faces.head);
        memset(l->cell, 0xff, 8 * c * sizeof *l->cell);
        memset(l->cell_edge, 0xff, 12 * c * sizeof *l->cell_edge);
        memset(l->cell_face, 0xff, 6 * c * sizeof *l->cell_face);
    }
    for (PliIndex i = 0; status == PLI_OK && i < def->cell_count; ++i) {
        const int corners = def->corners[i];
        const PliIndex *at = def->cell + 8 * (size_t)i;
        for (int k = 0; k < corners && status == PLI_OK; ++k) {
            if (at[k] >= def->vertex_count)
                status =
                    pli_refuse(err, PLI_BAD_MESH, "lattice: cell %u has corner %u of %u", i, at[k], def->vertex_count);
            l->cell[8 * (size_t)i + (size_t)k] = at[k];
        }
        for (int k = 0; k < pli_cell_edges(corners) && status == PLI_OK; ++k) {
            const uint8_t *p = pli_cell_edge(corners, k);
            l->cell_edge[12 * (size_t)i + (size_t)k] = add_edge(l, &edges, at[p[0]], at[p[1]]);
        }
        for (int k = 0; k < pli_cell_faces(corners) && status == PLI_OK; ++k) {
            int n;
            const uint8_t *p = pli_cell_face(corners, k, &n);
            PliIndex vertex[4] = { 0 };
            for (int m = 0; m < n; ++m) vertex[m] = at[p[m]];
            const PliIndex face = add_face(l, &faces, i, vertex, n, err);
            l->cell_face[6 * (size_t)i + (size_t)k] = face;
            if (face == PLI_NONE) status = PLI_BAD_MESH;
        }
    }
    PLI_FREE(host, edges.head, v);
    PLI_FREE(host, edges.next, e);
    PLI_FREE(host, faces.head, v);
    PLI_FREE(host, faces.next, f);
    if (status == PLI_OK && !find_incidence(l))
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice of %u cells", def->cell_count);
    if (status == PLI_OK) status = mark_boundary(l, def->loose, err);
    for (PliIndex k = 0; k < def->sharp_count && status == PLI_OK; ++k) {
        const PliIndex a = def->sharp[2 * (size_t)k], b = def->sharp[2 * (size_t)k + 1];
        const PliIndex found =
            a < def->vertex_count && b < def->vertex_count ? pli_lattice_find_edge(l, a, b) : PLI_NONE;
        if (found == PLI_NONE)
            status = pli_refuse(err, PLI_BAD_MESH, "lattice: the sharp edge between vertices %u and %u does not exist",
                                a, b);
        else
            l->sharp[found] = 1;
    }
    for (PliIndex k = 0; k < def->corner_count && status == PLI_OK; ++k) {
        if (def->corner[k] >= def->vertex_count)
            status = pli_refuse(err, PLI_BAD_MESH, "lattice: corner %u of %u vertices does not exist", def->corner[k],
                                def->vertex_count);
        else
            l->corner_tag[def->corner[k]] = 1;
    }
    return status;
}

PliLattice *pli_lattice_create(const PliHost *host, const PliLatticeDef *def, PliError *err)
{
    if (def->cell_count == 0) {
        pli_refuse(err, PLI_BAD_MESH, "a lattice needs cells");
        return NULL;
    }
    PliLattice *l = PLI_NEW(host, 1, PliLattice);
    if (!l) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice");
        return NULL;
    }
    l->host = *host;
    l->vertex_count = def->vertex_count;
    l->cell_count = def->cell_count;
    l->edge_capacity = 12 * (size_t)def->cell_count;
    l->face_capacity = 6 * (size_t)def->cell_count;
    if (build(l, def, err) != PLI_OK) {
        pli_lattice_destroy(l);
        return NULL;
    }
    return l;
}

PliIndex pli_lattice_surface(const PliLattice *l, PliIndex *tris)
{
    PliIndex count = 0;
    for (PliIndex c = 0; c < l->cell_count; ++c)
        for (int k = 0; k < pli_cell_faces(l->corners[c]); ++k) {
            if (l->face_cell[2 * (size_t)l->cell_face[6 * (size_t)c + (size_t)k] + 1] != PLI_NONE) continue;
            int n;
            const uint8_t *p = pli_cell_face(l->corners[c], k, &n);
            for (int t = 0; t + 2 < n; ++t, ++count) {
                if (!tris) continue;
                PliIndex *to = tris + 3 * (size_t)count;
                to[0] = l->cell[8 * (size_t)c + p[0]], to[1] = l->cell[8 * (size_t)c + p[t + 1]],
                to[2] = l->cell[8 * (size_t)c + p[t + 2]];
            }
        }
    return count;
}
