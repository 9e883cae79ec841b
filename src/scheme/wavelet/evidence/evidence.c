/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/evidence.h"

extern const PliVerifyCase pli_verify_wavelet_cases[], pli_verify_wavelet_momentum_cases[],
    pli_verify_wavelet_embedded_cases[], pli_verify_wavelet_step_cases[], pli_verify_wavelet_material_cases[],
    pli_verify_wavelet_paper_cases[];
extern const PliBenchCase pli_bench_wavelet_cases[];

const PliEvidence pli_wavelet_evidence = {
    .verify = { pli_verify_wavelet_cases, pli_verify_wavelet_momentum_cases, pli_verify_wavelet_embedded_cases,
                pli_verify_wavelet_step_cases, pli_verify_wavelet_material_cases, pli_verify_wavelet_paper_cases },
    .bench = { pli_bench_wavelet_cases },
};
