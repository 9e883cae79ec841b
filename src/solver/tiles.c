/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/tiles.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/wide.h"

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
    PLI_FREE(&m->host, m->x, PLI_TILE * m->tile_capacity);
    m->width = m->below_first = NULL;
    m->x = NULL;
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
    PLI_FREE(&host, m->d, m->d_capacity);
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
    // three more rows: groups without a tile, what a tile reaches, and all groups it may have
    const size_t words = ((size_t)groups + 63) / 64;
    return pli_reserve(&m->host, (void **)&m->adjacent, &m->adjacent_capacity, words * ((size_t)groups + 3),
                       sizeof *m->adjacent)
               ? PLI_OK
               : PLI_OUT_OF_MEMORY;
}

PliStatus pli_tiles_begin(PliTiles *m, PliIndex groups)
{
    m->groups = m->early = groups;
    m->words = ((size_t)groups + 63) / 64;
    const PliStatus status = reserve_groups(m, groups);
    if (status != PLI_OK) return status;
    memset(m->adjacent, 0, m->words * ((size_t)groups + 3) * sizeof *m->adjacent);
    return PLI_OK;
}

void pli_tiles_join(PliTiles *m, PliIndex group, PliIndex other)
{
    put(m->adjacent + m->words * group, other);
    put(m->adjacent + m->words * other, group);
}

void pli_tiles_eliminate_first(PliTiles *m, PliIndex groups) { m->early = groups; }

// Neighbouring groups into tiles: from the loosest group left, those that share most neighbours with the tile.
static void fill_tiles(PliTiles *m, PliIndex from, PliIndex to)
{
    uint64_t *left = m->adjacent + m->words * m->groups, *reach = left + m->words, *all = reach + m->words;
    memset(left, 0, 3 * m->words * sizeof *left);
    for (PliIndex g = from; g < to; ++g) put(left, g), put(all, g), drop(m->adjacent + m->words * g, g);
    for (PliIndex placed = from; placed < to; ++m->tiles) {
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
            for (size_t w = 0; w < m->words; ++w) reach[w] |= m->adjacent[m->words * next + w] & all[w];
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

/// Of the tiles from ... to - 1 those that are not eliminated yet, the one that reaches fewest of `among`.
static PliIndex find_loosest(const PliTiles *m, size_t words, PliIndex from, PliIndex to, const uint64_t *left,
                             const uint64_t *among)
{
    PliIndex next = PLI_NONE, least = PLI_NONE;
    for (PliIndex t = from; t < to; ++t) {
        if (!has(left, t)) continue;
        const PliIndex degree = common(m->tile_adjacent + words * t, among, words);
        if (degree < least) least = degree, next = t;
    }
    return next;
}

// Elimination by least degree on the graph of tiles, which is small. Leaves in tile_adjacent what each tile reaches when its turn
// comes, and its turn in `turn`. The order of the early ones does not depend on the others.
static void order_tiles(PliTiles *m, size_t words, PliIndex *turn, PliIndex *at_turn)
{
    uint64_t *adjacent = m->tile_adjacent, *left = adjacent + words * m->tiles, *early = left + words;
    memset(adjacent, 0, words * ((size_t)m->tiles + 2) * sizeof *adjacent);
    for (PliIndex g = 0; g < m->groups; ++g)
        for (size_t w = 0; w < m->words; ++w)
            for (uint64_t bits = m->adjacent[m->words * g + w]; bits; bits &= bits - 1)
                put(adjacent + words * m->tile_of[g], m->tile_of[64 * w + (size_t)__builtin_ctzll(bits)]);
    for (PliIndex t = 0; t < m->tiles; ++t) put(left, t), drop(adjacent + words * t, t);
    for (PliIndex t = 0; t < m->early_tiles; ++t) put(early, t);
    for (PliIndex k = 0; k < m->tiles; ++k) {
        const bool is_early = k < m->early_tiles;
        const PliIndex next = find_loosest(m, words, is_early ? 0 : m->early_tiles,
                                           is_early ? m->early_tiles : m->tiles, left, is_early ? early : left);
        drop(left, next);
        drop(early, next);
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

/// A longer array that begins as the old one did. @return false: no memory, and it is as it was
static bool lengthen(const PliHost *host, double **array, size_t *capacity, size_t wanted, size_t kept)
{
    if (wanted <= *capacity) return true;
    const size_t room = wanted + wanted / 4;
    double *longer = PLI_NEW(host, room, double);
    if (!longer) return false;
    if (kept) memcpy(longer, *array, kept * sizeof *longer);
    PLI_FREE(host, *array, *capacity);
    *array = longer, *capacity = room;
    return true;
}

static PliStatus reserve_tiles(PliTiles *m, size_t n)
{
    if (n > m->tile_capacity) {
        free_tiles(m);
        m->tile_capacity = n + n / 4 + 1;
        m->width = PLI_NEW(&m->host, m->tile_capacity, PliIndex);
        m->below_first = PLI_NEW(&m->host, m->tile_capacity + 1, PliIndex);
        m->x = PLI_NEW(&m->host, PLI_TILE * m->tile_capacity, double);
        if (!m->width || !m->below_first || !m->x) {
            free_tiles(m);
            return PLI_OUT_OF_MEMORY;
        }
    }
    const size_t words = (n + 63) / 64, kept = m->factored_key ? PLI_TILE * (size_t)m->factored_tiles : 0;
    return pli_reserve(&m->host, (void **)&m->tile_adjacent, &m->tile_adjacent_capacity, words * (n + 2),
                       sizeof *m->tile_adjacent) &&
                   pli_reserve(&m->host, (void **)&m->number, &m->number_capacity, n * n, sizeof *m->number) &&
                   lengthen(&m->host, &m->d, &m->d_capacity, PLI_TILE * n, kept)
               ? PLI_OK
               : PLI_OUT_OF_MEMORY;
}

static bool reserve_entries(PliTiles *m, size_t n, size_t entries, size_t longest)
{
    const size_t kept = m->factored_key ? AREA * (size_t)m->early_stored : 0;
    return pli_reserve(&m->host, (void **)&m->below, &m->below_capacity, entries, sizeof *m->below) &&
           lengthen(&m->host, &m->a, &m->a_capacity, AREA * (entries + n), kept) &&
           pli_reserve(&m->host, (void **)&m->panel, &m->panel_capacity, AREA * (longest + 1), sizeof *m->panel);
}

PliStatus pli_tiles_reserve(PliTiles *m, PliIndex groups)
{
    // neighbours share tiles; a few at the rim have one of their own
    const size_t n = (size_t)groups / PLI_TILE_GROUPS + groups / 16 + 4;
    if (reserve_groups(m, groups) != PLI_OK || reserve_tiles(m, n) != PLI_OK) return PLI_OUT_OF_MEMORY;
    return reserve_entries(m, n, n * (n - 1) / 2, n) ? PLI_OK : PLI_OUT_OF_MEMORY;
}

/// Where tiles are stored: those that early ones share come first, and stay where they are whatever the others are.
static void number_tiles(PliTiles *m)
{
    const size_t n = m->tiles;
    uint64_t key = pli_hash(PLI_HASH_SEED, m->tile_of, m->early * sizeof *m->tile_of);
    key = pli_hash(key, m->slot, m->early * sizeof *m->slot);
    m->stored = 0;
    for (int late = 0; late < 2; ++late) {
        for (PliIndex k = 0; k < n; ++k) {
            if (late == (k >= m->early_tiles)) m->number[k * n + k] = m->stored++;
            for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e) {
                const PliIndex i = m->below[e];
                if (late != (i >= m->early_tiles)) continue;
                m->number[i * n + k] = m->stored++;
                if (!late) key = pli_hash(key, (PliIndex[2]){ i, k }, 2 * sizeof i);
            }
        }
        if (!late) m->early_stored = m->stored;
    }
    m->early_key = key ? key : 1;
}

PliStatus pli_tiles_seal(PliTiles *m)
{
    m->tiles = 0;
    fill_tiles(m, 0, m->early);
    m->early_tiles = m->tiles;
    fill_tiles(m, m->early, m->groups);
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
    m->below_first[0] = 0;
    for (size_t k = 0; k < n; ++k) {
        const uint64_t *own = m->tile_adjacent + words * at_turn[k];
        PliIndex at = m->below_first[k];
        for (size_t i = k + 1; i < n; ++i)
            if (has(own, at_turn[i])) m->below[at++] = (PliIndex)i;
        m->below_first[k + 1] = at;
    }
    number_tiles(m);
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

void pli_tiles_zero(PliTiles *m)
{
    memset(m->a, 0, (size_t)AREA * m->stored * sizeof *m->a);
    m->factored_key = 0;
    m->keeps = false;
}

bool pli_tiles_keep_early(PliTiles *m)
{
    if (m->early_tiles == m->tiles || m->factored_key != m->early_key) return false;
    memset(m->a + (size_t)AREA * m->early_stored, 0, (size_t)AREA * (m->stored - m->early_stored) * sizeof *m->a);
    return m->keeps = true;
}

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

/// The rows of a tile below the diagonal, eliminated, and transposed to panel[p][i] = (L D)[i][p].
static void eliminate_tile(const PliTilesKernel *kernel, const double *own, const double *d, PliIndex width, double *t,
                           double *panel)
{
    for (size_t i = 0; i < PLI_TILE; ++i)
        for (size_t p = 0; p < width; ++p) panel[PLI_TILE * p + i] = t[PLI_TILE * i + p];
    kernel->panel(panel, own, (int)width);
    for (size_t i = 0; i < PLI_TILE; ++i)
        for (size_t p = 0; p < width; ++p) t[PLI_TILE * i + p] = panel[PLI_TILE * p + i] / d[p];
}

/// The same of one that is eliminated already.
static void restore_panel(const double *d, PliIndex width, const double *t, double *panel)
{
    for (size_t i = 0; i < PLI_TILE; ++i)
        for (size_t p = 0; p < width; ++p) panel[PLI_TILE * p + i] = t[PLI_TILE * i + p] * d[p];
}

PliStatus pli_tiles_factor(PliTiles *m)
{
    const PliTilesKernel *kernel = choose();
    const size_t n = m->tiles;
    const PliIndex kept = m->keeps ? m->early_tiles : 0; // what early tiles are to each other is there already
    m->negative = m->keeps ? m->early_negative : 0;
    m->keeps = false;
    m->factored_key = 0;
    for (PliIndex k = 0; k < n; ++k) {
        const PliIndex width = m->width[k], first = m->below_first[k], last = m->below_first[k + 1];
        double *own = m->a + (size_t)AREA * m->number[k * n + k], *d = m->d + PLI_TILE * (size_t)k;
        if (k >= kept && !factor_tile(m, own, d, width)) return PLI_DIVERGED;
        if (k + 1 == m->early_tiles && !kept) m->early_negative = m->negative;
        for (PliIndex e = first; e < last; ++e) {
            double *t = m->a + (size_t)AREA * m->number[m->below[e] * n + k],
                   *panel = m->panel + (size_t)AREA * (e - first);
            if (m->below[e] < kept)
                restore_panel(d, width, t, panel);
            else
                eliminate_tile(kernel, own, d, width, t, panel);
        }
        for (PliIndex e = first; e < last; ++e) {
            const double *l = m->a + (size_t)AREA * m->number[m->below[e] * n + k];
            for (PliIndex f = first; f <= e && m->below[e] >= kept; ++f)
                kernel->product(m->a + (size_t)AREA * m->number[m->below[e] * n + m->below[f]], l,
                                m->panel + (size_t)AREA * (f - first), (int)width, (int)m->width[m->below[e]],
                                (int)m->width[m->below[f]]);
        }
    }
    m->factored_key = m->early_key, m->factored_tiles = m->early_tiles;
    return PLI_OK;
}

// Solves read the whole factor and wait for memory, so arithmetic must not be waited for, too: rows in fours, sums of a row in four
// parts, and what a tile changes stays in registers while it passes by. Eight columns are pairs of four: compilers take wider vectors
// than the unit has through memory.
typedef double V4 __attribute__((vector_size(32), aligned(8), may_alias));

static inline double add_up(const V4 *a) { return ((*a)[0] + (*a)[1]) + ((*a)[2] + (*a)[3]); }

/// c -= t b; rows and width are multiples of four
PLI_WIDE static void subtract_product(PliIndex rows, PliIndex width, const double *t, const double *b, double *c)
{
    for (PliIndex i = 0; i < rows; i += 4, t += 4 * PLI_TILE) {
        V4 s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, s3 = { 0 };
        for (PliIndex p = 0; p < width; p += 4) {
            const V4 v = *(const V4 *)(b + p);
            s0 += *(const V4 *)(t + p) * v, s1 += *(const V4 *)(t + PLI_TILE + p) * v;
            s2 += *(const V4 *)(t + 2 * PLI_TILE + p) * v, s3 += *(const V4 *)(t + 3 * PLI_TILE + p) * v;
        }
        c[i] -= add_up(&s0), c[i + 1] -= add_up(&s1), c[i + 2] -= add_up(&s2), c[i + 3] -= add_up(&s3);
    }
}

/// b -= t^T c
PLI_WIDE static void subtract_transpose(PliIndex rows, PliIndex width, const double *t, const double *c, double *b)
{
    for (PliIndex p = 0; p < width; p += 12) { // groups have twelve
        V4 s0 = *(V4 *)(b + p), s1 = *(V4 *)(b + p + 4), s2 = *(V4 *)(b + p + 8);
        const double *from = t + p;
        for (PliIndex i = 0; i < rows; ++i, from += PLI_TILE)
            s0 -= c[i] * *(const V4 *)from, s1 -= c[i] * *(const V4 *)(from + 4), s2 -= c[i] * *(const V4 *)(from + 8);
        *(V4 *)(b + p) = s0, *(V4 *)(b + p + 4) = s1, *(V4 *)(b + p + 8) = s2;
    }
}

/// Inside a tile, rows in fours, whose sums do not wait for each other: b <- L^-1 b; width is a multiple of four.
PLI_WIDE static void forward_one(PliIndex width, const double *own, double *b)
{
    for (PliIndex i = 0; i < width; i += 4) {
        const double *row = own + PLI_TILE * i;
        double s[4] = { b[i], b[i + 1], b[i + 2], b[i + 3] };
        for (PliIndex p = 0; p < i; ++p)
            for (PliIndex r = 0; r < 4; ++r) s[r] -= row[PLI_TILE * r + p] * b[p];
        for (PliIndex r = 0; r < 4; ++r) {
            for (PliIndex p = 0; p < r; ++p) s[r] -= row[PLI_TILE * r + i + p] * s[p];
            b[i + r] = s[r];
        }
    }
}

/// b <- L^-T b
PLI_WIDE static void backward_one(PliIndex width, const double *own, double *b)
{
    for (PliIndex i = width; i-- > 0;)
        for (PliIndex p = 0; p < i; ++p) b[p] -= own[PLI_TILE * i + p] * b[i];
}

void pli_tiles_solve(const PliTiles *m, double *x)
{
    const size_t n = m->tiles;
    for (PliIndex k = 0; k < n; ++k) {
        const double *own = m->a + (size_t)AREA * m->number[k * n + k];
        double *b = x + PLI_TILE * (size_t)k;
        const PliIndex width = m->width[k];
        forward_one(width, own, b);
        for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e)
            subtract_product(m->width[m->below[e]], width, m->a + (size_t)AREA * m->number[m->below[e] * n + k], b,
                             x + PLI_TILE * (size_t)m->below[e]);
    }
    for (PliIndex k = (PliIndex)n; k-- > 0;) {
        const double *own = m->a + (size_t)AREA * m->number[k * n + k], *d = m->d + PLI_TILE * (size_t)k;
        double *b = x + PLI_TILE * (size_t)k;
        const PliIndex width = m->width[k];
        for (PliIndex i = 0; i < width; ++i) b[i] /= d[i];
        for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e)
            subtract_transpose(m->width[m->below[e]], width, m->a + (size_t)AREA * m->number[m->below[e] * n + k],
                               x + PLI_TILE * (size_t)m->below[e], b);
        backward_one(width, own, b);
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

/// c -= t b, eight columns each
PLI_WIDE static void subtract_product_eight(PliIndex rows, PliIndex width, const double *t, const double *right,
                                            double *left)
{
    for (PliIndex i = 0; i < rows; i += 4, t += 4 * PLI_TILE) {
        const V4 *b = (const V4 *)right;
        V4 *c = (V4 *)left + 2 * i, s0 = c[0], t0 = c[1], s1 = c[2], t1 = c[3], s2 = c[4], t2 = c[5], s3 = c[6],
           t3 = c[7];
        for (PliIndex p = 0; p < width; ++p, b += 2) {
            const V4 v = b[0], w = b[1];
            s0 -= t[p] * v, t0 -= t[p] * w;
            s1 -= t[PLI_TILE + p] * v, t1 -= t[PLI_TILE + p] * w;
            s2 -= t[2 * PLI_TILE + p] * v, t2 -= t[2 * PLI_TILE + p] * w;
            s3 -= t[3 * PLI_TILE + p] * v, t3 -= t[3 * PLI_TILE + p] * w;
        }
        c[0] = s0, c[1] = t0, c[2] = s1, c[3] = t1, c[4] = s2, c[5] = t2, c[6] = s3, c[7] = t3;
    }
}

/// b -= t^T c
PLI_WIDE static void subtract_transpose_eight(PliIndex rows, PliIndex width, const double *t, const double *right,
                                              double *left)
{
    for (PliIndex p = 0; p < width; p += 4) {
        const V4 *c = (const V4 *)right;
        V4 *b = (V4 *)left + 2 * p, s0 = b[0], t0 = b[1], s1 = b[2], t1 = b[3], s2 = b[4], t2 = b[5], s3 = b[6],
           t3 = b[7];
        const double *from = t + p;
        for (PliIndex i = 0; i < rows; ++i, from += PLI_TILE, c += 2) {
            const V4 v = c[0], w = c[1];
            s0 -= from[0] * v, t0 -= from[0] * w;
            s1 -= from[1] * v, t1 -= from[1] * w;
            s2 -= from[2] * v, t2 -= from[2] * w;
            s3 -= from[3] * v, t3 -= from[3] * w;
        }
        b[0] = s0, b[1] = t0, b[2] = s1, b[3] = t1, b[4] = s2, b[5] = t2, b[6] = s3, b[7] = t3;
    }
}

/// Inside a tile: b <- L^-1 b, and b <- L^-T b.
PLI_WIDE static void forward_eight(PliIndex width, const double *own, double *columns)
{
    V4 *b = (V4 *)columns;
    for (PliIndex i = 0; i < width; ++i) {
        V4 s = b[2 * i], t = b[2 * i + 1];
        for (PliIndex p = 0; p < i; ++p)
            s -= own[PLI_TILE * i + p] * b[2 * p], t -= own[PLI_TILE * i + p] * b[2 * p + 1];
        b[2 * i] = s, b[2 * i + 1] = t;
    }
}

PLI_WIDE static void backward_eight(PliIndex width, const double *own, double *columns)
{
    V4 *b = (V4 *)columns;
    for (PliIndex p = width; p-- > 0;) {
        V4 s = b[2 * p], t = b[2 * p + 1];
        for (PliIndex i = width; i-- > p + 1;)
            s -= own[PLI_TILE * i + p] * b[2 * i], t -= own[PLI_TILE * i + p] * b[2 * i + 1];
        b[2 * p] = s, b[2 * p + 1] = t;
    }
}

enum { LANES = 8 };

/// Right-hand sides of single points begin late.
static bool any_of(const double *b, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (b[i] != 0.0) return true;
    return false;
}

void pli_tiles_solve_eight(const PliTiles *m, double *x)
{
    const size_t n = m->tiles;
    for (PliIndex k = 0; k < n; ++k) {
        double *b = x + (size_t)LANES * PLI_TILE * k;
        const PliIndex width = m->width[k];
        if (!any_of(b, (size_t)LANES * width)) continue;
        forward_eight(width, m->a + (size_t)AREA * m->number[k * n + k], b);
        for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e)
            subtract_product_eight(m->width[m->below[e]], width, m->a + (size_t)AREA * m->number[m->below[e] * n + k],
                                   b, x + (size_t)LANES * PLI_TILE * m->below[e]);
    }
    for (PliIndex k = (PliIndex)n; k-- > 0;) {
        const double *d = m->d + PLI_TILE * (size_t)k;
        double *b = x + (size_t)LANES * PLI_TILE * k;
        const PliIndex width = m->width[k];
        for (PliIndex i = 0; i < width; ++i)
            for (int q = 0; q < LANES; ++q) b[LANES * i + q] /= d[i];
        for (PliIndex e = m->below_first[k]; e < m->below_first[k + 1]; ++e)
            subtract_transpose_eight(m->width[m->below[e]], width, m->a + (size_t)AREA * m->number[m->below[e] * n + k],
                                     x + (size_t)LANES * PLI_TILE * m->below[e], b);
        backward_eight(width, m->a + (size_t)AREA * m->number[k * n + k], b);
    }
}
