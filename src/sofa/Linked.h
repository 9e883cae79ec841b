/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/BodyModel.h"

#include <sofa/simulation/Node.h>

namespace pliant
{
/// The link every component has to the model it serves.
template <class Owner>
using ModelLink = SingleLink<Owner, BodyModel, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK>;

/// Follows the link, or takes the one model of this node or its ancestors; builds its body. On failure prints one
/// sentence, makes the component Invalid and returns nullptr.
template <class Owner>
BodyModel* findModel(Owner* self, ModelLink<Owner>& link)
{
    if (!link.get() && link.getLinkedPath().empty())
        link.set(self->getContext()->template get<BodyModel>(BaseContext::SearchUp));
    BodyModel* const model = link.get();
    if (!model)
    {
        if (link.getLinkedPath().empty())
            msg_error(self) << "no body: set model=\"@path\" to a body, such as a FemModel";
        else
            msg_error(self) << "model=\"" << link.getLinkedPath() << "\" leads to no Pliant model";
        self->d_componentState.setValue(ComponentState::Invalid);
        return nullptr;
    }
    if (!model->ensureBuilt())
    {
        msg_error(self) << "the body " << model->getName() << " could not be made (see its own message)";
        self->d_componentState.setValue(ComponentState::Invalid);
        return nullptr;
    }
    return model;
}
} // namespace pliant
