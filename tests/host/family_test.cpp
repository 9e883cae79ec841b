/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Bodies against the uniform family: curves with a known formula, what happens beyond their ends, and who belongs to the family.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/timer.h"
#include "host/compare/family.h"
#include "support/kinematic.h"

using namespace pli_test;

namespace
{

TEST(Family, PowerLawsAreReadExactly)
{
    // error = 0.3 cost^-0.7: straight in logarithms, so that any point between is exact
    const double cost[4] = { 8.0, 0.5, 2.0, 30.0 };
    double error[4];
    for (int k = 0; k < 4; ++k) error[k] = 0.3 * std::pow(cost[k], -0.7);
    const PliFamily f = pli_family_curve(cost, error, 4);
    ASSERT_EQ(f.count, 4);
    for (int k = 1; k < 4; ++k) {
        EXPECT_GT(f.cost[k], f.cost[k - 1]);
        EXPECT_LT(f.error[k], f.error[k - 1]);
    }
    for (double c : { 0.5, 0.7, 3.0, 29.9, 30.0 }) {
        const double e = 0.3 * std::pow(c, -0.7);
        const PliRival r = pli_family_rival(&f, 0.25 * c, e); // as close at a quarter of the cost
        EXPECT_NEAR(r.cost, c, 1e-9 * c);
        EXPECT_NEAR(r.gain, 4.0, 1e-9);
        EXPECT_EQ(r.cost_bound, PLI_EXACT);
        const PliRival same = pli_family_rival(&f, c, e);
        EXPECT_NEAR(same.error, e, 1e-9 * e);
        EXPECT_EQ(same.error_bound, PLI_EXACT);
        EXPECT_STREQ(pli_rival_verdict(&r), "wins");
        EXPECT_STREQ(pli_rival_verdict(&same), "draws level");
        const PliRival dear = pli_family_rival(&f, 3.0 * c, e);
        EXPECT_STREQ(pli_rival_verdict(&dear), "loses");
    }
}

TEST(Family, OnlyTheBestAreOnTheCurve)
{
    // the second is dearer and farther off than the first; the fourth costs the same as the third and is worse; others have no logarithm
    const double cost[7] = { 1.0, 2.0, 4.0, 4.0, 8.0, NAN, 0.5 }, error[7] = { 0.1, 0.2, 0.05, 0.06, 0.0, 0.01, NAN };
    const PliFamily f = pli_family_curve(cost, error, 7);
    ASSERT_EQ(f.count, 2);
    EXPECT_EQ(f.cost[0], 1.0);
    EXPECT_EQ(f.error[1], 0.05);
}

TEST(Family, BeyondTheEndsThereAreBoundsAndNothingIsExtrapolated)
{
    const double cost[2] = { 1.0, 10.0 }, error[2] = { 0.1, 0.01 };
    PliFamily f = pli_family_curve(cost, error, 2);
    PliRival r = pli_family_rival(&f, 2.0, 0.2); // farther off than the coarsest, and dearer
    EXPECT_EQ(r.cost, 1.0);
    EXPECT_EQ(r.cost_bound, PLI_AT_MOST);
    EXPECT_STREQ(pli_rival_verdict(&r), "loses");
    r = pli_family_rival(&f, 0.2, 0.2); // farther off and cheaper: nobody knows
    EXPECT_EQ(r.error, 0.1);
    EXPECT_EQ(r.error_bound, PLI_AT_LEAST);
    EXPECT_STREQ(pli_rival_verdict(&r), "cannot be ranked");
    r = pli_family_rival(&f, 5.0, 0.001); // closer than the finest at half its cost
    EXPECT_EQ(r.gain, 2.0);
    EXPECT_EQ(r.cost_bound, PLI_AT_LEAST);
    EXPECT_STREQ(pli_rival_verdict(&r), "wins");
    r = pli_family_rival(&f, 20.0, 0.001);
    EXPECT_EQ(r.error, 0.01);
    EXPECT_EQ(r.error_bound, PLI_AT_MOST);
    EXPECT_STREQ(pli_rival_verdict(&r), "cannot be ranked");
    f.ceiling = 15.0; // the reference is cheaper than that body, and has no error at all
    r = pli_family_rival(&f, 20.0, 0.001);
    EXPECT_EQ(r.gain, 0.75);
    EXPECT_EQ(r.cost_bound, PLI_AT_MOST);
    EXPECT_STREQ(pli_rival_verdict(&r), "loses");
    const PliFamily none = pli_family_curve(cost, error, 0);
    EXPECT_TRUE(std::isnan(pli_family_rival(&none, 1.0, 0.1).gain));
    EXPECT_TRUE(std::isnan(pli_family_rival(&f, NAN, 0.1).gain));
    EXPECT_TRUE(std::isnan(pli_family_rival(&f, 1.0, NAN).gain));
}

void burn(double ms)
{
    const double end = pli_cpu_ms() + ms;
    while (pli_cpu_ms() < end) {}
}

/// A box that glides aside by `error` of what the reference moves, in `ms` per step.
Box glider(const char *name, double error, double ms)
{
    Box b;
    b.name = name;
    b.move = glide(1.0, error, 0.0, 27);
    b.each = [ms](int) { burn(ms); };
    return b;
}

TEST(Family, AComparisonSaysWhoWinsByHowMuch)
{
    // uniform bodies: 10 % at 1 ms, 1 % at 4 ms
    Box reference = glider("reference", 0.0, 8.0), coarse = glider("coarse", 0.1, 1.0),
        fine = glider("fine", 0.01, 4.0), swept = glider("swept", 0.01, 0.2);
    swept.parameters = "youngModulus=1"; // another body, not another mesh: not of the family
    Comparison c = compare({ &reference, &coarse, &fine, &swept }, 20, nullptr, 2);
    ASSERT_TRUE(c);
    EXPECT_FALSE(c->outcome[0].uniform);
    EXPECT_TRUE(c->outcome[1].uniform && c->outcome[2].uniform);
    const PliOutcome &o = c->outcome[3];
    EXPECT_FALSE(o.uniform);
    EXPECT_TRUE(std::isnan(c->outcome[1].rival.gain)) << "the family does not compete with itself";
    EXPECT_NEAR(o.rival.gain, 20.0, 8.0); // 4 over 0.2 ms, on a machine that does other things
    EXPECT_TRUE(std::isnan(o.force_rival.gain)) << "there is no tool";
    char text[600];
    pli_family_sentence(c.get(), &o, text, sizeof text);
    EXPECT_EQ(std::string(text).find("swept wins: a uniform body as close ("), 0u) << text;
    EXPECT_NE(std::string(text).find("; one as cheap is off by at least "), std::string::npos) << text;
    pli_family_summary(c.get(), text, sizeof text);
    EXPECT_EQ(std::string(text).find("swept pays: "), 0u) << text;
    EXPECT_NE(std::string(text).find("of 2 uniform bodies"), std::string::npos) << text;
    pli_family_sentence(c.get(), &c->outcome[1], text, sizeof text);
    EXPECT_STREQ(text, "");
}

TEST(Family, WhereNoUniformBodyIsAsCloseNobodyWins)
{
    Box reference = glider("reference", 0.0, 2.0), coarse = glider("coarse", 0.1, 0.2), own = glider("own", 0.01, 0.5);
    own.parameters = "threshold=1";
    Comparison c = compare({ &reference, &coarse, &own }, 20, nullptr, 2);
    ASSERT_TRUE(c);
    char text[600];
    pli_family_summary(c.get(), text, sizeof text);
    EXPECT_EQ(std::string(text).find("Not decided: none of 1 uniform bodies is as close as own"), 0u) << text;
}

// Bodies that fell back on the same tetrahedra are one body: their verdicts would differ by the noise of their times.
TEST(Family, ATwinSaysWhoseItIs)
{
    Box reference = glider("reference", 0.0, 1.0), coarse = glider("coarse", 0.1, 0.2), own = glider("own", 0.02, 0.1),
        same = glider("same", 0.02, 0.1), near = glider("near", 0.02 * (1.0 + 1e-12), 0.1);
    for (Box *b : { &own, &same, &near }) b->parameters = "accuracy=2";
    Comparison c = compare({ &reference, &coarse, &own, &same, &near }, 10, nullptr, 2);
    ASSERT_TRUE(c);
    PliOutcome *const o = c->outcome;
    EXPECT_EQ(pli_family_twin(c.get(), &o[3]), nullptr) << "it did not fall back";
    for (int k = 2; k < 5; ++k) o[k].fell_back = true;
    EXPECT_EQ(pli_family_twin(c.get(), &o[2]), nullptr) << "the first is nobody's twin";
    EXPECT_EQ(pli_family_twin(c.get(), &o[3]), &o[2]);
    EXPECT_EQ(pli_family_twin(c.get(), &o[4]), nullptr) << "close is not the same";
    char text[600];
    pli_family_sentence(c.get(), &o[3], text, sizeof text);
    EXPECT_STREQ(text, "same does what own does, to the bit: what their times differ by is chance.");
}

TEST(Family, WithoutUniformBodiesNothingIsSaid)
{
    Box reference = glider("reference", 0.0, 0.0), other = glider("other", 0.1, 0.0);
    other.parameters = "threshold=1";
    Comparison c = compare({ &reference, &other }, 5);
    ASSERT_TRUE(c);
    char text[600];
    pli_family_summary(c.get(), text, sizeof text);
    EXPECT_STREQ(text, "");
    pli_family_sentence(c.get(), &c->outcome[1], text, sizeof text);
    EXPECT_STREQ(text, "");
}

} // namespace
