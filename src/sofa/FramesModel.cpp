/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/FramesModel.h"

#include <sofa/core/ObjectFactory.h>

#include <algorithm>
#include <cstring>

namespace pliant
{
namespace
{
const PliFramesDef& framesDefaults()
{
    static const PliFramesDef defaults = pli_frames_default();
    return defaults;
}

/// Cells of the source, by SOFA's name for them, into the mesh. @return false with a sentence when they do not fit.
template <class Cells, std::size_t N>
bool copyCells(PliMesh* mesh, PliCellKind kind, PliIndex* PliMesh::*array, Object* source, const char* name,
               PliError* error)
{
    const auto* data = dynamic_cast<Data<Cells>*>(source->findData(name));
    if (!data || data->getValue().empty())
        return true;
    const Cells& cells = data->getValue();
    if (pli_mesh_resize_cells(mesh, kind, PliIndex(cells.size())) != PLI_OK)
        return pli_refuse(error, PLI_OUT_OF_MEMORY, "no memory for %zu %s", std::size_t(cells.size()), name) == PLI_OK;
    for (std::size_t i = 0; i < cells.size(); ++i)
        for (std::size_t k = 0; k < N; ++k)
        {
            if (cells[i][k] >= mesh->point_count)
                return pli_refuse(error, PLI_BAD_MESH,
                                  "cell %zu of the %s of %s has corner %u, but there are %u points", i, name,
                                  source->getName().c_str(), unsigned(cells[i][k]), mesh->point_count)
                       == PLI_OK;
            (mesh->*array)[N * i + k] = cells[i][k];
        }
    return true;
}

/// The points of the source, no cells yet.
BodyModel::MeshPtr pointsFrom(const PliHost* host, Object* source, PliError* error)
{
    const auto* points = dynamic_cast<Data<VecCoord>*>(source->findData("position"));
    BodyModel::MeshPtr mesh(pli_mesh_create(host));
    const std::size_t count = points ? points->getValue().size() : 0;
    if (!mesh || pli_mesh_resize_points(mesh.get(), PliIndex(count)) != PLI_OK)
    {
        pli_refuse(error, PLI_OUT_OF_MEMORY, "no memory for a mesh of %zu points", count);
        return nullptr;
    }
    if (count)
        std::memcpy(mesh->x, flat(points->getValue()), count * sizeof(Vec3));
    return mesh;
}
} // namespace

BodyModel::MeshPtr latticeFrom(const PliHost* host, Object* source, PliError* error)
{
    using Hexahedra = ::sofa::core::topology::BaseMeshTopology::SeqHexahedra;
    BodyModel::MeshPtr mesh = pointsFrom(host, source, error);
    if (!mesh || !copyCells<Hexahedra, 8>(mesh.get(), PLI_HEX, &PliMesh::hexes, source, "hexahedra", error)
        || !copyCells<BodyModel::Tetrahedra, 4>(mesh.get(), PLI_TET, &PliMesh::tets, source, "tetrahedra", error))
        return nullptr;
    if (mesh->hex_count + mesh->tet_count == 0)
    {
        pli_refuse(error, PLI_BAD_MESH, "%s (%s) has neither hexahedra nor tetrahedra", source->getName().c_str(),
                   source->getClassName().c_str());
        return nullptr;
    }
    return mesh;
}

BodyModel::MeshPtr surfaceFrom(const PliHost* host, Object* source, PliError* error)
{
    const auto* tets = dynamic_cast<Data<BodyModel::Tetrahedra>*>(source->findData("tetrahedra"));
    if (tets && !tets->getValue().empty())
        return BodyModel::meshFrom(host, source, error);
    using Quads = ::sofa::core::topology::BaseMeshTopology::SeqQuads;
    BodyModel::MeshPtr mesh = pointsFrom(host, source, error);
    if (!mesh || !copyCells<BodyModel::Triangles, 3>(mesh.get(), PLI_TRI, &PliMesh::tris, source, "triangles", error)
        || !copyCells<Quads, 4>(mesh.get(), PLI_QUAD, &PliMesh::quads, source, "quads", error))
        return nullptr;
    if (mesh->tri_count + mesh->quad_count == 0)
    {
        pli_refuse(error, PLI_BAD_MESH, "%s (%s) has neither tetrahedra nor a surface of triangles or quads",
                   source->getName().c_str(), source->getClassName().c_str());
        return nullptr;
    }
    return mesh;
}

FramesModel::FramesModel()
    : BodyModel(framesDefaults().base)
    , d_filename(initData(&d_filename, "filename", "mesh file: a closed surface, or tetrahedra"))
    , l_mesh(initLink("mesh", "loader or topology with triangles, quads or tetrahedra, instead of filename"))
    , d_anchors(initData(&d_anchors, "anchors",
                         "m, frames at given places, for ends that are held or loaded; the others spread between them"))
    , d_anchorLevels(initData(&d_anchorLevels, "anchorLevels",
                              "level of each anchor; default: the first is the root (0), the others 1"))
    , d_levelFrames(
          initData(&d_levelFrames, "levelFrames",
                   "frames up to and including each level, rising from 1 to frames; default: a geometric series"))
    , d_stiffnessFactors(initData(&d_stiffnessFactors, "stiffnessFactors", "on youngModulus, one for each tetrahedron"))
    , d_densityFactors(initData(&d_densityFactors, "densityFactors", "on density, one for each tetrahedron"))
    , d_places(initData(&d_places, "places",
                        "m, where the frame of each coefficient is: BoxROI or SphereROI on it choose whole frames"))
    , d_anchorDofs(initData(&d_anchorDofs, "anchorDofs",
                            "coefficients of the anchored frames, four each, in the order of anchors"))
{
    m_attributes.add(this, pli_frames_attributes, &framesDefaults(), "Frames");
    d_places.setReadOnly(true);
    d_anchorDofs.setReadOnly(true);
}

BodyModel::MeshPtr FramesModel::readMesh(const PliHost* host, PliError* error)
{
    const bool linked = l_mesh.get() || !l_mesh.getLinkedPath().empty();
    if (!d_filename.getValue().empty() && linked)
    {
        pli_refuse(error, PLI_BAD_ARGUMENT, "both filename and mesh are given: choose one");
        return nullptr;
    }
    if (!d_filename.getValue().empty())
        return meshFrom(host, d_filename.getFullPath(), error);
    if (!linked)
    {
        pli_refuse(error, PLI_BAD_ARGUMENT,
                   "no mesh: give filename=\"...\" or mesh=\"@loader\", a closed surface or tetrahedra");
        return nullptr;
    }
    Object* const source = l_mesh.get();
    if (!source)
    {
        pli_refuse(error, PLI_BAD_ARGUMENT, "mesh=\"%s\" leads to no component", l_mesh.getLinkedPath().c_str());
        return nullptr;
    }
    return surfaceFrom(host, source, error);
}

bool FramesModel::readLists(PliFramesDef& def, const PliMesh& mesh, std::vector<uint8_t>& levels, PliError* error)
{
    const VecCoord& anchors = d_anchors.getValue();
    def.anchors = anchors.empty() ? nullptr : flat(anchors);
    def.anchor_count = PliIndex(anchors.size());
    if (const auto& given = d_anchorLevels.getValue(); !given.empty())
    {
        if (given.size() != anchors.size())
            return pli_refuse(error, PLI_BAD_ARGUMENT, "anchorLevels has %zu values for %zu anchors",
                              std::size_t(given.size()), std::size_t(anchors.size()))
                   == PLI_OK;
        for (const unsigned int level : given)
            levels.push_back(uint8_t(std::min(level, 255u)));
        def.anchor_level = levels.data();
    }
    if (const auto& frames = d_levelFrames.getValue(); !frames.empty())
    {
        if (frames.size() > 8)
            return pli_refuse(error, PLI_BAD_ARGUMENT, "levelFrames has %zu levels; at most 8 are possible",
                              std::size_t(frames.size()))
                   == PLI_OK;
        if (m_attributes.find("levelCount")->isSet() && def.level_count != int(frames.size()))
            return pli_refuse(error, PLI_BAD_ARGUMENT, "levelFrames has %zu levels and levelCount is %d",
                              std::size_t(frames.size()), def.level_count)
                   == PLI_OK;
        def.level_count = int(frames.size());
        for (std::size_t k = 0; k < frames.size(); ++k)
            def.level_frames[k] = frames[k];
        if (!m_attributes.find("frames")->isSet())
            def.frame_count = frames.back();
    }
    const auto factors = [&](const Data<Vector<double>>& data, const double*& to)
    {
        const auto& value = data.getValue();
        if (value.empty())
            return true;
        to = value.data();
        return value.size() == mesh.tet_count
               || pli_refuse(error, PLI_BAD_ARGUMENT, "%s has %zu values for %u tetrahedra", data.getName().c_str(),
                             std::size_t(value.size()), mesh.tet_count)
                      == PLI_OK;
    };
    return factors(d_stiffnessFactors, def.tet_stiffness) && factors(d_densityFactors, def.tet_density);
}

PliBody* FramesModel::makeBody(const PliHost* host, const PliBodyDef& common, PliError* error)
{
    PliFramesDef def = framesDefaults();
    def.base = common;
    if (m_attributes.write(pli_frames_attributes, &def, error) != PLI_OK)
        return nullptr;
    const MeshPtr mesh = readMesh(host, error);
    if (!mesh)
        return nullptr;
    def.mesh = mesh.get();
    std::vector<uint8_t> levels;
    if (!readLists(def, *mesh, levels, error))
        return nullptr;
    PliBody* const body = pli_frames_create(host, &def, error);
    if (!body)
        return nullptr;
    VecCoord places(pli_body_dof_count(body));
    const double* const rest = pli_body_rest(body);
    for (std::size_t i = 0; i < places.size(); ++i)
        places[i] = Vec3(rest[12 * (i / 4) + 9], rest[12 * (i / 4) + 10], rest[12 * (i / 4) + 11]);
    d_places.setValue(places);
    Vector<unsigned int> held(4 * def.anchor_count);
    for (PliIndex i = 0; i < held.size(); ++i)
        held[i] = 4 * pli_frames_anchor(body, i / 4) + i % 4;
    d_anchorDofs.setValue(held);
    return body;
}

void registerFramesModel(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData("Deformable body of affine frames that switch on and off by velocity.")
            .add<FramesModel>());
}
} // namespace pliant
