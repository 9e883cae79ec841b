/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_CUT_CHECK_H
#define PLI_CUT_CHECK_H

#include <pliant/scheme.h>

/// Whether a cut keeps what PliCut and PliSchemeStatic promise the body: counts within capacities, numbers of coefficients and elements
/// within their lists and ascending where they must be, positive finite masses and weights, rows that name active coefficients.
bool pli_cut_is_valid(const PliCut *cut, const PliSchemeStatic *statics, PliError *err);

#endif
