/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/stock.h"
#include "host/transform.h"

#include <string.h>

// MechanicalObject: sizes and order of the transformations as in SOFA's init() and reinit().

PliMech *pli_state_self(PliObject *state)
{
    return state->self;
}

PliMech *pli_state_of(PliObject *o)
{
    PliObject *state = pli_context_find(o->node, PLI_ROLE_STATE);
    return state && state->self ? state->self : NULL;
}

static PliObject *points_from(PliObject *o)
{
    PliObject *topology = pli_link(o, "topology");
    if (topology) return topology;
    return pli_bool(o, "useTopology") ? pli_node_find(o->node, PLI_ROLE_TOPOLOGY) : NULL;
}

static void legacy_vec3(PliObject *o, const char *const names[3], double value[3], double absent)
{
    bool any = false;
    for (int i = 0; i < 3; ++i) any = any || pli_is_set(o, names[i]);
    for (int i = 0; i < 3 && any; ++i) value[i] = pli_is_set(o, names[i]) ? pli_real(o, names[i]) : absent;
}

static PliStatus state_init(PliObject *o, PliError *err)
{
    PliScene *scene = o->node->scene;
    PliMech *s = o->self;
    size_t nx, nv, nr;
    const double *x = pli_reals(o, "position", &nx), *v = pli_reals(o, "velocity", &nv), *rest = pli_reals(o, "rest_position", &nr);
    nx /= 3, nv /= 3, nr /= 3;
    size_t count = nx > nv ? nx : nv;
    if (nr > count) count = nr;
    if (pli_int(o, "size") > 0 && (size_t)pli_int(o, "size") > count) count = (size_t)pli_int(o, "size");
    if (nx == 0 && nr > 0) x = rest, nx = nr; // only the rest position was given
    if (count <= 1) {
        PliObject *topology = points_from(o);
        PliIndex n = 0;
        const double *points = topology ? pli_topology_points(topology, &n) : NULL;
        if (points && n > 0) x = points, nx = n, count = n;
        // a state without any information has one point at the origin, unless its position was linked to an empty list
        if (count == 0 && !pli_is_set(o, "position")) count = 1;
    }
    if (count > PLI_NONE / 3) return pli_refuse(err, PLI_OVER_CAPACITY, "%zu points are too many", count);
    s->object = o;
    s->count = (PliIndex)count;
    size_t scalars = 3 * count;
    s->x = PLI_SCENE_NEW(scene, scalars, double);
    s->v = PLI_SCENE_NEW(scene, scalars, double);
    s->f = PLI_SCENE_NEW(scene, scalars, double);
    s->x0 = PLI_SCENE_NEW(scene, scalars, double);
    s->x_reset = PLI_SCENE_NEW(scene, scalars, double);
    s->v_reset = PLI_SCENE_NEW(scene, scalars, double);
    if (!s->x || !s->v || !s->f || !s->x0 || !s->x_reset || !s->v_reset) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu points", count);
    if (nx) memcpy(s->x, x, 3 * nx * sizeof(double));
    if (nv) memcpy(s->v, v, 3 * nv * sizeof(double));
    for (size_t i = nv; nv > 0 && i < count; ++i) memcpy(s->v + 3 * i, s->v + 3 * (nv - 1), 3 * sizeof(double)); // the last one goes on

    double translation[3], rotation[3], scale[3];
    pli_vec3(o, "translation", translation);
    pli_vec3(o, "rotation", rotation);
    pli_vec3(o, "scale3d", scale);
    if (pli_is_set(o, "scale")) scale[0] = scale[1] = scale[2] = pli_real(o, "scale");
    legacy_vec3(o, (const char *const[3]){ "sx", "sy", "sz" }, scale, 1.0);
    legacy_vec3(o, (const char *const[3]){ "rx", "ry", "rz" }, rotation, 0.0);
    legacy_vec3(o, (const char *const[3]){ "dx", "dy", "dz" }, translation, 0.0);
    pli_transform_points(s->x, s->count, scale, rotation, translation);
    if (nr == count) {
        memcpy(s->x0, rest, scalars * sizeof(double));
    } else {
        double rest_scale = pli_real(o, "restScale");
        for (size_t i = 0; i < scalars; ++i) s->x0[i] = rest_scale == 1.0 ? s->x[i] : rest_scale * s->x[i];
    }
    double one[3] = { 1.0, 1.0, 1.0 };
    pli_vec3(o, "rotation2", rotation);
    pli_vec3(o, "translation2", translation);
    pli_transform_points(s->x, s->count, one, rotation, translation);
    memcpy(s->x_reset, s->x, scalars * sizeof(double));
    memcpy(s->v_reset, s->v, scalars * sizeof(double));

    pli_lend_reals(o, "position", s->x, scalars);
    pli_lend_reals(o, "velocity", s->v, scalars);
    pli_lend_reals(o, "rest_position", s->x0, scalars);
    pli_lend_reals(o, "force", s->f, scalars);
    s->position = pli_data(o, "position");
    s->velocity = pli_data(o, "velocity");
    return PLI_OK;
}

const PliOps pli_state_ops = { .size = sizeof(PliMech), .init = state_init };
