/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Linearised implicit Euler on the active points:
//   [(1 + h a) M - h (h + b) K] dv = h [ f(x, v) - a M v + (h + b_r) K v ]
// a: mass damping, b_r: Rayleigh stiffness, b = b_r + material damping (already inside f, so only in the matrix).
#include <math.h>
#include <string.h>

#include "solver/system.h"

enum { AUTO_UNKNOWNS = 600 };   ///< up to here a dense factor beats iterations on frames
enum { DENSE_UNKNOWNS = 4200 }; ///< above, memory and n^3 speak for iterations

size_t pli_implicit_workspace(PliIndex point_capacity, PliIndex group)
{
    const size_t n = 3 * (size_t)point_capacity, blocks = group > 1 ? 3 * group * n : 0;
    const size_t cg = pli_cg_workspace((PliIndex)n), minres = pli_minres_workspace((PliIndex)n);
    return 9 * (size_t)point_capacity + 4 * n + blocks + (cg > minres ? cg : minres);
}

typedef struct Operator {
    PliSystem *s;
    double mass_factor, stiffness_factor; ///< A = mass_factor M + stiffness_factor K
    double *full, *reaction; ///< active and slaves
    const double *diagonal;  ///< 9 per active point: the hook's majoriser, already scaled
    double *blocks;          ///< Cholesky factors of the groups, or NULL
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

// ---- groups of points as blocks of the preconditioner ---------------------------------------------------------------------

// Diagonal blocks of A, factored in place; unknown c * group + p within a block. A block that is not positive definite (strong
// compression) falls back to its mass alone.
static void factor_groups(Operator *op)
{
    const PliSystem *s = op->s;
    const size_t g = s->group, width = 3 * g, count = s->active_count / g;
    for (int attempt = 0; attempt < 2; ++attempt) {
        bool good = true;
        memset(op->blocks, 0, count * width * width * sizeof *op->blocks);
        if (attempt == 0) pli_elastic_add_group_blocks(s->elastic, op->stiffness_factor, s->group, op->blocks);
        for (size_t i = 0; i < s->active_count; ++i) {
            double *block = op->blocks + i / g * width * width;
            const size_t row = i % g;
            for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k) {
                const size_t j = s->mass_column[k];
                if (j / g != i / g) continue;
                for (size_t c = 0; c < 3; ++c) block[(c * g + row) * width + c * g + j % g] += op->mass_factor * s->mass_value[k];
            }
            for (size_t c = 0; c < 9; ++c) block[(c / 3 * g + row) * width + c % 3 * g + row] += op->diagonal[9 * i + c];
            if (!s->fixed[i]) continue;
            for (size_t c = 0; c < 3; ++c)
                for (size_t k = 0; k < width; ++k) block[(c * g + row) * width + k] = block[k * width + c * g + row] = k == c * g + row ? 1.0 : 0.0;
        }
        for (size_t b = 0; b < count && good; ++b) {
            double *m = op->blocks + b * width * width;
            for (size_t i = 0; i < width && good; ++i)
                for (size_t j = 0; j <= i; ++j) {
                    double sum = m[i * width + j];
                    for (size_t k = 0; k < j; ++k) sum -= m[i * width + k] * m[j * width + k];
                    if (i > j) m[i * width + j] = sum * m[j * width + j];
                    else if (sum > 0.0) m[i * width + i] = 1.0 / sqrt(sum); // the inverse is what the solves need
                    else good = false;
                }
        }
        if (good) return;
    }
}

static void precondition_groups(void *self, const double *r, double *z)
{
    const Operator *op = self;
    const size_t g = op->s->group, width = 3 * g, count = op->s->active_count / g;
    double x[3 * 8];
    for (size_t b = 0; b < count; ++b) {
        const double *m = op->blocks + b * width * width;
        for (size_t i = 0; i < width; ++i) {
            double sum = r[3 * (b * g + i % g) + i / g];
            for (size_t k = 0; k < i; ++k) sum -= m[i * width + k] * x[k];
            x[i] = sum * m[i * width + i];
        }
        for (size_t i = width; i-- > 0;) {
            x[i] *= m[i * width + i];
            for (size_t k = 0; k < i; ++k) x[k] -= m[i * width + k] * x[i];
        }
        for (size_t i = 0; i < width; ++i) z[3 * (b * g + i % g) + i / g] = x[i];
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
    im->chosen = im->solver;
    if (im->solver == PLI_SOLVE_AUTO) im->chosen = s->group > 1 && 3 * s->active_count > AUTO_UNKNOWNS ? PLI_SOLVE_CG : PLI_SOLVE_LDL;
    if (im->chosen != PLI_SOLVE_LDL) return PLI_OK;
    // groups couple with nearly all others: a dense factor is several times faster than a sparse one
    im->is_dense = im->dense && s->group > 1 && s->slave_count == 0 && s->tet_count == 0 && 3 * s->active_count <= DENSE_UNKNOWNS;
    if (im->is_dense) {
        if (pli_dense_reserve(im->dense, 3 * s->active_count) == PLI_OK) return PLI_OK;
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the matrix of %u active points", s->active_count);
    }
    PliStatus status = pli_block_matrix_begin(im->matrix, s->active_count);
    FillArg arg = { .matrix = im->matrix, .status = status };
    for (PliIndex i = 0; arg.status == PLI_OK && i < s->active_count; ++i) {
        arg.status = pli_block_matrix_push(im->matrix, i, i);
        for (PliIndex k = s->mass_first ? s->mass_first[i] : 0; s->mass_first && arg.status == PLI_OK && k < s->mass_first[i + 1]; ++k)
            arg.status = pli_block_matrix_push(im->matrix, i, s->mass_column[k]);
    }
    if (arg.status == PLI_OK) {
        pli_elastic_linearize(s->elastic, s->x); // matrices exist only after that
        pli_system_stiffness_blocks(s, push_block, &arg);
    }
    if (arg.status != PLI_OK) return pli_refuse(err, arg.status, "no memory for the matrix of %u active points", s->active_count);
    return pli_block_matrix_seal(im->matrix, err);
}

// components first: unknown c * active_count + p
static bool factor_dense(const Operator *op, PliDense *m)
{
    const PliSystem *s = op->s;
    const size_t n = s->active_count;
    pli_dense_zero(m);
    pli_elastic_add_dense(s->elastic, op->stiffness_factor, s->active_count, m->a, m->stride);
    for (size_t i = 0; i < n; ++i) {
        for (size_t c = 0; c < 3; ++c)
            for (size_t d = 0; d <= c; ++d) m->a[(c * n + i) * m->stride + d * n + i] += op->diagonal[9 * i + 3 * c + d];
        for (PliIndex k = s->mass_first ? s->mass_first[i] : 0; s->mass_first && k < s->mass_first[i + 1]; ++k)
            for (size_t c = 0; c < 3 && s->mass_column[k] <= i; ++c)
                m->a[(c * n + i) * m->stride + c * n + s->mass_column[k]] += op->mass_factor * s->mass_value[k];
        for (size_t c = 0; c < 3 && !s->mass_first; ++c) m->a[(c * n + i) * m->stride + c * n + i] += op->mass_factor * s->mass[i];
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t c = 0; c < 3 && s->fixed[i]; ++c) {
            const size_t at = c * n + i;
            memset(m->a + at * m->stride, 0, at * sizeof *m->a);
            for (size_t r = at + 1; r < 3 * n; ++r) m->a[r * m->stride + at] = 0.0;
            m->a[at * m->stride + at] = 1.0;
        }
    return pli_dense_factor(m) == PLI_OK;
}

void pli_implicit_solve(const PliSystem *s, const PliImplicit *im, const double *b, double *x)
{
    if (!im->is_dense) {
        pli_block_matrix_solve(im->matrix, b, x);
        return;
    }
    const size_t n = s->active_count;
    double *t = im->dense->panel; // scratch of the factor, at least as long
    for (size_t i = 0; i < 3 * n; ++i) t[i % 3 * n + i / 3] = b[i];
    pli_dense_solve(im->dense, t, t);
    for (size_t i = 0; i < 3 * n; ++i) x[i] = t[i % 3 * n + i / 3];
}

void pli_implicit_solve_eight(const PliSystem *s, const PliImplicit *im, double *x, double *work)
{
    if (!im->is_dense) {
        pli_block_matrix_solve_eight(im->matrix, x, x, work);
        return;
    }
    const size_t n = 3 * (size_t)s->active_count;
    double *in = work, *out = work + n;
    for (size_t k = 0; k < 8; ++k) {
        for (size_t i = 0; i < n; ++i) in[i] = x[8 * i + k];
        pli_implicit_solve(s, im, in, out);
        for (size_t i = 0; i < n; ++i) x[8 * i + k] = out[i];
    }
}

static bool factor_direct(const Operator *op, PliImplicit *im)
{
    const PliSystem *s = op->s;
    if (im->is_dense) return factor_dense(op, im->dense);
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
    return pli_block_matrix_factor(m, NULL) == PLI_OK;
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
    if (!s->force_ready) {
        memset(s->f, 0, all * sizeof *s->f);
        pli_elastic_add_force(s->elastic, s->x, s->material_damping > 0.0 ? s->v : NULL, s->f);
    }
    s->force_ready = false;
    if (s->add_force) s->add_force(s->self, 0.0, dt, s->x, s->v, s->f);
    // Under compression the exact tangent has negative eigenvalues: close to singular, the matrix throws points, and contact solved on
    // its inverse has no solution. Without them it is positive definite for any step.
    pli_elastic_set_project(s->elastic, true);
    pli_elastic_linearize(s->elastic, s->x);
    pli_elastic_set_project(s->elastic, false);
    // f += (h + b_r) K v
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
    Operator op = { s, 1.0 + dt * s->mass_damping, -dt * (dt + s->rayleigh_stiffness + s->material_damping), full, reaction, diagonal, NULL };
    int iterations = 1;
    if (im->chosen == PLI_SOLVE_LDL) {
        if (!factor_direct(&op, im)) return -1;
        pli_implicit_solve(s, im, b, dv);
    } else {
        PliLinearOp a = { apply, im->chosen == PLI_SOLVE_CG && !s->mass_first ? precondition : NULL, &op, (PliIndex)n };
        if (im->chosen == PLI_SOLVE_CG && s->group > 1 && s->group <= 8 && s->mass_first) {
            op.blocks = scratch;
            scratch += 3 * s->group * all;
            factor_groups(&op);
            a.precondition = precondition_groups;
        }
        PliSolveResult r = im->chosen == PLI_SOLVE_CG ? pli_cg_solve(&im->iterative, &a, b, dv, scratch)
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
