/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The same scene file in SOFA and in the embedded host: every state at the same place, after one step and after many.
#include "scene.h"

extern "C"
{
#include "host/graph/component.h"
#include "host/graph/simulation.h"
}

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "support/fold.h"

using namespace scene;

namespace
{
/// Scenes both hosts promise to run: all but those named sofa_*.
std::vector<std::string> shared()
{
    std::vector<std::string> found;
    const std::filesystem::path root = std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes";
    if (std::filesystem::exists(root))
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
            if (entry.path().extension() == ".scn" && entry.path().filename().string().rfind("sofa_", 0) != 0)
                found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found;
}

std::string text(const std::string& path)
{
    std::ifstream file(path);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
}

/// Largest distance between states of the same path, relative to the size of the scene.
double difference(PliScene* host, Scene& sofa, int* compared, std::string* where)
{
    double most = 0.0;
    *compared = 0;
    for (std::size_t i = 0; i < host->object_count; ++i)
    {
        PliObject* const object = host->object[i];
        if (!(object->cls->roles & PLI_ROLE_STATE))
            continue;
        char path[512];
        pli_object_path(object, path, sizeof path);
        std::string name = path;
        auto* const state = sofa.get<State>(name.substr(1));
        EXPECT_TRUE(state) << name;
        if (!state)
            continue;
        const PliMech* const mech = pli_state_self(object);
        const VecCoord& x = state->read(vec_id::read_access::position)->getValue();
        EXPECT_EQ(x.size(), mech->count) << name;
        double size = 0.0;
        for (std::size_t p = 1; p < x.size(); ++p)
            size = largest_of(size, double((x[p] - x[0]).norm()));
        for (std::size_t p = 0; p < x.size() && p < mech->count; ++p)
        {
            const double d = (x[p] - Vec3Types::Coord(mech->x[3 * p], mech->x[3 * p + 1], mech->x[3 * p + 2])).norm()
                             / (size > 0.0 ? size : 1.0);
            if (!(d <= most))
            {
                most = std::isnan(d) ? INFINITY : d;
                *where = name;
            }
        }
        ++*compared;
    }
    return most;
}
} // namespace

class Parity : public sofa::testing::BaseSimulationTest, public ::testing::WithParamInterface<std::string>
{
};

TEST_P(Parity, BothHostsTakeTheSameSteps)
{
    const std::string path = GetParam();
    const PliHost memory = pli_host_default();
    PliSceneDef def = pli_scene_default();
    PliStatus status = PLI_OK;
    PliScene* const host = pli_scene_load(&memory, path.c_str(), &def, &status);
    ASSERT_TRUE(host);
    ASSERT_EQ(status, PLI_OK) << (host->report.count ? host->report.finding[host->report.count - 1].text : "");
    PliError error{};
    ASSERT_EQ(pli_scene_start(host, &error), PLI_OK) << error.text;
    Scene sofa(std::filesystem::path(path), 0);
    int compared = 0;
    std::string where;
    EXPECT_LT(difference(host, sofa, &compared, &where), 1e-14) << where;
    EXPECT_GT(compared, 0);

    // what an iterative solver leaves depends on the order of its sums
    const std::string xml = text(path);
    const bool iterative = xml.find("CGLinearSolver") != std::string::npos
                           || (xml.find("integrator=\"implicit\"") != std::string::npos
                               && xml.find("linearSolver=\"ldl\"") == std::string::npos);
    ASSERT_EQ(pli_scene_step(host, &error), PLI_OK) << error.text;
    sofa.steps(1);
    const double one = difference(host, sofa, &compared, &where);
    EXPECT_LT(one, iterative ? 1e-4 : 1e-9) << where;
    // comparisons have some fifteen bodies of up to 13,000 nodes: ten steps of them take as long as hundreds elsewhere
    const int steps = std::filesystem::path(path).parent_path().filename() == "compare" ? 10 : 100;
    for (int i = 1; i < steps; ++i)
        ASSERT_EQ(pli_scene_step(host, &error), PLI_OK) << error.text;
    sofa.steps(steps - 1);
    const double many = difference(host, sofa, &compared, &where);
    EXPECT_LT(many, iterative ? 1e-4 : 1e-6) << where;
    std::printf("%s: %d states, %.2g after 1 step, %.2g after %d (of the body's size)\n",
                std::filesystem::path(path).filename().c_str(), compared, one, many, steps);
    pli_scene_finish(host, &error);
    pli_scene_destroy(host);
}

INSTANTIATE_TEST_SUITE_P(Scenes, Parity, ::testing::ValuesIn(shared()),
                         [](const auto& test)
                         {
                             std::string name = std::filesystem::relative(
                                                    test.param, std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes")
                                                    .replace_extension()
                                                    .string();
                             std::replace_if(
                                 name.begin(), name.end(),
                                 [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
                             return name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Parity);
