/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// Kinematic tools whose contact is computed inside the core, in every substep: no collision pipeline is needed.

#include "sofa/Linked.h"

#include <functional>

namespace pliant
{
class PLIANT_API RigidTool : public Object
{
public:
    SOFA_ABSTRACT_CLASS(RigidTool, Object);

    ModelLink<RigidTool> l_model;
    Data<Vec3> d_position;
    Data<BodyModel::Vector<double>> d_keyTimes;
    Data<VecCoord> d_movements;
    Data<Vec3> d_force;

    void init() override;
    void cleanup() override;
    void reset() override { m_placed = -1.0; }

    /// Where the tool is at `time` and how it moves until `time + dt`.
    void place(double time, double dt, PliTool& tool);
    /// A hand holds it: `where` says where it should be at the end of a step, instead of its path. Empty: the path again.
    void lead(std::function<Vec3()> where) { m_lead = std::move(where); }
    /// Of the step that just ended.
    const PliTool& lastStep() const { return m_last; }
    /// Publishes the force of the step that just ended.
    void felt(const PliTool& tool);

protected:
    explicit RigidTool(PliToolShape shape);
    virtual void shape(PliTool& tool) const = 0; ///< fills what the shape adds
    Vec3 at(double time) const;
    static bool isShown(const ::sofa::core::visual::VisualParams* vparams);
    Vec3 drawnAt() const; ///< where the tool is now, next to the body it touches
    AttributeData m_attributes;

private:
    PliToolShape m_shape;
    std::function<Vec3()> m_lead;
    Vec3 m_from, m_hand;     ///< led: where it is when the present step begins and ends ...
    double m_placed{ -1.0 }; ///< ... which begins at this time
    PliTool m_last{};
};

class PLIANT_API SphereTool : public RigidTool
{
public:
    SOFA_CLASS(SphereTool, RigidTool);
    Data<double> d_radius;
    void init() override;
    void draw(const ::sofa::core::visual::VisualParams* vparams) override;

protected:
    SphereTool();
    void shape(PliTool& tool) const override;
};

class PLIANT_API PlaneTool : public RigidTool
{
public:
    SOFA_CLASS(PlaneTool, RigidTool);
    Data<Vec3> d_normal;
    void init() override;
    void draw(const ::sofa::core::visual::VisualParams* vparams) override;

protected:
    PlaneTool();
    void shape(PliTool& tool) const override;
};
} // namespace pliant
