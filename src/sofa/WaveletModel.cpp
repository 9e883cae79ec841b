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

/// Hexahedra and tetrahedra of a loader or topology; nullptr with a sentence.
BodyModel::MeshPtr latticeFrom(const PliHost* host, Object* source, PliError* error)
{
    using Hexahedra = ::sofa::core::topology::BaseMeshTopology::SeqHexahedra;
    const auto* points = dynamic_cast<Data<VecCoord>*>(source->findData("position"));
    const auto* hexes = dynamic_cast<Data<Hexahedra>*>(source->findData("hexahedra"));
    const auto* tets = dynamic_cast<Data<BodyModel::Tetrahedra>*>(source->findData("tetrahedra"));
    const std::size_t count = points ? points->getValue().size() : 0;
    const std::size_t hexCount = hexes ? hexes->getValue().size() : 0;
    const std::size_t tetCount = tets ? tets->getValue().size() : 0;
    if (hexCount + tetCount == 0)
    {
        pli_refuse(error, PLI_BAD_MESH, "%s (%s) has neither hexahedra nor tetrahedra", source->getName().c_str(),
                   source->getClassName().c_str());
        return nullptr;
    }
    BodyModel::MeshPtr mesh(pli_mesh_create(host));
    if (!mesh || pli_mesh_resize_points(mesh.get(), PliIndex(count)) != PLI_OK
        || pli_mesh_resize_cells(mesh.get(), PLI_HEX, PliIndex(hexCount)) != PLI_OK
        || pli_mesh_resize_cells(mesh.get(), PLI_TET, PliIndex(tetCount)) != PLI_OK)
    {
        pli_refuse(error, PLI_OUT_OF_MEMORY, "no memory for a mesh of %zu points", count);
        return nullptr;
    }
    if (count)
        std::memcpy(mesh->x, flat(points->getValue()), count * sizeof(Vec3));
    const auto copy = [&](const auto& cells, PliIndex* to, const char* name)
    {
        for (std::size_t i = 0; i < cells.size(); ++i)
            for (std::size_t k = 0; k < cells[i].size(); ++k)
            {
                if (cells[i][k] >= count)
                {
                    pli_refuse(error, PLI_BAD_MESH, "cell %zu of the %s of %s has corner %u, but there are %zu points",
                               i, name, source->getName().c_str(), unsigned(cells[i][k]), count);
                    return false;
                }
                *to++ = cells[i][k];
            }
        return true;
    };
    if ((hexCount && !copy(hexes->getValue(), mesh->hexes, "hexahedra"))
        || (tetCount && !copy(tets->getValue(), mesh->tets, "tetrahedra")))
        return nullptr;
    return mesh;
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
