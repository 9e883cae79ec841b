/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The comparison against motions whose errors are known in closed form, and its rules about who may take part.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/timer.h"
#include "support/kinematic.h"
#include "support/fold.h"

using namespace pli_test;

namespace
{

const PliIndex points = 27; // of a 2 x 2 x 2 box

Box gliding(const char *name, double x, double y, double z)
{
    Box b;
    b.name = name;
    b.move = glide(x, y, z, points);
    return b;
}

TEST(Compare, TranslationsHaveTheErrorsTheyShould)
{
    Box reference = gliding("reference", 1.0, 0.0, 0.0), other = gliding("other", 1.0, 0.1, 0.0);
    Comparison c = compare({ &reference, &other }, 100);
    ASSERT_TRUE(c);
    const PliOutcome &o = c->outcome[1];
    EXPECT_NEAR(c->largest_displacement, 1.0, 1e-12); // 1 m/s for 1 s
    ASSERT_EQ(o.samples, 101u);
    double square = 0.0;
    for (PliIndex s = 0; s < o.samples; ++s) {
        const double expected = 0.1 * s * 0.01;
        EXPECT_NEAR(o.time[s], 0.01 * s, 1e-12);
        EXPECT_NEAR(o.rms[s], expected, 1e-12);
        EXPECT_NEAR(o.max[s], expected, 1e-12);
        EXPECT_NEAR(o.hausdorff[s], expected, 1e-12); // a box moved across its face
        square += expected * expected;
    }
    EXPECT_NEAR(o.error_rms, std::sqrt(square / 101), 1e-12);
    EXPECT_NEAR(o.error_max, 0.1, 1e-12);
    EXPECT_NEAR(o.error_hausdorff, 0.1, 1e-12);
    EXPECT_TRUE(std::isnan(o.error_near_tool) && std::isnan(o.force_error)); // no tool
    EXPECT_EQ(o.dofs_mean, points);
    EXPECT_EQ(o.dofs_total, points);
    EXPECT_TRUE(o.repeatable);
    EXPECT_EQ(c->outcome[0].error_rms, 0.0);
    ASSERT_EQ(o.shot_count, 4);
    EXPECT_NEAR(o.shot[0].time, 0.25, 1e-12);
    EXPECT_NEAR(o.shot[3].time, 1.0, 1e-12);
    EXPECT_NEAR(o.shot[3].points[1] - c->outcome[0].shot[3].points[1], 0.1, 1e-12);
}

TEST(Compare, LongRunsAreSampledNotEveryStep)
{
    Box reference = gliding("reference", 1.0, 0.0, 0.0), other = gliding("other", 1.1, 0.0, 0.0);
    Comparison c = compare({ &reference, &other }, 1000);
    ASSERT_TRUE(c);
    EXPECT_EQ(c->every, 5u);
    EXPECT_EQ(c->outcome[1].samples, 201u);
    EXPECT_EQ(c->outcome[1].steps, 1000u);
    EXPECT_NEAR(c->outcome[1].error_max, 0.1, 1e-12);
}

TEST(Compare, AFinerSteppedBodyIsCloserThanACoarserOne)
{
    Box reference, middle, coarse;
    const PliIndex cells[3] = { 6, 3, 2 };
    Box *all[3] = { &reference, &middle, &coarse };
    Mesh skin = box(2, 2, 2);
    ASSERT_EQ(pli_mesh_find_surface(skin.get()), PLI_OK);
    for (int k = 0; k < 3; ++k) {
        all[k]->cells[0] = all[k]->cells[1] = all[k]->cells[2] = cells[k];
        all[k]->fixed = true;
        all[k]->damping = 0.005;
        all[k]->name = "box " + std::to_string(cells[k]);
        all[k]->skin = { std::vector<double>(skin->x, skin->x + 3 * skin->point_count),
                         std::vector<double>(skin->tris, skin->tris + 3 * skin->tri_count) };
    }
    Comparison c = compare({ &reference, &middle, &coarse }, 40, nullptr, 2);
    ASSERT_TRUE(c);
    for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(c->outcome[k].verdict, PLI_FINISHED) << c->outcome[k].reason;
        EXPECT_TRUE(c->outcome[k].repeatable);
        EXPECT_EQ(c->outcome[k].timed_runs, 2);
        EXPECT_TRUE(std::isnan(c->outcome[k].momentum_drift)); // held
        EXPECT_LT(c->outcome[k].energy_drift, 1e-3);           // damped: nothing may come out of nowhere
        EXPECT_GT(c->outcome[k].bytes, 0u);
    }
    EXPECT_GT(c->outcome[1].error_rms, 0.0);
    EXPECT_GT(c->outcome[2].error_rms, 1.3 * c->outcome[1].error_rms);
    EXPECT_LT(c->outcome[2].error_rms, 0.5);
    EXPECT_NE(c->outcome[0].hash, c->outcome[1].hash);
    EXPECT_LE(c->outcome[1].error_hausdorff, c->outcome[1].error_max);
    EXPECT_LE(c->outcome[1].error_rms, c->outcome[1].error_max);
    // the same again, bit for bit
    Comparison again = compare({ &reference, &middle, &coarse }, 40);
    ASSERT_TRUE(again);
    for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(again->outcome[k].hash, c->outcome[k].hash);
        EXPECT_EQ(again->outcome[k].error_rms, c->outcome[k].error_rms);
        EXPECT_EQ(again->outcome[k].error_hausdorff, c->outcome[k].error_hausdorff);
        EXPECT_EQ(again->outcome[k].energy_drift, c->outcome[k].energy_drift);
    }
    // a brief answer has the same errors from one run of each
    PliEntrant entrants[] = { reference.entrant(), middle.entrant(), coarse.entrant() };
    PliCompareDef def = pli_compare_default();
    def.entrants = entrants, def.count = 3, def.steps = 40, def.brief = true;
    Comparison brief(pli_compare(&def, nullptr));
    ASSERT_TRUE(brief);
    for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(brief->outcome[k].hash, c->outcome[k].hash);
        EXPECT_EQ(brief->outcome[k].error_rms, c->outcome[k].error_rms);
        EXPECT_TRUE(brief->outcome[k].timed_with_evidence);
        EXPECT_EQ(brief->outcome[k].timed_runs, 1);
        EXPECT_GT(brief->outcome[k].step_ms.median, 0.0);
        EXPECT_EQ(brief->outcome[k].shot_count, 0);
    }
}

TEST(Compare, AFreeSpinningBodyKeepsMomentumAndEnergy)
{
    Box free;
    free.spin = 2.0;
    free.gravity[0] = 1.0; // falls sideways and down, which gravity accounts for
    Comparison c = compare({ &free }, 200);
    ASSERT_TRUE(c);
    EXPECT_LT(c->outcome[0].momentum_drift, 1e-10);
    EXPECT_LT(c->outcome[0].energy_drift, 1e-2);
    EXPECT_EQ(c->outcome[0].energy_drift,
              std::max(c->outcome[0].energy_drift, c->outcome[0].energy_loss)); // undamped: a loss is a drift
}

TEST(Compare, EnergyAndMomentumOutOfNowhereAreSeen)
{
    Box cheat;
    const auto push = [](PliRun *run) {
        for (PliIndex i = 0; i < pli_body_dof_count(run->body); ++i) run->v[3 * i] += 0.05;
    };
    cheat.gravity[1] = 0.0;
    PliEntrant e = cheat.entrant();
    static decltype(e.step) honest;
    honest = e.step;
    static auto kick = push;
    e.step = [](PliRun *run, PliError *err) {
        kick(run);
        return honest(run, err);
    };
    PliCompareDef def = pli_compare_default();
    def.entrants = &e;
    def.count = 1;
    def.steps = 20;
    def.repeat = 1;
    Comparison c(pli_compare(&def, nullptr));
    ASSERT_TRUE(c);
    EXPECT_NEAR(c->outcome[0].momentum_drift, 1.0, 1e-9); // all of it
    EXPECT_NEAR(c->outcome[0].energy_drift, 1.0, 1e-9);
    EXPECT_NEAR(c->outcome[0].balance[c->outcome[0].samples - 1], 0.5 * 1000.0, 1e-6); // 1 m/s on 1000 kg
}

TEST(Compare, AFallingBoxBouncesWithThePlaneAccountedFor)
{
    Box box;
    PliTool floor = {};
    floor.shape = PLI_TOOL_PLANE;
    floor.position[1] = -0.05;
    floor.other[1] = 1.0;
    box.tools = { floor };
    Comparison c = compare({ &box }, 40);
    ASSERT_TRUE(c);
    const PliOutcome &o = c->outcome[0];
    double most = 0.0;
    for (PliIndex k = 0; k < o.steps; ++k) most = largest_of(most, -o.force[3 * k + 1]);
    EXPECT_GT(most, 1000.0); // it did land: the floor is pushed down
    EXPECT_LT(o.momentum_drift, 1e-9);
    EXPECT_LT(o.energy_drift, 0.02);
}

TEST(Compare, ToolForcesAndTheErrorNearTheToolAreMeasured)
{
    PliTool ball = {};
    ball.shape = PLI_TOOL_SPHERE;
    ball.position[0] = ball.position[1] = ball.position[2] = 0.0; // at a corner
    ball.radius = 0.3;                                            // near: within 0.6 of it, so the corner and 6 others
    Box reference = gliding("reference", 0.0, 0.0, 0.0), other = gliding("other", 0.0, 0.0, 0.0);
    reference.tools = other.tools = { ball };
    reference.move = [](const double *rest, double time, double *x) {
        for (PliIndex i = 0; i < 3 * points; ++i)
            x[i] = rest[i] + (i == 3 * points - 1 ? time : 0.0); // far corner only: 1 m/s
    };
    other.move = [](const double *rest, double time, double *x) {
        for (PliIndex i = 0; i < 3 * points; ++i)
            x[i] = rest[i] + (i == 3 * points - 1 ? 2.0 * time : 0.0) + (i == 0 ? 0.5 * time : 0.0);
    };
    reference.drive = [](int step, PliTool *tools) { tools[0].force[1] = step; };
    other.drive = [](int step, PliTool *tools) { tools[0].force[1] = step, tools[0].force[0] = 2.0; };
    Comparison c = compare({ &reference, &other }, 51);
    ASSERT_TRUE(c);
    const PliOutcome &o = c->outcome[1];
    EXPECT_EQ(c->force_scale, 50.0);
    EXPECT_NEAR(o.force_error, 2.0 / 50.0, 1e-12);
    const PliIndex last = o.samples - 1;
    EXPECT_NEAR(o.max[last], 1.0, 1e-12); // the far corner
    EXPECT_GT(o.near_tool[last], 0.0);
    EXPECT_LT(o.near_tool[last], 0.5); // only the near corner counts, and it is one of several
}

TEST(Compare, ABodyThatDivergesSaysWhenAndTheOthersComplete)
{
    Box reference = gliding("reference", 1, 0, 0), wild = gliding("wild", 1, 0, 0), calm = gliding("calm", 1, 0, 0),
        lost = gliding("lost", 1, 0, 0);
    wild.fail_at = 7;
    lost.move = [](const double *rest, double time, double *x) {
        for (PliIndex i = 0; i < 3 * points; ++i) x[i] = time > 0.105 ? NAN : rest[i];
    };
    Comparison c = compare({ &reference, &wild, &calm, &lost }, 20);
    ASSERT_TRUE(c);
    EXPECT_EQ(c->outcome[1].verdict, PLI_WENT_AWAY);
    EXPECT_NEAR(c->outcome[1].stopped_at, 0.08, 1e-12);
    EXPECT_EQ(c->outcome[1].steps, 7u);
    EXPECT_STREQ(c->outcome[1].reason, "element 3 turned inside out");
    EXPECT_TRUE(std::isnan(c->outcome[1].error_rms));
    EXPECT_FALSE(c->outcome[1].on_front);
    EXPECT_EQ(wild.opened, 1); // not timed
    EXPECT_EQ(c->outcome[2].verdict, PLI_FINISHED);
    EXPECT_EQ(c->outcome[2].error_rms, 0.0);
    EXPECT_EQ(c->outcome[3].verdict, PLI_WENT_AWAY);
    EXPECT_NEAR(c->outcome[3].stopped_at, 0.11, 1e-12);
    EXPECT_EQ(c->outcome[1].shot[0].points != nullptr, true); // t = 0.05
    EXPECT_EQ(c->outcome[1].shot[1].points, nullptr);         // t = 0.10
}

TEST(Compare, WhoCannotTakePartSaysWhy)
{
    Box reference = gliding("reference", 1, 0, 0), never = gliding("never", 1, 0, 0), other = gliding("other", 1, 0, 0),
        moved = gliding("moved", 1, 0, 0), armed = gliding("armed", 1, 0, 0);
    never.unable = "springs need a closed surface";
    other.cells[0] = 3;
    other.move = nullptr;
    moved.shift = 0.01;
    armed.tools.resize(1);
    armed.tools[0].shape = PLI_TOOL_SPHERE;
    Comparison c = compare({ &reference, &never, &other, &moved, &armed }, 5);
    ASSERT_TRUE(c);
    EXPECT_EQ(c->outcome[0].verdict, PLI_FINISHED);
    for (int k = 1; k < 5; ++k) EXPECT_EQ(c->outcome[k].verdict, PLI_UNABLE) << k;
    EXPECT_STREQ(c->outcome[1].reason, "springs need a closed surface");
    EXPECT_NE(std::string(c->outcome[2].reason).find("points and"), std::string::npos) << c->outcome[2].reason;
    EXPECT_NE(std::string(c->outcome[3].reason).find("0.01 m apart"), std::string::npos) << c->outcome[3].reason;
    EXPECT_NE(std::string(c->outcome[4].reason).find("meets 1 tools"), std::string::npos) << c->outcome[4].reason;
}

TEST(Compare, WithoutAReferenceThereIsNoComparison)
{
    PliError err = {};
    PliCompareDef def = pli_compare_default();
    EXPECT_EQ(pli_compare(&def, &err), nullptr);
    EXPECT_STREQ(err.text, "a comparison needs a reference body");
    Box bad = gliding("bad", 1, 0, 0);
    bad.unable = "the mesh is flat";
    EXPECT_FALSE(compare({ &bad }, 5, &err));
    EXPECT_STREQ(err.text, "the reference bad cannot run: the mesh is flat");
    Box wild = gliding("wild", 1, 0, 0);
    wild.fail_at = 2;
    EXPECT_FALSE(compare({ &wild }, 5, &err));
    EXPECT_EQ(err.status, PLI_DIVERGED);
    EXPECT_STREQ(err.text, "the reference wild diverged: element 3 turned inside out");
    Box fine = gliding("fine", 1, 0, 0);
    EXPECT_FALSE(compare({ &fine }, 0, &err));
    EXPECT_NE(std::string(err.text).find("at least 1 step"), std::string::npos);
}

void burn(double ms)
{
    const double end = pli_cpu_ms() + ms;
    while (pli_cpu_ms() < end) {}
}

TEST(Compare, TimesAreThoseOfTheStepsAlone)
{
    Box reference = gliding("reference", 1, 0, 0), quick = gliding("quick", 1, 0, 0);
    reference.each = [](int step) { burn(step == 3 ? 12.0 : 2.0); };
    quick.each = [](int) { burn(0.5); };
    Comparison c = compare({ &reference, &quick }, 30, nullptr, 3);
    ASSERT_TRUE(c);
    const PliOutcome &slow = c->outcome[0], &fast = c->outcome[1];
    EXPECT_GE(slow.step_ms.median, 2.0);
    EXPECT_LT(slow.step_ms.median, 6.0);
    EXPECT_GE(slow.step_ms.max, 12.0);
    EXPECT_GE(slow.ms[3], 12.0); // each step keeps its own time
    EXPECT_GE(fast.step_ms.median, 0.5);
    EXPECT_GT(fast.speedup, 1.5);
    EXPECT_LT(fast.speedup, 12.0);
    EXPECT_EQ(slow.timed_runs, 3);
    EXPECT_EQ(reference.opened, 4); // once to measure, three times to time
    EXPECT_LE(slow.run_low, 1.0);
    EXPECT_GE(slow.run_high, 1.0);
    EXPECT_TRUE(fast.on_front);
}

TEST(Compare, SlowBodiesAreNotRepeatedUnlessAskedTo)
{
    Box reference = gliding("reference", 1, 0, 0);
    reference.each = [](int) { burn(1.0); };
    PliEntrant e = reference.entrant();
    PliCompareDef def = pli_compare_default();
    def.entrants = &e;
    def.count = 1;
    def.steps = 20;
    def.patience = 0.001;
    Comparison c(pli_compare(&def, nullptr));
    ASSERT_TRUE(c);
    EXPECT_TRUE(c->outcome[0].timed_with_evidence);
    EXPECT_EQ(c->outcome[0].timed_runs, 1);
    EXPECT_GE(c->outcome[0].total_ms, 20.0);
    def.repeat = 2;
    c.reset(pli_compare(&def, nullptr));
    ASSERT_TRUE(c);
    EXPECT_FALSE(c->outcome[0].timed_with_evidence);
    EXPECT_EQ(c->outcome[0].timed_runs, 2);
}

TEST(Compare, ABodyThatDiffersFromRunToRunIsCaught)
{
    Box fickle = gliding("fickle", 1, 0, 0);
    int run = 0;
    fickle.each = [&](int step) { run += step == 0; };
    fickle.move = [&](const double *rest, double time, double *x) {
        for (PliIndex i = 0; i < 3 * points; ++i) x[i] = rest[i] + time * (1.0 + 1e-15 * run);
    };
    Comparison c = compare({ &fickle }, 10, nullptr, 2);
    ASSERT_TRUE(c);
    EXPECT_FALSE(c->outcome[0].repeatable);
}

TEST(Compare, ProgressNeverGoesBackAndReachesTheEnd)
{
    Box reference = gliding("reference", 1, 0, 0), other = gliding("other", 1, 0, 0);
    PliEntrant e[2] = { reference.entrant(), other.entrant() };
    PliCompareDef def = pli_compare_default();
    std::vector<double> parts;
    def.entrants = e;
    def.count = 2;
    def.steps = 100;
    def.repeat = 2;
    def.progress_user = &parts;
    def.progress = [](double part, const char *text, void *user) {
        EXPECT_NE(*text, 0);
        static_cast<std::vector<double> *>(user)->push_back(part);
    };
    Comparison c(pli_compare(&def, nullptr));
    ASSERT_TRUE(c);
    ASSERT_GT(parts.size(), 10u);
    for (size_t k = 1; k < parts.size(); ++k) EXPECT_GE(parts[k], parts[k - 1]);
    EXPECT_LE(parts.back(), 1.0);
    EXPECT_GT(parts.back(), 0.8);
}

} // namespace
