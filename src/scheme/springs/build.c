/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// From the mesh of a host to a pyramid with masses and springs.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/springs/remesh.h"
#include "scheme/springs/springs.h"

/// The points that triangles of the boundary use, numbered in the order they appear.
static PliStatus take_boundary(const PliHost *host, const PliMesh *mesh, PliSurface *out, PliError *err)
{
    PliMesh copy = *mesh; // find_surface replaces tris: of a copy that owns nothing else
    copy.host = *host;
    copy.tris = NULL, copy.tri_count = 0;
    PliIndex *number = PLI_NEW(host, mesh->point_count, PliIndex), used = 0;
    PliStatus status = PLI_OUT_OF_MEMORY;
    *out = (PliSurface){ 0 };
    if (!number || pli_mesh_find_surface(&copy) != PLI_OK) goto done;
    memset(number, 0xff, mesh->point_count * sizeof *number);
    for (size_t k = 0; k < 3 * (size_t)copy.tri_count; ++k)
        if (number[copy.tris[k]] == PLI_NONE) number[copy.tris[k]] = used++;
    double *x = PLI_NEW(host, 3 * (size_t)used, double);
    PliIndex *tris = PLI_NEW(host, 3 * (size_t)copy.tri_count, PliIndex);
    *out = (PliSurface){ x, tris, used, copy.tri_count };
    if (!x || !tris) goto done;
    for (PliIndex i = 0; i < mesh->point_count; ++i)
        if (number[i] != PLI_NONE) v3_copy(x + 3 * (size_t)number[i], mesh->x + 3 * (size_t)i);
    for (size_t k = 0; k < 3 * (size_t)copy.tri_count; ++k) tris[k] = number[copy.tris[k]];
    status = PLI_OK;
done:
    PLI_FREE(host, number, mesh->point_count);
    PLI_FREE(host, copy.tris, 3 * (size_t)copy.tri_count);
    return status == PLI_OK ? status
                            : pli_refuse(err, status, "no memory for the surface of %u tetrahedra", mesh->tet_count);
}

/// Triangles, and quads cut in two.
static PliStatus take_triangles(const PliHost *host, const PliMesh *mesh, PliSurface *out, PliError *err)
{
    const PliIndex count = mesh->tri_count + 2 * mesh->quad_count;
    double *x = PLI_NEW(host, 3 * (size_t)mesh->point_count, double);
    PliIndex *tris = PLI_NEW(host, 3 * (size_t)count, PliIndex);
    *out = (PliSurface){ x, tris, mesh->point_count, count };
    if (!x || !tris) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u triangles", count);
    memcpy(x, mesh->x, 3 * (size_t)mesh->point_count * sizeof *x);
    if (mesh->tri_count) memcpy(tris, mesh->tris, 3 * (size_t)mesh->tri_count * sizeof *tris);
    for (PliIndex q = 0; q < mesh->quad_count; ++q) {
        const PliIndex *c = mesh->quads + 4 * (size_t)q;
        PliIndex *t = tris + 3 * (size_t)(mesh->tri_count + 2 * q);
        t[0] = c[0], t[1] = c[1], t[2] = c[2], t[3] = c[0], t[4] = c[2], t[5] = c[3];
    }
    return PLI_OK;
}

static double volume_of(const double *x, const PliIndex *tris, PliIndex count)
{
    const PliSpringForce f = { .tri = tris, .tri_count = count };
    return pli_springs_volume(&f, x);
}

/// The surface as a mesh, closed unless it may be open, its outside outside.
static PliWinged *check_surface(PliSprings *s, PliSurface *surface, PliError *err)
{
    for (size_t k = 0; k < 3 * (size_t)surface->point_count; ++k)
        if (!isfinite(surface->x[k])) {
            pli_refuse(err, PLI_BAD_MESH, "springs: point %zu is not finite", k / 3);
            return NULL;
        }
    if (pli_winged_orient(&s->host, surface->point_count, (PliIndex *)surface->tris, surface->tri_count, err) != PLI_OK)
        return NULL;
    PliWinged *m = pli_winged_create(&s->host, surface->point_count, surface->tris, surface->tri_count, err);
    if (!m) return NULL;
    if (m->border_count && !s->def.open) {
        PliIndex e = 0;
        while (m->edge[e].right != PLI_NONE) ++e;
        pli_refuse(err, PLI_BAD_MESH,
                   "springs: the surface is open, the edge of points %u and %u and %u others have one triangle; set "
                   "open for cloth",
                   m->edge[e].start, m->edge[e].end, m->border_count - 1);
        pli_winged_destroy(m);
        return NULL;
    }
    if (m->border_count || volume_of(surface->x, surface->tris, surface->tri_count) > 0.0) return m;
    PliIndex *tris = (PliIndex *)surface->tris; // inside out: turn every triangle
    for (PliIndex t = 0; t < surface->tri_count; ++t) {
        const PliIndex second = tris[3 * (size_t)t + 1];
        tris[3 * (size_t)t + 1] = tris[3 * (size_t)t + 2], tris[3 * (size_t)t + 2] = second;
    }
    pli_winged_destroy(m);
    return pli_winged_create(&s->host, surface->point_count, surface->tris, surface->tri_count, err);
}

/// Of a create function that returned NULL.
static PliStatus why(const PliError *err) { return err ? err->status : PLI_BAD_MESH; }

static PliStatus make_pyramid(PliSprings *s, PliSurface *surface, PliError *err)
{
    PliWinged *m = check_surface(s, surface, err);
    if (!m) return why(err);
    if (s->def.base_points == 0 || s->def.base_points >= surface->point_count) {
        s->pyramid = pli_pyramid_create(&s->host, m, surface->x, s->def.levels, err);
        return s->pyramid ? PLI_OK : why(err);
    }
    pli_winged_destroy(m);
    PliSurface base;
    PliStatus status = pli_remesh_base(&s->host, surface, s->def.base_points, &base, err);
    if (status != PLI_OK) return status;
    m = pli_winged_create(&s->host, base.point_count, base.tris, base.tri_count, err);
    if (m) s->pyramid = pli_pyramid_create(&s->host, m, base.x, s->def.levels, err);
    pli_surface_free(&s->host, &base);
    if (!s->pyramid) return why(err);
    status = pli_remesh_fit(s->pyramid, surface, err);
    if (status != PLI_OK) return status;
    const PliWinged *fine = s->pyramid->mesh[s->def.levels];
    const PliSurface finest = { s->pyramid->rest, fine->corner, fine->vertex_count, fine->face_count };
    s->info.distance = pli_surface_distance(&s->host, surface, &finest);
    return s->info.distance >= 0.0 ? PLI_OK : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to compare surfaces");
}

static double area_of(const double *x, const PliIndex *c)
{
    double u[3], v[3], n[3];
    v3_sub(u, x + 3 * (size_t)c[1], x + 3 * (size_t)c[0]);
    v3_sub(v, x + 3 * (size_t)c[2], x + 3 * (size_t)c[0]);
    v3_cross(n, u, v);
    return 0.5 * v3_norm(n);
}

/// What a triangle adds to the springs on its sides: young x thickness x area / length^2 (Van Gelder), which for regular triangles
/// is a membrane of that modulus whatever their size. Slivers are held to the stiffness of triangles that are not.
static double side_stiffness(const PliSprings *s, const PliIndex *c, int side)
{
    const double *x = s->pyramid->rest,
                 length = v3_distance(x + 3 * (size_t)c[side], x + 3 * (size_t)c[(side + 1) % 3]);
    const double share = area_of(x, c) / (length * length);
    return s->def.base.material.young * s->info.thickness * fmin(fmax(share, 0.05), 1.5);
}

static PliStatus make_cut(PliSprings *s, PliError *err)
{
    const PliPyramid *p = s->pyramid;
    const PliWinged *fine = p->mesh[p->level_count - 1], *base = p->mesh[0];
    const PliMaterial *material = &s->def.base.material;
    double *mass = PLI_NEW(&s->host, p->vertex_count, double),
           *stiffness = PLI_NEW(&s->host, 3 * (size_t)base->face_count, double);
    PliStatus status = PLI_OK;
    if (!mass || !stiffness) {
        status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u vertices", p->vertex_count);
        goto done;
    }
    for (PliIndex f = 0; f < fine->face_count; ++f) {
        const double area = area_of(p->rest, fine->corner + 3 * (size_t)f);
        s->info.area += area;
        for (int k = 0; k < 3; ++k) mass[fine->corner[3 * (size_t)f + (size_t)k]] += area / 3.0;
    }
    for (int l = 0; l < p->level_count; ++l) s->spacing[l] = sqrt(s->info.area / p->mesh[l]->vertex_count);
    s->info.volume = fine->border_count ? 0.0 : volume_of(p->rest, fine->corner, fine->face_count);
    if (!fine->border_count && !(s->info.volume > 0.0)) {
        status = pli_refuse(err, PLI_BAD_MESH, "springs: the surface holds a volume of %g m3", s->info.volume);
        goto done;
    }
    s->info.thickness = s->def.thickness > 0.0 ? s->def.thickness : s->info.volume / s->info.area;
    s->info.mass = material->density * (fine->border_count ? s->info.thickness * s->info.area : s->info.volume);
    for (PliIndex v = 0; v < p->vertex_count; ++v) mass[v] *= s->info.mass / s->info.area;
    for (PliIndex f = 0; f < base->face_count; ++f)
        for (int k = 0; k < 3; ++k) {
            stiffness[3 * (size_t)f + (size_t)k] = side_stiffness(s, base->corner + 3 * (size_t)f, k);
            s->stiffness += stiffness[3 * (size_t)f + (size_t)k] / base->edge_count;
        }
    s->cut = pli_springs_cut_create(&s->host, p, stiffness, mass);
    if (!s->cut) status = pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u vertices", p->vertex_count);
done:
    PLI_FREE(&s->host, mass, p->vertex_count);
    PLI_FREE(&s->host, stiffness, 3 * (size_t)base->face_count);
    return status;
}

PliStatus pli_springs_build(PliSprings *s, const PliMesh *mesh, PliError *err)
{
    PliSurface surface;
    PliStatus status = mesh->tet_count > 0 ? take_boundary(&s->host, mesh, &surface, err)
                                           : take_triangles(&s->host, mesh, &surface, err);
    if (status == PLI_OK) status = make_pyramid(s, &surface, err);
    pli_surface_free(&s->host, &surface);
    if (status == PLI_OK) status = make_cut(s, err);
    if (status != PLI_OK) return status;
    const PliPyramid *p = s->pyramid;
    const PliWinged *fine = p->mesh[p->level_count - 1];
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (size_t k = 0; k < 3 * (size_t)p->vertex_count; ++k)
        lo[k % 3] = fmin(lo[k % 3], p->rest[k]), hi[k % 3] = fmax(hi[k % 3], p->rest[k]);
    s->size = v3_distance(lo, hi);
    s->info.base_points = p->mesh[0]->vertex_count, s->info.fine_points = p->vertex_count;
    s->tree = pli_triangle_tree_create(&s->host, p->rest, p->vertex_count, fine->corner, fine->face_count);
    if (!s->tree) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u triangles", fine->face_count);
    pli_triangle_tree_refit(s->tree, p->rest);
    return PLI_OK;
}
