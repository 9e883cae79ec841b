/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_TARGET_H
#define PLIANT_TARGET_H

// Registration: springs pull every skin point of a body to the nearest point of a target surface. With frames that become active
// level by level (criterion.max_active grows) the body first falls into place as a whole and bends afterwards.

#include <pliant/body.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliTarget PliTarget;
/// For the skin the body has now, at rest. Points of the target are copied. Reserves the body's room for point forces.
PLI_API PliTarget *pli_target_create(const PliHost *host, PliBody *body, const double *points, PliIndex count, PliError *err);
PLI_API void pli_target_destroy(PliTarget *target); ///< NULL is fine
/// Stiffness of all springs together, N/m, and their damping, N s/m.
PLI_API PliStatus pli_target_tune(PliTarget *target, double stiffness, double damping, PliError *err);
/// A PliPointForcesFn; user is the target: state.points = pli_target_forces, state.points_user = target.
PLI_API void pli_target_forces(const double *x, const double *v, PliPointForces *out, void *target);
PLI_API double pli_target_distance(const PliTarget *target); ///< m, root mean square to the nearest points, at the last evaluation

#ifdef __cplusplus
}
#endif
#endif
