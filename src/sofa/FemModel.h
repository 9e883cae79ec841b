/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/BodyModel.h"

namespace pliant
{
/// Uniform finite elements on one tetrahedral mesh: the reference every adaptive scheme is compared with.
class PLIANT_API FemModel : public BodyModel
{
public:
    SOFA_CLASS(FemModel, BodyModel);

    ::sofa::core::objectmodel::DataFileName d_filename;
    SingleLink<FemModel, Object, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK> l_mesh;
    Data<Tetrahedra> d_tetrahedra;

protected:
    FemModel();
    PliBody* makeBody(const PliHost* host, const PliBodyDef& common, PliError* error) override;
};
} // namespace pliant
