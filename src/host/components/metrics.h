/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_METRICS_H
#define PLI_METRICS_H

// How far two surfaces with the same triangles are apart, and what a series of numbers looks like. Arrays in, numbers out.

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliGap {
    double rms, max; ///< m
} PliGap;
/// Distance of corresponding points. `weight` (may be NULL: all equal) makes the mean one over the area, not over the points.
/// Points of zero weight count for neither. All zero: 0, 0.
PliGap pli_gap(const double *a, const double *b, const double *weight, PliIndex count);
/// A third of the area of the triangles around each point, m2.
void pli_point_areas(const double *x, PliIndex count, const PliIndex *tris, PliIndex tri_count, double *area);
typedef struct PliSpread {
    double min, median, p99, max, mean; ///< p99: nearest rank
} PliSpread;
/// Of finite numbers; others are left out. Nothing left: zeros. `scratch` has room for `count` numbers.
PliSpread pli_spread(const double *value, size_t count, double *scratch);
/// counts[k]: values in [low + k w, low + (k+1) w), the last bin closed.
void pli_histogram(const double *value, size_t count, double low, double high, int bins, size_t *counts);
/// Marks the points that no other point beats in both cost and error (smaller is better). Ties stay in.
void pli_pareto(const double *cost, const double *error, int count, bool *best);

#ifdef __cplusplus
}
#endif
#endif
