/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Points that stand for others: far enough apart, near enough to everybody, with all of the area, and corners first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "support/bodies.h"

extern "C" {
#include "surface/skin.h"
}

using namespace pli_test;

namespace
{

using Skin = std::unique_ptr<PliSkin, decltype(&pli_skin_destroy)>;

/// The surface of a unit cube of `cells` per side, as a skin of its own points; or blown up to a ball.
Skin cube_skin(PliIndex cells, bool ball = false)
{
    Mesh mesh = box(cells, cells, cells);
    EXPECT_EQ(pli_mesh_find_surface(mesh.get()), PLI_OK);
    std::vector<PliIndex> number(mesh->point_count, PLI_NONE), tris;
    std::vector<double> points;
    for (PliIndex i = 0; i < 3 * mesh->tri_count; ++i) {
        const PliIndex p = mesh->tris[i];
        if (number[p] == PLI_NONE) {
            number[p] = static_cast<PliIndex>(points.size() / 3);
            points.insert(points.end(), mesh->x + 3 * p, mesh->x + 3 * p + 3);
        }
        tris.push_back(number[p]);
    }
    for (size_t i = 0; ball && i < points.size(); i += 3) {
        const double r = std::hypot(points[i] - 0.5, points[i + 1] - 0.5, points[i + 2] - 0.5);
        for (size_t k = i; k < i + 3; ++k) points[k] = 0.5 + 0.5 * (points[k] - 0.5) / r;
    }
    const PliHost host = pli_host_default();
    const PliIndex n = static_cast<PliIndex>(points.size() / 3);
    PliTransfer *rows = pli_transfer_create(&host, n, n);
    pli_transfer_clear(rows, n);
    const double one = 1.0;
    for (PliIndex i = 0; i < n; ++i) EXPECT_EQ(pli_transfer_push(rows, &i, &one, 1), PLI_OK);
    return { pli_skin_create(&host, n, points.data(), n, tris.data(), static_cast<PliIndex>(tris.size() / 3), rows),
             pli_skin_destroy };
}

double apart(const PliSkin *s, PliIndex i, PliIndex k)
{
    return std::hypot(s->rest[3 * i] - s->rest[3 * k], s->rest[3 * i + 1] - s->rest[3 * k + 1],
                      s->rest[3 * i + 2] - s->rest[3 * k + 2]);
}

TEST(Thin, PointsAreApartAndEverybodyIsNearOne)
{
    const Skin skin = cube_skin(9);
    for (double spacing : { 0.15, 0.3, 0.7 }) {
        PliThin thin = {};
        const PliThinning how = { spacing, 0.0, nullptr };
        ASSERT_EQ(pli_skin_thin(skin.get(), &how, &thin), PLI_OK);
        EXPECT_LT(thin.count, skin->point_count);
        for (PliIndex a = 0; a < thin.count; ++a)
            for (PliIndex b = a + 1; b < thin.count; ++b) {
                EXPECT_LT(thin.point[a], thin.point[b]);
                EXPECT_GT(apart(skin.get(), thin.point[a], thin.point[b]), spacing * (1.0 - 1e-12));
            }
        for (PliIndex i = 0; i < skin->point_count; ++i) {
            double nearest = INFINITY;
            for (PliIndex a = 0; a < thin.count; ++a) nearest = std::fmin(nearest, apart(skin.get(), i, thin.point[a]));
            EXPECT_LE(nearest, spacing * (1.0 + 1e-12)) << i;
        }
        EXPECT_NEAR(std::accumulate(thin.area, thin.area + skin->point_count, 0.0), 6.0, 1e-12);
        for (PliIndex a = 0; a < thin.count; ++a) EXPECT_GE(thin.area[thin.point[a]], skin->area[thin.point[a]]);
        pli_thin_free(&skin->host, &thin);
    }
}

TEST(Thin, CornersStay)
{
    const Skin skin = cube_skin(9);
    PliThin thin = {};
    const PliThinning how = { 0.9, 0.0, nullptr };
    ASSERT_EQ(pli_skin_thin(skin.get(), &how, &thin), PLI_OK);
    int corners = 0;
    for (PliIndex a = 0; a < thin.count; ++a) {
        const double *p = skin->rest + 3 * thin.point[a];
        corners += (p[0] == 0.0 || p[0] == 1.0) && (p[1] == 0.0 || p[1] == 1.0) && (p[2] == 0.0 || p[2] == 1.0);
    }
    EXPECT_EQ(corners, 8); // by number alone 2 to 5 of them would
    pli_thin_free(&skin->host, &thin);
}

TEST(Thin, WithoutASpacingAllStay)
{
    const Skin skin = cube_skin(3);
    PliThin thin = {};
    const PliThinning how = { 0.0, 0.0, nullptr };
    ASSERT_EQ(pli_skin_thin(skin.get(), &how, &thin), PLI_OK);
    EXPECT_EQ(thin.count, skin->point_count);
    for (PliIndex i = 0; i < thin.count; ++i) EXPECT_EQ(thin.area[i], skin->area[i]);
    pli_thin_free(&skin->host, &thin);
}

/// Where it is curved a point stands for less: nobody is farther from the plane of who stands for it than was asked for. Flat places and edges
/// have as many as without.
TEST(Thin, CurvedPlacesHaveMore)
{
    const Skin flat = cube_skin(9), round = cube_skin(9, true);
    for (PliSkin *skin : { flat.get(), round.get() }) {
        PliThin few = {}, more = {};
        const PliThinning plain = { 0.4, 0.0, nullptr }, close = { 0.4, 0.02, nullptr };
        ASSERT_EQ(pli_skin_thin(skin, &plain, &few), PLI_OK);
        ASSERT_EQ(pli_skin_thin(skin, &close, &more), PLI_OK);
        if (skin == flat.get())
            EXPECT_EQ(more.count, few.count);
        else
            EXPECT_GT(more.count, few.count);
        double area = 0.0, whole = 0.0;
        for (PliIndex i = 0; i < skin->point_count; ++i) area += more.area[i], whole += skin->area[i];
        EXPECT_NEAR(area, whole, 1e-12);
        for (PliThin *t : { &few, &more }) pli_thin_free(&skin->host, t);
    }
}

/// Of points that stand for others already: a part of those, with all of the area.
TEST(Thin, SomeOfSome)
{
    const Skin skin = cube_skin(9);
    PliThin some = {}, few = {};
    const PliThinning first = { 0.2, 0.0, nullptr }, second = { 0.5, 0.0, &some };
    ASSERT_EQ(pli_skin_thin(skin.get(), &first, &some), PLI_OK);
    ASSERT_EQ(pli_skin_thin(skin.get(), &second, &few), PLI_OK);
    EXPECT_LT(few.count, some.count);
    EXPECT_GT(few.count, 7u) << "corners are among them";
    for (PliIndex a = 0; a < few.count; ++a)
        EXPECT_TRUE(std::binary_search(some.point, some.point + some.count, few.point[a]));
    EXPECT_NEAR(std::accumulate(few.area, few.area + skin->point_count, 0.0), 6.0, 1e-12);
    pli_thin_free(&skin->host, &some);
    pli_thin_free(&skin->host, &few);
}

} // namespace
