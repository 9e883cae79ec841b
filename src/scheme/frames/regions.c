/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Splits the body into regions in which the gradients of the frames are nearly linear: always the region with the largest
// residual, along the lattice plane that leaves the least. Planes through frames, where the weights have kinks, are found by
// that rule without being looked for.
#include "scheme/frames/regions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "base/wide.h"
#include "scheme/frames/fit.h"

enum { CELLS_MAX = 60000, BINS_MAX = 128 };
static const double BLOCK_MOST = 0.5; ///< of the distance between frames: larger blocks integrate their weights wrongly

/// A voxel, or a block of voxels of a large grid, as the fit sees it.
typedef struct Cell {
    double p[3];
    double weight; ///< m3 x stiffness
    double volume;
    double spread;         ///< m2, second moment along one axis
    PliIndex first, count; ///< its frames in the shared arrays
    PliIndex at[3];        ///< its lowest voxel, over Splitter.unit
    PliIndex component;
} Cell;

typedef struct Piece {
    PliIndex first, count; ///< its cells
    PliIndex node;
    double residual, square;
    PliIndex frame_count;
    bool stuck; ///< cannot be split
} Piece;

typedef struct Splitter {
    const PliHost *host;
    const PliVoxels *v;
    const PliFrameLayout *l;
    PliIndex stride; ///< voxels along a block
    PliIndex unit;   ///< the stride, or 1 where some blocks are voxels
    Cell *cell;
    PliIndex cell_count, cell_capacity;
    PliIndex *order, *order_scratch;
    PliIndex *frame;    ///< per cell entry
    double (*shape)[7]; ///< phi, grad, mixed
    size_t entry_count, entry_capacity;
    PliIndex *slot; ///< frame -> slot in the piece at hand
    PliIndex *list; ///< slot -> frame
    PliFit *fit;    ///< per axis and bin
    double *value;  ///< per axis and bin: [slots, 12, 4]
    size_t value_capacity;
    Piece *piece;
    PliIndex piece_count, piece_capacity;
    PliFrameRegions *r;
} Splitter;

// ---- cells -----------------------------------------------------------------------------------------------------------------

static int compare_cells(const void *p, const void *q)
{
    const Cell *a = p, *b = q;
    if (a->component != b->component) return a->component < b->component ? -1 : 1;
    for (int k = 2; k >= 0; --k)
        if (a->at[k] != b->at[k]) return a->at[k] < b->at[k] ? -1 : 1;
    return 0;
}

/// m, the least distance to their neighbours of the frames that act at a voxel's first corner.
static double frame_distance(const Splitter *s, PliIndex voxel)
{
    const PliFrameLayout *l = s->l;
    PliIndex corner[8];
    double least = INFINITY;
    pli_voxels_cell_corners(s->v, voxel, corner);
    for (PliIndex e = l->phi_first[corner[0]]; e < l->phi_first[corner[0]] + l->phi_count[corner[0]]; ++e)
        least = fmin(least, l->scale[l->phi_frame[e]]);
    return least;
}

/// Of which block each voxel is, PLI_NONE: of none, because frames are dense there. Blocks are numbered as they appear.
static PliStatus find_blocks(Splitter *s, PliIndex *block)
{
    const PliVoxels *v = s->v;
    const PliIndex k = s->stride,
                   n[3] = { (v->size[0] + k - 1) / k, (v->size[1] + k - 1) / k, (v->size[2] + k - 1) / k };
    const size_t count = (size_t)n[0] * n[1] * n[2];
    uint8_t *dense = PLI_NEW(s->host, count, uint8_t);
    if (!dense) return PLI_OUT_OF_MEMORY;
    for (PliIndex c = 0; c < v->cell_count; ++c) {
        const PliIndex at = v->cell[c];
        block[c] =
            at % v->size[0] / k + n[0] * (at / v->size[0] % v->size[1] / k + n[1] * (at / v->size[0] / v->size[1] / k));
        if (k > 1 && !dense[block[c]]) dense[block[c]] = k * v->h > BLOCK_MOST * frame_distance(s, c);
    }
    s->unit = k;
    for (PliIndex c = 0; c < v->cell_count; ++c)
        if (dense[block[c]]) block[c] = PLI_NONE, s->unit = 1;
    PLI_FREE(s->host, dense, count);
    return PLI_OK;
}

// One cell per block of stride^3 voxels, standing for all its solid ones; its shape functions are those at the voxel nearest
// to their centre. One cell per voxel where frames are dense.
static PliStatus gather_cells(Splitter *s)
{
    const PliVoxels *v = s->v;
    const PliIndex k = s->stride,
                   n[3] = { (v->size[0] + k - 1) / k, (v->size[1] + k - 1) / k, (v->size[2] + k - 1) / k };
    const size_t blocks = (size_t)n[0] * n[1] * n[2];
    PliIndex *of = PLI_NEW(s->host, blocks, PliIndex);
    double(*sum)[4] = pli_alloc(s->host, v->cell_count, sizeof *sum);
    PliIndex *member = PLI_NEW(s->host, v->cell_count, PliIndex);
    s->cell = PLI_NEW(s->host, v->cell_count, Cell);
    s->cell_capacity = v->cell_count;
    PliStatus status = of && sum && member && s->cell ? find_blocks(s, member) : PLI_OUT_OF_MEMORY;
    const double unit = v->h * v->h * v->h * v->fill;
    if (status == PLI_OK) {
        memset(of, 0xff, blocks * sizeof *of);
        for (PliIndex c = 0; c < v->cell_count; ++c) {
            const PliIndex at = v->cell[c], side = member[c] == PLI_NONE ? 1 : k;
            const PliIndex voxel[3] = { at % v->size[0], at / v->size[0] % v->size[1], at / v->size[0] / v->size[1] };
            PliIndex none = PLI_NONE, *b = member[c] == PLI_NONE ? &none : &of[member[c]];
            double p[3];
            if (*b == PLI_NONE) {
                *b = s->cell_count++;
                for (int a = 0; a < 3; ++a) s->cell[*b].at[a] = voxel[a] / side * (side / s->unit);
                s->cell[*b].spread = v->h * v->h * side * side / 12.0;
            }
            member[c] = *b;
            pli_voxels_cell_centre(v, c, p);
            v3_add(sum[*b], sum[*b], p);
            sum[*b][3] += 1.0;
            s->cell[*b].volume += unit;
            s->cell[*b].weight += unit * (double)v->stiffness[c];
        }
        // the voxel of each block nearest to its centre; first stays PLI_NONE until one is found
        for (PliIndex b = 0; b < s->cell_count; ++b) {
            for (int a = 0; a < 3; ++a) sum[b][a] /= sum[b][3];
            s->cell[b].first = PLI_NONE;
            sum[b][3] = INFINITY;
        }
        for (PliIndex c = 0; c < v->cell_count; ++c) {
            double p[3];
            pli_voxels_cell_centre(v, c, p);
            const double d = v3_distance(p, sum[member[c]]);
            if (d < sum[member[c]][3]) sum[member[c]][3] = d, s->cell[member[c]].first = c;
        }
    }
    PliIndex frame[PLI_FRAMES_PER_POINT];
    double phi[PLI_FRAMES_PER_POINT], grad[PLI_FRAMES_PER_POINT][3], mixed[PLI_FRAMES_PER_POINT][3];
    const double middle[3] = { 0.5, 0.5, 0.5 };
    for (PliIndex b = 0; status == PLI_OK && b < s->cell_count; ++b) {
        Cell *cell = &s->cell[b];
        PliIndex corner[8];
        const PliIndex voxel = cell->first, count = pli_frame_shape(s->l, v, voxel, middle, frame, phi, grad, mixed);
        pli_voxels_cell_centre(v, voxel, cell->p);
        pli_voxels_cell_corners(v, voxel, corner);
        cell->component = v->component[corner[0]];
        cell->first = (PliIndex)s->entry_count;
        cell->count = count;
        while (s->entry_count + count > s->entry_capacity && status == PLI_OK) {
            size_t capacity = s->entry_capacity;
            if (!pli_grow(s->host, (void **)&s->frame, &capacity, sizeof *s->frame) ||
                !pli_grow(s->host, (void **)&s->shape, &s->entry_capacity, sizeof *s->shape))
                status = PLI_OUT_OF_MEMORY;
        }
        for (PliIndex e = 0; status == PLI_OK && e < count; ++e) {
            double *out = s->shape[s->entry_count];
            s->frame[s->entry_count++] = frame[e];
            out[0] = phi[e];
            memcpy(out + 1, grad[e], sizeof grad[e]);
            memcpy(out + 4, mixed[e], sizeof mixed[e]);
        }
    }
    if (status == PLI_OK) qsort(s->cell, s->cell_count, sizeof *s->cell, compare_cells);
    PLI_FREE(s->host, of, blocks);
    pli_free(s->host, sum, v->cell_count, sizeof *sum);
    PLI_FREE(s->host, member, v->cell_count);
    return status;
}

// ---- fits -----------------------------------------------------------------------------------------------------------------

// What frame entry e of a cell adds to the moments of its 12 values: the gradients of the four basis functions, times the
// frame's scale so that all are of order one. p is the place of the cell relative to the origin of the sums, for the sake of
// digits. @return what it adds to the square.
static double entry_moments(const Splitter *s, const Cell *cell, PliIndex e, const double p[3], double out[12][4])
{
    const PliIndex i = s->frame[e];
    const double w = cell->weight, spread = cell->spread, *sh = s->shape[e], size = s->l->scale[i];
    const double second[3][3] = { { 0.0, sh[6], sh[5] }, { sh[6], 0.0, sh[4] }, { sh[5], sh[4], 0.0 } };
    double square = 0.0;
    for (int c = 0; c < 4; ++c) {
        const double arm =
            c < 3 ? cell->p[c] - s->l->x[3 * (size_t)i + c] : size; // size times the coordinate in the frame
        for (int k = 0; k < 3; ++k) {
            // g = d_k (phi xi_c); its slope inside the voxel enters the moments as the voxel's own extent
            const double y = sh[1 + k] * arm + (c == k ? sh[0] : 0.0) + (c < 3 ? spread * second[k][c] : 0.0);
            double *v = out[3 * c + k], inner = 0.0;
            v[0] = w * y;
            for (int m = 0; m < 3; ++m) {
                const double slope = second[k][m] * arm + (c == m ? sh[1 + k] : 0.0) + (c == k ? sh[1 + m] : 0.0);
                v[1 + m] = w * (y * p[m] + spread * slope);
                inner += slope * slope;
            }
            square += w * (y * y + spread * inner);
        }
    }
    return square;
}

static void add_moments(double *value, const double moments[12][4])
{
    for (int k = 0; k < 48; ++k) value[k] += moments[k / 4][k % 4];
}

static void add_cell(const Splitter *s, const Cell *cell, const double origin[3], PliFit *fit, double *value)
{
    double p[3], moments[12][4];
    v3_sub(p, cell->p, origin);
    pli_fit_place(fit, cell->weight, p, cell->spread);
    for (PliIndex e = cell->first; e < cell->first + cell->count; ++e) {
        fit->square += entry_moments(s, cell, e, p, moments);
        add_moments(value + 48 * (size_t)s->slot[s->frame[e]], moments);
    }
}

static double residual_of(const PliFit *fit, const double *value, PliIndex slots)
{
    PliFitFrame frame;
    double kept = 0.0;
    if (!(fit->m[0] > 0.0)) return 0.0;
    pli_fit_frame(fit, &frame);
    for (size_t k = 0; k < 12 * (size_t)slots; ++k) {
        double q[4];
        pli_fit_solve(&frame, value + 4 * k, q);
        kept += q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    }
    return fmax(0.0, fit->square - fit->m[0] * kept);
}

// Numbers the frames of a piece; false when they are more than `limit`.
static PliIndex list_frames(Splitter *s, const Piece *p)
{
    PliIndex count = 0;
    for (PliIndex q = p->first; q < p->first + p->count; ++q) {
        const Cell *c = &s->cell[s->order[q]];
        for (PliIndex e = c->first; e < c->first + c->count; ++e) {
            const PliIndex i = s->frame[e];
            if (s->slot[i] == PLI_NONE) s->slot[i] = count, s->list[count++] = i;
        }
    }
    return count;
}

static void forget_frames(Splitter *s, PliIndex count)
{
    for (PliIndex k = 0; k < count; ++k) s->slot[s->list[k]] = PLI_NONE;
}

static void piece_origin(const Splitter *s, const Piece *p, double origin[3])
{
    v3_copy(origin, s->cell[s->order[p->first + p->count / 2]].p);
}

static PliStatus reserve_values(Splitter *s, size_t doubles)
{
    if (doubles <= s->value_capacity) return PLI_OK;
    PLI_FREE(s->host, s->value, s->value_capacity);
    s->value_capacity = 2 * doubles;
    s->value = PLI_NEW(s->host, s->value_capacity, double);
    return s->value ? PLI_OK : PLI_OUT_OF_MEMORY;
}

static PliStatus judge(Splitter *s, Piece *p)
{
    const PliIndex slots = list_frames(s, p);
    PliStatus status = reserve_values(s, 48 * (size_t)slots);
    if (status != PLI_OK) return status;
    double origin[3];
    piece_origin(s, p, origin);
    memset(s->fit, 0, sizeof *s->fit);
    memset(s->value, 0, 48 * (size_t)slots * sizeof *s->value);
    for (PliIndex q = p->first; q < p->first + p->count; ++q)
        add_cell(s, &s->cell[s->order[q]], origin, s->fit, s->value);
    p->residual = residual_of(s->fit, s->value, slots);
    p->square = s->fit->square;
    p->frame_count = slots;
    forget_frames(s, slots);
    return PLI_OK;
}

typedef struct Cutting {
    int axis;
    PliIndex at; ///< cells with lattice place below this go left
} Cutting;

/// Layers of cells along one axis, in bins.
typedef struct Bins {
    PliIndex low, layers, count; ///< first layer, layers, bins
    PliFit *fit;                 ///< [count + 1]
    double *value;               ///< [count + 1, slots, 12, 4]
} Bins;

static PliIndex bin_of(const Bins *b, PliIndex at)
{
    return (PliIndex)((uint64_t)(at - b->low) * b->count / b->layers);
}

// Sums the cells of a piece in the bins of all three axes at once: finding out what a cell adds costs more than adding it.
PLI_WIDE static PliStatus fill_bins(Splitter *s, const Piece *p, PliIndex slots, const double origin[3], Bins bins[3])
{
    const size_t width = 48 * (size_t)slots;
    size_t total = 0;
    for (int axis = 0; axis < 3; ++axis) {
        PliIndex low = PLI_NONE, high = 0, count = slots < 32 ? BINS_MAX : 4096 / slots < 8 ? 8 : 4096 / slots;
        for (PliIndex q = p->first; q < p->first + p->count; ++q) {
            const PliIndex at = s->cell[s->order[q]].at[axis];
            low = at < low ? at : low, high = at > high ? at : high;
        }
        const PliIndex layers = high - low + 1;
        if (count > layers) count = layers;
        if (count > BINS_MAX) count = BINS_MAX;
        bins[axis] = (Bins){ low, layers, count, s->fit + axis * (BINS_MAX + 1), NULL };
        total += width * (count + 1);
    }
    const PliStatus status = reserve_values(s, total);
    if (status != PLI_OK) return status;
    memset(s->value, 0, total * sizeof *s->value);
    memset(s->fit, 0, 3 * (BINS_MAX + 1) * sizeof *s->fit);
    bins[0].value = s->value;
    for (int axis = 1; axis < 3; ++axis) bins[axis].value = bins[axis - 1].value + width * (bins[axis - 1].count + 1);
    for (PliIndex q = p->first; q < p->first + p->count; ++q) {
        const Cell *c = &s->cell[s->order[q]];
        double place[3], moments[12][4], *value[3];
        PliFit one = { 0 };
        v3_sub(place, c->p, origin);
        pli_fit_place(&one, c->weight, place, c->spread);
        for (int axis = 0; axis < 3; ++axis) value[axis] = bins[axis].value + width * bin_of(&bins[axis], c->at[axis]);
        for (PliIndex e = c->first; e < c->first + c->count; ++e) {
            one.square += entry_moments(s, c, e, place, moments);
            for (int axis = 0; axis < 3; ++axis) add_moments(value[axis] + 48 * (size_t)s->slot[s->frame[e]], moments);
        }
        for (int axis = 0; axis < 3; ++axis) {
            PliFit *fit = &bins[axis].fit[bin_of(&bins[axis], c->at[axis])];
            for (int k = 0; k < 10; ++k) fit->m[k] += one.m[k];
            fit->square += one.square;
        }
    }
    return PLI_OK;
}

// The best plane along one axis, by running sums from both ends.
static void try_axis(int axis, const Bins *bins, PliIndex slots, double *best, Cutting *cut)
{
    const size_t width = 48 * (size_t)slots;
    const PliIndex count = bins->count;
    PliFit *fit = bins->fit, *rest = &fit[count];
    double *value = bins->value, *rest_value = value + width * count;
    // bin b becomes the sum of bins up to b; the last place holds the rest
    for (PliIndex b = 1; b < count; ++b) {
        for (int k = 0; k < 10; ++k) fit[b].m[k] += fit[b - 1].m[k];
        fit[b].square += fit[b - 1].square;
        for (size_t k = 0; k < width; ++k) value[width * b + k] += value[width * (b - 1) + k];
    }
    for (PliIndex b = 0; b + 1 < count; ++b) {
        for (int k = 0; k < 10; ++k) rest->m[k] = fit[count - 1].m[k] - fit[b].m[k];
        rest->square = fit[count - 1].square - fit[b].square;
        for (size_t k = 0; k < width; ++k) rest_value[k] = value[width * (count - 1) + k] - value[width * b + k];
        const double left = residual_of(&fit[b], value + width * b, slots);
        const double sum = left + residual_of(rest, rest_value, slots);
        if (sum < *best * (1.0 - 1e-9)) {
            PliIndex at = bins->low; // first layer whose bin lies beyond b
            while (bin_of(bins, at) <= b) at++;
            *best = sum;
            *cut = (Cutting){ axis, at };
        }
    }
}

static PliStatus split(Splitter *s, PliIndex which)
{
    Piece *p = &s->piece[which];
    const PliIndex slots = list_frames(s, p);
    double origin[3], best = INFINITY;
    Cutting cut = { .axis = -1 };
    piece_origin(s, p, origin);
    Bins bins[3];
    PliStatus status = fill_bins(s, p, slots, origin, bins);
    for (int axis = 0; axis < 3 && status == PLI_OK; ++axis) try_axis(axis, &bins[axis], slots, &best, &cut);
    forget_frames(s, slots);
    if (status != PLI_OK) return status;
    if (cut.axis < 0) {
        p->stuck = true;
        return PLI_OK;
    }
    PliIndex left = 0, right = 0;
    for (PliIndex q = 0; q < p->count; ++q) {
        const PliIndex c = s->order[p->first + q];
        if (s->cell[c].at[cut.axis] < cut.at)
            s->order[p->first + left++] = c;
        else
            s->order_scratch[right++] = c;
    }
    memcpy(s->order + p->first + left, s->order_scratch, right * sizeof *s->order);
    PliFrameRegions *r = s->r;
    const PliIndex node = p->node, fresh = r->node_count;
    r->node_count += 2;
    for (PliIndex k = 0; k < 2; ++k) {
        r->node[fresh + k] = (PliRegionNode){ { PLI_NONE, PLI_NONE }, node, PLI_NONE };
        r->node[node].child[k] = fresh + k;
    }
    Piece *other = &s->piece[s->piece_count++];
    *other = (Piece){ .first = p->first + left, .count = right, .node = fresh + 1 };
    p->count = left;
    p->node = fresh;
    status = judge(s, p);
    return status == PLI_OK ? judge(s, other) : status;
}

// ---- result --------------------------------------------------------------------------------------------------------------

static int compare_indices(const void *p, const void *q)
{
    const PliIndex a = *(const PliIndex *)p, b = *(const PliIndex *)q;
    return a < b ? -1 : a > b;
}

// Weights that vary along one direction only: transverse contraction cannot follow the bending strain there. True when one
// direction carries 98 % of the squared gradients of the weights.
static bool varies_one_way(const double *grad, PliIndex slots)
{
    double m[9] = { 0.0 }, x[3] = { 0.3, 0.5, 0.8 }, y[3], trace, most = 0.0;
    for (int c = 0; c < 4; ++c)
        for (PliIndex k = 0; k < slots; ++k) {
            const double *g = grad + 12 * ((size_t)c * slots + k) + 9;
            for (int a = 0; a < 9; ++a) m[a] += g[a / 3] * g[a % 3];
        }
    trace = m[0] + m[4] + m[8];
    for (int pass = 0; pass < 60; ++pass) {
        m3_apply(y, m, x);
        most = v3_norm(y);
        if (!(most > 0.0)) return false;
        v3_copy(x, y);
        v3_scale(x, 1.0 / most);
    }
    return most > 0.98 * trace;
}

static PliStatus emit(Splitter *s, const Piece *p, PliAntilock antilock)
{
    PliFrameRegions *r = s->r;
    const PliIndex region = r->count++, slots = list_frames(s, p);
    PliStatus status = reserve_values(s, 48 * (size_t)slots);
    while (status == PLI_OK && r->frame_first[region] + slots > r->frame_capacity)
        if (!pli_grow(s->host, (void **)&r->frame, &r->frame_capacity, sizeof *r->frame)) status = PLI_OUT_OF_MEMORY;
    while (status == PLI_OK && r->grad_first[region] + 48 * (size_t)slots > r->grad_capacity)
        if (!pli_grow(s->host, (void **)&r->grad, &r->grad_capacity, sizeof *r->grad)) status = PLI_OUT_OF_MEMORY;
    if (status != PLI_OK) return status;
    // ascending frames
    forget_frames(s, slots);
    qsort(s->list, slots, sizeof *s->list, compare_indices);
    for (PliIndex k = 0; k < slots; ++k) s->slot[s->list[k]] = k;
    double origin[3], volume = 0.0, weight = 0.0;
    piece_origin(s, p, origin);
    memset(s->fit, 0, sizeof *s->fit);
    memset(s->value, 0, 48 * (size_t)slots * sizeof *s->value);
    for (PliIndex q = p->first; q < p->first + p->count; ++q) {
        const Cell *c = &s->cell[s->order[q]];
        add_cell(s, c, origin, s->fit, s->value);
        volume += c->volume;
        weight += c->weight;
    }
    PliFitFrame frame;
    pli_fit_frame(s->fit, &frame);
    double *grad = r->grad + r->grad_first[region];
    for (size_t k = 0; k < 12 * (size_t)slots; ++k) {
        double q[4];
        pli_fit_solve(&frame, s->value + 4 * k, q);
        for (int c = 0; c < 4; ++c) {
            const double *corner = PLI_FIT_CORNER[c];
            grad[(size_t)c * 12 * slots + k] =
                (q[0] + corner[0] * q[1] + corner[1] * q[2] + corner[2] * q[3]) / s->l->scale[s->list[k / 12]];
        }
    }
    for (int c = 0; c < 4; ++c) {
        double *x = r->point + 12 * (size_t)region + 3 * c;
        pli_fit_point(&frame, c, x);
        v3_add(x, x, origin);
    }
    memcpy(r->frame + r->frame_first[region], s->list, slots * sizeof *s->list);
    r->frame_first[region + 1] = r->frame_first[region] + slots;
    r->grad_first[region + 1] = r->grad_first[region] + 48 * (size_t)slots;
    r->volume[region] = volume;
    r->stiffness[region] = weight / volume;
    r->antilock[region] = antilock == PLI_ANTILOCK_ON || (antilock == PLI_ANTILOCK_AUTO && varies_one_way(grad, slots));
    r->node[p->node].leaf = region;
    forget_frames(s, slots);
    return PLI_OK;
}

// children before parents: numbers run backwards from the tops
static void reverse_nodes(PliFrameRegions *r)
{
    const PliIndex n = r->node_count;
    for (PliIndex i = 0; i < n; ++i) {
        PliRegionNode *node = &r->node[i];
        for (int k = 0; k < 2; ++k)
            if (node->child[k] != PLI_NONE) node->child[k] = n - 1 - node->child[k];
        if (node->parent != PLI_NONE) node->parent = n - 1 - node->parent;
    }
    for (PliIndex i = 0; i < n / 2; ++i) {
        const PliRegionNode t = r->node[i];
        r->node[i] = r->node[n - 1 - i], r->node[n - 1 - i] = t;
    }
}

static PliStatus run(Splitter *s, const PliFramesDef *def, PliIndex most)
{
    PliStatus status = gather_cells(s);
    if (status != PLI_OK) return status;
    s->order = PLI_NEW(s->host, s->cell_count, PliIndex);
    s->order_scratch = PLI_NEW(s->host, s->cell_count, PliIndex);
    s->slot = PLI_NEW(s->host, s->l->count, PliIndex);
    s->list = PLI_NEW(s->host, s->l->count, PliIndex);
    s->fit = PLI_NEW(s->host, 3 * (BINS_MAX + 1), PliFit);
    s->piece = PLI_NEW(s->host, s->piece_capacity, Piece);
    if (!s->order || !s->order_scratch || !s->slot || !s->list || !s->fit || !s->piece) return PLI_OUT_OF_MEMORY;
    memset(s->slot, 0xff, s->l->count * sizeof *s->slot);
    double square = 0.0;
    for (PliIndex c = 0; c < s->cell_count && status == PLI_OK; ++c) {
        s->order[c] = c;
        if (c + 1 < s->cell_count && s->cell[c + 1].component == s->cell[c].component) continue;
        const PliIndex first =
            s->piece_count ? s->piece[s->piece_count - 1].first + s->piece[s->piece_count - 1].count : 0;
        Piece *p = &s->piece[s->piece_count++];
        *p = (Piece){ .first = first, .count = c + 1 - first, .node = s->r->node_count };
        s->r->node[s->r->node_count++] = (PliRegionNode){ { PLI_NONE, PLI_NONE }, PLI_NONE, PLI_NONE };
        status = judge(s, p);
        square += p->square;
    }
    while (status == PLI_OK) {
        double sum = 0.0, worst = 0.0;
        PliIndex which = PLI_NONE;
        for (PliIndex k = 0; k < s->piece_count; ++k) {
            const Piece *p = &s->piece[k];
            sum += p->residual;
            // a region that more frames reach than a sample may hold is split whatever its residual
            const double score = p->frame_count > PLI_REGION_FRAMES ? 1e9 + p->frame_count : p->residual;
            if (!p->stuck && p->count > 1 && score > worst) worst = score, which = k;
        }
        s->r->residual = square > 0.0 ? sum / square : 0.0;
        if (which == PLI_NONE || s->piece_count == s->piece_capacity) break;
        if (worst < 1e9 && (s->piece_count >= most || s->r->residual <= def->linearity)) break;
        status = split(s, which);
    }
    for (PliIndex k = 0; k < s->piece_count && status == PLI_OK; ++k) {
        if (s->piece[k].frame_count > PLI_FRAMES_PER_POINT) return PLI_OVER_CAPACITY;
        status = emit(s, &s->piece[k], def->antilock);
    }
    reverse_nodes(s->r);
    return status;
}

PliFrameRegions *pli_frame_regions_create(const PliHost *host, const PliVoxels *v, const PliFrameLayout *l,
                                          const PliFramesDef *def, PliError *err)
{
    PliIndex most = def->regions ? def->regions : 8 * l->count;
    if (most < v->component_count) most = v->component_count;
    PliFrameRegions *r = PLI_NEW(host, 1, PliFrameRegions);
    if (!r) return NULL;
    r->host = *host;
    r->capacity = 4 * most + 64; // regions that had to be split because too many frames met in them come on top
    r->frame_first = PLI_NEW(host, (size_t)r->capacity + 1, PliIndex);
    r->grad_first = PLI_NEW(host, (size_t)r->capacity + 1, size_t);
    r->point = PLI_NEW(host, 12 * (size_t)r->capacity, double);
    r->volume = PLI_NEW(host, r->capacity, double);
    r->stiffness = PLI_NEW(host, r->capacity, double);
    r->antilock = PLI_NEW(host, r->capacity, uint8_t);
    r->node = PLI_NEW(host, 2 * (size_t)r->capacity, PliRegionNode);
    Splitter s = { .host = host, .v = v, .l = l, .r = r, .stride = 1, .piece_capacity = r->capacity };
    while (v->cell_count / (s.stride * s.stride * s.stride) > CELLS_MAX) s.stride++;
    PliStatus status = PLI_OUT_OF_MEMORY;
    if (r->frame_first && r->grad_first && r->point && r->volume && r->stiffness && r->antilock && r->node)
        status = run(&s, def, most);
    PLI_FREE(host, s.cell, s.cell_capacity);
    PLI_FREE(host, s.order, s.cell_count);
    PLI_FREE(host, s.order_scratch, s.cell_count);
    PLI_FREE(host, s.frame, s.entry_capacity);
    pli_free(host, s.shape, s.entry_capacity, sizeof *s.shape);
    PLI_FREE(host, s.slot, l->count);
    PLI_FREE(host, s.list, l->count);
    PLI_FREE(host, s.fit, 3 * (BINS_MAX + 1));
    PLI_FREE(host, s.value, s.value_capacity);
    PLI_FREE(host, s.piece, s.piece_capacity);
    if (status != PLI_OK) {
        pli_frame_regions_destroy(r);
        pli_refuse(err, status,
                   status == PLI_OVER_CAPACITY
                       ? "more than %d frames act in one voxel: use fewer frames or smaller voxels"
                       : "no memory for integration regions (%d frames)",
                   status == PLI_OVER_CAPACITY ? PLI_FRAMES_PER_POINT : (int)l->count);
        return NULL;
    }
    return r;
}

void pli_frame_regions_destroy(PliFrameRegions *r)
{
    if (!r) return;
    const PliHost host = r->host;
    PLI_FREE(&host, r->frame_first, (size_t)r->capacity + 1);
    PLI_FREE(&host, r->frame, r->frame_capacity);
    PLI_FREE(&host, r->grad_first, (size_t)r->capacity + 1);
    PLI_FREE(&host, r->grad, r->grad_capacity);
    PLI_FREE(&host, r->point, 12 * (size_t)r->capacity);
    PLI_FREE(&host, r->volume, r->capacity);
    PLI_FREE(&host, r->stiffness, r->capacity);
    PLI_FREE(&host, r->antilock, r->capacity);
    PLI_FREE(&host, r->node, 2 * (size_t)r->capacity);
    PLI_FREE(&host, r, 1);
}
