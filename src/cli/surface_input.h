/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SURFACE_INPUT_H
#define PLI_SURFACE_INPUT_H

// What commands that make levels of a surface share: their options, the surface, and the folder that appears when all is done.

#include "cli/fresh_folder.h"
#include "mesher/make.h"
#include "output/options.h"

typedef struct PliSurfaceJob {
    const char *surface, *out, *unit_text;
    double unit; ///< m
    int levels, nodes;
    PliMesherDef def;
} PliSurfaceJob;
PliSurfaceJob pli_surface_job(void); ///< the defaults, with progress, stopped by Ctrl-C

// Rows of a command's table, for a PliSurfaceJob.
#define PLI_OPTION_OUT(job)                                                                                            \
    {                                                                                                                  \
        .name = "out", .letter = 'o', .argument = "FOLDER",                                                            \
        .help = "gets the levels and scenes; it appears when all is done", .kind = PLI_OPTION_TEXT,                    \
        .value = &(job)->out, .needs = "a folder"                                                                      \
    }
#define PLI_OPTION_UNIT(job)                                                                                           \
    {                                                                                                                  \
        .name = "unit", .argument = "U", .help = "unit of the file: m, dm, cm, mm, in, or a number of metres (m)",     \
        .kind = PLI_OPTION_TEXT, .value = &(job)->unit_text, .needs = "m, dm, cm, mm, in or a number of metres"        \
    }
#define PLI_OPTION_LEVELS(job)                                                                                         \
    {                                                                                                                  \
        .name = "levels", .argument = "N", .help = "levels (3)", .kind = PLI_OPTION_INTEGER, .value = &(job)->levels,  \
        .least = 1, .most = PLI_MESHER_LEVELS                                                                          \
    }
#define PLI_OPTION_NODES(job)                                                                                          \
    {                                                                                                                  \
        .name = "nodes", .argument = "N", .help = "about as many nodes in the finest level (3000)",                    \
        .kind = PLI_OPTION_INTEGER, .value = &(job)->nodes, .least = 20, .most = 5e6                                   \
    }

/// Reads the command line: `line` with program, synopsis, about, ending (what stands before the exit codes) and the table.
/// False: *code is what to exit with.
bool pli_surface_options(PliSurfaceJob *job, PliCommandLine line, int argc, char **argv, int *code);
/// Calls `work` with a folder to fill. @return an exit code
int pli_surface_run(PliSurfaceJob *job, const char *command, int (*work)(void *self, PliFreshFolder *folder),
                    void *self);
/// What had to be done differently from what was asked for: levels from a lattice, parts that were lost, levels left out.
void pli_made_print(const PliMade *made);
/// The cleaned surface in metres. NULL: refused, with the file's name.
PliMesh *pli_surface_input(const PliHost *host, const PliSurfaceJob *job, PliSurfaceFacts *facts, PliError *err);
void pli_surface_print(const PliSurfaceJob *job, const PliSurfaceFacts *facts);

#endif
