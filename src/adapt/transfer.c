/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/transfer.h>

#include <string.h>

#include "base/memory.h"

struct PliTransfer {
    PliHost host;
    PliIndex *first, *column;
    double *weight;
    PliIndex row_count, row_capacity, in_count;
    size_t entry_capacity;
};

void pli_rows_apply(PliRows r, const double *in, double *out)
{
    for (PliIndex i = 0; i < r.out_count; ++i) {
        double s[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex k = r.first[i]; k < r.first[i + 1]; ++k) {
            const double *x = in + 3 * (size_t)r.column[k];
            const double w = r.weight[k];
            s[0] += w * x[0], s[1] += w * x[1], s[2] += w * x[2];
        }
        memcpy(out + 3 * (size_t)i, s, sizeof s);
    }
}

void pli_rows_add_transpose(PliRows r, const double *out, double *in)
{
    for (PliIndex i = 0; i < r.out_count; ++i) {
        const double *f = out + 3 * (size_t)i;
        if (f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0) continue;
        for (PliIndex k = r.first[i]; k < r.first[i + 1]; ++k) {
            double *x = in + 3 * (size_t)r.column[k];
            const double w = r.weight[k];
            x[0] += w * f[0], x[1] += w * f[1], x[2] += w * f[2];
        }
    }
}

PliTransfer *pli_transfer_create(const PliHost *host, PliIndex row_capacity, size_t entry_capacity)
{
    PliTransfer *t = PLI_NEW(host, 1, PliTransfer);
    if (!t) return NULL;
    t->host = *host;
    t->row_capacity = row_capacity;
    t->entry_capacity = entry_capacity;
    t->first = PLI_NEW(host, (size_t)row_capacity + 1, PliIndex);
    t->column = PLI_NEW(host, entry_capacity, PliIndex);
    t->weight = PLI_NEW(host, entry_capacity, double);
    if (!t->first || !t->column || !t->weight) {
        pli_transfer_destroy(t);
        return NULL;
    }
    return t;
}

void pli_transfer_destroy(PliTransfer *t)
{
    if (!t) return;
    PliHost host = t->host;
    PLI_FREE(&host, t->first, (size_t)t->row_capacity + 1);
    PLI_FREE(&host, t->column, t->entry_capacity);
    PLI_FREE(&host, t->weight, t->entry_capacity);
    PLI_FREE(&host, t, 1);
}

void pli_transfer_clear(PliTransfer *t, PliIndex in_count)
{
    t->row_count = 0;
    t->in_count = in_count;
    t->first[0] = 0;
}

PliStatus pli_transfer_push(PliTransfer *t, const PliIndex *column, const double *weight, PliIndex count)
{
    const PliIndex at = t->first[t->row_count];
    if (t->row_count == t->row_capacity || count > t->entry_capacity - at) return PLI_OVER_CAPACITY;
    if (count) { // an empty row may come as NULL, which memcpy does not take
        memcpy(t->column + at, column, count * sizeof *column);
        memcpy(t->weight + at, weight, count * sizeof *weight);
    }
    t->first[++t->row_count] = at + count;
    return PLI_OK;
}

PliRows pli_transfer_rows(const PliTransfer *t)
{
    return (PliRows){ t->first, t->column, t->weight, t->row_count, t->in_count };
}
