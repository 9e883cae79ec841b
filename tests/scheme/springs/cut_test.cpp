/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Local refinement: every set of stars against a search of the whole pyramid, and what must stay the same through all of them.
#include <algorithm>
#include <memory>
#include <numeric>

#include "scheme/springs/cut.h"
#include "scheme/springs/force.h"
#include "scheme/springs/surfaces.h"
#include "support/fixture.h"

using namespace pliant_test;
using namespace pli_test;

namespace
{

struct Rig {
    PliPyramid *p;
    PliSpringsCut *c;
    Rig(const PliHost *host, const Surface &s, int levels, double bump) : p(bumpy(host, s, levels, bump, 11))
    {
        std::vector<double> k(3 * size_t(p->mesh[0]->face_count)), m(p->vertex_count);
        uint64_t seed = 17;
        for (double &one : k) one = random_in(&seed, 50, 150);
        for (double &one : m) one = random_in(&seed, 0.5, 1.5);
        c = pli_springs_cut_create(host, p, k.data(), m.data());
        fine_mass = m;
    }
    ~Rig()
    {
        pli_springs_cut_destroy(c);
        pli_pyramid_destroy(p);
    }
    void choose(PliIndex star, bool in)
    {
        pli_springs_cut_choose(c, star, in);
        pli_springs_cut_refresh(c);
    }
    double mass() const
    {
        double sum = 0;
        for (PliIndex i = 0; i < c->active_count; ++i) sum += c->mass[c->active[i]];
        return sum;
    }
    std::vector<double> fine_mass;
};

/// The rules of the closure applied to the whole pyramid until nothing changes.
std::vector<std::vector<char>> closure(const PliSpringsCut *c)
{
    const PliPyramid *p = c->pyramid;
    std::vector<std::vector<char>> red(p->level_count);
    for (int l = 0; l < p->level_count; ++l) red[l].assign(p->mesh[l]->face_count, 0);
    for (int l = 0; l + 1 < p->level_count; ++l)
        for (PliIndex f = 0; f < p->mesh[l]->face_count; ++f)
            for (int k = 0; k < 3; ++k) red[l][f] |= c->star[c->star_first[l] + p->mesh[l]->corner[3 * f + k]];
    auto split = [&](int l, PliIndex e) {
        const PliWing &w = p->mesh[l]->edge[e];
        return red[l][w.left] || (w.right != PLI_NONE && red[l][w.right]);
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (int l = 0; l + 1 < p->level_count; ++l)
            for (PliIndex f = 0; f < p->mesh[l]->face_count; ++f) {
                if (red[l][f]) continue;
                int cuts = 0, again = 0, inside = 0;
                for (int k = 0; k < 3; ++k) {
                    const PliIndex e = p->mesh[l]->side[3 * f + k];
                    cuts += split(l, e);
                    again += l + 2 < p->level_count && (split(l + 1, 2 * e) || split(l + 1, 2 * e + 1));
                }
                for (PliIndex k = 0; k < 4; ++k) inside += l + 2 < p->level_count && red[l + 1][4 * f + k];
                if (cuts > 1 || again || inside) red[l][f] = 1, changed = true;
            }
    }
    return red;
}

/// All vertices from active ones by midpoints alone, dense.
std::vector<std::vector<double>> dense_midpoints(const PliSpringsCut *c)
{
    const PliPyramid *p = c->pyramid;
    std::vector<std::vector<double>> w(p->vertex_count, std::vector<double>(p->vertex_count, 0.0));
    for (PliIndex v = 0; v < p->vertex_count; ++v) {
        if (c->is_active[v]) {
            w[v][v] = 1;
            continue;
        }
        const PliWing &e = p->mesh[p->level[v] - 1]->edge[pli_pyramid_edge(p, v)];
        for (PliIndex a = 0; a < p->vertex_count; ++a) w[v][a] = 0.5 * (w[e.start][a] + w[e.end][a]);
    }
    return w;
}

void expect_equal(const PliSpringsCut *c, const PliSpringsCut *d)
{
    ASSERT_EQ(c->active_count, d->active_count);
    ASSERT_EQ(c->tri_count, d->tri_count);
    ASSERT_EQ(c->spring_count, d->spring_count);
    EXPECT_EQ(memcmp(c->active, d->active, c->active_count * sizeof(PliIndex)), 0);
    EXPECT_EQ(memcmp(c->tri, d->tri, 3 * c->tri_count * sizeof(PliIndex)), 0);
    EXPECT_EQ(memcmp(c->spring, d->spring, 2 * c->spring_count * sizeof(PliIndex)), 0);
    EXPECT_EQ(memcmp(c->stiffness, d->stiffness, c->spring_count * sizeof(double)), 0);
    EXPECT_EQ(memcmp(c->length, d->length, c->spring_count * sizeof(double)), 0);
    for (PliIndex i = 0; i < c->active_count; ++i) EXPECT_EQ(c->mass[c->active[i]], d->mass[d->active[i]]);
}

} // namespace

TEST(SpringsCut, one_star_is_figure_5_1_of_the_paper)
{
    WatchedHost w;
    Rig r(&w.host, icosphere(2), 1, 0.02); // 162 vertices; those of valence six have number 12 and up
    const PliIndex v = 100, before = r.c->active_count, tris = r.c->tri_count;
    ASSERT_EQ(before, 162u);
    r.choose(v, true);
    EXPECT_EQ(r.c->active_count, before + 12);               // six spokes and six sides of the ring
    EXPECT_EQ(r.c->tri_count, tris + 6 * 3 + 6);             // six in four, six around in two
    EXPECT_EQ(r.c->spring_count, 3 * r.c->active_count - 6); // one on every edge, as in the table of the paper
    PliError err{};
    EXPECT_TRUE(pli_springs_cut_is_valid(r.c, &err)) << err.text;
    EXPECT_NEAR(r.mass(), std::accumulate(r.fine_mass.begin(), r.fine_mass.end(), 0.0), 1e-12 * r.fine_mass.size());
}

TEST(SpringsCut, random_sets_agree_with_a_search_of_everything)
{
    WatchedHost w;
    uint64_t seed = 1;
    for (const Surface &s : { icosphere(0), torus(6, 4), cloth(3) }) {
        const bool open = s.points() == 16;
        Rig r(&w.host, s, 3, open ? 0.0 : 0.03);
        const double total = std::accumulate(r.fine_mass.begin(), r.fine_mass.end(), 0.0);
        const long calls = w.calls;
        long checked = 0;
        for (int step = 0; step < 4000; ++step) {
            // several at a time, and now and then nearly all of them away
            const int changes = 1 + int(3 * pli_random_unit(&seed));
            for (int k = 0; k < changes; ++k) {
                const PliIndex star = PliIndex(r.c->star_count * pli_random_unit(&seed));
                pli_springs_cut_choose(r.c, star,
                                       pli_random_unit(&seed) < (step % 200 < 100 ? 0.1 : 0.6) * (step % 400 ? 1 : 0));
            }
            if (step % 97 == 0) pli_springs_cut_clear(r.c);
            pli_springs_cut_refresh(r.c);
            ASSERT_NEAR(r.mass(), total, 1e-12 * total);
            if (step % 10) continue;
            ++checked;
            ASSERT_EQ(w.calls, calls) << "a refresh allocates";
            PliError err{};
            ASSERT_TRUE(pli_springs_cut_is_valid(r.c, &err)) << err.text << " at step " << step;
            const long after = w.calls;
            const auto red = closure(r.c);
            for (int l = 0; l < r.p->level_count; ++l)
                for (PliIndex f = 0; f < r.p->mesh[l]->face_count; ++f)
                    ASSERT_EQ(bool(r.c->is_red[l][f]), bool(red[l][f]));
            ASSERT_EQ(w.calls, after);
            const_cast<long &>(calls) = w.calls;
        }
        EXPECT_EQ(checked, 400);
    }
}

TEST(SpringsCut, masses_are_those_of_the_finest_vertices_shared_by_halves)
{
    WatchedHost w;
    uint64_t seed = 23;
    Rig r(&w.host, icosphere(0), 2, 0.05);
    double least = 1e300;
    for (int step = 0; step < 40; ++step) {
        r.choose(PliIndex(r.c->star_count * pli_random_unit(&seed)), step % 3 != 0);
        const auto rows = dense_midpoints(r.c);
        for (PliIndex a = 0; a < r.p->vertex_count; ++a) {
            double m = 0;
            for (PliIndex v = 0; v < r.p->vertex_count; ++v) m += rows[v][a] * r.fine_mass[v];
            ASSERT_NEAR(r.c->mass[a], m, 1e-12);
            if (r.c->is_active[a]) least = std::min(least, m);
        }
    }
    EXPECT_GT(least, 0.0);
}

TEST(SpringsCut, taking_a_star_out_undoes_putting_it_in)
{
    WatchedHost w;
    uint64_t seed = 3;
    Rig r(&w.host, torus(7, 5), 2, 0.05), q(&w.host, torus(7, 5), 2, 0.05);
    for (int step = 0; step < 300; ++step) {
        const PliIndex star = PliIndex(r.c->star_count * pli_random_unit(&seed));
        const bool in = r.c->star[star];
        r.choose(star, !in);
        r.choose(star, in);
        expect_equal(r.c, q.c);
        r.choose(star, pli_random_unit(&seed) < 0.3);
        q.choose(star, r.c->star[star]);
        expect_equal(r.c, q.c);
        if (HasFailure()) FAIL() << "at step " << step;
    }
}

TEST(SpringsCut, any_cut_of_a_flat_sheet_stores_the_same_under_any_stretch)
{
    // springs of the base, halves twice as stiff where a triangle is cut in two: no affine state can tell the cuts apart, but for the
    // quarter springs on the lines that cut triangles in two
    WatchedHost w;
    uint64_t seed = 29;
    Rig r(&w.host, cloth(4), 3, 0.0);
    auto energy = [&](const std::vector<double> &x, bool lines) {
        double sum = 0;
        for (PliIndex s = 0; s < r.c->spring_count; ++s) {
            if (!lines && r.c->spring_edge[s] == PLI_NONE) continue;
            PliSpringForce f{};
            f.spring_count = 1, f.spring = r.c->spring + 2 * s, f.stiffness = r.c->stiffness + s,
            f.length = r.c->length + s;
            sum += pli_springs_energy(&f, x.data());
        }
        return sum;
    };
    for (int step = 0; step < 60; ++step) {
        const std::vector<double> A = random_vector(&seed, 9);
        std::vector<double> x(3 * size_t(r.p->vertex_count));
        for (PliIndex v = 0; v < r.p->vertex_count; ++v)
            for (size_t d = 0; d < 3; ++d)
                for (size_t k = 0; k < 3; ++k)
                    x[3 * size_t(v) + d] += (A[3 * d + k] + (d == k ? 1 : 0)) * r.p->rest[3 * size_t(v) + k];
        pli_springs_cut_clear(r.c);
        pli_springs_cut_refresh(r.c);
        const double coarse = energy(x, true);
        for (int k = 0; k < 5; ++k) r.choose(PliIndex(r.c->star_count * pli_random_unit(&seed)), true);
        EXPECT_NEAR(energy(x, false), coarse, 1e-12 * coarse);
        EXPECT_LT(energy(x, true), 1.25 * coarse);
        for (PliIndex star = 0; star < r.c->star_first[1]; ++star) pli_springs_cut_choose(r.c, star, true);
        for (PliIndex star = r.c->star_first[1]; star < r.c->star_count; ++star)
            pli_springs_cut_choose(r.c, star, false);
        pli_springs_cut_refresh(r.c);
        EXPECT_NEAR(energy(x, true), coarse, 1e-12 * coarse); // everywhere one level finer
    }
}

TEST(SpringsCut, to_any_depth_around_many_vertices)
{
    WatchedHost w;
    Rig r(&w.host, icosphere(0), 5, 0.01);
    for (PliIndex v : { 0u, 3u, 7u })
        for (int l = 0; l < 5; ++l) r.choose(r.c->star_first[l] + v, true);
    PliError err{};
    EXPECT_TRUE(pli_springs_cut_is_valid(r.c, &err)) << err.text;
    for (PliIndex v : { 0u, 3u, 7u }) { // springs at those vertices are those of the finest mesh
        double shortest = 1e300;
        for (PliIndex s = 0; s < r.c->spring_count; ++s)
            if (r.c->spring[2 * s] == v || r.c->spring[2 * s + 1] == v) shortest = std::min(shortest, r.c->length[s]);
        EXPECT_LT(shortest, 1.3 / 32);
    }
    EXPECT_LT(r.c->active_count, 800u); // of 10242
    for (PliIndex v : { 0u, 3u, 7u })
        for (int l = 0; l < 5; ++l) r.choose(r.c->star_first[l] + v, false);
    EXPECT_EQ(r.c->active_count, 12u);
}
