/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_BODY_CONSTRAINTS_H
#define PLI_BODY_CONSTRAINTS_H

// Constraints of a host (pli_body_constrain) inside a step.

#include <pliant/stages.h>

typedef struct PliHeld PliHeld;
void pli_body_constraints_free(PliBody *body);
void pli_body_constraints_begin(PliBody *body, const PliState *s, double dt); ///< rows and goals of the step to come
void pli_body_constraints_end(PliBody *body, double dt, bool done);           ///< forces of the step that was made
void pli_body_constraints_judge(const PliBody *body,
                                double *f); ///< f += those of the last step, on coefficients of the finest level
void pli_body_constraints_reset(PliBody *body);
void pli_body_constraints_refix(PliBody *body); ///< other coefficients are fixed

#endif
