/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Elements that tick at their own rates press and drag in different substeps: friction must be Coulomb's for a round of all rates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

extern "C" {
#include "contact/contact.h"
}
#include "base/hash.h"
#include "base/vec.h"
#include "support/bodies.h"

using namespace pli_test;

namespace
{

struct Slide {
    double way;   ///< m, along the plane
    double drag;  ///< N s, given to the plane along it ...
    double press; ///< ... and into it
};

/// A point of 1 kg on a plane with friction 0.5 gets 4 N s into the plane in the first substep of each round of four, and `along` N s in each
/// of the others.
Slide drag_in_rounds(double along)
{
    const PliHost host = pli_host_default();
    PliContact *c = pli_contact_create(&host, 1);
    PliTool tool{};
    tool.shape = PLI_TOOL_PLANE;
    tool.other[1] = 1.0;
    tool.friction = 0.5;
    const double inv_mass = 1.0, offset[3] = {}, weight = 1.0, h = 1e-3;
    const PliIndex column = 0;
    double x[3] = {}, v[3] = {};
    c->tool = &tool;
    c->tool_count = 1;
    c->ticks = 4;
    pli_contact_begin(c, &inv_mass, 40 * h);
    EXPECT_TRUE(pli_contact_add(c, 0, 0, &column, &weight, 1, offset, 1e-4, x));
    for (int k = 0; k < 40; ++k) {
        c->tick = k % 4;
        v[1] -= c->tick == 0 ? 4.0 : 0.0;
        v[0] += c->tick == 0 ? 0.0 : along;
        v3_madd(x, h, v);
        pli_contact_correct(c, (k + 1) * h, h, x, v);
    }
    const Slide all{ x[0], c->impulse[0], -c->impulse[1] };
    pli_contact_destroy(c);
    return all;
}

/// m, how far points of a box with a fine and a coarse end creep on a rough ball that has come down on it and is held.
double creep_under_ball(double place, double friction, bool own_rates)
{
    const PliHost host = pli_host_default();
    Mesh mesh = box(8, 4, 4, 0.2, 0.1, 0.1);
    for (PliIndex i = 0; i < mesh->point_count; ++i) mesh->x[3 * i] *= 5.0 * mesh->x[3 * i];
    PliFemDef def = pli_fem_default();
    def.mesh = mesh.get();
    def.base.integrator = PLI_SYMPLECTIC;
    def.base.multirate = own_rates ? PLI_RATES_OWN : PLI_RATES_ONE;
    def.base.material = { PLI_NEOHOOKEAN, 1e4, 0.3, 1000.0, 2e-4 };
    def.base.mass_damping = 15.0;
    def.base.gravity[1] = 0.0;
    PliError err = {};
    Body body(pli_fem_create(&host, &def, &err));
    EXPECT_TRUE(body) << err.text;
    State s(body.get());
    std::vector<PliIndex> held;
    for (PliIndex i = 0; i < pli_body_dof_count(body.get()); ++i)
        if (s.x[3 * i + 1] < 1e-9) held.push_back(i);
    EXPECT_EQ(PLI_OK, pli_body_set_fixed(body.get(), held.data(), (PliIndex)held.size(), &err)) << err.text;
    PliTool ball{};
    ball.shape = PLI_TOOL_SPHERE;
    ball.radius = 0.03;
    ball.friction = friction;
    ball.position[0] = place, ball.position[1] = 0.131, ball.position[2] = 0.045;
    EXPECT_EQ(PLI_OK, pli_body_set_tools(body.get(), &ball, 1, &err)) << err.text;
    std::vector<double> skin(3 * pli_body_skin_count(body.get())), before(skin.size());
    for (int k = 0; k < 100; ++k) {
        ball.velocity[1] = k < 30 ? -0.08 : 0.0;
        EXPECT_TRUE(pli_body_step(body.get(), &s.view, 0.01).finite);
        v3_madd(ball.position, 0.01, ball.velocity);
        if (k == 59) pli_body_skin_positions(body.get(), s.x.data(), before.data());
    }
    pli_body_skin_positions(body.get(), s.x.data(), skin.data());
    double most = 0.0;
    for (size_t i = 0; i < skin.size(); i += 3)
        if (v3_distance(&skin[i], ball.position) < ball.radius + 1e-6)
            most = std::fmax(most, v3_distance(&skin[i], &before[i]));
    return most;
}

} // namespace

TEST(ContactRates, WhatPressedInARoundHoldsInAllOfIt)
{
    const Slide held = drag_in_rounds(0.6); // 1.8 N s along, where 2 hold
    EXPECT_NEAR(held.way, 0.0, 1e-15);
    EXPECT_NEAR(held.drag, 10 * 1.8, 1e-9);
    EXPECT_NEAR(held.press, 10 * 4.0, 1e-9);
    const Slide slides = drag_in_rounds(1.0); // 3 N s
    EXPECT_GT(slides.way, 0.0);
    EXPECT_NEAR(slides.drag, 0.5 * slides.press, 1e-9);
}

TEST(ContactRates, NothingIsPushedOutOfTheCone)
{
    uint64_t random = 3;
    for (int k = 0; k < 10000; ++k) {
        const double most = pli_random_unit(&random);
        double before[3], wanted[3], sum[3], more[3];
        for (double *p : { before, wanted })
            for (int d = 0; d < 3; ++d) p[d] = 2.0 * pli_random_unit(&random) - 1.0;
        if (k % 3 == 0) std::fill(before, before + 3, 0.0);
        const double size = v3_norm(before);
        if (size > most) v3_scale(before, most / size * (k % 2 ? 1.0 : 0.5)); // on the cone, or inside
        const double share = pli_cone_share(before, wanted, most);
        ASSERT_GE(share, 0.0);
        ASSERT_LE(share, 1.0);
        v3_copy(sum, before);
        v3_madd(sum, share, wanted);
        EXPECT_LE(v3_norm(sum), most * (1.0 + 1e-12));
        v3_copy(more, before);
        v3_madd(more, share + 1e-6, wanted);
        EXPECT_TRUE(share == 1.0 || v3_norm(more) > most);
    }
}

/// With friction cut in every substep points crept by up to 0.5 mm.
TEST(ContactRates, WhatSticksWithOneRateSticksWithSeveral)
{
    for (double friction : { 0.4, 1.0 })
        for (double place : { 0.005, 0.01, 0.02, 0.04, 0.1 })
            for (bool own : { false, true })
                EXPECT_LT(creep_under_ball(place, friction, own), 1e-6) << friction << " " << place << " " << own;
}
