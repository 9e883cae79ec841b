/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/tags.h"

#include "base/hash.h"
#include "base/memory.h"

PliStatus pli_tags_init(PliTags *t, const PliHost *host, size_t count)
{
    size_t size = 16;
    while (size < count + count / 2) size *= 2;
    *t = (PliTags){ .host = *host, .mask = size - 1 };
    t->tag = PLI_NEW(host, size, int64_t);
    t->index = PLI_NEW(host, size, PliIndex);
    if (t->tag && t->index) return PLI_OK;
    pli_tags_free(t);
    return PLI_OUT_OF_MEMORY;
}

void pli_tags_free(PliTags *t)
{
    if (!t->tag && !t->index) return;
    PLI_FREE(&t->host, t->tag, t->mask + 1);
    PLI_FREE(&t->host, t->index, t->mask + 1);
    t->tag = NULL, t->index = NULL;
}

static size_t find_slot(const PliTags *t, int64_t tag)
{
    uint64_t state = (uint64_t)tag;
    size_t s = (size_t)pli_random(&state) & t->mask;
    while (t->index[s] && t->tag[s] != tag) s = (s + 1) & t->mask;
    return s;
}

bool pli_tags_add(PliTags *t, int64_t tag, PliIndex index)
{
    const size_t s = find_slot(t, tag);
    if (t->index[s]) return false;
    t->tag[s] = tag, t->index[s] = index + 1;
    return true;
}

PliIndex pli_tags_find(const PliTags *t, int64_t tag)
{
    if (!t->index) return PLI_NONE;
    return t->index[find_slot(t, tag)] - 1;
}
