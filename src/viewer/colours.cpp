/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "viewer/colours.h"

#include <cmath>

#include "host/report/picture.h"

namespace viewer
{

// the maps of the report's pictures, so that window and report show the same colours
static QColor toQt(PliColour c) { return QColor(c.r, c.g, c.b); }

QColor levelColour(int level, int levels) { return levels > 1 ? toQt(pli_map_level(level)) : QColor(196, 202, 212); }
QColor rampColour(double t) { return toQt(pli_map_value(std::isfinite(t) ? t : 0.0)); }

QColor bodyColour(const std::vector<BodyInfo> &bodies, size_t body)
{
    int index = 0;
    if (bodies[body].reference) return QColor(52, 56, 64);
    for (size_t k = 0; k < body; ++k) index += !bodies[k].reference;
    return toQt(pli_map_series(index));
}

std::array<std::array<float, 3>, 256> colourTable(Colour mode, int levels)
{
    std::array<std::array<float, 3>, 256> table;
    for (size_t i = 0; i < table.size(); ++i) {
        const QColor c = mode == Colour::Level ? levelColour(int(i), levels) : rampColour(double(i) / 255.0);
        table[i] = { float(c.redF()), float(c.greenF()), float(c.blueF()) };
    }
    return table;
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
