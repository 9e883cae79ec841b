/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/components/components.h"

#include <string.h>

// The skin of a body as a topology, and the mapping that moves it, or any other points embedded in the body.

// ---- AdaptiveSurface ---------------------------------------------------------------------------------------------------------------

typedef struct Surface {
    PliModel *model;
} Surface;

static PliStatus surface_parse(PliObject *o, PliError *err)
{
    Surface *s = o->self;
    s->model = pli_model_of(o, err);
    if (!s->model) return err->status;
    size_t points, tris;
    const double *x = pli_reals(s->model->object, "skinPosition", &points);
    const PliIndex *triangles = pli_indices(s->model->object, "triangles", &tris);
    if (tris == 0)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "the body %s has no skin: give it skin=\"surface.obj\"",
                          s->model->object->name);
    PliStatus status = pli_set_reals(o, "position", x, points);
    if (!status) status = pli_set_indices(o, "triangles", triangles, tris);
    if (!status) status = pli_reserve_data(pli_data(o, "level"), points / 3);
    return status ? pli_refuse(err, status, "no memory for %zu triangles", tris / 3) : PLI_OK;
}

static PliStatus surface_update(PliObject *o, PliError *err)
{
    (void)err;
    Surface *s = o->self;
    PliData *d = pli_data(o, "level");
    const uint8_t *level = pli_body_skin_level(s->model->body);
    PliIndex n = pli_body_skin_count(s->model->body);
    for (PliIndex i = 0; i < n; ++i) d->index[i] = level ? level[i] : 0;
    d->count = n;
    return PLI_OK;
}

static PliStatus surface_end(PliObject *o, double dt, PliError *err)
{
    (void)dt;
    (void)err;
    o->stale = true; // levels are written when somebody reads them
    return PLI_OK;
}

const PliOps pli_adaptive_surface_ops = {
    .size = sizeof(Surface), .parse = surface_parse, .update = surface_update, .end = surface_end
};

// ---- AdaptiveMapping ---------------------------------------------------------------------------------------------------------------

enum { MOST = PLI_LOCATE_MAX }; // weights of one point on the finest level, and of one row after levels were put in

typedef struct Mapping {
    PliModel *model;
    PliMech *in, *out;
    bool skin;
    bool
        fine_forces; ///< AdaptiveSolver gets forces on every coefficient of the finest level: those that are off are judged by them
    // embedded points: rows on the finest level, and composed with the present levels
    PliIndex *first, *column, *now_first, *now_column;
    double *weight, *now_weight, *dense;
    PliIndex *touched;
    size_t capacity;
    uint64_t revision;
} Mapping;

static PliStatus mapping_points(PliObject *o, PliIndex *count, const double **points, PliError *err)
{
    PliModel *m = pli_model_of(o, err);
    if (!m) return err->status;
    size_t n;
    *points = pli_reals(m->object, "skinPosition", &n);
    *count = (PliIndex)(n / 3);
    return PLI_OK;
}

static bool is_skin(const Mapping *m)
{
    size_t n;
    const double *skin = pli_reals(m->model->object, "skinPosition", &n);
    if (n != 3 * (size_t)m->out->count) return false;
    for (size_t i = 0; i < n; i += 3)
        if (v3_distance(skin + i, m->out->x + i) > 1e-12 * (1.0 + v3_norm(skin + i))) return false;
    return true;
}

static PliStatus embed(PliObject *o, Mapping *m, const double *points, PliError *err)
{
    PliScene *scene = o->node->scene;
    PliIndex n = m->out->count, dofs = pli_body_dof_count(m->model->body);
    m->capacity = (size_t)n * MOST;
    m->first = PLI_SCENE_NEW(scene, (size_t)n + 1, PliIndex);
    m->column = PLI_SCENE_NEW(scene, m->capacity, PliIndex);
    m->weight = PLI_SCENE_NEW(scene, m->capacity, double);
    m->now_first = PLI_SCENE_NEW(scene, (size_t)n + 1, PliIndex);
    m->now_column = PLI_SCENE_NEW(scene, m->capacity, PliIndex);
    m->now_weight = PLI_SCENE_NEW(scene, m->capacity, double);
    m->dense = PLI_SCENE_NEW(scene, dofs, double);
    m->touched = PLI_SCENE_NEW(scene, dofs, PliIndex);
    if (!m->first || !m->column || !m->weight || !m->now_first || !m->now_column || !m->now_weight || !m->dense ||
        !m->touched)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to embed %u points", n);
    for (PliIndex i = 0; i < n; ++i)
        m->first[i + 1] = m->first[i] + pli_body_locate(m->model->body, points + 3 * (size_t)i, m->column + m->first[i],
                                                        m->weight + m->first[i], MOST);
    m->revision = UINT64_MAX;
    return PLI_OK;
}

// Rows of the finest level times W. Columns come out ascending, so sums have one order.
static void compose(Mapping *m)
{
    PliRows w = pli_body_transfer(m->model->body);
    size_t used = 0;
    for (PliIndex i = 0; i < m->out->count; ++i) {
        PliIndex touched = 0;
        m->now_first[i] = (PliIndex)used;
        for (PliIndex k = m->first[i]; k < m->first[i + 1]; ++k)
            for (PliIndex j = w.first[m->column[k]]; j < w.first[m->column[k] + 1]; ++j) {
                PliIndex c = w.column[j];
                if (m->dense[c] == 0.0) m->touched[touched++] = c;
                m->dense[c] += m->weight[k] * w.weight[j];
            }
        for (PliIndex a = 1; a < touched; ++a)
            for (PliIndex b = a; b > 0 && m->touched[b - 1] > m->touched[b]; --b) {
                PliIndex keep = m->touched[b];
                m->touched[b] = m->touched[b - 1];
                m->touched[b - 1] = keep;
            }
        for (PliIndex a = 0; a < touched; ++a) {
            PliIndex c = m->touched[a];
            if (m->dense[c] != 0.0 && used < m->capacity) {
                m->now_column[used] = c;
                m->now_weight[used++] = m->dense[c];
            }
            m->dense[c] = 0.0;
        }
    }
    m->now_first[m->out->count] = (PliIndex)used;
}

static PliRows mapping_rows(PliObject *o)
{
    Mapping *m = o->self;
    if (m->skin) return pli_body_skin_rows(m->model->body);
    uint64_t revision = pli_body_active(m->model->body).revision;
    if (revision != m->revision) {
        compose(m);
        m->revision = revision;
    }
    return (PliRows){ m->now_first, m->now_column, m->now_weight, m->out->count, m->in->count };
}

static PliRows mapping_force_rows(PliObject *o)
{
    Mapping *m = o->self;
    if (!m->fine_forces || m->model->route != PLI_ROUTE_OWNED) return mapping_rows(o);
    return (PliRows){ m->first, m->column, m->weight, m->out->count, m->in->count };
}

static void mapping_apply(PliObject *o, const double *in, double *out)
{
    Mapping *m = o->self;
    if (m->skin) // with what is still fading after a change of level, so that nothing pops
        pli_body_skin_positions(m->model->body, in, out);
    else
        pli_rows_apply(mapping_rows(o), in, out);
}

static PliStatus mapping_init(PliObject *o, PliError *err)
{
    Mapping *m = o->self;
    m->model = pli_model_of(o, err);
    if (!m->model) return err->status;
    PliStatus status = pli_mapping_connect(o, &m->in, &m->out, err);
    if (status) return status;
    if (m->in->count != pli_body_dof_count(m->model->body))
        return pli_refuse(
            err, PLI_BAD_ARGUMENT,
            "input has %u points, and the body %s %u coefficients: input must be the MechanicalObject of the body",
            m->in->count, m->model->object->name, pli_body_dof_count(m->model->body));
    const char *map = pli_text(o, "map");
    m->skin = strcmp(map, "skin") == 0 || (strcmp(map, "auto") == 0 && is_skin(m));
    if (m->skin && pli_body_skin_count(m->model->body) != m->out->count)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "output has %u points, and the skin %u", m->out->count,
                          pli_body_skin_count(m->model->body));
    size_t n;
    m->fine_forces = pli_body_judges_forces(m->model->body);
    if (!m->skin || m->fine_forces)
        status = embed(o, m, m->skin ? pli_reals(m->model->object, "skinPosition", &n) : m->out->x, err);
    if (status) return status;
    mapping_apply(o, m->in->x, m->out->x);
    pli_rows_apply(mapping_rows(o), m->in->v, m->out->v);
    return PLI_OK;
}

const PliOps pli_adaptive_mapping_ops = { .size = sizeof(Mapping),
                                          .init = mapping_init,
                                          .rows = mapping_rows,
                                          .force_rows = mapping_force_rows,
                                          .apply = mapping_apply,
                                          .child_points = mapping_points };
