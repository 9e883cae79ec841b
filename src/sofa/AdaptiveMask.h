/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/Linked.h"

#include <sofa/core/behavior/ProjectiveConstraintSet.h>

namespace pliant
{
/// Route B: keeps passive coefficients out of a stock solver's unknowns and makes them follow the active ones.
class PLIANT_API AdaptiveMask : public ::sofa::core::behavior::ProjectiveConstraintSet<Vec3Types>
{
public:
    SOFA_CLASS(AdaptiveMask, SOFA_TEMPLATE(::sofa::core::behavior::ProjectiveConstraintSet, Vec3Types));
    using Parent = ::sofa::core::behavior::ProjectiveConstraintSet<Vec3Types>;

    ModelLink<AdaptiveMask> l_model;

    void init() override;
    using Parent::applyConstraint;
    using Parent::projectJacobianMatrix;
    using Parent::projectPosition;
    using Parent::projectResponse;
    using Parent::projectVelocity;
    void projectResponse(const ::sofa::core::MechanicalParams*, DataVecDeriv& dx) override;
    void projectVelocity(const ::sofa::core::MechanicalParams*, DataVecDeriv& v) override;
    void projectPosition(const ::sofa::core::MechanicalParams*, DataVecCoord& x) override;
    void projectJacobianMatrix(const ::sofa::core::MechanicalParams*, DataMatrixDeriv& c) override;
    void applyConstraint(::sofa::core::behavior::ZeroDirichletCondition* matrix) override;

protected:
    AdaptiveMask();

private:
    template <class Function>
    void forPassive(Function function) const
    {
        const PliActive active = pli_body_active(l_model->body());
        const PliIndex count = pli_body_dof_count(l_model->body());
        for (PliIndex i = 0, next = 0; i < count; ++i)
        {
            if (next < active.count && active.dof[next] == i)
                ++next;
            else
                function(i);
        }
    }
};
} // namespace pliant
