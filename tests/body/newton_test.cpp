/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A step with several linearisations ends where the equation of motion holds, whoever solves for it.
#include "support/bodies.h"

#include <gtest/gtest.h>

#include <cmath>

namespace
{
const PliHost host = pli_host_default();

pli_test::Body make(int newton, PliLinearSolver solver, PliLaw law, double damping = 0.0)
{
    const pli_test::Mesh mesh = pli_test::box(4, 2, 2, 0.4, 0.1, 0.1);
    PliFemDef fem = pli_fem_default();
    fem.mesh = mesh.get();
    fem.base.material.young = 2e4, fem.base.material.law = law, fem.base.material.damping = damping;
    fem.base.integrator = PLI_IMPLICIT, fem.base.linear_solver = solver, fem.base.newton = newton;
    fem.base.cg_tolerance = 1e-10, fem.base.cg_iterations = 1000, fem.base.mass_damping = 0.3;
    return pli_test::Body(pli_fem_create(&host, &fem, nullptr));
}

std::vector<PliIndex> clamped(const PliBody *body)
{
    std::vector<PliIndex> fixed;
    for (PliIndex i = 0; i < pli_body_dof_count(body); ++i)
        if (pli_body_rest(body)[3 * i] < 1e-9) fixed.push_back(i);
    return fixed;
}

/// |M (v1 - v0) - h F(x1, v1)| over |h F| of gravity, where nothing is fixed.
double rest_of_motion(const PliBody *body, const pli_test::State &s, const std::vector<double> &v0, double h)
{
    const size_t n = s.x.size();
    std::vector<double> f(n, 0.0), dv(n), weight(n, 0.0), down(n, 0.0);
    for (size_t i = 0; i < n; ++i) dv[i] = s.v[i] - v0[i], down[i] = i % 3 == 1 ? -9.81 : 0.0;
    pli_body_add_mass(body, down.data(), h, weight.data());
    pli_body_add_force(const_cast<PliBody *>(body), s.x.data(), s.v.data(), f.data());
    for (size_t i = 0; i < n; ++i) f[i] = h * f[i] + weight[i];
    pli_body_add_mass(body, dv.data(), -1.0, f.data());
    pli_body_add_mass(body, s.v.data(), -h * 0.3, f.data());
    double sum = 0.0, size = 0.0;
    for (size_t i = 0; i < n; ++i)
        if (s.x[i / 3 * 3] > 1e-9) sum += f[i] * f[i], size += weight[i] * weight[i];
    return std::sqrt(sum / size);
}
} // namespace

TEST(Newton, reachesTheEquationOfMotion)
{
    for (const PliLinearSolver solver : { PLI_SOLVE_CG, PLI_SOLVE_LDL, PLI_SOLVE_AUTO, PLI_SOLVE_MULTIGRID })
        for (const PliLaw law : { PLI_STVK, PLI_COROT, PLI_NEOHOOKEAN })
            for (const double damping : { 0.0, 0.01 }) {
                double rest[2];
                for (int many = 0; many < 2; ++many) {
                    const pli_test::Body body = make(many ? 40 : 1, solver, law, damping);
                    ASSERT_TRUE(body);
                    const auto fixed = clamped(body.get());
                    ASSERT_EQ(pli_body_set_fixed(body.get(), fixed.data(), (PliIndex)fixed.size(), nullptr), PLI_OK);
                    pli_test::State s(body.get());
                    std::vector<double> v0;
                    for (int step = 0; step < 4; ++step) {
                        v0 = s.v;
                        ASSERT_TRUE(pli_body_step(body.get(), &s.view, 0.1).finite);
                    }
                    rest[many] = rest_of_motion(body.get(), s, v0, 0.1);
                }
                EXPECT_LT(rest[1], 1e-7) << "solver " << solver << " law " << law << " damping " << damping;
                EXPECT_GT(rest[0], 1e-3) << "solver " << solver << " law " << law << " damping " << damping;
            }
}

TEST(Newton, heldPointsAreMetAndTheRestBalances)
{
    const pli_test::Body body = make(30, PLI_SOLVE_LDL, PLI_NEOHOOKEAN);
    const auto fixed = clamped(body.get());
    ASSERT_EQ(pli_body_set_fixed(body.get(), fixed.data(), (PliIndex)fixed.size(), nullptr), PLI_OK);
    const PliConstraint held = { { 0.4, 0.1, 0.1 }, {} };
    ASSERT_EQ(pli_body_constrain(body.get(), &held, 1, nullptr), PLI_OK);
    const double to[3] = { 0.3, 0.3, 0.1 };
    ASSERT_EQ(pli_body_move_constraints(body.get(), to, nullptr), PLI_OK);
    pli_test::State s(body.get());
    const PliStepInfo info = pli_body_step(body.get(), &s.view, 0.1); // all in one step
    ASSERT_TRUE(info.finite);
    EXPECT_LT(info.residual, 1e-9);
    EXPECT_GT(info.linearizations, 3);
    EXPECT_EQ(info.retries, 0);
    PliIndex column[PLI_LOCATE_MAX];
    double weight[PLI_LOCATE_MAX], p[3] = { 0, 0, 0 };
    const PliIndex count = pli_body_locate(body.get(), held.point, column, weight, PLI_LOCATE_MAX);
    for (PliIndex k = 0; k < count; ++k)
        for (int d = 0; d < 3; ++d) p[d] += weight[k] * s.x[3 * column[k] + d];
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(p[d], to[d], 1e-10);
}

TEST(Newton, toolsAreHardAndItsForceIsTheWeight)
{
    const pli_test::Body body = make(20, PLI_SOLVE_LDL, PLI_NEOHOOKEAN);
    PliTool floor{};
    floor.shape = PLI_TOOL_PLANE, floor.other[1] = 1.0;
    ASSERT_EQ(pli_body_set_tools(body.get(), &floor, 1, nullptr), PLI_OK);
    pli_test::State s(body.get());
    PliStepInfo info{};
    for (int step = 0; step < 60; ++step) {
        info = pli_body_step(body.get(), &s.view, 0.02);
        ASSERT_TRUE(info.finite);
        for (size_t i = 1; i < s.x.size(); i += 3) ASSERT_GT(s.x[i], -1e-6) << "step " << step;
    }
    EXPECT_NEAR(floor.force[1], -9.81 * 4.0, 0.01 * 9.81 * 4.0);
}

TEST(Newton, secondOrderStaysOfSecondOrder)
{
    double error[2];
    for (int k = 0; k < 2; ++k) {
        double tip[2];
        for (int fine = 0; fine < 2; ++fine) {
            const pli_test::Body body = make(10, PLI_SOLVE_LDL, PLI_STVK);
            PliBodyDef def = *pli_body_def(body.get());
            def.order = 2;
            ASSERT_EQ(pli_body_retune(body.get(), &def, nullptr), PLI_OK);
            const auto fixed = clamped(body.get());
            ASSERT_EQ(pli_body_set_fixed(body.get(), fixed.data(), (PliIndex)fixed.size(), nullptr), PLI_OK);
            pli_test::State s(body.get());
            const int steps = fine ? 640 : 20 << k;
            for (int i = 0; i < steps; ++i) ASSERT_TRUE(pli_body_step(body.get(), &s.view, 0.2 / steps).finite);
            tip[fine] = s.x[3 * 44 + 1];
        }
        error[k] = std::fabs(tip[0] - tip[1]);
    }
    EXPECT_GT(error[0] / error[1], 3.0);
}

TEST(Newton, cannotBeSwitchedOnWhileRunning)
{
    const pli_test::Body body = make(1, PLI_SOLVE_LDL, PLI_STVK);
    PliBodyDef def = *pli_body_def(body.get());
    PliError err{};
    def.newton = 3;
    EXPECT_EQ(pli_body_retune(body.get(), &def, &err), PLI_BAD_ARGUMENT);
    def.newton = 0;
    EXPECT_EQ(pli_body_retune(body.get(), &def, &err), PLI_BAD_ARGUMENT);
    EXPECT_STREQ(err.text, "newton is 0; an implicit step has at least 1 linearisation");
}
