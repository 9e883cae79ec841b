/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Medit .mesh, text.
#include "mesh/read.h"

/// Keywords that carry a count and rows of `numbers`; `kind` of the cells we keep (their rows end with a reference).
typedef struct Section {
    const char *name;
    int numbers;
    int kind; ///< PliCellKind or one of
} Section;
enum { VERTICES = -1, PASS_OVER = -2, NOT_READ = -3, PRISMS = -4 };
static const Section sections[] = {
    { "Vertices", 4, VERTICES },
    { "Edges", 3, PLI_EDGE },
    { "Triangles", 4, PLI_TRI },
    { "Quadrilaterals", 5, PLI_QUAD },
    { "Tetrahedra", 5, PLI_TET },
    { "Hexahedra", 9, PLI_HEX },
    { "Hexaedra", 9, PLI_HEX }, // old spelling
    { "Prisms", 7, PRISMS },
    { "Pyramids", 6, NOT_READ },
    { "Corners", 1, PASS_OVER },
    { "Ridges", 1, PASS_OVER },
    { "RequiredVertices", 1, PASS_OVER },
    { "RequiredEdges", 1, PASS_OVER },
    { "RequiredTriangles", 1, PASS_OVER },
    { "Normals", 3, PASS_OVER },
    { "NormalAtVertices", 2, PASS_OVER },
    { "Tangents", 3, PASS_OVER },
    { "TangentAtVertices", 2, PASS_OVER },
    { "TangentAtEdges", 3, PASS_OVER },
};

static bool read_row(PliSource *s, PliBuilder *b, const Section *section)
{
    int64_t corner[8], reference;
    double p[3];
    if (section->kind == PASS_OVER) {
        for (int k = 0; k < section->numbers; ++k)
            if (!pli_source_real(s, "a number", PLI_F64, &p[0])) return false;
        return true;
    }
    for (int k = 0; k < section->numbers - 1; ++k) {
        if (section->kind == VERTICES ? !pli_source_real(s, "a coordinate", PLI_F64, &p[k])
                                      : !pli_source_int(s, "a vertex number", PLI_I32, &corner[k]))
            return false;
    }
    if (!pli_source_int(s, "a reference", PLI_I32, &reference)) return false;
    if (section->kind == PRISMS) return pli_builder_prism(b, corner);
    return section->kind == VERTICES ? pli_builder_point(b, p)
                                     : pli_builder_cell(b, (PliCellKind)section->kind, corner);
}

static bool read_section(PliSource *s, PliBuilder *b, const Section *section)
{
    size_t count;
    if (!pli_source_count(s, section->name, PLI_I32, 2 * (size_t)section->numbers, &count)) return false;
    if (section->kind == NOT_READ && count > 0)
        return pli_source_refuse_as(s, PLI_UNSUPPORTED, "%zu %s: these cells are not supported", count, section->name);
    if (section->kind == VERTICES && b->point_count > 0) return pli_source_refuse(s, "a second section Vertices");
    if (section->kind == VERTICES && !pli_builder_reserve_points(b, count)) return false;
    const int kind = section->kind == PRISMS ? PLI_HEX : section->kind;
    if (kind >= 0 && !pli_builder_reserve_cells(b, (PliCellKind)kind, count)) return false;
    for (size_t i = 0; i < count; ++i)
        if (!read_row(s, b, section)) return false;
    return true;
}

bool pli_read_medit(PliSource *s, PliBuilder *b)
{
    PliSlice word;
    int64_t version, dimension = 0;
    b->base = 1;
    if (!pli_source_expect(s, "MeshVersionFormatted") || !pli_source_int(s, "the version", PLI_I32, &version))
        return false;
    if (version < 1 || version > 4)
        return pli_source_refuse(s, "MeshVersionFormatted %lld is not in 1 .. 4", (long long)version);
    while (pli_source_word(s, &word) && !pli_slice_is(word, "End")) {
        if (word.text[0] == '#') {
            pli_source_next_line(s);
            continue;
        }
        if (pli_slice_is(word, "Dimension")) {
            if (!pli_source_int(s, "the dimension", PLI_I32, &dimension)) return false;
            if (dimension != 3)
                return pli_source_refuse_as(s, PLI_UNSUPPORTED, "dimension %lld is not supported, only 3",
                                            (long long)dimension);
            continue;
        }
        const Section *found = NULL;
        for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i)
            if (pli_slice_is(word, sections[i].name)) found = &sections[i];
        if (!found) return pli_source_refuse(s, "unknown keyword \"%s\"", pli_source_quote(word).text);
        if (dimension == 0) return pli_source_refuse(s, "%s before Dimension", found->name);
        if (!read_section(s, b, found)) return false;
    }
    return true;
}
