/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/FemModel.h"

#include <sofa/core/ObjectFactory.h>

namespace pliant
{
FemModel::FemModel()
    : d_filename(initData(&d_filename, "filename", "tetrahedral mesh file (msh, vtk, vtu, mesh)"))
    , l_mesh(initLink("mesh", "loader or topology with position and tetrahedra, instead of filename"))
    , d_tetrahedra(initData(&d_tetrahedra, "tetrahedra",
                            "tetrahedra of position, when there is no filename (src=\"@loader\" fills both)"))
{
}

PliBody* FemModel::makeBody(const PliHost* host, const PliBodyDef& common, PliError* error)
{
    MeshPtr mesh;
    if (!d_filename.getValue().empty())
    {
        mesh = meshFrom(host, d_filename.getFullPath(), error);
    }
    else if (l_mesh.get())
    {
        mesh = meshFrom(host, l_mesh.get(), error);
    }
    else if (!l_mesh.getLinkedPath().empty())
    {
        pli_refuse(error, PLI_BAD_ARGUMENT, "mesh=\"%s\" leads to no component", l_mesh.getLinkedPath().c_str());
        return nullptr;
    }
    else if (!d_tetrahedra.getValue().empty())
    {
        mesh = meshFrom(host, d_position.getValue(), d_tetrahedra.getValue());
    }
    else
    {
        pli_refuse(error, PLI_BAD_ARGUMENT,
                   "no mesh: give filename=\"...\", mesh=\"@loader\", or src=\"@loader\" with tetrahedra");
        return nullptr;
    }
    if (!mesh)
        return nullptr;
    PliFemDef def = pli_fem_default();
    def.base = common;
    def.mesh = mesh.get();
    PliBody* const body = pli_fem_create(host, &def, error);
    if (!body)
        return nullptr;
    // the volume, for exporters: points are the coefficients, in the order of the mesh
    Tetrahedra tetrahedra(mesh->tet_count);
    for (PliIndex t = 0; t < mesh->tet_count; ++t)
        for (int k = 0; k < 4; ++k)
            tetrahedra[t][k] = mesh->tets[4 * t + PliIndex(k)];
    if (d_tetrahedra.getParent())
        d_tetrahedra.setParent(nullptr);
    d_tetrahedra.setValue(tetrahedra);
    return body;
}

void registerFemModel(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData("Deformable body of uniform finite elements on one tetrahedral mesh.")
            .add<FemModel>());
}
} // namespace pliant
