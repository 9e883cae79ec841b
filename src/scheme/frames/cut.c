/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The cut: gradients of samples, mass and load, contracted onto the coefficients of active frames.
#include <string.h>

#include "base/memory.h"
#include "scheme/frames/frames.h"

PliStatus pli_frames_cut_create(PliFrames *s)
{
    const PliHost *h = &s->host;
    const PliFrameRegions *r = s->regions;
    const size_t n = s->count;
    PliStatus status = pli_frames_merge_create(s);
    if (status != PLI_OK) return status;
    size_t entries = 0; // of the finest front, which is the longest
    for (PliIndex i = 0; i < r->node_count; ++i)
        if (r->node[i].leaf != PLI_NONE) entries += s->pack[i].capacity;
    for (PliIndex i = 0; i < r->count; ++i) s->has_antilock |= r->antilock[i] && s->def.base.material.poisson > 0.0;
    s->sample_capacity = (s->has_antilock ? 5 : 4) * r->count;
    s->sample_entry_capacity = (s->has_antilock ? 5 : 4) * 4 * entries;
    const size_t pairs = s->mass->first[n];
    s->mass_capacity = 16 * (n * n < 2 * pairs + 32 * n ? n * n : 2 * pairs + 32 * n);
    s->active = PLI_NEW(h, 4 * n, PliIndex);
    s->cut_mass = PLI_NEW(h, 4 * n, double);
    s->cut_load = PLI_NEW(h, 4 * n, double);
    s->mass_first = PLI_NEW(h, 4 * n + 1, PliIndex);
    s->mass_column = PLI_NEW(h, s->mass_capacity, PliIndex);
    s->mass_value = PLI_NEW(h, s->mass_capacity, double);
    s->sample_first = PLI_NEW(h, (size_t)s->sample_capacity + 1, PliIndex);
    s->sample_dof = PLI_NEW(h, s->sample_entry_capacity, PliIndex);
    s->sample_grad = PLI_NEW(h, 3 * s->sample_entry_capacity, double);
    s->sample_volume = PLI_NEW(h, s->sample_capacity, double);
    s->sample_stiffness = PLI_NEW(h, s->sample_capacity, double);
    s->sample_bulk = PLI_NEW(h, s->sample_capacity, double);
    s->sample_s0 = PLI_NEW(h, 6 * (size_t)s->sample_capacity, double);
    s->slot = PLI_NEW(h, n, PliIndex);
    s->dense = PLI_NEW(h, 16 * n, double);
    s->row_first = PLI_NEW(h, n + 2, PliIndex);
    s->row_item = PLI_NEW(h, s->dag->entry_capacity, PliIndex);
    s->row_entry = PLI_NEW(h, s->dag->entry_capacity, size_t);
    s->product = PLI_NEW(h, 16 * n, double);
    for (int k = 0; k < 2; ++k) {
        s->mark[k] = PLI_NEW(h, n, uint8_t);
        s->list[k] = PLI_NEW(h, n, PliIndex);
        if (!s->mark[k] || !s->list[k]) return PLI_OUT_OF_MEMORY;
    }
    const bool ok = s->active && s->cut_mass && s->cut_load && s->mass_first && s->mass_column && s->mass_value &&
                    s->sample_first && s->sample_dof && s->sample_grad && s->sample_volume && s->sample_stiffness &&
                    s->sample_bulk && s->sample_s0 && s->slot && s->dense && s->row_first && s->row_item &&
                    s->row_entry && s->product;
    if (!ok) return PLI_OUT_OF_MEMORY;
    memset(s->slot, 0xff, n * sizeof *s->slot);
    return PLI_OK;
}

void pli_frames_cut_destroy(PliFrames *s)
{
    const PliHost *h = &s->host;
    const size_t n = s->count;
    pli_frames_merge_destroy(s);
    PLI_FREE(h, s->active, 4 * n);
    PLI_FREE(h, s->cut_mass, 4 * n);
    PLI_FREE(h, s->cut_load, 4 * n);
    PLI_FREE(h, s->mass_first, 4 * n + 1);
    PLI_FREE(h, s->mass_column, s->mass_capacity);
    PLI_FREE(h, s->mass_value, s->mass_capacity);
    PLI_FREE(h, s->sample_first, (size_t)s->sample_capacity + 1);
    PLI_FREE(h, s->sample_dof, s->sample_entry_capacity);
    PLI_FREE(h, s->sample_grad, 3 * s->sample_entry_capacity);
    PLI_FREE(h, s->sample_volume, s->sample_capacity);
    PLI_FREE(h, s->sample_stiffness, s->sample_capacity);
    PLI_FREE(h, s->sample_bulk, s->sample_capacity);
    PLI_FREE(h, s->sample_s0, 6 * (size_t)s->sample_capacity);
    PLI_FREE(h, s->slot, n);
    PLI_FREE(h, s->dense, 16 * n);
    PLI_FREE(h, s->row_first, n + 2);
    if (s->dag) {
        PLI_FREE(h, s->row_item, s->dag->entry_capacity);
        PLI_FREE(h, s->row_entry, s->dag->entry_capacity);
    }
    PLI_FREE(h, s->product, 16 * n);
    for (int k = 0; k < 2; ++k) {
        PLI_FREE(h, s->mark[k], n);
        PLI_FREE(h, s->list[k], n);
    }
}

// ---- samples -------------------------------------------------------------------------------------------------------------

// Active frames a pack depends on, ascending in list[0], with their places in slot. Candidates stand for their active parents.
static PliIndex list_active(PliFrames *s, const PliFramePack *p)
{
    const PliDagRows *rows = &s->dag->over_active;
    PliIndex *list = s->list[0], used = 0;
    for (PliIndex k = 0; k < p->used; ++k) {
        const PliIndex f = s->pack_column[p->first + k];
        for (PliIndex q = 0; q < rows->used[f]; ++q) {
            const PliIndex a = rows->column[rows->first[f] + q];
            if (s->slot[a] != PLI_NONE) continue;
            s->slot[a] = 0;
            PliIndex at = used++;
            for (; at > 0 && list[at - 1] > a; --at) list[at] = list[at - 1];
            list[at] = a;
        }
    }
    for (PliIndex k = 0; k < used; ++k) s->slot[list[k]] = k;
    return used;
}

// Gradients of one sample (12 per frame of the pack) pulled onto active frames.
static void pull(const PliFrames *s, const PliFramePack *p, const double *grad, PliIndex used, double *out)
{
    const PliDagRows *rows = &s->dag->over_active;
    memset(out, 0, 12 * (size_t)used * sizeof *out);
    for (PliIndex k = 0; k < p->used; ++k) {
        const PliIndex f = s->pack_column[p->first + k];
        const double *g = grad + 12 * (size_t)k;
        if (s->dag->active[f]) {
            for (size_t e = 0; e < 12; ++e) out[12 * (size_t)s->slot[f] + e] += g[e];
            continue;
        }
        for (PliIndex q = 0; q < rows->used[f]; ++q) {
            const double *t = rows->block + 16 * (rows->first[f] + q);
            double *to = out + 12 * (size_t)s->slot[rows->column[rows->first[f] + q]];
            for (int d = 0; d < 4; ++d)
                for (int a = 0; a < 3; ++a)
                    to[3 * d + a] += t[d] * g[a] + t[4 + d] * g[3 + a] + t[8 + d] * g[6 + a] + t[12 + d] * g[9 + a];
        }
    }
}

static bool contract_samples(PliFrames *s)
{
    const double share = 2.0 * s->def.base.material.poisson; // 1 - lambda' / lambda, lambda' = 2 mu nu
    PliIndex sample = 0;
    size_t entry = 0;
    // four samples per live region, then, for selective lambda, what they gave up, at the centre
    for (int pass = 0; pass < (s->has_antilock ? 2 : 1); ++pass)
        for (PliIndex i = 0; i < s->front_count; ++i) {
            const PliFramePack *p = &s->pack[s->front[i]];
            if (pass && !p->antilock) continue;
            const double *grad = s->pack_grad + 48 * p->first;
            const PliIndex used = list_active(s, p);
            const size_t width = 12 * (size_t)used;
            for (PliIndex m = 0; m < (pass ? 1 : PLI_REGION_SAMPLES); ++m) {
                if (entry + 4 * used > s->sample_entry_capacity) return false;
                s->sample_first[sample] = (PliIndex)entry;
                s->sample_volume[sample] = pass ? p->volume : p->volume / PLI_REGION_SAMPLES;
                s->sample_stiffness[sample] = pass ? 0.0 : p->stiffness;
                s->sample_bulk[sample] = p->antilock ? (pass ? share : -share) * p->stiffness : 0.0;
                if (pass)
                    memset(s->sample_s0 + 6 * (size_t)sample, 0, 6 * sizeof(double));
                else
                    memcpy(s->sample_s0 + 6 * (size_t)sample, p->s0[m], sizeof p->s0[m]);
                double *out = s->sample_grad + 3 * entry;
                if (pass) { // the mean of the four, which were made before
                    const double *four = s->sample_grad + 3 * (size_t)s->sample_first[PLI_REGION_SAMPLES * i];
                    for (size_t k = 0; k < width; ++k)
                        out[k] = 0.25 * (four[k] + four[width + k] + four[2 * width + k] + four[3 * width + k]);
                } else {
                    pull(s, p, grad + 12 * (size_t)m * p->used, used, out);
                }
                for (PliIndex k = 0; k < used; ++k)
                    for (PliIndex c = 0; c < 4; ++c) s->sample_dof[entry++] = 4 * s->list[0][k] + c;
                sample++;
            }
            for (PliIndex k = 0; k < used; ++k) s->slot[s->list[0][k]] = PLI_NONE;
        }
    s->sample_first[sample] = (PliIndex)entry;
    s->sample_count = sample;
    return true;
}

// ---- mass ----------------------------------------------------------------------------------------------------------------

static void add_transposed(double r[16], const double a[16], const double b[16])
{
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            r[4 * i + j] += a[i] * b[j] + a[4 + i] * b[4 + j] + a[8 + i] * b[8 + j] + a[12 + i] * b[12 + j];
}

static void add_product(double r[16], const double a[16], const double b[16])
{
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            r[4 * i + j] +=
                a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j] + a[4 * i + 3] * b[12 + j];
}

// Frames by the active frames they follow: the transpose of T.
static void transpose_rows(PliFrames *s)
{
    const PliDagRows *rows = &s->dag->over_active;
    memset(s->row_first, 0, ((size_t)s->count + 2) * sizeof *s->row_first);
    for (PliIndex i = 0; i < s->count; ++i)
        for (PliIndex q = 0; q < rows->used[i]; ++q) s->row_first[rows->column[rows->first[i] + q] + 2]++;
    for (PliIndex i = 0; i <= s->count; ++i) s->row_first[i + 1] += s->row_first[i];
    for (PliIndex i = 0; i < s->count; ++i)
        for (PliIndex q = 0; q < rows->used[i]; ++q) {
            const PliIndex at = s->row_first[rows->column[rows->first[i] + q] + 1]++;
            s->row_item[at] = i;
            s->row_entry[at] = rows->first[i] + q;
        }
}

// A dense row of blocks that remembers which of them are in use.
static double *touch(double *row, uint8_t *used, PliIndex *list, PliIndex *count, PliIndex at)
{
    double *b = row + 16 * (size_t)at;
    if (!used[at]) {
        used[at] = 1;
        list[(*count)++] = at;
        memset(b, 0, 16 * sizeof *b);
    }
    return b;
}

static void sort_list(PliIndex *list, PliIndex count)
{
    for (PliIndex gap = count > 40 ? 13 : count > 12 ? 4 : 1; gap > 0; gap /= 3)
        for (PliIndex i = gap; i < count; ++i) {
            const PliIndex v = list[i];
            PliIndex k = i;
            for (; k >= gap && list[k - gap] > v; k -= gap) list[k] = list[k - gap];
            list[k] = v;
        }
}

// M_A = T^T M T by rows: row a gathers T_ia^T M_ij over the frames i that follow it, then goes through T on the right.
static bool contract_mass(PliFrames *s)
{
    const PliDag *g = s->dag;
    const PliDagRows *rows = &g->over_active;
    const PliFrameMass *m = s->mass;
    size_t entry = 0;
    transpose_rows(s);
    for (PliIndex q = 0; q < g->active_count; ++q) s->slot[g->active_list[q]] = q; // frame -> position
    bool fits = true;
    for (PliIndex q = 0; q < g->active_count && fits; ++q) {
        const PliIndex a = g->active_list[q];
        PliIndex left = 0, right = 0;
        for (PliIndex k = s->row_first[a]; k < s->row_first[a + 1]; ++k) {
            const PliIndex i = s->row_item[k];
            const double *t = rows->block + 16 * s->row_entry[k];
            for (PliIndex e = m->first[i]; e < m->first[i + 1]; ++e)
                add_transposed(touch(s->product, s->mark[0], s->list[0], &left, m->column[e]), t,
                               m->block + 16 * (size_t)e);
        }
        sort_list(s->list[0], left);
        for (PliIndex k = 0; k < left; ++k) {
            const PliIndex j = s->list[0][k];
            s->mark[0][j] = 0;
            for (PliIndex e = 0; e < rows->used[j]; ++e) {
                const PliIndex at = s->slot[rows->column[rows->first[j] + e]];
                add_product(touch(s->dense, s->mark[1], s->list[1], &right, at), s->product + 16 * (size_t)j,
                            rows->block + 16 * (rows->first[j] + e));
            }
        }
        sort_list(s->list[1], right);
        if (entry + 16 * (size_t)right > s->mass_capacity) fits = false;
        for (PliIndex c = 0; c < 4; ++c) {
            s->mass_first[4 * q + c] = (PliIndex)entry;
            for (PliIndex k = 0; k < right && fits; ++k)
                for (PliIndex d = 0; d < 4; ++d) {
                    s->mass_column[entry] = 4 * s->list[1][k] + d;
                    s->mass_value[entry++] = s->dense[16 * (size_t)s->list[1][k] + 4 * c + d];
                }
            s->cut_mass[4 * q + c] = s->dense[16 * (size_t)q + 5 * c];
        }
        for (PliIndex k = 0; k < right; ++k) s->mark[1][s->list[1][k]] = 0;
    }
    s->mass_first[4 * g->active_count] = (PliIndex)entry;
    for (PliIndex q = 0; q < g->active_count; ++q) s->slot[g->active_list[q]] = PLI_NONE;
    return fits;
}

static void contract_load(PliFrames *s)
{
    const PliDag *g = s->dag;
    const PliDagRows *rows = &g->over_active;
    for (PliIndex q = 0; q < g->active_count; ++q) {
        const PliIndex a = g->active_list[q];
        double sum[4] = { 0.0, 0.0, 0.0, 0.0 };
        for (PliIndex k = s->row_first[a]; k < s->row_first[a + 1]; ++k) {
            const double *t = rows->block + 16 * s->row_entry[k], *f = s->load + 4 * (size_t)s->row_item[k];
            for (int d = 0; d < 4; ++d) sum[d] += t[d] * f[0] + t[4 + d] * f[1] + t[8 + d] * f[2] + t[12 + d] * f[3];
        }
        for (PliIndex c = 0; c < 4; ++c) {
            s->active[4 * q + c] = 4 * a + c;
            s->cut_load[4 * q + c] = sum[c];
        }
    }
    s->active_count = 4 * g->active_count;
}

void pli_frames_refresh_cut(PliFrames *s, const double *x)
{
    if (s->cut_revision == s->dag->revision) return;
    if (!pli_frames_refresh_front(s, x) || !contract_samples(s) || !contract_mass(s)) {
        // more frames meet in one region, or in one row, than was provided for: with all frames active everything fits
        for (PliIndex i = 0; i < s->count; ++i)
            if (!s->dag->active[i]) pli_dag_activate(s->dag, i);
        pli_dag_refresh(s->dag);
        (void)pli_frames_refresh_front(s, x);
        (void)contract_samples(s);
        (void)contract_mass(s);
    }
    contract_load(s);
    s->cut_revision = s->dag->revision;
    s->info.active = s->dag->active_count;
    s->info.candidates = s->dag->candidate_count;
    s->info.samples = s->sample_count;
    s->info.merged_regions = s->front_count;
}

void pli_frames_refresh_samples(PliFrames *s)
{
    (void)contract_samples(s); // a front is never longer than the finest one
    s->info.samples = s->sample_count;
    s->info.merged_regions = s->front_count;
}

void pli_frames_cut(void *self, PliCut *cut)
{
    PliFrames *s = self;
    pli_frames_refresh_cut(s, NULL);
    *cut = (PliCut){
        .active = s->active,
        .active_count = s->active_count,
        .mass = s->cut_mass,
        .load = s->cut_load,
        .mass_first = s->mass_first,
        .mass_column = s->mass_column,
        .mass_value = s->mass_value,
        .sample_count = s->sample_count,
        .sample_first = s->sample_first,
        .sample_dof = s->sample_dof,
        .sample_grad = s->sample_grad,
        .sample_volume = s->sample_volume,
        .sample_stiffness = s->sample_stiffness,
        .sample_s0 = s->def.merge ? s->sample_s0 : NULL,
        .sample_bulk = s->has_antilock ? s->sample_bulk : NULL,
    };
}
