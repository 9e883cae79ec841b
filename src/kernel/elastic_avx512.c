/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// 8 elements at a time. Only this file is compiled for that vector unit; the choice is made at run time.
#include "kernel/elastic_state.h"

#if defined(__AVX512DQ__)
#define PLI_LANES 8
#include "kernel/elastic_lanes.h"

static const PliElasticKernel kernel = PLI_LANES_KERNEL;
const PliElasticKernel *pli_elastic_avx512(void) { return &kernel; }
#else
const PliElasticKernel *pli_elastic_avx512(void) { return NULL; }
#endif
