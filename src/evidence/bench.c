/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/progress.h"

void pli_bench_report(PliBench *b, const char *metric, double value, const char *unit)
{
    if (b->count == b->capacity) {
        const size_t wider = b->capacity ? 2 * b->capacity : 32;
        PliFigure *figure = realloc(b->figure, wider * sizeof *figure);
        if (!figure) {
            pli_bench_broken(b, "there is no memory for its figures");
            return;
        }
        b->figure = figure;
        b->capacity = wider;
    }
    PliFigure *f = &b->figure[b->count++];
    *f = (PliFigure){ .name = b->running, .value = value };
    snprintf(f->metric, sizeof f->metric, "%s", metric);
    snprintf(f->unit, sizeof f->unit, "%s", unit);
}

void pli_bench_broken(PliBench *b, const char *format, ...)
{
    va_list args;
    pli_progress(0, 0, NULL);
    fprintf(stderr, "pliant bench: %s: ", b->running);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    b->broken++;
}
