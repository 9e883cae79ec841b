/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_EVIDENCE_H
#define PLI_EVIDENCE_H

// The cases and timings of every scheme. One line of src/scheme/schemes.def registers pli_<name>_evidence, which
// src/scheme/<name>/evidence/ defines, together with the scheme itself.

#include "evidence/bench.h"
#include "evidence/verify.h"

enum { PLI_EVIDENCE_SUITES = 10 };
typedef struct PliEvidence {
    const PliVerifyCase
        *verify[PLI_EVIDENCE_SUITES]; ///< arrays that end with a case without a name; NULL behind the last
    const PliBenchCase *bench[PLI_EVIDENCE_SUITES];
} PliEvidence;

const PliVerifyCase *pli_verify_at(int i); ///< in the order of reports; NULL behind the last
const PliBenchCase *pli_bench_at(int i);

#endif
