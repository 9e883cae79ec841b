/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// The differences between SOFA v24.12 and v26.06 that this plugin meets, all of them, in one place.

#include <sofa/version.h>

// The root class was renamed; the old name is an alias in v26.06 and its old header a deprecated one.
#if __has_include(<sofa/core/objectmodel/BaseComponent.h>)
#include <sofa/core/objectmodel/BaseComponent.h>
#else
#include <sofa/core/objectmodel/BaseObject.h>
#endif
#include <sofa/core/fwd.h>

namespace pliant
{
using Object = ::sofa::core::objectmodel::BaseObject;
using ::sofa::core::objectmodel::BaseContext;
using ::sofa::core::objectmodel::ComponentState;
} // namespace pliant
