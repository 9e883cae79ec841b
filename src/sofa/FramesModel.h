/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/BodyModel.h"

#include <pliant/frames.h>

namespace pliant
{
/// Affine frames that switch on and off by velocity (Tournier et al. 2014), in a closed surface or in tetrahedra.
class PLIANT_API FramesModel : public BodyModel
{
public:
    SOFA_CLASS(FramesModel, BodyModel);

    ::sofa::core::objectmodel::DataFileName d_filename;
    SingleLink<FramesModel, Object, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK> l_mesh;
    Data<VecCoord> d_anchors;
    Data<Vector<unsigned int>> d_anchorLevels, d_levelFrames;
    Data<Vector<double>> d_stiffnessFactors, d_densityFactors;

    // what names frames to other components
    Data<VecCoord> d_places;
    Data<Vector<unsigned int>> d_anchorDofs;

protected:
    FramesModel();
    PliBody* makeBody(const PliHost* host, const PliBodyDef& common, PliError* error) override;

private:
    MeshPtr readMesh(const PliHost* host, PliError* error);
    bool readLists(PliFramesDef& def, const PliMesh& mesh, std::vector<uint8_t>& levels, PliError* error);
};

/// Tetrahedra of a loader or topology when it has them, or else its triangles and quads; nullptr with a sentence.
BodyModel::MeshPtr surfaceFrom(const PliHost* host, Object* source, PliError* error);
/// Hexahedra and tetrahedra of a loader or topology; nullptr with a sentence.
BodyModel::MeshPtr latticeFrom(const PliHost* host, Object* source, PliError* error);
} // namespace pliant
