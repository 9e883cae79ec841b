/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/AdaptiveMapping.h"

#include <sofa/core/Mapping.inl>
#include <sofa/core/ObjectFactory.h>
#include <sofa/helper/ScopedAdvancedTimer.h>

#include <algorithm>

namespace pliant
{
namespace vec_id = ::sofa::core::vec_id;

AdaptiveMapping::AdaptiveMapping()
    : l_model(initLink("model", "the body whose coefficients are the input; default: the model above this node"))
    , d_map(initData(&d_map, std::string("auto"), "map",
                     "skin: the body's skin; embed: any points inside; auto: skin when the points are those; one of: "
                     "auto skin embed"))
{
}

void AdaptiveMapping::init()
{
    BodyModel* const model = findModel(this, l_model);
    if (!model)
        return;
    if (!getFromModel() || getFromModel()->getSize() != pli_body_dof_count(model->body()))
    {
        msg_error() << "input has " << (getFromModel() ? getFromModel()->getSize() : 0) << " points, and the body "
                    << model->getName() << " " << pli_body_dof_count(model->body())
                    << " coefficients: input must be the MechanicalObject of the body";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    if (!getToModel())
    {
        msg_error() << "no output MechanicalObject in this node";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    if (!locatePoints())
    {
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    d_componentState.setValue(ComponentState::Valid);
    Inherit1::init(); // applies the mapping once
}

/// The skin is recognised by its points; everything else is embedded where its rest points are.
bool AdaptiveMapping::locatePoints()
{
    const std::string map = d_map.getValue();
    if (map != "auto" && map != "skin" && map != "embed")
    {
        msg_error() << "map=\"" << map << "\" must be one of: auto skin embed";
        return false;
    }
    PliBody* const body = l_model->body();
    const VecCoord& skin = l_model->d_skinPosition.getValue();
    if (map != "embed" && getToModel()->getSize() <= 1
        && !skin.empty()) // nothing was said about the points: the whole skin
        getToModel()->resize(skin.size());
    const VecCoord& points = getToModel()->read(vec_id::read_access::position)->getValue();
    bool same = points.size() == skin.size();
    bool blank = same; // freshly resized, all zero
    for (std::size_t i = 0; i < points.size() && (same || blank); ++i)
    {
        same = same && (points[i] - skin[i]).norm2() <= 1e-24 * (1. + skin[i].norm2());
        blank = blank && points[i] == Vec3();
    }
    if (map == "skin" && points.size() != skin.size())
    {
        msg_error() << "output has " << points.size() << " points, and the skin " << skin.size();
        return false;
    }
    m_skin = map == "skin" || (map == "auto" && (same || blank));
    m_first.clear();
    m_column.clear();
    m_weight.clear();
    if (m_skin && !pli_body_judges_forces(body))
        return true;
    m_first.push_back(0);
    PliIndex column[PLI_LOCATE_MAX];
    double weight[PLI_LOCATE_MAX];
    for (const Vec3& p : m_skin ? skin : points)
    {
        const double xyz[3] = { p[0], p[1], p[2] };
        const PliIndex count = pli_body_locate(body, xyz, column, weight, PLI_LOCATE_MAX);
        m_column.insert(m_column.end(), column, column + count);
        m_weight.insert(m_weight.end(), weight, weight + count);
        m_first.push_back(PliIndex(m_column.size()));
    }
    m_dense.assign(pli_body_dof_count(body), 0.);
    m_touched.reserve(4096);
    m_nowFirst.resize(m_first.size());
    m_nowColumn.reserve(8 * m_column.size()); // room for what levels may add, so that a step does not allocate
    m_nowWeight.reserve(8 * m_column.size());
    m_revision = 0;
    return true;
}

PliRows AdaptiveMapping::rows()
{
    PliBody* const body = l_model->body();
    if (isSkin())
        return pli_body_skin_rows(body);
    const uint64_t revision = pli_body_active(body).revision;
    if (revision != m_revision || m_nowColumn.empty())
    {
        SCOPED_TIMER("Pliant.mapping");
        const PliRows w = pli_body_transfer(body);
        m_nowColumn.clear();
        m_nowWeight.clear();
        for (std::size_t i = 0; i + 1 < m_first.size(); ++i)
        {
            m_nowFirst[i] = PliIndex(m_nowColumn.size());
            m_touched.clear();
            for (PliIndex k = m_first[i]; k < m_first[i + 1]; ++k)
            {
                const PliIndex fine = m_column[k];
                for (PliIndex j = w.first[fine]; j < w.first[fine + 1]; ++j)
                {
                    if (m_dense[w.column[j]] == 0.)
                        m_touched.push_back(w.column[j]);
                    m_dense[w.column[j]] += m_weight[k] * w.weight[j];
                }
            }
            std::sort(m_touched.begin(), m_touched.end());
            m_touched.erase(std::unique(m_touched.begin(), m_touched.end()), m_touched.end());
            for (const PliIndex column : m_touched)
            {
                if (m_dense[column] != 0.)
                {
                    m_nowColumn.push_back(column);
                    m_nowWeight.push_back(m_dense[column]);
                }
                m_dense[column] = 0.;
            }
        }
        m_nowFirst.back() = PliIndex(m_nowColumn.size());
        m_revision = revision;
    }
    return { m_nowFirst.data(), m_nowColumn.data(), m_nowWeight.data(), PliIndex(m_first.size() - 1),
             PliIndex(m_dense.size()) };
}

/// AdaptiveSolver pulls forces through the levels itself, and coefficients that are off now are judged by what acts on them.
PliRows AdaptiveMapping::forceRows()
{
    if (l_model->route() != Route::Owned || !pli_body_judges_forces(l_model->body()))
        return rows();
    return { m_first.data(), m_column.data(), m_weight.data(), PliIndex(m_first.size() - 1), PliIndex(m_dense.size()) };
}

void AdaptiveMapping::apply(const ::sofa::core::MechanicalParams*, OutDataVecCoord& out, const InDataVecCoord& in)
{
    if (!isComponentStateValid())
        return;
    auto points = ::sofa::helper::getWriteOnlyAccessor(out);
    if (isSkin()) // with what is still fading after a change of level, so that nothing pops
        pli_body_skin_positions(l_model->body(), flat(in.getValue()), flat(points.wref()));
    else
        pli_rows_apply(rows(), flat(in.getValue()), flat(points.wref()));
}

void AdaptiveMapping::applyJ(const ::sofa::core::MechanicalParams*, OutDataVecDeriv& out, const InDataVecDeriv& in)
{
    if (!isComponentStateValid())
        return;
    auto points = ::sofa::helper::getWriteOnlyAccessor(out);
    pli_rows_apply(rows(), flat(in.getValue()), flat(points.wref()));
}

void AdaptiveMapping::applyJT(const ::sofa::core::MechanicalParams*, InDataVecDeriv& out, const OutDataVecDeriv& in)
{
    if (!isComponentStateValid())
        return;
    auto parent = ::sofa::helper::getWriteAccessor(out);
    const VecDeriv& child = in.getValue();
    const PliRows w = forceRows();
    // few points carry forces, as a rule: contacts
    for (PliIndex i = 0; i < w.out_count; ++i)
    {
        const Vec3& f = child[i];
        if (f[0] == 0. && f[1] == 0. && f[2] == 0.)
            continue;
        for (PliIndex k = w.first[i]; k < w.first[i + 1]; ++k)
            parent[w.column[k]] += f * w.weight[k];
    }
}

void AdaptiveMapping::applyJT(const ::sofa::core::ConstraintParams*, InDataMatrixDeriv& out,
                              const OutDataMatrixDeriv& in)
{
    if (!isComponentStateValid())
        return;
    auto parent = ::sofa::helper::getWriteAccessor(out);
    const MatrixDeriv& child = in.getValue();
    const PliRows w = rows();
    for (auto row = child.begin(); row != child.end(); ++row)
    {
        if (row.begin() == row.end())
            continue;
        auto line = parent->writeLine(row.index());
        for (auto entry = row.begin(); entry != row.end(); ++entry)
            for (PliIndex k = w.first[entry.index()]; k < w.first[entry.index() + 1]; ++k)
                line.addCol(w.column[k], entry.val() * w.weight[k]);
    }
}

void registerAdaptiveMapping(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(::sofa::core::ObjectRegistrationData(
                                 "Maps the coefficients of a Pliant body to its skin, or to any points embedded in it.")
                                 .add<AdaptiveMapping>());
}
} // namespace pliant
