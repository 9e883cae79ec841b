/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/host_scene.h"

extern "C" {
#include "host/components/bodies.h"
#include "host/components/components.h"
}

#include <cmath>
#include <gtest/gtest.h>

#include "support/fold.h"

// FramesModel, PieceContact and SkinTarget in the embedded host.
using namespace pliant_test;

namespace
{
const std::string box_points = "0 0 0  1 0 0  1 1 0  0 1 0  0 0 1  1 0 1  1 1 1  0 1 1";
const std::string box_quads = "0 3 2 1  4 5 6 7  0 1 5 4  2 3 7 6  1 2 6 5  3 0 4 7";

std::string frames(const std::string &attributes, const std::string &more = "", const std::string &quads = box_quads,
                   const std::string &root = "gravity=\"0 -9.81 0\"")
{
    return "<Node name=\"root\" dt=\"0.01\" " + root +
           "><DefaultAnimationLoop/><Node name=\"body\"><MeshTopology name=\"mesh\" position=\"" + box_points +
           "\" quads=\"" + quads +
           "\"/><FramesModel name=\"model\" mesh=\"@mesh\" frames=\"4\" resolution=\"8\" youngModulus=\"1e6\" " +
           attributes + "/><AdaptiveSolver/><MechanicalObject name=\"dofs\" position=\"@model.position\"/>" + more +
           "</Node></Node>";
}

/// A body of no stiffness.
std::string soft()
{
    std::string text = frames("");
    const std::string given = "youngModulus=\"1e6\"";
    return text.replace(text.find(given), given.size(), "youngModulus=\"0\"");
}

PliSceneBody body_of(HostScene &s)
{
    PliSceneBody b = {};
    EXPECT_EQ(pli_scene_bodies(s.scene, &b, 1), 1);
    return b;
}

void run(HostScene &s, int steps)
{
    PliError err = {};
    for (int i = 0; i < steps; ++i) ASSERT_EQ(pli_scene_step(s.scene, &err), PLI_OK) << err.text;
}
} // namespace

TEST(FramesModel, FallsFreelyOnOneFrame)
{
    HostScene s(frames("threshold=\"1e-6\""));
    ASSERT_TRUE(s.good()) << s.findings();
    const PliSceneBody b = body_of(s);
    EXPECT_STREQ(pli_body_scheme(b.body), "frames");
    const PliEnergy before = pli_body_energy(b.body, b.x, b.v);
    run(s, 20);
    const PliEnergy after = pli_body_energy(b.body, b.x, b.v);
    EXPECT_NEAR(after.mass, 1000.0, 1e-6);
    EXPECT_NEAR(after.centre[1] - before.centre[1], -0.5 * 9.81 * 0.2 * 0.2,
                1e-9); // a step of second order knows parabolas
    EXPECT_EQ(pli_body_active(b.body).count, 4u);
}

TEST(FramesModel, RegionsOfPlacesHoldWholeFrames)
{
    HostScene s(frames("anchors=\"0.5 0 0.5  0.5 1 0.5\"",
                       "<BoxROI name=\"roi\" position=\"@model.places\" box=\"-1 -0.01 -1 "
                       "2 0.2 2\"/><FixedProjectiveConstraint indices=\"@roi.indices\"/>"));
    ASSERT_TRUE(s.good()) << s.findings();
    const PliSceneBody b = body_of(s);
    const double *rest = pli_body_rest(b.body);
    run(s, 30);
    for (int k = 0; k < 12; ++k) EXPECT_EQ(b.x[k], rest[k]) << "the anchored root moved";
    double moved = 0.0;
    for (PliIndex k = 12; k < 3 * pli_body_dof_count(b.body); ++k)
        moved = largest_of(moved, std::fabs(b.x[k] - rest[k]));
    EXPECT_GT(moved, 1e-5) << "nothing sagged";
}

// Held coefficients are active at once: the skin that follows them alone must not stay with the root.
TEST(FramesModel, SkinFollowsPinnedFramesFromTheFirstStep)
{
    HostScene s(
        frames("levelFrames=\"1 2 4\" anchors=\"0.5 0 0.5  0.5 1 0.5\"",
               "<FixedProjectiveConstraint indices=\"0 1 2 3 4 5 6\"/>"
               "<LinearMovementProjectiveConstraint indices=\"7\" keyTimes=\"0 1\" movements=\"0 0 0  0 0.5 0\"/>",
               box_quads, "gravity=\"0 0 0\""));
    ASSERT_TRUE(s.good()) << s.findings();
    const PliSceneBody b = body_of(s);
    std::vector<double> skin(3 * pli_body_skin_count(b.body)), expected(skin.size());
    run(s, 10);
    pli_body_skin_positions(b.body, b.x, skin.data());
    std::vector<double> rest(skin.size());
    pli_body_skin_positions(b.body, pli_body_rest(b.body), rest.data());
    for (size_t i = 0; i < skin.size() / 3; ++i) { // what the finest coefficients say
        PliIndex column[64];
        double weight[64], p[3] = { 0, 0, 0 };
        const PliIndex n = pli_body_locate(b.body, &rest[3 * i], column, weight, 64);
        for (PliIndex k = 0; k < n; ++k)
            for (int a = 0; a < 3; ++a) p[a] += weight[k] * b.x[3 * column[k] + a];
        for (int a = 0; a < 3; ++a) EXPECT_NEAR(skin[3 * i + a], p[a], 1e-9);
    }
    // as in SOFA, a step leaves the point where its path is when the step begins
    EXPECT_NEAR(b.x[3 * 7 + 1] - pli_body_rest(b.body)[3 * 7 + 1], 0.045, 1e-9);
}

TEST(FramesModel, RefusesBadInputWithOneSentence)
{
    const struct {
        std::string scene, sentence;
    } cases[] = {
        { frames("", "", "0 3 2 1  4 5 6 7  0 1 5 4  2 3 7 6  1 2 6 5"), "the surface is open" },
        { frames("anchors=\"0.5 5 0.5\""), "outside the voxel grid" },
        { frames("density=\"0\""), "ensity" },
        { soft(), "oung" },
        { frames("anchors=\"0.5 0 0.5\" anchorLevels=\"0 1\""), "anchorLevels has 2 values for 1 anchors" },
        { frames("integrator=\"symplectic\""), "explicit integration is not available" },
        { frames("stiffnessFactors=\"1 2\""), "stiffnessFactors has 2 values for 0 tetrahedra" },
        { frames("", "<SkinTarget/>"), "no target" },
        { frames("", "<PieceContact thickness=\"-1\"/>"), "none may be negative" },
    };
    for (const auto &c : cases) {
        HostScene s(c.scene);
        EXPECT_FALSE(s.good()) << c.sentence;
        EXPECT_NE(s.findings().find(c.sentence), std::string::npos)
            << "wanted: " << c.sentence << "\ngot: " << s.findings();
    }
}

TEST(FramesModel, ForcesOnPassiveFramesWakeThem)
{
    HostScene s(frames("anchors=\"0.5 0 0.5  0.5 1 0.5\"",
                       "<FixedProjectiveConstraint indices=\"0 1 2 3\"/><Node name=\"probe\"><MechanicalObject "
                       "position=\"0.5 1 0.5\"/><AdaptiveMapping map=\"embed\"/>"
                       "<ConstantForceField indices=\"0\" forces=\"1000 0 0\"/></Node>",
                       box_quads, "gravity=\"0 0 0\""));
    ASSERT_TRUE(s.good()) << s.findings();
    const PliSceneBody b = body_of(s);
    run(s, 5);
    EXPECT_GT(pli_body_active(b.body).count, 4u);
}

TEST(SkinTarget, DrawsTheSkinOntoAMovedCopy)
{
    const std::string shifted = "0.2 0 0  1.2 0 0  1.2 1 0  0.2 1 0  0.2 0 1  1.2 0 1  1.2 1 1  0.2 1 1";
    HostScene s(frames("massDamping=\"20\"",
                       "<MeshTopology name=\"goal\" position=\"" + shifted + "\" quads=\"" + box_quads +
                           "\"/><SkinTarget name=\"pull\" target=\"@goal\" match=\"index\" stiffness=\"1e5\"/>",
                       box_quads, "gravity=\"0 0 0\""));
    ASSERT_TRUE(s.good()) << s.findings();
    const PliSceneBody b = body_of(s);
    const double before = pli_body_energy(b.body, b.x, b.v).centre[0];
    run(s, 200);
    EXPECT_NEAR(pli_body_energy(b.body, b.x, b.v).centre[0] - before, 0.2, 1e-3);
}
