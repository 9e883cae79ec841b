/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// PLY, text and binary of either byte order: vertices x y z, faces or tristrips vertex_indices; others are passed over.
#include <string.h>

#include "base/memory.h"
#include "mesh/read.h"

enum { MAX_PROPERTIES = 64, MAX_ELEMENTS = 16, MAX_CORNERS = 1024 };

typedef struct Property {
    bool is_list;
    PliScalar count_type, type;
    int axis;      ///< 0 .. 2 for x, y, z, else -1
    bool is_faces; ///< corners of faces
    bool is_strip; ///< corners of strips of triangles, -1 between two of them
} Property;

typedef struct Element {
    bool is_vertex, is_face, is_strip;
    size_t count;
    int property_count;
    Property property[MAX_PROPERTIES];
} Element;

typedef struct Header {
    int element_count;
    Element element[MAX_ELEMENTS];
} Header;

static bool read_type(PliSource *s, PliScalar *type)
{
    static const struct {
        const char *name;
        PliScalar type;
    } names[] = { { "char", PLI_I8 },   { "int8", PLI_I8 },     { "uchar", PLI_U8 },   { "uint8", PLI_U8 },
                  { "short", PLI_I16 }, { "int16", PLI_I16 },   { "ushort", PLI_U16 }, { "uint16", PLI_U16 },
                  { "int", PLI_I32 },   { "int32", PLI_I32 },   { "uint", PLI_U32 },   { "uint32", PLI_U32 },
                  { "float", PLI_F32 }, { "float32", PLI_F32 }, { "double", PLI_F64 }, { "float64", PLI_F64 } };
    PliSlice word;
    if (!pli_source_word_in_line(s, &word)) return pli_source_refuse(s, "the type of a property is missing");
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (pli_slice_is(word, names[k].name)) {
            *type = names[k].type;
            return true;
        }
    return pli_source_refuse(s, "there is no type \"%s\"", pli_source_quote(word).text);
}

static bool read_property(PliSource *s, Element *e)
{
    if (e->property_count == MAX_PROPERTIES)
        return pli_source_refuse(s, "an element has more than %d properties", MAX_PROPERTIES);
    Property *p = &e->property[e->property_count++];
    *p = (Property){ .axis = -1 };
    PliSource look = *s;
    PliSlice word;
    if (pli_source_word_in_line(&look, &word) && pli_slice_is(word, "list")) {
        *s = look;
        p->is_list = true;
        if (!read_type(s, &p->count_type)) return false;
        if (p->count_type >= PLI_F32) return pli_source_refuse(s, "the length of a list cannot be a real number");
    }
    if (!read_type(s, &p->type)) return false;
    if (!pli_source_word_in_line(s, &word)) return pli_source_refuse(s, "the name of a property is missing");
    static const char *const axes[] = { "x", "y", "z" };
    for (int a = 0; a < 3; ++a)
        if (e->is_vertex && !p->is_list && pli_slice_is(word, axes[a])) p->axis = a;
    const bool corners = p->is_list && (pli_slice_is(word, "vertex_indices") || pli_slice_is(word, "vertex_index"));
    p->is_faces = e->is_face && corners;
    p->is_strip = e->is_strip && corners;
    if ((p->is_faces || p->is_strip) && p->type >= PLI_F32)
        return pli_source_refuse(s, "corners of faces cannot be real numbers");
    pli_source_next_line(s);
    return true;
}

static bool read_element(PliSource *s, Header *h)
{
    PliSlice word;
    if (h->element_count == MAX_ELEMENTS)
        return pli_source_refuse(s, "there are more than %d kinds of elements", MAX_ELEMENTS);
    if (!pli_source_word_in_line(s, &word)) return pli_source_refuse(s, "the name of an element is missing");
    Element *e = &h->element[h->element_count++];
    *e = (Element){ .is_vertex = pli_slice_is(word, "vertex"),
                    .is_face = pli_slice_is(word, "face"),
                    .is_strip = pli_slice_is(word, "tristrips") };
    if (!pli_source_count(s, "the number of elements", PLI_I64, 1, &e->count)) return false;
    pli_source_next_line(s);
    return true;
}

static bool read_format(PliSource *s, bool *binary, bool *big)
{
    PliSlice word;
    if (!pli_source_word_in_line(s, &word)) return pli_source_refuse(s, "the format is missing");
    *big = pli_slice_is(word, "binary_big_endian");
    *binary = *big || pli_slice_is(word, "binary_little_endian");
    if (!*binary && !pli_slice_is(word, "ascii"))
        return pli_source_refuse(s, "there is no format \"%s\"", pli_source_quote(word).text);
    pli_source_next_line(s);
    return true;
}

static bool read_header(PliSource *s, Header *h)
{
    PliSlice word;
    bool binary = false, big = false;
    if (!pli_source_expect(s, "ply")) return false;
    pli_source_next_line(s);
    while (pli_source_word(s, &word)) {
        if (pli_slice_is(word, "format")) {
            if (!read_format(s, &binary, &big)) return false;
        } else if (pli_slice_is(word, "comment") || pli_slice_is(word, "obj_info")) {
            pli_source_next_line(s);
        } else if (pli_slice_is(word, "element")) {
            if (!read_element(s, h)) return false;
        } else if (pli_slice_is(word, "property")) {
            if (h->element_count == 0) return pli_source_refuse(s, "a property comes before any element");
            if (!read_property(s, &h->element[h->element_count - 1])) return false;
        } else if (pli_slice_is(word, "end_header")) {
            pli_source_next_line(s);
            const uint16_t one = 1;
            unsigned char first;
            memcpy(&first, &one, 1);
            s->binary = s->offsets = binary;
            s->swap = binary && (first == 1) == big;
            return true;
        } else {
            return pli_source_refuse(s, "expected element, property or end_header, found \"%s\"",
                                     pli_source_quote(word).text);
        }
    }
    return pli_source_refuse(s, "the file ends before end_header");
}

static bool read_value(PliSource *s, PliScalar type, double *value)
{
    if (type >= PLI_F32) return pli_source_real(s, "a property", type, value);
    int64_t whole = 0;
    if (!pli_source_int(s, "a property", type, &whole)) return false;
    *value = (double)whole;
    return true;
}

/// Every corner makes a triangle with the two before it, every other one turned; two equal corners make none.
static bool read_strip(PliSource *s, PliBuilder *b, PliScalar type, size_t count)
{
    int64_t last[2] = { 0, 0 };
    size_t length = 0;
    for (size_t k = 0; k < count; ++k) {
        int64_t corner;
        if (!pli_source_int(s, "a corner", type, &corner)) return false;
        if (corner == -1) {
            length = 0;
            continue;
        }
        const int64_t t[3] = { last[0], last[1], corner };
        const bool flat = t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
        if (length >= 2 && !flat && !pli_builder_cell(b, PLI_TRI, t)) return false;
        last[length % 2] = corner;
        ++length;
    }
    return true;
}

static bool read_list(PliSource *s, PliBuilder *b, const Property *p)
{
    size_t count;
    int64_t corner[MAX_CORNERS];
    if (!pli_source_count(s, "the length of a list", p->count_type, s->binary ? pli_scalar_size(p->type) : 1, &count))
        return false;
    if (p->is_strip) return read_strip(s, b, p->type, count);
    if (p->is_faces && (count < 3 || count > MAX_CORNERS))
        return pli_source_refuse(s, "a face has %zu corners; it must have 3 to %d", count, MAX_CORNERS);
    for (size_t k = 0; k < count; ++k) {
        double ignored;
        if (p->is_faces ? !pli_source_int(s, "a corner", p->type, &corner[k]) : !read_value(s, p->type, &ignored))
            return false;
    }
    return !p->is_faces || pli_builder_polygon(b, corner, count);
}

static bool read_elements(PliSource *s, PliBuilder *b, const Element *e)
{
    for (size_t i = 0; i < e->count; ++i) {
        double x[3] = { 0.0, 0.0, 0.0 }, value;
        for (int k = 0; k < e->property_count; ++k) {
            const Property *p = &e->property[k];
            if (p->is_list ? !read_list(s, b, p) : !read_value(s, p->type, &value)) return false;
            if (!p->is_list && p->axis >= 0) x[p->axis] = value;
        }
        if (e->is_vertex && !pli_builder_point(b, x)) return false;
    }
    return true;
}

static bool read_body(PliSource *s, PliBuilder *b, const Header *h)
{
    for (int k = 0; k < h->element_count; ++k) {
        const Element *e = &h->element[k];
        int axes = 0;
        bool has_faces = false;
        for (int p = 0; p < e->property_count; ++p) {
            axes |= e->property[p].axis >= 0 ? 1 << e->property[p].axis : 0;
            has_faces = has_faces || e->property[p].is_faces || e->property[p].is_strip;
        }
        if (e->is_vertex && axes != 7) return pli_source_refuse(s, "vertices do not have x, y and z");
        if ((e->is_face || e->is_strip) && e->count && !has_faces)
            return pli_source_refuse(s, "faces do not have a list vertex_indices");
        if (e->property_count == 0 && e->count) return pli_source_refuse(s, "an element has no properties");
        if (!read_elements(s, b, e)) return false;
    }
    return true;
}

bool pli_read_ply(PliSource *s, PliBuilder *b)
{
    Header *h = PLI_NEW(&s->host, 1, Header);
    if (!h) return pli_source_no_memory(s);
    const bool good = read_header(s, h) && read_body(s, b, h);
    PLI_FREE(&s->host, h, 1);
    return good;
}
