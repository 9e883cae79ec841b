/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_COMPARE_CACHE_H
#define PLI_COMPARE_CACHE_H

// Runs that need not be made again: files named by a hash of everything that decides what is in them. A file that is cut off,
// damaged or of another key is no hit. Nothing here is an error: without a folder, or with a full disk, runs are made again.

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// 128 bits of everything that was added, in its order.
typedef struct PliKey {
    uint64_t word[2];
    bool unknown; ///< something could not be read: no file has this key
} PliKey;
PliKey pli_key_begin(void);
void pli_key_add(PliKey *key, const void *data, size_t bytes);
void pli_key_text(PliKey *key, const char *text); ///< NULL counts as ""
void pli_key_file(PliKey *key, const char *path); ///< what is in the file, not its name
/// The running program: every file of code it has loaded, the mathematical functions of the system among them.
void pli_key_program(PliKey *key);

/// Data on its way into a file or out of it. One description serves both ways.
typedef struct PliArchive {
    bool reading, failed;
    unsigned char *data;
    size_t bytes, capacity, at;
} PliArchive;
void pli_archive_raw(PliArchive *a, void *data, size_t bytes);
/// Reading, the array is made (malloc, also for none) and returned; writing, it is the one given.
void *pli_archive_array(PliArchive *a, void *array, size_t count, size_t size);
void pli_archive_free(PliArchive *a);

/// $XDG_CACHE_HOME/pliant, else ~/.cache/pliant. false: neither is set.
bool pli_cache_folder(char *path, size_t size);
/// true: `a` holds what was stored under this key, to be read from its beginning. `when`: s since 1970, when it was stored.
bool pli_cache_load(const char *folder, const PliKey *key, PliArchive *a, int64_t *when);
/// Stores it, whole or not at all, and removes the files that were not used for longest while all of them together have more
/// than `most` bytes.
void pli_cache_store(const char *folder, const PliKey *key, const PliArchive *a, uint64_t most);
void pli_cache_drop(const char *folder, const PliKey *key); ///< what was loaded turned out to be of no use

#ifdef __cplusplus
}
#endif
#endif
