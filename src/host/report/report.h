/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_COMPARE_REPORT_H
#define PLI_COMPARE_REPORT_H

// What people read after a comparison: one HTML file that needs no network, tables as CSV, pictures.

#include "host/compare/compare.h"
#include "host/report/picture.h"
#include "output/file.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A line of "what was this run on": "processor", "Xeon ...".
typedef struct PliFact {
    const char *name, *value;
} PliFact;

/// One scene and its comparison.
typedef struct PliChapter {
    const PliComparison *comparison;
    const char *title, *scene, *note; ///< note may be NULL
    double view[3], up[3];            ///< from where pictures are taken; zero: chosen
} PliChapter;

typedef struct PliReportDef {
    const PliChapter *chapter;
    int count;
    const char *command; ///< repeats it
    const PliFact *facts;
    int fact_count;
} PliReportDef;

PliStatus pli_report_html(const PliReportDef *def, PliText *t);
void pli_report_bodies_csv(const PliReportDef *def, PliText *t); ///< one row per body: the figures
void pli_report_series_csv(const PliReportDef *def, PliText *t); ///< one row per body and sample

typedef enum PliPictureKind { PLI_PICTURE_BY_LEVEL, PLI_PICTURE_BY_ERROR } PliPictureKind;
/// One body at one instant, with the tools, `width` x `height`. NULL: it did not get there, or no memory.
PliPicture *pli_report_picture(const PliChapter *chapter, int body, int shot, PliPictureKind kind, int width,
                               int height);
/// All bodies that finished, side by side at one instant, with names and legend: for a README. NULL: nothing to show, or no memory.
PliPicture *pli_report_panorama(const PliChapter *chapter, int shot, int width, int height);

extern const char pli_report_style[]; ///< CSS of all our pages

/// The error that is shown as the brightest colour, relative: one scale for all pictures of all reports.
#define PLI_REPORT_ERROR_SCALE 0.1

#ifdef __cplusplus
}
#endif
#endif
