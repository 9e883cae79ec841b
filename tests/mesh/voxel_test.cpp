/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "support/fold.h"

extern "C" {
#include "base/memory.h"
#include "mesh/voxel.h"
}

namespace
{

struct Soup {
    std::vector<double> x;
    std::vector<PliIndex> tris, tets;
    PliMesh mesh{};
    const PliMesh *view()
    {
        mesh.host = pli_host_default();
        mesh.x = x.data(), mesh.point_count = PliIndex(x.size() / 3);
        mesh.tris = tris.data(), mesh.tri_count = PliIndex(tris.size() / 3);
        mesh.tets = tets.data(), mesh.tet_count = PliIndex(tets.size() / 4);
        return &mesh;
    }
};

// A box of twelve outward triangles; inside = true turns it over.
void add_box(Soup &s, const double min[3], const double max[3], bool inside = false)
{
    const PliIndex first = PliIndex(s.x.size() / 3);
    for (int c = 0; c < 8; ++c)
        for (int a = 0; a < 3; ++a) s.x.push_back((c >> a & 1) ? max[a] : min[a]);
    const PliIndex quad[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 },
                                  { 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
    for (auto &q : quad)
        for (int half = 0; half < 2; ++half) {
            PliIndex k[3] = { q[0], q[1 + half], q[2 + half] };
            if (inside) std::swap(k[1], k[2]);
            for (PliIndex i : k) s.tris.push_back(first + i);
        }
}

Soup sphere(double radius, int rings)
{
    Soup s;
    s.x = { 0, 0, -radius };
    for (int i = 1; i < rings; ++i)
        for (int j = 0; j < 2 * rings; ++j) {
            const double t = M_PI * i / rings, p = M_PI * j / rings;
            s.x.insert(s.x.end(), { radius * std::sin(t) * std::cos(p), radius * std::sin(t) * std::sin(p),
                                    -radius * std::cos(t) });
        }
    s.x.insert(s.x.end(), { 0, 0, radius });
    const PliIndex n = PliIndex(2 * rings), last = PliIndex(s.x.size() / 3 - 1);
    for (PliIndex j = 0; j < n; ++j) {
        const PliIndex k = (j + 1) % n;
        s.tris.insert(s.tris.end(), { 0, 1 + k, 1 + j });
        for (PliIndex i = 0; i + 2 < PliIndex(rings); ++i) {
            const PliIndex a = 1 + i * n + j, b = 1 + i * n + k, c = a + n, d = b + n;
            s.tris.insert(s.tris.end(), { a, b, d, a, d, c });
        }
        const PliIndex top = 1 + PliIndex(rings - 2) * n;
        s.tris.insert(s.tris.end(), { last, top + j, top + k });
    }
    return s;
}

PliVoxels *fill(Soup &s, PliIndex resolution, PliError *err = nullptr, PliVoxelFieldFn *field = nullptr)
{
    PliVoxelDef def{};
    def.mesh = s.view();
    def.resolution = resolution;
    def.field = field;
    PliHost host = pli_host_default();
    return pli_voxels_create(&host, &def, err);
}

TEST(Voxel, ABoxIsFilledExactly)
{
    Soup s;
    const double min[3] = { -1, 2, 0 }, max[3] = { 3, 3, 0.75 };
    add_box(s, min, max);
    PliVoxels *v = fill(s, 16);
    ASSERT_TRUE(v);
    EXPECT_DOUBLE_EQ(v->h, 0.25);
    EXPECT_EQ(v->cell_count, 16u * 4u * 3u);
    EXPECT_EQ(v->corner_count, 17u * 5u * 4u);
    EXPECT_EQ(v->component_count, 1u);
    EXPECT_NEAR(v->fill, 1.0, 1e-12);
    pli_voxels_destroy(v);
}

TEST(Voxel, ASphereAgreesWithItsEquation)
{
    Soup s = sphere(1.0, 48);
    PliVoxels *v = fill(s, 31);
    ASSERT_TRUE(v);
    // a cell centre within the sagitta of the facets of the surface may go either way, no other
    PliIndex wrong = 0;
    for (PliIndex k = 0; k < v->size[2]; ++k)
        for (PliIndex j = 0; j < v->size[1]; ++j)
            for (PliIndex i = 0; i < v->size[0]; ++i) {
                const double p[3] = { v->origin[0] + v->h * (i + 0.5), v->origin[1] + v->h * (j + 0.5),
                                      v->origin[2] + v->h * (k + 0.5) };
                const double r = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
                const bool solid = v->cell_of[i + v->size[0] * (j + v->size[1] * k)] != PLI_NONE;
                if (std::fabs(r - 1.0) > 0.005 && solid != (r < 1.0)) wrong++;
            }
    EXPECT_EQ(wrong, 0u);
    EXPECT_NEAR(v->fill, 1.0, 0.03);
    pli_voxels_destroy(v);
}

TEST(Voxel, CavitiesSeveralBodiesAndMixedOrientation)
{
    const double a0[3] = { 0, 0, 0 }, a1[3] = { 8, 8, 8 }, c0[3] = { 2, 2, 2 }, c1[3] = { 6, 6, 6 },
                 b0[3] = { 10, 0, 0 }, b1[3] = { 12, 2, 2 };
    Soup s;
    add_box(s, a0, a1);
    add_box(s, c0, c1, true);
    add_box(s, b0, b1);
    PliVoxels *v = fill(s, 12);
    ASSERT_TRUE(v);
    EXPECT_EQ(v->cell_count, 512u - 64u + 8u);
    EXPECT_EQ(v->component_count, 2u);
    EXPECT_EQ(v->component[0], 0u); // the largest comes first
    pli_voxels_destroy(v);

    Soup t; // every second triangle turned over: parity still knows inside from outside
    add_box(t, a0, a1);
    for (size_t i = 0; i < t.tris.size(); i += 6) std::swap(t.tris[i], t.tris[i + 1]);
    v = fill(t, 8);
    ASSERT_TRUE(v);
    EXPECT_EQ(v->cell_count, 512u);
    pli_voxels_destroy(v);
}

TEST(Voxel, TetrahedraCarryTheirFactors)
{
    Soup s; // a cube of two halves, cut along x, each of six tetrahedra around a diagonal
    for (int half = 0; half < 2; ++half) {
        const PliIndex first = PliIndex(s.x.size() / 3);
        for (int c = 0; c < 8; ++c)
            s.x.insert(s.x.end(), { 2.0 * half + 2.0 * (c & 1), 4.0 * (c >> 1 & 1), 4.0 * (c >> 2) });
        const int path[6][2] = { { 1, 3 }, { 3, 2 }, { 2, 6 }, { 6, 4 }, { 4, 5 }, { 5, 1 } };
        for (auto &p : path)
            s.tets.insert(s.tets.end(), { first, first + PliIndex(p[0]), first + PliIndex(p[1]), first + 7 });
    }
    std::vector<double> stiffness(12, 1.0), density(12, 2.0);
    for (int t = 6; t < 12; ++t) stiffness[size_t(t)] = 10.0;
    PliVoxelDef def{};
    def.mesh = s.view();
    def.resolution = 8;
    def.tet_stiffness = stiffness.data();
    def.tet_density = density.data();
    PliHost host = pli_host_default();
    PliVoxels *v = pli_voxels_create(&host, &def, nullptr);
    ASSERT_TRUE(v);
    EXPECT_EQ(v->cell_count, 512u);
    EXPECT_NEAR(v->fill, 1.0, 1e-12);
    for (PliIndex c = 0; c < v->cell_count; ++c) {
        double p[3];
        pli_voxels_cell_centre(v, c, p);
        EXPECT_EQ(v->stiffness[c], p[0] < 2.0 ? 1.0f : 10.0f);
        EXPECT_EQ(v->density[c], 2.0f);
    }
    EXPECT_FALSE(v->uniform);
    pli_voxels_destroy(v);
}

TEST(Voxel, BadInputGetsASentence)
{
    const double min[3] = { 0, 0, 0 }, max[3] = { 1, 1, 1 };
    Soup open;
    add_box(open, min, max);
    open.tris.resize(open.tris.size() - 3);
    PliError err{};
    EXPECT_EQ(fill(open, 8, &err), nullptr);
    EXPECT_EQ(err.status, PLI_BAD_MESH);
    EXPECT_NE(std::string(err.text).find("open"), std::string::npos) << err.text;

    // two boxes that touch along an edge, each with points of its own as in files of loose triangles: four triangles there
    const double beside[3] = { 1, 1, 0 }, far[3] = { 2, 2, 1 }, apart[3] = { 1.1, 1.1, 0 };
    Soup touching, gap;
    add_box(touching, min, max), add_box(touching, beside, far);
    EXPECT_EQ(fill(touching, 8, &err), nullptr);
    EXPECT_EQ(err.status, PLI_BAD_MESH);
    EXPECT_NE(std::string(err.text).find("not manifold"), std::string::npos) << err.text;
    EXPECT_NE(std::string(err.text).find("from (1 1 0) to (1 1 1), belongs to 4 triangles, and 0 others"),
              std::string::npos)
        << err.text;
    add_box(gap, min, max), add_box(gap, apart, far);
    PliVoxels *two = fill(gap, 40, &err);
    EXPECT_TRUE(two) << err.text;
    pli_voxels_destroy(two);

    Soup box;
    add_box(box, min, max);
    EXPECT_EQ(fill(box, 0, &err), nullptr);
    EXPECT_EQ(err.status, PLI_BAD_ARGUMENT);
    EXPECT_EQ(fill(box, 8, &err,
                   [](const double *p, double *stiffness, double *, void *) {
                       if (p[0] > 0.5) *stiffness = 0.0;
                   }),
              nullptr);
    EXPECT_NE(std::string(err.text).find("stiffness factor"), std::string::npos) << err.text;

    Soup flat;
    const double thin[3] = { 1, 1, 1e-4 };
    add_box(flat, min, thin);
    PliVoxels *v = fill(flat, 4, &err);
    EXPECT_EQ(v, nullptr);
    pli_voxels_destroy(v);

    Soup empty;
    empty.x = { 0, 0, 0 };
    EXPECT_EQ(fill(empty, 8, &err), nullptr);
    EXPECT_EQ(err.status, PLI_BAD_MESH);
}

TEST(Voxel, PointsOutsideFindTheNearestCell)
{
    Soup s = sphere(1.0, 32);
    PliVoxels *v = fill(s, 20);
    ASSERT_TRUE(v);
    uint64_t state = 7;
    for (int trial = 0; trial < 300; ++trial) {
        double p[3], best = INFINITY;
        for (double &x : p) x = 3.0 * (double((state = state * 6364136223846793005u + 1) >> 11) * 0x1p-53) - 1.5;
        PliIndex cell;
        const double d = pli_voxels_find(v, p, &cell);
        for (PliIndex c = 0; c < v->cell_count; ++c) {
            double q[3], d2 = 0.0;
            pli_voxels_cell_centre(v, c, q);
            for (int a = 0; a < 3; ++a) d2 += std::pow(std::max(0.0, std::fabs(p[a] - q[a]) - 0.5 * v->h), 2);
            best = smallest_of(best, std::sqrt(d2));
        }
        EXPECT_NEAR(d, best, 1e-12);
    }
    pli_voxels_destroy(v);
}

TEST(March, IsExactlyStraightInAConvexBody)
{
    Soup s;
    const double min[3] = { 0, 0, 0 }, max[3] = { 4, 1, 1 };
    add_box(s, min, max);
    PliVoxels *v = fill(s, 40);
    PliMarch *m = pli_march_create(v);
    const double p[3] = { 0.33, 0.51, 0.07 };
    const double *d = pli_march_from(m, p, 10.0, nullptr, 0);
    for (PliIndex c = 0; c < v->corner_count; ++c) {
        double q[3];
        pli_voxels_corner_point(v, c, q);
        EXPECT_NEAR(d[c], std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]), 1e-12);
    }
    d = pli_march_from(m, p, 1.0, nullptr, 0);
    for (PliIndex c = 0; c < v->corner_count; ++c) {
        double q[3];
        pli_voxels_corner_point(v, c, q);
        EXPECT_EQ(std::isfinite(d[c]), std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) <= 1.0);
    }
    pli_march_destroy(m);
    pli_voxels_destroy(v);
}

TEST(March, GoesAroundACornerByTheShortestPath)
{
    Soup s; // two arms of an L that share a face exactly
    const double a0[3] = { 0, 0, 0 }, a1[3] = { 4, 1, 1 }, b0[3] = { 0, 1, 0 }, b1[3] = { 1, 4, 1 };
    add_box(s, a0, a1);
    add_box(s, b0, b1);
    PliVoxels *v = fill(s, 40);
    ASSERT_TRUE(v);
    ASSERT_EQ(v->component_count, 1u);
    PliMarch *m = pli_march_create(v);
    const double p[3] = { 3.5, 0.5, 0.5 };
    const double *d = pli_march_from(m, p, 100.0, nullptr, 0);
    double worst = 0.0;
    for (PliIndex c = 0; c < v->corner_count; ++c) {
        double q[3];
        pli_voxels_corner_point(v, c, q);
        double exact = INFINITY; // straight when the segment passes below the inner edge x = y = 1, else over that edge
        const double t = (q[1] - 1.0) / (q[1] - p[1]), x = q[0] + t * (p[0] - q[0]);
        if (q[1] <= 1.0 || x <= 1.0) {
            exact = std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
        } else {
            const double u = std::hypot(p[0] - 1, p[1] - 1), w = std::hypot(q[0] - 1, q[1] - 1);
            exact = std::hypot(u + w, q[2] - p[2]);
        }
        worst = largest_of(worst, std::fabs(d[c] - exact));
    }
    EXPECT_LT(worst, 1.2 * v->h); // plain marching from a point source is already off by more
    const double far[3] = { 0.5, 3.5, 0.5 };
    EXPECT_NEAR(pli_march_to(m, far), std::hypot(2.5, 0.5) * 2.0, 1.0 * v->h);
    EXPECT_FALSE(pli_voxels_see(v, p, far));
    pli_march_destroy(m);
    pli_voxels_destroy(v);
}

TEST(March, SoftMaterialIsFar)
{
    Soup s;
    const double min[3] = { 0, 0, 0 }, max[3] = { 4, 1, 1 };
    add_box(s, min, max);
    PliVoxels *v = fill(s, 40, nullptr, [](const double *p, double *stiffness, double *, void *) {
        *stiffness = p[0] < 2.0 ? 4.0 : 1.0;
    });
    PliMarch *m = pli_march_create(v);
    const double p[3] = { 0.0, 0.5, 0.5 }, end[3] = { 4.0, 0.5, 0.5 }, middle[3] = { 2.0, 0.5, 0.5 };
    pli_march_from(m, p, 100.0, nullptr, 0);
    // along the axis the distance is the integral of compliance, in units where its mean is 1
    EXPECT_NEAR(pli_march_to(m, middle), 2.0 * 0.4, 1e-6);
    EXPECT_NEAR(pli_march_to(m, end), 4.0, 0.05);
    pli_march_destroy(m);
    pli_voxels_destroy(v);
}

TEST(March, VoronoiCellsAreTheNearestPoints)
{
    Soup s = sphere(1.0, 32);
    PliVoxels *v = fill(s, 32);
    PliMarch *m = pli_march_create(v);
    const double points[12] = { 0.5, 0, 0, -0.5, 0.1, 0, 0, 0.4, 0.6, 0, -0.3, -0.6 };
    std::vector<PliIndex> owner(v->corner_count);
    std::vector<double> distance(v->corner_count);
    pli_march_voronoi(m, points, 4, owner.data(), distance.data());
    PliIndex wrong = 0;
    for (PliIndex c = 0; c < v->corner_count; ++c) {
        double q[3], d[4], best = INFINITY;
        pli_voxels_corner_point(v, c, q);
        for (int i = 0; i < 4; ++i) {
            d[i] = std::hypot(points[3 * i] - q[0], points[3 * i + 1] - q[1], points[3 * i + 2] - q[2]);
            best = smallest_of(best, d[i]);
        }
        ASSERT_NE(owner[c], PLI_NONE);
        if (d[owner[c]] > best + 2.5 * v->h) wrong++; // fronts of two owners mix where they meet
        EXPECT_GT(distance[c], best - 1e-12);
        EXPECT_LT(distance[c], best + 1.5 * v->h);
    }
    EXPECT_LT(wrong, v->corner_count / 200);

    PliVoxels *coarse = pli_voxels_coarsen(v);
    ASSERT_TRUE(coarse);
    EXPECT_NEAR(coarse->h, 2.0 * v->h, 1e-15);
    EXPECT_EQ(coarse->component_count, 1u);
    for (PliIndex c = 0; c < v->cell_count; ++c) { // nothing solid is lost
        double q[3];
        PliIndex cell;
        pli_voxels_cell_centre(v, c, q);
        EXPECT_EQ(pli_voxels_find(coarse, q, &cell), 0.0);
    }
    pli_voxels_destroy(coarse);
    pli_march_destroy(m);
    pli_voxels_destroy(v);
}

} // namespace
