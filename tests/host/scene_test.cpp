/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/host_scene.h"

using namespace pliant_test;

namespace
{

const char *point = R"(<MechanicalObject name="dofs" position="1 2 3"/>)";

TEST(Scene, ReadsTheContextOfTheRootOnly)
{
    HostScene s(node("<Node name=\"child\" gravity=\"1 1 1\" dt=\"5\"><MechanicalObject name=\"m\"/></Node>",
                     "dt=\"0.02\" gravity=\"0 0 -9\" time=\"0.5\""));
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.scene->dt, 0.02);
    EXPECT_EQ(s.scene->time, 0.5);
    EXPECT_EQ(s.scene->gravity[2], -9.0);
    EXPECT_EQ(s.scene->gravity[0], 0.0);
}

TEST(Scene, DefaultsAreThoseOfSofa)
{
    HostScene s(node(point));
    ASSERT_TRUE(s.good());
    EXPECT_EQ(s.scene->dt, 0.01);
    EXPECT_EQ(s.scene->gravity[1], -9.81);
}

TEST(Scene, NamesComponentsByClassAndNumber)
{
    HostScene s(node("<MechanicalObject/><UniformMass totalMass=\"1\"/>"));
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_NE(s.object("MechanicalObject1"), nullptr);
    EXPECT_NE(s.object("UniformMass1"), nullptr);
}

TEST(Scene, AcceptsObjectWithType)
{
    HostScene s(node("<Object type=\"MechanicalObject\" name=\"m\" position=\"4 5 6\"/>"));
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.state("m")->x[0], 4.0);
}

// ---- links -----------------------------------------------------------------------------------------------------------

TEST(Links, EveryFormLeadsThere)
{
    // the same state seen from a grandchild: by name through ancestors, relative, absolute, through a child
    const std::string forms[] = { "@dofs.position", "@../../dofs.position", "@/dofs.position",
                                  "@.././../dofs.position" };
    for (const std::string &form : forms) {
        HostScene s(node(std::string(point) +
                         "<Node name=\"a\"><Node name=\"b\"><MechanicalObject name=\"copy\" position=\"" + form +
                         "\"/></Node></Node>"));
        ASSERT_TRUE(s.good()) << form << ": " << s.findings();
        EXPECT_EQ(s.state("a/b/copy")->x[2], 3.0) << form;
    }
    HostScene down(node("<Node name=\"a\"><MechanicalObject name=\"dofs\" position=\"7 8 9\"/></Node><BoxROI "
                        "name=\"r\" position=\"@a/dofs.position\" box=\"0 0 0 9 9 9\"/>"));
    ASSERT_TRUE(down.good()) << down.findings();
    EXPECT_EQ(down.indices("r", "indices"), std::vector<PliIndex>{ 0 });
    HostScene back(node("<MechanicalObject name=\"first\" position=\"1 1 1\"/><MechanicalObject name=\"second\" "
                        "position=\"@[-1].position\"/>"));
    ASSERT_TRUE(back.good()) << back.findings();
    EXPECT_EQ(back.state("second")->x[0], 1.0);
}

TEST(Links, ChildrenWinOverComponentsOfTheSameName)
{
    HostScene s(node("<MechanicalObject name=\"x\" position=\"1 0 0\"/><Node name=\"x\"><MechanicalObject name=\"y\" "
                     "position=\"2 0 0\"/></Node>"
                     "<MechanicalObject name=\"z\" position=\"@x/y.position\"/>"));
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.state("z")->x[0], 2.0);
}

TEST(Links, DeadOnesAreRefusedWithFileAndLine)
{
    HostScene s("<Node>\n<MechanicalObject name=\"m\" position=\"@nowhere.position\"/>\n</Node>", pli_scene_default(),
                "dir/bad.scn");
    EXPECT_EQ(s.status, PLI_BAD_FILE);
    EXPECT_NE(s.findings().find("dir/bad.scn:2: MechanicalObject: position=\"@nowhere.position\" leads nowhere"),
              std::string::npos)
        << s.findings();
}

TEST(Links, LoopsAreRefused)
{
    HostScene self(node("<MechanicalObject name=\"m\" position=\"@m.position\"/>"));
    EXPECT_NE(self.findings().find("linked to itself"), std::string::npos) << self.findings();
    HostScene ring(node("<MechanicalObject name=\"a\" position=\"@b.position\"/><MechanicalObject name=\"b\" "
                        "position=\"@a.position\"/>"));
    EXPECT_NE(ring.findings().find("loop of links"), std::string::npos) << ring.findings();
}

TEST(Links, TypesMustAgree)
{
    HostScene s(node("<BoxROI name=\"r\" position=\"0 0 0\"/><MechanicalObject name=\"m\" position=\"@r.indices\"/>"));
    EXPECT_NE(s.findings().find("has another type"), std::string::npos) << s.findings();
}

TEST(Links, SourceFillsWhatIsNotGiven)
{
    HostScene s(node("<RegularGridTopology name=\"grid\" n=\"2 2 2\"/><Node name=\"n\"><MeshTopology name=\"t\" "
                     "src=\"@../grid\" edges=\"0 1\"/></Node>"));
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.reals("n/t", "position").size(), 24u);
    EXPECT_EQ(s.indices("n/t", "hexahedra").size(), 8u);
    EXPECT_EQ(s.indices("n/t", "edges").size(), 2u); // its own
}

TEST(Links, EnginesFollowTheirInputs)
{
    // the ROI stands before the state it looks at, and is read afterwards
    HostScene s(node("<BoxROI name=\"r\" position=\"@dofs.position\" box=\"0 0 0 1 1 1\"/>"
                     "<MechanicalObject name=\"dofs\" position=\"0 0 0  5 5 5  1 1 1\"/>"));
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.indices("r", "indices"), (std::vector<PliIndex>{ 0, 2 }));
    s.state("dofs")->x[3] = s.state("dofs")->x[4] = s.state("dofs")->x[5] = 0.5;
    pli_touch(s.state("dofs")->position);
    EXPECT_EQ(s.indices("r", "indices"), (std::vector<PliIndex>{ 0, 1, 2 }));
}

// ---- values ----------------------------------------------------------------------------------------------------------

TEST(Values, IndexRanges)
{
    HostScene s(node("<MechanicalObject position=\"0 0 0\"/><MeshTopology name=\"t\" edges=\"0 1 4-7 9-1-4\"/>"));
    EXPECT_EQ(s.indices("t", "edges"), (std::vector<PliIndex>{ 0, 1, 4, 5, 6, 7, 1, 5, 9 }));
}

TEST(Values, BadOnesAreRefusedByName)
{
    const struct {
        const char *xml, *text;
    } bad[] = {
        { "<UniformMass totalMass=\"heavy\"/>", "totalMass: \"heavy\" is not a finite number" },
        { "<UniformMass totalMass=\"1e999\"/>", "is not a finite number" },
        { "<UniformMass totalMass=\"nan\"/>", "is not a finite number" },
        { "<MechanicalObject position=\"1 2 3 4\"/>", "position has 4 numbers, which is no multiple of 3" },
        { "<EulerImplicitSolver firstOrder=\"perhaps\"/>", "firstOrder=\"perhaps\" must be 0 or 1" },
        { "<CGLinearSolver iterations=\"2.5\"/>", "must be a whole number" },
        { "<MechanicalObject size=\"1e308\"/>", "must be a whole number of at most 2147483647" },
        { "<MechanicalObject size=\"4294967297\"/>", "must be a whole number of at most 2147483647" },
        { "<MeshTopology edges=\"0 -1\"/>", "out of range" },
        { "<MeshTopology edges=\"0-4000000000\"/>", "too long" },
        { "<MeshTopology edges=\"0-10-9223372036854775807\"/>", "increment" },
        { "<MeshTopology edges=\"10-0-4294967295\"/>", "increment" },
        { "<RegularGridTopology cellWidth=\"1\" min=\"3 3 0\" max=\"0 0 1\"/>", "-2 x -2 x 2 points" },
        { "<TetrahedronFEMForceField method=\"medium\"/>", "must be one of: small large polar svd" },
        { "<MechanicalObject translation=\"1 2\"/>", "needs 3 numbers" },
    };
    for (const auto &b : bad) {
        HostScene s(node(b.xml));
        EXPECT_EQ(s.status, PLI_BAD_FILE) << b.xml;
        EXPECT_NE(s.findings().find(b.text), std::string::npos) << b.xml << ": " << s.findings();
    }
}

// Whoever makes arrays of the size of a state needs that size: arrays made before were too short for the points.
TEST(Order, ComponentsComeAfterTheirState)
{
    const std::string grid = "<RegularGridTopology n=\"3 3 3\" min=\"0 0 0\" max=\"1 1 1\"/>",
                      state = "<MechanicalObject name=\"dofs\"/>";
    const char *parts[] = {
        "<UniformMass totalMass=\"4\"/>",
        "<DiagonalMass totalMass=\"4\"/>",
        "<MeshMatrixMass totalMass=\"4\"/>",
        "<FixedProjectiveConstraint indices=\"1\"/>",
        "<LinearMovementProjectiveConstraint indices=\"1\" keyTimes=\"0 1\" movements=\"0 0 0 1 0 0\"/>",
        "<ConstantForceField totalForce=\"1 0 0\"/>",
        "<RestShapeSpringsForceField stiffness=\"10\"/>",
        "<PlaneForceField normal=\"0 1 0\" d=\"0\" stiffness=\"10\" localRange=\"1e300 1e300\"/>",
        "<SphereForceField center=\"0 0 0\" radius=\"1\" stiffness=\"10\"/>",
        "<TetrahedronFEMForceField youngModulus=\"1e4\" poissonRatio=\"0.3\"/>",
    };
    for (const std::string part : parts) {
        HostScene before(node(grid + part + state)), after(node(grid + state + part));
        EXPECT_EQ(before.status, PLI_BAD_FILE) << part;
        EXPECT_NE(before.findings().find("must come after its MechanicalObject dofs"), std::string::npos)
            << part << before.findings();
        EXPECT_TRUE(after.good()) << part << after.findings();
    }
}

// A mapping gives its child the size of its parent, which is too late for a mass of the child.
TEST(Order, NothingIsResizedUnderAComponent)
{
    const auto scene = [](const char *between) {
        return node(std::string("<MechanicalObject position=\"0 0 0 1 0 0 2 0 0\"/><Node "
                                "name=\"child\"><MechanicalObject name=\"small\" position=\"0 0 0 1 1 1\"/>") +
                    between + "<IdentityMapping/></Node>");
    };
    HostScene mass(scene("<UniformMass totalMass=\"1\"/>")), none(scene(""));
    EXPECT_EQ(mass.status, PLI_BAD_FILE);
    EXPECT_NE(mass.findings().find("gives small 3 points"), std::string::npos) << mass.findings();
    EXPECT_TRUE(none.good()) << none.findings();
}

TEST(Values, AStateMayBeEmpty)
{
    HostScene s(node("<SphereROI name=\"r\" centers=\"9 9 9\" radii=\"1\" position=\"1 2 3\"/><MechanicalObject "
                     "name=\"m\" position=\"@r.pointsInROI\"/>"));
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.state("m")->count, 0u);
}

TEST(Values, NumbersDoNotFollowTheLocale)
{
    const char *names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE" };
    bool changed = false;
    for (const char *name : names) changed = changed || setlocale(LC_NUMERIC, name);
    HostScene s(node("<MechanicalObject name=\"m\" position=\"1.5 2.25 -3e-2\"/>"));
    if (changed) setlocale(LC_NUMERIC, "C");
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.state("m")->x[0], 1.5);
    EXPECT_EQ(s.state("m")->x[2], -3e-2);
}

// ---- the profile ------------------------------------------------------------------------------------------------------

TEST(Profile, NamesThatSofaGaveUpLeadToTheNewOnes)
{
    HostScene s("<Node>\n<FixedConstraint/>\n<EulerImplicit/>\n</Node>", pli_scene_default(), "a.scn");
    EXPECT_EQ(s.status, PLI_UNSUPPORTED);
    EXPECT_NE(
        s.findings().find("a.scn:2: FixedConstraint: renamed in SOFA v24.06; did you mean FixedProjectiveConstraint?"),
        std::string::npos)
        << s.findings();
    EXPECT_NE(s.findings().find("a.scn:3: EulerImplicit: renamed in SOFA v24.12; did you mean EulerImplicitSolver?"),
              std::string::npos)
        << s.findings();
}

TEST(Profile, RefusesUnknownComponentsByName)
{
    HostScene s("<Node>\n<MechanicalObjet/>\n<CollisionPipeline/>\n</Node>", pli_scene_default(), "a.scn");
    EXPECT_EQ(s.status, PLI_UNSUPPORTED);
    EXPECT_NE(
        s.findings().find(
            "a.scn:2: MechanicalObjet: not in the profile (`pliant list` prints it); did you mean MechanicalObject?"),
        std::string::npos)
        << s.findings();
    EXPECT_NE(s.findings().find("a.scn:3: CollisionPipeline: collision detection is outside the profile"),
              std::string::npos)
        << s.findings();
}

TEST(Profile, RefusesUnsupportedAttributesUnlessTheyAreTheDefault)
{
    HostScene same(node("<MechanicalObject/><UniformMass totalMass=\"1\" separateGravity=\"false\"/>"));
    EXPECT_TRUE(same.good()) << same.findings();
    HostScene other(node("<MechanicalObject/><UniformMass totalMass=\"1\" separateGravity=\"1\"/>"));
    EXPECT_EQ(other.status, PLI_UNSUPPORTED);
}

TEST(Profile, UnknownAttributesWarnOnStockAndFailOnOurs)
{
    HostScene stock(node("<MechanicalObject positions=\"1 2 3\" _old=\"1\" NOscale=\"2\"/>"));
    EXPECT_TRUE(stock.good());
    EXPECT_NE(stock.findings().find("unused attribute positions=\"1 2 3\"; did you mean position?"), std::string::npos)
        << stock.findings();
    EXPECT_EQ(stock.findings().find("_old"), std::string::npos);
    EXPECT_EQ(stock.findings().find("NOscale"), std::string::npos);
    HostScene ours(node("<FemModel youngsModulus=\"1\"/>"));
    EXPECT_EQ(ours.status, PLI_BAD_FILE);
    EXPECT_NE(ours.findings().find("has no attribute youngsModulus; did you mean youngModulus?"), std::string::npos)
        << ours.findings();
}

TEST(Profile, RefusesRigidStates)
{
    HostScene s(node("<MechanicalObject template=\"Rigid3d\" position=\"0 0 0 0 0 0 1\"/>"));
    EXPECT_EQ(s.status == PLI_UNSUPPORTED || s.status == PLI_BAD_FILE, true);
    EXPECT_NE(s.findings().find("template=\"Rigid3d\": only Vec3 states"), std::string::npos) << s.findings();
}

TEST(Profile, AllowUnsupportedSkipsAndMarksDegraded)
{
    PliSceneDef def = pli_scene_default();
    def.allow_unsupported = true;
    HostScene s(node("<CollisionPipeline name=\"p\"/><MechanicalObject name=\"m\" position=\"@p.points\"/>"), def);
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_TRUE(s.scene->degraded);
    HostScene fine(node(point), def);
    EXPECT_FALSE(fine.scene->degraded);
}

TEST(Profile, KnowsPlugins)
{
    EXPECT_TRUE(
        HostScene(node("<RequiredPlugin name=\"Sofa.Component.Mass\"/><RequiredPlugin pluginName=\"Pliant Sofa.GL\"/>"))
            .good());
    HostScene s(node("<RequiredPlugin pluginName=\"SofaCUDA\"/>"));
    EXPECT_EQ(s.status, PLI_UNSUPPORTED);
}

TEST(Profile, InactiveNodesDoNothing)
{
    HostScene s(node("<Node name=\"off\" activated=\"0\"><UniformMass totalMass=\"-5\"/></Node>"));
    EXPECT_TRUE(s.good()) << s.findings();
}

// ---- overrides ---------------------------------------------------------------------------------------------------------

TEST(Overrides, ReplaceAttributesOfComponentsAndNodes)
{
    const PliOverride set[] = { { "@a/m.position", "9 9 9" }, { "@/.dt", "0.5" } };
    PliSceneDef def = pli_scene_default();
    def.overrides = set;
    def.override_count = 2;
    HostScene s(node("<Node name=\"a\"><MechanicalObject name=\"m\" position=\"1 1 1\"/></Node>"), def);
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.state("a/m")->x[0], 9.0);
    EXPECT_EQ(s.scene->dt, 0.5);
    const PliOverride nowhere[] = { { "@b/m.position", "9 9 9" } };
    def.overrides = nowhere;
    def.override_count = 1;
    EXPECT_EQ(HostScene(node(point), def).status, PLI_BAD_FILE);
}

// ---- includes ----------------------------------------------------------------------------------------------------------

TEST(Include, PutsTheFileInItsPlaceWithOverrides)
{
    Folder f;
    f.write("sub/part.xml", "<Node name=\"part\"><MechanicalObject name=\"m\" position=\"1 1 1\"/><MechanicalObject "
                            "name=\"other\" position=\"1 1 1\"/></Node>");
    std::string path =
        f.write("s.scn", node("<include href=\"sub/part.xml\" name=\"renamed\" m__position=\"7 7 7\" absent=\"1\"/>"));
    HostScene s(HostScene::FromFile{}, path);
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.state("renamed/m")->x[0], 7.0);
    EXPECT_EQ(s.state("renamed/other")->x[0], 1.0);
    EXPECT_EQ(s.findings().find("absent"), std::string::npos); // attributes that are not there stay away
}

TEST(Include, GroupAndMerge)
{
    Folder f;
    f.write("group.xml", "<Node name=\"Group\"><MechanicalObject name=\"g\" position=\"2 2 2\"/></Node>");
    f.write("merge.xml", "<Node name=\"_Merge_\" dt=\"0.25\"><MechanicalObject name=\"m\" position=\"3 3 "
                         "3\"/><MechanicalObject name=\"new\" position=\"4 4 4\"/></Node>");
    std::string path = f.write("s.scn", node("<Node name=\"a\"><include href=\"group.xml\"/></Node><MechanicalObject "
                                             "name=\"m\" position=\"1 1 1\"/><include href=\"merge.xml\"/>"));
    HostScene s(HostScene::FromFile{}, path);
    ASSERT_TRUE(s.good()) << s.findings();
    EXPECT_EQ(s.state("a/g")->x[0], 2.0);
    EXPECT_EQ(s.state("m")->x[0], 3.0);
    EXPECT_EQ(s.state("new")->x[0], 4.0);
    EXPECT_EQ(s.scene->dt, 0.25);
}

TEST(Include, RefusesCyclesDepthAndMissingFiles)
{
    Folder f;
    std::string self = f.write("self.scn", node("<include href=\"self.scn\"/>"));
    HostScene a(HostScene::FromFile{}, self);
    EXPECT_EQ(a.status, PLI_BAD_FILE);
    EXPECT_NE(a.findings().find("includes itself"), std::string::npos) << a.findings();
    f.write("x.scn", node("<include href=\"y.scn\"/>"));
    HostScene ring(HostScene::FromFile{}, f.write("y.scn", node("<include href=\"x.scn\"/>")));
    EXPECT_NE(ring.findings().find("includes itself"), std::string::npos) << ring.findings();
    for (int i = 0; i < 20; ++i)
        f.write("deep" + std::to_string(i) + ".scn", node("<include href=\"deep" + std::to_string(i + 1) + ".scn\"/>"));
    f.write("deep20.scn", node(""));
    HostScene deep(HostScene::FromFile{}, f.path("deep0.scn"));
    EXPECT_NE(deep.findings().find("more than 16 files deep"), std::string::npos) << deep.findings();
    HostScene gone(HostScene::FromFile{}, f.write("g.scn", node("<include href=\"gone.xml\"/>")));
    EXPECT_EQ(pli_findings_worst(&gone.scene->report), PLI_MISSING_FILE);
}

TEST(Include, ManySmallFilesCannotFillTheMemory)
{
    Folder f; // 4 includes in each of 12 levels would be 16 million nodes
    for (int i = 0; i < 12; ++i) {
        std::string next = "<include href=\"b" + std::to_string(i + 1) + ".xml\"/>";
        f.write("b" + std::to_string(i) + ".xml", node(next + next + next + next));
    }
    f.write("b12.xml", node(""));
    HostScene s(HostScene::FromFile{}, f.path("b0.xml"));
    EXPECT_EQ(s.status, PLI_BAD_FILE);
    EXPECT_NE(s.findings().find("more than 1000000 elements"), std::string::npos) << s.findings();
}

// ---- files --------------------------------------------------------------------------------------------------------------

TEST(Files, BesideTheSceneThenOnTheDataPath)
{
    Folder f;
    f.write("scene/near.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    f.write("data/mesh/far.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    std::string path = f.write(
        "scene/s.scn",
        node("<MeshOBJLoader name=\"a\" filename=\"near.obj\"/><MeshOBJLoader name=\"b\" filename=\"mesh/far.obj\"/>"));
    PliSceneDef def = pli_scene_default();
    HostScene without(HostScene::FromFile{}, path, def);
    EXPECT_EQ(pli_findings_worst(&without.scene->report), PLI_MISSING_FILE);
    std::string data = "/nonexistent:" + f.path("data");
    def.data_path = data.c_str();
    HostScene with(HostScene::FromFile{}, path, def);
    EXPECT_TRUE(with.good()) << with.findings();
}

TEST(Files, SandboxKeepsPathsInside)
{
    Folder f;
    f.write("outside.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    std::string path = f.write("in/s.scn", node("<MeshOBJLoader filename=\"../outside.obj\"/>"));
    PliSceneDef def = pli_scene_default();
    EXPECT_TRUE(HostScene(HostScene::FromFile{}, path, def).good());
    std::string root = f.path("in");
    def.root = root.c_str();
    HostScene s(HostScene::FromFile{}, path, def);
    EXPECT_FALSE(s.good());
    EXPECT_NE(s.findings().find("outside the allowed directory"), std::string::npos) << s.findings();
}

// ---- malformed files ------------------------------------------------------------------------------------------------------

TEST(Malformed, OneSentenceWithFileAndLine)
{
    const struct {
        std::string text, expected;
    } bad[] = {
        { "", "the file is empty" },
        { "<Node>\n<a>\n</b>\n</Node>", "m.scn:2: a tag is closed by another one" },
        { "<Node><a b=\"c></Node>", "malformed" },
        { "<Node>", "m.scn:1:" },
        { "plain text", "m.scn" },
        { std::string("<Node>\0</Node>", 14), "zero byte" },
        { "<Other/>", "a scene begins with <Node>" },
        { "<Node dt=\"0\"/>", "dt=0 must be > 0" },
        { "<Node dt=\"fast\"/>", "dt=\"fast\" is not a number" },
        { "<Node><!-- open", "comment" },
    };
    for (const auto &b : bad) {
        HostScene s(b.text, pli_scene_default(), "m.scn");
        EXPECT_EQ(s.status, PLI_BAD_FILE) << b.text;
        EXPECT_NE(s.findings().find(b.expected), std::string::npos) << b.text << ": " << s.findings();
    }
}

TEST(Malformed, DeepNestingIsRefused)
{
    std::string text;
    for (int i = 0; i < 100; ++i) text += "<Node>";
    for (int i = 0; i < 100; ++i) text += "</Node>";
    HostScene s(text);
    EXPECT_EQ(s.status, PLI_BAD_FILE);
    EXPECT_NE(s.findings().find("nested deeper than 64"), std::string::npos) << s.findings();
}

TEST(Malformed, MissingSceneIsAMissingFile)
{
    HostScene s(HostScene::FromFile{}, "/nonexistent/scene.scn");
    ASSERT_NE(s.scene, nullptr);
    EXPECT_EQ(pli_findings_worst(&s.scene->report), PLI_MISSING_FILE);
}

TEST(Malformed, CutAnywhereItNeverCrashes)
{
    const std::string whole =
        node(R"(<RegularGridTopology name="g" n="2 2 2"/><MechanicalObject name="m"/><UniformMass totalMass="1"/>
        <BoxROI name="r" box="0 0 0 1 1 0"/><FixedProjectiveConstraint indices="@r.indices"/><EulerImplicitSolver/><CGLinearSolver/>
        <TetrahedronFEMForceField youngModulus="1e4" poissonRatio="0.3"/>)");
    for (size_t n = 0; n + 1 < whole.size(); ++n) { // the last character is a line end
        HostScene s(whole.substr(0, n));
        EXPECT_NE(s.status, PLI_OK) << n;
    }
    EXPECT_TRUE(HostScene(whole).good());
}

TEST(Memory, EveryAllocationMayFail)
{
    const std::string text = node(R"(<RegularGridTopology n="2 2 2"/><MechanicalObject/><DiagonalMass totalMass="1"/>
        <BoxROI name="r" box="0 0 0 1 1 0"/><FixedProjectiveConstraint indices="@r.indices"/><EulerImplicitSolver/><SparseLDLSolver/>
        <TetrahedronFEMForceField youngModulus="1e4" poissonRatio="0.3"/>)");
    PliSceneDef def = pli_scene_default();
    bool reached = false;
    for (long allowed = 0; allowed < 5000 && !reached; ++allowed) {
        WatchedHost host;
        host.quiet = true;
        host.fail_after = allowed;
        PliStatus status = PLI_OK;
        PliScene *scene = pli_scene_parse(&host.host, text.data(), text.size(), "m.scn", &def, &status);
        reached = scene && status == PLI_OK;
        pli_scene_destroy(scene);
    }
    EXPECT_TRUE(reached);
}

} // namespace
