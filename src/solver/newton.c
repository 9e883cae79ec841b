/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/newton.h"

#include <math.h>
#include <string.h>

enum { FIELDS = 10 };

/// Fields over all points, lent by the body for the length of a stage.
typedef struct Fields {
    double *x, *v;    ///< at the start of the stage
    double *now;      ///< where the last tangent was made
    double *outer;    ///< N, active points: forces that stay as they are
    double *first;    ///< N s, (h - g) F(x, v)
    double *whole;    ///< N s, right-hand side of the last solve on fixed points, too
    double *from;     ///< m/s, dv the last direction starts from
    double *d;        ///< m/s, that direction
    double *tmp, *mv; ///< scratch
} Fields;

size_t pli_newton_workspace(PliIndex points) { return FIELDS * 3 * (size_t)points; }

static size_t all_of(const PliSystem *s) { return 3 * ((size_t)s->active_count + s->slave_count); }

static Fields fields_of(const PliSystem *s)
{
    const size_t n = all_of(s);
    double *w = s->newton;
    return (Fields){ w, w + n, w + 2 * n, w + 3 * n, w + 4 * n, w + 5 * n, w + 6 * n, w + 7 * n, w + 8 * n, w + 9 * n };
}

void pli_newton_note_internal(const PliSystem *s) { memcpy(fields_of(s).tmp, s->f, all_of(s) * sizeof *s->f); }

void pli_newton_note_outer(const PliSystem *s)
{
    const Fields w = fields_of(s);
    for (size_t i = 0; i < all_of(s); ++i) w.outer[i] = s->f[i] - w.tmp[i];
    pli_system_gather(s, w.outer);
    for (size_t i = 0; i < 3 * (size_t)s->active_count; ++i)
        w.outer[i] += s->load[i / 3] * s->gravity[i % 3] + (s->f_ext ? s->f_ext[i] : 0.0);
}

/// y = K p on active points; p has all points, and is spread.
static void apply_stiffness(const PliSystem *s, const double *p, double *y)
{
    memset(y, 0, all_of(s) * sizeof *y);
    s->force->add_dforce(s->force_self, p, 1.0, y);
    pli_system_gather(s, y);
}

void pli_newton_note_start(const PliSystem *s, const PliStage *stage, const double *whole)
{
    const Fields w = fields_of(s);
    const size_t n = 3 * (size_t)s->active_count;
    const double h = stage->length, g = stage->reach;
    memcpy(w.x, s->x, all_of(s) * sizeof *w.x);
    memcpy(w.v, s->v, all_of(s) * sizeof *w.v);
    memcpy(w.now, s->x, all_of(s) * sizeof *w.x);
    memcpy(w.whole, whole, n * sizeof *whole);
    apply_stiffness(s, w.v, w.tmp);
    for (size_t i = 0; i < n; ++i) {
        w.first[i] = (h - g) / h * (whole[i] - h * g * w.tmp[i]);
        w.from[i] = s->fixed[i / 3] ? 0.0 : -h / g * w.v[i];
    }
}

/// A dv without tethers, to y; dv may not be y.
static void apply_matrix(const PliSystem *s, const Fields *w, const double *dv, double *y)
{
    const size_t n = 3 * (size_t)s->active_count;
    memcpy(w->tmp, dv, n * sizeof *dv);
    pli_system_spread(s, w->tmp);
    apply_stiffness(s, w->tmp, y);
    pli_system_mass(s, dv, w->mv);
    for (size_t i = 0; i < n; ++i) y[i] = s->mass_factor * w->mv[i] + s->stiffness_factor * y[i];
}

/// The end of the stage with dv, in x and v of the system, slaves included.
static void move_to(PliSystem *s, const PliStage *stage, const Fields *w, const double *dv)
{
    for (size_t i = 0; i < 3 * (size_t)s->active_count; ++i) {
        s->x[i] = w->x[i] + stage->length * w->v[i] + stage->reach * dv[i];
        s->v[i] = w->v[i] + dv[i];
    }
    pli_system_spread(s, s->x);
    pli_system_spread(s, s->v);
}

static void move_back(PliSystem *s, const Fields *w)
{
    memcpy(s->x, w->x, all_of(s) * sizeof *s->x);
    memcpy(s->v, w->v, all_of(s) * sizeof *s->v);
}

/// How far along w->d from w->from. Tools and held points do along it what they do at its end; viscous forces what they do at its start.
/// @return 0: nowhere does the energy fall
static double search(PliSystem *s, const PliStage *stage, const Fields *w)
{
    enum { HALVINGS = 12 };
    static const double SHARE = 1e-4;
    const double g = stage->reach;
    const PliIndex n = 3 * s->active_count;
    double *y = s->f;
    apply_matrix(s, w, w->d, y);
    const double fall = pli_dot(n, w->d, y), inertia = s->mass_factor * pli_dot(n, w->d, w->mv);
    memcpy(s->x, w->now, all_of(s) * sizeof *s->x);
    const double before = s->force->energy(s->force_self, s->x);
    memset(y, 0, all_of(s) * sizeof *y);
    s->force->add_force(s->force_self, s->x, NULL, y);
    pli_system_gather(s, y);
    // what the model says of everything but inertia and elastic energy: its slope is that of the whole less theirs
    const double rest = fall - g * pli_dot(n, w->d, y);
    const double size = fabs(before) + inertia + fabs(fall);
    double share = 1.0;
    for (int k = 0; k < HALVINGS; ++k, share *= 0.5) {
        for (PliIndex i = 0; i < n; ++i) w->mv[i] = w->from[i] + share * w->d[i];
        move_to(s, stage, w, w->mv);
        const double rise =
            s->force->energy(s->force_self, s->x) - before + 0.5 * share * share * inertia - share * rest;
        if (rise <= -SHARE * share * fall + 1e-12 * size) break; // false for NaN
        // close to the end differences of the energy are rounding: its slope is not (Hager and Zhang 2005)
        if (rise <= 1e-6 * size) {
            memset(y, 0, all_of(s) * sizeof *y);
            s->force->add_force(s->force_self, s->x, NULL, y);
            pli_system_gather(s, y);
            if (share * inertia - g * pli_dot(n, w->d, y) - rest <= 0.8 * fall) break;
        }
        if (k == HALVINGS - 1) share = 0.0;
    }
    move_back(s, w);
    return share;
}

/// Fixed points are at their end from the first iteration on, and so are those that are held: no energy is kept on the way there.
static bool is_led(const PliSystem *s, const Fields *w)
{
    bool led = s->constraints != NULL;
    for (size_t i = 0; i < 3 * (size_t)s->active_count && !led; ++i) led = s->fixed[i / 3] && w->v[i] != 0.0;
    for (size_t i = 0; i < 3 * (size_t)s->held_count && !led; ++i) led = s->held_v[i] != 0.0;
    return led;
}

static bool is_touched(PliSystem *s, const Fields *w)
{
    if (!s->settle) return false;
    bool touched = s->tether_count > 0;
    memset(w->mv, 0, 3 * (size_t)s->active_count * sizeof *w->mv);
    s->press(s->self, w->mv);
    for (size_t i = 0; i < 3 * (size_t)s->active_count && !touched; ++i) touched = w->mv[i] != 0.0;
    return touched;
}

/// Linearises where dv ends. @return what is left of the equation there, over the right-hand side or what tools and held points do
static double linearize_at(PliNewton *q, const Fields *w)
{
    PliSystem *s = q->s;
    const size_t n = 3 * (size_t)s->active_count;
    const double h = q->stage->length, g = q->stage->reach;
    double *r = w->d;
    move_to(s, q->stage, w, q->dv);
    memcpy(w->now, s->x, all_of(s) * sizeof *w->now);
    memset(s->f, 0, all_of(s) * sizeof *s->f);
    s->force->add_force(s->force_self, s->x, s->material_damping > 0.0 ? s->v : NULL, s->f);
    pli_system_gather(s, s->f);
    s->force->linearize(s->force_self, s->x, q->definite);
    apply_stiffness(s, s->v, r);
    pli_system_mass(s, s->v, w->mv);
    for (size_t i = 0; i < n; ++i)
        r[i] = w->first[i] + g * (s->f[i] + w->outer[i] - s->mass_damping * w->mv[i] + s->rayleigh_stiffness * r[i]);
    pli_system_mass(s, q->dv, w->mv);
    for (size_t i = 0; i < n; ++i) r[i] -= w->mv[i];
    move_back(s, w);
    double *whole = q->free;
    apply_matrix(s, w, q->dv, whole);
    for (size_t i = 0; i < n; ++i) {
        whole[i] += r[i];
        const double was = w->whole[i];
        w->whole[i] = whole[i];
        if (!s->fixed[i / 3]) continue;
        if (s->impulse) s->impulse[i] += was - whole[i];
        whole[i] = 0.0;
    }
    // what tools and held points add
    memset(w->mv, 0, n * sizeof *w->mv);
    if (s->press) s->press(s->self, w->mv);
    memset(w->tmp, 0, n * sizeof *w->tmp);
    pli_system_add_tethers(s, q->dv, w->tmp);
    for (size_t i = 0; i < n; ++i) w->mv[i] = h * w->mv[i] - w->tmp[i];
    if (s->constraints) pli_constraints_add_transpose(s->constraints, s->constraints->multiplier, w->mv);
    double sum = 0.0, held = 0.0;
    for (size_t i = 0; i < n; ++i) {
        if (s->fixed[i / 3]) continue;
        held += w->mv[i] * w->mv[i];
        sum += (r[i] + w->mv[i]) * (r[i] + w->mv[i]);
    }
    const double size = fmax(q->size, sqrt(held));
    return size > 0.0 ? sqrt(sum) / size : 0.0;
}

int pli_newton_refine(PliNewton *q)
{
    PliSystem *s = q->s;
    const Fields w = fields_of(s);
    const PliIndex n = 3 * s->active_count;
    q->size = sqrt(pli_dot(n, q->free, q->free));
    int total = 0;
    for (int k = 1;; ++k) {
        for (PliIndex i = 0; i < n; ++i) w.d[i] = q->dv[i] - w.from[i];
        // Half a step would be half of a contact, and whole ones go round in circles where a corner of little mass is hit: a detail
        // of a smooth basis went 5 cm through a wall that it was held at after one.
        if (is_touched(s, &w)) return total;
        const double share = k == 1 && is_led(s, &w) ? 1.0 : search(s, q->stage, &w);
        s->solve.linearizations = k;
        if (share == 0.0 && k == 1) return -1;
        for (PliIndex i = 0; i < n && share < 1.0; ++i) q->dv[i] = w.from[i] + share * w.d[i];
        if (share == 0.0) return total;
        s->solve.residual = linearize_at(q, &w);
        if (!isfinite(s->solve.residual)) return -1;
        if (s->solve.residual <= q->tolerance || k == q->most) return total;
        memcpy(w.from, q->dv, n * sizeof *w.from);
        s->tangent = w.now;
        const int iterations = q->solve(q->self);
        if (iterations < 0) return -1;
        total += iterations;
    }
}
