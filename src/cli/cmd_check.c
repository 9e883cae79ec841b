/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/cli.h"
#include "cli/scene_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(void)
{
    puts("Usage: pliant check SCENE... [OPTIONS]\n\n"
         "Reads scenes, loads their meshes and initialises every component, but takes no step. Says with file, line, "
         "component and\n"
         "reason what the embedded host cannot do the way SOFA does.\n\n"
         "      --json FILE       write the report; - is standard output\n"
         "      --data-path DIRS  more directories for files, separated by ':' (also SOFA_DATA_PATH)\n"
         "      --root DIR        refuse files outside DIR\n"
         "  -q, --quiet           only the scenes that cannot run\n\n"
         "Exit codes: 0 every scene is compatible, 2 a scene is malformed, 3 something is outside the profile, 4 a "
         "file is missing;\n"
         "with several scenes the first of 2, 4, 3 that occurred.");
}

typedef struct Tally {
    int scenes, good, malformed, unsupported, missing, memory;
} Tally;

static const char *verdict(int code)
{
    return code == PLI_EXIT_OK            ? "compatible"
           : code == PLI_EXIT_UNSUPPORTED ? "unsupported"
           : code == PLI_EXIT_FILE        ? "missing file"
           : code == PLI_EXIT_MEMORY      ? "no memory"
                                          : "malformed";
}

static int check_one(const char *path, const PliSceneDef *def, bool quiet, PliJson *json, Tally *tally)
{
    PliHost host = pli_host_default();
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
        fprintf(out, "%s: %s\n", path, verdict(code));
        if (scene) pli_scene_print_findings(&scene->report, quiet ? PLI_UNSUPPORTED_PART : PLI_NOTE, out);
    }
    if (json) {
        pli_json_begin_object(json, NULL);
        pli_json_string(json, "scene", path);
        pli_json_string(json, "verdict", verdict(code));
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

int pli_cmd_check(int argc, char **argv)
{
    PliSceneDef def = pli_scene_default();
    const char *json_path = NULL, *value = NULL;
    bool quiet = false;
    int first = 0, count = 0;
    def.data_path = getenv("SOFA_DATA_PATH");
    for (int i = 1; i < argc; ++i) {
        if (pli_cli_flag(argv, i, "--help") || pli_cli_flag(argv, i, "-h")) {
            print_help();
            return PLI_EXIT_OK;
        }
        if (pli_cli_value(argc, argv, &i, "--json", &json_path)) {
            if (!json_path || !*json_path)
                return pli_cli_refuse("check", "--json needs a file, or - for standard output");
        } else if (pli_cli_value(argc, argv, &i, "--data-path", &value)) {
            if (!value) return pli_cli_refuse("check", "--data-path needs directories");
            def.data_path = value;
        } else if (pli_cli_value(argc, argv, &i, "--root", &value)) {
            if (!value) return pli_cli_refuse("check", "--root needs a directory");
            def.root = value;
        } else if (pli_cli_flag(argv, i, "-q") || pli_cli_flag(argv, i, "--quiet")) {
            quiet = true;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            return pli_cli_refuse("check", "there is no option %s; see pliant check --help", argv[i]);
        } else {
            argv[1 + count++] = argv[i]; // scenes move to the front; nothing before i is read again
            first = 1;
        }
    }
    if (!first) return pli_cli_refuse("check", "needs at least one scene; see pliant check --help");
    PliError err = { 0 };
    PliJson json;
    if (json_path && pli_json_open(&json, json_path, &err)) return pli_cli_report("check", &err);
    if (json_path) {
        pli_json_begin_object(&json, NULL);
        pli_json_integer(&json, "schema", 1);
        pli_json_begin_array(&json, "scenes");
    }
    Tally tally = { 0 };
    for (int i = 1; i <= count; ++i) check_one(argv[i], &def, quiet, json_path ? &json : NULL, &tally);
    if (json_path) {
        pli_json_end(&json);
        pli_json_end(&json);
        if (pli_json_close(&json, &err)) return pli_cli_report("check", &err);
    }
    if (count > 1)
        fprintf(json_path && strcmp(json_path, "-") == 0 ? stderr : stdout,
                "%d scenes: %d compatible, %d unsupported, %d missing files, %d malformed\n", tally.scenes, tally.good,
                tally.unsupported, tally.missing, tally.malformed);
    return worst(&tally);
}
