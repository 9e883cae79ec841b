/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_REPORT_FILE_H
#define PLI_REPORT_FILE_H

// Text that grows, and files that are either whole or not there.

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Puts `data` in place of the file: written under a temporary name beside it, then renamed. A failure (read-only folder,
/// full disk) leaves an old file as it was and is one sentence.
PliStatus pli_file_replace(const char *path, const void *data, size_t bytes, PliError *err);
/// A device or pipe, which must be written as it is: renaming onto it would put a file in its place.
bool pli_file_is_special(const char *path);
/// Makes a folder and its parents. Fine when it is there already.
PliStatus pli_folder_make(const char *path, PliError *err);

/// Grows as needed; after a failed allocation it stays as it is and `failed` is set, so that one check at the end is enough.
typedef struct PliText {
    char *data; ///< zero-terminated, NULL before the first write
    size_t bytes, capacity;
    bool failed;
} PliText;
void pli_text_free(PliText *t);
void pli_text_put(PliText *t, const char *text);
void pli_text_print(PliText *t, const char *format, ...) PLI_PRINTF(2, 3);
void pli_text_escape(PliText *t, const char *text); ///< for HTML and SVG: & < > " '
void pli_text_base64(PliText *t, const unsigned char *data, size_t bytes);
void pli_text_csv(PliText *t, const char *text); ///< one CSV field, quoted when it has to be
PliStatus pli_text_write(const PliText *t, const char *path, PliError *err);

#ifdef __cplusplus
}
#endif
#endif
