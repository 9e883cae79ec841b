/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_FRAMES_H
#define PLIANT_FRAMES_H

// Tournier et al. 2014: affine frames that switch on and off by velocity. A point follows p = sum_i phi_i(X) U_i {xi_i, 1},
// xi_i = (X - x_i) / s_i, so that every frame is four Vec3 coefficients: three columns (rest: s_i e_c) and an origin (rest: x_i).
// Coefficients of frame i are dofs 4 i .. 4 i + 3. Doc: doc/schemes/frames.md.

#include <pliant/body.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PliFrameShape {
    PLI_FRAMES_LINEAR, ///< ratio of squared distances: linear between frames, for slender and skeleton layouts
    PLI_FRAMES_SMOOTH  ///< compact smooth weights: more frames per point, better for blobs
} PliFrameShape;

typedef enum PliAntilock {
    PLI_ANTILOCK_AUTO, ///< where frames vary along one direction only
    PLI_ANTILOCK_ON,
    PLI_ANTILOCK_OFF
} PliAntilock;

/// What the velocity difference of a candidate frame is measured with.
typedef enum PliFrameMetric {
    PLI_METRIC_KINETIC, ///< kinetic energy of the difference
    PLI_METRIC_CAMERA,  ///< kinetic energy x exp(-distance / radius), distance to criterion.point
    PLI_METRIC_REGION,  ///< kinetic energy, fading outside the sphere criterion.point, criterion.radius
    PLI_METRIC_MINIMUM  ///< least of the three
} PliFrameMetric;

/// Multiplies Young's modulus and the density at a rest point; both come in as 1.
typedef void PliFrameFieldFn(const double p[3], double *stiffness, double *density, void *user);

typedef struct PliFramesDef {
    /// criterion.threshold: eta as a fraction of the reference kinetic energy (PLI_BY_VELOCITY; contact, camera, region judge places);
    /// criterion.coarsen: hysteresis; criterion.hold: steps a frame keeps its state after a change.
    PliBodyDef base;
    const PliMesh *mesh;                       ///< closed surface, or tetrahedra; copied
    PliIndex resolution;                       ///< voxels along the longest side, used when voxel_size is 0
    double voxel_size;                         ///< m
    const double *tet_stiffness, *tet_density; ///< factors per tetrahedron, or NULL
    PliFrameFieldFn *field;                    ///< factors per voxel, or NULL
    void *field_user;

    PliIndex frame_count;
    int level_count; ///< 1 .. 8; 0: from the number of frames
    PliIndex
        level_frames[8];   ///< frames up to and including each level; all 0: a geometric series from 1 to frame_count
    const double *anchors; ///< m, frames at given places (clamped and loaded ends), shape [anchor_count, 3]
    const uint8_t *anchor_level; ///< or NULL: the first is the root, the others appear at level 1
    PliIndex anchor_count;
    int lloyd_iterations;

    PliFrameShape shape;
    double support;       ///< smooth weights: radius over the mean distance to neighbouring frames
    bool material_aware;  ///< distances grow where the material is soft
    PliIndex regions;     ///< most integration regions (four samples each); 0: eight per frame
    double linearity;     ///< regions split until this share of the gradients is not linear
    PliAntilock antilock; ///< selective lambda
    double mass_blend;    ///< share of lumped mass in the mass matrix: frames with linear weights are singular without
    bool merge;           ///< merge regions while running
    double merge_linearity; ///< as linearity, for merged regions

    PliFrameMetric metric;
    double reference_energy; ///< J; 0: the peak kinetic energy so far
    double growth; ///< s until one more frame may be active, from one at the start: coarse to fine; 0: no limit
    PliIndex
        polish; ///< bodies of up to so many frames relax to equilibrium once collapsed to the root (each time a few
                ///< solves of the full model); 0: none
} PliFramesDef;
PLI_API PliFramesDef pli_frames_default(void); ///< pli_body_default, implicit, judged by velocity
PLI_API PliBody *pli_frames_create(const PliHost *host, const PliFramesDef *def, PliError *err); ///< NULL: see err

/// Coefficients of the frame of an anchor, in the order of PliFramesDef.anchors: dofs 4 i .. 4 i + 3. PLI_NONE if it has none.
PLI_API PliIndex pli_frames_anchor(const PliBody *body, PliIndex anchor);
PLI_API PliIndex pli_frames_count(const PliBody *body); ///< active or not

typedef struct PliFramesInfo {
    PliIndex frames, active, candidates, regions, merged_regions, samples;
    double eta;                    ///< J, present threshold
    double kinetic_jump;           ///< J, largest at a transition since reset
    double jump;                   ///< m, largest motion of any coefficient at a transition since reset
    double merge_jump, split_jump; ///< relative, largest force jump at a merge or split since reset
    uint64_t activated, deactivated, merges, splits, polishes;
} PliFramesInfo;
PLI_API PliFramesInfo pli_frames_info(const PliBody *body); ///< as it is now

#ifdef __cplusplus
}
#endif
#endif
