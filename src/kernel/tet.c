/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Single tetrahedra and single matrices: rest data, gradients, steps, stiffness, and the rotation no input can defeat.
#include "kernel/elastic_state.h"

#include "base/vec.h"

#include <string.h>

PliStatus pli_tet_rest(const PliIndex *tets, PliIndex count, const double *x0, PliTetRest *rest, PliIndex *bad)
{
    for (PliIndex t = 0; t < count; ++t) {
        const PliIndex *c = tets + 4 * (size_t)t;
        const double *o = x0 + 3 * (size_t)c[0];
        double d[9], inverse[9], longest = 0.0; // columns of d are the edges from corner 0
        for (int a = 0; a < 3; ++a) {
            const double *p = x0 + 3 * (size_t)c[a + 1];
            double length2 = 0.0;
            for (int i = 0; i < 3; ++i) {
                d[3 * i + a] = p[i] - o[i];
                length2 += d[3 * i + a] * d[3 * i + a];
            }
            if (length2 > longest) longest = length2;
        }
        double det = m3_det(d);
        // flat: thinner than 1e-12 of its size. The negated comparison also refuses NaN
        if (!(det > 1e-12 * longest * sqrt(longest)) || !isfinite(det)) {
            if (bad) *bad = t;
            return PLI_BAD_MESH;
        }
        m3_inverse(inverse, d);
        memcpy(rest[t].grad, inverse, sizeof inverse); // row a is the gradient of corner a + 1
        rest[t].volume = det / 6.0;
    }
    return PLI_OK;
}

void pli_tet_gradient(const PliIndex corner[4], const PliTetRest *rest, const double *x, double F[9])
{
    double d[3][3];
    for (int a = 0; a < 3; ++a) v3_sub(d[a], x + 3 * (size_t)corner[a + 1], x + 3 * (size_t)corner[0]);
    const double *g = rest->grad;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) F[3 * i + j] = d[0][i] * g[j] + d[1][i] * g[3 + j] + d[2][i] * g[6 + j];
}

double pli_wave_modulus(const PliMaterial *m)
{
    return m->young * (1.0 - m->poisson) / ((1.0 + m->poisson) * (1.0 - 2.0 * m->poisson));
}

double pli_tet_critical_step(const PliTetRest *rest, const PliMaterial *m)
{
    // an altitude is one over the length of its corner's gradient
    const double *g = rest->grad;
    double zero[3] = { g[0] + g[3] + g[6], g[1] + g[4] + g[7], g[2] + g[5] + g[8] };
    double steepest = v3_norm(zero);
    for (int a = 0; a < 3; ++a) steepest = fmax(steepest, v3_norm(g + 3 * a));
    return sqrt(m->density / pli_wave_modulus(m)) / steepest;
}

void pli_elastic_add_lumped(const PliElastic *e, const double *x, double *stiffness, double *viscous)
{
    e->kernel->tet_lump(e, x, stiffness, viscous);
}

void pli_elastic_add_rest_response(const PliElastic *e, const double *u, double *f)
{
    e->kernel->tet_rest_response(e, u, f);
}

PliLame pli_lame(const PliMaterial *m)
{
    double mu = m->young / (2.0 * (1.0 + m->poisson));
    double lambda = m->young * m->poisson / ((1.0 + m->poisson) * (1.0 - 2.0 * m->poisson));
    PliLame r = {
        .mu = mu, .lambda = lambda, .viscous_mu = m->damping * mu, .viscous_lambda = m->damping * lambda, .bulk = lambda
    };
    if (m->law == PLI_NEOHOOKEAN) {
        // Smith, de Goes, Kim 2018: with these, the linearisation at rest is Hooke's law with mu and lambda
        r.mu = 4.0 / 3.0 * mu;
        r.lambda = lambda + 5.0 / 6.0 * mu;
        r.alpha = 1.0 + 0.75 * r.mu / r.lambda;
        r.rest_energy = 0.5 * r.lambda * (1.0 - r.alpha) * (1.0 - r.alpha) - 0.5 * r.mu * log(4.0);
    }
    return r;
}

// The unit quaternion q that maximises tr(R(q)^T F) is the eigenvector of the largest eigenvalue of a symmetric 4x4
// matrix (Horn 1987). Cyclic Jacobi with a fixed number of sweeps finds it for every finite F; F = 0 gives the identity.
void pli_polar_robust(const double F[9], double R[9])
{
    double size = 0.0;
    for (int i = 0; i < 9; ++i) size = fmax(size, fabs(F[i]));
    double s = size > 0.0 && isfinite(size) ? 1.0 / size : 1.0, f[9];
    for (int i = 0; i < 9; ++i) f[i] = F[i] * s;
    double a[4][4] = { { f[0] + f[4] + f[8], f[7] - f[5], f[2] - f[6], f[3] - f[1] },
                       { f[7] - f[5], f[0] - f[4] - f[8], f[1] + f[3], f[2] + f[6] },
                       { f[2] - f[6], f[1] + f[3], f[4] - f[0] - f[8], f[5] + f[7] },
                       { f[3] - f[1], f[2] + f[6], f[5] + f[7], f[8] - f[0] - f[4] } };
    double v[4][4] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } };
    for (int sweep = 0; sweep < 10; ++sweep)
        for (int p = 0; p < 3; ++p)
            for (int q = p + 1; q < 4; ++q) {
                if (!(fabs(a[p][q]) > 1e-150)) continue;
                double gap = a[q][q] - a[p][p], twice = 2.0 * a[p][q];
                double t = copysign(1.0, gap) * twice / (fabs(gap) + sqrt(gap * gap + twice * twice));
                double c = 1.0 / sqrt(t * t + 1.0), n = t * c;
                a[p][p] -= t * a[p][q], a[q][q] += t * a[p][q];
                a[p][q] = a[q][p] = 0.0;
                for (int k = 0; k < 4; ++k) {
                    if (k != p && k != q) {
                        double x = a[k][p], y = a[k][q];
                        a[k][p] = a[p][k] = c * x - n * y;
                        a[k][q] = a[q][k] = n * x + c * y;
                    }
                    double x = v[k][p], y = v[k][q];
                    v[k][p] = c * x - n * y;
                    v[k][q] = n * x + c * y;
                }
            }
    int top = 0;
    for (int k = 1; k < 4; ++k)
        if (a[k][k] > a[top][top]) top = k;
    double w = v[0][top], x = v[1][top], y = v[2][top], z = v[3][top];
    double n = 1.0 / sqrt(w * w + x * x + y * y + z * z);
    w *= n, x *= n, y *= n, z *= n;
    R[0] = 1.0 - 2.0 * (y * y + z * z), R[1] = 2.0 * (x * y - w * z), R[2] = 2.0 * (x * z + w * y);
    R[3] = 2.0 * (x * y + w * z), R[4] = 1.0 - 2.0 * (x * x + z * z), R[5] = 2.0 * (y * z - w * x);
    R[6] = 2.0 * (x * z - w * y), R[7] = 2.0 * (y * z + w * x), R[8] = 1.0 - 2.0 * (x * x + y * y);
}
