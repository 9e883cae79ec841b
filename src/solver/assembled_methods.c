/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Iterations over the assembled matrix: with an incomplete factor of it, or with a multigrid cycle. Both are in single precision, which
// halves what an iteration reads; products and sums of the iteration are in double.
#include <string.h>

#include "base/memory.h"
#include "solver/assembled.h"
#include "solver/hierarchy.h"
#include "solver/methods.h"

typedef struct Assembled {
    PliAssembled matrix;
    PliHierarchy grids; ///< incomplete: of one grid
    // multigrid: coarser matrices serve several steps
    bool is_stale;
    double mass_factor, stiffness_factor; ///< they were made with
    int fresh, last; ///< iterations right after they were made, and most of the last step's; 0: unknown
} Assembled;

static void *create(const PliHost *host)
{
    Assembled *s = PLI_NEW(host, 1, Assembled);
    if (s) s->matrix.host = s->grids.host = *host;
    return s;
}

static void destroy(void *self)
{
    Assembled *s = self;
    const PliHost host = s->matrix.host;
    pli_assembled_release(&s->matrix);
    pli_hierarchy_release(&s->grids);
    PLI_FREE(&host, s, 1);
}

static PliStatus incomplete_pattern(void *self, const PliStepMatrix *a)
{
    Assembled *s = self;
    const PliStatus status = pli_assembled_pattern(&s->matrix, a);
    return status == PLI_OK ? pli_hierarchy_begin(&s->grids, s->matrix.n, s->matrix.first, s->matrix.column) : status;
}

static PliStatus multigrid_pattern(void *self, const PliStepMatrix *a)
{
    Assembled *s = self;
    const PliStatus status = incomplete_pattern(self, a);
    if (status != PLI_OK) return status;
    PliGrid *g = &s->grids.grid[0];
    for (PliIndex r = 0; r < s->matrix.n; ++r) {
        const PliIndex i = s->matrix.order[r];
        memcpy(g->place + 3 * (size_t)r, a->x + 3 * (size_t)i, 3 * sizeof *g->place);
        g->out[r] = a->fixed[i];
    }
    s->is_stale = true;
    return pli_hierarchy_pattern(&s->grids);
}

// ---- a step ----------------------------------------------------------------------------------------------------------------------

static void add_tether(PliIndex block, const double k9[9], void *user)
{
    float *v = (float *)user + 9 * (size_t)block;
    for (int k = 0; k < 9; ++k) v[k] += (float)k9[k];
}

static void fill(Assembled *s, const PliStepMatrix *a)
{
    const PliAssembled *m = &s->matrix;
    float *to = s->grids.grid[0].t.value;
    pli_assembled_fill(&s->matrix, a);
    const size_t count = 9 * ((size_t)m->n + m->first[m->n]);
    for (size_t k = 0; k < count; ++k) to[k] = (float)m->value[k];
    pli_assembled_tethers(m, a, add_tether, to);
}

static PliPrepared incomplete_prepare(void *self, const PliStepMatrix *a)
{
    Assembled *s = self;
    fill(s, a);
    pli_triangle_factor(&s->grids.grid[0].t);
    return PLI_PREPARED_NEAR;
}

// Coarser matrices of an earlier step cost some iterations; when these add up to what new ones cost, there are new ones.
static PliPrepared multigrid_prepare(void *self, const PliStepMatrix *a)
{
    Assembled *s = self;
    fill(s, a);
    pli_triangle_invert(&s->grids.grid[0].t);
    if (s->is_stale || s->last > s->fresh + 2 + s->fresh / 4 || a->mass_factor != s->mass_factor ||
        a->stiffness_factor != s->stiffness_factor) {
        pli_hierarchy_coarsen(&s->grids);
        s->mass_factor = a->mass_factor, s->stiffness_factor = a->stiffness_factor;
        s->fresh = 0, s->is_stale = false;
    }
    s->last = 0;
    return PLI_PREPARED_NEAR;
}

static void multigrid_spent(void *self, int iterations)
{
    Assembled *s = self;
    if (s->fresh == 0) s->fresh = iterations;
    s->last = iterations > s->last ? iterations : s->last; // later ones of a step begin near its solution
}

static void take_in(const Assembled *s, const double *b)
{
    PliF4 *r = s->grids.grid[0].r;
    for (PliIndex k = 0; k < s->matrix.n; ++k) {
        const double *p = b + 3 * (size_t)s->matrix.order[k];
        r[k] = (PliF4){ (float)p[0], (float)p[1], (float)p[2], 0.0f };
    }
}

static void give_back(const Assembled *s, double *x)
{
    const PliF4 *from = s->grids.grid[0].x;
    for (PliIndex k = 0; k < s->matrix.n; ++k) {
        double *p = x + 3 * (size_t)s->matrix.order[k];
        p[0] = from[k][0], p[1] = from[k][1], p[2] = from[k][2];
    }
}

static void incomplete_solve(void *self, const PliStepMatrix *a, const double *b, double *x)
{
    (void)a;
    Assembled *s = self;
    const PliGrid *g = &s->grids.grid[0];
    take_in(s, b);
    pli_triangle_solve(&g->t, g->r, g->x, g->w);
    give_back(s, x);
}

static void multigrid_solve(void *self, const PliStepMatrix *a, const double *b, double *x)
{
    (void)a;
    Assembled *s = self;
    take_in(s, b);
    pli_hierarchy_cycle(&s->grids);
    give_back(s, x);
}

static void apply(void *self, const PliStepMatrix *a, const double *p, double *y)
{
    (void)a;
    pli_assembled_apply(&((Assembled *)self)->matrix, p, y);
}

static bool incomplete_takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self;
    return (wish == PLI_SOLVE_INCOMPLETE || wish == PLI_SOLVE_MULTIGRID) && a->block <= 1 && !a->dense;
}

static bool multigrid_takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self;
    return (wish == PLI_SOLVE_MULTIGRID || wish == PLI_SOLVE_AUTO) && pli_is_mesh(a);
}

const PliMethodKind pli_method_incomplete = {
    .ops = { .name = "incomplete",
             .takes = incomplete_takes,
             .pattern = incomplete_pattern,
             .prepare = incomplete_prepare,
             .solve = incomplete_solve,
             .apply = apply },
    .create = create,
    .destroy = destroy,
};

const PliMethodKind pli_method_multigrid = {
    .ops = { .name = "multigrid",
             .takes = multigrid_takes,
             .pattern = multigrid_pattern,
             .prepare = multigrid_prepare,
             .solve = multigrid_solve,
             .spent = multigrid_spent,
             .apply = apply },
    .create = create,
    .destroy = destroy,
};
