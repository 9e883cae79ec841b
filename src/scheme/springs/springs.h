/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SPRINGS_H
#define PLI_SPRINGS_H

#include <pliant/scheme.h>
#include <pliant/springs.h>

#include "adapt/criterion.h"
#include "adapt/governor.h"
#include "scheme/springs/cut.h"
#include "scheme/springs/force.h"
#include "surface/triangle_tree.h"

typedef struct PliSprings {
    PliHost host;
    PliSpringsDef def; ///< mesh is NULL
    PliPyramid *pyramid;
    PliSpringsCut *cut;
    PliTriangleTree *tree;              ///< of the finest level at rest
    double size;                        ///< m, diagonal of the rest box
    double *star_size;                  ///< m, per star: mean length of the edges around
    double spacing[PLI_PYRAMID_LEVELS]; ///< m, per level: a vertex has a square of that side

    double stiffness; ///< N/m, mean of the springs of the base
    double young;     ///< Pa, that they were made with
    PliSpringsInfo info;

    // ---- the present cut in compact numbers: positions in cut->active ------------------------------------------------
    PliSpringForce force;
    PliSpringForce near; ///< of an event: what holds the vertices that are new; arrays of its own
    PliIndex *near_spring, *near_tri;
    double *near_stiffness, *near_length;
    PliIndex *spring, *tri;
    double *mass;          ///< kg, per active vertex
    double *rest;          ///< m, active Vec3
    double *step_work;     ///< 9 doubles an active vertex
    double critical_step;  ///< s
    PliTransfer *rows;     ///< W, flattened when somebody asks
    PliTransfer *old_rows; ///< as it was before
    bool rows_ready;
    uint8_t *rows_active;  ///< per vertex: was active when they were made; 2: nobody knows
    uint8_t *noted_active; ///< and when changes were last noted
    uint8_t *row_changed;  ///< scratch
    uint64_t *turned;      ///< per vertex: cut revision at which it was last put in or taken out
    uint64_t *
        row_revision; ///< per vertex, see PliSchemeStatic: right where somebody asked for the row since changes were noted ...
    uint32_t *row_noted, noted; ///< ... which was so many times
    PliIndex *some_first;       ///< the same of a few vertices, per vertex
    PliIndex *some_column;
    double *some_weight;
    double *dense; ///< scratch of flattening: per vertex
    PliIndex *touched;
    uint32_t *stamp, now; ///< followed in this pass
    bool
        looks_back; ///< an event has made its cut, and followers are where they were before: those with old_mass were active
    uint32_t *judged, event; ///< per vertex: event in which it was found whether its row is another one ...
    uint8_t *is_changed;     ///< ... which it is

    // ---- adaptation ----------------------------------------------------------------------------------------------------
    PliCriterion criterion;
    PliGovernor governor;
    uint8_t *pinned;              ///< per star: a fixed vertex needs it
    double *external;             ///< N, per vertex: forces of the host, then their size
    double *star_force;           ///< N, per star: what acts on it from outside
    bool pushed;                  ///< something acts from outside
    double rotation[9], shift[3]; ///< of the rigid body that fits best
    bool decided;
    PliIndex tried;                       ///< events in the last step, refused ones among them
    PliIndex *started, started_count;     ///< stars refined in this round
    PliIndex *candidate, candidate_count; ///< stars that may be put into the present cut ...
    bool candidates_listed;               ///< ... as soon as somebody asked
    uint32_t *retry;                      ///< per star: decision before which it is not tried again ...
    uint8_t *refusals;                    ///< ... because it was refused for its energy so many times in a row

    // one event
    double *old_mass;  ///< per vertex
    uint8_t *in_patch; ///< per vertex
    PliIndex *patch, patch_count;
    double *patch_mass, *saved_v, *saved_x;
    PliIndex *old_active, old_count;
    double *compact_x; ///< active Vec3
    double bank;       ///< J, that events have taken and not given back
    double passes;     ///< over all springs, that the events of this decision took
} PliSprings;

/// What an event takes before anything settles, in passes over all springs: a new cut, its critical step, two energies, and the points of a
/// skin around it before and after. Counted in instructions on a liver of 250 active vertices.
enum { PLI_SPRINGS_EVENT_PASSES = 16 };

typedef enum PliSpringsEvent {
    PLI_SPRINGS_DONE,
    PLI_SPRINGS_NOTHING,
    PLI_SPRINGS_TOO_COSTLY,
    PLI_SPRINGS_ADDS_ENERGY
} PliSpringsEvent;

// build.c: pyramid, tree, masses, springs
PliStatus pli_springs_build(PliSprings *s, const PliMesh *mesh, PliError *err);

// live.c: what follows from a cut
PliStatus pli_springs_live_create(PliSprings *s);
void pli_springs_live_destroy(PliSprings *s);
void pli_springs_live_refresh(PliSprings *s);               ///< after the cut changed
double pli_springs_step(PliSprings *s);                     ///< s, critical step of the present cut
double pli_springs_elastic(PliSprings *s, const double *x); ///< J, of the present cut; x in vertex numbers
void pli_springs_value(const PliSpringsCut *c, PliIndex v, const double *x, double p[3]); ///< where v follows to
/// Rows of vertices that follow others than before are those of the cut to come.
void pli_springs_note_rows(PliSprings *s, uint64_t revision);
PliRows pli_springs_rows(PliSprings *s); ///< W over all vertices; valid until the cut changes
/// The rows of the listed vertices alone, PLI_LOCATE_MAX of them at most.
PliRows pli_springs_rows_of(PliSprings *s, const PliIndex *dof, PliIndex count);
/// While an event looks back: whether its cut has another row for one of the listed vertices.
bool pli_springs_changes_rows(PliSprings *s, const PliIndex *dof, PliIndex count);
/// Values of the listed passive vertices, and of what they follow, into x.
void pli_springs_follow_some(PliSprings *s, const PliIndex *dof, PliIndex count, double *x);

// event.c
PliStatus pli_springs_event_create(PliSprings *s);
void pli_springs_event_destroy(PliSprings *s);
/// Puts a star in or takes it out and hands the motion over, or leaves everything as it was.
PliSpringsEvent pli_springs_event(PliSprings *s, PliBody *body, double *x, double *v, PliIndex star, bool in,
                                  bool forced, double most_work, double dt);
double pli_springs_work(PliSprings *s, const PliBodyDef *def, double dt); ///< springs evaluated in a step
double pli_springs_substeps(PliSprings *s, const PliBodyDef *def, double dt);

// judge.c
PliStatus pli_springs_judge_create(PliSprings *s);
void pli_springs_judge_destroy(PliSprings *s);
void pli_springs_judge(PliSprings *s, PliBody *body, double *x, double *v, double dt);
void pli_springs_judge_new(PliSprings *s, PliBody *body, double *x);

// adapt.c
bool pli_springs_adapt(void *self, PliBody *body, double *x, double *v, double dt);
void pli_springs_adapt_reset(PliSprings *s);
void pli_springs_pin(void *self, const uint8_t *fixed);

#endif
