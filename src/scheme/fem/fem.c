/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Uniform linear tetrahedra on one mesh: the reference, and the simplest scheme there can be. Everything is always active.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/elastic.h"
#include "mesh/loose.h"

typedef struct Fem {
    PliIndex n, tet_count, tri_count;
    double *rest, *mass, *volume;
    uint8_t *level;
    PliIndex *tets, *all, *element, *tris, *first; ///< all: 0 .. n, also the columns of the identity
    double *one;
    PliTetRest *tet_rest;
    PliLocator *locator;
    PliIndex *surface_dof; ///< skin point -> node
    double *surface_points;
    PliIndex surface_count;
} Fem;

static void fem_destroy(void *self, const PliHost *host)
{
    Fem *f = self;
    if (!f) return;
    PLI_FREE(host, f->rest, 3 * (size_t)f->n);
    PLI_FREE(host, f->mass, f->n);
    PLI_FREE(host, f->volume, f->tet_count);
    PLI_FREE(host, f->level, f->n);
    PLI_FREE(host, f->tets, 4 * (size_t)f->tet_count);
    PLI_FREE(host, f->all, f->n);
    PLI_FREE(host, f->element, f->tet_count);
    PLI_FREE(host, f->tris, 3 * (size_t)f->tri_count);
    PLI_FREE(host, f->first, (size_t)f->n + 1);
    PLI_FREE(host, f->one, f->n);
    PLI_FREE(host, f->tet_rest, f->tet_count);
    PLI_FREE(host, f->surface_points, 3 * (size_t)f->surface_count);
    PLI_FREE(host, f->surface_dof, f->n);
    pli_locator_destroy(f->locator);
    PLI_FREE(host, f, 1);
}

static void fem_reset(void *self) { (void)self; }

static void fem_cut(void *self, PliCut *cut)
{
    const Fem *f = self;
    cut->active = f->all;
    cut->active_count = f->n;
    cut->mass = f->mass;
    cut->element = f->element;
    cut->element_count = f->tet_count;
    cut->volume = f->volume;
}

static PliRows fem_levels(void *self)
{
    const Fem *f = self;
    return (PliRows){ f->first, f->all, f->one, f->n, f->n };
}

static PliIndex fem_locate(void *self, const double point[3], PliIndex *column, double *weight, PliIndex capacity)
{
    const Fem *f = self;
    PliIndex tet;
    if (capacity < 4) return 0;
    pli_locator_find(f->locator, point, &tet, weight);
    memcpy(column, f->tets + 4 * (size_t)tet, 4 * sizeof *column);
    return 4;
}

static bool fem_is_valid(const void *self, PliError *err)
{
    (void)self;
    (void)err;
    return true;
}

static const PliSchemeOps fem_ops = {
    .density_by_place = true,
    .name = "fem",
    .destroy = fem_destroy,
    .reset = fem_reset,
    .cut = fem_cut,
    .transfer = fem_levels,
    .locate = fem_locate,
    .is_valid = fem_is_valid,
};

static bool fem_alloc(Fem *f, const PliHost *host, const PliMesh *mesh)
{
    const size_t n = mesh->point_count, tets = mesh->tet_count;
    f->n = mesh->point_count;
    f->tet_count = mesh->tet_count;
    f->rest = PLI_NEW(host, 3 * n, double);
    f->mass = PLI_NEW(host, n, double);
    f->volume = PLI_NEW(host, tets, double);
    f->level = PLI_NEW(host, n, uint8_t);
    f->tets = PLI_NEW(host, 4 * tets, PliIndex);
    f->all = PLI_NEW(host, n, PliIndex);
    f->element = PLI_NEW(host, tets, PliIndex);
    f->first = PLI_NEW(host, n + 1, PliIndex);
    f->one = PLI_NEW(host, n, double);
    f->tet_rest = PLI_NEW(host, tets, PliTetRest);
    f->surface_dof = PLI_NEW(host, n, PliIndex);
    f->locator = pli_locator_create(host, mesh->x, mesh->point_count, mesh->tets, mesh->tet_count);
    return f->rest && f->mass && f->volume && f->level && f->tets && f->all && f->element && f->first && f->one &&
           f->tet_rest && f->surface_dof && f->locator;
}

// boundary triangles renumbered to the points they use
static bool fem_surface(Fem *f, const PliHost *host, const PliMesh *mesh)
{
    PliMesh copy = *mesh; // find_surface replaces tris: of a copy that owns nothing else
    copy.host = *host;
    copy.tris = NULL;
    copy.tri_count = 0;
    if (pli_mesh_find_surface(&copy) != PLI_OK) return false;
    f->tris = copy.tris;
    f->tri_count = copy.tri_count;
    memset(f->surface_dof, 0xff, f->n * sizeof *f->surface_dof);
    for (size_t i = 0; i < 3 * (size_t)f->tri_count; ++i)
        if (f->surface_dof[f->tris[i]] == PLI_NONE) f->surface_dof[f->tris[i]] = f->surface_count++;
    f->surface_points = PLI_NEW(host, 3 * (size_t)f->surface_count, double);
    if (!f->surface_points) return false;
    for (PliIndex i = 0; i < f->n; ++i)
        if (f->surface_dof[i] != PLI_NONE)
            memcpy(f->surface_points + 3 * (size_t)f->surface_dof[i], mesh->x + 3 * (size_t)i, 3 * sizeof(double));
    for (size_t i = 0; i < 3 * (size_t)f->tri_count; ++i) f->tris[i] = f->surface_dof[f->tris[i]];
    return true;
}

static PliBody *create(const PliHost *host, const PliFemDef *def, const PliMesh *mesh, PliError *err)
{
    if (pli_mesh_check_tets(mesh, 0.0, err) != PLI_OK) return NULL;
    Fem *f = PLI_NEW(host, 1, Fem);
    if (!f || !fem_alloc(f, host, mesh) || !fem_surface(f, host, mesh)) {
        fem_destroy(f, host);
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a mesh of %u points", mesh->point_count);
        return NULL;
    }
    memcpy(f->rest, mesh->x, 3 * (size_t)f->n * sizeof *f->rest);
    memcpy(f->tets, mesh->tets, 4 * (size_t)f->tet_count * sizeof *f->tets);
    PliIndex bad;
    if (pli_tet_rest(f->tets, f->tet_count, f->rest, f->tet_rest, &bad) != PLI_OK) {
        fem_destroy(f, host);
        pli_refuse(err, PLI_BAD_MESH, "tetrahedron %u is flat or inverted", bad);
        return NULL;
    }
    for (PliIndex i = 0; i < f->n; ++i) f->all[i] = i, f->first[i] = i, f->one[i] = 1.0;
    f->first[f->n] = f->n;
    for (PliIndex e = 0; e < f->tet_count; ++e) {
        f->element[e] = e;
        f->volume[e] = f->tet_rest[e].volume;
        double density = def->base.material.density;
        if (def->base.dense_region_count)
            density *= pli_body_def_tet_mean(&def->base, pli_body_def_density, f->rest, f->tets + 4 * (size_t)e);
        for (int k = 0; k < 4; ++k) f->mass[f->tets[4 * (size_t)e + k]] += 0.25 * density * f->volume[e];
    }
    PliSchemeStatic fixed = {
        .dof_count = f->n,
        .rest = f->rest,
        .dof_level = f->level,
        .level_count = 1,
        .tets = f->tets,
        .tet_rest = f->tet_rest,
        .tet_count = f->tet_count,
        .active_capacity = f->n,
        .element_capacity = f->tet_count,
        .surface_points = f->surface_points,
        .surface_point_count = f->surface_count,
        .surface_tris = f->tris,
        .surface_tri_count = f->tri_count,
        .sparse_contact = def->sparse_contact,
    };
    return pli_body_create(host, &def->base, &fem_ops, f, &fixed, err);
}

PliBody *pli_fem_create(const PliHost *host, const PliFemDef *def, PliError *err)
{
    if (pli_body_def_check(&def->base, err) != PLI_OK) return NULL;
    if (!def->mesh || def->mesh->tet_count == 0) {
        pli_refuse(err, PLI_BAD_MESH, "the mesh has no tetrahedra");
        return NULL;
    }
    PliMesh *tight;
    if (pli_mesh_leave_loose(host, def->mesh, "fem", &tight, err) != PLI_OK) return NULL;
    PliBody *body = create(host, def, tight ? tight : def->mesh, err);
    pli_mesh_destroy(tight);
    return body;
}
