/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The present cut in compact numbers, and what passive vertices follow.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/springs/springs.h"

enum { ROW_ENTRIES = 24 }; ///< room for rows of W over active vertices, on average

PliStatus pli_springs_live_create(PliSprings *s)
{
    const PliHost *host = &s->host;
    const PliPyramid *p = s->pyramid;
    const size_t n = p->vertex_count;
    const PliSpringsCut *c = s->cut;
    s->spring = PLI_NEW(host, 2 * (size_t)c->spring_capacity, PliIndex);
    s->tri = PLI_NEW(host, 3 * (size_t)c->tri_capacity, PliIndex);
    s->mass = PLI_NEW(host, n, double);
    s->rest = PLI_NEW(host, 3 * n, double);
    s->step_work = PLI_NEW(host, 9 * n, double);
    s->dense = PLI_NEW(host, n, double);
    s->touched = PLI_NEW(host, n, PliIndex);
    s->stamp = PLI_NEW(host, n, uint32_t);
    s->rows = pli_transfer_create(host, p->vertex_count, n * ROW_ENTRIES);
    if (!s->spring || !s->tri || !s->mass || !s->rest || !s->step_work || !s->dense || !s->touched || !s->stamp ||
        !s->rows)
        return PLI_OUT_OF_MEMORY;
    return pli_springs_force_init(&s->force, host, p->vertex_count, c->spring_capacity, c->tri_capacity);
}

void pli_springs_live_destroy(PliSprings *s)
{
    const PliHost *host = &s->host;
    const size_t n = s->pyramid->vertex_count;
    PLI_FREE(host, s->spring, 2 * (size_t)s->cut->spring_capacity);
    PLI_FREE(host, s->tri, 3 * (size_t)s->cut->tri_capacity);
    PLI_FREE(host, s->mass, n);
    PLI_FREE(host, s->rest, 3 * n);
    PLI_FREE(host, s->step_work, 9 * n);
    PLI_FREE(host, s->dense, n);
    PLI_FREE(host, s->touched, n);
    PLI_FREE(host, s->stamp, n);
    pli_transfer_destroy(s->rows);
    if (s->force.host.alloc) pli_springs_force_free(&s->force);
}

void pli_springs_live_refresh(PliSprings *s)
{
    const PliSpringsCut *c = s->cut;
    PliSpringForce *f = &s->force;
    for (size_t k = 0; k < 2 * (size_t)c->spring_count; ++k) s->spring[k] = c->position[c->spring[k]];
    for (size_t k = 0; k < 3 * (size_t)c->tri_count; ++k) s->tri[k] = c->position[c->tri[k]];
    for (PliIndex i = 0; i < c->active_count; ++i) {
        s->mass[i] = c->mass[c->active[i]];
        v3_copy(s->rest + 3 * (size_t)i, s->pyramid->rest + 3 * (size_t)c->active[i]);
    }
    f->point_count = c->active_count;
    f->spring_count = c->spring_count, f->tri_count = c->tri_count;
    f->spring = s->spring, f->tri = s->tri;
    f->stiffness = c->stiffness, f->length = c->length;
    if (f->bulk > 0.0) f->volume = pli_springs_volume(f, s->rest);
    s->critical_step = 0.0; // found when somebody asks
    s->rows_ready = false;
    s->info.springs = c->spring_count, s->info.triangles = c->tri_count, s->info.refined = c->chosen_count;
}

double pli_springs_step(PliSprings *s)
{
    if (s->critical_step == 0.0)
        s->critical_step = pli_springs_critical_step(&s->force, s->rest, s->mass, s->step_work);
    return s->critical_step;
}

double pli_springs_elastic(PliSprings *s, const double *x)
{
    const PliSpringsCut *c = s->cut;
    for (PliIndex i = 0; i < c->active_count; ++i) v3_copy(s->compact_x + 3 * (size_t)i, x + 3 * (size_t)c->active[i]);
    return pli_springs_energy(&s->force, s->compact_x);
}

// ---- followers ---------------------------------------------------------------------------------------------------------------

void pli_springs_value(const PliSpringsCut *c, PliIndex v, const double *x, double p[3])
{
    const PliPyramid *y = c->pyramid;
    memset(p, 0, 3 * sizeof *p);
    for (PliIndex k = y->row_first[v]; k < y->row_first[v + 1]; ++k) {
        const PliIndex a = y->row_column[k];
        double q[3];
        if (c->is_active[a])
            v3_copy(q, x + 3 * (size_t)a);
        else
            pli_springs_value(c, a, x, q);
        v3_madd(p, y->row_weight[k], q);
    }
}

static void follow(PliSprings *s, PliIndex v, double *x)
{
    const PliPyramid *y = s->pyramid;
    if (s->cut->is_active[v] || s->stamp[v] == s->now) return;
    s->stamp[v] = s->now;
    double p[3] = { 0.0, 0.0, 0.0 };
    for (PliIndex k = y->row_first[v]; k < y->row_first[v + 1]; ++k) {
        follow(s, y->row_column[k], x);
        v3_madd(p, y->row_weight[k], x + 3 * (size_t)y->row_column[k]);
    }
    v3_copy(x + 3 * (size_t)v, p);
}

void pli_springs_follow_some(PliSprings *s, const PliIndex *dof, PliIndex count, double *x)
{
    if (++s->now == 0) memset(s->stamp, 0, s->pyramid->vertex_count * sizeof *s->stamp), s->now = 1;
    for (PliIndex i = 0; i < count; ++i) follow(s, dof[i], x);
}

/// Rows by ascending vertex: what a row is made of stands before it.
PliRows pli_springs_rows(PliSprings *s)
{
    if (s->rows_ready) return pli_transfer_rows(s->rows);
    const PliPyramid *y = s->pyramid;
    const PliSpringsCut *c = s->cut;
    pli_transfer_clear(s->rows, y->vertex_count);
    for (PliIndex v = 0; v < y->vertex_count; ++v) {
        static const double one = 1.0;
        if (c->is_active[v]) {
            (void)pli_transfer_push(s->rows, &v, &one, 1);
            continue;
        }
        const PliRows r = pli_transfer_rows(s->rows);
        PliIndex count = 0;
        for (PliIndex k = y->row_first[v]; k < y->row_first[v + 1]; ++k)
            for (PliIndex e = r.first[y->row_column[k]]; e < r.first[y->row_column[k] + 1]; ++e) {
                const PliIndex a = r.column[e];
                if (s->dense[a] == 0.0) s->touched[count++] = a;
                s->dense[a] += y->row_weight[k] * r.weight[e];
                if (s->dense[a] == 0.0) s->dense[a] = 1e-300; // it cancelled: listed once, and as good as nothing
            }
        double *weight = s->step_work; // lent: one double an active vertex
        for (PliIndex i = 0; i < count; ++i) weight[i] = s->dense[s->touched[i]], s->dense[s->touched[i]] = 0.0;
        while (pli_transfer_push(s->rows, s->touched, weight, count) != PLI_OK && count > 0) --count;
    }
    s->rows_ready = true;
    return pli_transfer_rows(s->rows);
}
