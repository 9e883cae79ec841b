/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Forces on single points: of the host, and of tools in an implicit step. Their stiffness enters the matrix of an implicit step exactly, as rows over the active
// coefficients. Rejected: a diagonal matrix that is nowhere softer, which weighs several times the body itself where a point hangs
// on dozens of coefficients of like weight, and lets bodies sink through what holds them.
#include <string.h>

#include "base/vec.h"
#include "body/forms.h"

enum { ENTRIES = 24 }; ///< active coefficients per point, on average, where the scheme does not say

bool pli_body_has_transfer(const PliBody *b)
{
    const PliRows w = b->ops->transfer(b->self);
    return w.first[w.out_count] > 0;
}

PliStatus pli_body_reserve_points(PliBody *b, PliIndex count, PliError *err)
{
    if (b->forms) return pli_body_reserve_points(b->forms->fallback, count, err);
    b->point_reserve = count;
    return pli_body_reserve_tethers(b, err);
}

PliStatus pli_body_reserve_tethers(PliBody *b, PliError *err)
{
    if (b->def.integrator == PLI_SYMPLECTIC) return PLI_OK;
    const PliIndex count = b->point_reserve + (b->contact && b->tool_count ? b->skin->point_count : 0);
    if (count <= b->tether_capacity) return PLI_OK;
    if (!pli_body_has_transfer(b))
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for forces on %u points", count);
    pli_body_points_free(b);
    b->tether_capacity = count;
    b->tether_entry_capacity = (size_t)count * (b->statics.point_entries ? b->statics.point_entries : ENTRIES);
    b->tether_first = PLI_NEW(&b->host, (size_t)count + 1, PliIndex);
    b->tether_column = PLI_NEW(&b->host, b->tether_entry_capacity, PliIndex);
    b->tether_weight = PLI_NEW(&b->host, b->tether_entry_capacity, double);
    b->tether_matrix = PLI_NEW(&b->host, 6 * (size_t)count, double);
    b->tether_force = PLI_NEW(&b->host, 3 * (size_t)count, double);
    b->tether_touched = PLI_NEW(&b->host, b->statics.dof_count, PliIndex);
    b->tether_dense = PLI_NEW(&b->host, b->statics.active_capacity, double);
    if (b->tether_first && b->tether_column && b->tether_weight && b->tether_matrix && b->tether_force &&
        b->tether_touched && b->tether_dense)
        return PLI_OK;
    pli_body_points_free(b);
    return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for forces on %u points", count);
}

void pli_body_points_free(PliBody *b)
{
    PLI_FREE(&b->host, b->tether_first, (size_t)b->tether_capacity + 1);
    PLI_FREE(&b->host, b->tether_column, b->tether_entry_capacity);
    PLI_FREE(&b->host, b->tether_weight, b->tether_entry_capacity);
    PLI_FREE(&b->host, b->tether_matrix, 6 * (size_t)b->tether_capacity);
    PLI_FREE(&b->host, b->tether_force, 3 * (size_t)b->tether_capacity);
    PLI_FREE(&b->host, b->tether_touched, b->statics.dof_count);
    PLI_FREE(&b->host, b->tether_dense, b->statics.active_capacity);
    b->tether_first = b->tether_column = b->tether_touched = NULL;
    b->tether_weight = b->tether_matrix = b->tether_force = b->tether_dense = NULL;
    b->tether_capacity = 0;
    b->tether_entry_capacity = 0;
}

// ---- rows over active positions, whole blocks at a time ---------------------------------------------------------------------

static PliIndex block_of(const PliBody *b) { return b->statics.block > 1 ? b->statics.block : 1; }

static PliIndex accumulate(PliBody *b, PliIndex touched, PliIndex column, double weight)
{
    const PliIndex block = block_of(b), first = column / block * block;
    bool known = false;
    for (PliIndex t = touched; t-- > 0 && !known;) known = b->tether_touched[t] == first;
    if (!known) {
        b->tether_touched[touched++] = first;
        for (PliIndex c = 0; c < block; ++c) b->tether_dense[first + c] = 0.0;
    }
    b->tether_dense[column] += weight;
    return touched;
}

/// What was accumulated becomes the next tether. @return false: no room
static bool keep_tether(PliBody *b, PliIndex touched, const double matrix[6])
{
    const PliIndex block = block_of(b), j = b->system.tether_count;
    if (touched == 0 || j == b->tether_capacity ||
        b->tether_first[j] + (size_t)block * touched > b->tether_entry_capacity)
        return false;
    PliIndex at = b->tether_first[j];
    for (PliIndex t = 0; t < touched; ++t)
        for (PliIndex c = 0; c < block; ++c, ++at) {
            b->tether_column[at] = b->tether_touched[t] + c;
            b->tether_weight[at] = b->tether_dense[b->tether_touched[t] + c];
        }
    memcpy(b->tether_matrix + 6 * (size_t)j, matrix, 6 * sizeof *matrix);
    b->tether_first[j + 1] = at;
    b->system.tether_count++;
    return true;
}

static void tethers_of_tools(PliBody *b)
{
    PliContact *c = b->contact;
    b->system.tether_count = b->host_tethers;
    for (PliIndex i = 0; i < c->count; ++i) {
        double matrix[6];
        if (!pli_contact_tether(c, i, matrix)) continue;
        PliIndex touched = 0;
        for (PliIndex k = c->first[i]; k < c->first[i + 1]; ++k)
            touched = accumulate(b, touched, c->column[k], c->weight[k]);
        if (!keep_tether(b, touched, matrix)) pli_contact_bar(c, i);
    }
}

void pli_body_press(void *self, double *f)
{
    PliBody *b = self;
    pli_contact_add_pressing(b->contact, f);
}

const double *pli_body_press_tethers(void *self, double length)
{
    PliBody *b = self;
    memset(b->tether_force, 0, 3 * (size_t)b->host_tethers * sizeof *b->tether_force);
    double *f = b->tether_force + 3 * (size_t)b->host_tethers;
    for (PliIndex i = 0; i < b->contact->count; ++i) { // in the order of tethers_of_tools
        double force[3];
        if (!pli_contact_pressing(b->contact, i, force)) continue;
        for (int c = 0; c < 3; ++c) *f++ = length * force[c];
    }
    return b->tether_force;
}

bool pli_body_foresee(void *self, const double *answer, double *free)
{
    PliBody *b = self;
    if (b->host_tethers || !pli_contact_foresee(b->contact, b->system.tether_count, answer, free, b->tether_force))
        return false;
    tethers_of_tools(b);
    return true;
}

bool pli_body_settle(void *self, const double *dv, bool solved, bool *matrix)
{
    PliBody *b = self;
    PliSettled settled = pli_contact_settle(b->contact, dv, solved);
    if (settled == PLI_SETTLED && pli_body_contact_extend(b, dv)) settled = PLI_SETTLE_MATRIX;
    *matrix = settled == PLI_SETTLE_MATRIX;
    if (*matrix) tethers_of_tools(b);
    return settled == PLI_SETTLED;
}

void pli_body_unsettle(void *self) { pli_contact_unsettle(((PliBody *)self)->contact); }

static void tethers_of_points(PliBody *b, const PliPointForces *p, double reach)
{
    const PliRows w = b->ops->transfer(b->self);
    for (PliIndex j = 0; j < p->count && (p->stiffness || p->damping); ++j) {
        double matrix[6];
        for (size_t c = 0; c < 6; ++c)
            matrix[c] = (p->stiffness ? reach * reach * p->stiffness[6 * (size_t)j + c] : 0.0) +
                        (p->damping ? reach * p->damping[6 * (size_t)j + c] : 0.0);
        PliIndex touched = 0;
        for (PliIndex k = p->first[j]; k < p->first[j + 1]; ++k)
            for (PliIndex e = w.first[p->dof[k]]; e < w.first[p->dof[k] + 1]; ++e)
                touched = accumulate(b, touched, b->live.position[w.column[e]], p->weight[k] * w.weight[e]);
        (void)keep_tether(b, touched, matrix);
    }
}

static void ask_points(PliBody *b, const double *x, const double *v)
{
    b->points = (PliPointForces){ 0 };
    b->state->points(x, v, &b->points, b->state->points_user);
    b->points_ready = true; // until the first force of the step
}

// Hosts adapt first and advance later: what acted when the body was judged acts in the step as well, if nothing moved in between.
void pli_body_points_keep(PliBody *b, const PliState *s)
{
    const size_t n = 3 * (size_t)b->statics.dof_count;
    const size_t live = 3 * (size_t)(b->system.active_count + b->system.slave_count);
    b->points_kept = b->points_ready;
    b->force_kept = b->system.force_ready;
    b->points_ready = b->system.force_ready = false;
    b->foreseen = b->foreseen && !b->force_kept;
    if (b->force_kept) memcpy(b->kept_f, b->live.f, live * sizeof *b->kept_f);
    if (!b->points_kept && !b->force_kept) return;
    memcpy(b->points_at, s->x, n * sizeof *s->x);
    memcpy(b->points_at + n, s->v, n * sizeof *s->v);
    b->points_by = s->points, b->points_user = s->points_user;
}

void pli_body_points_recall(PliBody *b, const PliState *s)
{
    const size_t n = 3 * (size_t)b->statics.dof_count;
    const bool same = (b->points_kept || b->force_kept) && memcmp(b->points_at, s->x, n * sizeof *s->x) == 0 &&
                      memcmp(b->points_at + n, s->v, n * sizeof *s->v) == 0;
    if (same && b->points_kept && s->points == b->points_by && s->points_user == b->points_user) b->points_ready = true;
    if (same && b->force_kept) {
        memcpy(b->live.f, b->kept_f, 3 * (size_t)(b->system.active_count + b->system.slave_count) * sizeof *b->kept_f);
        b->system.force_ready = true;
    }
    b->points_kept = b->force_kept = false;
}

void pli_body_tethers_begin(PliBody *b, double reach)
{
    PliSystem *sys = &b->system;
    sys->tether_count = 0;
    if (b->state->points && !b->points_ready) ask_points(b, b->full_x, b->full_v);
    if (!b->choice.implicit || !b->tether_first) return;
    b->tether_first[0] = 0;
    if (b->state->points)
        for (const PliPointForces *p = &b->points; p; p = p->next) tethers_of_points(b, p, reach);
    b->host_tethers = sys->tether_count;
    if (b->tool_count) {
        pli_contact_predict(b->contact, b->live.x, b->live.v);
        tethers_of_tools(b);
    }
    sys->tether_first = b->tether_first, sys->tether_column = b->tether_column;
    sys->tether_weight = b->tether_weight, sys->tether_matrix = b->tether_matrix;
}

// The stiffness of points, pulled to active coefficients and divided by their masses; damping the same way.
double pli_body_points_step(PliBody *b, double share)
{
    if (!b->state->points) return INFINITY;
    double stiffness = 0.0, damping = 0.0;
    memset(b->full_f, 0, 3 * (size_t)b->statics.dof_count * sizeof *b->full_f);
    for (const PliPointForces *p = &b->points; p; p = p->next)
        for (PliIndex j = 0; j < p->count && (p->stiffness || p->damping); ++j) {
            const double *k = p->stiffness ? p->stiffness + 6 * (size_t)j : NULL;
            const double *c = p->damping ? p->damping + 6 * (size_t)j : NULL;
            for (PliIndex e = p->first[j]; e < p->first[j + 1]; ++e) {
                double *f = b->full_f + 3 * (size_t)p->dof[e], w = fabs(p->weight[e]);
                if (k) f[0] += w * (k[0] + k[1] + k[2]);
                if (c) f[1] += w * (c[0] + c[1] + c[2]);
            }
        }
    pli_body_reduce(b, b->full_f);
    for (PliIndex i = 0; i < b->system.active_count; ++i) {
        const double *f = b->full_f + 3 * (size_t)b->live.dof[i];
        stiffness = fmax(stiffness, f[0] * b->live.inv_mass[i]), damping = fmax(damping, f[1] * b->live.inv_mass[i]);
    }
    const double most = 0.5 * damping + sqrt(0.25 * damping * damping + stiffness);
    return most > 0.0 ? 2.0 * share / most : INFINITY;
}

static void add_points(const PliBody *b, const PliPointForces *p, double h, double *f)
{
    for (PliIndex j = 0; j < p->count; ++j) {
        double force[3];
        v3_copy(force, p->force + 3 * (size_t)j);
        if (h > 0.0 && p->stiffness) {
            const double *q = p->stiffness + 6 * (size_t)j;
            double u[3] = { 0.0, 0.0, 0.0 };
            for (PliIndex k = p->first[j]; k < p->first[j + 1]; ++k)
                v3_madd(u, p->weight[k], b->full_v + 3 * (size_t)p->dof[k]);
            force[0] -= h * (q[0] * u[0] + q[5] * u[1] + q[4] * u[2]);
            force[1] -= h * (q[5] * u[0] + q[1] * u[1] + q[3] * u[2]);
            force[2] -= h * (q[4] * u[0] + q[3] * u[1] + q[2] * u[2]);
        }
        for (PliIndex k = p->first[j]; k < p->first[j + 1]; ++k)
            v3_madd(f + 3 * (size_t)p->dof[k], p->weight[k], force);
    }
}

void pli_body_points_add(PliBody *b, double h, double *f)
{
    if (!b->points_ready) ask_points(b, b->full_x, b->full_v);
    b->points_ready = false;
    for (const PliPointForces *p = &b->points; p; p = p->next) add_points(b, p, b->choice.implicit ? h : 0.0, f);
}

void pli_body_points_judge(PliBody *b, const double *x, const double *v, double *f)
{
    if (!b->points_ready) ask_points(b, x, v);
    for (const PliPointForces *p = &b->points; p; p = p->next) add_points(b, p, 0.0, f);
}
