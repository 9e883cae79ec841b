/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Triangles with long sides are cut smaller, shape and closedness unchanged: surfaces drawn by hand or by CAD say nothing between
// their corners, where thickness, tools and remeshing need points.
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesher/surface.h"

typedef struct Cutter {
    PliMesh *m;
    PliIndex *opposite, *middle; ///< per side: the other one on its edge; the new point on it, or PLI_NONE
    PliIndex *cell;              ///< triangles to be
    PliIndex count;
} Cutter;

static double length_of(const PliMesh *m, PliIndex a, PliIndex b)
{
    return v3_distance(m->x + 3 * (size_t)a, m->x + 3 * (size_t)b);
}

/// New points in the middle of long edges. @return how many triangles there will be
static PliIndex mark_sides(Cutter *c, double longest, PliIndex *points)
{
    const PliMesh *m = c->m;
    PliIndex tris = m->tri_count;
    *points = m->point_count;
    for (PliIndex s = 0; s < 3 * m->tri_count; ++s) {
        const PliIndex a = m->tris[s], b = m->tris[s % 3 == 2 ? s - 2 : s + 1], other = c->opposite[s];
        if (other < s)
            c->middle[s] = c->middle[other];
        else
            c->middle[s] = length_of(m, a, b) > longest ? (*points)++ : PLI_NONE;
        tris += c->middle[s] != PLI_NONE;
    }
    return tris;
}

static void put(Cutter *c, PliIndex i, PliIndex j, PliIndex k)
{
    PliIndex *t = c->cell + 3 * (size_t)c->count++;
    t[0] = i, t[1] = j, t[2] = k;
}

/// One triangle becomes one more for each of its sides that is cut; a quadrilateral gets the shorter of its diagonals.
static void cut_triangle(Cutter *c, PliIndex t)
{
    const PliIndex *corner = c->m->tris + 3 * (size_t)t, *middle = c->middle + 3 * (size_t)t;
    int first = 0, cut = 0;
    for (int k = 0; k < 3; ++k) cut += middle[k] != PLI_NONE;
    // begin where one cut side is alone, or where the side that is not cut ends
    while (cut == 1 && middle[first] == PLI_NONE) ++first;
    while (cut == 2 && middle[(first + 2) % 3] != PLI_NONE) ++first;
    const PliIndex a = corner[first], b = corner[(first + 1) % 3], d = corner[(first + 2) % 3];
    const PliIndex ab = middle[first], bd = middle[(first + 1) % 3], da = middle[(first + 2) % 3];
    if (cut == 0) {
        put(c, a, b, d);
    } else if (cut == 1) {
        put(c, a, ab, d), put(c, ab, b, d);
    } else if (cut == 2) {
        put(c, ab, b, bd);
        if (length_of(c->m, a, bd) < length_of(c->m, ab, d))
            put(c, a, ab, bd), put(c, a, bd, d);
        else
            put(c, a, ab, d), put(c, ab, bd, d);
    } else {
        put(c, a, ab, da), put(c, ab, b, bd), put(c, da, bd, d), put(c, ab, bd, da);
    }
}

/// Long sides by halves, once. *more: some were cut.
static PliStatus cut_once(PliMesh *m, double longest, PliIndex most, bool *more)
{
    const PliHost *host = &m->host;
    const size_t sides = 3 * (size_t)m->tri_count;
    const PliIndex before = m->tri_count;
    PliIndex points = 0, tris = 0;
    Cutter c = { .m = m, .opposite = PLI_NEW(host, sides, PliIndex), .middle = PLI_NEW(host, sides, PliIndex) };
    bool ok = c.opposite && c.middle && pli_surface_opposites(host, m->tris, m->tri_count, c.opposite);
    if (ok) tris = mark_sides(&c, longest, &points);
    *more = ok && tris > before && tris <= most;
    if (*more) {
        c.cell = PLI_NEW(host, 3 * (size_t)tris, PliIndex);
        ok = c.cell && pli_mesh_resize_points(m, points) == PLI_OK;
        for (PliIndex s = 0; ok && s < sides; ++s) {
            const PliIndex a = m->tris[s], b = m->tris[s % 3 == 2 ? s - 2 : s + 1], p = c.middle[s];
            if (p == PLI_NONE) continue;
            for (size_t d = 0; d < 3; ++d)
                m->x[3 * (size_t)p + d] = 0.5 * (m->x[3 * (size_t)a + d] + m->x[3 * (size_t)b + d]);
        }
        for (PliIndex t = 0; ok && t < before; ++t) cut_triangle(&c, t);
        ok = ok && pli_mesh_resize_cells(m, PLI_TRI, tris) == PLI_OK;
        if (ok) memcpy(m->tris, c.cell, 3 * (size_t)tris * sizeof *c.cell);
        PLI_FREE(host, c.cell, 3 * (size_t)tris);
    }
    PLI_FREE(host, c.opposite, sides);
    PLI_FREE(host, c.middle, sides);
    return ok ? PLI_OK : PLI_OUT_OF_MEMORY;
}

PliStatus pli_surface_cut_long(PliMesh *surface, double longest, PliIndex most)
{
    PliStatus status = PLI_OK;
    for (bool more = true; more && status == PLI_OK;) status = cut_once(surface, longest, most, &more);
    return status;
}
