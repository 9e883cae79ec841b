/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/scaffold/rewrite.h"

#include <ctype.h>
#include <string.h>

/// Where an element's opening tag ends: at its '>' or "/>". Quoted ones do not count.
static const char *end_of_tag(const char *p)
{
    char quote = 0;
    for (; *p; ++p) {
        if (quote) {
            if (*p == quote) quote = 0;
        } else if (*p == '"' || *p == '\'') {
            quote = *p;
        } else if (*p == '>') {
            return p[-1] == '/' ? p - 1 : p;
        }
    }
    return NULL;
}

/// The value of an attribute in [from, to), with its length; NULL: it is not there.
static const char *find_value(const char *from, const char *to, const char *name, size_t *length)
{
    const size_t n = strlen(name);
    char quote = 0;
    for (const char *p = from; p < to; ++p) {
        if (quote) {
            if (*p == quote) quote = 0;
            continue;
        }
        if (*p == '"' || *p == '\'') {
            quote = *p;
            continue;
        }
        if (!isspace((unsigned char)p[-1]) || strncmp(p, name, n) != 0) continue;
        const char *q = p + n;
        while (q < to && isspace((unsigned char)*q)) ++q;
        if (q >= to || *q != '=') continue;
        do ++q;
        while (q < to && isspace((unsigned char)*q));
        if (q >= to || (*q != '"' && *q != '\'')) continue;
        const char *end = memchr(q + 1, *q, (size_t)(to - q - 1));
        if (!end) return NULL;
        *length = (size_t)(end - q - 1);
        return q + 1;
    }
    return NULL;
}

/// The element that begins in its line and has its name, if it has one.
static const char *find_element(const char *text, const PliXml *e)
{
    const char *p = text, *name = pli_xml_get(e, "name");
    const size_t n = strlen(e->tag);
    for (int line = 1; p && line < e->line; ++line) {
        p = strchr(p, '\n');
        if (p) ++p;
    }
    for (; p && (p = strchr(p, '<')); ++p) {
        size_t length;
        if (strncmp(p + 1, e->tag, n) != 0 || (!isspace((unsigned char)p[1 + n]) && p[1 + n] != '/' && p[1 + n] != '>'))
            continue;
        const char *end = end_of_tag(p + 1);
        if (!end || !name) return end ? p : NULL;
        const char *have = find_value(p + 1 + n, end, "name", &length);
        if (have && length == strlen(name) && strncmp(have, name, length) == 0) return p;
    }
    return NULL;
}

bool pli_rewrite_attribute(PliText *text, const PliXml *element, const char *name, const char *value)
{
    const char *at = text->data ? find_element(text->data, element) : NULL;
    if (!at) return false;
    const char *from = at + 1 + strlen(element->tag), *end = end_of_tag(from);
    size_t length = 0;
    const char *old = find_value(from, end, name, &length);
    PliText fresh = { 0 };
    const char *cut = old ? old : end;
    while (!old && cut > from && isspace((unsigned char)cut[-1])) --cut;
    pli_text_print(&fresh, "%.*s", (int)(cut - text->data), text->data);
    if (!old) pli_text_print(&fresh, " %s=\"", name);
    pli_text_escape(&fresh, value);
    if (!old) pli_text_put(&fresh, "\"");
    pli_text_put(&fresh, old ? old + length : cut);
    if (fresh.failed) {
        pli_text_free(&fresh);
        return false;
    }
    pli_text_free(text);
    *text = fresh;
    return true;
}
