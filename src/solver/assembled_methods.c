/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Iterations over the assembled matrix: with an incomplete factor of it, with that and coarser grids, or with a multigrid cycle. All are in
// single precision, which halves what an iteration reads; products and sums of the iteration are in double.
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "solver/assembled.h"
#include "solver/hierarchy.h"
#include "solver/methods.h"

static const double LOOKS =
    2.0; ///< at blocks of other rows in the time an iteration takes for one block: a factor, measured

typedef struct Assembled {
    PliAssembled matrix;
    PliHierarchy grids; ///< incomplete: of one grid
    // an incomplete factor and the coarser matrices serve several steps
    bool is_stale;
    double mass_factor, stiffness_factor; ///< they were made with
    // when a factor has cost as many iterations as a new one is worth, there is a new one; the same with coarser matrices
    int fresh, worth, excess; ///< fresh: iterations right after it was made; 0: unknown
    int coarse_fresh, coarse_excess;
    bool has_factor, has_coarse; ///< what preconditions: at least one of them
    uint64_t tethers;            ///< which points they tied when the factor was made
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

static PliStatus begin_pattern(Assembled *s, const PliStepMatrix *a)
{
    s->is_stale = true;
    const PliStatus status = pli_assembled_pattern(&s->matrix, a);
    return status == PLI_OK ? pli_hierarchy_begin(&s->grids, s->matrix.n, s->matrix.first, s->matrix.column) : status;
}

/// Iterations that take as long as a factor: it looks at the rows of all neighbours, an iteration reads each block four times. Counts
/// decide, not clocks.
static int factor_worth(const PliAssembled *m)
{
    double looks = 0.0;
    for (PliIndex e = 0; e < m->first[m->n]; ++e) looks += 2.0 + m->first[m->column[e] + 1] - m->first[m->column[e]];
    return 1 + (int)(looks / (LOOKS * (m->first[m->n] + m->n)));
}

static PliStatus incomplete_pattern(void *self, const PliStepMatrix *a)
{
    Assembled *s = self;
    const PliStatus status = begin_pattern(s, a);
    s->has_factor = true, s->has_coarse = false;
    if (status == PLI_OK) s->worth = factor_worth(&s->matrix);
    return status;
}

static PliStatus coarse_pattern(Assembled *s, const PliStepMatrix *a, bool far)
{
    const PliStatus status = incomplete_pattern(s, a);
    if (status != PLI_OK) return status;
    s->has_coarse = true;
    PliGrid *g = &s->grids.grid[0];
    for (PliIndex r = 0; r < s->matrix.n; ++r) {
        const PliIndex i = s->matrix.order[r];
        memcpy(g->place + 3 * (size_t)r, a->x + 3 * (size_t)i, 3 * sizeof *g->place);
        g->out[r] = a->fixed[i];
    }
    return pli_hierarchy_pattern(&s->grids, far);
}

static PliStatus helped_pattern(void *self, const PliStepMatrix *a) { return coarse_pattern(self, a, true); }

static PliStatus multigrid_pattern(void *self, const PliStepMatrix *a)
{
    Assembled *s = self;
    const PliStatus status = coarse_pattern(s, a, false);
    s->has_factor = false;
    return status;
}

// ---- a step ----------------------------------------------------------------------------------------------------------------------

static void add_tether(PliIndex block, const double k9[9], void *user)
{
    float *v = (float *)user + 9 * (size_t)block;
    for (int k = 0; k < 9; ++k) v[k] += (float)k9[k];
}

/// The finest values in single precision, with tethers.
static void copy_finest(const Assembled *s, const PliStepMatrix *a)
{
    const PliAssembled *m = &s->matrix;
    float *to = s->grids.grid[0].t.value;
    const size_t count = 9 * ((size_t)m->n + m->first[m->n]);
    for (size_t k = 0; k < count; ++k) to[k] = (float)m->value[k];
    pli_assembled_tethers(m, a, add_tether, to);
}

static bool is_scaled(Assembled *s, const PliStepMatrix *a)
{
    const bool other = a->mass_factor != s->mass_factor || a->stiffness_factor != s->stiffness_factor;
    s->mass_factor = a->mass_factor, s->stiffness_factor = a->stiffness_factor;
    return other;
}

static uint64_t tied_points(const PliStepMatrix *a)
{
    const size_t count = a->tether_count ? a->tether_first[a->tether_count] : 0;
    return pli_hash(PLI_HASH_SEED, a->tether_column, count * sizeof *a->tether_column);
}

/// Iterations that take as long as the coarser matrices, the larger ones of a multigrid cycle.
enum { COARSE_WORTH = 4, CYCLE_WORTH = 10 };

// A factor of an earlier step costs some iterations; when they add up to what a new one costs, there is a new one, and with it coarser
// matrices, if it is so with these. A factor that does not know of the points that tools hold costs more at once.
static PliPrepared prepare(void *self, const PliStepMatrix *a)
{
    Assembled *s = self;
    const uint64_t tethers = tied_points(a);
    if (!a->again && !a->system->kept) pli_assembled_fill(&s->matrix, a);
    const bool first = is_scaled(s, a) || s->is_stale;
    if (!s->has_factor || first || a->again || s->excess >= s->worth || tethers != s->tethers) {
        copy_finest(s, a);
        if (s->has_coarse && (first || s->coarse_excess >= (s->has_factor ? COARSE_WORTH : CYCLE_WORTH))) {
            pli_hierarchy_coarsen(&s->grids);
            s->coarse_fresh = s->coarse_excess = 0;
        }
        if (s->has_factor)
            pli_triangle_factor(&s->grids.grid[0].t, s->grids.scratch);
        else
            pli_triangle_invert(&s->grids.grid[0].t);
        s->tethers = tethers, s->fresh = s->excess = 0, s->is_stale = false;
    }
    return PLI_PREPARED_NEAR;
}

static void spent(void *self, int iterations)
{
    Assembled *s = self;
    if (s->fresh == 0) s->fresh = iterations;
    if (iterations > s->fresh) s->excess += iterations - s->fresh;
    if (s->coarse_fresh == 0) s->coarse_fresh = iterations;
    if (iterations > s->coarse_fresh) s->coarse_excess += iterations - s->coarse_fresh;
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

static void sweep(void *self)
{
    Assembled *s = self;
    const PliGrid *g = &s->grids.grid[0];
    if (!s->has_factor) {
        pli_hierarchy_cycle(&s->grids);
        return;
    }
    pli_triangle_solve(&g->t, g->r, g->x, g->w);
    if (s->has_coarse) pli_hierarchy_add_coarse(&s->grids);
}

static void solve(void *self, const PliStepMatrix *a, const double *b, double *x)
{
    (void)a;
    take_in(self, b);
    sweep(self);
    give_back(self, x);
}

static PliSolveResult iterate(void *self, const PliStepMatrix *a, const PliIterative *def, const double *b,
                              const double *const guess[2], double *x, double *workspace)
{
    Assembled *s = self;
    const PliGrid *g = &s->grids.grid[0];
    return pli_assembled_cg(&s->matrix, a, def, &(PliSweep){ g->r, g->x, sweep, s }, b, guess, x, workspace);
}

static void apply(void *self, const PliStepMatrix *a, const double *p, double *y)
{
    (void)a;
    pli_assembled_apply(&((Assembled *)self)->matrix, p, y);
}

static bool incomplete_takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self;
    if (wish == PLI_SOLVE_AUTO) return pli_is_mesh(a);
    return (wish == PLI_SOLVE_INCOMPLETE || wish == PLI_SOLVE_MULTIGRID) && a->block <= 1 && !a->dense;
}

static bool helped_takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self;
    return wish == PLI_SOLVE_AUTO && pli_is_mesh(a);
}

static bool multigrid_takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    (void)self;
    return wish == PLI_SOLVE_MULTIGRID && pli_is_mesh(a);
}

/// What they share is all but which bodies they take and what they prepare.
#define ASSEMBLED(word, takes_it, makes_pattern)                                                                       \
    {                                                                                                                  \
        .ops = { .name = word,                                                                                         \
                 .takes = takes_it,                                                                                    \
                 .pattern = makes_pattern,                                                                             \
                 .prepare = prepare,                                                                                   \
                 .solve = solve,                                                                                       \
                 .spent = spent,                                                                                       \
                 .apply = apply },                                                                                     \
        .create = create, .destroy = destroy, .iterate = iterate,                                                      \
    }

const PliMethodKind pli_method_incomplete = ASSEMBLED("incomplete", incomplete_takes, incomplete_pattern);
const PliMethodKind pli_method_helped = ASSEMBLED("incomplete with coarse grids", helped_takes, helped_pattern);
const PliMethodKind pli_method_multigrid = ASSEMBLED("multigrid", multigrid_takes, multigrid_pattern);
