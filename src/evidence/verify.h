/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_VERIFY_H
#define PLI_VERIFY_H

// Cases with known answers. A scheme's file src/scheme/<scheme>/evidence/verify.c exports one array, ended by a case without a name,
// which the PliEvidence of the scheme names.

#include <pliant/base.h>

typedef struct PliVerifyResult {
    double expected, measured;
    double
        tolerance; ///< absolute: the case holds when |measured - expected| <= tolerance, unless the note says otherwise
    bool pass;
    char note[200]; ///< what was done, in a few words; may be empty
} PliVerifyResult;

typedef void PliVerifyFn(PliVerifyResult *r);
typedef struct PliVerifyCase {
    const char *scheme, *name;
    PliVerifyFn *run;
} PliVerifyCase;

// A case ends with one of these. All set pass; NaN never passes. The note is left as it is.
void pli_verify_within(PliVerifyResult *r, double expected, double measured, double tolerance);
void pli_verify_relative(PliVerifyResult *r, double expected, double measured,
                         double fraction);                               ///< tolerance = fraction |expected|
void pli_verify_at_most(PliVerifyResult *r, double bound, double error); ///< an error: expected 0, tolerance = bound
/// One-sided: expected = bound, tolerance 0, and a better value passes too. Says "at least" in front of the note.
void pli_verify_at_least(PliVerifyResult *r, double bound, double measured);
/// The case could not be run: measured NaN, not passed, the cause in the note.
void pli_verify_broken(PliVerifyResult *r, const char *format, ...) PLI_PRINTF(2, 3);
void pli_verify_note(PliVerifyResult *r, const char *format, ...) PLI_PRINTF(2, 3);

#endif
