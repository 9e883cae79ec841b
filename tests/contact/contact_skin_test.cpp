/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Contact points that share coefficients: a skin of any resolution must give the same press, and no energy.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/bodies.h"
#include "support/fold.h"

using namespace pli_test;

namespace
{

struct Press {
    double elastic, worst, force; ///< J at the end; J that no tool put in, at most; N at the end
};

/// A press flattens a box of 4^3 cells on a floor by a quarter in 0.6 s and holds it; the skin has `cells` per side.
Press squeeze(PliIndex cells, double friction)
{
    Mesh mesh = box(4, 4, 4), skin = box(cells, cells, cells);
    EXPECT_EQ(pli_mesh_find_surface(skin.get()), PLI_OK);
    std::vector<PliIndex> number(skin->point_count, PLI_NONE), tris;
    std::vector<double> points;
    for (PliIndex i = 0; i < 3 * skin->tri_count; ++i) {
        const PliIndex p = skin->tris[i];
        if (number[p] == PLI_NONE) {
            number[p] = static_cast<PliIndex>(points.size() / 3);
            points.insert(points.end(), skin->x + 3 * p, skin->x + 3 * p + 3);
        }
        tris.push_back(number[p]);
    }
    const PliHost host = pli_host_default();
    PliFemDef def = pli_fem_default();
    def.mesh = mesh.get();
    def.base.material.law = PLI_NEOHOOKEAN;
    def.base.material.young = 2e5;
    def.base.material.damping = 2e-4;
    def.base.mass_damping = 4.0;
    def.base.gravity[1] = 0.0;
    Body body(pli_fem_create(&host, &def, nullptr));
    EXPECT_EQ(pli_body_attach_skin(body.get(), points.data(), static_cast<PliIndex>(points.size() / 3), tris.data(),
                                   static_cast<PliIndex>(tris.size() / 3), nullptr),
              PLI_OK);
    PliTool tool[2] = {};
    for (PliTool &t : tool) t.shape = PLI_TOOL_PLANE, t.friction = friction;
    tool[0].other[1] = 1.0;
    tool[1].other[1] = -1.0;
    EXPECT_EQ(pli_body_set_tools(body.get(), tool, 2, nullptr), PLI_OK);
    State s(body.get());
    const double dt = 0.01;
    double work = 0.0;
    Press press = {};
    for (int k = 0; k < 120; ++k) {
        tool[1].position[1] = 1.0 - 0.25 * std::fmin(1.0, k / 60.0);
        tool[1].velocity[1] = k < 60 ? -0.25 / 0.6 : 0.0;
        EXPECT_TRUE(pli_body_step(body.get(), &s.view, dt).finite);
        work -= tool[1].force[1] * tool[1].velocity[1] * dt;
        const PliEnergy e = pli_body_energy(body.get(), s.x.data(), s.v.data());
        press.worst = largest_of(press.worst, e.elastic + e.kinetic - work);
        press.elastic = e.elastic;
        press.force = tool[1].force[1];
    }
    return press;
}

TEST(ContactSkin, AFineSkinPressesLikeACoarseOne)
{
    for (double friction : { 0.0, 0.5 }) {
        const Press own = squeeze(4, friction);
        EXPECT_GT(own.elastic, 5000.0);
        for (PliIndex cells : { 8u, 10u }) {
            const Press fine = squeeze(cells, friction);
            EXPECT_NEAR(fine.elastic, own.elastic, 0.01 * own.elastic) << cells << " " << friction;
            EXPECT_NEAR(fine.force, own.force, 0.03 * own.force) << cells << " " << friction;
            EXPECT_LT(fine.worst, 0.005 * own.elastic)
                << cells << " " << friction; // one pass over the points gave 0.05 and 0.3
        }
    }
}

} // namespace
