/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <algorithm>
#include <cmath>

#include "support/fixture.h"

extern "C" {
#include "mesh/nearest.h"
}

using pliant_test::random_in;
using pliant_test::WatchedHost;

namespace
{

using Points = std::vector<double>;

double distance(const double *p, const double *q)
{
    const double a = p[0] - q[0], b = p[1] - q[1], c = p[2] - q[2];
    return std::sqrt(a * a + b * b + c * c);
}

/// Every point looked at, the lowest number wins a tie.
PliIndex brute_nearest(const Points &x, const double *p, PliIndex modulus = 1, PliIndex remainder = 0)
{
    PliIndex best = PLI_NONE;
    for (PliIndex i = 0; i < x.size() / 3; ++i)
        if (i % modulus == remainder && (best == PLI_NONE || distance(p, &x[3 * i]) < distance(p, &x[3 * best]))) {
            best = i;
        }
    return best;
}

/// Sets that are hard on a grid: even, flat, on a line longer than the grid may have cells, clustered, all in one place, a
/// lattice full of ties, one point.
std::vector<std::pair<std::string, Points>> hard_sets()
{
    uint64_t seed = 31;
    std::vector<std::pair<std::string, Points>> sets;
    auto add = [&](const char *name, size_t count, auto &&make) {
        Points x;
        for (size_t i = 0; i < count; ++i) {
            double p[3];
            make(i, p);
            x.insert(x.end(), p, p + 3);
        }
        sets.emplace_back(name, std::move(x));
    };
    auto even = [&](double *p) {
        for (int d = 0; d < 3; ++d) p[d] = random_in(&seed, -2, 5);
    };
    add("even", 700, [&](size_t, double *p) { even(p); });
    add("flat", 400, [&](size_t, double *p) { even(p), p[1] = 0.25; });
    add("line", 3000, [&](size_t, double *p) { even(p), p[1] = -7, p[2] = 1e-4; });
    add("clusters", 600, [&](size_t i, double *p) {
        even(p);
        for (int d = 0; d < 3; ++d) p[d] = 1e-5 * p[d] + double(i % 3);
    });
    add("one place", 50, [&](size_t, double *p) { p[0] = 1, p[1] = 2, p[2] = 3; });
    add("lattice", 343,
        [&](size_t i, double *p) { p[0] = double(i % 7), p[1] = double(i / 7 % 7), p[2] = double(i / 49); });
    add("one", 1, [&](size_t, double *p) { even(p); });
    return sets;
}

/// Places to ask at: points of the set, between them (ties on a lattice), around and far away.
Points queries(const Points &x, uint64_t seed)
{
    Points q;
    for (int i = 0; i < 250; ++i) {
        const size_t a = pli_random(&seed) % (x.size() / 3), b = pli_random(&seed) % (x.size() / 3);
        const double reach = i % 5 == 4 ? 100.0 : i % 5 == 3 ? 4.0 : 0.0;
        for (int d = 0; d < 3; ++d)
            q.push_back((i % 5 == 0 ? x[3 * a + d] : 0.5 * (x[3 * a + d] + x[3 * b + d])) +
                        random_in(&seed, -reach, reach));
    }
    return q;
}

} // namespace

TEST(Nearest, FindsWhatBruteForceFinds)
{
    WatchedHost w;
    for (const auto &[name, x] : hard_sets()) {
        PliNearest n;
        ASSERT_EQ(pli_nearest_init(&n, &w.host, x.data(), PliIndex(x.size() / 3)), PLI_OK);
        const Points q = queries(x, 5);
        for (size_t i = 0; i < q.size(); i += 3)
            ASSERT_EQ(pli_nearest_find(&n, &q[i], nullptr, nullptr), brute_nearest(x, &q[i]))
                << name << ", query " << i / 3;
        pli_nearest_free(&n);
    }
}

TEST(Nearest, LooksOnlyAtAcceptedPoints)
{
    WatchedHost w;
    auto third = [](PliIndex i, void *) { return i % 3 == 1; };
    auto none = [](PliIndex, void *) { return false; };
    for (const auto &[name, x] : hard_sets()) {
        PliNearest n;
        ASSERT_EQ(pli_nearest_init(&n, &w.host, x.data(), PliIndex(x.size() / 3)), PLI_OK);
        const Points q = queries(x, 6);
        for (size_t i = 0; i < q.size(); i += 3) {
            ASSERT_EQ(pli_nearest_find(&n, &q[i], third, nullptr), brute_nearest(x, &q[i], 3, 1))
                << name << " " << i / 3;
            if (i < 30) {
                ASSERT_EQ(pli_nearest_find(&n, &q[i], none, nullptr), PLI_NONE) << name;
            }
        }
        pli_nearest_free(&n);
    }
}

TEST(Nearest, VisitsEveryPointWithinARadiusOnce)
{
    WatchedHost w;
    auto collect = [](PliIndex i, void *user) { static_cast<std::vector<PliIndex> *>(user)->push_back(i); };
    for (const auto &[name, x] : hard_sets()) {
        PliNearest n;
        ASSERT_EQ(pli_nearest_init(&n, &w.host, x.data(), PliIndex(x.size() / 3)), PLI_OK);
        const Points q = queries(x, 7);
        for (size_t i = 0; i < q.size(); i += 3)
            for (double radius : { 0.0, 0.3, 1.0, 50.0 }) {
                std::vector<PliIndex> found, again, expected;
                pli_nearest_within(&n, &q[i], radius, collect, &found);
                pli_nearest_within(&n, &q[i], radius, collect, &again);
                ASSERT_EQ(found, again) << name;
                for (PliIndex k = 0; k < x.size() / 3; ++k)
                    if (distance(&q[i], &x[3 * k]) <= radius) expected.push_back(k);
                std::sort(found.begin(), found.end());
                ASSERT_EQ(found, expected) << name << ", radius " << radius;
            }
        pli_nearest_free(&n);
    }
}

TEST(Nearest, RunsOutOfMemoryWithoutALeak)
{
    for (long granted : { 0L, 1L }) {
        WatchedHost w;
        w.quiet = true;
        w.fail_after = granted;
        const Points x = { 0, 0, 0, 1, 1, 1 };
        PliNearest n;
        EXPECT_EQ(pli_nearest_init(&n, &w.host, x.data(), 2), PLI_OUT_OF_MEMORY);
        pli_nearest_free(&n);
    }
}
