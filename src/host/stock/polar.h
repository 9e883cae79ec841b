/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_POLAR_H
#define PLI_POLAR_H

/// a = q s with q orthogonal (det q has the sign of det a) and s symmetric positive: scaled Newton iteration, stopped at 1e-8
/// as SOFA's is, so that elements turn by the same angle. A singular matrix leaves the last iterate.
void pli_polar(const double a[9], double q[9]);
/// The closest rotation (det q = +1) also for flat and inverted matrices: the direction of least stretch is turned round.
void pli_polar_stable(const double a[9], double q[9]);

#endif
