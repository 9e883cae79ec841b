/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/cli.h"
#include "cli/scene_options.h"
#include "cli/scene_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Tally {
    int scenes, good, malformed, unsupported, missing, memory;
} Tally;

/// A scene with warnings runs, but something in it has no effect: a misspelt attribute of a stock component, for example.
static const char *verdict(int code, const PliScene *scene)
{
    const bool doubtful = scene && pli_findings_worst(&scene->report) >= PLI_WARNING;
    return code == PLI_EXIT_OK && doubtful ? "compatible, with warnings"
           : code == PLI_EXIT_OK           ? "compatible"
           : code == PLI_EXIT_UNSUPPORTED  ? "unsupported"
           : code == PLI_EXIT_FILE         ? "missing file"
           : code == PLI_EXIT_MEMORY       ? "no memory"
                                           : "malformed";
}

static int check_one(const char *path, const PliSceneDef *def, bool quiet, PliJson *json, Tally *tally)
{
    PliHost host = pli_cli_terse_host();
    PliStatus status;
    PliScene *scene = pli_scene_load(&host, path, def, &status);
    int code = scene ? pli_scene_exit_code(&scene->report, status) : PLI_EXIT_MEMORY;
    tally->scenes++;
    tally->good += code == PLI_EXIT_OK;
    tally->malformed += code == PLI_EXIT_BAD_INPUT;
    tally->unsupported += code == PLI_EXIT_UNSUPPORTED;
    tally->missing += code == PLI_EXIT_FILE;
    tally->memory += code == PLI_EXIT_MEMORY;
    FILE *out = json && strcmp(json->path, "-") == 0 ? stderr : stdout;
    if (!quiet || code != PLI_EXIT_OK) {
        fprintf(out, "%s: %s\n", path, verdict(code, scene));
        char near[1400];
        if (code == PLI_EXIT_FILE && access(path, F_OK) != 0 && pli_cli_nearest_path(path, near, sizeof near))
            fprintf(out, "  did you mean %s?\n", near);
        const char *hint = code == PLI_EXIT_BAD_INPUT ? pli_cli_scene_hint(path) : NULL;
        if (hint) fprintf(out, "  it %s\n", hint);
        if (scene) pli_scene_print_findings(&scene->report, quiet ? PLI_UNSUPPORTED_PART : PLI_NOTE, out);
    }
    if (json) {
        pli_json_begin_object(json, NULL);
        pli_json_string(json, "scene", path);
        pli_json_string(json, "verdict", verdict(code, scene));
        pli_json_integer(json, "exit", code);
        if (scene) pli_json_integer(json, "components", (int64_t)scene->object_count);
        if (scene) pli_scene_findings_json(json, &scene->report);
        pli_json_end(json);
    }
    pli_scene_destroy(scene);
    return code;
}

static int worst(const Tally *t)
{
    return t->memory        ? PLI_EXIT_MEMORY
           : t->malformed   ? PLI_EXIT_BAD_INPUT
           : t->missing     ? PLI_EXIT_FILE
           : t->unsupported ? PLI_EXIT_UNSUPPORTED
                            : PLI_EXIT_OK;
}

static int check_all(const PliWords *scenes, const PliSceneDef *def, bool quiet, const char *json_path)
{
    PliError err = { 0 };
    PliJson json;
    if (json_path && pli_json_open(&json, json_path, &err)) return pli_cli_report("check", &err);
    if (json_path) {
        pli_json_begin_object(&json, NULL);
        pli_json_integer(&json, "schema", 1);
        pli_json_begin_array(&json, "scenes");
    }
    Tally tally = { 0 };
    for (int i = 0; i < scenes->count; ++i) check_one(scenes->word[i], def, quiet, json_path ? &json : NULL, &tally);
    if (json_path) {
        pli_json_end(&json);
        pli_json_end(&json);
        if (pli_json_close(&json, &err)) return pli_cli_report("check", &err);
    }
    if (scenes->count > 1)
        fprintf(json_path && strcmp(json_path, "-") == 0 ? stderr : stdout,
                "%d scenes: %d compatible, %d unsupported, %d missing files, %d malformed\n", tally.scenes, tally.good,
                tally.unsupported, tally.missing, tally.malformed);
    return worst(&tally);
}

int pli_cmd_check(int argc, char **argv)
{
    PliSceneOptions so;
    const char *json_path = NULL;
    bool quiet = false;
    int code = PLI_EXIT_MEMORY;
    const char **scene = calloc((size_t)argc, sizeof *scene);
    if (!scene) return pli_cli_refuse("check", "no memory for %d scenes", argc), code;
    PliWords scenes = { scene, 0, argc };
    pli_scene_options_begin(&so);
    const PliOption options[] = {
        { "json", 0, "FILE", "write the report; - is standard output", PLI_OPTION_TEXT, &json_path,
          .needs = "a file, or - for standard output" },
        PLI_OPTION_DATA_PATH(so),
        PLI_OPTION_ROOT(so),
        { "quiet", 'q', NULL, "only the scenes that cannot run", PLI_OPTION_FLAG, .value = &quiet },
    };
    const PliCommandLine line = {
        .program = "pliant check",
        .synopsis = "SCENE... [OPTIONS]",
        .about = "Reads scenes, loads their meshes and initialises every component, but takes no step. Says with file, "
                 "line,\ncomponent and reason what the embedded host cannot do the way SOFA does.",
        .ending = "Exit codes: 0 every scene is compatible, 2 a scene is malformed, 3 something is outside the "
                  "profile, 4 a file is\nmissing; with several scenes the first of 2, 4, 3 that occurred.",
        .option = options,
        .option_count = sizeof options / sizeof *options,
        .words = &scenes,
        .least_words = 1,
        .word_name = "scene",
    };
    if (pli_options_read(&line, argc, argv, &code)) code = check_all(&scenes, &so.def, quiet, json_path);
    free(scene);
    return code;
}
