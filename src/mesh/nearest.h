/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_NEAREST_H
#define PLI_NEAREST_H

#include <pliant/base.h>

/// Nearest of a fixed set of points, by a uniform grid of about one point a cell. Borrows `x` ([count, 3]).
typedef struct PliNearest {
    PliHost host;
    const double *x;
    PliIndex count, cells[3];
    double min[3], width;
    PliIndex *cell_first, *point;
} PliNearest;
PliStatus pli_nearest_init(PliNearest *n, const PliHost *host, const double *x, PliIndex count);
void pli_nearest_free(PliNearest *n);
/// Index of the nearest point for which accept(i, user) holds (NULL: all); ties go to the lowest index. PLI_NONE if none.
PliIndex pli_nearest_find(const PliNearest *n, const double p[3], bool (*accept)(PliIndex i, void *user), void *user);
/// Calls fn for every point within `radius` of p, in an order that only depends on the points.
void pli_nearest_within(const PliNearest *n, const double p[3], double radius, void (*fn)(PliIndex i, void *user),
                        void *user);

#endif
