/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "evidence/toolrig.h"

#include <string.h>

#include <pliant/wavelet.h>

#include "base/memory.h"
#include "base/vec.h"

bool pli_toolrig_begin(PliToolRig *g, PliError *err)
{
    g->count = pli_body_dof_count(g->body);
    g->x = PLI_NEW(&g->host, 3 * (size_t)g->count, double);
    g->v = PLI_NEW(&g->host, 3 * (size_t)g->count, double);
    if (!g->x || !g->v) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u coefficients", g->count);
        return false;
    }
    memcpy(g->x, pli_body_rest(g->body), 3 * (size_t)g->count * sizeof *g->x);
    return true;
}

PliStatus pli_toolrig_hold(PliToolRig *g, PliToolRigHeldFn *held, void *user, PliError *err)
{
    const char *scheme = pli_body_scheme(g->body);
    const bool frames = strcmp(scheme, "frames") == 0;
    const double *place = strcmp(scheme, "wavelet") == 0 ? pli_wavelet_places(g->body) : pli_body_rest(g->body);
    PliIndex *fixed = PLI_NEW(&g->host, g->count, PliIndex), count = 0;
    if (!fixed) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u coefficients", g->count);
    for (PliIndex i = 0; i < g->count; ++i)
        if (held(place + 3 * (size_t)(frames ? i / 4 * 4 + 3 : i), user)) fixed[count++] = i;
    const PliStatus status = count ? pli_body_set_fixed(g->body, fixed, count, err)
                                   : pli_refuse(err, PLI_BAD_ARGUMENT, "no coefficient is where the body is held");
    PLI_FREE(&g->host, fixed, g->count);
    return status;
}

bool pli_toolrig_step(PliToolRig *g, double dt, PliError *err)
{
    const PliState state = { .x = g->x, .v = g->v };
    if (!pli_body_step(g->body, &state, dt).finite) {
        pli_refuse(err, PLI_DIVERGED, "%s diverged", pli_body_scheme(g->body));
        return false;
    }
    v3_madd(g->tool.position, dt, g->tool.velocity);
    return true;
}

void pli_toolrig_close(PliToolRig *g)
{
    PLI_FREE(&g->host, g->x, 3 * (size_t)g->count);
    PLI_FREE(&g->host, g->v, 3 * (size_t)g->count);
    pli_body_destroy(g->body);
    for (int i = 0; i < PLI_TOOLRIG_MESHES; ++i) pli_mesh_destroy(g->mesh[i]);
    *g = (PliToolRig){ .host = g->host };
}
