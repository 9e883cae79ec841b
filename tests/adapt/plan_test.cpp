/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <cmath>
#include <vector>

#include "support/fixture.h"

extern "C" {
#include "adapt/plan.h"
}

namespace
{

/// Halved sizes: eight times the density, twice the rate.
const std::vector<PliPlanLevel> levels = { { 0.4, 10.0, 100.0, 0.0 },
                                           { 0.2, 80.0, 200.0, 0.0 },
                                           { 0.1, 640.0, 400.0, 0.0 } };

/// `hot` of a thousand regions carry all of the error.
std::vector<PliPlanRegion> body(int hot, double error)
{
    std::vector<PliPlanRegion> r(1000, { 1e-3, 0.4, 0.0, 0.0 });
    for (int i = 0; i < hot; ++i) r[static_cast<size_t>(i)].even = error / hot;
    return r;
}

PliPlan plan(const std::vector<PliPlanRegion> &r, double most, const PliPlan *now = nullptr, bool may_mix = true,
             double trouble = PLI_PLAN_TROUBLE)
{
    const PliPlanAsk ask = { most, trouble, false, may_mix, now };
    return pli_plan_make(levels.data(), static_cast<int>(levels.size()), r.data(), static_cast<PliIndex>(r.size()),
                         &ask);
}

// error left at a level, beyond the finest's: (s_l / s_0)^2 - (s_2 / s_0)^2
const double left0 = 1.0 - 1.0 / 16.0, left1 = 0.25 - 1.0 / 16.0;

TEST(Plan, AnEvenErrorRunsUniform)
{
    const auto r = body(1000, 1.0);
    for (const double most : { 1.01 * left0, 1.01 * left1, 0.1 * left1 }) {
        const PliPlan p = plan(r, most);
        EXPECT_TRUE(p.uniform) << most;
        EXPECT_EQ(p.level, most > left0 ? 0 : most > left1 ? 1 : 2);
        EXPECT_LE(p.error, most);
    }
}

/// What was measured of a level goes before what its regions add up to.
TEST(Plan, AMeasuredLevelIsBelieved)
{
    const auto r = body(1000, 1.0);
    auto told = levels;
    told[0].error = 0.02, told[1].error = 0.01;
    const auto level = [&](double most) {
        const PliPlanAsk ask = { most, PLI_PLAN_TROUBLE, false, true, nullptr };
        return pli_plan_make(told.data(), 3, r.data(), PliIndex(r.size()), &ask).level;
    };
    EXPECT_EQ(level(0.03), 0) << "good enough, by measure";
    told[0].error = 5.0;
    EXPECT_EQ(level(0.03), 1) << "not good enough";
}

TEST(Plan, ALocalErrorIsWorthAMixture)
{
    const PliPlan p = plan(body(10, 1.0), 0.5 * left1);
    EXPECT_FALSE(p.uniform);
    EXPECT_EQ(p.level, 2);
    EXPECT_LE(p.error, 0.505 * left1);
    // ten regions at the finest level, the others at the coarsest, all at the finest rate
    EXPECT_NEAR(p.work, PLI_PLAN_TROUBLE * 400.0 * 1e-3 * (10 * 640.0 + 990 * 10.0), 0.02 * p.work);
    EXPECT_NEAR(p.uniform_work, 640.0 * 400.0, 1e-6);
    const PliPlan only = plan(body(10, 1.0), 0.5 * left1, nullptr, false);
    EXPECT_TRUE(only.uniform);
    EXPECT_EQ(only.level, 2);
}

/// Every mixture of a few regions, by brute force: none that keeps the error is cheaper by more than a region's worth.
TEST(Plan, NoMixtureIsCheaper)
{
    std::vector<PliPlanRegion> r;
    for (int i = 0; i < 7; ++i) r.push_back({ 1.0 / 7, 0.4, std::pow(0.2, i), 0.1 * std::pow(0.3, i) });
    double all = 0.0;
    for (const auto &q : r) all += pli_plan_error(&q, 0.4, 0.1);
    for (const double share : { 0.3, 0.1, 0.03 }) {
        double least = INFINITY;
        for (int code = 0; code < 2187; ++code) {
            double error = 0.0, work = 0.0;
            int finest = 0;
            for (int i = 0, c = code; i < 7; ++i, c /= 3) finest = std::max(finest, c % 3);
            for (int i = 0, c = code; i < 7; ++i, c /= 3) {
                error += pli_plan_error(&r[static_cast<size_t>(i)], levels[static_cast<size_t>(c % 3)].size, 0.1);
                work += pli_plan_work(levels.data(), c % 3, finest, false) / 7;
            }
            if (error <= share * all) least = std::min(least, work);
        }
        const PliPlan p = plan(r, share * all);
        EXPECT_LE(p.mixed_work, PLI_PLAN_TROUBLE * (least + 400.0 * 640.0 / 7)) << share;
        EXPECT_GE(p.mixed_work, 0.999 * PLI_PLAN_TROUBLE * least) << share;
    }
}

TEST(Plan, WhatIsInUseIsKept)
{
    const auto even = body(1000, 1.0);
    const PliPlan fine = plan(even, 0.6 * left1);
    ASSERT_EQ(fine.level, 2);
    EXPECT_EQ(plan(even, 1.1 * left1, &fine).level, 2) << "a coarser level must leave room";
    EXPECT_EQ(plan(even, 2.0 * left1, &fine).level, 1);
    // between the two bars a body stays what it is
    for (int hot = 10; hot < 1000; hot += 10) {
        const auto r = body(hot, 1.0);
        const PliPlan mixed = { false, 2, 0.0, 0.0, 0.0, 0.0, 0.0 }, uniform = { true, 2, 0.0, 0.0, 0.0, 0.0, 0.0 };
        if (plan(r, 0.5 * left1, &uniform).uniform) continue;
        EXPECT_FALSE(plan(r, 0.5 * left1, &mixed).uniform) << hot;
    }
}

const PliPlan at(bool uniform, int level) { return { uniform, level, 0.0, 0.0, 0.0, 0.0, 0.0 }; }

/// What it was counted to cost speaks, not what it promised.
TEST(Plan, AMixtureThatTurnsOutDearIsLeft)
{
    const auto r = body(10, 1.0);
    const PliPlan mixed = at(false, 2), coarse = at(true, 1);
    EXPECT_FALSE(plan(r, 0.5 * left1, &mixed).uniform);
    EXPECT_TRUE(plan(r, 0.5 * left1, &mixed, true, 40.0).uniform);
    EXPECT_TRUE(plan(r, 0.5 * left1, &coarse, true, 40.0).uniform) << "nor is it entered";
}

/// Estimates that were made two levels away are not to be trusted, and what lies between costs little.
TEST(Plan, AFinerLevelIsTriedFirst)
{
    const auto even = body(1000, 1.0), local = body(100, 1.0);
    const PliPlan coarsest = at(true, 0), middle = at(true, 1);
    EXPECT_EQ(plan(even, 0.1 * left1, nullptr).level, 2);
    EXPECT_EQ(plan(even, 0.1 * left1, &coarsest).level, 1) << "one level at a time";
    EXPECT_EQ(plan(even, 0.1 * left1, &middle).level, 2);
    // a mixture would cost more than the level between
    const PliPlan p = plan(local, 0.5 * left1, &coarsest), q = plan(local, 0.5 * left1, &middle);
    ASSERT_FALSE(q.uniform);
    ASSERT_GT(q.work, 80.0 * 200.0);
    EXPECT_TRUE(p.uniform);
    EXPECT_EQ(p.level, 1);
}

/// A level that is a little farther off stays where keeping the error costs sixteen times as much; one that is far off does not.
TEST(Plan, WhatIsOutOfProportionIsNotPaid)
{
    const auto even = body(1000, 1.0);
    const PliPlan middle = at(true, 1);
    EXPECT_EQ(plan(even, left1 / 1.3, &middle).level, 1);
    EXPECT_EQ(plan(even, left1 / 1.5, &middle).level, 2);
}

TEST(Plan, NothingStrainedChangesNothing)
{
    const PliPlan now = { false, 1, 2.0, 3.0, 4.0, 5.0, 6.0 };
    const PliPlan p = plan(body(0, 0.0), 0.02, &now);
    EXPECT_FALSE(p.uniform);
    EXPECT_EQ(p.level, 1);
}

} // namespace
