/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/bodies.h"

#include "host/own.h"

int pli_scene_bodies(PliScene *scene, PliSceneBody *out, int capacity)
{
    int count = 0, reference = -1;
    for (size_t i = 0; i < scene->object_count; ++i) {
        PliObject *o = scene->object[i];
        if (!(o->cls->roles & PLI_ROLE_MODEL)) continue;
        const PliModel *m = pli_model_self(o);
        if (!m->body || !m->state) continue;
        if (count < capacity)
            out[count] = (PliSceneBody){ .name = o->node->name, .body = m->body, .x = m->state->x, .v = m->state->v, .tools = m->tool, .tool_count = m->tool_count };
        if (reference < 0 && pli_body_scheme(m->body) == PLI_FEM) reference = count;
        ++count;
    }
    // uniform finite elements are what the others are measured with, when there are others
    if (count > 1 && reference >= 0 && reference < capacity) out[reference].is_reference = true;
    return count;
}

void pli_scene_steer(PliScene *scene, const double target[3])
{
    for (size_t i = 0; i < scene->object_count; ++i)
        if (scene->object[i]->cls->roles & PLI_ROLE_TOOL) pli_tool_steer(scene->object[i], target);
}
