/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Subdivision of control lattices. P: a vertex, M: the middle of an edge, A: of a face, C: of a cell, all plain means.
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/wavelet/lattice.h"

enum { ROW = 1024 };

/// One row while it grows.
typedef struct Row {
    PliIndex column[ROW];
    double weight[ROW];
    PliIndex count;
    bool full;
} Row;

static void add(Row *r, PliIndex column, double weight)
{
    for (PliIndex k = 0; k < r->count; ++k)
        if (r->column[k] == column) {
            r->weight[k] += weight;
            return;
        }
    if (r->count == ROW) {
        r->full = true;
        return;
    }
    r->column[r->count] = column;
    r->weight[r->count++] = weight;
}

static void add_edge(const PliLattice *l, Row *r, PliIndex e, double w)
{
    add(r, l->edge[2 * (size_t)e], 0.5 * w);
    add(r, l->edge[2 * (size_t)e + 1], 0.5 * w);
}

static void add_face(const PliLattice *l, Row *r, PliIndex f, double w)
{
    const PliIndex *v = l->face + 4 * (size_t)f;
    const int n = v[3] == PLI_NONE ? 3 : 4;
    for (int k = 0; k < n; ++k) add(r, v[k], w / n);
}

static void add_cell(const PliLattice *l, Row *r, PliIndex c, double w)
{
    for (int k = 0; k < l->corners[c]; ++k) add(r, l->cell[8 * (size_t)c + (size_t)k], w / l->corners[c]);
}

static bool outer_face(const PliLattice *l, PliIndex f) { return l->face_cell[2 * (size_t)f + 1] == PLI_NONE; }

/// Sharp edges at a boundary vertex, up to two of their other ends; 3 or more: the vertex stays.
static int sharp_ends(const PliLattice *l, PliIndex v, PliIndex end[2])
{
    int count = 0;
    for (PliIndex k = l->vertex_edge_first[v]; k < l->vertex_edge_first[v + 1]; ++k) {
        const PliIndex e = l->vertex_edge[k];
        if (!l->sharp[e] || !l->edge_outer[e]) continue;
        if (count < 2) end[count] = l->edge[2 * (size_t)e] == v ? l->edge[2 * (size_t)e + 1] : l->edge[2 * (size_t)e];
        count++;
    }
    return l->corner_tag[v] ? 3 : count;
}

// ---- Catmull-Clark ------------------------------------------------------------------------------------------------------------

static void cc_vertex(const PliLattice *l, Row *r, PliIndex v)
{
    PliIndex end[2];
    if (!l->vertex_outer[v]) {
        const double cells = l->vertex_cell_first[v + 1] - l->vertex_cell_first[v],
                     faces = l->vertex_face_first[v + 1] - l->vertex_face_first[v],
                     edges = l->vertex_edge_first[v + 1] - l->vertex_edge_first[v];
        for (PliIndex k = l->vertex_cell_first[v]; k < l->vertex_cell_first[v + 1]; ++k)
            add_cell(l, r, l->vertex_cell[k], 0.125 / cells);
        for (PliIndex k = l->vertex_face_first[v]; k < l->vertex_face_first[v + 1]; ++k)
            add_face(l, r, l->vertex_face[k], 0.375 / faces);
        for (PliIndex k = l->vertex_edge_first[v]; k < l->vertex_edge_first[v + 1]; ++k)
            add_edge(l, r, l->vertex_edge[k], 0.375 / edges);
        add(r, v, 0.125);
        return;
    }
    const int sharp = sharp_ends(l, v, end);
    if (sharp >= 3) {
        add(r, v, 1.0);
        return;
    }
    if (sharp == 2) {
        add(r, end[0], 0.125), add(r, v, 0.75), add(r, end[1], 0.125);
        return;
    }
    double faces = 0.0, edges = 0.0;
    for (PliIndex k = l->vertex_face_first[v]; k < l->vertex_face_first[v + 1]; ++k)
        faces += outer_face(l, l->vertex_face[k]);
    for (PliIndex k = l->vertex_edge_first[v]; k < l->vertex_edge_first[v + 1]; ++k)
        edges += l->edge_outer[l->vertex_edge[k]];
    for (PliIndex k = l->vertex_face_first[v]; k < l->vertex_face_first[v + 1]; ++k)
        if (outer_face(l, l->vertex_face[k])) add_face(l, r, l->vertex_face[k], 1.0 / (faces * faces));
    for (PliIndex k = l->vertex_edge_first[v]; k < l->vertex_edge_first[v + 1]; ++k)
        if (l->edge_outer[l->vertex_edge[k]]) add_edge(l, r, l->vertex_edge[k], 2.0 / (faces * edges));
    add(r, v, (faces - 3.0) / faces);
}

static void cc_edge(const PliLattice *l, Row *r, PliIndex e)
{
    if (!l->edge_outer[e]) {
        const double n = l->edge_face_first[e + 1] - l->edge_face_first[e],
                     cells = l->edge_cell_first[e + 1] - l->edge_cell_first[e];
        for (PliIndex k = l->edge_cell_first[e]; k < l->edge_cell_first[e + 1]; ++k)
            add_cell(l, r, l->edge_cell[k], 1.0 / (n * cells));
        for (PliIndex k = l->edge_face_first[e]; k < l->edge_face_first[e + 1]; ++k)
            add_face(l, r, l->edge_face[k], 2.0 / (n * n));
        add_edge(l, r, e, (n - 3.0) / n);
    } else if (l->sharp[e]) {
        add_edge(l, r, e, 1.0);
    } else {
        add_edge(l, r, e, 0.5);
        for (PliIndex k = l->edge_face_first[e]; k < l->edge_face_first[e + 1]; ++k)
            if (outer_face(l, l->edge_face[k])) add_face(l, r, l->edge_face[k], 0.25);
    }
}

static void cc_face(const PliLattice *l, Row *r, PliIndex f)
{
    if (outer_face(l, f)) {
        add_face(l, r, f, 1.0);
        return;
    }
    add_face(l, r, f, 0.5);
    add_cell(l, r, l->face_cell[2 * (size_t)f], 0.25);
    add_cell(l, r, l->face_cell[2 * (size_t)f + 1], 0.25);
}

// ---- the split, and averages over it --------------------------------------------------------------------------------------------

/// Vertex i of the finer lattice by the split alone.
static void add_split(const PliLattice *l, Row *r, PliIndex i, double w)
{
    if (i < l->vertex_count)
        add(r, i, w);
    else if ((i -= l->vertex_count) < l->edge_count)
        add_edge(l, r, i, w);
    else if ((i -= l->edge_count) < l->face_count)
        add_face(l, r, i, w);
    else
        add_cell(l, r, i - l->face_count, w);
}

static void average(const PliLattice *coarse, const PliLattice *fine, Row *r, PliIndex v)
{
    PliIndex end[2];
    const int sharp = fine->vertex_outer[v] ? sharp_ends(fine, v, end) : 0;
    if (sharp >= 3) {
        add_split(coarse, r, v, 1.0);
    } else if (sharp == 2) {
        add_split(coarse, r, v, 0.5);
        for (int k = 0; k < 2; ++k) add_split(coarse, r, end[k], 0.25);
    } else if (fine->vertex_outer[v]) {
        double faces = 0.0;
        for (PliIndex k = fine->vertex_face_first[v]; k < fine->vertex_face_first[v + 1]; ++k)
            faces += outer_face(fine, fine->vertex_face[k]);
        for (PliIndex k = fine->vertex_face_first[v]; k < fine->vertex_face_first[v + 1]; ++k)
            for (size_t m = 0; m < 4 && outer_face(fine, fine->vertex_face[k]); ++m)
                add_split(coarse, r, fine->face[4 * (size_t)fine->vertex_face[k] + m], 0.25 / faces);
    } else {
        const double cells = fine->vertex_cell_first[v + 1] - fine->vertex_cell_first[v];
        for (PliIndex k = fine->vertex_cell_first[v]; k < fine->vertex_cell_first[v + 1]; ++k)
            for (size_t m = 0; m < 8; ++m)
                add_split(coarse, r, fine->cell[8 * (size_t)fine->vertex_cell[k] + m], 0.125 / cells);
    }
}

// ---- cells of the finer lattice ----------------------------------------------------------------------------------------------

/// The three edges of each corner, right-handed, as the corners they lead to.
static const uint8_t tet_turn[4][3] = { { 1, 2, 3 }, { 0, 3, 2 }, { 0, 1, 3 }, { 0, 2, 1 } };
static const uint8_t prism_turn[6][3] = {
    { 1, 2, 3 }, { 2, 0, 4 }, { 0, 1, 5 }, { 5, 4, 0 }, { 3, 5, 1 }, { 4, 3, 2 }
};

static PliIndex edge_point(const PliLattice *l, PliIndex c, int a, int b)
{
    const int corners = l->corners[c];
    for (int k = 0; k < pli_cell_edges(corners); ++k) {
        const uint8_t *p = pli_cell_edge(corners, k);
        if ((p[0] == a && p[1] == b) || (p[0] == b && p[1] == a))
            return l->vertex_count + l->cell_edge[12 * (size_t)c + (size_t)k];
    }
    return PLI_NONE;
}

/// Of the face with three given corners.
static PliIndex face_point(const PliLattice *l, PliIndex c, int a, int b, int d)
{
    const int corners = l->corners[c];
    for (int k = 0; k < pli_cell_faces(corners); ++k) {
        int n, hits = 0;
        const uint8_t *p = pli_cell_face(corners, k, &n);
        for (int m = 0; m < n; ++m) hits += p[m] == a || p[m] == b || p[m] == d;
        if (hits == 3) return l->vertex_count + l->edge_count + l->cell_face[6 * (size_t)c + (size_t)k];
    }
    return PLI_NONE;
}

// Of a hexahedron: the cell at corner k has its corner m in the direction of corner m, so that axes do not turn.
static void cut_hex(const PliLattice *l, PliIndex c, int k, PliIndex out[8])
{
    static const uint8_t place[8] = { 0, 1, 3, 2, 4, 5, 7, 6 }; // VTK order <-> bits x, y, z
    for (int m = 0; m < 8; ++m) {
        const int a = place[k], b = place[m], differ = a ^ b,
                  bits = (differ & 1) + (differ >> 1 & 1) + (differ >> 2 & 1);
        if (bits == 0)
            out[m] = l->cell[8 * (size_t)c + (size_t)k];
        else if (bits == 1)
            out[m] = edge_point(l, c, k, m);
        else if (bits == 2) {
            const int step = differ & -differ; // one of the two axes: a third corner of the face
            out[m] = face_point(l, c, k, m, place[a ^ step]);
        } else
            out[m] = l->vertex_count + l->edge_count + l->face_count + c;
    }
}

static void cut_other(const PliLattice *l, PliIndex c, int k, PliIndex out[8])
{
    const uint8_t *turn = l->corners[c] == 6 ? prism_turn[k] : tet_turn[k];
    out[0] = l->cell[8 * (size_t)c + (size_t)k];
    out[1] = edge_point(l, c, k, turn[0]);
    out[2] = face_point(l, c, k, turn[0], turn[1]);
    out[3] = edge_point(l, c, k, turn[1]);
    out[4] = edge_point(l, c, k, turn[2]);
    out[5] = face_point(l, c, k, turn[0], turn[2]);
    out[6] = l->vertex_count + l->edge_count + l->face_count + c;
    out[7] = face_point(l, c, k, turn[1], turn[2]);
}

static void make_row(const PliLattice *l, const PliLattice *fine, PliLatticeRule rule, PliIndex i, Row *r)
{
    r->count = 0;
    if (rule == PLI_RULE_TRILINEAR) {
        add_split(l, r, i, 1.0);
    } else if (rule == PLI_RULE_BSWX) {
        average(l, fine, r, i);
    } else if (i < l->vertex_count) {
        cc_vertex(l, r, i);
    } else if (i < l->vertex_count + l->edge_count) {
        cc_edge(l, r, i - l->vertex_count);
    } else if (i < l->vertex_count + l->edge_count + l->face_count) {
        cc_face(l, r, i - l->vertex_count - l->edge_count);
    } else {
        add_cell(l, r, i - l->vertex_count - l->edge_count - l->face_count, 1.0);
    }
    PliIndex kept = 0; // n = 3 has weights of exactly zero
    for (PliIndex k = 0; k < r->count; ++k)
        if (r->weight[k] != 0.0) r->column[kept] = r->column[k], r->weight[kept++] = r->weight[k];
    r->count = kept;
}

PliLattice *pli_lattice_subdivide(const PliLattice *l, PliLatticeRule rule, PliTransfer **rows, PliError *err)
{
    const PliHost *host = &l->host;
    size_t cells = 0, sharp = 0;
    for (PliIndex c = 0; c < l->cell_count; ++c) cells += l->corners[c];
    for (PliIndex e = 0; e < l->edge_count; ++e) sharp += l->sharp[e];
    const size_t vertices = (size_t)l->vertex_count + l->edge_count + l->face_count + l->cell_count;
    if (vertices > 4000000) {
        pli_refuse(err, PLI_OVER_CAPACITY, "lattice: subdivided it would have %zu vertices; 4000000 are the most",
                   vertices);
        return NULL;
    }
    PliIndex *cell = PLI_NEW(host, 8 * cells, PliIndex), *pairs = PLI_NEW(host, 4 * sharp + 1, PliIndex),
             *kept = PLI_NEW(host, l->vertex_count, PliIndex);
    uint8_t *corners = PLI_NEW(host, cells, uint8_t);
    double *x = PLI_NEW(host, 3 * vertices, double);
    Row *row = PLI_NEW(host, 1, Row);
    PliLattice *fine = NULL;
    PliTransfer *s = NULL;
    PliIndex kept_count = 0;
    if (!cell || !pairs || !kept || !corners || !x || !row) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice of %zu cells", cells);
        goto done;
    }
    size_t at = 0;
    for (PliIndex c = 0; c < l->cell_count; ++c)
        for (int k = 0; k < l->corners[c]; ++k, ++at) {
            if (l->corners[c] == 8)
                cut_hex(l, c, k, cell + 8 * at);
            else
                cut_other(l, c, k, cell + 8 * at);
            corners[at] = 8;
        }
    at = 0;
    for (PliIndex e = 0; e < l->edge_count; ++e)
        for (size_t k = 0; k < 2 && l->sharp[e]; ++k, ++at)
            pairs[2 * at] = l->edge[2 * (size_t)e + k], pairs[2 * at + 1] = l->vertex_count + e;
    for (PliIndex v = 0; v < l->vertex_count; ++v)
        if (l->corner_tag[v]) kept[kept_count++] = v;
    const PliLatticeDef def = { .x = x,
                                .vertex_count = (PliIndex)vertices,
                                .cell = cell,
                                .corners = corners,
                                .cell_count = (PliIndex)cells,
                                .sharp = pairs,
                                .sharp_count = (PliIndex)(2 * sharp),
                                .corner = kept,
                                .corner_count = kept_count,
                                .loose = true };
    fine = pli_lattice_create(host, &def, err);
    if (!fine) goto done;
    if (l->empty) {
        fine->empty = PLI_NEW(host, cells, uint8_t);
        if (!fine->empty) {
            pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice of %zu cells", cells);
            pli_lattice_destroy(fine);
            fine = NULL;
            goto done;
        }
        at = 0;
        for (PliIndex c = 0; c < l->cell_count; ++c)
            for (int k = 0; k < l->corners[c]; ++k) fine->empty[at++] = l->empty[c];
    }
    // twice over the rows: once for their number
    size_t entries = 0;
    for (PliIndex i = 0; i < vertices; ++i) make_row(l, fine, rule, i, row), entries += row->count;
    s = pli_transfer_create(host, (PliIndex)vertices, entries);
    bool good = s && !row->full;
    if (good) pli_transfer_clear(s, l->vertex_count);
    for (PliIndex i = 0; i < vertices && good; ++i) {
        make_row(l, fine, rule, i, row);
        good = pli_transfer_push(s, row->column, row->weight, row->count) == PLI_OK;
    }
    if (!good) {
        pli_refuse(err, row->full ? PLI_BAD_MESH : PLI_OUT_OF_MEMORY,
                   row->full ? "lattice: more than %d vertices meet around one"
                             : "no memory for rows of up to %d entries",
                   ROW);
        pli_lattice_destroy(fine);
        pli_transfer_destroy(s);
        fine = NULL, s = NULL;
        goto done;
    }
    pli_rows_apply(pli_transfer_rows(s), l->x, fine->x);
done:
    PLI_FREE(host, cell, 8 * cells);
    PLI_FREE(host, pairs, 4 * sharp + 1);
    PLI_FREE(host, kept, l->vertex_count);
    PLI_FREE(host, corners, cells);
    PLI_FREE(host, x, 3 * vertices);
    PLI_FREE(host, row, 1);
    if (rows)
        *rows = s;
    else
        pli_transfer_destroy(s);
    return fine;
}
