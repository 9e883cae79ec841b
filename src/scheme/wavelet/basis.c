/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The levels of a wavelet body: lattices, shapes, the even parts that analysis inverts, and where points are.
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "scheme/wavelet/wavelet.h"
#include "surface/triangle_tree.h"

static PliLatticeRule rule_of(const PliWavelet *s) { return (PliLatticeRule)s->def.basis; }

// ---- even parts -----------------------------------------------------------------------------------------------------------------

/// Normal equations of the even rows, factored. Singular: the details are no basis.
static PliStatus factor_even(PliWavelet *s, PliWaveletLevel *l, PliIndex n, PliError *err)
{
    const PliRows r = pli_transfer_rows(l->rows);
    l->even = pli_block_matrix_create(&s->host);
    if (!l->even) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a level of %u vertices", n);
    PliStatus status = pli_block_matrix_begin(l->even, n);
    for (PliIndex i = 0; i < n && status == PLI_OK; ++i)
        for (PliIndex a = r.first[i]; a < r.first[i + 1] && status == PLI_OK; ++a)
            for (PliIndex b = r.first[i]; b < r.first[i + 1] && status == PLI_OK; ++b)
                status = pli_block_matrix_push(l->even, r.column[a], r.column[b]);
    if (status == PLI_OK) status = pli_block_matrix_seal(l->even, err);
    if (status != PLI_OK) return pli_refuse(err, status, "no memory for a level of %u vertices", n);
    pli_block_matrix_zero(l->even);
    for (PliIndex i = 0; i < n; ++i)
        for (PliIndex a = r.first[i]; a < r.first[i + 1]; ++a)
            for (PliIndex b = r.first[i]; b < r.first[i + 1]; ++b) {
                const double w = r.weight[a] * r.weight[b], block[9] = { w, 0, 0, 0, w, 0, 0, 0, w };
                pli_block_matrix_add(l->even, r.column[a], r.column[b], block);
            }
    status = pli_block_matrix_factor(l->even, err);
    // smallest singular value by inverse iteration
    double *x = PLI_NEW(&s->host, 6 * (size_t)n, double), *y = x ? x + 3 * (size_t)n : NULL;
    if (!x) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a level of %u vertices", n);
    l->singular = 0.0;
    if (status == PLI_OK) {
        uint64_t seed = 7;
        for (size_t i = 0; i < 3 * (size_t)n; ++i) x[i] = pli_random_unit(&seed) - 0.5;
        for (int k = 0; k < 30; ++k) {
            const double size = sqrt(pli_dot(3 * n, x, x));
            for (size_t i = 0; i < 3 * (size_t)n; ++i) x[i] /= size;
            pli_block_matrix_solve(l->even, x, y);
            const double grown = sqrt(pli_dot(3 * n, y, y));
            l->singular = isfinite(grown) && grown > 0.0 ? 1.0 / sqrt(grown) : 0.0;
            memcpy(x, y, 3 * (size_t)n * sizeof *x);
            if (!(l->singular > 1e-7)) break;
        }
    }
    PLI_FREE(&s->host, x, 6 * (size_t)n);
    if (!(l->singular > 1e-6))
        return pli_refuse(err, PLI_BAD_MESH,
                          "the lattice is too coarse for its smooth boundary, some of its vertices move nothing: "
                          "subdivide it once (refine=1), or use basis bswx");
    return PLI_OK;
}

PliIndex pli_wavelet_vertex_count(const PliBody *body)
{
    return pli_body_uses(body, &pli_wavelet_ops) ? ((const PliWavelet *)pli_body_self((PliBody *)body))->count : 0;
}

void pli_wavelet_synthesise(const PliBody *body, const double *x, double *vertex)
{
    if (!pli_body_uses(body, &pli_wavelet_ops)) return;
    PliWavelet *s = pli_body_self((PliBody *)body);
    double *from = s->q;
    memcpy(vertex, x, 3 * (size_t)s->level[0].lattice->vertex_count * sizeof *x);
    for (int k = 1; k < s->level_count; ++k) {
        const PliIndex n = s->level[k].lattice->vertex_count, even = s->level[k - 1].lattice->vertex_count;
        memcpy(from, vertex, 3 * (size_t)even * sizeof *vertex);
        pli_rows_apply(pli_transfer_rows(s->level[k].rows), from, vertex);
        for (size_t i = 3 * (size_t)even; i < 3 * (size_t)n; ++i) vertex[i] += x[i];
    }
}

PliStatus pli_wavelet_analyse(const PliBody *body, const double *vertex, double *x, PliError *err)
{
    if (!pli_body_uses(body, &pli_wavelet_ops))
        return pli_refuse(err, PLI_BAD_ARGUMENT, "the body is not one of wavelets");
    PliWavelet *s = pli_body_self((PliBody *)body);
    if (s->merge)
        return pli_refuse(err, PLI_UNSUPPORTED,
                          "wavelet: vertices of a body inside a surface cannot be analysed, some follow others");
    for (int k = 1; k < s->level_count; ++k) { // large, and few ask
        PliWaveletLevel *l = &s->level[k];
        const PliStatus status = l->even ? PLI_OK : factor_even(s, l, s->level[k - 1].lattice->vertex_count, err);
        if (status != PLI_OK) return status;
    }
    const size_t all = 3 * (size_t)s->count;
    double *work = PLI_NEW(&s->host, 5 * all, double);
    if (!work) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to analyse %u vertices", s->count);
    double *b = work, *dx = b + all, *predicted = dx + all, *fine = predicted + all, *coarse = fine + all;
    memcpy(fine, vertex, all * sizeof *fine);
    for (int k = s->level_count - 1; k > 0; --k) {
        const PliIndex even = s->level[k - 1].lattice->vertex_count, n = s->level[k].lattice->vertex_count;
        const PliRows r = pli_transfer_rows(s->level[k].rows), e = { r.first, r.column, r.weight, even, even };
        memset(coarse, 0, 3 * (size_t)even * sizeof *coarse);
        for (int pass = 0; pass < 3; ++pass) { // normal equations, refined
            pli_rows_apply(e, coarse, predicted);
            for (size_t i = 0; i < 3 * (size_t)even; ++i) predicted[i] = fine[i] - predicted[i];
            memset(b, 0, 3 * (size_t)even * sizeof *b);
            pli_rows_add_transpose(e, predicted, b);
            pli_block_matrix_solve(s->level[k].even, b, dx);
            for (size_t i = 0; i < 3 * (size_t)even; ++i) coarse[i] += dx[i];
        }
        pli_rows_apply(r, coarse, predicted);
        for (size_t i = 3 * (size_t)even; i < 3 * (size_t)n; ++i) x[i] = fine[i] - predicted[i];
        memcpy(fine, coarse, 3 * (size_t)even * sizeof *fine);
    }
    memcpy(x, fine, 3 * (size_t)s->level[0].lattice->vertex_count * sizeof *x);
    PLI_FREE(&s->host, work, 5 * all);
    return PLI_OK;
}

// ---- quadrature --------------------------------------------------------------------------------------------------------------------

double pli_wavelet_rest_point(const PliWaveletLevel *l, PliIndex cell, PliIndex part, const double u[3], double *value,
                              double *grad)
{
    const PliShapes *h = l->shapes;
    const PliIndex *vertex = h->vertex + h->first[cell], n = h->first[cell + 1] - h->first[cell];
    double J[9] = { 0.0 }, inverse[9];
    pli_shapes_eval(h, cell, part, u, value, grad);
    for (PliIndex k = 0; k < n; ++k)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                J[3 * a + b] += l->lattice->x[3 * (size_t)vertex[k] + (size_t)a] * grad[3 * (size_t)k + (size_t)b];
    const double det = m3_inverse(inverse, J);
    if (!(det > 0.0)) return det;
    for (PliIndex k = 0; k < n; ++k) {
        double *g = grad + 3 * (size_t)k;
        const double u0 = g[0], u1 = g[1], u2 = g[2];
        for (int a = 0; a < 3; ++a) g[a] = u0 * inverse[a] + u1 * inverse[3 + a] + u2 * inverse[6 + a];
    }
    return det;
}

// Regular: 2^3 Gauss points. Others: one sample per octant, the mean over the pieces in it.
PliIndex pli_wavelet_samples(const PliWavelet *s, int level, PliIndex cell, double *grad, double *volume)
{
    const PliWaveletLevel *l = &s->level[level];
    const PliShapes *h = l->shapes;
    const PliIndex n = h->first[cell + 1] - h->first[cell];
    const bool cut = l->share && l->share[cell] == PLI_CELL_CUT;
    if (l->share && l->share[cell] == PLI_CELL_EMPTY) return 0;
    if (cut && pli_shapes_regular(h, cell)) { // one per octant, in the middle of what is inside
        PliIndex count = 0;
        for (PliIndex q = 0; q < 8; ++q) {
            const double *o = l->octant + 32 * (size_t)cell + 4 * q;
            if (!(o[0] > 0.0)) continue;
            const double det = pli_wavelet_rest_point(l, cell, 0, o + 1, NULL, grad + 3 * (size_t)n * count);
            if (!(det > 0.0)) return 0;
            volume[count++] = o[0];
        }
        return count;
    }
    if (pli_shapes_regular(h, cell)) {
        for (PliIndex q = 0; q < 8; ++q) {
            const double at = 0.28867513459481288225, u[3] = { q & 1 ? 0.5 + at : 0.5 - at, q & 2 ? 0.5 + at : 0.5 - at,
                                                               q & 4 ? 0.5 + at : 0.5 - at };
            const double det = pli_wavelet_rest_point(l, cell, 0, u, NULL, grad + 3 * (size_t)n * q);
            if (!(det > 0.0)) return 0;
            volume[q] = 0.125 * det;
        }
        return 8;
    }
    const PliIndex octants = pli_shapes_parts(h, cell) / 8;
    PliIndex count = 0;
    static const double middle[3] = { 0.5, 0.5, 0.5 };
    double piece[3 * PLI_SHAPE_WIDTH];
    for (PliIndex o = 0; o < octants; ++o) {
        const PliIndex q = count;
        double *g = grad + 3 * (size_t)n * q;
        memset(g, 0, 3 * (size_t)n * sizeof *g);
        volume[q] = 0.0;
        for (PliIndex p = 0; p < 8; ++p) {
            if (cut && !(l->mask[cell] >> (8 * o + p) & 1)) continue;
            const double det = pli_wavelet_rest_point(l, cell, 8 * o + p, middle, NULL, piece);
            if (!(det > 0.0)) return 0;
            volume[q] += det;
            for (size_t k = 0; k < 3 * (size_t)n; ++k) g[k] += det * piece[k];
        }
        if (!(volume[q] > 0.0)) continue;
        for (size_t k = 0; k < 3 * (size_t)n; ++k) g[k] /= volume[q];
        count++;
    }
    return count;
}

// ---- places ----------------------------------------------------------------------------------------------------------------------------

static void place_in(const PliShapes *h, PliIndex cell, PliIndex part, const double u[3], double p[3], double J[9])
{
    const PliIndex *vertex = h->vertex + h->first[cell], n = h->first[cell + 1] - h->first[cell];
    double value[PLI_SHAPE_WIDTH], grad[3 * PLI_SHAPE_WIDTH];
    pli_shapes_eval(h, cell, part, u, value, J ? grad : NULL);
    memset(p, 0, 3 * sizeof *p);
    if (J) memset(J, 0, 9 * sizeof *J);
    for (PliIndex k = 0; k < n; ++k) {
        const double *x = h->lattice->x + 3 * (size_t)vertex[k];
        v3_madd(p, value[k], x);
        for (int a = 0; a < 3 && J; ++a)
            for (int b = 0; b < 3; ++b) J[3 * a + b] += x[a] * grad[3 * (size_t)k + (size_t)b];
    }
}

void pli_wavelet_place_of(const PliWavelet *s, PliIndex cell, PliIndex part, const double u[3], double p[3],
                          double J[9])
{
    place_in(s->level[s->level_count - 1].shapes, cell, part, u, p, J);
}

/// Shapes in which the outside sees the body.
static const PliShapes *seen(const PliWavelet *s)
{
    return s->smooth ? s->smooth : s->level[s->level_count - 1].shapes;
}

/// Six tetrahedra around the diagonal 0 - 6, VTK corners.
static const uint8_t kuhn[6][4] = { { 0, 1, 2, 6 }, { 0, 2, 3, 6 }, { 0, 3, 7, 6 },
                                    { 0, 7, 4, 6 }, { 0, 4, 5, 6 }, { 0, 5, 1, 6 } };
static const double corner_at[8][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 },
                                        { 0, 0, 1 }, { 1, 0, 1 }, { 1, 1, 1 }, { 0, 1, 1 } };

static bool holds_body(const PliWaveletLevel *l, PliIndex cell)
{
    return !l->share || l->share[cell] != PLI_CELL_EMPTY;
}

static PliStatus make_locator(PliWavelet *s, PliError *err)
{
    const PliWaveletLevel *l = &s->level[s->level_count - 1];
    const PliShapes *h = seen(s);
    size_t pieces = 0;
    for (PliIndex c = 0; c < l->lattice->cell_count; ++c) pieces += holds_body(l, c) ? pli_shapes_parts(h, c) : 0;
    s->piece_count = (PliIndex)pieces;
    s->locator_cell = PLI_NEW(&s->host, 2 * pieces, PliIndex);
    double *x = PLI_NEW(&s->host, 24 * pieces, double);
    PliIndex *tet = PLI_NEW(&s->host, 24 * pieces, PliIndex), *known = PLI_NEW(&s->host, s->count, PliIndex);
    if (s->locator_cell && x && tet && known) {
        PliIndex at = 0, points = 0;
        memset(known, 0xff, s->count * sizeof *known); // the points of vertices, which regular cells share
        for (PliIndex c = 0; c < l->lattice->cell_count; ++c)
            for (PliIndex p = 0; p < pli_shapes_parts(h, c) && holds_body(l, c); ++p, ++at) {
                s->locator_cell[2 * (size_t)at] = c, s->locator_cell[2 * (size_t)at + 1] = p;
                PliIndex corner[8];
                for (size_t k = 0; k < 8; ++k) {
                    PliIndex own = PLI_NONE, *point = &own;
                    if (pli_shapes_regular(h, c)) point = &known[l->lattice->cell[8 * (size_t)c + k]];
                    if (*point == PLI_NONE) {
                        place_in(h, c, p, corner_at[k], x + 3 * (size_t)points, NULL);
                        *point = points++;
                    }
                    corner[k] = *point;
                }
                for (size_t t = 0; t < 6; ++t)
                    for (size_t k = 0; k < 4; ++k) tet[24 * (size_t)at + 4 * t + k] = corner[kuhn[t][k]];
            }
        s->locator = pli_locator_create(&s->host, x, points, tet, 6 * at);
    }
    PLI_FREE(&s->host, known, s->count);
    PLI_FREE(&s->host, x, 24 * pieces);
    PLI_FREE(&s->host, tet, 24 * pieces);
    return s->locator ? PLI_OK : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory to find points in %zu cells", pieces);
}

// Newton from the tetrahedron that holds the point; a little outside the piece goes on with the same polynomial.
PliIndex pli_wavelet_locate(void *self, const double point[3], PliIndex *column, double *weight, PliIndex capacity)
{
    const PliWavelet *s = self;
    const PliWaveletLevel *l = &s->level[s->level_count - 1];
    const PliShapes *h = seen(s);
    PliIndex tet;
    double w[4], u[3] = { 0.0, 0.0, 0.0 };
    pli_locator_find(s->locator, point, &tet, w);
    const PliIndex cell = s->locator_cell[2 * (size_t)(tet / 6)], part = s->locator_cell[2 * (size_t)(tet / 6) + 1];
    for (int k = 0; k < 4; ++k) v3_madd(u, w[k], corner_at[kuhn[tet % 6][k]]);
    const double beyond = pli_shapes_regular(h, cell) ? 0.5 : 2.0;
    for (int step = 0; step < 20; ++step) {
        double p[3], J[9], inverse[9], du[3];
        place_in(h, cell, part, u, p, J);
        v3_sub(p, point, p);
        if (v3_norm(p) <= 1e-14 * s->size || m3_inverse(inverse, J) == 0.0) break;
        m3_apply(du, inverse, p);
        for (int a = 0; a < 3; ++a) u[a] = fmin(fmax(u[a] + du[a], -beyond), 1.0 + beyond);
    }
    double value[PLI_SHAPE_WIDTH];
    pli_shapes_eval(h, cell, part, u, value, NULL);
    PliIndex used = 0;
    const PliIndex *vertex = h->vertex + h->first[cell], n = h->first[cell + 1] - h->first[cell];
    for (PliIndex k = 0; k < n; ++k) {
        if (fabs(value[k]) < 1e-13) continue;
        if (used == capacity) { // the smallest gives way, and the sum stays one
            PliIndex least = 0;
            for (PliIndex m = 1; m < used; ++m)
                if (fabs(weight[m]) < fabs(weight[least])) least = m;
            if (fabs(value[k]) <= fabs(weight[least])) continue;
            column[least] = l->dof_first + vertex[k];
            weight[least] = value[k];
            continue;
        }
        column[used] = l->dof_first + vertex[k];
        weight[used++] = value[k];
    }
    double sum = 0.0;
    for (PliIndex k = 0; k < used; ++k) sum += weight[k];
    for (PliIndex k = 0; k < used && n > capacity; ++k) weight[k] /= sum;
    return used;
}

// ---- the levels --------------------------------------------------------------------------------------------------------------------------

/// The functions of the lattice as given must not vanish together.
static PliStatus check_lattice(PliWavelet *s, const PliLattice *l, PliError *err)
{
    PliWaveletLevel beyond = { 0 };
    beyond.lattice = pli_lattice_subdivide(l, rule_of(s), &beyond.rows, err);
    const PliStatus status = beyond.lattice ? factor_even(s, &beyond, l->vertex_count, err) : PLI_BAD_MESH;
    s->info.singular = beyond.singular;
    pli_lattice_destroy(beyond.lattice);
    pli_transfer_destroy(beyond.rows);
    pli_block_matrix_destroy(beyond.even);
    return status;
}

static PliLattice *first_lattice(PliWavelet *s, const PliWaveletDef *def, PliError *err)
{
    const PliHost *host = &s->host;
    PliLattice *l = NULL;
    if (s->inside && (!def->mesh || def->resolution > 0)) {
        double origin[3], size[3];
        PliIndex cells[3];
        memcpy(origin, def->box_min, sizeof origin);
        memcpy(cells, def->box_cells, sizeof cells);
        for (int d = 0; d < 3; ++d) size[d] = (def->box_max[d] - def->box_min[d]) / fmax(1.0, cells[d]);
        if (def->resolution > 0) {
            if (pli_lattice_cubes(s->inside, def->resolution, origin, size, cells, err) != PLI_OK) return NULL;
        } else if (!pli_lattice_check_box(def->box_min, def->box_max, cells, err)) {
            return NULL;
        }
        l = pli_lattice_grid(host, s->inside, origin, size, cells, def->basis == PLI_WAVELET_TRILINEAR, err);
    } else {
        l = !def->mesh ? pli_lattice_box(host, def->box_min, def->box_max, def->box_cells, def->sharp_angle, err)
                       : pli_lattice_from_mesh(host, def->mesh, def->sharp_angle, err);
    }
    const int refine = def->refine + (def->base.adapt ? 0 : def->levels);
    for (int k = 0; k <= refine && l; ++k) {
        if (k == def->refine && !s->inside && check_lattice(s, l, err) != PLI_OK) {
            pli_lattice_destroy(l);
            return NULL;
        }
        if (k == refine) break;
        PliLattice *fine = pli_lattice_subdivide(l, (PliLatticeRule)def->basis, NULL, err);
        pli_lattice_destroy(l);
        l = fine;
    }
    return l;
}

static PliStatus find_support(PliWavelet *s, PliWaveletLevel *l)
{
    const PliIndex n = l->lattice->vertex_count, cells = l->lattice->cell_count, entries = l->shapes->first[cells];
    l->support_first = PLI_NEW(&s->host, (size_t)n + 1, PliIndex);
    l->support = PLI_NEW(&s->host, entries, PliIndex);
    l->child_first = PLI_NEW(&s->host, (size_t)cells + 1, PliIndex);
    if (!l->support_first || !l->support || !l->child_first) return PLI_OUT_OF_MEMORY;
    for (PliIndex k = 0; k < entries; ++k) l->support_first[l->shapes->vertex[k]]++;
    for (PliIndex v = 0, sum = 0; v <= n; ++v) { // ends; filling backwards makes them beginnings
        if (v < n) sum += l->support_first[v];
        l->support_first[v] = sum;
    }
    for (PliIndex c = cells; c-- > 0;)
        for (PliIndex k = l->shapes->first[c]; k < l->shapes->first[c + 1]; ++k)
            l->support[--l->support_first[l->shapes->vertex[k]]] = c;
    for (PliIndex c = 0; c < cells; ++c) l->child_first[c + 1] = l->child_first[c] + l->lattice->corners[c];
    return PLI_OK;
}

static PliStatus make_levels(PliWavelet *s, const PliWaveletDef *def, PliError *err)
{
    s->level_count = 1 + (def->base.adapt ? def->levels : 0);
    s->level[0].lattice = first_lattice(s, def, err);
    if (!s->level[0].lattice) return PLI_BAD_ARGUMENT;
    for (int k = 1; k < s->level_count; ++k) {
        PliWaveletLevel *l = &s->level[k];
        l->lattice = pli_lattice_subdivide(s->level[k - 1].lattice, rule_of(s), &l->rows, err);
        if (!l->lattice) return PLI_BAD_ARGUMENT;
        if (s->inside) continue; // nothing is analysed there, and vertices that move nothing are merged
        const PliStatus status = factor_even(s, l, s->level[k - 1].lattice->vertex_count, err);
        if (status != PLI_OK) return status;
        s->info.singular = fmin(s->info.singular, l->singular);
        pli_block_matrix_destroy(l->even); // it is made again when somebody asks
        l->even = NULL;
    }
    for (int k = 0; k < s->level_count; ++k) {
        s->level[k].shapes = pli_shapes_create(s->level[k].lattice, rule_of(s), err);
        if (!s->level[k].shapes) return PLI_BAD_ARGUMENT;
        if (find_support(s, &s->level[k]) != PLI_OK)
            return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for level %d of the lattice", k);
    }
    if (def->smooth && !(s->smooth = pli_shapes_create(s->level[s->level_count - 1].lattice, PLI_RULE_CC, err)))
        return PLI_BAD_ARGUMENT;
    return PLI_OK;
}

static PliStatus fill_coefficients(PliWavelet *s, PliError *err)
{
    const int last = s->level_count - 1;
    s->count = s->level[last].lattice->vertex_count;
    s->dof_count = s->count;
    for (int k = 1; k <= last; ++k)
        s->level[k].dof_first = s->dof_count, s->dof_count += s->level[k].lattice->vertex_count;
    s->rest = PLI_NEW(&s->host, 3 * (size_t)s->dof_count, double);
    s->place = PLI_NEW(&s->host, 3 * (size_t)s->dof_count, double);
    s->dof_level = PLI_NEW(&s->host, s->dof_count, uint8_t);
    s->q = PLI_NEW(&s->host, 3 * (size_t)s->count, double);
    if (!s->rest || !s->place || !s->dof_level || !s->q)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for %u coefficients", s->dof_count);
    PliIndex from = 0;
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (int k = 0; k <= last; ++k) {
        const PliLattice *l = s->level[k].lattice;
        for (PliIndex v = from; v < l->vertex_count; ++v) {
            v3_copy(s->place + 3 * (size_t)v, l->x + 3 * (size_t)v);
            if (k == 0) v3_copy(s->rest + 3 * (size_t)v, l->x + 3 * (size_t)v);
            s->dof_level[v] = (uint8_t)k;
        }
        from = l->vertex_count;
        for (PliIndex v = 0; v < l->vertex_count && k > 0; ++v) {
            const size_t dof = (size_t)s->level[k].dof_first + v;
            v3_copy(s->place + 3 * dof, l->x + 3 * (size_t)v);
            v3_copy(s->rest + 3 * dof, l->x + 3 * (size_t)v);
            s->dof_level[dof] = (uint8_t)k;
        }
        for (PliIndex v = 0; v < l->vertex_count && k == 0; ++v)
            for (int d = 0; d < 3; ++d)
                lo[d] = fmin(lo[d], l->x[3 * (size_t)v + (size_t)d]),
                hi[d] = fmax(hi[d], l->x[3 * (size_t)v + (size_t)d]);
    }
    s->size = v3_distance(lo, hi);
    return PLI_OK;
}

/// The surface that the body is inside of, as given.
static PliStatus take_surface(PliWavelet *s)
{
    PliIndex points;
    const double *x = pli_inside_points(s->inside, &points);
    const PliIndex *tri = pli_inside_triangles(s->inside, &s->tri_count);
    PliIndex *number = PLI_NEW(&s->host, points, PliIndex);
    s->tris = PLI_NEW(&s->host, 3 * (size_t)s->tri_count, PliIndex);
    if (number && s->tris) {
        for (size_t k = 0; k < 3 * (size_t)s->tri_count; ++k) number[tri[k]] = 1;
        for (PliIndex v = 0; v < points; ++v) number[v] = number[v] ? s->surface_count++ : PLI_NONE;
        s->surface = PLI_NEW(&s->host, 3 * (size_t)s->surface_count, double);
        for (PliIndex v = 0; v < points && s->surface; ++v)
            if (number[v] != PLI_NONE) v3_copy(s->surface + 3 * (size_t)number[v], x + 3 * (size_t)v);
        for (size_t k = 0; k < 3 * (size_t)s->tri_count; ++k) s->tris[k] = number[tri[k]];
    }
    PLI_FREE(&s->host, number, points);
    return s->surface ? PLI_OK : PLI_OUT_OF_MEMORY;
}

// Limit places of the vertices of the finest boundary.
static PliStatus make_surface(PliWavelet *s, PliError *err)
{
    if (s->inside)
        return take_surface(s) == PLI_OK
                   ? PLI_OK
                   : pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for the surface of the lattice");
    const PliLattice *l = s->level[s->level_count - 1].lattice;
    const PliShapes *h = seen(s);
    s->tri_count = pli_lattice_surface(l, NULL);
    s->tris = PLI_NEW(&s->host, 3 * (size_t)s->tri_count, PliIndex);
    PliIndex *number = PLI_NEW(&s->host, l->vertex_count, PliIndex);
    PliStatus status = s->tris && number ? PLI_OK : PLI_OUT_OF_MEMORY;
    if (status == PLI_OK) {
        pli_lattice_surface(l, s->tris);
        for (PliIndex v = 0; v < l->vertex_count; ++v) number[v] = l->vertex_outer[v] ? s->surface_count++ : PLI_NONE;
        s->surface = PLI_NEW(&s->host, 3 * (size_t)s->surface_count, double);
        if (!s->surface) status = PLI_OUT_OF_MEMORY;
    }
    for (PliIndex v = 0; v < l->vertex_count && status == PLI_OK; ++v) {
        if (number[v] == PLI_NONE) continue;
        const PliIndex c = l->vertex_cell[l->vertex_cell_first[v]];
        int k = 0;
        while (l->cell[8 * (size_t)c + (size_t)k] != v) k++;
        // pieces are numbered by the corners they are at, twice over
        if (l->corners[c] == 8) {
            place_in(h, c, pli_shapes_regular(h, c) ? 0 : (PliIndex)(9 * k), corner_at[k],
                     s->surface + 3 * (size_t)number[v], NULL);
        } else { // corner k of the cell is corner 0 of its first piece, and of the first piece of that
            place_in(h, c, (PliIndex)(8 * k), corner_at[0], s->surface + 3 * (size_t)number[v], NULL);
        }
    }
    for (PliIndex i = 0; i < 3 * s->tri_count && status == PLI_OK; ++i) s->tris[i] = number[s->tris[i]];
    PLI_FREE(&s->host, number, l->vertex_count);
    return status == PLI_OK ? PLI_OK : pli_refuse(err, status, "no memory for the surface of the lattice");
}

static PliStatus find_inside(PliWavelet *s, const PliWaveletDef *def, PliError *err)
{
    const PliMesh *surface = def->surface ? def->surface : def->resolution > 0 ? def->mesh : NULL;
    if (!surface) return PLI_OK;
    s->inside = pli_inside_create(&s->host, surface, err);
    if (!s->inside) return PLI_BAD_MESH;
    PliIndex points, tris;
    const double *x = pli_inside_points(s->inside, &points);
    const PliIndex *tri = pli_inside_triangles(s->inside, &tris);
    s->tree = pli_triangle_tree_create(&s->host, x, points, tri, tris);
    if (!s->tree) return pli_refuse(err, PLI_OUT_OF_MEMORY, "no memory for a surface of %u triangles", tris);
    pli_triangle_tree_refit(s->tree, x);
    return PLI_OK;
}

PliStatus pli_wavelet_build(PliWavelet *s, const PliWaveletDef *def, PliError *err)
{
    PliStatus status = find_inside(s, def, err);
    if (status == PLI_OK) status = make_levels(s, def, err);
    if (status == PLI_OK) status = fill_coefficients(s, err);
    if (status != PLI_OK) return status;
    const PliWaveletLevel *l = &s->level[s->level_count - 1];
    s->info.functions = s->count, s->info.irregular = l->shapes->irregular;
    for (PliIndex c = 0; c < l->lattice->cell_count; ++c) s->info.cells += !(l->lattice->empty && l->lattice->empty[c]);
    s->base_count = s->level[0].lattice->vertex_count;
    if (s->inside) status = pli_wavelet_find_shares(s, err);
    if (status == PLI_OK) status = make_locator(s, err);
    if (status == PLI_OK) status = make_surface(s, err);
    return status;
}

void pli_wavelet_free_basis(PliWavelet *s)
{
    const PliHost *host = &s->host;
    pli_locator_destroy(s->locator);
    pli_shapes_destroy(s->smooth);
    PLI_FREE(host, s->locator_cell, 2 * (size_t)s->piece_count);
    PLI_FREE(host, s->tris, 3 * (size_t)s->tri_count);
    PLI_FREE(host, s->surface, 3 * (size_t)s->surface_count);
    PLI_FREE(host, s->rest, 3 * (size_t)s->dof_count);
    PLI_FREE(host, s->place, 3 * (size_t)s->dof_count);
    PLI_FREE(host, s->dof_level, s->dof_count);
    PLI_FREE(host, s->q, 3 * (size_t)s->count);
    for (int k = 0; k < PLI_WAVELET_LEVELS; ++k) {
        PliWaveletLevel *l = &s->level[k];
        if (l->lattice) {
            PLI_FREE(host, l->child_first, (size_t)l->lattice->cell_count + 1);
            PLI_FREE(host, l->support_first, (size_t)l->lattice->vertex_count + 1);
            PLI_FREE(host, l->support, l->shapes ? l->shapes->first[l->lattice->cell_count] : 0);
        }
        pli_shapes_destroy(l->shapes);
        pli_lattice_destroy(l->lattice);
        pli_transfer_destroy(l->rows);
        pli_block_matrix_destroy(l->even);
    }
}
