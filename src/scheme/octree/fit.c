/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/octree/fit.h"

#include <string.h>

#include "base/vec.h"

enum { MOST = 10 };

void pli_octree_monomials(const double centre[3], double width, const double p[3], double b[PLI_OCTREE_MONOMIALS])
{
    const double x = (p[0] - centre[0]) / width, y = (p[1] - centre[1]) / width, z = (p[2] - centre[2]) / width;
    b[0] = x, b[1] = y, b[2] = z;
    b[3] = x * x, b[4] = y * y, b[5] = z * z, b[6] = y * z, b[7] = x * z, b[8] = x * y;
}

/// Cholesky of a matrix scaled to a unit diagonal; false where a pivot says that a monomial depends on the ones before.
static bool factor(double a[MOST][MOST], int n)
{
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = a[i][j];
            for (int k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
            if (i > j) {
                a[i][j] = sum / a[j][j];
            } else {
                if (!(sum > 1e-4)) return false;
                a[i][i] = sqrt(sum);
            }
        }
    return true;
}

/// Inverse of L L^T, for the factor in the lower triangle of a; symmetric.
static void invert(double a[MOST][MOST], double inverse[MOST][MOST])
{
    for (int c = 0; c < MOST; ++c) {
        double x[MOST] = { 0 };
        for (int i = c; i < MOST; ++i) {
            double sum = i == c ? 1.0 : 0.0;
            for (int k = c; k < i; ++k) sum -= a[i][k] * x[k];
            x[i] = sum / a[i][i];
        }
        for (int i = MOST; i-- > c;) {
            for (int k = i + 1; k < MOST; ++k) x[i] -= a[k][i] * x[k];
            x[i] /= a[i][i];
            inverse[c][i] = inverse[i][c] = x[i];
        }
    }
}

bool pli_octree_fit_quadratic(const double centre[3], double width, const double *points, PliIndex count, double *w)
{
    double a[MOST][MOST] = { { 0 } }, inverse[MOST][MOST], unit[MOST], basis[PLI_OCTREE_FIT_POINTS][MOST];
    if (count < MOST || count > PLI_OCTREE_FIT_POINTS) return false;
    for (PliIndex p = 0; p < count; ++p) {
        const double r = v3_distance(points + 3 * (size_t)p, centre) / width, weight = exp(-r * r);
        double b[MOST];
        b[0] = 1.0;
        pli_octree_monomials(centre, width, points + 3 * (size_t)p, b + 1);
        for (int i = 0; i < MOST; ++i) {
            const double wb = basis[p][i] = weight * b[i];
            for (int j = 0; j <= i; ++j) a[i][j] += wb * b[j];
        }
    }
    for (int i = 0; i < MOST; ++i) {
        if (!(a[i][i] > 0.0)) return false;
        unit[i] = 1.0 / sqrt(a[i][i]);
    }
    for (int i = 0; i < MOST; ++i)
        for (int j = 0; j <= i; ++j) a[i][j] *= unit[i] * unit[j];
    if (!factor(a, MOST)) return false;
    invert(a, inverse);
    for (int i = 0; i < MOST; ++i)
        for (int j = 0; j < MOST; ++j) inverse[i][j] *= unit[i] * unit[j];
    // coefficients of the unit field at one point, for each point: A^-1 b weight
    for (PliIndex p = 0; p < count; ++p) {
        double x[MOST] = { 0 };
        for (int k = 0; k < MOST; ++k)
            for (int i = 0; i < MOST; ++i) x[i] += basis[p][k] * inverse[k][i];
        memcpy(w + PLI_OCTREE_MONOMIALS * (size_t)p, x + 1, PLI_OCTREE_MONOMIALS * sizeof *w);
    }
    return true;
}

// ---- frames ----------------------------------------------------------------------------------------------------------------

/// Eigenvectors of a symmetric matrix as columns of v, by Jacobi's rotations; a becomes diagonal.
static void diagonalise(double a[9], double v[9])
{
    static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    memcpy(v, one, sizeof one);
    for (int sweep = 0; sweep < 12; ++sweep)
        for (int p = 0; p < 2; ++p)
            for (int q = p + 1; q < 3; ++q) {
                if (a[3 * p + q] == 0.0) continue;
                const double theta = (a[4 * q] - a[4 * p]) / (2.0 * a[3 * p + q]);
                const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0)),
                             c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 3; ++k) {
                    const double x = a[3 * k + p], y = a[3 * k + q];
                    a[3 * k + p] = c * x - s * y, a[3 * k + q] = s * x + c * y;
                }
                for (int k = 0; k < 3; ++k) {
                    const double x = a[3 * p + k], y = a[3 * q + k], e = v[3 * k + p], f = v[3 * k + q];
                    a[3 * p + k] = c * x - s * y, a[3 * q + k] = s * x + c * y;
                    v[3 * k + p] = c * e - s * f, v[3 * k + q] = s * e + c * f;
                }
            }
}

int pli_octree_fit_frame(const double origin[3], const double *points, PliIndex count, double *g)
{
    double a[9] = { 0 }, inverse[9] = { 0 }, spread[9], axis[9];
    for (PliIndex p = 0; p < count; ++p) {
        double d[3];
        v3_sub(d, points + 3 * (size_t)p, origin);
        const double r2 = v3_dot(d, d);
        if (!(r2 > 0.0)) continue;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) a[3 * i + j] += d[i] * d[j] / (r2 * sqrt(r2));
    }
    // directions in which the points hardly spread get nothing
    int rank = 0;
    const double enough = 0.02 * (a[0] + a[4] + a[8]);
    memcpy(spread, a, sizeof spread);
    diagonalise(spread, axis);
    for (int k = 0; k < 3; ++k) {
        if (!(spread[4 * k] > enough)) continue;
        rank++;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) inverse[3 * i + j] += axis[3 * i + k] * axis[3 * j + k] / spread[4 * k];
    }
    if (rank == 3) (void)m3_inverse(inverse, a);
    for (PliIndex p = 0; p < count; ++p) {
        double d[3], *out = g + 3 * (size_t)p;
        v3_sub(d, points + 3 * (size_t)p, origin);
        const double r2 = v3_dot(d, d);
        m3_apply(out, inverse, d);
        v3_scale(out, r2 > 0.0 ? 1.0 / (r2 * sqrt(r2)) : 0.0);
    }
    return rank;
}
