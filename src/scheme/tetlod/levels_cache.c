/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
// The built hierarchy on disk: a header, then the arrays one after another, then a checksum of them all.
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "scheme/tetlod/levels.h"

enum { CACHE_VERSION = 2, MAX_PATH = 1024 };

typedef struct Header {
    char magic[8];
    uint32_t version, order; ///< order: 1 in this machine's byte order
    uint64_t hash;
    int32_t level_count;
    PliIndex edge_count, stolen, empty_tets;
    PliIndex user_count, adjacent_count, cover_count, wide_count, wide_entries, repaired_nodes;
    PliIndex point_first[PLI_MAX_LEVELS + 1], tet_first[PLI_MAX_LEVELS + 1];
    double volume, level_volume[PLI_MAX_LEVELS], unit, worst_weight;
    uint64_t checksum; ///< of the header with 0 here, then of the arrays
} Header;

static const char magic[8] = { 'P', 'L', 'I', 'L', 'E', 'V', 'E', 'L' };

static Header header_of(PliLevels *h)
{
    Header out;
    memset(&out, 0, sizeof out); // padding included: the header is written as it is
    memcpy(out.magic, magic, sizeof magic);
    out.version = CACHE_VERSION, out.order = 1, out.hash = h->hash, out.level_count = h->level_count;
    out.edge_count = h->edge_count, out.stolen = h->stolen, out.empty_tets = h->empty_tets;
    out.user_count = h->user_first[h->point_count], out.adjacent_count = h->adjacent_first[h->point_count];
    out.cover_count = h->cover_first[h->tet_count];
    out.wide_count = h->wide_count, out.wide_entries = h->wide_first[h->wide_count];
    out.repaired_nodes = h->repaired_nodes;
    memcpy(out.point_first, h->point_first, sizeof out.point_first);
    memcpy(out.tet_first, h->tet_first, sizeof out.tet_first);
    memcpy(out.level_volume, h->level_volume, sizeof out.level_volume);
    out.volume = h->volume, out.unit = h->unit, out.worst_weight = h->worst_weight;
    return out;
}

static uint64_t checksum(const Header *header, const PliLevelsArray *arrays)
{
    Header blank;
    memcpy(&blank, header, sizeof blank);
    blank.checksum = 0;
    uint64_t hash = pli_hash(PLI_HASH_SEED, &blank, sizeof blank);
    for (int i = 0; i < PLI_LEVELS_ARRAYS; ++i)
        hash = pli_hash(hash, *arrays[i].array, arrays[i].count * arrays[i].size);
    return hash;
}

PliStatus pli_levels_write_cache(PliLevels *h, const char *path, PliError *err)
{
    char temporary[MAX_PATH];
    if (snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary)
        return pli_refuse(err, PLI_BAD_FILE, "tetlod: the name of the cache is longer than %d bytes", MAX_PATH);
    PliLevelsArray arrays[PLI_LEVELS_ARRAYS];
    pli_levels_arrays(h, arrays);
    Header header = header_of(h);
    header.checksum = checksum(&header, arrays);
    FILE *f = fopen(temporary, "wb");
    if (!f) return pli_refuse(err, PLI_BAD_FILE, "tetlod: cannot write the cache %s", temporary);
    bool ok = fwrite(&header, sizeof header, 1, f) == 1;
    for (int i = 0; i < PLI_LEVELS_ARRAYS; ++i)
        if (arrays[i].count) ok = ok && fwrite(*arrays[i].array, arrays[i].size, arrays[i].count, f) == arrays[i].count;
    ok = fclose(f) == 0 && ok;
    ok = ok && rename(temporary, path) == 0;
    if (ok) return PLI_OK;
    remove(temporary);
    return pli_refuse(err, PLI_BAD_FILE, "tetlod: writing the cache %s failed", path);
}

static bool matches(const Header *f, const PliLevels *h)
{
    return memcmp(f->magic, magic, sizeof magic) == 0 && f->version == CACHE_VERSION && f->order == 1 &&
           f->hash == h->hash && f->level_count == h->level_count &&
           memcmp(f->point_first, h->point_first, sizeof f->point_first) == 0 &&
           memcmp(f->tet_first, h->tet_first, sizeof f->tet_first) == 0;
}

bool pli_levels_read_cache(PliLevels *h, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    Header header;
    bool ok = fread(&header, sizeof header, 1, f) == 1 && matches(&header, h);
    if (ok) {
        // counts decide what is allocated: they must account for the file's length exactly
        PliLevels counts = *h;
        counts.edge_count = header.edge_count, counts.wide_count = header.wide_count;
        PliLevelsArray arrays[PLI_LEVELS_ARRAYS];
        pli_levels_arrays(&counts, arrays); // the lists of unknown length count 0 here
        uint64_t bytes = sizeof header + 4ull * header.user_count + 4ull * header.adjacent_count +
                         12ull * header.cover_count + 12ull * header.wide_entries;
        for (int i = 0; i < PLI_LEVELS_ARRAYS; ++i) bytes += (uint64_t)arrays[i].count * arrays[i].size;
        ok = fseek(f, 0, SEEK_END) == 0 && ftell(f) >= 0 && (uint64_t)ftell(f) == bytes &&
             fseek(f, (long)sizeof header, SEEK_SET) == 0;
    }
    if (ok) {
        h->edge_count = header.edge_count, h->stolen = header.stolen, h->empty_tets = header.empty_tets;
        h->wide_count = header.wide_count, h->repaired_nodes = header.repaired_nodes;
        h->volume = header.volume, h->unit = header.unit, h->worst_weight = header.worst_weight;
        memcpy(h->level_volume, header.level_volume, sizeof header.level_volume);
    }
    PliLevelsArray arrays[PLI_LEVELS_ARRAYS];
    for (int i = 0; ok && i < PLI_LEVELS_ARRAYS; ++i) {
        pli_levels_arrays(h, arrays); // again each time: the length of a list is the last entry of its index
        void *block = pli_alloc(&h->host, arrays[i].count, arrays[i].size);
        ok = block && fread(block, arrays[i].size, arrays[i].count, f) == arrays[i].count;
        *arrays[i].array = block;
        const PliIndex users = h->user_first ? h->user_first[h->point_count] : header.user_count;
        const PliIndex adjacent = h->adjacent_first ? h->adjacent_first[h->point_count] : header.adjacent_count;
        const PliIndex covers = h->cover_first ? h->cover_first[h->tet_count] : header.cover_count;
        const PliIndex wide = h->wide_first ? h->wide_first[h->wide_count] : header.wide_entries;
        ok = ok && users == header.user_count && adjacent == header.adjacent_count && covers == header.cover_count &&
             wide == header.wide_entries;
        if (!ok && block) { // its count may not be trusted any more: free it here
            pli_free(&h->host, block, arrays[i].count, arrays[i].size);
            *arrays[i].array = NULL;
        }
    }
    fclose(f);
    if (ok) {
        pli_levels_arrays(h, arrays);
        ok = checksum(&header, arrays) == header.checksum;
    }
    if (ok) return true;
    // back to what it was, so that the caller builds from the meshes
    pli_levels_arrays(h, arrays);
    for (int i = 0; i < PLI_LEVELS_ARRAYS; ++i) {
        if (*arrays[i].array) pli_free(&h->host, *arrays[i].array, arrays[i].count, arrays[i].size);
        *arrays[i].array = NULL;
    }
    h->edge_count = h->stolen = h->empty_tets = h->wide_count = h->repaired_nodes = 0;
    memset(h->level_volume, 0, sizeof h->level_volume);
    h->worst_weight = 0.0;
    return false;
}
