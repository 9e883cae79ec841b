/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/contact.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "contact/piece_search.h"
#include "surface/triangle_tree.h"

enum { MOST = 64 };

struct PliSkinForce {
    PliHost host;
    PliIndex dofs, points, tri_count;
    double dt, hardness; ///< N/m3
    double measure;
    // skin points from coefficients of the finest level
    PliIndex *first, *column;
    double *weight;
    size_t capacity;
    PliIndex *tris;
    double *area;       ///< m2, per point, at rest
    double *at, *speed; ///< of the last force, per point
    PliPointForces list;
    PliIndex *row_first, *row_dof; ///< rows of `list`
    double *row_weight, *force, *stiffness, *damping;
    size_t row_capacity;
    bool implicit;

    // pieces
    bool pieces;
    double thickness, friction;
    PliIndex *hold_tri; ///< per point: where on the others it took hold, PLI_NONE: nowhere ...
    double *hold;       ///< ... [points, 6]: weights of the corners there, and how far from it the point holds
    uint8_t *touched;   ///< in this step
    bool fresh;         ///< no force was asked for in this step yet: holds may slide
    PliIndex *piece, piece_count;
    double reach;
    PliPieceSearch *search;

    // target
    PliMatch match;
    double *target;
    PliIndex target_count, target_tri_count;
    PliIndex *target_tris, *ring_first, *ring; ///< triangles around each target point
};

PliPiecesDef pli_pieces_default(void) { return (PliPiecesDef){ .friction = 0.3 }; }
PliTargetDef pli_target_default(void) { return (PliTargetDef){ .match = PLI_MATCH_CLOSEST }; }

void pli_skin_force_destroy(PliSkinForce *o)
{
    if (!o) return;
    const PliHost host = o->host;
    const PliHost *h = &host;
    PLI_FREE(h, o->first, (size_t)o->points + 1);
    PLI_FREE(h, o->column, o->capacity);
    PLI_FREE(h, o->weight, o->capacity);
    PLI_FREE(h, o->tris, 3 * (size_t)o->tri_count);
    PLI_FREE(h, o->area, o->points);
    PLI_FREE(h, o->at, 3 * (size_t)o->points);
    PLI_FREE(h, o->speed, 3 * (size_t)o->points);
    PLI_FREE(h, o->row_first, (size_t)o->points + 1);
    PLI_FREE(h, o->row_dof, o->row_capacity);
    PLI_FREE(h, o->row_weight, o->row_capacity);
    PLI_FREE(h, o->force, 3 * (size_t)o->points);
    PLI_FREE(h, o->stiffness, 6 * (size_t)o->points);
    PLI_FREE(h, o->damping, 6 * (size_t)o->points);
    PLI_FREE(h, o->hold_tri, o->points);
    PLI_FREE(h, o->hold, 6 * (size_t)o->points);
    PLI_FREE(h, o->touched, o->points);
    PLI_FREE(h, o->piece, o->points);
    pli_piece_search_destroy(o->search);
    PLI_FREE(h, o->target, 3 * (size_t)o->target_count);
    PLI_FREE(h, o->target_tris, 3 * (size_t)o->target_tri_count);
    PLI_FREE(h, o->ring_first, (size_t)o->target_count + 1);
    PLI_FREE(h, o->ring, 3 * (size_t)o->target_tri_count);
    PLI_FREE(h, o, 1);
}

// ---- the skin --------------------------------------------------------------------------------------------------------------------

static double tri_area(const double *x, const PliIndex *t, double n[3])
{
    double e[3], f[3];
    v3_sub(e, x + 3 * (size_t)t[1], x + 3 * (size_t)t[0]);
    v3_sub(f, x + 3 * (size_t)t[2], x + 3 * (size_t)t[0]);
    v3_cross(n, e, f);
    return 0.5 * v3_norm(n);
}

/// `corners`: skin points that a force acts on.
static PliSkinForce *create(const PliHost *host, const PliBody *body, size_t corners, PliError *err)
{
    PliSkinForce *o = PLI_NEW(host, 1, PliSkinForce);
    if (!o) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for forces on the skin");
        return NULL;
    }
    o->host = *host;
    const PliIndex *tris = pli_body_skin_tris(body, &o->tri_count);
    o->points = pli_body_skin_count(body);
    o->dofs = pli_body_dof_count(body);
    o->capacity = (size_t)MOST * o->points;
    o->first = PLI_NEW(host, (size_t)o->points + 1, PliIndex);
    o->column = PLI_NEW(host, o->capacity, PliIndex);
    o->weight = PLI_NEW(host, o->capacity, double);
    o->tris = PLI_NEW(host, 3 * (size_t)o->tri_count, PliIndex);
    o->area = PLI_NEW(host, o->points, double);
    o->at = PLI_NEW(host, 3 * (size_t)o->points, double);
    o->speed = PLI_NEW(host, 3 * (size_t)o->points, double);
    o->implicit = pli_body_def(body)->integrator == PLI_IMPLICIT;
    o->row_capacity = corners * o->capacity;
    o->row_first = PLI_NEW(host, (size_t)o->points + 1, PliIndex);
    o->row_dof = PLI_NEW(host, o->row_capacity, PliIndex);
    o->row_weight = PLI_NEW(host, o->row_capacity, double);
    o->force = PLI_NEW(host, 3 * (size_t)o->points, double);
    o->stiffness = PLI_NEW(host, 6 * (size_t)o->points, double);
    o->damping = PLI_NEW(host, 6 * (size_t)o->points, double);
    if (!o->first || !o->column || !o->weight || !o->tris || !o->area || !o->at || !o->speed || !o->row_first ||
        !o->row_dof || !o->row_weight || !o->force || !o->stiffness || !o->damping) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for forces on %u skin points", o->points);
        pli_skin_force_destroy(o);
        return NULL;
    }
    if (o->tri_count == 0) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "the body has no skin of triangles for forces to act on");
        pli_skin_force_destroy(o);
        return NULL;
    }
    memcpy(o->tris, tris, 3 * (size_t)o->tri_count * sizeof *tris);
    pli_body_skin_positions(body, pli_body_rest(body), o->at);
    for (PliIndex i = 0; i < o->points; ++i)
        o->first[i + 1] = o->first[i] + pli_body_locate(body, o->at + 3 * (size_t)i, o->column + o->first[i],
                                                        o->weight + o->first[i], MOST);
    for (PliIndex t = 0; t < o->tri_count; ++t) {
        double n[3];
        const double area = tri_area(o->at, o->tris + 3 * (size_t)t, n);
        for (int c = 0; c < 3; ++c) o->area[o->tris[3 * (size_t)t + c]] += area / 3.0;
    }
    return o;
}

static void evaluate(PliSkinForce *o, const double *x, const double *v)
{
    memset(o->at, 0, 3 * (size_t)o->points * sizeof *o->at);
    memset(o->speed, 0, 3 * (size_t)o->points * sizeof *o->speed);
    for (size_t i = 0; i < o->points; ++i)
        for (PliIndex k = o->first[i]; k < o->first[i + 1]; ++k) {
            v3_madd(o->at + 3 * i, o->weight[k], x + 3 * (size_t)o->column[k]);
            v3_madd(o->speed + 3 * i, o->weight[k], v + 3 * (size_t)o->column[k]);
        }
}

static void add_corner(PliSkinForce *o, PliIndex *at, size_t i, double weight)
{
    for (PliIndex k = o->first[i]; k < o->first[i + 1]; ++k, ++*at) {
        o->row_dof[*at] = o->column[k];
        o->row_weight[*at] = weight * o->weight[k];
    }
}

/// q = across n n^T + along (1 - n n^T), xx yy zz yz xz xy
static void set_matrix(double q[6], const double n[3], double across, double along)
{
    const double d = across - along;
    q[0] = along + d * n[0] * n[0], q[1] = along + d * n[1] * n[1], q[2] = along + d * n[2] * n[2];
    q[3] = d * n[1] * n[2], q[4] = d * n[0] * n[2], q[5] = d * n[0] * n[1];
}

static void mix(double q[3], const double *x, const PliIndex *t, const double w[3])
{
    q[0] = q[1] = q[2] = 0.0;
    for (int c = 0; c < 3; ++c) v3_madd(q, w[c], x + 3 * (size_t)t[c]);
}

// ---- pieces ----------------------------------------------------------------------------------------------------------------------

static PliIndex top(PliIndex *of, PliIndex i)
{
    while (of[i] != i) i = of[i] = of[of[i]];
    return i;
}

static void find_pieces(PliSkinForce *o)
{
    for (PliIndex i = 0; i < o->points; ++i) o->piece[i] = i;
    for (size_t t = 0; t < 3 * (size_t)o->tri_count; ++t) {
        const PliIndex a = top(o->piece, o->tris[t]), b = top(o->piece, o->tris[t % 3 ? t - 1 : t + 2]);
        if (a < b)
            o->piece[b] = a;
        else
            o->piece[a] = b;
    }
    for (PliIndex i = 0; i < o->points; ++i)
        o->piece[i] = top(o->piece, i); // the least of each: names come before their use
    PliIndex *number = o->hold_tri;     // free until the first force
    for (PliIndex i = 0; i < o->points; ++i) {
        if (o->piece[i] == i) number[i] = o->piece_count++;
        o->piece[i] = number[o->piece[i]];
    }
    for (PliIndex i = 0; i < o->points; ++i) o->hold_tri[i] = PLI_NONE;
}

/// Of the boxes of the pieces, corner to corner.
static double mean_size(PliSkinForce *o)
{
    double *box = o->hold, sum = 0.0; // free until the first force
    for (PliIndex q = 0; q < o->piece_count; ++q)
        for (int a = 0; a < 3; ++a) box[6 * (size_t)q + a] = INFINITY, box[6 * (size_t)q + 3 + a] = -INFINITY;
    for (size_t i = 0; i < o->points; ++i) {
        double *b = box + 6 * (size_t)o->piece[i];
        for (int a = 0; a < 3; ++a) b[a] = fmin(b[a], o->at[3 * i + a]), b[3 + a] = fmax(b[3 + a], o->at[3 * i + a]);
    }
    for (PliIndex q = 0; q < o->piece_count; ++q) sum += v3_distance(box + 6 * (size_t)q, box + 6 * (size_t)q + 3);
    return sum / o->piece_count;
}

PliSkinForce *pli_skin_force_pieces(const PliHost *host, const PliBody *body, const PliPiecesDef *def, PliError *err)
{
    if (!(def->stiffness >= 0.0) || !(def->thickness >= 0.0) || !(def->friction >= 0.0)) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "stiffness, thickness and friction are %g, %g and %g; none may be negative",
                   def->stiffness, def->thickness, def->friction);
        return NULL;
    }
    PliSkinForce *o = create(host, body, 4, err);
    if (!o) return NULL;
    o->pieces = true;
    o->thickness = def->thickness;
    o->friction = def->friction;
    o->piece = PLI_NEW(host, o->points, PliIndex);
    o->hold_tri = PLI_NEW(host, o->points, PliIndex);
    o->hold = PLI_NEW(host, 6 * (size_t)o->points, double);
    o->touched = PLI_NEW(host, o->points, uint8_t);
    if (!o->hold_tri || !o->hold || !o->touched || !o->piece) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for contact of %u skin points", o->points);
        pli_skin_force_destroy(o);
        return NULL;
    }
    find_pieces(o);
    const double size = mean_size(o);
    double edge = 0.0;
    for (PliIndex t = 0; t < o->tri_count; ++t) {
        const PliIndex *c = o->tris + 3 * (size_t)t;
        for (int k = 0; k < 3; ++k)
            edge += v3_distance(o->at + 3 * (size_t)c[k], o->at + 3 * (size_t)c[(k + 1) % 3]) / (3.0 * o->tri_count);
    }
    o->reach = def->thickness + 1.5 * edge;
    o->search = pli_piece_search_create(host, o->at, o->points, o->tris, o->tri_count, o->piece, o->piece_count,
                                        o->reach, 0.25 * edge);
    if (!o->search) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to search %u triangles for contact", o->tri_count);
        pli_skin_force_destroy(o);
        return NULL;
    }
    o->hardness = def->stiffness > 0.0 ? def->stiffness : 50.0 * pli_body_def(body)->material.young / size;
    return o;
}

/// Where the point is against where it took hold, along the surface; what is over `most` slid.
static void take_hold(PliSkinForce *o, size_t i, PliIndex tri, const double w[3], const double n[3], double most,
                      double stretch[3])
{
    double *hold = o->hold + 6 * i, q[3];
    const bool fresh = o->hold_tri[i] == PLI_NONE;
    if (fresh) o->hold_tri[i] = tri, v3_copy(hold, w);
    mix(q, o->at, o->tris + 3 * (size_t)o->hold_tri[i], hold);
    v3_sub(stretch, o->at + 3 * i, q);
    if (fresh) v3_copy(hold + 3, stretch);
    v3_madd(stretch, -1.0, hold + 3);
    v3_madd(stretch, -v3_dot(stretch, n), n);
    const double length = v3_norm(stretch);
    if (length <= most) return;
    if (o->fresh) v3_madd(hold + 3, 1.0 - most / length, stretch);
    v3_scale(stretch, most / length);
}

/// Pressure along n, out of triangle `tri`, on point i and its reaction on the triangle.
static void press(PliSkinForce *o, size_t i, PliIndex tri, const double w[3], const double n[3], double depth)
{
    const PliIndex *c = o->tris + 3 * (size_t)tri, j = o->list.count;
    const double k = o->hardness * o->area[i], h = o->implicit ? o->dt : 0.0, most = o->friction * k * fmax(0.0, depth);
    double u[3], stretch[3] = { 0.0, 0.0, 0.0 }, grip = 0.0, *f = o->force + 3 * (size_t)j;
    mix(u, o->speed, c, w);
    v3_sub(u, o->speed + 3 * i, u);
    const double rate = v3_dot(u, n), end = depth - h * rate;
    if (depth <= 0.0 && (!o->implicit || end <= 0.0)) return;
    o->touched[i] = 1;
    if (o->friction > 0.0) {
        take_hold(o, i, tri, w, n, most / k, stretch);
        double ahead[3];
        v3_copy(ahead, stretch);
        v3_madd(ahead, h, u);
        v3_madd(ahead, -h * rate, n);
        const double length = v3_norm(ahead);
        grip = k * length > most ? most / length : k;
    }
    // one that is still apart has no force at its place, and one at its velocity: it is a damper
    const bool apart = o->implicit && depth <= 0.0;
    const double slow = o->implicit ? 0.0 : 0.5 * k * o->dt;
    const double force = apart ? k * end : fmax(0.0, k * depth - slow * rate);
    for (int d = 0; d < 3; ++d) f[d] = force * n[d] - grip * stretch[d];
    set_matrix(o->stiffness + 6 * (size_t)j, n, apart ? 0.0 : k, grip);
    set_matrix(o->damping + 6 * (size_t)j, n, apart ? h * k : slow, 0.0);
    PliIndex at = o->row_first[j];
    add_corner(o, &at, i, 1.0);
    for (int a = 0; a < 3; ++a) add_corner(o, &at, c[a], -w[a]);
    o->row_first[j + 1] = at;
    o->list.count = j + 1;
}

/// Two points come closer by at most this, m/s.
static double fastest(const PliSkinForce *o)
{
    double mean[3] = { 0.0, 0.0, 0.0 }, most = 0.0;
    for (size_t i = 0; i < o->points; ++i) v3_add(mean, mean, o->speed + 3 * i);
    v3_scale(mean, 1.0 / o->points);
    for (size_t i = 0; i < o->points; ++i) {
        double u[3];
        v3_sub(u, o->speed + 3 * i, mean);
        const double square = v3_dot(u, u);
        if (square > most) most = square;
    }
    return 2.0 * sqrt(most);
}

static void push_pieces(PliSkinForce *o)
{
    o->measure = 0.0;
    if (o->piece_count < 2) return;
    memset(o->touched, 0, o->points);
    pli_piece_search_move(o->search, o->at, o->thickness + (o->implicit ? o->dt * fastest(o) : 0.0));
    for (size_t i = 0; i < o->points; ++i) {
        PliPieceHit at;
        double n[3];
        if (!pli_piece_search_nearest(o->search, (PliIndex)i, &at)) continue;
        // the direction in which the distance grows; at the surface itself its normal
        v3_copy(n, at.normal);
        const double length = v3_norm(n);
        if (at.distance > 1e-6 * o->reach) {
            mix(n, o->at, o->tris + 3 * (size_t)at.tri, at.w);
            v3_sub(n, o->at + 3 * i, n);
            v3_scale(n, at.side / at.distance);
        } else if (length > 0.0) {
            v3_scale(n, 1.0 / length);
        } else {
            continue;
        }
        const double depth = o->thickness - at.side * at.distance;
        o->measure = fmax(o->measure, depth);
        press(o, i, at.tri, at.w, n, depth);
    }
    for (size_t i = 0; i < o->points && o->fresh; ++i)
        if (!o->touched[i]) o->hold_tri[i] = PLI_NONE;
    o->fresh = false;
}

// ---- target ----------------------------------------------------------------------------------------------------------------------

PliSkinForce *pli_skin_force_target(const PliHost *host, const PliBody *body, const PliTargetDef *def,
                                    const PliMesh *target, PliError *err)
{
    const PliIndex points = pli_body_skin_count(body);
    if (!(def->stiffness >= 0.0))
        pli_refuse(err, PLI_BAD_ARGUMENT, "stiffness is %g; it may not be negative", def->stiffness);
    else if (target->point_count == 0)
        pli_refuse(err, PLI_BAD_MESH, "the target has no points");
    else if (def->match == PLI_MATCH_INDEX && target->point_count != points)
        pli_refuse(err, PLI_BAD_ARGUMENT, "match=\"index\" needs a target with the %u points of the skin; it has %u",
                   points, target->point_count);
    else {
        PliSkinForce *o = create(host, body, 1, err);
        if (!o) return NULL;
        o->match = def->match;
        o->target_count = target->point_count;
        o->target_tri_count = target->tri_count;
        o->target = PLI_NEW(host, 3 * (size_t)o->target_count, double);
        o->target_tris = PLI_NEW(host, 3 * (size_t)o->target_tri_count, PliIndex);
        o->ring_first = PLI_NEW(host, (size_t)o->target_count + 1, PliIndex);
        o->ring = PLI_NEW(host, 3 * (size_t)o->target_tri_count, PliIndex);
        if (!o->target || !o->target_tris || !o->ring_first || !o->ring) {
            pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a target of %u points", o->target_count);
            pli_skin_force_destroy(o);
            return NULL;
        }
        memcpy(o->target, target->x, 3 * (size_t)o->target_count * sizeof *o->target);
        if (o->target_tri_count)
            memcpy(o->target_tris, target->tris, 3 * (size_t)o->target_tri_count * sizeof *o->target_tris);
        for (size_t k = 0; k < 3 * (size_t)o->target_tri_count; ++k) o->ring_first[o->target_tris[k] + 1]++;
        for (PliIndex i = 0; i < o->target_count; ++i) o->ring_first[i + 1] += o->ring_first[i];
        for (size_t k = 3 * (size_t)o->target_tri_count; k-- > 0;)
            o->ring[--o->ring_first[o->target_tris[k] + 1]] = (PliIndex)(k / 3);
        // the ring of point i now begins at ring_first[i + 1]; shift back
        memmove(o->ring_first, o->ring_first + 1, o->target_count * sizeof *o->ring_first);
        o->ring_first[o->target_count] = 3 * o->target_tri_count;
        double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
        for (size_t i = 0; i < o->points; ++i)
            for (int a = 0; a < 3; ++a)
                low[a] = fmin(low[a], o->at[3 * i + a]), high[a] = fmax(high[a], o->at[3 * i + a]);
        o->hardness =
            def->stiffness > 0.0 ? def->stiffness : 50.0 * pli_body_def(body)->material.young / v3_distance(low, high);
        return o;
    }
    return NULL;
}

// Nearest target point, then the triangles around it: exact enough where the target's triangles are well shaped.
static void nearest(const PliSkinForce *o, const double p[3], double q[3])
{
    double least = INFINITY, d[3];
    PliIndex best = 0;
    for (PliIndex j = 0; j < o->target_count; ++j) {
        v3_sub(d, p, o->target + 3 * (size_t)j);
        const double far = v3_dot(d, d);
        if (far < least) least = far, best = j;
    }
    v3_copy(q, o->target + 3 * (size_t)best);
    for (PliIndex r = o->ring_first[best]; r < o->ring_first[best + 1]; ++r) {
        const PliIndex *c = o->target_tris + 3 * (size_t)o->ring[r];
        double w[3], on[3];
        (void)pli_closest_on_triangle(p, o->target + 3 * (size_t)c[0], o->target + 3 * (size_t)c[1],
                                      o->target + 3 * (size_t)c[2], w);
        mix(on, o->target, c, w);
        v3_sub(d, p, on);
        const double far = v3_dot(d, d);
        if (far < least) least = far, v3_copy(q, on);
    }
}

static void pull_to_target(PliSkinForce *o)
{
    double sum = 0.0, area = 0.0;
    for (size_t i = 0; i < o->points; ++i) {
        double q[3], d[3];
        if (o->match == PLI_MATCH_INDEX)
            v3_copy(q, o->target + 3 * i);
        else
            nearest(o, o->at + 3 * i, q);
        v3_sub(d, q, o->at + 3 * i);
        const double k = o->hardness * o->area[i];
        for (int a = 0; a < 3; ++a) o->force[3 * i + (size_t)a] = k * d[a];
        // Also for the closest point, which would let the skin slide: never too soft where it jumps to another triangle.
        for (size_t a = 0; a < 6; ++a) o->stiffness[6 * i + a] = a < 3 ? k : 0.0;
        sum += o->area[i] * v3_dot(d, d);
        area += o->area[i];
    }
    o->measure = area > 0.0 ? sqrt(sum / area) : 0.0;
}

// ---- for the host ----------------------------------------------------------------------------------------------------------------

void pli_skin_force_begin(PliSkinForce *o, double dt)
{
    o->dt = dt;
    o->fresh = true;
}

PliIndex pli_skin_force_capacity(const PliSkinForce *o) { return o->points; }

PliPointForces *pli_skin_force_points(PliSkinForce *o, const double *x, const double *v)
{
    evaluate(o, x, v);
    o->list = (PliPointForces){
        0, o->row_first, o->row_dof, o->row_weight, o->force, o->stiffness, o->pieces ? o->damping : NULL, NULL
    };
    if (o->pieces) {
        push_pieces(o);
    } else {
        o->list.count = o->points, o->list.first = o->first, o->list.dof = o->column, o->list.weight = o->weight;
        pull_to_target(o);
    }
    return &o->list;
}

double pli_skin_force_measure(const PliSkinForce *o) { return o->measure; }
const char *pli_skin_force_measure_name(const PliSkinForce *o) { return o->pieces ? "depth" : "distance"; }
