/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// Forces on the skin that act inside AdaptiveSolver: contact between the pieces of a body, attraction to a target.

#include "sofa/Linked.h"
#include <pliant/contact.h>

#include <sofa/core/objectmodel/DataFileName.h>

namespace pliant
{
class PLIANT_API SkinForce : public Object
{
public:
    SOFA_ABSTRACT_CLASS(SkinForce, Object);

    ModelLink<SkinForce> l_model;

    void init() override;
    void cleanup() override;
    PliSkinForce* force() const { return m_force.get(); }
    /// After each step: what the force says about itself.
    virtual void measured(double value) = 0;

protected:
    SkinForce();
    virtual PliSkinForce* make(const PliHost* host, const PliBody* body, PliError* error) = 0;
    AttributeData m_attributes;

private:
    struct Delete
    {
        void operator()(PliSkinForce* force) const { pli_skin_force_destroy(force); }
    };
    std::unique_ptr<PliSkinForce, Delete> m_force;
};

/// Contact between the separate pieces of one body.
class PLIANT_API PieceContact : public SkinForce
{
public:
    SOFA_CLASS(PieceContact, SkinForce);
    Data<double> d_depth;
    void measured(double value) override { d_depth.setValue(value); }

protected:
    PieceContact();
    PliSkinForce* make(const PliHost* host, const PliBody* body, PliError* error) override;
};

/// Draws the skin to a target surface.
class PLIANT_API SkinTarget : public SkinForce
{
public:
    SOFA_CLASS(SkinTarget, SkinForce);
    ::sofa::core::objectmodel::DataFileName d_filename;
    SingleLink<SkinTarget, Object, BaseLink::FLAG_STOREPATH | BaseLink::FLAG_STRONGLINK> l_target;
    Data<double> d_distance;
    void measured(double value) override { d_distance.setValue(value); }

protected:
    SkinTarget();
    PliSkinForce* make(const PliHost* host, const PliBody* body, PliError* error) override;
};
} // namespace pliant
