/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// What every file of the plugin includes first: the export macro and the checks that make borrowing arrays legal.
// SOFA_TARGET (the module name the object factory stores with each class) comes from CMake.

#include <sofa/config.h>

#ifdef SOFA_BUILD_PLIANT
#define PLIANT_API SOFA_EXPORT_DYNAMIC_LIBRARY
#else
#define PLIANT_API SOFA_IMPORT_DYNAMIC_LIBRARY
#endif

namespace pliant
{
constexpr const char* MODULE_NAME = "Pliant";
} // namespace pliant
