/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_DEVICE_H
#define PLI_DEVICE_H

// What a driver is: one table of functions. A driver is its file and one line in device.c.

#include <pthread.h>

#include <pliant/haptics.h>

#include "haptics/mailbox.h"

typedef void PliTickFn(void *user);

typedef struct PliDriver {
    PliDeviceInfo info;
    size_t size; ///< of its own struct, zeroed before open
    /// `detail`: what followed the colon, or NULL. What it took is given back by close, also when it refuses.
    PliStatus (*open)(PliDevice *d, const char *detail, const PliHandPath *path, PliError *err);
    void (*close)(PliDevice *d);
    // in a tick: no lock, no allocation, no system call
    void (*read)(PliDevice *d, double dt, PliHapticSample *sample);
    void (*write)(PliDevice *d, const double force[3]);                     ///< NULL: input only
    void (*turn)(PliDevice *d, const double torque[3]);                     ///< before write; NULL: no such motors
    void (*push)(PliDevice *d, const double position[3], uint32_t buttons); ///< or NULL
    /// The driver has a clock of its own and calls fn at every tick of it. NULL: the loop's own thread does.
    PliStatus (*start)(PliDevice *d, double rate, PliTickFn *fn, void *user, PliError *err);
    void (*stop)(PliDevice *d);                       ///< fn is not called any more when it returns
    void (*explain)(int fault, char *text, size_t n); ///< a sentence for a fault of this driver, or NULL
    PliDeviceFacts (*facts)(const PliDevice *d);      ///< or NULL
} PliDriver;

struct PliDevice {
    PliHost host;
    const PliDriver *driver;
    void *self;
    atomic_int fault; ///< 0: none; the driver explains it
};

/// Samples that another thread brings, and forces that it takes.
typedef struct PliInbox {
    PliMailbox box;
    PliHapticSample sample[3];
} PliInbox;
void pli_inbox_init(PliInbox *in);
void pli_inbox_post(PliInbox *in, const PliHapticSample *sample);
void pli_inbox_read(PliInbox *in, PliHapticSample *sample); ///< the newest
PliHapticSample pli_sample_at_rest(bool connected);

/// A thread that asks a device again and again, for those that only the system can ask.
typedef struct PliPoller {
    pthread_t thread;
    atomic_bool stop;
    bool running;
    void (*poll)(void *user);
    void *user;
    long wait_ns; ///< between two polls, 0: poll waits by itself
} PliPoller;
PliStatus pli_poller_start(PliPoller *p, void (*poll)(void *user), void *user, long wait_ns, PliError *err);
void pli_poller_stop(PliPoller *p);

/// dlopen of the first name that is there, $`variable` before them if it is set; one sentence with all names when none is.
void *pli_driver_library(const char *variable, const char *const *names, const char *package, PliError *err);
/// Fills `to` with the symbols of the names, all of them or a sentence that names the missing one.
PliStatus pli_driver_symbols(void *library, const char *const *names, void **to, int count, const char *what,
                             PliError *err);

/// The output of the last tick, for whoever ticks.
const PliServoOutput *pli_servo_now(const PliServo *servo); // servo.c

extern const PliDriver pli_dummy_driver, pli_replay_driver, pli_mouse_driver, pli_network_driver,
    pli_openhaptics_driver, pli_gamepad_driver, pli_spacemouse_driver;

#endif
