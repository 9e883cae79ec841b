/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Wavefront OBJ: v, f and l. Texture coordinates, normals, groups and materials are passed over.
#include <string.h>

#include "base/memory.h"
#include "mesh/read.h"

typedef struct Obj {
    PliSource *s;
    PliBuilder *b;
    int64_t *corner; ///< of the face being read
    size_t corner_capacity;
} Obj;

/// Next word of a statement, which a backslash at the end of a line continues on the next.
static bool next_word(PliSource *s, PliSlice *word)
{
    while (pli_source_word_in_line(s, word)) {
        if (!pli_slice_is(*word, "\\")) return true;
        pli_source_next_line(s);
    }
    return false;
}

/// "7", "7/1", "7//3" or "7/1/3": the first number; negative ones count back from the last point.
static bool parse_corner(Obj *o, PliSlice word, int64_t *corner)
{
    const char *slash = memchr(word.text, '/', word.size);
    const PliSlice number = { word.text, slash ? (size_t)(slash - word.text) : word.size };
    if (!pli_source_parse_int(o->s, "a vertex number", number, corner)) return false;
    if (*corner == 0) return pli_source_refuse(o->s, "vertex number 0: they count from 1");
    if (*corner < 0) {
        if (*corner < -(int64_t)o->b->point_count)
            return pli_source_refuse(o->s, "vertex number %lld reaches before the first of %zu", (long long)*corner,
                                     o->b->point_count);
        *corner += (int64_t)o->b->point_count + 1;
    }
    return true;
}

static bool read_vertex(Obj *o)
{
    double p[3];
    PliSlice word;
    for (int a = 0; a < 3; ++a) {
        if (!next_word(o->s, &word)) return pli_source_refuse(o->s, "a vertex with %d coordinates instead of 3", a);
        if (!pli_source_parse_real(o->s, "a coordinate", word, &p[a])) return false;
    }
    return pli_builder_point(o->b, p); // a weight or a colour may follow
}

static bool read_corners(Obj *o, size_t *count)
{
    PliSlice word;
    for (*count = 0; next_word(o->s, &word); ++*count) {
        void *corner = o->corner;
        if (*count == o->corner_capacity && !pli_grow(&o->s->host, &corner, &o->corner_capacity, sizeof *o->corner))
            return pli_source_no_memory(o->s);
        o->corner = corner;
        if (!parse_corner(o, word, &o->corner[*count])) return false;
    }
    return true;
}

static bool read_statement(Obj *o, PliSlice keyword)
{
    size_t count;
    if (pli_slice_is(keyword, "v")) return read_vertex(o);
    if (pli_slice_is(keyword, "f")) {
        if (!read_corners(o, &count)) return false;
        // some writers put loose edges among the faces
        return count == 2 ? pli_builder_cell(o->b, PLI_EDGE, o->corner) : pli_builder_polygon(o->b, o->corner, count);
    }
    if (pli_slice_is(keyword, "l")) {
        if (!read_corners(o, &count)) return false;
        if (count < 2) return pli_source_refuse(o->s, "a line with %zu points", count);
        for (size_t k = 1; k < count; ++k)
            if (!pli_builder_cell(o->b, PLI_EDGE, o->corner + k - 1)) return false;
    }
    return true;
}

bool pli_read_obj(PliSource *s, PliBuilder *b)
{
    Obj o = { .s = s, .b = b };
    bool good = true;
    b->base = 1;
    while (good && s->at < s->size) {
        PliSlice keyword;
        if (pli_source_word_in_line(s, &keyword)) good = read_statement(&o, keyword);
        pli_source_next_line(s);
    }
    PLI_FREE(&s->host, o.corner, o.corner_capacity);
    return good;
}
