/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/Linked.h"

#include <sofa/core/behavior/ForceField.h>

namespace pliant
{
/// Route B: internal forces for a stock solver. Levels are applied inside: forces are W^T f(W x) and the matrix is
/// W^T K W,
/// on active coefficients only; AdaptiveMask keeps the others out of the solver's vectors.
class PLIANT_API AdaptiveForceField : public ::sofa::core::behavior::ForceField<Vec3Types>
{
public:
    SOFA_CLASS(AdaptiveForceField, SOFA_TEMPLATE(::sofa::core::behavior::ForceField, Vec3Types));
    using Parent = ::sofa::core::behavior::ForceField<Vec3Types>;

    ModelLink<AdaptiveForceField> l_model;
    ::sofa::core::objectmodel::Data<bool> d_definite;

    void init() override;
    void bwdInit() override;
    void reinit() override;
    using Parent::addDForce;
    using Parent::addForce;
    using Parent::addKToMatrix;
    using Parent::getPotentialEnergy;
    void addForce(const ::sofa::core::MechanicalParams*, DataVecDeriv& f, const DataVecCoord& x,
                  const DataVecDeriv& v) override;
    void addDForce(const ::sofa::core::MechanicalParams* mparams, DataVecDeriv& df, const DataVecDeriv& dx) override;
    void buildStiffnessMatrix(::sofa::core::behavior::StiffnessMatrix* matrix) override;
    void buildDampingMatrix(::sofa::core::behavior::DampingMatrix*) override {}
    void addKToMatrix(::sofa::linearalgebra::BaseMatrix* matrix, SReal k, unsigned int& offset) override;
    SReal getPotentialEnergy(const ::sofa::core::MechanicalParams*, const DataVecCoord& x) const override;

protected:
    AdaptiveForceField();
};
} // namespace pliant
