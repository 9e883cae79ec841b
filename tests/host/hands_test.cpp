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
    ASSERT_TRUE(pli_hands_play(GetParam(), PULLS, &tally, &err)) << err.text;
    EXPECT_EQ(PULLS, tally.survived) << "seed " << tally.first_seed << ": " << tally.first.text;
    EXPECT_GE(tally.steps, PULLS);
}

INSTANTIATE_TEST_SUITE_P(Schemes, Hands,
                         testing::Values("single/FemModel.scn", "single/FemModel_implicit.scn",
                                         "single/TetLodModel.scn", "single/FramesModel.scn", "single/WaveletModel.scn",
                                         "single/OctreeModel.scn", "single/SpringsModel.scn"),
                         [](const testing::TestParamInfo<const char *> &i) {
                             const std::string name = i.param;
                             const size_t slash = name.find('/') + 1;
                             return name.substr(slash, name.find('.') - slash);
                         });

} // namespace
