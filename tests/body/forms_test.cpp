/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A body in two forms: frames, and tetrahedra to fall back on.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/bodies.h"
#include "support/fixture.h"

extern "C" {
#include <pliant/frames.h>
#include <pliant/scheme.h>
}

using namespace pli_test;
using pliant_test::WatchedHost;

namespace
{

constexpr double dt = 0.01;

/// A bar along z, held at its foot, on two levels.
struct Bar {
    Mesh coarse = box(2, 2, 8, 1, 1, 4), fine = box(4, 4, 16, 1, 1, 4);
    WatchedHost watched;
    PliBodyDef base = pli_body_default();

    Bar()
    {
        base.material.young = 2e7;
        base.material.poisson = 0.35;
        base.material.law = PLI_NEOHOOKEAN;
        base.material.damping = 2e-4;
        base.mass_damping = 8;
    }

    PliBody *tetrahedra(double accuracy, int levels = 2)
    {
        const PliMesh *list[] = { coarse.get(), fine.get() };
        PliTetLodDef d = pli_tetlod_default();
        d.base = base;
        d.base.criterion.accuracy = accuracy;
        d.levels = levels == 2 ? list : list + 1;
        d.level_count = levels;
        return pli_tetlod_create(&watched.host, &d, nullptr);
    }

    PliBody *frames()
    {
        static const double anchors[] = { 0.5, 0.5, 0, 0.5, 0.5, 4 };
        PliFramesDef d = pli_frames_default();
        d.base.material = base.material;
        d.base.mass_damping = base.mass_damping;
        for (int k = 0; k < 3; ++k) d.base.gravity[k] = base.gravity[k];
        d.mesh = fine.get();
        d.frame_count = 8;
        d.resolution = 24;
        d.anchors = anchors, d.anchor_count = 2;
        return pli_frames_create(&watched.host, &d, nullptr);
    }

    Body both(double accuracy, int levels = 2)
    {
        PliError err = {};
        Body b(pli_body_of_forms(&watched.host, tetrahedra(accuracy, levels), frames(), accuracy, &err));
        EXPECT_TRUE(b) << err.text;
        return b;
    }
};

/// Coefficients at the foot: of the tetrahedra by place, of the frames whole.
void hold_foot(PliBody *b)
{
    PliIndex shift;
    const PliBody *own = pli_body_own_form(b, &shift, nullptr);
    std::vector<PliIndex> held;
    const double *x = pli_body_rest(b);
    const bool framed = std::string(pli_body_scheme(b)) == "frames";
    for (PliIndex i = 0; i < (framed ? shift : pli_body_dof_count(b)); ++i)
        if (x[3 * i + 2] < 1e-9) held.push_back(i);
    for (PliIndex i = 0; framed && i < pli_body_dof_count(own); ++i)
        if (pli_body_rest(own)[12 * (i / 4) + 11] < 0.01) held.push_back(i + shift);
    ASSERT_FALSE(held.empty());
    ASSERT_EQ(pli_body_set_fixed(b, held.data(), PliIndex(held.size()), nullptr), PLI_OK);
}

std::vector<double> shown(const PliBody *b, const State &s)
{
    std::vector<double> p(3 * size_t(pli_body_skin_count(b)));
    pli_body_skin_positions(b, s.x.data(), p.data());
    return p;
}

double distance(const std::vector<double> &a, const std::vector<double> &b)
{
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i) most = std::fmax(most, std::fabs(a[i] - b[i]));
    return most;
}

PliTool ball(double depth)
{
    PliTool t = {};
    t.shape = PLI_TOOL_SPHERE;
    t.radius = 0.3;
    t.position[0] = 0.5, t.position[1] = 1.3 - depth, t.position[2] = 3;
    return t;
}

} // namespace

/// Where the own form is not used the body is that of the fallback, and that of its mesh.
TEST(Forms, FallbackIsTheUniformBodyUnderAPoke)
{
    Bar bar;
    bar.base.gravity[1] = 0;
    Body body = bar.both(0.5, 1), alone(bar.tetrahedra(0.5, 1));
    PliFemDef d = pli_fem_default();
    d.base = bar.base;
    d.base.multirate = PLI_RATES_OWN; // as with an accuracy
    d.mesh = bar.fine.get();
    Body plain(pli_fem_create(&bar.watched.host, &d, nullptr));
    ASSERT_TRUE(body && alone && plain);
    PliTool tool = ball(0.0);
    std::vector<std::vector<double>> skins;
    std::vector<uint64_t> hashes;
    PliIndex tris, points = pli_body_skin_count(body.get());
    const std::vector<double> rest = shown(body.get(), State(body.get()));
    const PliIndex *triangles = pli_body_skin_tris(body.get(), &tris);
    const std::vector<PliIndex> copy(triangles, triangles + 3 * size_t(tris));
    for (PliBody *b : { body.get(), alone.get(), plain.get() }) {
        hold_foot(b);
        ASSERT_EQ(pli_body_attach_skin(b, rest.data(), points, copy.data(), tris, nullptr), PLI_OK);
        ASSERT_EQ(pli_body_set_tools(b, &tool, 1, nullptr), PLI_OK);
        State s(b);
        tool = ball(0.0);
        for (int i = 0; i < 40; ++i) {
            tool.velocity[1] = -0.3;
            ASSERT_TRUE(pli_body_step(b, &s.view, dt).finite);
            tool.position[1] -= 0.3 * dt;
        }
        skins.push_back(shown(b, s));
        hashes.push_back(pli_body_hash(b, &s.view));
    }
    EXPECT_GT(distance(skins[0], rest), 0.05);
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_LT(distance(skins[0], skins[2]), 1e-12);
    const PliStats stats = pli_body_stats(body.get());
    EXPECT_EQ(stats.form, 1);
    EXPECT_EQ(stats.form_reason, PLI_FORM_WRONG);
    char text[200];
    pli_body_form_text(body.get(), text, sizeof text);
    EXPECT_NE(std::string(text).find("uniform at level 0"), std::string::npos) << text;
}

/// A bar that bends smoothly goes over to its frames; a tool brings the tetrahedra back; nothing that is shown jumps.
TEST(Forms, SmoothBendingGoesToTheOwnFormAndATouchBack)
{
    Bar bar;
    Body body = bar.both(8.0);
    PliBody *b = body.get();
    hold_foot(b);
    PliTool tool = ball(-3.0);
    ASSERT_EQ(pli_body_set_tools(b, &tool, 1, nullptr), PLI_OK);
    State s(b);
    std::vector<uint64_t> hash;
    for (int run = 0; run < 2; ++run) {
        tool = ball(-3.0);
        int own = -1, back = -1;
        double largest = 0;
        const std::vector<double> rest = shown(b, s);
        for (int i = 0; i < 140; ++i) {
            if (i == 120) tool = ball(0.3);
            const std::vector<double> before = shown(b, s);
            const int form = pli_body_stats(b).form;
            (void)pli_body_adapt(b, &s.view, dt);
            const int now = pli_body_stats(b).form;
            if (now != form) {
                (now == 2 ? own : back) = i;
                EXPECT_LT(distance(before, shown(b, s)), 1e-12);
                const PliEnergy e = pli_body_energy(b, s.x.data(), s.v.data());
                EXPECT_NEAR(e.mass, 4000, 40);
            }
            ASSERT_EQ(pli_body_advance(b, &s.view, dt).status, PLI_OK);
            if (i < 120) largest = std::fmax(largest, distance(shown(b, s), rest));
        }
        const PliStats stats = pli_body_stats(b);
        EXPECT_GT(own, 20);
        EXPECT_LT(own, 100);
        EXPECT_GE(back, 120);
        EXPECT_LT(back, 125);
        EXPECT_EQ(stats.form_reason, PLI_FORM_LEFT);
        EXPECT_LT(stats.own_error, 0.12); // 1.4 times what was asked
        EXPECT_LT(stats.largest_hidden, 0.3 * largest);
        EXPECT_LT(stats.largest_jump, 1e-12);
        EXPECT_EQ(stats.steps, 140u);
        hash.push_back(pli_body_hash(b, &s.view));
        pli_body_reset(b, &s.view);
    }
    EXPECT_EQ(hash[0], hash[1]) << "a reset body goes on as a new one";
}

/// Nobody holds it, so its momentum is its own: it stays as it is.
TEST(Forms, AFreeBodyStaysAndKeepsItsMomentum)
{
    Bar bar;
    bar.base.gravity[1] = 0;
    bar.base.mass_damping = 0;
    Body body = bar.both(8.0);
    State s(body.get());
    for (size_t i = 0; i < s.x.size(); i += 3) s.v[i] = 0.3 + 0.5 * std::sin(s.x[i + 2]);
    const PliEnergy first = pli_body_energy(body.get(), s.x.data(), s.v.data());
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(pli_body_step(body.get(), &s.view, dt).finite);
    const PliEnergy last = pli_body_energy(body.get(), s.x.data(), s.v.data());
    EXPECT_EQ(pli_body_stats(body.get()).form_reason, PLI_FORM_FREE);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(last.momentum[k], first.momentum[k], 1e-8 * first.momentum[0]);
}

/// Forces of a host act on coefficients of the fallback: it acts from then on, also in the middle.
TEST(Forms, AHostThatWorksOnCoefficientsGetsTheFallback)
{
    Bar bar;
    Body body = bar.both(8.0);
    PliBody *b = body.get();
    hold_foot(b);
    State s(b);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(pli_body_step(b, &s.view, dt).finite);
    ASSERT_EQ(pli_body_stats(b).form, 2);
    PliIndex shift;
    (void)pli_body_own_form(b, &shift, nullptr);
    for (PliIndex i = 0; i < pli_body_active(b).count; ++i) ASSERT_GE(pli_body_active(b).dof[i], shift);
    const PliRows skin = pli_body_skin_rows(b);
    std::vector<double> by_rows(3 * size_t(skin.out_count));
    pli_rows_apply(skin, s.x.data(), by_rows.data());
    std::vector<double> force(s.x.size(), 0.0);
    s.view.f_ext = force.data();
    ASSERT_TRUE(pli_body_step(b, &s.view, dt).finite);
    ASSERT_EQ(pli_body_stats(b).form, 2) << "no force is none";
    force[0] = 1;
    ASSERT_TRUE(pli_body_step(b, &s.view, dt).finite);
    EXPECT_EQ(pli_body_stats(b).form, 1);
    EXPECT_EQ(pli_body_stats(b).form_reason, PLI_FORM_HOST);
    const PliRows w = pli_body_transfer(b);
    EXPECT_EQ(w.out_count, pli_body_dof_count(b));
    EXPECT_EQ(w.first[shift], w.first[w.out_count]);
    EXPECT_NEAR(shown(b, s)[1], by_rows[1], 0.1);
}

TEST(Forms, RefuseWhatTheyCannot)
{
    Bar bar;
    Body body = bar.both(8.0);
    PliError err = {};
    const PliConstraint held = { { 0.5, 0.5, 4 }, { 0, 0, 0 } };
    EXPECT_EQ(pli_body_constrain(body.get(), &held, 1, &err), PLI_UNSUPPORTED);
    EXPECT_NE(std::string(err.text).find("exclude each other"), std::string::npos) << err.text;
    PliBodyDef d = *pli_body_def(body.get());
    d.criterion.accuracy = 0;
    EXPECT_EQ(pli_body_retune(body.get(), &d, &err), PLI_UNSUPPORTED);
    d.criterion.accuracy = 3;
    d.criterion.budget_ms = 1;
    EXPECT_EQ(pli_body_retune(body.get(), &d, &err), PLI_BAD_ARGUMENT);
    d.criterion.budget_ms = 0;
    EXPECT_EQ(pli_body_retune(body.get(), &d, &err), PLI_OK) << err.text;
    const PliIndex none = pli_body_dof_count(body.get());
    EXPECT_EQ(pli_body_set_fixed(body.get(), &none, 1, &err), PLI_BAD_ARGUMENT);
}
