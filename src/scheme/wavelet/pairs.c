/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Stiffness and mass of every pair of functions at rest. They are integrated once, between control vertices of the finest level, and taken
// to the functions of coarser levels by subdivision: A(k-1) = S^T A(k) S, exactly what integration there would give. With all pairs
// known, any active set is a choice of rows and columns.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "scheme/wavelet/cell_sums.h"
#include "scheme/wavelet/numbers.h"

/// Rows of pairs, all columns.
typedef struct Matrix {
    size_t rows, entries, capacity;
    size_t *first;
    PliIndex *column;
    double *value; ///< [capacity, PLI_PAIR_SIZE]
} Matrix;

/// A row while it grows.
typedef struct Sum {
    PliIndex size;
    PliIndex *list, count;
    uint8_t *has;
    double *value;
} Sum;

static void free_matrix(const PliHost *host, Matrix *m)
{
    PLI_FREE(host, m->first, m->rows + 1);
    PLI_FREE(host, m->column, m->capacity);
    PLI_FREE(host, m->value, PLI_PAIR_SIZE * m->capacity);
    *m = (Matrix){ 0 };
}

static bool make_matrix(const PliHost *host, Matrix *m, size_t rows, size_t capacity)
{
    *m = (Matrix){ .rows = rows,
                   .capacity = capacity,
                   .first = PLI_NEW(host, rows + 1, size_t),
                   .column = PLI_NEW(host, capacity, PliIndex),
                   .value = PLI_NEW(host, PLI_PAIR_SIZE * capacity, double) };
    if (m->first && m->column && m->value) return true;
    free_matrix(host, m);
    return false;
}

static bool make_sum(const PliHost *host, Sum *s, PliIndex size)
{
    *s = (Sum){ .size = size,
                .list = PLI_NEW(host, size, PliIndex),
                .has = PLI_NEW(host, size, uint8_t),
                .value = PLI_NEW(host, PLI_PAIR_SIZE * (size_t)size, double) };
    return s->list && s->has && s->value;
}

static void free_sum(const PliHost *host, Sum *s)
{
    PLI_FREE(host, s->list, s->size);
    PLI_FREE(host, s->has, s->size);
    PLI_FREE(host, s->value, PLI_PAIR_SIZE * (size_t)s->size);
}

static void add(Sum *s, PliIndex column, double w, const double *value)
{
    double *to = s->value + PLI_PAIR_SIZE * (size_t)column;
    if (!s->has[column]) {
        s->has[column] = 1;
        s->list[s->count++] = column;
        memset(to, 0, PLI_PAIR_SIZE * sizeof *to);
    }
    for (int k = 0; k < PLI_PAIR_SIZE; ++k) to[k] += w * value[k];
}

static int by_index(const void *a, const void *b)
{
    const PliIndex x = *(const PliIndex *)a, y = *(const PliIndex *)b;
    return (x > y) - (x < y);
}

static void clear(Sum *s)
{
    for (PliIndex k = 0; k < s->count; ++k) s->has[s->list[k]] = 0;
    s->count = 0;
}

/// The next row of m; its first[] must be known so far.
static bool push(const PliHost *host, Matrix *m, size_t row, Sum *s)
{
    if (m->entries + s->count > m->capacity) {
        Matrix larger;
        if (!make_matrix(host, &larger, m->rows, m->capacity + m->capacity / 2 + s->count)) return false;
        memcpy(larger.first, m->first, (m->rows + 1) * sizeof *m->first);
        memcpy(larger.column, m->column, m->entries * sizeof *m->column);
        memcpy(larger.value, m->value, PLI_PAIR_SIZE * m->entries * sizeof *m->value);
        larger.entries = m->entries;
        free_matrix(host, m);
        *m = larger;
    }
    qsort(s->list, s->count, sizeof *s->list, by_index);
    for (PliIndex k = 0; k < s->count; ++k, ++m->entries) {
        m->column[m->entries] = s->list[k];
        memcpy(m->value + PLI_PAIR_SIZE * m->entries, s->value + PLI_PAIR_SIZE * (size_t)s->list[k],
               PLI_PAIR_SIZE * sizeof *m->value);
    }
    m->first[row + 1] = m->entries;
    clear(s);
    return true;
}

// ---- integration ----------------------------------------------------------------------------------------------------------------------

/// Means over points spread evenly in a finest cell: factors of Young's modulus and of density, Lame's moduli over Young's.
enum { STIFF, DENSE, LAMBDA, MU, MEANS };
static void find_means(const PliWavelet *s, PliIndex cell, double mean[MEANS])
{
    enum { SIDE = 4 };
    static const double middle[3] = { 0.5, 0.5, 0.5 };
    const PliShapes *h = s->level[s->level_count - 1].shapes;
    const PliBodyDef *def = &s->def.base;
    const bool regular = pli_shapes_regular(h, cell);
    const PliIndex count = regular ? SIDE * SIDE * SIDE : pli_shapes_parts(h, cell);
    memset(mean, 0, MEANS * sizeof *mean);
    for (PliIndex k = 0; k < count; ++k) {
        const double u[3] = { (k % SIDE + 0.5) / SIDE, (k / SIDE % SIDE + 0.5) / SIDE,
                              (k / (SIDE * SIDE) + 0.5) / SIDE };
        double p[3];
        pli_wavelet_place_of(s, cell, regular ? 0 : k, regular ? u : middle, p, NULL);
        const double stiff = pli_body_def_stiffness(def, p), ratio = pli_body_def_poisson(def, p);
        mean[STIFF] += stiff;
        mean[DENSE] += pli_body_def_density(def, p);
        mean[LAMBDA] += stiff * ratio / ((1.0 + ratio) * (1.0 - 2.0 * ratio));
        mean[MU] += stiff / (2.0 * (1.0 + ratio));
    }
    for (int m = 0; m < MEANS; ++m) mean[m] /= count;
}

static double mean_of(const double *value, PliIndex count, size_t stride)
{
    double sum = 0.0;
    for (size_t d = 0; d < count; ++d) sum += value[stride * d];
    return sum / count;
}

void pli_wavelet_material_of(const PliWavelet *s, int level, PliIndex cell, double *stiffness, double *poisson)
{
    const PliWaveletLevel *l = &s->level[level];
    *stiffness = l->stiff ? l->stiff[cell] : 1.0;
    *poisson = s->def.base.material.poisson;
    if (!l->moduli) return;
    const double lambda = l->moduli[2 * (size_t)cell], mu = l->moduli[2 * (size_t)cell + 1];
    *poisson = 0.5 * lambda / (lambda + mu);
    *stiffness = 2.0 * mu * (1.0 + *poisson);
}

/// What the material is in every cell: finest ones by their points, others by their children.
static PliStatus find_material(PliWavelet *s)
{
    const PliBodyDef *def = &s->def.base;
    const bool stiff = def->stiff_region_count > 0, dense = def->dense_region_count > 0,
               moduli = def->poisson_region_count > 0;
    if (!stiff && !dense && !moduli) return PLI_OK;
    for (int k = s->level_count - 1; k >= 0; --k) {
        PliWaveletLevel *l = &s->level[k];
        const size_t cells = l->lattice->cell_count;
        const bool finest = k == s->level_count - 1;
        if (stiff && !(l->stiff = PLI_NEW(&s->host, cells, double))) return PLI_OUT_OF_MEMORY;
        if (finest && dense && !(l->dense = PLI_NEW(&s->host, cells, double))) return PLI_OUT_OF_MEMORY;
        if (moduli && !(l->moduli = PLI_NEW(&s->host, 2 * cells, double))) return PLI_OUT_OF_MEMORY;
        for (PliIndex c = 0; c < cells; ++c) {
            double mean[MEANS];
            if (finest) {
                find_means(s, c, mean);
                if (stiff) l->stiff[c] = mean[STIFF];
                if (dense) l->dense[c] = mean[DENSE];
                if (moduli) l->moduli[2 * (size_t)c] = mean[LAMBDA], l->moduli[2 * (size_t)c + 1] = mean[MU];
            } else {
                const PliWaveletLevel *finer = &s->level[k + 1];
                const PliIndex first = l->child_first[c], count = l->child_first[c + 1] - first;
                if (stiff) l->stiff[c] = mean_of(finer->stiff + first, count, 1);
                for (size_t m = 0; m < 2 && moduli; ++m)
                    l->moduli[2 * (size_t)c + m] = mean_of(finer->moduli + 2 * (size_t)first + m, count, 2);
            }
        }
    }
    return PLI_OK;
}

/// The same connectivity and the same shape, up to rounding.
static bool alike(const PliCellSums *c, PliIndex kind, PliIndex n, const double *x, double tolerance)
{
    if (c->kind != kind || c->n != n) return false;
    for (size_t k = 0; k < 3 * (size_t)n; ++k)
        if (fabs(c->x[k] - x[k]) > tolerance) return false;
    return true;
}

enum { KEPT = 96 }; ///< shapes of cells that are remembered

/// Stiffness of a pair from sum V g_a g_b^T.
static void make_block(const double g[9], double lambda, double mu, double out[9])
{
    const double trace = g[0] + g[4] + g[8];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[3 * i + j] = lambda * g[3 * i + j] + mu * g[3 * j + i] + (i == j ? mu * trace : 0.0);
}

static PliStatus assemble(PliWavelet *s, Matrix *m, PliError *err)
{
    const PliHost *host = &s->host;
    const PliWaveletLevel *l = &s->level[s->level_count - 1];
    const PliShapes *h = l->shapes;
    const PliIndex n = s->count;
    PliStatus status = PLI_OK;
    // the pattern
    PliIndex *stamp = PLI_NEW(host, n, PliIndex);
    size_t entries = 0;
    *m = (Matrix){ 0 };
    for (int pass = 0; pass < 2 && stamp; ++pass) {
        if (pass == 1 && !make_matrix(host, m, n, entries)) break;
        memset(stamp, 0xff, n * sizeof *stamp);
        entries = 0;
        for (PliIndex v = 0; v < n; ++v) {
            const size_t begin = entries;
            for (PliIndex k = l->support_first[v]; k < l->support_first[v + 1]; ++k)
                for (PliIndex e = h->first[l->support[k]]; e < h->first[l->support[k] + 1]; ++e) {
                    if (stamp[h->vertex[e]] == v) continue;
                    stamp[h->vertex[e]] = v;
                    if (pass == 1) m->column[entries] = h->vertex[e];
                    entries++;
                }
            if (pass == 1)
                qsort(m->column + begin, entries - begin, sizeof *m->column, by_index), m->first[v + 1] = entries;
        }
    }
    PliCellSums *kept = PLI_NEW(host, KEPT, PliCellSums);
    double *x = PLI_NEW(host, 3 * (size_t)h->width, double),
           *pair = PLI_NEW(host, PLI_PAIR_SIZE * (size_t)h->width * h->width, double),
           *load = PLI_NEW(host, 4 * (size_t)h->width, double);
    PliIndex kept_count = 0;
    if (!stamp || !m->first || !kept || !x || !pair || !load) status = PLI_OUT_OF_MEMORY;
    if (m->first) m->entries = entries;
    for (PliIndex c = 0; c < l->lattice->cell_count && status == PLI_OK; ++c) {
        const PliIndex *vertex = h->vertex + h->first[c], width = h->first[c + 1] - h->first[c];
        for (PliIndex k = 0; k < width; ++k)
            v3_sub(x + 3 * (size_t)k, l->lattice->x + 3 * (size_t)vertex[k], l->lattice->x + 3 * (size_t)vertex[0]);
        PliCellSums own = { .n = width, .kind = h->kind[c], .x = x, .pair = pair, .load = load };
        const bool cut = l->share && l->share[c] == PLI_CELL_CUT;
        if (l->share && l->share[c] == PLI_CELL_EMPTY) continue;
        PliIndex known = cut ? kept_count : 0;
        while (known < kept_count && !alike(&kept[known], own.kind, width, x, 1e-12 * s->size)) known++;
        if (known < kept_count) {
            own = kept[known];
        } else {
            pli_wavelet_integrate(s, l, c, &own);
            if (!own.good) {
                status = pli_refuse(err, PLI_BAD_MESH, "cell %u of the finest lattice is inside out", c);
                break;
            }
            if (kept_count < KEPT && !cut) {
                PliCellSums *k = &kept[kept_count++];
                *k = own;
                k->x = PLI_NEW(host, 3 * (size_t)width, double),
                k->pair = PLI_NEW(host, PLI_PAIR_SIZE * (size_t)width * width, double),
                k->load = PLI_NEW(host, 4 * (size_t)width, double);
                if (!k->x || !k->pair || !k->load) {
                    status = PLI_OUT_OF_MEMORY;
                    break;
                }
                memcpy(k->x, x, 3 * (size_t)width * sizeof *x);
                memcpy(k->pair, pair, PLI_PAIR_SIZE * (size_t)width * width * sizeof *pair);
                memcpy(k->load, load, 4 * (size_t)width * sizeof *load);
            }
        }
        // a ratio that is the same everywhere comes in at the end
        const double stiff = l->stiff ? l->stiff[c] : 1.0, dense = l->dense ? l->dense[c] : 1.0;
        const double *moduli = l->moduli ? l->moduli + 2 * (size_t)c : NULL;
        s->volume += own.volume;
        s->total_mass += dense * own.volume;
        for (PliIndex a = 0; a < width; ++a) {
            s->load[vertex[a]] += dense * own.load[4 * (size_t)a];
            v3_add(s->mean + 3 * (size_t)vertex[a], s->mean + 3 * (size_t)vertex[a], own.load + 4 * (size_t)a + 1);
            for (PliIndex b = a; b < width; ++b) {
                const double *p = own.pair + PLI_PAIR_SIZE * ((size_t)a * width + b);
                const double mass = p[9];
                double block[9];
                if (moduli) make_block(p, moduli[0], moduli[1], block), p = block;
                for (int side = 0; side < (a == b ? 1 : 2); ++side) {
                    const PliIndex row = side ? vertex[b] : vertex[a], column = side ? vertex[a] : vertex[b];
                    size_t low = m->first[row], high = m->first[row + 1];
                    while (high - low > 1) {
                        const size_t mid = (low + high) / 2;
                        if (m->column[mid] <= column)
                            low = mid;
                        else
                            high = mid;
                    }
                    double *to = m->value + PLI_PAIR_SIZE * low;
                    const double by = moduli ? 1.0 : stiff;
                    if (side)
                        for (int k = 0; k < 9; ++k) to[k] += by * p[3 * (k % 3) + k / 3];
                    else
                        for (int k = 0; k < 9; ++k) to[k] += by * p[k];
                    to[9] += dense * mass;
                }
            }
        }
    }
    for (PliIndex k = 0; k < kept_count; ++k) {
        PLI_FREE(host, kept[k].x, 3 * (size_t)kept[k].n);
        PLI_FREE(host, kept[k].pair, PLI_PAIR_SIZE * (size_t)kept[k].n * kept[k].n);
        PLI_FREE(host, kept[k].load, 4 * (size_t)kept[k].n);
    }
    PLI_FREE(host, kept, KEPT);
    PLI_FREE(host, x, 3 * (size_t)h->width);
    PLI_FREE(host, pair, PLI_PAIR_SIZE * (size_t)h->width * h->width);
    PLI_FREE(host, load, 4 * (size_t)h->width);
    PLI_FREE(host, stamp, n);
    if (status == PLI_OUT_OF_MEMORY) return pli_refuse(err, status, "no memory for the pairs of %u functions", n);
    if (status != PLI_OK) return status;
    // sum V g_a g_b^T becomes stiffness, volume becomes mass
    const double lambda = s->lame.bulk, mu = s->def.base.material.young / (2.0 * (1.0 + s->def.base.material.poisson)),
                 density = s->def.base.material.density;
    for (size_t k = 0; k < m->entries; ++k) {
        double *v = m->value + PLI_PAIR_SIZE * k, g[9];
        memcpy(g, v, sizeof g);
        if (l->moduli)
            for (int i = 0; i < 9; ++i) v[i] *= s->def.base.material.young;
        else
            make_block(g, lambda, mu, v);
        v[9] *= density;
    }
    for (PliIndex v = 0; v < n; ++v) s->load[v] *= density, v3_scale(s->mean + 3 * (size_t)v, 1.0 / s->volume);
    s->total_mass *= density;
    return PLI_OK;
}

// ---- through the levels ---------------------------------------------------------------------------------------------------------------

/// c = a S
static bool times_rows(const PliHost *host, const Matrix *a, PliRows r, Sum *sum, Matrix *c)
{
    if (!make_matrix(host, c, a->rows, a->entries)) return false;
    for (size_t i = 0; i < a->rows; ++i) {
        for (size_t k = a->first[i]; k < a->first[i + 1]; ++k)
            for (PliIndex e = r.first[a->column[k]]; e < r.first[a->column[k] + 1]; ++e)
                add(sum, r.column[e], r.weight[e], a->value + PLI_PAIR_SIZE * k);
        if (!push(host, c, i, sum)) return false;
    }
    return true;
}

/// a = S^T c
static bool transpose_times(const PliHost *host, PliRows r, const Matrix *c, Sum *sum, Matrix *a)
{
    PliIndex *first = PLI_NEW(host, (size_t)r.in_count + 2, PliIndex),
             *item = PLI_NEW(host, r.first[r.out_count], PliIndex);
    bool good = first && item && make_matrix(host, a, r.in_count, c->entries / 4 + 1);
    double *weight = PLI_NEW(host, r.first[r.out_count], double);
    good = good && weight;
    for (PliIndex k = 0; good && k < r.first[r.out_count]; ++k) first[r.column[k] + 2]++;
    for (PliIndex j = 0; good && j < r.in_count; ++j) first[j + 2] += first[j + 1];
    for (PliIndex i = 0; good && i < r.out_count; ++i)
        for (PliIndex k = r.first[i]; k < r.first[i + 1]; ++k) {
            const PliIndex at = first[r.column[k] + 1]++;
            item[at] = i, weight[at] = r.weight[k];
        }
    for (PliIndex j = 0; good && j < r.in_count; ++j) {
        for (PliIndex k = first[j]; k < first[j + 1]; ++k)
            for (size_t e = c->first[item[k]]; e < c->first[item[k] + 1]; ++e)
                add(sum, c->column[e], weight[k], c->value + PLI_PAIR_SIZE * e);
        good = push(host, a, j, sum);
    }
    PLI_FREE(host, weight, r.first[r.out_count]);
    PLI_FREE(host, first, (size_t)r.in_count + 2);
    PLI_FREE(host, item, r.first[r.out_count]);
    return good;
}

/// Loads and mean gradients of functions from those of control vertices: down the levels, odd ones stay.
static void contract_loads(PliWavelet *s)
{
    for (int k = s->level_count - 1; k > 0; --k) {
        const PliRows r = pli_transfer_rows(s->level[k].rows);
        const PliIndex even = s->level[k - 1].lattice->vertex_count;
        double *f = s->q, *load = f + 3 * (size_t)even; // subdivision makes at least three times as many
        memset(f, 0, 3 * (size_t)even * sizeof *f);
        memset(load, 0, even * sizeof *load);
        pli_rows_add_transpose((PliRows){ r.first, r.column, r.weight, s->level[k].lattice->vertex_count, even },
                               s->mean, f);
        for (PliIndex i = 0; i < s->level[k].lattice->vertex_count; ++i)
            for (PliIndex e = r.first[i]; e < r.first[i + 1]; ++e) load[r.column[e]] += r.weight[e] * s->load[i];
        memcpy(s->mean, f, 3 * (size_t)even * sizeof *f);
        memcpy(s->load, load, even * sizeof *load);
    }
}

// Functions of one level on a regular lattice are translates of each other, and so are their pairs, up to rounding: values that
// agree to a 1e-12 of the largest are kept once, and so are the blocks of a row with the functions of one level, as a run.
// A row is a string of bytes: for each level from 0 to its own how many columns there are, and the steps from one to the next.
typedef struct Table {
    PliIndex *slot; ///< by hash; PLI_NONE: free
    size_t size, used;
} Table;

typedef struct Pairs {
    double grid[2]; ///< of stiffness and of mass: what counts as the same
    Table blocks, runs;
    size_t bytes, run_entries;
    PliIndex *column, *block;               ///< of one row, finer levels first ...
    PliIndex start[PLI_WAVELET_LEVELS + 1]; ///< ... section of level j: start[j] .. start[j] + length[j]
    PliIndex length[PLI_WAVELET_LEVELS], count;
    PliIndex *run_length; ///< by section: of runs that are kept, 0 otherwise
} Pairs;

static void round_to_grid(const Pairs *p, const double *stiffness, double mass, int64_t out[PLI_PAIR_SIZE])
{
    for (int k = 0; k < 9; ++k) out[k] = llround(stiffness[k] / p->grid[0]);
    out[9] = llround(mass / p->grid[1]);
}

static bool grow_table(const PliHost *host, Table *t)
{
    const size_t size = t->size ? 2 * t->size : 4096;
    PliIndex *slot = PLI_NEW(host, size, PliIndex);
    if (!slot) return false;
    memset(slot, 0xff, size * sizeof *slot);
    PLI_FREE(host, t->slot, t->size);
    t->slot = slot, t->size = size;
    return true;
}

static void keep(Table *t, uint64_t hash, PliIndex what)
{
    size_t at = hash & (t->size - 1);
    while (t->slot[at] != PLI_NONE) at = (at + 1) & (t->size - 1);
    t->slot[at] = what;
}

static uint64_t block_hash(const PliWavelet *s, const Pairs *p, PliIndex b)
{
    int64_t r[PLI_PAIR_SIZE];
    round_to_grid(p, s->block_stiffness + 9 * (size_t)b, s->block_mass[b], r);
    return pli_hash(PLI_HASH_SEED, r, sizeof r);
}

/// Room for `blocks` blocks, those there are stay.
static bool resize_blocks(PliWavelet *s, size_t blocks)
{
    double *k = PLI_NEW(&s->host, 9 * blocks, double), *m = PLI_NEW(&s->host, blocks, double);
    const bool good = k && m;
    if (good && s->block_count) {
        memcpy(k, s->block_stiffness, 9 * (size_t)s->block_count * sizeof *k);
        memcpy(m, s->block_mass, s->block_count * sizeof *m);
    }
    PLI_FREE(&s->host, good ? s->block_stiffness : k, 9 * (good ? s->block_capacity : blocks));
    PLI_FREE(&s->host, good ? s->block_mass : m, good ? s->block_capacity : blocks);
    if (good) s->block_stiffness = k, s->block_mass = m, s->block_capacity = blocks;
    return good;
}

static bool resize_bytes(PliWavelet *s, size_t used, size_t bytes)
{
    uint8_t *b = PLI_NEW(&s->host, bytes, uint8_t);
    if (b && used) memcpy(b, s->pair_byte, used);
    PLI_FREE(&s->host, b ? s->pair_byte : b, s->byte_capacity);
    if (b) s->pair_byte = b, s->byte_capacity = bytes;
    return b != NULL;
}

static bool resize_runs(PliWavelet *s, size_t used, size_t entries)
{
    PliIndex *r = PLI_NEW(&s->host, entries, PliIndex);
    if (r && used) memcpy(r, s->run_code, used * sizeof *r);
    PLI_FREE(&s->host, r ? s->run_code : r, s->run_capacity);
    if (r) s->run_code = r, s->run_capacity = entries;
    return r != NULL;
}

/// The block of these values. PLI_NONE: no memory
static PliIndex block_of(PliWavelet *s, Pairs *p, const double *value)
{
    int64_t r[PLI_PAIR_SIZE], other[PLI_PAIR_SIZE];
    Table *t = &p->blocks;
    if (2 * (size_t)s->block_count >= t->size) {
        if (!grow_table(&s->host, t)) return PLI_NONE;
        for (PliIndex b = 0; b < s->block_count; ++b) keep(t, block_hash(s, p, b), b);
    }
    round_to_grid(p, value, value[9], r);
    const uint64_t hash = pli_hash(PLI_HASH_SEED, r, sizeof r);
    for (size_t at = hash & (t->size - 1); t->slot[at] != PLI_NONE; at = (at + 1) & (t->size - 1)) {
        const PliIndex b = t->slot[at];
        round_to_grid(p, s->block_stiffness + 9 * (size_t)b, s->block_mass[b], other);
        if (memcmp(r, other, sizeof r) == 0) return b;
    }
    const size_t n = s->block_count;
    if (n == s->block_capacity && !resize_blocks(s, n + n / 2 + 1024)) return PLI_NONE;
    memcpy(s->block_stiffness + 9 * n, value, 9 * sizeof *value);
    s->block_mass[n] = value[9];
    keep(t, hash, s->block_count);
    return s->block_count++;
}

/// Sections of all rows, one after the other: rows of level k have k + 1.
static size_t section_of(const PliWavelet *s, PliIndex row)
{
    size_t at = 0;
    PliIndex first = 0;
    for (int k = 0;; ++k) {
        const PliIndex end = s->level[k].lattice->vertex_count;
        if (row < end) return at + (size_t)(row - first) * (size_t)(k + 1);
        if (k == s->level_count - 1) return at + (size_t)(end - first) * (size_t)(k + 1);
        at += (size_t)(end - first) * (size_t)(k + 1), first = end;
    }
}

/// The run of these blocks, which section `section` is the first to have unless there is one. @return false: no memory
static bool keep_run(PliWavelet *s, Pairs *p, size_t section, const PliIndex *block, PliIndex count)
{
    Table *t = &p->runs;
    if (2 * t->used >= t->size) {
        if (!grow_table(&s->host, t)) return false;
        for (size_t k = 0; k < section; ++k)
            if (p->run_length[k])
                keep(t, pli_hash(PLI_HASH_SEED, s->run_code + s->pair_run[k], p->run_length[k] * sizeof *block),
                     (PliIndex)k);
    }
    const uint64_t hash = pli_hash(PLI_HASH_SEED, block, count * sizeof *block);
    for (size_t at = hash & (t->size - 1); t->slot[at] != PLI_NONE; at = (at + 1) & (t->size - 1)) {
        const PliIndex k = t->slot[at];
        if (p->run_length[k] != count || memcmp(block, s->run_code + s->pair_run[k], count * sizeof *block) != 0)
            continue;
        s->pair_run[section] = s->pair_run[k];
        return true;
    }
    if (p->run_entries + count > s->run_capacity &&
        !resize_runs(s, p->run_entries, p->run_entries + p->run_entries / 2 + count + 1024))
        return false;
    memcpy(s->run_code + p->run_entries, block, count * sizeof *block);
    s->pair_run[section] = (PliIndex)p->run_entries;
    p->run_length[section] = count;
    p->run_entries += count;
    keep(t, hash, (PliIndex)section);
    t->used++;
    return p->run_entries < PLI_NONE;
}

/// The row as it was collected.
static bool keep_row(PliWavelet *s, Pairs *p, PliIndex row, int level)
{
    const size_t room = p->bytes + PLI_NUMBER_BYTES * ((size_t)p->count + PLI_WAVELET_LEVELS),
                 section = section_of(s, row);
    if (room > s->byte_capacity && !resize_bytes(s, p->bytes, room + room / 2)) return false;
    for (int j = 0; j <= level; ++j) {
        const PliIndex *column = p->column + p->start[j], *block = p->block + p->start[j], n = p->length[j];
        PliIndex last = j > 0 ? s->level[j - 1].lattice->vertex_count : 0;
        p->bytes += pli_put_number(s->pair_byte + p->bytes, n);
        for (PliIndex e = 0; e < n; ++e) {
            p->bytes += pli_put_number(s->pair_byte + p->bytes, column[e] - last);
            last = column[e];
        }
        if (n && !keep_run(s, p, section + (size_t)j, block, n)) return false;
    }
    s->pair_first[row + 1] = (PliIndex)p->bytes;
    s->pair_count += p->count;
    if (p->count > s->pair_width) s->pair_width = p->count;
    return p->bytes < PLI_NONE && s->pair_count < PLI_NONE;
}

PliIndex pli_wavelet_pairs_of(const PliWavelet *s, PliIndex a, int level, PliPair **pairs)
{
    const int own = s->dof_level[a], last = level < own ? level : own;
    const size_t section = section_of(s, a);
    const uint8_t *from = s->pair_byte + s->pair_first[a];
    PliPair *out = s->pair_row + s->pair_width; // coarser levels come first, and are put behind finer ones
    for (int j = 0; j <= last; ++j) {
        PliIndex n, column = j > 0 ? s->level[j - 1].lattice->vertex_count : 0;
        from = pli_get_number(from, &n);
        const PliIndex *code = n ? s->run_code + s->pair_run[section + (size_t)j] : NULL;
        out -= n;
        for (PliIndex e = 0; e < n; ++e) {
            PliIndex step;
            from = pli_get_number(from, &step);
            column += step;
            out[e] = (PliPair){ column, code[e] };
        }
    }
    *pairs = out;
    return (PliIndex)(s->pair_row + s->pair_width - out);
}

static void find_grid(const PliWavelet *s, const Matrix *a, double grid[2])
{
    double most[2] = { 0.0, 0.0 };
    for (int k = 0; k < s->level_count; ++k)
        for (size_t e = 0; e < a[k].entries; ++e)
            for (int i = 0; i < PLI_PAIR_SIZE; ++i)
                most[i == 9] = fmax(most[i == 9], fabs(a[k].value[PLI_PAIR_SIZE * e + (size_t)i]));
    for (int i = 0; i < 2; ++i) grid[i] = most[i] > 0.0 ? 1e-12 * most[i] : 1.0;
}

/// Numbers of blocks in runs become codes.
static bool fold(PliWavelet *s, const Pairs *p)
{
    const PliIndex blocks = s->block_count;
    PliIndex *code = PLI_NEW(&s->host, blocks, PliIndex);
    const bool good = code && pli_wavelet_fold_blocks(s, p->grid, code);
    s->most_codes = blocks;
    for (size_t e = 0; e < p->run_entries && good; ++e) s->run_code[e] = code[s->run_code[e]];
    PLI_FREE(&s->host, code, blocks);
    return good;
}

/// Rows of functions from rows of control vertices.
static bool collect_pairs(PliWavelet *s, const Matrix *a, Sum *sum)
{
    const PliHost *host = &s->host;
    Pairs pairs = { 0 };
    Sum next = { 0 };
    const size_t sections = section_of(s, s->count);
    find_grid(s, a, pairs.grid);
    pairs.column = PLI_NEW(host, s->count, PliIndex);
    pairs.block = PLI_NEW(host, s->count, PliIndex);
    pairs.run_length = PLI_NEW(host, sections, PliIndex);
    s->pair_run = PLI_NEW(host, sections, PliIndex);
    bool good = make_sum(host, &next, sum->size) && pairs.column && pairs.block && pairs.run_length && s->pair_run;
    PliIndex row = 0;
    for (int k = 0; k < s->level_count && good; ++k) {
        for (; row < s->level[k].lattice->vertex_count && good; ++row) {
            Sum *now = sum, *then = &next;
            pairs.count = 0;
            for (size_t e = a[k].first[row]; e < a[k].first[row + 1]; ++e)
                add(now, a[k].column[e], 1.0, a[k].value + PLI_PAIR_SIZE * e);
            for (int j = k; good; --j) {
                const PliIndex even = j > 0 ? s->level[j - 1].lattice->vertex_count : 0;
                qsort(now->list, now->count, sizeof *now->list, by_index);
                pairs.start[j] = pairs.count;
                for (PliIndex e = 0; e < now->count && good; ++e) {
                    const PliIndex column = now->list[e];
                    if (column < even || column > row || (s->dropped && (s->dropped[row] || s->dropped[column])))
                        continue;
                    pairs.column[pairs.count] = column;
                    pairs.block[pairs.count] = block_of(s, &pairs, now->value + PLI_PAIR_SIZE * (size_t)column);
                    good = pairs.block[pairs.count++] != PLI_NONE;
                }
                pairs.length[j] = pairs.count - pairs.start[j];
                if (j == 0) break;
                const PliRows r = pli_transfer_rows(s->level[j].rows);
                for (PliIndex e = 0; e < now->count; ++e)
                    for (PliIndex i = r.first[now->list[e]]; i < r.first[now->list[e] + 1]; ++i)
                        add(then, r.column[i], r.weight[i], now->value + PLI_PAIR_SIZE * (size_t)now->list[e]);
                clear(now);
                Sum *keep = now;
                now = then, then = keep;
            }
            clear(now);
            good = good && keep_row(s, &pairs, row, k);
        }
        if (k == 0) s->base_pairs = s->pair_count;
    }
    free_sum(host, &next);
    PLI_FREE(host, pairs.blocks.slot, pairs.blocks.size);
    PLI_FREE(host, pairs.runs.slot, pairs.runs.size);
    PLI_FREE(host, pairs.column, s->count);
    PLI_FREE(host, pairs.block, s->count);
    PLI_FREE(host, pairs.run_length, sections);
    s->pair_row = PLI_NEW(host, s->pair_width, PliPair);
    return good && s->pair_row && fold(s, &pairs) && resize_bytes(s, pairs.bytes, pairs.bytes) &&
           resize_runs(s, pairs.run_entries, pairs.run_entries) && resize_blocks(s, s->block_count);
}

/// Where functions live is asked again for samples, which only nonlinear bodies have.
static void forget_support(PliWavelet *s)
{
    for (int k = 0; k < s->level_count && s->def.law != PLI_WAVELET_NONLINEAR; ++k) {
        PliWaveletLevel *l = &s->level[k];
        PLI_FREE(&s->host, l->support, l->shapes->first[l->lattice->cell_count]);
        PLI_FREE(&s->host, l->support_first, (size_t)l->lattice->vertex_count + 1);
        l->support = l->support_first = NULL;
    }
}

PliStatus pli_wavelet_make_pairs(PliWavelet *s, PliError *err)
{
    const PliHost *host = &s->host;
    s->load = PLI_NEW(host, s->count, double);
    s->mean = PLI_NEW(host, 3 * (size_t)s->count, double);
    s->own_code = PLI_NEW(host, s->count, PliIndex);
    s->pair_first = PLI_NEW(host, (size_t)s->count + 1, PliIndex);
    Matrix a[PLI_WAVELET_LEVELS] = { { 0 } };
    Sum sum = { 0 };
    PliStatus status = s->load && s->mean && s->own_code && s->pair_first && make_sum(host, &sum, s->count)
                           ? PLI_OK
                           : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) status = find_material(s);
    if (status == PLI_OK) status = assemble(s, &a[s->level_count - 1], err);
    if (status == PLI_OK) contract_loads(s);
    if (status == PLI_OK && s->inside) status = pli_wavelet_merge(s, err);
    for (int k = s->level_count - 1; k > 0 && status == PLI_OK; --k) {
        Matrix c = { 0 };
        const PliRows r = pli_transfer_rows(s->level[k].rows);
        if (!times_rows(host, &a[k], r, &sum, &c) || !transpose_times(host, r, &c, &sum, &a[k - 1]))
            status = PLI_OUT_OF_MEMORY;
        free_matrix(host, &c);
    }
    if (status == PLI_OK && s->merge && s->level_count == 1) {
        Matrix c = { 0 }, merged = { 0 };
        const PliRows r = pli_transfer_rows(s->merge);
        if (!times_rows(host, &a[0], r, &sum, &c) || !transpose_times(host, r, &c, &sum, &merged))
            status = PLI_OUT_OF_MEMORY;
        free_matrix(host, &c);
        free_matrix(host, &a[0]);
        a[0] = merged;
    }
    if (status == PLI_OK && !collect_pairs(s, a, &sum)) status = PLI_OUT_OF_MEMORY;
    for (int k = 0; k < PLI_WAVELET_LEVELS; ++k) free_matrix(host, &a[k]);
    free_sum(host, &sum);
    if (status == PLI_OK && !pli_wavelet_make_rows(s)) status = PLI_OUT_OF_MEMORY;
    if (status == PLI_OUT_OF_MEMORY)
        return pli_refuse(err, status, "no memory for the pairs of %u functions", s->count);
    if (status != PLI_OK) return status;
    for (PliIndex i = 0; i < s->count; ++i) {
        PliPair *pair;
        const PliIndex n = pli_wavelet_pairs_of(s, i, s->dof_level[i], &pair);
        s->own_code[i] = PLI_NONE;
        for (PliIndex k = 0; k < n; ++k)
            if (pair[k].column == i) s->own_code[i] = pair[k].code;
    }
    s->info.full_entries = 9 * (2 * s->pair_count - s->count);
    s->info.volume = s->volume;
    forget_support(s);
    return PLI_OK;
}

void pli_wavelet_yield(const PliWavelet *s, PliIndex a, const double f[3], double u[3])
{
    double inverse[9] = { 0.0 }, own[9];
    if (s->own_code[a] != PLI_NONE) pli_wavelet_block(s, s->own_code[a], own), m3_inverse(inverse, own);
    m3_apply(u, inverse, f);
}

void pli_wavelet_free_pairs(PliWavelet *s)
{
    const PliHost *host = &s->host;
    PLI_FREE(host, s->load, s->count);
    PLI_FREE(host, s->mean, 3 * (size_t)s->count);
    PLI_FREE(host, s->own_code, s->count);
    PLI_FREE(host, s->pair_first, (size_t)s->count + 1);
    PLI_FREE(host, s->pair_byte, s->byte_capacity);
    if (s->pair_run) PLI_FREE(host, s->pair_run, section_of(s, s->count));
    PLI_FREE(host, s->run_code, s->run_capacity);
    PLI_FREE(host, s->pair_row, s->pair_width);
    PLI_FREE(host, s->block_stiffness, 9 * s->block_capacity);
    PLI_FREE(host, s->block_mass, s->block_capacity);
    pli_wavelet_free_rows(s);
    for (int k = 0; k < s->level_count; ++k) {
        PliWaveletLevel *l = &s->level[k];
        if (l->stiff) PLI_FREE(host, l->stiff, l->lattice->cell_count);
        if (l->dense) PLI_FREE(host, l->dense, l->lattice->cell_count);
        if (l->moduli) PLI_FREE(host, l->moduli, 2 * (size_t)l->lattice->cell_count);
    }
}
