/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/host_scene.h"

#include <cmath>
#include <map>
#include <set>
#include <sstream>

using namespace pliant_test;

namespace
{

struct Row {
    std::string state;
    int step;
    PliIndex point;
    double x[3];
};

// Positions of a few points of each stock scene after 1 and 50 steps, as SOFA v26.06 computed them (g++ 12, x86-64, doubles).
std::map<std::string, std::vector<Row>> references()
{
    std::map<std::string, std::vector<Row>> all;
    std::ifstream in(std::string(PLIANT_SOURCE_DIR) + "/tests/host/sofa_reference.csv");
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string scene, word;
        Row r;
        std::getline(words, scene, ',');
        std::getline(words, r.state, ',');
        std::getline(words, word, ',');
        r.step = std::stoi(word);
        std::getline(words, word, ',');
        r.point = PliIndex(std::stoul(word));
        for (double &x : r.x) {
            std::getline(words, word, ',');
            x = std::stod(word);
        }
        all[scene].push_back(r);
    }
    return all;
}

TEST(SofaReference, EveryStockSceneMovesAsInSofa)
{
    auto all = references();
    ASSERT_GE(all.size(), 30u);
    for (const auto &[name, rows] : all) {
        HostScene s(HostScene::FromFile{}, std::string(PLIANT_SOURCE_DIR) + "/scenes/single/" + name);
        ASSERT_TRUE(s.good()) << name << s.findings();
        bool moved = false;
        for (int step : { 1, 50 }) {
            while (s.scene->step < uint64_t(step)) s.step();
            for (const Row &r : rows) {
                if (r.step != step) continue;
                const PliMech *m = s.state(r.state);
                ASSERT_LT(r.point, m->count) << name;
                // half a metre of scene: rounding is 1e-16; loose CG and contact amplify it
                const double bound = name == "CGLinearSolver.scn" || name == "SphereForceField.scn" ? 1e-10 : 1e-13;
                for (int k = 0; k < 3; ++k) {
                    EXPECT_NEAR(m->x[3 * r.point + k], r.x[k], bound)
                        << name << " " << r.state << " point " << r.point << " step " << step;
                    moved = moved || std::fabs(m->x[3 * r.point + k] - m->x0[3 * r.point + k]) > 1e-6;
                }
            }
        }
        EXPECT_TRUE(moved) << name << " says nothing: none of its points moves";
    }
}

} // namespace
