/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/methods.h"

const PliMethodKind *const pli_method_kinds[] = {
    &pli_method_tiles,      &pli_method_sparse, &pli_method_helped, &pli_method_multigrid,
    &pli_method_incomplete, &pli_method_blocks, &pli_method_jacobi, &pli_method_plain,
};
const int pli_method_kind_count = sizeof pli_method_kinds / sizeof *pli_method_kinds;
