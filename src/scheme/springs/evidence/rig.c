/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/springs/evidence/rig.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "evidence/assets.h"
#include "scheme/springs/pyramid.h"

PliSpringsDef springs_rig_def(void)
{
    PliSpringsDef d = pli_springs_default();
    memset(d.base.gravity, 0, sizeof d.base.gravity);
    return d;
}

static bool open_body(SpringsRig *g, PliSpringsDef *def, PliError *err)
{
    def->mesh = g->mesh;
    g->body = pli_springs_create(&g->host, def, err);
    if (!g->body) return false;
    g->count = pli_body_dof_count(g->body);
    g->x = PLI_NEW(&g->host, 3 * (size_t)g->count, double);
    g->v = PLI_NEW(&g->host, 3 * (size_t)g->count, double);
    g->f = PLI_NEW(&g->host, 3 * (size_t)g->count, double);
    if (!g->x || !g->v || !g->f) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a state"), false;
    memcpy(g->x, pli_body_rest(g->body), 3 * (size_t)g->count * sizeof *g->x);
    g->state = (PliState){ .x = g->x, .v = g->v, .f_ext = g->f };
    return true;
}

bool springs_rig_open(SpringsRig *g, PliSpringsDef *def, const char *asset, PliError *err)
{
    *g = (SpringsRig){ .host = pli_host_default() };
    g->mesh = pli_asset_mesh(&g->host, asset, err);
    if (g->mesh && open_body(g, def, err)) return true;
    springs_rig_close(g);
    return false;
}

bool springs_rig_ball(SpringsRig *g, PliSpringsDef *def, PliError *err)
{
    const double a = 0.5 * (1.0 + sqrt(5.0));
    const double corner[12][3] = {
        { -1, a, 0 },  { 1, a, 0 },  { -1, -a, 0 }, { 1, -a, 0 }, { 0, -1, a },  { 0, 1, a },
        { 0, -1, -a }, { 0, 1, -a }, { a, 0, -1 },  { a, 0, 1 },  { -a, 0, -1 }, { -a, 0, 1 }
    };
    static const PliIndex tris[60] = { 0, 11, 5,  0, 5,  1, 0, 1, 7, 0, 7,  10, 0, 10, 11, 1, 5, 9, 5, 11,
                                       4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3,  9,  4, 3,  4,  2, 3, 2, 6, 3,
                                       6, 8,  3,  8, 9,  4, 9, 5, 2, 4, 11, 6,  2, 10, 8,  6, 7, 9, 8, 1 };
    *g = (SpringsRig){ .host = pli_host_default() };
    PliWinged *base = pli_winged_create(&g->host, 12, tris, 20, err);
    PliPyramid *p = base ? pli_pyramid_create(&g->host, base, corner[0], 4, err) : NULL;
    const PliWinged *fine = p ? p->mesh[4] : NULL;
    g->mesh = p ? pli_mesh_create(&g->host) : NULL;
    if (g->mesh && pli_mesh_resize_points(g->mesh, p->vertex_count) == PLI_OK &&
        pli_mesh_resize_cells(g->mesh, PLI_TRI, fine->face_count) == PLI_OK) {
        memcpy(g->mesh->tris, fine->corner, 3 * (size_t)fine->face_count * sizeof *fine->corner);
        for (PliIndex v = 0; v < p->vertex_count; ++v) {
            v3_copy(g->mesh->x + 3 * (size_t)v, p->rest + 3 * (size_t)v);
            v3_scale(g->mesh->x + 3 * (size_t)v, 1.0 / v3_norm(p->rest + 3 * (size_t)v));
        }
    }
    pli_pyramid_destroy(p);
    if (g->mesh && open_body(g, def, err)) return true;
    springs_rig_close(g);
    return false;
}

void springs_rig_close(SpringsRig *g)
{
    pli_body_destroy(g->body);
    pli_mesh_destroy(g->mesh);
    PLI_FREE(&g->host, g->x, 3 * (size_t)g->count);
    PLI_FREE(&g->host, g->v, 3 * (size_t)g->count);
    PLI_FREE(&g->host, g->f, 3 * (size_t)g->count);
    *g = (SpringsRig){ 0 };
}

PliIndex springs_rig_extreme(const SpringsRig *g, const double direction[3], PliIndex limit)
{
    const double *rest = pli_body_rest(g->body);
    PliIndex best = 0;
    for (PliIndex v = 1; v < limit; ++v)
        if (v3_dot(rest + 3 * (size_t)v, direction) > v3_dot(rest + 3 * (size_t)best, direction)) best = v;
    return best;
}

PliStatus springs_rig_clamp(SpringsRig *g, int axis, double share, PliError *err)
{
    const double *rest = pli_body_rest(g->body);
    double lo = INFINITY, hi = -INFINITY;
    for (PliIndex v = 0; v < g->count; ++v)
        lo = fmin(lo, rest[3 * (size_t)v + (size_t)axis]), hi = fmax(hi, rest[3 * (size_t)v + (size_t)axis]);
    PliIndex *held = PLI_NEW(&g->host, g->count, PliIndex), n = 0;
    if (!held) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u clamps", g->count);
    for (PliIndex v = 0; v < g->count; ++v)
        if (rest[3 * (size_t)v + (size_t)axis] < lo + share * (hi - lo)) held[n++] = v;
    const PliStatus status = pli_body_set_fixed(g->body, held, n, err);
    PLI_FREE(&g->host, held, g->count);
    return status;
}

PliStatus springs_rig_refine_all(SpringsRig *g, int levels, PliError *err)
{
    // stars of the last level that can be refined ask for all that lies below them
    const PliSpringsInfo info = pli_springs_info(g->body);
    PliIndex n = info.base_points;
    const uint8_t *level = pli_body_dof_level(g->body);
    while (n < g->count && level[n] < levels) ++n;
    PliIndex *all = PLI_NEW(&g->host, n, PliIndex);
    if (!all) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u vertices", n);
    for (PliIndex v = 0; v < n; ++v) all[v] = v;
    const PliStatus status = pli_springs_refine(g->body, &g->state, all, n, levels - 1, err);
    PLI_FREE(&g->host, all, n);
    return status;
}
