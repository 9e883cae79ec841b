/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/voxel.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesh/voxel_fill.h"

enum { MAX_SIDE = 1024, MAX_CLEAR = 250 };

// ---- lattice ------------------------------------------------------------------------------------------------------------

static PliIndex lattice_index(const PliIndex n[3], PliIndex i, PliIndex j, PliIndex k)
{
    return i + n[0] * (j + n[1] * k);
}

static void lattice_split(const PliIndex n[3], PliIndex index, PliIndex ijk[3])
{
    ijk[0] = index % n[0];
    ijk[1] = index / n[0] % n[1];
    ijk[2] = index / n[0] / n[1];
}

void pli_voxels_corner_point(const PliVoxels *v, PliIndex corner, double p[3])
{
    const PliIndex n[3] = { v->size[0] + 1, v->size[1] + 1, v->size[2] + 1 };
    PliIndex ijk[3];
    lattice_split(n, v->corner[corner], ijk);
    for (int a = 0; a < 3; ++a) p[a] = v->origin[a] + v->h * ijk[a];
}

void pli_voxels_cell_centre(const PliVoxels *v, PliIndex cell, double p[3])
{
    PliIndex ijk[3];
    lattice_split(v->size, v->cell[cell], ijk);
    for (int a = 0; a < 3; ++a) p[a] = v->origin[a] + v->h * (ijk[a] + 0.5);
}

void pli_voxels_cell_corners(const PliVoxels *v, PliIndex cell, PliIndex corner[8])
{
    const PliIndex n[3] = { v->size[0] + 1, v->size[1] + 1, v->size[2] + 1 };
    PliIndex c[3];
    lattice_split(v->size, v->cell[cell], c);
    for (PliIndex b = 0; b < 8; ++b)
        corner[b] = v->corner_of[lattice_index(n, c[0] + (b & 1), c[1] + (b >> 1 & 1), c[2] + (b >> 2))];
}

static double box_distance2(const PliVoxels *v, const PliIndex c[3], const double p[3])
{
    double d2 = 0.0;
    for (int a = 0; a < 3; ++a) {
        const double low = v->origin[a] + v->h * c[a], d = p[a] < low          ? low - p[a]
                                                           : p[a] > low + v->h ? p[a] - low - v->h
                                                                               : 0.0;
        d2 += d * d;
    }
    return d2;
}

double pli_voxels_find(const PliVoxels *v, const double p[3], PliIndex *cell)
{
    long at[3], far = 0;
    bool inside = true;
    for (int a = 0; a < 3; ++a) {
        const double s = (p[a] - v->origin[a]) / v->h;
        at[a] = s < 0.0 ? 0 : s >= v->size[a] ? (long)v->size[a] - 1 : (long)s;
        inside = inside && s - (double)at[a] > 1e-6 && s - (double)at[a] < 1.0 - 1e-6;
        far = v->size[a] > far ? (long)v->size[a] : far;
    }
    double best = INFINITY;
    *cell = PLI_NONE;
    // well inside a solid cell; on its faces the lowest of the cells that meet there is taken, below
    const PliIndex here = v->cell_of[lattice_index(v->size, (PliIndex)at[0], (PliIndex)at[1], (PliIndex)at[2])];
    if (here != PLI_NONE && inside) {
        *cell = here;
        return 0.0;
    }
    // shells of growing Chebyshev radius; one more shell than the first hit needs (times sqrt 3) decides
    for (long r = 0; r <= far; ++r) {
        if (*cell != PLI_NONE && (double)(r - 1) * v->h > sqrt(best)) break;
        for (long k = at[2] - r; k <= at[2] + r; ++k)
            for (long j = at[1] - r; j <= at[1] + r; ++j) {
                const bool inner = labs(k - at[2]) < r && labs(j - at[1]) < r;
                if (k < 0 || j < 0 || k >= (long)v->size[2] || j >= (long)v->size[1]) continue;
                for (long i = at[0] - r; i <= at[0] + r; i += inner && r > 0 ? 2 * r : 1) {
                    if (i < 0 || i >= (long)v->size[0]) continue;
                    const PliIndex c[3] = { (PliIndex)i, (PliIndex)j, (PliIndex)k };
                    const PliIndex solid = v->cell_of[lattice_index(v->size, c[0], c[1], c[2])];
                    if (solid == PLI_NONE) continue;
                    const double d2 = box_distance2(v, c, p);
                    if (d2 < best || (d2 == best && solid < *cell)) best = d2, *cell = solid;
                }
            }
    }
    return sqrt(best);
}

// ---- what follows from the set of solid cells -------------------------------------------------------------------------

// Cells to the nearest cell that is empty or of another slowness, by two chamfer passes over the 26 neighbours.
static void fill_clear(PliVoxels *v)
{
    const PliIndex *n = v->size;
    const long sx = 1, sy = n[0], sz = (long)n[0] * n[1];
    for (PliIndex c = 0; c < v->lattice_cells; ++c) v->clear[c] = v->cell_of[c] == PLI_NONE ? 0 : MAX_CLEAR;
    if (!v->uniform)
        for (PliIndex s = 0; s < v->cell_count; ++s)
            for (long o = 0; o < 27; ++o) {
                const long c = (long)v->cell[s] + (o % 3 - 1) * sx + (o / 3 % 3 - 1) * sy + (o / 9 - 1) * sz;
                const PliIndex t = v->cell_of[c];
                if (t != PLI_NONE && v->slowness[t] != v->slowness[s]) v->clear[v->cell[s]] = 1;
            }
    for (int pass = 0; pass < 2; ++pass)
        for (PliIndex q = 0; q < v->cell_count; ++q) {
            const long c = v->cell[pass ? v->cell_count - 1 - q : q];
            int best = v->clear[c];
            for (int o = 0; o < 13; ++o) {
                const long step = (o % 3 - 1) * sx + (o / 3 % 3 - 1) * sy + (o / 9 - 1) * sz;
                const int near = v->clear[pass ? c - step : c + step] + 1;
                best = near < best ? near : best;
            }
            v->clear[c] = (uint8_t)best;
        }
}

static PliStatus number_corners(PliVoxels *v)
{
    const PliIndex n[3] = { v->size[0] + 1, v->size[1] + 1, v->size[2] + 1 };
    memset(v->corner_of, 0, v->lattice_corners * sizeof *v->corner_of);
    for (PliIndex s = 0; s < v->cell_count; ++s) {
        PliIndex c[3];
        lattice_split(v->size, v->cell[s], c);
        for (PliIndex b = 0; b < 8; ++b)
            v->corner_of[lattice_index(n, c[0] + (b & 1), c[1] + (b >> 1 & 1), c[2] + (b >> 2))] = 1;
    }
    v->corner_count = 0;
    for (PliIndex c = 0; c < v->lattice_corners; ++c) v->corner_of[c] = v->corner_of[c] ? v->corner_count++ : PLI_NONE;
    v->corner = PLI_NEW(&v->host, v->corner_count, PliIndex);
    v->component = PLI_NEW(&v->host, v->corner_count, PliIndex);
    if (!v->corner || !v->component) return PLI_OUT_OF_MEMORY;
    for (PliIndex c = 0; c < v->lattice_corners; ++c)
        if (v->corner_of[c] != PLI_NONE) v->corner[v->corner_of[c]] = c;
    return PLI_OK;
}

static PliIndex root_of(PliIndex *parent, PliIndex i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static PliStatus number_components(PliVoxels *v)
{
    PliIndex *size = PLI_NEW(&v->host, v->corner_count, PliIndex), *name = PLI_NEW(&v->host, v->corner_count, PliIndex);
    PliIndex *parent = v->component, count = 0;
    if (!size || !name) {
        PLI_FREE(&v->host, size, v->corner_count);
        PLI_FREE(&v->host, name, v->corner_count);
        return PLI_OUT_OF_MEMORY;
    }
    for (PliIndex c = 0; c < v->corner_count; ++c) parent[c] = c;
    for (PliIndex s = 0; s < v->cell_count; ++s) {
        PliIndex corner[8];
        pli_voxels_cell_corners(v, s, corner);
        PliIndex a = root_of(parent, corner[0]);
        for (int b = 1; b < 8; ++b) {
            PliIndex r = root_of(parent, corner[b]);
            if (r < a)
                parent[a] = r, a = r;
            else
                parent[r] = a;
        }
    }
    for (PliIndex c = 0; c < v->corner_count; ++c) parent[c] = root_of(parent, c);
    for (PliIndex c = 0; c < v->corner_count; ++c) size[parent[c]]++;
    // largest first, ties by the lowest corner; components are few, corners are not
    for (PliIndex c = 0; c < v->corner_count; ++c)
        if (size[c]) name[count++] = c;
    for (PliIndex i = 1; i < count; ++i) {
        PliIndex r = name[i], j = i;
        for (; j > 0 && size[name[j - 1]] < size[r]; --j) name[j] = name[j - 1];
        name[j] = r;
    }
    for (PliIndex i = 0; i < count; ++i) size[name[i]] = i;
    for (PliIndex c = 0; c < v->corner_count; ++c) v->component[c] = size[parent[c]];
    v->component_count = count;
    PLI_FREE(&v->host, size, v->corner_count);
    PLI_FREE(&v->host, name, v->corner_count);
    return PLI_OK;
}

static PliVoxels *allocate(const PliHost *host, const PliIndex size[3])
{
    PliVoxels *v = PLI_NEW(host, 1, PliVoxels);
    if (!v) return NULL;
    v->host = *host;
    memcpy(v->size, size, sizeof v->size);
    v->lattice_cells = size[0] * size[1] * size[2];
    v->lattice_corners = (size[0] + 1) * (size[1] + 1) * (size[2] + 1);
    v->cell_of = PLI_NEW(host, v->lattice_cells, PliIndex);
    v->corner_of = PLI_NEW(host, v->lattice_corners, PliIndex);
    v->clear = PLI_NEW(host, v->lattice_cells, uint8_t);
    if (!v->cell_of || !v->corner_of || !v->clear) {
        pli_voxels_destroy(v);
        return NULL;
    }
    return v;
}

// cell_of holds 0 (empty) or 1 (solid) on entry
static PliStatus number_cells(PliVoxels *v)
{
    for (PliIndex c = 0; c < v->lattice_cells; ++c) v->cell_of[c] = v->cell_of[c] ? v->cell_count++ : PLI_NONE;
    v->cell = PLI_NEW(&v->host, v->cell_count, PliIndex);
    v->stiffness = PLI_NEW(&v->host, v->cell_count, float);
    v->density = PLI_NEW(&v->host, v->cell_count, float);
    v->slowness = PLI_NEW(&v->host, v->cell_count, float);
    if (!v->cell || !v->stiffness || !v->density || !v->slowness) return PLI_OUT_OF_MEMORY;
    for (PliIndex c = 0; c < v->lattice_cells; ++c)
        if (v->cell_of[c] != PLI_NONE) v->cell[v->cell_of[c]] = c;
    return number_corners(v);
}

static PliStatus finish(PliVoxels *v)
{
    double mean = 0.0;
    for (PliIndex s = 0; s < v->cell_count; ++s) mean += 1.0 / (double)v->stiffness[s];
    mean /= v->cell_count ? v->cell_count : 1;
    v->uniform = true;
    for (PliIndex s = 0; s < v->cell_count; ++s) {
        const double slow = 1.0 / ((double)v->stiffness[s] * mean);
        v->slowness[s] = (float)(slow < 1e-3 ? 1e-3 : slow > 1e3 ? 1e3 : slow);
        if (v->stiffness[s] != v->stiffness[0] && !v->plain_distance) v->uniform = false;
    }
    if (v->uniform)
        for (PliIndex s = 0; s < v->cell_count; ++s) v->slowness[s] = 1.0f;
    fill_clear(v);
    return number_components(v);
}

void pli_voxels_destroy(PliVoxels *v)
{
    if (!v) return;
    PliHost host = v->host;
    PLI_FREE(&host, v->cell, v->cell_count);
    PLI_FREE(&host, v->cell_of, v->lattice_cells);
    PLI_FREE(&host, v->corner, v->corner_count);
    PLI_FREE(&host, v->corner_of, v->lattice_corners);
    PLI_FREE(&host, v->stiffness, v->cell_count);
    PLI_FREE(&host, v->density, v->cell_count);
    PLI_FREE(&host, v->slowness, v->cell_count);
    PLI_FREE(&host, v->clear, v->lattice_cells);
    PLI_FREE(&host, v->component, v->corner_count);
    PLI_FREE(&host, v, 1);
}

PliVoxels *pli_voxels_coarsen(const PliVoxels *fine)
{
    PliIndex size[3];
    for (int a = 0; a < 3; ++a) size[a] = (fine->size[a] - 2 + 1) / 2 + 2;
    PliVoxels *v = allocate(&fine->host, size);
    if (!v) return NULL;
    v->h = 2.0 * fine->h;
    for (int a = 0; a < 3; ++a) v->origin[a] = fine->origin[a] + fine->h - v->h;
    v->extent = fine->extent;
    v->plain_distance = fine->plain_distance;
    for (PliIndex s = 0; s < fine->cell_count; ++s) {
        PliIndex c[3];
        lattice_split(fine->size, fine->cell[s], c);
        v->cell_of[lattice_index(size, (c[0] + 1) / 2, (c[1] + 1) / 2, (c[2] + 1) / 2)] = 1;
    }
    if (number_cells(v) != PLI_OK) {
        pli_voxels_destroy(v);
        return NULL;
    }
    // means of what is solid: compliance for stiffness (the softest path decides), plain for density
    for (PliIndex s = 0; s < fine->cell_count; ++s) {
        PliIndex c[3];
        lattice_split(fine->size, fine->cell[s], c);
        const PliIndex t = v->cell_of[lattice_index(size, (c[0] + 1) / 2, (c[1] + 1) / 2, (c[2] + 1) / 2)];
        v->stiffness[t] += 1.0f / fine->stiffness[s];
        v->density[t] += fine->density[s];
        v->slowness[t] += 1.0f;
    }
    for (PliIndex t = 0; t < v->cell_count; ++t) {
        v->stiffness[t] = v->slowness[t] / v->stiffness[t];
        v->density[t] /= v->slowness[t];
    }
    v->fill = fine->fill * fine->cell_count / (8.0 * v->cell_count);
    if (finish(v) != PLI_OK) {
        pli_voxels_destroy(v);
        return NULL;
    }
    return v;
}

// ---- creation -------------------------------------------------------------------------------------------------------------

static PliStatus check(const PliVoxelDef *def, double min[3], double max[3], PliError *err)
{
    const PliMesh *m = def->mesh;
    if (!m || m->point_count == 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "there is no mesh to fill with voxels");
    if (m->tet_count == 0 && m->tri_count == 0 && m->quad_count == 0)
        return pli_refuse(err, PLI_BAD_MESH,
                          "the mesh has neither tetrahedra nor a surface: there is no inside to fill with voxels");
    for (int a = 0; a < 3; ++a) min[a] = INFINITY, max[a] = -INFINITY;
    for (PliIndex i = 0; i < m->point_count; ++i)
        for (int a = 0; a < 3; ++a) {
            const double x = m->x[3 * (size_t)i + a];
            if (!isfinite(x)) return pli_refuse(err, PLI_BAD_MESH, "point %u of the mesh is not finite", i);
            min[a] = x < min[a] ? x : min[a];
            max[a] = x > max[a] ? x : max[a];
        }
    if (def->size < 0.0 || !isfinite(def->size))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "the voxel size is %g; it must be positive", def->size);
    if (def->size == 0.0 && (def->resolution < 1 || def->resolution > MAX_SIDE))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "the voxel resolution is %u; it must be between 1 and %d",
                          def->resolution, MAX_SIDE);
    return PLI_OK;
}

static PliStatus set_factors(PliVoxels *v, const PliVoxelDef *def, const PliIndex *tet_of, PliError *err)
{
    for (PliIndex s = 0; s < v->cell_count; ++s) {
        const PliIndex t = tet_of ? tet_of[v->cell[s]] : PLI_NONE;
        double stiffness = 1.0, density = 1.0, p[3];
        pli_voxels_cell_centre(v, s, p);
        if (def->field) def->field(p, &stiffness, &density, def->field_user);
        if (t != PLI_NONE && def->tet_stiffness) stiffness *= def->tet_stiffness[t];
        if (t != PLI_NONE && def->tet_density) density *= def->tet_density[t];
        if (!(stiffness > 0.0) || !isfinite(stiffness))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "the stiffness factor at (%g, %g, %g) is %g; it must be positive",
                              p[0], p[1], p[2], stiffness);
        if (!(density > 0.0) || !isfinite(density))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "the density factor at (%g, %g, %g) is %g; it must be positive",
                              p[0], p[1], p[2], density);
        v->stiffness[s] = (float)stiffness;
        v->density[s] = (float)density;
    }
    return PLI_OK;
}

PliVoxels *pli_voxels_create(const PliHost *host, const PliVoxelDef *def, PliError *err)
{
    double min[3], max[3];
    if (check(def, min, max, err) != PLI_OK) return NULL;
    double extent = 0.0;
    for (int a = 0; a < 3; ++a) extent = max[a] - min[a] > extent ? max[a] - min[a] : extent;
    // The lattice forgets the last digits of the mesh: a symmetric body has ties all over, and hosts that scale points in another
    // order would lay it out differently.
    int exponent;
    (void)frexp(extent, &exponent);
    const double grain = ldexp(1.0, exponent - 20);
    for (int a = 0; a < 3; ++a) min[a] = grain * round(min[a] / grain), max[a] = grain * round(max[a] / grain);
    extent = grain * round(extent / grain);
    const double h = def->size > 0.0 ? def->size : extent / def->resolution;
    PliIndex size[3];
    for (int a = 0; a < 3; ++a) {
        const double cells = ceil((max[a] - min[a]) / h - 2e-3);
        if (!(cells <= MAX_SIDE)) {
            pli_refuse(err, PLI_BAD_ARGUMENT,
                       "the voxel size %g gives %.0f cells along one side; at most %d are allowed", h, cells, MAX_SIDE);
            return NULL;
        }
        size[a] = (cells < 1.0 ? 1 : (PliIndex)cells) + 2;
    }
    if ((uint64_t)(size[0] + 1) * (size[1] + 1) * (size[2] + 1) > 1u << 29) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "the voxel size %g gives a grid of %u x %u x %u cells, which is too large", h,
                   size[0], size[1], size[2]);
        return NULL;
    }
    PliVoxels *v = allocate(host, size);
    PliIndex *tet_of = NULL;
    PliStatus status = v ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (v) {
        v->h = h, v->extent = extent, v->plain_distance = def->plain_distance;
        for (int a = 0; a < 3; ++a)
            v->origin[a] = 0.5 * (min[a] + max[a]) - 0.5 * h * size[a]; // slack shared by both sides
        double volume = 0.0;
        if (def->mesh->tet_count) {
            tet_of = PLI_NEW(host, v->lattice_cells, PliIndex);
            status = tet_of ? PLI_OK : PLI_OUT_OF_MEMORY;
            if (tet_of) pli_voxel_fill_tets(v, def->mesh, tet_of, &volume);
        } else {
            status = pli_voxel_fill_surface(v, def->mesh, &volume, err);
        }
        if (status == PLI_OK) status = number_cells(v);
        if (status == PLI_OK && v->cell_count == 0)
            status = pli_refuse(
                err, PLI_BAD_MESH,
                "no voxel of size %g has its centre inside the mesh: the body is empty or thinner than a voxel", h);
        if (status == PLI_OK) status = set_factors(v, def, tet_of, err);
        if (status == PLI_OK) {
            v->fill = volume / (h * h * h * v->cell_count);
            if (!(v->fill > 0.2 && v->fill < 5.0))
                status = pli_refuse(
                    err, PLI_BAD_MESH,
                    "the voxels hold %.3g times less volume than the mesh: choose a voxel smaller than %g", v->fill, h);
        }
        if (status == PLI_OK) status = finish(v);
        PLI_FREE(host, tet_of, v->lattice_cells);
    }
    if (status == PLI_OUT_OF_MEMORY)
        pli_refuse(err, PLI_OUT_OF_MEMORY, "there is no memory for a grid of %u x %u x %u voxels", size[0], size[1],
                   size[2]);
    if (status != PLI_OK) {
        pli_voxels_destroy(v);
        return NULL;
    }
    return v;
}
