/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/memory.h"

#include <stdint.h>
#include <string.h>

enum { ALIGN = 64 };

void *pli_alloc(const PliHost *host, size_t count, size_t size)
{
    if (count == 0) count = 1;
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    void *block = host->alloc(count * size, ALIGN, host->user);
    if (block) memset(block, 0, count * size);
    return block;
}

void pli_free(const PliHost *host, void *block, size_t count, size_t size)
{
    if (!block) return;
    host->release(block, (count ? count : 1) * size, host->user);
}

bool pli_reserve(const PliHost *host, void **array, size_t *capacity, size_t count, size_t size)
{
    if (*array && count <= *capacity) return true;
    pli_free(host, *array, *capacity, size);
    *capacity = count + count / 4 + 16;
    *array = pli_alloc(host, *capacity, size);
    if (!*array) *capacity = 0;
    return *array != NULL;
}

bool pli_grow(const PliHost *host, void **array, size_t *capacity, size_t size)
{
    size_t wider = *capacity ? *capacity * 2 : 64;
    void *block = pli_alloc(host, wider, size);
    if (!block) return false;
    if (*array) {
        memcpy(block, *array, *capacity * size);
        pli_free(host, *array, *capacity, size);
    }
    *array = block;
    *capacity = wider;
    return true;
}
