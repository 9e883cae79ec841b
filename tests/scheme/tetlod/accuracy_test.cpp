/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A body that is given an accuracy: what it keeps when it changes from one uniform level to another or to a mixture.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "scheme/tetlod/cubes.h"
#include "support/bodies.h"
#include "support/fixture.h"

extern "C" {
#include "body/body.h"
#include "scheme/tetlod/tetlod.h"
}

using namespace pli_test;

namespace
{

PliTetLodDef with_accuracy(const Levels &l, double percent)
{
    PliTetLodDef d = tetlod_def(l);
    d.base.criterion.accuracy = percent;
    return d;
}

} // namespace

/// From one uniform level to another, to a mixture and back: momenta stay, the ledger is honest, and statistics say what it is.
TEST(TetLodAccuracy, KeepsMomentum)
{
    Levels l({ 2, 4, 10 }); // it starts with a thousand nodes or less: the middle one
    PliTetLodDef d = with_accuracy(l, 20.0);
    PliHost host = pli_host_default();
    Body b(pli_tetlod_create(&host, &d, nullptr));
    ASSERT_TRUE(b);
    State s(b.get());
    spin(s);
    const PliEnergy first = pli_body_energy(b.get(), s.x.data(), s.v.data());
    double momentum = 0, angular = 0;
    for (int k = 0; k < 3; ++k)
        momentum += first.momentum[k] * first.momentum[k], angular += first.angular[k] * first.angular[k];
    for (int i = 0; i < 150; ++i) {
        if (i % 50 == 0) { // asks for more and more
            d.base.criterion.accuracy = i == 0 ? 20.0 : i == 50 ? 3.0 : 0.01;
            ASSERT_EQ(pli_body_retune(b.get(), &d.base, nullptr), PLI_OK);
        }
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        const PliEnergy e = pli_body_energy(b.get(), s.x.data(), s.v.data());
        EXPECT_NEAR(e.mass, first.mass, 1e-12 * first.mass);
        for (int k = 0; k < 3; ++k) {
            EXPECT_NEAR(e.momentum[k], first.momentum[k], 1e-10 * std::sqrt(momentum));
            EXPECT_NEAR(e.angular[k], first.angular[k], 1e-10 * std::sqrt(angular));
        }
    }
    const PliStats stats = pli_body_stats(b.get());
    EXPECT_EQ(stats.uniform_level, 3) << "a hundredth of a percent asks for the finest level";
    EXPECT_EQ(stats.active, l.list[2]->point_count);
    EXPECT_LT(stats.error_estimate, 1e-9);
    EXPECT_GT(stats.refined, 0u);
    PliError err = {};
    EXPECT_TRUE(pli_activeset_is_valid(static_cast<PliTetLod *>(pli_body_self(b.get()))->set, &err)) << err.text;
}

/// A cube between two plates, which touch whole faces: the estimate is that of the displacement, not of the stress at the edges. The
/// oracle is the finest level by itself.
TEST(TetLodAccuracy, FacesThatTouchAreMeasured)
{
    Levels l({ 2, 4, 10, 13 });
    PliTetLodDef d = with_accuracy(l, 5.0);
    d.base.mass_damping = 5.0;
    d.base.spread = true;
    PliFemDef f = pli_fem_default();
    f.mesh = l.list[3];
    f.base = d.base;
    f.base.criterion = pli_criterion_default();
    PliHost host = pli_host_default();
    Body bodies[] = { Body(pli_tetlod_create(&host, &d, nullptr)), Body(pli_fem_create(&host, &f, nullptr)) };
    State states[] = { State(bodies[0].get()), State(bodies[1].get()) };
    PliTool plates[2][2] = {};
    for (int b = 0; b < 2; ++b) {
        for (PliTool &t : plates[b]) t.shape = PLI_TOOL_PLANE, t.friction = 0.5;
        plates[b][0].other[1] = 1.0, plates[b][1].other[1] = -1.0;
        plates[b][1].position[1] = 1.0, plates[b][1].velocity[1] = -0.25;
        ASSERT_EQ(pli_body_set_tools(bodies[b].get(), plates[b], 2, nullptr), PLI_OK);
    }
    double worst = 0.0, largest = 0.0;
    const PliIndex first = pli_body_dof_count(bodies[0].get()) - l.list[3]->point_count;
    for (int i = 0; i < 70; ++i) {
        for (int b = 0; b < 2; ++b) {
            ASSERT_TRUE(pli_body_step(bodies[b].get(), &states[b].view, 0.01).finite);
            plates[b][1].position[1] += 0.01 * plates[b][1].velocity[1];
            if (i > 40) plates[b][1].velocity[1] = 0.0;
        }
        double sum = 0.0;
        for (size_t k = 0; k < states[1].x.size(); ++k) {
            const double off = states[0].x[3 * first + k] - states[1].x[k];
            sum += off * off;
            largest = std::max(largest, std::abs(states[1].x[k] - pli_body_rest(bodies[1].get())[k]));
        }
        worst = std::max(worst, std::sqrt(sum / l.list[3]->point_count));
    }
    const PliStats stats = pli_body_stats(bodies[0].get());
    EXPECT_LT(stats.uniform_level, 4) << "the finest level was not needed";
    EXPECT_LT(worst, 0.1 * largest) << "twice what was asked for, at any time";
    EXPECT_LT(stats.error_estimate, 3.0 * worst / largest);
    EXPECT_GT(stats.error_estimate, worst / largest / 4.0);
}

TEST(TetLodAccuracy, ContradictsABudget)
{
    Levels l({ 2, 4 });
    PliTetLodDef d = with_accuracy(l, 2.0);
    d.base.criterion.budget_ms = 1.0;
    PliHost host = pli_host_default();
    PliError err = {};
    EXPECT_EQ(pli_tetlod_create(&host, &d, &err), nullptr);
    EXPECT_NE(std::string(err.text).find("contradict"), std::string::npos) << err.text;
}

namespace
{

/// Skin points of a clamped cube that sinks under its weight, for so many steps: RMS over both, against `oracle` (empty: filled).
double sink(PliBody *b, std::vector<double> &oracle, int steps)
{
    State s(b);
    const double *rest = pli_body_rest(b);
    std::vector<PliIndex> held;
    for (PliIndex i = 0; i < pli_body_dof_count(b); ++i)
        if (rest[3 * i] < 1e-9) held.push_back(i);
    EXPECT_EQ(pli_body_set_fixed(b, held.data(), static_cast<PliIndex>(held.size()), nullptr), PLI_OK);
    std::vector<double> points(3 * pli_body_skin_count(b)), all;
    for (int i = 0; i < steps; ++i) {
        EXPECT_TRUE(pli_body_step(b, &s.view, 0.01).finite);
        pli_body_skin_positions(b, s.x.data(), points.data());
        all.insert(all.end(), points.begin(), points.end());
    }
    if (oracle.empty()) oracle = all;
    double sum = 0.0;
    for (size_t i = 0; i < all.size(); ++i) sum += (all[i] - oracle[i]) * (all[i] - oracle[i]);
    return std::sqrt(sum / static_cast<double>(all.size()));
}

} // namespace

/// What is shown is much closer to the finest level than the level it runs on: shadows tell where the error goes.
TEST(TetLodAccuracy, ShowsMoreThanItsLevel)
{
    Levels l({ 2, 4, 8, 12 }); // it starts with the third
    PliTetLodDef d = with_accuracy(l, 2.0);
    d.base.gravity[1] = -9.81;
    d.base.material.young = 2e5;
    d.base.mass_damping = 4.0;
    PliFemDef f = pli_fem_default();
    f.base = d.base;
    f.base.criterion = pli_criterion_default();
    PliHost host = pli_host_default();
    std::vector<double> oracle, points;
    std::vector<PliIndex> tris;
    double error[2];
    const auto attach = [&](PliBody *b) {
        ASSERT_EQ(pli_body_attach_skin(b, points.data(), static_cast<PliIndex>(points.size() / 3), tris.data(),
                                       static_cast<PliIndex>(tris.size() / 3), nullptr),
                  PLI_OK);
    };
    for (const int level : { 3, 2 }) {
        f.mesh = l.list[level];
        Body b(pli_fem_create(&host, &f, nullptr));
        if (level == 3) { // its own surface is that of all
            PliIndex count;
            const PliIndex *own = pli_body_skin_tris(b.get(), &count);
            tris.assign(own, own + 3 * count);
            points.resize(3 * pli_body_skin_count(b.get()));
            pli_body_skin_positions(b.get(), pli_body_rest(b.get()), points.data());
        }
        attach(b.get());
        error[0] = sink(b.get(), oracle, 45);
    }
    Body b = make_tetlod(d);
    attach(b.get());
    error[1] = sink(b.get(), oracle, 45);
    EXPECT_EQ(pli_body_stats(b.get()).active, l.list[2]->point_count) << "it has stayed at that level";
    EXPECT_LT(error[1], 0.5 * error[0]);
}

/// A clamped cube that swings undamped: while it moves, changes of level keep its energy, both ways.
TEST(TetLodAccuracy, AnUndampedOneKeepsItsEnergy)
{
    Levels l({ 2, 4, 8 });
    PliTetLodDef d = with_accuracy(l, 2.0);
    d.base.gravity[0] = -9.81;
    d.base.material.young = 2e5;
    d.base.integrator = PLI_INTEGRATE_AUTO;
    Body b = make_tetlod(d);
    State s(b.get());
    const double *rest = pli_body_rest(b.get());
    std::vector<PliIndex> held;
    for (PliIndex i = 0; i < pli_body_dof_count(b.get()); ++i)
        if (rest[3 * i + 1] < 1e-9) held.push_back(i);
    ASSERT_EQ(pli_body_set_fixed(b.get(), held.data(), static_cast<PliIndex>(held.size()), nullptr), PLI_OK);
    PliTetLod *t = static_cast<PliTetLod *>(b->self);
    double most = 0.0, off = 0.0;
    int changes = 0;
    for (int i = 0; i < 100; ++i) {
        if (i == 15 || i == 18 || i == 42) { // whatever the plan says
            const PliEnergy before = pli_body_energy(b.get(), s.x.data(), s.v.data());
            ASSERT_TRUE(pli_tetlod_go_uniform(t, b.get(), s.x.data(), s.v.data(), i == 18 ? 2 : 1));
            const PliEnergy after = pli_body_energy(b.get(), s.x.data(), s.v.data());
            most = std::fmax(most, before.elastic + before.kinetic);
            off = std::fmax(off, std::fabs(after.elastic + after.kinetic + after.gravity - before.elastic -
                                           before.kinetic - before.gravity));
            ++changes;
        }
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
    }
    EXPECT_EQ(changes, 3);
    EXPECT_LT(off, 1e-3 * most);
}

/// Four feet that the coarsest level has no node in: what is held stays where it is when a mixture could do without it elsewhere.
TEST(TetLodAccuracy, WhatIsHeldStays)
{
    Levels l({ 3, 6, 12 });
    PliTetLodDef d = with_accuracy(l, 5.0);
    d.base.material.young = 2e4;
    d.base.mass_damping = 5.0;
    Body b = make_tetlod(d);
    std::vector<PliIndex> held;
    State s(b.get());
    const auto in_foot = [](const double *p) {
        const double u = std::fabs(p[0] - 0.5), v = std::fabs(p[2] - 0.5);
        return p[1] < 0.01 && std::fabs(u - 1.0 / 3.0) < 0.13 && std::fabs(v - 1.0 / 3.0) < 0.13;
    };
    for (PliIndex i = 0; i < pli_body_dof_count(b.get()); ++i)
        if (in_foot(&s.x[3 * i])) held.push_back(i);
    ASSERT_EQ(PLI_OK, pli_body_set_fixed(b.get(), held.data(), static_cast<PliIndex>(held.size()), nullptr));
    PliTool ball{};
    ball.shape = PLI_TOOL_SPHERE, ball.radius = 0.2;
    ball.position[0] = 0.45, ball.position[1] = 1.2, ball.position[2] = 0.45;
    ASSERT_EQ(pli_body_set_tools(b.get(), &ball, 1, nullptr), PLI_OK);
    std::vector<double> rest(3 * pli_body_skin_count(b.get())), skin(rest.size());
    pli_body_skin_positions(b.get(), s.x.data(), rest.data());
    double walked = 0.0, largest = 0.0;
    int mixed = 0;
    for (int k = 0; k < 100; ++k) {
        ball.velocity[1] = k < 50 ? -0.3 : 0.0;
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        for (int a = 0; a < 3; ++a) ball.position[a] += 0.01 * ball.velocity[a];
        pli_body_skin_positions(b.get(), s.x.data(), skin.data());
        mixed += pli_body_stats(b.get()).uniform_level == 0;
        for (size_t i = 0; i < rest.size(); i += 3) {
            const double far = std::hypot(skin[i] - rest[i], skin[i + 1] - rest[i + 1], skin[i + 2] - rest[i + 2]);
            largest = std::max(largest, far);
            if (in_foot(&rest[i])) walked = std::max(walked, far);
        }
    }
    EXPECT_GT(mixed, 50);
    EXPECT_LT(walked, 0.1 * largest) << "twice what was asked for; 0.19 where strains alone decide";
}

/// What a rough accuracy begins with: held, a level with two coarser ones to judge it by; free, one with one, which it goes to before
/// anything has happened. A finer one is not left for it later.
TEST(TetLodAccuracy, AFreeBodyBeginsCoarser)
{
    Levels l({ 2, 4, 8, 12 });
    for (const bool held : { true, false })
        for (const double percent : { 2.0, 10.0 }) {
            PliTetLodDef d = with_accuracy(l, percent);
            d.base.gravity[1] = 0.0;
            Body b = make_tetlod(d);
            State s(b.get());
            std::vector<PliIndex> base; // of every level
            for (PliIndex i = 0; held && i < pli_body_dof_count(b.get()); ++i)
                if (pli_body_rest(b.get())[3 * i + 1] < 1e-9) base.push_back(i);
            ASSERT_EQ(pli_body_set_fixed(b.get(), base.data(), (PliIndex)base.size(), nullptr), PLI_OK);
            for (int i = 0; i < 3; ++i) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
            const int expected = !held && percent > 5.0 ? 1 : 2;
            EXPECT_EQ(pli_body_stats(b.get()).active, l.list[expected]->point_count) << held << " " << percent;
            for (size_t i = 0; i < s.x.size(); ++i) EXPECT_NEAR(s.x[i], pli_body_rest(b.get())[i], 1e-12);
        }
}

/// What is left open is chosen with the body, as `pli_body_def` says; what was asked for stays.
TEST(TetLodAccuracy, UsualStepsSuitTheBody)
{
    Levels l({ 2, 4 });
    PliHost host = pli_host_default();
    const auto made = [&](const PliTetLodDef &d) {
        Body b(pli_tetlod_create(&host, &d, nullptr));
        return b ? pli_body_def(b.get())->integrator : PLI_INTEGRATE_USUAL;
    };
    PliTetLodDef d = tetlod_def(l);
    d.base.integrator = pli_tetlod_default().base.integrator;
    EXPECT_EQ(made(d), PLI_SYMPLECTIC) << "without an accuracy";
    d.filter = true;
    d.base.criterion.accuracy = 2.0;
    EXPECT_EQ(made(d), PLI_SYMPLECTIC) << "the filter is one of explicit steps";
    d.filter = false;
    EXPECT_EQ(made(d), PLI_INTEGRATE_AUTO);
    EXPECT_EQ(pli_body_def_rates(&d.base), PLI_RATES_OWN);
    d.base.integrator = PLI_IMPLICIT;
    EXPECT_EQ(made(d), PLI_IMPLICIT) << "asked for";

    d.base.integrator = PLI_INTEGRATE_USUAL;
    Body b(pli_tetlod_create(&host, &d, nullptr));
    ASSERT_TRUE(b);
    d.base.material.young *= 2.0;
    EXPECT_EQ(pli_body_retune(b.get(), &d.base, nullptr), PLI_OK) << "the definition it was made from";
    EXPECT_EQ(pli_body_def(b.get())->integrator, PLI_INTEGRATE_AUTO);
}

/// Asked for less than 2 % one that nothing holds begins finer, because a change in flight takes some of its motion; but not with the finest.
TEST(TetLodAccuracy, AFreeBodyBeginsFinerWhereLessIsAskedFor)
{
    Levels l({ 2, 4, 7, 12, 18 });
    for (const double percent : { 2.0, 1.0, 0.1 }) {
        PliTetLodDef d = with_accuracy(l, percent);
        d.base.gravity[1] = 0.0;
        Body b = make_tetlod(d);
        State s(b.get());
        for (int i = 0; i < 2; ++i) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        EXPECT_EQ(pli_body_stats(b.get()).active, l.list[percent < 2.0 ? 3 : 2]->point_count) << percent;
    }
}
