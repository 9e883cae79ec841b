/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Winged edges, subdivision, details: against lists of edges made by hand, and against the rest shape itself.
#include <algorithm>
#include <set>

#include "scheme/springs/surfaces.h"
#include "support/fixture.h"

using namespace pliant_test;
using namespace pli_test;

namespace
{

std::set<std::pair<PliIndex, PliIndex>> edges_of(const std::vector<PliIndex> &tris)
{
    std::set<std::pair<PliIndex, PliIndex>> edges;
    for (size_t k = 0; k < tris.size(); ++k) {
        const PliIndex a = tris[k], b = tris[k % 3 == 2 ? k - 2 : k + 1];
        edges.insert({ std::min(a, b), std::max(a, b) });
    }
    return edges;
}

std::string refusal(const Surface &s)
{
    PliHost host = pli_host_default();
    PliError err{};
    PliWinged *m = pli_winged_create(&host, s.points(), s.tris.data(), s.triangles(), &err);
    pli_winged_destroy(m);
    return m ? "" : err.text;
}

} // namespace

TEST(Winged, edges_and_fans_of_closed_and_open_surfaces)
{
    WatchedHost w;
    for (const Surface &s : { icosphere(1), torus(7, 5), cloth(4) }) {
        PliWinged *m = pli_winged_create(&w.host, s.points(), s.tris.data(), s.triangles(), nullptr);
        ASSERT_NE(m, nullptr);
        for (int level = 0; level < 3; ++level) {
            PliError err{};
            EXPECT_TRUE(pli_winged_is_valid(m, &err)) << err.text;
            const std::vector<PliIndex> tris(m->corner, m->corner + 3 * size_t(m->face_count));
            const auto edges = edges_of(tris);
            ASSERT_EQ(edges.size(), m->edge_count);
            for (PliIndex e = 0; e < m->edge_count; ++e)
                EXPECT_TRUE(edges.count(
                    { std::min(m->edge[e].start, m->edge[e].end), std::max(m->edge[e].start, m->edge[e].end) }));
            for (PliIndex v = 0; v < m->vertex_count; ++v) { // neighbours by walking are neighbours by searching
                std::set<PliIndex> walked, searched;
                PliIndex edge = m->vertex_edge[v];
                do {
                    walked.insert(pli_winged_other(m, v, edge));
                    edge = pli_winged_next(m, v, edge, nullptr);
                } while (edge != PLI_NONE && edge != m->vertex_edge[v]);
                for (const auto &e : edges) {
                    if (e.first == v) searched.insert(e.second);
                    if (e.second == v) searched.insert(e.first);
                }
                ASSERT_EQ(walked, searched) << "vertex " << v << " of level " << level;
            }
            PliWinged *fine = pli_winged_subdivide(m);
            ASSERT_NE(fine, nullptr);
            EXPECT_EQ(fine->vertex_count, m->vertex_count + m->edge_count);
            EXPECT_EQ(fine->border_count, 2 * m->border_count);
            pli_winged_destroy(m);
            m = fine;
        }
        pli_winged_destroy(m);
    }
}

TEST(Winged, bad_surfaces_are_refused_with_one_sentence)
{
    Surface s = icosphere(0);
    EXPECT_EQ(refusal(s), "");
    s.x.insert(s.x.end(), { 0, 0, 0 });
    EXPECT_EQ(refusal(s), "point 12 belongs to no triangle");
    s = icosphere(0);
    s.tris[4] = s.tris[3];
    EXPECT_EQ(refusal(s), "triangle 1 has point 0 twice");
    s = icosphere(0);
    s.tris[4] = 99;
    EXPECT_EQ(refusal(s), "triangle 1 uses point 99 of 12");
    s = icosphere(0);
    std::swap(s.tris[0], s.tris[1]);
    EXPECT_NE(refusal(s).find("not oriented alike"), std::string::npos) << refusal(s);
    s = icosphere(0); // a fin on an edge
    s.x.insert(s.x.end(), { 3, 0, 0 });
    s.tris.insert(s.tris.end(), { s.tris[0], s.tris[1], 12 });
    EXPECT_NE(refusal(s).find("belongs to more than two triangles"), std::string::npos) << refusal(s);
    s = icosphere(0); // two spheres that share a point
    const size_t n = s.tris.size();
    for (size_t k = 0; k < n; ++k) s.tris.push_back(s.tris[k] == 0 ? 0 : s.tris[k] + 11);
    for (size_t k = 3; k < 36; ++k) s.x.push_back(s.x[k] + 5);
    EXPECT_NE(refusal(s).find("point 0 joins sheets"), std::string::npos) << refusal(s);
    s.tris.clear();
    EXPECT_EQ(refusal(s), "the mesh has no triangles");
}

TEST(Winged, triangles_are_turned_alike_or_the_surface_has_one_side)
{
    WatchedHost w;
    Surface s = icosphere(2);
    const std::vector<PliIndex> right = s.tris;
    uint64_t seed = 6;
    for (size_t t = 3; t < s.tris.size(); t += 3)
        if (pli_random_unit(&seed) < 0.4) std::swap(s.tris[t], s.tris[t + 1]);
    ASSERT_NE(refusal(s), "");
    ASSERT_EQ(pli_winged_orient(&w.host, s.points(), s.tris.data(), s.triangles(), nullptr), PLI_OK);
    EXPECT_EQ(refusal(s), "");
    for (size_t t = 0; t < right.size();
         t += 3) { // the first was not touched, so all are as they were, but for where they begin
        std::vector<PliIndex> a(&right[t], &right[t] + 3), b(&s.tris[t], &s.tris[t] + 3);
        std::rotate(b.begin(), std::find(b.begin(), b.end(), a[0]), b.end());
        ASSERT_EQ(a, b);
    }
    Surface band; // of Moebius
    for (int i = 0; i < 10; ++i)
        for (double r : { 0.8, 1.2 }) {
            const double u = 2 * M_PI * i / 10;
            band.x.insert(band.x.end(), { std::cos(u) * r, std::sin(u) * r, 0.1 * r });
        }
    for (PliIndex i = 0; i < 10; ++i) {
        const PliIndex a = 2 * i, b = a + 1, c = i < 9 ? a + 2 : 1, d = i < 9 ? a + 3 : 0;
        band.tris.insert(band.tris.end(), { a, b, c, b, d, c });
    }
    PliError err{};
    EXPECT_EQ(pli_winged_orient(&w.host, band.points(), band.tris.data(), band.triangles(), &err), PLI_BAD_MESH);
    EXPECT_NE(std::string(err.text).find("has one side only"), std::string::npos) << err.text;
}

TEST(Pyramid, details_recover_the_fine_shape)
{
    WatchedHost w;
    PliPyramid *p = bumpy(&w.host, icosphere(1), 3, 0.15, 3);
    ASSERT_NE(p, nullptr);
    const size_t n = 3 * size_t(p->vertex_count);
    std::vector<double> c(n), x(n);
    pli_pyramid_analyse(p, p->rest, c.data());
    pli_pyramid_synthesise(p, c.data(), x.data());
    for (size_t i = 0; i < n; ++i) ASSERT_NEAR(x[i], p->rest[i], 1e-12);
    // in place as well, and the details that are kept are those
    x.assign(p->rest, p->rest + n);
    pli_pyramid_analyse(p, x.data(), x.data());
    for (size_t i = 3 * size_t(p->mesh[0]->vertex_count); i < n; ++i) ASSERT_EQ(x[i], p->detail[i]);
    pli_pyramid_synthesise(p, x.data(), x.data());
    for (size_t i = 0; i < n; ++i) ASSERT_NEAR(x[i], p->rest[i], 1e-12);
    pli_pyramid_destroy(p);
}

TEST(Pyramid, rows_follow_every_affine_motion_of_the_base)
{
    WatchedHost w;
    uint64_t seed = 5;
    for (double bump : { 0.0, 0.02, 0.15 }) {
        PliPyramid *p = bumpy(&w.host, torus(9, 6), 2, bump, 7);
        ASSERT_NE(p, nullptr);
        const std::vector<double> A = random_vector(&seed, 9), b = random_vector(&seed, 3);
        auto moved = [&](PliIndex v, size_t d) {
            const double *r = p->rest + 3 * size_t(v);
            return A[3 * d] * r[0] + A[3 * d + 1] * r[1] + A[3 * d + 2] * r[2] + b[d];
        };
        std::vector<double> x(3 * size_t(p->vertex_count));
        for (PliIndex v = 0; v < p->vertex_count; ++v)
            for (size_t d = 0; d < 3; ++d) {
                if (v < p->mesh[0]->vertex_count) {
                    x[3 * size_t(v) + d] = moved(v, d);
                    continue;
                }
                double sum = 0;
                for (PliIndex k = p->row_first[v]; k < p->row_first[v + 1]; ++k) {
                    ASSERT_LT(p->row_column[k], p->mesh[p->level[v] - 1]->vertex_count);
                    sum += p->row_weight[k] * x[3 * size_t(p->row_column[k]) + d];
                }
                x[3 * size_t(v) + d] = sum;
                ASSERT_NEAR(sum, moved(v, d), 1e-12) << "vertex " << v;
            }
        pli_pyramid_destroy(p);
    }
}

TEST(Pyramid, refuses_springs_without_length_and_details_of_a_plane)
{
    PliHost host = pli_host_default();
    PliError err{};
    Surface s = icosphere(0);
    for (size_t d = 0; d < 3; ++d) s.x[3 * 5 + d] = s.x[d];
    PliWinged *m = pli_winged_create(&host, s.points(), s.tris.data(), s.triangles(), nullptr);
    EXPECT_EQ(pli_pyramid_create(&host, m, s.x.data(), 1, &err), nullptr);
    EXPECT_NE(std::string(err.text).find("has length 0: springs must have a length"), std::string::npos) << err.text;
    s = cloth(3);
    m = pli_winged_create(&host, s.points(), s.tris.data(), s.triangles(), nullptr);
    PliPyramid *p = pli_pyramid_create(&host, m, s.x.data(), 1, nullptr);
    ASSERT_NE(p, nullptr);
    std::vector<double> x(p->rest, p->rest + 3 * size_t(p->vertex_count));
    x[3 * 20 + 1] += 0.1;
    EXPECT_EQ(pli_pyramid_set_rest(p, x.data(), &err), PLI_BAD_MESH);
    EXPECT_NE(std::string(err.text).find("vertex 20 of level 1 lies out of the plane"), std::string::npos) << err.text;
    pli_pyramid_destroy(p);
}

TEST(Pyramid, memory_that_runs_out_leaves_nothing_behind)
{
    WatchedHost w;
    const Surface s = icosphere(0);
    for (long k = 0; k < 40; ++k) {
        w.fail_after = k;
        PliWinged *m = pli_winged_create(&w.host, s.points(), s.tris.data(), s.triangles(), nullptr);
        PliPyramid *p = m ? pli_pyramid_create(&w.host, m, s.x.data(), 2, nullptr) : nullptr;
        pli_pyramid_destroy(p);
        EXPECT_EQ(w.live_blocks(), 0u) << "after " << k;
        if (p) break;
        EXPECT_LT(k, 39);
    }
}
