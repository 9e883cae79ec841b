/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// What a hand feels of a body, for every driver of SOFA that calls a ForceFeedback: the servo of the core, which ticks in the driver's
// thread and never waits for the simulation.

#include "sofa/RigidTool.h"

#include <pliant/haptics.h>

#include <sofa/component/haptics/ForceFeedback.h>

#include <atomic>

namespace pliant
{
class PLIANT_API AdaptiveForceFeedback : public ::sofa::component::haptics::ForceFeedback
{
public:
    SOFA_CLASS(AdaptiveForceFeedback, ::sofa::component::haptics::ForceFeedback);

    ModelLink<AdaptiveForceFeedback> l_model;
    SingleLink<AdaptiveForceFeedback, RigidTool, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK> l_tool;
    SingleLink<AdaptiveForceFeedback, State, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK> l_tip;
    Data<double> d_stiffness, d_damping, d_peakForce, d_continuousForce, d_radius;
    Data<bool> d_passivity;
    Data<Vec3> d_proxy, d_force, d_torque;
    Data<double> d_bodyStiffness, d_energy;
    Data<std::string> d_state;

    void init() override;
    void bwdInit() override;
    void reset() override;
    void cleanup() override;
    void handleEvent(::sofa::core::objectmodel::Event* event) override;

    // in the thread of the driver; positions and forces in the units and the frame of the scene
    void computeForce(SReal x, SReal y, SReal z, SReal u, SReal v, SReal w, SReal q, SReal& fx, SReal& fy,
                      SReal& fz) override;
    void computeWrench(const ::sofa::type::Transform<SReal>& tool, const ::sofa::type::SpatialVector<SReal>& velocity,
                       ::sofa::type::SpatialVector<SReal>& wrench) override;

    /// One tick of length dt, for drivers of ours, which know how long it was. Torque about the place of the tool.
    void tick(const PliHapticSample& sample, double dt, double force[3], double torque[3]);
    uint32_t pressed() { return m_servo ? pli_servo_pressed(m_servo.get()) : 0; }

protected:
    AdaptiveForceFeedback();

private:
    /// A tick of any length since the last, for drivers that do not say.
    void tickNow(const PliHapticSample& sample, double force[3], double torque[3]);
    struct Delete
    {
        void operator()(PliServo* servo) const { pli_servo_destroy(servo); }
        void operator()(PliTouch* touch) const { pli_touch_destroy(touch); }
    };
    bool refuse(const std::string& sentence);
    Vec3 lead();
    PliTool felt() const;
    std::unique_ptr<PliServo, Delete> m_servo;
    std::unique_ptr<PliTouch, Delete> m_touch;
    PliServoOutput m_seen{};            ///< when the step began
    std::atomic<bool> m_active{ true }; ///< d_activate, for the thread
    double m_last{ -1. };               ///< s, of the wall clock at the last tick
};
} // namespace pliant
