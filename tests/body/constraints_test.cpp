/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Constraints of a host do not care which scheme, law or solver is running.
#include <pliant/stages.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace
{
const PliHost host = pli_host_default();

std::unique_ptr<PliBody, void (*)(PliBody *)> make(PliIntegrator integrator, PliLinearSolver solver, PliLaw law)
{
    PliBoxDef def{};
    for (int d = 0; d < 3; ++d) def.max[d] = 0.1, def.cells[d] = 3;
    std::unique_ptr<PliMesh, void (*)(PliMesh *)> mesh(pli_mesh_box(&host, &def, nullptr), pli_mesh_destroy);
    PliFemDef fem = pli_fem_default();
    fem.mesh = mesh.get();
    fem.base.material.young = 1e5, fem.base.material.law = law;
    fem.base.integrator = integrator, fem.base.linear_solver = solver;
    return { pli_fem_create(&host, &fem, nullptr), pli_body_destroy };
}
} // namespace

TEST(Constraints, areMetByEverySolver)
{
    for (const PliLinearSolver solver :
         { PLI_SOLVE_CG, PLI_SOLVE_LDL, PLI_SOLVE_AUTO, PLI_SOLVE_INCOMPLETE, PLI_SOLVE_MULTIGRID })
        for (const PliLaw law : { PLI_STVK, PLI_NEOHOOKEAN }) {
            auto body = make(PLI_IMPLICIT, solver, law);
            ASSERT_TRUE(body);
            const PliIndex n = pli_body_dof_count(body.get());
            std::vector<double> x(pli_body_rest(body.get()), pli_body_rest(body.get()) + 3 * n), v(3 * n);
            PliState state{};
            state.x = x.data(), state.v = v.data();
            const PliConstraint held[] = { { { 0.05, 0.05, 0.1 }, {} },
                                           { { 0.02, 0.04, 0.013 }, {} },
                                           { { 0.1, 0.1, 0 }, {} } };
            ASSERT_EQ(pli_body_constrain(body.get(), held, 3, nullptr), PLI_OK);
            double to[9], from[9];
            for (int k = 0; k < 9; ++k) from[k] = to[k] = held[k / 3].point[k % 3];
            to[2] += 0.03, to[3] -= 0.01;
            ASSERT_EQ(pli_body_lead_constraints(body.get(), to, 0.2, nullptr), PLI_OK);
            for (int step = 1; step <= 30; ++step) {
                ASSERT_TRUE(pli_body_step(body.get(), &state, 0.01).finite);
                const double t = std::min(1.0, step * 0.01 / 0.2), s = t * t * (3 - 2 * t);
                for (int j = 0; j < 3; ++j) {
                    PliIndex column[PLI_LOCATE_MAX];
                    double weight[PLI_LOCATE_MAX], p[3] = { 0, 0, 0 };
                    const PliIndex count = pli_body_locate(body.get(), held[j].point, column, weight, PLI_LOCATE_MAX);
                    for (PliIndex k = 0; k < count; ++k)
                        for (int d = 0; d < 3; ++d) p[d] += weight[k] * x[3 * column[k] + d];
                    for (int d = 0; d < 3; ++d)
                        ASSERT_NEAR(p[d], from[3 * j + d] + s * (to[3 * j + d] - from[3 * j + d]), 1e-10)
                            << "solver " << solver << " law " << law << " step " << step << " point " << j;
                }
            }
            pli_body_reset(body.get(), &state);
            ASSERT_TRUE(pli_body_step(body.get(), &state, 0.01).finite);
        }
}

TEST(Constraints, needImplicitSteps)
{
    auto body = make(PLI_SYMPLECTIC, PLI_SOLVE_CG, PLI_STVK);
    const PliConstraint held{ { 0.05, 0.05, 0.1 }, {} };
    PliError err{};
    EXPECT_EQ(pli_body_constrain(body.get(), &held, 1, &err), PLI_UNSUPPORTED);
    EXPECT_NE(std::string(err.text).find("implicit"), std::string::npos);
    const double to[3] = { 0, 0, 0 };
    EXPECT_EQ(pli_body_lead_constraints(body.get(), to, 1.0, &err), PLI_BAD_ARGUMENT);
}

// the same point twice: met once, the second is known to follow; different targets are refused by name
TEST(Constraints, thatFollowFromOthersAreFound)
{
    auto body = make(PLI_IMPLICIT, PLI_SOLVE_LDL, PLI_STVK);
    const PliConstraint held[] = { { { 0.05, 0.05, 0.1 }, {} },
                                   { { 0.05, 0.05, 0.1 }, {} },
                                   { { 0.05, 0.05, 0.1 }, { 1, 1, 1 } } };
    ASSERT_EQ(pli_body_constrain(body.get(), held, 3, nullptr), PLI_OK);
    PliIndex rows;
    EXPECT_EQ(pli_body_constraint_rank(body.get(), &rows), 3u);
    EXPECT_EQ(rows, 7u);
    double target[9] = { 0.05, 0.05, 0.11, 0.05, 0.05, 0.12, 0.05, 0.05, 0.11 };
    PliError err{};
    EXPECT_EQ(pli_body_move_constraints(body.get(), target, &err), PLI_BAD_ARGUMENT);
    EXPECT_NE(std::string(err.text).find("contradicts constraint"), std::string::npos) << err.text;
    target[5] = 0.11;
    EXPECT_EQ(pli_body_move_constraints(body.get(), target, &err), PLI_OK) << err.text;
}
