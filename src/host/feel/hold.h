/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_HOLD_H
#define PLI_HOLD_H

// A device holds a tool of one body of a scene: where the tool goes before a step, what the hand feels after it.

#include <pliant/haptics.h>

#include "host/components/bodies.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliHoldDef {
    const char *body;   ///< name of its node; NULL: the first with such a tool
    int tool;           ///< number of the tool that the hand holds
    const char *device; ///< as pli_device_open takes it; a dummy hand goes the way the scene gives the tool ...
    double seconds;     ///< ... for so long
    PliServoDef servo;  ///< its home is where the tool begins, its limits are those of the device at most
} PliHoldDef;

typedef struct PliHold {
    PliHost host;
    PliScene *scene;
    PliSceneBody body;
    int number, tool; ///< of the body, of its tool
    PliTouch *touch;
    PliServo *servo;
    PliDevice *device;
    PliHapticModel model; ///< of the last step
    double dt;            ///< s, of the scene
} PliHold;

/// The scene must outlive it. What it took is given back by close, also when it refuses.
PliStatus pli_hold_open(PliHold *h, const PliHost *host, PliScene *scene, double dt, const PliHoldDef *def,
                        PliError *err);
void pli_hold_close(PliHold *h);
/// Before a step: where the tool goes.
void pli_hold_place(PliHold *h, double place[3]);
/// After a step, which may have failed: makes h->model. To be published when it is time.
void pli_hold_model(PliHold *h, bool broken);

#ifdef __cplusplus
}
#endif
#endif
