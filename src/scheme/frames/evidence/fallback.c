/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Frames with tetrahedra to fall back on: a bar of 1 x 1 x 4 m, held at its foot.
#include <pliant/frames.h>
#include <pliant/scheme.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "evidence/verify.h"

static const double DT = 0.01, LENGTH = 4.0;
enum { OF_FRAMES = 1, OF_LEVELS = 2, OF_ELEMENTS = 3 };

typedef struct Rig {
    PliHost host;
    PliMesh *mesh;
    PliBody *body;
    double *x, *v, *shown, *before;
    size_t count, points;
    PliTool tool;
} Rig;

static void rig_close(Rig *g)
{
    PLI_FREE(&g->host, g->x, 3 * g->count);
    PLI_FREE(&g->host, g->v, 3 * g->count);
    PLI_FREE(&g->host, g->shown, 3 * g->points);
    PLI_FREE(&g->host, g->before, 3 * g->points);
    pli_body_destroy(g->body);
    pli_mesh_destroy(g->mesh);
}

static PliBodyDef material(PliBodyDef d, double gravity)
{
    d.material = (PliMaterial){ PLI_NEOHOOKEAN, 2e7, 0.35, 1000.0, 2e-4 };
    d.mass_damping = 8.0;
    v3_copy(d.gravity, (const double[3]){ 0.0, -gravity, 0.0 });
    return d;
}

static PliBody *make_levels(const Rig *g, double gravity, double accuracy)
{
    PliTetLodDef d = pli_tetlod_default();
    const PliMesh *level = g->mesh;
    d.base = material(d.base, gravity);
    d.base.criterion.accuracy = accuracy;
    d.base.integrator = PLI_SYMPLECTIC; // as plain elements
    d.levels = &level, d.level_count = 1;
    return pli_tetlod_create(&g->host, &d, NULL);
}

static PliBody *make_body(const Rig *g, int kind, double gravity, double accuracy, PliError *err)
{
    static const double anchors[6] = { 0.5, 0.5, 0.0, 0.5, 0.5, 4.0 };
    PliFemDef fem = pli_fem_default();
    PliFramesDef frames = pli_frames_default();
    fem.base = material(fem.base, gravity), frames.base = material(frames.base, gravity);
    fem.base.multirate = PLI_RATES_OWN; // as with an accuracy
    fem.mesh = frames.mesh = g->mesh;
    frames.frame_count = 8, frames.resolution = 24;
    frames.anchors = anchors, frames.anchor_count = 2;
    if (kind == OF_ELEMENTS) return pli_fem_create(&g->host, &fem, err);
    PliBody *levels = make_levels(g, gravity, accuracy);
    if (kind == OF_LEVELS || !levels) return levels;
    PliBody *own = pli_frames_create(&g->host, &frames, err);
    if (own) return pli_body_of_forms(&g->host, levels, own, accuracy, err);
    pli_body_destroy(levels);
    return NULL;
}

/// Coefficients at the foot: points by their place, frames whole.
static bool hold_foot(Rig *g)
{
    PliIndex shift, count = 0, *held = PLI_NEW(&g->host, g->count, PliIndex);
    const PliBody *own = pli_body_own_form(g->body, &shift, NULL);
    const double *rest = pli_body_rest(g->body);
    if (!held) return false;
    if (own == g->body) shift = (PliIndex)g->count;
    for (PliIndex i = 0; i < g->count; ++i)
        if ((i < shift ? rest[3 * (size_t)i + 2] : rest[3 * ((size_t)shift + (i - shift) / 4 * 4 + 3) + 2]) < 0.01)
            held[count++] = i;
    const PliStatus status = pli_body_set_fixed(g->body, held, count, NULL);
    PLI_FREE(&g->host, held, g->count);
    return status == PLI_OK;
}

static PliTool ball(double depth)
{
    return (PliTool){ .shape = PLI_TOOL_SPHERE, .radius = 0.3, .position = { 0.5, 1.3 - depth, 3.0 } };
}

static bool rig_open(Rig *g, int kind, double gravity, double accuracy, PliVerifyResult *r)
{
    const PliBoxDef box = { { 0, 0, 0 }, { 1, 1, LENGTH }, { 4, 4, 16 }, 0.0, 1 };
    PliError err = { 0 };
    memset(g, 0, sizeof *g);
    g->host = pli_host_default();
    g->mesh = pli_mesh_box(&g->host, &box, &err);
    g->body = g->mesh ? make_body(g, kind, gravity, accuracy, &err) : NULL;
    if (!g->body) {
        pli_verify_broken(r, "%s", err.text);
        return false;
    }
    g->count = pli_body_dof_count(g->body);
    g->x = PLI_NEW(&g->host, 3 * g->count, double), g->v = PLI_NEW(&g->host, 3 * g->count, double);
    g->tool = ball(-3.0);
    // one surface for all: the points of the mesh
    bool ok = g->x && g->v && pli_mesh_find_surface(g->mesh) == PLI_OK && hold_foot(g) &&
              pli_body_attach_skin(g->body, g->mesh->x, g->mesh->point_count, g->mesh->tris, g->mesh->tri_count,
                                   &err) == PLI_OK &&
              pli_body_set_tools(g->body, &g->tool, 1, &err) == PLI_OK;
    g->points = pli_body_skin_count(g->body);
    g->shown = PLI_NEW(&g->host, 3 * g->points, double), g->before = PLI_NEW(&g->host, 3 * g->points, double);
    ok = ok && g->shown && g->before;
    if (!ok) pli_verify_broken(r, "no memory, or %s", err.text);
    if (ok) memcpy(g->x, pli_body_rest(g->body), 3 * g->count * sizeof *g->x);
    return ok;
}

/// m: the most a shown point moves when the body changes its form.
static double step(Rig *g)
{
    const PliState s = { .x = g->x, .v = g->v };
    const int form = pli_body_stats(g->body).form;
    double jump = 0.0;
    pli_body_skin_positions(g->body, g->x, g->before);
    (void)pli_body_adapt(g->body, &s, DT);
    pli_body_skin_positions(g->body, g->x, g->shown);
    for (size_t i = 0; form != pli_body_stats(g->body).form && i < g->points; ++i)
        jump = fmax(jump, v3_distance(g->before + 3 * i, g->shown + 3 * i));
    if (pli_body_advance(g->body, &s, DT).status != PLI_OK) jump = NAN;
    pli_body_skin_positions(g->body, g->x, g->shown);
    return jump;
}

static void poked(PliVerifyResult *r)
{
    Rig a = { 0 }, b = { 0 };
    double worst = 0.0, moved = 0.0;
    if (rig_open(&a, OF_FRAMES, 0.0, 0.5, r) && rig_open(&b, OF_ELEMENTS, 0.0, 0.0, r)) {
        a.tool = b.tool = ball(0.0);
        a.tool.velocity[1] = b.tool.velocity[1] = -0.3;
        for (int k = 0; k < 40; ++k) {
            (void)step(&a), (void)step(&b);
            a.tool.position[1] -= 0.3 * DT, b.tool.position[1] -= 0.3 * DT;
            for (size_t i = 0; i < a.points; ++i) {
                worst = fmax(worst, v3_distance(a.shown + 3 * i, b.shown + 3 * i));
                moved = fmax(moved, v3_distance(a.shown + 3 * i, a.mesh->x + 3 * i));
            }
        }
        char text[160];
        pli_body_form_text(a.body, text, sizeof text);
        pli_verify_note(r, "of the length; dented by %.3g m; %s", moved, text);
        pli_verify_at_most(r, 1e-12, moved > 0.05 && pli_body_stats(a.body).form == 1 ? worst / LENGTH : NAN);
    }
    rig_close(&a), rig_close(&b);
}

static void bent(PliVerifyResult *r)
{
    Rig a = { 0 }, b = { 0 };
    double square = 0.0, largest = 0.0;
    if (rig_open(&a, OF_FRAMES, 9.81, 2.0, r) && rig_open(&b, OF_LEVELS, 9.81, 2.0, r)) {
        for (int k = 0; k < 120; ++k) {
            (void)step(&a), (void)step(&b);
            for (size_t i = 0; i < a.points; ++i) {
                const double d = v3_distance(a.shown + 3 * i, b.shown + 3 * i);
                square += d * d / (120.0 * (double)a.points);
                largest = fmax(largest, v3_distance(b.shown + 3 * i, b.mesh->x + 3 * i));
            }
        }
        const PliStats s = pli_body_stats(a.body);
        pli_verify_note(r, "RMS over the largest displacement; %.2g %% off in the trial, %.2g of the work",
                        100.0 * s.own_error, s.own_work);
        pli_verify_at_most(r, 0.02, s.form == 2 ? sqrt(square) / largest : NAN);
    }
    rig_close(&a), rig_close(&b);
}

static void touched(PliVerifyResult *r)
{
    Rig g = { 0 };
    double jump = 0.0;
    if (rig_open(&g, OF_FRAMES, 9.81, 2.0, r)) {
        for (int k = 0; k < 120; ++k) jump = fmax(jump, step(&g));
        const bool was_own = pli_body_stats(g.body).form == 2;
        g.tool = ball(0.3);
        for (int k = 0; k < 20; ++k) jump = fmax(jump, step(&g));
        const PliStats s = pli_body_stats(g.body);
        pli_verify_note(r, "of the length, at both changes; hidden and faded: %.2g m", s.largest_hidden);
        pli_verify_at_most(r, 1e-12, was_own && s.form == 1 ? jump / LENGTH : NAN);
    }
    rig_close(&g);
}

const PliVerifyCase pli_verify_frames_fallback_cases[] = {
    { "frames", "fallback, poked", poked },
    { "frames", "fallback, bent smoothly", bent },
    { "frames", "fallback, touched", touched },
    { NULL, NULL, NULL },
};
