/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/graph/scene_xml.h"

#include <tinyxml2.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

struct PliXmlDocument {
    std::deque<std::string> texts;
    std::deque<PliXml> elements;
    std::deque<std::vector<PliXmlAttr>> attrs;

    const char *keep(const char *text)
    {
        texts.emplace_back(text);
        return texts.back().c_str();
    }
};

namespace
{

const char *base_error(tinyxml2::XMLError code)
{
    switch (code) {
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT: return "the file is empty";
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT: return "a tag is closed by another one, or not closed";
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE: return "an attribute is malformed";
    case tinyxml2::XML_ERROR_PARSING_ELEMENT: return "a tag is malformed";
    case tinyxml2::XML_ERROR_PARSING_COMMENT: return "a comment is not closed";
    case tinyxml2::XML_ERROR_PARSING_TEXT: return "text is malformed";
    case tinyxml2::XML_ERROR_PARSING_CDATA: return "a CDATA section is not closed";
    case tinyxml2::XML_ERROR_PARSING_DECLARATION: return "the declaration is malformed";
    case tinyxml2::XML_ERROR_PARSING_UNKNOWN: return "a <! or <? part is malformed";
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
        return "elements are nested deeper than 64"; // its own limit is beyond ours
    default: return tinyxml2::XMLDocument::ErrorIDToName(code);
    }
}

// Copies an element and its children; depth is bounded by the caller's check, so the recursion is too.
PliXml *copy(PliXmlDocument *doc, const tinyxml2::XMLElement *from, const char *file, int depth, PliError *err)
{
    if (depth > PLI_XML_DEPTH) {
        pli_refuse(err, PLI_BAD_FILE, "%s:%d: <%s> is nested deeper than %d", file, from->GetLineNum(), from->Name(),
                   PLI_XML_DEPTH);
        return nullptr;
    }
    if (doc->elements.size() >= PLI_XML_ELEMENTS) {
        pli_refuse(err, PLI_BAD_FILE, "%s:%d: the scene has more than %d elements", file, from->GetLineNum(),
                   PLI_XML_ELEMENTS);
        return nullptr;
    }
    doc->elements.emplace_back();
    PliXml *e = &doc->elements.back();
    *e = PliXml{};
    e->tag = doc->keep(from->Name());
    e->file = file;
    e->line = from->GetLineNum();
    doc->attrs.emplace_back();
    auto &attrs = doc->attrs.back();
    for (auto *a = from->FirstAttribute(); a; a = a->Next())
        attrs.push_back({ doc->keep(a->Name()), doc->keep(a->Value()), false });
    e->attrs = attrs.data();
    e->attr_count = static_cast<int>(attrs.size());
    for (auto *c = from->FirstChildElement(); c; c = c->NextSiblingElement()) {
        PliXml *child = copy(doc, c, file, depth + 1, err);
        if (!child) return nullptr;
        pli_xml_append(e, child);
    }
    return e;
}

} // namespace

extern "C" PliXmlDocument *pli_xml_create(void) { return new (std::nothrow) PliXmlDocument; }

extern "C" void pli_xml_destroy(PliXmlDocument *doc) { delete doc; }

extern "C" PliXml *pli_xml_parse(PliXmlDocument *doc, const char *text, size_t bytes, const char *path, PliError *err)
{
    try {
        if (bytes > PLI_XML_BYTES) {
            pli_refuse(err, PLI_BAD_FILE, "%s: larger than %d MiB", path, PLI_XML_BYTES / (1024 * 1024));
            return nullptr;
        }
        if (std::memchr(text, '\0', bytes)) {
            pli_refuse(err, PLI_BAD_FILE, "%s: holds a zero byte, this is not an XML text", path);
            return nullptr;
        }
        const char *file = doc->keep(path);
        tinyxml2::XMLDocument parser;
        parser.Parse(text, bytes);
        if (parser.Error()) {
            pli_refuse(err, PLI_BAD_FILE, "%s:%d: %s", path, parser.ErrorLineNum(), base_error(parser.ErrorID()));
            return nullptr;
        }
        auto *root = parser.RootElement();
        if (!root) {
            pli_refuse(err, PLI_BAD_FILE, "%s: holds no element", path);
            return nullptr;
        }
        return copy(doc, root, file, 1, err);
    } catch (const std::bad_alloc &) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "%s: no memory to read it", path);
        return nullptr;
    }
}

extern "C" PliXml *pli_xml_read(PliXmlDocument *doc, const char *path, PliError *err)
{
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path, "rb"), std::fclose);
    if (!file) {
        pli_refuse(err, PLI_BAD_FILE, "%s: cannot be opened", path);
        return nullptr;
    }
    try {
        std::string text;
        char block[65536];
        size_t n;
        while ((n = std::fread(block, 1, sizeof block, file.get())) > 0) {
            text.append(block, n);
            if (text.size() > PLI_XML_BYTES) break;
        }
        if (std::ferror(file.get())) {
            pli_refuse(err, PLI_BAD_FILE, "%s: cannot be read", path);
            return nullptr;
        }
        return pli_xml_parse(doc, text.data(), text.size(), path, err);
    } catch (const std::bad_alloc &) {
        pli_refuse(err, PLI_OUT_OF_MEMORY, "%s: no memory to read it", path);
        return nullptr;
    }
}

extern "C" const char *pli_xml_get(const PliXml *e, const char *name)
{
    for (int i = 0; i < e->attr_count; ++i)
        if (std::strcmp(e->attrs[i].name, name) == 0) return e->attrs[i].value;
    return nullptr;
}

extern "C" bool pli_xml_set(PliXmlDocument *doc, PliXml *e, const char *name, const char *value)
{
    try {
        for (int i = 0; i < e->attr_count; ++i) {
            if (std::strcmp(e->attrs[i].name, name) != 0) continue;
            e->attrs[i].value = doc->keep(value);
            return true;
        }
        doc->attrs.emplace_back(e->attrs, e->attrs + e->attr_count);
        doc->attrs.back().push_back({ doc->keep(name), doc->keep(value), false });
        e->attrs = doc->attrs.back().data();
        e->attr_count = static_cast<int>(doc->attrs.back().size());
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

extern "C" void pli_xml_append(PliXml *parent, PliXml *child)
{
    child->parent = parent;
    child->next = nullptr;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

extern "C" void pli_xml_replace(PliXml *parent, PliXml *old, PliXml *fresh)
{
    PliXml *before = nullptr;
    for (PliXml *c = parent->first; c && c != old; c = c->next) before = c;
    PliXml *after = old->next;
    PliXml *insert = fresh ? fresh : after;
    if (fresh) {
        fresh->parent = parent;
        fresh->next = after;
    }
    if (before)
        before->next = insert;
    else
        parent->first = insert;
    if (parent->last == old) parent->last = fresh ? fresh : before;
    old->next = nullptr;
    old->parent = nullptr;
}

extern "C" const char *pli_xml_keep(PliXmlDocument *doc, const char *text)
{
    try {
        return doc->keep(text);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}
