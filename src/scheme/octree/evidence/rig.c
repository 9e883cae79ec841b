/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/octree/evidence/rig.h"

#include <math.h>
#include <string.h>

#include <pliant/scheme.h>

#include "base/memory.h"
#include "base/vec.h"

PliOctreeDef pli_octree_still(void)
{
    PliOctreeDef def = pli_octree_default();
    memset(def.base.gravity, 0, sizeof def.base.gravity);
    return def;
}

void pli_octree_rig_close(PliOctreeRig *r)
{
    PLI_FREE(&r->host, r->x, 3 * r->count);
    PLI_FREE(&r->host, r->v, 3 * r->count);
    pli_body_destroy(r->body);
    pli_mesh_destroy(r->mesh);
}

bool pli_octree_rig_open(PliOctreeRig *r, PliOctreeDef def, const double size[3], PliError *err)
{
    const PliBoxDef box = { .max = { size[0], size[1], size[2] }, .cells = { 2, 2, 2 } };
    *r = (PliOctreeRig){ .host = pli_host_default() };
    def.mesh = r->mesh = pli_mesh_box(&r->host, &box, err);
    if (r->mesh) r->body = pli_octree_create(&r->host, &def, err);
    if (r->body) {
        r->count = pli_body_dof_count(r->body);
        r->rest = pli_body_rest(r->body);
        r->x = PLI_NEW(&r->host, 3 * r->count, double);
        r->v = PLI_NEW(&r->host, 3 * r->count, double);
    }
    if (!r->x || !r->v) {
        if (r->body) pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the state");
        pli_octree_rig_close(r);
        return false;
    }
    r->state = (PliState){ .x = r->x, .v = r->v };
    pli_body_reset(r->body, &r->state);
    return true;
}

PliStatus pli_octree_rig_hold(PliOctreeRig *r, int axis, double at, PliError *err)
{
    const PliOctreeInfo info = pli_octree_info(r->body);
    PliIndex *list = PLI_NEW(&r->host, info.walls, PliIndex), count = 0;
    if (!list) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u walls", info.walls);
    for (PliIndex i = info.cell_count; i < info.cell_count + info.walls; ++i)
        if (fabs(r->rest[3 * (size_t)i + (size_t)axis] - at) < 1e-6) list[count++] = i;
    const PliStatus status = pli_body_set_fixed(r->body, list, count, err);
    PLI_FREE(&r->host, list, info.walls);
    return status;
}

PliIndex pli_octree_rig_nearest(const PliOctreeRig *r, const double p[3])
{
    const PliActive a = pli_body_active(r->body);
    PliIndex best = PLI_NONE;
    double distance = INFINITY;
    for (PliIndex i = 0; i < a.count; ++i) {
        const double d = v3_distance(r->rest + 3 * (size_t)a.dof[i], p);
        if (pli_body_dof_place(r->body, a.dof[i]) != PLI_NONE && d < distance) distance = d, best = a.dof[i];
    }
    return best;
}
