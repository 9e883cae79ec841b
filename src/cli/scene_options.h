/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_SCENE_OPTIONS_H
#define PLI_SCENE_OPTIONS_H

// Options that every command which reads scenes understands in the same way.

#include "host/graph/scene.h"
#include "output/options.h"

enum { PLI_MOST_SETS = 64 };

typedef struct PliSceneOptions {
    PliSceneDef def;
    PliWords sets; ///< as written
    const char *word[PLI_MOST_SETS];
    PliOverride override[PLI_MOST_SETS];
    char *copy[PLI_MOST_SETS]; ///< what override points into
} PliSceneOptions;

// Rows of a command's table, for a PliSceneOptions.
#define PLI_OPTION_SET(o)                                                                                              \
    {                                                                                                                  \
        .name = "set", .argument = "@PATH.ATTR=VALUE",                                                                 \
        .help = "replace an attribute of a component or node; may be repeated", .kind = PLI_OPTION_LIST,               \
        .value = &(o).sets, .needs = "@path.attribute=value"                                                           \
    }
#define PLI_OPTION_DATA_PATH(o)                                                                                        \
    {                                                                                                                  \
        .name = "data-path", .argument = "DIRS",                                                                       \
        .help = "more directories for files, separated by ':' (also SOFA_DATA_PATH)", .kind = PLI_OPTION_TEXT,         \
        .value = &(o).def.data_path, .needs = "directories"                                                            \
    }
#define PLI_OPTION_ROOT(o)                                                                                             \
    {                                                                                                                  \
        .name = "root", .argument = "DIR", .help = "refuse files outside DIR, for scenes that are not trusted",        \
        .kind = PLI_OPTION_TEXT, .value = &(o).def.root, .needs = "a directory"                                        \
    }
#define PLI_OPTION_THREADS(variable, what)                                                                             \
    {                                                                                                                  \
        .name = "threads", .argument = "N", .help = "worker threads, 1 .. 64 (1); " what, .kind = PLI_OPTION_INTEGER,  \
        .value = &(variable), .least = 1, .most = 64                                                                   \
    }

/// Defaults, SOFA_DATA_PATH among them. The object may not move afterwards.
void pli_scene_options_begin(PliSceneOptions *o);
/// After pli_options_read: what --set said becomes def.overrides. @return an exit code, after a sentence when it is not 0
int pli_scene_options_apply(PliSceneOptions *o, const PliCommandLine *line);
void pli_scene_options_end(PliSceneOptions *o);

#endif
