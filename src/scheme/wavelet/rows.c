/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Control vertices as rows over functions, and an order of functions in which near ones are together.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "scheme/wavelet/numbers.h"
#include "scheme/wavelet/wavelet.h"

static int by_index(const void *a, const void *b)
{
    const PliIndex x = *(const PliIndex *)a, y = *(const PliIndex *)b;
    return (x > y) - (x < y);
}

/// Rows while they are made.
typedef struct Rows {
    PliIndex *first, *column;
    double *weight;
    size_t count, entries, capacity;
} Rows;

static void free_rows(const PliHost *host, Rows *r)
{
    PLI_FREE(host, r->first, r->count + 1);
    PLI_FREE(host, r->column, r->capacity);
    PLI_FREE(host, r->weight, r->capacity);
}

/// Room for `entries` of them, those there are stay. @return false: no memory, and all is as it was
static bool resize_rows(const PliHost *host, Rows *r, size_t entries)
{
    PliIndex *c = PLI_NEW(host, entries, PliIndex);
    double *w = PLI_NEW(host, entries, double);
    const bool good = c && w;
    if (good && r->entries) {
        memcpy(c, r->column, r->entries * sizeof *c);
        memcpy(w, r->weight, r->entries * sizeof *w);
    }
    PLI_FREE(host, good ? r->column : c, good ? r->capacity : entries);
    PLI_FREE(host, good ? r->weight : w, good ? r->capacity : entries);
    if (good) r->column = c, r->weight = w, r->capacity = entries;
    return good;
}

/// Control vertices of levels 1 .. as rows over functions.
static bool make_rows(PliWavelet *s, Rows *to)
{
    const PliHost *host = &s->host;
    double *dense = PLI_NEW(host, s->count, double);
    PliIndex *list = PLI_NEW(host, s->count, PliIndex);
    to->count = s->dof_count - s->count;
    to->first = PLI_NEW(host, to->count + 1, PliIndex);
    bool good = dense && list && to->first;
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
                const PliIndex from = k > 1 ? to->first[before + j] : 0, end = k > 1 ? to->first[before + j + 1] : 1;
                for (PliIndex i = from; i < end; ++i) {
                    const PliIndex column = k > 1 ? to->column[i] : j;
                    if (dense[column] == 0.0) list[count++] = column;
                    dense[column] += r.weight[e] * (k > 1 ? to->weight[i] : 1.0);
                    if (dense[column] == 0.0) dense[column] = 1e-300; // is listed already
                }
            }
            qsort(list, count, sizeof *list, by_index);
            if (to->entries + count > to->capacity)
                good = resize_rows(host, to, to->capacity + to->capacity / 2 + 64 * (size_t)s->count + count);
            for (PliIndex i = 0; i < count && good; ++i) {
                to->column[to->entries] = list[i];
                to->weight[to->entries++] = dense[list[i]];
            }
            for (PliIndex i = 0; i < count; ++i) dense[list[i]] = 0.0;
            to->first[row + 1] = (PliIndex)to->entries;
        }
    }
    PLI_FREE(host, dense, s->count);
    PLI_FREE(host, list, s->count);
    return good;
}

/// Weights that rows of translated vertices have in common are kept once; columns become bytes.
static bool pack_rows(PliWavelet *s, const Rows *r)
{
    const PliHost *host = &s->host;
    size_t size = 64, bytes = 0;
    while (size < 2 * r->count) size *= 2;
    const size_t room = PLI_NUMBER_BYTES * (r->entries + r->count);
    PliIndex *slot = PLI_NEW(host, size, PliIndex); // by hash: the first row of these weights
    uint8_t *byte = PLI_NEW(host, room, uint8_t);
    double *weight = PLI_NEW(host, r->entries, double);
    s->row_first = PLI_NEW(host, r->count + 1, PliIndex);
    s->row_run = PLI_NEW(host, r->count, PliIndex);
    bool good = slot && byte && weight && s->row_first && s->row_run;
    if (good) memset(slot, 0xff, size * sizeof *slot);
    for (PliIndex row = 0; row < r->count && good; ++row) {
        const PliIndex *column = r->column + r->first[row], n = r->first[row + 1] - r->first[row];
        const double *own = r->weight + r->first[row];
        size_t at = pli_hash(PLI_HASH_SEED, own, n * sizeof *own) & (size - 1);
        for (; slot[at] != PLI_NONE; at = (at + 1) & (size - 1)) {
            const PliIndex other = slot[at];
            if (r->first[other + 1] - r->first[other] == n &&
                memcmp(own, r->weight + r->first[other], n * sizeof *own) == 0)
                break;
        }
        if (slot[at] == PLI_NONE) {
            slot[at] = row;
            s->row_run[row] = (PliIndex)s->weight_count;
            memcpy(weight + s->weight_count, own, n * sizeof *own);
            s->weight_count += n;
        } else {
            s->row_run[row] = s->row_run[slot[at]];
        }
        bytes += pli_put_number(byte + bytes, n);
        for (PliIndex e = 0; e < n; ++e) bytes += pli_put_number(byte + bytes, column[e] - (e ? column[e - 1] : 0));
        if (n > s->row_width) s->row_width = n;
        s->row_first[row + 1] = (PliIndex)bytes;
        good = bytes < PLI_NONE;
    }
    if (good) {
        s->row_bytes = bytes;
        s->row_byte = PLI_NEW(host, bytes, uint8_t);
        s->run_weight = PLI_NEW(host, s->weight_count, double);
        s->row_column = PLI_NEW(host, s->row_width, PliIndex);
        good = s->row_byte && s->run_weight && s->row_column;
    }
    if (good && r->count) {
        memcpy(s->row_byte, byte, bytes);
        memcpy(s->run_weight, weight, s->weight_count * sizeof *weight);
    }
    s->row_entries = r->entries;
    PLI_FREE(host, weight, r->entries);
    PLI_FREE(host, byte, room);
    PLI_FREE(host, slot, size);
    return good;
}

PliIndex pli_wavelet_row_of(const PliWavelet *s, PliIndex row, const double **weight)
{
    PliIndex n, column = 0, step;
    const uint8_t *from = pli_get_number(s->row_byte + s->row_first[row], &n);
    for (PliIndex e = 0; e < n; ++e) {
        from = pli_get_number(from, &step);
        s->row_column[e] = column += step;
    }
    *weight = s->run_weight + s->row_run[row];
    return n;
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

bool pli_wavelet_make_rows(PliWavelet *s)
{
    Rows r = { 0 };
    const bool good = make_rows(s, &r) && pack_rows(s, &r);
    free_rows(&s->host, &r);
    return good && make_order(s);
}

void pli_wavelet_free_rows(PliWavelet *s)
{
    const PliHost *host = &s->host;
    PLI_FREE(host, s->row_first, (size_t)(s->dof_count - s->count) + 1);
    PLI_FREE(host, s->row_run, s->dof_count - s->count);
    PLI_FREE(host, s->row_byte, s->row_bytes);
    PLI_FREE(host, s->run_weight, s->weight_count);
    PLI_FREE(host, s->row_column, s->row_width);
    PLI_FREE(host, s->order, s->count);
}
