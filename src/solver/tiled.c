/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The direct solver of dense bodies whose points come in blocks: tiles of groups of four points. Blocks of four are groups; others
// are spread over them, which costs zeros in the tiles and nothing else.
#include <string.h>

#include "base/memory.h"
#include "solver/methods.h"
#include "solver/tiles.h"

typedef struct Tiled {
    PliTiles *tiles;
    bool by_groups; ///< forces know their groups of four points and fill them themselves
    double *plain;  ///< the tiles without tethers and without what is fixed, before they were factored ...
    size_t capacity;
    bool has_plain; ///< ... where tethers may change
    // [groups, words] as in PliTiles: what couples without tethers, and scratch
    uint64_t *own, *joined;
    size_t own_capacity, joined_capacity;
    PliIndex made_for; ///< pairs of groups that only tethers join, when the pattern was made
    int roomy;         ///< steps in a row in which far fewer were joined
} Tiled;

// Tethers that come outgrow a pattern, and those that go leave a factor with tiles nobody needs: after a pile of balls has struck the
// floor all of them stay coupled, at up to three times the work. A pattern costs a tenth of a factorisation there, and is made anew
// where the joints have been far fewer for some steps.
static const double ROOMY = 0.8;
enum { PATIENCE = 4 };

static void *create(const PliHost *host)
{
    PliTiles *tiles = pli_tiles_create(host);
    Tiled *t = tiles ? PLI_NEW(host, 1, Tiled) : NULL;
    if (t)
        t->tiles = tiles;
    else
        pli_tiles_destroy(tiles);
    return t;
}

static void destroy(void *self)
{
    Tiled *t = self;
    const PliHost host = t->tiles->host;
    PLI_FREE(&host, t->plain, t->capacity);
    PLI_FREE(&host, t->own, t->own_capacity);
    PLI_FREE(&host, t->joined, t->joined_capacity);
    pli_tiles_destroy(t->tiles);
    PLI_FREE(&host, t, 1);
}

static bool takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self;
    return a->block > 1 && a->dense && pli_wants_factor(a, wish);
}

// ---- pattern ---------------------------------------------------------------------------------------------------------------

static void join_groups(const PliIndex *group, PliIndex count, void *user)
{
    for (PliIndex a = 1; a < count; ++a)
        for (PliIndex b = 0; b < a; ++b) pli_tiles_join(user, group[a], group[b]);
}

static void join_points(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    (void)k9;
    pli_tiles_join(user, row / 4, column / 4);
}

/// Entries of a tether's row from one group to the next: rows list whole blocks.
static PliIndex stride_of(const PliStepMatrix *a) { return a->block % 4 == 0 ? 4 : 1; }

/// Pairs of groups that tethers join and nothing else does.
static PliIndex count_joined(const Tiled *t, const PliStepMatrix *a)
{
    const PliTiles *m = t->tiles;
    const PliIndex stride = stride_of(a);
    const size_t words = m->words * m->groups;
    PliIndex count = 0;
    if (a->tether_count == 0) return 0;
    memset(t->joined, 0, words * sizeof *t->joined);
    for (PliIndex j = 0; j < a->tether_count; ++j)
        for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; e += stride)
            for (PliIndex f = a->tether_first[j]; f < e; f += stride) {
                const PliIndex g = a->tether_column[e] / 4, other = a->tether_column[f] / 4,
                               low = g < other ? g : other, high = g < other ? other : g;
                t->joined[m->words * high + low / 64] |= (uint64_t)1 << low % 64;
            }
    for (size_t w = 0; w < words; ++w) count += (PliIndex)__builtin_popcountll(t->joined[w] & ~t->own[w]);
    return count;
}

/// What couples without tethers is known now.
static PliStatus keep_own(Tiled *t)
{
    PliTiles *m = t->tiles;
    const size_t words = m->words * m->groups;
    if (!pli_reserve(&m->host, (void **)&t->own, &t->own_capacity, words, sizeof *t->own) ||
        !pli_reserve(&m->host, (void **)&t->joined, &t->joined_capacity, words, sizeof *t->joined))
        return PLI_OUT_OF_MEMORY;
    memcpy(t->own, m->adjacent, words * sizeof *t->own);
    for (PliIndex g = 0; g < m->groups; ++g) t->own[m->words * g + g / 64] |= (uint64_t)1 << g % 64;
    return PLI_OK;
}

static PliStatus pattern(void *self, const PliStepMatrix *a)
{
    Tiled *t = self;
    PliTiles *m = t->tiles;
    PliStatus status = pli_tiles_begin(m, (a->count + 3) / 4);
    if (status != PLI_OK) return status;
    const PliSystem *s = a->system;
    t->by_groups = a->block == 4 && s->slave_count == 0 && s->force->couplings && s->force->add_blocks &&
                   s->force->couplings(s->force_self, 4, join_groups, m);
    if (!t->by_groups) pli_step_matrix_pattern(a, join_points, m);
    for (PliIndex i = 0; i < a->count && a->mass_first; ++i)
        for (PliIndex k = a->mass_first[i]; k < a->mass_first[i + 1]; ++k)
            pli_tiles_join(m, i / 4, a->mass_column[k] / 4);
    status = keep_own(t);
    if (status != PLI_OK) return status;
    t->made_for = count_joined(t, a);
    t->roomy = 0;
    const PliIndex stride = stride_of(a);
    for (PliIndex j = 0; j < a->tether_count; ++j)
        for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; e += stride)
            for (PliIndex f = a->tether_first[j]; f < e; f += stride)
                pli_tiles_join(m, a->tether_column[e] / 4, a->tether_column[f] / 4);
    t->has_plain = false;
    return pli_tiles_seal(m);
}

/// Tethers come and go with tools and with what the host asks for. May allocate, when they begin to.
static bool reserve_plain(Tiled *t, const PliStepMatrix *a)
{
    const PliSystem *s = a->system;
    const size_t size = (size_t)PLI_TILE * PLI_TILE * t->tiles->stored;
    if (!s->press && !s->add_force && a->tether_count == 0) return false;
    if (t->capacity >= size) return true;
    PLI_FREE(&t->tiles->host, t->plain, t->capacity);
    t->capacity = t->tiles->a_capacity > size ? t->tiles->a_capacity : size;
    t->plain = PLI_NEW(&t->tiles->host, t->capacity, double);
    if (!t->plain) t->capacity = 0;
    return t->plain;
}

static bool outgrown(void *self, const PliStepMatrix *a)
{
    Tiled *t = self;
    const PliTiles *m = t->tiles;
    const PliIndex stride = stride_of(a);
    for (PliIndex j = 0; j < a->tether_count; ++j)
        for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; e += stride)
            for (PliIndex f = a->tether_first[j]; f < e; f += stride)
                if (!pli_tiles_has(m, a->tether_column[e] / 4, a->tether_column[f] / 4)) return true;
    if (t->made_for == 0) return false;
    t->roomy = count_joined(t, a) < ROOMY * t->made_for ? t->roomy + 1 : 0;
    return t->roomy >= PATIENCE;
}

// ---- values: unknown 4 c + p of a group for component c of its point p -------------------------------------------------------

static double *place_block(PliIndex row, PliIndex column, void *user) { return pli_tiles_block(user, row, column); }

typedef struct FillArg {
    PliTiles *tiles;
    double factor;
} FillArg;

static void fill_block(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    const FillArg *arg = user;
    double *to = pli_tiles_block(arg->tiles, row / 4, column / 4);
    for (PliIndex a = 0; a < 3 && to; ++a)
        for (PliIndex c = 0; c < 3; ++c)
            to[PLI_TILE * (4 * a + row % 4) + 4 * c + column % 4] += arg->factor * k9[3 * a + c];
}

static const int sym[9] = { 0, 5, 4, 5, 1, 3, 4, 3, 2 };

static void add_tether_groups(PliTiles *m, const PliStepMatrix *a, PliIndex j)
{
    const double *q = a->tether_matrix + 6 * (size_t)j;
    const PliIndex from = a->tether_first[j], to = a->tether_first[j + 1];
    for (PliIndex e = from; e < to; e += 4)
        for (PliIndex f = from; f < to; f += 4) {
            double *out = pli_tiles_block(m, a->tether_column[e] / 4, a->tether_column[f] / 4);
            if (!out) continue;
            for (int i = 0; i < 3; ++i)
                for (int p = 0; p < 4; ++p)
                    for (int k = 0; k < 3; ++k) {
                        const double w = q[sym[3 * i + k]] * a->tether_weight[e + (PliIndex)p];
                        double *row = out + PLI_TILE * (4 * i + p) + 4 * k;
                        for (int r = 0; r < 4; ++r) row[r] += w * a->tether_weight[f + (PliIndex)r];
                    }
        }
}

static void add_tether_points(PliTiles *m, const PliStepMatrix *a, PliIndex j)
{
    double block[9];
    for (int i = 0; i < 9; ++i) block[i] = a->tether_matrix[6 * (size_t)j + (size_t)sym[i]];
    for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; ++e)
        for (PliIndex f = a->tether_first[j]; f < a->tether_first[j + 1]; ++f) {
            FillArg arg = { m, a->tether_weight[e] * a->tether_weight[f] };
            fill_block(a->tether_column[e], a->tether_column[f], block, &arg);
        }
}

static void add_mass(PliTiles *m, PliIndex i, PliIndex j, double mass)
{
    double *to = pli_tiles_block(m, i / 4, j / 4);
    for (PliIndex c = 0; c < 3 && to; ++c) to[PLI_TILE * (4 * c + i % 4) + 4 * c + j % 4] += mass;
}

static void assemble(const Tiled *t, const PliStepMatrix *a)
{
    PliTiles *m = t->tiles;
    const PliSystem *s = a->system;
    pli_tiles_zero(m);
    FillArg arg = { m, a->stiffness_factor };
    if (!t->by_groups || !s->force->add_blocks(s->force_self, 4, a->stiffness_factor, place_block, m, PLI_TILE))
        pli_step_matrix_stiffness(a, fill_block, &arg);
    for (PliIndex i = 0; i < a->count; ++i) {
        if (!a->mass_first) add_mass(m, i, i, a->mass_factor * a->mass[i]);
        for (PliIndex k = a->mass_first ? a->mass_first[i] : 0; a->mass_first && k < a->mass_first[i + 1]; ++k)
            add_mass(m, i, a->mass_column[k], a->mass_factor * a->mass_value[k]);
    }
}

static PliPrepared prepare(void *self, const PliStepMatrix *a)
{
    Tiled *t = self;
    PliTiles *m = t->tiles;
    const size_t bytes = (size_t)PLI_TILE * PLI_TILE * m->stored * sizeof *m->a;
    if (a->again && t->has_plain) {
        memcpy(m->a, t->plain, bytes);
    } else {
        assemble(t, a);
        t->has_plain = reserve_plain(t, a);
        if (t->has_plain) memcpy(t->plain, m->a, bytes);
    }
    for (PliIndex j = 0; j < a->tether_count; ++j)
        stride_of(a) == 4 ? add_tether_groups(m, a, j) : add_tether_points(m, a, j);
    for (PliIndex i = 0; i < a->count; ++i)
        for (PliIndex c = 0; c < 3 && a->fixed[i]; ++c) pli_tiles_fix(m, i / 4, 4 * c + i % 4);
    for (PliIndex i = a->count; i % 4; ++i) // places that nobody has
        for (PliIndex c = 0; c < 3; ++c) pli_tiles_fix(m, i / 4, 4 * c + i % 4);
    if (pli_tiles_factor(m) != PLI_OK) return PLI_PREPARED_FAILED;
    return m->negative ? PLI_PREPARED_INDEFINITE : PLI_PREPARED_EXACT;
}

static void solve(void *self, const PliStepMatrix *a, const double *b, double *x)
{
    const PliTiles *m = ((Tiled *)self)->tiles;
    double *t = m->x;
    for (PliIndex i = a->count; i % 4; ++i)
        for (PliIndex c = 0; c < 3; ++c) t[pli_tiles_at(m, i / 4) + 4 * c + i % 4] = 0.0;
    for (PliIndex i = 0; i < a->count; ++i)
        for (PliIndex c = 0; c < 3; ++c) t[pli_tiles_at(m, i / 4) + 4 * c + i % 4] = b[3 * (size_t)i + c];
    pli_tiles_solve(m, t);
    for (PliIndex i = 0; i < a->count; ++i)
        for (PliIndex c = 0; c < 3; ++c) x[3 * (size_t)i + c] = t[pli_tiles_at(m, i / 4) + 4 * c + i % 4];
}

static void apply(void *self, const PliStepMatrix *a, const double *p, double *y)
{
    const Tiled *t = self;
    const PliTiles *m = t->tiles;
    if (!t->has_plain) {
        PliStepMatrix bare = *a;
        bare.tether_count = 0;
        pli_step_matrix_apply(&bare, p, y);
        return;
    }
    double *from = m->x, *to = m->panel;
    for (PliIndex i = a->count; i % 4; ++i)
        for (PliIndex c = 0; c < 3; ++c) from[pli_tiles_at(m, i / 4) + 4 * c + i % 4] = 0.0;
    for (PliIndex i = 0; i < a->count; ++i)
        for (PliIndex c = 0; c < 3; ++c)
            from[pli_tiles_at(m, i / 4) + 4 * c + i % 4] = a->fixed[i] ? 0.0 : p[3 * (size_t)i + c];
    pli_tiles_multiply(m, t->plain, from, to);
    for (PliIndex i = 0; i < a->count; ++i)
        for (PliIndex c = 0; c < 3; ++c)
            y[3 * (size_t)i + c] = a->fixed[i] ? p[3 * (size_t)i + c] : to[pli_tiles_at(m, i / 4) + 4 * c + i % 4];
}

const PliMethodKind pli_method_tiles = {
    .ops = { .name = "tiles",
             .takes = takes,
             .pattern = pattern,
             .outgrown = outgrown,
             .prepare = prepare,
             .solve = solve,
             .apply = apply,
             .notices = true,
             .responds = true },
    .create = create,
    .destroy = destroy,
};
