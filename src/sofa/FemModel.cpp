/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/FemModel.h"

#include <sofa/core/ObjectFactory.h>

namespace pliant
{
FemModel::FemModel()
    : d_filename(initData(&d_filename, "filename", "tetrahedral mesh file (msh, vtk, vtu, mesh)"))
    , d_tetrahedra(initData(&d_tetrahedra, "tetrahedra", "tetrahedra of position, when there is no filename (src=\"@loader\" fills both)"))
{
}

PliBody* FemModel::makeBody(const PliHost* host, const PliBodyDef& common, PliError* error)
{
    MeshPtr mesh;
    if (!d_filename.getValue().empty())
    {
        mesh = meshFrom(host, d_filename.getFullPath(), error);
    }
    else if (!d_tetrahedra.getValue().empty())
    {
        mesh = meshFrom(host, d_position.getValue(), d_tetrahedra.getValue());
    }
    else
    {
        pli_refuse(error, PLI_BAD_ARGUMENT, "no mesh: give filename=\"...\", or src=\"@loader\" with tetrahedra");
        return nullptr;
    }
    if (!mesh)
        return nullptr;
    PliFemDef def = pli_fem_default();
    def.base = common;
    def.mesh = mesh.get();
    return pli_fem_create(host, &def, error);
}

void registerFemModel(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(::sofa::core::ObjectRegistrationData("Deformable body of uniform finite elements on one tetrahedral mesh.")
                                 .add<FemModel>());
}
} // namespace pliant
