/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The experiment of Debunne et al. 2001: a cube attached to a wall by one side is released under gravity, undamped, with 27, 57 and
// 135 nodes. The levels should move alike. Springs, with Van Gelder's stiffness, are the counter-example: how they move depends on
// which irregular mesh of the same size they were made from.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/fold.h"
#include "base/vec.h"
#include "scheme/tetlod/evidence/rig.h"
#include "evidence/verify.h"

enum { SIZES = 3, VARIANTS = 4, REFERENCE_CELLS = 14 };
static const int cube_nodes[SIZES] = { 27, 57, 135 };
static const double gravity = 0.02; // m/s2: a sag of about 1 % of the side, 10 kPa and 1000 kg/m3

typedef struct Swing {
    double frequency; ///< Hz
    double amplitude; ///< m, half of the way of the free corners
} Swing;

/// Frequency and amplitude of w(t), sampled every dt: crossings of its mean, and half of the way between its extremes (irregular
/// meshes hand energy to sideways motion and back, so a mean square would depend on when one stops).
static Swing measure(const double *w, int count, double dt)
{
    double mean = 0.0, low = w[0], high = w[0], first = NAN, last = NAN;
    int crossings = 0, side = 0;
    for (int k = 0; k < count; ++k) mean += w[k] / count, low = pli_min(low, w[k]), high = pli_max(high, w[k]);
    const double amplitude = 0.5 * (high - low);
    for (int k = 0; k < count; ++k) { // a crossing counts when it leaves a band of a fifth of the amplitude
        const double off = w[k] - mean;
        const int now = off > 0.2 * amplitude ? 1 : off < -0.2 * amplitude ? -1 : 0;
        if (now == 0 || now == side) continue;
        if (side != 0) {
            int at = k;
            while (at > 0 && (w[at - 1] - mean) * now > 0.0) --at;
            const double a = w[at - 1] - mean, b = w[at] - mean, when = dt * (at - 1 + a / (a - b));
            if (crossings++ == 0) first = when;
            last = when;
        }
        side = now;
    }
    return (Swing){ crossings > 4 ? (crossings - 1) / (2.0 * (last - first)) : NAN, amplitude };
}

enum { SAMPLES = 1400 };
static const double sample_step = 0.02; // s; ten periods in all

/// The four free corners are nodes of every mesh: their mean height does not depend on where the other nodes are.
static bool is_free_corner(const double p[3])
{
    return p[0] > 1.0 - 1e-9 && (p[1] < 1e-9 || p[1] > 1.0 - 1e-9) && (p[2] < 1e-9 || p[2] > 1.0 - 1e-9);
}

/// Mean way the free corners went down.
static double sag(const double *rest, const double *x, size_t count)
{
    double sum = 0.0;
    int corners = 0;
    for (size_t i = 0; i < count; ++i)
        if (is_free_corner(rest + 3 * i)) sum += rest[3 * i + 1] - x[3 * i + 1], corners++;
    return corners == 4 ? sum / 4.0 : NAN;
}

static Swing release(PliTetLodRig *g, PliError *err)
{
    static double w[SAMPLES];
    const Swing none = { NAN, NAN };
    if (!pli_rig_clamp(g, 0, 1e-9, err)) return none;
    for (int k = 0; k < SAMPLES; ++k) {
        if (!pli_body_step(g->body, &g->state, sample_step).finite) return none;
        w[k] = sag(g->rest, g->x, g->count);
    }
    return measure(w, SAMPLES, sample_step);
}

static PliTetLodDef cube_def(void)
{
    PliTetLodDef def = pli_rig_def();
    def.base.adapt = false;
    def.base.gravity[1] = -gravity;
    return def;
}

/// One level of the tetlod body made of the three sizes (finite elements are the same as a body of one level).
static Swing cube(int size, int variant, PliError *err)
{
    PliTetLodRig g = { 0 };
    char name[64];
    Swing s = { NAN, NAN };
    snprintf(name, sizeof name, "meshes/cube_%d_%d.msh", cube_nodes[size], variant);
    if (pli_rig_add_file(&g, name, err) && pli_rig_open(&g, cube_def(), err)) s = release(&g, err);
    pli_rig_close(&g);
    return s;
}

static Swing fine_cube(PliError *err)
{
    PliTetLodRig g = { 0 };
    Swing s = { NAN, NAN };
    if (pli_rig_add_box(&g, REFERENCE_CELLS, 1.0, false, err) && pli_rig_open(&g, cube_def(), err))
        s = release(&g, err);
    pli_rig_close(&g);
    return s;
}

// ---- springs -----------------------------------------------------------------------------------------------------------------------

typedef struct Spring {
    PliIndex a, b;
    double length, stiffness;
} Spring;

static PliIndex add_spring(Spring *list, PliIndex count, PliIndex a, PliIndex b, double share)
{
    const PliIndex low = a < b ? a : b, high = a < b ? b : a;
    for (PliIndex k = 0; k < count; ++k)
        if (list[k].a == low && list[k].b == high) {
            list[k].stiffness += share;
            return count;
        }
    list[count] = (Spring){ low, high, 0.0, share };
    return count + 1;
}

/// Van Gelder 1998: k = E sum V / l^2 over the tetrahedra around an edge; a quarter of each volume's mass on its corners.
static Swing springs(int size, int variant, PliError *err)
{
    static double w[SAMPLES];
    const PliMaterial material = pli_material_default();
    PliTetLodRig g = { 0 };
    char name[64];
    Swing result = { NAN, NAN };
    snprintf(name, sizeof name, "meshes/cube_%d_%d.msh", cube_nodes[size], variant);
    if (!pli_rig_add_file(&g, name, err)) {
        pli_rig_close(&g);
        return result;
    }
    const PliMesh *m = g.mesh[0];
    const size_t n = m->point_count, most = 6 * (size_t)m->tet_count;
    Spring *s = PLI_NEW(&g.host, most, Spring);
    double *x = PLI_NEW(&g.host, 3 * n, double), *v = PLI_NEW(&g.host, 3 * n, double),
           *f = PLI_NEW(&g.host, 3 * n, double), *mass = PLI_NEW(&g.host, n, double);
    if (s && x && v && f && mass) {
        PliIndex count = 0;
        memset(v, 0, 3 * n * sizeof *v);
        memset(mass, 0, n * sizeof *mass);
        memcpy(x, m->x, 3 * n * sizeof *x);
        for (PliIndex t = 0; t < m->tet_count; ++t) {
            const PliIndex *c = m->tets + 4 * (size_t)t;
            double e[9];
            for (int k = 0; k < 3; ++k) v3_sub(e + 3 * k, m->x + 3 * (size_t)c[k + 1], m->x + 3 * (size_t)c[0]);
            const double volume = m3_det(e) / 6.0;
            for (int a = 0; a < 4; ++a) {
                mass[c[a]] += 0.25 * volume * material.density;
                for (int b = a + 1; b < 4; ++b) count = add_spring(s, count, c[a], c[b], material.young * volume);
            }
        }
        double stiffest = 0.0;
        for (PliIndex k = 0; k < count; ++k) {
            s[k].length = v3_distance(m->x + 3 * (size_t)s[k].a, m->x + 3 * (size_t)s[k].b);
            s[k].stiffness /= s[k].length * s[k].length;
            stiffest = pli_max(stiffest, s[k].stiffness / pli_min(mass[s[k].a], mass[s[k].b]));
        }
        const int substeps = (int)ceil(sample_step * sqrt(stiffest) * 4.0);
        const double h = sample_step / substeps;
        for (int q = 0; q < SAMPLES; ++q) {
            for (int sub = 0; sub < substeps; ++sub) {
                memset(f, 0, 3 * n * sizeof *f);
                for (PliIndex k = 0; k < count; ++k) {
                    double d[3];
                    v3_sub(d, x + 3 * (size_t)s[k].b, x + 3 * (size_t)s[k].a);
                    const double length = v3_norm(d), pull = s[k].stiffness * (length - s[k].length) / length;
                    v3_madd(f + 3 * (size_t)s[k].a, pull, d);
                    v3_madd(f + 3 * (size_t)s[k].b, -pull, d);
                }
                for (size_t i = 0; i < n; ++i) {
                    if (m->x[3 * i] <= 1e-9) continue;
                    v3_madd(v + 3 * i, h / mass[i], f + 3 * i);
                    v[3 * i + 1] -= h * gravity;
                    v3_madd(x + 3 * i, h, v + 3 * i);
                }
            }
            w[q] = sag(m->x, x, n);
        }
        result = measure(w, SAMPLES, sample_step);
    }
    PLI_FREE(&g.host, s, most);
    PLI_FREE(&g.host, x, 3 * n);
    PLI_FREE(&g.host, v, 3 * n);
    PLI_FREE(&g.host, f, 3 * n);
    PLI_FREE(&g.host, mass, n);
    pli_rig_close(&g);
    return result;
}

// ---- cases -------------------------------------------------------------------------------------------------------------------------

typedef struct Cubes {
    Swing mean[SIZES], reference;
    double scatter[SIZES], spring_scatter[SIZES]; ///< (largest - smallest) / mean of the frequency over the variants
    bool made, good;
    char why[160];
} Cubes;

static double spread_of(const double *value)
{
    double low = value[0], high = value[0], sum = 0.0;
    for (int k = 0; k < VARIANTS; ++k)
        low = pli_min(low, value[k]), high = pli_max(high, value[k]), sum += value[k] / VARIANTS;
    return (high - low) / sum;
}

/// Every cube once; the cases look at the same numbers.
static const Cubes *cubes(PliVerifyResult *r)
{
    static Cubes c;
    if (!c.made) {
        PliError err = { PLI_OK, "a cube did not swing" };
        c.made = c.good = true;
        for (int s = 0; s < SIZES; ++s) {
            double fem[VARIANTS], spring[VARIANTS];
            for (int k = 0; k < VARIANTS; ++k) {
                const Swing a = cube(s, k, &err), b = springs(s, k, &err);
                fem[k] = a.frequency, spring[k] = b.frequency;
                c.mean[s].frequency += a.frequency / VARIANTS;
                c.mean[s].amplitude += a.amplitude / VARIANTS;
                c.good = c.good && isfinite(a.frequency) && isfinite(b.frequency);
            }
            c.scatter[s] = spread_of(fem);
            c.spring_scatter[s] = spread_of(spring);
        }
        c.reference = fine_cube(&err);
        c.good = c.good && isfinite(c.reference.frequency);
        snprintf(c.why, sizeof c.why, "%.150s", err.text);
    }
    if (!c.good) pli_verify_broken(r, "%s", c.why);
    return c.good ? &c : NULL;
}

static void frequency(PliVerifyResult *r, int size, double tolerance)
{
    const Cubes *c = cubes(r);
    if (!c) return;
    pli_verify_note(r, "over that of 135 nodes, mean of %d irregular meshes each; %.4f and %.4f Hz", VARIANTS,
                    c->mean[size].frequency, c->mean[2].frequency);
    pli_verify_within(r, 1.0, c->mean[size].frequency / c->mean[2].frequency, tolerance);
}

static void amplitude(PliVerifyResult *r, int size, double tolerance)
{
    const Cubes *c = cubes(r);
    if (!c) return;
    pli_verify_note(r, "over that of 135 nodes; %.5f and %.5f m", c->mean[size].amplitude, c->mean[2].amplitude);
    pli_verify_within(r, 1.0, c->mean[size].amplitude / c->mean[2].amplitude, tolerance);
}

static void frequency_27(PliVerifyResult *r) { frequency(r, 0, 0.10); }
static void frequency_57(PliVerifyResult *r) { frequency(r, 1, 0.06); }
static void amplitude_27(PliVerifyResult *r) { amplitude(r, 0, 0.20); }
static void amplitude_57(PliVerifyResult *r) { amplitude(r, 1, 0.12); }

/// Frequencies must fall towards the fine one: the smallest gap between neighbours in 27 >= 57 >= 135 >= fine.
static void from_above(PliVerifyResult *r)
{
    const Cubes *c = cubes(r);
    if (!c) return;
    double ratio[SIZES], least = INFINITY;
    for (int s = 0; s < SIZES; ++s) ratio[s] = c->mean[s].frequency / c->reference.frequency;
    for (int s = 0; s < SIZES; ++s) least = pli_min(least, ratio[s] - (s + 1 < SIZES ? ratio[s + 1] : 1.0));
    const double steps[2] = { c->mean[1].amplitude / c->mean[0].amplitude,
                              c->mean[2].amplitude / c->mean[1].amplitude };
    pli_verify_note(r,
                    "smallest step down in 27, 57, 135, %d^3 cells; over the fine one %.4f %.4f %.4f, amplitudes grow "
                    "by %.3f %.3f %.3f",
                    REFERENCE_CELLS, ratio[0], ratio[1], ratio[2], steps[0], steps[1],
                    c->reference.amplitude / c->mean[2].amplitude);
    pli_verify_at_least(
        r, 0.0,
        pli_min(least, pli_min(steps[0], pli_min(steps[1], c->reference.amplitude / c->mean[2].amplitude)) - 1.0));
}

static void spring_scatter(PliVerifyResult *r)
{
    const Cubes *c = cubes(r);
    if (!c) return;
    double least = INFINITY;
    for (int s = 0; s < SIZES; ++s) least = pli_min(least, c->spring_scatter[s] / c->scatter[s]);
    pli_verify_note(
        r,
        "scatter of the frequency over %d meshes, springs over elements; 27: %.3f %.3f, 57: %.3f %.3f, 135: %.3f %.3f",
        VARIANTS, c->spring_scatter[0], c->scatter[0], c->spring_scatter[1], c->scatter[1], c->spring_scatter[2],
        c->scatter[2]);
    pli_verify_at_least(r, 2.0, least);
}

const PliVerifyCase pli_verify_tetlod_cube_cases[] = {
    { "tetlod", "cube, frequency, 27 nodes", frequency_27 },
    { "tetlod", "cube, frequency, 57 nodes", frequency_57 },
    { "tetlod", "cube, amplitude, 27 nodes", amplitude_27 },
    { "tetlod", "cube, amplitude, 57 nodes", amplitude_57 },
    { "tetlod", "cube, approach from above", from_above },
    { "tetlod", "cube, scatter of springs", spring_scatter },
    { NULL, NULL, NULL },
};
