/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SECANTS_H
#define PLI_SECANTS_H

// A step that is linearised with another stiffness K than the true one overshoots where the body is stiffer, and swings from step to
// step. What the forces did in the last steps beyond what K foretold, r = -df - K s along the ways s, says where: with ways S and forces
// R of the last steps, K + R (S^T R)^-1 R^T is right along all of them (Schnabel 1983, several secant equations at once). Only the
// stiffer directions count, so that the matrix A = a M + g K of a step stays positive definite: in ways that are orthonormal in A the
// eigenvalues of g S^T R say how much stiffer the body is than the whole matrix, and those that are hardly any are left out.

#include <pliant/base.h>

enum { PLI_SECANTS = 12 }; ///< steps that count

typedef struct PliSecants {
    PliHost host;
    size_t length, capacity; ///< of a vector
    double *memory;
    double *way[PLI_SECANTS], *force[PLI_SECANTS], *inertia[PLI_SECANTS]; ///< s, g r and A s; s has length 1 in A
    double *place, *pull;                                                 ///< where the last step ended, and its forces
    bool has_place;
    PliIndex count, next;
    uint64_t birth[PLI_SECANTS], births;                                    ///< which vectors they are
    double gram[PLI_SECANTS][PLI_SECANTS], cross[PLI_SECANTS][PLI_SECANTS]; ///< S^T A S, g S^T R
    double factor[2];                                                       ///< a and g they were made with
    PliIndex rank; ///< directions that are stiffer: A + sum w w^T, w = sum coefficient x force
    double coefficient[PLI_SECANTS][PLI_SECANTS];
    double stiffest; ///< how much stiffer the stiffest one is than all of A
} PliSecants;

void pli_secants_init(PliSecants *s, const PliHost *host);
void pli_secants_free(PliSecants *s);
/// Vectors of `count` Vec3 from now on, and none yet. May allocate.
PliStatus pli_secants_resize(PliSecants *s, PliIndex count);
void pli_secants_forget(PliSecants *s);
/// Those numbered `next` were filled by the caller, and become `scale` times as long.
void pli_secants_add(PliSecants *s, double scale);
/// out = sum of `from` with the coefficients of direction j.
void pli_secants_combine(const PliSecants *s, PliIndex j, const double *const *from, size_t length, double *out);

#endif
