/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What contacts of a host cost: the compliance of touched points. And the force on a held tool: bodies that step implicitly against the same bodies stepped explicitly, and schemes that are implicit only
// against tools that are stiff springs. The ball on the liver and the plate on the box; worst of both is `force_error`.
#include <math.h>
#include <stdio.h>

#include "base/fold.h"
#include "base/memory.h"
#include "base/timer.h"
#include "base/vec.h"
#include "evidence/assets.h"
#include "evidence/bench.h"
#include "evidence/press.h"
#include "evidence/toolrig.h"

#include <pliant/stages.h>

static bool reference_of(const PliPressDef *d, double force[3], PliError *err)
{
    PliPressDef other = *d;
    if (d->scheme == PLI_PRESS_FRAMES || d->scheme == PLI_PRESS_WAVELET)
        return pli_press_by_springs(&other, force, err);
    other.integrator = PLI_SYMPLECTIC;
    return pli_press_run(&other, force, err);
}

static void implicit(PliBench *b)
{
    double worst = 0.0;
    for (int liver = 1; liver >= 0; --liver)
        for (int s = 0; s < PLI_PRESS_SCHEMES; ++s) {
            PliPressDef def = pli_press_default((PliPressScheme)s, liver);
            def.adapt = s == PLI_PRESS_TETLOD;
            double force[3], expected[3], off[3];
            PliError err = { PLI_OK, "" };
            if (!reference_of(&def, expected, &err) || !pli_press_run(&def, force, &err)) {
                pli_bench_broken(b, "%s: %s", pli_press_name(def.scheme), err.text);
                continue;
            }
            char metric[64];
            v3_sub(off, force, expected);
            const double error = v3_norm(off) / v3_norm(expected);
            worst = pli_max(worst, error);
            snprintf(metric, sizeof metric, "%s_%s_force", liver ? "liver" : "box", pli_press_name(def.scheme));
            pli_bench_report(b, metric, v3_norm(force), "N");
            snprintf(metric, sizeof metric, "%s_%s_error", liver ? "liver" : "box", pli_press_name(def.scheme));
            pli_bench_report(b, metric, error, "");
        }
    pli_bench_report(b, "force_error", worst, "");
}

// ---- compliance ----------------------------------------------------------------------------------------------------------------

enum { MOST = 128, REPEATS = 7, LIVERS = 3 };
static const double DT = 0.01;
static const double TOP[3] = { -0.038, 0.064, 0.0 }; ///< m, the highest place of the liver

static bool is_low(const double p[3], void *user)
{
    (void)user;
    return p[1] < -0.05;
}

/// Uniform on the mesh of `level`, or all three levels, fine around the highest place.
static bool open_liver(PliToolRig *g, int level, bool mixed, PliError *err)
{
    *g = (PliToolRig){ .host = pli_host_default() };
    for (int k = 0; k < LIVERS; ++k) {
        char name[32];
        snprintf(name, sizeof name, "meshes/liver_%d.msh", k);
        if (!(g->mesh[k] = pli_asset_mesh(&g->host, name, err))) return false;
    }
    PliFemDef fem = pli_fem_default();
    PliTetLodDef lod = pli_tetlod_default();
    PliBodyDef *base = mixed ? &lod.base : &fem.base;
    base->material = (PliMaterial){ PLI_COROT, 2e4, 0.4, 1000.0, 0.0 };
    base->integrator = PLI_IMPLICIT;
    base->linear_solver = PLI_SOLVE_LDL;
    base->rayleigh_stiffness = 0.01;
    base->criterion.kind = PLI_BY_REGION;
    v3_copy(base->criterion.point, TOP);
    base->criterion.radius = 0.03;
    const PliMesh *levels[LIVERS] = { g->mesh[0], g->mesh[1], g->mesh[2] };
    fem.mesh = g->mesh[level];
    lod.levels = levels, lod.level_count = LIVERS;
    g->body = mixed ? pli_tetlod_create(&g->host, &lod, err) : pli_fem_create(&g->host, &fem, err);
    return g->body && pli_toolrig_begin(g, err) && pli_toolrig_hold(g, is_low, NULL, err) == PLI_OK;
}

/// The active coefficients nearest to the highest place, where a ball would lie.
static bool find_nearest(const PliToolRig *g, PliIndex *dof, PliIndex count)
{
    const PliActive active = pli_body_active(g->body);
    double far[MOST];
    PliIndex found = 0;
    for (PliIndex a = 0; a < active.count; ++a) {
        const PliIndex i = active.dof[a];
        double off[3];
        v3_sub(off, g->x + 3 * (size_t)i, TOP);
        const double distance = v3_norm(off);
        PliIndex at = found;
        if (found == count && distance >= far[count - 1]) continue;
        if (found == count) --at;
        for (; at > 0 && far[at - 1] > distance; --at) far[at] = far[at - 1], dof[at] = dof[at - 1];
        far[at] = distance, dof[at] = i;
        if (found < count) ++found;
    }
    return found == count;
}

/// us for each of `count` touched points, and for one solve to each of their directions; largest difference over largest value.
static bool time_compliance(PliToolRig *g, PliIndex count, double *us, double *by_solves, double *error)
{
    const size_t size = 3 * (size_t)count, n = 3 * (size_t)g->count, room = pli_body_compliance_work(g->body);
    double *c = PLI_NEW(&g->host, size * size, double), *work = PLI_NEW(&g->host, room, double),
           *f = PLI_NEW(&g->host, n, double), *dv = PLI_NEW(&g->host, n, double), largest = 0.0, off = 0.0;
    PliIndex dof[MOST];
    bool good = c && work && f && dv;
    *us = *by_solves = INFINITY;
    good = good && find_nearest(g, dof, count);
    for (int k = 0; k < REPEATS && good; ++k) {
        const double start = pli_cpu_ms();
        good = pli_body_compliance(g->body, dof, count, DT, c, work) == PLI_OK;
        *us = pli_min(*us, 1e3 * (pli_cpu_ms() - start) / count);
    }
    const double start = pli_cpu_ms();
    for (size_t i = 0; i < size && good; ++i) {
        f[3 * (size_t)dof[i / 3] + i % 3] = 1.0;
        good = pli_body_response(g->body, f, DT, dv) == PLI_OK;
        f[3 * (size_t)dof[i / 3] + i % 3] = 0.0;
        for (size_t j = 0; j < size; ++j) {
            const double v = dv[3 * (size_t)dof[j / 3] + j % 3];
            largest = pli_max(largest, fabs(v));
            off = pli_max(off, fabs(v - c[i * size + j]));
        }
    }
    *by_solves = 1e3 * (pli_cpu_ms() - start) / count;
    *error = largest > 0.0 ? off / largest : NAN;
    PLI_FREE(&g->host, c, size * size);
    PLI_FREE(&g->host, work, room);
    PLI_FREE(&g->host, f, n);
    PLI_FREE(&g->host, dv, n);
    return good;
}

static void compliance(PliBench *b)
{
    static const struct {
        const char *name;
        int level;
        bool mixed;
    } bodies[] = { { "705", 1, false }, { "3515", 2, false }, { "levels", 2, true } };
    double worst = 0.0;
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; ++k) {
        PliToolRig g;
        PliError err = { PLI_OK, "" };
        char metric[64];
        bool good = open_liver(&g, bodies[k].level, bodies[k].mixed, &err);
        for (int step = 0; step < 8 && good; ++step) good = pli_toolrig_step(&g, DT, &err);
        if (!good) pli_bench_broken(b, "%s: %s", bodies[k].name, err.text);
        if (good && bodies[k].mixed) {
            snprintf(metric, sizeof metric, "%s_active", bodies[k].name);
            pli_bench_report(b, metric, pli_body_stats(g.body).active, "coefficients");
        }
        if (good) {
            snprintf(metric, sizeof metric, "%s_factor", bodies[k].name);
            pli_bench_report(b, metric, pli_body_stats(g.body).prepare_ms, "ms, of the last step");
        }
        for (PliIndex count = 8; count <= MOST && good; count *= 4) {
            double us, by_solves, error;
            good = time_compliance(&g, count, &us, &by_solves, &error);
            snprintf(metric, sizeof metric, "%s_us_per_contact_%u", bodies[k].name, count);
            pli_bench_report(b, metric, us, "us, least of 7");
            snprintf(metric, sizeof metric, "%s_solves_%u", bodies[k].name, count);
            pli_bench_report(b, metric, by_solves, "us, a solve for each row");
            worst = error > worst || isnan(error) ? error : worst;
        }
        if (!good && err.status == PLI_OK) pli_bench_broken(b, "%s: there is no compliance", bodies[k].name);
        pli_toolrig_close(&g);
    }
    pli_bench_report(b, "error", worst, "largest difference from solves over largest value");
}

const PliBenchCase pli_bench_contact_cases[] = {
    { "contact.compliance",
      "compliance of 8, 32 and 128 touched points of a liver for contacts that a host solves, for each of them",
      compliance },
    { "contact.implicit", "force on a held tool, implicit bodies against explicit ones or stiff springs; worst of 8",
      implicit },
    { 0 },
};
