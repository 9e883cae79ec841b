/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pliant/target.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "hierarchy/nearest.h"

enum { ROW = 64 }; ///< most coefficients of one skin point

struct PliTarget {
    PliHost host;
    double *points; ///< of the target
    PliIndex point_count;
    PliNearest near;
    // the skin
    PliIndex count;
    PliIndex *first, *dof;
    double *weight;
    size_t capacity;
    double *force, *stiffness, *damping;
    double spring, damper; ///< per skin point
    double distance;
};

void pli_target_destroy(PliTarget *t)
{
    if (!t) return;
    const PliHost host = t->host;
    pli_nearest_free(&t->near);
    PLI_FREE(&host, t->points, 3 * (size_t)t->point_count);
    PLI_FREE(&host, t->first, (size_t)t->count + 1);
    PLI_FREE(&host, t->dof, t->capacity);
    PLI_FREE(&host, t->weight, t->capacity);
    PLI_FREE(&host, t->force, 3 * (size_t)t->count);
    PLI_FREE(&host, t->stiffness, 6 * (size_t)t->count);
    PLI_FREE(&host, t->damping, 6 * (size_t)t->count);
    PLI_FREE(&host, t, 1);
}

static PliStatus fill(PliTarget *t, PliBody *body, const double *points, PliIndex count, PliError *err)
{
    const PliHost *h = &t->host;
    t->point_count = count;
    t->count = pli_body_skin_count(body);
    t->capacity = ROW * (size_t)t->count;
    t->points = PLI_NEW(h, 3 * (size_t)count, double);
    t->first = PLI_NEW(h, (size_t)t->count + 1, PliIndex);
    t->dof = PLI_NEW(h, t->capacity, PliIndex);
    t->weight = PLI_NEW(h, t->capacity, double);
    t->force = PLI_NEW(h, 3 * (size_t)t->count, double);
    t->stiffness = PLI_NEW(h, 6 * (size_t)t->count, double);
    t->damping = PLI_NEW(h, 6 * (size_t)t->count, double);
    if (!t->points || !t->first || !t->dof || !t->weight || !t->force || !t->stiffness || !t->damping)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a target of %u points", count);
    memcpy(t->points, points, 3 * (size_t)count * sizeof *points);
    PliStatus status = pli_nearest_init(&t->near, h, t->points, count);
    if (status != PLI_OK) return pli_refuse(err, status, "no memory for a target of %u points", count);
    double *skin = PLI_NEW(h, 3 * (size_t)t->count, double);
    if (!skin) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a target of %u points", count);
    pli_body_skin_positions(body, pli_body_rest(body), skin);
    for (PliIndex i = 0; i < t->count; ++i)
        t->first[i + 1] = t->first[i] + pli_body_locate(body, skin + 3 * (size_t)i, t->dof + t->first[i], t->weight + t->first[i], ROW);
    PLI_FREE(h, skin, 3 * (size_t)t->count);
    return pli_body_reserve_points(body, t->count, err);
}

PliTarget *pli_target_create(const PliHost *host, PliBody *body, const double *points, PliIndex count, PliError *err)
{
    if (count == 0 || !points) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "target: it has no points");
        return NULL;
    }
    for (size_t k = 0; k < 3 * (size_t)count; ++k)
        if (!isfinite(points[k])) {
            pli_refuse(err, PLI_BAD_ARGUMENT, "target: point %zu is not finite", k / 3);
            return NULL;
        }
    if (pli_body_skin_count(body) == 0) {
        pli_refuse(err, PLI_BAD_ARGUMENT, "target: the body has no skin to pull");
        return NULL;
    }
    PliTarget *t = PLI_NEW(host, 1, PliTarget);
    if (!t) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a target");
        return NULL;
    }
    t->host = *host;
    if (fill(t, body, points, count, err) != PLI_OK) {
        pli_target_destroy(t);
        return NULL;
    }
    return t;
}

PliStatus pli_target_tune(PliTarget *t, double stiffness, double damping, PliError *err)
{
    if (!(stiffness >= 0.0) || !isfinite(stiffness)) return pli_refuse(err, PLI_BAD_ARGUMENT, "target: the stiffness is %g N/m; it must not be negative", stiffness);
    if (!(damping >= 0.0) || !isfinite(damping)) return pli_refuse(err, PLI_BAD_ARGUMENT, "target: the damping is %g N s/m; it must not be negative", damping);
    t->spring = stiffness / t->count;
    t->damper = damping / t->count;
    return PLI_OK;
}

void pli_target_forces(const double *x, const double *v, PliPointForces *out, void *target)
{
    PliTarget *t = target;
    double sum = 0.0;
    for (PliIndex i = 0; i < t->count; ++i) {
        double p[3] = { 0.0, 0.0, 0.0 }, u[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex k = t->first[i]; k < t->first[i + 1]; ++k) {
            v3_madd(p, t->weight[k], x + 3 * (size_t)t->dof[k]);
            v3_madd(u, t->weight[k], v + 3 * (size_t)t->dof[k]);
        }
        const double *q = t->points + 3 * (size_t)pli_nearest_find(&t->near, p, NULL, NULL);
        double *f = t->force + 3 * (size_t)i, *k6 = t->stiffness + 6 * (size_t)i, *c6 = t->damping + 6 * (size_t)i;
        for (int c = 0; c < 3; ++c) {
            f[c] = t->spring * (q[c] - p[c]) - t->damper * u[c];
            k6[c] = t->spring, c6[c] = t->damper;
            k6[3 + c] = c6[3 + c] = 0.0;
            sum += (q[c] - p[c]) * (q[c] - p[c]);
        }
    }
    t->distance = sqrt(sum / t->count);
    *out = (PliPointForces){ t->count, t->first, t->dof, t->weight, t->force, t->stiffness, t->damping };
}

double pli_target_distance(const PliTarget *t) { return t->distance; }
