/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_THIN_H
#define PLI_THIN_H

// Points of a surface that stand for those around them: a body whose elements are large need not be touched at every point of a fine
// skin.

#include <pliant/base.h>

typedef struct PliSkin PliSkin;

typedef struct PliThin {
    PliIndex *point, count; ///< numbers in the skin, ascending
    double *area;           ///< m2, per point of the skin: that it stands for; of those that others stand for 0
    PliIndex all;           ///< points of the skin
    double spacing;         ///< m
} PliThin;

/// Points `spacing` (m) apart or more, sharp ones first: corners and edges are what planes meet. 0: all of them. What `thin` was is gone.
PliStatus pli_skin_thin(const PliSkin *skin, double spacing, PliThin *thin);
void pli_thin_free(const PliHost *host, PliThin *thin); ///< then it is empty; one that was zero may be freed, too

#endif
