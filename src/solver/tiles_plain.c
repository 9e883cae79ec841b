/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/tiles_lanes.h"

const PliTilesKernel pli_tiles_plain = PLI_TILES_KERNEL;
