/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_CONSTANT_H
#define PLI_CONSTANT_H

// Products with PliSystem.constant, for the functions of the system.

#include "solver/system.h"

void pli_constant_rotation(const PliSystem *s, const double *x, double R[9]);
void pli_constant_add_product(const PliSystem *s, const double R[9], const double *p, double k,
                              double *y); ///< y += k R K R^T p
void pli_constant_add_force(const PliSystem *s, const double *x, const double *v,
                            double *f); ///< v (may be NULL): viscous, by material_damping
double pli_constant_energy(const PliSystem *s, const double *x);
void pli_constant_blocks(const PliSystem *s, PliReducedFn *fn, void *user); ///< of df/dx

#endif
