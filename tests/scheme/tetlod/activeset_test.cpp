/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cstring>

#include "base/hash.h"
#include "scheme/tetlod/support.h"

extern "C" {
#include "scheme/tetlod/activeset.h"
}

namespace
{

struct SetFree {
    void operator()(PliActiveSet *s) const { pli_activeset_destroy(s); }
};
using SetHandle = std::unique_ptr<PliActiveSet, SetFree>;

SetHandle make_set(const PliLevels *h, PliActiveSetDef def = {})
{
    PliHost host = pli_host_default();
    PliError err{};
    SetHandle s(pli_activeset_create(&host, h, &def, &err));
    EXPECT_TRUE(s) << err.text;
    return s;
}

/// Same rows and weights, bit by bit, as a set rebuilt from the states alone; masses within a few of the 2^56 units of the body
/// (in a dependency cycle the units that are left over by rounding depend on the order of events).
void expect_equals_rebuild(PliActiveSet *a, PliActiveSet *fresh)
{
    const PliLevels *h = a->h;
    std::memcpy(fresh->state, a->state, h->point_count);
    ASSERT_EQ(pli_activeset_rebuild(fresh), PLI_OK);
    (void)pli_activeset_rows(a);
    (void)pli_activeset_rows(fresh);
    for (PliIndex p = 0; p < h->point_count; ++p) {
        ASSERT_EQ(a->row_count[p], fresh->row_count[p]) << p;
        for (PliIndex k = 0; k < a->row_count[p]; ++k) {
            ASSERT_EQ(a->column[a->row_first[p] + k], fresh->column[fresh->row_first[p] + k]);
            ASSERT_EQ(a->weight[a->row_first[p] + k], fresh->weight[fresh->row_first[p] + k]);
        }
    }
    for (PliIndex p = 0; p < h->point_count; ++p) ASSERT_NEAR((double)(a->mass[p] - fresh->mass[p]), 0.0, 1000.0) << p;
    ASSERT_EQ(std::memcmp(a->volume, fresh->volume, h->tet_count * sizeof *a->volume), 0);
    ASSERT_EQ(a->active_count, fresh->active_count);
    ASSERT_EQ(a->slave_count, fresh->slave_count);
    ASSERT_EQ(a->element_count, fresh->element_count);
}

struct Counts {
    int split = 0, merged = 0, undone = 0, failed = 0;
};

/// One random event: a split (of what balance asks for first), or a merge; one in eight is undone again.
bool random_event(PliActiveSet *s, uint64_t *random, double split_chance, Counts *n)
{
    const PliLevels *h = s->h;
    pli_activeset_begin(s);
    bool split = pli_random_unit(random) < split_chance, done = false;
    for (int attempt = 0; attempt < 50 && !done; ++attempt) {
        PliIndex node = (PliIndex)(pli_random_unit(random) * h->finest_first), blocker;
        if (split && s->state[node] == PLI_ACTIVE)
            while ((blocker = pli_activeset_blocker(s, node)) != PLI_NONE) node = blocker;
        done = split ? pli_activeset_split(s, node) : pli_activeset_merge(s, node);
    }
    if (!done) return false;
    pli_activeset_affect(s);
    if (pli_activeset_commit(s) != PLI_OK) {
        pli_activeset_undo(s);
        n->failed++;
    } else if (pli_random(random) % 8 == 0) {
        pli_activeset_undo(s);
        n->undone++;
    } else {
        (split ? n->split : n->merged)++;
    }
    pli_activeset_list(s);
    return true;
}

/// `sequences` random sequences of ten events each, from a random uniform level, checked at their end.
void random_sequences(const PliLevels *h, PliActiveSetDef def, int sequences, Counts *n)
{
    SetHandle s = make_set(h, def), fresh = make_set(h, def);
    uint64_t random = 42;
    PliError err{};
    for (int q = 0; q < sequences; ++q) {
        if (q % 100 == 0) {
            ASSERT_EQ(pli_activeset_reset(s.get(), (int)(pli_random(&random) % (uint64_t)h->level_count)), PLI_OK);
        }
        const double chance = 0.3 + 0.4 * pli_random_unit(&random);
        for (int e = 0; e < 10; ++e) random_event(s.get(), &random, chance, n);
        pli_activeset_begin(s.get());
        ASSERT_TRUE(pli_activeset_is_valid(s.get(), &err)) << "sequence " << q << ": " << err.text;
        expect_equals_rebuild(s.get(), fresh.get());
        if (testing::Test::HasFatalFailure()) return;
    }
}

// `pliant verify tetlod` runs ten thousand sequences; these are enough to find what broke
TEST(ActiveSet, RandomSequencesOnABox)
{
    LevelsHandle h = box_levels({ 1, 2, 4 });
    Counts n;
    random_sequences(h.get(), {}, 500, &n);
    EXPECT_GT(n.split, 500);
    EXPECT_GT(n.merged, 500);
    EXPECT_EQ(n.failed, 0);
}

TEST(ActiveSet, RandomSequencesOnASphere)
{
    LevelsHandle h = ball_levels({ 2, 3, 5 });
    Counts n;
    random_sequences(h.get(), {}, 500, &n);
    EXPECT_GT(n.split, 500);
    EXPECT_GT(n.merged, 500);
    RecordProperty("failed", n.failed);
    EXPECT_LE(n.failed, n.split / 20); // refused because a coarse node would carry no mass
}

TEST(ActiveSet, RandomSequencesOnFourLevels)
{
    LevelsHandle box = box_levels({ 2, 3, 5, 9 }), ball = ball_levels({ 2, 4, 6, 9 });
    Counts n;
    random_sequences(box.get(), {}, 60, &n);
    random_sequences(ball.get(), {}, 60, &n);
    EXPECT_LE(n.failed, n.split / 20); // refused because a coarse node would carry no mass
}

TEST(ActiveSet, RandomSequencesWithARampAndWithThePapersCoupling)
{
    LevelsHandle box = box_levels({ 1, 3, 5 }), ball = ball_levels({ 2, 3, 5 });
    Counts n;
    for (const PliLevels *h : { box.get(), ball.get() }) {
        for (int ramp : { 1, 2, 5 }) random_sequences(h, { ramp, false, 0 }, 60, &n);
        random_sequences(h, { 0, true, 0 }, 60, &n);
    }
    EXPECT_LE(n.failed, n.split / 20); // refused because a coarse node would carry no mass
}

TEST(ActiveSet, UniformLevelsAreTheirMeshes)
{
    LevelsHandle h = box_levels({ 2, 4, 7 });
    SetHandle s = make_set(h.get());
    for (int l = 0; l < 3; ++l) {
        ASSERT_EQ(pli_activeset_reset(s.get(), l), PLI_OK);
        EXPECT_EQ(s->active_count, h->point_first[l + 1] - h->point_first[l]);
        EXPECT_EQ(s->element_count, h->tet_first[l + 1] - h->tet_first[l]);
        EXPECT_EQ(s->slave_count, 0u);
        for (PliIndex i = 0; i < s->element_count; ++i)
            EXPECT_NEAR(s->volume[s->element[i]], h->tet_volume[s->element[i]], 1e-13);
    }
}

TEST(ActiveSet, SplittingOneSpotToTheFinestLevelStaysLocal)
{
    LevelsHandle h = box_levels({ 2, 4, 8 });
    SetHandle s = make_set(h.get());
    // the corner node of level 0 and then of its own children
    PliIndex node = 0;
    for (int l = 0; l < 2; ++l) {
        const PliIndex wanted = node;
        while (s->state[wanted] == PLI_ACTIVE) {
            PliIndex first = wanted, blocker;
            while ((blocker = pli_activeset_blocker(s.get(), first)) != PLI_NONE) first = blocker;
            pli_activeset_begin(s.get());
            ASSERT_TRUE(pli_activeset_split(s.get(), first));
            pli_activeset_affect(s.get());
            ASSERT_EQ(pli_activeset_commit(s.get()), PLI_OK);
        }
        node = h->child[h->child_first[wanted]];
    }
    pli_activeset_list(s.get());
    PliError err{};
    pli_activeset_begin(s.get());
    EXPECT_TRUE(pli_activeset_is_valid(s.get(), &err)) << err.text;
    EXPECT_LT(s->active_count, 200u); // of 729 + 125 + 27
    bool has_finest = false;
    for (PliIndex i = 0; i < s->active_count; ++i) has_finest |= h->level[s->active[i]] == 2;
    EXPECT_TRUE(has_finest);
}

TEST(ActiveSet, MassesAreWhatTheRowsOfTheFinestNodesSay)
{
    LevelsHandle h = ball_levels({ 2, 4, 7 });
    SetHandle s = make_set(h.get());
    uint64_t random = 11;
    Counts n;
    for (int e = 0; e < 120; ++e) random_event(s.get(), &random, 0.65, &n);
    (void)pli_activeset_rows(s.get());
    std::vector<double> mass(h->point_count);
    double total = 0;
    for (PliIndex k = h->finest_first; k < h->point_count; ++k) {
        total += (double)h->point_share[k];
        for (PliIndex e = s->row_first[k]; e < s->row_first[k] + s->row_count[k]; ++e)
            mass[s->column[e]] += s->weight[e] * (double)h->point_share[k];
    }
    for (PliIndex p = 0; p < h->point_count; ++p)
        EXPECT_NEAR(mass[p], s->state[p] == PLI_ACTIVE ? (double)s->mass[p] : 0.0, 1e-14 * total);
}

TEST(ActiveSet, FollowingAgreesWithRows)
{
    LevelsHandle h = ball_levels({ 2, 4, 7 });
    SetHandle s = make_set(h.get());
    uint64_t random = 12;
    Counts n;
    for (int e = 0; e < 120; ++e) random_event(s.get(), &random, 0.65, &n);
    std::vector<double> a(3 * h->point_count), b(3);
    for (double &v : a) v = pli_random_unit(&random);
    pli_activeset_spread(s.get(), a.data());
    (void)pli_activeset_rows(s.get());
    for (PliIndex p = 0; p < h->point_count; ++p) {
        pli_activeset_value(s.get(), p, a.data(), b.data());
        for (int d = 0; d < 3; ++d) ASSERT_NEAR(a[3 * p + d], b[d], 1e-13);
    }
}

TEST(ActiveSet, CyclesOccurAndAreSolved)
{
    LevelsHandle h = ball_levels({ 2, 4, 8 });
    SetHandle s = make_set(h.get());
    uint64_t random = 9;
    Counts n;
    for (int e = 0; e < 200; ++e) random_event(s.get(), &random, 0.6, &n);
    EXPECT_GE(s->largest_component, 2u); // otherwise the dense path was not tried
    EXPECT_LE(s->largest_component, 64u);
    PliError err{};
    pli_activeset_begin(s.get());
    EXPECT_TRUE(pli_activeset_is_valid(s.get(), &err)) << err.text;
}

TEST(ActiveSet, NothingAllocatesAfterCreation)
{
    static long calls;
    PliHost host = pli_host_default();
    host.alloc = [](size_t bytes, size_t align, void *) -> void * {
        calls++;
        return aligned_alloc(align, (bytes + align - 1) / align * align);
    };
    LevelsHandle h = ball_levels({ 2, 4, 6 });
    PliActiveSetDef def{};
    PliError err{};
    SetHandle s(pli_activeset_create(&host, h.get(), &def, &err));
    const long before = calls;
    uint64_t random = 4;
    Counts n;
    for (int e = 0; e < 500; ++e) random_event(s.get(), &random, 0.5, &n);
    EXPECT_EQ(calls, before);
    EXPECT_GT(n.merged, 50);
}

} // namespace
