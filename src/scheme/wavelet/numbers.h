/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_WAVELET_NUMBERS_H
#define PLI_WAVELET_NUMBERS_H

// Numbers as bytes: seven bits each, the last one has its top bit clear. Lists of columns are the steps from one to the next.

#include <pliant/base.h>

enum { PLI_NUMBER_BYTES = 5 }; ///< most of one

static inline size_t pli_put_number(uint8_t *to, PliIndex number)
{
    size_t n = 0;
    for (; number >= 128; number >>= 7) to[n++] = (uint8_t)(number & 127) | 128;
    to[n++] = (uint8_t)number;
    return n;
}

static inline const uint8_t *pli_get_number(const uint8_t *from, PliIndex *number)
{
    PliIndex value = *from & 127;
    for (int shift = 7; *from++ & 128; shift += 7) value |= (PliIndex)(*from & 127) << shift;
    *number = value;
    return from;
}

#endif
