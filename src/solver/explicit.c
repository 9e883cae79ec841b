/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "solver/system.h"

double pli_damped_step(double h, double beta)
{
    const double z = beta / h; // damping ratio at the highest frequency, omega = 2/h
    return h * (sqrt(1.0 + z * z) - z);
}

// internal forces of the groups that tick in substep k, each scaled to its own period
static void add_tick_forces(PliSystem *s, const PliTicks *ticks, int k, const double *v)
{
    const size_t values = 3 * (size_t)(s->active_count + s->slave_count);
    memset(s->f, 0, values * sizeof *s->f);
    if (ticks->group_count <= 1) {
        pli_elastic_add_force(s->elastic, s->x, v, s->f);
        return;
    }
    // slowest first: what was summed so far is doubled on the way down, so group g ends up times 2^g
    for (int g = ticks->group_count - 1; g >= 0; --g) {
        if (k % (1 << g) == 0) pli_elastic_add_force_range(s->elastic, ticks->first[g], ticks->first[g + 1], s->x, v, s->f);
        if (g > 0)
            for (size_t i = 0; i < values; ++i) s->f[i] *= 2.0;
    }
}

static void kick(PliSystem *s, double h)
{
    const double drag = 1.0 / (1.0 + h * s->mass_damping);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const double w = s->inv_mass[i];
        if (w == 0.0) continue;
        const double *f = s->f + 3 * (size_t)i;
        double *v = s->v + 3 * (size_t)i;
        for (int d = 0; d < 3; ++d) v[d] = (v[d] + h * w * (f[d] + s->load[i] * s->gravity[d])) * drag;
    }
}

static void drift(PliSystem *s, double h)
{
    const size_t n = 3 * (size_t)s->active_count;
    for (size_t i = 0; i < n; ++i) s->x[i] += h * s->v[i];
}

void pli_explicit_step(PliSystem *s, const PliTicks *ticks, double dt, int substeps)
{
    const double h = dt / substeps;
    const bool viscous = s->material_damping > 0.0;
    const size_t n = 3 * (size_t)s->active_count;
    for (int k = 0; k < substeps; ++k) {
        pli_system_spread(s, s->x);
        if (viscous || s->add_force) pli_system_spread(s, s->v);
        add_tick_forces(s, ticks, k, viscous ? s->v : NULL);
        if (s->add_force) s->add_force(s->self, k * h, h, s->x, s->v, s->f);
        pli_system_gather(s, s->f);
        if (s->f_ext)
            for (size_t i = 0; i < n; ++i) s->f[i] += s->f_ext[i];
        kick(s, h);
        drift(s, h);
        if (s->correct) s->correct(s->self, (k + 1) * h, h, s->x, s->v);
    }
    pli_system_spread(s, s->x);
    pli_system_spread(s, s->v);
}
