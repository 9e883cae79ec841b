/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Spreads frames level by level (farthest point, then Lloyd) and finds whom each follows. Placing works on a coarser copy of
// large grids: it needs no precision, and a 128^3 grid would cost half a second per Lloyd pass.
#include "scheme/frames/layout.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/frames/shape.h"

enum { PLACING_CORNERS = 40000, CENTRED_FRAMES = 64 };

typedef struct Placing {
    const PliHost *host;
    const PliVoxels *fine;
    const PliVoxels *v; ///< coarse enough
    PliVoxels *own[6];  ///< coarsened copies
    int own_count;
    PliMarch *march;
    PliIndex *owner;
    double *distance, *best;
    double (*moment)[4]; ///< per frame: sum of weights, weighted position
    PliFrameLayout *l;
} Placing;

static void placing_free(Placing *p)
{
    const PliIndex corners = p->v ? p->v->corner_count : 0;
    PLI_FREE(p->host, p->owner, corners);
    PLI_FREE(p->host, p->distance, corners);
    PLI_FREE(p->host, p->best, corners);
    pli_free(p->host, p->moment, p->l->count, sizeof *p->moment);
    pli_march_destroy(p->march);
    for (int i = p->own_count - 1; i >= 0; --i) pli_voxels_destroy(p->own[i]);
}

static PliStatus placing_init(Placing *p)
{
    p->v = p->fine;
    while (p->v->corner_count > PLACING_CORNERS && p->own_count < 6) {
        PliVoxels *coarse = pli_voxels_coarsen(p->v);
        if (!coarse) return PLI_OUT_OF_MEMORY;
        // a body that falls together into fewer pieces has lost gaps that frames must not reach across
        if (coarse->component_count != p->v->component_count) {
            pli_voxels_destroy(coarse);
            break;
        }
        p->own[p->own_count++] = coarse;
        p->v = coarse;
    }
    const PliIndex n = p->v->corner_count;
    p->march = pli_march_create(p->v);
    p->owner = PLI_NEW(p->host, n, PliIndex);
    p->distance = PLI_NEW(p->host, n, double);
    p->best = PLI_NEW(p->host, n, double);
    p->moment = pli_alloc(p->host, p->l->count, sizeof *p->moment);
    if (!p->march || !p->owner || !p->distance || !p->best || !p->moment) return PLI_OUT_OF_MEMORY;
    for (PliIndex c = 0; c < n; ++c) p->best[c] = INFINITY;
    return PLI_OK;
}

// distance to the nearest frame so far, kept up to date as frames appear
static void note_frame(Placing *p, const double x[3])
{
    double farthest = 0.0;
    for (PliIndex c = 0; c < p->v->corner_count; ++c) farthest = p->best[c] > farthest ? p->best[c] : farthest;
    const double *d = pli_march_from(p->march, x, farthest, NULL, 0);
    for (PliIndex c = 0; c < p->v->corner_count; ++c) p->best[c] = d[c] < p->best[c] ? d[c] : p->best[c];
}

// Weighted centres of the Voronoi cells of the first `count` frames. Weight: volume, or compliance where material counts.
static void cell_moments(Placing *p, PliIndex count)
{
    pli_march_voronoi(p->march, p->l->x, count, p->owner, p->distance);
    memset(p->moment, 0, count * sizeof *p->moment);
    for (PliIndex s = 0; s < p->v->cell_count; ++s) {
        PliIndex k[8];
        double q[3];
        pli_voxels_cell_corners(p->v, s, k);
        for (int b = 0; b < 8; ++b) {
            const PliIndex o = p->owner[k[b]];
            if (o == PLI_NONE) continue;
            const double w = (double)p->v->slowness[s];
            pli_voxels_corner_point(p->v, k[b], q);
            p->moment[o][3] += w;
            v3_madd(p->moment[o], w, q);
        }
    }
}

// A place inside the fine grid: as given where that is solid, else in the nearest solid cell.
static void settle_inside(const PliVoxels *v, double x[3])
{
    PliIndex cell;
    if (pli_voxels_find(v, x, &cell) > 0.0) {
        double centre[3];
        pli_voxels_cell_centre(v, cell, centre);
        for (int a = 0; a < 3; ++a) {
            const double low = centre[a] - 0.499 * v->h, high = centre[a] + 0.499 * v->h;
            x[a] = x[a] < low ? low : x[a] > high ? high : x[a];
        }
    }
}

static void move_to_centre(Placing *p, PliIndex frame)
{
    if (p->moment[frame][3] <= 0.0) return;
    double x[3];
    for (int a = 0; a < 3; ++a) x[a] = p->moment[frame][a] / p->moment[frame][3];
    // a centre outside the cell (a bent arm) goes to the nearest corner the frame owns
    PliIndex cell, best = PLI_NONE;
    double least = INFINITY, q[3];
    bool own = false;
    if (pli_voxels_find(p->v, x, &cell) == 0.0) {
        PliIndex k[8];
        pli_voxels_cell_corners(p->v, cell, k);
        for (int b = 0; b < 8; ++b) own |= p->owner[k[b]] == frame;
    }
    for (PliIndex c = 0; !own && c < p->v->corner_count; ++c) {
        if (p->owner[c] != frame) continue;
        pli_voxels_corner_point(p->v, c, q);
        const double d = v3_distance(x, q);
        if (d < least) least = d, best = c;
    }
    if (best != PLI_NONE) pli_voxels_corner_point(p->v, best, x);
    settle_inside(p->fine, x);
    v3_copy(p->l->x + 3 * (size_t)frame, x);
}

// Adds frames until `count` exist, one per connected piece first, then at the farthest corner; each is centred in its cell at
// once, so that the next one does not start from a corner of the section.
static void add_farthest(Placing *p, PliIndex *have, PliIndex count, int level)
{
    while (*have < count) {
        PliIndex far = PLI_NONE;
        for (PliIndex c = 0; c < p->v->corner_count; ++c)
            if (far == PLI_NONE || p->best[c] > p->best[far]) far = c;
        double *x = p->l->x + 3 * (size_t)*have;
        pli_voxels_corner_point(p->v, far, x);
        settle_inside(p->fine, x);
        p->l->level[*have] = (uint8_t)level;
        (*have)++;
        if (p->best[far] == INFINITY) { // a piece without a frame: its middle
            double sum[3] = { 0.0, 0.0, 0.0 };
            PliIndex n = 0;
            for (PliIndex c = 0; c < p->v->corner_count; ++c) {
                if (p->v->component[c] != p->v->component[far]) continue;
                double q[3];
                pli_voxels_corner_point(p->v, c, q);
                v3_add(sum, sum, q);
                n++;
            }
            for (int a = 0; a < 3; ++a) x[a] = sum[a] / n;
            double best = INFINITY, q[3], keep[3];
            v3_copy(keep, x);
            for (PliIndex c = 0; c < p->v->corner_count; ++c) {
                if (p->v->component[c] != p->v->component[far]) continue;
                pli_voxels_corner_point(p->v, c, q);
                if (v3_distance(q, keep) < best) best = v3_distance(q, keep), v3_copy(x, q);
            }
            if (best < p->v->h && pli_voxels_see(p->v, keep, x)) v3_copy(x, keep);
            settle_inside(p->fine, x);
        } else if (count <= CENTRED_FRAMES) { // many frames lie inside anyway
            cell_moments(p, *have);
            move_to_centre(p, *have - 1);
        }
        note_frame(p, x);
    }
}

static void relax(Placing *p, PliIndex have, const uint8_t *pinned, PliIndex first, int iterations)
{
    for (int pass = 0; pass < iterations; ++pass) {
        double moved = 0.0;
        cell_moments(p, have);
        for (PliIndex i = first; i < have; ++i) {
            if (pinned[i]) continue;
            double before[3];
            v3_copy(before, p->l->x + 3 * (size_t)i);
            move_to_centre(p, i);
            moved = fmax(moved, v3_distance(before, p->l->x + 3 * (size_t)i));
        }
        if (moved < 0.05 * p->v->h) break;
    }
    for (PliIndex c = 0; c < p->v->corner_count; ++c) p->best[c] = INFINITY;
    for (PliIndex i = 0; i < have; ++i) note_frame(p, p->l->x + 3 * (size_t)i);
}

static void level_targets(const PliFramesDef *def, int level_count, PliIndex target[8])
{
    for (int k = 0; k < level_count; ++k) {
        const double share = level_count > 1 ? (double)k / (level_count - 1) : 1.0;
        target[k] = def->level_frames[0] ? def->level_frames[k] : (PliIndex)lround(pow(def->frame_count, share));
    }
    target[level_count - 1] = def->frame_count;
}

static PliStatus check(const PliVoxels *v, const PliFramesDef *def, PliError *err)
{
    if (def->frame_count < 1 || def->frame_count > 4096)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: the number of frames is %u; it must be between 1 and 4096",
                          def->frame_count);
    if (def->level_count < 0 || def->level_count > 8)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: the number of levels is %d; it must be between 1 and 8",
                          def->level_count);
    if (def->frame_count < v->component_count)
        return pli_refuse(err, PLI_BAD_ARGUMENT,
                          "frames: %u frames cannot move %u separate pieces; give at least one frame to each",
                          def->frame_count, v->component_count);
    if (def->frame_count > v->cell_count)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: %u frames are more than the %u voxels of the body",
                          def->frame_count, v->cell_count);
    if (def->anchor_count > def->frame_count)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: %u anchors are more than %u frames", def->anchor_count,
                          def->frame_count);
    for (PliIndex i = 0; i < def->anchor_count; ++i) {
        const double *a = def->anchors + 3 * (size_t)i;
        PliIndex cell;
        const double away = pli_voxels_find(v, a, &cell);
        if (!(away <= 1.01 * v->h))
            return pli_refuse(err, PLI_BAD_ARGUMENT,
                              "frames: anchor %u at (%g, %g, %g) is %g m outside the voxel grid of the body", i, a[0],
                              a[1], a[2], away);
        if (def->anchor_level && def->anchor_level[i] >= 8)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "frames: anchor %u asks for level %u; levels are 0 to 7", i,
                              def->anchor_level[i]);
    }
    if (def->level_frames[0]) {
        for (int k = 0; k < def->level_count; ++k)
            if (def->level_frames[k] < (k ? def->level_frames[k - 1] : 1) || def->level_frames[k] > def->frame_count)
                return pli_refuse(err, PLI_BAD_ARGUMENT,
                                  "frames: level %d has %u frames; counts must rise from 1 to %u", k,
                                  def->level_frames[k], def->frame_count);
    }
    return PLI_OK;
}

static int levels_for(const PliFramesDef *def)
{
    if (def->level_count) return def->level_count;
    int n = 1;
    for (double reach = 1.0; reach < def->frame_count && n < 8; reach *= 3.0) n++;
    return n;
}

static PliStatus place(Placing *p, const PliFramesDef *def, PliError *err)
{
    PliFrameLayout *l = p->l;
    uint8_t *pinned = PLI_NEW(p->host, l->count, uint8_t);
    if (!pinned) return PLI_OUT_OF_MEMORY;
    PliIndex target[8], have = 0;
    level_targets(def, l->level_count, target);
    PliStatus status = PLI_OK;
    for (int k = 0; k < l->level_count && status == PLI_OK; ++k) {
        const PliIndex first = have;
        for (PliIndex i = 0; i < def->anchor_count; ++i) {
            const int at = def->anchor_level ? def->anchor_level[i] : i == 0 ? 0 : 1;
            if ((at < l->level_count ? at : l->level_count - 1) != k) continue;
            if (have == l->count || (k == 0 && have == 1)) {
                status = pli_refuse(err, PLI_BAD_ARGUMENT,
                                    "frames: level 0 is one root frame, anchor %u asks for another", i);
                break;
            }
            v3_copy(l->x + 3 * (size_t)have, def->anchors + 3 * (size_t)i);
            settle_inside(p->fine, l->x + 3 * (size_t)have);
            l->level[have] = (uint8_t)k;
            pinned[have] = 1;
            note_frame(p, l->x + 3 * (size_t)have++);
        }
        PliIndex goal = k == 0 ? 1 : target[k];
        if (k == 1 && goal < p->v->component_count) goal = p->v->component_count;
        if (goal < have) goal = have;
        const bool spread = have < goal;
        add_farthest(p, &have, goal, k);
        if (spread && k > 0) relax(p, have, pinned, first, def->lloyd_iterations);
    }
    PLI_FREE(p->host, pinned, l->count);
    return status;
}

// Weights of each frame in the shape functions of the level above it, by the ratio of squared distances (scheme/frames_shape.h).
static PliStatus follow(Placing *p)
{
    PliFrameLayout *l = p->l;
    const PliIndex n = l->count;
    PliIndex coarse = 0; // frames that may have children
    for (PliIndex i = 0; i < n; ++i)
        if (l->level[i] + 1 < l->level_count) coarse = i + 1;
    double *d = PLI_NEW(p->host, (size_t)coarse * n, double); // d[k, i]: from frame k to the place of frame i
    double *w = PLI_NEW(p->host, n, double);
    size_t used = 0;
    PliStatus status = d && w ? PLI_OK : PLI_OUT_OF_MEMORY;
    for (PliIndex k = 0; status == PLI_OK && k < coarse; ++k) {
        pli_march_from(p->march, l->x + 3 * (size_t)k, INFINITY, NULL, 0);
        for (PliIndex i = 0; i < n; ++i)
            d[(size_t)k * n + i] = i == k ? 0.0 : pli_march_to(p->march, l->x + 3 * (size_t)i);
    }
    for (PliIndex i = 0; status == PLI_OK && i < n; ++i) {
        l->parent_first[i] = (PliIndex)used;
        if (l->level[i] == 0) continue;
        PliIndex above = 0;
        while (above < n && l->level[above] < l->level[i]) above++;
        double sum = 0.0;
        for (PliIndex k = 0; k < above; ++k) {
            w[k] = isfinite(d[(size_t)k * n + i]) ? 1.0 : 0.0;
            for (PliIndex j = 0; j < above && w[k] > 0.0; ++j)
                if (j != k)
                    w[k] =
                        fmin(w[k], pli_bisector(d[(size_t)k * n + i] * d[(size_t)k * n + i],
                                                d[(size_t)j * n + i] * d[(size_t)j * n + i],
                                                pli_bisector_half(d[(size_t)(k < j ? k : j) * n + (k < j ? j : k)])));
            if (w[k] < 1e-6) w[k] = 0.0;
            sum += w[k];
        }
        if (sum == 0.0) w[0] = sum = 1.0; // the first frame of a separate piece follows the root
        for (PliIndex k = 0; k < above; ++k) {
            if (w[k] == 0.0) continue;
            if (used == l->parent_capacity) {
                size_t capacity = l->parent_capacity;
                if (!pli_grow(p->host, (void **)&l->parent, &capacity, sizeof *l->parent) ||
                    !pli_grow(p->host, (void **)&l->parent_weight, &l->parent_capacity, sizeof *l->parent_weight)) {
                    status = PLI_OUT_OF_MEMORY;
                    break;
                }
            }
            l->parent[used] = k;
            l->parent_weight[used++] = w[k] / sum;
        }
    }
    l->parent_first[n] = (PliIndex)used;
    PLI_FREE(p->host, d, (size_t)coarse * n);
    PLI_FREE(p->host, w, n);
    return status;
}

PliFrameLayout *pli_frame_layout_create(const PliHost *host, const PliVoxels *v, const PliFramesDef *def, PliError *err)
{
    if (check(v, def, err) != PLI_OK) return NULL;
    PliFrameLayout *l = PLI_NEW(host, 1, PliFrameLayout);
    if (!l) return NULL;
    l->host = *host;
    l->count = def->frame_count;
    l->level_count = levels_for(def);
    l->x = PLI_NEW(host, 3 * (size_t)l->count, double);
    l->scale = PLI_NEW(host, l->count, double);
    l->level = PLI_NEW(host, l->count, uint8_t);
    l->parent_first = PLI_NEW(host, (size_t)l->count + 1, PliIndex);
    Placing p = { .host = host, .fine = v, .l = l };
    PliStatus status = l->x && l->scale && l->level && l->parent_first ? placing_init(&p) : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) status = place(&p, def, err);
    if (status == PLI_OK) status = follow(&p);
    if (status == PLI_OK) {
        pli_march_voronoi(p.march, l->x, l->count, p.owner, p.distance);
        status = pli_frame_shape_functions(l, v, p.v, p.owner, def);
    }
    placing_free(&p);
    if (status == PLI_OUT_OF_MEMORY) pli_refuse(err, status, "no memory for the layout of %u frames", def->frame_count);
    if (status != PLI_OK) {
        pli_frame_layout_destroy(l);
        return NULL;
    }
    return l;
}

void pli_frame_layout_destroy(PliFrameLayout *l)
{
    if (!l) return;
    const PliHost host = l->host;
    PLI_FREE(&host, l->x, 3 * (size_t)l->count);
    PLI_FREE(&host, l->scale, l->count);
    PLI_FREE(&host, l->level, l->count);
    PLI_FREE(&host, l->parent_first, (size_t)l->count + 1);
    PLI_FREE(&host, l->parent, l->parent_capacity);
    PLI_FREE(&host, l->parent_weight, l->parent_capacity);
    PLI_FREE(&host, l->phi_first, l->corner_count);
    PLI_FREE(&host, l->phi_count, l->corner_count);
    PLI_FREE(&host, l->phi_frame, l->phi_capacity);
    PLI_FREE(&host, l->phi, l->phi_capacity);
    PLI_FREE(&host, l, 1);
}
