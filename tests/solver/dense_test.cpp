/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

extern "C" {
#include "base/hash.h"
#include "solver/dense.h"
}

namespace {

// a symmetric matrix with some negative eigenvalues when `shift` is small
void fill(PliDense *m, PliIndex n, double shift)
{
    uint64_t seed = 7;
    ASSERT_EQ(PLI_OK, pli_dense_reserve(m, n));
    pli_dense_zero(m);
    for (PliIndex i = 0; i < n; ++i)
        for (PliIndex j = 0; j <= i; ++j) m->a[i * m->stride + j] = pli_random_unit(&seed) - 0.5 + (i == j ? shift : 0.0);
}

TEST(Dense, SolvesAnySizeDefiniteOrNot)
{
    PliHost host = pli_host_default();
    PliDense *m = pli_dense_create(&host);
    for (PliIndex n : { 1u, 3u, 7u, 12u, 47u, 48u, 49u, 96u, 131u, 250u })
        for (double shift : { 30.0, 2.0 }) {
            fill(m, n, shift);
            std::vector<double> a(n * n), x(n), b(n, 0.0), y(n);
            for (PliIndex i = 0; i < n; ++i) {
                x[i] = std::sin(1.0 + i);
                for (PliIndex j = 0; j <= i; ++j) a[i * n + j] = a[j * n + i] = m->a[i * m->stride + j];
            }
            for (PliIndex i = 0; i < n; ++i)
                for (PliIndex j = 0; j < n; ++j) b[i] += a[i * n + j] * x[j];
            ASSERT_EQ(PLI_OK, pli_dense_factor(m));
            pli_dense_solve(m, b.data(), y.data());
            double worst = 0.0;
            for (PliIndex i = 0; i < n; ++i) worst = std::max(worst, std::fabs(x[i] - y[i]));
            EXPECT_LT(worst, shift > 10.0 ? 1e-12 : 1e-6) << n;
            if (shift > 10.0) {
                EXPECT_EQ(m->negative, 0u);
            }
        }
    pli_dense_reserve(m, 2);
    pli_dense_zero(m);
    EXPECT_EQ(PLI_DIVERGED, pli_dense_factor(m));
    pli_dense_destroy(m);
}

TEST(Dense, VectorUnitsGiveTheSameBits)
{
    PliHost host = pli_host_default();
    std::vector<double> first;
    for (const char *unit : { "none", "avx2", "avx512" }) {
        setenv("PLIANT_SIMD", unit, 1);
        PliDense *m = pli_dense_create(&host);
        fill(m, 150, 30.0);
        ASSERT_EQ(PLI_OK, pli_dense_factor(m));
        std::vector<double> l;
        for (PliIndex i = 0; i < 150; ++i)
            for (PliIndex j = 0; j < i; ++j) l.push_back(m->a[i * m->stride + j]);
        l.insert(l.end(), m->d, m->d + 150);
        if (first.empty()) first = l;
        EXPECT_EQ(first, l) << unit;
        pli_dense_destroy(m);
    }
    unsetenv("PLIANT_SIMD");
}

} // namespace
