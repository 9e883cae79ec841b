/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

// Combinations of components that are known to go wrong, found when the scene is initialised. Each rule gives one
// sentence that says what to change; an empty string means that nothing is wrong.

#include <sofa/simulation/Node.h>

#include <string>

#include "sofa/compat.h"

namespace pliant
{
std::string refuseOwned(::sofa::simulation::Node* node, bool implicit); ///< AdaptiveSolver in `node`
std::string refuseStages(::sofa::simulation::Node* node);               ///< stock solver with our force field and mass

bool isFreeMotion(::sofa::simulation::Node* node);
bool hasPenaltyContact(::sofa::simulation::Node* node); ///< collision models under `node` that answer with springs

/// How many constraint corrections the whole scene has.
std::size_t correctionCount(BaseContext* context);

double contactFriction(::sofa::simulation::Node* node); ///< Coulomb coefficient of Lagrangian contacts in the scene

/// Takes corrections out of the node that would crash in the first step (they check their solver at init, and go on).
void removeUnusableCorrections(::sofa::simulation::Node* node);
} // namespace pliant
