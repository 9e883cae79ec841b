/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Linearised implicit Euler on the active points:
//   [(1 + h a) M - h (h + b) K] dv = h [ f(x, v) - a M v + (h + b_r) K v ]
// a: mass damping, b_r: Rayleigh stiffness, b = b_r + material damping (already inside f, so only in the matrix).
#include <math.h>
#include <string.h>

#include "solver/system.h"

enum { TILED_UNKNOWNS = 24000 }; ///< above, memory speaks for iterations

size_t pli_implicit_workspace(PliIndex point_capacity, PliIndex group)
{
    const size_t n = 3 * (size_t)point_capacity, blocks = group > 1 ? 3 * group * n : 0;
    const size_t cg = pli_cg_workspace((PliIndex)n), minres = pli_minres_workspace((PliIndex)n);
    return 5 * n + blocks + (cg > minres ? cg : minres);
}

typedef struct Operator {
    PliSystem *s;
    double mass_factor, stiffness_factor; ///< A = mass_factor M + stiffness_factor K
    double *full, *reaction;              ///< active and slaves
    double *jacobi;                       ///< per active unknown: diagonal of masses and springs
    double *blocks;                       ///< Cholesky factors of the groups, or NULL
    const PliImplicit *rotated;           ///< holder of the factor at rest, or NULL
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
    pli_system_add_dforce(s, op->full, op->stiffness_factor, op->reaction);
    pli_system_gather(s, op->reaction);
    pli_system_mass(s, op->full, y);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        double *yi = y + 3 * (size_t)i;
        for (int c = 0; c < 3; ++c) yi[c] = op->mass_factor * yi[c] + op->reaction[3 * (size_t)i + c];
    }
    for (PliIndex j = 0; j < s->spring_count; ++j) {
        double u[3] = { 0.0, 0.0, 0.0 }, f[3];
        const double *q = s->spring_matrix + 6 * (size_t)j;
        for (PliIndex k = s->spring_first[j]; k < s->spring_first[j + 1]; ++k)
            for (int c = 0; c < 3; ++c)
                u[c] += s->spring_weight[k] * op->full[3 * (size_t)s->spring_column[k] + (size_t)c];
        f[0] = q[0] * u[0] + q[5] * u[1] + q[4] * u[2];
        f[1] = q[5] * u[0] + q[1] * u[1] + q[3] * u[2];
        f[2] = q[4] * u[0] + q[3] * u[1] + q[2] * u[2];
        for (PliIndex k = s->spring_first[j]; k < s->spring_first[j + 1]; ++k)
            for (int c = 0; c < 3; ++c) y[3 * (size_t)s->spring_column[k] + (size_t)c] += s->spring_weight[k] * f[c];
    }
    for (PliIndex i = 0; i < s->active_count; ++i)
        if (s->fixed[i]) memcpy(y + 3 * (size_t)i, p + 3 * (size_t)i, 3 * sizeof *p);
}

// Jacobi with masses and springs only: cheap, and right in the limit of small steps.
static void fill_jacobi(Operator *op)
{
    const PliSystem *s = op->s;
    for (size_t i = 0; i < s->active_count; ++i)
        for (size_t c = 0; c < 3; ++c) op->jacobi[3 * i + c] = op->mass_factor * s->mass[i];
    for (PliIndex j = 0; j < s->spring_count; ++j)
        for (PliIndex k = s->spring_first[j]; k < s->spring_first[j + 1]; ++k)
            for (size_t c = 0; c < 3; ++c)
                op->jacobi[3 * (size_t)s->spring_column[k] + c] +=
                    s->spring_weight[k] * s->spring_weight[k] * s->spring_matrix[6 * (size_t)j + c];
    for (size_t i = 0; i < s->active_count; ++i)
        for (size_t c = 0; c < 3 && s->fixed[i]; ++c) op->jacobi[3 * i + c] = 1.0;
}

static void precondition(void *self, const double *r, double *z)
{
    const Operator *op = self;
    for (size_t i = 0; i < 3 * (size_t)op->s->active_count; ++i) z[i] = r[i] / op->jacobi[i];
}

static void precondition_rotated(void *self, const double *r, double *z)
{
    const Operator *op = self;
    pli_rotated_solve(op->s, op->rotated, r, z);
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
        for (PliIndex j = 0; j < s->spring_count; ++j)
            for (PliIndex a = s->spring_first[j]; a < s->spring_first[j + 1]; ++a)
                for (PliIndex b = s->spring_first[j]; b < s->spring_first[j + 1]; ++b) {
                    static const size_t sym[9] = { 0, 5, 4, 5, 1, 3, 4, 3, 2 };
                    const size_t row = s->spring_column[a], column = s->spring_column[b];
                    if (row / g != column / g) continue;
                    double *block = op->blocks + row / g * width * width;
                    for (size_t c = 0; c < 9; ++c)
                        block[(c / 3 * g + row % g) * width + c % 3 * g + column % g] +=
                            s->spring_matrix[6 * (size_t)j + sym[c]] * s->spring_weight[a] * s->spring_weight[b];
                }
        for (size_t i = 0; i < s->active_count; ++i) {
            double *block = op->blocks + i / g * width * width;
            const size_t row = i % g;
            for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k) {
                const size_t j = s->mass_column[k];
                if (j / g != i / g) continue;
                for (size_t c = 0; c < 3; ++c)
                    block[(c * g + row) * width + c * g + j % g] += op->mass_factor * s->mass_value[k];
            }
            if (!s->fixed[i]) continue;
            for (size_t c = 0; c < 3; ++c)
                for (size_t k = 0; k < width; ++k)
                    block[(c * g + row) * width + k] = block[k * width + c * g + row] = k == c * g + row ? 1.0 : 0.0;
        }
        for (size_t b = 0; b < count && good; ++b) {
            double *m = op->blocks + b * width * width;
            for (size_t i = 0; i < width && good; ++i)
                for (size_t j = 0; j <= i; ++j) {
                    double sum = m[i * width + j];
                    for (size_t k = 0; k < j; ++k) sum -= m[i * width + k] * m[j * width + k];
                    if (i > j)
                        m[i * width + j] = sum * m[j * width + j];
                    else if (sum > 0.0)
                        m[i * width + i] = 1.0 / sqrt(sum); // the inverse is what the solves need
                    else
                        good = false;
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

static void join_groups(const PliIndex *group, PliIndex count, void *user)
{
    for (PliIndex a = 1; a < count; ++a)
        for (PliIndex b = 0; b < a; ++b) pli_tiles_join(user, group[a], group[b]);
}

static bool pattern_has(const PliTiles *m, PliIndex group, PliIndex other)
{
    return pli_tiles_block(m, group, other) || pli_tiles_block(m, other, group);
}

bool pli_implicit_outgrown(const PliSystem *s, const PliImplicit *im)
{
    if (im->chosen != PLI_SOLVE_LDL || !(im->is_tiled || im->is_rotated)) return false;
    for (PliIndex j = 0; j < s->spring_count && im->is_rotated; ++j)
        for (PliIndex a = s->spring_first[j]; a < s->spring_first[j + 1]; ++a)
            for (PliIndex b = s->spring_first[j]; b < a; ++b)
                if (!pattern_has(im->tiles, im->place[s->spring_column[a]] / 4, im->place[s->spring_column[b]] / 4))
                    return true;
    if (im->is_rotated) return false;
    for (PliIndex j = 0; j < s->spring_count; ++j)
        for (PliIndex a = s->spring_first[j]; a < s->spring_first[j + 1]; a += 4)
            for (PliIndex b = s->spring_first[j]; b < a; b += 4)
                if (!pattern_has(im->tiles, s->spring_column[a] / 4, s->spring_column[b] / 4)) return true;
    return false;
}

PliStatus pli_implicit_pattern(const PliSystem *s, PliImplicit *im, PliError *err)
{
    im->chosen = im->solver;
    im->is_rotated = s->constant && im->tiles &&
                     (im->solver == PLI_SOLVE_AUTO || (im->solver == PLI_SOLVE_LDL && s->constant->linear)) &&
                     3 * s->active_count <= TILED_UNKNOWNS;
    if (im->is_rotated) {
        im->chosen = PLI_SOLVE_LDL; // as far as responses are concerned
        im->is_tiled = false;
        const PliStatus rotated = pli_rotated_pattern(s, im);
        return rotated == PLI_OK
                   ? PLI_OK
                   : pli_refuse(err, rotated, "no memory for the matrix of %u active points", s->active_count);
    }
    if (im->solver == PLI_SOLVE_AUTO && s->constant)
        im->chosen = PLI_SOLVE_CG;
    else if (im->solver == PLI_SOLVE_AUTO)
        im->chosen = s->group > 1 && 3 * s->active_count > TILED_UNKNOWNS ? PLI_SOLVE_CG : PLI_SOLVE_LDL;
    if (im->chosen != PLI_SOLVE_LDL) return PLI_OK;
    im->is_tiled = im->tiles && s->group == 4 && s->slave_count == 0 && s->tet_count == 0 && s->mass_first;
    if (im->is_tiled) {
        PliStatus tiled = pli_tiles_begin(im->tiles, s->active_count / 4);
        if (tiled == PLI_OK) {
            pli_elastic_sample_groups(s->elastic, join_groups, im->tiles);
            for (PliIndex i = 0; i < s->active_count; i += 4)
                for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k)
                    pli_tiles_join(im->tiles, i / 4, s->mass_column[k] / 4);
            for (PliIndex j = 0; j < s->spring_count; ++j)
                for (PliIndex a = s->spring_first[j]; a < s->spring_first[j + 1]; a += 4) // rows list whole groups
                    for (PliIndex b = s->spring_first[j]; b < a; b += 4)
                        pli_tiles_join(im->tiles, s->spring_column[a] / 4, s->spring_column[b] / 4);
            tiled = pli_tiles_seal(im->tiles);
        }
        return tiled == PLI_OK
                   ? PLI_OK
                   : pli_refuse(err, tiled, "no memory for the matrix of %u active points", s->active_count);
    }
    PliStatus status = pli_block_matrix_begin(im->matrix, s->active_count);
    FillArg arg = { .matrix = im->matrix, .status = status };
    for (PliIndex i = 0; arg.status == PLI_OK && i < s->active_count; ++i) {
        arg.status = pli_block_matrix_push(im->matrix, i, i);
        for (PliIndex k = s->mass_first ? s->mass_first[i] : 0;
             s->mass_first && arg.status == PLI_OK && k < s->mass_first[i + 1]; ++k)
            arg.status = pli_block_matrix_push(im->matrix, i, s->mass_column[k]);
    }
    if (arg.status == PLI_OK) {
        if (!s->constant || !s->constant->linear)
            pli_elastic_linearize(s->elastic, s->x); // matrices exist only after that
        pli_system_stiffness_blocks(s, push_block, &arg);
    }
    if (arg.status != PLI_OK)
        return pli_refuse(err, arg.status, "no memory for the matrix of %u active points", s->active_count);
    return pli_block_matrix_seal(im->matrix, err);
}

static double *place_block(PliIndex row, PliIndex column, void *user) { return pli_tiles_block(user, row, column); }

static void add_springs(const Operator *op, PliTiles *m)
{
    static const int sym[9] = { 0, 5, 4, 5, 1, 3, 4, 3, 2 };
    const PliSystem *s = op->s;
    for (PliIndex j = 0; j < s->spring_count; ++j) {
        const double *q = s->spring_matrix + 6 * (size_t)j;
        const PliIndex from = s->spring_first[j], to = s->spring_first[j + 1];
        for (PliIndex a = from; a < to; a += 4) // rows list whole groups
            for (PliIndex b = from; b < to; b += 4) {
                double *out = pli_tiles_block(m, s->spring_column[a] / 4, s->spring_column[b] / 4);
                if (!out) continue;
                for (int i = 0; i < 3; ++i)
                    for (int p = 0; p < 4; ++p)
                        for (int k = 0; k < 3; ++k) {
                            const double w = q[sym[3 * i + k]] * s->spring_weight[a + (PliIndex)p];
                            double *to_row = out + PLI_TILE * (4 * i + p) + 4 * k;
                            for (int r = 0; r < 4; ++r) to_row[r] += w * s->spring_weight[b + (PliIndex)r];
                        }
            }
    }
}

// unknown 4 c + p of a group for component c of its point p
static bool factor_tiles(const Operator *op, PliTiles *m)
{
    const PliSystem *s = op->s;
    pli_tiles_zero(m);
    pli_elastic_add_pairs(s->elastic, op->stiffness_factor, place_block, m, PLI_TILE);
    add_springs(op, m);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k) {
            const PliIndex j = s->mass_column[k];
            double *to = pli_tiles_block(m, i / 4, j / 4);
            for (PliIndex c = 0; c < 3 && to; ++c)
                to[PLI_TILE * (4 * c + i % 4) + 4 * c + j % 4] += op->mass_factor * s->mass_value[k];
        }
    }
    for (PliIndex i = 0; i < s->active_count; ++i)
        for (PliIndex c = 0; c < 3 && s->fixed[i]; ++c) pli_tiles_fix(m, i / 4, 4 * c + i % 4);
    return pli_tiles_factor(m) == PLI_OK;
}

void pli_implicit_solve(const PliSystem *s, const PliImplicit *im, const double *b, double *x)
{
    if (im->is_rotated) {
        pli_rotated_solve(s, im, b, x);
        return;
    }
    if (!im->is_tiled) {
        pli_block_matrix_solve(im->matrix, b, x);
        return;
    }
    double *t = im->tiles->x;
    for (PliIndex i = 0; i < s->active_count; ++i)
        for (PliIndex c = 0; c < 3; ++c) t[pli_tiles_at(im->tiles, i / 4) + 4 * c + i % 4] = b[3 * (size_t)i + c];
    pli_tiles_solve(im->tiles, t);
    for (PliIndex i = 0; i < s->active_count; ++i)
        for (PliIndex c = 0; c < 3; ++c) x[3 * (size_t)i + c] = t[pli_tiles_at(im->tiles, i / 4) + 4 * c + i % 4];
}

void pli_implicit_solve_eight(const PliSystem *s, const PliImplicit *im, double *x, double *work)
{
    if (!im->is_tiled && !im->is_rotated) {
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
    if (im->is_tiled) return factor_tiles(op, im->tiles);
    PliBlockMatrix *m = im->matrix;
    pli_block_matrix_zero(m);
    FillArg arg = { .matrix = m, .factor = op->stiffness_factor };
    pli_system_stiffness_blocks(s, fill_block, &arg);
    for (PliIndex i = 0; i < s->active_count; ++i) {
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
    // A pair that the pattern has not (a skin point between coarse elements) goes to the diagonal, where it is never too soft.
    for (PliIndex j = 0; j < s->spring_count; ++j)
        for (PliIndex e = s->spring_first[j]; e < s->spring_first[j + 1]; ++e)
            for (PliIndex f = s->spring_first[j]; f < s->spring_first[j + 1]; ++f) {
                const bool known = pli_block_matrix_has(m, s->spring_column[e], s->spring_column[f]);
                const double *q = s->spring_matrix + 6 * (size_t)j, product = s->spring_weight[e] * s->spring_weight[f],
                             w = known ? product : fabs(product);
                const double block[9] = { w * q[0], w * q[5], w * q[4], w * q[5], w * q[1],
                                          w * q[3], w * q[4], w * q[3], w * q[2] };
                pli_block_matrix_add(m, s->spring_column[e], s->spring_column[known ? f : e], block);
            }
    for (PliIndex i = 0; i < s->active_count; ++i)
        if (s->fixed[i]) pli_block_matrix_fix(m, i);
    return pli_block_matrix_factor(m, NULL) == PLI_OK;
}

int pli_implicit_step(PliSystem *s, PliImplicit *im, double dt)
{
    const PliIndex points = s->active_count + s->slave_count;
    const size_t n = 3 * (size_t)s->active_count, all = 3 * (size_t)points;
    double *jacobi = s->work, *full = jacobi + all, *reaction = full + all;
    double *b = reaction + all, *dv = b + all, *scratch = dv + all;

    // forces at the start of the step
    pli_system_spread(s, s->x);
    pli_system_spread(s, s->v);
    if (!s->force_ready) {
        memset(s->f, 0, all * sizeof *s->f);
        pli_system_add_elastic(s, s->x, s->material_damping > 0.0 ? s->v : NULL, s->f);
    }
    s->force_ready = false;
    if (s->add_force) s->add_force(s->self, 0.0, dt, s->x, s->v, s->f);
    // Under compression the exact tangent has negative eigenvalues: close to singular, the matrix throws points, and contact solved on
    // its inverse has no solution. Without them it is positive definite for any step. Frames try the exact one first, which follows the
    // motion better and comes to rest sooner: their solvers notice when it is not definite.
    const bool notices =
        im->is_rotated || (im->chosen == PLI_SOLVE_CG ? s->group > 1 : im->chosen == PLI_SOLVE_LDL && im->is_tiled);
    pli_system_linearize(s, s->x, !notices);
    // f += (h + b_r) K v
    pli_system_add_dforce(s, s->v, dt + s->rayleigh_stiffness, s->f);
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

    Operator op = { s,
                    1.0 + dt * s->mass_damping,
                    -dt * (dt + s->rayleigh_stiffness + s->material_damping),
                    full,
                    reaction,
                    jacobi,
                    NULL,
                    NULL };
    int iterations = 1;
    if (im->is_rotated) {
        if (!pli_rotated_factor(s, im, op.mass_factor, op.stiffness_factor)) return -1;
        if (s->constant->linear && !im->rotated_stale) {
            pli_rotated_solve(s, im, b, dv);
        } else {
            op.rotated = im;
            const PliLinearOp a = { apply, precondition_rotated, &op, (PliIndex)n };
            PliSolveResult r = pli_cg_solve(&im->iterative, &a, b, dv, scratch);
            if (r.indefinite) {
                pli_system_linearize(s, s->x, true);
                memset(dv, 0, n * sizeof *dv);
                r = pli_cg_solve(&im->iterative, &a, b, dv, scratch);
            }
            if (!isfinite(r.residual)) return -1;
            iterations = r.iterations;
            if (im->rotated_stale) im->rotated_spent += iterations;
        }
    } else if (im->chosen == PLI_SOLVE_LDL) {
        if (!factor_direct(&op, im)) return -1;
        if (notices && im->tiles->negative > 0) {
            pli_system_linearize(s, s->x, true);
            if (!factor_direct(&op, im)) return -1;
        }
        pli_implicit_solve(s, im, b, dv);
    } else {
        PliLinearOp a = { apply, im->chosen == PLI_SOLVE_CG && !s->mass_first ? precondition : NULL, &op, (PliIndex)n };
        if (im->chosen == PLI_SOLVE_CG && s->group > 1 && s->group <= 8 && s->mass_first) {
            op.blocks = scratch;
            scratch += 3 * s->group * all;
            factor_groups(&op);
            a.precondition = precondition_groups;
        } else if (a.precondition) {
            fill_jacobi(&op);
        }
        PliSolveResult r = im->chosen == PLI_SOLVE_CG ? pli_cg_solve(&im->iterative, &a, b, dv, scratch)
                                                      : pli_minres_solve(&im->iterative, &a, b, dv, scratch);
        if (notices && r.indefinite) {
            pli_system_linearize(s, s->x, true);
            if (op.blocks) factor_groups(&op);
            memset(dv, 0, n * sizeof *dv);
            r = pli_cg_solve(&im->iterative, &a, b, dv, scratch);
        }
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
