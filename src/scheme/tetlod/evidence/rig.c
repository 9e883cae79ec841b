/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/tetlod/evidence/rig.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "evidence/assets.h"

static bool add(PliTetLodRig *g, PliMesh *mesh, PliError *err)
{
    if (!mesh) return false;
    if (g->level_count == PLI_RIG_LEVELS) {
        pli_mesh_destroy(mesh);
        pli_refuse(err, PLI_OVER_CAPACITY, "more than %d levels", PLI_RIG_LEVELS);
        return false;
    }
    g->mesh[g->level_count++] = mesh;
    return true;
}

bool pli_rig_add_box(PliTetLodRig *g, PliIndex cells, double side, bool ball, PliError *err)
{
    if (g->level_count == 0) g->host = pli_host_default();
    // interior nodes are moved so that levels do not nest
    const PliBoxDef box = { { 0, 0, 0 }, { side, side, side }, { cells, cells, cells }, ball ? 0.1 : 0.15, cells };
    PliMesh *m = pli_mesh_box(&g->host, &box, err);
    for (PliIndex i = 0; m && ball && i < m->point_count; ++i) {
        double *p = m->x + 3 * (size_t)i, q[3];
        for (int d = 0; d < 3; ++d) q[d] = 2.0 * p[d] / side - 1.0;
        for (int d = 0; d < 3; ++d) {
            const double a = q[(d + 1) % 3] * q[(d + 1) % 3], b = q[(d + 2) % 3] * q[(d + 2) % 3];
            p[d] = q[d] * sqrt(1.0 - a / 2.0 - b / 2.0 + a * b / 3.0);
        }
    }
    return add(g, m, err);
}

bool pli_rig_add_file(PliTetLodRig *g, const char *asset, PliError *err)
{
    if (g->level_count == 0) g->host = pli_host_default();
    return add(g, pli_asset_mesh(&g->host, asset, err), err);
}

PliTetLodDef pli_rig_def(void)
{
    PliTetLodDef d = pli_tetlod_default();
    memset(d.base.gravity, 0, sizeof d.base.gravity);
    return d;
}

static bool start(PliTetLodRig *g, PliError *err)
{
    if (!g->body) return false;
    g->count = pli_body_dof_count(g->body);
    g->rest = pli_body_rest(g->body);
    g->x = PLI_NEW(&g->host, 3 * g->count, double);
    g->v = PLI_NEW(&g->host, 3 * g->count, double);
    g->state = (PliState){ .x = g->x, .v = g->v };
    if (!g->x || !g->v) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu coefficients", g->count);
        return false;
    }
    memcpy(g->x, g->rest, 3 * g->count * sizeof *g->x);
    return true;
}

bool pli_rig_open(PliTetLodRig *g, PliTetLodDef def, PliError *err)
{
    def.levels = (const PliMesh *const *)g->mesh;
    def.level_count = g->level_count;
    g->host = pli_host_default();
    g->host.log = NULL; // cases ask for what would be warned about
    g->body = pli_tetlod_create(&g->host, &def, err);
    return start(g, err);
}

void pli_rig_close_body(PliTetLodRig *g)
{
    PLI_FREE(&g->host, g->x, 3 * g->count);
    PLI_FREE(&g->host, g->v, 3 * g->count);
    pli_body_destroy(g->body);
    g->body = NULL;
    g->x = g->v = NULL;
    g->rest = NULL;
    g->count = 0;
}

void pli_rig_close(PliTetLodRig *g)
{
    pli_rig_close_body(g);
    for (int k = 0; k < g->level_count; ++k) pli_mesh_destroy(g->mesh[k]);
    memset(g, 0, sizeof *g);
}

bool pli_rig_clamp(PliTetLodRig *g, int axis, double limit, PliError *err)
{
    PliIndex *held = PLI_NEW(&g->host, g->count, PliIndex), n = 0;
    for (size_t i = 0; held && i < g->count; ++i)
        if (g->rest[3 * i + (size_t)axis] <= limit) held[n++] = (PliIndex)i;
    const bool good = held && pli_body_set_fixed(g->body, held, n, err) == PLI_OK;
    PLI_FREE(&g->host, held, g->count);
    return good;
}

void pli_rig_freeze(PliTetLodRig *g)
{
    PliBodyDef def = *pli_body_def(g->body);
    def.adapt = false;
    (void)pli_body_retune(g->body, &def, NULL);
}

PliRandomEvent pli_rig_random_event(PliActiveSet *s, uint64_t *random, double split_chance)
{
    const PliLevels *h = s->h;
    pli_activeset_begin(s);
    const bool split = pli_random_unit(random) < split_chance;
    bool done = false;
    for (int attempt = 0; attempt < 50 && !done; ++attempt) {
        PliIndex node = (PliIndex)(pli_random_unit(random) * h->finest_first), blocker;
        if (split && s->state[node] == PLI_ACTIVE)
            while ((blocker = pli_activeset_blocker(s, node)) != PLI_NONE) node = blocker;
        done = split ? pli_activeset_split(s, node) : pli_activeset_merge(s, node);
    }
    if (!done) return PLI_RANDOM_NONE;
    pli_activeset_affect(s);
    PliRandomEvent event = split ? PLI_RANDOM_SPLIT : PLI_RANDOM_MERGE;
    if (pli_activeset_commit(s) != PLI_OK) {
        pli_activeset_undo(s);
        event = PLI_RANDOM_REFUSED;
    } else if (pli_random(random) % 8 == 0) {
        pli_activeset_undo(s);
        event = PLI_RANDOM_UNDONE;
    }
    pli_activeset_list(s);
    return event;
}
