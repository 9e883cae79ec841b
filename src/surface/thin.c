/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "surface/thin.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "surface/skin.h"

/// Classes of sharpness: of a cube corners are in 3, edges in 2, faces in 0.
enum { CLASSES = 8 };

typedef struct Thinning {
    const PliSkin *skin;
    double *normal; ///< of any length, per point
    uint8_t *sharp; ///< class, per point
    double sag;     ///< m
    double *area;
    PliIndex *keeper; ///< who stands for each; PLI_NONE: nobody yet
    PliIndex kept;
} Thinning;

/// m, how far point i is above or below the plane at point k.
static double height(const Thinning *t, PliIndex i, PliIndex k)
{
    const double *n = t->normal + 3 * (size_t)k, length = v3_norm(n);
    double d[3];
    v3_sub(d, t->skin->rest + 3 * (size_t)i, t->skin->rest + 3 * (size_t)k);
    return length > 0.0 ? fabs(v3_dot(d, n)) / length : 0.0;
}

static void stand_for(PliIndex i, void *user)
{
    Thinning *t = user;
    if (t->keeper[i] != PLI_NONE) return;
    if (t->sag > 0.0 && t->sharp[t->kept] == 0 && height(t, i, t->kept) > t->sag) return;
    t->keeper[i] = t->kept;
    if (i == t->kept) return;
    t->area[t->kept] += t->area[i];
    t->area[i] = 0.0;
}

/// By how much the normals around a point, of length area, cancel. `normal` [points, 3] is scratch.
static void classify(const PliSkin *s, double *normal, uint8_t *sharp)
{
    for (PliIndex t = 0; t < s->tri_count; ++t) {
        const PliIndex *c = s->tris + 3 * (size_t)t;
        double a[3], b[3], n[3];
        v3_sub(a, s->rest + 3 * (size_t)c[1], s->rest + 3 * (size_t)c[0]);
        v3_sub(b, s->rest + 3 * (size_t)c[2], s->rest + 3 * (size_t)c[0]);
        v3_cross(n, a, b);
        for (int k = 0; k < 3; ++k) v3_madd(normal + 3 * (size_t)c[k], 1.0 / 6.0, n);
    }
    for (PliIndex i = 0; i < s->point_count; ++i) {
        const double flat = s->area[i] > 0.0 ? v3_norm(normal + 3 * (size_t)i) / s->area[i] : 1.0;
        sharp[i] = (uint8_t)fmax(0.0, fmin(CLASSES - 1, CLASSES * (1.0 - flat)));
    }
}

void pli_thin_free(const PliHost *host, PliThin *thin)
{
    PLI_FREE(host, thin->point, thin->all);
    PLI_FREE(host, thin->area, thin->all);
    *thin = (PliThin){ 0 };
}

PliStatus pli_skin_thin(const PliSkin *s, const PliThinning *how, PliThin *thin)
{
    const PliIndex n = s->point_count, *some = how->from ? how->from->point : NULL;
    const PliIndex count = some ? how->from->count : n;
    const double spacing = how->spacing;
    pli_thin_free(&s->host, thin);
    *thin = (PliThin){ .all = n, .spacing = spacing };
    thin->point = PLI_NEW(&s->host, n, PliIndex);
    thin->area = PLI_NEW(&s->host, n, double);
    Thinning t = { .skin = s, .sag = how->sag, .area = thin->area };
    t.keeper = PLI_NEW(&s->host, n, PliIndex);
    t.normal = PLI_NEW(&s->host, 3 * (size_t)n, double);
    t.sharp = PLI_NEW(&s->host, n, uint8_t);
    const bool ok = thin->point && thin->area && t.keeper && t.normal && t.sharp;
    if (ok) {
        memcpy(t.area, some ? how->from->area : s->area, n * sizeof *t.area);
        memset(t.keeper, some ? 0 : 0xff, n * sizeof *t.keeper); // what is not there somebody stands for already
        for (PliIndex k = 0; some && k < count; ++k) t.keeper[some[k]] = PLI_NONE;
        classify(s, t.normal, t.sharp);
    }
    for (int class = CLASSES - 1; ok && class >= 0; --class)
        for (t.kept = 0; t.kept < n; ++t.kept) {
            if (t.keeper[t.kept] != PLI_NONE || t.sharp[t.kept] != class) continue;
            t.keeper[t.kept] = t.kept;
            if (spacing > 0.0) pli_nearest_within(&s->near, s->rest + 3 * (size_t)t.kept, spacing, stand_for, &t);
        }
    for (PliIndex k = 0; ok && k < count; ++k) {
        const PliIndex i = some ? some[k] : k;
        if (t.keeper[i] == i) thin->point[thin->count++] = i;
    }
    PLI_FREE(&s->host, t.keeper, n);
    PLI_FREE(&s->host, t.normal, 3 * (size_t)n);
    PLI_FREE(&s->host, t.sharp, n);
    if (!ok) pli_thin_free(&s->host, thin);
    return ok ? PLI_OK : PLI_OUT_OF_MEMORY;
}
