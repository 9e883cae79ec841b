/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// How a case is judged.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "evidence/verify.h"

void pli_verify_within(PliVerifyResult *r, double expected, double measured, double tolerance)
{
    r->expected = expected;
    r->measured = measured;
    r->tolerance = tolerance;
    r->pass = fabs(measured - expected) <= tolerance; // false for NaN
}

void pli_verify_relative(PliVerifyResult *r, double expected, double measured, double fraction)
{
    pli_verify_within(r, expected, measured, fraction * fabs(expected));
}

void pli_verify_at_most(PliVerifyResult *r, double bound, double error) { pli_verify_within(r, 0.0, error, bound); }

void pli_verify_at_least(PliVerifyResult *r, double bound, double measured)
{
    char note[sizeof r->note];
    memcpy(note, r->note, sizeof note);
    snprintf(r->note, sizeof r->note, "at least%s%.180s", note[0] ? "; " : "", note);
    r->expected = bound;
    r->measured = measured;
    r->tolerance = 0.0;
    r->pass = measured >= bound;
}

void pli_verify_broken(PliVerifyResult *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->note, sizeof r->note, format, args);
    va_end(args);
    r->expected = r->tolerance = 0.0;
    r->measured = NAN;
    r->pass = false;
}

void pli_verify_note(PliVerifyResult *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->note, sizeof r->note, format, args);
    va_end(args);
}
