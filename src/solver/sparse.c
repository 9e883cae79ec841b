/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The direct solver of sparse bodies: the assembled matrix and its factor.
#include "base/memory.h"
#include "solver/assembled.h"
#include "solver/condense.h"
#include "solver/factor.h"
#include "solver/methods.h"

typedef struct Sparse {
    PliAssembled matrix;
    PliFactor factor;
    PliCondense condense;
} Sparse;

static void *create(const PliHost *host)
{
    Sparse *s = PLI_NEW(host, 1, Sparse);
    if (s) s->matrix.host = s->factor.host = s->condense.host = *host;
    return s;
}

static void destroy(void *self)
{
    Sparse *s = self;
    const PliHost host = s->matrix.host;
    pli_assembled_release(&s->matrix);
    pli_factor_release(&s->factor);
    pli_condense_release(&s->condense);
    PLI_FREE(&host, s, 1);
}

static bool takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self;
    return pli_wants_factor(a, wish);
}

static PliStatus pattern(void *self, const PliStepMatrix *a)
{
    Sparse *s = self;
    const PliAssembled *m = &s->matrix;
    PliStatus status = pli_assembled_pattern(&s->matrix, a);
    if (status == PLI_OK) status = pli_factor_pattern(&s->factor, m->n, m->first, m->column);
    for (PliIndex k = 0; status == PLI_OK && k < m->n; ++k) { // solves are asked by points, not by rows
        s->factor.order[k] = m->order[s->factor.order[k]];
        s->factor.place[s->factor.order[k]] = k;
    }
    return status;
}

static void add_tether(PliIndex block, const double k9[9], void *user)
{
    double *v = (double *)user + 9 * (size_t)block;
    for (int k = 0; k < 9; ++k) v[k] += k9[k];
}

static PliPrepared prepare(void *self, const PliStepMatrix *a)
{
    Sparse *s = self;
    PliAssembled *m = &s->matrix;
    pli_assembled_fill(m, a);
    pli_assembled_tethers(m, a, add_tether, m->value);
    return pli_factor_numeric(&s->factor, m->value, m->n, NULL) == 3 * m->n ? PLI_PREPARED_EXACT : PLI_PREPARED_FAILED;
}

static void solve(void *self, const PliStepMatrix *a, const double *b, double *x)
{
    (void)a;
    pli_factor_solve(&((Sparse *)self)->factor, b, x);
}

static void solve_eight(void *self, const PliStepMatrix *a, double *x, double *work)
{
    (void)a;
    pli_factor_solve_eight(&((Sparse *)self)->factor, x, x, work);
}

static bool condense(void *self, const PliStepMatrix *a, const PliTouched *b, double factor, double *c)
{
    Sparse *s = self;
    return pli_condense(&s->condense, &s->factor, a->fixed, b, factor, c);
}

const PliMethodKind pli_method_sparse = {
    .ops = { .name = "sparse",
             .takes = takes,
             .pattern = pattern,
             .prepare = prepare,
             .solve = solve,
             .solve_eight = solve_eight,
             .condense = condense,
             .responds = true },
    .create = create,
    .destroy = destroy,
};
