/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FEEL_H
#define PLI_FEEL_H

// A hand feels one body of a scene through one of its tools: the device ticks at 1 kHz, the scene steps at its own rate.
// In real time both have their own thread. Off line there is one, and ticks and steps take turns as if every step took its whole
// time: the same bits on every machine.

#include <pliant/haptics.h>

#include "host/graph/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliFeelDef {
    const char *body;   ///< name of its node; NULL: the first with a tool
    int tool;           ///< number of the tool that the hand holds
    const char *device; ///< as pli_device_open takes it; a dummy hand goes the way the scene gives the tool
    PliServoDef servo;  ///< its home is where the tool begins
    double rate;        ///< Hz, of the servo
    double seconds;
    bool offline;
    void (*progress)(double time, void *user); ///< after a step, or NULL
    void *progress_user;
} PliFeelDef;
PliFeelDef pli_feel_default(void); ///< a scripted hand, 1000 Hz, 10 s, in real time

/// A step of the simulation as the hand met it.
typedef struct PliFeelStep {
    double time;       ///< s, of the scene
    double force;      ///< N, on the tool, of the simulation
    double stiffness;  ///< N/m, of the body under the tool; 0: no plane
    double ms;         ///< wall clock: step and model
    uint64_t revision; ///< of the active set
    PliIndex refined, coarsened;
} PliFeelStep;

typedef struct PliFeel {
    char body[64], scheme[32], device[64];
    PliLoopStats loop; ///< real time only
    double
        stolen; ///< s, of all processors, that a machine below this virtual one took; no priority helps; NaN: unknown
    PliTick *tick;
    size_t tick_count, tick_capacity;
    PliFeelStep *step;
    size_t step_count, step_capacity;
    uint64_t events; ///< steps that refined or coarsened
    double excess,
        event_excess;      ///< N per ms: largest force step beyond the hand's own motion; within 0.1 s of an event
    double least_energy;   ///< J
    double largest_force;  ///< N
    double turns;          ///< 1/s, most turns of a force by more than 0.1 N in any second: a limit cycle has over 20
    PliStatus status;      ///< of the simulation: PLI_DIVERGED after a body did, which the hand survives ...
    PliError error;        ///< ... and why
    PliError device_error; ///< what the device reported; status PLI_OK: nothing
} PliFeel;

/// Runs it. The scene is loaded, with other bodies switched off.
PliStatus pli_feel_run(const PliHost *host, const char *scene, const PliSceneDef *scene_def, const PliFeelDef *def,
                       PliFeel *out, PliError *err);
void pli_feel_free(const PliHost *host, PliFeel *feel);

#ifdef __cplusplus
}
#endif
#endif
