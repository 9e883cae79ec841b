/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FRAMES_FIT_H
#define PLI_FRAMES_FIT_H

// Four samples for a region. The deformation gradient is F(X) = sum_a u_a (x) g_a(X); over a region every g_a is replaced by its
// least-squares linear fit, sampled at X_c + L s_k with L L^T the covariance of the region and equal weights. That rule holds
// all moments up to the second, so a region whose gradients are linear is integrated exactly (for quadratic energies), a
// constant F passes unchanged, and what is lost is the energy of the residual alone. Because residuals are orthogonal to linear
// fields, fitting the union of two fitted regions gives the same as fitting what they were made of: regions can be merged
// while running without going back to the voxels.
// Rejected: linear fits of the weights themselves (3 to 130 % off in the first modes for the same number of samples).

#include <pliant/base.h>

/// Moments of positions and of `width` values; value moments are value[width][4]: 1, x, y, z.
typedef struct PliFit {
    double m[10];  ///< sum of w {1, x, y, z, xx, yy, zz, yz, xz, xy}
    double square; ///< sum of w |y|^2
} PliFit;

/// The corners of a tetrahedron with unit covariance.
extern const double PLI_FIT_CORNER[4][3];

static inline void pli_fit_place(PliFit *f, double w, const double p[3], double spread)
{
    f->m[0] += w, f->m[1] += w * p[0], f->m[2] += w * p[1], f->m[3] += w * p[2];
    f->m[4] += w * (p[0] * p[0] + spread), f->m[5] += w * (p[1] * p[1] + spread), f->m[6] += w * (p[2] * p[2] + spread);
    f->m[7] += w * p[1] * p[2], f->m[8] += w * p[0] * p[2], f->m[9] += w * p[0] * p[1];
}
static inline void pli_fit_value(double v[4], double w, const double p[3], double y)
{
    v[0] += w * y, v[1] += w * y * p[0], v[2] += w * y * p[1], v[3] += w * y * p[2];
}

/// Centre and lower Cholesky factor (xx, yx, yy, zx, zy, zz) of the covariance.
typedef struct PliFitFrame {
    double centre[3], l[6], weight;
} PliFitFrame;
void pli_fit_frame(const PliFit *f, PliFitFrame *frame);
/// q = {mean, three slopes along the factor} of one value: the value at sample k is q[0] + s_k . q[1..3].
void pli_fit_solve(const PliFitFrame *frame, const double v[4], double q[4]);
void pli_fit_point(const PliFitFrame *frame, int k, double p[3]); ///< position of sample k

#endif
