/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A few of the violent pulls of `pliant bench stability.hands` on every scheme.
#include <gtest/gtest.h>

#include <string>

#include "evidence/hands.h"

namespace
{

class Hands : public testing::TestWithParam<const char *>
{
};

TEST_P(Hands, ABodySurvivesThem)
{
    enum { PULLS = 6 };
    PliHandsTally tally = {};
    PliError err = {};
    ASSERT_TRUE(pli_hands_play(GetParam(), 1, PULLS, &tally, &err)) << err.text;
    EXPECT_EQ(PULLS, tally.survived) << "seed " << tally.first_seed << ": " << tally.first.text;
    EXPECT_GE(tally.steps, PULLS);
}

INSTANTIATE_TEST_SUITE_P(Bodies, Hands,
                         testing::Values("fem", "fem_implicit", "tetlod", "tetlod_implicit", "frames", "wavelet",
                                         "octree", "springs"),
                         [](const testing::TestParamInfo<const char *> &i) { return std::string(i.param); });

} // namespace
