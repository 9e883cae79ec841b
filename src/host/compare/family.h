/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_COMPARE_FAMILY_H
#define PLI_COMPARE_FAMILY_H

// The honest competitor of an adaptive body: the uniform bodies of the scene, at the same error or at the same cost.
//
// The family are the bodies of the reference's scheme whose resolution never changed, whatever their mesh, integrator and rates.
// Their curve goes through those that no other member beats in both cost and error, straight in logarithms between two
// neighbours. Beyond its ends nothing is extrapolated: the answer is a bound then. Who costs more than the reference, which is a
// uniform body too, has lost at any error.

#include "host/compare/compare.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLI_FAMILY_MAX = 64 };

/// cost rises, error falls.
typedef struct PliFamily {
    double cost[PLI_FAMILY_MAX], error[PLI_FAMILY_MAX];
    int count;
    double ceiling; ///< what no error costs more than: the reference itself; 0: unknown
} PliFamily;

/// The best of `count` points; those that are not positive have no place on a logarithmic curve and are left out.
PliFamily pli_family_curve(const double *cost, const double *error, int count);
/// Where a body of this cost and error stands. Nothing on the curve, or a figure that is not finite: all NaN.
PliRival pli_family_rival(const PliFamily *f, double cost, double error);

/// Fills family, rival and force_rival of every outcome. Needs the figures.
void pli_family_figures(PliComparison *c);
/// Curve of the family of a comparison: RMS error, or error of the tools' forces.
PliFamily pli_family_of(const PliComparison *c, bool force);

/// "wins", "loses", "draws level", or "cannot be ranked" where the curve ends too early. Within 10 % is level.
const char *pli_rival_verdict(const PliRival *r);
const char *pli_bound_name(PliBound bound); ///< NULL, "at least", "at most"
/// The first body before this one that did the same to the bit, as bodies on the same tetrahedra do that fell back; NULL: nobody.
const PliOutcome *pli_family_twin(const PliComparison *c, const PliOutcome *o);
/// Who wins by how much, as a sentence; of a twin, whose. "" for the family itself, for those that did not finish, and without a family.
void pli_family_sentence(const PliComparison *c, const PliOutcome *o, char *text, size_t size);
/// The scene in one sentence: the best scheme and by how much. "" without a family or without competitors.
void pli_family_summary(const PliComparison *c, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
