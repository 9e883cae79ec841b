/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What scenes/meshes/README.md promises about the shipped meshes.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "mesh/support.h"

#include "support/fold.h"

extern "C" {
#include "mesh/tet.h"
}

namespace
{

MeshPtr load(const std::string &name)
{
    PliHost host = pli_host_default();
    PliError err{};
    MeshPtr m(pli_mesh_read(&host, (std::string(PLIANT_SOURCE_DIR) + "/scenes/meshes/" + name).c_str(), &err));
    EXPECT_TRUE(m) << err.text;
    return m;
}

/// Every edge of the surface is used once each way: closed, turned one way, and no edge shared by four triangles.
void expect_closed(const PliMesh &m)
{
    std::map<std::pair<PliIndex, PliIndex>, int> half;
    for (PliIndex t = 0; t < m.tri_count; ++t)
        for (int k = 0; k < 3; ++k) half[{ m.tris[3 * t + k], m.tris[3 * t + (k + 1) % 3] }]++;
    for (auto &[edge, uses] : half) {
        ASSERT_EQ(uses, 1);
        ASSERT_EQ(half.count({ edge.second, edge.first }), 1u);
    }
}

/// One body without holes: every node used, closed surface of one sphere, good tets.
void expect_good(const std::string &name, double volume, PliIndex fewest, PliIndex most, double worst)
{
    MeshPtr m = load(name);
    ASSERT_TRUE(m);
    PliError err{};
    EXPECT_GE(m->point_count, fewest) << name;
    EXPECT_LE(m->point_count, most) << name;
    EXPECT_EQ(m->flipped, 0u) << name;
    EXPECT_EQ(pli_mesh_check_tets(m.get(), worst, &err), PLI_OK) << name << ": " << err.text;
    EXPECT_NEAR(pli_mesh_volume(m.get()), volume, 1e-4 * volume) << name;
    ASSERT_EQ(pli_mesh_find_surface(m.get()), PLI_OK);
    expect_closed(*m);
    std::vector<char> used(m->point_count), outer(m->point_count);
    for (size_t i = 0; i < 4 * size_t(m->tet_count); ++i) used[m->tets[i]] = 1;
    for (size_t i = 0; i < 3 * size_t(m->tri_count); ++i) outer[m->tris[i]] = 1;
    EXPECT_EQ(size_t(std::count(used.begin(), used.end(), 1)), m->point_count) << name;
    // V - E + F = 2 with E = 3F/2: one closed surface without handles
    EXPECT_EQ(2 * std::count(outer.begin(), outer.end(), 1), long(m->tri_count) + 4) << name;
}

TEST(MeshAssets, Liver)
{
    const double volume = 0.0009556;
    expect_good("liver_0.msh", volume, 80, 130, 0.4);
    expect_good("liver_1.msh", volume, 600, 800, 0.4);
    expect_good("liver_2.msh", volume, 3000, 4000, 0.4);
    expect_good("liver_3.msh", volume, 12000, 20000, 0.4);
    MeshPtr skin = load("liver_surface.obj");
    ASSERT_TRUE(skin);
    EXPECT_NEAR(skin->tri_count, 5000, 250);
    expect_closed(*skin);
    // the skin lies on the finest level: within a fraction of its edge length
    MeshPtr fine = load("liver_3.msh");
    PliHost host = pli_host_default();
    LocatorPtr l(pli_locator_create(&host, fine->x, fine->point_count, fine->tets, fine->tet_count));
    double most = 0;
    for (PliIndex i = 0; i < skin->point_count; ++i) {
        PliIndex tet;
        double w[4];
        most = largest_of(most, pli_locator_find(l.get(), skin->x + 3 * i, &tet, w));
    }
    EXPECT_LT(most, 1e-3);
}

TEST(MeshAssets, SphereBarBox)
{
    const double sphere = 4.0 / 3 * 3.14159265358979;
    expect_good("sphere_0.msh", sphere, 50, 75, 0.4);
    expect_good("sphere_1.msh", sphere, 220, 280, 0.4);
    expect_good("sphere_2.msh", sphere, 1100, 1400, 0.4);
    for (int level = 0; level < 4; ++level) {
        expect_good("bar_" + std::to_string(level) + ".msh", 4.0, 30, 800, 0.3);
        expect_good("box_" + std::to_string(level) + ".msh", 1.0, 40, 1000, 0.3);
    }
}

TEST(MeshAssets, DebunneCubesHaveTheirExactSizes)
{
    for (PliIndex count : { 27u, 57u, 135u })
        for (int variant = 0; variant < 4; ++variant)
            expect_good("cube_" + std::to_string(count) + "_" + std::to_string(variant) + ".msh", 1.0, count, count,
                        0.3);
}

TEST(MeshAssets, LevelsAreNotNested)
{
    // apart from the corners of boxes, levels share next to no nodes
    for (const char *name : { "liver", "sphere", "bar", "box" }) {
        MeshPtr coarse = load(std::string(name) + "_1.msh"), fine = load(std::string(name) + "_2.msh");
        PliIndex shared = 0;
        for (PliIndex i = 0; i < coarse->point_count; ++i)
            for (PliIndex j = 0; j < fine->point_count; ++j)
                shared += v3_distance(coarse->x + 3 * i, fine->x + 3 * j) < 1e-6;
        EXPECT_LT(shared, 0.25 * coarse->point_count) << name;
    }
}

} // namespace
