/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_HANDOVER_H
#define PLI_HANDOVER_H

// What happens to the motion when coefficients start or stop being simulated: mass, linear and angular momentum stay, and
// energy is never added. Array functions over a patch (the coefficients whose mass changed); one home for every scheme.
//
//   1. new coefficients take the value they had as followers (the scheme does this);
//   2. pli_handover_momentum: what the old field had more than the new one is given to the coefficients that carry it;
//   3. pli_handover_spin: lumped inertia differs between the two, so a rigid rotation of the patch repairs angular momentum;
//   4. pli_handover_cap: the energy gained, if any, is taken from the motion of the patch that is not rigid.

#include <pliant/transfer.h>

/// A set of point masses in dof numbers. `mass` is per position in `node`; nodes with mass 0 do not count.
typedef struct PliEventPatch {
    const PliIndex *node;
    const double *mass;
    PliIndex count;
} PliEventPatch;

typedef struct PliMoments {
    double mass, centre[3];
    double momentum[3], angular[3]; ///< angular about the origin
    double kinetic;
} PliMoments;
PliMoments pli_patch_moments(const PliEventPatch *patch, const double *x, const double *v);

/// v_a += sum_k W_ka m_k (old_k - (W v)_k) / m_a over the carriers k (the finest nodes whose row changed): total momentum becomes
/// that of `old`. `carrier` are row numbers of `rows`, `carrier_mass` and `old` ([carrier_count, 3]) go with them; `mass` is per dof;
/// `fixed` (may be NULL) marks dofs whose velocity is prescribed; `change` is scratch, dof_count Vec3, zero on entry and exit.
void pli_handover_momentum(PliRows rows, const PliIndex *carrier, const double *carrier_mass, const double *old,
                           PliIndex carrier_count, const double *mass, const uint8_t *fixed, double *v, double *change);
/// Adds the rigid rotation about the patch's centre that changes its angular momentum by `spin`. @return false (nothing done) when
/// the patch has no inertia to turn with.
bool pli_handover_spin(const PliEventPatch *patch, const double spin[3], const double *x, double *v);
/// Takes `energy` from the motion of the patch that is not rigid, as far as there is any. @return what could not be taken.
double pli_handover_cap(const PliEventPatch *patch, double energy, const double *x, double *v);

#endif
