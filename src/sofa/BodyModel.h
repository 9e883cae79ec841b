/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// The component that owns a body of the C core. Everything else in a scene (solver, force field, mass, mask, mapping,
// correction, surface) links to it, borrows arrays from SOFA and calls the core; none of them holds physics.

#include "sofa/AttributeData.h"

#include <pliant/stages.h>

#include <sofa/core/DataTrackerCallback.h>
#include <sofa/core/objectmodel/DataFileName.h>
#include <sofa/core/topology/BaseMeshTopology.h>

#include <functional>
#include <memory>
#include <vector>

namespace pliant
{
class RigidTool;
class SkinForce;

/// What time-integration component drives the body: at most one of the two.
enum class Route
{
    None,
    Owned, ///< AdaptiveSolver steps the body inside the core
    Stages ///< a stock solver asks AdaptiveForceField and AdaptiveMass for forces and matrices
};

/// One class for every scheme: the names scenes write (FemModel, TetLodModel, ...) are those of the registry.
class PLIANT_API BodyModel : public Object
{
public:
    SOFA_CLASS(BodyModel, Object);

    using Triangles = ::sofa::core::topology::BaseMeshTopology::SeqTriangles;
    template <class T>
    using Vector = ::sofa::type::vector<T>;

    Data<int> d_threads;
    ::sofa::core::objectmodel::DataFileName d_skin;
    Data<bool> d_showLevels, d_showInterface;

    // what the body publishes
    Data<VecCoord> d_position;     ///< rest positions of all coefficients
    Data<VecCoord> d_skinPosition; ///< rest positions of the skin points
    Data<Triangles> d_triangles;   ///< skin triangles, in skin point numbers
    Data<int> d_steps;
    Data<int> d_activeDofs, d_activeElements;
    Data<Vector<int>> d_perLevel;
    Data<int> d_refined, d_coarsened, d_budgetHits;
    Data<double> d_stepMs, d_adaptMs, d_substep, d_elasticEnergy, d_kineticEnergy;

    const PliSchemeInfo& scheme() const { return *m_scheme; }
    std::string getClassName() const override { return m_scheme->component; }
    void parse(::sofa::core::objectmodel::BaseObjectDescription* arg) override;

    void init() override;
    void bwdInit() override;
    void reinit() override;
    void reset() override;
    void handleEvent(::sofa::core::objectmodel::Event* event) override;
    void draw(const ::sofa::core::visual::VisualParams* vparams) override;
    void computeBBox(const ::sofa::core::ExecParams* params, bool onlyVisible = false) override;

    /// Where the body is drawn relative to where it is, m: bodies that are compared lie in the same place.
    void drawAside(const Vec3& offset)
    {
        m_aside = offset;
        m_box.invalidate();
    }
    const Vec3& aside() const { return m_aside; }

    /// Makes the body if that was not done yet. Others call it from their own init, so that the order of components
    /// in a
    /// node does not matter. @return nullptr when the description was refused (a sentence was printed, the state is
    /// Invalid)
    PliBody* ensureBuilt();
    PliBody* body() const { return m_body.get(); }

    /// The state of this node, checked to have one entry per coefficient; nullptr when there is none or it does not
    /// fit.
    State* state();

    /// Claims the body for one route; false (after one msg_error on `who`) when the other one has it already.
    bool claim(Route route, Object* who);
    Route route() const { return m_route; }
    const PliStepInfo& lastStep() const { return m_info; }

    void addTool(RigidTool* tool);
    void removeTool(RigidTool* tool);
    void addSkinForce(SkinForce* force) { m_skinForces.push_back(force); }
    void removeSkinForce(SkinForce* force);
    const std::vector<SkinForce*>& skinForces() const { return m_skinForces; }

    /// To be called by whoever advanced the body: statistics become stale and are recomputed when somebody reads them.
    void stepped(const PliStepInfo& info);

    /// Whoever steps the body lends the forces of other components when its levels are chosen, too: frames judge them.
    void lendWhileAdapting(std::function<void(PliState&)> lend) { m_lend = std::move(lend); }

    /// Reads which coefficients the projective constraints of the node hold, and tells the core. A constraint that
    /// holds
    /// only some directions is refused: false, with a sentence.
    bool readFixed();

    struct MeshDelete
    {
        void operator()(PliMesh* mesh) const { pli_mesh_destroy(mesh); }
    };
    using MeshPtr = std::unique_ptr<PliMesh, MeshDelete>;
    static MeshPtr meshFrom(const PliHost* host, const std::string& path, PliError* error);
    /// Points and cells of any loader or topology, by the names SOFA gives them; nullptr with a sentence if absent.
    static MeshPtr meshFrom(const PliHost* host, Object* source, PliMeshKind kind, PliError* error);

protected:
    explicit BodyModel(const PliSchemeInfo* scheme = pli_scheme_at(0));
    ~BodyModel() override;

    bool refuse(const std::string& sentence); ///< msg_error, Invalid, false

private:
    using MeshLinks =
        ::sofa::core::objectmodel::MultiLink<BodyModel, Object, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK>;
    struct Links
    {
        std::unique_ptr<MeshLinks> links;
    };
    PliSource source(); ///< what the scene says, for the core
    std::vector<Object*> linked(const PliAttribute& row, std::vector<std::string>* paths) const;

    void build();
    void publish();
    void lendTools();
    void adaptNow(double dt);
    void updateStatistics();
    VecCoord skinNow() const; ///< places of the skin as drawn

    /// Base::addUpdateCallback would do the same whenever somebody asks whether this component is valid: several times a step.
    class Statistics : public ::sofa::core::DataTrackerDDGNode
    {
    public:
        explicit Statistics(BodyModel& model)
            : m_model(model)
        {
        }
        void update() override;

    private:
        BodyModel& m_model;
    };
    Statistics m_statistics{ *this };

    struct BodyDelete
    {
        void operator()(PliBody* body) const { pli_body_destroy(body); }
    };
    struct PoolDelete
    {
        void operator()(PliPool* pool) const { pli_pool_destroy(pool); }
    };
    const PliSchemeInfo* m_scheme;
    std::vector<char> m_def; ///< the definition the body was made with
    AttributeData m_attributes;
    std::vector<Links> m_links;
    std::string m_sourceName, m_sourceType;      ///< of the component a mesh is taken from
    std::unique_ptr<PliPool, PoolDelete> m_pool; // outlives the body
    std::unique_ptr<PliBody, BodyDelete> m_body;
    bool m_tried{ false };
    Route m_route{ Route::None };
    State* m_state{ nullptr };
    std::vector<RigidTool*> m_tools;
    std::vector<PliTool> m_toolStates;
    std::vector<SkinForce*> m_skinForces;
    PliStepInfo m_info{};
    std::function<void(PliState&)> m_lend;
    Vec3 m_aside{ 0., 0., 0. };
    ::sofa::type::BoundingBox m_box; ///< as drawn
    VecCoord m_scratchX, m_scratchV;
};

/// What a loader or topology holds, by the names SOFA gives it. The strings keep its name and type.
PliMeshArrays arraysOf(Object* source, std::string& name, std::string& type);
} // namespace pliant
