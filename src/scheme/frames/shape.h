/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FRAMES_SHAPE_H
#define PLI_FRAMES_SHAPE_H

#include <math.h>

#include "scheme/frames/layout.h"

/// Share of frame i against frame j at a point with squared distances di2 and dj2, half being 1/(2 apart^2) of the frames: 1 at i,
/// 0 at j, and exactly linear between them where distances are straight, because a difference of squared distances is. 0 for
/// half: the nearer one takes all.
/// Rejected: d_j / (d_i + d_j), and ratios to the border of the Voronoi cell: 50 to 90 % too stiff in bending.
static inline double pli_bisector(double di2, double dj2, double half)
{
    const double w = half > 0.0 ? 0.5 + (dj2 - di2) * half : di2 <= dj2 ? 1.0 : 0.0;
    return w < 0.0 ? 0.0 : w > 1.0 ? 1.0 : w;
}
static inline double pli_bisector_half(double apart)
{
    return isfinite(apart) && apart > 0.0 ? 0.5 / (apart * apart) : 0.0;
}

/// Fills phi and scale of a layout whose frames are placed. `owner` holds the nearest frame of every corner of a grid that is
/// the same or coarser: it only chooses which frames are looked at.
PliStatus pli_frame_shape_functions(PliFrameLayout *l, const PliVoxels *v, const PliVoxels *coarse,
                                    const PliIndex *owner, const PliFramesDef *def);

#endif
