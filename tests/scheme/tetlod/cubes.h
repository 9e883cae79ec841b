/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TESTS_TETLOD_CUBES_H
#define PLI_TESTS_TETLOD_CUBES_H

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

#endif
