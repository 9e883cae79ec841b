/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The liver scenes as they are shipped: it falls on a floor, a ball presses it, slides along it and leaves. 2,000 steps of each way
// to answer contact.
#include "scene.h"

#include <array>

#include "support/fold.h"

using namespace scene;

namespace
{
struct Way
{
    const char* name;
    double contactDistance; ///< m, of the scene
    double speed;           ///< m/s the slowest resting state may still have
};
std::ostream& operator<<(std::ostream& out, const Way& w)
{
    return out << w.name;
}

/// How deep a point is inside a convex ball of triangles, m; negative: outside.
class Ball
{
public:
    Ball(Scene& run)
        : m_run(run)
    {
        std::istringstream text(run.data("Tool/ball", "triangles")->getValueString());
        for (std::array<int, 3> t; text >> t[0] >> t[1] >> t[2];)
            m_triangles.push_back(t);
    }
    double depth(const Vec3Types::Coord& p) const
    {
        const VecCoord& x = m_run.x("Tool/points");
        double out = -INFINITY;
        for (const auto& t : m_triangles)
        {
            auto n = sofa::type::cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]);
            n.normalize();
            out = largest_of(out, double(n * (p - x[t[0]])));
        }
        return -out;
    }

private:
    Scene& m_run;
    std::vector<std::array<int, 3>> m_triangles;
};

double number(Scene& run, const char* name)
{
    return std::stod(run.data("Body/model", name)->getValueString());
}
} // namespace

class Liver : public sofa::testing::BaseSimulationTest, public ::testing::WithParamInterface<Way>
{
};

TEST_P(Liver, FloorAndMovingTool)
{
    const Way way = GetParam();
    Scene run(std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes/single" / (std::string("sofa_") + way.name + ".scn"),
              0);
    ASSERT_TRUE(run.isValid("Body/model"));
    const Ball ball(run);
    const double floor = run.x("Floor/points")[0][1];
    double through = -INFINITY, quickest = 0.0, before = 0.0, pressed = 0.0, after = 0.0, touched = -INFINITY;
    for (int i = 1; i <= 2000; ++i)
    {
        double inside = -INFINITY;
        run.steps(1);
        for (const auto& p : run.x("Body/Skin/points"))
        {
            through = largest_of(through, floor - double(p[1]));
            inside = largest_of(inside, ball.depth(p));
        }
        through = largest_of(through, inside);
        touched = largest_of(touched, inside);
        double speed = 0.0;
        for (const auto& v : run.v())
            speed = largest_of(speed, double(v.norm()));
        ASSERT_TRUE(std::isfinite(speed)) << "step " << i;
        quickest = largest_of(quickest, speed);
        if (i == 195)
            before = number(run, "activeDofs");
        if (i > 400 && i < 700)
            pressed = largest_of(pressed, number(run, "activeDofs"));
        if (i == 2000)
            after = number(run, "activeDofs");
    }
    double last = 0.0;
    for (const auto& v : run.v())
        last = largest_of(last, double(v.norm()));
    std::printf("%s: nearest to a surface %.3f mm, fastest point %.2f m/s, at the end %.2g m/s, active coefficients %g "
                "before, %g under, "
                "%g after the tool; %g refinements, %g coarsenings\n",
                way.name, -1e3 * through, quickest, last, before, pressed, after, number(run, "refined"),
                number(run, "coarsened"));
    EXPECT_LT(through, 0.0); // nothing crosses: penetration is never more than the contact distance
    EXPECT_GT(touched, -way.contactDistance - 1e-4); // and the tool did touch
    EXPECT_LT(quickest, 2.0);
    EXPECT_LT(last, way.speed);
    EXPECT_GT(pressed, before);
    EXPECT_LT(after, pressed);
}

INSTANTIATE_TEST_SUITE_P(Ways, Liver,
                         ::testing::Values(Way{ "penalty_explicit", 0.012, 0.02 }, Way{ "penalty_stock", 0.012, 0.02 },
                                           Way{ "lagrangian_implicit", 0.002, 0.02 },
                                           Way{ "lagrangian_explicit", 0.002, 0.05 },
                                           Way{ "lagrangian_stock", 0.002, 0.02 }),
                         [](const auto& test) { return std::string(test.param.name); });
