/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Laws of the library's own solvers on a random sparse matrix over points in space, some of them fixed, some tethered.
extern "C" {
#include "base/hash.h"
#include "solver/methods.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/fixture.h"

namespace
{

using Vec = std::vector<double>;

double dot(const Vec &a, const Vec &b)
{
    double s = 0.0;
    for (size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
    return s;
}

/// A lattice of points whose neighbours, diagonal ones included, pull at each other along random directions: K = -sum B B^T.
struct Web {
    Web(const Web &) = delete;
    Web &operator=(const Web &) = delete;
    static constexpr int side = 7;
    static constexpr PliIndex n = side * side * side;
    Vec x = Vec(3 * n), mass = Vec(n), dense, f = Vec(3 * n, 0.0), work;
    std::vector<uint8_t> fixed = std::vector<uint8_t>(n, 0);
    std::vector<PliIndex> pairs;
    Vec direction;
    PliIndex tether_first[2] = { 0, 3 }, tether_column[3] = { 40, 41, 300 };
    double tether_weight[3] = { 0.5, 0.3, 0.2 }, tether_matrix[6] = { 3, 4, 5, 0.5, 0.2, 0.1 };
    PliForceOps ops = {};
    PliSystem system = {};
    PliStepMatrix a = {};

    Web()
    {
        uint64_t seed = 5;
        for (PliIndex i = 0; i < n; ++i) {
            const PliIndex at[3] = { i % side, i / side % side, i / side / side };
            for (size_t c = 0; c < 3; ++c) x[3 * i + c] = at[c] + 0.3 * pli_random_unit(&seed);
            mass[i] = 0.5 + pli_random_unit(&seed);
            fixed[i] = at[0] == 0;
            for (PliIndex j = 0; j < i; ++j) {
                bool near = true;
                const PliIndex other[3] = { j % side, j / side % side, j / side / side };
                for (int c = 0; c < 3; ++c) near = near && std::abs(int(at[c]) - int(other[c])) <= 1;
                if (!near) continue;
                pairs.push_back(i), pairs.push_back(j);
                for (int k = 0; k < 9; ++k) direction.push_back(4.0 * pli_random_unit(&seed) - 2.0);
            }
        }
        ops.linearize = [](void *, const double *, bool) {};
        ops.blocks = [](void *self, PliBlockFn *fn, void *user) {
            const Web *w = static_cast<Web *>(self);
            for (size_t p = 0; p < w->pairs.size() / 2; ++p) {
                double same[9], other[9];
                const double *b = w->direction.data() + 9 * p;
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) {
                        other[3 * i + j] =
                            b[3 * i] * b[3 * j] + b[3 * i + 1] * b[3 * j + 1] + b[3 * i + 2] * b[3 * j + 2];
                        same[3 * i + j] = -other[3 * i + j];
                    }
                const PliIndex i = w->pairs[2 * p], j = w->pairs[2 * p + 1];
                fn(i, i, same, user), fn(j, j, same, user), fn(i, j, other, user), fn(j, i, other, user);
            }
        };
        system.active_count = n, system.force = &ops, system.force_self = this;
        system.x = x.data(), system.f = f.data(), system.fixed = fixed.data(), system.mass = mass.data();
        a.count = n, a.mass_factor = 1.1, a.stiffness_factor = -0.7, a.x = x.data(), a.mass = mass.data();
        a.fixed = fixed.data(), a.system = &system;
        a.tether_count = 1, a.tether_first = tether_first, a.tether_column = tether_column;
        a.tether_weight = tether_weight, a.tether_matrix = tether_matrix;
        make_dense();
    }

    /// Points of one height are coupled with each other only.
    void keep_sheets_apart()
    {
        size_t kept = 0;
        for (size_t p = 0; p < pairs.size() / 2; ++p) {
            const PliIndex i = pairs[2 * p], j = pairs[2 * p + 1];
            if (i / (side * side + 3) != j / (side * side + 3)) continue; // 52: whole groups of four
            pairs[2 * kept] = i, pairs[2 * kept + 1] = j;
            for (size_t k = 0; k < 9; ++k) direction[9 * kept + k] = direction[9 * p + k];
            kept++;
        }
        pairs.resize(2 * kept), direction.resize(9 * kept);
        make_dense();
    }

    /// Without tethers, as the methods' own product is.
    void make_dense()
    {
        dense.assign(9 * size_t(n) * n, 0.0);
        ops.blocks(
            this,
            [](PliIndex row, PliIndex column, const double k9[9], void *user) {
                Web *w = static_cast<Web *>(user);
                for (size_t k = 0; k < 9; ++k)
                    w->dense[(3 * row + k / 3) * 3 * n + 3 * column + k % 3] += w->a.stiffness_factor * k9[k];
            },
            this);
        for (size_t i = 0; i < 3 * size_t(n); ++i) dense[i * 3 * n + i] += a.mass_factor * mass[i / 3];
        for (size_t i = 0; i < 3 * size_t(n); ++i)
            for (size_t j = 0; j < 3 * size_t(n); ++j)
                if (fixed[i / 3] || fixed[j / 3]) dense[i * 3 * n + j] = i == j;
    }

    Vec times(const Vec &p) const
    {
        Vec y(p.size(), 0.0);
        for (size_t i = 0; i < p.size(); ++i)
            for (size_t j = 0; j < p.size(); ++j) y[i] += dense[i * p.size() + j] * p[j];
        return y;
    }
};

Vec random_vec(uint64_t seed)
{
    Vec r(3 * Web::n);
    for (double &c : r) c = 2.0 * pli_random_unit(&seed) - 1.0;
    return r;
}

struct Method {
    const PliMethodKind *kind;
    void *self;
    Method(const PliMethodKind &k, const PliHost *host) : kind(&k), self(k.create(host)) {}
    ~Method() { kind->destroy(self); }
    Vec solve(const PliStepMatrix &a, const Vec &b) const
    {
        Vec x(b.size());
        kind->ops.solve(self, &a, b.data(), x.data());
        return x;
    }
};

const PliMethodKind *const near_ones[] = { &pli_method_helped, &pli_method_multigrid, &pli_method_incomplete };

} // namespace

TEST(Methods, PreconditionersAreSymmetricAndPositive)
{
    const PliHost host = pli_host_default();
    for (const PliMethodKind *kind : near_ones) {
        Web w;
        SCOPED_TRACE(kind->ops.name);
        Method m(*kind, &host);
        ASSERT_EQ(PLI_OK, kind->ops.pattern(m.self, &w.a));
        // the second time with coarser matrices of another finest one
        for (int time = 0; time < 2; ++time) {
            ASSERT_EQ(PLI_PREPARED_NEAR, kind->ops.prepare(m.self, &w.a));
            for (uint64_t seed = 1; seed < 6; ++seed) {
                const Vec x = random_vec(seed), y = random_vec(seed + 100), mx = m.solve(w.a, x), my = m.solve(w.a, y);
                EXPECT_GT(dot(x, mx), 0.0);
                EXPECT_NEAR(dot(x, my), dot(y, mx), 1e-5 * std::sqrt(dot(x, mx) * dot(y, my)));
            }
            for (double &c : w.direction) c *= 1.3;
        }
    }
}

TEST(Methods, PreconditionersLeaveFewIterations)
{
    Web w;
    const PliHost host = pli_host_default();
    for (const PliMethodKind *kind : near_ones) {
        Method m(*kind, &host);
        ASSERT_EQ(PLI_OK, kind->ops.pattern(m.self, &w.a));
        ASSERT_EQ(PLI_PREPARED_NEAR, kind->ops.prepare(m.self, &w.a));
        struct Both {
            Web *w;
            Method *m;
        } both = { &w, &m };
        PliLinearOp op = {};
        op.self = &both, op.count = 3 * Web::n;
        op.apply = [](void *self, const double *p, double *y) {
            const Both *b = static_cast<Both *>(self);
            b->m->kind->ops.apply(b->m->self, &b->w->a, p, y);
        };
        const Vec b = random_vec(9);
        Vec work(pli_cg_workspace(op.count)), first(b.size(), 0.0), x(b.size(), 0.0);
        const PliIterative def = { 2000, 1e-10 };
        const int plain = pli_cg_solve(&def, &op, b.data(), first.data(), work.data()).iterations;
        op.precondition = [](void *self, const double *r, double *z) {
            const Both *o = static_cast<Both *>(self);
            o->m->kind->ops.solve(o->m->self, &o->w->a, r, z);
        };
        const PliSolveResult r = pli_cg_solve(&def, &op, b.data(), x.data(), work.data());
        EXPECT_TRUE(r.converged) << kind->ops.name;
        EXPECT_LT(2 * r.iterations, plain) << kind->ops.name;
        const Vec back = w.times(x);
        for (size_t i = 0; i < back.size(); ++i) ASSERT_NEAR(back[i], b[i], 1e-7) << kind->ops.name;
    }
}

TEST(Methods, IterationsInRowsSolveWithTethersAndBeginAtTheBestSumOfGuesses)
{
    Web w;
    const PliHost host = pli_host_default();
    Vec b = random_vec(9), d = random_vec(10), work(21 * size_t(Web::n) + 4);
    for (size_t i = 0; i < b.size(); ++i)
        if (w.fixed[i / 3]) b[i] = d[i] = 0.0;
    for (const PliMethodKind *kind : near_ones) {
        SCOPED_TRACE(kind->ops.name);
        Method m(*kind, &host);
        ASSERT_EQ(PLI_OK, kind->ops.pattern(m.self, &w.a));
        ASSERT_EQ(PLI_PREPARED_NEAR, kind->ops.prepare(m.self, &w.a));
        const PliIterative def = { 200, 1e-10 };
        const double *guess[2] = { nullptr, nullptr };
        Vec x(b.size());
        ASSERT_TRUE(kind->iterate(m.self, &w.a, &def, b.data(), guess, x.data(), work.data()).converged);
        Vec ax = w.times(x);
        double u[3] = { 0.0, 0.0, 0.0 };
        const double *q = w.tether_matrix;
        for (size_t k = 0; k < 3; ++k)
            for (size_t c = 0; c < 3; ++c) u[c] += w.tether_weight[k] * x[3 * w.tether_column[k] + c];
        const double f[3] = { q[0] * u[0] + q[5] * u[1] + q[4] * u[2], q[5] * u[0] + q[1] * u[1] + q[3] * u[2],
                              q[4] * u[0] + q[3] * u[1] + q[2] * u[2] };
        for (size_t k = 0; k < 3; ++k)
            for (size_t c = 0; c < 3; ++c)
                if (!w.fixed[w.tether_column[k]]) ax[3 * w.tether_column[k] + c] += w.tether_weight[k] * f[c];
        for (size_t i = 0; i < b.size(); ++i) ax[i] -= b[i];
        EXPECT_LT(std::sqrt(dot(ax, ax)), 1e-9 * std::sqrt(dot(b, b)));
        // 2 (x + d) - (x + 2 d) is x
        Vec one = x, other = x;
        for (size_t i = 0; i < x.size(); ++i) one[i] += d[i], other[i] += 2.0 * d[i];
        guess[0] = one.data(), guess[1] = other.data();
        const PliIterative rough = { 200, 1e-8 };
        EXPECT_EQ(0, kind->iterate(m.self, &w.a, &rough, b.data(), guess, x.data(), work.data()).iterations);
        EXPECT_NEAR(0.0, std::abs(2.0 * one[100] - other[100] - x[100]), 1e-8);
        guess[0] = x.data(), guess[1] = nullptr; // goes on from there
        EXPECT_EQ(0, kind->iterate(m.self, &w.a, &rough, b.data(), guess, x.data(), work.data()).iterations);
    }
}

TEST(Methods, AssembledProductsAreThoseOfTheDenseMatrix)
{
    Web w;
    const PliHost host = pli_host_default();
    for (const PliMethodKind *kind : near_ones) {
        Method m(*kind, &host);
        ASSERT_EQ(PLI_OK, kind->ops.pattern(m.self, &w.a));
        ASSERT_EQ(PLI_PREPARED_NEAR, kind->ops.prepare(m.self, &w.a));
        const Vec p = random_vec(4), expected = w.times(p);
        Vec y(p.size());
        kind->ops.apply(m.self, &w.a, p.data(), y.data());
        for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-11) << kind->ops.name;
    }
}

TEST(Methods, TheSparseFactorSolvesOneAndEight)
{
    Web w;
    w.a.tether_count = 0;
    const PliHost host = pli_host_default();
    Method m(pli_method_sparse, &host);
    ASSERT_EQ(PLI_OK, m.kind->ops.pattern(m.self, &w.a));
    ASSERT_EQ(PLI_PREPARED_EXACT, m.kind->ops.prepare(m.self, &w.a));
    Vec eight(8 * 3 * Web::n), work(eight.size());
    for (size_t k = 0; k < 8; ++k) {
        const Vec b = random_vec(20 + k), back = w.times(m.solve(w.a, b));
        for (size_t i = 0; i < b.size(); ++i) {
            ASSERT_NEAR(back[i], b[i], 1e-10);
            eight[8 * i + k] = b[i];
        }
    }
    m.kind->ops.solve_eight(m.self, &w.a, eight.data(), work.data());
    for (size_t k = 0; k < 8; ++k) {
        const Vec x = m.solve(w.a, random_vec(20 + k));
        for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(eight[8 * i + k], x[i], 1e-12);
    }
}

// Coefficients that are points, hang on several, or are held: c is what solves say, to rounding, for few columns and many.
TEST(Methods, TouchedCoefficientsAnswerAsSolvesSay)
{
    Web w;
    w.a.tether_count = 0;
    const PliHost host = pli_host_default();
    Method m(pli_method_sparse, &host);
    ASSERT_EQ(PLI_OK, m.kind->ops.pattern(m.self, &w.a));
    ASSERT_EQ(PLI_PREPARED_EXACT, m.kind->ops.prepare(m.self, &w.a));
    std::vector<PliIndex> first{ 0 }, column, position(Web::n);
    std::vector<uint8_t> held(Web::n, 0);
    Vec weight;
    for (PliIndex i = 0; i < Web::n; ++i) {
        position[i] = i;
        column.push_back(i), weight.push_back(i % 3 ? 1.0 : 0.6);
        if (i % 3 == 0) column.push_back((i + 90) % Web::n), weight.push_back(0.4);
        first.push_back(PliIndex(column.size()));
    }
    held[20] = 1;
    const PliRows rows = { first.data(), column.data(), weight.data(), Web::n, Web::n };
    for (const PliIndex count : { 1u, 3u, 40u }) {
        std::vector<PliIndex> dof;
        for (PliIndex k = 0; k < count; ++k) dof.push_back((20 + 61 * k) % Web::n);
        const PliTouched touched = { count, dof.data(), rows, position.data(), held.data() };
        const size_t size = 3 * size_t(count);
        Vec c(size * size);
        ASSERT_TRUE(m.kind->ops.condense(m.self, &w.a, &touched, 0.25, c.data()));
        const auto put = [&](size_t k) {
            Vec b(3 * Web::n, 0.0);
            for (PliIndex e = first[dof[k / 3]]; e < first[dof[k / 3] + 1] && !held[dof[k / 3]]; ++e)
                if (!w.fixed[column[e]]) b[3 * column[e] + k % 3] += weight[e];
            return b;
        };
        double largest = 0.0;
        for (size_t k = 0; k < size; ++k) {
            const Vec x = m.solve(w.a, put(k));
            for (size_t j = 0; j < size; ++j) {
                ASSERT_NEAR(c[size * k + j], 0.25 * dot(put(j), x), 1e-13) << count << " " << k << " " << j;
                largest = std::max(largest, c[size * k + j]);
            }
        }
        EXPECT_TRUE(count == 1 ? largest == 0.0 : largest > 1e-3) << count << " " << largest; // the first is held
    }
}

TEST(Methods, StepsOfOnePatternAllocateNothing)
{
    Web w;
    for (const PliMethodKind *kind : { &pli_method_multigrid, &pli_method_incomplete, &pli_method_sparse }) {
        pliant_test::WatchedHost host;
        Method m(*kind, &host.host);
        ASSERT_EQ(PLI_OK, kind->ops.pattern(m.self, &w.a));
        const long calls = host.calls;
        kind->ops.prepare(m.self, &w.a);
        (void)m.solve(w.a, random_vec(3));
        EXPECT_EQ(calls, host.calls) << kind->ops.name;
    }
}

namespace
{

/// Tethers between points far apart, one pair each.
struct Ties {
    std::vector<PliIndex> first, column;
    Vec weight, matrix;
    Ties(PliStepMatrix &a, PliIndex count)
    {
        first.push_back(0);
        for (PliIndex j = 0; j < count; ++j) {
            column.push_back(8 + 8 * j), column.push_back(330 - 8 * j);
            weight.push_back(0.6), weight.push_back(0.4);
            first.push_back(2 * (j + 1));
            for (double q : { 3.0, 4.0, 5.0, 0.5, 0.2, 0.1 }) matrix.push_back(q);
        }
        a.tether_count = count, a.tether_first = first.data(), a.tether_column = column.data();
        a.tether_weight = weight.data(), a.tether_matrix = matrix.data();
    }
    /// dense + the tethers, times p
    Vec times(const Web &w, const Vec &p) const
    {
        Vec y = w.times(p);
        for (PliIndex j = 0; j + 1 < first.size(); ++j) {
            const double *q = matrix.data() + 6 * j;
            const double full[9] = { q[0], q[5], q[4], q[5], q[1], q[3], q[4], q[3], q[2] };
            for (PliIndex e = 2 * j; e < 2 * j + 2; ++e)
                for (PliIndex f = 2 * j; f < 2 * j + 2; ++f)
                    for (size_t k = 0; k < 9; ++k)
                        if (!w.fixed[column[e]] && !w.fixed[column[f]])
                            y[3 * column[e] + k / 3] += weight[e] * weight[f] * full[k] * p[3 * column[f] + k % 3];
        }
        return y;
    }
};

double residual(const Web &w, const Ties &ties, const Method &m)
{
    const Vec b = random_vec(11), x = m.solve(w.a, b), y = ties.times(w, x);
    double off = 0.0;
    for (size_t i = 0; i < b.size(); ++i) off = std::fmax(off, std::fabs(y[i] - b[i]));
    return off;
}

} // namespace

TEST(Methods, TilesMakeRoomForTethersAndGiveItBack)
{
    const PliHost host = pli_host_default();
    Web w;
    w.a.block = 1;
    w.keep_sheets_apart();
    const Method m(pli_method_tiles, &host);
    const auto outgrown = [&] { return m.kind->ops.outgrown(m.self, &w.a); };
    const auto make = [&] {
        ASSERT_EQ(PLI_OK, m.kind->ops.pattern(m.self, &w.a));
        ASSERT_EQ(PLI_PREPARED_EXACT, m.kind->ops.prepare(m.self, &w.a));
    };
    const Ties few(w.a, 2);
    make();
    EXPECT_LT(residual(w, few, m), 1e-9);
    for (int step = 0; step < 20; ++step) EXPECT_FALSE(outgrown()) << "the same tethers need no other pattern";
    const Ties many(w.a, 16);
    EXPECT_TRUE(outgrown()) << "tethers that came have no room";
    make();
    EXPECT_LT(residual(w, many, m), 1e-9);
    const Ties most(w.a, 15);
    for (int step = 0; step < 20; ++step) EXPECT_FALSE(outgrown()) << "one less is not worth a pattern";
    for (int step = 0; step < 20; ++step) { // what presses and lets go again
        const Ties now(w.a, step % 3 ? 2 : 16);
        EXPECT_FALSE(outgrown()) << "step " << step;
    }
    const Ties left(w.a, 2);
    int steps = 1;
    while (!outgrown() && steps < 20) ++steps;
    EXPECT_LE(steps, 6) << "most tethers have gone for good";
    make();
    EXPECT_LT(residual(w, left, m), 1e-9);
    for (int step = 0; step < 20; ++step) EXPECT_FALSE(outgrown());
}
