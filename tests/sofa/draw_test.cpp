/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What a window shows of bodies: the box its eye looks at.
#include "scene.h"

#include "sofa/compat.h"

using namespace scene;

class Draw : public sofa::testing::BaseSimulationTest
{
protected:
    static std::string body(const std::string& name)
    {
        return "<Node name=\"" + name + "\"><FemModel name=\"model\" " + box(2, 0.5)
               + "/><MechanicalObject name=\"dofs\" position=\"@model.position\"/><AdaptiveSolver/></Node>\n";
    }
    static sofa::type::BoundingBox drawn(Scene& scene, const std::string& node)
    {
        auto* const model = scene.get<pliant::Object>(node + "/model");
        model->computeBBox(sofa::core::execparams::defaultInstance(), true);
        return model->f_bbox.getValue();
    }
};

TEST_F(Draw, ABodyAloneIsDrawnWhereItIs)
{
    Scene scene(root(defaultLoop + body("one")));
    const auto a = drawn(scene, "one");
    for (int d = 0; d < 3; ++d)
    {
        EXPECT_NEAR(a.minBBox()[d], 0.0, 1e-12);
        EXPECT_NEAR(a.maxBBox()[d], 0.5, 1e-12);
    }
}

TEST_F(Draw, ComparedBodiesAreDrawnApartAndStayInPlace)
{
    std::string content = defaultLoop + "<ComparisonMonitor reference=\"@b0/model\" view=\"1 0 0\" up=\"0 0 1\"/>\n";
    for (int i = 0; i < 5; ++i)
        content += body("b" + std::to_string(i));
    Scene scene(root(content));
    for (int i = 0; i < 5; ++i)
    {
        const auto a = drawn(scene, "b" + std::to_string(i));
        // as seen from x: apart along y (to the right) or z (down), not in depth
        EXPECT_NEAR(a.minBBox()[0], 0.0, 1e-12);
        EXPECT_NEAR((a.maxBBox() - a.minBBox()).norm(), 0.5 * std::sqrt(3.0), 1e-12);
        for (int j = 0; j < i; ++j)
        {
            const auto b = drawn(scene, "b" + std::to_string(j));
            const bool apart = a.minBBox()[1] > b.maxBBox()[1] || b.minBBox()[1] > a.maxBBox()[1]
                               || a.minBBox()[2] > b.maxBBox()[2] || b.minBBox()[2] > a.maxBBox()[2];
            EXPECT_TRUE(apart) << i << " and " << j;
        }
        if (i == 1)
        {
            EXPECT_GT(a.minBBox()[1], drawn(scene, "b0").maxBBox()[1]) << "the second is right of the first";
        }
        // neither the body nor its state is where it is drawn
        for (const char* name : { "/model", "/dofs" })
        {
            auto* const owner = scene.get<pliant::Object>("b" + std::to_string(i) + name);
            EXPECT_EQ(owner->findData("position")->getValueString().substr(0, 5), "0 0 0") << name;
        }
    }
}
