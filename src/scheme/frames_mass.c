/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/frames_regions.h"

typedef struct Pairs {
    uint8_t *share;  ///< [count, count]: frames that meet in a voxel
    PliIndex *place; ///< [count, count]: block of the pair
} Pairs;

static PliIndex cell_frames(const PliFrameLayout *l, const PliVoxels *v, PliIndex cell, PliIndex *frame, double *phi, double (*grad)[3])
{
    const double middle[3] = { 0.5, 0.5, 0.5 };
    return pli_frame_shape(l, v, cell, middle, frame, phi, grad, NULL);
}

// The moment of a voxel about its centre, h^2/12, is kept: affine velocities then have the kinetic energy of the solid voxels.
static void add_cell(PliFrameMass *m, const PliFrameLayout *l, const PliVoxels *v, const Pairs *pairs, PliIndex cell, double weight)
{
    PliIndex frame[PLI_FRAMES_PER_POINT];
    double phi[PLI_FRAMES_PER_POINT], grad[PLI_FRAMES_PER_POINT][3], basis[PLI_FRAMES_PER_POINT][4][4], turned[PLI_FRAMES_PER_POINT][4][4], p[3];
    const PliIndex n = cell_frames(l, v, cell, frame, phi, grad);
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
            double *b = m->block + 16 * (size_t)pairs->place[(size_t)frame[i] * m->count + frame[j]];
            const double(*g)[4] = turned[j];
            for (int c = 0; c < 4; ++c) {
                const double *f = basis[i][c];
                for (int d = 0; d < 4; ++d) b[4 * c + d] += weight * (f[0] * g[0][d] + f[1] * g[1][d] + f[2] * g[2][d] + f[3] * g[3][d]);
            }
        }
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
                    lumped[4 * c + d] += (b[4 * c + d] * l->scale[j] + b[4 * c + 3] * (l->x[3 * (size_t)j + d] - l->x[3 * (size_t)i + d])) / l->scale[i];
            }
        }
        m->total += lumped[15];
    }
}

static PliStatus fill(PliFrameMass *m, const PliVoxels *v, const PliFrameLayout *l, const PliFramesDef *def, Pairs *pairs)
{
    const size_t n = m->count;
    for (PliIndex s = 0; s < v->cell_count; ++s) {
        PliIndex corner[8], frame[8 * PLI_FRAMES_PER_CORNER], k = 0;
        pli_voxels_cell_corners(v, s, corner);
        for (int b = 0; b < 8; ++b)
            for (PliIndex e = l->phi_first[corner[b]]; e < l->phi_first[corner[b]] + l->phi_count[corner[b]]; ++e) {
                PliIndex at = 0;
                while (at < k && frame[at] != l->phi_frame[e]) at++;
                if (at == k) frame[k++] = l->phi_frame[e];
            }
        for (PliIndex i = 0; i < k; ++i)
            for (PliIndex j = 0; j < k; ++j) pairs->share[(size_t)frame[i] * n + frame[j]] = 1;
    }
    for (size_t i = 0; i < n; ++i) {
        pairs->share[i * n + i] = 1;
        m->first[i + 1] = m->first[i];
        for (size_t j = 0; j < n; ++j) m->first[i + 1] += pairs->share[i * n + j];
    }
    m->capacity = m->first[n];
    m->column = PLI_NEW(&m->host, m->capacity, PliIndex);
    m->block = PLI_NEW(&m->host, 16 * m->capacity, double);
    if (!m->column || !m->block) return PLI_OUT_OF_MEMORY;
    for (size_t i = 0, at = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
            if (pairs->share[i * n + j]) pairs->place[i * n + j] = (PliIndex)at, m->column[at++] = (PliIndex)j;
    const double unit = def->base.material.density * v->h * v->h * v->h * v->fill;
    for (PliIndex s = 0; s < v->cell_count; ++s) add_cell(m, l, v, pairs, s, unit * (double)v->density[s]);
    for (size_t i = 0; i < n; ++i)
        for (PliIndex k = m->first[i]; k < m->first[i + 1]; ++k) {
            if (m->column[k] >= i) continue;
            const double *b = m->block + 16 * (size_t)pairs->place[m->column[k] * n + i];
            for (int c = 0; c < 4; ++c)
                for (int d = 0; d < 4; ++d) m->block[16 * (size_t)k + 4 * c + d] = b[4 * d + c];
        }
    lump(m, l);
    // frames times linear hats have one exactly massless and forceless combination: a little of the lumped mass removes it
    for (size_t i = 0; i < n; ++i)
        for (PliIndex k = m->first[i]; k < m->first[i + 1]; ++k)
            for (int e = 0; e < 16; ++e) {
                double *b = m->block + 16 * (size_t)k + e;
                *b = (1.0 - def->mass_blend) * *b + (m->column[k] == i ? def->mass_blend * m->lumped[16 * i + (size_t)e] : 0.0);
            }
    return PLI_OK;
}

PliFrameMass *pli_frame_mass_create(const PliHost *host, const PliVoxels *v, const PliFrameLayout *l, const PliFramesDef *def, PliError *err)
{
    const size_t n = l->count;
    PliFrameMass *m = PLI_NEW(host, 1, PliFrameMass);
    Pairs pairs = { PLI_NEW(host, n * n, uint8_t), PLI_NEW(host, n * n, PliIndex) };
    PliStatus status = m && pairs.share && pairs.place ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (m) {
        m->host = *host;
        m->count = l->count;
        m->first = PLI_NEW(host, n + 1, PliIndex);
        m->lumped = PLI_NEW(host, 16 * n, double);
        if (!m->first || !m->lumped) status = PLI_OUT_OF_MEMORY;
    }
    if (status == PLI_OK) status = fill(m, v, l, def, &pairs);
    PLI_FREE(host, pairs.share, n * n);
    PLI_FREE(host, pairs.place, n * n);
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
