/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/fixture.h"

#include <atomic>
#include <memory>

extern "C" {
#include "base/loop.h"
}

namespace
{

struct PoolDeleter {
    void operator()(PliPool *p) const { pli_pool_destroy(p); }
};
using Pool = std::unique_ptr<PliPool, PoolDeleter>;

struct Visits {
    std::vector<std::atomic<int>> count;
    PliIndex grain;
    int workers;
    std::atomic<int> bad_blocks{ 0 };
    Visits(PliIndex n, PliIndex g, int w) : count(n), grain(g), workers(w) {}
};

void visit(PliIndex first, PliIndex last, int worker, void *arg)
{
    auto *v = static_cast<Visits *>(arg);
    const bool aligned = first % v->grain == 0 && first < last && (last % v->grain == 0 || last == v->count.size());
    if (!aligned || worker < 0 || worker >= v->workers) v->bad_blocks++;
    for (PliIndex i = first; i < last; ++i) v->count[i]++;
}

} // namespace

class PoolOf : public ::testing::TestWithParam<int>
{
};

TEST_P(PoolOf, RunsEveryItemExactlyOnceInBlocksOfTheGrain)
{
    Pool pool(pli_pool_create(GetParam()));
    ASSERT_TRUE(pool);
    PliHost host = pli_host_default();
    pli_pool_lend(pool.get(), &host);
    EXPECT_EQ(host.worker_count, GetParam());
    for (PliIndex count : { 1u, 2u, 7u, 64u, 1000u, 10007u })
        for (PliIndex grain : { 1u, 3u, 64u, 4096u }) {
            Visits v(count, grain, GetParam());
            host.parallel_for(visit, &v, count, grain, host.parallel_user);
            EXPECT_EQ(v.bad_blocks, 0);
            for (PliIndex i = 0; i < count; ++i)
                ASSERT_EQ(v.count[i], 1) << "item " << i << " of " << count << ", grain " << grain;
        }
}

// Loops in quick succession: a worker that wakes late must neither miss a loop nor run one twice.
TEST_P(PoolOf, SurvivesManyShortLoops)
{
    Pool pool(pli_pool_create(GetParam()));
    ASSERT_TRUE(pool);
    PliHost host = pli_host_default();
    pli_pool_lend(pool.get(), &host);
    Visits v(16, 2, GetParam());
    for (int round = 1; round <= 2000; ++round) {
        pli_for(&host, 16, 2, visit, &v);
        for (const auto &c : v.count) ASSERT_EQ(c, round);
    }
    EXPECT_EQ(v.bad_blocks, 0);
}

TEST_P(PoolOf, DoesNothingForNothing)
{
    Pool pool(pli_pool_create(GetParam()));
    ASSERT_TRUE(pool);
    PliHost host = pli_host_default();
    pli_pool_lend(pool.get(), &host);
    Visits v(0, 1, GetParam());
    host.parallel_for(visit, &v, 0, 1, host.parallel_user);
    pli_for(&host, 0, 1, visit, &v);
    EXPECT_EQ(v.bad_blocks, 0);
}

INSTANTIATE_TEST_SUITE_P(Workers, PoolOf, ::testing::Range(1, 9));

TEST(Pool, RefusesImpossibleSizes)
{
    EXPECT_EQ(pli_pool_create(0), nullptr);
    EXPECT_EQ(pli_pool_create(-3), nullptr);
    EXPECT_EQ(pli_pool_create(65), nullptr);
    pli_pool_destroy(nullptr); // NULL is fine
}

TEST(Loop, RunsWholeRangeAtOnceWithoutLentThreads)
{
    const PliHost host = pli_host_default();
    Visits v(100, 100, 1);
    pli_for(&host, 100, 8, visit, &v);
    EXPECT_EQ(v.bad_blocks, 0);
    for (const auto &c : v.count) EXPECT_EQ(c, 1);
}
