/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/source.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

enum { MAX_WORD = 400 }; ///< longest number text

/// More records than this are refused whatever the size of the file: indices are 32 bits and products must fit.
static const int64_t max_count = 1000000000;

// ---- opening ---------------------------------------------------------------------------------------------------

PliStatus pli_source_wrap(PliSource *s, const PliHost *host, const char *path, const void *bytes, size_t size,
                          PliError *err)
{
    *s = (PliSource){ .host = *host, .path = path, .err = err, .data = bytes, .size = size, .line = 1, .mark_line = 1 };
    s->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (s->locale == (locale_t)0) return pli_refuse(err, PLI_OUT_OF_MEMORY, "%s: no memory for a locale", path);
    return PLI_OK;
}

static PliStatus load(const PliHost *host, const char *path, FILE *file, unsigned char **bytes, size_t *size,
                      PliError *err)
{
    struct stat info;
    if (fstat(fileno(file), &info) != 0)
        return pli_refuse(err, PLI_BAD_FILE, "%s: cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode)) return pli_refuse(err, PLI_BAD_FILE, "%s: is not a regular file", path);
    *size = (size_t)info.st_size;
    if (*size == 0) return pli_refuse(err, PLI_BAD_FILE, "%s: is empty", path);
    *bytes = PLI_NEW(host, *size, unsigned char);
    if (!*bytes) return pli_refuse(err, PLI_OUT_OF_MEMORY, "%s: no memory for %zu bytes", path, *size);
    if (fread(*bytes, 1, *size, file) != *size) {
        PLI_FREE(host, *bytes, *size);
        return pli_refuse(err, PLI_BAD_FILE, "%s: ended before its %zu bytes were read", path, *size);
    }
    return PLI_OK;
}

PliStatus pli_source_open(PliSource *s, const PliHost *host, const char *path, PliError *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) return pli_refuse(err, PLI_BAD_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    unsigned char *bytes = NULL;
    size_t size = 0;
    PliStatus status = load(host, path, file, &bytes, &size, err);
    fclose(file);
    if (status != PLI_OK) return status;
    status = pli_source_wrap(s, host, path, bytes, size, err);
    if (status == PLI_OK)
        s->owned = bytes;
    else
        PLI_FREE(host, bytes, size);
    return status;
}

PliSource pli_source_part(const PliSource *parent, const void *bytes, size_t size)
{
    PliSource s = *parent;
    s.data = bytes, s.size = size, s.at = 0, s.mark = 0;
    s.binary = true, s.pinned = true, s.owned = NULL;
    return s;
}

void pli_source_close(PliSource *s)
{
    PLI_FREE(&s->host, s->owned, s->size);
    if (s->locale != (locale_t)0) freelocale(s->locale);
    s->owned = NULL, s->locale = (locale_t)0;
}

// ---- refusing --------------------------------------------------------------------------------------------------

static void refuse(PliSource *s, PliStatus status, const char *format, va_list args)
{
    char cause[300];
    vsnprintf(cause, sizeof cause, format, args);
    // the end of a long path is the part that tells files apart
    const size_t length = strlen(s->path);
    const char *path = length > 200 ? s->path + length - 200 : s->path, *dots = length > 200 ? "..." : "";
    if (s->offsets && !s->pinned)
        pli_refuse(s->err, status, "%s%s: offset %zu: %s", dots, path, s->mark, cause);
    else
        pli_refuse(s->err, status, "%s%s:%zu: %s", dots, path, s->mark_line, cause);
}

bool pli_source_refuse(PliSource *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse(s, PLI_BAD_FILE, format, args);
    va_end(args);
    return false;
}

bool pli_source_refuse_as(PliSource *s, PliStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse(s, status, format, args);
    va_end(args);
    return false;
}

bool pli_source_no_memory(PliSource *s) { return pli_source_refuse_as(s, PLI_OUT_OF_MEMORY, "no memory for the mesh"); }

PliQuote pli_source_quote(PliSlice w)
{
    PliQuote q;
    size_t n = w.size < 40 ? w.size : 40;
    for (size_t i = 0; i < n; ++i) q.text[i] = w.text[i] > ' ' && w.text[i] < 127 ? w.text[i] : '?';
    if (w.size > n) q.text[n++] = '.', q.text[n++] = '.', q.text[n++] = '.';
    q.text[n] = 0;
    return q;
}

// ---- words -----------------------------------------------------------------------------------------------------

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }
static bool is_end(unsigned char c) { return c == '\n' || c == '\r'; }
static bool is_blank(unsigned char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

bool pli_slice_is(PliSlice s, const char *word) { return strlen(word) == s.size && memcmp(s.text, word, s.size) == 0; }

bool pli_slice_like(PliSlice s, const char *word)
{
    if (strlen(word) != s.size) return false;
    for (size_t i = 0; i < s.size; ++i)
        if (lower(s.text[i]) != lower(word[i])) return false;
    return true;
}

/// Passes one line end: LF, CRLF or a lone CR.
static void pass_end(PliSource *s)
{
    if (s->data[s->at] == '\r' && s->at + 1 < s->size && s->data[s->at + 1] == '\n') s->at++;
    s->at++;
    s->line++;
}

static void pass_blanks(PliSource *s)
{
    while (s->at < s->size && is_blank(s->data[s->at])) s->at++;
}

bool pli_source_word_in_line(PliSource *s, PliSlice *word)
{
    pass_blanks(s);
    s->mark = s->at, s->mark_line = s->line;
    while (s->at < s->size && !is_blank(s->data[s->at]) && !is_end(s->data[s->at])) s->at++;
    *word = (PliSlice){ (const char *)s->data + s->mark, s->at - s->mark };
    return word->size > 0;
}

bool pli_source_word(PliSource *s, PliSlice *word)
{
    while (!pli_source_word_in_line(s, word)) {
        if (s->at >= s->size) return false;
        pass_end(s);
    }
    return true;
}

void pli_source_next_line(PliSource *s)
{
    while (s->at < s->size && !is_end(s->data[s->at])) s->at++;
    if (s->at < s->size) pass_end(s);
}

bool pli_source_end_line(PliSource *s)
{
    PliSlice word;
    if (pli_source_word_in_line(s, &word))
        return pli_source_refuse(s, "expected the end of the line, found \"%s\"", pli_source_quote(word).text);
    if (s->at < s->size) pass_end(s);
    return true;
}

bool pli_source_expect(PliSource *s, const char *wanted)
{
    PliSlice word;
    if (!pli_source_word(s, &word)) return pli_source_refuse(s, "the file ends where \"%s\" was expected", wanted);
    if (!pli_slice_is(word, wanted))
        return pli_source_refuse(s, "expected \"%s\", found \"%s\"", wanted, pli_source_quote(word).text);
    return true;
}

bool pli_source_skip_past(PliSource *s, const char *text)
{
    const size_t size = strlen(text);
    size_t line = s->line;
    for (size_t i = s->at; i < s->size && s->size - i >= size; ++i) {
        const bool starts = i == 0 || is_end(s->data[i - 1]);
        if (starts && s->data[i] == (unsigned char)text[0] && memcmp(s->data + i, text, size) == 0) {
            s->at = i + size, s->line = line;
            return true;
        }
        line += s->data[i] == '\n' || (s->data[i] == '\r' && i + 1 < s->size && s->data[i + 1] != '\n');
    }
    return false;
}

// ---- numbers ---------------------------------------------------------------------------------------------------

size_t pli_scalar_size(PliScalar type)
{
    static const unsigned char size[] = { 1, 1, 2, 2, 4, 4, 8, 8, 4, 8 };
    return size[type];
}

const unsigned char *pli_source_bytes(PliSource *s, const char *what, size_t size)
{
    s->mark = s->at;
    if (!s->pinned) s->mark_line = s->line;
    if (pli_source_left(s) < size) {
        pli_source_refuse(s, "%s: %zu bytes are wanted, but only %zu are left", what, size, pli_source_left(s));
        return NULL;
    }
    s->at += size;
    return s->data + s->mark;
}

/// One raw number, whichever type: integers exactly in *i, reals in *r.
static bool take_raw(PliSource *s, const char *what, PliScalar type, int64_t *i, double *r)
{
    const size_t size = pli_scalar_size(type);
    const unsigned char *from = pli_source_bytes(s, what, size);
    if (!from) return false;
    unsigned char b[8];
    for (size_t k = 0; k < size; ++k) b[k] = from[s->swap ? size - 1 - k : k];
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
    } v;
    memcpy(&v, b, size);
    switch (type) {
    case PLI_I8: *i = v.i8; break;
    case PLI_U8: *i = v.u8; break;
    case PLI_I16: *i = v.i16; break;
    case PLI_U16: *i = v.u16; break;
    case PLI_I32: *i = v.i32; break;
    case PLI_U32: *i = v.u32; break;
    case PLI_I64: *i = v.i64; break;
    case PLI_U64:
        if (v.u64 > INT64_MAX) return pli_source_refuse(s, "%s: %llu is too large", what, (unsigned long long)v.u64);
        *i = v.i64;
        break;
    case PLI_F32: *r = v.f32; return true;
    case PLI_F64: *r = v.f64; return true;
    }
    *r = (double)*i;
    return true;
}

bool pli_source_parse_int(PliSource *s, const char *what, PliSlice w, int64_t *value)
{
    size_t i = w.size > 0 && (w.text[0] == '-' || w.text[0] == '+');
    bool good = w.size > i && w.size <= MAX_WORD;
    int64_t n = 0; // negative, which has the wider range
    for (; good && i < w.size; ++i) {
        const int digit = w.text[i] - '0';
        good = digit >= 0 && digit <= 9 && n >= (INT64_MIN + digit) / 10;
        if (good) n = 10 * n - digit;
    }
    if (good && w.text[0] != '-') {
        good = n != INT64_MIN;
        if (good) n = -n;
    }
    if (!good) return pli_source_refuse(s, "%s: \"%s\" is not a whole number", what, pli_source_quote(w).text);
    *value = n;
    return true;
}

/// Fewer than 16 digits and a small exponent: one exactly rounded operation on exact operands (Clinger 1990).
static bool parse_short_real(PliSlice w, double *value)
{
    static const double ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    size_t i = w.text[0] == '-' || w.text[0] == '+';
    int64_t mantissa = 0;
    int digits = 0, power = 0, exponent = 0;
    bool point = false;
    for (; i < w.size && w.text[i] != 'e' && w.text[i] != 'E'; ++i) {
        if (w.text[i] == '.') {
            point = true;
            continue;
        }
        mantissa = 10 * mantissa + (w.text[i] - '0');
        if (mantissa && ++digits > 15) return false;
        power -= point;
    }
    if (i < w.size) {
        const char sign = w.text[i + 1];
        for (i += sign == '-' || sign == '+' ? 2 : 1; i < w.size; ++i) {
            exponent = 10 * exponent + (w.text[i] - '0');
            if (exponent > 1000) return false;
        }
        power += sign == '-' ? -exponent : exponent;
    }
    if (power < -22 || power > 22) return false;
    const double v = power < 0 ? (double)mantissa / ten[-power] : (double)mantissa * ten[power];
    *value = w.text[0] == '-' ? -v : v;
    return true;
}

/// [sign] digits [. digits] [e [sign] digits], with at least one digit before the exponent.
static bool is_real_text(PliSlice w)
{
    size_t i = w.size > 0 && (w.text[0] == '-' || w.text[0] == '+'), digits = 0;
    bool point = false;
    for (; i < w.size && w.text[i] != 'e' && w.text[i] != 'E'; ++i) {
        if (w.text[i] == '.' && !point)
            point = true;
        else if (w.text[i] >= '0' && w.text[i] <= '9')
            digits++;
        else
            return false;
    }
    if (i == w.size) return digits > 0;
    i++;
    if (i < w.size && (w.text[i] == '-' || w.text[i] == '+')) i++;
    const size_t start = i;
    while (i < w.size && w.text[i] >= '0' && w.text[i] <= '9') i++;
    return digits > 0 && i == w.size && i > start;
}

bool pli_source_parse_real(PliSource *s, const char *what, PliSlice w, double *value)
{
    if (w.size > MAX_WORD || !is_real_text(w))
        return pli_source_refuse(s, "%s: \"%s\" is not a finite number", what, pli_source_quote(w).text);
    if (parse_short_real(w, value)) return true;
    char text[MAX_WORD + 1];
    memcpy(text, w.text, w.size);
    text[w.size] = 0;
    const locale_t old = uselocale(s->locale); // of this thread only
    *value = strtod(text, NULL);
    uselocale(old);
    if (!isfinite(*value)) return pli_source_refuse(s, "%s: \"%s\" is out of range", what, pli_source_quote(w).text);
    return true;
}

static bool take_word(PliSource *s, const char *what, PliSlice *word)
{
    if (!pli_source_word(s, word)) return pli_source_refuse(s, "the file ends where %s was expected", what);
    return true;
}

bool pli_source_int(PliSource *s, const char *what, PliScalar type, int64_t *value)
{
    PliSlice word;
    if (!s->binary) return take_word(s, what, &word) && pli_source_parse_int(s, what, word, value);
    double real = 0.0;
    if (!take_raw(s, what, type, value, &real)) return false;
    if (type != PLI_F32 && type != PLI_F64) return true;
    if (!(real >= -9e15 && real <= 9e15) || real != floor(real))
        return pli_source_refuse(s, "%s: %g is not a whole number", what, real);
    *value = (int64_t)real;
    return true;
}

bool pli_source_real(PliSource *s, const char *what, PliScalar type, double *value)
{
    PliSlice word;
    if (!s->binary) return take_word(s, what, &word) && pli_source_parse_real(s, what, word, value);
    int64_t whole = 0;
    if (!take_raw(s, what, type, &whole, value)) return false;
    if (!isfinite(*value)) return pli_source_refuse(s, "%s: %g is not a finite number", what, *value);
    return true;
}

bool pli_source_check_count(PliSource *s, const char *what, int64_t count, size_t min_bytes, size_t *checked)
{
    if (count < 0 || count > max_count)
        return pli_source_refuse(s, "%s is %lld, it must be in 0 .. %lld", what, (long long)count,
                                 (long long)max_count);
    // one byte of grace: the last word of a file needs no separator
    if ((uint64_t)count > (pli_source_left(s) + 1) / min_bytes)
        return pli_source_refuse(s, "%s is %lld, but only %zu bytes are left, at least %zu for each", what,
                                 (long long)count, pli_source_left(s), min_bytes);
    *checked = (size_t)count;
    return true;
}

bool pli_source_count(PliSource *s, const char *what, PliScalar type, size_t min_bytes, size_t *count)
{
    int64_t n;
    return pli_source_int(s, what, type, &n) && pli_source_check_count(s, what, n, min_bytes, count);
}
