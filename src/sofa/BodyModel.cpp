/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/BodyModel.h"
#include "sofa/RigidTool.h"
#include "sofa/SkinForces.h"

#include <sofa/core/MechanicalParams.h>
#include <sofa/core/behavior/ProjectiveConstraintSet.h>
#include <sofa/helper/ScopedAdvancedTimer.h>
#include <sofa/simulation/AnimateBeginEvent.h>
#include <sofa/simulation/AnimateEndEvent.h>
#include <sofa/simulation/MechanicalOperations.h>
#include <sofa/simulation/Node.h>

#include <algorithm>
#include <cstring>

namespace pliant
{
namespace vec_id = ::sofa::core::vec_id;

namespace
{
const char* help(const char* name)
{
    return pli_attribute_find(&pli_model_attributes, name)->help;
}

/// Log of the core, shown by the component the body belongs to.
void logToComponent(PliLogLevel level, const char* text, void* user)
{
    const auto* self = static_cast<const Object*>(user);
    if (level == PLI_LOG_ERROR)
        msg_error(self) << text;
    else if (level == PLI_LOG_WARNING)
        msg_warning(self) << text;
    else
        msg_info(self) << text;
}
} // namespace

BodyModel::BodyModel(const PliSchemeInfo* scheme)
    : d_threads(initData(&d_threads, 1, "threads", help("threads")))
    , d_skin(initData(&d_skin, "skin", help("skin")))
    , d_showLevels(initData(&d_showLevels, true, "showLevels", help("showLevels")))
    , d_showInterface(initData(&d_showInterface, true, "showInterface", help("showInterface")))
    , d_position(initData(&d_position, "position", pli_attribute_find(&scheme->attributes, "position")->help))
    , d_skinPosition(initData(&d_skinPosition, "skinPosition", help("skinPosition")))
    , d_triangles(initData(&d_triangles, "triangles", help("triangles")))
    , d_steps(initData(&d_steps, 0, "steps", "steps since the last reset"))
    , d_activeDofs(initData(&d_activeDofs, 0, "activeDofs", "coefficients that are unknowns now"))
    , d_activeElements(initData(&d_activeElements, 0, "activeElements", "elements that give forces now"))
    , d_perLevel(initData(&d_perLevel, "perLevel", "active coefficients of each level, coarsest first"))
    , d_refined(initData(&d_refined, 0, "refined", "refinements since the last reset"))
    , d_coarsened(initData(&d_coarsened, 0, "coarsened", "coarsenings since the last reset"))
    , d_budgetHits(initData(&d_budgetHits, 0, "budgetHits",
                            "refinements the governor refused and merges it forced since the last reset"))
    , d_stepMs(initData(&d_stepMs, 0., "stepMs", "ms of CPU of the last step in the core"))
    , d_adaptMs(initData(&d_adaptMs, 0., "adaptMs", "ms of it spent adapting"))
    , d_substep(initData(&d_substep, 0., "substep", "s, last explicit substep"))
    , d_elasticEnergy(initData(&d_elasticEnergy, 0., "elasticEnergy", "J"))
    , d_kineticEnergy(initData(&d_kineticEnergy, 0., "kineticEnergy", "J"))
    , m_scheme(scheme)
    , m_def(scheme->def_size)
{
    scheme->defaults(m_def.data());
    static const char* const sections[] = { "Body", "Adaptivity", "Scheme" };
    const PliAttributeGroup* group;
    for (int g = 0; (group = pli_scheme_group(scheme, g)); ++g)
        m_attributes.add(this, *group, m_def.data(), sections[group == &scheme->attributes ? 2 : g]);
    for (int g = 0; (group = pli_scheme_group(scheme, g)); ++g)
        for (int i = 0; i < group->count; ++i)
        {
            const PliAttribute& row = group->rows[i];
            if (row.kind == PLI_LINK || row.kind == PLI_LINKS)
                m_links.push_back({ std::make_unique<MeshLinks>(initLink(row.name, row.help)) });
        }
    for (::sofa::core::objectmodel::BaseData* data : std::initializer_list<::sofa::core::objectmodel::BaseData*>{
             &d_steps, &d_activeDofs, &d_activeElements, &d_perLevel, &d_refined, &d_coarsened, &d_budgetHits,
             &d_stepMs, &d_adaptMs, &d_substep, &d_elasticEnergy, &d_kineticEnergy })
    {
        data->setGroup("Statistics");
        data->setReadOnly(true);
        data->setPersistent(false);
    }
    // computed when somebody looks at them, not in the step
    m_statistics.addInputs({ &d_steps });
    m_statistics.addOutputs({ &d_activeDofs, &d_activeElements, &d_perLevel, &d_refined, &d_coarsened, &d_budgetHits,
                              &d_stepMs, &d_adaptMs, &d_substep, &d_elasticEnergy, &d_kineticEnergy });
    f_listening.setValue(true);
    d_componentState.setValue(ComponentState::Undefined);
}

BodyModel::~BodyModel() = default;

void BodyModel::Statistics::update()
{
    updateAllInputsIfDirty();
    cleanDirty();
    m_model.updateStatistics();
}

bool BodyModel::refuse(const std::string& sentence)
{
    msg_error() << sentence;
    d_componentState.setValue(ComponentState::Invalid);
    return false;
}

// ---- creation
// --------------------------------------------------------------------------------------------------------

void BodyModel::init()
{
    Inherit1::init();
    ensureBuilt();
}

PliBody* BodyModel::ensureBuilt()
{
    if (!m_tried)
    {
        m_tried = true;
        build();
    }
    return m_body.get();
}

void BodyModel::build()
{
    if constexpr (!PACKED_DOUBLES)
    {
        refuse("this SOFA computes in single precision, and Pliant in double: build SOFA with "
               "SOFA_FLOATING_POINT_TYPE=double");
        return;
    }
    if (d_componentState.getValue() == ComponentState::Invalid)
        return; // refused while the scene was read
    PliError error{};
    PliHost host = pli_host_default();
    host.log = logToComponent;
    host.user = static_cast<Object*>(this);
    if (d_threads.getValue() < 1 || d_threads.getValue() > 64)
    {
        refuse("threads=\"" + std::to_string(d_threads.getValue()) + "\" must be in 1 .. 64");
        return;
    }
    if (d_threads.getValue() > 1)
    {
        m_pool.reset(pli_pool_create(d_threads.getValue()));
        if (m_pool)
            pli_pool_lend(m_pool.get(), &host);
    }
    const auto g = getContext()->getGravity();
    const double gravity[3] = { g[0], g[1], g[2] };
    const PliSource scene = source();
    m_body.reset(pli_scheme_make(m_scheme, &host, &scene, gravity, m_def.data(), &error));
    if (!m_body)
    {
        refuse(error.text[0] ? error.text : "the body could not be made");
        return;
    }
    if (!d_skin.getValue().empty())
    {
        const MeshPtr skin = meshFrom(&host, d_skin.getFullPath(), &error);
        if (!skin
            || pli_body_attach_skin(m_body.get(), skin->x, skin->point_count, skin->tris, skin->tri_count, &error)
                   != PLI_OK)
        {
            m_body.reset();
            refuse(std::string("skin: ") + error.text);
            return;
        }
    }
    publish();
    d_componentState.setValue(ComponentState::Valid);
}

void BodyModel::publish()
{
    const PliIndex dofs = pli_body_dof_count(m_body.get());
    m_scratchX.resize(dofs);
    m_scratchV.assign(dofs, Vec3());
    std::memcpy(flat(m_scratchX), pli_body_rest(m_body.get()), dofs * sizeof(Vec3));
    if (d_position.getParent())
        d_position.setParent(nullptr); // a src link fed it; from here on it is the body's
    d_position.setValue(m_scratchX);

    VecCoord skin(pli_body_skin_count(m_body.get()));
    pli_body_skin_positions(m_body.get(), pli_body_rest(m_body.get()), flat(skin));
    d_skinPosition.setValue(skin);
    PliIndex count = 0;
    const PliIndex* tris = pli_body_skin_tris(m_body.get(), &count);
    Triangles triangles(count);
    for (PliIndex t = 0; t < count; ++t)
        for (int k = 0; k < 3; ++k)
            triangles[t][k] = tris[3 * t + k];
    if (d_triangles.getParent())
        d_triangles.setParent(nullptr);
    d_triangles.setValue(triangles);
}

BodyModel::MeshPtr BodyModel::meshFrom(const PliHost* host, const std::string& path, PliError* error)
{
    return MeshPtr(pli_mesh_read(host, path.c_str(), error));
}

BodyModel::MeshPtr BodyModel::meshFrom(const PliHost* host, Object* source, PliMeshKind kind, PliError* error)
{
    std::string name, type;
    const PliMeshArrays arrays = arraysOf(source, name, type);
    return MeshPtr(pli_mesh_from_arrays(host, &arrays, kind, error));
}

// ---- the node around it
// ----------------------------------------------------------------------------------------------

State* BodyModel::state()
{
    if (m_state || !m_body || !isComponentStateValid()) // a mistake is said once
        return m_state;
    auto* const found = dynamic_cast<State*>(getContext()->getMechanicalState());
    if (!found)
    {
        refuse("no MechanicalObject of Vec3d in node " + getContext()->getPathName());
        return nullptr;
    }
    if (found->getSize() != pli_body_dof_count(m_body.get()))
    {
        refuse("MechanicalObject " + found->getName() + " has " + std::to_string(found->getSize())
               + " points, and this body " + std::to_string(pli_body_dof_count(m_body.get()))
               + " coefficients: give it position=\"@" + getName() + ".position\"");
        return nullptr;
    }
    return m_state = found;
}

void BodyModel::bwdInit()
{
    Inherit1::bwdInit();
    if (!m_body || !state())
        return;
    if (m_route == Route::None)
        msg_warning() << "nothing moves this body: add an AdaptiveSolver, or AdaptiveMass and AdaptiveForceField with "
                         "a stock solver";
    if (m_route == Route::Stages && !m_tools.empty())
        refuse(
            "SphereTool and PlaneTool act inside AdaptiveSolver only: with a stock solver use SOFA's collision models");
    if (m_route == Route::Stages && !m_skinForces.empty())
        refuse("PieceContact and SkinTarget act inside AdaptiveSolver only");
    PliIndex held = 0;
    (void)pli_body_constraint_rank(m_body.get(), &held);
    if (m_route == Route::Stages && held)
        refuse("held points are held by AdaptiveSolver only");
    readFixed();
    d_steps.setValue(0);
}

bool BodyModel::claim(Route route, Object* who)
{
    if (m_route != Route::None && m_route != route)
    {
        msg_error(who) << "the body " << getName() << " is already stepped by "
                       << (m_route == Route::Owned ? "an AdaptiveSolver"
                                                   : "a stock solver through AdaptiveForceField or AdaptiveMass")
                       << ": its forces would count twice, remove one of the two";
        return false;
    }
    m_route = route;
    return true;
}

bool BodyModel::readFixed()
{
    auto* const node = dynamic_cast<::sofa::simulation::Node*>(getContext());
    if (!node || !m_state)
        return true;
    Data<VecDeriv> probe;
    probe.setValue(VecDeriv(m_state->getSize(), Vec3(1., 1., 1.)));
    for (const auto& any : node->projectiveConstraintSet)
    {
        auto* const set = dynamic_cast<::sofa::core::behavior::ProjectiveConstraintSet<Vec3Types>*>(any);
        if (set && set->getMState() == m_state && set->getClassName() != "AdaptiveMask")
            set->projectResponse(::sofa::core::mechanicalparams::defaultInstance(), probe);
    }
    std::vector<PliIndex> fixed;
    const VecDeriv& held = probe.getValue();
    for (std::size_t i = 0; i < held.size(); ++i)
    {
        const Vec3& d = held[i];
        if (d[0] == 0. && d[1] == 0. && d[2] == 0.)
            fixed.push_back(PliIndex(i));
        else if (!(d[0] == 1. && d[1] == 1. && d[2] == 1.) && m_route == Route::Owned)
            return refuse("a projective constraint of this node holds only some directions of point "
                          + std::to_string(i)
                          + ": AdaptiveSolver can hold all three or none, use a stock solver for this scene");
    }
    PliError error{};
    if (pli_body_set_fixed(m_body.get(), fixed.data(), PliIndex(fixed.size()), &error) != PLI_OK)
        return refuse(error.text);
    return true;
}

void BodyModel::addTool(RigidTool* tool)
{
    m_tools.push_back(tool);
    lendTools();
}

void BodyModel::removeTool(RigidTool* tool)
{
    m_tools.erase(std::remove(m_tools.begin(), m_tools.end(), tool), m_tools.end());
    lendTools();
}

void BodyModel::removeSkinForce(SkinForce* force)
{
    m_skinForces.erase(std::remove(m_skinForces.begin(), m_skinForces.end(), force), m_skinForces.end());
}

void BodyModel::lendTools()
{
    m_toolStates.resize(m_tools.size());
    for (std::size_t i = 0; i < m_tools.size(); ++i)
        m_tools[i]->place(getContext()->getTime(), getContext()->getDt(), m_toolStates[i]);
    PliError error{};
    if (m_body
        && pli_body_set_tools(m_body.get(), m_toolStates.empty() ? nullptr : m_toolStates.data(),
                              int(m_toolStates.size()), &error)
               != PLI_OK)
        refuse(error.text);
}

// ---- running
// ---------------------------------------------------------------------------------------------------------

void BodyModel::handleEvent(::sofa::core::objectmodel::Event* event)
{
    if (!isComponentStateValid() || !m_state)
        return;
    if (::sofa::simulation::AnimateBeginEvent::checkEventType(event))
        adaptNow(static_cast<::sofa::simulation::AnimateBeginEvent*>(event)->getDt());
    else if (m_route == Route::Stages && ::sofa::simulation::AnimateEndEvent::checkEventType(event))
        d_steps.setValue(d_steps.getValue() + 1); // nobody else says that a stock solver took a step
}

/// Levels change here and nowhere else: before collision detection and before any solver looks at the state.
void BodyModel::adaptNow(double dt)
{
    SCOPED_TIMER("Pliant.adapt");
    const auto g = getContext()->getGravity();
    const double gravity[3] = { g[0], g[1], g[2] };
    pli_body_set_gravity(m_body.get(), gravity);
    for (std::size_t i = 0; i < m_tools.size(); ++i)
        m_tools[i]->place(getContext()->getTime(), dt, m_toolStates[i]);
    for (const SkinForce* force : m_skinForces)
        pli_skin_force_begin(force->force(), dt);

    bool changed;
    {
        auto x = ::sofa::helper::getWriteAccessor(*m_state->write(vec_id::write_access::position));
        auto v = ::sofa::helper::getWriteAccessor(*m_state->write(vec_id::write_access::velocity));
        PliState s = lend(flat(x.wref()), flat(v.wref()));
        if (m_lend && pli_body_judges_forces(m_body.get()))
            m_lend(s);
        changed = pli_body_adapt(m_body.get(), &s, dt);
    }
    if (changed) // free motion moves mapped points by velocities only: they must start where the new levels put them
    {
        ::sofa::simulation::common::MechanicalOperations mop(::sofa::core::execparams::defaultInstance(), getContext());
        mop.propagateXAndV(vec_id::write_access::position, vec_id::write_access::velocity);
    }
}

void BodyModel::stepped(const PliStepInfo& info)
{
    m_info = info;
    d_steps.setValue(d_steps.getValue() + 1);
    for (std::size_t i = 0; i < m_tools.size(); ++i)
        m_tools[i]->felt(m_toolStates[i]);
    for (SkinForce* force : m_skinForces)
        force->measured(pli_skin_force_measure(force->force()));
}

void BodyModel::updateStatistics()
{
    if (!m_body)
        return;
    const PliStats stats = pli_body_stats(m_body.get());
    d_activeDofs.setValue(int(stats.active));
    d_activeElements.setValue(int(stats.elements));
    auto perLevel = ::sofa::helper::getWriteOnlyAccessor(d_perLevel);
    perLevel.resize(std::size_t(pli_body_level_count(m_body.get())));
    for (std::size_t i = 0; i < perLevel.size(); ++i)
        perLevel[i] = int(stats.per_level[i]);
    d_refined.setValue(int(stats.refined));
    d_coarsened.setValue(int(stats.coarsened));
    d_budgetHits.setValue(int(stats.refused + stats.forced));
    d_stepMs.setValue(stats.step_ms);
    d_adaptMs.setValue(stats.adapt_ms);
    d_substep.setValue(stats.substep);
    if (m_state)
    {
        const PliEnergy energy =
            pli_body_energy(m_body.get(), flat(m_state->read(vec_id::read_access::position)->getValue()),
                            flat(m_state->read(vec_id::read_access::velocity)->getValue()));
        d_elasticEnergy.setValue(energy.elastic);
        d_kineticEnergy.setValue(energy.kinetic);
    }
}

void BodyModel::reinit()
{
    if (!m_body)
        return;
    PliError error{};
    const PliSource scene = source();
    if (pli_scheme_retune(m_scheme, m_body.get(), &scene, m_def.data(), &error) != PLI_OK)
        msg_error() << error.text;
}

void BodyModel::reset()
{
    if (!m_body)
        return;
    // on arrays of our own: the state restores its own entries, before or after this call
    const PliState s = lend(flat(m_scratchX), flat(m_scratchV));
    pli_body_reset(m_body.get(), &s);
    if (m_state)
        readFixed();
    d_steps.setValue(0);
}
} // namespace pliant
