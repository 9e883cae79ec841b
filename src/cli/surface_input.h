/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SURFACE_INPUT_H
#define PLI_SURFACE_INPUT_H

// What commands that begin with a surface share: its file, its unit, and what was found about it.

#include "mesher/make.h"
#include "output/options.h"

// Rows of a command's table.
#define PLI_OPTION_UNIT(variable)                                                                                      \
    {                                                                                                                  \
        .name = "unit", .argument = "U", .help = "unit of the file: m, dm, cm, mm, in, or a number of metres (m)",     \
        .kind = PLI_OPTION_TEXT, .value = &(variable), .needs = "m, dm, cm, mm, in or a number of metres"              \
    }
#define PLI_OPTION_LEVELS(variable)                                                                                    \
    {                                                                                                                  \
        .name = "levels", .argument = "N", .help = "levels (3)", .kind = PLI_OPTION_INTEGER, .value = &(variable),     \
        .least = 1, .most = PLI_MESHER_LEVELS                                                                          \
    }
#define PLI_OPTION_NODES(variable)                                                                                     \
    {                                                                                                                  \
        .name = "nodes", .argument = "N", .help = "about as many nodes in the finest level (3000)",                    \
        .kind = PLI_OPTION_INTEGER, .value = &(variable), .least = 20, .most = 5e6                                     \
    }

/// Metres of a unit. False: refused, with *code.
bool pli_unit_read(const PliCommandLine *line, const char *text, double *metres, int *code);
/// The cleaned surface in metres. NULL: refused, with the file's name.
PliMesh *pli_surface_input(const PliHost *host, const char *path, double unit, PliSurfaceFacts *facts, PliError *err);
void pli_surface_print(const char *path, const PliSurfaceFacts *facts);

#endif
