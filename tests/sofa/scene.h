/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// Scenes as text for the tests of the SOFA plugin: a box of tetrahedra, the two routes, the two animation loops.

#include <pliant/mesh.h>

#include <sofa/core/behavior/MechanicalState.h>
#include <sofa/core/objectmodel/BaseData.h>
#include <sofa/defaulttype/VecTypes.h>
#include <sofa/helper/logging/MessageDispatcher.h>
#include <sofa/helper/logging/MessageHandler.h>
#include <sofa/simulation/Node.h>
#include <sofa/simulation/Simulation.h>
#include <sofa/testing/BaseSimulationTest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "support/fold.h"

namespace scene
{
using Vec3Types = sofa::defaulttype::Vec3Types;
using State = sofa::core::behavior::MechanicalState<Vec3Types>;
using VecCoord = Vec3Types::VecCoord;
using VecDeriv = Vec3Types::VecDeriv;
namespace vec_id = sofa::core::vec_id;

/// position="..." tetrahedra="..." of a box, with all digits.
inline std::string box(PliIndex cells, double size, double lift = 0.0, double jitter = 0.0)
{
    const PliHost host = pli_host_default();
    PliBoxDef def{};
    for (int d = 0; d < 3; ++d)
    {
        def.min[d] = d == 1 ? lift : 0.0;
        def.max[d] = def.min[d] + size;
        def.cells[d] = cells;
    }
    def.jitter = jitter;
    def.seed = 7;
    PliMesh* mesh = pli_mesh_box(&host, &def, nullptr);
    std::ostringstream text;
    text.precision(17);
    text << "position=\"";
    for (PliIndex i = 0; i < 3 * mesh->point_count; ++i)
        text << mesh->x[i] << ' ';
    text << "\" tetrahedra=\"";
    for (PliIndex i = 0; i < 4 * mesh->tet_count; ++i)
        text << mesh->tets[i] << ' ';
    text << "\"";
    pli_mesh_destroy(mesh);
    return text.str();
}

inline std::string plugins()
{
    std::string text;
    for (const char* name : { "Pliant", "Sofa.Component.AnimationLoop", "Sofa.Component.StateContainer",
                              "Sofa.Component.Constraint.Projective", "Sofa.Component.Constraint.Lagrangian.Solver",
                              "Sofa.Component.Constraint.Lagrangian.Correction", "Sofa.Component.ODESolver.Backward",
                              "Sofa.Component.ODESolver.Forward", "Sofa.Component.LinearSolver.Iterative",
                              "Sofa.Component.LinearSolver.Direct", "Sofa.Component.Topology.Container.Constant",
                              "Sofa.Component.Mass", "Sofa.Component.Collision.Detection.Algorithm",
                              "Sofa.Component.Collision.Detection.Intersection", "Sofa.Component.Collision.Geometry",
                              "Sofa.Component.Collision.Response.Contact", "Sofa.Component.MechanicalLoad" })
        text += std::string("<RequiredPlugin pluginName=\"") + name + "\"/>\n";
    return text;
}

inline std::string root(const std::string& content, const std::string& attributes = "dt=\"0.01\" gravity=\"0 -9.81 0\"")
{
    return "<?xml version=\"1.0\"?>\n<Node name=\"root\" " + attributes + ">\n" + plugins() + content + "</Node>\n";
}

inline const std::string defaultLoop = "<DefaultAnimationLoop/>\n";
inline const std::string freeLoop =
    "<FreeMotionAnimationLoop/>\n<LCPConstraintSolver tolerance=\"1e-10\" maxIt=\"1000\" mu=\"0\"/>\n";

/// Messages seen while it lives.
class Messages : public sofa::helper::logging::MessageHandler
{
public:
    Messages() { sofa::helper::logging::MessageDispatcher::addHandler(this); }
    ~Messages() override { sofa::helper::logging::MessageDispatcher::rmHandler(this); }
    void process(sofa::helper::logging::Message& m) override
    {
        if (m.type() == sofa::helper::logging::Message::Error)
            errors.push_back(m.sender() + ": " + m.messageAsString());
        if (m.type() == sofa::helper::logging::Message::Warning)
            warnings.push_back(m.sender() + ": " + m.messageAsString());
    }
    std::string getName() const { return "Messages"; } // of the interface since v25
    /// How many errors contain `text`.
    int count(const std::string& text) const
    {
        int n = 0;
        for (const std::string& e : errors)
            n += e.find(text) != std::string::npos;
        return n;
    }
    std::string all() const
    {
        std::string text;
        for (const std::string& e : errors)
            text += e + "\n";
        return text;
    }
    std::vector<std::string> errors, warnings;
};

/// A scene that is loaded, initialised and stepped.
class Scene
{
public:
    explicit Scene(const std::string& xml)
        : m_instance("xml", xml)
    {
        m_instance.initScene();
    }
    Scene(const std::filesystem::path& file, int)
        : m_instance(sofa::testing::BaseSimulationTest::SceneInstance::LoadFromFile(file.string()))
    {
        m_instance.initScene();
    }
    sofa::simulation::Node* node() { return m_instance.root.get(); }
    void steps(int count)
    {
        for (int i = 0; i < count; ++i)
            m_instance.simulate(node()->getDt());
    }
    template <class T>
    T* get(const std::string& path)
    {
        T* found = nullptr;
        node()->get(found, "/" + path);
        return found;
    }
    sofa::core::objectmodel::BaseData* data(const std::string& path, const std::string& name)
    {
        auto* object = get<sofa::core::objectmodel::BaseObject>(path);
        return object ? object->findData(name) : nullptr;
    }
    State* state(const std::string& path = "Body/dofs") { return get<State>(path); }
    const VecCoord& x(const std::string& path = "Body/dofs")
    {
        return state(path)->read(vec_id::read_access::position)->getValue();
    }
    const VecDeriv& v(const std::string& path = "Body/dofs")
    {
        return state(path)->read(vec_id::read_access::velocity)->getValue();
    }
    bool isValid(const std::string& path)
    {
        auto* object = get<sofa::core::objectmodel::BaseObject>(path);
        return object && object->getComponentState() == sofa::core::objectmodel::ComponentState::Valid;
    }

private:
    sofa::testing::BaseSimulationTest::SceneInstance m_instance;
};

inline double distance(const VecCoord& a, const VecCoord& b)
{
    double most = a.size() == b.size() ? 0.0 : INFINITY;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
        most = largest_of(most, double((a[i] - b[i]).norm()));
    return most;
}

inline bool sameBits(const VecCoord& a, const VecCoord& b)
{
    return a.size() == b.size() && (a.empty() || std::memcmp(&a[0], &b[0], a.size() * sizeof(a[0])) == 0);
}

inline const std::string skin = R"(<Node name="Skin">
  <AdaptiveSurface name="surface"/>
  <MechanicalObject name="points" position="@surface.position"/>
  <AdaptiveMapping name="mapping"/>
</Node>
)";

/// Route A.
inline std::string owned(const std::string& mesh, const std::string& model, const std::string& more = "",
                         const std::string& children = skin)
{
    return "<Node name=\"Body\">\n<FemModel name=\"model\" " + mesh + " " + model
           + "/>\n<AdaptiveSolver name=\"solver\"/>\n"
             "<MechanicalObject name=\"dofs\" position=\"@model.position\"/>\n"
           + more + children + "</Node>\n";
}

/// Route B.
inline std::string stages(const std::string& mesh, const std::string& model, const std::string& solvers,
                          const std::string& more = "", const std::string& children = skin)
{
    return "<Node name=\"Body\">\n<FemModel name=\"model\" " + mesh + " " + model + "/>\n" + solvers
           + "<MechanicalObject name=\"dofs\" position=\"@model.position\"/>\n<AdaptiveMass "
             "name=\"mass\"/>\n<AdaptiveForceField name=\"force\"/>\n"
           + more + "<AdaptiveMask name=\"mask\"/>\n" + children + "</Node>\n";
}
} // namespace scene
