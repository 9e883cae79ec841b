/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// Data members made from the rows of the attribute table that all hosts share, so that a scene means the same
// everywhere:
// names, help strings and defaults are written once, in src/scheme/attributes.c and in pli_*_default().

#include "sofa/borrow.h"
extern "C"
{
#include "body/attributes.h"
}

#include <memory>
#include <string>
#include <vector>

namespace pliant
{
class AttributeData
{
public:
    /// Adds one Data per row that is a field of the definition `defaults` points to.
    void add(Object* owner, const PliAttributeGroup& group, const void* defaults, const char* section);

    /// Copies the values of one group into a definition; pointers to text stay valid while this object is not changed.
    PliStatus write(const PliAttributeGroup& group, void* def, PliError* error);

    /// The Data called `name`, or nullptr.
    ::sofa::core::objectmodel::BaseData* find(const std::string& name) const;

private:
    struct Entry
    {
        const PliAttributeGroup* group;
        const PliAttribute* row;
        std::unique_ptr<::sofa::core::objectmodel::BaseData> data;
        std::string text;
    };
    std::vector<Entry> m_entries;
};
} // namespace pliant
