/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/press.h"

#include <math.h>
#include <string.h>

#include <pliant/frames.h>
#include <pliant/wavelet.h>

#include "base/vec.h"
#include "evidence/assets.h"
#include "evidence/toolrig.h"

enum { LEVELS = 2, SKIN = LEVELS };               ///< meshes of the rig
static const double BOX[3] = { 0.1, 0.06, 0.08 }; ///< m
const double pli_press_box_area = 0.1 * 0.08, pli_press_box_stretch = 0.9;
static const double DT = 0.01, CAME = 0.4, HELD = 1.0; ///< s

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

static bool make_meshes(PliToolRig *g, const PliPressDef *d, PliError *err)
{
    if (d->liver) {
        g->mesh[0] = pli_asset_mesh(&g->host, "meshes/liver_0.msh", err);
        g->mesh[1] = pli_asset_mesh(&g->host, "meshes/liver_1.msh", err);
        g->mesh[SKIN] = pli_asset_mesh(&g->host, "meshes/liver_surface.obj", err);
        return g->mesh[0] && g->mesh[1] && g->mesh[SKIN];
    }
    for (PliIndex l = 0; l < LEVELS; ++l) {
        const PliBoxDef box = { .max = { BOX[0], BOX[1], BOX[2] }, .cells = { 3 + 3 * l, 2 + 2 * l, 3 + 2 * l } };
        g->mesh[l] = pli_mesh_box(&g->host, &box, err);
    }
    return g->mesh[0] && g->mesh[1];
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

static PliBody *make_body(PliToolRig *g, const PliPressDef *d, PliError *err)
{
    if (d->scheme == PLI_PRESS_FEM) {
        PliFemDef def = pli_fem_default();
        def.base = base_of(d, def.base);
        def.mesh = g->mesh[1];
        return pli_fem_create(&g->host, &def, err);
    }
    if (d->scheme == PLI_PRESS_TETLOD) {
        const PliMesh *levels[LEVELS] = { g->mesh[0], g->mesh[1] };
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
        def.mesh = d->liver ? g->mesh[SKIN] : g->mesh[1];
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
        def.mesh = g->mesh[SKIN];
        def.resolution = 8;
    } else {
        v3_copy(def.box_max, BOX);
        def.box_cells[0] = 4, def.box_cells[1] = 2, def.box_cells[2] = 3;
    }
    def.levels = d->adapt ? 1 : 0;
    return pli_wavelet_create(&g->host, &def, err);
}

/// The underside is held, and of the liver the tip of the left lobe, too.
static bool is_held(const double p[3], void *user)
{
    const PliPressDef *d = user;
    const double below = d->liver ? -0.025 : d->scheme == PLI_PRESS_FRAMES ? 0.35 * BOX[1] : 1e-6;
    return p[1] < below || (d->liver && p[0] > 0.07);
}

static bool open_rig(PliToolRig *g, const PliPressDef *d, PliError *err)
{
    *g = (PliToolRig){ .host = pli_host_default() };
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
    if (!make_meshes(g, d, err) || !(g->body = make_body(g, d, err)) || !pli_toolrig_begin(g, err)) return false;
    const PliMesh *skin = g->mesh[SKIN];
    if (skin && pli_body_attach_skin(g->body, skin->x, skin->point_count, skin->tris, skin->tri_count, err) != PLI_OK)
        return false;
    return pli_toolrig_hold(g, is_held, (void *)d, err) == PLI_OK &&
           pli_body_set_tools(g->body, &g->tool, 1, err) == PLI_OK;
}

bool pli_press_run(const PliPressDef *d, double force[3], PliError *err)
{
    PliToolRig g;
    bool good = open_rig(&g, d, err);
    const double way = d->liver ? 0.016 : (1.0 - pli_press_box_stretch) * BOX[1], home = g.tool.position[1];
    for (int i = 0; good && i < (int)(HELD / DT + 0.5); ++i) {
        const double t = i * DT, now = fmin(1.0, t / CAME), next = fmin(1.0, (t + DT) / CAME);
        g.tool.position[1] = home - way * now;
        g.tool.velocity[1] = -way * (next - now) / DT;
        good = pli_toolrig_step(&g, DT, err);
    }
    v3_copy(force, g.tool.force);
    pli_toolrig_close(&g);
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
