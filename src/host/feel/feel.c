/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/feel/feel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/timer.h"
#include "base/vec.h"
#include "host/feel/hold.h"
#include "host/graph/component.h"
#include "host/graph/simulation.h"
#include "output/interrupt.h"

enum { BODIES = 64, SETS = 2 * BODIES };

typedef struct Session {
    PliHost host;
    const PliFeelDef *def;
    PliFeel *out;
    PliScene *scene;
    PliHold hold;
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

// ---- one step ------------------------------------------------------------------------------------------------------------------

static void note_step(Session *s, double ms, const PliStats *before)
{
    PliFeel *o = s->out;
    const PliStats now = pli_body_stats(s->hold.body.body);
    if (now.refined != before->refined || now.coarsened != before->coarsened) o->events++;
    if (o->step_count == o->step_capacity) return;
    const PliTool *tool = &s->hold.body.tools[s->def->tool];
    o->step[o->step_count++] = (PliFeelStep){ .time = s->scene->time,
                                              .force = v3_norm(tool->force),
                                              .stiffness = pli_touch_stiffness(s->hold.touch),
                                              .ms = ms,
                                              .revision = s->hold.model.revision,
                                              .refined = (PliIndex)(now.refined - before->refined),
                                              .coarsened = (PliIndex)(now.coarsened - before->coarsened) };
}

/// The tool goes where the proxy is, the scene makes a step, and what the hand will feel of it is in s->hold.model.
static void step(Session *s)
{
    double place[3];
    const PliStats before = pli_body_stats(s->hold.body.body);
    const double start = pli_wall_ms();
    if (s->over) return;
    pli_hold_place(&s->hold, place);
    pli_scene_lead(s->scene, s->hold.number, s->def->tool, place);
    s->out->status = pli_scene_step(s->scene, &s->out->error);
    s->over = s->out->status != PLI_OK;
    pli_hold_model(&s->hold, s->over);
    if (s->over) return;
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
            if (any) pli_servo_publish(s->hold.servo, &s->hold.model);
            due += s->over ? 0.01 : s->scene->dt; // one that is broken says so again and again
            step(s);
            any = true;
        }
        PliHapticSample sample;
        PliServoOutput out;
        double force[3], torque[3];
        pli_device_read(s->hold.device, period, &sample);
        pli_servo_tick(s->hold.servo, &sample, period, force);
        pli_servo_torque(s->hold.servo, torque);
        pli_device_turn(s->hold.device, torque);
        pli_device_write(s->hold.device, force);
        (void)pli_servo_look(s->hold.servo, &out); // this thread is the simulation, too
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

/// s since the system started, all processors: what the host of a virtual machine gave to others.
static double stolen_time(void)
{
    double ticks = NAN;
    FILE *in = fopen("/proc/stat", "r");
    if (!in) return NAN;
    if (fscanf(in, "cpu %*f %*f %*f %*f %*f %*f %*f %lf", &ticks) != 1) ticks = NAN;
    fclose(in);
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

static PliStatus run_live(Session *s, PliError *err)
{
    PliFeel *o = s->out;
    PliLoop *loop = pli_loop_start(&s->host, s->hold.device, s->hold.servo, s->def->rate, o->tick_capacity, err);
    if (!loop) return err->status;
    const double stolen = stolen_time(), start = pli_wall_ms(), end = start + 1e3 * s->def->seconds;
    double due = start, last = start;
    while (pli_wall_ms() < end && !pli_interrupted()) {
        step(s);
        const double now = pli_wall_ms();
        s->hold.model.period =
            s->over ? 0.01 : fmax(s->scene->dt, 1e-3 * (now - last)); // as it is, not as it should be
        last = now;
        pli_servo_publish(s->hold.servo, &s->hold.model);
        due = fmax(due + (s->over ? 10.0 : 1e3 * s->scene->dt), now - 1e3 * s->scene->dt);
        wait_until(fmin(due, end));
    }
    pli_loop_stop(loop);
    o->loop = pli_loop_stats(loop);
    o->stolen = stolen_time() - stolen;
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
    if (!status) status = reserve(s, err);
    const PliHoldDef hold = { s->def->body, s->def->tool, s->def->device, s->def->seconds, s->def->servo };
    if (!status) status = pli_hold_open(&s->hold, &s->host, s->scene, s->scene->dt, &hold, err);
    if (!status) status = pli_scene_start(s->scene, err);
    if (status) return status;
    snprintf(s->out->device, sizeof s->out->device, "%s", pli_device_facts(s->hold.device).model);
    snprintf(s->out->body, sizeof s->out->body, "%s", s->hold.body.name);
    snprintf(s->out->scheme, sizeof s->out->scheme, "%s", pli_body_scheme(s->hold.body.body));
    if (s->def->offline)
        run_offline(s);
    else
        status = run_live(s, err);
    (void)pli_device_status(s->hold.device, &s->out->device_error);
    if (!status) judge(s);
    return status;
}

PliStatus pli_feel_run(const PliHost *host, const char *path, const PliSceneDef *scene_def, const PliFeelDef *def,
                       PliFeel *out, PliError *err)
{
    Session s = { .host = *host, .def = def, .out = out };
    *out = (PliFeel){ 0 };
    const PliStatus status = run(&s, path, scene_def, err);
    pli_hold_close(&s.hold);
    pli_scene_destroy(s.scene);
    return status;
}

void pli_feel_free(const PliHost *host, PliFeel *f)
{
    PLI_FREE(host, f->tick, f->tick_capacity);
    PLI_FREE(host, f->step, f->step_capacity);
}
