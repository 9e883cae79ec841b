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
