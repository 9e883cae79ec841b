/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fakehd.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OUT __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes" // they are in the vendor's header, which is not here

typedef struct HDErrorInfo {
    unsigned errorCode;
    int internalErrorCode;
    unsigned hHD;
} HDErrorInfo;
typedef unsigned (*Callback)(void *);

static FakeHd fake;
static struct {
    unsigned stack[32];
    int errors;
    int in_frame, frames_in_tick, in_tick;
    int force_set;
    double force[3], torque[3];
    Callback callback;
    void *user;
    int inits;
    pthread_t thread;
    int thread_runs;
    volatile int stop;
    unsigned long rate;
} my;

static pthread_mutex_t mutex; ///< recursive: callbacks call back
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_mutex(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &kind);
    pthread_mutexattr_destroy(&kind);
}
OUT void fakehd_lock(int on)
{
    pthread_once(&once, make_mutex);
    if (on)
        pthread_mutex_lock(&mutex);
    else
        pthread_mutex_unlock(&mutex);
}

OUT FakeHd *fakehd(void) { return &fake; }
OUT void fakehd_reset(void)
{
    memset(&fake, 0, sizeof fake);
    memset(&my, 0, sizeof my);
    my.rate = 1000;
}

static void raise_error(unsigned code)
{
    if (code && my.errors < 32) my.stack[my.errors++] = code;
}

static void violate(const char *what)
{
    if (fake.violations++ == 0) snprintf(fake.violation, sizeof fake.violation, "%s", what);
}

OUT HDErrorInfo hdGetError(void)
{
    HDErrorInfo e = { 0, 0, 0 };
    fakehd_lock(1);
    if (my.errors > 0) e.errorCode = my.stack[--my.errors];
    fakehd_lock(0);
    return e;
}
OUT const char *hdGetErrorString(unsigned code)
{
    (void)code;
    return "fake";
}

OUT unsigned hdInitDevice(const char *name)
{
    unsigned device = 7;
    (void)name;
    fakehd_lock(1);
    if (fake.running) violate("hdInitDevice while the scheduler runs");
    if (fake.init_error && (fake.init_errors == 0 || my.inits < fake.init_errors)) {
        my.inits++;
        raise_error(fake.init_error);
        device = 0xffffffffu;
    } else {
        fake.devices++, fake.inits++;
    }
    fakehd_lock(0);
    return device;
}
OUT void hdDisableDevice(unsigned device)
{
    if (device != 7) violate("hdDisableDevice of an unknown device");
    if (fake.running) violate("hdDisableDevice before hdStopScheduler");
    if (fake.scheduled) violate("hdDisableDevice before hdUnschedule");
    fake.devices--;
}
OUT void hdMakeCurrentDevice(unsigned device)
{
    if (device != 7) raise_error(0x104);
}

OUT void hdBeginFrame(unsigned device)
{
    if (device != 7) raise_error(0x104);
    if (my.in_frame) raise_error(0x400), violate("hdBeginFrame inside a frame");
    if (my.in_tick && my.frames_in_tick++ > 0) raise_error(0x400), violate("two frames in one tick");
    my.in_frame = 1;
    my.force_set = 0;
    memset(my.force, 0, sizeof my.force);
    memset(my.torque, 0, sizeof my.torque);
}
OUT void hdEndFrame(unsigned device)
{
    if (device != 7) raise_error(0x104);
    if (!my.in_frame) raise_error(0x401), violate("hdEndFrame without a frame");
    my.in_frame = 0;
    if (!my.force_set) violate("a frame in which no force was set");
    if (fake.forces < FAKEHD_FORCES) memcpy(fake.force[fake.forces++], my.force, sizeof my.force);
    memcpy(fake.torque, my.torque, sizeof my.torque);
    if (fake.tick_error && fake.ticks >= fake.tick_error_at && fake.ticks <= fake.tick_error_at + fake.tick_error_count)
        raise_error(fake.tick_error);
}

OUT void hdEnable(unsigned what)
{
    if (what < 0x4000 || what > 0x4004) raise_error(0x100);
    raise_error(fake.enable_error);
}
OUT void hdGetIntegerv(unsigned what, int *value)
{
    if (what == 0x2000) {
        if (!my.in_frame) violate("buttons read outside a frame");
        *value = fake.buttons;
    } else if (what == 0x2555) {
        *value = 4;
    } else if (what == 0x2554) {
        *value = fake.output_dof ? fake.output_dof : 3;
    } else {
        raise_error(0x103);
    }
}
OUT void hdGetDoublev(unsigned what, double *value)
{
    if (what == 0x2050 || what == 0x2052) {
        if (!my.in_frame) violate("position read outside a frame");
        if (what == 0x2050) {
            memcpy(value, fake.position, 3 * sizeof *value);
            return;
        }
        memset(value, 0, 16 * sizeof *value);
        value[0] = value[5] = value[10] = value[15] = 1.0;
        memcpy(value + 12, fake.position, 3 * sizeof *value);
    } else if (what == 0x2602) {
        *value = 0.5;
    } else if (what == 0x2603) {
        *value = 3.3;
    } else if (what == 0x2604) {
        *value = 0.88;
    } else {
        raise_error(0x103);
    }
}
OUT const char *hdGetString(unsigned what) { return what == 0x2501 ? "Fake Touch" : NULL; }
OUT void hdSetDoublev(unsigned what, const double *value)
{
    if (what == 0x2701) {
        if (fake.output_dof < 6) raise_error(0x102);
        if (!my.in_frame) violate("torque set outside a frame");
        memcpy(my.torque, value, sizeof my.torque);
        return;
    }
    if (what != 0x2700) {
        raise_error(0x103);
        return;
    }
    if (!my.in_frame) violate("force set outside a frame");
    my.force_set = 1;
    memcpy(my.force, value, sizeof my.force);
}

OUT unsigned hdCheckCalibration(void) { return fake.calibration ? fake.calibration : 0x5000; }
OUT void hdUpdateCalibration(unsigned style)
{
    if (style != 4) raise_error(0x101);
    fake.calibration = fake.calibration_after;
}

OUT void fakehd_tick(void)
{
    fakehd_lock(1);
    my.in_tick = 1;
    my.frames_in_tick = 0;
    if (fake.running && my.callback && my.callback(my.user) == 0) my.callback = NULL;
    if (my.in_frame) violate("a tick that left its frame open"), my.in_frame = 0;
    my.in_tick = 0;
    fake.ticks++;
    fakehd_lock(0);
}

static void *run(void *arg)
{
    (void)arg;
    unsigned seed = 1;
    while (!__atomic_load_n(&my.stop, __ATOMIC_ACQUIRE)) {
        seed = seed * 1103515245u + 12345u;
        const double u = (double)(seed >> 16 & 0x7fff) / 16384.0 - 1.0;
        const double wait = 1e-3 + fake.jitter * u;
        nanosleep(&(struct timespec){ .tv_nsec = (long)(1e9 * wait) }, NULL);
        fakehd_tick();
    }
    return NULL;
}

OUT void hdSetSchedulerRate(unsigned long hz)
{
    if (hz != 500 && hz != 1000 && hz != 2000) raise_error(0x101);
    raise_error(fake.rate_error);
    my.rate = hz;
}
OUT unsigned long hdScheduleAsynchronous(Callback callback, void *user, unsigned short priority)
{
    (void)priority;
    fakehd_lock(1);
    if (fake.devices == 0) violate("a callback scheduled without a device");
    my.callback = callback;
    my.user = user;
    fake.scheduled++;
    fakehd_lock(0);
    return 11;
}
OUT void hdStartScheduler(void)
{
    fakehd_lock(1);
    if (fake.running) violate("hdStartScheduler twice");
    raise_error(fake.start_error);
    fake.running = !fake.start_error;
    fakehd_lock(0);
    if (fake.start_error) return;
    my.stop = 0;
    if (fake.threaded) my.thread_runs = pthread_create(&my.thread, NULL, run, NULL) == 0;
}
OUT void hdStopScheduler(void)
{
    if (my.thread_runs) {
        __atomic_store_n(&my.stop, 1, __ATOMIC_RELEASE);
        pthread_join(my.thread, NULL);
        my.thread_runs = 0;
    }
    fakehd_lock(1);
    fake.running = 0;
    fakehd_lock(0);
}
#ifndef FAKEHD_WITHOUT_UNSCHEDULE
OUT void hdUnschedule(unsigned long handle)
{
    fakehd_lock(1);
    if (handle != 11) violate("hdUnschedule of an unknown callback");
    if (fake.running) violate("hdUnschedule before hdStopScheduler");
    fake.scheduled--;
    my.callback = NULL;
    fakehd_lock(0);
}
#endif
