/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include "base/memory.h"
#include "scheme/frames/layout.h"
}

namespace
{

PliMesh *box(double x, double y, double z)
{
    PliHost host = pli_host_default();
    PliBoxDef def{};
    def.max[0] = x, def.max[1] = y, def.max[2] = z;
    def.cells[0] = def.cells[1] = def.cells[2] = 2;
    return pli_mesh_box(&host, &def, nullptr);
}

struct Fixture {
    PliHost host = pli_host_default();
    PliMesh *mesh;
    PliVoxels *v = nullptr;
    PliFrameLayout *l = nullptr;
    PliError err{};
    explicit Fixture(PliMesh *m) : mesh(m) {}
    bool make(PliFramesDef def)
    {
        PliVoxelDef vd{};
        vd.mesh = mesh;
        vd.resolution = def.resolution;
        v = pli_voxels_create(&host, &vd, &err);
        if (v) l = pli_frame_layout_create(&host, v, &def, &err);
        return l != nullptr;
    }
    ~Fixture()
    {
        pli_frame_layout_destroy(l);
        pli_voxels_destroy(v);
        pli_mesh_destroy(mesh);
    }
};

void expect_partition(const Fixture &f)
{
    for (PliIndex c = 0; c < f.l->corner_count; ++c) {
        double sum = 0.0;
        ASSERT_GT(f.l->phi_count[c], 0u);
        for (PliIndex e = f.l->phi_first[c]; e < f.l->phi_first[c] + f.l->phi_count[c]; ++e) {
            EXPECT_GT(f.l->phi[e], 0.0);
            sum += f.l->phi[e];
        }
        ASSERT_NEAR(sum, 1.0, 4e-16 * PLI_FRAMES_PER_CORNER);
    }
    for (PliIndex i = 0; i < f.l->count; ++i) {
        double sum = 0.0;
        for (PliIndex e = f.l->parent_first[i]; e < f.l->parent_first[i + 1]; ++e) {
            EXPECT_LT(f.l->parent[e], i);
            EXPECT_LT(f.l->level[f.l->parent[e]], f.l->level[i]);
            sum += f.l->parent_weight[e];
        }
        EXPECT_NEAR(sum, f.l->level[i] ? 1.0 : 0.0, 1e-14);
        if (i) {
            EXPECT_GE(f.l->level[i], f.l->level[i - 1]);
        }
        PliIndex cell;
        EXPECT_LT(pli_voxels_find(f.v, f.l->x + 3 * i, &cell), 1e-12);
    }
}

TEST(FramesLayout, AChainIsEvenOnTheAxisAndExactlyLinear)
{
    Fixture f(box(10, 1, 1));
    const double ends[6] = { 0, 0.5, 0.5, 10, 0.5, 0.5 };
    PliFramesDef def = pli_frames_default();
    def.resolution = 80;
    def.frame_count = 9;
    def.anchors = ends;
    def.anchor_count = 2;
    ASSERT_TRUE(f.make(def)) << f.err.text;
    expect_partition(f);
    std::vector<double> at;
    for (PliIndex i = 0; i < 9; ++i) {
        EXPECT_NEAR(f.l->x[3 * i + 1], 0.5, 0.02);
        EXPECT_NEAR(f.l->x[3 * i + 2], 0.5, 0.02);
        at.push_back(f.l->x[3 * i]);
    }
    std::sort(at.begin(), at.end());
    for (int i = 1; i < 9; ++i) EXPECT_NEAR(at[i] - at[i - 1], 1.25, 0.35);
    // two frames everywhere; on the axis each falls linearly from its place to its neighbours'
    for (PliIndex c = 0; c < f.l->corner_count; ++c) {
        double q[3];
        pli_voxels_corner_point(f.v, c, q);
        ASSERT_LE(f.l->phi_count[c], 3u);
        double x = 0.0; // linear weights reproduce the coordinate itself
        for (PliIndex e = f.l->phi_first[c]; e < f.l->phi_first[c] + f.l->phi_count[c]; ++e)
            x += f.l->phi[e] * f.l->x[3 * f.l->phi_frame[e]];
        EXPECT_NEAR(x, q[0], 0.03);
    }
}

TEST(FramesLayout, EveryShapeIsAPartitionOfUnity)
{
    for (PliFrameShape shape : { PLI_FRAMES_LINEAR, PLI_FRAMES_SMOOTH }) {
        Fixture f(box(2, 1.5, 1));
        PliFramesDef def = pli_frames_default();
        def.resolution = 24;
        def.frame_count = 30;
        def.shape = shape;
        ASSERT_TRUE(f.make(def)) << f.err.text;
        expect_partition(f);
        // gradients are those of the interpolated weights
        PliIndex frame[PLI_FRAMES_PER_POINT], other[PLI_FRAMES_PER_POINT];
        double phi[PLI_FRAMES_PER_POINT], up[PLI_FRAMES_PER_POINT], grad[PLI_FRAMES_PER_POINT][3],
            mixed[PLI_FRAMES_PER_POINT][3];
        for (PliIndex cell = 0; cell < f.v->cell_count; cell += 97)
            for (int a = 0; a < 3; ++a) {
                const double t[3] = { 0.3, 0.6, 0.2 }, step = 1e-6;
                double s[3] = { t[0], t[1], t[2] };
                s[a] += step;
                const PliIndex n = pli_frame_shape(f.l, f.v, cell, t, frame, phi, grad, mixed);
                ASSERT_EQ(pli_frame_shape(f.l, f.v, cell, s, other, up, nullptr, nullptr), n);
                for (PliIndex k = 0; k < n; ++k) EXPECT_NEAR((up[k] - phi[k]) / (step * f.v->h), grad[k][a], 1e-6);
            }
    }
}

TEST(FramesLayout, SeparatePiecesGetAFrameEachUnderOneRoot)
{
    Fixture f(box(1, 1, 1));
    // a second cube beside the first
    PliMesh *m = f.mesh;
    const PliIndex points = m->point_count, tets = m->tet_count;
    ASSERT_EQ(pli_mesh_resize_points(m, 2 * points), PLI_OK);
    ASSERT_EQ(pli_mesh_resize_cells(m, PLI_TET, 2 * tets), PLI_OK);
    for (PliIndex i = 0; i < 3 * points; ++i) m->x[3 * points + i] = m->x[i] + (i % 3 == 0 ? 2.0 : 0.0);
    for (PliIndex i = 0; i < 4 * tets; ++i) m->tets[4 * tets + i] = m->tets[i] + points;
    PliFramesDef def = pli_frames_default();
    def.resolution = 30;
    def.frame_count = 8;
    ASSERT_TRUE(f.make(def)) << f.err.text;
    ASSERT_EQ(f.v->component_count, 2u);
    expect_partition(f);
    for (PliIndex c = 0; c < f.l->corner_count; ++c) { // no frame acts across the gap
        double q[3];
        pli_voxels_corner_point(f.v, c, q);
        for (PliIndex e = f.l->phi_first[c]; e < f.l->phi_first[c] + f.l->phi_count[c]; ++e)
            EXPECT_EQ(f.l->x[3 * f.l->phi_frame[e]] < 1.5, q[0] < 1.5);
    }
}

TEST(FramesLayout, RefusesWhatCannotBe)
{
    const double outside[3] = { 5, 5, 5 };
    {
        Fixture f(box(1, 1, 1));
        PliFramesDef def = pli_frames_default();
        def.anchors = outside;
        def.anchor_count = 1;
        EXPECT_FALSE(f.make(def));
        EXPECT_NE(std::string(f.err.text).find("outside the voxel grid"), std::string::npos) << f.err.text;
    }
    {
        Fixture f(box(1, 1, 1));
        PliFramesDef def = pli_frames_default();
        def.frame_count = 0;
        EXPECT_FALSE(f.make(def));
    }
}

} // namespace
