/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The body of springs: what events keep, what it survives, and what it refuses.
#include <pliant/springs.h>

#include <numeric>

extern "C" {
#include "body/body.h"
#include "scheme/springs/springs.h"
}
#include "scheme/springs/surfaces.h"
#include "support/bodies.h"
#include "support/fixture.h"

using namespace pliant_test;
using namespace pli_test;

namespace
{

Mesh mesh_of(const Surface &s)
{
    PliHost host = pli_host_default();
    Mesh m(pli_mesh_create(&host));
    pli_mesh_resize_points(m.get(), s.points());
    pli_mesh_resize_cells(m.get(), PLI_TRI, s.triangles());
    std::copy(s.x.begin(), s.x.end(), m->x);
    std::copy(s.tris.begin(), s.tris.end(), m->tris);
    return m;
}

/// A ball of radius 1 with a base of 42 vertices, laid onto the sphere at every level.
struct Ball {
    Mesh mesh;
    PliSpringsDef def = pli_springs_default();
    explicit Ball(int levels = 2) : mesh(mesh_of(icosphere(4)))
    {
        def.mesh = mesh.get();
        def.base_points = 60;
        def.levels = levels;
        for (double &g : def.base.gravity) g = 0.0;
    }
    Body create(const PliHost *host = nullptr, PliError *err = nullptr) const
    {
        PliHost own = pli_host_default();
        return Body(pli_springs_create(host ? host : &own, &def, err));
    }
};

std::string refusal(const PliSpringsDef &def)
{
    PliHost host = pli_host_default();
    PliError err{};
    Body b(pli_springs_create(&host, &def, &err));
    return b ? "" : err.text;
}

const PliSprings *self(const Body &b) { return static_cast<const PliSprings *>(pli_body_self(b.get())); }

void expect_vectors(const double *a, const double *b, double tolerance, const char *what)
{
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(a[d], b[d], tolerance) << what << " component " << d;
}

/// Refines and coarsens around random vertices through the event itself.
struct Shuffle {
    uint64_t seed = 5;
    int in = 0, out = 0;
    void operator()(const Body &b, State &s)
    {
        auto *p = static_cast<PliSprings *>(pli_body_self(b.get()));
        const bool take = p->cut->chosen_count > 0 && pli_random_unit(&seed) < 0.5;
        const PliIndex any = PliIndex((take ? p->cut->chosen_count : p->cut->star_count) * pli_random_unit(&seed));
        const PliIndex star = take ? p->cut->chosen[any] : any;
        const bool put = !p->cut->star[star];
        if (pli_springs_event(p, b.get(), s.x.data(), s.v.data(), star, put, true, INFINITY, 0.0) == PLI_SPRINGS_DONE)
            ++(put ? in : out);
        pli_body_recut(b.get());
        pli_body_spread(b.get(), s.x.data());
        pli_body_spread_velocity(b.get(), s.v.data());
    }
};

} // namespace

TEST(Springs, bad_input_gets_one_sentence)
{
    Ball ball;
    PliSpringsDef def = ball.def;
    EXPECT_EQ(refusal(def), "");
    def.mesh = nullptr;
    EXPECT_EQ(refusal(def), "springs: the mesh has no triangles");
    Mesh sheet = mesh_of(cloth(4));
    def = ball.def, def.mesh = sheet.get(), def.base_points = 0;
    EXPECT_EQ(
        refusal(def),
        "springs: the surface is open, the edge of points 0 and 1 and 15 others have one triangle; set open for cloth");
    def.open = true;
    EXPECT_EQ(refusal(def), "springs: an open surface needs a thickness");
    def.thickness = 0.01;
    EXPECT_EQ(refusal(def), "");
    def.base_points = 20;
    EXPECT_NE(refusal(def).find("needs a closed surface"), std::string::npos);
    def = ball.def, def.levels = 8;
    EXPECT_EQ(refusal(def), "springs: levels is 8; it must be between 0 and 7");
    def = ball.def, def.thickness = NAN;
    EXPECT_EQ(refusal(def), "springs: thickness is nan m; it must not be negative");
    def = ball.def, def.base.material.law = PLI_COROT;
    EXPECT_NE(refusal(def).find("springs are linear"), std::string::npos);
    def = ball.def, def.base.criterion.kind = PLI_BY_VELOCITY;
    EXPECT_NE(refusal(def).find("the criterion cannot be velocity"), std::string::npos);
    def = ball.def, def.base.integrator = PLI_IMPLICIT, def.base.linear_solver = PLI_SOLVE_CG;
    def.base.cg_tolerance = 0.003;
    EXPECT_EQ(refusal(def), "");
    def.base.cg_tolerance = 0.02;
    EXPECT_EQ(refusal(def),
              "springs: with a tolerance of 0.02 cg and minres would gain energy without end; take 0.003 or less, "
              "or linearSolver auto");
    def.base.linear_solver = PLI_SOLVE_AUTO;
    EXPECT_EQ(refusal(def), "");
    def = ball.def, def.base_points = 3;
    EXPECT_NE(refusal(def).find("at least 4 points"), std::string::npos);
    Mesh broken = mesh_of(icosphere(1));
    broken->x[4] = NAN;
    def = ball.def, def.mesh = broken.get();
    EXPECT_EQ(refusal(def), "springs: point 1 is not finite");
    Mesh twin = mesh_of(icosphere(1)); // two corners of a triangle in one place
    std::copy(twin->x + 3 * twin->tris[0], twin->x + 3 * twin->tris[0] + 3, twin->x + 3 * twin->tris[1]);
    def = ball.def, def.mesh = twin.get(), def.base_points = 0;
    EXPECT_NE(refusal(def).find("springs must have a length"), std::string::npos) << refusal(def);
}

TEST(Springs, memory_that_runs_out_leaves_nothing_behind)
{
    WatchedHost w;
    w.quiet = true;
    Mesh m = mesh_of(icosphere(1));
    PliSpringsDef def = pli_springs_default();
    def.mesh = m.get(), def.levels = 1, def.base_points = 20;
    for (long k = 0;; k += 1 + k / 8) {
        w.fail_after = k;
        Body b(pli_springs_create(&w.host, &def, nullptr));
        const bool made = b != nullptr;
        b.reset();
        ASSERT_EQ(w.live_blocks(), 0u) << "after " << k;
        if (made) break;
        ASSERT_LT(k, 3000);
    }
}

TEST(Springs, is_itself_at_rest_and_weighs_what_it_holds)
{
    Ball ball;
    Body b = ball.create();
    ASSERT_TRUE(b);
    State s(b.get());
    const PliSpringsInfo info = pli_springs_info(b.get());
    EXPECT_EQ(info.base_points, 60u);
    EXPECT_NEAR(info.volume, 4.0 / 3 * M_PI, 0.05);
    EXPECT_NEAR(info.mass, 1000 * info.volume, 1e-9);
    EXPECT_LT(info.distance, 0.01);
    for (int k = 0; k < 100; ++k) {
        const PliStepInfo step = pli_body_step(b.get(), &s.view, 0.01);
        ASSERT_TRUE(step.finite);
        EXPECT_EQ(step.refined, 0u);
    }
    for (size_t i = 0; i < s.x.size(); ++i) ASSERT_NEAR(s.x[i], pli_body_rest(b.get())[i], 1e-12);
}

TEST(Springs, events_keep_mass_and_momentum)
{
    Ball ball;
    Body b = ball.create();
    State s(b.get());
    uint64_t seed = 8;
    for (size_t i = 0; i < s.x.size(); ++i) {
        s.x[i] += 0.05 * std::sin(3 * s.x[(i + 1) % s.x.size()]) + random_in(&seed, -0.01, 0.01);
        s.v[i] = random_in(&seed, -1, 1);
    }
    pli_body_spread(b.get(), s.x.data());
    pli_body_spread_velocity(b.get(), s.v.data());
    Shuffle shuffle;
    for (int k = 0; k < 300; ++k) {
        const PliEnergy before = pli_body_energy(b.get(), s.x.data(), s.v.data());
        shuffle(b, s);
        const PliEnergy after = pli_body_energy(b.get(), s.x.data(), s.v.data());
        ASSERT_NEAR(after.mass, before.mass, 1e-12 * before.mass);
        expect_vectors(after.momentum, before.momentum, 1e-10 * before.mass, "momentum");
        // about the centre of mass, which details move a little when they come and go
        double spin[2][3], moved = 0;
        for (int k2 = 0; k2 < 2; ++k2) {
            const PliEnergy &e = k2 ? after : before;
            for (int d = 0; d < 3; ++d)
                spin[k2][d] = e.angular[d] - e.centre[(d + 1) % 3] * e.momentum[(d + 2) % 3] +
                              e.centre[(d + 2) % 3] * e.momentum[(d + 1) % 3];
        }
        for (int d = 0; d < 3; ++d) moved = std::max(moved, std::fabs(after.centre[d] - before.centre[d]));
        expect_vectors(spin[1], spin[0], 1e-10 * before.mass, "angular momentum");
        EXPECT_LT(moved, 5e-3);
        PliError err{};
        ASSERT_TRUE(self(b)->cut->active_count > 0 && pli_springs_cut_is_valid(self(b)->cut, &err)) << err.text;
        if (HasFailure()) FAIL() << "at event " << k;
    }
    EXPECT_GT(shuffle.in, 50);
    EXPECT_GT(shuffle.out, 50);
}

TEST(Springs, events_never_add_energy)
{
    Ball ball;
    Body b = ball.create();
    State s(b.get());
    uint64_t seed = 8;
    for (size_t i = 0; i < s.x.size(); ++i) s.x[i] *= i % 3 == 0 ? 1.2 : 0.95, s.v[i] = random_in(&seed, -0.3, 0.3);
    Shuffle shuffle;
    double forced = 0;
    for (int k = 0; k < 200; ++k) {
        for (int step = 0; step < 3; ++step) ASSERT_TRUE(pli_body_advance(b.get(), &s.view, 0.005).finite);
        const PliEnergy before = pli_body_energy(b.get(), s.x.data(), s.v.data());
        shuffle(b, s);
        const PliEnergy after = pli_body_energy(b.get(), s.x.data(), s.v.data());
        const double now = pli_body_stats(b.get()).energy_forced, added = pli_body_stats(b.get()).energy_added;
        const double total = before.elastic + before.kinetic;
        EXPECT_LE(after.elastic + after.kinetic, total * (1 + 1e-12) + (now - forced) + added) << k;
        forced = now;
    }
}

TEST(Springs, refining_and_coarsening_gives_the_motion_back)
{
    Ball ball;
    Body b = ball.create();
    State s(b.get());
    for (PliIndex v = 0; v < pli_body_dof_count(b.get()); ++v) { // a rigid motion: no energy is at stake
        const double *x = &s.x[3 * size_t(v)];
        s.v[3 * v] = 2 * x[2] - 3 * x[1] + 1, s.v[3 * v + 1] = 3 * x[0] - x[2], s.v[3 * v + 2] = x[1] - 2 * x[0];
    }
    auto *p = static_cast<PliSprings *>(pli_body_self(b.get()));
    for (PliIndex star = 0; star < 60; star += 7) {
        const std::vector<double> x = s.x, v = s.v, mass(p->mass, p->mass + p->cut->active_count);
        ASSERT_EQ(pli_springs_event(p, b.get(), s.x.data(), s.v.data(), star, true, true, INFINITY, 0),
                  PLI_SPRINGS_DONE);
        EXPECT_GT(p->cut->active_count, 60u);
        ASSERT_EQ(pli_springs_event(p, b.get(), s.x.data(), s.v.data(), star, false, true, INFINITY, 0),
                  PLI_SPRINGS_DONE);
        ASSERT_EQ(p->cut->active_count, 60u);
        EXPECT_EQ(memcmp(mass.data(), p->mass, mass.size() * sizeof(double)), 0);
        for (size_t i = 0; i < 3 * 60; ++i) {
            ASSERT_EQ(s.x[i], x[i]);
            ASSERT_NEAR(s.v[i], v[i], 1e-12);
        }
    }
}

TEST(Springs, a_moving_observer_sees_the_same_through_events)
{
    // the same run at rest and in a train: decisions, events and motion agree. The tool travels along
    Ball ball;
    ball.def.base.material.young = 1e6;
    ball.def.base.material.damping = 0.004;
    Body b[2] = { ball.create(), ball.create() };
    std::vector<State> s;
    s.emplace_back(b[0].get());
    s.emplace_back(b[1].get());
    const double speed[3] = { 3.0, -2.0, 1.0 };
    for (int k = 0; k < 2; ++k) s[k].view.x = s[k].x.data(), s[k].view.v = s[k].v.data();
    for (size_t i = 0; i < s[1].v.size(); ++i) s[1].v[i] += speed[i % 3];
    PliIndex in = 0, out = 0;
    double worst = 0;
    for (int step = 0; step < 400; ++step) {
        // pulled here and there, let go in between
        const bool pulls = step % 100 < 50;
        const PliIndex where = PliIndex(step / 100) * 13 % 60;
        for (int k = 0; k < 2; ++k) {
            std::vector<double> f(s[k].x.size(), 0.0);
            if (pulls) f[3 * where] = 8e4, f[3 * where + 1] = 6e4;
            s[k].view.f_ext = f.data();
            const PliStepInfo info = pli_body_step(b[k].get(), &s[k].view, 0.01);
            ASSERT_TRUE(info.finite);
            if (k == 0) in += info.refined, out += info.coarsened;
        }
        ASSERT_EQ(pli_body_active(b[0].get()).count, pli_body_active(b[1].get()).count) << step;
        for (size_t i = 0; i < s[0].x.size(); ++i)
            worst = std::max(worst, std::fabs(s[1].x[i] - s[0].x[i] - speed[i % 3] * 0.01 * (step + 1)));
        ASSERT_FALSE(std::isnan(worst));
    }
    EXPECT_LT(worst, 1e-7);
    EXPECT_GE(in, 50u);
    EXPECT_GE(out, 50u);
}

TEST(Springs, a_step_allocates_nothing)
{
    WatchedHost w;
    Ball ball;
    Body b = ball.create(&w.host);
    ASSERT_TRUE(b);
    State s(b.get());
    std::vector<double> f(s.x.size(), 0.0);
    f[1] = 3000.0;
    s.view.f_ext = f.data();
    const long calls = w.calls;
    PliIndex refined = 0;
    for (int step = 0; step < 50; ++step) {
        if (step == 30) s.view.f_ext = nullptr;
        refined += pli_body_step(b.get(), &s.view, 0.01).refined;
    }
    EXPECT_EQ(w.calls, calls);
    EXPECT_GT(refined, 0u);
}

/// Weight of every active vertex in what v follows, by the rows of the pyramid alone.
void add_followed(const PliSprings *s, PliIndex v, double weight, std::vector<double> &to)
{
    const PliPyramid *p = s->pyramid;
    if (s->cut->is_active[v]) to[v] += weight;
    for (PliIndex k = p->row_first[v]; !s->cut->is_active[v] && k < p->row_first[v + 1]; ++k)
        add_followed(s, p->row_column[k], weight * p->row_weight[k], to);
}

void expect_row(const PliSprings *s, PliRows r, PliIndex v)
{
    std::vector<double> oracle(s->pyramid->vertex_count, 0.0), row(oracle);
    add_followed(s, v, 1.0, oracle);
    for (PliIndex k = r.first[v]; k < r.first[v + 1]; ++k) row[r.column[k]] += r.weight[k];
    for (size_t k = 0; k < row.size(); ++k) ASSERT_NEAR(row[k], oracle[k], 1e-13) << "row " << v;
}

// Rows are kept where nothing changed, made alone where only a few are asked for, and say when they changed.
TEST(Springs, rows_are_those_of_the_cut_whatever_was_before)
{
    Ball ball;
    Body b = ball.create();
    ASSERT_TRUE(b);
    State s(b.get());
    auto *p = static_cast<PliSprings *>(pli_body_self(b.get()));
    Shuffle shuffle;
    uint64_t seed = 23;
    PliIndex kept = 0, changed = 0;
    for (uint64_t revision = 100; revision < 140; ++revision) {
        const PliRows old = pli_springs_rows(p);
        const std::vector<PliIndex> first(old.first, old.first + old.out_count + 1),
            column(old.column, old.column + first.back());
        const std::vector<double> weight(old.weight, old.weight + first.back());
        for (int k = 0; k < 3; ++k) shuffle(b, s);
        pli_springs_note_rows(p, revision);
        std::vector<PliIndex> some(5);
        for (PliIndex &v : some) v = PliIndex(p->pyramid->vertex_count * pli_random_unit(&seed));
        some.push_back(some[0]), some.push_back((some[1] + 1) % p->pyramid->vertex_count);
        const bool was_ready = p->rows_ready;
        const PliRows few = pli_springs_rows_of(p, some.data(), PliIndex(some.size()));
        for (PliIndex v : some) expect_row(p, few, v);
        EXPECT_EQ(p->rows_ready, was_ready);
        const PliRows now = pli_springs_rows(p);
        for (PliIndex v = 0; v < now.out_count; ++v) {
            if (v % 7 == revision % 7) expect_row(p, now, v);
            ++(p->row_revision[v] == revision ? changed : kept);
            if (p->row_revision[v] == revision) continue;
            const PliIndex n = now.first[v + 1] - now.first[v];
            ASSERT_EQ(n, first[v + 1] - first[v]) << v;
            EXPECT_TRUE(std::equal(now.column + now.first[v], now.column + now.first[v + 1], &column[first[v]])) << v;
            EXPECT_TRUE(std::equal(now.weight + now.first[v], now.weight + now.first[v + 1], &weight[first[v]])) << v;
        }
    }
    EXPECT_GT(kept, changed);
    EXPECT_GT(changed, 1000u);
}

// What one decision may do is bounded by the work of a step; what it could not do is done by the next ones.
TEST(Springs, events_come_a_few_at_a_time)
{
    Ball ball(1);
    ball.def.base.criterion.kind = PLI_BY_REGION;
    ball.def.base.criterion.radius = 10.0; // everything
    ball.def.base.criterion.interval = 1.0;
    Body b = ball.create();
    ASSERT_TRUE(b);
    State s(b.get());
    const auto *p = self(b);
    uint64_t before = 0;
    int steps = 0;
    for (; steps < 400 && p->cut->active_count < p->pyramid->vertex_count; ++steps) {
        pli_body_step(b.get(), &s.view, 0.01);
        const uint64_t refined = pli_body_stats(b.get()).refined;
        EXPECT_LE(refined - before, 4u);
        before = refined;
    }
    EXPECT_GT(steps, 10);
    EXPECT_EQ(p->cut->active_count, p->pyramid->vertex_count);
}

namespace
{

/// A ball under a ball that comes down by half its radius and goes up again.
struct Pressed {
    Ball ball;
    PliTool tool{};
    Body b;
    State s;
    explicit Pressed(int levels, bool spread, double smallest = 0.0)
        : ball(levels), b((ball.def.base.spread = spread, ball.def.base.criterion.smallest_size = smallest,
                           ball.def.base.material.young = 1e4, ball.create())),
          s(b.get())
    {
        tool.shape = PLI_TOOL_SPHERE, tool.radius = 0.5, tool.position[1] = 1.55;
        pli_body_set_tools(b.get(), &tool, 1, nullptr);
    }
    void step(int k)
    {
        tool.velocity[1] = k < 40 ? -1.0 : 1.0;
        ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        tool.position[1] += 0.01 * tool.velocity[1];
    }
    PliIndex touchable() const { return pli_skin_touching(b->skin); }
};

} // namespace

// Points of the skin that events let follow others are found before they do: what is shown never jumps.
TEST(Springs, the_skin_does_not_jump_at_events)
{
    Pressed p(3, true);
    std::vector<double> skin(3 * size_t(pli_body_skin_count(p.b.get())));
    for (int k = 0; k < 80; ++k) {
        p.step(k);
        pli_body_skin_positions(p.b.get(), p.s.x.data(), skin.data());
    }
    const PliStats stats = pli_body_stats(p.b.get());
    EXPECT_GT(stats.refined, 10u);
    EXPECT_GT(stats.coarsened, 3u);
    EXPECT_GT(stats.largest_hidden, 1e-4);
    EXPECT_LT(stats.largest_jump, 1e-12);
}

// Finer levels that are not simulated cost a step nothing, the body's own skin included.
TEST(Springs, tools_touch_as_many_points_as_there_is_to_give_way)
{
    Pressed coarse(2, false), fine(4, false, 0.09); // the latter has no more than two of its levels
    PliIndex most = 0;
    for (int k = 0; k < 60; ++k) {
        coarse.step(k), fine.step(k);
        const auto *c = self(fine.b);
        PliIndex level = 0;
        for (PliIndex i = 0; i < c->cut->active_count; ++i)
            level = std::max<PliIndex>(level, c->pyramid->level[c->cut->active[i]]);
        EXPECT_LE(fine.touchable(), 1.2 * c->pyramid->mesh[level]->vertex_count) << "level " << level;
        EXPECT_GE(fine.touchable(), 0.5 * c->pyramid->mesh[level]->vertex_count) << "level " << level;
        most = std::max(most, fine.touchable());
        if (k != 39) continue;
        const double force = coarse.tool.force[1];
        ASSERT_GT(std::fabs(force), 1.0);
        EXPECT_NEAR(fine.tool.force[1], force, 0.1 * std::fabs(force));
    }
    EXPECT_GT(pli_body_stats(fine.b.get()).refined, 3u);
    EXPECT_LT(most, pli_body_skin_count(fine.b.get()) / 8);
    // small tools would go in between
    Pressed needle(3, false);
    needle.tool.radius = 0.02;
    needle.step(0);
    EXPECT_EQ(needle.touchable(), pli_body_skin_count(needle.b.get()));
}

// Where fixed coefficients are is the host's business, whether somebody wants passive ones written or not.
TEST(Springs, fixed_vertices_stay_where_the_host_has_them)
{
    for (const bool spread : { true, false }) {
        Pressed p(3, spread);
        std::vector<PliIndex> fixed;
        for (PliIndex i = 0; i < pli_body_dof_count(p.b.get()); ++i)
            if (p.s.x[3 * i + 1] < -0.7) fixed.push_back(i);
        ASSERT_GT(fixed.size(), 50u);
        ASSERT_EQ(pli_body_set_fixed(p.b.get(), fixed.data(), PliIndex(fixed.size()), nullptr), PLI_OK);
        const std::vector<double> x = p.s.x;
        for (int k = 0; k < 60; ++k) p.step(k);
        EXPECT_GT(pli_body_stats(p.b.get()).refined, 10u);
        for (PliIndex i : fixed)
            for (size_t d = 0; d < 3; ++d) ASSERT_EQ(p.s.x[3 * i + d], x[3 * i + d]) << i;
    }
}

TEST(Springs, recovers_from_dents_because_of_its_volume)
{
    for (bool volume : { true, false }) {
        Ball ball(1);
        ball.def.volume = volume;
        ball.def.base.material.damping = 0.01;
        ball.def.base.mass_damping = 1.0;
        ball.def.base.adapt = false;
        Body b = ball.create();
        State s(b.get());
        std::vector<double> f(s.x.size(), 0.0);
        s.view.f_ext = f.data();
        // pushed in at the top, held at the bottom
        PliIndex top = 0, bottom = 0;
        for (PliIndex v = 0; v < 60; ++v) {
            if (s.x[3 * v + 1] > s.x[3 * top + 1]) top = v;
            if (s.x[3 * v + 1] < s.x[3 * bottom + 1]) bottom = v;
        }
        for (int step = 0; step < 1500; ++step) {
            const double depth = 0.8 - (s.x[3 * bottom + 1] + 2 - s.x[3 * top + 1]);
            f[3 * top + 1] = step < 400 ? -2e4 * depth : 0.0, f[3 * bottom + 1] = -f[3 * top + 1];
            ASSERT_TRUE(pli_body_step(b.get(), &s.view, 0.01).finite);
        }
        PliSpringForce force = self(b)->force;
        std::vector<double> x;
        for (PliIndex i = 0; i < 60; ++i) x.insert(x.end(), &s.x[3 * i], &s.x[3 * i] + 3);
        const double left = pli_springs_volume(&force, x.data()) / pli_springs_volume(&force, pli_body_rest(b.get()));
        if (volume)
            EXPECT_NEAR(left, 1.0, 0.01);
        else
            EXPECT_LT(left, 0.98);
    }
}

TEST(Springs, implicit_steps_follow_explicit_ones)
{
    // a gentle pull, steps short enough that both integrators agree; then steps thirty times the critical one
    Ball ball(1);
    ball.def.base.adapt = false;
    Body b[2] = { ball.create(), nullptr };
    ball.def.base.integrator = PLI_IMPLICIT;
    b[1] = ball.create();
    ASSERT_TRUE(b[0] && b[1]);
    double moved = 0, apart = 0;
    State s0(b[0].get()), s1(b[1].get());
    std::vector<double> f(s0.x.size(), 0.0);
    f[3 * 7] = 2000.0;
    s0.view.f_ext = s1.view.f_ext = f.data();
    for (int step = 0; step < 500; ++step) {
        ASSERT_TRUE(pli_body_step(b[0].get(), &s0.view, 0.001).finite);
        ASSERT_TRUE(pli_body_step(b[1].get(), &s1.view, 0.001).finite);
    }
    for (size_t i = 0; i < s0.x.size(); ++i) {
        moved = std::max(moved, std::fabs(s0.x[i] - pli_body_rest(b[0].get())[i]));
        apart = std::max(apart, std::fabs(s0.x[i] - s1.x[i]));
    }
    EXPECT_GT(moved, 0.1);
    EXPECT_LT(apart, 0.01 * moved);
    for (int step = 0; step < 20; ++step) ASSERT_TRUE(pli_body_step(b[1].get(), &s1.view, 1.0).finite);
}

TEST(Springs, blocks_are_the_tangent)
{
    Ball ball(1);
    Body b = ball.create();
    State s(b.get());
    uint64_t seed = 4;
    for (double &x : s.x) x += random_in(&seed, -0.05, 0.05);
    std::vector<double> f(s.x.size(), 0.0), d = random_vector(&seed, s.x.size()), df(s.x.size(), 0.0),
                                            sum(s.x.size(), 0.0);
    pli_body_add_force(b.get(), s.x.data(), nullptr, f.data());
    for (size_t i = 3 * 60; i < d.size(); ++i) d[i] = 0.0;
    pli_body_add_dforce(b.get(), d.data(), 1.0, df.data());
    struct Sum {
        std::vector<double> &d, &out;
    } arg{ d, sum };
    pli_body_stiffness_blocks(
        b.get(),
        [](PliIndex row, PliIndex column, const double k9[9], void *user) {
            auto *a = static_cast<Sum *>(user);
            for (int i = 0; i < 9; ++i) a->out[3 * row + i / 3] += k9[i] * a->d[3 * column + i % 3];
        },
        &arg);
    double size = 0;
    for (double one : df) size = std::max(size, std::fabs(one));
    ASSERT_GT(size, 1.0);
    for (size_t i = 0; i < df.size(); ++i) ASSERT_NEAR(sum[i], df[i], 1e-12 * size);
}

TEST(Springs, stiffness_may_change_while_running)
{
    Ball ball(1);
    Body b = ball.create();
    State s(b.get());
    for (double &x : s.x) x *= 1.1;
    const double before = pli_body_energy(b.get(), s.x.data(), nullptr).elastic;
    PliBodyDef def = *pli_body_def(b.get());
    def.material.young *= 3.0;
    ASSERT_EQ(pli_body_retune(b.get(), &def, nullptr), PLI_OK);
    EXPECT_NEAR(pli_body_energy(b.get(), s.x.data(), nullptr).elastic, 3.0 * before, 1e-9 * before);
}

TEST(Springs, survives_random_pulls)
{
    uint64_t seed = 77;
    for (int levels : { 1, 2 }) {
        Ball ball(levels);
        ball.def.base.material.damping = 0.005;
        Body b = ball.create();
        State s(b.get());
        std::vector<double> f(s.x.size(), 0.0);
        s.view.f_ext = f.data();
        PliIndex most = 0;
        for (int step = 0; step < 300; ++step) {
            if (step % 20 == 0) {
                std::fill(f.begin(), f.end(), 0.0);
                for (int k = 0; k < 2; ++k) {
                    const size_t v = size_t(pli_body_dof_count(b.get()) * pli_random_unit(&seed));
                    for (size_t d = 0; d < 3; ++d) f[3 * v + d] = random_in(&seed, -5000, 5000);
                }
            }
            const PliStepInfo info = pli_body_step(b.get(), &s.view, 0.01);
            ASSERT_TRUE(info.finite) << "step " << step;
            most = std::max(most, pli_body_active(b.get()).count);
            PliError err{};
            if (step % 25 == 0) {
                ASSERT_TRUE(pli_springs_cut_is_valid(self(b)->cut, &err)) << err.text;
            }
        }
        EXPECT_GT(most, 60u);
        const PliEnergy e = pli_body_energy(b.get(), s.x.data(), s.v.data());
        EXPECT_TRUE(std::isfinite(e.elastic + e.kinetic));
    }
}
