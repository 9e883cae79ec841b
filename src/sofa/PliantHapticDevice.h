/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// Hands of a scene: a device behind a driver of the core, in its own thread, or one that is only played.

#include "sofa/borrow.h"

#include <pliant/haptics.h>

#include <sofa/component/haptics/ForceFeedback.h>
#include <sofa/defaulttype/RigidTypes.h>

#include <atomic>
#include <memory>

namespace pliant
{
class AdaptiveForceFeedback;

/// What both have: where the hand is, and who turns that into a force.
class PLIANT_API HapticHand : public Object
{
public:
    SOFA_ABSTRACT_CLASS(HapticHand, Object);
    using ForceFeedback = ::sofa::component::haptics::ForceFeedback;
    using Quat = ::sofa::type::Quat<SReal>;
    using Rigid = ::sofa::defaulttype::Rigid3Types::Coord;

    SingleLink<HapticHand, ForceFeedback, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK> l_forceFeedback;
    Data<Vec3> d_positionBase;
    Data<Quat> d_orientationBase;
    Data<double> d_scale, d_forceScale;
    Data<Rigid> d_positionDevice;
    Data<VecCoord> d_position;
    Data<bool> d_button1, d_button2;
    Data<Vec3> d_inputForceFeedback;

    void init() override;

protected:
    HapticHand();
    struct Delete
    {
        void operator()(PliDevice* device) const { pli_device_close(device); }
        void operator()(PliLoop* loop) const { pli_loop_destroy(loop); }
    };
    bool refuse(const std::string& sentence);
    /// Device frame -> scene, a force of the scene -> device frame, by what base and scale were when it began.
    void tick(const PliHapticSample& in, double dt, double force[3], double torque[3]);
    void publish(const PliHapticSample& in, const double force[3]);
    void freeze(); ///< base and scale as they are now, for the thread
    std::unique_ptr<PliDevice, Delete> m_device;

private:
    Vec3 m_base;
    Quat m_turn;
    double m_scale{ 1. }, m_forceScale{ 1. };
    ForceFeedback* m_feedback{ nullptr };
    AdaptiveForceFeedback* m_ours{ nullptr }; ///< the same, if it is ours
};

class PLIANT_API PliantHapticDevice : public HapticHand
{
public:
    SOFA_CLASS(PliantHapticDevice, HapticHand);

    Data<std::string> d_deviceName;
    Data<double> d_maxInputForceFeedback;
    Data<bool> d_manualStart;
    Data<double> d_rate;
    Data<int> d_missed;

    void bwdInit() override;
    void cleanup() override;
    void handleEvent(::sofa::core::objectmodel::Event* event) override;
    void start(); ///< what manualStart left out

protected:
    PliantHapticDevice();
    ~PliantHapticDevice() override;

private:
    static void ticked(const PliHapticSample* in, double dt, double force[3], double torque[3], void* self);
    struct Seen;
    std::unique_ptr<Seen> m_seen;
    std::unique_ptr<PliLoop, Delete> m_loop;
    bool m_told{ false };
};

class PLIANT_API HapticLoopEmulator : public HapticHand
{
public:
    SOFA_CLASS(HapticLoopEmulator, HapticHand);

    Data<::sofa::type::vector<double>> d_keyTimes;
    Data<VecCoord> d_movements;
    Data<bool> d_passive;
    Data<int> d_repeat;
    Data<double> d_rate;
    Data<double> d_largestStep, d_largestForce;

    void init() override;
    void reset() override;
    void handleEvent(::sofa::core::objectmodel::Event* event) override;

protected:
    HapticLoopEmulator();

private:
    void open();
    double m_due{ 0. }, m_force[3]{}, m_place[3]{};
    bool m_begun{ false };
};
} // namespace pliant
