/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Snapping the boundary of a heap of cubes to a smooth surface flattens every cube at its edges and corners: two or three faces of
// it come to lie in one plane. A layer of cells between heap and surface has one face on it each (Schneiders 1996).
#include "mesher/fitted.h"

#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "base/memory.h"
#include "base/vec.h"
#include "mesh/inside.h"
#include "surface/triangle_tree.h"

enum { ROUNDS = 40 };
static const double DEPTH = 0.6;         ///< of a cube's side, from the surface to the middle of cubes that are kept
static const double LEAST_VOLUME = 0.75; ///< of the surface's: with less, whole parts are missing

/// Neighbours of vertices along edges, or of vertices and what is next to them.
typedef struct Links {
    PliIndex *first, *to;
} Links;

typedef struct Fitted {
    PliHost host;
    const PliMesh *surface;
    PliTriangleTree *tree;
    PliInside *inside;
    double h, origin[3];
    PliIndex size[3]; ///< cubes, one empty layer included
    size_t cube_count, corner_count;
    uint8_t *solid;     ///< per cube
    uint8_t *outer;     ///< per corner of the grid: on the boundary of the heap of cubes
    PliIndex *point_of; ///< per corner of the grid
    PliMesh *mesh;
    PliIndex core_points, outer_first; ///< points from outer_first on are on the surface
    PliIndex *quads, quad_count;       ///< faces on the surface, outward
    Links cells, edges, faces;         ///< of points: cells, points along edges; of outer points: quads
    double *goal;                      ///< of outer points: where they (or their limits) are to be
} Fitted;

// ---- cubes -------------------------------------------------------------------------------------------------------------------

static const uint8_t corner_at[8][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 },
                                         { 0, 0, 1 }, { 1, 0, 1 }, { 1, 1, 1 }, { 0, 1, 1 } };
/// Corners of the six faces, outward.
static const uint8_t face_corner[6][4] = { { 0, 4, 7, 3 }, { 1, 2, 6, 5 }, { 0, 1, 5, 4 },
                                           { 3, 7, 6, 2 }, { 0, 3, 2, 1 }, { 4, 5, 6, 7 } };

static size_t cube_at(const Fitted *f, PliIndex i, PliIndex j, PliIndex k)
{
    return i + (size_t)f->size[0] * (j + (size_t)f->size[1] * k);
}

static size_t grid_at(const Fitted *f, PliIndex i, PliIndex j, PliIndex k)
{
    return i + ((size_t)f->size[0] + 1) * (j + ((size_t)f->size[1] + 1) * k);
}

static bool choose_grid(Fitted *f, PliIndex cells)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY }, longest = 0.0;
    for (PliIndex i = 0; i < f->surface->point_count; ++i)
        for (int d = 0; d < 3; ++d)
            lo[d] = fmin(lo[d], f->surface->x[3 * (size_t)i + d]),
            hi[d] = fmax(hi[d], f->surface->x[3 * (size_t)i + d]);
    for (int d = 0; d < 3; ++d) longest = fmax(longest, hi[d] - lo[d]);
    f->h = longest / cells;
    for (int d = 0; d < 3; ++d) {
        const PliIndex n = (PliIndex)ceil((hi[d] - lo[d]) / f->h - 1e-9) + 2;
        f->size[d] = n;
        f->origin[d] = 0.5 * (lo[d] + hi[d] - n * f->h);
    }
    f->cube_count = (size_t)f->size[0] * f->size[1] * f->size[2];
    f->corner_count = ((size_t)f->size[0] + 1) * (f->size[1] + 1) * (f->size[2] + 1);
    f->solid = PLI_NEW(&f->host, f->cube_count, uint8_t);
    f->outer = PLI_NEW(&f->host, f->corner_count, uint8_t);
    f->point_of = PLI_NEW(&f->host, f->corner_count, PliIndex);
    return f->solid && f->outer && f->point_of;
}

static void fill_cubes(Fitted *f)
{
    const double deep = DEPTH * f->h;
    for (PliIndex k = 0; k < f->size[2]; ++k)
        for (PliIndex j = 0; j < f->size[1]; ++j)
            for (PliIndex i = 0; i < f->size[0]; ++i) {
                const double p[3] = { f->origin[0] + (i + 0.5) * f->h, f->origin[1] + (j + 0.5) * f->h,
                                      f->origin[2] + (k + 0.5) * f->h };
                f->solid[cube_at(f, i, j, k)] =
                    pli_triangle_tree_distance(f->tree, p, deep) >= deep && pli_inside_point(f->inside, p);
            }
}

/// Cubes around a corner of the grid, by bits x, y, z, and how many pieces those with `value` are in that faces join.
static int pieces_around(const Fitted *f, const size_t cube[8], uint8_t value, int piece[8])
{
    int count = 0;
    for (int c = 0; c < 8; ++c) piece[c] = -1;
    for (int c = 0; c < 8; ++c) {
        if (f->solid[cube[c]] != value || piece[c] >= 0) continue;
        int stack[8], top = 0;
        stack[top++] = c, piece[c] = count;
        while (top > 0) {
            const int at = stack[--top];
            for (int bit = 1; bit < 8; bit *= 2)
                if (f->solid[cube[at ^ bit]] == value && piece[at ^ bit] < 0)
                    piece[at ^ bit] = count, stack[top++] = at ^ bit;
        }
        count++;
    }
    return count;
}

/// Cubes that meet others in an edge or a corner only go, until none does. @return whether one did
static bool drop_pinched(Fitted *f)
{
    bool changed = false;
    for (PliIndex k = 1; k < f->size[2]; ++k)
        for (PliIndex j = 1; j < f->size[1]; ++j)
            for (PliIndex i = 1; i < f->size[0]; ++i) {
                size_t cube[8];
                int piece[8], size[8] = { 0 }, best = 0;
                for (int c = 0; c < 8; ++c)
                    cube[c] = cube_at(f, i - 1 + (c & 1), j - 1 + (c >> 1 & 1), k - 1 + (c >> 2 & 1));
                const int solid = pieces_around(f, cube, 1, piece);
                for (int c = 0; c < 8; ++c)
                    if (piece[c] >= 0) size[piece[c]]++;
                for (int p = 1; p < solid; ++p) best = size[p] > size[best] ? p : best;
                for (int c = 0; c < 8 && solid > 1; ++c)
                    if (piece[c] >= 0 && piece[c] != best) f->solid[cube[c]] = 0, changed = true;
                if (solid != 1 || pieces_around(f, cube, 0, piece) < 2) continue;
                for (int c = 0; c < 8; ++c) f->solid[cube[c]] = 0; // a tunnel or a void through one corner
                changed = true;
            }
    return changed;
}

/// Keeps the largest piece. @return cubes in it
static size_t keep_largest(Fitted *f)
{
    PliIndex *stack = PLI_NEW(&f->host, f->cube_count, PliIndex);
    size_t best = 0, best_seed = 0;
    const long step[3] = { 1, (long)f->size[0], (long)f->size[0] * (long)f->size[1] };
    if (!stack) return 0;
    for (int pass = 0; pass < 2; ++pass) { // 1 unseen, 2 seen; then 3 kept
        for (size_t seed = 0; seed < f->cube_count; ++seed) {
            if (pass ? seed != best_seed : f->solid[seed] != 1) continue;
            size_t top = 0, count = 0;
            const uint8_t from = pass ? 2 : 1, to = pass ? 3 : 2;
            stack[top++] = (PliIndex)seed, f->solid[seed] = to;
            while (top > 0) {
                const long at = stack[--top];
                count++;
                for (int s = 0; s < 6; ++s) {
                    const long next = at + (s % 2 ? -step[s / 2] : step[s / 2]); // an empty layer is around all
                    if (f->solid[next] == from) f->solid[next] = to, stack[top++] = (PliIndex)next;
                }
            }
            if (!pass && count > best) best = count, best_seed = seed;
        }
        if (best == 0) break;
    }
    for (size_t c = 0; c < f->cube_count; ++c) f->solid[c] = f->solid[c] == 3;
    PLI_FREE(&f->host, stack, f->cube_count);
    return best;
}

// ---- the mesh ----------------------------------------------------------------------------------------------------------------

static void for_faces(const Fitted *f, void (*fn)(Fitted *f, const PliIndex grid[4], void *user), void *user)
{
    for (PliIndex k = 1; k + 1 < f->size[2]; ++k)
        for (PliIndex j = 1; j + 1 < f->size[1]; ++j)
            for (PliIndex i = 1; i + 1 < f->size[0]; ++i) {
                if (!f->solid[cube_at(f, i, j, k)]) continue;
                const size_t next[6] = { cube_at(f, i - 1, j, k), cube_at(f, i + 1, j, k), cube_at(f, i, j - 1, k),
                                         cube_at(f, i, j + 1, k), cube_at(f, i, j, k - 1), cube_at(f, i, j, k + 1) };
                for (int s = 0; s < 6; ++s) {
                    if (f->solid[next[s]]) continue;
                    PliIndex grid[4];
                    for (int c = 0; c < 4; ++c) {
                        const uint8_t *o = corner_at[face_corner[s][c]];
                        grid[c] = (PliIndex)grid_at(f, i + o[0], j + o[1], k + o[2]);
                    }
                    fn((Fitted *)f, grid, user);
                }
            }
}

static void count_face(Fitted *f, const PliIndex grid[4], void *user)
{
    for (int c = 0; c < 4; ++c) f->outer[grid[c]] = 1;
    ++*(PliIndex *)user;
}

static void add_face(Fitted *f, const PliIndex grid[4], void *user)
{
    const PliIndex *shell = user; // per point of the core: its copy on the surface
    PliIndex *cell = f->mesh->hexes + 8 * (size_t)f->mesh->hex_count++, *quad = f->quads + 4 * (size_t)f->quad_count++;
    for (int c = 0; c < 4; ++c) {
        cell[c] = f->point_of[grid[c]];
        cell[4 + c] = quad[c] = shell[cell[c]];
    }
}

static bool make_mesh(Fitted *f, size_t cubes)
{
    PliIndex faces = 0, shell = 0;
    memset(f->point_of, 0xff, f->corner_count * sizeof *f->point_of);
    memset(f->outer, 0, f->corner_count);
    for_faces(f, count_face, &faces);
    PliIndex points = 0;
    for (PliIndex k = 0; k < f->size[2]; ++k)
        for (PliIndex j = 0; j < f->size[1]; ++j)
            for (PliIndex i = 0; i < f->size[0]; ++i)
                for (int c = 0; c < 8 && f->solid[cube_at(f, i, j, k)]; ++c) {
                    PliIndex *to =
                        &f->point_of[grid_at(f, i + corner_at[c][0], j + corner_at[c][1], k + corner_at[c][2])];
                    if (*to == PLI_NONE) *to = points++;
                }
    for (size_t g = 0; g < f->corner_count; ++g) shell += f->outer[g];
    f->core_points = f->outer_first = points;
    PliIndex *copy = PLI_NEW(&f->host, points, PliIndex);
    f->quads = PLI_NEW(&f->host, 4 * (size_t)faces, PliIndex);
    f->goal = PLI_NEW(&f->host, 3 * (size_t)shell, double);
    f->mesh = pli_mesh_create(&f->host);
    const PliIndex cells = (PliIndex)cubes + faces;
    bool good = copy && f->quads && f->goal && f->mesh && pli_mesh_resize_points(f->mesh, points + shell) == PLI_OK &&
                pli_mesh_resize_cells(f->mesh, PLI_HEX, cells) == PLI_OK;
    if (good) {
        f->mesh->hex_count = 0;
        PliIndex next = points;
        for (PliIndex k = 0; k <= f->size[2]; ++k)
            for (PliIndex j = 0; j <= f->size[1]; ++j)
                for (PliIndex i = 0; i <= f->size[0]; ++i) {
                    const size_t g = grid_at(f, i, j, k);
                    const double p[3] = { f->origin[0] + i * f->h, f->origin[1] + j * f->h, f->origin[2] + k * f->h };
                    if (f->point_of[g] == PLI_NONE) continue;
                    v3_copy(f->mesh->x + 3 * (size_t)f->point_of[g], p);
                    if (f->outer[g]) v3_copy(f->mesh->x + 3 * (size_t)next, p), copy[f->point_of[g]] = next++;
                }
        for (PliIndex k = 0; k < f->size[2]; ++k)
            for (PliIndex j = 0; j < f->size[1]; ++j)
                for (PliIndex i = 0; i < f->size[0]; ++i) {
                    if (!f->solid[cube_at(f, i, j, k)]) continue;
                    PliIndex *cell = f->mesh->hexes + 8 * (size_t)f->mesh->hex_count++;
                    for (int c = 0; c < 8; ++c)
                        cell[c] =
                            f->point_of[grid_at(f, i + corner_at[c][0], j + corner_at[c][1], k + corner_at[c][2])];
                }
        for_faces(f, add_face, copy);
    }
    PLI_FREE(&f->host, copy, points);
    return good;
}

/// Rows of `to` for every entry of index[count]: entry e belongs to row index[e] and holds value(e).
static bool link(Fitted *f, Links *l, PliIndex rows, const PliIndex *index, size_t count, PliIndex per,
                 const PliIndex *value)
{
    l->first = PLI_NEW(&f->host, (size_t)rows + 1, PliIndex);
    l->to = PLI_NEW(&f->host, count, PliIndex);
    if (!l->first || !l->to) return false;
    for (size_t e = 0; e < count; ++e) l->first[index[e] + 1]++;
    for (PliIndex r = 0; r < rows; ++r) l->first[r + 1] += l->first[r];
    for (size_t e = count; e-- > 0;) { // backwards, so that rows ascend
        PliIndex *end = &l->first[index[e] + 1];
        l->to[--*end] = value ? value[e] : (PliIndex)(e / per);
    }
    for (PliIndex r = 0; r < rows; ++r) l->first[r] = l->first[r + 1];
    l->first[rows] = (PliIndex)count;
    return true;
}

static bool find_links(Fitted *f)
{
    static const uint8_t edge[12][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 }, { 4, 5 }, { 5, 6 },
                                         { 6, 7 }, { 7, 4 }, { 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 } };
    const PliMesh *m = f->mesh;
    const size_t sides = 24 * (size_t)m->hex_count; // every edge as often as cells have it: inner ones count alike
    PliIndex *pair = PLI_NEW(&f->host, 2 * sides, PliIndex);
    bool good = pair != NULL;
    for (size_t c = 0; c < m->hex_count && good; ++c)
        for (size_t e = 0; e < 24; ++e) {
            pair[24 * c + e] = m->hexes[8 * c + edge[e / 2][e % 2]];
            pair[sides + 24 * c + e] = m->hexes[8 * c + edge[e / 2][1 - e % 2]];
        }
    good = good && link(f, &f->edges, m->point_count, pair, sides, 1, pair + sides) &&
           link(f, &f->cells, m->point_count, m->hexes, 8 * (size_t)m->hex_count, 8, NULL) &&
           link(f, &f->faces, m->point_count, f->quads, 4 * (size_t)f->quad_count, 4, NULL);
    PLI_FREE(&f->host, pair, 2 * sides);
    return good;
}

// ---- quality -----------------------------------------------------------------------------------------------------------------

double pli_scaled_jacobian(const double *x, const PliIndex corner[8])
{
    static const uint8_t next[8][3] = { { 1, 3, 4 }, { 2, 0, 5 }, { 3, 1, 6 }, { 0, 2, 7 },
                                        { 7, 5, 0 }, { 4, 6, 1 }, { 5, 7, 2 }, { 6, 4, 3 } };
    double least = 1.0;
    for (int c = 0; c < 8; ++c) {
        double e[3][3], n[3], size = 1.0;
        for (int k = 0; k < 3; ++k) {
            v3_sub(e[k], x + 3 * (size_t)corner[next[c][k]], x + 3 * (size_t)corner[c]);
            size *= v3_norm(e[k]);
        }
        v3_cross(n, e[0], e[1]);
        least = pli_min(least, size > 0.0 ? v3_dot(n, e[2]) / size : -1.0);
    }
    return least;
}

static double least_around(const Fitted *f, PliIndex p)
{
    double least = 1.0;
    for (PliIndex e = f->cells.first[p]; e < f->cells.first[p + 1]; ++e)
        least = pli_min(least, pli_scaled_jacobian(f->mesh->x, f->mesh->hexes + 8 * (size_t)f->cells.to[e]));
    return least;
}

// ---- to the surface ----------------------------------------------------------------------------------------------------------

static void project(const Fitted *f, double p[3])
{
    double square = INFINITY, w[3], q[3] = { 0.0, 0.0, 0.0 };
    const PliIndex t = pli_triangle_tree_nearest(f->tree, p, &square, w);
    if (t == PLI_NONE) return;
    for (int c = 0; c < 3; ++c) v3_madd(q, w[c], f->surface->x + 3 * (size_t)f->surface->tris[3 * (size_t)t + c]);
    v3_copy(p, q);
}

/// Middle of the neighbours: of outer points those on the surface, by the quads around.
static void middle_of(const Fitted *f, PliIndex p, double q[3])
{
    double sum = 0.0;
    memset(q, 0, 3 * sizeof *q);
    if (p >= f->outer_first) {
        for (PliIndex e = f->faces.first[p]; e < f->faces.first[p + 1]; ++e)
            for (int c = 0; c < 4; ++c) {
                const PliIndex other = f->quads[4 * (size_t)f->faces.to[e] + (size_t)c];
                if (other != p) v3_add(q, q, f->mesh->x + 3 * (size_t)other), sum += 1.0;
            }
    } else {
        for (PliIndex e = f->edges.first[p]; e < f->edges.first[p + 1]; ++e)
            v3_add(q, q, f->mesh->x + 3 * (size_t)f->edges.to[e]), sum += 1.0;
    }
    v3_scale(q, 1.0 / sum);
}

/// A point of a poor cell goes wherever the worst cell around it is better, a part of a cube's side at a time.
static void untangle(Fitted *f, PliIndex p)
{
    static const double POOR = 0.2, STEP[4] = { 0.3, 0.15, 0.07, 0.03 };
    double *x = f->mesh->x + 3 * (size_t)p, best = least_around(f, p);
    for (int k = 0; k < 4 && best < POOR; ++k)
        for (int way = 0; way < 6; ++way) {
            double keep[3];
            v3_copy(keep, x);
            x[way / 2] += way % 2 ? -STEP[k] * f->h : STEP[k] * f->h;
            if (p >= f->outer_first) project(f, x);
            const double now = least_around(f, p);
            if (now > best)
                best = now;
            else
                v3_copy(x, keep);
        }
}

/// Points go towards the middle of their neighbours. Guarded: as long as the worst cell around does not get worse by that.
static void smooth_points(Fitted *f, PliIndex end, bool guarded)
{
    static const double GOOD = 0.5, SHARE[3] = { 0.7, 0.3, 0.1 };
    for (PliIndex p = 0; p < end; ++p) {
        double *x = f->mesh->x + 3 * (size_t)p, keep[3], middle[3];
        const double before = least_around(f, p);
        v3_copy(keep, x);
        middle_of(f, p, middle);
        for (int k = 0; k < 3; ++k) {
            for (int d = 0; d < 3; ++d) x[d] = keep[d] + SHARE[k] * (middle[d] - keep[d]);
            if (p >= f->outer_first) project(f, x);
            if (!guarded || least_around(f, p) >= pli_min(before, GOOD)) break;
            v3_copy(x, keep);
        }
        if (guarded) untangle(f, p);
    }
}

/// Limit of an outer point: the surface rule of Catmull and Clark, n quads around.
static void limit_of(const Fitted *f, PliIndex p, double q[3])
{
    const PliIndex n = f->faces.first[p + 1] - f->faces.first[p];
    memset(q, 0, 3 * sizeof *q);
    v3_madd(q, (double)n * n, f->mesh->x + 3 * (size_t)p);
    for (PliIndex e = f->faces.first[p]; e < f->faces.first[p + 1]; ++e) {
        const PliIndex *quad = f->quads + 4 * (size_t)f->faces.to[e];
        int at = 0;
        while (quad[at] != p) at++;
        v3_madd(q, 2.0, f->mesh->x + 3 * (size_t)quad[(at + 1) % 4]); // an edge has two quads
        v3_madd(q, 2.0, f->mesh->x + 3 * (size_t)quad[(at + 3) % 4]);
        v3_madd(q, 1.0, f->mesh->x + 3 * (size_t)quad[(at + 2) % 4]);
    }
    v3_scale(q, 1.0 / ((double)n * (n + 5)));
}

/// Control points whose limits are where the points are, as far as cells around them stay good.
static void lift_points(Fitted *f)
{
    static const double GOOD = 0.2;
    const PliIndex outer = f->mesh->point_count - f->outer_first;
    memcpy(f->goal, f->mesh->x + 3 * (size_t)f->outer_first, 3 * (size_t)outer * sizeof *f->goal);
    for (int round = 0; round < 4 * ROUNDS; ++round) {
        for (PliIndex i = 0; i < outer; ++i) {
            const PliIndex p = f->outer_first + i;
            double limit[3], keep[3], *x = f->mesh->x + 3 * (size_t)p;
            const double before = least_around(f, p);
            limit_of(f, p, limit);
            v3_copy(keep, x);
            for (int d = 0; d < 3; ++d) x[d] += f->goal[3 * (size_t)i + d] - limit[d];
            if (least_around(f, p) < pli_min(before, GOOD)) v3_copy(x, keep);
        }
        if (round % 10 == 9) smooth_points(f, f->outer_first, true);
    }
}

static double hex_volume(const double *x, const PliIndex c[8])
{
    double six = 0.0; // faces by their middles
    for (int s = 0; s < 6; ++s) {
        double m[3] = { 0.0, 0.0, 0.0 };
        for (int k = 0; k < 4; ++k) v3_madd(m, 0.25, x + 3 * (size_t)c[face_corner[s][k]]);
        for (int k = 0; k < 4; ++k) {
            double n[3];
            v3_cross(n, x + 3 * (size_t)c[face_corner[s][k]], x + 3 * (size_t)c[face_corner[s][(k + 1) % 4]]);
            six += v3_dot(m, n);
        }
    }
    return six / 6.0;
}

static PliIndex find_facts(const Fitted *f, bool smooth, PliFittedFacts *out)
{
    const PliMesh *m = f->mesh;
    PliIndex inverted = 0;
    *out =
        (PliFittedFacts){ .points = m->point_count, .cells = m->hex_count, .outer = f->quad_count, .least = INFINITY };
    for (PliIndex c = 0; c < m->hex_count; ++c) {
        const PliIndex *corner = m->hexes + 8 * (size_t)c;
        const double q = pli_scaled_jacobian(m->x, corner);
        out->mean += q / m->hex_count;
        out->volume += hex_volume(m->x, corner);
        out->poor += q < 0.2, inverted += q <= 0.0;
        if (q >= out->least) continue;
        out->least = q;
        memset(out->worst_at, 0, sizeof out->worst_at);
        for (int k = 0; k < 8; ++k) v3_madd(out->worst_at, 0.125, m->x + 3 * (size_t)corner[k]);
    }
    for (PliIndex p = f->outer_first; p < m->point_count; ++p) {
        double q[3];
        if (smooth)
            limit_of(f, p, q);
        else
            v3_copy(q, m->x + 3 * (size_t)p);
        out->off = pli_max(out->off, pli_triangle_tree_distance(f->tree, q, INFINITY));
    }
    return inverted;
}

static PliStatus fit(Fitted *f, const PliFittedDef *def, PliFittedFacts *facts, PliError *err)
{
    if (!choose_grid(f, def->cells)) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a grid of cubes");
    fill_cubes(f);
    for (int round = 0; round < 100 && drop_pinched(f);) round++;
    const size_t cubes = keep_largest(f);
    if (cubes == 0)
        return pli_refuse(
            err, PLI_BAD_MESH,
            "no cube of %.3g m (%u along the longest side) lies deep enough inside the surface; give more "
            "cells",
            f->h, def->cells);
    if (!make_mesh(f, cubes) || !find_links(f))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice of %zu cubes", cubes);
    for (PliIndex p = f->outer_first; p < f->mesh->point_count; ++p) project(f, f->mesh->x + 3 * (size_t)p);
    // cubes stick out here and there: a few rounds draw them in, whatever they do to others
    for (int round = 0; round < 4; ++round) smooth_points(f, f->outer_first, false);
    for (int round = 0; round < ROUNDS; ++round) smooth_points(f, f->mesh->point_count, true);
    if (def->smooth) lift_points(f);
    const PliIndex inverted = find_facts(f, def->smooth, facts);
    if (inverted)
        return pli_refuse(
            err, PLI_BAD_MESH,
            "%u of %u hexahedra are inside out, the worst (scaled Jacobian %.2f) at %g %g %g: the surface "
            "has parts or edges too fine for %u cells along its longest side",
            inverted, facts->cells, facts->least, facts->worst_at[0], facts->worst_at[1], facts->worst_at[2],
            def->cells);
    const double whole = pli_inside_volume(f->inside);
    if (facts->volume < LEAST_VOLUME * whole)
        return pli_refuse(
            err, PLI_BAD_MESH,
            "%u cells along the longest side reach %.0f %% of the volume inside the surface: parts thinner "
            "than a cell of %.3g m are lost; give more cells",
            def->cells, 100.0 * facts->volume / whole, f->h);
    return PLI_OK;
}

static void free_links(Fitted *f, Links *l, size_t rows, size_t count)
{
    PLI_FREE(&f->host, l->first, rows + 1);
    PLI_FREE(&f->host, l->to, count);
}

PliMesh *pli_fitted_hexes(const PliHost *host, const PliMesh *surface, const PliFittedDef *def, PliFittedFacts *facts,
                          PliError *err)
{
    if (def->cells < 3 || def->cells > 200) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "%u cells along the longest side; a fitted lattice has 3 to 200", def->cells);
        return NULL;
    }
    Fitted f = { .host = *host, .surface = surface };
    f.tree = pli_triangle_tree_create(host, surface->x, surface->point_count, surface->tris, surface->tri_count);
    f.inside = pli_inside_create(host, surface, err);
    PliStatus status = !f.inside ? PLI_BAD_MESH
                       : f.tree  ? PLI_OK
                                 : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the surface");
    if (status == PLI_OK) {
        pli_triangle_tree_refit(f.tree, surface->x);
        status = fit(&f, def, facts, err);
    }
    const size_t points = f.mesh ? f.mesh->point_count : 0, cells = f.mesh ? f.mesh->hex_count : 0;
    free_links(&f, &f.cells, points, 8 * cells);
    free_links(&f, &f.edges, points, 24 * cells);
    free_links(&f, &f.faces, points, 4 * (size_t)f.quad_count);
    PLI_FREE(host, f.quads, 4 * (size_t)f.quad_count);
    PLI_FREE(host, f.goal, 3 * (points - f.outer_first));
    PLI_FREE(host, f.solid, f.cube_count);
    PLI_FREE(host, f.outer, f.corner_count);
    PLI_FREE(host, f.point_of, f.corner_count);
    pli_triangle_tree_destroy(f.tree);
    pli_inside_destroy(f.inside);
    if (status == PLI_OK) return f.mesh;
    pli_mesh_destroy(f.mesh);
    return NULL;
}
