/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Is the explicit step stable on every active set? Random sets of four bodies, strained at random, at the shipped defaults; the
// judge knows nothing of how the step was found: a Lanczos iteration on M^-1 K, from products with the tangent at that strain.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fold.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "evidence/assets.h"
#include "evidence/bench.h"
#include "evidence/verify.h"
#include "mesher/gmsh.h"
#include "mesher/make.h"
#include "output/program.h"
#include "output/progress.h"
#include "scheme/tetlod/evidence/rig.h"
#include "scheme/tetlod/tetlod.h"

enum { SETS = 10000, PRODUCTS = 24, FEWEST_EVENTS = 2, MOST_EVENTS = 40, RESETS = 25 };

// ---- the judge -------------------------------------------------------------------------------------------------------------

typedef struct Oracle {
    PliTetLodRig *g;
    double *q, *last, *f, *a; ///< Vec3 per coefficient
} Oracle;

static double dot_mass(const Oracle *o, const double *p, const double *q)
{
    double sum = 0.0;
    memset(o->f, 0, 3 * o->g->count * sizeof *o->f);
    pli_body_add_mass(o->g->body, q, 1.0, o->f);
    for (size_t i = 0; i < 3 * o->g->count; ++i) sum += p[i] * o->f[i];
    return sum;
}

/// How many eigenvalues of a symmetric tridiagonal matrix lie above t (Sturm).
static int above(const double *diagonal, const double *beside, int n, double t)
{
    int count = 0;
    double d = 1.0;
    for (int i = 0; i < n; ++i) {
        d = diagonal[i] - t - (i ? beside[i - 1] * beside[i - 1] / d : 0.0);
        if (d == 0.0) d = 1e-300;
        count += d > 0.0;
    }
    return count;
}

static double largest_eigenvalue(const double *diagonal, const double *beside, int n)
{
    double low = 0.0, high = 0.0;
    for (int i = 0; i < n; ++i)
        high = pli_max(high, fabs(diagonal[i]) + (i ? fabs(beside[i - 1]) : 0.0) + (i + 1 < n ? fabs(beside[i]) : 0.0));
    for (int k = 0; k < 60; ++k) {
        const double middle = 0.5 * (low + high);
        *(above(diagonal, beside, n, middle) ? &low : &high) = middle;
    }
    return high;
}

/// 1/s2: the highest squared frequency of the body at x, from below. The forces at x are the last that were asked for.
static double highest(Oracle *o, uint64_t *random)
{
    const PliTetLodRig *g = o->g;
    const size_t n = 3 * g->count;
    double diagonal[PRODUCTS], beside[PRODUCTS];
    int made = 0;
    for (size_t i = 0; i < n; ++i) o->q[i] = pli_random_unit(random) - 0.5, o->last[i] = 0.0;
    pli_body_project(g->body, o->q);
    double norm = sqrt(dot_mass(o, o->q, o->q));
    for (; made < PRODUCTS; ++made) {
        for (size_t i = 0; i < n; ++i) o->q[i] /= norm;
        memset(o->f, 0, n * sizeof *o->f);
        pli_body_add_dforce(g->body, o->q, -1.0, o->f);
        pli_body_acceleration(g->body, o->f, o->a);
        if (made) // norm is what the last round left over
            for (size_t i = 0; i < n; ++i) o->a[i] -= norm * o->last[i];
        diagonal[made] = dot_mass(o, o->a, o->q);
        for (size_t i = 0; i < n; ++i) o->a[i] -= diagonal[made] * o->q[i], o->last[i] = o->q[i], o->q[i] = o->a[i];
        norm = beside[made] = sqrt(dot_mass(o, o->q, o->q));
        if (!(norm > 0.0)) return made ? largest_eigenvalue(diagonal, beside, made + 1) : NAN;
    }
    return largest_eigenvalue(diagonal, beside, made);
}

// ---- the bodies ------------------------------------------------------------------------------------------------------------

static bool seal_levels(PliTetLodRig *g, PliError *err)
{
    char folder[1000];
    if (pli_gmsh_find(err) != PLI_OK || pli_scratch_folder("sets", folder, sizeof folder, err) != PLI_OK) return false;
    g->host = pli_host_default();
    PliMesh *read = pli_asset_mesh(&g->host, "frames/seal.obj", err);
    PliSurfaceFacts facts;
    PliMesh *surface = read ? pli_surface_clean(&g->host, read, &facts, err) : NULL;
    pli_mesh_destroy(read);
    const PliMesherDef def = pli_mesher_default();
    PliMade made = { 0 };
    const bool good = surface && pli_mesher_make(&g->host, surface, &def, folder, &made, err) == PLI_OK;
    for (int k = 0; good && k < made.levels; ++k) g->mesh[g->level_count++] = made.mesh[k], made.mesh[k] = NULL;
    pli_made_free(&made);
    pli_mesh_destroy(surface);
    rmdir(folder);
    return good;
}

static bool levels(PliTetLodRig *g, const char *name, PliError *err)
{
    static const PliIndex box[] = { 2, 4, 7 }, ball[] = { 2, 3, 5, 9 };
    memset(g, 0, sizeof *g);
    if (strcmp(name, "seal") == 0) return seal_levels(g, err);
    if (strcmp(name, "liver") == 0)
        return pli_rig_add_file(g, "meshes/liver_0.msh", err) && pli_rig_add_file(g, "meshes/liver_1.msh", err) &&
               pli_rig_add_file(g, "meshes/liver_2.msh", err);
    const bool is_ball = strcmp(name, "ball") == 0;
    bool good = true;
    for (int k = 0; good && k < (is_ball ? 4 : 3); ++k)
        good = pli_rig_add_box(g, is_ball ? ball[k] : box[k], 1.0, is_ball, err);
    return good;
}

/// A homogeneous strain, a wave and a rotation, of up to a third together.
static void strain(PliTetLodRig *g, uint64_t *random)
{
    double F[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, wave[3], way[3], extent = 0.0;
    const double most = 0.3 * pli_random_unit(random);
    for (int i = 0; i < 9; ++i) F[i] += most * (pli_random_unit(random) - 0.5);
    for (size_t i = 0; i < 3 * g->count; ++i) extent = pli_max(extent, fabs(g->rest[i]));
    for (int d = 0; d < 3; ++d)
        wave[d] = 12.0 * (pli_random_unit(random) - 0.5) / extent, way[d] = most * (pli_random_unit(random) - 0.5);
    const double length = 1.0 + v3_norm(wave);
    for (size_t i = 0; i < g->count; ++i) {
        m3_apply(g->x + 3 * i, F, g->rest + 3 * i);
        v3_madd(g->x + 3 * i, sin(v3_dot(wave, g->rest + 3 * i)) / length, way);
    }
}

typedef struct Tally {
    long sets, unstable;
    double worst, sum; ///< omega h / 2 over what is stable
    double shortest;   ///< step over that of the uniform finest level
} Tally;

static void judge_body(PliTetLodRig *g, Oracle *o, int sets, uint64_t *random, Tally *n)
{
    PliTetLod *t = pli_body_self(g->body);
    double finest = 0.0;
    for (int k = 0; k < sets; ++k) {
        if (k % RESETS == 0) (void)pli_activeset_reset(t->set, (int)(pli_random(random) % (uint64_t)g->level_count));
        const int events = FEWEST_EVENTS + (int)(pli_random_unit(random) * (MOST_EVENTS - FEWEST_EVENTS));
        const double chance = 0.2 + 0.6 * pli_random_unit(random);
        if (k == 0) (void)pli_activeset_reset(t->set, g->level_count - 1);
        for (int e = 0; k && e < events; ++e) (void)pli_rig_random_event(t->set, random, chance);
        pli_activeset_begin(t->set);
        pli_body_recut(g->body);
        if (k == 0) finest = pli_body_longest_substep(g->body, g->rest);
        n->shortest = pli_min(n->shortest, pli_body_longest_substep(g->body, g->rest) / finest);
        strain(g, random);
        pli_body_spread(g->body, g->x);
        memset(o->f, 0, 3 * g->count * sizeof *o->f);
        pli_body_add_force(g->body, g->x, NULL, o->f);
        const double omega = sqrt(highest(o, random)), ratio = 0.5 * omega * pli_body_longest_substep(g->body, g->x);
        n->sets++;
        n->unstable += !(ratio <= 1.0);
        n->worst = pli_max(n->worst, ratio), n->sum += ratio;
    }
}

static bool judge_subject(const char *name, int sets, Tally *n, PliError *err)
{
    PliTetLodRig g;
    uint64_t random = pli_hash(PLI_HASH_SEED, name, strlen(name));
    bool good = levels(&g, name, err);
    for (int law = 0; good && law < PLI_LAW_COUNT; ++law) {
        PliTetLodDef def = pli_rig_def();
        def.base.material.law = (PliLaw)law;
        good = pli_rig_open(&g, def, err);
        if (!good) break;
        Oracle o = { .g = &g };
        double *work = PLI_NEW(&g.host, 12 * g.count, double);
        good = work != NULL;
        if (good) {
            o.q = work, o.last = work + 3 * g.count, o.f = work + 6 * g.count, o.a = work + 9 * g.count;
            pli_body_set_definite(g.body, true);
            const int first = sets * law / PLI_LAW_COUNT, last = sets * (law + 1) / PLI_LAW_COUNT;
            judge_body(&g, &o, last - first, &random, n);
        }
        PLI_FREE(&g.host, work, 12 * g.count);
        pli_rig_close_body(&g);
    }
    pli_rig_close(&g);
    return good;
}

static void run_sets(PliBench *b)
{
    static const char *const names[] = { "box", "ball", "seal", "liver" };
    Tally all = { .shortest = INFINITY };
    for (int s = 0; s < 4; ++s) {
        Tally n = { .shortest = INFINITY };
        char text[64];
        pli_progress(s, 4, names[s]);
        PliError err = { PLI_OK, "no memory" };
        if (!judge_subject(names[s], SETS / 4, &n, &err)) {
            pli_bench_broken(b, "%s: %s", names[s], err.text);
            continue;
        }
        snprintf(text, sizeof text, "%s_worst", names[s]);
        pli_bench_report(b, text, n.worst, "omega h / 2");
        snprintf(text, sizeof text, "%s_mean", names[s]);
        pli_bench_report(b, text, n.sum / (double)n.sets, "omega h / 2");
        snprintf(text, sizeof text, "%s_shortest", names[s]);
        pli_bench_report(b, text, n.shortest, "of the finest level's step");
        all.sets += n.sets, all.unstable += n.unstable;
    }
    pli_bench_report(b, "unstable", (double)all.unstable, "sets");
    pli_bench_report(b, "sets", (double)all.sets, "");
}

// ---- short enough for every day ------------------------------------------------------------------------------------------------

static void few_sets(PliVerifyResult *r)
{
    Tally n = { .shortest = INFINITY };
    PliError err = { PLI_OK, "no memory" };
    if (!judge_subject("box", 90, &n, &err) || !judge_subject("ball", 90, &n, &err)) {
        pli_verify_broken(r, "%s", err.text);
        return;
    }
    pli_verify_note(r,
                    "of %ld random sets of a box and a ball, strained, three laws; omega h / 2 is %.2f at most, %.2f "
                    "in the mean",
                    n.sets, n.worst, n.sum / (double)n.sets);
    pli_verify_within(r, 0.0, n.sets == 180 ? (double)n.unstable : NAN, 0.0);
}

/// A vibrating ball whose region of interest jumps about: every set is another one, and nothing damps what a bad one would stir up.
static void jumping_region(PliVerifyResult *r)
{
    enum { STEPS = 400 };
    PliTetLodRig g;
    PliError err = { PLI_OK, "" };
    PliTetLodDef def = pli_rig_def();
    uint64_t random = 3;
    def.base.criterion.kind = PLI_BY_REGION;
    def.base.criterion.radius = 0.4;
    if (!levels(&g, "ball", &err) || !pli_rig_open(&g, def, &err)) {
        pli_verify_broken(r, "%s", err.text);
        pli_rig_close(&g);
        return;
    }
    for (size_t i = 0; i < g.count; ++i)
        g.v[3 * i] = 0.02 * sin(3.0 * g.x[3 * i + 1]), g.v[3 * i + 1] = 0.02 * sin(4.0 * g.x[3 * i + 2]);
    const double first = pli_body_energy(g.body, g.x, g.v).kinetic;
    double most = 0.0;
    for (int k = 0; k < STEPS && most < 100.0; ++k) {
        if (k % 10 == 0) {
            PliBodyDef base = *pli_body_def(g.body);
            const size_t node = (size_t)(pli_random_unit(&random) * (double)g.count);
            v3_copy(base.criterion.point, g.rest + 3 * node);
            base.criterion.radius = 0.1 + 0.7 * pli_random_unit(&random);
            (void)pli_body_retune(g.body, &base, NULL);
        }
        const bool finite = pli_body_step(g.body, &g.state, 0.01).finite;
        const PliEnergy now = pli_body_energy(g.body, g.x, g.v);
        most = finite ? pli_max(most, (now.elastic + now.kinetic) / first) : INFINITY;
    }
    const PliStats stats = pli_body_stats(g.body);
    pli_verify_note(r, "largest energy over the first, levels of 2, 3, 5, 9 cells, undamped, %llu splits, %llu merges",
                    (unsigned long long)stats.refined, (unsigned long long)stats.coarsened);
    pli_verify_at_most(r, 1.01, stats.refined > 500 && stats.coarsened > 500 ? most : NAN);
    pli_rig_close(&g);
}

const PliVerifyCase pli_verify_tetlod_sets_cases[] = {
    { "tetlod", "stable step on random sets: unstable", few_sets },
    { "tetlod", "region that jumps about: energy", jumping_region },
    { 0 },
};

const PliBenchCase pli_bench_tetlod_sets_cases[] = {
    { "stability.sets", "10,000 random active sets of four bodies, strained, default step against M^-1 K (minutes)",
      run_sets },
    { 0 },
};
