/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/wavelet/evidence/rig.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

PliWaveletDef wavelet_box_def(PliIndex nx, PliIndex ny, PliIndex nz, double h)
{
    PliWaveletDef d = pli_wavelet_default();
    const PliIndex cells[3] = { nx, ny, nz };
    for (int k = 0; k < 3; ++k) d.box_cells[k] = cells[k], d.box_min[k] = 0.0, d.box_max[k] = h * cells[k];
    d.base.material.young = 1e5;
    d.base.material.poisson = 0.3;
    d.base.material.density = 1000.0;
    memset(d.base.gravity, 0, sizeof d.base.gravity);
    return d;
}

static void give_points(const double *x, const double *v, PliPointForces *out, void *user)
{
    (void)v;
    WaveletRig *g = user;
    memset(g->reaction, 0, sizeof g->reaction);
    for (PliIndex j = 0; j < g->point_count; ++j) {
        double p[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex k = g->first[j]; k < g->first[j + 1]; ++k) v3_madd(p, g->weight[k], x + 3 * (size_t)g->dof[k]);
        for (size_t d = 0; d < 3; ++d) {
            g->force[3 * j + d] = g->spring * (g->target[j][d] - p[d]);
            g->reaction[d] += g->force[3 * j + d];
            g->stiffness[6 * j + d] = g->spring, g->stiffness[6 * j + 3 + d] = 0.0;
        }
    }
    *out = (PliPointForces){ .count = g->point_count,
                             .first = g->first,
                             .dof = g->dof,
                             .weight = g->weight,
                             .force = g->force,
                             .stiffness = g->stiffness };
}

bool wavelet_rig_open(WaveletRig *g, const PliWaveletDef *def, int axis, PliError *err)
{
    memset(g, 0, sizeof *g);
    g->host = pli_host_default();
    g->body = pli_wavelet_create(&g->host, def, err);
    if (!g->body) return false;
    g->count = pli_body_dof_count(g->body);
    g->x = PLI_NEW(&g->host, 3 * g->count, double);
    g->v = PLI_NEW(&g->host, 3 * g->count, double);
    g->f = PLI_NEW(&g->host, 3 * g->count, double);
    g->dof = PLI_NEW(&g->host, PLI_LOCATE_MAX * WAVELET_POINTS, PliIndex);
    g->weight = PLI_NEW(&g->host, PLI_LOCATE_MAX * WAVELET_POINTS, double);
    PliIndex *fixed = PLI_NEW(&g->host, g->count, PliIndex), held = 0;
    bool good = g->x && g->v && g->f && g->dof && g->weight && fixed;
    if (good) {
        memcpy(g->x, pli_body_rest(g->body), 3 * g->count * sizeof *g->x);
        const double *place = pli_wavelet_places(g->body);
        for (size_t i = 0; i < g->count && axis >= 0; ++i)
            if (fabs(place[3 * i + (size_t)axis]) < 1e-9) fixed[held++] = (PliIndex)i;
        good = pli_body_set_fixed(g->body, fixed, held, err) == PLI_OK &&
               pli_body_reserve_points(g->body, WAVELET_POINTS, err) == PLI_OK;
        g->state = (PliState){ .x = g->x, .v = g->v };
    } else {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory");
    }
    PLI_FREE(&g->host, fixed, g->count);
    if (!good) wavelet_rig_close(g);
    return good;
}

void wavelet_rig_close(WaveletRig *g)
{
    PLI_FREE(&g->host, g->x, 3 * g->count);
    PLI_FREE(&g->host, g->v, 3 * g->count);
    PLI_FREE(&g->host, g->f, 3 * g->count);
    PLI_FREE(&g->host, g->dof, PLI_LOCATE_MAX * WAVELET_POINTS);
    PLI_FREE(&g->host, g->weight, PLI_LOCATE_MAX * WAVELET_POINTS);
    pli_body_destroy(g->body);
    memset(g, 0, sizeof *g);
}

bool wavelet_rig_hold(WaveletRig *g, const double p[3], double spring)
{
    if (g->point_count == WAVELET_POINTS) return false;
    const PliIndex j = g->point_count++, at = g->first[j];
    g->first[j + 1] = at + pli_body_locate(g->body, p, g->dof + at, g->weight + at, PLI_LOCATE_MAX);
    v3_copy(g->rest[j], p);
    v3_copy(g->target[j], p);
    g->spring = spring;
    g->state.points = give_points, g->state.points_user = g;
    return true;
}

void wavelet_rig_move(WaveletRig *g, const double shift[3])
{
    for (PliIndex j = 0; j < g->point_count; ++j) v3_add(g->target[j], g->rest[j], shift);
}

void wavelet_rig_place(const WaveletRig *g, const double p[3], double out[3])
{
    PliIndex column[PLI_LOCATE_MAX];
    double weight[PLI_LOCATE_MAX];
    const PliIndex n = pli_body_locate(g->body, p, column, weight, PLI_LOCATE_MAX);
    memset(out, 0, 3 * sizeof *out);
    for (PliIndex k = 0; k < n; ++k) v3_madd(out, weight[k], g->x + 3 * (size_t)column[k]);
}

void wavelet_rig_load_face(WaveletRig *g, double at, const double size[3], const double total[3])
{
    enum { SIDE = 16 };
    static const double gauss[2] = { 0.21132486540518711775, 0.78867513459481288225 };
    for (int j = 0; j < SIDE; ++j)
        for (int k = 0; k < SIDE; ++k) {
            const double p[3] = { at, size[1] * (j / 2 + gauss[j % 2]) / (SIDE / 2),
                                  size[2] * (k / 2 + gauss[k % 2]) / (SIDE / 2) };
            PliIndex column[PLI_LOCATE_MAX];
            double weight[PLI_LOCATE_MAX];
            const PliIndex n = pli_body_locate(g->body, p, column, weight, PLI_LOCATE_MAX);
            for (PliIndex e = 0; e < n; ++e) v3_madd(g->f + 3 * (size_t)column[e], weight[e] / (SIDE * SIDE), total);
        }
    g->state.f_ext = g->f;
}

bool wavelet_rig_settle(WaveletRig *g, int steps)
{
    for (int k = 0; k < steps; ++k) {
        memset(g->v, 0, 3 * g->count * sizeof *g->v);
        if (!pli_body_step(g->body, &g->state, 1000.0).finite) return false;
    }
    return true;
}
