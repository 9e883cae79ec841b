/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/fold.h"

extern "C" {
#include "base/hash.h"
#include "scheme/frames/dag.h"
}

namespace
{

using Vec = std::vector<double>;

// Frames on a line in levels 1, 3, 5, 9 ...: each new one between two older neighbours, plus some three-parent ones aside.
struct Line {
    Vec x, scale, weight;
    std::vector<PliIndex> first, parent;
    PliDag *g = nullptr;
    explicit Line(int levels)
    {
        std::vector<std::pair<double, PliIndex>> have;
        auto add = [&](double at, double side, std::vector<PliIndex> parents, Vec w) {
            const PliIndex i = PliIndex(scale.size());
            x.insert(x.end(), { at, side, 0.1 * side });
            scale.push_back(1.0 / (1.0 + i % 3));
            first.push_back(PliIndex(parent.size()));
            parent.insert(parent.end(), parents.begin(), parents.end());
            weight.insert(weight.end(), w.begin(), w.end());
            if (side == 0.0) have.emplace_back(at, i);
            return i;
        };
        add(0, 0, {}, {});
        add(-1, 0, { 0 }, { 1.0 });
        add(1, 0, { 0 }, { 1.0 });
        for (int l = 2; l < levels; ++l) {
            std::sort(have.begin(), have.end());
            auto old = have;
            for (size_t k = 0; k + 1 < old.size(); ++k) {
                const PliIndex a = old[k].second, b = old[k + 1].second;
                add(0.5 * (old[k].first + old[k + 1].first), 0, { std::min(a, b), std::max(a, b) }, { 0.5, 0.5 });
            }
            const PliIndex a = old[0].second, b = old[1].second, c = old[2].second;
            std::vector<PliIndex> p{ a, b, c };
            std::sort(p.begin(), p.end());
            add(old[1].first, 0.3 * l, p, { 0.2, 0.5, 0.3 });
        }
        first.push_back(PliIndex(parent.size()));
        PliHost host = pli_host_default();
        g = pli_dag_create(&host, PliIndex(scale.size()), x.data(), scale.data(), first.data(), parent.data(),
                           weight.data());
    }
    ~Line() { pli_dag_destroy(g); }
    Vec rest() const
    {
        Vec u(12 * scale.size(), 0.0);
        for (size_t i = 0; i < scale.size(); ++i)
            for (int c = 0; c < 3; ++c) u[12 * i + 3 * c + c] = scale[i], u[12 * i + 9 + c] = x[3 * i + c];
        return u;
    }
    // x -> a x + t applied to every frame of a state
    static Vec moved(const Vec &u, const double a[9], const double t[3])
    {
        Vec r(u.size());
        for (size_t k = 0; k < u.size() / 3; ++k)
            for (int i = 0; i < 3; ++i) {
                r[3 * k + i] = k % 4 == 3 ? t[i] : 0.0;
                for (int j = 0; j < 3; ++j) r[3 * k + i] += a[3 * i + j] * u[3 * k + j];
            }
        return r;
    }
};

double largest(const Vec &a, const Vec &b)
{
    double m = 0.0;
    for (size_t i = 0; i < a.size(); ++i) m = largest_of(m, std::fabs(a[i] - b[i]));
    return m;
}

void activate_at_random(PliDag *g, uint64_t *seed, double share)
{
    for (PliIndex i = 0; i < g->count; ++i)
        if (pli_dag_may_activate(g, i) && pli_random_unit(seed) < share) pli_dag_activate(g, i);
    pli_dag_refresh(g);
}

void deform(Vec &u, uint64_t *seed, double size)
{
    for (double &c : u) c += size * (pli_random_unit(seed) - 0.5);
}

TEST(Dag, AffineMotionPassesExactlyAndTranslationsDoNotStretch)
{
    Line line(5);
    ASSERT_TRUE(line.g);
    uint64_t seed = 3;
    const double a[9] = { 1.1, 0.2, 0, -0.1, 0.9, 0.3, 0.05, 0, 1.2 }, t[3] = { 3, -2, 1 };
    for (int trial = 0; trial < 30; ++trial) {
        pli_dag_reset(line.g);
        activate_at_random(line.g, &seed, 0.6);
        PliError err{};
        ASSERT_TRUE(pli_dag_is_valid(line.g, &err)) << err.text;
        const Vec exact = Line::moved(line.rest(), a, t);
        Vec u = exact;
        for (PliIndex i = 0; i < line.g->count; ++i)
            if (!line.g->active[i])
                for (int k = 0; k < 12; ++k) u[12 * i + k] = 99.0;
        pli_dag_spread(line.g, u.data());
        EXPECT_LT(largest(u, exact), 1e-14);
    }
}

TEST(Dag, GoingPassiveMovesNothing)
{
    Line line(6);
    uint64_t seed = 11;
    double worst = 0.0;
    for (int trial = 0; trial < 50; ++trial) {
        pli_dag_reset(line.g);
        activate_at_random(line.g, &seed, 1.0);
        Vec u = line.rest();
        deform(u, &seed, 0.3);
        pli_dag_spread(line.g, u.data());
        for (PliIndex i = line.g->count; i-- > 1;)
            if (pli_dag_may_deactivate(line.g, i) && pli_random_unit(&seed) < 0.7)
                pli_dag_deactivate(line.g, i, u.data());
        pli_dag_refresh(line.g);
        Vec after = u;
        pli_dag_spread(line.g, after.data());
        worst = largest_of(worst, largest(u, after));
        // and the offsets turn with the parents
        const double c = std::cos(1.3), s = std::sin(1.3), r[9] = { c, -s, 0, s, c, 0, 0, 0, 1 }, t[3] = { 5, 1, 2 };
        Vec turned = Line::moved(u, r, t), again = turned;
        pli_dag_spread(line.g, again.data());
        EXPECT_LT(largest(turned, again), 1e-13);
    }
    EXPECT_LT(worst, 1e-14);
}

TEST(Dag, RowsAreTheSpread)
{
    Line line(6);
    uint64_t seed = 5;
    for (int trial = 0; trial < 40; ++trial) {
        // a random walk over sets, never reset: rows are refreshed incrementally
        Vec u = line.rest();
        deform(u, &seed, 0.2);
        pli_dag_spread(line.g, u.data());
        for (PliIndex i = line.g->count; i-- > 1;)
            if (pli_dag_may_deactivate(line.g, i) && pli_random_unit(&seed) < 0.3)
                pli_dag_deactivate(line.g, i, u.data());
        pli_dag_refresh(line.g);
        activate_at_random(line.g, &seed, 0.4);
        deform(u, &seed, 0.2);
        Vec by_rows(u.size()), spread = u;
        pli_dag_spread(line.g, spread.data());
        pli_rows_apply(pli_dag_rows(line.g), u.data(), by_rows.data());
        EXPECT_LT(largest(spread, by_rows), 1e-12);
        // rows over candidates, applied to a state whose candidates moved by themselves, agree with candidates being active
        const PliDagRows *rows = &line.g->over_candidates;
        for (PliIndex k = 0; k < line.g->candidate_count; ++k)
            for (int c = 0; c < 12; ++c)
                spread[12 * line.g->candidate_list[k] + c] += 0.1 * (pli_random_unit(&seed) - 0.5);
        Vec expect = spread;
        std::vector<uint8_t> keep(line.g->active, line.g->active + line.g->count);
        for (PliIndex k = 0; k < line.g->candidate_count; ++k) line.g->active[line.g->candidate_list[k]] = 1;
        pli_dag_spread(line.g, expect.data());
        std::copy(keep.begin(), keep.end(), line.g->active);
        for (PliIndex i = 0; i < line.g->count; ++i)
            for (int c = 0; c < 4; ++c)
                for (int d = 0; d < 3; ++d) {
                    double sum = 0.0;
                    for (PliIndex q = 0; q < rows->used[i]; ++q)
                        for (int e = 0; e < 4; ++e)
                            sum += rows->block[16 * (rows->first[i] + q) + 4 * c + e] *
                                   spread[12 * rows->column[rows->first[i] + q] + 3 * e + d];
                    EXPECT_NEAR(sum, expect[12 * i + 3 * c + d], 1e-12);
                }
    }
}

TEST(Dag, FlatParentsRefuseAndPinnedFramesStay)
{
    Line line(3);
    pli_dag_activate(line.g, 1);
    pli_dag_refresh(line.g);
    Vec u = line.rest();
    for (int i = 0; i < 3; ++i) u[6 + i] *= 1e-3; // the root is squashed flat
    EXPECT_FALSE(pli_dag_deactivate(line.g, 1, u.data()));
    EXPECT_TRUE(line.g->active[1]);

    std::vector<uint8_t> pinned(line.g->count, 0);
    pinned[line.g->count - 1] = 1;
    pli_dag_pin(line.g, pinned.data());
    EXPECT_TRUE(line.g->active[line.g->count - 1]);
    PliError err{};
    EXPECT_TRUE(pli_dag_is_valid(line.g, &err)) << err.text;
    EXPECT_FALSE(pli_dag_may_deactivate(line.g, line.g->count - 1));
    pli_dag_reset(line.g);
    EXPECT_TRUE(line.g->active[line.g->count - 1]);
}

} // namespace
