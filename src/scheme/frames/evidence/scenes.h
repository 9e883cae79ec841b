/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FRAMES_SCENES_H
#define PLI_FRAMES_SCENES_H

// The scenes frames are timed on: a body, what it hangs on, what pushes it and when. Made without files, so that the command
// measures the same everywhere.

#include <pliant/frames.h>
#include <pliant/stages.h>

typedef struct PliFrameScene PliFrameScene;
struct PliFrameScene {
    const char *name;
    int steps;
    double dt;
    PliMesh *mesh;
    PliFramesDef def; ///< def.mesh is mesh
    double anchor[3 * 24];
    uint8_t anchor_level[24];
    PliIndex clamped; ///< anchors whose frame does not move (the first ones)
    // walls: half-spaces the skin is pushed out of by a pressure
    double wall_point[8][3], wall_normal[8][3];
    int walls;
    bool walls_off;     ///< taken away
    double ball_radius; ///< > 0: pieces are balls that push each other
    // a sphere that comes and goes
    double shoe[3], shoe_velocity[3], shoe_radius;
    double pressure; ///< N/m3 of contact
    double grip;     ///< s, damping of what touches over its stiffness
    double drag;     ///< 1/s
    /// Called before step k: may change gravity, loads, walls. Loads go to `load` (points of the skin, N each).
    void (*before)(PliFrameScene *scene, int k);
    double gravity[3];
    double load[3];       ///< N on each loaded place
    double place[3 * 24]; ///< rest places of loads
    int places;
    int quiet_from; ///< first step of the phase that is reported apart (the ball stack at rest); 0: none
    int quiet_to;
};

/// One body in a scene: state, skin rows, contact.
typedef struct PliFrameRun {
    PliHost host;
    PliFrameScene *scene;
    PliBody *body;
    PliState state;
    double *x, *v, *f;
    size_t dofs;
    PliIndex points; ///< of the skin
    PliIndex *row_first, *row_column;
    double *row_weight;
    size_t row_capacity;
    PliIndex *piece; ///< connected piece of each skin point
    PliIndex pieces;
    double *centre; ///< of each piece, this step, and the reaction on each of its points
    double *reach;  ///< m, of each piece around its centre
    uint8_t *near;  ///< pairs of pieces that may touch
    PliIndex *piece_points;
    double *at;             ///< skin positions
    double *push;           ///< N on every dof: reactions between pieces
    const double *velocity; ///< of all dofs, while contact is evaluated
    // what touches now
    PliPointForces touching;
    PliIndex points_touching, touch_capacity;
    PliIndex *touch_first, *touch_dof;
    double *touch_weight, *touch_force, *touch_stiffness, *touch_damping;
    double hardness; ///< N/m, pressure times the area of a skin point
} PliFrameRun;

bool pli_frame_run_open(PliFrameRun *run, PliFrameScene *scene, bool adapt, PliLinearSolver solver, PliError *err);
void pli_frame_run_close(PliFrameRun *run);
/// One step of the scene. False when it was not finite.
bool pli_frame_run_step(PliFrameRun *run, int k);

PliFrameScene *pli_frame_scene(const char *name,
                               PliError *err); ///< cantilever, branches, mushrooms, salad, single, stack
void pli_frame_scene_destroy(PliFrameScene *scene);

/// Tetrahedra of a box grid whose centre is inside; points that are not used are dropped.
typedef bool PliInsideFn(const double p[3], const void *user);
PliMesh *pli_mesh_carve(const PliHost *host, const PliBoxDef *box, PliInsideFn *inside, const void *user,
                        PliError *err);

#endif
