/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "base/wide.h"
#include "scheme/frames/regions.h"

/// Blocks of the pairs i <= j of frames that meet in a voxel, in the order in which they were met.
typedef struct Pairs {
    PliIndex *place; ///< [count, count]: block of the pair or PLI_NONE
    double (*block)[16];
    size_t count, capacity;
} Pairs;

static PliStatus meet(const PliHost *host, Pairs *p, PliIndex *place)
{
    if (p->count == p->capacity && !pli_grow(host, (void **)&p->block, &p->capacity, sizeof *p->block))
        return PLI_OUT_OF_MEMORY;
    memset(p->block[p->count], 0, sizeof *p->block);
    *place = (PliIndex)p->count++;
    return PLI_OK;
}

// The moment of a voxel about its centre, h^2/12, is kept: affine velocities then have the kinetic energy of the solid voxels.
PLI_WIDE static PliStatus add_cell(const PliFrameLayout *l, const PliVoxels *v, Pairs *pairs, PliIndex cell,
                                   double weight)
{
    PliIndex frame[PLI_FRAMES_PER_POINT];
    double phi[PLI_FRAMES_PER_POINT], grad[PLI_FRAMES_PER_POINT][3], basis[PLI_FRAMES_PER_POINT][4][4],
        turned[PLI_FRAMES_PER_POINT][4][4], p[3];
    const double middle[3] = { 0.5, 0.5, 0.5 };
    const PliIndex n = pli_frame_shape(l, v, cell, middle, frame, phi, grad, NULL);
    const double arm = v->h / sqrt(12.0);
    pli_voxels_cell_centre(v, cell, p);
    for (PliIndex k = 0; k < n; ++k) {
        const double s = l->scale[frame[k]];
        for (int c = 0; c < 4; ++c) {
            const double xi = c < 3 ? (p[c] - l->x[3 * (size_t)frame[k] + c]) / s : 1.0;
            // the mean over the voxel, in which both factors vary: momentum and mass then agree to the last digit
            basis[k][c][0] = phi[k] * xi + (c < 3 ? arm * arm * grad[k][c] / s : 0.0);
            for (int a = 0; a < 3; ++a) basis[k][c][1 + a] = arm * (grad[k][a] * xi + (a == c ? phi[k] / s : 0.0));
            for (int a = 0; a < 4; ++a) turned[k][a][c] = basis[k][c][a];
        }
    }
    for (PliIndex i = 0; i < n; ++i)
        for (PliIndex j = i; j < n; ++j) {
            PliIndex *place = &pairs->place[(size_t)frame[i] * l->count + frame[j]];
            if (*place == PLI_NONE && meet(&l->host, pairs, place) != PLI_OK) return PLI_OUT_OF_MEMORY;
            double *b = pairs->block[*place];
            const double(*g)[4] = turned[j];
            for (int c = 0; c < 4; ++c) {
                const double *f = basis[i][c];
                for (int d = 0; d < 4; ++d)
                    b[4 * c + d] += weight * (f[0] * g[0][d] + f[1] * g[1][d] + f[2] * g[2][d] + f[3] * g[3][d]);
            }
        }
    return PLI_OK;
}

// Frames i and j summed over j with an affine partner: int rho phi_i xi_c f for f = xi_d or 1, exact because sum phi_j = 1.
static void lump(PliFrameMass *m, const PliFrameLayout *l)
{
    for (PliIndex i = 0; i < m->count; ++i) {
        double *lumped = m->lumped + 16 * (size_t)i;
        for (PliIndex k = m->first[i]; k < m->first[i + 1]; ++k) {
            const PliIndex j = m->column[k];
            const double *b = m->block + 16 * (size_t)k;
            for (int c = 0; c < 4; ++c) {
                lumped[4 * c + 3] += b[4 * c + 3];
                for (int d = 0; d < 3; ++d)
                    lumped[4 * c + d] += (b[4 * c + d] * l->scale[j] +
                                          b[4 * c + 3] * (l->x[3 * (size_t)j + d] - l->x[3 * (size_t)i + d])) /
                                         l->scale[i];
            }
        }
        m->total += lumped[15];
    }
}

// Rows of blocks with ascending columns, both triangles. Every frame has a block of its own, reached or not.
static PliStatus make_rows(PliFrameMass *m, const Pairs *pairs)
{
    const size_t n = m->count;
    for (size_t i = 0; i < n; ++i) {
        m->first[i + 1] = m->first[i];
        for (size_t j = 0; j < n; ++j)
            m->first[i + 1] += i == j || pairs->place[i < j ? i * n + j : j * n + i] != PLI_NONE;
    }
    m->capacity = m->first[n];
    m->column = PLI_NEW(&m->host, m->capacity, PliIndex);
    m->block = PLI_NEW(&m->host, 16 * m->capacity, double);
    if (!m->column || !m->block) return PLI_OUT_OF_MEMORY;
    for (size_t i = 0, at = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) {
            const PliIndex place = pairs->place[i < j ? i * n + j : j * n + i];
            if (i != j && place == PLI_NONE) continue;
            for (int e = 0; e < 16 && place != PLI_NONE; ++e)
                m->block[16 * at + (size_t)e] = pairs->block[place][i <= j ? e : 4 * (e % 4) + e / 4];
            m->column[at++] = (PliIndex)j;
        }
    return PLI_OK;
}

static PliStatus fill(PliFrameMass *m, const PliVoxels *v, const PliFrameLayout *l, const PliFramesDef *def,
                      Pairs *pairs)
{
    const size_t n = m->count;
    const double unit = def->base.material.density * v->h * v->h * v->h * v->fill;
    PliStatus status = PLI_OK;
    memset(pairs->place, 0xff, n * n * sizeof *pairs->place);
    for (PliIndex s = 0; s < v->cell_count && status == PLI_OK; ++s)
        status = add_cell(l, v, pairs, s, unit * (double)v->density[s]);
    if (status == PLI_OK) status = make_rows(m, pairs);
    if (status != PLI_OK) return status;
    lump(m, l);
    // frames times linear hats have one exactly massless and forceless combination: a little of the lumped mass removes it
    for (size_t i = 0; i < n; ++i)
        for (PliIndex k = m->first[i]; k < m->first[i + 1]; ++k)
            for (int e = 0; e < 16; ++e) {
                double *b = m->block + 16 * (size_t)k + e;
                *b = (1.0 - def->mass_blend) * *b +
                     (m->column[k] == i ? def->mass_blend * m->lumped[16 * i + (size_t)e] : 0.0);
            }
    return PLI_OK;
}

PliFrameMass *pli_frame_mass_create(const PliHost *host, const PliVoxels *v, const PliFrameLayout *l,
                                    const PliFramesDef *def, PliError *err)
{
    const size_t n = l->count;
    PliFrameMass *m = PLI_NEW(host, 1, PliFrameMass);
    Pairs pairs = { .place = PLI_NEW(host, n * n, PliIndex) };
    PliStatus status = m && pairs.place ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (m) {
        m->host = *host;
        m->count = l->count;
        m->first = PLI_NEW(host, n + 1, PliIndex);
        m->lumped = PLI_NEW(host, 16 * n, double);
        if (!m->first || !m->lumped) status = PLI_OUT_OF_MEMORY;
    }
    if (status == PLI_OK) status = fill(m, v, l, def, &pairs);
    PLI_FREE(host, pairs.place, n * n);
    pli_free(host, pairs.block, pairs.capacity, sizeof *pairs.block);
    if (status != PLI_OK) {
        pli_frame_mass_destroy(m);
        pli_refuse(err, status, "no memory for the mass of %u frames", l->count);
        return NULL;
    }
    return m;
}

void pli_frame_mass_destroy(PliFrameMass *m)
{
    if (!m) return;
    const PliHost host = m->host;
    PLI_FREE(&host, m->first, (size_t)m->count + 1);
    PLI_FREE(&host, m->column, m->capacity);
    PLI_FREE(&host, m->block, 16 * m->capacity);
    PLI_FREE(&host, m->lumped, 16 * (size_t)m->count);
    PLI_FREE(&host, m, 1);
}
