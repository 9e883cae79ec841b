/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/components/grab.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "host/components/metrics.h"

// A patch, not a point: under a point force the displacement grows without bound as the mesh gets finer, so that every
// scheme would answer to another question.

struct PliGrab {
    bool on;
    PliGrip grip;
    PliIndex point_count; ///< of the skin
    double *rest, *area;  ///< of the skin
    PliIndex count, *point;
    double *weight;      ///< sum 1
    double offset[3];    ///< from the grabbed point to the middle of the patch, at rest
    double size;         ///< m, of the skin at rest
    bool is_new;         ///< the hand is where the patch is
    double hand[3];      ///< where it is on its way to the target
    uint64_t limited;    ///< steps in which it was slower than asked for
    PliPointForces list; ///< of the spring, and its row
    PliIndex row[2], *row_dof, row_capacity;
    double *row_weight, force[3], stiffness[6];
};

static PliStatus make(PliModel *m, PliError *err)
{
    PliScene *scene = m->object->node->scene;
    const size_t n = pli_body_skin_count(m->body);
    PliGrab *g = PLI_SCENE_NEW(scene, 1, PliGrab);
    if (!g) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to hold a body by its skin");
    *g = (PliGrab){ .point_count = (PliIndex)n };
    g->rest = PLI_SCENE_NEW(scene, 3 * n, double);
    g->area = PLI_SCENE_NEW(scene, n, double);
    g->weight = PLI_SCENE_NEW(scene, n, double);
    g->point = PLI_SCENE_NEW(scene, n, PliIndex);
    g->row_capacity = (PliIndex)n * 96;
    g->row_dof = PLI_SCENE_NEW(scene, g->row_capacity, PliIndex);
    g->row_weight = PLI_SCENE_NEW(scene, g->row_capacity, double);
    if (n > 0 && (!g->rest || !g->area || !g->weight || !g->point || !g->row_dof || !g->row_weight))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to hold %zu skin points", n);
    PliIndex tri_count;
    const PliIndex *tris = pli_body_skin_tris(m->body, &tri_count);
    pli_body_skin_positions(m->body, pli_body_rest(m->body), g->rest);
    pli_point_areas(g->rest, g->point_count, tris, tri_count, g->area);
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (size_t i = 0; i < 3 * n; ++i)
        low[i % 3] = fmin(low[i % 3], g->rest[i]), high[i % 3] = fmax(high[i % 3], g->rest[i]);
    g->size = n ? v3_distance(low, high) : 0.0;
    m->grab = g;
    return pli_model_reserve(m, err);
}

/// Points within the radius, area times a bell; a skin that is coarser than the radius gives its nearest point.
static void choose(PliGrab *g)
{
    const double r = g->grip.radius;
    double sum = 0.0, nearest = INFINITY;
    PliIndex best = 0;
    g->count = 0;
    for (PliIndex i = 0; i < g->point_count; ++i) {
        const double d = v3_distance(g->rest + 3 * (size_t)i, g->grip.at);
        if (d < nearest) nearest = d, best = i;
        if (!(d < r)) continue;
        const double bell = 1.0 - d * d / (r * r);
        g->point[g->count] = i;
        g->weight[g->count] = g->area[i] * bell * bell;
        sum += g->weight[g->count++];
    }
    if (!(sum > 0.0)) {
        g->count = g->point_count > 0;
        g->point[0] = best;
        g->weight[0] = sum = 1.0;
    }
    for (int d = 0; d < 3; ++d) g->offset[d] = -g->grip.at[d];
    for (PliIndex k = 0; k < g->count; ++k) {
        g->weight[k] /= sum;
        v3_madd(g->offset, g->weight[k], g->rest + 3 * (size_t)g->point[k]);
    }
}

PliStatus pli_model_grab(PliModel *m, const PliGrip *grip, PliError *err)
{
    if (!grip) {
        if (m->grab) m->grab->on = false;
        if (m->grab && m->choose_external) m->choose_external(m);
        return PLI_OK;
    }
    for (int d = 0; d < 3; ++d)
        if (!isfinite(grip->at[d]) || !isfinite(grip->target[d]))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "a grip needs finite places");
    if (!(grip->radius > 0.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a grip of radius %g m holds nothing", grip->radius);
    const PliStatus status = m->grab ? PLI_OK : make(m, err);
    if (status != PLI_OK) return status;
    PliGrab *g = m->grab;
    const bool same = g->on && memcmp(g->grip.at, grip->at, sizeof grip->at) == 0 && g->grip.radius == grip->radius;
    g->grip = *grip;
    // a disc of this radius pushed into a half space resists with about 2 E r: the hand is as stiff as the body
    if (!(grip->stiffness > 0.0)) g->grip.stiffness = 2.0 * pli_body_def(m->body)->material.young * grip->radius;
    if (!same) choose(g), g->is_new = true;
    g->on = g->count > 0;
    if (m->choose_external) m->choose_external(m);
    return PLI_OK;
}

static void middle(const PliGrab *g, PliRows rows, const double *x, double p[3])
{
    p[0] = p[1] = p[2] = 0.0;
    for (PliIndex k = 0; k < g->count; ++k)
        for (PliIndex j = rows.first[g->point[k]]; j < rows.first[g->point[k] + 1]; ++j)
            v3_madd(p, g->weight[k] * rows.weight[j], x + 3 * (size_t)rows.column[j]);
}

/// Body lengths a second: a hand throws at some 10 m/s, and a mouse jumps. What follows the mouse faster pulls a body inside out
/// in one step and looks no different.
static const double HAND_SPEED = 50.0;

void pli_grab_move(PliModel *m, double dt)
{
    PliGrab *g = m->grab;
    if (g->is_new) {
        const PliRows rows = pli_body_skin_rows(m->body);
        middle(g, rows, m->state->x, g->hand);
        for (int d = 0; d < 3; ++d) g->hand[d] -= g->offset[d];
        g->is_new = false;
    }
    const double way = v3_distance(g->hand, g->grip.target), most = HAND_SPEED * g->size * dt;
    g->limited += way > most;
    for (int d = 0; d < 3; ++d)
        g->hand[d] = way > most ? g->hand[d] + (g->grip.target[d] - g->hand[d]) * most / way : g->grip.target[d];
}

uint64_t pli_model_grab_limited(const PliModel *m) { return m->grab ? m->grab->limited : 0; }

bool pli_model_grabbed(const PliModel *m) { return m->grab && m->grab->on; }

static void give(const PliGrab *g, PliRows rows, const double force[3], double *f)
{
    for (PliIndex k = 0; k < g->count; ++k)
        for (PliIndex j = rows.first[g->point[k]]; j < rows.first[g->point[k] + 1]; ++j)
            v3_madd(f + 3 * (size_t)rows.column[j], g->weight[k] * rows.weight[j], force);
}

void pli_grab_force(const PliModel *m, const double *x, double *f)
{
    const PliGrab *g = m->grab;
    const PliRows rows = pli_body_skin_rows(m->body);
    double p[3], force[3];
    middle(g, rows, x, p);
    for (int d = 0; d < 3; ++d) force[d] = g->grip.stiffness * (g->hand[d] + g->offset[d] - p[d]);
    give(g, rows, force, f);
}

void pli_grab_dforce(const PliModel *m, const double *dx, double factor, double *df)
{
    const PliGrab *g = m->grab;
    const PliRows rows = pli_body_skin_rows(m->body);
    double p[3];
    middle(g, rows, dx, p);
    v3_scale(p, -factor * g->grip.stiffness);
    give(g, rows, p, df);
}

// One point: the middle of the patch.
const PliPointForces *pli_grab_points(PliModel *m, const double *x)
{
    PliGrab *g = m->grab;
    const PliRows rows = pli_body_skin_rows(m->body);
    const double k = g->grip.stiffness;
    double p[3];
    middle(g, rows, x, p);
    g->row[0] = g->row[1] = 0;
    for (PliIndex i = 0; i < g->count; ++i)
        for (PliIndex j = rows.first[g->point[i]]; j < rows.first[g->point[i] + 1] && g->row[1] < g->row_capacity;
             ++j, ++g->row[1]) {
            g->row_dof[g->row[1]] = rows.column[j];
            g->row_weight[g->row[1]] = g->weight[i] * rows.weight[j];
        }
    for (int d = 0; d < 3; ++d) {
        g->force[d] = k * (g->hand[d] + g->offset[d] - p[d]);
        g->stiffness[d] = k, g->stiffness[3 + d] = 0.0;
    }
    g->list = (PliPointForces){ 1, g->row, g->row_dof, g->row_weight, g->force, g->stiffness, NULL, NULL };
    return &g->list;
}

PliStatus pli_model_reserve(PliModel *m, PliError *err)
{
    PliIndex count = m->grab ? m->grab->point_count : 0;
    for (int i = 0; i < m->skin_force_count; ++i) count += pli_skin_force_capacity(m->skin_force[i]);
    return pli_body_reserve_points(m->body, count, err);
}
