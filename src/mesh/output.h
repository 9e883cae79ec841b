/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_OUTPUT_H
#define PLI_OUTPUT_H

#include <pliant/base.h>

#include <locale.h>
#include <stdio.h>

/// A file that appears under its name only when it is whole: written beside it as name.tmp, then renamed. Numbers have
/// a decimal point whatever the locale of the program.
typedef struct PliOutput {
    FILE *file;
    const char *path;
    char temporary[1024];
    locale_t c_locale, old_locale;
    PliError *err;
} PliOutput;
PliStatus pli_output_begin(PliOutput *out, const char *path, PliError *err);
/// Ends what begin opened, in every case: renames when `status` is OK and nothing failed, else removes.
PliStatus pli_output_end(PliOutput *out, PliStatus status);
/// The shortest decimals that read back to the same bits.
void pli_output_real(PliOutput *out, double value);
/// Text inside XML quotes.
void pli_output_escaped(PliOutput *out, const char *text);

#endif
