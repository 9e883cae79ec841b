/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/host_scene.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <set>

extern "C" {
#include "host/compare/record.h"
}

using namespace pliant_test;

namespace
{

// Two tetrahedra in a file: what a model reads does not depend on components that are initialised later.
const char *msh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 0.1 0 0\n3 0 0.1 0\n4 0 0 0.1\n5 0.1 "
                  "0.1 0.1\n$EndNodes\n$Elements\n2\n1 4 0 1 2 3 4\n2 4 0 2 3 4 5\n$EndElements\n";

std::string model(const std::string &more, const std::string &attributes = "")
{
    return node(
        R"(<MeshGmshLoader name="l" filename="m.msh"/><FemModel name="model" src="@l" youngModulus="1e4" poissonRatio="0.3" )" +
        attributes + R"(/><MechanicalObject name="dofs" position="@model.position"/>)" + more);
}

struct ModelScene {
    Folder folder;
    std::unique_ptr<HostScene> s;
    explicit ModelScene(const std::string &text)
    {
        folder.write("m.msh", msh);
        s = std::make_unique<HostScene>(HostScene::FromFile{}, folder.write("s.scn", text));
    }
    HostScene *operator->() { return s.get(); }
};

TEST(Models, PublishTheirPointsAndSkin)
{
    ModelScene s(model("<AdaptiveSolver/>"));
    ASSERT_TRUE(s->good()) << s->findings();
    EXPECT_EQ(s->reals("model", "position").size(), 15u);
    EXPECT_EQ(s->indices("model", "tetrahedra").size(), 8u);
    EXPECT_EQ(s->indices("model", "triangles").size(), 3u * 6);
    EXPECT_EQ(s->state("dofs")->count, 5u);
    const PliBodyDef *def = pli_body_def(pli_model_self(s->object("model"))->body);
    EXPECT_EQ(def->material.young, 1e4);
    EXPECT_EQ(def->gravity[1], -9.81);
}

TEST(Models, EveryWayToGiveAMesh)
{
    const char *ways[] = { R"(<FemModel name="model" filename="m.msh"/>)",
                           R"(<MeshGmshLoader name="l" filename="m.msh"/><FemModel name="model" mesh="@l"/>)",
                           R"(<FemModel name="model" mesh="@l"/><MeshGmshLoader name="l" filename="m.msh"/>)",
                           R"(<TetLodModel name="model" filenames="m.msh"/>)",
                           R"(<MeshGmshLoader name="l" filename="m.msh"/><TetLodModel name="model" levels="@l"/>)" };
    for (const char *way : ways) {
        ModelScene s(
            node(std::string(way) + R"(<AdaptiveSolver/><MechanicalObject name="dofs" position="@model.position"/>)"));
        ASSERT_TRUE(s->good()) << way << s->findings();
        EXPECT_EQ(s->state("dofs")->count, 5u);
    }
    const char *none[] = { "<FemModel/>",
                           "<TetLodModel/>",
                           R"(<FemModel filename="gone.msh"/>)",
                           R"(<TetLodModel filenames="m.msh gone.msh"/>)",
                           R"(<FemModel filename="m.msh" youngModulus="-1"/>)",
                           R"(<FemModel filename="m.msh" law="rubber"/>)" };
    for (const char *way : none) EXPECT_FALSE(ModelScene(node(way))->good()) << way;
}

TEST(Models, FreeFallInBothRoutes)
{
    const char *routes[] = {
        "<AdaptiveSolver/>",
        R"(<EulerImplicitSolver/><CGLinearSolver tolerance="1e-14" threshold="1e-40" iterations="200"/><AdaptiveForceField/><AdaptiveMass/><AdaptiveMask/>)",
        R"(<EulerImplicitSolver/><SparseLDLSolver/><AdaptiveMass/><AdaptiveForceField/>)",
        R"(<EulerExplicitSolver/><AdaptiveForceField/><AdaptiveMass/>)"
    };
    for (const char *route : routes) {
        ModelScene s(model(route, "courant=\"0.5\""));
        ASSERT_TRUE(s->good()) << route << s->findings();
        s->scene->dt = 1e-4;
        s->step(20);
        for (PliIndex i = 0; i < 5; ++i) EXPECT_NEAR(s->state("dofs")->v[3 * i + 1], -9.81 * 20e-4, 1e-9) << route;
        double kinetic, potential;
        pli_scene_energy(s->scene, &kinetic, &potential);
        EXPECT_GT(kinetic, 0.0);
    }
}

TEST(Models, StagesGiveTheSameMotionWithEverySolver)
{
    std::vector<double> x[2];
    const char *solver[2] = { R"(<CGLinearSolver tolerance="1e-15" threshold="1e-40" iterations="500"/>)",
                              "<SparseLDLSolver/>" };
    for (int k = 0; k < 2; ++k) {
        ModelScene s(model(std::string("<EulerImplicitSolver/>") + solver[k] +
                               R"(<AdaptiveForceField/><AdaptiveMass/><FixedProjectiveConstraint indices="0 1 2"/>)",
                           "law=\"corotational\""));
        ASSERT_TRUE(s->good()) << s->findings();
        s->step(20);
        x[k].assign(s->state("dofs")->x, s->state("dofs")->x + 15);
        EXPECT_EQ(x[k][3], 0.1); // held
        EXPECT_NE(x[k][13], 0.1);
    }
    for (int i = 0; i < 15; ++i) EXPECT_NEAR(x[0][i], x[1][i], 1e-11);
}

TEST(Models, OneBodyIsSteppedOnce)
{
    ModelScene both(model("<AdaptiveSolver/><AdaptiveForceField/>"));
    EXPECT_NE(both->findings().find("its forces would count twice"), std::string::npos) << both->findings();
    ModelScene mass(model("<AdaptiveSolver/><UniformMass totalMass=\"1\"/>"));
    EXPECT_NE(mass->findings().find("its weight counts twice"), std::string::npos) << mass->findings();
    ModelScene solvers(model("<AdaptiveSolver/><EulerImplicitSolver/><CGLinearSolver/>"));
    EXPECT_NE(solvers->findings().find("two solvers in one node"), std::string::npos) << solvers->findings();
    ModelScene none(model(""));
    EXPECT_TRUE(none->good());
    EXPECT_NE(none->findings().find("nothing moves this body"), std::string::npos);
}

TEST(Models, SayWhatIsMissing)
{
    ModelScene size(
        node(R"(<FemModel name="model" filename="m.msh"/><AdaptiveSolver/><MechanicalObject position="0 0 0"/>)"));
    EXPECT_NE(size->findings().find("has 1 points, and this body 5 coefficients: give it position=\"@model.position\""),
              std::string::npos)
        << size->findings();
    ModelScene lost(node("<AdaptiveSolver/>"));
    EXPECT_NE(lost->findings().find("finds no model"), std::string::npos) << lost->findings();
    ModelScene partial(
        model(R"(<AdaptiveSolver/><PartialFixedProjectiveConstraint indices="0" fixedDirections="1 0 0"/>)"));
    EXPECT_NE(partial->findings().find("only some directions"), std::string::npos) << partial->findings();
    ModelScene tool(
        model(R"(<EulerImplicitSolver/><CGLinearSolver/><AdaptiveForceField/><AdaptiveMass/><SphereTool/>)"));
    EXPECT_NE(tool->findings().find("act inside AdaptiveSolver only"), std::string::npos) << tool->findings();
}

TEST(Models, OtherForcesReachTheBody)
{
    // forces on coefficients and, through the mapping, on skin points: the momentum grows by their sum
    ModelScene s(model(R"(<AdaptiveSolver name="solver"/><ConstantForceField indices="0" forces="0 0 1"/>
        <Node name="skin"><AdaptiveSurface name="surface"/><MechanicalObject name="points"/><AdaptiveMapping/><ConstantForceField indices="1 2" forces="0 0 2"/></Node>)",
                       "density=\"1000\""));
    ASSERT_TRUE(s->good()) << s->findings();
    s->scene->gravity[1] = 0;
    pli_body_set_gravity(pli_model_self(s->object("model"))->body, s->scene->gravity);
    s->step(10);
    PliMech *m = s->state("dofs");
    PliEnergy e = pli_body_energy(pli_model_self(s->object("model"))->body, m->x, m->v);
    EXPECT_NEAR(e.momentum[2], 5.0 * 0.1, 1e-10);
    EXPECT_GT(s->reals("solver", "forceUpdates")[0], 0.0);
    EXPECT_EQ(s->state("skin/points")->count, 5u);
}

TEST(Models, EmbeddedPointsFollow)
{
    ModelScene s(model(
        R"(<AdaptiveSolver/><FixedProjectiveConstraint fixAll="1"/><Node name="in"><MechanicalObject name="points" position="0.02 0.02 0.02  0.09 0.08 0.09"/><AdaptiveMapping/></Node>)"));
    ASSERT_TRUE(s->good()) << s->findings();
    PliMech *m = s->state("dofs"), *p = s->state("in/points");
    for (PliIndex i = 0; i < m->count; ++i) m->x[3 * i] += 0.5 + m->x[3 * i + 1];
    s->step();
    EXPECT_NEAR(p->x[0], 0.02 + 0.5 + 0.02, 1e-14);
    EXPECT_NEAR(p->x[3], 0.09 + 0.5 + 0.08, 1e-14);
}

TEST(Models, AnEmbeddedPointStaysOne)
{
    ModelScene s(model(
        R"(<AdaptiveSolver/><Node name="in"><MechanicalObject name="points" position="0.02 0.02 0.02"/><AdaptiveMapping map="embed"/></Node>)"));
    ASSERT_TRUE(s->good()) << s->findings();
    ASSERT_EQ(s->state("in/points")->count, 1u);
    EXPECT_NEAR(s->state("in/points")->x[0], 0.02, 1e-15);
}

TEST(Tools, FollowTheirKeysAndFeelTheBody)
{
    ModelScene s(model(R"(<AdaptiveSolver/><FixedProjectiveConstraint indices="0 1 2"/>
        <SphereTool name="ball" radius="0.05" position="0.1 0.1 0.2" keyTimes="0 0.1" movements="0 0 0  0 0 -0.08" stiffness="1e6"/>)",
                       "massDamping=\"20\""));
    ASSERT_TRUE(s->good()) << s->findings();
    s->scene->dt = 0.001;
    const PliModel *m = pli_model_self(s->object("model"));
    s->step(51);
    EXPECT_NEAR(m->tool[0].position[2], 0.2 - 0.8 * 0.050, 1e-12);
    EXPECT_NEAR(m->tool[0].velocity[2], -0.8, 1e-12);
    s->step(60);
    EXPECT_EQ(m->tool[0].velocity[2], 0.0); // behind the last key it rests
}

TEST(Tools, FeelTheBody)
{
    ModelScene s(model(R"(<AdaptiveSolver/><FixedProjectiveConstraint indices="0 1 2"/>
        <PlaneTool name="lid" normal="0 0 -1" position="0 0 0.11" keyTimes="0 0.05" movements="0 0 0  0 0 -0.02"/>)",
                       "massDamping=\"20\""));
    ASSERT_TRUE(s->good()) << s->findings();
    s->scene->dt = 0.001;
    s->step(150);
    EXPECT_NEAR(s->state("dofs")->x[14], 0.09, 1e-4); // pressed down
    EXPECT_GT(s->reals("lid", "force")[2], 0.0);      // and pushing back
}

TEST(Tools, RefuseBadKeys)
{
    for (const char *bad : { R"(<SphereTool keyTimes="0 1" movements="0 0 0"/>)",
                             R"(<SphereTool keyTimes="1 0" movements="0 0 0 1 1 1"/>)", R"(<SphereTool radius="0"/>)",
                             R"(<PlaneTool normal="0 0 0"/>)" })
        EXPECT_FALSE(ModelScene(model(std::string("<AdaptiveSolver/>") + bad))->good()) << bad;
}

TEST(Models, AllocateNothingInAStep)
{
    ModelScene s(model(
        R"(<AdaptiveSolver/><FixedProjectiveConstraint indices="0 1 2"/><SphereTool radius="0.05" position="0.1 0.1 0.12"/>
        <Node name="skin"><AdaptiveSurface name="surface"/><MechanicalObject name="points"/><AdaptiveMapping/></Node>)"));
    ASSERT_TRUE(s->good()) << s->findings();
    s->step(2);
    long before = s->host().calls;
    s->step(20);
    EXPECT_EQ(s->host().calls, before);
}

TEST(Models, TheHashDoesNotDependOnThreads)
{
    uint64_t hash[2];
    for (int k = 0; k < 2; ++k) {
        Folder f;
        f.write("m.msh", msh);
        std::string path = f.write("s.scn", model(R"(<AdaptiveSolver/><FixedProjectiveConstraint indices="0 1 2"/>)"));
        PliHost host = pli_host_default();
        PliPool *pool = k ? pli_pool_create(3) : nullptr;
        if (pool) pli_pool_lend(pool, &host);
        PliSceneDef def = pli_scene_default();
        PliStatus status;
        PliScene *scene = pli_scene_load(&host, path.c_str(), &def, &status);
        ASSERT_EQ(status, PLI_OK);
        PliError err = {};
        for (int i = 0; i < 50; ++i) ASSERT_EQ(pli_scene_step(scene, &err), PLI_OK) << err.text;
        hash[k] = pli_scene_hash(scene);
        pli_scene_destroy(scene);
        pli_pool_destroy(pool);
    }
    EXPECT_EQ(hash[0], hash[1]);
}

TEST(Record, WritesASeriesThatReadsBack)
{
    ModelScene s(model(R"(<AdaptiveSolver/><FixedProjectiveConstraint indices="0 1 2"/>)"));
    ASSERT_TRUE(s->good()) << s->findings();
    std::string out = s.folder.path("out");
    PliRecordDef def = { out.c_str(), 2 };
    PliError err = {};
    PliRecord *r = pli_record_create(s->scene, &def, &err);
    ASSERT_NE(r, nullptr) << err.text;
    ASSERT_EQ(pli_record_state(r, 0, &err), PLI_OK) << err.text;
    for (int i = 0; i < 4; ++i) {
        s->step();
        ASSERT_EQ(pli_record_state(r, 1.0 + i, &err), PLI_OK) << err.text;
    }
    PliRecordTimes t = pli_record_times(r);
    EXPECT_EQ(t.steps, 4u);
    EXPECT_EQ(t.max, 4.0);
    EXPECT_NEAR(t.total, 10.0, 1e-12);
    EXPECT_EQ(pli_record_close(r, &err), PLI_OK);
    std::ifstream csv(out + "/stats.csv");
    std::string line;
    int lines = 0;
    while (std::getline(csv, line)) lines++;
    EXPECT_EQ(lines, 6);
    PliHost host = pli_host_default();
    PliMesh *mesh = pli_mesh_read(&host, (out + "/body_000004.vtu").c_str(), &err);
    ASSERT_NE(mesh, nullptr) << err.text;
    EXPECT_EQ(mesh->tet_count, 2u);
    for (int i = 0; i < 15; ++i) EXPECT_EQ(mesh->x[i], s->state("dofs")->x[i]);
    pli_mesh_destroy(mesh);
    std::ifstream pvd(out + "/body.pvd");
    std::string all((std::istreambuf_iterator<char>(pvd)), {});
    EXPECT_NE(all.find("body_000002.vtu"), std::string::npos);
    PliRecordDef nowhere = { "/nonexistent/place", 1 };
    EXPECT_EQ(pli_record_create(s->scene, &nowhere, &err), nullptr);
}

// Whatever this process does between the ends of two steps is in the line of the second, and all lines together are all of it.
TEST(StepTimes, CountTheWholeProcess)
{
    const Folder folder;
    const std::string path = folder.path("times.csv");
    HostScene s(node("<StepTimes filename=\"" + path +
                     "\"/><Node name=\"body\"><MechanicalObject name=\"dofs\" "
                     "position=\"1 2 3\"/><UniformMass totalMass=\"1\"/><EulerExplicitSolver/></Node>"));
    ASSERT_TRUE(s.good()) << s.findings();
    const auto clock = [] {
        timespec t;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return 1e3 * double(t.tv_sec) + 1e-6 * double(t.tv_nsec);
    };
    PliError err = {};
    double before = clock();
    ASSERT_EQ(pli_scene_start(s.scene, &err), PLI_OK) << err.text;
    const double started = clock();
    for (int k = 1; k <= 4; ++k) {
        const double now = clock();
        while (k == 3 && clock() < now + 30.0) continue;
        s.step();
    }
    const double stepped = clock() - started, all = clock() - before;
    ASSERT_EQ(pli_scene_finish(s.scene, &err), PLI_OK) << err.text;
    std::ifstream csv(path);
    std::string line;
    std::getline(csv, line);
    EXPECT_EQ(line, "step,time_s,cpu_ms,wall_ms");
    double sum = 0.0;
    for (int k = 1, step; k <= 4; ++k) {
        double time, cpu, wall;
        ASSERT_TRUE(std::getline(csv, line));
        ASSERT_EQ(std::sscanf(line.c_str(), "%d,%lf,%lf,%lf", &step, &time, &cpu, &wall), 4) << line;
        EXPECT_EQ(step, k);
        EXPECT_NEAR(time, 0.01 * k, 1e-12);
        EXPECT_GT(cpu, k == 3 ? 30.0 : 0.0);
        EXPECT_GT(wall, k == 3 ? 30.0 : 0.0);
        sum += cpu;
    }
    EXPECT_FALSE(std::getline(csv, line));
    EXPECT_GE(sum, stepped - 0.5);
    EXPECT_LE(sum, all);
}

// Every scene we ship for one component runs without a word.
TEST(SingleScenes, RunWithoutAWarning)
{
    int count = 0;
    for (const auto &entry : std::filesystem::directory_iterator(std::string(PLIANT_SOURCE_DIR) + "/scenes/single")) {
        if (entry.path().extension() != ".scn") continue;
        count++;
        HostScene s(HostScene::FromFile{}, entry.path().string());
        if (entry.path().filename().string().rfind("sofa_", 0) ==
            0) { // SOFA's collision pipeline: refused by name, not skipped
            EXPECT_FALSE(s.good()) << entry.path();
            EXPECT_NE(s.findings().find("outside the profile"), std::string::npos) << s.findings();
            continue;
        }
        EXPECT_TRUE(s.good()) << entry.path() << s.findings();
        EXPECT_EQ(s.findings(), "") << entry.path();
        if (s.good()) s.step(5);
    }
    EXPECT_GE(count, 40);
}

// Each component of the table has a scene of its own, or a reason not to.
TEST(SingleScenes, CoverTheTable)
{
    std::string all;
    for (const auto &entry : std::filesystem::directory_iterator(std::string(PLIANT_SOURCE_DIR) + "/scenes/single")) {
        std::ifstream in(entry.path());
        all.append(std::istreambuf_iterator<char>(in), {});
    }
    const std::set<std::string> without = {
        "Node",          "VisualModel",        "MeshVTKLoader",         "MeshSTLLoader",
        "MeshOBJLoader", "EigenSimplicialLLT", "NaturalOrderingMethod", "COLAMDOrderingMethod"
    };
    const PliClass *c;
    for (int i = 0; (c = pli_profile_at(i)); ++i) {
        std::string name = c->name;
        bool relative = name.find("Set") != std::string::npos &&
                        (name.find("Container") != std::string::npos || name.find("Modifier") != std::string::npos ||
                         name.find("Algorithms") != std::string::npos);
        if (c->support == PLI_VISUAL_ONLY || !c->ops || without.count(name) || relative || name == "ComparisonMonitor")
            continue;
        EXPECT_NE(all.find("<" + name), std::string::npos) << name << " has no scene in scenes/single";
    }
}

} // namespace
