/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/BodyModel.h"

namespace pliant
{
/// Tetrahedral levels of detail that refine and coarsen while the body moves (Debunne et al. 2001).
class PLIANT_API TetLodModel : public BodyModel
{
public:
    SOFA_CLASS(TetLodModel, BodyModel);

    Data<Vector<std::string>> d_filenames;
    ::sofa::core::objectmodel::MultiLink<TetLodModel, Object, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK>
        l_levels;

    void parse(::sofa::core::objectmodel::BaseObjectDescription* arg) override;

protected:
    TetLodModel();
    PliBody* makeBody(const PliHost* host, const PliBodyDef& common, PliError* error) override;

private:
    /// Full paths. They are found while the scene is read: only then does SOFA know the folder of the scene.
    std::vector<std::string> m_paths;
};
} // namespace pliant
