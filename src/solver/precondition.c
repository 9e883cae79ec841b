/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// What iterations go with: blocks of points, the diagonal, or nothing.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/methods.h"

typedef struct Diagonal {
    PliHost host;
    PliIndex capacity; ///< active points
    double *value;     ///< blocks, or numbers
    size_t length;
} Diagonal;

static void *create(const PliHost *host)
{
    Diagonal *d = PLI_NEW(host, 1, Diagonal);
    if (d) d->host = *host;
    return d;
}

static void destroy(void *self)
{
    Diagonal *d = self;
    const PliHost host = d->host;
    PLI_FREE(&host, d->value, d->length);
    PLI_FREE(&host, d, 1);
}

static PliStatus reserve(void *self, PliIndex capacity, PliIndex limit)
{
    (void)limit;
    ((Diagonal *)self)->capacity = capacity;
    return PLI_OK;
}

/// For all cuts there will be, when the first one is seen.
static PliStatus make_room(Diagonal *d, size_t per_point)
{
    if (d->value) return PLI_OK;
    d->length = per_point * d->capacity;
    d->value = PLI_NEW(&d->host, d->length, double);
    return d->value ? PLI_OK : PLI_OUT_OF_MEMORY;
}

// ---- Jacobi with masses and tethers only: cheap, and right in the limit of small steps ---------------------------------------

static bool jacobi_takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self;
    return wish != PLI_SOLVE_MINRES && !a->mass_first;
}

static PliStatus jacobi_pattern(void *self, const PliStepMatrix *a)
{
    (void)a;
    return make_room(self, 3);
}

static PliPrepared jacobi_prepare(void *self, const PliStepMatrix *a)
{
    double *value = ((Diagonal *)self)->value;
    for (size_t i = 0; i < a->count; ++i)
        for (size_t c = 0; c < 3; ++c) value[3 * i + c] = a->mass_factor * a->mass[i];
    for (PliIndex j = 0; j < a->tether_count; ++j)
        for (PliIndex k = a->tether_first[j]; k < a->tether_first[j + 1]; ++k)
            for (size_t c = 0; c < 3; ++c)
                value[3 * (size_t)a->tether_column[k] + c] +=
                    a->tether_weight[k] * a->tether_weight[k] * a->tether_matrix[6 * (size_t)j + c];
    for (size_t i = 0; i < a->count; ++i)
        for (size_t c = 0; c < 3 && a->fixed[i]; ++c) value[3 * i + c] = 1.0;
    return PLI_PREPARED_NEAR;
}

static void jacobi_solve(void *self, const PliStepMatrix *a, const double *b, double *x)
{
    const double *value = ((Diagonal *)self)->value;
    for (size_t i = 0; i < 3 * (size_t)a->count; ++i) x[i] = b[i] / value[i];
}

const PliMethodKind pli_method_jacobi = {
    .ops = { .name = "jacobi",
             .takes = jacobi_takes,
             .reserve = reserve,
             .pattern = jacobi_pattern,
             .prepare = jacobi_prepare,
             .solve = jacobi_solve },
    .create = create,
    .destroy = destroy,
};

// ---- none -------------------------------------------------------------------------------------------------------------------

static bool plain_takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self, (void)a, (void)wish;
    return true;
}

static PliPrepared plain_prepare(void *self, const PliStepMatrix *a)
{
    (void)self, (void)a;
    return PLI_PREPARED_NEAR;
}

const PliMethodKind pli_method_plain = { .ops = { .name = "plain", .takes = plain_takes, .prepare = plain_prepare } };

// ---- blocks of points: the diagonal blocks of A, factored; unknown c n + p within a block of n points ------------------------

static bool blocks_takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self;
    return wish != PLI_SOLVE_MINRES && a->block > 1;
}

static PliStatus blocks_pattern(void *self, const PliStepMatrix *a) { return make_room(self, 9 * (size_t)a->block); }

typedef struct FillArg {
    double *blocks;
    double factor;
    size_t n;
} FillArg;

/// Unknown 0 of (row, column), points of one block; component c of the row and d of the column are c rows and d columns of n further.
static double *entry_of(double *blocks, size_t n, size_t row, size_t column)
{
    const size_t width = 3 * n;
    return blocks + row / n * width * width + row % n * width + column % n;
}

static void fill_block(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    const FillArg *arg = user;
    const size_t n = arg->n;
    if (row / n != column / n) return;
    double *to = entry_of(arg->blocks, n, row, column);
    for (size_t c = 0; c < 3; ++c)
        for (size_t d = 0; d < 3; ++d) to[(3 * c * n + d) * n] += arg->factor * k9[3 * c + d];
}

static void add_stiffness(const PliStepMatrix *a, double *blocks)
{
    const PliSystem *s = a->system;
    const PliForceOps *force = s->force;
    FillArg arg = { blocks, a->stiffness_factor, a->block };
    if (s->slave_count || !force->add_diagonal_blocks ||
        !force->add_diagonal_blocks(s->force_self, a->block, a->stiffness_factor, blocks))
        pli_step_matrix_stiffness(a, fill_block, &arg);
}

static void add_tethers(const PliStepMatrix *a, double *blocks)
{
    static const size_t sym[9] = { 0, 5, 4, 5, 1, 3, 4, 3, 2 };
    const size_t n = a->block;
    for (PliIndex j = 0; j < a->tether_count; ++j)
        for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; ++e)
            for (PliIndex f = a->tether_first[j]; f < a->tether_first[j + 1]; ++f) {
                const size_t row = a->tether_column[e], column = a->tether_column[f];
                if (row / n != column / n) continue;
                double *to = entry_of(blocks, n, row, column);
                for (size_t c = 0; c < 3; ++c)
                    for (size_t d = 0; d < 3; ++d)
                        to[(3 * c * n + d) * n] += a->tether_matrix[6 * (size_t)j + sym[3 * c + d]] *
                                                   a->tether_weight[e] * a->tether_weight[f];
            }
}

static void add_masses(const PliStepMatrix *a, double *blocks)
{
    const size_t n = a->block, width = 3 * n;
    for (size_t i = 0; i < a->count; ++i) {
        for (size_t c = 0; c < 3 && !a->mass_first; ++c)
            entry_of(blocks, n, i, i)[(width + 1) * c * n] += a->mass_factor * a->mass[i];
        for (PliIndex k = a->mass_first ? a->mass_first[i] : 0; a->mass_first && k < a->mass_first[i + 1]; ++k) {
            const size_t j = a->mass_column[k];
            if (j / n != i / n) continue;
            double *to = entry_of(blocks, n, i, j);
            for (size_t c = 0; c < 3; ++c) to[(width + 1) * c * n] += a->mass_factor * a->mass_value[k];
        }
    }
}

/// Rows and columns of fixed points to identity, when everything else is there.
static void fix_points(const PliStepMatrix *a, double *blocks)
{
    const size_t n = a->block, width = 3 * n;
    for (size_t i = 0; i < a->count; ++i) {
        if (!a->fixed[i]) continue;
        double *block = blocks + i / n * width * width;
        for (size_t c = 0; c < 3; ++c) {
            const size_t own = c * n + i % n;
            for (size_t k = 0; k < width; ++k) block[own * width + k] = block[k * width + own] = k == own ? 1.0 : 0.0;
        }
    }
}

/// Cholesky in place; the diagonal holds inverses, which is what solves need. @return false: not positive definite
static bool factor_block(double *m, size_t width)
{
    for (size_t i = 0; i < width; ++i)
        for (size_t j = 0; j <= i; ++j) {
            double sum = m[i * width + j];
            for (size_t k = 0; k < j; ++k) sum -= m[i * width + k] * m[j * width + k];
            if (i > j)
                m[i * width + j] = sum * m[j * width + j];
            else if (sum > 0.0)
                m[i * width + i] = 1.0 / sqrt(sum);
            else
                return false;
        }
    return true;
}

// Where a block is not positive definite (strong compression), all do without stiffness.
static PliPrepared blocks_prepare(void *self, const PliStepMatrix *a)
{
    double *blocks = ((Diagonal *)self)->value;
    const size_t width = 3 * (size_t)a->block, count = a->count / a->block;
    for (int attempt = 0; attempt < 2; ++attempt) {
        memset(blocks, 0, count * width * width * sizeof *blocks);
        if (attempt == 0) add_stiffness(a, blocks);
        add_tethers(a, blocks);
        add_masses(a, blocks);
        fix_points(a, blocks);
        bool good = true;
        for (size_t b = 0; b < count && good; ++b) good = factor_block(blocks + b * width * width, width);
        if (good) break;
    }
    return PLI_PREPARED_NEAR;
}

static void blocks_solve(void *self, const PliStepMatrix *a, const double *b, double *x)
{
    const double *blocks = ((Diagonal *)self)->value;
    const size_t n = a->block, width = 3 * n, count = a->count / n;
    double y[3 * PLI_BLOCK_MAX];
    for (size_t k = 0; k < count; ++k) {
        const double *m = blocks + k * width * width;
        for (size_t i = 0; i < width; ++i) {
            double sum = b[3 * (k * n + i % n) + i / n];
            for (size_t j = 0; j < i; ++j) sum -= m[i * width + j] * y[j];
            y[i] = sum * m[i * width + i];
        }
        for (size_t i = width; i-- > 0;) {
            y[i] *= m[i * width + i];
            for (size_t j = 0; j < i; ++j) y[j] -= m[i * width + j] * y[i];
        }
        for (size_t i = 0; i < width; ++i) x[3 * (k * n + i % n) + i / n] = y[i];
    }
}

const PliMethodKind pli_method_blocks = {
    .ops = { .name = "blocks",
             .takes = blocks_takes,
             .reserve = reserve,
             .pattern = blocks_pattern,
             .prepare = blocks_prepare,
             .solve = blocks_solve,
             .notices = true },
    .create = create,
    .destroy = destroy,
};
