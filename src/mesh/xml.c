/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/xml.h"

#include <string.h>

static bool is_space(unsigned char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_name(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == ':' || c == '.';
}

static int peek(const PliSource *s) { return s->at < s->size ? s->data[s->at] : -1; }

static void pass(PliSource *s)
{
    s->line += s->data[s->at] == '\n';
    s->at++;
}

static void pass_space(PliSource *s)
{
    while (s->at < s->size && is_space(s->data[s->at])) pass(s);
}

static bool begins(const PliSource *s, const char *text)
{
    const size_t size = strlen(text);
    return pli_source_left(s) >= size && memcmp(s->data + s->at, text, size) == 0;
}

/// Past the next `text`.
static bool pass_until(PliSource *s, const char *text, const char *what)
{
    while (s->at < s->size && !begins(s, text)) pass(s);
    if (s->at >= s->size) return pli_source_refuse(s, "the file ends inside %s", what);
    s->at += strlen(text);
    return true;
}

static PliSlice take_name(PliSource *s)
{
    const size_t start = s->at;
    while (s->at < s->size && is_name(s->data[s->at])) s->at++;
    return (PliSlice){ (const char *)s->data + start, s->at - start };
}

static bool read_attribute(PliSource *s, PliXmlTag *tag)
{
    const PliSlice key = take_name(s);
    if (key.size == 0)
        return pli_source_refuse(s, "tag <%s> has a character that is neither a name nor its end",
                                 pli_source_quote(tag->name).text);
    pass_space(s);
    if (peek(s) != '=')
        return pli_source_refuse(s, "attribute %s of <%s> has no value", pli_source_quote(key).text,
                                 pli_source_quote(tag->name).text);
    pass(s);
    pass_space(s);
    const int quote = peek(s);
    if (quote != '"' && quote != '\'')
        return pli_source_refuse(s, "the value of attribute %s is not in quotes", pli_source_quote(key).text);
    pass(s);
    const size_t start = s->at;
    while (s->at < s->size && s->data[s->at] != quote && s->data[s->at] != '<') pass(s);
    if (peek(s) != quote)
        return pli_source_refuse(s, "the value of attribute %s has no end", pli_source_quote(key).text);
    if (tag->attribute_count == PLI_XML_ATTRIBUTES)
        return pli_source_refuse(s, "tag <%s> has more than %d attributes", pli_source_quote(tag->name).text,
                                 PLI_XML_ATTRIBUTES);
    tag->key[tag->attribute_count] = key;
    tag->value[tag->attribute_count++] = (PliSlice){ (const char *)s->data + start, s->at - start };
    pass(s);
    return true;
}

static bool read_tag(PliSource *s, PliXmlTag *tag)
{
    s->at++; // <
    if (peek(s) == '/') tag->closes = true, s->at++;
    tag->name = take_name(s);
    if (tag->name.size == 0) return pli_source_refuse(s, "a tag without a name");
    for (;;) {
        pass_space(s);
        const int c = peek(s);
        if (c == '>') {
            s->at++;
            return true;
        }
        if (c == '/') {
            s->at++;
            if (peek(s) != '>')
                return pli_source_refuse(s, "tag <%s> does not end after its slash", pli_source_quote(tag->name).text);
            tag->empty = true;
            continue;
        }
        if (c < 0) return pli_source_refuse(s, "the file ends inside tag <%s>", pli_source_quote(tag->name).text);
        if (!read_attribute(s, tag)) return false;
    }
}

bool pli_xml_next(PliSource *s, PliXmlTag *tag, bool *found)
{
    memset(tag, 0, sizeof *tag);
    *found = false;
    for (;;) {
        while (s->at < s->size && s->data[s->at] != '<') pass(s);
        s->mark = s->at, s->mark_line = s->line;
        if (s->at >= s->size) return true;
        if (begins(s, "<!--")) {
            if (!pass_until(s, "-->", "a comment")) return false;
        } else if (begins(s, "<?")) {
            if (!pass_until(s, "?>", "<? ?>")) return false;
        } else if (begins(s, "<!")) {
            return pli_source_refuse(s, "<! declarations are not supported");
        } else {
            *found = true;
            return read_tag(s, tag);
        }
    }
}

PliSlice pli_xml_attribute(const PliXmlTag *tag, const char *key)
{
    for (int i = 0; i < tag->attribute_count; ++i)
        if (pli_slice_is(tag->key[i], key)) return tag->value[i];
    return (PliSlice){ NULL, 0 };
}
