/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_BODIES_H
#define PLI_BODIES_H

// The bodies of a running scene, for whoever shows or measures them.

#include <pliant/body.h>

#include "host/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliSceneBody {
    const char *name; ///< of the node it is in
    PliBody *body;
    double *x, *v; ///< its state, dof_count Vec3
    const PliTool *tools;
    int tool_count;
    bool is_reference;
} PliSceneBody;

/// Fills up to `capacity` bodies in the order of the graph; pointers live as long as the scene. @return how many there are.
int pli_scene_bodies(PliScene *scene, PliSceneBody *out, int capacity);
/// Every tool of the scene goes where `target` says instead of along its path; NULL gives it back to its path. It moves
/// there at ten radii a second at most. Call it between steps.
void pli_scene_steer(PliScene *scene, const double target[3]);

#ifdef __cplusplus
}
#endif
#endif
