/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool pli_file_is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

PliStatus pli_file_replace(const char *path, const void *data, size_t bytes, PliError *err)
{
    char temporary[1024];
    const int length = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary)
        return pli_refuse(err, PLI_BAD_FILE, "%.200s...: the file name is too long", path);
    const bool special = pli_file_is_special(path);
    FILE *out = fopen(special ? path : temporary, "wb");
    if (!out) return pli_refuse(err, PLI_BAD_FILE, "%s: cannot be written: %s", path, strerror(errno));
    bool good = fwrite(data, 1, bytes, out) == bytes && fflush(out) == 0;
    int cause = errno;
    if (fclose(out) != 0 && good) good = false, cause = errno;
    if (good && !special && rename(temporary, path) != 0) good = false, cause = errno;
    if (good) return PLI_OK;
    if (!special) remove(temporary);
    return pli_refuse(err, PLI_BAD_FILE, "%s: cannot be written: %s", path, strerror(cause));
}

PliStatus pli_folder_make(const char *path, PliError *err)
{
    char part[1024];
    const size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return pli_refuse(err, PLI_BAD_FILE, "'%.200s' is no usable folder name", path);
    for (size_t k = 1; k <= length; ++k) {
        if (path[k] != '/' && path[k] != '\0') continue;
        memcpy(part, path, k);
        part[k] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return pli_refuse(err, PLI_BAD_FILE, "%s: the folder cannot be made: %s", part, strerror(errno));
    }
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return pli_refuse(err, PLI_BAD_FILE, "%s: is a file, not a folder", path);
    return PLI_OK;
}

static bool make_room(PliText *t, size_t more)
{
    if (t->failed) return false;
    if (t->bytes + more + 1 <= t->capacity) return true;
    size_t wider = t->capacity ? 2 * t->capacity : 4096;
    while (wider < t->bytes + more + 1) wider *= 2;
    char *data = realloc(t->data, wider);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = wider;
    return true;
}

static void put_bytes(PliText *t, const char *text, size_t bytes)
{
    if (!make_room(t, bytes)) return;
    memcpy(t->data + t->bytes, text, bytes);
    t->bytes += bytes;
    t->data[t->bytes] = '\0';
}

void pli_text_free(PliText *t)
{
    free(t->data);
    *t = (PliText){ 0 };
}

void pli_text_put(PliText *t, const char *text) { put_bytes(t, text, strlen(text)); }

void pli_text_print(PliText *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        t->failed = true;
    else if (make_room(t, (size_t)length)) {
        vsnprintf(t->data + t->bytes, (size_t)length + 1, format, again);
        t->bytes += (size_t)length;
    }
    va_end(again);
}

void pli_text_escape(PliText *t, const char *text)
{
    for (;;) {
        const size_t plain = strcspn(text, "&<>\"'");
        put_bytes(t, text, plain);
        text += plain;
        switch (*text++) {
        case '\0': return;
        case '&': pli_text_put(t, "&amp;"); break;
        case '<': pli_text_put(t, "&lt;"); break;
        case '>': pli_text_put(t, "&gt;"); break;
        case '"': pli_text_put(t, "&quot;"); break;
        default: pli_text_put(t, "&#39;"); break;
        }
    }
}

void pli_text_base64(PliText *t, const unsigned char *data, size_t bytes)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (!make_room(t, (bytes + 2) / 3 * 4)) return;
    char *to = t->data + t->bytes;
    for (size_t k = 0; k < bytes; k += 3) {
        const unsigned b0 = data[k], b1 = k + 1 < bytes ? data[k + 1] : 0, b2 = k + 2 < bytes ? data[k + 2] : 0;
        *to++ = digit[b0 >> 2];
        *to++ = digit[(b0 << 4 | b1 >> 4) & 63];
        *to++ = k + 1 < bytes ? digit[(b1 << 2 | b2 >> 6) & 63] : '=';
        *to++ = k + 2 < bytes ? digit[b2 & 63] : '=';
    }
    *to = '\0';
    t->bytes = (size_t)(to - t->data);
}

void pli_text_csv(PliText *t, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        pli_text_put(t, text);
        return;
    }
    pli_text_put(t, "\"");
    for (; *text; ++text) put_bytes(t, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    pli_text_put(t, "\"");
}

PliStatus pli_text_write(const PliText *t, const char *path, PliError *err)
{
    if (t->failed) return pli_refuse(err, PLI_OUT_OF_MEMORY, "%s: no memory for its text", path);
    return pli_file_replace(path, t->data ? t->data : "", t->bytes, err);
}
