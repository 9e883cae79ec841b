/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/evidence.h"

extern const PliVerifyCase pli_verify_fem_cases[];
extern const PliBenchCase pli_bench_fem_cases[];

const PliEvidence pli_fem_evidence = {
    .verify = { pli_verify_fem_cases },
    .bench = { pli_bench_fem_cases },
};
