/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/AdaptiveMass.h"

#include <sofa/core/MechanicalParams.h>
#include <sofa/core/ObjectFactory.h>
#include <sofa/core/behavior/BaseLocalMassMatrix.h>
#include <sofa/core/behavior/Mass.inl>
#include <sofa/linearalgebra/BaseMatrix.h>

namespace pliant
{
namespace vec_id = ::sofa::core::vec_id;

AdaptiveMass::AdaptiveMass()
    : l_model(initLink("model", "the body whose mass this is; default: the model of this node"))
{
}

void AdaptiveMass::init()
{
    Inherit1::init();
    BodyModel* const model = findModel(this, l_model);
    if (!model)
        return;
    if (!model->claim(Route::Stages, this))
    {
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    m_diagonal = true;
    pli_body_mass_entries(
        model->body(),
        [](PliIndex row, PliIndex column, double, void* user)
        {
            if (row != column)
                *static_cast<bool*>(user) = false;
        },
        &m_diagonal);
    d_componentState.setValue(ComponentState::Valid);
}

void AdaptiveMass::addForce(const ::sofa::core::MechanicalParams*, DataVecDeriv& f, const DataVecCoord&,
                            const DataVecDeriv&)
{
    if (!isComponentStateValid() || m_separateGravity.getValue())
        return;
    auto out = ::sofa::helper::getWriteAccessor(f);
    const auto g = getContext()->getGravity();
    const double gravity[3] = { g[0], g[1], g[2] };
    pli_body_set_gravity(l_model->body(), gravity);
    pli_body_add_gravity(l_model->body(), flat(out.wref()));
}

void AdaptiveMass::addMDx(const ::sofa::core::MechanicalParams*, DataVecDeriv& f, const DataVecDeriv& dx, SReal factor)
{
    if (!isComponentStateValid())
        return;
    auto out = ::sofa::helper::getWriteAccessor(f);
    pli_body_add_mass(l_model->body(), flat(dx.getValue()), factor, flat(out.wref()));
}

void AdaptiveMass::accFromF(const ::sofa::core::MechanicalParams*, DataVecDeriv& a, const DataVecDeriv& f)
{
    if (!isComponentStateValid())
        return;
    auto out = ::sofa::helper::getWriteOnlyAccessor(a);
    pli_body_acceleration(l_model->body(), flat(f.getValue()), flat(out.wref()));
}

void AdaptiveMass::buildMassMatrix(::sofa::core::behavior::MassMatrixAccumulator* matrix)
{
    if (!isComponentStateValid())
        return;
    pli_body_mass_entries(
        l_model->body(),
        [](PliIndex row, PliIndex column, double value, void* user)
        {
            auto* const to = static_cast<::sofa::core::behavior::MassMatrixAccumulator*>(user);
            for (PliIndex d = 0; d < 3; ++d)
                to->add(3 * row + d, 3 * column + d, value);
        },
        matrix);
    const PliActive active = pli_body_active(l_model->body());
    const PliIndex count = pli_body_dof_count(l_model->body());
    for (PliIndex i = 0, next = 0; i < count; ++i)
    {
        if (next < active.count && active.dof[next] == i)
        {
            ++next;
            continue;
        }
        for (PliIndex d = 0; d < 3; ++d)
            matrix->add(3 * i + d, 3 * i + d, 1.);
    }
}

void AdaptiveMass::addMToMatrix(::sofa::linearalgebra::BaseMatrix* matrix, SReal factor, unsigned int& offset)
{
    if (!isComponentStateValid())
        return;
    struct Target
    {
        ::sofa::linearalgebra::BaseMatrix* matrix;
        SReal factor;
        unsigned int offset;
    } target{ matrix, factor, offset };
    pli_body_mass_entries(
        l_model->body(),
        [](PliIndex row, PliIndex column, double value, void* user)
        {
            const Target& t = *static_cast<Target*>(user);
            for (PliIndex d = 0; d < 3; ++d)
                t.matrix->add(t.offset + 3 * row + d, t.offset + 3 * column + d, t.factor * value);
        },
        &target);
}

SReal AdaptiveMass::getKineticEnergy(const ::sofa::core::MechanicalParams*, const DataVecDeriv& v) const
{
    if (!isComponentStateValid())
        return 0.;
    const VecCoord& x = mstate->read(vec_id::read_access::position)->getValue();
    return pli_body_energy(l_model->body(), flat(x), flat(v.getValue())).kinetic;
}

SReal AdaptiveMass::getPotentialEnergy(const ::sofa::core::MechanicalParams*, const DataVecCoord& x) const
{
    return isComponentStateValid() ? pli_body_energy(l_model->body(), flat(x.getValue()), nullptr).gravity : 0.;
}

SReal AdaptiveMass::getElementMass(::sofa::Index index) const
{
    struct Sum
    {
        PliIndex index;
        double mass;
    } sum{ index, 0. };
    if (isComponentStateValid())
        pli_body_mass_entries(
            l_model->body(),
            [](PliIndex row, PliIndex, double value, void* user)
            {
                Sum& s = *static_cast<Sum*>(user);
                if (row == s.index)
                    s.mass += value;
            },
            &sum);
    return sum.mass;
}

void registerAdaptiveMass(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData("Mass and weight of a Pliant body, for stock ODE and linear solvers.")
            .add<AdaptiveMass>());
}
} // namespace pliant
