/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What a scene says about a body, for the core, which makes it: definition, meshes, lists, and what is published.
#include "sofa/BodyModel.h"

#include <sofa/core/ObjectFactory.h>
#include <sofa/core/objectmodel/BaseObjectDescription.h>

#include <cctype>
#include <cstdlib>

namespace pliant
{
namespace
{
template <class Cells>
void lendCells(Object* source, const char* name, const PliIndex*& cell, std::size_t& count)
{
    const auto* data = dynamic_cast<Data<Cells>*>(source->findData(name));
    if (!data || data->getValue().empty())
        return;
    count = data->getValue().size();
    cell = &data->getValue()[0][0]; // packed: fixed arrays of indices
}

BodyModel& model(void* user)
{
    return *static_cast<BodyModel*>(user);
}
} // namespace

PliMeshArrays arraysOf(Object* source, std::string& name, std::string& type)
{
    using Topology = ::sofa::core::topology::BaseMeshTopology;
    name = source->getName();
    type = source->getClassName();
    PliMeshArrays arrays{};
    arrays.name = name.c_str();
    arrays.type = type.c_str();
    if (const auto* points = dynamic_cast<Data<VecCoord>*>(source->findData("position")))
    {
        arrays.position = flat(points->getValue());
        arrays.point_count = points->getValue().size();
    }
    lendCells<Topology::SeqTriangles>(source, "triangles", arrays.triangles, arrays.triangle_count);
    lendCells<Topology::SeqQuads>(source, "quads", arrays.quads, arrays.quad_count);
    lendCells<Topology::SeqTetrahedra>(source, "tetrahedra", arrays.tetrahedra, arrays.tetrahedron_count);
    lendCells<Topology::SeqHexahedra>(source, "hexahedra", arrays.hexahedra, arrays.hexahedron_count);
    return arrays;
}

std::vector<Object*> BodyModel::linked(const PliAttribute& row, std::vector<std::string>* paths) const
{
    std::vector<Object*> objects;
    for (const Links& links : m_links)
    {
        if (std::string(row.name) != links.links->getName())
            continue;
        for (std::size_t i = 0; i < links.links->size(); ++i)
        {
            objects.push_back(links.links->get(i));
            if (paths)
                paths->push_back(links.links->getLinkedPath(unsigned(i)));
        }
    }
    return objects;
}

PliSource BodyModel::source()
{
    PliSource s{};
    s.user = this;
    s.is_set = [](void* user, const PliAttribute* row) { return model(user).m_attributes.isSet(*row); };
    s.fill = [](void* user, const PliAttribute* row, void* def, PliError* error)
    { return model(user).m_attributes.write(*row, def, error); };
    s.list = [](void* user, const PliAttribute* row) { return model(user).m_attributes.list(*row); };
    s.file_count = [](void* user, const PliAttribute* row) { return model(user).m_attributes.fileCount(*row); };
    s.file = [](void* user, const PliAttribute* row, int k, PliError*)
    { return model(user).m_attributes.file(*row, k); };
    s.link_count = [](void* user, const PliAttribute* row) { return int(model(user).linked(*row, nullptr).size()); };
    s.linked = [](void* user, const PliAttribute* row, int k, PliMeshArrays* arrays, PliError* error)
    {
        std::vector<std::string> paths;
        Object* const found = model(user).linked(*row, &paths)[std::size_t(k)];
        if (!found)
            return pli_refuse(error, PLI_BAD_ARGUMENT, "%s=\"%s\" leads to no component", row->name,
                              paths[std::size_t(k)].c_str());
        *arrays = arraysOf(found, model(user).m_sourceName, model(user).m_sourceType);
        return PLI_OK;
    };
    s.own = [](void* user, PliMeshArrays* arrays, PliError*)
    {
        *arrays = arraysOf(&model(user), model(user).m_sourceName, model(user).m_sourceType);
        return PLI_OK;
    };
    s.publish =
        [](void* user, const PliAttribute* row, const double* real, const PliIndex* index, std::size_t count, PliError*)
    {
        model(user).m_attributes.publish(*row, real, index, count);
        return PLI_OK;
    };
    return s;
}

void BodyModel::parse(::sofa::core::objectmodel::BaseObjectDescription* arg)
{
    Inherit1::parse(arg);
    m_attributes.findFiles();
    for (int i = 0; !m_scheme->adaptive && i < pli_criterion_attributes.count; ++i)
        if (arg->getAttribute(pli_criterion_attributes.rows[i].name))
            refuse(std::string("has no attribute ") + pli_criterion_attributes.rows[i].name
                   + ": it belongs to adaptive models");
}

// ---- components: one for each scheme
// ---------------------------------------------------------------------------------

namespace
{
class ModelCreator : public ::sofa::core::ObjectCreator<BodyModel>
{
public:
    explicit ModelCreator(const PliSchemeInfo* scheme)
        : m_scheme(scheme)
    {
    }
    Object::SPtr createInstance(BaseContext* context, ::sofa::core::objectmodel::BaseObjectDescription* arg) override
    {
        const BodyModel::SPtr made = ::sofa::core::objectmodel::New<BodyModel>(m_scheme);
        if (context)
            context->addObject(made);
        if (arg)
            made->parse(arg);
        return made;
    }

private:
    const PliSchemeInfo* m_scheme;
};

std::string sentence(std::string help)
{
    if (!help.empty())
        help[0] = char(std::toupper(static_cast<unsigned char>(help[0])));
    return help + ".";
}
} // namespace

void registerModels(::sofa::core::ObjectFactory* factory)
{
    PliError error{};
    if (pli_scheme_load_list(std::getenv("PLIANT_SCHEMES"), &error) != PLI_OK)
        msg_error("Pliant") << "PLIANT_SCHEMES: " << error.text;
    const PliSchemeInfo* scheme;
    for (int i = 0; (scheme = pli_scheme_at(i)); ++i)
    {
        ::sofa::core::ObjectRegistrationData data(sentence(scheme->help));
        data.addCreator(scheme->component, "", std::make_shared<ModelCreator>(scheme));
        factory->registerObjects(data);
    }
}
} // namespace pliant
