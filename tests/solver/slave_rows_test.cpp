/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The assembled matrix of elements with slaves among their corners is W^T K W, made here as dense matrices.
extern "C" {
#include "base/hash.h"
#include "kernel/elastic.h"
#include "solver/methods.h"
}

#include <gtest/gtest.h>

#include <vector>

#include "support/fixture.h"

namespace
{

using Vec = std::vector<double>;

/// Random elements over active points, some of them fixed, and slaves; some slaves hang on nothing, and not all weights sum to 1.
struct Mixture {
    Mixture(const Mixture &) = delete;
    Mixture &operator=(const Mixture &) = delete;
    static constexpr PliIndex active = 40, slaves = 25, points = active + slaves, elements = 90;
    Vec x = Vec(3 * points), mass = Vec(active, 0.3), block = Vec(54 * elements), weight;
    std::vector<uint8_t> fixed = std::vector<uint8_t>(active, 0);
    std::vector<PliIndex> corner, first = { 0 }, column;
    PliForceOps ops = {};
    PliSystem system = {};
    PliStepMatrix a = {};
    Vec dense; ///< [3 active]^2

    static constexpr int row_of[6] = { 1, 2, 3, 2, 3, 3 }, column_of[6] = { 0, 0, 0, 1, 1, 2 };

    Mixture()
    {
        uint64_t seed = 11;
        const auto below = [&](PliIndex n) { return PliIndex(pli_random_unit(&seed) * n) % n; };
        for (double &c : x) c = pli_random_unit(&seed);
        for (PliIndex i = 0; i < active; i += 7) fixed[i] = 1;
        for (PliIndex e = 0; e < elements; ++e)
            for (int k = 0; k < 4; ++k) {
                PliIndex i = below(points);
                for (size_t c = 4 * size_t(e); c < corner.size();) {
                    if (corner[c++] != i) continue;
                    i = (i + 1) % points, c = 4 * size_t(e);
                }
                corner.push_back(i);
            }
        for (double &c : block) c = pli_random_unit(&seed) - 0.5;
        for (PliIndex s = 0; s < slaves; ++s) {
            for (PliIndex k = 0; s % 6 != 5 && k < 2 + s % 4; ++k)
                column.push_back((7 * s + 3 * k) % active), weight.push_back(pli_random_unit(&seed));
            first.push_back(PliIndex(column.size()));
        }
        ops.corners = [](void *self, const PliIndex **c, PliIndex *count) {
            *c = static_cast<Mixture *>(self)->corner.data(), *count = elements;
            return true;
        };
        ops.add_corner_blocks = [](void *self, double k, const PliIndex *place, double *value) {
            const Mixture *m = static_cast<Mixture *>(self);
            for (size_t q = 0; q < 6 * size_t(elements); ++q)
                for (size_t i = 0; i < 9; ++i)
                    value[9 * size_t(place[q] & ~PLI_PLACE_MIRRORED) + i] +=
                        k * m->block[9 * q + (place[q] & PLI_PLACE_MIRRORED ? i % 3 * 3 + i / 3 : i)];
        };
        system.active_count = active, system.slave_count = slaves, system.force = &ops, system.force_self = this;
        system.slaves = { first.data(), column.data(), weight.data(), slaves, active };
        system.x = x.data(), system.fixed = fixed.data(), system.mass = mass.data();
        a.count = active, a.mass_factor = 1.5, a.stiffness_factor = -0.7, a.x = x.data(), a.mass = mass.data();
        a.fixed = fixed.data(), a.system = &system;
        make_dense();
    }

    void make_dense()
    {
        const size_t all = 3 * points, n = 3 * active;
        Vec k(all * all, 0.0), w(points * active, 0.0), half(all * n, 0.0);
        for (size_t q = 0; q < 6 * size_t(elements); ++q) {
            const size_t i = corner[q / 6 * 4 + size_t(row_of[q % 6])],
                         j = corner[q / 6 * 4 + size_t(column_of[q % 6])];
            for (size_t r = 0; r < 3; ++r)
                for (size_t c = 0; c < 3; ++c) {
                    const double b = a.stiffness_factor * block[9 * q + 3 * r + c];
                    k[(3 * i + r) * all + 3 * j + c] += b, k[(3 * j + c) * all + 3 * i + r] += b;
                    // rows sum to zero; the sum of an element's blocks is symmetric, that of random ones is made so
                    k[(3 * i + r) * all + 3 * i + c] -= 0.5 * b, k[(3 * i + c) * all + 3 * i + r] -= 0.5 * b;
                    k[(3 * j + r) * all + 3 * j + c] -= 0.5 * b, k[(3 * j + c) * all + 3 * j + r] -= 0.5 * b;
                }
        }
        for (size_t i = 0; i < active; ++i) w[i * active + i] = 1.0;
        for (size_t s = 0; s < slaves; ++s)
            for (size_t e = first[s]; e < first[s + 1]; ++e) w[(active + s) * active + column[e]] += weight[e];
        for (size_t i = 0; i < all; ++i)
            for (size_t j = 0; j < all; ++j)
                for (size_t p = 0; p < active; ++p)
                    half[i * n + 3 * p + j % 3] += k[i * all + j] * w[j / 3 * active + p];
        dense.assign(n * n, 0.0);
        for (size_t i = 0; i < all; ++i)
            for (size_t p = 0; p < active; ++p)
                for (size_t j = 0; j < n; ++j)
                    dense[(3 * p + i % 3) * n + j] += w[i / 3 * active + p] * half[i * n + j];
        for (size_t i = 0; i < n; ++i) dense[i * n + i] += a.mass_factor * mass[i / 3];
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j)
                if (fixed[i / 3] || fixed[j / 3]) dense[i * n + j] = i == j;
    }
};

} // namespace

TEST(SlaveRows, TheAssembledMatrixGoesThroughTheTransferMap)
{
    Mixture m;
    const PliHost host = pli_host_default();
    const PliMethodKind &kind = pli_method_incomplete;
    void *self = kind.create(&host);
    ASSERT_EQ(PLI_OK, kind.ops.pattern(self, &m.a));
    kind.ops.prepare(self, &m.a);
    const size_t n = 3 * Mixture::active;
    for (size_t j = 0; j < n; ++j) {
        Vec unit(n, 0.0), y(n);
        unit[j] = 1.0;
        kind.ops.apply(self, &m.a, unit.data(), y.data());
        // diagonal blocks of random elements are not symmetric; products take them as they come, so their mean is compared
        for (size_t i = 0; i < n; ++i) {
            if (i / 3 == j / 3) continue;
            ASSERT_NEAR(y[i], m.dense[i * n + j], 1e-12) << i << " " << j;
        }
        ASSERT_NEAR(y[j], m.dense[j * n + j], 1e-12) << j;
    }
    kind.destroy(self);
}
