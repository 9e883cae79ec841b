/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// Lending SOFA's arrays to the C core without a copy. The packed layout this needs is checked here and nowhere else.

#include "sofa/compat.h"
#include "sofa/plugin.h"

#include <pliant/body.h>

#include <sofa/core/behavior/MechanicalState.h>
#include <sofa/defaulttype/VecTypes.h>
#include <sofa/helper/accessor.h>

#include <type_traits>

namespace pliant
{
using Vec3Types = ::sofa::defaulttype::Vec3Types;
using Vec3 = Vec3Types::Coord;
using VecCoord = Vec3Types::VecCoord;
using VecDeriv = Vec3Types::VecDeriv;
using MatrixDeriv = Vec3Types::MatrixDeriv;
using State = ::sofa::core::behavior::MechanicalState<Vec3Types>;
using ::sofa::core::objectmodel::BaseLink;
using ::sofa::core::objectmodel::Data;
using ::sofa::core::objectmodel::SingleLink;

/// False in a float build of SOFA: the plugin still compiles, and BodyModel::init refuses with one sentence.
constexpr bool PACKED_DOUBLES = std::is_same_v<Vec3Types::Real, double> && sizeof(Vec3) == 3 * sizeof(double);
static_assert(sizeof(::sofa::Index) == sizeof(PliIndex), "element arrays of SOFA are borrowed as they are");

/// The state behind `mstate`: a link since v25.12, a plain pointer in the constraint corrections before.
inline State* plain(State* state)
{
    return state;
}
template <class Link>
State* plain(const Link& link)
{
    return link.get();
}

/// Flat xyz view of a vector of Vec3. A template, so that a float build discards the branch it cannot compile.
template <class Vector>
auto flat(Vector& a) -> std::conditional_t<std::is_const_v<Vector>, const double*, double*>
{
    if constexpr (PACKED_DOUBLES)
        return a.empty() ? nullptr : a.front().ptr();
    else
        return nullptr;
}

/// A state lent to a body for one call: positions and velocities, nothing from outside.
inline PliState lend(double* x, double* v)
{
    PliState state{};
    state.x = x;
    state.v = v;
    return state;
}
} // namespace pliant
