/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// Blocks of pairs that are alike when the axes change places or directions are kept once. A code is the number of a block and what is
// done to it; all that is done leaves an identity as it is, so masses need none of it. Active sets have their blocks turned already:
// steps see plain ones.
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "scheme/wavelet/wavelet.h"

/// Six orders of the axes, times which of them are reversed; reversing all three changes nothing.
enum { TURNS = 24, TURN_BITS = 5 };
static const uint8_t axis_of[6][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 0, 2, 1 }, { 2, 1, 0 }, { 1, 0, 2 } };
static const double sign_of[4][3] = { { 1, 1, 1 }, { -1, 1, 1 }, { 1, -1, 1 }, { -1, -1, 1 } };

static PliIndex block_of(PliIndex code) { return code >> TURN_BITS; }
static PliIndex turn_of(PliIndex code) { return code & ((1u << TURN_BITS) - 1); }

/// Whether entry (i, j) changes its sign.
static bool flips(PliIndex turn, int i, int j) { return sign_of[turn & 3][i] != sign_of[turn & 3][j]; }

double pli_wavelet_block(const PliWavelet *s, PliIndex code, double out[9])
{
    const double *from = s->block_stiffness + 9 * (size_t)block_of(code);
    const PliIndex turn = turn_of(code);
    const uint8_t *axis = axis_of[turn >> 2];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const double value = from[3 * axis[i] + axis[j]];
            out[3 * i + j] = flips(turn, i, j) ? -value : value;
        }
    return s->block_mass[block_of(code)];
}

/// r -= K q, of the transpose if `across`; the vectors are turned instead of the block. @return its mass, kg
static inline double subtract(const PliWavelet *s, PliIndex code, bool across, const double q[3], double r[3])
{
    const double *K = s->block_stiffness + 9 * (size_t)block_of(code), *sign = sign_of[turn_of(code) & 3];
    const uint8_t *axis = axis_of[turn_of(code) >> 2];
    const size_t row = across ? 1 : 3, column = across ? 3 : 1;
    double t[3];
    for (int i = 0; i < 3; ++i) t[axis[i]] = sign[i] * q[i];
    for (int i = 0; i < 3; ++i) {
        const double *k = K + row * axis[i];
        r[i] -= sign[i] * (k[0] * t[0] + k[column] * t[1] + k[2 * column] * t[2]);
    }
    return s->block_mass[block_of(code)];
}

double pli_wavelet_subtract_block(const PliWavelet *s, PliIndex code, const double q[3], double r[3])
{
    return subtract(s, code, false, q, r);
}

double pli_wavelet_pair_mass(const PliWavelet *s, PliIndex code) { return s->block_mass[block_of(code)]; }

double pli_wavelet_subtract_across(const PliWavelet *s, PliIndex code, const double q[3], double r[3])
{
    return subtract(s, code, true, q, r);
}

// ---- all blocks --------------------------------------------------------------------------------------------------------------------

/// The least of all that turn into `r`, and by what.
static PliIndex least_turn(const int64_t r[9], int64_t least[9])
{
    PliIndex best = 0;
    memcpy(least, r, 9 * sizeof *r);
    for (PliIndex turn = 1; turn < TURNS; ++turn) {
        const uint8_t *axis = axis_of[turn >> 2];
        int64_t t[9];
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) t[3 * axis[i] + axis[j]] = flips(turn, i, j) ? -r[3 * i + j] : r[3 * i + j];
        int k = 0;
        while (k < 8 && t[k] == least[k]) k++;
        if (t[k] < least[k]) memcpy(least, t, sizeof t), best = turn;
    }
    return best;
}

// Blocks stay in the order in which they were found, so the first of its kind is never behind the one that is looked at.
bool pli_wavelet_fold_blocks(PliWavelet *s, const double grid[2], PliIndex *code)
{
    size_t size = 4096;
    while (size < 2 * (size_t)s->block_count) size *= 2;
    PliIndex *slot = PLI_NEW(&s->host, size, PliIndex), kept = 0;
    int64_t *key = PLI_NEW(&s->host, 10 * (size_t)s->block_count, int64_t);
    const bool good = slot && key && s->block_count < PLI_NONE >> TURN_BITS;
    if (good) memset(slot, 0xff, size * sizeof *slot);
    for (PliIndex b = 0; b < s->block_count && good; ++b) {
        const double *k = s->block_stiffness + 9 * (size_t)b;
        int64_t r[9], *own = key + 10 * (size_t)kept;
        for (int i = 0; i < 9; ++i) r[i] = llround(k[i] / grid[0]);
        const PliIndex turn = least_turn(r, own);
        own[9] = llround(s->block_mass[b] / grid[1]);
        size_t at = pli_hash(PLI_HASH_SEED, own, 10 * sizeof *own) & (size - 1);
        while (slot[at] != PLI_NONE && memcmp(key + 10 * (size_t)slot[at], own, 10 * sizeof *own) != 0)
            at = (at + 1) & (size - 1);
        if (slot[at] == PLI_NONE) {
            double least[9];
            const uint8_t *axis = axis_of[turn >> 2];
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    least[3 * axis[i] + axis[j]] = flips(turn, i, j) ? -k[3 * i + j] : k[3 * i + j];
            memcpy(s->block_stiffness + 9 * (size_t)kept, least, sizeof least);
            s->block_mass[kept] = s->block_mass[b];
            slot[at] = kept++;
        }
        code[b] = slot[at] << TURN_BITS | turn;
    }
    PLI_FREE(&s->host, key, 10 * (size_t)s->block_count);
    PLI_FREE(&s->host, slot, size);
    if (good) s->block_count = kept;
    return good;
}

// ---- those of an active set ---------------------------------------------------------------------------------------------------------

static PliIndex *find_slot(const PliWavelet *s, PliIndex code)
{
    size_t at = pli_hash(PLI_HASH_SEED, &code, sizeof code) & (s->slot_count - 1);
    while (s->slot[at] != PLI_NONE && s->cut_code[s->slot[at]] != code) at = (at + 1) & (s->slot_count - 1);
    return s->slot + at;
}

bool pli_wavelet_grow_codes(PliWavelet *s)
{
    const PliHost *host = &s->host;
    const size_t slots = s->slot_count ? 2 * s->slot_count : 1024, room = slots / 2, old = s->slot_count / 2;
    PliIndex *slot = PLI_NEW(host, slots, PliIndex), *code = PLI_NEW(host, room, PliIndex);
    double *stiffness = PLI_NEW(host, pli_wavelet_block_room(room), double), *mass = PLI_NEW(host, room, double);
    if (!slot || !code || !stiffness || !mass) {
        PLI_FREE(host, slot, slots);
        PLI_FREE(host, code, room);
        PLI_FREE(host, stiffness, pli_wavelet_block_room(room));
        PLI_FREE(host, mass, room);
        return false;
    }
    if (s->code_count) memcpy(code, s->cut_code, s->code_count * sizeof *code);
    PLI_FREE(host, s->slot, s->slot_count);
    PLI_FREE(host, s->cut_code, old);
    PLI_FREE(host, s->cut_stiffness, pli_wavelet_block_room(old));
    PLI_FREE(host, s->cut_block_mass, old);
    s->slot = slot, s->cut_code = code, s->cut_stiffness = stiffness, s->cut_block_mass = mass, s->slot_count = slots;
    memset(slot, 0xff, slots * sizeof *slot);
    for (PliIndex k = 0; k < s->code_count; ++k) *find_slot(s, code[k]) = k;
    return true;
}

void pli_wavelet_forget_codes(PliWavelet *s)
{
    if (s->slot) memset(s->slot, 0xff, s->slot_count * sizeof *s->slot);
    s->code_count = 0;
}

PliIndex pli_wavelet_code_number(PliWavelet *s, PliIndex code)
{
    PliIndex *at = s->slot_count ? find_slot(s, code) : NULL;
    if (at && *at != PLI_NONE) return *at;
    if (2 * (size_t)s->code_count >= s->slot_count) {
        if (!pli_wavelet_grow_codes(s)) return PLI_NONE;
        at = find_slot(s, code);
    }
    s->cut_code[s->code_count] = code;
    return *at = s->code_count++;
}

void pli_wavelet_turn_blocks(PliWavelet *s)
{
    for (size_t k = 0; k < s->code_count; ++k)
        s->cut_block_mass[k] = pli_wavelet_block(s, s->cut_code[k], s->cut_stiffness + 9 * k);
}

void pli_wavelet_free_codes(PliWavelet *s)
{
    const size_t room = s->slot_count / 2;
    PLI_FREE(&s->host, s->slot, s->slot_count);
    PLI_FREE(&s->host, s->cut_code, room);
    PLI_FREE(&s->host, s->cut_stiffness, pli_wavelet_block_room(room));
    PLI_FREE(&s->host, s->cut_block_mass, room);
}
