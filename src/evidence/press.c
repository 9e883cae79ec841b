/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/press.h"

#include <math.h>
#include <string.h>

#include <pliant/frames.h>
#include <pliant/wavelet.h>

#include "base/memory.h"
#include "base/vec.h"
#include "evidence/assets.h"

enum { LEVELS = 2 };
static const double BOX[3] = { 0.1, 0.06, 0.08 }; ///< m
const double pli_press_box_area = 0.1 * 0.08, pli_press_box_stretch = 0.9;
static const double DT = 0.01, CAME = 0.4, HELD = 1.0; ///< s

typedef struct Rig {
    PliHost host;
    PliMesh *level[LEVELS], *skin;
    PliBody *body;
    double *x, *v;
    PliIndex *fixed, count;
    PliTool tool;
} Rig;

PliPressDef pli_press_default(PliPressScheme scheme, bool liver)
{
    return (PliPressDef){
        .scheme = scheme,
        .liver = liver,
        .integrator = PLI_IMPLICIT,
        .solver = PLI_SOLVE_AUTO,
        .material = { .law = PLI_NEOHOOKEAN, .young = 4000.0, .poisson = 0.4, .density = 1050.0, .damping = 2e-4 },
    };
}

const char *pli_press_name(PliPressScheme scheme)
{
    static const char *const name[PLI_PRESS_SCHEMES] = { "fem", "tetlod", "frames", "wavelet" };
    return name[scheme];
}

static void close_rig(Rig *g)
{
    PLI_FREE(&g->host, g->x, 3 * (size_t)g->count);
    PLI_FREE(&g->host, g->v, 3 * (size_t)g->count);
    PLI_FREE(&g->host, g->fixed, g->count);
    pli_body_destroy(g->body);
    for (int l = 0; l < LEVELS; ++l) pli_mesh_destroy(g->level[l]);
    pli_mesh_destroy(g->skin);
}

static bool make_meshes(Rig *g, const PliPressDef *d, PliError *err)
{
    if (d->liver) {
        g->level[0] = pli_asset_mesh(&g->host, "meshes/liver_0.msh", err);
        g->level[1] = pli_asset_mesh(&g->host, "meshes/liver_1.msh", err);
        g->skin = pli_asset_mesh(&g->host, "meshes/liver_surface.obj", err);
        return g->level[0] && g->level[1] && g->skin;
    }
    for (PliIndex l = 0; l < LEVELS; ++l) {
        const PliBoxDef box = { .max = { BOX[0], BOX[1], BOX[2] }, .cells = { 3 + 3 * l, 2 + 2 * l, 3 + 2 * l } };
        g->level[l] = pli_mesh_box(&g->host, &box, err);
    }
    return g->level[0] && g->level[1];
}

static PliBodyDef base_of(const PliPressDef *d, PliBodyDef base)
{
    base.material = d->material;
    base.integrator = d->integrator;
    base.linear_solver = d->solver;
    base.adapt = d->adapt;
    base.mass_damping = 15.0;
    base.cg_iterations = 1000;
    memset(base.gravity, 0, sizeof base.gravity);
    return base;
}

static PliBody *make_body(Rig *g, const PliPressDef *d, PliError *err)
{
    if (d->scheme == PLI_PRESS_FEM) {
        PliFemDef def = pli_fem_default();
        def.base = base_of(d, def.base);
        def.mesh = g->level[1];
        return pli_fem_create(&g->host, &def, err);
    }
    if (d->scheme == PLI_PRESS_TETLOD) {
        const PliMesh *levels[LEVELS] = { g->level[0], g->level[1] };
        PliTetLodDef def = pli_tetlod_default();
        def.base = base_of(d, def.base);
        // fine where the tool is, whatever moves: the same nodes for every integrator
        def.base.criterion.kind = PLI_BY_REGION;
        v3_copy(def.base.criterion.point, g->tool.position);
        def.base.criterion.radius = d->liver ? 0.05 : 0.06;
        def.levels = levels;
        def.level_count = LEVELS;
        return pli_tetlod_create(&g->host, &def, err);
    }
    if (d->scheme == PLI_PRESS_FRAMES) {
        static const double anchors[6] = { -0.05, -0.04, 0.0, 0.084, 0.0125, 0.015 };
        PliFramesDef def = pli_frames_default();
        def.base = base_of(d, def.base);
        def.mesh = d->liver ? g->skin : g->level[1];
        def.frame_count = 24;
        def.resolution = d->liver ? 32 : 16;
        def.anchors = d->liver ? anchors : NULL;
        def.anchor_count = d->liver ? 2 : 0;
        return pli_frames_create(&g->host, &def, err);
    }
    PliWaveletDef def = pli_wavelet_default();
    def.base = base_of(d, def.base);
    def.law = PLI_WAVELET_NONLINEAR;
    if (d->liver) {
        def.mesh = g->skin;
        def.resolution = 8;
    } else {
        v3_copy(def.box_max, BOX);
        def.box_cells[0] = 4, def.box_cells[1] = 2, def.box_cells[2] = 3;
    }
    def.levels = d->adapt ? 1 : 0;
    return pli_wavelet_create(&g->host, &def, err);
}

/// The underside is held, and of the liver the tip of the left lobe, too.
static PliStatus hold_underside(Rig *g, const PliPressDef *d, PliError *err)
{
    const double *rest = pli_body_rest(g->body),
                 *place = d->scheme == PLI_PRESS_WAVELET ? pli_wavelet_places(g->body) : rest;
    const double below = d->liver ? -0.025 : d->scheme == PLI_PRESS_FRAMES ? 0.35 * BOX[1] : 1e-6;
    PliIndex held = 0;
    for (PliIndex i = 0; i < g->count; ++i) {
        const double *p = place + 3 * (size_t)(d->scheme == PLI_PRESS_FRAMES ? i / 4 * 4 + 3 : i);
        if (p[1] < below || (d->liver && p[0] > 0.07)) g->fixed[held++] = i;
    }
    if (held == 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "no coefficient is at the underside");
    return pli_body_set_fixed(g->body, g->fixed, held, err);
}

static bool open_rig(Rig *g, const PliPressDef *d, PliError *err)
{
    *g = (Rig){ .host = pli_host_default() };
    g->tool.stiffness = d->stiffness;
    g->tool.friction = d->friction;
    if (d->liver) {
        g->tool.shape = PLI_TOOL_SPHERE;
        g->tool.radius = 0.01;
        g->tool.position[0] = -0.04, g->tool.position[1] = 0.068;
    } else {
        g->tool.shape = PLI_TOOL_PLANE;
        g->tool.other[1] = -1.0;
        g->tool.position[1] = BOX[1];
    }
    if (!make_meshes(g, d, err) || !(g->body = make_body(g, d, err))) return false;
    g->count = pli_body_dof_count(g->body);
    g->x = PLI_NEW(&g->host, 3 * (size_t)g->count, double);
    g->v = PLI_NEW(&g->host, 3 * (size_t)g->count, double);
    g->fixed = PLI_NEW(&g->host, g->count, PliIndex);
    if (!g->x || !g->v || !g->fixed) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u coefficients", g->count);
        return false;
    }
    memcpy(g->x, pli_body_rest(g->body), 3 * (size_t)g->count * sizeof *g->x);
    if (g->skin && pli_body_attach_skin(g->body, g->skin->x, g->skin->point_count, g->skin->tris, g->skin->tri_count,
                                        err) != PLI_OK)
        return false;
    return hold_underside(g, d, err) == PLI_OK && pli_body_set_tools(g->body, &g->tool, 1, err) == PLI_OK;
}

bool pli_press_run(const PliPressDef *d, double force[3], PliError *err)
{
    Rig g;
    bool good = open_rig(&g, d, err);
    const double way = d->liver ? 0.016 : (1.0 - pli_press_box_stretch) * BOX[1], home = g.tool.position[1];
    const PliState state = { .x = g.x, .v = g.v };
    for (int i = 0; good && i < (int)(HELD / DT + 0.5); ++i) {
        const double t = i * DT, now = fmin(1.0, t / CAME), next = fmin(1.0, (t + DT) / CAME);
        g.tool.position[1] = home - way * now;
        g.tool.velocity[1] = -way * (next - now) / DT;
        good = pli_body_step(g.body, &state, DT).finite;
        if (!good) pli_refuse(err, PLI_DIVERGED, "%s diverged at %g s", pli_press_name(d->scheme), t);
    }
    v3_copy(force, g.tool.force);
    close_rig(&g);
    return good;
}

bool pli_press_by_springs(const PliPressDef *d, double force[3], PliError *err)
{
    // dents under the pressure of a tenth of strain are a fifty-thousandth of the way: few points carry the ball
    PliPressDef soft = *d, stiff = *d;
    soft.stiffness = 5000.0 * d->material.young / (d->liver ? 0.016 : 0.1 * BOX[1]);
    stiff.stiffness = 2.0 * soft.stiffness;
    double a[3], b[3];
    if (!pli_press_run(&soft, a, err) || !pli_press_run(&stiff, b, err)) return false;
    for (int k = 0; k < 3; ++k) force[k] = 2.0 * b[k] - a[k];
    return true;
}
