/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Hexahedra split into tetrahedra: the same volume, faces that meet, both windings, and rings that cannot be coloured.
#include "support/fixture.h"

#include <cmath>

#include <pliant/mesh.h>

using pliant_test::WatchedHost;

namespace
{

/// Cells around an axis, `closed` or not, with as many as `count`; mirrored cells have negative volume.
PliMesh *ring(const PliHost *host, PliIndex count, bool closed, bool mirrored = false)
{
    PliMesh *m = pli_mesh_create(host);
    const PliIndex slices = closed ? count : count + 1;
    EXPECT_EQ(pli_mesh_resize_points(m, 4 * slices), PLI_OK);
    EXPECT_EQ(pli_mesh_resize_cells(m, PLI_HEX, count), PLI_OK);
    for (PliIndex s = 0; s < slices; ++s)
        for (PliIndex k = 0; k < 4; ++k) {
            const double angle = 2.0 * M_PI * s / count * (closed ? 1.0 : 0.5), radius = 2.0 + (k == 1 || k == 2);
            double *x = m->x + 3 * (4 * s + k);
            x[0] = radius * std::cos(angle), x[1] = k >= 2, x[2] = -radius * std::sin(angle) * (mirrored ? -1.0 : 1.0);
        }
    for (PliIndex h = 0; h < count; ++h)
        for (PliIndex k = 0; k < 4; ++k) {
            m->hexes[8 * h + k] = 4 * h + k;
            m->hexes[8 * h + 4 + k] = 4 * ((h + 1) % slices) + k;
        }
    return m;
}

} // namespace

TEST(Split, FacesMeetAndTheVolumeStays)
{
    WatchedHost watch;
    for (const bool closed : { false, true })
        for (const bool mirrored : { false, true }) {
            PliMesh *m = ring(&watch.host, 6, closed, mirrored);
            ASSERT_EQ(pli_mesh_split_hexes(m, nullptr), PLI_OK);
            EXPECT_EQ(m->hex_count, 0u);
            ASSERT_EQ(m->tet_count, 30u);
            // a cell of this ring is a prism over a quadrangle: (3^2 - 2^2) sin(angle) / 2 times its height
            const double angle = closed ? M_PI / 3.0 : M_PI / 6.0;
            EXPECT_NEAR(pli_mesh_volume(m), 6 * 2.5 * std::sin(angle), 1e-12);
            EXPECT_EQ(pli_mesh_check_tets(m, 1e-3, nullptr), PLI_OK) << "all of them have positive volume";
            ASSERT_EQ(pli_mesh_find_surface(m), PLI_OK);
            EXPECT_EQ(m->tri_count, 2u * (closed ? 24u : 26u)) << "inner faces meet, so none is left over";
            pli_mesh_destroy(m);
        }
}

TEST(Split, AnOddRingIsRefusedAndLeftAsItWas)
{
    WatchedHost watch;
    PliMesh *m = ring(&watch.host, 5, true);
    PliError err = {};
    EXPECT_EQ(pli_mesh_split_hexes(m, &err), PLI_BAD_MESH);
    EXPECT_NE(std::string(err.text).find("hexahedron 4 cannot be split"), std::string::npos) << err.text;
    EXPECT_EQ(m->tet_count, 0u);
    EXPECT_EQ(m->hex_count, 5u);
    pli_mesh_destroy(m);
    m = ring(&watch.host, 5, false);
    EXPECT_EQ(pli_mesh_split_hexes(m, &err), PLI_OK);
    pli_mesh_destroy(m);
}

TEST(Split, ArraysWithHexahedraAloneGiveTetrahedra)
{
    WatchedHost watch;
    PliMesh *m = ring(&watch.host, 4, false);
    PliMeshArrays a = {};
    a.name = "grid", a.type = "RegularGridTopology";
    a.position = m->x, a.point_count = m->point_count;
    a.hexahedra = m->hexes, a.hexahedron_count = m->hex_count;
    PliMesh *tets = pli_mesh_from_arrays(&watch.host, &a, PLI_MESH_TETS, nullptr);
    ASSERT_TRUE(tets);
    EXPECT_EQ(tets->tet_count, 20u);
    pli_mesh_destroy(tets);
    a.hexahedron_count = 0;
    PliError err = {};
    EXPECT_FALSE(pli_mesh_from_arrays(&watch.host, &a, PLI_MESH_TETS, &err));
    EXPECT_NE(std::string(err.text).find("neither tetrahedra nor hexahedra"), std::string::npos) << err.text;
    pli_mesh_destroy(m);
}
