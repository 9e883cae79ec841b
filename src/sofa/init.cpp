/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sofa/compat.h"
#include "sofa/plugin.h"

#include <pliant/base.h>

#include <sofa/core/ObjectFactory.h>
#include <sofa/helper/system/PluginManager.h>

namespace pliant
{
void registerModels(::sofa::core::ObjectFactory*);
void registerAdaptiveSolver(::sofa::core::ObjectFactory*);
void registerAdaptiveConstraintCorrection(::sofa::core::ObjectFactory*);
void registerAdaptiveForceField(::sofa::core::ObjectFactory*);
void registerAdaptiveMass(::sofa::core::ObjectFactory*);
void registerAdaptiveMask(::sofa::core::ObjectFactory*);
void registerAdaptiveMapping(::sofa::core::ObjectFactory*);
void registerAdaptiveSurface(::sofa::core::ObjectFactory*);
void registerTools(::sofa::core::ObjectFactory*);
void registerSkinForces(::sofa::core::ObjectFactory*);
void registerStepMonitors(::sofa::core::ObjectFactory*);
void registerComparisonMonitor(::sofa::core::ObjectFactory*);
void registerHaptics(::sofa::core::ObjectFactory*);
} // namespace pliant

extern "C"
{
    PLIANT_API void initExternalModule();
    PLIANT_API const char* getModuleName();
    PLIANT_API const char* getModuleVersion();
    PLIANT_API const char* getModuleLicense();
    PLIANT_API const char* getModuleDescription();
    PLIANT_API void registerObjects(::sofa::core::ObjectFactory* factory);
}

void initExternalModule() // called more than once: at load, and by every RequiredPlugin
{
    static bool first = true;
    if (!first)
        return;
    first = false;
    // loaded by its path from a folder that SOFA does not search: it knows the plugin, and would only say that it finds no such name
    auto& manager = ::sofa::helper::system::PluginManager::getInstance();
    if (!manager.findPlugin(pliant::MODULE_NAME).empty())
        manager.registerPlugin(pliant::MODULE_NAME);
}

const char* getModuleName()
{
    return pliant::MODULE_NAME;
}

const char* getModuleVersion()
{
    return PLI_VERSION_TEXT;
}

const char* getModuleLicense()
{
    return "LGPL-2.1-or-later";
}

const char* getModuleDescription()
{
    return "Adaptive deformable bodies: levels of detail that refine where and when a body needs it.";
}

void registerObjects(::sofa::core::ObjectFactory* factory)
{
    pliant::registerModels(factory);
    pliant::registerAdaptiveSolver(factory);
    pliant::registerAdaptiveConstraintCorrection(factory);
    pliant::registerAdaptiveForceField(factory);
    pliant::registerAdaptiveMass(factory);
    pliant::registerAdaptiveMask(factory);
    pliant::registerAdaptiveMapping(factory);
    pliant::registerAdaptiveSurface(factory);
    pliant::registerTools(factory);
    pliant::registerSkinForces(factory);
    pliant::registerStepMonitors(factory);
    pliant::registerComparisonMonitor(factory);
    pliant::registerHaptics(factory);
}
