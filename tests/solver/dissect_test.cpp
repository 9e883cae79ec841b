/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

extern "C" {
#include "solver/dissect.h"
}

namespace
{

struct Graph {
    PliIndex n = 0;
    std::vector<std::vector<PliIndex>> neighbours;
    void join(PliIndex a, PliIndex b) { neighbours[a].push_back(b), neighbours[b].push_back(a); }
};

Graph grid(PliIndex nx, PliIndex ny, PliIndex nz)
{
    Graph g;
    g.n = nx * ny * nz, g.neighbours.resize(g.n);
    for (PliIndex z = 0; z < nz; ++z)
        for (PliIndex y = 0; y < ny; ++y)
            for (PliIndex x = 0; x < nx; ++x) {
                const PliIndex i = x + nx * (y + ny * z);
                if (x + 1 < nx) g.join(i, i + 1);
                if (y + 1 < ny) g.join(i, i + nx);
                if (z + 1 < nz) g.join(i, i + nx * ny);
                if (x + 1 < nx && y + 1 < ny && z + 1 < nz) g.join(i, i + 1 + nx + nx * ny);
            }
    return g;
}

struct Pieces {
    std::vector<PliIndex> order, piece; ///< piece[point]: its leaf, PLI_NONE: a separator
    PliIndex leaves = 0, largest = 0, between = 0;
};

Pieces dissect(const Graph &g, PliIndex leaf)
{
    std::vector<PliIndex> first(g.n + 1, 0), near, begin(g.n), end(g.n), work(PLI_DISSECT_WORK * size_t(g.n));
    for (PliIndex i = 0; i < g.n; ++i) {
        near.insert(near.end(), g.neighbours[i].begin(), g.neighbours[i].end());
        first[i + 1] = PliIndex(near.size());
    }
    Pieces p;
    p.order.resize(g.n), p.piece.assign(g.n, PLI_NONE);
    p.leaves = pli_dissect(g.n, first.data(), near.data(), leaf, p.order.data(), begin.data(), end.data(), work.data());
    PliIndex inside = 0;
    for (PliIndex k = 0; k < p.leaves; ++k) {
        p.largest = std::max(p.largest, end[k] - begin[k]);
        for (PliIndex at = begin[k]; at < end[k]; ++at, ++inside) p.piece[p.order[at]] = k;
    }
    p.between = g.n - inside;
    return p;
}

// The oracle: every point once, and nothing joins two pieces.
void expect_apart(const Graph &g, const Pieces &p)
{
    std::vector<PliIndex> sorted = p.order;
    std::sort(sorted.begin(), sorted.end());
    for (PliIndex i = 0; i < g.n; ++i) ASSERT_EQ(sorted[i], i);
    for (PliIndex i = 0; i < g.n; ++i)
        for (PliIndex j : g.neighbours[i])
            EXPECT_TRUE(p.piece[i] == PLI_NONE || p.piece[j] == PLI_NONE || p.piece[i] == p.piece[j]) << i << " " << j;
}

} // namespace

TEST(Dissect, PiecesOfAGridAreApart)
{
    const Graph g = grid(12, 9, 7);
    const Pieces p = dissect(g, 40);
    expect_apart(g, p);
    EXPECT_GT(p.leaves, 8u);
    EXPECT_LE(p.largest, 40u);
}

TEST(Dissect, ABarIsCutAcross)
{
    const Graph g = grid(40, 4, 4);
    const Pieces p = dissect(g, 480); // one cut is enough, and a slice has 16 points
    expect_apart(g, p);
    EXPECT_EQ(p.leaves, 2u);
    EXPECT_EQ(p.between, 16u);
}

TEST(Dissect, TheNeckOfTwoCubesIsFound)
{
    Graph a = grid(8, 8, 8), g;
    g.n = 2 * a.n + 1, g.neighbours.resize(g.n);
    for (PliIndex i = 0; i < a.n; ++i)
        for (PliIndex j : a.neighbours[i]) {
            g.neighbours[i].push_back(j);
            g.neighbours[a.n + i].push_back(a.n + j);
        }
    g.join(a.n - 1, 2 * a.n), g.join(2 * a.n, a.n); // one point between them
    const Pieces p = dissect(g, 600);
    expect_apart(g, p);
    EXPECT_EQ(p.between, 1u);
}

TEST(Dissect, SeveralBodiesAndPointsAlone)
{
    Graph g = grid(6, 6, 6);
    const PliIndex n = g.n;
    g.n = 3 * n, g.neighbours.resize(g.n); // the second has no edges, the third is as the first
    for (PliIndex i = 0; i < n; ++i)
        for (PliIndex j : g.neighbours[i]) g.neighbours[2 * n + i].push_back(2 * n + j);
    expect_apart(g, dissect(g, 20));
}

TEST(Dissect, RandomAndCompleteGraphs)
{
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        Graph g;
        g.n = 60 + PliIndex(round), g.neighbours.resize(g.n);
        const unsigned edges = 40u + 12u * unsigned(round);
        for (unsigned e = 0; e < edges; ++e) {
            const PliIndex a = random() % g.n, b = random() % g.n;
            if (a != b && std::find(g.neighbours[a].begin(), g.neighbours[a].end(), b) == g.neighbours[a].end())
                g.join(a, b);
        }
        expect_apart(g, dissect(g, 5));
    }
    Graph g;
    g.n = 30, g.neighbours.resize(g.n);
    for (PliIndex i = 0; i < g.n; ++i)
        for (PliIndex j = 0; j < i; ++j) g.join(i, j);
    EXPECT_EQ(dissect(g, 5).leaves, 1u); // nothing parts them
}
