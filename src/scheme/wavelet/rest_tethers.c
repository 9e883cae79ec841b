/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/wavelet/rest_tethers.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/wide.h"

enum { SLOTS = PLI_REST_TETHERS, STIFF = PLI_REST_STIFF, LANES = 8 };

void pli_rest_tethers_init(PliRestTethers *t, const PliHost *host, bool stiffens)
{
    t->host = *host;
    t->most_stiff = stiffens ? STIFF : 0;
}

static void free_room(PliRestTethers *t)
{
    const size_t stiff = t->most_stiff, rows = 3 * SLOTS + stiff;
    PLI_FREE(&t->host, t->pair, 9 * (size_t)SLOTS * SLOTS);
    PLI_FREE(&t->host, t->pair_birth, (size_t)SLOTS * SLOTS);
    PLI_FREE(&t->host, t->factor, rows * rows);
    PLI_FREE(&t->host, t->small, rows);
    PLI_FREE(&t->host, t->half, 3 * (size_t)SLOTS * stiff + 1);
    PLI_FREE(&t->host, t->stiff_cross, (size_t)SLOTS * stiff + 1);
    PLI_FREE(&t->host, t->push, 3 * (size_t)SLOTS);
    t->pair = t->factor = t->small = t->half = t->push = NULL;
    t->pair_birth = NULL;
    t->stiff_cross = NULL;
}

/// What is as large whatever the body: 1.4 MB.
static bool make_room(PliRestTethers *t)
{
    const PliHost *host = &t->host;
    const size_t stiff = t->most_stiff, rows = 3 * SLOTS + stiff;
    if (t->has_room) return true;
    t->pair = PLI_NEW(host, 9 * (size_t)SLOTS * SLOTS, double);
    t->pair_birth = PLI_NEW(host, (size_t)SLOTS * SLOTS, uint64_t);
    t->factor = PLI_NEW(host, rows * rows, double);
    t->small = PLI_NEW(host, rows, double);
    t->half = PLI_NEW(host, 3 * (size_t)SLOTS * stiff + 1, double);
    t->stiff_cross = pli_alloc(host, (size_t)SLOTS * stiff + 1, sizeof *t->stiff_cross);
    t->push = PLI_NEW(host, 3 * (size_t)SLOTS, double);
    t->has_room = t->pair && t->pair_birth && t->factor && t->small && t->push && t->stiff_cross && t->half;
    if (!t->has_room) free_room(t);
    return t->has_room;
}

void pli_rest_tethers_free(PliRestTethers *t)
{
    free_room(t);
    PLI_FREE(&t->host, t->response, t->response_capacity);
    PLI_FREE(&t->host, t->lanes, t->lanes_capacity);
}

static bool grow(const PliHost *host, double **a, size_t *capacity, size_t size)
{
    if (size <= *capacity) return true;
    PLI_FREE(host, *a, *capacity);
    *capacity = size;
    *a = PLI_NEW(host, *capacity, double);
    if (!*a) *capacity = 0;
    return *a != NULL;
}

/// Doubles: 20 MB. A large factor keeps fewer points.
static const size_t MOST = 2500000;

PliIndex pli_rest_tethers_room(PliIndex tiles)
{
    const size_t room = tiles ? MOST / (3 * PLI_TILE * (size_t)tiles) : SLOTS;
    return room < SLOTS ? (PliIndex)room : SLOTS;
}

PliStatus pli_rest_tethers_reserve(PliRestTethers *t, PliIndex tiles)
{
    t->length = PLI_TILE * (size_t)tiles;
    t->slots = pli_rest_tethers_room(tiles);
    pli_rest_tethers_forget(t);
    const size_t size = 3 * SLOTS * t->length;
    const bool good =
        make_room(t) && grow(&t->host, &t->response, &t->response_capacity, size < MOST ? size : MOST) &&
        grow(&t->host, &t->lanes, &t->lanes_capacity, (LANES + 1 + 2 * (size_t)t->most_stiff) * t->length);
    t->free = t->lanes ? t->lanes + LANES * t->length : NULL;
    t->stiff = t->lanes ? t->free + t->length : NULL;
    t->stiff_response = t->lanes ? t->stiff + t->most_stiff * t->length : NULL;
    return good ? PLI_OK : PLI_OUT_OF_MEMORY;
}

void pli_rest_tethers_forget(PliRestTethers *t)
{
    memset(t->key, 0, sizeof t->key);
    t->count = 0;
    t->stiff_count = 0;
}

// ---- responses -----------------------------------------------------------------------------------------------------------------

static uint64_t key_of(const PliStepMatrix *a, PliIndex j)
{
    const size_t first = a->tether_first[j], count = a->tether_first[j + 1] - first;
    uint64_t h = pli_hash(PLI_HASH_SEED, a->tether_column + first, count * sizeof *a->tether_column);
    h = pli_hash(h, a->tether_weight + first, count * sizeof *a->tether_weight);
    return h ? h : 1;
}

/// The slot of a row, the oldest one when it is new.
static PliIndex slot_for(PliRestTethers *t, uint64_t key, bool *is_new)
{
    PliIndex oldest = 0;
    for (PliIndex s = 0; s < t->slots; ++s) {
        if (t->key[s] == key) return *is_new = false, s;
        if (t->key[oldest] && (!t->key[s] || t->used[s] < t->used[oldest])) oldest = s;
    }
    t->key[oldest] = key;
    t->birth[oldest] = ++t->births;
    t->stiff_known[oldest] = 0;
    return *is_new = true, oldest;
}

typedef struct Batch {
    PliIndex slot[LANES];
    size_t component[LANES], count;
} Batch;

static void solve_batch(PliRestTethers *t, const PliTiles *m, Batch *b)
{
    if (b->count == 0) return;
    pli_tiles_solve_eight(m, t->lanes);
    for (size_t k = 0; k < b->count; ++k) {
        double *y = t->response + (3 * (size_t)b->slot[k] + b->component[k]) * t->length;
        for (size_t i = 0; i < t->length; ++i) y[i] = t->lanes[LANES * i + k];
    }
    b->count = 0;
}

static void find_responses(PliRestTethers *t, const PliTiles *m, const PliStepMatrix *a, PliPlaceFn *place,
                           const void *self)
{
    Batch batch = { .count = 0 };
    t->looks++;
    // those that are known are kept from being given up for others
    for (PliIndex j = 0; j < a->tether_count; ++j) {
        const uint64_t key = key_of(a, j);
        for (PliIndex s = 0; s < t->slots; ++s)
            if (t->key[s] == key) t->used[s] = t->looks;
    }
    for (PliIndex j = 0; j < a->tether_count; ++j) {
        bool is_new;
        const PliIndex slot = slot_for(t, key_of(a, j), &is_new);
        t->slot_of[j] = slot, t->used[slot] = t->looks;
        for (size_t c = 0; c < 3 && is_new; ++c) {
            if (batch.count == 0) memset(t->lanes, 0, LANES * t->length * sizeof *t->lanes);
            for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; ++e)
                if (!a->fixed[a->tether_column[e]])
                    t->lanes[LANES * (place(self, a->tether_column[e]) + 4 * c) + batch.count] += a->tether_weight[e];
            batch.slot[batch.count] = slot, batch.component[batch.count++] = c;
            if (batch.count == LANES) solve_batch(t, m, &batch);
        }
    }
    solve_batch(t, m, &batch);
    t->count = a->tether_count;
}

/// T_j x: the point's value of a vector of the factor.
static void row_of(const PliStepMatrix *a, PliIndex j, PliPlaceFn *place, const void *self, const double *x,
                   double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; ++e) {
        if (a->fixed[a->tether_column[e]]) continue;
        const double *at = x + place(self, a->tether_column[e]);
        for (size_t c = 0; c < 3; ++c) out[c] += a->tether_weight[e] * at[4 * c];
    }
}

/// S of tethers i and j, row-major [component of i, component of j].
static const double *pair_of(PliRestTethers *t, const PliStepMatrix *a, PliIndex i, PliIndex j, PliPlaceFn *place,
                             const void *self)
{
    const size_t p = t->slot_of[i], q = t->slot_of[j], at = p * SLOTS + q;
    const uint64_t birth = t->birth[p] > t->birth[q] ? t->birth[p] : t->birth[q];
    double *s = t->pair + 9 * at;
    if (t->pair_birth[at] == birth) return s;
    t->pair_birth[at] = birth;
    for (size_t c = 0; c < 3; ++c) {
        double column[3];
        row_of(a, i, place, self, t->response + (3 * q + c) * t->length, column);
        for (size_t r = 0; r < 3; ++r) s[3 * r + c] = column[r];
    }
    return s;
}

// ---- the small system ------------------------------------------------------------------------------------------------------------

/// G with G G^T = Q, columns of 0 left out: Cholesky with pivots. @return columns
static int root_of(const double q[9], double g[9])
{
    double a[9];
    memcpy(a, q, sizeof a);
    memset(g, 0, 9 * sizeof *g);
    const double size = fmax(fmax(q[0], q[4]), q[8]);
    int rank = 0;
    for (; rank < 3; ++rank) {
        int p = 0;
        for (int i = 1; i < 3; ++i)
            if (a[4 * i] > a[4 * p]) p = i;
        if (!(a[4 * p] > 1e-14 * size)) break;
        const double pivot = sqrt(a[4 * p]);
        double column[3];
        for (int i = 0; i < 3; ++i) column[i] = a[3 * i + p] / pivot, g[3 * i + rank] = column[i];
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) a[3 * i + k] -= column[i] * column[k];
    }
    return rank;
}

static double dot(const double *a, const double *b, size_t n)
{
    double part[4] = { 0.0, 0.0, 0.0, 0.0 }; // vectors of the factor have whole tiles
    for (size_t i = 0; i < n; i += 4)
        for (size_t q = 0; q < 4; ++q) part[q] += a[i + q] * b[i + q];
    return (part[0] + part[1]) + (part[2] + part[3]);
}

/// How the point of tether j answers the stiff directions.
static const double (*cross_of(PliRestTethers *t, const PliStepMatrix *a, PliIndex j, PliPlaceFn *place,
                               const void *self))[3]
{
    const size_t slot = t->slot_of[j];
    double(*cross)[3] = t->stiff_cross + slot * STIFF;
    if (t->stiff_known[slot] != t->stiff_births)
        for (PliIndex k = 0; k < t->stiff_count; ++k)
            row_of(a, j, place, self, t->stiff_response + k * t->length, cross[k]);
    t->stiff_known[slot] = t->stiff_births;
    return (const double(*)[3])cross;
}

static bool factor_small(PliRestTethers *t, const PliStepMatrix *a, PliPlaceFn *place, const void *self)
{
    const size_t n = t->stiff_count + t->rows;
    double *l = t->factor;
    size_t row = t->stiff_count;
    for (PliIndex i = 0; i < t->stiff_count; ++i)
        for (PliIndex j = 0; j <= i; ++j)
            l[i * n + j] = dot(t->stiff + i * t->length, t->stiff_response + j * t->length, t->length);
    for (PliIndex i = 0; i < t->count; ++i) {
        size_t column = t->stiff_count;
        if (t->rank[i] && t->stiff_count) {
            const double(*cross)[3] = cross_of(t, a, i, place, self), *g = t->root[i];
            for (int p = 0; p < t->rank[i]; ++p)
                for (PliIndex k = 0; k < t->stiff_count; ++k)
                    l[(row + (size_t)p) * n + k] = g[p] * cross[k][0] + g[3 + p] * cross[k][1] + g[6 + p] * cross[k][2];
        }
        for (PliIndex j = 0; j <= i; ++j) {
            if (t->rank[i] && t->rank[j]) {
                const double *s = pair_of(t, a, i, j, place, self), *g = t->root[i], *h = t->root[j];
                for (int p = 0; p < t->rank[i]; ++p)
                    for (int q = 0; q < t->rank[j]; ++q) {
                        double sum = 0.0;
                        for (int r = 0; r < 3; ++r)
                            for (int c = 0; c < 3; ++c) sum += g[3 * r + p] * s[3 * r + c] * h[3 * c + q];
                        l[(row + (size_t)p) * n + column + (size_t)q] = sum;
                    }
            }
            column += (size_t)t->rank[j];
        }
        row += (size_t)t->rank[i];
    }
    for (size_t i = 0; i < n; ++i) {
        double *li = l + i * n;
        li[i] += 1.0;
        for (size_t j = 0; j <= i; ++j) {
            const double *lj = l + j * n;
            double part[4] = { 0.0, 0.0, 0.0, 0.0 };
            size_t k = 0;
            for (; k + 4 <= j; k += 4)
                for (size_t q = 0; q < 4; ++q) part[q] += li[k + q] * lj[k + q];
            double sum = li[j] - ((part[0] + part[1]) + (part[2] + part[3]));
            for (; k < j; ++k) sum -= li[k] * lj[k];
            if (i != j) {
                li[j] = sum / lj[j];
            } else {
                if (!(sum > 0.0)) return false; // not a number
                li[i] = sqrt(sum);
            }
        }
    }
    return true;
}

bool pli_rest_tethers_prepare(PliRestTethers *t, const PliTiles *m, const PliStepMatrix *a, PliPlaceFn *place,
                              PliTetherFn *block, const void *self)
{
    t->rows = t->count = 0;
    if (block) find_responses(t, m, a, place, self);
    for (PliIndex j = 0; j < t->count; ++j) {
        double q[9];
        block(self, a, j, q);
        t->rank[j] = root_of(q, t->root[j]);
        t->rows += (PliIndex)t->rank[j];
    }
    return factor_small(t, a, place, self);
}

/// y <- (1 + G^T S G)^-1 y
static void solve_small(const PliRestTethers *t, double *y)
{
    const size_t n = t->stiff_count + t->rows;
    const double *l = t->factor;
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < i; ++k) y[i] -= l[i * n + k] * y[k];
        y[i] /= l[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        y[i] /= l[i * n + i];
        for (size_t k = 0; k < i; ++k) y[k] -= l[i * n + k] * y[i];
    }
}

/// G^T p of tether j, its rows of the small system.
static void into_small(const PliRestTethers *t, PliIndex j, const double p[3], double *y)
{
    for (int k = 0; k < t->rank[j]; ++k)
        y[k] = t->root[j][k] * p[0] + t->root[j][3 + k] * p[1] + t->root[j][6 + k] * p[2];
}

/// f -= G y, the pull of tether j.
static void subtract_pull(const PliRestTethers *t, PliIndex j, const double *y, double f[3])
{
    for (int k = 0; k < t->rank[j]; ++k)
        for (int c = 0; c < 3; ++c) f[c] -= t->root[j][3 * c + k] * y[k];
}

/// x += Y f of one point
PLI_WIDE static void add_response(const double *r, size_t length, const double f[3], double *x)
{
    for (size_t i = 0; i < length; ++i) x[i] += f[0] * r[i] + f[1] * r[length + i] + f[2] * r[2 * length + i];
}

/// x -= k r
PLI_WIDE static void subtract(const double *r, size_t length, double k, double *x)
{
    for (size_t i = 0; i < length; ++i) x[i] -= k * r[i];
}

static void add_responses(const PliRestTethers *t, PliIndex j, const double f[3], double *x)
{
    if (f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0) return;
    add_response(t->response + 3 * (size_t)t->slot_of[j] * t->length, t->length, f, x);
}

void pli_rest_tethers_correct(const PliRestTethers *t, const PliStepMatrix *a, PliPlaceFn *place, const void *self,
                              double *x)
{
    double *y = t->small;
    for (PliIndex k = 0; k < t->stiff_count; ++k) *y++ = dot(t->stiff + k * t->length, x, t->length);
    for (PliIndex j = 0; j < t->count; ++j) {
        double p[3];
        if (!t->rank[j]) continue;
        row_of(a, j, place, self, x, p);
        into_small(t, j, p, y);
        y += t->rank[j];
    }
    solve_small(t, t->small);
    y = t->small;
    for (PliIndex k = 0; k < t->stiff_count; ++k) subtract(t->stiff_response + k * t->length, t->length, *y++, x);
    for (PliIndex j = 0; j < t->count; ++j) {
        double f[3] = { 0.0, 0.0, 0.0 };
        subtract_pull(t, j, y, f);
        y += t->rank[j];
        add_responses(t, j, f, x);
    }
}

// The points' own answers S are known, so that what `push` does to the others takes no vector of the factor.
void pli_rest_tethers_answer(PliRestTethers *t, const PliStepMatrix *a, PliPlaceFn *place, const void *self,
                             const double *free, double *push, double *x)
{
    double *y = t->small;
    for (PliIndex k = 0; k < t->stiff_count; ++k) y[k] = dot(t->stiff + k * t->length, free, t->length);
    for (PliIndex j = 0; j < t->count && t->stiff_count; ++j) {
        const double(*cross)[3] = cross_of(t, a, j, place, self), *f = push + 3 * (size_t)j;
        for (PliIndex k = 0; k < t->stiff_count; ++k)
            y[k] += cross[k][0] * f[0] + cross[k][1] * f[1] + cross[k][2] * f[2];
    }
    y += t->stiff_count;
    for (PliIndex j = 0; j < t->count; ++j) {
        double p[3];
        if (!t->rank[j]) continue;
        row_of(a, j, place, self, free, p);
        for (PliIndex k = 0; k < t->count; ++k) {
            const double *f = push + 3 * (size_t)k;
            const double *s = k <= j ? pair_of(t, a, j, k, place, self) : pair_of(t, a, k, j, place, self);
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c) p[r] += (k <= j ? s[3 * r + c] : s[3 * c + r]) * f[c];
        }
        into_small(t, j, p, y);
        y += t->rank[j];
    }
    solve_small(t, t->small);
    y = t->small;
    memcpy(x, free, t->length * sizeof *x);
    for (PliIndex k = 0; k < t->stiff_count; ++k) subtract(t->stiff_response + k * t->length, t->length, *y++, x);
    for (PliIndex j = 0; j < t->count; ++j) {
        subtract_pull(t, j, y, push + 3 * (size_t)j);
        y += t->rank[j];
        add_responses(t, j, push + 3 * (size_t)j, x);
    }
}

// With stiff directions W and what they are answered with, Y = A^-1 W: S - (T Y) (1 + W^T Y)^-1 (T Y)^T.
void pli_rest_tethers_condense(PliRestTethers *t, const PliStepMatrix *a, PliPlaceFn *place, const void *self,
                               const double *free, double *s, double *u)
{
    const size_t n = 3 * (size_t)t->count, stiff = t->stiff_count;
    double l[STIFF * STIFF], y[STIFF];
    for (size_t i = 0; i < stiff; ++i) // the first rows of the small factor are theirs, and s may lie there
        memcpy(l + i * stiff, t->factor + i * (stiff + t->rows), stiff * sizeof *l);
    for (size_t k = 0; k < stiff; ++k) y[k] = dot(t->stiff + k * t->length, free, t->length);
    for (size_t i = 0; i < stiff; ++i) {
        for (size_t k = 0; k < i; ++k) y[i] -= l[i * stiff + k] * y[k];
        y[i] /= l[i * stiff + i];
    }
    double *half = t->half; // L^-1 (T Y)^T, [n, stiff]
    for (PliIndex j = 0; j < t->count; ++j) {
        double p[3];
        const double(*cross)[3] = stiff ? cross_of(t, a, j, place, self) : NULL;
        row_of(a, j, place, self, free, p);
        for (size_t c = 0; c < 3; ++c) {
            double *h = half + (3 * (size_t)j + c) * stiff;
            for (size_t i = 0; i < stiff; ++i) {
                h[i] = cross[i][c];
                for (size_t k = 0; k < i; ++k) h[i] -= l[i * stiff + k] * h[k];
                h[i] /= l[i * stiff + i];
                p[c] -= h[i] * y[i];
            }
            u[3 * (size_t)j + c] = p[c];
        }
    }
    for (PliIndex i = 0; i < t->count; ++i)
        for (PliIndex j = 0; j <= i; ++j) {
            const double *pair = pair_of(t, a, i, j, place, self);
            for (size_t r = 0; r < 3; ++r)
                for (size_t c = 0; c < 3; ++c) {
                    const size_t p = 3 * (size_t)i + r, q = 3 * (size_t)j + c;
                    double sum = pair[3 * r + c];
                    for (size_t k = 0; k < stiff; ++k) sum -= half[p * stiff + k] * half[q * stiff + k];
                    s[p * n + q] = s[q * n + p] = sum;
                }
        }
}
