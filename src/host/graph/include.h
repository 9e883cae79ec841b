/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_INCLUDE_H
#define PLI_INCLUDE_H

#include "host/graph/scene.h"

/// Puts the files of every <include href=""/> in its place, with SOFA's attribute overrides and Group and _Merge_ names.
PliStatus pli_include_expand(PliScene *scene, PliXml *root);

#endif
