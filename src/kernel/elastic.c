/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Storage of the elastic kernel, and its loops over workers.
//
// One order of summation for any worker count: with one worker, elements add straight to f in their own order. With more,
// the list is cut into chunks; a chunk adds straight to the points it alone touches, and gives each corner at a shared point a
// slot, which that point adds to f afterwards in the order of elements. Both are the same sequence of additions, so the
// same bits. Rejected: slots for every corner (twice the work of one worker), colouring (costs locality and set-up).
#include "kernel/elastic_state.h"

#include "base/loop.h"
#include "base/memory.h"
#include "base/vec.h"
#include "base/wide.h"

#include <string.h>

static PliIndex packs_of(PliIndex count) { return count / PACK + (count % PACK != 0); }
static PliIndex blocks_of(PliIndex packs) { return packs / PACK_BLOCK + (packs % PACK_BLOCK != 0); }

/// Basis functions the element matrix has room for; tetrahedra need four.
static PliIndex width_of(const PliElasticDef *def)
{
    size_t width = def->sample_width ? def->sample_width : 256;
    if (width > def->sample_entry_capacity) width = def->sample_entry_capacity;
    return width < 4 ? 4 : (PliIndex)width;
}

static const PliElasticKernel *choose_kernel(PliSimd wish)
{
    PliSimd best = pli_simd_best();
    PliSimd level = wish < best ? wish : best;
    const PliElasticKernel *k = NULL;
    if (level == PLI_SIMD_AVX512) k = pli_elastic_avx512();
    if (!k && level >= PLI_SIMD_AVX2) k = pli_elastic_avx2();
    return k ? k : &pli_elastic_plain;
}

PliElastic *pli_elastic_create(const PliHost *host, const PliElasticDef *def, PliError *err)
{
    if (def->tet_capacity > (SLOT_BIT >> 2) - PACK || def->point_capacity >= SLOT_BIT ||
        def->sample_entry_capacity >= PLI_NONE || def->sample_capacity >= PLI_NONE - PACK) {
        pli_refuse(
            err, PLI_OVER_CAPACITY,
            "elastic kernel: %u points, %u tetrahedra, %u samples with %zu entries are more than 32-bit indices allow",
            (unsigned)def->point_capacity, (unsigned)def->tet_capacity, (unsigned)def->sample_capacity,
            def->sample_entry_capacity);
        return NULL;
    }
    PliElastic *e = PLI_NEW(host, 1, PliElastic);
    if (!e) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "elastic kernel: no memory");
        return NULL;
    }
    e->host = *host;
    e->def = *def;
    e->kernel = choose_kernel(def->simd);
    e->threaded = host->parallel_for && host->worker_count > 1;
    e->sample_width = width_of(def);
    pli_elastic_set_material(e, &def->material);

    size_t tets = def->tet_capacity, samples = def->sample_capacity, entries = def->sample_entry_capacity;
    PliIndex tet_packs = packs_of(def->tet_capacity), sample_packs = packs_of(def->sample_capacity);
    PliIndex blocks = blocks_of(tet_packs > sample_packs ? tet_packs : sample_packs);
    bool ok = true;
    ok = ok && (e->pack = PLI_NEW(host, tet_packs, PliTetPack));
    ok = ok && (e->stiffness = PLI_NEW(host, tets, double));
    ok = ok && (e->partial = PLI_NEW(host, blocks, double));
    if (e->threaded) {
        size_t points = (size_t)def->point_capacity + 1;
        ok = ok && (e->target = PLI_NEW(host, tet_packs, PliTargetPack));
        ok = ok && (e->slot = PLI_NEW(host, 12 * tets, double));
        ok = ok && (e->owner = PLI_NEW(host, points, PliIndex));
        ok = ok && (e->slot_first = PLI_NEW(host, points, PliIndex));
        ok = ok && (e->slot_next = PLI_NEW(host, points, PliIndex));
        ok = ok && (e->shared = PLI_NEW(host, points, PliIndex));
        for (size_t i = 0; ok && i < 12 * tets; ++i) e->slot[i] = -0.0;
        ok = ok && (e->entry_first = PLI_NEW(host, (size_t)def->point_capacity + 1, PliIndex));
        ok = ok && (e->entry_list = PLI_NEW(host, entries, PliIndex));
        ok = ok && (e->entry_sample = PLI_NEW(host, entries, PliIndex));
    }
    ok = ok && (e->sample = PLI_NEW(host, sample_packs, PliSamplePack));
    ok = ok && (e->sample_first = PLI_NEW(host, samples + 1, PliIndex));
    ok = ok && (e->sample_point = PLI_NEW(host, entries, PliIndex));
    ok = ok && (e->sample_grad = PLI_NEW(host, 3 * entries, double));
    ok = ok && (e->sample_stress = PLI_NEW(host, 9 * samples, double));
    if (def->sample_cells && samples) {
        ok = ok && (e->sample_alike = PLI_NEW(host, sample_packs, uint8_t));
        ok = ok && (e->sample_lanes = PLI_NEW(host, 3 * entries, double));
    }
    if (def->sample_poisson) ok = ok && (e->sample_lame = PLI_NEW(host, sample_packs, PliLamePack));
    if (!def->explicit_only) {
        size_t width = e->sample_width;
        ok = ok && (e->tangent = PLI_NEW(host, tet_packs, PliTangentPack));
        ok = ok && (e->linear_x = PLI_NEW(host, 3 * (size_t)def->point_capacity, double));
        ok = ok && (e->sample_tangent = PLI_NEW(host, sample_packs, PliTangentPack));
        ok = ok && (e->matrix = PLI_NEW(host, 9 * width * width, double));
        ok = ok && (e->matrix_half = PLI_NEW(host, 27 * width, double));
    }
    if (!ok) {
        pli_elastic_destroy(e);
        pli_refuse(err, PLI_OUT_OF_MEMORY, "elastic kernel: no memory for %zu tetrahedra and %zu samples", tets,
                   samples);
        return NULL;
    }
    return e;
}

void pli_elastic_destroy(PliElastic *e)
{
    if (!e) return;
    PliHost host = e->host;
    size_t tets = e->def.tet_capacity, samples = e->def.sample_capacity, entries = e->def.sample_entry_capacity;
    PliIndex tet_packs = packs_of(e->def.tet_capacity), sample_packs = packs_of(e->def.sample_capacity);
    size_t width = e->sample_width;
    PLI_FREE(&host, e->pack, tet_packs);
    PLI_FREE(&host, e->stiffness, tets);
    PLI_FREE(&host, e->partial, blocks_of(tet_packs > sample_packs ? tet_packs : sample_packs));
    PLI_FREE(&host, e->target, tet_packs);
    PLI_FREE(&host, e->slot, 12 * tets);
    PLI_FREE(&host, e->owner, (size_t)e->def.point_capacity + 1);
    PLI_FREE(&host, e->slot_first, (size_t)e->def.point_capacity + 1);
    PLI_FREE(&host, e->slot_next, (size_t)e->def.point_capacity + 1);
    PLI_FREE(&host, e->shared, (size_t)e->def.point_capacity + 1);
    PLI_FREE(&host, e->entry_first, (size_t)e->def.point_capacity + 1);
    PLI_FREE(&host, e->entry_list, entries);
    PLI_FREE(&host, e->entry_sample, entries);
    PLI_FREE(&host, e->sample, sample_packs);
    PLI_FREE(&host, e->sample_first, samples + 1);
    PLI_FREE(&host, e->sample_point, entries);
    PLI_FREE(&host, e->sample_grad, 3 * entries);
    PLI_FREE(&host, e->sample_stress, 9 * samples);
    PLI_FREE(&host, e->sample_alike, sample_packs);
    PLI_FREE(&host, e->sample_lanes, 3 * entries);
    PLI_FREE(&host, e->sample_lame, sample_packs);
    PLI_FREE(&host, e->tangent, tet_packs);
    PLI_FREE(&host, e->linear_x, 3 * (size_t)e->def.point_capacity);
    PLI_FREE(&host, e->sample_tangent, sample_packs);
    PLI_FREE(&host, e->matrix, 9 * width * width);
    PLI_FREE(&host, e->matrix_half, 27 * width);
    PLI_FREE(&host, e, 1);
}

static void make_tangents(const PliElastic *e);

static void find_sample_lame(PliElastic *e)
{
    for (PliIndex n = 0; n < e->sample_packs && e->sample_poisson; ++n)
        for (PliIndex lane = 0; lane < PACK; ++lane) {
            PliLamePack *p = &e->sample_lame[n];
            PliMaterial own = e->def.material;
            own.poisson = p->poisson[lane];
            const PliLame lame = pli_lame(&own);
            p->mu[lane] = lame.mu, p->lambda[lane] = lame.lambda, p->alpha[lane] = lame.alpha;
            p->rest_energy[lane] = lame.rest_energy;
            p->viscous_mu[lane] = lame.viscous_mu, p->viscous_lambda[lane] = lame.viscous_lambda;
        }
}

void pli_elastic_set_material(PliElastic *e, const PliMaterial *m)
{
    make_tangents(e); // they belong to the old one
    e->def.material = *m;
    e->lame = pli_lame(m);
    find_sample_lame(e);
}

void pli_elastic_set_project(PliElastic *e, bool project) { e->project = project; }

// ---- lists ------------------------------------------------------------------------------------------------------------

typedef struct TetSource {
    PliElastic *e;
    PliIndex count;
    const PliIndex *corner, *which;
    const PliTetRest *rest;
    const double *volume, *stiffness;
} TetSource;

static void fill_packs(PliIndex first, PliIndex last, int worker, void *arg)
{
    (void)worker;
    const TetSource *s = arg;
    for (PliIndex n = first; n < last; ++n) {
        PliTetPack *p = &s->e->pack[n];
        for (PliIndex lane = 0; lane < PACK; ++lane) {
            // lanes beyond the end repeat the last tetrahedron with no weight: regular numbers, no effect
            PliIndex at = n * PACK + lane, i = at < s->count ? at : s->count - 1;
            const PliTetRest *r = &s->rest[s->which[i]];
            for (int k = 0; k < 9; ++k) p->grad[k][lane] = r->grad[k];
            for (int a = 0; a < 4; ++a) p->corner[a][lane] = s->corner[4 * (size_t)i + a];
            double factor = s->stiffness ? s->stiffness[i] : 1.0;
            p->weight[lane] = p->viscous[lane] = at < s->count ? s->volume[i] * factor : 0.0;
            s->e->stiffness[i] = factor;
        }
    }
}

PliStatus pli_elastic_set_tets(PliElastic *e, PliIndex point_count, PliIndex count, const PliIndex *corner,
                               const PliIndex *which, const PliTetRest *rest, const double *volume,
                               const double *stiffness)
{
    if (count > e->def.tet_capacity || point_count > e->def.point_capacity) return PLI_OVER_CAPACITY;
    PliIndex largest = 0;
    for (size_t k = 0; k < 4 * (size_t)count; ++k) largest = corner[k] > largest ? corner[k] : largest;
    if (count && largest >= point_count) return PLI_BAD_ARGUMENT;
    e->tet_count = count;
    e->tet_packs = packs_of(count);
    e->tet_points = point_count;
    e->slots_listed = false;
    e->linearized = false;
    TetSource source = { e, count, corner, which, rest, volume, stiffness };
    pli_for(&e->host, e->tet_packs, 4 * PACK_BLOCK, fill_packs, &source);
    return PLI_OK;
}

void pli_elastic_set_tet_damping(PliElastic *e, const PliIndex *which, const double *share)
{
    for (PliIndex i = 0; i < e->tet_count; ++i) {
        PliTetPack *p = &e->pack[i / PACK];
        p->viscous[i % PACK] = p->weight[i % PACK] * share[which[i]];
    }
}

/// Gradients of a pack lane by lane, when its samples list the same points. @return whether they do
static bool fill_lanes(PliElastic *e, PliIndex pack)
{
    const PliIndex s = pack * PACK;
    if (s + PACK > e->sample_count) return false;
    const size_t first = e->sample_first[s], n = e->sample_first[s + 1] - first;
    if (first % PACK) return false; // lanes are loaded aligned
    for (PliIndex lane = 1; lane < PACK; ++lane) {
        if (e->sample_first[s + lane + 1] - e->sample_first[s + lane] != n) return false;
        if (memcmp(e->sample_point + first, e->sample_point + e->sample_first[s + lane], n * sizeof *e->sample_point) !=
            0)
            return false;
    }
    double *to = e->sample_lanes + 3 * first;
    for (size_t k = 0; k < 3 * n; ++k)
        for (size_t lane = 0; lane < PACK; ++lane) to[PACK * k + lane] = e->sample_grad[3 * (first + n * lane) + k];
    return true;
}

PliStatus pli_elastic_set_samples(PliElastic *e, PliIndex point_count, PliIndex count, const PliIndex *first,
                                  const PliIndex *point, const double *grad, const double *volume,
                                  const double *stiffness, const double *f0, const double *s0)
{
    if (count > e->def.sample_capacity || point_count > e->def.point_capacity) return PLI_OVER_CAPACITY;
    PliIndex base = count ? first[0] : 0;
    if (count && (first[count] < base || first[count] - base > e->def.sample_entry_capacity)) return PLI_OVER_CAPACITY;
    for (PliIndex s = 0; s < count; ++s) {
        if (first[s + 1] < first[s]) return PLI_BAD_ARGUMENT;
        if (first[s + 1] - first[s] > e->sample_width) return PLI_OVER_CAPACITY;
    }
    for (PliIndex n = base; count && n < first[count]; ++n)
        if (point[n] >= point_count) return PLI_BAD_ARGUMENT;

    e->sample_bulk = e->sample_poisson = false;
    e->sample_count = count;
    e->sample_packs = packs_of(count);
    e->sample_points = point_count;
    e->entries_listed = false;
    e->linearized = false;
    if (count == 0) return PLI_OK;
    size_t entries = first[count] - base;
    for (PliIndex s = 0; s <= count; ++s) e->sample_first[s] = first[s] - base;
    memcpy(e->sample_point, point + base, entries * sizeof *point);
    memcpy(e->sample_grad, grad + 3 * (size_t)base, 3 * entries * sizeof *grad);
    for (PliIndex n = 0; n < e->sample_packs; ++n) {
        PliSamplePack *p = &e->sample[n];
        for (PliIndex lane = 0; lane < PACK; ++lane) {
            PliIndex s = n * PACK + lane;
            bool live = s < count;
            // lanes beyond the end are undeformed and weigh nothing
            for (int k = 0; k < 9; ++k)
                p->f0[k][lane] = live ? (f0 ? f0[9 * (size_t)s + k] : 0.0) : (k % 4 == 0 ? 1.0 : 0.0);
            for (int k = 0; k < 6; ++k) p->s0[k][lane] = live && s0 ? s0[6 * (size_t)s + k] : 0.0;
            p->volume[lane] = live ? volume[s] : 0.0;
            p->weight[lane] = live ? volume[s] * (stiffness ? stiffness[s] : 1.0) : 0.0;
            p->bulk[lane] = 0.0;
        }
    }
    for (PliIndex n = 0; n < e->sample_packs && e->sample_alike; ++n) e->sample_alike[n] = fill_lanes(e, n);
    return PLI_OK;
}

void pli_elastic_set_sample_s0(PliElastic *e, const double *s0)
{
    e->linearized = false;
    for (PliIndex s = 0; s < e->sample_count; ++s)
        for (int k = 0; k < 6; ++k) e->sample[s / PACK].s0[k][s % PACK] = s0[6 * (size_t)s + (size_t)k];
}

void pli_elastic_set_sample_poisson(PliElastic *e, const double *poisson)
{
    e->sample_poisson = poisson && e->sample_lame;
    e->linearized = false;
    for (PliIndex s = 0; s < PACK * e->sample_packs && e->sample_poisson; ++s)
        e->sample_lame[s / PACK].poisson[s % PACK] = s < e->sample_count ? poisson[s] : e->def.material.poisson;
    find_sample_lame(e);
}

void pli_elastic_set_sample_bulk(PliElastic *e, const double *bulk)
{
    e->sample_bulk = bulk != NULL;
    e->linearized = false;
    for (PliIndex s = 0; s < e->sample_count; ++s) {
        PliSamplePack *p = &e->sample[s / PACK];
        p->bulk[s % PACK] = bulk ? bulk[s] * p->volume[s % PACK] : 0.0;
    }
}

/// Cuts the list into chunks and decides where every corner goes.
static void list_slots(PliElastic *e)
{
    enum { CHUNKS_PER_WORKER = 2, LEAST_PACKS = 16 };
    if (e->slots_listed) return;
    const PliIndex points = e->tet_points, chunks = (PliIndex)e->host.worker_count * CHUNKS_PER_WORKER;
    e->chunk_packs = e->tet_packs / chunks + 1;
    if (e->chunk_packs < LEAST_PACKS) e->chunk_packs = LEAST_PACKS;

    PliIndex *owner = e->owner, *first = e->slot_first, *next = e->slot_next;
    for (PliIndex p = 0; p < points; ++p) owner[p] = PLI_NONE, first[p] = 0;
    for (PliIndex n = 0; n < e->tet_packs; ++n) {
        // lanes beyond the end repeat the last element: they make no corner shared that was not
        const PliIndex chunk = n / e->chunk_packs, *corner = &e->pack[n].corner[0][0];
        for (int k = 0; k < 4 * PACK; ++k) {
            PliIndex *o = &owner[corner[k]];
            *o = *o == PLI_NONE || *o == chunk ? chunk : SHARED;
        }
    }
    for (PliIndex t = 0; t < e->tet_count; ++t)
        for (int a = 0; a < 4; ++a) {
            PliIndex p = e->pack[t / PACK].corner[a][t % PACK];
            first[p] += owner[p] == SHARED;
        }
    PliIndex slots = 0;
    e->shared_count = 0;
    for (PliIndex p = 0; p < points; ++p) {
        PliIndex count = first[p];
        first[p] = next[p] = slots;
        slots += count;
        if (count) e->shared[e->shared_count++] = p;
    }
    first[points] = slots;
    for (PliIndex t = 0; t < e->tet_count; ++t)
        for (int a = 0; a < 4; ++a) {
            PliIndex p = e->pack[t / PACK].corner[a][t % PACK];
            e->target[t / PACK].corner[a][t % PACK] = owner[p] == SHARED ? SLOT_BIT | next[p]++ : p;
        }
    e->slots_listed = true;
}

static void list_entries(PliElastic *e)
{
    if (e->entries_listed) return;
    PliIndex *first = e->entry_first, points = e->sample_points, entries = e->sample_first[e->sample_count];
    memset(first, 0, ((size_t)points + 1) * sizeof *first);
    for (PliIndex n = 0; n < entries; ++n) first[e->sample_point[n] + 1]++;
    for (PliIndex p = 0; p < points; ++p) first[p + 1] += first[p];
    for (PliIndex n = entries; n-- > 0;) e->entry_list[--first[e->sample_point[n] + 1]] = n;
    for (PliIndex p = 0; p < points; ++p) first[p] = first[p + 1];
    first[points] = entries;
    for (PliIndex s = 0; s < e->sample_count; ++s)
        for (PliIndex n = e->sample_first[s]; n < e->sample_first[s + 1]; ++n) e->entry_sample[n] = s;
    e->entries_listed = true;
}

// ---- forces and their derivative ----------------------------------------------------------------------------------------

typedef struct Pass {
    const PliElastic *e;
    const double *x, *v; ///< v: velocities, force only
    double *f;
    double k;
    bool derivative;
    PliIndex first, last; ///< of the tetrahedra
    PliInverted *note;    ///< NULL: not wanted
} Pass;

static PliIndex tets_before(const PliElastic *e, PliIndex pack)
{
    PliIndex t = pack * PACK;
    return t < e->tet_count ? t : e->tet_count;
}

static void pass_tets(const Pass *p, PliIndex first, PliIndex last, bool slotted)
{
    if (p->derivative)
        p->e->kernel->tet_dforce(p->e, first, last, p->x, p->k, p->f, slotted);
    else
        p->e->kernel->tet_force(p->e, first, last, p->x, p->v, p->f, slotted, slotted ? NULL : p->note);
}

static void pass_chunks(PliIndex first, PliIndex last, int worker, void *arg)
{
    (void)worker;
    const Pass *p = arg;
    const PliElastic *e = p->e;
    for (PliIndex c = first; c < last; ++c) {
        const PliIndex from = tets_before(e, c * e->chunk_packs), to = tets_before(e, (c + 1) * e->chunk_packs);
        const PliIndex begin = from > p->first ? from : p->first, end = to < p->last ? to : p->last;
        if (begin < end) pass_tets(p, begin, end, true);
    }
}

static void slots_to_points(PliIndex first, PliIndex last, int worker, void *arg)
{
    (void)worker;
    const Pass *p = arg;
    const PliElastic *e = p->e;
    for (PliIndex i = first; i < last; ++i) {
        const PliIndex point = e->shared[i];
        double *f = p->f + 3 * (size_t)point, sum[3] = { f[0], f[1], f[2] };
        for (PliIndex k = e->slot_first[point]; k < e->slot_first[point + 1]; ++k) {
            double *s = e->slot + 3 * (size_t)k;
            v3_add(sum, sum, s);
            s[0] = s[1] = s[2] = -0.0;
        }
        v3_copy(f, sum);
    }
}

static void samples_to_stress(PliIndex first, PliIndex last, int worker, void *arg)
{
    (void)worker;
    const Pass *p = arg;
    if (p->derivative)
        p->e->kernel->sample_dforce(p->e, first, last, p->x, p->k);
    else
        p->e->kernel->sample_force(p->e, first, last, p->x, p->v, p->note);
}

/// f += P g of one entry.
static inline void add_entry(const PliElastic *e, PliIndex sample, PliIndex entry, double f[3])
{
    const double *P = e->sample_stress + 9 * (size_t)sample, *g = e->sample_grad + 3 * (size_t)entry;
    for (int i = 0; i < 3; ++i) f[i] += P[3 * i] * g[0] + P[3 * i + 1] * g[1] + P[3 * i + 2] * g[2];
}

static void entries_to_points(PliIndex first, PliIndex last, int worker, void *arg)
{
    (void)worker;
    const Pass *p = arg;
    const PliElastic *e = p->e;
    for (PliIndex i = first; i < last; ++i)
        for (PliIndex k = e->entry_first[i]; k < e->entry_first[i + 1]; ++k)
            add_entry(e, e->entry_sample[e->entry_list[k]], e->entry_list[k], p->f + 3 * (size_t)i);
}

enum { POINTS = 512 };
static void run_tets(PliElastic *e, Pass *p)
{
    if (p->first >= p->last) return;
    // shared points are looked at once a pass, whatever its length: short ones are not worth it
    if (e->threaded && p->last - p->first > PACK_BLOCK * PACK && p->last - p->first > e->tet_count / 4) {
        list_slots(e);
        pli_for(&e->host, (e->tet_packs - 1) / e->chunk_packs + 1, 1, pass_chunks, p);
        pli_for(&e->host, e->shared_count, POINTS, slots_to_points, p);
    } else {
        pass_tets(p, p->first, p->last, false);
    }
}

static void run_pass(PliElastic *e, Pass *p)
{
    enum { SAMPLE_PACKS = 8 };
    p->last = e->tet_count;
    // forces of St. Venant-Kirchhoff tetrahedra need no determinant, and every pass would pay for one
    const bool tells = e->tet_count == 0 || (e->sample_count == 0 && e->def.material.law != PLI_STVK);
    e->has_noted = tells && !p->derivative && !e->threaded;
    e->noted = (PliInverted){ 0, PLI_NONE }, p->note = e->has_noted ? &e->noted : NULL;
    run_tets(e, p);
    if (e->sample_count == 0) return;
    if (e->threaded && e->sample_packs > SAMPLE_PACKS) {
        pli_for(&e->host, e->sample_packs, SAMPLE_PACKS, samples_to_stress, p);
        list_entries(e);
        pli_for(&e->host, e->sample_points, POINTS / 2, entries_to_points, p);
    } else {
        for (PliIndex pack = 0; pack < e->sample_packs; ++pack) { // gradients come from memory once for both
            samples_to_stress(pack, pack + 1, 0, p);
            if (e->sample_alike && e->sample_alike[pack]) {
                e->kernel->sample_scatter(e, pack, p->f);
                continue;
            }
            for (PliIndex s = pack * PACK; s < (pack + 1) * PACK && s < e->sample_count; ++s)
                for (PliIndex n = e->sample_first[s]; n < e->sample_first[s + 1]; ++n)
                    add_entry(e, s, n, p->f + 3 * (size_t)e->sample_point[n]);
        }
    }
}

void pli_elastic_add_force(PliElastic *e, const double *x, const double *v, double *f)
{
    Pass pass = { .e = e, .x = x, .v = v, .f = f };
    run_pass(e, &pass);
}

const double *pli_elastic_sample_stress(const PliElastic *e) { return e->sample_stress; }

void pli_elastic_add_force_range(PliElastic *e, PliIndex first, PliIndex last, const double *x, const double *v,
                                 double *f)
{
    Pass pass = { .e = e, .x = x, .v = v, .f = f, .first = first, .last = last < e->tet_count ? last : e->tet_count };
    run_tets(e, &pass);
}

void pli_elastic_add_dforce(PliElastic *e, const double *dx, double k, double *df)
{
    if (!e->linearized) return;
    make_tangents(e);
    Pass pass = { .e = e, .x = dx, .f = df, .k = k, .derivative = true };
    run_pass(e, &pass);
}

static void linearize_tets(PliIndex first, PliIndex last, int worker, void *arg)
{
    (void)worker;
    const Pass *p = arg;
    p->e->kernel->tet_linearize(p->e, first, last, p->x);
}

static void linearize_samples(PliIndex first, PliIndex last, int worker, void *arg)
{
    (void)worker;
    const Pass *p = arg;
    p->e->kernel->sample_linearize(p->e, first, last, p->x);
}

/// Those of tetrahedra that are still to be made.
static void make_tangents(const PliElastic *e)
{
    if (!e->linearized || e->tangents_made) return;
    Pass pass = { .e = e, .x = e->linear_x };
    pli_for(&e->host, e->tet_packs, PACK_BLOCK / 4, linearize_tets, &pass);
    ((PliElastic *)e)->tangents_made = true;
}

void pli_elastic_linearize(PliElastic *e, const double *x)
{
    if (!e->tangent) return;
    Pass pass = { .e = e, .x = x };
    memcpy(e->linear_x, x, 3 * (size_t)e->tet_points * sizeof *x);
    e->linear_project = e->project, e->tangents_made = false;
    pli_for(&e->host, e->sample_packs, PACK_BLOCK / 8, linearize_samples, &pass);
    e->linearized = true;
}

// ---- sums and counts: one number per fixed block, added in order -------------------------------------------------------

typedef struct BlockPass {
    const PliElastic *e;
    const double *x;
    bool samples, count;
} BlockPass;

static void block_values(PliIndex first, PliIndex last, int worker, void *arg)
{
    (void)worker;
    const BlockPass *p = arg;
    const PliElastic *e = p->e;
    PliIndex packs = p->samples ? e->sample_packs : e->tet_packs;
    for (PliIndex b = first; b < last; ++b) {
        PliIndex from = b * PACK_BLOCK, to = from + PACK_BLOCK < packs ? from + PACK_BLOCK : packs, at;
        const PliElasticKernel *k = e->kernel;
        if (p->count)
            e->partial[b] =
                p->samples ? k->sample_inverted(e, from, to, p->x, &at) : k->tet_inverted(e, from, to, p->x, &at);
        else
            e->partial[b] = p->samples ? k->sample_energy(e, from, to, p->x) : k->tet_energy(e, from, to, p->x);
    }
}

double pli_elastic_energy(const PliElastic *e, const double *x)
{
    double sum = 0.0;
    for (int samples = 0; samples < 2; ++samples) {
        PliIndex blocks = blocks_of(samples ? e->sample_packs : e->tet_packs);
        BlockPass pass = { e, x, samples, false };
        pli_for(&e->host, blocks, 1, block_values, &pass);
        for (PliIndex b = 0; b < blocks; ++b) sum += e->partial[b];
    }
    return sum;
}

PliIndex pli_elastic_inverted(const PliElastic *e, const double *x, PliIndex *first)
{
    PliIndex found = 0, where = PLI_NONE;
    for (int samples = 0; samples < 2; ++samples) {
        PliIndex packs = samples ? e->sample_packs : e->tet_packs, blocks = blocks_of(packs);
        BlockPass pass = { e, x, samples, true };
        pli_for(&e->host, blocks, 1, block_values, &pass);
        for (PliIndex b = 0; b < blocks; ++b) {
            if (e->partial[b] > 0.0 && found == 0) {
                PliIndex from = b * PACK_BLOCK, to = from + PACK_BLOCK < packs ? from + PACK_BLOCK : packs;
                if (samples)
                    e->kernel->sample_inverted(e, from, to, x, &where), where += e->tet_count;
                else
                    e->kernel->tet_inverted(e, from, to, x, &where);
            }
            found += (PliIndex)e->partial[b];
        }
    }
    if (first) *first = where;
    return found;
}

bool pli_elastic_noted_inverted(const PliElastic *e, PliIndex *count, PliIndex *first)
{
    *count = e->noted.count, *first = e->noted.first;
    return e->has_noted;
}

double pli_elastic_tet_von_mises(const PliElastic *e, PliIndex i, const double *x)
{
    const PliTetPack *p = &e->pack[i / PACK];
    PliIndex lane = i % PACK, corner[4];
    PliTetRest rest = { .volume = 0.0 };
    for (int a = 0; a < 4; ++a) corner[a] = p->corner[a][lane];
    for (int k = 0; k < 9; ++k) rest.grad[k] = p->grad[k][lane];
    double F[9], P[9], s[9];
    pli_tet_gradient(corner, &rest, x, F);
    pli_law_stress(e->def.material.law, &e->lame, F, P);
    double j = m3_det(F);
    if (!(fabs(j) > 1e-12)) return 0.0; // flat: no area to carry a stress
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) s[3 * r + c] = e->stiffness[i] / j * v3_dot(P + 3 * r, F + 3 * c);
    double ab = s[0] - s[4], bc = s[4] - s[8], ca = s[8] - s[0];
    return sqrt(0.5 * (ab * ab + bc * bc + ca * ca) + 3.0 * (s[1] * s[1] + s[2] * s[2] + s[5] * s[5]));
}

// ---- element matrices ----------------------------------------------------------------------------------------------------

/// C[(i, k), (j, l)] = k dP_ik / dF_jl of one lane; v is V here.
static void tangent_matrix(const PliTangentPack *t, PliIndex lane, const double v[9], double C[81])
{
    double u[9];
    for (int k = 0; k < 9; ++k) u[k] = t->u[k][lane];
    for (int jl = 0; jl < 9; ++jl) {
        int j = jl / 3, l = jl % 3;
        double M[9], D[9], T[9];
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) M[3 * a + b] = u[3 * j + a] * v[3 * l + b];
        D[0] = t->diagonal[0][lane] * M[0] + t->diagonal[5][lane] * M[4] + t->diagonal[4][lane] * M[8];
        D[4] = t->diagonal[5][lane] * M[0] + t->diagonal[1][lane] * M[4] + t->diagonal[3][lane] * M[8];
        D[8] = t->diagonal[4][lane] * M[0] + t->diagonal[3][lane] * M[4] + t->diagonal[2][lane] * M[8];
        const int up[3] = { 5, 2, 1 }, down[3] = { 7, 6, 3 };
        for (int n = 0; n < 3; ++n) {
            D[up[n]] = t->same[n][lane] * M[up[n]] + t->swap[n][lane] * M[down[n]];
            D[down[n]] = t->same[n][lane] * M[down[n]] + t->swap[n][lane] * M[up[n]];
        }
        m3_mul(T, u, D);
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) C[9 * (3 * i + k) + jl] = v3_dot(T + 3 * i, v + 3 * k);
    }
}

/// K[(a, i), (b, j)] = sum_kl grad_a[k] C[ik, jl] grad_b[l]; half has 27 n numbers.
static void contract(const double C[81], const double *grad, PliIndex n, double *half, double *K)
{
    for (PliIndex a = 0; a < n; ++a) {
        const double *g = grad + 3 * (size_t)a;
        for (int i = 0; i < 3; ++i)
            for (int jl = 0; jl < 9; ++jl)
                half[27 * (size_t)a + 9 * i + jl] =
                    g[0] * C[27 * i + jl] + g[1] * C[27 * i + 9 + jl] + g[2] * C[27 * i + 18 + jl];
    }
    for (PliIndex a = 0; a < n; ++a)
        for (int i = 0; i < 3; ++i) {
            const double *h = half + 27 * (size_t)a + 9 * i;
            double *row = K + (3 * (size_t)a + (size_t)i) * 3 * n;
            for (PliIndex b = 0; b < n; ++b)
                for (int j = 0; j < 3; ++j) row[3 * b + j] = v3_dot(h + 3 * j, grad + 3 * (size_t)b);
        }
}

/// C[(i, k), (j, l)] = -V dP_ik / dF_jl of a sample, offsets and extra bulk included.
static void sample_tangent(const PliElastic *e, PliIndex s, double C[81])
{
    const PliSamplePack *p = &e->sample[s / PACK];
    const PliIndex lane = s % PACK;
    double v[9];
    for (int k = 0; k < 9; ++k) v[k] = e->sample_tangent[s / PACK].v[k][lane];
    tangent_matrix(&e->sample_tangent[s / PACK], lane, v, C);
    // dP += dF s0: couples equal components only
    const int sym[9] = { 0, 5, 4, 5, 1, 3, 4, 3, 2 };
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            for (int l = 0; l < 3; ++l) C[9 * (3 * i + k) + 3 * i + l] -= p->volume[lane] * p->s0[sym[3 * k + l]][lane];
    if (!e->sample_bulk || p->bulk[lane] == 0.0) return;
    const double stiff = -p->bulk[lane] * e->lame.bulk;
    double F[9], trace = -1.5;
    for (int q = 0; q < 9; ++q) F[q] = p->f[q][lane], trace += 0.5 * F[q] * F[q];
    for (int q = 0; q < 9; ++q)
        for (int r = 0; r < 9; ++r) C[9 * q + r] += stiff * (F[q] * F[r] + (q == r ? trace : 0.0));
}

void pli_elastic_element_matrices(const PliElastic *e, PliElementFn *fn, void *user)
{
    if (!e->linearized) return;
    make_tangents(e);
    const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    for (PliIndex t = 0; t < e->tet_count; ++t) {
        // tangents of tetrahedra hold grad V, so the frame on the right is already part of the gradients
        const PliTangentPack *tangent = &e->tangent[t / PACK];
        PliIndex lane = t % PACK, corner[4];
        double C[81], grad[12];
        for (int k = 0; k < 9; ++k) grad[3 + k] = tangent->v[k][lane];
        for (int j = 0; j < 3; ++j) grad[j] = -(grad[3 + j] + grad[6 + j] + grad[9 + j]);
        for (int a = 0; a < 4; ++a) corner[a] = e->pack[t / PACK].corner[a][lane];
        tangent_matrix(tangent, lane, one, C);
        contract(C, grad, 4, e->matrix_half, e->matrix);
        fn(corner, 4, e->matrix, user);
    }
    for (PliIndex s = 0; s < e->sample_count; ++s) {
        const PliIndex from = e->sample_first[s], n = e->sample_first[s + 1] - from;
        double C[81];
        sample_tangent(e, s, C);
        contract(C, e->sample_grad + 3 * (size_t)from, n, e->matrix_half, e->matrix);
        fn(e->sample_point + from, n, e->matrix, user);
    }
}

typedef double V4 __attribute__((vector_size(32)));
typedef double U4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t M4 __attribute__((vector_size(32)));

/// Rows of four lanes to four rows of a lane each.
static inline void turn_four(const V4 in[4], V4 out[4])
{
    const V4 a = __builtin_shufflevector(in[0], in[1], 0, 4, 2, 6),
             b = __builtin_shufflevector(in[0], in[1], 1, 5, 3, 7),
             c = __builtin_shufflevector(in[2], in[3], 0, 4, 2, 6),
             d = __builtin_shufflevector(in[2], in[3], 1, 5, 3, 7);
    out[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5), out[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    out[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7), out[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// Numbers of blocks that one worker adds to.
typedef struct PlaceRange {
    PliIndex first, last;
} PlaceRange;

static inline bool is_in(PlaceRange r, PliIndex place)
{
    return (place & ~PLI_PLACE_MIRRORED) - r.first < r.last - r.first;
}

/// value += the blocks of four lanes that are in the range. `place` is that of the first lane.
PLI_WIDE static void place_four(double (*block)[9][PACK], const PliIndex *place, PliIndex lanes, PlaceRange range,
                                double *value)
{
    for (int q = 0; q < PLI_CORNER_PAIRS; ++q) {
        V4 in[8], low[4], high[4];
        for (int i = 0; i < 8; ++i) in[i] = *(const V4 *)block[q][i];
        turn_four(in, low);
        turn_four(in + 4, high);
        for (PliIndex lane = 0; lane < lanes; ++lane) {
            const PliIndex p = place[PLI_CORNER_PAIRS * (size_t)lane + (size_t)q];
            if (!is_in(range, p)) continue;
            double *v = value + 9 * (size_t)(p & ~PLI_PLACE_MIRRORED);
            const int64_t bits = -(int64_t)(p >> 31);
            const M4 mirrored = { bits, bits, bits, bits };
            const V4 l = low[lane], h = high[lane];
            const M4 lm = (M4)__builtin_shufflevector(l, h, 0, 3, 6, 1),
                     hm = (M4)__builtin_shufflevector(l, h, 4, 7, 2, 5);
            *(U4 *)v += (V4)(((M4)l & ~mirrored) | (lm & mirrored));
            *(U4 *)(v + 4) += (V4)(((M4)h & ~mirrored) | (hm & mirrored));
            v[8] += block[q][8][lane];
        }
    }
}

static void add_range(const PliElastic *e, double k, const PliIndex *place, PlaceRange range, double *value)
{
    _Alignas(64) double block[PLI_CORNER_PAIRS][9][PACK];
    for (PliIndex first = 0; first < e->tet_count; first += PACK, place += PACK * PLI_CORNER_PAIRS) {
        const PliIndex count = e->tet_count - first < PACK ? e->tet_count - first : PACK;
        bool any = false;
        for (PliIndex q = 0; q < PLI_CORNER_PAIRS * count && !any; ++q) any = is_in(range, place[q]);
        if (!any) continue;
        if (e->tangents_made && !pli_elastic_turns(e))
            e->kernel->tet_blocks(e, first / PACK, k, block);
        else
            e->kernel->tet_blocks_at(e, first / PACK, k, e->linear_x, block);
        for (PliIndex lane = 0; lane < count; lane += 4)
            place_four((double(*)[9][PACK])(&block[0][0][0] + lane), place + PLI_CORNER_PAIRS * (size_t)lane,
                       count - lane < 4 ? count - lane : 4, range, value);
    }
}

typedef struct PlacePass {
    const PliElastic *e;
    double k;
    const PliIndex *place;
    double *value;
    PliIndex first, count, parts; ///< blocks, cut into equal parts
} PlacePass;

static void add_parts(PliIndex first, PliIndex last, int worker, void *arg)
{
    (void)worker;
    const PlacePass *p = arg;
    for (PliIndex part = first; part < last; ++part) {
        const PliIndex from = (PliIndex)((uint64_t)p->count * part / p->parts),
                       to = (PliIndex)((uint64_t)p->count * (part + 1) / p->parts);
        add_range(p->e, p->k, p->place, (PlaceRange){ p->first + from, p->first + to }, p->value);
    }
}

// Every worker adds to blocks of its own, in the order of elements: elements on a border are made by both sides.
void pli_elastic_add_tet_blocks(const PliElastic *e, double k, const PliIndex *place, double *value)
{
    if (!e->linearized || !e->tet_count) return;
    PliIndex least = PLI_NONE, most = 0;
    for (size_t q = 0; q < PLI_CORNER_PAIRS * (size_t)e->tet_count && e->threaded; ++q) {
        const PliIndex p = place[q] & ~PLI_PLACE_MIRRORED;
        least = p < least ? p : least, most = p > most ? p : most;
    }
    if (!e->threaded) {
        add_range(e, k, place, (PlaceRange){ 0, PLI_NONE }, value);
        return;
    }
    PlacePass pass = { e, k, place, value, least, most - least + 1, (PliIndex)e->host.worker_count };
    pli_for(&e->host, pass.parts, 1, add_parts, &pass);
}

// True when sample s lists the same points as the one before: the four of a region do.
static bool repeats(const PliElastic *e, PliIndex s)
{
    if (s == 0) return false;
    const PliIndex from = e->sample_first[s], before = e->sample_first[s - 1], n = e->sample_first[s + 1] - from;
    return n == from - before &&
           memcmp(e->sample_point + from, e->sample_point + before, n * sizeof *e->sample_point) == 0;
}

enum { GROUPS = 64 }; ///< of four points in one sample: its most entries

void pli_elastic_sample_groups(const PliElastic *e, PliBlocksFn *fn, void *user)
{
    for (PliIndex s = 0; s < e->sample_count; ++s) {
        const PliIndex from = e->sample_first[s], n = (e->sample_first[s + 1] - from) / 4;
        PliIndex group[GROUPS];
        if (n > GROUPS || repeats(e, s)) continue;
        for (PliIndex k = 0; k < n; ++k) group[k] = e->sample_point[from + 4 * k] / 4;
        fn(group, n, user);
    }
}

void pli_elastic_add_pairs(const PliElastic *e, double k, PliBlockPlaceFn *place, void *user, size_t stride)
{
    if (!e->linearized) return;
    double *block[GROUPS * GROUPS];
    for (PliIndex s = 0; s < e->sample_count;) {
        const PliIndex from = e->sample_first[s], n = (e->sample_first[s + 1] - from) / 4;
        double C[PLI_PAIR_SAMPLES][81];
        PliIndex count = 0;
        const bool same = repeats(e, s);
        do { // those of a region share their points
            sample_tangent(e, s, C[count]);
            for (int q = 0; q < 81; ++q) C[count][q] *= k;
            ++count, ++s;
        } while (count < PLI_PAIR_SAMPLES && s < e->sample_count && repeats(e, s));
        if (n > GROUPS) continue;
        for (PliIndex q = 0; q < n * n && !same; ++q)
            block[q] = place(e->sample_point[from + 4 * (q / n)] / 4, e->sample_point[from + 4 * (q % n)] / 4, user);
        e->kernel->sample_pairs((const double(*)[81])C, e->sample_grad + 3 * (size_t)from, count, n, block, stride);
    }
}

void pli_elastic_add_group_blocks(const PliElastic *e, double k, PliIndex group, double *blocks)
{
    if (!e->linearized) return;
    const size_t width = 3 * (size_t)group;
    for (PliIndex s = 0; s < e->sample_count; ++s) {
        const PliIndex from = e->sample_first[s], to = e->sample_first[s + 1];
        double C[81];
        sample_tangent(e, s, C);
        for (PliIndex p = from; p < to; ++p) {
            const double *gp = e->sample_grad + 3 * (size_t)p;
            const PliIndex block = e->sample_point[p] / group;
            double *out = blocks + width * width * block, h[27];
            for (int i = 0; i < 3; ++i)
                for (int jl = 0; jl < 9; ++jl)
                    h[9 * i + jl] =
                        k * (gp[0] * C[27 * i + jl] + gp[1] * C[27 * i + 9 + jl] + gp[2] * C[27 * i + 18 + jl]);
            // entries of one group usually stand together: look both ways from p
            for (int way = -1; way <= 1; way += 2)
                for (PliIndex q = way < 0 ? p : p + 1; q >= from && q < to && e->sample_point[q] / group == block;
                     q += (PliIndex)way) {
                    const double *gq = e->sample_grad + 3 * (size_t)q;
                    const size_t row = e->sample_point[p] % group, column = e->sample_point[q] % group;
                    for (size_t i = 0; i < 3; ++i)
                        for (size_t j = 0; j < 3; ++j)
                            out[(i * group + row) * width + j * group + column] += v3_dot(h + 9 * i + 3 * j, gq);
                    if (q == 0 && way < 0) break;
                }
        }
    }
}
