/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/AdaptiveConstraintCorrection.h"
#include "sofa/SceneRules.h"

#include <sofa/core/ConstraintParams.h>
#include <sofa/core/ObjectFactory.h>
#include <sofa/core/behavior/ConstraintCorrection.inl>
#include <sofa/helper/ScopedAdvancedTimer.h>
#include <sofa/linearalgebra/BaseMatrix.h>
#include <sofa/linearalgebra/BaseVector.h>

#include <algorithm>

namespace pliant
{
namespace vec_id = ::sofa::core::vec_id;

AdaptiveConstraintCorrection::AdaptiveConstraintCorrection()
    : l_solver(initLink("solver", "the AdaptiveSolver whose free motion is corrected; default: the one of this node"))
    , d_sweeps(initData(&d_sweeps, 3, "sweeps", "explicit: Gauss-Seidel sweeps over the contacts in each substep"))
    , d_normalForce(initData(&d_normalForce, 0., "normalForce", "N, sum of the normal contact forces of the last step"))
{
    d_normalForce.setReadOnly(true);
    d_normalForce.setPersistent(false);
    d_normalForce.setGroup("Statistics");
}

void AdaptiveConstraintCorrection::init()
{
    Inherit1::init();
    if (!l_solver.get() && l_solver.getLinkedPath().empty())
        l_solver.set(getContext()->get<AdaptiveSolver>(BaseContext::Local));
    const char* sentence = nullptr;
    if (!l_solver.get())
        sentence = "no AdaptiveSolver in this node: use LinearSolverConstraintCorrection with stock solvers";
    else if (!l_solver->model() || !l_solver->model()->body())
        sentence = "the solver it belongs to has no body (see its own message)";
    if (sentence)
    {
        msg_error() << sentence;
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    d_componentState.setValue(ComponentState::Valid);
}

void AdaptiveConstraintCorrection::bwdInit()
{
    if (!isComponentStateValid())
        return;
    m_force.assign(mstate->getSize(), Vec3());
    m_response.assign(mstate->getSize(), Vec3());
    m_constraints = getContext()->get<::sofa::component::constraint::lagrangian::solver::ConstraintSolverImpl>(
        BaseContext::SearchRoot);
    if (!m_constraints)
    {
        msg_error() << "no constraint solver at the root of the scene, for example LCPConstraintSolver";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    m_alone = correctionCount(getContext()) == 1;
    m_friction = contactFriction(dynamic_cast<::sofa::simulation::Node*>(getContext()));
}

void AdaptiveConstraintCorrection::readRows(const MatrixDeriv& jacobian)
{
    m_rows.id.clear();
    m_rows.first.assign(1, 0);
    m_rows.dof.clear();
    m_rows.value.clear();
    for (auto row = jacobian.begin(); row != jacobian.end(); ++row)
    {
        m_rows.id.push_back(int(row.index()));
        for (auto entry = row.begin(); entry != row.end(); ++entry)
        {
            m_rows.dof.push_back(PliIndex(entry.index()));
            const Vec3& n = entry.val();
            m_rows.value.insert(m_rows.value.end(), { n[0], n[1], n[2] });
        }
        m_rows.first.push_back(PliIndex(m_rows.dof.size()));
    }
}

// What constraint solvers call forces are impulses over the step, N s: the corrections of SOFA say dv = A^-1 J^T lambda, and another
// body in the same problem must get what this one gives. The core takes and says forces, N.

/// dv of an impulse, by the core's own matrix; the body is told of the force that this is over the step.
bool AdaptiveConstraintCorrection::respond(const VecDeriv& impulse, VecDeriv& dv) const
{
    const double dt = getContext()->getDt();
    if (pli_body_response(l_solver->model()->body(), flat(impulse), dt, flat(dv)) != PLI_OK)
        return false;
    for (Vec3& d : dv)
        d /= dt;
    return true;
}

void AdaptiveConstraintCorrection::press(const VecDeriv& impulse)
{
    m_pressed.resize(impulse.size());
    for (std::size_t i = 0; i < impulse.size(); ++i)
        m_pressed[i] = impulse[i] / getContext()->getDt();
    l_solver->press(m_pressed);
}

void AdaptiveConstraintCorrection::addComplianceInConstraintSpace(const ::sofa::core::ConstraintParams* cparams,
                                                                  ::sofa::linearalgebra::BaseMatrix* W)
{
    if (!isComponentStateValid() || !l_solver->isComponentStateValid())
        return;
    SCOPED_TIMER("Pliant.compliance");
    readRows(cparams->readJ(plain(mstate))->getValue());
    const bool onVelocity = cparams->constOrder() == ::sofa::core::ConstraintOrder::VEL
                            || cparams->constOrder() == ::sofa::core::ConstraintOrder::ACC;
    const double dt = getContext()->getDt(), factor = (onVelocity ? 1. : dt) / dt;
    if (!l_solver->isImplicit() && m_alone)
        addOwnCompliance(factor * dt, W);
    else
        addCompliance(factor, W);
}

/// Explicit, and no other body asks for the forces: the substeps are taken again with the contacts and find their own. Contacts
/// that do not see each other make the solver's problem trivial.
void AdaptiveConstraintCorrection::addOwnCompliance(double factor, ::sofa::linearalgebra::BaseMatrix* W)
{
    const Rows& J = m_rows;
    for (std::size_t r = 0; r < J.id.size(); ++r)
    {
        double square = 0.;
        for (std::size_t k = 3 * J.first[r]; k < 3 * std::size_t(J.first[r + 1]); ++k)
            square += J.value[k] * J.value[k];
        W->add(J.id[r], J.id[r], factor * square);
    }
}

/// J C J^T over the coefficients the rows touch: many contacts rest on few of them.
void AdaptiveConstraintCorrection::addCompliance(double factor, ::sofa::linearalgebra::BaseMatrix* W)
{
    const Rows& J = m_rows;
    m_touched = J.dof;
    std::sort(m_touched.begin(), m_touched.end());
    m_touched.erase(std::unique(m_touched.begin(), m_touched.end()), m_touched.end());
    const std::size_t rows = J.id.size(), n = 3 * m_touched.size();
    m_compliance.resize(n * n);
    m_product.resize(rows * n);
    m_place.resize(J.dof.size());
    for (std::size_t k = 0; k < J.dof.size(); ++k)
        m_place[k] = std::lower_bound(m_touched.begin(), m_touched.end(), J.dof[k]) - m_touched.begin();
    PliBody* const body = l_solver->model()->body();
    m_scratch.resize(pli_body_compliance_work(body));
    if (pli_body_compliance(body, m_touched.data(), PliIndex(m_touched.size()), getContext()->getDt(),
                            m_compliance.data(), m_scratch.data())
        != PLI_OK)
        return;
    for (std::size_t r = 0; r < rows; ++r) // J times the compliance
    {
        double* const out = m_product.data() + r * n;
        std::fill(out, out + n, 0.);
        for (std::size_t k = J.first[r]; k < J.first[r + 1]; ++k)
            for (std::size_t d = 0; d < 3; ++d)
            {
                const double* const c = m_compliance.data() + (3 * m_place[k] + d) * n;
                for (std::size_t i = 0; i < n; ++i)
                    out[i] += J.value[3 * k + d] * c[i];
            }
    }
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t s = r; s < rows; ++s)
        {
            double w = 0.;
            for (std::size_t k = J.first[s]; k < J.first[s + 1]; ++k)
            {
                const double* const dv = m_product.data() + r * n + 3 * m_place[k];
                w += J.value[3 * k] * dv[0] + J.value[3 * k + 1] * dv[1] + J.value[3 * k + 2] * dv[2];
            }
            W->add(J.id[r], J.id[s], factor * w);
            if (s != r)
                W->add(J.id[s], J.id[r], factor * w);
        }
}

void AdaptiveConstraintCorrection::getComplianceMatrix(::sofa::linearalgebra::BaseMatrix* m) const
{
    if (!isComponentStateValid())
        return;
    const std::size_t n = mstate->getSize();
    m->resize(3 * n, 3 * n);
    VecDeriv force(n, Vec3()), dv(n, Vec3());
    for (std::size_t i = 0; i < 3 * n; ++i)
    {
        force[i / 3][i % 3] = 1.;
        if (!respond(force, dv))
            return;
        force[i / 3][i % 3] = 0.;
        for (std::size_t j = 0; j < 3 * n; ++j)
            m->set(j, i, getContext()->getDt() * dv[j / 3][j % 3]);
    }
}

void AdaptiveConstraintCorrection::apply(const VecDeriv& dv, const VecCoord& freePosition, VecCoord* x, VecDeriv* v,
                                         VecDeriv* dx) const
{
    const double dt = getContext()->getDt();
    PliBody* const body = l_solver->model()->body();
    const VecDeriv& end = l_solver->endVelocity();
    for (std::size_t i = 0; i < dv.size(); ++i)
    {
        if (x)
            (*x)[i] = freePosition[i] + dv[i] * dt;
        if (v)
            (*v)[i] = end[i] + dv[i];
        if (dx)
            (*dx)[i] = dv[i] * dt;
    }
    // passive coefficients follow
    if (x)
        pli_body_spread(body, flat(*x));
    if (v)
        pli_body_spread_velocity(body, flat(*v));
    if (dx)
        pli_body_spread_velocity(body, flat(*dx));
}

bool AdaptiveConstraintCorrection::retake(const VecCoord& freePosition, VecCoord& x, VecDeriv& v, VecDeriv& dx)
{
    const Rows& J = m_rows;
    if (l_solver->isImplicit() || J.id.empty())
        return false;
    const std::size_t per = m_friction > 0. ? 3 : 1;
    auto* const problem = m_constraints->getConstraintProblem(); // not const: v24.12 asks it for its size only so
    bool contacts = problem && J.id.size() % per == 0;
    for (std::size_t r = 0; contacts && r < J.id.size(); ++r)
        contacts = J.id[r] < problem->getDimension() && J.id[r] == J.id[r - r % per] + int(r % per);
    if (!contacts)
    {
        msg_error() << "with the explicit integrator only unilateral contacts can be kept, and this scene has other "
                       "constraints: use "
                       "integrator=\"implicit\"";
        d_componentState.setValue(ComponentState::Invalid);
        return false;
    }
    // dFree is the gap (normals) or the slip over the step (tangents) at the free position; what is not ours is the
    // other side's
    const VecCoord& begin = mstate->read(vec_id::read_access::position)->getValue();
    m_offset.resize(J.id.size());
    m_work.resize(3 * J.id.size());
    for (std::size_t r = 0; r < J.id.size(); ++r)
    {
        double own = 0.;
        for (std::size_t k = J.first[r]; k < J.first[r + 1]; ++k)
            for (int d = 0; d < 3; ++d)
                own += J.value[3 * k + d] * (freePosition[J.dof[k]][d] - (r % per ? begin[J.dof[k]][d] : 0.));
        m_offset[r] = problem->dFree.element(J.id[r]) - own;
    }
    PliContactRows rows{};
    rows.contact_count = PliIndex(J.id.size() / per);
    rows.rows_per_contact = int(per);
    rows.first = J.first.data();
    rows.dof = J.dof.data();
    rows.value = J.value.data();
    rows.offset = m_offset.data();
    rows.friction = m_friction;
    rows.sweeps = d_sweeps.getValue();
    rows.work = m_work.data();
    m_free = freePosition; // forces gathered in the substeps overwrite it
    l_solver->retake(rows, x, v);
    for (std::size_t i = 0; i < x.size(); ++i)
        dx[i] = x[i] - m_free[i];
    d_normalForce.setValue(rows.force);
    return true;
}

// ---- the path of GenericConstraintSolver, BlockGaussSeidelConstraintSolver and their kin
// -------------------------------

void AdaptiveConstraintCorrection::computeMotionCorrection(const ::sofa::core::ConstraintParams*,
                                                           ::sofa::core::MultiVecDerivId dx,
                                                           ::sofa::core::MultiVecDerivId f)
{
    if (!isComponentStateValid() || !l_solver->isComponentStateValid())
        return;
    const VecDeriv& force = f[plain(mstate)].read()->getValue();
    auto out = ::sofa::helper::getWriteAccessor(*dx[plain(mstate)].write());
    out.resize(mstate->getSize());
    if (force.size() != mstate->getSize() || !respond(force, out.wref()))
        std::fill(out.begin(), out.end(), Vec3());
    else
        press(force);
}

void AdaptiveConstraintCorrection::applyMotionCorrection(const ::sofa::core::ConstraintParams* cparams,
                                                         Data<VecCoord>& x, Data<VecDeriv>& v, Data<VecDeriv>& dx,
                                                         const Data<VecDeriv>& correction)
{
    if (!isComponentStateValid() || !l_solver->isComponentStateValid())
        return;
    auto xs = ::sofa::helper::getWriteAccessor(x);
    auto vs = ::sofa::helper::getWriteAccessor(v);
    auto ds = ::sofa::helper::getWriteAccessor(dx);
    ds.resize(mstate->getSize());
    const VecCoord& freePosition = cparams->readX(plain(mstate))->getValue();
    if (!retake(freePosition, xs.wref(), vs.wref(), ds.wref()))
        apply(correction.getValue(), freePosition, &xs.wref(), &vs.wref(), &ds.wref());
}

void AdaptiveConstraintCorrection::applyPositionCorrection(const ::sofa::core::ConstraintParams* cparams,
                                                           Data<VecCoord>& x, Data<VecDeriv>& dx,
                                                           const Data<VecDeriv>& correction)
{
    if (!isComponentStateValid() || !l_solver->isComponentStateValid())
        return;
    auto xs = ::sofa::helper::getWriteAccessor(x);
    auto ds = ::sofa::helper::getWriteAccessor(dx);
    ds.resize(mstate->getSize());
    apply(correction.getValue(), cparams->readX(plain(mstate))->getValue(), &xs.wref(), nullptr, &ds.wref());
}

void AdaptiveConstraintCorrection::applyVelocityCorrection(const ::sofa::core::ConstraintParams*, Data<VecDeriv>& v,
                                                           Data<VecDeriv>& dv, const Data<VecDeriv>& correction)
{
    if (!isComponentStateValid() || !l_solver->isComponentStateValid())
        return;
    auto vs = ::sofa::helper::getWriteAccessor(v);
    auto ds = ::sofa::helper::getWriteAccessor(dv);
    ds.resize(mstate->getSize());
    apply(correction.getValue(), {}, nullptr, &vs.wref(), nullptr);
    ds.wref() = correction.getValue();
}

// ---- the path of LCPConstraintSolver
// ----------------------------------------------------------------------------------

void AdaptiveConstraintCorrection::applyContactForce(const ::sofa::linearalgebra::BaseVector* lambda)
{
    if (!isComponentStateValid() || !l_solver->isComponentStateValid())
        return;
    readRows(mstate->read(vec_id::read_access::constraintJacobian)->getValue());
    const Rows& J = m_rows;
    bool any = false;
    for (std::size_t r = 0; r < J.id.size(); ++r)
    {
        const double f = lambda->element(J.id[r]);
        if (f == 0.)
            continue;
        any = true;
        for (std::size_t k = J.first[r]; k < J.first[r + 1]; ++k)
            m_force[J.dof[k]] += Vec3(J.value[3 * k], J.value[3 * k + 1], J.value[3 * k + 2]) * f;
    }
    if (!any || !respond(m_force, m_response))
        std::fill(m_response.begin(), m_response.end(), Vec3());
    if (any)
        press(m_force);
    for (const PliIndex dof : J.dof)
        m_force[dof] = Vec3();
    auto x = ::sofa::helper::getWriteAccessor(*mstate->write(vec_id::write_access::position));
    auto v = ::sofa::helper::getWriteAccessor(*mstate->write(vec_id::write_access::velocity));
    auto dx = ::sofa::helper::getWriteAccessor(*mstate->write(vec_id::write_access::dx));
    dx.resize(mstate->getSize());
    const VecCoord& freePosition = mstate->read(vec_id::read_access::freePosition)->getValue();
    if (retake(freePosition, x.wref(), v.wref(), dx.wref()))
        return;
    apply(m_response, freePosition, &x.wref(), &v.wref(), &dx.wref());
    double normal = 0.;
    for (std::size_t r = 0; r<J.id.size(); r += m_friction> 0. ? 3 : 1)
        normal += lambda->element(J.id[r]);
    d_normalForce.setValue(normal / getContext()->getDt());
}

void AdaptiveConstraintCorrection::resetContactForce()
{
    auto force = ::sofa::helper::getWriteAccessor(*mstate->write(vec_id::write_access::force));
    std::fill(force.begin(), force.end(), Vec3());
}

void registerAdaptiveConstraintCorrection(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData("Lagrangian constraints and contact for a body that AdaptiveSolver steps, "
                                             "with the compliance of the core's own step.")
            .add<AdaptiveConstraintCorrection>());
}
} // namespace pliant
