/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_OCTREE_RIG_H
#define PLIANT_OCTREE_RIG_H

#include <string>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "base/hash.h"
#include "base/vec.h"
#include "scheme/octree/operator.h"
}

/// A tree, an active set and an operator, without a body.
struct OctreeRig {
    PliHost host = pli_host_default();
    PliMesh *mesh = nullptr;
    PliVoxels *voxels = nullptr;
    PliOctreeTree *tree = nullptr;
    PliOctreeActive active = {};
    PliOctreeOperator op = {}, spare = {};
    PliMaterial material = pli_material_default();
    std::vector<uint8_t> held;

    OctreeRig(double x, double y, double z, PliIndex resolution, int levels, bool paper = false, double poisson = 0.3)
    {
        PliBoxDef box = {};
        const double max[3] = { x, y, z };
        for (int a = 0; a < 3; ++a) box.max[a] = max[a], box.cells[a] = 2;
        PliError err = {};
        mesh = pli_mesh_box(&host, &box, &err);
        build(resolution, levels, paper, poisson);
    }
    OctreeRig(const char *file, PliIndex resolution, int levels, bool paper = false, double poisson = 0.3)
    {
        PliError err = {};
        mesh = pli_mesh_read(&host, (std::string(PLIANT_SOURCE_DIR) + "/scenes/" + file).c_str(), &err);
        EXPECT_TRUE(mesh) << err.text;
        build(resolution, levels, paper, poisson);
    }
    /// Takes the mesh over.
    OctreeRig(PliMesh *own, PliIndex resolution, int levels) : mesh(own) { build(resolution, levels, false, 0.3); }
    OctreeRig(const OctreeRig &) = delete;
    ~OctreeRig()
    {
        pli_octree_operator_free(&op);
        pli_octree_operator_free(&spare);
        pli_octree_active_free(&active);
        pli_octree_tree_destroy(tree);
        pli_voxels_destroy(voxels);
        pli_mesh_destroy(mesh);
    }
    void build(PliIndex resolution, int levels, bool paper, double poisson)
    {
        PliError err = {};
        PliVoxelDef def = {};
        def.mesh = mesh;
        def.resolution = resolution;
        voxels = pli_voxels_create(&host, &def, &err);
        ASSERT_TRUE(voxels) << err.text;
        tree = pli_octree_tree_create(&host, voxels, levels, &err);
        ASSERT_TRUE(tree) << err.text;
        ASSERT_EQ(pli_octree_active_init(&active, tree), PLI_OK);
        material.law = PLI_COROT;
        material.poisson = poisson;
        ASSERT_EQ(pli_octree_operator_init(&op, &active, &material, paper, &err), PLI_OK) << err.text;
        ASSERT_EQ(pli_octree_operator_init(&spare, &active, &material, paper, &err), PLI_OK) << err.text;
        held.assign(tree->wall_count, 0);
        start(0);
    }
    void start(int level)
    {
        pli_octree_active_start(&active, level);
        rebuild();
    }
    void rebuild() { pli_octree_operator_build(&op, held.data()); }
    /// Taking over what the operator before has, a piece at a time.
    void remake(double piece)
    {
        pli_octree_operator_begin(&spare, held.data(), &op);
        for (double work = piece; !pli_octree_operator_continue(&spare, &work); work = piece) {}
        pli_octree_operator_swap(&op, &spare);
    }
    void split(PliIndex cell)
    {
        const PliIndex *order;
        const PliIndex count = pli_octree_plan_split(&active, cell, &order);
        const std::vector<PliIndex> plan(order, order + count);
        for (PliIndex c : plan) pli_octree_split(&active, c);
    }
    /// Splits what lies in a ball until the finest level.
    void refine(double x, double y, double z, double radius)
    {
        const double p[3] = { x, y, z };
        for (bool again = true; again;) {
            again = false;
            for (PliIndex c = 0; c < tree->cell_count && !again; ++c)
                if (active.is_active[c] && pli_octree_has_children(tree, c) &&
                    v3_distance(tree->rest + 3 * c, p) < radius)
                    split(c), again = true;
        }
        rebuild();
    }
    void random(uint64_t seed, int events)
    {
        for (int i = 0; i < events; ++i) {
            const PliIndex c = PliIndex(pli_random(&seed) % tree->cell_count);
            if (active.is_active[c] && pli_octree_has_children(tree, c)) split(c);
        }
        rebuild();
    }
    /// Clamps the faces that look into a direction.
    void hold(int side)
    {
        double far = side & 1 ? -1e300 : 1e300;
        for (PliIndex w = 0; w < tree->wall_count; ++w)
            if (tree->wall_side[w] == side)
                far = side & 1 ? std::max(far, tree->wall_rest[3 * w + side / 2])
                               : std::min(far, tree->wall_rest[3 * w + side / 2]);
        for (PliIndex w = 0; w < tree->wall_count; ++w)
            held[w] =
                held[w] || (tree->wall_side[w] == side && std::fabs(tree->wall_rest[3 * w + side / 2] - far) < 1e-9);
        rebuild();
    }
    size_t values() const { return 3 * size_t(op.count + op.wall_count); }
    std::vector<double> rest() const { return std::vector<double>(op.rest, op.rest + values()); }
    std::vector<double> linear(const std::vector<double> &d)
    {
        std::vector<double> f(values());
        pli_octree_add_linear(&op, nullptr, d.data(), 1.0, f.data());
        return f;
    }
    std::vector<double> force(const std::vector<double> &x)
    {
        std::vector<double> f(values());
        pli_octree_add_force(&op, x.data(), nullptr, f.data());
        return f;
    }
    /// All 26 places around a cell are matter: active cells there, of any level.
    bool is_interior(PliIndex point) const
    {
        const PliOctreeCell &c = tree->cell[op.cell[point]];
        for (int n = 0; n < 27; ++n) {
            const int32_t at[3] = { c.at[0] + n % 3 - 1, c.at[1] + n / 3 % 3 - 1, c.at[2] + n / 9 - 1 };
            const PliIndex o = pli_octree_tree_at(tree, c.level, at);
            if (o == PLI_NONE || std::fabs(tree->volume[o] - tree->volume[op.cell[point]]) > 1e-9 * tree->volume[o])
                return false;
        }
        return true;
    }
};

#endif
