/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A hand on every scheme: the force it feels is that of the simulation, and does not jump, also where the body refines or coarsens.
// Off line: the same bits on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "host/components/bodies.h"
#include "host/feel/feel.h"
#include "host/graph/simulation.h"
}

namespace
{
const std::string pad = std::string(PLIANT_SOURCE_DIR) + "/scenes/haptics/felt_pad.scn";
const PliHost host = pli_host_default();

struct Felt : PliFeel {
    PliError err{};
    PliStatus done;
    Felt(const char *whom, const char *what, double seconds, double stiffness = 300.0)
    {
        const PliSceneDef scene = pli_scene_default();
        PliFeelDef def = pli_feel_default();
        def.body = whom;
        def.device = what;
        def.seconds = seconds;
        def.servo.stiffness = stiffness;
        def.offline = true;
        done = pli_feel_run(&host, pad.c_str(), &scene, &def, this, &err);
    }
    ~Felt() { pli_feel_free(&host, this); }
    Felt(const Felt &) = delete;
    double force_at(double time) const
    {
        const PliTick &t = tick[(size_t)(time * 1000.0)];
        return std::hypot(t.force[0], std::hypot(t.force[1], t.force[2]));
    }
};

struct Way {
    const char *body;
    bool adapts;
};
class Feel : public testing::TestWithParam<Way>
{
};
} // namespace

TEST_P(Feel, TheForceIsTheBodysAndNeverJumps)
{
    const Felt f(GetParam().body, "dummy", 1.8);
    ASSERT_EQ(f.done, PLI_OK) << f.err.text;
    ASSERT_EQ(f.status, PLI_OK) << f.error.text;
    EXPECT_LE(f.excess, 0.02);
    EXPECT_LE(f.event_excess, 0.02);
    EXPECT_GE(f.least_energy, -1e-4);
    if (GetParam().adapts) {
        EXPECT_GT(f.events, 0u);
    }                                     // there was something to hide
    const PliFeelStep &held = f.step[65]; // 0.65 s: the hand rests
    EXPECT_GT(held.force, 0.005);
    EXPECT_NEAR(f.force_at(0.66), held.force, std::max(0.03 * held.force, 1e-3));
    EXPECT_EQ(f.force_at(1.75), 0.0);
}

// The body's own compliance is what the hand meets when it moves a little: the force follows a wiggle with the right slope.
TEST_P(Feel, APassiveHandStaysPassiveAndCalm)
{
    for (const double stiffness : { 100.0, 500.0 }) {
        const Felt f(GetParam().body, "dummy:passive", 1.0, stiffness);
        ASSERT_EQ(f.done, PLI_OK) << f.err.text;
        EXPECT_GE(f.least_energy, -1e-4) << stiffness;
        EXPECT_LE(f.turns, 20.0) << stiffness;
        EXPECT_LE(f.excess, 0.02) << stiffness;
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Feel,
                         testing::Values(Way{ "Fem", false }, Way{ "Implicit", false }, Way{ "TetLod", true },
                                         Way{ "Frames", true }, Way{ "Wavelet", true }, Way{ "Octree", true },
                                         Way{ "Springs", true }),
                         [](const auto &way) { return std::string(way.param.body); });

TEST(FeelSession, SameTicksTwice)
{
    const Felt a("TetLod", "dummy:passive", 0.5), b("TetLod", "dummy:passive", 0.5);
    ASSERT_EQ(a.tick_count, b.tick_count);
    EXPECT_EQ(memcmp(a.tick, b.tick, a.tick_count * sizeof *a.tick), 0);
}

TEST(FeelSession, BodiesThatAreNotThereAreRefused)
{
    const Felt f("Nobody", "dummy", 0.1);
    EXPECT_EQ(f.done, PLI_BAD_ARGUMENT);
    EXPECT_NE(std::string(f.err.text).find("Nobody"), std::string::npos) << f.err.text;
}

TEST(FeelSession, ABrokenDeviceIsRefused)
{
    const Felt f("TetLod", "touch", 0.1);
    EXPECT_EQ(f.done, PLI_UNSUPPORTED);
    EXPECT_NE(std::string(f.err.text).find("libHD"), std::string::npos) << f.err.text;
}

// Asking for the model of the contact must not change what the body does.
TEST(Touch, LeavesTheBodyAsItIs)
{
    for (const char *name : { "Fem", "TetLod", "Wavelet", "Octree" }) {
        uint64_t hash[2];
        for (int touched = 0; touched < 2; ++touched) {
            PliSceneDef def = pli_scene_default();
            std::vector<std::string> paths;
            std::vector<PliOverride> off;
            for (const char *other : { "Fem", "Implicit", "TetLod", "Frames", "Wavelet", "Octree", "Springs" })
                if (strcmp(other, name) != 0) paths.push_back("@" + std::string(other) + ".activated");
            for (const std::string &path : paths) off.push_back({ path.c_str(), "0" });
            def.overrides = off.data();
            def.override_count = (int)off.size();
            PliStatus status;
            PliError err{};
            PliScene *scene = pli_scene_load(&host, pad.c_str(), &def, &status);
            ASSERT_EQ(status, PLI_OK);
            PliSceneBody body[8];
            const int count = pli_scene_bodies(scene, body, 8);
            int k = 0;
            while (k < count && strcmp(body[k].name, name) != 0) ++k;
            ASSERT_LT(k, count);
            PliTouch *touch = touched ? pli_touch_create(&host, body[k].body, &err) : nullptr;
            for (int i = 0; i < 40; ++i) {
                ASSERT_EQ(pli_scene_step(scene, &err), PLI_OK) << err.text;
                PliHapticModel model;
                if (touch) pli_touch_model(touch, body[k].x, body[k].v, body[k].tools, scene->dt, &model);
            }
            hash[touched] = pli_scene_hash(scene);
            pli_touch_destroy(touch);
            pli_scene_destroy(scene);
        }
        EXPECT_EQ(hash[0], hash[1]) << name;
    }
}

// A bar between plates is a spring of known stiffness: E A / L, and its own compliance over a long step is that.
TEST(Touch, ComplianceOfABarIsKnown)
{
    const double young = 5000.0, side = 0.05, length = 0.1;
    PliError err{};
    const PliBoxDef box = { { 0, 0, 0 }, { side, length, side }, { 2, 4, 2 }, 0, 1 };
    PliMesh *mesh = pli_mesh_box(&host, &box, &err);
    PliFemDef def = pli_fem_default();
    def.base.material.young = young;
    def.base.material.poisson = 0.0;
    def.base.integrator = PLI_IMPLICIT;
    def.base.mass_damping = 5.0;
    memset(def.base.gravity, 0, sizeof def.base.gravity);
    def.mesh = mesh;
    PliBody *body = pli_fem_create(&host, &def, &err);
    ASSERT_TRUE(body) << err.text;
    const PliIndex count = pli_body_dof_count(body);
    std::vector<double> x(pli_body_rest(body), pli_body_rest(body) + 3 * count), v(3 * count, 0.0);
    std::vector<PliIndex> fixed;
    for (PliIndex i = 0; i < count; ++i)
        if (x[3 * i + 1] < 1e-9) fixed.push_back(i);
    ASSERT_EQ(pli_body_set_fixed(body, fixed.data(), (PliIndex)fixed.size(), &err), PLI_OK);
    PliTool plate{};
    plate.shape = PLI_TOOL_PLANE;
    plate.other[1] = -1.0;
    plate.position[1] = length;
    ASSERT_EQ(pli_body_set_tools(body, &plate, 1, &err), PLI_OK);
    PliTouch *touch = pli_touch_create(&host, body, &err);
    ASSERT_TRUE(touch) << err.text;
    const PliState state = { x.data(), v.data(), nullptr, nullptr, nullptr, nullptr, nullptr };
    const double dt = 1.0, depth = 0.002; // so long that inertia does not count
    PliHapticModel model{};
    for (int i = 0; i < 20; ++i) {
        plate.velocity[1] = i == 0 ? -depth / dt : 0.0;
        ASSERT_TRUE(pli_body_step(body, &state, dt).finite);
        pli_touch_model(touch, x.data(), v.data(), &plate, dt, &model);
        plate.position[1] += dt * plate.velocity[1];
    }
    const double stretch = 1.0 - depth / length; // of a Saint Venant-Kirchhoff bar
    const double expected = 0.5 * (3.0 * stretch * stretch - 1.0) * young * side * side / length;
    ASSERT_TRUE(model.plane[0].present);
    EXPECT_NEAR(model.plane[0].normal[1], 1.0, 1e-6);
    EXPECT_NEAR(pli_touch_stiffness(touch), expected, 0.02 * expected);
    const double force = (model.plane[0].offset - plate.position[1]) / model.plane[0].compliance;
    EXPECT_NEAR(force, plate.force[1], 0.01 * plate.force[1]);
    pli_touch_destroy(touch);
    pli_body_destroy(body);
    pli_mesh_destroy(mesh);
}

namespace
{
/// A block of which a part is cut away, held at its underside, and a tool that a servo leads.
struct Cut {
    PliMesh *mesh = nullptr;
    PliBody *body = nullptr;
    PliTouch *touch = nullptr;
    PliServo *servo = nullptr;
    std::vector<double> x, v;
    PliTool tool{};
    PliHapticModel model{};
    PliError err{};
    Cut(const PliBoxDef &box, bool (*gone)(const double p[3]), const PliTool &held, bool implicit, double young)
    {
        mesh = pli_mesh_box(&host, &box, &err);
        PliIndex kept = 0;
        for (PliIndex k = 0; k < mesh->tet_count; ++k) {
            double c[3] = { 0.0 };
            for (int a = 0; a < 4; ++a)
                for (int i = 0; i < 3; ++i) c[i] += 0.25 * mesh->x[3 * (size_t)mesh->tets[4 * (size_t)k + a] + i];
            if (gone && gone(c)) continue;
            memmove(mesh->tets + 4 * (size_t)kept++, mesh->tets + 4 * (size_t)k, 4 * sizeof *mesh->tets);
        }
        EXPECT_EQ(pli_mesh_resize_cells(mesh, PLI_TET, kept), PLI_OK);
        PliFemDef def = pli_fem_default();
        def.base.material = { PLI_COROT, young, 0.3, 1000.0, 1e-3 };
        def.base.integrator = implicit ? PLI_IMPLICIT : PLI_SYMPLECTIC;
        def.base.mass_damping = 20.0;
        memset(def.base.gravity, 0, sizeof def.base.gravity);
        def.mesh = mesh;
        body = pli_fem_create(&host, &def, &err);
        EXPECT_TRUE(body) << err.text;
        if (!body) return;
        const PliIndex count = pli_body_dof_count(body);
        x.assign(pli_body_rest(body), pli_body_rest(body) + 3 * (size_t)count);
        v.assign(x.size(), 0.0);
        std::vector<PliIndex> fixed;
        for (PliIndex i = 0; i < count; ++i)
            if (x[3 * i + 1] < 1e-9) fixed.push_back(i);
        EXPECT_EQ(pli_body_set_fixed(body, fixed.data(), (PliIndex)fixed.size(), &err), PLI_OK);
        tool = held;
        EXPECT_EQ(pli_body_set_tools(body, &tool, 1, &err), PLI_OK);
        PliServoDef servo_def = pli_servo_default();
        servo_def.continuous_force = servo_def.peak_force;
        for (int i = 0; i < 3; ++i) servo_def.home[i] = tool.position[i];
        servo = pli_servo_create(&host, &servo_def, &err);
        touch = pli_touch_create(&host, body, &err);
        EXPECT_TRUE(touch && servo) << err.text;
    }
    ~Cut()
    {
        pli_touch_destroy(touch);
        pli_servo_destroy(servo);
        pli_body_destroy(body);
        pli_mesh_destroy(mesh);
    }
    Cut(const Cut &) = delete;
    void step(double dt)
    {
        PliServoOutput o{};
        (void)pli_servo_look(servo, &o);
        for (int i = 0; i < 3; ++i) tool.velocity[i] = (o.proxy[i] - tool.position[i]) / dt;
        const PliTool before = tool;
        const PliState state = { x.data(), v.data(), nullptr, nullptr, nullptr, nullptr, nullptr };
        ASSERT_TRUE(pli_body_step(body, &state, dt).finite);
        PliTool came = before;
        for (int i = 0; i < 3; ++i) {
            came.force[i] = tool.force[i], came.torque[i] = tool.torque[i];
            tool.position[i] += dt * tool.velocity[i];
            tool.other[i] += tool.shape == PLI_TOOL_CAPSULE ? dt * tool.velocity[i] : 0.0;
        }
        pli_touch_model(touch, x.data(), v.data(), &came, dt, &model);
        pli_servo_publish(servo, &model);
    }
    int planes() const
    {
        int n = 0;
        for (const PliHapticPlane &p : model.plane) n += p.present;
        return n;
    }
};

double length(const double a[3]) { return std::hypot(a[0], std::hypot(a[1], a[2])); }
} // namespace

// A ball slides over the floor of a notch into its wall: both are felt, each by a plane of its own, the whole force is the body's, and
// nothing jumps on the way in and out.
TEST(Touch, ACornerHasTwoPlanes)
{
    const PliBoxDef box = { { 0, 0, 0 }, { 0.14, 0.08, 0.06 }, { 14, 8, 6 }, 0, 1 };
    PliTool ball{};
    ball.shape = PLI_TOOL_SPHERE;
    ball.radius = 0.02;
    ball.position[0] = 0.106, ball.position[1] = 0.062, ball.position[2] = 0.03;
    Cut c(
        box, [](const double p[3]) { return p[0] > 0.06 && p[1] > 0.04; }, ball, true, 6000.0);
    ASSERT_TRUE(c.servo && c.touch);
    const double key[][3] = { { 0.0, 0.0, 0.0 },       { 0.3, 0.0, -0.008 },    { 0.4, 0.0, -0.008 },
                              { 1.2, -0.034, -0.008 }, { 1.6, -0.034, -0.008 }, { 2.2, -0.01, -0.008 },
                              { 2.6, -0.01, 0.01 } }; // s, m, m
    double last[3] = { 0.0 }, from[2] = { 0.0 }, worst = 0.0;
    int k = 0, most = 0;
    for (int i = 0; i < 2600; ++i) {
        if (i % 10 == 0) {
            c.step(0.01);
            ASSERT_FALSE(testing::Test::HasFatalFailure());
            most = std::max(most, c.planes());
        }
        const double t = 1e-3 * i;
        while (t >= key[k + 1][0]) ++k;
        const double s = (t - key[k][0]) / (key[k + 1][0] - key[k][0]);
        PliHapticSample in{};
        double f[3];
        for (int a = 0; a < 2; ++a) in.position[a] = key[k][1 + a] + s * (key[k + 1][1 + a] - key[k][1 + a]);
        in.orientation[3] = 1.0;
        in.connected = true;
        pli_servo_tick(c.servo, &in, 1e-3, f);
        const double change[3] = { f[0] - last[0], f[1] - last[1], f[2] - last[2] };
        if (i)
            worst = std::max(worst,
                             length(change) - 300.0 * std::hypot(in.position[0] - from[0], in.position[1] - from[1]));
        from[0] = in.position[0], from[1] = in.position[1];
        memcpy(last, f, sizeof last);
        if (i == 390) {
            EXPECT_EQ(c.planes(), 1); // the wall is far
            EXPECT_NEAR(f[1], c.tool.force[1], 0.03 * c.tool.force[1]);
        }
        if (i == 1590) { // in the corner
            EXPECT_EQ(c.planes(), 2);
            EXPECT_GT(c.tool.force[0], 0.1);
            EXPECT_GT(c.tool.force[1], 0.1);
            EXPECT_NEAR(f[0], c.tool.force[0], 0.05 * c.tool.force[0]);
            EXPECT_NEAR(f[1], c.tool.force[1], 0.05 * c.tool.force[1]);
            double floor = 0.0, wall = 0.0;
            for (const PliHapticPlane &p : c.model.plane)
                if (p.present) floor = std::max(floor, p.normal[1]), wall = std::max(wall, p.normal[0]);
            EXPECT_GT(floor, 0.9);
            EXPECT_GT(wall, 0.9);
        }
    }
    EXPECT_EQ(length(last), 0.0);
    EXPECT_LE(worst, 0.02);
}

// A rod across a narrow post: the post pushes where it stands, so the torque about the end that is held is (post - end) x force, in the
// step, in the model and in the hand.
TEST(Touch, ARodPressedOffItsMiddleIsTurned)
{
    for (const bool implicit : { true, false }) {
        SCOPED_TRACE(implicit);
        const PliBoxDef box = { { 0.056, 0, 0.026 }, { 0.064, 0.016, 0.034 }, { 2, 4, 2 }, 0, 1 };
        PliTool rod{};
        rod.shape = PLI_TOOL_CAPSULE;
        rod.radius = 0.005;
        rod.position[0] = 0.02, rod.position[1] = 0.0215, rod.position[2] = 0.03; // the hand's end
        rod.other[0] = 0.1, rod.other[1] = 0.0215, rod.other[2] = 0.03;
        Cut c(box, nullptr, rod, implicit, 60000.0);
        ASSERT_TRUE(c.servo && c.touch);
        double f[3] = {};
        for (int i = 0; i < 1500; ++i) {
            if (i % 10 == 0) {
                c.step(0.01);
                ASSERT_FALSE(testing::Test::HasFatalFailure());
            }
            PliHapticSample in{};
            in.position[1] = -0.0025 * std::min(1.0, i / 500.0);
            in.orientation[3] = 1.0;
            in.connected = true;
            pli_servo_tick(c.servo, &in, 1e-3, f);
        }
        const double arm = 0.04, force = c.tool.force[1];
        double torque[3];
        EXPECT_GT(force, 0.1);
        EXPECT_NEAR(c.tool.torque[2], arm * force, 0.02 * arm * force); // the post is 4 mm to each side of its middle
        EXPECT_NEAR(c.tool.torque[1], -arm * c.tool.force[2], 0.02 * arm * force); // it gives way sideways, too
        pli_servo_torque(c.servo, torque);
        EXPECT_NEAR(f[1], force, 0.03 * force);
        EXPECT_NEAR(torque[2], arm * force, 0.05 * arm * force);
        EXPECT_NEAR(torque[1], -arm * f[2], 0.05 * arm * force);
    }
}
