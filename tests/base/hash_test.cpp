/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/fixture.h"

#include <cmath>
#include <set>

TEST(Hash, EveryBitOfEveryByteCounts)
{
    for (size_t bytes : { size_t(1), size_t(7), size_t(8), size_t(9), size_t(31), size_t(64) }) {
        std::vector<unsigned char> data(bytes, 0x5a);
        std::set<uint64_t> seen{ pli_hash(PLI_HASH_SEED, data.data(), bytes) };
        for (size_t bit = 0; bit < 8 * bytes; ++bit) {
            data[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
            seen.insert(pli_hash(PLI_HASH_SEED, data.data(), bytes));
            data[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
        }
        EXPECT_EQ(seen.size(), 8 * bytes + 1);
    }
}

TEST(Hash, OrderAndSeedCount)
{
    const uint64_t a[2] = { 1, 2 }, b[2] = { 2, 1 };
    EXPECT_NE(pli_hash(PLI_HASH_SEED, a, sizeof a), pli_hash(PLI_HASH_SEED, b, sizeof b));
    EXPECT_NE(pli_hash(1, a, sizeof a), pli_hash(2, a, sizeof a));
    EXPECT_EQ(pli_hash(PLI_HASH_SEED, a, 0), PLI_HASH_SEED);
}

TEST(Hash, ChainsOverWholeWords)
{
    const double x[4] = { 1.0, -0.0, 3.5, 1e-300 };
    const uint64_t whole = pli_hash(PLI_HASH_SEED, x, sizeof x);
    EXPECT_EQ(pli_hash(pli_hash(PLI_HASH_SEED, x, 16), x + 2, 16), whole);
}

TEST(Hash, SeesTheSignOfZero)
{
    const double plus = 0.0, minus = -0.0;
    EXPECT_NE(pli_hash(PLI_HASH_SEED, &plus, 8), pli_hash(PLI_HASH_SEED, &minus, 8));
}

// The published test vector of splitmix64: other machines and languages make the same meshes.
TEST(Random, IsSplitmix64)
{
    uint64_t state = 1234567;
    for (uint64_t wanted : { 6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                             4593380528125082431ULL, 16408922859458223821ULL })
        EXPECT_EQ(pli_random(&state), wanted);
}

TEST(Random, UnitIsUniform)
{
    uint64_t state = 42;
    const int n = 100000;
    double sum = 0.0, squares = 0.0;
    for (int k = 0; k < n; ++k) {
        const double u = pli_random_unit(&state);
        ASSERT_GE(u, 0.0);
        ASSERT_LT(u, 1.0);
        sum += u, squares += u * u;
    }
    EXPECT_NEAR(sum / n, 0.5, 5.0 / std::sqrt(12.0 * n)) << "five standard deviations";
    EXPECT_NEAR(squares / n, 1.0 / 3.0, 5.0 * std::sqrt(4.0 / 45.0 / n));
}
