/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The cut of a wavelet body: active functions choose rows and columns of the known pairs, and (nonlinear) the cells whose samples are live:
// those of the finest level at which something active lives, each point of the body in exactly one. Samples hang on control vertices of
// their level, which follow the active functions.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "scheme/wavelet/wavelet.h"

static bool nonlinear(const PliWavelet *s) { return s->def.law == PLI_WAVELET_NONLINEAR; }

static void count_samples(PliWavelet *s)
{
    // the finest level has most of everything, but for mixed cells at level 0
    for (int k = 0; k < s->level_count; ++k) {
        const PliShapes *h = s->level[k].shapes;
        PliIndex samples = 0;
        size_t entries = 0;
        for (PliIndex c = 0; c < s->level[k].lattice->cell_count; ++c) {
            samples += PLI_WAVELET_SAMPLES;
            entries += PLI_WAVELET_SAMPLES * (size_t)(h->first[c + 1] - h->first[c]);
        }
        if (samples > s->sample_capacity) s->sample_capacity = samples;
        if (entries > s->sample_entry_capacity) s->sample_entry_capacity = entries;
    }
    const PliIndex first = s->level[0].lattice->vertex_count;
    s->slave_capacity = s->dof_count - s->count + (s->merge ? first : 0);
    s->slave_entry_capacity = s->row_entries + (s->merge ? pli_transfer_rows(s->merge).first[first] : 0);
}

// ---- room for active functions and their pairs, which is taken as sets grow ----------------------------------------------------------

/// Of one active function: doubles, indices (and one more of two of them), bytes.
enum { ACTIVE_DOUBLES = 1 + 1 + 3 + 3 + 8 + 3, ACTIVE_INDICES = 3 };

static void free_active(PliWavelet *s)
{
    PLI_FREE(&s->host, s->cut_mass, ACTIVE_DOUBLES * (size_t)s->active_room);
    PLI_FREE(&s->host, s->mass_first, ACTIVE_INDICES * (size_t)s->active_room + 2);
    PLI_FREE(&s->host, s->driven, s->active_room);
}

/// What there was is not kept. @return false: no memory, and all is as it was
static bool reserve_active(PliWavelet *s, PliIndex count)
{
    if (count <= s->active_room && s->cut_mass) return true;
    const PliIndex wanted = count + count / 4, room = wanted < s->count ? wanted : s->count;
    const size_t n = room;
    double *d = PLI_NEW(&s->host, ACTIVE_DOUBLES * n, double);
    PliIndex *i = PLI_NEW(&s->host, ACTIVE_INDICES * n + 2, PliIndex);
    uint8_t *driven = PLI_NEW(&s->host, n, uint8_t);
    if (!d || !i || !driven) {
        PLI_FREE(&s->host, d, ACTIVE_DOUBLES * n);
        PLI_FREE(&s->host, i, ACTIVE_INDICES * n + 2);
        PLI_FREE(&s->host, driven, n);
        return false;
    }
    free_active(s);
    s->cut_mass = d, s->cut_load = d + n, s->cut_rest = d + 2 * n, s->cut_mean = d + 5 * n, s->work = d + 8 * n,
    s->impulse = d + 16 * n;
    s->mass_first = i, s->entry_first = i + n + 1, s->cut_order = i + 2 * n + 2;
    s->driven = driven;
    s->active_room = room;
    s->judged_revision = 0;
    return true;
}

/// What there was is not kept. @return false: no memory, and all is as it was
static bool reserve_entries(PliWavelet *s, size_t entries)
{
    const PliHost *host = &s->host;
    if (entries <= s->entry_capacity) return true;
    PliIndex *column = PLI_NEW(host, entries, PliIndex), *entry = PLI_NEW(host, entries, PliIndex),
             *mass_column = PLI_NEW(host, 2 * entries, PliIndex);
    double *value = PLI_NEW(host, 2 * entries, double);
    const bool owns = s->def.transition == PLI_WAVELET_PAPER;
    double *stiffness = owns ? PLI_NEW(host, pli_wavelet_block_room(entries), double) : NULL,
           *mass = owns ? PLI_NEW(host, entries, double) : NULL;
    const bool good = column && entry && mass_column && value && (!owns || (stiffness && mass));
    const size_t old = good ? s->entry_capacity : entries;
    PLI_FREE(host, good ? s->entry_column : column, old);
    PLI_FREE(host, good ? s->entry : entry, old);
    PLI_FREE(host, good ? s->mass_column : mass_column, 2 * old);
    PLI_FREE(host, good ? s->mass_value : value, 2 * old);
    PLI_FREE(host, good ? s->own_stiffness : stiffness, pli_wavelet_block_room(old));
    PLI_FREE(host, good ? s->own_mass : mass, old);
    if (!good) return false;
    s->own_stiffness = stiffness, s->own_mass = mass;
    s->entry_column = column, s->entry = entry, s->mass_column = mass_column, s->mass_value = value;
    s->entry_capacity = entries;
    return true;
}

/// Of functions whose state is not PLI_PASSIVE; their blocks get numbers. @return SIZE_MAX: no memory for those
static size_t count_entries(PliWavelet *s, PliIndex *active)
{
    size_t entries = 0;
    *active = 0;
    pli_wavelet_forget_codes(s);
    for (PliIndex a = 0; a < s->count; ++a) {
        PliPair *pair;
        if (s->state[a] == PLI_PASSIVE) continue;
        ++*active;
        const PliIndex n = pli_wavelet_pairs_of(s, a, s->dof_level[a], &pair);
        for (PliIndex k = 0; k < n; ++k) {
            if (s->state[pair[k].column] == PLI_PASSIVE) continue;
            if (pli_wavelet_code_number(s, pair[k].code) == PLI_NONE) return SIZE_MAX;
            entries++;
        }
    }
    return entries;
}

void pli_wavelet_only_base(PliWavelet *s)
{
    for (PliIndex i = 0; i < s->count; ++i)
        s->state[i] = s->dof_level[i] == 0 && !(s->dropped && s->dropped[i]) ? PLI_ACTIVE : PLI_PASSIVE;
}

bool pli_wavelet_limited(const PliWavelet *s)
{
    return s->def.base.adapt && s->def.base.criterion.max_active != PLI_NONE;
}

/// Level 0, or all there can be where the user has said how many.
static bool reserve_first(PliWavelet *s)
{
    const bool limited = pli_wavelet_limited(s);
    while (limited && s->slot_count < 2 * (size_t)s->most_codes)
        if (!pli_wavelet_grow_codes(s)) return false;
    PliIndex base;
    pli_wavelet_only_base(s);
    return count_entries(s, &base) != SIZE_MAX && reserve_active(s, limited ? s->count : base) &&
           reserve_entries(s, limited ? s->pair_count : s->base_pairs);
}

/// Without memory for a larger set it stays as small as it was.
static void make_room(PliWavelet *s)
{
    PliIndex active;
    const size_t entries = count_entries(s, &active), all = s->pair_count;
    if (entries != SIZE_MAX && reserve_active(s, active) &&
        (entries <= s->entry_capacity || reserve_entries(s, entries + entries / 4 < all ? entries + entries / 4 : all)))
        return;
    for (PliIndex a = 0; a < s->count; ++a) {
        if (s->position[a] != PLI_NONE || s->state[a] == PLI_PASSIVE) continue;
        s->fading -= s->state[a] == PLI_FADING_IN;
        s->state[a] = PLI_PASSIVE;
    }
    (void)count_entries(s, &active);
}

PliStatus pli_wavelet_cut_create(PliWavelet *s)
{
    const PliHost *host = &s->host;
    const size_t n = s->count;
    if (nonlinear(s)) count_samples(s);
    s->state = PLI_NEW(host, n, uint8_t);
    s->active = PLI_NEW(host, n, PliIndex);
    s->position = PLI_NEW(host, n, PliIndex);
    s->w_first = PLI_NEW(host, (size_t)s->dof_count + 1, PliIndex);
    s->touched = PLI_NEW(host, s->dof_count, uint8_t);
    s->slave = PLI_NEW(host, (size_t)s->slave_capacity + 1, PliIndex);
    s->slave_first = PLI_NEW(host, (size_t)s->slave_capacity + 1, PliIndex);
    s->slave_column = PLI_NEW(host, s->slave_entry_capacity + 1, PliIndex);
    s->slave_weight = PLI_NEW(host, s->slave_entry_capacity + 1, double);
    s->sample_first = PLI_NEW(host, (size_t)s->sample_capacity + 1, PliIndex);
    s->sample_dof = PLI_NEW(host, s->sample_entry_capacity + 1, PliIndex);
    s->sample_grad = PLI_NEW(host, 3 * s->sample_entry_capacity + 1, double);
    s->sample_volume = PLI_NEW(host, (size_t)s->sample_capacity + 1, double);
    s->sample_stiffness = PLI_NEW(host, (size_t)s->sample_capacity + 1, double);
    s->sample_poisson = PLI_NEW(host, (size_t)s->sample_capacity + 1, double);
    bool good = s->state && reserve_first(s) && s->active && s->position && s->w_first && s->touched && s->slave &&
                s->slave_first && s->slave_column && s->slave_weight && s->sample_first && s->sample_dof &&
                s->sample_grad && s->sample_volume && s->sample_stiffness && s->sample_poisson;
    for (int k = 0; k < s->level_count; ++k)
        good = (s->split[k] = PLI_NEW(host, s->level[k].lattice->cell_count, uint8_t)) && good;
    return good ? PLI_OK : PLI_OUT_OF_MEMORY;
}

void pli_wavelet_cut_destroy(PliWavelet *s)
{
    const PliHost *host = &s->host;
    const size_t n = s->count;
    PLI_FREE(host, s->state, n);
    PLI_FREE(host, s->active, n);
    PLI_FREE(host, s->position, n);
    PLI_FREE(host, s->mass_column, 2 * s->entry_capacity);
    PLI_FREE(host, s->mass_value, 2 * s->entry_capacity);
    PLI_FREE(host, s->entry_column, s->entry_capacity);
    PLI_FREE(host, s->entry, s->entry_capacity);
    PLI_FREE(host, s->own_stiffness, pli_wavelet_block_room(s->entry_capacity));
    PLI_FREE(host, s->own_mass, s->entry_capacity);
    free_active(s);
    pli_wavelet_free_codes(s);
    PLI_FREE(host, s->w_first, (size_t)s->dof_count + 1);
    PLI_FREE(host, s->w_column, s->w_capacity);
    PLI_FREE(host, s->w_weight, s->w_capacity);
    PLI_FREE(host, s->touched, s->dof_count);
    PLI_FREE(host, s->slave, (size_t)s->slave_capacity + 1);
    PLI_FREE(host, s->slave_first, (size_t)s->slave_capacity + 1);
    PLI_FREE(host, s->slave_column, s->slave_entry_capacity + 1);
    PLI_FREE(host, s->slave_weight, s->slave_entry_capacity + 1);
    PLI_FREE(host, s->sample_first, (size_t)s->sample_capacity + 1);
    PLI_FREE(host, s->sample_dof, s->sample_entry_capacity + 1);
    PLI_FREE(host, s->sample_grad, 3 * s->sample_entry_capacity + 1);
    PLI_FREE(host, s->sample_volume, (size_t)s->sample_capacity + 1);
    PLI_FREE(host, s->sample_stiffness, (size_t)s->sample_capacity + 1);
    PLI_FREE(host, s->sample_poisson, (size_t)s->sample_capacity + 1);
    for (int k = 0; k < s->level_count; ++k)
        if (s->level[k].lattice) PLI_FREE(host, s->split[k], s->level[k].lattice->cell_count);
}

// ---- live cells ------------------------------------------------------------------------------------------------------------------------

void pli_wavelet_split(PliWavelet *s, bool finer)
{
    const int last = s->level_count - 1;
    for (int k = 0; k <= last; ++k) memset(s->split[k], 0, s->level[k].lattice->cell_count);
    // what lives at a level wants cells of that level: those above them are split
    for (int k = last; k > 0; --k) {
        const PliWaveletLevel *l = &s->level[k], *up = &s->level[k - 1];
        for (PliIndex v = up->lattice->vertex_count; v < l->lattice->vertex_count; ++v) {
            if (s->state[v] == PLI_PASSIVE) continue;
            for (PliIndex e = l->support_first[v]; e < l->support_first[v + 1]; ++e) s->split[k][l->support[e]] |= 2;
        }
        for (PliIndex c = 0; c < up->lattice->cell_count; ++c)
            for (PliIndex d = up->child_first[c]; d < up->child_first[c + 1]; ++d)
                if (s->split[k][d]) s->split[k - 1][c] |= 1;
    }
    for (int k = 0; k <= last; ++k) {
        const PliIndex cells = s->level[k].lattice->cell_count;
        for (PliIndex c = 0; c < cells; ++c) s->split[k][c] &= 1;
    }
    if (!finer) return;
    // every live cell one level finer, where there is one
    for (int k = last - 1; k >= 0; --k)
        for (PliIndex c = 0; c < s->level[k].lattice->cell_count; ++c)
            if (k == 0 || s->split[k][c]) s->split[k][c] |= 2;
    for (int k = last - 1; k > 0; --k) { // a cell whose parent was split is live, and so is split now
        const PliWaveletLevel *up = &s->level[k - 1];
        for (PliIndex c = 0; c < up->lattice->cell_count; ++c)
            for (PliIndex d = up->child_first[c]; d < up->child_first[c + 1] && (s->split[k - 1][c] & 1); ++d)
                s->split[k][d] |= 2;
    }
    for (int k = 0; k <= last; ++k)
        for (PliIndex c = 0; c < s->level[k].lattice->cell_count; ++c) s->split[k][c] = s->split[k][c] != 0;
}

/// Cells that are cut have fewer samples. The last one is listed again, with a part of its volume each time: samples of one cell then
/// fill a pack of the kernel, which takes eight of them together in a quarter of the time of single ones. @return how many there are
static PliIndex fill_up(PliIndex count, PliIndex width, double *grad, double *volume)
{
    if (count == 0 || count == PLI_WAVELET_SAMPLES) return count;
    const size_t last = count - 1, size = 3 * (size_t)width;
    const double part = volume[last] / (PLI_WAVELET_SAMPLES - last);
    for (size_t q = last; q < PLI_WAVELET_SAMPLES; ++q) {
        volume[q] = part;
        if (q > last) memcpy(grad + size * q, grad + size * last, size * sizeof *grad);
    }
    return PLI_WAVELET_SAMPLES;
}

static void add_samples(PliWavelet *s, int level, PliIndex cell)
{
    const PliWaveletLevel *l = &s->level[level];
    if (s->split[level][cell] && level + 1 < PLI_WAVELET_LEVELS) {
        for (PliIndex c = l->child_first[cell]; c < l->child_first[cell + 1]; ++c) add_samples(s, level + 1, c);
        return;
    }
    const PliIndex *vertex = l->shapes->vertex + l->shapes->first[cell],
                   n = l->shapes->first[cell + 1] - l->shapes->first[cell];
    PliIndex at = s->sample_first[s->sample_count];
    double *grad = s->sample_grad + 3 * (size_t)at, *volume = s->sample_volume + s->sample_count;
    const PliIndex count = fill_up(pli_wavelet_samples(s, level, cell, grad, volume), n, grad, volume);
    double stiffness, poisson;
    pli_wavelet_material_of(s, level, cell, &stiffness, &poisson);
    for (PliIndex q = 0; q < count; ++q) {
        for (PliIndex k = 0; k < n; ++k) s->sample_dof[at++] = l->dof_first + vertex[k];
        s->sample_stiffness[s->sample_count] = stiffness, s->sample_poisson[s->sample_count] = poisson;
        s->sample_first[++s->sample_count] = at;
    }
    for (PliIndex k = 0; k < n && count; ++k) s->touched[l->dof_first + vertex[k]] = 1;
}

/// What a control vertex follows. @return how many
static PliIndex active_row(const PliWavelet *s, PliIndex dof, PliIndex *column, double *weight)
{
    const double *from;
    PliIndex used = 0;
    const PliIndex n = pli_wavelet_row_of(s, dof - s->count, &from);
    for (PliIndex e = 0; e < n; ++e) {
        if (s->state[s->row_column[e]] == PLI_PASSIVE) continue;
        column[used] = s->row_column[e];
        weight[used++] = from[e];
    }
    return used;
}

static void choose_samples(PliWavelet *s)
{
    pli_wavelet_split(s, false);
    memset(s->touched, 0, s->dof_count);
    s->sample_count = 0;
    s->sample_first[0] = 0;
    for (PliIndex c = 0; c < s->level[0].lattice->cell_count; ++c) add_samples(s, 0, c);
    s->slave_count = 0;
    PliIndex used = 0;
    for (PliIndex dof = 0; s->merge && dof < s->level[0].lattice->vertex_count; ++dof) {
        if (!s->touched[dof] || !s->dropped[dof]) continue;
        const PliRows r = pli_transfer_rows(s->merge);
        s->slave[s->slave_count] = dof;
        s->slave_first[s->slave_count++] = used;
        for (PliIndex e = r.first[dof]; e < r.first[dof + 1]; ++e) {
            s->slave_column[used] = r.column[e];
            s->slave_weight[used++] = r.weight[e];
        }
    }
    for (PliIndex dof = s->count; dof < s->dof_count; ++dof) {
        if (!s->touched[dof]) continue;
        s->slave[s->slave_count] = dof;
        s->slave_first[s->slave_count++] = used;
        used += active_row(s, dof, s->slave_column + used, s->slave_weight + used);
    }
    s->slave_first[s->slave_count] = used;
}

// ---- the cut ---------------------------------------------------------------------------------------------------------------------------

static void choose_mass(PliWavelet *s)
{
    PliIndex *first = s->mass_first;
    const double *mass = s->own_mass ? s->own_mass : s->cut_block_mass;
    memset(first, 0, ((size_t)s->active_count + 1) * sizeof *first);
    for (PliIndex i = 0; i < s->active_count; ++i)
        for (PliIndex k = s->entry_first[i]; k < s->entry_first[i + 1]; ++k) {
            first[i + 1]++;
            if (s->entry_column[k] != i) first[s->entry_column[k] + 1]++;
        }
    for (PliIndex i = 0; i < s->active_count; ++i) first[i + 1] += first[i];
    for (PliIndex i = s->active_count; i-- > 0;) // backwards, so that first[] ends as it began
        for (PliIndex k = s->entry_first[i]; k < s->entry_first[i + 1]; ++k) {
            const PliIndex j = s->entry_column[k];
            const double m = mass[s->entry[k]];
            PliIndex at = --first[i + 1];
            s->mass_column[at] = j, s->mass_value[at] = m;
            if (j == i) continue;
            at = --first[j + 1];
            s->mass_column[at] = i, s->mass_value[at] = m;
        }
    // first[i + 1] is the beginning of row i now
    memmove(first, first + 1, s->active_count * sizeof *first);
    first[s->active_count] = 2 * s->entry_first[s->active_count] - s->active_count;
}

/// The paper's transitions leave a part of every block, which becomes a block of its own.
static void weigh_entries(PliWavelet *s)
{
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const PliPaperWeights a = pli_wavelet_paper_weights(s, s->active[i]);
        for (PliIndex k = s->entry_first[i]; k < s->entry_first[i + 1]; ++k) {
            const bool own = s->entry_column[k] == i;
            const double both =
                own ? 0.0 : a.others * pli_wavelet_paper_weights(s, s->active[s->entry_column[k]]).others;
            const double *block = s->cut_stiffness + 9 * (size_t)s->entry[k];
            for (size_t c = 0; c < 9; ++c) s->own_stiffness[9 * (size_t)k + c] = (own ? a.stiffness : both) * block[c];
            s->own_mass[k] = (own ? a.mass : both) * s->cut_block_mass[s->entry[k]];
            if (own) s->cut_mass[i] = s->own_mass[k];
            s->entry[k] = k;
        }
    }
}

void pli_wavelet_refresh_cut(PliWavelet *s)
{
    make_room(s);
    pli_wavelet_turn_blocks(s);
    s->active_count = 0;
    for (PliIndex i = 0; i < s->count; ++i) {
        s->position[i] = PLI_NONE;
        if (s->state[i] == PLI_PASSIVE) continue;
        s->position[i] = s->active_count;
        s->active[s->active_count++] = i;
    }
    PliIndex entries = 0;
    s->entry_first[0] = 0;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        const PliIndex a = s->active[i];
        PliPair *pair;
        const PliIndex n = pli_wavelet_pairs_of(s, a, s->dof_level[a], &pair);
        for (PliIndex k = 0; k < n; ++k) {
            const PliIndex j = s->position[pair[k].column];
            if (j == PLI_NONE) continue;
            s->entry_column[entries] = j;
            s->entry[entries] = pli_wavelet_code_number(s, pair[k].code);
            if (j == i) s->cut_mass[i] = s->cut_block_mass[s->entry[entries]];
            entries++;
        }
        s->entry_first[i + 1] = entries;
        s->cut_load[i] = s->load[a];
        s->driven[i] = s->state[a] == PLI_FADING_OUT;
        v3_copy(s->cut_rest + 3 * (size_t)i, s->rest + 3 * (size_t)a);
        v3_copy(s->cut_mean + 3 * (size_t)i, s->mean + 3 * (size_t)a);
    }
    PliIndex at = 0;
    for (PliIndex o = 0; o < s->count; ++o)
        if (s->position[s->order[o]] != PLI_NONE) s->cut_order[at++] = s->position[s->order[o]];
    if (s->own_mass) weigh_entries(s);
    choose_mass(s);
    if (nonlinear(s)) choose_samples(s);
    s->revision++;
    memset(s->impulse, 0, 3 * (size_t)s->active_count * sizeof *s->impulse);
    s->info.active = s->active_count;
    s->info.matrix_entries = 9 * (2 * (size_t)entries - s->active_count);
}

void pli_wavelet_cut(void *self, PliCut *cut)
{
    PliWavelet *s = self;
    PliRestStiffness *k = &s->stiffness;
    k->count = s->active_count, k->base = s->base_count;
    k->first = s->entry_first, k->column = s->entry_column, k->entry = s->entry;
    k->block = s->own_stiffness ? s->own_stiffness : s->cut_stiffness;
    k->rest = s->cut_rest, k->mean = s->cut_mean, k->order = s->cut_order, k->work = s->work;
    k->revision = s->revision;
    k->base_revision = s->own_stiffness ? s->revision : s->base_revision;
    k->linear = !nonlinear(s);
    k->rotates = s->def.law != PLI_WAVELET_LINEAR;
    cut->active = s->active, cut->active_count = s->active_count;
    cut->mass = s->cut_mass, cut->load = s->cut_load;
    cut->mass_first = s->mass_first, cut->mass_column = s->mass_column, cut->mass_value = s->mass_value;
    cut->driven = s->driven;
    bool drives = false;
    for (PliIndex i = 0; i < s->active_count && !drives; ++i) drives = s->driven[i];
    cut->driven_impulse = drives ? s->impulse : NULL;
    if (!nonlinear(s)) return;
    cut->slave = s->slave, cut->slave_count = s->slave_count;
    cut->slave_first = s->slave_first, cut->slave_column = s->slave_column, cut->slave_weight = s->slave_weight;
    cut->sample_count = s->sample_count;
    cut->sample_first = s->sample_first, cut->sample_dof = s->sample_dof;
    cut->sample_grad = s->sample_grad, cut->sample_volume = s->sample_volume;
    cut->sample_stiffness = s->level[0].stiff || s->level[0].moduli ? s->sample_stiffness : NULL;
    cut->sample_poisson = s->level[0].moduli ? s->sample_poisson : NULL;
}

// ---- what follows ------------------------------------------------------------------------------------------------------------------------

/// Tools, springs and some hosts ask for W; who does not need not have it. @return false: no memory
static bool reserve_transfer(PliWavelet *s)
{
    if (s->w_column && s->w_weight) return true;
    PLI_FREE(&s->host, s->w_column, s->w_capacity);
    PLI_FREE(&s->host, s->w_weight, s->w_capacity);
    s->w_capacity = s->row_entries + s->count;
    if (s->merge) s->w_capacity += pli_transfer_rows(s->merge).first[s->level[0].lattice->vertex_count];
    s->w_column = PLI_NEW(&s->host, s->w_capacity, PliIndex);
    s->w_weight = PLI_NEW(&s->host, s->w_capacity, double);
    return s->w_column && s->w_weight;
}

static void push_row(PliWavelet *s, PliIndex i, PliIndex *used)
{
    if (i >= s->count) {
        *used += active_row(s, i, s->w_column + *used, s->w_weight + *used);
        return;
    }
    if (s->state[i] != PLI_PASSIVE) s->w_column[*used] = i, s->w_weight[(*used)++] = 1.0;
    if (!s->merge || i >= s->level[0].lattice->vertex_count || !s->dropped[i]) return;
    const PliRows r = pli_transfer_rows(s->merge);
    for (PliIndex e = r.first[i]; e < r.first[i + 1]; ++e)
        s->w_column[*used] = r.column[e], s->w_weight[(*used)++] = r.weight[e];
}

static PliRows view_rows(const PliWavelet *s)
{
    return (PliRows){ s->w_first, s->w_column, s->w_weight, s->dof_count, s->dof_count };
}

PliRows pli_wavelet_levels(void *self)
{
    PliWavelet *s = self;
    if (s->w_revision == s->revision || !reserve_transfer(s)) return view_rows(s);
    PliIndex used = 0;
    for (PliIndex i = 0; i < s->dof_count; ++i) {
        s->w_first[i] = used;
        push_row(s, i, &used);
    }
    s->w_first[s->dof_count] = used;
    s->w_revision = s->revision;
    return view_rows(s);
}

PliRows pli_wavelet_rows_of(void *self, const PliIndex *dof, PliIndex count)
{
    PliWavelet *s = self;
    if (s->w_revision == s->revision || !reserve_transfer(s)) return view_rows(s);
    // by ascending dof, so that where one row ends and the next begins are the same number; rows between them are not looked at
    PliIndex used = 0, list[PLI_LOCATE_MAX];
    if (count > PLI_LOCATE_MAX) return pli_wavelet_levels(self);
    memcpy(list, dof, count * sizeof *list);
    pli_sort_short(list, count);
    for (PliIndex k = 0; k < count; ++k) {
        if (k > 0 && list[k] == list[k - 1]) continue;
        s->w_first[list[k]] = used;
        push_row(s, list[k], &used);
        s->w_first[list[k] + 1] = used;
    }
    s->w_revision = 0;
    return view_rows(s);
}

void pli_wavelet_spread(void *self, double *x)
{
    const PliWavelet *s = self;
    for (PliIndex i = s->level[0].lattice->vertex_count; i < s->count; ++i)
        if (s->state[i] == PLI_PASSIVE) x[3 * (size_t)i] = x[3 * (size_t)i + 1] = x[3 * (size_t)i + 2] = 0.0;
    pli_wavelet_follow_merged(s, x);
    for (int k = 1; k < s->level_count; ++k) {
        const PliWaveletLevel *l = &s->level[k];
        const PliIndex even = s->level[k - 1].lattice->vertex_count;
        double *to = x + 3 * (size_t)l->dof_first;
        pli_rows_apply(pli_transfer_rows(l->rows), x + 3 * (size_t)s->level[k - 1].dof_first, to);
        for (PliIndex v = even; v < l->lattice->vertex_count; ++v)
            if (s->state[v] != PLI_PASSIVE) v3_add(to + 3 * (size_t)v, to + 3 * (size_t)v, x + 3 * (size_t)v);
    }
}

void pli_wavelet_follow(void *self, const PliIndex *dof, PliIndex count, double *x)
{
    PliWavelet *s = self;
    uint8_t *wanted = s->touched; // scratch between cuts
    memset(wanted, 0, s->dof_count);
    for (PliIndex k = 0; k < count; ++k) {
        const PliIndex a = dof[k];
        if (a >= s->count)
            wanted[a] = 1;
        else if (s->state[a] == PLI_PASSIVE && s->dof_level[a] > 0)
            memset(x + 3 * (size_t)a, 0, 3 * sizeof *x);
    }
    pli_wavelet_follow_merged(s, x);
    for (int k = s->level_count - 1; k > 1; --k) {
        const PliRows r = pli_transfer_rows(s->level[k].rows);
        for (PliIndex v = 0; v < s->level[k].lattice->vertex_count; ++v)
            for (PliIndex e = r.first[v]; wanted[s->level[k].dof_first + v] && e < r.first[v + 1]; ++e)
                wanted[s->level[k - 1].dof_first + r.column[e]] = 1;
    }
    for (int k = 1; k < s->level_count; ++k) {
        const PliWaveletLevel *l = &s->level[k];
        const PliRows r = pli_transfer_rows(l->rows);
        const PliIndex even = s->level[k - 1].lattice->vertex_count;
        const double *from = x + 3 * (size_t)s->level[k - 1].dof_first;
        for (PliIndex v = 0; v < l->lattice->vertex_count; ++v) {
            if (!wanted[l->dof_first + v]) continue;
            double p[3] = { 0.0, 0.0, 0.0 }; // the sums of pli_rows_apply
            for (PliIndex e = r.first[v]; e < r.first[v + 1]; ++e)
                v3_madd(p, r.weight[e], from + 3 * (size_t)r.column[e]);
            if (v >= even && s->state[v] != PLI_PASSIVE) v3_add(p, p, x + 3 * (size_t)v);
            v3_copy(x + 3 * ((size_t)l->dof_first + v), p);
        }
    }
}
