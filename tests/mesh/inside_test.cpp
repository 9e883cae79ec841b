/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What is inside a closed surface, against boxes.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

extern "C" {
#include "mesh/inside.h"
}

namespace
{
const PliHost host = pli_host_default();
using Mesh = std::unique_ptr<PliMesh, decltype(&pli_mesh_destroy)>;

Mesh box(double side)
{
    PliBoxDef def{};
    for (int d = 0; d < 3; ++d) def.max[d] = side * (1.0 + d), def.cells[d] = 2;
    return Mesh(pli_mesh_box(&host, &def, nullptr), pli_mesh_destroy);
}
} // namespace

TEST(Inside, linesThroughABoxAreInsideFromFaceToFace)
{
    const Mesh mesh = box(1.0);
    PliInside *s = pli_inside_create(&host, mesh.get(), nullptr);
    ASSERT_TRUE(s);
    EXPECT_NEAR(pli_inside_volume(s), 6.0, 1e-12);
    for (int axis = 0; axis < 3; ++axis)
        for (int k = 0; k < 9; ++k) { // also through corners of cells, and along their faces
            double p[3] = { 0.25 * (1 + k % 3), 0.5 * (1 + k / 3 % 3), 0.75 * (1 + k / 3 % 3) },
                   at[2 * PLI_INSIDE_STRETCHES];
            ASSERT_EQ(pli_inside_line(s, axis, p, at), 1) << axis << ' ' << k;
            EXPECT_NEAR(at[0], 0.0, 1e-6);
            EXPECT_NEAR(at[1], 1.0 + axis, 1e-6);
            p[(axis + 1) % 3] = -0.01;
            EXPECT_EQ(pli_inside_line(s, axis, p, at), 0);
        }
    const double in[3] = { 0.5, 1.9, 2.9 }, out[3] = { 0.5, 2.1, 2.9 };
    EXPECT_TRUE(pli_inside_point(s, in));
    EXPECT_FALSE(pli_inside_point(s, out));
    pli_inside_destroy(s);
}

TEST(Inside, pointsOfASurfaceTurnedInwardAreInsideAllTheSame)
{
    const Mesh mesh = box(1.0);
    PliInside *solid = pli_inside_create(&host, mesh.get(), nullptr);
    ASSERT_TRUE(solid);
    PliIndex points, tris;
    const double *x = pli_inside_points(solid, &points);
    const PliIndex *tri = pli_inside_triangles(solid, &tris);
    const Mesh shell(pli_mesh_create(&host), pli_mesh_destroy);
    ASSERT_EQ(pli_mesh_resize_points(shell.get(), points), PLI_OK);
    ASSERT_EQ(pli_mesh_resize_cells(shell.get(), PLI_TRI, tris), PLI_OK);
    for (PliIndex i = 0; i < 3 * points; ++i) shell->x[i] = x[i];
    for (PliIndex t = 0; t < tris; ++t)
        for (int c = 0; c < 3; ++c) shell->tris[3 * t + c] = tri[3 * t + 2 - c];
    PliInside *s = pli_inside_create(&host, shell.get(), nullptr);
    ASSERT_TRUE(s);
    EXPECT_NEAR(pli_inside_volume(s), 6.0, 1e-12);
    const double in[3] = { 0.3, 0.2, 0.1 }, out[3] = { 1.3, 0.2, 0.1 };
    EXPECT_TRUE(pli_inside_point(s, in));
    EXPECT_FALSE(pli_inside_point(s, out));
    pli_inside_destroy(s);
    pli_inside_destroy(solid);
    // one triangle less: open
    ASSERT_EQ(pli_mesh_resize_cells(shell.get(), PLI_TRI, tris - 1), PLI_OK);
    PliError err{};
    EXPECT_FALSE(pli_inside_create(&host, shell.get(), &err));
    EXPECT_NE(std::string(err.text).find("the surface is open"), std::string::npos) << err.text;
}

TEST(Inside, tetrahedraMayTouchInAnEdgeAndSurfacesMayNot)
{
    // two tetrahedra back to back along the edge 0-1
    const double x[18] = { 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1, 0 };
    const PliIndex tets[8] = { 0, 2, 3, 1, 0, 4, 5, 1 };
    const Mesh mesh(pli_mesh_create(&host), pli_mesh_destroy), shell(pli_mesh_create(&host), pli_mesh_destroy);
    for (PliMesh *m : { mesh.get(), shell.get() }) {
        ASSERT_EQ(pli_mesh_resize_points(m, 6), PLI_OK);
        for (int i = 0; i < 18; ++i) m->x[i] = x[i];
    }
    ASSERT_EQ(pli_mesh_resize_cells(mesh.get(), PLI_TET, 2), PLI_OK);
    for (int i = 0; i < 8; ++i) mesh->tets[i] = tets[i];
    PliInside *s = pli_inside_create(&host, mesh.get(), nullptr);
    ASSERT_TRUE(s);
    EXPECT_NEAR(pli_inside_volume(s), 1.0 / 3.0, 1e-12);
    const double in[3] = { -0.2, -0.2, 0.2 }, out[3] = { -0.2, 0.2, 0.2 };
    EXPECT_TRUE(pli_inside_point(s, in));
    EXPECT_FALSE(pli_inside_point(s, out));
    PliIndex tris;
    const PliIndex *tri = pli_inside_triangles(s, &tris);
    ASSERT_EQ(pli_mesh_resize_cells(shell.get(), PLI_TRI, tris), PLI_OK);
    for (PliIndex i = 0; i < 3 * tris; ++i) shell->tris[i] = tri[i];
    pli_inside_destroy(s);
    PliError err{};
    EXPECT_FALSE(pli_inside_create(&host, shell.get(), &err));
    EXPECT_NE(
        std::string(err.text).find("not manifold: the edge between points 0 and 1, from (0 0 0) to (0 0 1), belongs "
                                   "to 4 triangles"),
        std::string::npos)
        << err.text;
}
