/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_TRANSFER_H
#define PLIANT_TRANSFER_H

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Linear map between two Vec3 arrays, out_i = sum_j w_ij in_j, stored by rows. One type serves level interpolation,
/// skins, subdivision masks and affine frames. A view: who made it says how long it lives.
typedef struct PliRows {
    const PliIndex *first; ///< row i owns entries first[i] .. first[i+1]; out_count + 1 of them
    const PliIndex *column;
    const double *weight;
    PliIndex out_count, in_count;
} PliRows;

PLI_API void pli_rows_apply(PliRows rows, const double *in, double *out);         ///< out = W in
PLI_API void pli_rows_add_transpose(PliRows rows, const double *out, double *in); ///< in += W^T out

/// The same map in memory of its own, with room to grow up to a capacity fixed at creation. NULL when there is no memory.
typedef struct PliTransfer PliTransfer;
PLI_API PliTransfer *pli_transfer_create(const PliHost *host, PliIndex row_capacity, size_t entry_capacity); ///< empty
PLI_API void pli_transfer_destroy(PliTransfer *t);                  ///< NULL is fine
PLI_API void pli_transfer_clear(PliTransfer *t, PliIndex in_count); ///< no rows
/// Appends one row; PLI_OVER_CAPACITY when it does not fit (nothing changed).
PLI_API PliStatus pli_transfer_push(PliTransfer *t, const PliIndex *column, const double *weight, PliIndex count);
PLI_API PliRows pli_transfer_rows(const PliTransfer *t); ///< valid until the next clear or push

#ifdef __cplusplus
}
#endif
#endif
