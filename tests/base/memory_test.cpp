/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/fixture.h"

extern "C" {
#include "base/memory.h"
}

using pliant_test::WatchedHost;

TEST(Alloc, BlocksAreZeroedAndAligned)
{
    WatchedHost w;
    for (size_t count : { size_t(0), size_t(1), size_t(7), size_t(1000) }) {
        double *block = PLI_NEW(&w.host, count, double);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
        for (size_t k = 0; k < count; ++k) EXPECT_EQ(block[k], 0.0);
        PLI_FREE(&w.host, block, count);
    }
    pli_free(&w.host, nullptr, 5, 8); // NULL is fine
}

TEST(Alloc, OverflowingSizesAreRefusedBeforeTheHostIsAsked)
{
    WatchedHost w;
    EXPECT_EQ(pli_alloc(&w.host, SIZE_MAX / 8 + 1, 8), nullptr);
    EXPECT_EQ(pli_alloc(&w.host, SIZE_MAX, SIZE_MAX), nullptr);
    EXPECT_EQ(w.calls, 0);
}

TEST(Alloc, TheDefaultHostRefusesSizesItCannotRoundUp)
{
    const PliHost host = pli_host_default();
    EXPECT_EQ(pli_alloc(&host, SIZE_MAX - 10, 1), nullptr);
    EXPECT_EQ(pli_alloc(&host, SIZE_MAX, 1), nullptr);
}

TEST(Grow, KeepsTheContentAndZeroesTheRest)
{
    WatchedHost w;
    int *array = nullptr;
    size_t count = 0, capacity = 0;
    for (int k = 0; k < 1000; ++k) {
        ASSERT_TRUE(PLI_GROW(&w.host, array, count, capacity));
        EXPECT_EQ(array[count], 0);
        array[count++] = k + 1;
    }
    for (int k = 0; k < 1000; ++k) EXPECT_EQ(array[k], k + 1);
    EXPECT_EQ(w.calls, 5 + 4) << "64, 128, ... 1024: doubling, and each but the last released";
    PLI_FREE(&w.host, array, capacity);
}

TEST(Grow, LeavesTheArrayAloneWhenThereIsNoMemory)
{
    WatchedHost w;
    int *array = nullptr;
    size_t capacity = 0;
    ASSERT_TRUE(pli_grow(&w.host, reinterpret_cast<void **>(&array), &capacity, sizeof *array));
    array[63] = 42;
    int *const before = array;
    w.fail_after = 0;
    EXPECT_FALSE(pli_grow(&w.host, reinterpret_cast<void **>(&array), &capacity, sizeof *array));
    EXPECT_EQ(array, before);
    EXPECT_EQ(capacity, 64u);
    EXPECT_EQ(array[63], 42);
    PLI_FREE(&w.host, array, capacity);
}

class Arena : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(pli_arena_init(&arena, &watched.host, 1024), PLI_OK); }
    void TearDown() override { pli_arena_free(&arena); }
    WatchedHost watched;
    PliArena arena;
};

TEST_F(Arena, PushesAreAlignedDisjointAndFreeOfAllocation)
{
    const long calls = watched.calls;
    auto *a = static_cast<unsigned char *>(pli_arena_push(&arena, 10, 1));
    auto *b = static_cast<unsigned char *>(pli_arena_push(&arena, 10, 1));
    ASSERT_NE(a, nullptr);
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % 64, 0u);
    EXPECT_GE(b - a, 10);
    EXPECT_EQ(watched.calls, calls);
}

TEST_F(Arena, ReleaseGivesBackExactlyWhatWasPushedSinceTheMark)
{
    void *kept = pli_arena_push(&arena, 100, 1);
    const size_t mark = pli_arena_mark(&arena);
    void *first = pli_arena_push(&arena, 200, 1);
    pli_arena_push(&arena, 200, 1);
    const size_t peak = arena.peak;
    pli_arena_release(&arena, mark);
    EXPECT_EQ(pli_arena_push(&arena, 200, 1), first);
    EXPECT_NE(first, kept);
    EXPECT_EQ(arena.peak, peak) << "the peak is over the whole life";
}

TEST_F(Arena, AnExactFitFitsAndOneByteMoreIsCounted)
{
    EXPECT_NE(pli_arena_push(&arena, 1024, 1), nullptr);
    EXPECT_EQ(arena.overflow, 0u);
    EXPECT_EQ(pli_arena_push(&arena, 1, 1), nullptr);
    EXPECT_EQ(arena.overflow, 1u);
    pli_arena_release(&arena, 0);
    EXPECT_EQ(pli_arena_push(&arena, 1025, 1), nullptr);
    EXPECT_EQ(arena.overflow, 2u);
    EXPECT_EQ(arena.used, 0u) << "a refused push takes nothing";
}

TEST_F(Arena, OverflowingProductsAreRefused)
{
    EXPECT_EQ(pli_arena_push(&arena, SIZE_MAX / 8 + 2, 8), nullptr);
    EXPECT_EQ(pli_arena_push(&arena, SIZE_MAX, SIZE_MAX), nullptr);
    EXPECT_EQ(arena.overflow, 2u);
}

TEST(ArenaInit, SaysWhenThereIsNoMemory)
{
    WatchedHost w;
    w.fail_after = 0;
    PliArena arena;
    EXPECT_EQ(pli_arena_init(&arena, &w.host, 64), PLI_OUT_OF_MEMORY);
    EXPECT_EQ(pli_arena_push(&arena, 0, 1), nullptr) << "no block, no push";
}
