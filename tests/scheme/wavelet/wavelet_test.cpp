/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <pliant/wavelet.h>

#include "scheme/wavelet/support.h"
#include "support/fixture.h"

extern "C" {
#include "base/hash.h"
#include "scheme/wavelet/wavelet.h"
}

using namespace wavelet_test;

namespace
{
void expect_valid(const Body &b)
{
    const PliWavelet *s = static_cast<const PliWavelet *>(pli_body_self(b.body));
    double mass = 0;
    for (PliIndex i = 0; i < s->active_count; ++i)
        if (s->dof_level[s->active[i]] == 0) mass += s->cut_load[i];
    EXPECT_NEAR(mass / s->total_mass, 1.0, 1e-12);
    EXPECT_NEAR(pli_body_energy(b.body, b.x.data(), b.v.data()).mass / s->total_mass, 1.0, 1e-12);
}
} // namespace

TEST(Wavelet, pointsAreWhereTheyAreFound)
{
    for (const double angle : { 40.0, 180.0 }) {
        PliWaveletDef d = box(2, 2, 2);
        d.sharp_angle = angle;
        Body b(d);
        uint64_t seed = 5;
        for (int k = 0; k < 200; ++k) {
            double p[3], q[3];
            for (double &c : p) c = 0.6 + 0.8 * pli_random_unit(&seed);
            if (k == 0) p[0] = -0.02, p[1] = p[2] = 1.0; // a little outside
            point_at(b, p, b.x, q);
            for (int c = 0; c < 3; ++c) ASSERT_NEAR(q[c], p[c], 1e-9) << k;
        }
    }
}

TEST(Wavelet, affineMotionOfTheLatticeMovesEveryPointAffinely)
{
    Body b(box(3, 2, 2));
    pli_wavelet_activate(b.body, nullptr, 0, nullptr);
    const double A[9] = { 1.1, 0.2, 0, -0.1, 0.9, 0.3, 0, 0.1, 1.2 }, t[3] = { 1, -2, 3 };
    const PliIndex n0 = 4 * 3 * 3;
    std::vector<double> x = b.x;
    for (PliIndex i = 0; i < n0; ++i)
        for (int r = 0; r < 3; ++r)
            x[3 * i + r] = A[3 * r] * b.x[3 * i] + A[3 * r + 1] * b.x[3 * i + 1] + A[3 * r + 2] * b.x[3 * i + 2] + t[r];
    pli_body_spread(b.body, x.data());
    const double p[3] = { 1.37, 0.81, 1.9 };
    double q[3];
    point_at(b, p, x, q);
    for (int r = 0; r < 3; ++r)
        EXPECT_NEAR(q[r], A[3 * r] * p[0] + A[3 * r + 1] * p[1] + A[3 * r + 2] * p[2] + t[r], 1e-12);
    // and the rows of W say the same as spreading
    std::vector<double> y = x;
    pli_rows_apply(pli_body_transfer(b.body), x.data(), y.data());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i], x[i], 1e-12);
}

TEST(Wavelet, theFactorAtRestSolvesWhatConjugateGradientsSolve)
{
    for (PliWaveletLaw law : { PLI_WAVELET_LINEAR, PLI_WAVELET_QUASI_LINEAR, PLI_WAVELET_NONLINEAR }) {
        std::vector<double> end[2];
        for (int k = 0; k < 2; ++k) {
            PliWaveletDef d = box(3, 1, 1);
            d.law = law;
            d.base.adapt = false;
            d.base.linear_solver = k ? PLI_SOLVE_CG : PLI_SOLVE_AUTO;
            d.base.cg_tolerance = 1e-12, d.base.cg_iterations = 2000;
            d.base.gravity[1] = -9.81;
            Body b(d);
            b.clamp(0);
            for (int s = 0; s < 10; ++s) ASSERT_TRUE(b.step(0.01));
            end[k] = b.x;
        }
        // nonlinear: with the exact tangent, where CG alone leaves out its negative eigenvalues
        for (size_t i = 0; i < end[0].size(); ++i)
            ASSERT_NEAR(end[0][i], end[1][i], law == PLI_WAVELET_NONLINEAR ? 1e-4 : 1e-8) << "law " << law;
    }
}

// Forces are those of the law either way, so both come to the same rest; on the way there one solve a step is enough.
TEST(Wavelet, theTangentAtRestComesToTheSameRestWithoutIterations)
{
    PliWaveletDef d = box(4, 2, 2, 0);
    d.law = PLI_WAVELET_NONLINEAR;
    d.base.material.law = PLI_NEOHOOKEAN;
    d.base.mass_damping = 2.0;
    d.base.gravity[2] = -1.5;
    d.base.cg_tolerance = 1e-9;
    Body truly(d);
    d.tangent = PLI_WAVELET_REST;
    Body rest(d);
    truly.clamp(0), rest.clamp(0);
    int ones = 0;
    for (int k = 0; k < 400; ++k) {
        ASSERT_TRUE(truly.step(0.05));
        const PliStepInfo info = pli_body_step(rest.body, &rest.state, 0.05);
        ASSERT_TRUE(info.finite);
        ones += info.cg_iterations == 1;
    }
    double off = 0.0, sunk = 0.0;
    for (size_t i = 0; i < rest.x.size(); ++i) {
        off = std::max(off, std::fabs(rest.x[i] - truly.x[i]));
        sunk = std::max(sunk, std::fabs(truly.x[i] - pli_body_rest(truly.body)[i]));
    }
    EXPECT_GT(ones, 390); // the few others saw forces change in another way than foretold
    EXPECT_GT(sunk, 0.5); // of a length of 4: far from linear
    EXPECT_LT(off, 1e-7 * sunk);
}

// Drawn out by a third a StVK block is more than twice as stiff as at rest: long steps that linearise with the stiffness at rest alone swing.
TEST(Wavelet, theTangentAtRestDoesNotSwingWhereTheBodyIsStiffer)
{
    PliWaveletDef d = box(2, 2, 2, 0);
    d.law = PLI_WAVELET_NONLINEAR;
    d.base.material.law = PLI_STVK;
    d.base.mass_damping = 10.0;
    d.base.gravity[2] = 60.0;
    d.base.cg_tolerance = 1e-9;
    Body truly(d);
    d.tangent = PLI_WAVELET_REST;
    Body rest(d);
    truly.clamp(2), rest.clamp(2);
    for (int k = 0; k < 300; ++k) {
        const double dt = k < 100 ? 0.05 : 2.0; // long enough that mass holds nothing back
        ASSERT_TRUE(truly.step(dt));
        const PliStepInfo info = pli_body_step(rest.body, &rest.state, dt);
        ASSERT_TRUE(info.finite);
    }
    double off = 0.0, sunk = 0.0;
    for (size_t i = 0; i < rest.x.size(); ++i) {
        off = std::max(off, std::fabs(rest.x[i] - truly.x[i]));
        sunk = std::max(sunk, std::fabs(truly.x[i] - pli_body_rest(truly.body)[i]));
    }
    EXPECT_GT(sunk, 0.6);
    EXPECT_LT(off, 1e-7 * sunk);
}

// What a plane that slides over a block rubs with is Coulomb's share of what it presses with, in every step.
TEST(Wavelet, slidingFrictionIsLawful)
{
    for (PliWaveletLaw law : { PLI_WAVELET_QUASI_LINEAR, PLI_WAVELET_NONLINEAR }) {
        PliWaveletDef d = box(4, 4, 2);
        d.law = law;
        if (law == PLI_WAVELET_NONLINEAR) d.tangent = PLI_WAVELET_REST;
        d.base.mass_damping = 5.0;
        Body b(d);
        b.clamp(2);
        PliTool tool{};
        tool.shape = PLI_TOOL_PLANE, tool.friction = 0.4;
        tool.other[2] = -1.0, tool.position[2] = 2.0;
        ASSERT_EQ(pli_body_set_tools(b.body, &tool, 1, nullptr), PLI_OK);
        for (int s = 0; s < 60; ++s) {
            tool.velocity[0] = s < 20 ? 0.0 : 2.0, tool.velocity[2] = s < 20 ? -0.5 : 0.0;
            ASSERT_TRUE(b.step(0.01));
            for (int k = 0; k < 3; ++k) tool.position[k] += 0.01 * tool.velocity[k];
            const double pressure = std::fabs(tool.force[2]), rub = std::hypot(tool.force[0], tool.force[1]);
            EXPECT_LE(rub, 0.402 * pressure) << s;
            EXPECT_GE(rub, s < 50 ? 0.0 : 0.398 * pressure) << s;
        }
        EXPECT_GT(std::fabs(tool.force[2]), 1e3);
    }
}

TEST(Wavelet, clampedVerticesStayAndTheRestSinks)
{
    PliWaveletDef d = box(4, 2, 2);
    d.base.gravity[1] = -9.81;
    Body b(d);
    b.clamp(0);
    for (int s = 0; s < 40; ++s) ASSERT_TRUE(b.step(0.005));
    const double *place = pli_wavelet_places(b.body);
    const double *rest = pli_body_rest(b.body);
    for (PliIndex i = 0; i < pli_body_dof_count(b.body); ++i)
        for (int c = 0; c < 3 && place[3 * i] < 1e-9; ++c) ASSERT_EQ(b.x[3 * i + c], rest[3 * i + c]);
    const double p[3] = { 4, 1, 1 };
    double q[3];
    point_at(b, p, b.x, q);
    EXPECT_LT(q[1], 0.95);
}

TEST(Wavelet, detailsSwitchOnUnderAToolAndOffWhenItHasGone)
{
    for (PliWaveletLaw law : { PLI_WAVELET_QUASI_LINEAR, PLI_WAVELET_NONLINEAR }) {
        PliWaveletDef d = box(4, 4, 2);
        d.law = law;
        d.base.rayleigh_stiffness = 0.1;
        d.base.criterion.threshold = 0.02;
        d.memory = 0.2;
        Body b(d);
        b.clamp(2);
        PliTool tool{};
        tool.shape = PLI_TOOL_SPHERE, tool.radius = 0.6;
        tool.position[0] = 2, tool.position[1] = 2, tool.position[2] = 2.35;
        ASSERT_EQ(pli_body_set_tools(b.body, &tool, 1, nullptr), PLI_OK);
        const PliIndex base = pli_body_stats(b.body).active;
        for (int s = 0; s < 60; ++s) ASSERT_TRUE(b.step(0.01));
        expect_valid(b);
        const PliIndex pressed = pli_body_stats(b.body).active;
        EXPECT_GT(pressed, base);
        EXPECT_LT(pressed, pli_wavelet_info(b.body).functions);
        tool.position[2] = 9;
        for (int s = 0; s < 300; ++s) ASSERT_TRUE(b.step(0.01));
        EXPECT_LT(pli_body_stats(b.body).active, base + (pressed - base) / 10);
        EXPECT_LT(pli_body_stats(b.body).largest_jump, 1e-12); // nothing pops
        expect_valid(b);
    }
}

TEST(Wavelet, theGovernorKeepsTheNumberOfFunctions)
{
    PliWaveletDef d = box(4, 4, 2);
    d.base.criterion.threshold = 1e-4;
    d.base.criterion.max_active = 100;
    Body b(d);
    b.clamp(2);
    PliTool tool{};
    tool.shape = PLI_TOOL_SPHERE, tool.radius = 0.6, tool.position[0] = 2, tool.position[1] = 2,
    tool.position[2] = 2.35;
    ASSERT_EQ(pli_body_set_tools(b.body, &tool, 1, nullptr), PLI_OK);
    for (int s = 0; s < 40; ++s) {
        ASSERT_TRUE(b.step(0.01));
        ASSERT_LE(pli_body_stats(b.body).active, 100u);
    }
    EXPECT_EQ(pli_body_stats(b.body).active, 100u);
    EXPECT_GT(pli_body_stats(b.body).refused, 0u);
}

TEST(Wavelet, runsAreTheSameAndQuietStepsAllocateNothing)
{
    uint64_t hash[2];
    for (int k = 0; k < 2; ++k) {
        pliant_test::WatchedHost watched;
        PliWaveletDef d = box(3, 3, 2);
        d.base.gravity[0] = 3.0;
        Body b(d, &watched.host);
        b.clamp(2);
        for (int s = 0; s < 60; ++s) ASSERT_TRUE(b.step(0.01));
        const auto before = watched.calls;
        PliBodyDef frozen = *pli_body_def(b.body);
        frozen.adapt = false;
        ASSERT_EQ(pli_body_retune(b.body, &frozen, nullptr), PLI_OK);
        ASSERT_TRUE(b.step(0.01)); // the pattern of the new revision
        for (int s = 0; s < 20; ++s) ASSERT_TRUE(b.step(0.01));
        EXPECT_EQ(watched.calls, before);
        hash[k] = pli_body_hash(b.body, &b.state);
    }
    EXPECT_EQ(hash[0], hash[1]);
}

TEST(Wavelet, changesOfTheSetAllocateNothingWhenTheMostIsKnown)
{
    pliant_test::WatchedHost watched;
    PliWaveletDef d = box(4, 4, 2);
    d.base.criterion.threshold = 0.01;
    d.base.criterion.max_active = 250;
    d.base.rayleigh_stiffness = 0.05;
    Body b(d, &watched.host);
    b.clamp(2);
    PliTool tool{};
    tool.shape = PLI_TOOL_SPHERE, tool.radius = 0.6, tool.position[0] = 1, tool.position[1] = 2,
    tool.position[2] = 2.45;
    tool.velocity[0] = 1;
    ASSERT_EQ(pli_body_set_tools(b.body, &tool, 1, nullptr), PLI_OK);
    ASSERT_TRUE(b.step(0.01));
    const auto before = watched.calls;
    for (int s = 0; s < 150; ++s) {
        tool.position[0] = 1 + 0.01 * s;
        ASSERT_TRUE(b.step(0.01));
    }
    EXPECT_GT(pli_wavelet_info(b.body).activated, 50u);
    EXPECT_GT(pli_wavelet_info(b.body).deactivated, 10u);
    EXPECT_EQ(watched.calls, before);
}

TEST(Wavelet, oscillatorsOfThePaperThatBecameFullComeToRestAsAllFunctionsDo)
{
    double tip[2][3];
    for (int all = 0; all < 2; ++all) {
        PliWaveletDef d = box(2, 2, 2);
        d.base.gravity[2] = -9.81, d.base.mass_damping = 5.0, d.base.criterion.threshold = 1e-9,
        d.base.criterion.coarsen = 1e-6;
        d.transition = PLI_WAVELET_PAPER, d.base.adapt = !all;
        Body b(d);
        b.clamp(2);
        if (all) {
            ASSERT_EQ(pli_wavelet_activate(b.body, nullptr, 0, nullptr), PLI_OK);
        }
        for (int k = 0; k < 120; ++k) ASSERT_TRUE(b.step(0.05)) << k;
        const PliWaveletInfo info = pli_wavelet_info(b.body);
        EXPECT_EQ(info.fading, 0u);
        EXPECT_TRUE(all || info.activated > 0.5 * (info.functions - 27)) << info.activated;
        const double p[3] = { 0.3, 1.1, 1.9 };
        point_at(b, p, b.x, tip[all]);
    }
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(tip[0][c], tip[1][c], 1e-7);
}

TEST(Wavelet, badDefinitionsAreRefusedInOneSentence)
{
    const auto refused = [](PliWaveletDef d, const char *word) {
        PliError err{};
        PliBody *b = pli_wavelet_create(&host, &d, &err);
        EXPECT_FALSE(b);
        EXPECT_NE(std::string(err.text).find(word), std::string::npos) << err.text;
        pli_body_destroy(b);
    };
    PliWaveletDef d = box(1, 1, 1);
    d.base.integrator = PLI_SYMPLECTIC;
    refused(d, "explicit");
    d = box(1, 1, 1), d.levels = 9;
    refused(d, "levels is 9");
    d = box(0, 1, 1);
    refused(d, "empty");
    d = box(1, 1, 1), d.fade = 0;
    refused(d, "fade");
    d = box(1, 1, 1), d.sharp_angle = 180;
    refused(d, "subdivide it once");
    d = box(1, 1, 1), d.base.criterion.kind = PLI_BY_VELOCITY;
    refused(d, "criterion");
    d = box(2, 2, 2), d.transition = PLI_WAVELET_PAPER, d.law = PLI_WAVELET_NONLINEAR;
    refused(d, "transitions of the paper");
    d = box(2, 2, 2), d.transition = PLI_WAVELET_PAPER, d.base.criterion.kind = PLI_BY_CONTACT;
    refused(d, "not by contact, camera or region");
}

TEST(Wavelet, aBodyInsideOutIsRefused)
{
    std::unique_ptr<PliMesh, void (*)(PliMesh *)> mesh(pli_mesh_create(&host), pli_mesh_destroy);
    pli_mesh_resize_points(mesh.get(), 8);
    const double x[] = { 0, 0, 0, 1, 0, 0, 0.1, 0.1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, -3, -3, 1, 0, 1, 1 };
    std::memcpy(mesh->x, x, sizeof x);
    pli_mesh_resize_cells(mesh.get(), PLI_HEX, 1);
    for (PliIndex k = 0; k < 8; ++k) mesh->hexes[k] = k;
    PliWaveletDef d = box(1, 1, 1);
    d.mesh = mesh.get(), d.sharp_angle = 0;
    PliError err{};
    EXPECT_FALSE(pli_wavelet_create(&host, &d, &err));
    EXPECT_NE(std::string(err.text).find("inside out"), std::string::npos) << err.text;
}

TEST(Wavelet, cubesAroundATetrahedralMeshCarryItsSurface)
{
    PliBoxDef tets{};
    for (int k = 0; k < 3; ++k) tets.max[k] = 1.0, tets.cells[k] = 2;
    std::unique_ptr<PliMesh, void (*)(PliMesh *)> mesh(pli_mesh_box(&host, &tets, nullptr), pli_mesh_destroy);
    PliWaveletDef d = box(1, 1, 1);
    d.mesh = mesh.get(), d.resolution = 3;
    Body b(d);
    ASSERT_EQ(pli_mesh_find_surface(mesh.get()), PLI_OK);
    PliError err{};
    ASSERT_EQ(pli_body_attach_skin(b.body, mesh->x, mesh->point_count, mesh->tris, mesh->tri_count, &err), PLI_OK)
        << err.text;
    std::vector<double> skin(3 * mesh->point_count);
    pli_body_skin_positions(b.body, b.x.data(), skin.data());
    for (size_t i = 0; i < skin.size(); ++i) ASSERT_NEAR(skin[i], mesh->x[i], 1e-9);
}

// Decisions look again only where the body has moved: what they find there is what a look at everything finds, to the bit, and what
// they leave out has not come to the threshold.
TEST(Wavelet, aPartialLookFindsWhatAWholeOneFinds)
{
    PliWaveletDef d = box(6, 3, 3);
    d.law = PLI_WAVELET_NONLINEAR;
    d.base.gravity[2] = -3.0;
    d.base.material.damping = 1e-3;
    d.base.rayleigh_stiffness = 0.02;
    d.base.criterion.threshold = 0.05;
    Body b(d);
    b.clamp(0);
    PliWavelet *s = static_cast<PliWavelet *>(pli_body_self(b.body));
    int waited = 0, asked = 0;
    for (int k = 0; k < 60; ++k) {
        ASSERT_TRUE(b.step(0.01));
        if (k < 10 || s->listed_revision != s->revision) continue;
        pli_wavelet_spread(s, b.x.data());
        pli_wavelet_spread(s, b.v.data());
        pli_wavelet_find_rotation(s, b.x.data());
        const double theta = d.base.criterion.threshold * std::fmax(s->displacement, 1e-2 * s->size);
        pli_wavelet_ask(s, b.x.data(), theta, false);
        const std::vector<uint8_t> which(s->candidate, s->candidate + s->count);
        pli_wavelet_find_residual(s, b.body, b.x.data(), b.v.data(), 0.01);
        const std::vector<double> found(s->residual, s->residual + 3 * s->count);
        pli_wavelet_ask(s, b.x.data(), theta, true);
        pli_wavelet_find_residual(s, b.body, b.x.data(), b.v.data(), 0.01);
        for (PliIndex c = 0; c < s->info.candidates; ++c) {
            const PliIndex a = s->listed[c];
            double u[3];
            pli_wavelet_yield(s, a, s->residual + 3 * a, u);
            if (which[a] == PLI_ASKED) {
                asked++;
                for (int i = 0; i < 3; ++i) ASSERT_EQ(found[3 * a + i], s->residual[3 * a + i]) << k << " " << a;
            } else {
                waited++;
                EXPECT_LT(std::hypot(u[0], u[1], u[2]), theta) << k << " " << a;
            }
        }
        for (PliIndex c = 0; c < s->info.candidates; ++c) // as if only the first look had been
            if (which[s->listed[c]] == PLI_ASKED) (void)pli_wavelet_way(s, s->listed[c], theta);
    }
    EXPECT_GT(waited, asked / 10);
    EXPECT_GT(asked, 0);
}
