/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_VALUE_H
#define PLI_VALUE_H

#include "host/graph/scene.h"

/// Reads the data's text (or `text`) into its value, as SOFA reads that type. Links are not resolved here.
PliStatus pli_value_parse(PliData *d, const char *text, PliError *err);
/// True when both texts mean the same value of that kind ("0.0" and "0", "false" and "0").
bool pli_value_same(PliKind kind, const char *a, const char *b);

#endif
