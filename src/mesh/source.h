/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SOURCE_H
#define PLI_SOURCE_H

#include <pliant/base.h>

#include <locale.h>

// The bytes of one file, read in order: words and numbers of a text, or numbers of a binary block. Only this and the
// XML scanner look at raw bytes: every read is checked against the end, and every refusal says where it happened.

/// Types a binary block may hold; a text has only the value.
typedef enum PliScalar {
    PLI_I8,
    PLI_U8,
    PLI_I16,
    PLI_U16,
    PLI_I32,
    PLI_U32,
    PLI_I64,
    PLI_U64,
    PLI_F32,
    PLI_F64
} PliScalar;
size_t pli_scalar_size(PliScalar type);

/// A word inside the source, not terminated; valid as long as the source.
typedef struct PliSlice {
    const char *text;
    size_t size;
} PliSlice;
bool pli_slice_is(PliSlice slice, const char *word);
bool pli_slice_like(PliSlice slice, const char *word); ///< ignores ASCII case

typedef struct PliSource {
    PliHost host;
    const char *path; ///< as the user wrote it, for messages
    PliError *err;
    const unsigned char *data;
    size_t size, at;
    size_t line;      ///< of `at`, from 1
    size_t mark_line; ///< where the last word or number began: what a refusal names
    size_t mark;
    bool binary;          ///< numbers are raw bytes at `at`, else words
    bool swap;            ///< raw numbers have the other byte order
    bool offsets;         ///< the file has binary parts: refusals name the byte offset, lines mean nothing
    bool pinned;          ///< refusals name mark_line as it is: `data` was decoded from there
    unsigned char *owned; ///< loaded file, or NULL when the bytes are borrowed
    locale_t locale;      ///< "C", for the slow path of real numbers
} PliSource;

/// Loads a regular file. On refusal there is nothing to close.
PliStatus pli_source_open(PliSource *s, const PliHost *host, const char *path, PliError *err);
/// The same over borrowed bytes.
PliStatus pli_source_wrap(PliSource *s, const PliHost *host, const char *path, const void *bytes, size_t size,
                          PliError *err);
/// Decoded bytes of a part of `parent` (borrowed), binary; refusals name the parent's last mark. Needs no close.
PliSource pli_source_part(const PliSource *parent, const void *bytes, size_t size);
void pli_source_close(PliSource *s);

/// `path:line: sentence` or `path: offset N: sentence`. Always false: a check reads `return pli_source_refuse(...)`.
bool pli_source_refuse(PliSource *s, const char *format, ...) PLI_PRINTF(2, 3);
bool pli_source_refuse_as(PliSource *s, PliStatus status, const char *format, ...) PLI_PRINTF(3, 4);
bool pli_source_no_memory(PliSource *s);

/// Printable copy of at most 40 characters of a word, for messages.
typedef struct PliQuote {
    char text[48];
} PliQuote;
PliQuote pli_source_quote(PliSlice slice);

static inline size_t pli_source_left(const PliSource *s) { return s->size - s->at; }
bool pli_source_word(PliSource *s, PliSlice *word);         ///< next word on any line; false at the end
bool pli_source_word_in_line(PliSource *s, PliSlice *word); ///< false at the end of the line, which is not passed
void pli_source_next_line(PliSource *s);
bool pli_source_end_line(PliSource *s);                 ///< refuses unless only blanks are left on the line
bool pli_source_expect(PliSource *s, const char *word); ///< refuses unless it is the next word
/// Past the next `text` that begins a line; false when there is none (nothing moved).
bool pli_source_skip_past(PliSource *s, const char *text);

/// One number: a word, or raw bytes of the given type. `what` names it in the refusal.
bool pli_source_int(PliSource *s, const char *what, PliScalar type, int64_t *value);
bool pli_source_real(PliSource *s, const char *what, PliScalar type, double *value);
bool pli_source_parse_int(PliSource *s, const char *what, PliSlice word, int64_t *value);
bool pli_source_parse_real(PliSource *s, const char *what, PliSlice word, double *value); ///< finite, or refused
/// A count of records of at least `min_bytes` each: more than what is left is refused before anything is allocated.
bool pli_source_count(PliSource *s, const char *what, PliScalar type, size_t min_bytes, size_t *count);
bool pli_source_check_count(PliSource *s, const char *what, int64_t count, size_t min_bytes, size_t *checked);
const unsigned char *pli_source_bytes(PliSource *s, const char *what, size_t size); ///< NULL: refused

#endif
