/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/scene_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void pli_scene_options_begin(PliSceneOptions *o)
{
    *o = (PliSceneOptions){ .def = pli_scene_default() };
    o->def.data_path = getenv("SOFA_DATA_PATH");
    o->sets = (PliWords){ o->word, 0, PLI_MOST_SETS };
}

int pli_scene_options_apply(PliSceneOptions *o, const PliCommandLine *line)
{
    for (int k = 0; k < o->sets.count; ++k) {
        const char *text = o->sets.word[k], *equal = strchr(text, '=');
        if (text[0] != '@' || !equal)
            return pli_options_refuse(line, "--set needs @path.attribute=value, not '%s'", text);
        char *copy = strdup(text);
        if (!copy) return pli_options_refuse(line, "no memory for --set"), PLI_EXIT_MEMORY;
        copy[equal - text] = '\0';
        o->copy[k] = copy;
        o->override[k] = (PliOverride){ copy, copy + (equal - text) + 1 };
        o->def.override_count = k + 1;
    }
    o->def.overrides = o->override;
    return PLI_EXIT_OK;
}

void pli_scene_options_end(PliSceneOptions *o)
{
    for (int k = 0; k < o->def.override_count; ++k) free(o->copy[k]);
}
