/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/feel/feel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/timer.h"
#include "base/vec.h"
#include "host/components/bodies.h"
#include "host/graph/component.h"
#include "host/graph/simulation.h"
#include "output/interrupt.h"

enum { BODIES = 64, SETS = 2 * BODIES };

typedef struct Session {
    PliHost host;
    const PliFeelDef *def;
    PliFeel *out;
    PliScene *scene;
    PliSceneBody body;
    int number;
    PliTouch *touch;
    PliServo *servo;
    PliDevice *device;
    PliHapticModel model;
    bool over; ///< the body diverged: steps have ended, ticks go on
} Session;

PliFeelDef pli_feel_default(void)
{
    return (PliFeelDef){ .device = "dummy", .servo = pli_servo_default(), .rate = 1000.0, .seconds = 10.0 };
}

// ---- the scene -----------------------------------------------------------------------------------------------------------------

static PliStatus load(Session *s, const char *path, const PliSceneDef *def, PliError *err)
{
    PliStatus status;
    s->scene = pli_scene_load(&s->host, path, def, &status);
    if (!s->scene) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the scene %s", path);
    return status ? pli_scene_refuse(s->scene, status, err) : PLI_OK;
}

/// Names of the bodies' nodes, from the graph alone.
static PliStatus switch_others_off(Session *s, const char *path, PliSceneDef *def, PliOverride *set, char (*text)[96],
                                   PliError *err)
{
    PliSceneDef look = *def;
    PliStatus status;
    look.graph_only = true;
    look.allow_unsupported = true;
    PliScene *graph = pli_scene_load(&s->host, path, &look, &status);
    if (!graph) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the scene %s", path);
    if (status) {
        pli_scene_refuse(graph, status, err);
        pli_scene_destroy(graph);
        return status;
    }
    bool found = false;
    int count = 0;
    for (int i = 0; i < def->override_count && count < SETS; ++i) set[count++] = def->overrides[i];
    for (const PliNode *node = graph->root->first; node; node = node->next) {
        if (!node->active || !pli_subtree_find((PliNode *)node, PLI_ROLE_MODEL)) continue;
        if (strcmp(node->name, s->def->body) == 0) {
            found = true;
        } else if (count < SETS) {
            snprintf(text[count], sizeof text[count], "@%.80s.activated", node->name);
            set[count] = (PliOverride){ text[count], "0" };
            ++count;
        }
    }
    pli_scene_destroy(graph);
    if (!found) return pli_refuse(err, PLI_BAD_ARGUMENT, "%s has no body %s below its root", path, s->def->body);
    def->overrides = set;
    def->override_count = count;
    def->allow_unsupported = true; // what is outside the profile belongs to bodies that are switched off
    return PLI_OK;
}

static PliStatus choose_body(Session *s, const char *path, PliError *err)
{
    PliSceneBody all[BODIES];
    const int count = pli_scene_bodies(s->scene, all, BODIES);
    for (int i = 0; i < count && i < BODIES; ++i) {
        if (s->def->body && strcmp(all[i].name, s->def->body) != 0) continue;
        if (all[i].tool_count <= s->def->tool) {
            if (s->def->body) break;
            continue;
        }
        s->body = all[i];
        s->number = i;
        if (all[i].tools[s->def->tool].shape == PLI_TOOL_PLANE)
            return pli_refuse(err, PLI_UNSUPPORTED, "%s: tool %d is a plane, and a hand holds a sphere", path,
                              s->def->tool);
        return PLI_OK;
    }
    return pli_refuse(err, PLI_BAD_ARGUMENT,
                      "%s has no body%s%s with a tool number %d: a hand needs a SphereTool to hold", path,
                      s->def->body ? " " : "", s->def->body ? s->def->body : "", s->def->tool);
}

// ---- one step ------------------------------------------------------------------------------------------------------------------

static void note_step(Session *s, double ms, const PliStats *before)
{
    PliFeel *o = s->out;
    const PliStats now = pli_body_stats(s->body.body);
    if (now.refined != before->refined || now.coarsened != before->coarsened) o->events++;
    if (o->step_count == o->step_capacity) return;
    const PliTool *tool = &s->body.tools[s->def->tool];
    o->step[o->step_count++] = (PliFeelStep){ .time = s->scene->time,
                                              .force = v3_norm(tool->force),
                                              .stiffness = pli_touch_stiffness(s->touch),
                                              .ms = ms,
                                              .revision = s->model.revision,
                                              .refined = (PliIndex)(now.refined - before->refined),
                                              .coarsened = (PliIndex)(now.coarsened - before->coarsened) };
}

/// The tool goes where the proxy is, the scene makes a step, and what the hand will feel of it is in s->model.
static void step(Session *s)
{
    PliServoOutput hand;
    const PliStats before = pli_body_stats(s->body.body);
    const double start = pli_wall_ms();
    if (s->over) return;
    (void)pli_servo_look(s->servo, &hand);
    pli_scene_lead(s->scene, s->number, s->def->tool, hand.proxy);
    s->out->status = pli_scene_step(s->scene, &s->out->error);
    if (s->out->status) {
        s->over = true;
        s->model.broken = true;
        return;
    }
    pli_touch_model(s->touch, s->body.x, s->body.v, &s->body.tools[s->def->tool], s->scene->dt, &s->model);
    note_step(s, pli_wall_ms() - start, &before);
    if (s->def->progress) s->def->progress(s->scene->time, s->def->progress_user);
}

// ---- off line ------------------------------------------------------------------------------------------------------------------

static void keep_tick(Session *s, const PliServoOutput *o, double gap)
{
    PliFeel *f = s->out;
    if (f->tick_count == f->tick_capacity) return;
    f->tick[f->tick_count++] = pli_tick_of(o, o->time, gap);
}

/// A step ends when its time is over, and only then is its model there.
static void run_offline(Session *s)
{
    const double period = 1.0 / s->def->rate;
    const long ticks = (long)(s->def->seconds * s->def->rate + 0.5);
    double due = 0.0;
    bool any = false;
    for (long i = 0; i < ticks && !pli_interrupted(); ++i) {
        if ((double)i * period >= due - 1e-9) {
            if (any) pli_servo_publish(s->servo, &s->model);
            due += s->over ? 0.01 : s->scene->dt; // one that is broken says so again and again
            step(s);
            any = true;
        }
        PliHapticSample sample;
        PliServoOutput out;
        double force[3];
        pli_device_read(s->device, period, &sample);
        pli_servo_tick(s->servo, &sample, period, force);
        pli_device_write(s->device, force);
        (void)pli_servo_look(s->servo, &out); // this thread is the simulation, too
        keep_tick(s, &out, period);
    }
}

// ---- in real time ----------------------------------------------------------------------------------------------------------------

static void wait_until(double ms)
{
    const double left = ms - pli_wall_ms();
    if (left <= 0.0) return;
    nanosleep(&(struct timespec){ .tv_sec = (time_t)(left / 1e3), .tv_nsec = (long)(1e6 * fmod(left, 1e3)) }, NULL);
}

static PliStatus run_live(Session *s, PliError *err)
{
    PliFeel *o = s->out;
    PliLoop *loop = pli_loop_start(&s->host, s->device, s->servo, s->def->rate, o->tick_capacity, err);
    if (!loop) return err->status;
    const double start = pli_wall_ms(), end = start + 1e3 * s->def->seconds;
    double due = start, last = start;
    while (pli_wall_ms() < end && !pli_interrupted()) {
        step(s);
        const double now = pli_wall_ms();
        s->model.period = s->over ? 0.01 : fmax(s->scene->dt, 1e-3 * (now - last)); // as it is, not as it should be
        last = now;
        pli_servo_publish(s->servo, &s->model);
        due = fmax(due + (s->over ? 10.0 : 1e3 * s->scene->dt), now - 1e3 * s->scene->dt);
        wait_until(fmin(due, end));
    }
    pli_loop_stop(loop);
    o->loop = pli_loop_stats(loop);
    size_t count;
    const PliTick *trace = pli_loop_trace(loop, &count);
    if (count) memcpy(o->tick, trace, count * sizeof *trace);
    o->tick_count = count;
    pli_loop_destroy(loop);
    return PLI_OK;
}

// ---- what it was like --------------------------------------------------------------------------------------------------------------

static double distance(const float a[3], const float b[3])
{
    const double d[3] = { (double)a[0] - b[0], (double)a[1] - b[1], (double)a[2] - b[2] };
    return v3_norm(d);
}

/// Turns of the force by more than a tenth of a newton, in any second.
static double count_turns(const PliFeel *f)
{
    double turn = 0.0, most = 0.0;
    int slope = 0;
    size_t first = 0, turns = 0;
    static const double LEAST = 0.1;
    for (size_t i = 0; i < f->tick_count; ++i) {
        static const float none[3] = { 0.0f, 0.0f, 0.0f };
        const double size = distance(f->tick[i].force, none), change = size - turn;
        if (fabs(change) > LEAST) {
            const int now = change > 0.0 ? 1 : -1;
            turns += slope && now != slope;
            slope = now, turn = size;
        } else if ((change > 0.0) == (slope > 0)) {
            turn = size;
        }
        if (f->tick[i].time - f->tick[first].time >= 1.0) {
            most = fmax(most, (double)turns);
            first = i, turns = 0;
        }
    }
    return fmax(most, (double)turns);
}

static void judge(Session *s)
{
    PliFeel *f = s->out;
    size_t next = 0;
    double event = -INFINITY;
    f->excess = f->event_excess = 0.0;
    for (size_t i = 0; i < f->tick_count; ++i) {
        const PliTick *t = &f->tick[i];
        static const float none[3] = { 0.0f, 0.0f, 0.0f };
        f->largest_force = fmax(f->largest_force, distance(t->force, none));
        f->least_energy = fmin(f->least_energy, (double)t->energy);
        if (i == 0 || !(t->gap > 0.0f)) continue;
        for (; next < f->step_count && f->step[next].time <= t->time; ++next)
            if (f->step[next].refined || f->step[next].coarsened) event = f->step[next].time;
        const double excess =
            (distance(t->force, t[-1].force) - s->def->servo.stiffness * distance(t->hand, t[-1].hand)) * 1e-3 /
            (double)t->gap;
        if (t->state != PLI_SERVO_RUNNING) continue; // decays have their own law
        f->excess = fmax(f->excess, excess);
        if (t->time - event < 0.1) f->event_excess = fmax(f->event_excess, excess);
    }
    f->turns = count_turns(f);
}

static PliStatus open_device(Session *s, PliError *err)
{
    const PliFeelDef *d = s->def;
    enum { EVERY = 200 }; // points of the path in a second
    const size_t count = (size_t)(d->seconds * EVERY) + 2;
    double *time = PLI_NEW(&s->host, count, double), *point = PLI_NEW(&s->host, 3 * count, double), home[3];
    if (time && point) {
        pli_scene_tool_path(s->scene, s->number, d->tool, 0.0, home);
        for (size_t i = 0; i < count; ++i) {
            time[i] = (double)i / EVERY;
            pli_scene_tool_path(s->scene, s->number, d->tool, time[i], point + 3 * i);
            for (int c = 0; c < 3; ++c) point[3 * i + c] = (point[3 * i + c] - home[c]) / d->servo.scale;
        }
        const PliHandPath path = { time, point, count };
        s->device = pli_device_open(&s->host, d->device, &path, err);
    } else {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the path of a hand");
    }
    PLI_FREE(&s->host, time, count);
    PLI_FREE(&s->host, point, 3 * count);
    if (!s->device) return err->status;
    const PliDeviceFacts facts = pli_device_facts(s->device);
    snprintf(s->out->device, sizeof s->out->device, "%s", facts.model);
    PliServoDef servo = d->servo;
    v3_copy(servo.home, home);
    if (facts.peak_force > 0.0) servo.peak_force = fmin(servo.peak_force, facts.peak_force);
    if (facts.continuous_force > 0.0) servo.continuous_force = fmin(servo.continuous_force, facts.continuous_force);
    if (facts.most_stiffness > 0.0) servo.stiffness = fmin(servo.stiffness, facts.most_stiffness);
    s->servo = pli_servo_create(&s->host, &servo, err);
    return s->servo ? PLI_OK : err->status;
}

static PliStatus reserve(Session *s, PliError *err)
{
    PliFeel *f = s->out;
    f->tick_capacity = (size_t)(s->def->seconds * s->def->rate * 1.01) + 10;
    f->step_capacity = (size_t)(s->def->seconds / fmax(1e-5, s->scene->dt)) + 10;
    f->tick = PLI_NEW(&s->host, f->tick_capacity, PliTick);
    f->step = PLI_NEW(&s->host, f->step_capacity, PliFeelStep);
    return f->tick && f->step ? PLI_OK
                              : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to keep %zu ticks", f->tick_capacity);
}

static PliStatus run(Session *s, const char *path, const PliSceneDef *scene_def, PliError *err)
{
    PliSceneDef def = *scene_def;
    PliOverride set[SETS];
    char text[SETS][96];
    PliStatus status = PLI_OK;
    if (s->def->body) status = switch_others_off(s, path, &def, set, text, err);
    if (!status) status = load(s, path, &def, err);
    if (!status) status = choose_body(s, path, err);
    if (!status) status = reserve(s, err);
    if (!status) status = open_device(s, err);
    if (!status && !(s->touch = pli_touch_create(&s->host, s->body.body, err))) status = err->status;
    if (!status) status = pli_scene_start(s->scene, err);
    if (status) return status;
    snprintf(s->out->body, sizeof s->out->body, "%s", s->body.name);
    snprintf(s->out->scheme, sizeof s->out->scheme, "%s", pli_body_scheme(s->body.body));
    if (s->def->offline)
        run_offline(s);
    else
        status = run_live(s, err);
    (void)pli_device_status(s->device, &s->out->device_error);
    if (!status) judge(s);
    return status;
}

PliStatus pli_feel_run(const PliHost *host, const char *path, const PliSceneDef *scene_def, const PliFeelDef *def,
                       PliFeel *out, PliError *err)
{
    Session s = { .host = *host, .def = def, .out = out };
    *out = (PliFeel){ 0 };
    const PliStatus status = run(&s, path, scene_def, err);
    pli_touch_destroy(s.touch);
    pli_device_close(s.device);
    pli_servo_destroy(s.servo);
    pli_scene_destroy(s.scene);
    return status;
}

void pli_feel_free(const PliHost *host, PliFeel *f)
{
    PLI_FREE(host, f->tick, f->tick_capacity);
    PLI_FREE(host, f->step, f->step_capacity);
}
