/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/Linked.h"

#include <sofa/component/topology/container/constant/MeshTopology.h>

namespace pliant
{
/// The skin of a body as a topology: collision models, visual models and exporters find its points and triangles
/// here. The
/// triangles do not change with the levels, so contacts survive refinement.
class PLIANT_API AdaptiveSurface : public ::sofa::component::topology::container::constant::MeshTopology
{
public:
    SOFA_CLASS(AdaptiveSurface, ::sofa::component::topology::container::constant::MeshTopology);

    ModelLink<AdaptiveSurface> l_model;
    Data<::sofa::type::vector<int>> d_level;

    void init() override;

protected:
    AdaptiveSurface();
};
} // namespace pliant
