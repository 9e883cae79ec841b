/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/PliantHapticDevice.h"

#include "sofa/AdaptiveForceFeedback.h"

#include <sofa/simulation/AnimateBeginEvent.h>

#include <algorithm>
#include <cmath>

namespace pliant
{
HapticHand::HapticHand()
    : l_forceFeedback(
        initLink("forceFeedBack", "the ForceFeedback that is called in every tick; default: that of this node"))
    , d_positionBase(initData(&d_positionBase, Vec3(), "positionBase", "m, where the origin of the device is"))
    , d_orientationBase(
          initData(&d_orientationBase, Quat(0, 0, 0, 1), "orientationBase", "how the device is turned, quaternion"))
    , d_scale(initData(&d_scale, 1.0, "scale", "m in the scene per m of the device"))
    , d_forceScale(initData(&d_forceScale, 1.0, "forceScale", "N of the device per N in the scene"))
    , d_positionDevice(initData(&d_positionDevice, "positionDevice", "m, place and turn of the hand in the scene"))
    , d_position(initData(&d_position, "position", "m, place of the hand as one point, for a MechanicalObject"))
    , d_button1(initData(&d_button1, false, "button1", "the first button is, or was since the last step, pressed"))
    , d_button2(initData(&d_button2, false, "button2", "the second"))
    , d_inputForceFeedback(initData(&d_inputForceFeedback, Vec3(), "inputForceFeedback", "N, on the hand, last tick"))
{
    f_listening.setValue(true);
    for (auto* data : std::initializer_list<::sofa::core::objectmodel::BaseData*>{
             &d_positionDevice, &d_position, &d_button1, &d_button2, &d_inputForceFeedback })
    {
        data->setReadOnly(true);
        data->setPersistent(false);
    }
    d_position.setValue(VecCoord(1));
}

bool HapticHand::refuse(const std::string& sentence)
{
    msg_error() << sentence;
    d_componentState.setValue(ComponentState::Invalid);
    return false;
}

void HapticHand::init()
{
    if (!l_forceFeedback.get() && l_forceFeedback.getLinkedPath().empty())
        l_forceFeedback.set(getContext()->get<ForceFeedback>(BaseContext::Local));
    if (!l_forceFeedback.get())
        msg_warning() << "no ForceFeedback is linked: the hand moves and feels nothing";
    if (!(d_scale.getValue() > 0.))
    {
        refuse("scale=\"" + std::to_string(d_scale.getValue()) + "\" must be > 0");
        return;
    }
    freeze();
    d_componentState.setValue(ComponentState::Valid);
    const PliHapticSample still{ {}, { 0., 0., 0., 1. }, 0, true };
    const double none[3] = {};
    publish(still, none);
}

void HapticHand::freeze()
{
    m_base = d_positionBase.getValue();
    m_turn = d_orientationBase.getValue();
    m_scale = d_scale.getValue();
    m_forceScale = d_forceScale.getValue();
    m_feedback = l_forceFeedback.get();
    m_ours = dynamic_cast<AdaptiveForceFeedback*>(m_feedback);
}

void HapticHand::tick(const PliHapticSample& in, double dt, double force[3], double torque[3])
{
    std::fill(force, force + 3, 0.);
    std::fill(torque, torque + 3, 0.);
    if (!m_feedback)
        return;
    PliHapticSample there = in;
    const Vec3 p = m_base + m_turn.rotate(Vec3(in.position[0], in.position[1], in.position[2]) * m_scale);
    const Quat q = m_turn * Quat(in.orientation[0], in.orientation[1], in.orientation[2], in.orientation[3]);
    for (int i = 0; i < 3; ++i)
        there.position[i] = p[i];
    for (int i = 0; i < 4; ++i)
        there.orientation[i] = q[i];
    SReal f[3] = { 0., 0., 0. };
    double turn[3] = { 0., 0., 0. };
    if (m_ours)
    {
        double felt[3];
        m_ours->tick(there, dt, felt, turn);
        std::copy(felt, felt + 3, f);
    }
    else if (in.connected)
        m_feedback->computeForce(p[0], p[1], p[2], q[0], q[1], q[2], q[3], f[0], f[1], f[2]);
    const Vec3 back = m_turn.inverseRotate(Vec3(f[0], f[1], f[2])) * m_forceScale;
    const Vec3 turnBack = m_turn.inverseRotate(Vec3(turn[0], turn[1], turn[2])) * m_forceScale;
    for (int i = 0; i < 3; ++i)
    {
        force[i] = back[i];
        torque[i] = turnBack[i];
    }
}

void HapticHand::publish(const PliHapticSample& in, const double force[3])
{
    Rigid place;
    place.getCenter() = m_base + m_turn.rotate(Vec3(in.position[0], in.position[1], in.position[2]) * m_scale);
    place.getOrientation() = m_turn * Quat(in.orientation[0], in.orientation[1], in.orientation[2], in.orientation[3]);
    d_positionDevice.setValue(place);
    d_position.setValue(VecCoord(1, place.getCenter()));
    d_inputForceFeedback.setValue(Vec3(force[0], force[1], force[2]));
}

// ---- a device ----------------------------------------------------------------------------------------------------

/// What the thread leaves for the step: whole numbers that no two threads write.
struct PliantHapticDevice::Seen
{
    std::atomic<double> position[3]{}, orientation[4]{}, force[3]{};
    std::atomic<uint32_t> buttons{ 0 }, pressed{ 0 };
    std::atomic<double> most{ 0. };
    uint32_t last{ 0 }; ///< of the thread
};

PliantHapticDevice::PliantHapticDevice()
    : d_deviceName(initData(&d_deviceName, std::string("touch"), "deviceName",
                            "touch, network, gamepad, spacemouse, dummy, replay:FILE; NAME:DETAIL as the command "
                            "`pliant haptic --list` says"))
    , d_maxInputForceFeedback(
          initData(&d_maxInputForceFeedback, 3.3, "maxInputForceFeedback", "N, the device never gets more"))
    , d_manualStart(initData(&d_manualStart, false, "manualStart", "the device is not opened until start() is called"))
    , d_rate(initData(&d_rate, 1000.0, "rate", "Hz, of the servo"))
    , d_missed(initData(&d_missed, 0, "missedDeadlines", "gaps of more than two ticks so far"))
    , m_seen(new Seen)
{
    d_missed.setReadOnly(true);
    d_missed.setPersistent(false);
}

PliantHapticDevice::~PliantHapticDevice()
{
    m_loop.reset(); // before the device
}

void PliantHapticDevice::bwdInit()
{
    if (isComponentStateValid() && !d_manualStart.getValue())
        start();
}

void PliantHapticDevice::start()
{
    if (m_loop)
        return;
    const PliHost host = pli_host_default();
    PliError error{};
    freeze();
    m_seen->most = d_maxInputForceFeedback.getValue();
    m_device.reset(pli_device_open(&host, d_deviceName.getValue().c_str(), nullptr, &error));
    if (m_device)
        m_loop.reset(pli_loop_start_with(&host, m_device.get(), ticked, this, d_rate.getValue(), &error));
    if (!m_loop)
    {
        m_device.reset();
        refuse(error.text);
    }
}

void PliantHapticDevice::cleanup()
{
    m_loop.reset();
    m_device.reset();
}

/// In the thread: no Data, no message, no lock.
void PliantHapticDevice::ticked(const PliHapticSample* in, double dt, double force[3], double torque[3], void* user)
{
    auto* const self = static_cast<PliantHapticDevice*>(user);
    Seen& s = *self->m_seen;
    constexpr auto loose = std::memory_order_relaxed;
    self->tick(*in, dt, force, torque);
    const double size = std::sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]);
    const double most = s.most.load(loose);
    for (int i = 0; i < 3; ++i)
    {
        if (size > most)
        {
            force[i] *= most / size;
            torque[i] *= most / size;
        }
        s.force[i].store(force[i], loose);
        s.position[i].store(in->position[i], loose);
    }
    for (int i = 0; i < 4; ++i)
        s.orientation[i].store(in->orientation[i], loose);
    s.pressed.fetch_or(in->buttons & ~s.last, loose);
    s.buttons.store(in->buttons, loose);
    s.last = in->buttons;
}

void PliantHapticDevice::handleEvent(::sofa::core::objectmodel::Event* event)
{
    if (!m_loop || !::sofa::simulation::AnimateBeginEvent::checkEventType(event))
        return;
    PliHapticSample sample{};
    double force[3];
    for (int i = 0; i < 3; ++i)
    {
        sample.position[i] = m_seen->position[i];
        force[i] = m_seen->force[i];
    }
    for (int i = 0; i < 4; ++i)
        sample.orientation[i] = m_seen->orientation[i];
    if (sample.orientation[3] == 0. && sample.orientation[0] == 0.)
        sample.orientation[3] = 1.; // before the first tick
    publish(sample, force);
    const uint32_t buttons = m_seen->buttons | m_seen->pressed.exchange(0);
    d_button1.setValue((buttons & 1u) != 0);
    d_button2.setValue((buttons & 2u) != 0);
    d_missed.setValue(int(pli_loop_stats(m_loop.get()).missed));
    PliError error{};
    const bool wrong = pli_device_status(m_device.get(), &error) != PLI_OK;
    if (wrong && !m_told)
        msg_warning() << error.text;
    m_told = wrong;
}

// ---- a hand that is played ---------------------------------------------------------------------------------------

HapticLoopEmulator::HapticLoopEmulator()
    : d_keyTimes(initData(&d_keyTimes, "keyTimes", "s, ascending: when the hand is at each of movements"))
    , d_movements(initData(&d_movements, "movements", "m, displacement from positionBase, linear in between"))
    , d_passive(initData(&d_passive, false, "passive", "the hand gives way: 0.15 kg drawn along the path by 20 N/m"))
    , d_repeat(initData(&d_repeat, 1, "repeat", "how often the path is gone; it should end where it begins"))
    , d_rate(initData(&d_rate, 1000.0, "rate", "Hz, of simulated time"))
    , d_largestStep(initData(&d_largestStep, 0.0, "largestStep",
                             "N per ms, most that the force changed beside what stiffness and motion explain"))
    , d_largestForce(initData(&d_largestForce, 0.0, "largestForce", "N"))
{
    for (auto* data : { &d_largestStep, &d_largestForce })
    {
        data->setReadOnly(true);
        data->setPersistent(false);
        data->setGroup("Statistics");
    }
}

void HapticLoopEmulator::init()
{
    HapticHand::init();
    const double rate = d_rate.getValue();
    if (!(rate >= 10. && rate <= 20000.))
        refuse("rate=\"" + std::to_string(rate) + "\" must be in 10 .. 20000");
    if (isComponentStateValid())
        open();
}

void HapticLoopEmulator::open()
{
    const auto& times = d_keyTimes.getValue();
    const auto& moves = d_movements.getValue();
    if (times.size() != moves.size())
    {
        refuse("keyTimes (" + std::to_string(times.size()) + " values) must have one of movements ("
               + std::to_string(moves.size()) + ") each");
        return;
    }
    std::vector<double> when, where;
    for (int round = 0; round < std::max(1, d_repeat.getValue()); ++round)
        for (std::size_t k = round ? 1 : 0; k < times.size(); ++k)
        {
            when.push_back(times[k] + round * (times.back() - times.front()));
            for (int i = 0; i < 3; ++i)
                where.push_back(moves[k][i] / d_scale.getValue());
        }
    const PliHandPath path{ when.data(), where.data(), when.size() };
    const PliHost host = pli_host_default();
    PliError error{};
    m_device.reset(pli_device_open(&host, d_passive.getValue() ? "dummy:passive" : "dummy:scripted", &path, &error));
    if (!m_device)
        refuse(error.text);
    m_due = 0.;
    m_begun = false;
    d_largestStep.setValue(0.);
    d_largestForce.setValue(0.);
}

void HapticLoopEmulator::reset()
{
    if (isComponentStateValid())
        open();
}

void HapticLoopEmulator::handleEvent(::sofa::core::objectmodel::Event* event)
{
    if (!m_device || !isComponentStateValid() || !::sofa::simulation::AnimateBeginEvent::checkEventType(event))
        return;
    const double period = 1. / d_rate.getValue();
    const auto* const ours = dynamic_cast<const AdaptiveForceFeedback*>(l_forceFeedback.get());
    double step = d_largestStep.getValue(), most = d_largestForce.getValue();
    PliHapticSample sample{};
    m_due += static_cast<::sofa::simulation::AnimateBeginEvent*>(event)->getDt();
    bool ticked = false;
    for (; m_due >= period - 1e-9; m_due -= period)
    {
        double force[3], torque[3], change = 0., way = 0.;
        pli_device_read(m_device.get(), period, &sample);
        tick(sample, period, force, torque);
        pli_device_turn(m_device.get(), torque);
        pli_device_write(m_device.get(), force);
        for (int i = 0; i < 3; ++i)
        {
            change += std::pow(force[i] - m_force[i], 2);
            way += std::pow((sample.position[i] - m_place[i]) * d_scale.getValue(), 2);
            m_force[i] = force[i];
            m_place[i] = sample.position[i];
        }
        if (m_begun && ours)
            step = std::max(step, (std::sqrt(change) - ours->d_stiffness.getValue() * std::sqrt(way)) * 1e-3 / period);
        most = std::max(most, std::sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]));
        m_begun = ticked = true;
    }
    if (!ticked)
        return;
    publish(sample, m_force);
    d_button1.setValue((sample.buttons & 1u) != 0);
    d_button2.setValue((sample.buttons & 2u) != 0);
    d_largestStep.setValue(step);
    d_largestForce.setValue(most);
}
} // namespace pliant
