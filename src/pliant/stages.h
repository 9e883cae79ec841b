/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_STAGES_H
#define PLIANT_STAGES_H

// For hosts that own the loop, the solver or the contact: a step taken apart into its stages. Who calls pli_body_step needs none of this.
// Arrays have full length (dof_count Vec3); forces and matrices come out reduced to the active coefficients: W^T f(Wx), W^T K W, W^T M W.

#include <pliant/body.h>
#include <pliant/transfer.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- a step in two parts ---------------------------------------------------------------------------------------------

/// Chooses levels and hands the state over. @return true when the active set changed.
PLI_API bool pli_body_adapt(PliBody *body, const PliState *s, double dt);
/// The rest of a step, for hosts that must change levels earlier in their own: step = adapt, then advance.
PLI_API PliStepInfo pli_body_advance(PliBody *body, const PliState *s, double dt);
/// The same by one implicit Euler step, whatever `order` is: what pli_body_response can correct, and what relaxes in long steps.
PLI_API PliStepInfo pli_body_advance_once(PliBody *body, const PliState *s, double dt);

/// s, the longest substep an explicit step from x would take: of what is live now, as it is strained there, damping included.
PLI_API double pli_body_longest_substep(PliBody *body, const double *x);

// ---- forces and matrices ---------------------------------------------------------------------------------------------

/// f += reduced internal forces; `v` (for damping) may be NULL. Caches the tangent at x for the calls below.
PLI_API void pli_body_add_force(PliBody *body, const double *x, const double *v, double *f);
/// Tangents of the stages: true leaves out negative eigenvalues of elements, as implicit steps of the body do, so that -K is positive
/// semi-definite; contact solved on its inverse needs that under compression. false (default): the exact derivative of the force.
PLI_API void pli_body_set_definite(PliBody *body, bool definite);
/// df += k K dx, K = df/dx at the state of the last add_force.
PLI_API void pli_body_add_dforce(const PliBody *body, const double *dx, double k, double *df);
/// df += m M dx.
PLI_API void pli_body_add_mass(const PliBody *body, const double *dx, double m, double *df);
/// f += weight of the active coefficients.
PLI_API void pli_body_add_gravity(const PliBody *body, double *f);
/// a = M^-1 f with the lumped mass on active dofs, 0 elsewhere and where there is no mass.
PLI_API void pli_body_acceleration(const PliBody *body, const double *f, double *a);

/// One 3x3 block of a matrix, row-major.
typedef void PliBlockFn(PliIndex row_dof, PliIndex col_dof, const double k9[9], void *user);
/// Calls fn with blocks of W^T K W at the state of the last add_force; blocks of the same pair add up.
PLI_API void pli_body_stiffness_blocks(const PliBody *body, PliBlockFn *fn, void *user);
/// One entry of a matrix of scalars.
typedef void PliScalarFn(PliIndex row_dof, PliIndex col_dof, double value, void *user);
/// Calls fn with the entries of W^T M W over active dofs.
PLI_API void pli_body_mass_entries(const PliBody *body, PliScalarFn *fn, void *user);

// ---- active and passive coefficients ---------------------------------------------------------------------------------

/// Passive = W active (+ offset), positions; fixed dofs stay.
PLI_API void pli_body_spread(const PliBody *body, double *x);
/// The same for velocities.
PLI_API void pli_body_spread_velocity(const PliBody *body, double *v);
/// Active += W^T passive, passive = 0.
PLI_API void pli_body_reduce(const PliBody *body, double *f);
/// Passive and fixed = 0.
PLI_API void pli_body_project(const PliBody *body, double *d);
/// W: all dofs from active ones (columns are dof numbers). Valid until the active set changes.
PLI_API PliRows pli_body_transfer(const PliBody *body);
/// Passive dofs that live elements touch. Valid until the next adapt or step.
PLI_API const PliIndex *pli_body_slaves(const PliBody *body, PliIndex *count);
/// Skin points from active dofs; columns are dof numbers. Changes with the revision of the active set.
PLI_API PliRows pli_body_skin_rows(const PliBody *body);
/// The coefficient that says where `dof` is in space: often itself, for a wavelet's detail its control vertex. PLI_NONE: none does
/// (the columns of a frame; its origin does).
PLI_API PliIndex pli_body_dof_place(const PliBody *body, PliIndex dof);
/// Adaptation judges passive coefficients by the forces on them: hosts should then give forces on coefficients of the finest level.
PLI_API bool pli_body_judges_forces(const PliBody *body);
enum { PLI_LOCATE_MAX = 256 }; ///< most coefficients a point hangs on, on any scheme
/// Rest point -> dofs of the finest level and their weights, up to `capacity` (PLI_LOCATE_MAX is enough). Columns are not reduced to
/// active dofs: compose with pli_body_transfer. @return how many.
PLI_API PliIndex pli_body_locate(const PliBody *body, const double point[3], PliIndex *column, double *weight,
                                 PliIndex capacity);

// ---- forces on points, with derivatives ------------------------------------------------------------------------------

/// Forces on single points, with their derivatives: contact, springs to targets. Implicit steps take them implicitly, so that
/// they may be as stiff as they like; explicit ones in every substep. Arrays are the host's, read at once.
struct PliPointForces {
    PliIndex count;
    const PliIndex *first; ///< count + 1: point j is the sum of weight x over entries first[j] .. first[j + 1] ...
    const PliIndex *dof;   ///< ... of dofs of the finest level, as pli_body_locate gives them
    const double *weight;
    const double *force;        ///< N, Vec3 each
    const double *stiffness;    ///< N/m, -df/dp as xx yy zz yz xz xy each, positive semi-definite; NULL: none
    const double *damping;      ///< N s/m, -df/dv the same way; NULL: none
    const PliPointForces *next; ///< more of them, or NULL
};
/// Room for the derivatives of up to `count` point forces; those beyond are taken explicitly. Allocates, once, before stepping.
PLI_API PliStatus pli_body_reserve_points(PliBody *body, PliIndex count, PliError *err);

// ---- contact that a host solves itself -------------------------------------------------------------------------------

/// Change of the velocities at the end of the last step (of length dt) had forces f acted during it: dv = dt A^-1 f with the
/// matrix of the implicit step, dt M^-1 f for the explicit one; 0 where fixed. Forces on passive coefficients act on those they
/// follow, and passive ones follow. Where the step iterated (any solver but a factor), the first call after it factors.
/// PLI_UNSUPPORTED: there was no step with this active set, or it was of second order.
PLI_API PliStatus pli_body_response(const PliBody *body, const double *f, double dt, double *dv);
/// Doubles of scratch that pli_body_compliance needs now.
PLI_API size_t pli_body_compliance_work(const PliBody *body);
/// The response to unit forces on some coefficients, seen at those: c has shape [3 count, 3 count] and is symmetric. `work` is lent.
PLI_API PliStatus pli_body_compliance(const PliBody *body, const PliIndex *dofs, PliIndex count, double dt, double *c,
                                      double *work);

/// Contacts a host found itself, as rows over active coefficients. Row 0 of a contact is its normal: the gap
/// offset + sum value . x must not be negative at the end of the step. With friction two rows follow, its tangents; their
/// offset is how far the other side moves back along them during the step.
typedef struct PliContactRows {
    PliIndex contact_count;
    int rows_per_contact;  ///< 1, or 3 with friction
    const PliIndex *first; ///< row r owns entries first[r] .. first[r+1]
    const PliIndex *dof;
    const double *value;  ///< Vec3 per entry
    const double *offset; ///< m, per row
    double friction;      ///< Coulomb coefficient
    int sweeps;           ///< Gauss-Seidel sweeps in each substep
    double *work;         ///< lent scratch, 4 doubles per row
    double force;         ///< N, out: sum of the normal forces, mean over the step
} PliContactRows;
/// Takes the last explicit step again from the state before it, with the rows kept in every substep. What lies too deep when the
/// step begins is brought out evenly over it. Counts as the same step.
PLI_API PliStepInfo pli_body_advance_under(PliBody *body, const PliState *s, double dt, PliContactRows *rows);

#ifdef __cplusplus
}
#endif
#endif
