/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TILES_H
#define PLI_TILES_H

// Symmetric matrix of groups of four points (12 unknowns) and its LDL^T factor. Up to four neighbouring groups
// share a tile of 48 unknowns; tiles are eliminated in an order that keeps the factor sparse, and the arithmetic inside tiles is
// dense. Where a group couples with thirty others, scalar sparse factors cost several times a dense one, and a dense one several times
// this where a body has limbs, or where several bodies do not touch. Every number is summed in one order whatever the vector
// unit: the same bits.

#include <pliant/base.h>

enum { PLI_TILE = 48, PLI_TILE_GROUP = 12, PLI_TILE_GROUPS = 4 };

typedef struct PliTiles {
    PliHost host;
    PliIndex groups, early;      ///< and those that are eliminated before the others
    PliIndex tiles, early_tiles; ///< of groups that are
    size_t words;                ///< of 64 bits in a row of `adjacent`
    uint64_t *adjacent;          ///< [groups, words], while the pattern is made; then [tiles, ..] of the quotient graph
    uint64_t *tile_adjacent;
    PliIndex *tile_of;             ///< per group: its tile, in the order of elimination
    PliIndex *slot;                ///< per group: its place in the tile
    PliIndex *width;               ///< per tile: unknowns in use
    PliIndex *number;              ///< [tiles, tiles], lower triangle: tile of the pair or PLI_NONE
    PliIndex *below_first, *below; ///< per tile: later tiles its column reaches, ascending
    PliIndex *scratch;
    double *a;     ///< [stored tiles, 48, 48]; the lower triangle counts, L after factoring
    double *d;     ///< [tiles, 48] pivots
    double *x;     ///< [tiles, 48] to lend to a solve
    double *panel; ///< scratch, [tiles, 48, 48]
    PliIndex stored;
    size_t adjacent_capacity, tile_adjacent_capacity, group_capacity, number_capacity, tile_capacity, below_capacity,
        a_capacity, panel_capacity, d_capacity;
    PliIndex negative; ///< pivots below zero
    // early tiles among themselves
    PliIndex early_stored, early_negative, factored_tiles;
    uint64_t early_key, factored_key; ///< of their pattern, and of the one whose factor `a` holds; 0: of none
    bool keeps;                       ///< the next factor goes on from that one
} PliTiles;

PliTiles *pli_tiles_create(const PliHost *host);
void pli_tiles_destroy(PliTiles *m); ///< NULL is fine
/// Room for patterns of up to `groups` that couple all with all: making those allocates nothing any more.
PliStatus pli_tiles_reserve(PliTiles *m, PliIndex groups);
// The pattern; may allocate.
PliStatus pli_tiles_begin(PliTiles *m, PliIndex groups);
void pli_tiles_join(PliTiles *m, PliIndex group, PliIndex other);
/// The first `groups` are eliminated before the others, in an order that does not depend on those. Otherwise there are no others.
void pli_tiles_eliminate_first(PliTiles *m, PliIndex groups);
PliStatus pli_tiles_seal(PliTiles *m);
double pli_tiles_work(const PliTiles *m); ///< multiplications of a factorisation

void pli_tiles_zero(PliTiles *m);
/// Keeps the factor of what the early groups are to each other, and zeroes the rest: only that is to be filled then, and factored.
/// @return false: there is none, and nothing was done
bool pli_tiles_keep_early(PliTiles *m);
/// Block of the lower triangle, PLI_TILE doubles per row, [12, 12] unknowns of `row` and `column`; NULL: it is the mirror
/// (column, row) that is stored, or the pattern has neither. Both triangles of diagonal blocks may be written.
static inline double *pli_tiles_block(const PliTiles *m, PliIndex row, PliIndex column)
{
    const PliIndex i = m->tile_of[row], j = m->tile_of[column];
    if (i < j || (i == j && m->slot[row] < m->slot[column])) return 0;
    const PliIndex k = m->number[(size_t)i * m->tiles + j];
    return k == PLI_NONE ? 0
                         : m->a + (size_t)PLI_TILE * PLI_TILE * k +
                               PLI_TILE_GROUP * ((size_t)PLI_TILE * m->slot[row] + m->slot[column]);
}
static inline bool pli_tiles_has(const PliTiles *m, PliIndex group, PliIndex other) ///< the pattern, either way round
{
    return pli_tiles_block(m, group, other) || pli_tiles_block(m, other, group);
}
void pli_tiles_fix(PliTiles *m, PliIndex group, PliIndex unknown); ///< row and column to identity
PliStatus pli_tiles_factor(PliTiles *m);                           ///< PLI_DIVERGED when a pivot is zero or not finite
void pli_tiles_solve(const PliTiles *m, double *x);                ///< in place, PLI_TILE doubles per tile
/// y = A x with the tiles of `a`, a copy of m->a from before it was factored; x and y differ.
void pli_tiles_multiply(const PliTiles *m, const double *a, const double *x, double *y);
/// Eight at once: x has shape [tiles, PLI_TILE, 8].
void pli_tiles_solve_eight(const PliTiles *m, double *x);
static inline size_t pli_tiles_at(const PliTiles *m, PliIndex group)
{
    return PLI_TILE * (size_t)m->tile_of[group] + PLI_TILE_GROUP * (size_t)m->slot[group];
}

// inner loops, per vector unit; tiles have PLI_TILE doubles per row
typedef struct PliTilesKernel {
    /// panel[p][i] -= sum_{q < p} l[p][q] panel[q][i] for p < width.
    void (*panel)(double *panel, const double *l, int width);
    /// c[i][j] -= sum_p l[i][p] panel[p][j], p < width, i < rows, j < columns (both rounded up to whole vectors).
    void (*product)(double *c, const double *l, const double *panel, int width, int rows, int columns);
} PliTilesKernel;
extern const PliTilesKernel pli_tiles_plain;
const PliTilesKernel *pli_tiles_avx2(void);
const PliTilesKernel *pli_tiles_avx512(void);

#endif
