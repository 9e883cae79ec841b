/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_HAPTICS_H
#define PLIANT_HAPTICS_H

// Forces for a hand, a thousand times a second. A device gives where the hand is and takes a force. A servo turns one into the other
// by a local model of the contact: planes with the compliance of the body behind them, which the simulation publishes at its own rate
// through a buffer without locks. Lengths are m, forces N, times s.
//
// Threads: one tick at a time (the servo's thread, or whoever calls pli_servo_tick), and one simulation, which publishes and looks.
// A tick does not lock, allocate, log or enter the system.

#include <pliant/body.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- the local model ---------------------------------------------------------------------------------------------------------

enum { PLI_HAPTIC_PLANES = 4 };

/// What a tool feels near one contact: it is free where normal . x >= offset, and pushed by (offset - normal . x) / compliance else.
/// A plane keeps its place in the model from one model to the next, so that the servo can turn one into the other.
typedef struct PliHapticPlane {
    double normal[3];  ///< out of the body, unit length
    double offset;     ///< m
    double compliance; ///< m/N, of the body behind it; 0: rigid
    bool present;
    double arm[3]; ///< m, from the place of the tool to where it touches: the lever of the force
} PliHapticPlane;

typedef struct PliHapticModel {
    PliHapticPlane plane[PLI_HAPTIC_PLANES];
    uint64_t revision; ///< of the active set: another number means that the body refined or coarsened
    double period;     ///< s, between models
    bool broken;       ///< the simulation diverged: forces go to zero
} PliHapticModel;

// ---- the servo ---------------------------------------------------------------------------------------------------------------

typedef struct PliServoDef {
    double stiffness;        ///< N/m, of the coupling between hand and proxy, 300
    double damping;          ///< s, times the stiffness is its damping; passive from half a tick on, 0.001
    double peak_force;       ///< N, never exceeded, 3.3
    double peak_torque;      ///< N m, never exceeded, 0.2
    double continuous_force; ///< N, may last, 0.88
    double heat_time;        ///< s, in which twice the continuous force uses up a third of what is above it, 10
    double slew;             ///< N/s, that a force may change besides what the hand's own motion asks for, 18
    double ramp;             ///< s, from nothing to the whole force when it starts or comes back, 0.25
    double patience;         ///< s, without a model after which the simulation counts as stalled, 0.1
    double decay;            ///< s, from the whole force to nothing, 0.045
    double blend;            ///< s, in which a refined model takes over, at least, 0.05
    double scale;            ///< m in the scene per m of the hand, 1
    double home[3];          ///< m, in the scene: where the hand's origin is
    bool control;            ///< damp where the energy observed is negative, false
} PliServoDef;
PLI_API PliServoDef pli_servo_default(void); ///< the defaults named above: those of a Touch
/// One sentence when a value is out of range.
PLI_API PliStatus pli_servo_def_check(const PliServoDef *def, PliError *err);

/// What a device says in one tick.
typedef struct PliHapticSample {
    double position[3];    ///< m, in the frame of the device: x right, y up, z to the user
    double orientation[4]; ///< unit quaternion x y z w; 0 0 0 1 where a device has none
    uint32_t buttons;      ///< bit 0: the first
    bool connected;
} PliHapticSample;

typedef enum PliServoState {
    PLI_SERVO_WAITING, ///< for a first model
    PLI_SERVO_RUNNING,
    PLI_SERVO_STALLED, ///< no model came in time
    PLI_SERVO_BROKEN,  ///< the simulation diverged
    PLI_SERVO_UNPLUGGED
} PliServoState;
PLI_API const char *pli_servo_state_name(PliServoState state); ///< "running"

/// What a tick did.
typedef struct PliServoOutput {
    uint64_t tick;
    double time;           ///< s, sum of the ticks
    double hand[3];        ///< m, in the scene
    double proxy[3];       ///< m, in the scene: the tool to show and to simulate, never inside a plane
    double orientation[4]; ///< of the device
    double force[3];       ///< N, on the hand
    double torque[3];      ///< N m, on the hand, about the proxy
    double model_force[3]; ///< N, of the model alone: without ramps, limits and damping
    double energy;         ///< J, that the hand has put in; below 0 more came out
    double limit;          ///< N, that the motors allow now
    uint32_t buttons;
    PliServoState state;
} PliServoOutput;

typedef struct PliServo PliServo;
PLI_API PliServo *pli_servo_create(const PliHost *host, const PliServoDef *def, PliError *err); ///< NULL: refused
PLI_API void pli_servo_destroy(PliServo *servo);                                                ///< NULL is fine
/// One tick of length dt. The force is in the scene's frame, for the hand.
PLI_API void pli_servo_tick(PliServo *servo, const PliHapticSample *in, double dt, double force[3]);
/// N m, of the last tick about the place of the tool, for whoever ticks; 0 for a ball without friction.
PLI_API void pli_servo_torque(const PliServo *servo, double torque[3]);
// the simulation's side, any time
PLI_API void pli_servo_publish(PliServo *servo, const PliHapticModel *model); ///< from the next tick on
/// The newest output. @return false: no tick since the last look, and `out` is the same as then
PLI_API bool pli_servo_look(PliServo *servo, PliServoOutput *out);
/// Buttons that went down since the last call, however short: none is lost.
PLI_API uint32_t pli_servo_pressed(PliServo *servo);

// ---- devices -----------------------------------------------------------------------------------------------------------------

/// What can be opened: `pliant haptic --list` prints this table.
typedef struct PliDeviceInfo {
    const char *name;  ///< "touch"
    const char *also;  ///< other names users know it by, separated by blanks, or ""
    const char *help;  ///< one line, with what may follow the name behind a colon
    bool gives_forces; ///< false: input only
} PliDeviceInfo;
PLI_API const PliDeviceInfo *pli_device_at(int i); ///< NULL behind the last

/// What a device reports about itself.
typedef struct PliDeviceFacts {
    const char *model; ///< as its driver calls it
    double rate;       ///< Hz
    double peak_force; ///< N, 0: unknown
    double continuous_force;
    double most_stiffness; ///< N/m, 0: unknown
    bool takes_torque;     ///< pli_device_turn does something
} PliDeviceFacts;

/// A path for the dummy hand: positions in the frame of the device, linear in between. Copied.
typedef struct PliHandPath {
    const double *time;     ///< s, ascending
    const double *position; ///< m, Vec3 each
    size_t count;
} PliHandPath;

typedef struct PliDevice PliDevice;
/// Opens "NAME" or "NAME:DETAIL", as in "dummy:passive", "replay:FILE", "network:5040", "touch:Default Device". NULL and one sentence
/// that says which library, symbol, cable or licence is missing.
PLI_API PliDevice *pli_device_open(const PliHost *host, const char *name, const PliHandPath *path, PliError *err);
PLI_API void pli_device_close(PliDevice *device);                      ///< NULL is fine
PLI_API const PliDeviceInfo *pli_device_info(const PliDevice *device); ///< its row of the table
PLI_API PliDeviceFacts pli_device_facts(const PliDevice *device);      ///< what it can, as it says itself
/// What went wrong since it was opened, one sentence; PLI_OK: nothing did. Whole sentences from any thread.
PLI_API PliStatus pli_device_status(const PliDevice *device, PliError *err);
/// In a tick: where the hand is `dt` after the last tick, and the force on it from now on.
PLI_API void pli_device_read(PliDevice *device, double dt, PliHapticSample *sample);
PLI_API void pli_device_write(PliDevice *device, const double force[3]); ///< see pli_device_read
/// N m, on the hand from now on; devices without such motors ignore it. In a tick, before pli_device_write.
PLI_API void pli_device_turn(PliDevice *device, const double torque[3]);
/// The mouse of a host, from its own thread; other devices ignore it.
PLI_API void pli_device_push(PliDevice *device, const double position[3], uint32_t buttons);

// ---- the loop ----------------------------------------------------------------------------------------------------------------

enum { PLI_LOOP_BINS = 300 };
/// Times of a running loop.
typedef struct PliLoopStats {
    uint64_t ticks, missed;           ///< missed: gaps above two periods
    double seconds, rate;             ///< Hz, mean
    double worst_gap;                 ///< s
    double callback_p999, worst_call; ///< s, of one tick: 99.9 of 100 take no longer; the longest
    uint32_t
        gap[PLI_LOOP_BINS]; ///< gaps between ticks in bins of a hundredth of the period; the last takes what is longer
    uint32_t call[PLI_LOOP_BINS]; ///< ticks in bins of 1 us
    int threads;                  ///< of the loop, on different processors: the first that wakes ticks; 0: the driver's
    int priority;                 ///< real-time (SCHED_FIFO) priority that the system granted them, 0: none
} PliLoopStats;

/// One tick as it was, for traces.
typedef struct PliTick {
    double time;                       ///< s
    float hand[3], proxy[3], force[3]; ///< m, m, N
    float model_force, energy, gap;    ///< N, J, s: time since the tick before
    uint8_t state;                     ///< PliServoState
} PliTick;
/// What the servo gave at `time`, `gap` after the tick before.
PLI_API PliTick pli_tick_of(const PliServoOutput *out, double time, double gap);

typedef struct PliLoop PliLoop;
/// Ticks device and servo at `rate` Hz in threads of its own, or in that of the device's driver. `keep`: ticks to keep for traces.
PLI_API PliLoop *pli_loop_start(const PliHost *host, PliDevice *device, PliServo *servo, double rate, size_t keep,
                                PliError *err);
/// Turns a sample into a force and a torque, which are 0 before, in the thread that ticks. Two threads may take turns; calls never
/// overlap.
typedef void PliHapticTickFn(const PliHapticSample *in, double dt, double force[3], double torque[3], void *user);
/// pli_loop_start for a host with a law of its own.
PLI_API PliLoop *pli_loop_start_with(const PliHost *host, PliDevice *device, PliHapticTickFn *fn, void *user,
                                     double rate, PliError *err);
PLI_API void pli_loop_stop(PliLoop *loop);                ///< the last force is zero
PLI_API void pli_loop_destroy(PliLoop *loop);             ///< stops it; NULL is fine
PLI_API PliLoopStats pli_loop_stats(const PliLoop *loop); ///< whole after stop; while running as far as it is
PLI_API const PliTick *pli_loop_trace(const PliLoop *loop, size_t *count); ///< after stop; the first `keep` ticks

// ---- the simulation's side ---------------------------------------------------------------------------------------------------

typedef struct PliTouch PliTouch;
/// Makes local models of the contact between a body and one of its tools.
PLI_API PliTouch *pli_touch_create(const PliHost *host, PliBody *body, PliError *err);
PLI_API void pli_touch_destroy(PliTouch *touch); ///< NULL is fine
/// After a step of dt that ended at x and v, in which `tool` moved with its velocity and felt its force: the planes it may touch, one for
/// each direction (a corner has two or three), with the body's own compliance and the lever of each. The state of the body is not
/// changed. To be called after every step.
PLI_API void pli_touch_model(PliTouch *touch, const double *x, const double *v, const PliTool *tool, double dt,
                             PliHapticModel *model);
/// N/m, of the body under the tool in the last model; 0: no plane.
PLI_API double pli_touch_stiffness(const PliTouch *touch);

#ifdef __cplusplus
}
#endif
#endif
