/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <algorithm>
#include <cmath>
#include <limits>

#include "support/fixture.h"

extern "C" {
#include "adapt/criterion.h"
}

using pliant_test::random_in;
using pliant_test::WatchedHost;

namespace
{

const double nan_value = std::numeric_limits<double>::quiet_NaN();

struct Criterion {
    WatchedHost watched;
    PliCriterion c{};
    PliCriterionDef def = pli_criterion_default();
    explicit Criterion(PliIndex regions)
    {
        EXPECT_EQ(pli_criterion_init(&c, &watched.host, regions), PLI_OK);
        pli_criterion_reset(&c);
    }
    ~Criterion() { pli_criterion_free(&c); }
};

/// Decisions made in `steps` steps of dt, as step numbers.
std::vector<int> decisions(Criterion &k, double interval, double dt, int steps)
{
    k.def.interval = interval;
    std::vector<int> at;
    for (int i = 0; i < steps; ++i)
        if (pli_criterion_due(&k.c, &k.def, dt)) at.push_back(i);
    return at;
}

} // namespace

TEST(Criterion, HearsARegionOnceARound)
{
    Criterion k(3);
    pli_criterion_begin(&k.c, &k.def);
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 10; ++i)
            for (PliIndex region : { 2u, 0u }) pli_criterion_offer_refine(&k.c, region, 2.0 + i, 1.0);
        ASSERT_EQ(k.c.refine_count, 2u) << "there is room for three";
        pli_criterion_next_round(&k.c);
        EXPECT_EQ(k.c.refine_count, 0u);
    }
}

TEST(Criterion, RanksLikeAStableSortWithTiesByNumber)
{
    uint64_t seed = 5;
    for (PliIndex n : { 0u, 1u, 2u, 3u, 7u, 64u, 200u }) {
        Criterion k(n);
        pli_criterion_begin(&k.c, &k.def);
        std::vector<PliProposal> offered;
        for (PliIndex i = 0; i < n; ++i) {
            // few values, so that many are equal, and numbers in no order
            offered.push_back({ PliIndex((uint64_t(i) * 79 + 13) % n), 1.5 + double(pli_random(&seed) % 9) });
            pli_criterion_offer_refine(&k.c, offered[i].region, offered[i].score, 1.0);
            pli_criterion_offer_coarsen(&k.c, offered[i].region, offered[i].score);
        }
        pli_criterion_rank(&k.c);
        ASSERT_EQ(k.c.refine_count, n);
        ASSERT_EQ(k.c.coarsen_count, n);
        for (bool down : { true, false }) {
            std::sort(offered.begin(), offered.end(), [&](const PliProposal &a, const PliProposal &b) {
                if (a.score != b.score) return down ? a.score > b.score : a.score < b.score;
                return a.region < b.region;
            });
            const PliProposal *ranked = down ? k.c.refine : k.c.coarsen;
            for (PliIndex i = 0; i < n; ++i) {
                EXPECT_EQ(ranked[i].region, offered[i].region) << "of " << n << ", down " << down;
                EXPECT_EQ(ranked[i].score, offered[i].score);
            }
        }
    }
}

TEST(Criterion, OnlyRegionsThatAskAndMayAreRefined)
{
    Criterion k(4);
    k.def.smallest_size = 0.01;
    pli_criterion_begin(&k.c, &k.def);
    for (double score : { 0.0, 0.999, 1.0, nan_value }) pli_criterion_offer_refine(&k.c, 0, score, 1.0);
    pli_criterion_offer_refine(&k.c, 1, 5.0, 0.00999); // its parts would be too small
    EXPECT_EQ(k.c.refine_count, 0u);
    pli_criterion_offer_refine(&k.c, 2, 5.0, 0.01);
    pli_criterion_offer_refine(&k.c, 3, std::nextafter(1.0, 2.0), 1.0);
    EXPECT_EQ(k.c.refine_count, 2u);
    pli_criterion_next_round(&k.c);
    EXPECT_EQ(k.c.refine_count, 0u);
}

TEST(Criterion, ScoreThatIsNotANumberNeverVolunteers)
{
    Criterion k(1);
    pli_criterion_begin(&k.c, &k.def);
    const PliProposal proposal = { 0, nan_value };
    EXPECT_FALSE(pli_criterion_volunteers(&k.c, &proposal));
}

/// Against a plain list of what happened when: a region that went one way may not go back for `hold` more decisions.
TEST(Criterion, HoldsRegionsForAsManyDecisionsAsAsked)
{
    const PliIndex regions = 9;
    const long never = -1000000;
    for (int hold : { 0, 1, 3, 7 }) {
        Criterion k(regions);
        k.def.hold = hold;
        std::vector<long> refined(regions, never), coarsened(regions, never);
        uint64_t seed = 17;
        int refused = 0, held = 0;
        for (long decision = 0; decision < 400; ++decision) {
            pli_criterion_begin(&k.c, &k.def);
            for (PliIndex r = 0; r < regions; ++r) {
                pli_criterion_next_round(&k.c);
                pli_criterion_offer_refine(&k.c, r, 2.0, 1.0);
                const bool may_refine = decision - coarsened[r] > hold;
                ASSERT_EQ(k.c.refine_count, may_refine ? 1u : 0u) << "region " << r << " in decision " << decision;
                const PliProposal low = { r, 0.99 * k.def.coarsen }, high = { r, k.def.coarsen };
                const bool may_coarsen = decision - refined[r] > hold;
                ASSERT_EQ(pli_criterion_volunteers(&k.c, &low), may_coarsen) << r << " in decision " << decision;
                ASSERT_FALSE(pli_criterion_volunteers(&k.c, &high));
                refused += !may_refine, held += !may_coarsen;
            }
            const PliIndex r = PliIndex(pli_random(&seed) % regions);
            if (pli_random(&seed) % 2) {
                pli_criterion_note_refined(&k.c, r), refined[r] = decision;
            } else
                pli_criterion_note_coarsened(&k.c, r), coarsened[r] = decision;
        }
        if (hold > 0) {
            EXPECT_GT(std::min(refused, held), 100) << "the sequence never met a hold of " << hold;
        }
        pli_criterion_reset(&k.c);
        pli_criterion_begin(&k.c, &k.def);
        for (PliIndex r = 0; r < regions; ++r) pli_criterion_offer_refine(&k.c, r, 2.0, 1.0);
        EXPECT_EQ(k.c.refine_count, regions) << "a reset forgets what was held";
    }
}

TEST(Criterion, DecidesAtOnceAndThenEveryInterval)
{
    Criterion k(1);
    // dt whose multiples are not representable: 10 steps of 1 ms must be one interval of 10 ms
    for (double dt : { 0.001, 0.01 / 3.0, 1.0 / 3000.0, 0.7e-5 })
        for (int every : { 1, 2, 3, 10, 37 }) {
            pli_criterion_reset(&k.c);
            const auto at = decisions(k, every * dt, dt, 20 * every + 1);
            ASSERT_EQ(at.size(), 21u) << "dt " << dt << ", every " << every;
            for (size_t i = 0; i < at.size(); ++i) EXPECT_EQ(at[i], int(i) * every) << "dt " << dt;
        }
    pli_criterion_reset(&k.c);
    EXPECT_EQ(decisions(k, 0.0, 0.01, 50).size(), 50u) << "an interval of 0 is every step";
    pli_criterion_reset(&k.c);
    EXPECT_EQ(decisions(k, 0.004, 0.01, 50).size(), 50u) << "a step longer than the interval decides once";
}

TEST(CriterionScores, AreOneWhereTheyAreDefinedToBe)
{
    PliCriterionDef def = pli_criterion_default();
    def.threshold = 0.05, def.radius = 0.3;
    def.point[0] = 1, def.point[1] = -2, def.point[2] = 0.5;
    uint64_t seed = 3;
    for (int i = 0; i < 200; ++i) {
        double dir[3], length = 0;
        for (double &d : dir) d = random_in(&seed, -1, 1), length += d * d;
        length = std::sqrt(length);
        auto at = [&](double distance, double p[3]) {
            for (int d = 0; d < 3; ++d) p[d] = def.point[d] + distance * dir[d] / length;
        };
        double p[3];
        const double size = random_in(&seed, 0.001, 0.1);
        EXPECT_NEAR(pli_score_contact(size, size), 1.0, 1e-14);
        at(size / def.threshold, p);
        EXPECT_NEAR(pli_score_camera(&def, p, size), 1.0, 1e-9);
        at(def.radius, p);
        EXPECT_NEAR(pli_score_region(&def, p), 1.0, 1e-9);
        at(0.99 * def.radius, p);
        EXPECT_GT(pli_score_region(&def, p), 1.0);
        at(1.01 * def.radius, p);
        EXPECT_LT(pli_score_region(&def, p), 1.0);
    }
}

TEST(CriterionScores, FallWithDistanceAndStayFiniteAtZero)
{
    PliCriterionDef def = pli_criterion_default();
    def.threshold = 0.05, def.radius = 0.3;
    double contact = INFINITY, camera = INFINITY, region = INFINITY;
    for (int i = -3; i <= 100; ++i) { // negative distances are inside
        const double d = 0.02 * i, p[3] = { std::fabs(d), 0, 0 };
        const double now = pli_score_contact(d, 0.1);
        EXPECT_LE(now, contact);
        contact = now;
        EXPECT_LE(now, 10.0 * (1 + 1e-15));
        EXPECT_DOUBLE_EQ(pli_score_contact(7 * d, 0.7), now) << "only the ratio of distance and size counts";
        if (i < 0) continue;
        const double eye = pli_score_camera(&def, p, 0.1), in = pli_score_region(&def, p);
        EXPECT_TRUE(std::isfinite(eye) && std::isfinite(in));
        EXPECT_LE(eye, camera);
        EXPECT_LE(in, region);
        camera = eye, region = in;
    }
    EXPECT_LT(contact, 0.06);
}

TEST(Criterion, RunsOutOfMemoryWithoutALeak)
{
    for (long granted = 0; granted < 4; ++granted) {
        WatchedHost w;
        w.quiet = true;
        w.fail_after = granted;
        PliCriterion c;
        EXPECT_EQ(pli_criterion_init(&c, &w.host, 10), PLI_OUT_OF_MEMORY);
        pli_criterion_free(&c);
    }
}
