/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mesh/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

PliStatus pli_output_begin(PliOutput *o, const char *path, PliError *err)
{
    memset(o, 0, sizeof *o);
    o->path = path, o->err = err;
    const int length = snprintf(o->temporary, sizeof o->temporary, "%s.tmp", path);
    if (length < 0 || (size_t)length >= sizeof o->temporary)
        return pli_refuse(err, PLI_BAD_FILE, "a path of %zu characters is too long to write", strlen(path));
    o->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (o->c_locale == (locale_t)0) return pli_refuse(err, PLI_OUT_OF_MEMORY, "%s: no memory for a locale", path);
    o->file = fopen(o->temporary, "wb");
    if (!o->file) {
        freelocale(o->c_locale);
        return pli_refuse(err, PLI_BAD_FILE, "%s: cannot be written: %s", o->temporary, strerror(errno));
    }
    o->old_locale = uselocale(o->c_locale);
    return PLI_OK;
}

PliStatus pli_output_end(PliOutput *o, PliStatus status)
{
    const bool failed = ferror(o->file) != 0;
    const bool closed = fclose(o->file) == 0;
    uselocale(o->old_locale);
    freelocale(o->c_locale);
    if (status == PLI_OK && (failed || !closed))
        status = pli_refuse(o->err, PLI_BAD_FILE, "%s: could not be written in full: %s", o->path, strerror(errno));
    if (status == PLI_OK && rename(o->temporary, o->path) != 0)
        status = pli_refuse(o->err, PLI_BAD_FILE, "%s: cannot take its name: %s", o->path, strerror(errno));
    if (status != PLI_OK) remove(o->temporary);
    return status;
}

void pli_output_real(PliOutput *o, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, o->file);
}

void pli_output_escaped(PliOutput *o, const char *text)
{
    for (; *text; ++text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '&')
            fputs("&amp;", o->file);
        else if (c == '<')
            fputs("&lt;", o->file);
        else if (c == '>')
            fputs("&gt;", o->file);
        else if (c == '"')
            fputs("&quot;", o->file);
        else if (c < 32)
            fputc(' ', o->file); // not allowed in XML
        else
            fputc(c, o->file);
    }
}
