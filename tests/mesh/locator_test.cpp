/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/hash.h"
#include "base/vec.h"
#include "mesh/support.h"
#include "support/fold.h"

namespace
{

LocatorPtr make_locator(const PliMesh &m)
{
    PliHost host = pli_host_default();
    return LocatorPtr(pli_locator_create(&host, m.x, m.point_count, m.tets, m.tet_count));
}

/// Projected gradient over the four weights: slow, and shares nothing with the library's distance.
double slow_distance(const PliMesh &m, PliIndex t, const double p[3])
{
    const double *c[4];
    for (int k = 0; k < 4; ++k) c[k] = m.x + 3 * m.tets[4 * t + k];
    double w[4] = { 0.25, 0.25, 0.25, 0.25 }, d[3];
    // pairwise exact line searches on the simplex converge to the closest point
    for (int sweep = 0; sweep < 400; ++sweep)
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j) {
                for (int a = 0; a < 3; ++a)
                    d[a] = p[a] - (w[0] * c[0][a] + w[1] * c[1][a] + w[2] * c[2][a] + w[3] * c[3][a]);
                double e[3];
                v3_sub(e, c[i], c[j]);
                const double s = std::clamp(v3_dot(d, e) / v3_dot(e, e), -w[i], w[j]);
                w[i] += s, w[j] -= s;
            }
    for (int a = 0; a < 3; ++a) d[a] = p[a] - (w[0] * c[0][a] + w[1] * c[1][a] + w[2] * c[2][a] + w[3] * c[3][a]);
    return v3_norm(d);
}

void expect_reproduces(const PliMesh &m, PliIndex t, const double p[3], const double w[4])
{
    EXPECT_NEAR(w[0] + w[1] + w[2] + w[3], 1.0, 1e-14);
    for (int a = 0; a < 3; ++a) {
        double x = 0;
        for (int k = 0; k < 4; ++k) x += w[k] * m.x[3 * m.tets[4 * t + k] + a];
        EXPECT_NEAR(x, p[a], 1e-12);
    }
}

TEST(Locator, FindsTheContainingTet)
{
    MeshPtr m = make_box({ 5, 4, 6 }, { 0, 0, 0 }, { 1, 1, 1 }, 0.3, 11);
    LocatorPtr l = make_locator(*m);
    uint64_t random = 1;
    for (int n = 0; n < 2000; ++n) {
        double p[3] = { pli_random_unit(&random), pli_random_unit(&random), pli_random_unit(&random) }, w[4];
        PliIndex t;
        EXPECT_EQ(pli_locator_find(l.get(), p, &t, w), 0.0);
        ASSERT_LT(t, m->tet_count);
        for (double v : w) EXPECT_GE(v, -1e-12);
        expect_reproduces(*m, t, p, w);
    }
}

TEST(Locator, NodesBelongToTheLowestTetAroundThem)
{
    MeshPtr m = make_box({ 4, 4, 4 }, { 0, 0, 0 }, { 1, 1, 1 }, 0.3, 5);
    LocatorPtr l = make_locator(*m);
    for (PliIndex i = 0; i < m->point_count; ++i) {
        PliIndex lowest = PLI_NONE, t;
        for (PliIndex k = 0; k < 4 * m->tet_count; ++k)
            if (m->tets[k] == i) lowest = smallest_of(lowest, k / 4);
        double w[4];
        EXPECT_EQ(pli_locator_find(l.get(), m->x + 3 * i, &t, w), 0.0);
        EXPECT_EQ(t, lowest) << i;
    }
}

TEST(Locator, OutsideTakesTheClosestTet)
{
    MeshPtr m = make_box({ 2, 3, 2 }, { 0, 0, 0 }, { 1, 1, 1 }, 0.3, 9);
    LocatorPtr l = make_locator(*m);
    uint64_t random = 2;
    for (int n = 0; n < 60; ++n) {
        double p[3], w[4];
        for (double &v : p) v = 3 * pli_random_unit(&random) - 1;
        PliIndex t;
        const double d = pli_locator_find(l.get(), p, &t, w);
        double best = INFINITY;
        for (PliIndex i = 0; i < m->tet_count; ++i) best = smallest_of(best, slow_distance(*m, i, p));
        EXPECT_NEAR(d, best, 1e-6);
        EXPECT_NEAR(slow_distance(*m, t, p), best, 1e-6);
        expect_reproduces(*m, t, p, w);
    }
    // straight above a face the distance is exact, off a corner it is that of the corner
    double w[4], above[3] = { 0.4, 0.3, 1.5 }, off[3] = { 2, 2, 2 };
    PliIndex t;
    EXPECT_NEAR(pli_locator_find(l.get(), above, &t, w), 0.5, 1e-15);
    EXPECT_NEAR(pli_locator_find(l.get(), off, &t, w), std::sqrt(3.0), 1e-15);
}

TEST(Locator, TiesGoToTheLowestIndexWhateverTheTreeShape)
{
    // the same tet many times: the answer is always the first copy
    PliHost host = pli_host_default();
    double x[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 }, w[4];
    std::vector<PliIndex> tets;
    for (int i = 0; i < 37; ++i) tets.insert(tets.end(), { 0, 1, 2, 3 });
    LocatorPtr l(pli_locator_create(&host, x, 4, tets.data(), 37));
    PliIndex t;
    for (auto p : { std::array<double, 3>{ 0.1, 0.1, 0.1 }, { 0, 0, 0 }, { 2, -1, 0.3 }, { -1, -1, -1 } }) {
        pli_locator_find(l.get(), p.data(), &t, w);
        EXPECT_EQ(t, 0u);
    }
}

TEST(Locator, SkipsFlatTetsAndRefusesBadInput)
{
    PliHost host = pli_host_default();
    double x[15] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, 0.5, 0 }, w[4], p[3] = { 0.4, 0.4, 0 };
    PliIndex tets[8] = { 0, 1, 2, 4, 0, 1, 2, 3 }, t;
    LocatorPtr l(pli_locator_create(&host, x, 5, tets, 2));
    EXPECT_EQ(pli_locator_find(l.get(), p, &t, w), 0.0);
    EXPECT_EQ(t, 1u);
    double bad[3] = { NAN, 0, 0 };
    EXPECT_TRUE(std::isinf(pli_locator_find(l.get(), bad, &t, w)));
    EXPECT_EQ(t, PLI_NONE);
    LocatorPtr none(pli_locator_create(&host, x, 5, nullptr, 0));
    ASSERT_TRUE(none);
    EXPECT_TRUE(std::isinf(pli_locator_find(none.get(), p, &t, w)));
    tets[3] = 5;
    EXPECT_EQ(pli_locator_create(&host, x, 5, tets, 2), nullptr);
}

} // namespace
