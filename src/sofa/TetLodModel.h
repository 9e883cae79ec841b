/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/BodyModel.h"

#include <sofa/core/objectmodel/DataFileNameVector.h>

namespace pliant
{
/// Tetrahedral levels of detail that refine and coarsen while the body moves (Debunne et al. 2001).
class PLIANT_API TetLodModel : public BodyModel
{
public:
    SOFA_CLASS(TetLodModel, BodyModel);

    ::sofa::core::objectmodel::DataFileNameVector d_filenames;
    ::sofa::core::objectmodel::MultiLink<TetLodModel, Object, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK>
        l_levels;

protected:
    TetLodModel();
    PliBody* makeBody(const PliHost* host, const PliBodyDef& common, PliError* error) override;
};
} // namespace pliant
