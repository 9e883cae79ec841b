/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/// Columns of a terminal, taking one per code point.
static size_t text_width(const char *s)
{
    size_t width = 0;
    for (; *s; ++s) width += ((unsigned char)*s & 0xc0) != 0x80;
    return width;
}

static void push_cell(PliTable *t, char *text)
{
    if (t->count == t->capacity) {
        const size_t wider = t->capacity ? 2 * t->capacity : 64;
        char **cell = realloc(t->cell, wider * sizeof *cell);
        if (!cell) {
            free(text);
            t->failed = true;
            return;
        }
        t->cell = cell;
        t->capacity = wider;
    }
    t->failed = t->failed || !text;
    t->cell[t->count++] = text;
}

void pli_table_begin(PliTable *t, const char *align, const char *const *heading)
{
    *t = (PliTable){ .columns = (int)strlen(align) };
    if (t->columns > PLI_TABLE_COLUMNS) t->columns = PLI_TABLE_COLUMNS;
    for (int c = 0; c < t->columns; ++c) {
        t->right[c] = align[c] == 'r';
        pli_table_cell(t, "%s", heading[c]);
    }
}

void pli_table_cell(PliTable *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    push_cell(t, text);
}

void pli_table_number(PliTable *t, double value) { pli_table_cell(t, "%.6g", value); }

static void put_times(char c, size_t times, FILE *out)
{
    while (times-- > 0) fputc(c, out);
}

bool pli_table_print(const PliTable *t, FILE *out)
{
    if (t->failed || t->columns == 0) return !t->failed;
    size_t width[PLI_TABLE_COLUMNS] = { 0 };
    const size_t columns = (size_t)t->columns, rows = t->count / columns;
    for (size_t k = 0; k < rows * columns; ++k) {
        const size_t w = text_width(t->cell[k]);
        if (w > width[k % columns]) width[k % columns] = w;
    }
    for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) {
            const char *text = t->cell[r * columns + c];
            const size_t pad = width[c] - text_width(text);
            if (c > 0) fputs("  ", out);
            if (t->right[c]) put_times(' ', pad, out);
            fputs(text, out);
            if (!t->right[c] && c + 1 < columns) put_times(' ', pad, out); // nothing trails a line
        }
        fputc('\n', out);
        if (r > 0) continue;
        for (size_t c = 0; c < columns; ++c) {
            if (c > 0) fputs("  ", out);
            put_times('-', width[c], out);
        }
        fputc('\n', out);
    }
    return true;
}

void pli_table_end(PliTable *t)
{
    for (size_t k = 0; k < t->count; ++k) free(t->cell[k]);
    free(t->cell);
    *t = (PliTable){ 0 };
}
