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

typedef struct PliThinning {
    double spacing; ///< m, between points, sharp ones first: corners and edges are what planes meet. 0: all of them
    /// m, how far one may be above or below the tangent plane of who stands for it, where that is no edge: where a surface is curved there are
    /// more points. 0: it does not matter.
    double sag;
    const PliThin *from; ///< only of these, which stand for what they stand for there; NULL: of all
} PliThinning;

/// What `thin` was is gone.
PliStatus pli_skin_thin(const PliSkin *skin, const PliThinning *how, PliThin *thin);
void pli_thin_free(const PliHost *host, PliThin *thin); ///< then it is empty; one that was zero may be freed, too

#endif
