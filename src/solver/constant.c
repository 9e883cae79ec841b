/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Stiffness about a rest shape that turns with the body, and the factor made of it once. R commutes with everything that has one scalar per
// pair of points, so A(R) = R A(1) R^T block by block: one factor serves every rotation.
#include "solver/constant.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "kernel/elastic_state.h"

void pli_constant_rotation(const PliSystem *s, const double *x, double R[9])
{
    static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const PliConstant *c = s->constant;
    if (!c->rotates) {
        memcpy(R, one, sizeof one);
        return;
    }
    double F[9] = { 0.0 };
    for (size_t i = 0; i < s->active_count; ++i)
        for (size_t a = 0; a < 3; ++a)
            for (size_t b = 0; b < 3; ++b) F[3 * a + b] += x[3 * i + a] * c->mean[3 * i + b];
    pli_polar_robust(F, R);
}

static void turn_back(double r[3], const double R[9], const double p[3])
{
    for (int a = 0; a < 3; ++a) r[a] = R[a] * p[0] + R[3 + a] * p[1] + R[6 + a] * p[2];
}

/// z = K q over the lower triangle
static void product(const PliSystem *s, const double *q, double *z)
{
    const PliConstant *c = s->constant;
    memset(z, 0, 3 * (size_t)s->active_count * sizeof *z);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        double sum[3] = { 0.0, 0.0, 0.0 };
        const double *qi = q + 3 * (size_t)i;
        for (PliIndex k = c->first[i]; k < c->first[i + 1]; ++k) {
            const PliIndex j = c->column[k];
            const double *b = c->block + 9 * (size_t)c->entry[k], *qj = q + 3 * (size_t)j;
            for (int a = 0; a < 3; ++a) sum[a] += b[3 * a] * qj[0] + b[3 * a + 1] * qj[1] + b[3 * a + 2] * qj[2];
            if (j == i) continue;
            double *zj = z + 3 * (size_t)j;
            for (int a = 0; a < 3; ++a) zj[a] += b[a] * qi[0] + b[3 + a] * qi[1] + b[6 + a] * qi[2];
        }
        v3_add(z + 3 * (size_t)i, z + 3 * (size_t)i, sum);
    }
}

static void add_turned(const PliSystem *s, const double R[9], const double *z, double k, double *y)
{
    for (size_t i = 0; i < s->active_count; ++i) {
        double r[3];
        m3_apply(r, R, z + 3 * i);
        v3_madd(y + 3 * i, k, r);
    }
}

void pli_constant_add_product(const PliSystem *s, const double R[9], const double *p, double k, double *y)
{
    double *q = s->constant->work, *z = q + 3 * (size_t)s->active_count;
    for (size_t i = 0; i < s->active_count; ++i) turn_back(q + 3 * i, R, p + 3 * i);
    product(s, q, z);
    add_turned(s, R, z, k, y);
}

void pli_constant_add_force(const PliSystem *s, const double *x, const double *v, double *f)
{
    const PliConstant *c = s->constant;
    double *q = c->work, *z = q + 3 * (size_t)s->active_count, R[9];
    pli_constant_rotation(s, x, R);
    for (size_t i = 0; i < s->active_count; ++i) {
        double w[3];
        turn_back(q + 3 * i, R, x + 3 * i);
        v3_sub(q + 3 * i, q + 3 * i, c->rest + 3 * i);
        if (!v) continue;
        turn_back(w, R, v + 3 * i);
        v3_madd(q + 3 * i, s->material_damping, w);
    }
    product(s, q, z);
    add_turned(s, R, z, -1.0, f);
}

double pli_constant_energy(const PliSystem *s, const double *x)
{
    const PliConstant *c = s->constant;
    double *q = c->work, *z = q + 3 * (size_t)s->active_count, R[9];
    pli_constant_rotation(s, x, R);
    for (size_t i = 0; i < s->active_count; ++i) {
        turn_back(q + 3 * i, R, x + 3 * i);
        v3_sub(q + 3 * i, q + 3 * i, c->rest + 3 * i);
    }
    product(s, q, z);
    return 0.5 * pli_dot(3 * s->active_count, q, z);
}

void pli_constant_blocks(const PliSystem *s, PliReducedFn *fn, void *user)
{
    const PliConstant *c = s->constant;
    const double *R = s->rotation;
    double back[9], half[9], k9[9], mirror[9];
    for (int a = 0; a < 9; ++a) back[a] = -R[3 * (a % 3) + a / 3];
    for (PliIndex i = 0; i < s->active_count; ++i)
        for (PliIndex k = c->first[i]; k < c->first[i + 1]; ++k) {
            m3_mul(half, c->block + 9 * (size_t)c->entry[k], back);
            m3_mul(k9, R, half);
            fn(i, c->column[k], k9, user);
            if (c->column[k] == i) continue;
            for (int a = 0; a < 9; ++a) mirror[a] = k9[3 * (a % 3) + a / 3];
            fn(c->column[k], i, mirror, user);
        }
}

// ---- the factor --------------------------------------------------------------------------------------------------------------

static PliStatus reserve_places(const PliHost *host, PliImplicit *im, size_t points)
{
    if (points <= im->place_capacity) return PLI_OK;
    PLI_FREE(host, im->place, im->place_capacity);
    im->place_capacity = points + points / 4;
    im->place = PLI_NEW(host, im->place_capacity, PliIndex);
    if (!im->place) im->place_capacity = 0;
    return im->place ? PLI_OK : PLI_OUT_OF_MEMORY;
}

PliStatus pli_rotated_reserve(const PliHost *host, PliImplicit *im, PliIndex points)
{
    const PliStatus status = reserve_places(host, im, points);
    return status == PLI_OK ? pli_tiles_reserve(im->tiles, (points + 3) / 4) : status;
}

PliStatus pli_rotated_pattern(const PliSystem *s, PliImplicit *im)
{
    const PliConstant *c = s->constant;
    if (reserve_places(&s->host, im, s->active_count) != PLI_OK) return PLI_OUT_OF_MEMORY;
    for (PliIndex o = 0; o < s->active_count; ++o) im->place[c->order[o]] = o;
    PliStatus status = pli_tiles_begin(im->tiles, (s->active_count + 3) / 4);
    if (status != PLI_OK) return status;
    for (PliIndex i = 0; i < s->active_count; ++i)
        for (PliIndex k = c->first[i]; k < c->first[i + 1]; ++k)
            pli_tiles_join(im->tiles, im->place[i] / 4, im->place[c->column[k]] / 4);
    for (PliIndex j = 0; j < s->spring_count; ++j)
        for (PliIndex a = s->spring_first[j]; a < s->spring_first[j + 1]; ++a)
            for (PliIndex b = s->spring_first[j]; b < a; ++b)
                pli_tiles_join(im->tiles, im->place[s->spring_column[a]] / 4, im->place[s->spring_column[b]] / 4);
    im->rotated_key = 0;
    return pli_tiles_seal(im->tiles);
}

void pli_rotated_free(const PliHost *host, PliImplicit *im) { PLI_FREE(host, im->place, im->place_capacity); }

/// Iterations that take as long as a factorisation, which runs at the speed of arithmetic, solves at that of memory.
static double worth_of(const PliTiles *m) { return pli_tiles_work(m) / (12.0 * PLI_TILE * PLI_TILE * m->stored); }

static bool is_round(const double q[6])
{
    return q[0] == q[1] && q[1] == q[2] && q[3] == 0.0 && q[4] == 0.0 && q[5] == 0.0;
}

/// R^T Q R of a spring, and Q itself when every direction is alike: it then is the same in every step.
static void spring_block(const PliSystem *s, PliIndex j, double out[9])
{
    static const int sym[9] = { 0, 5, 4, 5, 1, 3, 4, 3, 2 };
    const double *q = s->spring_matrix + 6 * (size_t)j, *R = s->rotation;
    for (int a = 0; a < 9; ++a) out[a] = q[sym[a]];
    if (is_round(q)) return;
    double half[9], back[9];
    for (int a = 0; a < 9; ++a) back[a] = R[3 * (a % 3) + a / 3];
    m3_mul(half, out, R);
    m3_mul(out, back, half);
}

static uint64_t key_of(const PliSystem *s, double mass_factor, double stiffness_factor)
{
    const double factor[2] = { mass_factor, stiffness_factor };
    uint64_t h = pli_hash(PLI_HASH_SEED, factor, sizeof factor);
    h = pli_hash(h, &s->constant->revision, sizeof s->constant->revision);
    h = pli_hash(h, s->fixed, s->active_count);
    return h ? h : 1;
}

static uint64_t spring_key(const PliSystem *s)
{
    uint64_t h = PLI_HASH_SEED;
    for (PliIndex j = 0; j < s->spring_count; ++j) {
        double block[9];
        spring_block(s, j, block);
        const size_t first = s->spring_first[j], count = s->spring_first[j + 1] - first;
        h = pli_hash(h, block, sizeof block);
        h = pli_hash(h, s->spring_column + first, count * sizeof *s->spring_column);
        h = pli_hash(h, s->spring_weight + first, count * sizeof *s->spring_weight);
    }
    return h;
}

/// += w b for the unknowns of active points i (rows) and j, where the tiles have them.
static void add_block(const PliImplicit *im, PliIndex i, PliIndex j, double w, const double b[9])
{
    const PliIndex p = im->place[i], q = im->place[j];
    double *to = pli_tiles_block(im->tiles, p / 4, q / 4);
    for (PliIndex a = 0; a < 3 && to; ++a)
        for (PliIndex c = 0; c < 3; ++c) to[PLI_TILE * (4 * a + p % 4) + 4 * c + q % 4] += w * b[3 * a + c];
}

bool pli_rotated_factor(const PliSystem *s, PliImplicit *im, double mass_factor, double stiffness_factor)
{
    const PliConstant *c = s->constant;
    const uint64_t key = key_of(s, mass_factor, stiffness_factor), springs = spring_key(s);
    im->rotated_stale = key == im->rotated_key && springs != im->rotated_springs;
    if (key == im->rotated_key && (!im->rotated_stale || im->rotated_spent < worth_of(im->tiles))) return true;
    im->rotated_stale = false;
    im->rotated_spent = 0.0;
    pli_tiles_zero(im->tiles);
    for (PliIndex i = 0; i < s->active_count; ++i)
        for (PliIndex k = c->first[i]; k < c->first[i + 1]; ++k) {
            const double *b = c->block + 9 * (size_t)c->entry[k];
            double mirror[9];
            for (int a = 0; a < 9; ++a) mirror[a] = b[3 * (a % 3) + a / 3];
            add_block(im, i, c->column[k], -stiffness_factor, b);
            if (c->column[k] != i) add_block(im, c->column[k], i, -stiffness_factor, mirror);
        }
    static const double one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    for (PliIndex i = 0; i < s->active_count; ++i)
        for (PliIndex k = s->mass_first[i]; k < s->mass_first[i + 1]; ++k)
            add_block(im, i, s->mass_column[k], mass_factor * s->mass_value[k], one);
    for (PliIndex j = 0; j < s->spring_count; ++j) {
        double block[9];
        spring_block(s, j, block);
        for (PliIndex a = s->spring_first[j]; a < s->spring_first[j + 1]; ++a)
            for (PliIndex b = s->spring_first[j]; b < s->spring_first[j + 1]; ++b)
                add_block(im, s->spring_column[a], s->spring_column[b], s->spring_weight[a] * s->spring_weight[b],
                          block);
    }
    for (PliIndex i = 0; i < s->active_count; ++i)
        for (PliIndex a = 0; a < 3 && s->fixed[i]; ++a)
            pli_tiles_fix(im->tiles, im->place[i] / 4, 4 * a + im->place[i] % 4);
    for (PliIndex o = s->active_count; o % 4; ++o) // places that nobody has
        for (PliIndex a = 0; a < 3; ++a) pli_tiles_fix(im->tiles, o / 4, 4 * a + o % 4);
    const bool good = pli_tiles_factor(im->tiles) == PLI_OK;
    im->rotated_key = good ? key : 0;
    im->rotated_springs = springs;
    return good;
}

void pli_rotated_solve(const PliSystem *s, const PliImplicit *im, const double *b, double *x)
{
    const PliTiles *m = im->tiles;
    double *t = m->x;
    for (PliIndex o = s->active_count; o % 4; ++o)
        for (PliIndex a = 0; a < 3; ++a) t[pli_tiles_at(m, o / 4) + 4 * a + o % 4] = 0.0;
    for (PliIndex i = 0; i < s->active_count; ++i) {
        double r[3];
        turn_back(r, s->rotation, b + 3 * (size_t)i);
        for (PliIndex a = 0; a < 3; ++a) t[pli_tiles_at(m, im->place[i] / 4) + 4 * a + im->place[i] % 4] = r[a];
    }
    pli_tiles_solve(m, t);
    for (PliIndex i = 0; i < s->active_count; ++i) {
        double r[3];
        for (PliIndex a = 0; a < 3; ++a) r[a] = t[pli_tiles_at(m, im->place[i] / 4) + 4 * a + im->place[i] % 4];
        m3_apply(x + 3 * (size_t)i, s->rotation, r);
    }
}
