/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void pli_assert_failed(const char *file, int line, const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fprintf(stderr, "pliant: %s:%d: a defect of pliant itself: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}
