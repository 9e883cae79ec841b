/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// STL, text and binary. Its triangles carry their own corners: equal points are welded back together.
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "mesh/read.h"

/// Points by their exact coordinates.
typedef struct Weld {
    PliSource *s;
    PliBuilder *b;
    PliIndex *slot; ///< point + 1, 0: empty
    size_t size;
} Weld;

static size_t find_slot(const Weld *w, const double p[3])
{
    const double *x = w->b->x;
    size_t at = (size_t)pli_hash(PLI_HASH_SEED, p, 3 * sizeof *p) & (w->size - 1);
    while (w->slot[at] && memcmp(x + 3 * (size_t)(w->slot[at] - 1), p, 3 * sizeof *p) != 0)
        at = (at + 1) & (w->size - 1);
    return at;
}

/// Wider table; the points themselves stay.
static bool widen(Weld *w)
{
    const size_t old = w->size;
    PLI_FREE(&w->s->host, w->slot, old);
    w->size = old ? 2 * old : 64;
    w->slot = PLI_NEW(&w->s->host, w->size, PliIndex);
    if (!w->slot) return pli_source_no_memory(w->s);
    for (size_t i = 0; i < w->b->point_count; ++i)
        w->slot[find_slot(w, (const double *)w->b->x + 3 * i)] = (PliIndex)i + 1;
    return true;
}

static bool add_corner(Weld *w, double p[3], int64_t *corner)
{
    for (int a = 0; a < 3; ++a) p[a] += 0.0; // -0 becomes 0, which is the same place
    if (2 * w->b->point_count >= w->size && !widen(w)) return false;
    const size_t at = find_slot(w, p);
    if (!w->slot[at]) {
        if (!pli_builder_point(w->b, p)) return false;
        w->slot[at] = (PliIndex)w->b->point_count;
    }
    *corner = w->slot[at] - 1;
    return true;
}

/// Triangles that welding made flat say nothing about the surface and are passed over.
static bool add_triangle(Weld *w, const int64_t corner[3])
{
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) return true;
    return pli_builder_cell(w->b, PLI_TRI, corner);
}

static bool read_binary(PliSource *s, Weld *w, uint32_t count)
{
    s->offsets = true, s->binary = true, s->at = 84;
    for (uint32_t t = 0; t < count; ++t) {
        int64_t corner[3];
        double p[3];
        if (!pli_source_bytes(s, "a normal", 12)) return false;
        for (int k = 0; k < 3; ++k) {
            for (int a = 0; a < 3; ++a)
                if (!pli_source_real(s, "a coordinate", PLI_F32, &p[a])) return false;
            if (!add_corner(w, p, &corner[k])) return false;
        }
        if (!pli_source_bytes(s, "an attribute", 2) || !add_triangle(w, corner)) return false;
    }
    return true;
}

static bool read_facet(PliSource *s, Weld *w)
{
    int64_t corner[3];
    double p[3];
    // the normal is passed over with its line: writers put nan there for flat triangles
    pli_source_next_line(s);
    if (!pli_source_expect(s, "outer") || !pli_source_expect(s, "loop")) return false;
    for (int k = 0; k < 3; ++k) {
        if (!pli_source_expect(s, "vertex")) return false;
        for (int a = 0; a < 3; ++a)
            if (!pli_source_real(s, "a coordinate", PLI_F64, &p[a])) return false;
        if (!add_corner(w, p, &corner[k])) return false;
    }
    return pli_source_expect(s, "endloop") && pli_source_expect(s, "endfacet") && add_triangle(w, corner);
}

static bool read_text(PliSource *s, Weld *w)
{
    PliSlice word;
    bool open = false;
    while (pli_source_word(s, &word)) {
        if (!open && pli_slice_is(word, "solid")) {
            pli_source_next_line(s);
            open = true;
        } else if (open && (pli_slice_is(word, "endsolid") || pli_slice_is(word, "end"))) { // "end solid" is seen too
            pli_source_next_line(s);
            open = false;
        } else if (open && pli_slice_is(word, "facet")) {
            if (!read_facet(s, w)) return false;
        } else {
            return pli_source_refuse(s, "expected \"%s\", found \"%s\"", open ? "facet or endsolid" : "solid",
                                     pli_source_quote(word).text);
        }
    }
    if (open) return pli_source_refuse(s, "the file ends before endsolid");
    return true;
}

bool pli_read_stl(PliSource *s, PliBuilder *b)
{
    Weld w = { .s = s, .b = b };
    uint32_t count = 0;
    // some binary files begin with "solid" too: only the size tells
    if (s->size >= 84)
        for (int k = 3; k >= 0; --k) count = count << 8 | s->data[80 + k];
    const uint64_t needed = 84 + 50 * (uint64_t)count;
    const bool text = pli_source_left(s) >= 5 && memcmp(s->data + s->at, "solid", 5) == 0;
    const bool fits = s->size >= 84 && (text ? needed == s->size : needed <= s->size);
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    s->swap = first == 0; // the file is little-endian
    bool good;
    if (fits)
        good = read_binary(s, &w, count);
    else if (text)
        good = read_text(s, &w);
    else {
        s->offsets = true, s->mark = s->size < 80 ? 0 : 80;
        good =
            s->size < 84
                ? pli_source_refuse(
                      s, "%zu bytes are neither a text STL (no \"solid\") nor a binary one (84 bytes or more)", s->size)
                : pli_source_refuse(s, "the header announces %u triangles, which need %llu bytes, but the file has %zu",
                                    count, (unsigned long long)needed, s->size);
    }
    PLI_FREE(&s->host, w.slot, w.size);
    return good;
}
