/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_OCTREE_FIT_H
#define PLI_OCTREE_FIT_H

// Polynomials and gradients from values at scattered points, by weighted least squares.

#include <pliant/base.h>

enum { PLI_OCTREE_FIT_POINTS = 64 };

enum { PLI_OCTREE_MONOMIALS = 9 }; ///< x y z xx yy zz yz xz xy about a centre, besides 1

/// Fits the monomials about `centre`, each divided by `width` as often as it has factors, with weights exp(-(r / width)^2), and writes the weights of
/// their coefficients (shape [count, 9]), exact on all quadratic fields; false when the points do not determine them.
bool pli_octree_fit_quadratic(const double centre[3], double width, const double *points, PliIndex count, double *w);
void pli_octree_monomials(const double centre[3], double width, const double p[3], double b[PLI_OCTREE_MONOMIALS]);
/// Gradient seen from a point of the set: grad u = sum_j (u_j - u_0) (x) g_j with g_0 = - sum of the others, weights 1 / r^3:
/// two points on a line at uneven distances give the slope of a parabola.
/// @return rank of what the points span; 3: g is exact on linear fields.
int pli_octree_fit_frame(const double origin[3], const double *points, PliIndex count, double *g);

#endif
