/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A hand that holds bodies by their skin, and bodies that diverge among others.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "host/components/bodies.h"
#include "host/host_scene.h"

using namespace pliant_test;

namespace
{

/// A free box in two meshes, stepped by AdaptiveSolver or by stock solvers.
struct Boxes {
    Folder folder;
    std::unique_ptr<HostScene> s;
    PliSceneBody body[4];

    Boxes(const std::string &model, const std::string &solver)
    {
        PliHost host = pli_host_default();
        std::string text = "<Node name='root' dt='0.002' gravity='0 0 0'><DefaultAnimationLoop/>";
        for (PliIndex n : { 2u, 4u }) {
            const PliBoxDef def = { { 0, 0, 0 }, { 0.1, 0.1, 0.1 }, { n, n, n }, 0, 1 };
            PliMesh *m = pli_mesh_box(&host, &def, nullptr);
            const std::string path = folder.path("box" + std::to_string(n) + ".msh");
            EXPECT_EQ(pli_mesh_write_msh(m, path.c_str(), nullptr), PLI_OK);
            pli_mesh_destroy(m);
            text += "<Node name='Body" + std::to_string(n) + "'><FemModel name='model' filename='" + path +
                    "' youngModulus='2e4' poissonRatio='0.3' density='1000' " + model +
                    "/><MechanicalObject name='dofs' position='@model.position'/>" + solver + "</Node>";
        }
        s = std::make_unique<HostScene>(text + "</Node>");
        EXPECT_TRUE(s->good()) << s->findings();
        EXPECT_EQ(pli_scene_bodies(s->scene, body, 4), 2);
    }
    PliStatus grab(const PliGrip *g, PliError *err) { return pli_scene_grab(s->scene, g, err); }
    PliEnergy energy(int i) const { return pli_body_energy(body[i].body, body[i].x, body[i].v); }
    PliStatus step()
    {
        PliError err = {};
        return pli_scene_step(s->scene, &err);
    }
};

PliGrip grip()
{
    PliGrip g = {};
    const double at[3] = { 0.05, 0.1, 0.05 };
    for (int d = 0; d < 3; ++d) g.at[d] = g.target[d] = at[d];
    g.radius = 0.04;
    g.stiffness = 40.0;
    return g;
}

} // namespace

TEST(Grab, AFreeBodyGetsTheMomentumOfTheSpringOnEveryRoute)
{
    // one short step: the patch has hardly moved, so the impulse is stiffness x distance x dt, whatever the mesh
    const char *routes[][2] = { { "", "<AdaptiveSolver/>" },
                                { "integrator='implicit'", "<AdaptiveSolver/>" },
                                { "", "<EulerImplicitSolver/><CGLinearSolver iterations='200' tolerance='1e-12' "
                                      "threshold='1e-14'/><AdaptiveMass/><AdaptiveForceField/>" } };
    for (const auto &route : routes) {
        Boxes b(route[0], route[1]);
        PliGrip g = grip();
        g.target[1] += 0.01, g.stiffness = 80.0; // less than a hand makes in this step
        PliError err = {};
        ASSERT_EQ(b.grab(&g, &err), PLI_OK) << err.text;
        b.s->step(1);
        const double expected = 80.0 * 0.01 * 0.002;
        for (int i = 0; i < 2; ++i) {
            const PliEnergy e = b.energy(i);
            EXPECT_NEAR(e.momentum[1], expected, 0.03 * expected) << route[0] << route[1] << " body " << i;
            EXPECT_NEAR(e.momentum[0], 0.0, 0.01 * expected);
        }
        // let go: what it has it keeps
        ASSERT_EQ(b.grab(nullptr, &err), PLI_OK);
        const double had = b.energy(0).momentum[1];
        b.s->step(3);
        EXPECT_NEAR(b.energy(0).momentum[1], had, 1e-4 * expected);
    }
}

TEST(Grab, AHandIsNoFasterThanFiftyBodyLengthsASecond)
{
    // half of a mouse's jump to ten metres off would give a thousand times the momentum
    Boxes b("", "<AdaptiveSolver/>");
    PliGrip g = grip();
    g.target[1] += 10.0;
    PliError err = {};
    ASSERT_EQ(b.grab(&g, &err), PLI_OK) << err.text;
    b.s->step(1);
    const double size = 0.1 * std::sqrt(3.0), expected = 40.0 * (50.0 * size * 0.002) * 0.002;
    EXPECT_NEAR(b.energy(0).momentum[1], expected, 0.03 * expected);
    EXPECT_EQ(1u, pli_scene_grab_limited(b.s->scene, 0));
    b.s->step(1); // it goes on
    EXPECT_GT(b.energy(0).momentum[1], 2.5 * expected);
    EXPECT_EQ(2u, pli_scene_grab_limited(b.s->scene, 0));
}

TEST(Grab, HoldingStillAddsNothing)
{
    Boxes b("", "<AdaptiveSolver/>");
    PliGrip g = grip();
    PliError err = {};
    ASSERT_EQ(b.grab(&g, &err), PLI_OK);
    b.s->step(5);
    for (int i = 0; i < 2; ++i) EXPECT_LT(b.energy(i).kinetic, 1e-20);
}

TEST(Grab, TheBodyFollowsTheHandAndComesToRestThere)
{
    Boxes b("massDamping='20'", "<AdaptiveSolver/>");
    PliGrip g = grip();
    g.target[1] += 0.03; // through the middle, so that it does not turn
    PliError err = {};
    ASSERT_EQ(b.grab(&g, &err), PLI_OK);
    b.s->step(1500);
    for (int i = 0; i < 2; ++i) {
        const PliEnergy e = b.energy(i);
        EXPECT_NEAR(e.centre[1], 0.08, 5e-4) << i; // nothing else holds it: all of it comes along
    }
}

TEST(Grab, NonsenseIsRefused)
{
    Boxes b("", "<AdaptiveSolver/>");
    PliError err = {};
    PliGrip g = grip();
    g.radius = 0.0;
    EXPECT_EQ(b.grab(&g, &err), PLI_BAD_ARGUMENT);
    EXPECT_NE(std::string(err.text).find("radius 0"), std::string::npos) << err.text;
    g = grip();
    g.target[2] = NAN;
    EXPECT_EQ(b.grab(&g, &err), PLI_BAD_ARGUMENT);
    b.s->step(1); // and it was not taken
}

TEST(Bodies, WhoDivergesIsSwitchedOffAndTheOthersGoOn)
{
    Boxes b("", "<AdaptiveSolver/>");
    EXPECT_TRUE(b.body[0].is_reference); // the first uniform body, when no monitor names one
    b.body[0].v[0] = NAN;
    b.body[1].v[1] = 0.01;
    const double before = b.s->scene->time;
    EXPECT_EQ(b.step(), PLI_DIVERGED);
    EXPECT_GT(b.s->scene->time, before); // the other one has done the step
    EXPECT_EQ(pli_scene_drop_diverged(b.s->scene), 1);
    EXPECT_EQ(pli_scene_drop_diverged(b.s->scene), 0);
    EXPECT_TRUE(pli_scene_body_dropped(b.s->scene, 0));
    EXPECT_FALSE(pli_scene_body_dropped(b.s->scene, 1));
    const double x = b.body[1].x[1];
    b.s->step(5);
    EXPECT_NE(b.body[1].x[1], x);
}
