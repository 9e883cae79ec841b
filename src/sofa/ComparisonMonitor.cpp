/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/Linked.h"

#include <sofa/core/ObjectFactory.h>

#include <algorithm>
#include <cmath>

namespace pliant
{
/// What `pliant compare` reads of a scene. In SOFA the bodies run side by side and nothing is measured: the component is here
/// so that the same file loads, and draws the bodies, which lie in the same place, next to each other.
class PLIANT_API ComparisonMonitor : public Object
{
public:
    SOFA_CLASS(ComparisonMonitor, Object);

    SingleLink<ComparisonMonitor, BodyModel, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK> l_reference;
    Data<int> d_steps;
    Data<BodyModel::Vector<double>> d_instants;
    Data<Vec3> d_view, d_up;
    Data<std::string> d_title, d_note;

    void bwdInit() override { spread(); }

protected:
    ComparisonMonitor()
        : l_reference(initLink("reference", "model the others are measured against"))
        , d_steps(initData(&d_steps, 200, "steps", "steps of the comparison"))
        , d_instants(initData(&d_instants, "instants", "s, when pictures are taken, up to 8; default: four, evenly"))
        , d_view(initData(&d_view, Vec3(), "view", "direction from the bodies to the eye; zero: chosen"))
        , d_up(initData(&d_up, Vec3(), "up", "what is up in pictures; zero: y"))
        , d_title(initData(&d_title, "title", "of the report"))
        , d_note(initData(&d_note, "note", "what happens in the scene, for the report"))
    {
    }

private:
    /// Bodies in rows, in the order of the scene, as the eye sees them.
    void spread()
    {
        auto* const root = dynamic_cast<::sofa::simulation::Node*>(getContext()->getRootContext());
        std::vector<BodyModel*> bodies;
        if (root)
            root->getTreeObjects<BodyModel>(&bodies);
        Vec3 up = d_up.getValue().norm() > 0. ? d_up.getValue() : Vec3(0., 1., 0.);
        const Vec3 eye = d_view.getValue().norm() > 0. ? d_view.getValue().normalized() : Vec3(0., 0., 1.);
        Vec3 right = cross(up, eye);
        if (!(right.norm() > 1e-9)) // seen from above
            right = cross(up, std::abs(up[0]) < 0.5 * up.norm() ? Vec3(-1., 0., 0.) : Vec3(0., 0., 1.));
        right.normalize();
        up = cross(eye, right);
        double width = 0., height = 0.;
        for (const BodyModel* body : bodies)
        {
            width = std::max(width, extent(*body, right));
            height = std::max(height, extent(*body, up));
        }
        const std::size_t count = bodies.size(),
                          columns = count < 4 ? count : std::size_t(std::ceil(std::sqrt(1.5 * double(count))));
        for (std::size_t i = 0; i < count; ++i)
        {
            const double column = double(i % columns) - 0.5 * double(columns - 1),
                         row = double(i / columns) - 0.5 * double((count - 1) / columns);
            bodies[i]->drawAside(right * (1.3 * width * column) - up * (1.6 * height * row));
        }
    }

    static double extent(const BodyModel& body, const Vec3& axis)
    {
        const VecCoord& skin = body.d_skinPosition.getValue();
        if (skin.empty())
            return 0.;
        double low = axis * skin[0], high = low;
        for (const auto& p : skin)
        {
            low = std::min(low, axis * p);
            high = std::max(high, axis * p);
        }
        return high - low;
    }
};

void registerComparisonMonitor(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData(
            "Makes a scene a comparison of bodies for `pliant compare`; in SOFA it draws them next to each other.")
            .add<ComparisonMonitor>());
}
} // namespace pliant
