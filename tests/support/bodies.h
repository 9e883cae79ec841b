/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Small fixtures shared by the tests of bodies: owning handles, a box, a state.
#ifndef PLIANT_TEST_BODIES_H
#define PLIANT_TEST_BODIES_H

#include <pliant/stages.h>

#include <memory>
#include <vector>

namespace pli_test
{

struct MeshDelete {
    void operator()(PliMesh *m) const { pli_mesh_destroy(m); }
};
struct BodyDelete {
    void operator()(PliBody *b) const { pli_body_destroy(b); }
};
using Mesh = std::unique_ptr<PliMesh, MeshDelete>;
using Body = std::unique_ptr<PliBody, BodyDelete>;

inline Mesh box(PliIndex nx, PliIndex ny, PliIndex nz, double lx = 1, double ly = 1, double lz = 1, double jitter = 0,
                uint64_t seed = 1)
{
    PliHost host = pli_host_default();
    PliBoxDef def = { { 0, 0, 0 }, { lx, ly, lz }, { nx, ny, nz }, jitter, seed };
    return Mesh(pli_mesh_box(&host, &def, nullptr));
}

/// Positions and velocities as a host would keep them.
struct State {
    std::vector<double> x, v, f;
    PliState view{};
    explicit State(const PliBody *b)
        : x(pli_body_rest(b), pli_body_rest(b) + 3 * pli_body_dof_count(b)), v(x.size(), 0.0)
    {
        view.x = x.data();
        view.v = v.data();
    }
};

} // namespace pli_test

#endif
