/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/system.h"

#include <string.h>

#include "solver/constant.h"

void pli_system_spread(const PliSystem *s, double *a)
{
    pli_rows_apply(s->slaves, a, a + 3 * (size_t)s->active_count);
    const double *value = a == s->x ? s->held_x : a == s->v ? s->held_v : NULL;
    for (PliIndex k = 0; value && k < s->held_count; ++k)
        memcpy(a + 3 * ((size_t)s->active_count + s->held[k]), value + 3 * (size_t)k, 3 * sizeof *a);
}

void pli_system_gather(const PliSystem *s, double *f)
{
    if (s->drop_slave_forces) return;
    pli_rows_add_transpose(s->slaves, f + 3 * (size_t)s->active_count, f);
}

void pli_system_mass(const PliSystem *s, const double *p, double *y)
{
    for (PliIndex i = 0; i < s->active_count; ++i) {
        double sum[3] = { 0.0, 0.0, 0.0 };
        if (s->mass_first) {
            for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k) {
                const double *q = p + 3 * (size_t)s->mass_column[k];
                const double m = s->mass_value[k];
                sum[0] += m * q[0], sum[1] += m * q[1], sum[2] += m * q[2];
            }
        } else {
            for (int d = 0; d < 3; ++d) sum[d] = s->mass[i] * p[3 * (size_t)i + d];
        }
        memcpy(y + 3 * (size_t)i, sum, sizeof sum);
    }
}

// A point of an element is an active position (one column, weight 1) or a slave row.
typedef struct Support {
    const PliIndex *column;
    const double *weight;
    PliIndex count;
} Support;

static Support support_of(const PliSystem *s, const PliIndex *point)
{
    static const double one = 1.0;
    if (*point < s->active_count) return (Support){ point, &one, 1 };
    const PliIndex row = *point - s->active_count;
    const PliIndex k = s->slaves.first[row];
    return (Support){ s->slaves.column + k, s->slaves.weight + k, s->slaves.first[row + 1] - k };
}

typedef struct ReduceArg {
    const PliSystem *s;
    PliReducedFn *fn;
    void *user;
} ReduceArg;

static void reduce_element(const PliIndex *point, PliIndex n, const double *k, void *user)
{
    const ReduceArg *r = user;
    for (PliIndex a = 0; a < n; ++a) {
        const Support sa = support_of(r->s, &point[a]);
        for (PliIndex b = 0; b < n; ++b) {
            const Support sb = support_of(r->s, &point[b]);
            double block[9];
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) block[3 * i + j] = k[(3 * a + (PliIndex)i) * 3 * n + 3 * b + (PliIndex)j];
            for (PliIndex p = 0; p < sa.count; ++p) {
                for (PliIndex q = 0; q < sb.count; ++q) {
                    const double w = sa.weight[p] * sb.weight[q];
                    double scaled[9];
                    for (int i = 0; i < 9; ++i) scaled[i] = w * block[i];
                    r->fn(sa.column[p], sb.column[q], scaled, r->user);
                }
            }
        }
    }
}

void pli_system_stiffness_blocks(const PliSystem *s, PliReducedFn *fn, void *user)
{
    if (s->constant && s->constant->linear) {
        pli_constant_blocks(s, fn, user);
        return;
    }
    ReduceArg arg = { s, fn, user };
    pli_elastic_element_matrices(s->elastic, reduce_element, &arg);
}

void pli_system_add_elastic(PliSystem *s, const double *x, const double *v, double *f)
{
    if (s->constant && s->constant->linear)
        pli_constant_add_force(s, x, v, f);
    else
        pli_elastic_add_force(s->elastic, x, v, f);
}

void pli_system_linearize(PliSystem *s, const double *x, bool project)
{
    if (s->constant) pli_constant_rotation(s, x, s->rotation);
    if (s->constant && s->constant->linear) return;
    pli_elastic_set_project(s->elastic, project);
    pli_elastic_linearize(s->elastic, x);
    pli_elastic_set_project(s->elastic, false);
}

void pli_system_add_dforce(const PliSystem *s, const double *dx, double k, double *df)
{
    if (s->constant && s->constant->linear)
        pli_constant_add_product(s, s->rotation, dx, -k, df);
    else
        pli_elastic_add_dforce(s->elastic, dx, k, df);
}

double pli_system_elastic_energy(const PliSystem *s, const double *x)
{
    return s->constant && s->constant->linear ? pli_constant_energy(s, x) : pli_elastic_energy(s->elastic, x);
}
