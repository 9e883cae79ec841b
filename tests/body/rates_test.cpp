/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Elements that tick at their own rate: kicks of slow elements must not feed the fast modes next to them.
#include <gtest/gtest.h>

#include <cmath>

#include "base/hash.h"
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
    def.base.multirate = multirate;
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
