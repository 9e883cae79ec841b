/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "host/report/picture.h"
#include "output/file.h"

static void put_u32(unsigned char *to, uint32_t value)
{
    for (int k = 0; k < 4; ++k) to[k] = (unsigned char)(value >> (24 - 8 * k));
}

/// Length, name, data (already at to + 8) and checksum. @return bytes of the chunk.
static size_t finish_chunk(unsigned char *to, const char *name, size_t bytes)
{
    put_u32(to, (uint32_t)bytes);
    memcpy(to + 4, name, 4);
    put_u32(to + 8 + bytes, (uint32_t)crc32(crc32(0, NULL, 0), to + 4, (uInt)(bytes + 4)));
    return bytes + 12;
}

unsigned char *pli_picture_png(const PliPicture *p, size_t *bytes)
{
    const size_t row = 3 * (size_t)p->width, raw_bytes = (row + 1) * (size_t)p->height;
    uLongf packed = compressBound((uLong)raw_bytes);
    unsigned char *raw = malloc(raw_bytes), *png = malloc(8 + 25 + 12 + packed + 12);
    *bytes = 0;
    if (!raw || !png) goto fail;
    for (int y = 0; y < p->height; ++y) {
        unsigned char *to = raw + (size_t)y * (row + 1);
        const PliColour *here = p->pixel + (size_t)y * (size_t)p->width, *above = y > 0 ? here - p->width : here;
        *to++ = y > 0 ? 2 : 0; // "up": shaded surfaces and plain backgrounds change little from row to row
        for (int x = 0; x < p->width; ++x) {
            *to++ = (unsigned char)(here[x].r - (y > 0 ? above[x].r : 0));
            *to++ = (unsigned char)(here[x].g - (y > 0 ? above[x].g : 0));
            *to++ = (unsigned char)(here[x].b - (y > 0 ? above[x].b : 0));
        }
    }
    size_t at = 8;
    memcpy(png, "\x89PNG\r\n\x1a\n", 8);
    put_u32(png + at + 8, (uint32_t)p->width);
    put_u32(png + at + 12, (uint32_t)p->height);
    memcpy(png + at + 16, "\x08\x02\x00\x00\x00", 5); // 8 bits, RGB, no interlace
    at += finish_chunk(png + at, "IHDR", 13);
    if (compress2(png + at + 8, &packed, raw, (uLong)raw_bytes, 7) != Z_OK) goto fail;
    at += finish_chunk(png + at, "IDAT", packed);
    at += finish_chunk(png + at, "IEND", 0);
    free(raw);
    *bytes = at;
    return png;
fail:
    free(raw);
    free(png);
    return NULL;
}

PliStatus pli_picture_write(const PliPicture *p, const char *path, PliError *err)
{
    size_t bytes;
    unsigned char *png = pli_picture_png(p, &bytes);
    if (!png)
        return pli_refuse(err, PLI_OUT_OF_MEMORY, "%s: no memory for a picture of %d x %d pixels", path, p->width,
                          p->height);
    const PliStatus status = pli_file_replace(path, png, bytes, err);
    free(png);
    return status;
}
