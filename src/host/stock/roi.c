/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"
#include "host/stock/stock.h"

#include <string.h>

// Regions of interest: engines whose inputs are positions and cells, and whose outputs say what lies inside. Bounds count as
// inside, on rest positions unless the scene links others.

typedef struct Roi {
    double *shape;    ///< boxes, sorted: 6 numbers each
    double *oriented; ///< planes of oriented boxes, ORIENTED numbers each
    size_t shape_count, oriented_count;
    unsigned char *in;      ///< one a point
    PliIndex *list, *cells; ///< scratch
    double *points;
    size_t capacity;
    bool frozen; ///< doUpdate="0" after the first update
} Roi;

enum { ORIENTED = 3 + 3 + 4 * 3 + 3 + 3 }; // p0, p2, four side planes, normal, (width, length, depth)

typedef bool InsideFn(const Roi *r, PliObject *o, const double p[3]);

// ---- inputs by default -----------------------------------------------------------------------------------------------------------

static void link_default(PliObject *o, const char *name, PliObject *from, const char *from_name)
{
    PliData *d = pli_data(o, name), *source = pli_data(from, from_name);
    if (d && source && d != source) d->source = source;
}

static PliStatus roi_inputs(PliObject *o, PliError *err)
{
    if (!pli_is_set(o, "position")) {
        PliObject *from = pli_node_find(o->node, PLI_ROLE_STATE);
        const char *name = "rest_position";
        if (!from && (from = pli_node_find(o->node, PLI_ROLE_LOADER))) name = "position";
        if (!from) from = pli_context_find(o->node, PLI_ROLE_STATE);
        if (!from)
            return pli_refuse(err, PLI_BAD_ARGUMENT,
                              "finds no positions: give position, or put a MechanicalObject or a loader in its node");
        link_default(o, "position", from, name);
    }
    PliObject *topology = pli_topology_near(o->node, PLI_NEEDS_CELLS, false);
    static const struct {
        const char *cells, *wanted;
    } kind[] = { { "edges", "computeEdges" },
                 { "triangles", "computeTriangles" },
                 { "quads", "computeQuads" },
                 { "tetrahedra", "computeTetrahedra" },
                 { "hexahedra", "computeHexahedra" } };
    for (int k = 0; k < 5 && topology; ++k)
        if (!pli_is_set(o, kind[k].cells) && pli_bool(o, kind[k].wanted))
            link_default(o, kind[k].cells, topology, kind[k].cells);
    return PLI_OK;
}

static PliStatus roi_reserve(PliObject *o, size_t n)
{
    Roi *r = o->self;
    if (n <= r->capacity) return PLI_OK;
    PliScene *scene = o->node->scene;
    r->in = PLI_SCENE_NEW(scene, n, unsigned char);
    r->list = PLI_SCENE_NEW(scene, n, PliIndex);
    r->cells = PLI_SCENE_NEW(scene, 8 * n, PliIndex);
    r->points = PLI_SCENE_NEW(scene, 3 * n, double);
    if (!r->in || !r->list || !r->cells || !r->points) return PLI_OUT_OF_MEMORY;
    r->capacity = n;
    return PLI_OK;
}

// ---- outputs ---------------------------------------------------------------------------------------------------------------------

static PliStatus select_points(PliObject *o, const double *x, size_t n, bool inside, const char *indices,
                               const char *points)
{
    Roi *r = o->self;
    size_t found = 0;
    for (size_t i = 0; i < n; ++i) {
        if ((r->in[i] != 0) != inside) continue;
        v3_copy(r->points + 3 * found, x + 3 * i);
        r->list[found++] = (PliIndex)i;
    }
    PliStatus status = pli_set_indices(o, indices, r->list, found);
    if (!status) status = pli_set_reals(o, points, r->points, 3 * found);
    if (!status && inside) status = pli_set_reals(o, "nbIndices", &(double){ (double)found }, 1);
    return status;
}

static PliStatus select_cells(PliObject *o, InsideFn *is_inside, const double *x, size_t n, int kind)
{
    static const struct {
        const char *cells, *wanted, *indices, *in;
        size_t corners;
    } names[] = { { "edges", "computeEdges", "edgeIndices", "edgesInROI", 2 },
                  { "triangles", "computeTriangles", "triangleIndices", "trianglesInROI", 3 },
                  { "quads", "computeQuads", "quadIndices", "quadsInROI", 4 },
                  { "tetrahedra", "computeTetrahedra", "tetrahedronIndices", "tetrahedraInROI", 4 },
                  { "hexahedra", "computeHexahedra", "hexahedronIndices", "hexahedraInROI", 8 } };
    Roi *r = o->self;
    size_t count, corners = names[kind].corners, found = 0;
    if (!pli_bool(o, names[kind].wanted)) return PLI_OK;
    const PliIndex *cells = pli_indices(o, names[kind].cells, &count);
    count /= corners;
    PliStatus status = roi_reserve(o, n > count ? n : count);
    if (status) return status;
    bool strict = pli_bool(o, "strict");
    for (size_t i = 0; i < count; ++i) {
        const PliIndex *c = cells + corners * i;
        double centre[3] = { 0, 0, 0 };
        size_t inside = 0;
        bool whole = true;
        for (size_t k = 0; k < corners && whole; ++k) {
            whole = c[k] < n;
            if (!whole) break;
            inside += r->in[c[k]] != 0;
            v3_madd(centre, 1.0 / (double)corners, x + 3 * (size_t)c[k]);
        }
        if (!whole || !(strict ? inside == corners : is_inside(r, o, centre))) continue;
        memcpy(r->cells + corners * found, c, corners * sizeof *c);
        r->list[found++] = (PliIndex)i;
    }
    status = pli_set_indices(o, names[kind].indices, r->list, found);
    return status ? status : pli_set_indices(o, names[kind].in, r->cells, corners * found);
}

static PliStatus roi_update(PliObject *o, InsideFn *is_inside, PliError *err)
{
    Roi *r = o->self;
    if (r->frozen) return PLI_OK;
    size_t n;
    const double *x = pli_reals(o, "position", &n);
    n /= 3;
    PliStatus status = roi_reserve(o, n);
    if (!status) {
        for (size_t i = 0; i < n; ++i) r->in[i] = is_inside(r, o, x + 3 * i);
        status = select_points(o, x, n, true, "indices", "pointsInROI");
        if (!status) status = select_points(o, x, n, false, "indicesOut", "pointsOutROI");
        for (int k = 0; k < 5 && !status; ++k) {
            // cell lists may be longer than the point list and move the scratch: mark points again
            size_t before = r->capacity;
            status = select_cells(o, is_inside, x, n, k);
            if (!status && r->capacity != before)
                for (size_t i = 0; i < n; ++i) r->in[i] = is_inside(r, o, x + 3 * i);
            if (!status && r->capacity != before) status = select_cells(o, is_inside, x, n, k);
        }
    }
    if (status) return pli_refuse(err, status, "no memory for %zu points", n);
    if (o->ready && !pli_bool(o, "doUpdate")) r->frozen = true;
    return PLI_OK;
}

// ---- BoxROI ----------------------------------------------------------------------------------------------------------------------

static void normalize(double v[3])
{
    double n = v3_norm(v);
    if (n > 0.0) v3_scale(v, 1.0 / n);
}

static void side_plane(double r[3], const double a[3], const double b[3])
{
    v3_cross(r, a, b);
    normalize(r);
}

// Three points p0 p1 p2 of a parallelogram and a depth across it.
static void oriented_box(const double b[10], double *out)
{
    double e10[3], e20[3], e21[3], p3[3], p6[3], e[3], g[3];
    double *p0 = out, *p2 = out + 3, *plane = out + 6, *normal = out + 18, *size = out + 21;
    v3_copy(p0, b);
    v3_copy(p2, b + 6);
    v3_sub(e10, b + 3, b);
    v3_sub(e20, b + 6, b);
    v3_sub(e21, b + 6, b + 3);
    side_plane(normal, e10, e20);
    v3_add(p3, b, e21);
    v3_copy(p6, p2);
    v3_madd(p6, b[9], normal);
    side_plane(plane, e10, normal);
    v3_sub(e, p2, p3);
    v3_sub(g, p6, p3);
    side_plane(plane + 3, e, g);
    v3_sub(e, p3, p0);
    side_plane(plane + 6, e, normal);
    v3_sub(g, p6, p2);
    side_plane(plane + 9, e21, g);
    size[0] = fabs(v3_dot(e20, plane));
    size[1] = fabs(v3_dot(e20, plane + 6));
    size[2] = fabs(b[9] / 2.0);
}

static bool in_oriented(const double *b, const double p[3])
{
    double a[3], c[3];
    v3_sub(a, p, b);
    v3_sub(c, p, b + 3);
    return fabs(v3_dot(a, b + 6)) <= b[21] && fabs(v3_dot(c, b + 9)) <= b[21] && fabs(v3_dot(a, b + 12)) <= b[22] &&
           fabs(v3_dot(c, b + 15)) <= b[22] && fabs(v3_dot(a, b + 18)) <= b[23];
}

static bool in_box(const Roi *r, PliObject *o, const double p[3])
{
    (void)o;
    for (size_t i = 0; i < r->shape_count; ++i) {
        const double *b = r->shape + 6 * i;
        if (p[0] >= b[0] && p[0] <= b[3] && p[1] >= b[1] && p[1] <= b[4] && p[2] >= b[2] && p[2] <= b[5]) return true;
    }
    for (size_t i = 0; i < r->oriented_count; ++i)
        if (in_oriented(r->oriented + ORIENTED * i, p)) return true;
    return false;
}

static PliStatus box_update(PliObject *o, PliError *err) { return roi_update(o, in_box, err); }

static PliStatus box_init(PliObject *o, PliError *err)
{
    static const double unit[6] = { 0, 0, 0, 1, 1, 1 };
    Roi *r = o->self;
    PliScene *scene = o->node->scene;
    PliStatus status = roi_inputs(o, err);
    if (status) return status;
    size_t n, m;
    const double *box = pli_reals(o, "box", &n), *oriented = pli_reals(o, "orientedBox", &m);
    if (n % 6) return pli_refuse(err, PLI_BAD_ARGUMENT, "box has %zu numbers, which is no multiple of 6", n);
    if (m % 10) return pli_refuse(err, PLI_BAD_ARGUMENT, "orientedBox has %zu numbers, which is no multiple of 10", m);
    if (!pli_is_set(o, "box") && !pli_is_set(o, "orientedBox")) box = unit, n = 6;
    r->shape_count = n / 6;
    r->oriented_count = m / 10;
    r->shape = PLI_SCENE_NEW(scene, n, double);
    r->oriented = PLI_SCENE_NEW(scene, r->oriented_count * ORIENTED, double);
    if (!r->shape || !r->oriented) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu boxes", n / 6);
    if (n) memcpy(r->shape, box, n * sizeof *box);
    for (size_t i = 0; i < r->shape_count; ++i)
        for (int k = 0; k < 3; ++k) {
            double *b = r->shape + 6 * i;
            if (b[k] > b[k + 3]) {
                double swap = b[k];
                b[k] = b[k + 3];
                b[k + 3] = swap;
            }
        }
    for (size_t i = 0; i < r->oriented_count; ++i) oriented_box(oriented + 10 * i, r->oriented + ORIENTED * i);
    o->stale = true;
    return box_update(o, err);
}

const PliOps pli_box_roi_ops = { .size = sizeof(Roi), .init = box_init, .update = box_update };

// ---- SphereROI -------------------------------------------------------------------------------------------------------------------

static bool in_sphere(const Roi *r, PliObject *o, const double p[3])
{
    (void)o;
    for (size_t i = 0; i < r->shape_count; ++i) {
        const double *s = r->shape + 4 * i;
        double d[3];
        v3_sub(d, p, s);
        if (v3_dot(d, d) <= s[3] * s[3]) return true;
    }
    return false;
}

static PliStatus sphere_update(PliObject *o, PliError *err) { return roi_update(o, in_sphere, err); }

static PliStatus sphere_init(PliObject *o, PliError *err)
{
    Roi *r = o->self;
    PliStatus status = roi_inputs(o, err);
    if (status) return status;
    size_t nc, nr;
    const double *centre = pli_reals(o, "centers", &nc), *radius = pli_reals(o, "radii", &nr);
    nc /= 3;
    if (nr != nc && nr != 1 && nc > 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "%zu centers, but %zu radii", nc, nr);
    r->shape = PLI_SCENE_NEW(o->node->scene, 4 * nc, double);
    if (!r->shape) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %zu spheres", nc);
    for (size_t i = 0; i < nc; ++i) {
        v3_copy(r->shape + 4 * i, centre + 3 * i);
        r->shape[4 * i + 3] = radius[nr == 1 ? 0 : i];
    }
    r->shape_count = nc;
    o->stale = true;
    return sphere_update(o, err);
}

const PliOps pli_sphere_roi_ops = { .size = sizeof(Roi), .init = sphere_init, .update = sphere_update };
