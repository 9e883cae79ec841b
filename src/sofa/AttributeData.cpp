/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/AttributeData.h"

#include <sofa/core/objectmodel/DataFileName.h>
#include <sofa/helper/system/FileRepository.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace pliant
{
using ::sofa::core::objectmodel::BaseData;
using ::sofa::core::objectmodel::DataFileName;

namespace
{
template <class T>
using List = AttributeData::Vector<T>;

template <class T>
T field(const void* def, const PliAttribute& row)
{
    T value{};
    if (row.size)
        std::memcpy(&value, static_cast<const char*>(def) + row.offset, sizeof value);
    return value;
}

std::string text(const void* def, const PliAttribute& row)
{
    char word[256];
    pli_attribute_text(&row, def, word, sizeof word);
    return word;
}

template <class T>
std::unique_ptr<BaseData> make(const T& value, const std::string& help)
{
    return std::make_unique<Data<T>>(value, help, true, false);
}

std::unique_ptr<BaseData> make(const void* def, const PliAttribute& row)
{
    std::string help = row.help;
    if (row.options)
        help += std::string("; one of: ") + row.options;
    switch (row.kind)
    {
    case PLI_BOOL: return make(field<bool>(def, row), help);
    case PLI_INT: return make(field<int>(def, row), help);
    case PLI_REAL: return make(field<double>(def, row), help);
    case PLI_VEC3:
    {
        double xyz[3] = { 0., 0., 0. };
        if (row.size)
            std::memcpy(xyz, static_cast<const char*>(def) + row.offset, sizeof xyz);
        return make(Vec3(xyz[0], xyz[1], xyz[2]), help);
    }
    case PLI_OPTION:
    case PLI_TEXT:
    case PLI_NEW_FILE: return make(text(def, row), help);
    case PLI_FILE: return std::make_unique<DataFileName>(std::string(), help, true, false);
    case PLI_FILES: return make(List<std::string>(), help);
    case PLI_REALS: return make(List<double>(), help);
    case PLI_POINTS: return make(VecCoord(), help);
    case PLI_INDICES:
        if (row.width == 3)
            return make(AttributeData::Triangles(), help);
        if (row.width == 4)
            return make(AttributeData::Tetrahedra(), help);
        return make(List<unsigned int>(), help);
    default: return nullptr; // links
    }
}

template <class T>
const T& value(const BaseData& data)
{
    return static_cast<const Data<T>&>(data).getValue();
}

/// Cells as flat indices; SOFA keeps them packed.
template <class Cells>
PliValue cells(const BaseData& data, std::size_t width)
{
    const Cells& all = value<Cells>(data);
    return { data.isSet(), nullptr, all.empty() ? nullptr : &all[0][0], width * all.size() };
}

template <class Cells>
void setCells(BaseData& data, const PliIndex* index, std::size_t count, std::size_t width)
{
    Cells all(count / width);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t k = 0; k < width; ++k)
            all[i][k] = index[width * i + k];
    static_cast<Data<Cells>&>(data).setValue(all);
}

template <class T>
void setList(BaseData& data, const T* value, std::size_t count)
{
    List<T> list(count);
    std::copy_n(value, count, list.begin());
    static_cast<Data<List<T>>&>(data).setValue(list);
}
} // namespace

void AttributeData::add(Object* owner, const PliAttributeGroup& group, const void* defaults, const char* section)
{
    for (int i = 0; i < group.count; ++i)
    {
        const PliAttribute& row = group.rows[i];
        if (row.role == PLI_ALIAS || owner->findData(row.name))
            continue;
        auto data = make(defaults, row);
        if (!data)
            continue;
        data->setName(row.name);
        data->setGroup(section);
        data->setReadOnly(row.role == PLI_OUT);
        owner->addData(data.get(), row.name);
        if (row.size == 0 && row.value)
            data->read(row.value);
        data->unset(); // a default is not something the scene said
        m_entries.push_back({ &group, &row, std::move(data), {}, {} });
    }
}

const AttributeData::Entry* AttributeData::entry(const std::string& name) const
{
    for (const Entry& e : m_entries)
        if (name == e.row->name)
            return &e;
    return nullptr;
}

BaseData* AttributeData::find(const std::string& name) const
{
    const Entry* const e = entry(name);
    return e ? e->data.get() : nullptr;
}

bool AttributeData::isSet(const PliAttribute& row) const
{
    const BaseData* const data = find(row.name);
    return data && data->isSet();
}

// ---- definitions
// -----------------------------------------------------------------------------------------------------

PliStatus AttributeData::write(const PliAttribute& row, void* def, PliError* error)
{
    auto* const e = const_cast<Entry*>(entry(row.name));
    if (!e || row.size == 0)
        return PLI_OK;
    char* const at = static_cast<char*>(def) + row.offset;
    switch (row.kind)
    {
    // numbers are copied, not printed and read again: SOFA prints six digits
    case PLI_BOOL: std::memcpy(at, &value<bool>(*e->data), sizeof(bool)); return PLI_OK;
    case PLI_INT: std::memcpy(at, &value<int>(*e->data), sizeof(int)); return PLI_OK;
    case PLI_REAL: std::memcpy(at, &value<double>(*e->data), sizeof(double)); return PLI_OK;
    case PLI_VEC3:
    {
        const Vec3& v = value<Vec3>(*e->data);
        const double xyz[3] = { v[0], v[1], v[2] };
        std::memcpy(at, xyz, sizeof xyz);
        return PLI_OK;
    }
    default:
        e->text = row.kind == PLI_NEW_FILE && !e->paths.empty() ? e->paths.front() : value<std::string>(*e->data);
        if (row.kind != PLI_OPTION && e->text.empty())
            return PLI_OK; // no text: the default, a null pointer
        return pli_attribute_set(&row, def, e->text.c_str(), error);
    }
}

PliStatus AttributeData::write(const PliAttributeGroup& group, void* def, PliError* error)
{
    for (const Entry& e : m_entries)
        if (e.group == &group)
            if (const PliStatus status = write(*e.row, def, error); status != PLI_OK)
                return status;
    return PLI_OK;
}

// ---- lists
// -----------------------------------------------------------------------------------------------------------

PliValue AttributeData::list(const PliAttribute& row) const
{
    const BaseData* const data = find(row.name);
    if (!data)
        return {};
    switch (row.kind)
    {
    case PLI_REALS:
    {
        const auto& reals = value<List<double>>(*data);
        return { data->isSet(), reals.data(), nullptr, reals.size() };
    }
    case PLI_POINTS:
    {
        const auto& points = value<VecCoord>(*data);
        return { data->isSet(), flat(points), nullptr, points.size() };
    }
    case PLI_INDICES:
    {
        if (row.width == 3)
            return cells<Triangles>(*data, 3);
        if (row.width == 4)
            return cells<Tetrahedra>(*data, 4);
        const auto& indices = value<List<unsigned int>>(*data);
        return { data->isSet(), nullptr, indices.data(), indices.size() };
    }
    default: return {};
    }
}

void AttributeData::publish(const PliAttribute& row, const double* real, const PliIndex* index, std::size_t count)
{
    BaseData* const data = find(row.name);
    if (!data)
        return;
    if (data->getParent())
        data->setParent(nullptr); // a src link fed it; from here on it is the body's
    if (row.kind == PLI_POINTS)
    {
        VecCoord points(count / 3);
        if (count)
            std::memcpy(flat(points), real, count * sizeof(double));
        static_cast<Data<VecCoord>*>(data)->setValue(points);
    }
    else if (row.kind == PLI_REALS)
        setList(*data, real, count);
    else if (row.width == 3)
        setCells<Triangles>(*data, index, count, 3);
    else if (row.width == 4)
        setCells<Tetrahedra>(*data, index, count, 4);
    else
        setList(*data, index, count);
}

// ---- files
// -----------------------------------------------------------------------------------------------------------

void AttributeData::findFiles()
{
    for (Entry& e : m_entries)
    {
        e.paths.clear();
        if (e.row->kind == PLI_FILES)
            for (std::string path : value<List<std::string>>(*e.data))
            {
                ::sofa::helper::system::DataRepository.findFile(path, "", nullptr); // keeps the name when there is none
                e.paths.push_back(path);
            }
        else if (e.row->kind == PLI_NEW_FILE && !value<std::string>(*e.data).empty())
            e.paths.push_back(std::filesystem::absolute(value<std::string>(*e.data)).string()); // SOFA is in its folder
    }
}

int AttributeData::fileCount(const PliAttribute& row) const
{
    const Entry* const e = entry(row.name);
    if (!e)
        return 0;
    if (row.kind == PLI_FILES)
        return int(value<List<std::string>>(*e->data).size());
    return value<std::string>(*e->data).empty() ? 0 : 1;
}

const char* AttributeData::file(const PliAttribute& row, int k) const
{
    const Entry* const e = entry(row.name);
    if (row.kind != PLI_FILES)
        return static_cast<const DataFileName&>(*e->data).getFullPath().c_str();
    const auto& names = value<List<std::string>>(*e->data);
    return (std::size_t(k) < e->paths.size() ? e->paths[std::size_t(k)] : names[std::size_t(k)]).c_str();
}
} // namespace pliant
