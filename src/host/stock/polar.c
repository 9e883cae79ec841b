/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/stock/polar.h"
#include "base/vec.h"

#include <string.h>

static double one_norm(const double m[9])
{
    double most = 0.0;
    for (int j = 0; j < 3; ++j) most = fmax(most, fabs(m[j]) + fabs(m[3 + j]) + fabs(m[6 + j]));
    return most;
}

static double inf_norm(const double m[9])
{
    double most = 0.0;
    for (int i = 0; i < 3; ++i) most = fmax(most, fabs(m[3 * i]) + fabs(m[3 * i + 1]) + fabs(m[3 * i + 2]));
    return most;
}

void pli_polar(const double a[9], double q[9])
{
    double m[9], one, inf, change;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) m[3 * i + j] = a[3 * j + i];
    one = one_norm(m);
    inf = inf_norm(m);
    int turns = 0;
    do {
        // rows of the adjoint transposed
        double adj[9];
        v3_cross(adj, m + 3, m + 6);
        v3_cross(adj + 3, m + 6, m);
        v3_cross(adj + 6, m, m + 3);
        double det = v3_dot(m, adj);
        if (det == 0.0 || !isfinite(det)) break;
        double gamma = sqrt(sqrt(one_norm(adj) * inf_norm(adj) / (one * inf)) / fabs(det));
        double e[9];
        for (int k = 0; k < 9; ++k) {
            double next = 0.5 * gamma * m[k] + 0.5 / (gamma * det) * adj[k];
            e[k] = m[k] - next;
            m[k] = next;
        }
        change = one_norm(e);
        one = one_norm(m);
        inf = inf_norm(m);
    } while (change > one * 1e-8 && ++turns < 100);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) q[3 * i + j] = m[3 * j + i];
}

// Eigenvectors of a symmetric 3x3 matrix by Jacobi rotations; columns of v, values on the diagonal of s.
static void jacobi(double s[9], double v[9])
{
    memset(v, 0, 9 * sizeof *v);
    v[0] = v[4] = v[8] = 1.0;
    for (int sweep = 0; sweep < 30; ++sweep) {
        double off = fabs(s[1]) + fabs(s[2]) + fabs(s[5]);
        if (off <= 1e-300 || off <= 1e-17 * (fabs(s[0]) + fabs(s[4]) + fabs(s[8]))) return;
        for (int p = 0; p < 2; ++p)
            for (int q = p + 1; q < 3; ++q) {
                if (s[3 * p + q] == 0.0) continue;
                double theta = (s[4 * q] - s[4 * p]) / (2.0 * s[3 * p + q]);
                double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), d = t * c;
                for (int k = 0; k < 3; ++k) {
                    double a = s[3 * k + p], b = s[3 * k + q];
                    s[3 * k + p] = c * a - d * b;
                    s[3 * k + q] = d * a + c * b;
                }
                for (int k = 0; k < 3; ++k) {
                    double a = s[3 * p + k], b = s[3 * q + k];
                    s[3 * p + k] = c * a - d * b;
                    s[3 * q + k] = d * a + c * b;
                }
                for (int k = 0; k < 3; ++k) {
                    double a = v[3 * k + p], b = v[3 * k + q];
                    v[3 * k + p] = c * a - d * b;
                    v[3 * k + q] = d * a + c * b;
                }
            }
    }
}

static void any_normal(double r[3], const double a[3])
{
    const double x[3] = { 1, 0, 0 }, y[3] = { 0, 1, 0 };
    v3_cross(r, a, fabs(a[0]) < 0.9 ? x : y);
    v3_scale(r, 1.0 / v3_norm(r));
}

void pli_polar_stable(const double a[9], double q[9])
{
    double s[9], v[9], u[3][3], w[3][3];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) s[3 * i + j] = a[i] * a[j] + a[3 + i] * a[3 + j] + a[6 + i] * a[6 + j];
    jacobi(s, v);
    // from the largest stretch to the smallest
    int order[3] = { 0, 1, 2 };
    for (int i = 0; i < 3; ++i)
        for (int j = i + 1; j < 3; ++j)
            if (s[4 * order[j]] > s[4 * order[i]]) {
                int swap = order[i];
                order[i] = order[j];
                order[j] = swap;
            }
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) w[k][i] = v[3 * i + order[k]];
        m3_apply(u[k], a, w[k]);
    }
    // a right-handed pair of frames: the third axis follows from the first two, which turns the least stretch round if it must
    double big = v3_norm(u[0]);
    if (!(big > 0.0)) {
        memset(q, 0, 9 * sizeof *q);
        q[0] = q[4] = q[8] = 1.0;
        return;
    }
    v3_scale(u[0], 1.0 / big);
    double along = v3_dot(u[1], u[0]);
    v3_madd(u[1], -along, u[0]);
    double second = v3_norm(u[1]);
    if (second > 1e-12 * big)
        v3_scale(u[1], 1.0 / second);
    else
        any_normal(u[1], u[0]);
    v3_cross(u[2], u[0], u[1]);
    v3_cross(w[2], w[0], w[1]);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) q[3 * i + j] = u[0][i] * w[0][j] + u[1][i] * w[1][j] + u[2][i] * w[2][j];
}
