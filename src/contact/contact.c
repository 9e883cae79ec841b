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
    c->touching = PLI_NEW(host, point_capacity, uint8_t);
    c->given = PLI_NEW(host, 4 * (size_t)point_capacity, double);
    c->law = PLI_NEW(host, PLI_CONTACT_LAW * (size_t)point_capacity, double);
    c->hold = PLI_NEW(host, 3 * (size_t)point_capacity, double);
    c->held = PLI_NEW(host, point_capacity, uint64_t);
    c->step = 1;
    if (!c->point || !c->tool_of || !c->first || !c->column || !c->weight || !c->compliance || !c->offset || !c->area ||
        !c->allowed || !c->touching || !c->given || !c->law || !c->hold || !c->held) {
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
    PLI_FREE(&host, c->touching, c->capacity);
    PLI_FREE(&host, c->given, 4 * (size_t)c->capacity);
    PLI_FREE(&host, c->law, PLI_CONTACT_LAW * (size_t)c->capacity);
    PLI_FREE(&host, c->hold, 3 * (size_t)c->capacity);
    PLI_FREE(&host, c->held, c->capacity);
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
    c->count = 0;
    c->first[0] = 0;
    c->inv_mass = inv_mass;
    c->dt = dt;
    c->step++;
    memset(c->impulse, 0, sizeof c->impulse);
}

static void candidate_point(const PliContact *c, PliIndex i, const double *x, double p[3])
{
    v3_copy(p, c->offset + 3 * (size_t)i);
    for (PliIndex k = c->first[i]; k < c->first[i + 1]; ++k) v3_madd(p, c->weight[k], x + 3 * (size_t)c->column[k]);
}

bool pli_contact_add(PliContact *c, PliIndex point, int tool, const PliIndex *column, const double *weight,
                     PliIndex entries, const double offset[3], double area, const double *x)
{
    const PliIndex i = c->count, at = c->first[i];
    if (i == c->capacity || at + entries > c->entry_capacity) return false;
    double compliance = 0.0;
    for (PliIndex k = 0; k < entries; ++k) {
        c->column[at + k] = column[k];
        c->weight[at + k] = weight[k];
        compliance += weight[k] * weight[k] * c->inv_mass[column[k]];
    }
    if (compliance == 0.0) return true; // hangs on fixed coefficients only: nothing can move it
    c->point[i] = point;
    c->tool_of[i] = (uint8_t)tool;
    c->compliance[i] = compliance;
    v3_copy(c->offset + 3 * (size_t)i, offset);
    c->area[i] = area;
    c->first[i + 1] = at + entries;
    double p[3], n[3];
    candidate_point(c, i, x, p);
    const double gap = pli_tool_distance(&c->tool[tool], 0.0, p, n);
    c->allowed[i] = gap < 0.0 ? -gap : 0.0;
    c->touching[i] = 0;
    c->count++;
    return true;
}

static double tool_stiffness(const PliContact *c, const PliTool *tool)
{
    return tool->stiffness > 0.0 ? tool->stiffness : c->stiffness;
}

static void candidate_velocity(const PliContact *c, PliIndex i, const double *v, double u[3])
{
    for (int d = 0; d < 3; ++d) u[d] = -c->tool[c->tool_of[i]].velocity[d];
    for (PliIndex e = c->first[i]; e < c->first[i + 1]; ++e) v3_madd(u, c->weight[e], v + 3 * (size_t)c->column[e]);
}

// ---- implicit ------------------------------------------------------------------------------------------------------------

/// How far the point is from where it took hold, along the surface; what is over `most` slid.
static void take_hold(PliContact *c, PliIndex i, const double p[3], const double n[3], double most, double stretch[3])
{
    const PliIndex point = c->point[i];
    const uint64_t tool = c->tool_of[i];
    double *hold = c->hold + 3 * (size_t)point, from[3];
    v3_sub(from, p, c->tool[tool].position);
    if (c->held[point] != 8 * (c->step - 1) + tool) v3_copy(hold, from);
    c->held[point] = 8 * c->step + tool;
    v3_sub(stretch, from, hold);
    v3_madd(stretch, -v3_dot(stretch, n), n);
    const double length = v3_norm(stretch);
    if (length <= most) return;
    v3_madd(hold, 1.0 - most / length, stretch);
    v3_scale(stretch, most / length);
}

void pli_contact_friction(const PliContact *c, PliIndex point, const PliTool *t, int tool, const double p[3],
                          const double n[3], double gap, double area, double force[3])
{
    if (!(t->friction > 0.0) || gap >= 0.0 || c->step == 0 || c->held[point] != 8 * c->step + (uint64_t)tool) return;
    double stretch[3];
    v3_sub(stretch, p, t->position);
    v3_sub(stretch, stretch, c->hold + 3 * (size_t)point);
    v3_madd(stretch, -v3_dot(stretch, n), n);
    const double length = v3_norm(stretch), most = -t->friction * gap;
    v3_madd(force, -tool_stiffness(c, t) * area * (length > most ? most / length : 1.0), stretch);
}

bool pli_contact_press(PliContact *c, PliIndex i, const double *x, const double *v, double matrix[6])
{
    const PliTool *tool = &c->tool[c->tool_of[i]];
    double p[3], *law = c->law + PLI_CONTACT_LAW * (size_t)i, *force = law, *n = law + 3, *u = law + 6;
    candidate_point(c, i, x, p);
    candidate_velocity(c, i, v, u);
    const double h = c->dt, gap = pli_tool_distance(tool, 0.0, p, n), rate = v3_dot(u, n), end = gap + h * rate;
    c->touching[i] = gap < 0.0 || end < 0.0;
    if (!c->touching[i]) return false;
    const double k = tool_stiffness(c, tool) * c->area[i];
    double stretch[3] = { 0.0, 0.0, 0.0 }, grip = 0.0;
    if (tool->friction > 0.0) {
        const double most = tool->friction * k * fmax(0.0, -gap);
        take_hold(c, i, p, n, most / k, stretch);
        v3_madd(stretch, h, u);
        v3_madd(stretch, -h * rate, n);
        const double length = v3_norm(stretch);
        grip = k * length > most ? most / length : k;
    }
    for (int d = 0; d < 3; ++d) force[d] = -k * end * n[d] - grip * stretch[d];
    law[9] = k, law[10] = grip;
    const double along = h * h * grip, across = h * h * k - along;
    matrix[0] = along + across * n[0] * n[0], matrix[1] = along + across * n[1] * n[1],
    matrix[2] = along + across * n[2] * n[2];
    matrix[3] = across * n[1] * n[2], matrix[4] = across * n[0] * n[2], matrix[5] = across * n[0] * n[1];
    return true;
}

static void add_pressing(PliContact *c, double *f)
{
    for (PliIndex i = 0; i < c->count; ++i)
        for (PliIndex e = c->first[i]; c->touching[i] && e < c->first[i + 1]; ++e)
            v3_madd(f + 3 * (size_t)c->column[e], c->weight[e], c->law + PLI_CONTACT_LAW * (size_t)i);
}

// what pressed at the end of the step is what the tools felt
static void book_pressing(PliContact *c, const double *v)
{
    for (PliIndex i = 0; i < c->count; ++i) {
        if (!c->touching[i]) continue;
        const double *law = c->law + PLI_CONTACT_LAW * (size_t)i, *n = law + 3;
        double change[3], force[3];
        candidate_velocity(c, i, v, change);
        v3_madd(change, -1.0, law + 6);
        v3_copy(force, law);
        v3_madd(force, -c->dt * (law[9] - law[10]) * v3_dot(change, n), n);
        v3_madd(force, -c->dt * law[10], change);
        v3_madd(c->impulse + 3 * c->tool_of[i], -c->dt, force);
    }
}

// ---- explicit ------------------------------------------------------------------------------------------------------------

void pli_contact_add_force(void *self, double t, double h, const double *x, const double *v, double *f)
{
    PliContact *c = self;
    if (c->implicit) {
        add_pressing(c, f);
        return;
    }
    for (PliIndex i = 0; i < c->count; ++i) {
        const PliTool *tool = &c->tool[c->tool_of[i]];
        const double k = tool_stiffness(c, tool) * c->area[i];
        if (k == 0.0) continue;
        double p[3], n[3];
        candidate_point(c, i, x, p);
        const double gap = pli_tool_distance(tool, t, p, n);
        if (gap >= 0.0) continue;
        double force[3] = { -k * gap * n[0], -k * gap * n[1], -k * gap * n[2] };
        if (tool->friction > 0.0) {
            double u[3];
            candidate_velocity(c, i, v, u);
            v3_madd(u, -v3_dot(u, n), n);
            const double speed = v3_norm(u), most = -tool->friction * k * gap;
            const double stick = speed / (c->compliance[i] * h); // force that stops the point in this substep
            if (speed > 0.0) v3_madd(force, -fmin(stick, most) / speed, u);
        }
        for (PliIndex e = c->first[i]; e < c->first[i + 1]; ++e)
            v3_madd(f + 3 * (size_t)c->column[e], c->weight[e], force);
        v3_madd(c->impulse + 3 * c->tool_of[i], -h, force);
    }
}

/// Changes the velocity of the point by `change`, the positions with it, and books the impulse.
static void push(PliContact *c, PliIndex i, double h, const double change[3], double *x, double *v)
{
    const double s = 1.0 / c->compliance[i];
    for (PliIndex e = c->first[i]; e < c->first[i + 1]; ++e) {
        const double w = s * c->weight[e] * c->inv_mass[c->column[e]];
        v3_madd(x + 3 * (size_t)c->column[e], w * h, change);
        v3_madd(v + 3 * (size_t)c->column[e], w, change);
    }
    v3_madd(c->impulse + 3 * c->tool_of[i], -s, change);
}

/// One point of one pass. @return by how much its velocity changed, m/s
static double correct_point(PliContact *c, PliIndex i, double t, double h, double left, double *x, double *v)
{
    const PliTool *tool = &c->tool[c->tool_of[i]];
    double p[3], n[3], *given = c->given + 4 * (size_t)i;
    candidate_point(c, i, x, p);
    const double gap = pli_tool_distance(tool, t, p, n) + c->allowed[i] * left;
    if (gap >= 0.0 && given[0] == 0.0) return 0.0;
    const double stop = fmax(-gap / h, -given[0] * c->compliance[i]); // never pulls: takes back at most what it gave
    double change[3] = { stop * n[0], stop * n[1], stop * n[2] };
    given[0] += stop / c->compliance[i];
    if (tool->friction > 0.0) {
        double u[3], held[3];
        candidate_velocity(c, i, v, u);
        v3_madd(u, -v3_dot(u, n), n);
        v3_copy(held, given + 1);
        v3_madd(held, -1.0 / c->compliance[i], u); // the impulse that would stop the point, cut to Coulomb's cone
        const double size = v3_norm(held), most = tool->friction * given[0];
        if (size > most) v3_scale(held, most / size);
        for (int k = 0; k < 3; ++k) change[k] += (held[k] - given[1 + k]) * c->compliance[i];
        v3_copy(given + 1, held);
    }
    push(c, i, h, change, x, v);
    return v3_norm(change);
}

void pli_contact_correct(void *self, double t, double h, double *x, double *v)
{
    enum { PASSES = 10 };
    PliContact *c = self;
    const double left = fmax(0.0, 1.0 - t / c->dt); // part of the step still to come
    memset(c->given, 0, 4 * (size_t)c->count * sizeof *c->given);
    double first = 0.0;
    for (int pass = 0; pass < PASSES; ++pass) {
        double largest = 0.0;
        for (PliIndex i = 0; i < c->count; ++i)
            if (tool_stiffness(c, &c->tool[c->tool_of[i]]) == 0.0)
                largest = fmax(largest, correct_point(c, i, t, h, left, x, v));
        if (pass == 0) first = largest;
        if (largest <= 0.01 * first) break;
    }
}

void pli_contact_end(PliContact *c, const double *v)
{
    if (c->implicit) book_pressing(c, v);
    for (int t = 0; t < c->tool_count; ++t)
        for (int d = 0; d < 3; ++d) c->tool[t].force[d] = c->impulse[3 * t + d] / c->dt;
}
