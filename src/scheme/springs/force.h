/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SPRINGS_FORCE_H
#define PLI_SPRINGS_FORCE_H

// Springs between points, and the pressure of what a closed surface holds. Arrays in, arrays out; numbers of points are the
// caller's.
//
//   E = sum k/2 (l - r)^2 + B V0/2 (V/V0 - 1)^2,  f = -dE/dx

#include <pliant/stages.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PliSpringForce {
    PliHost host;
    PliIndex point_count, spring_count, tri_count;
    const PliIndex *spring;  ///< shape [spring_count, 2]
    const double *stiffness; ///< N/m
    const double *length;    ///< m, at rest
    double damping;          ///< s: a spring resists its stretching with damping x stiffness
    const PliIndex *tri;     ///< shape [tri_count, 3], outward
    double bulk;             ///< B, Pa; 0: no volume term
    double volume;           ///< V0, m3
    const double *about;     ///< where the volume is measured from; NULL: one of the points
    double beyond;           ///< m3, of triangles that are not listed, seen from there
    // scratch
    double *normal; ///< m2, shape [tri_count, 3]: twice the area
    // of the last linearize
    double *along, *across; ///< N/m, per spring: its stiffness in its direction, and beside it
    double *axis;           ///< its direction, shape [spring_count, 3]
    double *gradient;       ///< m2, dV/dx per point
    double *x;              ///< m, where that was
    double pressure;        ///< Pa; 0 when only what is definite counts
    PliIndex point_capacity, spring_capacity, tri_capacity;
} PliSpringForce;

PliStatus pli_springs_force_init(PliSpringForce *s, const PliHost *host, PliIndex points, PliIndex springs,
                                 PliIndex tris);
void pli_springs_force_free(PliSpringForce *s);

double pli_springs_volume(const PliSpringForce *s, const double *x); ///< m3, inside the triangles
double pli_springs_energy(const PliSpringForce *s, const double *x); ///< J
void pli_springs_add_force(PliSpringForce *s, const double *x, const double *v, double *f); ///< v NULL: nothing viscous
/// Keeps K = df/dx at x; definite: without what could be positive (compressed springs, the curvature of the volume).
void pli_springs_linearize(PliSpringForce *s, const double *x, bool definite);
void pli_springs_add_dforce(const PliSpringForce *s, const double *dx, double k, double *df); ///< df += k K dx
void pli_springs_blocks(const PliSpringForce *s, PliBlockFn *fn,
                        void *user); ///< 3x3 blocks of K; those of one pair add up
void pli_springs_add_diagonal(const PliSpringForce *s, double k,
                              double *diagonal); ///< [point_count, 9] += k times those of K
/// Largest stable step of symplectic Euler, undamped, from a bound of the highest frequency about x: s. `work` has 9 doubles a
/// point.
double pli_springs_critical_step(PliSpringForce *s, const double *x, const double *mass, double *work);

#ifdef __cplusplus
}
#endif
#endif
