/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_HASH_H
#define PLI_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PLI_HASH_SEED 0xcbf29ce484222325ULL

/// FNV-1a over 64-bit words (a trailing part is padded with zeros): fast enough to hash every state of a run.
static inline uint64_t pli_hash(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)data; // the cast lets C++ tests include this
    uint64_t h = seed;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = (h ^ word) * 0x100000001b3ULL;
        h ^= h >> 29;
    }
    if (bytes) {
        uint64_t word = 0;
        memcpy(&word, p, bytes);
        h = (h ^ word) * 0x100000001b3ULL;
        h ^= h >> 29;
    }
    return h;
}

/// splitmix64: the generator of every seeded test and mesh, the same on every machine.
static inline uint64_t pli_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}
static inline double pli_random_unit(uint64_t *state)
{
    return (double)(pli_random(state) >> 11) * 0x1.0p-53;
} ///< [0, 1)

#endif
