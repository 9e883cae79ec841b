/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SCENE_XML_H
#define PLI_SCENE_XML_H

// A scene file as a plain C tree. TinyXML2, the parser SOFA itself uses, stays behind these functions.

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PLI_XML_DEPTH = 64,              ///< deepest nesting accepted, includes counted
    PLI_XML_ELEMENTS = 1000000,      ///< most elements of a scene, includes counted
    PLI_XML_BYTES = 64 * 1024 * 1024 ///< largest file
};

typedef struct PliXmlAttr {
    const char *name, *value;
    bool used; ///< set by readers; what is left over is reported
} PliXmlAttr;

typedef struct PliXml {
    const char *tag;
    const char *file; ///< as opened; messages say file:line
    int line;
    PliXmlAttr *attrs;
    int attr_count;
    struct PliXml *parent, *first, *last, *next; ///< children in the order of the file
} PliXml;

/// Owns the trees of all files read into it.
typedef struct PliXmlDocument PliXmlDocument;
PliXmlDocument *pli_xml_create(void);
void pli_xml_destroy(PliXmlDocument *doc); ///< NULL is fine
/// Reads one file (no includes). The error says file, line and cause; PLI_BAD_FILE.
PliXml *pli_xml_read(PliXmlDocument *doc, const char *path, PliError *err);
/// The same from memory; `path` is only for messages.
PliXml *pli_xml_parse(PliXmlDocument *doc, const char *text, size_t bytes, const char *path, PliError *err);

const char *pli_xml_get(const PliXml *e, const char *name); ///< value or NULL
/// Replaces or adds an attribute; the text is copied. false: no memory.
bool pli_xml_set(PliXmlDocument *doc, PliXml *e, const char *name, const char *value);
void pli_xml_append(PliXml *parent, PliXml *child);
void pli_xml_replace(PliXml *parent, PliXml *old, PliXml *fresh); ///< fresh == NULL: removes
const char *pli_xml_keep(PliXmlDocument *doc, const char *text);  ///< a copy that lives as long as the document

#ifdef __cplusplus
}
#endif
#endif
