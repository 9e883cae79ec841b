/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Momentum and energy of the frames' motion, and what of it other active frames keep.
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "scheme/frames/frames.h"

// Momentum of every coefficient, M v with the mass of the finest level; v complete.
void pli_frames_find_momentum(PliFrames *s, const double *v)
{
    const PliFrameMass *m = s->mass;
    for (PliIndex i = 0; i < s->count; ++i) {
        double *p = s->momentum + 12 * (size_t)i;
        memset(p, 0, 12 * sizeof *p);
        for (PliIndex k = m->first[i]; k < m->first[i + 1]; ++k) {
            const double *b = m->block + 16 * (size_t)k, *vj = v + 12 * (size_t)m->column[k];
            for (int c = 0; c < 4; ++c)
                for (int d = 0; d < 4; ++d) v3_madd(p + 3 * c, b[4 * c + d], vj + 3 * d);
        }
    }
}

static void apply_mass(const PliFrames *s, const double *p, double *y)
{
    for (PliIndex i = 0; i < s->active_count; ++i) {
        double sum[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k)
            v3_madd(sum, s->mass_value[k], p + 3 * (size_t)s->mass_column[k]);
        if (s->fixed[s->active[i]]) memset(sum, 0, sizeof sum);
        v3_copy(y + 3 * (size_t)i, sum);
    }
}

// M_A v_A = p on the active frames, by conjugate gradients from what v has; p is summed on them.
void pli_frames_solve_mass(PliFrames *s, const double *momentum, double *v)
{
    const size_t n = 3 * (size_t)s->active_count;
    double *r = s->solve, *p = r + 3 * (size_t)s->dof_count, *y = p + 3 * (size_t)s->dof_count,
           *z = y + 3 * (size_t)s->dof_count;
    for (PliIndex i = 0; i < s->active_count; ++i) v3_copy(p + 3 * (size_t)i, v + 3 * (size_t)s->active[i]);
    double norm = 0.0;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        double sum[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k)
            v3_madd(sum, s->mass_value[k], p + 3 * (size_t)s->mass_column[k]);
        for (int a = 0; a < 3; ++a) {
            const double b = momentum[3 * (size_t)s->active[i] + (size_t)a];
            r[3 * (size_t)i + (size_t)a] = s->fixed[s->active[i]] ? 0.0 : b - sum[a];
            norm += b * b / s->cut_mass[i];
        }
    }
    double rho = 0.0;
    for (size_t k = 0; k < n; ++k) {
        z[k] = r[k] / s->cut_mass[k / 3];
        p[k] = z[k];
        rho += r[k] * z[k];
    }
    for (int pass = 0; pass < 200 && rho > 1e-24 * norm; ++pass) {
        apply_mass(s, p, y);
        double slope = 0.0, next = 0.0;
        for (size_t k = 0; k < n; ++k) slope += p[k] * y[k];
        if (!(slope > 0.0)) break;
        const double step = rho / slope;
        for (PliIndex i = 0; i < s->active_count; ++i) v3_madd(v + 3 * (size_t)s->active[i], step, p + 3 * (size_t)i);
        for (size_t k = 0; k < n; ++k) {
            r[k] -= step * y[k];
            z[k] = r[k] / s->cut_mass[k / 3];
            next += r[k] * z[k];
        }
        const double turn = next / rho;
        rho = next;
        for (size_t k = 0; k < n; ++k) p[k] = z[k] + turn * p[k];
    }
}

// Velocities of the active frames that keep most of the motion: M_A v_A = T^T M v (the least-squares projection in the metric of
// kinetic energy: it can only lose energy, and as little as possible).
void pli_frames_project_velocity(PliFrames *s, double *v)
{
    const PliRows w = pli_dag_rows(s->dag);
    pli_rows_add_transpose(w, s->momentum, memset(s->hat, 0, 3 * (size_t)s->dof_count * sizeof *s->hat));
    pli_frames_solve_mass(s, s->hat, v);
}

// Kinetic energy of the active frames.
double pli_frames_kinetic_energy(const PliFrames *s, const double *v)
{
    double sum = 0.0;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        double p[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k)
            v3_madd(p, s->mass_value[k], v + 3 * (size_t)s->active[s->mass_column[k]]);
        sum += v3_dot(p, v + 3 * (size_t)s->active[i]);
    }
    return 0.5 * sum;
}

PliRigidMotion pli_frames_rigid_motion(const PliFrames *s, const double *x, const double *v)
{
    PliRigidMotion r = { 0 };
    double *angular = r.angular, second[9] = { 0.0 };
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const double *xi = x + 3 * (size_t)s->active[i];
        v3_madd(r.centre, s->cut_load[i] / s->mass->total, xi);
        v3_madd(r.velocity, s->cut_load[i] / s->mass->total, v + 3 * (size_t)s->active[i]);
        double p[3] = { 0.0, 0.0, 0.0 }, q[3] = { 0.0, 0.0, 0.0 }, l[3];
        for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k) {
            v3_madd(p, s->mass_value[k], v + 3 * (size_t)s->active[s->mass_column[k]]);
            v3_madd(q, s->mass_value[k], x + 3 * (size_t)s->active[s->mass_column[k]]);
        }
        v3_cross(l, xi, p);
        v3_add(angular, angular, l);
        for (int a = 0; a < 3; ++a) v3_madd(second + 3 * a, xi[a], q);
        r.kinetic += 0.5 * v3_dot(p, v + 3 * (size_t)s->active[i]);
    }
    // about the centre
    double orbit[3], inertia[9];
    v3_cross(orbit, r.centre, r.velocity);
    v3_madd(angular, -s->mass->total, orbit);
    for (int a = 0; a < 3; ++a) v3_madd(second + 3 * a, -s->mass->total * r.centre[a], r.centre);
    const double trace = second[0] + second[4] + second[8];
    for (int k = 0; k < 9; ++k) inertia[k] = (k % 4 == 0 ? trace : 0.0) - second[k];
    if (m3_inverse(r.inverse_inertia, inertia) != 0.0) m3_apply(r.spin, r.inverse_inertia, angular);
    r.inner = fmax(0.0, r.kinetic - 0.5 * s->mass->total * v3_dot(r.velocity, r.velocity));
    r.vibration = fmax(0.0, r.inner - 0.5 * v3_dot(r.spin, angular));
    return r;
}
