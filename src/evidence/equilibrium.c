/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/equilibrium.h"

#include <math.h>
#include <string.h>

#include "base/fold.h"
#include "base/memory.h"
#include "solver/linear.h"

typedef struct Newton {
    const uint8_t *held;
    PliIndex *position; ///< dof -> row, PLI_NONE when passive
    PliBlockMatrix *matrix;
    PliStatus status;
} Newton;

static void push_block(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    Newton *n = user;
    (void)k9;
    if (n->status == PLI_OK) n->status = pli_block_matrix_push(n->matrix, n->position[row], n->position[column]);
}

// -K without the rows and columns of held components
static void add_block(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    Newton *n = user;
    double block[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            block[3 * i + j] = n->held[3 * (size_t)row + i] || n->held[3 * (size_t)column + j] ? 0.0 : -k9[3 * i + j];
    pli_block_matrix_add(n->matrix, n->position[row], n->position[column], block);
}

static PliStatus make_pattern(Newton *n, const PliBody *body, PliActive active, PliError *err)
{
    n->status = pli_block_matrix_begin(n->matrix, active.count);
    for (PliIndex i = 0; i < active.count && n->status == PLI_OK; ++i)
        n->status = pli_block_matrix_push(n->matrix, i, i);
    if (n->status == PLI_OK) pli_body_stiffness_blocks(body, push_block, n);
    if (n->status != PLI_OK)
        return pli_refuse(err, n->status, "no memory for the matrix of %u active coefficients", active.count);
    return pli_block_matrix_seal(n->matrix, err);
}

static PliStatus correct(Newton *n, const PliBody *body, PliActive active, const double *f, double *b, double *dx,
                         PliError *err)
{
    pli_block_matrix_zero(n->matrix);
    pli_body_stiffness_blocks(body, add_block, n);
    for (PliIndex i = 0; i < active.count; ++i) {
        const size_t at = 3 * (size_t)active.dof[i];
        double one[9] = { 0.0 };
        for (int c = 0; c < 3; ++c) {
            b[3 * (size_t)i + c] = n->held[at + c] ? 0.0 : f[at + c];
            one[4 * c] = n->held[at + c] ? 1.0 : 0.0;
        }
        pli_block_matrix_add(n->matrix, i, i, one);
    }
    const PliStatus status = pli_block_matrix_factor(n->matrix, err);
    if (status == PLI_OK) pli_block_matrix_solve(n->matrix, b, dx);
    return status;
}

PliStatus pli_equilibrium(PliBody *body, double *x, const double *load, const uint8_t *held, double tolerance,
                          PliError *err)
{
    enum { MOST = 40 };
    const PliHost host = pli_host_default();
    const PliActive active = pli_body_active(body);
    const size_t all = 3 * (size_t)pli_body_dof_count(body), free_count = 3 * (size_t)active.count;
    Newton n = { held, PLI_NEW(&host, all / 3, PliIndex), pli_block_matrix_create(&host), PLI_OK };
    double *f = PLI_NEW(&host, all, double), *b = PLI_NEW(&host, free_count, double),
           *dx = PLI_NEW(&host, free_count, double);
    PliStatus status = n.position && n.matrix && f && b && dx
                           ? PLI_OK
                           : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu unknowns", all);
    double largest = INFINITY;
    if (status == PLI_OK) {
        memset(n.position, 0xff, all / 3 * sizeof *n.position);
        for (PliIndex i = 0; i < active.count; ++i) n.position[active.dof[i]] = i;
    }
    for (int k = 0; status == PLI_OK && k < MOST && largest > tolerance; ++k) {
        if (load)
            memcpy(f, load, all * sizeof *f);
        else
            memset(f, 0, all * sizeof *f);
        pli_body_reduce(body, f);
        pli_body_add_force(body, x, NULL, f);
        if (k == 0) status = make_pattern(&n, body, active, err);
        if (status == PLI_OK) status = correct(&n, body, active, f, b, dx, err);
        if (status != PLI_OK) break;
        largest = 0.0;
        for (PliIndex i = 0; i < active.count; ++i)
            for (int c = 0; c < 3; ++c) {
                x[3 * (size_t)active.dof[i] + c] += dx[3 * (size_t)i + c];
                largest = pli_max(largest, fabs(dx[3 * (size_t)i + c]));
            }
        pli_body_spread(body, x);
    }
    if (status == PLI_OK && !(largest <= tolerance))
        status = pli_refuse(err, PLI_DIVERGED, "equilibrium was not found in %d corrections, the last one moved %g m",
                            MOST, largest);
    pli_block_matrix_destroy(n.matrix);
    PLI_FREE(&host, n.position, all / 3);
    PLI_FREE(&host, f, all);
    PLI_FREE(&host, b, free_count);
    PLI_FREE(&host, dx, free_count);
    return status;
}
