/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "base/loop.h"
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

enum { POINTS = 1024, PARTS = 64 }; ///< of a loop over points: in a part at least, and parts at most

typedef struct Move {
    PliSystem *s;
    double h;
    PliIndex grain;
    double most[PARTS]; ///< m2/s2, of each part
} Move;

static double kick_points(PliSystem *s, PliIndex first, PliIndex last, double h)
{
    const double drag = 1.0 / (1.0 + h * s->mass_damping);
    double most = 0.0;
    for (PliIndex i = first; i < last; ++i) {
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
    return most;
}

static void move_points(PliIndex first, PliIndex last, int worker, void *arg)
{
    (void)worker;
    Move *m = arg;
    PliSystem *s = m->s;
    const double most = kick_points(s, first, last, m->h);
    double *to = &m->most[first / m->grain];
    if (most > *to) *to = most;
    for (size_t i = 3 * (size_t)first; i < 3 * (size_t)last; ++i) s->x[i] += m->h * s->v[i];
}

// Velocities and then positions of active points. Returns the largest change of speed, m/s.
static double kick_and_drift(PliSystem *s, double h)
{
    const PliIndex share = s->active_count / PARTS + 1;
    Move m = { .s = s, .h = h, .grain = share > POINTS ? share : POINTS };
    double most = 0.0;
    pli_for(&s->host, s->active_count, m.grain, move_points, &m);
    for (int k = 0; k < PARTS; ++k) most = fmax(most, m.most[k]);
    return sqrt(most);
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
    s->tick = k;
    pli_system_spread(s, s->x);
    if (viscous || s->add_force) pli_system_spread(s, s->v);
    add_tick_forces(s, k, viscous ? s->v : NULL);
    centre_kick(s, h);
    if (s->add_force) s->add_force(s->self, t, h, s->x, s->v, s->f);
    pli_system_gather(s, s->f);
    if (s->f_ext)
        for (size_t i = 0; i < n; ++i) s->f[i] += s->f_ext[i];
    const double change = kick_and_drift(s, h);
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
