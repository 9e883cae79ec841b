/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/feel/hold.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

enum { BODIES = 64 };

static PliStatus choose_body(PliHold *h, const PliHoldDef *def, PliError *err)
{
    PliSceneBody all[BODIES];
    const int count = pli_scene_bodies(h->scene, all, BODIES);
    for (int i = 0; i < count && i < BODIES; ++i) {
        if (def->body && strcmp(all[i].name, def->body) != 0) continue;
        if (all[i].tool_count <= def->tool) {
            if (def->body) break;
            continue;
        }
        h->body = all[i];
        h->number = i;
        if (all[i].tools[def->tool].shape == PLI_TOOL_PLANE)
            return pli_refuse(err, PLI_UNSUPPORTED, "tool %d is a plane, and a hand holds a sphere", def->tool);
        return PLI_OK;
    }
    return pli_refuse(err, PLI_BAD_ARGUMENT,
                      "there is no body%s%s with a tool number %d: a hand needs a SphereTool to hold",
                      def->body ? " " : "", def->body ? def->body : "", def->tool);
}

static PliStatus open_device(PliHold *h, const PliHoldDef *d, double home[3], PliError *err)
{
    enum { EVERY = 200 }; // points of the path in a second
    const size_t count = (size_t)(d->seconds * EVERY) + 2;
    double *time = PLI_NEW(&h->host, count, double), *point = PLI_NEW(&h->host, 3 * count, double);
    if (time && point) {
        pli_scene_tool_path(h->scene, h->number, d->tool, 0.0, home);
        for (size_t i = 0; i < count; ++i) {
            time[i] = (double)i / EVERY;
            pli_scene_tool_path(h->scene, h->number, d->tool, time[i], point + 3 * i);
            for (int c = 0; c < 3; ++c) point[3 * i + c] = (point[3 * i + c] - home[c]) / d->servo.scale;
        }
        const PliHandPath path = { time, point, count };
        h->device = pli_device_open(&h->host, d->device, &path, err);
    } else {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the path of a hand");
    }
    PLI_FREE(&h->host, time, count);
    PLI_FREE(&h->host, point, 3 * count);
    return h->device ? PLI_OK : err->status;
}

PliStatus pli_hold_open(PliHold *h, const PliHost *host, PliScene *scene, double dt, const PliHoldDef *def,
                        PliError *err)
{
    double home[3];
    *h = (PliHold){ .host = *host, .scene = scene, .tool = def->tool, .dt = dt };
    PliStatus status = choose_body(h, def, err);
    if (!status) status = open_device(h, def, home, err);
    if (status) return status;
    const PliDeviceFacts facts = pli_device_facts(h->device);
    PliServoDef servo = def->servo;
    v3_copy(servo.home, home);
    if (facts.peak_force > 0.0) servo.peak_force = fmin(servo.peak_force, facts.peak_force);
    if (facts.continuous_force > 0.0) servo.continuous_force = fmin(servo.continuous_force, facts.continuous_force);
    if (facts.most_stiffness > 0.0) servo.stiffness = fmin(servo.stiffness, facts.most_stiffness);
    if (!(h->servo = pli_servo_create(&h->host, &servo, err))) return err->status;
    return (h->touch = pli_touch_create(&h->host, h->body.body, err)) ? PLI_OK : err->status;
}

void pli_hold_close(PliHold *h)
{
    pli_touch_destroy(h->touch);
    pli_device_close(h->device);
    pli_servo_destroy(h->servo);
    *h = (PliHold){ 0 };
}

void pli_hold_place(PliHold *h, double place[3])
{
    PliServoOutput hand;
    (void)pli_servo_look(h->servo, &hand);
    v3_copy(place, hand.proxy);
}

void pli_hold_model(PliHold *h, bool broken)
{
    if (broken)
        h->model.broken = true;
    else
        pli_touch_model(h->touch, h->body.x, h->body.v, &h->body.tools[h->tool], h->dt, &h->model);
}
