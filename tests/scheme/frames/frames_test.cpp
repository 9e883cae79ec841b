/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "base/hash.h"
#include "scheme/frames/frames.h"
}
#include "support/bodies.h"
#include "support/fold.h"

namespace
{

using namespace pli_test;
using Vec = std::vector<double>;

PliFramesDef beam(PliIndex frames)
{
    PliFramesDef d = pli_frames_default();
    d.resolution = 24;
    d.frame_count = frames;
    d.base.material.young = 1e5;
    d.base.material.density = 1000;
    d.base.gravity[1] = 0;
    d.base.rayleigh_stiffness = 0.02;
    return d;
}

Body make(PliFramesDef d, const Mesh &mesh, PliError *err = nullptr, const PliHost *host = nullptr)
{
    const PliHost own = pli_host_default();
    d.mesh = mesh.get();
    return Body(pli_frames_create(host ? host : &own, &d, err));
}

PliFrames *inside(const Body &b) { return static_cast<PliFrames *>(pli_body_self(b.get())); }

void turn(const Vec &from, Vec &to, const double a[9], const double t[3])
{
    for (size_t k = 0; k < from.size() / 3; ++k)
        for (int i = 0; i < 3; ++i) {
            to[3 * k + i] = k % 4 == 3 ? t[i] : 0.0;
            for (int j = 0; j < 3; ++j) to[3 * k + i] += a[3 * i + j] * from[3 * k + j];
        }
}

double distance(const Vec &a, const Vec &b)
{
    double most = 0;
    for (size_t k = 0; k < a.size(); ++k) most = largest_of(most, std::fabs(a[k] - b[k]));
    return most;
}

double norm(const Vec &a)
{
    double s = 0;
    for (double x : a) s += x * x;
    return std::sqrt(s);
}

TEST(Frames, ARigidMotionHasNoForceAndAnAffineOneTheUniformEnergy)
{
    Mesh mesh = box(8, 2, 2, 2, 0.5, 0.5);
    for (PliFrameShape shape : { PLI_FRAMES_LINEAR, PLI_FRAMES_SMOOTH }) {
        PliFramesDef d = beam(12);
        d.shape = shape;
        d.base.adapt = false;
        Body b = make(d, mesh);
        ASSERT_TRUE(b);
        State s(b.get());
        const double c = std::cos(0.9), n = std::sin(0.9), r[9] = { c, -n, 0, n, c, 0, 0, 0, 1 }, t[3] = { 1, 2, 3 };
        Vec x(s.x.size()), f(s.x.size(), 0.0);
        turn(s.x, x, r, t);
        pli_body_add_force(b.get(), x.data(), nullptr, f.data());
        EXPECT_LT(norm(f), 1e-9 * 1e5 * 0.5);
        const double a[9] = { 1.05, 0.02, 0, 0, 0.97, 0.01, 0, 0, 1.01 };
        turn(s.x, x, a, t);
        double E[9], trace = 0, square = 0;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                E[3 * i + j] = i == j ? -0.5 : 0.0;
                for (int k = 0; k < 3; ++k) E[3 * i + j] += 0.5 * a[3 * k + i] * a[3 * k + j];
                if (i == j) trace += E[3 * i + j];
                square += E[3 * i + j] * E[3 * i + j];
            }
        const double nu = 0.3, mu = 1e5 / (2 * (1 + nu)), lambda = 1e5 * nu / ((1 + nu) * (1 - 2 * nu));
        const PliEnergy e = pli_body_energy(b.get(), x.data(), nullptr);
        EXPECT_NEAR(e.elastic, 0.5 * (0.5 * lambda * trace * trace + mu * square), 1e-9 * e.elastic);
        EXPECT_NEAR(e.mass, 500.0, 1e-9);
    }
}

TEST(Frames, ForceIsMinusTheGradientOfTheEnergyOnAnySetWithOffsets)
{
    Mesh mesh = box(8, 2, 2, 2, 0.5, 0.5);
    Body b = make(beam(12), mesh);
    ASSERT_TRUE(b);
    State s(b.get());
    uint64_t seed = 4;
    PliFrames *f = inside(b);
    // activate everything, bend, then let random frames go passive in the bent state
    for (PliIndex i = 0; i < f->count; ++i) pli_dag_activate(f->dag, i);
    pli_dag_refresh(f->dag);
    for (size_t k = 0; k < s.x.size(); ++k) s.x[k] += 0.05 * (pli_random_unit(&seed) - 0.5);
    for (PliIndex i = f->count; i-- > 1;)
        if (pli_dag_may_deactivate(f->dag, i) && pli_random_unit(&seed) < 0.8)
            pli_dag_deactivate(f->dag, i, s.x.data());
    pli_dag_refresh(f->dag);
    pli_frames_refresh_cut(f, s.x.data());
    pli_body_recut(b.get());
    ASSERT_LT(f->dag->active_count, f->count);
    Vec force(s.x.size(), 0.0);
    pli_body_add_force(b.get(), s.x.data(), nullptr, force.data());
    const double size = norm(force);
    for (int trial = 0; trial < 4; ++trial) {
        Vec d(s.x.size()), x(s.x.size());
        double expect = 0, e[2];
        for (double &k : d) k = pli_random_unit(&seed) - 0.5;
        pli_body_project(b.get(), d.data());
        for (int side = 0; side < 2; ++side) {
            for (size_t k = 0; k < x.size(); ++k) x[k] = s.x[k] + (side ? 1e-5 : -1e-5) * d[k];
            e[side] = pli_body_energy(b.get(), x.data(), nullptr).elastic;
        }
        for (size_t k = 0; k < d.size(); ++k) expect -= force[k] * d[k];
        EXPECT_NEAR((e[1] - e[0]) / 2e-5, expect, 1e-6 * size * norm(d));
    }
    PliError err{};
    EXPECT_TRUE(pli_dag_is_valid(f->dag, &err)) << err.text;
    EXPECT_NEAR(pli_body_energy(b.get(), s.x.data(), nullptr).mass, 500.0, 1e-9);
}

TEST(Frames, SwitchesKeepMomentumAndMass)
{
    Mesh mesh = box(8, 2, 2, 2, 0.5, 0.5);
    PliFramesDef def = beam(12);
    def.base.rayleigh_stiffness = 0.05;
    Body b = make(def, mesh);
    State s(b.get());
    // a free beam hit at one end: it flies, turns and rings, less and less
    const PliIndex n = pli_body_dof_count(b.get());
    s.f.assign(3 * n, 0.0);
    PliIndex column[64];
    double weight[64];
    const double end[3] = { 1.99, 0.25, 0.25 };
    const PliIndex count = pli_body_locate(b.get(), end, column, weight, 64);
    for (PliIndex k = 0; k < count; ++k) s.f[3 * column[k] + 1] += 3000.0 * weight[k];
    double impulse = 0;
    for (int k = 0; k < 400; ++k) {
        s.view.f_ext = k < 5 ? s.f.data() : nullptr;
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite) << k;
        if (k < 5) impulse += 30.0;
        const PliEnergy e = pli_body_energy(b.get(), s.x.data(), s.v.data());
        EXPECT_NEAR(e.momentum[1], impulse, 1e-7 * impulse) << k;
        EXPECT_NEAR(e.momentum[0], 0.0, 1e-7 * impulse);
    }
    const PliFramesInfo info = pli_frames_info(b.get());
    EXPECT_GT(info.activated, 5u);
    EXPECT_GT(info.deactivated, 5u);
    EXPECT_LT(info.jump, 1e-12);
}

TEST(Frames, OneFrameIsEnoughForSeveralBodiesInFreeFlight)
{
    Mesh mesh = box(2, 2, 2);
    PliMesh *m = mesh.get();
    const PliIndex points = m->point_count, tets = m->tet_count;
    ASSERT_EQ(pli_mesh_resize_points(m, 3 * points), PLI_OK);
    ASSERT_EQ(pli_mesh_resize_cells(m, PLI_TET, 3 * tets), PLI_OK);
    for (int k = 1; k < 3; ++k) {
        for (PliIndex i = 0; i < 3 * points; ++i) m->x[3 * points * k + i] = m->x[i] + (i % 3 == 0 ? 2.0 * k : 0.0);
        for (PliIndex i = 0; i < 4 * tets; ++i) m->tets[4 * tets * k + i] = m->tets[i] + points * k;
    }
    PliFramesDef d = beam(12);
    d.base.gravity[1] = -9.81;
    d.resolution = 30;
    Body b = make(d, mesh);
    ASSERT_TRUE(b);
    State s(b.get());
    for (int k = 0; k < 50; ++k) {
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        EXPECT_EQ(pli_frames_info(b.get()).active, 1u);
    }
    EXPECT_NEAR(s.v[10], -9.81 * 0.5, 1e-9);
    // one of them is pushed: it gets frames of its own, the others do not
    s.f.assign(s.x.size(), 0.0);
    PliIndex column[64];
    double weight[64];
    const double place[3] = { 2.5, 0.99, 0.5 };
    const PliIndex count = pli_body_locate(b.get(), place, column, weight, 64);
    for (PliIndex k = 0; k < count; ++k) s.f[3 * column[k] + 1] -= 2e4 * weight[k];
    s.view.f_ext = s.f.data();
    for (int k = 0; k < 6; ++k) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
    const PliFrames *f = inside(b);
    PliIndex pushed = 0;
    for (PliIndex i = 1; i < f->count; ++i)
        pushed += f->dag->active[i] && f->layout->x[3 * i] > 1.5 && f->layout->x[3 * i] < 3.5;
    EXPECT_GT(pushed, 0u);
    // they part and stop ringing: one frame for each is enough again
    s.view.f_ext = nullptr;
    for (int k = 0; k < 600; ++k) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
    EXPECT_LE(pli_frames_info(b.get()).active, 3u);
}

TEST(Frames, KeyFramesDriveTheOthers)
{
    Mesh mesh = box(16, 2, 2, 4, 0.5, 0.5);
    const double ends[6] = { 0, 0.25, 0.25, 4, 0.25, 0.25 };
    PliFramesDef d = beam(9);
    d.anchors = ends;
    d.anchor_count = 2;
    d.resolution = 32;
    Body b = make(d, mesh);
    ASSERT_TRUE(b);
    State s(b.get());
    const PliIndex key = pli_frames_anchor(b.get(), 0), tip = pli_frames_anchor(b.get(), 1);
    std::vector<PliIndex> fixed;
    for (PliIndex c = 0; c < 4; ++c) fixed.push_back(4 * key + c);
    ASSERT_EQ(PLI_OK, pli_body_set_fixed(b.get(), fixed.data(), 4, nullptr));
    double most = 0;
    PliIndex active = 0;
    for (int k = 0; k < 300; ++k) {
        // the key frame is shaken up and down by an animation
        s.v[12 * key + 10] = k < 100 ? 0.5 * std::cos(0.1 * k) : 0.0;
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        active = largest_of(active, pli_frames_info(b.get()).active);
        most = largest_of(most, std::fabs((s.x[12 * tip + 10] - s.x[12 * key + 10])));
    }
    EXPECT_GT(active, 3u);
    EXPECT_GT(most, 0.005); // the far end lags behind: secondary motion
    double path = 0;
    for (int k = 0; k < 100; ++k) path += 0.01 * 0.5 * std::cos(0.1 * k);
    EXPECT_NEAR(s.x[12 * key + 10], 0.25 + path, 1e-12);
}

TEST(Frames, RunsAreRepeatable)
{
    Mesh mesh = box(8, 2, 2, 2, 0.5, 0.5);
    uint64_t hash[2];
    for (uint64_t &h : hash) {
        PliFramesDef d = beam(12);
        d.base.gravity[1] = -9.81;
        const double ends[3] = { 0, 0.25, 0.25 };
        d.anchors = ends;
        d.anchor_count = 1;
        Body b = make(d, mesh);
        State s(b.get());
        const PliIndex root = pli_frames_anchor(b.get(), 0),
                       fixed[4] = { 4 * root, 4 * root + 1, 4 * root + 2, 4 * root + 3 };
        pli_body_set_fixed(b.get(), fixed, 4, nullptr);
        for (int k = 0; k < 120; ++k) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        EXPECT_GT(pli_frames_info(b.get()).activated, 3u);
        h = pli_body_hash(b.get(), &s.view);
    }
    EXPECT_EQ(hash[0], hash[1]);
}

TEST(Frames, IterationsAndFactorsAgree)
{
    Mesh mesh = box(8, 2, 2, 2, 0.5, 0.5);
    Vec end[2];
    for (int k = 0; k < 2; ++k) {
        PliFramesDef d = beam(12);
        d.base.adapt = false;
        d.base.gravity[1] = -9.81;
        d.base.linear_solver = k ? PLI_SOLVE_CG : PLI_SOLVE_LDL;
        d.base.cg_tolerance = 1e-12;
        d.base.cg_iterations = 2000;
        Body b = make(d, mesh);
        State s(b.get());
        const PliIndex fixed[4] = { 0, 1, 2, 3 };
        pli_body_set_fixed(b.get(), fixed, 4, nullptr);
        for (int n = 0; n < 30; ++n) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        end[k].resize(3 * pli_body_skin_count(b.get()));
        pli_body_skin_positions(b.get(), s.x.data(), end[k].data());
    }
    double worst = 0;
    for (size_t i = 0; i < end[0].size(); ++i) worst = largest_of(worst, std::fabs(end[0][i] - end[1][i]));
    EXPECT_LT(worst, 1e-7);
}

TEST(Frames, SofterMaterialBendsMore)
{
    // a cantilever whose root half is ten times softer bends there: twice the sag of the same bar the other way round
    Mesh mesh = box(16, 2, 2, 4, 0.5, 0.5);
    double sag[2];
    for (int k = 0; k < 2; ++k) {
        const double ends[6] = { 0, 0.25, 0.25, 4, 0.25, 0.25 };
        PliFramesDef d = beam(9);
        d.base.adapt = false;
        d.base.material.young = 1e7;
        d.base.gravity[1] = -9.81;
        d.resolution = 32;
        d.anchors = ends;
        d.anchor_count = 2;
        int side = k;
        d.field_user = &side;
        d.field = [](const double *p, double *stiffness, double *, void *user) {
            *stiffness = (p[0] < 2.0) == (*static_cast<int *>(user) == 0) ? 0.1 : 1.0;
        };
        Body b = make(d, mesh);
        ASSERT_TRUE(b);
        State s(b.get());
        const PliIndex root = pli_frames_anchor(b.get(), 0), tip = pli_frames_anchor(b.get(), 1);
        const PliIndex fixed[4] = { 4 * root, 4 * root + 1, 4 * root + 2, 4 * root + 3 };
        pli_body_set_fixed(b.get(), fixed, 4, nullptr);
        for (int n = 0; n < 10; ++n) {
            std::fill(s.v.begin(), s.v.end(), 0.0);
            ASSERT_TRUE(pli_body_step(b.get(), &s.view, 100.0).finite);
        }
        sag[k] = 0.25 - s.x[12 * tip + 10];
    }
    // beam theory, uniform load q, halves a (root) and b: root half soft gives (17/16 ...) much more than tip half soft
    EXPECT_GT(sag[0], 4.0 * sag[1]);
}

// A free beam bent by forces on its ends and middle, the same on both sides: activity left and right of the middle.
void bend_and_count(PliFrameMetric metric, double sides[2])
{
    Mesh mesh = box(8, 2, 2, 2, 0.2, 0.2);
    PliFramesDef d = beam(12);
    d.metric = metric;
    d.base.criterion.threshold = 1e-3;
    d.base.criterion.point[0] = 2.0;
    d.base.criterion.point[1] = d.base.criterion.point[2] = 0.1;
    d.base.criterion.radius = 0.3;
    const double middle[3] = { 1, 0.1, 0.1 };
    d.anchors = middle;
    d.anchor_count = 1;
    Body b = make(d, mesh);
    ASSERT_TRUE(b);
    State s(b.get());
    s.f.assign(s.x.size(), 0.0);
    for (double at : { 0.0, 1.0, 2.0 }) {
        const double p[3] = { at, 0.1, 0.1 };
        PliIndex column[64];
        double weight[64];
        const PliIndex n = pli_body_locate(b.get(), p, column, weight, 64);
        for (PliIndex k = 0; k < n; ++k) s.f[3 * column[k] + 1] += (at == 1.0 ? -2.0 : 1.0) * 5.0 * weight[k];
    }
    s.view.f_ext = s.f.data();
    sides[0] = sides[1] = 0.0;
    const double *rest = pli_body_rest(b.get());
    for (int k = 0; k < 40; ++k) {
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        const PliActive a = pli_body_active(b.get());
        for (PliIndex i = 0; i < a.count; i += 4) {
            const double x = rest[3 * (a.dof[i] + 3)];
            if (std::fabs(x - 1.0) > 0.05) sides[x > 1.0] += 1.0;
        }
    }
}

TEST(Frames, MetricsWeighTheEnergyByPlace)
{
    double kinetic[2], camera[2], region[2], least[2];
    bend_and_count(PLI_METRIC_KINETIC, kinetic);
    bend_and_count(PLI_METRIC_CAMERA, camera);
    bend_and_count(PLI_METRIC_REGION, region);
    bend_and_count(PLI_METRIC_MINIMUM, least);
    // frames are not spread in mirror images: the plain metric says what the sides have without a preference
    const double sides = kinetic[0] / kinetic[1];
    EXPECT_GT(sides, 0.5);
    EXPECT_LT(sides, 2.0);
    EXPECT_LT(camera[0] / camera[1], 0.8 * sides);
    EXPECT_LT(region[0] / region[1], 0.8 * sides);
    EXPECT_LT(camera[0], kinetic[0]);
    EXPECT_LT(region[0], kinetic[0]);
    EXPECT_LE(least[0] + least[1], region[0] + region[1] + 1.0);
    EXPECT_LE(least[0] + least[1], kinetic[0] + kinetic[1]);
}

// Springs at four places hold a body under gravity.
struct Springs {
    std::vector<PliIndex> first{ 0 }, dof;
    Vec weight, force, stiffness, damping, rest;
    double k;
    Springs(const PliBody *b, double stiff) : k(stiff)
    {
        for (double x : { 0.1, 1.9 })
            for (double z : { 0.05, 0.45 }) {
                const double p[3] = { x, 0.25, z };
                PliIndex column[64];
                double w[64];
                const PliIndex n = pli_body_locate(b, p, column, w, 64);
                dof.insert(dof.end(), column, column + n);
                weight.insert(weight.end(), w, w + n);
                first.push_back(PliIndex(dof.size()));
                rest.insert(rest.end(), p, p + 3);
                for (int c = 0; c < 6; ++c)
                    stiffness.push_back(c < 3 ? k : 0.0), damping.push_back(c < 3 ? 0.05 * k : 0.0);
            }
        force.resize(rest.size());
    }
    static void evaluate(const double *x, const double *v, PliPointForces *out, void *user)
    {
        Springs *s = static_cast<Springs *>(user);
        for (size_t j = 0; j + 1 < s->first.size(); ++j)
            for (int c = 0; c < 3; ++c) {
                double p = 0, u = 0;
                for (PliIndex e = s->first[j]; e < s->first[j + 1]; ++e)
                    p += s->weight[e] * x[3 * s->dof[e] + c], u += s->weight[e] * v[3 * s->dof[e] + c];
                s->force[3 * j + c] = -s->k * (p - s->rest[3 * j + c]) - 0.05 * s->k * u;
            }
        *out = { PliIndex(s->first.size() - 1), s->first.data(),   s->dof.data(), s->weight.data(), s->force.data(),
                 s->stiffness.data(),           s->damping.data(), nullptr };
    }
};

TEST(Frames, StiffPointForcesCarryTheWeight)
{
    Mesh mesh = box(8, 2, 2, 2, 0.5, 0.5);
    for (double stiff : { 1e4, 1e9 })
        for (PliLinearSolver solver : { PLI_SOLVE_LDL, PLI_SOLVE_CG })
            for (bool adapt : { false, true }) {
                if (solver == PLI_SOLVE_CG && (adapt || stiff > 1e5)) continue; // slow, and the same law
                PliFramesDef d = beam(8);
                d.base.gravity[1] = -9.81;
                d.base.adapt = adapt;
                d.base.material.damping = 0.01; // or it swings on its springs for long
                d.base.linear_solver = solver;
                d.base.cg_iterations = 2000;
                d.polish = 0;
                Body b = make(d, mesh);
                ASSERT_TRUE(b);
                State s(b.get());
                Springs springs(b.get(), stiff);
                ASSERT_EQ(PLI_OK, pli_body_reserve_points(b.get(), 4, nullptr));
                s.view.points = Springs::evaluate;
                s.view.points_user = &springs;
                for (int k = 0; k < 120; ++k)
                    ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.05).finite) << stiff << " " << k;
                double up = 0;
                for (int j = 0; j < 4; ++j) up += springs.force[3 * j + 1];
                const double weight = 9.81 * pli_body_energy(b.get(), s.x.data(), s.v.data()).mass;
                EXPECT_NEAR(up, weight, 0.01 * weight) << stiff << " " << solver << " " << adapt;
            }
}

// What acts on points is asked for once in each stage of a step, unless somebody moved the body between adapting and advancing.
TEST(Frames, PointForcesOfTheJudgementServeTheStep)
{
    struct Counted : Springs {
        using Springs::Springs;
        int calls = 0;
        Vec at;
        static void count(const double *x, const double *v, PliPointForces *out, void *user)
        {
            Counted *s = static_cast<Counted *>(user);
            s->calls++;
            s->at.assign(x, x + s->dofs);
            evaluate(x, v, out, user);
        }
        size_t dofs = 0;
    };
    Mesh mesh = box(8, 2, 2, 2, 0.5, 0.5);
    PliFramesDef d = beam(8);
    d.base.gravity[1] = -9.81;
    d.base.criterion.max_active = 4 * 7; // some frame can always wake: every step is judged
    Body b = make(d, mesh), whole = make(d, mesh);
    ASSERT_TRUE(b && whole);
    State s(b.get()), t(whole.get());
    Counted springs(b.get(), 1e5), others(whole.get(), 1e5);
    springs.dofs = s.x.size(), others.dofs = t.x.size();
    ASSERT_EQ(PLI_OK, pli_body_reserve_points(b.get(), 4, nullptr));
    ASSERT_EQ(PLI_OK, pli_body_reserve_points(whole.get(), 4, nullptr));
    s.view.points = t.view.points = Counted::count;
    s.view.points_user = &springs, t.view.points_user = &others;
    for (int k = 0; k < 30; ++k) {
        pli_body_adapt(b.get(), &s.view, 0.01);
        ASSERT_TRUE(pli_body_advance(b.get(), &s.view, 0.01).finite);
        ASSERT_TRUE(pli_body_step(whole.get(), &t.view, 0.01).finite);
        ASSERT_EQ(springs.calls, 2 * k + 2); // the second stage of a step asks where it begins
    }
    EXPECT_EQ(s.x, t.x); // two halves are the whole
    pli_body_adapt(b.get(), &s.view, 0.01);
    s.x[4] += 1e-9;
    const Vec from = s.x;
    ASSERT_TRUE(pli_body_advance(b.get(), &s.view, 0.01).finite);
    EXPECT_EQ(springs.calls, 63);
    EXPECT_NE(springs.at, from);
}

// What a host pushes at is often passive: it acts on the frames that are followed, and moves with them.
TEST(Frames, PassiveCoefficientsAnswerAHost)
{
    Mesh mesh = box(8, 2, 2, 2, 0.5, 0.5);
    PliFramesDef d = beam(8);
    d.base.linear_solver = PLI_SOLVE_LDL;
    Body with = make(d, mesh), without = make(d, mesh);
    ASSERT_TRUE(with && without);
    State s(with.get()), t(without.get());
    const PliIndex dofs = pli_body_dof_count(with.get());
    ASSERT_EQ(pli_frames_info(with.get()).active, 1u);
    const double dt = 0.01;
    Vec f(3 * dofs, 0.0), dv(3 * dofs);
    const PliIndex pushed[3] = { 3, 4 * 5 + 3, 4 * 7 }; // the root's origin and two of passive frames
    for (int k = 0; k < 3; ++k) f[3 * pushed[k] + k] = 2.0 + k;
    s.view.f_ext = f.data();
    ASSERT_TRUE(pli_body_advance_once(with.get(), &s.view, dt).finite);
    ASSERT_TRUE(pli_body_advance_once(without.get(), &t.view, dt).finite);
    ASSERT_EQ(pli_body_response(without.get(), f.data(), dt, dv.data()), PLI_OK);
    EXPECT_GT(norm(dv), 0.0);
    for (size_t k = 0; k < dv.size(); ++k) EXPECT_NEAR(s.v[k] - t.v[k], dv[k], 1e-12 + 1e-9 * norm(dv));
    // and unit forces one by one say the same
    Vec c(81), work(pli_body_compliance_work(without.get()));
    ASSERT_EQ(pli_body_compliance(without.get(), pushed, 3, dt, c.data(), work.data()), PLI_OK);
    for (int i = 0; i < 9; ++i) {
        double sum = 0.0;
        for (int j = 0; j < 9; ++j) sum += c[9 * i + j] * f[3 * pushed[j / 3] + j % 3];
        EXPECT_NEAR(sum, dv[3 * pushed[i / 3] + i % 3], 1e-12 + 1e-9 * norm(dv));
        EXPECT_GT(c[10 * i], 0.0);
    }
    // steps of second order are no matrix that a host could correct
    ASSERT_TRUE(pli_body_advance(without.get(), &t.view, dt).finite);
    EXPECT_EQ(pli_body_response(without.get(), f.data(), dt, dv.data()), PLI_UNSUPPORTED);
}

// A body that only friction keeps on a slope is at rest: friction is part of what its frames are judged by.
TEST(Frames, WhatLeansOnFrictionFallsAsleep)
{
    Mesh mesh = box(6, 3, 3, 1.0, 0.3, 0.3);
    PliFramesDef d = beam(10);
    d.base.gravity[1] = -9.81;
    d.base.material.young = 1e6;
    d.base.criterion.threshold = 1e-3;
    d.polish = 0;
    d.base.material.damping = 2e-3;
    Body b = make(d, mesh);
    ASSERT_TRUE(b);
    State s(b.get());
    PliTool slope = {};
    slope.shape = PLI_TOOL_PLANE;
    slope.position[1] = -0.001;
    slope.other[0] = std::sin(0.3), slope.other[1] = std::cos(0.3);
    slope.position[0] = 0.0;
    slope.friction = 0.8;
    ASSERT_EQ(PLI_OK, pli_body_set_tools(b.get(), &slope, 1, nullptr));
    for (int k = 0; k < 400; ++k) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
    // what friction leaves open, 2 % of the pressure, wakes it now and then: it looks, and falls asleep again
    const Vec before = s.x;
    int asleep = 0;
    for (int k = 0; k < 600; ++k) {
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        asleep += pli_frames_info(b.get()).active == 1;
    }
    EXPECT_GT(asleep, 450);
    EXPECT_LT(distance(before, s.x), 1e-4);
    slope.friction = 0.0; // and without it slides
    ASSERT_EQ(PLI_OK, pli_body_set_tools(b.get(), &slope, 1, nullptr));
    for (int k = 0; k < 20; ++k) ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
    EXPECT_GT(distance(before, s.x), 0.01);
}

TEST(Frames, BadInputGetsASentence)
{
    Mesh mesh = box(4, 2, 2);
    PliError err{};
    auto refused = [&](PliFramesDef d, const char *word) {
        err = PliError{};
        Body b = make(d, mesh, &err);
        EXPECT_FALSE(b);
        EXPECT_NE(std::string(err.text).find(word), std::string::npos) << err.text;
    };
    PliFramesDef d = beam(8);
    d.frame_count = 0;
    refused(d, "number of frames");
    d = beam(8);
    d.base.integrator = PLI_SYMPLECTIC;
    refused(d, "explicit");
    d = beam(8);
    d.resolution = 0;
    refused(d, "resolution");
    d = beam(8);
    d.base.material.young = 0;
    refused(d, "oung");
    d = beam(8);
    const double far[3] = { 9, 9, 9 };
    d.anchors = far;
    d.anchor_count = 1;
    refused(d, "outside the voxel grid");
    d = beam(8);
    d.field = [](const double *, double *stiffness, double *, void *) { *stiffness = 0; };
    refused(d, "stiffness factor");
    d = beam(8);
    d.base.cookie = 0;
    refused(d, "not made by a pli_*_default function");
    d = beam(8);
    d.metric = PLI_METRIC_REGION;
    d.base.criterion.radius = 0;
    refused(d, "region of interest is empty");
    d = beam(8);
    d.mass_blend = 0;
    refused(d, "mass_blend");
    Mesh open = box(1, 1, 1);
    pli_mesh_find_surface(open.get());
    open->tri_count -= 1;
    open->tet_count = 0;
    d = beam(2);
    err = PliError{};
    Body b = make(d, open, &err);
    EXPECT_FALSE(b);
    EXPECT_NE(std::string(err.text).find("open"), std::string::npos) << err.text;
    open->tri_count += 1;
}

} // namespace
