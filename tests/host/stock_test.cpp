/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/host_scene.h"

#include <array>
#include <cmath>
#include <set>

using namespace pliant_test;

namespace
{

constexpr double pi = 3.14159265358979323846;

// ---- states and topologies -----------------------------------------------------------------------------------------------

TEST(State, ScalesThenTurnsThenMoves)
{
    HostScene s(node(
        R"(<MechanicalObject name="m" position="1 0 0" velocity="1 2 3" scale3d="2 1 1" rotation="0 0 90" translation="0 0 5"/>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    const double *x = s.state("m")->x;
    EXPECT_NEAR(x[0], 0.0, 1e-15);
    EXPECT_NEAR(x[1], 2.0, 1e-15);
    EXPECT_EQ(x[2], 5.0);
    EXPECT_EQ(s.state("m")->v[1], 2.0); // velocities are not turned
    EXPECT_EQ(s.state("m")->x0[2], 5.0);
}

TEST(State, EulerAnglesTurnAboutXThenYThenZ)
{
    HostScene s(
        node(R"(<MechanicalObject name="m" position="0 0 1" rotation="90 90 0"/>)")); // z -> -y, then about y: stays
    EXPECT_NEAR(s.state("m")->x[1], -1.0, 1e-15);
    HostScene t(node(R"(<MechanicalObject name="m" position="0 1 0" rotation="90 90 0"/>)")); // y -> z -> x
    EXPECT_NEAR(t.state("m")->x[0], 1.0, 1e-15);
}

TEST(State, TheLastVelocityGoesOn)
{
    HostScene s(node(R"(<RegularGridTopology n="3 1 1"/><MechanicalObject name="m" velocity="0 1 0"/>)"));
    ASSERT_EQ(s.state("m")->count, 3u);
    EXPECT_EQ(s.state("m")->v[7], 1.0);
}

TEST(State, RestIsStoredBeforeTheSecondTransform)
{
    HostScene s(node(R"(<MechanicalObject name="m" position="1 0 0" restScale="0.5" translation2="0 3 0"/>)"));
    EXPECT_EQ(s.state("m")->x[1], 3.0);
    EXPECT_EQ(s.state("m")->x0[1], 0.0);
    EXPECT_EQ(s.state("m")->x0[0], 0.5);
}

TEST(Grid, PointsAndCells)
{
    HostScene s(node(R"(<RegularGridTopology name="g" n="3 4 2" min="-1 0 0" max="1 3 5"/>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    auto x = s.reals("g", "position");
    ASSERT_EQ(x.size(), 3u * 24);
    EXPECT_EQ(x[0], -1.0);
    EXPECT_EQ(x[3 * 1], 0.0);      // x runs fastest
    EXPECT_EQ(x[3 * 3 + 1], 1.0);  // then y
    EXPECT_EQ(x[3 * 23 + 2], 5.0); // then z
    EXPECT_EQ(s.indices("g", "hexahedra").size(), 8u * 6);
    EXPECT_EQ(s.indices("g", "quads").size(), 4u * (2 * 3 * 2 + 2 * 4 * 1 + 3 * 3 * 1));
    EXPECT_EQ(s.indices("g", "edges").size(), 2u * (2 * 4 * 2 + 3 * 3 * 2 + 3 * 4 * 1));
}

TEST(Grid, CellWidthAndFlatGrids)
{
    HostScene w(node(R"(<RegularGridTopology name="g" cellWidth="0.5" min="0 0 0" max="1 1 1.2"/>)"));
    EXPECT_EQ(w.reals("g", "position").size(), 3u * 3 * 3 * 4);
    EXPECT_EQ(w.reals("g", "position")[6], 2.0); // SOFA counts by cellWidth, but spaces by n
    EXPECT_NE(w.findings().find("give n instead"), std::string::npos);
    HostScene flat(node(R"(<RegularGridTopology name="g" n="2 1 1" min="0 -1 -1" max="1 1 1"/>)"));
    auto x = flat.reals("g", "position");
    EXPECT_EQ(x[1], 0.0);  // the middle in y
    EXPECT_EQ(x[2], -1.0); // but the lower end in z: as SOFA
    EXPECT_FALSE(HostScene(node(R"(<RegularGridTopology n="100000 100000 100000"/>)")).good());
}

TEST(Topology, CellsOutOfRangeAreRefused)
{
    HostScene s(node(R"(<MeshTopology position="0 0 0 1 0 0 0 1 0" triangles="0 1 3"/>)"));
    EXPECT_NE(s.findings().find("triangles 0 has corner 3, but there are 3 points"), std::string::npos) << s.findings();
}

double tet_volume(const std::vector<double> &x, const PliIndex *t)
{
    double e[3][3];
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i) e[k][i] = x[3 * t[k + 1] + i] - x[3 * t[0] + i];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

TEST(TopologicalMapping, HexahedraBecomeTetrahedraThatMeet)
{
    for (const char *swapping : { "0", "1" }) {
        HostScene s(node(std::string(R"(<RegularGridTopology name="g" n="4 3 3" min="0 0 0" max="3 2 2"/>
            <Node name="c"><TetrahedronSetTopologyContainer name="t"/><Hexa2TetraTopologicalMapping input="@../g" output="@t" swapping=")") +
                         swapping + R"("/>
            <Node name="s"><TriangleSetTopologyContainer name="f"/><Tetra2TriangleTopologicalMapping input="@../t" output="@f"/></Node></Node>)"));
        ASSERT_TRUE(s.good()) << s.findings();
        auto tets = s.indices("c/t", "tetrahedra");
        auto x = s.reals("g", "position");
        ASSERT_EQ(tets.size(), 4u * 6 * 12);
        double volume = 0;
        for (size_t i = 0; i < tets.size(); i += 4) {
            EXPECT_GT(tet_volume(x, &tets[i]), 0.0);
            volume += tet_volume(x, &tets[i]);
        }
        EXPECT_NEAR(volume, 12.0, 1e-12);
        // neighbours meet: the surface of the box is all the surface there is
        auto tris = s.indices("c/s/f", "triangles");
        double area = 0, centre[3] = { 1.5, 1, 1 };
        for (size_t i = 0; i < tris.size(); i += 3) {
            double a[3], b[3], c[3], d = 0;
            for (int k = 0; k < 3; ++k) {
                a[k] = x[3 * tris[i + 1] + k] - x[3 * tris[i] + k];
                b[k] = x[3 * tris[i + 2] + k] - x[3 * tris[i] + k];
            }
            c[0] = a[1] * b[2] - a[2] * b[1], c[1] = a[2] * b[0] - a[0] * b[2], c[2] = a[0] * b[1] - a[1] * b[0];
            for (int k = 0; k < 3; ++k) d += c[k] * (x[3 * tris[i] + k] - centre[k]);
            EXPECT_GT(d, 0.0) << "triangle " << i / 3 << " looks inwards";
            area += 0.5 * std::sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        }
        if (*swapping == '1') {
            EXPECT_NEAR(area, 2 * (6 + 6 + 4), 1e-12);
        }
    }
}

TEST(Loader, MakesSubelementsOnce)
{
    Folder f;
    f.write("two.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 "
                       "1\n$EndNodes\n$Elements\n2\n1 4 0 1 2 3 4\n2 4 0 2 3 4 5\n$EndElements\n");
    HostScene s(
        HostScene::FromFile{},
        f.write(
            "s.scn",
            node(
                R"(<MeshGmshLoader name="l" filename="two.msh" createSubelements="1" scale="0.1" translation="1 0 0"/>)")));
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.indices("l", "tetrahedra").size(), 8u);
    EXPECT_EQ(s.indices("l", "triangles").size(), 3u * 7); // one face is shared
    EXPECT_EQ(s.indices("l", "edges").size(), 2u * 9);
    EXPECT_EQ(s.reals("l", "position")[3], 1.0 + double(0.1f)); // scaled by a float, then moved: as SOFA
}

// ---- regions -------------------------------------------------------------------------------------------------------------

TEST(Roi, BoundsAreInside)
{
    HostScene s(node(R"(<RegularGridTopology n="3 3 3" min="0 0 0" max="2 2 2"/><MechanicalObject name="m"/>
        <BoxROI name="r" box="0 0 0 1 1 1  2 2 2 2 2 2"/><SphereROI name="q" centers="0 0 0" radii="1"/>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.indices("r", "indices"), (std::vector<PliIndex>{ 0, 1, 3, 4, 9, 10, 12, 13, 26 }));
    EXPECT_EQ(s.indices("r", "hexahedronIndices"), std::vector<PliIndex>{ 0 });
    EXPECT_EQ(s.reals("r", "pointsInROI").size(), 27u);
    EXPECT_EQ(s.reals("r", "nbIndices"), std::vector<double>{ 9 });
    EXPECT_EQ(s.indices("r", "indicesOut").size(), 18u);
    EXPECT_EQ(s.indices("q", "indices"), (std::vector<PliIndex>{ 0, 1, 3, 9 }));
}

TEST(Roi, OrientedBoxesAndCentres)
{
    // a box through three points of the plane z = 0, turned by 45 degrees, half a unit deep on each side
    HostScene s(node(R"(<MechanicalObject name="m" position="1 0 0  1 1 0  -0.9 0.9 0.4  0 0 0.6  2.1 0 0"/>
        <BoxROI name="r" orientedBox="0 -1 0  1 0 0  0 1 0  1"/>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.indices("r", "indices"), std::vector<PliIndex>{ 0 });
    HostScene c(node(
        R"(<RegularGridTopology n="3 2 2" min="0 0 0" max="2 1 1"/><MechanicalObject/><BoxROI name="r" box="0 0 0 0.6 1 1" strict="0"/>)"));
    EXPECT_EQ(c.indices("r", "hexahedronIndices"), std::vector<PliIndex>{ 0 });
}

TEST(Roi, LooksAtRestPositionsByDefault)
{
    HostScene s(node(
        R"(<MechanicalObject name="m" position="0 0 0" translation2="5 0 0"/><BoxROI name="r" box="-1 -1 -1 1 1 1"/>)"));
    EXPECT_EQ(s.indices("r", "indices").size(), 1u);
}

// ---- masses --------------------------------------------------------------------------------------------------------------

double total_mass(HostScene &s, const char *mass, const PliMech *m)
{
    std::vector<double> one(3 * m->count, 1.0), f(3 * m->count, 0.0);
    PliObject *o = s.object(mass);
    o->cls->ops->add_mbk(o, one.data(), { 1, 0, 0 }, f.data());
    double sum = 0;
    for (PliIndex i = 0; i < m->count; ++i) sum += f[3 * i + 1];
    return sum;
}

TEST(Mass, TotalsHold)
{
    const std::string grid = R"(<RegularGridTopology n="3 3 3" min="0 0 0" max="1 2 3"/><MechanicalObject name="m"/>)";
    const struct {
        const char *xml;
        double mass;
    } cases[] = {
        { R"(<UniformMass name="k" totalMass="7"/>)", 7 },
        { R"(<UniformMass name="k" vertexMass="0.5"/>)", 13.5 },
        { R"(<DiagonalMass name="k" massDensity="2"/>)", 12 },
        { R"(<DiagonalMass name="k" totalMass="5"/>)", 5 },
        { R"(<DiagonalMass name="k"/>)", 1 },
        { R"(<MeshMatrixMass name="k" massDensity="2" lumping="1"/>)", 12 },
        { R"(<DiagonalMass name="k" vertexMass="0.1"/>)", 2.7 },
    };
    for (const auto &c : cases) {
        HostScene s(node(grid + c.xml));
        ASSERT_TRUE(s.good()) << c.xml << s.findings();
        EXPECT_NEAR(total_mass(s, "k", s.state("m")), c.mass, 1e-12) << c.xml;
    }
    EXPECT_FALSE(HostScene(node(grid + R"(<UniformMass totalMass="-1"/>)")).good());
    EXPECT_FALSE(HostScene(node(grid + "<UniformMass/>")).good()); // SOFA refuses it too
}

TEST(Mass, LumpedMatrixMassIsDiagonalMass)
{
    const std::string body =
        R"(<RegularGridTopology name="g" n="3 3 3" min="0 0 0" max="1 2 3"/><MechanicalObject name="m"/>
        <TetrahedronSetTopologyContainer name="t"/><Hexa2TetraTopologicalMapping input="@g" output="@t"/>)";
    HostScene a(node(body + R"(<DiagonalMass name="k" massDensity="2"/>)")),
        b(node(body + R"(<MeshMatrixMass name="k" massDensity="2" lumping="1"/>)"));
    ASSERT_TRUE(a.good()) << a.findings();
    ASSERT_TRUE(b.good()) << b.findings();
    std::vector<double> dx(81), fa(81), fb(81);
    for (size_t i = 0; i < dx.size(); ++i) dx[i] = std::sin(double(i));
    a.object("k")->cls->ops->add_mbk(a.object("k"), dx.data(), { 1, 0, 0 }, fa.data());
    b.object("k")->cls->ops->add_mbk(b.object("k"), dx.data(), { 1, 0, 0 }, fb.data());
    for (size_t i = 0; i < dx.size(); ++i) EXPECT_NEAR(fa[i], fb[i], 1e-14);
    EXPECT_NEAR(total_mass(a, "k", a.state("m")), 12.0, 1e-12);
}

TEST(Mass, ConsistentMassOfOneTetrahedron)
{
    HostScene s(node(
        R"(<TetrahedronSetTopologyContainer position="0 0 0 1 0 0 0 1 0 0 0 1" tetrahedra="0 1 2 3"/><MechanicalObject name="m"/><MeshMatrixMass name="k" massDensity="60"/>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    double dx[12] = { 1 }, f[12] = { 0 };
    PliObject *o = s.object("k");
    o->cls->ops->add_mbk(o, dx, { 1, 0, 0 }, f);
    EXPECT_NEAR(f[0], 1.0, 1e-14); // rho V / 10, V = 1/6
    for (int i = 1; i < 4; ++i) EXPECT_NEAR(f[3 * i], 0.5, 1e-14);
}

// ---- integrators ---------------------------------------------------------------------------------------------------------

TEST(Integrator, FreeFallIsExact)
{
    const double h = 0.01, g = -9.81;
    const int n = 100;
    const struct {
        const char *xml;
        double x;
    } cases[] = {
        { R"(<EulerImplicitSolver/><CGLinearSolver/>)", g * h * h * n * (n + 1) / 2 },
        { R"(<EulerImplicitSolver/><SparseLDLSolver/>)", g * h * h * n * (n + 1) / 2 },
        { R"(<EulerExplicitSolver/>)", g * h * h * n * (n + 1) / 2 },
        { R"(<EulerExplicitSolver symplectic="0"/>)", g * h * h * n * (n - 1) / 2 },
    };
    for (const auto &c : cases) {
        HostScene s(node(std::string(c.xml) +
                         R"(<MechanicalObject name="m" position="0 0 0  1 0 0"/><UniformMass totalMass="3"/>)"));
        ASSERT_TRUE(s.good()) << s.findings();
        s.step(n);
        EXPECT_NEAR(s.state("m")->x[4], c.x, 1e-12) << c.xml;
        EXPECT_NEAR(s.state("m")->v[1], g * h * n, 1e-12) << c.xml;
        EXPECT_NEAR(s.scene->time, 1.0, 1e-12);
    }
}

// One mass on a spring to its rest place: every step has a closed form.
TEST(Integrator, ImplicitEulerStepByStep)
{
    const double k = 100, m = 10, h = 0.1;
    for (double rs : { 0.0, 0.2 })
        for (double rm : { 0.0, 0.3 })
            for (double tr : { 1.0, 0.5 }) {
                char xml[600];
                snprintf(
                    xml, sizeof xml,
                    R"(<EulerImplicitSolver rayleighStiffness="%g" rayleighMass="%g" trapezoidalScheme="%d"/><CGLinearSolver tolerance="1e-15" threshold="1e-30"/>
                    <MechanicalObject name="m" position="2 0 0" rest_position="0 0 0" velocity="1 0 0"/><UniformMass totalMass="10"/><RestShapeSpringsForceField stiffness="100"/>)",
                    rs, rm, tr == 0.5);
                HostScene s(node(xml, "dt=\"0.1\" gravity=\"0 0 0\""));
                ASSERT_TRUE(s.good()) << s.findings();
                double x = 2, v = 1;
                for (int i = 0; i < 50; ++i) {
                    double b = h * (-k * x - (h * tr + rs) * k * v - rm * m * v);
                    double a = m * (1 + tr * h * rm) + tr * h * (tr * h + rs) * k;
                    v += b / a;
                    x += h * v;
                    s.step();
                    ASSERT_NEAR(s.state("m")->x[0], x, 5e-15 * (1 + i)) << "step " << i << " rs " << rs << " rm " << rm;
                    ASSERT_NEAR(s.state("m")->v[0], v, 5e-14 * (1 + i));
                }
            }
}

TEST(Integrator, VelocityDampingAndFirstOrder)
{
    HostScene s(node(
        R"(<EulerImplicitSolver vdamping="2"/><CGLinearSolver/><MechanicalObject name="m" velocity="1 0 0" position="0 0 0"/><UniformMass totalMass="1"/>)",
        "gravity=\"0 0 0\""));
    s.step(10);
    EXPECT_NEAR(s.state("m")->v[0], std::exp(-0.2), 1e-14);
    HostScene f(node(
        R"(<EulerImplicitSolver firstOrder="1"/><CGLinearSolver threshold="1e-30"/><MechanicalObject name="m" position="1 0 0" rest_position="0 0 0"/><UniformMass totalMass="2"/><RestShapeSpringsForceField stiffness="10"/>)",
        "gravity=\"0 0 0\" dt=\"0.1\""));
    double x = 1;
    for (int i = 0; i < 5; ++i) {
        x += 0.1 * (-10 * x) / (2 + 0.1 * 10); // (m + h k) v = f
        f.step();
        EXPECT_NEAR(f.state("m")->x[0], x, 1e-14);
    }
}

TEST(Integrator, FieldsHaveTheirOwnRayleighDamping)
{
    // rayleighStiffness of a force field adds b K with b = -h on the left side
    const double k = 100, m = 10, h = 0.1, r = 0.4;
    HostScene s(node(
        R"(<EulerImplicitSolver/><CGLinearSolver threshold="1e-30"/><MechanicalObject name="m" position="2 0 0" rest_position="0 0 0"/><UniformMass totalMass="10"/>
        <RestShapeSpringsForceField stiffness="100" rayleighStiffness="0.4"/>)",
        "gravity=\"0 0 0\" dt=\"0.1\""));
    s.step();
    EXPECT_NEAR(s.state("m")->v[0], h * (-k * 2) / (m + h * h * k + h * r * k), 1e-14);
}

// SOFA's stopping rules: the very first solve never stops in its first iteration, later ones do.
TEST(ConjugateGradient, StopsWhereSofaStops)
{
    HostScene s(node(
        R"(<EulerImplicitSolver/><CGLinearSolver iterations="25" tolerance="1e-9" threshold="1e10"/><MechanicalObject name="m" position="0 0 0"/><UniformMass totalMass="1"/>)"));
    s.step();
    EXPECT_NEAR(s.state("m")->v[1], -0.0981,
                1e-15); // one iteration was made although the denominator is below the threshold
    s.step();
    EXPECT_NEAR(s.state("m")->v[1], -0.0981, 1e-15); // now none
    HostScene t(node(
        R"(<EulerImplicitSolver/><CGLinearSolver iterations="25" tolerance="2" threshold="1e-30"/><MechanicalObject name="m" position="0 0 0"/><UniformMass totalMass="1"/>)"));
    t.step(2);
    EXPECT_NEAR(t.state("m")->v[1], -0.0981, 1e-15);
    HostScene none(node(
        R"(<EulerImplicitSolver/><CGLinearSolver iterations="0"/><MechanicalObject name="m" position="0 0 0"/><UniformMass totalMass="1"/>)"));
    none.step();
    EXPECT_EQ(none.state("m")->v[1], 0.0);
}

TEST(Integrator, OneSolverForSeveralStates)
{
    HostScene s(node(
        R"(<EulerImplicitSolver/><SparseLDLSolver/><Node name="a"><MechanicalObject name="m" position="0 0 0"/><UniformMass totalMass="1"/></Node>
        <Node name="b"><MechanicalObject name="m" position="5 0 0 6 0 0"/><UniformMass totalMass="1"/><FixedProjectiveConstraint indices="1"/></Node>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    s.step();
    EXPECT_NEAR(s.state("a/m")->v[1], -0.0981, 1e-15);
    EXPECT_NEAR(s.state("b/m")->v[1], -0.0981, 1e-15);
    EXPECT_EQ(s.state("b/m")->v[4], 0.0);
}

TEST(Integrator, AllocatesNothingInAStep)
{
    HostScene s(node(
        R"(<EulerImplicitSolver/><SparseLDLSolver/><RegularGridTopology n="4 3 3"/><MechanicalObject name="m"/><DiagonalMass totalMass="1"/>
        <BoxROI name="r" box="0 0 0 0 1 1" position="@m.position"/><FixedProjectiveConstraint indices="@r.indices"/><TetrahedronFEMForceField youngModulus="1e4" poissonRatio="0.3"/>
        <PlaneForceField normal="0 1 0" d="-0.01"/><Node name="c"><MechanicalObject name="p" position="0.5 0.5 0.5"/><BarycentricMapping/></Node>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    s.step(2);
    long before = s.host().calls;
    s.step(20);
    EXPECT_EQ(s.host().calls, before);
}

TEST(Integrator, DivergenceIsReportedInTheSameStep)
{
    HostScene s(node(
        R"(<EulerExplicitSolver/><RegularGridTopology n="3 2 2"/><MechanicalObject name="m"/><UniformMass totalMass="1e-6"/><TetrahedronFEMForceField youngModulus="1e12" poissonRatio="0.3"/>)"));
    PliError err = {};
    PliStatus status = PLI_OK;
    for (int i = 0; i < 1000 && !status; ++i) status = pli_scene_step(s.scene, &err);
    EXPECT_EQ(status, PLI_DIVERGED);
    EXPECT_NE(std::string(err.text).find("is no longer finite at t ="), std::string::npos) << err.text;
}

// ---- constraints -----------------------------------------------------------------------------------------------------------

TEST(Constraint, PartialHoldsOneDirection)
{
    for (const char *solver : { "<CGLinearSolver/>", "<SparseLDLSolver/>" }) {
        HostScene s(node(std::string("<EulerImplicitSolver/>") + solver +
                             R"(<MechanicalObject name="m" position="0 0 0 1 0 0"/><UniformMass totalMass="2"/>
            <PartialFixedProjectiveConstraint indices="0" fixedDirections="0 1 0"/>)",
                         "gravity=\"1 2 3\""));
        ASSERT_TRUE(s.good()) << s.findings();
        s.step();
        EXPECT_NEAR(s.state("m")->v[0], 0.01, 1e-15);
        EXPECT_EQ(s.state("m")->v[1], 0.0);
        EXPECT_NEAR(s.state("m")->v[2], 0.03, 1e-15);
        EXPECT_NEAR(s.state("m")->v[4], 0.02, 1e-15);
    }
}

TEST(Constraint, FixedPointsKeepTheirVelocityUnlessAsked)
{
    const std::string body =
        R"(<EulerImplicitSolver/><CGLinearSolver/><MechanicalObject name="m" position="0 0 0" velocity="1 0 0"/><UniformMass totalMass="1"/>)";
    HostScene drift(node(body + R"(<FixedProjectiveConstraint fixAll="1"/>)"));
    drift.step();
    EXPECT_NEAR(drift.state("m")->x[0], 0.01, 1e-15); // SOFA's own behaviour
    HostScene held(node(body + R"(<FixedProjectiveConstraint fixAll="1" activate_projectVelocity="1"/>)"));
    held.step(2);
    EXPECT_EQ(held.state("m")->v[0], 0.0);
}

TEST(Constraint, IndicesOutOfRangeAreLeftOut)
{
    HostScene s(node(
        R"(<EulerImplicitSolver/><CGLinearSolver/><MechanicalObject name="m" position="0 0 0"/><UniformMass totalMass="1"/><FixedProjectiveConstraint indices="5"/>)"));
    ASSERT_TRUE(s.good());
    EXPECT_NE(s.findings().find("index 5 is left out"), std::string::npos);
    s.step();
    EXPECT_LT(s.state("m")->v[1], 0.0);
}

TEST(Constraint, LinearMovementFollowsItsKeys)
{
    HostScene s(node(
        R"(<EulerImplicitSolver/><CGLinearSolver/><MechanicalObject name="m" position="1 0 0  2 0 0"/><UniformMass totalMass="2"/>
        <LinearMovementProjectiveConstraint indices="0" keyTimes="0 0.05 0.1" movements="0 0 0  0 5 0  0 5 10"/>)",
        "gravity=\"0 0 0\""));
    ASSERT_TRUE(s.good()) << s.findings();
    s.step(4); // the state at t = 0.04 holds the motion of t = 0.03
    EXPECT_NEAR(s.state("m")->x[1], 3.0, 1e-12);
    EXPECT_NEAR(s.state("m")->v[1], 100.0, 1e-12);
    s.step(4);
    EXPECT_NEAR(s.state("m")->x[1], 5.0, 1e-12);
    EXPECT_NEAR(s.state("m")->x[2], 4.0, 1e-12);
    EXPECT_EQ(s.state("m")->x[0], 1.0);
    EXPECT_EQ(s.state("m")->x[4], 0.0);
    s.step(5);
    double last = s.state("m")->x[2];
    s.step(); // after the last key the point is free and goes on with its velocity
    EXPECT_NEAR(s.state("m")->x[2] - last, 2.0, 1e-9);
}

// ---- forces ----------------------------------------------------------------------------------------------------------------

std::vector<double> force(HostScene &s, const char *name, const PliMech *m)
{
    std::vector<double> f(3 * m->count, 0.0);
    PliObject *o = s.object(name);
    o->cls->ops->add_force(o, m->x, m->v, f.data());
    return f;
}

TEST(Force, Constant)
{
    const std::string m = R"(<MechanicalObject name="m" position="0 0 0 1 0 0 2 0 0 3 0 0"/>)";
    HostScene total(node(m + R"(<ConstantForceField name="f" indices="1 3" totalForce="0 4 0"/>)"));
    auto f = force(total, "f", total.state("m"));
    EXPECT_EQ(f[4], 2.0);
    EXPECT_EQ(f[10], 2.0);
    EXPECT_EQ(f[7], 0.0);
    HostScene each(node(m + R"(<ConstantForceField name="f" indices="0 1" forces="1 0 0 0 0 2" indexFromEnd="1"/>)"));
    f = force(each, "f", each.state("m"));
    EXPECT_EQ(f[9], 1.0);
    EXPECT_EQ(f[8], 2.0);
    EXPECT_FALSE(HostScene(node(m + "<ConstantForceField/>")).good());
    EXPECT_FALSE(HostScene(node(m + R"(<ConstantForceField indices="0 1 2" forces="1 0 0 0 0 2"/>)")).good());
}

TEST(Force, PlaneAndSphere)
{
    HostScene p(node(
        R"(<MechanicalObject name="m" position="0 -0.5 0  0 1 0" velocity="0 2 0"/><PlaneForceField name="f" normal="0 1 0" d="0" stiffness="100" damping="3"/>)"));
    auto f = force(p, "f", p.state("m"));
    EXPECT_NEAR(f[1], 100 * 0.5 - 2 * 3 * 0.5, 1e-14); // SOFA's damping grows with the depth
    EXPECT_EQ(f[4], 0.0);
    HostScene limited(node(
        R"(<MechanicalObject name="m" position="0 -0.5 0"/><PlaneForceField name="f" stiffness="100" maxForce="7"/>)"));
    EXPECT_NEAR(force(limited, "f", limited.state("m"))[1], 7.0, 1e-14);
    HostScene q(node(
        R"(<MechanicalObject name="m" position="0.6 0 0  2 0 0"/><SphereForceField name="f" radius="1" stiffness="10" damping="0"/>)"));
    f = force(q, "f", q.state("m"));
    EXPECT_NEAR(f[0], 10 * 0.4, 1e-14);
    EXPECT_EQ(f[3], 0.0);
}

TEST(Force, SpringsToAnotherShape)
{
    HostScene s(node(R"(<Node name="shape"><MechanicalObject name="target" position="5 0 0 6 0 0"/></Node>
        <Node name="n"><MechanicalObject name="m" position="0 0 0 1 0 0"/><RestShapeSpringsForceField name="f" points="1" external_points="0" external_rest_shape="@../shape/target" stiffness="2" activeDirections="1 0 0"/></Node>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    auto f = force(s, "n/f", s.state("n/m"));
    EXPECT_EQ(f[0], 0.0);
    EXPECT_NEAR(f[3], 8.0, 1e-14);
}

// The derivative in the matrix-free product, in the assembled matrix, and of the force by differences must be one.
TEST(Force, DerivativesAgree)
{
    const char *fields[] = {
        R"(<TetrahedronFEMForceField name="f" youngModulus="1e3" poissonRatio="0.3" method="small"/>)",
        R"(<RestShapeSpringsForceField name="f" stiffness="7"/>)",
        R"(<PlaneForceField name="f" normal="0 1 0" d="0.3" damping="0"/>)",
        R"(<SphereForceField name="f" center="0.5 0.5 0.5" radius="0.6" damping="0"/>)"
    };
    for (const char *field : fields) {
        HostScene s(node(
            std::string(R"(<RegularGridTopology n="3 2 2" min="0 0 0" max="1 1 1"/><MechanicalObject name="m"/>)") +
            field));
        ASSERT_TRUE(s.good()) << s.findings();
        PliMech *m = s.state("m");
        PliObject *o = s.object("f");
        uint64_t seed = 5;
        std::vector<double> dx(3 * m->count), f0(dx.size()), f1(dx.size()), df(dx.size());
        for (size_t i = 0; i < dx.size(); ++i)
            m->x[i] += 0.01 * (pli_random_unit(&seed) - 0.5), dx[i] = pli_random_unit(&seed) - 0.5;
        const double e = 1e-6;
        std::vector<double> x(m->x, m->x + dx.size()), xp(x), xm(x);
        for (size_t i = 0; i < dx.size(); ++i) xp[i] += e * dx[i], xm[i] -= e * dx[i];
        o->cls->ops->add_force(o, xp.data(), m->v, f1.data());
        o->cls->ops->add_force(o, xm.data(), m->v, f0.data());
        std::vector<double> now(dx.size());
        o->cls->ops->add_force(o, x.data(), m->v, now.data());
        o->cls->ops->add_mbk(o, dx.data(), { 0, 0, 1 }, df.data());
        for (size_t i = 0; i < dx.size(); ++i) EXPECT_NEAR((f1[i] - f0[i]) / (2 * e), df[i], 1e-5) << field << " " << i;
    }
}

// ---- tetrahedral finite elements -------------------------------------------------------------------------------------------

const char *methods[] = { "small", "large", "polar", "svd" };

std::string fem_scene(const std::string &method, const char *component = "TetrahedronFEMForceField")
{
    return node(
        std::string(R"(<RegularGridTopology name="g" n="4 3 3" min="0 0 0" max="1.5 1 1"/><MechanicalObject name="m"/>
        <TetrahedronSetTopologyContainer name="t"/><Hexa2TetraTopologicalMapping input="@g" output="@t" swapping="1"/><)") +
        component + R"( name="f" youngModulus="1000" poissonRatio="0.3" method=")" + method + "\"/>");
}

TEST(TetraFem, NoForceAtRestNorWhenMovedRigidly)
{
    for (const char *method : methods) {
        HostScene s(fem_scene(method));
        ASSERT_TRUE(s.good()) << s.findings();
        PliMech *m = s.state("m");
        for (double f : force(s, "f", m)) EXPECT_NEAR(f, 0.0, 1e-10) << method;
        if (std::string(method) == "small") continue;
        const double c = std::cos(1.1), d = std::sin(1.1);
        for (PliIndex i = 0; i < m->count; ++i) {
            double *p = m->x + 3 * i, x = p[0], y = p[1];
            p[0] = c * x - d * y + 3, p[1] = d * x + c * y - 2, p[2] += 1;
        }
        for (double f : force(s, "f", m)) EXPECT_NEAR(f, 0.0, 1e-9) << method;
    }
}

TEST(TetraFem, AffineStretchGivesHookesTraction)
{
    const double e = 1e-6, young = 1000, nu = 0.3;
    const double lambda = young * nu / ((1 + nu) * (1 - 2 * nu)), mu = young / (2 * (1 + nu));
    for (const char *component : { "TetrahedronFEMForceField", "TetrahedralCorotationalFEMForceField" })
        for (const char *method : methods) {
            if (std::string(component) != "TetrahedronFEMForceField" && std::string(method) == "svd") continue;
            HostScene s(fem_scene(method, component));
            ASSERT_TRUE(s.good()) << s.findings();
            PliMech *m = s.state("m");
            for (PliIndex i = 0; i < m->count; ++i) m->x[3 * i] *= 1 + e;
            auto f = force(s, "f", m);
            double right = 0, top = 0, sum[3] = { 0, 0, 0 };
            for (PliIndex i = 0; i < m->count; ++i) {
                const double *p = m->x0 + 3 * i;
                bool inside = p[0] > 0.01 && p[0] < 1.49 && p[1] > 0.01 && p[1] < 0.99 && p[2] > 0.01 && p[2] < 0.99;
                for (int k = 0; k < 3; ++k) {
                    sum[k] += f[3 * i + k];
                    if (inside) {
                        EXPECT_NEAR(f[3 * i + k], 0.0, 1e-9) << method;
                    }
                }
                if (p[0] > 1.49) right += f[3 * i];
                if (p[1] > 0.99) top += f[3 * i + 1];
            }
            for (double k : sum) EXPECT_NEAR(k, 0.0, 1e-10);
            // the face pulls back: stress times area; corotational frames differ in the second order of e
            EXPECT_NEAR(right, -(lambda + 2 * mu) * e * 1.0, 1e-8) << component << " " << method;
            EXPECT_NEAR(top, -lambda * e * 1.5, 1e-8) << component << " " << method;
        }
}

TEST(TetraFem, SmallForceIsTheGradientOfItsEnergy)
{
    HostScene s(fem_scene("small"));
    PliMech *m = s.state("m");
    PliObject *o = s.object("f");
    uint64_t seed = 3;
    for (size_t i = 0; i < 3 * m->count; ++i) m->x[i] += 0.05 * (pli_random_unit(&seed) - 0.5);
    auto f = force(s, "f", m);
    for (size_t i = 0; i < 3 * m->count; i += 7) {
        const double e = 1e-5, keep = m->x[i];
        m->x[i] = keep + e;
        double up = o->cls->ops->potential(o, m->x);
        m->x[i] = keep - e;
        double down = o->cls->ops->potential(o, m->x);
        m->x[i] = keep;
        EXPECT_NEAR(-(up - down) / (2 * e), f[i], 1e-6 * 1000);
    }
}

TEST(TetraFem, SvdTurnsInvertedElementsBack)
{
    HostScene s(node(
        R"(<TetrahedronSetTopologyContainer position="0 0 0 1 0 0 0 1 0 0 0 1" tetrahedra="0 1 2 3"/><MechanicalObject name="m"/>
        <TetrahedronFEMForceField name="f" youngModulus="1" poissonRatio="0" method="svd"/>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    s.state("m")->x[11] = -0.2; // the tip went through the base
    auto f = force(s, "f", s.state("m"));
    EXPECT_GT(f[11], 0.0); // and is pushed back up
}

TEST(TetraFem, DirectAndIterativeSolversAgree)
{
    for (const char *method : methods) {
        std::vector<double> x[2];
        const char *solver[2] = { R"(<CGLinearSolver iterations="500" tolerance="1e-14" threshold="1e-40"/>)",
                                  "<SparseLDLSolver/>" };
        for (int k = 0; k < 2; ++k) {
            HostScene s(node(
                std::string("<EulerImplicitSolver rayleighStiffness=\"0.02\" rayleighMass=\"0.1\"/>") + solver[k] +
                R"(<RegularGridTopology n="5 3 3" min="0 0 0" max="1.5 0.3 0.3"/><MechanicalObject name="m"/><DiagonalMass totalMass="1"/>
                <BoxROI name="r" box="0 0 0 0 1 1"/><FixedProjectiveConstraint indices="@r.indices"/>
                <TetrahedronFEMForceField youngModulus="3e4" poissonRatio="0.4" method=")" +
                method + "\"/>"));
            ASSERT_TRUE(s.good()) << s.findings();
            s.step(30);
            x[k].assign(s.state("m")->x, s.state("m")->x + 3 * s.state("m")->count);
        }
        for (size_t i = 0; i < x[0].size(); ++i) ASSERT_NEAR(x[0][i], x[1][i], 1e-9) << method;
    }
}

TEST(TetraFem, GridsAreSplitWithoutAMapping)
{
    HostScene s(node(
        R"(<RegularGridTopology n="3 3 3"/><MechanicalObject name="m"/><TetrahedronFEMForceField name="f" youngModulus="1 2" poissonRatio="0.3"/>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    for (double f : force(s, "f", s.state("m"))) EXPECT_NEAR(f, 0.0, 1e-12);
    EXPECT_FALSE(
        HostScene(
            node(R"(<MeshTopology position="0 0 0 1 0 0" edges="0 1"/><MechanicalObject/><TetrahedronFEMForceField/>)"))
            .good());
    EXPECT_FALSE(
        HostScene(
            node(
                R"(<RegularGridTopology n="2 2 2"/><MechanicalObject/><TetrahedronFEMForceField poissonRatio="0.5"/>)"))
            .good());
}

TEST(TetraFem, VonMisesOfUniaxialStress)
{
    HostScene s(fem_scene("small"));
    PliMech *m = s.state("m");
    const double e = 1e-4, nu = 0.3;
    for (PliIndex i = 0; i < m->count; ++i)
        m->x[3 * i] *= 1 + e, m->x[3 * i + 1] *= 1 - nu * e, m->x[3 * i + 2] *= 1 - nu * e;
    std::vector<double> stress(m->count);
    PliObject *o = s.object("f");
    o->cls->ops->von_mises(o, m->x, stress.data());
    for (double v : stress) EXPECT_NEAR(v, 1000 * e, 1e-9);
}

// ---- mappings --------------------------------------------------------------------------------------------------------------

TEST(Mapping, BarycentricReproducesAffineMotion)
{
    for (
        const char *cells :
        { R"(<RegularGridTopology name="g" n="3 3 3" min="0 0 0" max="1 1 1"/>)",
          R"(<TetrahedronSetTopologyContainer name="g" position="0 0 0 1 0 0 0 1 0 0 0 1 1 1 1" tetrahedra="0 1 2 3 1 2 3 4"/>)" }) {
        HostScene s(node(
            std::string(cells) +
                R"(<MechanicalObject name="m"/><Node name="c"><MechanicalObject name="p" position="0.2 0.3 0.1  0.5 0.5 0.5  1.2 0.1 0"/><BarycentricMapping/></Node>
            <EulerImplicitSolver/><CGLinearSolver/><UniformMass totalMass="1"/>)",
            "gravity=\"0 0 0\""));
        ASSERT_TRUE(s.good()) << s.findings();
        PliMech *m = s.state("m"), *p = s.state("c/p");
        const double before[9] = { 0.2, 0.3, 0.1, 0.5, 0.5, 0.5, 1.2, 0.1, 0 };
        for (int i = 0; i < 9; ++i) EXPECT_NEAR(p->x[i], before[i], 1e-14);
        auto move = [](double *q) {
            double x = q[0], y = q[1], z = q[2];
            q[0] = 2 * x + 0.1 * y + 1, q[1] = y - 0.3 * z, q[2] = z + 0.2 * x - 1;
        };
        for (PliIndex i = 0; i < m->count; ++i) move(m->x + 3 * i), m->v[3 * i] = 5;
        s.step();
        for (int i = 0; i < 3; ++i) {
            double q[3] = { before[3 * i], before[3 * i + 1], before[3 * i + 2] };
            move(q);
            EXPECT_NEAR(p->x[3 * i], q[0] + 0.05, 1e-13);
            EXPECT_NEAR(p->x[3 * i + 1], q[1], 1e-13);
            EXPECT_NEAR(p->v[3 * i], 5.0, 1e-13);
        }
    }
}

TEST(Mapping, ForcesOfTheChildActOnTheParent)
{
    // a spring on an embedded point, solved matrix-free and assembled
    double v[2][12];
    const char *solver[2] = { R"(<CGLinearSolver iterations="100" tolerance="1e-15" threshold="1e-40"/>)",
                              "<SparseLDLSolver/>" };
    for (int k = 0; k < 2; ++k) {
        HostScene s(node(
            std::string("<EulerImplicitSolver/>") + solver[k] +
                R"(<TetrahedronSetTopologyContainer position="0 0 0 1 0 0 0 1 0 0 0 1" tetrahedra="0 1 2 3"/><MechanicalObject name="m"/>
            <UniformMass vertexMass="1"/><Node name="c"><MechanicalObject name="p" position="0.25 0.25 0.25"/><BarycentricMapping/><RestShapeSpringsForceField stiffness="100"/>
            <Node name="d"><MechanicalObject name="q"/><IdentityMapping/><ConstantForceField forces="0 8 0"/></Node></Node>)",
            "gravity=\"0 0 0\" dt=\"0.1\""));
        ASSERT_TRUE(s.good()) << s.findings();
        s.step();
        // four unit masses move together: m = 4, f = 8, k = 100
        EXPECT_NEAR(s.state("m")->v[1], 0.1 * 8 / (4 + 0.01 * 100), 1e-14);
        s.step(3);
        std::copy(s.state("m")->v, s.state("m")->v + 12, v[k]);
        EXPECT_NEAR(s.state("c/d/q")->x[1], s.state("c/p")->x[1], 0.0);
    }
    for (int i = 0; i < 12; ++i) EXPECT_NEAR(v[0][i], v[1][i], 1e-13);
}

TEST(Mapping, VisualModelsFollowWhenLookedAt)
{
    HostScene s(node(
        R"(<RegularGridTopology n="2 2 2"/><MechanicalObject name="m"/><Node name="v"><OglModel name="o" position="0.5 0.5 0.5" triangles="0 0 0"/><BarycentricMapping output="@o"/></Node>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    for (PliIndex i = 0; i < 8; ++i) s.state("m")->x[3 * i] += 2;
    pli_visual_update(s.state("v/o"));
    EXPECT_NEAR(s.state("v/o")->x[0], 2.5, 1e-14);
}

TEST(Mapping, RefusesLoopsAndMissingEnds)
{
    EXPECT_FALSE(HostScene(node("<BarycentricMapping/>")).good());
    EXPECT_FALSE(HostScene(node(R"(<MechanicalObject name="m"/><IdentityMapping input="@m" output="@m"/>)")).good());
    EXPECT_FALSE(
        HostScene(
            node(
                R"(<MechanicalObject name="m"/><Node name="c"><MechanicalObject name="n"/><IdentityMapping/><Node name="d"><IdentityMapping input="@../n" output="@../../m"/></Node></Node>)"))
            .good());
}

// ---- exporters ---------------------------------------------------------------------------------------------------------------

TEST(Export, WriteStateReadsBackExactly)
{
    Folder f;
    std::string out = f.path("x.state");
    HostScene s(node(
        R"(<EulerImplicitSolver/><CGLinearSolver/><MechanicalObject name="m" position="0.1 0.2 0.3"/><UniformMass totalMass="1"/><WriteState filename=")" +
        out + R"(" writeV="1" time="0" period="0.02"/>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    PliError err = {};
    ASSERT_EQ(pli_scene_start(s.scene, &err), PLI_OK) << err.text;
    std::vector<std::array<double, 3>> seen;
    for (int i = 0; i < 5; ++i) {
        if (i % 2 == 0) seen.push_back({ s.state("m")->x[0], s.state("m")->x[1], s.state("m")->x[2] });
        s.step();
    }
    ASSERT_EQ(pli_scene_finish(s.scene, &err), PLI_OK);
    std::ifstream in(out);
    std::string word;
    size_t found = 0;
    while (in >> word) {
        if (word != "X=") continue;
        double p[3];
        in >> p[0] >> p[1] >> p[2];
        ASSERT_LT(found, seen.size());
        for (int k = 0; k < 3; ++k) EXPECT_EQ(p[k], seen[found][k]);
        found++;
    }
    EXPECT_EQ(found, 3u);
}

TEST(Export, VtkExporterWritesWhatItIsAsked)
{
    Folder f;
    HostScene s(node(
        R"(<EulerImplicitSolver/><CGLinearSolver/><RegularGridTopology n="2 2 2"/><MechanicalObject/><UniformMass totalMass="1"/>
        <VTKExporter filename=")" +
        f.path("out") + R"(" hexas="1" exportEveryNumberOfSteps="2" exportAtBegin="1" exportAtEnd="1"/>)"));
    ASSERT_TRUE(s.good()) << s.findings();
    PliError err = {};
    ASSERT_EQ(pli_scene_start(s.scene, &err), PLI_OK) << err.text;
    s.step(4);
    ASSERT_EQ(pli_scene_finish(s.scene, &err), PLI_OK);
    EXPECT_TRUE(std::filesystem::exists(f.path("out00000.vtu")));
    EXPECT_TRUE(std::filesystem::exists(f.path("out00001.vtu")));
    EXPECT_TRUE(std::filesystem::exists(f.path("out00002.vtu")));
    PliHost host = pli_host_default();
    PliMesh *mesh = pli_mesh_read(&host, f.path("out00002.vtu").c_str(), &err);
    ASSERT_NE(mesh, nullptr) << err.text;
    EXPECT_EQ(mesh->hex_count, 1u);
    pli_mesh_destroy(mesh);
}

} // namespace
