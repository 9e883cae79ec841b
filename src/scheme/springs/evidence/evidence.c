/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/evidence.h"

extern const PliVerifyCase pli_verify_springs_cases[];
extern const PliBenchCase pli_bench_springs_cases[];

const PliEvidence pli_springs_evidence = {
    .verify = { pli_verify_springs_cases },
    .bench = { pli_bench_springs_cases },
};
