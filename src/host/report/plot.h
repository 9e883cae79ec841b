/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_REPORT_PLOT_H
#define PLI_REPORT_PLOT_H

// Plots as SVG text: no script, no font, no network.

#include "host/report/picture.h"
#include "output/file.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PliMark { PLI_LINE, PLI_DASHED, PLI_DOTS, PLI_LINE_AND_DOTS, PLI_RING } PliMark;
typedef struct PliCurve {
    const char *label;        ///< in the legend; NULL: none
    const char *const *names; ///< shown beside each dot, or NULL
    const double *x, *y;      ///< points that are not finite (or not positive on a logarithmic axis) break the line
    size_t count;
    PliColour colour;
    PliMark mark;
} PliCurve;

typedef struct PliPlot {
    const char *title, *x_label, *y_label;
    bool log_x, log_y;
    bool from_zero; ///< a linear y axis begins at 0
    int width, height;
    const PliCurve *curve;
    int count;
    double line_x; ///< a vertical line, when `line_label` is given
    const char *line_label;
} PliPlot;
void pli_plot_svg(PliText *t, const PliPlot *plot);
extern const char pli_plot_style[]; ///< CSS of plots, for the page they are on

/// Bars of a histogram; one small plot.
void pli_plot_bars(PliText *t, const char *title, const char *x_label, double low, double high, const size_t *counts,
                   int bins, PliColour colour, int width, int height);

/// Round values inside [low, high] for an axis; up to `max`. @return how many
int pli_plot_ticks(double low, double high, bool log, double *tick, int max);

#ifdef __cplusplus
}
#endif
#endif
