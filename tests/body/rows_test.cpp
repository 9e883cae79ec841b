/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Contacts a host found itself: the response of a step to forces, and rows kept inside explicit substeps. The host here is a few
// lines that do what SOFA's free-motion loop does: a free step, gaps at its end, the step again under the rows.
#include <pliant/stages.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "support/fold.h"

namespace
{
struct Box {
    PliBody *body = nullptr;
    std::vector<double> x, v;
    std::vector<PliIndex> bottom, top;
    double mass = 0.0;

    Box(PliIntegrator integrator, PliIndex cells, const double gravity[3], double damping = 0.0,
        PliLinearSolver solver = PLI_SOLVE_LDL, bool rates = false)
    {
        const PliHost host = pli_host_default();
        PliBoxDef def{};
        for (int d = 0; d < 3; ++d) def.max[d] = 0.1, def.cells[d] = cells;
        PliMesh *mesh = pli_mesh_box(&host, &def, nullptr);
        for (PliIndex i = 0; rates && i < mesh->point_count; ++i)
            mesh->x[3 * i] *= 10.0 * mesh->x[3 * i]; // one end is finer
        PliFemDef fem = pli_fem_default();
        fem.base.multirate = rates ? PLI_RATES_OWN : fem.base.multirate;
        fem.mesh = mesh;
        fem.base.material.young = 1e5;
        fem.base.material.poisson = 0.3;
        fem.base.material.damping = damping;
        fem.base.integrator = integrator;
        fem.base.linear_solver = solver;
        fem.base.cg_iterations = 1000, fem.base.cg_tolerance = 1e-13;
        std::copy_n(gravity, 3, fem.base.gravity);
        PliError error{};
        body = pli_fem_create(&host, &fem, &error);
        EXPECT_TRUE(body) << error.text;
        const PliIndex n = pli_body_dof_count(body);
        x.assign(pli_body_rest(body), pli_body_rest(body) + 3 * n);
        v.assign(3 * n, 0.0);
        for (PliIndex i = 0; i < n; ++i) {
            if (x[3 * i + 1] == 0.0) bottom.push_back(i);
            if (x[3 * i + 1] == 0.1) top.push_back(i);
        }
        mass = pli_body_energy(body, x.data(), v.data()).mass;
        pli_mesh_destroy(mesh);
    }
    ~Box() { pli_body_destroy(body); }
    Box(const Box &) = delete;
    PliState state()
    {
        PliState s{};
        s.x = x.data(), s.v = v.data();
        return s;
    }
    PliEnergy energy() const { return pli_body_energy(body, x.data(), v.data()); }
};

/// Planes y = height(t) under (normal up) or above (normal down) some points.
struct Plane {
    std::vector<PliIndex> points;
    double sign; ///< of the normal along y
    double height, speed;
};

/// One step of a free-motion loop with the planes as contacts; @return sum of the normal forces, N.
double step(Box &box, const std::vector<Plane> &planes, double dt, double friction, double time, double reach = 0.02)
{
    const std::vector<double> x0 = box.x, v0 = box.v;
    PliState s = box.state();
    EXPECT_TRUE(pli_body_advance(box.body, &s, dt).finite);
    const std::vector<double> end = box.x;
    std::vector<PliIndex> first{ 0 }, dof;
    std::vector<double> value, offset;
    const int per = friction > 0.0 ? 3 : 1;
    for (const Plane &plane : planes)
        for (PliIndex i : plane.points) {
            const double y = plane.height + plane.speed * (time + dt);
            if (plane.sign * (end[3 * i + 1] - y) > reach) continue;
            for (int r = 0; r < per; ++r) {
                dof.push_back(i);
                const double n[3][3] = { { 0, plane.sign, 0 }, { 1, 0, 0 }, { 0, 0, 1 } };
                value.insert(value.end(), n[r], n[r] + 3);
                offset.push_back(r == 0 ? -plane.sign * y : 0.0);
                first.push_back(PliIndex(dof.size()));
            }
        }
    std::vector<double> work(4 * offset.size());
    PliContactRows rows{};
    rows.contact_count = PliIndex(offset.size()) / PliIndex(per);
    rows.rows_per_contact = per;
    rows.first = first.data();
    rows.dof = dof.data();
    rows.value = value.data();
    rows.offset = offset.data();
    rows.friction = friction;
    rows.sweeps = 3;
    rows.work = work.data();
    if (rows.contact_count == 0) return 0.0;
    box.x = x0;
    box.v = v0;
    s = box.state();
    EXPECT_TRUE(pli_body_advance_under(box.body, &s, dt, &rows).finite);
    return rows.force;
}

double lowest(const Box &box)
{
    double y = INFINITY;
    for (std::size_t i = 1; i < box.x.size(); i += 3) y = smallest_of(y, box.x[i]);
    return y;
}
} // namespace

/// The response is what the step itself does with a force: take a step with and without it.
TEST(Response, IsTheDifferenceAForceMakes)
{
    const double gravity[3] = { 0, 0, 0 };
    for (PliIntegrator integrator : { PLI_IMPLICIT, PLI_SYMPLECTIC }) {
        Box with(integrator, 3, gravity), without(integrator, 3, gravity);
        const double dt = integrator == PLI_IMPLICIT ? 0.01 : 1e-5; // one explicit substep: the mass alone answers
        std::vector<double> f(with.x.size(), 0.0), dv(with.x.size());
        f[3 * 5 + 1] = 0.3;
        f[3 * 20] = -0.2;
        const PliIndex fixed[2] = { 0, 1 };
        for (Box *box : { &with, &without }) ASSERT_EQ(pli_body_set_fixed(box->body, fixed, 2, nullptr), PLI_OK);
        PliState s = with.state();
        s.f_ext = f.data();
        pli_body_advance(with.body, &s, dt);
        s = without.state();
        pli_body_advance(without.body, &s, dt);
        ASSERT_EQ(pli_body_response(without.body, f.data(), dt, dv.data()), PLI_OK);
        double size = 0.0;
        for (std::size_t i = 0; i < dv.size(); ++i) {
            EXPECT_NEAR(with.v[i] - without.v[i], dv[i], 1e-12);
            size = largest_of(size, std::abs(dv[i]));
        }
        EXPECT_GT(size, 1e-6);
        EXPECT_EQ(dv[0], 0.0);
    }
}

/// Whatever solved the step: what answers between steps is exact, for one force and for many at once.
TEST(Response, EverySolverHasOne)
{
    const double gravity[3] = { 0, -9.81, 0 }, dt = 0.01;
    for (PliLinearSolver solver :
         { PLI_SOLVE_CG, PLI_SOLVE_MINRES, PLI_SOLVE_LDL, PLI_SOLVE_INCOMPLETE, PLI_SOLVE_MULTIGRID, PLI_SOLVE_AUTO }) {
        Box with(PLI_IMPLICIT, 5, gravity, 0.0, solver), without(PLI_IMPLICIT, 5, gravity, 0.0, solver);
        std::vector<double> f(with.x.size(), 0.0), dv(with.x.size());
        f[3 * 70 + 1] = 0.3, f[3 * 120] = -0.2;
        for (Box *box : { &with, &without })
            ASSERT_EQ(pli_body_set_fixed(box->body, box->bottom.data(), PliIndex(box->bottom.size()), nullptr), PLI_OK);
        for (int step = 0; step < 3; ++step) { // the second and third are factored in what the first left
            PliState s = with.state();
            with.x = without.x, with.v = without.v;
            s.f_ext = f.data();
            pli_body_advance(with.body, &s, dt);
            ASSERT_EQ(pli_body_response(with.body, f.data(), dt, dv.data()), PLI_OK); // both go on with the same solver
            s = without.state();
            pli_body_advance(without.body, &s, dt);
            ASSERT_EQ(pli_body_response(without.body, f.data(), dt, dv.data()), PLI_OK) << solver;
            for (std::size_t i = 0; i < dv.size(); ++i)
                ASSERT_NEAR(with.v[i] - without.v[i], dv[i], 1e-10) << solver << " step " << step;
        }
        const PliIndex touched[4] = { 70, 0, 120, 215 }; // 0 is fixed
        std::vector<double> c(12 * 12), work(pli_body_compliance_work(without.body));
        ASSERT_EQ(pli_body_compliance(without.body, touched, 4, dt, c.data(), work.data()), PLI_OK);
        for (std::size_t k = 0; k < 12; ++k) {
            std::fill(f.begin(), f.end(), 0.0);
            f[3 * touched[k / 3] + k % 3] = 1.0;
            ASSERT_EQ(pli_body_response(without.body, f.data(), dt, dv.data()), PLI_OK);
            for (std::size_t j = 0; j < 12; ++j)
                EXPECT_NEAR(c[12 * k + j], dv[3 * touched[j / 3] + j % 3], 1e-12) << solver << " " << k << " " << j;
        }
    }
}

/// Who asks step after step has a factor made in any case: then it makes the step too, until nobody has asked for a while.
TEST(Response, AutoFactorsWhileContactsAsk)
{
    const double gravity[3] = { 0, -9.81, 0 }, dt = 0.01;
    Box box(PLI_IMPLICIT, 5, gravity, 0.0, PLI_SOLVE_AUTO);
    ASSERT_EQ(pli_body_set_fixed(box.body, box.bottom.data(), PliIndex(box.bottom.size()), nullptr), PLI_OK);
    const std::vector<double> f(box.x.size(), 1e-3);
    std::vector<double> dv(box.x.size());
    PliState s = box.state();
    const auto solver_of_step = [&] {
        EXPECT_TRUE(pli_body_advance(box.body, &s, dt).finite);
        return std::string(pli_body_stats(box.body).linear_solver);
    };
    const std::string alone = solver_of_step();
    EXPECT_NE("sparse", alone);
    EXPECT_NE("sparse", solver_of_step()); // which of those that iterate is up to iterations
    for (int k = 0; k < 5; ++k) {
        ASSERT_EQ(pli_body_response(box.body, f.data(), dt, dv.data()), PLI_OK);
        EXPECT_EQ("sparse", solver_of_step());
    }
    std::string last;
    for (int k = 0; k < 20; ++k) last = solver_of_step();
    EXPECT_NE("sparse", last);
    ASSERT_EQ(pli_body_response(box.body, f.data(), dt, dv.data()), PLI_OK);
    pli_body_reset(box.body, &s);
    EXPECT_EQ(alone, solver_of_step()); // a body that starts anew knows of no contacts
}

TEST(Response, NeedsAStep)
{
    const double gravity[3] = { 0, -9.81, 0 };
    Box box(PLI_IMPLICIT, 2, gravity); // no step yet: no matrix
    std::vector<double> f(box.x.size(), 1.0), dv(box.x.size());
    EXPECT_EQ(pli_body_response(box.body, f.data(), 0.01, dv.data()), PLI_UNSUPPORTED);
}

TEST(Rows, StepIsAdaptThenAdvance)
{
    const double gravity[3] = { 0, -9.81, 0 };
    Box whole(PLI_SYMPLECTIC, 3, gravity), parts(PLI_SYMPLECTIC, 3, gravity);
    for (int i = 0; i < 20; ++i) {
        PliState s = whole.state();
        pli_body_step(whole.body, &s, 0.01);
        s = parts.state();
        pli_body_adapt(parts.body, &s, 0.01);
        pli_body_advance(parts.body, &s, 0.01);
    }
    EXPECT_EQ(std::memcmp(whole.x.data(), parts.x.data(), whole.x.size() * sizeof(double)), 0);
    EXPECT_EQ(pli_body_stats(parts.body).steps, 20u);
}

TEST(Rows, BoxRestsOnAFloorAndWeighsWhatItWeighs)
{
    const double gravity[3] = { 0, -9.81, 0 }, dt = 0.01;
    Box box(PLI_SYMPLECTIC, 4, gravity, 0.002);
    double force = 0.0, deepest = 0.0;
    for (int i = 0; i < 1000; ++i) {
        const double f = step(box, { { box.bottom, 1.0, 0.0, 0.0 } }, dt, 0.0, i * dt);
        if (i >= 500) force += f / 500;
        deepest = smallest_of(deepest, lowest(box));
    }
    EXPECT_GT(deepest, -1e-9);
    EXPECT_NEAR(force, 9.81 * box.mass, 0.01 * 9.81 * box.mass);
    EXPECT_LT(box.energy().kinetic, 1e-6);
    EXPECT_EQ(pli_body_stats(box.body).steps, 1000u); // a step taken again is the same step
}

class Slope : public ::testing::TestWithParam<std::tuple<double, bool>>
{
};

/// mu = 0.5: the friction angle is 26.565 degrees.
TEST_P(Slope, SticksBelowTheFrictionAngleAndSlidesAboveIt)
{
    const double degrees = std::get<0>(GetParam()), angle = degrees * M_PI / 180.0, g = 9.81, mu = 0.5, dt = 0.01;
    const double gravity[3] = { g * std::sin(angle), -g * std::cos(angle), 0.0 };
    Box box(PLI_SYMPLECTIC, 3, gravity, 0.002, PLI_SOLVE_LDL, std::get<1>(GetParam()));
    double before = 0.0, place = 0.0;
    const int settle = 100, measure = 100;
    for (int i = 0; i < settle + measure; ++i) {
        if (i == settle) before = box.energy().momentum[0] / box.mass, place = box.energy().centre[0];
        step(box, { { box.bottom, 1.0, 0.0, 0.0 } }, dt, mu, i * dt);
    }
    const double after = box.energy().momentum[0] / box.mass;
    const double a = (after - before) / (measure * dt), exact = g * (std::sin(angle) - mu * std::cos(angle));
    const double creep = (box.energy().centre[0] - place) / (measure * dt); // speeds swing within a round of rates
    if (exact < 0.0)
        EXPECT_LT(std::abs(creep), 2e-5);
    else
        EXPECT_NEAR(a, exact, 0.02 * exact);
    std::printf("%.3f deg: creeps %.3g m/s, v = %.3g m/s, a = %.4f m/s2, exact %.4f\n", degrees, creep, after, a,
                std::max(0.0, exact));
}
INSTANTIATE_TEST_SUITE_P(Angles, Slope,
                         ::testing::Combine(::testing::Values(20.0, 25.565, 27.565, 33.0), ::testing::Bool()));

TEST(Rows, APressingPlateDoesNotPassAndDoesNotShake)
{
    const double gravity[3] = { 0, -9.81, 0 }, dt = 0.01;
    Box box(PLI_SYMPLECTIC, 4, gravity, 0.002);
    double worst = 0.0, fastest = 0.0;
    for (int i = 0; i < 100; ++i) // 50 mm/s for 0.5 s: a quarter of its height, then hold
    {
        const double t = i * dt;
        const Plane plate{ box.top, -1.0, t < 0.5 ? 0.1 : 0.075, t < 0.5 ? -0.05 : 0.0 };
        step(box, { { box.bottom, 1.0, 0.0, 0.0 }, plate }, dt, 0.0, t);
        const double y = plate.height + plate.speed * (t + dt);
        for (PliIndex p : box.top) worst = largest_of(worst, box.x[3 * p + 1] - y);
        worst = largest_of(worst, -lowest(box));
        for (double v : box.v) fastest = largest_of(fastest, std::abs(v));
    }
    EXPECT_LT(worst, 1e-6);
    EXPECT_LT(fastest, 0.15);
    std::printf("deepest %.2g m, fastest point %.3g m/s, sideways %.2g m\n", worst, fastest,
                std::abs(box.energy().centre[0] - 0.05));
}
