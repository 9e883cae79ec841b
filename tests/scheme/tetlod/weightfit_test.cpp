/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <algorithm>

#include "scheme/tetlod/support.h"
#include "support/fixture.h"

extern "C" {
#include "kernel/elastic.h"
#include "scheme/tetlod/weightfit.h"
}

namespace
{

/// Levels with some nodes refined, the weights before and after the fit, and what the fit is judged by, with dense rows.
struct Fitted {
    LevelsHandle h;
    PliHost host = pli_host_default();
    PliActiveSet *s = nullptr;
    PliWeightFit *fit = nullptr;
    std::vector<PliTetRest> rest;
    std::vector<double> before, after;

    Fitted(LevelsHandle levels, double radius, double centre = 0.5) : h(std::move(levels))
    {
        PliActiveSetDef def{};
        PliError err{};
        s = pli_activeset_create(&host, h.get(), &def, &err);
        EXPECT_TRUE(s) << err.text;
        EXPECT_EQ(pli_activeset_reset(s, 1), PLI_OK);
        for (PliIndex p = h->point_first[1]; p < h->point_first[2]; ++p) refine_near(p, radius, centre);
        pli_activeset_list(s);
        EXPECT_TRUE(pli_activeset_is_valid(s, &err)) << err.text;
        rest.resize(h->tet_count);
        PliIndex bad;
        EXPECT_EQ(pli_tet_rest(h->tets, h->tet_count, h->x, rest.data(), &bad), PLI_OK);
        for (PliIndex i = 0; i < s->element_count; ++i) before.push_back(s->volume[s->element[i]]);
        after = before;
        fit = pli_weightfit_create(&host, h.get(), rest[0].grad, sizeof(PliTetRest) / sizeof(double));
        pli_weightfit_apply(fit, s, after.data());
    }
    ~Fitted()
    {
        pli_weightfit_destroy(fit);
        pli_activeset_destroy(s);
    }
    void refine_near(PliIndex node, double radius, double centre)
    {
        double d = 0;
        for (int k = 0; k < 3; ++k) d = std::max(d, std::fabs(h->x[3 * node + k] - centre));
        if (d > radius || !pli_activeset_may_split(s, node)) return;
        pli_activeset_begin(s);
        pli_activeset_split(s, node);
        pli_activeset_affect(s);
        if (pli_activeset_commit(s) != PLI_OK) pli_activeset_undo(s);
    }
    /// Gradient of basis function `node` in one element, from dense rows.
    std::vector<double> row_gradients(PliIndex element) const
    {
        const PliRows rows = pli_activeset_rows(s);
        std::vector<double> g(3 * size_t(h->point_count), 0.0);
        for (int c = 0; c < 4; ++c) {
            const PliIndex node = h->tets[4 * size_t(element) + c];
            for (PliIndex k = s->row_first[node]; k < s->row_first[node] + s->row_count[node]; ++k)
                for (int d = 0; d < 3; ++d) {
                    const double *grad = rest[element].grad;
                    const double corner = c ? grad[3 * (c - 1) + d] : -(grad[d] + grad[3 + d] + grad[6 + d]);
                    g[3 * size_t(rows.column[k]) + d] += rows.weight[k] * corner;
                }
        }
        return g;
    }
    /// Active nodes on which a homogeneous stress must leave no force: nothing of the surface depends on them.
    std::vector<PliIndex> interior() const
    {
        std::vector<PliIndex> out;
        for (PliIndex i = 0; i < s->active_count; ++i) {
            const PliIndex a = s->active[i];
            bool touches = h->on_surface[a];
            for (PliIndex k = 0; k < s->slave_count; ++k) {
                const PliIndex node = s->slave[k];
                const PliIndex *first = s->column + s->row_first[node], *last = first + s->row_count[node];
                touches = touches || (h->on_surface[node] && std::find(first, last, a) != last);
            }
            if (!touches) out.push_back(a);
        }
        return out;
    }
    /// Largest integral of a gradient that should vanish, m2.
    double ghost(const std::vector<double> &volume) const
    {
        std::vector<double> sum(3 * size_t(h->point_count), 0.0);
        for (PliIndex i = 0; i < s->element_count; ++i) {
            const auto g = row_gradients(s->element[i]);
            for (size_t k = 0; k < g.size(); ++k) sum[k] += volume[i] * g[k];
        }
        double worst = 0;
        for (PliIndex a : interior())
            for (int d = 0; d < 3; ++d)
                if (!(std::fabs(sum[3 * size_t(a) + d]) <= worst)) worst = std::fabs(sum[3 * size_t(a) + d]);
        return worst;
    }
};

double total(const std::vector<double> &v)
{
    double sum = 0;
    for (double x : v) sum += x;
    return sum;
}

} // namespace

TEST(WeightFit, RemovesGhostForcesAndKeepsTheVolume)
{
    for (auto [radius, centre] : { std::pair{ 0.2, 0.5 }, std::pair{ 0.35, 0.5 }, std::pair{ 0.6, 0.0 } }) {
        Fitted f(box_levels({ 2, 4, 8 }), radius, centre); // the last one reaches the surface
        ASSERT_GT(f.s->slave_count, 0u);
        ASSERT_GT(f.interior().size(), 10u);
        EXPECT_GT(f.ghost(f.before), 1e-5) << "there was something to remove";
        EXPECT_LT(f.ghost(f.after), 1e-12);
        EXPECT_LT(f.fit->residual, 1e-11);
        EXPECT_EQ(f.fit->skipped, 0u);
        EXPECT_NEAR(total(f.after), f.h->volume, 1e-12);
        for (size_t i = 0; i < f.after.size(); ++i)
            EXPECT_GE(f.after[i], 0.2 * f.before[i] * (1 - 1e-12)) << "a weight keeps a fifth of itself";
    }
}

/// On a curved body, surface nodes that follow lean on nodes inside: those are no constraints, and the rest are met all the same.
TEST(WeightFit, NodesThatTheSurfaceLeansOnAreLeftOut)
{
    Fitted f(ball_levels({ 3, 5, 10 }), 0.55, 0.3);
    PliIndex inside = 0;
    for (PliIndex i = 0; i < f.s->active_count; ++i) inside += !f.h->on_surface[f.s->active[i]];
    EXPECT_EQ(f.fit->row_count, f.interior().size());
    EXPECT_LT(f.fit->row_count, inside) << "there were nodes to leave out";
    EXPECT_GT(f.ghost(f.before), 1e-5);
    EXPECT_LT(f.ghost(f.after), 1e-11);
    EXPECT_NEAR(total(f.after), f.h->volume, 1e-11);
}

/// Where no corner touches an element in which levels meet, nothing changes.
TEST(WeightFit, ChangesOnlyWhatIsNearASwitch)
{
    Fitted f(box_levels({ 3, 6, 12 }), 0.1);
    const PliActiveSet *s = f.s;
    std::vector<uint8_t> near(f.h->point_count, 0);
    for (PliIndex i = 0; i < s->element_count; ++i) {
        const PliIndex *corner = f.h->tets + 4 * size_t(s->element[i]);
        bool meets = s->volume[s->element[i]] < (1 - 1e-9) * double(f.h->tet_share[s->element[i]]) * f.h->unit;
        for (int c = 0; c < 4; ++c) meets = meets || s->state[corner[c]] != PLI_ACTIVE;
        for (int c = 0; c < 4 && meets; ++c) near[corner[c]] = 1;
    }
    int changed = 0, kept = 0;
    for (PliIndex i = 0; i < s->element_count; ++i) {
        const PliIndex *corner = f.h->tets + 4 * size_t(s->element[i]);
        const bool may = near[corner[0]] || near[corner[1]] || near[corner[2]] || near[corner[3]];
        if (!may) {
            EXPECT_EQ(f.after[i], f.before[i]) << i;
        }
        changed += f.after[i] != f.before[i], kept += !may;
    }
    EXPECT_GT(changed, 50);
    EXPECT_GT(kept, 50);
}

/// Of all changes that do it, the least: the relative changes have no part that leaves every integral as it is. The integrals span
/// a space (dense, orthogonalised); what sticks out of it would be such a part.
TEST(WeightFit, ChangesWeightsByTheLeast)
{
    Fitted f(box_levels({ 2, 4, 8 }), 0.2);
    std::vector<PliIndex> zone;
    std::vector<double> y;
    for (PliIndex i = 0; i < f.s->element_count; ++i)
        if (f.after[i] != f.before[i]) {
            zone.push_back(i), y.push_back(f.after[i] / f.before[i] - 1);
            ASSERT_GT(f.after[i], 0.21 * f.before[i]) << "this case has no weight at its bound";
        }
    double size = 0;
    for (double v : y) size += v * v;
    ASSERT_GT(std::sqrt(size), 1e-3);

    std::vector<std::vector<double>> basis;
    const auto nodes = f.interior();
    for (size_t r = 0; r <= 3 * nodes.size(); ++r) basis.emplace_back(zone.size());
    for (size_t z = 0; z < zone.size(); ++z) {
        const auto g = f.row_gradients(f.s->element[zone[z]]);
        for (size_t r = 0; r < 3 * nodes.size(); ++r)
            basis[r][z] = f.before[zone[z]] * g[3 * size_t(nodes[r / 3]) + r % 3];
        basis.back()[z] = f.before[zone[z]];
    }
    auto remove = [](std::vector<double> &from, const std::vector<double> &unit) {
        double dot = 0;
        for (size_t i = 0; i < from.size(); ++i) dot += from[i] * unit[i];
        for (size_t i = 0; i < from.size(); ++i) from[i] -= dot * unit[i];
    };
    auto length = [](const std::vector<double> &v) {
        double sum = 0;
        for (double x : v) sum += x * x;
        return std::sqrt(sum);
    };
    std::vector<std::vector<double>> units;
    for (auto &b : basis) {
        const double whole = length(b);
        for (int twice = 0; twice < 2; ++twice)
            for (const auto &u : units) remove(b, u);
        const double left = length(b);
        if (!(left > 1e-9 * whole)) continue;
        for (double &x : b) x /= left;
        units.push_back(b);
    }
    ASSERT_LT(units.size() + 20, zone.size()) << "there is room for a change that does nothing";
    for (const auto &u : units) remove(y, u);
    EXPECT_LT(length(y), 1e-8 * std::sqrt(size));
}

TEST(WeightFit, LeavesAUniformCutAlone)
{
    for (int level : { 0, 1, 2 }) {
        Fitted f(box_levels({ 2, 4, 8 }), -1);
        ASSERT_EQ(pli_activeset_reset(f.s, level), PLI_OK);
        pli_activeset_list(f.s);
        std::vector<double> volume;
        for (PliIndex i = 0; i < f.s->element_count; ++i) volume.push_back(f.s->volume[f.s->element[i]]);
        const auto before = volume;
        pli_weightfit_apply(f.fit, f.s, volume.data());
        EXPECT_EQ(volume, before) << "level " << level;
    }
}

TEST(WeightFit, RunsOutOfMemoryWithoutALeak)
{
    LevelsHandle h = box_levels({ 2, 4 });
    for (long granted = 0; granted < 15; ++granted) {
        pliant_test::WatchedHost w;
        w.quiet = true;
        w.fail_after = granted;
        EXPECT_EQ(pli_weightfit_create(&w.host, h.get(), nullptr, 10), nullptr) << granted;
    }
}
