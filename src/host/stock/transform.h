/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TRANSFORM_H
#define PLI_TRANSFORM_H

#include <pliant/base.h>

/// Rotation by Euler angles in degrees, about x, then y, then z (SOFA's order): row-major 3x3.
void pli_euler_matrix(const double degrees[3], double r[9]);
/// x = R (S x) + t on every point; parts that are the identity are skipped, so they leave the same bits.
void pli_transform_points(double *x, PliIndex count, const double scale[3], const double degrees[3],
                          const double translation[3]);

#endif
