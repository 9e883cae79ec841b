/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Forces, energy and the linear operator of what operator_build.c made.
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/octree/operator.h"

// ---- joints ----------------------------------------------------------------------------------------------------------------

static void joint_values(const PliOctreeOperator *o, const double *x, double *out)
{
    for (PliIndex j = 0; j < o->joint_count; ++j) {
        const PliOctreeJoint *joint = &o->joint[j];
        double sum[3] = { 0, 0, 0 };
        for (PliIndex k = 0; k < joint->count; ++k) v3_madd(sum, joint->weight[k], x + 3 * (size_t)joint->point[k]);
        v3_copy(out + 3 * (size_t)j, sum);
    }
}

static void begin_joints(const PliOctreeOperator *o, const double *x, const double *v)
{
    joint_values(o, x, o->joint_x);
    if (v) joint_values(o, v, o->joint_v);
    memset(o->joint_f, 0, 3 * (size_t)o->joint_count * sizeof *o->joint_f);
}

/// Hands the forces on joints to the points that they stand for.
static void end_joints(const PliOctreeOperator *o, double *f)
{
    for (PliIndex j = 0; j < o->joint_count; ++j)
        for (PliIndex k = 0; k < o->joint[j].count; ++k)
            v3_madd(f + 3 * (size_t)o->joint[j].point[k], o->joint[j].weight[k], o->joint_f + 3 * (size_t)j);
}

static const double *value_at(const double *x, const double *joint_x, PliIndex point)
{
    return point & PLI_OCTREE_JOINT ? joint_x + 3 * (size_t)(point ^ PLI_OCTREE_JOINT) : x + 3 * (size_t)point;
}
static double *force_at(const PliOctreeOperator *o, double *f, PliIndex point)
{
    return point & PLI_OCTREE_JOINT ? o->joint_f + 3 * (size_t)(point ^ PLI_OCTREE_JOINT) : f + 3 * (size_t)point;
}

/// Elements [first, last) of a list, or of all where there is no list.
typedef struct Part {
    const PliIndex *list;
    PliIndex first, last;
} Part;
static inline PliIndex part_at(const Part *p, PliIndex i) { return p->list ? p->list[i] : i; }
static inline Part range(PliIndex first, PliIndex last) { return (Part){ NULL, first, last }; }

// ---- membranes: F has shape [3, 2], row-major ------------------------------------------------------------------------------

static void membrane_gradient(const PliOctreeMembrane *m, const double *x, const double *joint_x, double F[6])
{
    const double *from0 = value_at(x, joint_x, m->from[0]), *from1 = value_at(x, joint_x, m->from[1]),
                 *to0 = value_at(x, joint_x, m->to[0]), *to1 = value_at(x, joint_x, m->to[1]);
    for (int i = 0; i < 3; ++i) {
        const double a = to0[i] - from0[i], b = to1[i] - from1[i];
        F[2 * i] = a * m->grad[0] + b * m->grad[2];
        F[2 * i + 1] = a * m->grad[1] + b * m->grad[3];
    }
}

/// U = sqrt(F^T F) and its inverse, both xx yy xy.
static bool stretch(const double F[6], double U[3], double inverse[3])
{
    const double xx = F[0] * F[0] + F[2] * F[2] + F[4] * F[4], yy = F[1] * F[1] + F[3] * F[3] + F[5] * F[5],
                 xy = F[0] * F[1] + F[2] * F[3] + F[4] * F[5];
    const double det = xx * yy - xy * xy;
    if (!(det > 1e-18 * (xx + yy) * (xx + yy))) return false;
    const double root = sqrt(det), trace = sqrt(xx + yy + 2.0 * root), k = 1.0 / trace;
    U[0] = (xx + root) * k, U[1] = (yy + root) * k, U[2] = xy * k;
    inverse[0] = U[1] / root, inverse[1] = U[0] / root, inverse[2] = -U[2] / root;
    return true;
}

// P = F S with the second Piola-Kirchhoff stress S (xx yy xy)
static void times_plane(const double F[6], const double S[3], double P[6])
{
    for (int i = 0; i < 3; ++i) {
        P[2 * i] += F[2 * i] * S[0] + F[2 * i + 1] * S[2];
        P[2 * i + 1] += F[2 * i] * S[2] + F[2 * i + 1] * S[1];
    }
}

static void membrane_stress(const PliOctreeOperator *o, double damping, const double F[6], const double *rate,
                            double P[6])
{
    const double mu = o->lame.mu, lambda = pli_octree_plane_lambda(&o->lame);
    memset(P, 0, 6 * sizeof *P);
    if (o->material.law == PLI_STVK) {
        const double exx = 0.5 * (F[0] * F[0] + F[2] * F[2] + F[4] * F[4] - 1.0),
                     eyy = 0.5 * (F[1] * F[1] + F[3] * F[3] + F[5] * F[5] - 1.0),
                     exy = 0.5 * (F[0] * F[1] + F[2] * F[3] + F[4] * F[5]);
        const double S[3] = { 2.0 * mu * exx + lambda * (exx + eyy), 2.0 * mu * eyy + lambda * (exx + eyy),
                              2.0 * mu * exy };
        times_plane(F, S, P);
    } else {
        // P = R (2 mu (U - I) + lambda tr(U - I) I), R = F U^-1
        double U[3], inverse[3];
        if (!stretch(F, U, inverse)) return;
        const double pull = lambda * (U[0] + U[1] - 2.0) - 2.0 * mu;
        for (int i = 0; i < 3; ++i) {
            const double a = F[2 * i], b = F[2 * i + 1];
            P[2 * i] = 2.0 * mu * a + pull * (a * inverse[0] + b * inverse[2]);
            P[2 * i + 1] = 2.0 * mu * b + pull * (a * inverse[2] + b * inverse[1]);
        }
    }
    if (rate && damping > 0.0) {
        const double exx = F[0] * rate[0] + F[2] * rate[2] + F[4] * rate[4],
                     eyy = F[1] * rate[1] + F[3] * rate[3] + F[5] * rate[5],
                     exy = 0.5 * (F[0] * rate[1] + F[2] * rate[3] + F[4] * rate[5] + F[1] * rate[0] + F[3] * rate[2] +
                                  F[5] * rate[4]);
        const double k = damping;
        const double S[3] = { k * (2.0 * mu * exx + lambda * (exx + eyy)), k * (2.0 * mu * eyy + lambda * (exx + eyy)),
                              k * 2.0 * mu * exy };
        times_plane(F, S, P);
    }
}

static void membrane_push(const PliOctreeOperator *o, const PliOctreeMembrane *m, const double P[6], double k,
                          double *f)
{
    for (int n = 0; n < 2; ++n) {
        double *from = force_at(o, f, m->from[n]), *to = force_at(o, f, m->to[n]);
        for (int i = 0; i < 3; ++i) {
            const double t = k * m->volume * (P[2 * i] * m->grad[2 * n] + P[2 * i + 1] * m->grad[2 * n + 1]);
            to[i] -= t;
            from[i] += t;
        }
    }
}

static void add_membranes(const PliOctreeOperator *o, Part part, const double *x, const double *v, double *f)
{
    for (PliIndex i = part.first; i < part.last; ++i) {
        const PliOctreeMembrane *m = &o->membrane[part_at(&part, i)];
        double F[6], rate[6], P[6];
        membrane_gradient(m, x, o->joint_x, F);
        if (v) membrane_gradient(m, v, o->joint_v, rate);
        membrane_stress(o, o->material.damping + m->damping, F, v ? rate : NULL, P);
        membrane_push(o, m, P, 1.0, f);
    }
}

// ---- bars and bending ------------------------------------------------------------------------------------------------------

static void add_bars(const PliOctreeOperator *o, Part part, const double *x, const double *v, double *f)
{
    const double young = o->material.young;
    for (PliIndex i = part.first; i < part.last; ++i) {
        const PliOctreeBar *b = &o->bar[part_at(&part, i)];
        double d[3], k;
        v3_sub(d, value_at(x, o->joint_x, b->point[1]), value_at(x, o->joint_x, b->point[0]));
        const double length = v3_norm(d), s = 1.0 / (b->length * b->length);
        if (!(length > 0.0)) continue;
        if (o->material.law == PLI_STVK)
            k = young * 0.5 * (length * length * s - 1.0) * s;
        else
            k = young * (length - b->length) / length * s;
        if (v && o->material.damping > 0.0) {
            double rate[3];
            v3_sub(rate, value_at(v, o->joint_v, b->point[1]), value_at(v, o->joint_v, b->point[0]));
            k += o->material.damping * young * v3_dot(d, rate) * s * s;
        }
        double *from = force_at(o, f, b->point[0]), *to = force_at(o, f, b->point[1]);
        v3_madd(from, b->volume * k, d);
        v3_madd(to, -b->volume * k, d);
    }
}

static void bend_value(const PliOctreeBend *b, const double *x, bool offset, double value[3])
{
    for (int i = 0; i < 3; ++i) value[i] = offset ? -b->o[i] : 0.0;
    for (PliIndex q = 0; q < b->count; ++q) v3_madd(value, b->c[q], x + 3 * (size_t)b->point[q]);
}

static void bend_push(const PliOctreeBend *b, const double value[3], double k, double *f)
{
    for (PliIndex q = 0; q < b->count; ++q) v3_madd(f + 3 * (size_t)b->point[q], -k * b->k * b->c[q], value);
}

static void add_bends(const PliOctreeOperator *o, Part part, const double *x, const double *v, double *f)
{
    for (PliIndex i = part.first; i < part.last; ++i) {
        const PliOctreeBend *b = &o->bend[part_at(&part, i)];
        double value[3], rate[3];
        bend_value(b, x, true, value);
        if (v && o->material.damping > 0.0) {
            bend_value(b, v, false, rate);
            v3_madd(value, o->material.damping, rate);
        }
        bend_push(b, value, 1.0, f);
    }
}

// a and b of a hinge
static void hinge_arms(const PliOctreeOperator *o, const PliOctreeHinge *h, const double *x, double a[3], double b[3])
{
    const PliOctreeJoint *j = &o->joint[h->joint];
    for (int i = 0; i < 3; ++i) a[i] = h->along * x[3 * (size_t)j->coarse + (size_t)i], b[i] = 0.0;
    for (PliIndex k = 0; k < j->count; ++k) {
        const double *p = x + 3 * (size_t)j->point[k];
        v3_madd(a, -h->along * j->weight[k], p);
        v3_madd(b, h->across[k], p);
    }
}

static void hinge_push(const PliOctreeOperator *o, const PliOctreeHinge *h, const double a[3], const double b[3],
                       double pull, double *f)
{
    const PliOctreeJoint *j = &o->joint[h->joint];
    v3_madd(f + 3 * (size_t)j->coarse, -pull * h->along, b);
    for (PliIndex k = 0; k < j->count; ++k) {
        v3_madd(f + 3 * (size_t)j->point[k], pull * h->along * j->weight[k], b);
        v3_madd(f + 3 * (size_t)j->point[k], -pull * h->across[k], a);
    }
}

static void add_hinges(const PliOctreeOperator *o, Part part, const double *x, const double *v, double *f)
{
    for (PliIndex i = part.first; i < part.last; ++i) {
        const PliOctreeHinge *h = &o->hinge[part_at(&part, i)];
        double a[3], b[3], va[3], vb[3];
        hinge_arms(o, h, x, a, b);
        double angle = v3_dot(a, b) - h->rest;
        if (v && o->material.damping > 0.0) {
            hinge_arms(o, h, v, va, vb);
            angle += o->material.damping * (v3_dot(va, b) + v3_dot(a, vb));
        }
        hinge_push(o, h, a, b, h->k * angle, f);
    }
}

static void linear_hinge(const PliOctreeOperator *o, const PliOctreeHinge *h, const double *turn, const double *dx,
                         double k, double *df)
{
    double a[3], b[3], da[3], db[3];
    hinge_arms(o, h, o->rest, a, b);
    if (turn) {
        const double a0[3] = { a[0], a[1], a[2] }, b0[3] = { b[0], b[1], b[2] };
        m3_apply(a, turn, a0);
        m3_apply(b, turn, b0);
    }
    hinge_arms(o, h, dx, da, db);
    hinge_push(o, h, a, b, k * h->k * (v3_dot(da, b) + v3_dot(a, db)), df);
}

// ---- samples ---------------------------------------------------------------------------------------------------------------

static void sample_gradient(const PliOctreeSample *s, const double *x, const double *joint_x, bool offset, double F[9])
{
    if (offset)
        memcpy(F, s->f0, 9 * sizeof *F);
    else
        memset(F, 0, 9 * sizeof *F);
    for (PliIndex k = 0; k < s->count; ++k) {
        const double *p = value_at(x, joint_x, s->point[k]), *g = s->grad + 3 * k;
        for (int i = 0; i < 3; ++i) {
            F[3 * i] += p[i] * g[0];
            F[3 * i + 1] += p[i] * g[1];
            F[3 * i + 2] += p[i] * g[2];
        }
    }
}

static void sample_push(const PliOctreeOperator *o, const PliOctreeSample *s, const double P[9], double k, double *f)
{
    for (PliIndex n = 0; n < s->count; ++n) {
        double force[3];
        m3_apply(force, P, s->grad + 3 * n);
        v3_madd(force_at(o, f, s->point[n]), -k * s->volume, force);
    }
}

static void add_viscous(const PliOctreeOperator *o, double damping, const double F[9], const double rate[9],
                        double P[9])
{
    double E[9], more[9], trace = 0.0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double sum = 0.0;
            for (int k = 0; k < 3; ++k) sum += 0.5 * (F[3 * k + i] * rate[3 * k + j] + rate[3 * k + i] * F[3 * k + j]);
            E[3 * i + j] = 2.0 * o->lame.mu * damping * sum;
            trace += i == j ? sum : 0.0;
        }
    for (int i = 0; i < 3; ++i) E[4 * i] += o->lame.bulk * damping * trace;
    m3_mul(more, F, E);
    for (int i = 0; i < 9; ++i) P[i] += more[i];
}

/// Gradients of up to a pack of elements, and what a law says of them. Lanes that are not used are at rest.
typedef struct StressPack {
    _Alignas(64) double F[9][PACK];
    _Alignas(64) double P[9][PACK];
} StressPack;

static void pack_set(StressPack *p, PliIndex lane, const double F[9])
{
    for (int i = 0; i < 9; ++i) p->F[i][lane] = F[i];
}

static void pack_rest(StressPack *p, PliIndex lane)
{
    static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    for (; lane < PACK; ++lane) pack_set(p, lane, one);
}

static void pack_get(const double from[9][PACK], PliIndex lane, double to[9])
{
    for (int i = 0; i < 9; ++i) to[i] = from[i][lane];
}

static void add_samples(const PliOctreeOperator *o, Part part, const double *x, const double *v, double *f)
{
    StressPack pack;
    for (PliIndex at = part.first; at < part.last; at += PACK) {
        const PliIndex count = part.last - at < PACK ? part.last - at : PACK;
        for (PliIndex k = 0; k < count; ++k) {
            double F[9];
            sample_gradient(&o->sample[part_at(&part, at + k)], x, o->joint_x, true, F);
            pack_set(&pack, k, F);
        }
        pack_rest(&pack, count);
        o->elastic->kernel->law_stress(o->material.law, &o->lame, pack.F, pack.P);
        for (PliIndex k = 0; k < count; ++k) {
            const PliOctreeSample *s = &o->sample[part_at(&part, at + k)];
            const double damping = o->material.damping + s->damping;
            double F[9], rate[9], P[9];
            pack_get(pack.P, k, P);
            if (v && damping > 0.0) {
                pack_get(pack.F, k, F);
                sample_gradient(s, v, o->joint_v, false, rate);
                add_viscous(o, damping, F, rate, P);
            }
            sample_push(o, s, P, 1.0, f);
        }
    }
}

// ---- tetrahedra --------------------------------------------------------------------------------------------------------------

/// A few of them, as the operator numbers them; all of them are the kernel's.
static void add_tets(const PliOctreeOperator *o, Part part, const double *x, double *f)
{
    StressPack pack;
    for (PliIndex at = part.first; at < part.last; at += PACK) {
        const PliIndex count = part.last - at < PACK ? part.last - at : PACK;
        for (PliIndex k = 0; k < count; ++k) {
            const PliIndex e = part_at(&part, at + k);
            double F[9];
            pli_tet_gradient(o->corner + 4 * (size_t)e, &o->tet_rest[e], x, F);
            pack_set(&pack, k, F);
        }
        pack_rest(&pack, count);
        o->elastic->kernel->law_stress(o->material.law, &o->lame, pack.F, pack.P);
        for (PliIndex k = 0; k < count; ++k) {
            const PliIndex e = part_at(&part, at + k), *c = o->corner + 4 * (size_t)e;
            double P[9], force[3];
            pack_get(pack.P, k, P);
            for (int n = 0; n < 3; ++n) {
                m3_apply(force, P, o->tet_rest[e].grad + 3 * n);
                v3_madd(f + 3 * (size_t)c[n + 1], -o->tet_rest[e].volume, force);
                v3_madd(f + 3 * (size_t)c[0], o->tet_rest[e].volume, force);
            }
        }
    }
}

// ---- corrections -----------------------------------------------------------------------------------------------------------

/// Takes a torque out as a rigid angular acceleration of the whole.
static void take_torque(const PliOctreeOperator *o, const double *x, const double torque[3], double *f)
{
    double centre[3] = { 0, 0, 0 }, mass = 0.0, inertia[9] = { 0 }, inverse[9], turn[3];
    for (PliIndex i = 0; i < o->count; ++i) {
        mass += o->mass[i];
        v3_madd(centre, o->mass[i], x + 3 * (size_t)i);
    }
    v3_scale(centre, 1.0 / mass);
    for (PliIndex i = 0; i < o->count; ++i) {
        double r[3];
        v3_sub(r, x + 3 * (size_t)i, centre);
        const double r2 = v3_dot(r, r);
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) inertia[3 * a + b] += o->mass[i] * ((a == b ? r2 : 0.0) - r[a] * r[b]);
    }
    const double least = 1e-9 * (inertia[0] + inertia[4] + inertia[8]); // about a line nothing can turn
    for (int a = 0; a < 3; ++a) inertia[4 * a] += least;
    if (m3_inverse(inverse, inertia) == 0.0) return;
    m3_apply(turn, inverse, torque);
    for (PliIndex i = 0; i < o->count; ++i) {
        double r[3], a[3];
        v3_sub(r, x + 3 * (size_t)i, centre);
        v3_cross(a, turn, r);
        v3_madd(f + 3 * (size_t)i, -o->mass[i], a);
    }
}

/// Three numbers and nothing, which any processor adds two or four at a time.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

/// sum B R^T x, without what it is at rest
static void correction_sum(const PliOctreeOperator *o, const PliOctreeCorrection *c, const double *turn,
                           const double *x, double force[3])
{
    const Four row[3] = { { turn[0], turn[1], turn[2] }, { turn[3], turn[4], turn[5] }, { turn[6], turn[7], turn[8] } };
    Four sum = { 0 };
    for (PliIndex k = c->first; k < c->first + c->count; ++k) {
        const double *p = x + 3 * (size_t)o->entry_point[k];
        const Four *b = (const Four *)(o->entry_block + PLI_OCTREE_BLOCK * (size_t)k);
        const Four d = row[0] * p[0] + row[1] * p[1] + row[2] * p[2];
        sum += b[0] * d[0] + b[1] * d[1] + b[2] * d[2];
    }
    for (int i = 0; i < 3; ++i) force[i] = sum[i];
}

static void correction_gradient(const PliOctreeOperator *o, const PliOctreeCorrection *c, const double *x, double F[9])
{
    Four row[3] = { { 0 }, { 0 }, { 0 } };
    for (PliIndex k = c->first; k < c->first + c->count; ++k) {
        const double *p = x + 3 * (size_t)o->entry_point[k];
        const Four g = *(const Four *)(o->entry_grad + PLI_OCTREE_GRAD * (size_t)k);
        for (int i = 0; i < 3; ++i) row[i] += p[i] * g;
    }
    for (int i = 0; i < 9; ++i) F[i] = row[i / 3][i % 3];
}

/// What their torque sums up to goes to `torque`.
static void add_some_corrections(const PliOctreeOperator *o, Part part, const double *x, double *f, double torque[3])
{
    static const PliLame unit = { .mu = 0.5 }; // the law of a unit modulus is F - R
    StressPack pack;
    for (PliIndex e = part.first; e < part.last; ++e) {
        const PliOctreeCorrection *c = &o->correction[part_at(&part, e)];
        double turn[9], local[3], force[3], arm[3], t[3];
        if (e % PACK == 0) {
            PliIndex k = 0;
            for (; k < PACK && e + k < part.last; ++k) {
                correction_gradient(o, &o->correction[part_at(&part, e + k)], x, turn);
                pack_set(&pack, k, turn);
            }
            pack_rest(&pack, k);
            o->elastic->kernel->law_stress(PLI_COROT, &unit, pack.F, pack.P);
        }
        for (int i = 0; i < 9; ++i) turn[i] = pack.F[i][e % PACK] - pack.P[i][e % PACK];
        correction_sum(o, c, turn, x, local);
        v3_sub(local, local, c->at_rest);
        m3_apply(force, turn, local);
        v3_add(f + 3 * (size_t)c->plus, f + 3 * (size_t)c->plus, force);
        v3_sub(f + 3 * (size_t)c->minus, f + 3 * (size_t)c->minus, force);
        v3_sub(arm, x + 3 * (size_t)c->plus, x + 3 * (size_t)c->minus);
        v3_cross(t, arm, force);
        v3_add(torque, torque, t);
    }
}

static void add_corrections(const PliOctreeOperator *o, const double *x, double *f)
{
    double torque[3] = { 0, 0, 0 };
    add_some_corrections(o, range(0, o->correction_count), x, f, torque);
    if (o->correction_count) take_torque(o, x, torque, f);
}

// ---- paper -----------------------------------------------------------------------------------------------------------------

static void add_paper(const PliOctreeOperator *o, const double *x, const double *rest, double k, double *f)
{
    const double mu = o->lame.mu, both = o->lame.lambda + o->lame.mu;
    for (PliIndex i = 0; i < o->count; ++i) {
        double sum[3] = { 0, 0, 0 }, di[3];
        v3_copy(di, x + 3 * (size_t)i);
        if (rest) v3_sub(di, di, rest + 3 * (size_t)i);
        for (PliIndex e = o->row_first[i]; e < o->row_first[i + 1]; ++e) {
            const size_t j = o->entry_point[e];
            const double *u = o->entry_grad + PLI_OCTREE_GRAD * (size_t)e, inverse = 1.0 / o->entry_length[e];
            double d[3];
            v3_copy(d, x + 3 * j);
            if (rest) v3_sub(d, d, rest + 3 * j);
            v3_sub(d, d, di);
            v3_madd(sum, mu * inverse, d);
            v3_madd(sum, both * inverse * v3_dot(d, u), u);
        }
        v3_madd(f + 3 * (size_t)i, k * o->row_scale[i], sum);
    }
}

// ---- all -------------------------------------------------------------------------------------------------------------------

static void add_paper_all(const PliOctreeOperator *o, const double *x, const double *v, double *f)
{
    add_paper(o, x, o->rest, 1.0, f);
    if (v && o->material.damping > 0.0) add_paper(o, v, NULL, o->material.damping, f);
}

void pli_octree_add_force_group(PliOctreeOperator *o, int group, const double *x, const double *v, double *f)
{
    enum { LAST = PLI_OCTREE_MAX_LEVELS };
    if (o->is_paper) {
        if (group == 0) add_paper_all(o, x, v, f);
        return;
    }
    const int level = o->finest - group;
    pli_elastic_add_force_range(o->elastic, o->group_first[group], o->group_first[group + 1], x, v, f);
    add_membranes(o, range(o->membrane_level[level], o->membrane_level[level + 1]), x, v, f);
    add_bars(o, range(o->bar_level[level], o->bar_level[level + 1]), x, v, f);
    add_bends(o, range(o->bend_level[level], o->bend_level[level + 1]), x, v, f);
    add_samples(o, range(o->sample_level[level], o->sample_level[level + 1]), x, v, f);
    if (group > 0) return;
    begin_joints(o, x, v);
    add_membranes(o, range(o->membrane_level[LAST], o->membrane_count), x, v, f);
    add_bars(o, range(o->bar_level[LAST], o->bar_count), x, v, f);
    add_bends(o, range(o->bend_level[LAST], o->bend_count), x, v, f);
    add_samples(o, range(o->sample_level[LAST], o->sample_count), x, v, f);
    end_joints(o, f);
    add_hinges(o, range(0, o->hinge_count), x, v, f);
    add_corrections(o, x, f);
}

void pli_octree_add_force(PliOctreeOperator *o, const double *x, const double *v, double *f)
{
    if (o->is_paper) {
        add_paper_all(o, x, v, f);
        return;
    }
    pli_elastic_add_force(o->elastic, x, v, f);
    begin_joints(o, x, v);
    add_membranes(o, range(0, o->membrane_count), x, v, f);
    add_bars(o, range(0, o->bar_count), x, v, f);
    add_bends(o, range(0, o->bend_count), x, v, f);
    add_samples(o, range(0, o->sample_count), x, v, f);
    end_joints(o, f);
    add_hinges(o, range(0, o->hinge_count), x, v, f);
    add_corrections(o, x, f);
}

// ---- linear ----------------------------------------------------------------------------------------------------------------

// turned back (R^T d), strained, and turned forth again
static void linear_stress(const PliLame *m, const double *turn, double G[9])
{
    double local[9], S[9];
    if (turn) {
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                local[3 * i + j] = turn[i] * G[j] + turn[3 + i] * G[3 + j] + turn[6 + i] * G[6 + j];
    } else {
        memcpy(local, G, sizeof local);
    }
    const double trace = local[0] + local[4] + local[8];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            S[3 * i + j] = m->mu * (local[3 * i + j] + local[3 * j + i]) + (i == j ? m->bulk * trace : 0.0);
    if (turn)
        m3_mul(G, turn, S);
    else
        memcpy(G, S, sizeof S);
}

static void linear_membrane(const PliOctreeOperator *o, const PliOctreeMembrane *m, const double *turn,
                            const double *dx, double k, double *df)
{
    double dF[6], axis[2][3], strain[3], P[6];
    membrane_gradient(m, dx, o->joint_x, dF);
    for (int a = 0; a < 2; ++a) {
        if (turn)
            m3_apply(axis[a], turn, m->plane + 3 * a);
        else
            v3_copy(axis[a], m->plane + 3 * a);
    }
    double g[2][2];
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) g[a][b] = axis[a][0] * dF[b] + axis[a][1] * dF[2 + b] + axis[a][2] * dF[4 + b];
    const double lambda = pli_octree_plane_lambda(&o->lame), trace = lambda * (g[0][0] + g[1][1]), mu = o->lame.mu;
    strain[0] = 2.0 * mu * g[0][0] + trace, strain[1] = 2.0 * mu * g[1][1] + trace,
    strain[2] = mu * (g[0][1] + g[1][0]);
    for (int i = 0; i < 3; ++i) {
        P[2 * i] = axis[0][i] * strain[0] + axis[1][i] * strain[2];
        P[2 * i + 1] = axis[0][i] * strain[2] + axis[1][i] * strain[1];
    }
    membrane_push(o, m, P, k, df);
}

void pli_octree_add_linear(const PliOctreeOperator *o, const double *turn, const double *dx, double k, double *df)
{
    if (o->is_paper) {
        add_paper(o, dx, NULL, k, df);
        return;
    }
    for (PliIndex e = 0; e < o->tet_count; ++e) {
        const PliIndex *c = o->corner + 4 * (size_t)e;
        const PliTetRest *rest = &o->tet_rest[e];
        double G[9];
        pli_tet_gradient(c, rest, dx, G);
        linear_stress(&o->lame, turn, G);
        for (int n = 0; n < 3; ++n) {
            double force[3];
            m3_apply(force, G, rest->grad + 3 * n);
            v3_madd(df + 3 * (size_t)c[n + 1], -k * rest->volume, force);
            v3_madd(df + 3 * (size_t)c[0], k * rest->volume, force);
        }
    }
    begin_joints(o, dx, NULL);
    for (PliIndex e = 0; e < o->membrane_count; ++e) linear_membrane(o, &o->membrane[e], turn, dx, k, df);
    for (PliIndex e = 0; e < o->bar_count; ++e) {
        const PliOctreeBar *b = &o->bar[e];
        double axis[3], d[3];
        v3_sub(d, value_at(o->rest, o->joint_rest, b->point[1]), value_at(o->rest, o->joint_rest, b->point[0]));
        if (turn)
            m3_apply(axis, turn, d);
        else
            v3_copy(axis, d);
        v3_scale(axis, 1.0 / b->length);
        v3_sub(d, value_at(dx, o->joint_x, b->point[1]), value_at(dx, o->joint_x, b->point[0]));
        const double pull = k * b->volume * o->material.young * v3_dot(d, axis) / (b->length * b->length);
        v3_madd(force_at(o, df, b->point[0]), pull, axis);
        v3_madd(force_at(o, df, b->point[1]), -pull, axis);
    }
    for (PliIndex e = 0; e < o->bend_count; ++e) {
        double value[3];
        bend_value(&o->bend[e], dx, false, value);
        bend_push(&o->bend[e], value, k, df);
    }
    for (PliIndex e = 0; e < o->sample_count; ++e) {
        double G[9];
        sample_gradient(&o->sample[e], dx, o->joint_x, false, G);
        linear_stress(&o->lame, turn, G);
        sample_push(o, &o->sample[e], G, k, df);
    }
    end_joints(o, df);
    for (PliIndex e = 0; e < o->hinge_count; ++e) linear_hinge(o, &o->hinge[e], turn, dx, k, df);
    static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    for (PliIndex e = 0; e < o->correction_count; ++e) {
        const PliOctreeCorrection *c = &o->correction[e];
        double local[3], force[3];
        correction_sum(o, c, turn ? turn : one, dx, local);
        m3_apply(force, turn ? turn : one, local);
        v3_madd(df + 3 * (size_t)c->plus, k, force);
        v3_madd(df + 3 * (size_t)c->minus, -k, force);
    }
}

// ---- energy ----------------------------------------------------------------------------------------------------------------

static double membrane_energy(const PliOctreeOperator *o, Part part, const double *x)
{
    const double mu = o->lame.mu, lambda = pli_octree_plane_lambda(&o->lame);
    double sum = 0.0;
    for (PliIndex i = part.first; i < part.last; ++i) {
        const PliOctreeMembrane *m = &o->membrane[part_at(&part, i)];
        double F[6], U[3], inverse[3], exx, eyy, exy;
        membrane_gradient(m, x, o->joint_x, F);
        if (o->material.law == PLI_STVK) {
            exx = 0.5 * (F[0] * F[0] + F[2] * F[2] + F[4] * F[4] - 1.0),
            eyy = 0.5 * (F[1] * F[1] + F[3] * F[3] + F[5] * F[5] - 1.0);
            exy = 0.5 * (F[0] * F[1] + F[2] * F[3] + F[4] * F[5]);
        } else {
            if (!stretch(F, U, inverse)) continue;
            exx = U[0] - 1.0, eyy = U[1] - 1.0, exy = U[2];
        }
        const double whole = mu * (exx * exx + eyy * eyy + 2.0 * exy * exy) + 0.5 * lambda * (exx + eyy) * (exx + eyy);
        sum += m->volume * whole;
    }
    return sum;
}

static double bar_energy(const PliOctreeOperator *o, Part part, const double *x)
{
    double sum = 0.0;
    for (PliIndex i = part.first; i < part.last; ++i) {
        const PliOctreeBar *b = &o->bar[part_at(&part, i)];
        const double s =
            v3_distance(value_at(x, o->joint_x, b->point[0]), value_at(x, o->joint_x, b->point[1])) / b->length;
        const double strain = o->material.law == PLI_STVK ? 0.5 * (s * s - 1.0) : s - 1.0;
        sum += 0.5 * o->material.young * b->volume * strain * strain;
    }
    return sum;
}

static double bend_energy(const PliOctreeOperator *o, Part part, const double *x)
{
    double sum = 0.0;
    for (PliIndex i = part.first; i < part.last; ++i) {
        const PliOctreeBend *b = &o->bend[part_at(&part, i)];
        double value[3];
        bend_value(b, x, true, value);
        sum += 0.5 * b->k * v3_dot(value, value);
    }
    return sum;
}

static double hinge_energy(const PliOctreeOperator *o, Part part, const double *x)
{
    double sum = 0.0;
    for (PliIndex i = part.first; i < part.last; ++i) {
        const PliOctreeHinge *h = &o->hinge[part_at(&part, i)];
        double a[3], b[3];
        hinge_arms(o, h, x, a, b);
        const double angle = v3_dot(a, b) - h->rest;
        sum += 0.5 * h->k * angle * angle;
    }
    return sum;
}

static double sample_energy(const PliOctreeOperator *o, Part part, const double *x)
{
    double sum = 0.0;
    for (PliIndex i = part.first; i < part.last; ++i) {
        const PliOctreeSample *s = &o->sample[part_at(&part, i)];
        double F[9];
        sample_gradient(s, x, o->joint_x, true, F);
        sum += s->volume * pli_elastic_density(o->elastic, F);
    }
    return sum;
}

double pli_octree_energy(const PliOctreeOperator *o, const double *x)
{
    if (o->is_paper) return 0.0;
    begin_joints(o, x, NULL);
    return pli_elastic_energy(o->elastic, x) + membrane_energy(o, range(0, o->membrane_count), x) +
           bar_energy(o, range(0, o->bar_count), x) + bend_energy(o, range(0, o->bend_count), x) +
           hinge_energy(o, range(0, o->hinge_count), x) + sample_energy(o, range(0, o->sample_count), x);
}

double pli_octree_critical_step(const PliOctreeOperator *o, bool multirate)
{
    double least = INFINITY;
    for (PliIndex i = 0; i < o->count; ++i) {
        // coarser levels tick more slowly
        const int later = multirate ? o->finest - o->tree->cell[o->cell[i]].level : 0;
        const double step = ldexp(o->step[i], -later);
        least = step < least ? step : least;
    }
    return least;
}

// ---- near some points ----------------------------------------------------------------------------------------------------------

static bool is_marked(const PliOctreeOperator *o, const uint8_t *mark, PliIndex point)
{
    if (!(point & PLI_OCTREE_JOINT)) return point < o->count && mark[point];
    const PliOctreeJoint *j = &o->joint[point ^ PLI_OCTREE_JOINT];
    for (PliIndex k = 0; k < j->count; ++k)
        if (mark[j->point[k]]) return true;
    return false;
}

static bool has_marked(const PliOctreeOperator *o, const uint8_t *mark, const PliIndex *point, PliIndex count)
{
    for (PliIndex k = 0; k < count; ++k)
        if (is_marked(o, mark, point[k])) return true;
    return false;
}

void pli_octree_find_near(PliOctreeOperator *o, const uint8_t *mark)
{
    PliOctreeNear *n = &o->near;
    n->tets = n->samples = n->membranes = n->bars = n->bends = n->hinges = n->corrections = 0;
    for (PliIndex e = 0; e < o->tet_count; ++e)
        if (has_marked(o, mark, o->corner + 4 * (size_t)e, 4)) n->tet[n->tets++] = e;
    for (PliIndex e = 0; e < o->sample_count; ++e)
        if (has_marked(o, mark, o->sample[e].point, o->sample[e].count)) n->sample[n->samples++] = e;
    for (PliIndex e = 0; e < o->membrane_count; ++e)
        if (has_marked(o, mark, o->membrane[e].from, 2) || has_marked(o, mark, o->membrane[e].to, 2))
            n->membrane[n->membranes++] = e;
    for (PliIndex e = 0; e < o->bar_count; ++e)
        if (has_marked(o, mark, o->bar[e].point, 2)) n->bar[n->bars++] = e;
    for (PliIndex e = 0; e < o->bend_count; ++e)
        if (has_marked(o, mark, o->bend[e].point, o->bend[e].count)) n->bend[n->bends++] = e;
    for (PliIndex e = 0; e < o->hinge_count; ++e)
        if (is_marked(o, mark, o->hinge[e].joint | PLI_OCTREE_JOINT) || mark[o->joint[o->hinge[e].joint].coarse])
            n->hinge[n->hinges++] = e;
    for (PliIndex e = 0; e < o->correction_count; ++e)
        if (mark[o->correction[e].plus] || mark[o->correction[e].minus]) n->correction[n->corrections++] = e;
}

static Part listed(const PliIndex *list, PliIndex count) { return (Part){ list, 0, count }; }

double pli_octree_near_energy(const PliOctreeOperator *o, const double *x)
{
    const PliOctreeNear *n = &o->near;
    double sum = 0.0;
    if (o->is_paper) return 0.0;
    begin_joints(o, x, NULL);
    for (PliIndex i = 0; i < n->tets; ++i) {
        const PliIndex e = n->tet[i];
        double F[9];
        pli_tet_gradient(o->corner + 4 * (size_t)e, &o->tet_rest[e], x, F);
        sum += o->tet_rest[e].volume * pli_elastic_density(o->elastic, F);
    }
    return sum + membrane_energy(o, listed(n->membrane, n->membranes), x) + bar_energy(o, listed(n->bar, n->bars), x) +
           bend_energy(o, listed(n->bend, n->bends), x) + hinge_energy(o, listed(n->hinge, n->hinges), x) +
           sample_energy(o, listed(n->sample, n->samples), x);
}

void pli_octree_add_near_force(const PliOctreeOperator *o, const double *x, double *f)
{
    const PliOctreeNear *n = &o->near;
    double torque[3] = { 0, 0, 0 };
    if (o->is_paper) {
        add_paper_all(o, x, NULL, f);
        return;
    }
    add_tets(o, listed(n->tet, n->tets), x, f);
    begin_joints(o, x, NULL);
    add_membranes(o, listed(n->membrane, n->membranes), x, NULL, f);
    add_bars(o, listed(n->bar, n->bars), x, NULL, f);
    add_bends(o, listed(n->bend, n->bends), x, NULL, f);
    add_samples(o, listed(n->sample, n->samples), x, NULL, f);
    end_joints(o, f);
    add_hinges(o, listed(n->hinge, n->hinges), x, NULL, f);
    add_some_corrections(o, listed(n->correction, n->corrections), x, f, torque);
}
