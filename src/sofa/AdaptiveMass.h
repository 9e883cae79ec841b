/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/Linked.h"

#include <sofa/core/behavior/Mass.h>

namespace pliant
{
/// Route B: mass and weight of a body for a stock solver, W^T M W on active coefficients. Passive ones get a unit
/// diagonal in
/// assembled matrices: a missing row makes SOFA's row and column removal read outside its arrays.
class PLIANT_API AdaptiveMass : public ::sofa::core::behavior::Mass<Vec3Types>
{
public:
    SOFA_CLASS(AdaptiveMass, SOFA_TEMPLATE(::sofa::core::behavior::Mass, Vec3Types));
    using Parent = ::sofa::core::behavior::Mass<Vec3Types>;

    ModelLink<AdaptiveMass> l_model;

    void init() override;
    using Parent::accFromF;
    using Parent::addForce;
    using Parent::addMDx;
    using Parent::addMToMatrix;
    using Parent::getElementMass;
    using Parent::getKineticEnergy;
    using Parent::getPotentialEnergy;
    void addForce(const ::sofa::core::MechanicalParams*, DataVecDeriv& f, const DataVecCoord& x,
                  const DataVecDeriv& v) override;
    void addMDx(const ::sofa::core::MechanicalParams*, DataVecDeriv& f, const DataVecDeriv& dx, SReal factor) override;
    void accFromF(const ::sofa::core::MechanicalParams*, DataVecDeriv& a, const DataVecDeriv& f) override;
    void buildMassMatrix(::sofa::core::behavior::MassMatrixAccumulator* matrix) override;
    void buildStiffnessMatrix(::sofa::core::behavior::StiffnessMatrix*) override {}
    void buildDampingMatrix(::sofa::core::behavior::DampingMatrix*) override {}
    void addMToMatrix(::sofa::linearalgebra::BaseMatrix* matrix, SReal factor, unsigned int& offset) override;
    SReal getKineticEnergy(const ::sofa::core::MechanicalParams*, const DataVecDeriv& v) const override;
    SReal getPotentialEnergy(const ::sofa::core::MechanicalParams*, const DataVecCoord& x) const override;
    SReal getElementMass(::sofa::Index index) const override;
    bool isDiagonal() const override { return m_diagonal; }

protected:
    AdaptiveMass();

private:
    bool m_diagonal{ true };
};
} // namespace pliant
