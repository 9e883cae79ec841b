/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_FRAMES_H
#define PLI_FRAMES_H

// What the files of the frames scheme share.

#include "adapt/criterion.h"
#include "adapt/governor.h"
#include "scheme/frames/dag.h"
#include "scheme/frames/regions.h"
#include "kernel/elastic_state.h"

/// A node of the region tree in terms of active frames and candidates: its four samples there. Leaves are made from the finest
/// gradients, inner nodes from their two children.
typedef struct PliFramePack {
    size_t first;      ///< place in pack_column; gradients at 48 times it, rest forces at 12 times it
    PliIndex capacity; ///< frames it may hold
    PliIndex used;
    uint64_t stamp; ///< revision of the graph it was made with, 0: never
    bool fits;      ///< inner node: may stand for its children
    bool loose;     ///< not exactly: only while its strain hardly changes
    bool live, was_live;
    bool antilock;
    double volume, stiffness; ///< m3, factor of Young's modulus
    double point[4][3];       ///< m, places of the samples
    double s0[4][6];          ///< Pa, stress offset: zero for a leaf
    double strain[4][6];      ///< at which the offset was measured
    double mean[9];           ///< mean F then
} PliFramePack;

typedef struct PliFrames {
    PliHost host;
    PliFramesDef def; ///< borrowed pointers inside are not used after creation
    PliVoxels *voxels;
    PliFrameLayout *layout;
    PliFrameRegions *regions;
    PliFrameMass *mass;
    PliDag *dag;
    PliIndex count, dof_count;
    double *rest;
    uint8_t *dof_level;
    uint64_t *row_revision;
    double *load; ///< kg, int rho N of every coefficient
    PliIndex *anchor_frame;
    PliIndex anchor_count;
    double *surface_points;
    PliIndex *surface_tris;
    PliIndex surface_point_count, surface_tri_count;

    // the region tree, contracted
    PliFramePack *pack;   ///< per node, children first
    double (*merger)[32]; ///< per inner node: four samples from the eight of its children
    PliIndex *pack_column;
    double *pack_grad; ///< [4 samples, used, 4, 3] per node
    double *
        pack_rest; ///< [used, 4, 3] per node: forces its offset does not carry column by column, in the frame of `mean`
    size_t pack_capacity;
    PliIndex *front, front_count; ///< live nodes: every finest region below exactly one of them
    const double *front_v;        ///< velocities to judge calm with, or NULL: all is calm
    double front_dt;
    bool front_strict; ///< no new loose merges: something has just begun or ceased to move
    PliLame lame;

    // the cut
    PliIndex *active;
    double *cut_mass, *cut_load;
    PliIndex *mass_first, *mass_column;
    double *mass_value;
    PliIndex *sample_first, *sample_dof;
    double *sample_grad, *sample_volume, *sample_stiffness, *sample_bulk, *sample_s0;
    PliIndex active_count, sample_count, sample_capacity;
    size_t mass_capacity, sample_entry_capacity;
    bool has_antilock;
    uint64_t cut_revision; ///< of the graph

    // adaptation
    uint8_t *fixed;        ///< per coefficient: the host moves it
    double *force;         ///< N, on every coefficient now
    double *hat;           ///< N, the same gathered on active frames and candidates
    double *push;          ///< N, of these what the motion did not use
    double *hat_mass;      ///< kg, [count, 16]: lumped mass gathered the same way
    double *hat_stiffness; ///< N/m, [count, 16]
    uint64_t hat_revision;
    double *v_before;   ///< m/s, all coefficients now
    double *momentum;   ///< scratch, per coefficient
    double *solve;      ///< scratch of the projection
    double *score;      ///< J, of the candidates
    PliIndex *age;      ///< per frame, decisions since the last change, less those in which it was not calm
    uint8_t *wish;      ///< decision at hand, per frame
    uint64_t predicted; ///< revision of the graph the stored prediction belongs to, 0: none
    double predicted_dt;
    double foresight; ///< s, over which forces are judged
    double peak_kinetic, eta, since_decision;
    double since_look;        ///< s, since the motion was looked at
    double time;              ///< s since the start
    PliGovernor governor;     ///< of active frames
    bool decided;             ///< in the last step
    double peak_force;        ///< N, largest force of a merged region on its active frames
    PliIndex still;           ///< decisions without a change, of regions either
    PliIndex since_change;    ///< decisions since the set changed
    PliIndex since_nap;       ///< and since not all frames are active any more
    PliIndex nap_wait;        ///< decisions with all frames active until some may sleep again
    bool polished;            ///< since the last change
    bool retuned;             ///< the material is another one since the last step
    PliIndex polish_failures; ///< one after the other
    PliIndex polish_wait;     ///< decisions of stillness before the next attempt
    PliFramesInfo info;
    // scratch
    PliIndex *slot;
    double *dense, *product; ///< [count, 16]
    uint8_t *mark[2];        ///< per frame
    PliIndex *list[2];
    PliIndex *row_first, *row_item; ///< frames by the active frames they follow
    size_t *row_entry;
} PliFrames;

// frames_cut.c
PliStatus pli_frames_cut_create(PliFrames *s);
void pli_frames_cut_destroy(PliFrames *s);
/// Brings the cut arrays up to the present graph; offsets of merged regions are measured at coefficients x (NULL: at rest).
void pli_frames_refresh_cut(PliFrames *s, const double *x);
void pli_frames_cut(void *self, PliCut *cut);
void pli_frames_refresh_samples(PliFrames *s); ///< the same for a new front alone
// frames_merge.c
PliStatus pli_frames_merge_create(PliFrames *s);
void pli_frames_merge_destroy(PliFrames *s);
bool pli_frames_refresh_front(PliFrames *s, const double *x); ///< false: more frames meet in a region than fit
/// Which offsets are measured again: all, those of regions whose strain has changed since by more than rounding, or by enough to matter.
typedef enum PliFrameOffsets { PLI_OFFSETS_ALL, PLI_OFFSETS_MOVED, PLI_OFFSETS_STALE } PliFrameOffsets;
/// Measures again offsets of merged regions. True when one changed (sample_s0 is up
/// to date then). What the force changes by is what it would change by if the region were split: info.split_jump.
bool pli_frames_refresh_offsets(PliFrames *s, const double *x, PliFrameOffsets which);
/// Splits merged regions that are no longer calm and, when asked to look, merges those that have become so. True when the
/// front changed; the cut arrays are up to date then, the active set is the same.
bool pli_frames_update_front(PliFrames *s, const double *x, const double *v, double dt, bool look);
void pli_frames_add_rest_forces(const PliFrames *s, const double *x, double *hat); ///< on candidates, 4 Vec3 per frame
/// The part of the active frames' motion that moves no two points against each other, and the energies.
typedef struct PliRigidMotion {
    double centre[3], velocity[3];    ///< m, m/s
    double angular[3];                ///< kg m2/s, about the centre
    double inverse_inertia[9];        ///< 1/(kg m2), 0: a body on one line
    double spin[3];                   ///< 1/s
    double kinetic, inner, vibration; ///< J: all of it, without that of the flight, and without that of the spin either
} PliRigidMotion;
// motion.c
PliRigidMotion pli_frames_rigid_motion(const PliFrames *s, const double *x, const double *v);
double pli_frames_kinetic_energy(const PliFrames *s, const double *v); ///< J, of the active frames
void pli_frames_find_momentum(PliFrames *s, const double *v); ///< of every coefficient, into s->momentum; v complete
/// M_A v_A = momentum, which is summed on the active frames; begins with what v has.
void pli_frames_solve_mass(PliFrames *s, const double *momentum, double *v);
void pli_frames_project_velocity(PliFrames *s, double *v); ///< active frames keep most of the motion of s->momentum
// frames_polish.c
/// Towards equilibrium with all frames, then back to the root. False: none is near; all frames are active now.
bool pli_frames_polish(PliFrames *s, PliBody *body, double *x, double *v, double dt);
// frames_adapt.c
PliStatus pli_frames_adapt_create(PliFrames *s);
void pli_frames_adapt_destroy(PliFrames *s);
void pli_frames_adapt_reset(PliFrames *s);
bool pli_frames_adapt(void *self, PliBody *body, double *x, double *v, double dt);

#endif
