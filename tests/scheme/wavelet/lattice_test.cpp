/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/fold.h"

extern "C" {
#include "scheme/wavelet/lattice.h"
#include "scheme/wavelet/lattice_shape.h"
}

namespace
{
struct Free {
    void operator()(PliLattice *l) const { pli_lattice_destroy(l); }
    void operator()(PliTransfer *t) const { pli_transfer_destroy(t); }
    void operator()(PliShapes *s) const { pli_shapes_destroy(s); }
    void operator()(PliMesh *m) const { pli_mesh_destroy(m); }
};
using Lattice = std::unique_ptr<PliLattice, Free>;
using Rows = std::unique_ptr<PliTransfer, Free>;
using Shapes = std::unique_ptr<PliShapes, Free>;
using Mesh = std::unique_ptr<PliMesh, Free>;

const PliHost host = pli_host_default();
const double kSharp = 40.0, kSmooth = 180.0;
const double zero[3] = { 0, 0, 0 };

Lattice box(PliIndex nx, PliIndex ny, PliIndex nz, double angle)
{
    const double max[3] = { double(nx), double(ny), double(nz) };
    const PliIndex cells[3] = { nx, ny, nz };
    PliError err{};
    Lattice l(pli_lattice_box(&host, zero, max, cells, angle, &err));
    EXPECT_TRUE(l) << err.text;
    return l;
}

/// A hexahedron, a prism on one of its sides, and a tetrahedron on the prism.
Lattice mixed()
{
    Mesh m(pli_mesh_create(&host));
    const double x[] = { 0, 0, 0, 1, 0, 0, 1, 1,   0,   0, 1,   0,   0, 0,   1,   1,  0,
                         1, 1, 1, 1, 0, 1, 1, 1.9, 0.5, 0, 1.9, 0.5, 1, 1.4, 0.5, 1.8 };
    pli_mesh_resize_points(m.get(), 11);
    std::memcpy(m->x, x, sizeof x);
    pli_mesh_resize_cells(m.get(), PLI_HEX, 2);
    pli_mesh_resize_cells(m.get(), PLI_TET, 1);
    const PliIndex hex[] = { 0, 1, 2, 3, 4, 5, 6, 7, 1, 8, 2, 2, 5, 9, 6, 6 }, tet[] = { 5, 9, 6, 10 };
    std::memcpy(m->hexes, hex, sizeof hex);
    std::memcpy(m->tets, tet, sizeof tet);
    PliError err{};
    Lattice l(pli_lattice_from_mesh(&host, m.get(), 180.0, &err));
    EXPECT_TRUE(l) << err.text;
    return l;
}

Lattice finer(const Lattice &l, PliLatticeRule rule, Rows *rows = nullptr)
{
    PliError err{};
    PliTransfer *t = nullptr;
    Lattice fine(pli_lattice_subdivide(l.get(), rule, &t, &err));
    EXPECT_TRUE(fine) << err.text;
    Rows own(t);
    if (rows) *rows = std::move(own);
    return fine;
}

double row_sum(PliRows r, PliIndex i)
{
    double sum = 0;
    for (PliIndex k = r.first[i]; k < r.first[i + 1]; ++k) sum += r.weight[k];
    return sum;
}
} // namespace

TEST(Lattice, countsOfABox)
{
    const Lattice l = box(4, 3, 2, kSharp);
    EXPECT_EQ(l->vertex_count, 60u);
    EXPECT_EQ(l->cell_count, 24u);
    EXPECT_EQ(l->vertex_count - l->edge_count + l->face_count - l->cell_count, 1u); // Euler
    unsigned sharp = 0;
    for (PliIndex e = 0; e < l->edge_count; ++e) sharp += l->sharp[e];
    EXPECT_EQ(sharp, 4u * (4 + 3 + 2));
    const Lattice fine = finer(l, PLI_RULE_CC);
    EXPECT_EQ(fine->vertex_count, 9u * 7 * 5);
    EXPECT_EQ(fine->cell_count, 192u);
}

TEST(Lattice, everyRuleSumsToOneAndKeepsAffineFieldsOnEveryKindOfCell)
{
    for (PliLatticeRule rule : { PLI_RULE_CC, PLI_RULE_BSWX, PLI_RULE_TRILINEAR }) {
        Lattice l = mixed();
        for (int level = 0; level < 2; ++level) {
            Rows rows;
            Lattice fine = finer(l, rule, &rows);
            const PliRows r = pli_transfer_rows(rows.get());
            for (PliIndex i = 0; i < fine->vertex_count; ++i) ASSERT_NEAR(row_sum(r, i), 1.0, 4e-15);
            for (PliIndex c = 0; c < fine->cell_count; ++c) ASSERT_EQ(fine->corners[c], 8);
            l = std::move(fine);
        }
        EXPECT_EQ(l->cell_count, (8u + 6 + 4) * 8);
    }
}

TEST(Lattice, theInteriorMaskIsTheTensorProductOfOneFourSixFourOne)
{
    const double mask[5] = { 0.125, 0.5, 0.75, 0.5, 0.125 };
    for (PliLatticeRule rule : { PLI_RULE_CC, PLI_RULE_BSWX }) {
        const Lattice l = box(4, 4, 4, kSharp);
        Rows rows;
        const Lattice fine = finer(l, rule, &rows);
        const PliRows r = pli_transfer_rows(rows.get());
        const PliIndex centre = 2 + 5 * (2 + 5 * 2);
        double worst = 0;
        unsigned reached = 0;
        // places by the split, which does not move them
        const Lattice flat = finer(l, PLI_RULE_TRILINEAR);
        for (PliIndex i = 0; i < fine->vertex_count; ++i) {
            double w = 0;
            for (PliIndex k = r.first[i]; k < r.first[i + 1]; ++k)
                if (r.column[k] == centre) w = r.weight[k];
            double expected = 1;
            for (int d = 0; d < 3; ++d) {
                const int at = int(std::lround(2 * flat->x[3 * i + d])) - 4 + 2;
                expected *= at >= 0 && at < 5 ? mask[at] : 0.0;
            }
            worst = largest_of(worst, std::fabs(w - expected));
            reached += w != 0.0;
        }
        EXPECT_LT(worst, 1e-15);
        EXPECT_EQ(reached, 125u);
    }
}

TEST(Lattice, aSharpBoxStaysABoxAndASmoothOneShrinks)
{
    Lattice sharp = box(1, 1, 1, kSharp), smooth = box(1, 1, 1, kSmooth);
    for (int level = 0; level < 3; ++level) sharp = finer(sharp, PLI_RULE_CC), smooth = finer(smooth, PLI_RULE_CC);
    const auto volume = [](const Lattice &l) {
        std::vector<PliIndex> tri(3 * pli_lattice_surface(l.get(), nullptr));
        const PliIndex n = pli_lattice_surface(l.get(), tri.data());
        double v = 0;
        for (PliIndex t = 0; t < n; ++t) {
            const double *a = l->x + 3 * tri[3 * t], *b = l->x + 3 * tri[3 * t + 1], *c = l->x + 3 * tri[3 * t + 2];
            v += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                  a[2] * (b[0] * c[1] - b[1] * c[0])) /
                 6;
        }
        return v;
    };
    EXPECT_NEAR(volume(sharp), 1.0, 1e-14);
    EXPECT_NEAR(volume(smooth), 0.3276, 0.01); // the limit, known from deeper levels
}

TEST(Lattice, limitMasksOfRegularVerticesAreOneFourOne)
{
    const Lattice l = box(3, 3, 3, kSharp);
    for (PliLatticeRule rule : { PLI_RULE_CC, PLI_RULE_BSWX })
        for (PliIndex v = 0; v < l->vertex_count; ++v) {
            PliIndex column[64];
            double weight[64];
            const PliIndex n = pli_lattice_limit(l.get(), rule, v, column, weight, 64);
            ASSERT_GT(n, 0u);
            double sum = 0;
            for (PliIndex k = 0; k < n; ++k) {
                double expected = 1;
                for (int d = 0; d < 3; ++d) {
                    const double at = l->x[3 * v + d], off = std::fabs(l->x[3 * column[k] + d] - at);
                    const bool end = at == 0.0 || at == 3.0;
                    expected *= end ? (off == 0 ? 1.0 : 0.0) : off == 0 ? 4.0 / 6 : off == 1 ? 1.0 / 6 : 0.0;
                }
                ASSERT_NEAR(weight[k], expected, 1e-13);
                sum += weight[k];
            }
            ASSERT_NEAR(sum, 1.0, 1e-13);
        }
}

TEST(Lattice, limitMaskOfASmoothBoundaryVertexIsTheSurfaceOne)
{
    const Lattice l = finer(box(1, 1, 1, kSmooth), PLI_RULE_CC);
    PliIndex column[64];
    double weight[64];
    const PliIndex n = pli_lattice_limit(l.get(), PLI_RULE_CC, 0, column, weight, 64); // three faces meet
    std::map<PliIndex, double> w;
    for (PliIndex k = 0; k < n; ++k) w[column[k]] = weight[k];
    EXPECT_NEAR(w[0], 9.0 / 24, 1e-12);
    unsigned edges = 0, faces = 0;
    for (const auto &[v, value] : w) {
        edges += std::fabs(value - 4.0 / 24) < 1e-12;
        faces += std::fabs(value - 1.0 / 24) < 1e-12;
    }
    EXPECT_EQ(edges, 3u);
    EXPECT_EQ(faces, 3u);
}

TEST(Lattice, shapesSumToOneAndAgreeAcrossFacesAndWithTheLimit)
{
    for (PliLatticeRule rule : { PLI_RULE_CC, PLI_RULE_BSWX })
        for (double angle : { kSharp, kSmooth }) {
            const Lattice l = finer(box(2, 1, 1, angle), rule);
            PliError err{};
            const Shapes s(pli_shapes_create(l.get(), rule, &err));
            ASSERT_TRUE(s) << err.text;
            EXPECT_EQ(s->irregular == 0, angle == kSharp);
            std::map<PliIndex, std::vector<double>> seen; // limit places of vertices, from every cell around
            for (PliIndex c = 0; c < l->cell_count; ++c) {
                const PliIndex n = s->first[c + 1] - s->first[c];
                std::vector<double> value(n), grad(3 * n);
                for (PliIndex part = 0; part < pli_shapes_parts(s.get(), c); ++part) {
                    const double u[3] = { 0.3, 0.8, 0.45 };
                    pli_shapes_eval(s.get(), c, part, u, value.data(), grad.data());
                    double sum = 0, slope = 0;
                    for (PliIndex k = 0; k < n; ++k) sum += value[k], slope += grad[3 * k];
                    ASSERT_NEAR(sum, 1.0, 1e-12);
                    ASSERT_NEAR(slope, 0.0, 1e-12);
                }
                if (!pli_shapes_regular(s.get(), c)) continue;
                const int bits[8] = { 0, 1, 3, 2, 4, 5, 7, 6 };
                for (int k = 0; k < 8; ++k) {
                    const double u[3] = { double(bits[k] & 1), double(bits[k] >> 1 & 1), double(bits[k] >> 2) };
                    pli_shapes_eval(s.get(), c, 0, u, value.data(), nullptr);
                    double p[3] = { 0, 0, 0 }, q[3] = { 0, 0, 0 };
                    for (PliIndex m = 0; m < n; ++m)
                        for (int d = 0; d < 3; ++d) p[d] += value[m] * l->x[3 * s->vertex[s->first[c] + m] + d];
                    PliIndex column[64];
                    double weight[64];
                    const PliIndex count = pli_lattice_limit(l.get(), rule, l->cell[8 * c + k], column, weight, 64);
                    for (PliIndex m = 0; m < count; ++m)
                        for (int d = 0; d < 3; ++d) q[d] += weight[m] * l->x[3 * column[m] + d];
                    for (int d = 0; d < 3; ++d) ASSERT_NEAR(p[d], q[d], 1e-12);
                }
            }
        }
}

TEST(Lattice, pyramidsAreRefusedInOneSentence)
{
    Mesh m(pli_mesh_create(&host));
    const double x[] = { 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 1 };
    pli_mesh_resize_points(m.get(), 5);
    std::memcpy(m->x, x, sizeof x);
    pli_mesh_resize_cells(m.get(), PLI_HEX, 1);
    const PliIndex hex[] = { 0, 1, 2, 3, 4, 4, 4, 4 };
    std::memcpy(m->hexes, hex, sizeof hex);
    PliError err{};
    EXPECT_FALSE(pli_lattice_from_mesh(&host, m.get(), 40.0, &err));
    EXPECT_EQ(err.status, PLI_UNSUPPORTED);
    EXPECT_NE(std::string(err.text).find("pyramid"), std::string::npos);
}

TEST(Lattice, aBoundaryThatTouchesItselfIsRefused)
{
    Mesh m(pli_mesh_create(&host));
    pli_mesh_resize_points(m.get(), 14);
    const double x[] = { 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1,
                         0, 1, 1, 2, 1, 0, 2, 2, 0, 1, 2, 0, 2, 1, 1, 2, 2, 1, 1, 2, 1 };
    std::memcpy(m->x, x, sizeof x);
    pli_mesh_resize_cells(m.get(), PLI_HEX, 2);
    const PliIndex hex[] = { 0, 1, 2, 3, 4, 5, 6, 7, 2, 8, 9, 10, 6, 11, 12, 13 };
    std::memcpy(m->hexes, hex, sizeof hex);
    PliError err{};
    EXPECT_FALSE(pli_lattice_from_mesh(&host, m.get(), 40.0, &err));
    EXPECT_NE(std::string(err.text).find("boundary faces meet at the edge"), std::string::npos);
}

TEST(Lattice, aSurfaceThatSticksOutOfItsGridIsRefused)
{
    PliBoxDef def{};
    for (int d = 0; d < 3; ++d) def.max[d] = 1.0, def.cells[d] = 1;
    PliError err{};
    const Mesh tets(pli_mesh_box(&host, &def, &err));
    PliInside *solid = pli_inside_create(&host, tets.get(), &err);
    ASSERT_TRUE(solid);
    const double origin[3] = { 0.2, 0, 0 }, size[3] = { 0.5, 0.5, 0.5 };
    const PliIndex cells[3] = { 2, 2, 2 };
    EXPECT_FALSE(pli_lattice_grid(&host, solid, origin, size, cells, true, &err));
    EXPECT_NE(std::string(err.text).find("sticks out of the grid"), std::string::npos) << err.text;
    pli_inside_destroy(solid);
}

TEST(Lattice, cubesAroundASurfaceHoldAllOfIt)
{
    PliBoxDef def{};
    for (int d = 0; d < 3; ++d) def.max[d] = 1.0 + d, def.cells[d] = 2;
    PliError err{};
    const Mesh tets(pli_mesh_box(&host, &def, &err));
    PliInside *solid = pli_inside_create(&host, tets.get(), &err);
    ASSERT_TRUE(solid) << err.text;
    double origin[3], size[3];
    PliIndex cells[3];
    ASSERT_EQ(pli_lattice_cubes(solid, 6, origin, size, cells, &err), PLI_OK) << err.text;
    const Lattice l(pli_lattice_grid(&host, solid, origin, size, cells, true, &err));
    const Lattice wide(pli_lattice_grid(&host, solid, origin, size, cells, false, &err));
    pli_inside_destroy(solid);
    ASSERT_TRUE(l && wide) << err.text;
    PliIndex full = 0;
    for (PliIndex c = 0; c < wide->cell_count; ++c) full += !wide->empty[c];
    EXPECT_EQ(full, l->cell_count);
    EXPECT_EQ(l->cell_count, 2u * 4u * 6u);
    EXPECT_EQ(wide->cell_count, 4u * 6u * 8u); // a layer around
    double lo[3] = { 9, 9, 9 }, hi[3] = { -9, -9, -9 };
    for (PliIndex v = 0; v < l->vertex_count; ++v)
        for (int d = 0; d < 3; ++d)
            lo[d] = smallest_of(lo[d], l->x[3 * v + d]), hi[d] = largest_of(hi[d], l->x[3 * v + d]);
    for (int d = 0; d < 3; ++d) {
        EXPECT_LE(lo[d], 1e-12);
        EXPECT_GE(hi[d], 1.0 + d - 1e-12);
        EXPECT_LE(hi[d] - lo[d], 1.0 + d + 0.5 + 1e-9); // less than a cell more than needed
    }
}
