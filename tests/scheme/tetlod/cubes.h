/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TESTS_TETLOD_CUBES_H
#define PLI_TESTS_TETLOD_CUBES_H

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/bodies.h"

extern "C" {
#include "scheme/tetlod/tetlod.h"
}

/// Cubes of so many cells a side, interior nodes jittered so that levels do not nest.
struct Levels {
    std::vector<pli_test::Mesh> mesh;
    std::vector<const PliMesh *> list;
    explicit Levels(std::vector<PliIndex> cells, double length = 1.0)
    {
        for (PliIndex n : cells) mesh.push_back(pli_test::box(n, n, n, length, length, length, 0.15, n));
        for (pli_test::Mesh &m : mesh) list.push_back(m.get());
    }
};

inline PliTetLodDef tetlod_def(const Levels &l)
{
    PliTetLodDef d = pli_tetlod_default();
    d.levels = l.list.data();
    d.level_count = static_cast<int>(l.list.size());
    d.base.gravity[1] = 0.0;
    return d;
}

inline pli_test::Body make_tetlod(const PliTetLodDef &d, const PliHost *host = nullptr)
{
    PliHost fallback = pli_host_default();
    fallback.log = nullptr;
    PliError err = {};
    pli_test::Body b(pli_tetlod_create(host ? host : &fallback, &d, &err));
    EXPECT_TRUE(b) << err.text;
    return b;
}

/// Turns, flies and bends.
inline void spin(pli_test::State &s)
{
    for (size_t i = 0; i < s.x.size(); i += 3) {
        s.v[i] = -2.0 * (s.x[i + 1] - 0.5) + 0.4;
        s.v[i + 1] = 2.0 * (s.x[i] - 0.5) + 0.6 * std::sin(4.0 * s.x[i + 2]);
        s.v[i + 2] = 0.6 * std::sin(5.0 * s.x[i] * s.x[i + 1]);
    }
}

#endif
