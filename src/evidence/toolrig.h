/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TOOLRIG_H
#define PLI_TOOLRIG_H

// A body of any scheme at rest, the part of it that is held, and a tool: what cases with a tool share.

#include <pliant/body.h>

enum { PLI_TOOLRIG_MESHES = 4 };

typedef struct PliToolRig {
    PliHost host;
    PliMesh *mesh[PLI_TOOLRIG_MESHES]; ///< what the body is made of, or NULL
    PliBody *body;
    double *x, *v; ///< dof_count Vec3
    PliIndex count;
    PliTool tool;
} PliToolRig;

/// Whether a place at rest is held.
typedef bool PliToolRigHeldFn(const double p[3], void *user);

/// State of g->body, at rest. False: no memory.
bool pli_toolrig_begin(PliToolRig *g, PliError *err);
/// Fixes coefficients by place: of a frame all four, by its middle; of a detail by its vertex. Refuses when none is.
PliStatus pli_toolrig_hold(PliToolRig *g, PliToolRigHeldFn *held, void *user, PliError *err);
/// A step with the tool where it is, then the tool where its velocity takes it. False: the body diverged.
bool pli_toolrig_step(PliToolRig *g, double dt, PliError *err);
void pli_toolrig_close(PliToolRig *g); ///< everything, also of a rig that was not begun

#endif
