/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TAGS_H
#define PLI_TAGS_H

#include <pliant/base.h>

/// Node numbers of a file, which may have gaps, to indices from 0. Room is fixed at creation.
typedef struct PliTags {
    PliHost host;
    int64_t *tag;
    PliIndex *index; ///< index + 1, 0: empty
    size_t mask;
} PliTags;
PliStatus pli_tags_init(PliTags *tags, const PliHost *host, size_t count);
void pli_tags_free(PliTags *tags);
bool pli_tags_add(PliTags *tags, int64_t tag, PliIndex index); ///< false: the tag is there already
PliIndex pli_tags_find(const PliTags *tags, int64_t tag);      ///< PLI_NONE: unknown

#endif
