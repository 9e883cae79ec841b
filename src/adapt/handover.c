/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "adapt/handover.h"

#include <math.h>

#include "base/vec.h"

PliMoments pli_patch_moments(const PliEventPatch *p, const double *x, const double *v)
{
    PliMoments m = { 0 };
    for (PliIndex i = 0; i < p->count; ++i) {
        const double w = p->mass[i], *xi = x + 3 * (size_t)p->node[i], *vi = v + 3 * (size_t)p->node[i];
        if (w == 0.0) continue;
        double l[3];
        v3_cross(l, xi, vi);
        m.mass += w;
        v3_madd(m.centre, w, xi);
        v3_madd(m.momentum, w, vi);
        v3_madd(m.angular, w, l);
        m.kinetic += 0.5 * w * v3_dot(vi, vi);
    }
    if (m.mass > 0.0) v3_scale(m.centre, 1.0 / m.mass);
    return m;
}

void pli_handover_momentum(PliRows rows, const PliIndex *carrier, const double *carrier_mass, const double *old,
                           PliIndex carrier_count, const double *mass, const uint8_t *fixed, double *v, double *change)
{
    for (PliIndex i = 0; i < carrier_count; ++i) {
        const PliIndex first = rows.first[carrier[i]], last = rows.first[carrier[i] + 1];
        double lack[3];
        v3_copy(lack, old + 3 * (size_t)i);
        for (PliIndex k = first; k < last; ++k) v3_madd(lack, -rows.weight[k], v + 3 * (size_t)rows.column[k]);
        for (PliIndex k = first; k < last; ++k)
            v3_madd(change + 3 * (size_t)rows.column[k], rows.weight[k] * carrier_mass[i], lack);
    }
    // all carriers have read v as it was: now it may change. The first visit of a column uses its sum up
    for (PliIndex i = 0; i < carrier_count; ++i)
        for (PliIndex k = rows.first[carrier[i]]; k < rows.first[carrier[i] + 1]; ++k) {
            const PliIndex c = rows.column[k];
            double *d = change + 3 * (size_t)c;
            if (!(fixed && fixed[c])) v3_madd(v + 3 * (size_t)c, 1.0 / mass[c], d);
            d[0] = d[1] = d[2] = 0.0;
        }
}

/// Inertia about the centre, row-major.
static void inertia_of(const PliEventPatch *p, const double *x, const double centre[3], double inertia[9])
{
    for (int i = 0; i < 9; ++i) inertia[i] = 0.0;
    for (PliIndex i = 0; i < p->count; ++i) {
        double r[3];
        v3_sub(r, x + 3 * (size_t)p->node[i], centre);
        const double w = p->mass[i], r2 = v3_dot(r, r);
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) inertia[3 * a + b] += w * ((a == b ? r2 : 0.0) - r[a] * r[b]);
    }
}

/// omega = inertia^-1 spin, or false when the patch is (nearly) a line or a point.
static bool angular_velocity(const double inertia[9], const double spin[3], double omega[3])
{
    const double trace = inertia[0] + inertia[4] + inertia[8];
    double inverse[9];
    if (!(trace > 0.0) || !(m3_det(inertia) > 1e-9 * trace * trace * trace)) return false;
    if (m3_inverse(inverse, inertia) == 0.0) return false;
    m3_apply(omega, inverse, spin);
    return isfinite(omega[0]) && isfinite(omega[1]) && isfinite(omega[2]);
}

bool pli_handover_spin(const PliEventPatch *p, const double spin[3], const double *x, double *v)
{
    double centre[3] = { 0.0, 0.0, 0.0 }, mass = 0.0, inertia[9], omega[3];
    for (PliIndex i = 0; i < p->count; ++i) {
        mass += p->mass[i];
        v3_madd(centre, p->mass[i], x + 3 * (size_t)p->node[i]);
    }
    if (!(mass > 0.0)) return false;
    v3_scale(centre, 1.0 / mass);
    inertia_of(p, x, centre, inertia);
    if (!angular_velocity(inertia, spin, omega)) return false;
    for (PliIndex i = 0; i < p->count; ++i) {
        if (p->mass[i] == 0.0) continue;
        double r[3], turn[3];
        v3_sub(r, x + 3 * (size_t)p->node[i], centre);
        v3_cross(turn, omega, r);
        v3_add(v + 3 * (size_t)p->node[i], v + 3 * (size_t)p->node[i], turn);
    }
    return true;
}

double pli_handover_cap(const PliEventPatch *p, double energy, const double *x, double *v)
{
    if (!(energy > 0.0)) return 0.0;
    const PliMoments m = pli_patch_moments(p, x, v);
    if (!(m.mass > 0.0)) return energy;
    // rigid motion of the patch: mean velocity, and the rotation that has its angular momentum about the centre
    double mean[3], about[3], inertia[9], omega[3] = { 0.0, 0.0, 0.0 }, orbital[3];
    v3_copy(mean, m.momentum);
    v3_scale(mean, 1.0 / m.mass);
    v3_cross(orbital, m.centre, m.momentum);
    v3_sub(about, m.angular, orbital);
    inertia_of(p, x, m.centre, inertia);
    if (!angular_velocity(inertia, about, omega))
        return energy; // a line of masses: its spin cannot be told from the rest
    double loose = 0.0;
    for (PliIndex i = 0; i < p->count; ++i) {
        if (p->mass[i] == 0.0) continue;
        double r[3], rigid[3], u[3];
        v3_sub(r, x + 3 * (size_t)p->node[i], m.centre);
        v3_cross(rigid, omega, r);
        v3_add(rigid, rigid, mean);
        v3_sub(u, v + 3 * (size_t)p->node[i], rigid);
        loose += 0.5 * p->mass[i] * v3_dot(u, u);
    }
    if (!(loose > 0.0)) return energy;
    const double taken = fmin(energy, loose), scale = sqrt(fmax(0.0, 1.0 - taken / loose));
    for (PliIndex i = 0; i < p->count; ++i) {
        if (p->mass[i] == 0.0) continue;
        double r[3], rigid[3], *vi = v + 3 * (size_t)p->node[i];
        v3_sub(r, x + 3 * (size_t)p->node[i], m.centre);
        v3_cross(rigid, omega, r);
        v3_add(rigid, rigid, mean);
        for (int d = 0; d < 3; ++d) vi[d] = rigid[d] + scale * (vi[d] - rigid[d]);
    }
    return energy - taken;
}
