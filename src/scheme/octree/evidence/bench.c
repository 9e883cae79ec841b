/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The paper's bar: 4, 32 and 256 particles, and as many as it takes. All times are CPU times of one thread.
#include <stdio.h>

#include "base/timer.h"
#include "evidence/bench.h"
#include "evidence/growth.h"
#include "scheme/octree/evidence/rig.h"

typedef struct BarRun {
    double ms;                     ///< CPU, whole run
    PliIndex start, peak, settled; ///< particles
    double tip;                    ///< m, sag of the free end
} BarRun;

static const double bar_size[3] = { 0.4, 0.1, 0.1 };

/// A bar held at one end bends under gravity in a viscous medium. level -1: adaptive.
static bool run_bar(int level, BarRun *out, PliError *err)
{
    PliOctreeRig r;
    PliOctreeDef def = pli_octree_default();
    def.resolution = 16;
    def.levels = 3;
    def.start_level = level < 0 ? 0 : level;
    def.base.adapt = level < 0;
    def.base.material.young = 1e6;
    def.base.mass_damping = 15.0;
    if (!pli_octree_rig_open(&r, def, bar_size, err)) return false;
    bool good = pli_octree_rig_hold(&r, 0, 0.0, err) == PLI_OK;
    const PliIndex axes = (PliIndex)(r.count - pli_octree_info(r.body).cell_count - pli_octree_info(r.body).walls);
    *out = (BarRun){ .start = pli_body_active(r.body).count - axes };
    const double begin = pli_cpu_ms();
    for (int i = 0; good && i < 400; ++i) {
        good = pli_body_step(r.body, &r.state, 0.01).finite;
        if (!good) pli_refuse(err, PLI_UNSUPPORTED, "step %d was not finite", i);
        const PliIndex count = pli_body_active(r.body).count - axes;
        out->peak = count > out->peak ? count : out->peak;
        out->settled = count;
    }
    out->ms = pli_cpu_ms() - begin;
    // the same finest cell at the free end for all: passive ones follow
    const PliIndex tip = pli_octree_info(r.body).cell_count - 1;
    out->tip = r.rest[3 * (size_t)tip + 1] - r.x[3 * (size_t)tip + 1];
    pli_octree_rig_close(&r);
    return good;
}

static void bar(PliBench *b)
{
    static const char *const name[] = { "adaptive", "4_particles", "32_particles", "256_particles" };
    BarRun best[4];
    PliError err = { PLI_OK, "" };
    for (int repeat = 0; repeat < 3; ++repeat)
        for (int k = 0; k < 4; ++k) {
            BarRun run;
            if (!run_bar(k - 1, &run, &err)) {
                pli_bench_broken(b, "%s: %s", name[k], err.text);
                return;
            }
            if (repeat == 0 || run.ms < best[k].ms) best[k] = run;
        }
    for (int k = 0; k < 4; ++k) pli_bench_report(b, name[k], best[k].ms, "ms");
    pli_bench_report(b, "full_over_adaptive", best[3].ms / best[0].ms, "");
    pli_bench_report(b, "adaptive_over_32", best[0].ms / best[2].ms, "");
    pli_bench_report(b, "particles_start", best[0].start, "");
    pli_bench_report(b, "particles_peak", best[0].peak, "");
    pli_bench_report(b, "particles_settled", best[0].settled, "");
    for (int k = 0; k < 4; ++k) {
        char metric[64];
        (void)snprintf(metric, sizeof metric, "sag_%s", name[k]);
        pli_bench_report(b, metric, 1e3 * best[k].tip, "mm");
    }
}

// ---- growth and overhead ----------------------------------------------------------------------------------------------------

static bool is_base(const double p[3], void *user)
{
    (void)user;
    return p[1] < 1e-6;
}

/// The block of scenes/octree/pressed_box.scn and its ball. `larger`: cells half as large below those that may be active, and a surface of
/// four times the triangles.
static bool open_block(PliGrowthPoke *p, bool larger, PliError *err)
{
    PliToolRig *g = &p->rig;
    const PliIndex cells = larger ? 20 : 10;
    const PliBoxDef box = { .max = { 1.0, 1.0, 1.0 }, .cells = { cells, cells, cells } };
    *p = (PliGrowthPoke){ .rig = { .host = pli_host_default() }, .depth = 0.25 };
    g->tool = (PliTool){ .shape = PLI_TOOL_SPHERE, .radius = 0.2, .position = { 0.5, 1.25, 0.5 } };
    PliOctreeDef def = pli_octree_still();
    def.resolution = cells;
    def.levels = larger ? 3 : 2;
    def.base.material =
        (PliMaterial){ .law = PLI_COROT, .young = 1e5, .poisson = 0.3, .density = 1000.0, .damping = 0.002 };
    def.base.mass_damping = 2.0;
    def.base.spread = false;
    def.base.criterion.smallest_size = 0.09;
    def.mesh = g->mesh[0] = pli_mesh_box(&g->host, &box, err);
    if (g->mesh[0]) g->body = pli_octree_create(&g->host, &def, err);
    return g->body && pli_toolrig_begin(g, err) && pli_toolrig_hold(g, is_base, NULL, err) == PLI_OK &&
           pli_body_set_tools(g->body, &g->tool, 1, err) == PLI_OK;
}

static PliIndex finest(const PliGrowthPoke *p)
{
    const PliOctreeInfo info = pli_octree_info(p->rig.body);
    PliIndex most = 0;
    for (int l = 0; l < (int)(sizeof info.cells / sizeof *info.cells); ++l)
        most = info.cells[l] > most ? info.cells[l] : most;
    return most;
}

static void scaling(PliBench *b) { pli_growth_scaling(b, open_block, finest); }
static void overhead(PliBench *b) { pli_growth_overhead(b, open_block); }

const PliBenchCase pli_bench_octree_cases[] = {
    { "octree.bar",
      "the paper's bar, held at one end, bends in a viscous medium: 4, 32, 256 particles and adaptive (CPU ms, best of "
      "3)",
      bar },
    { "octree.scaling",
      "a poked block: cost of a step with 8000 finest cells over 1000, its own skin of 2402 points over 602", scaling },
    { "octree.overhead", "a poked block: share of a step spent on adapting", overhead },
    { 0 },
};
