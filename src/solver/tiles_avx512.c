/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Only this file is compiled for that vector unit; the choice is made at run time.
#include "solver/tiles.h"

#if defined(__AVX512F__)
#include "solver/tiles_lanes.h"

static const PliTilesKernel kernel = PLI_TILES_KERNEL;
const PliTilesKernel *pli_tiles_avx512(void) { return &kernel; }
#else
const PliTilesKernel *pli_tiles_avx512(void) { return 0; }
#endif
