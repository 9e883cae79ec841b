/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Elements that tick at their own rate: kicks of slow elements must not feed the fast modes next to them.
#include <gtest/gtest.h>

#include <cmath>

#include <pliant/stages.h>

#include "base/hash.h"
#include "base/vec.h"
#include "support/bodies.h"

using namespace pli_test;

namespace
{

/// Energy after `time` over that at the start, largest of all steps. Rattled at random by small speeds, without damping.
double growth(PliMesh *mesh, bool hold, bool multirate, double time, uint64_t seed)
{
    PliHost host = pli_host_default();
    PliFemDef def = pli_fem_default();
    PliError err = {};
    def.mesh = mesh;
    def.base.gravity[1] = 0.0;
    def.base.multirate = multirate ? PLI_RATES_OWN : PLI_RATES_ONE;
    def.base.material.law = PLI_NEOHOOKEAN;
    def.base.material.young = 2e7;
    def.base.material.poisson = 0.35;
    def.base.material.density = 1000.0;
    def.base.material.damping = 0.0;
    Body body(pli_fem_create(&host, &def, &err));
    EXPECT_TRUE(body) << err.text;
    if (!body) return NAN;
    std::vector<PliIndex> held;
    for (PliIndex i = 0; hold && i < pli_body_dof_count(body.get()); ++i)
        if (pli_body_rest(body.get())[3 * i + 2] < 1e-9) held.push_back(i);
    EXPECT_EQ(PLI_OK, pli_body_set_fixed(body.get(), held.data(), (PliIndex)held.size(), &err)) << err.text;
    State s(body.get());
    for (double &v : s.v) v = 0.01 * (pli_random_unit(&seed) - 0.5);
    for (PliIndex i : held) s.v[3 * i] = s.v[3 * i + 1] = s.v[3 * i + 2] = 0.0;
    const PliEnergy start = pli_body_energy(body.get(), s.x.data(), s.v.data());
    double most = 0.0;
    for (int steps = 0; steps * 0.01 < time; ++steps) {
        const PliStepInfo info = pli_body_step(body.get(), &s.view, 0.01);
        if (!info.finite) return INFINITY;
        const PliEnergy now = pli_body_energy(body.get(), s.x.data(), s.v.data());
        most = std::fmax(most, (now.kinetic + now.elastic) / (start.kinetic + start.elastic));
    }
    return most;
}

} // namespace

TEST(Rates, EnergyStaysForTwentySeconds)
{
    for (bool hold : { false, true })
        for (int j = 0; j < 6; ++j) {
            const PliIndex n = 1 + (PliIndex)(j % 2);
            Mesh mesh = box(n, n, 4 * n, 1, 1, 4, j < 2 ? 0.0 : 0.1, 7 * (uint64_t)j + 1);
            for (PliIndex i = 0; j > 1 && i < mesh->point_count; ++i) { // finer towards one end
                double *p = mesh->x + 3 * (size_t)i;
                p[2] = 4.0 * std::pow(p[2] / 4.0, 1.0 + 0.25 * j);
            }
            // positions and velocities are half a substep apart: all rates at once show 1.3 on the coarsest box
            EXPECT_LT(growth(mesh.get(), hold, true, 20.0, 1), 1.5) << "box " << j << (hold ? ", held" : ", free");
        }
}

TEST(Rates, EnergyOfABallStaysForTwentySeconds)
{
    for (PliIndex n : { 2u, 3u }) {
        Mesh mesh = box(n, n, n, 1, 1, 1, 0.1, n);
        for (PliIndex i = 0; i < mesh->point_count; ++i) { // shells of cubes become shells of balls
            double *p = mesh->x + 3 * (size_t)i, most = 0.0, length = 0.0;
            for (int d = 0; d < 3; ++d) p[d] -= 0.5, most = std::fmax(most, std::fabs(p[d])), length += p[d] * p[d];
            for (int d = 0; d < 3; ++d) p[d] *= length > 0.0 ? most / std::sqrt(length) : 1.0;
        }
        EXPECT_LT(growth(mesh.get(), false, true, 20.0, 1), 1.5) << n << " cells";
    }
}

/// Steps are whole rounds of all rates; where half of the last round would be for nothing, rounds are shorter.
TEST(Rates, AStepTakesFewSubstepsBeyondWhatItNeeds)
{
    Mesh mesh = box(2, 2, 8, 1, 1, 4, 0.1, 3);
    for (PliIndex i = 0; i < mesh->point_count; ++i) { // much finer towards one end
        double *p = mesh->x + 3 * (size_t)i;
        p[2] = 4.0 * std::pow(p[2] / 4.0, 2.5);
    }
    const PliHost host = pli_host_default();
    PliFemDef def = pli_fem_default();
    PliError err = {};
    def.mesh = mesh.get();
    def.base.multirate = PLI_RATES_OWN;
    def.base.integrator = PLI_SYMPLECTIC;
    def.base.material = { PLI_NEOHOOKEAN, 2e5, 0.35, 1000.0, 0.0 };
    Body body(pli_fem_create(&host, &def, &err));
    ASSERT_TRUE(body) << err.text;
    const int rates = pli_body_stats(body.get()).rates, period = 1 << (rates - 1);
    ASSERT_LE(3, rates);
    State s(body.get());
    const double h = pli_body_longest_substep(body.get(), s.x.data());
    for (double needed : { 1.0, period + 1.0, 2.0 * period + 1.0 }) {
        pli_body_reset(body.get(), &s.view);
        const PliStepInfo info = pli_body_step(body.get(), &s.view, (needed - 0.01) * h);
        ASSERT_TRUE(info.finite);
        EXPECT_LE(needed, info.substeps);
        EXPECT_GT(needed + 0.5 * period, info.substeps) << "of " << period << " in a round";
    }
}

// ---- slivers ---------------------------------------------------------------------------------------------------------------

namespace
{

/// A box with one inner node pressed against the face opposite, in one of its tetrahedra, to `height` of what it was.
Mesh flattened(double height)
{
    Mesh mesh = box(6, 6, 6, 1, 1, 1, 0.0, 1);
    for (PliIndex e = 0; e < mesh->tet_count; ++e) {
        const PliIndex *t = mesh->tets + 4 * (size_t)e;
        double *p = mesh->x + 3 * (size_t)t[3], foot[3] = {}, middle = 0.0;
        for (int d = 0; d < 3; ++d) middle = std::fmax(middle, std::fabs(p[d] - 0.5));
        if (middle > 0.2) continue;
        for (int k = 0; k < 3; ++k)
            for (int d = 0; d < 3; ++d) foot[d] += mesh->x[3 * (size_t)t[k] + d] / 3.0;
        for (int d = 0; d < 3; ++d) p[d] = foot[d] + height * (p[d] - foot[d]);
        break;
    }
    return mesh;
}

Body jelly(const PliMesh *mesh, double damping)
{
    PliHost host = pli_host_default();
    PliFemDef def = pli_fem_default();
    PliError err = {};
    def.mesh = mesh;
    def.base.gravity[1] = 0.0;
    def.base.material = { PLI_COROT, 1e5, 0.4, 1000.0, damping };
    Body body(pli_fem_create(&host, &def, &err));
    EXPECT_TRUE(body) << err.text;
    return body;
}

} // namespace

TEST(Slivers, TickAtTheirOwnRateUnasked)
{
    Mesh plain = flattened(1.0), flat = flattened(1e-4);
    EXPECT_EQ(1, pli_body_stats(jelly(plain.get(), 0.0).get()).rates);
    EXPECT_LT(1, pli_body_stats(jelly(flat.get(), 0.0).get()).rates);
}

TEST(Slivers, GiveUpDampingInsteadOfTheSubstep)
{
    Mesh plain = flattened(1.0), flat = flattened(0.01);
    Body a = jelly(plain.get(), 0.01), b = jelly(flat.get(), 0.01);
    EXPECT_EQ(0u, pli_body_stats(a.get()).eased);
    EXPECT_LT(0u, pli_body_stats(b.get()).eased);
    EXPECT_GT(20u, pli_body_stats(b.get()).eased) << "only those that are to blame";
    // with all its damping the sliver asks for a substep hundreds of times as short
    EXPECT_LT(pli_body_longest_substep(a.get(), pli_body_rest(a.get())),
              20.0 * pli_body_longest_substep(b.get(), pli_body_rest(b.get())));
}

TEST(Slivers, KeepMomentumAndNeverGainEnergy)
{
    Mesh mesh = flattened(0.01);
    Body body = jelly(mesh.get(), 0.01);
    State s(body.get());
    uint64_t seed = 3;
    for (double &v : s.v) v = 1.0 + 0.5 * (pli_random_unit(&seed) - 0.5);
    const PliEnergy start = pli_body_energy(body.get(), s.x.data(), s.v.data());
    double last = start.kinetic + start.elastic;
    for (int k = 0; k < 100; ++k) {
        ASSERT_TRUE(pli_body_step(body.get(), &s.view, 0.01).finite);
        const PliEnergy now = pli_body_energy(body.get(), s.x.data(), s.v.data());
        EXPECT_LT(now.kinetic + now.elastic, last * (1.0 + 1e-9)) << "step " << k;
        last = now.kinetic + now.elastic;
        for (int d = 0; d < 3; ++d) {
            EXPECT_NEAR(start.momentum[d], now.momentum[d], 1e-10 * v3_norm(start.momentum));
            EXPECT_NEAR(start.angular[d], now.angular[d], 1e-9 * v3_norm(start.angular));
        }
    }
}
