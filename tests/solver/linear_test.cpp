/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Iterative and direct solvers against dense matrices whose spectrum is known by construction.
extern "C" {
#include "base/hash.h"
#include "solver/linear.h"
}

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace
{

using Vec = std::vector<double>;

Vec random_vec(size_t n, uint64_t seed)
{
    Vec r(n);
    for (double &c : r) c = 2.0 * pli_random_unit(&seed) - 1.0;
    return r;
}
double norm(const Vec &a)
{
    double s = 0.0;
    for (double c : a) s += c * c;
    return std::sqrt(s);
}

struct Dense {
    size_t n;
    Vec a;
    Vec times(const Vec &x) const
    {
        Vec y(n, 0.0);
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j) y[i] += a[i * n + j] * x[j];
        return y;
    }
};

/// Q diag(value) Q^T, Q a product of random reflections: the eigenvalues are exactly known.
Dense with_spectrum(const Vec &value, uint64_t seed)
{
    size_t n = value.size();
    Dense m = { n, Vec(n * n, 0.0) };
    for (size_t i = 0; i < n; ++i) m.a[i * n + i] = value[i];
    for (int k = 0; k < 4; ++k) {
        Vec u = random_vec(n, seed + k);
        double size = norm(u);
        for (double &c : u) c /= size;
        for (int side = 0; side < 2; ++side) // H A, then (H A^T)^T
            for (size_t j = 0; j < n; ++j) {
                auto at = [&](size_t i) -> double & { return side ? m.a[j * n + i] : m.a[i * n + j]; };
                double s = 0.0;
                for (size_t i = 0; i < n; ++i) s += u[i] * at(i);
                for (size_t i = 0; i < n; ++i) at(i) -= 2.0 * s * u[i];
            }
    }
    return m;
}

/// Gaussian elimination with partial pivoting: the oracle.
Vec dense_solve(Dense m, Vec b)
{
    size_t n = m.n;
    for (size_t k = 0; k < n; ++k) {
        size_t p = k;
        for (size_t i = k; i < n; ++i)
            if (std::abs(m.a[i * n + k]) > std::abs(m.a[p * n + k])) p = i;
        for (size_t j = 0; j < n; ++j) std::swap(m.a[k * n + j], m.a[p * n + j]);
        std::swap(b[k], b[p]);
        for (size_t i = k + 1; i < n; ++i) {
            double f = m.a[i * n + k] / m.a[k * n + k];
            for (size_t j = k; j < n; ++j) m.a[i * n + j] -= f * m.a[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; ++j) b[k] -= m.a[k * n + j] * b[j];
        b[k] /= m.a[k * n + k];
    }
    return b;
}

struct Operator {
    Dense m;
    int applied = 0;
    PliLinearOp op(bool jacobi)
    {
        PliLinearOp r = {};
        r.self = this, r.count = PliIndex(m.n);
        r.apply = [](void *self, const double *x, double *y) {
            auto *o = static_cast<Operator *>(self);
            Vec p = o->m.times(Vec(x, x + o->m.n));
            std::copy(p.begin(), p.end(), y);
            o->applied++;
        };
        if (jacobi)
            r.precondition = [](void *self, const double *x, double *y) {
                auto *o = static_cast<Operator *>(self);
                for (size_t i = 0; i < o->m.n; ++i) y[i] = x[i] / std::abs(o->m.a[i * o->m.n + i]);
            };
        return r;
    }
};

double relative_error(const Vec &x, const Vec &exact)
{
    Vec d = x;
    for (size_t i = 0; i < d.size(); ++i) d[i] -= exact[i];
    return norm(d) / norm(exact);
}

Vec spectrum(size_t n, double low, double high, size_t negative = 0)
{
    Vec v(n);
    for (size_t i = 0; i < n; ++i)
        v[i] = low * std::pow(high / low, double(i) / double(n - 1)) * (i < negative ? -1.0 : 1.0);
    return v;
}

TEST(Dot, EqualsTheSumAndHasOneOrder)
{
    for (PliIndex n : { 0u, 1u, 7u, 8u, 9u, 2047u, 2048u, 2049u, 10000u }) {
        Vec a = random_vec(n, 1), b = random_vec(n, 2);
        long double exact = 0.0;
        for (PliIndex i = 0; i < n; ++i) exact += (long double)a[i] * b[i];
        EXPECT_NEAR(pli_dot(n, a.data(), b.data()), double(exact), 1e-12) << n;
    }
}

TEST(ConjugateGradients, SolvesPositiveDefiniteSystems)
{
    for (size_t n : { 1u, 2u, 30u, 90u })
        for (bool jacobi : { false, true }) {
            Operator a = { with_spectrum(n > 1 ? spectrum(n, 0.1, 100.0) : Vec{ 3.0 }, n) };
            Vec b = random_vec(n, 5), x(n, 0.0), work(pli_cg_workspace(PliIndex(n)));
            PliLinearOp op = a.op(jacobi);
            PliIterative def = { 400, 1e-12 };
            PliSolveResult r = pli_cg_solve(&def, &op, b.data(), x.data(), work.data());
            EXPECT_TRUE(r.converged);
            EXPECT_LE(r.residual, 1e-12);
            EXPECT_LT(relative_error(x, dense_solve(a.m, b)), 1e-9) << n;
        }
}

TEST(ConjugateGradients, ThreeEigenvaluesNeedThreeSteps)
{
    Vec value(60);
    for (size_t i = 0; i < 60; ++i) value[i] = double(1 + i % 3);
    Operator a = { with_spectrum(value, 3) };
    Vec b = random_vec(60, 5), x(60, 0.0), work(pli_cg_workspace(60));
    PliLinearOp op = a.op(false);
    PliIterative def = { 100, 1e-10 };
    PliSolveResult r = pli_cg_solve(&def, &op, b.data(), x.data(), work.data());
    EXPECT_TRUE(r.converged);
    EXPECT_EQ(r.iterations, 3);
}

TEST(ConjugateGradients, StartsFromTheGuessAndStopsAtTheLimit)
{
    Operator a = { with_spectrum(spectrum(50, 0.01, 100.0), 3) };
    Vec b = random_vec(50, 5), x = dense_solve(a.m, b), work(pli_cg_workspace(50));
    PliLinearOp op = a.op(false);
    PliIterative def = { 100, 1e-9 };
    EXPECT_EQ(pli_cg_solve(&def, &op, b.data(), x.data(), work.data()).iterations, 0);
    Vec zero(50, 0.0);
    EXPECT_TRUE(pli_cg_solve(&def, &op, zero.data(), x.data(), work.data()).converged);
    EXPECT_EQ(norm(x), 0.0);
    def.max_iterations = 5;
    PliSolveResult r = pli_cg_solve(&def, &op, b.data(), x.data(), work.data());
    EXPECT_EQ(r.iterations, 5);
    EXPECT_FALSE(r.converged);
    Vec left = a.m.times(x);
    for (size_t i = 0; i < 50; ++i) left[i] -= b[i];
    EXPECT_NEAR(norm(left) / norm(b), r.residual, 1e-10);
}

// A guess may be anything: what is taken of it is never farther off than nothing, and the residual is that of the right-hand side.
TEST(ConjugateGradients, TakesOfAGuessWhatHelps)
{
    Operator a = { with_spectrum(spectrum(50, 0.01, 100.0), 3) };
    const Vec b = random_vec(50, 5), exact = dense_solve(a.m, b);
    Vec x(50, 7.0), work(pli_cg_workspace(50)), guess = exact;
    PliLinearOp op = a.op(false);
    PliIterative def = { 400, 1e-9 };
    for (double &g : guess) g *= -17.0;
    EXPECT_EQ(pli_cg_solve_near(&def, &op, b.data(), guess.data(), x.data(), work.data()).iterations, 0);
    EXPECT_LT(relative_error(x, exact), 1e-8);
    const PliIterative none = { 0, 1e-9 };
    for (unsigned seed : { 8u, 9u, 10u }) {
        guess = random_vec(50, seed);
        for (double &g : guess) g *= 1e6;
        pli_cg_solve_near(&none, &op, b.data(), guess.data(), x.data(), work.data());
        Vec error = exact;
        for (size_t i = 0; i < 50; ++i) error[i] -= x[i];
        const Vec of_error = a.m.times(error);
        double with = 0.0, without = 0.0;
        for (size_t i = 0; i < 50; ++i) with += error[i] * of_error[i], without += exact[i] * b[i];
        EXPECT_LE(with, without * (1 + 1e-12));
        const PliSolveResult r = pli_cg_solve_near(&def, &op, b.data(), guess.data(), x.data(), work.data());
        EXPECT_TRUE(r.converged);
        EXPECT_LT(relative_error(x, exact), 1e-6);
    }
    const Vec zero(50, 0.0);
    for (const double *from : { (const double *)nullptr, zero.data() }) {
        Vec plain(50, 0.0), again(pli_cg_workspace(50));
        std::fill(x.begin(), x.end(), 7.0);
        const int taken = pli_cg_solve_near(&def, &op, b.data(), from, x.data(), work.data()).iterations;
        EXPECT_EQ(taken, pli_cg_solve(&def, &op, b.data(), plain.data(), again.data()).iterations);
        EXPECT_EQ(x, plain) << "from nothing";
    }
}

TEST(ConjugateGradients, ReportsAnIndefiniteMatrix)
{
    Operator a = { with_spectrum(spectrum(40, 1.0, 10.0, 20), 3) };
    Vec b = random_vec(40, 5), x(40, 0.0), work(pli_cg_workspace(40));
    PliLinearOp op = a.op(false);
    PliIterative def = { 1000, 1e-12 };
    PliSolveResult r = pli_cg_solve(&def, &op, b.data(), x.data(), work.data());
    EXPECT_TRUE(std::isfinite(r.residual));
    EXPECT_LT(r.iterations, 1000);
    b[3] = NAN;
    EXPECT_FALSE(pli_cg_solve(&def, &op, b.data(), x.data(), work.data()).converged);
}

TEST(Minres, SolvesIndefiniteSystems)
{
    for (size_t n : { 1u, 2u, 30u, 90u })
        for (size_t negative : { size_t(0), n / 3, n })
            for (bool jacobi : { false, true }) {
                Operator a = { with_spectrum(n > 1 ? spectrum(n, 0.2, 50.0, negative) : Vec{ negative ? -3.0 : 3.0 },
                                             n) };
                Vec b = random_vec(n, 5), x = random_vec(n, 6), work(pli_minres_workspace(PliIndex(n)));
                PliLinearOp op = a.op(jacobi);
                PliIterative def = { 1500, 1e-11 };
                PliSolveResult r = pli_minres_solve(&def, &op, b.data(), x.data(), work.data());
                EXPECT_TRUE(r.converged) << n << " " << negative << " residual " << r.residual;
                EXPECT_LT(relative_error(x, dense_solve(a.m, b)), 1e-8) << n;
                // the residual reported is the true one
                Vec left = a.m.times(x);
                for (size_t i = 0; i < n; ++i) left[i] -= b[i];
                EXPECT_NEAR(norm(left) / norm(b), r.residual, 1e-12);
            }
}

TEST(Minres, ResidualNeverGrowsAndSpectrumBoundsTheSteps)
{
    Vec value(60);
    for (size_t i = 0; i < 60; ++i) value[i] = double(1 + i % 2) * (i % 4 < 2 ? 1.0 : -1.0); // -2 -1 1 2
    Operator a = { with_spectrum(value, 3) };
    Vec b = random_vec(60, 5);
    PliLinearOp op = a.op(false);
    double last = 1.0;
    for (int most = 1; most <= 4; ++most) {
        Vec x(60, 0.0), work(pli_minres_workspace(60));
        PliIterative def = { most, 1e-10 };
        PliSolveResult r = pli_minres_solve(&def, &op, b.data(), x.data(), work.data());
        EXPECT_LE(r.residual, last * (1 + 1e-12));
        last = r.residual;
        EXPECT_EQ(r.converged, most == 4);
    }
}

/// A singular but consistent system: the constraint rows are repeated.
TEST(Minres, SolvesAConsistentSingularSystem)
{
    Vec value = spectrum(40, 0.5, 20.0, 10);
    value[20] = value[30] = 0.0;
    Operator a = { with_spectrum(value, 8) };
    Vec b = a.m.times(random_vec(40, 5)), x(40, 0.0), work(pli_minres_workspace(40));
    PliLinearOp op = a.op(false);
    PliIterative def = { 400, 1e-10 };
    PliSolveResult r = pli_minres_solve(&def, &op, b.data(), x.data(), work.data());
    EXPECT_TRUE(r.converged) << r.residual;
}

// ---- blocks --------------------------------------------------------------------------------------------------------------

struct Counter {
    int calls = 0;
};
void *counting_alloc(size_t bytes, size_t align, void *user)
{
    static_cast<Counter *>(user)->calls++;
    return std::aligned_alloc(align, (bytes + align - 1) / align * align);
}
void counting_release(void *block, size_t, void *user)
{
    static_cast<Counter *>(user)->calls++;
    std::free(block);
}

using Matrix = std::unique_ptr<PliBlockMatrix, void (*)(PliBlockMatrix *)>;
using Blocks = std::map<std::pair<PliIndex, PliIndex>, std::array<double, 9>>;

/// Random symmetric sparse blocks: a ring plus chords; diagonal blocks are shifted by `shift` (per block row).
Blocks random_blocks(PliIndex n, const Vec &shift, uint64_t seed)
{
    Blocks m;
    auto put = [&](PliIndex r, PliIndex c) {
        std::array<double, 9> k, t;
        Vec v = random_vec(9, pli_random(&seed));
        for (int i = 0; i < 9; ++i) k[i] = v[i];
        for (int i = 0; i < 9; ++i) t[i] = k[3 * (i % 3) + i / 3];
        if (r == c)
            for (int i = 0; i < 9; ++i) k[i] = t[i] = 0.5 * (k[i] + t[i]);
        m[{ r, c }] = k, m[{ c, r }] = t;
    };
    for (PliIndex r = 0; r < n; ++r) {
        put(r, r);
        for (int i = 0; i < 3; ++i) m[{ r, r }][4 * i] += shift[r];
        if (n > 1) put(r, (r + 1) % n);
        if (n > 3)
            put(r, PliIndex(pli_random(&seed) % n == r ? (r + 2) % n : (r + 1 + pli_random(&seed) % (n - 1)) % n));
    }
    return m;
}

Dense dense_of(const Blocks &b, PliIndex n)
{
    Dense m = { 3 * size_t(n), Vec(9 * size_t(n) * n, 0.0) };
    for (auto &e : b)
        for (int i = 0; i < 9; ++i) m.a[(3 * e.first.first + i / 3) * m.n + 3 * e.first.second + i % 3] = e.second[i];
    return m;
}

void build(PliBlockMatrix *m, const Blocks &b, PliIndex n)
{
    PliError err = {};
    ASSERT_EQ(PLI_OK, pli_block_matrix_begin(m, n));
    for (int repeat = 0; repeat < 2; ++repeat)
        for (auto &e : b) ASSERT_EQ(PLI_OK, pli_block_matrix_push(m, e.first.first, e.first.second));
    ASSERT_EQ(PLI_OK, pli_block_matrix_seal(m, &err)) << err.text;
}
void fill(PliBlockMatrix *m, const Blocks &b)
{
    pli_block_matrix_zero(m);
    for (auto &e : b) {
        std::array<double, 9> half;
        for (int i = 0; i < 9; ++i) half[i] = 0.5 * e.second[i];
        pli_block_matrix_add(m, e.first.first, e.first.second, half.data());
        pli_block_matrix_add(m, e.first.first, e.first.second, half.data());
    }
}

Matrix make_matrix(const PliHost *host = nullptr)
{
    PliHost own = pli_host_default();
    return Matrix(pli_block_matrix_create(host ? host : &own), pli_block_matrix_destroy);
}

TEST(BlockMatrix, ProductAndSolveEqualDense)
{
    for (PliIndex n : { 1u, 2u, 3u, 10u, 60u }) {
        Matrix m = make_matrix();
        // alternate shifts: strongly indefinite, yet diagonally dominant, so that no pivot is small
        for (bool indefinite : { false, true }) {
            Vec shift(n);
            PliIndex negative = 0;
            for (PliIndex r = 0; r < n; ++r) {
                shift[r] = indefinite && r % 3 == 1 ? -25.0 : 25.0;
                if (shift[r] < 0.0) negative += 3;
            }
            Blocks b = random_blocks(n, shift, n);
            Dense d = dense_of(b, n);
            build(m.get(), b, n);
            fill(m.get(), b);
            Vec x = random_vec(3 * n, 7), y(3 * n);
            pli_block_matrix_apply(m.get(), x.data(), y.data());
            EXPECT_LT(relative_error(y, d.times(x)), 1e-14);
            PliError err = {};
            ASSERT_EQ(PLI_OK, pli_block_matrix_factor(m.get(), &err)) << err.text;
            Vec z(3 * n);
            pli_block_matrix_solve(m.get(), y.data(), z.data());
            EXPECT_LT(relative_error(z, x), 1e-12);
            // Sylvester: as many negative pivots as negative eigenvalues, which Gershgorin's discs separate here
            EXPECT_EQ(negative, pli_block_matrix_negative_pivots(m.get()));
        }
    }
}

// [H B^T; B -e I]: quasi-definite, so every order has a factor; pivots tell constraints from unknowns.
TEST(BlockMatrix, SolvesKktSystems)
{
    const PliIndex unknowns = 24, constraints = 6, n = unknowns + constraints;
    Vec shift(n, 30.0);
    for (PliIndex r = unknowns; r < n; ++r) shift[r] = 0.0;
    Blocks b = random_blocks(n, shift, 4);
    for (auto &e : b)
        if (e.first.first >= unknowns && e.first.second >= unknowns)
            for (int i = 0; i < 9; ++i) e.second[i] = e.first.first == e.first.second && i % 4 == 0 ? -1e-3 : 0.0;
    Matrix m = make_matrix();
    build(m.get(), b, n);
    fill(m.get(), b);
    PliError err = {};
    ASSERT_EQ(PLI_OK, pli_block_matrix_factor(m.get(), &err)) << err.text;
    EXPECT_EQ(3 * constraints, pli_block_matrix_negative_pivots(m.get()));
    Vec right = random_vec(3 * n, 3), x(3 * n);
    pli_block_matrix_solve(m.get(), right.data(), x.data());
    Vec exact = dense_solve(dense_of(b, n), right);
    EXPECT_LT(relative_error(x, exact), 1e-9);
    // MINRES on the same matrix
    PliLinearOp op = { [](void *self, const double *p, double *y) {
                          pli_block_matrix_apply(static_cast<PliBlockMatrix *>(self), p, y);
                      },
                       nullptr, m.get(), 3 * n };
    PliIterative def = { 2000, 1e-11 };
    Vec z(3 * n, 0.0), work(pli_minres_workspace(3 * n));
    EXPECT_TRUE(pli_minres_solve(&def, &op, right.data(), z.data(), work.data()).converged);
    EXPECT_LT(relative_error(z, exact), 1e-6);
}

TEST(BlockMatrix, FixedRowsAreIdentity)
{
    const PliIndex n = 12;
    Blocks b = random_blocks(n, Vec(n, 25.0), 4);
    Matrix m = make_matrix();
    build(m.get(), b, n);
    fill(m.get(), b);
    pli_block_matrix_add_diagonal(m.get(), 2, 1.5);
    pli_block_matrix_fix(m.get(), 5);
    Dense d = dense_of(b, n);
    for (int i = 0; i < 3; ++i) {
        d.a[(6 + i) * d.n + 6 + i] += 1.5;
        for (size_t k = 0; k < d.n; ++k) d.a[(15 + i) * d.n + k] = d.a[k * d.n + 15 + i] = 0.0;
        d.a[(15 + i) * d.n + 15 + i] = 1.0;
    }
    Vec x = random_vec(3 * n, 7), y(3 * n), z(3 * n);
    pli_block_matrix_apply(m.get(), x.data(), y.data());
    EXPECT_LT(relative_error(y, d.times(x)), 1e-14);
    ASSERT_EQ(PLI_OK, pli_block_matrix_factor(m.get(), nullptr));
    pli_block_matrix_solve(m.get(), x.data(), z.data());
    EXPECT_LT(relative_error(z, dense_solve(d, x)), 1e-12);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(z[15 + i], x[15 + i]);
}

TEST(BlockMatrix, NumericPhaseNeverAllocates)
{
    Counter counter;
    PliHost host = pli_host_default();
    host.alloc = counting_alloc, host.release = counting_release, host.user = &counter;
    const PliIndex n = 40;
    Blocks b = random_blocks(n, Vec(n, 25.0), 4);
    {
        Matrix m = make_matrix(&host);
        build(m.get(), b, n);
        int before = counter.calls;
        Vec x = random_vec(3 * n, 7), first(3 * n), again(3 * n);
        for (int repeat = 0; repeat < 3; ++repeat) {
            fill(m.get(), b);
            ASSERT_EQ(PLI_OK, pli_block_matrix_factor(m.get(), nullptr));
            pli_block_matrix_solve(m.get(), x.data(), again.data());
            if (repeat == 0) first = again;
            EXPECT_EQ(0, std::memcmp(first.data(), again.data(), first.size() * sizeof(double)));
        }
        EXPECT_EQ(before, counter.calls);
        // a second, smaller pattern fits in what is there
        Blocks smaller = random_blocks(30, Vec(30, 25.0), 5);
        build(m.get(), smaller, 30);
        EXPECT_EQ(before, counter.calls);
    }
}

TEST(BlockMatrix, RefusesWhatItCannotDo)
{
    Matrix m = make_matrix();
    PliError err = {};
    ASSERT_EQ(PLI_OK, pli_block_matrix_begin(m.get(), 2));
    EXPECT_EQ(PLI_BAD_ARGUMENT, pli_block_matrix_push(m.get(), 2, 0));
    EXPECT_EQ(PLI_BAD_ARGUMENT, pli_block_matrix_factor(m.get(), &err));
    ASSERT_EQ(PLI_OK, pli_block_matrix_seal(m.get(), &err));
    EXPECT_EQ(PLI_DIVERGED, pli_block_matrix_factor(m.get(), &err)) << "a zero matrix has no factor";
    EXPECT_NE(std::string::npos, std::string(err.text).find("pivot 0"));
    pli_block_matrix_add_diagonal(m.get(), 0, 1.0);
    pli_block_matrix_add_diagonal(m.get(), 1, NAN);
    EXPECT_EQ(PLI_DIVERGED, pli_block_matrix_factor(m.get(), &err));
    ASSERT_EQ(PLI_OK, pli_block_matrix_begin(m.get(), 0));
    EXPECT_EQ(PLI_OK, pli_block_matrix_seal(m.get(), &err));
    EXPECT_EQ(PLI_OK, pli_block_matrix_factor(m.get(), &err));
}

} // namespace
