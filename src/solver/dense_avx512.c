/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Only this file is compiled for that vector unit; the choice is made at run time.
#include "solver/dense.h"

#if defined(__AVX512F__)
#include "solver/dense_lanes.h"

static const PliDenseKernel kernel = PLI_DENSE_KERNEL;
const PliDenseKernel *pli_dense_avx512(void) { return &kernel; }
#else
const PliDenseKernel *pli_dense_avx512(void) { return 0; }
#endif
