/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Implicit steps that keep the tangent of an earlier one while it foretells the forces.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "body/body.h"

#include <pliant/body.h>

namespace
{
/// A bar that hangs on one end.
struct Bar {
    PliFemDef def = pli_fem_default();
    PliBody *body = nullptr;
    std::vector<double> x, v;

    Bar(PliLinearSolver solver, double young)
    {
        const PliHost host = pli_host_default();
        PliBoxDef box{};
        const double size[3] = { 0.4, 0.1, 0.1 };
        const PliIndex cells[3] = { 8, 2, 2 };
        for (int d = 0; d < 3; ++d) box.max[d] = size[d], box.cells[d] = cells[d];
        PliMesh *mesh = pli_mesh_box(&host, &box, nullptr);
        def.mesh = mesh;
        def.base.material.young = young;
        def.base.integrator = PLI_IMPLICIT;
        def.base.linear_solver = solver;
        def.base.cg_iterations = 1000, def.base.cg_tolerance = 1e-6;
        def.base.mass_damping = 8.0;
        def.base.gravity[1] = -9.81;
        PliError error{};
        body = pli_fem_create(&host, &def, &error);
        EXPECT_TRUE(body) << error.text;
        const PliIndex n = pli_body_dof_count(body);
        x.assign(pli_body_rest(body), pli_body_rest(body) + 3 * n);
        v.assign(3 * n, 0.0);
        std::vector<PliIndex> held;
        for (PliIndex i = 0; i < n; ++i)
            if (x[3 * i] == 0.0) held.push_back(i);
        EXPECT_EQ(pli_body_set_fixed(body, held.data(), PliIndex(held.size()), nullptr), PLI_OK);
        pli_mesh_destroy(mesh);
        def.mesh = nullptr;
    }
    ~Bar() { pli_body_destroy(body); }
    Bar(const Bar &) = delete;
    void run(int steps)
    {
        PliState s{};
        s.x = x.data(), s.v = v.data();
        for (int k = 0; k < steps; ++k) ASSERT_TRUE(pli_body_step(body, &s, 0.01).finite);
    }
    [[nodiscard]] uint64_t made() const { return body->implicit.made; }
};

double farthest(const std::vector<double> &a, const std::vector<double> &b)
{
    double most = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::fmax(most, std::abs(a[i] - b[i]));
    return most;
}
} // namespace

// A factor is made in every step: what it does is what a tangent of every step does.
TEST(Tangents, FollowWhatOneOfEveryStepDoes)
{
    for (PliLinearSolver solver : { PLI_SOLVE_INCOMPLETE, PLI_SOLVE_MULTIGRID }) {
        Bar kept(solver, 2e4), fresh(PLI_SOLVE_LDL, 2e4);
        const std::vector<double> rest = kept.x;
        double apart = 0.0, sag = 0.0;
        for (int k = 0; k < 60; ++k) {
            kept.run(1), fresh.run(1);
            apart = std::fmax(apart, farthest(kept.x, fresh.x)), sag = std::fmax(sag, farthest(fresh.x, rest));
        }
        EXPECT_GT(sag, 0.02);
        EXPECT_LT(apart, 0.02 * sag);
        EXPECT_EQ(fresh.made(), 60U);
        EXPECT_LT(kept.made(), 45U);
    }
}

TEST(Tangents, AreKeptAtRestWhereTheBodyEndsWhereItBelongs)
{
    for (PliLinearSolver solver : { PLI_SOLVE_INCOMPLETE, PLI_SOLVE_MULTIGRID }) {
        Bar kept(solver, 2e4), fresh(PLI_SOLVE_LDL, 2e4);
        const std::vector<double> rest = kept.x;
        kept.run(400), fresh.run(400);
        const uint64_t made = kept.made();
        kept.run(50);
        EXPECT_EQ(kept.made(), made);
        EXPECT_LT(farthest(kept.x, fresh.x), 1e-4 * farthest(fresh.x, rest));
    }
}

TEST(Tangents, GoWithTheMaterialTheyWereMadeOf)
{
    Bar changed(PLI_SOLVE_INCOMPLETE, 2e4), other(PLI_SOLVE_INCOMPLETE, 4e4);
    const std::vector<double> rest = changed.x;
    changed.run(300), other.run(600);
    changed.def.base.material.young = 4e4;
    PliError error{};
    ASSERT_EQ(pli_body_retune(changed.body, &changed.def.base, &error), PLI_OK) << error.text;
    const uint64_t made = changed.made();
    changed.run(1);
    EXPECT_GT(changed.made(), made);
    changed.run(400);
    EXPECT_LT(farthest(changed.x, other.x), 1e-4 * farthest(other.x, rest));
}
