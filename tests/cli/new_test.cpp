/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// pliant new: regions by name, and scenes that run as they were written.
#include "cli/command.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <pliant/registry.h>

extern "C" {
#include "evidence/shapes.h"
#include "host/scaffold/region.h"
#include "mesher/gmsh.h"
}

using pliant_test::command_path;
using pliant_test::Output;
using pliant_test::run_shell;

namespace
{

Output run(const std::string &args) { return run_shell(command_path + args + " 2>&1"); }

std::string slurp(const std::string &path)
{
    std::ifstream in(path);
    std::stringstream s;
    s << in.rdbuf();
    return s.str();
}

class New : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        folder = ::testing::TempDir() + "pliant_new_" + std::to_string(getpid());
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        const PliHost host = pli_host_default();
        surface = pli_shape_make(&host, PLI_SHAPE_HANDLE, 1200);
        region = std::make_unique<PliRegion>();
        // the triangles with x > 0.4 are painted
        file = folder + "/ring.obj";
        std::ofstream out(file);
        for (PliIndex p = 0; p < surface->point_count; ++p)
            out << "v " << 1000 * surface->x[3 * p] << " " << 1000 * surface->x[3 * p + 1] << " "
                << 1000 * surface->x[3 * p + 2] << "\n";
        for (int painted = 0; painted < 2; ++painted) {
            out << (painted ? "g grip\n" : "g rest\n");
            for (PliIndex t = 0; t < surface->tri_count; ++t) {
                const PliIndex *c = surface->tris + 3 * t;
                const bool in = surface->x[3 * c[0]] > 0.4;
                if (in == (painted == 1)) out << "f " << c[0] + 1 << "/1 " << c[1] + 1 << "/1 " << c[2] + 1 << "/1\n";
            }
        }
    }
    void TearDown() override
    {
        pli_mesh_destroy(surface);
        std::filesystem::remove_all(folder);
    }
    PliStatus read(const char *text, int up = 1)
    {
        const PliRegionFrame frame = { surface, file.c_str(), 0.001, up };
        return pli_region_read(&frame, text, region.get(), &err);
    }
    PliMesh *surface = nullptr;
    std::unique_ptr<PliRegion> region;
    PliError err{};
    std::string folder, file;
};

TEST_F(New, SidesAreTheOutermostTenth)
{
    double low[3] = { 9, 9, 9 }, high[3] = { -9, -9, -9 };
    for (PliIndex i = 0; i < 3 * surface->point_count; ++i) {
        low[i % 3] = std::fmin(low[i % 3], surface->x[i]);
        high[i % 3] = std::fmax(high[i % 3], surface->x[i]);
    }
    const struct {
        const char *name;
        int up, axis;
        double sign, part;
    } sides[] = { { "top", 1, 1, 1, 0.1 },    { "bottom", 1, 1, -1, 0.1 }, { "left", 1, 0, -1, 0.1 },
                  { "right", 1, 0, 1, 0.1 },  { "front", 1, 2, 1, 0.1 },   { "back", 1, 2, -1, 0.1 },
                  { "top", 2, 2, 1, 0.1 },    { "front", 2, 1, 1, 0.1 },   { "top:0.4", 1, 1, 1, 0.4 },
                  { "bottom", 0, 0, -1, 0.1 } };
    for (const auto &s : sides) {
        ASSERT_EQ(read(s.name, s.up), PLI_OK) << err.text;
        for (PliIndex p = 0; p < surface->point_count; ++p) {
            const double *x = surface->x + 3 * p, height = high[s.axis] - low[s.axis];
            const double in =
                s.sign > 0 ? x[s.axis] - (high[s.axis] - s.part * height) : low[s.axis] + s.part * height - x[s.axis];
            if (std::fabs(in) > 1e-9) {
                EXPECT_EQ(pli_region_has(region.get(), x), in > 0) << s.name << " " << p;
            }
        }
    }
}

TEST_F(New, LargePaintedFacesAreRegionsBetweenTheirCorners)
{
    file = folder + "/box.obj"; // one square and one triangle nearly as large as the body, in mm
    std::ofstream(file) << "v -300 -300 0\nv 300 -300 0\nv 300 300 0\nv -300 300 0\nv 0 0 100\n"
                        << "g floor\nf 1 2 3 4\ng roof\nf 1/1 2/1 5/1\n";
    ASSERT_EQ(read("floor"), PLI_OK) << err.text;
    for (int k = 0; k < 100; ++k) {
        const double p[3] = { -0.27 + 0.06 * (k % 10), -0.27 + 0.06 * (k / 10), 0.0 };
        EXPECT_TRUE(pli_region_has(region.get(), p)) << p[0] << " " << p[1];
    }
    const double above[3] = { 0.0, 0.0, 0.09 };
    EXPECT_FALSE(pli_region_has(region.get(), above));
    ASSERT_EQ(read("roof"), PLI_OK) << err.text;
    const double middle[3] = { 0.0, -0.2, 0.1 / 3.0 };
    EXPECT_TRUE(pli_region_has(region.get(), middle));
}

TEST_F(New, SpheresBoxesAndPaintedGroupsAreRegions)
{
    ASSERT_EQ(read("sphere:0.37,0,0,0.2"), PLI_OK) << err.text;
    ASSERT_EQ(read("box:0.2,-1,-1,1,1,1"), PLI_OK) << err.text;
    for (PliIndex p = 0; p < surface->point_count; ++p)
        EXPECT_EQ(pli_region_has(region.get(), surface->x + 3 * p), surface->x[3 * p] >= 0.2);
    ASSERT_EQ(read("grip"), PLI_OK) << err.text;
    for (PliIndex p = 0; p < surface->point_count; ++p) {
        const double x = surface->x[3 * p];
        if (x > 0.41) {
            EXPECT_TRUE(pli_region_has(region.get(), surface->x + 3 * p)) << x;
        }
        if (x < 0.3) {
            EXPECT_FALSE(pli_region_has(region.get(), surface->x + 3 * p)) << x;
        } // boxes of a 24th of the width
    }
    const struct {
        const char *text, *sentence;
    } wrong[] = { { "grib", "did you mean grip?" },          { "botom", "did you mean bottom?" },
                  { "sphere:1,2,3", "sphere:X,Y,Z,RADIUS" }, { "box:1,2", "box:X,Y,Z,X,Y,Z" },
                  { "top:1.5", "between 0 and 1" },          { "sphere:9,9,9,0.1", "no point of the surface" } };
    for (const auto &w : wrong) {
        EXPECT_EQ(read(w.text), PLI_BAD_ARGUMENT) << w.text;
        EXPECT_NE(std::string(err.text).find(w.sentence), std::string::npos) << err.text;
    }
}

TEST_F(New, WritesScenesThatRun)
{
    if (pli_gmsh_find(&err) != PLI_OK) GTEST_SKIP() << err.text;
    const std::string out = folder + "/ring";
    const Output made = run(
        "new " + file + " --unit mm --up z --fix grip --poke left --squeeze top --nodes 300 --levels 2 --out " + out);
    ASSERT_EQ(made.code, 0) << made.text;
    // a uniform body that is finer than the coarse level and coarser than the reference
    const PliHost host = pli_host_default();
    PliIndex points[3] = { 0, 0, 0 };
    const char *const files[3] = { "level_0.msh", "between.msh", "level_1.msh" };
    for (int k = 0; k < 3; ++k) {
        PliMesh *mesh = pli_mesh_read(&host, (out + "/" + files[k]).c_str(), &err);
        ASSERT_NE(mesh, nullptr) << err.text;
        points[k] = mesh->point_count;
        pli_mesh_destroy(mesh);
    }
    EXPECT_LT(1.2 * points[0], points[1]);
    EXPECT_LT(1.2 * points[1], points[2]);
    for (const char *load : { "poke", "squeeze" }) {
        const std::string scene = out + "/" + load + ".scn", text = slurp(scene);
        // one body of every registered scheme, one block for all of them
        size_t bodies = 0, includes = 0;
        for (int k = 0; k < pli_scheme_count(); ++k)
            if (pli_scheme_at(k)->mesh.file) {
                EXPECT_NE(text.find(std::string("<") + pli_scheme_at(k)->component + " "), std::string::npos) << scene;
            }
        for (size_t at = 0; (at = text.find("name=\"model\"", at)) != std::string::npos; ++at) ++bodies;
        for (size_t at = 0; (at = text.find("<include ", at)) != std::string::npos; ++at) ++includes;
        // all that adapts keeps an accuracy, by itself or on the levels
        for (int k = 0; k < pli_scheme_count(); ++k) {
            const PliSchemeInfo *scheme = pli_scheme_at(k);
            if (!scheme->mesh.file || !scheme->adaptive) continue;
            const size_t at = text.find(std::string("<") + scheme->component + " ");
            const std::string model = text.substr(at, text.find("/>", at) - at);
            EXPECT_NE(model.find(" accuracy=\"3\""), std::string::npos) << model;
            EXPECT_EQ(model.find(" fallbackFilenames=\"level_0.msh level_1.msh\"") == std::string::npos,
                      scheme->accurate)
                << model;
        }
        EXPECT_EQ(bodies, includes);
        EXPECT_GE(bodies, 8u);
        EXPECT_NE(text.find("<Node name=\"Uniform1\">\n        <FemModel name=\"model\" filename=\"between.msh\""),
                  std::string::npos);
        EXPECT_EQ(text.find("FixedProjectiveConstraint indices"), std::string::npos);
        const Output check = run("check " + scene);
        EXPECT_EQ(check.code, 0) << check.text;
        // all of them are made by check; one runs here
        if (std::string(load) != "poke") continue;
        const Output ran =
            run("compare " + scene + " --steps 20 --repeat 1 --out " + folder + "/report --schemes tetlod");
        EXPECT_EQ(ran.code, 0) << ran.text;
        EXPECT_EQ(ran.text.find("cannot do this scene"), std::string::npos) << ran.text;
    }
}

TEST_F(New, TwelveTrianglesAreEnough)
{
    if (pli_gmsh_find(&err) != PLI_OK) GTEST_SKIP() << err.text;
    const std::string cube = folder + "/cube.obj", out = folder + "/cube";
    {
        std::ofstream o(cube);
        for (int k = 0; k < 8; ++k)
            o << "v " << 0.1 * (k & 1) << " " << 0.1 * (k >> 1 & 1) << " " << 0.1 * (k >> 2) << "\n";
        o << "f 1 5 7 3\nf 2 4 8 6\nf 1 2 6 5\ng lid\nf 3 7 8 4\ng rest\nf 1 3 4 2\nf 5 6 8 7\n";
    }
    const Output made = run("new " + cube + " --poke lid --drag top --nodes 300 --levels 2 --own-forms --out " + out);
    ASSERT_EQ(made.code, 0) << made.text;
    // what adapts does so in its own form
    const std::string text = slurp(out + "/drag.scn");
    EXPECT_EQ(text.find("fallback"), std::string::npos);
    EXPECT_NE(text.find(" accuracy="), std::string::npos) << "of the scheme that keeps it by itself";
    EXPECT_EQ(text.find(" accuracy="), text.rfind(" accuracy="));
    // in the middle of the face
    EXPECT_NE(made.text.find("at (0.05 0.1 0.05), holds"), std::string::npos) << made.text;
    EXPECT_NE(made.text.find("at (0.05 0.1 0.05) and drags"), std::string::npos) << made.text;
    const Output ran =
        run("compare " + out + "/drag.scn --steps 60 --repeat 1 --out " + folder + "/report --schemes fem");
    EXPECT_EQ(ran.code, 0) << ran.text;
    EXPECT_NE(ran.text.find("Uniform0"), std::string::npos) << ran.text;
}

/// gmsh that is not there, does not work, or is stopped: one sentence, and nothing is left.
TEST_F(New, SaysWhatIsWrongWithGmsh)
{
    if (pli_gmsh_find(&err) != PLI_OK) GTEST_SKIP() << err.text;
    const std::string fake = folder + "/fake",
                      rest = std::string(command_path) + "new " + file + " --unit mm --out " + folder;
    std::filesystem::create_directories(fake);
    const struct {
        std::string path, script, sentence;
        int code;
    } ways[] = {
        { "/nowhere", "", "gmsh is not on the PATH", 4 },
        { fake + ":$PATH", "echo 'Error   : no licence to mesh'\nexit 1\n", "no licence to mesh", 4 },
        { fake + ":$PATH", "kill -INT $PPID\nexit 1\n", "ended by a signal; nothing was written", 130 },
    };
    for (const auto &w : ways) {
        std::ofstream(fake + "/gmsh") << "#!/bin/sh\n" << w.script;
        std::filesystem::permissions(fake + "/gmsh", std::filesystem::perms::owner_all);
        const Output o = run_shell("PATH=" + w.path + " " + rest + "/out 2>&1 >/dev/null");
        EXPECT_EQ(o.code, w.code) << o.text;
        EXPECT_NE(o.text.find(w.sentence), std::string::npos) << o.text;
        EXPECT_EQ(std::count(o.text.begin(), o.text.end(), '\n'), 1) << o.text;
    }
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        EXPECT_EQ(entry.path().filename().string().find("out"), std::string::npos) << entry.path();
}

/// Ctrl-C when the meshes are there and bodies of every scheme are tried.
TEST_F(New, AnInterruptedTrialLeavesNothing)
{
    if (pli_gmsh_find(&err) != PLI_OK) GTEST_SKIP() << err.text;
    const std::string out = folder + "/out", log = folder + "/log";
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (!freopen(log.c_str(), "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(99);
        execl(PLIANT_BINARY_DIR "/bin/pliant", "pliant", "new", file.c_str(), "--unit", "mm", "--out", out.c_str(),
              nullptr);
        _exit(98);
    }
    const std::string written = out + ".tmp" + std::to_string(child) + "/surface.obj";
    for (int i = 0; i < 30000 && access(written.c_str(), R_OK) != 0; ++i) usleep(2000);
    ASSERT_EQ(kill(child, SIGINT), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
    EXPECT_EQ(slurp(log), "pliant new: ended by a signal; nothing was written, " + out + " was not made\n");
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        EXPECT_EQ(entry.path().filename().string().find("out"), std::string::npos) << entry.path();
}

TEST_F(New, RefusesWithOneSentenceAndWritesNothing)
{
    const std::string out = " --out " + folder + "/out";
    std::ofstream(folder + "/sheet.obj")
        << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\n";
    // two tetrahedra that have an edge in common, each with points of its own
    std::ofstream(folder + "/twins.obj")
        << "v 0 0 0\nv 0 0 1\nv 1 0 0\nv 0 1 0\nf 1 4 3\nf 1 3 2\nf 1 2 4\nf 3 4 2\n"
        << "v 0 0 0\nv 0 0 1\nv -1 0 0\nv 0 -1 0\nf 5 8 7\nf 5 7 6\nf 5 6 8\nf 7 8 6\n";
    std::ofstream(folder + "/none.obj").flush();
    const struct {
        std::string args, sentence;
        int code;
    } wrong[] = {
        { "new " + folder + "/rings.obj" + out, "did you mean " + file, 4 },
        { "new " + file + " --schemes tetlob" + out, "did you mean tetlod?", 2 },
        { "new " + file + " --poke tpo" + out, "did you mean top?", 2 },
        { "new " + file + " --pokee top" + out, "did you mean --poke?", 2 },
        { "new " + file + " --fix top:0.3 --drag top" + out, "all of 'top' (--drag) is held by --fix top:0.3", 2 },
        { "new " + file, "needs --out FOLDER", 2 },
        { "new " + file + " --up w" + out, "one of: x y z", 2 },
        { "new " + file + " --unit 1e20" + out, "say with --unit what the file is in", 2 },
        { "new " + folder + "/sheet.obj" + out, "the surface is not closed: 4 edges belong to one triangle only", 2 },
        { "new " + folder + "/twins.obj" + out, "more than two triangles, the first at (0 0 0)", 2 },
        { "new " + folder + "/none.obj" + out, "is empty", 4 },
    };
    for (const auto &w : wrong) {
        const Output o = run(w.args);
        EXPECT_EQ(o.code, w.code) << o.text;
        EXPECT_NE(o.text.find(w.sentence), std::string::npos) << o.text;
    }
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        EXPECT_EQ(entry.path().filename().string().find("out"), std::string::npos) << entry.path();
}

} // namespace
