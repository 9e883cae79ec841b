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
} PliCommand;

PliCommandFn pli_cmd_verify, pli_cmd_bench;
PliCommandFn pli_cmd_run, pli_cmd_check, pli_cmd_list, pli_cmd_compare, pli_cmd_view, pli_cmd_mesh,
    pli_cmd_new; // src/cli/cmd_*.c

/// Prints `pliant COMMAND: sentence` to stderr and returns PLI_EXIT_BAD_INPUT, so that a check reads `return pli_cli_refuse(...)`.
int pli_cli_refuse(const char *command, const char *format, ...) PLI_PRINTF(2, 3);
/// Same for an error of the library, with the exit code of its status.
int pli_cli_report(const char *command, const PliError *err);

#endif
