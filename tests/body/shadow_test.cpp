/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Shadows live through what their body does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/bodies.h"

extern "C" {
#include "body/body.h"
}

using namespace pli_test;

namespace
{

Body cube(PliIndex cells)
{
    const PliHost host = pli_host_default();
    const Mesh mesh = box(cells, cells, cells);
    PliFemDef d = pli_fem_default();
    d.mesh = mesh.get();
    d.base.mass_damping = 2.0;
    d.base.gravity[1] = 0.0;
    return Body(pli_fem_create(&host, &d, nullptr));
}

/// Steps of a body and of its shadow, as a scheme makes them inside adapt. @return false: the shadow could not follow
bool step(PliBody *b, State &s, int count)
{
    for (int i = 0; i < count; ++i) {
        b->state = &s.view;
        std::copy(s.x.begin(), s.x.end(), b->fixed_x);
        std::copy(s.v.begin(), s.v.end(), b->fixed_v);
        const bool followed = pli_body_step_shadow(b, 0, 0.01);
        b->state = nullptr;
        if (!followed) return false;
        EXPECT_TRUE(pli_body_step(b, &s.view, 0.01).finite);
    }
    return true;
}

} // namespace

/// One of the same mesh is the body itself, whatever happens to both; a coarser one is not.
TEST(Shadow, LivesThroughTheSame)
{
    for (const PliIndex cells : { PliIndex(4), PliIndex(2) }) {
        Body b = cube(4);
        State s(b.get());
        ASSERT_EQ(pli_body_add_shadow(b.get(), cube(cells).release(), 0, 0.0, nullptr), PLI_OK);
        const PliIndex held[] = { 0, 1, 2 };
        PliTool press = {};
        press.shape = PLI_TOOL_PLANE, press.position[1] = 1.01, press.other[1] = -1.0, press.velocity[1] = -0.4;
        ASSERT_EQ(pli_body_set_fixed(b.get(), held, 3, nullptr), PLI_OK);
        ASSERT_EQ(pli_body_set_tools(b.get(), &press, 1, nullptr), PLI_OK);
        for (int i = 0; i < 30; ++i) {
            ASSERT_TRUE(step(b.get(), s, 1));
            press.position[1] += 0.01 * press.velocity[1];
        }
        EXPECT_GT(std::abs(press.force[1]), 0.0) << "the press touches";
        const double apart = pli_body_shadow_distance(b.get(), 0, s.x.data());
        if (cells == 4)
            EXPECT_EQ(apart, 0.0);
        else
            EXPECT_GT(apart, 1e-4);
        pli_body_reset(b.get(), &s.view);
        EXPECT_LT(pli_body_shadow_distance(b.get(), 0, s.x.data()), 1e-15) << "a reset is for both";
    }
}

/// Points of its skin that are close together are left out; those that stay stand for the whole area.
TEST(Shadow, WearsAThinnedSkin)
{
    Body b = cube(8);
    ASSERT_EQ(pli_body_add_shadow(b.get(), cube(2).release(), 0, 0.3, nullptr), PLI_OK);
    const PliShadow &s = b->shadow[0];
    const PliSkin *all = b->skin, *some = s.body->skin;
    ASSERT_EQ(some->point_count, s.thin.count);
    EXPECT_LT(some->point_count, all->point_count / 4);
    double area = 0.0, whole = 0.0;
    for (PliIndex i = 0; i < some->point_count; ++i) area += some->area[i];
    for (PliIndex i = 0; i < all->point_count; ++i) {
        double nearest = 1e9;
        for (PliIndex k = 0; k < some->point_count; ++k) {
            const double *p = all->rest + 3 * i, *q = some->rest + 3 * k;
            nearest = std::min(nearest, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
        }
        EXPECT_LE(nearest, 0.3);
        whole += all->area[i];
    }
    EXPECT_NEAR(area, whole, 1e-12 * whole);
    EXPECT_NEAR(whole, 6.0, 1e-9);
}

/// Plates touch it at fewer points than it is compared at, where its body says so; a small ball, which would go in between, at all.
TEST(Shadow, IsTouchedNearlyAsSparselyAsABodyOfItsLevel)
{
    const PliHost host = pli_host_default();
    const Mesh mesh = box(2, 2, 2);
    PliFemDef d = pli_fem_default();
    d.mesh = mesh.get();
    d.sparse_contact = true;
    Body b = cube(8);
    State s(b.get());
    PliTool press = {};
    press.shape = PLI_TOOL_PLANE, press.position[1] = 0.99, press.other[1] = -1.0;
    ASSERT_EQ(pli_body_add_shadow(b.get(), pli_fem_create(&host, &d, nullptr), 0, 0.2, nullptr), PLI_OK);
    ASSERT_EQ(pli_body_set_tools(b.get(), &press, 1, nullptr), PLI_OK);
    const PliSkin *some = b->shadow[0].body->skin;
    ASSERT_TRUE(step(b.get(), s, 1));
    ASSERT_NE(some->touching, nullptr);
    EXPECT_LT(3 * some->touching->count, 2 * some->point_count);
    double area = 0.0;
    for (PliIndex i = 0; i < some->point_count; ++i) area += some->touching->area[i];
    EXPECT_NEAR(area, 6.0, 1e-9);
    press = {};
    press.shape = PLI_TOOL_SPHERE, press.radius = 0.1, press.position[1] = 2.0;
    ASSERT_TRUE(step(b.get(), s, 1));
    EXPECT_EQ(some->touching, nullptr);
}

/// A force of the host acts on coefficients the shadow does not have: it says so instead of telling nonsense.
TEST(Shadow, SaysWhenItCannotFollow)
{
    Body b = cube(4);
    State s(b.get());
    ASSERT_EQ(pli_body_add_shadow(b.get(), cube(2).release(), 0, 0.0, nullptr), PLI_OK);
    std::vector<double> force(s.x.size(), 0.0);
    s.view.f_ext = force.data();
    EXPECT_TRUE(step(b.get(), s, 1)) << "no force at all";
    force[4] = 1e-3;
    EXPECT_FALSE(step(b.get(), s, 1));
}

/// A cube between two plates that it sticks to, with two coarser ones as shadows of all skin points.
struct Squeezed {
    Body b = cube(8);
    State s;
    PliTool plates[2] = {};
    std::vector<double> p[3]; ///< skin points of the body and of its shadows, finer first

    Squeezed() : s(b.get())
    {
        for (const PliIndex cells : { PliIndex(2), PliIndex(4) })
            EXPECT_EQ(pli_body_add_shadow(b.get(), cube(cells).release(), 0, 0.0, nullptr), PLI_OK);
        for (PliTool &t : plates) t.shape = PLI_TOOL_PLANE, t.friction = 1.0;
        plates[0].other[1] = 1.0, plates[1].other[1] = -1.0, plates[1].position[1] = 1.0;
        EXPECT_EQ(pli_body_set_tools(b.get(), plates, 2, nullptr), PLI_OK);
        for (std::vector<double> &points : p) points.resize(3 * pli_body_skin_count(b.get()));
    }

    void step(int count)
    {
        for (int i = 0; i < count; ++i) {
            plates[1].velocity[1] = plates[1].position[1] > 0.85 ? -0.5 : 0.0;
            b->state = &s.view;
            for (int k = 0; k < 2; ++k) EXPECT_TRUE(pli_body_step_shadow(b.get(), k, 0.01));
            b->state = nullptr;
            EXPECT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
            plates[1].position[1] += 0.01 * plates[1].velocity[1];
        }
    }

    /// Where the three have the skin: their own rows, nothing shown beyond them.
    void look()
    {
        PliBody *bodies[3] = { b.get(), b->shadow[1].body, b->shadow[0].body };
        const double *x[3] = { s.x.data(), b->shadow[1].x, b->shadow[0].x };
        for (int k = 0; k < 3; ++k) pli_rows_apply(pli_body_skin_rows(bodies[k]), x[k], p[k].data());
    }
};

/// Means of squares and products of the ways between three, against a plain sum over the skin.
TEST(Shadow, TellsHowParallelErrorsAre)
{
    Squeezed body;
    body.step(20);
    body.look();
    double fine = 0.0, coarse = 0.0, product = 0.0, area = 0.0;
    for (PliIndex i = 0; i < pli_body_skin_count(body.b.get()); ++i) {
        const double a = body.b->skin->area[i];
        area += a;
        for (int c = 0; c < 3; ++c) {
            const double one = body.p[0][3 * i + c] - body.p[1][3 * i + c];
            const double two = body.p[1][3 * i + c] - body.p[2][3 * i + c];
            fine += a * one * one, coarse += a * two * two, product += a * one * two;
        }
    }
    const PliShadowGaps g = pli_body_shadow_gaps(body.b.get(), 1, 0, body.s.x.data());
    EXPECT_NEAR(g.fine, fine / area, 1e-9 * g.fine);
    EXPECT_NEAR(g.coarse, coarse / area, 1e-9 * g.coarse);
    EXPECT_NEAR(g.product, product / area, 1e-9 * g.coarse);
}

/// Shadows that are behind by a time and move alike: their ways are that time along the velocities.
TEST(Shadow, TellsLags)
{
    Squeezed body;
    const double behind[2] = { 0.03, 0.01 }; // coarser first; s
    const auto velocity = [](const double *rest, double *v) {
        v[0] = 0.0, v[1] = 0.2 * rest[0], v[2] = -0.1 * rest[1];
    };
    for (int k = 0; k < 2; ++k) {
        const PliShadow &one = body.b->shadow[k];
        const double *rest = pli_body_rest(one.body);
        for (PliIndex i = 0; i < pli_body_dof_count(one.body); ++i) {
            velocity(rest + 3 * i, one.v + 3 * i);
            for (int c = 0; c < 3; ++c) one.x[3 * i + c] = rest[3 * i + c] - behind[k] * one.v[3 * i + c];
        }
    }
    const PliShadowGaps g = pli_body_shadow_gaps(body.b.get(), 1, 0, body.s.x.data());
    ASSERT_GT(g.speed, 0.0);
    EXPECT_NEAR(g.lag / g.speed, 0.01, 1e-12);
    EXPECT_NEAR(g.coarse_lag / g.coarse_speed, 0.02, 1e-12);
    EXPECT_NEAR(g.lag * g.lag, g.fine * g.speed, 1e-9 * g.fine * g.speed) << "all of the way is along the motion";
}

/// What is shown is the body and so much of the way from the shadow; it begins and ends without a jump, and tools and state know nothing of it.
TEST(Shadow, ShowsWhatIsBeyondTheBody)
{
    Squeezed body, plain;
    std::vector<double> shown(body.p[0].size()), last;
    const auto jump = [&] {
        last = shown;
        pli_body_skin_positions(body.b.get(), body.s.x.data(), shown.data());
        double most = 0.0;
        for (size_t i = 0; i < shown.size(); ++i) most = std::max(most, std::abs(shown[i] - last[i]));
        return most;
    };
    body.step(40);
    (void)jump();
    body.step(1);
    const double motion = jump(); // of one step
    pli_body_extrapolate(body.b.get(), 1, 0.4);
    body.step(1);
    EXPECT_LT(jump(), 1.5 * motion) << "it begins";
    body.step(200); // what faded has faded
    (void)jump();
    body.look();
    double beyond = 0.0;
    for (size_t i = 0; i < shown.size(); ++i) {
        const double way = 0.4 * (body.p[0][i] - body.p[1][i]);
        EXPECT_NEAR(shown[i], body.p[0][i] + way, 1e-8);
        beyond = std::max(beyond, std::abs(way));
    }
    EXPECT_GT(beyond, 1e-4);
    pli_body_extrapolate(body.b.get(), -1, 0.0);
    body.step(1);
    EXPECT_LT(jump(), 0.2 * beyond) << "it ends: a tenth fades in a step";
    body.step(200);
    (void)jump();
    body.look();
    for (size_t i = 0; i < shown.size(); ++i) EXPECT_NEAR(shown[i], body.p[0][i], 1e-8);
    plain.step(443);
    EXPECT_EQ(pli_body_hash(plain.b.get(), &plain.s.view), pli_body_hash(body.b.get(), &body.s.view));
}
