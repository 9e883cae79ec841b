/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The comparison scenes: large references, several uniform bodies with the integrator options of adaptive ones, every scheme.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "host/compare/family.h"
#include "host/compare/scene.h"

namespace
{

std::vector<std::string> scenes()
{
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(PLIANT_SOURCE_DIR "/scenes/compare"))
        if (entry.path().extension() == ".scn") found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found;
}

class CompareScenes : public testing::TestWithParam<std::string>
{
};

TEST_P(CompareScenes, HaveALargeReferenceAFamilyAndEveryScheme)
{
    const std::string path = GetParam();
    const PliHost host = pli_host_default();
    const PliSceneDef scene = pli_scene_default();
    PliError err = {};
    PliContest *contest = pli_contest_load(&host, path.c_str(), &scene, &err);
    ASSERT_TRUE(contest) << err.text;
    std::set<std::string> schemes;
    int uniform = 0, implicit = 0;
    for (int k = 0; k < contest->count; ++k) {
        const PliContender &part = contest->part[k];
        EXPECT_FALSE(part.unable) << part.name << ": " << part.unable;
        schemes.insert(part.scheme);
        if (std::string(part.scheme) != "fem") continue;
        uniform += std::string(part.name).rfind("Uniform", 0) == 0;
        implicit += std::string(part.name).rfind("Implicit", 0) == 0;
    }
    EXPECT_EQ(schemes, (std::set<std::string>{ "fem", "tetlod", "frames", "wavelet", "octree", "springs" }));
    EXPECT_GE(uniform, 4);
    EXPECT_GE(implicit, 2);
    ASSERT_EQ(pli_contest_choose(contest, "Uniform0,Uniform1,springs", &err), PLI_OK) << err.text;
    PliCompareDef def = pli_compare_default();
    def.steps = 2;
    def.repeat = 1;
    PliComparison *c = pli_contest_compare(contest, &def, &err);
    ASSERT_TRUE(c) << err.text;
    EXPECT_GE(c->outcome[c->reference].dofs_total, 10000u);
    int family = 0;
    for (int k = 0; k < c->count; ++k) {
        EXPECT_EQ(c->outcome[k].verdict, PLI_FINISHED) << c->outcome[k].name << ": " << c->outcome[k].reason;
        family += c->outcome[k].uniform;
    }
    EXPECT_EQ(family, 2);
    pli_comparison_destroy(c);
    pli_contest_destroy(contest);
}

INSTANTIATE_TEST_SUITE_P(All, CompareScenes, testing::ValuesIn(scenes()),
                         [](const auto &test) { return std::filesystem::path(test.param).stem().string(); });

TEST(CompareSceneList, HasElevenOrMore) { EXPECT_GE(scenes().size(), 11u); }

} // namespace
