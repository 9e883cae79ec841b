/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Surfaces for the tests of springs: spheres, tori, cloth.
#ifndef PLIANT_TEST_SURFACES_H
#define PLIANT_TEST_SURFACES_H

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "scheme/springs/pyramid.h"
#include "scheme/springs/remesh.h"

namespace pli_test
{

struct Surface {
    std::vector<double> x;
    std::vector<PliIndex> tris;
    PliIndex points() const { return static_cast<PliIndex>(x.size() / 3); }
    PliIndex triangles() const { return static_cast<PliIndex>(tris.size() / 3); }
    PliSurface view() const { return { x.data(), tris.data(), points(), triangles() }; }
};

/// Regular icosahedron cut `times` times and laid onto the unit sphere.
inline Surface icosphere(int times)
{
    const double g = 0.5 * (1 + std::sqrt(5.0));
    Surface s;
    s.x = { -1, g,  0,  1, g, 0,  -1, -g, 0,  1, -g, 0, 0,  -1, g,  0,  1, g,
            0,  -1, -g, 0, 1, -g, g,  0,  -1, g, 0,  1, -g, 0,  -1, -g, 0, 1 };
    s.tris = { 0, 11, 5, 0, 5, 1, 0, 1, 7, 0, 7, 10, 0, 10, 11, 1, 5, 9, 5, 11, 4,  11, 10, 2,  10, 7, 6, 7, 1, 8,
               3, 9,  4, 3, 4, 2, 3, 2, 6, 3, 6, 8,  3, 8,  9,  4, 9, 5, 2, 4,  11, 6,  2,  10, 8,  6, 7, 9, 8, 1 };
    auto onto = [](double *p) {
        const double r = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (int d = 0; d < 3; ++d) p[d] /= r;
    };
    for (size_t i = 0; i < 12; ++i) onto(&s.x[3 * i]);
    for (int k = 0; k < times; ++k) {
        std::map<std::pair<PliIndex, PliIndex>, PliIndex> middle;
        std::vector<PliIndex> fine;
        auto mid = [&](PliIndex a, PliIndex b) {
            auto [at, fresh] = middle.insert({ { std::min(a, b), std::max(a, b) }, s.points() });
            if (fresh) {
                double p[3];
                for (size_t d = 0; d < 3; ++d) p[d] = 0.5 * (s.x[3 * a + d] + s.x[3 * b + d]);
                onto(p);
                s.x.insert(s.x.end(), p, p + 3);
            }
            return at->second;
        };
        for (size_t t = 0; t < s.tris.size(); t += 3) {
            const PliIndex a = s.tris[t], b = s.tris[t + 1], c = s.tris[t + 2], ab = mid(a, b), bc = mid(b, c),
                           ca = mid(c, a);
            fine.insert(fine.end(), { a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca });
        }
        s.tris = fine;
    }
    return s;
}

inline Surface torus(PliIndex around, PliIndex across, double r = 0.35)
{
    Surface s;
    for (PliIndex i = 0; i < around; ++i)
        for (PliIndex j = 0; j < across; ++j) {
            const double u = 2 * M_PI * i / around, v = 2 * M_PI * j / across;
            s.x.insert(s.x.end(),
                       { (1 + r * std::cos(v)) * std::cos(u), (1 + r * std::cos(v)) * std::sin(u), r * std::sin(v) });
        }
    auto at = [&](PliIndex i, PliIndex j) { return (i % around) * across + j % across; };
    for (PliIndex i = 0; i < around; ++i)
        for (PliIndex j = 0; j < across; ++j)
            s.tris.insert(s.tris.end(),
                          { at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j), at(i + 1, j + 1), at(i, j + 1) });
    return s;
}

/// Flat square of n x n cells, in the plane y = 0.
inline Surface cloth(PliIndex n)
{
    Surface s;
    for (PliIndex i = 0; i <= n; ++i)
        for (PliIndex j = 0; j <= n; ++j) s.x.insert(s.x.end(), { double(i) / n, 0.0, double(j) / n });
    auto at = [&](PliIndex i, PliIndex j) { return i * (n + 1) + j; };
    for (PliIndex i = 0; i < n; ++i)
        for (PliIndex j = 0; j < n; ++j) {
            const PliIndex a = at(i, j), b = at(i + 1, j), c = at(i + 1, j + 1), d = at(i, j + 1);
            if ((i + j) % 2)
                s.tris.insert(s.tris.end(), { a, c, b, a, d, c });
            else
                s.tris.insert(s.tris.end(), { a, d, b, b, d, c });
        }
    return s;
}

/// A pyramid over `base` whose finer vertices have details of up to `bump` edge lengths.
inline PliPyramid *bumpy(const PliHost *host, const Surface &base, int levels, double bump, uint64_t seed)
{
    PliWinged *w = pli_winged_create(host, base.points(), base.tris.data(), base.triangles(), nullptr);
    PliPyramid *p = w ? pli_pyramid_create(host, w, base.x.data(), levels, nullptr) : nullptr;
    if (!p) return nullptr;
    std::vector<double> c(3 * size_t(p->vertex_count));
    pli_pyramid_analyse(p, p->rest, c.data());
    for (PliIndex v = base.points(); v < p->vertex_count; ++v) {
        const PliWing &e = p->mesh[p->level[v] - 1]->edge[pli_pyramid_edge(p, v)];
        double l = 0;
        for (size_t d = 0; d < 3; ++d) l += std::pow(p->rest[3 * e.start + d] - p->rest[3 * e.end + d], 2);
        for (size_t d = 0; d < 3; ++d) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            c[3 * size_t(v) + d] += bump * std::sqrt(l) * (2.0 * double(seed >> 11) * 0x1p-53 - 1.0);
        }
    }
    std::vector<double> x(c.size());
    pli_pyramid_synthesise(p, c.data(), x.data());
    if (pli_pyramid_set_rest(p, x.data(), nullptr) == PLI_OK) return p;
    pli_pyramid_destroy(p);
    return nullptr;
}

} // namespace pli_test

#endif
