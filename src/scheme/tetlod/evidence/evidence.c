/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/evidence.h"

extern const PliVerifyCase pli_verify_tetlod_cases[], pli_verify_tetlod_cube_cases[], pli_verify_tetlod_sets_cases[],
    pli_verify_tetlod_error_cases[];
extern const PliBenchCase pli_bench_tetlod_cases[], pli_bench_tetlod_sets_cases[], pli_bench_tetlod_sofa_cases[];

const PliEvidence pli_tetlod_evidence = {
    .verify = { pli_verify_tetlod_cases, pli_verify_tetlod_cube_cases, pli_verify_tetlod_sets_cases,
                pli_verify_tetlod_error_cases },
    .bench = { pli_bench_tetlod_cases, pli_bench_tetlod_sets_cases, pli_bench_tetlod_sofa_cases },
};
