/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/WaveletModel.h"

#include "sofa/FramesModel.h"

#include <sofa/core/ObjectFactory.h>

#include <cstring>

namespace pliant
{
namespace
{
const PliWaveletDef& waveletDefaults()
{
    static const PliWaveletDef defaults = pli_wavelet_default();
    return defaults;
}
} // namespace

WaveletModel::WaveletModel()
    : BodyModel(waveletDefaults().base)
    , d_filename(initData(&d_filename, "filename",
                          "mesh file: hexahedra and tetrahedra are the lattice; with resolution, a closed surface or "
                          "tetrahedra to put cubes around"))
    , l_mesh(initLink("mesh", "loader or topology, instead of filename; without both, a box is made from min, max "
                              "and cells"))
    , d_cells(initData(&d_cells, Vector<unsigned int>{ 2, 2, 2 }, "cells", "cells of the box along x, y and z"))
    , d_places(initData(&d_places, "places",
                        "m, where each coefficient is: BoxROI or SphereROI on it choose what to hold, details "
                        "included"))
{
    m_attributes.add(this, pli_wavelet_attributes, &waveletDefaults(), "Wavelet");
    d_places.setReadOnly(true);
}

bool WaveletModel::readMesh(const PliHost* host, const PliWaveletDef& def, MeshPtr& mesh, PliError* error)
{
    const bool linked = l_mesh.get() || !l_mesh.getLinkedPath().empty();
    if (!d_filename.getValue().empty() && linked)
        return pli_refuse(error, PLI_BAD_ARGUMENT, "both filename and mesh are given: choose one") == PLI_OK;
    if (!d_filename.getValue().empty())
        mesh = meshFrom(host, d_filename.getFullPath(), error);
    else if (!linked)
        return true;
    else if (Object* const source = l_mesh.get())
        mesh = def.resolution > 0 ? surfaceFrom(host, source, error) : latticeFrom(host, source, error);
    else
        pli_refuse(error, PLI_BAD_ARGUMENT, "mesh=\"%s\" leads to no component", l_mesh.getLinkedPath().c_str());
    return mesh != nullptr;
}

PliBody* WaveletModel::makeBody(const PliHost* host, const PliBodyDef& common, PliError* error)
{
    PliWaveletDef def = waveletDefaults();
    def.base = common;
    if (m_attributes.write(pli_wavelet_attributes, &def, error) != PLI_OK)
        return nullptr;
    const auto& cells = d_cells.getValue();
    if (cells.size() != 3)
    {
        pli_refuse(error, PLI_BAD_ARGUMENT, "cells has %zu numbers; a box has them along x, y and z",
                   std::size_t(cells.size()));
        return nullptr;
    }
    for (std::size_t d = 0; d < 3; ++d)
        def.box_cells[d] = cells[d];
    MeshPtr mesh;
    if (!readMesh(host, def, mesh, error))
        return nullptr;
    def.mesh = mesh.get();
    PliBody* const body = pli_wavelet_create(host, &def, error);
    if (!body)
        return nullptr;
    VecCoord places(pli_body_dof_count(body));
    std::memcpy(flat(places), pli_wavelet_places(body), places.size() * sizeof(Vec3));
    d_places.setValue(places);
    return body;
}

void registerWaveletModel(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(::sofa::core::ObjectRegistrationData(
                                 "Deformable body of subdivision wavelets on a control lattice, whose details switch "
                                 "on and off.")
                                 .add<WaveletModel>());
}
} // namespace pliant
