/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Cases with known answers for wavelets: what subdivision must keep, a beam against finite elements, and what a switch may not do.
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/fold.h"
#include "base/vec.h"
#include "evidence/verify.h"
#include "scheme/wavelet/evidence/rig.h"
#include "scheme/wavelet/lattice_shape.h"
#include "scheme/wavelet/wavelet.h"

static bool open_rig(WaveletRig *g, const PliWaveletDef *def, int axis, PliVerifyResult *r)
{
    PliError err = { 0 };
    if (wavelet_rig_open(g, def, axis, &err)) return true;
    pli_verify_broken(r, "%s", err.text);
    return false;
}

static void freeze(WaveletRig *g) // the set stays as it is
{
    PliBodyDef d = *pli_body_def(g->body);
    d.adapt = false;
    (void)pli_body_retune(g->body, &d, NULL);
}

// ---- subdivision ------------------------------------------------------------------------------------------------------------------

static void interior_mask(PliVerifyResult *r)
{
    static const double mask[5] = { 0.125, 0.5, 0.75, 0.5, 0.125 };
    const PliHost host = pli_host_default();
    const double lo[3] = { 0, 0, 0 }, hi[3] = { 4, 4, 4 };
    const PliIndex cells[3] = { 4, 4, 4 }, centre = 2 + 5 * (2 + 5 * 2);
    double worst = 0.0, sums = 0.0;
    for (int rule = PLI_RULE_CC; rule <= PLI_RULE_BSWX; ++rule) {
        PliTransfer *rows = NULL;
        PliLattice *l = pli_lattice_box(&host, lo, hi, cells, 40.0, NULL);
        PliLattice *fine = l ? pli_lattice_subdivide(l, (PliLatticeRule)rule, &rows, NULL) : NULL,
                   *flat = l ? pli_lattice_subdivide(l, PLI_RULE_TRILINEAR, NULL, NULL) : NULL;
        if (!fine || !flat) {
            pli_verify_broken(r, "no lattice");
            return;
        }
        const PliRows s = pli_transfer_rows(rows);
        for (PliIndex i = 0; i < s.out_count; ++i) {
            double w = 0.0, sum = 0.0, expected = 1.0;
            for (PliIndex k = s.first[i]; k < s.first[i + 1]; ++k)
                sum += s.weight[k], w += s.column[k] == centre ? s.weight[k] : 0.0;
            for (int d = 0; d < 3; ++d) {
                const long at = lround(2.0 * flat->x[3 * (size_t)i + (size_t)d]) - 2;
                expected *= at >= 0 && at < 5 ? mask[at] : 0.0;
            }
            worst = pli_max(worst, fabs(w - expected));
            sums = pli_max(sums, fabs(sum - 1.0));
        }
        pli_transfer_destroy(rows);
        pli_lattice_destroy(l);
        pli_lattice_destroy(fine);
        pli_lattice_destroy(flat);
    }
    pli_verify_at_most(r, 1e-14, pli_max(worst, sums));
    pli_verify_note(r, "mask of an inner vertex against the tensor product of (1 4 6 4 1)/8, and sums of rows");
}

/// A smooth ball with every detail on, stretched: energy density is the same everywhere.
static void affine_energy(PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(1, 1, 1, 1.0);
    WaveletRig g;
    d.refine = 1, d.levels = 1, d.sharp_angle = 180.0, d.law = PLI_WAVELET_NONLINEAR;
    if (!open_rig(&g, &d, -1, r)) return;
    (void)pli_wavelet_activate(g.body, NULL, 0, NULL);
    const double F[9] = { 1.2, 0.1, 0.0, -0.05, 0.9, 0.2, 0.0, 0.1, 1.1 };
    for (size_t i = 0; i < g.count; ++i) m3_apply(g.x + 3 * i, F, pli_body_rest(g.body) + 3 * i);
    PliWavelet *s = pli_body_self(g.body);
    double volume = 0.0;
    for (PliIndex q = 0; q < s->sample_count; ++q) volume += s->sample_volume[q];
    const double expected = volume * pli_body_energy_density(g.body, F);
    const double measured = pli_body_energy(g.body, g.x, NULL).elastic;
    pli_verify_at_most(r, 1e-10, fabs(measured / expected - 1.0));
    pli_verify_note(r, "smooth ball, all %u functions on, affine state: volume times energy density", s->count);
    wavelet_rig_close(&g);
}

/// Constant stress pulls at no function that vanishes on the boundary.
static void patch(PliVerifyResult *r)
{
    const PliHost host = pli_host_default();
    PliWaveletDef d = wavelet_box_def(3, 3, 3, 1.0);
    // a sheared box, so that cells are no cubes
    PliMesh *mesh = pli_mesh_create(&host);
    PliLattice *box = pli_lattice_box(&host, d.box_min, d.box_max, d.box_cells, 40.0, NULL);
    if (!mesh || !box || pli_mesh_resize_points(mesh, box->vertex_count) ||
        pli_mesh_resize_cells(mesh, PLI_HEX, box->cell_count)) {
        pli_verify_broken(r, "no memory");
        return;
    }
    const double shear[9] = { 1.0, 0.3, 0.0, 0.0, 0.8, 0.2, 0.1, 0.0, 1.1 },
                 F[9] = { 1.2, 0.1, 0.0, -0.05, 0.9, 0.2, 0.0, 0.1, 1.1 };
    for (size_t i = 0; i < box->vertex_count; ++i) m3_apply(mesh->x + 3 * i, shear, box->x + 3 * i);
    memcpy(mesh->hexes, box->cell, 8 * (size_t)box->cell_count * sizeof *mesh->hexes);
    d.mesh = mesh, d.levels = 1, d.law = PLI_WAVELET_NONLINEAR;
    WaveletRig g;
    const bool open = open_rig(&g, &d, -1, r);
    pli_lattice_destroy(box);
    pli_mesh_destroy(mesh);
    if (!open) return;
    (void)pli_wavelet_activate(g.body, NULL, 0, NULL);
    for (size_t i = 0; i < g.count; ++i) m3_apply(g.x + 3 * i, F, pli_body_rest(g.body) + 3 * i);
    memset(g.f, 0, 3 * g.count * sizeof *g.f);
    pli_body_add_force(g.body, g.x, NULL, g.f);
    const PliWavelet *s = pli_body_self(g.body);
    double inner = 0.0, outer = 0.0;
    for (PliIndex a = 0; a < s->count; ++a) {
        double *to = s->level[s->dof_level[a]].lattice->vertex_outer[a] ? &outer : &inner;
        *to = pli_max(*to, v3_norm(g.f + 3 * (size_t)a));
    }
    pli_verify_at_most(r, 1e-10, inner / outer);
    pli_verify_note(r, "sheared box, all %u functions on, affine state: forces on inner functions over the largest",
                    s->count);
    wavelet_rig_close(&g);
}

static void round_trip(PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(4, 2, 2, 1.0);
    WaveletRig g;
    d.levels = 2, d.sharp_angle = 180.0;
    if (!open_rig(&g, &d, -1, r)) return;
    const size_t n = 3 * (size_t)pli_wavelet_vertex_count(g.body);
    double *fine = PLI_NEW(&g.host, n, double), *back = PLI_NEW(&g.host, n, double), worst = 0.0;
    uint64_t seed = 3;
    if (fine && back) {
        for (size_t i = 0; i < n; ++i) fine[i] = pli_random_unit(&seed) - 0.5;
        (void)pli_wavelet_analyse(g.body, fine, g.x, NULL);
        pli_wavelet_synthesise(g.body, g.x, back);
        for (size_t i = 0; i < n; ++i) worst = pli_max(worst, fabs(back[i] - fine[i]));
    }
    pli_verify_at_most(r, 1e-12, worst);
    pli_verify_note(r, "%zu random vertices of a smooth bar, to coefficients of three levels and back", n / 3);
    PLI_FREE(&g.host, fine, n);
    PLI_FREE(&g.host, back, n);
    wavelet_rig_close(&g);
}

static void refuses_smooth_cube(PliVerifyResult *r)
{
    const PliHost host = pli_host_default();
    PliWaveletDef d = wavelet_box_def(1, 1, 1, 1.0);
    PliError err = { 0 };
    int right = 0;
    d.sharp_angle = 180.0, d.levels = 1;
    PliBody *b = pli_wavelet_create(&host, &d, &err);
    right += !b && err.status == PLI_BAD_MESH && strstr(err.text, "subdivide it once");
    pli_body_destroy(b);
    d.refine = 1;
    b = pli_wavelet_create(&host, &d, &err);
    right += b != NULL;
    pli_body_destroy(b);
    d.refine = 0, d.basis = PLI_WAVELET_BSWX;
    b = pli_wavelet_create(&host, &d, &err);
    right += b != NULL;
    pli_body_destroy(b);
    pli_verify_within(r, 3.0, right, 0.0);
    pli_verify_note(r, "refused as it is, taken once subdivided, taken with basis bswx");
}

// ---- forces ---------------------------------------------------------------------------------------------------------------------------

static void force_is_gradient(PliVerifyResult *r)
{
    double worst = 0.0;
    for (int law = 0; law < 2; ++law) {
        PliWaveletDef d = wavelet_box_def(2, 2, 1, 1.0);
        WaveletRig g;
        d.levels = 1, d.law = law ? PLI_WAVELET_LINEAR : PLI_WAVELET_NONLINEAR;
        if (!open_rig(&g, &d, -1, r)) return;
        (void)pli_wavelet_activate(g.body, NULL, 0, NULL);
        uint64_t seed = 11;
        const PliIndex n = pli_wavelet_vertex_count(g.body);
        for (size_t i = 0; i < 3 * (size_t)n; ++i) g.x[i] += 0.1 * (pli_random_unit(&seed) - 0.5);
        memset(g.f, 0, 3 * g.count * sizeof *g.f);
        pli_body_add_force(g.body, g.x, NULL, g.f);
        double size = 0.0;
        for (size_t i = 0; i < 3 * (size_t)n; ++i) size = pli_max(size, fabs(g.f[i]));
        for (int k = 0; k < 40; ++k) {
            const size_t i = pli_random(&seed) % (3 * (size_t)n);
            const double keep = g.x[i], h = 1e-5;
            g.x[i] = keep + h;
            const double up = pli_body_energy(g.body, g.x, NULL).elastic;
            g.x[i] = keep - h;
            const double down = pli_body_energy(g.body, g.x, NULL).elastic;
            g.x[i] = keep;
            worst = pli_max(worst, fabs(g.f[i] + (up - down) / (2.0 * h)) / size);
        }
        wavelet_rig_close(&g);
    }
    pli_verify_at_most(r, 1e-7, worst);
    pli_verify_note(
        r, "forces of the nonlinear and the linear law against differences of the energy, relative to the largest");
}

static void turned_block_has_no_force(PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(3, 2, 1, 1.0);
    WaveletRig g;
    d.levels = 1;
    if (!open_rig(&g, &d, -1, r)) return;
    const double c = cos(2.5), s = sin(2.5), R[9] = { c, -s, 0, s, c, 0, 0, 0, 1 };
    memset(g.f, 0, 3 * g.count * sizeof *g.f);
    for (size_t i = 0; i < g.count; ++i) m3_apply(g.x + 3 * i, R, pli_body_rest(g.body) + 3 * i);
    pli_body_add_force(g.body, g.x, NULL, g.f);
    double worst = 0.0;
    for (size_t i = 0; i < 3 * g.count; ++i) worst = pli_max(worst, fabs(g.f[i]));
    pli_verify_at_most(r, 1e-9, worst / 1e5);
    pli_verify_note(r, "quasi-linear forces of a block turned by 143 degrees, over E h^2");
    wavelet_rig_close(&g);
}

// ---- a beam of 4 x 1 x 1 m -------------------------------------------------------------------------------------------------------------------

static double tip_of_beam(const PliWaveletDef *d, double *frequency, PliVerifyResult *r)
{
    WaveletRig g;
    if (!open_rig(&g, d, 0, r)) return NAN;
    const double size[3] = { 4, 1, 1 }, load[3] = { 0, 1, 0 }, p[3] = { 4, 0.5, 0.5 };
    double q[3];
    wavelet_rig_load_face(&g, 4.0, size, load);
    if (!wavelet_rig_settle(&g, 1)) return NAN;
    wavelet_rig_place(&g, p, q);
    if (frequency) { // inverse iteration from the bent state: K u' = M u
        double *u = PLI_NEW(&g.host, 3 * g.count, double), square = 0.0;
        for (size_t i = 0; u && i < 3 * g.count; ++i) u[i] = g.x[i] - pli_body_rest(g.body)[i];
        for (int k = 0; u && k < 6; ++k) {
            memset(g.f, 0, 3 * g.count * sizeof *g.f);
            pli_body_add_mass(g.body, u, 1.0, g.f);
            (void)pli_body_response(g.body, g.f, 1000.0,
                                    g.v); // dv = h (M + h^2 K)^-1 f, and h so long that the mass does not count
            double top = 0.0, bottom = 0.0;
            for (size_t i = 0; i < 3 * g.count; ++i) top += u[i] * g.f[i], bottom += 1000.0 * g.v[i] * g.f[i];
            square = top / bottom;
            for (size_t i = 0; i < 3 * g.count; ++i) u[i] = 1000.0 * g.v[i] * square;
        }
        *frequency = sqrt(square) / 6.28318530717958647693;
        PLI_FREE(&g.host, u, 3 * g.count);
    }
    wavelet_rig_close(&g);
    return q[1] - 0.5;
}

static PliWaveletDef beam_def(PliWaveletBasis basis, PliIndex thick, int level)
{
    PliWaveletDef d = wavelet_box_def(4 * thick, thick, thick, 1.0 / thick);
    d.basis = basis, d.levels = level, d.base.adapt = false, d.law = PLI_WAVELET_LINEAR;
    return d;
}

static double tip_of(PliWaveletBasis basis, PliIndex thick, int level, double *frequency, PliVerifyResult *r)
{
    const PliWaveletDef d = beam_def(basis, thick, level);
    return tip_of_beam(&d, frequency, r);
}

/// Trilinear hexahedra on three grids, extrapolated: Aitken.
static double reference(bool frequency, PliVerifyResult *r)
{
    double v[3];
    for (int k = 0; k < 3; ++k) {
        double f, u = tip_of(PLI_WAVELET_TRILINEAR, 1, k + 1, &f, r);
        v[k] = frequency ? f : u;
    }
    const double a = v[1] - v[0], b = v[2] - v[1];
    return v[2] + b * b / (a - b);
}

static void beam(PliVerifyResult *r, int level, bool frequency)
{
    double f, u = tip_of(PLI_WAVELET_CC, 2, level, &f, r);
    if (isnan(u)) return;
    const double ref = reference(frequency, r), off = 100.0 * ((frequency ? f : u) / ref - 1.0);
    pli_verify_within(r, 0.0, off, 3.0);
    pli_verify_note(r, "%% of the %s of trilinear elements, extrapolated (%.6g): beam of 8 x 2 x 2 cells, level %d",
                    frequency ? "first frequency" : "deflection", ref, level);
}
static void beam_tip_1(PliVerifyResult *r) { beam(r, 1, false); }
static void beam_tip_2(PliVerifyResult *r) { beam(r, 2, false); }
static void beam_frequency_1(PliVerifyResult *r) { beam(r, 1, true); }
static void beam_frequency_2(PliVerifyResult *r) { beam(r, 2, true); }

/// Tetrahedra are too stiff, and less so the finer the lattice is; the Gauss points stay within 0.002 % of the integrals.
static void quadrature_of_paper(PliVerifyResult *r)
{
    double off[2], tip = 0.0;
    for (int level = 0; level < 2; ++level) {
        double f[2], u[2];
        for (int k = 0; k < 2; ++k) {
            PliWaveletDef d = beam_def(PLI_WAVELET_CC, 1, level);
            d.quadrature = k ? PLI_WAVELET_TETRAHEDRA : PLI_WAVELET_GAUSS;
            u[k] = tip_of_beam(&d, &f[k], r);
        }
        off[level] = 100.0 * (f[1] / f[0] - 1.0), tip = 100.0 * (u[1] / u[0] - 1.0);
    }
    pli_verify_within(r, 3.0, off[1] > 1.0 && tip < -1.0 ? off[0] / off[1] : NAN, 1.0);
    pli_verify_note(r,
                    "times less that the first frequency of a beam is off, one level finer, with quadrature=\"paper\" "
                    "against Gauss points: %.2f and %.2f %% too high, deflection %.1f %%",
                    off[0], off[1], tip);
}

// A free block falls as anything falls, whatever law and basis: the masses that resist are those that are pulled at.
static void free_fall(PliVerifyResult *r)
{
    enum { STEPS = 20 };
    const double dt = 0.01, p[3] = { 1.3, 0.2, 0.7 }, exact = -9.81 * dt * dt * STEPS * (STEPS + 1) / 2.0;
    double worst = 0.0;
    for (int k = 0; k < 6; ++k) {
        WaveletRig g;
        double q[3];
        PliWaveletDef d = wavelet_box_def(2, 1, 1, 1.0);
        d.levels = 1;
        d.law = (PliWaveletLaw)(k / 2);
        d.basis = k % 2 ? PLI_WAVELET_TRILINEAR : PLI_WAVELET_CC;
        const double down[3] = { 0.0, -9.81, 0.0 };
        memcpy(d.base.gravity, down, sizeof down);
        if (!open_rig(&g, &d, 0, r)) return;
        (void)pli_body_set_fixed(g.body, NULL, 0, NULL);
        bool finite = true;
        for (int i = 0; finite && i < STEPS; ++i) finite = pli_body_step(g.body, &g.state, dt).finite;
        wavelet_rig_place(&g, p, q);
        worst = pli_max(worst, finite ? fabs((q[1] - p[1]) / exact - 1.0) : NAN);
        wavelet_rig_close(&g);
    }
    pli_verify_note(r, "fall of a free block in 20 steps, three laws and two bases, over that of a stone, less one");
    pli_verify_at_most(r, 1e-9, worst);
}

static void levels_are_nodal(PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(4, 1, 1, 1.0);
    const double size[3] = { 4, 1, 1 }, load[3] = { 0, 1, 0 }, p[3] = { 4, 0.5, 0.5 };
    double tip[2];
    for (int k = 0; k < 2; ++k) {
        WaveletRig g;
        double q[3];
        d.levels = 2, d.base.adapt = k == 1, d.law = PLI_WAVELET_LINEAR;
        if (!open_rig(&g, &d, 0, r)) return;
        if (k) (void)pli_wavelet_activate(g.body, NULL, 0, NULL), freeze(&g);
        wavelet_rig_load_face(&g, 4.0, size, load);
        (void)wavelet_rig_settle(&g, 1);
        wavelet_rig_place(&g, p, q);
        tip[k] = q[1] - 0.5;
        wavelet_rig_close(&g);
    }
    pli_verify_at_most(r, 1e-8, fabs(tip[1] / tip[0] - 1.0));
    pli_verify_note(r, "deflection with all details of two levels on, against the lattice subdivided twice");
}

// ---- adaptivity -------------------------------------------------------------------------------------------------------------------------------

enum { PROBES = 9 * 9 * 3 };

/// The grab: nine points of the top of a block of 5 x 5 x 2 are drawn up and held until all is quiet.
static bool grab(WaveletRig *g, bool adaptive, double probe[PROBES][3], PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(5, 5, 2, 1.0);
    d.levels = 2, d.base.adapt = adaptive, d.base.rayleigh_stiffness = 0.05, d.base.criterion.threshold = 0.02;
    if (!open_rig(g, &d, 2, r)) return false;
    for (int i = 0; i < 9; ++i) {
        const double p[3] = { 2.3 + 0.2 * (i % 3), 2.3 + 0.2 * (i / 3), 2.0 };
        (void)wavelet_rig_hold(g, p, 2e4);
    }
    const double shift[3] = { 0.1, 0.0, 0.335 };
    wavelet_rig_move(g, shift);
    if (!adaptive) (void)wavelet_rig_settle(g, 3);
    for (int k = 0; k < 160 && adaptive; ++k)
        if (!pli_body_step(g->body, &g->state, 0.01).finite) return false;
    for (int i = 0; i < PROBES; ++i) {
        const double p[3] = { 5.0 * (i % 9) / 8.0, 5.0 * (i / 9 % 9) / 8.0, i / 81 };
        wavelet_rig_place(g, p, probe[i]);
        v3_sub(probe[i], probe[i], p);
    }
    return true;
}

static void grab_error(PliVerifyResult *r)
{
    WaveletRig full, few;
    static double a[PROBES][3], b[PROBES][3];
    double worst = 0.0, size = 0.0;
    if (!grab(&full, false, a, r)) return;
    if (!grab(&few, true, b, r)) {
        wavelet_rig_close(&full);
        return;
    }
    for (int i = 0; i < PROBES; ++i)
        size = pli_max(size, v3_norm(a[i])), worst = pli_max(worst, v3_distance(a[i], b[i]));
    const PliWaveletInfo w = pli_wavelet_info(few.body);
    const double entries = (double)w.full_entries / (double)w.matrix_entries;
    pli_verify_at_most(r, 2.0, entries >= 5.0 ? 100.0 * worst / size : INFINITY);
    pli_verify_note(r,
                    "%% of the largest displacement: block of 5 x 5 x 2 at rest in a grab, %u of %u functions on, %.1f "
                    "times fewer matrix entries, reaction off by %.2f %%",
                    w.active, w.functions, entries, 100.0 * fabs(v3_norm(few.reaction) / v3_norm(full.reaction) - 1.0));
    wavelet_rig_close(&full);
    wavelet_rig_close(&few);
}

/// Largest change of velocity a switch causes, over the run's largest speed: the same step with the old set and with the new.
static double jump_of(PliWaveletTransition transition, double h, PliVerifyResult *r)
{
    PliWaveletDef d = wavelet_box_def(4, 1, 1, 1.0);
    WaveletRig g, twin;
    d.levels = 1, d.transition = transition, d.fade = 0.1, d.law = PLI_WAVELET_LINEAR, d.base.criterion.interval = 0.0,
    d.base.criterion.threshold = 0.01;
    if (!open_rig(&g, &d, 0, r)) return NAN;
    if (!open_rig(&twin, &d, 0, r)) return NAN;
    const double corner[3] = { 4, 1, 1 };
    for (int side = 0; side < 2; ++side) (void)wavelet_rig_hold(side ? &twin : &g, corner, 1e5);
    double jump = 0.0, fastest = 0.0;
    const size_t bytes = 3 * g.count * sizeof *g.x;
    const int drag = (int)lround(1.0 / h);
    for (int k = 0; k < 2 * drag; ++k) {
        const double t = pli_min(1.0, (k + 1.0) / drag),
                     shift[3] = { 0, 0.5 * t * t * (3.0 - 2.0 * t), 0 }; // a hand starts and stops softly
        for (int side = 0; side < 2; ++side) {
            WaveletRig *q = side ? &twin : &g;
            wavelet_rig_move(q, shift);
            if (k == drag) q->state.points = NULL; // let go
        }
        memcpy(twin.x, g.x, bytes);
        memcpy(twin.v, g.v, bytes);
        pli_wavelet_mirror(twin.body, g.body, twin.x, twin.v, h);
        const PliStepInfo info = pli_body_step(g.body, &g.state, h);
        if (!info.finite) return NAN;
        const double *x = g.x;
        for (size_t i = 3 * (size_t)pli_wavelet_vertex_count(g.body); i < 3 * g.count; ++i)
            fastest = pli_max(fastest, fabs(g.v[i]));
        if (info.refined + info.coarsened == 0) continue;
        if (!pli_body_advance(twin.body, &twin.state, h).finite) return NAN;
        for (size_t i = (size_t)pli_wavelet_vertex_count(g.body); i < g.count; ++i)
            jump = pli_max(jump, v3_distance(x + 3 * i, twin.x + 3 * i) / h);
    }
    wavelet_rig_close(&g);
    wavelet_rig_close(&twin);
    return 100.0 * jump / fastest;
}

static void switch_jump(PliVerifyResult *r)
{
    const double offset = jump_of(PLI_WAVELET_OFFSET, 0.0025, r), plain = jump_of(PLI_WAVELET_PLAIN, 0.0025, r);
    pli_verify_at_most(r, 1.0, offset);
    pli_verify_note(r, "%% of the largest speed, bar drawn by a corner and let go; at once instead of faded: %.1f %%",
                    plain);
}

static void switch_jump_ratio(PliVerifyResult *r)
{
    const double offset = jump_of(PLI_WAVELET_OFFSET, 0.0025, r), plain = jump_of(PLI_WAVELET_PLAIN, 0.0025, r);
    pli_verify_at_least(r, 5.0, plain / offset);
    pli_verify_note(r, "times the jump when details switch at once");
}

const PliVerifyCase pli_verify_wavelet_cases[] = {
    { "wavelet", "interior_mask", interior_mask },
    { "wavelet", "affine_energy", affine_energy },
    { "wavelet", "patch", patch },
    { "wavelet", "round_trip", round_trip },
    { "wavelet", "smooth_cube", refuses_smooth_cube },
    { "wavelet", "force_is_gradient", force_is_gradient },
    { "wavelet", "turned_block", turned_block_has_no_force },
    { "wavelet", "beam_tip_1", beam_tip_1 },
    { "wavelet", "beam_tip_2", beam_tip_2 },
    { "wavelet", "beam_frequency_1", beam_frequency_1 },
    { "wavelet", "beam_frequency_2", beam_frequency_2 },
    { "wavelet", "quadrature_of_paper", quadrature_of_paper },
    { "wavelet", "free_fall", free_fall },
    { "wavelet", "levels_are_nodal", levels_are_nodal },
    { "wavelet", "grab_error", grab_error },
    { "wavelet", "switch_jump", switch_jump },
    { "wavelet", "switch_jump_ratio", switch_jump_ratio },
    { 0 },
};
