/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Prints the reference of the plugin's components as Markdown, from the help strings of the components themselves.
//   sofa_reference                 prints it
//   sofa_reference --check FILE    fails when FILE does not contain exactly this text between its two markers
//   sofa_reference --write FILE    puts it there
#include <sofa/core/ObjectFactory.h>
#include <sofa/core/objectmodel/BaseData.h>
#include <sofa/core/objectmodel/BaseLink.h>
#include <sofa/core/objectmodel/BaseObjectDescription.h>
#include <sofa/simulation/Node.h>
#include <sofa/simulation/Simulation.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

extern "C" void registerObjects(sofa::core::ObjectFactory *factory);

namespace
{
const char *const BEGIN = "<!-- reference: begin -->\n";
const char *const END = "<!-- reference: end -->\n";

std::string cell(std::string text)
{
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::string reference()
{
    sofa::core::ObjectFactory factory;
    registerObjects(&factory);
    std::vector<sofa::core::ObjectFactory::ClassEntry::SPtr> entries;
    factory.getAllEntries(entries);
    std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) { return a->className < b->className; });
    std::ostringstream out;
    auto node = sofa::simulation::getSimulation()->createNewNode("root");
    for (const auto &entry : entries) {
        for (const auto &creator : entry->creatorMap) {
            sofa::core::objectmodel::BaseObjectDescription description(entry->className.c_str(),
                                                                       entry->className.c_str());
            const auto object = creator.second->createInstance(nullptr, &description);
            out << "### " << entry->className << "\n\n"
                << entry->description << "\n\n| attribute | default | meaning |\n|---|---|---|\n";
            std::set<std::string> common{ "name",
                                          "printLog",
                                          "tags",
                                          "bbox",
                                          "componentState",
                                          "listening",
                                          "context",
                                          "slaves",
                                          "master",
                                          "mechanicalStates",
                                          "mstate",
                                          "topology",
                                          "constraintSolvers" };
            for (const auto *link : object->getLinks())
                if (!common.count(link->getName()))
                    out << "| `" << link->getName() << "` | link | " << cell(link->getHelp()) << " |\n";
            for (const auto *data : object->getDataFields()) {
                if (common.count(data->getName()) || data->getHelp().empty()) continue;
                const std::string value = data->getValueString();
                out << "| `" << data->getName() << "` | "
                    << (data->isReadOnly() ? "output"
                        : value.empty()    ? ""
                                           : "`" + cell(value) + "`")
                    << " | " << cell(data->getHelp()) << " |\n";
            }
            out << "\n";
        }
    }
    return out.str();
}

std::string read(const char *path)
{
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}
} // namespace

int main(int argc, char **argv)
{
    const std::string text = reference();
    if (argc != 3) {
        std::cout << text;
        return 0;
    }
    std::string page = read(argv[2]);
    const std::size_t from = page.find(BEGIN), to = page.find(END);
    if (from == std::string::npos || to == std::string::npos) {
        std::cerr << argv[2] << " has no reference markers\n";
        return 1;
    }
    const std::size_t start = from + std::string(BEGIN).size();
    if (std::string(argv[1]) == "--write") {
        page.replace(start, to - start, text);
        std::ofstream(argv[2]) << page;
        return 0;
    }
    if (page.substr(start, to - start) != text) {
        std::cerr << argv[2] << " is not up to date: run `sofa_reference --write " << argv[2] << "`\n";
        return 1;
    }
    return 0;
}
