/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Shape functions of the finest level at the corners of the grid. A corner is shared among the frame that owns it (Voronoi)
// and the frames around that one, so distances are only measured where they can matter.
#include "scheme/frames/shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"

enum { NEAR_MAX = 96 };

typedef struct Shapes {
    const PliHost *host;
    PliFrameLayout *l;
    const PliVoxels *v;
    PliMarch *march;
    PliIndex *owner;
    PliIndex *cell_first, *cell_corner; ///< corners by owner
    uint8_t *adjacent;                  ///< [count, count]
    PliIndex *near; ///< [count, NEAR_MAX]: the frame itself, then the frames that may act in its cell
    PliIndex *near_count;
    double *apart; ///< [count, NEAR_MAX]: distance between a frame and those near it
    float *d;      ///< distance to near frame k of the owner, blocks by owner
    size_t *d_first, d_count;
    double *radius; ///< smooth weights
} Shapes;

static void shapes_free(Shapes *s)
{
    const size_t n = s->l->count, corners = s->v->corner_count;
    pli_march_destroy(s->march);
    PLI_FREE(s->host, s->owner, corners);
    PLI_FREE(s->host, s->cell_first, n + 2);
    PLI_FREE(s->host, s->cell_corner, corners);
    PLI_FREE(s->host, s->adjacent, n * n);
    PLI_FREE(s->host, s->near, n * NEAR_MAX);
    PLI_FREE(s->host, s->near_count, n);
    PLI_FREE(s->host, s->apart, n * NEAR_MAX);
    PLI_FREE(s->host, s->d, s->d_count);
    PLI_FREE(s->host, s->d_first, n + 1);
    PLI_FREE(s->host, s->radius, n);
}

static PliStatus shapes_init(Shapes *s)
{
    const size_t n = s->l->count, corners = s->v->corner_count;
    s->march = pli_march_create(s->v);
    s->owner = PLI_NEW(s->host, corners, PliIndex);
    s->cell_first = PLI_NEW(s->host, n + 2, PliIndex);
    s->cell_corner = PLI_NEW(s->host, corners, PliIndex);
    s->adjacent = PLI_NEW(s->host, n * n, uint8_t);
    s->near = PLI_NEW(s->host, n * NEAR_MAX, PliIndex);
    s->near_count = PLI_NEW(s->host, n, PliIndex);
    s->apart = PLI_NEW(s->host, n * NEAR_MAX, double);
    s->d_first = PLI_NEW(s->host, n + 1, size_t);
    s->radius = PLI_NEW(s->host, n, double);
    s->l->corner_count = s->v->corner_count;
    s->l->phi_first = PLI_NEW(s->host, corners, PliIndex);
    s->l->phi_count = PLI_NEW(s->host, corners, uint8_t);
    const bool ok = s->march && s->owner && s->cell_first && s->cell_corner && s->adjacent && s->near &&
                    s->near_count && s->apart && s->d_first && s->radius && s->l->phi_first && s->l->phi_count;
    return ok ? PLI_OK : PLI_OUT_OF_MEMORY;
}

// Owner of a corner from the coarse grid: that of the nearest corner of the coarse cell it lies in.
static PliIndex owner_at(const PliVoxels *coarse, const PliIndex *owner, const double p[3])
{
    PliIndex cell, k[8], best = 0, near[3], at[3];
    double least = INFINITY, q[3];
    for (int a = 0; a < 3; ++a) {
        const double s = (p[a] - coarse->origin[a]) / coarse->h;
        near[a] = (PliIndex)ceil(s - 0.5), at[a] = (PliIndex)s;
    }
    if (coarse->cell_of[at[0] + coarse->size[0] * (at[1] + coarse->size[1] * at[2])] != PLI_NONE) {
        best = owner[coarse->corner_of[near[0] + (coarse->size[0] + 1) * (near[1] + (coarse->size[1] + 1) * near[2])]];
        if (best != PLI_NONE) return best;
    }
    best = 0;
    pli_voxels_find(coarse, p, &cell);
    pli_voxels_cell_corners(coarse, cell, k);
    for (int b = 0; b < 8; ++b) {
        pli_voxels_corner_point(coarse, k[b], q);
        const double d = v3_distance(p, q);
        if (d < least && owner[k[b]] != PLI_NONE) least = d, best = owner[k[b]];
    }
    return best;
}

static void list_cells(Shapes *s, const PliVoxels *coarse, const PliIndex *owner)
{
    const PliIndex n = s->l->count, corners = s->v->corner_count;
    for (PliIndex c = 0; c < corners; ++c) {
        double p[3];
        pli_voxels_corner_point(s->v, c, p);
        s->owner[c] = coarse == s->v ? owner[c] : owner_at(coarse, owner, p);
        if (s->owner[c] == PLI_NONE) s->owner[c] = 0; // cannot happen: every piece has a frame
        s->cell_first[s->owner[c] + 2]++;
    }
    for (PliIndex i = 0; i <= n; ++i) s->cell_first[i + 1] += s->cell_first[i];
    for (PliIndex c = 0; c < corners; ++c) s->cell_corner[s->cell_first[s->owner[c] + 1]++] = c;
    for (PliIndex q = 0; q < s->v->cell_count; ++q) {
        PliIndex k[8];
        pli_voxels_cell_corners(s->v, q, k);
        for (int b = 1; b < 8; ++b) {
            const size_t i = s->owner[k[0]], j = s->owner[k[b]];
            if (i != j) s->adjacent[i * n + j] = s->adjacent[j * n + i] = 1;
        }
    }
}

// The frame, its Voronoi neighbours, and for smooth weights the neighbours of those.
static void list_near(Shapes *s, bool second_ring)
{
    const PliIndex n = s->l->count;
    for (size_t i = 0; i < n; ++i) {
        PliIndex *near = s->near + i * NEAR_MAX, count = 0;
        near[count++] = (PliIndex)i;
        for (PliIndex j = 0; j < n && count < NEAR_MAX; ++j)
            if (s->adjacent[i * n + j]) near[count++] = j;
        const PliIndex first = count;
        for (PliIndex a = 1; second_ring && a < first; ++a)
            for (PliIndex j = 0; j < n && count < NEAR_MAX; ++j) {
                if (!s->adjacent[(size_t)near[a] * n + j]) continue;
                bool known = false;
                for (PliIndex b = 0; b < count; ++b) known |= near[b] == j;
                if (!known) near[count++] = j;
            }
        s->near_count[i] = count;
    }
    // symmetric: a distance measured one way is used both ways
    for (PliIndex i = 0; i < n; ++i)
        s->d_first[i + 1] = s->d_first[i] + (size_t)s->near_count[i] * (s->cell_first[i + 1] - s->cell_first[i]);
    s->d_count = s->d_first[n];
}

static PliIndex near_slot(const Shapes *s, PliIndex owner, PliIndex frame)
{
    const PliIndex *near = s->near + (size_t)owner * NEAR_MAX;
    for (PliIndex k = 0; k < s->near_count[owner]; ++k)
        if (near[k] == frame) return k;
    return PLI_NONE;
}

// One march per frame over the cells in which it may act.
static PliStatus measure(Shapes *s)
{
    const PliIndex n = s->l->count, corners = s->v->corner_count;
    PliIndex *list = PLI_NEW(s->host, corners, PliIndex);
    s->d = PLI_NEW(s->host, s->d_count, float);
    if (!list || !s->d) {
        PLI_FREE(s->host, list, corners);
        return PLI_OUT_OF_MEMORY;
    }
    for (PliIndex i = 0; i < n; ++i) {
        PliIndex count = 0;
        for (PliIndex o = 0; o < n; ++o) {
            if (near_slot(s, o, i) == PLI_NONE) continue;
            memcpy(list + count, s->cell_corner + s->cell_first[o],
                   (s->cell_first[o + 1] - s->cell_first[o]) * sizeof *list);
            count += s->cell_first[o + 1] - s->cell_first[o];
        }
        const double *d = pli_march_from(s->march, s->l->x + 3 * (size_t)i, INFINITY, list, count);
        for (PliIndex o = 0; o < n; ++o) {
            const PliIndex slot = near_slot(s, o, i);
            if (slot == PLI_NONE) continue;
            const PliIndex size = s->cell_first[o + 1] - s->cell_first[o];
            float *column = s->d + s->d_first[o] + (size_t)slot * size;
            for (PliIndex c = 0; c < size; ++c) column[c] = (float)d[s->cell_corner[s->cell_first[o] + c]];
        }
        for (PliIndex k = 0; k < s->near_count[i]; ++k) {
            const PliIndex j = s->near[(size_t)i * NEAR_MAX + k];
            s->apart[(size_t)i * NEAR_MAX + k] = j == i ? 0.0 : pli_march_to(s->march, s->l->x + 3 * (size_t)j);
        }
    }
    PLI_FREE(s->host, list, corners);
    return PLI_OK;
}

static double apart(const Shapes *s, PliIndex i, PliIndex j)
{
    const PliIndex a = i < j ? i : j, b = i < j ? j : i, k = near_slot(s, a, b);
    return k == PLI_NONE ? INFINITY : s->apart[(size_t)a * NEAR_MAX + k];
}

static void set_scales(Shapes *s, double support)
{
    const PliIndex n = s->l->count;
    for (PliIndex i = 0; i < n; ++i) {
        double straight = 0.0, path = 0.0, reach = 0.0, far = 0.0;
        PliIndex count = 0;
        for (PliIndex j = 0; j < n; ++j) {
            if (!s->adjacent[(size_t)i * n + j] || !isfinite(apart(s, i, j))) continue;
            straight += v3_distance(s->l->x + 3 * (size_t)i, s->l->x + 3 * (size_t)j);
            path += apart(s, i, j);
            count++;
        }
        const PliIndex size = s->cell_first[i + 1] - s->cell_first[i];
        for (PliIndex c = 0; c < size; ++c) {
            double q[3];
            pli_voxels_corner_point(s->v, s->cell_corner[s->cell_first[i] + c], q);
            far = fmax(far, v3_distance(q, s->l->x + 3 * (size_t)i));
            const double d = (double)s->d[s->d_first[i] + c];
            if (isfinite(d)) reach = fmax(reach, d);
        }
        s->l->scale[i] = fmax(s->v->h, count ? straight / count : far);
        // own cell always covered: the weights must not vanish anywhere
        s->radius[i] = fmax(1.05 * reach, count ? support * path / count : 2.0 * reach);
    }
}

// Weights of the near frames at corner c of the cell of `owner`. `half` is that of pli_bisector for each pair, negative where the
// two do not meet.
static void weigh(const Shapes *s, PliIndex owner, PliIndex c, bool smooth, const double *half, double *w)
{
    const PliIndex count = s->near_count[owner], size = s->cell_first[owner + 1] - s->cell_first[owner];
    const PliIndex *near = s->near + (size_t)owner * NEAR_MAX;
    const float *d = s->d + s->d_first[owner] + c;
    double sum = 0.0, square[NEAR_MAX];
    for (PliIndex a = 0; a < count; ++a) square[a] = (double)d[(size_t)a * size] * (double)d[(size_t)a * size];
    for (PliIndex a = 0; a < count; ++a) {
        w[a] = 0.0;
        if (!isfinite(square[a])) continue;
        if (smooth) {
            const double q = (double)d[(size_t)a * size] / s->radius[near[a]];
            if (q < 1.0) w[a] = (1.0 - q) * (1.0 - q) * (1.0 - q) * (1.0 - q) * (4.0 * q + 1.0);
        } else {
            const double *row = half + a * NEAR_MAX;
            double share = 1.0;
            for (PliIndex b = 0; b < count && share > 0.0; ++b) {
                if (b == a || row[b] < 0.0) continue;
                const double other = pli_bisector(square[a], square[b], row[b]);
                share = other < share ? other : share;
            }
            w[a] = share;
        }
        if (w[a] < 1e-7) w[a] = 0.0;
        sum += w[a];
    }
    if (sum == 0.0) w[0] = sum = 1.0;
    for (PliIndex a = 0; a < count; ++a) w[a] /= sum;
}

// keeps the largest weights when more act than fit
static void trim(double *w, PliIndex count)
{
    for (;;) {
        PliIndex used = 0, least = PLI_NONE;
        double sum = 0.0;
        for (PliIndex a = 0; a < count; ++a)
            if (w[a] > 0.0) {
                used++, sum += w[a];
                if (least == PLI_NONE || w[a] < w[least]) least = a;
            }
        if (used <= PLI_FRAMES_PER_CORNER) break;
        sum -= w[least];
        w[least] = 0.0;
        for (PliIndex a = 0; a < count; ++a) w[a] /= sum;
    }
}

static PliStatus store(Shapes *s, bool smooth)
{
    PliFrameLayout *l = s->l;
    const PliIndex n = l->count;
    double *half = PLI_NEW(s->host, (size_t)NEAR_MAX * NEAR_MAX, double), w[NEAR_MAX];
    size_t used = 0, capacity = 0;
    PliStatus status = half ? PLI_OK : PLI_OUT_OF_MEMORY;
    for (PliIndex o = 0; status == PLI_OK && o < n; ++o) {
        const PliIndex count = s->near_count[o], size = s->cell_first[o + 1] - s->cell_first[o];
        const PliIndex *near = s->near + (size_t)o * NEAR_MAX;
        PliIndex order[NEAR_MAX];
        for (PliIndex a = 0; a < count; ++a) {
            for (PliIndex b = 0; b < count; ++b) {
                const bool meet = near[a] == o || near[b] == o || s->adjacent[(size_t)near[a] * n + near[b]];
                const double between = meet ? apart(s, near[a], near[b]) : INFINITY;
                half[a * NEAR_MAX + b] = isfinite(between) ? pli_bisector_half(between) : -1.0;
            }
            PliIndex k = a; // ascending frames
            for (; k > 0 && near[order[k - 1]] > near[a]; --k) order[k] = order[k - 1];
            order[k] = a;
        }
        for (PliIndex c = 0; status == PLI_OK && c < size; ++c) {
            const PliIndex corner = s->cell_corner[s->cell_first[o] + c];
            weigh(s, o, c, smooth, half, w);
            trim(w, count);
            while (used + PLI_FRAMES_PER_CORNER > l->phi_capacity && status == PLI_OK)
                if (!pli_grow(s->host, (void **)&l->phi_frame, &capacity, sizeof *l->phi_frame) ||
                    !pli_grow(s->host, (void **)&l->phi, &l->phi_capacity, sizeof *l->phi))
                    status = PLI_OUT_OF_MEMORY;
            if (status != PLI_OK) break;
            l->phi_first[corner] = (PliIndex)used;
            for (PliIndex a = 0; a < count; ++a) {
                if (w[order[a]] <= 0.0) continue;
                l->phi_frame[used] = near[order[a]];
                l->phi[used++] = w[order[a]];
            }
            l->phi_count[corner] = (uint8_t)(used - l->phi_first[corner]);
        }
    }
    PLI_FREE(s->host, half, (size_t)NEAR_MAX * NEAR_MAX);
    return status;
}

PliStatus pli_frame_shape_functions(PliFrameLayout *l, const PliVoxels *v, const PliVoxels *coarse,
                                    const PliIndex *owner, const PliFramesDef *def)
{
    const bool smooth = def->shape == PLI_FRAMES_SMOOTH;
    Shapes s = { .host = &l->host, .l = l, .v = v };
    PliStatus status = shapes_init(&s);
    if (status == PLI_OK) {
        list_cells(&s, coarse, owner);
        list_near(&s, smooth);
        status = measure(&s);
    }
    if (status == PLI_OK) {
        set_scales(&s, def->support);
        status = store(&s, smooth);
    }
    shapes_free(&s);
    return status;
}

PliIndex pli_frame_shape(const PliFrameLayout *l, const PliVoxels *v, PliIndex cell, const double t[3], PliIndex *frame,
                         double *phi, double (*grad)[3], double (*mixed)[3])
{
    PliIndex k[8], count = 0;
    pli_voxels_cell_corners(v, cell, k);
    for (int b = 0; b < 8; ++b) {
        double f[3], df[3];
        for (int a = 0; a < 3; ++a) f[a] = b >> a & 1 ? t[a] : 1.0 - t[a], df[a] = (b >> a & 1 ? 1.0 : -1.0) / v->h;
        const double value = f[0] * f[1] * f[2];
        const double slope[3] = { df[0] * f[1] * f[2], f[0] * df[1] * f[2], f[0] * f[1] * df[2] };
        const double twist[3] = { f[0] * df[1] * df[2], df[0] * f[1] * df[2], df[0] * df[1] * f[2] };
        PliIndex at = 0; // frames of a corner ascend, so the search goes on where the last one ended
        for (PliIndex e = l->phi_first[k[b]]; e < l->phi_first[k[b]] + l->phi_count[k[b]]; ++e) {
            while (at < count && frame[at] < l->phi_frame[e]) at++;
            if (at == count || frame[at] != l->phi_frame[e]) {
                if (count == PLI_FRAMES_PER_POINT) continue;
                for (PliIndex m = count; m > at; --m) {
                    frame[m] = frame[m - 1], phi[m] = phi[m - 1];
                    if (grad) memcpy(grad[m], grad[m - 1], sizeof *grad);
                    if (mixed) memcpy(mixed[m], mixed[m - 1], sizeof *mixed);
                }
                count++;
                frame[at] = l->phi_frame[e], phi[at] = 0.0;
                if (grad) memset(grad[at], 0, sizeof *grad);
                if (mixed) memset(mixed[at], 0, sizeof *mixed);
            }
            const double p = l->phi[e];
            phi[at] += p * value;
            if (grad) v3_madd(grad[at], p, slope);
            if (mixed) v3_madd(mixed[at], p, twist);
        }
    }
    return count;
}
