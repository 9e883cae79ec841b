/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/RigidTool.h"

#include <sofa/core/ObjectFactory.h>
#include <sofa/core/visual/VisualParams.h>
#include <sofa/type/RGBAColor.h>

namespace pliant
{
RigidTool::RigidTool(PliToolShape shape)
    : l_model(initLink("model", "the body this tool touches; default: the model of this node"))
    , d_position(
          initData(&d_position, Vec3(), "position", "m, where the tool is (sphere: centre, plane: a point on it)"))
    , d_keyTimes(
          initData(&d_keyTimes, "keyTimes", "s, ascending: when the tool is at each of movements; empty: it rests"))
    , d_movements(
          initData(&d_movements, "movements", "m, displacement from position at each key time, linear in between"))
    , d_force(initData(&d_force, Vec3(), "force", "N, force on the tool, mean over the last step"))
    , m_shape(shape)
{
    static const PliTool defaults{};
    m_attributes.add(this, pli_tool_attributes, &defaults, "Contact");
    d_force.setReadOnly(true);
    d_force.setPersistent(false);
    d_force.setGroup("Statistics");
}

void RigidTool::init()
{
    Inherit1::init();
    BodyModel* const found = findModel(this, l_model);
    if (!found)
        return;
    const auto& times = d_keyTimes.getValue();
    bool ascending = true;
    for (std::size_t i = 1; i < times.size(); ++i)
        ascending = ascending && times[i] > times[i - 1];
    if (!ascending || times.size() != d_movements.getValue().size())
    {
        msg_error() << "keyTimes (" << times.size() << " values) must ascend, and movements ("
                    << d_movements.getValue().size() << ") must have one displacement for each";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    d_componentState.setValue(ComponentState::Valid);
    found->addTool(this);
}

void RigidTool::cleanup()
{
    if (l_model.get() && isComponentStateValid())
        l_model->removeTool(this);
}

Vec3 RigidTool::at(double time) const
{
    const auto& times = d_keyTimes.getValue();
    const auto& moves = d_movements.getValue();
    const Vec3 home = d_position.getValue();
    if (times.empty())
        return home;
    if (time <= times.front())
        return home + moves.front();
    for (std::size_t i = 1; i < times.size(); ++i)
        if (time < times[i])
            return home + moves[i - 1]
                   + (moves[i] - moves[i - 1]) * ((time - times[i - 1]) / (times[i] - times[i - 1]));
    return home + moves.back();
}

void RigidTool::place(double time, double dt, PliTool& tool)
{
    PliError error{};
    m_attributes.write(pli_tool_attributes, &tool, &error);
    tool.shape = m_shape;
    Vec3 from = at(time), to = at(time + dt);
    if (m_lead)
    {
        if (m_placed < time) // asked twice in a step: the same answer
        {
            m_from = m_placed < 0. ? from : m_hand;
            m_hand = m_lead();
            m_placed = time;
        }
        from = m_from;
        to = m_hand;
    }
    for (int i = 0; i < 3; ++i)
    {
        tool.position[i] = from[i];
        tool.velocity[i] = (to[i] - from[i]) / dt;
    }
    shape(tool);
}

void RigidTool::felt(const PliTool& tool)
{
    m_last = tool;
    d_force.setValue(Vec3(tool.force[0], tool.force[1], tool.force[2]));
}

SphereTool::SphereTool()
    : RigidTool(PLI_TOOL_SPHERE)
    , d_radius(initData(&d_radius, 0.01, "radius", "m"))
{
}

void SphereTool::init()
{
    if (!(d_radius.getValue() > 0.))
    {
        msg_error() << "radius=\"" << d_radius.getValue() << "\" must be > 0";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    Inherit1::init();
}

void SphereTool::shape(PliTool& tool) const
{
    tool.radius = d_radius.getValue();
}

bool RigidTool::isShown(const ::sofa::core::visual::VisualParams* vparams)
{
    const auto& flags = vparams->displayFlags();
    return flags.getShowVisualModels() || flags.getShowCollisionModels() || flags.getShowBehaviorModels();
}

Vec3 RigidTool::drawnAt() const
{
    const Vec3 p = m_placed >= 0. ? m_hand : at(getContext()->getTime());
    return l_model.get() ? p + l_model->aside() : p;
}

void SphereTool::draw(const ::sofa::core::visual::VisualParams* vparams)
{
    if (!isShown(vparams))
        return;
    const auto keep = vparams->drawTool()->makeStateLifeCycle();
    vparams->drawTool()->enableLighting();
    vparams->drawTool()->drawSpheres({ drawnAt() }, float(d_radius.getValue()),
                                     ::sofa::type::RGBAColor(0.75f, 0.75f, 0.78f, 1.0f));
}

PlaneTool::PlaneTool()
    : RigidTool(PLI_TOOL_PLANE)
    , d_normal(initData(&d_normal, Vec3(0., 1., 0.), "normal", "outward direction: bodies stay on this side"))
{
}

void PlaneTool::init()
{
    if (!(d_normal.getValue().norm() > 0.))
    {
        msg_error() << "normal=\"" << d_normal.getValue() << "\" has no direction";
        d_componentState.setValue(ComponentState::Invalid);
        return;
    }
    Inherit1::init();
}

// A few lines where the body may meet the plane.
void PlaneTool::draw(const ::sofa::core::visual::VisualParams* vparams)
{
    if (!isShown(vparams) || !l_model.get())
        return;
    const auto& box = l_model->f_bbox.getValue();
    const double reach = 0.6 * (box.maxBBox() - box.minBBox()).norm();
    if (!(reach > 0. && reach < 1e30))
        return;
    const Vec3 n = d_normal.getValue().normalized();
    Vec3 u = cross(n, std::abs(n[0]) < 0.9 ? Vec3(1., 0., 0.) : Vec3(0., 1., 0.)).normalized(), w = cross(n, u);
    Vec3 centre = (box.maxBBox() + box.minBBox()) * 0.5;
    centre -= n * (n * (centre - drawnAt()));
    std::vector<::sofa::type::Vec3> lines;
    for (int i = -2; i <= 2; ++i)
        for (const auto& [along, across] : { std::pair(u, w), std::pair(w, u) })
        {
            lines.push_back(centre + along * reach + across * (0.5 * i * reach));
            lines.push_back(centre - along * reach + across * (0.5 * i * reach));
        }
    const auto keep = vparams->drawTool()->makeStateLifeCycle();
    vparams->drawTool()->disableLighting();
    vparams->drawTool()->drawLines(lines, 1.0f, ::sofa::type::RGBAColor(0.5f, 0.5f, 0.53f, 1.0f));
}

void PlaneTool::shape(PliTool& tool) const
{
    const Vec3 n = d_normal.getValue().normalized();
    for (int i = 0; i < 3; ++i)
        tool.other[i] = n[i];
}

void registerTools(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(::sofa::core::ObjectRegistrationData(
                                 "A rigid sphere that moves on a given path; its contact is computed inside the core.")
                                 .add<SphereTool>());
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData(
            "A rigid half-space, at rest or on a given path; its contact is computed inside the core.")
            .add<PlaneTool>());
}
} // namespace pliant
