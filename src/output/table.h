/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_TABLE_H
#define PLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <pliant/base.h>

enum { PLI_TABLE_COLUMNS = 16 };

/// Text table with aligned columns. Cells are given row by row; widths are known when it is printed.
typedef struct PliTable {
    int columns;
    bool right[PLI_TABLE_COLUMNS];
    char **cell; ///< row-major, the first row is the heading
    size_t count, capacity;
    bool failed; ///< a cell found no memory
} PliTable;

/// One letter per column in `align`: l left, r right. `heading` has as many entries.
void pli_table_begin(PliTable *t, const char *align, const char *const *heading);
void pli_table_cell(PliTable *t, const char *format, ...) PLI_PRINTF(2, 3);
void pli_table_number(PliTable *t, double value); ///< %.6g
/// Prints heading, rule and complete rows. @return false when a cell found no memory (nothing printed).
bool pli_table_print(const PliTable *t, FILE *out);
void pli_table_end(PliTable *t);

#endif
