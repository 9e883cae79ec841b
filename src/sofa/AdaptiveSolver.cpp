/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/AdaptiveSolver.h"
#include "sofa/SceneRules.h"
#include "sofa/SkinForces.h"

#include <sofa/core/ObjectFactory.h>
#include <sofa/helper/ScopedAdvancedTimer.h>
#include <sofa/simulation/MechanicalOperations.h>

#include <algorithm>
#include <cstring>

namespace pliant
{
namespace vec_id = ::sofa::core::vec_id;
using ::sofa::simulation::Node;

AdaptiveSolver::AdaptiveSolver()
    : l_model(initLink("model", "the body this solver steps; default: the model of this node"))
    , d_substeps(initData(&d_substeps, 0, "substeps", "substeps of the last step"))
    , d_forceUpdates(initData(&d_forceUpdates, 0, "forceUpdates",
                              "times the other components' forces were gathered in the last step"))
{
    for (Data<int>* data : { &d_substeps, &d_forceUpdates })
    {
        data->setGroup("Statistics");
        data->setReadOnly(true);
        data->setPersistent(false);
    }
}

void AdaptiveSolver::init()
{
    Inherit1::init();
    BodyModel* const found = findModel(this, l_model);
    if (!found)
        return;
    if (!found->claim(Route::Owned, this))
    {
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    // what constraints correct is an implicit step where the choice is the body's
    m_implicit = pli_body_def(found->body())->integrator != PLI_SYMPLECTIC;
    d_componentState.setValue(ComponentState::Valid);
}

void AdaptiveSolver::bwdInit()
{
    if (!isComponentStateValid())
        return;
    auto* const node = dynamic_cast<Node*>(getContext());
    const bool known =
        l_model->isComponentStateValid() && l_model->state(); // otherwise the model has said what is wrong
    if (!known || l_model->state()->getContext() != getContext())
    {
        if (known)
            msg_error() << "the MechanicalObject of " << l_model->getName() << " must be in the node of this solver";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    const std::string sentence = refuseOwned(node, pli_body_def(l_model->body())->integrator == PLI_IMPLICIT);
    if (!sentence.empty())
    {
        msg_error() << sentence;
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    m_endVelocity.assign(l_model->state()->getSize(), Vec3());
    l_model->lendWhileAdapting(
        [this](PliState& s)
        {
            m_params = ::sofa::core::execparams::defaultInstance();
            m_xId = vec_id::write_access::position;
            m_vId = vec_id::write_access::velocity;
            lendForces(s);
            if (!m_isPressed)
                return;
            // what contact did in the last step: frames that are asleep wake by it
            for (std::size_t i = 0; s.f_ext && i < 3 * m_pressing.size(); ++i)
                flat(m_pressing)[i] += s.f_ext[i];
            s.f_ext = flat(m_pressing);
        });
}

void AdaptiveSolver::press(const VecDeriv& force)
{
    m_pressing = force;
    m_isPressed = force.size() == l_model->state()->getSize();
}

void AdaptiveSolver::reset()
{
    m_isPressed = false;
    std::fill(m_endVelocity.begin(), m_endVelocity.end(), Vec3());
}

/// Is there anything under the node that gives forces? Contacts come and go, so this is asked in every step.
bool AdaptiveSolver::hasForces(Node* node)
{
    if (!node->isActive())
        return false;
    if (!node->forceField.empty() || !node->interactionForceField.empty())
        return true;
    for (const auto& child : node->child)
        if (hasForces(child.get()))
            return true;
    return false;
}

void AdaptiveSolver::gather(const double* x, const double* v, double, double* f, void* self)
{
    static_cast<AdaptiveSolver*>(self)->gatherForces(x, v, f);
}

void AdaptiveSolver::gatherPoints(const double* x, const double* v, PliPointForces* out, void* self)
{
    const PliPointForces** next = &out->next;
    for (const SkinForce* force : static_cast<AdaptiveSolver*>(self)->l_model->skinForces())
    {
        PliPointForces* const list = pli_skin_force_points(force->force(), x, v);
        *next = list;
        next = &list->next;
    }
}

/// f += what every other component says at x and v, pulled up through the mappings.
void AdaptiveSolver::gatherForces(const double* x, const double* v, double* f)
{
    ++m_updates;
    State* const state = l_model->state();
    const std::size_t bytes = state->getSize() * sizeof(Vec3);
    {
        auto xs = ::sofa::helper::getWriteOnlyAccessor(*state->write(m_xId.getId(state)));
        auto vs = ::sofa::helper::getWriteOnlyAccessor(*state->write(m_vId.getId(state)));
        if (x != flat(xs.wref())) // the core steps these very arrays unless it works on compact ones
            std::memcpy(flat(xs.wref()), x, bytes);
        if (v != flat(vs.wref()))
            std::memcpy(flat(vs.wref()), v, bytes);
    }
    ::sofa::simulation::common::MechanicalOperations mop(m_params, getContext());
    mop->setX(m_xId);
    mop->setV(m_vId);
    mop.propagateXAndV(m_xId, m_vId);
    mop.computeForce(vec_id::write_access::force);
    const double* const gathered = flat(state->read(vec_id::read_access::force)->getValue());
    const std::size_t count = 3 * state->getSize();
    for (std::size_t i = 0; i < count; ++i)
        f[i] += gathered[i];
}

void AdaptiveSolver::solve(const ::sofa::core::ExecParams* params, SReal dt, ::sofa::core::MultiVecCoordId xResult,
                           ::sofa::core::MultiVecDerivId vResult)
{
    if (!isComponentStateValid() || !l_model->isComponentStateValid())
        return;
    SCOPED_TIMER("Pliant.solve");
    State* const state = l_model->state();
    const std::size_t size = state->getSize();
    m_params = params;
    m_dt = dt;
    m_isPressed = false;
    m_xId = xResult;
    m_vId = vResult;
    m_updates = 0;
    const bool freeMotion = !(xResult.getId(state) == vec_id::write_access::position);

    auto* const node = static_cast<Node*>(getContext());
    double *x, *v;
    {
        auto xs = ::sofa::helper::getWriteAccessor(*state->write(xResult.getId(state)));
        auto vs = ::sofa::helper::getWriteAccessor(*state->write(vResult.getId(state)));
        if (freeMotion)
        {
            xs.resize(size);
            vs.resize(size);
            std::memcpy(flat(xs.wref()), flat(state->read(vec_id::read_access::position)->getValue()),
                        size * sizeof(Vec3));
            std::memcpy(flat(vs.wref()), flat(state->read(vec_id::read_access::velocity)->getValue()),
                        size * sizeof(Vec3));
        }
        x = flat(xs.wref());
        v = flat(vs.wref());
    }
    if (!node->projectiveConstraintSet
             .empty()) // prescribed motions: the velocity of the coming step, which the body leaves alone
        ::sofa::simulation::common::MechanicalOperations(params, node).projectVelocity(vResult, node->getTime());
    PliState s = lend(x, v);
    lendForces(s);
    // what contact corrects must be a step that the body can answer for
    const PliStepInfo info =
        freeMotion ? pli_body_advance_once(l_model->body(), &s, dt) : pli_body_advance(l_model->body(), &s, dt);
    if (freeMotion)
    {
        // The loop replaces the free position by x + dt * freeVelocity on every state: give it the mean velocity of the
        // step, and keep the true one for the correction.
        auto vs = ::sofa::helper::getWriteAccessor(*state->write(vResult.getId(state)));
        const VecCoord& begin = state->read(vec_id::read_access::position)->getValue();
        const VecCoord& end = state->read(xResult.getId(state))->getValue();
        for (std::size_t i = 0; i < size; ++i)
        {
            m_endVelocity[i] = vs[i];
            vs[i] = (end[i] - begin[i]) / dt;
        }
    }
    else
    {
        ::sofa::helper::getWriteAccessor(
            *state->write(xResult.getId(state))); // changed behind their back: mark them so
        ::sofa::helper::getWriteAccessor(*state->write(vResult.getId(state)));
    }
    d_substeps.setValue(info.substeps);
    d_forceUpdates.setValue(m_updates);
    l_model->stepped(info);
    stop(info);
}

bool AdaptiveSolver::retake(PliContactRows& rows, VecCoord& x, VecDeriv& v)
{
    SCOPED_TIMER("Pliant.retake");
    State* const state = l_model->state();
    x = state->read(vec_id::read_access::position)->getValue(); // still those of the beginning of the step
    v = state->read(vec_id::read_access::velocity)->getValue();
    PliState s = lend(flat(x), flat(v));
    lendForces(s);
    const PliStepInfo info = pli_body_advance_under(l_model->body(), &s, m_dt, &rows);
    stop(info);
    return info.finite;
}

/// Forces of other components: asked for in every substep when there is anything to ask, else what SOFA left for this
/// step.
void AdaptiveSolver::lendForces(PliState& s)
{
    State* const state = l_model->state();
    if (!l_model->skinForces().empty())
    {
        s.points = gatherPoints;
        s.points_user = this;
    }
    if (hasForces(static_cast<Node*>(getContext())))
    {
        s.external = gather;
        s.external_user = this;
        return;
    }
    if (const auto* external = state->read(vec_id::read_access::externalForce))
    {
        if (external->getValue().size() == state->getSize())
            s.f_ext = flat(external->getValue());
    }
}

void AdaptiveSolver::stop(const PliStepInfo& info)
{
    PliError why;
    if (pli_step_check(&info, &why) == PLI_OK)
        return;
    msg_error() << "the step at t = " << getContext()->getTime() << " s was undone and this body stops: " << why.text;
    d_componentState.setValue(ComponentState::Invalid);
    // a body that nobody steps must not feed its contacts to a constraint solver either
    static_cast<Node*>(getContext())->setActive(false);
}

SReal AdaptiveSolver::getIntegrationFactor(int inputDerivative, int outputDerivative) const
{
    const SReal dt = getContext()->getDt();
    const SReal factors[3][3] = { { 1, dt, dt * dt }, { 0, 1, dt }, { 0, 0, 1 } };
    return inputDerivative < 0 || inputDerivative > 2 || outputDerivative < 0 || outputDerivative > 2
               ? SReal(0)
               : factors[outputDerivative][inputDerivative];
}

SReal AdaptiveSolver::getSolutionIntegrationFactor(int outputDerivative) const
{
    const SReal dt = getContext()->getDt();
    const SReal factors[3] = { dt, 1, 1 / dt };
    return outputDerivative < 0 || outputDerivative > 2 ? SReal(0) : factors[outputDerivative];
}

void registerAdaptiveSolver(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData(
            "Steps one Pliant body inside the core: explicit at many rates, or implicit, on the active "
            "coefficients only. Use it instead of an ODE solver, a mass and a force field.")
            .add<AdaptiveSolver>());
}
} // namespace pliant
