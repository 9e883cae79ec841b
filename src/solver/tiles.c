/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/tiles.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { AREA = PLI_TILE * PLI_TILE };

PliTiles *pli_tiles_create(const PliHost *host)
{
    PliTiles *m = PLI_NEW(host, 1, PliTiles);
    if (m) m->host = *host;
    return m;
}

static void free_groups(PliTiles *m)
{
    PLI_FREE(&m->host, m->tile_of, m->group_capacity);
    PLI_FREE(&m->host, m->slot, m->group_capacity);
    PLI_FREE(&m->host, m->scratch, 3 * m->group_capacity);
    m->tile_of = m->slot = m->scratch = NULL;
    m->group_capacity = 0;
}

static void free_tiles(PliTiles *m)
{
    PLI_FREE(&m->host, m->width, m->tile_capacity);
    PLI_FREE(&m->host, m->below_first, m->tile_capacity + 1);
    PLI_FREE(&m->host, m->d, 2 * PLI_TILE * m->tile_capacity);
    m->width = m->below_first = NULL;
    m->d = m->x = NULL;
    m->tile_capacity = 0;
}

void pli_tiles_destroy(PliTiles *m)
{
    if (!m) return;
    const PliHost host = m->host;
    PLI_FREE(&host, m->adjacent, m->adjacent_capacity);
    PLI_FREE(&host, m->tile_adjacent, m->tile_adjacent_capacity);
    free_groups(m);
    free_tiles(m);
    PLI_FREE(&host, m->number, m->number_capacity);
    PLI_FREE(&host, m->below, m->below_capacity);
    PLI_FREE(&host, m->a, m->a_capacity);
    PLI_FREE(&host, m->panel, m->panel_capacity);
    PLI_FREE(&host, m, 1);
}

// ---- the pattern ---------------------------------------------------------------------------------------------------------

static bool has(const uint64_t *set, size_t i) { return set[i / 64] >> i % 64 & 1; }
static void put(uint64_t *set, size_t i) { set[i / 64] |= (uint64_t)1 << i % 64; }
static void drop(uint64_t *set, size_t i) { set[i / 64] &= ~((uint64_t)1 << i % 64); }
static PliIndex common(const uint64_t *a, const uint64_t *b, size_t words)
{
    PliIndex count = 0;
    for (size_t w = 0; w < words; ++w) count += (PliIndex)__builtin_popcountll(a[w] & b[w]);
    return count;
}

static PliStatus reserve_groups(PliTiles *m, PliIndex groups)
{
    if (groups > m->group_capacity) {
        free_groups(m);
        m->group_capacity = (size_t)groups + groups / 4;
        m->tile_of = PLI_NEW(&m->host, m->group_capacity, PliIndex);
        m->slot = PLI_NEW(&m->host, m->group_capacity, PliIndex);
        m->scratch = PLI_NEW(&m->host, 3 * m->group_capacity, PliIndex);
        if (!m->tile_of || !m->slot || !m->scratch) {
            free_groups(m);
            return PLI_OUT_OF_MEMORY;
        }
    }
    // two more rows: groups without a tile, and what a tile reaches
    const size_t words = ((size_t)groups + 63) / 64;
    return pli_reserve(&m->host, (void **)&m->adjacent, &m->adjacent_capacity, words * ((size_t)groups + 2),
                       sizeof *m->adjacent)
               ? PLI_OK
               : PLI_OUT_OF_MEMORY;
}

PliStatus pli_tiles_begin(PliTiles *m, PliIndex groups)
{
    m->groups = groups;
    m->words = ((size_t)groups + 63) / 64;
    const PliStatus status = reserve_groups(m, groups);
    if (status != PLI_OK) return status;
    memset(m->adjacent, 0, m->words * ((size_t)groups + 2) * sizeof *m->adjacent);
    return PLI_OK;
}

void pli_tiles_join(PliTiles *m, PliIndex group, PliIndex other)
{
    put(m->adjacent + m->words * group, other);
    put(m->adjacent + m->words * other, group);
}

// Neighbouring groups into tiles: from the loosest group left, those that share most neighbours with the tile.
static void fill_tiles(PliTiles *m)
{
    uint64_t *left = m->adjacent + m->words * m->groups, *reach = left + m->words;
    for (PliIndex g = 0; g < m->groups; ++g) put(left, g), drop(m->adjacent + m->words * g, g);
    m->tiles = 0;
    for (PliIndex placed = 0; placed < m->groups; ++m->tiles) {
        PliIndex next = PLI_NONE, least = PLI_NONE;
        for (PliIndex g = 0; g < m->groups; ++g) {
            if (!has(left, g)) continue;
            const PliIndex degree = common(m->adjacent + m->words * g, left, m->words);
            if (degree < least) least = degree, next = g;
        }
        memset(reach, 0, m->words * sizeof *reach);
        for (PliIndex k = 0; k < PLI_TILE_GROUPS && next != PLI_NONE; ++k, ++placed) {
            m->tile_of[next] = m->tiles;
            m->slot[next] = k;
            drop(left, next);
            for (size_t w = 0; w < m->words; ++w) reach[w] |= m->adjacent[m->words * next + w];
            next = PLI_NONE;
            PliIndex most = 0;
            for (size_t w = 0; w < m->words; ++w)
                for (uint64_t bits = reach[w] & left[w]; bits; bits &= bits - 1) {
                    const PliIndex g = (PliIndex)(64 * w) + (PliIndex)__builtin_ctzll(bits),
                                   shared = 1 + common(m->adjacent + m->words * g, reach, m->words);
                    if (shared > most) most = shared, next = g;
                }
        }
    }
}

// Elimination by least degree on the graph of tiles, which is small. Leaves in tile_adjacent what each tile reaches when its turn
// comes, and its turn in `turn`.
static void order_tiles(PliTiles *m, size_t words, PliIndex *turn, PliIndex *at_turn)
{
    uint64_t *adjacent = m->tile_adjacent, *left = adjacent + words * m->tiles;
    memset(adjacent, 0, words * ((size_t)m->tiles + 1) * sizeof *adjacent);
    for (PliIndex g = 0; g < m->groups; ++g)
        for (size_t w = 0; w < m->words; ++w)
            for (uint64_t bits = m->adjacent[m->words * g + w]; bits; bits &= bits - 1)
                put(adjacent + words * m->tile_of[g], m->tile_of[64 * w + (size_t)__builtin_ctzll(bits)]);
    for (PliIndex t = 0; t < m->tiles; ++t) put(left, t), drop(adjacent + words * t, t);
    for (PliIndex k = 0; k < m->tiles; ++k) {
        PliIndex next = PLI_NONE, least = PLI_NONE;
        for (PliIndex t = 0; t < m->tiles; ++t) {
            if (!has(left, t)) continue;
            const PliIndex degree = common(adjacent + words * t, left, words);
            if (degree < least) least = degree, next = t;
        }
        drop(left, next);
        turn[next] = k;
        at_turn[k] = next;
        uint64_t *own = adjacent + words * next;
        for (size_t w = 0; w < words; ++w) own[w] &= left[w];
        for (size_t w = 0; w < words; ++w)
            for (uint64_t bits = own[w]; bits; bits &= bits - 1) {
                const size_t t = 64 * w + (size_t)__builtin_ctzll(bits);
                for (size_t v = 0; v < words; ++v) adjacent[words * t + v] |= own[v];
                drop(adjacent + words * t, t);
            }
    }
}

static PliStatus reserve_tiles(PliTiles *m, size_t n)
{
    if (n > m->tile_capacity) {
        free_tiles(m);
        m->tile_capacity = n + n / 4 + 1;
        m->width = PLI_NEW(&m->host, m->tile_capacity, PliIndex);
        m->below_first = PLI_NEW(&m->host, m->tile_capacity + 1, PliIndex);
        m->d = PLI_NEW(&m->host, 2 * PLI_TILE * m->tile_capacity, double);
        if (!m->width || !m->below_first || !m->d) {
            free_tiles(m);
            return PLI_OUT_OF_MEMORY;
        }
    }
    m->x = m->d + PLI_TILE * m->tile_capacity;
    const size_t words = (n + 63) / 64;
    return pli_reserve(&m->host, (void **)&m->tile_adjacent, &m->tile_adjacent_capacity, words * (n + 1),
                       sizeof *m->tile_adjacent) &&
                   pli_reserve(&m->host, (void **)&m->number, &m->number_capacity, n * n, sizeof *m->number)
               ? PLI_OK
               : PLI_OUT_OF_MEMORY;
}

static bool reserve_entries(PliTiles *m, size_t n, size_t entries, size_t longest)
{
    return pli_reserve(&m->host, (void **)&m->below, &m->below_capacity, entries, sizeof *m->below) &&
           pli_reserve(&m->host, (void **)&m->a, &m->a_capacity, AREA * (entries + n), sizeof *m->a) &&
           pli_reserve(&m->host, (void **)&m->panel, &m->panel_capacity, AREA * (longest + 1), sizeof *m->panel);
}

PliStatus pli_tiles_reserve(PliTiles *m, PliIndex groups)
{
    // neighbours share tiles; a few at the rim have one of their own
    const size_t n = (size_t)groups / PLI_TILE_GROUPS + groups / 16 + 4;
    if (reserve_groups(m, groups) != PLI_OK || reserve_tiles(m, n) != PLI_OK) return PLI_OUT_OF_MEMORY;
    return reserve_entries(m, n, n * (n - 1) / 2, n) ? PLI_OK : PLI_OUT_OF_MEMORY;
}

PliStatus pli_tiles_seal(PliTiles *m)
{
    fill_tiles(m);
    const size_t n = m->tiles, words = (n + 63) / 64;
    if (reserve_tiles(m, n) != PLI_OK) return PLI_OUT_OF_MEMORY;
    PliIndex *turn = m->scratch, *at_turn = turn + m->group_capacity;
    order_tiles(m, words, turn, at_turn);
    size_t entries = 0, longest = 0;
    for (size_t t = 0; t < n; ++t) {
        const size_t own = common(m->tile_adjacent + words * t, m->tile_adjacent + words * t, words);
        entries += own;
        longest = own > longest ? own : longest;
    }
    if (!reserve_entries(m, n, entries, longest)) return PLI_OUT_OF_MEMORY;
    memset(m->width, 0, n * sizeof *m->width);
    for (PliIndex g = 0; g < m->groups; ++g) {
        m->tile_of[g] = turn[m->tile_of[g]];
        m->width[m->tile_of[g]] += PLI_TILE_GROUP;
    }
    for (size_t k = 0; k < n * n; ++k) m->number[k] = PLI_NONE;
    m->stored = 0;
    m->below_first[0] = 0;
    for (size_t k = 0; k < n; ++k) {
        const uint64_t *own = m->tile_adjacent + words * at_turn[k];
        PliIndex at = m->below_first[k];
        m->number[k * n + k] = m->stored++;
        for (size_t i = k + 1; i < n; ++i) {
            if (!has(own, at_turn[i])) continue;
            m->below[at++] = (PliIndex)i;
            m->number[i * n + k] = m->stored++;
        }
        m->below_first[k + 1] = at;
    }
    return PLI_OK;
}

double pli_tiles_work(const PliTiles *m)
{
    double work = 0.0;
    for (PliIndex k = 0; k < m->tiles; ++k) {
        double below = m->width[k] / 3.0;
        for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e) below += m->width[m->below[e]];
        work += 0.5 * m->width[k] * below * below;
    }
    return work;
}

// ---- numbers ---------------------------------------------------------------------------------------------------------------

void pli_tiles_zero(PliTiles *m) { memset(m->a, 0, (size_t)AREA * m->stored * sizeof *m->a); }

void pli_tiles_fix(PliTiles *m, PliIndex group, PliIndex unknown)
{
    const size_t n = m->tiles, k = m->tile_of[group], at = PLI_TILE_GROUP * (size_t)m->slot[group] + unknown;
    double *own = m->a + (size_t)AREA * m->number[k * n + k];
    for (size_t i = 0; i < PLI_TILE; ++i) own[PLI_TILE * at + i] = own[PLI_TILE * i + at] = i == at ? 1.0 : 0.0;
    for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e) {
        double *t = m->a + (size_t)AREA * m->number[m->below[e] * n + k];
        for (size_t i = 0; i < PLI_TILE; ++i) t[PLI_TILE * i + at] = 0.0;
    }
    for (size_t j = 0; j < k; ++j)
        if (m->number[k * n + j] != PLI_NONE)
            memset(m->a + (size_t)AREA * m->number[k * n + j] + PLI_TILE * at, 0, PLI_TILE * sizeof *m->a);
}

static const PliTilesKernel *choose(void)
{
    const PliSimd best = pli_simd_best();
    const PliTilesKernel *k = best >= PLI_SIMD_AVX512 ? pli_tiles_avx512() : 0;
    if (!k && best >= PLI_SIMD_AVX2) k = pli_tiles_avx2();
    return k ? k : &pli_tiles_plain;
}

// The tile on the diagonal, row by row: L (unit diagonal implied) below it, pivots in d.
static bool factor_tile(PliTiles *m, double *a, double *d, PliIndex width)
{
    for (PliIndex i = 0; i < width; ++i) {
        double *row = a + PLI_TILE * i;
        for (PliIndex j = 0; j < i; ++j) {
            const double *other = a + PLI_TILE * j;
            double part[4] = { 0.0, 0.0, 0.0, 0.0 };
            PliIndex p = 0;
            for (; p + 4 <= j; p += 4)
                for (PliIndex k = 0; k < 4; ++k) part[k] += row[p + k] * other[p + k];
            double sum = (part[0] + part[1]) + (part[2] + part[3]);
            for (; p < j; ++p) sum += row[p] * other[p];
            row[j] -= sum; // becomes l_ij d_j
        }
        double pivot = row[i];
        for (PliIndex j = 0; j < i; ++j) {
            const double l = row[j] / d[j];
            pivot -= l * row[j];
            row[j] = l;
        }
        if (!(fabs(pivot) > 0.0) || !isfinite(pivot)) return false;
        d[i] = pivot;
        m->negative += pivot < 0.0;
    }
    return true;
}

PliStatus pli_tiles_factor(PliTiles *m)
{
    const PliTilesKernel *kernel = choose();
    const size_t n = m->tiles;
    m->negative = 0;
    for (PliIndex k = 0; k < n; ++k) {
        const PliIndex width = m->width[k], first = m->below_first[k], last = m->below_first[k + 1];
        double *own = m->a + (size_t)AREA * m->number[k * n + k], *d = m->d + PLI_TILE * (size_t)k;
        if (!factor_tile(m, own, d, width)) return PLI_DIVERGED;
        for (PliIndex e = first; e < last; ++e) {
            // transposed: panel[p][i] = (L D)[i][p]
            double *t = m->a + (size_t)AREA * m->number[m->below[e] * n + k],
                   *panel = m->panel + (size_t)AREA * (e - first);
            for (size_t i = 0; i < PLI_TILE; ++i)
                for (size_t p = 0; p < width; ++p) panel[PLI_TILE * p + i] = t[PLI_TILE * i + p];
            kernel->panel(panel, own, (int)width);
            for (size_t i = 0; i < PLI_TILE; ++i)
                for (size_t p = 0; p < width; ++p) t[PLI_TILE * i + p] = panel[PLI_TILE * p + i] / d[p];
        }
        for (PliIndex e = first; e < last; ++e) {
            const double *l = m->a + (size_t)AREA * m->number[m->below[e] * n + k];
            for (PliIndex f = first; f <= e; ++f)
                kernel->product(m->a + (size_t)AREA * m->number[m->below[e] * n + m->below[f]], l,
                                m->panel + (size_t)AREA * (f - first), (int)width, (int)m->width[m->below[e]],
                                (int)m->width[m->below[f]]);
        }
    }
    return PLI_OK;
}

void pli_tiles_solve(const PliTiles *m, double *x)
{
    const size_t n = m->tiles;
    for (PliIndex k = 0; k < n; ++k) {
        const double *own = m->a + (size_t)AREA * m->number[k * n + k];
        double *b = x + PLI_TILE * (size_t)k;
        const PliIndex width = m->width[k];
        for (PliIndex i = 0; i < width; ++i)
            for (PliIndex p = 0; p < i; ++p) b[i] -= own[PLI_TILE * i + p] * b[p];
        for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e) {
            const double *t = m->a + (size_t)AREA * m->number[m->below[e] * n + k];
            double *c = x + PLI_TILE * (size_t)m->below[e];
            for (PliIndex i = 0; i < m->width[m->below[e]]; ++i) {
                double part[4] = { 0.0, 0.0, 0.0, 0.0 };
                for (PliIndex p = 0; p < width; p += 4)
                    for (PliIndex q = 0; q < 4; ++q) part[q] += t[PLI_TILE * i + p + q] * b[p + q];
                c[i] -= (part[0] + part[1]) + (part[2] + part[3]);
            }
        }
    }
    for (PliIndex k = (PliIndex)n; k-- > 0;) {
        const double *own = m->a + (size_t)AREA * m->number[k * n + k], *d = m->d + PLI_TILE * (size_t)k;
        double *b = x + PLI_TILE * (size_t)k;
        const PliIndex width = m->width[k];
        for (PliIndex i = 0; i < width; ++i) b[i] /= d[i];
        for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e) {
            const double *t = m->a + (size_t)AREA * m->number[m->below[e] * n + k],
                         *c = x + PLI_TILE * (size_t)m->below[e];
            for (PliIndex i = 0; i < m->width[m->below[e]]; ++i)
                for (PliIndex p = 0; p < width; ++p) b[p] -= c[i] * t[PLI_TILE * i + p];
        }
        for (PliIndex i = width; i-- > 0;)
            for (PliIndex p = 0; p < i; ++p) b[p] -= own[PLI_TILE * i + p] * b[i];
    }
}

void pli_tiles_multiply(const PliTiles *m, const double *a, const double *x, double *y)
{
    const size_t n = m->tiles;
    memset(y, 0, n * PLI_TILE * sizeof *y);
    for (PliIndex k = 0; k < n; ++k) {
        const double *own = a + (size_t)AREA * m->number[k * n + k], *b = x + PLI_TILE * (size_t)k;
        double *z = y + PLI_TILE * (size_t)k;
        const PliIndex width = m->width[k];
        for (PliIndex i = 0; i < width; ++i) {
            double sum = own[PLI_TILE * i + i] * b[i];
            for (PliIndex p = 0; p < i; ++p) sum += own[PLI_TILE * i + p] * b[p], z[p] += own[PLI_TILE * i + p] * b[i];
            z[i] += sum;
        }
        for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e) {
            const double *t = a + (size_t)AREA * m->number[m->below[e] * n + k],
                         *c = x + PLI_TILE * (size_t)m->below[e];
            double *w = y + PLI_TILE * (size_t)m->below[e];
            for (PliIndex i = 0; i < m->width[m->below[e]]; ++i) {
                double part[4] = { 0.0, 0.0, 0.0, 0.0 };
                for (PliIndex p = 0; p < width; p += 4)
                    for (PliIndex q = 0; q < 4; ++q) part[q] += t[PLI_TILE * i + p + q] * b[p + q];
                w[i] += (part[0] + part[1]) + (part[2] + part[3]);
                for (PliIndex p = 0; p < width; ++p) z[p] += c[i] * t[PLI_TILE * i + p];
            }
        }
    }
}

enum { LANES = 8 };

/// c -= l b
static inline void subtract_lanes(double *c, double l, const double *b)
{
    for (int k = 0; k < LANES; ++k) c[k] -= l * b[k];
}

void pli_tiles_solve_eight(const PliTiles *m, double *x)
{
    const size_t n = m->tiles;
    for (PliIndex k = 0; k < n; ++k) {
        const double *own = m->a + (size_t)AREA * m->number[k * n + k];
        double *b = x + (size_t)LANES * PLI_TILE * k;
        const PliIndex width = m->width[k];
        for (PliIndex i = 0; i < width; ++i)
            for (PliIndex p = 0; p < i; ++p) subtract_lanes(b + LANES * i, own[PLI_TILE * i + p], b + LANES * p);
        for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e) {
            const double *t = m->a + (size_t)AREA * m->number[m->below[e] * n + k];
            double *c = x + (size_t)LANES * PLI_TILE * m->below[e];
            for (PliIndex i = 0; i < m->width[m->below[e]]; ++i)
                for (PliIndex p = 0; p < width; ++p) subtract_lanes(c + LANES * i, t[PLI_TILE * i + p], b + LANES * p);
        }
    }
    for (PliIndex k = (PliIndex)n; k-- > 0;) {
        const double *own = m->a + (size_t)AREA * m->number[k * n + k], *d = m->d + PLI_TILE * (size_t)k;
        double *b = x + (size_t)LANES * PLI_TILE * k;
        const PliIndex width = m->width[k];
        for (PliIndex i = 0; i < width; ++i)
            for (int q = 0; q < LANES; ++q) b[LANES * i + q] /= d[i];
        for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e) {
            const double *t = m->a + (size_t)AREA * m->number[m->below[e] * n + k],
                         *c = x + (size_t)LANES * PLI_TILE * m->below[e];
            for (PliIndex i = 0; i < m->width[m->below[e]]; ++i)
                for (PliIndex p = 0; p < width; ++p) subtract_lanes(b + LANES * p, t[PLI_TILE * i + p], c + LANES * i);
        }
        for (PliIndex i = width; i-- > 0;)
            for (PliIndex p = 0; p < i; ++p) subtract_lanes(b + LANES * p, own[PLI_TILE * i + p], b + LANES * i);
    }
}
