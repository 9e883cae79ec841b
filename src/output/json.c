/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/file.h"

enum { MAX_DEPTH = 32, SPREAD_DEPTH = 2 }; // members deeper than SPREAD_DEPTH share a line: one case, one line

PliStatus pli_json_open(PliJson *j, const char *path, PliError *err)
{
    *j = (PliJson){ .path = path };
    if (strcmp(path, "-") == 0) {
        j->out = stdout;
        return PLI_OK;
    }
    const int length = snprintf(j->temporary, sizeof j->temporary, "%s.%ld.tmp", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof j->temporary)
        return pli_refuse(err, PLI_BAD_FILE, "%.200s...: the name of the JSON file is too long", path);
    if (pli_file_is_special(path)) j->temporary[0] = '\0';
    j->out = fopen(j->temporary[0] ? j->temporary : path, "w");
    if (!j->out) return pli_refuse(err, PLI_BAD_FILE, "%s: cannot be written: %s", path, strerror(errno));
    return PLI_OK;
}

PliStatus pli_json_close(PliJson *j, PliError *err)
{
    while (j->depth > 0) pli_json_end(j);
    fputc('\n', j->out);
    bool good = fflush(j->out) == 0 && !ferror(j->out);
    int cause = errno;
    if (j->out == stdout)
        return good ? PLI_OK : pli_refuse(err, PLI_BAD_FILE, "standard output cannot be written: %s", strerror(cause));
    if (fclose(j->out) != 0 && good) good = false, cause = errno;
    if (good && j->temporary[0] && rename(j->temporary, j->path) != 0) good = false, cause = errno;
    if (good) return PLI_OK;
    if (j->temporary[0]) remove(j->temporary);
    return pli_refuse(err, PLI_BAD_FILE, "%s: cannot be written: %s", j->path, strerror(cause));
}

/// Length of the UTF-8 sequence at s, 0 when it is not one (overlong, surrogate, past U+10FFFF, cut).
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    const int n = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
                  : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                  : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                : 0;
    for (int k = 1; k < n; ++k)
        if ((s[k] & 0xc0) != 0x80) return 0; // also stops at the terminating zero
    if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
    if (s[0] == 0xed && s[1] >= 0xa0) return 0;
    if (s[0] == 0xf0 && s[1] < 0x90) return 0;
    if (s[0] == 0xf4 && s[1] >= 0x90) return 0;
    return n;
}

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const int n = utf8_length(s);
        if (n == 0) {
            fputs("\\ufffd", out);
            ++s;
            continue;
        }
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", out);
        else if (*s == '\t')
            fputs("\\t", out);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)n, out);
        s += n;
    }
    fputc('"', out);
}

/// Comma, line and key before a value.
static void start_value(PliJson *j, const char *key)
{
    if (j->depth > 0) {
        const bool spread = j->depth <= SPREAD_DEPTH;
        if (j->filled[j->depth]) fputs(spread ? "," : ", ", j->out);
        if (spread) fprintf(j->out, "\n%*s", 2 * j->depth, "");
        j->filled[j->depth] = true;
    }
    if (key) {
        write_string(j->out, key);
        fputs(": ", j->out);
    }
}

static void begin(PliJson *j, const char *key, char opener, char closer)
{
    start_value(j, key);
    fputc(opener, j->out);
    if (j->depth + 1 >= MAX_DEPTH) abort(); // our own code nests 3 deep
    j->depth++;
    j->filled[j->depth] = false;
    j->closer[j->depth] = closer;
}

void pli_json_begin_object(PliJson *j, const char *key) { begin(j, key, '{', '}'); }
void pli_json_begin_array(PliJson *j, const char *key) { begin(j, key, '[', ']'); }

void pli_json_end(PliJson *j)
{
    if (j->filled[j->depth] && j->depth <= SPREAD_DEPTH) fprintf(j->out, "\n%*s", 2 * (j->depth - 1), "");
    fputc(j->closer[j->depth], j->out);
    j->depth--;
}

void pli_json_string(PliJson *j, const char *key, const char *value)
{
    start_value(j, key);
    if (value)
        write_string(j->out, value);
    else
        fputs("null", j->out);
}

void pli_json_number(PliJson *j, const char *key, double value)
{
    start_value(j, key);
    if (!isfinite(value)) {
        fputs("null", j->out);
        return;
    }
    char text[40];
    for (int digits = 15; digits <= 17; ++digits) { // 0.1 stays 0.1, and every double reads back
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, j->out);
}

void pli_json_integer(PliJson *j, const char *key, int64_t value)
{
    start_value(j, key);
    fprintf(j->out, "%" PRId64, value);
}

void pli_json_hash(PliJson *j, const char *key, uint64_t value)
{
    start_value(j, key);
    fprintf(j->out, "\"%016" PRIx64 "\"", value);
}

void pli_json_bool(PliJson *j, const char *key, bool value)
{
    start_value(j, key);
    fputs(value ? "true" : "false", j->out);
}
