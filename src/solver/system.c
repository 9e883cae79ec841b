/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "solver/system.h"

#include <string.h>

void pli_system_spread(const PliSystem *s, double *a)
{
    pli_rows_apply(s->slaves, a, a + 3 * (size_t)s->active_count);
    const double *value = a == s->x ? s->held_x : a == s->v ? s->held_v : NULL;
    for (PliIndex k = 0; value && k < s->held_count; ++k)
        memcpy(a + 3 * ((size_t)s->active_count + s->held[k]), value + 3 * (size_t)k, 3 * sizeof *a);
}

void pli_system_gather(const PliSystem *s, double *f)
{
    if (s->one_way) return;
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

PliSupport pli_system_support(const PliSystem *s, const PliIndex *point)
{
    static const double one = 1.0;
    if (*point < s->active_count) return (PliSupport){ point, &one, 1 };
    const PliIndex row = *point - s->active_count;
    const PliIndex k = s->slaves.first[row];
    return (PliSupport){ s->slaves.column + k, s->slaves.weight + k, s->slaves.first[row + 1] - k };
}

typedef struct ReduceArg {
    const PliSystem *s;
    PliBlockFn *fn;
    void *user;
} ReduceArg;

static void reduce_block(PliIndex row, PliIndex column, const double k9[9], void *user)
{
    const ReduceArg *r = user;
    const PliSupport a = pli_system_support(r->s, &row), b = pli_system_support(r->s, &column);
    for (PliIndex p = 0; p < a.count; ++p) {
        for (PliIndex q = 0; q < b.count; ++q) {
            const double w = a.weight[p] * b.weight[q];
            double scaled[9];
            for (int i = 0; i < 9; ++i) scaled[i] = w * k9[i];
            r->fn(a.column[p], b.column[q], scaled, r->user);
        }
    }
}

void pli_system_stiffness_blocks(const PliSystem *s, PliBlockFn *fn, void *user)
{
    if (s->slave_count == 0) {
        s->force->blocks(s->force_self, fn, user);
        return;
    }
    ReduceArg arg = { s, fn, user };
    s->force->blocks(s->force_self, reduce_block, &arg);
}
