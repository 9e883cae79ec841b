/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The direct solver of sparse bodies: 3x3 blocks, LDL^T in AMD order.
#include <math.h>

#include "solver/methods.h"

static void *create(const PliHost *host) { return pli_block_matrix_create(host); }
static void destroy(void *self) { pli_block_matrix_destroy(self); }

static bool takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self;
    return pli_wants_factor(a, wish);
}

typedef struct FillArg {
    PliBlockMatrix *matrix;
    double factor;
    PliStatus status;
} FillArg;

static void push_block(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    (void)k9;
    FillArg *a = user;
    if (a->status == PLI_OK) a->status = pli_block_matrix_push(a->matrix, row, column);
}

static void fill_block(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    FillArg *a = user;
    double scaled[9];
    for (int i = 0; i < 9; ++i) scaled[i] = a->factor * k9[i];
    pli_block_matrix_add(a->matrix, row, column, scaled);
}

static PliStatus pattern(void *self, const PliStepMatrix *a)
{
    FillArg arg = { .matrix = self, .status = pli_block_matrix_begin(self, a->count) };
    for (PliIndex i = 0; arg.status == PLI_OK && i < a->count; ++i) {
        push_block(i, i, NULL, &arg);
        for (PliIndex k = a->mass_first ? a->mass_first[i] : 0; a->mass_first && k < a->mass_first[i + 1]; ++k)
            push_block(i, a->mass_column[k], NULL, &arg);
    }
    if (arg.status == PLI_OK) pli_step_matrix_pattern(a, push_block, &arg);
    return arg.status == PLI_OK ? pli_block_matrix_seal(self, NULL) : arg.status;
}

static void add_masses(PliBlockMatrix *m, const PliStepMatrix *a)
{
    for (PliIndex i = 0; i < a->count; ++i) {
        if (!a->mass_first) {
            pli_block_matrix_add_diagonal(m, i, a->mass_factor * a->mass[i]);
            continue;
        }
        for (PliIndex k = a->mass_first[i]; k < a->mass_first[i + 1]; ++k) {
            const double w = a->mass_factor * a->mass_value[k];
            const double block[9] = { w, 0, 0, 0, w, 0, 0, 0, w };
            pli_block_matrix_add(m, i, a->mass_column[k], block);
        }
    }
}

// A pair that the pattern has not (a skin point between coarse elements) goes to the diagonal, where it is never too soft.
static void add_tethers(PliBlockMatrix *m, const PliStepMatrix *a)
{
    for (PliIndex j = 0; j < a->tether_count; ++j)
        for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; ++e)
            for (PliIndex f = a->tether_first[j]; f < a->tether_first[j + 1]; ++f) {
                const bool known = pli_block_matrix_has(m, a->tether_column[e], a->tether_column[f]);
                const double *q = a->tether_matrix + 6 * (size_t)j, product = a->tether_weight[e] * a->tether_weight[f],
                             w = known ? product : fabs(product);
                const double block[9] = { w * q[0], w * q[5], w * q[4], w * q[5], w * q[1],
                                          w * q[3], w * q[4], w * q[3], w * q[2] };
                pli_block_matrix_add(m, a->tether_column[e], a->tether_column[known ? f : e], block);
            }
}

static PliPrepared prepare(void *self, const PliStepMatrix *a)
{
    pli_block_matrix_zero(self);
    FillArg arg = { .matrix = self, .factor = a->stiffness_factor };
    pli_step_matrix_stiffness(a, fill_block, &arg);
    add_masses(self, a);
    add_tethers(self, a);
    for (PliIndex i = 0; i < a->count; ++i)
        if (a->fixed[i]) pli_block_matrix_fix(self, i);
    return pli_block_matrix_factor(self, NULL) == PLI_OK ? PLI_PREPARED_EXACT : PLI_PREPARED_FAILED;
}

static void solve(void *self, const PliStepMatrix *a, const double *b, double *x)
{
    (void)a;
    pli_block_matrix_solve(self, b, x);
}

static void solve_eight(void *self, const PliStepMatrix *a, double *x, double *work)
{
    (void)a;
    pli_block_matrix_solve_eight(self, x, x, work);
}

const PliMethodKind pli_method_sparse = {
    .ops = { .name = "sparse",
             .takes = takes,
             .pattern = pattern,
             .prepare = prepare,
             .solve = solve,
             .solve_eight = solve_eight,
             .responds = true },
    .create = create,
    .destroy = destroy,
};
