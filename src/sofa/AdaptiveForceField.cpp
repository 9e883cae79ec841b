/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/AdaptiveForceField.h"
#include "sofa/AdaptiveMask.h"
#include "sofa/AdaptiveMass.h"
#include "sofa/SceneRules.h"

#include <sofa/core/MechanicalParams.h>
#include <sofa/core/ObjectFactory.h>
#include <sofa/core/behavior/BaseLocalForceFieldMatrix.h>
#include <sofa/core/behavior/ForceField.inl>
#include <sofa/helper/ScopedAdvancedTimer.h>
#include <sofa/linearalgebra/BaseMatrix.h>
#include <sofa/type/Mat.h>

namespace pliant
{
AdaptiveForceField::AdaptiveForceField()
    : l_model(initLink("model", "the body whose internal forces these are; default: the model of this node"))
    , d_definite(
          initData(&d_definite, true, "definite",
                   "leave negative eigenvalues of the elements out of the stiffness: stable under compression and "
                   "contact; 0: the exact derivative"))
{
}

void AdaptiveForceField::init()
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
    d_componentState.setValue(ComponentState::Valid);
    reinit();
}

void AdaptiveForceField::reinit()
{
    if (isComponentStateValid())
        pli_body_set_definite(l_model->body(), d_definite.getValue());
}

void AdaptiveForceField::bwdInit()
{
    if (!isComponentStateValid())
        return;
    auto* const node = dynamic_cast<::sofa::simulation::Node*>(getContext());
    std::string sentence;
    if (!l_model->state() || l_model->state() != mstate.get())
        sentence = "the MechanicalObject of " + l_model->getName() + " must be in the node of this force field";
    else if (!getContext()->get<AdaptiveMass>(BaseContext::Local))
        sentence = "no AdaptiveMass in this node: another mass would not know which coefficients are active";
    else
        sentence = refuseStages(node);
    const PliActive active = pli_body_active(l_model->body());
    if (sentence.empty()
        && (active.count < pli_body_dof_count(l_model->body()) || pli_body_level_count(l_model->body()) > 1)
        && !getContext()->get<AdaptiveMask>(BaseContext::Local))
        sentence = "a body with passive coefficients needs an AdaptiveMask in this node, after the other projective "
                   "constraints";
    if (sentence.empty())
        return;
    msg_error() << sentence;
    d_componentState.setValue(ComponentState::Invalid);
    removeUnusableCorrections(node);
}

void AdaptiveForceField::addForce(const ::sofa::core::MechanicalParams*, DataVecDeriv& f, const DataVecCoord& x,
                                  const DataVecDeriv& v)
{
    if (!isComponentStateValid())
        return;
    SCOPED_TIMER("Pliant.force");
    auto out = ::sofa::helper::getWriteAccessor(f);
    pli_body_add_force(l_model->body(), flat(x.getValue()), flat(v.getValue()), flat(out.wref()));
}

void AdaptiveForceField::addDForce(const ::sofa::core::MechanicalParams* mparams, DataVecDeriv& df,
                                   const DataVecDeriv& dx)
{
    const SReal k =
        ::sofa::core::mechanicalparams::kFactorIncludingRayleighDamping(mparams, rayleighStiffness.getValue());
    if (!isComponentStateValid())
        return;
    auto out = ::sofa::helper::getWriteAccessor(df);
    pli_body_add_dforce(l_model->body(), flat(dx.getValue()), k, flat(out.wref()));
}

void AdaptiveForceField::buildStiffnessMatrix(::sofa::core::behavior::StiffnessMatrix* matrix)
{
    auto derivative = matrix->getForceDerivativeIn(mstate.get()).withRespectToPositionsIn(mstate.get());
    if (!isComponentStateValid())
        return;
    SCOPED_TIMER("Pliant.matrix");
    pli_body_stiffness_blocks(
        l_model->body(),
        [](PliIndex row, PliIndex column, const double k9[9], void* user)
        {
            ::sofa::type::Mat<3, 3, SReal> block(::sofa::type::NOINIT);
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    block(i, j) = k9[3 * i + j];
            (*static_cast<decltype(derivative)*>(user))(3 * row, 3 * column) += block;
        },
        &derivative);
}

void AdaptiveForceField::addKToMatrix(::sofa::linearalgebra::BaseMatrix* matrix, SReal k, unsigned int& offset)
{
    if (!isComponentStateValid())
        return;
    struct Target
    {
        ::sofa::linearalgebra::BaseMatrix* matrix;
        SReal k;
        unsigned int offset;
    } target{ matrix, k, offset };
    pli_body_stiffness_blocks(
        l_model->body(),
        [](PliIndex row, PliIndex column, const double k9[9], void* user)
        {
            const Target& t = *static_cast<Target*>(user);
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    t.matrix->add(t.offset + 3 * row + i, t.offset + 3 * column + j, t.k * k9[3 * i + j]);
        },
        &target);
}

SReal AdaptiveForceField::getPotentialEnergy(const ::sofa::core::MechanicalParams*, const DataVecCoord& x) const
{
    return isComponentStateValid() ? pli_body_energy(l_model->body(), flat(x.getValue()), nullptr).elastic : 0.;
}

void registerAdaptiveForceField(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(::sofa::core::ObjectRegistrationData(
                                 "Internal forces and stiffness of a Pliant body, for stock ODE and linear solvers.")
                                 .add<AdaptiveForceField>());
}
} // namespace pliant
