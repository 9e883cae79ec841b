/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/AdaptiveMask.h"

#include <sofa/core/ObjectFactory.h>
#include <sofa/core/behavior/BaseProjectiveConstraintSet.h>
#include <sofa/core/behavior/ProjectiveConstraintSet.inl>

namespace pliant
{
AdaptiveMask::AdaptiveMask()
    : l_model(initLink("model", "the body whose passive coefficients are kept out; default: the model of this node"))
{
}

void AdaptiveMask::init()
{
    Inherit1::init();
    BodyModel* const model = findModel(this, l_model);
    if (!model)
        return;
    if (model->route() == Route::Owned)
    {
        msg_error() << "AdaptiveSolver keeps passive coefficients itself: remove AdaptiveMask";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    d_componentState.setValue(ComponentState::Valid);
}

void AdaptiveMask::projectResponse(const ::sofa::core::MechanicalParams*, DataVecDeriv& dx)
{
    if (!isComponentStateValid())
        return;
    auto d = ::sofa::helper::getWriteAccessor(dx);
    forPassive([&](PliIndex i) { d[i] = Vec3(); });
}

void AdaptiveMask::projectVelocity(const ::sofa::core::MechanicalParams*, DataVecDeriv& v)
{
    if (!isComponentStateValid())
        return;
    auto d = ::sofa::helper::getWriteAccessor(v);
    pli_body_spread_velocity(l_model->body(), flat(d.wref()));
}

void AdaptiveMask::projectPosition(const ::sofa::core::MechanicalParams*, DataVecCoord& x)
{
    if (!isComponentStateValid())
        return;
    auto d = ::sofa::helper::getWriteAccessor(x);
    pli_body_spread(l_model->body(), flat(d.wref()));
}

void AdaptiveMask::projectJacobianMatrix(const ::sofa::core::MechanicalParams*, DataMatrixDeriv& c)
{
    if (!isComponentStateValid())
        return;
    auto rows = ::sofa::helper::getWriteAccessor(c);
    if (rows->begin() == rows->end())
        return;
    forPassive([&](PliIndex i) { rows->clearColBlock(i); });
}

void AdaptiveMask::applyConstraint(::sofa::core::behavior::ZeroDirichletCondition* matrix)
{
    if (!isComponentStateValid())
        return;
    forPassive(
        [&](PliIndex i)
        {
            for (PliIndex d = 0; d < 3; ++d)
                matrix->discardRowCol(3 * i + d, 3 * i + d);
        });
}

void registerAdaptiveMask(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData("Keeps the passive coefficients of a Pliant body out of a stock solver "
                                             "and lets them follow the active ones.")
            .add<AdaptiveMask>());
}
} // namespace pliant
