/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The command line: the table of options by itself, and what people meet at the prompt.
#include "support/fixture.h"

#include <cmath>
#include <csignal>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "base/words.h"
#include "output/options.h"
#include "output/progress.h"
}

namespace
{

/// One option of every kind, and what came of a command line.
struct Read {
    int steps = 7, code = -1;
    double dt = 0.5;
    bool quiet = false, good = false;
    const char *out = nullptr, *colour = nullptr;
    std::vector<std::string> words, sets;
    std::string printed, said;

    explicit Read(std::vector<std::string> args)
    {
        const char *word[2], *set[3];
        PliWords word_list = { word, 0, 2 }, set_list = { set, 0, 3 };
        PliOption option[6] = {};
        auto row = [&](int k, const char *name, char letter, const char *argument, PliOptionKind kind, void *value) {
            option[k].name = name, option[k].letter = letter, option[k].argument = argument;
            option[k].kind = kind, option[k].value = value, option[k].help = "what it does";
        };
        row(0, "steps", 'n', "N", PLI_OPTION_INTEGER, &steps), option[0].least = 1, option[0].most = 90;
        row(1, "dt", 0, "S", PLI_OPTION_NUMBER, &dt);
        row(2, "quiet", 'q', nullptr, PLI_OPTION_FLAG, &quiet);
        row(3, "out", 'o', "DIR", PLI_OPTION_TEXT, &out), option[3].needs = "a folder";
        row(4, "colour", 0, "NAME", PLI_OPTION_TEXT, &colour), option[4].choices = "level error";
        row(5, "set", 0, "A=B", PLI_OPTION_LIST, &set_list), option[5].needs = "a=b";
        PliCommandLine line{};
        line.program = "tool", line.synopsis = "SCENE [OPTIONS]", line.about = "Does it.",
        line.ending = "Exit codes: 0.";
        line.option = option, line.option_count = 6;
        line.words = &word_list, line.least_words = 1, line.word_name = "scene";
        args.insert(args.begin(), "tool");
        std::vector<char *> argv;
        for (std::string &a : args) argv.push_back(a.data());
        ::testing::internal::CaptureStdout();
        ::testing::internal::CaptureStderr();
        good = pli_options_read(&line, int(argv.size()), argv.data(), &code);
        printed = ::testing::internal::GetCapturedStdout();
        said = ::testing::internal::GetCapturedStderr();
        words.assign(word, word + word_list.count), sets.assign(set, set + set_list.count);
        // they point into args
        m_out = out ? out : "", m_colour = colour ? colour : "";
        out = m_out.c_str(), colour = m_colour.c_str();
    }

  private:
    std::string m_out, m_colour;
};

struct Output {
    int code;
    std::string text;
};

/// Standard error is part of the text.
Output shell(const std::string &command)
{
    Output o{ -1, "" };
    FILE *pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return o;
    char part[4096];
    size_t n;
    while ((n = fread(part, 1, sizeof part, pipe)) > 0) o.text.append(part, n);
    const int status = pclose(pipe);
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
    return o;
}

const std::string pliant = PLIANT_BINARY_DIR "/bin/pliant ";
const std::string scenes = PLIANT_SOURCE_DIR "/scenes/";

std::string read_all(const std::string &path)
{
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

/// A folder that is gone at the end.
struct Folder {
    std::string path = ::testing::TempDir() + "pliant_XXXXXX";
    Folder() { EXPECT_TRUE(mkdtemp(path.data())); }
    ~Folder() { EXPECT_EQ(shell("chmod -R u+w '" + path + "'; rm -rf '" + path + "'").code, 0); }
};

} // namespace

TEST(Options, EveryFormOfEveryKindIsRead)
{
    for (const auto &args : std::vector<std::vector<std::string>>{
             { "a.scn", "--steps", "9", "--dt", "1e-3", "--quiet", "--out", "d", "--colour", "error", "--set", "x=1",
               "--set=y=2" },
             { "-n", "9", "--dt=1e-3", "-q", "-o", "d", "--colour=error", "--set", "x=1", "--set", "y=2", "a.scn" },
             { "-n=9", "--dt", "0.001", "-q", "-o=d", "a.scn", "--colour", "error", "--set=x=1", "--set=y=2" } }) {
        const Read r(args);
        ASSERT_TRUE(r.good) << r.said;
        EXPECT_EQ(r.code, 0);
        EXPECT_EQ(r.steps, 9);
        EXPECT_EQ(r.dt, 1e-3);
        EXPECT_TRUE(r.quiet);
        EXPECT_STREQ(r.out, "d");
        EXPECT_STREQ(r.colour, "error");
        EXPECT_EQ(r.words, std::vector<std::string>{ "a.scn" });
        EXPECT_EQ(r.sets, (std::vector<std::string>{ "x=1", "y=2" }));
        EXPECT_EQ(r.printed + r.said, "");
    }
    const Read plain({ "a.scn" });
    EXPECT_EQ(plain.steps, 7) << "what is not given keeps its value";
    const Read dashes({ "--", "--steps", "-" });
    EXPECT_EQ(dashes.words, (std::vector<std::string>{ "--steps", "-" })) << "after -- nothing is an option";
}

TEST(Options, WhatIsWrongIsSaidInOneSentenceWithTheValue)
{
    const std::pair<std::vector<std::string>, const char *> wrong[] = {
        { { "a", "--steps", "-5" }, "tool: --steps needs a whole number from 1 to 90, not '-5'\n" },
        { { "a", "--steps", "91" }, "tool: --steps needs a whole number from 1 to 90, not '91'\n" },
        { { "a", "--steps", "9x" }, "tool: --steps needs a whole number from 1 to 90, not '9x'\n" },
        { { "a", "--steps", "99999999999999999999" },
          "tool: --steps needs a whole number from 1 to 90, not '99999999999999999999'\n" },
        { { "a", "--steps=" }, "tool: --steps needs a whole number from 1 to 90, not ''\n" },
        { { "a", "-n" }, "tool: --steps needs a whole number from 1 to 90\n" },
        { { "a", "--dt", "0" }, "tool: --dt needs a number above 0, not '0'\n" },
        { { "a", "--dt", "nan" }, "tool: --dt needs a number above 0, not 'nan'\n" },
        { { "a", "--dt", "inf" }, "tool: --dt needs a number above 0, not 'inf'\n" },
        { { "a", "--colour", "red" }, "tool: --colour needs one of: level error, not 'red'\n" },
        { { "a", "--colour", "lev" }, "tool: --colour needs one of: level error, not 'lev'\n" },
        { { "a", "--out", "" }, "tool: --out needs a folder, not ''\n" },
        { { "a", "--out", "--quiet" }, "tool: --out needs a folder; '--quiet' is another option\n" },
        { { "a", "--quiet=1" }, "tool: --quiet takes no value, and got '1'\n" },
        { { "a", "--stpes", "3" }, "tool: there is no option '--stpes'; did you mean --steps?\n" },
        { { "a", "--setps", "3" }, "tool: there is no option '--setps'; did you mean --steps?\n" },
        { { "a", "--step", "3" }, "tool: there is no option '--step'; did you mean --steps?\n" },
        { { "a", "--color=error" }, "tool: there is no option '--color=error'; did you mean --colour?\n" },
        { { "a", "--bananas" }, "tool: there is no option '--bananas'; see tool --help\n" },
        { { "a", "-z" }, "tool: there is no option '-z'; see tool --help\n" },
        { { "a", "b", "c" }, "tool: takes up to 2 scenes\n" },
        { { "a", "--set", "1", "--set", "2", "--set", "3", "--set", "4" }, "tool: --set can be given 3 times\n" },
        { {}, "tool: needs a scene; see tool --help\n" },
    };
    for (const auto &[args, sentence] : wrong) {
        const Read r(args);
        EXPECT_FALSE(r.good) << sentence;
        EXPECT_EQ(r.code, 2) << sentence;
        EXPECT_EQ(r.said, sentence);
        EXPECT_EQ(r.printed, "");
    }
}

TEST(Options, HelpIsMadeOfTheTableAndWinsOverMistakes)
{
    for (const char *ask : { "--help", "-h" }) {
        const Read r({ "--nonsense", "a", "b", "c", ask });
        EXPECT_FALSE(r.good);
        EXPECT_EQ(r.code, 0);
        EXPECT_EQ(r.said, "");
        EXPECT_EQ(r.printed.find("Usage: tool SCENE [OPTIONS]\n"), 0u);
        for (const char *line :
             { "  -n, --steps N ", "      --dt S ", "  -q, --quiet ", "  -h, --help ", "Exit codes: 0.\n" })
            EXPECT_NE(r.printed.find(line), std::string::npos) << line;
    }
}

TEST(Words, DistanceIsThatOfEdits)
{
    EXPECT_EQ(pli_word_distance("steps", "steps"), 0);
    EXPECT_EQ(pli_word_distance("Steps", "sTEPS"), 0);
    EXPECT_EQ(pli_word_distance("", "steps"), 5);
    EXPECT_EQ(pli_word_distance("kitten", "sitting"), 3);
    EXPECT_EQ(pli_word_distance("sitting", "kitten"), 3);
    EXPECT_EQ(pli_word_distance("stpes", "steps"), 1) << "neighbours that are swapped";
    EXPECT_EQ(pli_word_distance("ab", ""), 2);
    EXPECT_GT(pli_word_distance(std::string(65, 'a').c_str(), "a"), 64);
}

TEST(Prompt, EveryCommandPrintsItsHelpAndRefusesWhatItDoesNotKnow)
{
    for (const char *name : { "run", "mesh", "new", "compare", "tune", "sweep", "check", "list", "haptic", "verify",
                              "bench", "completion", "man" }) {
        const std::string command = name;
        const Output help = shell(pliant + command + " --help");
        EXPECT_EQ(help.code, 0) << command;
        EXPECT_EQ(help.text.find("Usage: pliant " + command + " "), 0u) << help.text;
        EXPECT_NE(help.text.find("Exit codes: "), std::string::npos) << command;
        const Output bad = shell(pliant + command + " --nope");
        EXPECT_EQ(bad.code, 2) << command;
        EXPECT_EQ(bad.text, "pliant " + command + ": there is no option '--nope'; see pliant " + command + " --help\n");
    }
    EXPECT_EQ(shell(pliant + "run x.scn --steps -5").text,
              "pliant run: --steps needs a whole number from 0 to 2000000000, not '-5'\n");
    EXPECT_EQ(shell(pliant + "compare x.scn --repet 3").text,
              "pliant compare: there is no option '--repet'; did you mean --repeat?\n");
    EXPECT_EQ(shell(pliant + "rum").text.find("pliant: there is no command 'rum', did you mean run?"), 0u);
    EXPECT_EQ(shell(pliant + "list --hel").text, "pliant list: there is no option '--hel'; did you mean --help?\n");
    // names of schemes, bodies and cases are words, too; each is listed once
    const std::string verify = shell(pliant + "verify tetlodd").text;
    EXPECT_NE(verify.find("did you mean tetlod; "), std::string::npos) << verify;
    EXPECT_EQ(verify.find(" fem,"), verify.rfind(" fem,")) << verify;
    EXPECT_NE(shell(pliant + "bench contact.complianc").text.find("did you mean contact.compliance;"),
              std::string::npos);
    const std::string compare = shell(pliant + "compare " + scenes + "compare/poked_liver.scn --schemes Tetlodd").text;
    EXPECT_NE(compare.find("'Tetlodd', did you mean "), std::string::npos) << compare;
}

/// Every option of every --help is in the completions and in the manual.
TEST(Prompt, CompletionsAndManualAreThoseOfHelp)
{
    const std::string bash = shell(pliant + "completion bash").text, zsh = shell(pliant + "completion zsh").text,
                      fish = shell(pliant + "completion fish").text, manual = shell(pliant + "man").text;
    for (const char *name :
         { "run", "mesh", "new", "compare", "tune", "sweep", "check", "list", "haptic", "verify", "bench" }) {
        std::istringstream help(shell(pliant + name + " --help").text);
        int found = 0;
        for (std::string line; std::getline(help, line);) {
            const size_t at = line.find("--");
            if (line.rfind("  ", 0) != 0 || at == std::string::npos || at > 6) continue;
            const std::string option = line.substr(at, line.find_first_of(" \n", at) - at);
            if (option == "--help") continue;
            ++found;
            std::string roff;
            for (char c : option) roff += c == '-' ? "\\-" : std::string(1, c);
            EXPECT_NE(bash.find(" " + option), std::string::npos) << name << option;
            EXPECT_NE(zsh.find(option), std::string::npos) << name << option;
            EXPECT_NE(fish.find("from " + std::string(name) + "' -l " + option.substr(2)), std::string::npos)
                << name << option;
            EXPECT_NE(manual.find(roff), std::string::npos) << name << option;
        }
        EXPECT_GT(found, 0) << name;
    }
    Folder folder;
    std::ofstream(folder.path + "/c") << bash;
    const std::string ask = "bash -c 'source " + folder.path + "/c; COMP_WORDS=(pliant ";
    EXPECT_EQ(shell(ask + "comp); COMP_CWORD=1; _pliant; echo ${COMPREPLY[@]}'").text, "compare completion\n");
    EXPECT_EQ(shell(ask + "new --up \"\"); COMP_CWORD=3; _pliant; echo ${COMPREPLY[@]}'").text, "x y z\n");
    EXPECT_EQ(shell(ask + "mesh --le); COMP_CWORD=2; _pliant; echo ${COMPREPLY[@]}'").text, "--levels\n");
    EXPECT_EQ(shell(pliant + "completion tcsh").code, 2);
}

TEST(Prompt, PathsThatAreNotThereAreGuessed)
{
    EXPECT_EQ(shell(pliant + "run " + scenes + "compare/poked_livre.scn").text,
              "pliant run: there is no file " + scenes + "compare/poked_livre.scn; did you mean " + scenes +
                  "compare/poked_liver.scn?\n");
    EXPECT_NE(shell(pliant + "compare " + scenes + "comprae/poked_liver.scn").text.find("compare/poked_liver.scn?\n"),
              std::string::npos);
    EXPECT_NE(shell(pliant + "check " + scenes + "compare/poked_livre.scn").text.find("did you mean "),
              std::string::npos);
    EXPECT_EQ(shell(pliant + "run /no/such/thing.scn").text, "pliant run: there is no file /no/such/thing.scn\n");
    Folder folder;
    std::ofstream(folder.path + "/scene.py") << "def createScene(root):\n    pass\n";
    const Output python = shell(pliant + "run " + folder.path + "/scene.py");
    EXPECT_EQ(python.code, 3);
    EXPECT_NE(python.text.find("is a Python scene"), std::string::npos) << python.text;
    // every command that takes a scene says what a Python scene and a surface are
    std::ofstream(folder.path + "/organ.OBJ") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    for (const char *words : { "run ", "check ", "compare ", "haptic ", "tune --error 2% " }) {
        EXPECT_NE(shell(pliant + words + folder.path + "/scene.py").text.find("is a Python scene"), std::string::npos)
            << words;
        const Output surface = shell(pliant + words + folder.path + "/organ.OBJ");
        EXPECT_EQ(surface.code, 2) << surface.text;
        EXPECT_NE(surface.text.find("`pliant new FILE --out FOLDER` makes scenes"), std::string::npos) << surface.text;
    }
    // a scheme's name stands for its model
    EXPECT_EQ(shell(pliant + "list tetlod").text, shell(pliant + "list TetLodModel").text);
}

TEST(Prompt, AMisspeltAttributeIsNoCleanBill)
{
    Folder folder;
    std::ofstream(folder.path + "/a.scn")
        << "<Node name='root' dt='0.01' gravity='0 0 0'><DefaultAnimationLoop/>\n<Node "
           "name='soft'><EulerImplicitSolver "
           "rayleighStifness='0.1'/><CGLinearSolver/>\n"
           "<MechanicalObject template='Vec3d' position='0 0 0 1 0 0'/><UniformMass totalMass='1'/></Node></Node>\n";
    const Output o = shell(pliant + "check " + folder.path + "/a.scn");
    EXPECT_NE(o.text.find(": compatible, with warnings\n"), std::string::npos) << o.text;
    EXPECT_NE(o.text.find("did you mean rayleighStiffness?"), std::string::npos) << o.text;
}

/// A block that several bodies include is wrong once.
TEST(Prompt, WhatIsWrongInAnIncludedBlockIsSaidOnce)
{
    Folder folder;
    std::ofstream(folder.path + "/block.xml") << "<Node name='Group'>\n<FixedConstraint indices='0'/></Node>\n";
    std::ofstream(folder.path + "/a.scn") << "<Node name='root' dt='0.01'><DefaultAnimationLoop/>\n<Node name='a'>"
                                             "<include href='block.xml'/></Node>\n<Node name='b'><include "
                                             "href='block.xml'/></Node>\n<FixedConstraint/></Node>\n";
    const std::string said = shell(pliant + "check " + folder.path + "/a.scn").text;
    const std::string sentence = "FixedConstraint: unsupported: renamed";
    const size_t first = said.find(sentence), second = said.find(sentence, first + 1);
    EXPECT_NE(first, std::string::npos) << said;
    EXPECT_NE(second, std::string::npos) << said; // that of the scene itself is another one
    EXPECT_EQ(said.find(sentence, second + 1), std::string::npos) << said;
}

/// The estimate follows the slower of the pace over all and the pace of late, and says nothing at first.
TEST(Progress, TimeLeftIsThatOfTheSlowerPace)
{
    PliPace pace{};
    EXPECT_TRUE(std::isnan(pli_pace_left(&pace, 100.0, 0, 100)));
    EXPECT_TRUE(std::isnan(pli_pace_left(&pace, 101.0, 10, 100)));
    EXPECT_NEAR(pli_pace_left(&pace, 104.0, 40, 100), 6.0, 1e-12);               // ten a second
    EXPECT_NEAR(pli_pace_left(&pace, 114.0, 50, 100), 50.0, 1e-12);              // one a second of late
    EXPECT_NEAR(pli_pace_left(&pace, 120.0, 90, 100), 20.0 / 90.0 * 10.0, 1e-9); // fast again: the pace over all
    EXPECT_EQ(pli_pace_left(&pace, 121.0, 100, 100), 0.0);
    EXPECT_TRUE(std::isnan(pli_pace_left(&pace, 130.0, 1, 100))) << "another line begins";
    char text[32];
    const std::pair<double, const char *> said[] = { { 0.2, "1 s" },    { 9.4, "10 s" },      { 41.0, "50 s" },
                                                     { 95.0, "2 min" }, { 4000.0, "67 min" }, { 9000.0, "3 h" } };
    for (const auto &[seconds, expected] : said) {
        pli_duration_text(seconds, text, sizeof text);
        EXPECT_STREQ(text, expected);
    }
}

/// Ctrl-C in a comparison: one sentence, and no report that looks whole.
TEST(Prompt, AnInterruptedComparisonSaysWhatWasWritten)
{
    Folder folder;
    const std::string out = folder.path + "/out";
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const std::string log = folder.path + "/log";
        if (!freopen(log.c_str(), "w", stderr)) _exit(99);
        execl(PLIANT_BINARY_DIR "/bin/pliant", "pliant", "compare", (scenes + "compare/poked_liver.scn").c_str(), "-n",
              "100000", "--out", out.c_str(), nullptr);
        _exit(98);
    }
    for (int i = 0; i < 600 && access(out.c_str(), R_OK) != 0; ++i) usleep(50000);
    usleep(1000000);
    ASSERT_EQ(kill(child, SIGINT), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
    EXPECT_NE(read_all(folder.path + "/log").find("nothing was written to "), std::string::npos);
    EXPECT_NE(access(out.c_str(), F_OK), 0) << "not even an empty folder";
}

TEST(Prompt, ViewNeedsNoDisplayToExplainItself)
{
    if (access(PLIANT_BINARY_DIR "/bin/pliant-view", X_OK) != 0) GTEST_SKIP() << "the viewer was not built";
    const std::string view = "env -u DISPLAY -u WAYLAND_DISPLAY -u QT_QPA_PLATFORM " + pliant + "view ";
    const Output help = shell(view + "--help");
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.text.find("Usage: pliant view SCENE"), 0u) << help.text;
    EXPECT_EQ(shell(view + "--nope").code, 2);
    EXPECT_EQ(shell(view + "--colour red x").text,
              "pliant view: --colour needs one of: level error stress speed, not 'red'\n");
    EXPECT_EQ(shell(view + "--size 12 " + scenes + "single/FemModel.scn").code, 2);
    EXPECT_EQ(shell(view + "/no/such.scn").code, 4);
    const Output blind = shell(view + scenes + "single/FemModel.scn");
    EXPECT_EQ(blind.code, 3) << blind.text;
    EXPECT_NE(blind.text.find("there is no display"), std::string::npos) << blind.text;
}

/// Ctrl-C ends a run after a step; the files have what was reached.
TEST(Prompt, AnInterruptedRunWritesWhatThereIs)
{
    Folder folder;
    const std::string out = folder.path + "/out";
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const std::string log = folder.path + "/log";
        if (!freopen(log.c_str(), "w", stderr)) _exit(99);
        execl(PLIANT_BINARY_DIR "/bin/pliant", "pliant", "run", (scenes + "single/FemModel.scn").c_str(), "-n",
              "2000000000", "--out", out.c_str(), "--export-every", "0", "--json", (folder.path + "/run.json").c_str(),
              "-q", nullptr);
        _exit(98);
    }
    for (int i = 0; i < 600 && access((out + "/stats.csv").c_str(), R_OK) != 0; ++i) usleep(50000);
    usleep(500000);
    ASSERT_EQ(kill(child, SIGINT), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
    const std::string csv = read_all(out + "/stats.csv"), said = read_all(folder.path + "/log");
    const long lines = std::count(csv.begin(), csv.end(), '\n');
    EXPECT_GT(lines, 2) << csv;
    ASSERT_FALSE(csv.empty());
    EXPECT_EQ(csv.back(), '\n') << "the last line is whole";
    EXPECT_NE(said.find("of 2000000000 steps; what there is was written"), std::string::npos) << said;
    EXPECT_NE(read_all(folder.path + "/run.json").find("\"result\": \"interrupted\""), std::string::npos);
}

TEST(Prompt, AFolderThatCannotBeWrittenIsNamedWithTheReason)
{
    // /proc refuses new files to everybody, root included
    const Output o = shell(pliant + "compare " + scenes + "compare/poked_liver.scn --out /proc/self");
    EXPECT_EQ(o.code, 4) << o.text;
    EXPECT_EQ(o.text.find("pliant compare: /proc/self: nothing can be written into this folder: "), 0u) << o.text;
    EXPECT_EQ(o.text.find("into this folder", 70), std::string::npos) << "said once: " << o.text;
    EXPECT_EQ(std::count(o.text.begin(), o.text.end(), '\n'), 1) << o.text;
}

/// A rigid body next to a soft one: outside the profile, and with --allow-unsupported the soft one runs alone.
TEST(Prompt, RigidBodiesAreSkippedWhenThatIsAllowed)
{
    Folder folder;
    const std::string path = folder.path + "/rigid.scn";
    std::ofstream(path)
        << "<Node name='root' dt='0.01' gravity='0 -9.81 0'><DefaultAnimationLoop/>\n"
           "<Node name='tool'><EulerImplicitSolver/><CGLinearSolver/>\n"
           "<MechanicalObject name='frame' template='Rigid3d' position='0 0 0 0 0 0 1'/><UniformMass totalMass='1'/>\n"
           "<Node name='tip'><MechanicalObject name='points' position='0 0 0'/></Node></Node>\n"
           "<Node name='soft'><EulerImplicitSolver/><CGLinearSolver/>\n"
           "<MechanicalObject template='Vec3d' position='0 0 0 1 0 0'/><UniformMass totalMass='1'/></Node></Node>\n";
    const Output strict = shell(pliant + "run " + path + " -n 3");
    EXPECT_EQ(strict.code, 3) << strict.text;
    const Output loose = shell(pliant + "run " + path + " -n 3 --allow-unsupported");
    EXPECT_EQ(loose.code, 0) << loose.text;
    EXPECT_NE(loose.text.find("template=\"Rigid3d\""), std::string::npos) << loose.text;
    EXPECT_NE(loose.text.find("DEGRADED"), std::string::npos) << loose.text;
    EXPECT_NE(loose.text.find("3 steps of 0.01 s"), std::string::npos) << loose.text;
}
