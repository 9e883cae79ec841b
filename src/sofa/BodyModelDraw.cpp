/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/BodyModel.h"

#include <sofa/core/visual/VisualParams.h>
#include <sofa/type/RGBAColor.h>

namespace pliant
{
namespace vec_id = ::sofa::core::vec_id;
using ::sofa::type::RGBAColor;

namespace
{
/// Coarse is blue, fine is red; steps of equal visual distance, readable without colour vision by their brightness.
RGBAColor levelColour(int level, int count)
{
    static const float stops[5][3] = { { 0.17f, 0.30f, 0.62f },
                                       { 0.18f, 0.60f, 0.74f },
                                       { 0.45f, 0.77f, 0.50f },
                                       { 0.95f, 0.78f, 0.30f },
                                       { 0.80f, 0.25f, 0.22f } };
    const float at = count > 1 ? 4.0f * float(level) / float(count - 1) : 0.0f;
    const int i = at >= 4.0f ? 3 : int(at);
    const float w = at - float(i);
    float c[3];
    for (int k = 0; k < 3; ++k)
        c[k] = stops[i][k] + w * (stops[i + 1][k] - stops[i][k]);
    return RGBAColor(c[0], c[1], c[2], 1.0f);
}

} // namespace

VecCoord BodyModel::skinNow() const
{
    VecCoord skin(pli_body_skin_count(m_body.get()));
    pli_body_skin_positions(m_body.get(), flat(m_state->read(vec_id::read_access::position)->getValue()), flat(skin));
    for (auto& p : skin)
        p += m_aside;
    return skin;
}

// The eye of a window looks at the box of the scene, which SOFA asks for in every step, window or not: the rest box at first,
// then that of the skin last drawn.
void BodyModel::computeBBox(const ::sofa::core::ExecParams*, bool)
{
    if (!m_box.isValid())
        for (const auto& p : d_skinPosition.getValue())
            m_box.include(p + m_aside);
    f_bbox.setValue(m_box);
}

void BodyModel::draw(const ::sofa::core::visual::VisualParams* vparams)
{
    const auto& flags = vparams->displayFlags();
    if (!m_body || !m_state || !(flags.getShowVisualModels() || flags.getShowBehaviorModels()))
        return;
    const int levels = pli_body_level_count(m_body.get());
    auto* const tool = vparams->drawTool();
    const auto keep = tool->makeStateLifeCycle();

    if (d_showLevels.getValue())
    {
        const VecCoord skin = skinNow();
        m_box.invalidate();
        for (const auto& p : skin)
            m_box.include(p);
        const uint8_t* const level = pli_body_skin_level(m_body.get());
        PliIndex count = 0;
        const PliIndex* const tris = pli_body_skin_tris(m_body.get(), &count);
        std::vector<::sofa::type::Vec3> corner;
        std::vector<RGBAColor> colour;
        corner.reserve(3 * count);
        colour.reserve(3 * count);
        const Vec3 light = Vec3(0.35, 0.8, 0.5).normalized();
        for (PliIndex t = 0; t < count; ++t)
        {
            const PliIndex* const c = tris + 3 * t;
            const Vec3 normal = cross(skin[c[1]] - skin[c[0]], skin[c[2]] - skin[c[0]]);
            // shaded here: the material of SOFA's triangles shines white where they face the eye
            const double size = normal.norm(),
                         shade = 0.45 + 0.55 * (size > 0. ? 0.5 + 0.5 * (light * normal) / size : 0.5);
            for (int k = 0; k < 3; ++k)
            {
                const RGBAColor full = levelColour(level ? level[c[k]] : 0, levels);
                corner.push_back(skin[c[k]]);
                colour.emplace_back(float(shade) * full.r(), float(shade) * full.g(), float(shade) * full.b(), 1.0f);
            }
        }
        tool->setPolygonMode(0, flags.getShowWireFrame());
        tool->disableLighting();
        tool->drawTriangles(corner, colour);
        tool->setPolygonMode(0, false);
    }
    if (!flags.getShowBehaviorModels())
        return;

    // active coefficients in the colour of their level (frames: their origins); those that follow them at an
    // interface dark
    const PliActive active = pli_body_active(m_body.get());
    const uint8_t* const level = pli_body_dof_level(m_body.get());
    const VecCoord& x = m_state->read(vec_id::read_access::position)->getValue();
    std::vector<::sofa::type::Vec3> points, slaves;
    std::vector<RGBAColor> colours;
    for (PliIndex i = 0; i < active.count; ++i)
    {
        const PliIndex dof = active.dof[i];
        const PliIndex place = pli_body_dof_place(m_body.get(), dof);
        if (place == PLI_NONE)
            continue;
        points.push_back(x[place] + m_aside);
        colours.push_back(levelColour(level[dof], levels));
    }
    tool->drawPoints(points, 5.0f, colours);
    if (d_showInterface.getValue() && levels > 1)
    {
        PliIndex count = 0;
        const PliIndex* const slave = pli_body_slaves(m_body.get(), &count);
        for (PliIndex i = 0; i < count; ++i)
            slaves.push_back(x[slave[i]] + m_aside);
        tool->drawPoints(slaves, 7.0f, RGBAColor(0.1f, 0.1f, 0.1f, 1.0f));
    }
}
} // namespace pliant
