/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesh/faces.h"

// ---- triangles of a closed surface ------------------------------------------------------------------------------------------

typedef struct Edge {
    PliIndex a, b; ///< a < b
    int sign;      ///< +1 where a triangle runs from a to b
} Edge;

static int compare_edges(const void *p, const void *q)
{
    const Edge *a = p, *b = q;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    if (a->b != b->b) return a->b < b->b ? -1 : 1;
    return a->sign - b->sign;
}

typedef struct Place {
    double x[3];
    PliIndex point;
} Place;

static int compare_places(const void *p, const void *q)
{
    const Place *a = p, *b = q;
    for (int i = 0; i < 3; ++i)
        if (a->x[i] != b->x[i]) return a->x[i] < b->x[i] ? -1 : 1;
    return a->point < b->point ? -1 : 1;
}

// Files made of loose triangles repeat their points: points at exactly the same place become one.
PliStatus pli_shell_weld(const PliHost *host, const PliMesh *m, PliShell *t)
{
    const PliIndex count = m->tri_count + 2 * m->quad_count;
    *t = (PliShell){ .capacity = count };
    Place *place = PLI_NEW(host, m->point_count, Place);
    PliIndex *weld = PLI_NEW(host, m->point_count, PliIndex);
    t->corner = pli_alloc(host, count, sizeof *t->corner);
    if (!place || !weld || !t->corner) {
        PLI_FREE(host, weld, m->point_count);
        PLI_FREE(host, place, m->point_count);
        return PLI_OUT_OF_MEMORY;
    }
    for (PliIndex i = 0; i < m->point_count; ++i) {
        for (int a = 0; a < 3; ++a) place[i].x[a] = m->x[3 * (size_t)i + a] + 0.0; // -0 and 0 are one place
        place[i].point = i;
    }
    qsort(place, m->point_count, sizeof *place, compare_places);
    for (PliIndex i = 0, first = 0; i < m->point_count; ++i) {
        if (memcmp(place[i].x, place[first].x, sizeof place[i].x) != 0) first = i;
        weld[place[i].point] = place[first].point;
    }
    PLI_FREE(host, place, m->point_count);
    for (PliIndex i = 0; i < count; ++i) {
        PliIndex k[3];
        if (i < m->tri_count) {
            memcpy(k, m->tris + 3 * (size_t)i, sizeof k);
        } else {
            const PliIndex q = (i - m->tri_count) / 2, half = (i - m->tri_count) % 2;
            const PliIndex *quad = m->quads + 4 * (size_t)q;
            k[0] = quad[0], k[1] = quad[1 + half], k[2] = quad[2 + half];
        }
        for (int c = 0; c < 3; ++c) k[c] = weld[k[c]];
        if (k[0] == k[1] || k[1] == k[2] || k[0] == k[2]) continue; // a collapsed triangle bounds nothing
        memcpy(t->corner[t->count++], k, sizeof k);
    }
    PLI_FREE(host, weld, m->point_count);
    return PLI_OK;
}

void pli_shell_free(const PliHost *host, PliShell *t)
{
    pli_free(host, t->corner, t->capacity, sizeof *t->corner);
    *t = (PliShell){ 0 };
}

// Two triangles at every edge, of a boundary of tetrahedra any even number; *oriented says whether both directions are equally
// frequent.
PliStatus pli_shell_check(const PliHost *host, const PliShell *t, const double *x, bool *oriented, PliError *err)
{
    const size_t count = 3 * (size_t)t->count;
    Edge *edge = PLI_NEW(host, count, Edge);
    if (!edge) return PLI_OUT_OF_MEMORY;
    for (PliIndex i = 0; i < t->count; ++i)
        for (int c = 0; c < 3; ++c) {
            const PliIndex a = t->corner[i][c], b = t->corner[i][(c + 1) % 3];
            edge[3 * (size_t)i + c] = a < b ? (Edge){ a, b, 1 } : (Edge){ b, a, -1 };
        }
    qsort(edge, count, sizeof *edge, compare_edges);
    size_t open = 0, first_open = 0, crowded = 0, first_crowded = 0, crowd = 0;
    *oriented = true;
    for (size_t i = 0, j; i < count; i = j) {
        int sum = 0;
        for (j = i; j < count && edge[j].a == edge[i].a && edge[j].b == edge[i].b; ++j) sum += edge[j].sign;
        if (sum != 0) *oriented = false;
        if (j - i == 1 && open++ == 0) first_open = i;
        if (j - i > 2 && (!t->may_touch || (j - i) % 2 == 1) && crowded++ == 0) first_crowded = i, crowd = j - i;
    }
    PliStatus status = PLI_OK;
    if (crowded > 0) {
        const Edge *e = &edge[first_crowded];
        const double *p = x + 3 * (size_t)e->a, *q = x + 3 * (size_t)e->b;
        status = pli_refuse(err, PLI_BAD_MESH,
                            "the surface is not manifold: the edge between points %u and %u, from (%.5g %.5g %.5g) to "
                            "(%.5g %.5g %.5g), belongs to %zu triangles, and %zu others to more than two; sheets that "
                            "meet there must be apart",
                            e->a, e->b, p[0], p[1], p[2], q[0], q[1], q[2], crowd, crowded - 1);
    } else if (open > 0) {
        const Edge *e = &edge[first_open];
        const double *p = x + 3 * (size_t)e->a;
        status = pli_refuse(err, PLI_BAD_MESH,
                            "the surface is open: the edge between points %u and %u, at (%.5g %.5g %.5g), belongs to "
                            "one triangle only, and so do %zu others",
                            e->a, e->b, p[0], p[1], p[2], open - 1);
    }
    PLI_FREE(host, edge, count);
    return status;
}

// Twice the signed area of (a, b, p) in the y-z plane. Both triangles at an edge call it with the same order of a and b, so
// that they see exactly opposite values, and p on the edge belongs to exactly one of them.
static bool left_of(const double *x, PliIndex a, PliIndex b, double y, double z)
{
    const bool flip = a > b;
    const double *p = x + 3 * (size_t)(flip ? b : a), *q = x + 3 * (size_t)(flip ? a : b);
    const double s = (q[1] - p[1]) * (z - p[2]) - (q[2] - p[2]) * (y - p[1]);
    return flip ? s < 0.0 : s >= 0.0;
}

int pli_shell_cross(const double *x, const PliIndex k[3], double y, double z, double *at)
{
    const bool s0 = left_of(x, k[0], k[1], y, z), s1 = left_of(x, k[1], k[2], y, z), s2 = left_of(x, k[2], k[0], y, z);
    if (s0 != s1 || s1 != s2) return 0;
    const double *a = x + 3 * (size_t)k[0], *b = x + 3 * (size_t)k[1], *c = x + 3 * (size_t)k[2];
    double e[3], f[3], n[3];
    v3_sub(e, b, a);
    v3_sub(f, c, a);
    v3_cross(n, e, f);
    if (n[0] == 0.0) return 0;
    *at = a[0] - (n[1] * (y - a[1]) + n[2] * (z - a[2])) / n[0];
    return s0 ? 1 : -1;
}

// ---- a solid to ask ----------------------------------------------------------------------------------------------------------

/// Triangles by where they are across one axis.
typedef struct Bins {
    double *x; ///< points with the axis first, so that lines run along x
    double low[2], scale[2];
    PliIndex size[2];
    PliIndex *first, *item;
    size_t entries;
} Bins;

struct PliInside {
    PliHost host;
    PliShell shell;
    double *x;
    PliIndex point_count;
    bool oriented;
    double volume, size;
    Bins bin[3];
};

void pli_inside_destroy(PliInside *s)
{
    if (!s) return;
    const PliHost host = s->host;
    for (int a = 0; a < 3; ++a) {
        Bins *b = &s->bin[a];
        PLI_FREE(&host, b->x, 3 * (size_t)s->point_count);
        PLI_FREE(&host, b->first, (size_t)b->size[0] * b->size[1] + 1);
        PLI_FREE(&host, b->item, b->entries);
    }
    PLI_FREE(&host, s->x, 3 * (size_t)s->point_count);
    pli_shell_free(&host, &s->shell);
    PLI_FREE(&host, s, 1);
}

/// Bins a triangle reaches, with a little more, so that a nudged line misses none.
static void reach(const Bins *b, const PliIndex k[3], PliIndex low[2], PliIndex high[2])
{
    for (int a = 0; a < 2; ++a) {
        double min = INFINITY, max = -INFINITY;
        for (int c = 0; c < 3; ++c) {
            const double p = b->x[3 * (size_t)k[c] + 1 + (size_t)a];
            min = fmin(min, p), max = fmax(max, p);
        }
        const double first = (min - b->low[a]) * b->scale[a] - 1e-3, last = (max - b->low[a]) * b->scale[a] + 1e-3;
        low[a] = first <= 0.0 ? 0 : (PliIndex)first;
        high[a] = last <= 0.0 ? 0 : last >= b->size[a] - 1 ? b->size[a] - 1 : (PliIndex)last;
    }
}

static PliStatus fill_bins(PliInside *s, int axis)
{
    Bins *b = &s->bin[axis];
    const PliIndex side = (PliIndex)fmin(512.0, 1.0 + sqrt((double)s->shell.count));
    b->x = PLI_NEW(&s->host, 3 * (size_t)s->point_count, double);
    if (!b->x) return PLI_OUT_OF_MEMORY;
    for (size_t i = 0; i < s->point_count; ++i)
        for (size_t a = 0; a < 3; ++a) b->x[3 * i + a] = s->x[3 * i + ((size_t)axis + a) % 3];
    for (size_t a = 0; a < 2; ++a) {
        double low = INFINITY, high = -INFINITY;
        for (PliIndex t = 0; t < s->shell.count; ++t)
            for (int c = 0; c < 3; ++c) {
                const double p = b->x[3 * (size_t)s->shell.corner[t][c] + 1 + a];
                low = fmin(low, p), high = fmax(high, p);
            }
        b->low[a] = low, b->size[a] = side;
        b->scale[a] = high > low ? side / (high - low) : 0.0;
    }
    b->first = PLI_NEW(&s->host, (size_t)side * side + 1, PliIndex);
    if (!b->first) return PLI_OUT_OF_MEMORY;
    for (int pass = 0; pass < 2; ++pass) { // counts, then items; filling backwards makes ends beginnings
        for (PliIndex t = s->shell.count; t-- > 0;) {
            PliIndex low[2], high[2];
            reach(b, s->shell.corner[t], low, high);
            for (PliIndex j = low[1]; j <= high[1]; ++j)
                for (PliIndex i = low[0]; i <= high[0]; ++i) {
                    if (pass == 0)
                        b->first[i + (size_t)side * j]++;
                    else
                        b->item[--b->first[i + (size_t)side * j]] = t;
                }
        }
        if (pass == 1) break;
        PliIndex sum = 0;
        for (size_t i = 0; i <= (size_t)side * side; ++i) {
            if (i < (size_t)side * side) sum += b->first[i];
            b->first[i] = sum;
        }
        b->entries = sum;
        b->item = PLI_NEW(&s->host, sum, PliIndex);
        if (!b->item) return PLI_OUT_OF_MEMORY;
    }
    return PLI_OK;
}

static PliStatus take_triangles(PliInside *s, const PliMesh *mesh)
{
    s->point_count = mesh->point_count;
    s->x = PLI_NEW(&s->host, 3 * (size_t)mesh->point_count, double);
    if (!s->x) return PLI_OUT_OF_MEMORY;
    memcpy(s->x, mesh->x, 3 * (size_t)mesh->point_count * sizeof *s->x);
    if (mesh->tet_count == 0) return pli_shell_weld(&s->host, mesh, &s->shell);
    PliFaces faces;
    const PliStatus status = pli_faces_init(&faces, &s->host, mesh->tets, mesh->tet_count);
    if (status != PLI_OK) return status;
    s->shell.capacity = 4 * mesh->tet_count, s->shell.may_touch = true;
    s->shell.corner = pli_alloc(&s->host, s->shell.capacity, sizeof *s->shell.corner);
    for (PliIndex f = 0; f < 4 * mesh->tet_count && s->shell.corner; ++f) {
        PliIndex tri[3];
        unsigned uses;
        pli_faces_corners(mesh->tets, f, tri);
        if (pli_faces_find(&faces, tri, &uses) == f && uses == 1)
            memcpy(s->shell.corner[s->shell.count++], tri, sizeof tri);
    }
    pli_faces_free(&faces);
    return s->shell.corner ? PLI_OK : PLI_OUT_OF_MEMORY;
}

PliInside *pli_inside_create(const PliHost *host, const PliMesh *mesh, PliError *err)
{
    PliInside *s = PLI_NEW(host, 1, PliInside);
    PliStatus status = s ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (s) s->host = *host;
    if (status == PLI_OK) status = take_triangles(s, mesh);
    if (status == PLI_OK && s->shell.count == 0)
        status = pli_refuse(err, PLI_BAD_MESH, "the mesh has neither tetrahedra nor a closed surface to be inside of");
    if (status == PLI_OK) status = pli_shell_check(host, &s->shell, s->x, &s->oriented, err);
    for (int a = 0; a < 3 && status == PLI_OK; ++a) status = fill_bins(s, a);
    if (status != PLI_OK) {
        if (status == PLI_OUT_OF_MEMORY) pli_refuse(err, status, "no memory for a surface");
        pli_inside_destroy(s);
        return NULL;
    }
    double six = 0.0;
    for (PliIndex t = 0; t < s->shell.count; ++t) {
        double n[3];
        const PliIndex *k = s->shell.corner[t];
        v3_cross(n, s->x + 3 * (size_t)k[1], s->x + 3 * (size_t)k[2]);
        six += v3_dot(s->x + 3 * (size_t)k[0], n);
        for (int c = 1; c < 3; ++c)
            s->size = fmax(s->size, v3_distance(s->x + 3 * (size_t)k[0], s->x + 3 * (size_t)k[c]));
    }
    for (PliIndex t = 0; t < s->shell.count && s->oriented && six < 0.0; ++t) { // inward: turned
        PliIndex *k = s->shell.corner[t], keep = k[1];
        k[1] = k[2], k[2] = keep;
    }
    s->volume = s->oriented ? fabs(six) / 6.0 : NAN;
    return s;
}

typedef struct Meeting {
    double x;
    int sign;
} Meeting;

int pli_inside_line(const PliInside *s, int axis, const double p[3], double stretch[2 * PLI_INSIDE_STRETCHES])
{
    const Bins *b = &s->bin[axis];
    // moved by far less than any useful feature, so that it meets no edge of a regular mesh; again where it grazed something
    for (int attempt = 0; attempt < 8; ++attempt) {
        const double nudge = 1e-9 * s->size * (1 + 13 * attempt), y = p[(axis + 1) % 3] + 0.7548776662 * nudge,
                     z = p[(axis + 2) % 3] + 0.5698402910 * nudge;
        const double i = (y - b->low[0]) * b->scale[0], j = (z - b->low[1]) * b->scale[1];
        if (!(i >= 0.0 && i < b->size[0] && j >= 0.0 && j < b->size[1])) return 0;
        const size_t bin = (PliIndex)i + (size_t)b->size[0] * (PliIndex)j;
        Meeting meet[2 * PLI_INSIDE_STRETCHES];
        int count = 0;
        for (PliIndex e = b->first[bin]; e < b->first[bin + 1] && count < 2 * PLI_INSIDE_STRETCHES; ++e) {
            Meeting m;
            m.sign = pli_shell_cross(b->x, s->shell.corner[b->item[e]], y, z, &m.x);
            if (m.sign == 0) continue;
            int at = count++;
            for (; at > 0 && (meet[at - 1].x > m.x || (meet[at - 1].x == m.x && meet[at - 1].sign < m.sign)); --at)
                meet[at] = meet[at - 1];
            meet[at] = m;
        }
        int wind = 0, used = 0;
        for (int m = 0; m < count; ++m) {
            const bool was = s->oriented ? wind != 0 : wind % 2 != 0;
            wind += s->oriented ? meet[m].sign : 1;
            const bool is = s->oriented ? wind != 0 : wind % 2 != 0;
            if (was == is) continue;
            stretch[used++] = meet[m].x;
        }
        if (used % 2 == 0 && (s->oriented ? wind == 0 : wind % 2 == 0)) return used / 2;
    }
    return 0;
}

bool pli_inside_point(const PliInside *s, const double p[3])
{
    double stretch[2 * PLI_INSIDE_STRETCHES];
    const int count = pli_inside_line(s, 0, p, stretch);
    for (int k = 0; k < count; ++k)
        if (p[0] >= stretch[2 * k] && p[0] < stretch[2 * k + 1]) return true;
    return false;
}

double pli_inside_volume(const PliInside *s) { return s->volume; }

const double *pli_inside_points(const PliInside *s, PliIndex *count)
{
    *count = s->point_count;
    return s->x;
}

const PliIndex *pli_inside_triangles(const PliInside *s, PliIndex *count)
{
    *count = s->shell.count;
    return s->shell.corner[0];
}
