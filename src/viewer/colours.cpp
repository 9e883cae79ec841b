/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/colours.h"

#include <cmath>

#include "host/picture.h"

namespace viewer
{

// the maps of the report's pictures, so that window and report show the same colours
static QColor toQt(PliColour c) { return QColor(c.r, c.g, c.b); }

QColor levelColour(int level) { return toQt(pli_map_level(level)); }
QColor rampColour(double t) { return toQt(pli_map_value(std::isfinite(t) ? t : 0.0)); }

QColor colourOf(Colour mode, double value, double max)
{
    if (mode == Colour::Level) return levelColour((int)value);
    return rampColour(max > 0 ? value / max : 0.0);
}

const char *colourTitle(Colour mode)
{
    switch (mode) {
    case Colour::Level: return "level of detail";
    case Colour::Error: return "distance to the reference, m";
    case Colour::Stress: return "von Mises stress, Pa";
    case Colour::Speed: return "speed, m/s";
    }
    return "";
}

} // namespace viewer
