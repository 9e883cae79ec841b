/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Samples that come eight by eight with the same points have a faster way through the kernel: it must give the same bits.
#include <vector>

#include "support/fixture.h"

extern "C" {
#include "kernel/elastic.h"
}

namespace
{

/// Three cells of eight samples over 12 points each, then five samples that do not fill a pack.
std::vector<double> evaluate(bool cells, PliSimd simd)
{
    const PliHost host = pli_host_default();
    const PliIndex points = 30, count = 29, width = 12;
    PliElasticDef def{};
    def.material = pli_material_default();
    def.simd = simd;
    def.point_capacity = points, def.sample_capacity = count, def.sample_entry_capacity = count * width;
    def.sample_cells = cells;
    PliElastic *e = pli_elastic_create(&host, &def, nullptr);
    uint64_t seed = 17;
    std::vector<PliIndex> first(count + 1), point;
    std::vector<double> grad, volume(count);
    for (PliIndex s = 0; s < count; ++s) {
        for (PliIndex k = 0; k < width; ++k) point.push_back((5 * (s / 8) + 2 * k) % points);
        first[s + 1] = PliIndex(point.size());
        volume[s] = 0.5 + pli_random_unit(&seed);
    }
    for (size_t k = 0; k < 3 * point.size(); ++k) grad.push_back(pli_random_unit(&seed) - 0.5);
    EXPECT_EQ(pli_elastic_set_samples(e, points, count, first.data(), point.data(), grad.data(), volume.data(), nullptr,
                                      nullptr, nullptr),
              PLI_OK);
    std::vector<double> x = pliant_test::random_vector(&seed, 3 * points), f(6 * points, 0.0);
    pli_elastic_add_force(e, x.data(), nullptr, f.data());
    pli_elastic_linearize(e, x.data());
    pli_elastic_add_dforce(e, x.data(), 0.7, f.data() + 3 * points);
    f.push_back(pli_elastic_energy(e, x.data()));
    pli_elastic_destroy(e);
    return f;
}

} // namespace

TEST(ElasticCells, sameBitsAsSampleBySample)
{
    const std::vector<double> plain = evaluate(false, PLI_SIMD_NONE);
    for (int simd = PLI_SIMD_NONE; simd <= pli_simd_best(); ++simd)
        for (bool cells : { false, true }) EXPECT_EQ(evaluate(cells, PliSimd(simd)), plain) << simd << cells;
}
