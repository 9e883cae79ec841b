/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SPRINGS_RIG_H
#define PLI_SPRINGS_RIG_H

// A body of springs with its state, as cases and timings set it up.

#include <pliant/springs.h>

typedef struct SpringsRig {
    PliHost host;
    PliMesh *mesh;
    PliBody *body;
    PliState state;
    double *x, *v, *f; ///< f: forces on vertices, zero
    PliIndex count;    ///< vertices of the finest level
} SpringsRig;

/// `asset` names a shipped mesh; def.mesh is set from it. Gravity is off unless the caller changes it in def.
bool springs_rig_open(SpringsRig *g, PliSpringsDef *def, const char *asset, PliError *err);
/// The same on a sphere of radius 1: an icosahedron cut four times.
bool springs_rig_ball(SpringsRig *g, PliSpringsDef *def, PliError *err);
void springs_rig_close(SpringsRig *g);
PliSpringsDef springs_rig_def(void); ///< the default, without gravity
/// Vertex below `limit` (vertices of a level are the first ones) that lies farthest along `direction`.
PliIndex springs_rig_extreme(const SpringsRig *g, const double direction[3], PliIndex limit);
/// Clamps what lies in the first `share` of the body along an axis.
PliStatus springs_rig_clamp(SpringsRig *g, int axis, double share, PliError *err);
/// Refines everywhere, to the finest level.
PliStatus springs_rig_refine_all(SpringsRig *g, int levels, PliError *err);

#endif
