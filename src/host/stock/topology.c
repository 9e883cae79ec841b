/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/stock/stock.h"

#include <math.h>
#include <string.h>

// ---- what others see -----------------------------------------------------------------------------------------------------------

static const char *const cell_name[] = { "edges", "triangles", "quads", "tetrahedra", "hexahedra" };

const PliIndex *pli_topology_cells(PliObject *topology, PliCellKind kind, size_t *count)
{
    static const size_t corners[] = { 2, 3, 4, 4, 8 };
    PliData *d = pli_data(topology, cell_name[kind]);
    *count = 0;
    if (!d) return NULL;
    const PliIndex *cells = pli_data_indices(d, count);
    *count /= corners[kind];
    return cells;
}

const double *pli_topology_points(PliObject *topology, PliIndex *count)
{
    size_t n = 0;
    PliData *d = pli_data(topology, "position");
    const double *x = d ? pli_data_reals(d, &n) : NULL;
    *count = (PliIndex)(n / 3);
    return x;
}

static bool has_any(PliObject *topology, unsigned needs)
{
    PliIndex points;
    size_t n;
    if (needs & PLI_NEEDS_POINTS && (pli_topology_points(topology, &points), points > 0)) return true;
    for (int k = PLI_EDGE; k <= PLI_HEX; ++k)
        if (needs & (1u << k) && (pli_topology_cells(topology, (PliCellKind)k, &n), n > 0)) return true;
    return false;
}

PliObject *pli_topology_near(PliNode *node, unsigned needs, bool up)
{
    PliObject *any = NULL;
    for (; node; node = up ? node->parent : NULL) {
        PliObject *best = NULL;
        for (PliObject *o = node->first_object; o; o = o->next) {
            if (!(o->cls->roles & PLI_ROLE_TOPOLOGY)) continue;
            if (has_any(o, needs)) best = o;
            if (!any || any->node == node) any = o;
        }
        if (best) return best;
    }
    return any;
}

PliObject *pli_topology_of(PliObject *o, unsigned needs)
{
    PliObject *linked = pli_link(o, "topology");
    return linked ? linked : pli_topology_near(o->node, needs, true);
}

// ---- MeshTopology and the containers: they hold what they are given --------------------------------------------------------------

static PliStatus read_file(PliObject *o, const char *path, PliError *err)
{
    PliMesh *mesh = pli_mesh_read(&o->node->scene->host, path, err);
    if (!mesh) return err->status;
    PliStatus status = pli_set_reals(o, "position", mesh->x, 3 * (size_t)mesh->point_count);
    const PliIndex *cells[] = { mesh->edges, mesh->tris, mesh->quads, mesh->tets, mesh->hexes };
    const size_t scalars[] = { 2 * (size_t)mesh->edge_count, 3 * (size_t)mesh->tri_count, 4 * (size_t)mesh->quad_count,
                               4 * (size_t)mesh->tet_count, 8 * (size_t)mesh->hex_count };
    for (int k = 0; k < 5 && !status; ++k) status = pli_set_indices(o, cell_name[k], cells[k], scalars[k]);
    pli_mesh_destroy(mesh);
    return status ? pli_refuse(err, status, "no memory for %s", path) : PLI_OK;
}

static PliStatus topology_parse(PliObject *o, PliError *err)
{
    const char *path = pli_text(o, "filename");
    return *path ? read_file(o, path, err) : PLI_OK;
}

// Cells must be whole and, where points are known, in range: an index from a file goes straight into arrays later.
static PliStatus topology_init(PliObject *o, PliError *err)
{
    static const size_t corners[] = { 2, 3, 4, 4, 8 };
    PliIndex points;
    pli_topology_points(o, &points);
    for (int k = 0; k < 5; ++k) {
        size_t n;
        const PliIndex *cells = pli_indices(o, cell_name[k], &n);
        if (n % corners[k])
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s has %zu indices, which is no multiple of %zu", cell_name[k], n,
                              corners[k]);
        for (size_t i = 0; i < n && points > 0; ++i)
            if (cells[i] >= points)
                return pli_refuse(err, PLI_BAD_ARGUMENT, "%s %zu has corner %u, but there are %u points", cell_name[k],
                                  i / corners[k], cells[i], points);
    }
    return PLI_OK;
}

// Six tetrahedra for each hexahedron, mirrored from cell to cell so that neighbours meet; without a grid SOFA assumes 2 x 1.
PliStatus pli_split_hexes(PliObject *o, const PliIndex *hexes, size_t count, bool mirror, bool keep_sign,
                          PliIndex **tets)
{
    static const unsigned char swap_x[4][2] = { { 0, 1 }, { 4, 5 }, { 3, 2 }, { 7, 6 } },
                               swap_y[4][2] = { { 4, 7 }, { 5, 6 }, { 1, 2 }, { 0, 3 } },
                               swap_z[4][2] = { { 4, 0 }, { 5, 1 }, { 6, 2 }, { 7, 3 } };
    static const unsigned char part[6][4] = { { 0, 5, 1, 6 }, { 0, 1, 3, 6 }, { 1, 3, 6, 2 },
                                              { 6, 3, 0, 7 }, { 6, 7, 0, 5 }, { 7, 5, 4, 0 } };
    PliIndex n[3] = { 3, 2, 2 };
    pli_grid_size(o, n);
    size_t nx = n[0] - 1, ny = n[1] - 1;
    PliIndex *t = PLI_SCENE_NEW(o->node->scene, 24 * count, PliIndex);
    if (!t) return PLI_OUT_OF_MEMORY;
    *tets = t;
    for (size_t i = 0; i < count; ++i, t += 24) {
        PliIndex c[8];
        memcpy(c, hexes + 8 * i, sizeof c);
        const bool flip[3] = { mirror && !((i % nx) & 1), mirror && (i / nx % ny) & 1, mirror && (i / (nx * ny)) & 1 };
        const unsigned char(*const edge[3])[2] = { swap_x, swap_y, swap_z };
        for (int k = 0; k < 3; ++k)
            for (int e = 0; e < 4 && flip[k]; ++e) {
                PliIndex keep = c[edge[k][e][0]];
                c[edge[k][e][0]] = c[edge[k][e][1]];
                c[edge[k][e][1]] = keep;
            }
        // an odd number of mirrors turns tetrahedra inside out: exchange two corners
        bool odd = keep_sign && (flip[0] + flip[1] + flip[2]) % 2;
        for (int p = 0; p < 6; ++p)
            for (int k = 0; k < 4; ++k) t[4 * p + k] = c[part[p][odd && k >= 2 ? 5 - k : k]];
    }
    return PLI_OK;
}

PliStatus pli_topology_tets(PliObject *topology, const PliIndex **tets, size_t *count, PliError *err)
{
    *tets = pli_topology_cells(topology, PLI_TET, count);
    if (*count > 0) return PLI_OK;
    size_t hexes;
    const PliIndex *cells = pli_topology_cells(topology, PLI_HEX, &hexes);
    if (hexes == 0) return PLI_OK;
    PliIndex *made = NULL;
    PliStatus status = pli_split_hexes(topology, cells, hexes, true, false, &made);
    if (status) return pli_refuse(err, status, "no memory to split %zu hexahedra", hexes);
    *tets = made;
    *count = 6 * hexes;
    return PLI_OK;
}

const PliOps pli_topology_ops = { .parse = topology_parse, .init = topology_init };

// ---- RegularGridTopology ---------------------------------------------------------------------------------------------------------

typedef struct Grid {
    PliIndex n[3];
    double p0[3], step[3];
} Grid;

static PliIndex grid_point(const Grid *g, PliIndex x, PliIndex y, PliIndex z)
{
    return g->n[0] * (g->n[1] * z + y) + x;
}

static PliStatus grid_shape(PliObject *o, Grid *g, PliError *err)
{
    double min[3], max[3];
    pli_vec3(o, "min", min);
    pli_vec3(o, "max", max);
    static const char *const low[] = { "xmin", "ymin", "zmin" }, *const high[] = { "xmax", "ymax", "zmax" };
    bool all = true;
    for (int i = 0; i < 3; ++i) all = all && pli_is_set(o, low[i]) && pli_is_set(o, high[i]);
    double scale = pli_real(o, "scale");
    for (int i = 0; i < 3 && all; ++i) {
        // SOFA reads these six as float
        min[i] = (double)(float)pli_real(o, low[i]) * (double)(float)scale;
        max[i] = (double)(float)pli_real(o, high[i]) * (double)(float)scale;
    }
    size_t count;
    const double *n = pli_reals(o, "n", &count);
    double size[3] = { 2, 2, 2 };
    if (count != 3) return pli_refuse(err, PLI_BAD_ARGUMENT, "n has %zu numbers, not 3", count);
    memcpy(size, n, sizeof size);
    if (pli_is_set(o, "nx") && pli_is_set(o, "ny") && pli_is_set(o, "nz"))
        size[0] = pli_real(o, "nx"), size[1] = pli_real(o, "ny"), size[2] = pli_real(o, "nz");
    if (!(size[0] >= 1.0 && size[1] >= 1.0 && size[2] >= 1.0)) size[0] = size[1] = size[2] = 2.0; // as SOFA goes on
    for (int i = 0; i < 3; ++i) {
        double cells = floor(size[i]) - 1.0;
        g->step[i] = cells > 0.0 ? (max[i] - min[i]) / cells : max[i] - min[i];
        g->p0[i] = cells > 0.0 || i == 2 ? min[i] : (max[i] + min[i]) / 2.0; // SOFA keeps zmin for a grid flat in z
    }
    double width = pli_real(o, "cellWidth");
    for (int i = 0; i < 3 && width > 0.0; ++i) size[i] = ceil((max[i] - min[i]) / width) + 1.0;
    if (width > 0.0) // SOFA 26.06 counts the points by cellWidth but keeps the spacing that n gave
        pli_finding_add(
            o->node->scene, PLI_WARNING, o->xml, o->cls->name,
            "cellWidth changes the number of points, but not their spacing, which comes from n: give n instead");
    if (!(size[0] >= 1.0 && size[1] >= 1.0 && size[2] >= 1.0)) // cellWidth with max below min
        return pli_refuse(err, PLI_BAD_ARGUMENT, "a grid of %g x %g x %g points is none", size[0], size[1], size[2]);
    if (!(size[0] * size[1] * size[2] <= 1e8))
        return pli_refuse(err, PLI_OVER_CAPACITY, "a grid of %g x %g x %g points is too large", size[0], size[1],
                          size[2]);
    for (int i = 0; i < 3; ++i) g->n[i] = (PliIndex)size[i];
    if (pli_is_set(o, "p0")) pli_vec3(o, "p0", g->p0);
    return PLI_OK;
}

static PliStatus grid_points(PliObject *o, const Grid *g)
{
    size_t count = (size_t)g->n[0] * g->n[1] * g->n[2];
    double *x = PLI_SCENE_NEW(o->node->scene, 3 * count, double);
    if (!x) return PLI_OUT_OF_MEMORY;
    double *p = x;
    for (PliIndex k = 0; k < g->n[2]; ++k)
        for (PliIndex j = 0; j < g->n[1]; ++j)
            for (PliIndex i = 0; i < g->n[0]; ++i, p += 3)
                p[0] = g->p0[0] + g->step[0] * i, p[1] = g->p0[1] + g->step[1] * j, p[2] = g->p0[2] + g->step[2] * k;
    return pli_set_reals(o, "position", x, 3 * count);
}

static PliStatus grid_hexes(PliObject *o, const Grid *g)
{
    size_t count = (size_t)(g->n[0] - 1) * (g->n[1] - 1) * (g->n[2] - 1);
    PliIndex *cells = PLI_SCENE_NEW(o->node->scene, 8 * count, PliIndex), *c = cells;
    if (!cells) return PLI_OUT_OF_MEMORY;
    for (PliIndex z = 0; z + 1 < g->n[2]; ++z)
        for (PliIndex y = 0; y + 1 < g->n[1]; ++y)
            for (PliIndex x = 0; x + 1 < g->n[0]; ++x, c += 8)
                for (PliIndex k = 0; k < 2; ++k) {
                    c[4 * k] = grid_point(g, x, y, z + k);
                    c[4 * k + 1] = grid_point(g, x + 1, y, z + k);
                    c[4 * k + 2] = grid_point(g, x + 1, y + 1, z + k);
                    c[4 * k + 3] = grid_point(g, x, y + 1, z + k);
                }
    return pli_set_indices(o, "hexahedra", cells, 8 * count);
}

// Quads of the planes across z, then y, then x, as SOFA lists them.
static PliStatus grid_quads(PliObject *o, const Grid *g, PliIndex **quads, size_t *quad_count)
{
    PliIndex nx = g->n[0], ny = g->n[1], nz = g->n[2];
    size_t count =
        (size_t)(nx - 1) * (ny - 1) * nz + (size_t)(nx - 1) * ny * (nz - 1) + (size_t)nx * (ny - 1) * (nz - 1);
    PliIndex *cells = PLI_SCENE_NEW(o->node->scene, 4 * count, PliIndex), *c = cells;
    if (!cells) return PLI_OUT_OF_MEMORY;
    for (int plane = 0; plane < 3; ++plane) {
        // the two directions a quad spans
        const PliIndex a[3][3] = { { 1, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } },
                       b[3][3] = { { 0, 1, 0 }, { 0, 0, 1 }, { 0, 0, 1 } };
        const PliIndex *u = a[plane], *v = b[plane];
        for (PliIndex z = 0; z + v[2] < nz; ++z)
            for (PliIndex y = 0; y + u[1] + v[1] < ny; ++y)
                for (PliIndex x = 0; x + u[0] < nx; ++x, c += 4) {
                    c[0] = grid_point(g, x, y, z);
                    c[1] = grid_point(g, x + u[0], y + u[1], z);
                    c[2] = grid_point(g, x + u[0], y + u[1] + v[1], z + v[2]);
                    c[3] = grid_point(g, x, y + v[1], z + v[2]);
                }
    }
    *quads = cells;
    *quad_count = count;
    return pli_set_indices(o, "quads", cells, 4 * count);
}

static PliStatus grid_triangles(PliObject *o, const PliIndex *quads, size_t count)
{
    PliIndex *cells = PLI_SCENE_NEW(o->node->scene, 6 * count, PliIndex), *c = cells;
    if (!cells) return PLI_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; ++i, c += 6) {
        const PliIndex *q = quads + 4 * i;
        c[0] = q[0], c[1] = q[1], c[2] = q[2];
        c[3] = q[0], c[4] = q[2], c[5] = q[3];
    }
    return pli_set_indices(o, "triangles", cells, 6 * count);
}

static PliStatus grid_edges(PliObject *o, const Grid *g)
{
    PliIndex nx = g->n[0], ny = g->n[1], nz = g->n[2];
    size_t count = (size_t)(nx - 1) * ny * nz + (size_t)nx * (ny - 1) * nz + (size_t)nx * ny * (nz - 1);
    PliIndex *cells = PLI_SCENE_NEW(o->node->scene, 2 * count, PliIndex), *c = cells;
    if (!cells) return PLI_OUT_OF_MEMORY;
    for (int axis = 0; axis < 3; ++axis) {
        PliIndex dx = axis == 0, dy = axis == 1, dz = axis == 2;
        for (PliIndex z = 0; z + dz < nz; ++z)
            for (PliIndex y = 0; y + dy < ny; ++y)
                for (PliIndex x = 0; x + dx < nx; ++x, c += 2)
                    c[0] = grid_point(g, x, y, z), c[1] = grid_point(g, x + dx, y + dy, z + dz);
    }
    return pli_set_indices(o, "edges", cells, 2 * count);
}

static PliStatus grid_parse(PliObject *o, PliError *err)
{
    Grid *g = o->self;
    PliStatus status = grid_shape(o, g, err);
    if (status) return status;
    PliIndex *quads = NULL;
    size_t quad_count = 0;
    if (pli_bool(o, "computePointList")) status = grid_points(o, g);
    if (!status && pli_bool(o, "computeHexaList")) status = grid_hexes(o, g);
    if (!status) status = grid_quads(o, g, &quads, &quad_count);
    if (!status && pli_bool(o, "computeTriangleList")) status = grid_triangles(o, quads, quad_count);
    if (!status) status = grid_edges(o, g);
    return status ? pli_refuse(err, status, "no memory for the grid") : PLI_OK;
}

bool pli_grid_size(PliObject *topology, PliIndex n[3])
{
    if (topology->cls->ops != &pli_grid_ops) return false;
    memcpy(n, ((Grid *)topology->self)->n, 3 * sizeof *n);
    return true;
}

const PliOps pli_grid_ops = { .size = sizeof(Grid), .parse = grid_parse };
