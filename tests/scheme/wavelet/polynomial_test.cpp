/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// St. Venant-Kirchhoff energy as the polynomial of Capell et al. 2002 (appendix): constant tensors A, B, C, D of products of two,
// two, four and four gradients, contracted with coefficients. The printed energy is four times that of the shear modulus, so it is
// divided by four here. Energy, gradient and Hessian must be those of the samples.
//
// With e = F^T F - 1 and F = sum q_a g_a^T:
//   V = 1/4 int [ lambda/2 (tr e)^2 + mu tr e^2 ]
// and tr(F^T F) = q_a.q_b (g_a.g_b), tr (F^T F)^2 = (q_a.q_b)(q_c.q_d)(g_b.g_c)(g_d.g_a), so that
//   A_ab = int g_a.g_b, C_abcd = int (g_a.g_b)(g_c.g_d), D_abcd = int (g_b.g_c)(g_d.g_a); B is A again, of tr e^2.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include <pliant/stages.h>
#include <pliant/wavelet.h>

extern "C" {
#include "base/hash.h"
}

namespace
{
const PliHost host = pli_host_default();
constexpr int n = 12; // vertices of two cells

/// Gradients of the trilinear functions of a box of 2 x 1 x 1 cells at the eight Gauss points of each cell, written down from
/// their definition; vertices by their place.
struct Point {
    double volume, g[n][3];
};

std::vector<Point> points(const double *rest)
{
    std::vector<Point> all;
    const double at = 0.5 / std::sqrt(3.0);
    for (int cell = 0; cell < 2; ++cell)
        for (int q = 0; q < 8; ++q) {
            const double u[3] = { 0.5 + (q & 1 ? at : -at), 0.5 + (q & 2 ? at : -at), 0.5 + (q & 4 ? at : -at) };
            Point p{};
            p.volume = 0.125;
            for (int a = 0; a < n; ++a) {
                double N[3], d[3];
                for (int k = 0; k < 3; ++k) {
                    const double x =
                        rest[3 * a + k] - (k == 0 ? cell : 0); // 0 or 1 in the cell; else it is not one of it
                    const bool in = std::fabs(x) < 1e-9 || std::fabs(x - 1) < 1e-9;
                    N[k] = !in ? 0.0 : x > 0.5 ? u[k] : 1 - u[k];
                    d[k] = !in ? 0.0 : x > 0.5 ? 1 : -1;
                }
                p.g[a][0] = d[0] * N[1] * N[2], p.g[a][1] = N[0] * d[1] * N[2], p.g[a][2] = N[0] * N[1] * d[2];
            }
            all.push_back(p);
        }
    return all;
}

double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

struct Polynomial {
    double volume = 0, lambda, mu;
    std::vector<double> A, C, D; // [n, n], [n, n, n, n]

    Polynomial(const std::vector<Point> &all, double l, double m) : lambda(l), mu(m), A(n * n), C(n * n * n * n), D(C)
    {
        for (const Point &p : all) {
            double g[n][n];
            for (int a = 0; a < n; ++a)
                for (int b = 0; b < n; ++b) g[a][b] = dot(p.g[a], p.g[b]), A[n * a + b] += p.volume * g[a][b];
            volume += p.volume;
            for (int a = 0, k = 0; a < n; ++a)
                for (int b = 0; b < n; ++b)
                    for (int c = 0; c < n; ++c)
                        for (int d = 0; d < n; ++d, ++k) {
                            C[k] += p.volume * g[a][b] * g[c][d];
                            D[k] += p.volume * g[b][c] * g[d][a];
                        }
        }
    }
    /// The value, df/dq_a as `gradient` [n, 3] and the Hessian [3 n, 3 n].
    double operator()(const double *q, std::vector<double> *gradient, std::vector<double> *hessian) const
    {
        double s[n][n], energy = 0;
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b) s[a][b] = dot(q + 3 * a, q + 3 * b);
        gradient->assign(3 * n, 0.0);
        hessian->assign(9 * n * n, 0.0);
        const auto H = [&](int a, int i, int b, int j) -> double & {
            return (*hessian)[(3 * a + i) * 3 * n + 3 * b + j];
        };
        // tr e = tr F^T F - 3, tr e^2 = tr (F^T F)^2 - 2 tr F^T F + 3
        const double constant = 0.25 * volume * (4.5 * lambda + 3 * mu), two = -0.25 * (3 * lambda + 2 * mu);
        energy = constant;
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b) {
                energy += two * A[n * a + b] * s[a][b];
                for (int i = 0; i < 3; ++i) {
                    (*gradient)[3 * a + i] += 2 * two * A[n * a + b] * q[3 * b + i];
                    H(a, i, b, i) += 2 * two * A[n * a + b];
                }
            }
        for (int a = 0, k = 0; a < n; ++a)
            for (int b = 0; b < n; ++b)
                for (int c = 0; c < n; ++c)
                    for (int d = 0; d < n; ++d, ++k) {
                        const double w = 0.25 * (0.5 * lambda * C[k] +
                                                 mu * D[k]); // symmetric in (a b)(c d) and in a <-> b, c <-> d together
                        if (w == 0.0) continue;
                        energy += w * s[a][b] * s[c][d];
                        // every one of the four places
                        const int v[4] = { a, b, c, d };
                        const int mate[4] = { b, a, d, c };
                        for (int x = 0; x < 4; ++x) {
                            const double other = x < 2 ? s[c][d] : s[a][b];
                            for (int i = 0; i < 3; ++i) (*gradient)[3 * v[x] + i] += w * other * q[3 * mate[x] + i];
                            for (int i = 0; i < 3; ++i) H(v[x], i, mate[x], i) += w * other;
                            for (int y = x < 2 ? 2 : 0; y < (x < 2 ? 4 : 2); ++y)
                                for (int i = 0; i < 3; ++i)
                                    for (int j = 0; j < 3; ++j)
                                        H(v[x], i, v[y], j) += w * q[3 * mate[x] + i] * q[3 * mate[y] + j];
                        }
                    }
        return energy;
    }
};
} // namespace

TEST(WaveletPolynomial, energyGradientAndHessianAreThoseOfTheTensors)
{
    PliWaveletDef d = pli_wavelet_default();
    const PliIndex cells[3] = { 2, 1, 1 };
    for (int k = 0; k < 3; ++k) d.box_cells[k] = cells[k], d.box_max[k] = cells[k];
    d.basis = PLI_WAVELET_TRILINEAR, d.law = PLI_WAVELET_NONLINEAR, d.levels = 0;
    d.base.material.young = 7.0, d.base.material.poisson = 0.3;
    PliBody *body = pli_wavelet_create(&host, &d, nullptr);
    ASSERT_TRUE(body);
    ASSERT_EQ(pli_body_dof_count(body), PliIndex(n));
    const double *rest = pli_body_rest(body);
    const double mu = 7.0 / (2 * 1.3), lambda = 7.0 * 0.3 / (1.3 * 0.4);
    const Polynomial polynomial(points(rest), lambda, mu);
    std::vector<double> x(rest, rest + 3 * n), f(3 * n, 0.0), v(3 * n, 0.0), gradient, hessian;
    uint64_t seed = 4;
    for (double &p : x) p += 0.6 * (double(pli_random(&seed) >> 11) / 9007199254740992.0 - 0.5);
    const double energy = polynomial(x.data(), &gradient, &hessian);
    pli_body_add_force(body, x.data(), nullptr, f.data());
    EXPECT_NEAR(pli_body_energy(body, x.data(), v.data()).elastic / energy, 1.0, 1e-11);
    double most = 0, off = 0;
    for (int i = 0; i < 3 * n; ++i)
        most = std::max(most, std::fabs(gradient[i])), off = std::max(off, std::fabs(gradient[i] + f[i]));
    EXPECT_LT(off, 1e-11 * most);
    // columns of K
    most = off = 0;
    for (int j = 0; j < 3 * n; ++j) {
        std::vector<double> dx(3 * n, 0.0), df(3 * n, 0.0);
        dx[j] = 1.0;
        pli_body_add_dforce(body, dx.data(), 1.0, df.data());
        for (int i = 0; i < 3 * n; ++i) {
            most = std::max(most, std::fabs(hessian[3 * n * i + j]));
            off = std::max(off, std::fabs(hessian[3 * n * i + j] + df[i]));
        }
    }
    EXPECT_GT(most, 1.0);
    EXPECT_LT(off, 1e-9 * most);
    pli_body_destroy(body);
}
