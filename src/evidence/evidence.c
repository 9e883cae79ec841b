/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/evidence.h"

#define PLI_SCHEME(name) extern const PliEvidence pli_##name##_evidence;
#include "scheme/schemes.def"
#undef PLI_SCHEME

extern const PliVerifyCase pli_verify_contact_cases[], pli_verify_haptics_cases[];

static const PliEvidence common = {
    .verify = { pli_verify_contact_cases, pli_verify_haptics_cases },
    .bench = { pli_bench_kernel_cases, pli_bench_meshes_cases, pli_bench_contact_cases, pli_bench_pays_cases,
               pli_bench_stability_cases, pli_bench_sliver_cases, pli_bench_haptics_cases, pli_bench_pace_cases,
               pli_bench_poke_cases },
};
static const PliEvidence *const table[] = {
    &common,
#define PLI_SCHEME(name) &pli_##name##_evidence,
#include "scheme/schemes.def"
#undef PLI_SCHEME
};
enum { COUNT = sizeof table / sizeof *table };

const PliVerifyCase *pli_verify_at(int i)
{
    for (int t = 0; t < COUNT; ++t)
        for (int s = 0; s < PLI_EVIDENCE_SUITES && table[t]->verify[s]; ++s)
            for (const PliVerifyCase *c = table[t]->verify[s]; c->name; ++c)
                if (i-- == 0) return c;
    return NULL;
}

const PliBenchCase *pli_bench_at(int i)
{
    for (int t = 0; t < COUNT; ++t)
        for (int s = 0; s < PLI_EVIDENCE_SUITES && table[t]->bench[s]; ++s)
            for (const PliBenchCase *c = table[t]->bench[s]; c->name; ++c)
                if (i-- == 0) return c;
    return NULL;
}
