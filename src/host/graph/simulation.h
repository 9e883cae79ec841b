/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SIMULATION_H
#define PLI_SIMULATION_H

// The step loop, in the order of SOFA's DefaultAnimationLoop.

#include "host/graph/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Calls the start of every component once: exporters write the first state. Not in a step.
PliStatus pli_scene_start(PliScene *scene, PliError *err);
/// One step of scene->dt. Allocates nothing. PLI_DIVERGED: a value is no longer finite; the error says where.
/// The bodies that did not diverge have done the step.
PliStatus pli_scene_step(PliScene *scene, PliError *err);
PliStatus pli_scene_finish(PliScene *scene, PliError *err);
/// Hash over positions and velocities of every state, and over the bodies.
uint64_t pli_scene_hash(const PliScene *scene);
/// Sum over masses and forces that know it, J.
void pli_scene_energy(PliScene *scene, double *kinetic, double *potential);

#ifdef __cplusplus
}
#endif
#endif
