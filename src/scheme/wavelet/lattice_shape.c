/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/wavelet/lattice_shape.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

static const uint8_t bits_of[8] = { 0, 1, 3, 2, 4, 5, 7, 6 }; ///< VTK corner <-> bits x, y, z

struct PliLatticePatch {
    uint64_t hash;
    uint32_t *key; ///< connectivity: cells around the one in the middle, and tags
    size_t key_size;
    PliIndex vertex_count, part_count, point_count;
    PliIndex *part; ///< [part_count, 8] points
    double *weight; ///< [point_count, vertex_count] limit places
};

// ---- regular cells -----------------------------------------------------------------------------------------------------------------

static bool share_face(const PliLattice *l, PliIndex e, PliIndex f)
{
    for (PliIndex i = l->edge_face_first[e]; i < l->edge_face_first[e + 1]; ++i)
        for (PliIndex k = l->edge_face_first[f]; k < l->edge_face_first[f + 1]; ++k)
            if (l->edge_face[i] == l->edge_face[k]) return true;
    return false;
}

/// Subdivision at this vertex is a tensor product.
static bool regular_vertex(const PliLattice *l, PliIndex v)
{
    const PliIndex cells = l->vertex_cell_first[v + 1] - l->vertex_cell_first[v],
                   edges = l->vertex_edge_first[v + 1] - l->vertex_edge_first[v];
    for (PliIndex k = l->vertex_cell_first[v]; k < l->vertex_cell_first[v + 1]; ++k)
        if (l->corners[l->vertex_cell[k]] != 8) return false;
    PliIndex sharp = 0, lone = 0, lone_sharp = 0;
    for (PliIndex k = l->vertex_edge_first[v]; k < l->vertex_edge_first[v + 1]; ++k) {
        const PliIndex e = l->vertex_edge[k], around = l->edge_cell_first[e + 1] - l->edge_cell_first[e];
        const bool is_sharp = l->sharp[e] && l->edge_outer[e];
        sharp += is_sharp;
        lone += around == 1;
        lone_sharp += around == 1 && is_sharp;
        if (!l->edge_outer[e] && around != 4) return false;
    }
    if (!l->vertex_outer[v]) return cells == 8 && edges == 6;
    if (cells == 4) return edges == 5 && lone == 0 && sharp == 0 && !l->corner_tag[v];
    if (cells == 2) return edges == 4 && lone == 2 && lone_sharp == 2 && sharp == 2 && !l->corner_tag[v];
    return cells == 1 && edges == 3 && sharp == 3;
}

/// The vertex straight on from `from` through `v`, or PLI_NONE.
static PliIndex straight_on(const PliLattice *l, PliIndex from, PliIndex v)
{
    const PliIndex e = pli_lattice_find_edge(l, from, v);
    for (PliIndex k = l->vertex_edge_first[v]; k < l->vertex_edge_first[v + 1]; ++k) {
        const PliIndex other = l->vertex_edge[k];
        if (other != e && !share_face(l, e, other))
            return l->edge[2 * (size_t)other] == v ? l->edge[2 * (size_t)other + 1] : l->edge[2 * (size_t)other];
    }
    return PLI_NONE;
}

static PliIndex across_face(const PliLattice *l, PliIndex v, PliIndex a, PliIndex b)
{
    for (PliIndex k = l->vertex_face_first[v]; k < l->vertex_face_first[v + 1]; ++k) {
        const PliIndex *f = l->face + 4 * (size_t)l->vertex_face[k];
        PliIndex rest = PLI_NONE;
        int hits = 0;
        for (int m = 0; m < 4; ++m) {
            if (f[m] == v || f[m] == a || f[m] == b)
                hits++;
            else
                rest = f[m];
        }
        if (hits == 3) return rest;
    }
    return PLI_NONE;
}

static PliIndex across_cell(const PliLattice *l, PliIndex v, PliIndex a, PliIndex b, PliIndex c)
{
    static const uint8_t opposite[8] = { 6, 7, 4, 5, 2, 3, 0, 1 };
    for (PliIndex k = l->vertex_cell_first[v]; k < l->vertex_cell_first[v + 1]; ++k) {
        const PliIndex *h = l->cell + 8 * (size_t)l->vertex_cell[k];
        int hits = 0, at = 0;
        for (int m = 0; m < 8; ++m) {
            hits += h[m] == a || h[m] == b || h[m] == c;
            if (h[m] == v) at = m;
        }
        if (hits == 3) return h[opposite[at]];
    }
    return PLI_NONE;
}

/// Vertices around a regular cell, x fastest, and the sides that are missing. 0: the cell is not regular.
static PliIndex regular_stencil(const PliLattice *l, PliLatticeRule rule, PliIndex c, PliIndex *kind,
                                PliIndex vertex[64])
{
    const PliIndex *h = l->cell + 8 * (size_t)c;
    if (l->corners[c] != 8) return 0;
    PliIndex grid[64];
    memset(grid, 0xff, sizeof grid);
    *kind = 63;
    for (int k = 0; k < 8; ++k) {
        if (rule != PLI_RULE_TRILINEAR && !regular_vertex(l, h[k])) return 0;
        const int b = bits_of[k];
        const int at[3] = { 1 + (b & 1), 1 + (b >> 1 & 1), 1 + (b >> 2) };
        grid[at[0] + 4 * at[1] + 16 * at[2]] = h[k];
        if (rule == PLI_RULE_TRILINEAR) continue;
        PliIndex out[3];
        int far[3];
        for (int a = 0; a < 3; ++a) {
            out[a] = straight_on(l, h[bits_of[b ^ (1 << a)]], h[k]);
            far[a] = b >> a & 1 ? 3 : 0;
            if (out[a] != PLI_NONE) *kind &= ~(1u << (2 * a + (b >> a & 1)));
        }
        for (int set = 1; set < 8; ++set) { // outward along some axes
            int n = 0, p[3] = { at[0], at[1], at[2] };
            PliIndex u[3];
            bool there = true;
            for (int a = 0; a < 3; ++a)
                if (set >> a & 1) p[a] = far[a], u[n++] = out[a], there = there && out[a] != PLI_NONE;
            if (!there) continue;
            const PliIndex found = n == 1   ? u[0]
                                   : n == 2 ? across_face(l, h[k], u[0], u[1])
                                            : across_cell(l, h[k], u[0], u[1], u[2]);
            if (found == PLI_NONE) return 0;
            grid[p[0] + 4 * p[1] + 16 * p[2]] = found;
        }
    }
    PliIndex count = 0;
    for (int i = 0; i < 64; ++i) {
        const int p[3] = { i & 3, i >> 2 & 3, i >> 4 };
        bool missing = false;
        for (int a = 0; a < 3; ++a)
            missing |= (p[a] == 0 && (*kind >> 2 * a & 1)) || (p[a] == 3 && (*kind >> (2 * a + 1) & 1));
        if (missing) continue;
        if (grid[i] == PLI_NONE) return 0;
        vertex[count++] = grid[i];
    }
    return count;
}

/// Values and slopes of the cubic pieces along one axis. @return how many
int pli_shapes_along(PliIndex kind, int axis, double t, double b[4], double d[4])
{
    const PliIndex sides = kind >> 2 * axis & 3;
    const double s = 1.0 - t;
    double v[4] = { s * s * s / 6.0, (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0,
                    (3.0 * s * s * s - 6.0 * s * s + 4.0) / 6.0, t * t * t / 6.0 };
    double g[4] = { -0.5 * s * s, 1.5 * t * t - 2.0 * t, -(1.5 * s * s - 2.0 * s), 0.5 * t * t };
    int first = 0, last = 3;
    if (sides & 1) v[1] += 2.0 * v[0], v[2] -= v[0], g[1] += 2.0 * g[0], g[2] -= g[0], first = 1;
    if (sides & 2) v[2] += 2.0 * v[3], v[1] -= v[3], g[2] += 2.0 * g[3], g[1] -= g[3], last = 2;
    for (int i = first; i <= last; ++i) b[i - first] = v[i], d[i - first] = g[i];
    return last - first + 1;
}

static void eval_regular(PliIndex kind, const double u[3], double *value, double *grad)
{
    double b[3][4], d[3][4];
    int n[3];
    for (int a = 0; a < 3; ++a) n[a] = pli_shapes_along(kind, a, u[a], b[a], d[a]);
    for (int k = 0; k < n[2]; ++k)
        for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i) {
                if (value) *value++ = b[0][i] * b[1][j] * b[2][k];
                if (!grad) continue;
                *grad++ = d[0][i] * b[1][j] * b[2][k];
                *grad++ = b[0][i] * d[1][j] * b[2][k];
                *grad++ = b[0][i] * b[1][j] * d[2][k];
            }
}

// ---- parts of lattices ---------------------------------------------------------------------------------------------------------------

/// A lattice of the listed cells, which keep their order; `number` (per vertex of l, PLI_NONE before and after) and `origin` say who is
/// who. The first vertices are those of the first cells.
static PliLattice *extract(const PliLattice *l, const PliIndex *list, PliIndex count, PliIndex *number,
                           PliIndex *origin, uint32_t *key, size_t *key_size)
{
    const PliHost *host = &l->host;
    PliIndex *cell = PLI_NEW(host, 8 * (size_t)count, PliIndex), *sharp = PLI_NEW(host, 24 * (size_t)count, PliIndex),
             *tagged = PLI_NEW(host, 8 * (size_t)count, PliIndex);
    uint8_t *corners = PLI_NEW(host, count, uint8_t);
    double *x = PLI_NEW(host, 24 * (size_t)count, double);
    PliLattice *out = NULL;
    PliIndex used = 0, sharp_count = 0, tag_count = 0;
    if (cell && sharp && tagged && corners && x) {
        for (PliIndex i = 0; i < count; ++i) {
            corners[i] = l->corners[list[i]];
            for (int k = 0; k < 8; ++k) {
                const PliIndex v = l->cell[8 * (size_t)list[i] + (size_t)k];
                if (v == PLI_NONE) {
                    cell[8 * (size_t)i + (size_t)k] = PLI_NONE;
                    continue;
                }
                if (number[v] == PLI_NONE)
                    number[v] = used, origin[used] = v,
                    memcpy(x + 3 * (size_t)used, l->x + 3 * (size_t)v, 3 * sizeof *x), used++;
                cell[8 * (size_t)i + (size_t)k] = number[v];
            }
        }
        for (PliIndex i = 0; i < count; ++i)
            for (int k = 0; k < pli_cell_edges(corners[i]); ++k) {
                const PliIndex e = l->cell_edge[12 * (size_t)list[i] + (size_t)k];
                if (!l->sharp[e] || !l->edge_outer[e]) continue;
                sharp[2 * (size_t)sharp_count] = number[l->edge[2 * (size_t)e]];
                sharp[2 * (size_t)sharp_count++ + 1] = number[l->edge[2 * (size_t)e + 1]];
            }
        for (PliIndex v = 0; v < used; ++v)
            if (l->corner_tag[origin[v]]) tagged[tag_count++] = v;
        for (PliIndex v = 0; v < used; ++v) number[origin[v]] = PLI_NONE;
        if (key) {
            size_t at = 0;
            key[at++] = count, key[at++] = sharp_count;
            for (PliIndex i = 0; i < 8 * count; ++i) key[at++] = cell[i];
            for (PliIndex i = 0; i < 2 * sharp_count; ++i) key[at++] = sharp[i];
            for (PliIndex i = 0; i < tag_count; ++i) key[at++] = tagged[i];
            *key_size = at;
        }
        const PliLatticeDef def = { .x = x,
                                    .vertex_count = used,
                                    .cell = cell,
                                    .corners = corners,
                                    .cell_count = count,
                                    .sharp = sharp,
                                    .sharp_count = sharp_count,
                                    .corner = tagged,
                                    .corner_count = tag_count,
                                    .loose = true };
        out = pli_lattice_create(host, &def, NULL);
    }
    PLI_FREE(host, cell, 8 * (size_t)count);
    PLI_FREE(host, sharp, 24 * (size_t)count);
    PLI_FREE(host, tagged, 8 * (size_t)count);
    PLI_FREE(host, corners, count);
    PLI_FREE(host, x, 24 * (size_t)count);
    return out;
}

PliIndex pli_lattice_limit(const PliLattice *l, PliLatticeRule rule, PliIndex vertex, PliIndex *column, double *weight,
                           PliIndex capacity)
{
    const PliHost *host = &l->host;
    const PliIndex cells = l->vertex_cell_first[vertex + 1] - l->vertex_cell_first[vertex];
    PliIndex *number = PLI_NEW(host, l->vertex_count, PliIndex), *origin = PLI_NEW(host, 8 * (size_t)cells, PliIndex),
             result = 0;
    PliTransfer *rows = NULL;
    PliLattice *ring = NULL, *fine = NULL;
    double *a = NULL;
    size_t n = 0;
    if (!number || !origin) goto done;
    memset(number, 0xff, l->vertex_count * sizeof *number);
    ring = extract(l, l->vertex_cell + l->vertex_cell_first[vertex], cells, number, origin, NULL, NULL);
    if (!ring || ring->vertex_count > capacity) goto done;
    fine = pli_lattice_subdivide(ring, rule, &rows, NULL);
    n = ring->vertex_count;
    a = PLI_NEW(host, 2 * n * n, double);
    if (!fine || !a) goto done;
    // the ring shrinks onto itself: corner m of the small cell at the vertex comes from corner m of the cell
    const PliRows s = pli_transfer_rows(rows);
    PliIndex centre = 0;
    for (PliIndex c = 0; c < cells; ++c) {
        PliIndex at = 0;
        for (PliIndex k = 0; k < 8; ++k)
            if (origin[ring->cell[8 * (size_t)c + k]] == vertex) at = k, centre = ring->cell[8 * (size_t)c + k];
        for (PliIndex m = 0; m < 8; ++m) {
            const PliIndex i = fine->cell[8 * (8 * (size_t)c + at) + m];
            double *row = a + n * ring->cell[8 * (size_t)c + m];
            memset(row, 0, n * sizeof *row);
            for (PliIndex k = s.first[i]; k < s.first[i + 1]; ++k) row[s.column[k]] = s.weight[k];
        }
    }
    double *from = a, *to = a + n * n;
    for (int doubling = 0; doubling < 7; ++doubling) { // 0.58^128 is nothing
        memset(to, 0, n * n * sizeof *to);
        for (size_t i = 0; i < n; ++i)
            for (size_t k = 0; k < n; ++k)
                for (size_t j = 0; j < n && from[n * i + k] != 0.0; ++j)
                    to[n * i + j] += from[n * i + k] * from[n * k + j];
        double *keep = from;
        from = to, to = keep;
    }
    for (PliIndex k = 0; k < n; ++k) {
        if (from[n * centre + k] == 0.0) continue;
        column[result] = origin[k];
        weight[result++] = from[n * centre + k];
    }
done:
    PLI_FREE(host, a, 2 * n * n);
    pli_transfer_destroy(rows);
    pli_lattice_destroy(ring);
    pli_lattice_destroy(fine);
    PLI_FREE(host, number, l->vertex_count);
    PLI_FREE(host, origin, 8 * (size_t)cells);
    return result;
}

// ---- irregular cells -------------------------------------------------------------------------------------------------------------------

/// Cells of l that touch the first `middle` cells, those first. @return how many
static PliIndex touching(const PliLattice *l, PliIndex middle, PliIndex first, uint8_t *mark, PliIndex *list)
{
    PliIndex count = 0;
    for (PliIndex c = first; c < first + middle; ++c) list[count++] = c, mark[c] = 1;
    for (PliIndex c = first; c < first + middle; ++c)
        for (int k = 0; k < l->corners[c]; ++k) {
            const PliIndex v = l->cell[8 * (size_t)c + (size_t)k];
            for (PliIndex m = l->vertex_cell_first[v]; m < l->vertex_cell_first[v + 1]; ++m)
                if (!mark[l->vertex_cell[m]]) mark[l->vertex_cell[m]] = 1, list[count++] = l->vertex_cell[m];
        }
    for (PliIndex i = 0; i < count; ++i) mark[list[i]] = 0;
    return count;
}

/// Twice subdivided: `weight` are the control points over those of `base`, then the limit of the points in the middle.
static bool fill_patch(PliLatticePatch *p, const PliLattice *base, PliLatticeRule rule)
{
    const PliHost *host = &base->host;
    const size_t m = base->vertex_count;
    const PliLattice *now = base;
    PliLattice *owned = NULL;
    double *w = PLI_NEW(host, m * m, double);
    size_t w_rows = m;
    PliIndex middle = 1;
    bool good = w != NULL;
    for (size_t i = 0; i < m && good; ++i) w[m * i + i] = 1.0;
    for (int depth = 0; depth < 2 && good; ++depth) {
        PliTransfer *rows = NULL;
        middle *= now->corners[0];
        PliLattice *fine = pli_lattice_subdivide(now, rule, &rows, NULL);
        good = fine != NULL;
        uint8_t *mark = good ? PLI_NEW(host, fine->cell_count, uint8_t) : NULL;
        PliIndex *list = good ? PLI_NEW(host, fine->cell_count, PliIndex) : NULL,
                 *number = good ? PLI_NEW(host, fine->vertex_count, PliIndex) : NULL,
                 *origin = good ? PLI_NEW(host, fine->vertex_count, PliIndex) : NULL;
        PliLattice *part = NULL;
        double *next = NULL;
        size_t next_rows = 0;
        if (mark && list && number && origin) {
            const PliIndex count = touching(fine, middle, 0, mark, list);
            memset(number, 0xff, fine->vertex_count * sizeof *number);
            part = extract(fine, list, count, number, origin, NULL, NULL);
            next_rows = part ? part->vertex_count : 0;
            next = part ? PLI_NEW(host, next_rows * m, double) : NULL;
            const PliRows s = pli_transfer_rows(rows);
            for (size_t i = 0; next && i < next_rows; ++i)
                for (PliIndex k = s.first[origin[i]]; k < s.first[origin[i] + 1]; ++k)
                    for (size_t j = 0; j < m; ++j) next[m * i + j] += s.weight[k] * w[m * s.column[k] + j];
        }
        good = next != NULL;
        if (fine) {
            PLI_FREE(host, mark, fine->cell_count);
            PLI_FREE(host, list, fine->cell_count);
            PLI_FREE(host, number, fine->vertex_count);
            PLI_FREE(host, origin, fine->vertex_count);
        }
        pli_transfer_destroy(rows);
        pli_lattice_destroy(fine);
        pli_lattice_destroy(owned);
        PLI_FREE(host, w, w_rows * m);
        w = next, w_rows = next_rows;
        now = owned = part;
    }
    // vertices of the cells in the middle come first
    PliIndex points = 0;
    for (PliIndex i = 0; good && i < 8 * middle; ++i) points = now->cell[i] >= points ? now->cell[i] + 1 : points;
    p->vertex_count = (PliIndex)m, p->part_count = good ? middle : 0, p->point_count = points;
    p->part = PLI_NEW(host, 8 * (size_t)p->part_count, PliIndex);
    p->weight = PLI_NEW(host, (size_t)points * m, double);
    good = good && p->part && p->weight;
    if (good) memcpy(p->part, now->cell, 8 * (size_t)middle * sizeof *p->part);
    for (PliIndex v = 0; v < points && good; ++v) {
        PliIndex column[PLI_SHAPE_WIDTH];
        double weight[PLI_SHAPE_WIDTH];
        const PliIndex count = pli_lattice_limit(now, rule, v, column, weight, PLI_SHAPE_WIDTH);
        good = count > 0;
        for (PliIndex k = 0; k < count; ++k)
            for (size_t j = 0; j < m; ++j) p->weight[m * v + j] += weight[k] * w[m * column[k] + j];
    }
    PLI_FREE(host, w, w_rows * m);
    pli_lattice_destroy(owned);
    return good;
}

static void free_patch(const PliHost *host, PliLatticePatch *p)
{
    PLI_FREE(host, p->key, p->key_size);
    PLI_FREE(host, p->part, 8 * (size_t)p->part_count);
    PLI_FREE(host, p->weight, (size_t)p->point_count * p->vertex_count);
}

typedef struct Scratch {
    uint8_t *mark;
    PliIndex *list, *number, *origin;
    uint32_t *key;
    size_t key_capacity;
} Scratch;

static PliStatus irregular_stencil(PliShapes *s, Scratch *t, PliIndex c, PliIndex *count)
{
    const PliHost *host = &s->host;
    const PliLattice *l = s->lattice;
    const PliIndex cells = touching(l, 1, c, t->mark, t->list);
    size_t size = 0;
    if (2 + 48 * (size_t)cells > t->key_capacity) {
        PLI_FREE(host, t->key, t->key_capacity);
        t->key_capacity = 2 + 96 * (size_t)cells;
        t->key = PLI_NEW(host, t->key_capacity, uint32_t);
        if (!t->key) return PLI_OUT_OF_MEMORY;
    }
    PliLattice *base = extract(l, t->list, cells, t->number, t->origin, t->key, &size);
    if (!base) return PLI_OUT_OF_MEMORY;
    *count = base->vertex_count;
    PliStatus status = base->vertex_count > PLI_SHAPE_WIDTH ? PLI_BAD_MESH : PLI_OK;
    const uint64_t hash = pli_hash(PLI_HASH_SEED, t->key, size * sizeof *t->key);
    size_t at = 0;
    while (at < s->patch_count && !(s->patch[at].hash == hash && s->patch[at].key_size == size &&
                                    memcmp(s->patch[at].key, t->key, size * sizeof *t->key) == 0))
        at++;
    if (status == PLI_OK && at == s->patch_count) {
        if (!PLI_GROW(host, s->patch, s->patch_count, s->patch_capacity)) status = PLI_OUT_OF_MEMORY;
        if (status == PLI_OK) {
            PliLatticePatch p = { .hash = hash, .key_size = size, .key = PLI_NEW(host, size, uint32_t) };
            if (p.key) memcpy(p.key, t->key, size * sizeof *t->key);
            if (!p.key || !fill_patch(&p, base, s->rule)) status = PLI_OUT_OF_MEMORY;
            s->patch[s->patch_count++] = p;
        }
    }
    s->kind[c] = 64 + (PliIndex)at;
    pli_lattice_destroy(base);
    return status;
}

PliShapes *pli_shapes_create(const PliLattice *l, PliLatticeRule rule, PliError *err)
{
    const PliHost *host = &l->host;
    PliShapes *s = PLI_NEW(host, 1, PliShapes);
    if (!s) goto fail;
    s->host = *host, s->lattice = l, s->rule = rule;
    s->first = PLI_NEW(host, (size_t)l->cell_count + 1, PliIndex);
    s->kind = PLI_NEW(host, l->cell_count, PliIndex);
    Scratch t = { .mark = PLI_NEW(host, l->cell_count, uint8_t),
                  .list = PLI_NEW(host, l->cell_count, PliIndex),
                  .number = PLI_NEW(host, l->vertex_count, PliIndex),
                  .origin = PLI_NEW(host, l->vertex_count, PliIndex) };
    PliStatus status = s->first && s->kind && t.mark && t.list && t.number && t.origin ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) memset(t.number, 0xff, l->vertex_count * sizeof *t.number);
    PliIndex bad = 0;
    for (PliIndex c = 0; c < l->cell_count && status == PLI_OK; ++c) {
        if (l->empty && l->empty[c]) { // nobody asks for its shapes
            s->first[c + 1] = s->first[c];
            continue;
        }
        PliIndex grid[64], count = regular_stencil(l, rule, c, &s->kind[c], grid);
        const PliIndex *vertex = grid;
        if (count == 0) {
            status = irregular_stencil(s, &t, c, &count);
            vertex = t.origin;
            s->irregular++;
        }
        bad = c;
        const size_t need = (size_t)s->first[c] + count;
        while (status == PLI_OK && need > s->vertices) {
            size_t grown = s->vertices;
            if (!pli_grow(host, (void **)&s->vertex, &grown, sizeof *s->vertex)) status = PLI_OUT_OF_MEMORY;
            s->vertices = grown;
        }
        if (status != PLI_OK) break;
        memcpy(s->vertex + s->first[c], vertex, count * sizeof *vertex);
        s->first[c + 1] = s->first[c] + count;
        s->width = count > s->width ? count : s->width;
    }
    PLI_FREE(host, t.mark, l->cell_count);
    PLI_FREE(host, t.list, l->cell_count);
    PLI_FREE(host, t.number, l->vertex_count);
    PLI_FREE(host, t.origin, l->vertex_count);
    PLI_FREE(host, t.key, t.key_capacity);
    if (status == PLI_OK) return s;
    if (status == PLI_BAD_MESH) {
        pli_refuse(err, status, "lattice: more than %d vertices reach into cell %u", PLI_SHAPE_WIDTH, bad);
        pli_shapes_destroy(s);
        return NULL;
    }
fail:
    pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the shapes of %u cells", l->cell_count);
    pli_shapes_destroy(s);
    return NULL;
}

void pli_shapes_destroy(PliShapes *s)
{
    if (!s) return;
    const PliHost host = s->host;
    for (size_t i = 0; i < s->patch_count; ++i) free_patch(&host, &s->patch[i]);
    PLI_FREE(&host, s->patch, s->patch_capacity);
    PLI_FREE(&host, s->first, (size_t)s->lattice->cell_count + 1);
    PLI_FREE(&host, s->kind, s->lattice->cell_count);
    PLI_FREE(&host, s->vertex, s->vertices);
    PLI_FREE(&host, s, 1);
}

PliIndex pli_shapes_parts(const PliShapes *s, PliIndex cell)
{
    if (s->first[cell] == s->first[cell + 1]) return 0;
    return s->kind[cell] < 64 ? 1 : s->patch[s->kind[cell] - 64].part_count;
}

void pli_shapes_eval(const PliShapes *s, PliIndex cell, PliIndex part, const double u[3], double *value, double *grad)
{
    if (s->kind[cell] < 64) {
        eval_regular(s->kind[cell], u, value, grad);
        return;
    }
    const PliLatticePatch *p = &s->patch[s->kind[cell] - 64];
    const size_t m = p->vertex_count;
    if (value) memset(value, 0, m * sizeof *value);
    if (grad) memset(grad, 0, 3 * m * sizeof *grad);
    double n[8], g[24];
    eval_regular(63, u, n, g); // trilinear, x fastest
    for (int k = 0; k < 8; ++k) {
        const double *w = p->weight + m * p->part[8 * (size_t)part + bits_of[k]];
        for (size_t j = 0; j < m; ++j) {
            if (value) value[j] += n[k] * w[j];
            if (grad)
                grad[3 * j] += g[3 * k] * w[j], grad[3 * j + 1] += g[3 * k + 1] * w[j],
                    grad[3 * j + 2] += g[3 * k + 2] * w[j];
        }
    }
}
