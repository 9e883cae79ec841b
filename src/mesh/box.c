/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/mesh.h>

#include <math.h>

#include "base/hash.h"
#include "base/memory.h"
#include "mesh/tet.h"

// Five tets a cell: one regular tet on alternate corners of the cube and four corner tets. Even and odd cells take the
// two mirror images, so diagonals meet on every face whatever the number of cells, and the pattern has the full
// symmetry of the cube: unlike six tets about one diagonal, no axis or diagonal is stiffer than another.
// Corner c of a cell is (c & 1, c >> 1 & 1, c >> 2 & 1).
static const unsigned char pattern[2][5][4] = {
    { { 1, 2, 4, 7 }, { 0, 1, 2, 4 }, { 3, 2, 1, 7 }, { 5, 1, 4, 7 }, { 6, 4, 2, 7 } },
    { { 0, 5, 3, 6 }, { 1, 3, 0, 5 }, { 2, 0, 3, 6 }, { 4, 0, 6, 5 }, { 7, 3, 5, 6 } },
};

/// Smallest part of its regular volume that jitter may leave to a tet.
static const double volume_floor = 0.25;

static PliStatus check_def(const PliBoxDef *d, PliError *err)
{
    double points = 1.0, tets = 5.0;
    for (int a = 0; a < 3; ++a) {
        if (!isfinite(d->min[a]) || !isfinite(d->max[a]) || !(d->max[a] > d->min[a]))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "box: axis %d goes from %g to %g, which is not a positive length",
                              a, d->min[a], d->max[a]);
        if (d->cells[a] == 0) return pli_refuse(err, PLI_BAD_ARGUMENT, "box: axis %d has no cells", a);
        points *= (double)d->cells[a] + 1.0;
        tets *= (double)d->cells[a];
    }
    if (!(d->jitter >= 0.0 && d->jitter <= 0.3))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "box: jitter is %g, it must be in 0 .. 0.3", d->jitter);
    if (points > 1e9 || tets > 1e9)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "box: %u x %u x %u cells are too many", d->cells[0], d->cells[1],
                          d->cells[2]);
    return PLI_OK;
}

/// Moves interior nodes at random, then halves the moves around tets that lost too much volume until none is left. The
/// rounds are bounded for boxes so thin that rounding alone eats the volume.
static PliStatus jitter_points(PliMesh *m, const PliBoxDef *d)
{
    const PliIndex nx = d->cells[0], ny = d->cells[1], nz = d->cells[2];
    double *move = PLI_NEW(&m->host, 3 * (size_t)m->point_count, double);
    unsigned char *halve = PLI_NEW(&m->host, m->point_count, unsigned char);
    double *rest = PLI_NEW(&m->host, 3 * (size_t)m->point_count, double);
    PliStatus status = move && halve && rest ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) {
        uint64_t random = d->seed;
        for (size_t i = 0; i < 3 * (size_t)m->point_count; ++i) rest[i] = m->x[i];
        for (PliIndex k = 1; k < nz; ++k)
            for (PliIndex j = 1; j < ny; ++j)
                for (PliIndex i = 1; i < nx; ++i) {
                    const size_t p = ((size_t)k * (ny + 1) + j) * (nx + 1) + i;
                    for (int a = 0; a < 3; ++a)
                        move[3 * p + a] =
                            d->jitter * (2.0 * pli_random_unit(&random) - 1.0) * (d->max[a] - d->min[a]) / d->cells[a];
                }
        double cell6 = 6.0;
        for (int a = 0; a < 3; ++a) cell6 *= (d->max[a] - d->min[a]) / d->cells[a];
        bool again = true;
        for (int round = 0; again && round < 64; ++round) {
            again = false;
            for (size_t i = 0; i < 3 * (size_t)m->point_count; ++i) m->x[i] = rest[i] + move[i];
            for (PliIndex t = 0; t < m->tet_count; ++t) {
                const PliIndex *tet = m->tets + 4 * (size_t)t;
                const double regular6 = cell6 / (t % 5 == 0 ? 3.0 : 6.0);
                if (pli_tet_volume6(m->x, tet) >= volume_floor * regular6) continue;
                again = true;
                for (int c = 0; c < 4; ++c) halve[tet[c]] = 1;
            }
            for (PliIndex i = 0; i < m->point_count; ++i) {
                if (halve[i]) v3_scale(move + 3 * (size_t)i, 0.5);
                halve[i] = 0;
            }
        }
    }
    PLI_FREE(&m->host, move, 3 * (size_t)m->point_count);
    PLI_FREE(&m->host, rest, 3 * (size_t)m->point_count);
    PLI_FREE(&m->host, halve, m->point_count);
    return status;
}

static void fill(PliMesh *m, const PliBoxDef *d)
{
    const PliIndex *n = d->cells;
    double *x = m->x;
    for (PliIndex k = 0; k <= n[2]; ++k)
        for (PliIndex j = 0; j <= n[1]; ++j)
            for (PliIndex i = 0; i <= n[0]; ++i, x += 3) {
                const PliIndex at[3] = { i, j, k };
                // the last plane is max itself, not a rounded sum, so that ROI tests on the faces hold
                for (int a = 0; a < 3; ++a)
                    x[a] = at[a] == n[a] ? d->max[a] : d->min[a] + (d->max[a] - d->min[a]) * ((double)at[a] / n[a]);
            }
    PliIndex *tet = m->tets;
    for (PliIndex k = 0; k < n[2]; ++k)
        for (PliIndex j = 0; j < n[1]; ++j)
            for (PliIndex i = 0; i < n[0]; ++i)
                for (int t = 0; t < 5; ++t)
                    for (int c = 0; c < 4; ++c) {
                        const PliIndex corner = pattern[(i + j + k) & 1][t][c];
                        const PliIndex ci = i + (corner & 1), cj = j + (corner >> 1 & 1), ck = k + (corner >> 2);
                        *tet++ = (ck * (n[1] + 1) + cj) * (n[0] + 1) + ci;
                    }
}

PliMesh *pli_mesh_box(const PliHost *host, const PliBoxDef *d, PliError *err)
{
    if (check_def(d, err) != PLI_OK) return NULL;
    PliMesh *m = pli_mesh_create(host);
    const PliIndex points = (d->cells[0] + 1) * (d->cells[1] + 1) * (d->cells[2] + 1);
    const PliIndex tets = 5 * d->cells[0] * d->cells[1] * d->cells[2];
    PliStatus status = m ? pli_mesh_resize_points(m, points) : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) status = pli_mesh_resize_cells(m, PLI_TET, tets);
    if (status == PLI_OK) {
        fill(m, d);
        if (d->jitter > 0.0) status = jitter_points(m, d);
    }
    if (status == PLI_OK) return m;
    pli_refuse(err, status, "box: no memory for %u points and %u tetrahedra", points, tets);
    pli_mesh_destroy(m);
    return NULL;
}
