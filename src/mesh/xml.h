/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_XML_H
#define PLI_XML_H

#include "mesh/source.h"

// Just enough XML to find the arrays of a VTK file. A parser of whole documents cannot be used: appended raw data is no
// XML. No entities, no DTD, no recursion.

enum { PLI_XML_ATTRIBUTES = 24 };
typedef struct PliXmlTag {
    PliSlice name;
    PliSlice key[PLI_XML_ATTRIBUTES], value[PLI_XML_ATTRIBUTES];
    int attribute_count;
    bool closes; ///< </name>
    bool empty;  ///< <name/>
} PliXmlTag;

/// Next tag, passing text, comments and <?...?>; the source stands right behind it. *found: false at the end.
bool pli_xml_next(PliSource *s, PliXmlTag *tag, bool *found);
/// Value of an attribute, or an empty slice with text NULL.
PliSlice pli_xml_attribute(const PliXmlTag *tag, const char *key);

#endif
