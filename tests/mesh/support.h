/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_TESTS_MESH_SUPPORT_H
#define PLIANT_TESTS_MESH_SUPPORT_H

#include <pliant/mesh.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>

struct MeshDelete {
    void operator()(PliMesh *m) const { pli_mesh_destroy(m); }
    void operator()(PliLocator *l) const { pli_locator_destroy(l); }
};
using MeshPtr = std::unique_ptr<PliMesh, MeshDelete>;
using LocatorPtr = std::unique_ptr<PliLocator, MeshDelete>;

inline MeshPtr make_box(std::array<PliIndex, 3> cells, std::array<double, 3> min, std::array<double, 3> max,
                        double jitter = 0, uint64_t seed = 0)
{
    PliHost host = pli_host_default();
    PliBoxDef d{};
    for (int a = 0; a < 3; ++a) d.min[a] = min[a], d.max[a] = max[a], d.cells[a] = cells[a];
    d.jitter = jitter, d.seed = seed;
    return MeshPtr(pli_mesh_box(&host, &d, nullptr));
}

#endif
