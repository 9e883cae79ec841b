/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/transfer.h>

#include <memory>

#include "support/fixture.h"

using pliant_test::random_vector;
using pliant_test::WatchedHost;

namespace
{

struct TransferDeleter {
    void operator()(PliTransfer *t) const { pli_transfer_destroy(t); }
};
using Transfer = std::unique_ptr<PliTransfer, TransferDeleter>;

/// Random sparse rows, and the same numbers as a dense matrix.
struct RandomMap {
    PliIndex out, in;
    Transfer transfer;
    std::vector<double> dense; ///< shape [out, in]

    RandomMap(const PliHost *host, PliIndex out_count, PliIndex in_count, uint64_t seed)
        : out(out_count), in(in_count), transfer(pli_transfer_create(host, out_count, size_t(8) * out_count)),
          dense(size_t(out_count) * in_count, 0.0)
    {
        pli_transfer_clear(transfer.get(), in);
        for (PliIndex i = 0; i < out; ++i) {
            std::vector<PliIndex> column;
            std::vector<double> weight;
            const PliIndex entries = PliIndex(pli_random(&seed) % 9); // none to eight, a column may come twice
            for (PliIndex k = 0; k < entries; ++k) {
                column.push_back(PliIndex(pli_random(&seed) % in));
                weight.push_back(pliant_test::random_in(&seed, -1, 1));
                dense[size_t(i) * in + column.back()] += weight.back();
            }
            EXPECT_EQ(pli_transfer_push(transfer.get(), column.data(), weight.data(), entries), PLI_OK);
        }
    }
};

} // namespace

TEST(Transfer, AppliesLikeTheDenseMatrix)
{
    WatchedHost w;
    RandomMap map(&w.host, 57, 23, 1);
    uint64_t seed = 2;
    const auto x = random_vector(&seed, 3 * map.in);
    std::vector<double> y(3 * map.out, 99.0); // apply overwrites
    pli_rows_apply(pli_transfer_rows(map.transfer.get()), x.data(), y.data());
    for (PliIndex i = 0; i < map.out; ++i)
        for (int d = 0; d < 3; ++d) {
            double sum = 0.0;
            for (PliIndex j = 0; j < map.in; ++j) sum += map.dense[size_t(i) * map.in + j] * x[3 * j + d];
            EXPECT_NEAR(y[3 * i + d], sum, 1e-14);
        }
}

TEST(Transfer, TransposesLikeTheDenseMatrixAndAccumulates)
{
    WatchedHost w;
    RandomMap map(&w.host, 41, 19, 3);
    uint64_t seed = 4;
    auto f = random_vector(&seed, 3 * map.out);
    for (int d = 0; d < 3; ++d) f[3 * 5 + d] = 0.0; // the skipped row
    const auto before = random_vector(&seed, 3 * map.in);
    auto g = before;
    pli_rows_add_transpose(pli_transfer_rows(map.transfer.get()), f.data(), g.data());
    for (PliIndex j = 0; j < map.in; ++j)
        for (int d = 0; d < 3; ++d) {
            double sum = before[3 * j + d];
            for (PliIndex i = 0; i < map.out; ++i) sum += map.dense[size_t(i) * map.in + j] * f[3 * i + d];
            EXPECT_NEAR(g[3 * j + d], sum, 1e-13);
        }
}

// <W x, f> = <x, W^T f>: work is the same seen from either side, so forces are conserved.
TEST(Transfer, ApplyAndTransposeAreAdjoint)
{
    WatchedHost w;
    for (uint64_t round = 0; round < 20; ++round) {
        RandomMap map(&w.host, PliIndex(10 + 7 * round), PliIndex(3 + 5 * round), 100 + round);
        uint64_t seed = round;
        const auto x = random_vector(&seed, 3 * map.in), f = random_vector(&seed, 3 * map.out);
        std::vector<double> y(3 * map.out), g(3 * map.in, 0.0);
        const PliRows rows = pli_transfer_rows(map.transfer.get());
        pli_rows_apply(rows, x.data(), y.data());
        pli_rows_add_transpose(rows, f.data(), g.data());
        double left = 0.0, right = 0.0;
        for (size_t k = 0; k < y.size(); ++k) left += y[k] * f[k];
        for (size_t k = 0; k < g.size(); ++k) right += x[k] * g[k];
        EXPECT_NEAR(left, right, 1e-11);
    }
}

TEST(Transfer, RefusesWhatDoesNotFitAndKeepsWhatIsThere)
{
    WatchedHost w;
    Transfer t(pli_transfer_create(&w.host, 2, 5));
    ASSERT_TRUE(t);
    pli_transfer_clear(t.get(), 4);
    const PliIndex column[4] = { 0, 1, 2, 3 };
    const double weight[4] = { 0.25, 0.25, 0.25, 0.25 };
    EXPECT_EQ(pli_transfer_push(t.get(), column, weight, 4), PLI_OK);
    EXPECT_EQ(pli_transfer_push(t.get(), column, weight, 2), PLI_OVER_CAPACITY) << "five entries at most";
    EXPECT_EQ(pli_transfer_rows(t.get()).out_count, 1u);
    EXPECT_EQ(pli_transfer_push(t.get(), column, weight, 1), PLI_OK);
    EXPECT_EQ(pli_transfer_push(t.get(), column, weight, 0), PLI_OVER_CAPACITY) << "two rows at most";
    const PliRows rows = pli_transfer_rows(t.get());
    EXPECT_EQ(rows.out_count, 2u);
    EXPECT_EQ(rows.in_count, 4u);
    EXPECT_EQ(rows.first[1], 4u);
    EXPECT_EQ(rows.first[2], 5u);
}

TEST(Transfer, ClearsWithoutAllocating)
{
    WatchedHost w;
    Transfer t(pli_transfer_create(&w.host, 10, 10));
    const long calls = w.calls;
    const PliIndex column = 0;
    const double weight = 1.0;
    for (int round = 0; round < 100; ++round) {
        pli_transfer_clear(t.get(), 1);
        for (int k = 0; k < 10; ++k) ASSERT_EQ(pli_transfer_push(t.get(), &column, &weight, 1), PLI_OK);
    }
    EXPECT_EQ(w.calls, calls);
}

TEST(Transfer, CreationGivesEverythingBackWhenMemoryRunsOut)
{
    for (long allowed = 0; allowed < 4; ++allowed) {
        WatchedHost w;
        w.fail_after = allowed;
        EXPECT_EQ(pli_transfer_create(&w.host, 8, 8), nullptr);
        EXPECT_EQ(w.live_blocks(), 0u);
    }
}
