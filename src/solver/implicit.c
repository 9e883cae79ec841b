/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Linearised implicit Euler on the active points:
//   [(1 + h a) M - h (h + b) K] dv = h [ f(x, v) - a M v + (h + b_r) K v ]
// a: mass damping, b_r: Rayleigh stiffness, b = b_r + material damping (already inside f, so only in the matrix).
#include <math.h>
#include <string.h>

#include "solver/system.h"

size_t pli_implicit_workspace(PliIndex point_capacity)
{
    const size_t n = 3 * (size_t)point_capacity;
    const size_t cg = pli_cg_workspace((PliIndex)n), minres = pli_minres_workspace((PliIndex)n);
    return 9 * (size_t)point_capacity + 4 * n + (cg > minres ? cg : minres);
}

typedef struct Operator {
    PliSystem *s;
    double mass_factor, stiffness_factor; ///< A = mass_factor M + stiffness_factor K
    double *full, *reaction; ///< active and slaves
    const double *diagonal;  ///< 9 per active point: the hook's majoriser, already scaled
} Operator;

static void clear_fixed(const PliSystem *s, double *a)
{
    for (PliIndex i = 0; i < s->active_count; ++i)
        if (s->fixed[i]) memset(a + 3 * (size_t)i, 0, 3 * sizeof *a);
}

static void apply(void *self, const double *p, double *y)
{
    Operator *op = self;
    PliSystem *s = op->s;
    const size_t n = 3 * (size_t)s->active_count, all = n + 3 * (size_t)s->slave_count;
    memcpy(op->full, p, n * sizeof *p);
    clear_fixed(s, op->full);
    pli_system_spread(s, op->full);
    memset(op->reaction, 0, all * sizeof *p);
    pli_elastic_add_dforce(s->elastic, op->full, op->stiffness_factor, op->reaction);
    pli_system_gather(s, op->reaction);
    pli_system_mass(s, op->full, y);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        double *yi = y + 3 * (size_t)i;
        const double *pi = op->full + 3 * (size_t)i, *d = op->diagonal + 9 * (size_t)i;
        for (int c = 0; c < 3; ++c) {
            yi[c] = op->mass_factor * yi[c] + op->reaction[3 * (size_t)i + c];
            yi[c] += d[3 * c] * pi[0] + d[3 * c + 1] * pi[1] + d[3 * c + 2] * pi[2];
        }
        if (s->fixed[i]) memcpy(yi, p + 3 * (size_t)i, 3 * sizeof *p);
    }
}

// Jacobi with the mass only: cheap, and right in the limit of small steps.
static void precondition(void *self, const double *r, double *z)
{
    Operator *op = self;
    for (PliIndex i = 0; i < op->s->active_count; ++i) {
        const double m = op->s->fixed[i] ? 1.0 : op->mass_factor * op->s->mass[i];
        for (int c = 0; c < 3; ++c) z[3 * (size_t)i + c] = r[3 * (size_t)i + c] / m;
    }
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

PliStatus pli_implicit_pattern(const PliSystem *s, PliImplicit *im, PliError *err)
{
    if (im->solver != PLI_SOLVE_LDL) return PLI_OK;
    PliStatus status = pli_block_matrix_begin(im->matrix, s->active_count);
    FillArg arg = { .matrix = im->matrix, .status = status };
    for (PliIndex i = 0; arg.status == PLI_OK && i < s->active_count; ++i) {
        arg.status = pli_block_matrix_push(im->matrix, i, i);
        for (PliIndex k = s->mass_first ? s->mass_first[i] : 0; s->mass_first && arg.status == PLI_OK && k < s->mass_first[i + 1]; ++k)
            arg.status = pli_block_matrix_push(im->matrix, i, s->mass_column[k]);
    }
    if (arg.status == PLI_OK) pli_system_stiffness_blocks(s, push_block, &arg);
    if (arg.status != PLI_OK) return pli_refuse(err, arg.status, "no memory for the matrix of %u active points", s->active_count);
    return pli_block_matrix_seal(im->matrix, err);
}

static bool solve_direct(const Operator *op, PliImplicit *im, const double *b, double *dv)
{
    const PliSystem *s = op->s;
    PliBlockMatrix *m = im->matrix;
    pli_block_matrix_zero(m);
    FillArg arg = { .matrix = m, .factor = op->stiffness_factor };
    pli_system_stiffness_blocks(s, fill_block, &arg);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        pli_block_matrix_add(m, i, i, op->diagonal + 9 * (size_t)i);
        if (!s->mass_first) {
            pli_block_matrix_add_diagonal(m, i, op->mass_factor * s->mass[i]);
            continue;
        }
        for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k) {
            const double w = op->mass_factor * s->mass_value[k];
            const double block[9] = { w, 0, 0, 0, w, 0, 0, 0, w };
            pli_block_matrix_add(m, i, s->mass_column[k], block);
        }
    }
    for (PliIndex i = 0; i < s->active_count; ++i)
        if (s->fixed[i]) pli_block_matrix_fix(m, i);
    if (pli_block_matrix_factor(m, NULL) != PLI_OK) return false;
    pli_block_matrix_solve(m, b, dv);
    return true;
}

int pli_implicit_step(PliSystem *s, PliImplicit *im, double dt)
{
    const PliIndex points = s->active_count + s->slave_count;
    const size_t n = 3 * (size_t)s->active_count, all = 3 * (size_t)points;
    double *diagonal = s->work, *full = diagonal + 9 * (size_t)points, *reaction = full + all;
    double *b = reaction + all, *dv = b + all, *scratch = dv + all;

    // forces at the start of the step
    pli_system_spread(s, s->x);
    pli_system_spread(s, s->v);
    memset(s->f, 0, all * sizeof *s->f);
    pli_elastic_add_force(s->elastic, s->x, s->material_damping > 0.0 ? s->v : NULL, s->f);
    if (s->add_force) s->add_force(s->self, 0.0, dt, s->x, s->v, s->f);
    // f += (h + b_r) K v
    pli_elastic_linearize(s->elastic, s->x);
    pli_elastic_add_dforce(s->elastic, s->v, dt + s->rayleigh_stiffness, s->f);
    pli_system_gather(s, s->f);
    pli_system_mass(s, s->v, b);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        for (int c = 0; c < 3; ++c) {
            const size_t j = 3 * (size_t)i + c;
            double f = s->f[j] + s->load[i] * s->gravity[c] - s->mass_damping * b[j];
            if (s->f_ext) f += s->f_ext[j];
            b[j] = s->fixed[i] ? 0.0 : dt * f;
            dv[j] = 0.0;
        }
    }

    // hooks give N/m, the system is per velocity: times h^2, like K
    memset(diagonal, 0, 9 * (size_t)s->active_count * sizeof *diagonal);
    if (s->add_diagonal) {
        s->add_diagonal(s->self, diagonal);
        for (size_t i = 0; i < 9 * (size_t)s->active_count; ++i) diagonal[i] *= dt * dt;
    }
    Operator op = { s, 1.0 + dt * s->mass_damping, -dt * (dt + s->rayleigh_stiffness + s->material_damping), full, reaction, diagonal };
    int iterations = 1;
    if (im->solver == PLI_SOLVE_LDL) {
        if (!solve_direct(&op, im, b, dv)) return -1;
    } else {
        PliLinearOp a = { apply, im->solver == PLI_SOLVE_CG && !s->mass_first ? precondition : NULL, &op, (PliIndex)n };
        PliSolveResult r = im->solver == PLI_SOLVE_CG ? pli_cg_solve(&im->iterative, &a, b, dv, scratch)
                                                      : pli_minres_solve(&im->iterative, &a, b, dv, scratch);
        if (!isfinite(r.residual)) return -1;
        iterations = r.iterations;
    }
    for (size_t i = 0; i < n; ++i) {
        s->v[i] += dv[i];
        s->x[i] += dt * s->v[i];
    }
    if (s->correct) s->correct(s->self, dt, dt, s->x, s->v);
    pli_system_spread(s, s->x);
    pli_system_spread(s, s->v);
    return iterations;
}
