/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Particles in an octree against what the Lame equation says. doc/schemes/octree.md says where each answer comes from.
#include "evidence/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <pliant/stages.h>

#include "base/fold.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "evidence/assets.h"
#include "scheme/octree/evidence/rig.h"
#include "scheme/octree/octree.h"

// ---- operators -------------------------------------------------------------------------------------------------------------

static double monomial(int m, const double *p)
{
    const double b[10] = { 1,           p[0],        p[1],        p[2],        p[0] * p[0],
                           p[1] * p[1], p[2] * p[2], p[1] * p[2], p[0] * p[2], p[0] * p[1] };
    return b[m];
}

/// mu Lap u + (lambda + mu) grad div u of u_c = monomial m
static void lame_of(int m, int c, double mu, double lambda, double out[3])
{
    double second[3][3] = { { 0 } };
    if (m >= 4 && m < 7) second[m - 4][m - 4] = 2.0;
    if (m == 7) second[1][2] = second[2][1] = 1.0;
    if (m == 8) second[0][2] = second[2][0] = 1.0;
    if (m == 9) second[0][1] = second[1][0] = 1.0;
    for (int i = 0; i < 3; ++i)
        out[i] = (lambda + mu) * second[c][i] + (i == c ? mu * (second[0][0] + second[1][1] + second[2][2]) : 0.0);
}

/// Largest error of the force on interior particles over all quadratic fields, relative to (lambda + 2 mu) V.
static double quadratic_error(const PliOctree *s, PliIndex *interior)
{
    const PliOctreeOperator *o = &s->op;
    const size_t n = o->count + o->extra + o->wall_count;
    double *d = PLI_NEW(&s->host, 3 * n, double), *f = PLI_NEW(&s->host, 3 * n, double), worst = 0.0;
    *interior = 0;
    for (int k = 0; d && f && k < 30; ++k) {
        double expected[3];
        memset(d, 0, 3 * n * sizeof *d);
        memset(f, 0, 3 * n * sizeof *f);
        for (size_t i = 0; i < n; ++i) d[3 * i + (size_t)(k % 3)] = monomial(k / 3, o->rest + 3 * i);
        pli_octree_add_linear(o, NULL, d, 1.0, f);
        lame_of(k / 3, k % 3, o->lame.mu, o->lame.bulk, expected);
        for (PliIndex i = 0; i < o->count; ++i) {
            if (!o->is_interior[o->cell[i]]) continue;
            const double volume = s->tree->volume[o->cell[i]], scale = volume * (o->lame.bulk + 2.0 * o->lame.mu);
            *interior += k == 0;
            for (int c = 0; c < 3; ++c)
                worst = pli_max(worst, fabs(f[3 * (size_t)i + (size_t)c] - volume * expected[c]) / scale);
        }
    }
    if (!d || !f) worst = NAN;
    PLI_FREE(&s->host, d, 3 * n);
    PLI_FREE(&s->host, f, 3 * n);
    return worst;
}

static void split_in_ball(PliOctreeRig *r, const double centre[3], double radius)
{
    const PliOctree *s = pli_body_self(r->body);
    for (PliIndex c = s->tree->cell_count; c-- > 0;) { // finer ones last: they exist after the coarser were split
        const PliIndex cell = s->tree->cell_count - 1 - c;
        if (v3_distance(s->tree->rest + 3 * (size_t)cell, centre) < radius)
            (void)pli_octree_event(r->body, &r->state, cell, true);
    }
}

static void quadratic(PliVerifyResult *v, bool mixed)
{
    static const double size[3] = { 2, 1, 1 }, centre[3] = { 0.5, 0.5, 0.5 };
    PliOctreeRig r;
    PliError err = { PLI_OK, "" };
    PliOctreeDef def = pli_octree_still();
    def.start_level = 1;
    PliIndex interior;
    if (!pli_octree_rig_open(&r, def, size, &err)) {
        pli_verify_broken(v, "%s", err.text);
        return;
    }
    if (mixed) split_in_ball(&r, centre, 0.3);
    const double error = quadratic_error(pli_body_self(r.body), &interior);
    pli_verify_note(v, "all quadratic fields, %u interior particles of %u, %u corrected faces", interior,
                    pli_body_active(r.body).count, pli_octree_info(r.body).corrections);
    pli_verify_at_most(v, 1e-9, interior ? error : NAN);
    pli_octree_rig_close(&r);
}

static void quadratic_inside(PliVerifyResult *v) { quadratic(v, false); }
static void quadratic_across(PliVerifyResult *v) { quadratic(v, true); }

static void paper_formulas(PliVerifyResult *v)
{
    static const double size[3] = { 1, 1, 1 }, centre[3] = { 0, 0, 0 };
    PliOctreeRig r;
    PliError err = { PLI_OK, "" };
    PliOctreeDef def = pli_octree_still();
    def.resolution = 8, def.start_level = 1, def.operators = PLI_OCTREE_PAPER;
    if (!pli_octree_rig_open(&r, def, size, &err)) {
        pli_verify_broken(v, "%s", err.text);
        return;
    }
    split_in_ball(&r, centre, 0.6);
    const PliOctree *s = pli_body_self(r.body);
    const PliActive a = pli_body_active(r.body);
    uint64_t seed = 5;
    double *f = PLI_NEW(&r.host, 3 * r.count, double), worst = f ? 0.0 : NAN;
    for (PliIndex i = 0; i < a.count; ++i)
        for (int k = 0; k < 3; ++k) r.x[3 * (size_t)a.dof[i] + (size_t)k] += 0.05 * (pli_random_unit(&seed) - 0.5);
    if (f) pli_body_add_force(r.body, r.x, r.v, f);
    const double mu = s->op.lame.mu, lambda = s->op.lame.bulk;
    for (PliIndex i = 0; f && i < a.count; ++i) {
        double lap[3] = { 0 }, radial[3] = { 0 }, total = 0.0;
        const size_t p = a.dof[i];
        if (p >= s->wall_first) continue; // the axes
        for (PliIndex j = 0; j < a.count && a.dof[j] < s->wall_first; ++j) {
            const size_t q = a.dof[j];
            const double hp = s->tree->size[s->tree->cell[p].level], hq = s->tree->size[s->tree->cell[q].level];
            double cp[3], cq[3], l[3], d[3];
            bool touch = p != q;
            pli_octree_cell_centre(s->tree, (PliIndex)p, cp);
            pli_octree_cell_centre(s->tree, (PliIndex)q, cq);
            for (int k = 0; k < 3; ++k) touch = touch && fabs(cp[k] - cq[k]) < 0.5 * (hp + hq) + 1e-9;
            if (!touch) continue;
            for (int k = 0; k < 3; ++k) {
                l[k] = r.rest[3 * p + (size_t)k] - r.rest[3 * q + (size_t)k];
                d[k] = (r.x[3 * q + (size_t)k] - r.rest[3 * q + (size_t)k]) -
                       (r.x[3 * p + (size_t)k] - r.rest[3 * p + (size_t)k]);
            }
            const double length = v3_norm(l);
            total += length;
            v3_madd(lap, 1.0 / length, d);
            v3_madd(radial, v3_dot(d, l) / (length * length * length), l);
        }
        for (int k = 0; k < 3; ++k) {
            const double expected = s->tree->volume[p] * 2.0 / total * (mu * lap[k] + (lambda + mu) * radial[k]);
            worst = pli_max(worst, fabs(f[3 * p + (size_t)k] - expected) / (s->tree->volume[p] * lambda));
        }
    }
    pli_verify_note(v, "(6) and (9) by a search over all pairs of %u particles, random displacements", a.count);
    pli_verify_at_most(v, 1e-12, worst);
    PLI_FREE(&r.host, f, 3 * r.count);
    pli_octree_rig_close(&r);
}

// ---- events ----------------------------------------------------------------------------------------------------------------

static void random_events(PliVerifyResult *v)
{
    static const double size[3] = { 2, 1, 1 };
    PliOctreeRig r;
    PliError err = { PLI_OK, "" };
    PliOctreeDef def = pli_octree_still();
    def.resolution = 8;
    if (!pli_octree_rig_open(&r, def, size, &err)) {
        pli_verify_broken(v, "%s", err.text);
        return;
    }
    const PliOctree *s = pli_body_self(r.body);
    const PliActive a = pli_body_active(r.body);
    uint64_t seed = 11;
    for (PliIndex i = 0; i < a.count; ++i)
        for (int k = 0; k < 3; ++k) r.v[3 * (size_t)a.dof[i] + (size_t)k] = pli_random_unit(&seed) - 0.5;
    const PliEnergy first = pli_body_energy(r.body, r.x, r.v);
    double worst = 0.0;
    int events = 0, invalid = 0;
    while (events < 10000) {
        const PliIndex cell = (PliIndex)(pli_random(&seed) % s->tree->cell_count);
        if (!pli_octree_event(r.body, &r.state, cell, pli_random_unit(&seed) < 0.5)) continue;
        events++;
        const PliEnergy e = pli_body_energy(r.body, r.x, r.v);
        worst = pli_max(worst, fabs(e.mass - first.mass) / first.mass);
        for (int k = 0; k < 3; ++k) {
            worst = pli_max(worst, fabs(e.momentum[k] - first.momentum[k]) / first.mass);
            worst = pli_max(worst, fabs(e.angular[k] - first.angular[k]) / first.mass);
        }
        if (events % 10 == 0) invalid += !pli_octree_active_is_valid(&s->active, &err);
    }
    pli_verify_note(
        v, "%d splits and merges: mass, momentum, angular momentum; %d of %d sets differ from a search over all pairs",
        events, invalid, events / 10);
    pli_verify_at_most(v, 1e-9, invalid ? INFINITY : worst);
    pli_octree_rig_close(&r);
}

enum { FLIGHT_STEPS = 500 };

/// A free body that turns and bends, through splits and merges; with `boost` m/s on top.
static bool fly(double boost, double drift[2], double shape[3], PliStats *stats, PliError *err)
{
    static const double size[3] = { 2, 1, 0.5 };
    PliOctreeRig r;
    PliOctreeDef def = pli_octree_still();
    def.base.criterion.threshold = 0.2;
    if (!pli_octree_rig_open(&r, def, size, err)) return false;
    const PliActive a = pli_body_active(r.body);
    for (PliIndex i = 0; i < a.count; ++i) {
        const double *p = r.x + 3 * (size_t)a.dof[i];
        double *w = r.v + 3 * (size_t)a.dof[i];
        w[0] = -0.5 * p[1] + boost, w[1] = 0.5 * p[0] + 0.6 * p[0] * p[0];
    }
    const PliEnergy first = pli_body_energy(r.body, r.x, r.v);
    bool good = true;
    drift[0] = drift[1] = 0.0;
    for (int i = 0; good && i < FLIGHT_STEPS; ++i) {
        good = pli_body_step(r.body, &r.state, 0.005).finite;
        const PliEnergy e = pli_body_energy(r.body, r.x, r.v);
        for (int k = 0; k < 3; ++k) {
            drift[0] = pli_max(drift[0], fabs(e.momentum[k] - first.momentum[k]) / first.mass);
            drift[1] = pli_max(drift[1], fabs(e.angular[k] - first.angular[k]) / first.mass);
        }
    }
    const PliEnergy e = pli_body_energy(r.body, r.x, r.v);
    const PliIndex corner = pli_octree_rig_nearest(&r, size);
    for (int k = 0; k < 3; ++k) shape[k] = r.x[3 * (size_t)corner + (size_t)k] - e.centre[k];
    *stats = pli_body_stats(r.body);
    pli_octree_rig_close(&r);
    return good;
}

static void flight(PliVerifyResult *v, int which)
{
    double drift[2], fast[2], shape[3], moved[3], worst = 0.0;
    PliStats events, boosted;
    PliError err = { PLI_OK, "not finite" };
    if (!fly(0.0, drift, shape, &events, &err) || (which == 2 && !fly(5.0, fast, moved, &boosted, &err))) {
        pli_verify_broken(v, "%s", err.text);
        return;
    }
    if (which == 2)
        for (int k = 0; k < 3; ++k) worst = pli_max(worst, fabs(shape[k] - moved[k]));
    const bool enough = events.refined >= 50 && events.coarsened >= 50;
    pli_verify_note(v, "%d steps of a free box that turns and bends, %llu splits and %llu merges", FLIGHT_STEPS,
                    (unsigned long long)events.refined, (unsigned long long)events.coarsened);
    if (which == 2)
        pli_verify_at_most(v, 1e-6,
                           enough && events.refined == boosted.refined && events.coarsened == boosted.coarsened ? worst
                                                                                                                : NAN);
    else
        pli_verify_at_most(v, which ? 1e-7 : 1e-10, enough ? drift[which] : NAN);
}

static void flight_momentum(PliVerifyResult *v) { flight(v, 0); }
static void flight_angular(PliVerifyResult *v) { flight(v, 1); }
static void flight_boost(PliVerifyResult *v) { flight(v, 2); }

// ---- frequencies -----------------------------------------------------------------------------------------------------------

/// Time from the first to the second upward zero of a coordinate of one particle, s.
static double period_of(PliOctreeRig *r, PliIndex dof, int axis, double level, double dt, int most)
{
    double last = 0.0, first = -1.0;
    for (int i = 0; i < most; ++i) {
        if (!pli_body_step(r->body, &r->state, dt).finite) return NAN;
        const double u = r->x[3 * (size_t)dof + (size_t)axis] - r->rest[3 * (size_t)dof + (size_t)axis] - level;
        if (i > 0 && last < 0.0 && u >= 0.0) {
            const double at = dt * (i + 1 - u / (u - last));
            if (first >= 0.0) return at - first;
            first = at;
        }
        last = u;
    }
    return NAN;
}

static void axial(PliVerifyResult *v)
{
    static const double size[3] = { 4, 1, 1 }, end[3] = { 4, 0.5, 0.5 };
    double worst = 1.0;
    PliError err = { PLI_OK, "" };
    char note[120] = "";
    for (int level = 0; level < 3; ++level) {
        PliOctreeRig r;
        PliOctreeDef def = pli_octree_still();
        def.start_level = level, def.base.adapt = false, def.base.material.poisson = 0.0;
        if (!pli_octree_rig_open(&r, def, size, &err) || pli_octree_rig_hold(&r, 0, 0.0, &err) != PLI_OK) {
            pli_verify_broken(v, "%s", err.text);
            return;
        }
        const PliActive a = pli_body_active(r.body);
        for (PliIndex i = 0; i < a.count; ++i)
            if (pli_body_dof_place(r.body, a.dof[i]) != PLI_NONE)
                r.x[3 * (size_t)a.dof[i]] += 0.01 * sin(0.39269908169872414 * r.x[3 * (size_t)a.dof[i]]);
        const double expected = sqrt(def.base.material.young / def.base.material.density) / 16.0;
        const double measured =
            1.0 / period_of(&r, pli_octree_rig_nearest(&r, end), 0, 0.0, 1.0 / expected / 300, 1000) / expected;
        if (!(fabs(measured - 1.0) <= fabs(worst - 1.0)) || level == 0) worst = measured;
        (void)snprintf(note + strlen(note), sizeof note - strlen(note), " %+.2f %%", 100.0 * (measured - 1.0));
        pli_octree_rig_close(&r);
    }
    pli_verify_note(v, "bar 4x1x1, nu 0, f / (sqrt(E/rho) / 4 L) of 4, 32 and 256 particles:%s", note);
    pli_verify_within(v, 1.0, worst, 0.03);
}

/// The paper's figure 3: a cube of 10 cm, one face held, swings by its own weight. @return frequency of a far corner, Hz.
static double cube_frequency(int level, PliError *err)
{
    static const double size[3] = { 0.1, 0.1, 0.1 }, corner[3] = { 0.1, 0.1, 0.1 };
    PliOctreeRig r;
    PliOctreeDef def = pli_octree_still();
    def.start_level = level, def.base.adapt = false;
    def.base.material.young = 1e5;
    def.base.gravity[1] = -9.81;
    if (!pli_octree_rig_open(&r, def, size, err)) return NAN;
    double f = NAN;
    if (pli_octree_rig_hold(&r, 0, 0.0, err) == PLI_OK) {
        // about the mean of its way: from rest to the lowest point and back
        const PliIndex tip = pli_octree_rig_nearest(&r, corner);
        double lowest = 0.0;
        for (int i = 0; i < 60; ++i) {
            (void)pli_body_step(r.body, &r.state, 0.001);
            lowest = pli_min(lowest, r.x[3 * (size_t)tip + 1] - r.rest[3 * (size_t)tip + 1]);
        }
        f = 1.0 / period_of(&r, tip, 1, 0.5 * lowest, 0.0005, 500);
    }
    pli_octree_rig_close(&r);
    return f;
}

static void cube(PliVerifyResult *v)
{
    PliError err = { PLI_OK, "" };
    double f[3], worst = 0.0;
    for (int level = 0; level < 3; ++level) f[level] = cube_frequency(level, &err);
    // second order: what the two finest say about the limit
    const double limit = f[2] + (f[2] - f[1]) / 3.0;
    for (int level = 0; level < 3; ++level) worst = pli_max(worst, fabs(f[level] / limit - 1.0));
    pli_verify_note(v, "64, 512 and 4096 particles: %.3f, %.3f, %.3f Hz, limit %.3f Hz %s", f[0], f[1], f[2], limit,
                    err.text);
    pli_verify_at_most(v, 0.05, worst);
}

// ---- pulls -----------------------------------------------------------------------------------------------------------------

/// Shipped defaults on objects that nothing was chosen for: single cells pulled at random with 30 N for each kg of the whole body, then let go.
/// @return steps that failed, -1: no body
static int pull_about(PliVerifyResult *v, const char *asset, uint64_t seed)
{
    PliError err = { PLI_OK, "" };
    PliHost host = pli_host_default();
    PliOctreeDef def = pli_octree_default();
    PliMesh *mesh = pli_asset_mesh(&host, asset, &err);
    def.mesh = mesh;
    PliBody *body = mesh ? pli_octree_create(&host, &def, &err) : NULL;
    const size_t n = body ? 3 * (size_t)pli_body_dof_count(body) : 0;
    double *x = PLI_NEW(&host, 3 * n, double), *w = x ? x + n : NULL, *f = x ? x + 2 * n : NULL;
    int failed = body && x ? 0 : -1;
    if (failed == 0) {
        const PliState state = { .x = x, .v = w, .f_ext = f };
        pli_body_reset(body, &state);
        const double most = 30.0 * pli_body_energy(body, x, w).mass;
        for (int k = 0; k < 80; ++k) {
            if (k % 20 == 0) {
                memset(f, 0, n * sizeof *f);
                const size_t cell = (size_t)(pli_octree_info(body).cell_count * pli_random_unit(&seed));
                for (size_t c = 0; c < 3 && k < 60; ++c) f[3 * cell + c] = most * (2.0 * pli_random_unit(&seed) - 1.0);
            }
            failed += !pli_body_step(body, &state, 0.01).finite;
        }
        const PliOctree *s = pli_body_self(body);
        failed += !pli_octree_active_is_valid(&s->active, &err);
    } else {
        pli_verify_broken(v, "%s: %s", asset, err.text);
    }
    PLI_FREE(&host, x, 3 * n);
    pli_body_destroy(body);
    pli_mesh_destroy(mesh);
    return failed;
}

static void defaults(PliVerifyResult *v)
{
    static const char *const assets[] = { "frames/seal.obj", "compare/box_skin.obj", "compare/sphere_skin.obj",
                                          "meshes/liver_surface.obj" };
    int failed = 0;
    for (int k = 0; k < 4; ++k) {
        const int n = pull_about(v, assets[k], 11 + (uint64_t)k);
        if (n < 0) return;
        failed += n;
    }
    pli_verify_note(v, "seal, box, sphere and liver with shipped defaults, single cells pulled by 30 N for each kg of "
                       "the body: steps of 320 that were not finite");
    pli_verify_at_most(v, 0.0, failed);
}

/// m, sag of the last quarter of a bar held at one end, at a level, or with the half at the wall one finer. The load is small.
static double bar_sag(int level, bool half, PliError *err)
{
    static const double size[3] = { 4, 1, 1 };
    PliOctreeRig r;
    PliOctreeDef def = pli_octree_still();
    def.start_level = level, def.base.adapt = false;
    def.base.material.young = 1e6, def.base.mass_damping = 6.0;
    def.base.gravity[1] = -0.1;
    if (!pli_octree_rig_open(&r, def, size, err)) return NAN;
    double sag = NAN;
    if (pli_octree_rig_hold(&r, 0, 0.0, err) == PLI_OK) {
        const PliOctree *s = pli_body_self(r.body);
        for (PliIndex c = 0; half && c < s->tree->level_first[level + 1]; ++c)
            if (s->tree->rest[3 * (size_t)c] < 2.0) (void)pli_octree_event(r.body, &r.state, c, true);
        bool good = true;
        for (int i = 0; good && i < 600; ++i) good = pli_body_step(r.body, &r.state, 0.01).finite;
        // the last coarse column as a whole: particles of all levels have it
        double mean = 0.0, volume = 0.0;
        for (PliIndex c = s->tree->level_first[0]; c < s->tree->level_first[1]; ++c)
            if (s->tree->rest[3 * (size_t)c] > 3.0)
                mean += s->tree->volume[c] * (r.rest[3 * (size_t)c + 1] - r.x[3 * (size_t)c + 1]),
                    volume += s->tree->volume[c];
        sag = good ? mean / volume : NAN;
    }
    pli_octree_rig_close(&r);
    return sag;
}

static void bending(PliVerifyResult *v)
{
    PliError err = { PLI_OK, "" };
    const double full = bar_sag(2, false, &err), half0 = bar_sag(0, true, &err), half1 = bar_sag(1, true, &err);
    pli_verify_note(v,
                    "sag of a 4x1x1 bar whose half at the wall is one level finer, over that of 256 particles: of 4 "
                    "cells %+.1f %%, of 32 %+.1f %% %s",
                    100.0 * (half0 / full - 1.0), 100.0 * (half1 / full - 1.0), err.text);
    pli_verify_at_most(v, 0.05, pli_max(fabs(half0 / full - 1.0), fabs(half1 / full - 1.0)));
}

const PliVerifyCase pli_verify_octree_cases[] = {
    { "octree", "quadratic_inside", quadratic_inside },
    { "octree", "quadratic_across", quadratic_across },
    { "octree", "paper_formulas", paper_formulas },
    { "octree", "random_events", random_events },
    { "octree", "flight_momentum", flight_momentum },
    { "octree", "flight_angular", flight_angular },
    { "octree", "flight_boost", flight_boost },
    { "octree", "axial_frequency", axial },
    { "octree", "cube_frequency", cube },
    { "octree", "bending_across", bending },
    { "octree", "defaults", defaults },
    { 0 },
};
