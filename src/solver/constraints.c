/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/constraints.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "solver/linear.h"

/// Of a unit diagonal: below, a row is a combination of others up to rounding.
static const double DEPENDENT = 1e-11;

PliConstraints *pli_constraints_create(const PliHost *host, PliIndex points, PliIndex rows, size_t entries,
                                       PliIndex active_capacity, bool whole)
{
    PliConstraints *c = PLI_NEW(host, 1, PliConstraints);
    if (!c) return NULL;
    c->host = *host;
    c->point_capacity = points, c->row_capacity = rows, c->entry_capacity = entries;
    c->length = 3 * (size_t)active_capacity;
    c->first = PLI_NEW(host, (size_t)points + 1, PliIndex);
    c->column = PLI_NEW(host, entries, PliIndex);
    c->weight = PLI_NEW(host, entries, double);
    c->row_point = PLI_NEW(host, rows, PliIndex);
    c->direction = PLI_NEW(host, 3 * (size_t)rows, double);
    c->goal = PLI_NEW(host, rows, double);
    c->multiplier = PLI_NEW(host, rows, double);
    c->response = PLI_NEW(host, rows * c->length, double);
    c->factor = PLI_NEW(host, (size_t)rows * rows, double);
    c->scale = PLI_NEW(host, rows, double);
    c->order = PLI_NEW(host, rows, PliIndex);
    c->row_work = PLI_NEW(host, rows, double);
    bool good = c->first && c->column && c->weight && c->row_point && c->direction && c->goal && c->multiplier &&
                c->response && c->factor && c->scale && c->order && c->row_work;
    for (int k = 0; k < 3; ++k) good = (c->vector[k] = PLI_NEW(host, c->length, double)) && good;
    c->whole_size = whole ? 2 * (c->length + rows) + pli_minres_workspace((PliIndex)(c->length + rows)) : 0;
    if (whole) good = (c->whole = PLI_NEW(host, c->whole_size, double)) && good;
    if (good) return c;
    pli_constraints_destroy(c);
    return NULL;
}

void pli_constraints_destroy(PliConstraints *c)
{
    if (!c) return;
    const PliHost host = c->host;
    const size_t rows = c->row_capacity;
    PLI_FREE(&host, c->first, (size_t)c->point_capacity + 1);
    PLI_FREE(&host, c->column, c->entry_capacity);
    PLI_FREE(&host, c->weight, c->entry_capacity);
    PLI_FREE(&host, c->row_point, rows);
    PLI_FREE(&host, c->direction, 3 * rows);
    PLI_FREE(&host, c->goal, rows);
    PLI_FREE(&host, c->multiplier, rows);
    PLI_FREE(&host, c->response, rows * c->length);
    PLI_FREE(&host, c->factor, rows * rows);
    PLI_FREE(&host, c->scale, rows);
    PLI_FREE(&host, c->order, rows);
    PLI_FREE(&host, c->row_work, rows);
    for (int k = 0; k < 3; ++k) PLI_FREE(&host, c->vector[k], c->length);
    PLI_FREE(&host, c->whole, c->whole_size);
    PLI_FREE(&host, c, 1);
}

// ---- rows ------------------------------------------------------------------------------------------------------------------

static double row_of(const PliConstraints *c, PliIndex row, const double *dv)
{
    double sum = 0.0;
    const double *d = c->direction + 3 * (size_t)row;
    const PliIndex p = c->row_point[row];
    for (PliIndex k = c->first[p]; k < c->first[p + 1]; ++k)
        sum += c->weight[k] * v3_dot(d, dv + 3 * (size_t)c->column[k]);
    return sum;
}

static void add_row(const PliConstraints *c, PliIndex row, double value, double *f)
{
    const PliIndex p = c->row_point[row];
    for (PliIndex k = c->first[p]; k < c->first[p + 1]; ++k)
        v3_madd(f + 3 * (size_t)c->column[k], value * c->weight[k], c->direction + 3 * (size_t)row);
}

void pli_constraints_apply(const PliConstraints *c, const double *dv, double *rows)
{
    for (PliIndex r = 0; r < c->row_count; ++r) rows[r] = row_of(c, r, dv);
}

void pli_constraints_add_transpose(const PliConstraints *c, const double *rows, double *f)
{
    for (PliIndex r = 0; r < c->row_count; ++r) add_row(c, r, rows[r], f);
}

// ---- the Schur complement ----------------------------------------------------------------------------------------------------

static void swap_rows(double *a, PliIndex n, PliIndex i, PliIndex j)
{
    for (PliIndex k = 0; k < n; ++k) {
        const double t = a[(size_t)i * n + k];
        a[(size_t)i * n + k] = a[(size_t)j * n + k], a[(size_t)j * n + k] = t;
    }
    for (PliIndex k = 0; k < n; ++k) {
        const double t = a[(size_t)k * n + i];
        a[(size_t)k * n + i] = a[(size_t)k * n + j], a[(size_t)k * n + j] = t;
    }
}

PliIndex pli_pivoted_cholesky(double *a, PliIndex n, PliIndex *order)
{
    for (PliIndex i = 0; i < n; ++i) order[i] = i;
    for (PliIndex k = 0; k < n; ++k) {
        PliIndex best = k;
        for (PliIndex i = k + 1; i < n; ++i)
            if (a[(size_t)i * n + i] > a[(size_t)best * n + best]) best = i;
        if (!(a[(size_t)best * n + best] > DEPENDENT)) return k;
        if (best != k) {
            const PliIndex t = order[k];
            order[k] = order[best], order[best] = t;
            swap_rows(a, n, k, best); // the left part, which is the factor so far, goes along
        }
        const double pivot = sqrt(a[(size_t)k * n + k]);
        a[(size_t)k * n + k] = pivot;
        for (PliIndex i = k + 1; i < n; ++i) a[(size_t)i * n + k] /= pivot;
        for (PliIndex i = k + 1; i < n; ++i) {
            const double l = a[(size_t)i * n + k];
            for (PliIndex j = k + 1; j <= i; ++j) {
                a[(size_t)i * n + j] -= l * a[(size_t)j * n + k];
                a[(size_t)j * n + i] = a[(size_t)i * n + j];
            }
        }
    }
    return n;
}

/// rows = S^-1 rows over those that are independent, 0 for the others.
static void solve_rows(PliConstraints *c, double *rows)
{
    const size_t n = c->row_count;
    const double *a = c->factor;
    double *y = c->row_work;
    for (size_t i = 0; i < c->rank; ++i) {
        double sum = c->scale[c->order[i]] * rows[c->order[i]];
        for (size_t k = 0; k < i; ++k) sum -= a[i * n + k] * y[k];
        y[i] = sum / a[i * n + i];
    }
    for (size_t i = c->rank; i-- > 0;) {
        for (size_t k = i + 1; k < c->rank; ++k) y[i] -= a[k * n + i] * y[k];
        y[i] /= a[i * n + i];
    }
    memset(rows, 0, n * sizeof *rows);
    for (size_t i = 0; i < c->rank; ++i) rows[c->order[i]] = c->scale[c->order[i]] * y[i];
}

void pli_constraints_prepare(PliConstraints *c, PliIndex active, PliConstraintSolve *solve, void *self)
{
    const size_t n = c->row_count, reach = 3 * (size_t)active;
    double *unit = c->vector[0];
    c->reach = (PliIndex)reach;
    for (PliIndex r = 0; r < c->row_count; ++r) {
        double *y = c->response + r * reach;
        memset(unit, 0, reach * sizeof *unit);
        add_row(c, r, 1.0, unit);
        if (solve)
            solve(self, unit, y);
        else
            memcpy(y, unit, reach * sizeof *y);
    }
    for (PliIndex r = 0; r < c->row_count; ++r)
        for (PliIndex k = 0; k <= r; ++k)
            c->factor[r * n + k] =
                0.5 * (row_of(c, r, c->response + k * reach) + row_of(c, k, c->response + r * reach));
    for (size_t r = 0; r < n; ++r) {
        const double s = c->factor[r * n + r];
        c->scale[r] = s > 0.0 ? 1.0 / sqrt(s) : 0.0; // hangs on fixed coefficients only: it depends on nothing
    }
    for (size_t r = 0; r < n; ++r)
        for (size_t k = 0; k <= r; ++k) c->factor[k * n + r] = c->factor[r * n + k] *= c->scale[r] * c->scale[k];
    c->rank = pli_pivoted_cholesky(c->factor, c->row_count, c->order);
}

/// dv += Y rows
static void respond(const PliConstraints *c, const double *rows, double *dv)
{
    for (PliIndex r = 0; r < c->row_count; ++r)
        for (size_t i = 0; i < c->reach && rows[r] != 0.0; ++i)
            dv[i] += rows[r] * c->response[r * (size_t)c->reach + i];
}

void pli_constraints_project(PliConstraints *c, double *dv)
{
    double *rows = c->multiplier;
    pli_constraints_apply(c, dv, rows);
    for (PliIndex r = 0; r < c->row_count; ++r) rows[r] = -rows[r];
    solve_rows(c, rows);
    respond(c, rows, dv);
}

void pli_constraints_meet(PliConstraints *c, double *dv)
{
    double *rows = c->multiplier;
    pli_constraints_apply(c, dv, rows);
    for (PliIndex r = 0; r < c->row_count; ++r) rows[r] = c->goal[r] - rows[r];
    solve_rows(c, rows);
    respond(c, rows, dv);
}

static void take_multipliers(PliConstraints *c, const double *f)
{
    for (PliIndex r = 0; r < c->row_count; ++r)
        c->multiplier[r] = pli_dot(c->reach, c->response + r * (size_t)c->reach, f);
    solve_rows(c, c->multiplier);
}

void pli_constraints_project_force(PliConstraints *c, double *f)
{
    take_multipliers(c, f);
    for (PliIndex r = 0; r < c->row_count; ++r) add_row(c, r, -c->multiplier[r], f);
}

void pli_constraints_read(PliConstraints *c, const double *rest, const double *dv)
{
    take_multipliers(c, rest);
    c->unmet = 0.0, c->unmet_row = PLI_NONE;
    for (PliIndex r = 0; r < c->row_count; ++r) {
        const double off = fabs(row_of(c, r, dv) - c->goal[r]);
        if (off > c->unmet) c->unmet = off, c->unmet_row = r;
    }
}
