/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/command.h"

#include "support/fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

extern "C" {
#include "output/json.h"
#include "output/table.h"
}

using pliant_test::command_path;
using pliant_test::Output;
using pliant_test::run_shell;

namespace
{

/// Runs the built command through the shell; what it prints on stderr is dropped unless `tail` redirects it.
Output run(const std::string &args, const std::string &tail = "2>/dev/null")
{
    return run_shell(command_path + args + " " + tail);
}

std::string scratch_path(const char *name)
{
    return ::testing::TempDir() + "pliant_" + std::to_string(getpid()) + "_" + name;
}

std::string read_all(const std::string &path)
{
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

template <class Fill> std::string json_of(Fill fill)
{
    const std::string path = scratch_path("json");
    PliJson j;
    PliError err = { PLI_OK, "" };
    EXPECT_EQ(pli_json_open(&j, path.c_str(), &err), PLI_OK) << err.text;
    fill(&j);
    EXPECT_EQ(pli_json_close(&j, &err), PLI_OK) << err.text;
    const std::string text = read_all(path);
    std::remove(path.c_str());
    return text;
}

} // namespace

TEST(Json, StringsAreEscapedAndAlwaysUtf8)
{
    const auto text = [](const char *value) {
        return json_of([&](PliJson *j) { pli_json_string(j, nullptr, value); });
    };
    EXPECT_EQ(text("a\"b\\c\n\t\x01\x7f"), "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\"\n");
    EXPECT_EQ(text("Lam\xc3\xa9 \xe2\x89\xa4 \xf0\x9f\x99\x82"), "\"Lam\xc3\xa9 \xe2\x89\xa4 \xf0\x9f\x99\x82\"\n");
    EXPECT_EQ(text("\xff"), "\"\\ufffd\"\n");
    EXPECT_EQ(text("\xc3"), "\"\\ufffd\"\n") << "cut sequence";
    EXPECT_EQ(text("\xc0\xaf"), "\"\\ufffd\\ufffd\"\n") << "overlong";
    EXPECT_EQ(text("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"\n") << "surrogate";
    EXPECT_EQ(text(nullptr), "null\n");
}

TEST(Json, NumbersReadBackAsTheSameDouble)
{
    uint64_t seed = 9;
    std::vector<double> values{ 0.0, -0.0, 0.1, 1.0 / 3.0, 1e308, 5e-324, 123456789.0, -2.5, 1e22 };
    for (int k = 0; k < 500; ++k) {
        const uint64_t bits = pli_random(&seed);
        double v;
        memcpy(&v, &bits, 8);
        if (std::isfinite(v)) values.push_back(v);
    }
    for (double v : values) {
        const std::string text = json_of([&](PliJson *j) { pli_json_number(j, nullptr, v); });
        EXPECT_EQ(strtod(text.c_str(), nullptr), v) << text;
    }
    EXPECT_EQ(json_of([](PliJson *j) { pli_json_number(j, nullptr, 0.1); }), "0.1\n") << "and as short as they can be";
    EXPECT_EQ(json_of([](PliJson *j) { pli_json_number(j, nullptr, NAN); }), "null\n");
    EXPECT_EQ(json_of([](PliJson *j) { pli_json_number(j, nullptr, -INFINITY); }), "null\n");
}

TEST(Json, NestsAndClosesWhatIsOpen)
{
    const std::string text = json_of([](PliJson *j) {
        pli_json_begin_object(j, nullptr);
        pli_json_integer(j, "schema", 1);
        pli_json_begin_array(j, "empty");
        pli_json_end(j);
        pli_json_begin_array(j, "items");
        pli_json_begin_object(j, nullptr);
        pli_json_bool(j, "a", true);
        pli_json_hash(j, "h", 0xabcu);
        pli_json_end(j);
        pli_json_integer(j, nullptr, INT64_MIN);
        // the array and the root are left to close
    });
    EXPECT_EQ(text,
              "{\n  \"schema\": 1,\n  \"empty\": [],\n  \"items\": [\n    {\"a\": true, \"h\": \"0000000000000abc\"},\n"
              "    -9223372036854775808\n  ]\n}\n");
}

TEST(Json, KeepsTheOldFileWhenTheNewOneFails)
{
    PliJson j;
    PliError err = { PLI_OK, "" };
    EXPECT_EQ(pli_json_open(&j, "/nowhere/at/all.json", &err), PLI_BAD_FILE);
    EXPECT_NE(std::string(err.text).find("/nowhere/at/all.json"), std::string::npos);

    const std::string path = scratch_path("kept");
    std::ofstream(path) << "old";
    ASSERT_EQ(pli_json_open(&j, path.c_str(), &err), PLI_OK);
    pli_json_begin_object(&j, nullptr);
    fflush(j.out);
    EXPECT_EQ(read_all(path), "old") << "nothing is in place before close";
    EXPECT_EQ(pli_json_close(&j, &err), PLI_OK);
    EXPECT_EQ(read_all(path), "{}\n");
    std::remove(path.c_str());
}

TEST(Table, AlignsByCodePointsAndTrailsNothing)
{
    PliTable t;
    const char *heading[] = { "name", "x" };
    pli_table_begin(&t, "lr", heading);
    pli_table_cell(&t, "%s", "Lam\xc3\xa9");
    pli_table_number(&t, 0.25);
    pli_table_cell(&t, "%s", "a longer one");
    pli_table_number(&t, -1e-9);
    pli_table_cell(&t, "%s", "half a row"); // an incomplete row is not printed
    char *text = nullptr;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    EXPECT_TRUE(pli_table_print(&t, out));
    fclose(out);
    EXPECT_STREQ(text, "name               x\n"
                       "------------  ------\n"
                       "Lam\xc3\xa9            0.25\n"
                       "a longer one  -1e-09\n");
    free(text);
    pli_table_end(&t);
}

TEST(Command, HelpAndVersion)
{
    const Output help = run("--help");
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.text.find("verify"), std::string::npos);
    EXPECT_EQ(run("--version").text, "pliant " PLI_VERSION_TEXT "\n");
    for (const char *command : { "verify", "bench" }) {
        const Output one = run(std::string(command) + " --help");
        EXPECT_EQ(one.code, 0);
        EXPECT_EQ(one.text.find("Usage: pliant " + std::string(command)), 0u);
        EXPECT_EQ(run("help " + std::string(command)).text, one.text);
    }
}

TEST(Command, BadCommandLinesEndWithTwoAndOneSentence)
{
    for (const char *args : { "", "bogus", "help bogus", "verify bogus", "verify --bogus", "verify --json",
                              "bench bogus", "bench --json", "bench --json=", "verify --only no-such-case-anywhere" }) {
        EXPECT_EQ(run(args).code, 2) << args;
        EXPECT_EQ(run(args).text, "") << args << ": nothing on standard output";
    }
    const Output sentence = run("verify bogus", "2>&1");
    EXPECT_EQ(std::count(sentence.text.begin(), sentence.text.end(), '\n'), 1) << sentence.text;
    EXPECT_NE(sentence.text.find("'bogus'"), std::string::npos);
}

TEST(Command, AFullDiskIsNoSuccess)
{
    EXPECT_EQ(run("--help", ">/dev/full 2>/dev/null").code, 4);
    EXPECT_EQ(run("bench --help", ">/dev/full 2>/dev/null").code, 4);
}

TEST(Haptic, ListsItsDevicesAndFeelsABody)
{
    const Output list = run("haptic --list");
    EXPECT_EQ(list.code, 0);
    EXPECT_NE(list.text.find("touch"), std::string::npos);
    const std::string scene = std::string(PLIANT_SOURCE_DIR) + "/scenes/haptics/felt_pad.scn";
    const std::string folder = testing::TempDir(), hand = folder + "/felt_hand.csv", page = folder + "/felt.html";
    const Output felt = run("haptic " + scene + " --body TetLod --offline --seconds 0.5 -q --json - --record " + hand +
                            " --plot " + page);
    EXPECT_EQ(felt.code, 0);
    EXPECT_NE(felt.text.find("\"excess_step\""), std::string::npos);
    const Output again = run("haptic " + scene + " --body TetLod --offline --seconds 0.5 -q --device replay:" + hand);
    EXPECT_EQ(again.code, 0);
    EXPECT_EQ(run("haptic " + scene + " --body TetLod --offline --seconds 0.1 -q --device touch").code, 3);
    EXPECT_EQ(run("haptic " + scene + " --body Nobody --offline --seconds 0.1 -q").code, 2);
    EXPECT_EQ(run("haptic").code, 2);
}
