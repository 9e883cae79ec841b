/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// doc/components.md is made from the help strings of the plugin and must be what they say now.
//   PLIANT_WRITE_REFERENCE=1 test_sofa --gtest_filter='Reference.*'     writes it
#include "scene.h"

#include <sofa/core/ObjectFactory.h>
#include <sofa/core/objectmodel/BaseObjectDescription.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

using namespace scene;

namespace
{
const std::set<std::string> ofEveryComponent{ "name", "printLog", "tags", "bbox", "componentState", "listening" };

/// SOFA's letters for types, in words.
std::string kind(const std::string& type)
{
    static const std::map<std::string, std::string> words{ { "i", "int" },
                                                           { "d", "real" },
                                                           { "f", "real" },
                                                           { "Vec3d", "vec3" },
                                                           { "vector<Vec3d>", "list of vec3" },
                                                           { "vector<i>", "list of int" },
                                                           { "vector<d>", "list of real" } };
    const auto found = words.find(type);
    return found == words.end() ? type : found->second;
}

std::string cell(std::string text)
{
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.insert(at, "\\");
    return text;
}

/// The components of the plugin by name, with what their help says.
std::string reference(sofa::simulation::Node* node, int* bare)
{
    std::vector<sofa::core::ObjectFactory::ClassEntry::SPtr> entries;
    sofa::core::ObjectFactory::getInstance()->getAllEntries(entries);
    std::map<std::string, std::string> sections;
    for (const auto& entry : entries)
    {
        if (entry->creatorMap.empty() || std::string(entry->creatorMap.begin()->second->getTarget()) != "Pliant")
            continue;
        sofa::core::objectmodel::BaseObjectDescription description(entry->className.c_str(), entry->className.c_str());
        const auto object = entry->creatorMap.begin()->second->createInstance(node, &description);
        std::ostringstream text;
        std::string about = entry->description;
        about.erase(about.find_last_not_of(" \n") + 1);
        text << "## " << entry->className << "\n\n" << about << "\n\n";
        std::string rows, links;
        for (const auto* data : object->getDataFields())
        {
            if (ofEveryComponent.count(data->getName()))
                continue;
            *bare += data->getHelp().empty();
            const std::string value = data->getValueString();
            rows += "| `" + data->getName() + "` | " + kind(data->getValueTypeString()) + " | "
                    + (data->isReadOnly()                   ? "read only"
                       : value.empty() || value.size() > 60 ? ""
                                                            : "`" + value + "`")
                    + " | " + cell(data->getHelp()) + " |\n";
        }
        for (const auto* link : object->getLinks())
            if (link->getName() != "context" && link->getName() != "slaves" && link->getName() != "master")
                links += "- `" + link->getName() + "`: " + link->getHelp() + "\n";
        if (!rows.empty())
            text << "| data | type | default | meaning |\n|---|---|---|---|\n" << rows << "\n";
        if (!links.empty())
            text << "Links:\n\n" << links << "\n";
        sections[entry->className] = text.str();
        node->removeObject(object);
    }
    std::string all = "# Components of the SOFA plugin\n\nMade from the help strings of the plugin by\n"
                      "`PLIANT_WRITE_REFERENCE=1 test_sofa --gtest_filter='Reference.*'`; a test keeps it up to date. "
                      "The embedded host\n"
                      "prints its own table, components of SOFA included: `pliant list --markdown`.\n\n";
    for (const auto& section : sections)
        all += section.second;
    all.pop_back(); // one newline at the end
    return all;
}
} // namespace

class Reference : public sofa::testing::BaseSimulationTest
{
};

TEST_F(Reference, IsUpToDate)
{
    Scene run(root(defaultLoop));
    int bare = 0;
    const std::string now = reference(run.node(), &bare);
    EXPECT_EQ(bare, 0); // every Data says what it is
    EXPECT_NE(now.find("## AdaptiveConstraintCorrection"), std::string::npos);
    const std::filesystem::path path = std::filesystem::path(PLIANT_SOURCE_DIR) / "doc/components.md";
    if (std::getenv("PLIANT_WRITE_REFERENCE"))
        std::ofstream(path) << now;
    std::ifstream file(path);
    std::ostringstream there;
    there << file.rdbuf();
    EXPECT_TRUE(there.str() == now) << path << " is out of date: see the top of this test";
}
