/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesher/make.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <pliant/body.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesher/gmsh.h"
#include "mesher/remesh.h"
#include "surface/triangle_tree.h"

PliMesherDef pli_mesher_default(void) { return (PliMesherDef){ .levels = 3, .nodes = 3000, .ratio = 1.8 }; }

void pli_made_free(PliMade *made)
{
    for (int l = 0; l < PLI_MESHER_LEVELS; ++l) pli_mesh_destroy(made->mesh[l]);
    *made = (PliMade){ 0 };
}

/// Nodes of even tetrahedra with sides of `size`: one for each 0.87 size^2 of the surface, and for each 0.7 size^3 further inside.
static double expected_nodes(double area, double volume, double size)
{
    return area / (0.87 * size * size) + fmax(0.0, volume - 0.5 * area * size) / (0.7 * size * size * size);
}

static double size_for(const PliMesh *surface, PliIndex nodes)
{
    const double area = pli_surface_area(surface), volume = pli_surface_volume(surface);
    double low = 1e-4 * sqrt(area), high = sqrt(area);
    for (int k = 0; k < 80; ++k) {
        const double middle = sqrt(low * high);
        if (expected_nodes(area, volume, middle) > nodes)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/// Sides at most `factor` of the body's thickness, growing by at most half the way along the surface.
static void limit_sizes(const PliMesh *s, const double *thickness, double factor, double floor, double *limit)
{
    for (PliIndex p = 0; p < s->point_count; ++p) limit[p] = fmax(factor * thickness[p], floor);
    for (int round = 0; round < 200; ++round) {
        bool changed = false;
        for (size_t i = 0; i < 3 * (size_t)s->tri_count; ++i) {
            const PliIndex a = s->tris[i], b = s->tris[i % 3 == 2 ? i - 2 : i + 1];
            const double most = limit[a] + 0.5 * v3_distance(s->x + 3 * (size_t)a, s->x + 3 * (size_t)b);
            if (!(limit[b] > 1.0001 * most)) continue;
            limit[b] = most;
            changed = true;
        }
        if (!changed) break;
    }
}

static void remove_scratch(const char *folder, const char *name)
{
    static const char *const kinds[] = { "stl", "geo", "msh", "log" };
    char path[1100];
    for (int k = 0; k < 4; ++k)
        if (snprintf(path, sizeof path, "%s/%s.%s", folder, name, kinds[k]) < (int)sizeof path) remove(path);
}

/// Largest distance of a middle of a triangle to the surface, over the thickness of the body there, taken as at least `least`.
/// NaN: no memory.
static double departure(const PliHost *host, const PliMesh *surface, const double *thickness, const PliMesh *skin,
                        double least)
{
    PliTriangleTree *tree =
        pli_triangle_tree_create(host, surface->x, surface->point_count, surface->tris, surface->tri_count);
    if (!tree) return NAN;
    pli_triangle_tree_refit(tree, surface->x);
    double worst = 0.0;
    for (PliIndex t = 0; t < skin->tri_count; ++t) {
        double p[3] = { 0.0, 0.0, 0.0 }, w[3], square = INFINITY, thin = INFINITY;
        for (size_t k = 0; k < 3; ++k) v3_madd(p, 1.0 / 3.0, skin->x + 3 * (size_t)skin->tris[3 * (size_t)t + k]);
        const PliIndex near = pli_triangle_tree_nearest(tree, p, &square, w);
        for (size_t k = 0; k < 3; ++k) thin = fmin(thin, thickness[surface->tris[3 * (size_t)near + k]]);
        worst = fmax(worst, sqrt(square) / fmax(thin, least));
    }
    pli_triangle_tree_destroy(tree);
    return worst;
}

/// Surface, then inside. NULL: this size does not work, and why.
static PliMesh *try_size(const PliHost *host, const PliMesh *surface, const double *thickness, double size,
                         const double *limit, int algorithm, const char *folder, const char *name, PliError *err)
{
    PliMesh *skin = pli_surface_remesh(host, surface, size, limit);
    if (!skin) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a surface with sides of %g", size);
        return NULL;
    }
    double at[3], off = 0.0;
    PliMesh *m = NULL;
    const PliIndex crossings = pli_surface_crossings(host, skin, at);
    if (crossings)
        pli_refuse(err, PLI_BAD_MESH,
                   "with sides of %.4g m %u triangles of the surface cut others, the first at (%.4g %.4g %.4g)", size,
                   crossings, at[0], at[1], at[2]);
    else if (!((off = departure(host, surface, thickness, skin, 0.3 * size)) <= 0.4))
        pli_refuse(err, PLI_BAD_MESH, "with sides of %.4g m the surface is off by %.2g of the body's thickness", size,
                   off);
    else
        m = pli_gmsh_fill(host, skin, algorithm, folder, name, err);
    remove_scratch(folder, name);
    pli_mesh_destroy(skin);
    if (!m) return NULL;
    const double whole = pli_surface_volume(surface), volume = pli_mesh_volume(m);
    if (fabs(volume / whole - 1.0) > 0.05)
        pli_refuse(err, PLI_BAD_MESH, "with sides of %.4g m the tetrahedra have %.3g of the volume of the surface",
                   size, volume / whole);
    else if (!pli_mesher_improve(m))
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u tetrahedra", m->tet_count);
    else
        return m;
    pli_mesh_destroy(m);
    return NULL;
}

static PliStatus make_level(const PliHost *host, const PliMesh *surface, const PliMesherDef *def,
                            const double *thickness, double *limit, int l, double wanted, const char *folder,
                            PliMade *made, PliError *err)
{
    char name[32];
    snprintf(name, sizeof name, "gmsh_%d", l);
    const double coarseness = fmin(pow(def->ratio, def->levels - 1 - l), 2.0);
    double size = wanted;
    int good = 0;
    for (int attempt = 0; attempt < 9 && good < 3; ++attempt) {
        // thin places have finer triangles, on coarse levels less so; never much finer than the level
        limit_sizes(surface, thickness, 1.2 * coarseness * size / wanted, 0.4 * size, limit);
        PliMesh *m = try_size(host, surface, thickness, size, limit, good == 1 ? 10 : 1, folder, name, err);
        if (!m && err->status != PLI_BAD_MESH) return err->status;
        if (m && l > 0 && m->point_count < 1.25 * made->mesh[l - 1]->point_count) {
            pli_refuse(err, PLI_BAD_MESH, "level %d would have %u nodes after %u in level %d", l, m->point_count,
                       made->mesh[l - 1]->point_count, l - 1);
            pli_mesh_destroy(m);
            m = NULL;
        }
        // what works is tried again while slivers are left, by another algorithm, then with nearly the same size; the best is kept
        const double tried = size;
        size *= !m ? 0.8 : good == 1 ? 0.97 : 1.0;
        if (!m) continue;
        PliQuality q;
        if (!pli_quality_find(host, m, &q)) {
            pli_mesh_destroy(m);
            return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to judge the tetrahedra of level %d", l);
        }
        if (good++ == 0 || pli_quality_cost(&q) < pli_quality_cost(&made->quality[l])) {
            pli_mesh_destroy(made->mesh[l]);
            made->mesh[l] = m, made->quality[l] = q, made->size[l] = tried, made->levels = l + 1;
        } else {
            pli_mesh_destroy(m);
        }
        if (q.slivers == 0) break;
    }
    if (good) return PLI_OK;
    const PliError why = *err;
    return pli_refuse(err, PLI_BAD_MESH, "level %d could not be made in 9 attempts; the last: %.250s", l, why.text);
}

static void count_warning(PliLogLevel level, const char *text, void *user)
{
    (void)text;
    if (level != PLI_LOG_INFO) ++*(PliIndex *)user;
}

/// The body itself is the judge of levels.
static PliStatus check_fit(const PliHost *host, PliMade *made, PliError *err)
{
    PliHost quiet = pli_host_default();
    (void)host;
    quiet.user = &made->repairs; // malloc does not look at it
    quiet.log = count_warning;
    PliTetLodDef def = pli_tetlod_default();
    def.levels = (const PliMesh *const *)made->mesh;
    def.level_count = made->levels;
    PliBody *body = pli_tetlod_create(&quiet, &def, err);
    if (!body) return err->status;
    pli_body_destroy(body);
    return PLI_OK;
}

PliStatus pli_mesher_make(const PliHost *host, const PliMesh *surface, const PliMesherDef *def, const char *folder,
                          PliMade *made, PliError *err)
{
    *made = (PliMade){ 0 };
    if (def->levels < 1 || def->levels > PLI_MESHER_LEVELS)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%d levels were asked for; 1 to %d can be made", def->levels,
                          PLI_MESHER_LEVELS);
    if (!(def->ratio >= 1.2 && def->ratio <= 4.0))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "the ratio of sizes must be 1.2 to 4, not %g", def->ratio);
    PliStatus status = pli_gmsh_find(err);
    if (status != PLI_OK) return status;
    double *thickness = PLI_NEW(host, surface->point_count, double),
           *limit = PLI_NEW(host, surface->point_count, double);
    if (!thickness || !limit || !pli_surface_thickness(host, surface, thickness))
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a surface of %u points", surface->point_count);
    const double finest = def->size > 0.0 ? def->size : size_for(surface, def->nodes);
    for (int l = 0; l < def->levels && status == PLI_OK; ++l) {
        char what[64];
        snprintf(what, sizeof what, "level %d of %d", l, def->levels);
        if (def->progress) def->progress(l, def->levels + 1, what);
        status = make_level(host, surface, def, thickness, limit, l, finest * pow(def->ratio, def->levels - 1 - l),
                            folder, made, err);
    }
    if (def->progress) def->progress(def->levels, def->levels + 1, "do the levels fit?");
    if (status == PLI_OK) status = check_fit(host, made, err);
    if (def->progress) def->progress(0, 0, NULL);
    PLI_FREE(host, thickness, surface->point_count);
    PLI_FREE(host, limit, surface->point_count);
    if (status != PLI_OK) pli_made_free(made);
    return status;
}
