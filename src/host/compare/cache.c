/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/compare/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "output/file.h"

// ---- keys ------------------------------------------------------------------------------------------------------------------

PliKey pli_key_begin(void) { return (PliKey){ .word = { PLI_HASH_SEED, 0x9e3779b97f4a7c15ULL } }; }

void pli_key_add(PliKey *key, const void *data, size_t bytes)
{
    const uint64_t length = bytes; // so that "ab" "c" is not "a" "bc"
    for (int k = 0; k < 2; ++k) {
        key->word[k] = pli_hash(key->word[k], &length, sizeof length);
        if (bytes) key->word[k] = pli_hash(key->word[k], data, bytes);
    }
}

void pli_key_text(PliKey *key, const char *text) { pli_key_add(key, text ? text : "", text ? strlen(text) : 0); }

void pli_key_file(PliKey *key, const char *path)
{
    unsigned char part[65536];
    FILE *in = fopen(path, "rb");
    size_t n = 1;
    while (in && (n = fread(part, 1, sizeof part, in)) > 0) pli_key_add(key, part, n);
    if (!in || ferror(in)) key->unknown = true;
    if (in) fclose(in);
    pli_key_add(key, NULL, 0);
}

void pli_key_program(PliKey *key)
{
    char line[4600], last[4096] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    uint64_t sum[3] = { 0 };                         // libraries lie in another order every time: a sum has none
    while (maps && fgets(line, sizeof line, maps)) { // "from-to r-xp offset device inode   /path"
        const char *path = strchr(line, '/'), *mode = strchr(line, ' ');
        line[strcspn(line, "\n")] = '\0';
        if (!path || !mode || mode[3] != 'x' || strcmp(path, last) == 0) continue;
        snprintf(last, sizeof last, "%s", path);
        PliKey each = pli_key_begin();
        pli_key_file(&each, path);
        sum[0] += each.word[0], sum[1] += each.word[1], sum[2]++;
        if (each.unknown) key->unknown = true;
    }
    if (maps) fclose(maps);
    pli_key_add(key, sum, sizeof sum);
    if (sum[2] == 0) key->unknown = true;
}

// ---- archives --------------------------------------------------------------------------------------------------------------

void pli_archive_raw(PliArchive *a, void *data, size_t bytes)
{
    if (a->failed) return;
    if (a->reading) {
        a->failed = bytes > a->bytes - a->at;
        if (a->failed) return;
        if (bytes) memcpy(data, a->data + a->at, bytes);
        a->at += bytes;
        return;
    }
    if (a->bytes + bytes > a->capacity) {
        const size_t wider = 2 * (a->bytes + bytes) + 4096;
        unsigned char *grown = realloc(a->data, wider);
        a->failed = !grown;
        if (!grown) return;
        a->data = grown;
        a->capacity = wider;
    }
    if (bytes) memcpy(a->data + a->bytes, data, bytes);
    a->bytes += bytes;
}

void *pli_archive_array(PliArchive *a, void *array, size_t count, size_t size)
{
    if (a->reading) {
        if (!a->failed && count > (a->bytes - a->at) / size) a->failed = true;
        array = a->failed ? NULL : malloc(count * size + 1);
        if (!array) a->failed = true;
    }
    if (array) pli_archive_raw(a, array, count * size);
    return array;
}

void pli_archive_free(PliArchive *a)
{
    free(a->data);
    *a = (PliArchive){ 0 };
}

// ---- the folder ------------------------------------------------------------------------------------------------------------

static const char suffix[] = ".run";

typedef struct Head {
    char magic[16];
    uint64_t key[2], bytes, sum;
    int64_t when;
} Head;
static const char magic[16] = "pliant run\n";

bool pli_cache_folder(char *path, size_t size)
{
    const char *chosen = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (chosen && chosen[0] == '/') // others are to be ignored, says the XDG specification
        n = snprintf(path, size, "%s/pliant", chosen);
    else if (home && home[0])
        n = snprintf(path, size, "%s/.cache/pliant", home);
    return n > 0 && (size_t)n < size;
}

static bool file_name(const char *folder, const PliKey *key, char *path, size_t size)
{
    const int n = snprintf(path, size, "%s/%016" PRIx64 "%016" PRIx64 "%s", folder, key->word[0], key->word[1], suffix);
    return !key->unknown && n > 0 && (size_t)n < size;
}

void pli_cache_drop(const char *folder, const PliKey *key)
{
    char path[1100];
    if (file_name(folder, key, path, sizeof path)) remove(path);
}

bool pli_cache_load(const char *folder, const PliKey *key, PliArchive *a, int64_t *when)
{
    char path[1100];
    Head head;
    *a = (PliArchive){ .reading = true };
    FILE *in = file_name(folder, key, path, sizeof path) ? fopen(path, "rb") : NULL;
    if (!in) return false;
    bool good = fread(&head, sizeof head, 1, in) == 1 && memcmp(head.magic, magic, sizeof magic) == 0 &&
                memcmp(head.key, key->word, sizeof head.key) == 0 && head.bytes < SIZE_MAX / 2;
    struct stat info;
    good = good && fstat(fileno(in), &info) == 0 && (uint64_t)info.st_size == sizeof head + head.bytes;
    if (good) a->data = malloc((size_t)head.bytes + 1);
    good = good && a->data && fread(a->data, 1, (size_t)head.bytes, in) == head.bytes &&
           pli_hash(PLI_HASH_SEED, a->data, (size_t)head.bytes) == head.sum;
    fclose(in);
    if (!good) {
        pli_archive_free(a);
        remove(path);
        return false;
    }
    a->bytes = (size_t)head.bytes;
    *when = head.when;
    utimensat(AT_FDCWD, path, NULL, 0); // used just now: the last to be removed
    return true;
}

typedef struct Entry {
    char name[64];
    uint64_t bytes;
    struct timespec used;
} Entry;

static int by_use(const void *left, const void *right)
{
    const Entry *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec) return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

static void trim(const char *folder, uint64_t most)
{
    DIR *dir = opendir(folder);
    Entry *entry = NULL;
    size_t count = 0, capacity = 0;
    uint64_t total = 0;
    const struct dirent *d;
    while (dir && (d = readdir(dir))) {
        struct stat info;
        const size_t n = strlen(d->d_name);
        if (n < sizeof suffix || n >= sizeof entry->name || strcmp(d->d_name + n - sizeof suffix + 1, suffix) != 0 ||
            fstatat(dirfd(dir), d->d_name, &info, 0) != 0 || !S_ISREG(info.st_mode))
            continue; // not ours
        if (count == capacity) {
            Entry *grown = realloc(entry, (2 * capacity + 16) * sizeof *entry);
            if (!grown) break;
            entry = grown;
            capacity = 2 * capacity + 16;
        }
        entry[count] = (Entry){ .bytes = (uint64_t)info.st_size, .used = info.st_mtim };
        memcpy(entry[count].name, d->d_name, n + 1);
        total += entry[count++].bytes;
    }
    if (count) qsort(entry, count, sizeof *entry, by_use);
    for (size_t k = 0; k < count && total > most; ++k) {
        if (unlinkat(dirfd(dir), entry[k].name, 0) != 0) continue;
        total -= entry[k].bytes;
    }
    free(entry);
    if (dir) closedir(dir);
}

void pli_cache_store(const char *folder, const PliKey *key, const PliArchive *a, uint64_t most)
{
    char path[1100];
    PliError err;
    if (a->failed || sizeof(Head) + a->bytes > most || !file_name(folder, key, path, sizeof path)) return;
    if (pli_folder_make(folder, &err) != PLI_OK) return;
    Head head = { .key = { key->word[0], key->word[1] },
                  .bytes = a->bytes,
                  .sum = pli_hash(PLI_HASH_SEED, a->data, a->bytes),
                  .when = (int64_t)time(NULL) };
    memcpy(head.magic, magic, sizeof magic);
    unsigned char *whole = malloc(sizeof head + a->bytes);
    if (!whole) return;
    memcpy(whole, &head, sizeof head);
    memcpy(whole + sizeof head, a->data, a->bytes);
    if (pli_file_replace(path, whole, sizeof head + a->bytes, &err) == PLI_OK) trim(folder, most);
    free(whole);
}
