/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/AdaptiveForceFeedback.h"

#include "sofa/PliantHapticDevice.h"

#include <sofa/core/ObjectFactory.h>
#include <sofa/simulation/AnimateBeginEvent.h>
#include <sofa/simulation/AnimateEndEvent.h>

#include <algorithm>
#include <chrono>

namespace pliant
{
namespace vec_id = ::sofa::core::vec_id;

AdaptiveForceFeedback::AdaptiveForceFeedback()
    : l_model(initLink("model", "the body to feel; default: that of the tool, or the model of this node or above"))
    , l_tool(initLink("tool", "a SphereTool of the body, which the hand leads from now on; its contact is the core's"))
    , l_tip(initLink("tip", "instead of tool: a state of one point that a spring of `stiffness` draws to @this.hand, "
                            "with contact by SOFA's collision pipeline"))
    , d_stiffness(initData(&d_stiffness, pli_servo_default().stiffness, "stiffness",
                           "N/m, of the coupling between hand and tool"))
    , d_damping(initData(&d_damping, pli_servo_default().damping, "damping",
                         "s, times the stiffness is the damping of the coupling"))
    , d_peakForce(initData(&d_peakForce, pli_servo_default().peak_force, "peakForce", "N, never exceeded"))
    , d_continuousForce(initData(&d_continuousForce, pli_servo_default().continuous_force, "continuousForce",
                                 "N, that the motors can give for long"))
    , d_radius(initData(&d_radius, 0.0, "radius", "m, of the tip, with the contact distance of the pipeline"))
    , d_passivity(initData(&d_passivity, false, "passivity", "damp where more energy came out than the hand put in"))
    , d_proxy(initData(&d_proxy, Vec3(), "proxy", "m, where the tool is to be shown: never inside the body"))
    , d_force(initData(&d_force, Vec3(), "force", "N, on the hand in the last tick"))
    , d_torque(initData(&d_torque, Vec3(), "torque", "N m, on the hand in the last tick, about the place of the tool"))
    , d_bodyStiffness(initData(&d_bodyStiffness, 0.0, "bodyStiffness", "N/m, of the body under the tool, 0: not near"))
    , d_energy(initData(&d_energy, 0.0, "energy", "J, that the hand has put in; below 0 more came out"))
    , d_state(initData(&d_state, std::string("waiting"), "state", "waiting, running, stalled, broken or unplugged"))
{
    f_listening.setValue(true);
    d_activate.setValue(true); // who puts it into a scene wants to feel something
    for (auto* data : std::initializer_list<::sofa::core::objectmodel::BaseData*>{
             &d_proxy, &d_force, &d_torque, &d_bodyStiffness, &d_energy, &d_state })
    {
        data->setReadOnly(true);
        data->setPersistent(false);
        data->setGroup("Statistics");
    }
}

bool AdaptiveForceFeedback::refuse(const std::string& sentence)
{
    msg_error() << sentence;
    d_componentState.setValue(ComponentState::Invalid);
    return false;
}

void AdaptiveForceFeedback::init()
{
    ForceFeedback::init();
    d_componentState.setValue(ComponentState::Valid);
}

// when tools and bodies are there
void AdaptiveForceFeedback::bwdInit()
{
    if (!l_tool.get() && !l_tip.get())
    {
        refuse("needs tool=\"@path\" to a SphereTool, or tip=\"@path\" to a state of one point");
        return;
    }
    if (l_tool.get() && !l_model.get() && l_model.getLinkedPath().empty())
        l_model.set(l_tool->l_model.get());
    BodyModel* const model = findModel(this, l_model);
    if (!model)
        return;
    if (!l_tool.get() && !(d_radius.getValue() > 0.))
    {
        refuse("radius=\"" + std::to_string(d_radius.getValue()) + "\" must be > 0 with tip");
        return;
    }
    PliServoDef def = pli_servo_default();
    def.stiffness = d_stiffness.getValue();
    def.damping = d_damping.getValue();
    def.peak_force = d_peakForce.getValue();
    def.continuous_force = d_continuousForce.getValue();
    def.control = d_passivity.getValue();
    const PliHost host = pli_host_default();
    PliError error{};
    m_servo.reset(pli_servo_create(&host, &def, &error));
    m_touch.reset(m_servo ? pli_touch_create(&host, model->body(), &error) : nullptr);
    if (!m_servo || !m_touch)
    {
        refuse(error.text);
        m_servo.reset();
        return;
    }
    m_seen = PliServoOutput{};
    m_active = d_activate.getValue();
    if (l_tool.get())
        l_tool->lead([this] { return lead(); });
}

/// The servo stays: a driver may be ticking it. Only what is known of the body begins again.
void AdaptiveForceFeedback::reset()
{
    if (!m_servo || !isComponentStateValid())
        return;
    const PliHost host = pli_host_default();
    m_touch.reset(pli_touch_create(&host, l_model->body(), nullptr));
    if (!m_touch)
        refuse("there is no memory to begin again");
}

void AdaptiveForceFeedback::cleanup()
{
    if (l_tool.get())
        l_tool->lead({});
}

/// Where the tool goes in the step to come; before the first tick it stays where it is.
Vec3 AdaptiveForceFeedback::lead()
{
    pli_servo_look(m_servo.get(), &m_seen);
    if (m_seen.tick == 0)
        return l_tool->d_position.getValue();
    return Vec3(m_seen.proxy[0], m_seen.proxy[1], m_seen.proxy[2]);
}

/// The tool of the step that just ended: ours, or the tip as a ball that the coupling's spring holds.
PliTool AdaptiveForceFeedback::felt() const
{
    if (l_tool.get())
        return l_tool->lastStep();
    PliTool tool{};
    const auto& x = l_tip->read(vec_id::read_access::position)->getValue();
    tool.shape = PLI_TOOL_SPHERE;
    tool.radius = d_radius.getValue();
    for (int i = 0; i < 3; ++i)
    {
        tool.position[i] = x[0][i];
        tool.force[i] = m_seen.tick ? d_stiffness.getValue() * (x[0][i] - m_seen.hand[i]) : 0.;
    }
    return tool;
}

void AdaptiveForceFeedback::handleEvent(::sofa::core::objectmodel::Event* event)
{
    if (!m_servo || !isComponentStateValid() || !l_model->state())
        return;
    if (::sofa::simulation::AnimateBeginEvent::checkEventType(event))
    {
        pli_servo_look(m_servo.get(), &m_seen);
        m_active = d_activate.getValue();
        return;
    }
    if (!::sofa::simulation::AnimateEndEvent::checkEventType(event))
        return;
    const double dt = getContext()->getDt();
    PliHapticModel model{};
    PliTool tool = felt();
    const auto& x = l_model->state()->read(vec_id::read_access::position)->getValue();
    const auto& v = l_model->state()->read(vec_id::read_access::velocity)->getValue();
    pli_touch_model(m_touch.get(), flat(x), flat(v), &tool, dt, &model);
    model.broken = !l_model->lastStep().finite && l_model->route() == Route::Owned;
    pli_servo_publish(m_servo.get(), &model);
    PliServoOutput now{};
    pli_servo_look(m_servo.get(), &now);
    d_proxy.setValue(Vec3(now.proxy[0], now.proxy[1], now.proxy[2]));
    d_force.setValue(Vec3(now.force[0], now.force[1], now.force[2]));
    d_torque.setValue(Vec3(now.torque[0], now.torque[1], now.torque[2]));
    d_energy.setValue(now.energy);
    d_bodyStiffness.setValue(pli_touch_stiffness(m_touch.get()));
    d_state.setValue(pli_servo_state_name(now.state));
}

// ---- in the thread of a driver -----------------------------------------------------------------------------------

void AdaptiveForceFeedback::tick(const PliHapticSample& sample, double dt, double force[3], double torque[3])
{
    std::fill(force, force + 3, 0.);
    std::fill(torque, torque + 3, 0.);
    if (!m_servo || !m_active.load(std::memory_order_relaxed))
        return;
    pli_servo_tick(m_servo.get(), &sample, dt, force);
    pli_servo_torque(m_servo.get(), torque);
}

void AdaptiveForceFeedback::tickNow(const PliHapticSample& sample, double force[3], double torque[3])
{
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    const double dt = m_last < 0. ? 1e-3 : std::min(0.1, std::max(1e-4, now - m_last));
    m_last = now;
    tick(sample, dt, force, torque);
}

namespace
{
PliHapticSample sampleOf(SReal x, SReal y, SReal z, SReal u, SReal v, SReal w, SReal q)
{
    PliHapticSample sample{};
    sample.position[0] = x, sample.position[1] = y, sample.position[2] = z;
    sample.orientation[0] = u, sample.orientation[1] = v, sample.orientation[2] = w, sample.orientation[3] = q;
    sample.connected = true;
    return sample;
}
} // namespace

void AdaptiveForceFeedback::computeForce(SReal x, SReal y, SReal z, SReal u, SReal v, SReal w, SReal q, SReal& fx,
                                         SReal& fy, SReal& fz)
{
    double force[3], torque[3];
    tickNow(sampleOf(x, y, z, u, v, w, q), force, torque);
    fx = force[0], fy = force[1], fz = force[2];
}

/// Force at the origin of the tool and torque about it, in the tool's own frame. Without friction a ball has no lever.
void AdaptiveForceFeedback::computeWrench(const ::sofa::type::Transform<SReal>& tool,
                                          const ::sofa::type::SpatialVector<SReal>&,
                                          ::sofa::type::SpatialVector<SReal>& wrench)
{
    const auto& p = tool.getOrigin();
    const auto& q = tool.getOrientation();
    double f[3], t[3];
    tickNow(sampleOf(p[0], p[1], p[2], q[0], q[1], q[2], q[3]), f, t);
    wrench.setForce(q.inverseRotate(::sofa::type::Vec3(f[0], f[1], f[2])));
    wrench.setTorque(q.inverseRotate(::sofa::type::Vec3(t[0], t[1], t[2])));
}

void registerHaptics(::sofa::core::ObjectFactory* factory)
{
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData("What a hand feels of a Pliant body, for every driver that calls a "
                                             "ForceFeedback: a servo with a local model of "
                                             "the contact, whose force does not jump when the body refines.")
            .add<AdaptiveForceFeedback>());
    factory->registerObjects(::sofa::core::ObjectRegistrationData(
                                 "A haptic device, by the drivers of Pliant, with the data of GeomagicDriver.")
                                 .add<PliantHapticDevice>());
    factory->registerObjects(
        ::sofa::core::ObjectRegistrationData(
            "A hand without hardware that calls a ForceFeedback 1000 times per simulated second, inside the step: the "
            "same on every machine.")
            .add<HapticLoopEmulator>());
}
} // namespace pliant
