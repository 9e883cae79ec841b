/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sofa/Linked.h"

#include <sofa/core/Mapping.h>

#include <vector>

namespace pliant
{
/// Sparse linear mapping from the coefficients of a body to any points in it: its skin, probes, embedded meshes. Only
/// active
/// coefficients receive forces and constraints, so that nothing has to be projected afterwards.
class PLIANT_API AdaptiveMapping : public ::sofa::core::Mapping<Vec3Types, Vec3Types>
{
public:
    SOFA_CLASS(AdaptiveMapping, SOFA_TEMPLATE2(::sofa::core::Mapping, Vec3Types, Vec3Types));
    using Parent = ::sofa::core::Mapping<Vec3Types, Vec3Types>;

    ModelLink<AdaptiveMapping> l_model;
    Data<std::string> d_map;

    void init() override;
    using Parent::apply;
    using Parent::applyDJT;
    using Parent::applyJ;
    using Parent::applyJT;
    void apply(const ::sofa::core::MechanicalParams*, OutDataVecCoord& out, const InDataVecCoord& in) override;
    void applyJ(const ::sofa::core::MechanicalParams*, OutDataVecDeriv& out, const InDataVecDeriv& in) override;
    void applyJT(const ::sofa::core::MechanicalParams*, InDataVecDeriv& out, const OutDataVecDeriv& in) override;
    void applyJT(const ::sofa::core::ConstraintParams*, InDataMatrixDeriv& out, const OutDataMatrixDeriv& in) override;
    void applyDJT(const ::sofa::core::MechanicalParams*, ::sofa::core::MultiVecDerivId,
                  ::sofa::core::ConstMultiVecDerivId) override
    {
    }
    void buildGeometricStiffnessMatrix(::sofa::core::GeometricStiffnessMatrix*) override {}
    /// Weights change with the levels: assembled systems must not cache products with them.
    bool isLinear() const override { return false; }

protected:
    AdaptiveMapping();

private:
    PliRows rows();      ///< points from active coefficients, up to date
    PliRows forceRows(); ///< the same for forces
    bool isSkin() const { return m_skin; }
    bool locatePoints();

    bool m_skin{ true };
    // embedded points: rows over coefficients of the finest level, and the same composed with the levels in force now
    std::vector<PliIndex> m_first, m_column;
    std::vector<double> m_weight;
    std::vector<PliIndex> m_nowFirst, m_nowColumn;
    std::vector<double> m_nowWeight, m_dense;
    std::vector<PliIndex> m_touched;
    uint64_t m_revision{ 0 };
};
} // namespace pliant
