/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "mesh/cells.h"
#include "mesh/faces.h"
#include "mesh/tet.h"

enum { MAX_COUNT = 1000000000 };

/// Larger coordinates are a damaged file, and their cubes would overflow.
static const double max_coordinate = 1e30;

int pli_cell_width(PliCellKind kind)
{
    static const unsigned char width[] = { 2, 3, 4, 4, 8 };
    return width[kind];
}

const char *pli_cell_name(PliCellKind kind)
{
    static const char *const name[] = { "edge", "triangle", "quad", "tetrahedron", "hexahedron" };
    return name[kind];
}

static bool reserve(PliBuilder *b, void **array, size_t count, size_t *capacity, size_t more, size_t size)
{
    PliSource *s = b->source;
    if (more > MAX_COUNT || count > MAX_COUNT - more)
        return pli_source_refuse(s, "more than %d points or cells of one kind", MAX_COUNT);
    if (count + more <= *capacity) return true;
    void *block = pli_alloc(&s->host, count + more, size);
    if (!block) return pli_source_no_memory(s);
    if (*array) memcpy(block, *array, count * size);
    pli_free(&s->host, *array, *capacity, size);
    *array = block, *capacity = count + more;
    return true;
}

/// Doubles, for formats that do not say how many there will be.
static bool grow(PliBuilder *b, void **array, size_t count, size_t *capacity, size_t size)
{
    return count < *capacity || reserve(b, array, count, capacity, count < 32 ? 32 : count, size);
}

bool pli_builder_reserve_points(PliBuilder *b, size_t more)
{
    return reserve(b, &b->x, b->point_count, &b->point_capacity, more, 3 * sizeof(double));
}

bool pli_builder_reserve_cells(PliBuilder *b, PliCellKind kind, size_t more)
{
    return reserve(b, &b->cell[kind], b->cell_count[kind], &b->cell_capacity[kind], more,
                   (size_t)pli_cell_width(kind) * sizeof(PliIndex));
}

bool pli_builder_point(PliBuilder *b, const double p[3])
{
    for (int a = 0; a < 3; ++a)
        if (!(fabs(p[a]) <= max_coordinate))
            return pli_source_refuse(b->source, "point %lld has coordinate %g, beyond +-%g",
                                     (long long)(b->point_count + (size_t)b->base), p[a], max_coordinate);
    if (!grow(b, &b->x, b->point_count, &b->point_capacity, 3 * sizeof(double))) return false;
    memcpy((double *)b->x + 3 * b->point_count++, p, 3 * sizeof(double));
    return true;
}

bool pli_builder_cell(PliBuilder *b, PliCellKind kind, const int64_t *corner)
{
    const int width = pli_cell_width(kind);
    PliIndex index[8];
    for (int k = 0; k < width; ++k) {
        if (corner[k] < b->base || (uint64_t)(corner[k] - b->base) >= b->point_count)
            return pli_source_refuse(b->source, "%s %zu uses point %lld, but the points read so far are %lld .. %lld",
                                     pli_cell_name(kind), b->cell_count[kind], (long long)corner[k], (long long)b->base,
                                     (long long)b->point_count - 1 + (long long)b->base);
        index[k] = (PliIndex)(corner[k] - b->base);
    }
    if (!grow(b, &b->cell[kind], b->cell_count[kind], &b->cell_capacity[kind], (size_t)width * sizeof(PliIndex)))
        return false;
    memcpy((PliIndex *)b->cell[kind] + (size_t)width * b->cell_count[kind]++, index, (size_t)width * sizeof(PliIndex));
    return true;
}

bool pli_builder_prism(PliBuilder *b, const int64_t c[6])
{
    const int64_t hex[8] = { c[0], c[1], c[2], c[2], c[3], c[4], c[5], c[5] };
    return pli_builder_cell(b, PLI_HEX, hex);
}

bool pli_builder_polygon(PliBuilder *b, const int64_t *corner, size_t count)
{
    if (count < 3) return pli_source_refuse(b->source, "a polygon has %zu corners, it needs at least 3", count);
    for (size_t k = 2; k < count; ++k) {
        const int64_t tri[3] = { corner[0], corner[k - 1], corner[k] };
        if (!pli_builder_cell(b, PLI_TRI, tri)) return false;
    }
    return true;
}

void pli_builder_free(PliBuilder *b)
{
    pli_free(&b->source->host, b->x, b->point_capacity, 3 * sizeof(double));
    for (int kind = PLI_EDGE; kind <= PLI_HEX; ++kind)
        pli_free(&b->source->host, b->cell[kind], b->cell_capacity[kind],
                 (size_t)pli_cell_width((PliCellKind)kind) * sizeof(PliIndex));
    PliSource *source = b->source;
    *b = (PliBuilder){ .source = source };
}

// ---- finishing -------------------------------------------------------------------------------------------------

/// A refusal about the whole mesh: no line can be named any more.
static bool refuse_mesh(PliSource *s, const char *sentence)
{
    pli_refuse(s->err, PLI_BAD_MESH, "%.200s: %s", s->path, sentence);
    return false;
}

static void warn(PliSource *s, const char *sentence)
{
    char text[400];
    if (!s->host.log) return;
    snprintf(text, sizeof text, "%.200s: %s", s->path, sentence);
    s->host.log(PLI_LOG_WARNING, text, s->host.user);
}

/// Keeps the first of tets on the same four points: Gmsh writes a cell once for every physical group it belongs to.
static bool drop_repeated_tets(PliBuilder *b)
{
    PliSource *s = b->source;
    PliIndex *tets = b->cell[PLI_TET];
    const size_t count = b->cell_count[PLI_TET];
    size_t size = 16, kept = 0;
    while (size < 2 * count) size *= 2;
    PliIndex *slot = PLI_NEW(&s->host, size, PliIndex); // tet + 1
    if (!slot) return pli_source_no_memory(s);
    for (size_t t = 0; t < count; ++t) {
        PliIndex key[4], other[4];
        memcpy(key, tets + 4 * t, sizeof key);
        pli_tet_sort(key);
        size_t at = (size_t)pli_hash(PLI_HASH_SEED, key, sizeof key) & (size - 1);
        for (; slot[at]; at = (at + 1) & (size - 1)) {
            memcpy(other, tets + 4 * (size_t)(slot[at] - 1), sizeof other);
            pli_tet_sort(other);
            if (memcmp(key, other, sizeof key) == 0) break;
        }
        if (slot[at]) continue;
        memmove(tets + 4 * kept, tets + 4 * t, 4 * sizeof *tets);
        slot[at] = (PliIndex)++kept;
    }
    PLI_FREE(&s->host, slot, size);
    b->cell_count[PLI_TET] = kept;
    if (kept < count) {
        char text[100];
        snprintf(text, sizeof text, "%zu of %zu tetrahedra repeat others and were dropped", count - kept, count);
        warn(s, text);
    }
    return true;
}

static bool make_positive(PliSource *s, PliMesh *m)
{
    for (PliIndex t = 0; t < m->tet_count; ++t) {
        PliIndex *tet = m->tets + 4 * (size_t)t;
        const double v = pli_tet_volume6(m->x, tet);
        if (v > 0.0) continue;
        if (v < 0.0) {
            const PliIndex swap = tet[2];
            tet[2] = tet[3], tet[3] = swap;
            m->flipped++;
            // of a tet flat but for rounding the turned volume need not be the opposite number
            if (pli_tet_volume6(m->x, tet) > 0.0) continue;
        }
        char text[160];
        snprintf(text, sizeof text,
                 "tetrahedron %u (points %u %u %u %u, counted from 0) is flat: its volume is 0 but for rounding", t,
                 tet[0], tet[1], tet[2], tet[3]);
        return refuse_mesh(s, text);
    }
    return true;
}

static bool turn_triangles_outward(PliSource *s, PliMesh *m)
{
    if (!m->tet_count || !m->tri_count) return true;
    PliFaces f;
    if (pli_faces_init(&f, &m->host, m->tets, m->tet_count) != PLI_OK) return pli_source_no_memory(s);
    for (PliIndex t = 0; t < m->tri_count; ++t) {
        PliIndex *tri = m->tris + 3 * (size_t)t, out[3];
        unsigned uses;
        const PliIndex face = pli_faces_find(&f, tri, &uses);
        if (face == PLI_NONE || uses != 1) continue;
        pli_faces_corners(m->tets, face, out);
        // same cyclic order, or turn it
        const int at = tri[0] == out[0] ? 0 : tri[0] == out[1] ? 1 : 2;
        if (tri[1] == out[(at + 1) % 3]) continue;
        const PliIndex swap = tri[1];
        tri[1] = tri[2], tri[2] = swap;
    }
    pli_faces_free(&f);
    return true;
}

/// Moves an array into the mesh; copies only when it has spare room, because the mesh frees exactly what it counts.
static bool hand_over(PliBuilder *b, void **array, size_t count, size_t capacity, size_t size, void **to)
{
    PliSource *s = b->source;
    if (count == capacity) {
        *to = *array;
    } else if (count > 0) {
        *to = pli_alloc(&s->host, count, size);
        if (!*to) return pli_source_no_memory(s);
        memcpy(*to, *array, count * size);
        pli_free(&s->host, *array, capacity, size);
    } else {
        pli_free(&s->host, *array, capacity, size);
    }
    *array = NULL;
    return true;
}

PliMesh *pli_builder_finish(PliBuilder *b)
{
    PliSource *s = b->source;
    if (b->point_count == 0) {
        refuse_mesh(s, "holds no points");
        return NULL;
    }
    PliMesh *m = pli_mesh_create(&s->host);
    if (!m) {
        pli_source_no_memory(s);
        return NULL;
    }
    void *x = NULL;
    bool good = drop_repeated_tets(b) && hand_over(b, &b->x, b->point_count, b->point_capacity, 3 * sizeof(double), &x);
    if (good) m->x = x, m->point_count = (PliIndex)b->point_count, b->point_count = b->point_capacity = 0;
    for (int kind = PLI_EDGE; good && kind <= PLI_HEX; ++kind) {
        const PliCells c = pli_mesh_cells(m, (PliCellKind)kind);
        void *index = NULL;
        good = hand_over(b, &b->cell[kind], b->cell_count[kind], b->cell_capacity[kind], c.width * sizeof(PliIndex),
                         &index);
        if (good)
            *c.index = index, *c.count = (PliIndex)b->cell_count[kind],
            b->cell_count[kind] = b->cell_capacity[kind] = 0;
    }
    if (good && make_positive(s, m) && turn_triangles_outward(s, m)) return m;
    pli_mesh_destroy(m);
    return NULL;
}
