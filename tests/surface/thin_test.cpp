/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Points that stand for others: far enough apart, near enough to everybody, with all of the area, and corners first.
#include <gtest/gtest.h>

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

/// The surface of a unit cube of `cells` per side, as a skin of its own points.
Skin cube_skin(PliIndex cells)
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
        ASSERT_EQ(pli_skin_thin(skin.get(), spacing, &thin), PLI_OK);
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
    ASSERT_EQ(pli_skin_thin(skin.get(), 0.9, &thin), PLI_OK);
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
    ASSERT_EQ(pli_skin_thin(skin.get(), 0.0, &thin), PLI_OK);
    EXPECT_EQ(thin.count, skin->point_count);
    for (PliIndex i = 0; i < thin.count; ++i) EXPECT_EQ(thin.area[i], skin->area[i]);
    pli_thin_free(&skin->host, &thin);
}

} // namespace
