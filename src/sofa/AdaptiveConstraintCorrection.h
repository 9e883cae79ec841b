/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/AdaptiveSolver.h"

#include <sofa/component/constraint/lagrangian/solver/ConstraintSolverImpl.h>
#include <sofa/core/behavior/ConstraintCorrection.h>

#include <vector>

namespace pliant
{
/// Lagrangian contact for a body stepped by AdaptiveSolver: the compliance is that of the core's own step. With the
/// implicit
/// integrator the correction is exact (same matrix, same factor). With the explicit one the contact rows are handed
/// to the
/// core and the substeps are taken again with the rows kept in every one of them: one correction at the end of many
/// substeps lets contact nodes shake the body to pieces.
class PLIANT_API AdaptiveConstraintCorrection : public ::sofa::core::behavior::ConstraintCorrection<Vec3Types>
{
public:
    SOFA_CLASS(AdaptiveConstraintCorrection, SOFA_TEMPLATE(::sofa::core::behavior::ConstraintCorrection, Vec3Types));
    using Parent = ::sofa::core::behavior::ConstraintCorrection<Vec3Types>;

    SingleLink<AdaptiveConstraintCorrection, AdaptiveSolver, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK>
        l_solver;
    Data<int> d_sweeps;
    Data<double> d_normalForce;

    void init() override;
    void bwdInit() override;

    void addComplianceInConstraintSpace(const ::sofa::core::ConstraintParams* cparams,
                                        ::sofa::linearalgebra::BaseMatrix* W) override;
    void getComplianceMatrix(::sofa::linearalgebra::BaseMatrix* m) const override;

    using Parent::applyMotionCorrection;
    using Parent::applyPositionCorrection;
    using Parent::applyVelocityCorrection;
    void computeMotionCorrection(const ::sofa::core::ConstraintParams* cparams, ::sofa::core::MultiVecDerivId dx,
                                 ::sofa::core::MultiVecDerivId f) override;
    void applyMotionCorrection(const ::sofa::core::ConstraintParams* cparams, Data<VecCoord>& x, Data<VecDeriv>& v,
                               Data<VecDeriv>& dx, const Data<VecDeriv>& correction) override;
    void applyPositionCorrection(const ::sofa::core::ConstraintParams* cparams, Data<VecCoord>& x, Data<VecDeriv>& dx,
                                 const Data<VecDeriv>& correction) override;
    void applyVelocityCorrection(const ::sofa::core::ConstraintParams* cparams, Data<VecDeriv>& v, Data<VecDeriv>& dv,
                                 const Data<VecDeriv>& correction) override;
    void
    applyContactForce(const ::sofa::linearalgebra::BaseVector* lambda) override; ///< what LCPConstraintSolver calls
    void resetContactForce() override;

protected:
    AdaptiveConstraintCorrection();

private:
    struct Rows ///< the constraint Jacobian of this body, in plain arrays
    {
        std::vector<int> id;         ///< constraint number of each row
        std::vector<PliIndex> first; ///< row i owns entries first[i] .. first[i+1]
        std::vector<PliIndex> dof;
        std::vector<double> value; ///< 3 per entry
    };
    void readRows(const MatrixDeriv& jacobian);
    void addOwnCompliance(double factor, ::sofa::linearalgebra::BaseMatrix* W);
    void addCompliance(double factor, ::sofa::linearalgebra::BaseMatrix* W);
    bool respond(const VecDeriv& impulse, VecDeriv& dv) const;
    void press(const VecDeriv& impulse);
    /// x = free + dx, v = velocity at the end of the free motion + dv, where dv is the response and dx = dt dv.
    void apply(const VecDeriv& dv, const VecCoord& freePosition, VecCoord* x, VecDeriv* v, VecDeriv* dx) const;

    /// Explicit: the substeps again with the contacts kept; false when there are none (or they are no contacts).
    bool retake(const VecCoord& freePosition, VecCoord& x, VecDeriv& v, VecDeriv& dx);
    ::sofa::component::constraint::lagrangian::solver::ConstraintSolverImpl* m_constraints{ nullptr };
    double m_friction{ 0. };
    bool m_alone{ false }; ///< the only correction of the scene

    Rows m_rows;
    VecDeriv m_force, m_response, m_pressed;
    VecCoord m_free;
    std::vector<double> m_offset, m_work;
    std::vector<PliIndex> m_touched;  ///< coefficients the rows touch, ascending
    std::vector<std::size_t> m_place; ///< of each entry of the rows among them
    std::vector<double> m_compliance, m_product, m_scratch;
};
} // namespace pliant
