/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/BodyModel.h"

#include <pliant/wavelet.h>

namespace pliant
{
/// Subdivision wavelets on a control lattice (Capell et al. 2002), whose details switch on and off.
class PLIANT_API WaveletModel : public BodyModel
{
public:
    SOFA_CLASS(WaveletModel, BodyModel);

    ::sofa::core::objectmodel::DataFileName d_filename;
    SingleLink<WaveletModel, Object, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK> l_mesh;
    Data<Vector<unsigned int>> d_cells;
    Data<VecCoord> d_places;

protected:
    WaveletModel();
    PliBody* makeBody(const PliHost* host, const PliBodyDef& common, PliError* error) override;

private:
    bool readMesh(const PliHost* host, const PliWaveletDef& def, MeshPtr& mesh, PliError* error);
};
} // namespace pliant
