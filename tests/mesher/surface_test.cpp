/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "evidence/shapes.h"
#include "mesher/lattice.h"
#include "mesher/quality.h"
#include "mesher/remesh.h"
#include "mesher/surface.h"
}

namespace
{

struct MeshFree {
    void operator()(PliMesh *m) const { pli_mesh_destroy(m); }
};
using MeshHandle = std::unique_ptr<PliMesh, MeshFree>;

MeshHandle make(const std::vector<double> &x, const std::vector<PliIndex> &tris)
{
    PliHost host = pli_host_default();
    MeshHandle m(pli_mesh_create(&host));
    EXPECT_EQ(pli_mesh_resize_points(m.get(), PliIndex(x.size() / 3)), PLI_OK);
    EXPECT_EQ(pli_mesh_resize_cells(m.get(), PLI_TRI, PliIndex(tris.size() / 3)), PLI_OK);
    std::memcpy(m->x, x.data(), x.size() * sizeof(double));
    std::memcpy(m->tris, tris.data(), tris.size() * sizeof(PliIndex));
    return m;
}

const std::vector<double> corners = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
const std::vector<PliIndex> outward = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };

struct Cleaned {
    MeshHandle mesh;
    PliSurfaceFacts facts;
    std::string sentence;
};

Cleaned clean(const PliMesh *in)
{
    PliHost host = pli_host_default();
    PliError err{};
    Cleaned c;
    c.mesh.reset(pli_surface_clean(&host, in, &c.facts, &err));
    c.sentence = err.text;
    return c;
}

TEST(SurfaceClean, TurnsTrianglesAlikeAndOutward)
{
    std::vector<PliIndex> tris = outward;
    std::swap(tris[4], tris[5]);
    const Cleaned one = clean(make(corners, tris).get());
    ASSERT_TRUE(one.mesh) << one.sentence;
    EXPECT_EQ(one.facts.turned, 1u);
    EXPECT_NEAR(one.facts.volume, 1.0 / 6, 1e-15);
    for (size_t t = 0; t < 4; ++t) std::swap(tris[3 * t + 1], tris[3 * t + 2]); // now three are wrong
    const Cleaned three = clean(make(corners, tris).get());
    ASSERT_TRUE(three.mesh);
    EXPECT_EQ(three.facts.turned, 3u);
    EXPECT_NEAR(pli_surface_volume(three.mesh.get()), 1.0 / 6, 1e-15);
}

TEST(SurfaceClean, WeldsPointsOfATriangleSoup)
{
    std::vector<double> x;
    std::vector<PliIndex> tris;
    for (PliIndex c : outward) {
        tris.push_back(PliIndex(x.size() / 3));
        x.insert(x.end(), corners.begin() + 3 * c, corners.begin() + 3 * c + 3);
    }
    tris.insert(tris.end(), { 0, 0, 1 });
    const Cleaned c = clean(make(x, tris).get());
    ASSERT_TRUE(c.mesh) << c.sentence;
    EXPECT_EQ(c.facts.welded, 8u);
    EXPECT_EQ(c.facts.flat, 1u);
    EXPECT_EQ(c.mesh->point_count, 4u);
    EXPECT_EQ(c.mesh->tri_count, 4u);
}

TEST(SurfaceClean, DrawsCrumplesSmoothAndLeavesEdges)
{
    PliHost host = pli_host_default();
    MeshHandle ball(pli_shape_make(&host, PLI_SHAPE_BUMPY, 2000)), plate(pli_shape_make(&host, PLI_SHAPE_PLATE, 600));
    EXPECT_EQ(clean(ball.get()).facts.folded, 0u);
    EXPECT_EQ(clean(plate.get()).facts.folded, 0u); // edges of 90 degrees stay
    // pull one point over the triangle across: what it leaves lies folded
    const PliIndex p = ball->tris[300];
    double far[3] = { 0, 0, 0 };
    int around = 0;
    for (PliIndex i = 0; i < 3 * ball->tri_count; ++i)
        if (ball->tris[i] == p && around++ < 1)
            for (int d = 0; d < 3; ++d) far[d] = ball->x[3 * ball->tris[i % 3 == 2 ? i - 2 : i + 1] + d];
    for (int d = 0; d < 3; ++d) ball->x[3 * p + d] += 1.15 * (far[d] - ball->x[3 * p + d]);
    const Cleaned once = clean(ball.get());
    ASSERT_TRUE(once.mesh) << once.sentence;
    EXPECT_GT(once.facts.folded, 0u);
    EXPECT_EQ(clean(once.mesh.get()).facts.folded, 0u);
}

TEST(SurfaceCut, LongSidesAreCutAndTheShapeStays)
{
    PliHost host = pli_host_default();
    // long sides all over, some, and none; one of them long and thin
    std::vector<double> needle = corners;
    needle[3] = 40.0;
    for (double longest : { 0.1, 0.7, 50.0 })
        for (const auto &x : { corners, needle }) {
            MeshHandle m = make(x, outward);
            const double volume = pli_surface_volume(m.get()), area = pli_surface_area(m.get());
            ASSERT_EQ(pli_surface_cut_long(m.get(), longest, 1u << 22), PLI_OK);
            EXPECT_EQ(m->tri_count == 4, longest == 50.0);
            EXPECT_NEAR(pli_surface_volume(m.get()), volume, 1e-12 * volume);
            EXPECT_NEAR(pli_surface_area(m.get()), area, 1e-12 * area);
            EXPECT_EQ(int(m->point_count) - int(3 * m->tri_count / 2) + int(m->tri_count), 2); // Euler
            std::vector<PliIndex> opposite(3 * m->tri_count);
            ASSERT_TRUE(pli_surface_opposites(&host, m->tris, m->tri_count, opposite.data()));
            for (PliIndex s = 0; s < 3 * m->tri_count; ++s) {
                const PliIndex a = m->tris[s], b = m->tris[s % 3 == 2 ? s - 2 : s + 1];
                ASSERT_NE(opposite[s], PLI_NONE);
                EXPECT_EQ(m->tris[opposite[s]], b); // neighbours run the other way along a side
                double square = 0.0;
                for (int d = 0; d < 3; ++d) square += std::pow(m->x[3 * a + d] - m->x[3 * b + d], 2);
                EXPECT_LE(std::sqrt(square), longest);
            }
        }
    // corners alone leave a remesher to guess: triangles of a cube that is not cut fold over each other
    std::vector<double> x;
    for (int k = 0; k < 8; ++k) x.insert(x.end(), { double(k & 1), double(k >> 1 & 1), double(k >> 2) });
    MeshHandle cube = make(x, { 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6 });
    ASSERT_EQ(pli_surface_cut_long(cube.get(), 1.0 / 16.0, 1u << 20), PLI_OK);
    for (double size : { 0.147, 0.0818 }) {
        double at[3];
        MeshHandle skin(pli_surface_remesh(&host, cube.get(), size, nullptr));
        ASSERT_TRUE(skin);
        EXPECT_EQ(pli_surface_crossings(&host, skin.get(), at), 0u) << size;
    }
    MeshHandle few = make(corners, outward); // no more than it may have
    ASSERT_EQ(pli_surface_cut_long(few.get(), 1e-6, 100), PLI_OK);
    EXPECT_EQ(few->tri_count, 64u);
}

TEST(SurfaceClean, RefusesWithThePlace)
{
    PliHost host = pli_host_default();
    MeshHandle open(pli_shape_make(&host, PLI_SHAPE_HANDLE, 500));
    open->tri_count--;
    EXPECT_NE(clean(open.get()).sentence.find("not closed: 3 edges"), std::string::npos);
    open->tri_count++;

    std::vector<double> x = corners; // a fin on the edge 0-1
    x.insert(x.end(), { 0.5, -1, -1 });
    std::vector<PliIndex> fin = outward;
    fin.insert(fin.end(), { 0, 1, 4 });
    EXPECT_FALSE(clean(make(x, fin).get()).mesh);

    x = corners;
    std::vector<PliIndex> two = outward;
    for (size_t i = 0; i < 12; ++i) x.push_back(corners[i] + 5);
    for (PliIndex c : outward) two.push_back(c + 4);
    EXPECT_NE(clean(make(x, two).get()).sentence.find("2 separate pieces"), std::string::npos);
    for (size_t i = 12; i < 24; ++i) x[i] = corners[i - 12] - (i % 3 == 0 ? 1.0 : 0.0); // they touch in one point
    EXPECT_NE(clean(make(x, two).get()).sentence.find("2 separate pieces"), std::string::npos);
}

TEST(SurfaceClean, FindsTrianglesThatCutOthers)
{
    // a thin tetrahedron through the first one, joined to nothing: the search itself does not ask for one piece
    std::vector<double> x = corners;
    std::vector<PliIndex> two = outward;
    for (size_t i = 0; i < 12; ++i) x.push_back(corners[i] * (i % 3 == 0 ? 4 : 0.1) + (i % 3 == 0 ? -2 : 0.2));
    for (PliIndex c : outward) two.push_back(c + 4);
    PliHost host = pli_host_default();
    double at[3];
    EXPECT_GT(pli_surface_crossings(&host, make(x, two).get(), at), 1u);
    EXPECT_EQ(pli_surface_crossings(&host, make(corners, outward).get(), at), 0u);
    for (int s = 0; s < 4; ++s) {
        MeshHandle shape(pli_shape_make(&host, PliShape(s), 3000));
        EXPECT_EQ(pli_surface_crossings(&host, shape.get(), at), 0u) << pli_shape_name(PliShape(s));
    }
}

TEST(SurfaceThickness, IsThatOfAPlateAndOfATube)
{
    PliHost host = pli_host_default();
    MeshHandle plate(pli_shape_make(&host, PLI_SHAPE_PLATE, 2000)), tube(pli_shape_make(&host, PLI_SHAPE_HANDLE, 3000));
    for (PliMesh *m : { plate.get(), tube.get() }) {
        std::vector<double> t(m->point_count);
        ASSERT_TRUE(pli_surface_thickness(&host, m, t.data()));
        std::sort(t.begin(), t.end());
        const double median = t[t.size() / 2];
        if (m == plate.get())
            EXPECT_NEAR(median, 0.047, 0.004); // 0.05 along z, across the slope less
        else
            EXPECT_TRUE(median > 0.18 && median < 0.34) << median; // tube of radius 0.1 to 0.16
    }
}

TEST(Remesh, KeepsClosednessHandlesAndVolume)
{
    PliHost host = pli_host_default();
    for (int s = 0; s < 4; ++s)
        for (double size : { 0.12, 0.05 }) {
            MeshHandle raw(pli_shape_make(&host, PliShape(s), 4000));
            Cleaned in = clean(raw.get());
            ASSERT_TRUE(in.mesh) << in.sentence;
            std::vector<double> limit(in.mesh->point_count, s == PLI_SHAPE_PLATE ? 0.06 : 1.0);
            MeshHandle out(pli_surface_remesh(&host, in.mesh.get(), size, limit.data()));
            ASSERT_TRUE(out);
            const Cleaned back = clean(out.get());
            ASSERT_TRUE(back.mesh) << pli_shape_name(PliShape(s)) << ": " << back.sentence;
            EXPECT_EQ(back.facts.turned, 0u);
            EXPECT_EQ(back.facts.handles, s == PLI_SHAPE_HANDLE ? 1u : 0u);
            EXPECT_EQ(back.facts.crossings, 0u);
            EXPECT_NEAR(back.facts.volume / in.facts.volume, 1.0, 0.003);
            const double side = s == PLI_SHAPE_PLATE ? std::fmin(size, 0.06) : size;
            size_t odd = 0;
            for (PliIndex i = 0; i < 3 * out->tri_count; ++i) {
                const PliIndex j = i % 3 == 2 ? i - 2 : i + 1;
                double square = 0;
                for (int d = 0; d < 3; ++d)
                    square += std::pow(out->x[3 * out->tris[i] + d] - out->x[3 * out->tris[j] + d], 2);
                odd += std::sqrt(square) < 0.5 * side || std::sqrt(square) > 1.7 * side;
            }
            EXPECT_LT(double(odd) / (3 * out->tri_count), 0.03) << pli_shape_name(PliShape(s)) << ", " << size;
        }
}

TEST(Lattice, FillsAnySurfaceOnceAndKeepsItsVolume)
{
    PliHost host = pli_host_default();
    PliError err{};
    for (int s = 0; s < 4; ++s) {
        MeshHandle raw(pli_shape_make(&host, PliShape(s), 3000));
        Cleaned in = clean(raw.get());
        const double size = s == PLI_SHAPE_PLATE ? 0.022 : 0.09;
        MeshHandle m(pli_lattice_fill(&host, in.mesh.get(), size, &err));
        ASSERT_TRUE(m) << err.text;
        PliQuality q;
        ASSERT_TRUE(pli_quality_find(&host, m.get(), &q));
        EXPECT_GT(q.least_quality, 0.05) << pli_shape_name(PliShape(s)); // none is flat or turned
        EXPECT_NEAR(q.volume / in.facts.volume, 1.0, 0.02) << pli_shape_name(PliShape(s));
        // tetrahedra that overlapped would have more volume than their outside encloses
        EXPECT_NEAR(pli_surface_volume(m.get()) / q.volume, 1.0, 1e-9);
        const Cleaned out = clean(m.get());
        ASSERT_TRUE(out.mesh) << pli_shape_name(PliShape(s)) << ": " << out.sentence;
        EXPECT_EQ(out.facts.handles, s == PLI_SHAPE_HANDLE ? 1u : 0u) << pli_shape_name(PliShape(s));
        EXPECT_EQ(out.facts.crossings, 0u);
    }
}

TEST(Lattice, FillsASurfaceThatCutsItself)
{
    // an arm is curled about the middle until it reaches through another one
    PliHost host = pli_host_default();
    PliError err{};
    MeshHandle raw(pli_shape_make(&host, PLI_SHAPE_BRANCHED, 6000));
    for (PliIndex p = 0; p < raw->point_count; ++p) {
        double *x = raw->x + 3 * p;
        const double r = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        if (!(x[0] > 0.8 * r && r > 0.25)) continue;
        const double turn = 12.0 * (r - 0.25), c = std::cos(turn), s = std::sin(turn), old = x[0];
        x[0] = c * old - s * x[1], x[1] = s * old + c * x[1];
    }
    Cleaned in = clean(raw.get());
    ASSERT_TRUE(in.mesh) << in.sentence;
    ASSERT_GT(in.facts.crossings, 0u);
    MeshHandle m(pli_lattice_fill(&host, in.mesh.get(), 0.04, &err));
    ASSERT_TRUE(m) << err.text;
    PliQuality q;
    ASSERT_TRUE(pli_quality_find(&host, m.get(), &q));
    EXPECT_GT(q.least_quality, 0.05);
    EXPECT_NEAR(pli_surface_volume(m.get()) / q.volume, 1.0, 1e-9);
}

TEST(Quality, NamesTheSliver)
{
    // a regular grid, and one tetrahedron pressed flat
    PliHost host = pli_host_default();
    PliBoxDef def{};
    for (int d = 0; d < 3; ++d) def.max[d] = 1, def.cells[d] = 3;
    PliError err{};
    MeshHandle m(pli_mesh_box(&host, &def, &err));
    PliQuality before, after;
    ASSERT_TRUE(pli_quality_find(&host, m.get(), &before));
    EXPECT_EQ(before.slivers, 0u);
    EXPECT_EQ(pli_quality_cost(&before), 1.0);
    EXPECT_NEAR(before.volume, 1.0, 1e-12);
    const PliIndex count = m->tet_count, points = m->point_count;
    ASSERT_EQ(pli_mesh_resize_points(m.get(), points + 4), PLI_OK);
    ASSERT_EQ(pli_mesh_resize_cells(m.get(), PLI_TET, count + 1), PLI_OK);
    const double flat[12] = { 5, 0, 0, 6, 0, 0, 5, 1, 0, 5, 0, 0.001 };
    std::memcpy(m->x + 3 * points, flat, sizeof flat);
    for (PliIndex k = 0; k < 4; ++k) m->tets[4 * count + k] = points + k;
    ASSERT_TRUE(pli_quality_find(&host, m.get(), &after));
    EXPECT_EQ(after.slivers, 1u);
    EXPECT_EQ(after.worst[0], count);
    EXPECT_NEAR(after.worst_altitude[0], 0.001, 1e-6);
    EXPECT_NEAR(pli_quality_cost(&after), 0.25 * after.median_altitude / 0.001, 1.0);
}

} // namespace
