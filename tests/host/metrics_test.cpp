/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Distances against brute force and closed forms; statistics against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "host/components/metrics.h"
#include "surface/triangle_tree.h"
#include "support/fold.h"

namespace
{

const PliHost host = pli_host_default();

struct Destroy {
    void operator()(PliTriangleTree *t) const { pli_triangle_tree_destroy(t); }
};
using Tree = std::unique_ptr<PliTriangleTree, Destroy>;

struct Surface {
    std::vector<double> x;
    std::vector<PliIndex> tris;
    PliIndex points() const { return static_cast<PliIndex>(x.size() / 3); }
    PliIndex count() const { return static_cast<PliIndex>(tris.size() / 3); }
};

/// A bumpy n x n sheet of unit side.
Surface sheet(int n)
{
    Surface s;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const double u = i / (n - 1.0), v = j / (n - 1.0);
            s.x.insert(s.x.end(), { u, 0.1 * std::sin(5 * u) * std::cos(4 * v), v });
            if (i + 1 == n || j + 1 == n) continue;
            const PliIndex a = static_cast<PliIndex>(i * n + j), m = static_cast<PliIndex>(n);
            s.tris.insert(s.tris.end(), { a, a + 1, a + m, a + 1, a + m + 1, a + m });
        }
    return s;
}

double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Dense sampling of the triangle: an upper bound of the distance that converges to it.
double sampled(const double *p, const double *a, const double *b, const double *c)
{
    double best = INFINITY;
    const int n = 200;
    for (int i = 0; i <= n; ++i)
        for (int j = 0; i + j <= n; ++j) {
            double d[3];
            for (int k = 0; k < 3; ++k) d[k] = a[k] + (b[k] - a[k]) * i / n + (c[k] - a[k]) * j / n - p[k];
            best = smallest_of(best, std::sqrt(dot(d, d)));
        }
    return best;
}

TEST(Metrics, DistanceToATriangleMatchesDenseSampling)
{
    uint64_t seed = 3;
    for (int trial = 0; trial < 60; ++trial) {
        double q[12];
        for (double &v : q) v = pli_random_unit(&seed) * 2 - 1;
        const double exact = pli_distance_to_triangle(q, q + 3, q + 6, q + 9), rough = sampled(q, q + 3, q + 6, q + 9);
        EXPECT_LE(exact, rough + 1e-12);
        EXPECT_GT(exact, rough - 0.02);
    }
    const double p[3] = { 1, 2, 0 }, a[3] = { 0, 0, 0 }, b[3] = { 2, 0, 0 };
    EXPECT_DOUBLE_EQ(pli_distance_to_triangle(p, a, b, b), 2.0); // flat: an edge
    EXPECT_DOUBLE_EQ(pli_distance_to_triangle(p, a, a, a), std::sqrt(5.0));
}

TEST(Metrics, GapIsAreaWeightedAndShowsNaN)
{
    std::vector<double> a(9, 0.0), b(9, 0.0);
    b[0] = 3.0; // point 0
    b[4] = 1.0; // point 1
    const double weight[3] = { 1.0, 7.0, 0.0 };
    PliGap g = pli_gap(a.data(), b.data(), weight, 3);
    EXPECT_DOUBLE_EQ(g.rms, std::sqrt((9.0 + 7.0) / 8.0));
    EXPECT_DOUBLE_EQ(g.max, 3.0);
    g = pli_gap(a.data(), b.data(), nullptr, 3);
    EXPECT_DOUBLE_EQ(g.rms, std::sqrt(10.0 / 3.0));
    b[1] = NAN;
    g = pli_gap(a.data(), b.data(), weight, 3);
    EXPECT_TRUE(std::isnan(g.rms) && std::isnan(g.max));
    const Surface s = sheet(30);
    std::vector<double> area(s.points());
    std::vector<double> flat = s.x;
    for (size_t k = 1; k < flat.size(); k += 3) flat[k] = 0.0;
    pli_point_areas(flat.data(), s.points(), s.tris.data(), s.count(), area.data());
    double sum = 0.0;
    for (double v : area) sum += v;
    EXPECT_NEAR(sum, 1.0, 1e-12);
}

TEST(Metrics, TreeGivesTheBruteForceDistance)
{
    const Surface s = sheet(23);
    Tree tree(pli_triangle_tree_create(&host, s.x.data(), s.points(), s.tris.data(), s.count()));
    ASSERT_TRUE(tree);
    std::vector<double> moved = s.x;
    for (size_t k = 0; k < moved.size(); k += 3)
        moved[k] += 0.3 * moved[k + 2] * moved[k + 2], moved[k + 1] += 0.2 * moved[k];
    pli_triangle_tree_refit(tree.get(), moved.data());
    uint64_t seed = 9;
    for (int trial = 0; trial < 300; ++trial) {
        double p[3], best = INFINITY;
        for (double &v : p) v = pli_random_unit(&seed) * 1.6 - 0.3;
        for (PliIndex t = 0; t < s.count(); ++t)
            best =
                smallest_of(best, pli_distance_to_triangle(p, &moved[3 * s.tris[3 * t]], &moved[3 * s.tris[3 * t + 1]],
                                                           &moved[3 * s.tris[3 * t + 2]]));
        EXPECT_DOUBLE_EQ(pli_triangle_tree_distance(tree.get(), p, 1e9), best);
        EXPECT_DOUBLE_EQ(pli_triangle_tree_distance(tree.get(), p, 0.5 * best), 0.5 * best);
    }
}

TEST(Metrics, HausdorffHasItsLaws)
{
    const Surface s = sheet(25);
    Tree tree(pli_triangle_tree_create(&host, s.x.data(), s.points(), s.tris.data(), s.count()));
    ASSERT_TRUE(tree);
    EXPECT_EQ(pli_hausdorff(tree.get(), s.x.data(), s.x.data()), 0.0);
    uint64_t seed = 5;
    std::vector<double> moved = s.x;
    for (double &v : moved) v += 0.05 * (pli_random_unit(&seed) - 0.5);
    const double h = pli_hausdorff(tree.get(), s.x.data(), moved.data());
    EXPECT_GT(h, 0.0);
    EXPECT_LT(h, pli_gap(s.x.data(), moved.data(), nullptr, s.points()).max);
    EXPECT_EQ(h, pli_hausdorff(tree.get(), moved.data(), s.x.data()));
    // sliding a plane within itself moves its points, and its shape only at the rim
    std::vector<double> flat = s.x, slid;
    for (size_t k = 1; k < flat.size(); k += 3) flat[k] = 0.0;
    slid = flat;
    for (size_t k = 0; k < slid.size(); k += 3) slid[k] += 0.01 * std::sin(M_PI * slid[k]); // the rim stays
    EXPECT_NEAR(pli_gap(flat.data(), slid.data(), nullptr, s.points()).max, 0.01, 1e-4);
    EXPECT_LT(pli_hausdorff(tree.get(), flat.data(), slid.data()), 1e-12);
    // one point pulled off a plane is as far as it was pulled; a stray point without triangles does not count
    std::vector<double> pulled = flat;
    pulled[3 * (12 * 25 + 12) + 1] = 0.2;
    EXPECT_NEAR(pli_hausdorff(tree.get(), flat.data(), pulled.data()), 0.2, 1e-12);
    Surface stray = sheet(5);
    stray.x.insert(stray.x.end(), { 9.0, 9.0, 9.0 });
    Tree with(pli_triangle_tree_create(&host, stray.x.data(), stray.points(), stray.tris.data(), stray.count()));
    std::vector<double> gone = stray.x;
    gone[gone.size() - 1] = -50.0;
    EXPECT_EQ(pli_hausdorff(with.get(), stray.x.data(), gone.data()), 0.0);
}

TEST(Metrics, AnEmptySurfaceIsFine)
{
    Tree tree(pli_triangle_tree_create(&host, nullptr, 0, nullptr, 0));
    ASSERT_TRUE(tree);
    const double p[3] = { 0, 0, 0 };
    EXPECT_EQ(pli_triangle_tree_distance(tree.get(), p, 4.0), 4.0);
    EXPECT_EQ(pli_hausdorff(tree.get(), nullptr, nullptr), 0.0);
}

TEST(Metrics, SpreadFollowsItsDefinition)
{
    std::vector<double> v, scratch(2000);
    for (int k = 1000; k >= 1; --k) v.push_back(k);
    PliSpread s = pli_spread(v.data(), v.size(), scratch.data());
    EXPECT_EQ(s.median, 500.5);
    EXPECT_EQ(s.p99, 990.0);
    EXPECT_EQ(s.max, 1000.0);
    EXPECT_EQ(s.min, 1.0);
    EXPECT_EQ(s.mean, 500.5);
    v = { 7.0, NAN, INFINITY };
    s = pli_spread(v.data(), v.size(), scratch.data());
    EXPECT_EQ(s.median, 7.0);
    EXPECT_EQ(s.p99, 7.0);
    s = pli_spread(v.data(), 0, scratch.data());
    EXPECT_EQ(s.max, 0.0);
}

TEST(Metrics, HistogramAndParetoFront)
{
    const double v[] = { 0.0, 0.1, 0.49, 0.5, 1.0, 1.1, NAN, -0.1 };
    size_t n[2];
    pli_histogram(v, 8, 0.0, 1.0, 2, n);
    EXPECT_EQ(n[0], 3u);
    EXPECT_EQ(n[1], 2u);
    pli_histogram(v, 8, 1.0, 1.0, 2, n);
    EXPECT_EQ(n[0] + n[1], 0u);
    const double cost[] = { 1, 2, 3, 4, 2, NAN }, error[] = { 4, 2, 3, 1, 2, 0 };
    bool best[6];
    pli_pareto(cost, error, 6, best);
    const bool expected[6] = { true, true, false, true, true, false };
    for (int k = 0; k < 6; ++k) EXPECT_EQ(best[k], expected[k]) << k;
}

} // namespace
