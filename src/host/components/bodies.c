/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/components/bodies.h"

#include <string.h>

#include "host/components/grab.h"
#include "host/components/components.h"

static PliObject *monitor_of(const PliScene *scene)
{
    for (size_t i = 0; i < scene->object_count; ++i)
        if (strcmp(scene->object[i]->cls->name, "ComparisonMonitor") == 0) return scene->object[i];
    return NULL;
}

/// Model number `i` that can be shown, or NULL.
static PliModel *model_at(PliScene *scene, int i)
{
    for (size_t k = 0; k < scene->object_count; ++k) {
        PliObject *o = scene->object[k];
        if (!(o->cls->roles & PLI_ROLE_MODEL)) continue;
        PliModel *m = pli_model_self(o);
        if (m->body && m->state && i-- == 0) return m;
    }
    return NULL;
}

static bool is_uniform(const PliBody *body)
{
    const PliSchemeInfo *info = pli_scheme_of(body);
    return info && !info->adaptive;
}

int pli_scene_bodies(PliScene *scene, PliSceneBody *out, int capacity)
{
    PliObject *monitor = monitor_of(scene);
    const PliObject *named = monitor ? pli_link(monitor, "reference") : NULL;
    int count = 0, reference = -1;
    for (PliModel *m; (m = model_at(scene, count)); ++count) {
        if (count < capacity)
            out[count] = (PliSceneBody){ .name = m->object->node->name,
                                         .body = m->body,
                                         .x = m->state->x,
                                         .v = m->state->v,
                                         .tools = m->tool,
                                         .tool_count = m->tool_count };
        if (m->object == named || (!named && reference < 0 && is_uniform(m->body))) reference = count;
    }
    if (count > 1 && reference >= 0 && reference < capacity) out[reference].is_reference = true;
    return count;
}

bool pli_scene_view(const PliScene *scene, double view[3])
{
    PliObject *monitor = monitor_of(scene);
    if (!monitor) return false;
    pli_vec3(monitor, "view", view);
    return view[0] != 0.0 || view[1] != 0.0 || view[2] != 0.0;
}

void pli_scene_steer(PliScene *scene, int tool, const double target[3])
{
    PliModel *m;
    for (int i = 0; (m = model_at(scene, i)); ++i)
        if (tool >= 0 && tool < m->tool_count) pli_tool_steer(m->tool_object[tool], target);
}

void pli_scene_lead(PliScene *scene, int body, int tool, const double target[3])
{
    PliModel *m = model_at(scene, body);
    if (m && tool >= 0 && tool < m->tool_count) pli_tool_lead(m->tool_object[tool], target);
}

bool pli_scene_tool_path(PliScene *scene, int body, int tool, double time, double p[3])
{
    PliModel *m = model_at(scene, body);
    if (!m || tool < 0 || tool >= m->tool_count) return false;
    pli_tool_path(m->tool_object[tool], time, p);
    return true;
}

PliStatus pli_scene_grab(PliScene *scene, const PliGrip *grip, PliError *err)
{
    PliModel *m;
    PliStatus status = PLI_OK;
    for (int i = 0; status == PLI_OK && (m = model_at(scene, i)); ++i) status = pli_model_grab(m, grip, err);
    return status;
}

PliStatus pli_scene_tune(PliScene *scene, int body, const PliTuning *tuning, int count, PliError *err)
{
    PliModel *m = model_at(scene, body);
    if (!m) return pli_refuse(err, PLI_BAD_ARGUMENT, "there is no body number %d", body);
    const PliSchemeInfo *info = m->object->cls->scheme;
    PliDefaults def = m->made;
    for (int i = 0; i < count; ++i) {
        const PliAttribute *row = pli_scheme_attribute(info, tuning[i].name);
        if (!row || !row->running || row->kind != PLI_REAL || row->size != sizeof(double)) continue;
        double value;
        memcpy(&value, def.bytes + row->offset, sizeof value);
        value = row->slide.absolute ? tuning[i].value : value * tuning[i].value;
        memcpy(def.bytes + row->offset, &value, sizeof value);
    }
    return info->retune ? info->retune(m->body, &def, err) : pli_body_retune(m->body, (const PliBodyDef *)&def, err);
}

int pli_scene_drop_diverged(PliScene *scene)
{
    PliModel *m;
    int count = 0;
    for (int i = 0; (m = model_at(scene, i)); ++i) {
        if (!m->object->node->active || !m->diverged) continue;
        m->object->node->active = false;
        ++count;
    }
    return count;
}

bool pli_scene_body_dropped(PliScene *scene, int body)
{
    const PliModel *m = model_at(scene, body);
    return m && !m->object->node->active;
}
