/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "base/hash.h"
#include "scheme/octree/active.h"
}

namespace
{

// A box of cells, or what `inside` keeps of it.
struct Tree {
    PliHost host = pli_host_default();
    PliMesh *mesh = nullptr;
    PliVoxels *voxels = nullptr;
    PliOctreeTree *tree = nullptr;
    Tree(double x, double y, double z, PliIndex resolution, int levels)
    {
        PliBoxDef box = {};
        const double max[3] = { x, y, z };
        for (int a = 0; a < 3; ++a) box.max[a] = max[a], box.cells[a] = 2;
        PliError err = {};
        mesh = pli_mesh_box(&host, &box, &err);
        build(resolution, levels);
    }
    Tree(const char *file, PliIndex resolution, int levels)
    {
        PliError err = {};
        const std::string path = std::string(PLIANT_SOURCE_DIR) + "/scenes/" + file;
        mesh = pli_mesh_read(&host, path.c_str(), &err);
        EXPECT_TRUE(mesh) << err.text;
        build(resolution, levels);
    }
    void build(PliIndex resolution, int levels)
    {
        PliError err = {};
        PliVoxelDef def = {};
        def.mesh = mesh;
        def.resolution = resolution;
        voxels = pli_voxels_create(&host, &def, &err);
        EXPECT_TRUE(voxels) << err.text;
        tree = pli_octree_tree_create(&host, voxels, levels, &err);
        EXPECT_TRUE(tree) << err.text;
    }
    ~Tree()
    {
        pli_octree_tree_destroy(tree);
        pli_voxels_destroy(voxels);
        pli_mesh_destroy(mesh);
    }
};

TEST(OctreeTree, InteriorCellHas89PotentialNeighbours)
{
    Tree t(1, 1, 1, 16, 4);
    PliIndex most = 0;
    for (PliIndex c = 0; c < t.tree->cell_count; ++c) most = std::max(most, t.tree->first[c + 1] - t.tree->first[c]);
    EXPECT_EQ(most, 89u);
    for (PliIndex c = 0; c < t.tree->cell_count; ++c)
        for (PliIndex e = t.tree->first[c]; e < t.tree->first[c + 1]; ++e) {
            EXPECT_EQ(t.tree->potential[t.tree->mirror[e]], c);
            EXPECT_EQ(t.tree->mirror[t.tree->mirror[e]], e);
        }
}

TEST(OctreeTree, MothersWeighWhatTheirDaughtersWeighAndAreWhereTheyBalance)
{
    Tree t("meshes/liver_surface.obj", 20, 4);
    const PliOctreeTree *o = t.tree;
    std::vector<double> mass(o->level_count), centre(3 * o->level_count), area(3 * o->level_count);
    for (PliIndex c = 0; c < o->cell_count; ++c) {
        const int l = o->cell[c].level;
        mass[l] += o->volume[c];
        for (int k = 0; k < 3; ++k) centre[3 * l + k] += o->volume[c] * o->rest[3 * c + k];
        for (int s = 0; s < 6; ++s)
            if (o->cell[c].wall[s] != PLI_NONE)
                area[3 * l + s / 2] += (s & 1 ? 1 : -1) * o->wall_area[o->cell[c].wall[s]];
    }
    for (int l = 1; l < o->level_count; ++l) {
        EXPECT_NEAR(mass[l] / mass[0], 1.0, 1e-13);
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(centre[3 * l + k] / mass[l], centre[k] / mass[0], 1e-12);
    }
    for (double a : area) EXPECT_NEAR(a, 0.0, 1e-9); // the faces that look outside close
}

TEST(OctreeTree, NeighboursAreMutualAndEverySideHasOneOrLooksOutside)
{
    Tree t(1, 1, 1, 8, 2);
    for (PliIndex c = 0; c < t.tree->cell_count; ++c)
        for (int side = 0; side < 6; ++side) {
            const PliIndex n = t.tree->cell[c].neighbour[side];
            if (n != PLI_NONE) {
                EXPECT_EQ(t.tree->cell[n].neighbour[side ^ 1], c);
            }
            EXPECT_NE(n == PLI_NONE, t.tree->cell[c].wall[side] == PLI_NONE);
        }
}

TEST(OctreeActive, RandomSplitsAndMergesKeepBalanceMassAndLists)
{
    struct Case {
        const char *file;
        PliIndex resolution;
        int levels;
    };
    for (const Case &k : { Case{ nullptr, 8, 3 }, Case{ "meshes/liver_surface.obj", 12, 4 } }) {
        Tree t = k.file ? Tree(k.file, k.resolution, k.levels) : Tree(2, 1, 1, k.resolution, k.levels);
        PliOctreeActive a;
        ASSERT_EQ(pli_octree_active_init(&a, t.tree), PLI_OK);
        pli_octree_active_start(&a, 0);
        uint64_t seed = 7;
        double total = 0;
        for (PliIndex c = 0; c < t.tree->level_first[1]; ++c) total += t.tree->volume[c];
        int splits = 0, merges = 0, forced = 0;
        for (int event = 0; event < 10000; ++event) {
            const bool split = pli_random_unit(&seed) < (event / 500 % 2 ? 0.3 : 0.7);
            // one of those there are, so that hardly any draw is wasted
            std::vector<PliIndex> may;
            for (PliIndex c = 0; c < t.tree->cell_count; ++c)
                if (split ? a.is_active[c] && pli_octree_has_children(t.tree, c) : pli_octree_may_merge(&a, c))
                    may.push_back(c);
            if (may.empty()) continue;
            const PliIndex cell = may[pli_random(&seed) % may.size()];
            if (split) {
                const PliIndex *order;
                const PliIndex count = pli_octree_plan_split(&a, cell, &order),
                               more = pli_octree_plan_growth(t.tree, order, count), before = a.count;
                const std::vector<PliIndex> plan(order, order + count);
                for (PliIndex c : plan) {
                    ASSERT_TRUE(pli_octree_may_split(&a, c));
                    pli_octree_split(&a, c);
                }
                EXPECT_EQ(a.count, before + more);
                splits++, forced += count > 1;
            } else {
                pli_octree_merge(&a, cell);
                merges++;
            }
            if (event % 5) continue; // brute force compares all pairs
            PliError err = {};
            ASSERT_TRUE(pli_octree_active_is_valid(&a, &err)) << err.text;
            double mass = 0;
            for (PliIndex c = 0; c < t.tree->cell_count; ++c) mass += a.is_active[c] ? t.tree->volume[c] : 0.0;
            ASSERT_NEAR(mass / total, 1.0, 1e-12);
        }
        EXPECT_GT(splits, 2000);
        EXPECT_GT(merges, 2000);
        EXPECT_GT(forced, 20);
        pli_octree_active_free(&a);
    }
}

} // namespace
