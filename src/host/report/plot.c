/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 64, RIGHT = 16, TOP = 30, BOTTOM = 46, TICKS = 16, LEGEND_ROW = 17, DRAWN_MAX = 600 };

typedef struct Axis {
    double low, high;
    bool log;
    double from, to; ///< pixels
} Axis;

static bool usable(const Axis *a, double value) { return isfinite(value) && (!a->log || value > 0.0); }

static double at(const Axis *a, double value)
{
    const double part = a->log ? log(value / a->low) / log(a->high / a->low) : (value - a->low) / (a->high - a->low);
    return a->from + part * (a->to - a->from);
}

int pli_plot_ticks(double low, double high, bool log, double *tick, int max)
{
    int count = 0;
    if (log) {
        const int first = (int)ceil(log10(low) - 1e-9), last = (int)floor(log10(high) + 1e-9);
        const bool fine = last - first < 2; // few decades: 2 and 5 too
        for (int e = first - 1; e <= last && count < max; ++e)
            for (int k = 0; k < (fine ? 3 : 1) && count < max; ++k) {
                const double value = pow(10.0, e) * (k == 0 ? 1.0 : k == 1 ? 2.0 : 5.0);
                if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) tick[count++] = value;
            }
        return count;
    }
    double step = pow(10.0, floor(log10((high - low) / 4.0)));
    const double wanted = (high - low) / 5.5;
    step *= step >= wanted ? 1.0 : 2.0 * step >= wanted ? 2.0 : 5.0 * step >= wanted ? 5.0 : 10.0;
    for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && count < max; ++k)
        tick[count++] = k * step;
    return count;
}

static void number_label(double value, char *text, size_t size)
{
    if (value == 0.0 || fabs(value) < 1e-300)
        snprintf(text, size, "0");
    else
        snprintf(text, size, "%.6g", value);
}

static void set_range(Axis *a, bool from_zero)
{
    if (!(a->low <= a->high)) a->low = a->log ? 0.1 : 0.0, a->high = 1.0; // nothing to show
    if (a->log) {
        const double room = fmax(1.15, pow(a->high / a->low, 0.06));
        a->low /= room;
        a->high *= room;
        return;
    }
    if (from_zero) a->low = fmin(a->low, 0.0), a->high = fmax(a->high, 0.0);
    const double span = a->high > a->low ? a->high - a->low : fmax(1e-12, 0.1 * fabs(a->high));
    if (!from_zero) a->low -= 0.04 * span;
    a->high += 0.06 * span;
}

static void include(Axis *a, double value)
{
    if (!usable(a, value)) return;
    a->low = fmin(a->low, value);
    a->high = fmax(a->high, value);
}

static void draw_axis(PliText *t, const Axis *a, bool upright, const Axis *other, const char *label)
{
    double tick[TICKS];
    const int count = pli_plot_ticks(a->low, a->high, a->log, tick, TICKS);
    for (int k = 0; k < count; ++k) {
        char text[32];
        const double p = at(a, tick[k]);
        number_label(fabs(tick[k]) < 1e-9 * (a->high - a->low) ? 0.0 : tick[k], text, sizeof text);
        if (upright)
            pli_text_print(
                t,
                "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
                other->from, p, other->to, other->from - 6, p + 4, text);
        else
            pli_text_print(t,
                           "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
                           "text-anchor=\"middle\">%s</text>",
                           p, other->from, other->to, p, other->from + 16, text);
    }
    const double middle = 0.5 * (a->from + a->to);
    if (upright)
        pli_text_print(t, "<text class=\"label\" transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\">",
                       middle);
    else
        pli_text_print(t, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", middle,
                       other->from + 36);
    pli_text_escape(t, label);
    pli_text_put(t, "</text>");
}

/// A long series is thinned to its extremes in each stretch, so that no peak is lost.
static void draw_line(PliText *t, const PliCurve *c, const Axis *x, const Axis *y, const char *colour)
{
    const size_t stretch = c->count > DRAWN_MAX ? (c->count + DRAWN_MAX / 2 - 1) / (DRAWN_MAX / 2) : 1;
    bool drawing = false;
    pli_text_print(t, "<path class=\"curve\" stroke=\"%s\"%s d=\"", colour,
                   c->mark == PLI_DASHED ? " stroke-dasharray=\"6 4\"" : "");
    for (size_t first = 0; first < c->count; first += stretch) {
        size_t low = first, high = first;
        const size_t last = first + stretch < c->count ? first + stretch : c->count;
        for (size_t k = first; k < last; ++k) {
            if (usable(y, c->y[k]) && (!usable(y, c->y[low]) || c->y[k] < c->y[low])) low = k;
            if (usable(y, c->y[k]) && (!usable(y, c->y[high]) || c->y[k] > c->y[high])) high = k;
        }
        const size_t pick[2] = { low < high ? low : high, low < high ? high : low };
        for (int k = 0; k < (pick[0] == pick[1] ? 1 : 2); ++k) {
            const double px = c->x[pick[k]], py = c->y[pick[k]];
            if (!usable(x, px) || !usable(y, py)) {
                drawing = false;
                continue;
            }
            pli_text_print(t, "%s%.1f %.1f", drawing ? "L" : "M", at(x, px), at(y, py));
            drawing = true;
        }
    }
    pli_text_put(t, "\"/>");
}

static void draw_dots(PliText *t, const PliCurve *c, const Axis *x, const Axis *y, const char *colour)
{
    for (size_t k = 0; k < c->count; ++k) {
        if (!usable(x, c->x[k]) || !usable(y, c->y[k])) continue;
        const double px = at(x, c->x[k]), py = at(y, c->y[k]);
        if (c->mark == PLI_RING)
            pli_text_print(t,
                           "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>",
                           px, py, colour);
        else
            pli_text_print(t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"%s\"><title>%g, %g</title></circle>",
                           px, py, colour, c->x[k], c->y[k]);
        if (!c->names || !c->names[k]) continue;
        const bool left = px > 0.75 * x->to + 0.25 * x->from; // keeps the name in the frame
        pli_text_print(t, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" style=\"fill:%s\" class=\"name\">",
                       px + (left ? -12 : 12), py - 7, left ? "end" : "start", colour);
        pli_text_escape(t, c->names[k]);
        pli_text_put(t, "</text>");
    }
}

static int legend_rows(const PliPlot *plot, int *per_row)
{
    size_t widest = 0;
    int labels = 0;
    for (int k = 0; k < plot->count; ++k) {
        if (!plot->curve[k].label) continue;
        ++labels;
        if (strlen(plot->curve[k].label) > widest) widest = strlen(plot->curve[k].label);
    }
    *per_row = (plot->width - LEFT) / (int)(44 + 7 * widest);
    if (*per_row < 1) *per_row = 1;
    return (labels + *per_row - 1) / *per_row;
}

static void draw_legend(PliText *t, const PliPlot *plot, int per_row, double top)
{
    int shown = 0;
    for (int k = 0; k < plot->count; ++k) {
        const PliCurve *c = &plot->curve[k];
        if (!c->label) continue;
        char colour[8];
        const double x = LEFT + (double)(plot->width - LEFT) / per_row * (shown % per_row),
                     y = top + LEGEND_ROW * (shown / per_row);
        pli_colour_hex(c->colour, colour);
        if (c->mark == PLI_DOTS)
            pli_text_print(t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"%s\"/>", x + 11, y, colour);
        else if (c->mark == PLI_RING)
            pli_text_print(
                t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"6.5\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>",
                x + 11, y, colour);
        else
            pli_text_print(t, "<path class=\"curve\" stroke=\"%s\"%s d=\"M%.1f %.1fh22\"/>", colour,
                           c->mark == PLI_DASHED ? " stroke-dasharray=\"6 4\"" : "", x, y);
        pli_text_print(t, "<text x=\"%.1f\" y=\"%.1f\">", x + 28, y + 4);
        pli_text_escape(t, c->label);
        pli_text_put(t, "</text>");
        ++shown;
    }
}

const char pli_plot_style[] =
    ".plot{max-width:100%;height:auto}"
    ".plot text{font:12px system-ui,sans-serif;fill:#3a404c}.plot "
    ".title{font-size:14px;font-weight:600;fill:#23262d}.plot .label{fill:#555c69}"
    ".plot "
    ".name{font-weight:600}.grid{stroke:#e7eaf0;stroke-width:1;fill:none}.frame{stroke:#8b93a3;stroke-width:1;fill:"
    "none}"
    ".mark{stroke:#8b93a3;stroke-dasharray:3 3;fill:none}.curve{fill:none;stroke-width:1.8;stroke-linejoin:round}";

static void begin_svg(PliText *t, const char *title, int width, int height)
{
    pli_text_print(t, "<svg class=\"plot\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\"><title>",
                   width, height, width, height);
    pli_text_escape(t, title);
    pli_text_print(t, "</title><text class=\"title\" x=\"%d\" y=\"18\">", LEFT);
    pli_text_escape(t, title);
    pli_text_put(t, "</text>");
}

void pli_plot_svg(PliText *t, const PliPlot *plot)
{
    int per_row;
    const int rows = legend_rows(plot, &per_row);
    Axis x = { INFINITY, -INFINITY, plot->log_x, LEFT, plot->width - RIGHT };
    Axis y = { INFINITY, -INFINITY, plot->log_y, plot->height - BOTTOM - rows * LEGEND_ROW, TOP };
    for (int k = 0; k < plot->count; ++k)
        for (size_t i = 0; i < plot->curve[k].count; ++i) {
            if (!usable(&y, plot->curve[k].y[i]) || !usable(&x, plot->curve[k].x[i])) continue;
            include(&x, plot->curve[k].x[i]);
            include(&y, plot->curve[k].y[i]);
        }
    if (plot->line_label) include(&x, plot->line_x);
    set_range(&x, false);
    set_range(&y, plot->from_zero);
    begin_svg(t, plot->title, plot->width, plot->height);
    draw_axis(t, &x, false, &y, plot->x_label);
    draw_axis(t, &y, true, &x, plot->y_label);
    pli_text_print(t, "<path class=\"frame\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", x.from, y.to, y.from, x.to);
    if (plot->line_label && usable(&x, plot->line_x)) {
        const double p = at(&x, plot->line_x);
        const bool left = p > 0.5 * (x.from + x.to);
        pli_text_print(t, "<path class=\"mark\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                       p, y.from, y.to, p + (left ? -6 : 6), y.to + 12, left ? "end" : "start");
        pli_text_escape(t, plot->line_label);
        pli_text_put(t, "</text>");
    }
    for (int k = 0; k < plot->count; ++k) {
        char colour[8];
        pli_colour_hex(plot->curve[k].colour, colour);
        if (plot->curve[k].mark != PLI_DOTS && plot->curve[k].mark != PLI_RING)
            draw_line(t, &plot->curve[k], &x, &y, colour);
        if (plot->curve[k].mark != PLI_LINE && plot->curve[k].mark != PLI_DASHED)
            draw_dots(t, &plot->curve[k], &x, &y, colour);
    }
    draw_legend(t, plot, per_row, y.from + BOTTOM + 4);
    pli_text_put(t, "</svg>\n");
}

void pli_plot_bars(PliText *t, const char *title, const char *x_label, double low, double high, const size_t *counts,
                   int bins, PliColour colour, int width, int height)
{
    size_t most = 1;
    char hex[8];
    for (int k = 0; k < bins; ++k)
        if (counts[k] > most) most = counts[k];
    const Axis x = { low, high > low ? high : low + 1.0, false, LEFT, width - RIGHT },
               y = { 0.0, (double)most * 1.05, false, height - BOTTOM, TOP };
    pli_colour_hex(colour, hex);
    begin_svg(t, title, width, height);
    draw_axis(t, &x, false, &y, x_label);
    draw_axis(t, &y, true, &x, "steps");
    for (int k = 0; k < bins; ++k) {
        if (counts[k] == 0) continue;
        const double left = x.from + (x.to - x.from) * k / bins, right = x.from + (x.to - x.from) * (k + 1) / bins,
                     top = at(&y, (double)counts[k]);
        pli_text_print(t, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>", left, top,
                       fmax(0.5, right - left - 0.5), y.from - top, hex);
    }
    pli_text_print(t, "<path class=\"frame\" d=\"M%.1f %.1fV%.1fH%.1f\"/></svg>\n", x.from, y.to, y.from, x.to);
}
