/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QColor>

#include "viewer/snapshot.h"

namespace viewer
{

/// Colour-blind-safe: eight hues for levels, a dark-to-bright ramp for everything measured. `t` in [0, 1].
QColor levelColour(int level);
QColor rampColour(double t);
QColor colourOf(Colour mode, double value, double max);
const char *colourTitle(Colour mode); ///< with its unit

} // namespace viewer
