/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// pliant mesh, as a user runs it. Every scheme must run on what it wrote.
#include "cli/command.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <pliant/registry.h>

extern "C" {
#include "evidence/shapes.h"
#include "mesher/gmsh.h"
}

using pliant_test::command_path;
using pliant_test::Output;
using pliant_test::run_shell;

namespace
{

Output run(const std::string &before, const std::string &args)
{
    return run_shell(before + " " + command_path + args + " 2>&1");
}

std::string real_gmsh()
{
    std::string path;
    if (FILE *pipe = popen("command -v gmsh", "r")) {
        char line[1024] = "";
        if (fgets(line, sizeof line, pipe)) path = line;
        pclose(pipe);
    }
    return path.substr(0, path.find('\n'));
}

class Mesh : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        PliError err{};
        if (pli_gmsh_find(&err) != PLI_OK) GTEST_SKIP() << err.text;
        folder = ::testing::TempDir() + "pliant_mesh_" + std::to_string(getpid());
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
    }
    void TearDown() override
    {
        if (!folder.empty()) std::filesystem::remove_all(folder);
    }
    std::string shape(PliShape which, PliIndex triangles)
    {
        const PliHost host = pli_host_default();
        PliError err{};
        PliMesh *m = pli_shape_make(&host, which, triangles);
        const std::string path = folder + "/" + pli_shape_name(which) + ".obj";
        EXPECT_EQ(pli_mesh_write_obj(m, path.c_str(), &err), PLI_OK) << err.text;
        pli_mesh_destroy(m);
        return path;
    }
    std::string folder;
};

TEST_F(Mesh, EverySchemeRunsOnWhatItWrote)
{
    for (const PliShape which : { PLI_SHAPE_PLATE, PLI_SHAPE_HANDLE }) {
        const std::string out = folder + "/" + pli_shape_name(which) + "_levels";
        const Output made = run("", "mesh " + shape(which, 2000) + " --levels 2 --nodes 600 --out " + out);
        ASSERT_EQ(made.code, 0) << made.text;
        EXPECT_NE(made.text.find("The levels fit: nothing had to be repaired."), std::string::npos) << made.text;
        EXPECT_NE(made.text.find("<TetLodModel name=\"model\" filenames=\"level_0.msh level_1.msh\""),
                  std::string::npos);
        int scenes = 0;
        for (int k = 0; k < pli_scheme_count(); ++k) {
            if (!pli_scheme_at(k)->mesh.file) continue;
            // run refuses a state that is not finite with exit code 5
            const Output ran = run("", "run " + out + "/" + pli_scheme_at(k)->name + ".scn --steps 20");
            EXPECT_EQ(ran.code, 0) << pli_shape_name(which) << ", " << pli_scheme_at(k)->name << ": " << ran.text;
            ++scenes;
        }
        EXPECT_GE(scenes, 6);
        for (const auto &entry : std::filesystem::directory_iterator(out))
            EXPECT_EQ(entry.path().filename().string().find("gmsh_"), std::string::npos) << entry.path();
    }
}

TEST_F(Mesh, LeavesNothingBehindWhenItCannot)
{
    const std::string out = folder + "/out";
    std::ofstream(folder + "/open.obj")
        << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 1 2 3\n";
    std::ofstream(folder + "/hole.obj")
        << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\n";
    const Output crowded = run("", "mesh " + folder + "/open.obj --out " + out);
    EXPECT_EQ(crowded.code, 2) << crowded.text;
    EXPECT_NE(crowded.text.find("more than two triangles"), std::string::npos) << crowded.text;
    const Output hole = run("", "mesh " + folder + "/hole.obj --out " + out);
    EXPECT_EQ(hole.code, 2);
    EXPECT_NE(hole.text.find("not closed"), std::string::npos) << hole.text;
    const std::string good = shape(PLI_SHAPE_HANDLE, 600);
    const Output missing = run("PATH=/nowhere", "mesh " + good + " --out " + out);
    EXPECT_EQ(missing.code, 4) << missing.text;
    EXPECT_NE(missing.text.find("gmsh is not on the PATH"), std::string::npos) << missing.text;
    std::filesystem::create_directories(folder + "/fake");
    std::ofstream(folder + "/fake/gmsh") << "#!/bin/sh\necho 'Error   : no licence to mesh'\nexit 1\n";
    chmod((folder + "/fake/gmsh").c_str(), 0755);
    const Output failing =
        run("PATH=" + folder + "/fake:$PATH", "mesh " + good + " --levels 1 --nodes 200 --out " + out);
    EXPECT_EQ(failing.code, 4);
    EXPECT_NE(failing.text.find("gmsh does not work here"), std::string::npos) << failing.text;
    EXPECT_NE(failing.text.find("no licence to mesh"), std::string::npos) << failing.text;
    // gmsh works on the probe and fails afterwards: the levels come from a lattice, and the report says why
    std::ofstream(folder + "/fake/gmsh") << "#!/bin/sh\nfor w; do case $w in *probe.geo) exec " << real_gmsh()
                                         << " \"$@\";; esac; done\necho 'Error   : not this one'\nexit 1\n";
    const std::string other = folder + "/other";
    const Output lattice =
        run("PATH=" + folder + "/fake:$PATH", "mesh " + good + " --levels 2 --nodes 400 --out " + other);
    EXPECT_EQ(lattice.code, 0) << lattice.text;
    EXPECT_NE(
        lattice.text.find("level_0.msh was cut out of a lattice, which rounds edges: gmsh made no tetrahedra: not "
                          "this one"),
        std::string::npos)
        << lattice.text;
    // bad input of other kinds: one sentence each
    std::ofstream(folder + "/empty.obj") << "";
    std::ofstream(folder + "/points.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    std::ofstream(folder + "/flat.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\nf 1 3 2\nf 2 3 4\n";
    std::ofstream(folder + "/huge.obj")
        << "v 0 0 0\nv 1e308 0 0\nv 0 1e308 0\nv 0 0 1e308\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf "
           "2 3 4\n";
    std::ofstream(folder + "/nan.obj") << "v 0 0 0\nv nan 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    for (const char *name : { "empty.obj", "points.obj", "flat.obj", "huge.obj", "nan.obj", "nowhere.obj" }) {
        const Output bad = run("", "mesh " + folder + "/" + name + " --out " + out);
        EXPECT_TRUE(bad.code == 2 || bad.code == 4) << name << ": " << bad.code << " " << bad.text;
        EXPECT_EQ(std::count(bad.text.begin(), bad.text.end(), '\n'), 1) << name << ": " << bad.text;
        EXPECT_EQ(bad.text.find("pliant mesh: "), 0u) << bad.text;
    }
    EXPECT_FALSE(std::filesystem::exists(out));
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
    std::filesystem::create_directories(out);
    std::ofstream(out + "/mine.txt") << "keep\n";
    EXPECT_EQ(run("", "mesh " + good + " --out " + out).code, 4);
    EXPECT_TRUE(std::filesystem::exists(out + "/mine.txt"));
}

/// A tip thinner than the tetrahedra is left out with a warning, however fine the rest would have to be to keep it.
TEST_F(Mesh, LeavesThinTipsOutAndSaysSo)
{
    const PliHost host = pli_host_default();
    PliError err{};
    PliMesh *ball = pli_shape_make(&host, PLI_SHAPE_BUMPY, 2000);
    const double axis[3] = { 0.6, 0.0, 0.8 };
    double width = 0.0;
    for (PliIndex i = 0; i < 3 * ball->point_count; ++i) width = std::fmax(width, 2.0 * std::fabs(ball->x[i]));
    for (PliIndex p = 0; p < ball->point_count; ++p) {
        double *x = ball->x + 3 * p;
        const double along = x[0] * axis[0] + x[1] * axis[1] + x[2] * axis[2],
                     cosine = along / std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        for (int a = 0; cosine > 0.99 && a < 3; ++a)
            x[a] += 0.5 * width * std::pow((cosine - 0.99) / 0.01, 2) * axis[a];
    }
    const std::string spike = folder + "/spike.obj", out = folder + "/levels";
    ASSERT_EQ(pli_mesh_write_obj(ball, spike.c_str(), &err), PLI_OK) << err.text;
    pli_mesh_destroy(ball);
    // gmsh would keep it: it fails but for the probe, and the lattice does not
    std::filesystem::create_directories(folder + "/fake");
    std::ofstream(folder + "/fake/gmsh") << "#!/bin/sh\nfor w; do case $w in *probe.geo) exec " << real_gmsh()
                                         << " \"$@\";; esac; done\nexit 1\n";
    chmod((folder + "/fake/gmsh").c_str(), 0755);
    const Output made = run("PATH=" + folder + "/fake:$PATH", "mesh " + spike + " --levels 1 --nodes 150 --out " + out);
    ASSERT_EQ(made.code, 0) << made.text;
    EXPECT_NE(made.text.find("warning: level_0.msh has no tetrahedra in "), std::string::npos) << made.text;
    PliMesh *level = pli_mesh_read(&host, (out + "/level_0.msh").c_str(), &err);
    ASSERT_TRUE(level) << err.text;
    EXPECT_LT(level->point_count, 450u);
    pli_mesh_destroy(level);
}

/// A sheet so thin that nothing near the nodes that were asked for holds it: no hours of meshing, but what it would take.
TEST_F(Mesh, SaysHowManyNodesAThinBodyNeeds)
{
    std::ofstream(folder + "/sheet.obj")
        << "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 0 0.0004 0\nv 1 0.0004 0\nv 1 0.0004 1\nv 0 0.0004 1\n"
           "f 1 2 3 4\nf 8 7 6 5\nf 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 4 8 5 1\n";
    std::filesystem::create_directories(folder + "/fake");
    std::ofstream(folder + "/fake/gmsh") << "#!/bin/sh\nfor w; do case $w in *probe.geo) exec " << real_gmsh()
                                         << " \"$@\";; esac; done\nexit 1\n";
    chmod((folder + "/fake/gmsh").c_str(), 0755);
    const Output o = run("PATH=" + folder + "/fake:$PATH",
                         "mesh " + folder + "/sheet.obj --levels 1 --nodes 1250 --out " + folder + "/out");
    EXPECT_EQ(o.code, 2) << o.text;
    EXPECT_NE(o.text.find("nodes where 1250 were asked for (--nodes): the body has thin places; "), std::string::npos)
        << o.text;
    EXPECT_FALSE(std::filesystem::exists(folder + "/out"));
}

TEST_F(Mesh, SaysThatNothingWasWrittenWhenItIsInterrupted)
{
    // gmsh that takes its time, and a signal meanwhile
    std::filesystem::create_directories(folder + "/fake");
    std::ofstream(folder + "/fake/gmsh") << "#!/bin/sh\nkill -INT $PPID\nexec " << real_gmsh() << " \"$@\"\n";
    chmod((folder + "/fake/gmsh").c_str(), 0755);
    const Output o = run("PATH=" + folder + "/fake:$PATH",
                         "mesh " + shape(PLI_SHAPE_HANDLE, 600) + " --nodes 300 --out " + folder + "/out");
    EXPECT_EQ(o.code, 130) << o.text;
    EXPECT_NE(o.text.find("ended by a signal; nothing was written"), std::string::npos) << o.text;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        EXPECT_EQ(entry.path().filename().string().find("out"), std::string::npos) << entry.path();
}

TEST(MeshCommand, SaysWhatIsWrongWithAnOption)
{
    for (const char *bad : { "--levels 0", "--levels 9", "--levels 2.5", "--nodes 3", "--nodes x", "--ratio 1",
                             "--size -1", "--unit ell", "--nope", "--out" }) {
        const Output o = run("", std::string("mesh a.obj --out b ") + bad);
        EXPECT_EQ(o.code, 2) << bad;
        EXPECT_EQ(o.text.find("pliant mesh: "), 0u) << o.text;
    }
}

} // namespace
