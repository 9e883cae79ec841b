/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "support/fold.h"

extern "C" {
#include "base/hash.h"
#include "solver/tiles.h"
}

namespace
{

using Vec = std::vector<double>;

// Groups in a chain with some long links, cut into pieces that do not touch; negative eigenvalues when `shift` is small.
struct Problem {
    PliIndex groups;
    Vec dense; // [12 groups, 12 groups]
    PliTiles *m;
    Problem(PliIndex n, PliIndex piece, double shift) : groups(n), dense(144 * size_t(n) * n, 0.0)
    {
        PliHost host = pli_host_default();
        m = pli_tiles_create(&host);
        auto coupled = [&](PliIndex a, PliIndex b) {
            return a / piece == b / piece && (a - b <= 2 || (a % 7 == 0 && b % 5 == 0));
        };
        EXPECT_EQ(PLI_OK, pli_tiles_begin(m, n));
        for (PliIndex a = 0; a < n; ++a)
            for (PliIndex b = 0; b <= a; ++b)
                if (coupled(a, b)) pli_tiles_join(m, a, b);
        EXPECT_EQ(PLI_OK, pli_tiles_seal(m));
        pli_tiles_zero(m);
        uint64_t seed = 7;
        const size_t width = 12 * size_t(n);
        for (PliIndex a = 0; a < n; ++a)
            for (PliIndex b = 0; b <= a; ++b) {
                if (!coupled(a, b)) continue;
                for (size_t i = 0; i < 12; ++i)
                    for (size_t j = 0; j < (a == b ? i + 1 : 12); ++j) {
                        const double v = pli_random_unit(&seed) - 0.5 + (a == b && i == j ? shift : 0.0);
                        dense[(12 * a + i) * width + 12 * b + j] = dense[(12 * b + j) * width + 12 * a + i] = v;
                    }
            }
        for (PliIndex a = 0; a < n; ++a)
            for (PliIndex b = 0; b < n; ++b)
                if (double *to = pli_tiles_block(m, a, b))
                    for (size_t i = 0; i < 12; ++i)
                        for (size_t j = 0; j < 12; ++j) to[PLI_TILE * i + j] = dense[(12 * a + i) * width + 12 * b + j];
    }
    ~Problem() { pli_tiles_destroy(m); }
    Vec times(const Vec &x) const
    {
        Vec y(x.size(), 0.0);
        for (size_t i = 0; i < x.size(); ++i)
            for (size_t j = 0; j < x.size(); ++j) y[i] += dense[i * x.size() + j] * x[j];
        return y;
    }
    Vec solve(const Vec &b) const
    {
        Vec x(b.size());
        for (size_t i = 0; i < b.size(); ++i) m->x[pli_tiles_at(m, PliIndex(i / 12)) + i % 12] = b[i];
        pli_tiles_solve(m, m->x);
        for (size_t i = 0; i < b.size(); ++i) x[i] = m->x[pli_tiles_at(m, PliIndex(i / 12)) + i % 12];
        return x;
    }
};

TEST(Tiles, SolveAnyPatternDefiniteOrNot)
{
    for (PliIndex n : { 1u, 2u, 4u, 5u, 9u, 23u, 40u })
        for (PliIndex piece : { 3u, 100u })
            for (double shift : { 30.0, 2.0 }) {
                Problem p(n, piece, shift);
                Vec x(12 * n);
                for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(1.0 + double(i));
                const Vec b = p.times(x);
                ASSERT_EQ(PLI_OK, pli_tiles_factor(p.m));
                const Vec y = p.solve(b);
                double worst = 0.0;
                for (size_t i = 0; i < x.size(); ++i) worst = largest_of(worst, std::fabs(x[i] - y[i]));
                EXPECT_LT(worst, shift > 10.0 ? 1e-12 : 1e-6) << n << " " << piece;
                if (shift > 10.0) {
                    EXPECT_EQ(p.m->negative, 0u);
                }
            }
    Problem zero(2, 3, 0.0);
    pli_tiles_zero(zero.m);
    EXPECT_EQ(PLI_DIVERGED, pli_tiles_factor(zero.m));
}

TEST(Tiles, ProductsAreThoseOfTheDenseMatrix)
{
    for (PliIndex n : { 1u, 5u, 23u })
        for (PliIndex piece : { 3u, 100u }) {
            Problem p(n, piece, 2.0);
            const size_t all = size_t(PLI_TILE) * p.m->tiles;
            const Vec plain(p.m->a, p.m->a + size_t(PLI_TILE) * PLI_TILE * p.m->stored);
            Vec x(12 * n), padded(all, 0.0), y(all);
            for (size_t i = 0; i < x.size(); ++i)
                padded[pli_tiles_at(p.m, PliIndex(i / 12)) + i % 12] = x[i] = std::sin(1.0 + double(i));
            const Vec b = p.times(x);
            ASSERT_EQ(PLI_OK, pli_tiles_factor(p.m)); // the copy is from before
            pli_tiles_multiply(p.m, plain.data(), padded.data(), y.data());
            for (size_t i = 0; i < x.size(); ++i)
                EXPECT_NEAR(y[pli_tiles_at(p.m, PliIndex(i / 12)) + i % 12], b[i], 1e-12) << n << " " << piece;
        }
}

TEST(Tiles, PiecesThatDoNotTouchShareNoTile)
{
    Problem together(40, 100, 30.0), apart(40, 4, 30.0);
    EXPECT_EQ(apart.m->tiles, 10u);
    EXPECT_EQ(apart.m->stored, 10u);
    EXPECT_LT(pli_tiles_work(apart.m), 0.2 * pli_tiles_work(together.m));
}

TEST(Tiles, AFixedUnknownIsTakenOut)
{
    Problem p(9, 100, 30.0);
    pli_tiles_fix(p.m, 4, 7);
    const size_t n = 12 * 9, at = 12 * 4 + 7;
    for (size_t i = 0; i < n; ++i) p.dense[at * n + i] = p.dense[i * n + at] = i == at ? 1.0 : 0.0;
    Vec x(n, 1.0);
    x[at] = 0.0;
    ASSERT_EQ(PLI_OK, pli_tiles_factor(p.m));
    const Vec y = p.solve(p.times(x));
    for (size_t i = 0; i < n; ++i) EXPECT_NEAR(x[i], y[i], 1e-12);
}

TEST(Tiles, VectorUnitsGiveTheSameBits)
{
    Vec first;
    for (const char *unit : { "none", "avx2", "avx512" }) {
        setenv("PLIANT_SIMD", unit, 1);
        Problem p(23, 100, 30.0);
        ASSERT_EQ(PLI_OK, pli_tiles_factor(p.m));
        const Vec y = p.solve(Vec(12 * 23, 1.0));
        if (first.empty()) first = y;
        EXPECT_EQ(first, y) << unit;
    }
    unsetenv("PLIANT_SIMD");
}

} // namespace

// Groups that come and go behind those that stay: the factor goes on from what these are to each other, whatever came before.
TEST(Tiles, keepTheFactorOfEarlyGroupsWhileOthersComeAndGo)
{
    constexpr PliIndex stay = 23, pool = 40, all = stay + pool;
    const size_t width = 12 * size_t(all);
    Vec dense(width * width, 0.0);
    uint64_t seed = 3;
    auto coupled = [&](PliIndex a, PliIndex b) { return a == b || (a + 3 * b + b * b) % 5 < 2; }; // a >= b
    for (size_t i = 0; i < width; ++i)
        for (size_t j = 0; j <= i; ++j)
            if (coupled(PliIndex(i / 12), PliIndex(j / 12)))
                dense[i * width + j] = dense[j * width + i] = pli_random_unit(&seed) - 0.5 + (i == j ? 60.0 : 0.0);
    const PliHost host = pli_host_default();
    PliTiles *m = pli_tiles_create(&host);
    int kept = 0;
    for (int round = 0; round < 12; ++round) {
        std::vector<PliIndex> group; // of `dense`
        for (PliIndex g = 0; g < stay; ++g) group.push_back(g);
        for (PliIndex g = stay; g < all; ++g)
            if (pli_random_unit(&seed) < 0.08 * round) group.push_back(g);
        const PliIndex n = PliIndex(group.size());
        ASSERT_EQ(PLI_OK, pli_tiles_begin(m, n));
        pli_tiles_eliminate_first(m, stay);
        for (PliIndex a = 0; a < n; ++a)
            for (PliIndex b = 0; b <= a; ++b)
                if (coupled(group[a], group[b])) pli_tiles_join(m, a, b);
        ASSERT_EQ(PLI_OK, pli_tiles_seal(m));
        const bool keeps = pli_tiles_keep_early(m);
        EXPECT_EQ(keeps, round > 0 && n > stay) << round;
        kept += keeps;
        if (!keeps) pli_tiles_zero(m);
        for (PliIndex a = 0; a < n; ++a)
            for (PliIndex b = 0; b < n; ++b) {
                double *to = keeps && a < stay && b < stay ? nullptr : pli_tiles_block(m, a, b);
                for (size_t i = 0; to && i < 12; ++i)
                    for (size_t j = 0; j < 12; ++j)
                        to[PLI_TILE * i + j] = dense[(12 * group[a] + i) * width + 12 * group[b] + j];
            }
        ASSERT_EQ(PLI_OK, pli_tiles_factor(m));
        Vec x(PLI_TILE * size_t(m->tiles), 0.0);
        for (PliIndex g = 0; g < n; ++g)
            for (size_t i = 0; i < 12; ++i) x[pli_tiles_at(m, g) + i] = std::sin(double(12 * group[g] + i));
        pli_tiles_solve(m, x.data());
        double worst = 0.0;
        for (PliIndex g = 0; g < n; ++g)
            for (size_t i = 0; i < 12; ++i) {
                double left = std::sin(double(12 * group[g] + i));
                for (PliIndex h = 0; h < n; ++h)
                    for (size_t j = 0; j < 12; ++j)
                        left -= dense[(12 * group[g] + i) * width + 12 * group[h] + j] * x[pli_tiles_at(m, h) + j];
                worst = std::max(worst, std::fabs(left));
            }
        EXPECT_LT(worst, 1e-12 * 60.0) << round;
    }
    EXPECT_GE(kept, 9);
    pli_tiles_destroy(m);
}
