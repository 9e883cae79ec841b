/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/TetLodModel.h"

#include <sofa/core/ObjectFactory.h>
#include <sofa/core/objectmodel/BaseObjectDescription.h>
#include <sofa/helper/system/FileRepository.h>

namespace pliant
{
TetLodModel::TetLodModel()
    : d_filenames(initData(&d_filenames, "filenames", "tetrahedral mesh files of the levels, coarse to fine, 1 .. 8"))
    , l_levels(initLink("levels",
                        "loaders or topologies with position and tetrahedra, coarse to fine, instead of filenames"))
{
    static const PliTetLodDef defaults = pli_tetlod_default();
    m_attributes.add(this, pli_tetlod_attributes, &defaults, "Levels of detail");
}

void TetLodModel::parse(::sofa::core::objectmodel::BaseObjectDescription* arg)
{
    Inherit1::parse(arg);
    for (const std::string& file : d_filenames.getValue())
    {
        std::string path = file;
        ::sofa::helper::system::DataRepository.findFile(path, "", nullptr); // keeps the name when there is no such file
        m_paths.push_back(path);
    }
}

PliBody* TetLodModel::makeBody(const PliHost* host, const PliBodyDef& common, PliError* error)
{
    std::vector<MeshPtr> meshes;
    const std::size_t files = d_filenames.getValue().size();
    if (files > 0 && l_levels.size() > 0)
    {
        pli_refuse(error, PLI_BAD_ARGUMENT, "both filenames and levels are given: choose one");
        return nullptr;
    }
    for (std::size_t i = 0; i < files; ++i)
        meshes.push_back(meshFrom(host, i < m_paths.size() ? m_paths[i] : d_filenames.getValue()[i], error));
    for (std::size_t i = 0; i < l_levels.size(); ++i)
    {
        if (!l_levels[i])
        {
            pli_refuse(error, PLI_BAD_ARGUMENT, "levels: \"%s\" leads to no component",
                       l_levels.getLinkedPath(unsigned(i)).c_str());
            return nullptr;
        }
        meshes.push_back(meshFrom(host, l_levels[i], error));
    }
    if (meshes.empty())
    {
        pli_refuse(error, PLI_BAD_ARGUMENT,
                   "no levels: give filenames=\"coarse.msh ... fine.msh\" or levels=\"@loader0 ... @loaderN\"");
        return nullptr;
    }
    std::vector<const PliMesh*> levels;
    for (const MeshPtr& mesh : meshes)
    {
        if (!mesh)
            return nullptr;
        levels.push_back(mesh.get());
    }
    PliTetLodDef def = pli_tetlod_default();
    def.base = common;
    if (m_attributes.write(pli_tetlod_attributes, &def, error) != PLI_OK)
        return nullptr;
    def.levels = levels.data();
    def.level_count = int(levels.size());
    return pli_tetlod_create(host, &def, error);
}

void registerTetLodModel(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData(
            "Deformable body on tetrahedral levels of detail that refine and coarsen while it moves.")
            .add<TetLodModel>());
}
} // namespace pliant
