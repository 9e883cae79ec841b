/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesher/make.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <pliant/body.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesher/gmsh.h"
#include "mesher/lattice.h"
#include "mesher/remesh.h"
#include "surface/triangle_tree.h"

PliMesherDef pli_mesher_default(void) { return (PliMesherDef){ .levels = 3, .nodes = 3000, .ratio = 1.8 }; }

void pli_made_free(PliMade *made)
{
    for (int l = 0; l < PLI_MESHER_LEVELS; ++l) pli_mesh_destroy(made->mesh[l]);
    if (made->thickness) PLI_FREE(&made->host, made->thickness, made->surface_points);
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

/// What every mesh must be, however it was made. Destroys it when it is not. NULL: why.
static PliMesh *check_mesh(PliMesh *m, const PliMesh *surface, double size, PliError *err)
{
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

/// Departure of `skin` is small enough, or: why not.
static bool stays_near(const PliHost *host, const PliMesh *surface, const double *thickness, const PliMesh *skin,
                       double size, PliError *err)
{
    const double off = departure(host, surface, thickness, skin, 0.3 * size);
    if (off <= 0.4) return true;
    pli_refuse(err, PLI_BAD_MESH, "with sides of %.4g m the surface is off by %.2g of the body's thickness", size, off);
    return false;
}

/// Surface, then inside. NULL: this size does not work, and why.
static PliMesh *try_gmsh(const PliHost *host, const PliMesh *surface, const double *thickness, double size,
                         const double *limit, int algorithm, const char *folder, const char *name, PliError *err)
{
    PliMesh *skin = pli_surface_remesh(host, surface, size, limit);
    if (!skin) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a surface with sides of %g", size);
        return NULL;
    }
    double at[3];
    PliMesh *m = NULL;
    const PliIndex crossings = pli_surface_crossings(host, skin, at);
    if (crossings)
        pli_refuse(err, PLI_BAD_MESH,
                   "with sides of %.4g m %u triangles of the surface cut others, the first at (%.4g %.4g %.4g)", size,
                   crossings, at[0], at[1], at[2]);
    else if (stays_near(host, surface, thickness, skin, size, err))
        m = pli_gmsh_fill(host, skin, algorithm, folder, name, err);
    pli_gmsh_remove_scratch(folder, name);
    pli_mesh_destroy(skin);
    return check_mesh(m, surface, size, err);
}

/// What of the surface is further from the skin than the tetrahedra's sides.
typedef struct Lost {
    double part; ///< of the area
    double by;   ///< m, largest distance; NaN: no memory
} Lost;

static const double near_enough = 0.8; // of a side
static const double small_part = 0.03, small_reach = 5.0;

static Lost missing(const PliHost *host, const PliMesh *surface, const PliMesh *skin, double size)
{
    Lost lost = { 0.0, NAN };
    PliTriangleTree *tree = pli_triangle_tree_create(host, skin->x, skin->point_count, skin->tris, skin->tri_count);
    if (!tree) return lost;
    pli_triangle_tree_refit(tree, skin->x);
    lost.by = 0.0;
    double whole = 0.0;
    for (PliIndex t = 0; t < surface->tri_count; ++t) {
        const PliIndex *c = surface->tris + 3 * (size_t)t;
        double u[3], v[3], n[3], middle[3] = { 0.0, 0.0, 0.0 };
        v3_sub(u, surface->x + 3 * (size_t)c[1], surface->x + 3 * (size_t)c[0]);
        v3_sub(v, surface->x + 3 * (size_t)c[2], surface->x + 3 * (size_t)c[0]);
        v3_cross(n, u, v);
        for (int k = 0; k < 3; ++k) v3_madd(middle, 1.0 / 3.0, surface->x + 3 * (size_t)c[k]);
        const double far = pli_triangle_tree_distance(tree, middle, INFINITY);
        lost.by = fmax(lost.by, far);
        lost.part += far > near_enough * size ? v3_norm(n) : 0.0;
        whole += v3_norm(n);
    }
    lost.part /= whole;
    pli_triangle_tree_destroy(tree);
    return lost;
}

/// For surfaces that have no even triangles of this size: parts that nearly touch, or are bent too sharply. Edges and ends may be
/// rounded, and tips that are thinner than the sides left out where that is allowed, but no more than a few hundredths of the surface.
static PliMesh *try_lattice(const PliHost *host, const PliMesh *surface, double size, bool may_lose, Lost *lost,
                            PliError *err)
{
    PliMesh *m = check_mesh(pli_lattice_fill(host, surface, size, err), surface, size, err);
    if (!m) return NULL;
    *lost = missing(host, surface, m, size);
    if (lost->by <= near_enough * size || (may_lose && lost->part <= small_part && lost->by <= small_reach * size)) {
        if (lost->by <= near_enough * size) lost->part = 0.0;
        return m;
    }
    pli_refuse(err, isnan(lost->by) ? PLI_OUT_OF_MEMORY : PLI_BAD_MESH,
               "with sides of %.4g m a part of the surface %.4g m away from the rest is lost", size, lost->by);
    pli_mesh_destroy(m);
    return NULL;
}

static void note_lost(PliMade *made, int l, Lost lost) { made->lost[l] = lost.part, made->lost_by[l] = lost.by; }

/// Enough nodes after the level before, or: destroyed, and why.
static PliMesh *check_count(PliMesh *m, int l, const PliMade *made, PliError *err)
{
    if (!m || l == 0 || m->point_count >= 1.25 * made->mesh[l - 1]->point_count) return m;
    pli_refuse(err, PLI_BAD_MESH, "level %d would have %u nodes after %u in level %d", l, m->point_count,
               made->mesh[l - 1]->point_count, l - 1);
    pli_mesh_destroy(m);
    return NULL;
}

typedef struct Work {
    const PliHost *host;
    const PliMesh *surface;
    const PliMesherDef *def;
    const char *folder;
    double *thickness, *limit;
    int rank;        ///< of the level among those asked for; the last one is the finest
    double *coarser; ///< m, sides of the level before at each point of the surface
} Work;

enum { ATTEMPTS = 9 };
// times as many nodes as were asked for, which thin places may need, and a number that is never too many: beyond them it is not the body
// that was asked for, and a comparison of it may take hours
static const double most_times = 8.0, few_nodes = 10000.0;

static const double finer_by = 1.25;

/// A level with so many nodes is still what was asked for, or: why not.
static bool is_wanted(const Work *w, int l, double nodes, const PliError *last, PliError *err)
{
    if (w->def->size > 0.0 || nodes <= fmax(most_times * w->def->nodes, few_nodes)) return true;
    pli_refuse(err, PLI_BAD_ARGUMENT,
               "level %d needs some %.0f nodes where %u were asked for (--nodes): the body has thin places%s%.250s", l,
               nodes, w->def->nodes, last->status ? "; " : "", last->status ? last->text : "");
    return false;
}

/// One mesh of level l with sides of `size`, by gmsh or else from a lattice. NULL: why.
static PliMesh *try_size(const Work *w, int l, double size, double part, int good, const PliMade *made,
                         PliMethod *method, Lost *lost, PliError *why, PliError *err)
{
    char name[32];
    snprintf(name, sizeof name, "gmsh_%d", l);
    // thin places have finer triangles, on coarse levels less so; never much finer than the level
    const double coarseness = fmin(pow(w->def->ratio, w->def->levels - 1 - w->rank), 2.0);
    limit_sizes(w->surface, w->thickness, 1.2 * coarseness * part, 0.4 * size, w->limit);
    for (PliIndex p = 0; l > 0 && p < w->surface->point_count; ++p)
        w->limit[p] = fmin(w->limit[p], w->coarser[p] / finer_by); // a coarse level is coarser everywhere
    *method = PLI_MADE_BY_GMSH;
    *lost = (Lost){ 0.0, 0.0 };
    PliMesh *m = try_gmsh(w->host, w->surface, w->thickness, size, w->limit, good == 1 ? 10 : 1, w->folder, name, err);
    m = check_count(m, l, made, err);
    *why = *err;
    if (m || err->status != PLI_BAD_MESH || good) return m;
    *method = PLI_MADE_BY_LATTICE;
    return check_count(try_lattice(w->host, w->surface, size, part < 1.0, lost, err), l, made, err);
}

/// Slivers that gmsh leaves cost steps; a lattice has none, and rounds edges.
static PliStatus replace_slivers(const Work *w, int l, PliMade *made, PliError *err)
{
    const double cost = pli_quality_cost(&made->quality[l]);
    if (made->method[l] != PLI_MADE_BY_GMSH || cost < 1.5) return PLI_OK;
    Lost lost = { 0.0, 0.0 };
    PliMesh *m = check_count(try_lattice(w->host, w->surface, made->size[l], false, &lost, err), l, made, err);
    PliQuality q;
    if (!m) return err->status == PLI_OUT_OF_MEMORY ? err->status : PLI_OK;
    if (!pli_quality_find(w->host, m, &q) || pli_quality_cost(&q) > 1.2) {
        pli_mesh_destroy(m);
        return PLI_OK;
    }
    pli_refuse(&made->why[l], PLI_BAD_MESH, "gmsh left %u slivers, which force %.1f times as many steps",
               made->quality[l].slivers, cost);
    pli_mesh_destroy(made->mesh[l]);
    made->mesh[l] = m, made->quality[l] = q, made->method[l] = PLI_MADE_BY_LATTICE;
    return PLI_OK;
}

/// Sides of the level that was made, for the next one.
static void note_sizes(const Work *w, const PliMade *made, int l)
{
    for (PliIndex p = 0; p < w->surface->point_count; ++p)
        w->coarser[p] = made->method[l] == PLI_MADE_BY_LATTICE ? made->size[l] : fmin(made->size[l], w->limit[p]);
}

static PliStatus make_level(const Work *w, int l, double wanted, PliMade *made, PliError *err)
{
    double size = l > 0 ? fmin(wanted, made->size[l - 1] / finer_by) : wanted;
    const double first = size;
    int good = 0;
    PliError last = { PLI_OK, "" };
    for (int attempt = 0; attempt < ATTEMPTS && good < 3; ++attempt) {
        if (w->def->stopped && w->def->stopped())
            return pli_refuse(err, PLI_BAD_FILE, "stopped while making level %d", l);
        const double nodes = expected_nodes(pli_surface_area(w->surface), pli_surface_volume(w->surface), size);
        if (!good && !is_wanted(w, l, nodes, &last, err)) return err->status;
        PliMethod method;
        PliError why;
        Lost lost;
        PliMesh *m = try_size(w, l, size, size / first, good, made, &method, &lost, &why, err);
        if (!m && err->status != PLI_BAD_MESH && err->status != PLI_BAD_ARGUMENT) return err->status;
        // what works is tried again while slivers are left, by another algorithm, then with nearly the same size; the best is kept
        const double tried = size;
        size *= !m ? 0.8 : good == 1 ? 0.97 : 1.0;
        if (!m && good) break; // far more nodes are worse than slivers
        if (!m) last = *err;
        if (!m) continue;
        if (!good && !is_wanted(w, l, m->point_count, method == PLI_MADE_BY_GMSH ? &last : &why, err)) {
            pli_mesh_destroy(m);
            return err->status;
        }
        PliQuality q;
        if (!pli_quality_find(w->host, m, &q)) {
            pli_mesh_destroy(m);
            return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to judge the tetrahedra of level %d", l);
        }
        if (good++ == 0 || pli_quality_cost(&q) < pli_quality_cost(&made->quality[l])) {
            pli_mesh_destroy(made->mesh[l]);
            made->mesh[l] = m, made->quality[l] = q, made->size[l] = tried, made->levels = l + 1;
            made->method[l] = method, made->why[l] = method == PLI_MADE_BY_GMSH ? (PliError){ 0 } : why;
            note_lost(made, l, lost);
        } else {
            pli_mesh_destroy(m);
        }
        if (q.slivers == 0 || method != PLI_MADE_BY_GMSH) break; // the lattice would be the same again
    }
    if (good) {
        const PliStatus status = replace_slivers(w, l, made, err);
        note_sizes(w, made, l);
        return status;
    }
    const PliError why = *err;
    return pli_refuse(err, PLI_BAD_MESH, "level %d could not be made in %d attempts; the last: %.250s", l, ATTEMPTS,
                      why.text);
}

static void count_warning(PliLogLevel level, const char *text, void *user)
{
    (void)text;
    if (level != PLI_LOG_INFO) ++*(PliIndex *)user;
}

/// The body itself is the judge of levels, `without` one of them (PLI_MESHER_LEVELS: with all).
static PliStatus check_fit(PliMade *made, int without, PliError *err)
{
    PliHost quiet = pli_host_default();
    const PliMesh *level[PLI_MESHER_LEVELS];
    int count = 0;
    for (int l = 0; l < made->levels; ++l)
        if (l != without) level[count++] = made->mesh[l];
    made->repairs = 0;
    quiet.user = &made->repairs; // malloc does not look at it
    quiet.log = count_warning;
    PliTetLodDef def = pli_tetlod_default();
    def.levels = level;
    def.level_count = count;
    PliBody *body = pli_tetlod_create(&quiet, &def, err);
    if (!body) return err->status;
    pli_body_destroy(body);
    return PLI_OK;
}

/// Levels that do not fit are left out, one at a time; the finest is the body and stays.
static PliStatus make_fit(PliMade *made, PliError *err)
{
    PliStatus status = check_fit(made, PLI_MESHER_LEVELS, err);
    while (status == PLI_BAD_MESH && made->levels > 1) {
        const PliError why = *err;
        int out = 0;
        for (; out < made->levels - 1; ++out)
            if (check_fit(made, out, err) == PLI_OK) break;
        if (out == made->levels - 1) out = 0; // none alone: the coarsest goes first
        pli_mesh_destroy(made->mesh[out]);
        made->levels--, made->left_out++, made->left_out_why = why;
        for (int l = out; l < made->levels; ++l) {
            made->mesh[l] = made->mesh[l + 1], made->quality[l] = made->quality[l + 1];
            made->size[l] = made->size[l + 1], made->method[l] = made->method[l + 1], made->why[l] = made->why[l + 1];
            made->lost[l] = made->lost[l + 1], made->lost_by[l] = made->lost_by[l + 1];
        }
        made->mesh[made->levels] = NULL;
        status = check_fit(made, PLI_MESHER_LEVELS, err);
    }
    return status;
}

/// Sides of `wanted` are finer than those of the level before, which had to be finer than it was asked to.
static bool is_finer(const PliMade *made, double wanted)
{
    return made->levels == 0 || wanted * finer_by <= made->size[made->levels - 1];
}

static void leave_out(PliMade *made, double wanted)
{
    made->left_out++;
    pli_refuse(&made->left_out_why, PLI_BAD_MESH, "sides of %.4g m are no finer than the %.4g m that level %d needs",
               wanted, made->size[made->levels - 1], made->levels - 1);
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
    PliStatus status = pli_gmsh_probe(host, folder, err);
    if (status != PLI_OK) return status;
    const PliIndex n = surface->point_count;
    Work w = { .host = host, .surface = surface, .def = def, .folder = folder };
    w.thickness = PLI_NEW(host, n, double), w.limit = PLI_NEW(host, n, double), w.coarser = PLI_NEW(host, n, double);
    if (status == PLI_OK &&
        (!w.thickness || !w.limit || !w.coarser || !pli_surface_thickness(host, surface, w.thickness)))
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a surface of %u points", n);
    const double finest = def->size > 0.0 ? def->size : size_for(surface, def->nodes);
    for (int l = 0; l < def->levels && status == PLI_OK; ++l) {
        const double wanted = finest * pow(def->ratio, def->levels - 1 - l);
        char what[64];
        w.rank = l;
        snprintf(what, sizeof what, "level %d of %d", l, def->levels);
        if (def->progress) def->progress(l, def->levels + 1, what);
        if (l < def->levels - 1 && !is_finer(made, wanted))
            leave_out(made, wanted);
        else
            status = make_level(&w, made->levels, wanted, made, err);
    }
    if (def->progress) def->progress(def->levels, def->levels + 1, "do the levels fit?");
    if (status == PLI_OK) status = make_fit(made, err);
    if (def->progress) def->progress(0, 0, NULL);
    made->thickness = w.thickness, made->surface_points = n, made->host = *host;
    PLI_FREE(host, w.limit, n);
    PLI_FREE(host, w.coarser, n);
    if (status != PLI_OK) pli_made_free(made);
    return status;
}
