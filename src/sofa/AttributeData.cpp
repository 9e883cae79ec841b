/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/AttributeData.h"

#include <cstring>

namespace pliant
{
using ::sofa::core::objectmodel::BaseData;

namespace
{
template <class T>
T field(const void* def, const PliAttribute& row)
{
    T value;
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
    auto data = std::make_unique<Data<T>>(value, help, true, false);
    data->unset(); // a default is not something the scene said
    return data;
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
        double xyz[3];
        std::memcpy(xyz, static_cast<const char*>(def) + row.offset, sizeof xyz);
        return make(Vec3(xyz[0], xyz[1], xyz[2]), help);
    }
    case PLI_OPTION:
    case PLI_TEXT:
    case PLI_FILE: return make(text(def, row), help);
    default: return nullptr; // lists and links are members of the components that have them
    }
}

template <class T>
const T& value(const BaseData& data)
{
    return static_cast<const Data<T>&>(data).getValue();
}
} // namespace

void AttributeData::add(Object* owner, const PliAttributeGroup& group, const void* defaults, const char* section)
{
    for (int i = 0; i < group.count; ++i)
    {
        const PliAttribute& row = group.rows[i];
        if (row.size == 0 || row.role != PLI_IN)
            continue;
        auto data = make(defaults, row);
        if (!data)
            continue;
        data->setName(row.name);
        data->setGroup(section);
        owner->addData(data.get(), row.name);
        m_entries.push_back({ &group, &row, std::move(data), {} });
    }
}

PliStatus AttributeData::write(const PliAttributeGroup& group, void* def, PliError* error)
{
    for (Entry& entry : m_entries)
    {
        if (entry.group != &group)
            continue;
        const PliAttribute& row = *entry.row;
        char* const at = static_cast<char*>(def) + row.offset;
        switch (row.kind)
        {
        // numbers are copied, not printed and read again: SOFA prints six digits
        case PLI_BOOL: std::memcpy(at, &value<bool>(*entry.data), sizeof(bool)); break;
        case PLI_INT: std::memcpy(at, &value<int>(*entry.data), sizeof(int)); break;
        case PLI_REAL: std::memcpy(at, &value<double>(*entry.data), sizeof(double)); break;
        case PLI_VEC3:
        {
            const Vec3& v = value<Vec3>(*entry.data);
            const double xyz[3] = { v[0], v[1], v[2] };
            std::memcpy(at, xyz, sizeof xyz);
            break;
        }
        default:
            entry.text = value<std::string>(*entry.data);
            if (row.kind != PLI_OPTION && entry.text.empty())
                break; // no text: the default, a null pointer
            if (const PliStatus status = pli_attribute_set(&row, def, entry.text.c_str(), error); status != PLI_OK)
                return status;
        }
    }
    return PLI_OK;
}

BaseData* AttributeData::find(const std::string& name) const
{
    for (const Entry& entry : m_entries)
        if (name == entry.row->name)
            return entry.data.get();
    return nullptr;
}
} // namespace pliant
