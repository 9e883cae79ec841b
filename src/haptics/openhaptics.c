/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Touch, Omni, Desktop and Premium by OpenHaptics' libHD, opened when somebody asks for one. Prototypes and numbers are our own,
// after the reference manual of HD 3.0 and its headers; no vendor file is needed to build.
// The library ticks by itself: reading, servo and writing happen in one callback of its scheduler, inside one frame.
// It is never closed: a second load in one process fails.
// A device that went away is asked for again, from a thread of our own and with the scheduler at rest, until it is back.
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "haptics/device.h"

typedef struct HdError {
    unsigned code;
    int internal;
    unsigned device;
} HdError; ///< returned by value

typedef unsigned (*HdCallback)(void *user);
enum { HD_DONE = 0, HD_CONTINUE = 1, HD_PRIORITY = 65535 };
static const unsigned HD_NO_DEVICE = 0xffffffffu;

enum {
    HD_BUTTONS = 0x2000,
    HD_POSITION = 0x2050,
    HD_TRANSFORM = 0x2052,
    HD_MODEL = 0x2501,
    HD_OUTPUT_DOF = 0x2554,
    HD_CALIBRATION_STYLE = 0x2555,
    HD_MOST_STIFFNESS = 0x2602,
    HD_MOST_FORCE = 0x2603,
    HD_CONTINUOUS_FORCE = 0x2604,
    HD_FORCE = 0x2700,
    HD_TORQUE = 0x2701, ///< mN m
    HD_FORCE_OUTPUT = 0x4000,
    HD_FORCE_CLAMPING = 0x4001,
    HD_CALIBRATED = 0x5000,
    HD_NEEDS_UPDATE = 0x5001,
    HD_NEEDS_HAND = 0x5002,
    HD_ALREADY = 0x301
};
enum { POLL_NS = 20000000, RETRY_POLLS = 25 }; ///< a lost device is asked for twice a second
/// Faults of our own, beside the library's codes.
enum { FAULT_UPDATE = 0x10000, FAULT_HAND = 0x10001 };

static const char *const HD[] = { "hdInitDevice",        "hdDisableDevice",
                                  "hdMakeCurrentDevice", "hdBeginFrame",
                                  "hdEndFrame",          "hdGetError",
                                  "hdGetErrorString",    "hdEnable",
                                  "hdGetIntegerv",       "hdGetDoublev",
                                  "hdGetString",         "hdSetDoublev",
                                  "hdCheckCalibration",  "hdUpdateCalibration",
                                  "hdStartScheduler",    "hdStopScheduler",
                                  "hdSetSchedulerRate",  "hdScheduleAsynchronous",
                                  "hdUnschedule" };
enum { HD_COUNT = sizeof HD / sizeof *HD };

typedef struct Touch {
    union {
        void *symbol[HD_COUNT];
        struct { // in the order of the names
            unsigned (*init_device)(const char *name);
            void (*disable_device)(unsigned device);
            void (*make_current)(unsigned device);
            void (*begin_frame)(unsigned device);
            void (*end_frame)(unsigned device);
            HdError (*get_error)(void);
            const char *(*error_string)(unsigned code);
            void (*enable)(unsigned what);
            void (*get_integer)(unsigned what, int *value);
            void (*get_double)(unsigned what, double *value);
            const char *(*get_string)(unsigned what);
            void (*set_double)(unsigned what, const double *value);
            unsigned (*check_calibration)(void);
            void (*update_calibration)(unsigned style);
            void (*start_scheduler)(void);
            void (*stop_scheduler)(void);
            void (*set_rate)(unsigned long hz);
            unsigned long (*schedule)(HdCallback callback, void *user, unsigned short priority);
            void (*unschedule)(unsigned long handle);
        } hd;
    };
    unsigned device;
    bool opened, started, scheduled;
    unsigned long handle;
    PliTickFn *tick;
    void *user;
    PliHapticSample now;
    double force[3], torque[3];
    bool turns;       ///< it has motors for torques
    atomic_bool lost; ///< the scheduler's errors: no frame is begun any more
    PliPoller poller; ///< looks after a lost device
    int waited;       ///< polls since the last attempt
    double rate;
    char name[64];
    int resting; ///< ticks for which no force is given, after an error of forces
    PliDeviceFacts facts;
    char model[64];
    PliDevice *owner;
} Touch;

// Every code of the library, in our words: what it means, and what to do.
static const struct {
    int code;
    const char *text;
} sentences[] = {
    { 0x100, "the driver does not know a parameter: this version of OpenHaptics is too old" },
    { 0x101, "the driver refuses a value: the rate of its scheduler must be 500, 1000 or what the port allows" },
    { 0x102, "the driver refuses an operation in its present state" },
    { 0x103, "the driver expects another type for a parameter: this version of OpenHaptics is another one" },
    { 0x104, "the driver does not know the device any more" },
    { 0x200, "the motors are warm: let go for a while; forces come back by a ramp" },
    { 0x201, "the force was above what the device can give; it was taken away and comes back by a ramp" },
    { 0x202, "the force changed faster than the device allows; it was taken away and comes back by a ramp" },
    { 0x203, "the hand was faster than the device allows; forces were taken away and come back by a ramp" },
    { 0x204, "the driver could not give a force; it comes back by a ramp" },
    { 0x300, "the device reports a fault: switch it off and on again" },
    { 0x301, "the device is in use by another program, or by this one: close that first" },
    { 0x302, "the connection to the device broke: check its cable and its power" },
    { 0x303, "the device is not set up: pair it with the vendor's setup program, and check its name and the rights on "
             "its port" },
    { 0x304, "the driver's timer does not run: this machine cannot keep its rate" },
    { 0x400, "a frame was begun twice in one tick" },
    { 0x401, "a frame was ended that had not begun" },
    { 0x402, "a frame of the driver failed" },
    { 0x500, "the driver refuses the priority of the servo" },
    { 0x501, "the driver's scheduler takes no more callbacks" },
    { 0x600, "the driver has no valid licence: install the licence of OpenHaptics for this machine" },
    { FAULT_UPDATE,
      "the device is not calibrated: move the stylus through its range, or put it into its inkwell, and start again" },
    { FAULT_HAND,
      "the device must be calibrated by hand: put the stylus into its inkwell or rest position, and start again" },
};

static void touch_explain(int fault, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; ++i)
        if (sentences[i].code == fault) {
            snprintf(text, size, "%s (code 0x%x)", sentences[i].text, (unsigned)fault);
            return;
        }
    snprintf(text, size, "the driver reports the unknown error 0x%x", (unsigned)fault);
}

static PliStatus refuse_code(int code, const char *when, PliError *err)
{
    char text[240];
    touch_explain(code, text, sizeof text);
    return pli_refuse(err, PLI_UNSUPPORTED, "%s: %s", when, text);
}

static bool is_force_error(unsigned code) { return code >= 0x200 && code <= 0x204; }
/// After these no servo is possible: device, communication, timer, scheduler, licence.
static bool is_final(unsigned code) { return (code >= 0x300 && code <= 0x304) || code >= 0x500 || code == 0x104; }

/// Empties the stack of errors, newest first, up to a bound. @return the gravest, 0: none
static unsigned drain(Touch *t)
{
    unsigned worst = 0;
    for (int i = 0; i < 16; ++i) {
        const unsigned code = t->hd.get_error().code;
        if (!code) break;
        if (!worst || (is_final(code) && !is_final(worst))) worst = code;
    }
    return worst;
}

/// A device that was in use a moment ago may need a moment.
static unsigned init_device(Touch *t, const char *name)
{
    unsigned code = HD_ALREADY;
    for (int i = 0; i < 3 && code == HD_ALREADY; ++i) {
        if (i) nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
        t->device = t->hd.init_device(name);
        code = drain(t);
        if (!code && t->device == HD_NO_DEVICE) code = 0x303;
    }
    return code;
}

static int check_calibration(Touch *t)
{
    unsigned state = t->hd.check_calibration();
    if (state == HD_NEEDS_UPDATE) {
        int style = 0;
        t->hd.get_integer(HD_CALIBRATION_STYLE, &style);
        t->hd.update_calibration((unsigned)style);
        state = t->hd.check_calibration();
    }
    const unsigned code = drain(t);
    if (code) return (int)code;
    return state == HD_CALIBRATED ? 0 : state == HD_NEEDS_HAND ? FAULT_HAND : FAULT_UPDATE;
}

/// Facts are those of the device that was opened: any thread may read them, so one that comes back does not write them again.
static void ask_facts(Touch *t)
{
    double stiffness = 0.0, peak = 0.0, lasting = 0.0;
    int dof = 0;
    t->hd.get_integer(HD_OUTPUT_DOF, &dof);
    t->turns = dof >= 6;
    if (*t->model) {
        (void)drain(t);
        return;
    }
    const char *model = t->hd.get_string(HD_MODEL);
    t->hd.get_double(HD_MOST_STIFFNESS, &stiffness); // N/mm
    t->hd.get_double(HD_MOST_FORCE, &peak);
    t->hd.get_double(HD_CONTINUOUS_FORCE, &lasting);
    snprintf(t->model, sizeof t->model, "%s", model && *model ? model : "OpenHaptics device");
    t->facts = (PliDeviceFacts){ t->model, 1000.0, peak, lasting, 1000.0 * stiffness, t->turns };
    (void)drain(t);
}

/// Opens the device and switches its forces on.
static PliStatus take_device(Touch *t, PliError *err)
{
    int code = (int)init_device(t, *t->name ? t->name : NULL);
    if (code) return refuse_code(code, "the device cannot be opened", err);
    t->opened = true;
    t->hd.make_current(t->device);
    code = check_calibration(t);
    if (code) return refuse_code(code, "the device cannot be used", err);
    ask_facts(t);
    t->hd.enable(HD_FORCE_OUTPUT);
    t->hd.enable(HD_FORCE_CLAMPING);
    code = (int)drain(t);
    return code ? refuse_code(code, "forces cannot be switched on", err) : PLI_OK;
}

static PliStatus touch_open(PliDevice *d, const char *detail, const PliHandPath *path, PliError *err)
{
    static const char *const names[] = { "libHD.so", "libHD.so.3.4", "libHD.so.3.0", NULL };
    (void)path;
    Touch *t = d->self;
    t->owner = d;
    t->now = pli_sample_at_rest(true);
    void *library = pli_driver_library("PLIANT_LIBHD", names, "OpenHaptics and the driver of the device", err);
    if (!library) return PLI_UNSUPPORTED;
    const PliStatus status = pli_driver_symbols(library, HD, t->symbol, HD_COUNT, "libHD", err);
    if (status) return status;
    setlocale(LC_NUMERIC, "C"); // the driver reads numbers of its configuration with the locale of the program
    if (detail) snprintf(t->name, sizeof t->name, "%s", detail);
    return take_device(t, err);
}

static void read_frame(Touch *t)
{
    double place[3] = { 0.0 }, m[16] = { 0.0 };
    int buttons = 0;
    t->hd.get_double(HD_POSITION, place); // mm
    t->hd.get_double(HD_TRANSFORM, m);    // columns
    t->hd.get_integer(HD_BUTTONS, &buttons);
    for (int c = 0; c < 3; ++c) t->now.position[c] = 1e-3 * place[c];
    const double trace = m[0] + m[5] + m[10];
    if (trace > -0.99) { // half a turn away from rest a stylus does not come
        const double w = 0.5 * sqrt(1.0 + trace), s = 0.25 / w;
        t->now.orientation[0] = s * (m[6] - m[9]), t->now.orientation[1] = s * (m[8] - m[2]);
        t->now.orientation[2] = s * (m[1] - m[4]), t->now.orientation[3] = w;
    }
    t->now.buttons = (uint32_t)buttons;
}

static unsigned callback(void *user)
{
    Touch *t = user;
    if (atomic_load_explicit(&t->lost, memory_order_acquire)) {
        t->now.connected = false;
        t->tick(t->user); // the servo sees that the device is gone, forces are zero
        return HD_CONTINUE;
    }
    t->hd.begin_frame(t->device);
    read_frame(t);
    t->now.connected = t->resting == 0; // after an error of forces the servo starts again from zero
    if (t->resting) --t->resting;
    t->force[0] = t->force[1] = t->force[2] = 0.0;
    t->torque[0] = t->torque[1] = t->torque[2] = 0.0;
    t->tick(t->user);
    t->hd.set_double(HD_FORCE, t->force);
    if (t->turns) t->hd.set_double(HD_TORQUE, t->torque);
    t->hd.end_frame(t->device);
    const unsigned code = drain(t);
    if (!code) return HD_CONTINUE;
    atomic_store_explicit(&t->owner->fault, (int)code, memory_order_relaxed);
    if (is_final(code)) atomic_store_explicit(&t->lost, true, memory_order_release);
    if (is_force_error(code)) t->resting = 20;
    return HD_CONTINUE;
}

static PliStatus start_scheduler(Touch *t, PliError *err)
{
    t->hd.set_rate((unsigned long)(t->rate + 0.5));
    int code = (int)drain(t);
    if (code) return refuse_code(code, "the servo cannot run at this rate", err);
    t->handle = t->hd.schedule(callback, t, HD_PRIORITY);
    t->scheduled = true;
    t->hd.start_scheduler();
    t->started = true;
    code = (int)drain(t);
    return code ? refuse_code(code, "the servo cannot be started", err) : PLI_OK;
}

static void stop_scheduler(Touch *t)
{
    if (t->started) t->hd.stop_scheduler();
    if (t->scheduled) t->hd.unschedule(t->handle);
    t->started = t->scheduled = false;
}

static void let_go(Touch *t)
{
    stop_scheduler(t);
    if (!t->opened) return;
    t->hd.disable_device(t->device);
    t->opened = false;
    (void)drain(t);
}

/// Every so often a lost device is let go and asked for again. The scheduler rests without one, and this thread ticks instead: the
/// servo sees that the device is unplugged, and begins from zero when it is back.
static void look_after(void *user)
{
    Touch *t = user;
    PliError err;
    if (!atomic_load_explicit(&t->lost, memory_order_acquire)) return;
    if (!t->started) {
        t->now.connected = false;
        t->tick(t->user);
    }
    if (++t->waited < RETRY_POLLS) return;
    t->waited = 0;
    let_go(t);
    if (take_device(t, &err) != PLI_OK) {
        let_go(t);
        return;
    }
    t->resting = 20;
    atomic_store_explicit(&t->lost, false, memory_order_release);
    if (start_scheduler(t, &err) == PLI_OK) {
        atomic_store_explicit(&t->owner->fault, 0, memory_order_relaxed);
    } else {
        let_go(t);
        atomic_store_explicit(&t->lost, true, memory_order_release);
    }
}

static PliStatus touch_start(PliDevice *d, double rate, PliTickFn *fn, void *user, PliError *err)
{
    Touch *t = d->self;
    t->tick = fn;
    t->user = user;
    t->rate = rate;
    const PliStatus status = start_scheduler(t, err);
    return status ? status : pli_poller_start(&t->poller, look_after, t, POLL_NS, err);
}

static void touch_stop(PliDevice *d)
{
    Touch *t = d->self;
    pli_poller_stop(&t->poller);
    stop_scheduler(t);
}

static void touch_close(PliDevice *d)
{
    touch_stop(d);
    let_go(d->self);
}

static void touch_read(PliDevice *d, double dt, PliHapticSample *sample)
{
    (void)dt;
    *sample = ((Touch *)d->self)->now;
}

static void touch_write(PliDevice *d, const double force[3])
{
    memcpy(((Touch *)d->self)->force, force, 3 * sizeof *force);
}

static void touch_turn(PliDevice *d, const double torque[3])
{
    for (int c = 0; c < 3; ++c) ((Touch *)d->self)->torque[c] = 1e3 * torque[c];
}

static PliDeviceFacts touch_facts(const PliDevice *d) { return ((const Touch *)d->self)->facts; }

const PliDriver pli_openhaptics_driver = {
    .info = { "touch", "openhaptics geomagic omni phantom desktop premium",
              "Touch, Omni and Phantom, by OpenHaptics: touch:NAME as the vendor's setup calls it", true },
    .size = sizeof(Touch),
    .open = touch_open,
    .close = touch_close,
    .read = touch_read,
    .write = touch_write,
    .turn = touch_turn,
    .start = touch_start,
    .stop = touch_stop,
    .explain = touch_explain,
    .facts = touch_facts,
};
