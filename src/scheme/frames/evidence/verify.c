/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Cases with known answers for frames: a beam against finite elements and against itself, and what a switch may not do.
#include <pliant/frames.h>

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/fold.h"
#include "base/vec.h"
#include "evidence/equilibrium.h"
#include "evidence/verify.h"
#include <pliant/contact.h>

static const double LENGTH = 2.0, SIDE = 0.2; // slenderness 10

typedef struct Rig {
    PliHost host;
    PliMesh *mesh;
    PliBody *body;
    double *x, *v, *f;
    PliState state;
    size_t count; ///< coefficients
    PliIndex root, tip;
} Rig;

static void rig_close(Rig *g)
{
    PLI_FREE(&g->host, g->x, 3 * g->count);
    PLI_FREE(&g->host, g->v, 3 * g->count);
    PLI_FREE(&g->host, g->f, 3 * g->count);
    pli_body_destroy(g->body);
    pli_mesh_destroy(g->mesh);
}

static PliFramesDef beam_def(PliIndex frames, double poisson)
{
    PliFramesDef d = pli_frames_default();
    d.resolution = 80;
    d.frame_count = frames;
    d.base.material.young = 1e6;
    d.base.material.poisson = poisson;
    d.base.material.density = 1000.0;
    memset(d.base.gravity, 0, sizeof d.base.gravity);
    return d;
}

// A beam along x with a frame on each end; clamp: the first end does not move. `free_ends`: no anchors, the root is in the middle.
static bool rig_open(Rig *g, PliFramesDef def, bool clamp, bool free_ends, PliVerifyResult *r)
{
    const double ends[6] = { 0.0, 0.5 * SIDE, 0.5 * SIDE, LENGTH, 0.5 * SIDE, 0.5 * SIDE };
    const double middle[9] = { 0.5 * LENGTH, 0.5 * SIDE, 0.5 * SIDE, 0.0,       0.5 * SIDE,
                               0.5 * SIDE,   LENGTH,     0.5 * SIDE, 0.5 * SIDE };
    const PliBoxDef box = { { 0, 0, 0 }, { LENGTH, SIDE, SIDE }, { 20, 2, 2 }, 0.0, 1 };
    PliError err = { 0 };
    memset(g, 0, sizeof *g);
    g->host = pli_host_default();
    g->mesh = pli_mesh_box(&g->host, &box, &err);
    def.mesh = g->mesh;
    if (!def.anchors) {
        def.anchors = free_ends ? middle : ends;
        def.anchor_count = free_ends ? 3 : 2;
    }
    if (g->mesh) g->body = pli_frames_create(&g->host, &def, &err);
    if (!g->body) {
        pli_verify_broken(r, "%s", err.text);
        rig_close(g);
        return false;
    }
    g->count = pli_body_dof_count(g->body);
    g->x = PLI_NEW(&g->host, 3 * g->count, double);
    g->v = PLI_NEW(&g->host, 3 * g->count, double);
    g->f = PLI_NEW(&g->host, 3 * g->count, double);
    g->root = pli_frames_anchor(g->body, 0);
    g->tip = pli_frames_anchor(g->body, free_ends ? 2 : 1);
    if (!g->x || !g->v || !g->f) {
        pli_verify_broken(r, "no memory");
        rig_close(g);
        return false;
    }
    memcpy(g->x, pli_body_rest(g->body), 3 * g->count * sizeof *g->x);
    g->state = (PliState){ .x = g->x, .v = g->v };
    const PliIndex all[4] = { 4 * g->root, 4 * g->root + 1, 4 * g->root + 2, 4 * g->root + 3 };
    if (clamp)
        (void)pli_body_set_fixed(g->body, all, 4, NULL);
    else if (free_ends)
        (void)pli_body_set_fixed(g->body, all + 3, 1,
                                 NULL); // the origin of the middle: no drift, free to stretch and turn
    return true;
}

typedef void Traction(const double p[3], double t[3]); ///< N/m2 at a point of an end face

// f += traction over the end face at x = `at`, through the weights of the finest level.
static void load_face(Rig *g, double at, Traction *traction, double scale)
{
    enum { POINTS = 16 };
    const double area = SIDE * SIDE / (POINTS * POINTS);
    for (int j = 0; j < POINTS; ++j)
        for (int k = 0; k < POINTS; ++k) {
            const double p[3] = { at, SIDE * (j + 0.5) / POINTS, SIDE * (k + 0.5) / POINTS };
            PliIndex column[PLI_LOCATE_MAX];
            double weight[PLI_LOCATE_MAX], t[3];
            const PliIndex n = pli_body_locate(g->body, p, column, weight, PLI_LOCATE_MAX);
            traction(p, t);
            for (PliIndex e = 0; e < n; ++e) v3_madd(g->f + 3 * (size_t)column[e], scale * area * weight[e], t);
        }
}

static void pull_x(const double p[3], double t[3]) { (void)p, t[0] = 1.0, t[1] = t[2] = 0.0; }
static void push_y(const double p[3], double t[3]) { (void)p, t[1] = 1.0, t[0] = t[2] = 0.0; }
static void twist(const double p[3], double t[3]) { t[0] = 0.0, t[1] = -(p[2] - 0.5 * SIDE), t[2] = p[1] - 0.5 * SIDE; }

// Equilibrium under the load f: steps so long that inertia does not count.
static bool settle(Rig *g)
{
    g->state.f_ext = g->f;
    for (int k = 0; k < 12; ++k) {
        memset(g->v, 0, 3 * g->count * sizeof *g->v);
        if (!pli_body_step(g->body, &g->state, 100.0).finite) return false;
    }
    memset(g->v, 0, 3 * g->count * sizeof *g->v);
    g->state.f_ext = NULL;
    return true;
}

static double work(const Rig *g)
{
    double sum = 0.0;
    const double *rest = pli_body_rest(g->body);
    for (size_t k = 0; k < 3 * g->count; ++k) sum += g->f[k] * (g->x[k] - rest[k]);
    return sum;
}

// ---- against finite elements ---------------------------------------------------------------------------------------------------

// Work of the same load on a clamped beam of linear tetrahedra, `across` cells in the section.
static double fem_work(double poisson, Traction *traction, double scale, PliIndex across, PliVerifyResult *r)
{
    const PliHost host = pli_host_default();
    const PliBoxDef box = { { 0, 0, 0 }, { LENGTH, SIDE, SIDE }, { 10 * across, across, across }, 0.0, 1 };
    PliFemDef def = pli_fem_default();
    PliMesh *mesh = pli_mesh_box(&host, &box, NULL);
    def.mesh = mesh;
    def.base.material.young = 1e6;
    def.base.material.poisson = poisson;
    PliBody *body = mesh ? pli_fem_create(&host, &def, NULL) : NULL;
    double sum = NAN;
    if (body) {
        const size_t n = mesh->point_count;
        double *x = PLI_NEW(&host, 3 * n, double), *f = PLI_NEW(&host, 3 * n, double);
        uint8_t *held = PLI_NEW(&host, 3 * n, uint8_t);
        const double cell = SIDE / across;
        PliError err = { 0 };
        for (size_t i = 0; i < n; ++i) {
            const double *p = mesh->x + 3 * i;
            for (int c = 0; c < 3; ++c) x[3 * i + (size_t)c] = p[c], held[3 * i + (size_t)c] = p[0] < 1e-9;
            if (p[0] < LENGTH - 1e-9) continue;
            // the share of the face each node stands for
            const double wy = p[1] < 1e-9 || p[1] > SIDE - 1e-9 ? 0.5 : 1.0,
                         wz = p[2] < 1e-9 || p[2] > SIDE - 1e-9 ? 0.5 : 1.0;
            double t[3];
            traction(p, t);
            for (int c = 0; c < 3; ++c) f[3 * i + (size_t)c] = scale * t[c] * wy * wz * cell * cell;
        }
        if (pli_equilibrium(body, x, f, held, 1e-9, &err) == PLI_OK) {
            sum = 0.0;
            for (size_t k = 0; k < 3 * n; ++k) sum += f[k] * (x[k] - mesh->x[k]);
        } else {
            pli_verify_broken(r, "%s", err.text);
        }
        PLI_FREE(&host, x, 3 * n);
        PLI_FREE(&host, f, 3 * n);
        PLI_FREE(&host, held, 3 * n);
    }
    pli_body_destroy(body);
    pli_mesh_destroy(mesh);
    return sum;
}

// Compliance of frames over that of finite elements, extrapolated from 3 and 6 cells across (error ~ h^2).
static double against_fem(PliVerifyResult *r, Rig *g, Traction *traction, double scale)
{
    load_face(g, LENGTH - 1e-9, traction, scale);
    const bool good = settle(g);
    const double coarse = fem_work(0.3, traction, scale, 3, r), fine = fem_work(0.3, traction, scale, 6, r);
    const double measured = good ? work(g) / (fine + (fine - coarse) / 3.0) : NAN;
    rig_close(g);
    return measured;
}

static void chain_against_fem(PliVerifyResult *r, Traction *traction, double scale, double expected, double tolerance)
{
    Rig g;
    PliFramesDef def = beam_def(9, 0.3);
    def.base.adapt = false;
    if (!rig_open(&g, def, true, false, r)) return;
    pli_verify_note(
        r, "compliance over that of linear tetrahedra (extrapolated from 3 and 6 cells across), 9 frames, nu 0.3");
    pli_verify_within(r, expected, against_fem(r, &g, traction, scale), tolerance);
}

static void bending_fem(PliVerifyResult *r) { chain_against_fem(r, push_y, 10.0, 1.0, 0.05); }
static void extension_fem(PliVerifyResult *r) { chain_against_fem(r, pull_x, 1000.0, 1.0, 0.05); }
// A square section that stays plane has the polar moment a^4 / 6; one that warps freely 0.1406 a^4.
static void torsion_fem(PliVerifyResult *r) { chain_against_fem(r, twist, 1000.0, 0.1406 * 6.0, 0.03); }

// Three by three frames in each of seventeen sections let them warp.
static void torsion_off_axis(PliVerifyResult *r)
{
    enum { ACROSS = 3, ALONG = 17, FRAMES = ACROSS * ACROSS * ALONG, HELD = 4 * ACROSS * ACROSS };
    double anchors[3 * FRAMES];
    uint8_t level[FRAMES] = { 0 };
    PliIndex held[HELD];
    for (int i = 0; i < FRAMES; ++i) {
        anchors[3 * i] = LENGTH * (i / (ACROSS * ACROSS)) / (ALONG - 1);
        anchors[3 * i + 1] = SIDE * (i / ACROSS % ACROSS) / (ACROSS - 1);
        anchors[3 * i + 2] = SIDE * (i % ACROSS) / (ACROSS - 1);
        level[i] = i > 0;
    }
    Rig g;
    PliFramesDef def = beam_def(FRAMES, 0.3);
    def.base.adapt = false;
    def.level_count = 2;
    def.shape = PLI_FRAMES_SMOOTH; // linear weights of frames in all directions: 0.89
    def.anchors = anchors, def.anchor_level = level, def.anchor_count = FRAMES;
    if (!rig_open(&g, def, false, false, r)) return;
    for (PliIndex i = 0; i < HELD; ++i) held[i] = 4 * pli_frames_anchor(g.body, i / 4) + i % 4;
    (void)pli_body_set_fixed(g.body, held, HELD, NULL);
    pli_verify_note(r, "compliance in torsion over that of linear tetrahedra, %d frames in %d sections", FRAMES, ALONG);
    pli_verify_within(r, 1.0, against_fem(r, &g, twist, 1000.0), 0.05);
}

// ---- adaptive against full ---------------------------------------------------------------------------------------------------------

typedef struct Cycle {
    double held_tip, full_tip; ///< m, sag
    double held_motion;        ///< m, of any coefficient between the collapse and the release
    PliIndex held_active, held_regions, rest_active;
    int woke;          ///< steps from the release to the first active frame
    double rest;       ///< m, largest distance of a skin point from rest at the end
    double eta_ratio;  ///< largest kinetic jump over the threshold of its time
    double force_jump; ///< largest change of the internal force on what stays active, relative, when regions merge
    PliIndex merged;   ///< events with merges at which it was measured
    bool finite;
    PliFramesInfo info;
    PliStats stats;
} Cycle;

static double difference(const double *a, const double *b, size_t count)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; ++k) sum += (a[k] - (b ? b[k] : 0.0)) * (a[k] - (b ? b[k] : 0.0));
    return sqrt(sum);
}

// A step that looks at the internal force from outside: where regions merge, also because frames go to sleep, what stays active must feel
// what it felt before. `scale`: the largest force so far.
static bool step_watched(Rig *g, Cycle *c, double dt, double *before, double *after, double *scale)
{
    const PliFramesInfo was = pli_frames_info(g->body);
    const size_t n = 3 * g->count;
    memset(before, 0, n * sizeof *before);
    pli_body_add_force(g->body, g->x, NULL, before);
    (void)pli_body_adapt(g->body, &g->state, dt);
    const PliFramesInfo now = pli_frames_info(g->body);
    // only from the finest regions: others are brought back to the truth on the way, which "split" looks at
    if (was.merged_regions == was.regions && now.merges > was.merges && now.activated == was.activated &&
        now.polishes == was.polishes) {
        memset(after, 0, n * sizeof *after);
        pli_body_add_force(g->body, g->x, NULL, after);
        pli_body_reduce(g->body, before);
        *scale = pli_max(*scale, difference(before, NULL, n));
        c->force_jump = pli_max(c->force_jump, difference(before, after, n) / *scale);
        c->merged++;
    }
    return pli_body_advance(g->body, &g->state, dt).finite;
}

// Gravity bends the clamped beam, which settles and is held by it; then gravity goes and it comes back.
static bool run_cycle(Cycle *c, double threshold, PliVerifyResult *r)
{
    enum { SAG = 1500, HOLD = 60, RETURN = 2500 };
    const double dt = 0.01, down[3] = { 0.0, -9.81, 0.0 }, none[3] = { 0.0, 0.0, 0.0 };
    Rig g, full;
    PliFramesDef def = beam_def(9, 0.3);
    memset(c, 0, sizeof *c);
    def.base.material.young = 1.2e7; // sags by a fifth of its length
    def.base.rayleigh_stiffness = 0.1;
    def.base.criterion.threshold = threshold;
    if (!rig_open(&g, def, true, false, r)) return false;
    def.base.adapt = false;
    if (!rig_open(&full, def, true, false, r)) {
        rig_close(&g);
        return false;
    }
    pli_body_set_gravity(full.body, down);
    c->finite = settle(&full);
    c->full_tip = full.x[12 * (size_t)full.tip + 10];

    const PliIndex points = pli_body_skin_count(g.body);
    double *skin = PLI_NEW(&g.host, 3 * (size_t)points, double), *rest = PLI_NEW(&g.host, 3 * (size_t)points, double);
    double *before = PLI_NEW(&g.host, 3 * g.count, double), *after = PLI_NEW(&g.host, 3 * g.count, double), scale = 0.0;
    c->finite = c->finite && before && after;
    if (rest) pli_body_skin_positions(g.body, g.x, rest);
    pli_body_set_gravity(g.body, down);
    double jump = 0.0;
    int k = 0, quiet = 0;
    for (; k < SAG && c->finite; ++k) {
        c->finite = step_watched(&g, c, dt, before, after, &scale);
        const PliFramesInfo now = pli_frames_info(g.body);
        if (now.kinetic_jump > jump)
            c->eta_ratio = pli_max(c->eta_ratio, now.kinetic_jump / now.eta), jump = now.kinetic_jump;
        quiet = now.active == 1 ? quiet + 1 : 0;
        if (quiet > 60) break; // long enough for the polish
    }
    memcpy(g.f, g.x, 3 * g.count * sizeof *g.x);
    for (int h = 0; h < HOLD && c->finite; ++h) c->finite = step_watched(&g, c, dt, before, after, &scale);
    for (size_t i = 0; i < 3 * g.count; ++i) c->held_motion = pli_max(c->held_motion, fabs(g.x[i] - g.f[i]));
    memset(g.f, 0, 3 * g.count * sizeof *g.f);
    c->held_tip = g.x[12 * (size_t)g.tip + 10];
    c->held_active = pli_frames_info(g.body).active;
    c->held_regions = pli_frames_info(g.body).merged_regions;

    pli_body_set_gravity(g.body, none);
    quiet = 0;
    for (int h = 0; h < RETURN && c->finite; ++h) {
        c->finite = step_watched(&g, c, dt, before, after, &scale);
        const PliFramesInfo now = pli_frames_info(g.body);
        if (!c->woke && now.active > c->held_active) c->woke = h + 1;
        if (now.kinetic_jump > jump)
            c->eta_ratio = pli_max(c->eta_ratio, now.kinetic_jump / now.eta), jump = now.kinetic_jump;
        quiet = c->woke && now.active == 1 ? quiet + 1 : 0;
        if (quiet > 250) break; // what the polish moved fades from the skin in a few tenths of a second
    }
    c->rest_active = pli_frames_info(g.body).active;
    c->rest = skin && rest ? 0.0 : NAN;
    if (skin && rest) {
        pli_body_skin_positions(g.body, g.x, skin);
        for (size_t i = 0; i < 3 * (size_t)points; ++i) c->rest = pli_max(c->rest, fabs(skin[i] - rest[i]));
    }
    PLI_FREE(&g.host, skin, 3 * (size_t)points);
    PLI_FREE(&g.host, rest, 3 * (size_t)points);
    PLI_FREE(&g.host, before, 3 * g.count);
    PLI_FREE(&g.host, after, 3 * g.count);
    c->info = pli_frames_info(g.body);
    c->stats = pli_body_stats(g.body);
    rig_close(&g);
    rig_close(&full);
    if (!c->finite) pli_verify_broken(r, "a step was not finite");
    return c->finite;
}

// the cycle is run once for all the cases that look at it
static const Cycle *cycle(PliVerifyResult *r)
{
    static Cycle c;
    static bool done;
    if (!done) done = run_cycle(&c, 1e-5, r);
    return done ? &c : NULL;
}

static void static_sag(PliVerifyResult *r)
{
    const Cycle *c = cycle(r);
    if (!c) return;
    pli_verify_note(r, "tip under gravity, adaptive after settling over full, 9 frames, nu 0.3");
    pli_verify_relative(r, c->full_tip - 0.5 * SIDE, c->held_tip - 0.5 * SIDE, 0.01);
}

static void held_frames(PliVerifyResult *r)
{
    const Cycle *c = cycle(r);
    if (!c) return;
    pli_verify_note(r, "active frames while held bent; regions then: %u", c->held_regions);
    pli_verify_within(r, 1.0, c->held_active, 0.0);
}

static void held_shape(PliVerifyResult *r)
{
    const Cycle *c = cycle(r);
    if (!c) return;
    pli_verify_note(r, "largest motion in 60 steps while held, over the length");
    pli_verify_at_most(r, 1e-9, c->held_motion / LENGTH);
}

static void wakes_up(PliVerifyResult *r)
{
    const Cycle *c = cycle(r);
    if (!c) return;
    pli_verify_note(r, "steps from the release until a frame is active again, at most 2");
    pli_verify_at_most(r, 2.0, c->woke ? c->woke : INFINITY);
}

static void comes_back(PliVerifyResult *r)
{
    const Cycle *c = cycle(r);
    if (!c) return;
    pli_verify_note(r, "distance from rest after the release, over the length; %u frame active", c->rest_active);
    pli_verify_at_most(r, 1e-6, c->rest / LENGTH);
}

static void no_jump(PliVerifyResult *r)
{
    const Cycle *c = cycle(r);
    if (!c) return;
    pli_verify_note(r, "largest motion of any coefficient at %llu switches, over the length",
                    (unsigned long long)(c->info.activated + c->info.deactivated));
    pli_verify_at_most(r, 1e-12, c->info.jump / LENGTH);
}

static void kinetic_jump(PliVerifyResult *r)
{
    const Cycle *c = cycle(r);
    if (!c) return;
    pli_verify_note(r, "largest change of kinetic energy at a switch, over the threshold");
    pli_verify_at_most(r, 1.0, c->eta_ratio);
}

static void merge_jump(PliVerifyResult *r)
{
    const Cycle *c = cycle(r);
    if (!c) return;
    pli_verify_note(r, "change of force on what stays active at %u events of %llu merges, over the largest force",
                    c->merged, (unsigned long long)c->info.merges);
    pli_verify_at_most(r, 1e-10, c->merged ? c->force_jump : NAN);
}

static void split_jump(PliVerifyResult *r)
{
    const Cycle *c = cycle(r);
    if (!c) return;
    pli_verify_note(r, "largest relative change of force when merged regions go back to the finest");
    pli_verify_at_most(r, 1e-3, c->info.split_jump);
}

// ---- what came before, and how long a step is ---------------------------------------------------------------------------------

// Tip of a clamped beam under a force on its end after `seconds`, in steps of dt; before that a blow of as long as `blow`, s.
static double tip_under_load(double threshold, double dt, double blow, double seconds, bool adapt, PliVerifyResult *r)
{
    Rig g;
    PliFramesDef def = beam_def(9, 0.3);
    def.base.rayleigh_stiffness = 0.05;
    def.base.mass_damping = 1.0;
    def.base.adapt = adapt;
    def.base.criterion.threshold = threshold;
    if (!rig_open(&g, def, true, false, r)) return NAN;
    g.state.f_ext = g.f;
    bool finite = true;
    for (double t = 0.0; finite && t < seconds - 0.5 * dt; t += dt) {
        memset(g.f, 0, 3 * g.count * sizeof *g.f);
        load_face(&g, LENGTH - 1e-9, push_y, (t < blow ? 200.0 : 1.0) / (SIDE * SIDE));
        finite = pli_body_step(g.body, &g.state, dt).finite;
    }
    const double tip = finite ? g.x[12 * (size_t)g.tip + 10] - 0.5 * SIDE : NAN;
    rig_close(&g);
    return tip;
}

static void forgets_a_blow(PliVerifyResult *r)
{
    const double full = tip_under_load(1e-3, 0.01, 0.0, 20.0, false, r),
                 struck = tip_under_load(1e-3, 0.01, 0.1, 20.0, true, r);
    pli_verify_note(r, "tip under 1 N, 20 s after a blow of 200 N and 0.1 s, over that of the full model without one");
    pli_verify_within(r, 1.0, struck / full, 0.02);
}

static void same_in_short_steps(PliVerifyResult *r)
{
    const double full = tip_under_load(1e-3, 0.01, 0.0, 20.0, false, r),
                 fine = tip_under_load(1e-3, 0.002, 0.0, 20.0, true, r);
    pli_verify_note(r, "tip under 1 N in steps of 2 ms, over that of the full model in steps of 10 ms");
    pli_verify_within(r, 1.0, fine / full, 0.02);
}

// A free beam drifts and turns slowly. Every six seconds three forces that add up to nothing bend it, frames wake, it vibrates, comes
// to rest and is polished. What changes of its momentum in all, and of its angular momentum by events, over what there is (steps are
// implicit, and damp turning a little).
typedef struct Drift {
    double linear, angular;
    PliIndex on, off, polishes;
} Drift;

static void drift(Drift *d, PliVerifyResult *r)
{
    Rig g;
    PliFramesDef def = beam_def(9, 0.3);
    def.base.rayleigh_stiffness = 0.2;
    *d = (Drift){ NAN, NAN, 0, 0, 0 };
    if (!rig_open(&g, def, false, false, r)) return;
    for (size_t i = 0; i < g.count; ++i) { // about the middle of the beam; columns are directions
        const bool is_place = i % 4 == 3;
        const double *x = g.x + 3 * i, spin = 0.005;
        g.v[3 * i] = (is_place ? 0.005 : 0.0) - spin * (x[1] - (is_place ? 0.5 * SIDE : 0.0));
        g.v[3 * i + 1] = spin * (x[0] - (is_place ? 0.5 * LENGTH : 0.0));
    }
    const PliEnergy first = pli_body_energy(g.body, g.x, g.v);
    double linear = 0.0, angular = 0.0;
    bool finite = true;
    g.state.f_ext = g.f;
    for (int k = 0; finite && k < 6000; ++k) {
        memset(g.f, 0, 3 * g.count * sizeof *g.f);
        if (k % 600 < 20) {
            load_face(&g, 1e-9, push_y, 200.0);
            load_face(&g, LENGTH - 1e-9, push_y, 200.0);
            load_face(&g, 0.5 * LENGTH, push_y, -400.0);
        }
        const PliEnergy before = pli_body_energy(g.body, g.x, g.v);
        (void)pli_body_adapt(g.body, &g.state, 0.01);
        const PliEnergy after = pli_body_energy(g.body, g.x, g.v);
        finite = pli_body_advance(g.body, &g.state, 0.01).finite;
        const PliEnergy now = pli_body_energy(g.body, g.x, g.v);
        linear = pli_max(linear, v3_distance(now.momentum, first.momentum) / v3_norm(first.momentum));
        angular = pli_max(angular, v3_distance(after.angular, before.angular) / v3_norm(first.angular));
    }
    const PliFramesInfo info = pli_frames_info(g.body);
    *d = (Drift){ finite ? linear : NAN, finite ? angular : NAN, (PliIndex)info.activated, (PliIndex)info.deactivated,
                  (PliIndex)info.polishes };
    rig_close(&g);
}

static void keeps_momentum(PliVerifyResult *r)
{
    Drift d;
    drift(&d, r);
    const bool tried = d.on >= 50 && d.off >= 50 && d.polishes > 0;
    pli_verify_note(r,
                    "momentum of a free beam that drifts at 5 mm/s; %u frames woke, %u slept, %u polishes; angular, by "
                    "events: %.2g",
                    d.on, d.off, d.polishes, d.angular);
    pli_verify_at_most(r, 1e-8, tried ? pli_max(d.linear, d.angular) : NAN);
}

// The same bending in a body at rest and in one that goes at 10 m/s: largest difference of the shapes over the bending.
static void boosted(PliVerifyResult *r)
{
    enum { STEPS = 300 };
    const double speed[3] = { 6.0, 0.0, 8.0 };
    Rig g[2];
    PliFramesDef def = beam_def(9, 0.3);
    def.base.rayleigh_stiffness = 0.02;
    if (!rig_open(&g[0], def, false, false, r)) return;
    if (!rig_open(&g[1], def, false, false, r)) {
        rig_close(&g[0]);
        return;
    }
    for (size_t i = 3; i < g[1].count; i += 4) v3_copy(g[1].v + 3 * i, speed); // origins; columns are directions
    double apart = 0.0, bent = 0.0;
    bool finite = true;
    for (int k = 0; finite && k < STEPS; ++k) {
        for (int b = 0; b < 2; ++b) {
            memset(g[b].f, 0, 3 * g[b].count * sizeof *g[b].f);
            if (k < 20) {
                load_face(&g[b], 1e-9, push_y, 200.0);
                load_face(&g[b], LENGTH - 1e-9, push_y, 200.0);
                load_face(&g[b], 0.5 * LENGTH, push_y, -400.0);
            }
            g[b].state.f_ext = g[b].f;
            finite = finite && pli_body_step(g[b].body, &g[b].state, 0.01).finite;
        }
        for (size_t i = 0; i < g[0].count; ++i) {
            double moved[3], same[3];
            v3_copy(moved, g[1].x + 3 * i);
            if (i % 4 == 3) v3_madd(moved, -0.01 * (k + 1), speed);
            v3_copy(same, g[0].x + 3 * i);
            apart = pli_max(apart, v3_distance(moved, same));
            bent = pli_max(bent, v3_distance(same, pli_body_rest(g[0].body) + 3 * i));
        }
    }
    const PliFramesInfo still = pli_frames_info(g[0].body), fast = pli_frames_info(g[1].body);
    pli_verify_note(r, "shape of a beam at 10 m/s against one at rest, over its bending; %llu and %llu switches",
                    (unsigned long long)(still.activated + still.deactivated),
                    (unsigned long long)(fast.activated + fast.deactivated));
    pli_verify_at_most(r, 1e-6, finite && still.activated > 0 ? apart / bent : NAN);
    rig_close(&g[0]);
    rig_close(&g[1]);
}

// ---- extension: one frame and one region ---------------------------------------------------------------------------------------

static void extension_rig(PliVerifyResult *r, bool regions)
{
    Rig g;
    PliFramesDef def = beam_def(9, 0.3);
    def.base.rayleigh_stiffness = 0.05;
    def.base.criterion.threshold = 1e-3;
    if (!rig_open(&g, def, false, true, r)) return;
    bool finite = true;
    int quiet = 0;
    // both ends pulled apart: by symmetry each half is a beam on a sliding clamp, and the exact state is affine at any nu
    for (int k = 0; k < 1500 && finite; ++k) {
        const double ramp = k < 100 ? (k + 1) / 100.0 : 1.0;
        memset(g.f, 0, 3 * g.count * sizeof *g.f);
        load_face(&g, LENGTH - 1e-9, pull_x, 2e3 * ramp);
        load_face(&g, 1e-9, pull_x, -2e3 * ramp);
        g.state.f_ext = g.f;
        finite = pli_body_step(g.body, &g.state, 0.01).finite;
        quiet = k > 100 && pli_frames_info(g.body).active == 1 ? quiet + 1 : 0;
        if (quiet > 60) break;
    }
    const PliFramesInfo info = pli_frames_info(g.body);
    const double stretch = g.x[12 * (size_t)g.tip + 9] - (LENGTH - LENGTH / 2.0) - g.x[12 * (size_t)g.root + 9];
    if (regions) {
        pli_verify_note(
            r, "regions left at equilibrium, one per first-level cell allows 3; tip moved %.3g m, Hooke %.3g m",
            stretch, 0.5 * LENGTH * 2e3 / 1e6);
        pli_verify_at_most(r, 3.0, finite ? info.merged_regions : NAN);
    } else {
        pli_verify_note(r, "frames left at equilibrium, sliding clamp, nu 0.3");
        pli_verify_within(r, 1.0, finite ? info.active : NAN, 0.0);
    }
    rig_close(&g);
}
static void extension_frames(PliVerifyResult *r) { extension_rig(r, false); }
static void extension_regions(PliVerifyResult *r) { extension_rig(r, true); }

// ---- offsets under rotation ------------------------------------------------------------------------------------------------------

// A beam frozen bent, then turned and strained as one frame: net force and torque of the internal forces, offsets included.
static void torque(PliVerifyResult *r)
{
    Rig g;
    const double down[3] = { 0.0, -9.81, 0.0 };
    PliFramesDef def = beam_def(9, 0.3);
    def.base.material.young = 1.2e7;
    def.base.rayleigh_stiffness = 0.2;
    def.base.criterion.threshold = 1e-3;
    if (!rig_open(&g, def, true, false, r)) return;
    pli_body_set_gravity(g.body, down);
    bool finite = true;
    for (int k = 0; k < 1500 && finite; ++k) {
        finite = pli_body_step(g.body, &g.state, 0.01).finite;
        if (k > 200 && pli_frames_info(g.body).active == 1) break;
    }
    const PliFramesInfo info = pli_frames_info(g.body);
    double worst = 0.0;
    uint64_t seed = 5;
    for (int trial = 0; trial < 20; ++trial) {
        double a[9], axis[3], angle = 6.0 * pli_random_unit(&seed);
        for (int k = 0; k < 3; ++k) axis[k] = pli_random_unit(&seed) - 0.5;
        v3_scale(axis, 1.0 / v3_norm(axis));
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                const double cross[9] = { 0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0 };
                a[3 * i + j] = (i == j ? cos(angle) : 0.0) + sin(angle) * cross[3 * i + j] +
                               (1.0 - cos(angle)) * axis[i] * axis[j] + 0.01 * (pli_random_unit(&seed) - 0.5);
            }
        double *x = g.f, sum[3] = { 0, 0, 0 }, arm[3], size = 0.0;
        for (size_t k = 0; k < g.count; ++k) m3_apply(x + 3 * k, a, g.x + 3 * k);
        memset(g.v, 0, 3 * g.count * sizeof *g.v);
        pli_body_add_force(g.body, x, NULL, g.v);
        for (size_t k = 0; k < g.count; ++k) {
            v3_cross(arm, x + 3 * k, g.v + 3 * k);
            v3_add(sum, sum, arm);
            size += v3_norm(x + 3 * k) * v3_norm(g.v + 3 * k);
        }
        worst = pli_max(worst, v3_norm(sum) / size);
    }
    pli_verify_note(
        r,
        "net torque of internal forces with offsets over sum |x||f|, %u frame, %u regions, turned and strained by 1 %%",
        info.active, info.merged_regions);
    pli_verify_at_most(r, 1e-10, finite && info.active == 1 ? worst : NAN);
    rig_close(&g);
}

// ---- registration ----------------------------------------------------------------------------------------------------------------

// Where a point of the beam goes in the target: bent into an arc, turned about z and shifted. The correspondence is known.
static void bend_target(const double p[3], double q[3])
{
    const double bend = 1.0, turn = 0.5, radius = LENGTH / bend, a = bend * p[0] / LENGTH;
    const double x = (radius - (p[1] - 0.5 * SIDE)) * sin(a), y = radius - (radius - (p[1] - 0.5 * SIDE)) * cos(a);
    q[0] = cos(turn) * x - sin(turn) * y + 0.1 * LENGTH, q[1] = sin(turn) * x + cos(turn) * y - 0.1 * LENGTH,
    q[2] = p[2];
}

static void draw_to_target(const double *x, const double *v, PliPointForces *out, void *target)
{
    *out = *pli_skin_force_points(target, x, v);
}

// Fits the beam to the target; coarse to fine: one more frame may become active every 20 steps. @return RMS distance of skin points
// to where they belong, m.
static double fit(bool coarse_to_fine, double *closest, PliVerifyResult *r)
{
    enum { STEPS = 240, MOST = 4096 };
    Rig g;
    PliFramesDef def = beam_def(9, 0.3);
    def.base.material.young = 2e4;
    def.base.rayleigh_stiffness = 0.05;
    def.base.adapt = coarse_to_fine;
    def.polish = 0;
    def.growth = 1.0;
    def.base.order = 1; // no motion is followed here, it only has to end
    if (!rig_open(&g, def, false, true, r)) return NAN;
    (void)pli_body_set_fixed(g.body, NULL, 0, NULL);
    // a finer skin than that of the mesh: points of the surface come first; the target is the same surface, bent
    PliError err = { 0 };
    const PliBoxDef box = { { 0, 0, 0 }, { LENGTH, SIDE, SIDE }, { 40, 4, 4 }, 0.0, 1 };
    PliMesh *surface = pli_mesh_box(&g.host, &box, &err), *goal = pli_mesh_create(&g.host);
    PliSkinForce *target = NULL;
    double sum = NAN;
    static PliIndex number[MOST];
    static double skin[3 * MOST];
    PliIndex n = 0;
    if (surface && goal && surface->point_count <= MOST && pli_mesh_find_surface(surface) == PLI_OK) {
        for (PliIndex i = 0; i < surface->point_count; ++i) number[i] = PLI_NONE;
        for (size_t k = 0; k < 3 * (size_t)surface->tri_count; ++k) {
            PliIndex *at = number + surface->tris[k];
            if (*at == PLI_NONE) v3_copy(skin + 3 * (size_t)n, surface->x + 3 * (size_t)surface->tris[k]), *at = n++;
            surface->tris[k] = *at;
        }
        if (pli_mesh_resize_points(goal, n) == PLI_OK &&
            pli_mesh_resize_cells(goal, PLI_TRI, surface->tri_count) == PLI_OK) {
            memcpy(goal->tris, surface->tris, 3 * (size_t)surface->tri_count * sizeof *goal->tris);
            for (PliIndex i = 0; i < n; ++i) bend_target(skin + 3 * (size_t)i, goal->x + 3 * (size_t)i);
            const PliTargetDef springs = { .stiffness = 2e4 / (4.0 * LENGTH * SIDE + 2.0 * SIDE * SIDE),
                                           .match = PLI_MATCH_CLOSEST };
            if (pli_body_attach_skin(g.body, skin, n, surface->tris, surface->tri_count, &err) == PLI_OK)
                target = pli_skin_force_target(&g.host, g.body, &springs, goal, &err);
        }
    }
    if (target && pli_body_reserve_points(g.body, pli_skin_force_capacity(target), &err) == PLI_OK) {
        g.state.points = draw_to_target, g.state.points_user = target;
        bool finite = true;
        for (int k = 0; k < STEPS && finite; ++k) {
            pli_skin_force_begin(target, 0.05);
            finite = pli_body_step(g.body, &g.state, 0.05).finite;
        }
        pli_body_skin_positions(g.body, g.x, skin);
        sum = finite ? 0.0 : NAN;
        for (size_t i = 0; i < 3 * (size_t)n; ++i) sum += (skin[i] - goal->x[i]) * (skin[i] - goal->x[i]);
        sum = sqrt(sum / n);
        *closest = pli_skin_force_measure(target);
    }
    if (err.text[0]) pli_verify_broken(r, "%s", err.text);
    pli_skin_force_destroy(target);
    pli_mesh_destroy(surface);
    pli_mesh_destroy(goal);
    rig_close(&g);
    return sum;
}

static void registration(PliVerifyResult *r)
{
    double near_full = NAN, near = NAN;
    const double full = fit(false, &near_full, r), adaptive = fit(true, &near, r);
    pli_verify_note(r,
                    "RMS distance to the true places over that of the full model; coarse to fine %.4g m (nearest "
                    "%.3g), full %.4g m (nearest %.3g), length %g m",
                    adaptive, near, full, near_full, LENGTH);
    pli_verify_at_most(r, 0.6, adaptive / full);
}

const PliVerifyCase pli_verify_frames_cases[] = {
    { "frames", "bending against FEM", bending_fem },
    { "frames", "extension against FEM", extension_fem },
    { "frames", "torsion against FEM, no warping", torsion_fem },
    { "frames", "torsion against FEM, off-axis frames", torsion_off_axis },
    { "frames", "static sag, adaptive against full", static_sag },
    { "frames", "tip under load, forgets a blow", forgets_a_blow },
    { "frames", "tip under load, steps of 2 ms", same_in_short_steps },
    { "frames", "free beam, momentum", keeps_momentum },
    { "frames", "free beam, boosted", boosted },
    { "frames", "extension, frames left", extension_frames },
    { "frames", "extension, regions left", extension_regions },
    { "frames", "held, frames left", held_frames },
    { "frames", "held, shape stays", held_shape },
    { "frames", "release, wakes up", wakes_up },
    { "frames", "release, comes back", comes_back },
    { "frames", "switch, no material point moves", no_jump },
    { "frames", "switch, kinetic energy", kinetic_jump },
    { "frames", "merge, force jump", merge_jump },
    { "frames", "split, force jump", split_jump },
    { "frames", "offsets, net torque", torque },
    { "frames", "registration", registration },
    { NULL, NULL, NULL },
};
