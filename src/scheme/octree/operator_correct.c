/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Corrections of the faces near a change of level.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "scheme/octree/fit.h"
#include "scheme/octree/operator_octant.h"

/// A face between two cells of one level is exact on quadratic fields if all octants on it are regular: one-sided differences are in the sum
/// over the face, not each.
static bool is_skewed_face(const PliOctreeOperator *o, PliIndex cell, int side)
{
    const PliIndex other = o->tree->cell[cell].neighbour[side];
    return (o->skewed[cell] & pli_octree_octants_towards(side)) ||
           (o->skewed[other] & pli_octree_octants_towards(side ^ 1));
}

static PliIndex add_near(const PliOctreeOperator *o, PliIndex cell, const double centre[3], double reach,
                         PliIndex *list, PliIndex count)
{
    const PliIndex n = o->active->length[cell];
    for (PliIndex i = 0; i <= n; ++i) {
        const PliIndex c = i < n ? pli_octree_neighbour(o->active, cell, i) : cell, point = o->position[c];
        if (v3_distance(pli_octree_rest_of(o, point), centre) > reach) continue;
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
    PliIndex a, b, joint;              ///< joint: of a with b, PLI_NONE where both are of one level
    int side;                          ///< of a
    double centre[3], area[3], width;  ///< area along the normal, towards b
    double step[PLI_OCTREE_MONOMIALS]; ///< what monomials grow by from a, or the joint, to b
} Face;

/// What the force at one end of a difference with gradient t does when the field grows by d (x) g: 3-D, in a plane, or along a line.
static void add_octant_block(const PliOctreeOperator *o, const PliOctreeOctant *q, double k, const double g[3],
                             const double t[3], double block[9])
{
    PliLame m = o->lame;
    if (q->known_count == 3 || q->at_wall) {
        add_stress_block(&m, k, g, t, block);
    } else if (q->known_count == 2) {
        double n[3], projected[9] = { 0 };
        v3_cross(n, q->across[q->known[0]], q->across[q->known[1]]);
        v3_scale(n, 1.0 / v3_norm(n));
        m.bulk = pli_octree_plane_lambda(&m);
        add_stress_block(&m, k, g, t, projected);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) projected[3 * i + j] -= k * m.mu * v3_dot(g, t) * n[i] * n[j];
        for (int i = 0; i < 9; ++i) block[i] += projected[i];
    } else {
        const double *d = q->across[q->known[0]];
        const double scale = k * o->material.young * v3_dot(g, t) / v3_dot(d, d);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) block[3 * i + j] += scale * d[i] * d[j];
    }
}

/// Gradients of the differences of an octant, whatever it is.
static void octant_gradients(const PliOctreeOctant *q, double grad[3][3])
{
    memcpy(grad, q->grad, sizeof q->grad);
    if (q->known_count == 3 || q->at_wall) return;
    memset(grad, 0, sizeof q->grad);
    const int a = q->known[0];
    const double *u = q->across[a], uu = v3_dot(u, u);
    if (q->known_count == 1) {
        v3_madd(grad[a], 1.0 / uu, u);
        return;
    }
    const int b = q->known[1];
    const double *v = q->across[b], vv = v3_dot(v, v), uv = v3_dot(u, v), det = uu * vv - uv * uv;
    v3_madd(grad[a], vv / det, u), v3_madd(grad[a], -uv / det, v);
    v3_madd(grad[b], uu / det, v), v3_madd(grad[b], -uv / det, u);
}

static void monomials_at(const PliOctreeOperator *o, const Face *face, PliIndex point, double sign, double *sum)
{
    double value[PLI_OCTREE_MONOMIALS];
    if (point & PLI_OCTREE_JOINT) {
        const PliOctreeJoint *j = &o->joint[point ^ PLI_OCTREE_JOINT];
        for (PliIndex k = 0; k < j->count; ++k) monomials_at(o, face, j->point[k], sign * j->weight[k], sum);
        return;
    }
    pli_octree_monomials(face->centre, face->width, pli_octree_rest_of(o, point), value);
    for (int m = 0; m < PLI_OCTREE_MONOMIALS; ++m) sum[m] += sign * value[m];
}

/// Takes from `block` (one per monomial) the force on face.a that an octant exerts across the face, times a share.
static void take_octant(const PliOctreeOperator *o, const Face *face, PliIndex point, int number, double share,
                        double (*block)[9])
{
    PliOctreeOctant q;
    double grad[3][3], sign = 0.0;
    int k = -1;
    if (!pli_octree_octant_of(o, point, number, &q)) return;
    const PliIndex near = face->joint == PLI_NONE ? face->a : face->joint;
    for (int n = 0; n < q.known_count; ++n) {
        const int a = q.known[n];
        if (q.from[a] == near && q.to[a] == face->b) k = a, sign = 1.0;
        if (q.from[a] == face->b && q.to[a] == near) k = a, sign = -1.0;
    }
    if (k < 0) return;
    octant_gradients(&q, grad);
    for (int n = 0; n < q.known_count; ++n) {
        const int a = q.known[n];
        // a field that is 1 at one end of this difference and 0 at the other, and how far each monomial is that
        double unit[9] = { 0 }, value[PLI_OCTREE_MONOMIALS] = { 0 };
        add_octant_block(o, &q, -sign * share * q.volume, grad[a], grad[k], unit);
        if (a == k) {
            for (int m = 0; m < PLI_OCTREE_MONOMIALS; ++m) value[m] = sign * face->step[m];
        } else {
            monomials_at(o, face, q.to[a], 1.0, value);
            monomials_at(o, face, q.from[a], -1.0, value);
        }
        for (int m = 0; m < PLI_OCTREE_MONOMIALS; ++m)
            for (int e = 0; e < 9; ++e) block[m][e] += value[m] * unit[e];
    }
}

/// The correction of the same face in the operator before this one, if nothing that it is made of has changed since: the points around it,
/// and what the octants on it look at.
static const PliOctreeCorrection *kept_correction(const PliOctreeOperator *o, const Face *face, const PliIndex *list,
                                                  PliIndex count)
{
    const PliOctreeOperator *k = o->old;
    const PliIndex a = o->cell[face->a], b = o->cell[face->b],
                   at = k ? k->correction_at[6 * (size_t)a + (size_t)face->side] : PLI_NONE;
    if (at == PLI_NONE) return NULL;
    const PliOctreeCorrection *c = &k->correction[at];
    if (c->count != count || k->cell[c->minus] != b || o->looks[a] != k->looks[a] || o->looks[b] != k->looks[b])
        return NULL;
    for (PliIndex i = 0; i < count; ++i)
        if (k->cell[k->entry_point[c->first + i]] != o->cell[list[i]]) return NULL;
    const PliOctreeJoint *j = face->joint == PLI_NONE ? NULL : &o->joint[face->joint ^ PLI_OCTREE_JOINT];
    for (PliIndex i = 0; j && i < j->count; ++i)
        if (o->looks[o->cell[j->point[i]]] != k->looks[o->cell[j->point[i]]]) return NULL;
    return c;
}

/// What the face should do to each monomial, less what the octants on it do.
static void face_blocks(PliOctreeOperator *o, Face *face, double (*block)[9])
{
    const PliOctreeJoint *joint = face->joint == PLI_NONE ? NULL : &o->joint[face->joint ^ PLI_OCTREE_JOINT];
    double share = joint ? 0.0 : 1.0;
    for (PliIndex k = 0; joint && k < joint->count; ++k) share += joint->point[k] == face->a ? joint->weight[k] : 0.0;
    memset(face->step, 0, sizeof face->step);
    monomials_at(o, face, face->b, 1.0, face->step);
    monomials_at(o, face, joint ? face->joint : face->a, -1.0, face->step);
    for (int m = 0; m < 3; ++m) {
        double g[3] = { 0, 0, 0 };
        g[m] = 1.0 / face->width;
        add_stress_block(&o->lame, pli_octree_factor(o, o->cell[face->a]), g, face->area, block[m]);
    }
    for (int q = 0; q < 8; ++q) {
        if (pli_octree_octants_towards(face->side ^ 1) >> q & 1) {
            take_octant(o, face, face->b, q, share, block);
            continue;
        }
        if (face->joint == PLI_NONE) take_octant(o, face, face->a, q, share, block);
        for (PliIndex k = 0; joint && k < joint->count; ++k) take_octant(o, face, joint->point[k], q, share, block);
    }
}

static void make_entries(PliOctreeOperator *o, Face *face, const PliIndex *list, const double *w,
                         PliOctreeCorrection *c)
{
    double block[PLI_OCTREE_MONOMIALS][9] = { { 0 } };
    face_blocks(o, face, block);
    for (PliIndex i = 0; i < c->count; ++i) {
        const double *wi = w + PLI_OCTREE_MONOMIALS * (size_t)i;
        double *column = o->entry_block + PLI_OCTREE_BLOCK * (size_t)(c->first + i);
        double *g = o->entry_grad + PLI_OCTREE_GRAD * (size_t)(c->first + i), at[3], b[9] = { 0 };
        for (int m = 0; m < PLI_OCTREE_MONOMIALS; ++m)
            for (int k = 0; k < 9; ++k) b[k] += wi[m] * block[m][k];
        memset(column, 0, PLI_OCTREE_BLOCK * sizeof *column);
        for (int k = 0; k < 9; ++k) column[4 * (k % 3) + k / 3] = b[k]; // the fourth stays zero
        for (int k = 0; k < 3; ++k) g[k] = wi[k] / face->width;
        m3_apply(at, b, pli_octree_rest_of(o, list[i]));
        v3_add(c->at_rest, c->at_rest, at);
    }
}

/// @return work
static double add_correction(PliOctreeOperator *o, Face *face)
{
    enum { TAKEN_OVER = 4, MADE = 34 }; // counted in instructions of octants
    const PliOctreeOperator *k = o->old;
    PliIndex list[PLI_OCTREE_FIT_POINTS], count = 0;
    double points[3 * PLI_OCTREE_FIT_POINTS], w[PLI_OCTREE_MONOMIALS * PLI_OCTREE_FIT_POINTS];
    count = add_near(o, o->cell[face->a], face->centre, 2.0 * face->width, list, count);
    count = add_near(o, o->cell[face->b], face->centre, 2.0 * face->width, list, count);
    const bool fits = o->correction_count < o->correction_capacity && o->entry_count + count <= o->entry_capacity;
    const PliOctreeCorrection *old = fits ? kept_correction(o, face, list, count) : NULL;
    for (PliIndex i = 0; i < count && !old; ++i) v3_copy(points + 3 * (size_t)i, pli_octree_rest_of(o, list[i]));
    if (!fits || (!old && !pli_octree_fit_quadratic(face->centre, face->width, points, count, w))) {
        o->uncorrected++;
        return MADE / 2;
    }
    o->correction_at[6 * (size_t)o->cell[face->a] + (size_t)face->side] = o->correction_count;
    PliOctreeCorrection *c = &o->correction[o->correction_count++];
    *c = (PliOctreeCorrection){
        .plus = face->a, .minus = face->b, .side = face->side, .first = o->entry_count, .count = count
    };
    memcpy(o->entry_point + c->first, list, count * sizeof *list);
    o->entry_count += count;
    if (!old) {
        make_entries(o, face, list, w, c);
        return MADE;
    }
    v3_copy(c->at_rest, old->at_rest);
    memcpy(o->entry_grad + PLI_OCTREE_GRAD * (size_t)c->first, k->entry_grad + PLI_OCTREE_GRAD * (size_t)old->first,
           PLI_OCTREE_GRAD * (size_t)count * sizeof *o->entry_grad);
    memcpy(o->entry_block + PLI_OCTREE_BLOCK * (size_t)c->first, k->entry_block + PLI_OCTREE_BLOCK * (size_t)old->first,
           PLI_OCTREE_BLOCK * (size_t)count * sizeof *o->entry_block);
    o->kept_count++;
    return TAKEN_OVER;
}

static bool same_factor(const PliOctreeOperator *o, PliIndex a, PliIndex b)
{
    const double at_a = pli_octree_factor(o, a), at_b = pli_octree_factor(o, b);
    return fabs(at_a - at_b) <= 1e-9 * at_a;
}

// ---- all of a point --------------------------------------------------------------------------------------------------------

void pli_octree_begin_corrections(PliOctreeOperator *o)
{
    for (PliIndex i = 0; i < o->correction_count; ++i)
        o->correction_at[6 * (size_t)o->cell[o->correction[i].plus] + (size_t)o->correction[i].side] = PLI_NONE;
    o->correction_count = o->entry_count = o->kept_count = o->uncorrected = 0;
}

/// What the octants of every active cell look at, three bits a side; by balance that says who is in the joints there, too.
void pli_octree_find_looks(PliOctreeOperator *o)
{
    for (PliIndex i = 0; i < o->count; ++i) {
        const PliOctreeCell *c = &o->tree->cell[o->cell[i]];
        uint32_t looks = 0;
        for (int side = 0; side < 6; ++side) {
            const PliIndex n = c->neighbour[side], w = c->wall[side];
            uint32_t what = 0;
            if (n != PLI_NONE) {
                const PliIndex mother = o->tree->cell[n].parent;
                what = o->position[n] != PLI_NONE ? 1 : mother != PLI_NONE && o->position[mother] != PLI_NONE ? 2 : 3;
            }
            if (w != PLI_NONE && o->wall_position[w] != PLI_NONE) what |= 4;
            looks |= what << 3 * side;
        }
        o->looks[o->cell[i]] = looks;
    }
}

double pli_octree_add_corrections_of(PliOctreeOperator *o, PliIndex point)
{
    const PliOctreeTree *t = o->tree;
    double work = 0.5;
    const PliIndex cell = o->cell[point];
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
        const PliIndex joint = same ? PLI_NONE : pli_octree_joint_of(o, other, side ^ 1);
        if (!o->is_interior[cell] && !o->is_interior[o->cell[other]]) continue;
        // where the stiffness jumps no quadratic field is a solution
        if (!same_factor(o, cell, o->cell[other])) continue;
        Face face = { .a = point, .b = other, .joint = joint, .side = side, .width = same ? 1.3 * h : 1.3 * 1.5 * h };
        const double sign = side & 1 ? 1.0 : -1.0;
        pli_octree_cell_centre(t, cell, face.centre);
        face.centre[axis] += 0.5 * sign * h;
        face.area[axis] = sign * t->fill * h * h;
        work += add_correction(o, &face);
    }
    return work;
}
