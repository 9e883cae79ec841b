/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "solver/system.h"

double pli_damped_step(double h, double beta)
{
    const double z = beta / h; // damping ratio at the highest frequency, omega = 2/h
    return h * (sqrt(1.0 + z * z) - z);
}

// internal forces of the elements that tick in substep k, each scaled to its own period
static void add_tick_forces(PliSystem *s, int k, const double *v)
{
    const size_t values = 3 * (size_t)(s->active_count + s->slave_count);
    memset(s->f, 0, values * sizeof *s->f);
    if (s->rate_count <= 1) {
        s->force->add_force(s->force_self, s->x, v, s->f);
        return;
    }
    // slowest of those that tick first: what was summed so far is doubled on the way down, so rate g ends up times 2^g
    int slowest = 0;
    while (slowest + 1 < s->rate_count && k % (2 << slowest) == 0) ++slowest;
    for (int g = slowest; g >= 0; --g) {
        s->force->add_force_at_rate(s->force_self, g, s->x, v, s->f);
        if (g > 0)
            for (size_t i = 0; i < values; ++i) s->f[i] *= 2.0;
    }
}

// returns the largest change of speed, m/s
static double kick(PliSystem *s, double h)
{
    const double drag = 1.0 / (1.0 + h * s->mass_damping);
    double most = 0.0;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const double w = s->inv_mass[i];
        if (w == 0.0) continue;
        const double *f = s->f + 3 * (size_t)i;
        double *v = s->v + 3 * (size_t)i, g[3];
        if (s->filter) {
            // gravity bypasses the filter, which would make heavy bodies fall slower
            const double *a = s->filter + 9 * (size_t)i;
            for (int d = 0; d < 3; ++d) g[d] = a[3 * d] * f[0] + a[3 * d + 1] * f[1] + a[3 * d + 2] * f[2];
            f = g;
        }
        double change = 0.0;
        for (int d = 0; d < 3; ++d) {
            const double dv = h * w * (f[d] + s->load[i] * s->gravity[d]);
            v[d] = (v[d] + dv) * drag;
            change += dv * dv;
        }
        if (change > most) most = change;
    }
    return sqrt(most);
}

static void drift(PliSystem *s, double h)
{
    const size_t n = 3 * (size_t)s->active_count;
    for (size_t i = 0; i < n; ++i) s->x[i] += h * s->v[i];
}

// Velocities are those of the middle of the last drift: a kick of internal forces spans half of it and half of the coming one. Without
// that, every change of the substep would change the energy. Other forces give the impulse of the step, whatever the substeps.
static void centre_kick(PliSystem *s, double h)
{
    if (!(s->last_drift > 0.0) || s->last_drift == h) return;
    const double share = 0.5 * (1.0 + s->last_drift / h);
    for (size_t i = 0; i < 3 * (size_t)(s->active_count + s->slave_count); ++i) s->f[i] *= share;
}

static double substep(PliSystem *s, int k, double t, double h)
{
    const bool viscous = s->material_damping > 0.0;
    const size_t n = 3 * (size_t)s->active_count;
    pli_system_spread(s, s->x);
    if (viscous || s->add_force) pli_system_spread(s, s->v);
    add_tick_forces(s, k, viscous ? s->v : NULL);
    centre_kick(s, h);
    if (s->add_force) s->add_force(s->self, t, h, s->x, s->v, s->f);
    pli_system_gather(s, s->f);
    if (s->f_ext)
        for (size_t i = 0; i < n; ++i) s->f[i] += s->f_ext[i];
    const double change = kick(s, h);
    drift(s, h);
    if (s->correct) s->correct(s->self, t + h, h, s->x, s->v);
    return change;
}

int pli_explicit_step(PliSystem *s, double dt, int substeps)
{
    // a block is one round of all rates; time runs in eighths of a block, so that halved blocks stay aligned
    const int period = 1 << (s->rate_count - 1), total = substeps / period * 8;
    int halvings = s->halvings, made = 0;
    for (int eighths = 0; eighths < total;) {
        const double h = dt / substeps / (1 << halvings), start = dt * eighths / total;
        double most = 0.0;
        for (int k = 0; k < period; ++k, ++made) {
            most = fmax(most, substep(s, k, start + k * h, h));
            s->last_drift = h;
        }
        eighths += 8 >> halvings;
        if (s->speed_change <= 0.0) continue;
        if (most > s->speed_change && halvings < 3)
            ++halvings;
        else if (most < 0.25 * s->speed_change && halvings > 0 && eighths % (16 >> halvings) == 0)
            --halvings;
    }
    s->halvings = halvings;
    pli_system_spread(s, s->x);
    pli_system_spread(s, s->v);
    return made;
}
