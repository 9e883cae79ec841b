/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_REMESH_BASE_H
#define PLI_REMESH_BASE_H

#include "scheme/springs/remesh.h"

/// Closed and manifold like `surface`, its vertices some of that one's.
PliStatus pli_remesh_collapse(const PliHost *host, const PliSurface *surface, PliIndex target, PliSurface *base,
                              PliError *err);

#endif
