/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <QColor>
#include <array>
#include <vector>

#include "viewer/snapshot.h"

namespace viewer
{

/// Colour-blind-safe: eight hues for levels, a dark-to-bright ramp for everything measured. `t` in [0, 1].
QColor levelColour(int level, int levels = 8); ///< grey for a body that has only one
QColor rampColour(double t);
/// The line of a body in plots, as in the report.
QColor bodyColour(const std::vector<BodyInfo> &bodies, size_t body);
/// One colour per value of [0, 1] in 256 steps, or per level: what a pane paints with.
std::array<std::array<float, 3>, 256> colourTable(Colour mode, int levels);
const char *colourTitle(Colour mode); ///< with its unit

} // namespace viewer
