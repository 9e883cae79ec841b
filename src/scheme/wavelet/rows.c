/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Control vertices as rows over functions, and an order of functions in which near ones are together.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scheme/wavelet/wavelet.h"

static int by_index(const void *a, const void *b)
{
    const PliIndex x = *(const PliIndex *)a, y = *(const PliIndex *)b;
    return (x > y) - (x < y);
}

/// Room for `entries` of them, those there are stay. @return false: no memory, and all is as it was
static bool resize_rows(PliWavelet *s, size_t entries)
{
    PliIndex *c = PLI_NEW(&s->host, entries, PliIndex);
    double *w = PLI_NEW(&s->host, entries, double);
    const bool good = c && w;
    if (good && s->row_entries) {
        memcpy(c, s->row_column, s->row_entries * sizeof *c);
        memcpy(w, s->row_weight, s->row_entries * sizeof *w);
    }
    PLI_FREE(&s->host, good ? s->row_column : c, good ? s->row_capacity : entries);
    PLI_FREE(&s->host, good ? s->row_weight : w, good ? s->row_capacity : entries);
    if (good) s->row_column = c, s->row_weight = w, s->row_capacity = entries;
    return good;
}

/// Control vertices of levels 1 .. as rows over functions.
static bool make_rows(PliWavelet *s)
{
    const PliHost *host = &s->host;
    const PliIndex rows = s->dof_count - s->count;
    double *dense = PLI_NEW(host, s->count, double);
    PliIndex *list = PLI_NEW(host, s->count, PliIndex);
    s->row_first = PLI_NEW(host, (size_t)rows + 1, PliIndex);
    bool good = dense && list && s->row_first;
    PliIndex row = 0;
    for (int k = 1; k < s->level_count && good; ++k) {
        const PliRows r = pli_transfer_rows(s->level[k].rows);
        const PliIndex before = k > 1 ? s->level[k - 1].dof_first - s->count : 0,
                       even = s->level[k - 1].lattice->vertex_count;
        for (PliIndex v = 0; v < s->level[k].lattice->vertex_count && good; ++v, ++row) {
            PliIndex count = 0;
            if (v >= even) dense[v] = 1.0, list[count++] = v;
            for (PliIndex e = r.first[v]; e < r.first[v + 1]; ++e) {
                const PliIndex j = r.column[e];
                const PliIndex from = k > 1 ? s->row_first[before + j] : 0,
                               to = k > 1 ? s->row_first[before + j + 1] : 1;
                for (PliIndex i = from; i < to; ++i) {
                    const PliIndex column = k > 1 ? s->row_column[i] : j;
                    if (dense[column] == 0.0) list[count++] = column;
                    dense[column] += r.weight[e] * (k > 1 ? s->row_weight[i] : 1.0);
                    if (dense[column] == 0.0) dense[column] = 1e-300; // is listed already
                }
            }
            qsort(list, count, sizeof *list, by_index);
            if (s->row_entries + count > s->row_capacity) {
                const size_t most = s->row_capacity;
                good = resize_rows(s, most + most / 2 + 64 * (size_t)s->count + count);
            }
            for (PliIndex i = 0; i < count && good; ++i) {
                s->row_column[s->row_entries] = list[i];
                s->row_weight[s->row_entries++] = dense[list[i]];
            }
            for (PliIndex i = 0; i < count; ++i) dense[list[i]] = 0.0;
            s->row_first[row + 1] = (PliIndex)s->row_entries;
        }
    }
    good = good && resize_rows(s, s->row_entries);
    PLI_FREE(host, dense, s->count);
    PLI_FREE(host, list, s->count);
    return good;
}

typedef struct Morton {
    uint64_t key;
    PliIndex index;
} Morton;

static int by_key(const void *a, const void *b)
{
    const Morton *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->index > y->index) - (x->index < y->index);
}

static bool make_order(PliWavelet *s)
{
    Morton *m = PLI_NEW(&s->host, s->count, Morton);
    s->order = PLI_NEW(&s->host, s->count, PliIndex);
    if (!m || !s->order) {
        PLI_FREE(&s->host, m, s->count);
        return false;
    }
    double lo[3] = { INFINITY, INFINITY, INFINITY };
    for (PliIndex i = 0; i < s->count; ++i)
        for (int d = 0; d < 3; ++d) lo[d] = fmin(lo[d], s->place[3 * (size_t)i + (size_t)d]);
    for (PliIndex i = 0; i < s->count; ++i) {
        m[i] = (Morton){ 0, i };
        for (int d = 0; d < 3; ++d) {
            const uint64_t at = (uint64_t)(1023.0 * fmin(1.0, (s->place[3 * (size_t)i + (size_t)d] - lo[d]) / s->size));
            for (int bit = 0; bit < 10; ++bit) m[i].key |= (at >> bit & 1) << (3 * bit + d);
        }
    }
    qsort(m, s->count, sizeof *m, by_key);
    for (PliIndex i = 0; i < s->count; ++i) s->order[i] = m[i].index;
    PLI_FREE(&s->host, m, s->count);
    return true;
}

bool pli_wavelet_make_rows(PliWavelet *s) { return make_rows(s) && make_order(s); }
