/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_BODIES_H
#define PLI_BODIES_H

// The bodies of a running scene, for whoever shows, measures or touches them.

#include <pliant/body.h>

#include "host/graph/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliSceneBody {
    const char *name; ///< of the node it is in
    PliBody *body;
    double *x, *v; ///< its state, dof_count Vec3
    const PliTool *tools;
    int tool_count;
    bool is_reference; ///< of the ComparisonMonitor; without one the first uniform body, when there are others
} PliSceneBody;

/// Fills up to `capacity` bodies in the order of the graph; pointers live as long as the scene. @return how many there are.
int pli_scene_bodies(PliScene *scene, PliSceneBody *out, int capacity);
/// The direction from the bodies to the eye that the scene's ComparisonMonitor asks for; false: none.
bool pli_scene_view(const PliScene *scene, double view[3]);

// ---- hands: call these between steps --------------------------------------------------------------------------------------

/// Tool number `tool` of every body goes where `target` says instead of along its path; NULL gives it back to its path. It
/// moves there at ten radii a second at most. Planes stay where they are.
void pli_scene_steer(PliScene *scene, int tool, const double target[3]);

/// The same for one body and as fast as the target goes: a hand that is a device.
void pli_scene_lead(PliScene *scene, int body, int tool, const double target[3]);
/// Where the scene has a tool at `time`, m. @return false: there is no such tool
bool pli_scene_tool_path(PliScene *scene, int body, int tool, double time, double p[3]);

/// A spring between a patch of the skin and a place.
typedef struct PliGrip {
    double at[3];     ///< m, on the skin at rest
    double radius;    ///< m, of the patch at rest, > 0; the same patch on every skin, however fine
    double target[3]; ///< m, where the point at `at` is pulled to
    double stiffness; ///< N/m; 0: about as stiff as the body under the patch
} PliGrip;
/// Holds every body by the same patch; NULL lets go.
PliStatus pli_scene_grab(PliScene *scene, const PliGrip *grip, PliError *err);

/// The value of an attribute that may change while a scene runs: a multiple of the scene's, or (PliSlide.absolute) a value of its own.
typedef struct PliTuning {
    const char *name;
    double value;
} PliTuning;
/// All changes of a body against its scene, at once; attributes that its scheme has not are left out.
PliStatus pli_scene_tune(PliScene *scene, int body, const PliTuning *tuning, int count, PliError *err);

/// A body that diverged keeps its last good state. Switches such bodies off, so that the others can go on.
/// @return how many were switched off now
int pli_scene_drop_diverged(PliScene *scene);
bool pli_scene_body_dropped(PliScene *scene, int body);

#ifdef __cplusplus
}
#endif
#endif
