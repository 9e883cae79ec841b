/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Gmsh: msh 1 ($NOD, $ELM), 2.x and 4.1, text and binary. Sections other than nodes and elements are passed over.
#include <string.h>

#include "mesh/read.h"
#include "mesh/tags.h"

typedef struct Msh {
    PliSource *s;
    PliBuilder *b;
    PliTags tags;
    int major;        ///< 1, 2 or 4
    bool binary;      ///< numbers of the sections
    PliScalar number; ///< size_t of the file, msh 4
    bool has_nodes, has_elements;
} Msh;

/// Gmsh element types up to 31 with their node counts; `kind` of those we keep.
typedef struct Type {
    const char *name;
    unsigned char nodes;
    signed char kind; ///< PliCellKind, or one of
} Type;
enum { PASS_OVER = -1, NOT_READ = -2, PRISM = -3 };
static const Type types[] = {
    [1] = { "line", 2, PLI_EDGE },
    [2] = { "triangle", 3, PLI_TRI },
    [3] = { "quadrangle", 4, PLI_QUAD },
    [4] = { "tetrahedron", 4, PLI_TET },
    [5] = { "hexahedron", 8, PLI_HEX },
    [6] = { "prism", 6, PRISM },
    [7] = { "pyramid", 5, NOT_READ },
    [8] = { "second order line", 3, NOT_READ },
    [9] = { "second order triangle", 6, NOT_READ },
    [10] = { "second order quadrangle", 9, NOT_READ },
    [11] = { "second order tetrahedron", 10, NOT_READ },
    [12] = { "second order hexahedron", 27, NOT_READ },
    [15] = { "point", 1, PASS_OVER },
};

/// NULL: refused.
static const Type *find_type(Msh *m, int64_t number)
{
    if (number < 1 || number >= (int64_t)(sizeof types / sizeof *types) || !types[number].name) {
        pli_source_refuse(
            m->s, "element type %lld is not one of line, triangle, quadrangle, tetrahedron, hexahedron, prism, point",
            (long long)number);
        return NULL;
    }
    const Type *type = &types[number];
    if (type->kind != NOT_READ) return type;
    pli_source_refuse_as(m->s, PLI_UNSUPPORTED,
                         "element type %lld (%s) is not supported: save first order lines, triangles, quadrangles, "
                         "tetrahedra, hexahedra or prisms",
                         (long long)number, type->name);
    return NULL;
}

static bool reserve(Msh *m, const Type *type, size_t count)
{
    const PliCellKind kind = type->kind == PRISM ? PLI_HEX : (PliCellKind)type->kind;
    return type->kind == PASS_OVER || pli_builder_reserve_cells(m->b, kind, count);
}

static bool read_element_nodes(Msh *m, const Type *type, PliScalar number)
{
    int64_t tag, corner[8];
    for (int k = 0; k < type->nodes; ++k) {
        if (!pli_source_int(m->s, "a node number", number, &tag)) return false;
        const PliIndex index = pli_tags_find(&m->tags, tag);
        if (index == PLI_NONE)
            return pli_source_refuse(m->s, "a %s uses node %lld, which is not among the nodes", type->name,
                                     (long long)tag);
        corner[k] = index;
    }
    if (type->kind == PRISM) return pli_builder_prism(m->b, corner);
    return type->kind == PASS_OVER || pli_builder_cell(m->b, (PliCellKind)type->kind, corner);
}

static bool add_node(Msh *m, int64_t tag, const double p[3])
{
    if (!pli_tags_add(&m->tags, tag, (PliIndex)m->b->point_count))
        return pli_source_refuse(m->s, "node %lld appears twice", (long long)tag);
    return pli_builder_point(m->b, p);
}

static bool begin_nodes(Msh *m, size_t count)
{
    if (m->has_nodes) return pli_source_refuse(m->s, "a second section of nodes");
    m->has_nodes = true;
    if (pli_tags_init(&m->tags, &m->s->host, count) != PLI_OK) return pli_source_no_memory(m->s);
    return pli_builder_reserve_points(m->b, count);
}

static bool begin_elements(Msh *m)
{
    if (!m->has_nodes) return pli_source_refuse(m->s, "the elements come before the nodes");
    if (m->has_elements) return pli_source_refuse(m->s, "a second section of elements");
    m->has_elements = true;
    return true;
}

static bool read_point(PliSource *s, double p[3])
{
    for (int a = 0; a < 3; ++a)
        if (!pli_source_real(s, "a coordinate", PLI_F64, &p[a])) return false;
    return true;
}

// ---- versions 1 and 2 ------------------------------------------------------------------------------------------

static bool read_nodes_2(Msh *m)
{
    PliSource *s = m->s;
    size_t count;
    if (!pli_source_count(s, "the number of nodes", PLI_I32, m->binary ? 28 : 8, &count) || !begin_nodes(m, count))
        return false;
    if (m->binary && !pli_source_end_line(s)) return false;
    s->binary = m->binary;
    for (size_t i = 0; i < count; ++i) {
        int64_t tag;
        double p[3];
        if (!pli_source_int(s, "a node number", PLI_I32, &tag) || !read_point(s, p) || !add_node(m, tag, p))
            return false;
    }
    s->binary = false;
    return true;
}

static bool read_tags(Msh *m, int64_t count)
{
    size_t checked;
    if (!pli_source_check_count(m->s, "the number of tags", count, m->binary ? 4 : 2, &checked)) return false;
    for (size_t i = 0; i < checked; ++i) {
        int64_t tag;
        if (!pli_source_int(m->s, "an element tag", PLI_I32, &tag)) return false;
    }
    return true;
}

static bool read_text_element_2(Msh *m)
{
    PliSource *s = m->s;
    int64_t tag, number, count;
    if (!pli_source_int(s, "an element number", PLI_I32, &tag) ||
        !pli_source_int(s, "an element type", PLI_I32, &number))
        return false;
    const Type *type = find_type(m, number);
    if (!type) return false;
    if (m->major == 1) {
        if (!read_tags(m, 2) || !pli_source_int(s, "the number of nodes of an element", PLI_I32, &count)) return false;
        if (count != type->nodes)
            return pli_source_refuse(s, "a %s with %lld nodes instead of %d", type->name, (long long)count,
                                     type->nodes);
    } else if (!pli_source_int(s, "the number of tags", PLI_I32, &count) || !read_tags(m, count)) {
        return false;
    }
    return read_element_nodes(m, type, PLI_I32);
}

static bool read_binary_block_2(Msh *m, size_t *left)
{
    PliSource *s = m->s;
    int64_t number, count, tags, tag;
    size_t checked;
    if (!pli_source_int(s, "an element type", PLI_I32, &number)) return false;
    const Type *type = find_type(m, number);
    if (!type) return false;
    if (!pli_source_int(s, "the number of elements of a block", PLI_I32, &count) ||
        !pli_source_int(s, "the number of tags", PLI_I32, &tags))
        return false;
    if (tags < 0 || tags > 1000) return pli_source_refuse(s, "a block of elements with %lld tags", (long long)tags);
    if (!pli_source_check_count(s, "the number of elements of a block", count, 4 * (size_t)(1 + tags + type->nodes),
                                &checked))
        return false;
    if (checked == 0 || checked > *left)
        return pli_source_refuse(s, "a block of %zu elements where %zu are left", checked, *left);
    if (!reserve(m, type, checked)) return false;
    for (size_t i = 0; i < checked; ++i)
        if (!pli_source_int(s, "an element number", PLI_I32, &tag) || !read_tags(m, tags) ||
            !read_element_nodes(m, type, PLI_I32))
            return false;
    *left -= checked;
    return true;
}

static bool read_elements_2(Msh *m)
{
    PliSource *s = m->s;
    size_t count;
    // shortest element: a binary point, or "1 15 0 1"
    if (!begin_elements(m) || !pli_source_count(s, "the number of elements", PLI_I32, 8, &count)) return false;
    if (!m->binary) {
        for (size_t i = 0; i < count; ++i)
            if (!read_text_element_2(m)) return false;
        return true;
    }
    if (!pli_source_end_line(s)) return false;
    s->binary = true;
    while (count > 0)
        if (!read_binary_block_2(m, &count)) return false;
    s->binary = false;
    return true;
}

// ---- version 4.1: the same numbers in the same order in text and binary -------------------------------------------

typedef struct Block {
    int64_t dimension, entity, third; ///< third: parametric for nodes, type for elements
    size_t count;
} Block;

static bool begin_section_4(Msh *m, const char *what, size_t record_bytes, size_t *blocks, size_t *count)
{
    PliSource *s = m->s;
    int64_t low, high;
    if (m->binary && !pli_source_end_line(s)) return false;
    s->binary = m->binary;
    return pli_source_count(s, "the number of blocks", m->number, m->binary ? 12 : 8, blocks) &&
           pli_source_count(s, what, m->number, record_bytes, count) &&
           pli_source_int(s, "the lowest number", m->number, &low) &&
           pli_source_int(s, "the highest number", m->number, &high);
}

static bool read_block_4(Msh *m, const char *what, size_t left, Block *block)
{
    PliSource *s = m->s;
    int64_t count;
    if (!pli_source_int(s, "an entity dimension", PLI_I32, &block->dimension) ||
        !pli_source_int(s, "an entity number", PLI_I32, &block->entity) ||
        !pli_source_int(s, what, PLI_I32, &block->third) ||
        !pli_source_int(s, "the size of a block", m->number, &count))
        return false;
    if (count < 0 || (uint64_t)count > left)
        return pli_source_refuse(s, "a block of %lld where %zu are left", (long long)count, left);
    block->count = (size_t)count;
    return true;
}

static bool read_nodes_4(Msh *m)
{
    PliSource *s = m->s;
    size_t blocks, left;
    if (!begin_section_4(m, "the number of nodes", m->binary ? pli_scalar_size(m->number) + 24 : 8, &blocks, &left) ||
        !begin_nodes(m, left))
        return false;
    for (; blocks > 0; --blocks) {
        Block block;
        if (!read_block_4(m, "the parametric flag", left, &block)) return false;
        if (block.dimension < 0 || block.dimension > 3)
            return pli_source_refuse(s, "an entity of dimension %lld", (long long)block.dimension);
        // numbers first, then as many points: tags are added as they come, points follow in the same order
        const size_t first = m->b->point_count;
        for (size_t i = 0; i < block.count; ++i) {
            int64_t tag;
            if (!pli_source_int(s, "a node number", m->number, &tag)) return false;
            if (!pli_tags_add(&m->tags, tag, (PliIndex)(first + i)))
                return pli_source_refuse(s, "node %lld appears twice", (long long)tag);
        }
        for (size_t i = 0; i < block.count; ++i) {
            double p[3], parameter;
            if (!read_point(s, p) || !pli_builder_point(m->b, p)) return false;
            for (int64_t k = 0; block.third && k < block.dimension; ++k)
                if (!pli_source_real(s, "a parametric coordinate", PLI_F64, &parameter)) return false;
        }
        left -= block.count;
    }
    if (left > 0) return pli_source_refuse(s, "%zu nodes are missing from the blocks", left);
    s->binary = false;
    return true;
}

static bool read_elements_4(Msh *m)
{
    PliSource *s = m->s;
    size_t blocks, left, checked;
    if (!begin_elements(m) ||
        !begin_section_4(m, "the number of elements", m->binary ? 2 * pli_scalar_size(m->number) : 4, &blocks, &left))
        return false;
    for (; blocks > 0; --blocks) {
        Block block;
        int64_t tag;
        if (!read_block_4(m, "an element type", left, &block)) return false;
        const Type *type = find_type(m, block.third);
        if (!type) return false;
        const size_t record = (size_t)(1 + type->nodes) * (m->binary ? pli_scalar_size(m->number) : 2);
        if (!pli_source_check_count(s, "the size of a block", (int64_t)block.count, record, &checked)) return false;
        if (!reserve(m, type, checked)) return false;
        for (size_t i = 0; i < checked; ++i)
            if (!pli_source_int(s, "an element number", m->number, &tag) || !read_element_nodes(m, type, m->number))
                return false;
        left -= checked;
    }
    if (left > 0) return pli_source_refuse(s, "%zu elements are missing from the blocks", left);
    s->binary = false;
    return true;
}

// ---- sections --------------------------------------------------------------------------------------------------

static bool read_format(Msh *m)
{
    PliSource *s = m->s;
    PliSlice word;
    double version;
    int64_t kind, size, one;
    if (!pli_source_word(s, &word)) return pli_source_refuse(s, "the file ends where the version was expected");
    if (!pli_source_parse_real(s, "the version", word, &version)) return false;
    if (!(version >= 2.0 && version < 3.0) && version != 4.1)
        return pli_source_refuse_as(s, PLI_UNSUPPORTED, "msh version %s is not supported: save as 2.2 or 4.1",
                                    pli_source_quote(word).text);
    m->major = version < 3.0 ? 2 : 4;
    if (!pli_source_int(s, "the file type", PLI_I32, &kind) || !pli_source_int(s, "the data size", PLI_I32, &size))
        return false;
    if (kind != 0 && kind != 1)
        return pli_source_refuse(s, "file type %lld is neither 0 (text) nor 1 (binary)", (long long)kind);
    m->binary = kind == 1;
    if (size != 8 && !(size == 4 && m->major == 4))
        return pli_source_refuse(s, "data size %lld is not supported", (long long)size);
    m->number = size == 8 ? PLI_U64 : PLI_U32;
    if (m->binary) {
        s->offsets = true;
        if (!pli_source_end_line(s)) return false;
        s->binary = true;
        if (!pli_source_int(s, "the byte order mark", PLI_I32, &one)) return false;
        s->binary = false;
        s->swap = one == 0x01000000;
        if (one != 1 && !s->swap)
            return pli_source_refuse(s, "the byte order mark is %lld instead of 1", (long long)one);
    }
    return pli_source_expect(s, "$EndMeshFormat");
}

static bool skip_section(PliSource *s, PliSlice name)
{
    char end[64] = "$End";
    if (name.size < 2 || name.size + 4 > sizeof end)
        return pli_source_refuse(s, "\"%s\" is no section name", pli_source_quote(name).text);
    memcpy(end + 4, name.text + 1, name.size - 1);
    if (!pli_source_skip_past(s, end))
        return pli_source_refuse(s, "section %s has no %s", pli_source_quote(name).text, end);
    return true;
}

static bool read_section(Msh *m, PliSlice name)
{
    PliSource *s = m->s;
    if (pli_slice_is(name, "$MeshFormat")) {
        if (m->major) return pli_source_refuse(s, "a second $MeshFormat");
        return read_format(m);
    }
    if (pli_slice_is(name, "$NOD")) {
        if (m->major) return pli_source_refuse(s, "$NOD inside msh %d", m->major);
        m->major = 1;
        return read_nodes_2(m) && pli_source_expect(s, "$ENDNOD");
    }
    if (pli_slice_is(name, "$ELM") && m->major == 1) return read_elements_2(m) && pli_source_expect(s, "$ENDELM");
    if (name.text[0] != '$')
        return pli_source_refuse(s, "expected a section that begins with $, found \"%s\"", pli_source_quote(name).text);
    const bool nodes = pli_slice_is(name, "$Nodes"), elements = pli_slice_is(name, "$Elements");
    if (!nodes && !elements) return skip_section(s, name);
    if (m->major < 2) return pli_source_refuse(s, "%s without $MeshFormat before it", pli_source_quote(name).text);
    if (nodes) return (m->major == 2 ? read_nodes_2(m) : read_nodes_4(m)) && pli_source_expect(s, "$EndNodes");
    return (m->major == 2 ? read_elements_2(m) : read_elements_4(m)) && pli_source_expect(s, "$EndElements");
}

bool pli_read_msh(PliSource *s, PliBuilder *b)
{
    Msh m = { .s = s, .b = b };
    PliSlice name;
    bool good = true;
    while (good && pli_source_word(s, &name)) good = read_section(&m, name);
    if (good && !m.has_nodes) good = pli_source_refuse(s, "there is no section of nodes");
    pli_tags_free(&m.tags);
    return good;
}
