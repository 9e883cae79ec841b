/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The mapping: its Jacobian against finite differences, its two transposes against its Jacobian, and where points go.
#include "scene.h"

#include <sofa/core/ConstraintParams.h>
#include <sofa/core/Mapping.h>
#include <sofa/core/MechanicalParams.h>
#include <sofa/core/topology/BaseMeshTopology.h>

#include <random>

using sofa::core::objectmodel::Data;
using namespace scene;

class MappingTest : public sofa::testing::BaseSimulationTest
{
protected:
    using Mapping = sofa::core::Mapping<Vec3Types, Vec3Types>;

    static VecCoord noise(std::size_t n, unsigned seed)
    {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> draw(-1.0, 1.0);
        VecCoord a(n);
        for (auto& p : a)
            for (int d = 0; d < 3; ++d)
                p[d] = draw(random);
        return a;
    }

    static void check(Mapping* mapping, const VecCoord& x, std::size_t points)
    {
        const auto* const mp = sofa::core::mechanicalparams::defaultInstance();
        // J is the derivative of apply
        const double h = 1e-3;
        const VecDeriv u = noise(x.size(), 1);
        VecCoord moved = x;
        for (std::size_t i = 0; i < x.size(); ++i)
            moved[i] += u[i] * h;
        Data<VecCoord> in, out, before;
        Data<VecDeriv> du, ju, f, jtf;
        in.setValue(x);
        before.setValue(VecCoord(points));
        mapping->apply(mp, before, in);
        in.setValue(moved);
        out.setValue(VecCoord(points));
        mapping->apply(mp, out, in);
        du.setValue(u);
        ju.setValue(VecDeriv(points));
        mapping->applyJ(mp, ju, du);
        for (std::size_t i = 0; i < points; ++i)
            EXPECT_LT(((out.getValue()[i] - before.getValue()[i]) / h - ju.getValue()[i]).norm(), 1e-10);
        // <Ju, f> = <u, JTf>, and JT adds
        f.setValue(noise(points, 2));
        const VecDeriv start = noise(x.size(), 3);
        jtf.setValue(start);
        mapping->applyJT(mp, jtf, f);
        double left = 0.0, right = 0.0;
        for (std::size_t i = 0; i < points; ++i)
            left += ju.getValue()[i] * f.getValue()[i];
        for (std::size_t i = 0; i < x.size(); ++i)
            right += u[i] * (jtf.getValue()[i] - start[i]);
        EXPECT_NEAR(left, right, 1e-12 * double(points));
        // rows of a constraint matrix: one dense, one empty, one with a single entry
        using Matrix = Vec3Types::MatrixDeriv;
        Data<Matrix> c, up;
        {
            auto rows = sofa::helper::getWriteAccessor(c);
            auto line = rows->writeLine(4);
            for (std::size_t i = 0; i < points; ++i)
                line.addCol(unsigned(i), f.getValue()[i]);
            rows->writeLine(9).addCol(unsigned(points / 2), f.getValue()[0]);
        }
        mapping->applyJT(sofa::core::constraintparams::defaultInstance(), up, c);
        double dense = 0.0, single = 0.0;
        int rowCount = 0;
        for (auto row = up.getValue().begin(); row != up.getValue().end(); ++row, ++rowCount)
            for (auto entry = row.begin(); entry != row.end(); ++entry)
                (row.index() == 4 ? dense : single) += entry.val() * u[entry.index()];
        EXPECT_EQ(rowCount, 2);
        EXPECT_NEAR(dense, left, 1e-12 * double(points));
        EXPECT_NEAR(single, ju.getValue()[points / 2] * f.getValue()[0], 1e-12);
    }
};

TEST_F(MappingTest, SkinHasExactTransposes)
{
    Scene run(root(defaultLoop + owned(box(3, 0.1), "")));
    auto* const mapping = run.get<Mapping>("Body/Skin/mapping");
    ASSERT_TRUE(mapping && run.isValid("Body/Skin/mapping"));
    check(mapping, run.x(), run.x("Body/Skin/points").size());
}

TEST_F(MappingTest, EmbeddedPointsHaveExactTransposesAndKeepAffineMotion)
{
    const std::string probes = R"(<Node name="Probes">
      <MechanicalObject name="points" position="0.031 0.022 0.043  0.05 0.05 0.05  0.09 0.01 0.07  0.0 0.0 0.0"/>
      <AdaptiveMapping name="mapping"/></Node>)";
    Scene run(root(defaultLoop + owned(box(3, 0.1), "", "", probes)));
    auto* const mapping = run.get<Mapping>("Body/Probes/mapping");
    ASSERT_TRUE(mapping && run.isValid("Body/Probes/mapping"));
    check(mapping, run.x(), 4);
    Data<VecCoord> in, out;
    VecCoord x = run.x();
    for (auto& p : x)
        p = Vec3Types::Coord(1.0 + p[0] + 0.5 * p[1], 2.0 * p[1], p[2] - 0.25 * p[0]);
    in.setValue(x);
    out.setValue(VecCoord(4));
    mapping->apply(sofa::core::mechanicalparams::defaultInstance(), out, in);
    const auto& p = out.getValue()[0];
    EXPECT_NEAR(p[0], 1.0 + 0.031 + 0.5 * 0.022, 1e-14);
    EXPECT_NEAR(p[1], 0.044, 1e-14);
    EXPECT_NEAR(p[2], 0.043 - 0.25 * 0.031, 1e-14);
}

TEST_F(MappingTest, SurfacePublishesAClosedSkin)
{
    Scene run(root(defaultLoop + owned(box(3, 0.1), "")));
    auto* const topology = run.get<sofa::core::topology::BaseMeshTopology>("Body/Skin/surface");
    ASSERT_TRUE(topology);
    EXPECT_EQ(topology->getNbPoints(), 56u); // 4^3 - 2^3
    EXPECT_EQ(topology->getNbTriangles(), 108u);
    double volume = 0.0;
    const auto& x = run.x("Body/Skin/points");
    for (const auto& t : topology->getTriangles())
        volume += x[t[0]] * sofa::type::cross(x[t[1]], x[t[2]]) / 6.0;
    EXPECT_NEAR(volume, 1e-3, 1e-12);
}
