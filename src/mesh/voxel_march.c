/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Geodesic distances on the corners of a voxel grid: straight lines where the source sees the corner, fast marching beyond.
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "mesh/voxel.h"

typedef struct HeapItem {
    double key;
    PliIndex corner;
} HeapItem;

struct PliMarch {
    const PliVoxels *v;
    double *distance;
    float *slow;     ///< per corner: least slowness of its solid cells
    uint8_t *done;   ///< 0 untouched, 1 in the heap, 2 final
    PliIndex *place; ///< corner -> heap position
    HeapItem *heap;
    PliIndex heap_count;
    PliIndex *touched; ///< corners to clear before the next run
    PliIndex touched_count;
    uint8_t *allowed; ///< corners of the list of a restricted run
    uint32_t
        *blocked; ///< per lattice corner: cells before it along all axes that end a straight line (summed-area table)
    double source[3];
};

typedef struct Steps {
    PliIndex n[2]; ///< corners per lattice row and plane
} Steps;

static Steps corner_steps(const PliVoxels *v)
{
    return (Steps){ { v->size[0] + 1, (v->size[0] + 1) * (v->size[1] + 1) } };
}

// A box without blocked cells is solid and of one slowness: where slownesses change, the cells on both sides have a clear
// radius of 1.
static void sum_blocked(PliMarch *m)
{
    const PliVoxels *v = m->v;
    const Steps steps = corner_steps(v);
    const int least = v->uniform ? 1 : 2;
    const uint8_t *clear = v->clear;
    for (PliIndex k = 1; k <= v->size[2]; ++k)
        for (PliIndex j = 1; j <= v->size[1]; ++j) {
            uint32_t *row = m->blocked + (size_t)steps.n[1] * k + (size_t)steps.n[0] * j, sum = 0;
            const uint32_t *below = row - steps.n[0], *behind = row - steps.n[1], *both = behind - steps.n[0];
            for (PliIndex i = 1; i <= v->size[0]; ++i) {
                sum += *clear++ < least;
                row[i] = sum + below[i] + behind[i] - both[i];
            }
        }
}

PliMarch *pli_march_create(const PliVoxels *v)
{
    const PliHost *host = &v->host;
    PliMarch *m = PLI_NEW(host, 1, PliMarch);
    if (!m) return NULL;
    m->v = v;
    m->distance = PLI_NEW(host, v->corner_count, double);
    m->slow = PLI_NEW(host, v->corner_count, float);
    m->done = PLI_NEW(host, v->corner_count, uint8_t);
    m->place = PLI_NEW(host, v->corner_count, PliIndex);
    m->heap = PLI_NEW(host, v->corner_count, HeapItem);
    m->touched = PLI_NEW(host, v->corner_count, PliIndex);
    m->allowed = PLI_NEW(host, v->corner_count, uint8_t);
    m->blocked = PLI_NEW(host, v->lattice_corners, uint32_t);
    if (!m->allowed || !m->blocked || !m->distance || !m->slow || !m->done || !m->place || !m->heap || !m->touched) {
        pli_march_destroy(m);
        return NULL;
    }
    for (PliIndex c = 0; c < v->corner_count; ++c) m->distance[c] = INFINITY, m->slow[c] = INFINITY;
    for (PliIndex s = 0; s < v->cell_count; ++s) {
        PliIndex k[8];
        pli_voxels_cell_corners(v, s, k);
        for (int b = 0; b < 8; ++b)
            if (v->slowness[s] < m->slow[k[b]]) m->slow[k[b]] = v->slowness[s];
    }
    sum_blocked(m);
    return m;
}

void pli_march_destroy(PliMarch *m)
{
    if (!m) return;
    const PliHost host = m->v->host;
    const PliIndex n = m->v->corner_count;
    PLI_FREE(&host, m->distance, n);
    PLI_FREE(&host, m->slow, n);
    PLI_FREE(&host, m->done, n);
    PLI_FREE(&host, m->place, n);
    PLI_FREE(&host, m->heap, n);
    PLI_FREE(&host, m->touched, n);
    PLI_FREE(&host, m->allowed, n);
    PLI_FREE(&host, m->blocked, m->v->lattice_corners);
    PLI_FREE(&host, m, 1);
}

// ---- seeing ------------------------------------------------------------------------------------------------------------

// Clear radius at a point in lattice units (0: outside, or only cells of another slowness touch it). A point on a face,
// edge or corner belongs to every cell that touches it.
static int clear_at(const PliVoxels *v, const double s[3], float slowness)
{
    const double eps = 1e-7;
    PliIndex low[3], high[3];
    for (int a = 0; a < 3; ++a) {
        if (!(s[a] > 0.0 && s[a] < v->size[a])) return 0;
        low[a] = (PliIndex)(s[a] - eps > 0.0 ? s[a] - eps : 0.0);
        high[a] = (PliIndex)(s[a] + eps);
        if (high[a] >= v->size[a]) high[a] = v->size[a] - 1;
    }
    int best = 0;
    for (PliIndex k = low[2]; k <= high[2]; ++k)
        for (PliIndex j = low[1]; j <= high[1]; ++j)
            for (PliIndex i = low[0]; i <= high[0]; ++i) {
                const PliIndex c = i + v->size[0] * (j + v->size[1] * k);
                const int clear = v->clear[c];
                if (clear > best && (v->uniform || v->slowness[v->cell_of[c]] == slowness)) best = clear;
            }
    return best;
}

// Walks from `from` to `to` (lattice units) in strides that the clear radius makes safe. Everything within `around` cells of
// `to` is known to be clear.
static bool sees(const PliVoxels *v, const double from[3], const double to[3], float slowness, double around)
{
    double d[3];
    v3_sub(d, to, from);
    double longest = 0.0;
    for (int a = 0; a < 3; ++a) longest = fabs(d[a]) > longest ? fabs(d[a]) : longest;
    if (longest == 0.0) return clear_at(v, from, slowness) > 0;
    double t = 0.125 < 0.5 * longest ? 0.125 : 0.5 * longest; // both ends belong to the body by assumption
    while (t < longest - around) {
        const double p[3] = { from[0] + d[0] * t / longest, from[1] + d[1] * t / longest,
                              from[2] + d[2] * t / longest };
        const int clear = clear_at(v, p, slowness);
        if (clear == 0) return false;
        t += clear > 1 ? clear - 1 : 0.25;
    }
    return true;
}

static void to_lattice(const PliVoxels *v, const double p[3], double s[3])
{
    for (int a = 0; a < 3; ++a) s[a] = (p[a] - v->origin[a]) / v->h;
}

static float slowness_at(const PliVoxels *v, const double p[3])
{
    PliIndex cell;
    pli_voxels_find(v, p, &cell);
    return v->slowness[cell];
}

bool pli_voxels_see(const PliVoxels *v, const double a[3], const double b[3])
{
    double s[3], t[3];
    to_lattice(v, a, s);
    to_lattice(v, b, t);
    const float slow = v->uniform ? v->slowness[0] : slowness_at(v, a);
    return clear_at(v, s, slow) > 0 && clear_at(v, t, slow) > 0 && sees(v, t, s, slow, 0.0);
}

// ---- fast marching -------------------------------------------------------------------------------------------------------

static bool before(HeapItem a, HeapItem b) { return a.key != b.key ? a.key < b.key : a.corner < b.corner; }

static void heap_up(PliMarch *m, PliIndex i)
{
    const HeapItem item = m->heap[i];
    while (i > 0) {
        const PliIndex parent = (i - 1) / 2;
        if (!before(item, m->heap[parent])) break;
        m->heap[i] = m->heap[parent];
        m->place[m->heap[i].corner] = i;
        i = parent;
    }
    m->heap[i] = item;
    m->place[item.corner] = i;
}

static void heap_put(PliMarch *m, PliIndex corner, double key)
{
    if (m->done[corner] == 0) {
        m->done[corner] = 1;
        m->place[corner] = m->heap_count;
        m->heap[m->heap_count++] = (HeapItem){ key, corner };
    } else {
        m->heap[m->place[corner]].key = key;
    }
    heap_up(m, m->place[corner]);
}

static PliIndex heap_pop(PliMarch *m)
{
    const PliIndex top = m->heap[0].corner;
    const HeapItem last = m->heap[--m->heap_count];
    PliIndex i = 0;
    while (m->heap_count > 0) {
        PliIndex child = 2 * i + 1;
        if (child >= m->heap_count) break;
        if (child + 1 < m->heap_count && before(m->heap[child + 1], m->heap[child])) child++;
        if (!before(m->heap[child], last)) break;
        m->heap[i] = m->heap[child];
        m->place[m->heap[i].corner] = i;
        i = child;
    }
    if (m->heap_count > 0) {
        m->heap[i] = last;
        m->place[last.corner] = i;
    }
    return top;
}

// Neighbour of a used corner along axis a (side 0 or 1), or PLI_NONE. Two used corners one step apart always share a solid
// cell or are both on the body; a missing shared cell would only shorten a detour of less than a voxel.
static PliIndex neighbour(const PliVoxels *v, Steps s, PliIndex corner, int axis, int side)
{
    const PliIndex step = axis == 0 ? 1 : s.n[axis - 1], at = v->corner[corner];
    return v->corner_of[side ? at + step : at - step];
}

// First-order upwind value from final neighbours; *from is the neighbour the characteristic comes from.
static double upwind(const PliMarch *m, Steps steps, PliIndex corner, PliIndex *from)
{
    double a[3];
    int count = 0;
    double least = INFINITY;
    for (int axis = 0; axis < 3; ++axis) {
        double best = INFINITY;
        for (int side = 0; side < 2; ++side) {
            const PliIndex n = neighbour(m->v, steps, corner, axis, side);
            if (n == PLI_NONE || m->done[n] != 2) continue;
            if (m->distance[n] < best) best = m->distance[n];
            if (m->distance[n] < least) least = m->distance[n], *from = n;
        }
        if (best < INFINITY) a[count++] = best;
    }
    for (int i = 1; i < count; ++i)
        for (int j = i; j > 0 && a[j] < a[j - 1]; --j) {
            const double t = a[j];
            a[j] = a[j - 1], a[j - 1] = t;
        }
    const double f = m->v->h * (double)m->slow[corner];
    double u = a[0] + f;
    for (int k = 2; k <= count && u > a[k - 1]; ++k) {
        double sum = 0.0, square = 0.0;
        for (int i = 0; i < k; ++i) sum += a[i], square += a[i] * a[i];
        const double under = sum * sum - k * (square - f * f);
        if (under < 0.0) break;
        u = (sum + sqrt(under)) / k;
    }
    return u;
}

static void clear_march(PliMarch *m)
{
    for (PliIndex i = 0; i < m->touched_count; ++i) {
        m->distance[m->touched[i]] = INFINITY;
        m->done[m->touched[i]] = 0;
    }
    m->touched_count = 0;
    m->heap_count = 0;
}

static void settle(PliMarch *m, PliIndex corner, double distance)
{
    if (m->done[corner] == 0) m->touched[m->touched_count++] = corner;
    m->done[corner] = 2;
    m->distance[corner] = distance;
}

static void spread_from(PliMarch *m, Steps steps, PliIndex corner, double radius, const uint8_t *allowed)
{
    for (int axis = 0; axis < 3; ++axis)
        for (int side = 0; side < 2; ++side) {
            const PliIndex n = neighbour(m->v, steps, corner, axis, side);
            if (n == PLI_NONE || m->done[n] == 2 || (allowed && !allowed[n])) continue;
            PliIndex from = PLI_NONE;
            const double u = upwind(m, steps, n, &from);
            if (u > radius) continue;
            if (m->done[n] == 0)
                m->touched[m->touched_count++] = n;
            else if (!(u < m->distance[n]))
                continue;
            m->distance[n] = u;
            heap_put(m, n, u);
        }
}

// A source and how far it looks, in lattice units.
typedef struct Source {
    double s[3], reach, around;
    float slow;
} Source;

// Settles a corner the source sees.
static void look_at(PliMarch *m, const Source *from, PliIndex corner, const double q[3], bool open)
{
    const double d = v3_distance(q, from->s);
    if (d <= from->reach && (open || sees(m->v, q, from->s, from->slow, from->around)))
        settle(m, corner, d * m->v->h * (double)from->slow);
}

// True when nothing in the box of a source and some corners can end a straight line.
static bool box_open(const PliMarch *m, const double s[3], const PliIndex low[3], const PliIndex high[3])
{
    const PliVoxels *v = m->v;
    const Steps steps = corner_steps(v);
    size_t a[2][3];
    for (int k = 0; k < 3; ++k) {
        if (!(s[k] >= 0.0 && s[k] <= v->size[k])) return false;
        PliIndex first = (PliIndex)s[k], last = (PliIndex)ceil(s[k]);
        first = low[k] < first ? low[k] : first;
        last = high[k] > last ? high[k] : last;
        if (first == last) last++; // a plane of corners: the cells on one side of it
        if (last > v->size[k]) return false;
        const size_t step = k == 0 ? 1 : steps.n[k - 1];
        a[0][k] = step * first, a[1][k] = step * last;
    }
    uint32_t sum = 0;
    for (int b = 0; b < 8; ++b) {
        const uint32_t part = m->blocked[a[b & 1][0] + a[b >> 1 & 1][1] + a[b >> 2][2]];
        sum += (b == 7 || b == 1 || b == 2 || b == 4) ? part : 0U - part;
    }
    return sum == 0;
}

// Looks at listed corners, a few at a time: neighbours in the list are near each other, so one box often shows that all are
// seen.
static void look_at_list(PliMarch *m, const Source *from, const PliIndex *list, PliIndex list_count)
{
    enum { TOGETHER = 64 };
    const Steps steps = corner_steps(m->v);
    PliIndex q[TOGETHER][3], row = 0, plane = 0, row_first = 0, plane_first = 0;
    for (PliIndex first = 0; first < list_count; first += TOGETHER) {
        const PliIndex count = list_count - first < TOGETHER ? list_count - first : TOGETHER;
        PliIndex low[3] = { PLI_NONE, PLI_NONE, PLI_NONE }, high[3] = { 0, 0, 0 };
        for (PliIndex i = 0; i < count; ++i) {
            const PliIndex at = m->v->corner[list[first + i]];
            if (at < plane_first || at >= plane_first + steps.n[1])
                plane = at / steps.n[1], plane_first = plane * steps.n[1], row_first = PLI_NONE;
            if (at < row_first || at >= row_first + steps.n[0])
                row = (at - plane_first) / steps.n[0], row_first = plane_first + row * steps.n[0];
            q[i][0] = at - row_first, q[i][1] = row, q[i][2] = plane;
            for (int a = 0; a < 3; ++a) {
                low[a] = q[i][a] < low[a] ? q[i][a] : low[a];
                high[a] = q[i][a] > high[a] ? q[i][a] : high[a];
            }
        }
        const bool open = box_open(m, from->s, low, high);
        for (PliIndex i = 0; i < count; ++i) {
            const double p[3] = { q[i][0], q[i][1], q[i][2] };
            m->allowed[list[first + i]] = 1;
            look_at(m, from, list[first + i], p, open);
        }
    }
}

const double *pli_march_from(PliMarch *m, const double p[3], double radius, const PliIndex *list, PliIndex list_count)
{
    const PliVoxels *v = m->v;
    const Steps steps = corner_steps(v);
    clear_march(m);
    v3_copy(m->source, p);
    Source from = { .slow = v->uniform ? v->slowness[0] : slowness_at(v, p) };
    to_lattice(v, p, from.s);
    const double *s = from.s, reach = from.reach = radius / (v->h * (double)from.slow);
    const int clear = clear_at(v, s, from.slow);
    from.around = clear > 0 ? clear - 1 : 0;
    if (list) look_at_list(m, &from, list, list_count);
    PliIndex low[3], high[3];
    for (int a = 0; a < 3; ++a) {
        low[a] = s[a] - reach <= 0.0 ? 0 : (PliIndex)ceil(s[a] - reach);
        high[a] = s[a] + reach >= v->size[a] ? v->size[a] : s[a] + reach < 0.0 ? 0 : (PliIndex)(s[a] + reach);
    }
    for (PliIndex k = low[2]; !list && k <= high[2]; ++k)
        for (PliIndex j = low[1]; j <= high[1]; ++j) {
            const PliIndex *row = v->corner_of + (size_t)steps.n[1] * k + (size_t)steps.n[0] * j;
            PliIndex first = low[0], last = high[0];
            while (first < last && row[first] == PLI_NONE) first++;
            while (last > first && row[last] == PLI_NONE) last--;
            const bool open = box_open(m, s, (PliIndex[3]){ first, j, k }, (PliIndex[3]){ last, j, k });
            for (PliIndex i = first; i <= last; ++i) {
                const double q[3] = { i, j, k };
                if (row[i] != PLI_NONE) look_at(m, &from, row[i], q, open);
            }
        }
    const uint8_t *allowed = list ? m->allowed : NULL;
    if (m->touched_count == 0) { // the source sees no corner: start at those of its cell
        PliIndex cell, k[8];
        double q[3];
        pli_voxels_find(v, p, &cell);
        pli_voxels_cell_corners(v, cell, k);
        for (int b = 0; b < 8; ++b) {
            if (allowed && !allowed[k[b]]) continue;
            pli_voxels_corner_point(v, k[b], q);
            settle(m, k[b], v3_distance(p, q) * (double)v->slowness[cell]);
        }
    }
    const PliIndex seen = m->touched_count;
    const bool all = seen == (list ? list_count : v->corner_count);
    for (PliIndex i = 0; !all && i < seen; ++i) spread_from(m, steps, m->touched[i], radius, allowed);
    while (m->heap_count > 0) {
        const PliIndex c = heap_pop(m);
        m->done[c] = 2;
        spread_from(m, steps, c, radius, allowed);
    }
    for (PliIndex i = 0; list && i < list_count; ++i) m->allowed[list[i]] = 0;
    return m->distance;
}

double pli_march_to(const PliMarch *m, const double q[3])
{
    const PliVoxels *v = m->v;
    PliIndex cell, k[8];
    pli_voxels_find(v, q, &cell);
    if (pli_voxels_see(v, m->source, q))
        return v3_distance(m->source, q) * (double)(v->uniform ? v->slowness[0] : slowness_at(v, q));
    double best = INFINITY, p[3];
    pli_voxels_cell_corners(v, cell, k);
    for (int b = 0; b < 8; ++b) {
        pli_voxels_corner_point(v, k[b], p);
        const double d = m->distance[k[b]] + v3_distance(p, q) * (double)v->slowness[cell];
        best = d < best ? d : best;
    }
    return best;
}

void pli_march_voronoi(PliMarch *m, const double *points, PliIndex count, PliIndex *owner, double *distance)
{
    const PliVoxels *v = m->v;
    const Steps steps = corner_steps(v);
    clear_march(m);
    for (PliIndex c = 0; c < v->corner_count; ++c) owner[c] = PLI_NONE;
    // seeds: the corners of the cell of each point; where cells meet the nearer point wins
    for (PliIndex i = 0; i < count; ++i) {
        const double *p = points + 3 * (size_t)i;
        PliIndex cell, k[8];
        double q[3];
        pli_voxels_find(v, p, &cell);
        pli_voxels_cell_corners(v, cell, k);
        for (int b = 0; b < 8; ++b) {
            pli_voxels_corner_point(v, k[b], q);
            const double d = v3_distance(p, q) * (double)v->slowness[cell];
            if (owner[k[b]] != PLI_NONE && !(d < m->distance[k[b]])) continue;
            owner[k[b]] = i;
            if (m->done[k[b]] == 0) m->touched[m->touched_count++] = k[b];
            m->distance[k[b]] = d;
            heap_put(m, k[b], d);
        }
    }
    while (m->heap_count > 0) {
        const PliIndex c = heap_pop(m);
        m->done[c] = 2;
        if (owner[c] == PLI_NONE) {
            PliIndex from = PLI_NONE;
            upwind(m, steps, c, &from);
            owner[c] = owner[from];
        }
        spread_from(m, steps, c, INFINITY, NULL);
    }
    memcpy(distance, m->distance, v->corner_count * sizeof *distance);
}
