/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Hands in SOFA: the emulator on our contact and on SOFA's collision pipeline, and what is said when a device is missing.
#include "scene.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <thread>

#include <sofa/AdaptiveForceFeedback.h>
#include <sofa/PliantHapticDevice.h>

using namespace scene;

namespace
{
std::filesystem::path file(const char* name)
{
    return std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes" / "haptics" / name;
}

std::string pad(const std::string& hand)
{
    return root(defaultLoop
                    + owned(box(3, 0.1),
                            "law=\"corotational\" youngModulus=\"5000\" density=\"1000\" massDamping=\"10\"",
                            "<SphereTool name=\"ball\" radius=\"0.02\" position=\"0.05 0.13 0.05\"/>", hand),
                "dt=\"0.01\" gravity=\"0 0 0\"");
}
} // namespace

TEST(Haptics, AHandFeelsOurContact)
{
    Messages messages;
    Scene s(file("sofa_hand.scn"), 0);
    auto* const hand = s.get<pliant::HapticLoopEmulator>("Hand/hand");
    auto* const feedback = s.get<pliant::AdaptiveForceFeedback>("Hand/feedback");
    auto* const ball = s.get<pliant::SphereTool>("Pad/ball");
    ASSERT_TRUE(hand && feedback && ball);
    s.steps(65); // the hand rests on the pad
    const double felt = feedback->d_force.getValue().norm(), simulated = ball->d_force.getValue().norm();
    EXPECT_GT(simulated, 0.3);
    EXPECT_NEAR(felt, simulated, 0.03 * simulated);
    EXPECT_GT(feedback->d_bodyStiffness.getValue(), 50.);
    EXPECT_EQ(feedback->d_state.getValue(), "running");
    s.steps(100);
    EXPECT_EQ(feedback->d_force.getValue().norm(), 0.);
    EXPECT_LE(hand->d_largestStep.getValue(), 0.02);
    EXPECT_GT(s.get<pliant::BodyModel>("Pad/model")->d_refined.getValue(), 0);
    EXPECT_TRUE(messages.errors.empty()) << messages.all();
}

TEST(Haptics, AHandFeelsSofasContact)
{
    Messages messages;
    Scene s(file("sofa_collision.scn"), 0);
    auto* const hand = s.get<pliant::HapticLoopEmulator>("Hand/hand");
    auto* const feedback = s.get<pliant::AdaptiveForceFeedback>("Hand/feedback");
    ASSERT_TRUE(hand && feedback);
    s.steps(95);
    EXPECT_GT(feedback->d_force.getValue()[1], 0.1);
    s.steps(6000 - 95); // a minute
    EXPECT_LE(hand->d_largestStep.getValue(), 0.02);
    EXPECT_GT(hand->d_largestForce.getValue(), 0.1);
    EXPECT_LT(hand->d_largestForce.getValue(), 2.);
    EXPECT_GE(feedback->d_energy.getValue(), -1e-4);
    EXPECT_TRUE(messages.errors.empty()) << messages.all();
}

TEST(Haptics, SofasOwnForceFeedbackFeelsOurContact)
{
    Messages messages;
    Scene s(file("sofa_lcp.scn"), 0);
    auto* const hand = s.get<pliant::HapticLoopEmulator>("Hand/hand");
    ASSERT_TRUE(hand);
    sofa::type::Vec3 last;
    double change = 0., most = 0., off = 0.;
    for (int i = 0; i < 300; ++i) // pressed and let go twice, 0.2 mm a step
    {
        s.steps(1);
        const sofa::type::Vec3 now = hand->d_inputForceFeedback.getValue();
        change = std::max(change, double((now - last).norm()));
        most = std::max(most, double(now.norm()));
        last = now;
        const auto place = [&s](const char* where)
        {
            std::istringstream text(s.data(where, "position")->getValueString());
            sofa::type::Vec3 p;
            text >> p;
            return p;
        };
        if (i % 150 == 95) // it rests: the spring between hand and tool says what the contact gives
            off = std::max(off, std::abs(300. * (place("Tool/tip") - place("Hand/place")).norm() - now.norm()));
    }
    std::printf("most %.3f N, off %.3f N from the tool's own, %.3f N per step\n", most, off, change);
    EXPECT_GT(most, 0.5);
    EXPECT_LT(most, 3.); // 300 N/m, and the hand is 10 mm deep
    EXPECT_LT(off, 0.05 * most);
    EXPECT_LT(change, 0.3); // the hand's own way asks for 0.06 at the most
    EXPECT_EQ(last.norm(), 0.);
    EXPECT_TRUE(messages.errors.empty()) << messages.all();
}

TEST(Haptics, TheSameTwice)
{
    double force[2];
    for (double& f : force)
    {
        Scene s(file("sofa_hand.scn"), 0);
        s.steps(40);
        f = s.get<pliant::AdaptiveForceFeedback>("Hand/feedback")->d_force.getValue()[1];
    }
    EXPECT_EQ(force[0], force[1]);
}

TEST(Haptics, AnyDriverMayCallIt)
{
    Scene s(file("sofa_hand.scn"), 0);
    s.steps(3);
    auto* const feedback = s.get<pliant::AdaptiveForceFeedback>("Hand/feedback");
    sofa::component::haptics::ForceFeedback* const base = feedback;
    SReal f[3] = { 1, 1, 1 };
    base->computeForce(0.045, 0.2, 0.06, 0, 0, 0, 1, f[0], f[1], f[2]);
    EXPECT_EQ(f[0], 0.);
    EXPECT_EQ(f[1], 0.);
    sofa::type::Transform<SReal> place(sofa::type::Vec3(0.045, 0.2, 0.06), sofa::type::Quat<SReal>(0, 0, 0, 1));
    sofa::type::SpatialVector<SReal> none, wrench;
    base->computeWrench(place, none, wrench);
    EXPECT_EQ(wrench.getForce().norm(), 0.);
}

TEST(Haptics, MissingDevicesAndLinksHaveTheirSentences)
{
    {
        Messages messages;
        setenv("PLIANT_LIBHD", "/nowhere/libHD.so", 1);
        Scene s(pad("<AdaptiveForceFeedback name=\"feedback\" tool=\"@ball\"/><PliantHapticDevice name=\"device\"/>"));
        unsetenv("PLIANT_LIBHD");
        EXPECT_EQ(messages.count("/nowhere/libHD.so cannot be loaded"), 1) << messages.all();
        s.steps(3); // the simulation goes on
        EXPECT_EQ(messages.errors.size(), 1u) << messages.all();
    }
    Messages messages;
    Scene s(pad("<AdaptiveForceFeedback name=\"feedback\"/>"));
    EXPECT_EQ(messages.count("needs tool="), 1) << messages.all();
}

// A device of the core in its own thread, beside the steps of SOFA.
TEST(Haptics, ADeviceTicksInItsOwnThread)
{
    Messages messages;
    Scene s(pad("<AdaptiveForceFeedback name=\"feedback\" tool=\"@ball\"/><PliantHapticDevice name=\"device\" "
                "deviceName=\"dummy\" positionBase=\"0.05 0.13 0.05\"/>"));
    auto* const feedback = s.get<pliant::AdaptiveForceFeedback>("Body/feedback");
    ASSERT_TRUE(feedback);
    for (int i = 0; i < 300 && feedback->d_state.getValue() == "waiting"; ++i)
    {
        s.steps(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_NE(feedback->d_state.getValue(), "waiting");
    EXPECT_TRUE(messages.errors.empty()) << messages.all();
}

TEST(Haptics, AResetBeginsAgain)
{
    Messages messages;
    Scene s(file("sofa_hand.scn"), 0);
    s.steps(65);
    sofa::simulation::node::reset(s.node());
    s.steps(65);
    const double felt = s.get<pliant::AdaptiveForceFeedback>("Hand/feedback")->d_force.getValue().norm(),
                 simulated = s.get<pliant::SphereTool>("Pad/ball")->d_force.getValue().norm();
    EXPECT_GT(simulated, 0.3);
    EXPECT_NEAR(felt, simulated, 0.03 * simulated);
    EXPECT_TRUE(messages.errors.empty()) << messages.all();
}
