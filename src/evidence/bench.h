/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_BENCH_H
#define PLI_BENCH_H

// Named timings. A file src/scheme/<scheme>/evidence/bench.c exports one array, ended by a case without a name, which the PliEvidence
// of the scheme names. A case warms up, repeats, and reports the smallest or the median: it says which in the metric.

#include <pliant/base.h>

typedef struct PliBench PliBench;
typedef void PliBenchFn(PliBench *b);
typedef struct PliBenchCase {
    const char *name;    ///< "kernel.stvk"
    const char *summary; ///< what is timed, on what
    PliBenchFn *run;
} PliBenchCase;

/// One line of the report.
typedef struct PliFigure {
    const char *name; ///< of the case
    char metric[64], unit[32];
    double value;
} PliFigure;

struct PliBench {
    const char *running;
    PliFigure *figure;
    size_t count, capacity;
    int broken;
};

/// One figure of the running case, for example "ns_per_tet", 14.2, "ns".
void pli_bench_report(PliBench *b, const char *metric, double value, const char *unit);
/// The running case could not be measured; the command ends with exit code 1.
void pli_bench_broken(PliBench *b, const char *format, ...) PLI_PRINTF(2, 3);

extern const PliBenchCase pli_bench_kernel_cases[], pli_bench_meshes_cases[], pli_bench_contact_cases[],
    pli_bench_pays_cases[], pli_bench_stability_cases[], pli_bench_sliver_cases[], pli_bench_haptics_cases[],
    pli_bench_pace_cases[], pli_bench_poke_cases[];

#endif
