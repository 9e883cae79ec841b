/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The nearest triangle of another piece, remembered from state to state, against all triangles.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "contact/piece_search.h"
#include "support/fixture.h"
#include "surface/triangle_tree.h"
#include "support/fold.h"

namespace
{

struct Pieces {
    std::vector<double> x;
    std::vector<PliIndex> tris, piece;
    // balls of rings and sectors, outward triangles
    void ball(double cx, double cy, double cz, double r)
    {
        constexpr PliIndex rings = 7, sectors = 10;
        const PliIndex from = points(), name = from ? piece.back() + 1 : 0;
        for (PliIndex i = 0; i <= rings; ++i)
            for (PliIndex j = 0; j < sectors; ++j) {
                if ((i == 0 || i == rings) && j > 0) continue;
                const double a = M_PI * i / rings, b = 2 * M_PI * j / sectors;
                x.insert(x.end(), { cx + r * std::sin(a) * std::cos(b), cy + r * std::cos(a),
                                    cz + r * std::sin(a) * std::sin(b) });
                piece.push_back(name);
            }
        const auto at = [&](PliIndex i, PliIndex j) {
            return i == 0       ? from
                   : i == rings ? from + 1 + (rings - 1) * sectors
                                : from + 1 + (i - 1) * sectors + j % sectors;
        };
        for (PliIndex i = 0; i < rings; ++i)
            for (PliIndex j = 0; j < sectors; ++j) {
                if (i > 0) tris.insert(tris.end(), { at(i, j), at(i, j + 1), at(i + 1, j) });
                if (i + 1 < rings) tris.insert(tris.end(), { at(i, j + 1), at(i + 1, j + 1), at(i + 1, j) });
            }
    }
    PliIndex points() const { return static_cast<PliIndex>(piece.size()); }
    PliIndex count() const { return static_cast<PliIndex>(tris.size() / 3); }
};

Pieces three()
{
    Pieces p;
    p.ball(0, 0, 0, 1.0);
    p.ball(1.5, 0.2, 0, 0.9);
    p.ball(0.6, 1.5, 0.3, 0.8);
    return p;
}

struct Destroy {
    void operator()(PliPieceSearch *s) const { pli_piece_search_destroy(s); }
};

TEST(PieceSearch, AgreesWithAllTrianglesWhateverMoves)
{
    pliant_test::WatchedHost watched;
    const Pieces p = three();
    const double reach = 0.5, near = 0.2;
    std::unique_ptr<PliPieceSearch, Destroy> s(pli_piece_search_create(&watched.host, p.x.data(), p.points(),
                                                                       p.tris.data(), p.count(), p.piece.data(),
                                                                       p.piece.back() + 1, reach, 0.1));
    ASSERT_TRUE(s);
    const long calls = watched.calls;
    uint64_t seed = 4;
    std::vector<double> x = p.x;
    int inside = 0, found = 0, left_out = 0;
    for (int step = 0; step < 90; ++step) {
        // creeping, then fast, then still
        const double pace = step < 40 ? 0.01 : step < 60 ? 0.15 : step < 75 ? 0.002 : 0.0;
        for (PliIndex i = 0; i < p.points(); ++i)
            for (int c = 0; c < 3; ++c) {
                const double centre = c == 0 ? 0.9 : c == 1 ? 0.6 : 0.1, towards = p.piece[i] == 0 ? 0.3 : -0.3;
                x[3 * i + c] += pace * (towards * (centre - p.x[3 * i + c]) * std::sin(0.2 * step) +
                                        0.3 * (pli_random_unit(&seed) - 0.5) + 2.0);
            }
        pli_piece_search_move(s.get(), x.data(), near);
        for (PliIndex i = 0; i < p.points(); ++i) {
            double best = INFINITY, w[3];
            for (PliIndex t = 0; t < p.count(); ++t)
                if (p.piece[p.tris[3 * t]] != p.piece[i])
                    best = smallest_of(best, std::sqrt(pli_closest_on_triangle(&x[3 * i], &x[3 * p.tris[3 * t]],
                                                                               &x[3 * p.tris[3 * t + 1]],
                                                                               &x[3 * p.tris[3 * t + 2]], w)));
            PliPieceHit out;
            if (pli_piece_search_nearest(s.get(), i, &out)) {
                EXPECT_NE(p.piece[p.tris[3 * out.tri]], p.piece[i]);
                ASSERT_NEAR(out.distance, best, 1e-12) << step << " " << i;
                double q[3] = { 0, 0, 0 };
                for (int k = 0; k < 3; ++k)
                    for (int c = 0; c < 3; ++c) q[c] += out.w[k] * x[3 * p.tris[3 * out.tri + k] + c];
                ASSERT_NEAR(std::hypot(q[0] - x[3 * i], q[1] - x[3 * i + 1], q[2] - x[3 * i + 2]), best, 1e-12);
                found++, inside += out.side < 0;
            } else {
                ASSERT_TRUE(best > near) << step << " " << i << " at "
                                         << best; // nothing inside was lost, unless beyond reach
                left_out++;
            }
        }
    }
    EXPECT_GT(inside, 500);
    EXPECT_GT(found - inside, 500);
    EXPECT_GT(left_out, 500);
    EXPECT_EQ(watched.calls, calls) << "it allocated while searching";
}

TEST(PieceSearch, WhatStandsStillDoesNotLookAgain)
{
    const PliHost host = pli_host_default();
    const Pieces p = three();
    std::unique_ptr<PliPieceSearch, Destroy> s(pli_piece_search_create(
        &host, p.x.data(), p.points(), p.tris.data(), p.count(), p.piece.data(), p.piece.back() + 1, 0.5, 0.1));
    ASSERT_TRUE(s);
    std::vector<double> x = p.x;
    PliPieceHit out;
    uint64_t looks = 0;
    for (int step = 0; step < 50; ++step) {
        for (size_t k = 0; k < x.size(); k += 3) x[k] += 0.3; // all together
        pli_piece_search_move(s.get(), x.data(), 0.1);
        for (PliIndex i = 0; i < p.points(); ++i) (void)pli_piece_search_nearest(s.get(), i, &out);
        if (step == 1) looks = pli_piece_search_looks(s.get());
    }
    EXPECT_GT(looks, 100u);
    EXPECT_LE(pli_piece_search_looks(s.get()) - looks, 48u); // one point has more triangles around it than a list holds
}

} // namespace
