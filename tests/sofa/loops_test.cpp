/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The animation loops: without contact they must not matter, and a reset must give the same bits again.
#include "scene.h"

#include <cstdio>
#include <fstream>

using namespace scene;

namespace
{
struct Case
{
    const char* name;
    const char* model;
};
std::ostream& operator<<(std::ostream& out, const Case& c)
{
    return out << c.name;
}

// one face of the box: held by an edge alone it is a soft pendulum, and rounding grows into another motion
const std::string fixed = "<FixedProjectiveConstraint indices=\"0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\"/>";
const std::string correction = "<AdaptiveConstraintCorrection name=\"correction\"/>";
const std::string spring = "<ConstantForceField indices=\"60\" forces=\"0.01 0 0.02\"/>";
} // namespace

class Loops : public sofa::testing::BaseSimulationTest, public ::testing::WithParamInterface<Case>
{
};

TEST_P(Loops, FreeMotionWithoutContactIsTheDefaultLoop)
{
    const std::string mesh = box(3, 0.1);
    for (const std::string& load : { std::string(), spring })
    {
        Scene plain(root(defaultLoop + owned(mesh, GetParam().model, fixed + load)));
        Scene free(root(freeLoop + owned(mesh, GetParam().model, fixed + load + correction)));
        ASSERT_TRUE(plain.isValid("Body/solver"));
        ASSERT_TRUE(free.isValid("Body/solver") && free.isValid("Body/correction"));
        plain.steps(200);
        free.steps(200);
        EXPECT_GT(distance(plain.x(), plain.state()->read(vec_id::read_access::restPosition)->getValue()), 1e-3);
        EXPECT_LT(distance(plain.x(), free.x()), 1e-10);
        EXPECT_LT(distance(plain.v(), free.v()), 1e-8);
        EXPECT_LT(distance(plain.x("Body/Skin/points"), free.x("Body/Skin/points")), 1e-10);
    }
}

TEST_P(Loops, ResetGivesTheSameBits)
{
    const std::string mesh = box(3, 0.1);
    for (const bool free : { false, true })
    {
        Scene run(
            root((free ? freeLoop : defaultLoop) + owned(mesh, GetParam().model, fixed + (free ? correction : ""))));
        run.steps(50);
        const VecCoord x = run.x(), s = run.x("Body/Skin/points");
        const VecDeriv v = run.v();
        run.steps(7);
        sofa::simulation::node::reset(run.node());
        EXPECT_FALSE(sameBits(x, run.x()));
        run.steps(50);
        EXPECT_TRUE(sameBits(x, run.x()));
        EXPECT_TRUE(sameBits(v, run.v()));
        EXPECT_TRUE(sameBits(s, run.x("Body/Skin/points")));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Integrators, Loops,
    ::testing::Values(Case{ "explicit", "youngModulus=\"1e4\"" },
                      Case{ "multirate", "youngModulus=\"1e4\" multirate=\"1\"" },
                      Case{ "implicit", "youngModulus=\"1e4\" integrator=\"implicit\" linearSolver=\"ldl\"" }));

class Stock : public sofa::testing::BaseSimulationTest
{
};

TEST_F(Stock, ResetGivesTheSameTrajectory)
{
    // SparseLDLSolver drops entries that are exactly zero and orders again when the pattern changes, so that a second run may
    // add in another order: SOFA's last bits. Conjugate gradients give the same bits.
    const std::pair<const char*, double> solvers[] = {
        { "<CGLinearSolver iterations=\"100\" tolerance=\"1e-12\" threshold=\"1e-30\"/>", 0.0 },
        { "<SparseLDLSolver template=\"CompressedRowSparseMatrixMat3x3d\"/>", 1e-15 }
    };
    for (const auto& [solver, apart] : solvers)
    {
        Scene run(
            root(defaultLoop
                 + stages(box(3, 0.1), "youngModulus=\"1e4\"", std::string("<EulerImplicitSolver/>") + solver, fixed)));
        run.steps(30);
        const VecCoord x = run.x();
        run.steps(5);
        sofa::simulation::node::reset(run.node());
        run.steps(30);
        EXPECT_LE(distance(x, run.x()), apart) << solver;
    }
}

/// Free fall of a whole body is known exactly, whatever the substeps: x = x0 + g t^2 / 2 up to the integrator's own
/// first-order term.
TEST_F(Stock, GravityOfTheSceneCountsOnce)
{
    Scene run(root(defaultLoop + owned(box(2, 0.1), "integrator=\"implicit\" linearSolver=\"ldl\""),
                   "dt=\"0.01\" gravity=\"1 -2 3\""));
    const VecCoord x0 = run.x();
    run.steps(10);
    // implicit Euler: sum of k dt^2 g, k = 1 .. 10
    for (std::size_t i = 0; i < x0.size(); ++i)
        EXPECT_LT((run.x()[i] - x0[i] - Vec3Types::Coord(1, -2, 3) * (55 * 1e-4)).norm(), 1e-12);
}

// A line for each step, also where nothing of ours is in the scene, and again after a reset.
TEST_F(Stock, StepTimesHaveALineForEachStep)
{
    const std::filesystem::path path = std::filesystem::temp_directory_path() / "pliant_step_times.csv";
    {
        Scene run(root(defaultLoop + "<StepTimes filename=\"" + path.string()
                       + "\"/><Node name=\"Body\"><EulerExplicitSolver/><MechanicalObject name=\"dofs\" "
                         "template=\"Vec3d\" position=\"0 0 0\"/><UniformMass totalMass=\"1\"/></Node>"));
        run.steps(3);
        sofa::simulation::node::reset(run.node());
        run.steps(5);
    }
    std::ifstream csv(path);
    std::string line;
    std::getline(csv, line);
    EXPECT_EQ(line, "step,time_s,cpu_ms,wall_ms");
    int count = 0, step;
    double time, cpu, wall;
    while (std::getline(csv, line) && std::sscanf(line.c_str(), "%d,%lf,%lf,%lf", &step, &time, &cpu, &wall) == 4)
    {
        EXPECT_EQ(step, ++count);
        EXPECT_GT(cpu, 0.0);
        EXPECT_GT(wall, 0.0);
    }
    EXPECT_EQ(count, 5);
    csv.close();
    std::filesystem::remove(path);
}

TEST_F(Stock, StatisticsAreReadOnDemand)
{
    Scene run(root(defaultLoop + owned(box(3, 0.1), "youngModulus=\"1e4\"", fixed)));
    run.steps(10);
    EXPECT_EQ(run.data("Body/model", "steps")->getValueString(), "10");
    EXPECT_EQ(run.data("Body/model", "activeDofs")->getValueString(), "64");
    EXPECT_EQ(run.data("Body/model", "perLevel")->getValueString(), "64");
    EXPECT_GT(std::stod(run.data("Body/model", "elasticEnergy")->getValueString()), 0.0);
    EXPECT_GT(std::stod(run.data("Body/model", "kineticEnergy")->getValueString()), 0.0);
    EXPECT_GT(std::stoi(run.data("Body/solver", "substeps")->getValueString()), 0);

    Scene stock(root(defaultLoop
                     + stages(box(3, 0.1), "youngModulus=\"1e4\"",
                              "<EulerImplicitSolver/><SparseLDLSolver template=\"CompressedRowSparseMatrixMat3x3d\"/>",
                              fixed)));
    stock.steps(5);
    const double early = std::stod(stock.data("Body/model", "elasticEnergy")->getValueString());
    stock.steps(5);
    EXPECT_EQ(stock.data("Body/model", "steps")->getValueString(), "10");
    EXPECT_GT(std::stod(stock.data("Body/model", "elasticEnergy")->getValueString()), early);
}
