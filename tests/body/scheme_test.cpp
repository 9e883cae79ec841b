/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// A scheme written against <pliant/scheme.h> alone: forces and solvers of its own, or the library's, against dense matrices.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include <pliant/scheme.h>

#include "support/bodies.h"
#include "support/fixture.h"

using namespace pli_test;

namespace
{

using Vec = std::vector<double>;

/// A cloud of points that pull at each other linearly; some of them follow others.
struct Cloud {
    PliIndex active_count = 24, slave_count = 0, dof_count = 0;
    bool consistent = false, one_way = false;
    int rates = 1;
    double damping = 0.0;
    Vec rest, mass, slave_weight, mass_value, weight;
    std::vector<PliIndex> active, slave, slave_first, slave_column, mass_first, mass_column, first, column;
    std::vector<uint8_t> level;
    Vec k;                       ///< [3 dofs, 3 dofs], df/dx
    std::vector<int> definite;   ///< of every linearize
    int evaluated[2] = { 0, 0 }; ///< of each rate
    double critical = INFINITY;

    void make()
    {
        uint64_t random = 7;
        dof_count = active_count + slave_count;
        rest.resize(3 * dof_count), level.assign(dof_count, 0);
        for (PliIndex i = 0; i < 3 * active_count; ++i) rest[i] = pliant_test::random_in(&random, 0.0, 1.0);
        first.push_back(0), slave_first.push_back(0), mass_first.push_back(0);
        for (PliIndex i = 0; i < active_count; ++i) {
            active.push_back(i), column.push_back(i), weight.push_back(1.0), first.push_back(i + 1);
            mass.push_back(1.0 + 0.5 * pliant_test::random_in(&random, 0.0, 1.0));
        }
        for (PliIndex s = 0; s < slave_count; ++s) {
            slave.push_back(active_count + s);
            for (PliIndex e = 0; e < 3; ++e) {
                const PliIndex to = (5 * s + 7 * e) % active_count;
                const double w = e == 0 ? 0.5 : 0.25;
                slave_column.push_back(to), slave_weight.push_back(w), column.push_back(to), weight.push_back(w);
                for (int c = 0; c < 3; ++c) rest[3 * (active_count + s) + c] += w * rest[3 * to + c];
            }
            slave_first.push_back(3 * (s + 1)), first.push_back((PliIndex)column.size());
        }
        for (PliIndex i = 0; i < active_count; ++i) { // couples every point with the one before and the one behind
            const PliIndex n = active_count, before = (i + n - 1) % n, behind = (i + 1) % n;
            for (PliIndex j : { before, i, behind })
                mass_column.push_back(j), mass_value.push_back(j == i ? mass[i] : 0.1);
            mass_first.push_back(3 * (i + 1));
        }
        k.assign(9 * (size_t)dof_count * dof_count, 0.0);
        for (PliIndex i = 0; i < dof_count; ++i)
            for (PliIndex j = 0; j < i; ++j)
                for (int a = 0; a < 3; ++a)
                    for (int b = 0; b < 3; ++b) {
                        const double *p = &rest[3 * i], *q = &rest[3 * j];
                        const double s = (p[a] - q[a]) * (p[b] - q[b]) * 40.0 + (a == b ? 3.0 : 0.0);
                        at(i, j, a, b) += s, at(j, i, a, b) += s, at(i, i, a, b) -= s, at(j, j, a, b) -= s;
                    }
    }
    double &at(PliIndex i, PliIndex j, int a, int b) { return k[(3 * i + a) * 3 * dof_count + 3 * j + b]; }
    void add_product(const double *u, double factor, double *f) const
    {
        for (size_t i = 0; i < 3 * (size_t)dof_count; ++i)
            for (size_t j = 0; j < 3 * (size_t)dof_count; ++j) f[i] += factor * k[i * 3 * dof_count + j] * u[j];
    }
};

Cloud *cloud(void *self) { return static_cast<Cloud *>(self); }

void add_force(void *self, const double *x, const double *v, double *f)
{
    const Cloud *c = cloud(self);
    Vec u(x, x + 3 * c->dof_count);
    for (size_t i = 0; i < u.size(); ++i) u[i] -= c->rest[i];
    c->add_product(u.data(), 1.0, f);
    if (v) c->add_product(v, c->damping, f);
}

PliForceOps cloud_force()
{
    PliForceOps o = {};
    o.recut = [](void *, const PliCut *, const PliLiveView *) { return PLI_OK; };
    o.retune = [](void *self, const PliBodyDef *def) { cloud(self)->damping = def->material.damping; };
    o.add_force = add_force;
    o.linearize = [](void *self, const double *, bool definite) { cloud(self)->definite.push_back(definite); };
    o.add_dforce = [](void *self, const double *dx, double k, double *df) { cloud(self)->add_product(dx, k, df); };
    o.blocks = [](void *self, PliBlockFn *fn, void *user) {
        Cloud *c = cloud(self);
        for (PliIndex i = 0; i < c->dof_count; ++i)
            for (PliIndex j = 0; j < c->dof_count; ++j) {
                double b[9];
                for (int q = 0; q < 9; ++q) b[q] = c->at(i, j, q / 3, q % 3);
                fn(i, j, b, user);
            }
    };
    o.energy = [](void *self, const double *x) {
        Vec f(3 * cloud(self)->dof_count, 0.0);
        add_force(self, x, nullptr, f.data());
        double e = 0.0;
        for (size_t i = 0; i < f.size(); ++i) e -= 0.5 * f[i] * (x[i] - cloud(self)->rest[i]);
        return e;
    };
    o.critical_step = [](void *self) { return cloud(self)->critical; };
    o.rate_count = [](void *self) { return cloud(self)->rates; };
    o.add_force_at_rate = [](void *self, int rate, const double *x, const double *v, double *f) {
        cloud(self)->evaluated[rate]++;
        Vec g(3 * cloud(self)->dof_count, 0.0); // half of every spring ticks slowly
        add_force(self, x, v, g.data());
        for (size_t i = 0; i < g.size(); ++i) f[i] += 0.5 * g[i];
    };
    return o;
}

PliSchemeOps cloud_ops()
{
    PliSchemeOps o = {};
    o.name = "cloud";
    o.destroy = [](void *, const PliHost *) {};
    o.reset = [](void *) {};
    o.cut = [](void *self, PliCut *cut) {
        const Cloud *c = cloud(self);
        cut->active = c->active.data(), cut->active_count = c->active_count, cut->mass = c->mass.data();
        cut->slave = c->slave.data(), cut->slave_count = c->slave_count, cut->slave_first = c->slave_first.data();
        cut->slave_column = c->slave_column.data(), cut->slave_weight = c->slave_weight.data();
        cut->one_way = c->one_way;
        if (!c->consistent) return;
        cut->mass_first = c->mass_first.data(), cut->mass_column = c->mass_column.data();
        cut->mass_value = c->mass_value.data();
    };
    o.transfer = [](void *self) {
        const Cloud *c = cloud(self);
        return PliRows{ c->first.data(), c->column.data(), c->weight.data(), c->dof_count, c->dof_count };
    };
    o.locate = [](void *, const double *, PliIndex *, double *, PliIndex) -> PliIndex { return 0; };
    return o;
}

const PliForceOps force_ops = cloud_force();
const PliSchemeOps scheme_ops = cloud_ops();

PliSchemeStatic statics_of(Cloud &c)
{
    PliSchemeStatic s = {};
    s.dof_count = c.dof_count, s.rest = c.rest.data(), s.dof_level = c.level.data(), s.level_count = 1;
    s.active_capacity = c.active_count, s.slave_capacity = c.slave_count;
    s.slave_entry_capacity = 3 * c.slave_count, s.mass_entry_capacity = 3 * c.active_count;
    s.force = &force_ops, s.force_self = &c;
    return s;
}

/// Solution of a dense system by elimination with pivots.
Vec dense_solve(Vec a, Vec b)
{
    const size_t n = b.size();
    for (size_t p = 0; p < n; ++p) {
        size_t best = p;
        for (size_t i = p; i < n; ++i)
            if (std::fabs(a[i * n + p]) > std::fabs(a[best * n + p])) best = i;
        for (size_t j = 0; j < n; ++j) std::swap(a[p * n + j], a[best * n + j]);
        std::swap(b[p], b[best]);
        for (size_t i = p + 1; i < n; ++i) {
            const double w = a[i * n + p] / a[p * n + p];
            for (size_t j = p; j < n; ++j) a[i * n + j] -= w * a[p * n + j];
            b[i] -= w * b[p];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; ++j) b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
    return b;
}

// A point that hangs on three coefficients and is held by an uneven spring and damper.
const PliIndex tether_first[2] = { 0, 3 }, tether_dof[3] = { 1, 9, 17 };
const double tether_weight[3] = { 0.5, 0.3, 0.2 }, tether_force[3] = { 1.0, -2.0, 0.5 },
             tether_stiffness[6] = { 300, 200, 100, 20, 10, 30 }, tether_damping[6] = { 3, 2, 4, 0.5, 0.2, 0.1 };

void tether(const double *, const double *, PliPointForces *out, void *)
{
    out->count = 1, out->first = tether_first, out->dof = tether_dof, out->weight = tether_weight;
    out->force = tether_force, out->stiffness = tether_stiffness, out->damping = tether_damping;
}

double symmetric(const double q[6], int a, int b)
{
    static const int place[9] = { 0, 5, 4, 5, 1, 3, 4, 3, 2 };
    return q[place[3 * a + b]];
}

struct Case {
    PliLinearSolver wish;
    PliIndex block;
    bool dense, consistent;
    PliIndex slaves;
};

PliBodyDef definition(PliLinearSolver wish)
{
    PliBodyDef d = pli_body_default();
    d.integrator = PLI_IMPLICIT, d.linear_solver = wish, d.cg_iterations = 2000, d.cg_tolerance = 1e-13;
    d.mass_damping = 0.3, d.rayleigh_stiffness = 0.01, d.material.damping = 0.002;
    return d;
}

/// The velocities an implicit step must end with, with a dense matrix.
Vec expected_velocities(Cloud &c, const State &s, const PliBodyDef &d, const std::vector<PliIndex> &fixed, double h)
{
    const size_t n = 3 * c.active_count, all = 3 * c.dof_count;
    Vec w(all * n, 0.0), wx(all, 0.0), wv(all, 0.0), f(all, 0.0), a(n * n, 0.0), b(n, 0.0);
    for (size_t i = 0; i < c.dof_count; ++i)
        for (PliIndex e = c.first[i]; e < c.first[i + 1]; ++e)
            for (size_t q = 0; q < 3; ++q) w[(3 * i + q) * n + 3 * c.column[e] + q] = c.weight[e];
    for (size_t i = 0; i < all; ++i)
        for (size_t j = 0; j < n; ++j) wx[i] += w[i * n + j] * s.x[j], wv[i] += w[i * n + j] * s.v[j];
    add_force(&c, wx.data(), wv.data(), f.data());
    c.add_product(wv.data(), h + d.rayleigh_stiffness, f.data());
    Vec kw(all * n, 0.0);
    for (size_t i = 0; i < all; ++i)
        for (size_t j = 0; j < n; ++j)
            for (size_t l = 0; l < all; ++l) kw[i * n + j] += c.k[i * all + l] * w[l * n + j];
    const double kf = -h * (h + d.rayleigh_stiffness + d.material.damping), mf = 1.0 + h * d.mass_damping;
    for (size_t i = 0; i < n; ++i)
        for (size_t l = 0; l < all; ++l) {
            b[i] += h * w[l * n + i] * f[l];
            for (size_t j = 0; j < n; ++j) a[i * n + j] += kf * w[l * n + i] * kw[l * n + j];
        }
    for (size_t i = 0; i < c.active_count; ++i)
        for (size_t q = 0; q < 3; ++q) {
            b[3 * i + q] += h * c.mass[i] * d.gravity[q];
            for (PliIndex e = c.mass_first[i]; e < c.mass_first[i + 1]; ++e) {
                const size_t j = c.mass_column[e];
                const double m = c.consistent ? c.mass_value[e] : i == j ? c.mass[i] : 0.0;
                a[(3 * i + q) * n + 3 * j + q] += mf * m;
                b[3 * i + q] -= h * d.mass_damping * m * s.v[3 * j + q];
            }
        }
    double speed[3] = { 0, 0, 0 };
    for (int e = 0; e < 3; ++e)
        for (int q = 0; q < 3; ++q) speed[q] += tether_weight[e] * s.v[3 * tether_dof[e] + q];
    for (size_t e = 0; e < 3; ++e)
        for (int q = 0; q < 3; ++q) {
            const size_t row = 3 * tether_dof[e] + (size_t)q;
            double force = tether_force[q];
            for (int p = 0; p < 3; ++p) force -= h * symmetric(tether_stiffness, q, p) * speed[p];
            b[row] += h * tether_weight[e] * force;
            for (size_t g = 0; g < 3; ++g)
                for (int p = 0; p < 3; ++p)
                    a[row * n + 3 * tether_dof[g] + (size_t)p] +=
                        tether_weight[e] * tether_weight[g] *
                        (h * h * symmetric(tether_stiffness, q, p) + h * symmetric(tether_damping, q, p));
        }
    for (PliIndex i : fixed)
        for (size_t q = 0; q < 3; ++q) {
            for (size_t j = 0; j < n; ++j) a[(3 * i + q) * n + j] = a[j * n + 3 * i + q] = 0.0;
            a[(3 * i + q) * n + 3 * i + q] = 1.0, b[3 * i + q] = 0.0;
        }
    Vec v = dense_solve(a, b);
    for (size_t i = 0; i < n; ++i) v[i] += s.v[i];
    return v;
}

void disturb(State &s, PliIndex active)
{
    uint64_t random = 3;
    for (size_t i = 0; i < 3 * (size_t)active; ++i)
        s.x[i] += 0.1 * pliant_test::random_in(&random, 0.0, 1.0),
            s.v[i] = pliant_test::random_in(&random, 0.0, 1.0) - 0.5;
}

} // namespace

// Every wish, with points in blocks of any size, sparse or dense, lumped or consistent, with and without slaves: one answer.
TEST(Scheme, ImplicitStepsOfEveryMethodSolveTheDenseSystem)
{
    const double h = 0.05;
    for (PliLinearSolver wish :
         { PLI_SOLVE_CG, PLI_SOLVE_LDL, PLI_SOLVE_MINRES, PLI_SOLVE_AUTO, PLI_SOLVE_INCOMPLETE, PLI_SOLVE_MULTIGRID })
        for (PliIndex block : { 0u, 2u, 3u, 4u, 8u })
            for (int kind = 0; kind < 8; ++kind) {
                const Case k = { wish, block, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) ? 6u : 0u };
                SCOPED_TRACE("wish " + std::to_string(wish) + " block " + std::to_string(block) + " kind " +
                             std::to_string(kind));
                Cloud c;
                c.active_count = block == 3 ? 27 : 24, c.slave_count = k.slaves, c.consistent = k.consistent;
                c.make();
                pliant_test::WatchedHost host;
                PliSchemeStatic st = statics_of(c);
                st.block = block, st.dense = k.dense;
                PliError err = {};
                const PliBodyDef d = definition(wish);
                Body b(pli_body_create(&host.host, &d, &scheme_ops, &c, &st, &err));
                ASSERT_TRUE(b) << err.text;
                const std::vector<PliIndex> fixed = { 4, 5 };
                ASSERT_EQ(PLI_OK, pli_body_set_fixed(b.get(), fixed.data(), 2, &err));
                ASSERT_EQ(PLI_OK, pli_body_reserve_points(b.get(), 1, &err));
                State s(b.get());
                disturb(s, c.active_count);
                s.view.points = tether;
                const Vec v = expected_velocities(c, s, d, fixed, h);
                ASSERT_TRUE(pli_body_step(b.get(), &s.view, h).finite);
                double worst = 0.0;
                for (size_t i = 0; i < v.size(); ++i) {
                    ASSERT_TRUE(std::isfinite(s.v[i]));
                    worst = std::fmax(worst, std::fabs(s.v[i] - v[i]));
                }
                EXPECT_LT(worst, 1e-9);
                const long calls = host.calls;
                ASSERT_TRUE(pli_body_step(b.get(), &s.view, h).finite);
                EXPECT_EQ(calls, host.calls) << "a step allocated";
                EXPECT_STREQ("cloud", pli_body_scheme(b.get()));
                EXPECT_TRUE(pli_body_is_tethered(b.get()));
            }
}

// A body that is one block has an exact preconditioner: one iteration, and one more for rounding.
TEST(Scheme, ABlockOfTheWholeBodyIsAnExactPreconditioner)
{
    static const PliIndex dofs[3] = { 1, 3, 6 };
    for (bool consistent : { false, true })
        for (bool clamped : { false, true }) {
            Cloud c;
            c.active_count = PLI_BLOCK_MAX, c.consistent = consistent;
            c.make();
            PliHost host = pli_host_default();
            PliSchemeStatic st = statics_of(c);
            st.block = PLI_BLOCK_MAX;
            PliBodyDef d = definition(PLI_SOLVE_CG);
            d.cg_tolerance = 1e-10;
            Body b(pli_body_create(&host, &d, &scheme_ops, &c, &st, nullptr));
            ASSERT_TRUE(b);
            const PliIndex fixed = 3;
            if (clamped) {
                ASSERT_EQ(PLI_OK, pli_body_set_fixed(b.get(), &fixed, 1, nullptr));
            }
            ASSERT_EQ(PLI_OK, pli_body_reserve_points(b.get(), 1, nullptr));
            State s(b.get());
            disturb(s, c.active_count);
            s.view.points = [](const double *x, const double *v, PliPointForces *out, void *user) {
                tether(x, v, out, user);
                out->dof = dofs;
            };
            const PliStepInfo info = pli_body_step(b.get(), &s.view, 0.05);
            EXPECT_TRUE(info.finite);
            EXPECT_GE(info.cg_iterations, 1);
            EXPECT_LE(info.cg_iterations, 2) << "consistent " << consistent << " clamped " << clamped;
        }
}

namespace
{

/// A solver of the scheme's own: dense, and it says what the test tells it.
struct Own {
    Cloud *c = nullptr;
    PliPrepared says = PLI_PREPARED_EXACT;
    int prepared = 0, solved = 0, patterns = 0, iterations = 0;
    Vec a;
};
Own *own(void *self) { return static_cast<Own *>(self); }

PliLinearOps own_solver(bool notices)
{
    PliLinearOps o = {};
    o.name = "own";
    o.notices = notices;
    o.takes = [](void *, const PliStepMatrix *, PliLinearSolver wish) { return wish == PLI_SOLVE_AUTO; };
    o.pattern = [](void *self, const PliStepMatrix *) { return own(self)->patterns++, PLI_OK; };
    o.prepare = [](void *self, const PliStepMatrix *a) {
        const size_t n = 3 * a->count;
        Own *s = own(self);
        s->prepared++;
        s->a.assign(n * n, 0.0);
        Vec e(n, 0.0), y(n);
        for (size_t j = 0; j < n; ++j) { // by products, which is what everybody can have
            e[j] = 1.0;
            pli_step_matrix_apply(a, e.data(), y.data());
            e[j] = 0.0;
            for (size_t i = 0; i < n; ++i) s->a[i * n + j] = y[i];
        }
        return s->says;
    };
    o.solve = [](void *self, const PliStepMatrix *a, const double *b, double *x) {
        own(self)->solved++;
        const Vec y = dense_solve(own(self)->a, Vec(b, b + 3 * a->count));
        for (size_t i = 0; i < y.size(); ++i) x[i] = y[i];
    };
    o.spent = [](void *self, int iterations) { own(self)->iterations += iterations; };
    return o;
}

} // namespace

TEST(Scheme, OwnSolversAreAskedFirstAndMayBeExactNearOrIndefinite)
{
    struct {
        PliPrepared says;
        bool notices;
        std::vector<int> definite;
        int prepared;
    } const cases[] = { { PLI_PREPARED_EXACT, false, { 1 }, 1 },
                        { PLI_PREPARED_EXACT, true, { 0 }, 1 },
                        { PLI_PREPARED_NEAR, true, { 0 }, 1 },
                        { PLI_PREPARED_INDEFINITE, true, { 0, 1 }, 2 },
                        { PLI_PREPARED_INDEFINITE, false, { 1 }, 1 } };
    for (const auto &k : cases) {
        Cloud c;
        c.make();
        Own mine;
        mine.c = &c, mine.says = k.says;
        const PliLinearOps ops = own_solver(k.notices);
        const PliLinearMethod method = { &ops, &mine };
        PliSchemeStatic st = statics_of(c);
        st.methods = &method, st.method_count = 1;
        PliHost host = pli_host_default();
        const PliBodyDef d = definition(PLI_SOLVE_AUTO);
        Body b(pli_body_create(&host, &d, &scheme_ops, &c, &st, nullptr));
        ASSERT_TRUE(b);
        ASSERT_EQ(PLI_OK, pli_body_reserve_points(b.get(), 1, nullptr));
        State s(b.get());
        disturb(s, c.active_count);
        s.view.points = tether;
        const Vec v = expected_velocities(c, s, d, {}, 0.05);
        const PliStepInfo info = pli_body_step(b.get(), &s.view, 0.05);
        ASSERT_TRUE(info.finite);
        for (size_t i = 0; i < v.size(); ++i) ASSERT_NEAR(s.v[i], v[i], 1e-9);
        EXPECT_EQ(k.definite, c.definite);
        EXPECT_EQ(k.prepared, mine.prepared);
        EXPECT_EQ(1, mine.patterns);
        EXPECT_GT(mine.solved, 0);
        EXPECT_EQ(k.says == PLI_PREPARED_NEAR ? info.cg_iterations : 0, mine.iterations);
        mine.says = PLI_PREPARED_FAILED;
        EXPECT_FALSE(pli_body_step(b.get(), &s.view, 0.05).finite);
    }
}

TEST(Scheme, AccelerationIsForceOverMassAndNothingWithoutMass)
{
    Cloud c;
    c.make();
    c.mass[5] = 0.0;
    const PliSchemeStatic st = statics_of(c);
    PliHost host = pli_host_default();
    const PliBodyDef d = definition(PLI_SOLVE_CG);
    Body b(pli_body_create(&host, &d, &scheme_ops, &c, &st, nullptr));
    ASSERT_TRUE(b);
    const Vec f(3 * c.dof_count, 2.0);
    Vec a(3 * c.dof_count, NAN);
    pli_body_acceleration(b.get(), f.data(), a.data());
    for (PliIndex i = 0; i < c.dof_count; ++i) EXPECT_DOUBLE_EQ(i == 5 ? 0.0 : 2.0 / c.mass[i], a[3 * i + 1]);
}

TEST(Scheme, RatesTickAtTheirOwnPaceAndKeepMomentum)
{
    Cloud c;
    c.make();
    c.rates = 2, c.critical = 0.01;
    PliHost host = pli_host_default();
    PliBodyDef d = pli_body_default();
    d.gravity[1] = 0.0, d.courant = 1.0;
    const PliSchemeStatic st = statics_of(c);
    Body b(pli_body_create(&host, &d, &scheme_ops, &c, &st, nullptr));
    ASSERT_TRUE(b);
    State s(b.get());
    disturb(s, c.active_count);
    const PliEnergy before = pli_body_energy(b.get(), s.x.data(), s.v.data());
    EXPECT_EQ(6, pli_body_step(b.get(), &s.view, 0.045).substeps) << "5 rounded up to whole rounds";
    EXPECT_EQ(6, c.evaluated[0]);
    EXPECT_EQ(3, c.evaluated[1]);
    const PliEnergy after = pli_body_energy(b.get(), s.x.data(), s.v.data());
    for (int q = 0; q < 3; ++q) EXPECT_NEAR(after.momentum[q], before.momentum[q], 1e-12);
    EXPECT_NEAR(after.elastic + after.kinetic, before.elastic + before.kinetic, 0.2 * before.elastic);
}

// What pulls at slaves pulls at what carries them, unless the cut says that it is lost.
TEST(Scheme, OneWaySlavesLoseTheirForces)
{
    for (bool one_way : { false, true }) {
        Cloud c;
        c.slave_count = 6, c.one_way = one_way;
        c.make();
        PliHost host = pli_host_default();
        const PliBodyDef d = pli_body_default();
        const PliSchemeStatic st = statics_of(c);
        Body b(pli_body_create(&host, &d, &scheme_ops, &c, &st, nullptr));
        ASSERT_TRUE(b);
        State s(b.get());
        disturb(s, c.active_count);
        Vec f(s.x.size(), 0.0);
        pli_body_add_force(b.get(), s.x.data(), nullptr, f.data());
        double sum[3] = { 0, 0, 0 }, size = 0.0;
        for (size_t i = 0; i < f.size(); ++i) sum[i % 3] += f[i], size += std::fabs(f[i]);
        const double lost = std::sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        if (one_way)
            EXPECT_GT(lost, 1e-3 * size);
        else
            EXPECT_LT(lost, 1e-12 * size);
    }
}

// A scheme that only names its tetrahedra gets the library's forces: those of plain finite elements.
TEST(Scheme, DefaultForcesNeedNoMoreThanTetrahedra)
{
    Mesh mesh = box(2, 2, 2, 1, 1, 1, 0.2);
    struct Tets {
        std::vector<PliIndex> all, element, first;
        Vec mass, volume, one;
    } t;
    for (PliIndex i = 0; i < mesh->point_count; ++i) t.all.push_back(i);
    for (PliIndex i = 0; i < mesh->tet_count; ++i) t.element.push_back(i);
    PliHost host = pli_host_default();
    PliFemDef fem = pli_fem_default();
    fem.mesh = mesh.get();
    Body plain(pli_fem_create(&host, &fem, nullptr));
    ASSERT_TRUE(plain);
    const PliLiveView live = pli_body_live(plain.get());
    t.mass.assign(live.mass, live.mass + live.active_count);
    for (PliIndex e = 0; e < mesh->tet_count; ++e) {
        double m[9];
        for (int k = 0; k < 9; ++k)
            m[k] = mesh->x[3 * mesh->tets[4 * e + 1 + (PliIndex)k / 3] + (PliIndex)k % 3] -
                   mesh->x[3 * mesh->tets[4 * e] + (PliIndex)k % 3];
        t.volume.push_back(std::fabs(m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                                     m[2] * (m[3] * m[7] - m[4] * m[6])) /
                           6.0);
    }
    PliSchemeOps ops = scheme_ops;
    ops.cut = [](void *self, PliCut *cut) {
        const Tets *s = static_cast<Tets *>(self);
        cut->active = s->all.data(), cut->active_count = (PliIndex)s->all.size(), cut->mass = s->mass.data();
        cut->element = s->element.data(), cut->element_count = (PliIndex)s->element.size();
        cut->volume = s->volume.data();
    };
    const std::vector<uint8_t> level(mesh->point_count, 0);
    PliSchemeStatic st = {};
    st.dof_count = st.active_capacity = mesh->point_count, st.rest = mesh->x, st.dof_level = level.data();
    st.level_count = 1, st.tets = mesh->tets, st.tet_count = st.element_capacity = mesh->tet_count;
    const PliBodyDef d = pli_body_default();
    Body b(pli_body_create(&host, &d, &ops, &t, &st, nullptr));
    ASSERT_TRUE(b);
    State s(b.get());
    disturb(s, mesh->point_count);
    Vec f(s.x.size(), 0.0), g(s.x.size(), 0.0);
    pli_body_add_force(b.get(), s.x.data(), nullptr, f.data());
    pli_body_add_force(plain.get(), s.x.data(), nullptr, g.data());
    double size = 0.0;
    for (double value : g) size = std::fmax(size, std::fabs(value));
    ASSERT_GT(size, 1.0);
    for (size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(f[i], g[i], 1e-12 * size);
    // flat ones are refused with their number
    Vec flat(mesh->x, mesh->x + 3 * mesh->point_count);
    for (size_t i = 0; i < flat.size(); i += 3) flat[i] = 0.0;
    st.rest = flat.data();
    PliError err = {};
    EXPECT_FALSE(Body(pli_body_create(&host, &d, &ops, &t, &st, &err)));
    EXPECT_NE(nullptr, std::strstr(err.text, "tetrahedron 0 is flat")) << err.text;
}

TEST(Scheme, BlocksThatAreTooLargeAreRefused)
{
    Cloud c;
    c.make();
    PliSchemeStatic st = statics_of(c);
    st.block = PLI_BLOCK_MAX + 1;
    PliHost host = pli_host_default();
    const PliBodyDef d = pli_body_default();
    PliError err = {};
    EXPECT_FALSE(Body(pli_body_create(&host, &d, &scheme_ops, &c, &st, &err)));
    EXPECT_NE(nullptr, std::strstr(err.text, "9")) << err.text;
}
