/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Laws of contact inside implicit steps: with the stiffness it chooses itself it gives no energy, holds the weight and comes to
// rest, whatever the scheme and the linear solver; and the matrix of the step is the derivative of the force it applies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

extern "C" {
#include "scheme/frames/frames.h"
#include "contact/contact.h"
}
#include "support/bodies.h"
#include "support/fold.h"

namespace
{

using pli_test::Body;
using pli_test::Mesh;
using pli_test::State;

constexpr double radius = 0.1;

/// A box whose layers are pulled to spheres.
Mesh ball(PliIndex n)
{
    Mesh m = pli_test::box(n, n, n, 2.0, 2.0, 2.0);
    for (PliIndex i = 0; i < m->point_count; ++i) {
        double *p = m->x + 3 * i, most = 0.0, length = 0.0;
        for (int c = 0; c < 3; ++c) p[c] -= 1.0, most = largest_of(most, std::fabs(p[c])), length += p[c] * p[c];
        for (int c = 0; c < 3 && most > 0.0; ++c) p[c] *= radius * most / std::sqrt(length);
    }
    return m;
}

struct Kind {
    const char *name;
    std::string scheme;
    PliLinearSolver solver;
    bool adapt;
    int order = 1;
};
void PrintTo(const Kind &k, std::ostream *out) { *out << k.name; }

Mesh box(PliIndex n) { return pli_test::box(n, n, n, 2.0 * radius, 2.0 * radius, 2.0 * radius); }

Body make(const Kind &k, Mesh (*shape)(PliIndex), double drag = 0.0)
{
    const PliHost host = pli_host_default();
    PliBodyDef base = pli_body_default();
    base.integrator = PLI_IMPLICIT;
    base.linear_solver = k.solver;
    base.order = k.order;
    base.cg_iterations = 500;
    base.adapt = k.adapt;
    base.rayleigh_stiffness = 0.01;
    base.mass_damping = drag;
    base.material.law = PLI_COROT;
    base.material.young = 2e5;
    const Mesh fine = shape(5), coarse = shape(3); // odd: a ball has a face below, and stands
    if (k.scheme == "frames") {
        PliFramesDef d = pli_frames_default();
        const double speed = d.base.criterion.threshold;
        const PliCriterionKind kind = d.base.criterion.kind;
        d.base = base;
        d.base.criterion.kind = kind, d.base.criterion.threshold = speed;
        d.mesh = fine.get();
        d.frame_count = 12;
        d.resolution = 12;
        return Body(pli_frames_create(&host, &d, nullptr));
    }
    if (k.scheme == "tetlod") {
        PliTetLodDef d = pli_tetlod_default();
        const PliMesh *levels[2] = { coarse.get(), fine.get() };
        d.base = base;
        d.levels = levels;
        d.level_count = 2;
        return Body(pli_tetlod_create(&host, &d, nullptr));
    }
    PliFemDef d = pli_fem_default();
    d.base = base;
    d.mesh = fine.get();
    return Body(pli_fem_create(&host, &d, nullptr));
}

class ImplicitContact : public testing::TestWithParam<Kind>
{
};

TEST_P(ImplicitContact, ADroppedBallGainsNoEnergyAndRestsWithItsWeight)
{
    Body b = make(GetParam(), ball, 3.0); // which ends rolling
    ASSERT_TRUE(b);
    State s(b.get());
    PliTool floor = {};
    floor.shape = PLI_TOOL_PLANE;
    floor.position[1] = -0.3;
    floor.other[1] = 1.0;
    floor.friction = 0.3; // and no stiffness: its own choice
    ASSERT_EQ(pli_body_set_tools(b.get(), &floor, 1, nullptr), PLI_OK);
    const PliEnergy start = pli_body_energy(b.get(), s.x.data(), s.v.data());
    const double fall = start.mass * 9.81 * 0.2;
    std::vector<double> skin(3 * pli_body_skin_count(b.get()));
    double highest = -INFINITY, deepest = 0.0, touched = 0.0;
    for (int i = 0; i < 400; ++i) {
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        const PliEnergy e = pli_body_energy(b.get(), s.x.data(), s.v.data());
        highest = largest_of(highest, e.elastic + e.kinetic + e.gravity - start.gravity);
        pli_body_skin_positions(b.get(), s.x.data(), skin.data());
        for (size_t k = 1; k < skin.size(); k += 3) deepest = largest_of(deepest, -0.3 - skin[k]);
        touched = smallest_of(touched, floor.force[1]);
    }
    const PliEnergy end = pli_body_energy(b.get(), s.x.data(), s.v.data());
    EXPECT_LE(highest, 1e-6 * fall);
    EXPECT_LT(touched, -2.0 * start.mass * 9.81) << "it never hit the floor";
    EXPECT_LT(deepest, 0.1 * radius);
    EXPECT_LT(end.kinetic, 1e-5 * fall);
    EXPECT_NEAR(floor.force[1], -start.mass * 9.81, 0.01 * start.mass * 9.81);
    EXPECT_NEAR(end.centre[1], -0.2, 0.2 * radius);
}

// A cube on a slope stays where it is when the slope is below the angle of friction; above it, it slides as it should.
TEST_P(ImplicitContact, FrictionHoldsBelowItsAngleAndSlidesAboveIt)
{
    const double slope = 0.3, g[3] = { -9.81 * std::sin(slope), -9.81 * std::cos(slope), 0.0 }, dt = 0.01;
    for (const double friction : { 0.6, 0.1 }) {
        Body b = make(GetParam(), box);
        State s(b.get());
        PliTool floor = {};
        floor.shape = PLI_TOOL_PLANE;
        floor.position[1] = 0.0;
        floor.other[1] = 1.0;
        floor.friction = friction;
        ASSERT_EQ(pli_body_set_tools(b.get(), &floor, 1, nullptr), PLI_OK);
        pli_body_set_gravity(b.get(), g);
        for (int i = 0; i < 50; ++i) ASSERT_TRUE(pli_body_step(b.get(), &s.view, dt).finite);
        const PliEnergy before = pli_body_energy(b.get(), s.x.data(), s.v.data());
        for (int i = 0; i < 50; ++i) ASSERT_TRUE(pli_body_step(b.get(), &s.view, dt).finite);
        const PliEnergy after = pli_body_energy(b.get(), s.x.data(), s.v.data());
        EXPECT_NEAR(floor.force[1], before.mass * g[1], 0.05 * before.mass * 9.81);
        const double gained = (after.momentum[0] - before.momentum[0]) / after.mass;
        if (friction > 0.5) {
            EXPECT_NEAR(after.centre[0], before.centre[0], 1e-3 * radius);
            EXPECT_NEAR(floor.force[0], before.mass * g[0], 0.05 * before.mass * 9.81);
        } else {
            EXPECT_NEAR(gained, (g[0] - friction * g[1]) * 0.5, 0.03);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, ImplicitContact,
                         testing::Values(Kind{ "frames_factor", "frames", PLI_SOLVE_AUTO, false },
                                         Kind{ "frames_cg", "frames", PLI_SOLVE_CG, false },
                                         Kind{ "frames_adaptive", "frames", PLI_SOLVE_AUTO, true },
                                         Kind{ "frames_second_order", "frames", PLI_SOLVE_AUTO, false, 2 },
                                         Kind{ "frames_adaptive_second_order", "frames", PLI_SOLVE_AUTO, true, 2 },
                                         Kind{ "fem_second_order", "fem", PLI_SOLVE_LDL, false, 2 },
                                         Kind{ "fem_factor", "fem", PLI_SOLVE_LDL, false },
                                         Kind{ "fem_cg", "fem", PLI_SOLVE_CG, false },
                                         Kind{ "tetlod_factor", "tetlod", PLI_SOLVE_LDL, true },
                                         Kind{ "tetlod_cg", "tetlod", PLI_SOLVE_CG, true }),
                         [](const testing::TestParamInfo<Kind> &test) { return std::string(test.param.name); });

// One point, one tool, of any kind: the force a solve applies is the force of the start less matrix / h times the change of velocity.
TEST(ContactLaw, MatrixIsTheDerivativeOfTheForce)
{
    const PliHost host = pli_host_default();
    PliContact *c = pli_contact_create(&host, 1);
    ASSERT_NE(c, nullptr);
    const double h = 0.01, inv_mass = 1.0, offset[3] = { 0, 0, 0 }, one = 1.0;
    const PliIndex column = 0;
    for (const double stiffness : { 0.0, 1e6 })      // a constraint; a spring
        for (const double depth : { 0.002, -0.003 }) // inside; still outside, and about to touch
            for (const double friction : { 0.0, 0.5 })
                for (const PliToolShape shape : { PLI_TOOL_PLANE, PLI_TOOL_SPHERE }) {
                    PliTool tool = {};
                    tool.shape = shape;
                    tool.other[0] = 0.6, tool.other[1] = 0.8;
                    tool.radius = shape == PLI_TOOL_SPHERE ? 0.05 : 0.0;
                    tool.velocity[1] = 0.1;
                    tool.friction = friction;
                    tool.stiffness = stiffness;
                    const double x[3] = { 0.6 * (tool.radius - depth), 0.8 * (tool.radius - depth), 0.0 },
                                 v[3] = { -0.3, -0.4, 0.05 };
                    c->tool = &tool, c->tool_count = 1, c->implicit = true, c->modulus = 1e4, c->size = 0.1;
                    pli_contact_forget(c);
                    pli_contact_begin(c, &inv_mass, h);
                    ASSERT_TRUE(pli_contact_add(c, 0, 0, &column, &one, 1, offset, 1e-4, x));
                    pli_contact_predict(c, x, v);
                    double matrix[6], f[3] = { 0, 0, 0 };
                    ASSERT_TRUE(pli_contact_tether(c, 0, matrix));
                    pli_contact_add_pressing(c, f);
                    EXPECT_GT(0.6 * f[0] + 0.8 * f[1], 0.0) << "it pulls";
                    const double q[9] = { matrix[0], matrix[5], matrix[4], matrix[5], matrix[1],
                                          matrix[3], matrix[4], matrix[3], matrix[2] };
                    const PliPress start = c->press[0];
                    for (int d = 0; d < 3; ++d) {
                        double change[3] = { 0, 0, 0 };
                        change[d] = 1e-3;
                        (void)pli_contact_settle(c, change, true);
                        const PliPress end = c->press[0];
                        c->press[0] = start;
                        for (int k = 0; k < 3; ++k)
                            EXPECT_NEAR((end.force[k] - f[k]) / 1e-3, -q[3 * k + d] / h, 1e-6 * matrix[0] / h);
                    }
                }
    pli_contact_destroy(c);
}

} // namespace
