/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Laws of the common body, on uniform FEM: conservation, consistency of stages, allocation, determinism, contact.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "support/bodies.h"
#include "support/fixture.h"
#include "support/fold.h"

using namespace pli_test;

namespace
{

Body fem(const PliMesh *mesh, const PliBodyDef &base, const PliHost *host = nullptr)
{
    PliHost fallback = pli_host_default();
    PliFemDef def = pli_fem_default();
    def.base = base;
    def.mesh = mesh;
    PliError err = {};
    Body body(pli_fem_create(host ? host : &fallback, &def, &err));
    EXPECT_TRUE(body) << err.text;
    return body;
}

PliBodyDef quiet()
{
    PliBodyDef d = pli_body_default();
    d.gravity[1] = 0.0;
    return d;
}

void spin(State &s, double rate)
{
    for (size_t i = 0; i < s.x.size(); i += 3) {
        s.v[i] = -rate * (s.x[i + 1] - 0.5) + 0.3;
        s.v[i + 1] = rate * (s.x[i] - 0.5);
        s.v[i + 2] = 0.5 * std::sin(3.0 * s.x[i]);
    }
}

std::vector<PliIndex> nodes_at_x(const PliBody *b, double at)
{
    std::vector<PliIndex> out;
    for (PliIndex i = 0; i < pli_body_dof_count(b); ++i)
        if (std::fabs(pli_body_rest(b)[3 * i] - at) < 1e-9) out.push_back(i);
    return out;
}

} // namespace

TEST(Body, FreeBodyKeepsMomentum)
{
    Mesh mesh = box(4, 4, 4, 1, 1, 1, 0.2);
    for (bool multirate : { false, true }) {
        PliBodyDef d = quiet();
        d.multirate = multirate ? PLI_RATES_OWN : PLI_RATES_ONE;
        Body b = fem(mesh.get(), d);
        State s(b.get());
        spin(s, 2.0);
        const PliEnergy before = pli_body_energy(b.get(), s.x.data(), s.v.data());
        for (int i = 0; i < 50; ++i) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        const PliEnergy after = pli_body_energy(b.get(), s.x.data(), s.v.data());
        for (int k = 0; k < 3; ++k) {
            EXPECT_NEAR(after.momentum[k], before.momentum[k], 1e-10 * before.mass);
            EXPECT_NEAR(after.angular[k], before.angular[k], 1e-10 * before.mass);
        }
        // it moves and it deforms: the conservation above is not that of a body at rest
        EXPECT_GT(after.elastic, 1e-3 * before.kinetic);
        EXPECT_NEAR(after.elastic + after.kinetic, before.elastic + before.kinetic, 0.01 * before.kinetic);
    }
}

// What iterations begin with and what preconditions them is of earlier steps: a reset forgets both, and threads do not change them.
TEST(Body, AResetImplicitBodyRunsAsANewOne)
{
    Mesh mesh = box(9, 8, 8, 1, 1, 1, 0.2);
    for (PliLinearSolver solver : { PLI_SOLVE_CG, PLI_SOLVE_INCOMPLETE, PLI_SOLVE_MULTIGRID, PLI_SOLVE_AUTO }) {
        std::vector<uint64_t> hash;
        for (int workers : { 1, 3 })
            for (bool used : { false, true }) {
                PliHost host = pli_host_default();
                PliPool *pool = pli_pool_create(workers);
                ASSERT_TRUE(pool);
                pli_pool_lend(pool, &host);
                {
                    PliBodyDef d = pli_body_default();
                    d.integrator = PLI_IMPLICIT, d.linear_solver = solver, d.material.law = PLI_COROT;
                    Body b = fem(mesh.get(), d, &host);
                    const auto fixed = nodes_at_x(b.get(), 0.0);
                    ASSERT_EQ(pli_body_set_fixed(b.get(), fixed.data(), (PliIndex)fixed.size(), nullptr), PLI_OK);
                    State s(b.get());
                    if (used) {
                        spin(s, 3.0);
                        for (int i = 0; i < 4; ++i) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.02).finite);
                        pli_body_reset(b.get(), &s.view);
                    }
                    for (int i = 0; i < 6; ++i) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
                    hash.push_back(pli_body_hash(b.get(), &s.view));
                }
                pli_pool_destroy(pool);
            }
        for (uint64_t h : hash) EXPECT_EQ(h, hash[0]) << "solver " << solver;
    }
}

TEST(Body, ImplicitAgreesWithExplicitForSmallSteps)
{
    Mesh mesh = box(3, 3, 3);
    PliBodyDef e = pli_body_default();
    Body explicit_body = fem(mesh.get(), e);
    State se(explicit_body.get());
    for (PliLinearSolver solver : { PLI_SOLVE_CG, PLI_SOLVE_LDL, PLI_SOLVE_MINRES }) {
        PliBodyDef d = pli_body_default();
        d.integrator = PLI_IMPLICIT;
        d.linear_solver = solver;
        d.cg_tolerance = 1e-12;
        Body implicit_body = fem(mesh.get(), d);
        State si(implicit_body.get()), so(explicit_body.get());
        const auto fixed = nodes_at_x(implicit_body.get(), 0.0);
        ASSERT_EQ(pli_body_set_fixed(implicit_body.get(), fixed.data(), (PliIndex)fixed.size(), nullptr), PLI_OK);
        ASSERT_EQ(pli_body_set_fixed(explicit_body.get(), fixed.data(), (PliIndex)fixed.size(), nullptr), PLI_OK);
        const double dt = 2e-4;
        for (int i = 0; i < 250; ++i) {
            ASSERT_TRUE(pli_body_step(implicit_body.get(), &si.view, dt).finite);
            ASSERT_TRUE(pli_body_step(explicit_body.get(), &so.view, dt).finite);
        }
        double largest = 0, difference = 0;
        for (size_t i = 0; i < si.x.size(); ++i) {
            largest = largest_of(largest, std::fabs(so.x[i] - pli_body_rest(explicit_body.get())[i]));
            difference = largest_of(difference, std::fabs(so.x[i] - si.x[i]));
        }
        EXPECT_GT(largest, 1e-3);
        EXPECT_LT(difference, 0.02 * largest) << "solver " << solver;
    }
}

// Half the step, a quarter of the error; and of a swing of two hundred steps next to nothing is lost, where implicit Euler loses nearly
// all of it. A swing gives no energy, and what nothing holds keeps its momentum.
TEST(Body, StepsOfSecondOrder)
{
    Mesh mesh = box(3, 3, 3);
    const auto swing = [&](int order, double dt, int steps, PliEnergy *first, PliEnergy *last, double *most) {
        PliBodyDef d = pli_body_default();
        d.integrator = PLI_IMPLICIT;
        d.linear_solver = PLI_SOLVE_LDL;
        d.order = order;
        d.gravity[1] = 0.0;
        d.material.damping = 0.0;
        Body b = fem(mesh.get(), d);
        State s(b.get());
        for (size_t i = 0; i < s.x.size(); i += 3) s.v[i] = 0.3 * (s.x[i] - 0.5) + 0.1, s.v[i + 1] = 0.05 * s.x[i + 2];
        *first = pli_body_energy(b.get(), s.x.data(), s.v.data());
        double before = first->kinetic + first->elastic;
        *most = 0.0;
        for (int k = 0; k < steps; ++k) {
            EXPECT_TRUE(pli_body_step(b.get(), &s.view, dt).finite);
            *last = pli_body_energy(b.get(), s.x.data(), s.v.data());
            *most = largest_of(*most, (last->kinetic + last->elastic - before) / before);
            before = last->kinetic + last->elastic;
        }
        return s.x;
    };
    PliEnergy first, last;
    double most, error[3];
    const double length = 0.02;
    const auto exact = swing(2, length / 512, 512, &first, &last, &most);
    for (int k = 0; k < 3; ++k) {
        const auto x = swing(2, length / (8 << k), 8 << k, &first, &last, &most);
        error[k] = 0.0;
        for (size_t i = 0; i < x.size(); ++i) error[k] = largest_of(error[k], std::fabs(x[i] - exact[i]));
    }
    EXPECT_GT(error[0] / error[1], 3.3);
    EXPECT_GT(error[1] / error[2], 3.3);
    double left[2];
    for (int order : { 1, 2 }) {
        swing(order, 0.02, 200, &first, &last, &most);
        // what is lost of the motion against the centre
        const double flight =
            0.5 * (first.momentum[0] * first.momentum[0] + first.momentum[1] * first.momentum[1]) / first.mass;
        left[order - 1] = (last.kinetic + last.elastic - flight) / (first.kinetic - flight);
        EXPECT_LT(most, 3e-4) << order; // and what a step gains another one loses:
        EXPECT_LT(last.kinetic + last.elastic, first.kinetic * (1.0 + 1e-6)) << order;
        for (int c = 0; c < 3; ++c) EXPECT_NEAR(last.momentum[c], first.momentum[c], 1e-9 * first.mass);
    }
    EXPECT_LT(left[0], 0.05);
    EXPECT_GT(left[1], 0.95);
}

TEST(Body, StagesAreConsistent)
{
    Mesh mesh = box(2, 3, 2, 1, 1, 1, 0.2);
    Body b = fem(mesh.get(), pli_body_default());
    const PliIndex n = pli_body_dof_count(b.get());
    State s(b.get());
    for (size_t i = 0; i < s.x.size(); ++i) s.x[i] += 0.02 * std::sin(7.0 * (double)i);
    std::vector<double> f(3 * n, 0.0), df(3 * n, 0.0), dense(3 * n, 0.0), dx(3 * n);
    for (size_t i = 0; i < dx.size(); ++i) dx[i] = std::cos(3.0 * (double)i);
    pli_body_add_force(b.get(), s.x.data(), nullptr, f.data());
    // force = -dE/dx along dx
    const double eps = 1e-6;
    auto energy = [&](double t) {
        std::vector<double> y(s.x);
        for (size_t i = 0; i < y.size(); ++i) y[i] += t * dx[i];
        return pli_body_energy(b.get(), y.data(), nullptr).elastic;
    };
    double work = 0;
    for (size_t i = 0; i < dx.size(); ++i) work += f[i] * dx[i];
    EXPECT_NEAR(-(energy(eps) - energy(-eps)) / (2 * eps), work, 1e-5 * std::fabs(work));
    // blocks = dforce
    pli_body_add_force(b.get(), s.x.data(), nullptr, f.data());
    pli_body_add_dforce(b.get(), dx.data(), 1.0, df.data());
    struct Arg {
        std::vector<double> *y;
        const std::vector<double> *x;
    } arg{ &dense, &dx };
    pli_body_stiffness_blocks(
        b.get(),
        [](PliIndex r, PliIndex c, const double *k, void *user) {
            auto *a = static_cast<Arg *>(user);
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) (*a->y)[3 * r + i] += k[3 * i + j] * (*a->x)[3 * c + j];
        },
        &arg);
    double scale = 0;
    for (double d : df) scale = largest_of(scale, std::fabs(d));
    for (size_t i = 0; i < df.size(); ++i) EXPECT_NEAR(df[i], dense[i], 1e-10 * scale);
}

TEST(Body, NothingAllocatesInAStep)
{
    Mesh mesh = box(4, 4, 4);
    pliant_test::WatchedHost counter;
    for (int kind = 0; kind < 3; ++kind) {
        PliBodyDef d = pli_body_default();
        if (kind > 0) d.integrator = PLI_IMPLICIT;
        if (kind > 1) d.linear_solver = PLI_SOLVE_LDL;
        Body b = fem(mesh.get(), d, &counter.host);
        State s(b.get());
        PliTool tool = {};
        tool.shape = PLI_TOOL_PLANE;
        tool.position[1] = -0.001;
        tool.other[1] = 1.0;
        ASSERT_EQ(pli_body_set_tools(b.get(), &tool, 1, nullptr), PLI_OK);
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.005).finite); // the pattern of a direct solver is made here
        const long before = counter.calls;
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.005).finite);
        EXPECT_EQ(counter.calls, before) << "kind " << kind;
    }
}

TEST(Body, SameHashForAnyWorkersAndVectorUnit)
{
    Mesh mesh = box(6, 6, 6, 1, 1, 1, 0.1);
    uint64_t reference = 0;
    for (const char *simd : { "none", "avx2", "avx512" }) {
        for (int threads : { 1, 2, 3, 8 }) {
            setenv("PLIANT_SIMD", simd, 1);
            PliPool *pool = pli_pool_create(threads);
            ASSERT_TRUE(pool);
            PliHost host = pli_host_default();
            pli_pool_lend(pool, &host);
            {
                PliBodyDef d = pli_body_default();
                d.material.damping = 1e-4;
                Body b = fem(mesh.get(), d, &host);
                State s(b.get());
                spin(s, 1.0);
                for (int i = 0; i < 3; ++i) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
                const uint64_t hash = pli_body_hash(b.get(), &s.view);
                if (!reference) reference = hash;
                EXPECT_EQ(hash, reference) << simd << " " << threads;
            }
            pli_pool_destroy(pool);
        }
    }
    unsetenv("PLIANT_SIMD");
}

TEST(Body, RestsOnAPlaneWithItsWeight)
{
    Mesh mesh = box(3, 3, 3, 0.1, 0.1, 0.1);
    PliBodyDef d = pli_body_default();
    d.material.damping = 2e-3;
    d.mass_damping = 2.0;
    Body b = fem(mesh.get(), d);
    State s(b.get());
    PliTool floor = {};
    floor.shape = PLI_TOOL_PLANE;
    floor.other[1] = 1.0;
    floor.position[1] = -0.005;
    ASSERT_EQ(pli_body_set_tools(b.get(), &floor, 1, nullptr), PLI_OK);
    double mean = 0;
    const int steps = 200, last = 50;
    for (int i = 0; i < steps; ++i) {
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        if (i >= steps - last) mean += floor.force[1] / last;
    }
    const PliEnergy e = pli_body_energy(b.get(), s.x.data(), s.v.data());
    EXPECT_NEAR(mean, -e.mass * 9.81, 0.02 * e.mass * 9.81); // it presses down with its weight
    double lowest = 1;
    for (size_t i = 1; i < s.x.size(); i += 3) lowest = smallest_of(lowest, s.x[i]);
    EXPECT_GT(lowest, -0.005 - 1e-6); // and does not sink in
    EXPECT_LT(lowest, -0.004);
}

TEST(Body, DivergenceIsDetectedAndUndone)
{
    Mesh mesh = box(2, 2, 2);
    Body b = fem(mesh.get(), pli_body_default());
    State s(b.get());
    s.v[0] = 1e200;
    const std::vector<double> x0 = s.x, v0 = s.v;
    EXPECT_FALSE(pli_body_step(b.get(), &s.view, 0.01).finite);
    EXPECT_EQ(s.x, x0);
    EXPECT_EQ(s.v, v0);
}

// A step of 1e12 critical steps: the number of substeps fits no int.
TEST(Body, AStepOfTooManySubstepsIsRefused)
{
    Mesh mesh = box(2, 2, 2);
    Body b = fem(mesh.get(), pli_body_default());
    State s(b.get());
    s.v[0] = 1.0;
    const std::vector<double> x0 = s.x, v0 = s.v;
    for (double dt : { 1e9, 1e300 }) {
        const PliStepInfo info = pli_body_step(b.get(), &s.view, dt);
        EXPECT_FALSE(info.finite);
        EXPECT_EQ(info.substeps, 0);
        EXPECT_EQ(s.x, x0);
        EXPECT_EQ(s.v, v0);
    }
    EXPECT_TRUE(pli_body_step(b.get(), &s.view, 1e-3).finite);
}

TEST(Body, PointsOfNoTetrahedronAreLeftOut)
{
    Mesh whole = box(3, 3, 3, 1, 1, 1, 0.1), loose = box(3, 3, 3, 1, 1, 1, 0.1);
    const PliIndex n = loose->point_count;
    ASSERT_EQ(PLI_OK, pli_mesh_resize_points(loose.get(), n + 2));
    std::copy_backward(loose->x, loose->x + 3 * n, loose->x + 3 * (n + 1));
    for (size_t i = 0; i < 4 * (size_t)loose->tet_count; ++i) loose->tets[i]++;
    for (int d = 0; d < 3; ++d) loose->x[d] = loose->x[3 * (n + 1) + d] = 7.0;
    std::string said;
    PliHost host = pli_host_default();
    host.user = &said;
    host.log = [](PliLogLevel, const char *text, void *user) { *(std::string *)user += text; };
    uint64_t hash[2];
    for (int k = 0; k < 2; ++k) {
        Body b = fem(k ? loose.get() : whole.get(), quiet(), &host);
        ASSERT_EQ(n, pli_body_dof_count(b.get()));
        State s(b.get());
        spin(s, 2.0);
        for (int i = 0; i < 5; ++i) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.001).finite);
        hash[k] = pli_body_hash(b.get(), &s.view);
    }
    EXPECT_EQ(hash[0], hash[1]);
    EXPECT_NE(std::string::npos, said.find("2 of 66 points belong to no tetrahedron")) << said;
}

TEST(Body, BadDefinitionsGetASentence)
{
    Mesh mesh = box(1, 1, 1);
    PliHost host = pli_host_default();
    PliError err = {};
    auto refuse = [&](auto change, const char *word) {
        PliFemDef def = pli_fem_default();
        def.mesh = mesh.get();
        change(def);
        err.text[0] = 0;
        EXPECT_EQ(pli_fem_create(&host, &def, &err), nullptr);
        EXPECT_NE(std::string(err.text).find(word), std::string::npos) << err.text;
    };
    refuse([](PliFemDef &d) { d.base.material.young = -1; }, "young");
    refuse([](PliFemDef &d) { d.base.material.young = NAN; }, "young");
    refuse([](PliFemDef &d) { d.base.material.poisson = 0.5; }, "poisson");
    refuse([](PliFemDef &d) { d.base.courant = 0; }, "courant");
    refuse([](PliFemDef &d) { d.base.cookie = 0; }, "default");
    refuse([](PliFemDef &d) { d.mesh = nullptr; }, "tetrahedra");
    PliFemDef def = pli_fem_default();
    def.mesh = mesh.get();
    Body b(pli_fem_create(&host, &def, &err));
    const PliIndex far_away = 99;
    EXPECT_EQ(pli_body_set_fixed(b.get(), &far_away, 1, &err), PLI_BAD_ARGUMENT);
}

// ---- steps that fail ---------------------------------------------------------------------------------------------------------

namespace
{

/// NaN for the first `bad` calls, then a plain push.
struct Fault {
    int bad, calls;
};

void faulty(const double *, const double *, double, double *f, void *user)
{
    Fault *fault = (Fault *)user;
    f[1] += fault->calls++ < fault->bad ? NAN : 0.5;
}

PliStepInfo one_faulty_step(int bad, bool halves, std::vector<double> *x, uint64_t *retries)
{
    Mesh mesh = box(2, 2, 2);
    PliHost host = pli_host_default();
    PliFemDef def = pli_fem_default();
    PliError err = {};
    def.mesh = mesh.get();
    def.base.integrator = PLI_IMPLICIT;
    Body body(pli_fem_create(&host, &def, &err));
    EXPECT_TRUE(body) << err.text;
    State s(body.get());
    Fault fault = { bad, 0 };
    s.view.external = faulty, s.view.external_user = &fault;
    PliStepInfo info = pli_body_step(body.get(), &s.view, halves ? 0.005 : 0.01);
    if (halves) info = pli_body_step(body.get(), &s.view, 0.005);
    *x = s.x;
    *retries = pli_body_stats(body.get()).retries;
    return info;
}

} // namespace

TEST(Retries, AnImplicitStepThatFailsIsMadeInPieces)
{
    std::vector<double> once, twice;
    uint64_t retries = 0;
    const PliStepInfo info = one_faulty_step(1, false, &once, &retries);
    EXPECT_EQ(PLI_OK, info.status);
    EXPECT_EQ(1, info.retries);
    EXPECT_EQ(2, info.substeps);
    EXPECT_EQ(1u, retries);
    EXPECT_EQ(PLI_OK, one_faulty_step(0, true, &twice, &retries).status);
    ASSERT_EQ(once.size(), twice.size());
    for (size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(twice[i], once[i], 1e-12) << i; // what two halves are
}

TEST(Retries, WhatFailsInAnyPiecesIsUndone)
{
    std::vector<double> x;
    uint64_t retries = 0;
    const PliStepInfo info = one_faulty_step(1000, false, &x, &retries);
    EXPECT_EQ(PLI_DIVERGED, info.status);
    EXPECT_EQ(PLI_STEP_NOT_FINITE, info.cause);
    for (double value : x) EXPECT_TRUE(std::isfinite(value));
}
