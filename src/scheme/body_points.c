/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Forces of the host on single points. Their stiffness enters the matrix of an implicit step exactly, as rows over the active
// coefficients. Rejected: a diagonal matrix that is nowhere softer, which on frames weighs several times the body itself (a point
// hangs on a dozen frames, each with four coefficients of like weight) and lets bodies sink through what holds them.
#include <string.h>

#include "base/vec.h"
#include "scheme/body.h"

enum { ENTRIES = 96 }; ///< active coefficients per point, on average

PliStatus pli_body_reserve_points(PliBody *b, PliIndex count, PliError *err)
{
    pli_body_points_free(b);
    b->spring_capacity = count;
    b->spring_entry_capacity = (size_t)count * ENTRIES;
    b->spring_first = PLI_NEW(&b->host, (size_t)count + 1, PliIndex);
    b->spring_column = PLI_NEW(&b->host, b->spring_entry_capacity, PliIndex);
    b->spring_weight = PLI_NEW(&b->host, b->spring_entry_capacity, double);
    b->spring_matrix = PLI_NEW(&b->host, 6 * (size_t)count, double);
    b->spring_touched = PLI_NEW(&b->host, b->fixed.dof_count, PliIndex);
    b->spring_dense = PLI_NEW(&b->host, b->fixed.active_capacity, double);
    if (b->spring_first && b->spring_column && b->spring_weight && b->spring_matrix && b->spring_touched && b->spring_dense) return PLI_OK;
    pli_body_points_free(b);
    return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for forces on %u points", count);
}

void pli_body_points_free(PliBody *b)
{
    PLI_FREE(&b->host, b->spring_first, (size_t)b->spring_capacity + 1);
    PLI_FREE(&b->host, b->spring_column, b->spring_entry_capacity);
    PLI_FREE(&b->host, b->spring_weight, b->spring_entry_capacity);
    PLI_FREE(&b->host, b->spring_matrix, 6 * (size_t)b->spring_capacity);
    PLI_FREE(&b->host, b->spring_touched, b->fixed.dof_count);
    PLI_FREE(&b->host, b->spring_dense, b->fixed.active_capacity);
    b->spring_first = b->spring_column = b->spring_touched = NULL;
    b->spring_weight = b->spring_matrix = b->spring_dense = NULL;
    b->spring_capacity = 0;
    b->spring_entry_capacity = 0;
}

// The row of a point over active positions, whole groups at a time. @return entries written, 0: no room
static PliIndex compose(PliBody *b, PliRows w, const PliPointForces *p, PliIndex j, PliIndex at)
{
    const PliIndex group = b->fixed.group > 1 ? b->fixed.group : 1;
    PliIndex touched = 0; // groups
    for (PliIndex k = p->first[j]; k < p->first[j + 1]; ++k)
        for (PliIndex e = w.first[p->dof[k]]; e < w.first[p->dof[k] + 1]; ++e) {
            const PliIndex column = b->live.position[w.column[e]], first = column / group * group;
            bool known = false;
            for (PliIndex t = touched; t-- > 0 && !known;) known = b->spring_touched[t] == first;
            if (!known) {
                b->spring_touched[touched++] = first;
                for (PliIndex c = 0; c < group; ++c) b->spring_dense[first + c] = 0.0;
            }
            b->spring_dense[column] += p->weight[k] * w.weight[e];
        }
    if (at + group * touched > b->spring_entry_capacity) return 0;
    for (PliIndex t = 0; t < touched; ++t)
        for (PliIndex c = 0; c < group; ++c) {
            b->spring_column[at + group * t + c] = b->spring_touched[t] + c;
            b->spring_weight[at + group * t + c] = b->spring_dense[b->spring_touched[t] + c];
        }
    return group * touched;
}

void pli_body_points_begin(PliBody *b, double dt)
{
    const PliState *s = b->state;
    if (!b->points_ready) s->points(b->full_x, b->full_v, &b->points, s->points_user);
    b->points_ready = true; // until the first force of the step
    const PliPointForces *p = &b->points;
    if (b->def.integrator != PLI_IMPLICIT || !b->spring_first || (!p->stiffness && !p->damping)) return;
    const PliRows w = b->ops->levels(b->self);
    PliIndex count = 0;
    b->spring_first[0] = 0;
    for (PliIndex j = 0; j < p->count && count < b->spring_capacity; ++j) {
        const PliIndex entries = compose(b, w, p, j, b->spring_first[count]);
        if (entries == 0) continue;
        for (size_t c = 0; c < 6; ++c)
            b->spring_matrix[6 * (size_t)count + c] = (p->stiffness ? dt * dt * p->stiffness[6 * (size_t)j + c] : 0.0) + (p->damping ? dt * p->damping[6 * (size_t)j + c] : 0.0);
        b->spring_first[count + 1] = b->spring_first[count] + entries;
        count++;
    }
    PliSystem *sys = &b->system;
    sys->spring_count = count;
    sys->spring_first = b->spring_first, sys->spring_column = b->spring_column;
    sys->spring_weight = b->spring_weight, sys->spring_matrix = b->spring_matrix;
}

void pli_body_points_add(PliBody *b, double h, double *f)
{
    const PliState *s = b->state;
    const bool implicit = b->def.integrator == PLI_IMPLICIT;
    if (!b->points_ready) s->points(b->full_x, b->full_v, &b->points, s->points_user);
    if (h > 0.0) b->points_ready = false;
    const PliPointForces *p = &b->points;
    for (PliIndex j = 0; j < p->count; ++j) {
        double force[3];
        v3_copy(force, p->force + 3 * (size_t)j);
        if (implicit && h > 0.0 && p->stiffness) {
            const double *q = p->stiffness + 6 * (size_t)j;
            double u[3] = { 0.0, 0.0, 0.0 };
            for (PliIndex k = p->first[j]; k < p->first[j + 1]; ++k) v3_madd(u, p->weight[k], b->full_v + 3 * (size_t)p->dof[k]);
            force[0] -= h * (q[0] * u[0] + q[5] * u[1] + q[4] * u[2]);
            force[1] -= h * (q[5] * u[0] + q[1] * u[1] + q[3] * u[2]);
            force[2] -= h * (q[4] * u[0] + q[3] * u[1] + q[2] * u[2]);
        }
        for (PliIndex k = p->first[j]; k < p->first[j + 1]; ++k) v3_madd(f + 3 * (size_t)p->dof[k], p->weight[k], force);
    }
}
