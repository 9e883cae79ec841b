/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/dense_lanes.h"

const PliDenseKernel pli_dense_plain = PLI_DENSE_KERNEL;
