/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// `pliant compare` as a user runs it: what it says when something is wrong, what it keeps, and that it says the same twice.
#include "support/fixture.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <pliant/mesh.h>

namespace
{

namespace fs = std::filesystem;

struct Output {
    int code;
    std::string text; ///< both streams
};

std::string read_all(const std::string &path)
{
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Boxes of three finenesses that bend under a ball; a folder of their own.
struct CompareCommand : testing::Test {
    std::string dir, program = PLIANT_BINARY_DIR "/bin/pliant";

    void SetUp() override
    {
        dir = testing::TempDir() + "pliant_compare_" + std::to_string(getpid());
        fs::create_directories(dir);
        PliHost host = pli_host_default();
        for (PliIndex n : { 1u, 2u, 4u }) {
            const PliBoxDef def = { { 0, 0, 0 }, { 0.2, 0.1, 0.1 }, { 2 * n, n, n }, 0, 1 };
            PliMesh *m = pli_mesh_box(&host, &def, nullptr);
            ASSERT_EQ(pli_mesh_find_surface(m), PLI_OK);
            ASSERT_EQ(pli_mesh_write_msh(m, file("box" + std::to_string(n) + ".msh").c_str(), nullptr), PLI_OK);
            ASSERT_EQ(pli_mesh_write_obj(m, file("skin" + std::to_string(n) + ".obj").c_str(), nullptr), PLI_OK);
            pli_mesh_destroy(m);
        }
    }
    void TearDown() override { fs::remove_all(dir); }
    std::string file(const std::string &name) const { return dir + "/" + name; }

    static std::string body(const std::string &name, const std::string &model, const std::string &more = "")
    {
        return "<Node name='" + name + "'>" + model +
               "<MechanicalObject position='@model.position'/><BoxROI name='held' position='@model.position' box='-1 "
               "-1 -1 0.001 1 1'/>"
               "<FixedProjectiveConstraint indices='@held.indices'/><AdaptiveSolver/>"
               "<SphereTool radius='0.03' position='0.15 0.14 0.05' keyTimes='0 0.1' movements='0 0 0  0 -0.03 0'/>" +
               more + "</Node>\n";
    }
    static std::string fem(int n, const std::string &more = "", int skin = 4)
    {
        return "<FemModel name='model' filename='box" + std::to_string(n) + ".msh' skin='skin" + std::to_string(skin) +
               ".obj' youngModulus='20000' damping='0.002' " + more + "/>";
    }
    static std::string monitor() { return "<ComparisonMonitor reference='@Fine/model' steps='30' title='Boxes'/>\n"; }
    static std::string usual()
    {
        return monitor() + body("Fine", fem(4)) + body("Coarse", fem(1)) +
               body("Lod", "<TetLodModel name='model' filenames='box1.msh box2.msh box4.msh' skin='skin4.obj' "
                           "threshold='0.05' youngModulus='20000' damping='0.002'/>");
    }
    std::string scene(const std::string &inside) const
    {
        std::ofstream(file("scene.scn")) << "<Node name='root' dt='0.01' gravity='0 0 0'><DefaultAnimationLoop/>\n"
                                         << inside << "</Node>\n";
        return file("scene.scn");
    }
    Output run(const std::string &args, const std::string &before = "") const
    {
        Output o{ -1, "" };
        FILE *pipe = popen(("cd '" + dir + "'; export XDG_CACHE_HOME='" + dir + "/cache'; " + before + " " + program +
                            " compare --repeat 1 " + args + " 2>&1")
                               .c_str(),
                           "r");
        if (!pipe) return o;
        char part[4096];
        for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) o.text.append(part, n);
        const int status = pclose(pipe);
        o.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
        return o;
    }
    bool has(const Output &o, const std::string &part) const { return o.text.find(part) != std::string::npos; }
};

/// Everything but times and the date.
std::string lasting(const std::string &json)
{
    const std::regex times(
        "\"(ms_[a-z0-9]+|speedup|run_low|run_high|wall_over_cpu|on_front|recorded|gain|cost_at_equal_error|"
        "error_at_equal_cost|cost_bound|error_bound|verdict|command|date)\": *[^,\\n]*,?");
    return std::regex_replace(json, times, "");
}

} // namespace

TEST_F(CompareCommand, TwoRunsSayTheSame)
{
    const std::string s = scene(usual());
    for (const char *out : { "a", "b" }) {
        const Output o = run(s + " --out " + out);
        ASSERT_EQ(o.code, 0) << o.text;
        EXPECT_TRUE(has(o, "of their median")) << "the spread of the times is stated";
    }
    const std::string a = read_all(file("a/compare.json")), b = read_all(file("b/compare.json"));
    EXPECT_EQ(lasting(a), lasting(b));
    EXPECT_NE(lasting(a).find("\"error_rms\""), std::string::npos);
    EXPECT_NE(lasting(a).find("\"hash\""), std::string::npos);
    EXPECT_NE(a.find("\"run_low\""), std::string::npos);
    for (const char *key : { "schema", "bodies", "scheme", "status", "error_rms", "error_max", "dofs_mean", "dofs_max",
                             "dofs_total", "ms_median", "ms_p99", "ms_max", "speedup", "pop_max", "energy_drift",
                             "momentum_drift", "refined", "coarsened", "hash" })
        EXPECT_NE(a.find("\"" + std::string(key) + "\":"), std::string::npos) << key;
}

TEST_F(CompareCommand, ASweepIsACurve)
{
    const Output o = run(scene(usual()) + " --out a --sweep @Lod/model.threshold=0.02,0.2,2");
    ASSERT_EQ(o.code, 0) << o.text;
    const std::string csv = read_all(file("a/bodies.csv"));
    for (const char *value : { "threshold=0.02", "threshold=0.2", "threshold=2" })
        EXPECT_NE(csv.find(value), std::string::npos) << value;
    EXPECT_NE(read_all(file("a/report.html")).find("Lod threshold"), std::string::npos);
    EXPECT_EQ(run(scene(usual()) + " --out a --sweep @Lod/model.nothing=1,2").code, 2);
    EXPECT_EQ(run(scene(usual()) + " --out a --sweep @Nobody/model.threshold=1,2").code, 2);
}

TEST_F(CompareCommand, WithoutAReferenceItSaysSo)
{
    Output o = run(scene(body("Fine", fem(4)) + body("Coarse", fem(1))) + " --out a");
    EXPECT_EQ(o.code, 2);
    EXPECT_TRUE(has(o, "no reference")) << o.text;
    EXPECT_EQ(std::count(o.text.begin(), o.text.end(), '\n'), 1) << o.text;
    o = run(scene("<ComparisonMonitor reference='@Missing/model'/>" + body("Coarse", fem(1))) + " --out a");
    EXPECT_EQ(o.code, 2) << o.text;
    EXPECT_TRUE(has(o, "scene.scn:2: no reference")) << o.text;
    o = run(
        scene(monitor() + body("Fine", "<FemModel name='model' filename='nowhere.msh'/>") + body("Coarse", fem(1))) +
        " --out a");
    EXPECT_NE(o.code, 0);
    EXPECT_TRUE(has(o, "nowhere.msh")) << o.text;
}

TEST_F(CompareCommand, OtherSurfacesAndUnknownBodiesAreListedWithTheReason)
{
    const Output o =
        run(scene(usual() + body("Bare", fem(2, "", 2)) + body("New", "<LatticeModel name='model'/>")) + " --out a");
    EXPECT_EQ(o.code, 0) << o.text;
    EXPECT_TRUE(has(o, "Bare cannot do this scene: its surface has")) << o.text;
    EXPECT_TRUE(has(o, "New cannot do this scene: LatticeModel")) << o.text;
    const std::string html = read_all(file("a/report.html"));
    EXPECT_NE(html.find("its surface has"), std::string::npos);
    EXPECT_NE(html.find("LatticeModel"), std::string::npos);
}

TEST_F(CompareCommand, WhoDivergesSaysWhenAndTheOthersComplete)
{
    const Output o = run(
        scene(usual() + body("Wild", fem(2), "<ConstantForceField indices='44' forces='1e200 0 0'/>")) + " --out a");
    EXPECT_EQ(o.code, 5) << o.text;
    EXPECT_TRUE(std::regex_search(o.text, std::regex("Wild diverged at t = [0-9.]+ s: "))) << o.text;
    const std::string json = read_all(file("a/compare.json"));
    EXPECT_NE(json.find("\"diverged_at\": 0."), std::string::npos);
    const auto count = [&](const std::string &part) {
        int n = 0;
        for (size_t at = json.find(part); at != std::string::npos; at = json.find(part, at + 1)) ++n;
        return n;
    };
    EXPECT_EQ(count("\"status\": \"ok\""), 3);
    EXPECT_EQ(count("\"status\": \"diverged\""), 1);
}

TEST_F(CompareCommand, AFolderThatCannotBeWrittenIsRefusedBeforeAnythingRuns)
{
    const std::string s = scene(usual());
    std::ofstream(file("a_file")) << "mine";
    std::vector<std::string> places = { "/proc/pliant_compare", "a_file", "a_file/below" };
    fs::create_directories(file("locked"));
    chmod(file("locked").c_str(), 0500);
    if (geteuid() != 0) places.push_back("locked"); // root may write anywhere
    for (const std::string &place : places) {
        const Output o = run(s + " --out " + place);
        EXPECT_EQ(o.code, 4) << place << ": " << o.text;
        EXPECT_EQ(std::count(o.text.begin(), o.text.end(), '\n'), 1) << o.text;
        EXPECT_TRUE(has(o, place)) << o.text;
        EXPECT_FALSE(has(o, "ms/step")) << "it ran: " << o.text;
    }
    chmod(file("locked").c_str(), 0700);
    EXPECT_EQ(read_all(file("a_file")), "mine");
}

TEST_F(CompareCommand, AFullDiskLosesNothing)
{
    const std::string s = scene(usual());
    ASSERT_EQ(run(s + " --out a").code, 0);
    const std::string before = read_all(file("a/report.html"));
    ASSERT_GT(before.size(), 40000u);
    // files may grow to 20 blocks of 1024 bytes: the report does not fit, the figures do
    const Output o = run(s + " --out a", "trap '' XFSZ; ulimit -f 20;");
    EXPECT_EQ(o.code, 4) << o.text;
    EXPECT_TRUE(has(o, "cannot be written: File too large")) << o.text;
    EXPECT_TRUE(has(o, "ms/step")) << "the table was printed all the same: " << o.text;
    EXPECT_EQ(read_all(file("a/report.html")), before) << "the old report is whole";
    EXPECT_NE(read_all(file("a/compare.json")).find("\"bodies\""), std::string::npos);
    for (const auto &entry : fs::directory_iterator(file("a")))
        EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << "left behind: " << entry.path();
    // through a link: a device must be written, never replaced by a file
    fs::create_symlink("/dev/full", file("full.json"));
    const Output full = run(s + " --out a --json full.json");
    EXPECT_EQ(full.code, 4) << full.text;
    EXPECT_TRUE(has(full, "full.json: cannot be written")) << full.text;
    EXPECT_TRUE(fs::is_symlink(file("full.json")));
    EXPECT_TRUE(fs::is_character_file(file("full.json")));
}

TEST_F(CompareCommand, TheReferenceIsRecordedAndRunsAgainWhenAnythingItDependsOnChanges)
{
    const std::string fine = body("Fine", fem(4)), coarse = body("Coarse", fem(1)), head = monitor();
    const auto recorded = [&](const std::string &inside, const std::string &args = "") {
        const Output o = run(scene(inside) + " --out a " + args);
        EXPECT_EQ(o.code, 0) << o.text;
        const bool said = has(o, "The reference was recorded on ");
        EXPECT_EQ(said, read_all(file("a/compare.json")).find("\"recorded\": \"2") != std::string::npos);
        EXPECT_EQ(said,
                  read_all(file("a/report.html")).find("The reference did not run this time") != std::string::npos);
        return said;
    };
    const auto figures = [&] { return lasting(read_all(file("a/compare.json"))); };
    EXPECT_FALSE(recorded(head + fine + coarse));
    const std::string first = figures();
    EXPECT_TRUE(recorded(head + fine + coarse));
    EXPECT_EQ(figures(), first) << "from the recording as from the run";
    EXPECT_FALSE(recorded(head + fine + coarse, "--no-cache"));
    EXPECT_TRUE(recorded(head + fine + body("Coarse", fem(2)))) << "others do not matter to the reference";
    EXPECT_FALSE(recorded(head + body("Fine", fem(4, "poissonRatio='0.31'")) + coarse));
    EXPECT_FALSE(recorded(head + fine + coarse, "--set @Fine/model.density=900"));
    EXPECT_TRUE(recorded(head + fine + coarse, "--set @Coarse/model.density=900"));
    EXPECT_FALSE(recorded(head + fine + coarse, "--steps 29"));
    EXPECT_FALSE(recorded(head + fine + coarse, "--repeat 2")) << "another way of timing";
    EXPECT_TRUE(recorded(head + fine + coarse));
    // another mesh under the same name
    const std::string mesh = read_all(file("box4.msh"));
    fs::copy_file(file("box2.msh"), file("box4.msh"), fs::copy_options::overwrite_existing);
    EXPECT_FALSE(recorded(head + fine + coarse));
    std::ofstream(file("box4.msh")) << mesh;
    EXPECT_TRUE(recorded(head + fine + coarse));
    // another program: one more byte behind its end changes nothing but its hash
    fs::copy_file(program, file("pliant2"));
    std::ofstream(file("pliant2"), std::ios::app) << 'x';
    program = file("pliant2");
    EXPECT_FALSE(recorded(head + fine + coarse));
    EXPECT_TRUE(recorded(head + fine + coarse));
}
