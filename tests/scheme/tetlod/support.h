/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TESTS_HIERARCHY_SUPPORT_H
#define PLI_TESTS_HIERARCHY_SUPPORT_H

#include <cmath>
#include <memory>
#include <vector>

extern "C" {
#include "scheme/tetlod/levels.h"
}

struct MeshFree {
    void operator()(PliMesh *m) const { pli_mesh_destroy(m); }
};
struct LevelsFree {
    void operator()(PliLevels *l) const { pli_levels_destroy(l); }
};
using MeshHandle = std::unique_ptr<PliMesh, MeshFree>;
using LevelsHandle = std::unique_ptr<PliLevels, LevelsFree>;

/// Unit cube (or box to `max`) of n cells a side along the shortest edge, interior nodes jittered so that levels do not nest.
inline MeshHandle box_mesh(PliIndex nx, PliIndex ny, PliIndex nz, double lx = 1, double ly = 1, double lz = 1,
                           double jitter = 0.2, uint64_t seed = 1)
{
    PliHost host = pli_host_default();
    PliBoxDef def{};
    def.max[0] = lx, def.max[1] = ly, def.max[2] = lz;
    def.cells[0] = nx, def.cells[1] = ny, def.cells[2] = nz;
    def.jitter = jitter, def.seed = seed;
    PliError err{};
    return MeshHandle(pli_mesh_box(&host, &def, &err));
}

/// The cube mapped on the unit ball: a curved body, on which coarse meshes have less volume than fine ones.
inline MeshHandle ball_mesh(PliIndex n, uint64_t seed = 1)
{
    MeshHandle m = box_mesh(n, n, n, 1, 1, 1, 0.1, seed);
    for (PliIndex i = 0; i < m->point_count; ++i) {
        double *p = m->x + 3 * (size_t)i, q[3];
        for (int d = 0; d < 3; ++d) q[d] = 2 * p[d] - 1;
        for (int d = 0; d < 3; ++d) {
            const double a = q[(d + 1) % 3] * q[(d + 1) % 3], b = q[(d + 2) % 3] * q[(d + 2) % 3];
            p[d] = q[d] * std::sqrt(1 - a / 2 - b / 2 + a * b / 3);
        }
    }
    return m;
}

inline LevelsHandle make_levels(const std::vector<MeshHandle> &meshes, PliError *err = nullptr,
                                const char *cache = nullptr)
{
    PliHost host = pli_host_default();
    std::vector<const PliMesh *> list;
    for (const MeshHandle &m : meshes) list.push_back(m.get());
    return LevelsHandle(pli_levels_create(&host, list.data(), (int)list.size(), cache, err));
}

inline LevelsHandle box_levels(std::vector<PliIndex> cells)
{
    std::vector<MeshHandle> meshes;
    uint64_t seed = 7;
    for (PliIndex n : cells) meshes.push_back(box_mesh(n, n, n, 1, 1, 1, 0.2, seed++));
    return make_levels(meshes);
}

inline LevelsHandle ball_levels(std::vector<PliIndex> cells)
{
    std::vector<MeshHandle> meshes;
    uint64_t seed = 7;
    for (PliIndex n : cells) meshes.push_back(ball_mesh(n, seed++));
    return make_levels(meshes);
}

#endif
