/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <cmath>
#include <limits>

#include "support/fixture.h"

extern "C" {
#include "base/vec.h"
#include "adapt/handover.h"
}

using pliant_test::random_in;
using pliant_test::random_vector;

namespace
{

/// Point masses in random places with random velocities, some of them without mass, among dofs that are none of their business.
struct Patch {
    PliIndex dofs = 40;
    std::vector<PliIndex> node;
    std::vector<double> mass, x, v;
    PliEventPatch patch{};

    explicit Patch(uint64_t seed, PliIndex members = 25)
    {
        x = random_vector(&seed, 3 * dofs, -1, 3), v = random_vector(&seed, 3 * dofs);
        for (PliIndex i = 0; i < members; ++i) {
            node.push_back((7 * i + 3) % dofs); // 7 and 40 have no common divisor: no node twice
            mass.push_back(i % 5 == 2 ? 0.0 : random_in(&seed, 0.1, 2));
        }
        patch = { node.data(), mass.data(), members };
    }
    PliMoments moments() const { return pli_patch_moments(&patch, x.data(), v.data()); }
    bool is_member(PliIndex dof) const
    {
        for (PliIndex i = 0; i < patch.count; ++i)
            if (node[i] == dof && mass[i] > 0.0) return true;
        return false;
    }
};

void expect_near(const double *a, const double *b, double tolerance, const char *what)
{
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(a[d], b[d], tolerance) << what << ", component " << d;
}

/// Velocities of a rigid motion: drift and a rotation about the origin.
void make_rigid(Patch &p, const double drift[3], const double omega[3])
{
    for (PliIndex i = 0; i < p.dofs; ++i) {
        v3_cross(&p.v[3 * i], omega, &p.x[3 * i]);
        v3_add(&p.v[3 * i], &p.v[3 * i], drift);
    }
}

} // namespace

/// Written out with matrices: L = sum m [x] v, and the energy as a quadratic form.
TEST(Handover, MomentsAreTheSums)
{
    for (uint64_t seed = 1; seed < 20; ++seed) {
        const Patch p(seed);
        double mass = 0, centre[3] = {}, momentum[3] = {}, angular[3] = {}, kinetic = 0;
        for (PliIndex i = 0; i < p.patch.count; ++i) {
            const double m = p.mass[i], *a = &p.x[3 * p.node[i]], *b = &p.v[3 * p.node[i]];
            mass += m, kinetic += m * (b[0] * b[0] + b[1] * b[1] + b[2] * b[2]) / 2;
            for (int d = 0; d < 3; ++d) {
                centre[d] += m * a[d], momentum[d] += m * b[d];
                const int e = (d + 1) % 3, f = (d + 2) % 3;
                angular[d] += m * (a[e] * b[f] - a[f] * b[e]);
            }
        }
        for (double &c : centre) c /= mass;
        const PliMoments m = p.moments();
        EXPECT_NEAR(m.mass, mass, 1e-13);
        EXPECT_NEAR(m.kinetic, kinetic, 1e-13);
        expect_near(m.centre, centre, 1e-13, "centre");
        expect_near(m.momentum, momentum, 1e-13, "momentum");
        expect_near(m.angular, angular, 1e-13, "angular momentum");
    }
    const PliEventPatch empty{};
    const PliMoments nothing = pli_patch_moments(&empty, nullptr, nullptr);
    EXPECT_EQ(nothing.mass, 0.0);
    EXPECT_EQ(nothing.centre[0], 0.0) << "no division by no mass";
}

/// v' = v + M^-1 W^T m (old - W v) with a dense W, and the law it is for: all momentum of the old field is in the new one.
TEST(Handover, MomentumOfTheOldFieldIsKept)
{
    for (uint64_t round = 1; round < 30; ++round) {
        uint64_t seed = round;
        const PliIndex dofs = 12, row_count = 20, carriers = 8;
        std::vector<double> dense(row_count * dofs, 0.0), weight;
        std::vector<PliIndex> first{ 0 }, column, carrier;
        for (PliIndex r = 0; r < row_count; ++r) {
            double sum = 0;
            const PliIndex entries = 1 + PliIndex(pli_random(&seed) % 5), start = PliIndex(weight.size());
            for (PliIndex k = 0; k < entries; ++k) {
                column.push_back(PliIndex((r + 5 * k) % dofs));
                weight.push_back(random_in(&seed, -0.2, 1)), sum += weight.back();
            }
            for (PliIndex k = start; k < weight.size(); ++k) {
                weight[k] /= sum; // a row reproduces a drift
                dense[r * dofs + column[k]] += weight[k];
            }
            first.push_back(PliIndex(weight.size()));
        }
        for (PliIndex i = 0; i < carriers; ++i) carrier.push_back((3 * i + 1) % row_count);
        const auto mass = random_vector(&seed, dofs, 0.5, 2), carried = random_vector(&seed, carriers, 0.1, 0.3);
        const auto old = random_vector(&seed, 3 * carriers), before = random_vector(&seed, 3 * dofs);
        std::vector<uint8_t> fixed(dofs, 0);
        if (round % 2) fixed[3] = fixed[7] = 1;
        std::vector<double> v = before, change(3 * dofs, 0.0), expected = before;
        for (int d = 0; d < 3; ++d) {
            double lost = 0, given = 0;
            for (PliIndex i = 0; i < carriers; ++i) {
                double lack = old[3 * i + d];
                for (PliIndex c = 0; c < dofs; ++c) lack -= dense[carrier[i] * dofs + c] * before[3 * c + d];
                lost += carried[i] * lack;
                for (PliIndex c = 0; c < dofs; ++c)
                    if (!fixed[c]) expected[3 * c + d] += dense[carrier[i] * dofs + c] * carried[i] * lack / mass[c];
            }
            for (PliIndex c = 0; c < dofs; ++c) given += mass[c] * (expected[3 * c + d] - before[3 * c + d]);
            if (round % 2 == 0) {
                EXPECT_NEAR(given, lost, 1e-13) << "the oracle itself keeps momentum";
            }
        }
        const PliRows rows = { first.data(), column.data(), weight.data(), row_count, dofs };
        pli_handover_momentum(rows, carrier.data(), carried.data(), old.data(), carriers, mass.data(), fixed.data(),
                              v.data(), change.data());
        for (PliIndex i = 0; i < 3 * dofs; ++i) {
            EXPECT_NEAR(v[i], expected[i], 1e-13) << "round " << round;
            EXPECT_EQ(change[i], 0.0) << "scratch is left clean";
            if (fixed[i / 3]) {
                EXPECT_EQ(v[i], before[i]) << "prescribed motion is not touched";
            }
        }
    }
}

TEST(Handover, SpinChangesAngularMomentumAndNothingElse)
{
    for (uint64_t seed = 1; seed < 30; ++seed) {
        Patch p(seed);
        uint64_t other = seed + 100;
        const auto spin = random_vector(&other, 3);
        const PliMoments before = p.moments();
        const std::vector<double> old = p.v;
        ASSERT_TRUE(pli_handover_spin(&p.patch, spin.data(), p.x.data(), p.v.data()));
        const PliMoments after = p.moments();
        double target[3];
        v3_add(target, before.angular, spin.data());
        expect_near(after.angular, target, 1e-12, "angular momentum");
        expect_near(after.momentum, before.momentum, 1e-12, "momentum");
        // what was added is rigid: no distance between two of its points changes at first order
        for (PliIndex i = 0; i < p.patch.count; ++i)
            for (PliIndex k = 0; k < i; ++k) {
                if (p.mass[i] == 0.0 || p.mass[k] == 0.0) continue;
                double r[3], u[3], a[3], b[3];
                v3_sub(r, &p.x[3 * p.node[i]], &p.x[3 * p.node[k]]);
                v3_sub(a, &p.v[3 * p.node[i]], &old[3 * p.node[i]]);
                v3_sub(b, &p.v[3 * p.node[k]], &old[3 * p.node[k]]);
                v3_sub(u, a, b);
                ASSERT_NEAR(v3_dot(r, u), 0.0, 1e-12);
            }
        for (PliIndex i = 0; i < p.dofs; ++i)
            if (!p.is_member(i)) {
                for (int d = 0; d < 3; ++d) EXPECT_EQ(p.v[3 * i + d], old[3 * i + d]) << "no member, or without mass";
            }
    }
}

TEST(Handover, WhatHasNoInertiaIsLeftAlone)
{
    const double spin[3] = { 0.3, -0.2, 0.5 };
    for (int kind = 0; kind < 3; ++kind) {
        Patch p(4);
        for (PliIndex i = 0; i < p.patch.count; ++i) { // no mass, a point, a line
            if (kind == 0) p.mass[i] = 0.0;
            for (int d = 0; d < 3 && kind > 0; ++d) p.x[3 * p.node[i] + d] = kind == 1 ? 1.0 : 0.1 * i * d;
        }
        const std::vector<double> old = p.v;
        EXPECT_FALSE(pli_handover_spin(&p.patch, spin, p.x.data(), p.v.data())) << kind;
        EXPECT_EQ(pli_handover_cap(&p.patch, 0.01, p.x.data(), p.v.data()), 0.01) << kind;
        EXPECT_EQ(p.v, old) << kind;
    }
}

TEST(Handover, CapTakesEnergyAndKeepsBothMomenta)
{
    for (uint64_t seed = 1; seed < 30; ++seed)
        for (double wanted : { 1e-6, 0.05, 0.7, 1e3 }) {
            Patch p(seed);
            const std::vector<double> old = p.v;
            const PliMoments before = p.moments();
            const double unpaid = pli_handover_cap(&p.patch, wanted, p.x.data(), p.v.data());
            const PliMoments after = p.moments();
            EXPECT_GE(unpaid, 0.0);
            EXPECT_LE(unpaid, wanted);
            EXPECT_NEAR(before.kinetic - after.kinetic, wanted - unpaid, 1e-12 * before.kinetic);
            expect_near(after.momentum, before.momentum, 1e-12, "momentum");
            expect_near(after.angular, before.angular, 1e-12, "angular momentum");
            if (wanted < 1.0) {
                EXPECT_EQ(unpaid, 0.0) << "there was enough";
            }
            if (wanted > 1.0) { // all that is not rigid is gone, and there is nothing more to take
                EXPECT_GT(unpaid, 0.0);
                EXPECT_GT(after.kinetic, 0.0);
                EXPECT_NEAR(pli_handover_cap(&p.patch, wanted, p.x.data(), p.v.data()), wanted, 1e-12 * wanted);
            }
            for (PliIndex i = 0; i < p.dofs; ++i)
                if (!p.is_member(i)) {
                    ASSERT_EQ(p.v[3 * i], old[3 * i]);
                }
        }
}

TEST(Handover, CapNeverBrakesARigidMotion)
{
    Patch p(9);
    const double drift[3] = { 100, -40, 7 }, omega[3] = { 3, -2, 9 };
    make_rigid(p, drift, omega);
    const std::vector<double> old = p.v;
    const double unpaid = pli_handover_cap(&p.patch, 0.5, p.x.data(), p.v.data());
    EXPECT_NEAR(unpaid, 0.5, 1e-9);
    for (size_t i = 0; i < old.size(); ++i) EXPECT_NEAR(p.v[i], old[i], 1e-9);
}

/// The same patch seen from a moving frame: the same is taken from it.
TEST(Handover, CapDoesNotDependOnWhoWatches)
{
    for (uint64_t seed = 1; seed < 10; ++seed) {
        Patch rest(seed), moving(seed);
        const double boost[3] = { 20, -5, 11 };
        for (PliIndex i = 0; i < moving.dofs; ++i) v3_add(&moving.v[3 * i], &moving.v[3 * i], boost);
        for (double wanted : { 0.05, 1e3 }) {
            EXPECT_NEAR(pli_handover_cap(&rest.patch, wanted, rest.x.data(), rest.v.data()),
                        pli_handover_cap(&moving.patch, wanted, moving.x.data(), moving.v.data()), 1e-9);
            for (PliIndex i = 0; i < rest.dofs; ++i)
                for (int d = 0; d < 3; ++d) EXPECT_NEAR(moving.v[3 * i + d] - boost[d], rest.v[3 * i + d], 1e-8);
        }
    }
}

TEST(Handover, CapOfNothingDoesNothing)
{
    Patch p(2);
    const std::vector<double> old = p.v;
    for (double none : { 0.0, -1.0, std::numeric_limits<double>::quiet_NaN() })
        EXPECT_EQ(pli_handover_cap(&p.patch, none, p.x.data(), p.v.data()), 0.0);
    EXPECT_EQ(p.v, old);
}
