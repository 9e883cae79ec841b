/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_MEMORY_H
#define PLI_MEMORY_H

#include <pliant/base.h>

// Memory from the host, zeroed. Sizes travel with the call, as in PliHost.release.
void *pli_alloc(const PliHost *host, size_t count, size_t size); ///< NULL on failure or when count*size overflows
void pli_free(const PliHost *host, void *block, size_t count, size_t size);

#define PLI_NEW(host, count, type) ((type *)pli_alloc((host), (count), sizeof(type)))
#define PLI_FREE(host, block, count) pli_free((host), (block), (count), sizeof *(block))

/// Growing array for set-up code (never in a step). Amortised doubling.
#define PLI_GROW(host, array, count, capacity)                                                                         \
    ((count) < (capacity) || pli_grow((host), (void **)&(array), &(capacity), sizeof *(array)))
/// Room for `count` items, contents lost when it grows; a quarter in reserve, so that the next pattern of about that size fits. Not for
/// steps of a fixed active set.
bool pli_reserve(const PliHost *host, void **array, size_t *capacity, size_t count, size_t size);
bool pli_grow(const PliHost *host, void **array, size_t *capacity, size_t size);

#endif
