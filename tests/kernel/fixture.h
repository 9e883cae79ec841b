/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TEST_KERNEL_FIXTURE_H
#define PLI_TEST_KERNEL_FIXTURE_H

// A jittered box of tetrahedra, kernels over it, and small vector helpers for the tests of the elastic kernel.

extern "C" {
#include "kernel/elastic.h"
#include "base/hash.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

using Vec = std::vector<double>;

struct Box {
    Vec rest_points;
    std::vector<PliIndex> tets, which;
    std::vector<PliTetRest> rest;
    Vec volume, stiffness;
    PliIndex points = 0, count = 0;

    /// n cells per edge, six tetrahedra each, in a shuffled order so that neighbours are spread over packs.
    explicit Box(int n, uint64_t seed = 1)
    {
        static const int corner[6][4] = { { 0, 1, 3, 7 }, { 0, 5, 1, 7 }, { 0, 4, 5, 7 },
                                          { 0, 3, 2, 7 }, { 0, 2, 6, 7 }, { 0, 6, 4, 7 } };
        int m = n + 1;
        points = PliIndex(m * m * m);
        for (int k = 0; k < m; ++k)
            for (int j = 0; j < m; ++j)
                for (int i = 0; i < m; ++i)
                    for (int c : { i, j, k }) rest_points.push_back((c + 0.3 * (pli_random_unit(&seed) - 0.5)) / n);
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < n; ++i)
                    for (auto &t : corner)
                        for (int c : t)
                            tets.push_back(PliIndex(((k + (c >> 2)) * m + j + (c >> 1 & 1)) * m + i + (c & 1)));
        count = PliIndex(tets.size() / 4);
        for (PliIndex i = count - 1; i > 0; --i) {
            PliIndex j = PliIndex(pli_random(&seed) % (i + 1));
            std::swap_ranges(tets.begin() + 4 * i, tets.begin() + 4 * i + 4, tets.begin() + 4 * j);
        }
        rest.resize(count);
        PliIndex bad = PLI_NONE;
        EXPECT_EQ(PLI_OK, pli_tet_rest(tets.data(), count, rest_points.data(), rest.data(), &bad)) << "tet " << bad;
        for (PliIndex i = 0; i < count; ++i) {
            which.push_back(i);
            volume.push_back(rest[i].volume);
            stiffness.push_back(0.5 + pli_random_unit(&seed));
        }
    }

    Vec deformed(double amount, uint64_t seed = 7) const
    {
        Vec x = rest_points;
        for (double &c : x) c += amount * (pli_random_unit(&seed) - 0.5);
        return x;
    }
};

inline Vec random_vec(size_t n, uint64_t seed, double size = 1.0)
{
    Vec r(n);
    for (double &c : r) c = size * (2.0 * pli_random_unit(&seed) - 1.0);
    return r;
}

inline double dot(const Vec &a, const Vec &b)
{
    double s = 0.0;
    for (size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
    return s;
}
inline double norm(const Vec &a) { return std::sqrt(dot(a, a)); }
inline double distance(const Vec &a, const Vec &b)
{
    double s = 0.0;
    for (size_t i = 0; i < a.size(); ++i) s += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(s);
}
inline bool same_bits(const Vec &a, const Vec &b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

inline PliMaterial material(PliLaw law, double damping = 0.0) { return { law, 1000.0, 0.35, 1000.0, damping }; }

using Elastic = std::unique_ptr<PliElastic, void (*)(PliElastic *)>;

inline Elastic make_elastic(const Box &box, const PliMaterial &m, PliSimd simd = PLI_SIMD_AVX512,
                            const PliHost *host = nullptr, bool stiff = true)
{
    PliHost own = pli_host_default();
    PliElasticDef def = {};
    def.sample_poisson = true;
    def.material = m, def.simd = simd, def.point_capacity = box.points, def.tet_capacity = box.count;
    def.sample_capacity = box.count, def.sample_entry_capacity = 4 * size_t(box.count);
    PliError err = {};
    Elastic e(pli_elastic_create(host ? host : &own, &def, &err), pli_elastic_destroy);
    EXPECT_TRUE(e) << err.text;
    EXPECT_EQ(PLI_OK, pli_elastic_set_tets(e.get(), box.points, box.count, box.tets.data(), box.which.data(),
                                           box.rest.data(), box.volume.data(), stiff ? box.stiffness.data() : nullptr));
    return e;
}

/// The same box as general samples of four basis functions, with optional offsets; its tets are removed.
inline Elastic make_samples(const Box &box, const PliMaterial &m, const double *f0 = nullptr,
                            const double *s0 = nullptr, PliSimd simd = PLI_SIMD_AVX512, const PliHost *host = nullptr)
{
    Elastic e = make_elastic(box, m, simd, host);
    EXPECT_EQ(PLI_OK, pli_elastic_set_tets(e.get(), 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr));
    std::vector<PliIndex> first;
    Vec grad;
    for (PliIndex i = 0; i < box.count; ++i) {
        const double *g = box.rest[i].grad;
        first.push_back(4 * i);
        for (int j = 0; j < 3; ++j) grad.push_back(-(g[j] + g[3 + j] + g[6 + j]));
        grad.insert(grad.end(), g, g + 9);
    }
    first.push_back(4 * box.count);
    EXPECT_EQ(PLI_OK, pli_elastic_set_samples(e.get(), box.points, box.count, first.data(), box.tets.data(),
                                              grad.data(), box.volume.data(), box.stiffness.data(), f0, s0));
    return e;
}

inline Vec force(PliElastic *e, const Vec &x, const double *v = nullptr)
{
    Vec f(x.size(), 0.0);
    pli_elastic_add_force(e, x.data(), v, f.data());
    return f;
}
inline Vec dforce(PliElastic *e, const Vec &dx, double k = 1.0)
{
    Vec f(dx.size(), 0.0);
    pli_elastic_add_dforce(e, dx.data(), k, f.data());
    return f;
}

/// Rotation of `angle` about a fixed skew axis, and a translation.
inline Vec rigid(const Vec &x, double angle)
{
    double w = std::cos(angle / 2), n = std::sin(angle / 2) / std::sqrt(14.0), a = n, b = 2 * n, c = 3 * n;
    double R[9] = { 1 - 2 * (b * b + c * c), 2 * (a * b - w * c),     2 * (a * c + w * b),
                    2 * (a * b + w * c),     1 - 2 * (a * a + c * c), 2 * (b * c - w * a),
                    2 * (a * c - w * b),     2 * (b * c + w * a),     1 - 2 * (a * a + b * b) };
    Vec r(x.size());
    for (size_t p = 0; p < x.size(); p += 3)
        for (int i = 0; i < 3; ++i)
            r[p + i] = R[3 * i] * x[p] + R[3 * i + 1] * x[p + 1] + R[3 * i + 2] * x[p + 2] + 0.3 * (i + 1);
    return r;
}

inline std::vector<PliSimd> simd_levels()
{
    std::vector<PliSimd> r = { PLI_SIMD_NONE };
    if (pli_simd_best() >= PLI_SIMD_AVX2) r.push_back(PLI_SIMD_AVX2);
    if (pli_simd_best() >= PLI_SIMD_AVX512) r.push_back(PLI_SIMD_AVX512);
    return r;
}

#endif
