/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Contact of an implicit step where it is known how points answer to forces on any of them: a small dense system in the forces alone.
// Point by point, each gets the force that its laws ask for while the others keep theirs (Gauss and Seidel, projected on Coulomb's
// cone), until none changes. Rounds of press.c then begin with those forces, and mostly end with them. Without this, sliding friction came
// close in twenty rounds, each with a solve, and where they ended it was half as much again as the law allows.
#include <math.h>

#include "base/vec.h"
#include "base/wide.h"
#include "contact/contact.h"

enum { SWEEPS = 300 };
static const double ENOUGH = 1e-5; ///< of all pressure: what forces may still change by in one sweep

typedef struct Condensed {
    const PliContact *c;
    const double *answer; ///< s/kg, [3 count, 3 count]
    double *change;       ///< m/s, of velocities under all forces
    double *force;        ///< N
    PliIndex count;
} Condensed;

/// u += the answer to three forces on one point; rows are columns.
PLI_WIDE static void add_answer(const double *answer, size_t n, const double f[3], double *u)
{
    const double a = f[0], b = f[1], c = f[2];
    for (size_t k = 0; k < n; ++k) u[k] += a * answer[k] + b * answer[n + k] + c * answer[2 * n + k];
}

static void push(const Condensed *q, PliIndex row, const double force[3])
{
    const size_t n = 3 * (size_t)q->count;
    double impulse[3] = { 0.0, 0.0, 0.0 };
    v3_madd(impulse, q->c->stage.length, force);
    add_answer(q->answer + 3 * (size_t)row * n, n, impulse, q->change);
}

/// The force that its laws ask for, the others being as they are. @return how much it changed, N
static double renew(const Condensed *q, PliIndex row, PliIndex i)
{
    const PliContact *c = q->c;
    const PliPress *s = &c->press[i];
    const double *n = s->normal, length = c->stage.length, reach = c->stage.reach;
    const double *own = q->answer + 9 * (size_t)row * q->count + 3 * (size_t)row;
    const double *u = q->change + 3 * (size_t)row;
    double *force = q->force + 3 * (size_t)row, slip[3], friction[3], a[3], trace = 0.0;
    for (size_t d = 0; d < 3; ++d) {
        const double *r = own + 3 * d * q->count;
        a[d] = v3_dot(r, n), trace += r[d];
    }
    const double across = length * v3_dot(a, n), along = length * trace - across, before = v3_dot(force, n),
                 gives = s->is_constraint ? 0.0 : 1.0 / s->stiffness, w = reach * across;
    const double pressure = fmax(0.0, (w * before - s->end - reach * v3_dot(n, u)) / (w + gives));
    // what the new pressure does to the slip of the point itself counts at once
    v3_copy(friction, force);
    v3_madd(friction, -before, n);
    v3_add(slip, s->start, u);
    v3_madd(slip, length * (pressure - before), a);
    v3_madd(slip, -v3_dot(slip, n), n);
    const double most = s->is_smooth ? 0.0 : c->tool[c->tool_of[i]].friction * pressure;
    if (most > 0.0) {
        v3_scale(friction, along / (along + gives / reach));
        v3_madd(friction, -1.0 / (along + gives / reach), slip);
        const double size = v3_norm(friction);
        if (size > most) v3_scale(friction, most / size);
    } else {
        friction[0] = friction[1] = friction[2] = 0.0;
    }
    v3_madd(friction, pressure, n);
    double more[3];
    v3_sub(more, friction, force);
    v3_copy(force, friction);
    const double change = v3_norm(more);
    if (change > 0.0) push(q, row, more);
    return change;
}

/// Multipliers and sets from a force and the motion that it goes with.
static void take(PliContact *c, PliIndex i, const double force[3], const double u[3])
{
    PliPress *s = &c->press[i];
    const double pressure = v3_dot(force, s->normal);
    double friction[3], slip[3];
    v3_copy(friction, force);
    v3_madd(friction, -pressure, s->normal);
    s->is_pressing = pressure > 0.0;
    s->share = 1.0;
    if (!s->is_pressing) return;
    if (s->is_constraint) {
        s->pressure = pressure;
        v3_copy(s->friction, friction);
    }
    v3_add(slip, s->start, u);
    v3_madd(slip, -v3_dot(slip, s->normal), s->normal);
    double stuck[3];
    v3_copy(stuck, s->friction);
    v3_madd(stuck, -c->stage.reach * s->stiffness, slip);
    const double most = c->tool[c->tool_of[i]].friction * pressure, size = v3_norm(stuck);
    if (size > most) s->share = most / size;
}

bool pli_contact_foresee(PliContact *c, PliIndex count, const double *answer, double *change, double *force)
{
    Condensed q = { c, answer, change, force, count };
    PliIndex row = 0;
    for (PliIndex i = 0; i < c->count; ++i) {
        const PliPress *s = &c->press[i];
        if (!s->is_pressing || s->is_barred) continue;
        if (row == count) return false;
        double *f = force + 3 * (size_t)row++;
        v3_copy(f, s->friction);
        v3_madd(f, s->pressure, s->normal);
    }
    if (row != count) return false;
    for (row = 0; row < count; ++row) push(&q, row, force + 3 * (size_t)row);
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        double changed = 0.0, all = 0.0;
        row = 0;
        for (PliIndex i = 0; i < c->count; ++i) {
            const PliPress *s = &c->press[i];
            if (!s->is_pressing || s->is_barred) continue;
            changed += renew(&q, row, i);
            all += v3_norm(force + 3 * (size_t)row++);
        }
        if (!isfinite(changed)) return false;
        if (changed <= ENOUGH * all) break;
    }
    row = 0;
    for (PliIndex i = 0; i < c->count; ++i) {
        if (!c->press[i].is_pressing || c->press[i].is_barred) continue;
        take(c, i, force + 3 * (size_t)row, change + 3 * (size_t)row);
        ++row;
    }
    c->carried = 0.0, c->rounds = 0;
    return true;
}
