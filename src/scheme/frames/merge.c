/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Merging and splitting of integration regions while running. The tree of the first splitting is the history: two siblings may
// become their parent where the contracted gradients are nearly linear over both. The parent carries a second Piola-Kirchhoff
// stress as an offset, measured so that the force on the active frames does not change at all when regions merge: symmetric,
// so it turns with the body, exerts no torque and has an energy. (A rotated nodal force does neither.)
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "scheme/frames/frames.h"
#include "scheme/frames/fit.h"

enum { WIDTH_MAX = 60, MERGED_FRAMES = 16, OFFSET_FRAMES = 2 };

// Four samples of a node from the eight of its children: the fit is linear in the values, and places do not change.
static void make_merger(const PliFramePack *a, const PliFramePack *b, PliFramePack *out, double q[32])
{
    PliFit fit = { 0 };
    PliFitFrame frame;
    const PliFramePack *child[2] = { a, b };
    double origin[3], p[3];
    v3_copy(origin, a->point[0]);
    for (int c = 0; c < 2; ++c)
        for (int k = 0; k < 4; ++k) {
            v3_sub(p, child[c]->point[k], origin);
            pli_fit_place(&fit, 0.25 * child[c]->volume * child[c]->stiffness, p, 0.0);
        }
    pli_fit_frame(&fit, &frame);
    for (int m = 0; m < 8; ++m) {
        const PliFramePack *from = child[m / 4];
        double moment[4] = { 0.0, 0.0, 0.0, 0.0 }, slope[4];
        v3_sub(p, from->point[m % 4], origin);
        pli_fit_value(moment, 0.25 * from->volume * from->stiffness, p, 1.0);
        pli_fit_solve(&frame, moment, slope);
        for (int k = 0; k < 4; ++k) {
            const double *s = PLI_FIT_CORNER[k];
            q[8 * k + m] = slope[0] + s[0] * slope[1] + s[1] * slope[2] + s[2] * slope[3];
        }
    }
    for (int k = 0; k < 4; ++k) {
        pli_fit_point(&frame, k, out->point[k]);
        v3_add(out->point[k], out->point[k], origin);
    }
    out->volume = a->volume + b->volume;
    out->stiffness = (a->volume * a->stiffness + b->volume * b->stiffness) / out->volume;
    out->antilock = a->antilock || b->antilock;
}

PliStatus pli_frames_merge_create(PliFrames *s)
{
    const PliHost *h = &s->host;
    const PliFrameRegions *r = s->regions;
    s->pack = PLI_NEW(h, r->node_count, PliFramePack);
    s->merger = pli_alloc(h, r->node_count, sizeof *s->merger);
    s->front = PLI_NEW(h, r->node_count, PliIndex);
    if (!s->pack || !s->merger || !s->front) return PLI_OUT_OF_MEMORY;
    for (PliIndex i = 0; i < r->node_count; ++i) {
        PliFramePack *p = &s->pack[i];
        const PliIndex leaf = r->node[i].leaf;
        if (leaf != PLI_NONE) {
            p->volume = r->volume[leaf];
            p->stiffness = r->stiffness[leaf];
            p->antilock = r->antilock[leaf];
            memcpy(p->point, r->point + 12 * (size_t)leaf, sizeof p->point);
        } else {
            make_merger(&s->pack[r->node[i].child[0]], &s->pack[r->node[i].child[1]], p, s->merger[i]);
        }
        // a region depends on the frames in it, or on ancestors of those: as many, or a few more where levels are skipped
        PliIndex most = leaf != PLI_NONE ? 3 * (r->frame_first[leaf + 1] - r->frame_first[leaf]) + 12 : MERGED_FRAMES;
        if (most > s->count) most = s->count;
        if (most > WIDTH_MAX) most = WIDTH_MAX;
        p->first = s->pack_capacity;
        p->capacity = most;
        s->pack_capacity += most;
    }
    s->pack_column = PLI_NEW(h, s->pack_capacity, PliIndex);
    s->pack_grad = PLI_NEW(h, 48 * s->pack_capacity, double);
    s->pack_rest = PLI_NEW(h, 12 * s->pack_capacity, double);
    return s->pack_column && s->pack_grad && s->pack_rest ? PLI_OK : PLI_OUT_OF_MEMORY;
}

void pli_frames_merge_destroy(PliFrames *s)
{
    const PliHost *h = &s->host;
    if (!s->regions) return;
    PLI_FREE(h, s->pack, s->regions->node_count);
    pli_free(h, s->merger, s->regions->node_count, sizeof *s->merger);
    PLI_FREE(h, s->front, s->regions->node_count);
    PLI_FREE(h, s->pack_column, s->pack_capacity);
    PLI_FREE(h, s->pack_grad, 48 * s->pack_capacity);
    PLI_FREE(h, s->pack_rest, 12 * s->pack_capacity);
}

// ---- packs -----------------------------------------------------------------------------------------------------------------

static bool add_column(PliFrames *s, PliFramePack *p, PliIndex frame)
{
    if (s->slot[frame] != PLI_NONE) return true;
    if (p->used == p->capacity) return false;
    PliIndex *column = s->pack_column + p->first, at = p->used++;
    for (; at > 0 && column[at - 1] > frame; --at) column[at] = column[at - 1];
    column[at] = frame;
    s->slot[frame] = 0;
    return true;
}

static void place_columns(PliFrames *s, const PliFramePack *p)
{
    for (PliIndex k = 0; k < p->used; ++k) s->slot[s->pack_column[p->first + k]] = k;
}

static void forget_columns(PliFrames *s, const PliFramePack *p)
{
    for (PliIndex k = 0; k < p->used; ++k) s->slot[s->pack_column[p->first + k]] = PLI_NONE;
}

static bool leaf_is_stale(const PliFrames *s, const PliFramePack *p, PliIndex leaf)
{
    const PliFrameRegions *r = s->regions;
    if (p->stamp == 0) return true;
    for (PliIndex k = r->frame_first[leaf]; k < r->frame_first[leaf + 1]; ++k)
        if (s->dag->changed_candidate[r->frame[k]] > p->stamp || s->dag->changed[r->frame[k]] > p->stamp) return true;
    return false;
}

static bool is_itself(const PliDagRows *rows, PliIndex f)
{
    return rows->used[f] == 1 && rows->column[rows->first[f]] == f;
}

static bool fill_leaf(PliFrames *s, PliFramePack *p, PliIndex leaf)
{
    const PliFrameRegions *r = s->regions;
    const PliDagRows *rows = &s->dag->over_candidates;
    bool fits = true;
    p->used = 0;
    for (PliIndex k = r->frame_first[leaf]; k < r->frame_first[leaf + 1] && fits; ++k)
        for (PliIndex q = 0; q < rows->used[r->frame[k]] && fits; ++q)
            fits = add_column(s, p, rows->column[rows->first[r->frame[k]] + q]);
    place_columns(s, p);
    if (fits) {
        const PliIndex own = r->frame_first[leaf + 1] - r->frame_first[leaf];
        const double *fine = r->grad + r->grad_first[leaf];
        double *grad = s->pack_grad + 48 * p->first;
        memset(grad, 0, 48 * (size_t)p->used * sizeof *grad);
        for (PliIndex k = 0; k < own; ++k) {
            const PliIndex f = r->frame[r->frame_first[leaf] + k];
            if (is_itself(rows, f)) { // most often
                double *out = grad + 12 * (size_t)s->slot[f];
                for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m)
                    for (size_t e = 0; e < 12; ++e)
                        out[12 * (size_t)m * p->used + e] += fine[12 * ((size_t)m * own + k) + e];
                continue;
            }
            for (PliIndex q = 0; q < rows->used[f]; ++q) {
                const double *t = rows->block + 16 * (rows->first[f] + q);
                const PliIndex at = s->slot[rows->column[rows->first[f] + q]];
                for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m) {
                    const double *g = fine + 12 * ((size_t)m * own + k);
                    double *out = grad + 12 * ((size_t)m * p->used + at);
                    for (int d = 0; d < 4; ++d)
                        for (int a = 0; a < 3; ++a)
                            out[3 * d + a] +=
                                t[d] * g[a] + t[4 + d] * g[3 + a] + t[8 + d] * g[6 + a] + t[12 + d] * g[9 + a];
                }
            }
        }
        p->stamp = s->dag->revision;
    }
    forget_columns(s, p);
    return fits;
}

// Pulls forces or gradients on the columns of a node (active frames and candidates) onto active frames, listed in list[0].
static void pull_columns(const PliFrames *s, const PliFramePack *p, const double *f, PliIndex used, double *out)
{
    const PliDagRows *rows = &s->dag->over_active;
    memset(out, 0, 12 * (size_t)used * sizeof *out);
    for (PliIndex k = 0; k < p->used; ++k) {
        const PliIndex frame = s->pack_column[p->first + k];
        for (PliIndex q = 0; q < rows->used[frame]; ++q) {
            const double *t = rows->block + 16 * (rows->first[frame] + q);
            PliIndex at = 0;
            while (s->list[0][at] != rows->column[rows->first[frame] + q]) at++;
            for (int d = 0; d < 4; ++d)
                for (int c = 0; c < 4; ++c)
                    v3_madd(out + 12 * (size_t)at + 3 * d, t[4 * c + d], f + 12 * (size_t)k + 3 * c);
        }
    }
}

static PliIndex list_active(PliFrames *s, const PliFramePack *p)
{
    const PliDagRows *rows = &s->dag->over_active;
    PliIndex used = 0;
    for (PliIndex k = 0; k < p->used; ++k) {
        const PliIndex frame = s->pack_column[p->first + k];
        for (PliIndex q = 0; q < rows->used[frame]; ++q) {
            const PliIndex a = rows->column[rows->first[frame] + q];
            PliIndex at = 0;
            while (at < used && s->list[0][at] != a) at++;
            if (at == used) s->list[0][used++] = a;
        }
    }
    return used;
}

// Squared gradients of a pack over the active frames alone, frames in units of their scale, weighted by stiffness.
static double squared(const PliFrames *s, const PliFramePack *p, PliIndex used)
{
    double sum = 0.0, grad[12 * OFFSET_FRAMES];
    for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m) {
        pull_columns(s, p, s->pack_grad + 48 * p->first + 12 * (size_t)m * p->used, used, grad);
        for (PliIndex k = 0; k < used; ++k) {
            const double size = s->layout->scale[s->list[0][k]];
            for (int e = 0; e < 12; ++e) sum += size * size * grad[12 * k + (PliIndex)e] * grad[12 * k + (PliIndex)e];
        }
    }
    return sum * p->volume * p->stiffness;
}

// The pack of an inner node from its children; fits is false when the gradients over both are too far from linear in the
// active frames, or when more frames are active there than a stress offset can serve. Candidates do not move by themselves: how
// well they are followed only matters to the prediction.
static void fill_node(PliFrames *s, PliIndex i)
{
    const PliRegionNode *node = &s->regions->node[i];
    PliFramePack *p = &s->pack[i];
    const PliFramePack *child[2] = { &s->pack[node->child[0]], &s->pack[node->child[1]] };
    p->stamp = s->dag->revision;
    p->fits = child[0]->fits && child[1]->fits;
    p->used = 0;
    for (int c = 0; c < 2 && p->fits; ++c)
        for (PliIndex k = 0; k < child[c]->used && p->fits; ++k)
            p->fits = add_column(s, p, s->pack_column[child[c]->first + k]);
    forget_columns(s, p);
    if (!p->fits) return;
    const PliIndex used = list_active(s, p);
    p->fits = used <= OFFSET_FRAMES;
    if (!p->fits) return;
    place_columns(s, p);
    double *grad = s->pack_grad + 48 * p->first;
    memset(grad, 0, 48 * (size_t)p->used * sizeof *grad);
    for (int c = 0; c < 2; ++c) {
        const PliFramePack *from = child[c];
        for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m)
            for (PliIndex k = 0; k < from->used; ++k) {
                const PliIndex at = s->slot[s->pack_column[from->first + k]];
                const double *g = s->pack_grad + 48 * from->first + 12 * ((size_t)m * from->used + k);
                for (PliIndex n = 0; n < PLI_REGION_SAMPLES; ++n) {
                    const double w = s->merger[i][8 * n + 4 * (PliIndex)c + m];
                    double *out = grad + 12 * ((size_t)n * p->used + at);
                    for (int e = 0; e < 12; ++e) out[e] += w * g[e];
                }
            }
    }
    forget_columns(s, p);
    const double square = squared(s, child[0], used) + squared(s, child[1], used), lost = square - squared(s, p, used);
    p->fits = lost <= s->def.merge_linearity * square;
    // one frame and gradients that do not vary: the same F everywhere, exact for any law; else strains vary within the region and
    // four samples see only their first moments
    p->loose = child[0]->loose || child[1]->loose || used > 1 || lost > 1e-10 * square;
}

// ---- forces of one node ------------------------------------------------------------------------------------------------------

static void deformation(const PliFrames *s, const PliFramePack *p, PliIndex m, const double *x, double F[9])
{
    const double *grad = s->pack_grad + 48 * p->first + 12 * (size_t)m * p->used;
    memset(F, 0, 9 * sizeof *F);
    for (PliIndex k = 0; k < p->used; ++k) {
        const double *u = x + 12 * (size_t)s->pack_column[p->first + k], *g = grad + 12 * (size_t)k;
        for (int c = 0; c < 12; c += 3)
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b < 3; ++b) F[3 * a + b] += u[c + a] * g[c + b];
    }
}

static void green(const double F[9], double E[6])
{
    const int i[6] = { 0, 1, 2, 1, 0, 0 }, j[6] = { 0, 1, 2, 2, 2, 1 };
    for (int k = 0; k < 6; ++k)
        E[k] = 0.5 * (F[i[k]] * F[j[k]] + F[3 + i[k]] * F[3 + j[k]] + F[6 + i[k]] * F[6 + j[k]] - (k < 3 ? 1.0 : 0.0));
}

static void add_symmetric(const double F[9], const double S[6], double scale, double P[9])
{
    for (int a = 0; a < 3; ++a) {
        P[3 * a] += scale * (F[3 * a] * S[0] + F[3 * a + 1] * S[5] + F[3 * a + 2] * S[4]);
        P[3 * a + 1] += scale * (F[3 * a] * S[5] + F[3 * a + 1] * S[1] + F[3 * a + 2] * S[3]);
        P[3 * a + 2] += scale * (F[3 * a] * S[4] + F[3 * a + 1] * S[3] + F[3 * a + 2] * S[2]);
    }
}

// -V P of the four samples of a node, the share of the fifth included; without the stress offset unless asked.
static void stresses(const PliFrames *s, const PliFramePack *p, const double *x, bool offset, double P[4][9],
                     double F[4][9])
{
    const double share = 2.0 * s->def.base.material.poisson * s->lame.bulk;
    double mean[9] = { 0.0 }, press = 0.0;
    for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m) {
        deformation(s, p, m, x, F[m]);
        for (int k = 0; k < 9; ++k) mean[k] += 0.25 * F[m][k];
    }
    if (p->antilock)
        for (int k = 0; k < 9; ++k) press += 0.5 * mean[k] * mean[k] - (k % 4 == 0 ? 0.5 : 0.0);
    for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m) {
        double own = 0.0;
        pli_law_stress(s->def.base.material.law, &s->lame, F[m], P[m]);
        for (int k = 0; k < 9 && p->antilock; ++k) own += 0.5 * F[m][k] * F[m][k] - (k % 4 == 0 ? 0.5 : 0.0);
        for (int k = 0; k < 9; ++k) {
            if (p->antilock) P[m][k] += share * (press * mean[k] - own * F[m][k]);
            P[m][k] *= -0.25 * p->volume * p->stiffness;
        }
        if (offset) add_symmetric(F[m], p->s0[m], -0.25 * p->volume, P[m]);
    }
}

// out += forces of given stresses on the columns of p, found in `slot` of the node they are wanted for.
static void add_forces(const PliFrames *s, const PliFramePack *p, double P[4][9], double *out)
{
    for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m)
        for (PliIndex k = 0; k < p->used; ++k) {
            const double *g = s->pack_grad + 48 * p->first + 12 * ((size_t)m * p->used + k);
            double *f = out + 12 * (size_t)s->slot[s->pack_column[p->first + k]];
            for (int c = 0; c < 12; c += 3)
                for (int a = 0; a < 3; ++a)
                    f[c + a] += P[m][3 * a] * g[c] + P[m][3 * a + 1] * g[c + 1] + P[m][3 * a + 2] * g[c + 2];
        }
}

// Forces of the finest regions below a node, on the columns of that node (places in slot).
static void true_forces(PliFrames *s, PliIndex i, const double *x, double *out)
{
    PliIndex stack[64], depth = 0;
    stack[depth++] = i;
    while (depth > 0) {
        const PliIndex n = stack[--depth];
        const PliRegionNode *node = &s->regions->node[n];
        if (node->leaf == PLI_NONE) {
            stack[depth++] = node->child[1];
            stack[depth++] = node->child[0];
            continue;
        }
        double P[4][9], F[4][9];
        stresses(s, &s->pack[n], x, false, P, F);
        add_forces(s, &s->pack[n], P, out);
    }
}

// ---- offsets --------------------------------------------------------------------------------------------------------------

/// Linear map from stress offsets (24 numbers) to forces on the active frames of a node, and its transpose.
typedef struct OffsetMap {
    PliIndex columns;
    double g[PLI_REGION_SAMPLES][OFFSET_FRAMES * 4][3]; ///< pulled onto active frames
    double F[4][9];
    double volume;
} OffsetMap;

static void offset_forces(const OffsetMap *m, const double S[24], double *f)
{
    memset(f, 0, 12 * (size_t)m->columns * sizeof *f);
    for (int k = 0; k < 4; ++k) {
        double P[9] = { 0.0 };
        add_symmetric(m->F[k], S + 6 * k, -0.25 * m->volume, P);
        for (PliIndex a = 0; a < 4 * m->columns; ++a)
            for (int c = 0; c < 3; ++c) f[3 * a + (PliIndex)c] += v3_dot(P + 3 * c, m->g[k][a]);
    }
}

static void offset_transpose(const OffsetMap *m, const double *f, double S[24])
{
    for (int k = 0; k < 4; ++k) {
        double Q[9] = { 0.0 }, T[9];
        for (PliIndex a = 0; a < 4 * m->columns; ++a)
            for (int c = 0; c < 9; ++c) Q[c] += f[3 * a + (PliIndex)(c / 3)] * m->g[k][a][c % 3];
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c)
                T[3 * r + c] =
                    -0.25 * m->volume * (m->F[k][r] * Q[c] + m->F[k][3 + r] * Q[3 + c] + m->F[k][6 + r] * Q[6 + c]);
        double *out = S + 6 * k;
        out[0] = T[0], out[1] = T[4], out[2] = T[8];
        out[3] = T[5] + T[7], out[4] = T[2] + T[6], out[5] = T[1] + T[3];
    }
}

static double dot(const double *a, const double *b, PliIndex n)
{
    double sum = 0.0;
    for (PliIndex k = 0; k < n; ++k) sum += a[k] * b[k];
    return sum;
}

// Least-norm offsets that give forces r: conjugate gradients on the normal equations from zero. @return what is left of |r|.
static double solve_offsets(const OffsetMap *m, double *r, double S[24])
{
    const PliIndex n = 12 * m->columns;
    double z[24], p[24], q[12 * OFFSET_FRAMES];
    memset(S, 0, 24 * sizeof *S);
    offset_transpose(m, r, z);
    memcpy(p, z, sizeof p);
    double rho = dot(z, z, 24), best = sqrt(dot(r, r, n));
    const double first = rho;
    for (int pass = 0; pass < 60 && rho > 1e-30 * first && rho > 0.0; ++pass) {
        offset_forces(m, p, q);
        const double square = dot(q, q, n);
        if (!(square > 0.0)) break;
        const double step = rho / square;
        for (int k = 0; k < 24; ++k) S[k] += step * p[k];
        for (PliIndex k = 0; k < n; ++k) r[k] -= step * q[k];
        offset_transpose(m, r, z);
        const double next = dot(z, z, 24), turn = next / rho;
        rho = next;
        for (int k = 0; k < 24; ++k) p[k] = z[k] + turn * p[k];
        best = sqrt(dot(r, r, n));
    }
    return best;
}

// Measures the offset of an inner node at x. False when no symmetric stress carries the difference: it must not be merged then.
static bool measure_offset(PliFrames *s, PliIndex i, const double *x, double *jump)
{
    PliFramePack *p = &s->pack[i];
    const PliIndex used = list_active(s, p);
    if (used > OFFSET_FRAMES) return false;
    double truth[12 * MERGED_FRAMES] = { 0.0 }, coarse[12 * MERGED_FRAMES] = { 0.0 },
                      with[12 * MERGED_FRAMES] = { 0.0 };
    double P[4][9], active[12 * OFFSET_FRAMES], full[12 * OFFSET_FRAMES], S[24];
    OffsetMap map = { .columns = used, .volume = p->volume };
    place_columns(s, p);
    true_forces(s, i, x, truth);
    stresses(s, p, x, true, P, map.F); // as it stands, with the old offset: what a refresh changes
    add_forces(s, p, P, with);
    stresses(s, p, x, false, P, map.F);
    add_forces(s, p, P, coarse);
    forget_columns(s, p);
    pull_columns(s, p, truth, used, full);
    const double scale = sqrt(dot(full, full, 12 * used));
    for (PliIndex k = 0; k < 12 * p->used; ++k) with[k] = truth[k] - with[k];
    pull_columns(s, p, with, used, active);
    *jump = sqrt(dot(active, active, 12 * used));
    for (PliIndex k = 0; k < 12 * p->used; ++k) truth[k] -= coarse[k]; // what the offset must carry
    pull_columns(s, p, truth, used, active);
    for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m) {
        // gradients transform like forces
        double grad[12 * OFFSET_FRAMES];
        pull_columns(s, p, s->pack_grad + 48 * p->first + 12 * (size_t)m * p->used, used, grad);
        memcpy(map.g[m], grad, 12 * (size_t)used * sizeof *grad);
    }
    const double left = solve_offsets(&map, active, S);
    // stresses of the law times the area of the region: what rounding is measured against
    const double round =
        1e-14 * s->def.base.material.young * p->stiffness * p->volume / s->layout->scale[s->list[0][0]];
    // relative to the forces at hand; near rest, where all are rounding, to a tenth of the largest seen
    s->peak_force = fmax(s->peak_force, scale);
    const double size = fmax(scale, 0.1 * s->peak_force);
    if (left > 2e-11 * size && left > round) return false;
    memcpy(p->s0, S, sizeof p->s0);
    if (size > 1e4 * round)
        s->info.merge_jump = fmax(s->info.merge_jump, left / size), *jump /= size;
    else
        *jump = 0.0;
    // column by column something remains that cancels on the active frames; it only serves the prediction of candidates
    memset(coarse, 0, sizeof coarse);
    memset(p->mean, 0, sizeof p->mean);
    for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m) {
        memset(P[m], 0, sizeof P[m]);
        add_symmetric(map.F[m], p->s0[m], -0.25 * p->volume, P[m]);
        green(map.F[m], p->strain[m]);
        for (int k = 0; k < 9; ++k) p->mean[k] += 0.25 * map.F[m][k];
    }
    place_columns(s, p);
    add_forces(s, p, P, coarse);
    forget_columns(s, p);
    double inverse[9];
    if (m3_inverse(inverse, p->mean) == 0.0) return false;
    double *rest = s->pack_rest + 12 * p->first;
    for (PliIndex k = 0; k < 4 * p->used; ++k) {
        const double f[3] = { truth[3 * k] - coarse[3 * k], truth[3 * k + 1] - coarse[3 * k + 1],
                              truth[3 * k + 2] - coarse[3 * k + 2] };
        m3_apply(rest + 3 * k, inverse, f);
    }
    return true;
}

// ---- the front ----------------------------------------------------------------------------------------------------------------

// True when the strain of a node changes little in a step: what a loose merge gets wrong is a few percent of that change.
static bool is_calm(const PliFrames *s, const PliFramePack *p, const double *x)
{
    if (!s->front_v) return true;
    double change = 0.0, size = 0.0;
    for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m) {
        double F[9], D[9], E[6], next[6];
        deformation(s, p, m, x, F);
        deformation(s, p, m, s->front_v, D);
        green(F, E);
        for (int k = 0; k < 9; ++k) F[k] += s->front_dt * D[k];
        green(F, next);
        for (int k = 0; k < 6; ++k) change = fmax(change, fabs(next[k] - E[k])), size = fmax(size, fabs(E[k]));
    }
    return change <= 1e-7 + 1e-3 * size;
}

// Chooses the front top down: the largest nodes that may stand for what is below them.
static void choose_front(PliFrames *s, const double *x)
{
    const PliFrameRegions *r = s->regions;
    s->front_count = 0;
    for (PliIndex top = r->node_count; top-- > 0;) {
        if (r->node[top].parent != PLI_NONE) continue;
        PliIndex stack[64], depth = 0;
        stack[depth++] = top;
        while (depth > 0) {
            const PliIndex i = stack[--depth];
            PliFramePack *p = &s->pack[i];
            double jump = 0.0;
            const bool inner = r->node[i].leaf == PLI_NONE;
            const bool calm = !p->loose || ((p->was_live || !s->front_strict) && is_calm(s, p, x));
            if (!inner || (p->fits && calm && (p->was_live || measure_offset(s, i, x, &jump)))) {
                p->live = true;
                s->front[s->front_count++] = i;
                if (inner && !p->was_live) s->info.merges++;
                continue;
            }
            if (inner && p->was_live) s->info.splits++;
            stack[depth++] = r->node[i].child[1];
            stack[depth++] = r->node[i].child[0];
        }
    }
}

bool pli_frames_refresh_front(PliFrames *s, const double *x)
{
    const PliFrameRegions *r = s->regions;
    if (!x) x = s->rest;
    for (PliIndex i = 0; i < r->node_count; ++i) {
        PliFramePack *p = &s->pack[i];
        p->was_live = p->live;
        p->live = false;
        if (r->node[i].leaf != PLI_NONE) {
            p->fits = true;
            if (leaf_is_stale(s, p, r->node[i].leaf) && !fill_leaf(s, p, r->node[i].leaf)) return false;
        } else if (s->def.merge) {
            const PliFramePack *a = &s->pack[r->node[i].child[0]], *b = &s->pack[r->node[i].child[1]];
            if (p->stamp == 0 || a->stamp > p->stamp || b->stamp > p->stamp) {
                fill_node(s, i);
                p->was_live = false; // made anew: its offset is measured again
            }
        } else {
            p->fits = false;
        }
    }
    choose_front(s, x);
    return true;
}

bool pli_frames_update_front(PliFrames *s, const double *x, const double *v, double dt, bool look)
{
    if (!s->def.merge) return false;
    const PliFrameRegions *r = s->regions;
    s->front_v = v, s->front_dt = dt, s->front_strict = !look;
    bool change = false;
    for (PliIndex i = 0; i < s->front_count && !change; ++i) {
        const PliIndex n = s->front[i];
        const PliFramePack *p = &s->pack[n];
        if (r->node[n].leaf == PLI_NONE) change = p->loose && !is_calm(s, p, x);
        // two live siblings that might merge
        const PliIndex up = r->node[n].parent;
        if (look && !change && up != PLI_NONE && s->pack[up].fits && s->pack[r->node[up].child[0]].live &&
            s->pack[r->node[up].child[1]].live)
            change = !s->pack[up].loose || is_calm(s, &s->pack[up], x);
    }
    if (change) {
        const PliIndex before = s->front_count;
        (void)pli_frames_refresh_offsets(s, x, PLI_OFFSETS_MOVED); // what splits now goes back to the truth
        for (PliIndex i = 0; i < r->node_count; ++i) {
            s->pack[i].was_live = s->pack[i].live;
            s->pack[i].live = false;
        }
        choose_front(s, x);
        change =
            s->front_count != before; // with the same tree, a different front has a different length or the same nodes
        for (PliIndex i = 0; i < s->front_count && !change; ++i) change = !s->pack[s->front[i]].was_live;
        if (change) pli_frames_refresh_samples(s);
    }
    s->front_v = NULL, s->front_strict = false;
    return change;
}

bool pli_frames_refresh_offsets(PliFrames *s, const double *x, PliFrameOffsets which)
{
    static const double share[] = { [PLI_OFFSETS_ALL] = -1.0, [PLI_OFFSETS_MOVED] = 1e-6, [PLI_OFFSETS_STALE] = 1.0 };
    bool any = false;
    for (PliIndex i = 0; i < s->front_count; ++i) {
        PliFramePack *p = &s->pack[s->front[i]];
        if (s->regions->node[s->front[i]].leaf != PLI_NONE) continue;
        double away = 0.0, size = 0.0;
        for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m) {
            double F[9], E[6];
            deformation(s, p, m, x, F);
            green(F, E);
            for (int k = 0; k < 6; ++k)
                away = fmax(away, fabs(E[k] - p->strain[m][k])), size = fmax(size, fabs(p->strain[m][k]));
        }
        if (away <= share[which] * (1e-6 + 1e-3 * size)) continue;
        double jump;
        if (measure_offset(s, s->front[i], x, &jump)) {
            any = true;
            s->info.split_jump = fmax(s->info.split_jump, jump);
            for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m)
                memcpy(s->sample_s0 + 6 * ((size_t)PLI_REGION_SAMPLES * i + m), p->s0[m], sizeof p->s0[m]);
        }
    }
    return any;
}

void pli_frames_add_rest_forces(const PliFrames *s, const double *x, double *hat)
{
    for (PliIndex i = 0; i < s->front_count; ++i) {
        const PliFramePack *p = &s->pack[s->front[i]];
        if (s->regions->node[s->front[i]].leaf != PLI_NONE) continue;
        double mean[9] = { 0.0 }, F[9];
        for (PliIndex m = 0; m < PLI_REGION_SAMPLES; ++m) {
            deformation(s, p, m, x, F);
            for (int k = 0; k < 9; ++k) mean[k] += 0.25 * F[k];
        }
        for (PliIndex k = 0; k < 4 * p->used; ++k) {
            double f[3];
            m3_apply(f, mean, s->pack_rest + 12 * p->first + 3 * k);
            double *h = hat + 12 * (size_t)s->pack_column[p->first + k / 4] + 3 * (k % 4);
            v3_add(h, h, f);
        }
    }
}
