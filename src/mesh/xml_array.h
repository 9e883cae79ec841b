/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_XML_ARRAY_H
#define PLI_XML_ARRAY_H

#include "mesh/source.h"
#include "mesh/xml.h"

/// What <VTKFile> and <AppendedData> say about every array.
typedef struct PliXmlData {
    PliSource *s;
    PliScalar header; ///< of sizes before binary data
    bool swap;
    PliSlice compressor;
    bool appended, raw; ///< there is an AppendedData element, with raw bytes instead of base64
    size_t first, size; ///< its bytes behind the underscore
} PliXmlData;
bool pli_xml_data_init(PliXmlData *data, PliSource *s, const PliXmlTag *root);
bool pli_xml_data_append(PliXmlData *data, PliSource *s, const PliXmlTag *tag);

/// One <DataArray>: where its numbers are.
typedef struct PliXmlArray {
    bool present;
    enum { PLI_XML_TEXT, PLI_XML_BASE64, PLI_XML_APPENDED } format;
    PliScalar type;
    int64_t components, offset; ///< offset: into the appended bytes
    size_t line, first, size;   ///< inline bytes
} PliXmlArray;
bool pli_xml_array_init(PliXmlArray *array, PliSource *s, const PliXmlTag *tag); ///< the source stands behind the tag

/// Decoded bytes, when decoding was needed.
typedef struct PliXmlBuffer {
    unsigned char *bytes;
    size_t capacity;
} PliXmlBuffer;
void pli_xml_buffer_free(const PliHost *host, PliXmlBuffer *buffer);
/// A source over the numbers of the array: text, or decoded and unpacked bytes that live in `buffer` or in the file.
bool pli_xml_array_open(const PliXmlArray *array, const PliXmlData *data, PliSource *numbers, PliXmlBuffer *buffer);

#endif
