/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Scenes with mistakes: one sentence says what is wrong, the component is Invalid, and SOFA goes on stepping.
#include "scene.h"

using namespace scene;

namespace
{
struct Mistake
{
    const char* name;
    std::string xml;
    const char* component; ///< that must be Invalid
    const char* sentence;  ///< part of the one message
};
std::ostream& operator<<(std::ostream& out, const Mistake& m)
{
    return out << m.name;
}

const std::string contact = R"(<CollisionPipeline/><BruteForceBroadPhase/><BVHNarrowPhase/>
<MinProximityIntersection alarmDistance="0.02" contactDistance="0.01"/><CollisionResponse response="PenalityContactForceField"/>)";
const std::string touching =
    R"(<Node name="Skin"><AdaptiveSurface name="surface"/><MechanicalObject name="points" position="@surface.position"/>
<PointCollisionModel contactStiffness="4"/><AdaptiveMapping name="mapping"/></Node>)";

std::vector<Mistake> mistakes()
{
    const std::string b = box(2, 0.1);
    const std::string mo = "<MechanicalObject name=\"dofs\" position=\"@model.position\"/>";
    auto node = [](const std::string& inside)
    { return root(defaultLoop + "<Node name=\"Body\">" + inside + "</Node>"); };
    return {
        { "NoMesh", node("<FemModel name=\"model\"/>"), "Body/model", "no mesh" },
        { "MissingFile", node("<FemModel name=\"model\" filename=\"nowhere.msh\"/>"), "Body/model", "nowhere.msh" },
        { "UnknownLaw", node("<FemModel name=\"model\" " + b + " law=\"rubber\"/>"), "Body/model", "must be one of" },
        { "BadYoung", node("<FemModel name=\"model\" " + b + " youngModulus=\"-3\"/>"), "Body/model", "-3" },
        { "BadPoisson", node("<FemModel name=\"model\" " + b + " poissonRatio=\"0.5\"/>"), "Body/model", "0.5" },
        { "BadThreads", node("<FemModel name=\"model\" " + b + " threads=\"0\"/>"), "Body/model", "threads" },
        { "IndexOutside",
          node("<FemModel name=\"model\" position=\"0 0 0 1 0 0 0 1 0 0 0 1\" tetrahedra=\"0 1 2 7\"/>"), "Body/model",
          "7" },
        { "FlatTetrahedron",
          node("<FemModel name=\"model\" position=\"0 0 0 1 0 0 0 1 0 1 1 0\" tetrahedra=\"0 1 2 3\"/>"), "Body/model",
          "tetrahedron" },
        { "NoState", node("<FemModel name=\"model\" " + b + "/><AdaptiveSolver name=\"solver\"/>"), "Body/model",
          "MechanicalObject" },
        { "WrongSize",
          node("<FemModel name=\"model\" " + b
               + "/><AdaptiveSolver name=\"solver\"/><MechanicalObject name=\"dofs\" position=\"0 0 0 1 1 1\"/>"),
          "Body/model", "has 2 points" },
        { "NoModel", node("<AdaptiveSolver name=\"solver\"/><MechanicalObject name=\"dofs\" position=\"0 0 0\"/>"),
          "Body/solver", "no body" },
        { "BrokenLink",
          node("<AdaptiveSolver name=\"solver\" model=\"@nothing\"/><MechanicalObject name=\"dofs\" position=\"0 0 "
               "0\"/>"),
          "Body/solver", "leads to no" },
        { "TwoRoutes",
          node("<FemModel name=\"model\" " + b + "/><AdaptiveSolver name=\"solver\"/>" + mo
               + "<AdaptiveForceField name=\"force\"/>"),
          "Body/force", "count twice" },
        { "SecondMass", root(defaultLoop + owned(b, "", "<UniformMass name=\"mass\" totalMass=\"1\"/>")), "Body/solver",
          "weight counts twice" },
        { "HalfFixed",
          root(defaultLoop
               + owned(b, "", "<PartialFixedProjectiveConstraint indices=\"0\" fixedDirections=\"1 0 0\"/>")),
          "Body/model", "some directions" },
        { "FreeLoopWithoutCorrection", root(freeLoop + owned(b, "")), "Body/solver", "AdaptiveConstraintCorrection" },
        { "StockCorrection",
          root(freeLoop + owned(b, "", "<UncoupledConstraintCorrection name=\"c\" defaultCompliance=\"1\"/>")),
          "Body/solver", "use AdaptiveConstraintCorrection" },
        { "PenaltyWithImplicitCore",
          root(defaultLoop + contact + owned(b, "integrator=\"implicit\" linearSolver=\"ldl\"", "", touching)),
          "Body/solver", "penalty contact" },
        { "PenaltyWithAssembledMatrix",
          root(defaultLoop + contact
               + stages(b, "", "<EulerImplicitSolver/><SparseLDLSolver template=\"CompressedRowSparseMatrixMat3x3d\"/>",
                        "", touching)),
          "Body/force", "wrong sign" },
        { "CorrectionWithoutMatrix",
          root(freeLoop
               + stages(
                   b, "",
                   "<EulerImplicitSolver/><CGLinearSolver iterations=\"25\" tolerance=\"1e-5\" threshold=\"1e-5\"/>",
                   "<LinearSolverConstraintCorrection name=\"c\"/>")),
          "Body/force", "needs an assembled matrix" },
        { "ToolsWithStockSolver",
          root(defaultLoop
               + stages(
                   b, "",
                   "<EulerImplicitSolver/><CGLinearSolver iterations=\"25\" tolerance=\"1e-5\" threshold=\"1e-5\"/>",
                   "<SphereTool name=\"tool\" radius=\"0.01\"/>")),
          "Body/model", "inside AdaptiveSolver only" },
        { "ToolTimes",
          root(defaultLoop + owned(b, "", "<SphereTool name=\"tool\" keyTimes=\"0 1\" movements=\"0 0 0\"/>")),
          "Body/tool", "keyTimes" },
        { "PlaneWithoutNormal", root(defaultLoop + owned(b, "", "<PlaneTool name=\"tool\" normal=\"0 0 0\"/>")),
          "Body/tool", "direction" },
        { "MappingOfAnotherState",
          root(defaultLoop
               + owned(b, "", "",
                       "<Node name=\"A\"><MechanicalObject name=\"other\" position=\"0 0 0\"/><Node "
                       "name=\"B\"><MechanicalObject name=\"points\" "
                       "position=\"0 0 0\"/><AdaptiveMapping name=\"mapping\"/></Node></Node>")),
          "Body/A/B/mapping", "input has 1 points" },
    };
}
} // namespace

class Errors : public sofa::testing::BaseSimulationTest, public ::testing::WithParamInterface<Mistake>
{
};

TEST_P(Errors, OneSentenceAndSofaGoesOn)
{
    IGNORE_MSG(Error);
    Messages seen;
    Scene run(GetParam().xml);
    EXPECT_EQ(seen.count(GetParam().sentence), 1) << seen.all();
    EXPECT_FALSE(run.isValid(GetParam().component));
    const std::size_t before = seen.errors.size();
    run.steps(3);
    EXPECT_EQ(seen.errors.size(), before) << seen.all(); // no flood while running
    EXPECT_NEAR(run.node()->getTime(), 0.03, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Scenes, Errors, ::testing::ValuesIn(mistakes()),
                         [](const auto& test) { return std::string(test.param.name); });
