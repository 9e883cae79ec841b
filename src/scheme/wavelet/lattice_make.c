/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Control lattices from meshes, boxes, and around surfaces.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/wavelet/lattice.h"
#include "mesh/voxel.h"

// ---- sharp edges ---------------------------------------------------------------------------------------------------------------

static void outward_normal(const PliLattice *l, PliIndex f, double n[3])
{
    const PliIndex c = l->face_cell[2 * (size_t)f];
    const double *x = l->x;
    for (int k = 0; k < pli_cell_faces(l->corners[c]); ++k) {
        if (l->cell_face[6 * (size_t)c + (size_t)k] != f) continue;
        int count;
        const uint8_t *p = pli_cell_face(l->corners[c], k, &count);
        const PliIndex *v = l->cell + 8 * (size_t)c;
        double a[3], b[3];
        v3_sub(a, x + 3 * (size_t)v[p[count == 4 ? 2 : 1]], x + 3 * (size_t)v[p[0]]);
        v3_sub(b, x + 3 * (size_t)v[p[count == 4 ? 3 : 2]], x + 3 * (size_t)v[p[count == 4 ? 1 : 0]]);
        v3_cross(n, a, b);
        const double size = v3_norm(n);
        if (size > 0.0) v3_scale(n, 1.0 / size);
        return;
    }
}

static void tag_sharp(PliLattice *l, double angle)
{
    if (angle >= 180.0) return;
    const double least = cos(angle * 3.14159265358979323846 / 180.0);
    for (PliIndex e = 0; e < l->edge_count; ++e) {
        if (!l->edge_outer[e]) continue;
        double n[2][3] = { { 0.0 } };
        int found = 0;
        for (PliIndex k = l->edge_face_first[e]; k < l->edge_face_first[e + 1]; ++k)
            if (l->face_cell[2 * (size_t)l->edge_face[k] + 1] == PLI_NONE && found < 2)
                outward_normal(l, l->edge_face[k], n[found++]);
        l->sharp[e] = v3_dot(n[0], n[1]) < least;
    }
}

// ---- meshes --------------------------------------------------------------------------------------------------------------------

/// A hexahedron with repeated corners: gives the corners of the prism or tetrahedron it is. 0: neither.
static int collapse(const PliIndex *hex, PliIndex out[8])
{
    PliIndex distinct[8];
    int count = 0;
    for (int k = 0; k < 8; ++k) {
        bool known = false;
        for (int m = 0; m < count; ++m) known |= distinct[m] == hex[k];
        if (!known) distinct[count++] = hex[k];
    }
    if (count == 8) {
        memcpy(out, hex, 8 * sizeof *out);
        return 8;
    }
    if (count == 4) {
        memcpy(out, distinct, 4 * sizeof *out);
        return 4;
    }
    if (count != 6) return 0;
    // two opposite faces with one collapsed edge each, over the same side
    for (int f = 0; f < 6; ++f)
        for (int k = 0; k < 4; ++k) {
            const uint8_t *p = pli_hex_face[f];
            if (hex[p[k]] != hex[p[(k + 1) % 4]]) continue;
            PliIndex far[4]; // the corner across, by the edge that leaves the face
            for (int m = 0; m < 4; ++m)
                for (int e = 0; e < 12; ++e) {
                    const uint8_t *q = pli_hex_edge[e];
                    const int other = q[0] == p[m] ? q[1] : q[1] == p[m] ? q[0] : -1;
                    bool inside = other < 0;
                    for (int i = 0; i < 4; ++i) inside |= other == p[i];
                    if (!inside) far[m] = hex[other];
                }
            if (far[k] != far[(k + 1) % 4]) continue;
            for (int m = 0; m < 3; ++m) out[m] = hex[p[(k + 1 + m) % 4]], out[3 + m] = far[(k + 1 + m) % 4];
            return 6;
        }
    return 0;
}

static void turn_outward(const double *x, PliIndex *c, int corners)
{
    const int z = corners == 8 ? 4 : 3, y = corners == 8 ? 3 : 2;
    double e[9];
    v3_sub(e, x + 3 * (size_t)c[1], x + 3 * (size_t)c[0]);
    v3_sub(e + 3, x + 3 * (size_t)c[y], x + 3 * (size_t)c[0]);
    v3_sub(e + 6, x + 3 * (size_t)c[z], x + 3 * (size_t)c[0]);
    if (m3_det(e) >= 0.0) return;
    if (corners == 4) {
        const PliIndex keep = c[2];
        c[2] = c[3], c[3] = keep;
        return;
    }
    for (int k = 0; k < corners / 2; ++k) { // top and bottom change places
        const PliIndex keep = c[k];
        c[k] = c[k + corners / 2], c[k + corners / 2] = keep;
    }
}

PliLattice *pli_lattice_from_mesh(const PliHost *host, const PliMesh *mesh, double angle, PliError *err)
{
    const PliIndex cells = mesh->hex_count + mesh->tet_count;
    if (cells == 0) {
        pli_refuse(err, PLI_BAD_MESH, "the mesh has neither hexahedra nor tetrahedra for a lattice");
        return NULL;
    }
    PliIndex *cell = PLI_NEW(host, 8 * (size_t)cells, PliIndex), *number = PLI_NEW(host, mesh->point_count, PliIndex),
             used = 0;
    uint8_t *corners = PLI_NEW(host, cells, uint8_t);
    double *x = PLI_NEW(host, 3 * (size_t)mesh->point_count, double);
    PliLattice *l = NULL;
    if (!cell || !number || !corners || !x) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice of %u cells", cells);
        goto done;
    }
    for (PliIndex c = 0; c < cells; ++c) {
        PliIndex *to = cell + 8 * (size_t)c;
        if (c < mesh->hex_count) {
            corners[c] = (uint8_t)collapse(mesh->hexes + 8 * (size_t)c, to);
            if (!corners[c]) {
                pli_refuse(err, PLI_UNSUPPORTED,
                           "lattice: cell %u is a pyramid or another shape with more than three edges at a corner; use "
                           "hexahedra, prisms and tetrahedra",
                           c);
                goto done;
            }
        } else {
            corners[c] = 4;
            memcpy(to, mesh->tets + 4 * (size_t)(c - mesh->hex_count), 4 * sizeof *to);
        }
        turn_outward(mesh->x, to, corners[c]);
        for (int k = 0; k < corners[c]; ++k) number[to[k]] = 1;
    }
    for (PliIndex v = 0; v < mesh->point_count; ++v) {
        if (!number[v]) continue;
        v3_copy(x + 3 * (size_t)used, mesh->x + 3 * (size_t)v);
        if (!isfinite(x[3 * (size_t)used]) || !isfinite(x[3 * (size_t)used + 1]) ||
            !isfinite(x[3 * (size_t)used + 2])) {
            pli_refuse(err, PLI_BAD_MESH, "lattice: point %u is not finite", v);
            goto done;
        }
        number[v] = used++;
    }
    for (PliIndex c = 0; c < cells; ++c)
        for (int k = 0; k < corners[c]; ++k) cell[8 * (size_t)c + (size_t)k] = number[cell[8 * (size_t)c + (size_t)k]];
    const PliLatticeDef def = { .x = x, .vertex_count = used, .cell = cell, .corners = corners, .cell_count = cells };
    l = pli_lattice_create(host, &def, err);
    if (l) tag_sharp(l, angle);
done:
    PLI_FREE(host, cell, 8 * (size_t)cells);
    PLI_FREE(host, number, mesh->point_count);
    PLI_FREE(host, corners, cells);
    PLI_FREE(host, x, 3 * (size_t)mesh->point_count);
    return l;
}

// ---- boxes, and cubes around something --------------------------------------------------------------------------------------------

static PliMesh *hex_mesh(const PliHost *host, size_t points, size_t cells, PliError *err)
{
    PliMesh *mesh = points < 4000000 && cells < 4000000 ? pli_mesh_create(host) : NULL;
    if (mesh && pli_mesh_resize_points(mesh, (PliIndex)points) == PLI_OK &&
        pli_mesh_resize_cells(mesh, PLI_HEX, (PliIndex)cells) == PLI_OK)
        return mesh;
    pli_mesh_destroy(mesh);
    pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice of %zu cells", cells);
    return NULL;
}

bool pli_lattice_check_box(const double min[3], const double max[3], const PliIndex cells[3], PliError *err)
{
    for (int d = 0; d < 3; ++d)
        if (cells[d] == 0 || cells[d] > 1000 || !(max[d] > min[d]) || !isfinite(max[d] - min[d])) {
            pli_refuse(err, PLI_BAD_ARGUMENT,
                       "lattice: a box of %u x %u x %u cells from %g %g %g to %g %g %g is empty or too large", cells[0],
                       cells[1], cells[2], min[0], min[1], min[2], max[0], max[1], max[2]);
            return false;
        }
    return true;
}

PliLattice *pli_lattice_box(const PliHost *host, const double min[3], const double max[3], const PliIndex cells[3],
                            double angle, PliError *err)
{
    if (!pli_lattice_check_box(min, max, cells, err)) return NULL;
    const size_t nx = (size_t)cells[0] + 1, ny = (size_t)cells[1] + 1, nz = (size_t)cells[2] + 1;
    PliMesh *mesh = hex_mesh(host, nx * ny * nz, (nx - 1) * (ny - 1) * (nz - 1), err);
    if (!mesh) return NULL;
    for (size_t i = 0; i < nx * ny * nz; ++i) {
        const size_t at[3] = { i % nx, i / nx % ny, i / (nx * ny) };
        for (int d = 0; d < 3; ++d) mesh->x[3 * i + (size_t)d] = min[d] + (max[d] - min[d]) * (double)at[d] / cells[d];
    }
    PliIndex *h = mesh->hexes;
    for (size_t k = 0; k + 1 < nz; ++k)
        for (size_t j = 0; j + 1 < ny; ++j)
            for (size_t i = 0; i + 1 < nx; ++i, h += 8) {
                const PliIndex o = (PliIndex)(i + nx * (j + ny * k)), dy = (PliIndex)nx, dz = (PliIndex)(nx * ny);
                const PliIndex hex[8] = {
                    o, o + 1, o + 1 + dy, o + dy, o + dz, o + 1 + dz, o + 1 + dy + dz, o + dy + dz
                };
                memcpy(h, hex, sizeof hex);
            }
    PliLattice *l = pli_lattice_from_mesh(host, mesh, angle, err);
    pli_mesh_destroy(mesh);
    return l;
}

// Cells that meet at an edge or a vertex only would make the boundary touch itself: what is missing between them is filled.
static bool fill_pinches(uint8_t *solid, const size_t size[3])
{
    bool changed = false;
    const size_t dx = 1, dy = size[0], dz = size[0] * size[1];
    for (size_t k = 0; k + 1 < size[2]; ++k)
        for (size_t j = 0; j + 1 < size[1]; ++j)
            for (size_t i = 0; i + 1 < size[0]; ++i) {
                uint8_t *c = solid + i * dx + j * dy + k * dz;
                const size_t step[3] = { dx, dy, dz };
                for (int a = 0; a < 3; ++a) { // the four cells around an edge
                    const size_t u = step[(a + 1) % 3], v = step[(a + 2) % 3];
                    if (c[0] == c[u + v] && c[u] == c[v] && c[0] != c[u])
                        c[0] = c[u] = c[v] = c[u + v] = 1, changed = true;
                }
                // the eight around a vertex: solid ones must hang together over faces, and so must empty ones
                unsigned in = 0;
                for (unsigned m = 0; m < 8; ++m)
                    in |= (unsigned)(c[(m & 1) * dx + (m >> 1 & 1) * dy + (m >> 2) * dz] != 0) << m;
                for (unsigned side = 0; side < 2; ++side) {
                    const unsigned set = side ? ~in & 255u : in;
                    if (!set) continue;
                    unsigned reached = set & (0u - set), before = 0;
                    while (before != reached) {
                        before = reached;
                        for (unsigned m = 0; m < 8; ++m)
                            if (reached >> m & 1)
                                for (unsigned b = 1; b < 8; b <<= 1) reached |= set & (1u << (m ^ b));
                    }
                    if (reached == set) continue;
                    for (unsigned m = 0; m < 8; ++m) c[(m & 1) * dx + (m >> 1 & 1) * dy + (m >> 2) * dz] = 1;
                    changed = true;
                    break;
                }
            }
    return changed;
}

/// Cells that lines along each axis meet inside the solid, one layer into the grid.
static void mark_solid(const PliInside *solid, const double origin[3], const double h[3], const PliIndex cells[3],
                       const size_t size[3], uint8_t *mark)
{
    enum { LINES = 8 }; // across a cell, each way
    for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        for (PliIndex i = 0; i < LINES * cells[b]; ++i)
            for (PliIndex j = 0; j < LINES * cells[c]; ++j) {
                double p[3], stretch[2 * PLI_INSIDE_STRETCHES];
                size_t at[3];
                p[a] = 0.0, p[b] = origin[b] + h[b] * (i + 0.5) / LINES, p[c] = origin[c] + h[c] * (j + 0.5) / LINES;
                at[b] = i / LINES + 1, at[c] = j / LINES + 1;
                const int count = pli_inside_line(solid, a, p, stretch);
                for (int k = 0; k < count; ++k) {
                    const double from = (stretch[2 * k] - origin[a]) / h[a] + 1e-9,
                                 to = (stretch[2 * k + 1] - origin[a]) / h[a] - 1e-9;
                    for (double t = floor(fmax(from, 0.0)); t < fmin(to, cells[a]); t += 1.0) {
                        at[a] = (size_t)t + 1;
                        mark[at[0] + size[0] * (at[1] + size[1] * at[2])] = 1;
                    }
                }
            }
    }
}

/// Marks 2 around every 1, over faces, edges and corners.
static void mark_around(uint8_t *mark, const size_t size[3])
{
    for (size_t k = 1; k + 1 < size[2]; ++k)
        for (size_t j = 1; j + 1 < size[1]; ++j)
            for (size_t i = 1; i + 1 < size[0]; ++i) {
                if (mark[i + size[0] * (j + size[1] * k)] != 1) continue;
                for (size_t n = 0; n < 27; ++n) {
                    uint8_t *to = &mark[i + n % 3 - 1 + size[0] * (j + n / 3 % 3 - 1 + size[1] * (k + n / 9 - 1))];
                    if (!*to) *to = 2;
                }
            }
}

PliStatus pli_lattice_cubes(const PliInside *solid, PliIndex resolution, double origin[3], double size[3],
                            PliIndex cells[3], PliError *err)
{
    if (resolution == 0 || resolution > 64)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "lattice: %u cells along the longest side; it must be between 1 and 64", resolution);
    double high[3] = { -INFINITY, -INFINITY, -INFINITY }, longest = 0.0;
    PliIndex count;
    const PliIndex *tri = pli_inside_triangles(solid, &count);
    const double *x = pli_inside_points(solid, &(PliIndex){ 0 });
    for (int d = 0; d < 3; ++d) origin[d] = INFINITY;
    for (size_t k = 0; k < 3 * (size_t)count; ++k)
        for (size_t d = 0; d < 3; ++d)
            origin[d] = fmin(origin[d], x[3 * (size_t)tri[k] + d]), high[d] = fmax(high[d], x[3 * (size_t)tri[k] + d]);
    for (int d = 0; d < 3; ++d) longest = fmax(longest, high[d] - origin[d]);
    if (!(longest > 0.0) || !isfinite(longest))
        return pli_refuse(err, PLI_BAD_MESH, "lattice: the surface is %g m long", longest);
    for (int d = 0; d < 3; ++d) {
        size[d] = longest / resolution;
        cells[d] = (PliIndex)fmax(1.0, ceil((high[d] - origin[d]) / size[d] - 1e-9));
    }
    return PLI_OK;
}

PliLattice *pli_lattice_grid(const PliHost *host, const PliInside *solid, const double origin[3], const double h[3],
                             const PliIndex counts[3], bool tight, PliError *err)
{
    size_t size[3];
    for (int d = 0; d < 3; ++d) size[d] = (size_t)counts[d] + 4; // room around for a layer, and an empty one
    const size_t cells = size[0] * size[1] * size[2];
    const size_t nx = size[0] + 1, ny = size[1] + 1, corners = nx * ny * (size[2] + 1);
    if (cells > 4000000) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "lattice: a grid of %zu cells is too large", cells);
        return NULL;
    }
    uint8_t *solid_at = PLI_NEW(host, cells, uint8_t), *body = PLI_NEW(host, cells, uint8_t);
    PliIndex *number = PLI_NEW(host, corners, PliIndex), used = 0;
    PliMesh *hexes = NULL;
    PliLattice *l = NULL;
    if (!solid_at || !body || !number) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice of %zu cells", cells);
        goto done;
    }
    const double first[3] = { origin[0] - h[0], origin[1] - h[1], origin[2] - h[2] };
    const PliIndex wider[3] = { counts[0] + 2, counts[1] + 2, counts[2] + 2 };
    mark_solid(solid, first, h, wider, size, solid_at);
    for (size_t i = 0; i < cells; ++i) { // what is in the layer around sticks out
        const size_t at[3] = { i % size[0], i / size[0] % size[1], i / (size[0] * size[1]) };
        for (int d = 0; d < 3 && solid_at[i]; ++d)
            if (at[d] < 2 || at[d] > (size_t)counts[d] + 1) {
                pli_refuse(err, PLI_BAD_MESH,
                           "lattice: the surface sticks out of the grid from %g %g %g to %g %g %g, near %g %g %g",
                           origin[0], origin[1], origin[2], origin[0] + h[0] * counts[0], origin[1] + h[1] * counts[1],
                           origin[2] + h[2] * counts[2], first[0] + h[0] * ((double)at[0] - 0.5),
                           first[1] + h[1] * ((double)at[1] - 0.5), first[2] + h[2] * ((double)at[2] - 0.5));
                goto done;
            }
    }
    memcpy(body, solid_at, cells);
    if (!tight) mark_around(solid_at, size);
    for (size_t i = 0; i < cells; ++i) solid_at[i] = solid_at[i] != 0;
    while (fill_pinches(solid_at, size)) {}
    size_t count = 0;
    for (size_t i = 0; i < cells; ++i) count += solid_at[i];
    if (count == 0) {
        pli_refuse(err, PLI_BAD_MESH, "lattice: nothing of the surface is in the grid");
        goto done;
    }
    memset(number, 0xff, corners * sizeof *number);
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1 && !(hexes = hex_mesh(host, used, count, err))) goto done;
        size_t at = 0;
        for (size_t i = 0; i < cells; ++i) {
            if (!solid_at[i]) continue;
            const size_t o = i % size[0] + nx * (i / size[0] % size[1] + ny * (i / (size[0] * size[1])));
            const size_t corner[8] = { o,           o + 1,           o + 1 + nx,           o + nx,
                                       o + nx * ny, o + 1 + nx * ny, o + 1 + nx + nx * ny, o + nx + nx * ny };
            for (size_t k = 0; k < 8; ++k) {
                if (number[corner[k]] == PLI_NONE) number[corner[k]] = used++;
                if (pass == 1) hexes->hexes[8 * at + k] = number[corner[k]];
            }
            at++;
        }
    }
    for (size_t i = 0; i < corners; ++i) {
        if (number[i] == PLI_NONE) continue;
        const double at[3] = { (double)(i % nx), (double)(i / nx % ny), (double)(i / (nx * ny)) };
        for (int d = 0; d < 3; ++d) hexes->x[3 * (size_t)number[i] + (size_t)d] = origin[d] + h[d] * (at[d] - 2.0);
    }
    l = pli_lattice_from_mesh(host, hexes, 40.0, err);
    if (l && (l->empty = PLI_NEW(host, count, uint8_t))) {
        size_t at = 0;
        for (size_t i = 0; i < cells; ++i)
            if (solid_at[i]) l->empty[at++] = !body[i];
    } else if (l) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a lattice of %zu cells", count);
        pli_lattice_destroy(l);
        l = NULL;
    }
done:
    PLI_FREE(host, solid_at, cells);
    PLI_FREE(host, body, cells);
    PLI_FREE(host, number, corners);
    pli_mesh_destroy(hexes);
    return l;
}
