/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Stages for hosts that own the solver: full-length arrays in and out, reduced to the active coefficients inside.
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "base/vec.h"
#include "body/forms.h"

// Stages are for hosts that work on coefficients; of a body with two forms those of the own one sleep then.
static void forget_own(const PliBody *b, double *a)
{
    memset(a + 3 * (size_t)b->forms->shift, 0, 3 * pli_forms_rest_count(b->forms) * sizeof *a);
}

// compact -> full, active points only
static void add_active(const PliBody *b, const double *compact, double *full)
{
    for (PliIndex i = 0; i < b->system.active_count; ++i) {
        double *f = full + 3 * (size_t)b->live.dof[i];
        v3_add(f, f, compact + 3 * (size_t)i);
    }
}

void pli_body_add_force(PliBody *b, const double *x, const double *v, double *f)
{
    if (b->forms) {
        pli_body_add_force(pli_forms_fallback(b), x, v, f);
        return;
    }
    PliSystem *s = &b->system;
    pli_live_gather(b, x, v);
    memset(b->live.f, 0, 3 * (size_t)(s->active_count + s->slave_count) * sizeof(double));
    s->force->add_force(s->force_self, b->live.x, v && s->material_damping > 0.0 ? b->live.v : NULL, b->live.f);
    // the tangent costs ten times a force: it is made when somebody asks for it
    memcpy(b->live.x_tangent, b->live.x, 3 * (size_t)(s->active_count + s->slave_count) * sizeof(double));
    b->live.tangent_stale = true;
    pli_system_gather(s, b->live.f);
    add_active(b, b->live.f, f);
}

const double *pli_body_evaluate(PliBody *b, const double *x, const double *v)
{
    PliSystem *s = &b->system;
    pli_live_gather(b, x, v);
    memset(b->live.f, 0, 3 * (size_t)(s->active_count + s->slave_count) * sizeof(double));
    const double start = pli_cpu_ms();
    s->force->add_force(s->force_self, b->live.x, s->material_damping > 0.0 ? b->live.v : NULL, b->live.f);
    s->force_ready = true; // the step that follows need not do it again
    b->stats.force_ms += pli_cpu_ms() - start;
    return b->live.f;
}

double pli_body_energy_density(const PliBody *b, const double F[9])
{
    return b->elastic ? pli_elastic_density(pli_elastic_force_kernel(b->elastic), F) : NAN;
}

const double *pli_body_sample_stress(const PliBody *b)
{
    return b->elastic ? pli_elastic_sample_stress(pli_elastic_force_kernel(b->elastic)) : NULL;
}

void pli_body_set_sample_s0(PliBody *b, const double *s0)
{
    if (b->elastic) pli_elastic_set_sample_s0(pli_elastic_force_kernel(b->elastic), s0);
}

void pli_body_set_definite(PliBody *b, bool definite)
{
    if (b->forms) {
        pli_body_set_definite(pli_forms_fallback(b), definite);
        return;
    }
    b->live.tangent_stale = b->live.tangent_stale || b->live.definite != definite;
    b->live.definite = definite;
}

void pli_body_add_dforce(const PliBody *b, const double *dx, double k, double *df)
{
    if (b->forms) {
        pli_body_add_dforce(pli_forms_fallback(b), dx, k, df);
        return;
    }
    PliBody *m = (PliBody *)b; // the scratch of the live arrays
    PliSystem *s = &m->system;
    pli_live_tangent(b);
    double *moved = m->live.f_ext; // neither x nor v: what is held does not move along
    for (PliIndex i = 0; i < s->active_count; ++i) v3_copy(moved + 3 * (size_t)i, dx + 3 * (size_t)m->live.dof[i]);
    pli_system_spread(s, moved);
    memset(m->live.f, 0, 3 * (size_t)(s->active_count + s->slave_count) * sizeof(double));
    s->force->add_dforce(s->force_self, moved, k, m->live.f);
    pli_system_gather(s, m->live.f);
    add_active(b, m->live.f, df);
}

void pli_body_add_mass(const PliBody *b, const double *dx, double m, double *df)
{
    if (b->forms) {
        pli_body_add_mass(pli_forms_fallback(b), dx, m, df);
        return;
    }
    PliBody *w = (PliBody *)b;
    for (PliIndex i = 0; i < b->system.active_count; ++i)
        v3_copy(w->live.v + 3 * (size_t)i, dx + 3 * (size_t)b->live.dof[i]);
    pli_system_mass(&b->system, w->live.v, w->live.f);
    for (size_t i = 0; i < 3 * (size_t)b->system.active_count; ++i) w->live.f[i] *= m;
    add_active(b, w->live.f, df);
}

void pli_body_add_gravity(const PliBody *b, double *f)
{
    if (b->forms) {
        pli_body_add_gravity(pli_forms_fallback(b), f);
        return;
    }
    for (PliIndex i = 0; i < b->system.active_count; ++i)
        v3_madd(f + 3 * (size_t)b->live.dof[i], b->live.load[i], b->def.gravity);
}

void pli_body_acceleration(const PliBody *b, const double *f, double *a)
{
    if (b->forms) {
        pli_body_acceleration(pli_forms_fallback(b), f, a);
        forget_own(b, a);
        return;
    }
    memset(a, 0, 3 * (size_t)b->statics.dof_count * sizeof *a);
    for (PliIndex i = 0; i < b->system.active_count; ++i)
        if (b->live.mass[i] != 0.0) // one without mass of its own follows from the others
            v3_madd(a + 3 * (size_t)b->live.dof[i], 1.0 / b->live.mass[i], f + 3 * (size_t)b->live.dof[i]);
}

void pli_body_spread(const PliBody *b, double *x)
{
    if (b->forms) {
        pli_body_spread(b->forms->acting, PLI_ACTING(b, x));
        return;
    }
    if (!b->ops->spread) return;
    // coefficients that are held stay, or one that becomes active would keep the velocity it was carried with
    for (PliIndex i = 0; i < b->fixed_count; ++i) v3_copy(b->held + 3 * (size_t)i, x + 3 * (size_t)b->fixed_dof[i]);
    b->ops->spread(b->self, x);
    for (PliIndex i = 0; i < b->fixed_count; ++i) v3_copy(x + 3 * (size_t)b->fixed_dof[i], b->held + 3 * (size_t)i);
}

void pli_body_spread_velocity(const PliBody *b, double *v)
{
    pli_body_spread(b, v); // W is linear and its weights do not move with the body
}

PliRows pli_body_transfer(const PliBody *b) { return b->forms ? pli_forms_transfer(b) : b->ops->transfer(b->self); }

const PliIndex *pli_body_slaves(const PliBody *b, PliIndex *count)
{
    if (b->forms) return pli_forms_slaves(b, count);
    *count = b->system.slave_count;
    return b->live.dof + b->system.active_count;
}

PliIndex pli_body_locate(const PliBody *b, const double point[3], PliIndex *column, double *weight, PliIndex capacity)
{
    if (b->forms) b = pli_forms_fallback(b);
    return b->ops->locate(b->self, point, column, weight, capacity);
}

void pli_body_reduce(const PliBody *b, double *f)
{
    if (b->forms) {
        pli_body_reduce(pli_forms_fallback(b), f);
        forget_own(b, f);
        return;
    }
    const PliRows w = b->ops->transfer(b->self);
    const PliIndex *position = b->live.position;
    for (PliIndex i = 0; i < w.out_count; ++i) {
        if (position[i] < b->system.active_count) continue; // active: its own row is the identity
        double *fi = f + 3 * (size_t)i;
        if (fi[0] == 0.0 && fi[1] == 0.0 && fi[2] == 0.0) continue;
        for (PliIndex k = w.first[i]; k < w.first[i + 1]; ++k) v3_madd(f + 3 * (size_t)w.column[k], w.weight[k], fi);
        fi[0] = fi[1] = fi[2] = 0.0;
    }
}

void pli_body_project(const PliBody *b, double *d)
{
    if (b->forms) {
        pli_body_project(pli_forms_fallback(b), d);
        forget_own(b, d);
        return;
    }
    for (PliIndex i = 0; i < b->statics.dof_count; ++i)
        if (b->live.position[i] >= b->system.active_count || b->is_fixed[i])
            memset(d + 3 * (size_t)i, 0, 3 * sizeof *d);
}

typedef struct BlockArg {
    const PliBody *body;
    PliBlockFn *fn;
    void *user;
} BlockArg;

static void renumber_block(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    const BlockArg *a = user;
    a->fn(a->body->live.dof[row], a->body->live.dof[column], k9, a->user);
}

void pli_body_stiffness_blocks(const PliBody *b, PliBlockFn *fn, void *user)
{
    if (b->forms) {
        pli_body_stiffness_blocks(pli_forms_fallback(b), fn, user);
        return;
    }
    BlockArg arg = { b, fn, user };
    pli_live_tangent(b);
    pli_system_stiffness_blocks(&b->system, renumber_block, &arg);
}

void pli_body_mass_entries(const PliBody *b, PliScalarFn *fn, void *user)
{
    if (b->forms) {
        pli_body_mass_entries(pli_forms_fallback(b), fn, user);
        return;
    }
    const PliSystem *s = &b->system;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        if (!s->mass_first) {
            fn(b->live.dof[i], b->live.dof[i], s->mass[i], user);
            continue;
        }
        for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k)
            fn(b->live.dof[i], b->live.dof[s->mass_column[k]], s->mass_value[k], user);
    }
}

PliEnergy pli_body_energy(const PliBody *b, const double *x, const double *v)
{
    if (b->forms) return pli_body_energy(b->forms->acting, PLI_ACTING(b, x), PLI_ACTING(b, v));
    PliBody *w = (PliBody *)b;
    const PliSystem *s = &b->system;
    PliEnergy e = { 0 };
    pli_live_gather(w, x, v);
    e.elastic = s->force->energy(s->force_self, b->live.x);
    if (v)
        pli_system_mass(s, b->live.v, w->live.f);
    else
        memset(w->live.f, 0, 3 * (size_t)s->active_count * sizeof(double));
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const double *xi = b->live.x + 3 * (size_t)i, *p = b->live.f + 3 * (size_t)i;
        if (v) e.kinetic += 0.5 * v3_dot(p, b->live.v + 3 * (size_t)i);
        e.gravity -= s->load[i] * v3_dot(xi, b->def.gravity);
        e.mass += s->load[i];
        v3_madd(e.centre, s->load[i], xi);
        if (v) v3_madd(e.momentum, s->load[i], b->live.v + 3 * (size_t)i); // int rho v, whatever the basis sums to
        double l[3];
        v3_cross(l, xi, p);
        v3_add(e.angular, e.angular, l);
    }
    if (b->statics.mass > 0.0) e.mass = b->statics.mass;
    if (e.mass > 0.0) v3_scale(e.centre, 1.0 / e.mass);
    return e;
}

void pli_body_von_mises(const PliBody *b, const double *x, double *per_dof)
{
    if (b->forms) {
        memset(per_dof, 0, b->statics.dof_count * sizeof *per_dof);
        pli_body_von_mises(b->forms->acting, PLI_ACTING(b, x), per_dof + pli_forms_ahead(b->forms) / 3);
        return;
    }
    PliBody *w = (PliBody *)b;
    const PliLive *l = &b->live;
    const PliIndex points = b->system.active_count + b->system.slave_count;
    pli_live_gather(w, x, NULL);
    memset(l->f, 0, 3 * (size_t)points * sizeof(double));
    if (b->system.force->add_von_mises) b->system.force->add_von_mises(b->system.force_self, l->x, l->f);
    memset(per_dof, 0, b->statics.dof_count * sizeof *per_dof);
    for (PliIndex i = 0; i < points; ++i)
        if (l->f[3 * (size_t)i + 1] > 0.0) per_dof[l->dof[i]] = l->f[3 * (size_t)i] / l->f[3 * (size_t)i + 1];
}
