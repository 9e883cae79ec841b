/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/xml_array.h"

#include <string.h>
#include <zlib.h>

#include "base/memory.h"

bool pli_xml_data_init(PliXmlData *d, PliSource *s, const PliXmlTag *root)
{
    *d = (PliXmlData){ .s = s, .header = PLI_U32 };
    const PliSlice order = pli_xml_attribute(root, "byte_order"), header = pli_xml_attribute(root, "header_type");
    const PliSlice compressor = pli_xml_attribute(root, "compressor");
    const uint16_t one = 1;
    unsigned char low_first;
    memcpy(&low_first, &one, 1);
    const bool little = !order.text || pli_slice_is(order, "LittleEndian");
    if (!little && !pli_slice_is(order, "BigEndian"))
        return pli_source_refuse(s, "byte_order \"%s\" is unknown", pli_source_quote(order).text);
    d->swap = little != (low_first == 1);
    if (pli_slice_is(header, "UInt64"))
        d->header = PLI_U64;
    else if (header.text && !pli_slice_is(header, "UInt32"))
        return pli_source_refuse(s, "header_type \"%s\" is unknown", pli_source_quote(header).text);
    d->compressor = compressor; // text arrays are not packed: refused only when it is needed
    return true;
}

bool pli_xml_data_append(PliXmlData *d, PliSource *s, const PliXmlTag *tag)
{
    const PliSlice encoding = pli_xml_attribute(tag, "encoding");
    d->raw = pli_slice_is(encoding, "raw");
    if (!d->raw && !pli_slice_is(encoding, "base64"))
        return pli_source_refuse(s, "AppendedData encoding \"%s\" is unknown", pli_source_quote(encoding).text);
    while (s->at < s->size &&
           (s->data[s->at] == ' ' || s->data[s->at] == '\n' || s->data[s->at] == '\r' || s->data[s->at] == '\t'))
        s->at++;
    if (s->at >= s->size || s->data[s->at] != '_')
        return pli_source_refuse(s, "AppendedData does not begin with an underscore");
    d->appended = true;
    d->first = s->at + 1;
    size_t last = s->size;
    if (!d->raw) {
        const unsigned char *end = memchr(s->data + d->first, '<', s->size - d->first);
        if (!end) return pli_source_refuse(s, "the file ends inside AppendedData");
        last = (size_t)(end - s->data);
    }
    d->size = last - d->first;
    return true;
}

static bool find_type(PliSource *s, PliSlice name, PliScalar *type)
{
    static const char *const names[] = { "Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                         "UInt32", "Int64", "UInt64", "Float32", "Float64" };
    for (int i = 0; i < 10; ++i)
        if (pli_slice_is(name, names[i])) {
            *type = (PliScalar)i;
            return true;
        }
    return pli_source_refuse(s, "array type \"%s\" is unknown", pli_source_quote(name).text);
}

bool pli_xml_array_init(PliXmlArray *a, PliSource *s, const PliXmlTag *tag)
{
    *a = (PliXmlArray){ .present = true, .components = 1, .line = s->mark_line };
    const PliSlice components = pli_xml_attribute(tag, "NumberOfComponents"), format = pli_xml_attribute(tag, "format"),
                   offset = pli_xml_attribute(tag, "offset");
    if (!find_type(s, pli_xml_attribute(tag, "type"), &a->type)) return false;
    if (components.text && !pli_source_parse_int(s, "NumberOfComponents", components, &a->components)) return false;
    if (pli_slice_is(format, "appended")) {
        a->format = PLI_XML_APPENDED;
        if (!offset.text) return pli_source_refuse(s, "an appended array without offset");
        return pli_source_parse_int(s, "offset", offset, &a->offset);
    }
    a->format = pli_slice_is(format, "binary") ? PLI_XML_BASE64 : PLI_XML_TEXT;
    if (a->format == PLI_XML_TEXT && format.text && !pli_slice_is(format, "ascii"))
        return pli_source_refuse(s, "array format \"%s\" is unknown", pli_source_quote(format).text);
    a->first = s->at;
    if (tag->empty) return true;
    const unsigned char *end = memchr(s->data + s->at, '<', pli_source_left(s));
    if (!end) return pli_source_refuse(s, "the file ends inside an array");
    a->size = (size_t)(end - s->data) - s->at;
    return true;
}

// ---- decoding --------------------------------------------------------------------------------------------------

void pli_xml_buffer_free(const PliHost *host, PliXmlBuffer *b)
{
    PLI_FREE(host, b->bytes, b->capacity);
    *b = (PliXmlBuffer){ 0 };
}

static bool make_buffer(PliSource *s, PliXmlBuffer *b, size_t size)
{
    *b = (PliXmlBuffer){ .bytes = PLI_NEW(&s->host, size, unsigned char), .capacity = size };
    return b->bytes || pli_source_no_memory(s);
}

static int base64_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/// Also takes several padded streams in a row: VTK encodes the header of packed data on its own.
static bool decode_base64(PliSource *s, const unsigned char *from, size_t size, PliXmlBuffer *b, size_t *decoded)
{
    if (!make_buffer(s, b, size / 4 * 3 + 3)) return false;
    uint32_t bits = 0;
    int have = 0, pad = 0;
    *decoded = 0;
    for (size_t i = 0; i < size; ++i) {
        const unsigned char c = from[i];
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
        const int value = c == '=' ? 0 : base64_value(c);
        if (value < 0 || (c == '=' && have < 2) || (c != '=' && pad > 0))
            return pli_source_refuse(s, "base64 data has a wrong byte 0x%02x", c);
        pad += c == '=';
        bits = bits << 6 | (uint32_t)value;
        if (++have < 4) continue;
        for (int k = 0; k < 3 - pad; ++k) b->bytes[(*decoded)++] = (unsigned char)(bits >> (16 - 8 * k));
        bits = 0, have = 0, pad = 0;
    }
    if (have > 0) return pli_source_refuse(s, "base64 data ends inside a group of four");
    return true;
}

/// Blocks of zlib data behind a header "blocks, block size, last block size (0: full), packed size of each".
static bool unpack(PliSource *packed, PliScalar header, PliXmlBuffer *b, size_t *size)
{
    int64_t number[3];
    size_t blocks;
    for (int k = 0; k < 3; ++k)
        if (!pli_source_int(packed, "a header of packed data", header, &number[k])) return false;
    if (!pli_source_check_count(packed, "the number of packed blocks", number[0], pli_scalar_size(header), &blocks))
        return false;
    *size = 0;
    if (blocks == 0) return true;
    // the longest honest result: VTK data rarely packs tenfold, zlib at most about a thousandfold
    const uint64_t limit = 10 * (uint64_t)packed->size + (64u << 20);
    const uint64_t block = (uint64_t)number[1], last = number[2] ? (uint64_t)number[2] : block;
    if (number[1] < 0 || number[2] < 0 || block > limit || last > block || (blocks - 1) * block + last > limit)
        return pli_source_refuse(packed, "%zu packed blocks of %lld bytes would unpack to more than %llu bytes", blocks,
                                 (long long)number[1], (unsigned long long)limit);
    const size_t total = (size_t)((blocks - 1) * block + last);
    if (!make_buffer(packed, b, total)) return false;
    PliSource sizes = *packed;
    packed->at += blocks * pli_scalar_size(header); // there, as the count was checked up to one byte of grace
    if (packed->at > packed->size) return pli_source_refuse(packed, "the sizes of the packed blocks are cut off");
    for (size_t i = 0; i < blocks; ++i) {
        int64_t length;
        if (!pli_source_int(&sizes, "the size of a packed block", header, &length)) return false;
        if (length < 0) return pli_source_refuse(packed, "a packed block of %lld bytes", (long long)length);
        const unsigned char *from = pli_source_bytes(packed, "a packed block", (size_t)length);
        if (!from) return false;
        const uLongf want = (uLongf)(i + 1 < blocks ? block : last);
        uLongf got = want;
        const int result = uncompress(b->bytes + *size, &got, from, (uLong)length);
        if (result != Z_OK || got != want)
            return pli_source_refuse(packed, "packed block %zu is damaged: %lu of %lu bytes came out (zlib %d)", i,
                                     (unsigned long)got, (unsigned long)want, result);
        *size += want;
    }
    return true;
}

bool pli_xml_array_open(const PliXmlArray *a, const PliXmlData *d, PliSource *numbers, PliXmlBuffer *buffer)
{
    PliSource *s = d->s;
    s->mark_line = a->line;
    if (a->format == PLI_XML_TEXT) {
        *numbers = *s;
        numbers->at = a->first, numbers->size = a->first + a->size, numbers->line = a->line;
        numbers->owned = NULL;
        return true;
    }
    const bool zlib = pli_slice_is(d->compressor, "vtkZLibDataCompressor");
    if (d->compressor.size > 0 && !zlib)
        return pli_source_refuse_as(s, PLI_UNSUPPORTED,
                                    "compressor \"%s\" is not supported: only vtkZLibDataCompressor",
                                    pli_source_quote(d->compressor).text);
    const unsigned char *from = s->data + a->first;
    size_t size = a->size;
    if (a->format == PLI_XML_APPENDED) {
        if (!d->appended) return pli_source_refuse(s, "an appended array, but there is no AppendedData");
        if (a->offset < 0 || (uint64_t)a->offset > d->size)
            return pli_source_refuse(s, "offset %lld is beyond the %zu appended bytes", (long long)a->offset, d->size);
        from = s->data + d->first + a->offset, size = d->size - (size_t)a->offset;
    }
    if (a->format == PLI_XML_BASE64 || !d->raw) {
        if (!decode_base64(s, from, size, buffer, &size)) return false;
        from = buffer->bytes;
    }
    *numbers = pli_source_part(s, from, size);
    numbers->swap = d->swap;
    if (!zlib) {
        int64_t bytes;
        if (!pli_source_int(numbers, "the size of the array", d->header, &bytes)) return false;
        if (bytes < 0 || (uint64_t)bytes > pli_source_left(numbers))
            return pli_source_refuse(s, "the array announces %lld bytes, but %zu are left", (long long)bytes,
                                     pli_source_left(numbers));
        numbers->size = numbers->at + (size_t)bytes;
        return true;
    }
    PliXmlBuffer plain = { 0 };
    size_t unpacked = 0;
    const bool good = unpack(numbers, d->header, &plain, &unpacked);
    pli_xml_buffer_free(&s->host, buffer);
    *buffer = plain;
    *numbers = pli_source_part(s, plain.bytes, unpacked);
    numbers->swap = d->swap;
    return good;
}
