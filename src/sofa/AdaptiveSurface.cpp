/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/AdaptiveSurface.h"

#include <sofa/core/ObjectFactory.h>

namespace pliant
{
AdaptiveSurface::AdaptiveSurface()
    : l_model(initLink("model", "the body whose skin this is; default: the model above this node"))
    , d_level(initData(&d_level, "level", "finest level that moves each skin point now, 0 is the coarsest"))
{
    d_level.setReadOnly(true);
    d_level.setPersistent(false);
}

void AdaptiveSurface::init()
{
    BodyModel* const model = findModel(this, l_model);
    if (!model)
        return;
    if (model->d_triangles.getValue().empty())
    {
        msg_error() << "the body " << model->getName() << " has no skin: give it skin=\"surface.obj\"";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    const VecCoord& skin = model->d_skinPosition.getValue();
    auto points = ::sofa::helper::getWriteOnlyAccessor(d_seqPoints);
    points.resize(skin.size());
    for (std::size_t i = 0; i < skin.size(); ++i)
        for (int d = 0; d < 3; ++d)
            points[i][d] = skin[i][d];
    nbPoints = ::sofa::Size(skin.size());
    d_seqTriangles.setValue(model->d_triangles.getValue());
    addUpdateCallback("level", { &model->d_steps },
                      [this](const ::sofa::core::DataTracker&)
                      {
                          PliBody* const body = l_model->body();
                          const uint8_t* const level = body ? pli_body_skin_level(body) : nullptr;
                          auto out = ::sofa::helper::getWriteOnlyAccessor(d_level);
                          out.resize(body ? pli_body_skin_count(body) : 0);
                          for (std::size_t i = 0; i < out.size(); ++i)
                              out[i] = level ? level[i] : 0;
                          return d_componentState.getValue();
                      },
                      { &d_level });
    d_componentState.setValue(ComponentState::Valid);
    Inherit1::init();
}

void registerAdaptiveSurface(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData(
            "Topology of the skin of a Pliant body: its points and triangles, which stay the same while levels change.")
            .add<AdaptiveSurface>());
}
} // namespace pliant
