/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// One tick of the servo: hand -> proxy -> force. Laws only; who calls it, and how often, is in loop.c.
#include <math.h>
#include <string.h>

#include <pliant/haptics.h>

#include "base/memory.h"
#include "base/vec.h"
#include "haptics/device.h"

/// A plane on its way from one model to the next. What comes or goes does so by its strength.
typedef struct Plane {
    double normal[3], offset, compliance, strength, arm[3];
} Plane;

struct PliServo {
    PliHost host;
    PliServoDef def;
    // the simulation's models
    PliMailbox models;
    PliHapticModel model[3];
    // the servo's outputs
    PliMailbox outputs;
    PliServoOutput output[3], now;
    atomic_uint pressed;
    uint32_t buttons;
    // the tick's own
    Plane plane[PLI_HAPTIC_PLANES], from[PLI_HAPTIC_PLANES], to[PLI_HAPTIC_PLANES];
    double multiplier[PLI_HAPTIC_PLANES]; ///< N, of the last tick
    double blended, blend;                ///< s, since the last model; in which it takes over
    double age;                           ///< s, of the last model
    uint64_t revision;
    bool any, broken, first;
    double spring[3]; ///< N, of the coupling in the last tick
    double gate;      ///< 0 .. 1, of the whole force
    double heat;      ///< 0 .. 1, of what the motors can take above their continuous force
};

PliServoDef pli_servo_default(void)
{
    return (PliServoDef){ .stiffness = 300.0,
                          .damping = 1e-3,
                          .peak_force = 3.3,
                          .peak_torque = 0.2,
                          .continuous_force = 0.88,
                          .heat_time = 10.0,
                          .slew = 18.0,
                          .ramp = 0.25,
                          .patience = 0.1,
                          .decay = 0.045,
                          .blend = 0.05,
                          .scale = 1.0 };
}

static PliStatus check_range(const char *name, double value, double least, double most, PliError *err)
{
    if (value >= least && value <= most) return PLI_OK; // a NaN is not
    return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=%g of a servo must be in %g .. %g", name, value, least, most);
}

PliStatus pli_servo_def_check(const PliServoDef *d, PliError *err)
{
    const struct {
        const char *name;
        double value, least, most;
    } row[] = {
        { "stiffness", d->stiffness, 1e-3, 1e5 },
        { "damping", d->damping, 0.0, 0.1 },
        { "peak_force", d->peak_force, 0.0, 1e3 },
        { "continuous_force", d->continuous_force, 0.0, d->peak_force },
        { "peak_torque", d->peak_torque, 0.0, 1e3 },
        { "heat_time", d->heat_time, 1e-2, 1e6 },
        { "slew", d->slew, 1e-3, 1e6 },
        { "ramp", d->ramp, 1e-3, 60.0 },
        { "patience", d->patience, 2e-3, 60.0 },
        { "decay", d->decay, 1e-3, 60.0 },
        { "blend", d->blend, 0.0, 10.0 },
        { "scale", d->scale, 1e-6, 1e6 },
        { "home", d->home[0] + d->home[1] + d->home[2], -1e9, 1e9 },
    };
    PliStatus status = PLI_OK;
    for (size_t i = 0; i < sizeof row / sizeof *row && !status; ++i)
        status = check_range(row[i].name, row[i].value, row[i].least, row[i].most, err);
    return status;
}

const char *pli_servo_state_name(PliServoState state)
{
    static const char *const name[] = { "waiting", "running", "stalled", "broken", "unplugged" };
    return (unsigned)state < sizeof name / sizeof *name ? name[state] : "unknown";
}

PliServo *pli_servo_create(const PliHost *host, const PliServoDef *def, PliError *err)
{
    if (pli_servo_def_check(def, err)) return NULL;
    PliServo *s = PLI_NEW(host, 1, PliServo);
    if (!s) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a servo");
        return NULL;
    }
    s->host = *host;
    s->def = *def;
    pli_mailbox_init(&s->models);
    pli_mailbox_init(&s->outputs);
    atomic_init(&s->pressed, 0);
    s->first = true;
    for (int i = 0; i < 3; ++i) {
        s->output[i].orientation[3] = 1.0;
        v3_copy(s->output[i].hand, def->home);
        v3_copy(s->output[i].proxy, def->home);
    }
    s->now = s->output[0];
    return s;
}

void pli_servo_destroy(PliServo *s)
{
    if (!s) return;
    const PliHost host = s->host;
    PLI_FREE(&host, s, 1);
}

// ---- the simulation's side ---------------------------------------------------------------------------------------------------

void pli_servo_publish(PliServo *s, const PliHapticModel *model)
{
    s->model[s->models.writer] = *model;
    pli_mailbox_post(&s->models);
}

bool pli_servo_look(PliServo *s, PliServoOutput *out)
{
    const bool fresh = pli_mailbox_take(&s->outputs);
    *out = s->output[s->outputs.reader];
    return fresh;
}

const PliServoOutput *pli_servo_now(const PliServo *s) { return &s->now; }

PliTick pli_tick_of(const PliServoOutput *o, double time, double gap)
{
    PliTick t = { .time = time,
                  .model_force = (float)v3_norm(o->model_force),
                  .energy = (float)o->energy,
                  .gap = (float)gap,
                  .state = (uint8_t)o->state };
    for (int c = 0; c < 3; ++c) {
        t.hand[c] = (float)o->hand[c];
        t.proxy[c] = (float)o->proxy[c];
        t.force[c] = (float)o->force[c];
    }
    return t;
}

uint32_t pli_servo_pressed(PliServo *s) { return atomic_exchange_explicit(&s->pressed, 0, memory_order_relaxed); }

// ---- the local model ---------------------------------------------------------------------------------------------------------

static bool is_usable(const PliHapticPlane *p)
{
    const double sum =
        p->normal[0] + p->normal[1] + p->normal[2] + p->offset + p->compliance + p->arm[0] + p->arm[1] + p->arm[2];
    return p->present && isfinite(sum) && p->compliance >= 0.0 && v3_norm(p->normal) > 0.5;
}

static void aim(PliServo *s, const PliHapticModel *m)
{
    for (int i = 0; i < PLI_HAPTIC_PLANES; ++i) {
        const PliHapticPlane *p = &m->plane[i];
        Plane *to = &s->to[i];
        s->from[i] = s->plane[i];
        if (!is_usable(p)) {
            *to = s->plane[i]; // goes where it is
            to->strength = 0.0;
            continue;
        }
        v3_copy(to->normal, p->normal);
        v3_scale(to->normal, 1.0 / v3_norm(p->normal));
        to->offset = p->offset;
        to->compliance = p->compliance;
        v3_copy(to->arm, p->arm);
        to->strength = 1.0;
        if (s->plane[i].strength == 0.0) {
            s->from[i] = *to; // comes where it will be: nothing touches it yet, or its strength grows
            s->from[i].strength = 0.0;
        }
    }
}

/// A plane that has been untouched may come at once: nobody feels it.
static bool is_untouched(const PliServo *s, const double hand[3])
{
    for (int i = 0; i < PLI_HAPTIC_PLANES; ++i) {
        if (s->to[i].strength > 0.0 && v3_dot(s->to[i].normal, hand) < s->to[i].offset) return false;
        if (s->plane[i].strength > 0.0 && v3_dot(s->plane[i].normal, hand) < s->plane[i].offset) return false;
    }
    return true;
}

static void take_model(PliServo *s, const double hand[3])
{
    if (!pli_mailbox_take(&s->models)) return;
    const PliHapticModel *m = &s->model[s->models.reader];
    s->broken = m->broken || !isfinite(m->period);
    s->age = 0.0;
    if (s->broken) return;
    aim(s, m);
    // one period, so that a model has taken over when the next one comes; a refined one takes its time
    s->blend = fmin(fmax(m->period, 1e-3), 0.1);
    if (s->any && m->revision != s->revision) s->blend = fmax(s->blend, s->def.blend);
    if (is_untouched(s, hand)) s->blend = 0.0;
    s->revision = m->revision;
    s->blended = 0.0;
    s->any = true;
}

static void blend_planes(PliServo *s, double dt)
{
    s->blended += dt;
    const double t = s->blend > 0.0 ? fmin(1.0, s->blended / s->blend) : 1.0;
    for (int i = 0; i < PLI_HAPTIC_PLANES; ++i) {
        Plane *p = &s->plane[i];
        const Plane *a = &s->from[i], *b = &s->to[i];
        for (int c = 0; c < 3; ++c) {
            p->normal[c] = (1.0 - t) * a->normal[c] + t * b->normal[c];
            p->arm[c] = (1.0 - t) * a->arm[c] + t * b->arm[c];
        }
        const double length = v3_norm(p->normal);
        if (length > 1e-3)
            v3_scale(p->normal, 1.0 / length);
        else
            v3_copy(p->normal, b->normal);
        p->offset = (1.0 - t) * a->offset + t * b->offset;
        p->compliance = (1.0 - t) * a->compliance + t * b->compliance;
        p->strength = (1.0 - t) * a->strength + t * b->strength;
    }
}

/// The proxy is where the coupling and the planes balance: gaps normal . proxy - offset + compliance force >= 0, forces >= 0, one of
/// both 0. Forces by projected Gauss-Seidel from those of the last tick; four planes at most.
static void find_proxy(PliServo *s, const double hand[3], double proxy[3], double spring[3])
{
    enum { ROUNDS = 60 };
    const double soft = 1.0 / s->def.stiffness;
    double *f = s->multiplier;
    v3_copy(proxy, hand);
    for (int i = 0; i < PLI_HAPTIC_PLANES; ++i) {
        if (s->plane[i].strength == 0.0) f[i] = 0.0;
        v3_madd(proxy, f[i] * soft, s->plane[i].normal);
    }
    for (int k = 0; k < ROUNDS; ++k) {
        double most = 0.0;
        for (int i = 0; i < PLI_HAPTIC_PLANES; ++i) {
            const Plane *p = &s->plane[i];
            if (p->strength == 0.0) continue;
            const double gap = v3_dot(p->normal, proxy) - p->offset + p->compliance * f[i];
            const double next = fmax(0.0, f[i] - gap / (soft + p->compliance)), change = next - f[i];
            f[i] = next;
            v3_madd(proxy, change * soft, p->normal);
            most = fmax(most, fabs(change));
        }
        if (most <= 1e-12) break;
    }
    spring[0] = spring[1] = spring[2] = 0.0;
    for (int i = 0; i < PLI_HAPTIC_PLANES; ++i) v3_madd(spring, s->plane[i].strength * f[i], s->plane[i].normal);
}

// ---- the force ---------------------------------------------------------------------------------------------------------------

static void clamp_length(double f[3], double most)
{
    const double size = v3_norm(f);
    if (size > most) v3_scale(f, most / size);
}

/// Changes `f` so that it differs from `last` by at most `most`.
static void clamp_change(double f[3], const double last[3], double most)
{
    double d[3];
    v3_sub(d, f, last);
    clamp_length(d, most);
    v3_add(f, last, d);
}

static double motor_limit(PliServo *s, const double force[3], double dt)
{
    const PliServoDef *d = &s->def;
    const double c = d->continuous_force;
    if (!(c > 0.0)) return d->peak_force; // nothing is said about it
    const double load = v3_dot(force, force) / (c * c);
    s->heat = fmin(1.0, fmax(0.0, s->heat + dt * (load - 1.0) / (9.0 * d->heat_time)));
    return c + (d->peak_force - c) * (1.0 - s->heat);
}

static PliServoState state_of(PliServo *s, const PliHapticSample *in, double dt)
{
    s->age += dt;
    if (!in->connected) return PLI_SERVO_UNPLUGGED;
    if (s->broken) return PLI_SERVO_BROKEN;
    if (!s->any) return PLI_SERVO_WAITING;
    return s->age > s->def.patience ? PLI_SERVO_STALLED : PLI_SERVO_RUNNING;
}

/// Energy that left through the force held since the last tick; damping for what is missing, as much as one tick may stop.
static void keep_passive(const PliServo *s, const double way[3], double dt, double force[3])
{
    const double owed = -s->now.energy, speed2 = v3_dot(way, way) / (dt * dt);
    if (!s->def.control || owed <= 0.0 || speed2 < 1e-12) return;
    const double most = 0.5 * s->def.stiffness * dt; // more would be active in itself
    const double damping = fmin(most, owed / (speed2 * dt));
    v3_madd(force, -damping / dt, way);
}

static void latch_buttons(PliServo *s, uint32_t buttons)
{
    const uint32_t down = buttons & ~s->buttons;
    s->buttons = buttons;
    if (down) atomic_fetch_or_explicit(&s->pressed, down, memory_order_relaxed);
}

static bool is_good(const PliHapticSample *in)
{
    return in->connected && isfinite(in->position[0] + in->position[1] + in->position[2]);
}

/// From the force the model asks for to the one that is given.
static void shape_force(PliServo *s, const double spring[3], const double way[3], double dt, double force[3])
{
    const PliServoDef *d = &s->def;
    PliServoOutput *o = &s->now;
    const bool fades = o->state != PLI_SERVO_RUNNING;
    s->gate = fades ? fmax(0.0, s->gate - dt / d->decay) : fmin(1.0, s->gate + dt / d->ramp);
    v3_copy(force, spring);
    double change[3];
    v3_sub(change, spring, s->spring);
    v3_madd(force, d->damping / dt, change); // the coupling's damper, between hand and proxy
    v3_scale(force, s->gate);
    keep_passive(s, way, dt, force);
    o->limit = motor_limit(s, o->force, dt);
    clamp_length(force, o->limit);
    double most = d->stiffness * v3_norm(way) + d->slew * dt;
    if (fades) most += v3_norm(o->force) * dt / (d->decay * fmax(s->gate, dt / d->decay));
    clamp_change(force, o->force, most);
    if (fades) clamp_length(force, v3_norm(o->force)); // and never grows
    if (fades && s->gate == 0.0) force[0] = force[1] = force[2] = 0.0;
}

/// What the planes turn the tool by, with the ramp and the limits of the force: where motors give less than the `spring` asks for, the
/// torque is as much less. It changes by no more than the longest lever times what a force may.
static void shape_torque(PliServo *s, const double spring[3], const double way[3], double dt, double torque[3])
{
    const PliServoDef *d = &s->def;
    PliServoOutput *o = &s->now;
    const bool fades = o->state != PLI_SERVO_RUNNING;
    const double asked = s->gate * v3_norm(spring), given = asked > o->limit ? o->limit / asked : 1.0;
    double lever = 0.0;
    torque[0] = torque[1] = torque[2] = 0.0;
    for (int i = 0; i < PLI_HAPTIC_PLANES; ++i) {
        const Plane *p = &s->plane[i];
        double turn[3];
        if (p->strength == 0.0) continue;
        v3_cross(turn, p->arm, p->normal);
        v3_madd(torque, given * s->gate * p->strength * s->multiplier[i], turn);
        lever = fmax(lever, v3_norm(p->arm));
    }
    clamp_length(torque, d->peak_torque);
    double most = lever * (d->stiffness * v3_norm(way) + d->slew * dt);
    if (fades)
        most += d->peak_torque * dt / d->decay;
    else if (lever == 0.0)
        most += d->peak_torque * dt / d->ramp; // nothing has a lever any more
    clamp_change(torque, o->torque, most);
    if (fades) clamp_length(torque, v3_norm(o->torque)); // and never grows
    if (fades && s->gate == 0.0) torque[0] = torque[1] = torque[2] = 0.0;
}

void pli_servo_torque(const PliServo *s, double torque[3]) { v3_copy(torque, s->now.torque); }

void pli_servo_tick(PliServo *s, const PliHapticSample *in, double dt, double force[3])
{
    PliServoOutput *o = &s->now;
    double hand[3], way[3], spring[3], torque[3];
    v3_copy(hand, o->hand);
    if (is_good(in)) {
        for (int c = 0; c < 3; ++c) hand[c] = s->def.home[c] + s->def.scale * in->position[c];
        memcpy(o->orientation, in->orientation, sizeof o->orientation);
        latch_buttons(s, in->buttons);
    }
    if (s->first) v3_copy(o->hand, hand);
    s->first = false;
    v3_sub(way, hand, o->hand);
    o->energy -= v3_dot(o->force, way) / s->def.scale; // what was held since the last tick, on the way of the hand
    v3_copy(o->hand, hand);
    take_model(s, hand);
    blend_planes(s, dt);
    o->state = is_good(in) ? state_of(s, in, dt) : PLI_SERVO_UNPLUGGED;
    find_proxy(s, hand, o->proxy, spring);
    shape_force(s, spring, way, dt, force);
    shape_torque(s, spring, way, dt, torque);
    v3_copy(s->spring, spring);
    v3_copy(o->model_force, spring);
    if (!is_good(in)) {
        force[0] = force[1] = force[2] = 0.0, s->gate = 0.0;
        torque[0] = torque[1] = torque[2] = 0.0;
    }
    v3_copy(o->force, force);
    v3_copy(o->torque, torque);
    o->buttons = s->buttons;
    o->tick++;
    o->time += dt;
    s->output[s->outputs.writer] = *o;
    pli_mailbox_post(&s->outputs);
}
