/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/stock/stock.h"

#include <math.h>
#include <string.h>

// CGLinearSolver: SOFA's own iteration, not pli_cg_solve, because its two stopping rules and what they do in the first step
// of a run decide where a trajectory goes.

typedef struct Cg {
    int iterations;
    double tolerance, threshold;
    bool warm;
    uint64_t solves;
    double *p, *q, *r;
    PliIndex count;
    int last; ///< iterations of the last solve, for the record
} Cg;

static PliStatus cg_prepare(PliObject *o, PliMechanics *m, PliError *err)
{
    Cg *c = o->self;
    c->iterations = pli_int(o, "iterations");
    c->tolerance = pli_real(o, "tolerance");
    c->threshold = pli_real(o, "threshold");
    c->warm = pli_bool(o, "warmStart");
    if (c->tolerance < 0.0) c->tolerance = 1e-5; // as SOFA goes on
    if (c->threshold < 0.0) c->threshold = 1e-5;
    c->count = m->count;
    double *block = PLI_SCENE_NEW(m->scene, 9 * (size_t)m->count, double);
    if (!block) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u points", m->count);
    c->p = block;
    c->q = block + 3 * (size_t)m->count;
    c->r = block + 6 * (size_t)m->count;
    return PLI_OK;
}

static void product(PliMechanics *m, PliFactors factors, const double *x, double *y)
{
    memset(y, 0, 3 * (size_t)m->count * sizeof *y);
    pli_mechanics_add_mbk(m, x, factors, y);
    pli_mechanics_project(m, y);
}

static PliStatus cg_solve(PliObject *o, PliMechanics *m, PliFactors factors, const double *b, double *x, PliError *err)
{
    Cg *c = o->self;
    if (!c->p || c->count != m->count) {
        PliStatus status = cg_prepare(o, m, err);
        if (status) return status;
    }
    if (!b) return PLI_OK; // only asked to prepare
    PliIndex n = 3 * m->count;
    double *p = c->p, *q = c->q, *r = c->r;
    if (c->warm) {
        product(m, factors, x, q);
        for (PliIndex i = 0; i < n; ++i) r[i] = b[i] - q[i];
    } else {
        memset(x, 0, n * sizeof *x);
        memcpy(r, b, n * sizeof *r);
    }
    double norm = sqrt(pli_dot(n, b, b)), before = 0.0;
    bool first = c->solves++ == 0;
    c->last = 0;
    if (norm == 0.0) return PLI_OK;
    for (int k = 1; k <= c->iterations; ++k) {
        double rho = pli_dot(n, r, r);
        // in the very first step SOFA only warns when the first residual is small enough already, and goes on
        if (sqrt(rho) / norm <= c->tolerance && !(k == 1 && first)) break;
        double beta = k == 1 ? 0.0 : rho / before;
        for (PliIndex i = 0; i < n; ++i) p[i] = k == 1 ? r[i] : p[i] * beta + r[i];
        product(m, factors, p, q);
        double den = pli_dot(n, p, q);
        if (den == 0.0) break;
        if (fabs(den) <= c->threshold && !(k == 1 && first)) break;
        double alpha = rho / den;
        for (PliIndex i = 0; i < n; ++i) x[i] += alpha * p[i];
        for (PliIndex i = 0; i < n; ++i) r[i] -= alpha * q[i];
        before = rho;
        c->last = k;
    }
    return PLI_OK;
}

const PliOps pli_cg_ops = { .size = sizeof(Cg), .linear = cg_solve };

// ---- direct solvers --------------------------------------------------------------------------------------------------------------
// SparseLDLSolver, EigenSimplicialLDLT and their kin solve the same assembled system to rounding: one factor serves all.

typedef struct Direct {
    PliMechanics *m;
} Direct;

static PliStatus direct_solve(PliObject *o, PliMechanics *m, PliFactors factors, const double *b, double *x,
                              PliError *err)
{
    ((Direct *)o->self)->m = m;
    // allocates only when a body has changed its levels
    PliStatus status = pli_mechanics_refresh(m, err);
    if (status || !b || m->count == 0) return status;
    pli_mechanics_assemble(m, factors);
    status = pli_block_matrix_factor(m->matrix, err);
    if (status) return status;
    pli_block_matrix_solve(m->matrix, b, x);
    return PLI_OK;
}

static void direct_destroy(PliObject *o)
{
    PliMechanics *m = ((Direct *)o->self)->m;
    if (m) pli_block_matrix_destroy(m->matrix);
}

const PliOps pli_direct_ops = { .size = sizeof(Direct), .linear = direct_solve, .destroy = direct_destroy };
