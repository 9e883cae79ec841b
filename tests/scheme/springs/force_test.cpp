/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Forces of springs and volume: gradients of one energy, and nothing that pushes or turns the body as a whole.
#include "scheme/springs/cut.h"
#include "scheme/springs/force.h"
#include "scheme/springs/surfaces.h"
#include "support/fixture.h"

using namespace pliant_test;
using namespace pli_test;

namespace
{

struct Membrane {
    PliPyramid *p;
    PliSpringsCut *c;
    PliSpringForce f{};
    std::vector<double> x, v;
    explicit Membrane(const PliHost *host, uint64_t seed = 1) : p(bumpy(host, icosphere(1), 2, 0.05, 3))
    {
        const std::vector<double> k(3 * size_t(p->mesh[0]->face_count), 80.0), m(p->vertex_count, 0.01);
        c = pli_springs_cut_create(host, p, k.data(), m.data());
        for (int i = 0; i < 5; ++i) pli_springs_cut_choose(c, PliIndex(c->star_count * pli_random_unit(&seed)), true);
        pli_springs_cut_refresh(c);
        pli_springs_force_init(&f, host, p->vertex_count, c->spring_count, c->tri_count);
        f.point_count = p->vertex_count;
        f.spring_count = c->spring_count, f.spring = c->spring, f.stiffness = c->stiffness, f.length = c->length;
        f.tri_count = c->tri_count, f.tri = c->tri;
        f.volume = pli_springs_volume(&f, p->rest);
        f.bulk = 400.0;
        x.assign(p->rest, p->rest + 3 * size_t(p->vertex_count));
        v = random_vector(&seed, x.size());
        for (double &one : x) one += random_in(&seed, -0.1, 0.1);
    }
    ~Membrane()
    {
        pli_springs_force_free(&f);
        pli_springs_cut_destroy(c);
        pli_pyramid_destroy(p);
    }
};

} // namespace

TEST(SpringForce, is_the_gradient_of_its_energy)
{
    WatchedHost w;
    Membrane m(&w.host);
    std::vector<double> force(m.x.size(), 0.0);
    pli_springs_add_force(&m.f, m.x.data(), nullptr, force.data());
    const double h = 1e-6;
    double largest = 0;
    for (double one : force) largest = std::max(largest, std::fabs(one));
    ASSERT_GT(largest, 1.0);
    for (size_t i = 0; i < m.x.size(); ++i) {
        std::vector<double> y = m.x;
        y[i] += h;
        const double up = pli_springs_energy(&m.f, y.data());
        y[i] -= 2 * h;
        const double down = pli_springs_energy(&m.f, y.data());
        ASSERT_NEAR(force[i], -(up - down) / (2 * h), 2e-7 * largest) << i;
    }
}

// An event that moves a few vertices looks at what ends there, and knows the energy of the whole.
TEST(SpringForce, what_ends_at_a_vertex_is_all_that_its_motion_changes)
{
    WatchedHost w;
    Membrane m(&w.host);
    const PliIndex moved = m.c->active[m.c->active_count - 1];
    std::vector<PliIndex> springs, tris;
    std::vector<double> stiffness, length;
    for (PliIndex i = 0; i < m.f.spring_count; ++i) {
        const PliIndex *e = m.f.spring + 2 * size_t(i);
        if (e[0] != moved && e[1] != moved) continue;
        springs.insert(springs.end(), e, e + 2);
        stiffness.push_back(m.f.stiffness[i]), length.push_back(m.f.length[i]);
    }
    for (PliIndex t = 0; t < m.f.tri_count; ++t) {
        const PliIndex *c = m.f.tri + 3 * size_t(t);
        if (std::count(c, c + 3, moved)) tris.insert(tris.end(), c, c + 3);
    }
    PliSpringForce near = m.f;
    near.spring = springs.data(), near.spring_count = PliIndex(stiffness.size());
    near.stiffness = stiffness.data(), near.length = length.data();
    near.tri = tris.data(), near.tri_count = PliIndex(tris.size() / 3);
    std::vector<double> y = m.x, all(m.x.size(), 0.0), some(m.x.size(), 0.0);
    near.about = m.x.data();
    near.beyond = pli_springs_volume(&m.f, m.x.data()) - pli_springs_volume(&near, m.x.data());
    for (size_t d = 0; d < 3; ++d) y[3 * moved + d] += 0.07 * double(d + 1);
    EXPECT_NEAR(pli_springs_volume(&near, y.data()), pli_springs_volume(&m.f, y.data()), 1e-12);
    pli_springs_add_force(&m.f, y.data(), nullptr, all.data());
    pli_springs_add_force(&near, y.data(), nullptr, some.data());
    for (size_t d = 0; d < 3; ++d) EXPECT_NEAR(some[3 * moved + d], all[3 * moved + d], 1e-10);
    const double whole = pli_springs_energy(&m.f, y.data()) - pli_springs_energy(&m.f, m.x.data());
    ASSERT_GT(std::fabs(whole), 0.01);
    EXPECT_NEAR(pli_springs_energy(&near, y.data()) - pli_springs_energy(&near, m.x.data()), whole, 1e-10);
}

TEST(SpringForce, its_tangent_is_the_derivative)
{
    WatchedHost w;
    Membrane m(&w.host);
    uint64_t seed = 9;
    pli_springs_linearize(&m.f, m.x.data(), false);
    for (int k = 0; k < 5; ++k) {
        const std::vector<double> d = random_vector(&seed, m.x.size());
        std::vector<double> df(m.x.size(), 0.0), up(m.x.size(), 0.0), down(m.x.size(), 0.0), y = m.x;
        pli_springs_add_dforce(&m.f, d.data(), 2.0, df.data());
        const double h = 1e-6;
        for (size_t i = 0; i < y.size(); ++i) y[i] = m.x[i] + h * d[i];
        pli_springs_add_force(&m.f, y.data(), nullptr, up.data());
        for (size_t i = 0; i < y.size(); ++i) y[i] = m.x[i] - h * d[i];
        pli_springs_add_force(&m.f, y.data(), nullptr, down.data());
        double largest = 0, error = 0;
        for (size_t i = 0; i < y.size(); ++i) {
            largest = std::max(largest, std::fabs(df[i]));
            error = std::max(error, std::fabs(df[i] - 2.0 * (up[i] - down[i]) / (2 * h)));
            ASSERT_TRUE(std::isfinite(df[i]));
        }
        EXPECT_LT(error, 1e-7 * largest);
    }
    // definite: no direction in which it pushes along
    pli_springs_linearize(&m.f, m.x.data(), true);
    for (int k = 0; k < 20; ++k) {
        const std::vector<double> d = random_vector(&seed, m.x.size());
        std::vector<double> df(m.x.size(), 0.0);
        pli_springs_add_dforce(&m.f, d.data(), 1.0, df.data());
        double work = 0;
        for (size_t i = 0; i < d.size(); ++i) work += d[i] * df[i];
        EXPECT_LE(work, 0.0);
    }
}

TEST(SpringForce, neither_pushes_nor_turns_the_body)
{
    WatchedHost w;
    Membrane m(&w.host);
    m.f.damping = 0.05;
    std::vector<double> force(m.x.size(), 0.0);
    for (double &one : m.x) one += 100.0; // far from the origin
    pli_springs_add_force(&m.f, m.x.data(), m.v.data(), force.data());
    double sum[3] = { 0, 0, 0 }, turn[3] = { 0, 0, 0 }, size = 0;
    for (size_t i = 0; i < m.x.size(); i += 3) {
        const double *x = &m.x[i], *f = &force[i];
        for (int d = 0; d < 3; ++d) sum[d] += f[d], size += std::fabs(f[d]);
        turn[0] += x[1] * f[2] - x[2] * f[1], turn[1] += x[2] * f[0] - x[0] * f[2],
            turn[2] += x[0] * f[1] - x[1] * f[0];
    }
    for (int d = 0; d < 3; ++d) {
        EXPECT_NEAR(sum[d], 0.0, 1e-13 * size);
        EXPECT_NEAR(turn[d], 0.0, 1e-12 * 100 * size);
    }
}

TEST(SpringForce, nothing_acts_at_rest_wherever_and_however_turned)
{
    WatchedHost w;
    Membrane m(&w.host);
    const double c = std::cos(0.7), s = std::sin(0.7);
    for (PliIndex v = 0; v < m.p->vertex_count; ++v) {
        const double *r = m.p->rest + 3 * size_t(v);
        m.x[3 * v] = c * r[0] - s * r[1] + 2, m.x[3 * v + 1] = s * r[0] + c * r[1], m.x[3 * v + 2] = r[2];
    }
    std::vector<double> force(m.x.size(), 0.0);
    pli_springs_add_force(&m.f, m.x.data(), nullptr, force.data());
    for (double one : force) ASSERT_NEAR(one, 0.0, 1e-11);
    EXPECT_NEAR(pli_springs_energy(&m.f, m.x.data()), 0.0, 1e-20);
    EXPECT_NEAR(m.f.volume, 4.0, 0.6); // of a bumpy sphere
}

TEST(SpringForce, damping_takes_energy_and_spares_rigid_motion)
{
    WatchedHost w;
    Membrane m(&w.host);
    m.f.damping = 0.1;
    std::vector<double> with(m.x.size(), 0.0), without(m.x.size(), 0.0);
    pli_springs_add_force(&m.f, m.x.data(), m.v.data(), with.data());
    pli_springs_add_force(&m.f, m.x.data(), nullptr, without.data());
    double power = 0;
    for (size_t i = 0; i < m.x.size(); ++i) power += (with[i] - without[i]) * m.v[i];
    EXPECT_LT(power, -1.0);
    for (PliIndex v = 0; v < m.p->vertex_count; ++v) { // omega x r + a drift
        const double *x = &m.x[3 * size_t(v)];
        m.v[3 * v] = 2 * x[2] - 3 * x[1] + 1, m.v[3 * v + 1] = 3 * x[0] - x[2], m.v[3 * v + 2] = x[1] - 2 * x[0];
    }
    std::fill(with.begin(), with.end(), 0.0);
    pli_springs_add_force(&m.f, m.x.data(), m.v.data(), with.data());
    for (size_t i = 0; i < m.x.size(); ++i) ASSERT_NEAR(with[i], without[i], 1e-11);
}

TEST(SpringForce, critical_step_is_safe_and_not_wasteful)
{
    WatchedHost w;
    Membrane m(&w.host);
    std::vector<double> mass(m.p->vertex_count, 0.0), work(9 * size_t(m.p->vertex_count));
    for (PliIndex v = 0; v < m.p->vertex_count; ++v) mass[v] = m.c->is_active[v] ? m.c->mass[v] : 1.0;
    const double step = pli_springs_critical_step(&m.f, m.p->rest, mass.data(), work.data());
    // highest frequency by power iteration
    uint64_t seed = 2;
    std::vector<double> d = random_vector(&seed, m.x.size()), y(m.x.size());
    double omega2 = 0;
    pli_springs_linearize(&m.f, m.p->rest, false);
    for (int k = 0; k < 3000; ++k) {
        std::fill(y.begin(), y.end(), 0.0);
        pli_springs_add_dforce(&m.f, d.data(), -1.0, y.data());
        double top = 0, norm = 0;
        for (size_t i = 0; i < y.size(); ++i) {
            y[i] /= mass[i / 3];
            top += y[i] * d[i] * mass[i / 3], norm += d[i] * d[i] * mass[i / 3];
        }
        omega2 = top / norm;
        double size = 0;
        for (double one : y) size += one * one;
        for (size_t i = 0; i < y.size(); ++i) d[i] = y[i] / std::sqrt(size);
    }
    const double exact = 2 / std::sqrt(omega2);
    EXPECT_LE(step, exact);
    EXPECT_GT(step, 0.8 * exact);
}
