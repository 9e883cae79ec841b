/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Constraints by Lagrange multipliers: met at the end of every step in every basis and law, the same as MINRES on the whole system,
// and sets that depend on themselves are solved or refused by name.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <pliant/stages.h>
#include <pliant/wavelet.h>

#include "scheme/wavelet/support.h"
#include "support/fixture.h"

extern "C" {
#include "base/hash.h"
}

using namespace wavelet_test;

namespace
{
PliWaveletDef damped_box(PliIndex nx, PliIndex ny, PliIndex nz, int levels)
{
    PliWaveletDef d = box(nx, ny, nz, levels);
    d.base.rayleigh_stiffness = 0.02;
    return d;
}

double random(uint64_t *seed) { return double(pli_random(seed) >> 11) / 9007199254740992.0; }

std::vector<PliConstraint> random_points(int count, const PliWaveletDef &d, uint64_t seed)
{
    std::vector<PliConstraint> c(count);
    for (auto &one : c) {
        one = PliConstraint{};
        for (int k = 0; k < 3; ++k) one.point[k] = d.box_max[k] * random(&seed);
    }
    return c;
}

/// A rotation, a stretch and a shift: what any basis can do.
void affine(const double p[3], double s, double out[3])
{
    const double c = std::cos(0.3 * s), w = std::sin(0.3 * s);
    out[0] = c * p[0] - w * p[1] + 0.1 * s * p[2] + 0.05 * s;
    out[1] = w * p[0] + c * p[1] - 0.02 * s;
    out[2] = (1 + 0.1 * s) * p[2] + 0.03 * s * p[0];
}
} // namespace

TEST(WaveletConstraints, areMetAtTheEndOfEveryStep)
{
    for (const PliWaveletBasis basis : { PLI_WAVELET_CC, PLI_WAVELET_BSWX, PLI_WAVELET_TRILINEAR })
        for (const PliWaveletLaw law : { PLI_WAVELET_QUASI_LINEAR, PLI_WAVELET_LINEAR, PLI_WAVELET_NONLINEAR }) {
            PliWaveletDef d = damped_box(3, 3, 2, 1);
            d.basis = basis, d.law = law, d.base.gravity[2] = -9.81;
            Body b(d);
            b.clamp(2);
            const PliConstraint held[] = { { { 1.4, 1.5, 2.0 }, {} },
                                           { { 1.7, 1.5, 2.0 }, {} },
                                           { { 0.2, 0.3, 1.0 }, {} },
                                           { { 2.9, 2.9, 1.9 }, { 0, 0, 1 } } };
            PliError err{};
            ASSERT_EQ(pli_body_constrain(b.body, held, 4, &err), PLI_OK) << err.text;
            for (int k = 0; k < 60; ++k) {
                const double t = std::min(1.0, (k + 1) / 40.0), s = t * t * (3 - 2 * t);
                double target[4][3];
                for (int j = 0; j < 4; ++j)
                    for (int a = 0; a < 3; ++a)
                        target[j][a] = held[j].point[a] + (j < 2 ? s * (a == 2 ? 0.3 : 0.1) : 0.0);
                ASSERT_EQ(pli_body_move_constraints(b.body, target[0], &err), PLI_OK) << err.text;
                ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.01).finite);
                for (int j = 0; j < 4; ++j) {
                    double p[3];
                    point_at(b, held[j].point, b.x, p);
                    for (int a = j < 3 ? 0 : 2; a < 3; ++a)
                        ASSERT_NEAR(p[a], target[j][a], 1e-9)
                            << "basis " << basis << " law " << law << " step " << k << " point " << j;
                }
            }
            EXPECT_LT(pli_body_constraint_forces(b.body, nullptr, nullptr), 1e-9);
            EXPECT_GT(pli_body_active(b.body).count, 48u) << "forces of constraints wake details";
        }
}

// Section 5.3 of the paper. The oracle is a Catmull-Clark body on the same lattice: its rows at a point, applied to the control vertices of
// the trilinear one, are the smooth limit there.
TEST(WaveletConstraints, holdTheSmoothLimitOfATrilinearBody)
{
    for (const PliWaveletLaw law : { PLI_WAVELET_QUASI_LINEAR, PLI_WAVELET_LINEAR, PLI_WAVELET_NONLINEAR }) {
        double off[2] = { 0, 0 };
        for (const bool smooth : { false, true }) {
            PliWaveletDef d = damped_box(3, 3, 2, 1);
            d.law = law, d.base.gravity[2] = -9.81;
            Body oracle(d);
            d.basis = PLI_WAVELET_TRILINEAR, d.smooth = smooth;
            Body b(d);
            ASSERT_EQ(b.x.size(), oracle.x.size());
            for (size_t k = 0; k < b.x.size(); ++k) ASSERT_NEAR(b.x[k], oracle.x[k], 1e-12);
            b.clamp(2);
            const PliConstraint held[] = { { { 1.4, 1.5, 2.0 }, {} },
                                           { { 0.2, 0.3, 1.1 }, {} },
                                           { { 2.9, 2.2, 1.9 }, {} } };
            PliError err{};
            ASSERT_EQ(pli_body_constrain(b.body, held, 3, &err), PLI_OK) << err.text;
            for (int k = 0; k < 24; ++k) {
                const double s = std::min(1.0, (k + 1) / 16.0);
                double target[3][3];
                for (int j = 0; j < 3; ++j)
                    for (int a = 0; a < 3; ++a)
                        target[j][a] = held[j].point[a] + (j == 0 ? s * (a == 2 ? 0.4 : 0.1) : 0);
                ASSERT_EQ(pli_body_move_constraints(b.body, target[0], &err), PLI_OK) << err.text;
                ASSERT_TRUE(b.step(0.01));
                for (int j = 0; j < 3; ++j) {
                    double p[3];
                    point_at(oracle, held[j].point, b.x, p);
                    for (int a = 0; a < 3; ++a) off[smooth] = std::max(off[smooth], std::fabs(p[a] - target[j][a]));
                }
            }
            EXPECT_GT(pli_wavelet_info(b.body).activated, 0u) << "details take part";
        }
        EXPECT_LT(off[1], 1e-9) << "law " << law;
        EXPECT_GT(off[0], 1e-3) << "trilinear constraints do not hold the smooth limit; law " << law;
    }
}

TEST(WaveletConstraints, forcesCarryTheWeight)
{
    PliWaveletDef d = damped_box(3, 2, 2, 0);
    d.base.gravity[2] = -9.81, d.base.mass_damping = 20, d.base.material.young = 1e6;
    Body b(d);
    std::vector<PliConstraint> held;
    for (const double x : { 0.0, 3.0 })
        for (const double y : { 0.0, 2.0 }) held.push_back(PliConstraint{ { x, y, 2.0 }, {} });
    ASSERT_EQ(pli_body_constrain(b.body, held.data(), 4, nullptr), PLI_OK);
    for (int k = 0; k < 400; ++k) ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.05).finite);
    double force[12], sum[3] = { 0, 0, 0 };
    pli_body_constraint_forces(b.body, force, nullptr);
    for (int k = 0; k < 12; ++k) sum[k % 3] += force[k];
    const double weight = 9.81 * 1000 * 12;
    EXPECT_NEAR(sum[2] / weight, 1.0, 1e-6);
    EXPECT_NEAR(sum[0] / weight, 0.0, 1e-6);
    EXPECT_NEAR(sum[1] / weight, 0.0, 1e-6);
}

TEST(WaveletConstraints, areWhatMinresOnTheWholeSystemFinds)
{
    for (const PliWaveletLaw law : { PLI_WAVELET_QUASI_LINEAR, PLI_WAVELET_NONLINEAR }) {
        PliWaveletDef d = damped_box(2, 2, 1, 0);
        d.law = law, d.base.gravity[0] = 3.0, d.base.cg_tolerance = 1e-13, d.base.cg_iterations = 5000;
        if (law == PLI_WAVELET_NONLINEAR) d.base.linear_solver = PLI_SOLVE_CG; // the same tangent as MINRES takes
        PliWaveletDef paper = d;
        paper.base.linear_solver = PLI_SOLVE_MINRES;
        Body a(d), b(paper);
        const PliConstraint held[] = { { { 0.1, 0.2, 0.9 }, {} },
                                       { { 1.8, 1.0, 0.3 }, {} },
                                       { { 1.0, 1.9, 0.5 }, { 1, 1, 0 } } };
        ASSERT_EQ(pli_body_constrain(a.body, held, 3, nullptr), PLI_OK);
        ASSERT_EQ(pli_body_constrain(b.body, held, 3, nullptr), PLI_OK);
        double fa[9], fb[9];
        for (int k = 0; k < 20; ++k) {
            double target[3][3];
            for (int j = 0; j < 3; ++j)
                for (int c = 0; c < 3; ++c) target[j][c] = held[j].point[c] + (j == 1 && c == 0 ? 0.01 * k : 0.0);
            ASSERT_EQ(pli_body_move_constraints(a.body, target[0], nullptr), PLI_OK);
            ASSERT_EQ(pli_body_move_constraints(b.body, target[0], nullptr), PLI_OK);
            ASSERT_TRUE(pli_body_step(a.body, &a.state, 0.01).finite);
            ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.01).finite);
        }
        for (size_t i = 0; i < a.x.size(); ++i) ASSERT_NEAR(a.x[i], b.x[i], 1e-8) << i;
        pli_body_constraint_forces(a.body, fa, nullptr);
        pli_body_constraint_forces(b.body, fb, nullptr);
        double size = 0.0;
        for (double f : fa) size = std::max(size, std::fabs(f));
        EXPECT_GT(size, 100.0);
        for (int i = 0; i < 9; ++i) EXPECT_NEAR(fa[i], fb[i], 1e-5 * size);
    }
}

// 300 rows on 81 unknowns: affine targets are met all of them, others are refused and leave what was
TEST(WaveletConstraints, aHundredRandomOnesAreSolvedOrRefused)
{
    for (const PliWaveletBasis basis : { PLI_WAVELET_CC, PLI_WAVELET_TRILINEAR })
        for (uint64_t seed : { 3u, 17u, 99u }) {
            PliWaveletDef d = damped_box(2, 2, 2, 0);
            d.basis = basis;
            Body b(d);
            const std::vector<PliConstraint> held = random_points(100, d, seed);
            PliError err{};
            ASSERT_EQ(pli_body_constrain(b.body, held.data(), 100, &err), PLI_OK) << err.text;
            PliIndex rows;
            const PliIndex rank = pli_body_constraint_rank(b.body, &rows);
            EXPECT_EQ(rows, 300u);
            EXPECT_LE(rank, 81u);
            EXPECT_GE(rank, 60u);
            std::vector<double> target(300);
            for (int k = 0; k < 20; ++k) {
                for (int j = 0; j < 100; ++j) affine(held[j].point, 0.05 * (k + 1), target.data() + 3 * j);
                ASSERT_EQ(pli_body_move_constraints(b.body, target.data(), &err), PLI_OK) << err.text;
                ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.01).finite);
                for (int j = 0; j < 100; ++j) {
                    double p[3];
                    point_at(b, held[j].point, b.x, p);
                    for (int a = 0; a < 3; ++a) ASSERT_NEAR(p[a], target[3 * j + a], 1e-9);
                }
            }
            target[3 * 41 + 1] += 0.01;
            ASSERT_EQ(pli_body_move_constraints(b.body, target.data(), &err), PLI_BAD_ARGUMENT);
            EXPECT_NE(std::string(err.text).find("contradicts constraint"), std::string::npos) << err.text;
            ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.01).finite);
            for (double value : b.x) ASSERT_TRUE(std::isfinite(value));
        }
}

// the same set on an adaptive body, whose coarse cut cannot do what its finest level can: nothing breaks, what is off is told
TEST(WaveletConstraints, whatTheCutIsTooCoarseForIsTold)
{
    PliWaveletDef d = damped_box(2, 2, 2, 2);
    d.base.criterion.max_active = 27;
    Body b(d);
    std::vector<PliConstraint> held = random_points(40, d, 5);
    PliError err{};
    ASSERT_EQ(pli_body_constrain(b.body, held.data(), 40, &err), PLI_OK) << err.text;
    std::vector<double> target(120);
    uint64_t seed = 8;
    for (int j = 0; j < 40; ++j)
        for (int a = 0; a < 3; ++a) target[3 * j + a] = held[j].point[a] + 0.02 * (random(&seed) - 0.5);
    ASSERT_EQ(pli_body_move_constraints(b.body, target.data(), &err), PLI_OK) << err.text;
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.01).finite);
    double worst = 0.0;
    for (int j = 0; j < 40; ++j) {
        double p[3];
        point_at(b, held[j].point, b.x, p);
        for (int a = 0; a < 3; ++a) worst = std::max(worst, std::fabs(p[a] - target[3 * j + a]));
    }
    PliIndex which = PLI_NONE;
    const double told = pli_body_constraint_forces(b.body, nullptr, &which);
    EXPECT_NEAR(told, worst, 1e-9);
    EXPECT_LT(which, 40u);
    EXPECT_GT(told, 1e-4);
}

TEST(WaveletConstraints, badOnesAreRefused)
{
    PliWaveletDef d = damped_box(2, 2, 2, 0);
    Body b(d);
    b.clamp(2);
    PliError err{};
    PliConstraint one{ { 5, 1, 1 }, {} };
    EXPECT_EQ(pli_body_constrain(b.body, &one, 1, &err), PLI_BAD_ARGUMENT);
    EXPECT_NE(std::string(err.text).find("outside the body"), std::string::npos) << err.text;
    one.point[0] = NAN;
    EXPECT_EQ(pli_body_constrain(b.body, &one, 1, &err), PLI_BAD_ARGUMENT);
    double target[3] = { 1, 1, 0.1 };
    EXPECT_EQ(pli_body_move_constraints(b.body, target, &err), PLI_BAD_ARGUMENT);
    one = PliConstraint{ { 1, 1, 0 }, {} }; // in the clamped face
    ASSERT_EQ(pli_body_constrain(b.body, &one, 1, &err), PLI_OK) << err.text;
    EXPECT_EQ(pli_body_move_constraints(b.body, target, &err), PLI_BAD_ARGUMENT);
    EXPECT_NE(std::string(err.text).find("fixed coefficients only"), std::string::npos) << err.text;
    ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.01).finite);
    ASSERT_EQ(pli_body_constrain(b.body, nullptr, 0, &err), PLI_OK);
    ASSERT_TRUE(pli_body_step(b.body, &b.state, 0.01).finite);
}
