/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A body-centred cubic lattice is cut at the surface after F. Labelle and J. R. Shewchuk, Isosurface stuffing, 2007: lattice points
// near the surface move onto it, tetrahedra that are still cut keep their inner part. Lattice points are those of a cubic grid of
// half the lattice constant whose three numbers are all even or all odd.
#include "mesher/lattice.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesh/faces.h"
#include "mesh/tet.h"
#include "mesh/voxel.h"
#include "mesher/surface.h"
#include "surface/triangle_tree.h"

enum { WAYS = 7, BORDER = 2, ROUNDS = 3 };

/// Every edge of the lattice once: three along the axes, four to the nearest points.
static const int way[WAYS][3] = { { 2, 0, 0 },  { 0, 2, 0 },  { 0, 0, 2 }, { 1, 1, 1 },
                                  { 1, 1, -1 }, { 1, -1, 1 }, { -1, 1, 1 } };

typedef struct Lattice {
    PliHost host;
    PliIndex size[3]; ///< grid points along each axis
    double origin[3], h;
    size_t grid, nodes;
    PliIndex *node_of; ///< grid point -> node or PLI_NONE
    PliIndex *grid_of; ///< node -> grid point
    double *depth;     ///< m, of nodes below the surface; far ones count as 3 h
    double *level;     ///< the same, for the surface that is cut now; 0: on it
    double *x;         ///< of nodes, then of cuts
    size_t points, point_capacity;
    PliIndex *cut; ///< WAYS a node: the point where the edge is cut, or PLI_NONE
    PliIndex *tets;
    size_t tet_count, tet_capacity;
} Lattice;

static bool start(Lattice *l, const PliVoxels *v)
{
    l->h = v->h;
    l->grid = 1;
    for (int a = 0; a < 3; ++a) {
        l->size[a] = v->size[a] + 2 * BORDER;
        l->origin[a] = v->origin[a] + (0.5 - BORDER) * v->h; // grid points are the middles of cells
        l->grid *= l->size[a];
    }
    l->node_of = PLI_NEW(&l->host, l->grid, PliIndex);
    if (!l->node_of) return false;
    for (size_t g = 0; g < l->grid; ++g) {
        const size_t i = g % l->size[0], j = g / l->size[0] % l->size[1], k = g / l->size[0] / l->size[1];
        l->node_of[g] = i % 2 == j % 2 && j % 2 == k % 2 ? (PliIndex)l->nodes++ : PLI_NONE;
    }
    l->point_capacity = l->nodes;
    l->grid_of = PLI_NEW(&l->host, l->nodes, PliIndex);
    l->depth = PLI_NEW(&l->host, l->nodes, double);
    l->level = PLI_NEW(&l->host, l->nodes, double);
    l->x = PLI_NEW(&l->host, 3 * l->nodes, double);
    l->cut = PLI_NEW(&l->host, WAYS * l->nodes, PliIndex);
    return l->grid_of && l->depth && l->level && l->x && l->cut;
}

static void finish(Lattice *l)
{
    PLI_FREE(&l->host, l->node_of, l->grid);
    PLI_FREE(&l->host, l->grid_of, l->nodes);
    PLI_FREE(&l->host, l->depth, l->nodes);
    PLI_FREE(&l->host, l->level, l->nodes);
    pli_free(&l->host, l->x, l->point_capacity, 3 * sizeof *l->x);
    PLI_FREE(&l->host, l->cut, WAYS * l->nodes);
    pli_free(&l->host, l->tets, l->tet_capacity, 4 * sizeof *l->tets);
}

static void place_of(const Lattice *l, size_t g, double p[3])
{
    const size_t at[3] = { g % l->size[0], g / l->size[0] % l->size[1], g / l->size[0] / l->size[1] };
    for (int a = 0; a < 3; ++a) p[a] = l->origin[a] + l->h * (double)at[a];
}

static bool measure(Lattice *l, const PliVoxels *v, const PliMesh *surface)
{
    PliTriangleTree *tree =
        pli_triangle_tree_create(&l->host, surface->x, surface->point_count, surface->tris, surface->tri_count);
    if (!tree) return false;
    pli_triangle_tree_refit(tree, surface->x);
    for (size_t g = 0; g < l->grid; ++g) {
        const PliIndex n = l->node_of[g];
        if (n == PLI_NONE) continue;
        const size_t at[3] = { g % l->size[0], g / l->size[0] % l->size[1], g / l->size[0] / l->size[1] };
        bool inside = true;
        for (int a = 0; a < 3; ++a) inside = inside && at[a] >= BORDER && at[a] < v->size[a] + BORDER;
        if (inside)
            inside = v->cell_of[(at[0] - BORDER) +
                                v->size[0] * ((at[1] - BORDER) + (size_t)v->size[1] * (at[2] - BORDER))] != PLI_NONE;
        l->grid_of[n] = (PliIndex)g;
        double p[3];
        place_of(l, g, p);
        const double distance = pli_triangle_tree_distance(tree, p, 3.0 * l->h);
        l->depth[n] = inside ? distance : -distance;
    }
    pli_triangle_tree_destroy(tree);
    return true;
}

/// Node at the other end of an edge, or PLI_NONE.
static PliIndex along(const Lattice *l, PliIndex node, int w, int sign)
{
    const size_t g = l->grid_of[node];
    const size_t at[3] = { g % l->size[0], g / l->size[0] % l->size[1], g / l->size[0] / l->size[1] };
    size_t to = 0;
    for (int a = 2; a >= 0; --a) {
        const long q = (long)at[a] + sign * way[w][a];
        if (q < 0 || q >= (long)l->size[a]) return PLI_NONE;
        to = to * l->size[a] + (size_t)q;
    }
    return l->node_of[to];
}

static bool room_for_points(Lattice *l, size_t more)
{
    while (l->points + more > l->point_capacity) {
        void *x = l->x;
        if (!pli_grow(&l->host, &x, &l->point_capacity, 3 * sizeof *l->x)) return false;
        l->x = x;
    }
    return true;
}

static bool find_cuts(Lattice *l)
{
    for (PliIndex n = 0; n < l->nodes; ++n)
        for (int w = 0; w < WAYS; ++w) {
            l->cut[WAYS * (size_t)n + (size_t)w] = PLI_NONE;
            const PliIndex m = along(l, n, w, 1);
            if (m == PLI_NONE || (l->level[n] > 0.0) == (l->level[m] > 0.0)) continue;
            if (!room_for_points(l, 1)) return false;
            const double t = l->level[n] / (l->level[n] - l->level[m]);
            const double *a = l->x + 3 * (size_t)n, *b = l->x + 3 * (size_t)m;
            for (int k = 0; k < 3; ++k) l->x[3 * l->points + (size_t)k] = a[k] + t * (b[k] - a[k]);
            l->cut[WAYS * (size_t)n + (size_t)w] = (PliIndex)l->points++;
        }
    return true;
}

static PliIndex cut_of(const Lattice *l, PliIndex node, int w, int sign)
{
    const PliIndex m = along(l, node, w, sign);
    return m == PLI_NONE ? PLI_NONE : l->cut[WAYS * (size_t)(sign > 0 ? node : m) + (size_t)w];
}

/// A node moves to the nearest cut that is too near to it: flat tetrahedra would be left there.
static void warp(Lattice *l)
{
    static const double near_long = 0.24999, near_short = 0.41189; // Labelle and Shewchuk, table 1
    for (PliIndex n = 0; n < l->nodes; ++n) {
        PliIndex nearest = PLI_NONE;
        double least = INFINITY, home[3];
        place_of(l, l->grid_of[n], home);
        for (int w = 0; w < WAYS; ++w)
            for (int sign = -1; sign <= 1; sign += 2) {
                const PliIndex c = cut_of(l, n, w, sign);
                if (c == PLI_NONE || l->level[along(l, n, w, sign)] == 0.0) continue; // that end took it
                const double edge = (w < 3 ? 2.0 : sqrt(3.0)) * l->h, d = v3_distance(l->x + 3 * (size_t)c, home);
                if (d < (w < 3 ? near_long : near_short) * edge && d < least) least = d, nearest = c;
            }
        if (nearest == PLI_NONE) continue;
        v3_copy(l->x + 3 * (size_t)n, l->x + 3 * (size_t)nearest);
        l->level[n] = 0.0;
    }
}

// ---- tetrahedra --------------------------------------------------------------------------------------------------------------

static bool add_tet(Lattice *l, PliIndex a, PliIndex b, PliIndex c, PliIndex d)
{
    if (l->tet_count == l->tet_capacity) {
        void *tets = l->tets;
        if (!pli_grow(&l->host, &tets, &l->tet_capacity, 4 * sizeof *l->tets)) return false;
        l->tets = tets;
    }
    PliIndex *t = l->tets + 4 * l->tet_count++;
    t[0] = a, t[1] = b, t[2] = c, t[3] = d;
    if (pli_tet_volume6(l->x, t) < 0.0) t[2] = d, t[3] = c;
    return true;
}

/// The quad a b c d is cut from a to c, the shorter way; both tetrahedra at it see the same.
static bool cut_from_first(const Lattice *l, PliIndex a, PliIndex b, PliIndex c, PliIndex d)
{
    const double one = v3_distance(l->x + 3 * (size_t)a, l->x + 3 * (size_t)c);
    const double two = v3_distance(l->x + 3 * (size_t)b, l->x + 3 * (size_t)d);
    return one != two ? one < two : (a < c ? a : c) < (b < d ? b : d);
}

/// A prism whose three diagonals run in a circle needs a point inside.
static bool add_round_prism(Lattice *l, const PliIndex p[6], bool up)
{
    if (!room_for_points(l, 1)) return false;
    const PliIndex m = (PliIndex)l->points++;
    double *x = l->x + 3 * (size_t)m;
    x[0] = x[1] = x[2] = 0.0;
    for (int k = 0; k < 6; ++k) v3_madd(x, 1.0 / 6.0, l->x + 3 * (size_t)p[k]);
    bool ok = add_tet(l, m, p[0], p[1], p[2]) && add_tet(l, m, p[3], p[4], p[5]);
    for (int k = 0; k < 3 && ok; ++k) {
        const PliIndex a = p[k], b = p[(k + 1) % 3], c = p[3 + (k + 1) % 3], d = p[3 + k];
        ok = up ? add_tet(l, m, a, b, c) && add_tet(l, m, a, c, d) : add_tet(l, m, a, b, d) && add_tet(l, m, b, c, d);
    }
    return ok;
}

/// Triangles 0 1 2 and 3 4 5, with 0 below 3 and so on.
static bool add_prism(Lattice *l, const PliIndex p[6])
{
    bool up[3]; // the diagonal of side k runs from the bottom at k to the top at k + 1
    for (int k = 0; k < 3; ++k) up[k] = cut_from_first(l, p[k], p[(k + 1) % 3], p[3 + (k + 1) % 3], p[3 + k]);
    if (up[0] == up[1] && up[1] == up[2]) return add_round_prism(l, p, up[0]);
    int k = 0; // a corner at which two diagonals meet
    while (up[k] == up[(k + 2) % 3]) ++k;
    const int bottom = up[k] ? 0 : 3, top = 3 - bottom;
    PliIndex q[6];
    for (int i = 0; i < 3; ++i) q[i] = p[bottom + (k + i) % 3], q[3 + i] = p[top + (k + i) % 3];
    if (!add_tet(l, q[0], q[3], q[4], q[5])) return false;
    return up[(k + 1) % 3] == up[k] ? add_tet(l, q[0], q[1], q[2], q[5]) && add_tet(l, q[0], q[1], q[5], q[4])
                                    : add_tet(l, q[0], q[1], q[2], q[4]) && add_tet(l, q[0], q[4], q[2], q[5]);
}

/// Where the edge between two nodes of one tetrahedron is cut.
static PliIndex cut_between(const Lattice *l, PliIndex a, PliIndex b)
{
    for (int w = 0; w < WAYS; ++w) {
        if (along(l, a, w, 1) == b) return l->cut[WAYS * (size_t)a + (size_t)w];
        if (along(l, b, w, 1) == a) return l->cut[WAYS * (size_t)b + (size_t)w];
    }
    return PLI_NONE;
}

/// The part of a tetrahedron of the lattice that is inside.
static bool clip(Lattice *l, const PliIndex node[4])
{
    PliIndex in[4], on[4], out[4];
    int ins = 0, ons = 0, outs = 0;
    for (int k = 0; k < 4; ++k) {
        const double level = l->level[node[k]];
        if (level > 0.0)
            in[ins++] = node[k];
        else if (level == 0.0)
            on[ons++] = node[k];
        else
            out[outs++] = node[k];
    }
    if (ins == 0) return true;
    if (outs == 0) return add_tet(l, node[0], node[1], node[2], node[3]);
    if (ins == 1) {
        PliIndex c[4] = { in[0] };
        int n = 1;
        for (int k = 0; k < ons; ++k) c[n++] = on[k];
        for (int k = 0; k < outs; ++k) c[n++] = cut_between(l, in[0], out[k]);
        return add_tet(l, c[0], c[1], c[2], c[3]);
    }
    if (ins == 2 && outs == 1) { // a pyramid on a quad
        const PliIndex q[4] = { in[0], in[1], cut_between(l, in[1], out[0]), cut_between(l, in[0], out[0]) };
        const int low = cut_from_first(l, q[0], q[1], q[2], q[3]) ? 0 : 1;
        return add_tet(l, on[0], q[low], q[(low + 1) % 4], q[(low + 2) % 4]) &&
               add_tet(l, on[0], q[low], q[(low + 2) % 4], q[(low + 3) % 4]);
    }
    if (ins == 2)
        return add_prism(l, (const PliIndex[6]){ in[0], cut_between(l, in[0], out[0]), cut_between(l, in[0], out[1]),
                                                 in[1], cut_between(l, in[1], out[0]), cut_between(l, in[1], out[1]) });
    return add_prism(l, (const PliIndex[6]){ in[0], in[1], in[2], cut_between(l, in[0], out[0]),
                                             cut_between(l, in[1], out[0]), cut_between(l, in[2], out[0]) });
}

/// Four tetrahedra around each edge along an axis between even points: every one of the lattice once.
static bool clip_all(Lattice *l)
{
    static const int ring[4][2] = { { 1, 1 }, { 1, -1 }, { -1, -1 }, { -1, 1 } };
    for (PliIndex n = 0; n < l->nodes; ++n) {
        const size_t g = l->grid_of[n];
        const size_t at[3] = { g % l->size[0], g / l->size[0] % l->size[1], g / l->size[0] / l->size[1] };
        if (at[0] % 2) continue;
        for (int a = 0; a < 3; ++a) {
            const PliIndex m = along(l, n, a, 1);
            if (m == PLI_NONE) continue;
            PliIndex around[4];
            for (int r = 0; r < 4; ++r) {
                long q[3];
                q[a] = (long)at[a] + 1;
                q[(a + 1) % 3] = (long)at[(a + 1) % 3] + ring[r][0];
                q[(a + 2) % 3] = (long)at[(a + 2) % 3] + ring[r][1];
                bool there = true;
                for (int b = 0; b < 3; ++b) there = there && q[b] >= 0 && q[b] < (long)l->size[b];
                around[r] =
                    there ? l->node_of[(size_t)q[0] + l->size[0] * ((size_t)q[1] + (size_t)l->size[1] * (size_t)q[2])]
                          : PLI_NONE;
            }
            for (int r = 0; r < 4; ++r) {
                const PliIndex c = around[r], d = around[(r + 1) % 4];
                if (c != PLI_NONE && d != PLI_NONE && !clip(l, (const PliIndex[4]){ n, m, c, d })) return false;
            }
        }
    }
    return true;
}

// ---- the whole ---------------------------------------------------------------------------------------------------------------

static PliIndex root(PliIndex *parent, PliIndex a)
{
    while (parent[a] != a) a = parent[a] = parent[parent[a]];
    return a;
}

/// Leaves only the tetrahedra of the largest piece that hangs together by faces.
static bool keep_largest(Lattice *l)
{
    const PliIndex count = (PliIndex)l->tet_count;
    PliFaces faces;
    if (pli_faces_init(&faces, &l->host, l->tets, count) != PLI_OK) return false;
    PliIndex *parent = PLI_NEW(&l->host, count, PliIndex), best = 0, kept = 0;
    double *volume = PLI_NEW(&l->host, count, double);
    const bool ok = parent && volume;
    for (PliIndex t = 0; ok && t < count; ++t) parent[t] = t;
    for (PliIndex f = 0; ok && f < 4 * count; ++f) {
        PliIndex tri[3];
        pli_faces_corners(l->tets, f, tri);
        const PliIndex a = root(parent, f / 4), b = root(parent, pli_faces_find(&faces, tri, NULL) / 4);
        parent[a > b ? a : b] = a > b ? b : a;
    }
    for (PliIndex t = 0; ok && t < count; ++t)
        volume[root(parent, t)] += pli_tet_volume6(l->x, l->tets + 4 * (size_t)t);
    for (PliIndex t = 1; ok && t < count; ++t)
        if (volume[t] > volume[best]) best = t;
    for (PliIndex t = 0; ok && t < count; ++t)
        if (root(parent, t) == best)
            memmove(l->tets + 4 * (size_t)kept++, l->tets + 4 * (size_t)t, 4 * sizeof *l->tets);
    if (ok) l->tet_count = kept;
    pli_faces_free(&faces);
    PLI_FREE(&l->host, parent, count);
    PLI_FREE(&l->host, volume, count);
    return ok;
}

/// Cuts the lattice at `shift` outside the surface.
static bool cut(Lattice *l, double shift)
{
    l->points = l->nodes, l->tet_count = 0;
    for (PliIndex n = 0; n < l->nodes; ++n) {
        place_of(l, l->grid_of[n], l->x + 3 * (size_t)n);
        l->level[n] = l->depth[n] + shift;
    }
    if (!find_cuts(l)) return false;
    warp(l);
    return clip_all(l) && (l->tet_count == 0 || keep_largest(l));
}

static double volume_of(const Lattice *l)
{
    double six = 0.0;
    for (size_t t = 0; t < l->tet_count; ++t) six += pli_tet_volume6(l->x, l->tets + 4 * t);
    return six / 6.0;
}

static PliMesh *mesh_of(const Lattice *l)
{
    PliMesh *m = pli_mesh_create(&l->host);
    PliIndex *number = PLI_NEW(&l->host, l->points, PliIndex), points = 0;
    for (size_t i = 0; number && i < 4 * l->tet_count; ++i) number[l->tets[i]] = 1;
    for (size_t p = 0; number && p < l->points; ++p) number[p] = number[p] ? points++ : PLI_NONE;
    const bool ok = m && number && pli_mesh_resize_points(m, points) == PLI_OK &&
                    pli_mesh_resize_cells(m, PLI_TET, (PliIndex)l->tet_count) == PLI_OK;
    for (size_t p = 0; ok && p < l->points; ++p)
        if (number[p] != PLI_NONE) v3_copy(m->x + 3 * (size_t)number[p], l->x + 3 * p);
    for (size_t i = 0; ok && i < 4 * l->tet_count; ++i) m->tets[i] = number[l->tets[i]];
    PLI_FREE(&l->host, number, l->points);
    if (ok && pli_mesh_find_surface(m) == PLI_OK) return m;
    pli_mesh_destroy(m);
    return NULL;
}

PliMesh *pli_lattice_fill(const PliHost *host, const PliMesh *surface, double size, PliError *err)
{
    // sides of 2 h and sqrt(3) h, two to four in a tetrahedron
    const PliVoxelDef def = { .mesh = surface, .size = size / 1.82 };
    PliVoxels *v = pli_voxels_create(host, &def, err);
    if (!v) return NULL;
    Lattice l = { .host = *host };
    const double whole = pli_surface_volume(surface), area = pli_surface_area(surface);
    double shift = 0.0;
    bool ok = start(&l, v) && measure(&l, v, surface);
    pli_voxels_destroy(v);
    for (int round = 0; ok && round < ROUNDS; ++round) { // chords of a rounded body cut volume off
        ok = cut(&l, shift);
        shift = fmax(-0.3 * size, fmin(0.3 * size, shift + (whole - volume_of(&l)) / area));
    }
    PliMesh *m = ok && l.tet_count ? mesh_of(&l) : NULL;
    if (!m && ok && !l.tet_count)
        pli_refuse(err, PLI_BAD_MESH, "no tetrahedron with sides of %.4g m is inside the surface", size);
    else if (!m)
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice with sides of %.4g m", size);
    finish(&l);
    return m;
}
