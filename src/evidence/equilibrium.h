/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_EQUILIBRIUM_H
#define PLI_EQUILIBRIUM_H

// Static equilibrium of any body, for cases whose known answer is static. Newton's method on W^T K W with a direct solve:
// an answer that does not depend on an integrator, a damping or a stopping time.

#include <pliant/stages.h>

/// Moves x (dof_count Vec3, the first guess) until internal forces and `load` (may be NULL) balance on every component that
/// is not held. `held` has one byte per component, non-zero: keeps its value. Gravity is left out.
/// Done when no component of a correction is above `tolerance`, m. PLI_DIVERGED when 40 corrections are not enough.
PliStatus pli_equilibrium(PliBody *body, double *x, const double *load, const uint8_t *held, double tolerance,
                          PliError *err);

#endif
