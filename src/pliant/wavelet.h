/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_WAVELET_H
#define PLIANT_WAVELET_H

// Capell et al. 2002: subdivision wavelets on a control lattice. A point follows x = sum_a N_a(X) q_a over the vertices of the lattice
// (level 0, q_a a place) and over the new vertices of each finer level (q_a a detail, 0 at rest). Details switch on and off.
// Coefficients: first all of those, by level; then, for skins and hosts, the control vertices of levels 1, 2, ..., which always follow.
// Without adaptivity the lattice is subdivided first, and its vertices are the coefficients. Doc: doc/schemes/wavelet.md.

#include <pliant/body.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PliWaveletBasis {
    PLI_WAVELET_CC,       ///< volumetric Catmull-Clark, sharp where tagged
    PLI_WAVELET_BSWX,     ///< split and average: the same wherever the lattice is regular, never singular
    PLI_WAVELET_TRILINEAR ///< piecewise trilinear
} PliWaveletBasis;

typedef enum PliWaveletLaw {
    PLI_WAVELET_QUASI_LINEAR, ///< linear about the rest shape turned by the mean rotation
    PLI_WAVELET_LINEAR,       ///< small displacements only
    PLI_WAVELET_NONLINEAR     ///< base.material.law at Gauss points
} PliWaveletLaw;

typedef enum PliWaveletTransition {
    PLI_WAVELET_OFFSET, ///< what a new detail would jump by fades in, what an old one holds fades out
    PLI_WAVELET_PLAIN,  ///< on and off at once
    PLI_WAVELET_PAPER ///< first as oscillators beside the body, as the paper has them: linear laws, to be compared with
} PliWaveletTransition;

typedef enum PliWaveletTangent {
    PLI_WAVELET_TRUE, ///< steps are linearised with the true stiffness: iterations, with the factor at rest
    PLI_WAVELET_REST  ///< with the stiffness at rest, turned with the body: the factor at rest answers at once
} PliWaveletTangent;

typedef enum PliWaveletQuadrature {
    PLI_WAVELET_GAUSS,     ///< true gradients at Gauss points
    PLI_WAVELET_TETRAHEDRA ///< as in the paper: linear in the tetrahedra of cells subdivided twice; linear laws
} PliWaveletQuadrature;

typedef struct PliWaveletDef {
    /// criterion.threshold: a detail switches on when it would grow beyond this fraction of the largest displacement of the last
    /// second; criterion.coarsen: fraction of that below which it switches off.
    PliBodyDef base;
    const PliMesh *mesh; ///< copied; hexahedra (with repeated corners: prisms) and tetrahedra are the lattice ...
    PliIndex resolution; ///< ... or, when > 0, cubes around it are: so many along its longest side
    /// Closed surface or tetrahedra, read at creation: only what is inside counts, and the lattice lies around it. NULL: with resolution,
    /// `mesh`; otherwise the body fills its lattice.
    const PliMesh *surface;
    double box_min[3], box_max[3]; ///< m, without a mesh: a box ...
    PliIndex box_cells[3];         ///< ... of so many cells
    double sharp_angle;            ///< degrees: boundary edges bent by more stay sharp; 180: none
    int refine;                    ///< subdivisions of the lattice before anything else
    int levels;                    ///< of detail, 0 .. 4
    PliWaveletBasis basis;
    /// Trilinear: the skin and points that are touched, pulled or held are those of the smooth limit of the control vertices.
    bool smooth;
    PliWaveletLaw law;
    PliWaveletTangent tangent;       ///< of nonlinear bodies
    PliWaveletQuadrature quadrature; ///< of masses and of stiffness at rest
    PliWaveletTransition transition;
    double fade;   ///< s, of a transition
    double memory; ///< s, over which the largest displacement is remembered
} PliWaveletDef;
PLI_API PliWaveletDef pli_wavelet_default(void); ///< pli_body_default, implicit, and no lattice yet
PLI_API PliBody *pli_wavelet_create(const PliHost *host, const PliWaveletDef *def, PliError *err); ///< NULL: see err

typedef struct PliWaveletInfo {
    PliIndex functions, cells, irregular; ///< all levels; finest cells; those that are not tricubic
    PliIndex active, fading, candidates;  ///< now
    size_t matrix_entries;                ///< scalar ones of the present stiffness matrix, both triangles
    size_t full_entries;                  ///< with all functions active
    double singular;     ///< smallest singular value of the even part of subdivision, least over levels
    double displacement; ///< m, largest over the last `memory` seconds
    uint64_t activated, deactivated;
    double volume; ///< m3
} PliWaveletInfo;
PLI_API PliWaveletInfo pli_wavelet_info(const PliBody *body); ///< as it is now
/// Where each coefficient is at rest (dof_count Vec3): for details, the vertex they belong to. Valid for the body's life.
PLI_API const double *pli_wavelet_places(const PliBody *body);
/// Control vertices of the finest level, all at once: from coefficients, and back exactly (a sparse solve per level).
PLI_API PliIndex pli_wavelet_vertex_count(const PliBody *body);
PLI_API void pli_wavelet_synthesise(const PliBody *body, const double *x, double *vertex); ///< vertices of x
PLI_API PliStatus pli_wavelet_analyse(const PliBody *body, const double *vertex, double *x, PliError *err); ///< back
/// Switches coefficients on, all at once and for good until the next decision; for tests and studies. NULL: all.
PLI_API PliStatus pli_wavelet_activate(PliBody *body, const PliIndex *dofs, PliIndex count, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
