/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/springs/winged.h"

#include <string.h>

#include "base/memory.h"

void pli_winged_destroy(PliWinged *m)
{
    if (!m) return;
    const PliHost host = m->host;
    PLI_FREE(&host, m->edge, m->edge_count);
    PLI_FREE(&host, m->vertex_edge, m->vertex_count);
    PLI_FREE(&host, m->corner, 3 * (size_t)m->face_count);
    PLI_FREE(&host, m->side, 3 * (size_t)m->face_count);
    PLI_FREE(&host, m, 1);
}

static PliWinged *allocate(const PliHost *host, PliIndex vertices, PliIndex edges, PliIndex faces)
{
    PliWinged *m = PLI_NEW(host, 1, PliWinged);
    if (!m) return NULL;
    m->host = *host;
    m->vertex_count = vertices, m->edge_count = edges, m->face_count = faces;
    m->edge = PLI_NEW(host, edges, PliWing);
    m->vertex_edge = PLI_NEW(host, vertices, PliIndex);
    m->corner = PLI_NEW(host, 3 * (size_t)faces, PliIndex);
    m->side = PLI_NEW(host, 3 * (size_t)faces, PliIndex);
    if (m->edge && m->vertex_edge && m->corner && m->side) return m;
    pli_winged_destroy(m);
    return NULL;
}

/// Wings and fans from corners, sides, and the ends of edges. A side that runs with its edge has it on its left.
static void fill_wings(PliWinged *m)
{
    for (PliIndex e = 0; e < m->edge_count; ++e) {
        PliWing *w = &m->edge[e];
        w->left = w->right = PLI_NONE;
        w->left_pred = w->left_succ = w->right_pred = w->right_succ = PLI_NONE;
    }
    memset(m->vertex_edge, 0xff, m->vertex_count * sizeof *m->vertex_edge);
    for (PliIndex f = 0; f < m->face_count; ++f) {
        const PliIndex *c = m->corner + 3 * (size_t)f, *s = m->side + 3 * (size_t)f;
        for (int i = 0; i < 3; ++i) {
            PliWing *w = &m->edge[s[i]];
            if (w->start == c[i])
                w->left = f, w->left_pred = s[(i + 2) % 3], w->left_succ = s[(i + 1) % 3];
            else
                w->right = f, w->right_pred = s[(i + 2) % 3], w->right_succ = s[(i + 1) % 3];
            if (m->vertex_edge[c[i]] == PLI_NONE) m->vertex_edge[c[i]] = s[i];
        }
    }
    m->border_count = 0;
    for (PliIndex e = 0; e < m->edge_count; ++e) {
        if (m->edge[e].right != PLI_NONE) continue;
        m->border_count++;
        m->vertex_edge[m->edge[e].start] = e; // counter-clockwise from here comes all the rest
    }
}

// ---- from triangles --------------------------------------------------------------------------------------------------

typedef struct Sides {
    PliIndex *first, *side; ///< sides of triangles (3 f + i) by their smaller end
    PliIndex count;
} Sides;

static bool sort_sides(Sides *s, const PliHost *host, PliIndex vertices, const PliIndex *tris, PliIndex tri_count)
{
    s->count = 3 * tri_count;
    s->first = PLI_NEW(host, (size_t)vertices + 1, PliIndex);
    s->side = PLI_NEW(host, s->count, PliIndex);
    if (!s->first || !s->side) return false;
    for (PliIndex pass = 0; pass < 2; ++pass) {
        for (PliIndex k = 0; k < s->count; ++k) {
            const PliIndex a = tris[k], b = tris[k % 3 == 2 ? k - 2 : k + 1], low = a < b ? a : b;
            if (pass == 0)
                s->first[low + 1]++;
            else
                s->side[s->first[low]++] = k;
        }
        for (PliIndex v = 0; pass == 0 && v < vertices; ++v) s->first[v + 1] += s->first[v];
    }
    for (PliIndex v = vertices; v > 0; --v) s->first[v] = s->first[v - 1];
    s->first[0] = 0;
    return true;
}

/// Numbers edges in the order their first side appears; owner[k] is the first side of the edge of side k.
static PliStatus match_sides(const Sides *s, PliIndex vertices, const PliIndex *tris, PliIndex *owner, PliIndex *edges,
                             PliError *err)
{
    memset(owner, 0xff, s->count * sizeof *owner);
    for (PliIndex v = 0; v < vertices; ++v)
        for (PliIndex p = s->first[v]; p < s->first[v + 1]; ++p) {
            const PliIndex k = s->side[p], a = tris[k], b = tris[k % 3 == 2 ? k - 2 : k + 1];
            if (owner[k] != PLI_NONE) continue;
            owner[k] = k;
            PliIndex twins = 0;
            for (PliIndex q = p + 1; q < s->first[v + 1]; ++q) {
                const PliIndex l = s->side[q], c = tris[l], d = tris[l % 3 == 2 ? l - 2 : l + 1];
                if (!((a == c && b == d) || (a == d && b == c))) continue;
                if (++twins > 1)
                    return pli_refuse(
                        err, PLI_BAD_MESH,
                        "the edge between points %u and %u belongs to more than two triangles (%u, %u and "
                        "%u)",
                        a, b, k / 3, owner[l] == PLI_NONE ? l / 3 : owner[l] / 3, l / 3);
                if (a == c)
                    return pli_refuse(
                        err, PLI_BAD_MESH,
                        "triangles %u and %u run the same way along the edge between points %u and %u: they "
                        "are not oriented alike",
                        k / 3, l / 3, a, b);
                owner[l] = k;
            }
            ++*edges;
        }
    return PLI_OK;
}

static PliStatus check_corners(PliIndex vertices, const PliIndex *tris, PliIndex tri_count, PliError *err)
{
    for (PliIndex f = 0; f < tri_count; ++f) {
        const PliIndex *c = tris + 3 * (size_t)f;
        for (int i = 0; i < 3; ++i) {
            if (c[i] >= vertices)
                return pli_refuse(err, PLI_BAD_MESH, "triangle %u uses point %u of %u", f, c[i], vertices);
            if (c[i] == c[(i + 1) % 3]) return pli_refuse(err, PLI_BAD_MESH, "triangle %u has point %u twice", f, c[i]);
        }
    }
    return PLI_OK;
}

/// The other side on the edge of each, PLI_NONE where there is none or more than one.
static void pair_sides(const Sides *s, PliIndex vertices, const PliIndex *tris, PliIndex *mate)
{
    memset(mate, 0xff, s->count * sizeof *mate);
    for (PliIndex v = 0; v < vertices; ++v)
        for (PliIndex p = s->first[v]; p < s->first[v + 1]; ++p) {
            const PliIndex k = s->side[p], a = tris[k], b = tris[k % 3 == 2 ? k - 2 : k + 1];
            PliIndex found = 0, other = PLI_NONE;
            for (PliIndex q = s->first[v]; q < s->first[v + 1]; ++q) {
                const PliIndex l = s->side[q], c = tris[l], e = tris[l % 3 == 2 ? l - 2 : l + 1];
                if (l != k && ((a == c && b == e) || (a == e && b == c))) ++found, other = l;
            }
            if (found == 1) mate[k] = other;
        }
}

/// Walks over each piece; turned[f]: 0 not seen, 1 as it is, 2 turned.
static PliStatus walk_pieces(PliIndex tri_count, const PliIndex *tris, const PliIndex *mate, uint8_t *turned,
                             PliIndex *queue, PliError *err)
{
    PliIndex end = 0;
    for (PliIndex first = 0, begin = 0; first < tri_count; ++first) {
        if (!turned[first]) turned[first] = 1, queue[end++] = first;
        for (; begin < end; ++begin)
            for (PliIndex k = 3 * queue[begin]; k < 3 * queue[begin] + 3; ++k) {
                if (mate[k] == PLI_NONE) continue;
                const PliIndex f = queue[begin], g = mate[k] / 3;
                const uint8_t wanted = tris[k] == tris[mate[k]] ? 3 - turned[f] : turned[f];
                if (turned[g] && turned[g] != wanted)
                    return pli_refuse(err, PLI_BAD_MESH, "the surface has one side only, seen at triangles %u and %u",
                                      f, g);
                if (!turned[g]) turned[g] = wanted, queue[end++] = g;
            }
    }
    return PLI_OK;
}

PliStatus pli_winged_orient(const PliHost *host, PliIndex vertices, PliIndex *tris, PliIndex tri_count, PliError *err)
{
    PliStatus status = check_corners(vertices, tris, tri_count, err);
    if (status != PLI_OK) return status;
    Sides sides = { 0 };
    PliIndex *mate = PLI_NEW(host, 3 * (size_t)tri_count, PliIndex), *queue = PLI_NEW(host, tri_count, PliIndex);
    uint8_t *turned = PLI_NEW(host, tri_count, uint8_t);
    if (mate && queue && turned && sort_sides(&sides, host, vertices, tris, tri_count)) {
        pair_sides(&sides, vertices, tris, mate);
        status = walk_pieces(tri_count, tris, mate, turned, queue, err);
        for (PliIndex f = 0; f < tri_count && status == PLI_OK; ++f) {
            PliIndex *c = tris + 3 * (size_t)f, second = c[1];
            if (turned[f] == 2) c[1] = c[2], c[2] = second;
        }
    } else {
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a surface of %u triangles", tri_count);
    }
    PLI_FREE(host, mate, 3 * (size_t)tri_count);
    PLI_FREE(host, queue, tri_count);
    PLI_FREE(host, turned, tri_count);
    PLI_FREE(host, sides.first, (size_t)vertices + 1);
    PLI_FREE(host, sides.side, sides.count);
    return status;
}

/// Every vertex has one fan that holds all of its triangles.
static PliStatus check_fans(const PliWinged *m, PliIndex *uses, PliError *err)
{
    for (size_t k = 0; k < 3 * (size_t)m->face_count; ++k) uses[m->corner[k]]++;
    for (PliIndex v = 0; v < m->vertex_count; ++v) {
        if (uses[v] == 0) return pli_refuse(err, PLI_BAD_MESH, "point %u belongs to no triangle", v);
        PliIndex faces = 0, edge = m->vertex_edge[v];
        do {
            PliIndex face;
            edge = pli_winged_next(m, v, edge, &face);
            faces += face != PLI_NONE;
        } while (edge != PLI_NONE && edge != m->vertex_edge[v] && faces <= uses[v]);
        if (faces != uses[v])
            return pli_refuse(err, PLI_BAD_MESH,
                              "point %u joins sheets that only touch there (%u of its %u triangles are around it)", v,
                              faces, uses[v]);
    }
    return PLI_OK;
}

PliWinged *pli_winged_create(const PliHost *host, PliIndex vertices, const PliIndex *tris, PliIndex tri_count,
                             PliError *err)
{
    PliWinged *m = NULL;
    Sides sides = { 0 };
    PliIndex *owner = NULL, *uses = NULL, edges = 0;
    PliStatus status = PLI_OUT_OF_MEMORY;
    if (tri_count == 0) {
        pli_refuse(err, PLI_BAD_MESH, "the mesh has no triangles");
        return NULL;
    }
    if (tri_count > PLI_NONE / 6) {
        pli_refuse(err, PLI_BAD_MESH, "%u triangles are too many", tri_count);
        return NULL;
    }
    if (check_corners(vertices, tris, tri_count, err) != PLI_OK) return NULL;
    owner = PLI_NEW(host, 3 * (size_t)tri_count, PliIndex);
    uses = PLI_NEW(host, vertices, PliIndex);
    if (!owner || !uses || !sort_sides(&sides, host, vertices, tris, tri_count)) goto done;
    status = match_sides(&sides, vertices, tris, owner, &edges, err);
    if (status != PLI_OK) goto done;
    m = allocate(host, vertices, edges, tri_count);
    if (!m) {
        status = PLI_OUT_OF_MEMORY;
        goto done;
    }
    memcpy(m->corner, tris, 3 * (size_t)tri_count * sizeof *tris);
    edges = 0;
    for (PliIndex k = 0; k < 3 * tri_count; ++k) {
        if (owner[k] != k) continue;
        m->edge[edges].start = tris[k], m->edge[edges].end = tris[k % 3 == 2 ? k - 2 : k + 1];
        m->side[k] = edges++;
    }
    for (PliIndex k = 0; k < 3 * tri_count; ++k) m->side[k] = m->side[owner[k]];
    fill_wings(m);
    status = check_fans(m, uses, err);
done:
    PLI_FREE(host, owner, 3 * (size_t)tri_count);
    PLI_FREE(host, uses, vertices);
    PLI_FREE(host, sides.first, (size_t)vertices + 1);
    PLI_FREE(host, sides.side, sides.count);
    if (status == PLI_OK) return m;
    if (status == PLI_OUT_OF_MEMORY) pli_refuse(err, status, "no memory for a surface of %u triangles", tri_count);
    pli_winged_destroy(m);
    return NULL;
}

// ---- subdivision -----------------------------------------------------------------------------------------------------

PliWinged *pli_winged_subdivide(const PliWinged *m)
{
    const PliIndex v = m->vertex_count, e = m->edge_count, f = m->face_count;
    PliWinged *fine = allocate(&m->host, v + e, 2 * e + 3 * f, 4 * f);
    if (!fine) return NULL;
    for (PliIndex k = 0; k < e; ++k) {
        fine->edge[2 * k] = (PliWing){ .start = m->edge[k].start, .end = v + k };
        fine->edge[2 * k + 1] = (PliWing){ .start = v + k, .end = m->edge[k].end };
    }
    for (PliIndex k = 0; k < f; ++k) {
        const PliIndex *c = m->corner + 3 * (size_t)k, *s = m->side + 3 * (size_t)k, inner = 2 * e + 3 * k;
        PliIndex *corner = fine->corner + 12 * (size_t)k, *side = fine->side + 12 * (size_t)k;
        for (PliIndex i = 0; i < 3; ++i) {
            const PliIndex before = s[(i + 2) % 3];
            fine->edge[inner + i] = (PliWing){ .start = v + before, .end = v + s[i] };
            corner[3 * i] = c[i], corner[3 * i + 1] = v + s[i], corner[3 * i + 2] = v + before;
            side[3 * i] = 2 * s[i] + (m->edge[s[i]].start != c[i]);
            side[3 * i + 1] = inner + i;
            side[3 * i + 2] = 2 * before + (m->edge[before].start != c[i]);
            corner[9 + i] = v + s[i];
            side[9 + i] = inner + (i + 1) % 3;
        }
    }
    fill_wings(fine);
    return fine;
}

bool pli_winged_is_valid(const PliWinged *m, PliError *err)
{
    for (PliIndex f = 0; f < m->face_count; ++f) {
        const PliIndex *c = m->corner + 3 * (size_t)f, *s = m->side + 3 * (size_t)f;
        for (int i = 0; i < 3; ++i) {
            const PliWing *w = &m->edge[s[i]];
            const PliIndex next = c[(i + 1) % 3], succ = s[(i + 1) % 3], pred = s[(i + 2) % 3];
            const bool left =
                w->start == c[i] && w->end == next && w->left == f && w->left_succ == succ && w->left_pred == pred;
            const bool right =
                w->end == c[i] && w->start == next && w->right == f && w->right_succ == succ && w->right_pred == pred;
            if (!left && !right)
                return pli_refuse(err, PLI_BAD_MESH, "edge %u is not the side %d of face %u that its wings say", s[i],
                                  i, f),
                       false;
        }
    }
    for (PliIndex v = 0; v < m->vertex_count; ++v) {
        const PliWing *w = &m->edge[m->vertex_edge[v]];
        if (w->start != v && w->end != v)
            return pli_refuse(err, PLI_BAD_MESH, "the fan of vertex %u begins at an edge elsewhere", v), false;
    }
    return true;
}
