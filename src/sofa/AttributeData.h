/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// Data members made from the rows of the attribute table that all hosts share, so that a scene means the same
// everywhere:
// names, help strings and defaults are written once, in the rows of <pliant/attributes.h> and in pli_*_default().

#include "sofa/borrow.h"
#include <pliant/registry.h>

#include <sofa/core/topology/BaseMeshTopology.h>

#include <memory>
#include <string>
#include <vector>

namespace pliant
{
class AttributeData
{
public:
    using Triangles = ::sofa::core::topology::BaseMeshTopology::SeqTriangles;
    using Tetrahedra = ::sofa::core::topology::BaseMeshTopology::SeqTetrahedra;
    template <class T>
    using Vector = ::sofa::type::vector<T>;

    /// Adds one Data per row: fields of the definition `defaults` points to, files, lists and outputs. Links are the owner's, and so is
    /// what it has under the same name already.
    void add(Object* owner, const PliAttributeGroup& group, const void* defaults, const char* section);

    /// Copies the values of one group into a definition; pointers to text stay valid while this object is not changed.
    PliStatus write(const PliAttributeGroup& group, void* def, PliError* error);

    /// The same for one row.
    PliStatus write(const PliAttribute& row, void* def, PliError* error);

    /// The Data called `name`, or nullptr.
    ::sofa::core::objectmodel::BaseData* find(const std::string& name) const;
    bool isSet(const PliAttribute& row) const;
    PliValue list(const PliAttribute& row) const; ///< PLI_REALS, PLI_POINTS, PLI_INDICES
    void publish(const PliAttribute& row, const double* real, const PliIndex* index, std::size_t count);

    /// Finds files while the scene is read: only then does SOFA know the folder of the scene.
    void findFiles();
    int fileCount(const PliAttribute& row) const;
    const char* file(const PliAttribute& row, int k) const;

private:
    struct Entry
    {
        const PliAttributeGroup* group;
        const PliAttribute* row;
        std::unique_ptr<::sofa::core::objectmodel::BaseData> data;
        std::string text;
        std::vector<std::string> paths; ///< PLI_FILES, PLI_NEW_FILE: full names
    };
    const Entry* entry(const std::string& name) const;
    std::vector<Entry> m_entries;
};
} // namespace pliant
