/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Laws of tools that press, slide, leave and hit: balance with the clamps, the same force from both integrators, nothing inside,
// no pull, Coulomb's ratio, no energy for nothing, no way through.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "support/bodies.h"
#include "support/fold.h"

namespace
{

using pli_test::Body;
using pli_test::Mesh;
using pli_test::State;

constexpr double dt = 0.01, height = 0.08;

struct Bench {
    Body body;
    std::vector<PliIndex> fixed;
    State state;
    PliTool tool{};

    static Body make(PliIntegrator integrator, PliLinearSolver solver, double young)
    {
        const PliHost host = pli_host_default();
        const Mesh mesh = pli_test::box(5, 4, 4, 0.1, height, 0.08);
        PliFemDef d = pli_fem_default();
        d.mesh = mesh.get();
        d.base.integrator = integrator;
        d.base.linear_solver = solver;
        d.base.cg_iterations = 1000;
        d.base.material = { PLI_NEOHOOKEAN, young, 0.3, 1000.0, 2e-4 };
        d.base.mass_damping = 10.0;
        std::fill(d.base.gravity, d.base.gravity + 3, 0.0);
        return Body(pli_fem_create(&host, &d, nullptr));
    }

    Bench(PliIntegrator integrator, PliLinearSolver solver, bool held = true, double young = 5000.0)
        : body(make(integrator, solver, young)), state(body.get())
    {
        for (PliIndex i = 0; held && i < pli_body_dof_count(body.get()); ++i)
            if (state.x[3 * i + 1] < 1e-9) fixed.push_back(i);
        EXPECT_EQ(pli_body_set_fixed(body.get(), fixed.data(), (PliIndex)fixed.size(), nullptr), PLI_OK);
        EXPECT_EQ(pli_body_set_tools(body.get(), &tool, 1, nullptr), PLI_OK);
    }

    void ball(double x, double y, double z, double radius)
    {
        tool.shape = PLI_TOOL_SPHERE;
        tool.radius = radius;
        tool.position[0] = x, tool.position[1] = y, tool.position[2] = z;
    }

    void plate()
    {
        tool.shape = PLI_TOOL_PLANE;
        tool.other[1] = -1.0;
        tool.position[1] = height;
    }

    /// Moves the tool with (vx, vy, vz) for so many steps.
    void move(
        int steps, double vx, double vy, double vz, const std::function<void()> &look = [] {})
    {
        const double v[3] = { vx, vy, vz };
        std::copy(v, v + 3, tool.velocity);
        for (int i = 0; i < steps; ++i) {
            ASSERT_TRUE(pli_body_step(body.get(), &state.view, dt).finite);
            for (int k = 0; k < 3; ++k) tool.position[k] += dt * v[k];
            look();
        }
    }

    /// m, how far the deepest skin point is inside
    double depth() const
    {
        std::vector<double> p(3 * pli_body_skin_count(body.get()));
        pli_body_skin_positions(body.get(), state.x.data(), p.data());
        double most = 0.0;
        for (size_t i = 0; i < p.size(); i += 3) {
            const double d[3] = { p[i] - tool.position[0], p[i + 1] - tool.position[1], p[i + 2] - tool.position[2] };
            const double gap = tool.shape == PLI_TOOL_PLANE ? -d[1] : std::hypot(d[0], d[1], d[2]) - tool.radius;
            most = largest_of(most, -gap);
        }
        return most;
    }
};

struct Kind {
    const char *name;
    PliLinearSolver solver;
};
void PrintTo(const Kind &k, std::ostream *out) { *out << k.name; }
class Press : public testing::TestWithParam<Kind>
{
};

TEST_P(Press, AHeldBallFeelsWhatTheClampsFeel)
{
    Bench b(PLI_IMPLICIT, GetParam().solver);
    b.ball(0.043, height + 0.03, 0.037, 0.03);
    b.tool.friction = 0.3;
    b.move(30, 0.01, -0.05, 0.0, [&] { EXPECT_LT(b.depth(), 1e-4 * height); });
    b.move(60, 0.0, 0.0, 0.0);
    EXPECT_LT(b.depth(), 1e-6 * height);
    std::vector<double> f(b.state.x.size(), 0.0);
    pli_body_add_force(b.body.get(), b.state.x.data(), b.state.v.data(), f.data());
    double sum[3] = { 0, 0, 0 };
    for (const PliIndex i : b.fixed)
        for (int k = 0; k < 3; ++k) sum[k] += f[3 * i + k];
    EXPECT_GT(b.tool.force[1], 0.3);
    EXPECT_GT(std::fabs(b.tool.force[0]), 0.02) << "it was dragged, and friction holds that";
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(b.tool.force[k], -sum[k], 2e-3 * b.tool.force[1]);
}

TEST_P(Press, BothIntegratorsPressAlike)
{
    double force[2][3];
    for (const PliIntegrator integrator : { PLI_SYMPLECTIC, PLI_IMPLICIT }) {
        Bench b(integrator, GetParam().solver);
        b.ball(0.043, height + 0.03, 0.037, 0.03);
        b.move(30, 0.0, -0.05, 0.0);
        b.move(60, 0.0, 0.0, 0.0);
        std::copy(b.tool.force, b.tool.force + 3, force[integrator == PLI_IMPLICIT]);
    }
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(force[1][k], force[0][k], 2e-3 * force[0][1]);
}

TEST_P(Press, APlateNeverPullsAndIsFreeWhenItHasLeft)
{
    Bench b(PLI_IMPLICIT, GetParam().solver);
    b.plate();
    b.tool.friction = 0.2;
    double most = 0.0;
    const auto look = [&] {
        most = largest_of(most, b.tool.force[1]);
        EXPECT_GE(b.tool.force[1], -1e-3 * most);
    };
    b.move(10, 0.0, -0.1, 0.0, look);
    b.move(10, 0.0, 0.0, 0.0, look);
    b.move(5, 0.0, 0.05, 0.0, look);
    b.move(5, 0.0, 1.0, 0.0, look);
    b.move(3, 0.0, 1.0, 0.0, [&] { EXPECT_EQ(b.tool.force[1], 0.0); });
}

TEST_P(Press, APlateThatSlidesDragsWithCoulombsShare)
{
    Bench b(PLI_IMPLICIT, GetParam().solver);
    b.plate();
    b.tool.friction = 0.2;
    b.move(10, 0.0, -0.08, 0.0);
    b.move(40, 0.1, 0.0, 0.0);
    for (int i = 0; i < 10; ++i) {
        b.move(1, 0.1, 0.0, 0.0);
        EXPECT_NEAR(-b.tool.force[0], 0.2 * b.tool.force[1], 0.01 * b.tool.force[1]);
    }
}

// Nothing moves but the body: what it has can only become less.
TEST_P(Press, AHeldToolGivesNoEnergy)
{
    Bench b(PLI_IMPLICIT, GetParam().solver);
    b.ball(0.05, height + 0.03, 0.04, 0.03);
    b.tool.friction = 0.3;
    b.move(10, 0.02, -0.15, 0.0);
    double last = INFINITY;
    b.move(50, 0.0, 0.0, 0.0, [&] {
        const PliEnergy e = pli_body_energy(b.body.get(), b.state.x.data(), b.state.v.data());
        if (std::isfinite(last)) {
            EXPECT_LE(e.elastic + e.kinetic, last + 2e-4 * last);
        }
        last = e.elastic + e.kinetic;
    });
}

/// A body that lies at a plate without weight: forces are rounding, and who presses is not searched for in it.
TEST(PressAtRest, RoundingIsNotSolvedForAgainAndAgain)
{
    Bench b(PLI_IMPLICIT, PLI_SOLVE_AUTO, false);
    b.tool.friction = 0.5;
    b.plate();
    for (int i = 0; i < 5; ++i) {
        const PliStepInfo info = pli_body_step(b.body.get(), &b.state.view, dt);
        ASSERT_TRUE(info.finite);
        EXPECT_LE(info.cg_iterations, 15) << "step " << i;
    }
}

// 10 m/s are one and a quarter boxes a step, from ahead and just beside; sound is three times as fast.
TEST_P(Press, AFastBallGoesNeitherThroughNorHitsWhatItMisses)
{
    Bench hit(PLI_IMPLICIT, GetParam().solver, false, 1e6);
    hit.ball(0.05, height + 0.04, 0.04, 0.03);
    hit.move(3, 0.0, -10.0, 0.0);
    const PliEnergy e = pli_body_energy(hit.body.get(), hit.state.x.data(), hit.state.v.data());
    EXPECT_LT(e.centre[1], hit.tool.position[1]) << "the ball is through";
    EXPECT_LT(e.momentum[1], -0.5 * e.mass * 10.0);
    Bench miss(PLI_IMPLICIT, GetParam().solver, false, 1e6);
    miss.ball(0.1 + 0.022, height + 0.05, 0.04, 0.02);
    miss.move(3, 0.0, -10.0, 0.0, [&] { EXPECT_EQ(miss.tool.force[0], 0.0); });
}

INSTANTIATE_TEST_SUITE_P(Solvers, Press,
                         testing::Values(Kind{ "factor", PLI_SOLVE_LDL }, Kind{ "cg", PLI_SOLVE_CG },
                                         Kind{ "minres", PLI_SOLVE_MINRES }),
                         [](const testing::TestParamInfo<Kind> &test) { return std::string(test.param.name); });

} // namespace
