/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Bodies inside a lattice that do not fill it: only what a closed surface holds counts. Cells that the surface cuts are integrated
// along lines, exactly up to the surface. Functions that hardly reach into the body would make every matrix ill-conditioned: details
// of that kind are left out, and vertices of level 0 follow those nearby, so that affine motions stay what they are.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/wavelet/wavelet.h"
#include "surface/triangle_tree.h"

static const double WEAK = 0.02; ///< of a whole function: reaches into the body by less

// ---- points ------------------------------------------------------------------------------------------------------------------

/// The cell is a box along the axes: its lowest corner and its sides.
static bool is_aligned(const PliWavelet *s, PliIndex cell, double low[3], double side[3])
{
    static const double at[3][3] = { { 0, 0, 0 }, { 0.31, 0.57, 0.83 }, { 0.9, 0.1, 0.4 } };
    double J[3][9], p[3];
    for (int k = 0; k < 3; ++k) pli_wavelet_place_of(s, cell, 0, at[k], k ? p : low, J[k]);
    for (int a = 0; a < 3; ++a) side[a] = J[0][4 * a];
    const double size = fabs(side[0]) + fabs(side[1]) + fabs(side[2]);
    for (int k = 0; k < 3; ++k)
        for (int a = 0; a < 9; ++a)
            if (fabs(J[k][a] - (a % 4 ? 0.0 : side[a / 4])) > 1e-9 * size) return false;
    return side[0] > 0.0 && side[1] > 0.0 && side[2] > 0.0;
}

static const double gauss2[2] = { 0.21132486540518711775, 0.78867513459481288225 };
static const double gauss4[4] = { 0.06943184420297371239, 0.33000947820757186760, 0.66999052179242813240,
                                  0.93056815579702628761 };
static const double weight4[4] = { 0.17392742256872692869, 0.32607257743127307131, 0.32607257743127307131,
                                   0.17392742256872692869 };

/// Points along lines through an aligned cell. @return how many; *crossed: lines that meet the surface, *weight: of all points
static PliIndex along_lines(const PliWavelet *s, const double low[3], const double side[3], int axis, int lines,
                            PliWaveletPoint *out, int *crossed, double *weight)
{
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    PliIndex count = 0;
    *crossed = 0, *weight = 0.0;
    for (int line = 0; line < lines * lines; ++line) {
        const int i = line % lines, j = line / lines;
        double u[3], p[3], stretch[2 * PLI_INSIDE_STRETCHES];
        u[b] = 2.0 * (i / 2 + gauss2[i % 2]) / lines, u[c] = 2.0 * (j / 2 + gauss2[j % 2]) / lines;
        p[axis] = 0.0, p[b] = low[b] + side[b] * u[b], p[c] = low[c] + side[c] * u[c];
        const int found = pli_inside_line(s->inside, axis, p, stretch);
        bool meets = false;
        for (int k = 0; k < found; ++k) {
            const double from = (stretch[2 * k] - low[axis]) / side[axis],
                         to = (stretch[2 * k + 1] - low[axis]) / side[axis];
            meets = meets || (from > 0.0 && from < 1.0) || (to > 0.0 && to < 1.0);
            const double first = fmax(from, 0.0), last = fmin(to, 1.0);
            if (!(last > first)) continue;
            for (int q = 0; q < 4 && count < PLI_WAVELET_POINTS; ++q) {
                PliWaveletPoint *o = &out[count++];
                v3_copy(o->u, u);
                o->u[axis] = first + (last - first) * gauss4[q];
                o->weight = (last - first) * weight4[q] / (lines * lines);
                o->part = 0;
                *weight += o->weight;
            }
        }
        *crossed += meets;
    }
    return count;
}

/// Any other cell: middles of many small boxes, or of its pieces.
static PliIndex in_boxes(const PliWavelet *s, PliIndex cell, PliWaveletPoint *out, bool *all)
{
    const PliIndex parts = pli_shapes_parts(s->level[s->level_count - 1].shapes, cell);
    const PliIndex side = parts == 1 ? 8 : 1, boxes = side * side * side;
    PliIndex count = 0;
    for (PliIndex part = 0; part < parts; ++part)
        for (PliIndex k = 0; k < boxes; ++k) {
            const double u[3] = { (k % side + 0.5) / side, (k / side % side + 0.5) / side,
                                  (k / (side * side) + 0.5) / side };
            double p[3];
            pli_wavelet_place_of(s, cell, part, u, p, NULL);
            if (!pli_inside_point(s->inside, p)) continue;
            out[count] = (PliWaveletPoint){ { u[0], u[1], u[2] }, 1.0 / boxes, part };
            count++;
        }
    *all = count == parts * boxes;
    return count;
}

PliIndex pli_wavelet_cell_points(const PliWavelet *s, PliIndex cell, PliWaveletPoint out[PLI_WAVELET_POINTS], int *axis)
{
    *axis = -1;
    const PliWaveletLevel *l = &s->level[s->level_count - 1];
    if (l->lattice->empty && l->lattice->empty[cell]) return 0;
    double low[3], side[3];
    const bool regular = pli_shapes_regular(l->shapes, cell);
    if (!regular || !is_aligned(s, cell, low, side)) {
        bool all;
        const PliIndex count = in_boxes(s, cell, out, &all);
        return all ? PLI_NONE : count;
    }
    const double middle[3] = { low[0] + 0.5 * side[0], low[1] + 0.5 * side[1], low[2] + 0.5 * side[2] },
                 radius = 0.5000001 * v3_norm(side);
    if (pli_triangle_tree_distance(s->tree, middle, 2.0 * radius) > radius)
        return pli_inside_point(s->inside, middle) ? PLI_NONE : 0;
    // along the axis that meets the surface most squarely, ends are where the surface is, and nothing is left to chance
    const double across = cbrt((double)s->info.cells);
    const int lines = across < 16.0 ? 8 : across < 32.0 ? 6 : 4;
    int best = 0, most = -1;
    double weight;
    for (int a = 0; a < 3; ++a) {
        int crossed;
        (void)along_lines(s, low, side, a, lines, out, &crossed, &weight);
        if (crossed > most) most = crossed, best = a;
    }
    *axis = best;
    const PliIndex count = along_lines(s, low, side, best, lines, out, &most, &weight);
    return weight > 1.0 - 1e-9 ? PLI_NONE : count;
}

// ---- octants -----------------------------------------------------------------------------------------------------------------

/// Volume and middle of what is inside each octant of the finest cells that are cut.
static void finest_octants(PliWavelet *s, double *whole)
{
    PliWaveletLevel *l = &s->level[s->level_count - 1];
    double value[PLI_SHAPE_WIDTH], grad[3 * PLI_SHAPE_WIDTH];
    for (PliIndex c = 0; c < l->lattice->cell_count; ++c) {
        double *octant = l->octant + 32 * (size_t)c;
        int axis;
        const PliIndex count = pli_wavelet_cell_points(s, c, s->points, &axis);
        l->share[c] = count == PLI_NONE ? PLI_CELL_FULL : count ? PLI_CELL_CUT : PLI_CELL_EMPTY;
        if (count == PLI_NONE) {
            static const double middle[3] = { 0.5, 0.5, 0.5 };
            whole[c] = 0.0;
            const PliIndex parts = pli_shapes_parts(l->shapes, c);
            for (PliIndex p = 0; p < parts; ++p) whole[c] += pli_wavelet_rest_point(l, c, p, middle, value, grad);
            continue;
        }
        for (PliIndex k = 0; k < count; ++k) {
            const PliWaveletPoint *p = &s->points[k];
            const double volume = p->weight * pli_wavelet_rest_point(l, c, p->part, p->u, value, grad);
            const bool regular = pli_shapes_regular(l->shapes, c);
            PliIndex q = p->part / 8;
            if (regular) q = (p->u[0] > 0.5) + 2 * (p->u[1] > 0.5) + 4 * (p->u[2] > 0.5);
            octant[4 * q] += volume;
            for (PliIndex d = 0; d < 3 && regular; ++d) octant[4 * q + 1 + d] += volume * p->u[d];
            if (!regular) l->mask[c] |= (uint64_t)1 << p->part;
        }
        for (PliIndex q = 0; q < 8; ++q)
            if (octant[4 * q] > 0.0) v3_scale(octant + 4 * q + 1, 1.0 / octant[4 * q]);
    }
}

/// Octants of a cell are its cells.
static void coarser_octants(PliWavelet *s, int level, double *whole, double *next)
{
    static const uint8_t bits_of[8] = { 0, 1, 3, 2, 4, 5, 7, 6 };
    PliWaveletLevel *l = &s->level[level];
    const PliWaveletLevel *fine = &s->level[level + 1];
    for (PliIndex c = 0; c < l->lattice->cell_count; ++c) {
        double *octant = l->octant + 32 * (size_t)c;
        int full = 0, empty = 0;
        next[c] = 0.0;
        for (PliIndex k = 0; k < 8; ++k) {
            const PliIndex child = l->child_first[c] + k;
            const double *o = fine->octant + 32 * (size_t)child;
            double *to = octant + 4 * (size_t)bits_of[k], sum = 0.0, middle[3] = { 0.0, 0.0, 0.0 };
            full += fine->share[child] == PLI_CELL_FULL, empty += fine->share[child] == PLI_CELL_EMPTY;
            if (fine->share[child] == PLI_CELL_FULL) {
                sum = whole[child];
                for (int d = 0; d < 3; ++d) middle[d] = 0.5 * sum;
            } else {
                for (int q = 0; q < 8; ++q) sum += o[4 * q], v3_madd(middle, o[4 * q], o + 4 * q + 1);
            }
            to[0] = sum;
            next[c] += sum;
            for (int d = 0; d < 3 && sum > 0.0; ++d) to[1 + d] = 0.5 * (middle[d] / sum + (bits_of[k] >> d & 1));
        }
        l->share[c] = full == 8 ? PLI_CELL_FULL : empty == 8 ? PLI_CELL_EMPTY : PLI_CELL_CUT;
        for (PliIndex p = 0; p < pli_shapes_parts(l->shapes, c) && !pli_shapes_regular(l->shapes, c); ++p)
            if (octant[4 * bits_of[p / 8]] > 0.0)
                l->mask[c] |= (uint64_t)1 << p; // pieces of octants with something inside
    }
}

PliStatus pli_wavelet_find_shares(PliWavelet *s, PliError *err)
{
    size_t most = 0;
    bool good = true;
    for (int k = 0; k < s->level_count; ++k) {
        PliWaveletLevel *l = &s->level[k];
        const size_t cells = l->lattice->cell_count;
        for (PliIndex c = 0; c < cells; ++c)
            if (l->lattice->corners[c] != 8)
                return pli_refuse(err, PLI_UNSUPPORTED,
                                  "wavelet: cell %u of the lattice around a surface is no hexahedron", c);
        most = cells > most ? cells : most;
        l->share = PLI_NEW(&s->host, cells, uint8_t);
        l->octant = PLI_NEW(&s->host, 32 * cells, double);
        l->mask = PLI_NEW(&s->host, cells, uint64_t);
        good = good && l->share && l->octant && l->mask;
    }
    s->points = PLI_NEW(&s->host, PLI_WAVELET_POINTS, PliWaveletPoint);
    double *whole[2] = { PLI_NEW(&s->host, most, double), PLI_NEW(&s->host, most, double) };
    good = good && whole[0] && whole[1] && s->points;
    if (good) finest_octants(s, whole[0]);
    for (int k = s->level_count - 2, from = 0; k >= 0 && good; --k, from = !from)
        coarser_octants(s, k, whole[from], whole[!from]);
    for (int k = 0; k < 2; ++k) PLI_FREE(&s->host, whole[k], most);
    return good ? PLI_OK : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the cells of a surface");
}

void pli_wavelet_free_embedding(PliWavelet *s)
{
    for (int k = 0; k < s->level_count; ++k) {
        PliWaveletLevel *l = &s->level[k];
        if (!l->lattice) continue;
        PLI_FREE(&s->host, l->share, l->lattice->cell_count);
        PLI_FREE(&s->host, l->octant, 32 * (size_t)l->lattice->cell_count);
        PLI_FREE(&s->host, l->mask, l->lattice->cell_count);
    }
    PLI_FREE(&s->host, s->points, PLI_WAVELET_POINTS);
    PLI_FREE(&s->host, s->dropped, s->count);
    pli_transfer_destroy(s->merge);
    pli_triangle_tree_destroy(s->tree);
    pli_inside_destroy(s->inside);
}

// ---- weak functions ----------------------------------------------------------------------------------------------------------

/// What a whole function at this vertex would hold: an eighth of each cell around.
static double dual_volume(const PliLattice *l, PliIndex v)
{
    static const uint8_t kuhn[6][4] = { { 0, 1, 2, 6 }, { 0, 2, 3, 6 }, { 0, 3, 7, 6 },
                                        { 0, 7, 4, 6 }, { 0, 4, 5, 6 }, { 0, 5, 1, 6 } };
    double sum = 0.0;
    for (PliIndex k = l->vertex_cell_first[v]; k < l->vertex_cell_first[v + 1]; ++k) {
        const PliIndex *c = l->cell + 8 * (size_t)l->vertex_cell[k];
        for (int t = 0; t < 6; ++t) {
            double e[9];
            for (int m = 0; m < 3; ++m)
                v3_sub(e + 3 * m, l->x + 3 * (size_t)c[kuhn[t][m + 1]], l->x + 3 * (size_t)c[kuhn[t][0]]);
            sum += fabs(m3_det(e)) / 48.0;
        }
    }
    return sum;
}

/// Vertices of the first ones `list` holds that edges lead to, after them. @return how many there are now
static PliIndex grow_ring(const PliLattice *l, PliIndex *list, PliIndex from, PliIndex count, uint8_t *mark)
{
    PliIndex now = count;
    for (PliIndex i = from; i < count; ++i)
        for (PliIndex k = l->vertex_edge_first[list[i]]; k < l->vertex_edge_first[list[i] + 1]; ++k) {
            const PliIndex *e = l->edge + 2 * (size_t)l->vertex_edge[k], v = e[0] == list[i] ? e[1] : e[0];
            if (mark[v]) continue;
            mark[v] = 1;
            list[now++] = v;
        }
    return now;
}

/// Weights of strong vertices of `list` that give a weak one, exact where positions are an affine map of the rest places. @return how
/// many; 0: they do not span space
static PliIndex follow_strong(const PliWavelet *s, const PliLattice *l, PliIndex v, const PliIndex *list,
                              PliIndex count, PliIndex *column, double *weight)
{
    double sum = 0.0, centre[3] = { 0.0, 0.0, 0.0 }, M[9] = { 0.0 }, inverse[9], lack[3], way[3];
    PliIndex used = 0;
    for (PliIndex i = 0; i < count; ++i) {
        if (s->dropped[list[i]]) continue;
        const double d = v3_distance(l->x + 3 * (size_t)list[i], l->x + 3 * (size_t)v);
        column[used] = list[i];
        weight[used] = 1.0 / (d * d * d * d);
        sum += weight[used];
        v3_madd(centre, weight[used++], l->x + 3 * (size_t)list[i]);
    }
    if (used < 8) return 0;
    v3_scale(centre, 1.0 / sum);
    double trace = 0.0;
    for (PliIndex i = 0; i < used; ++i) {
        double r[3];
        v3_sub(r, l->x + 3 * (size_t)column[i], centre);
        for (int a = 0; a < 9; ++a) M[a] += weight[i] * r[a / 3] * r[a % 3];
        trace += weight[i] * v3_dot(r, r);
    }
    if (!(m3_det(M) > 1e-4 * trace * trace * trace / 27.0) || m3_inverse(inverse, M) == 0.0) return 0;
    v3_sub(lack, l->x + 3 * (size_t)v, centre);
    m3_apply(way, inverse, lack);
    for (PliIndex i = 0; i < used; ++i) {
        double r[3];
        v3_sub(r, l->x + 3 * (size_t)column[i], centre);
        weight[i] *= 1.0 / sum + v3_dot(way, r);
    }
    return used;
}

static PliStatus merge_weak(PliWavelet *s, PliError *err)
{
    const PliLattice *l = s->level[0].lattice;
    const PliIndex n = l->vertex_count;
    PliIndex *list = PLI_NEW(&s->host, n, PliIndex), *column = PLI_NEW(&s->host, n, PliIndex);
    double *weight = PLI_NEW(&s->host, n, double);
    uint8_t *mark = PLI_NEW(&s->host, n, uint8_t);
    PliTransfer *rows = NULL;
    PliStatus status = list && column && weight && mark ? PLI_OK : PLI_OUT_OF_MEMORY;
    size_t entries = 0;
    for (int pass = 0; pass < 2 && status == PLI_OK; ++pass) { // once for the number of entries
        if (pass == 1) {
            rows = pli_transfer_create(&s->host, n, entries);
            if (!rows) status = PLI_OUT_OF_MEMORY;
            if (rows) pli_transfer_clear(rows, n);
        }
        for (PliIndex v = 0; v < n && status == PLI_OK; ++v) {
            PliIndex used = 1, count = 1, from = 0;
            column[0] = v, weight[0] = 1.0;
            if (s->dropped[v]) {
                list[0] = v, mark[v] = 1, used = 0;
                while (used == 0 && from < count) {
                    const PliIndex more = grow_ring(l, list, from, count, mark);
                    from = count, count = more;
                    used = follow_strong(s, l, v, list, count, column, weight);
                }
                for (PliIndex i = 0; i < count; ++i) mark[list[i]] = 0;
                if (used == 0)
                    status = pli_refuse(err, PLI_BAD_MESH,
                                        "wavelet: the surface fills so little of its lattice that nothing of it can "
                                        "move by itself: use smaller cells");
            }
            entries += used;
            if (pass == 1 && status == PLI_OK) status = pli_transfer_push(rows, column, weight, used);
        }
    }
    PLI_FREE(&s->host, list, n);
    PLI_FREE(&s->host, column, n);
    PLI_FREE(&s->host, weight, n);
    PLI_FREE(&s->host, mark, n);
    s->merge = rows;
    if (status == PLI_OUT_OF_MEMORY) return pli_refuse(err, status, "no memory for %u vertices", n);
    return status;
}

/// c = a b
static PliTransfer *compose(const PliHost *host, PliRows a, PliRows b)
{
    double *dense = PLI_NEW(host, b.in_count, double);
    PliIndex *list = PLI_NEW(host, b.in_count, PliIndex);
    uint8_t *has = PLI_NEW(host, b.in_count, uint8_t);
    double *weight = PLI_NEW(host, b.in_count, double);
    PliTransfer *c = NULL;
    size_t entries = 0;
    bool good = dense && list && has && weight;
    for (int pass = 0; pass < 2 && good; ++pass) {
        if (pass == 1) {
            c = pli_transfer_create(host, a.out_count, entries);
            if (!c) break;
            pli_transfer_clear(c, b.in_count);
        }
        for (PliIndex i = 0; i < a.out_count; ++i) {
            PliIndex count = 0;
            for (PliIndex k = a.first[i]; k < a.first[i + 1]; ++k)
                for (PliIndex e = b.first[a.column[k]]; e < b.first[a.column[k] + 1]; ++e) {
                    if (!has[b.column[e]]) has[b.column[e]] = 1, dense[b.column[e]] = 0.0, list[count++] = b.column[e];
                    dense[b.column[e]] += a.weight[k] * b.weight[e];
                }
            entries += count;
            for (PliIndex k = 0; k < count; ++k) has[list[k]] = 0, weight[k] = dense[list[k]];
            if (pass == 1) (void)pli_transfer_push(c, list, weight, count);
        }
    }
    PLI_FREE(host, dense, b.in_count);
    PLI_FREE(host, list, b.in_count);
    PLI_FREE(host, has, b.in_count);
    PLI_FREE(host, weight, b.in_count);
    return c;
}

PliStatus pli_wavelet_merge(PliWavelet *s, PliError *err)
{
    const PliIndex n = s->level[0].lattice->vertex_count;
    double density = s->def.base.material.density, least = 1.0;
    for (PliIndex i = 0; i < s->def.base.dense_region_count; ++i)
        least = fmin(least, s->def.base.dense_regions[5 * (size_t)i + 4]);
    density *= least; // light ones are not weak
    s->dropped = PLI_NEW(&s->host, s->count, uint8_t);
    if (!s->dropped) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u functions", s->count);
    for (PliIndex a = 0; a < s->count; ++a)
        s->dropped[a] = s->load[a] < WEAK * density * dual_volume(s->level[s->dof_level[a]].lattice, a);
    const PliStatus status = merge_weak(s, err);
    if (status != PLI_OK) return status;
    for (PliIndex v = 0; v < n; ++v) s->base_count -= s->dropped[v];
    // what weak ones carry goes to those they follow
    const PliRows rows = pli_transfer_rows(s->merge);
    for (PliIndex v = 0; v < n; ++v) {
        if (!s->dropped[v]) continue;
        for (PliIndex e = rows.first[v]; e < rows.first[v + 1]; ++e) {
            s->load[rows.column[e]] += rows.weight[e] * s->load[v];
            v3_madd(s->mean + 3 * (size_t)rows.column[e], rows.weight[e], s->mean + 3 * (size_t)v);
        }
        s->load[v] = 0.0;
        memset(s->mean + 3 * (size_t)v, 0, 3 * sizeof *s->mean);
    }
    if (s->level_count == 1) return PLI_OK;
    PliTransfer *through = compose(&s->host, pli_transfer_rows(s->level[1].rows), rows);
    if (!through) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u vertices", n);
    pli_transfer_destroy(s->level[1].rows);
    s->level[1].rows = through;
    return PLI_OK;
}

void pli_wavelet_follow_merged(const PliWavelet *s, double *x)
{
    if (!s->merge) return;
    const PliRows rows = pli_transfer_rows(s->merge);
    for (PliIndex v = 0; v < rows.out_count; ++v) {
        if (!s->dropped[v]) continue;
        double p[3] = { 0.0, 0.0, 0.0 };
        for (PliIndex e = rows.first[v]; e < rows.first[v + 1]; ++e)
            v3_madd(p, rows.weight[e], x + 3 * (size_t)rows.column[e]);
        v3_copy(x + 3 * (size_t)v, p);
    }
}

void pli_wavelet_reduce_merged(const PliWavelet *s, double *f)
{
    if (!s->merge) return;
    const PliRows rows = pli_transfer_rows(s->merge);
    for (PliIndex v = 0; v < rows.out_count; ++v) {
        if (!s->dropped[v]) continue;
        for (PliIndex e = rows.first[v]; e < rows.first[v + 1]; ++e)
            v3_madd(f + 3 * (size_t)rows.column[e], rows.weight[e], f + 3 * (size_t)v);
        memset(f + 3 * (size_t)v, 0, 3 * sizeof *f);
    }
}
