/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/graph/value.h"
#include "base/memory.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANGE = 50000000 }; // "0-4000000000" must not fill the memory

static const char *blanks(const char *p) { return p + strspn(p, " \t\r\n"); }

static PliStatus push_real(PliData *d, double value)
{
    if (d->count == d->capacity) {
        PliStatus status = pli_reserve_data(d, d->count ? 2 * d->count : 8);
        if (status) return status;
    }
    d->real[d->count++] = value;
    return PLI_OK;
}

static PliStatus push_index(PliData *d, PliIndex value)
{
    if (d->count == d->capacity) {
        PliStatus status = pli_reserve_data(d, d->count ? 2 * d->count : 8);
        if (status) return status;
    }
    d->index[d->count++] = value;
    return PLI_OK;
}

static PliStatus parse_reals(PliData *d, const char *text, PliError *err)
{
    for (const char *p = blanks(text); *p; p = blanks(p)) {
        double value;
        const char *end = pli_parse_number(p, &value);
        if (end && *end && d->row->kind == PLI_REAL && *end == d->row->sign) end++;
        if (!end || (*end && !strchr(" \t\r\n", *end)))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: \"%.*s\" is not a finite number", d->row->name,
                              (int)strcspn(p, " \t\r\n") < 40 ? (int)strcspn(p, " \t\r\n") : 40, p);
        PliStatus status = push_real(d, value);
        if (status) return pli_refuse(err, status, "%s: no memory for %zu numbers", d->row->name, d->count);
        p = end;
    }
    return PLI_OK;
}

// One word of an index list: "7", "2-9", "2-20-3" (first, last, increment; both ends are in, as in SOFA).
static PliStatus parse_range(PliData *d, const char *word, size_t n, PliError *err)
{
    char copy[48];
    if (n >= sizeof copy) return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: \"%.40s\" is not an index", d->row->name, word);
    memcpy(copy, word, n);
    copy[n] = '\0';
    char *end;
    long long first = strtoll(copy, &end, 10), last = first, step = 0;
    bool good = end != copy;
    if (good && *end == '-') {
        char *from = end + 1;
        last = strtoll(from, &end, 10);
        good = end != from;
        if (good && *end == '-') {
            from = end + 1;
            step = strtoll(from, &end, 10);
            good = end != from;
        }
    }
    if (!good || *end) return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: \"%s\" is not an index", d->row->name, copy);
    if (first < 0 || last < 0 || first >= PLI_NONE || last >= PLI_NONE)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: index %s is out of range", d->row->name, copy);
    if (step == 0) step = first <= last ? 1 : -1;
    if (step <= -(long long)PLI_NONE || step >= (long long)PLI_NONE)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: the increment of %s is out of range", d->row->name, copy);
    if (step > 0 ? last < first : last > first) {
        long long swap = first;
        first = last;
        last = swap;
    }
    if (llabs((last - first) / step) > MAX_RANGE)
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s: the range %s is too long", d->row->name, copy);
    for (long long i = first; step > 0 ? i <= last : i >= last; i += step) {
        PliStatus status = push_index(d, (PliIndex)i);
        if (status) return pli_refuse(err, status, "%s: no memory for %zu indices", d->row->name, d->count);
    }
    return PLI_OK;
}

static PliStatus parse_indices(PliData *d, const char *text, PliError *err)
{
    for (const char *p = blanks(text); *p; p = blanks(p)) {
        size_t n = strcspn(p, " \t\r\n");
        PliStatus status = parse_range(d, p, n, err);
        if (status) return status;
        p += n;
    }
    return PLI_OK;
}

static bool parse_bool(const char *text, double *value)
{
    const char *p = blanks(text);
    size_t n = strcspn(p, " \t\r\n");
    if ((n == 1 && (*p == '1' || *p == 't' || *p == 'T')) ||
        (n == 4 && (memcmp(p, "true", 4) == 0 || memcmp(p, "True", 4) == 0)))
        return *value = 1.0, true;
    if ((n == 1 && (*p == '0' || *p == 'f' || *p == 'F')) ||
        (n == 5 && (memcmp(p, "false", 5) == 0 || memcmp(p, "False", 5) == 0)))
        return *value = 0.0, true;
    double number;
    if (!pli_parse_number(p, &number)) return false;
    return *value = number != 0.0 ? 1.0 : 0.0, true;
}

PliStatus pli_value_parse(PliData *d, const char *text, PliError *err)
{
    d->count = 0;
    d->version++;
    PliStatus status = PLI_OK;
    switch (d->row->kind) {
    case PLI_BOOL: {
        double value;
        if (!parse_bool(text, &value))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=\"%.40s\" must be 0 or 1", d->row->name, text);
        return push_real(d, value);
    }
    case PLI_INT:
    case PLI_REAL:
    case PLI_VEC3: {
        status = parse_reals(d, text, err);
        if (status) return status;
        size_t want = d->row->kind == PLI_VEC3 ? 3 : 1;
        // SOFA takes a single number for a scalar and stops; three for a vector
        if (d->count < want) {
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=\"%.40s\" needs %zu number%s", d->row->name, text, want,
                              want > 1 ? "s" : "");
        }
        if (d->row->kind == PLI_INT && (d->real[0] != floor(d->real[0]) || fabs(d->real[0]) > INT_MAX))
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=\"%.40s\" must be a whole number of at most %d", d->row->name,
                              text, INT_MAX);
        d->count = want;
        return PLI_OK;
    }
    case PLI_REALS: return parse_reals(d, text, err);
    case PLI_POINTS:
        status = parse_reals(d, text, err);
        if (!status && d->count % 3)
            return pli_refuse(err, PLI_BAD_ARGUMENT, "%s has %zu numbers, which is no multiple of 3", d->row->name,
                              d->count);
        return status;
    case PLI_INDICES: return parse_indices(d, text, err);
    case PLI_OPTION: {
        if (!d->row->options) return PLI_OK;
        const char *p = blanks(text);
        size_t n = strcspn(p, " \t\r\n");
        int number = 0;
        for (const char *w = d->row->options; *w; ++number) {
            size_t m = strcspn(w, " ");
            if (m == n && strncmp(w, p, n) == 0) return push_real(d, number);
            w += m + (w[m] == ' ');
        }
        return pli_refuse(err, PLI_BAD_ARGUMENT, "%s=\"%.40s\" must be one of: %s", d->row->name, text,
                          d->row->options);
    }
    default: return PLI_OK;
    }
}

bool pli_value_same(PliKind kind, const char *a, const char *b)
{
    double x, y;
    if (kind == PLI_BOOL) return parse_bool(a, &x) && parse_bool(b, &y) && x == y;
    for (;;) {
        a = blanks(a);
        b = blanks(b);
        if (!*a || !*b) return !*a && !*b;
        size_t n = strcspn(a, " \t\r\n"), m = strcspn(b, " \t\r\n");
        const char *ea = pli_parse_number(a, &x), *eb = pli_parse_number(b, &y);
        bool numbers = ea == a + n && eb == b + m;
        if (numbers ? x != y : n != m || memcmp(a, b, n) != 0) return false;
        a += n;
        b += m;
    }
}
