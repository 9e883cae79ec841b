/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Collapses edges of a closed surface until few vertices are left. What an edge costs is how far its triangles would leave the
// surface (quadrics of Garland and Heckbert) plus a little of its length, so that triangles stay of one size where it is flat.
#include "scheme/springs/remesh_base.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

typedef struct Candidate {
    double cost;
    PliIndex from, to;         ///< `from` goes to the place of `to`
    uint32_t from_age, to_age; ///< stale when either has changed since
} Candidate;

typedef struct Collapse {
    PliHost host;
    PliIndex vertex_count, tri_count, alive;
    const double *x;
    PliIndex *tri;
    uint8_t *dead;         ///< per triangle
    PliIndex *head, *next; ///< corners (3 t + k) around each vertex
    double *quadric;       ///< per vertex: 10 entries of a symmetric 4x4 matrix
    uint32_t *age;
    Candidate *heap;
    size_t heap_count, heap_capacity;
    PliIndex *ring, *other, ring_capacity; ///< scratch
} Collapse;

static void free_collapse(Collapse *c)
{
    const PliHost *host = &c->host;
    PLI_FREE(host, c->tri, 3 * (size_t)c->tri_count);
    PLI_FREE(host, c->dead, c->tri_count);
    PLI_FREE(host, c->head, c->vertex_count);
    PLI_FREE(host, c->next, 3 * (size_t)c->tri_count);
    PLI_FREE(host, c->quadric, 10 * (size_t)c->vertex_count);
    PLI_FREE(host, c->age, c->vertex_count);
    PLI_FREE(host, c->heap, c->heap_capacity);
    PLI_FREE(host, c->ring, c->ring_capacity);
    PLI_FREE(host, c->other, c->ring_capacity);
}

static void normal_of(const double *a, const double *b, const double *c, double n[3])
{
    double u[3], v[3];
    v3_sub(u, b, a);
    v3_sub(v, c, a);
    v3_cross(n, u, v);
}

static bool init_collapse(Collapse *c, const PliHost *host, const PliSurface *s)
{
    *c = (Collapse){
        .host = *host, .vertex_count = s->point_count, .tri_count = s->tri_count, .alive = s->point_count, .x = s->x
    };
    c->tri = PLI_NEW(host, 3 * (size_t)s->tri_count, PliIndex);
    c->dead = PLI_NEW(host, s->tri_count, uint8_t);
    c->head = PLI_NEW(host, s->point_count, PliIndex);
    c->next = PLI_NEW(host, 3 * (size_t)s->tri_count, PliIndex);
    c->quadric = PLI_NEW(host, 10 * (size_t)s->point_count, double);
    c->age = PLI_NEW(host, s->point_count, uint32_t);
    c->ring_capacity = s->point_count;
    c->ring = PLI_NEW(host, c->ring_capacity, PliIndex);
    c->other = PLI_NEW(host, c->ring_capacity, PliIndex);
    if (!c->tri || !c->dead || !c->head || !c->next || !c->quadric || !c->age || !c->ring || !c->other) return false;
    memcpy(c->tri, s->tris, 3 * (size_t)s->tri_count * sizeof *c->tri);
    memset(c->head, 0xff, s->point_count * sizeof *c->head);
    for (PliIndex k = 0; k < 3 * s->tri_count; ++k) c->next[k] = c->head[c->tri[k]], c->head[c->tri[k]] = k;
    for (PliIndex t = 0; t < s->tri_count; ++t) {
        const PliIndex *v = c->tri + 3 * (size_t)t;
        double n[3], p[4];
        normal_of(s->x + 3 * (size_t)v[0], s->x + 3 * (size_t)v[1], s->x + 3 * (size_t)v[2], n);
        const double twice = v3_norm(n), weight = twice / 6.0; // a third of the area for each corner
        if (!(twice > 0.0)) continue;
        for (int d = 0; d < 3; ++d) p[d] = n[d] / twice;
        p[3] = -v3_dot(p, s->x + 3 * (size_t)v[0]);
        for (int k = 0; k < 3; ++k) {
            double *q = c->quadric + 10 * (size_t)v[k];
            for (int i = 0, e = 0; i < 4; ++i)
                for (int j = i; j < 4; ++j, ++e) q[e] += weight * p[i] * p[j];
        }
    }
    return true;
}

static double quadric_at(const double *a, const double *b, const double p[3])
{
    const double h[4] = { p[0], p[1], p[2], 1.0 };
    double sum = 0.0;
    for (int i = 0, e = 0; i < 4; ++i)
        for (int j = i; j < 4; ++j, ++e) sum += (i == j ? 1.0 : 2.0) * (a[e] + b[e]) * h[i] * h[j];
    return fmax(sum, 0.0);
}

/// Living vertices around v, ascending by no rule. @return how many
static PliIndex ring_of(const Collapse *c, PliIndex v, PliIndex *ring)
{
    PliIndex n = 0;
    for (PliIndex k = c->head[v]; k != PLI_NONE; k = c->next[k]) {
        const PliIndex t = k / 3;
        if (c->dead[t]) continue;
        ring[n++] =
            c->tri[3 * (size_t)t + (k + 1 - 3 * t) % 3]; // on a closed fan the next corner names each neighbour once
    }
    return n;
}

/// A share of length keeps triangles alike; what it weighs decides between uniform and adapted.
static const double length_share = 1e-2;

static double cost_of(const Collapse *c, PliIndex from, PliIndex to)
{
    const double *p = c->x + 3 * (size_t)to, l = v3_distance(p, c->x + 3 * (size_t)from);
    return quadric_at(c->quadric + 10 * (size_t)from, c->quadric + 10 * (size_t)to, p) + length_share * l * l * l * l;
}

static bool push(Collapse *c, Candidate item)
{
    if (!PLI_GROW(&c->host, c->heap, c->heap_count, c->heap_capacity)) return false;
    size_t i = c->heap_count++;
    for (; i > 0 && item.cost < c->heap[(i - 1) / 2].cost; i = (i - 1) / 2) c->heap[i] = c->heap[(i - 1) / 2];
    c->heap[i] = item;
    return true;
}

static Candidate pop(Collapse *c)
{
    const Candidate top = c->heap[0], last = c->heap[--c->heap_count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= c->heap_count) break;
        if (child + 1 < c->heap_count && c->heap[child + 1].cost < c->heap[child].cost) ++child;
        if (!(c->heap[child].cost < last.cost)) break;
        c->heap[i] = c->heap[child];
        i = child;
    }
    c->heap[i] = last;
    return top;
}

static bool offer(Collapse *c, PliIndex from, PliIndex to)
{
    return push(c, (Candidate){ cost_of(c, from, to), from, to, c->age[from], c->age[to] });
}

enum { MOST_NEIGHBOURS = 9 };

/// The surface stays a manifold when the ends of the edge have exactly two neighbours in common; its triangles must not turn over
/// or become slivers.
static bool may_collapse(Collapse *c, PliIndex from, PliIndex to)
{
    const PliIndex n = ring_of(c, from, c->ring), m = ring_of(c, to, c->other);
    PliIndex common = 0;
    bool joined = false;
    for (PliIndex i = 0; i < n; ++i) {
        joined = joined || c->ring[i] == to;
        for (PliIndex j = 0; j < m; ++j) common += c->ring[i] == c->other[j];
    }
    if (!joined || common != 2 || n < 3 || m < 3 || n + m - 4 > MOST_NEIGHBOURS || n + m - 4 < 3) return false;
    for (PliIndex k = c->head[from]; k != PLI_NONE; k = c->next[k]) {
        const PliIndex t = k / 3, *v = c->tri + 3 * (size_t)t;
        if (c->dead[t] || v[0] == to || v[1] == to || v[2] == to) {
            // the third corner of a triangle that goes loses a neighbour
            for (int i = 0; i < 3 && !c->dead[t]; ++i)
                if (v[i] != to && v[i] != from && ring_of(c, v[i], c->other) <= 3) return false;
            continue;
        }
        const double *p[3];
        double before[3], after[3], longest = 0.0;
        for (int i = 0; i < 3; ++i) p[i] = c->x + 3 * (size_t)v[i];
        normal_of(p[0], p[1], p[2], before);
        for (int i = 0; i < 3; ++i) p[i] = c->x + 3 * (size_t)(v[i] == from ? to : v[i]);
        normal_of(p[0], p[1], p[2], after);
        for (int i = 0; i < 3; ++i) longest = fmax(longest, v3_distance(p[i], p[(i + 1) % 3]));
        if (v3_dot(before, after) < 0.3 * v3_norm(before) * v3_norm(after)) return false;
        if (v3_norm(after) < 0.15 * longest * longest) return false;
    }
    return true;
}

static void collapse(Collapse *c, PliIndex from, PliIndex to)
{
    for (PliIndex k = c->head[from]; k != PLI_NONE;) {
        const PliIndex after = c->next[k], t = k / 3, *v = c->tri + 3 * (size_t)t;
        if (v[0] == to || v[1] == to || v[2] == to) {
            c->dead[t] = 1;
        } else if (!c->dead[t]) {
            c->tri[k] = to;
            c->next[k] = c->head[to];
            c->head[to] = k;
        }
        k = after;
    }
    c->head[from] = PLI_NONE;
    for (int e = 0; e < 10; ++e) c->quadric[10 * (size_t)to + (size_t)e] += c->quadric[10 * (size_t)from + (size_t)e];
    c->age[from]++, c->age[to]++;
    c->alive--;
}

static PliStatus run(Collapse *c, PliIndex target)
{
    for (PliIndex k = 0; k < 3 * c->tri_count; ++k)
        if (!offer(c, c->tri[k], c->tri[k % 3 == 2 ? k - 2 : k + 1])) return PLI_OUT_OF_MEMORY;
    while (c->alive > target && c->heap_count > 0) {
        const Candidate e = pop(c);
        if (e.from_age != c->age[e.from] || e.to_age != c->age[e.to] || c->head[e.from] == PLI_NONE) continue;
        if (!may_collapse(c, e.from, e.to)) continue;
        collapse(c, e.from, e.to);
        const PliIndex n = ring_of(c, e.to, c->ring);
        for (PliIndex i = 0; i < n; ++i) {
            // what was refused before may be possible now
            const PliIndex r = c->ring[i];
            if (!offer(c, e.to, r) || !offer(c, r, e.to)) return PLI_OUT_OF_MEMORY;
        }
    }
    return PLI_OK;
}

static PliStatus take_out(const Collapse *c, PliSurface *base)
{
    PliIndex tris = 0, points = 0;
    for (PliIndex t = 0; t < c->tri_count; ++t) tris += !c->dead[t];
    double *x = PLI_NEW(&c->host, 3 * (size_t)c->alive, double);
    PliIndex *tri = PLI_NEW(&c->host, 3 * (size_t)tris, PliIndex), *number = c->ring;
    *base = (PliSurface){ x, tri, c->alive, tris };
    if (!x || !tri) return PLI_OUT_OF_MEMORY;
    for (PliIndex v = 0; v < c->vertex_count; ++v) {
        if (c->head[v] == PLI_NONE) continue;
        number[v] = points;
        v3_copy(x + 3 * (size_t)points++, c->x + 3 * (size_t)v);
    }
    for (PliIndex t = 0, n = 0; t < c->tri_count; ++t)
        for (int k = 0; k < 3 && !c->dead[t]; ++k) tri[n++] = number[c->tri[3 * (size_t)t + (size_t)k]];
    return PLI_OK;
}

PliStatus pli_remesh_collapse(const PliHost *host, const PliSurface *surface, PliIndex target, PliSurface *base,
                              PliError *err)
{
    Collapse c;
    *base = (PliSurface){ 0 };
    PliStatus status = init_collapse(&c, host, surface) ? run(&c, target < 4 ? 4 : target) : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) status = take_out(&c, base);
    free_collapse(&c);
    if (status == PLI_OK) return status;
    pli_surface_free(host, base);
    return pli_refuse(err, status, "no memory to simplify a surface of %u points", surface->point_count);
}
