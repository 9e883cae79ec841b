/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/report/picture.h"

#include <math.h>
#include <stdio.h>

double pli_colour_lightness(PliColour c)
{
    const unsigned char channel[3] = { c.r, c.g, c.b };
    const double weight[3] = { 0.2126, 0.7152, 0.0722 };
    double y = 0.0;
    for (int k = 0; k < 3; ++k) {
        const double s = channel[k] / 255.0;
        y += weight[k] * (s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4));
    }
    return y > 0.008856 ? 116.0 * cbrt(y) - 16.0 : 903.3 * y;
}

// Lightness 17, 31, 45, 59, 73, 90: a step of the value is a step of the lightness.
static const PliColour stop[] = { { 38, 34, 92 },   { 52, 70, 142 },   { 33, 111, 148 },
                                  { 30, 150, 140 }, { 108, 190, 104 }, { 240, 231, 96 } };
enum { STOPS = sizeof stop / sizeof *stop };

PliColour pli_map_value(double t)
{
    if (!(t > 0.0)) t = 0.0; // NaN too
    if (t > 1.0) t = 1.0;
    const double at = t * (STOPS - 1);
    int k = (int)at;
    if (k > STOPS - 2) k = STOPS - 2;
    const double f = at - k;
    const PliColour a = stop[k], b = stop[k + 1];
    return (PliColour){ (unsigned char)lround(a.r + f * (b.r - a.r)), (unsigned char)lround(a.g + f * (b.g - a.g)),
                        (unsigned char)lround(a.b + f * (b.b - a.b)) };
}

PliColour pli_map_level(int level)
{
    static const PliColour colour[8] = { { 48, 62, 140 },   { 40, 120, 190 }, { 62, 172, 170 }, { 250, 178, 62 },
                                         { 255, 236, 140 }, { 205, 82, 60 },  { 150, 60, 125 }, { 120, 120, 120 } };
    return colour[(level % 8 + 8) % 8];
}

PliColour pli_map_series(int series)
{
    static const PliColour colour[8] = { { 28, 74, 150 },  { 214, 98, 20 }, { 20, 140, 110 }, { 150, 48, 132 },
                                         { 80, 160, 215 }, { 110, 84, 28 }, { 196, 152, 10 }, { 90, 96, 106 } };
    return colour[(series % 8 + 8) % 8];
}

void pli_colour_hex(PliColour c, char text[8]) { snprintf(text, 8, "#%02x%02x%02x", c.r, c.g, c.b); }

static const PliColour ink = { 40, 44, 52 };

void pli_picture_legend_levels(PliPicture *p, int x, int y, int scale, int level_count, const char *title)
{
    const int side = 8 * scale, pitch = 11 * scale;
    pli_picture_text(p, x, y, scale, ink, title);
    y += pitch;
    for (int level = 0; level < level_count && level < 8; ++level) {
        char label[32];
        const char *which = level_count > 1 && level == 0                 ? " coarse"
                            : level_count > 1 && level == level_count - 1 ? " fine"
                                                                          : "";
        snprintf(label, sizeof label, "%d%s", level, which);
        pli_picture_box(p, x, y + level * pitch, side, side, pli_map_level(level));
        pli_picture_text(p, x + side + 3 * scale, y + level * pitch, scale, ink, label);
    }
}
