/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_JSON_H
#define PLI_JSON_H

#include <stdio.h>

#include <pliant/base.h>

/// Writes JSON as it is told, without a tree. Keys are NULL inside arrays. Numbers read back as the same double; NaN and
/// infinities, which JSON lacks, become null. Bytes that are not UTF-8 become U+FFFD.
typedef struct PliJson {
    FILE *out;
    const char *path; ///< borrowed until close; "-": standard output
    char temporary[512];
    int depth;
    bool filled[32]; ///< something was written at this depth
    char closer[32];
} PliJson;

/// Opens `path` under a temporary name beside it: an old file stays whole until close. "-" is standard output.
PliStatus pli_json_open(PliJson *j, const char *path, PliError *err);
/// Ends the document and puts it in place. A failed write is refused, and the old file is kept.
PliStatus pli_json_close(PliJson *j, PliError *err);

void pli_json_begin_object(PliJson *j, const char *key);
void pli_json_begin_array(PliJson *j, const char *key);
void pli_json_end(PliJson *j);                                        ///< the innermost object or array
void pli_json_string(PliJson *j, const char *key, const char *value); ///< NULL: null
void pli_json_number(PliJson *j, const char *key, double value);
void pli_json_integer(PliJson *j, const char *key, int64_t value);
void pli_json_hash(PliJson *j, const char *key, uint64_t value); ///< 16 hexadecimal digits, as a string
void pli_json_bool(PliJson *j, const char *key, bool value);

#endif
