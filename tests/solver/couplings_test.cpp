/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Couplings of few points are kept as bits and those of many as pairs: both are the same graph.
extern "C" {
#include "base/hash.h"
#include "solver/couplings.h"
}

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "support/fixture.h"

namespace
{

constexpr PliIndex COUPLED = 150;

/// Slaves of which each row is coupled: two own points and five slots.
struct Slaves {
    std::vector<PliIndex> own_first = { 0 }, own, slot_first = { 0 }, slot;
    PliSlaveRows rows = {};

    explicit Slaves(uint64_t seed)
    {
        const auto any = [&] { return PliIndex(pli_random_unit(&seed) * COUPLED) % COUPLED; };
        for (int i = 0; i < 40; ++i) {
            for (int k = 0; k < (i % 8 ? 2 : 0); ++k) own.push_back(any());
            for (int k = 0; k < 5; ++k) slot.push_back(any());
            own_first.push_back(PliIndex(own.size())), slot_first.push_back(PliIndex(slot.size()));
        }
        rows.count = 40;
        rows.own_first = own_first.data(), rows.own = own.data();
        rows.slot_first = slot_first.data(), rows.slot = slot.data();
    }
};

using Graph = std::vector<std::set<PliIndex>>;

struct Couplings {
    PliCouplings c = {};
    std::vector<uint8_t> fixed;

    explicit Couplings(PliIndex n) : fixed(n, 0)
    {
        c.host = pli_host_default();
        pli_couplings_begin(&c, n);
        uint64_t seed = 5;
        for (int k = 0; k < 400; ++k) {
            const auto i = PliIndex(pli_random_unit(&seed) * COUPLED), j = PliIndex(pli_random_unit(&seed) * COUPLED);
            pli_couplings_join(&c, i, j);
        }
        Slaves slaves(7);
        pli_couplings_join_slaves(&c, &slaves.rows);
        for (PliIndex i = 0; i < COUPLED; i += 9) fixed[i] = 1;
    }
    ~Couplings() { pli_couplings_release(&c); }
    Couplings(const Couplings &) = delete;
    Couplings &operator=(const Couplings &) = delete;

    /// Neighbours of the free points.
    Graph listed(bool edges)
    {
        Graph g(COUPLED);
        EXPECT_TRUE(pli_couplings_list(&c, fixed.data(), edges));
        for (PliIndex i = 0; i < COUPLED; ++i)
            for (PliIndex e = c.near_first[i]; e < c.near_first[i + 1] && !fixed[i]; ++e)
                EXPECT_TRUE(g[i].insert(c.near[e]).second) << "twice";
        return g;
    }
};

TEST(Couplings, BitsAndPairsAreTheSameGraph)
{
    Couplings few(COUPLED), many(10000);
    ASSERT_GT(few.c.words, 0u);
    ASSERT_EQ(many.c.words, 0u);
    for (const bool edges : { false, true }) {
        const Graph a = few.listed(edges), b = many.listed(edges);
        EXPECT_EQ(a, b);
        size_t all = 0;
        for (PliIndex i = 0; i < COUPLED; ++i) {
            all += a[i].size();
            for (const PliIndex j : a[i]) {
                EXPECT_EQ(few.fixed[j] != 0, edges);
                EXPECT_NE(i, j);
                EXPECT_TRUE(edges || a[j].count(i));
            }
        }
        EXPECT_GT(all, edges ? 50u : 500u);
    }
}

TEST(Couplings, PlacesAreThoseOfTheRows)
{
    Couplings few(COUPLED);
    std::vector<PliIndex> first = { 0 }, column;
    uint64_t seed = 3;
    for (PliIndex r = 0; r < COUPLED; ++r) {
        for (PliIndex j = 0; j < r; ++j)
            if (pli_random_unit(&seed) < 0.2) column.push_back(j);
        first.push_back(PliIndex(column.size()));
    }
    ASSERT_TRUE(pli_couplings_rank(&few.c, first.data(), column.data()));
    for (PliIndex r = 0; r < COUPLED; ++r)
        for (PliIndex e = first[r]; e < first[r + 1]; ++e)
            ASSERT_EQ(pli_couplings_place(&few.c, r, column[e]), e - first[r]);
}

} // namespace
