/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "contact/contact.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

PliContact *pli_contact_create(const PliHost *host, PliIndex point_capacity)
{
    PliContact *c = PLI_NEW(host, 1, PliContact);
    if (!c) return NULL;
    c->host = *host;
    c->capacity = point_capacity;
    c->entry_capacity = point_capacity * 24;
    c->point = PLI_NEW(host, point_capacity, PliIndex);
    c->tool_of = PLI_NEW(host, point_capacity, uint8_t);
    c->first = PLI_NEW(host, (size_t)point_capacity + 1, PliIndex);
    c->column = PLI_NEW(host, c->entry_capacity, PliIndex);
    c->weight = PLI_NEW(host, c->entry_capacity, double);
    c->compliance = PLI_NEW(host, point_capacity, double);
    c->offset = PLI_NEW(host, 3 * (size_t)point_capacity, double);
    c->area = PLI_NEW(host, point_capacity, double);
    c->allowed = PLI_NEW(host, point_capacity, double);
    c->given = PLI_NEW(host, 4 * (size_t)point_capacity, double);
    c->round = PLI_NEW(host, 4 * (size_t)point_capacity, double);
    c->pressed = PLI_NEW(host, point_capacity, double);
    c->ticks = 1, c->enough = 0.01;
    c->plane = PLI_NEW(host, 4 * (size_t)point_capacity, double);
    c->press = PLI_NEW(host, point_capacity, PliPress);
    c->grip = PLI_NEW(host, point_capacity, PliGrip);
    if (!c->point || !c->tool_of || !c->first || !c->column || !c->weight || !c->compliance || !c->offset || !c->area ||
        !c->allowed || !c->given || !c->round || !c->pressed || !c->plane || !c->press || !c->grip) {
        pli_contact_destroy(c);
        return NULL;
    }
    return c;
}

void pli_contact_destroy(PliContact *c)
{
    if (!c) return;
    PliHost host = c->host;
    PLI_FREE(&host, c->point, c->capacity);
    PLI_FREE(&host, c->tool_of, c->capacity);
    PLI_FREE(&host, c->first, (size_t)c->capacity + 1);
    PLI_FREE(&host, c->column, c->entry_capacity);
    PLI_FREE(&host, c->weight, c->entry_capacity);
    PLI_FREE(&host, c->compliance, c->capacity);
    PLI_FREE(&host, c->offset, 3 * (size_t)c->capacity);
    PLI_FREE(&host, c->area, c->capacity);
    PLI_FREE(&host, c->allowed, c->capacity);
    PLI_FREE(&host, c->given, 4 * (size_t)c->capacity);
    PLI_FREE(&host, c->round, 4 * (size_t)c->capacity);
    PLI_FREE(&host, c->pressed, c->capacity);
    PLI_FREE(&host, c->plane, 4 * (size_t)c->capacity);
    PLI_FREE(&host, c->press, c->capacity);
    PLI_FREE(&host, c->grip, c->capacity);
    PLI_FREE(&host, c, 1);
}

// Tools are where they are when the step begins and move with their velocity during it.
double pli_tools_distance(const PliTool *tool, int count, const double p[3])
{
    double nearest = INFINITY, normal[3];
    for (int t = 0; t < count; ++t) nearest = fmin(nearest, pli_tool_distance(&tool[t], 0.0, p, normal));
    return nearest;
}

double pli_tool_distance(const PliTool *tool, double t, const double p[3], double normal[3])
{
    double d[3], at[3];
    v3_copy(at, tool->position);
    v3_madd(at, t, tool->velocity);
    v3_sub(d, p, at);
    if (tool->shape == PLI_TOOL_PLANE) {
        v3_copy(normal, tool->other);
        return v3_dot(d, tool->other);
    }
    if (tool->shape == PLI_TOOL_CAPSULE) {
        double axis[3];
        v3_sub(axis, tool->other, tool->position);
        const double length2 = v3_dot(axis, axis);
        double s = length2 > 0.0 ? v3_dot(d, axis) / length2 : 0.0;
        s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
        v3_madd(d, -s, axis);
    }
    const double r = v3_norm(d);
    if (r > 0.0) {
        for (int k = 0; k < 3; ++k) normal[k] = d[k] / r;
    } else {
        normal[0] = 0.0, normal[1] = 1.0, normal[2] = 0.0;
    }
    return r - tool->radius;
}

void pli_contact_begin(PliContact *c, const double *inv_mass, double dt)
{
    c->inv_mass = inv_mass;
    c->dt = dt;
    memset(c->impulse, 0, sizeof c->impulse);
    memset(c->spin, 0, sizeof c->spin);
    pli_contact_begin_stage(c, &(PliStage){ 0.0, dt, dt, false });
}

void pli_contact_begin_stage(PliContact *c, const PliStage *stage)
{
    c->count = 0;
    c->first[0] = 0;
    c->stage = *stage;
    c->round_time = 0.0;
}

void pli_contact_point(const PliContact *c, PliIndex i, const double *x, double p[3])
{
    v3_copy(p, c->offset + 3 * (size_t)i);
    for (PliIndex k = c->first[i]; k < c->first[i + 1]; ++k) v3_madd(p, c->weight[k], x + 3 * (size_t)c->column[k]);
}

/// Of a point's weights, the part on coefficients that move, below which it counts as fixed. What pushes a point by d moves the
/// coefficients it follows by up to d over that part: a point that follows one by rounding only sent it off at 1e15 m/s.
static const double LEAST_FREE = 0.05;

bool pli_contact_add(PliContact *c, PliIndex point, int tool, const PliIndex *column, const double *weight,
                     PliIndex entries, const double offset[3], double area, const double *x)
{
    const PliIndex i = c->count, at = c->first[i];
    if (i == c->capacity || at + entries > c->entry_capacity) return false;
    double compliance = 0.0, all = 0.0, free = 0.0;
    for (PliIndex k = 0; k < entries; ++k) {
        c->column[at + k] = column[k];
        c->weight[at + k] = weight[k];
        compliance += weight[k] * weight[k] * c->inv_mass[column[k]];
        all += fabs(weight[k]);
        if (c->inv_mass[column[k]] > 0.0) free += fabs(weight[k]);
    }
    if (!(free > LEAST_FREE * all)) return true; // hangs on fixed coefficients: nothing can move it
    c->point[i] = point;
    c->tool_of[i] = (uint8_t)tool;
    c->compliance[i] = compliance;
    v3_copy(c->offset + 3 * (size_t)i, offset);
    c->area[i] = area;
    c->first[i + 1] = at + entries;
    const PliGrip *grip = c->ticks > 1 ? pli_contact_grip(c, point, tool) : NULL;
    c->pressed[i] = grip ? grip->pressure : 0.0;
    memset(c->given + 4 * (size_t)i, 0, 4 * sizeof *c->given);
    memset(c->round + 4 * (size_t)i, 0, 4 * sizeof *c->round);
    double p[3], n[3];
    pli_contact_point(c, i, x, p);
    const double gap = pli_tool_distance(&c->tool[tool], c->stage.start, p, n);
    c->allowed[i] = gap < 0.0 ? -gap : 0.0;
    c->count++;
    return true;
}

void pli_contact_velocity(const PliContact *c, PliIndex i, const double *v, double u[3])
{
    for (int d = 0; d < 3; ++d) u[d] = -c->tool[c->tool_of[i]].velocity[d];
    for (PliIndex e = c->first[i]; e < c->first[i + 1]; ++e) v3_madd(u, c->weight[e], v + 3 * (size_t)c->column[e]);
}

void pli_contact_arm(const PliContact *c, PliIndex i, double t, const double p[3], double arm[3])
{
    const PliTool *tool = &c->tool[c->tool_of[i]];
    v3_sub(arm, p, tool->position);
    v3_madd(arm, -t, tool->velocity);
}

void pli_contact_give(PliContact *c, int tool, const double arm[3], const double impulse[3])
{
    double spin[3];
    v3_cross(spin, arm, impulse);
    v3_add(c->impulse + 3 * tool, c->impulse + 3 * tool, impulse);
    v3_add(c->spin + 3 * tool, c->spin + 3 * tool, spin);
}

// ---- explicit ------------------------------------------------------------------------------------------------------------

void pli_contact_add_force(void *self, double t, double h, const double *x, const double *v, double *f)
{
    PliContact *c = self;
    for (PliIndex i = 0; i < c->count; ++i) {
        const PliTool *tool = &c->tool[c->tool_of[i]];
        const double k = tool->stiffness * c->area[i];
        if (k == 0.0) continue;
        double p[3], n[3];
        pli_contact_point(c, i, x, p);
        const double gap = pli_tool_distance(tool, t, p, n);
        if (gap >= 0.0) continue;
        double force[3] = { -k * gap * n[0], -k * gap * n[1], -k * gap * n[2] };
        if (tool->friction > 0.0) {
            double u[3];
            pli_contact_velocity(c, i, v, u);
            v3_madd(u, -v3_dot(u, n), n);
            const double speed = v3_norm(u), most = -tool->friction * k * gap;
            const double stick = speed / (c->compliance[i] * h); // force that stops the point in this substep
            if (speed > 0.0) v3_madd(force, -fmin(stick, most) / speed, u);
        }
        for (PliIndex e = c->first[i]; e < c->first[i + 1]; ++e)
            v3_madd(f + 3 * (size_t)c->column[e], c->weight[e], force);
        v3_scale(force, -h);
        pli_contact_arm(c, i, t, p, p);
        pli_contact_give(c, c->tool_of[i], p, force);
    }
}

/// Changes the velocity of the point by `change`, and the positions with it.
static void push(PliContact *c, PliIndex i, double h, const double change[3], double *x, double *v)
{
    const double s = 1.0 / c->compliance[i];
    for (PliIndex e = c->first[i]; e < c->first[i + 1]; ++e) {
        const double w = s * c->weight[e] * c->inv_mass[c->column[e]];
        v3_madd(x + 3 * (size_t)c->column[e], w * h, change);
        v3_madd(v + 3 * (size_t)c->column[e], w, change);
    }
}

/// Whether it did in this round of rates, before this substep, or in the last one.
static bool has_pressed(const PliContact *c, PliIndex i)
{
    return c->round[4 * (size_t)i] > 0.0 || c->pressed[i] > 0.0;
}

/// Books what the points were given in this substep. Drag has already slowed its velocity: it would have slowed what the impulse gives
/// as well, which therefore is larger.
static void book(PliContact *c, double t, double h, const double *x)
{
    for (PliIndex i = 0; i < c->count; ++i) {
        const double *given = c->given + 4 * (size_t)i, *n = c->plane + 4 * (size_t)i;
        double p[3], impulse[3];
        if (given[0] == 0.0 && !has_pressed(c, i)) continue; // there is no friction without pressure
        for (int d = 0; d < 3; ++d) impulse[d] = -(1.0 + h * c->drag) * (given[0] * n[d] + given[1 + d]);
        pli_contact_point(c, i, x, p);
        pli_contact_arm(c, i, t, p, p);
        pli_contact_give(c, c->tool_of[i], p, impulse);
    }
}

/// The plane a point must not pass in this substep: the one that touches the tool next to where the point was when it began. Pressed
/// points drift by as much as they are dented before they are pushed back, and the normals of where they drifted to pushed them
/// sideways (2 % of the force on a held ball) or out at the far side.
static void find_plane(PliContact *c, PliIndex i, double t, double h, const double *x, const double *v)
{
    const PliTool *tool = &c->tool[c->tool_of[i]];
    double p[3], u[3], *plane = c->plane + 4 * (size_t)i;
    pli_contact_point(c, i, x, p);
    pli_contact_velocity(c, i, v, u);
    v3_madd(p, -h, u); // seen from the tool, which stays where it is at t
    plane[3] = pli_tool_distance(tool, t, p, plane);
    plane[3] -= v3_dot(plane, p);
}

double pli_cone_share(const double before[3], const double wanted[3], double most)
{
    double all[3];
    v3_add(all, before, wanted);
    if (v3_norm(all) <= most) return 1.0;
    const double size = v3_norm(wanted), along = v3_dot(before, wanted) / size;
    return fmax(0.0, (sqrt(fmax(0.0, along * along + most * most - v3_dot(before, before))) - along) / size);
}

/// One point of one pass. @return by how much its velocity changed, m/s
static double correct_point(PliContact *c, PliIndex i, double h, double left, double *x, double *v)
{
    const PliTool *tool = &c->tool[c->tool_of[i]];
    double p[3], *given = c->given + 4 * (size_t)i;
    const double *n = c->plane + 4 * (size_t)i, *round = c->round + 4 * (size_t)i;
    pli_contact_point(c, i, x, p);
    const double gap = n[3] + v3_dot(n, p) + c->allowed[i] * left;
    if (gap >= 0.0 && given[0] == 0.0 && (tool->friction == 0.0 || !has_pressed(c, i))) return 0.0;
    const double stop = fmax(-gap / h, -given[0] * c->compliance[i]); // never pulls: takes back at most what it gave
    double change[3] = { stop * n[0], stop * n[1], stop * n[2] };
    given[0] += stop / c->compliance[i];
    if (tool->friction > 0.0) {
        double u[3], held[3];
        pli_contact_velocity(c, i, v, u);
        v3_madd(u, -v3_dot(u, n), n);
        v3_copy(held, given + 1);
        v3_madd(held, -1.0 / c->compliance[i], u); // the impulse that would stop the point, cut to Coulomb's cone
        const double pressed = fmax(round[0] + given[0], c->pressed[i] * c->round_time);
        v3_scale(held, pli_cone_share(round + 1, held, tool->friction * pressed));
        for (int k = 0; k < 3; ++k) change[k] += (held[k] - given[1 + k]) * c->compliance[i];
        v3_copy(given + 1, held);
    }
    push(c, i, h, change, x, v);
    return v3_norm(change);
}

/// What the last substep gave joins its round; a new round begins with nothing, and knows how hard the last one pressed.
static void count_round(PliContact *c, double h)
{
    const bool begins = c->tick == 0 && c->round_time > 0.0; // and is not the first of the step
    for (PliIndex i = 0; i < c->count; ++i) {
        double *round = c->round + 4 * (size_t)i;
        for (int k = 0; k < 4; ++k) round[k] += c->given[4 * (size_t)i + k];
        if (!begins) continue;
        c->pressed[i] = round[0] / c->round_time;
        memset(round, 0, 4 * sizeof *round);
    }
    c->round_time = c->ticks * h;
}

void pli_contact_correct(void *self, double t, double h, double *x, double *v)
{
    enum { PASSES = 10 };
    PliContact *c = self;
    const double left = fmax(0.0, 1.0 - t / c->dt); // part of the step still to come
    if (c->ticks > 1) count_round(c, h);
    memset(c->given, 0, 4 * (size_t)c->count * sizeof *c->given);
    for (PliIndex i = 0; i < c->count; ++i) find_plane(c, i, t, h, x, v);
    double first = 0.0;
    for (int pass = 0; pass < PASSES; ++pass) {
        double largest = 0.0;
        for (PliIndex i = 0; i < c->count; ++i)
            if (c->tool[c->tool_of[i]].stiffness == 0.0) largest = fmax(largest, correct_point(c, i, h, left, x, v));
        if (pass == 0) first = largest;
        if (largest <= c->enough * first) break;
    }
    book(c, t, h, x);
}

/// How hard points pressed in the last round of a step, for the first of the next.
static void remember(PliContact *c)
{
    c->grip_count = 0;
    for (PliIndex i = 0; i < c->count; ++i) {
        const double *round = c->round + 4 * (size_t)i, *given = c->given + 4 * (size_t)i;
        PliGrip *g = &c->grip[c->grip_count];
        if (!(round[0] + given[0] > 0.0)) continue;
        g->point = c->point[i], g->tool = c->tool_of[i], g->pressure = (round[0] + given[0]) / c->round_time;
        for (int d = 0; d < 3; ++d) g->friction[d] = (round[1 + d] + given[1 + d]) / c->round_time;
        c->grip_count++;
    }
}

void pli_contact_end(PliContact *c, bool done)
{
    if (c->implicit && done) pli_contact_book(c);
    if (!c->implicit && done && c->ticks > 1) remember(c);
    for (int t = 0; t < c->tool_count; ++t)
        for (int d = 0; d < 3; ++d) {
            c->tool[t].force[d] = c->impulse[3 * t + d] / c->dt;
            c->tool[t].torque[d] = c->spin[3 * t + d] / c->dt;
        }
}
