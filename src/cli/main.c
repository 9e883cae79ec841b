/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pliant/registry.h>

#include "base/words.h"

// A command is its file and one line here.
static const PliCommand commands[] = {
    { "run", "run a SOFA scene in the embedded host", pli_cmd_run, false },
    { "mesh", "make tetrahedral levels of detail from a closed surface", pli_cmd_mesh, false },
    { "new", "make a comparison of all schemes from a closed surface", pli_cmd_new, false },
    { "compare", "run every body of a scene alone and say how far off each is and what it costs", pli_cmd_compare,
      false },
    { "tune", "find the parameters of each scheme for an error or a time", pli_cmd_tune, false },
    { "sweep", "run scenes, schemes, attributes and seeds of one file as jobs", pli_cmd_sweep, false },
    { "check", "say what in a scene the embedded host cannot do", pli_cmd_check, false },
    { "list", "print the components the embedded host knows", pli_cmd_list, false },
    { "view", "show the bodies of a scene side by side in a window", pli_cmd_view, .outside = true },
    { "haptic", "feel a body of a scene through a device, a thousand times a second", pli_cmd_haptic, false },
    { "verify", "run the cases with known answers and say which hold", pli_cmd_verify, false },
    { "bench", "time named cases on this machine", pli_cmd_bench, false },
    { "completion", "print completions for bash, zsh or fish", pli_cmd_completion, false },
    { "man", "print the manual page", pli_cmd_man, false },
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

const PliCommand *pli_command_at(int i) { return i >= 0 && i < COMMAND_COUNT ? &commands[i] : NULL; }

int pli_exit_code(PliStatus status)
{
    switch (status) {
    case PLI_OK: return PLI_EXIT_OK;
    case PLI_BAD_FILE: return PLI_EXIT_FILE;
    case PLI_UNSUPPORTED: return PLI_EXIT_UNSUPPORTED;
    case PLI_OUT_OF_MEMORY: return PLI_EXIT_MEMORY;
    case PLI_DIVERGED: return PLI_EXIT_DIVERGED;
    case PLI_BAD_ARGUMENT:
    case PLI_BAD_MESH:
    case PLI_OVER_CAPACITY: break;
    }
    return PLI_EXIT_BAD_INPUT;
}

int pli_cli_refuse(const char *command, const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fprintf(stderr, "pliant %s: ", command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return PLI_EXIT_BAD_INPUT;
}

int pli_cli_report(const char *command, const PliError *err)
{
    pli_cli_refuse(command, "%s", err->text);
    return pli_exit_code(err->status);
}

static bool is(const char *word, const char *name) { return strcmp(word, name) == 0; }

static void print_help(FILE *out)
{
    fputs("Usage: pliant COMMAND [ARGS]\n\nAdaptive deformable bodies: run scenes, compare schemes, check the "
          "numbers.\n\nCommands:\n",
          out);
    for (int k = 0; k < COMMAND_COUNT; ++k) fprintf(out, "  %-10s %s\n", commands[k].name, commands[k].summary);
    fputs("\n  --scheme FILE loads a scheme from a shared object; so does PLIANT_SCHEMES=FILE:FILE.\n", out);
    fputs("\n  pliant COMMAND --help explains one command; pliant --version prints the version.\n", out);
}

static const PliCommand *find_command(const char *name)
{
    for (int k = 0; k < COMMAND_COUNT; ++k)
        if (strcmp(commands[k].name, name) == 0) return &commands[k];
    return NULL;
}

static int run_command(int argc, char **argv)
{
    const PliCommand *command = find_command(argv[0]);
    if (!command) {
        int best = pli_word_tolerance(argv[0]) + 1;
        const char *near = NULL;
        for (int k = 0; k < COMMAND_COUNT; ++k) {
            const int d = pli_word_distance(argv[0], commands[k].name);
            if (d < best) best = d, near = commands[k].name;
        }
        fprintf(stderr, "pliant: there is no command '%s'", argv[0]);
        fprintf(stderr, near ? ", did you mean %s? The commands are" : "; the commands are", near);
        for (int k = 0; k < COMMAND_COUNT; ++k) fprintf(stderr, "%s %s", k ? "," : "", commands[k].name);
        fputc('\n', stderr);
        return PLI_EXIT_BAD_INPUT;
    }
    return command->run(argc, argv);
}

/// Schemes of $PLIANT_SCHEMES and of every --scheme FILE, which any command takes; the option leaves argv, and the window that a
/// command may start finds them in the environment.
static int load_schemes(int *argc, char **argv)
{
    PliError err = { PLI_OK, "" };
    if (pli_scheme_load_list(getenv("PLIANT_SCHEMES"), &err)) return pli_cli_report("PLIANT_SCHEMES", &err);
    int kept = 1;
    for (int i = 1; i < *argc; ++i) {
        const bool apart = is(argv[i], "--scheme"), joined = strncmp(argv[i], "--scheme=", 9) == 0;
        if (!apart && !joined) {
            argv[kept++] = argv[i];
            continue;
        }
        const char *file = joined ? argv[i] + 9 : i + 1 < *argc ? argv[++i] : NULL;
        if (!file || !*file) return pli_cli_refuse("--scheme", "it needs the shared object of a scheme");
        if (pli_scheme_load(file, &err)) return pli_cli_report("--scheme", &err);
        char list[8192];
        const char *before = getenv("PLIANT_SCHEMES");
        snprintf(list, sizeof list, "%s%s%s", before ? before : "", before && *before ? ":" : "", file);
        setenv("PLIANT_SCHEMES", list, 1);
    }
    argv[kept] = NULL;
    *argc = kept;
    return PLI_EXIT_OK;
}

int main(int argc, char **argv)
{
    const int loaded = load_schemes(&argc, argv);
    if (loaded != PLI_EXIT_OK) return loaded;
    int code = PLI_EXIT_OK;
    if (argc < 2) {
        print_help(stderr);
        return PLI_EXIT_BAD_INPUT;
    }
    if (is(argv[1], "--help") || is(argv[1], "-h")) {
        print_help(stdout);
    } else if (is(argv[1], "--version")) {
        puts("pliant " PLI_VERSION_TEXT);
    } else if (is(argv[1], "help")) {
        char help[] = "--help";
        if (argc > 2)
            code = run_command(2, (char *[]){ argv[2], help, NULL });
        else
            print_help(stdout);
    } else {
        code = run_command(argc - 1, argv + 1);
    }
    // a full disk or a closed pipe must not look like success
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == PLI_EXIT_OK) {
        fputs("pliant: standard output cannot be written\n", stderr);
        code = PLI_EXIT_FILE;
    }
    return code;
}
