/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// integrator="auto": each kind of step is that of the integrator of its name, to the bit, and counts decide between them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <pliant/stages.h>

#include "support/bodies.h"

extern "C" {
#include "body/body.h"
}

using namespace pli_test;

namespace
{

PliFemDef bar_def(const PliMesh *mesh, double young, double damping)
{
    PliFemDef def = pli_fem_default();
    def.mesh = mesh;
    def.base.integrator = PLI_INTEGRATE_AUTO;
    def.base.cg_tolerance = 1e-6;
    def.base.material.law = PLI_NEOHOOKEAN;
    def.base.material.young = young;
    def.base.material.poisson = 0.35;
    def.base.material.density = 1000.0;
    def.base.material.damping = damping;
    def.base.mass_damping = 8.0;
    return def;
}

struct Bar {
    Body body;
    State state;
    explicit Bar(Body b) : body(std::move(b)), state(body.get()) {}
    bool step(int count, double dt = 0.01)
    {
        bool finite = true;
        for (int k = 0; k < count && finite; ++k) finite = pli_body_step(body.get(), &state.view, dt).finite;
        return finite;
    }
    uint64_t hash() { return pli_body_hash(body.get(), &state.view); }
    PliStats stats() { return pli_body_stats(body.get()); }
};

Bar hung(const PliFemDef &def)
{
    PliHost host = pli_host_default();
    PliError err = {};
    Body body(pli_fem_create(&host, &def, &err));
    EXPECT_TRUE(body) << err.text;
    std::vector<PliIndex> held;
    for (PliIndex i = 0; i < pli_body_dof_count(body.get()); ++i)
        if (pli_body_rest(body.get())[3 * i + 2] < 1e-9) held.push_back(i);
    EXPECT_EQ(PLI_OK, pli_body_set_fixed(body.get(), held.data(), (PliIndex)held.size(), &err)) << err.text;
    return Bar(std::move(body));
}

} // namespace

TEST(Choice, StiffBarsStepImplicitlyAsTheImplicitIntegratorDoes)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    PliFemDef def = bar_def(mesh.get(), 5e8, 2e-4);
    Bar chosen = hung(def);
    def.base.integrator = PLI_IMPLICIT;
    def.base.order = 2;
    def.base.linear_solver = PLI_SOLVE_AUTO;
    Bar named = hung(def);
    ASSERT_TRUE(chosen.step(20) && named.step(20));
    EXPECT_EQ(20u, chosen.stats().implicit_steps);
    EXPECT_LT(2.0 * chosen.stats().implicit_work, chosen.stats().explicit_work);
    EXPECT_EQ(named.hash(), chosen.hash());
    char text[200];
    pli_body_choice_text(chosen.body.get(), text, sizeof text);
    EXPECT_NE(std::string::npos, std::string(text).find("20 of 20 steps implicitly")) << text;
    pli_body_choice_text(named.body.get(), text, sizeof text);
    EXPECT_EQ(std::string(), text);
}

TEST(Choice, SoftBarsStepExplicitlyAsTheSymplecticIntegratorDoes)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    PliFemDef def = bar_def(mesh.get(), 2e5, 0.0);
    Bar chosen = hung(def);
    def.base.integrator = PLI_SYMPLECTIC;
    Bar named = hung(def);
    ASSERT_TRUE(chosen.step(20) && named.step(20));
    EXPECT_EQ(0u, chosen.stats().implicit_steps);
    EXPECT_LT(chosen.stats().explicit_work, chosen.stats().implicit_work);
    EXPECT_EQ(named.hash(), chosen.hash());
}

// The longer the step the more substeps it takes, and an implicit one takes no more.
TEST(Choice, FollowsTheStep)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    const PliFemDef def = bar_def(mesh.get(), 2e7, 2e-4);
    Bar bar = hung(def);
    ASSERT_TRUE(bar.step(10, 0.002));
    EXPECT_FALSE(bar.stats().implicit);
    const double of_short_ones = bar.stats().explicit_work;
    ASSERT_TRUE(bar.step(10, 0.02));
    EXPECT_TRUE(bar.stats().implicit);
    EXPECT_NEAR(10.0, bar.stats().explicit_work / of_short_ones, 2.0);
    ASSERT_TRUE(bar.step(10, 0.002));
    EXPECT_FALSE(bar.stats().implicit);
    EXPECT_EQ(2u, bar.stats().changes);
}

// A bar that rings faster than steps can follow: an implicit step would damp what it does not see.
TEST(Choice, KeepsToWhatFollowsTheMotion)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    PliFemDef def = bar_def(mesh.get(), 5e8, 0.0);
    def.base.mass_damping = 0.0;
    Bar bar = hung(def);
    for (size_t i = 0; i < bar.state.v.size() / 3; ++i) // it stretches, fastest at its free end
        bar.state.v[3 * i + 2] = 5.0 * pli_body_rest(bar.body.get())[3 * i + 2];
    ASSERT_TRUE(bar.step(10));
    EXPECT_FALSE(bar.stats().implicit);
    EXPECT_EQ(PLI_CHOICE_MOTION, bar.stats().choice);
    EXPECT_LT(bar.stats().implicit_work, bar.stats().explicit_work);
}

TEST(Choice, ChangesOfIntegratorKeepTheShape)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    const PliFemDef def = bar_def(mesh.get(), 2e7, 2e-4);
    Bar bar = hung(def), fine = hung(def);
    for (int k = 0; k < 20; ++k) ASSERT_TRUE(bar.step(4, 0.002) && bar.step(1, 0.02));
    ASSERT_TRUE(fine.step(280, 0.002));
    EXPECT_GE(bar.stats().changes, 38u);
    double most = 0.0, off = 0.0;
    for (size_t i = 0; i < bar.state.x.size(); ++i) {
        most = std::fmax(most, std::fabs(fine.state.x[i] - pli_body_rest(bar.body.get())[i]));
        off = std::fmax(off, std::fabs(fine.state.x[i] - bar.state.x[i]));
    }
    EXPECT_GT(most, 0.01);
    EXPECT_LT(off, 0.02 * most);
}

/// An implicit step after which more elements are inside out than before is not kept, and for a while none is taken. One that the user
/// asked for is.
TEST(Choice, TakesBackAStepThatTurnsElementsInsideOut)
{
    const Mesh mesh = box(4, 4, 8, 1, 1, 2);
    PliFemDef def = bar_def(mesh.get(), 2e8, 0.0);
    Bar bar = hung(def);
    ASSERT_TRUE(bar.step(3));
    ASSERT_EQ(bar.stats().implicit_steps, 3u);
    PliStepInfo info = {};
    EXPECT_FALSE(pli_choice_take_back(bar.body.get(), &info));
    info.inverted = 1;
    EXPECT_TRUE(pli_choice_take_back(bar.body.get(), &info));
    EXPECT_FALSE(pli_choice_take_back(bar.body.get(), &info)) << "the one in its place is explicit";
    ASSERT_TRUE(bar.step(18));
    EXPECT_EQ(bar.stats().implicit_steps, 3u);
    ASSERT_TRUE(bar.step(300)); // at rest again: what explicit steps showed of its swinging is forgotten
    EXPECT_GT(bar.stats().implicit_steps, 3u);
    Bar other = hung(def);
    ASSERT_TRUE(other.step(3));
    info.status = PLI_DIVERGED, info.inverted = 0;
    EXPECT_TRUE(pli_choice_take_back(other.body.get(), &info)) << "one that failed";
    def.base.integrator = PLI_IMPLICIT;
    Bar asked = hung(def);
    ASSERT_TRUE(asked.step(3));
    info.inverted = 1;
    EXPECT_FALSE(pli_choice_take_back(asked.body.get(), &info));
}

/// A new active set needs a new pattern and tangent, whichever way earlier steps were taken.
TEST(Choice, PricesSetsThatChange)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    Bar bar = hung(bar_def(mesh.get(), 2e7, 2e-4));
    ASSERT_TRUE(bar.step(10, 0.002));
    ASSERT_EQ(bar.stats().implicit_steps, 0u);
    const double of_one_set = bar.stats().implicit_work;
    bar.body.get()->choice.churn = 1.0;
    ASSERT_TRUE(bar.step(1, 0.002));
    EXPECT_GT(bar.stats().implicit_work, 1.5 * of_one_set);
    ASSERT_TRUE(bar.step(40, 0.002));
    EXPECT_LT(bar.stats().implicit_work, 1.1 * of_one_set) << "the set stayed";
}

/// Many iterations under a tool say nothing of steps without one; what is known is forgotten in explicit steps.
TEST(Choice, LearnsIterationsOfEachKindOfStep)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    Bar bar = hung(bar_def(mesh.get(), 2e7, 2e-4));
    ASSERT_TRUE(bar.step(10, 0.002));
    const double before = bar.stats().implicit_work;
    PliChoice &choice = bar.body.get()->choice;
    choice.effort[1] = choice.effort[2] = choice.effort[3] = 20.0;
    ASSERT_TRUE(bar.step(1, 0.002));
    EXPECT_LT(bar.stats().implicit_work, 1.1 * before);
    choice.effort[0] = 20.0;
    ASSERT_TRUE(bar.step(1, 0.002));
    EXPECT_GT(bar.stats().implicit_work, 2.0 * before);
    ASSERT_TRUE(bar.step(2000, 0.002));
    EXPECT_LT(choice.effort[3], 1.5);
}

/// What is kept of how strain shortens substeps is what a look would say; a body that somebody moved is looked at again.
TEST(Choice, KnowsTheSubstepsOfWhereAStepEnded)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    PliFemDef def = bar_def(mesh.get(), 2e5, 0.0);
    def.base.integrator = PLI_SYMPLECTIC;
    Bar bar = hung(def);
    PliBody *body = bar.body.get();
    ASSERT_TRUE(bar.step(20));
    ASSERT_GT(body->strained, 0.0);
    EXPECT_EQ(pli_body_longest_substep(body, bar.state.x.data()), body->strained);
    const double there = body->strained;
    for (size_t i = 0; i < bar.state.x.size() / 3; ++i) bar.state.x[3 * i] *= 1.3;
    EXPECT_LT(pli_body_longest_substep(body, bar.state.x.data()), there);
    EXPECT_EQ(0.0, body->strained);
}

TEST(Choice, AResetBodyRunsAgainToTheBit)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    Bar bar = hung(bar_def(mesh.get(), 2e7, 2e-4));
    ASSERT_TRUE(bar.step(5, 0.002) && bar.step(15, 0.02));
    const uint64_t first = bar.hash();
    pli_body_reset(bar.body.get(), &bar.state.view);
    EXPECT_EQ(0u, bar.stats().implicit_steps);
    ASSERT_TRUE(bar.step(5, 0.002) && bar.step(15, 0.02));
    EXPECT_EQ(first, bar.hash());
}

TEST(Choice, ForcesOfTheHostAskForSubsteps)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    Bar bar = hung(bar_def(mesh.get(), 5e8, 2e-4));
    bar.state.view.external = [](const double *, const double *, double, double *, void *) {};
    ASSERT_TRUE(bar.step(3));
    EXPECT_EQ(0u, bar.stats().implicit_steps);
    EXPECT_EQ(PLI_CHOICE_HOST, bar.stats().choice);
    bar.state.view.external = nullptr;
    ASSERT_TRUE(bar.step(3));
    EXPECT_EQ(3u, bar.stats().implicit_steps);
    // what is corrected afterwards is one implicit step
    ASSERT_TRUE(pli_body_advance_once(bar.body.get(), &bar.state.view, 1e-5).finite);
    EXPECT_EQ(4u, bar.stats().implicit_steps);
    EXPECT_EQ(PLI_CHOICE_HOST, bar.stats().choice);
}

TEST(Choice, ABudgetIsKeptBySubsteps)
{
    Mesh mesh = box(4, 4, 16, 1, 1, 4);
    PliFemDef def = bar_def(mesh.get(), 5e8, 2e-4);
    def.base.criterion.budget_ms = 1000.0;
    Bar bar = hung(def);
    ASSERT_TRUE(bar.step(2));
    EXPECT_EQ(0u, bar.stats().implicit_steps);
    EXPECT_EQ(PLI_CHOICE_BUDGET, bar.stats().choice);
}

TEST(Choice, RefusesWhatOnlyOneOfThemHas)
{
    Mesh mesh = box(2, 2, 2, 1, 1, 1);
    PliHost host = pli_host_default();
    PliError err = {};
    PliFemDef def = bar_def(mesh.get(), 1e5, 0.0);
    def.base.rayleigh_stiffness = 0.01;
    EXPECT_EQ(nullptr, pli_fem_create(&host, &def, &err));
    EXPECT_NE(std::string::npos, std::string(err.text).find("use damping")) << err.text;
}
