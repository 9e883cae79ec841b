/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Own solver: a host that has its own integrator takes forces, products with the tangent and the mass, and the map between active and
// passive coefficients from the body. Here: a linearised backward Euler step with conjugate gradients. The body's own step is the proof.
#include <pliant/stages.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

// y = (M - dt^2 K) p on what is active and free
static void apply(const PliBody *body, double dt, const double *p, double *y, size_t n)
{
    memset(y, 0, n * sizeof *y);
    pli_body_add_mass(body, p, 1.0, y);
    pli_body_add_dforce(body, p, -dt * dt, y);
    pli_body_project(body, y);
}

// One step: (M - dt^2 K) dv = dt (f + dt K v), then x += dt (v + dv). `work` has room for five vectors.
static void my_step(PliBody *body, const PliState *s, double dt, double *work, size_t n)
{
    double *b = work, *dv = work + n, *r = work + 2 * n, *p = work + 3 * n, *y = work + 4 * n;
    pli_body_adapt(body, s, dt); // levels change here, and nowhere else
    memset(work, 0, 2 * n * sizeof *work);
    pli_body_add_force(body, s->x, s->v, b); // remembers the tangent at x
    pli_body_add_gravity(body, b);
    pli_body_add_dforce(body, s->v, dt, b);
    for (size_t i = 0; i < n; ++i) b[i] *= dt;
    pli_body_project(body, b); // nothing moves what is held; what is passive follows

    memcpy(r, b, n * sizeof *r);
    memcpy(p, b, n * sizeof *p);
    double rr = dot(r, r, n);
    const double enough = 1e-24 * rr;
    for (int k = 0; k < 500 && rr > enough; ++k) {
        apply(body, dt, p, y, n);
        const double a = rr / dot(p, y, n), before = rr;
        for (size_t i = 0; i < n; ++i) dv[i] += a * p[i], r[i] -= a * y[i];
        rr = dot(r, r, n);
        for (size_t i = 0; i < n; ++i) p[i] = r[i] + rr / before * p[i];
    }
    for (size_t i = 0; i < n; ++i) s->v[i] += dv[i], s->x[i] += dt * s->v[i];
    pli_body_spread(body, s->x); // passive coefficients from active ones
    pli_body_spread_velocity(body, s->v);
}

int main(void)
{
    PliHost host = pli_host_default();
    PliError err = { PLI_OK, "" };
    PliBoxDef box = { .max = { 1.0, 0.2, 0.2 }, .cells = { 10, 2, 2 } };
    PliMesh *mesh = pli_mesh_box(&host, &box, &err);
    PliFemDef def = pli_fem_default();
    def.mesh = mesh;
    def.base.material.young = 1e6;
    def.base.integrator = PLI_IMPLICIT;
    def.base.cg_tolerance = 1e-12;
    PliBody *mine = mesh ? pli_fem_create(&host, &def, &err) : NULL,
            *theirs = mesh ? pli_fem_create(&host, &def, &err) : NULL;
    pli_mesh_destroy(mesh);
    if (!mine || !theirs) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    pli_body_set_definite(mine, true); // as implicit steps of the body do

    const PliIndex count = pli_body_dof_count(mine);
    const size_t n = 3 * (size_t)count;
    double *all = calloc(9 * n, sizeof *all);
    PliIndex *held = calloc(count, sizeof *held), held_count = 0;
    if (!all || !held) return 1;
    PliState my = { .x = all, .v = all + n }, their = { .x = all + 2 * n, .v = all + 3 * n };
    pli_body_reset(mine, &my);
    pli_body_reset(theirs, &their);
    for (PliIndex i = 0; i < count; ++i)
        if (my.x[3 * i] == 0.0) held[held_count++] = i;
    if (pli_body_set_fixed(mine, held, held_count, &err) != PLI_OK) return 1;
    if (pli_body_set_fixed(theirs, held, held_count, &err) != PLI_OK) return 1;

    double most = 0.0, moved = 0.0;
    for (int step = 0; step < 50; ++step) {
        my_step(mine, &my, 0.01, all + 4 * n, n);
        if (pli_body_step(theirs, &their, 0.01).status != PLI_OK) return 1;
    }
    for (size_t i = 0; i < n; ++i) {
        const double difference = my.x[i] > their.x[i] ? my.x[i] - their.x[i] : their.x[i] - my.x[i];
        const double way = pli_body_rest(mine)[i] - my.x[i];
        if (!(difference <= most)) most = difference;
        if (way > moved) moved = way;
    }
    printf("after 50 steps the beam sagged by %.4f m; the two solvers differ by %.1e m\n", moved, most);
    const int bad = !(moved > 0.01 && most < 1e-7);
    pli_body_destroy(mine);
    pli_body_destroy(theirs);
    free(all);
    free(held);
    return bad;
}
