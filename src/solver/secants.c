/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/secants.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/wide.h"
#include "solver/linear.h"

enum { MOST = PLI_SECANTS, VECTORS = 3 * MOST + 2 };
static const double APART = 1e-3;  ///< of the largest: ways that say less than that beyond the others are left out
static const double STIFFER = 0.1; ///< of the matrix: what is hardly stiffer is left out

void pli_secants_init(PliSecants *s, const PliHost *host) { s->host = *host; }

void pli_secants_free(PliSecants *s) { PLI_FREE(&s->host, s->memory, s->capacity); }

void pli_secants_forget(PliSecants *s)
{
    s->has_place = false;
    s->count = s->next = s->rank = 0;
    s->stiffest = 0.0;
}

static void point_at(PliSecants *s, double *memory, size_t length)
{
    for (int k = 0; k < MOST; ++k) {
        s->way[k] = memory + (size_t)(3 * k) * length;
        s->force[k] = memory + (size_t)(3 * k + 1) * length;
        s->inertia[k] = memory + (size_t)(3 * k + 2) * length;
    }
    s->place = memory + (size_t)(3 * MOST) * length;
    s->pull = s->place + length;
}

PliStatus pli_secants_resize(PliSecants *s, PliIndex count)
{
    const size_t length = 3 * (size_t)count;
    pli_secants_forget(s);
    s->length = length;
    if (!pli_reserve(&s->host, (void **)&s->memory, &s->capacity, VECTORS * length, sizeof *s->memory))
        return PLI_OUT_OF_MEMORY;
    point_at(s, s->memory, length);
    return PLI_OK;
}

/// Eigenvalues to d, eigenvectors to the columns of v: cyclic Jacobi sweeps.
static void find_eigen(PliIndex n, double a[MOST][MOST], double v[MOST][MOST], double d[MOST])
{
    for (PliIndex i = 0; i < n; ++i)
        for (PliIndex j = 0; j < n; ++j) v[i][j] = i == j;
    for (int sweep = 0; sweep < 30; ++sweep) {
        double off = 0.0, all = 0.0;
        for (PliIndex i = 0; i < n; ++i)
            for (PliIndex j = 0; j < n; ++j) all += a[i][j] * a[i][j], off += i == j ? 0.0 : a[i][j] * a[i][j];
        if (off <= 1e-26 * all) break;
        for (PliIndex p = 0; p + 1 < n; ++p)
            for (PliIndex q = p + 1; q < n; ++q) {
                if (a[p][q] == 0.0) continue;
                const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]),
                             t = copysign(1.0, theta) / (fabs(theta) + sqrt(1.0 + theta * theta)),
                             c = 1.0 / sqrt(1.0 + t * t), z = t * c;
                for (PliIndex k = 0; k < n; ++k) {
                    const double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - z * y, a[k][q] = z * x + c * y;
                }
                for (PliIndex k = 0; k < n; ++k) {
                    const double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - z * y, a[q][k] = z * x + c * y;
                }
                for (PliIndex k = 0; k < n; ++k) {
                    const double x = v[k][p], y = v[k][q];
                    v[k][p] = c * x - z * y, v[k][q] = z * x + c * y;
                }
            }
    }
    for (PliIndex i = 0; i < n; ++i) d[i] = a[i][i];
}

/// Rank and coefficients.
static void renew(PliSecants *s)
{
    const PliIndex n = s->count;
    double a[MOST][MOST], q[MOST][MOST], d[MOST], basis[MOST][MOST], most = 0.0;
    s->rank = 0, s->stiffest = 0.0;
    for (PliIndex i = 0; i < n; ++i)
        for (PliIndex j = 0; j < n; ++j) a[i][j] = 0.5 * (s->gram[i][j] + s->gram[j][i]);
    find_eigen(n, a, q, d);
    for (PliIndex i = 0; i < n; ++i) most = fmax(most, d[i]);
    PliIndex kept = 0;
    for (PliIndex j = 0; j < n; ++j) {
        if (!(d[j] > APART * most)) continue;
        for (PliIndex i = 0; i < n; ++i) basis[i][kept] = q[i][j] / sqrt(d[j]);
        ++kept;
    }
    for (PliIndex i = 0; i < kept; ++i)
        for (PliIndex j = 0; j < kept; ++j) {
            double sum = 0.0;
            for (PliIndex k = 0; k < n; ++k)
                for (PliIndex l = 0; l < n; ++l)
                    sum += basis[k][i] * 0.5 * (s->cross[k][l] + s->cross[l][k]) * basis[l][j];
            a[i][j] = sum;
        }
    find_eigen(kept, a, q, d);
    for (PliIndex j = 0; j < kept; ++j) {
        s->stiffest = fmax(s->stiffest, d[j]);
        if (!(d[j] > STIFFER)) continue;
        for (PliIndex i = 0; i < n; ++i) {
            double sum = 0.0;
            for (PliIndex k = 0; k < kept; ++k) sum += basis[i][k] * q[k][j];
            s->coefficient[s->rank][i] = sum / sqrt(d[j]);
        }
        s->rank++;
    }
}

void pli_secants_add(PliSecants *s, double scale)
{
    const PliIndex at = s->next, length = (PliIndex)s->length;
    for (size_t n = 0; n < s->length; ++n) s->way[at][n] *= scale, s->force[at][n] *= scale, s->inertia[at][n] *= scale;
    s->birth[at] = ++s->births;
    s->next = (at + 1) % MOST;
    if (s->count < MOST) s->count++;
    for (PliIndex i = 0; i < s->count; ++i) {
        s->gram[i][at] = s->gram[at][i] = pli_dot(length, s->way[i], s->inertia[at]);
        s->cross[i][at] = pli_dot(length, s->way[i], s->force[at]);
        s->cross[at][i] = pli_dot(length, s->way[at], s->force[i]);
    }
    renew(s);
}

PLI_WIDE static void combine(PliIndex count, const double *factor, const double *const *from, size_t length,
                             double *out)
{
    enum { NEAR = 16 }; // numbers that stay in registers while all vectors pass by
    size_t n = 0;
    for (; n + NEAR <= length; n += NEAR) {
        double sum[NEAR] = { 0.0 };
        for (PliIndex i = 0; i < count; ++i)
            for (size_t q = 0; q < NEAR; ++q) sum[q] += factor[i] * from[i][n + q];
        memcpy(out + n, sum, sizeof sum);
    }
    for (; n < length; ++n) {
        double sum = 0.0;
        for (PliIndex i = 0; i < count; ++i) sum += factor[i] * from[i][n];
        out[n] = sum;
    }
}

void pli_secants_combine(const PliSecants *s, PliIndex j, const double *const *from, size_t length, double *out)
{
    combine(s->count, s->coefficient[j], from, length, out);
}
