/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Which elements an active set has. All but the corrections is made anew from the tree and the lists of neighbours, at once or a piece at a
// time; arrays never grow.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/octree/operator_octant.h"

/// m3 of an octant, times its factor of stiffness. An octant of a coarser cell is the daughter in it.
static double stiff_volume(const PliOctreeOperator *o, PliIndex cell, int octant)
{
    const PliIndex child =
        o->tree->cell[cell].level + 1 == o->tree->level_count ? cell : o->tree->cell[cell].child[octant];
    return child == PLI_NONE ? 0.0 : pli_octree_factor(o, child) * pli_octree_octant_volume(o->tree, cell, octant);
}

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
static PliOctreeSide look(const PliOctreeOperator *o, PliIndex cell, int octant, int axis)
{
    const PliOctreeCell *c = &o->tree->cell[cell];
    const int side = pli_octree_side(octant, axis);
    if (c->link >> (3 * octant + axis) & 1) {
        const PliOctreeCell *n = &o->tree->cell[c->neighbour[side]];
        const PliIndex same = o->position[c->neighbour[side]];
        if (same != PLI_NONE) return (PliOctreeSide){ SIDE_POINT, same, false };
        if (n->parent != PLI_NONE && o->position[n->parent] != PLI_NONE)
            return (PliOctreeSide){ SIDE_POINT, o->position[n->parent], true };
        return (PliOctreeSide){ SIDE_POINT, o->position[n->child[octant ^ 1 << axis]], true };
    }
    const PliIndex w = c->wall[side];
    if (w != PLI_NONE && o->wall_position[w] != PLI_NONE)
        return (PliOctreeSide){ SIDE_WALL, o->wall_position[w], false };
    return (PliOctreeSide){ SIDE_FREE, PLI_NONE, false };
}

/// Gradients of three differences; false when they are nearly in one plane.
static bool gradients(const double across[3][3], double g[3][3])
{
    double d[9], inverse[9], scale = 1.0;
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) d[3 * i + k] = across[k][i];
        scale *= v3_norm(across[k]);
    }
    if (!(fabs(m3_det(d)) > 0.05 * scale)) return false;
    (void)m3_inverse(inverse, d);
    for (int k = 0; k < 3; ++k) v3_copy(g[k], inverse + 3 * k);
    return true;
}

/// What it looks at; false when it is empty.
static bool octant_sides(const PliOctreeOperator *o, PliIndex point, int number, PliOctreeOctant *q)
{
    const PliIndex cell = o->cell[point];
    *q = (PliOctreeOctant){ .point = point,
                            .volume = stiff_volume(o, cell, number),
                            .factor = 1.0,
                            .size = o->tree->size[o->tree->cell[cell].level] };
    if (!(q->volume > 0.0)) return false;
    if (o->factor) q->factor = q->volume / pli_octree_octant_volume(o->tree, cell, number);
    for (int a = 0; a < 3; ++a) {
        q->side[a] = look(o, cell, number, a);
        q->at_wall = q->at_wall || q->side[a].kind == SIDE_WALL;
        q->skewed = q->skewed || q->side[a].is_skewed;
    }
    return true;
}

/// False when nothing moves in it.
static bool octant_strain(const PliOctreeOperator *o, PliOctreeOctant *q)
{
    for (int a = 0; a < 3; ++a) {
        if (q->side[a].kind == SIDE_FREE) {
            q->across[a][a] = 1.0;
            continue;
        }
        q->known[q->known_count++] = a;
        v3_sub(q->across[a], pli_octree_rest_of(o, q->to[a]), pli_octree_rest_of(o, q->from[a]));
    }
    if (q->known_count == 3 || q->at_wall) return gradients(q->across, q->grad);
    return q->known_count > 0;
}

// ---- joints ----------------------------------------------------------------------------------------------------------------

/// Where the finer cells on one side of an active cell balance. False when there are none.
static bool joint_at(const PliOctreeOperator *o, PliIndex point, int side, PliOctreeJoint *j)
{
    const PliOctreeCell *c = &o->tree->cell[o->cell[point]];
    const int axis = side >> 1;
    double sum = 0.0;
    *j = (PliOctreeJoint){ .coarse = point, .side = side };
    if (c->neighbour[side] == PLI_NONE || o->position[c->neighbour[side]] != PLI_NONE) return false;
    for (int q = 0; q < 8; ++q) {
        if (!(pli_octree_octants_towards(side) >> q & 1) || !(c->link >> (3 * q + axis) & 1)) continue;
        const PliIndex child = o->tree->cell[c->neighbour[side]].child[q ^ 1 << axis];
        if (child == PLI_NONE || o->position[child] == PLI_NONE) continue;
        j->point[j->count] = o->position[child];
        sum += j->weight[j->count++] = o->tree->volume[child];
    }
    for (PliIndex k = 0; k < j->count; ++k) j->weight[k] /= sum;
    return j->count > 0;
}

static void find_joints(PliOctreeOperator *o)
{
    o->joint_count = 0;
    for (PliIndex i = 0; i < o->count; ++i) {
        o->joint_first[i] = o->joint_count;
        for (int side = 0; side < 6; ++side) {
            PliOctreeJoint j;
            if (!joint_at(o, i, side, &j)) continue;
            double *rest = o->joint_rest + 3 * (size_t)o->joint_count;
            memset(rest, 0, 3 * sizeof *rest);
            for (PliIndex k = 0; k < j.count; ++k) v3_madd(rest, j.weight[k], o->rest + 3 * (size_t)j.point[k]);
            o->joint[o->joint_count++] = j;
        }
    }
    o->joint_first[o->count] = o->joint_count;
}

PliIndex pli_octree_joint_of(const PliOctreeOperator *o, PliIndex coarse, int side)
{
    for (PliIndex j = o->joint_first[coarse]; j < o->joint_first[coarse + 1]; ++j)
        if (o->joint[j].side == side) return j | PLI_OCTREE_JOINT;
    return PLI_NONE;
}

/// Next to another level it is strained by joints: the direction across is straight, and what is free beside it is free.
bool pli_octree_octant_of(const PliOctreeOperator *o, PliIndex point, int number, PliOctreeOctant *q)
{
    const int level = o->tree->cell[o->cell[point]].level;
    if (!octant_sides(o, point, number, q)) return false;
    for (int a = 0; a < 3; ++a) {
        const PliOctreeSide *s = &q->side[a];
        const int side = pli_octree_side(number, a);
        q->from[a] = point, q->to[a] = s->point;
        if (!s->is_skewed) continue;
        if (o->tree->cell[o->cell[s->point]].level > level)
            q->to[a] = pli_octree_joint_of(o, point, side);
        else
            q->from[a] = pli_octree_joint_of(o, s->point, side ^ 1);
    }
    return octant_strain(o, q);
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

// ---- elements --------------------------------------------------------------------------------------------------------------

// diagonal[point] += volume ((lambda + mu) g g^T + mu |g|^2 I), and its viscosity for a time of `damping`
static void add_diagonal(PliOctreeOperator *o, PliIndex point, double volume, double damping, const double g[3])
{
    if (point >= o->count) return;
    double *d = o->diagonal + 9 * (size_t)point;
    o->viscosity[point] += damping * volume * (o->lame.bulk + 2.0 * o->lame.mu) * v3_dot(g, g);
    const double mu = o->lame.mu * volume, both = (o->lame.lambda + o->lame.mu) * volume, gg = v3_dot(g, g);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) d[3 * i + j] += both * g[i] * g[j];
        d[4 * i] += mu * gg;
    }
}

/// Viscosity is needed only where corrections are.
static double damping_of(const PliOctreeOperator *o, const PliOctreeOctant *q)
{
    return q->skewed && !q->is_quiet ? o->correction_damping * q->size *
                                           sqrt(o->material.density / (q->factor * (o->lame.bulk + 2.0 * o->lame.mu)))
                                     : 0.0;
}

/// The same for all points of an element, whose differences have these gradients.
static void add_diagonals(PliOctreeOperator *o, const PliOctreeOctant *q, const double grad[3][3])
{
    PliIndex point[24], count = 0;
    double g[24][3];
    for (int k = 0; k < 2 * q->known_count; ++k) {
        const int a = q->known[k / 2];
        const PliIndex end = k % 2 ? q->to[a] : q->from[a], *all = &end;
        double weight[4] = { 1.0 };
        PliIndex n = 1;
        if (end & PLI_OCTREE_JOINT) {
            const PliOctreeJoint *j = &o->joint[end ^ PLI_OCTREE_JOINT];
            all = j->point, n = j->count;
            memcpy(weight, j->weight, sizeof weight);
        }
        for (PliIndex i = 0; i < n; ++i) {
            PliIndex at = 0;
            while (at < count && point[at] != all[i]) ++at;
            if (at == count) point[count] = all[i], memset(g[count++], 0, sizeof g[0]);
            v3_madd(g[at], k % 2 ? weight[i] : -weight[i], grad[a]);
        }
    }
    const double damping = damping_of(o, q);
    for (PliIndex i = 0; i < count; ++i) add_diagonal(o, point[i], q->volume, damping, g[i]);
}

static void add_tet(PliOctreeOperator *o, const PliOctreeOctant *q)
{
    const PliIndex n = o->tet_count++;
    PliIndex *corner = o->corner + 4 * (size_t)n;
    PliTetRest *rest = &o->tet_rest[n];
    corner[0] = q->point;
    for (int k = 0; k < 3; ++k) {
        corner[k + 1] = q->side[k].point;
        v3_copy(rest->grad + 3 * k, q->grad[k]);
    }
    add_diagonals(o, q, q->grad);
    rest->volume = q->volume;
    o->tet_level[n] = q->skewed ? PLI_OCTREE_MAX_LEVELS : o->tree->cell[o->cell[q->point]].level;
    o->which[n] = n;
}

/// In the plane of two differences, stress-free across it.
static void add_membrane(PliOctreeOperator *o, const PliOctreeOctant *q)
{
    const int first = q->known[0], second = q->known[1];
    const double *u = q->across[first], *v = q->across[second];
    double e[3], n[3], grad[3][3] = { { 0 } };
    PliOctreeMembrane *m = &o->membrane[o->membrane_count++];
    *m = (PliOctreeMembrane){ .from = { q->from[first], q->from[second] },
                              .to = { q->to[first], q->to[second] },
                              .volume = q->volume,
                              .damping = damping_of(o, q) };
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
    // rows of the inverse of [[length, along], [0, across]]: gradients of the differences in the plane
    m->grad[0] = 1.0 / length, m->grad[1] = -along / (length * across);
    m->grad[2] = 0.0, m->grad[3] = 1.0 / across;
    for (int k = 0; k < 2; ++k) {
        v3_madd(grad[q->known[k]], m->grad[2 * k], e);
        v3_madd(grad[q->known[k]], m->grad[2 * k + 1], n);
    }
    add_diagonals(o, q, grad);
}

static void add_bar(PliOctreeOperator *o, const PliOctreeOctant *q)
{
    const int a = q->known[0];
    const double length = v3_norm(q->across[a]);
    double grad[3][3] = { { 0 } };
    o->bar[o->bar_count++] = (PliOctreeBar){ { q->from[a], q->to[a] }, length, q->volume };
    v3_madd(grad[a], 1.0 / (length * length), q->across[a]);
    add_diagonals(o, q, grad);
}

static void add_to_sample(PliOctreeSample *s, PliIndex point, double sign, const double g[3])
{
    PliIndex k = 0;
    while (k < s->count && s->point[k] != point) ++k;
    if (k == s->count) s->point[s->count++] = point;
    v3_madd(s->grad + 3 * k, sign, g);
}

/// An octant at a wall, which holds the directions along it where nothing else says what happens there; or one next to another level.
static void add_sample(PliOctreeOperator *o, const PliOctreeOctant *q)
{
    PliOctreeSample *s = &o->sample[o->sample_count++];
    *s = (PliOctreeSample){ .volume = q->volume, .damping = damping_of(o, q) };
    for (int k = 0; k < 3; ++k) {
        if (q->side[k].kind == SIDE_FREE) {
            for (int i = 0; i < 3; ++i) s->f0[3 * k + i] += q->grad[k][i]; // column k stays e_k
            continue;
        }
        add_to_sample(s, q->to[k], 1.0, q->grad[k]);
        add_to_sample(s, q->from[k], -1.0, q->grad[k]);
    }
    add_diagonals(o, q, q->grad);
}

static bool near_interior(const PliOctreeOperator *o, const PliOctreeOctant *q)
{
    bool near = o->is_interior[o->cell[q->point]];
    for (int a = 0; a < 3; ++a)
        near = near || (q->side[a].kind == SIDE_POINT && o->is_interior[o->cell[q->side[a].point]]);
    return near;
}

static void add_octant(PliOctreeOperator *o, PliIndex point, int number, bool skewed)
{
    PliOctreeOctant q;
    if (!pli_octree_octant_of(o, point, number, &q) || q.skewed != skewed) return;
    q.is_quiet = q.skewed && !near_interior(o, &q);
    if (q.known_count == 3 && !q.skewed)
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

/// What stands next to a cell: one particle, or the mean of finer ones. @return how far it is, 0: nothing, or a coarser one.
static double bend_end(const PliOctreeOperator *o, PliIndex cell, int side, PliOctreeBend *b)
{
    const PliIndex n = o->tree->cell[cell].neighbour[side];
    if (n == PLI_NONE) return 0.0;
    const PliIndex begin = b->count;
    if (o->position[n] != PLI_NONE) b->point[b->count++] = o->position[n];
    for (int k = 0; k < 8 && o->position[n] == PLI_NONE; ++k) {
        const PliIndex child = o->tree->cell[n].child[k];
        if ((pli_octree_octants_towards(side ^ 1) >> k & 1) && child != PLI_NONE && o->position[child] != PLI_NONE)
            b->point[b->count++] = o->position[child];
    }
    if (b->count == begin) return 0.0;
    double mean[3] = { 0, 0, 0 };
    for (PliIndex q = begin; q < b->count; ++q) {
        b->c[q] = 1.0 / (b->count - begin);
        v3_madd(mean, b->c[q], pli_octree_rest_of(o, b->point[q]));
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

/// What an octant lacks of the second difference along an axis. One that is free across lacks all of it; one that is not resists bending by
/// shear that should not be there: its differences along and across are `apart` cells from each other.
static double bend_lack(const PliOctreeOperator *o, PliIndex cell, int octant, int across, double apart)
{
    if (!(o->tree->cell[cell].link >> (3 * octant + across) & 1)) return 1.0;
    return 1.0 - 12.0 * apart * apart * o->lame.mu / o->material.young;
}

/// m3 of an active cell that lack it, in the direction across that lacks most. Towards a joint matter counts as far as half way to it.
static double bend_volume(const PliOctreeOperator *o, PliIndex point, int axis)
{
    const PliIndex cell = o->cell[point];
    double most = 0.0;
    for (int across = 0; across < 3; ++across) {
        double sum = 0.0;
        if (across == axis) continue;
        for (int q = 0; q < 8; ++q) {
            const PliIndex joint = pli_octree_joint_of(o, point, pli_octree_side(q, axis));
            const bool joined = joint != PLI_NONE;
            sum +=
                stiff_volume(o, cell, q) * (joined ? 0.75 : 1.0) * bend_lack(o, cell, q, across, joined ? 0.375 : 0.5);
        }
        most = sum > most ? sum : most;
    }
    return most;
}

static bool is_free_beside(const PliOctreeOperator *o, const PliOctreeCell *c, int axis)
{
    for (int side = 0; side < 6; ++side)
        if (side >> 1 != axis && c->neighbour[side] == PLI_NONE &&
            (c->wall[side] == PLI_NONE || o->wall_position[c->wall[side]] == PLI_NONE))
            return true;
    return false;
}

/// Coefficients of a second difference of uneven distances, as large as that of distances h; b has its two ends, each a mean.
static void bend_between(PliOctreeBend *b, double h, const double reach[2])
{
    const double sum = 0.5 * (reach[0] + reach[1]);
    for (PliIndex q = 0; q < b->count; ++q) b->c[q] *= h * h / (sum * reach[q < b->split ? 0 : 1]);
}

/// False for particles off the line: the offset would have to turn with them.
static bool bend_is_straight(const PliOctreeOperator *o, PliOctreeBend *b, double h)
{
    for (PliIndex q = 0; q < b->count; ++q) v3_madd(b->o, b->c[q], pli_octree_rest_of(o, b->point[q]));
    if (v3_norm(b->o) > 1e-6 * h) return false;
    memset(b->o, 0, sizeof b->o);
    return true;
}

static void add_bends(PliOctreeOperator *o, PliIndex i)
{
    const PliIndex cell = o->cell[i];
    const PliOctreeCell *c = &o->tree->cell[cell];
    const double h = o->tree->size[c->level];
    for (int axis = 0; axis < 3; ++axis) {
        if (!is_free_beside(o, c, axis)) continue;
        PliOctreeBend b = { .k = o->material.young * bend_volume(o, i, axis) / (12.0 * h * h) };
        double reach[2];
        if (!(b.k > 0.0)) continue;
        for (int up = 0; up < 2; ++up) reach[up] = bend_end(o, cell, 2 * axis + up, &b);
        const bool held[2] = { is_walled(o, c, 2 * axis), is_walled(o, c, 2 * axis + 1) };
        if (reach[0] > 0.0 && reach[1] > 0.0) {
            bend_between(&b, h, reach);
            b.point[b.count] = i;
            b.c[b.count++] = -2.0 * h * h / (reach[0] * reach[1]);
            if (!bend_is_straight(o, &b, h)) continue;
        } else if ((held[0] && reach[1] > 0.0) || (held[1] && reach[0] > 0.0)) {
            // as if mirrored in the wall; as large as that of a distance h
            const double d = reach[0] > reach[1] ? reach[0] : reach[1], scale = 2.0 * h * h / (d * (h + d));
            for (PliIndex q = 0; q < b.count; ++q) b.c[q] *= scale;
            b.point[b.count] = i;
            b.c[b.count++] = -scale;
            for (PliIndex q = 0; q < b.count; ++q) v3_madd(b.o, b.c[q], pli_octree_rest_of(o, b.point[q]));
        } else {
            continue;
        }
        push_bend(o, &b);
    }
}

/// m3 around a joint that lack a second difference: half of what lies between it and the coarse cell, and the finer matter behind it.
static double joint_volume(const PliOctreeOperator *o, const PliOctreeJoint *j, int across)
{
    const PliIndex cell = o->cell[j->coarse];
    double sum = 0.0;
    for (int q = 0; q < 8; ++q)
        if (pli_octree_octants_towards(j->side) >> q & 1)
            sum += 0.25 * stiff_volume(o, cell, q) * bend_lack(o, cell, q, across, 0.375);
    for (PliIndex k = 0; k < j->count; ++k)
        for (int q = 0; q < 8; ++q) {
            const PliIndex fine = o->cell[j->point[k]];
            const bool behind = pli_octree_octants_towards(j->side) >> q & 1;
            sum += stiff_volume(o, fine, q) *
                   (behind ? 0.25 * bend_lack(o, fine, q, across, 0.5) : bend_lack(o, fine, q, across, 0.375));
        }
    return sum;
}

static bool is_thin(const PliOctreeCell *c, int axis)
{
    return c->neighbour[2 * axis] == PLI_NONE && c->neighbour[2 * axis + 1] == PLI_NONE;
}

/// False when the finer cells do not span the direction: all are in one row. Where they balance does not tell, since rounding moves
/// particles of one row to both sides of it.
static bool add_hinge(PliOctreeOperator *o, PliIndex joint, int across)
{
    const PliOctreeJoint *j = &o->joint[joint];
    const double *middle = o->joint_rest + 3 * (size_t)joint, *coarse = pli_octree_rest_of(o, j->coarse);
    const double length = v3_distance(coarse, middle), h = o->tree->size[o->tree->cell[o->cell[j->coarse]].level];
    double up = 0.0, down = 0.0, spread = 0.0, centre[3];
    bool is_up[4];
    PliOctreeHinge hinge = { .joint = joint,
                             .along = 1.0 / length,
                             .k = o->material.young * joint_volume(o, j, across) * h * h / (3.0 * length * length) };
    if (!(hinge.k > 0.0)) return false;
    pli_octree_cell_centre(o->tree, o->cell[j->coarse], centre);
    for (PliIndex k = 0; k < j->count; ++k) {
        double row[3];
        pli_octree_cell_centre(o->tree, o->cell[j->point[k]], row);
        is_up[k] = row[across] > centre[across];
        *(is_up[k] ? &up : &down) += j->weight[k];
    }
    if (!(up > 0.0 && down > 0.0)) return false;
    for (PliIndex k = 0; k < j->count; ++k) {
        const double at = pli_octree_rest_of(o, j->point[k])[across];
        hinge.across[k] = is_up[k] ? j->weight[k] / up : -j->weight[k] / down;
        spread += hinge.across[k] * at;
    }
    double a[3], b[3] = { 0, 0, 0 };
    v3_sub(a, coarse, middle);
    v3_scale(a, hinge.along);
    for (PliIndex k = 0; k < j->count; ++k) {
        hinge.across[k] /= spread;
        v3_madd(b, hinge.across[k], pli_octree_rest_of(o, j->point[k]));
    }
    hinge.rest = v3_dot(a, b);
    o->hinge[o->hinge_count++] = hinge;
    for (int d = 0; d < 3; ++d) {
        o->diagonal[9 * (size_t)j->coarse + 4 * (size_t)d] += hinge.k * hinge.along * hinge.along;
        for (PliIndex k = 0; k < j->count; ++k) {
            const double g = hinge.along * j->weight[k] + fabs(hinge.across[k]);
            o->diagonal[9 * (size_t)j->point[k] + 4 * (size_t)d] += hinge.k * g * g;
        }
    }
    return true;
}

/// Without it finer cells would be a hinge.
static void add_joint_bends(PliOctreeOperator *o, PliIndex n)
{
    const PliOctreeJoint *j = &o->joint[n];
    const PliOctreeCell *c = &o->tree->cell[o->cell[j->coarse]];
    const double h = o->tree->size[c->level];
    if (!is_free_beside(o, c, j->side >> 1)) return;
    double volume = 0.0;
    for (int across = 0; across < 3; ++across) {
        if (across == j->side >> 1 || (is_thin(c, across) && add_hinge(o, n, across))) continue;
        const double lack = joint_volume(o, j, across);
        volume = lack > volume ? lack : volume;
    }
    PliOctreeBend b = {
        .k = o->material.young * volume / (12.0 * h * h), .point = { j->coarse }, .c = { 1.0 }, .count = 1, .split = 1
    };
    if (!(b.k > 0.0)) return;
    double far[3] = { 0, 0, 0 };
    bool good = true;
    for (PliIndex k = 0; k < j->count && good; ++k) {
        const PliIndex begin = b.count, keep = b.split;
        good = bend_end(o, o->cell[j->point[k]], j->side, &b) > 0.0;
        b.split = keep;
        for (PliIndex q = begin; q < b.count; ++q) {
            b.c[q] *= j->weight[k];
            v3_madd(far, b.c[q], pli_octree_rest_of(o, b.point[q]));
        }
    }
    if (!good) return;
    const double *middle = o->joint_rest + 3 * (size_t)n;
    const double reach[2] = { v3_distance(pli_octree_rest_of(o, j->coarse), middle), v3_distance(far, middle) };
    bend_between(&b, h, reach);
    for (PliIndex k = 0; k < j->count; ++k) {
        b.point[b.count] = j->point[k];
        b.c[b.count++] = -2.0 * h * h / (reach[0] * reach[1]) * j->weight[k];
    }
    if (bend_is_straight(o, &b, h)) push_bend(o, &b);
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
        // w^2 h^2 / 4 + c h / 2 = 1 with the viscosity c of what is next to another level
        const double w2 = 2.0 * most / o->mass[i], c = 2.0 * o->viscosity[i] / o->mass[i];
        o->step[i] = most > 0.0 ? (sqrt(c * c + 4.0 * w2) - c) / w2 : INFINITY;
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

// ---- all of it, a piece at a time ------------------------------------------------------------------------------------------

typedef enum Stage { OCTANTS, BENDS, OCTANTS_BETWEEN, BENDS_BETWEEN, CORRECTIONS, LAST_THINGS, MADE } Stage;

/// Elements of a level stand together, and levels have the order of points. What joins two levels comes last.
static void begin_level(PliOctreeOperator *o, int level)
{
    if (o->stage == BENDS) {
        o->bend_level[level] = o->bend_count;
        return;
    }
    o->sample_level[level] = o->sample_count, o->membrane_level[level] = o->membrane_count;
    o->bar_level[level] = o->bar_count;
}

static int level_of(const PliOctreeOperator *o, PliIndex point)
{
    return point < o->count ? o->tree->cell[o->cell[point]].level : PLI_OCTREE_MAX_LEVELS;
}

/// Of one point, in this stage. @return work
static double add_next(PliOctreeOperator *o)
{
    const PliIndex point = o->next++;
    double work = 0.5;
    switch ((Stage)o->stage) {
    case OCTANTS:
        for (int q = 0; q < 8; ++q) add_octant(o, point, q, false);
        return 8.0;
    case BENDS: add_bends(o, point); return 1.0;
    case OCTANTS_BETWEEN:
        for (int q = 0; q < 8; ++q)
            if (o->skewed[o->cell[point]] >> q & 1) add_octant(o, point, q, true), work += 1.0;
        return work;
    case BENDS_BETWEEN: add_joint_bends(o, point); return 3.0;
    case CORRECTIONS: return pli_octree_add_corrections_of(o, point);
    default: return 0.0;
    }
}

static void do_last_things(PliOctreeOperator *o)
{
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

void pli_octree_operator_begin(PliOctreeOperator *o, const uint8_t *is_held, const PliOctreeOperator *old)
{
    if (!o->is_paper) pli_octree_begin_corrections(o);
    number_points(o, is_held);
    o->tet_count = o->sample_count = o->membrane_count = o->bar_count = o->bend_count = o->joint_count =
        o->hinge_count = 0;
    o->uncorrected = 0;
    o->group_count = 1, o->finest = 0;
    o->next = 0;
    if (o->is_paper) {
        o->stage = MADE;
        pli_octree_paper_rows(o);
        return;
    }
    memset(o->diagonal, 0, 9 * (size_t)o->count * sizeof *o->diagonal);
    memset(o->viscosity, 0, o->count * sizeof *o->viscosity);
    mark_skewed(o);
    find_joints(o);
    pli_octree_find_looks(o);
    o->old = old && !old->is_stale ? old : NULL;
    o->is_stale = false;
    o->stage = OCTANTS;
    for (int l = 0; l <= level_of(o, 0); ++l) begin_level(o, l);
}

bool pli_octree_operator_continue(PliOctreeOperator *o, double *work)
{
    while (o->stage<LAST_THINGS && * work> 0.0) {
        const PliIndex count = o->stage == BENDS_BETWEEN ? o->joint_count : o->count;
        if (o->next < count) {
            const int level = level_of(o, o->next);
            *work -= add_next(o);
            for (int l = level + 1; o->stage <= BENDS && l <= level_of(o, o->next); ++l) begin_level(o, l);
            continue;
        }
        o->stage++, o->next = 0;
        for (int l = 0; o->stage == BENDS && l <= level_of(o, 0); ++l) begin_level(o, l);
    }
    if (o->stage == LAST_THINGS && *work > 0.0) {
        do_last_things(o);
        *work -= o->count;
        o->old = NULL;
        o->stage = MADE;
    }
    return o->stage == MADE;
}

void pli_octree_operator_build(PliOctreeOperator *o, const uint8_t *is_held)
{
    pli_octree_operator_begin(o, is_held, NULL);
    double work = INFINITY;
    (void)pli_octree_operator_continue(o, &work);
}
