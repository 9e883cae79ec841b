/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The present cut in compact numbers, and what passive vertices follow.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "scheme/springs/springs.h"

enum { ROW_ENTRIES = 24 }; ///< room for rows of W over active vertices, on average
enum { SOME_ENTRIES = 64 * PLI_LOCATE_MAX };

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
    s->some_first = PLI_NEW(host, n + 1, PliIndex);
    s->some_column = PLI_NEW(host, SOME_ENTRIES, PliIndex);
    s->some_weight = PLI_NEW(host, SOME_ENTRIES, double);
    s->dense = PLI_NEW(host, n, double);
    s->touched = PLI_NEW(host, n, PliIndex);
    s->stamp = PLI_NEW(host, n, uint32_t);
    s->rows = pli_transfer_create(host, p->vertex_count, n * ROW_ENTRIES);
    s->old_rows = pli_transfer_create(host, p->vertex_count, n * ROW_ENTRIES);
    s->rows_active = PLI_NEW(host, n, uint8_t);
    s->noted_active = PLI_NEW(host, n, uint8_t);
    s->row_changed = PLI_NEW(host, n, uint8_t);
    s->judged = PLI_NEW(host, n, uint32_t);
    s->is_changed = PLI_NEW(host, n, uint8_t);
    s->turned = PLI_NEW(host, n, uint64_t);
    s->row_revision = PLI_NEW(host, n, uint64_t);
    s->row_noted = PLI_NEW(host, n, uint32_t);
    if (!s->spring || !s->tri || !s->mass || !s->rest || !s->step_work || !s->dense || !s->touched || !s->stamp ||
        !s->some_first || !s->some_column || !s->some_weight || !s->rows || !s->old_rows || !s->rows_active ||
        !s->noted_active || !s->row_changed || !s->turned || !s->row_revision || !s->row_noted || !s->judged ||
        !s->is_changed)
        return PLI_OUT_OF_MEMORY;
    memset(s->rows_active, 2, n);
    memset(s->noted_active, 2, n);
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
    PLI_FREE(host, s->some_first, n + 1);
    PLI_FREE(host, s->some_column, SOME_ENTRIES);
    PLI_FREE(host, s->some_weight, SOME_ENTRIES);
    PLI_FREE(host, s->dense, n);
    PLI_FREE(host, s->touched, n);
    PLI_FREE(host, s->stamp, n);
    PLI_FREE(host, s->rows_active, n);
    PLI_FREE(host, s->noted_active, n);
    PLI_FREE(host, s->row_changed, n);
    PLI_FREE(host, s->judged, n);
    PLI_FREE(host, s->is_changed, n);
    PLI_FREE(host, s->turned, n);
    PLI_FREE(host, s->row_revision, n);
    PLI_FREE(host, s->row_noted, n);
    pli_transfer_destroy(s->rows);
    pli_transfer_destroy(s->old_rows);
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
    s->rows_ready = s->candidates_listed = false;
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
    if ((s->looks_back ? s->old_mass[v] != 0.0 : s->cut->is_active[v] != 0) || s->stamp[v] == s->now) return;
    s->stamp[v] = s->now;
    double p[3] = { 0.0, 0.0, 0.0 };
    for (PliIndex k = y->row_first[v]; k < y->row_first[v + 1]; ++k) {
        follow(s, y->row_column[k], x);
        v3_madd(p, y->row_weight[k], x + 3 * (size_t)y->row_column[k]);
    }
    v3_copy(x + 3 * (size_t)v, p);
}

static void find_changed(PliSprings *s, PliIndex v)
{
    const PliPyramid *y = s->pyramid;
    const bool is = s->cut->is_active[v], was = s->old_mass[v] != 0.0;
    const PliIndex first = y->row_first[v], count = is ? 0 : y->row_first[v + 1] - first;
    s->is_changed[v] = is != was || pli_springs_changes_rows(s, y->row_column + first, count);
    s->judged[v] = s->event;
}

bool pli_springs_changes_rows(PliSprings *s, const PliIndex *dof, PliIndex count)
{
    for (PliIndex i = 0; i < count; ++i) {
        if (s->judged[dof[i]] != s->event) find_changed(s, dof[i]);
        if (s->is_changed[dof[i]]) return true;
    }
    return false;
}

void pli_springs_follow_some(PliSprings *s, const PliIndex *dof, PliIndex count, double *x)
{
    if (++s->now == 0) memset(s->stamp, 0, s->pyramid->vertex_count * sizeof *s->stamp), s->now = 1;
    for (PliIndex i = 0; i < count; ++i) follow(s, dof[i], x);
}

/// Marks the vertices whose row of W is another one than when `was` was so, which then is what is active now. By ascending vertex: what
/// a row is made of stands before it.
static void find_changed_rows(PliSprings *s, uint8_t *was)
{
    const PliPyramid *y = s->pyramid;
    const PliSpringsCut *c = s->cut;
    for (PliIndex v = 0; v < y->vertex_count; ++v) {
        s->row_changed[v] = was[v] != c->is_active[v];
        if (c->is_active[v]) continue;
        for (PliIndex k = y->row_first[v]; k < y->row_first[v + 1] && !s->row_changed[v]; ++k)
            s->row_changed[v] = s->row_changed[y->row_column[k]];
    }
    memcpy(was, c->is_active, y->vertex_count);
}

void pli_springs_note_rows(PliSprings *s, uint64_t revision)
{
    const uint8_t *now = s->cut->is_active;
    const PliIndex count = s->pyramid->vertex_count;
    for (PliIndex v = 0; v < count;) {
        if (v + 8 <= count && memcmp(s->noted_active + v, now + v, 8) == 0) {
            v += 8;
            continue;
        }
        if (s->noted_active[v] != now[v]) s->turned[v] = revision, s->noted_active[v] = now[v];
        ++v;
    }
    s->rows_ready = false;
    if (++s->noted == 0) memset(s->row_noted, 0, count * sizeof *s->row_noted), s->noted = 1;
}

/// Brings the revision of one row up to date. What is far down follows what changed only if somebody asks.
static uint64_t find_revision(PliSprings *s, PliIndex v)
{
    const PliPyramid *y = s->pyramid;
    if (s->row_noted[v] == s->noted) return s->row_revision[v];
    uint64_t last = s->turned[v];
    for (PliIndex k = y->row_first[v]; k < y->row_first[v + 1] && !s->cut->is_active[v]; ++k) {
        const uint64_t other = find_revision(s, y->row_column[k]);
        last = other > last ? other : last;
    }
    s->row_noted[v] = s->noted;
    return s->row_revision[v] = last;
}

/// The same of all, by ascending vertex: what a row is made of stands before it.
static void find_revisions(PliSprings *s)
{
    const PliPyramid *y = s->pyramid;
    for (PliIndex v = 0; v < y->vertex_count; ++v) {
        uint64_t last = s->turned[v];
        const PliIndex end = s->cut->is_active[v] ? y->row_first[v] : y->row_first[v + 1];
        for (PliIndex k = y->row_first[v]; k < end; ++k) {
            const uint64_t other = s->row_revision[y->row_column[k]];
            last = other > last ? other : last;
        }
        s->row_revision[v] = last, s->row_noted[v] = s->noted;
    }
}

/// The row of a passive vertex, from rows before it.
static void push_row(PliSprings *s, PliIndex v)
{
    const PliPyramid *y = s->pyramid;
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

PliRows pli_springs_rows(PliSprings *s)
{
    static const double one = 1.0;
    if (s->rows_ready) return pli_transfer_rows(s->rows);
    find_revisions(s);
    PliTransfer *swap = s->rows;
    s->rows = s->old_rows, s->old_rows = swap;
    const PliRows old = pli_transfer_rows(s->old_rows);
    find_changed_rows(s, s->rows_active);
    pli_transfer_clear(s->rows, s->pyramid->vertex_count);
    for (PliIndex v = 0; v < s->pyramid->vertex_count; ++v) {
        if (s->cut->is_active[v]) {
            (void)pli_transfer_push(s->rows, &v, &one, 1);
        } else if (s->row_changed[v]) {
            push_row(s, v);
        } else {
            PliIndex count = old.first[v + 1] - old.first[v];
            while (pli_transfer_push(s->rows, old.column + old.first[v], old.weight + old.first[v], count) != PLI_OK &&
                   count > 0)
                --count;
        }
    }
    s->rows_ready = true;
    return pli_transfer_rows(s->rows);
}

/// weight times vertex v into s->dense, its active vertices into s->touched. @return how many these are now
static PliIndex add_weight(PliSprings *s, PliIndex v, double weight, PliIndex count)
{
    const PliPyramid *y = s->pyramid;
    if (!s->cut->is_active[v]) {
        for (PliIndex k = y->row_first[v]; k < y->row_first[v + 1]; ++k)
            count = add_weight(s, y->row_column[k], weight * y->row_weight[k], count);
        return count;
    }
    if (s->dense[v] == 0.0) s->touched[count++] = v;
    s->dense[v] += weight;
    if (s->dense[v] == 0.0) s->dense[v] = 1e-300; // as above
    return count;
}

/// By ascending vertex, so that where one row ends and the next begins are the same number; rows between them are not looked at.
PliRows pli_springs_rows_of(PliSprings *s, const PliIndex *dof, PliIndex count)
{
    for (PliIndex i = 0; i < count; ++i) (void)find_revision(s, dof[i]);
    if (s->rows_ready) return pli_transfer_rows(s->rows);
    PliIndex used = 0;
    for (PliIndex next = pli_least_from(dof, count, 0); next != PLI_NONE; next = pli_least_from(dof, count, next + 1)) {
        s->some_first[next] = used;
        const PliIndex entries = add_weight(s, next, 1.0, 0);
        for (PliIndex i = 0; i < entries; ++i) {
            const PliIndex a = s->touched[i];
            if (used < SOME_ENTRIES) s->some_column[used] = a, s->some_weight[used++] = s->dense[a];
            s->dense[a] = 0.0;
        }
        s->some_first[next + 1] = used;
    }
    return (PliRows){ s->some_first, s->some_column, s->some_weight, s->pyramid->vertex_count,
                      s->pyramid->vertex_count };
}
