/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "mesh/support.h"

extern "C" {
#include "mesh/tet.h"
}

namespace
{

/// Every face is shared by one or two tets; the brute-force count of those used once.
std::map<std::array<PliIndex, 3>, int> count_faces(const PliMesh &m)
{
    std::map<std::array<PliIndex, 3>, int> uses;
    for (PliIndex t = 0; t < m.tet_count; ++t)
        for (int k = 0; k < 4; ++k) {
            std::array<PliIndex, 3> f{};
            for (int c = 0, n = 0; c < 4; ++c)
                if (c != k) f[n++] = m.tets[4 * t + c];
            std::sort(f.begin(), f.end());
            uses[f]++;
        }
    return uses;
}

double surface_volume(const PliMesh &m)
{
    double sum = 0;
    for (PliIndex t = 0; t < m.tri_count; ++t) {
        double n[3];
        v3_cross(n, m.x + 3 * m.tris[3 * t], m.x + 3 * m.tris[3 * t + 1]);
        sum += v3_dot(n, m.x + 3 * m.tris[3 * t + 2]);
    }
    return sum / 6;
}

TEST(MeshBox, ConformsFillsAndIsPositive)
{
    for (auto cells : { std::array<PliIndex, 3>{ 1, 1, 1 }, { 2, 3, 4 }, { 5, 1, 2 }, { 4, 4, 4 }, { 1, 7, 3 } })
        for (double jitter : { 0.0, 0.1, 0.3 }) {
            MeshPtr m =
                make_box(cells, { -1, 0, 2 }, { cells[0] - 1.0, double(cells[1]), cells[2] * 2.0 + 2 }, jitter, 7);
            ASSERT_TRUE(m);
            EXPECT_EQ(m->point_count, (cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1));
            EXPECT_EQ(m->tet_count, 5 * cells[0] * cells[1] * cells[2]);
            EXPECT_EQ(m->tri_count, 0u);
            EXPECT_NEAR(pli_mesh_volume(m.get()), cells[0] * cells[1] * cells[2] * 2.0, 1e-12 * m->tet_count);
            PliError err{};
            EXPECT_EQ(pli_mesh_check_tets(m.get(), 0.1, &err), PLI_OK) << err.text;
            size_t once = 0;
            for (auto &[face, uses] : count_faces(*m)) {
                EXPECT_LE(uses, 2);
                once += uses == 1;
            }
            EXPECT_EQ(once, 4 * (cells[0] * cells[1] + cells[1] * cells[2] + cells[0] * cells[2]));
        }
}

TEST(MeshBox, JitterMovesOnlyInteriorNodesAndStaysNear)
{
    MeshPtr flat = make_box({ 6, 5, 4 }, { 0, 0, 0 }, { 6, 5, 4 }, 0, 1),
            m = make_box({ 6, 5, 4 }, { 0, 0, 0 }, { 6, 5, 4 }, 0.3, 1);
    MeshPtr same = make_box({ 6, 5, 4 }, { 0, 0, 0 }, { 6, 5, 4 }, 0.3, 1),
            other = make_box({ 6, 5, 4 }, { 0, 0, 0 }, { 6, 5, 4 }, 0.3, 2);
    int moved = 0;
    bool differs = false;
    for (PliIndex i = 0; i < m->point_count; ++i) {
        const double *p = flat->x + 3 * i, *q = m->x + 3 * i;
        const bool inside = p[0] > 0 && p[0] < 6 && p[1] > 0 && p[1] < 5 && p[2] > 0 && p[2] < 4;
        for (int a = 0; a < 3; ++a) {
            EXPECT_LE(std::fabs(p[a] - q[a]), inside ? 0.3 : 0.0);
            EXPECT_EQ(q[a], same->x[3 * i + a]);
            differs |= q[a] != other->x[3 * i + a];
            moved += p[a] != q[a];
        }
    }
    EXPECT_EQ(moved, 3 * 5 * 4 * 3);
    EXPECT_TRUE(differs);
}

TEST(MeshBox, HasNoPreferredDirection)
{
    // second moment of the edge directions: a multiple of the identity for a cubic pattern on an even grid
    MeshPtr m = make_box({ 4, 4, 4 }, { 0, 0, 0 }, { 4, 4, 4 }, 0, 0);
    std::set<std::pair<PliIndex, PliIndex>> edges;
    for (PliIndex t = 0; t < m->tet_count; ++t)
        for (auto &e : pli_tet_edge) edges.insert(std::minmax(m->tets[4 * t + e[0]], m->tets[4 * t + e[1]]));
    double s[9] = {};
    for (auto &[i, j] : edges) {
        double d[3];
        v3_sub(d, m->x + 3 * i, m->x + 3 * j);
        for (int a = 0; a < 9; ++a) s[a] += d[a / 3] * d[a % 3];
    }
    for (int a = 0; a < 9; ++a) EXPECT_NEAR(s[a], a % 4 == 0 ? s[0] : 0.0, 1e-9 * s[0]) << a;
}

TEST(MeshBox, RefusesBadDefinitions)
{
    PliHost host = pli_host_default();
    PliBoxDef good{ { 0, 0, 0 }, { 1, 1, 1 }, { 1, 1, 1 }, 0, 0 };
    auto refused = [&](PliBoxDef d, const char *word) {
        PliError err{};
        PliMesh *m = pli_mesh_box(&host, &d, &err);
        EXPECT_EQ(m, nullptr);
        EXPECT_NE(std::string(err.text).find(word), std::string::npos) << err.text;
        pli_mesh_destroy(m);
    };
    PliBoxDef d = good;
    d.cells[1] = 0, refused(d, "axis 1");
    d = good, d.max[2] = 0, refused(d, "axis 2");
    d = good, d.min[0] = NAN, refused(d, "axis 0");
    d = good, d.jitter = 0.31, refused(d, "0.31");
    d = good, d.cells[0] = d.cells[1] = d.cells[2] = 4000000000u, refused(d, "4000000000");
}

TEST(MeshSurface, MatchesBruteForceAndPointsOutward)
{
    MeshPtr m = make_box({ 4, 3, 5 }, { 1, 1, 1 }, { 2, 3, 4 }, 0.2, 3);
    ASSERT_EQ(pli_mesh_find_surface(m.get()), PLI_OK);
    std::set<std::array<PliIndex, 3>> want, got;
    for (auto &[face, uses] : count_faces(*m))
        if (uses == 1) want.insert(face);
    for (PliIndex t = 0; t < m->tri_count; ++t) {
        std::array<PliIndex, 3> f{ m->tris[3 * t], m->tris[3 * t + 1], m->tris[3 * t + 2] };
        std::sort(f.begin(), f.end());
        got.insert(f);
    }
    EXPECT_EQ(got, want);
    EXPECT_EQ(m->tri_count, want.size());
    EXPECT_NEAR(surface_volume(*m), 6.0, 1e-12); // inward triangles would give less
    // replacing again gives the same, and an inverted tet still has outward faces
    ASSERT_EQ(pli_mesh_find_surface(m.get()), PLI_OK);
    EXPECT_EQ(m->tri_count, want.size());
    std::swap(m->tets[0], m->tets[1]);
    ASSERT_EQ(pli_mesh_find_surface(m.get()), PLI_OK);
    EXPECT_NEAR(surface_volume(*m), 6.0, 1e-12);
}

TEST(MeshCheck, NamesTheBadTet)
{
    PliError err{};
    MeshPtr m = make_box({ 2, 2, 2 }, { 0, 0, 0 }, { 1, 1, 1 }, 0, 0);
    EXPECT_EQ(pli_mesh_check_tets(m.get(), 0.7, &err), PLI_OK);
    EXPECT_EQ(pli_mesh_check_tets(m.get(), 0.9, &err), PLI_BAD_MESH); // corner tets have 0.77
    EXPECT_NE(std::string(err.text).find("0.77"), std::string::npos) << err.text;
    std::swap(m->tets[28], m->tets[29]);
    EXPECT_EQ(pli_mesh_check_tets(m.get(), 0, &err), PLI_BAD_MESH);
    EXPECT_NE(std::string(err.text).find("tetrahedron 7 "), std::string::npos) << err.text;
    std::swap(m->tets[28], m->tets[29]);
    m->x[3 * 13 + 1] = NAN;
    EXPECT_EQ(pli_mesh_check_tets(m.get(), 0, &err), PLI_BAD_MESH);
    EXPECT_NE(std::string(err.text).find("point 13 "), std::string::npos) << err.text;
    m->x[3 * 13 + 1] = 0.5;
    m->tets[3] = 27;
    EXPECT_EQ(pli_mesh_check_tets(m.get(), 0, &err), PLI_BAD_MESH);
    EXPECT_NE(std::string(err.text).find("27"), std::string::npos) << err.text;
}

TEST(Mesh, ResizeKeepsAndZeroes)
{
    PliHost host = pli_host_default();
    MeshPtr m(pli_mesh_create(&host));
    ASSERT_EQ(pli_mesh_resize_cells(m.get(), PLI_HEX, 2), PLI_OK);
    m->hexes[15] = 5;
    ASSERT_EQ(pli_mesh_resize_cells(m.get(), PLI_HEX, 3), PLI_OK);
    EXPECT_EQ(m->hexes[15], 5u);
    EXPECT_EQ(m->hexes[16], 0u);
    ASSERT_EQ(pli_mesh_resize_cells(m.get(), PLI_HEX, 0), PLI_OK);
    EXPECT_EQ(m->hexes, nullptr);
    EXPECT_EQ(m->hex_count, 0u);
}

TEST(Mesh, OutOfMemoryIsARefusal)
{
    // every allocation of a box and of its locator fails once in turn; nothing leaks (ASan) or crashes
    for (int limit = 0; limit < 16; ++limit) {
        static int left;
        left = limit;
        PliHost host = pli_host_default();
        host.alloc = [](size_t bytes, size_t align, void *) -> void * {
            return left-- > 0 ? std::aligned_alloc(align, (bytes + align - 1) / align * align) : nullptr;
        };
        PliBoxDef d{ { 0, 0, 0 }, { 1, 1, 1 }, { 3, 3, 3 }, 0.1, 0 };
        PliError err{};
        MeshPtr m(pli_mesh_box(&host, &d, &err));
        if (!m) {
            EXPECT_EQ(err.status, PLI_OUT_OF_MEMORY);
            continue;
        }
        LocatorPtr l(pli_locator_create(&host, m->x, m->point_count, m->tets, m->tet_count));
        EXPECT_EQ(l != nullptr, limit >= 6 + 6) << limit;
    }
}

} // namespace
