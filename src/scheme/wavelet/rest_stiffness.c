/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheme/wavelet/rest_stiffness.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "base/wide.h"
#include "kernel/elastic_state.h"

PliStatus pli_rest_stiffness_init(PliRestStiffness *k, const PliHost *host, PliLinearSolver wish, bool stands_in)
{
    k->host = *host;
    k->wish = wish;
    k->may_stand_in = k->stands_in = stands_in;
    pli_secants_init(&k->secants, host);
    k->tiles = pli_tiles_create(host);
    pli_rest_tethers_init(&k->tethers, host, stands_in);
    return k->tiles ? PLI_OK : PLI_OUT_OF_MEMORY;
}

void pli_rest_stiffness_reset(PliRestStiffness *k)
{
    k->stands_in = k->may_stand_in;
    k->watched_revision = 0;
    pli_secants_forget(&k->secants);
}

void pli_rest_stiffness_free(PliRestStiffness *k)
{
    pli_tiles_destroy(k->tiles);
    pli_rest_tethers_free(&k->tethers);
    pli_secants_free(&k->secants);
    PLI_FREE(&k->host, k->stiff, k->stiff_capacity);
    PLI_FREE(&k->host, k->stiff_response, k->stiff_response_capacity);
    PLI_FREE(&k->host, k->place, k->place_capacity);
}

static void find_rotation(const PliRestStiffness *k, const double *x, double R[9])
{
    static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    if (!k->rotates) {
        memcpy(R, one, sizeof one);
        return;
    }
    double F[9] = { 0.0 };
    for (size_t i = 0; i < k->count; ++i)
        for (size_t a = 0; a < 3; ++a)
            for (size_t b = 0; b < 3; ++b) F[3 * a + b] += x[3 * i + a] * k->mean[3 * i + b];
    pli_polar_robust(F, R);
}

static void turn_back(double r[3], const double R[9], const double p[3])
{
    for (int a = 0; a < 3; ++a) r[a] = R[a] * p[0] + R[3 + a] * p[1] + R[6 + a] * p[2];
}

// ---- forces ------------------------------------------------------------------------------------------------------------------

typedef double V4 __attribute__((vector_size(32), aligned(8), may_alias));

static inline double add_three(const V4 *a) { return ((*a)[0] + (*a)[1]) + (*a)[2]; }

/// z = K q over the lower triangle. Four doubles per point; the fourth is 0 in q and means nothing in z.
PLI_WIDE static void product(const PliRestStiffness *s, const double *q, double *z)
{
    const PliIndex count = s->count, *first = s->first, *column = s->column, *entry = s->entry;
    const double *block = s->block;
    memset(z, 0, 4 * (size_t)count * sizeof *z);
    for (PliIndex i = 0; i < count; ++i) {
        const double *qi = q + 4 * (size_t)i, x = qi[0], y = qi[1], w = qi[2];
        const PliIndex last = first[i + 1];
        V4 r0 = { 0 }, r1 = { 0 }, r2 = { 0 };
        for (PliIndex k = first[i]; k < last; ++k) {
            const PliIndex j = column[k];
            const double *b = block + 9 * (size_t)entry[k];
            const V4 b0 = *(const V4 *)b, b1 = *(const V4 *)(b + 3), b2 = *(const V4 *)(b + 6),
                     qj = *(const V4 *)(q + 4 * (size_t)j);
            r0 += b0 * qj, r1 += b1 * qj, r2 += b2 * qj;
            if (j != i) *(V4 *)(z + 4 * (size_t)j) += b0 * x + b1 * y + b2 * w;
        }
        z[4 * (size_t)i] += add_three(&r0), z[4 * (size_t)i + 1] += add_three(&r1),
            z[4 * (size_t)i + 2] += add_three(&r2);
    }
}

/// y += k R z
static void add_turned(const PliRestStiffness *s, const double R[9], const double *z, double k, double *y)
{
    for (size_t i = 0; i < s->count; ++i) {
        double r[3];
        m3_apply(r, R, z + 4 * i);
        v3_madd(y + 3 * i, k, r);
    }
}

/// q = R^T x - rest
static void find_displacement(const PliRestStiffness *s, const double R[9], const double *x, double *q)
{
    for (size_t i = 0; i < s->count; ++i) {
        turn_back(q + 4 * i, R, x + 3 * i);
        v3_sub(q + 4 * i, q + 4 * i, s->rest + 3 * i);
        q[4 * i + 3] = 0.0;
    }
}

static PliStatus recut(void *self, const PliCut *cut, const PliLiveView *live)
{
    (void)self, (void)cut, (void)live; // the scheme filled it with the cut
    return PLI_OK;
}

static void retune(void *self, const PliBodyDef *def) { ((PliRestStiffness *)self)->damping = def->material.damping; }

static void add_force(void *self, const double *x, const double *v, double *f)
{
    const PliRestStiffness *s = self;
    double *q = s->work, *z = q + 4 * (size_t)s->count, R[9];
    find_rotation(s, x, R);
    find_displacement(s, R, x, q);
    for (size_t i = 0; i < s->count && v; ++i) {
        double w[3];
        turn_back(w, R, v + 3 * i);
        v3_madd(q + 4 * i, s->damping, w);
    }
    product(s, q, z);
    add_turned(s, R, z, -1.0, f);
}

static void linearize(void *self, const double *x, bool definite)
{
    (void)definite; // it always is
    PliRestStiffness *s = self;
    find_rotation(s, x, s->rotation);
}

static void add_dforce(void *self, const double *dx, double k, double *df)
{
    const PliRestStiffness *s = self;
    double *q = s->work, *z = q + 4 * (size_t)s->count;
    for (size_t i = 0; i < s->count; ++i) turn_back(q + 4 * i, s->rotation, dx + 3 * i), q[4 * i + 3] = 0.0;
    product(s, q, z);
    for (PliIndex j = 0; j < s->secants.rank && s->stiff_ready; ++j) {
        const double *w = s->stiff + 3 * (size_t)j * s->count;
        double sum = 0.0;
        for (size_t i = 0; i < s->count; ++i) sum += v3_dot(w + 3 * i, q + 4 * i);
        for (size_t i = 0; i < s->count; ++i) v3_madd(z + 4 * i, sum / s->stiff_reach, w + 3 * i);
    }
    add_turned(s, s->rotation, z, -k, df);
}

static double energy(void *self, const double *x)
{
    const PliRestStiffness *s = self;
    double *q = s->work, *z = q + 4 * (size_t)s->count, R[9];
    find_rotation(s, x, R);
    find_displacement(s, R, x, q);
    product(s, q, z);
    double sum = 0.0;
    for (size_t i = 0; i < s->count; ++i) sum += v3_dot(q + 4 * i, z + 4 * i);
    return 0.5 * sum;
}

static void blocks(void *self, PliBlockFn *fn, void *user)
{
    const PliRestStiffness *s = self;
    const double *R = s->rotation;
    double back[9], half[9], k9[9], mirror[9];
    for (int a = 0; a < 9; ++a) back[a] = -R[3 * (a % 3) + a / 3];
    for (PliIndex i = 0; i < s->count; ++i)
        for (PliIndex k = s->first[i]; k < s->first[i + 1]; ++k) {
            m3_mul(half, s->block + 9 * (size_t)s->entry[k], back);
            m3_mul(k9, R, half);
            fn(i, s->column[k], k9, user);
            if (s->column[k] == i) continue;
            for (int a = 0; a < 9; ++a) mirror[a] = k9[3 * (a % 3) + a / 3];
            fn(s->column[k], i, mirror, user);
        }
}

static bool stands_in(void *self) { return ((const PliRestStiffness *)self)->stands_in; }

const PliForceOps pli_rest_force_ops = {
    .stands_in = stands_in,
    .recut = recut,
    .retune = retune,
    .add_force = add_force,
    .linearize = linearize,
    .add_dforce = add_dforce,
    .blocks = blocks,
    .energy = energy,
};

// ---- the factor --------------------------------------------------------------------------------------------------------------

static bool fits(const PliRestStiffness *k, PliLinearSolver wish)
{
    return wish == PLI_SOLVE_AUTO || (wish == PLI_SOLVE_LDL && (k->linear || k->may_stand_in));
}

static bool takes(void *self, const PliStepMatrix *a, PliLinearSolver wish)
{
    return fits(self, wish) && 3 * a->count <= PLI_FACTOR_UNKNOWNS;
}

static PliStatus reserve_places(PliRestStiffness *k, size_t points)
{
    if (points <= k->place_capacity) return PLI_OK;
    PLI_FREE(&k->host, k->place, k->place_capacity);
    k->place_capacity = points + points / 4;
    k->place = PLI_NEW(&k->host, k->place_capacity, PliIndex);
    if (!k->place) k->place_capacity = 0;
    return k->place ? PLI_OK : PLI_OUT_OF_MEMORY;
}

/// Tiles that couple all with all take 36 bytes for each pair of points: 330 MB here. Beyond, memory is taken as patterns need it.
enum { RESERVED_POINTS = 3000 };

static PliStatus reserve(void *self, PliIndex capacity, PliIndex limit)
{
    PliRestStiffness *k = self;
    (void)capacity;
    if (!fits(k, k->wish) || limit == 0 || limit > RESERVED_POINTS) return PLI_OK;
    PliStatus status = reserve_places(k, limit);
    if (status != PLI_OK || (status = pli_tiles_reserve(k->tiles, (limit + 6) / 4)) != PLI_OK) return status;
    return pli_rest_tethers_reserve(&k->tethers, (limit + 6) / 4);
}

static bool stay_apart(const PliRestStiffness *k, const PliStepMatrix *a)
{
    return a->tether_count <= k->tethers.slots;
}

static PliIndex group_of(const PliRestStiffness *k, PliIndex point) { return k->place[point] / 4; }

static PliStatus pattern(void *self, const PliStepMatrix *a)
{
    PliRestStiffness *k = self;
    if (reserve_places(k, k->count) != PLI_OK) return PLI_OUT_OF_MEMORY;
    PliIndex early = 0, late = 4 * ((k->base + 3) / 4);
    for (PliIndex o = 0; o < k->count; ++o) k->place[k->order[o]] = k->order[o] < k->base ? early++ : late++;
    PliStatus status = pli_tiles_begin(k->tiles, (late + 3) / 4);
    if (status != PLI_OK) return status;
    // many details couple sparsely: behind level 0, all of them with all, they would cost more than it saves
    if (2 * k->base >= k->count) pli_tiles_eliminate_first(k->tiles, (k->base + 3) / 4);
    for (PliIndex i = 0; i < k->count; ++i)
        for (PliIndex e = k->first[i]; e < k->first[i + 1]; ++e)
            pli_tiles_join(k->tiles, group_of(k, i), group_of(k, k->column[e]));
    const bool join = a->tether_count > pli_rest_tethers_room((late + 3) / 4); // tiles hold a group at least
    for (PliIndex j = 0; j < a->tether_count && join; ++j)
        for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; ++e)
            for (PliIndex f = a->tether_first[j]; f < e; ++f)
                pli_tiles_join(k->tiles, group_of(k, a->tether_column[e]), group_of(k, a->tether_column[f]));
    k->key = 0;
    status = pli_tiles_seal(k->tiles);
    if (status != PLI_OK || (status = pli_rest_tethers_reserve(&k->tethers, k->tiles->tiles)) != PLI_OK) return status;
    k->stiff_ready = false;
    memset(k->stiff_birth, 0, sizeof k->stiff_birth);
    if (!k->may_stand_in) return PLI_OK;
    const size_t vectors = PLI_SECANTS * k->tethers.length;
    if (!pli_reserve(&k->host, (void **)&k->stiff, &k->stiff_capacity, 3 * PLI_SECANTS * (size_t)k->count,
                     sizeof *k->stiff) ||
        !pli_reserve(&k->host, (void **)&k->stiff_response, &k->stiff_response_capacity, vectors,
                     sizeof *k->stiff_response))
        return PLI_OUT_OF_MEMORY;
    return pli_secants_resize(&k->secants, k->count);
}

static bool outgrown(void *self, const PliStepMatrix *a)
{
    const PliRestStiffness *k = self;
    for (PliIndex j = 0; j < a->tether_count && !stay_apart(k, a); ++j)
        for (PliIndex e = a->tether_first[j]; e < a->tether_first[j + 1]; ++e)
            for (PliIndex f = a->tether_first[j]; f < e; ++f)
                if (!pli_tiles_has(k->tiles, group_of(k, a->tether_column[e]), group_of(k, a->tether_column[f])))
                    return true;
    return false;
}

/// Iterations that take as long as a factorisation, which runs at the speed of arithmetic, solves at that of memory.
static double worth_of(const PliTiles *m) { return pli_tiles_work(m) / (12.0 * PLI_TILE * PLI_TILE * m->stored); }

static bool is_round(const double q[6])
{
    return q[0] == q[1] && q[1] == q[2] && q[3] == 0.0 && q[4] == 0.0 && q[5] == 0.0;
}

/// R^T Q R of a tether, and Q itself when every direction is alike: it then is the same in every step.
static void tether_block(const void *self, const PliStepMatrix *m, PliIndex j, double out[9])
{
    const PliRestStiffness *k = self;
    static const int sym[9] = { 0, 5, 4, 5, 1, 3, 4, 3, 2 };
    const double *q = m->tether_matrix + 6 * (size_t)j, *R = k->turned;
    for (int a = 0; a < 9; ++a) out[a] = q[sym[a]];
    if (is_round(q)) return;
    double half[9], back[9];
    for (int a = 0; a < 9; ++a) back[a] = R[3 * (a % 3) + a / 3];
    m3_mul(half, out, R);
    m3_mul(out, back, half);
}

static uint64_t key_of(const PliRestStiffness *k, const PliStepMatrix *a)
{
    const double factor[2] = { a->mass_factor, a->stiffness_factor };
    uint64_t h = pli_hash(PLI_HASH_SEED, factor, sizeof factor);
    h = pli_hash(h, &k->revision, sizeof k->revision);
    h = pli_hash(h, a->fixed, a->count);
    return h ? h : 1;
}

/// Of what functions of level 0 are to each other.
static uint64_t base_key_of(const PliRestStiffness *k, const PliStepMatrix *a)
{
    const double factor[2] = { a->mass_factor, a->stiffness_factor };
    uint64_t h = pli_hash(PLI_HASH_SEED, factor, sizeof factor);
    h = pli_hash(h, &k->base_revision, sizeof k->base_revision);
    h = pli_hash(h, a->fixed, k->base);
    return h ? h : 1;
}

static uint64_t tether_key_of(const PliRestStiffness *k, const PliStepMatrix *a)
{
    uint64_t h = PLI_HASH_SEED;
    for (PliIndex j = 0; j < a->tether_count; ++j) {
        double block[9];
        tether_block(k, a, j, block);
        const size_t first = a->tether_first[j], count = a->tether_first[j + 1] - first;
        h = pli_hash(h, block, sizeof block);
        h = pli_hash(h, a->tether_column + first, count * sizeof *a->tether_column);
        h = pli_hash(h, a->tether_weight + first, count * sizeof *a->tether_weight);
    }
    return h;
}

/// += w b for the unknowns of active points i (rows) and j, where the tiles have them.
static void add_block(const PliRestStiffness *k, PliIndex i, PliIndex j, double w, const double b[9])
{
    const PliIndex p = k->place[i], q = k->place[j];
    double *to = pli_tiles_block(k->tiles, p / 4, q / 4);
    for (PliIndex a = 0; a < 3 && to; ++a)
        for (PliIndex c = 0; c < 3; ++c) to[PLI_TILE * (4 * a + p % 4) + 4 * c + q % 4] += w * b[3 * a + c];
}

/// The first place behind the functions of level 0, or behind all others; up to the next group nobody has it.
static PliIndex empty_from(const PliRestStiffness *k, int part)
{
    return part == 0 ? k->base : 4 * ((k->base + 3) / 4) + k->count - k->base;
}

/// keeps: what functions of level 0 are to each other is there, factored.
static void fill(const PliRestStiffness *k, const PliStepMatrix *m, bool keeps)
{
    static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const PliIndex begin = keeps ? k->base : 0;
    if (!keeps) pli_tiles_zero(k->tiles);
    for (PliIndex i = begin; i < k->count; ++i)
        for (PliIndex e = k->first[i]; e < k->first[i + 1]; ++e) {
            const double *b = k->block + 9 * (size_t)k->entry[e];
            double mirror[9];
            for (int a = 0; a < 9; ++a) mirror[a] = b[3 * (a % 3) + a / 3];
            add_block(k, i, k->column[e], -m->stiffness_factor, b);
            if (k->column[e] != i) add_block(k, k->column[e], i, -m->stiffness_factor, mirror);
        }
    for (PliIndex i = 0; i < k->count; ++i)
        for (PliIndex e = m->mass_first[i]; e < m->mass_first[i + 1]; ++e)
            if (i >= begin || m->mass_column[e] >= begin)
                add_block(k, i, m->mass_column[e], m->mass_factor * m->mass_value[e], one);
    for (PliIndex j = 0; j < m->tether_count && !stay_apart(k, m); ++j) {
        double block[9];
        tether_block(k, m, j, block);
        for (PliIndex a = m->tether_first[j]; a < m->tether_first[j + 1]; ++a)
            for (PliIndex b = m->tether_first[j]; b < m->tether_first[j + 1]; ++b)
                add_block(k, m->tether_column[a], m->tether_column[b], m->tether_weight[a] * m->tether_weight[b],
                          block);
    }
    for (PliIndex i = 0; i < k->count; ++i)
        for (PliIndex a = 0; a < 3 && m->fixed[i]; ++a)
            pli_tiles_fix(k->tiles, group_of(k, i), 4 * a + k->place[i] % 4);
    for (int part = 0; part < 2; ++part)
        for (PliIndex o = empty_from(k, part); o % 4; ++o)
            for (PliIndex a = 0; a < 3; ++a) pli_tiles_fix(k->tiles, o / 4, 4 * a + o % 4);
}

static size_t place_of(const void *self, PliIndex point)
{
    const PliRestStiffness *k = self;
    return pli_tiles_at(k->tiles, group_of(k, point)) + k->place[point] % 4;
}

// A factor with many other tethers preconditions until that has cost as much as a new one.
_Static_assert((int)PLI_REST_STIFF >= (int)PLI_SECANTS, "every secant may be a stiff direction");
static void answer_secants(PliRestStiffness *k);

static PliPrepared prepare(void *self, const PliStepMatrix *a)
{
    PliRestStiffness *k = self;
    find_rotation(k, a->x, k->turned);
    k->apart = stay_apart(k, a);
    const uint64_t key = key_of(k, a), tethers = k->apart ? 0 : tether_key_of(k, a);
    k->stale = !k->apart && key == k->key && tethers != k->tether_key;
    if (key != k->key || (k->apart && k->tether_key) || (k->stale && k->spent >= worth_of(k->tiles))) {
        k->stale = false;
        k->spent = 0.0;
        const uint64_t base_key = k->apart ? base_key_of(k, a) : 0;
        fill(k, a, base_key && base_key == k->base_key && pli_tiles_keep_early(k->tiles));
        const bool good = pli_tiles_factor(k->tiles) == PLI_OK;
        k->base_key = good ? base_key : 0;
        pli_rest_tethers_forget(&k->tethers);
        memset(k->stiff_birth, 0, sizeof k->stiff_birth);
        k->free_key = 0;
        k->key = good ? key : 0;
        k->tether_key = tethers;
        if (!good) return PLI_PREPARED_FAILED;
    }
    answer_secants(k);
    if ((k->apart || k->tethers.stiff_count) &&
        !pli_rest_tethers_prepare(&k->tethers, k->tiles, a, place_of, k->apart ? tether_block : NULL, k))
        return PLI_PREPARED_FAILED;
    return (k->linear || k->stands_in) && !k->stale ? PLI_PREPARED_EXACT : PLI_PREPARED_NEAR;
}

/// w of the coming step.
static void find_stiff(PliRestStiffness *k, const PliStepMatrix *a)
{
    const PliSecants *s = &k->secants;
    k->stiff_reach = -a->stiffness_factor;
    for (PliIndex j = 0; j < s->rank; ++j)
        pli_secants_combine(s, j, (const double *const *)s->force, s->length, k->stiff + s->length * j);
    k->stiff_ready = true;
    k->tethers.stiff_count = 0;
}

/// The way of the last step and how forces changed, in the frame of the rest shape; where forces damp, as if they were those of a place
/// further on. @return false: there was no step before
static bool take_way(PliRestStiffness *k, const PliStepMatrix *a, const double *f, double *way, double *change)
{
    PliSecants *s = &k->secants;
    const double damping = a->system->material_damping, *v = a->system->v;
    const bool known = s->has_place;
    double R[9];
    find_rotation(k, a->x, R);
    for (size_t i = 0; i < k->count; ++i) {
        double place[3], speed[3], force[3];
        turn_back(place, R, a->x + 3 * i), turn_back(speed, R, v + 3 * i), turn_back(force, R, f + 3 * i);
        v3_madd(place, damping, speed);
        for (size_t c = 0; c < 3; ++c) {
            const size_t n = 3 * i + c;
            way[n] = a->fixed[i] ? 0.0 : place[c] - s->place[n];
            change[n] = a->fixed[i] ? 0.0 : force[c] - s->pull[n];
            s->place[n] = place[c], s->pull[n] = force[c];
        }
    }
    s->has_place = true;
    return known;
}

/// What of the change was not foretold, and A s. @return s^T A s
static double find_unforetold(PliRestStiffness *k, const PliStepMatrix *a, const double *way, double *force,
                              double *inertia)
{
    const double g = -a->stiffness_factor;
    double *q = k->work, *z = q + 4 * (size_t)k->count, size = 0.0;
    for (size_t i = 0; i < k->count; ++i) v3_copy(q + 4 * i, way + 3 * i), q[4 * i + 3] = 0.0;
    product(k, q, z);
    for (size_t i = 0; i < k->count; ++i) {
        double *m = inertia + 3 * i;
        m[0] = m[1] = m[2] = 0.0;
        for (PliIndex e = a->mass_first[i]; e < a->mass_first[i + 1] && !a->fixed[i]; ++e)
            v3_madd(m, a->mass_factor * a->mass_value[e], way + 3 * (size_t)a->mass_column[e]);
        for (size_t c = 0; c < 3 && !a->fixed[i]; ++c) {
            force[3 * i + c] = g * (-force[3 * i + c] - z[4 * i + c]);
            m[c] += g * z[4 * i + c];
        }
        size += v3_dot(m, way + 3 * i);
    }
    return size;
}

// A body that has become stiffer than the matrix of its steps swings from one to the next, with growing size. What its forces did lately
// beyond what the matrix foretold goes into the matrix of the next step, as a few directions. A way in which it was stiffer by more than
// the whole of that matrix all the same is left to the true stiffness, until it is less than 0.7 of it again.
static void watch(void *self, const PliStepMatrix *a, const double *f)
{
    static const double MOST = 1.0, LESS = 0.7;
    PliRestStiffness *k = self;
    PliSecants *s = &k->secants;
    if (!k->may_stand_in || s->length != 3 * (size_t)k->count) return;
    const bool same =
        k->watched_revision == k->revision && s->factor[0] == a->mass_factor && s->factor[1] == a->stiffness_factor;
    k->watched_revision = k->revision;
    if (!same) pli_secants_forget(s);
    s->factor[0] = a->mass_factor, s->factor[1] = a->stiffness_factor;
    const PliIndex at = s->next, before = k->stiff_ready ? s->rank : 0;
    double *way = s->way[at], *force = s->force[at], *inertia = s->inertia[at], least = 0.0;
    if (take_way(k, a, f, way, force) && a->stiffness_factor < 0.0) {
        const double size = find_unforetold(k, a, way, force, inertia);
        for (size_t i = 0; i < k->count; ++i) least += a->mass[i] * v3_dot(k->rest + 3 * i, k->rest + 3 * i);
        if (size > 1e-18 * least) { // not rounding
            pli_secants_add(s, 1.0 / sqrt(size));
            double known = 1.0;
            for (PliIndex j = 0; j < before; ++j) {
                const double along = pli_dot((PliIndex)s->length, k->stiff + s->length * j, way);
                known += along * along;
            }
            k->stands_in = 1.0 + s->cross[at][at] - known <= (k->stands_in ? MOST : LESS) * known;
        }
    }
    find_stiff(k, a);
}

/// Steps with the stiffness at rest leave more than a tenth of what the true one asks for; one where that cannot stand in need not be
/// better by a hundred times.
static double enough(void *self) { return ((const PliRestStiffness *)self)->may_stand_in ? 1e-3 : 0.0; }

static void spent(void *self, int iterations)
{
    PliRestStiffness *k = self;
    if (k->stale) k->spent += iterations;
}

/// A^-1 b without tethers, as a vector of the factor.
static void solve_plain(const PliRestStiffness *k, const double *b, double *t)
{
    const PliTiles *m = k->tiles;
    for (int part = 0; part < 2; ++part)
        for (PliIndex o = empty_from(k, part); o % 4; ++o)
            for (PliIndex c = 0; c < 3; ++c) t[pli_tiles_at(m, o / 4) + 4 * c + o % 4] = 0.0;
    for (PliIndex i = 0; i < k->count; ++i) {
        double r[3];
        turn_back(r, k->turned, b + 3 * (size_t)i);
        for (PliIndex c = 0; c < 3; ++c) t[place_of(k, i) + 4 * c] = r[c];
    }
    pli_tiles_solve(m, t);
}

static void answer_secants(PliRestStiffness *k)
{
    PliSecants *s = &k->secants;
    PliRestTethers *t = &k->tethers;
    const size_t length = t->length;
    if (!k->stiff_ready || t->stiff_count == s->rank) return;
    for (PliIndex j = 0; j < s->count && s->rank; ++j) {
        double *y = k->stiff_response + j * length;
        if (k->stiff_birth[j] == s->birth[j]) continue;
        memset(y, 0, length * sizeof *y);
        for (PliIndex i = 0; i < k->count; ++i)
            for (PliIndex c = 0; c < 3; ++c) y[place_of(k, i) + 4 * c] = s->force[j][3 * (size_t)i + c];
        pli_tiles_solve(k->tiles, y);
        k->stiff_birth[j] = s->birth[j];
    }
    const double *response[PLI_SECANTS];
    for (PliIndex i = 0; i < s->count; ++i) response[i] = k->stiff_response + i * length;
    for (PliIndex j = 0; j < s->rank; ++j) {
        double *w = t->stiff + j * length, *y = t->stiff_response + j * length;
        memset(w, 0, length * sizeof *w);
        for (PliIndex i = 0; i < k->count; ++i)
            for (PliIndex c = 0; c < 3; ++c) w[place_of(k, i) + 4 * c] = k->stiff[3 * ((size_t)j * k->count + i) + c];
        pli_secants_combine(s, j, response, length, y);
    }
    t->stiff_count = s->rank;
    t->stiff_births++;
}

static void read_solution(const PliRestStiffness *k, const double *t, double *x)
{
    for (PliIndex i = 0; i < k->count; ++i) {
        double r[3];
        for (PliIndex c = 0; c < 3; ++c) r[c] = t[place_of(k, i) + 4 * c];
        m3_apply(x + 3 * (size_t)i, k->turned, r);
    }
}

static void solve(void *self, const PliStepMatrix *a, const double *b, double *x)
{
    const PliRestStiffness *k = self;
    double *t = k->tiles->x;
    solve_plain(k, b, t);
    if ((k->apart && k->tethers.count == a->tether_count) || (!k->apart && k->tethers.stiff_count))
        pli_rest_tethers_correct(&k->tethers, a, place_of, k, t);
    read_solution(k, t, x);
}

static bool solve_pressed(void *self, const PliStepMatrix *a, const double *b, bool is_new, const double *force,
                          double *x)
{
    PliRestStiffness *k = self;
    PliRestTethers *t = &k->tethers;
    if (!k->apart || t->count != a->tether_count) return false;
    if (is_new || k->free_key != k->key) solve_plain(k, b, t->free);
    k->free_key = k->key;
    for (size_t j = 0; j < t->count; ++j) turn_back(t->push + 3 * j, k->turned, force + 3 * j);
    pli_rest_tethers_answer(t, a, place_of, k, t->free, t->push, k->tiles->x);
    read_solution(k, k->tiles->x, x);
    return true;
}

static bool answers(void *self, const PliStepMatrix *a, const double *b, bool is_new, const double **answer,
                    double **free)
{
    PliRestStiffness *k = self;
    PliRestTethers *t = &k->tethers;
    if (!k->apart || t->count != a->tether_count) return false;
    if (is_new || k->free_key != k->key) solve_plain(k, b, t->free);
    k->free_key = k->key;
    const size_t n = 3 * (size_t)t->count;
    double *s = t->factor, *u = t->push, turned[9], back[9], half[9], block[9];
    pli_rest_tethers_condense(t, a, place_of, k, t->free, s, u);
    for (int d = 0; d < 9; ++d) back[d] = k->turned[3 * (d % 3) + d / 3];
    for (size_t i = 0; i < n; i += 3) {
        double p[3];
        m3_apply(p, k->turned, u + i);
        v3_copy(u + i, p);
        for (size_t j = 0; j < n; j += 3) {
            for (size_t d = 0; d < 9; ++d) block[d] = s[(i + d / 3) * n + j + d % 3];
            m3_mul(half, k->turned, block);
            m3_mul(turned, half, back);
            for (size_t d = 0; d < 9; ++d) s[(i + d / 3) * n + j + d % 3] = turned[d];
        }
    }
    *answer = s, *free = u;
    return true;
}

const PliLinearOps pli_rest_linear_ops = {
    .name = "rest factor",
    .takes = takes,
    .reserve = reserve,
    .pattern = pattern,
    .outgrown = outgrown,
    .prepare = prepare,
    .solve = solve,
    .solve_pressed = solve_pressed,
    .answers = answers,
    .watch = watch,
    .spent = spent,
    .enough = enough,
    .notices = true,
    .tethered = true,
    .responds = true,
};
