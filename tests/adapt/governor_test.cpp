/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/fixture.h"

extern "C" {
#include "adapt/governor.h"
}

using pliant_test::random_in;

namespace
{

const double nan_value = std::numeric_limits<double>::quiet_NaN();

PliGovernor taught(double unit_ms, double other_ms, int samples)
{
    PliGovernor g;
    pli_governor_reset(&g);
    for (int i = 0; i < samples; ++i) pli_governor_learn(&g, 100.0, 100.0 * unit_ms, other_ms);
    return g;
}

} // namespace

TEST(Governor, WithoutABudgetNothingIsLimited)
{
    const PliGovernor g = taught(0.01, 1, 10);
    for (double none : { 0.0, -1.0, nan_value }) {
        EXPECT_TRUE(std::isinf(pli_governor_limit(&g, none)));
        EXPECT_TRUE(std::isinf(pli_governor_time(&g, none)));
    }
}

TEST(Governor, BeforeItHasLearntNothingIsAllowed)
{
    PliGovernor g;
    pli_governor_reset(&g);
    EXPECT_EQ(pli_governor_limit(&g, 10.0), 0.0);
    pli_governor_learn(&g, 0.0, 5.0, 1.0); // a step without work teaches nothing about work
    EXPECT_EQ(g.samples, 0);
    EXPECT_EQ(pli_governor_limit(&g, 10.0), 0.0);
}

/// What it is for: the work allowed, the rest of the step and the events fit the budget together.
TEST(Governor, WhatItAllowsFitsTheBudget)
{
    uint64_t seed = 11;
    for (int i = 0; i < 500; ++i) {
        const double unit = random_in(&seed, 1e-5, 1e-2), other = random_in(&seed, 0, 12),
                     budget = random_in(&seed, 1, 20);
        PliGovernor g = taught(unit, other, 1 + int(pli_random(&seed) % 300));
        const double decision = random_in(&seed, 0, 5);
        for (int k = 0; k < 20; ++k) pli_governor_learn_decision(&g, decision);
        const double limit = pli_governor_limit(&g, budget), events = pli_governor_time(&g, budget);
        ASSERT_GE(limit, 0.0);
        ASSERT_TRUE(std::isfinite(limit));
        if (limit > 0.0) {
            EXPECT_LE(limit * g.unit_ms + g.other_ms + std::max(g.decision_ms, events), budget * (1 + 1e-12));
        }
        if (limit == 0.0) {
            EXPECT_GE(g.other_ms + std::max(g.decision_ms, events), budget * (1 - 1e-12));
        }
        EXPECT_GT(events, 0.0);
        EXPECT_LE(events, budget);
        EXPECT_GE(pli_governor_limit(&g, 2 * budget), limit) << "a larger budget never allows less";
    }
}

/// An event begins where it fits; what steps with events took teaches nothing about the others; and one that was too dear once is
/// tried again.
TEST(Governor, EventsBeginWhereTheyFit)
{
    const double work = 100.0, budget = 4.0;
    PliGovernor g = taught(0.01, 0.5, 200); // steps of 1.5 ms
    const double other = g.other_ms;
    EXPECT_EQ(pli_governor_events(&g, 1.0, work, 50), 0u);
    EXPECT_TRUE(std::isinf(pli_governor_left(&g, 0.0, work)));
    EXPECT_EQ(pli_governor_events(&g, 0.0, work, 50), 50u);
    g.gates = true, g.event_ms = 0.1;
    EXPECT_EQ(pli_governor_events(&g, budget, work, 50), 1u) << "nobody knows what the first takes";
    pli_governor_learn_events(&g, work, 1.0, 2.5, 4, 2.0); // 2 ms of adapting and 2 ms more of the rest: 1 ms each
    EXPECT_NEAR(g.event_ms, 0.25 * (2.0 + 2.5 - other), 0.01);
    EXPECT_LE(g.other_ms, other) << "what events took is not the rest of a step";
    const double left = pli_governor_left(&g, budget, work);
    const PliIndex fit = pli_governor_events(&g, budget, work, 50);
    EXPECT_GE(fit, 1u);
    EXPECT_LE(fit * g.event_ms, left);
    EXPECT_TRUE(pli_governor_is_room(&g, left, fit));
    EXPECT_FALSE(pli_governor_is_room(&g, left, fit + 2));
    EXPECT_LE(pli_governor_events(&g, budget, 2 * work, 50), fit) << "more work leaves room for no more";
    pli_governor_learn_events(&g, work, 1.0, 0.5, 1, 30.0); // a cold cache
    EXPECT_FALSE(pli_governor_is_room(&g, left, 1));
    int steps = 0;
    while (!pli_governor_is_room(&g, left, 1) && steps < 5000)
        pli_governor_learn_events(&g, work, 1.0, 0.5, 0, 0.0), steps++;
    EXPECT_GT(steps, 100);
    EXPECT_LT(steps, 2000);
}

/// Times in another unit, the budget with them: the same work.
TEST(Governor, OnlyRatiosOfTimesCount)
{
    uint64_t seed = 2;
    PliGovernor a, b;
    pli_governor_reset(&a), pli_governor_reset(&b);
    for (int i = 0; i < 1000; ++i) {
        const double work = random_in(&seed, 10, 1000), ms = random_in(&seed, 1, 3), other = random_in(&seed, 0, 1);
        pli_governor_learn(&a, work, ms, other), pli_governor_learn(&b, work, 8 * ms, 8 * other);
        if (i % 10 == 0) {
            pli_governor_learn_decision(&a, other + 0.1), pli_governor_learn_decision(&b, 8 * (other + 0.1));
        }
        ASSERT_EQ(pli_governor_limit(&a, 5.0), pli_governor_limit(&b, 40.0)) << "sample " << i;
    }
}

/// Whatever the distribution: in the long run rises of 8 % for samples far above the learnt value, and of at least 1 % for the others
/// above it, balance a fall of 0.16 % a step. So at most 0.0016 / ln 1.08 of them are far above, and 0.0016 / ln 1.01 above at all.
TEST(Governor, LearnsTheSlowSteps)
{
    for (int kind = 0; kind < 4; ++kind) {
        uint64_t seed = 21;
        auto draw = [&] {
            const double u = pli_random_unit(&seed);
            if (kind == 0) return 1.0 + u;                         // even
            if (kind == 1) return 1.0 - 0.5 * std::log(1.0 - u);   // a long tail
            if (kind == 2) return 1.0 + 0.01 * u;                  // hardly any scatter
            return u < 0.9 ? 1.0 + 0.05 * u : 2.0 + (u - 0.9) * 5; // mostly fast, sometimes twice as slow
        };
        PliGovernor g;
        pli_governor_reset(&g);
        int above = 0, far = 0;
        const int warm = 2000, samples = 100000;
        for (int i = 0; i < warm + samples; ++i) {
            const double ms = draw();
            above += i >= warm && ms > g.unit_ms, far += i >= warm && ms > 1.14 * g.unit_ms;
            pli_governor_learn(&g, 1.0, ms, 0.0);
        }
        EXPECT_GT(above, 0.015 * samples) << "distribution " << kind << ": it wastes the budget";
        EXPECT_LT(above, 0.161 * samples) << "distribution " << kind << ": too many steps break the budget";
        EXPECT_LT(far, 0.0209 * samples) << "distribution " << kind << ": and by too much";
    }
}

TEST(Governor, ASlowerMachineIsNoticedWithinADozenSteps)
{
    PliGovernor g = taught(0.01, 1, 3000);
    int steps = 0;
    while (g.unit_ms < 0.02 && steps < 100) pli_governor_learn(&g, 100, 2.0, 2.0), steps++;
    EXPECT_LE(steps, 12);
    EXPECT_GE(g.other_ms, 1.9);
    // and a single outlier, a thousand times as slow, does not stop everything
    const double before = g.unit_ms;
    pli_governor_learn(&g, 100, 2000.0, 2.0);
    EXPECT_LE(g.unit_ms, 1.08 * before * (1 + 1e-12));
}

TEST(Governor, ValuesThatAreNoTimesAreIgnored)
{
    PliGovernor g = taught(0.01, 1, 50);
    pli_governor_learn_decision(&g, 0.5);
    const PliGovernor before = g;
    pli_governor_learn(&g, nan_value, 1, 1);
    pli_governor_learn(&g, -1, 1, 1);
    pli_governor_learn(&g, 1, nan_value, 1);
    pli_governor_learn(&g, 1, -1, 1);
    pli_governor_learn(&g, 1, 1, nan_value);
    pli_governor_learn(&g, 1, 1, -1);
    pli_governor_learn_decision(&g, nan_value);
    pli_governor_learn_decision(&g, 0.0);
    EXPECT_EQ(std::memcmp(&g, &before, sizeof g), 0);
    EXPECT_GT(pli_governor_limit(&g, 10.0), 0.0);
}
