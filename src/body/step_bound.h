/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_STEP_BOUND_H
#define PLI_STEP_BOUND_H

// How long an explicit step may be, from the stiffness and the masses of the live system.
//
// The stiffness of every element is lumped at its corners, pulled through W to the active points, and divided by their masses:
// rate Lambda_a, 1/s2. With S = diag(mass Lambda) the largest eigenvalue theta of S^-1/2 K S^-1/2 is near 2 whatever the sizes and
// masses are, and h = 2 / sqrt(theta Lambda) is stable, element by element. A power iteration that goes on from cut to cut finds
// theta; because the problem is scaled, the highest modes of all regions are alike, and none can be missed by much.

#include "kernel/elastic.h"

typedef struct PliStepBound PliStepBound;
/// The live tetrahedra of a cut as the kernel has them, borrowed: corners in compact numbers, `which` by the numbers of the scheme.
typedef struct PliLiveTets {
    PliIndex count;
    const PliIndex *corner, *which;
    PliElastic *kernel;
    bool eased; ///< some have only a share of the material's damping
} PliLiveTets;

PliStepBound *pli_step_bound_create(const PliHost *host, PliIndex dof_count, PliIndex point_capacity);
void pli_step_bound_destroy(PliStepBound *b); ///< NULL is fine
size_t pli_step_bound_bytes(const PliStepBound *b);
void pli_step_bound_forget(PliStepBound *b); ///< the material is another one
/// The cut is another one: masses, W and elements.
void pli_step_bound_recut(PliStepBound *b, const PliLiveView *live, const PliLiveTets *tets);
/// As the body is strained at x (compact points; NULL: at rest): for pli_step_bound_element. Between recuts.
void pli_step_bound_strain(PliStepBound *b, const PliLiveTets *tets, const double *x);
/// s, largest stable step of element i at `share` of its undamped limit, with the damping.
double pli_step_bound_element(const PliStepBound *b, const PliLiveTets *tets, PliIndex i, double share, double damping);
/// The shortest of elements first to last - 1.
double pli_step_bound_least(const PliStepBound *b, const PliLiveTets *tets, PliIndex first, PliIndex last, double share,
                            double damping);
/// Viscous forces of slivers would set the substep of a damped body: their limit falls with the square of their rate, as the altitude
/// squared. Where it pays, tetrahedra at the points that are to blame keep only as much damping as one of the same longest edge
/// and an ordinary shape would bring there; `flatness` by `which` is altitude over longest edge. Elastic forces stay, so does what
/// the body is at rest. Writes share (by `which`) and tells the kernel; between recuts. @return tetrahedra that keep less than
/// all, 0: share is not to be used
PliIndex pli_step_bound_ease(PliStepBound *b, const PliLiveTets *tets, const double *flatness, double *share);

#endif
