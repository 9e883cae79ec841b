/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/voxel_fill.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesh/inside.h"

// ---- tetrahedra -----------------------------------------------------------------------------------------------------------

void pli_voxel_fill_tets(PliVoxels *v, const PliMesh *mesh, PliIndex *tet_of, double *volume)
{
    const double slack = 1e-9;
    memset(tet_of, 0xff, v->lattice_cells * sizeof *tet_of);
    *volume = 0.0;
    for (PliIndex t = 0; t < mesh->tet_count; ++t) {
        const PliIndex *k = mesh->tets + 4 * (size_t)t;
        const double *x0 = mesh->x + 3 * (size_t)k[0];
        double e[9], inverse[9];
        PliIndex low[3], high[3];
        for (int c = 0; c < 3; ++c)
            for (int a = 0; a < 3; ++a) e[3 * a + c] = mesh->x[3 * (size_t)k[c + 1] + a] - x0[a];
        const double det = m3_inverse(inverse, e);
        *volume += fabs(det) / 6.0;
        if (det == 0.0) continue;
        for (int a = 0; a < 3; ++a) {
            double min = x0[a], max = x0[a];
            for (int c = 1; c < 4; ++c) {
                const double x = mesh->x[3 * (size_t)k[c] + a];
                min = x < min ? x : min, max = x > max ? x : max;
            }
            const double first = (min - v->origin[a]) / v->h - 0.5 - slack,
                         last = (max - v->origin[a]) / v->h - 0.5 + slack;
            low[a] = first <= 0.0 ? 0 : (PliIndex)ceil(first);
            high[a] = last < 0.0 ? 0 : (PliIndex)last;
            if (high[a] >= v->size[a]) high[a] = v->size[a] - 1;
        }
        for (PliIndex z = low[2]; z <= high[2]; ++z)
            for (PliIndex y = low[1]; y <= high[1]; ++y)
                for (PliIndex x = low[0]; x <= high[0]; ++x) {
                    const double d[3] = { v->origin[0] + v->h * (x + 0.5) - x0[0],
                                          v->origin[1] + v->h * (y + 0.5) - x0[1],
                                          v->origin[2] + v->h * (z + 0.5) - x0[2] };
                    double b[3];
                    m3_apply(b, inverse, d);
                    if (b[0] < -slack || b[1] < -slack || b[2] < -slack || b[0] + b[1] + b[2] > 1.0 + slack) continue;
                    const PliIndex c = x + v->size[0] * (y + v->size[1] * z);
                    v->cell_of[c] = 1;
                    if (tet_of[c] == PLI_NONE) tet_of[c] = t;
                }
    }
}

// ---- surfaces -----------------------------------------------------------------------------------------------------------

typedef struct Crossing {
    PliIndex ray; ///< y + size_y * z
    int sign;
    double x;
} Crossing;

static int compare_crossings(const void *p, const void *q)
{
    const Crossing *a = p, *b = q;
    if (a->ray != b->ray) return a->ray < b->ray ? -1 : 1;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return b->sign - a->sign;
}

static void ray_place(const PliVoxels *v, PliIndex ray, int attempt, double *y, double *z)
{
    // centre of the cell row, moved by far less than any useful feature so that it meets no edge of a regular mesh exactly
    const double nudge = 1e-7 * v->h * (1 + 13 * attempt);
    *y = v->origin[1] + v->h * (ray % v->size[1] + 0.5) + 0.7548776662 * nudge;
    *z = v->origin[2] + v->h * (ray / v->size[1] + 0.5) + 0.5698402910 * nudge;
}

// Fills one row between crossings. False when the crossings do not close (the line grazed something).
static bool fill_row(PliVoxels *v, PliIndex ray, const Crossing *c, size_t count, bool oriented)
{
    int wind = 0;
    for (size_t i = 0; i < count; ++i) wind += oriented ? c[i].sign : 1;
    if (oriented ? wind != 0 : wind % 2 != 0) return false;
    wind = 0;
    for (size_t i = 0; i + 1 < count; ++i) {
        wind += oriented ? c[i].sign : 1;
        if (oriented ? wind == 0 : wind % 2 == 0) continue;
        const double first = (c[i].x - v->origin[0]) / v->h - 0.5, last = (c[i + 1].x - v->origin[0]) / v->h - 0.5;
        for (PliIndex k = first <= 0.0 ? 0 : (PliIndex)ceil(first); k < v->size[0] && k < last; ++k)
            v->cell_of[k + v->size[0] * ray] = 1;
    }
    return true;
}

static PliStatus collect(const PliVoxels *v, const double *x, const PliShell *t, Crossing **list, size_t *count,
                         size_t *capacity)
{
    for (PliIndex i = 0; i < t->count; ++i) {
        const PliIndex *k = t->corner[i];
        PliIndex low[2], high[2];
        for (int a = 0; a < 2; ++a) {
            double min = INFINITY, max = -INFINITY;
            for (int c = 0; c < 3; ++c) {
                const double p = x[3 * (size_t)k[c] + 1 + a];
                min = p < min ? p : min, max = p > max ? p : max;
            }
            const double first = (min - v->origin[1 + a]) / v->h - 1.0, last = (max - v->origin[1 + a]) / v->h;
            low[a] = first <= 0.0 ? 0 : (PliIndex)first;
            high[a] = last < 0.0 ? 0 : (PliIndex)last;
            if (high[a] >= v->size[1 + a]) high[a] = v->size[1 + a] - 1;
        }
        for (PliIndex kz = low[1]; kz <= high[1]; ++kz)
            for (PliIndex ky = low[0]; ky <= high[0]; ++ky) {
                const PliIndex ray = ky + v->size[1] * kz;
                double y, z, at;
                ray_place(v, ray, 0, &y, &z);
                const int sign = pli_shell_cross(x, k, y, z, &at);
                if (sign == 0) continue;
                if (!PLI_GROW(&v->host, *list, *count, *capacity)) return PLI_OUT_OF_MEMORY;
                (*list)[(*count)++] = (Crossing){ ray, sign, at };
            }
    }
    return PLI_OK;
}

// A line that grazed something is cast again a little aside, against every triangle: rare, so simple.
static bool recast(PliVoxels *v, const double *x, const PliShell *t, PliIndex ray, bool oriented, Crossing *room,
                   size_t capacity)
{
    for (int attempt = 1; attempt <= 8; ++attempt) {
        double y, z, at;
        size_t count = 0;
        ray_place(v, ray, attempt, &y, &z);
        for (PliIndex i = 0; i < t->count && count < capacity; ++i) {
            const int sign = pli_shell_cross(x, t->corner[i], y, z, &at);
            if (sign != 0) room[count++] = (Crossing){ ray, sign, at };
        }
        qsort(room, count, sizeof *room, compare_crossings);
        if (fill_row(v, ray, room, count, oriented)) return true;
    }
    return false;
}

PliStatus pli_voxel_fill_surface(PliVoxels *v, const PliMesh *mesh, double *volume, PliError *err)
{
    const PliHost *host = &v->host;
    PliShell t = { 0 };
    Crossing *list = NULL, *room = NULL;
    size_t count = 0, capacity = 0;
    bool oriented = true;
    PliStatus status = pli_shell_weld(host, mesh, &t);
    if (status == PLI_OK) status = pli_shell_check(host, &t, mesh->x, &oriented, err);
    if (status == PLI_OK) status = collect(v, mesh->x, &t, &list, &count, &capacity);
    if (status == PLI_OK) {
        room = PLI_NEW(host, t.count, Crossing);
        if (!room) status = PLI_OUT_OF_MEMORY;
    }
    if (status == PLI_OK) {
        if (count) qsort(list, count, sizeof *list, compare_crossings);
        for (size_t i = 0, j; i < count; i = j) {
            for (j = i; j < count && list[j].ray == list[i].ray; ++j) {}
            if (!fill_row(v, list[i].ray, list + i, j - i, oriented))
                recast(v, mesh->x, &t, list[i].ray, oriented, room, t.count);
        }
        // with mixed orientation the signed volume means nothing: trust the voxels
        double six = 0.0;
        for (PliIndex i = 0; i < t.count; ++i) {
            double n[3];
            v3_cross(n, mesh->x + 3 * (size_t)t.corner[i][1], mesh->x + 3 * (size_t)t.corner[i][2]);
            six += v3_dot(mesh->x + 3 * (size_t)t.corner[i][0], n);
        }
        *volume = fabs(six) / 6.0;
        if (!oriented) {
            PliIndex solid = 0;
            for (PliIndex c = 0; c < v->lattice_cells; ++c) solid += v->cell_of[c];
            *volume = solid * v->h * v->h * v->h;
        }
    }
    PLI_FREE(host, room, t.count);
    PLI_FREE(host, list, capacity);
    pli_shell_free(host, &t);
    return status;
}
