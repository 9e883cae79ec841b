/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Contact through SOFA's own collision pipeline: resting, sticking, sliding and being pressed, on every way a body
// can be stepped.
#include "scene.h"
#include "support/fold.h"

using namespace scene;

namespace
{
constexpr double DISTANCE = 0.002; ///< m, contact distance of the Lagrangian scenes

std::string lagrangian(double mu)
{
    const std::string m = std::to_string(mu);
    return "<FreeMotionAnimationLoop/><LCPConstraintSolver name=\"lcp\" tolerance=\"1e-9\" maxIt=\"2000\" mu=\"" + m
           + "\"/><CollisionPipeline/><BruteForceBroadPhase/><BVHNarrowPhase/><NewProximityIntersection "
             "alarmDistance=\"0.02\" contactDistance=\"0.002\"/>"
             "<CollisionResponse response=\"FrictionContactConstraint\" responseParams=\"mu="
           + m + "\"/>\n";
}

const std::string penalty =
    "<DefaultAnimationLoop/><CollisionPipeline/><BruteForceBroadPhase/><BVHNarrowPhase/><MinProximityIntersection "
    "alarmDistance=\"0.02\" contactDistance=\"0.01\"/><CollisionResponse response=\"PenalityContactForceField\"/>\n";

std::string plate(const std::string& name, double y, const std::string& stiffness, const std::string& motion = "",
                  bool down = false)
{
    const std::string h = std::to_string(y), moving = motion.empty() ? "0" : "1";
    std::string text = "<Node name=\"" + name + "\"><MeshTopology position=\"-3 " + h + " -3  3 " + h + " -3  3 " + h
                       + " 3  -3 " + h + " 3\" triangles=\"" + (down ? "0 1 2  0 2 3" : "0 2 1  0 3 2")
                       + "\"/><MechanicalObject name=\"points\"/>" + motion;
    for (const char* model : { "Triangle", "Line", "Point" })
        text +=
            std::string("<") + model + "CollisionModel simulated=\"0\" moving=\"" + moving + "\"" + stiffness + "/>";
    return text + "</Node>\n";
}

std::string touching(const std::string& stiffness = "")
{
    return "<Node name=\"Skin\"><AdaptiveSurface name=\"surface\"/><MechanicalObject name=\"points\" "
           "position=\"@surface.position\"/><PointCollisionModel"
           + stiffness + "/><AdaptiveMapping name=\"mapping\"/></Node>";
}

struct Way
{
    const char* name;
    bool stock;
    const char* model;
};
std::ostream& operator<<(std::ostream& out, const Way& w)
{
    return out << w.name;
}

std::string body(const Way& way, PliIndex cells)
{
    const std::string mesh = box(cells, 0.1, DISTANCE);
    const std::string model =
        std::string("law=\"corotational\" youngModulus=\"1e5\" poissonRatio=\"0.3\" density=\"1000\" ") + way.model;
    if (way.stock)
        return stages(
            mesh, model,
            "<EulerImplicitSolver/><SparseLDLSolver name=\"linear\" template=\"CompressedRowSparseMatrixMat3x3d\"/>",
            "<LinearSolverConstraintCorrection linearSolver=\"@linear\"/>", touching());
    return owned(mesh, model, "<AdaptiveConstraintCorrection name=\"correction\"/>", touching());
}

double lowest(const VecCoord& x)
{
    double y = INFINITY;
    for (const auto& p : x)
        y = smallest_of(y, double(p[1]));
    return y;
}

double fastest(const VecDeriv& v)
{
    double most = 0.0;
    for (const auto& u : v)
        most = largest_of(most, double(u.norm()));
    return most;
}

Vec3Types::Coord mean(const VecCoord& x)
{
    Vec3Types::Coord sum;
    for (const auto& p : x)
        sum += p / double(x.size());
    return sum;
}

std::string tilted(double degrees)
{
    std::ostringstream text;
    text.precision(17);
    const double a = degrees * M_PI / 180.0;
    text << "dt=\"0.01\" gravity=\"" << 9.81 * std::sin(a) << ' ' << -9.81 * std::cos(a) << " 0\"";
    return text.str();
}
} // namespace

class Contact : public sofa::testing::BaseSimulationTest, public ::testing::WithParamInterface<Way>
{
};

TEST_P(Contact, RestsAtTheContactDistance)
{
    Scene run(root(lagrangian(0.5) + body(GetParam(), 4) + plate("Floor", 0.0, "")));
    double deepest = INFINITY;
    for (int i = 0; i < 300; ++i)
    {
        run.steps(1);
        deepest = smallest_of(deepest, lowest(run.x("Body/Skin/points")));
    }
    std::printf("%s: lowest point %.4f mm, fastest %.2g m/s\n", GetParam().name, 1e3 * deepest, fastest(run.v()));
    EXPECT_GT(deepest, DISTANCE - 2e-5);
    EXPECT_LT(fastest(run.v()), GetParam().stock ? 1e-3 : 2e-3);
    if (!GetParam().stock)
    {
        EXPECT_NEAR(std::stod(run.data("Body/correction", "normalForce")->getValueString()), 9.81, 0.02 * 9.81);
    }
}

/// mu = 0.5: the friction angle is 26.565 degrees.
TEST_P(Contact, SticksOneDegreeBelowTheFrictionAngleAndSlidesOneDegreeAbove)
{
    for (const double angle : { 25.565, 27.565 })
    {
        Scene run(root(lagrangian(0.5) + body(GetParam(), 3) + plate("Floor", 0.0, ""), tilted(angle)));
        run.steps(100);
        const double before = mean(run.v())[0], at = mean(run.x())[0];
        run.steps(100);
        const double after = mean(run.v())[0], a = after - before; // over one second
        const double exact = 9.81 * (std::sin(angle * M_PI / 180.0) - 0.5 * std::cos(angle * M_PI / 180.0));
        std::printf("%s, %.3f degrees: v = %.3g m/s, slip %.3g mm in 1 s, a = %.4f m/s2, exact %.4f\n", GetParam().name,
                    angle, after, 1e3 * (mean(run.x())[0] - at), a, std::max(0.0, exact));
        if (exact < 0.0)
        {
            EXPECT_LT(std::abs(mean(run.x())[0] - at), 1e-4);
        }
        else
        {
            EXPECT_NEAR(a, exact, 0.02 * exact);
        }
    }
}

/// A plate comes down by 25 mm of the 100 mm box at 50 mm/s and goes back up.
TEST_P(Contact, APressingPlateDoesNotPass)
{
    const std::string motion = "<LinearMovementProjectiveConstraint indices=\"0 1 2 3\" keyTimes=\"0 0.1 0.6 0.8 1.3\" "
                               "movements=\"0 0 0  0 0 0  0 -0.025 0  0 -0.025 0  0 0 0\"/>";
    Scene run(root(lagrangian(0.5) + body(GetParam(), 4) + plate("Floor", 0.0, "")
                   + plate("Plate", 0.104, "", motion, true)));
    double worst = 0.0, quickest = 0.0;
    const auto start = mean(run.x());
    for (int i = 0; i < 150; ++i)
    {
        // SOFA's constraint moves the plate when the step ends: the contacts of the step were against this place
        const double top = run.x("Plate/points")[0][1];
        run.steps(1);
        for (const auto& p : run.x("Body/Skin/points"))
            worst = std::max({ worst, double(p[1]) - (top - DISTANCE), DISTANCE - double(p[1]) });
        quickest = largest_of(quickest, fastest(run.v()));
        ASSERT_TRUE(std::isfinite(quickest));
        if (i == 70)
        {
            EXPECT_LT(top, 0.0791);
        }
    }
    const auto moved = mean(run.x()) - start;
    std::printf("%s: deepest inside the contact distance %.3g mm, fastest point %.3g m/s, moved sideways %.3g mm\n",
                GetParam().name, 1e3 * worst, quickest, 1e3 * std::hypot(moved[0], moved[2]));
    EXPECT_LT(worst, 0.01 * DISTANCE);
    EXPECT_LT(quickest, 0.2);
    EXPECT_LT(std::hypot(moved[0], moved[2]), 1e-3);
}

/// A heavy ball falls on a block of frames that are all asleep but the root, which is held or rests on the floor. Contact pushes at
/// passive coefficients only: these carry it to those they follow, and wake.
class BallOnFrames : public sofa::testing::BaseSimulationTest, public ::testing::WithParamInterface<bool>
{
};

TEST_P(BallOnFrames, LiesOnTopAndDentsThem)
{
    const bool held = GetParam();
    const std::string mesh = box(4, 0.1, DISTANCE);
    const std::string body =
        "<Node name=\"Mesh\"><MeshTopology name=\"mesh\" " + mesh
        + "/></Node><Node name=\"Body\"><FramesModel name=\"model\" mesh=\"@../Mesh/mesh\" frames=\"12\" "
          "resolution=\"12\" "
          "anchors=\"0.05 0.01 0.05\" law=\"neohookean\" youngModulus=\"1e5\" poissonRatio=\"0.3\" density=\"1000\" "
          "damping=\"0.005\" linearSolver=\"ldl\"/><AdaptiveSolver name=\"solver\"/>"
          "<MechanicalObject name=\"dofs\" position=\"@model.position\"/>"
        + (held ? "<FixedProjectiveConstraint indices=\"@model.anchorDofs\"/>" : "")
        + "<AdaptiveConstraintCorrection name=\"correction\"/>" + touching() + "</Node>\n";
    const std::string ball =
        "<Node name=\"Ball\"><EulerImplicitSolver/><CGLinearSolver iterations=\"20\" tolerance=\"1e-9\" "
        "threshold=\"1e-12\"/>"
        "<MechanicalObject name=\"place\" template=\"Vec3d\" position=\"0.05 0.16 0.05\"/>"
        "<UniformMass totalMass=\"1\"/><UncoupledConstraintCorrection defaultCompliance=\"1\"/>" // one over its mass
        "<SphereCollisionModel radius=\"0.04\"/></Node>\n";
    Scene run(root(lagrangian(0.5) + body + ball + (held ? "" : plate("Floor", 0.0, ""))));
    const auto top = [&run]
    {
        double y = -INFINITY;
        for (const auto& p : run.x("Body/Skin/points"))
            y = largest_of(y, double(p[1]));
        return y;
    };
    const auto height = [&run]
    {
        std::istringstream text(run.data("Ball/place", "position")->getValueString());
        double x, y;
        text >> x >> y;
        return y;
    };
    const auto active = [&run] { return std::stoi(run.data("Body/model", "activeDofs")->getValueString()); };
    const int asleep = active();
    double lowest = INFINITY;
    int most = 0;
    for (int i = 0; i < (held ? 150 : 60); ++i)
    {
        run.steps(1);
        lowest = smallest_of(lowest, height());
        most = std::max(most, active());
    }
    const double force = std::stod(run.data("Body/correction", "normalForce")->getValueString());
    std::printf("%s: ball at %.2f mm, lowest %.2f, top of the block %.2f, %d coefficients of %d woke, %.2f N\n",
                held ? "held" : "on a floor", 1e3 * height(), 1e3 * lowest, 1e3 * top(), most, asleep, force);
    EXPECT_GT(lowest, 0.09);                                      // it does not pass
    EXPECT_LT(height(), 0.1437);                                  // the block gives way
    EXPECT_GT(most, asleep);                                      // and wakes
    EXPECT_NEAR(force, held ? 9.81 : 3 * 9.81, held ? 0.5 : 3.0); // floor: 2 kg on it, 1 kg of it on the block
}

INSTANTIATE_TEST_SUITE_P(Ways, BallOnFrames, ::testing::Values(true, false));

INSTANTIATE_TEST_SUITE_P(
    Ways, Contact,
    ::testing::Values(Way{ "implicit", false, "integrator=\"implicit\" linearSolver=\"ldl\"" },
                      Way{ "multigrid", false,
                           "integrator=\"implicit\" linearSolver=\"multigrid\" tolerance=\"1e-6\"" },
                      Way{ "explicit", false, "damping=\"0.002\"" }, Way{ "stock", true, "" }));

class Penalty : public sofa::testing::BaseSimulationTest
{
};

TEST_F(Penalty, ExplicitBodyRestsOnSprings)
{
    const std::string k = " contactStiffness=\"4\"";
    Scene run(
        root(penalty
             + owned(box(4, 0.1, 0.015),
                     "law=\"corotational\" youngModulus=\"1e5\" damping=\"0.002\" massDamping=\"1\"", "", touching(k))
             + plate("Floor", 0.0, k)));
    double deepest = INFINITY;
    for (int i = 0; i < 400; ++i)
    {
        run.steps(1);
        deepest = smallest_of(deepest, lowest(run.x("Body/Skin/points")));
    }
    std::printf("penalty, explicit: lowest point ever %.3f mm, at the end %.3f mm, fastest %.2g m/s\n", 1e3 * deepest,
                1e3 * lowest(run.x()), fastest(run.v()));
    EXPECT_GT(deepest, 0.0);
    EXPECT_LT(fastest(run.v()), 0.02);
    EXPECT_GT(std::stoi(run.data("Body/solver", "forceUpdates")->getValueString()), 1);
}

TEST_F(Penalty, StockSolverRestsOnSprings)
{
    const std::string k = " contactStiffness=\"4\"";
    Scene run(root(penalty
                   + stages(box(4, 0.1, 0.015), "law=\"corotational\" youngModulus=\"1e5\"",
                            "<EulerImplicitSolver rayleighMass=\"1\"/><CGLinearSolver iterations=\"200\" "
                            "tolerance=\"1e-10\" threshold=\"1e-30\"/>",
                            "", touching(k))
                   + plate("Floor", 0.0, k)));
    double deepest = INFINITY;
    for (int i = 0; i < 400; ++i)
    {
        run.steps(1);
        deepest = smallest_of(deepest, lowest(run.x("Body/Skin/points")));
    }
    std::printf("penalty, stock: lowest point ever %.3f mm, at the end %.3f mm, fastest %.2g m/s\n", 1e3 * deepest,
                1e3 * lowest(run.x()), fastest(run.v()));
    EXPECT_GT(deepest, 0.0);
    EXPECT_LT(fastest(run.v()), 0.02);
}
