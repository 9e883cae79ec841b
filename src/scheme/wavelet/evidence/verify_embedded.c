/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A ball inside a grid of cubes against the analytic ball, wherever it lies in the grid.
#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "base/memory.h"
#include "base/vec.h"
#include "evidence/verify.h"
#include "mesher/fitted.h"
#include "mesher/surface.h"
#include "scheme/wavelet/evidence/rig.h"
#include "scheme/wavelet/wavelet.h"

static const double YOUNG = 1e5, POISSON = 0.3, DENSITY = 1000.0, PI = 3.14159265358979323846;
enum { OFFSETS = 12, ACROSS = 8 }; ///< cubes across the ball, whose radius is 1 m

/// Eight faces of an octahedron, cut into `side`^2 triangles each and blown up, with the volume of the ball.
static PliMesh *ball_mesh(const PliHost *host, PliIndex side, double radius)
{
    PliMesh *m = pli_mesh_create(host);
    const PliIndex corners = (side + 1) * (side + 2) / 2;
    if (!m || pli_mesh_resize_points(m, 8 * corners) || pli_mesh_resize_cells(m, PLI_TRI, 8 * side * side)) {
        pli_mesh_destroy(m);
        return NULL;
    }
    PliIndex at = 0, tri = 0;
    for (PliIndex f = 0; f < 8; ++f) {
        const PliIndex base = at;
        for (PliIndex j = 0; j <= side; ++j)
            for (PliIndex i = 0; i + j <= side; ++i, ++at) {
                double *p = m->x + 3 * (size_t)at;
                p[0] = (double)i * (f & 1 ? -1.0 : 1.0), p[1] = (double)j * (f & 2 ? -1.0 : 1.0),
                p[2] = (double)(side - i - j) * (f & 4 ? -1.0 : 1.0);
                v3_scale(p, radius / v3_norm(p));
            }
        const bool flip = ((f & 1) != 0) ^ ((f & 2) != 0) ^ ((f & 4) != 0);
        PliIndex row = base;
        for (PliIndex j = 0; j < side; ++j) {
            const PliIndex width = side - j + 1, above = row + width;
            for (PliIndex i = 0; i + 1 < width; ++i)
                for (PliIndex half = 0; half < (i + 2 < width ? 2u : 1u); ++half) {
                    PliIndex *t = m->tris + 3 * (size_t)tri++;
                    t[0] = half ? row + i + 1 : row + i;
                    t[1] = half ? above + i + 1 : row + i + 1;
                    t[2] = above + i;
                    if (flip) {
                        const PliIndex keep = t[1];
                        t[1] = t[2], t[2] = keep;
                    }
                }
            row = above;
        }
    }
    double six = 0.0;
    for (PliIndex t = 0; t < m->tri_count; ++t) {
        double n[3];
        v3_cross(n, m->x + 3 * (size_t)m->tris[3 * t + 1], m->x + 3 * (size_t)m->tris[3 * t + 2]);
        six += v3_dot(m->x + 3 * (size_t)m->tris[3 * t], n);
    }
    const double grow = cbrt(8.0 * PI * radius * radius * radius / fabs(six));
    for (size_t i = 0; i < 3 * (size_t)m->point_count; ++i) m->x[i] *= grow;
    return m;
}

/// The grid lies at another place each time: a sequence that fills the cell evenly.
static PliWaveletDef ball_def(const PliMesh *mesh, PliWaveletBasis basis, int place)
{
    PliWaveletDef d = wavelet_box_def(ACROSS + 3, ACROSS + 3, ACROSS + 3, 2.0 / ACROSS);
    static const double step[3] = { 0.8191725134, 0.6710436067, 0.5497004779 };
    for (int a = 0; a < 3; ++a) {
        const double shift = fmod(0.5 + place * step[a], 1.0) * 2.0 / ACROSS;
        d.box_min[a] = -1.0 - 4.0 / ACROSS + shift;
        d.box_max[a] = d.box_min[a] + (ACROSS + 3) * 2.0 / ACROSS;
    }
    d.surface = mesh, d.basis = basis, d.levels = 0, d.base.adapt = false;
    d.base.material.young = YOUNG, d.base.material.poisson = POISSON, d.base.material.density = DENSITY;
    return d;
}

/// f = pressure P2(cos) on the unit sphere, by rings of equal width from pole to pole.
static void press(WaveletRig *g, double pressure)
{
    enum { RINGS = 128, AROUND = 96 };
    memset(g->f, 0, 3 * g->count * sizeof *g->f);
    for (int i = 0; i < RINGS; ++i)
        for (int j = 0; j < AROUND; ++j) {
            const double z = cos(PI * (i + 0.5) / RINGS), r = sqrt(1.0 - z * z), turn = 2.0 * PI * (j + 0.5) / AROUND;
            const double area = (cos(PI * i / RINGS) - cos(PI * (i + 1) / RINGS)) * 2.0 * PI / AROUND,
                         push = -pressure * 0.5 * (3.0 * z * z - 1.0) * area;
            const double p[3] = { r * cos(turn), r * sin(turn), z };
            PliIndex column[PLI_LOCATE_MAX];
            double weight[PLI_LOCATE_MAX];
            const PliIndex n = pli_body_locate(g->body, p, column, weight, PLI_LOCATE_MAX);
            for (PliIndex e = 0; e < n; ++e) v3_madd(g->f + 3 * (size_t)column[e], weight[e] * push, p);
        }
    g->state.f_ext = g->f;
}

/// Displacement of the poles of a unit ball under the pressure p P2(cos): harmonic fields of degree two, after Love.
static double pole_of(double pressure)
{
    const double mu = YOUNG / (2.0 * (1.0 + POISSON)),
                 lambda = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON)),
                 alpha = -2.0 * (2.0 * lambda + 7.0 * mu) / (5.0 * lambda + 7.0 * mu),
                 b = -pressure / (lambda * (4.0 + 5.0 * alpha) + mu * (4.0 + 4.0 * alpha)),
                 a = -0.5 * b * (4.0 + alpha);
    return 2.0 * a + b * (2.0 + alpha);
}

/// Rad/s of the slowest twist, over that of the analytic ball, by inverse iteration free of rigid motions.
static double twist_of(WaveletRig *g)
{
    const double exact = 2.501132624 * sqrt(YOUNG / (2.0 * (1.0 + POISSON)) / DENSITY), h = 1000.0 / exact;
    double *u = PLI_NEW(&g->host, 3 * g->count, double), square = NAN;
    const double *rest = pli_body_rest(g->body);
    for (size_t i = 0; u && i < g->count; ++i) {
        const double *p = rest + 3 * i;
        const double twist[3] = { -p[2] * p[1], p[2] * p[0], 0.0 };
        v3_copy(u + 3 * i, twist);
    }
    for (int k = 0; u && k < 12; ++k) {
        // rigid motions are M-orthogonal to what is looked for: translations and rotations about the middle
        for (int pass = 0; pass < 24; ++pass) { // they are not orthogonal to each other: again and again
            const int m = pass % 6;
            double *w = g->v, top = 0.0, bottom = 0.0;
            for (size_t i = 0; i < g->count; ++i) {
                const double axis[3] = { m % 3 == 0, m % 3 == 1, m % 3 == 2 };
                if (m < 3)
                    v3_copy(w + 3 * i, axis);
                else
                    v3_cross(w + 3 * i, axis, rest + 3 * i);
            }
            memset(g->f, 0, 3 * g->count * sizeof *g->f);
            pli_body_add_mass(g->body, w, 1.0, g->f);
            for (size_t i = 0; i < 3 * g->count; ++i) top += u[i] * g->f[i], bottom += w[i] * g->f[i];
            for (size_t i = 0; i < 3 * g->count; ++i) u[i] -= top / bottom * w[i];
        }
        memset(g->f, 0, 3 * g->count * sizeof *g->f);
        pli_body_add_mass(g->body, u, 1.0, g->f);
        if (pli_body_response(g->body, g->f, h, g->v) != PLI_OK) break;
        double top = 0.0, bottom = 0.0;
        for (size_t i = 0; i < 3 * g->count; ++i) top += u[i] * g->f[i], bottom += g->v[i] / h * g->f[i];
        square = (top / bottom - 1.0) / (h * h);
        for (size_t i = 0; i < 3 * g->count; ++i) u[i] = g->v[i] * top / bottom / h;
    }
    PLI_FREE(&g->host, u, 3 * g->count);
    return sqrt(square) / exact;
}

typedef struct Ball {
    double mass, frequency, squeeze; ///< over the analytic ones
} Ball;

static bool measure_ball(const PliWaveletDef *d, Ball *out, PliVerifyResult *r)
{
    WaveletRig g;
    PliError err = { 0 };
    if (!wavelet_rig_open(&g, d, -1, &err)) {
        pli_verify_broken(r, "%s", err.text);
        return false;
    }
    const double exact = 2.501132624 * sqrt(YOUNG / (2.0 * (1.0 + POISSON)) / DENSITY), pressure = 1e2;
    out->mass = pli_wavelet_info(g.body).volume / (4.0 * PI / 3.0);
    press(&g, pressure);
    (void)pli_body_step(g.body, &g.state, 1000.0 / exact);
    const double north[3] = { 0, 0, 1 }, south[3] = { 0, 0, -1 };
    double n[3], s[3];
    wavelet_rig_place(&g, north, n);
    wavelet_rig_place(&g, south, s);
    out->squeeze = (0.5 * (n[2] - s[2]) - 1.0) / pole_of(pressure);
    out->frequency = twist_of(&g);
    wavelet_rig_close(&g);
    return true;
}

enum { MASS, FREQUENCY, SQUEEZE };

/// All places, once for all cases. @return false: something went wrong, and r says what
static bool measure_places(PliWaveletBasis basis, const Ball **out, PliVerifyResult *r)
{
    static Ball found[PLI_WAVELET_TRILINEAR + 1][OFFSETS];
    static bool known[PLI_WAVELET_TRILINEAR + 1];
    const PliHost host = pli_host_default();
    PliMesh *mesh = known[basis] ? NULL : ball_mesh(&host, 40, 1.0);
    bool good = known[basis] || mesh;
    for (int k = 0; k < OFFSETS && good && !known[basis]; ++k) {
        const PliWaveletDef d = ball_def(mesh, basis, k);
        good = measure_ball(&d, &found[basis][k], r);
    }
    pli_mesh_destroy(mesh);
    *out = found[basis];
    return known[basis] = good;
}

static void ball(PliVerifyResult *r, int what, bool spread, PliWaveletBasis basis)
{
    const Ball *found;
    double low = INFINITY, high = -INFINITY, off = 0.0;
    if (!measure_places(basis, &found, r)) return;
    for (int k = 0; k < OFFSETS; ++k) {
        const double v = what == MASS ? found[k].mass : what == FREQUENCY ? found[k].frequency : found[k].squeeze;
        low = pli_min(low, v), high = pli_max(high, v), off = pli_max(off, fabs(v - 1.0));
    }
    if (spread)
        pli_verify_at_most(r, 1.0, 100.0 * (high - low));
    else
        pli_verify_at_most(r, what == MASS ? 0.1 : 3.0, 100.0 * off);
    pli_verify_note(r, "%% of the analytic ball: %s, %d cubes across, 12 places in the grid: %.3f to %.3f %%",
                    what == MASS        ? "mass"
                    : what == FREQUENCY ? "first frequency (twist)"
                                        : "squeeze by a pressure P2",
                    ACROSS, 100.0 * (low - 1.0), 100.0 * (high - 1.0));
}

static void ball_mass(PliVerifyResult *r) { ball(r, MASS, false, PLI_WAVELET_CC); }
static void ball_frequency(PliVerifyResult *r) { ball(r, FREQUENCY, false, PLI_WAVELET_CC); }
static void ball_squeeze(PliVerifyResult *r) { ball(r, SQUEEZE, false, PLI_WAVELET_CC); }
static void ball_frequency_spread(PliVerifyResult *r) { ball(r, FREQUENCY, true, PLI_WAVELET_CC); }
static void ball_squeeze_spread(PliVerifyResult *r) { ball(r, SQUEEZE, true, PLI_WAVELET_CC); }

/// A lattice of one's own: sheared and turned, so that no line of it is an axis.
static void own_lattice(PliVerifyResult *r)
{
    const PliHost host = pli_host_default();
    const PliWaveletDef grid = ball_def(NULL, PLI_WAVELET_CC, 5);
    PliLattice *box = pli_lattice_box(&host, grid.box_min, grid.box_max, grid.box_cells, 40.0, NULL);
    PliMesh *mesh = ball_mesh(&host, 40, 1.0), *cells = pli_mesh_create(&host);
    Ball b = { NAN, NAN, NAN };
    if (box && mesh && cells && !pli_mesh_resize_points(cells, box->vertex_count) &&
        !pli_mesh_resize_cells(cells, PLI_HEX, box->cell_count)) {
        static const double turn[9] = { 0.96, -0.3, 0.1, 0.28, 0.95, -0.05, -0.02, 0.15, 1.02 };
        for (size_t i = 0; i < box->vertex_count; ++i) m3_apply(cells->x + 3 * i, turn, box->x + 3 * i);
        memcpy(cells->hexes, box->cell, 8 * (size_t)box->cell_count * sizeof *cells->hexes);
        PliWaveletDef d = grid;
        d.surface = mesh, d.mesh = cells;
        if (!measure_ball(&d, &b, r)) b.mass = NAN;
    }
    const double worst = pli_max(fabs(b.frequency - 1.0), fabs(b.squeeze - 1.0));
    pli_verify_at_most(r, 3.0, fabs(b.mass - 1.0) <= 1e-3 ? 100.0 * worst : NAN);
    pli_verify_note(r, "%% of the analytic ball in a sheared lattice: mass %.3f, first frequency %.3f, squeeze %.3f %%",
                    100.0 * (b.mass - 1.0), 100.0 * (b.frequency - 1.0), 100.0 * (b.squeeze - 1.0));
    pli_mesh_destroy(mesh);
    pli_mesh_destroy(cells);
    pli_lattice_destroy(box);
}

/// Lattices whose boundary is the ball: vertices on it, or the smooth limit of the vertices.
static void fitted(PliVerifyResult *r)
{
    const PliHost host = pli_host_default();
    PliMesh *surface = ball_mesh(&host, 40, 1.0), *clean = NULL;
    PliSurfaceFacts surface_facts;
    PliError err = { 0 };
    Ball b[2] = { { NAN, NAN, NAN }, { NAN, NAN, NAN } };
    PliFittedFacts facts[2] = { 0 };
    if (surface) clean = pli_surface_clean(&host, surface, &surface_facts, &err);
    for (int smooth = 0; smooth < 2 && clean; ++smooth) {
        PliMesh *cells = pli_fitted_hexes(&host, clean, &(PliFittedDef){ ACROSS, smooth == 1 }, &facts[smooth], &err);
        PliWaveletDef d = ball_def(NULL, smooth ? PLI_WAVELET_CC : PLI_WAVELET_TRILINEAR, 0);
        d.mesh = cells, d.sharp_angle = 180.0;
        if (cells) (void)measure_ball(&d, &b[smooth], r);
        pli_mesh_destroy(cells);
    }
    pli_mesh_destroy(surface);
    pli_mesh_destroy(clean);
    const double off[2] = { pli_max(fabs(b[0].frequency - 1.0), fabs(b[0].squeeze - 1.0)),
                            pli_max(fabs(b[1].frequency - 1.0), fabs(b[1].squeeze - 1.0)) };
    const bool good = facts[0].least > 0.5 && facts[1].least > 0.5 && fabs(b[1].mass - 1.0) < 0.01 && off[0] < 0.04;
    if (clean) pli_verify_at_most(r, 1.0, good ? 100.0 * off[1] : NAN);
    pli_verify_note(r,
                    "%% of the analytic ball in a fitted smooth lattice of %u cells: mass %.2f, first frequency %.2f, "
                    "squeeze %.2f; fitted trilinear: %.1f, %.1f, %.1f",
                    facts[1].cells, 100.0 * (b[1].mass - 1.0), 100.0 * (b[1].frequency - 1.0),
                    100.0 * (b[1].squeeze - 1.0), 100.0 * (b[0].mass - 1.0), 100.0 * (b[0].frequency - 1.0),
                    100.0 * (b[0].squeeze - 1.0));
}

const PliVerifyCase pli_verify_wavelet_embedded_cases[] = {
    { "wavelet", "ball_mass", ball_mass },
    { "wavelet", "ball_frequency", ball_frequency },
    { "wavelet", "ball_frequency_spread", ball_frequency_spread },
    { "wavelet", "ball_squeeze", ball_squeeze },
    { "wavelet", "ball_squeeze_spread", ball_squeeze_spread },
    { "wavelet", "ball_own_lattice", own_lattice },
    { "wavelet", "ball_fitted", fitted },
    { 0 },
};
