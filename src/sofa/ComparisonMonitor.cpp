/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/Linked.h"

#include <sofa/core/ObjectFactory.h>

namespace pliant
{
/// What `pliant compare` reads of a scene. In SOFA the bodies run side by side and nothing is measured: the component is here
/// so that the same file loads.
class PLIANT_API ComparisonMonitor : public Object
{
public:
    SOFA_CLASS(ComparisonMonitor, Object);

    SingleLink<ComparisonMonitor, BodyModel, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK> l_reference;
    Data<int> d_steps;
    Data<BodyModel::Vector<double>> d_instants;
    Data<Vec3> d_view, d_up;
    Data<std::string> d_title, d_note;

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
};

void registerComparisonMonitor(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(::sofa::core::ObjectRegistrationData(
                                 "Makes a scene a comparison of bodies for `pliant compare`; in SOFA it only keeps its attributes.")
                                 .add<ComparisonMonitor>());
}
} // namespace pliant
