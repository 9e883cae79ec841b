/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/memory.h"
#include "base/vec.h"
#include "host/components/components.h"

#include <string.h>

// Rigid tools on given paths. The body reads where they are and writes the force they feel.

typedef struct Tool {
    PliTool base; ///< shape and material; position and velocity are filled when a step begins
    PliModel *model;
    int slot; ///< in the model's array
    double home[3];
    double *time, *move; ///< key frames: displacement from home, linear in between
    size_t count;
    double force[3];
    bool steered, led;         ///< led: as fast as the hand
    double hand[3], target[3]; ///< steered: where it is, where it goes
} Tool;

static void tool_at(const Tool *t, double time, double p[3])
{
    v3_copy(p, t->home);
    if (t->count == 0) return;
    if (time <= t->time[0]) {
        v3_add(p, p, t->move);
        return;
    }
    for (size_t i = 1; i < t->count; ++i) {
        if (time >= t->time[i]) continue;
        double s = (time - t->time[i - 1]) / (t->time[i] - t->time[i - 1]);
        v3_madd(p, 1.0 - s, t->move + 3 * (i - 1));
        v3_madd(p, s, t->move + 3 * i);
        return;
    }
    v3_add(p, p, t->move + 3 * (t->count - 1));
}

void pli_tool_place(PliObject *o, double time, double dt, PliTool *tool)
{
    Tool *t = o->self;
    double to[3], force[3];
    v3_copy(force, tool->force);
    *tool = t->base;
    v3_copy(tool->force, force);
    if (t->steered) {
        v3_copy(tool->position, t->hand);
        v3_copy(to, t->target);
        // a mouse jumps, a hand does not: ten radii a second
        const double way = v3_distance(t->hand, to), most = 10.0 * t->base.radius * dt;
        for (int i = 0; i < 3 && way > most && !t->led; ++i) to[i] = t->hand[i] + (to[i] - t->hand[i]) * most / way;
        v3_copy(t->hand, to);
    } else {
        tool_at(t, time, tool->position);
        tool_at(t, time + dt, to);
    }
    for (int i = 0; i < 3; ++i) tool->velocity[i] = dt > 0.0 ? (to[i] - tool->position[i]) / dt : 0.0;
}

void pli_tool_steer(PliObject *o, const double target[3])
{
    Tool *t = o->self;
    if (t->base.shape == PLI_TOOL_PLANE) return;
    if (target && !t->steered) tool_at(t, o->node->scene->time, t->hand);
    t->steered = target != NULL;
    t->led = false;
    if (target) v3_copy(t->target, target);
}

void pli_tool_lead(PliObject *o, const double target[3])
{
    Tool *t = o->self;
    pli_tool_steer(o, target);
    t->led = t->steered;
}

void pli_tool_path(PliObject *o, double time, double p[3]) { tool_at(o->self, time, p); }

static PliStatus join(PliModel *m, PliObject *o, Tool *t, PliError *err)
{
    PliScene *scene = o->node->scene;
    if (m->tool_count == m->tool_capacity) {
        int wider = m->tool_capacity ? 2 * m->tool_capacity : 8;
        PliTool *tool = PLI_SCENE_NEW(scene, (size_t)wider, PliTool);
        PliObject **object = PLI_SCENE_NEW(scene, (size_t)wider, PliObject *);
        if (!tool || !object) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a tool");
        if (m->tool_count) {
            memcpy(tool, m->tool, (size_t)m->tool_count * sizeof *tool);
            memcpy(object, m->tool_object, (size_t)m->tool_count * sizeof(PliObject *));
        }
        m->tool = tool;
        m->tool_object = object;
        m->tool_capacity = wider;
    }
    t->model = m;
    t->slot = m->tool_count;
    m->tool_object[m->tool_count++] = o;
    pli_tool_place(o, scene->time, scene->dt, &m->tool[t->slot]);
    return PLI_OK;
}

static PliStatus tool_init(PliObject *o, PliError *err)
{
    Tool *t = o->self;
    PliScene *scene = o->node->scene;
    PliModel *m = pli_model_of(o, err);
    if (!m) return err->status;
    for (int i = 0; i < pli_tool_attributes.count; ++i) {
        const PliAttribute *row = &pli_tool_attributes.rows[i];
        PliData *d = pli_data(o, row->name);
        if (!d->set) continue;
        PliStatus status = pli_attribute_set(row, &t->base, d->text, err);
        if (status) return status;
    }
    pli_vec3(o, "position", t->home);
    size_t n, k;
    const double *times = pli_reals(o, "keyTimes", &n), *moves = pli_reals(o, "movements", &k);
    bool ascending = true;
    for (size_t i = 1; i < n; ++i) ascending = ascending && times[i] > times[i - 1];
    if (!ascending || k != 3 * n)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "keyTimes (%zu values) must ascend, and movements (%zu) must have one displacement for each",
                          n, k / 3);
    t->time = PLI_SCENE_NEW(scene, n, double);
    t->move = PLI_SCENE_NEW(scene, 3 * n, double);
    if (!t->time || !t->move) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu key frames", n);
    if (n) memcpy(t->time, times, n * sizeof *times);
    if (n) memcpy(t->move, moves, 3 * n * sizeof *moves);
    t->count = n;
    pli_lend_reals(o, "force", t->force, 3);
    return join(m, o, t, err);
}

static PliStatus sphere_init(PliObject *o, PliError *err)
{
    Tool *t = o->self;
    t->base.shape = PLI_TOOL_SPHERE;
    t->base.radius = pli_real(o, "radius");
    if (!(t->base.radius > 0.0)) return pli_refuse(err, PLI_BAD_ARGUMENT, "radius=%g must be > 0", t->base.radius);
    return tool_init(o, err);
}

static PliStatus plane_init(PliObject *o, PliError *err)
{
    Tool *t = o->self;
    t->base.shape = PLI_TOOL_PLANE;
    pli_vec3(o, "normal", t->base.other);
    double length = v3_norm(t->base.other);
    if (!(length > 0.0)) return pli_refuse(err, PLI_BAD_ARGUMENT, "normal has no direction");
    v3_scale(t->base.other, 1.0 / length);
    return tool_init(o, err);
}

static PliStatus tool_end(PliObject *o, double dt, PliError *err)
{
    (void)dt;
    (void)err;
    Tool *t = o->self;
    v3_copy(t->force, t->model->tool[t->slot].force);
    pli_touch(pli_data(o, "force"));
    return PLI_OK;
}

const PliOps pli_sphere_tool_ops = { .size = sizeof(Tool), .init = sphere_init, .end = tool_end };
const PliOps pli_plane_tool_ops = { .size = sizeof(Tool), .init = plane_init, .end = tool_end };

// all zero: frictionless, stiffness chosen by the body
void pli_tool_defaults(void *def) { *(PliTool *)def = (PliTool){ 0 }; }
