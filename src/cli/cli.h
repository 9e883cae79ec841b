/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_CLI_H
#define PLI_CLI_H

// What every command of `pliant` shares: its signature and its exit codes. Options: output/options.h.

#include <pliant/base.h>

/// Documented in doc/conventions.md; scripts rely on the numbers.
enum {
    PLI_EXIT_OK = 0,
    PLI_EXIT_FAILED = 1,       ///< it ran, and something it measured did not hold
    PLI_EXIT_BAD_INPUT = 2,    ///< bad command line, malformed file or value out of range
    PLI_EXIT_UNSUPPORTED = 3,  ///< well formed, but outside what this host supports
    PLI_EXIT_FILE = 4,         ///< a file is missing, or cannot be read or written
    PLI_EXIT_DIVERGED = 5,     ///< the simulation diverged
    PLI_EXIT_MEMORY = 6,       ///< no memory
    PLI_EXIT_INTERRUPTED = 130 ///< ended by Ctrl-C; what there was is written
};
int pli_exit_code(PliStatus status);

/// argv[0] is the command's own name. Returns an exit code.
typedef int PliCommandFn(int argc, char **argv);
typedef struct PliCommand {
    const char *name, *summary;
    PliCommandFn *run; ///< answers --help itself
    bool outside;      ///< another program, whose table is not here
} PliCommand;
/// All commands, in the order of --help. NULL behind the last.
const PliCommand *pli_command_at(int i);

PliCommandFn pli_cmd_verify, pli_cmd_bench, pli_cmd_completion, pli_cmd_man;
PliCommandFn pli_cmd_run, pli_cmd_check, pli_cmd_list, pli_cmd_compare, pli_cmd_view, pli_cmd_mesh, pli_cmd_new,
    pli_cmd_haptic, pli_cmd_sweep, pli_cmd_tune; // src/cli/cmd_*.c

/// Prints `pliant COMMAND: sentence` to stderr and returns PLI_EXIT_BAD_INPUT, so that a check reads `return pli_cli_refuse(...)`.
int pli_cli_refuse(const char *command, const char *format, ...) PLI_PRINTF(2, 3);
/// The path most like one that is not there, as long as only one part of it is wrong. False: there is none.
bool pli_cli_nearest_path(const char *path, char *near, size_t size);
/// A path as a shell takes it: in quotes where it needs them. @return text
const char *pli_cli_quote(const char *path, char *text, size_t size);
/// The file is there: PLI_EXIT_OK. Else one sentence, with the name most like it in its folder, and PLI_EXIT_FILE; Python scenes get a hint.
int pli_cli_find_file(const char *command, const char *path);
/// The same for what should be a scene: surfaces and meshes get a hint, too.
int pli_cli_find_scene(const char *command, const char *path);
/// What to do with a file that is no scene, by its ending: one sentence, or NULL.
const char *pli_cli_scene_hint(const char *path);
/// Same for an error of the library, with the exit code of its status.
int pli_cli_report(const char *command, const PliError *err);
/// The default host for commands that make the same bodies again and again: what was said once is not said again.
PliHost pli_cli_terse_host(void);

#endif
