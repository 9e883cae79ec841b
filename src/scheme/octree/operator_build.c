/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which elements an active set has. Everything is made anew from the tree and the lists of neighbours; arrays never grow.
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/octree/fit.h"
#include "scheme/octree/operator.h"

typedef enum SideKind { SIDE_FREE, SIDE_POINT, SIDE_WALL } SideKind;
typedef struct Side {
    SideKind kind;
    PliIndex point; ///< compact, unless free
    bool is_skewed; ///< of another level
} Side;

typedef struct Octant {
    PliIndex point;
    Side side[3];
    int known[3], known_count; ///< sides that are not free
    bool at_wall, skewed;
    bool is_quiet; ///< skewed, with no correction near it
    double volume, size;
    double grad[3][3]; ///< of the points at its sides, when known_count is 3 or at_wall
} Octant;

static const double *rest_of(const PliOctreeOperator *o, PliIndex point) { return o->rest + 3 * (size_t)point; }

// ---- points ----------------------------------------------------------------------------------------------------------------

static void number_points(PliOctreeOperator *o, const uint8_t *is_held)
{
    const PliOctreeTree *t = o->tree;
    memset(o->position, 0xff, t->cell_count * sizeof *o->position);
    memset(o->wall_position, 0xff, t->wall_count * sizeof *o->wall_position);
    o->count = o->wall_count = 0;
    for (PliIndex c = 0; c < t->cell_count; ++c) {
        if (!o->active->is_active[c]) continue;
        o->position[c] = o->count;
        o->cell[o->count] = c;
        o->mass[o->count] = o->material.density * t->volume[c];
        v3_copy(o->rest + 3 * (size_t)o->count, t->rest + 3 * (size_t)c);
        o->count++;
    }
    for (PliIndex i = 0; is_held && i < o->count; ++i)
        for (int side = 0; side < 6; ++side) {
            const PliIndex w = t->cell[o->cell[i]].wall[side];
            if (w == PLI_NONE || !is_held[w]) continue;
            const PliIndex point = o->count + o->extra + o->wall_count;
            o->wall[o->wall_count++] = w;
            o->wall_position[w] = point;
            v3_copy(o->rest + 3 * (size_t)point, t->wall_rest + 3 * (size_t)w);
        }
}

// What the octant of an active cell looks at along one axis.
static Side look(const PliOctreeOperator *o, PliIndex cell, int octant, int axis)
{
    const PliOctreeCell *c = &o->tree->cell[cell];
    const int side = pli_octree_side(octant, axis);
    if (c->link >> (3 * octant + axis) & 1) {
        const PliOctreeCell *n = &o->tree->cell[c->neighbour[side]];
        const PliIndex same = o->position[c->neighbour[side]];
        if (same != PLI_NONE) return (Side){ SIDE_POINT, same, false };
        if (n->parent != PLI_NONE && o->position[n->parent] != PLI_NONE)
            return (Side){ SIDE_POINT, o->position[n->parent], true };
        return (Side){ SIDE_POINT, o->position[n->child[octant ^ 1 << axis]], true };
    }
    const PliIndex w = c->wall[side];
    if (w != PLI_NONE && o->wall_position[w] != PLI_NONE) return (Side){ SIDE_WALL, o->wall_position[w], false };
    return (Side){ SIDE_FREE, PLI_NONE, false };
}

/// Gradients of three points around a fourth; false when they are nearly in one plane.
static bool gradients(const double x0[3], const double p[3][3], double g[3][3])
{
    double d[9], inverse[9], scale = 1.0;
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) d[3 * i + k] = p[k][i] - x0[i];
        scale *= v3_distance(p[k], x0);
    }
    if (!(fabs(m3_det(d)) > 0.05 * scale)) return false;
    (void)m3_inverse(inverse, d);
    for (int k = 0; k < 3; ++k) v3_copy(g[k], inverse + 3 * k);
    return true;
}

/// Next to another level the direction across is oblique, and what is free across a plane or a line of oblique directions is not what is free
/// across the surface: such octants would hardly resist shear. They take what they lack from the other side of their own particle, or
/// from beside the one they look at.
static void borrow_sides(const PliOctreeOperator *o, PliIndex cell, int number, Octant *q)
{
    for (int a = 0; a < 3; ++a) {
        if (q->side[a].kind != SIDE_FREE) continue;
        Side other = look(o, cell, number ^ 1 << a, a);
        for (int b = 0; b < 3 && other.kind != SIDE_POINT; ++b) {
            if (!q->side[b].is_skewed) continue;
            const PliOctreeCell *across = &o->tree->cell[o->cell[q->side[b].point]];
            for (int up = 0; up < 2 && other.kind != SIDE_POINT; ++up) {
                const PliIndex n = across->neighbour[2 * a + up];
                if (n != PLI_NONE && o->position[n] != PLI_NONE) other = (Side){ SIDE_POINT, o->position[n], false };
            }
        }
        if (other.kind == SIDE_POINT) q->side[a] = other;
    }
}

/// False when nothing moves in it.
static bool octant_of(const PliOctreeOperator *o, PliIndex point, int number, Octant *q)
{
    const PliIndex cell = o->cell[point];
    const double *x0 = rest_of(o, point);
    double p[3][3];
    *q = (Octant){ .point = point,
                   .volume = pli_octree_octant_volume(o->tree, cell, number),
                   .size = o->tree->size[o->tree->cell[cell].level] };
    if (!(q->volume > 0.0)) return false;
    for (int a = 0; a < 3; ++a) {
        q->side[a] = look(o, cell, number, a);
        q->at_wall = q->at_wall || q->side[a].kind == SIDE_WALL;
        q->skewed = q->skewed || q->side[a].is_skewed;
    }
    if (q->skewed && !q->at_wall) borrow_sides(o, cell, number, q);
    for (int a = 0; a < 3; ++a) {
        const bool known = q->side[a].kind != SIDE_FREE;
        if (known) q->known[q->known_count++] = a;
        for (int i = 0; i < 3; ++i) p[a][i] = known ? rest_of(o, q->side[a].point)[i] : x0[i] + (i == a ? 1.0 : 0.0);
    }
    if (q->known_count == 3 || q->at_wall) return gradients(x0, p, q->grad);
    return q->known_count > 0;
}

static void mark_skewed(PliOctreeOperator *o)
{
    for (PliIndex i = 0; i < o->count; ++i) {
        const PliIndex c = o->cell[i];
        o->skewed[c] = 0;
        for (int q = 0; q < 8; ++q)
            for (int axis = 0; axis < 3; ++axis)
                if (look(o, c, q, axis).is_skewed) o->skewed[c] |= (uint8_t)(1u << q);
    }
}

// octants whose bit says that they look into a direction
static uint8_t octants_towards(int side)
{
    static const uint8_t up[3] = { 0xaa, 0xcc, 0xf0 };
    return side & 1 ? up[side >> 1] : (uint8_t)~up[side >> 1];
}

/// A face between two cells of one level is exact on quadratic fields if all octants on it are regular: one-sided differences are in the sum
/// over the face, not each.
static bool is_skewed_face(const PliOctreeOperator *o, PliIndex cell, int side)
{
    const PliIndex other = o->tree->cell[cell].neighbour[side];
    return (o->skewed[cell] & octants_towards(side)) || (o->skewed[other] & octants_towards(side ^ 1));
}

// ---- elements --------------------------------------------------------------------------------------------------------------

// diagonal[point] += volume ((lambda + mu) g g^T + mu |g|^2 I)
static void add_diagonal(PliOctreeOperator *o, PliIndex point, double volume, const double g[3])
{
    if (point >= o->count) return;
    double *d = o->diagonal + 9 * (size_t)point;
    const double mu = o->lame.mu * volume, both = (o->lame.lambda + o->lame.mu) * volume, gg = v3_dot(g, g);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) d[3 * i + j] += both * g[i] * g[j];
        d[4 * i] += mu * gg;
    }
}

static double damping_of(const PliOctreeOperator *o, const Octant *q)
{
    return q->skewed && !q->is_quiet
               ? o->correction_damping * q->size * sqrt(o->material.density / (o->lame.bulk + 2.0 * o->lame.mu))
               : 0.0;
}

static void add_tet(PliOctreeOperator *o, const Octant *q)
{
    const PliIndex n = o->tet_count++;
    PliIndex *corner = o->corner + 4 * (size_t)n;
    PliTetRest *rest = &o->tet_rest[n];
    double sum[3] = { 0, 0, 0 };
    corner[0] = q->point;
    for (int k = 0; k < 3; ++k) {
        corner[k + 1] = q->side[k].point;
        v3_copy(rest->grad + 3 * k, q->grad[k]);
        v3_add(sum, sum, q->grad[k]);
        add_diagonal(o, q->side[k].point, q->volume, q->grad[k]);
    }
    add_diagonal(o, q->point, q->volume, sum);
    rest->volume = q->volume;
    o->tet_level[n] = q->skewed ? PLI_OCTREE_MAX_LEVELS : o->tree->cell[o->cell[q->point]].level;
    o->which[n] = n;
}

/// In the plane of three points, stress-free across it.
static void add_membrane(PliOctreeOperator *o, const Octant *q)
{
    double u[3], v[3], e[3], n[3];
    const PliIndex a = q->side[q->known[0]].point, b = q->side[q->known[1]].point;
    v3_sub(u, rest_of(o, a), rest_of(o, q->point));
    v3_sub(v, rest_of(o, b), rest_of(o, q->point));
    PliOctreeMembrane *m = &o->membrane[o->membrane_count++];
    *m = (PliOctreeMembrane){ .point = { q->point, a, b }, .volume = q->volume, .damping = damping_of(o, q) };
    const double length = v3_norm(u);
    v3_copy(e, u);
    v3_scale(e, 1.0 / length);
    const double along = v3_dot(v, e);
    v3_copy(n, v);
    v3_madd(n, -along, e);
    const double across = v3_norm(n);
    v3_scale(n, 1.0 / across);
    v3_copy(m->plane, e);
    v3_copy(m->plane + 3, n);
    // rows of the inverse of [[length, along], [0, across]]: gradients of points 1 and 2 in the plane
    m->grad[0] = 1.0 / length, m->grad[1] = -along / (length * across);
    m->grad[2] = 0.0, m->grad[3] = 1.0 / across;
    double sum[3] = { 0, 0, 0 };
    for (int k = 0; k < 2; ++k) {
        double g[3] = { 0, 0, 0 };
        v3_madd(g, m->grad[2 * k], e);
        v3_madd(g, m->grad[2 * k + 1], n);
        add_diagonal(o, m->point[k + 1], q->volume, g);
        v3_add(sum, sum, g);
    }
    add_diagonal(o, q->point, q->volume, sum);
}

static void add_bar(PliOctreeOperator *o, const Octant *q)
{
    double d[3];
    const PliIndex other = q->side[q->known[0]].point;
    v3_sub(d, rest_of(o, other), rest_of(o, q->point));
    const double length = v3_norm(d);
    o->bar[o->bar_count++] = (PliOctreeBar){ { q->point, other }, length, q->volume };
    v3_scale(d, 1.0 / (length * length));
    add_diagonal(o, q->point, q->volume, d);
    add_diagonal(o, other, q->volume, d);
}

/// An octant at a wall, which holds the directions along it where nothing else says what happens there; or one next to another level.
static void add_sample(PliOctreeOperator *o, const Octant *q)
{
    PliOctreeSample *s = &o->sample[o->sample_count++];
    *s = (PliOctreeSample){ .volume = q->volume, .damping = damping_of(o, q) };
    double sum[3] = { 0, 0, 0 };
    for (int k = 0; k < 3; ++k) {
        if (q->side[k].kind == SIDE_FREE) {
            for (int i = 0; i < 3; ++i) s->f0[3 * k + i] += q->grad[k][i]; // column k stays e_k
            continue;
        }
        s->point[s->count] = q->side[k].point;
        v3_copy(s->grad + 3 * s->count++, q->grad[k]);
        v3_add(sum, sum, q->grad[k]);
        add_diagonal(o, q->side[k].point, q->volume, q->grad[k]);
    }
    add_diagonal(o, q->point, q->volume, sum);
    s->point[s->count] = q->point;
    for (int i = 0; i < 3; ++i) s->grad[3 * s->count + (PliIndex)i] = -sum[i];
    s->count++;
}

static bool near_interior(const PliOctreeOperator *o, const Octant *q)
{
    bool near = o->is_interior[o->cell[q->point]];
    for (int a = 0; a < 3; ++a)
        near = near || (q->side[a].kind == SIDE_POINT && o->is_interior[o->cell[q->side[a].point]]);
    return near;
}

static void add_octant(PliOctreeOperator *o, PliIndex point, int number, bool skewed)
{
    Octant q;
    if (!octant_of(o, point, number, &q) || q.skewed != skewed) return;
    // viscosity is needed only where corrections are
    if (q.skewed && !near_interior(o, &q)) q.is_quiet = true;
    if (q.known_count == 3 && (!q.skewed || q.is_quiet))
        add_tet(o, &q);
    else if (q.known_count == 3 || q.at_wall)
        add_sample(o, &q);
    else if (q.known_count == 2)
        add_membrane(o, &q);
    else
        add_bar(o, &q);
}

// ---- bending of what is thin -----------------------------------------------------------------------------------------------

// A cell strains uniformly, so a section of n cells lacks 1 / n^2 of its resistance to bending: all of it where it is one cell wide.
// What lies at the surface gets it back from second differences along the surface.

static bool is_walled(const PliOctreeOperator *o, const PliOctreeCell *c, int side)
{
    return c->neighbour[side] == PLI_NONE && c->wall[side] != PLI_NONE && o->wall_position[c->wall[side]] != PLI_NONE;
}

/// A daughter of a cell is held at the face that looks the same way.
static bool is_held_below(const PliOctreeOperator *o, PliIndex cell, int side)
{
    for (int k = 0; k < 8; ++k) {
        const PliIndex child = o->tree->cell[cell].child[k];
        if (child != PLI_NONE && is_walled(o, &o->tree->cell[child], side)) return true;
    }
    return false;
}

/// What stands next to a cell: one particle, or the mean of finer ones. @return how far it is, 0: nothing, or a coarser one.
static double bend_end(const PliOctreeOperator *o, PliIndex cell, int side, PliOctreeBend *b)
{
    const PliIndex n = o->tree->cell[cell].neighbour[side];
    if (n == PLI_NONE) return 0.0;
    const PliIndex begin = b->count;
    if (o->position[n] != PLI_NONE) b->point[b->count++] = o->position[n];
    for (int k = 0; k < 8 && o->position[n] == PLI_NONE; ++k) {
        const PliIndex child = o->tree->cell[n].child[k];
        if ((octants_towards(side ^ 1) >> k & 1) && child != PLI_NONE && o->position[child] != PLI_NONE)
            b->point[b->count++] = o->position[child];
    }
    if (b->count == begin) return 0.0;
    double mean[3] = { 0, 0, 0 };
    for (PliIndex q = begin; q < b->count; ++q) {
        b->c[q] = 1.0 / (b->count - begin);
        v3_madd(mean, b->c[q], rest_of(o, b->point[q]));
    }
    if (!(side & 1)) b->split = b->count;
    return v3_distance(mean, o->tree->rest + 3 * (size_t)cell);
}

static void push_bend(PliOctreeOperator *o, PliOctreeBend *b)
{
    for (PliIndex q = 0; q < b->count; ++q)
        for (int d = 0; d < 3; ++d) o->diagonal[9 * (size_t)b->point[q] + 4 * (size_t)d] += b->k * b->c[q] * b->c[q];
    o->bend[o->bend_count++] = *b;
}

/// Adds `weight` times the place of a cell: its particle, or the mean of its daughters. @return false when neither is active.
static bool add_place(const PliOctreeOperator *o, PliIndex cell, double weight, PliOctreeBend *b)
{
    if (cell == PLI_NONE) return false;
    if (o->position[cell] != PLI_NONE) {
        b->point[b->count] = o->position[cell];
        b->c[b->count++] = weight;
        return true;
    }
    for (int k = 0; k < 8; ++k) {
        const PliIndex child = o->tree->cell[cell].child[k];
        if (child == PLI_NONE) continue;
        if (o->position[child] == PLI_NONE) return false;
        b->point[b->count] = o->position[child];
        b->c[b->count++] = weight * o->tree->volume[child] / o->tree->volume[cell];
    }
    return b->count > 0;
}

/// Next to a row one cell wide the finer cells would be a hinge: their mother bends like the row, as if she were active.
static void bend_mother(PliOctreeOperator *o, PliIndex cell, int side, double k)
{
    const PliOctreeCell *c = &o->tree->cell[cell];
    const PliIndex mother = c->neighbour[side];
    bool thin = false;
    for (int axis = 0; axis < 3; ++axis)
        thin =
            thin || (axis != side >> 1 && c->neighbour[2 * axis] == PLI_NONE && c->neighbour[2 * axis + 1] == PLI_NONE);
    if (!thin || mother == PLI_NONE || o->position[mother] != PLI_NONE || !pli_octree_has_children(o->tree, mother))
        return;
    const PliOctreeCell *m = &o->tree->cell[mother];
    const bool held = is_walled(o, m, side) ||
                      (m->wall[side] != PLI_NONE && m->neighbour[side] == PLI_NONE && is_held_below(o, mother, side));
    PliOctreeBend b = { .k = k };
    if (!add_place(o, cell, 1.0, &b) || !add_place(o, mother, held ? -1.0 : -2.0, &b)) return;
    if (!held && !add_place(o, m->neighbour[side], 1.0, &b)) return;
    for (PliIndex q = 0; q < b.count; ++q) v3_madd(b.o, b.c[q], rest_of(o, b.point[q]));
    if (!held) {
        if (v3_norm(b.o) > 1e-6 * o->tree->size[c->level]) return;
        memset(b.o, 0, sizeof b.o);
    }
    push_bend(o, &b);
}

static void add_bends(PliOctreeOperator *o, PliIndex first, PliIndex last)
{
    for (PliIndex i = first; i < last; ++i) {
        const PliIndex cell = o->cell[i];
        const PliOctreeCell *c = &o->tree->cell[cell];
        const double h = o->tree->size[c->level], k = o->material.young * o->tree->volume[cell] / (12.0 * h * h);
        for (int axis = 0; axis < 3; ++axis) {
            bool free_beside = false;
            for (int side = 0; side < 6; ++side)
                free_beside =
                    free_beside || (side >> 1 != axis && c->neighbour[side] == PLI_NONE &&
                                    (c->wall[side] == PLI_NONE || o->wall_position[c->wall[side]] == PLI_NONE));
            if (!free_beside) continue;
            for (int up = 0; up < 2; ++up) bend_mother(o, cell, 2 * axis + up, k);
            PliOctreeBend b = { .k = k };
            double reach[2];
            for (int up = 0; up < 2; ++up) reach[up] = bend_end(o, cell, 2 * axis + up, &b);
            const bool held[2] = { is_walled(o, c, 2 * axis), is_walled(o, c, 2 * axis + 1) };
            if (reach[0] > 0.0 && reach[1] > 0.0) {
                // second difference of uneven distances, as large as that of distances h
                const double sum = 0.5 * (reach[0] + reach[1]);
                for (PliIndex q = 0; q < b.count; ++q) b.c[q] *= h * h / (sum * reach[q < b.split ? 0 : 1]);
                b.point[b.count] = i;
                b.c[b.count++] = -h * h / sum * (1.0 / reach[0] + 1.0 / reach[1]);
            } else if ((held[0] && reach[1] > 0.0) || (held[1] && reach[0] > 0.0)) {
                // as if mirrored in the wall; as large as that of a distance h
                const double d = reach[0] > reach[1] ? reach[0] : reach[1], scale = 2.0 * h * h / (d * (h + d));
                for (PliIndex q = 0; q < b.count; ++q) b.c[q] *= scale;
                b.point[b.count] = i;
                b.c[b.count++] = -scale;
            } else {
                continue;
            }
            for (PliIndex q = 0; q < b.count; ++q) v3_madd(b.o, b.c[q], rest_of(o, b.point[q]));
            if (!held[0] && !held[1]) {
                // particles off the line: the offset would have to turn with them
                if (v3_norm(b.o) > 1e-6 * h) continue;
                memset(b.o, 0, sizeof b.o);
            }
            push_bend(o, &b);
        }
    }
}

// ---- corrections -----------------------------------------------------------------------------------------------------------

static PliIndex add_near(const PliOctreeOperator *o, PliIndex cell, const double centre[3], double reach,
                         PliIndex *list, PliIndex count)
{
    const PliIndex n = o->active->length[cell];
    for (PliIndex i = 0; i <= n; ++i) {
        const PliIndex c = i < n ? pli_octree_neighbour(o->active, cell, i) : cell, point = o->position[c];
        if (v3_distance(rest_of(o, point), centre) > reach) continue;
        PliIndex at = count;
        while (at > 0 && list[at - 1] > point) --at;
        if (at > 0 && list[at - 1] == point) continue;
        if (count == PLI_OCTREE_FIT_POINTS) return count;
        memmove(list + at + 1, list + at, (count - at) * sizeof *list);
        list[at] = point;
        count++;
    }
    return count;
}

// block += k sigma(d (x) g) t as a matrix that acts on d
static void add_stress_block(const PliLame *m, double k, const double g[3], const double t[3], double block[9])
{
    const double gt = v3_dot(g, t);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) block[3 * i + j] += k * (m->mu * g[i] * t[j] + m->bulk * t[i] * g[j]);
        block[4 * i] += k * m->mu * gt;
    }
}

typedef struct Face {
    PliIndex a, b;
    double centre[3], area[3], width; ///< area along the normal, towards b
} Face;

/// Takes from `block` (one per monomial) the force on face.a that the octant of a cell exerts across the face, or on face.b with -1.
static void take_octant(const PliOctreeOperator *o, const Face *face, PliIndex point, PliIndex other, int number,
                        double sign, double (*block)[9])
{
    Octant q;
    // of a cell inside the body, and of its neighbours towards it, no side is free
    if (!octant_of(o, point, number, &q) || q.known_count < 3) return;
    int k = -1;
    for (int a = 0; a < 3; ++a)
        if (q.side[a].point == other) k = a;
    if (k < 0) return;
    double value[3][PLI_OCTREE_MONOMIALS], own[PLI_OCTREE_MONOMIALS];
    pli_octree_monomials(face->centre, face->width, rest_of(o, point), own);
    for (int a = 0; a < 3; ++a) {
        pli_octree_monomials(face->centre, face->width, rest_of(o, q.side[a].point), value[a]);
        for (int m = 0; m < PLI_OCTREE_MONOMIALS; ++m) value[a][m] -= own[m];
    }
    for (int m = 0; m < PLI_OCTREE_MONOMIALS; ++m) {
        double g[3] = { 0, 0, 0 };
        for (int a = 0; a < 3; ++a) v3_madd(g, value[a][m], q.grad[a]);
        add_stress_block(&o->lame, -sign * q.volume, g, q.grad[k], block[m]);
    }
}

static void add_correction(PliOctreeOperator *o, const Face *face, uint8_t towards_b, uint8_t towards_a)
{
    PliIndex list[PLI_OCTREE_FIT_POINTS], count = 0;
    double points[3 * PLI_OCTREE_FIT_POINTS], w[PLI_OCTREE_MONOMIALS * PLI_OCTREE_FIT_POINTS];
    count = add_near(o, o->cell[face->a], face->centre, 2.0 * face->width, list, count);
    count = add_near(o, o->cell[face->b], face->centre, 2.0 * face->width, list, count);
    for (PliIndex i = 0; i < count; ++i) v3_copy(points + 3 * (size_t)i, rest_of(o, list[i]));
    if (o->correction_count == o->correction_capacity || o->entry_count + count > o->entry_capacity ||
        !pli_octree_fit_quadratic(face->centre, face->width, points, count, w)) {
        o->uncorrected++;
        return;
    }
    // what the face should do to each monomial, less what the octants on it do
    double block[PLI_OCTREE_MONOMIALS][9] = { { 0 } };
    for (int m = 0; m < 3; ++m) {
        double g[3] = { 0, 0, 0 };
        g[m] = 1.0 / face->width;
        add_stress_block(&o->lame, 1.0, g, face->area, block[m]);
    }
    for (int q = 0; q < 8; ++q) {
        if (towards_b >> q & 1) take_octant(o, face, face->a, face->b, q, 1.0, block);
        if (towards_a >> q & 1) take_octant(o, face, face->b, face->a, q, -1.0, block);
    }
    PliOctreeCorrection *c = &o->correction[o->correction_count++];
    *c = (PliOctreeCorrection){ .plus = face->a, .minus = face->b, .first = o->entry_count, .count = count };
    for (PliIndex i = 0; i < count; ++i) {
        const double *wi = w + PLI_OCTREE_MONOMIALS * (size_t)i;
        double *b = o->entry_block + 9 * (size_t)o->entry_count, *g = o->entry_grad + 3 * (size_t)o->entry_count, at[3];
        memset(b, 0, 9 * sizeof *b);
        for (int m = 0; m < PLI_OCTREE_MONOMIALS; ++m)
            for (int k = 0; k < 9; ++k) b[k] += wi[m] * block[m][k];
        for (int k = 0; k < 3; ++k) g[k] = wi[k] / face->width;
        o->entry_point[o->entry_count++] = list[i];
        m3_apply(at, b, rest_of(o, list[i]));
        v3_add(c->at_rest, c->at_rest, at);
    }
}

static void add_corrections(PliOctreeOperator *o)
{
    const PliOctreeTree *t = o->tree;
    for (PliIndex i = 0; i < o->count; ++i) {
        const PliIndex cell = o->cell[i];
        const PliOctreeCell *c = &t->cell[cell];
        const double h = t->size[c->level];
        for (int side = 0; side < 6; ++side) {
            const PliIndex n = c->neighbour[side];
            if (n == PLI_NONE) continue;
            PliIndex other = o->position[n];
            const bool same = other != PLI_NONE;
            const int axis = side >> 1;
            if (same && (!(side & 1) || !is_skewed_face(o, cell, side))) continue;
            if (!same) {
                // the finer of two cells makes their face
                if (t->cell[n].parent == PLI_NONE || o->position[t->cell[n].parent] == PLI_NONE) continue;
                other = o->position[t->cell[n].parent];
            }
            if (!o->is_interior[cell] && !o->is_interior[o->cell[other]]) continue;
            Face face = { .a = i, .b = other, .width = same ? 1.3 * h : 1.3 * 1.5 * h };
            const double sign = side & 1 ? 1.0 : -1.0;
            pli_octree_cell_centre(t, cell, face.centre);
            face.centre[axis] += 0.5 * sign * h;
            face.area[axis] = sign * t->fill * h * h;
            const int place = (c->at[0] & 1) | (c->at[1] & 1) << 1 | (c->at[2] & 1) << 2; // in its mother
            const uint8_t behind = same ? octants_towards(side ^ 1) : (uint8_t)(1u << (place ^ 1 << axis));
            add_correction(o, &face, octants_towards(side), behind);
        }
    }
}

// ---- steps -----------------------------------------------------------------------------------------------------------------

// A point by itself swings with w^2 = K_ii / m; with neighbours that swing against it twice that is the highest there is.
static void find_steps(PliOctreeOperator *o)
{
    for (PliIndex i = 0; i < o->count; ++i) {
        const double *d = o->diagonal + 9 * (size_t)i;
        double most = 0.0;
        for (int r = 0; r < 3; ++r) {
            const double sum = fabs(d[3 * r]) + fabs(d[3 * r + 1]) + fabs(d[3 * r + 2]);
            most = sum > most ? sum : most;
        }
        o->step[i] = most > 0.0 ? 2.0 / sqrt(2.0 * most / o->mass[i]) : INFINITY;
    }
}

// Tetrahedra by level, finest first: group g ticks at a rate 2^g lower. What joins two levels ticks with the finest.
static void sort_tets(PliOctreeOperator *o)
{
    if (!o->count) return;
    const int coarsest = o->tree->cell[o->cell[0]].level;
    PliIndex n = 0;
    o->finest = o->tree->cell[o->cell[o->count - 1]].level; // points ascend by level
    o->group_count = 0;
    for (int l = o->finest; l >= coarsest; --l) {
        o->group_first[o->group_count++] = n;
        for (PliIndex e = 0; e < o->tet_count; ++e)
            if (o->tet_level[e] == l || (l == o->finest && o->tet_level[e] == PLI_OCTREE_MAX_LEVELS)) o->which[n++] = e;
    }
    o->group_first[o->group_count] = n;
}

/// Level by level, which is the order of points; what joins two levels comes last.
static void add_elements(PliOctreeOperator *o)
{
    PliIndex point = 0;
    for (int l = 0; l < PLI_OCTREE_MAX_LEVELS; ++l) {
        const PliIndex first = point;
        o->sample_level[l] = o->sample_count, o->membrane_level[l] = o->membrane_count;
        o->bar_level[l] = o->bar_count, o->bend_level[l] = o->bend_count;
        for (; point < o->count && o->tree->cell[o->cell[point]].level == l; ++point)
            for (int q = 0; q < 8; ++q) add_octant(o, point, q, false);
        add_bends(o, first, point);
    }
    o->sample_level[PLI_OCTREE_MAX_LEVELS] = o->sample_count,
    o->membrane_level[PLI_OCTREE_MAX_LEVELS] = o->membrane_count;
    o->bar_level[PLI_OCTREE_MAX_LEVELS] = o->bar_count, o->bend_level[PLI_OCTREE_MAX_LEVELS] = o->bend_count;
    for (PliIndex i = 0; i < o->count; ++i)
        for (int q = 0; q < 8; ++q)
            if (o->skewed[o->cell[i]] >> q & 1) add_octant(o, i, q, true);
}

void pli_octree_operator_build(PliOctreeOperator *o, const uint8_t *is_held)
{
    number_points(o, is_held);
    o->tet_count = o->sample_count = o->membrane_count = o->bar_count = o->bend_count = o->correction_count =
        o->entry_count = 0;
    o->uncorrected = 0;
    o->group_count = 1, o->finest = 0;
    if (o->is_paper) {
        pli_octree_paper_rows(o);
        return;
    }
    memset(o->diagonal, 0, 9 * (size_t)o->count * sizeof *o->diagonal);
    mark_skewed(o);
    add_elements(o);
    add_corrections(o);
    find_steps(o);
    sort_tets(o);
    PliIndex *ordered = o->corner + 4 * (size_t)o->tet_capacity; // the second half of the array
    for (PliIndex e = 0; e < o->tet_count; ++e) {
        memcpy(ordered + 4 * (size_t)e, o->corner + 4 * (size_t)o->which[e], 4 * sizeof *ordered);
        o->tet_volume[e] = o->tet_rest[o->which[e]].volume;
    }
    pli_elastic_set_tets(o->elastic, o->count + o->extra + o->wall_count, o->tet_count, ordered, o->which, o->tet_rest,
                         o->tet_volume, NULL);
}
