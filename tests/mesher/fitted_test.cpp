/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Lattices that fit a surface: every cell the right way round, a closed boundary that lies on the surface, and sentences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "mesher/fitted.h"
#include "mesher/surface.h"
}

namespace
{
const PliHost host = pli_host_default();
using Mesh = std::unique_ptr<PliMesh, void (*)(PliMesh *)>;

Mesh surface_of(const std::string &name)
{
    PliError err{};
    Mesh in(pli_mesh_read(&host, (std::string(PLIANT_SOURCE_DIR) + "/scenes/" + name).c_str(), &err), pli_mesh_destroy);
    EXPECT_TRUE(in) << err.text;
    PliSurfaceFacts facts;
    return Mesh(in ? pli_surface_clean(&host, in.get(), &facts, &err) : nullptr, pli_mesh_destroy);
}

Mesh fit(const PliMesh *surface, PliIndex cells, bool smooth, PliFittedFacts *facts, std::string *why = nullptr)
{
    PliError err{};
    const PliFittedDef def{ cells, smooth };
    Mesh m(pli_fitted_hexes(&host, surface, &def, facts, &err), pli_mesh_destroy);
    if (why) *why = err.text;
    return m;
}

/// Faces of hexahedra that have one cell, and none with more than two.
std::vector<std::vector<PliIndex>> boundary_of(const PliMesh *m)
{
    static const int face[6][4] = { { 0, 4, 7, 3 }, { 1, 2, 6, 5 }, { 0, 1, 5, 4 },
                                    { 3, 7, 6, 2 }, { 0, 3, 2, 1 }, { 4, 5, 6, 7 } };
    std::map<std::vector<PliIndex>, std::pair<int, std::vector<PliIndex>>> faces;
    for (PliIndex c = 0; c < m->hex_count; ++c)
        for (const auto &corner : face) {
            std::vector<PliIndex> q;
            for (const int k : corner) q.push_back(m->hexes[8 * c + k]);
            std::vector<PliIndex> key = q;
            std::sort(key.begin(), key.end());
            auto &slot = faces[key];
            slot.first++, slot.second = q;
        }
    std::vector<std::vector<PliIndex>> outer;
    for (const auto &f : faces) {
        EXPECT_LE(f.second.first, 2);
        if (f.second.first == 1) outer.push_back(f.second.second);
    }
    return outer;
}
} // namespace

TEST(Fitted, everyCellIsTheRightWayRoundAndTheBoundaryIsClosedAndOnTheSurface)
{
    for (const char *name : { "meshes/liver_surface.obj", "frames/ball.obj", "compare/box_skin.obj" })
        for (const PliIndex cells : { 8u, 13u }) {
            const Mesh surface = surface_of(name);
            ASSERT_TRUE(surface);
            PliFittedFacts facts;
            std::string why;
            const Mesh m = fit(surface.get(), cells, false, &facts, &why);
            ASSERT_TRUE(m) << name << " " << cells << ": " << why;
            double least = 1.0;
            for (PliIndex c = 0; c < m->hex_count; ++c)
                least = std::min(least, pli_scaled_jacobian(m->x, m->hexes + 8 * c));
            EXPECT_GT(least, 0.0) << name;
            EXPECT_EQ(least, facts.least);
            EXPECT_LT(facts.off, 1e-9);
            EXPECT_GT(facts.volume, 0.75 * pli_surface_volume(surface.get()));
            EXPECT_LT(facts.volume, 1.02 * pli_surface_volume(surface.get()));
            const auto outer = boundary_of(m.get());
            EXPECT_EQ(outer.size(), facts.outer);
            std::map<std::pair<PliIndex, PliIndex>, int> sides; // each once in either direction
            for (const auto &q : outer)
                for (int k = 0; k < 4; ++k) sides[{ q[k], q[(k + 1) % 4] }]++;
            for (const auto &s : sides) {
                EXPECT_EQ(s.second, 1);
                EXPECT_EQ(sides.count({ s.first.second, s.first.first }), 1u);
            }
        }
}

TEST(Fitted, limitsOfASmoothLatticeAreCloserThanItsVertices)
{
    const Mesh surface = surface_of("meshes/liver_surface.obj");
    PliFittedFacts facts;
    const Mesh m = fit(surface.get(), 14, true, &facts);
    ASSERT_TRUE(m);
    EXPECT_GT(facts.least, 0.15);
    EXPECT_LT(facts.off, 0.02 * 0.2); // 2 % of its length, at sharp corners
    const Mesh ball = surface_of("frames/ball.obj");
    const Mesh round = fit(ball.get(), 8, true, &facts);
    ASSERT_TRUE(round);
    EXPECT_LT(facts.off, 1e-9);
}

TEST(Fitted, isTheSameEveryTime)
{
    const Mesh surface = surface_of("meshes/liver_surface.obj");
    PliFittedFacts facts;
    const Mesh a = fit(surface.get(), 9, true, &facts), b = fit(surface.get(), 9, true, &facts);
    ASSERT_TRUE(a && b);
    ASSERT_EQ(a->point_count, b->point_count);
    EXPECT_EQ(std::memcmp(a->x, b->x, 3 * sizeof(double) * a->point_count), 0);
}

TEST(Fitted, saysWhatItCannotDo)
{
    const Mesh surface = surface_of("meshes/liver_surface.obj");
    PliFittedFacts facts;
    std::string why;
    EXPECT_FALSE(fit(surface.get(), 2, false, &facts, &why));
    EXPECT_EQ(why, "2 cells along the longest side; a fitted lattice has 3 to 200");
    EXPECT_FALSE(fit(surface.get(), 3, false, &facts, &why));
    EXPECT_NE(why.find("give more cells"), std::string::npos) << why;
    EXPECT_FALSE(fit(surface.get(), 6, false, &facts, &why));
    EXPECT_NE(why.find("parts thinner than a cell"), std::string::npos) << why;
}
