/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Cases with known answers for springs: what refinement must keep, what a closed surface must recover from, and shipped defaults.
#include "evidence/verify.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "scheme/springs/evidence/rig.h"
#include "scheme/springs/springs.h"

static bool open_liver(SpringsRig *g, PliSpringsDef *d, PliVerifyResult *r)
{
    PliError err = { 0 };
    d->base_points = 139;
    if (springs_rig_open(g, d, "meshes/liver_surface.obj", &err)) return true;
    pli_verify_broken(r, "%s", err.text);
    return false;
}

static double larger(double a, double b) { return a >= b ? a : b; } // NaN in b stays, and then fails every bound

// ---- the surface -------------------------------------------------------------------------------------------------------------------

static void details(PliVerifyResult *r)
{
    SpringsRig g;
    PliSpringsDef d = springs_rig_def();
    d.levels = 3;
    if (!open_liver(&g, &d, r)) return;
    const PliSprings *s = pli_body_self(g.body);
    double worst = 0.0;
    memcpy(g.x, s->pyramid->detail, 3 * (size_t)g.count * sizeof *g.x);
    memcpy(g.x, s->pyramid->rest, 3 * (size_t)s->info.base_points * sizeof *g.x);
    pli_pyramid_synthesise(s->pyramid, g.x, g.x);
    for (size_t k = 0; k < 3 * (size_t)g.count; ++k)
        worst = larger(worst, fabs(g.x[k] - s->pyramid->rest[k]) / s->size);
    pli_verify_note(r, "base and details of a liver with %u vertices, over its size", g.count);
    pli_verify_at_most(r, 1e-12, worst);
    springs_rig_close(&g);
}

static void analysis(PliVerifyResult *r)
{
    SpringsRig g;
    PliSpringsDef d = springs_rig_def();
    d.levels = 3;
    if (!open_liver(&g, &d, r)) return;
    const PliSprings *s = pli_body_self(g.body);
    pli_verify_note(r, "liver of 2524 points from a base of 139, three levels: largest distance over its size");
    pli_verify_at_most(r, 0.004, s->info.distance / s->size);
    springs_rig_close(&g);
}

/// Random stars in and out; what a cut must be is asked each time.
static void random_cuts(PliVerifyResult *r, bool masses)
{
    SpringsRig g;
    PliSpringsDef d = springs_rig_def();
    d.levels = 3;
    if (!open_liver(&g, &d, r)) return;
    PliSprings *s = pli_body_self(g.body);
    uint64_t seed = 4;
    double worst = 0.0;
    PliIndex bad = 0;
    for (int k = 0; k < 2000; ++k) {
        pli_springs_cut_choose(s->cut, (PliIndex)(s->cut->star_count * pli_random_unit(&seed)), true);
        if (k % 2 && s->cut->chosen_count > 0)
            pli_springs_cut_choose(s->cut, s->cut->chosen[(PliIndex)(s->cut->chosen_count * pli_random_unit(&seed))],
                                   false);
        pli_springs_cut_refresh(s->cut);
        double mass = 0.0;
        for (PliIndex i = 0; i < s->cut->active_count; ++i) mass += s->cut->mass[s->cut->active[i]];
        worst = larger(worst, fabs(mass / s->info.mass - 1.0));
        if (k % 4 == 0) bad += !pli_springs_cut_is_valid(s->cut, NULL);
    }
    if (masses) {
        pli_verify_note(r, "total mass of 2000 random cuts of three levels, relative");
        pli_verify_at_most(r, 1e-12, worst);
    } else {
        pli_verify_note(r, "random cuts of 500 with a T-junction, a loose spring or a wrong Euler characteristic");
        pli_verify_at_most(r, 0.0, bad);
    }
    springs_rig_close(&g);
}
static void mass(PliVerifyResult *r) { random_cuts(r, true); }
static void junctions(PliVerifyResult *r) { random_cuts(r, false); }

static uint64_t hash_of(const PliSpringsCut *c)
{
    uint64_t h = pli_hash(PLI_HASH_SEED, c->active, c->active_count * sizeof *c->active);
    h = pli_hash(h, c->mass, c->pyramid->vertex_count * sizeof *c->mass);
    h = pli_hash(h, c->spring, 2 * (size_t)c->spring_count * sizeof *c->spring);
    h = pli_hash(h, c->stiffness, c->spring_count * sizeof *c->stiffness);
    h = pli_hash(h, c->length, c->spring_count * sizeof *c->length);
    return pli_hash(h, c->tri, 3 * (size_t)c->tri_count * sizeof *c->tri);
}

static void identity(PliVerifyResult *r)
{
    SpringsRig g;
    PliSpringsDef d = springs_rig_def();
    if (!open_liver(&g, &d, r)) return;
    PliSpringsCut *c = ((PliSprings *)pli_body_self(g.body))->cut;
    uint64_t seed = 9;
    int changed = 0;
    for (int k = 0; k < 500; ++k) {
        const PliIndex star = (PliIndex)(c->star_count * pli_random_unit(&seed));
        if (c->star[star]) continue;
        const uint64_t before = hash_of(c);
        for (int in = 1; in >= 0; --in) pli_springs_cut_choose(c, star, in), pli_springs_cut_refresh(c);
        changed += hash_of(c) != before;
        if (k % 3 == 0) pli_springs_cut_choose(c, star, true), pli_springs_cut_refresh(c);
    }
    pli_verify_note(
        r, "refine and coarsen again: times of 500 that vertices, masses, springs or triangles had other bits");
    pli_verify_at_most(r, 0.0, changed);
    springs_rig_close(&g);
}

// ---- motion --------------------------------------------------------------------------------------------------------------------------

enum { DRAG_STEPS = 600 };

/// A ball pulled here and there; `train` is added to every velocity. Events of each kind are counted.
static bool drag_ball(PliVerifyResult *r, const double train[3], double *end, uint64_t events[2], double *momentum)
{
    SpringsRig g;
    PliSpringsDef d = springs_rig_def();
    PliError err = { 0 };
    d.base_points = 60, d.base.material.young = 1e6, d.base.material.damping = 0.01;
    if (!springs_rig_ball(&g, &d, &err)) return pli_verify_broken(r, "%s", err.text), false;
    for (size_t k = 0; k < 3 * (size_t)g.count; ++k) g.v[k] += train[k % 3];
    bool good = true;
    *momentum = 0.0;
    for (int k = 0; k < DRAG_STEPS && good; ++k) {
        const size_t where = (size_t)(k / 100) * 13 % 60;
        g.f[3 * where] = k % 100 < 50 ? 8e4 : 0.0, g.f[3 * where + 1] = k % 100 < 50 ? 6e4 : 0.0;
        const PliEnergy before = pli_body_energy(g.body, g.x, g.v);
        good = pli_body_step(g.body, &g.state, 0.01).finite;
        const PliEnergy after = pli_body_energy(g.body, g.x, g.v);
        for (int c = 0; c < 3; ++c) {
            const double push = 0.01 * g.f[3 * where + (size_t)c];
            *momentum = larger(*momentum, fabs(after.momentum[c] - before.momentum[c] - push) / (after.mass * 1.0));
        }
    }
    events[0] = pli_body_stats(g.body).refined, events[1] = pli_body_stats(g.body).coarsened;
    for (size_t k = 0; k < 180; ++k) end[k] = g.x[k] - 0.01 * DRAG_STEPS * train[k % 3];
    springs_rig_close(&g);
    if (!good) pli_verify_broken(r, "a step was not finite");
    return good;
}

static void momentum(PliVerifyResult *r)
{
    static const double still[3] = { 0.0, 0.0, 0.0 };
    double end[180], error;
    uint64_t events[2];
    if (!drag_ball(r, still, end, events, &error)) return;
    pli_verify_note(r, "pulled ball, %u refinements and %u coarsenings: momentum no force gave, over mass x 1 m/s",
                    (unsigned)events[0], (unsigned)events[1]);
    pli_verify_at_most(r, events[0] >= 50 && events[1] >= 50 ? 1e-10 : -1.0, error);
}

static void boost(PliVerifyResult *r)
{
    static const double still[3] = { 0.0, 0.0, 0.0 }, train[3] = { 3.0, -2.0, 1.0 };
    double a[180], b[180], error, worst = 0.0;
    uint64_t events[2], same[2];
    if (!drag_ball(r, still, a, events, &error) || !drag_ball(r, train, b, same, &error)) return;
    for (int k = 0; k < 180; ++k) worst = larger(worst, fabs(a[k] - b[k]));
    pli_verify_note(r,
                    "pulled ball at rest and in a train, %u refinements and %u coarsenings: distance over its radius",
                    (unsigned)events[0], (unsigned)events[1]);
    pli_verify_at_most(r, events[0] == same[0] && events[1] == same[1] && events[1] >= 50 ? 1e-7 : -1.0, worst);
}

static void dent(PliVerifyResult *r)
{
    SpringsRig g;
    PliSpringsDef d = springs_rig_def();
    PliError err = { 0 };
    d.base_points = 60, d.levels = 1, d.base.material.damping = 0.01, d.base.mass_damping = 1.0;
    if (!springs_rig_ball(&g, &d, &err)) {
        pli_verify_broken(r, "%s", err.text);
        return;
    }
    static const double up[3] = { 0, 1, 0 }, down[3] = { 0, -1, 0 };
    const size_t top = springs_rig_extreme(&g, up, 60), bottom = springs_rig_extreme(&g, down, 60);
    bool good = true;
    for (int k = 0; k < 1500 && good; ++k) {
        const double depth = 0.8 - (g.x[3 * bottom + 1] + 2.0 - g.x[3 * top + 1]);
        g.f[3 * top + 1] = k < 400 ? -2e4 * depth : 0.0, g.f[3 * bottom + 1] = -g.f[3 * top + 1];
        good = pli_body_step(g.body, &g.state, 0.01).finite;
    }
    const PliSprings *s = pli_body_self(g.body);
    for (PliIndex i = 0; i < s->cut->active_count; ++i)
        v3_copy(g.f + 3 * (size_t)i, g.x + 3 * (size_t)s->cut->active[i]);
    pli_verify_note(r, "volume of a ball pushed in by 0.8 of its radius and let go, over that at rest");
    pli_verify_within(r, 1.0, good ? pli_springs_volume(&s->force, g.f) / s->force.volume : NAN, 0.01);
    springs_rig_close(&g);
}

/// Shipped defaults on objects that nothing was chosen for: pulled at random for three seconds, then let go. @return steps that failed
static int pull_about(PliVerifyResult *r, const char *asset, uint64_t seed)
{
    SpringsRig g;
    PliSpringsDef d = springs_rig_def();
    PliError err = { 0 };
    d.base_points = 100;
    if (!springs_rig_open(&g, &d, asset, &err)) {
        pli_verify_broken(r, "%s: %s", asset, err.text);
        return -1;
    }
    const PliSprings *s = pli_body_self(g.body);
    const double most = 0.5 * s->stiffness * s->size; // stretches a spring by half of the body
    int failed = 0;
    for (int k = 0; k < 400; ++k) {
        if (k % 20 == 0) {
            memset(g.f, 0, 3 * (size_t)g.count * sizeof *g.f);
            const size_t v = (size_t)(g.count * pli_random_unit(&seed));
            for (size_t c = 0; c < 3 && k < 300; ++c) g.f[3 * v + c] = most * (2.0 * pli_random_unit(&seed) - 1.0);
        }
        failed += !pli_body_step(g.body, &g.state, 0.01).finite;
    }
    PliError why = { 0 };
    failed += !pli_springs_cut_is_valid(s->cut, &why);
    springs_rig_close(&g);
    return failed;
}

static void defaults(PliVerifyResult *r)
{
    static const char *const assets[] = { "frames/seal.obj", "compare/box_skin.obj", "compare/sphere_skin.obj",
                                          "meshes/bar_2.msh" };
    int failed = 0;
    for (int k = 0; k < 4; ++k) {
        const int n = pull_about(r, assets[k], 11 + (uint64_t)k);
        if (n < 0) return;
        failed += n;
    }
    pli_verify_note(
        r, "seal, box, sphere and bar with shipped defaults, pulled at random: steps of 1600 that were not finite");
    pli_verify_at_most(r, 0.0, failed);
}

const PliVerifyCase pli_verify_springs_cases[] = {
    { "springs", "details", details },   { "springs", "analysis", analysis },
    { "springs", "mass", mass },         { "springs", "junctions", junctions },
    { "springs", "identity", identity }, { "springs", "momentum", momentum },
    { "springs", "boost", boost },       { "springs", "dent", dent },
    { "springs", "defaults", defaults }, { NULL, NULL, NULL },
};
