/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/SkinForces.h"

#include <sofa/core/ObjectFactory.h>

namespace pliant
{
SkinForce::SkinForce()
    : l_model(initLink("model", "the body; default: the model of this node or above"))
{
}

void SkinForce::init()
{
    Inherit1::init();
    BodyModel* const found = findModel(this, l_model);
    if (!found)
        return;
    const PliHost host = pli_host_default();
    PliError error{};
    m_force.reset(make(&host, found->body(), &error));
    if (!m_force)
    {
        msg_error() << error.text;
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    found->addSkinForce(this);
    PliIndex count = 0;
    for (const SkinForce* force : found->skinForces())
        count += pli_skin_force_capacity(force->force());
    if (pli_body_reserve_points(found->body(), count, &error) != PLI_OK)
    {
        msg_error() << error.text;
        found->removeSkinForce(this);
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    d_componentState.setValue(ComponentState::Valid);
}

void SkinForce::cleanup()
{
    if (l_model.get())
        l_model->removeSkinForce(this);
}

PieceContact::PieceContact()
    : d_depth(initData(&d_depth, 0., "depth", "m, deepest contact in the last step"))
{
    static const PliPiecesDef defaults = pli_pieces_default();
    m_attributes.add(this, pli_pieces_attributes, &defaults, "Contact");
    d_depth.setGroup("Statistics");
    d_depth.setReadOnly(true);
    d_depth.setPersistent(false);
}

PliSkinForce* PieceContact::make(const PliHost* host, const PliBody* body, PliError* error)
{
    PliPiecesDef def = pli_pieces_default();
    if (m_attributes.write(pli_pieces_attributes, &def, error) != PLI_OK)
        return nullptr;
    return pli_skin_force_pieces(host, body, &def, error);
}

SkinTarget::SkinTarget()
    : d_filename(initData(&d_filename, "filename", "surface file of the target"))
    , l_target(initLink("target", "loader or topology with the target, instead of filename"))
    , d_distance(initData(&d_distance, 0., "distance",
                          "m, RMS distance of the skin from what it is drawn to, in the last step"))
{
    static const PliTargetDef defaults = pli_target_default();
    m_attributes.add(this, pli_target_attributes, &defaults, "Target");
    d_distance.setGroup("Statistics");
    d_distance.setReadOnly(true);
    d_distance.setPersistent(false);
}

PliSkinForce* SkinTarget::make(const PliHost* host, const PliBody* body, PliError* error)
{
    PliTargetDef def = pli_target_default();
    if (m_attributes.write(pli_target_attributes, &def, error) != PLI_OK)
        return nullptr;
    const bool linked = l_target.get() || !l_target.getLinkedPath().empty();
    if (!d_filename.getValue().empty() && linked)
        return pli_refuse(error, PLI_BAD_ARGUMENT, "both filename and target are given: choose one"), nullptr;
    if (d_filename.getValue().empty() && !linked)
        return pli_refuse(error, PLI_BAD_ARGUMENT, "no target: give filename=\"...\" or target=\"@loader\""), nullptr;
    if (linked && !l_target.get())
        return pli_refuse(error, PLI_BAD_ARGUMENT, "target=\"%s\" leads to no component",
                          l_target.getLinkedPath().c_str()),
               nullptr;
    const BodyModel::MeshPtr mesh = linked ? BodyModel::meshFrom(host, l_target.get(), PLI_MESH_SOLID_OR_SURFACE, error)
                                           : BodyModel::meshFrom(host, d_filename.getFullPath(), error);
    return mesh ? pli_skin_force_target(host, body, &def, mesh.get(), error) : nullptr;
}

void registerSkinForces(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData(
            "Contact between the separate pieces of one Pliant body, computed inside AdaptiveSolver.")
            .add<PieceContact>());
    factory->registerObjects(::sofa::core::ObjectRegistrationData(
                                 "Draws the skin of a Pliant body to a target surface, inside AdaptiveSolver.")
                                 .add<SkinTarget>());
}
} // namespace pliant
