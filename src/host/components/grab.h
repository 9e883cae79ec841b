/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_GRAB_H
#define PLI_GRAB_H

// A hand that holds a patch of a body's skin with a spring. Both routes add its force: AdaptiveSolver in every substep,
// AdaptiveForceField where a stock solver steps.

#include "host/components/bodies.h"
#include "host/components/components.h"

PliStatus pli_model_grab(PliModel *m, const PliGrip *grip, PliError *err); ///< NULL lets go; not in a step
bool pli_model_grabbed(const PliModel *m);
uint64_t pli_model_grab_limited(const PliModel *m);      ///< steps in which the hand was slower than asked for, in all
PliStatus pli_model_reserve(PliModel *m, PliError *err); ///< room for all point forces of the model; not in a step
// the rest only while grabbed
void pli_grab_move(PliModel *m, double dt); ///< the hand goes to its target, as far as it gets in dt; before a step
void pli_grab_force(const PliModel *m, const double *x, double *f);                   ///< f += spring, dof_count Vec3
void pli_grab_dforce(const PliModel *m, const double *dx, double factor, double *df); ///< df += factor df/dx dx
const PliPointForces *pli_grab_points(PliModel *m, const double *x);                  ///< for PliState.points

#endif
