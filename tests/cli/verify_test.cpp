/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <string>

extern "C" {
#include "evidence/verify.h"
}

TEST(Verdict, WithinIsInclusiveAndNaNNeverPasses)
{
    PliVerifyResult r = {};
    pli_verify_within(&r, 1.0, 1.5, 0.5);
    EXPECT_TRUE(r.pass);
    pli_verify_within(&r, 1.0, 1.51, 0.5);
    EXPECT_FALSE(r.pass);
    pli_verify_within(&r, 1.0, NAN, 0.5);
    EXPECT_FALSE(r.pass);
    pli_verify_within(&r, 1.0, INFINITY, 0.5);
    EXPECT_FALSE(r.pass);
    pli_verify_within(&r, 1.0, 1.0, NAN);
    EXPECT_FALSE(r.pass);
}

TEST(Verdict, RelativeTakesItsToleranceFromTheSizeOfTheExpectedValue)
{
    PliVerifyResult r = {};
    pli_verify_relative(&r, -200.0, -203.9, 0.02);
    EXPECT_TRUE(r.pass);
    EXPECT_DOUBLE_EQ(r.tolerance, 4.0);
    pli_verify_relative(&r, -200.0, -204.1, 0.02);
    EXPECT_FALSE(r.pass);
}

TEST(Verdict, BoundsAreOneSidedWhereTheySaySo)
{
    PliVerifyResult r = {};
    pli_verify_at_most(&r, 1e-10, 1e-11);
    EXPECT_TRUE(r.pass);
    pli_verify_at_most(&r, 1e-10, 2e-10);
    EXPECT_FALSE(r.pass);
    pli_verify_at_most(&r, 1e-10, NAN);
    EXPECT_FALSE(r.pass);

    pli_verify_note(&r, "speed-up");
    pli_verify_at_least(&r, 5.0, 7.0);
    EXPECT_TRUE(r.pass);
    EXPECT_STREQ(r.note, "at least; speed-up");
    pli_verify_at_least(&r, 5.0, 4.99);
    EXPECT_FALSE(r.pass);
    pli_verify_at_least(&r, 5.0, NAN);
    EXPECT_FALSE(r.pass);
}

TEST(Verdict, WhatCouldNotRunFailsWithItsCause)
{
    PliVerifyResult r = {};
    r.pass = true;
    pli_verify_broken(&r, "tet %d is flat", 3);
    EXPECT_FALSE(r.pass);
    EXPECT_TRUE(std::isnan(r.measured));
    EXPECT_STREQ(r.note, "tet 3 is flat");
    pli_verify_note(&r, "%s", std::string(1000, 'x').c_str());
    EXPECT_EQ(std::string(r.note).size(), sizeof r.note - 1);
}
