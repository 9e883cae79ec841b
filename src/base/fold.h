/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FOLD_H
#define PLI_FOLD_H

#include <math.h>
#include <stdbool.h>

// Largest and smallest of a series for measures that must fail on NaN: fmax and fmin pass over it, these never let go of it.
static inline double pli_max(double a, double b) { return isnan(a) || a > b ? a : b; }
static inline double pli_min(double a, double b) { return isnan(a) || a < b ? a : b; }
/// Equal, or both missing.
static inline bool pli_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

#endif
