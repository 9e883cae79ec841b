/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_VEC_H
#define PLI_VEC_H

#include <math.h>

// 3-vectors are double[3], 3x3 matrices double[9] row-major. Outputs come first and may not alias inputs unless said.

static inline void v3_copy(double r[3], const double a[3]) { r[0] = a[0], r[1] = a[1], r[2] = a[2]; }
static inline void v3_sub(double r[3], const double a[3], const double b[3])
{
    r[0] = a[0] - b[0], r[1] = a[1] - b[1], r[2] = a[2] - b[2];
} ///< may alias
static inline void v3_add(double r[3], const double a[3], const double b[3])
{
    r[0] = a[0] + b[0], r[1] = a[1] + b[1], r[2] = a[2] + b[2];
} ///< may alias
static inline void v3_madd(double r[3], double s, const double a[3])
{
    r[0] += s * a[0], r[1] += s * a[1], r[2] += s * a[2];
}
static inline void v3_scale(double r[3], double s) { r[0] *= s, r[1] *= s, r[2] *= s; }
static inline double v3_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static inline double v3_norm(const double a[3]) { return sqrt(v3_dot(a, a)); }
static inline double v3_distance(const double a[3], const double b[3])
{
    double d[3];
    v3_sub(d, a, b);
    return v3_norm(d);
}
static inline void v3_cross(double r[3], const double a[3], const double b[3])
{
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double m3_det(const double a[9])
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}
/// r = a^-1; returns the determinant (0: r untouched).
static inline double m3_inverse(double r[9], const double a[9])
{
    double d = m3_det(a);
    if (d == 0.0) return 0.0;
    double s = 1.0 / d;
    r[0] = (a[4] * a[8] - a[5] * a[7]) * s;
    r[1] = (a[2] * a[7] - a[1] * a[8]) * s;
    r[2] = (a[1] * a[5] - a[2] * a[4]) * s;
    r[3] = (a[5] * a[6] - a[3] * a[8]) * s;
    r[4] = (a[0] * a[8] - a[2] * a[6]) * s;
    r[5] = (a[2] * a[3] - a[0] * a[5]) * s;
    r[6] = (a[3] * a[7] - a[4] * a[6]) * s;
    r[7] = (a[1] * a[6] - a[0] * a[7]) * s;
    r[8] = (a[0] * a[4] - a[1] * a[3]) * s;
    return d;
}
static inline void m3_mul(double r[9], const double a[9], const double b[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) r[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}
static inline void m3_apply(double r[3], const double a[9], const double x[3])
{
    for (int i = 0; i < 3; ++i) r[i] = a[3 * i] * x[0] + a[3 * i + 1] * x[1] + a[3 * i + 2] * x[2];
}

#endif
