/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Recorded runs: keys that see every change, files that are whole or no hit, and a folder that does not grow without end.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/kinematic.h"

using namespace pli_test;
namespace fs = std::filesystem;

namespace
{

struct Cache : testing::Test {
    std::string dir;
    void SetUp() override
    {
        dir = testing::TempDir() + "pliant_cache_" + std::to_string(getpid());
        fs::create_directories(dir);
    }
    void TearDown() override { fs::remove_all(dir); }
    std::string file(const std::string &name, const std::string &text) const
    {
        std::ofstream(dir + "/" + name) << text;
        return dir + "/" + name;
    }
    std::vector<std::string> runs() const
    {
        std::vector<std::string> found;
        for (const auto &entry : fs::directory_iterator(dir))
            if (entry.path().extension() == ".run") found.push_back(entry.path().string());
        return found;
    }
};

PliKey key_of(const std::vector<std::string> &texts)
{
    PliKey key = pli_key_begin();
    for (const std::string &t : texts) pli_key_text(&key, t.c_str());
    return key;
}

bool same(const PliKey &a, const PliKey &b) { return a.word[0] == b.word[0] && a.word[1] == b.word[1]; }

TEST_F(Cache, KeysSeeWhereTextsEndAndWhatFilesHold)
{
    EXPECT_TRUE(same(key_of({ "ab", "c" }), key_of({ "ab", "c" })));
    EXPECT_FALSE(same(key_of({ "ab", "c" }), key_of({ "a", "bc" })));
    EXPECT_FALSE(same(key_of({ "a" }), key_of({ "a", "" })));
    EXPECT_FALSE(same(key_of({ "a", "b" }), key_of({ "b", "a" })));
    PliKey one = pli_key_begin(), two = pli_key_begin(), other = pli_key_begin(), none = pli_key_begin();
    pli_key_file(&one, file("one", std::string(200000, 'x')).c_str());
    pli_key_file(&two, file("two", std::string(200000, 'x')).c_str());
    pli_key_file(&other, file("other", std::string(199999, 'x') + "y").c_str());
    EXPECT_TRUE(same(one, two)) << "the name does not matter";
    EXPECT_FALSE(same(one, other));
    EXPECT_FALSE(one.unknown);
    pli_key_file(&none, (dir + "/nothing").c_str());
    EXPECT_TRUE(none.unknown);
    PliKey program = pli_key_begin(), again = pli_key_begin();
    pli_key_program(&program);
    pli_key_program(&again);
    EXPECT_FALSE(program.unknown);
    EXPECT_TRUE(same(program, again));
    EXPECT_FALSE(same(program, pli_key_begin()));
}

TEST_F(Cache, TheFolderIsTheUsers)
{
    char path[256];
    const char *const names[] = { "XDG_CACHE_HOME", "HOME" };
    std::string before[2];
    for (int k = 0; k < 2; ++k) before[k] = std::getenv(names[k]) ? std::getenv(names[k]) : "";
    setenv("XDG_CACHE_HOME", "/somewhere", 1);
    setenv("HOME", "/people/me", 1);
    ASSERT_TRUE(pli_cache_folder(path, sizeof path));
    EXPECT_STREQ(path, "/somewhere/pliant");
    unsetenv("XDG_CACHE_HOME");
    ASSERT_TRUE(pli_cache_folder(path, sizeof path));
    EXPECT_STREQ(path, "/people/me/.cache/pliant");
    unsetenv("HOME");
    EXPECT_FALSE(pli_cache_folder(path, sizeof path));
    for (int k = 0; k < 2; ++k)
        if (!before[k].empty()) setenv(names[k], before[k].c_str(), 1);
}

PliArchive archive_of(size_t bytes)
{
    PliArchive a = {};
    std::vector<unsigned char> data(bytes, 7);
    pli_archive_raw(&a, data.data(), bytes);
    return a;
}

TEST_F(Cache, ADamagedFileIsNoHitAndGoes)
{
    const PliKey key = key_of({ "a run" });
    PliArchive a = archive_of(5000), b = {};
    int64_t when = 0;
    const auto store = [&] {
        pli_cache_store(dir.c_str(), &key, &a, 1 << 20);
        return runs().at(0);
    };
    const std::string path = store();
    ASSERT_TRUE(pli_cache_load(dir.c_str(), &key, &b, &when));
    EXPECT_EQ(b.bytes, 5000u);
    EXPECT_GT(when, 1600000000);
    pli_archive_free(&b);
    const PliKey other = key_of({ "another" });
    EXPECT_FALSE(pli_cache_load(dir.c_str(), &other, &b, &when));
    fs::resize_file(path, fs::file_size(path) - 1);
    EXPECT_FALSE(pli_cache_load(dir.c_str(), &key, &b, &when)) << "cut off";
    EXPECT_TRUE(runs().empty());
    store();
    {
        std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
        f.seekp(3000);
        f.put('\1');
    }
    EXPECT_FALSE(pli_cache_load(dir.c_str(), &key, &b, &when)) << "one byte changed";
    store();
    ASSERT_TRUE(fs::exists(path));
    fs::rename(path, dir + "/00000000000000000000000000000000.run");
    const PliKey zero = {};
    EXPECT_FALSE(pli_cache_load(dir.c_str(), &zero, &b, &when)) << "of another key";
    pli_archive_free(&a);
}

TEST_F(Cache, WhatWasNotUsedForLongestGoesFirst)
{
    PliArchive a = archive_of(10000), b = {};
    int64_t when;
    PliKey key[4];
    const auto age = [&](int k, int seconds) { // a file system may have coarse times: make the ages plain
        char name[40];
        snprintf(name, sizeof name, "%016llx%016llx.run", (unsigned long long)key[k].word[0],
                 (unsigned long long)key[k].word[1]);
        const struct timespec at[2] = { { 1700000000 - seconds, 0 }, { 1700000000 - seconds, 0 } };
        EXPECT_EQ(utimensat(AT_FDCWD, (dir + "/" + name).c_str(), at, 0), 0);
    };
    for (int k = 0; k < 4; ++k) key[k] = key_of({ "run", std::to_string(k) });
    file("mine.txt", std::string(50000, 'x')); // not ours: neither counted nor touched
    for (int k = 0; k < 3; ++k) {
        pli_cache_store(dir.c_str(), &key[k], &a, 31000);
        age(k, 100 - k);
    }
    EXPECT_EQ(runs().size(), 3u);
    ASSERT_TRUE(pli_cache_load(dir.c_str(), &key[0], &b, &when)); // the oldest, but used now
    pli_archive_free(&b);
    pli_cache_store(dir.c_str(), &key[3], &a, 31000);
    EXPECT_EQ(runs().size(), 3u);
    EXPECT_FALSE(pli_cache_load(dir.c_str(), &key[1], &b, &when));
    for (int k : { 0, 2, 3 }) {
        EXPECT_TRUE(pli_cache_load(dir.c_str(), &key[k], &b, &when)) << k;
        pli_archive_free(&b);
    }
    EXPECT_TRUE(fs::exists(dir + "/mine.txt"));
    pli_archive_free(&a);
}

TEST_F(Cache, ARecordedReferenceIsTheOneThatRan)
{
    Box reference, coarse;
    PliTool floor = {};
    floor.shape = PLI_TOOL_PLANE;
    floor.position[1] = -0.05;
    floor.other[1] = 1.0;
    reference.name = "reference", coarse.name = "coarse";
    reference.tools = coarse.tools = { floor };
    coarse.damping = 0.003;
    PliEntrant e[2] = { reference.entrant(), coarse.entrant() };
    const double instants[2] = { 0.1, 0.2 };
    PliCompareDef def = pli_compare_default();
    def.entrants = e;
    def.count = 2;
    def.steps = 40;
    def.repeat = 2;
    def.cache = dir.c_str();
    EXPECT_TRUE(Comparison(pli_compare(&def, nullptr)));
    EXPECT_TRUE(runs().empty()) << "without a key nothing is kept";
    def.reference_key = key_of({ "the scene" });
    const auto compare = [&] { return Comparison(pli_compare(&def, nullptr)); };
    reference.opened = 0;
    Comparison ran = compare(), recalled = compare();
    ASSERT_TRUE(ran && recalled);
    EXPECT_EQ(reference.opened, 3) << "once to measure, twice to time, and not again";
    const PliOutcome &a = ran->outcome[0], &b = recalled->outcome[0];
    EXPECT_STREQ(a.recorded, "");
    EXPECT_STRNE(b.recorded, "");
    EXPECT_EQ(a.hash, b.hash);
    EXPECT_EQ(a.total_ms, b.total_ms);
    EXPECT_EQ(a.timed_runs, b.timed_runs);
    EXPECT_EQ(a.dofs_mean, b.dofs_mean);
    EXPECT_EQ(a.energy_drift, b.energy_drift);
    EXPECT_EQ(a.momentum_drift, b.momentum_drift);
    EXPECT_EQ(ran->largest_displacement, recalled->largest_displacement);
    EXPECT_EQ(ran->force_scale, recalled->force_scale);
    ASSERT_EQ(a.steps, b.steps);
    for (PliIndex k = 0; k < a.steps; ++k) {
        EXPECT_EQ(a.ms[k], b.ms[k]);
        EXPECT_EQ(a.force[3 * k + 1], b.force[3 * k + 1]);
    }
    const PliOutcome &c = ran->outcome[1], &d = recalled->outcome[1];
    EXPECT_GT(c.error_rms, 0.0);
    EXPECT_EQ(c.error_rms, d.error_rms);
    EXPECT_EQ(c.error_hausdorff, d.error_hausdorff);
    EXPECT_EQ(c.force_error, d.force_error);
    EXPECT_STREQ(d.recorded, "") << "only the reference is";
    ASSERT_EQ(b.shot_count, 4);
    for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(a.shot[k].time, b.shot[k].time);
        EXPECT_EQ(a.shot[k].points[4], b.shot[k].points[4]);
        EXPECT_EQ(a.shot[k].tool_count, b.shot[k].tool_count);
    }
    const auto misses = [&](const char *why) {
        const int before = reference.opened;
        EXPECT_TRUE(compare());
        EXPECT_GT(reference.opened, before) << why;
    };
    def.steps = 41, misses("steps"), def.steps = 40;
    def.repeat = 1, misses("repeat"), def.repeat = 2;
    def.instants = instants, def.instant_count = 2, misses("instants"), def.instants = nullptr;
    def.wall_clock = true, misses("clock"), def.wall_clock = false;
    def.reference_key = key_of({ "another scene" }), misses("scene");
    def.reference_key = key_of({ "the scene" });
    const int before = reference.opened;
    EXPECT_TRUE(compare());
    EXPECT_EQ(reference.opened, before) << "still there";
}

} // namespace
