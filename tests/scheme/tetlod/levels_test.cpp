/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "base/hash.h"
#include "base/timer.h"
#include "scheme/tetlod/support.h"

namespace
{

TEST(TetOverlap, KnownVolumes)
{
    const double unit[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    EXPECT_NEAR(pli_tet_overlap(unit, unit), 1.0 / 6, 1e-16);
    double moved[12], half[12];
    for (int i = 0; i < 12; ++i) moved[i] = unit[i] + 2, half[i] = unit[i] / 2;
    EXPECT_EQ(pli_tet_overlap(unit, moved), 0.0);
    EXPECT_NEAR(pli_tet_overlap(unit, half), 1.0 / 48, 1e-16);
    // shifted along x by s: what is left is the similar tetrahedron of size 1 - s
    for (double s : { 0.1, 0.5, 0.9 }) {
        for (int i = 0; i < 12; ++i) moved[i] = unit[i] + (i % 3 == 0 ? s : 0);
        EXPECT_NEAR(pli_tet_overlap(unit, moved), std::pow(1 - s, 3) / 6, 1e-15);
        EXPECT_NEAR(pli_tet_overlap(moved, unit), std::pow(1 - s, 3) / 6, 1e-15);
    }
}

TEST(TetOverlap, SymmetricAndAgreesWithSampling)
{
    uint64_t random = 3;
    for (int n = 0; n < 40; ++n) {
        double a[12], b[12];
        auto draw = [&](double *t) {
            for (;;) {
                for (int i = 0; i < 12; ++i) t[i] = pli_random_unit(&random);
                const double e[9] = { t[3] - t[0], t[4] - t[1], t[5] - t[2],  t[6] - t[0], t[7] - t[1],
                                      t[8] - t[2], t[9] - t[0], t[10] - t[1], t[11] - t[2] };
                const double det = e[0] * (e[4] * e[8] - e[5] * e[7]) - e[1] * (e[3] * e[8] - e[5] * e[6]) +
                                   e[2] * (e[3] * e[7] - e[4] * e[6]);
                if (det > 0.1) return det / 6;
            }
        };
        draw(a);
        const double vb = draw(b), v = pli_tet_overlap(a, b);
        EXPECT_NEAR(v, pli_tet_overlap(b, a), 1e-14);
        // uniform samples of b, tested against a by the locator: shares nothing with the clipping
        PliHost host = pli_host_default();
        const PliIndex tet[4] = { 0, 1, 2, 3 };
        PliLocator *in_a = pli_locator_create(&host, a, 4, tet, 1);
        int inside = 0;
        const int samples = 4000;
        for (int s = 0; s < samples; ++s) {
            double w[4], sum = 0, p[3] = { 0, 0, 0 }, unused[4];
            for (double &x : w) sum += x = -std::log(1 - pli_random_unit(&random));
            for (int c = 0; c < 4; ++c)
                for (int d = 0; d < 3; ++d) p[d] += w[c] / sum * b[3 * c + d];
            PliIndex t;
            inside += pli_locator_find(in_a, p, &t, unused) == 0.0;
        }
        pli_locator_destroy(in_a);
        EXPECT_NEAR(v, vb * inside / samples, 4 * vb * 0.5 / std::sqrt(samples));
    }
}

TEST(Levels, BoxIsValidAndSharesAreVolumes)
{
    LevelsHandle h = box_levels({ 2, 4, 7 });
    ASSERT_TRUE(h);
    PliError err{};
    EXPECT_TRUE(pli_levels_is_valid(h.get(), &err)) << err.text;
    // nested domains: what a coarse tetrahedron stands for is its own volume
    for (PliIndex t = 0; t < h->tet_count; ++t) EXPECT_NEAR((double)h->tet_share[t] * h->unit, h->tet_volume[t], 1e-13);
    EXPECT_GE(h->worst_weight, -1e-9);
}

TEST(Levels, BallIsValidAndEveryLevelStandsForTheWholeBody)
{
    LevelsHandle h = ball_levels({ 2, 4, 8 });
    ASSERT_TRUE(h);
    PliError err{};
    EXPECT_TRUE(pli_levels_is_valid(h.get(), &err)) << err.text;
    EXPECT_LT(h->level_volume[0], 0.95 * h->volume); // otherwise this test proves nothing
    EXPECT_GT(h->worst_weight, -1.5);
}

TEST(Levels, ParentsAreNearestNodes)
{
    LevelsHandle h = box_levels({ 2, 4, 7 });
    ASSERT_EQ(h->stolen, 0u);
    for (PliIndex p = h->point_first[1]; p < h->point_count; ++p) {
        const int l = h->level[p] - 1;
        PliIndex best = PLI_NONE;
        double distance = INFINITY;
        for (PliIndex q = h->point_first[l]; q < h->point_first[l + 1]; ++q) {
            double r = 0;
            for (int d = 0; d < 3; ++d) r += std::pow(h->x[3 * p + d] - h->x[3 * q + d], 2);
            r = std::sqrt(r);
            if (r < distance) distance = r, best = q;
        }
        ASSERT_EQ(h->parent[p], best);
    }
}

TEST(Levels, ChildlessCoarseNodesStealWithoutEmptyingAnother)
{
    // a coarse level crowded at one end: several coarse nodes near one fine node, so some of them get no child by distance
    std::vector<MeshHandle> meshes;
    meshes.push_back(box_mesh(6, 1, 1, 1, 1, 1, 0.0));
    PliMesh *coarse = meshes[0].get();
    for (PliIndex i = 0; i < coarse->point_count; ++i) coarse->x[3 * i] = std::pow(coarse->x[3 * i], 4);
    meshes.push_back(box_mesh(3, 3, 3, 1, 1, 1, 0.1));
    PliError err{};
    LevelsHandle h = make_levels(meshes, &err);
    ASSERT_TRUE(h) << err.text;
    EXPECT_GT(h->stolen, 0u);
    EXPECT_TRUE(pli_levels_is_valid(h.get(), &err)) << err.text;
}

TEST(Levels, OneLevelWorks)
{
    LevelsHandle h = box_levels({ 3 });
    ASSERT_TRUE(h);
    PliError err{};
    EXPECT_TRUE(pli_levels_is_valid(h.get(), &err)) << err.text;
}

TEST(Levels, SecondsForTwentyThousandNodes)
{
    std::vector<MeshHandle> meshes;
    for (PliIndex n : { 4, 8, 13, 25 }) meshes.push_back(box_mesh(n, n, n, 1, 1, 1, 0.2, n));
    const double start = pli_cpu_ms();
    LevelsHandle h = make_levels(meshes);
    const double seconds = (pli_cpu_ms() - start) / 1e3;
    ASSERT_TRUE(h);
    EXPECT_GE(h->point_count, 20000u);
    RecordProperty("seconds", std::to_string(seconds));
    EXPECT_LT(seconds, 10.0);
}

TEST(Levels, BadInputGetsOneSentence)
{
    PliError err{};
    std::vector<MeshHandle> meshes;
    auto fails_with = [&](const char *words) {
        LevelsHandle h = make_levels(meshes, &err);
        EXPECT_FALSE(h);
        EXPECT_NE(std::string(err.text).find(words), std::string::npos) << err.text;
    };
    fails_with("0 levels were given");

    meshes.push_back(box_mesh(4, 4, 4));
    meshes.push_back(box_mesh(2, 2, 2));
    fails_with("give the levels coarse to fine");

    meshes[0] = box_mesh(2, 2, 2), meshes[1] = box_mesh(4, 4, 4);
    for (PliIndex i = 0; i < meshes[1]->point_count; ++i) meshes[1]->x[3 * i] += 0.9;
    fails_with("of their volume in common");
    for (PliIndex i = 0; i < meshes[1]->point_count; ++i) meshes[1]->x[3 * i] += 9;
    fails_with("of their volume in common");

    meshes[1] = box_mesh(4, 4, 4);
    std::swap(meshes[1]->tets[0], meshes[1]->tets[1]);
    fails_with("level 1");

    meshes[1] = box_mesh(4, 4, 4);
    meshes[1]->tets[7] = 100000;
    fails_with("uses point 100000");

    meshes[1] = box_mesh(4, 4, 4);
    ASSERT_EQ(pli_mesh_resize_points(meshes[1].get(), meshes[1]->point_count + 1), PLI_OK);
    fails_with("belongs to no tetrahedron");

    meshes[1] = box_mesh(4, 4, 4);
    meshes[1]->x[10] = NAN;
    fails_with("level 1");
}

TEST(LevelsCache, SameBitsAndRefusedWhenAnythingDiffers)
{
    const std::string path = std::string(PLIANT_BINARY_DIR) + "/levels_test.cache";
    std::remove(path.c_str());
    std::vector<MeshHandle> meshes;
    meshes.push_back(box_mesh(2, 2, 2)), meshes.push_back(box_mesh(4, 4, 4));
    PliError err{};
    LevelsHandle built = make_levels(meshes, &err, path.c_str());
    ASSERT_TRUE(built) << err.text;

    auto same_arrays = [](PliLevels *a, PliLevels *b) {
        PliLevelsArray p[PLI_LEVELS_ARRAYS], q[PLI_LEVELS_ARRAYS];
        pli_levels_arrays(a, p), pli_levels_arrays(b, q);
        for (int i = 0; i < PLI_LEVELS_ARRAYS; ++i) {
            EXPECT_EQ(p[i].count, q[i].count);
            if (p[i].count != q[i].count) continue;
            EXPECT_EQ(std::memcmp(*p[i].array, *q[i].array, p[i].count * p[i].size), 0) << i;
        }
    };
    // a fresh object of the same meshes accepts the file
    LevelsHandle other = make_levels(meshes);
    LevelsHandle reread = make_levels(meshes, &err, path.c_str());
    same_arrays(built.get(), reread.get());
    same_arrays(built.get(), other.get());
    EXPECT_EQ(built->volume, reread->volume);
    EXPECT_TRUE(pli_levels_is_valid(reread.get(), &err)) << err.text;

    auto accepts = [&](const std::vector<MeshHandle> &list) {
        LevelsHandle blank = make_levels(list); // for its sizes and hash
        PliLevels empty{};
        empty.host = blank->host, empty.level_count = blank->level_count, empty.hash = blank->hash;
        std::memcpy(empty.point_first, blank->point_first, sizeof empty.point_first);
        std::memcpy(empty.tet_first, blank->tet_first, sizeof empty.tet_first);
        empty.point_count = blank->point_count, empty.tet_count = blank->tet_count,
        empty.finest_first = blank->finest_first;
        const bool read = pli_levels_read_cache(&empty, path.c_str());
        if (read) {
            PliLevelsArray a[PLI_LEVELS_ARRAYS];
            pli_levels_arrays(&empty, a);
            for (PliLevelsArray &x : a) empty.host.release(*x.array, (x.count ? x.count : 1) * x.size, empty.host.user);
        } else {
            EXPECT_EQ(empty.x, nullptr);
        }
        return read;
    };
    EXPECT_TRUE(accepts(meshes));
    meshes[1]->x[100] += 1e-9;
    EXPECT_FALSE(accepts(meshes));
    meshes[1]->x[100] -= 1e-9;

    std::string bytes;
    {
        std::ifstream in(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    auto rewrite = [&](const std::string &b) { std::ofstream(path, std::ios::binary) << b; };
    uint64_t random = 5;
    for (int n = 0; n < 60; ++n) { // one flipped byte anywhere, or a cut, is noticed
        std::string bad = bytes;
        if (n % 3 == 0)
            bad.resize((size_t)(pli_random_unit(&random) * (double)bad.size()));
        else
            bad[(size_t)(pli_random_unit(&random) * (n % 3 == 1 ? 200.0 : (double)bad.size()))] ^= 0x10;
        rewrite(bad);
        EXPECT_FALSE(accepts(meshes)) << n;
    }
    rewrite(bytes);
    EXPECT_TRUE(accepts(meshes));
    std::remove(path.c_str());
}

/// Both meshes are of one cube, but the coarse one has its nodes crowded into a corner where the finer one has none.
std::vector<MeshHandle> crowded(double power)
{
    std::vector<MeshHandle> meshes;
    meshes.push_back(box_mesh(4, 4, 4, 1, 1, 1, 0));
    for (PliIndex i = 0; i < 3 * meshes[0]->point_count; ++i) meshes[0]->x[i] = std::pow(meshes[0]->x[i], power);
    meshes.push_back(box_mesh(6, 6, 6));
    return meshes;
}

TEST(LevelsRepair, GivesEveryCoarseNodeMassAndKeepsAffineFields)
{
    static std::string said;
    said.clear();
    PliHost host = pli_host_default();
    host.log = [](PliLogLevel, const char *text, void *) { said += text; };
    const std::vector<MeshHandle> meshes = crowded(2.5);
    const PliMesh *list[] = { meshes[0].get(), meshes[1].get() };
    PliError err{};
    LevelsHandle h(pli_levels_create(&host, list, 2, nullptr, &err));
    ASSERT_TRUE(h) << err.text;
    EXPECT_GT(h->repaired_nodes, 0u);
    EXPECT_GT(h->wide_count, 0u);
    EXPECT_NE(said.find("level 0 does not quite fit level 1"), std::string::npos) << said;
    EXPECT_TRUE(pli_levels_is_valid(h.get(), &err)) << err.text; // weights sum to one and reproduce positions
    std::vector<double> mass(h->point_count), share(h->point_count);
    for (PliIndex t = 0; t < h->tet_first[1]; ++t)
        for (int c = 0; c < 4; ++c) share[h->tets[4 * t + c]] += 0.25 * double(h->tet_share[t]);
    double total = 0;
    for (PliIndex p = h->finest_first; p < h->point_count; ++p) {
        const PliIndex *from;
        const double *w;
        const PliIndex n = pli_levels_sources(h.get(), p, true, &from, &w);
        for (PliIndex k = 0; k < n; ++k) mass[from[k]] += w[k] * double(h->point_share[p]);
        total += double(h->point_share[p]);
    }
    double sum = 0;
    for (PliIndex p = 0; p < h->finest_first; ++p) {
        EXPECT_GT(mass[p], 0.019 * share[p]) << "node " << p;
        sum += mass[p];
    }
    EXPECT_NEAR(sum / total, 1.0, 1e-12);
}

/// Where every node got its tenth of a share nothing is wrong, and nobody is warned.
TEST(LevelsRepair, WarnsOnlyOfWhatStaysLight)
{
    struct Log {
        int news = 0, warnings = 0;
    };
    PliHost host = pli_host_default();
    host.log = [](PliLogLevel level, const char *text, void *user) {
        if (std::string(text).find("does not quite fit") == std::string::npos) return;
        ++(level == PLI_LOG_INFO ? static_cast<Log *>(user)->news : static_cast<Log *>(user)->warnings);
    };
    const auto least_share = [&](const std::vector<MeshHandle> &meshes, Log *log) {
        const PliMesh *list[] = { meshes[0].get(), meshes[1].get() };
        host.user = log;
        LevelsHandle h(pli_levels_create(&host, list, 2, nullptr, nullptr));
        std::vector<double> mass(h->point_count), share(h->point_count);
        for (PliIndex t = 0; t < h->tet_first[1]; ++t)
            for (int c = 0; c < 4; ++c) share[h->tets[4 * t + c]] += 0.25 * double(h->tet_share[t]);
        for (PliIndex p = h->finest_first; p < h->point_count; ++p) {
            const PliIndex *from;
            const double *w;
            const PliIndex n = pli_levels_sources(h.get(), p, true, &from, &w);
            for (PliIndex k = 0; k < n; ++k) mass[from[k]] += w[k] * double(h->point_share[p]);
        }
        double least = INFINITY;
        for (PliIndex p = 0; p < h->finest_first; ++p) least = std::min(least, mass[p] / share[p]);
        return least;
    };
    Log all;
    for (const double power : { 1.4, 1.8, 2.0, 2.2, 2.5 }) {
        Log log;
        const double least = least_share(crowded(power), &log);
        EXPECT_EQ(log.warnings, least < 0.1 ? 1 : 0) << power << ": " << least;
        all.news += log.news, all.warnings += log.warnings;
    }
    EXPECT_GT(all.news, 0);
    EXPECT_GT(all.warnings, 0);
}

TEST(LevelsRepair, NamesLevelNodeAndPlaceWhereItCannot)
{
    // ten nodes a side crowded between two of a finer mesh: two nodes cannot carry hundreds
    std::vector<MeshHandle> meshes;
    meshes.push_back(box_mesh(12, 3, 3, 1, 1, 1, 0));
    for (PliIndex i = 0; i < meshes[0]->point_count; ++i)
        if (double *x = meshes[0]->x + 3 * i; *x < 0.99) *x *= 0.05;
    meshes.push_back(box_mesh(7, 5, 5));
    PliError err{};
    ASSERT_FALSE(make_levels(meshes, &err));
    const std::string text = err.text;
    EXPECT_NE(text.find("level 0: node "), std::string::npos) << text;
    EXPECT_NE(text.find("pliant mesh"), std::string::npos) << text;
}

} // namespace
