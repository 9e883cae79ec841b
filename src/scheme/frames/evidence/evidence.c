/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/evidence.h"

extern const PliVerifyCase pli_verify_frames_cases[];
extern const PliVerifyCase pli_verify_frames_fallback_cases[];
extern const PliBenchCase pli_bench_frames_cases[];

const PliEvidence pli_frames_evidence = {
    .verify = { pli_verify_frames_cases, pli_verify_frames_fallback_cases },
    .bench = { pli_bench_frames_cases },
};
