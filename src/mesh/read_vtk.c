/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// VTK legacy files: UNSTRUCTURED_GRID and POLYDATA, text and binary (big-endian), up to version 5.1.
#include <string.h>

#include "base/memory.h"
#include "mesh/read.h"

/// Cells as a list: cell i has corners offset[i] .. offset[i + 1].
typedef struct List {
    int64_t *offset, *corner;
    size_t count, corner_count;
} List;

typedef struct Vtk {
    PliSource *s;
    PliBuilder *b;
    bool binary, polydata, has_points, has_cells, has_types;
    double version;
    List cells; ///< of an unstructured grid, until their types are known
} Vtk;

// ---- cells by number --------------------------------------------------------------------------------------------

static bool add_strip(PliBuilder *b, const int64_t *corner, size_t count)
{
    for (size_t k = 2; k < count; ++k) {
        const bool odd = k & 1;
        const int64_t tri[3] = { corner[k - 2], corner[odd ? k : k - 1], corner[odd ? k - 1 : k] };
        if (!pli_builder_cell(b, PLI_TRI, tri)) return false;
    }
    return true;
}

bool pli_read_vtk_cell(PliSource *s, PliBuilder *b, int64_t type, const int64_t *corner, size_t count)
{
    enum {
        VERTEX = 1,
        VERTICES,
        LINE,
        LINES,
        TRIANGLE,
        STRIP,
        POLYGON,
        PIXEL,
        QUAD,
        TETRA,
        VOXEL,
        HEXAHEDRON,
        WEDGE,
        PYRAMID
    };
    static const unsigned char wanted[] = { 0, 1, 0, 2, 0, 3, 0, 0, 4, 4, 4, 8, 8, 6 }; // 0: any
    if (type < VERTEX || type > WEDGE)
        return pli_source_refuse_as(s, PLI_UNSUPPORTED, "VTK cell type %lld%s is not supported", (long long)type,
                                    type == PYRAMID ? " (pyramid)" : "");
    if (wanted[type] && wanted[type] != count)
        return pli_source_refuse(s, "a cell of VTK type %lld with %zu corners instead of %d", (long long)type, count,
                                 wanted[type]);
    switch (type) {
    case LINE:
    case LINES:
        if (count < 2) return pli_source_refuse(s, "a line with %zu points", count);
        for (size_t k = 1; k < count; ++k)
            if (!pli_builder_cell(b, PLI_EDGE, corner + k - 1)) return false;
        return true;
    case STRIP:
        if (count < 3) return pli_source_refuse(s, "a triangle strip with %zu points", count);
        return add_strip(b, corner, count);
    case TRIANGLE: return pli_builder_cell(b, PLI_TRI, corner);
    case POLYGON: return pli_builder_polygon(b, corner, count);
    case QUAD: return pli_builder_cell(b, PLI_QUAD, corner);
    case TETRA: return pli_builder_cell(b, PLI_TET, corner);
    case WEDGE: return pli_builder_prism(b, corner);
    case HEXAHEDRON: return pli_builder_cell(b, PLI_HEX, corner);
    case PIXEL: { // rows instead of a ring
        const int64_t ring[4] = { corner[0], corner[1], corner[3], corner[2] };
        return pli_builder_cell(b, PLI_QUAD, ring);
    }
    case VOXEL: {
        const int64_t ring[8] = {
            corner[0], corner[1], corner[3], corner[2], corner[4], corner[5], corner[7], corner[6]
        };
        return pli_builder_cell(b, PLI_HEX, ring);
    }
    default: return true; // vertices
    }
}

// ---- the parts of the file --------------------------------------------------------------------------------------

static bool find_scalar(PliSource *s, PliSlice word, PliScalar *type)
{
    static const struct {
        const char *name;
        PliScalar type;
    } known[] = {
        { "char", PLI_I8 },          { "unsigned_char", PLI_U8 },
        { "short", PLI_I16 },        { "unsigned_short", PLI_U16 },
        { "int", PLI_I32 },          { "unsigned_int", PLI_U32 },
        { "long", PLI_I64 },         { "unsigned_long", PLI_U64 },
        { "float", PLI_F32 },        { "double", PLI_F64 },
        { "vtktypeint64", PLI_I64 }, { "vtktypeuint64", PLI_U64 },
        { "vtkIdType", PLI_I32 },    { "vtkidtype", PLI_I32 },
        { "vtktypeint32", PLI_I32 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (pli_slice_like(word, known[i].name)) {
            *type = known[i].type;
            return true;
        }
    return pli_source_refuse_as(s, PLI_UNSUPPORTED, "data type \"%s\" is not supported", pli_source_quote(word).text);
}

static bool read_scalar(PliSource *s, PliScalar *type)
{
    PliSlice word;
    if (!pli_source_word_in_line(s, &word)) return pli_source_refuse(s, "the line ends where a data type was expected");
    return find_scalar(s, word, type);
}

/// The numbers begin on the next line; text may go on anywhere.
static bool begin_data(Vtk *v)
{
    if (v->binary && !pli_source_end_line(v->s)) return false;
    v->s->binary = v->binary;
    return true;
}

static bool read_points(Vtk *v)
{
    PliSource *s = v->s;
    int64_t n;
    size_t count;
    PliScalar type;
    if (v->has_points) return pli_source_refuse(s, "a second POINTS");
    v->has_points = true;
    if (!pli_source_int(s, "the number of points", PLI_I32, &n) || !read_scalar(s, &type) || !begin_data(v))
        return false;
    if (!pli_source_check_count(s, "the number of points", n, v->binary ? 3 * pli_scalar_size(type) : 6, &count))
        return false;
    if (!pli_builder_reserve_points(v->b, count)) return false;
    for (size_t i = 0; i < count; ++i) {
        double p[3];
        for (int a = 0; a < 3; ++a)
            if (!pli_source_real(s, "a coordinate", type, &p[a])) return false;
        if (!pli_builder_point(v->b, p)) return false;
    }
    s->binary = false;
    return true;
}

static void free_list(const PliHost *host, List *list)
{
    PLI_FREE(host, list->offset, list->count + 1);
    PLI_FREE(host, list->corner, list->corner_count);
    *list = (List){ 0 };
}

static bool make_list(PliSource *s, List *list, size_t count, size_t corner_count)
{
    *list = (List){ .count = count, .corner_count = corner_count };
    list->offset = PLI_NEW(&s->host, count + 1, int64_t);
    list->corner = PLI_NEW(&s->host, corner_count, int64_t);
    return (list->offset && list->corner) || pli_source_no_memory(s);
}

/// "n size", then for every cell its number of corners and the corners.
static bool read_list_old(Vtk *v, int64_t n, int64_t size, List *list)
{
    PliSource *s = v->s;
    size_t count, numbers;
    if (!begin_data(v) || !pli_source_check_count(s, "the size of the cell list", size, v->binary ? 4 : 2, &numbers) ||
        !pli_source_check_count(s, "the number of cells", n, v->binary ? 4 : 2, &count))
        return false;
    if (count > numbers) return pli_source_refuse(s, "%zu cells in a list of %zu numbers", count, numbers);
    if (!make_list(s, list, count, numbers - count)) return false;
    size_t used = 0;
    for (size_t i = 0; i < count; ++i) {
        int64_t width;
        if (!pli_source_int(s, "a number of corners", PLI_I32, &width)) return false;
        if (width < 0 || (uint64_t)width > list->corner_count - used)
            return pli_source_refuse(s, "cell %zu has %lld corners, but the list has only %zu numbers left", i,
                                     (long long)width, list->corner_count - used);
        for (int64_t k = 0; k < width; ++k)
            if (!pli_source_int(s, "a corner", PLI_I32, &list->corner[used++])) return false;
        list->offset[i + 1] = (int64_t)used;
    }
    if (used < list->corner_count)
        return pli_source_refuse(s, "the cells leave %zu numbers of their list unused", list->corner_count - used);
    s->binary = false;
    return true;
}

/// 5.1: "offsets corners", then OFFSETS type and CONNECTIVITY type, each with its numbers.
static bool read_list_new(Vtk *v, int64_t offsets, int64_t corners, List *list)
{
    PliSource *s = v->s;
    size_t offset_count, corner_count;
    PliScalar type;
    if (!pli_source_expect(s, "OFFSETS") || !read_scalar(s, &type) || !begin_data(v)) return false;
    if (!pli_source_check_count(s, "the number of offsets", offsets, v->binary ? pli_scalar_size(type) : 2,
                                &offset_count) ||
        !pli_source_check_count(s, "the number of corners", corners, v->binary ? 1 : 2, &corner_count))
        return false;
    if (!make_list(s, list, offset_count > 0 ? offset_count - 1 : 0, corner_count)) return false;
    for (size_t i = 0; i < offset_count; ++i) {
        if (!pli_source_int(s, "an offset", type, &list->offset[i])) return false;
        if (list->offset[i] < (i ? list->offset[i - 1] : 0) || (uint64_t)list->offset[i] > corner_count)
            return pli_source_refuse(s, "offset %lld is not between the one before it and %zu",
                                     (long long)list->offset[i], corner_count);
    }
    s->binary = false;
    if (!pli_source_expect(s, "CONNECTIVITY") || !read_scalar(s, &type) || !begin_data(v)) return false;
    for (size_t i = 0; i < corner_count; ++i)
        if (!pli_source_int(s, "a corner", type, &list->corner[i])) return false;
    s->binary = false;
    return true;
}

static bool read_list(Vtk *v, List *list)
{
    PliSource *s = v->s;
    int64_t first, second;
    if (!v->has_points) return pli_source_refuse(s, "cells before POINTS");
    if (!pli_source_int(s, "the number of cells", PLI_I32, &first) ||
        !pli_source_int(s, "the size of the cell list", PLI_I32, &second))
        return false;
    return v->version >= 5.0 ? read_list_new(v, first, second, list) : read_list_old(v, first, second, list);
}

static bool read_types(Vtk *v)
{
    PliSource *s = v->s;
    size_t count;
    int64_t n, type;
    if (v->has_types) return pli_source_refuse(s, "a second CELL_TYPES");
    v->has_types = true;
    if (!v->has_cells) return pli_source_refuse(s, "CELL_TYPES before CELLS");
    if (!pli_source_int(s, "the number of cell types", PLI_I32, &n) || !begin_data(v)) return false;
    if (!pli_source_check_count(s, "the number of cell types", n, v->binary ? 4 : 2, &count)) return false;
    if (count != v->cells.count) return pli_source_refuse(s, "%zu cell types for %zu cells", count, v->cells.count);
    for (size_t i = 0; i < count; ++i) {
        const int64_t first = v->cells.offset[i], last = v->cells.offset[i + 1];
        if (!pli_source_int(s, "a cell type", PLI_I32, &type) ||
            !pli_read_vtk_cell(s, v->b, type, v->cells.corner + first, (size_t)(last - first)))
            return false;
    }
    s->binary = false;
    return true;
}

static bool read_polys(Vtk *v, int64_t type)
{
    List list = { 0 };
    bool good = read_list(v, &list);
    for (size_t i = 0; good && i < list.count; ++i)
        good = pli_read_vtk_cell(v->s, v->b, type, list.corner + list.offset[i],
                                 (size_t)(list.offset[i + 1] - list.offset[i]));
    free_list(&v->s->host, &list);
    return good;
}

/// Strings: a line each in a text; in binary a length of 1, 2, 4 or 8 bytes, told by its two highest bits, then bytes.
static bool skip_strings(Vtk *v, size_t count)
{
    PliSource *s = v->s;
    if (!v->binary) pli_source_next_line(s);
    for (size_t i = 0; i < count; ++i) {
        if (s->at >= s->size) return pli_source_refuse(s, "the file ends inside an array of strings");
        if (!v->binary) {
            pli_source_next_line(s);
            continue;
        }
        const int bytes = 8 >> (s->data[s->at] >> 6);
        const unsigned char *from = pli_source_bytes(s, "the length of a string", (size_t)bytes);
        if (!from) return false;
        uint64_t length = from[0] & 63;
        for (int k = 1; k < bytes; ++k) length = length << 8 | from[k];
        if (!pli_source_bytes(s, "a string", length < s->size ? (size_t)length : s->size)) return false;
    }
    return true;
}

/// One array "name components tuples type" with its values.
static bool skip_array(Vtk *v)
{
    PliSource *s = v->s;
    PliSlice word;
    int64_t components, tuples;
    size_t count;
    PliScalar type = PLI_I8;
    if (!pli_source_word(s, &word)) return pli_source_refuse(s, "the file ends inside FIELD");
    if (!pli_source_int(s, "the number of components", PLI_I32, &components) ||
        !pli_source_int(s, "the number of tuples", PLI_I32, &tuples))
        return false;
    if (components < 0 || components > 1000000 || tuples < 0 || tuples > 1000000000)
        return pli_source_refuse(s, "an array of %lld x %lld values", (long long)components, (long long)tuples);
    if (!pli_source_word_in_line(s, &word)) return pli_source_refuse(s, "the line ends where a data type was expected");
    const bool strings = pli_slice_like(word, "string");
    if (!strings && !find_scalar(s, word, &type)) return false;
    if (!begin_data(v)) return false;
    const size_t least = strings ? 1 : v->binary ? pli_scalar_size(type) : 2;
    if (!pli_source_check_count(s, "the size of the array", components * tuples, least, &count)) return false;
    if (strings && !skip_strings(v, count)) return false;
    if (!strings && v->binary && !pli_source_bytes(s, "an array", count * least)) return false;
    for (size_t i = 0; !strings && !v->binary && i < count; ++i)
        if (!pli_source_word(s, &word)) return pli_source_refuse(s, "the file ends inside an array");
    s->binary = false;
    return true;
}

/// FIELD name n, then n arrays: passed over.
static bool skip_field(Vtk *v)
{
    PliSlice word;
    int64_t arrays;
    if (!pli_source_word(v->s, &word)) return pli_source_refuse(v->s, "FIELD without a name");
    if (!pli_source_int(v->s, "the number of arrays", PLI_I32, &arrays)) return false;
    for (; arrays > 0; --arrays)
        if (!skip_array(v)) return false;
    return true;
}

/// METADATA ends with an empty line.
static bool skip_metadata(PliSource *s)
{
    PliSlice word;
    pli_source_next_line(s);
    while (s->at < s->size && pli_source_word_in_line(s, &word)) pli_source_next_line(s);
    return true;
}

static bool read_part(Vtk *v, PliSlice name)
{
    PliSource *s = v->s;
    if (pli_slice_like(name, "POINTS")) return read_points(v);
    if (pli_slice_like(name, "METADATA")) return skip_metadata(s);
    if (pli_slice_like(name, "FIELD")) return skip_field(v);
    if (v->polydata) {
        if (pli_slice_like(name, "VERTICES")) return read_polys(v, 2);
        if (pli_slice_like(name, "LINES")) return read_polys(v, 4);
        if (pli_slice_like(name, "TRIANGLE_STRIPS")) return read_polys(v, 6);
        if (pli_slice_like(name, "POLYGONS")) return read_polys(v, 7);
    } else {
        if (pli_slice_like(name, "CELL_TYPES")) return read_types(v);
        if (pli_slice_like(name, "CELLS")) {
            if (v->has_cells) return pli_source_refuse(s, "a second CELLS");
            v->has_cells = true;
            return read_list(v, &v->cells);
        }
    }
    return pli_source_refuse(s, "unknown keyword \"%s\"", pli_source_quote(name).text);
}

static bool read_header(Vtk *v)
{
    PliSource *s = v->s;
    PliSlice word;
    if (!pli_source_expect(s, "#") || !pli_source_expect(s, "vtk") || !pli_source_expect(s, "DataFile") ||
        !pli_source_expect(s, "Version"))
        return false;
    if (!pli_source_real(s, "the version", PLI_F64, &v->version)) return false;
    pli_source_next_line(s);
    pli_source_next_line(s); // title
    if (!pli_source_word(s, &word)) return pli_source_refuse(s, "the file ends before ASCII or BINARY");
    v->binary = pli_slice_like(word, "BINARY");
    if (!v->binary && !pli_slice_like(word, "ASCII"))
        return pli_source_refuse(s, "expected ASCII or BINARY, found \"%s\"", pli_source_quote(word).text);
    s->offsets = v->binary;
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    s->swap = first == 1; // the file is big-endian
    if (!pli_source_expect(s, "DATASET")) return false;
    if (!pli_source_word(s, &word)) return pli_source_refuse(s, "the file ends before the kind of dataset");
    v->polydata = pli_slice_like(word, "POLYDATA");
    if (!v->polydata && !pli_slice_like(word, "UNSTRUCTURED_GRID"))
        return pli_source_refuse_as(s, PLI_UNSUPPORTED,
                                    "dataset \"%s\" is not supported: only UNSTRUCTURED_GRID and POLYDATA",
                                    pli_source_quote(word).text);
    return true;
}

bool pli_read_vtk(PliSource *s, PliBuilder *b)
{
    Vtk v = { .s = s, .b = b };
    PliSlice name;
    bool good = read_header(&v);
    // the mesh is over where its data begin
    while (good && pli_source_word(s, &name) && !pli_slice_like(name, "POINT_DATA") &&
           !pli_slice_like(name, "CELL_DATA"))
        good = read_part(&v, name);
    if (good && v.has_cells && !v.has_types) good = pli_source_refuse(s, "CELLS without CELL_TYPES");
    free_list(&s->host, &v.cells);
    return good;
}
