/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Uniform finite elements against closed forms. doc/validation.md says where each answer comes from.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/fold.h"
#include "base/vec.h"
#include "evidence/equilibrium.h"
#include "evidence/verify.h"

// ---- a box, its body and its state ----------------------------------------------------------------------------------------

typedef struct Rig {
    PliHost host;
    PliMesh *mesh;
    PliBody *body;
    size_t count;          ///< points
    const double *rest;    ///< count Vec3
    double *x, *v, *f, *w; ///< count Vec3: state, forces, scratch
    uint8_t *held;         ///< 3 count components
    PliState state;
} Rig;

static PliBodyDef still_def(PliLaw law, double young, double poisson, double density)
{
    PliBodyDef d = pli_body_default();
    d.material = (PliMaterial){ .law = law, .young = young, .poisson = poisson, .density = density };
    memset(d.gravity, 0, sizeof d.gravity);
    return d;
}

static void rig_close(Rig *g)
{
    PLI_FREE(&g->host, g->x, 3 * g->count);
    PLI_FREE(&g->host, g->v, 3 * g->count);
    PLI_FREE(&g->host, g->f, 3 * g->count);
    PLI_FREE(&g->host, g->w, 3 * g->count);
    PLI_FREE(&g->host, g->held, 3 * g->count);
    pli_body_destroy(g->body);
    pli_mesh_destroy(g->mesh);
}

static bool rig_open(Rig *g, const PliHost *host, const PliBoxDef *box, const PliBodyDef *base, PliVerifyResult *r)
{
    PliError err = { PLI_OK, "" };
    PliFemDef def = pli_fem_default();
    *g = (Rig){ .host = host ? *host : pli_host_default() };
    g->mesh = pli_mesh_box(&g->host, box, &err);
    def.base = *base;
    def.mesh = g->mesh;
    if (g->mesh) g->body = pli_fem_create(&g->host, &def, &err);
    if (!g->body) {
        pli_verify_broken(r, "%s", err.text);
        rig_close(g);
        return false;
    }
    g->count = pli_body_dof_count(g->body);
    g->rest = pli_body_rest(g->body);
    g->x = PLI_NEW(&g->host, 3 * g->count, double);
    g->v = PLI_NEW(&g->host, 3 * g->count, double);
    g->f = PLI_NEW(&g->host, 3 * g->count, double);
    g->w = PLI_NEW(&g->host, 3 * g->count, double);
    g->held = PLI_NEW(&g->host, 3 * g->count, uint8_t);
    if (!g->x || !g->v || !g->f || !g->w || !g->held) {
        pli_verify_broken(r, "no memory for %zu points", g->count);
        rig_close(g);
        return false;
    }
    memcpy(g->x, g->rest, 3 * g->count * sizeof *g->x);
    g->state = (PliState){ .x = g->x, .v = g->v };
    return true;
}

static PliBoxDef box_def(double lx, double ly, double lz, PliIndex nx, PliIndex ny, PliIndex nz, double jitter)
{
    return (PliBoxDef){ .max = { lx, ly, lz }, .cells = { nx, ny, nz }, .jitter = jitter, .seed = 7 };
}

/// F = 1 + `amount` times a random matrix, the same for every case.
static void random_gradient(double amount, double F[9])
{
    uint64_t seed = 2024;
    for (int k = 0; k < 9; ++k) F[k] = (k % 4 == 0 ? 1.0 : 0.0) + amount * (2.0 * pli_random_unit(&seed) - 1.0);
}

static void random_state(Rig *g, double affine, double noise)
{
    double F[9];
    uint64_t seed = 11;
    random_gradient(affine, F);
    for (size_t i = 0; i < g->count; ++i) {
        m3_apply(g->x + 3 * i, F, g->rest + 3 * i);
        for (int c = 0; c < 3; ++c) g->x[3 * i + c] += noise * (2.0 * pli_random_unit(&seed) - 1.0);
    }
}

// ---- affine patch ------------------------------------------------------------------------------------------------------------
// A boundary moved by an affine map must move the interior by the same map, on an irregular mesh, whatever the law.

static void patch(PliVerifyResult *r, PliLaw law)
{
    Rig g;
    PliError err = { PLI_OK, "" };
    const PliBoxDef box = box_def(1, 1, 1, 5, 5, 5, 0.25);
    const PliBodyDef def = still_def(law, 20.0, 0.4, 1.0);
    double F[9], error = 0.0;
    if (!rig_open(&g, NULL, &box, &def, r)) return;
    random_gradient(0.15, F);
    size_t inside = 0;
    for (size_t i = 0; i < g.count; ++i) {
        const double *p = g.rest + 3 * i;
        bool boundary = false;
        for (int c = 0; c < 3; ++c) boundary = boundary || p[c] == 0.0 || p[c] == 1.0;
        inside += !boundary;
        if (!boundary) continue; // starts at rest
        m3_apply(g.x + 3 * i, F, p);
        memset(g.held + 3 * i, 1, 3);
    }
    if (pli_equilibrium(g.body, g.x, NULL, g.held, 1e-13, &err) != PLI_OK) {
        pli_verify_broken(r, "%s", err.text);
    } else {
        for (size_t i = 0; i < g.count; ++i) {
            double wanted[3];
            m3_apply(wanted, F, g.rest + 3 * i);
            error = pli_max(error, v3_distance(wanted, g.x + 3 * i));
        }
        pli_verify_note(r, "largest error of %zu interior points, per side of the cube", inside);
        pli_verify_at_most(r, 1e-10, error);
    }
    rig_close(&g);
}

static void patch_stvk(PliVerifyResult *r) { patch(r, PLI_STVK); }
static void patch_corot(PliVerifyResult *r) { patch(r, PLI_COROT); }
static void patch_neohookean(PliVerifyResult *r) { patch(r, PLI_NEOHOOKEAN); }

// ---- uniaxial stretch ----------------------------------------------------------------------------------------------------------
// St. Venant-Kirchhoff under uniaxial stress: P = E l (l^2 - 1) / 2 per rest area, and sides sqrt(1 - nu (l^2 - 1)).

typedef struct Stretch {
    double stress, side; ///< Pa per rest area; ratio to the rest length
} Stretch;

static bool stretch_to(double stretch, Stretch *out, PliVerifyResult *r)
{
    enum { STAGES = 6 }; // Newton is led there in parts
    Rig g;
    PliError err = { PLI_OK, "" };
    const PliBoxDef box = box_def(1, 1, 1, 3, 3, 3, 0.2);
    const PliBodyDef def = still_def(PLI_STVK, 1e4, 0.3, 1000.0);
    if (!rig_open(&g, NULL, &box, &def, r)) return false;
    bool good = true;
    for (size_t i = 0; i < g.count; ++i)
        for (int c = 0; c < 3; ++c)
            g.held[3 * i + c] = g.rest[3 * i + c] == 0.0 || (c == 2 && g.rest[3 * i + 2] == 1.0); // rollers
    for (int k = 1; k <= STAGES && good; ++k) {
        const double before = 1.0 + (stretch - 1.0) * (k - 1) / STAGES, now = 1.0 + (stretch - 1.0) * k / STAGES;
        for (size_t i = 0; i < g.count; ++i) g.x[3 * i + 2] *= now / before;
        good = pli_equilibrium(g.body, g.x, NULL, g.held, 1e-12, &err) == PLI_OK;
    }
    if (!good) {
        pli_verify_broken(r, "%s", err.text);
    } else {
        memset(g.f, 0, 3 * g.count * sizeof *g.f);
        pli_body_add_force(g.body, g.x, NULL, g.f);
        *out = (Stretch){ 0.0, 0.0 };
        for (size_t i = 0; i < g.count; ++i) {
            if (g.rest[3 * i + 2] == 1.0)
                out->stress -= g.f[3 * i + 2]; // rest area 1: what pulls the end is minus what it pulls back
            if (g.rest[3 * i] == 1.0) out->side = pli_max(out->side, g.x[3 * i]);
        }
    }
    rig_close(&g);
    return good;
}

static void stretch(PliVerifyResult *r, double l)
{
    Stretch s;
    if (!stretch_to(l, &s, r)) return;
    pli_verify_note(r, "stress over Young's modulus, E l (l^2 - 1) / 2");
    pli_verify_relative(r, l * (l * l - 1.0) / 2.0, s.stress / 1e4, 1e-6);
}

static void stretch_08(PliVerifyResult *r) { stretch(r, 0.8); }
static void stretch_09(PliVerifyResult *r) { stretch(r, 0.9); }
static void stretch_11(PliVerifyResult *r) { stretch(r, 1.1); }
static void stretch_12(PliVerifyResult *r) { stretch(r, 1.2); }
static void stretch_13(PliVerifyResult *r) { stretch(r, 1.3); }
static void stretch_14(PliVerifyResult *r) { stretch(r, 1.4); }
static void stretch_15(PliVerifyResult *r) { stretch(r, 1.5); }

static void stretch_side(PliVerifyResult *r)
{
    Stretch s;
    if (!stretch_to(1.2, &s, r)) return;
    pli_verify_note(r, "width over rest width, sqrt(1 - nu (l^2 - 1))");
    pli_verify_relative(r, sqrt(1.0 - 0.3 * (1.2 * 1.2 - 1.0)), s.side, 1e-6);
}

// ---- cantilever -----------------------------------------------------------------------------------------------------------------
// Length 10, height 1, width 1/4, cubic cells: n across the height. The load bends it by 1e-4 of its length.

static const double beam_length = 10.0, beam_height = 1.0, beam_width = 0.25, beam_young = 1e5, beam_density = 1000.0;

static bool beam_open(Rig *g, PliIndex n, PliLaw law, double poisson, PliVerifyResult *r)
{
    const PliBoxDef box = box_def(beam_length, beam_height, beam_width, 10 * n, n, n / 4, 0.0);
    PliBodyDef def = still_def(law, beam_young, poisson, beam_density);
    def.courant = 0.9;
    if (!rig_open(g, NULL, &box, &def, r)) return false;
    for (size_t i = 0; i < g->count; ++i)
        if (g->rest[3 * i] == 0.0) memset(g->held + 3 * i, 1, 3);
    return true;
}

static double timoshenko(double force, double poisson)
{
    const double area = beam_height * beam_width, inertia = beam_width * pow(beam_height, 3) / 12.0;
    const double shear = beam_young / (2.0 * (1.0 + poisson));
    return force * pow(beam_length, 3) / (3.0 * beam_young * inertia) +
           force * beam_length / (5.0 / 6.0 * shear * area);
}

/// Tip deflection over Timoshenko's, NaN when it could not be found.
static double beam_ratio(PliIndex n, double poisson, PliVerifyResult *r)
{
    Rig g;
    PliError err = { PLI_OK, "" };
    const double force = 1e-4 * beam_length / timoshenko(1.0, poisson);
    if (!beam_open(&g, n, PLI_COROT, poisson, r)) return NAN;
    double deflection = NAN, tip = 0.0, share = 0.0;
    if (pli_mesh_find_surface(g.mesh) != PLI_OK) {
        pli_verify_broken(r, "no memory for the surface");
        rig_close(&g);
        return NAN;
    }
    memset(g.f, 0, 3 * g.count * sizeof *g.f);
    for (PliIndex t = 0; t < g.mesh->tri_count; ++t) { // uniform shear traction on the end face
        const PliIndex *c = g.mesh->tris + 3 * (size_t)t;
        double e1[3], e2[3], normal[3];
        if (g.rest[3 * (size_t)c[0]] != beam_length || g.rest[3 * (size_t)c[1]] != beam_length ||
            g.rest[3 * (size_t)c[2]] != beam_length)
            continue;
        v3_sub(e1, g.rest + 3 * (size_t)c[1], g.rest + 3 * (size_t)c[0]);
        v3_sub(e2, g.rest + 3 * (size_t)c[2], g.rest + 3 * (size_t)c[0]);
        v3_cross(normal, e1, e2);
        const double area = 0.5 * v3_norm(normal);
        for (int k = 0; k < 3; ++k) g.f[3 * (size_t)c[k] + 1] -= force * area / (3.0 * beam_height * beam_width);
    }
    if (pli_equilibrium(g.body, g.x, g.f, g.held, 1e-9, &err) != PLI_OK) {
        pli_verify_broken(r, "%s", err.text);
    } else {
        for (size_t i = 0; i < g.count; ++i) { // work of the load over the load: its mean deflection
            tip += (g.x[3 * i + 1] - g.rest[3 * i + 1]) * g.f[3 * i + 1];
            share += g.f[3 * i + 1];
        }
        deflection = -tip / share;
    }
    rig_close(&g);
    return deflection / timoshenko(force, poisson);
}

enum { COARSE = 4, FINE = 16 };

static void cantilever(PliVerifyResult *r)
{
    const double ratio = beam_ratio(FINE, 0.3, r);
    if (isnan(ratio)) return;
    pli_verify_note(r, "tip over Timoshenko's, %d cells across the height, nu 0.3", FINE);
    pli_verify_relative(r, 1.0, ratio, 0.02);
}

// The relative error of the stiffness is that of the strain energy, which linear elements reduce as h^2. With nu = 0 the
// clamp is part of beam theory, so that Timoshenko's answer is the limit; otherwise the clamp moves it by about 1 %.
static void cantilever_order(PliVerifyResult *r)
{
    double error[3];
    for (int k = 0; k < 3; ++k) {
        const double ratio = beam_ratio((PliIndex)(COARSE << k), 0.0, r);
        if (isnan(ratio)) return;
        error[k] = 1.0 / ratio - 1.0;
    }
    pli_verify_note(r, "stiffness errors at %d, %d, %d cells across the height: %.4f, %.4f, %.4f, nu 0", COARSE,
                    2 * COARSE, 4 * COARSE, error[0], error[1], error[2]);
    pli_verify_within(r, 2.0, 0.5 * log2(error[0] / error[2]), 0.1);
}

// ---- free vibration -------------------------------------------------------------------------------------------------------------
// Released from the analytic mode, stepped explicitly, and timed by the zero crossings of its projection on the mode.

/// Steps until `crossings` zeros of the mass-weighted projection on `mode` have passed. @return Hz, NaN on failure.
static double vibration(Rig *g, const double *mode, double dt, int crossings, int most_steps)
{
    double before = NAN, first = NAN, last = NAN;
    int seen = 0;
    for (int k = 0; k < most_steps && seen < crossings; ++k) {
        if (!pli_body_step(g->body, &g->state, dt).finite) return NAN;
        double now = 0.0;
        memset(g->f, 0, 3 * g->count * sizeof *g->f);
        pli_body_add_mass(g->body, mode, 1.0, g->f);
        for (size_t i = 0; i < 3 * g->count; ++i) now += g->f[i] * (g->x[i] - g->rest[i]);
        if (k > 0 && now * before < 0.0) {
            const double at = dt * (k + before / (before - now));
            if (seen++ == 0) first = at;
            last = at;
        }
        before = now;
    }
    return seen == crossings ? (crossings - 1) / (2.0 * (last - first)) : NAN;
}

static bool hold_root(Rig *g, PliVerifyResult *r)
{
    PliError err = { PLI_OK, "" };
    PliIndex *root = PLI_NEW(&g->host, g->count, PliIndex), n = 0;
    for (size_t i = 0; root && i < g->count; ++i)
        if (g->held[3 * i]) root[n++] = (PliIndex)i;
    const bool good = root && pli_body_set_fixed(g->body, root, n, &err) == PLI_OK;
    PLI_FREE(&g->host, root, g->count);
    if (!good) pli_verify_broken(r, "the root could not be held: %s", err.text);
    return good;
}

static void bending_frequency(PliVerifyResult *r)
{
    enum { CELLS = 8 };
    Rig g;
    PliError err = { PLI_OK, "" };
    const double k = 1.87510406871196 / beam_length, sigma = 0.734095513759; // first root of cos cosh = -1
    const double area = beam_height * beam_width, inertia = beam_width * pow(beam_height, 3) / 12.0;
    const double wanted = k * k / (2.0 * acos(-1.0)) * sqrt(beam_young * inertia / (beam_density * area));
    if (!beam_open(&g, CELLS, PLI_COROT, 0.3, r)) return;
    if (!hold_root(&g, r)) goto done;
    // one inverse iteration turns the beam's mode into the mesh's: K u = M mode
    memset(g.v, 0, 3 * g.count * sizeof *g.v);
    for (size_t i = 0; i < g.count; ++i) {
        const double s = k * g.rest[3 * i];
        g.w[3 * i + 1] = 1e-4 * (cosh(s) - cos(s) - sigma * (sinh(s) - sin(s)));
    }
    memset(g.f, 0, 3 * g.count * sizeof *g.f);
    pli_body_add_mass(g.body, g.w, pow(2.0 * acos(-1.0) * wanted, 2), g.f);
    if (pli_equilibrium(g.body, g.x, g.f, g.held, 1e-9, &err) != PLI_OK) {
        pli_verify_broken(r, "%s", err.text);
        goto done;
    }
    const double measured = vibration(&g, g.w, 0.005 / wanted, 2, 400);
    pli_verify_note(r, "over Euler-Bernoulli's, %d cells across the height, nu 0.3, stepped explicitly", CELLS);
    pli_verify_relative(r, 1.0, measured / wanted, 0.02);
done:
    rig_close(&g);
}

static void axial_frequency(PliVerifyResult *r)
{
    Rig g;
    const double wanted = sqrt(beam_young / beam_density) / (4.0 * beam_length);
    if (!beam_open(&g, 4, PLI_STVK, 0.0, r)) return;
    if (!hold_root(&g, r)) goto done;
    for (size_t i = 0; i < g.count; ++i) {
        g.w[3 * i] = 1e-4 * sin(acos(-1.0) / 2.0 * g.rest[3 * i] / beam_length);
        g.x[3 * i] += g.w[3 * i];
    }
    const double measured = vibration(&g, g.w, 0.005 / wanted, 9, 2000);
    pli_verify_note(r, "over sqrt(E/rho)/4L, nu 0, four periods stepped explicitly");
    pli_verify_relative(r, 1.0, measured / wanted, 0.02);
done:
    rig_close(&g);
}

// ---- derivatives ------------------------------------------------------------------------------------------------------------------

/// Largest relative error over a few directions of the derivative of energy (order 1) or force (order 2).
static void derivative(PliVerifyResult *r, PliLaw law, int order)
{
    enum { DIRECTIONS = 5 };
    Rig g;
    const PliBoxDef box = box_def(1, 1, 1, 3, 3, 3, 0.2);
    const PliBodyDef def = still_def(law, 1e4, 0.3, 1000.0);
    const double h = 1e-5;
    double worst = 0.0;
    uint64_t seed = 99;
    if (!rig_open(&g, NULL, &box, &def, r)) return;
    random_state(&g, 0.3, 0.03);
    double *f2 = PLI_NEW(&g.host, 3 * g.count, double), *df = PLI_NEW(&g.host, 3 * g.count, double),
           *d = PLI_NEW(&g.host, 3 * g.count, double);
    if (!f2 || !df || !d) {
        pli_verify_broken(r, "no memory");
        goto done;
    }
    for (int k = 0; k < DIRECTIONS; ++k) {
        double difference = 0.0, size = 0.0, e[2];
        for (size_t i = 0; i < 3 * g.count; ++i) d[i] = 2.0 * pli_random_unit(&seed) - 1.0;
        for (int side = 0; side < 2; ++side) {
            double *f = side ? f2 : g.f;
            for (size_t i = 0; i < 3 * g.count; ++i) g.w[i] = g.x[i] + (side ? h : -h) * d[i];
            memset(f, 0, 3 * g.count * sizeof *f);
            pli_body_add_force(g.body, g.w, NULL, f);
            e[side] = pli_body_energy(g.body, g.w, NULL).elastic;
        }
        memset(df, 0, 3 * g.count * sizeof *df);
        pli_body_add_force(g.body, g.x, NULL, df); // also where dforce is taken
        if (order == 1) {
            double slope = 0.0;
            for (size_t i = 0; i < 3 * g.count; ++i) slope -= df[i] * d[i];
            difference = fabs((e[1] - e[0]) / (2.0 * h) - slope);
            size = fabs(slope);
        } else {
            memset(df, 0, 3 * g.count * sizeof *df);
            pli_body_add_dforce(g.body, d, 1.0, df);
            for (size_t i = 0; i < 3 * g.count; ++i) {
                difference = pli_max(difference, fabs((f2[i] - g.f[i]) / (2.0 * h) - df[i]));
                size = pli_max(size, fabs(df[i]));
            }
        }
        worst = pli_max(worst, difference / size);
    }
    pli_verify_note(r, "largest relative error in %d random directions, strained by 30 %%", DIRECTIONS);
    pli_verify_at_most(r, 1e-6, worst);
done:
    PLI_FREE(&g.host, f2, 3 * g.count);
    PLI_FREE(&g.host, df, 3 * g.count);
    PLI_FREE(&g.host, d, 3 * g.count);
    rig_close(&g);
}

static void force_stvk(PliVerifyResult *r) { derivative(r, PLI_STVK, 1); }
static void force_corot(PliVerifyResult *r) { derivative(r, PLI_COROT, 1); }
static void force_neohookean(PliVerifyResult *r) { derivative(r, PLI_NEOHOOKEAN, 1); }
static void dforce_stvk(PliVerifyResult *r) { derivative(r, PLI_STVK, 2); }
static void dforce_corot(PliVerifyResult *r) { derivative(r, PLI_COROT, 2); }
static void dforce_neohookean(PliVerifyResult *r) { derivative(r, PLI_NEOHOOKEAN, 2); }

// ---- momentum ----------------------------------------------------------------------------------------------------------------------

/// A free, spinning, stretched box: drift of linear (or angular) momentum over 1000 steps, relative to what it has.
static void momentum(PliVerifyResult *r, PliLaw law, bool multirate, bool angular)
{
    enum { STEPS = 1000 };
    Rig g;
    const PliBoxDef box = box_def(1, 0.7, 0.5, 5, 4, 3, 0.25);
    PliBodyDef def = still_def(law, 1e4, 0.3, 1000.0);
    def.multirate = multirate ? PLI_RATES_OWN : PLI_RATES_AUTO;
    double drift = 0.0;
    if (!rig_open(&g, NULL, &box, &def, r)) return;
    random_state(&g, 0.1, 0.005);
    const double spin[3] = { 0.5, -1.0, 2.0 }, go[3] = { 0.3, 0.2, -0.5 };
    for (size_t i = 0; i < g.count; ++i) {
        v3_cross(g.v + 3 * i, spin, g.x + 3 * i);
        v3_add(g.v + 3 * i, g.v + 3 * i, go);
    }
    const PliEnergy start = pli_body_energy(g.body, g.x, g.v);
    bool finite = true;
    for (int k = 0; k < STEPS && finite; ++k) {
        finite = pli_body_step(g.body, &g.state, 0.002).finite;
        const PliEnergy now = pli_body_energy(g.body, g.x, g.v);
        drift = pli_max(drift, angular ? v3_distance(now.angular, start.angular) / v3_norm(start.angular)
                                       : v3_distance(now.momentum, start.momentum) / v3_norm(start.momentum));
    }
    pli_verify_note(r, "largest relative drift in %d steps%s", STEPS, multirate ? ", elements at their own rate" : "");
    pli_verify_at_most(r, 1e-10, finite ? drift : NAN);
    rig_close(&g);
}

static void linear_stvk(PliVerifyResult *r) { momentum(r, PLI_STVK, false, false); }
static void linear_corot(PliVerifyResult *r) { momentum(r, PLI_COROT, false, false); }
static void linear_neohookean(PliVerifyResult *r) { momentum(r, PLI_NEOHOOKEAN, false, false); }
static void linear_multirate(PliVerifyResult *r) { momentum(r, PLI_STVK, true, false); }
static void angular_stvk(PliVerifyResult *r) { momentum(r, PLI_STVK, false, true); }
static void angular_corot(PliVerifyResult *r) { momentum(r, PLI_COROT, false, true); }
static void angular_neohookean(PliVerifyResult *r) { momentum(r, PLI_NEOHOOKEAN, false, true); }
static void angular_multirate(PliVerifyResult *r) { momentum(r, PLI_STVK, true, true); }

// ---- determinism ---------------------------------------------------------------------------------------------------------------------

/// Number of different state hashes over 1 to 8 workers and every vector unit of this machine.
static void determinism(PliVerifyResult *r, PliIntegrator integrator)
{
    enum { WORKERS = 8, UNITS = 3 };
    static const char *const unit_name[UNITS] = { "none", "avx2", "avx512" };
    uint64_t hash[WORKERS * UNITS];
    int runs = 0, different = 0, units = 0;
    const char *asked = getenv("PLIANT_SIMD");
    char *wish = asked ? strdup(asked) : NULL;
    unsetenv("PLIANT_SIMD");
    const PliSimd best = pli_simd_best();
    bool good = true;
    for (int u = 0; u <= (int)best && good; ++u, ++units)
        for (int threads = 1; threads <= WORKERS && good; ++threads) {
            Rig g;
            const PliBoxDef box = box_def(1, 1, 1, 12, 12, 12, 0.2);
            PliBodyDef def = still_def(PLI_STVK, 1e4, 0.3, 1000.0);
            PliHost host = pli_host_default();
            PliPool *pool = pli_pool_create(threads);
            def.integrator = integrator;
            def.gravity[1] = -9.81;
            if (pool) pli_pool_lend(pool, &host);
            setenv("PLIANT_SIMD", unit_name[u], 1); // read when the body is made
            good = pool && rig_open(&g, &host, &box, &def, r);
            if (!pool) pli_verify_broken(r, "%d workers could not be started", threads);
            if (good) {
                random_state(&g, 0.2, 0.002);
                for (int k = 0; k < (integrator == PLI_IMPLICIT ? 5 : 20); ++k) pli_body_step(g.body, &g.state, 0.01);
                hash[runs++] = pli_body_hash(g.body, &g.state);
                rig_close(&g);
            }
            pli_pool_destroy(pool);
        }
    if (wish)
        setenv("PLIANT_SIMD", wish, 1);
    else
        unsetenv("PLIANT_SIMD");
    free(wish);
    if (!good) return;
    for (int i = 0; i < runs; ++i) {
        bool seen = false;
        for (int j = 0; j < i; ++j) seen = seen || hash[j] == hash[i];
        different += !seen;
    }
    pli_verify_note(r, "different hashes in %d runs: 1 to %d threads, %d vector units up to %s", runs, WORKERS, units,
                    unit_name[best]);
    pli_verify_within(r, 1.0, different, 0.0);
}

static void determinism_explicit(PliVerifyResult *r) { determinism(r, PLI_SYMPLECTIC); }
static void determinism_implicit(PliVerifyResult *r) { determinism(r, PLI_IMPLICIT); }

const PliVerifyCase pli_verify_fem_cases[] = {
    { "fem", "affine patch, stvk", patch_stvk },
    { "fem", "affine patch, corotational", patch_corot },
    { "fem", "affine patch, neohookean", patch_neohookean },
    { "fem", "uniaxial stretch 0.8, stvk", stretch_08 },
    { "fem", "uniaxial stretch 0.9, stvk", stretch_09 },
    { "fem", "uniaxial stretch 1.1, stvk", stretch_11 },
    { "fem", "uniaxial stretch 1.2, stvk", stretch_12 },
    { "fem", "uniaxial stretch 1.3, stvk", stretch_13 },
    { "fem", "uniaxial stretch 1.4, stvk", stretch_14 },
    { "fem", "uniaxial stretch 1.5, stvk", stretch_15 },
    { "fem", "width at stretch 1.2, stvk", stretch_side },
    { "fem", "cantilever tip", cantilever },
    { "fem", "cantilever convergence order", cantilever_order },
    { "fem", "first bending frequency", bending_frequency },
    { "fem", "first axial frequency", axial_frequency },
    { "fem", "force = -dE/dx, stvk", force_stvk },
    { "fem", "force = -dE/dx, corotational", force_corot },
    { "fem", "force = -dE/dx, neohookean", force_neohookean },
    { "fem", "dforce = d(force), stvk", dforce_stvk },
    { "fem", "dforce = d(force), corotational", dforce_corot },
    { "fem", "dforce = d(force), neohookean", dforce_neohookean },
    { "fem", "linear momentum, stvk", linear_stvk },
    { "fem", "linear momentum, corotational", linear_corot },
    { "fem", "linear momentum, neohookean", linear_neohookean },
    { "fem", "linear momentum, multirate", linear_multirate },
    { "fem", "angular momentum, stvk", angular_stvk },
    { "fem", "angular momentum, corotational", angular_corot },
    { "fem", "angular momentum, neohookean", angular_neohookean },
    { "fem", "angular momentum, multirate", angular_multirate },
    { "fem", "one hash, explicit", determinism_explicit },
    { "fem", "one hash, implicit", determinism_implicit },
    { NULL, NULL, NULL },
};
