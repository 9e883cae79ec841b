/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/stock/stock.h"
#include "host/stock/transform.h"

#include <string.h>

// MechanicalObject: sizes and order of the transformations as in SOFA's init() and reinit().

PliMech *pli_state_self(PliObject *state) { return state->self; }

PliMech *pli_state_of(PliObject *o)
{
    PliObject *state = pli_context_find(o->node, PLI_ROLE_STATE);
    return state && state->self ? state->self : NULL;
}

PliMech *pli_state_counted(PliObject *o, PliError *err)
{
    PliObject *state = pli_context_find(o->node, PLI_ROLE_STATE);
    PliMech *s = state ? state->self : NULL;
    if (!s) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "needs a MechanicalObject in its node or above");
    } else if (!s->object) { // SOFA goes on with the one point a state has before its init
        pli_refuse(err, PLI_BAD_ARGUMENT, "must come after its MechanicalObject %s, which has no points yet",
                   state->name);
        s = NULL;
    } else {
        s->counted = true;
    }
    return s;
}

static PliStatus state_arrays(PliObject *o, PliMech *s, PliIndex count, PliError *err)
{
    PliScene *scene = o->node->scene;
    double **array[] = { &s->x, &s->v, &s->f, &s->x0, &s->x_reset, &s->v_reset };
    size_t keep = s->count < count ? s->count : count;
    for (size_t i = 0; i < sizeof array / sizeof *array; ++i) {
        double *fresh = PLI_SCENE_NEW(scene, 3 * (size_t)count, double);
        if (!fresh) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u points", count);
        if (*array[i] && keep) memcpy(fresh, *array[i], 3 * keep * sizeof(double));
        *array[i] = fresh;
    }
    s->object = o;
    s->count = count;
    return PLI_OK;
}

static void state_lend(PliObject *o, PliMech *s)
{
    size_t scalars = 3 * (size_t)s->count;
    pli_lend_reals(o, "position", s->x, scalars);
    s->position = pli_data(o, "position");
    s->velocity = s->position;
    if (!(o->cls->roles & PLI_ROLE_STATE)) return;
    pli_lend_reals(o, "velocity", s->v, scalars);
    pli_lend_reals(o, "rest_position", s->x0, scalars);
    pli_lend_reals(o, "force", s->f, scalars);
    s->velocity = pli_data(o, "velocity");
}

PliStatus pli_state_resize(PliMech *s, PliIndex count, PliError *err)
{
    if (s->count == count) return PLI_OK;
    PliObject *o = s->object;
    if (s->counted)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "gives %s %u points, but a component between them works on its %u: give it as many, or none",
                          o->name, count, s->count);
    PliStatus status = state_arrays(o, s, count, err);
    if (!status) state_lend(o, s);
    return status;
}

static PliObject *points_from(PliObject *o)
{
    PliObject *topology = pli_link(o, "topology");
    if (topology) return topology;
    return pli_bool(o, "useTopology") ? pli_topology_near(o->node, PLI_NEEDS_POINTS, false) : NULL;
}

static void legacy_vec3(PliObject *o, const char *const names[3], double value[3], double absent)
{
    bool any = false;
    for (int i = 0; i < 3; ++i) any = any || pli_is_set(o, names[i]);
    for (int i = 0; i < 3 && any; ++i)
        value[i] = pli_is_set(o, names[i]) ? (double)(float)pli_real(o, names[i]) : absent; // SOFA reads them as float
}

static PliStatus state_init(PliObject *o, PliError *err)
{
    PliMech *s = o->self;
    size_t nx, nv, nr;
    const double *x = pli_reals(o, "position", &nx), *v = pli_reals(o, "velocity", &nv),
                 *rest = pli_reals(o, "rest_position", &nr);
    nx /= 3, nv /= 3, nr /= 3;
    size_t count = nx > nv ? nx : nv;
    if (nr > count) count = nr;
    if (pli_int(o, "size") > 0 && (size_t)pli_int(o, "size") > count) count = (size_t)pli_int(o, "size");
    if (nx == 0 && nr > 0) x = rest, nx = nr; // only the rest position was given
    if (count <= 1) {
        PliObject *topology = points_from(o);
        PliIndex n = 0;
        const double *points = topology ? pli_topology_points(topology, &n) : NULL;
        if ((!points || n == 0) && nx == 0) {
            // nothing was said about the points: a mapping in the node may know them
            PliObject *mapping = pli_node_find(o->node, PLI_ROLE_MAPPING);
            PliStatus status = mapping && mapping->cls->ops->child_points
                                   ? mapping->cls->ops->child_points(mapping, &n, &points, err)
                                   : PLI_OK;
            if (status) return status;
        }
        if (points && n > 0) x = points, nx = n, count = n;
        // a state without any information has one point at the origin, unless its position was linked to an empty list
        if (count == 0 && !pli_is_set(o, "position")) count = 1;
    }
    if (count > PLI_NONE / 3) return pli_refuse(err, PLI_OVER_CAPACITY, "%zu points are too many", count);
    PliStatus status = state_arrays(o, s, (PliIndex)count, err);
    if (status) return status;
    size_t scalars = 3 * count;
    if (nx) memcpy(s->x, x, 3 * nx * sizeof(double));
    if (nv) memcpy(s->v, v, 3 * nv * sizeof(double));
    for (size_t i = nv; nv > 0 && i < count; ++i)
        memcpy(s->v + 3 * i, s->v + 3 * (nv - 1), 3 * sizeof(double)); // the last one goes on

    double translation[3], rotation[3], scale[3];
    pli_vec3(o, "translation", translation);
    pli_vec3(o, "rotation", rotation);
    pli_vec3(o, "scale3d", scale);
    if (pli_is_set(o, "scale")) scale[0] = scale[1] = scale[2] = (double)(float)pli_real(o, "scale");
    legacy_vec3(o, (const char *const[3]){ "sx", "sy", "sz" }, scale, 1.0);
    legacy_vec3(o, (const char *const[3]){ "rx", "ry", "rz" }, rotation, 0.0);
    legacy_vec3(o, (const char *const[3]){ "dx", "dy", "dz" }, translation, 0.0);
    pli_transform_points(s->x, s->count, scale, rotation, translation);
    if (nr > 0 && nr == count) {
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

    state_lend(o, s);
    return PLI_OK;
}

const PliOps pli_state_ops = { .size = sizeof(PliMech), .init = state_init };

// ---- OglModel: points and triangles that follow a mapping; nothing is drawn ------------------------------------------------------

static PliStatus visual_parse(PliObject *o, PliError *err)
{
    const char *path = pli_text(o, "filename");
    if (!*path) return PLI_OK;
    PliMesh *mesh = pli_mesh_read(&o->node->scene->host, path, err);
    if (!mesh) return err->status;
    PliStatus status = pli_set_reals(o, "position", mesh->x, 3 * (size_t)mesh->point_count);
    if (!status) status = pli_set_indices(o, "triangles", mesh->tris, 3 * (size_t)mesh->tri_count);
    if (!status) status = pli_set_indices(o, "quads", mesh->quads, 4 * (size_t)mesh->quad_count);
    pli_mesh_destroy(mesh);
    return status ? pli_refuse(err, status, "no memory for %s", path) : PLI_OK;
}

static PliStatus visual_init(PliObject *o, PliError *err)
{
    PliMech *s = o->self;
    size_t n;
    const double *x = pli_reals(o, "position", &n);
    PliIndex count = (PliIndex)(n / 3);
    if (count == 0) {
        PliObject *topology = pli_topology_of(o, PLI_NEEDS_POINTS);
        if (topology) x = pli_topology_points(topology, &count);
    }
    PliStatus status = state_arrays(o, s, count, err);
    if (status) return status;
    if (count) memcpy(s->x, x, 3 * (size_t)count * sizeof(double));
    double translation[3], rotation[3], scale[3];
    pli_vec3(o, "translation", translation);
    pli_vec3(o, "rotation", rotation);
    pli_vec3(o, "scale3d", scale);
    if (pli_is_set(o, "scale")) scale[0] = scale[1] = scale[2] = (double)(float)pli_real(o, "scale");
    legacy_vec3(o, (const char *const[3]){ "rx", "ry", "rz" }, rotation, 0.0);
    legacy_vec3(o, (const char *const[3]){ "dx", "dy", "dz" }, translation, 0.0);
    pli_transform_points(s->x, s->count, scale, rotation, translation);
    memcpy(s->x0, s->x, 3 * (size_t)count * sizeof(double));
    state_lend(o, s);
    return PLI_OK;
}

void pli_visual_update(PliMech *visual)
{
    if (!visual->mapping) return;
    const PliOps *ops = visual->mapping->cls->ops;
    if (visual->parent->mapping && visual->parent->object->cls->roles & PLI_ROLE_VISUAL)
        pli_visual_update(visual->parent);
    if (ops->apply)
        ops->apply(visual->mapping, visual->parent->x, visual->x);
    else
        pli_rows_apply(ops->rows(visual->mapping), visual->parent->x, visual->x);
    pli_touch(visual->position);
}

const PliOps pli_visual_ops = { .size = sizeof(PliMech), .parse = visual_parse, .init = visual_init };
