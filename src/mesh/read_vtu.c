/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// VTK XML files: UnstructuredGrid (.vtu) and PolyData (.vtp); arrays as text, inline base64, appended raw or appended
// base64, plain or in zlib blocks.
#include <string.h>

#include "base/memory.h"
#include "mesh/read.h"
#include "mesh/xml.h"
#include "mesh/xml_array.h"

/// Lists of cells a piece may have. CELLS has types, the others imply one.
enum { CELLS, VERTS, LINES, STRIPS, POLYS, LISTS };
static const char *const list_name[LISTS] = { "Cells", "Verts", "Lines", "Strips", "Polys" };
static const int list_type[LISTS] = { 0, 2, 4, 6, 7 };

typedef struct Piece {
    size_t line;
    int64_t point_count, cell_count; ///< as announced
    PliXmlArray points, connectivity[LISTS], offsets[LISTS], types;
} Piece;

typedef struct Vtu {
    PliSource *s;
    PliBuilder *b;
    PliXmlData data;
    Piece *piece;
    size_t piece_count, piece_capacity;
    int64_t *corner; ///< of the cell being read
    size_t corner_capacity;
    bool grid, open; ///< open: inside a Piece
} Vtu;

// ---- finding the arrays -----------------------------------------------------------------------------------------

static bool read_count(Vtu *v, const PliXmlTag *tag, const char *key, int64_t *count)
{
    const PliSlice value = pli_xml_attribute(tag, key);
    *count = 0;
    if (!value.text) return true;
    if (!pli_source_parse_int(v->s, key, value, count)) return false;
    if (*count < 0) return pli_source_refuse(v->s, "%s is %lld", key, (long long)*count);
    return true;
}

static bool begin_piece(Vtu *v, const PliXmlTag *tag)
{
    void *piece = v->piece;
    if (v->piece_count == v->piece_capacity && !pli_grow(&v->s->host, &piece, &v->piece_capacity, sizeof *v->piece))
        return pli_source_no_memory(v->s);
    v->piece = piece;
    Piece *p = &v->piece[v->piece_count++];
    memset(p, 0, sizeof *p);
    p->line = v->s->mark_line;
    v->open = !tag->empty;
    return read_count(v, tag, "NumberOfPoints", &p->point_count) && read_count(v, tag, "NumberOfCells", &p->cell_count);
}

/// The place of an array by its parent element and its name, or NULL for one we do not need.
static PliXmlArray *find_place(Vtu *v, PliSlice parent, PliSlice name)
{
    Piece *p = &v->piece[v->piece_count - 1];
    if (pli_slice_is(parent, "Points")) return &p->points;
    for (int list = 0; list < LISTS; ++list) {
        if (!pli_slice_is(parent, list_name[list])) continue;
        if (pli_slice_is(name, "connectivity")) return &p->connectivity[list];
        if (pli_slice_is(name, "offsets")) return &p->offsets[list];
        if (pli_slice_is(name, "types") && list == CELLS) return &p->types;
    }
    return NULL;
}

static bool read_root(Vtu *v, const PliXmlTag *tag)
{
    PliSource *s = v->s;
    const PliSlice type = pli_xml_attribute(tag, "type");
    v->grid = pli_slice_is(type, "UnstructuredGrid");
    if (!v->grid && !pli_slice_is(type, "PolyData"))
        return pli_source_refuse_as(s, PLI_UNSUPPORTED,
                                    "VTKFile type \"%s\" is not supported: only UnstructuredGrid and PolyData",
                                    pli_source_quote(type).text);
    return pli_xml_data_init(&v->data, s, tag);
}

static bool read_array_tag(Vtu *v, const PliXmlTag *tag, PliSlice parent)
{
    PliXmlArray *place = v->open ? find_place(v, parent, pli_xml_attribute(tag, "Name")) : NULL;
    if (!place) return true;
    if (place->present)
        return pli_source_refuse(v->s, "a second array of the same name in <%s>", pli_source_quote(parent).text);
    return pli_xml_array_init(place, v->s, tag);
}

static bool scan(Vtu *v)
{
    PliSource *s = v->s;
    PliXmlTag tag;
    PliSlice parent = { "", 0 }; // element the arrays are in
    bool found, rooted = false;
    while (pli_xml_next(s, &tag, &found)) {
        if (!found) return rooted || pli_source_refuse(s, "there is no <VTKFile>");
        if (!rooted) {
            if (!pli_slice_is(tag.name, "VTKFile") || tag.closes)
                return pli_source_refuse(s, "expected <VTKFile>, found <%s>", pli_source_quote(tag.name).text);
            rooted = true;
            if (!read_root(v, &tag)) return false;
        } else if (pli_slice_is(tag.name, "Piece")) {
            if (tag.closes)
                v->open = false;
            else if (!begin_piece(v, &tag))
                return false;
        } else if (pli_slice_is(tag.name, "DataArray")) {
            if (!tag.closes && !read_array_tag(v, &tag, parent)) return false;
        } else if (pli_slice_is(tag.name, "AppendedData") && !tag.closes) {
            return pli_xml_data_append(&v->data, s, &tag); // raw bytes follow: nothing behind is looked at
        } else if (!tag.empty) {
            parent = tag.closes ? (PliSlice){ "", 0 } : tag.name;
        }
    }
    return false;
}

// ---- taking the numbers -----------------------------------------------------------------------------------------

static bool read_points(Vtu *v, const Piece *p)
{
    PliSource numbers;
    PliXmlBuffer buffer = { 0 };
    size_t count;
    if (p->point_count == 0) return true;
    v->s->mark_line = p->line;
    if (!p->points.present)
        return pli_source_refuse(v->s, "a Piece of %lld points without an array of points", (long long)p->point_count);
    if (p->points.components != 3) {
        v->s->mark_line = p->points.line;
        return pli_source_refuse(v->s, "points of %lld components instead of 3", (long long)p->points.components);
    }
    const PliScalar type = p->points.type;
    bool good = pli_xml_array_open(&p->points, &v->data, &numbers, &buffer) &&
                pli_source_check_count(&numbers, "NumberOfPoints", p->point_count,
                                       numbers.binary ? 3 * pli_scalar_size(type) : 6, &count) &&
                pli_builder_reserve_points(v->b, count);
    for (int64_t i = 0; good && i < p->point_count; ++i) {
        double x[3];
        for (int a = 0; good && a < 3; ++a) good = pli_source_real(&numbers, "a coordinate", type, &x[a]);
        good = good && pli_builder_point(v->b, x);
    }
    pli_xml_buffer_free(&v->s->host, &buffer);
    return good;
}

static bool has_more(PliSource *s)
{
    PliSlice word;
    if (s->binary) return s->at < s->size;
    PliSource look = *s;
    return pli_source_word(&look, &word);
}

/// The three arrays of a list in step; corners get `shift` because pieces number their points from 0.
typedef struct Columns {
    PliSource connectivity, offsets, types;
    PliXmlBuffer buffer[3];
} Columns;

static bool read_cell(Vtu *v, const Piece *p, int list, Columns *c, int64_t shift, int64_t *offset)
{
    int64_t next, type = list_type[list];
    if (!pli_source_int(&c->offsets, "an offset", p->offsets[list].type, &next)) return false;
    if (list == CELLS && !pli_source_int(&c->types, "a cell type", p->types.type, &type)) return false;
    size_t count;
    if (next < *offset)
        return pli_source_refuse(&c->offsets, "offset %lld is below the one before it, %lld", (long long)next,
                                 (long long)*offset);
    if (!pli_source_check_count(&c->connectivity, "the number of corners of a cell", next - *offset,
                                c->connectivity.binary ? 1 : 2, &count))
        return false;
    *offset = next;
    for (size_t k = 0; k < count; ++k) {
        void *corner = v->corner;
        if (k == v->corner_capacity && !pli_grow(&v->s->host, &corner, &v->corner_capacity, sizeof *v->corner))
            return pli_source_no_memory(v->s);
        v->corner = corner;
        if (!pli_source_int(&c->connectivity, "a corner", p->connectivity[list].type, &v->corner[k])) return false;
        if (v->corner[k] < 0 || v->corner[k] >= p->point_count)
            return pli_source_refuse(&c->connectivity, "a cell uses point %lld of a piece with %lld points",
                                     (long long)v->corner[k], (long long)p->point_count);
        v->corner[k] += shift;
    }
    return pli_read_vtk_cell(&c->connectivity, v->b, type, v->corner, count);
}

static bool read_list(Vtu *v, const Piece *p, int list, int64_t shift)
{
    const bool typed = list == CELLS;
    if (!p->offsets[list].present && !p->connectivity[list].present) return true;
    v->s->mark_line = p->line;
    if (!p->offsets[list].present || !p->connectivity[list].present || (typed && !p->types.present))
        return pli_source_refuse(v->s, "<%s> lacks one of connectivity, offsets%s", list_name[list],
                                 typed ? ", types" : "");
    Columns c;
    memset(&c, 0, sizeof c);
    int64_t offset = 0;
    bool good = pli_xml_array_open(&p->connectivity[list], &v->data, &c.connectivity, &c.buffer[0]) &&
                pli_xml_array_open(&p->offsets[list], &v->data, &c.offsets, &c.buffer[1]) &&
                (!typed || pli_xml_array_open(&p->types, &v->data, &c.types, &c.buffer[2]));
    if (typed)
        for (int64_t i = 0; good && i < p->cell_count; ++i) good = read_cell(v, p, list, &c, shift, &offset);
    else
        while (good && has_more(&c.offsets)) good = read_cell(v, p, list, &c, shift, &offset);
    for (int k = 0; k < 3; ++k) pli_xml_buffer_free(&v->s->host, &c.buffer[k]);
    return good;
}

bool pli_read_vtu(PliSource *s, PliBuilder *b)
{
    Vtu v = { .s = s, .b = b };
    bool good = scan(&v);
    if (good && v.piece_count == 0) good = pli_source_refuse(s, "there is no <Piece>");
    for (size_t i = 0; good && i < v.piece_count; ++i) {
        const int64_t shift = (int64_t)b->point_count;
        good = read_points(&v, &v.piece[i]);
        for (int list = 0; good && list < LISTS; ++list) good = read_list(&v, &v.piece[i], list, shift);
    }
    PLI_FREE(&s->host, v.corner, v.corner_capacity);
    PLI_FREE(&s->host, v.piece, v.piece_capacity);
    return good;
}
